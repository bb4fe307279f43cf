"""Count the SWAPs that derive the gold trees of treebanks, by oracle (BN15, Table 1).

    python benchmarks/swaps.py assets/UD_Gothic-PROIEL assets/UD_Hungarian-Szeged

Projective trees need none. The others are derived by SwapStandard with the oracles `eager`, `lazy`
and `minimal`; each derivation must end in the gold tree. For `minimal` it is told how many searches
were cut off, so that fewer SWAPs cannot be ruled out. The last column: sentences with a single
derivation, by the oracle `nd_all`.

Result: a table, and benchmarks/results/swaps/TREEBANK-SPLIT.json.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "benchmarks")]

from convert_ud import find_splits  # noqa: E402
from evaluate import dump, machine, versions  # noqa: E402
from table import markdown  # noqa: E402

from spacy_nmparse.analysis.corpus import read_sentences, whole_trees  # noqa: E402
from spacy_nmparse.systems.swap_counts import SWAP_ORACLES, count_swaps  # noqa: E402


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: Arguments; those of the process by default.

    Returns:
        The exit status.
    """
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "treebanks", nargs="+", type=Path, help="folders of UD treebanks, or of .spacy files"
    )
    parser.add_argument("--split", default="train", choices=("train", "dev", "test"))
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results")
    arguments = parser.parse_args(argv)
    rows = []
    for folder in arguments.treebanks:
        path = find_splits(folder)[arguments.split]
        counts = count_swaps(whole_trees(read_sentences(path)))
        result = {"treebank": folder.name, "file": path.name, "split": arguments.split, **counts}
        result |= {"versions": versions(), "machine": machine()}
        dump(result, arguments.results / "swaps" / f"{folder.name}-{arguments.split}.json")
        eager, *others = (counts["swaps"][oracle] for oracle in SWAP_ORACLES)
        rows.append(
            [
                folder.name,
                str(counts["sentences"]),
                f"{100 * counts['projective'] / counts['sentences']:.2f} %",
                str(eager),
                *(f"{100 * (1 - other / eager):.1f} %" if eager else "-" for other in others),
                str(counts["not_proven"]),
                f"{100 * counts['unique'] / counts['sentences']:.2f} %",
            ]
        )
    header = ["treebank", "sentences", "projective", "eager", "lazy saves", "minimal saves"]
    print(markdown([*header, "not proven", "one derivation"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
