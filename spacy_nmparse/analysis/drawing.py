"""Trees as pictures (SVG), drawn as ``arcs.js`` draws them in the browser."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.analysis.page import is_right_to_left
from spacy_nmparse.pipe.annotations import same_tokens
from spacy_nmparse.pipe.doc_io import gold_parse
from spacy_nmparse.pipe.files import write_files

LIMIT = 25  # pictures of a page
LEVEL, MARGIN, GAP, PORT = 27.0, 18.0, 26.0, 8.0
WORD, LABEL, TAG = 15, 11, 10  # sizes of letters
STYLE = """svg{color-scheme:light dark;background:light-dark(#fff,#14181f)}
text{font-family:system-ui,"Segoe UI",Roboto,"Noto Sans",sans-serif;text-anchor:middle;
fill:light-dark(#1d2430,#e6e9ef);font-size:15px}
.tag{font-size:10px;fill:light-dark(#667085,#97a1b3)}
.arc{fill:none;stroke:light-dark(#5a6475,#a3adbd);stroke-width:1.5px}
.label{font-size:11px;fill:light-dark(#5a6475,#a3adbd);paint-order:stroke;
stroke:light-dark(#fff,#14181f);stroke-width:6px;stroke-linejoin:round}
.halo{fill:none;stroke:light-dark(#fff,#14181f);stroke-width:6px}
.head{fill:light-dark(#5a6475,#a3adbd)}
.arc.crossing{stroke:light-dark(#7c3aed,#c4a7ff)}
.label.crossing,.head.crossing{fill:light-dark(#7c3aed,#c4a7ff)}
.arc.wrong{stroke:light-dark(#c81e1e,#f87171)}
.label.wrong,.head.wrong{fill:light-dark(#c81e1e,#f87171);font-weight:700}"""
CONTROLS = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Arc(NamedTuple):
    """An arc to be drawn; a root is its own head."""

    head: int
    word: int
    label: str

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last word that it joins."""
        return min(self.head, self.word), max(self.head, self.word)


def draw(
    words: Sequence[str],
    heads: Sequence[int | None],
    labels: Sequence[str | None],
    tags: Sequence[str] = (),
    wrong: Collection[int] = (),
) -> str:
    """Draw a tree. Arcs that cross others have a colour of their own; labels do not meet.

    Args:
        words: The words, of which there is at least one.
        heads: Their heads; a root is its own, and None is unknown.
        labels: Their labels.
        tags: What is written below the words, or nothing.
        wrong: Words whose arcs are marked as wrong.

    Returns:
        The picture: SVG for light and dark pages.
    """
    arcs = [
        Arc(head, word, labels[word] or ("ROOT" if head == word else ""))
        for word, head in enumerate(heads)
        if head is not None
    ]
    inner = [arc for arc in arcs if arc.head != arc.word]
    levels = dict(zip(inner, levels_of([arc.span for arc in inner]), strict=True))
    most = max([1, *levels.values()])
    places, ports, total = _layout(words, tags, arcs)
    base = (most + 0.9) * LEVEL + MARGIN
    kinds = dict.fromkeys(_crossing(arcs), "crossing") | dict.fromkeys(wrong, "wrong")
    lines, names = [], []
    for arc in sorted(arcs, key=lambda one: one.span[0] - one.span[1]):  # short ones over long ones
        kind = kinds.get(arc.word, "")
        end = ports[arc, arc.word]
        if arc.head == arc.word:
            top = base - (most + 0.9) * LEVEL
            path, x, y = f"M{end:.1f},{top:.1f}V{base - 6:.1f}", end, top - 4
        else:
            start, y = ports[arc, arc.head], base - LEVEL * levels[arc] - 4
            path, x, y = _line(start, end, y, base), (start + end) / 2, y + 4
        lines += [f'<path class="halo" d="{path}"/>', f'<path class="arc {kind}" d="{path}"/>']
        lines.append(f'<path class="head {kind}" d="M{end:.1f},{base:.1f}l-4,-8h8z"/>')
        names.append(_text(arc.label, x, y, f"label {kind}"))
    for word, form in enumerate(words):
        names.append(_text(form, places[word], base + 20, ""))
        if word < len(tags) and tags[word]:
            names.append(_text(tags[word], places[word], base + 35, "tag"))
    size = f"{total:.0f} {base + (42 if any(tags) else 30):.0f}"
    width, height = size.split()
    title = f"<title>{_escape(' '.join(words))}</title><style>{STYLE}</style>"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{height}" '
        f'viewBox="0 0 {size}">{title}{"".join(lines)}{"".join(names)}</svg>\n'
    )


def _crossing(arcs: Sequence[Arc]) -> list[int]:
    """The dependents of arcs that cross others."""
    spans = [arc.span for arc in arcs]
    return [
        arc.word
        for arc, (a, b) in zip(arcs, spans, strict=True)
        if any(a < c < b < d or c < a < d < b for c, d in spans)
    ]


def _line(start: float, end: float, top: float, base: float) -> str:
    """The path of an arc from its head's place to its dependent's, with round corners."""
    way, r = (1 if end > start else -1), min(9.0, abs(end - start) / 2)
    return (
        f"M{start:.1f},{base:.1f}V{top + r:.1f}Q{start:.1f},{top:.1f} {start + way * r:.1f},"
        f"{top:.1f}H{end - way * r:.1f}Q{end:.1f},{top:.1f} {end:.1f},{top + r:.1f}V{base - 6:.1f}"
    )


def write_drawings(nlp: Language, golds: Iterable[Doc], path: Path, *, limit: int = LIMIT) -> None:
    """Parse gold documents and write drawings of their trees, errors marked, as one page.

    Args:
        nlp: The pipeline. Words and spaces of the documents are given to it.
        golds: Gold documents.
        path: The page to write.
        limit: How many documents at most.
    """
    pictures = []
    for gold in islice(golds, limit):
        doc = nlp(same_tokens(gold, nlp.vocab))
        heads = [token.head.i for token in doc]
        words = [token.text for token in doc]
        labels = _marked(doc, gold)
        wrong = [token.i for token in doc if labels[token.i] != token.dep_]
        pictures.append(f"<div>{draw(words, heads, labels, wrong=wrong)}</div>")
    style = "<style>:root{color-scheme:light dark}div{overflow-x:auto;margin:1em 0}</style>"
    page = (
        f'<!DOCTYPE html><html lang="{nlp.lang}"><head><meta charset="utf-8"><title>Parses</title>'
    )
    write_files({path: f"{page}{style}</head><body>{''.join(pictures)}</body></html>\n".encode()})


def _marked(doc: Doc, gold: Doc) -> list[str]:
    """The label of each word that has a head, with what is wrong: ``obj (nsubj)`` (another label),
    ``obj ✗ saw`` (another head)."""
    heads, labels, _ = gold_parse(Example(doc, gold))
    marked = []
    for token, head, label in zip(doc, heads, labels, strict=True):
        more = ""
        if head is not None and token.head.i != token.i:
            if head != token.head.i:
                more = f" ✗ {'ROOT' if head == token.i else doc[head].text}"
            elif label not in (None, token.dep_):
                more = f" ({label})"
        marked.append(token.dep_ + more)
    return marked


def levels_of(spans: Sequence[tuple[int, int]]) -> list[int]:
    """How high each arc is drawn, from 1: above all arcs that it spans, and on no other's line.

    Args:
        spans: The first and the last word of each arc.
    """
    found: dict[int, int] = {}
    for i in sorted(range(len(spans)), key=lambda i: (spans[i][1] - spans[i][0], spans[i])):
        a, b = spans[i]
        met = [(*spans[j], lv) for j, lv in found.items() if spans[j][0] < b and a < spans[j][1]]
        level = 1 + max((lv for c, d, lv in met if a <= c and d <= b), default=0)
        while any(lv == level for _, _, lv in met):
            level += 1
        found[i] = level
    return [found[i] for i in range(len(spans))]


def _layout(
    words: Sequence[str], tags: Sequence[str], arcs: Sequence[Arc]
) -> tuple[list[float], dict[tuple[Arc, int], float], float]:
    """The middle of each word, where each arc ends at its words, and the width of the picture."""
    ends: list[list[Arc]] = [[] for _ in words]
    for arc in arcs:
        for word in {arc.head, arc.word}:
            ends[word].append(arc)
    rooms = [
        max(_width(form, WORD), _width(tag, TAG), 14.0, (PORT - 1) * (len(own) - 1))
        for form, tag, own in zip(words, [*tags, *[""] * len(words)], ends, strict=False)
    ]
    places, at = [], MARGIN
    for room in rooms:
        places.append(at + room / 2)
        at += room + GAP
    for arc in sorted(arcs, key=lambda one: one.span[1] - one.span[0]):
        a, b = arc.span
        if (lack := _width(arc.label, LABEL) + 48 - (places[b] - places[a])) > 0 and a < b:
            places[b:] = [place + lack for place in places[b:]]
    total = places[-1] + rooms[-1] / 2 + MARGIN
    way = -1 if is_right_to_left(words) else 1
    if way < 0:
        places = [total - place for place in places]
    ports = {}
    for word, own in enumerate(ends):
        others = {arc: arc.head if arc.word == word else arc.word for arc in own}
        own.sort(key=lambda arc: ((others[arc] > word) - (others[arc] < word), -others[arc]))
        gap = min(PORT, (rooms[word] + 6) / max(1, len(own)))
        for i, arc in enumerate(own):
            ports[arc, word] = places[word] + way * gap * (i - (len(own) - 1) / 2)
    return places, ports, total


def _width(text: str, size: int) -> float:
    """How wide a text is, about: no letter is drawn here."""
    signs = [one for one in text if not unicodedata.combining(one)]
    wide = sum(unicodedata.east_asian_width(one) in "WF" or one.isupper() for one in signs)
    return size * (0.58 * len(signs) + 0.3 * wide)


def _text(text: str, x: float, y: float, kind: str) -> str:
    name = f'class="{kind}" ' if kind else ""
    return f'<text {name}x="{x:.1f}" y="{y:.1f}">{_escape(text)}</text>'


def _escape(text: str) -> str:
    """A text for XML, which can hold no control characters."""
    return html.escape(CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text))
