"""Universal Dependencies treebanks (CoNLL-U) as spaCy documents to train on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_nmparse.pipe.files import write_files
from spacy_nmparse.terminal import show
from spacy_nmparse.ud.conllu import Sentence, find_cycle, read_rows
from spacy_nmparse.ud.conllu_docs import Merges, grouped, sentences_to_doc
from spacy_nmparse.wording import counted

SPLITS = ("train", "dev", "test")
#: Names of files of Universal Dependencies, also in parts: de_hdt-ud-train-a-1.conllu.
NAME = re.compile(r"(?P<treebank>|.*[-_.])(?P<split>train|dev|test)(?:-[\w-]+)?\.conllu")
HELD_OUT = 10

Files = dict[str, list[Path]]


def split_of(file: Path) -> str | None:
    """Which split of a treebank a CoNLL-U file is of, by its name."""
    match = NAME.fullmatch(file.name)
    return match["split"] if match else None


def find_files(folder: Path) -> Files:
    """Find the CoNLL-U files of a UD treebank.

    Args:
        folder: A folder that holds `*-train.conllu`, `*-dev.conllu` or `*-test.conllu`, or each in
            parts (`*-train-a-1.conllu`, `*-train-a-2.conllu`).

    Returns:
        The files of each split that there is, in the order of their names.

    Raises:
        FileNotFoundError: If the folder is missing, or has no such file.
        ValueError: If it holds several treebanks.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"No folder {folder}: give the folder of a UD treebank.")
    found: Files = {}
    shown = [file for file in sorted(folder.glob("*.conllu")) if not file.name.startswith(".")]
    for split in SPLITS:
        files = [file for file in shown if split_of(file) == split]
        names = {match["treebank"] for file in files if (match := NAME.fullmatch(file.name))}
        if len(names) > 1:
            listed = ", ".join(file.name for file in files)
            raise ValueError(
                f"{folder} has {split} files of several treebanks ({listed}): put each treebank "
                f"into a folder of its own."
            )
        if files:
            found[split] = files
    if not found:
        raise FileNotFoundError(
            f"No file *train.conllu, *dev.conllu or *test.conllu in {folder}: give the folder of a "
            f"UD treebank."
        )
    return found


def sentence_docs(
    source: Path | str, merge: bool | Merges = False, vocab: Vocab | None = None
) -> Iterator[Doc]:
    """Convert CoNLL-U to one Doc per sentence, for training.

    Where there is no XPOS, the part of speech is the tag, as spaCy's converter has it: spaCy's
    tagger cannot do without. Comments and MISC are left out.

    Args:
        source: A CoNLL-U file, or CoNLL-U text.
        merge: Whether multiword tokens stay one token; or what decides that for each.
        vocab: The documents' vocabulary; None: a new one.

    Yields:
        A Doc with words, spaces, tags, lemmas, morphology, heads and labels, and the words of
        multiword tokens (``spacy_nmparse.ud.extensions``).

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is not CoNLL-U, its heads form a cycle, or it holds no sentence.
    """
    found = False
    vocab = Vocab() if vocab is None else vocab
    name = str(source) if isinstance(source, Path) else "the CoNLL-U text"
    for group in grouped(read_rows(source), 1):
        found = True
        refuse_cycles(group[0], name)
        yield sentences_to_doc(group, vocab, merge=merge, name=name, bare=True)
    if not found:
        what = source if isinstance(source, Path) else "The text"
        raise ValueError(f"{what} holds no sentence; is it CoNLL-U?")


def refuse_cycles(sentence: Sentence, name: str) -> None:
    """Raise a ValueError with the line where the heads of a sentence form a cycle."""
    if cycle := find_cycle(sentence.table.heads()):
        line = sentence.lines[sentence.rows.index(sentence.words[cycle[0] - 1])]
        listed = " → ".join(map(str, cycle))
        raise ValueError(f"{name}, line {line}: the heads form a cycle: {listed}.")


