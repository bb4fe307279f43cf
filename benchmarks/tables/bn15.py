"""BN15's oracles with the linear learner: greedy, and trained and searched with a beam."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.formats import page_table
from benchmarks.papers import CHOOSING, STATIC
from benchmarks.tables.common import (
    GOTHIC,
    HUNGARIAN,
    comparison,
    entry,
    raw_mean,
    score,
    seeds_of,
    table,
)
from benchmarks.titles import difference, short

#: What ends the names of runs, and what tables call them.
SEARCHES = (("", "greedy"), ("_beam", "beam of 8"))


def _trained() -> Iterator[tuple[str, str, str]]:
    """Where there are runs of all oracles: treebank, ending of their names, search."""
    for ending, search in SEARCHES:
        for treebank in (GOTHIC, HUNGARIAN):
            names = [f"linear_swap_{oracle}{ending}" for oracle in (*STATIC, *CHOOSING)]
            if all(entry(treebank, name, "variants") for name in names):
                yield treebank, ending, search


@table("bn15-dev")
def _dev() -> str:
    rows = []
    for treebank, ending, search in _trained():
        eager = f"linear_swap_eager{ending}"
        for oracle in (*STATIC, *CHOOSING):
            name = f"linear_swap_{oracle}{ending}"
            one = entry(treebank, name, "variants")
            assert one is not None
            row = [short(treebank), search, f"`{oracle}`", seeds_of(one)]
            row += [score(one, metric, "dev") for metric in ("las_all", "uas_all")]
            against = ""
            if name != eager:
                found = comparison(treebank, name, eager, split="dev", benchmark="variants")
                against = difference(found)
            rows.append([*row, against])
    header = ["treebank", "search", "oracle", "seeds", "LAS", "UAS", "LAS against `eager`"]
    return page_table(header, rows, left=3)


def _best(treebank: str, oracles: tuple[str, ...], ending: str) -> str:
    """The oracle whose parsers have the highest LAS on dev."""

    def las(oracle: str) -> float:
        one = entry(treebank, f"linear_swap_{oracle}{ending}", "variants")
        assert one is not None
        return raw_mean(one, "las_all", "dev")

    return max(oracles, key=las)


@table("bn15-test")
def _test() -> str:
    rows = []
    for treebank, ending, search in _trained():
        row = [short(treebank), search]
        chosen = [_best(treebank, oracles, ending) for oracles in (STATIC, CHOOSING)]
        names = [f"linear_swap_{oracle}{ending}" for oracle in chosen]
        for oracle, name in zip(chosen, names, strict=True):
            row += [f"`{oracle}`", score(entry(treebank, name, "variants"), "las_all")]
        found = comparison(treebank, names[1], names[0], benchmark="variants")
        rows.append([*row, difference(found)])
    header = ["treebank", "search", "best static", "LAS", "best non-deterministic", "LAS"]
    return page_table([*header, "difference"], rows, left=2)
