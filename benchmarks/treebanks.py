"""The treebank that a benchmark trains on: its arguments, and its conversion."""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import spacy
from spacy.tokens import DocBin

from benchmarks.common import RUNS, WORK
from spacy_nmparse.ud.conllu_docs import Merges
from spacy_nmparse.ud.treebank import SPLITS, convert, find_files


def find_splits(folder: Path) -> dict[str, Path]:
    """Find the train, dev and test file of a UD treebank folder, or of a converted one.

    Args:
        folder: As of `find_files`; or one that holds `train.spacy`, `dev.spacy` and `test.spacy`.

    Returns:
        The path of each split.

    Raises:
        FileNotFoundError: If the folder or one of the three files is missing.
        ValueError: If a split has more than one file.
    """
    converted = {split: folder / f"{split}.spacy" for split in SPLITS}
    if all(path.is_file() for path in converted.values()):
        return converted
    files = find_files(folder)
    for split in SPLITS:
        if split not in files:
            raise FileNotFoundError(f"{folder} has no {split} file, which is needed here.")
        if len(files[split]) > 1:
            raise ValueError(f"The {split} data of {folder} is in parts: join them into one file.")
    return {split: paths[0] for split, paths in files.items()}


def choose_lang(train_file: Path) -> str:
    """spaCy's language for a UD file by its name (`got_proiel-ud-train.conllu`); `xx` where spaCy
    does not know it or lacks its requirements."""
    code = train_file.name.partition("_")[0]
    try:
        spacy.blank(code)
    except Exception:  # unknown language, or its tokenizer's package is not installed
        return "xx"
    return code


def fingerprint(path: Path) -> str:
    """The first 16 hexadecimal digits of a file's SHA-256."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def count_words(path: Path) -> int:
    """The number of tokens of a .spacy file."""
    vocab = spacy.blank("xx").vocab
    return sum(len(doc) for doc in DocBin().from_disk(path).get_docs(vocab))


@dataclass(frozen=True)
class Treebank:
    """A converted treebank.

    Attributes:
        name: The name of its folder.
        snapshot: Its release, as far as known.
        lang: spaCy's language code.
        files: The fingerprint of each CoNLL-U file.
        corpus: The .spacy file of each split.
        train_words: The number of words to train on.
        conllu: The CoNLL-U file of each split; none where the corpus was not converted here.
    """

    name: str
    snapshot: str
    lang: str
    files: dict[str, str]
    corpus: dict[str, Path]
    train_words: int
    conllu: dict[str, Path]


def convert_treebank(
    folder: Path,
    work: Path,
    lang: str | None,
    snapshot: str,
    n_sents: int,
    with_single: bool,
    merge_subtokens: bool | Merges = False,
) -> Treebank:
    """Convert a treebank to `work`; without a language it is chosen by the file names.

    Args:
        n_sents: Sentences per document.
        with_single: Whether each tenth training sentence is also a document of its own.
        merge_subtokens: Whether multiword tokens stay in one piece, as in the text; or what decides
            that for each.
    """
    folder = folder.resolve()
    files = find_splits(folder)
    output = work.resolve() / folder.name / "corpus"
    output.mkdir(parents=True, exist_ok=True)
    # Each file appears in one step: another run on the treebank may be reading it.
    with tempfile.TemporaryDirectory(dir=output.parent, prefix="corpus-") as partial:
        converted = convert(files, Path(partial), n_sents, with_single, merge_subtokens)
        corpus = {split: path.replace(output / path.name) for split, path in converted.items()}
    return Treebank(
        folder.name,
        snapshot,
        lang or choose_lang(files["train"]),
        {path.name: fingerprint(path) for path in files.values()},
        corpus,
        count_words(corpus["train"]),
        {} if merge_subtokens else files,
    )


def convert_more(files: Sequence[Path], work: Path) -> dict[str, Path]:
    """Convert CoNLL-U files of other treebanks to `work`, one sentence per document.

    Returns:
        The .spacy file of each treebank, by the beginning of its files' names (tr_boun).
    """
    by_name: dict[str, list[Path]] = {}
    for file in files:
        by_name.setdefault(file.name.partition("-")[0], []).append(file)
    # Of training data without dev data some would be held out.
    return {name: convert({"test": own}, work / name)["test"] for name, own in by_name.items()}


def read_prepared(folder: Path, lang: str | None, snapshot: str) -> Treebank:
    """Take a corpus as it is, such as the demo's: a folder with train.spacy, dev.spacy and
    test.spacy; without a language the multi-language one."""
    folder = folder.resolve()
    corpus = {split: folder / f"{split}.spacy" for split in SPLITS}
    return Treebank(
        folder.name,
        snapshot,
        lang or "xx",
        {path.name: fingerprint(path) for path in corpus.values()},
        corpus,
        count_words(corpus["train"]),
        {},
    )


def path_of(argument: str) -> Path:
    """A path without the quotes of project.yml, which arrive with it on Windows."""
    return Path(argument.strip("\"'"))


def add_source_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say more of a treebank."""
    parser.add_argument("--lang", help="spaCy language code; by default from the file names")
    parser.add_argument("--snapshot", default="unknown", help="release of the treebank")


def add_treebank_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name a treebank."""
    parser.add_argument(
        "treebank", type=path_of, help="folder of a UD treebank, or of .spacy files"
    )
    add_source_arguments(parser)


def add_run_arguments(
    parser: argparse.ArgumentParser, benchmark: str, epochs: int, least: str = "+"
) -> None:
    """Add the arguments that say how to train, how often and how long, and where results go;
    `least` is + for one seed at least, * for none."""
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--seeds", type=int, nargs=least, default=[1, 2, 3])
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--work", type=Path, default=WORK / benchmark, help="models and logs")
    parser.add_argument("--runs", type=Path, default=RUNS / benchmark, help="a file of each run")


def open_treebank(
    args: argparse.Namespace, folder: Path | None = None, n_sents: int = 1
) -> Treebank:
    """Find the treebank in a folder, by default args.treebank, and convert it to args.work if it
    has to be."""
    folder = (folder or args.treebank).resolve()
    if is_prepared(folder):
        return read_prepared(folder, args.lang, args.snapshot)
    return convert_treebank(
        folder, args.work, args.lang, args.snapshot, n_sents, with_single=n_sents > 1
    )


def is_prepared(folder: Path) -> bool:
    """Whether a folder holds train.spacy, dev.spacy and test.spacy, not a UD treebank."""
    return all((folder / f"{split}.spacy").is_file() for split in SPLITS)
