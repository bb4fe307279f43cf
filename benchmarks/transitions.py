"""Count the transitions that derive the gold trees of treebanks (FG18, Table 4).

    python -m benchmarks.transitions assets/UD_Gothic-PROIEL assets/UD_Hungarian-Szeged
    python -m benchmarks.transitions --split train assets/UD_Gothic-PROIEL

Every gold tree is derived by the canonical (static) oracle of each system, unlabelled, each
sentence by itself; the derivation must end in the gold tree. Arc-eager and arc-swift derive only
the projective trees among them, and are counted on those in columns of their own.

Result: a table, and benchmarks/runs/transitions/TREEBANK-SPLIT.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import program
from benchmarks.counting import count_treebanks
from spacy_nmparse.analysis.trees import read_sentences, whole_trees
from spacy_nmparse.lab.statistics import columns, count_transitions


def count(path: Path) -> dict[str, Any]:
    """Sentences, words, and by system the transitions, of a CoNLL-U or .spacy file."""
    trees = whole_trees(read_sentences(path))
    return {"sentences": len(trees), "words": sum(map(len, trees)), **count_transitions(trees)}


def rows(counts: dict[str, Any]) -> list[list[str]]:
    """Write the counts of a treebank."""
    length = f"{counts['words'] / counts['sentences']:.1f}"
    per_sentence = [f"{counts[column]['per_sentence']:.2f}" for column in columns()]
    return [[str(counts["sentences"]), length, *per_sentence]]


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    header = ["sentences", "words/sentence", *columns()]
    return count_treebanks("transitions", __doc__, "test", count, rows, header, argv)


if __name__ == "__main__":
    raise SystemExit(main())
