"""The parser behind the page: it completes trees under what is confirmed, and opens files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from spacy_nmparse.analysis.annotation.sentences import is_confirmed, known_by, only
from spacy_nmparse.analysis.annotation.store import Change
from spacy_nmparse.analysis.derivation import derive
from spacy_nmparse.analysis.page import page_data
from spacy_nmparse.pipe.confidence import confidences
from spacy_nmparse.pipe.members import parser_of, parsers_of
from spacy_nmparse.ud import FileParser, FileReader, FileWriter, conllu_to_docs, doc_to_conllu
from spacy_nmparse.ud.conllu import (
    COLUMNS,
    DEPREL,
    DEPS,
    EMPTY,
    FEATS,
    HEAD,
    ID,
    LEMMA,
    MISC,
    PLUS,
    UPOS,
    XPOS,
    Sentence,
    parts_of,
    read_rows,
)
from spacy_nmparse.ud.conllu_docs import sentences_to_doc
from spacy_nmparse.ud.parse_inputs import Known
from spacy_nmparse.ud.whole_tokens import pipe_words

CONLLU = (".conllu", ".conll")
ANNOTATED = ".annotated.conllu"
#: Words of a derivation, and moves of a step, that are shown.
MOST_WORDS, CHOICES = 200, 24
#: Columns that a pipeline fills where a word has nothing, and the attributes of its tokens.
FILLED = ((LEMMA, "lemma_"), (UPOS, "pos_"), (XPOS, "tag_"), (FEATS, "morph"))


class Assistant:
    """A pipeline that keeps known heads.

    Args:
        nlp: The pipeline; its parsers keep heads and write confidences from now on.

    Raises:
        ValueError: If it has no parser of this package.
    """

    def __init__(self, nlp: Language) -> None:
        if not parsers_of(nlp):
            parser_of(nlp)  # says what is missing
        self._nlp = nlp
        self._lock = Lock()
        labels: set[str] = set()
        for parser in parsers_of(nlp).values():
            parser.keep_heads = parser.confidence = True
            labels |= {*parser.labels}
        self.labels = sorted((labels - {"ROOT"}) | {"root"})

    def complete(self, sentence: Sentence) -> Change:
        """Parse a sentence anew under what is confirmed.

        Raises:
            ValueError: If what is confirmed is part of no tree.
        """
        with self._lock:
            return self._completed(only(sentence, is_confirmed))

    def judge(self, sentences: Sequence[Sentence]) -> Iterator[Change]:
        """Say of words how sure the parser is of them, without changing a head. A word to which it
        gives another head or label is as doubtful as the parser is sure."""
        with self._lock:
            try:
                known = (self._doc(only(one, is_confirmed)) for one in sentences)
                docs = list(pipe_words(self._nlp, known))
            except ValueError:  # a tree that cannot be: parse one by one
                docs = []
        for number, sentence in enumerate(sentences):
            try:
                found = _filled(sentence, docs[number]) if docs else self.complete(sentence)
            except ValueError:
                yield Change(sentence)
                continue
            pairs = zip(sentence.words, found.sentence.words, found.sure or (), strict=True)
            sure = [s if a[HEAD:DEPS] == b[HEAD:DEPS] else 1 - s for a, b, s in pairs]
            yield Change(sentence, sure=sure)

    def _doc(self, known: Sentence) -> Doc:
        """A document with the heads of a sentence; lines of messages are its rows."""
        numbers = list(range(1, len(known.rows) + 1))
        known = Sentence(known.comments, known.rows, numbers)
        return sentences_to_doc([known], self._nlp.vocab, name="the sentence")

    def _completed(self, known: Sentence) -> Change:
        """A sentence with the heads that it has, and the parser's for other words."""
        return _filled(known, *pipe_words(self._nlp, [self._doc(known)]))

    def parse(self, text: str | None, conllu: str | None, options: dict[str, Any]) -> Any:
        """Parse text, or sentences of CoNLL-U.

        Args:
            text: The text, or None.
            conllu: The sentences; heads that are known (``known_by``) are kept.
            options: ``keep_heads`` (True), ``confidence`` (False), ``format``: conllu or json.

        Returns:
            CoNLL-U, or a list of what ``Doc.to_json`` gives.

        Raises:
            ValueError: If the input is not CoNLL-U, or what is known is part of no tree.
        """
        with self._lock:
            if conllu is not None:
                sentences = list(read_rows(conllu))
                keep = known_by(sentences) if options.get("keep_heads", True) else lambda row: False
                kept = "".join(only(one, keep).written().to_conllu("") for one in sentences)
                given = conllu_to_docs(kept, self._nlp.vocab, n_sents=1)
                docs = list(pipe_words(self._nlp, given))
            else:
                docs = [self._nlp(text or "")]
        if options.get("format", "conllu") == "json":
            return [doc.to_json() for doc in docs]
        sure = bool(options.get("confidence"))
        return "".join(doc_to_conllu(doc, confidence=sure) for doc in docs)

    def derive(
        self, text: str | None, conllu: str | None, moves: Sequence[Sequence[Any]]
    ) -> dict[str, Any]:
        """The derivation of a text, or of sentences of CoNLL-U with their trees as gold.

        Args:
            text: The text, or None.
            conllu: The sentences.
            moves: The first moves, as for ``analysis.derive``.

        Returns:
            What the page of derivations reads.

        Raises:
            ValueError: If the input is not CoNLL-U, has no word or more than ``MOST_WORDS``, or a
                move is not legal.
        """
        with self._lock:
            gold = None
            if conllu is not None:
                read = [*read_rows(conllu)]
                doc = sentences_to_doc(read, self._nlp.vocab, name="the sentence")
                gold = doc if any(row[HEAD] != EMPTY for one in read for row in one.words) else None
            else:
                doc = self._nlp.make_doc(text or "")
            if len(doc) > MOST_WORDS:
                raise ValueError(
                    f"{len(doc)} words: a derivation is shown of {MOST_WORDS} at most."
                )
            name = next(iter(parsers_of(self._nlp)))
            return page_data(
                derive(self._nlp, doc, gold, name=name, n_choices=CHOICES, moves=moves)
            )

    def open(self, path: Path) -> list[Sentence]:
        """The sentences of CoNLL-U, text or a .spacy file, with whole trees: heads that are missing
        are those of the parser, and so is all of a text.

        Raises:
            OSError: If the file cannot be read.
            ValueError: If it is not what its name says, or has no sentence.
        """
        is_conllu = path.suffix.lower() in (*CONLLU, ".conllup")
        sentences = list(read_rows(path) if is_conllu else self._parsed(path))
        if not sentences:
            raise ValueError(f"{path} holds no sentence.")
        if any(len(row) > len(COLUMNS) for one in sentences for row in one.rows):
            raise ValueError(
                f"{path} has columns of CoNLL-U Plus: take out all but {', '.join(COLUMNS)}."
            )
        for one in sentences:
            one.comments[:] = [text for text in one.comments if parts_of(text)[0] != PLUS]
        keep = known_by(sentences)
        whole = []
        for sentence in sentences:
            if any(row[HEAD] == EMPTY for row in sentence.words):
                with self._lock:
                    sentence = self._completed(only(sentence, keep)).sentence
            whole.append(sentence)
        return whole

    def given(self, path: Path) -> Iterator[Sentence]:
        """The sentences of CoNLL-U or a .spacy file as they are; of a text none.

        Raises:
            OSError: If the file cannot be read.
            ValueError: If it is not what its name says.
        """
        for piece in FileReader(path).pieces():
            if piece.error is not None:
                raise piece.error
            for item in piece.items(self._nlp.vocab):
                if isinstance(item, Known):
                    yield from item.sentences or read_rows(doc_to_conllu(item.doc))

    def _parsed(self, path: Path) -> Iterable[Sentence]:
        """What ``nmparse parse`` makes of a file."""
        with tempfile.TemporaryDirectory() as folder, self._lock:
            target = Path(folder, "parsed.conllu")
            FileWriter(target).write(FileParser(self._nlp)(FileReader(path, keep_heads=True)))
            return list(read_rows(target))


def _filled(sentence: Sentence, doc: Doc) -> Change:
    """A sentence with the arcs of its parse, and tags and lemmas where it has none."""
    words = sentence.words
    if len(doc) != len(words):
        raise ValueError(
            f"The pipeline makes {len(doc)} tokens of {len(words)} words: take out what merges or "
            f"splits tokens."
        )
    numbers = {row[ID]: token for row, token in zip(words, doc, strict=True)}
    rows = []
    for row in sentence.rows:
        token = numbers.get(row[ID])
        if token is None:
            rows.append([*row])
            continue
        is_root = token.head.i == token.i
        label = "root" if is_root and token.dep_ == "ROOT" else token.dep_ or EMPTY
        head = "0" if is_root else str(token.head.i + 1)
        new = [*row[:HEAD], head, label, *row[DEPREL + 1 : MISC], row[MISC]]
        for column, name in FILLED:
            if new[column] == EMPTY:
                new[column] = str(getattr(token, name)) or EMPTY
        rows.append(new)
    sure = confidences(doc)
    return Change(
        Sentence([*sentence.comments], rows),
        sure=None if sure is None else [round(float(value), 4) for value in sure[1]],
    )
