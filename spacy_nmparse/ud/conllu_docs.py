"""Documents from CoNLL-U."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_nmparse.pipe.annotations import GIVEN
from spacy_nmparse.ud.conllu import Sentence, read_rows
from spacy_nmparse.ud.extensions import register_extensions
from spacy_nmparse.ud.table_docs import Tokens

#: Whether a multiword token, of this form and these words, becomes one token of spaCy.
Merges = Callable[[str, Sequence[str]], bool]


def conllu_to_docs(
    source: Path | str | Iterable[str],
    vocab: Vocab,
    *,
    merge: bool | Merges = False,
    n_sents: int = 0,
    name: str = "the CoNLL-U text",
    check: Callable[[Sentence, str], None] | None = None,
) -> Iterator[Doc]:
    """Read CoNLL-U into documents, with everything that a Doc can hold.

    Blank lines decide the sentences, whatever the heads say. The label of a root becomes ``ROOT``;
    ``_`` is no annotation. Labels of roots other than ``root``, multiword tokens, MISC and comments
    are in extensions of the tokens (``spacy_nmparse.ud.extensions``), so that ``doc_to_conllu``
    writes them again. Empty nodes and enhanced dependencies are left out. A parser that joins
    tokens leaves these words as they are.

    Args:
        source: A file (UTF-8), CoNLL-U text, or its lines.
        vocab: The documents' vocabulary.
        merge: Whether a multiword token becomes one token, with its words in ``token._.ud_words``,
            rather than its words tokens of their own; or what decides that for each. A merged
            token has the annotation of the word that heads the others, and their tags (XPOS, or
            else UPOS) joined by underscores.
        n_sents: At most so many sentences in a document; 0: documents begin where ``# newdoc``
            says so. Where nothing does, the text is one document.
        name: What messages call the source; a file goes by its path.
        check: Called with each sentence and the name; it may refuse the sentence.

    Yields:
        The documents.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is not CoNLL-U: the line is named.
    """
    name = str(source) if isinstance(source, Path) else name
    for group in grouped(read_rows(source, name), n_sents):
        if check is not None:
            for sentence in group:
                check(sentence, name)
        yield sentences_to_doc(group, vocab, merge=merge, name=name)


def grouped(sentences: Iterable[Sentence], n_sents: int) -> Iterator[list[Sentence]]:
    """The sentences of each document: at most so many, or 0, as in ``conllu_to_docs``."""
    group: list[Sentence] = []
    for sentence in sentences:
        if group and (len(group) == n_sents or sentence.starts("newdoc")):
            yield group
            group = []
        group.append(sentence)
    if group:
        yield group


def sentences_to_doc(
    sentences: Iterable[Sentence],
    vocab: Vocab,
    *,
    merge: bool | Merges = False,
    name: str = "the CoNLL-U text",
    bare: bool = False,
) -> Doc:
    """Make a document of sentences, as ``conllu_to_docs`` does; bare: as ``sentence_docs``, without
    the note that its words are given."""
    register_extensions()
    merges = merge if callable(merge) else (lambda form, words: True) if merge else None
    tokens = Tokens(merges, name, bare)
    for sentence in sentences:
        tokens.add(sentence)
    doc: Doc = tokens.doc(vocab)
    if not bare:
        doc.user_data[GIVEN] = True  # type: ignore[index]
    return doc
