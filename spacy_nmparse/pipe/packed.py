"""Documents as a few arrays, to send them to another process fast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from spacy.attrs import IDS
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import to_numpy

from spacy_nmparse.pipe.doc_io import fix_edges

WORDS = ("ORTH", "NORM", "LEMMA", "TAG", "DEP", "MORPH", "ENT_TYPE", "ENT_KB_ID", "ENT_ID")
NUMBERS = ("SPACY", "HEAD", "POS", "SENT_START", "ENT_IOB")
ATTRS = [IDS[name] for name in (*WORDS, *NUMBERS)]
ORTH, SPACE, DEP = 0, len(WORDS), WORDS.index("DEP")  # columns


@dataclass
class Packed:
    """Documents.

    Attributes:
        lengths: Tokens of each.
        strings: What the hashes of the tokens stand for.
        array: The attributes of all tokens, a column for each of ATTRS.
        tensors: The tensors of all tokens, where all documents have one; None: they are in extras.
        extras: What else each document has; None: nothing.
    """

    lengths: list[int]
    strings: list[str]
    array: numpy.ndarray
    tensors: numpy.ndarray | None
    extras: list[dict[str, Any] | None]


def pack(docs: Sequence[Doc]) -> Packed:
    """Put documents into arrays. Their user hooks are left out, as by ``Doc.to_bytes``.

    Args:
        docs: Documents of one vocabulary.
    """
    lengths = [len(doc) for doc in docs]
    arrays = [doc.to_array(ATTRS) for doc in docs if len(doc)]
    array = numpy.concatenate(arrays) if arrays else numpy.zeros((0, len(ATTRS)), "uint64")
    strings: list[str] = []
    if docs:
        store = docs[0].vocab.strings
        hashes = set(array[:, : len(WORDS)].ravel().tolist()) - {0}
        strings = [store[key] for key in hashes]
    tensors = [None if doc.tensor is None else to_numpy(doc.tensor) for doc in docs]
    kinds = {None if one is None else (one.ndim, one.shape[1:], one.dtype) for one in tensors}
    joined = None
    is_like = len(kinds) == 1 and getattr(tensors[0], "ndim", 0) == 2
    if is_like and [len(one) for one in tensors] == lengths:
        joined = numpy.concatenate(tensors)
    extras = [_extras(doc) for doc in docs]
    if joined is None:
        for found, tensor in zip(extras, tensors, strict=True):
            if tensor is None or tensor.size:
                found["tensor"] = tensor
    return Packed(lengths, strings, array, joined, [found or None for found in extras])


def _extras(doc: Doc) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if doc.cats:
        found["cats"] = doc.cats
    if doc.user_data:
        found["user_data"] = doc.user_data
    if doc.has_unknown_spaces:
        found["has_unknown_spaces"] = True
    if doc.sentiment:
        found["sentiment"] = doc.sentiment
    if len(doc.spans):
        spans = [span for group in doc.spans.values() for span in group]
        keys = {key for span in spans for key in (span.label, span.kb_id, span.id)} - {0}
        found["spans"] = doc.spans.to_bytes()
        found["strings"] = [doc.vocab.strings[key] for key in keys if key in doc.vocab.strings]
    return found


def unpack(packed: Packed, vocab: Vocab) -> Iterator[Doc]:
    """Make documents of arrays.

    Args:
        packed: What ``pack`` gives.
        vocab: The vocabulary of the new documents.
    """
    for string in packed.strings:
        vocab.strings.add(string)
    array, tensors = packed.array, packed.tensors
    used = [column for column in range(1, len(ATTRS)) if column != SPACE and array[:, column].any()]
    attrs = [ATTRS[column] for column in used]
    words = array[:, ORTH].tolist()
    spaces = array[:, SPACE].astype(bool).tolist()
    values: Any = array[:, used]
    is_parsed = bool(array[:, DEP].any())
    end = 0
    for length, extras in zip(packed.lengths, packed.extras, strict=True):
        start, end = end, end + length
        doc = Doc(vocab, words=words[start:end], spaces=spaces[start:end])
        if attrs and length:
            doc.from_array(attrs, values[start:end])
            if is_parsed:
                fix_edges(doc)
        if tensors is not None:
            doc.tensor = tensors[start:end]
        if extras:
            _complete(doc, extras)
        yield doc


def _complete(doc: Doc, extras: dict[str, Any]) -> None:
    for string in extras.pop("strings", ()):
        doc.vocab.strings.add(string)
    spans = extras.pop("spans", None)
    if spans is not None:
        doc.spans.from_bytes(spans)
    for name, value in extras.items():
        setattr(doc, name, value)
