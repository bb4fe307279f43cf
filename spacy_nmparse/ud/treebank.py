"""Universal Dependencies treebanks (CoNLL-U) as spaCy documents to train on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_nmparse.ud.conllu_docs import Merges, conllu_to_docs

SPLITS = ("train", "dev", "test")


def find_splits(folder: Path) -> dict[str, Path]:
    """Find the train, dev and test file of a UD treebank folder, or of a converted one.

    Args:
        folder: A folder that holds `*-train.conllu`, `*-dev.conllu` and `*-test.conllu`, or
            `train.spacy`, `dev.spacy` and `test.spacy`.

    Returns:
        The path of each split.

    Raises:
        FileNotFoundError: If the folder or one of the three files is missing.
        ValueError: If a split has more than one file.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"No folder {folder}: give the folder of a UD treebank.")
    found = {split: folder / f"{split}.spacy" for split in SPLITS}
    if all(path.is_file() for path in found.values()):
        return found
    for split in SPLITS:
        files = sorted(folder.glob(f"*{split}.conllu"))
        if not files:
            raise FileNotFoundError(
                f"No file *{split}.conllu in {folder}: name the files with --train, --dev, --test."
            )
        if len(files) > 1:
            names = ", ".join(file.name for file in files)
            raise ValueError(
                f"{folder} has several {split} files ({names}): choose one with --{split}."
            )
        found[split] = files[0]
    return found


def sentence_docs(source: Path | str, merge: bool | Merges = False) -> Iterator[Doc]:
    """Convert CoNLL-U to one Doc per sentence, for training.

    Where there is no XPOS, the part of speech is the tag, as spaCy's converter has it: spaCy's
    tagger cannot do without. Comments and MISC are left out.

    Args:
        source: A CoNLL-U file, or CoNLL-U text.
        merge: Whether multiword tokens stay one token; or what decides that for each.

    Yields:
        A Doc with words, spaces, tags, lemmas, morphology, heads and labels, and the words of
        multiword tokens (``spacy_nmparse.ud.extensions``).

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is not CoNLL-U, or holds no sentence.
    """
    found = False
    for doc in conllu_to_docs(source, Vocab(), merge=merge, n_sents=1):
        found = True
        for token in doc:
            token.tag_ = token.tag_ or token.pos_
        kept = ("ud_words", "ud_range")
        doc.user_data = {key: value for key, value in doc.user_data.items() if key[1] in kept}
        yield doc
    if not found:
        name = source if isinstance(source, Path) else "The text"
        raise ValueError(f"{name} holds no sentence; is it CoNLL-U?")


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
    group: list[Doc] = []
    for doc in docs:
        group.append(doc)
        if len(group) == n_sents:
            yield _join(group)
            group = []
    if group:
        yield _join(group)


def _join(docs: list[Doc]) -> Doc:
    if len(docs) == 1:
        return docs[0]
    joined = Doc.from_docs(docs)
    assert joined is not None  # only for an empty list
    return joined


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
    path.parent.mkdir(parents=True, exist_ok=True)
    store.to_disk(path)
    return n_docs, n_tokens


def convert(
    files: dict[str, Path],
    output: Path,
    n_sents: int = 1,
    with_single: bool = False,
    merge_subtokens: bool | Merges = False,
) -> dict[str, Path]:
    """Convert the splits of a treebank.

    Args:
        files: The CoNLL-U file of each split, as from `find_splits`.
        output: The folder for `train.spacy`, `dev.spacy` and `test.spacy`.
        n_sents: Sentences per document.
        with_single: With n_sents > 1, add each tenth training sentence as a document of its own.
        merge_subtokens: Whether multiword tokens stay one token; or what decides that for each.

    Returns:
        The .spacy file of each split.
    """
    written = {}
    for split, source in files.items():
        sentences = list(sentence_docs(source, merge_subtokens))
        docs = list(group_docs(sentences, n_sents))
        if split == "train" and n_sents > 1 and with_single:
            docs += sentences[::10]
        target = output / f"{split}.spacy"
        n_docs, n_tokens = write_docs(docs, target)
        print(
            f"{source.name}: {len(sentences)} sentences -> {target.name}: "
            f"{n_docs} documents, {n_tokens} tokens"
        )
        written[split] = target
    return written
