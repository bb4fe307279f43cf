"""Entities and groups of spans (``doc.spans``): they stay at their place in the text where a
document gets other tokens."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span, SpanGroup
from spacy.util import filter_spans


class Group(NamedTuple):
    """A group of spans; it holds when the tokens of its document change."""

    name: str
    attrs: dict[str, Any]
    spans: list[Span]


def read_groups(doc: Doc) -> dict[str, Group]:
    """The groups of spans of a document, by their keys."""
    return {key: Group(own.name, own.attrs, list(own)) for key, own in doc.spans.items()}


def split_groups(doc: Doc, sents: Sequence[Span]) -> list[dict[str, Group]]:
    """The groups of spans of each sentence; spans that go over a boundary are left out."""
    found = [{key: Group(own.name, {}, []) for key, own in doc.spans.items()} for _ in sents]
    starts = [sent.start for sent in sents]
    for key, group in doc.spans.items():
        for span in group:
            place = bisect_right(starts, span.start) - 1
            if span.end <= sents[place].end:
                found[place][key].spans.append(span)
    return found


def write_groups(doc: Doc, groups: dict[str, Group], offset: int = 0) -> None:
    """Give a document groups of spans of its text, or of one where it begins at a character. Spans
    that cut a token get all of it."""
    for key, (name, attrs, spans) in groups.items():
        placed = _placed(spans, doc, offset)
        doc.spans[key] = SpanGroup(doc, name=name, attrs=deepcopy(attrs), spans=placed)


def restore_spans(source: Doc, target: Doc) -> None:
    """Give a document the categories, entities, and groups of spans that another one of the same
    text has, each where it has none itself. Of entities that meet in a token the longest stays,
    with a warning; and so where the texts differ, entities and groups are lost."""
    target.cats = target.cats or dict(source.cats)
    groups = {key: own for key, own in read_groups(source).items() if key not in target.spans}
    entities = source.has_annotation("ENT_IOB") and not target.has_annotation("ENT_IOB")
    if not (groups or entities):
        return
    if source.text != target.text:
        warnings.warn(
            f"The pipeline changes the text {source.text[:60]!r}: entities and groups of spans of "
            f"its file are lost.",
            stacklevel=2,
        )
        return
    write_groups(target, groups)
    if entities:
        _restore_entities(source, target)


def _restore_entities(source: Doc, target: Doc) -> None:
    placed = _placed(source.ents, target)
    entities = filter_spans(placed)
    if lost := len(placed) - len(entities):
        warnings.warn(
            f"The pipeline merges tokens of {source.text[:60]!r}: {lost} of its entities are lost "
            f"there, since a token has only one.",
            stacklevel=3,
        )
    unknown = [source[token.i : token.i + 1] for token in source if token.ent_iob == 0]
    tokens = {token.i for span in _placed(unknown, target) for token in span}
    tokens -= {token.i for entity in entities for token in entity}
    target.set_ents(entities, missing=[target[i : i + 1] for i in tokens])  # type: ignore[arg-type]


def _placed(spans: Iterable[Span], doc: Doc, offset: int = 0) -> list[Span]:
    """Spans of a text as spans of a document that begins at a character of it, of whole tokens."""
    found = (
        doc.char_span(
            one.start_char - offset,
            one.end_char - offset,
            one.label,
            one.kb_id,
            alignment_mode="expand",
            span_id=one.id,
        )
        for one in spans
    )
    return [span for span in found if span is not None]
