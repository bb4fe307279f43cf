"""Tags of words for learning, from spaCy's examples: what ``scorers.tagging`` learns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy
from spacy.attrs import MORPH, POS, TAG
from spacy.morphology import Morphology
from spacy.strings import StringStore
from spacy.training import Example

from spacy_nmparse.pipe.doc_io import gold_tags
from spacy_nmparse.scorers.tagging import UNKNOWN

#: Values that are rarer than this are not learned.
MIN_COUNT = 3
FIELDS = [POS, TAG, MORPH]

#: Attributes that are not features of MORPH.
WHOLE = ("POS", "TAG")

#: Value of an attribute of morphology that a word does not have.
ABSENT = ""

#: Values of each attribute; those of morphology begin with ABSENT.
Attributes = dict[str, list[str]]


class TagSet:
    """Attributes (POS, TAG, and the features of MORPH by their names) and their values."""

    def __init__(self, attributes: Attributes) -> None:
        """Make a set of given attributes.

        Raises:
            ValueError: values that are not distinct strings, or an attribute without a value.
        """
        for name, values in attributes.items():
            if (
                not isinstance(values, list)
                or not values
                or len(set(values)) < len(values)
                or not all(isinstance(value, str) for value in values)
            ):
                raise ValueError(f"The values of the attribute {name!r} are not distinct strings.")
        self.attributes = attributes
        self._numbers = [
            {value: i for i, value in enumerate(values)} for values in attributes.values()
        ]
        self._rows: dict[bytes, bytes] = {}

    @property
    def sizes(self) -> list[int]:
        """How many values each attribute has."""
        return [len(values) for values in self.attributes.values()]

    def rows(self, examples: Sequence[Example], tokens: Sequence[numpy.ndarray]) -> numpy.ndarray:
        """The tags of the parsed words of examples, int32 (words, attributes): indices of values,
        or UNKNOWN where there is no annotation, or a value that is not in the set.

        Args:
            examples: examples.
            tokens: of each, the tokens that are words.
        """
        rows = []
        for example, words in zip(examples, tokens, strict=True):
            strings = example.reference.vocab.strings
            fields = gold_tags(example, words).view(f"V{8 * len(FIELDS)}").ravel().tolist()
            rows += [self._rows.get(field) or self._row(strings, field) for field in fields]
        array = numpy.frombuffer(b"".join(rows), dtype="int32")
        return array.reshape(len(rows), len(self.attributes))

    def _row(self, strings: StringStore, field: bytes) -> bytes:
        """The row of what ``gold_tags`` says of a word, both as bytes."""
        pos, tag, morph = (strings[value] for value in numpy.frombuffer(field, "uint64").tolist())
        row = numpy.full(len(self._numbers), UNKNOWN, dtype="int32")
        values = _values(pos, tag, morph)
        for i, (name, numbers) in enumerate(zip(self.attributes, self._numbers, strict=True)):
            if name in values:
                row[i] = numbers.get(values[name], UNKNOWN)
            elif morph and name not in WHOLE:
                row[i] = numbers.get(ABSENT, UNKNOWN)
        self._rows[field] = row.tobytes()
        return self._rows[field]


def collect(examples: Iterable[Example]) -> Attributes:
    """The attributes of gold-standard examples with the values that are frequent enough."""
    fields: Counter[tuple[str, ...]] = Counter()
    for example in examples:
        strings = example.reference.vocab.strings
        array: Any = example.reference.to_array(FIELDS)
        fields.update(tuple(strings[value] for value in field) for field in array.tolist())
    counts: dict[str, Counter[str]] = {}
    for (pos, tag, morph), n in fields.items():
        for name, value in _values(pos, tag, morph).items():
            counts.setdefault(name, Counter())[value] += n
    attributes = {}
    for name in sorted(counts):
        values = sorted(value for value, n in counts[name].items() if n >= MIN_COUNT)
        if name not in WHOLE and values:
            values = [ABSENT, *values]
        if len(values) > 1:
            attributes[name] = values
    return attributes


def _values(pos: str, tag: str, morph: str) -> dict[str, str]:
    """Values of the attributes that a token has."""
    values = Morphology.feats_to_dict(morph) if morph and morph != "_" else {}
    return {**values, **({"POS": pos} if pos else {}), **({"TAG": tag} if tag else {})}
