"""Count the trees that arcs over items of the stack derive (Attardi 2006), by their degree.

    python -m benchmarks.attardi assets/UD_Gothic-PROIEL assets/UD_Hungarian-Szeged

Result: a table, and benchmarks/runs/attardi/TREEBANK-SPLIT.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import program
from benchmarks.counting import count_treebanks
from spacy_nmparse.lab.attardi import derive
from spacy_nmparse.ud.corpus import read_sentences, whole_trees

DEGREES = (1, 2, 3)


def count(path: Path) -> dict[str, Any]:
    """The trees of a CoNLL-U or .spacy file, and how many are derived by arcs up to a degree."""
    trees = whole_trees(read_sentences(path))
    derived = {d: sum(derive(heads, d) is not None for heads in trees) for d in DEGREES}
    return {"sentences": len(trees), "derived": derived}


def rows(counts: dict[str, Any]) -> list[list[str]]:
    """Write the counts of a treebank."""
    total = counts["sentences"]
    return [[str(total), *(f"{100 * n / total:.2f} %" for n in counts["derived"].values())]]


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    header = ["sentences", *(f"degree {degree}" for degree in DEGREES)]
    return count_treebanks("attardi", __doc__, "train", count, rows, header, argv)


if __name__ == "__main__":
    raise SystemExit(main())
