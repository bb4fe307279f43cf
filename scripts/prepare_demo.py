"""Make training data for the demo from the PyPI package `turkish-treebanks`.

    python scripts/prepare_demo.py corpus/demo

The package holds Google's Turkish Web Treebank (Apache 2.0): web.conllu (2,541 sentences) and
wiki.conllu (2,310), without an official split. The rule here: number the sentences of each file
from 0; number mod 10 = 8 goes to dev, 9 to test, the rest to train.

Documents: each split has documents of ten consecutive sentences of its own, so that the parsers
learn (and are tested on) sentence boundaries; training has each tenth sentence once more, alone.

The treebank splits a word with derivational suffixes into inflectional groups: a row per group, no
space after it, and an arc `ig` to the next group (`Açık la nma yan`). No tokenizer could give a
parser those. So the groups of a word are joined into one word here: it has the head and label of
its last group, and takes over the dependents of all of them.

With `--n-sents 1` each document is a sentence, and none is there twice.

Its part-of-speech tags that Universal Dependencies lacks are renamed: PRT to PART, CONJ to CCONJ,
AFFIX and ONOM to X.
"""

from __future__ import annotations

import argparse
import sys
from importlib import metadata
from pathlib import Path

from spacy_nmparse.ud.conllu import DEPREL, FORM, HEAD, ID, LEMMA, MISC, UPOS, read_rows
from spacy_nmparse.ud.treebank import SPLITS, group_docs, sentence_docs, write_docs

PACKAGE = "turkish-treebanks"
FILES = ("web.conllu", "wiki.conllu")
SENTENCES_PER_DOC = 10
UD_TAGS = {"PRT": "PART", "CONJ": "CCONJ", "AFFIX": "X", "ONOM": "X"}


def find_treebank() -> list[Path]:
    """Find the treebank's files in the installed package.

    Returns:
        The paths of web.conllu and wiki.conllu.

    Raises:
        FileNotFoundError: If the package is not installed, or lacks one of the files.
    """
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        raise FileNotFoundError(
            f"The package {PACKAGE} is not installed: python -m pip install {PACKAGE}"
        ) from None
    found = {file.name: Path(str(file.locate())) for file in files}
    paths = [found[name] for name in FILES if name in found and found[name].is_file()]
    if len(paths) != len(FILES):
        raise FileNotFoundError(
            f"{PACKAGE} {metadata.version(PACKAGE)} does not hold {' and '.join(FILES)}: "
            f"python -m pip install --force-reinstall {PACKAGE}"
        )
    return paths


def split_of(index: int) -> str:
    """Tell the split of a sentence.

    Args:
        index: The sentence's number in its file, from 0.

    Returns:
        "train", "dev" or "test".
    """
    return {8: "dev", 9: "test"}.get(index % 10, "train")


def rename_tags(sentence: str) -> str:
    """Replace the part-of-speech tags that Universal Dependencies lacks.

    Args:
        sentence: The rows of a sentence.

    Returns:
        The rows with the tags of Universal Dependencies.
    """
    rows = [row.split("\t") for row in sentence.split("\n")]
    for row in rows:
        row[UPOS] = UD_TAGS.get(row[UPOS], row[UPOS])
    return "\n".join("\t".join(row) for row in rows)


def join_groups(sentence: str) -> str:
    """Join the inflectional groups of each word into one row.

    Args:
        sentence: The rows of a sentence.

    Returns:
        The rows of the same sentence with one row per word.

    Raises:
        ValueError: If a group is not followed, without a space, by the group that heads it.
    """
    rows = [row.split("\t") for row in sentence.split("\n")]
    words: list[list[list[str]]] = [[]]
    for number, row in enumerate(rows, start=1):
        words[-1].append(row)
        if row[DEPREL] != "ig":
            words.append([])
        elif row[HEAD] != str(number + 1) or "SpaceAfter=No" not in row[MISC]:
            raise ValueError(f"Row {number} ({row[FORM]}) is not a group of the word of the next.")
    if words.pop():
        raise ValueError("The last row is a group without a next.")
    word_of = {"0": "0"}
    for number, groups in enumerate(words, start=1):
        word_of.update({row[ID]: str(number) for row in groups})
    joined = []
    for number, groups in enumerate(words, start=1):
        first, last = groups[0], groups[-1]
        row = [str(number), "".join(row[FORM] for row in groups), first[LEMMA]]
        row += last[UPOS:HEAD]
        row += [word_of[last[HEAD]], last[DEPREL], "_", last[MISC]]
        joined.append("\t".join(row))
    return "\n".join(joined)


def prepare(sources: list[Path], output: Path, n_sents: int = SENTENCES_PER_DOC) -> dict[str, Path]:
    """Write the .spacy files.

    Args:
        sources: The CoNLL-U files, in order.
        output: The folder for train.spacy, dev.spacy and test.spacy.
        n_sents: Sentences of a document. With 1 no sentence is there twice.

    Returns:
        The file of each split.

    Raises:
        ValueError: If n_sents is less than 1.
    """
    splits: dict[str, list[str]] = {split: [] for split in SPLITS}
    for source in sources:
        for index, sentence in enumerate(read_rows(source)):
            rows = join_groups("\n".join(map("\t".join, sentence.rows)))
            splits[split_of(index)].append(rename_tags(rows))
    written = {}
    for split, sentences in splits.items():
        singles = list(sentence_docs("\n\n".join(sentences)))
        docs = list(group_docs(singles, n_sents))
        if split == "train" and n_sents > 1:
            docs += singles[::10]
        target = output / f"{split}.spacy"
        n_docs, n_tokens = write_docs(docs, target)
        print(f"{split}: {len(singles)} sentences -> {n_docs} documents, {n_tokens} tokens")
        written[split] = target
    return written


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments, by default those of the process.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path, help="folder for the .spacy files")
    parser.add_argument(
        "--n-sents", type=int, default=SENTENCES_PER_DOC, help="sentences of a document"
    )
    args = parser.parse_args(argv)
    try:
        prepare(find_treebank(), args.output, args.n_sents)
    except (OSError, ValueError) as error:
        print(f"prepare_demo.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
