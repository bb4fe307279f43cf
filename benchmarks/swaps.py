"""Count the SWAPs that derive the gold trees of treebanks, by oracle (BN15, Table 1).

    python -m benchmarks.swaps assets/UD_Gothic-PROIEL assets/UD_Hungarian-Szeged

Projective trees need none. The others are derived by SwapStandard with the oracles `eager`, `lazy`
and `minimal`; each derivation must end in the gold tree. For `minimal` it is told how many searches
were cut off, so that fewer SWAPs cannot be ruled out. The last column: sentences with a single
derivation, by the oracle `nd_all`.

Result: a table, and benchmarks/runs/swaps/TREEBANK-SPLIT.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import program
from benchmarks.counting import count_treebanks
from spacy_nmparse.analysis.trees import read_sentences, whole_trees
from spacy_nmparse.lab.swap_counts import SWAP_ORACLES, count_swaps


def count(path: Path) -> dict[str, Any]:
    """What `count_swaps` counts in a CoNLL-U or .spacy file."""
    return {**count_swaps(whole_trees(read_sentences(path)))}


def rows(counts: dict[str, Any]) -> list[list[str]]:
    """Write the counts of a treebank."""
    total = counts["sentences"]
    eager, *others = (counts["swaps"][oracle] for oracle in SWAP_ORACLES)
    saved = [f"{100 * (1 - other / eager):.1f} %" if eager else "-" for other in others]
    shares = [f"{100 * counts[key] / total:.2f} %" for key in ("projective", "unique")]
    return [[str(total), shares[0], str(eager), *saved, str(counts["not_proven"]), shares[1]]]


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    header = ["sentences", "projective", "eager", "lazy saves", "minimal saves"]
    header += ["not proven", "one derivation"]
    return count_treebanks("swaps", __doc__, "train", count, rows, header, argv)


if __name__ == "__main__":
    raise SystemExit(main())
