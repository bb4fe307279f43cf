"""Tables of the exhaustive search."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.tables.common import Rows, figure, results, table

PROVEN = {
    "whole": "arc-standard, arc-hybrid, arc-swift, arc-eager with L, D or both; plain or with "
    "`single_root`; every tree of up to 5 words, unlabelled",
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


class Proof(NamedTuple):
    """The counts of runs of tests.exhaustive where exactness is claimed: gold trees that were tried
    and those there are (of all cases), triples of tree, configuration and action, and wrong costs
    and losses."""

    tried: int
    trees: int
    triples: int
    wrong: int


def proven(name: str) -> Proof:
    """The counts of the runs of this name."""
    proofs = []
    for part in results("exhaustive")[name]:
        for _, words, trees, _, count, costs, losses in part["rows"]:
            # of 6 words, trees were drawn to see how often costs are wrong
            if isinstance(costs, int) and words < 6:
                tried, _, of_all = str(trees).partition(" of ")
                proofs.append(Proof(int(tried), int(of_all or tried), count, costs + losses))
    return Proof(*(sum(one) for one in zip(*proofs, strict=True)))


@table("exhaustive")
def _exhaustive() -> Rows:
    yield ["", "gold trees tried", "of all", "triples", "wrong"]
    for name, what in PROVEN.items():
        one = proven(name)
        share = f"{100 * one.tried / one.trees:.1f} %"
        yield [what, f"{one.tried:,}", share, f"{one.triples:,}", f"{one.wrong:,}"]


@figure("exhaustive-total")
def _exhaustive_total() -> str:
    found = [proven(name) for name in PROVEN]
    triples, wrong = sum(one.triples for one in found), sum(one.wrong for one in found)
    return f"{triples / 1e6:.0f} million cases, {wrong} wrong"
