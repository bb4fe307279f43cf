"""Count the transitions that derive the gold trees of treebanks (FG18, Table 4).

    python benchmarks/transitions.py assets/UD_Gothic-PROIEL assets/UD_Hungarian-Szeged
    python benchmarks/transitions.py --split train assets/UD_Gothic-PROIEL

Every gold tree is derived by the canonical (static) oracle of each system, unlabelled, each
sentence by itself; the derivation must end in the gold tree. Arc-eager and arc-swift derive only
the projective trees among them, and are counted on those in columns of their own.

Result: a table, and benchmarks/results/transitions/TREEBANK-SPLIT.json.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "benchmarks")]

from convert_ud import find_splits, read_conllu  # noqa: E402
from evaluate import dump, machine, versions  # noqa: E402
from table import markdown  # noqa: E402

from spacy_nmparse import systems  # noqa: E402
from spacy_nmparse.systems import Gold  # noqa: E402
from spacy_nmparse.systems.projective import is_projective  # noqa: E402

#: Column of the table: system, its options, whether it derives crossing arcs.
COLUMNS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "covington": ("covington", {}, True),
    "nl_covington": ("nl_covington", {}, True),
    "nl_covington, explicit root": ("nl_covington", {"explicit_root": True}, True),
    "swap_standard": ("swap_standard", {}, True),
    "arc_eager, projective trees": ("arc_eager", {}, False),
    "arc_swift, projective trees": ("arc_swift", {}, False),
}


def read_trees(path: Path) -> Iterator[list[int]]:
    """Read the trees of a CoNLL-U file.

    Args:
        path: The file.

    Yields:
        For each sentence its heads, numbered from 0; a root is its own head.
    """
    for sentence in read_conllu(path).split("\n\n"):
        rows = [line.split("\t") for line in sentence.strip().split("\n")]
        words = [row for row in rows if row[0].isdigit()]
        yield [int(row[6]) - 1 if row[6] != "0" else i for i, row in enumerate(words)]


def count(path: Path) -> dict[str, Any]:
    """Count the transitions of every column over one file.

    Args:
        path: A CoNLL-U file.

    Returns:
        Sentences, words, and by column sentences, transitions and transitions per sentence.

    Raises:
        ValueError: If a derivation does not end in the gold tree.
    """
    trees = list(read_trees(path))
    result: dict[str, Any] = {"sentences": len(trees), "words": sum(map(len, trees))}
    for column, (name, options, crossing) in COLUMNS.items():
        system = systems.create(name, **options)
        total = derived = 0
        for heads in trees:
            if not crossing and not is_projective(heads):
                continue
            state = system.initial(len(heads))
            for action in system.derivation(Gold(heads), "static"):
                system.apply(state, action)
                total += 1
            if list(state.tree()[0]) != heads:
                raise ValueError(f"{column} does not derive {heads}.")
            derived += 1
        result[column] = {
            "sentences": derived,
            "transitions": total,
            "per_sentence": total / derived,
        }
    return result


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
    parser.add_argument("--split", default="test", choices=("train", "dev", "test"))
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results")
    arguments = parser.parse_args(argv)
    rows = []
    for folder in arguments.treebanks:
        path = find_splits(folder)[arguments.split]
        counts = count(path)
        result = {"treebank": folder.name, "file": path.name, "split": arguments.split, **counts}
        result |= {"versions": versions(), "machine": machine()}
        name = f"{folder.name}-{arguments.split}.json"
        dump(result, arguments.results / "transitions" / name)
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
