"""What exhaustive search found."""

from __future__ import annotations

from benchmarks.tables.common import Rows, figure, results, table

PROVEN = {
    "arc_eager": "arc-eager, up to 5 words, projective gold",
    "repairs": "the same with repairs, Unshift or one kind of push",
    "decoupled": "the same with decoupled repairs, up to 4 words",
    "arc_standard": "arc-standard, up to 5 words, projective gold",
    "root_first": "arc-eager with `root_first`, up to 5 words, projective gold",
    "buffer_arcs": "arc-standard with `buffer_arcs`, up to 5 words, projective gold",
    "arc_hybrid": "arc-hybrid, up to 5 words, projective gold",
    "arc_swift": "arc-swift, up to 5 words, projective gold",
    "arc_eager-crossing": "arc-eager, up to 5 words, all trees, by `exact`",
    "arc_standard-crossing": "arc-standard, up to 5 words, all trees, by `exact`",
    "arc_hybrid-crossing": "arc-hybrid, up to 4 words, all trees, by `exact`",
    "arc_swift-crossing": "arc-swift, up to 4 words, all trees, by `exact`",
    "two_planar": "2-planar, up to 4 words, all trees",
    "nl_covington": "NL-Covington, up to 4 words, all trees",
    "nl_covington-5": "NL-Covington, 5 words, trees drawn from all",
    "covington": "Covington, up to 4 words, all trees",
    "covington-5": "Covington, 5 words, trees drawn from all",
}


def proven(name: str) -> tuple[int, int]:
    """Of a run of tests.exhaustive, the triples of tree, configuration and action where exactness
    is claimed, and how many of their costs and losses are wrong."""
    triples = wrong = 0
    for part in results("exhaustive")[name]:
        for _, words, _, _, count, costs, losses in part["rows"]:
            # of 6 words, trees were drawn to see how often costs are wrong
            if isinstance(costs, int) and words < 6:
                triples += count
                wrong += costs + losses
    return triples, wrong


@table("exhaustive")
def _exhaustive() -> Rows:
    yield ["", "triples", "wrong"]
    for name, what in PROVEN.items():
        yield [what, *(f"{n:,}" for n in proven(name))]


@figure("exhaustive-total")
def _exhaustive_total() -> str:
    found = [proven(name) for name in PROVEN]
    return f"{sum(n for n, _ in found) / 1e6:.0f} million cases, {sum(n for _, n in found)} wrong"