def split_by(nlp: Language) -> Merges:
    """Which multiword tokens to merge for a pipeline: those that its tokenizer does not split into
    their words.

    Args:
        nlp: The pipeline.
    """
    return lambda form, words: [token.text for token in nlp.make_doc(form)] != list(words)


def group_docs(docs: Iterable[Doc], n_sents: int) -> Iterator[Doc]:
    """Join consecutive one-sentence Docs into Docs of `n_sents` sentences; the last may be shorter.

    Args:
        docs: One-sentence Docs that share a vocab.
        n_sents: Sentences per Doc, at least 1.

    Yields:
        The joined Docs.

    Raises:
        ValueError: If n_sents is less than 1.
    """
    if n_sents < 1:
        raise ValueError(f"n_sents is {n_sents}, but a document needs at least 1 sentence.")
    rest = iter(docs)
    while group := list(islice(rest, n_sents)):
        joined = group[0] if len(group) == 1 else Doc.from_docs(group)
        assert joined is not None  # only for an empty list
        yield joined


def write_docs(docs: Iterable[Doc], path: Path) -> tuple[int, int]:
    """Write Docs to a .spacy file.

    Args:
        docs: The Docs.
        path: The file to write; its folder is made if needed.

    Returns:
        The numbers of Docs and of tokens written.
    """
    store = DocBin(store_user_data=True)
    n_docs = n_tokens = 0
    for doc in docs:
        store.add(doc)
        n_docs += 1
        n_tokens += len(doc)
    write_files({path: store.to_bytes()})
    return n_docs, n_tokens


def convert(
    files: Mapping[str, Path | Sequence[Path]],
    output: Path,
    n_sents: int = 1,
    with_single: bool = False,
    merge_subtokens: bool | Merges = False,
) -> dict[str, Path]:
    """Convert the splits of a treebank. Where there is training data and no development data, every
    tenth training document becomes that.

    Args:
        files: The CoNLL-U file of each split, or its parts.
        output: The folder for `train.spacy`, `dev.spacy` and `test.spacy`.
        n_sents: Sentences per document.
        with_single: With n_sents > 1, add each tenth training sentence as a document of its own.
        merge_subtokens: Whether multiword tokens stay one token; or what decides that for each.

    Returns:
        The .spacy file of each split.

    Raises:
        ValueError: If a file is not CoNLL-U, or the training data is too small to hold out some.
    """
    written: dict[str, Path] = {}

    def write(split: str, docs: list[Doc], what: str) -> None:
        written[split] = output / f"{split}.spacy"
        n_docs, n_tokens = write_docs(docs, written[split])
        show(
            f"{what} -> {split}.spacy: {counted(n_docs, 'document')}, {counted(n_tokens, 'token')}"
        )

    for split, source in files.items():
        parts = [source] if isinstance(source, Path) else source
        vocab = Vocab()
        sentences = [doc for part in parts for doc in sentence_docs(part, merge_subtokens, vocab)]
        docs = list(group_docs(sentences, n_sents))
        held_out: set[int] = set()  # numbers of documents
        if split == "train" and "dev" not in files:
            if len(docs) < 2:
                raise ValueError(
                    f"{parts[0]} has {counted(len(sentences), 'sentence')}, too few to hold some "
                    f"out as development data: give a dev file, or put fewer sentences into a "
                    f"document."
                )
            held_out = set(range(HELD_OUT - 1, len(docs), HELD_OUT)) or {len(docs) - 1}
            which = "every tenth training document" if len(docs) >= HELD_OUT else "the last one"
            dev = [doc for i, doc in enumerate(docs) if i in held_out]
            write("dev", dev, f"There is no dev file, so {which} is held out")
        name = ", ".join(part.name for part in parts)
        name += f": {counted(len(sentences), 'sentence')}"
        docs = [doc for i, doc in enumerate(docs) if i not in held_out]
        if split == "train" and n_sents > 1 and with_single:
            own = (doc for i, doc in enumerate(sentences) if i // n_sents not in held_out)
            docs += list(own)[::10]
        write(split, docs, name)
    return {split: written[split] for split in SPLITS if split in written}
