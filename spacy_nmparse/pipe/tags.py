"""Tags of words, in spaCy's examples and documents: what ``scorers.tagging`` learns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy
from spacy.attrs import MORPH, POS, TAG
from spacy.morphology import Morphology
from spacy.parts_of_speech import IDS as UPOS_NUMBERS
from spacy.strings import StringStore
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_nmparse.pipe.doc_io import gold_tags, write_tags
from spacy_nmparse.scorers.tags import UNKNOWN, GoldTags

FIELDS = [POS, TAG, MORPH]

#: Attributes that are not features of MORPH.
WHOLE = ("POS", "TAG")

#: Value of an attribute of morphology that a word does not have.
ABSENT = ""

#: Values of each attribute; those of morphology begin with ABSENT.
Attributes = dict[str, list[str]]

#: What words have as POS, TAG and MORPH, together; the most frequent first.
TagTriples = list[list[str]]


class TagSet:
    """Attributes (POS, TAG, and the features of MORPH by their names) and their values, and which
    of them words have together."""

    def __init__(self, attributes: Attributes, triples: TagTriples | None = None) -> None:
        """Make a set of given attributes.

        Raises:
            ValueError: values that are not distinct strings, an attribute without a value, or
                triples that are not three strings each.
        """
        for name, values in attributes.items():
            if (
                not isinstance(values, list)
                or not values
                or not all(isinstance(value, str) for value in values)
                or len(set(values)) < len(values)
            ):
                raise ValueError(f"The values of the attribute {name!r} are not distinct strings.")
        self.triples = triples or []
        for triple in self.triples:
            if not (
                isinstance(triple, list)
                and len(triple) == len(FIELDS)
                and all(isinstance(value, str) for value in triple)
            ):
                raise ValueError(f"{triple!r} is not a part of speech, a tag and features.")
        self.attributes = attributes
        self._numbers = [
            {value: i for i, value in enumerate(values)} for values in attributes.values()
        ]
        self._triple_numbers = {tuple(triple): i for i, triple in enumerate(self.triples)}
        self._rows: dict[bytes, bytes] = {}
        self._compared: Any = None

    @property
    def sizes(self) -> list[int]:
        """How many values each attribute has."""
        return [len(values) for values in self.attributes.values()]

    @cached_property
    def readings(self) -> numpy.ndarray | None:
        """The values of each triple: float32 (triples, sum of sizes), 1 where a triple has a value,
        0 elsewhere; None: no triples are known."""
        if not self.attributes or not self.triples:
            return None
        found = numpy.zeros((len(self.triples), sum(self.sizes)), dtype="float32")
        first = numpy.cumsum([0, *self.sizes[:-1]])
        for row, triple in zip(found, self.triples, strict=True):
            indices = self._indices(*triple)
            row[(first + indices)[indices != UNKNOWN]] = 1
        return found

    def best(self, scores: numpy.ndarray, compared: Callable[[Any], Any]) -> numpy.ndarray:
        """The triple of each word whose values have the largest sum of scores, the first of equal
        ones: int32 (words,).

        Args:
            scores: float32 (words, sum of sizes), of all values of all attributes.
            compared: as of the scorer's ``Hooks``.
        """
        if self._compared is None:
            self._compared = compared(self.readings)
        found: numpy.ndarray = self._compared.best(scores)
        return found

    @cached_property
    def has_tags(self) -> bool:
        """Whether TAG says more than POS: without XPOS, spaCy's converter repeats the latter."""
        return any(tag != pos for pos, tag, _ in self.triples)

    @cached_property
    def _hashes(self) -> numpy.ndarray:
        """POS, TAG and MORPH of each triple, uint64 (triples, 3)."""
        strings = StringStore()  # all vocabularies have the same hashes
        morphology = Morphology(strings)
        rows = [
            (
                UPOS_NUMBERS.get(pos, 0),
                strings.add(tag) if tag and self.has_tags else 0,
                morphology.add(morph) if morph else 0,
            )
            for pos, tag, morph in self.triples
        ]
        return numpy.asarray(rows, dtype="uint64").reshape(-1, len(FIELDS))

    def extended(self, fields: Iterable[tuple[str, ...]]) -> TagSet:
        """The set with the triples among these FIELDS whose values are all in it."""
        new = [
            list(field)
            for field in fields
            if field not in self._triple_numbers
            and (values := _values(*field))
            and all(value in self.attributes.get(name, ()) for name, value in values.items())
        ]
        return TagSet(self.attributes, [*self.triples, *new])

    def register(self, vocab: Vocab, numbers: Iterable[int] | None = None) -> None:
        """Make a vocabulary know the strings of triples, for good.

        Args:
            vocab: the vocabulary.
            numbers: of the triples; None: of all.
        """
        for number in range(len(self.triples)) if numbers is None else numbers:
            _, tag, morph = self.triples[number]
            features = Morphology.feats_to_dict(morph).items()
            for text in filter(None, (tag, morph, *chain.from_iterable(features))):
                vocab.strings.add(text, allow_transient=False)  # type: ignore[call-arg]
            if morph:
                vocab.morphology.add(morph)

    def write(
        self, docs: Sequence[Doc], ends: numpy.ndarray, tokens: numpy.ndarray, chosen: numpy.ndarray
    ) -> None:
        """Write tags where a token has none of that kind.

        Args:
            docs: documents; their vocabularies know the strings.
            ends: int32 (documents,): where the words of each document end.
            tokens: int32 (words,): the tokens that are words.
            chosen: int32 (words,): the triple of each.
        """
        fields = numpy.ascontiguousarray(self._hashes[chosen])
        for doc, (first, last) in zip(docs, pairwise([0, *ends.tolist()]), strict=True):
            write_tags(doc, tokens[first:last], fields[first:last])

    def gold(self, examples: Sequence[Example], tokens: Sequence[numpy.ndarray]) -> GoldTags:
        """The tags of the parsed words of examples: UNKNOWN where there is no annotation, or one
        that is not in the set.

        Args:
            examples: examples.
            tokens: of each, the tokens that are words.
        """
        rows = []
        for example, words in zip(examples, tokens, strict=True):
            strings = example.reference.vocab.strings
            fields = gold_tags(example, words).view(f"V{8 * len(FIELDS)}").ravel().tolist()
            rows += [self._rows.get(field) or self._row(strings, field) for field in fields]
        found = numpy.frombuffer(b"".join(rows), dtype="int32").reshape(len(rows), -1)
        readings: Any = self.readings
        values = numpy.ascontiguousarray(found[:, 1:])
        return GoldTags(values, found[:, 0], readings)

    def _row(self, strings: StringStore, field: bytes) -> bytes:
        """The reading and the values of what ``gold_tags`` says of a word, both as bytes."""
        triple = [strings[value] for value in numpy.frombuffer(field, "uint64").tolist()]
        number = self._triple_numbers.get(tuple(triple), UNKNOWN)
        self._rows[field] = numpy.int32(number).tobytes() + self._indices(*triple).tobytes()
        return self._rows[field]

    def _indices(self, pos: str, tag: str, morph: str) -> numpy.ndarray:
        """The index of the value of each attribute, or UNKNOWN."""
        row = numpy.full(len(self._numbers), UNKNOWN, dtype="int32")
        values = _values(pos, tag, morph)
        for i, (name, numbers) in enumerate(zip(self.attributes, self._numbers, strict=True)):
            if name in values:
                row[i] = numbers.get(values[name], UNKNOWN)
            elif morph and name not in WHOLE:
                row[i] = numbers.get(ABSENT, UNKNOWN)
        return row


