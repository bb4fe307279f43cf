"""Count the SWAPs that derive the gold trees of treebanks, by oracle (BN15, Table 1).

    python benchmarks/swaps.py assets/UD_Gothic-PROIEL assets/UD_Hungarian-Szeged

Projective trees need none. The others are derived by SwapStandard with the oracles `eager`, `lazy`
and `minimal`; each derivation must end in the gold tree. For `minimal` it is told how many searches
were cut off, so that fewer SWAPs cannot be ruled out.

Result: a table, and benchmarks/results/swaps/TREEBANK-SPLIT.json.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "benchmarks")]

from convert_ud import find_splits  # noqa: E402
from evaluate import dump, machine, versions  # noqa: E402
from table import markdown  # noqa: E402
from transitions import read_trees  # noqa: E402

from spacy_nmparse import systems  # noqa: E402
from spacy_nmparse.systems import Gold  # noqa: E402
from spacy_nmparse.systems.projective import is_projective  # noqa: E402
from spacy_nmparse.systems.swap_gold import fewest_swaps  # noqa: E402

ORACLES = ("eager", "lazy", "minimal")


def count(path: Path) -> dict[str, Any]:
    """Count the SWAPs over one file.

    Args:
        path: A CoNLL-U file.

    Returns:
        Sentences, projective ones, SWAPs by oracle, and sentences whose minimum is not proven.

    Raises:
        ValueError: If a derivation does not end in the gold tree.
    """
    system = systems.create("swap_standard")
    result: dict[str, Any] = {"sentences": 0, "projective": 0, "not_proven": 0}
    swaps = dict.fromkeys(ORACLES, 0)
    for heads in read_trees(path):
        result["sentences"] += 1
        if is_projective(heads):
            result["projective"] += 1
            continue
        gold = Gold(heads)
        result["not_proven"] += not fewest_swaps(gold)[1]
        for oracle in ORACLES:
            state = system.initial(len(heads))
            for action in system.derivation(gold, oracle):
                system.apply(state, action)
                swaps[oracle] += action.move == "SWAP"
            if list(state.tree()[0]) != heads:
                raise ValueError(f"{oracle} does not derive {heads}.")
    return {**result, "swaps": swaps}


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
    parser.add_argument("treebanks", nargs="+", type=Path, help="folders of UD treebanks")
    parser.add_argument("--split", default="train", choices=("train", "dev", "test"))
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results")
    arguments = parser.parse_args(argv)
    rows = []
    for folder in arguments.treebanks:
        path = find_splits(folder)[arguments.split]
        counts = count(path)
        result = {"treebank": folder.name, "file": path.name, "split": arguments.split, **counts}
        result |= {"versions": versions(), "machine": machine()}
        dump(result, arguments.results / "swaps" / f"{folder.name}-{arguments.split}.json")
        eager, *others = (counts["swaps"][oracle] for oracle in ORACLES)
        rows.append(
            [
                folder.name,
                str(counts["sentences"]),
                f"{100 * counts['projective'] / counts['sentences']:.2f} %",
                str(eager),
                *(f"{100 * (1 - other / eager):.1f} %" if eager else "-" for other in others),
                str(counts["not_proven"]),
            ]
        )
    header = ["treebank", "sentences", "projective", "eager", "lazy saves", "minimal saves"]
    print(markdown([*header, "not proven"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
