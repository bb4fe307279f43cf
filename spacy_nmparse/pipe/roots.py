"""Labels of roots: ``ROOT`` in a Doc, the treebank's own in ``token._.ud_root``.

``ud_root`` is None where the treebank's label is ``root``. A parser's name for ``root`` is
``ROOT``, and for another label, as Pred, ``ROOT||Pred``. Arcs from ROOT have such labels, and no
others have. ``ud_root`` stays with a Doc wherever its ``user_data`` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from spacy.tokens import Doc, Token
from spacy.training import Example

from spacy_nmparse.pipe.annotations import Parses
from spacy_nmparse.systems.projective import DELIMITER

ROOT_LABEL = "ROOT"  # of roots in documents
TREEBANK_ROOT = "root"  # of most roots in treebanks
EXTENSION = "ud_root"
PREFIX = ROOT_LABEL + DELIMITER


def register_extension() -> None:
    """Make ``token._.ud_root``, unless it is there."""
    if not Token.has_extension(EXTENSION):
        Token.set_extension(EXTENSION, default=None)


def root_label(token: Token) -> str:
    """The treebank's label of a root."""
    data: Any = token.doc.user_data
    return data.get(("._.", EXTENSION, token.idx, None)) or _unmarked(token.dep_)


def root_name(label: str) -> str:
    """A parser's name for a treebank's label of roots."""
    return ROOT_LABEL if label == TREEBANK_ROOT else PREFIX + label


def is_root_name(name: str | None) -> bool:
    """Whether a parser's label is one of roots."""
    return name is not None and (name == ROOT_LABEL or name.startswith(PREFIX))


def short_name(name: str) -> str:
    """A parser's label without what tells that it is one of roots; ``ROOT`` stays."""
    return name.removeprefix(PREFIX)


def name_roots(
    example: Example, heads: Sequence[int | None], labels: Sequence[str | None]
) -> list[str | None]:
    """Labels as ``gold_parse`` gives them, with a parser's names for those of roots.

    Args:
        example: The example.
        heads: The heads that ``gold_parse`` gives, of the tokens of the predicted document.
        labels: Their labels.
    """
    named = list(labels)
    reference: Any = example.reference
    marked = any(_is_ours(key) for key in reference.user_data)
    for token, head in enumerate(heads):
        if head != token:
            continue
        label = _unmarked(labels[token] or "")
        if marked:  # of a token with a head, which the other document has, too
            label = root_label(reference[int(example.alignment.x2y[token][0])])
        named[token] = root_name(label)
    return named


def write_root_labels(docs: Sequence[Doc], parses: Parses, names: Sequence[str]) -> None:
    """Note the treebank's labels of the roots of parsed documents; those of earlier parses go.

    Args:
        docs: The documents.
        parses: Their parses.
        names: The parser's labels by their numbers.
    """
    for doc in docs:
        data: Any = doc.user_data
        for key in [key for key in data if _is_ours(key)]:
            del data[key]
    own = [number for number, name in enumerate(names) if name.startswith(PREFIX)]
    if not own:
        return
    ends = parses.ends.tolist()
    labels = parses.arcs.labels
    for word in numpy.flatnonzero(numpy.isin(labels, own)).tolist():
        number = int(numpy.searchsorted(parses.ends, word, side="right"))
        first = ends[number - 1] if number else 0
        if parses.arcs.heads[word] == word - first:
            data = docs[number].user_data
            place = docs[number][int(parses.tokens[word])].idx
            data["._.", EXTENSION, place, None] = short_name(names[labels[word]])


def copy_root_labels(source: Doc, target: Doc) -> None:
    """Give a document the ``ud_root`` of another one of the same tokens."""
    data: Any = source.user_data
    found: Any = target.user_data
    found.update({key: value for key, value in data.items() if _is_ours(key)})


def _unmarked(label: str) -> str:
    """The treebank's label of a root that has this one in a document without ``ud_root``."""
    return TREEBANK_ROOT if label.lower() in ("", TREEBANK_ROOT) else label


def _is_ours(key: Any) -> bool:
    return isinstance(key, tuple) and len(key) == 4 and key[1] == EXTENSION
