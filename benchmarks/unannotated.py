"""Make corpora of a treebank of which most training sentences are plain text.

    python -m benchmarks.unannotated assets/UD_English-EWT training/plain --each 6

Each sixth sentence keeps its annotation. Two corpora are written, for benchmarks.accuracy:
OUTPUT/TREEBANK-each6 has these sentences only, OUTPUT/TREEBANK-each6-all has the others too,
without annotation. Development and test data are the treebank's. A parser trained on the first can
teach one on the second (docs/training.md):

    python -m benchmarks.accuracy training/plain/UD_English-EWT-each6 --lang en \\
        --system nl_covington_parser --seeds 1 --epochs 30 --switch \\
        --runs benchmarks/runs/unannotated
    python -m benchmarks.accuracy training/plain/UD_English-EWT-each6-all --lang en \\
        --system nl_covington_parser --seeds 1 --epochs 8 --switch \\
        --runs benchmarks/runs/unannotated \\
        --teacher training/accuracy/UD_English-EWT-each6/nl_covington_parser-seed1/model-best
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import spacy
from spacy.tokens import Doc, DocBin

from benchmarks.common import command_line, complain
from spacy_nmparse.ud.treebank import convert, find_splits


def plain(doc: Doc) -> Doc:
    """Make a sentence without annotation.

    Args:
        doc: The annotated sentence.

    Returns:
        The same tokens; it is known that they are one sentence.
    """
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        sent_starts=[token.i == 0 for token in doc],
    )


def split(treebank: Path, output: Path, each: int) -> tuple[Path, Path]:
    """Write the two corpora.

    Args:
        treebank: The treebank's folder.
        output: Where to write them.
        each: Of so many training sentences one keeps its annotation.

    Returns:
        The folder with the annotated sentences only, and that with all.
    """
    name = f"{treebank.resolve().name}-each{each}"
    folders = output / name, output / f"{name}-all"
    vocab = spacy.blank("xx").vocab
    with tempfile.TemporaryDirectory() as whole:
        corpus = convert(find_splits(treebank), Path(whole))
        docs = list(DocBin().from_disk(corpus["train"]).get_docs(vocab))
        kept = docs[::each]
        every = [doc if i % each == 0 else plain(doc) for i, doc in enumerate(docs)]
        for folder, train in zip(folders, (kept, every), strict=True):
            folder.mkdir(parents=True, exist_ok=True)
            for other in ("dev", "test"):
                shutil.copy(corpus[other], folder / f"{other}.spacy")
            DocBin(docs=train, store_user_data=True).to_disk(folder / "train.spacy")
            print(f"{folder}: {len(train)} training sentences, {sum(map(len, train))} tokens")
    return folders


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: Arguments; those of the process by default.

    Returns:
        The exit status.
    """
    parser = command_line(__doc__)
    parser.add_argument("treebank", type=Path, help="folder of a UD treebank")
    parser.add_argument("output", type=Path, help="folder to write to")
    parser.add_argument("--each", type=int, default=6, metavar="N", help="annotated sentences: 1/N")
    arguments = parser.parse_args(argv)
    if arguments.each < 2:
        return complain("unannotated", f"--each is at least 2, not {arguments.each}")
    try:
        split(arguments.treebank, arguments.output, arguments.each)
    except (OSError, ValueError) as error:
        return complain("unannotated", error)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
