"""Count the transitions that derive the gold trees of treebanks (FG18, Table 4).

    python -m benchmarks.transitions assets/UD_Gothic-PROIEL assets/UD_Hungarian-Szeged
    python -m benchmarks.transitions --split train assets/UD_Gothic-PROIEL

Every gold tree is derived by the canonical (static) oracle of each system, unlabelled, each
sentence by itself; the derivation must end in the gold tree. Arc-eager and arc-swift derive only
the projective trees among them, and are counted on those in columns of their own.

Result: a table, and benchmarks/runs/transitions/TREEBANK-SPLIT.json.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import RUNS, command_line, record
from benchmarks.formats import markdown
from scripts.evaluate import dump
from spacy_nmparse.analysis.corpus import read_sentences, whole_trees
from spacy_nmparse.analysis.statistics import COLUMNS, count_transitions
from spacy_nmparse.analysis.treebank import find_splits


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: Arguments; those of the process by default.

    Returns:
        The exit status.
    """
    parser = command_line(__doc__)
    parser.add_argument(
        "treebanks", nargs="+", type=Path, help="folders of UD treebanks, or of .spacy files"
    )
    parser.add_argument("--split", default="test", choices=("train", "dev", "test"))
    parser.add_argument("--runs", type=Path, default=RUNS)
    arguments = parser.parse_args(argv)
    rows = []
    for folder in arguments.treebanks:
        path = find_splits(folder)[arguments.split]
        trees = whole_trees(read_sentences(path))
        counts: dict[str, Any] = {"sentences": len(trees), "words": sum(map(len, trees))}
        counts |= count_transitions(trees)
        result = {"treebank": folder.name, "file": path.name, "split": arguments.split, **counts}
        result |= record()
        name = f"{folder.name}-{arguments.split}.json"
        dump(result, arguments.runs / "transitions" / name)
        per_sentence = [f"{counts[column]['per_sentence']:.2f}" for column in COLUMNS]
        rows.append(
            [
                folder.name,
                str(counts["sentences"]),
                f"{counts['words'] / counts['sentences']:.1f}",
                *per_sentence,
            ]
        )
    print(markdown(["treebank", "sentences", "words/sentence", *COLUMNS], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