def counted(examples: Iterable[Example], fields: Counter[tuple[str, ...]]) -> Iterator[Example]:
    """Pass gold-standard examples on, and count the FIELDS of their words."""
    for example in examples:
        strings = example.reference.vocab.strings
        array: Any = example.reference.to_array(FIELDS)
        fields.update(tuple(strings[value] for value in field) for field in array.tolist())
        yield example


def collect(fields: Counter[tuple[str, ...]]) -> TagSet:
    """The attributes of words with these FIELDS, and their values."""
    seen: dict[str, set[str]] = {}
    for pos, tag, morph in fields:
        for name, value in _values(pos, tag, morph).items():
            seen.setdefault(name, set()).add(value)
    attributes = {}
    for name in sorted(seen):
        values = sorted(seen[name])
        if name not in WHOLE and values:
            values = [ABSENT, *values]
        if len(values) > 1:
            attributes[name] = values
    return TagSet(attributes, [list(field) for field, _ in fields.most_common() if any(field)])


def _values(pos: str, tag: str, morph: str) -> dict[str, str]:
    """Values of the attributes that a token has."""
    values = Morphology.feats_to_dict(morph) if morph and morph != "_" else {}
    return {**values, **({"POS": pos} if pos else {}), **({"TAG": tag} if tag else {})}
