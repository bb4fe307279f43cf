"""Derivations and trees as a page for the browser, whole in one file."""

from __future__ import annotations

import html
import json
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import is_in_jupyter

from spacy_nmparse.pipe.confidence import confidences
from spacy_nmparse.pipe.doc_io import gold_parse
from spacy_nmparse.systems.names import COLOURS
from spacy_nmparse.wording import counted

#: The style and the drawing of all pages.
SHARED = ("page.css", "arcs.js")
HEIGHT = 760  # of the frame in a notebook
#: What the columns of the table of moves hold, by heading.
COLUMNS = {
    "model %": "The probability that the model gives the move, among the legal moves.",
    "label %": "The probability that the model gives the label, among the labels of this move.",
    "oracle's cost": "How many more words get a wrong head or label if this move is made, even if "
    "all later moves are the best possible. In brackets: with the right label.",
}


class Steps(Protocol):
    """The interface of derivations that a page shows, as ``Derivation`` has it."""

    glossary: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""

    def sentences(self) -> list[tuple[int, int]]:
        """The sentences as (first word, one behind the last)."""


def render(
    shown: Doc | Steps,
    *,
    gold: Doc | Example | None = None,
    title: str | None = None,
    jupyter: bool | None = None,
) -> str | None:
    """Draw a derivation, step by step, or the tree of a document.

    The page needs nothing but a browser. A derivation is stepped through with buttons or keys: the
    arcs over the sentence, new ones green and deleted ones red; stack, buffer or lists; the
    probability of each move next to the oracle's cost, where a gold tree is known; the gold tree
    below the sentence. Moves and lists are explained on demand, and the page's address leads back
    to the step. Words are never read as HTML.

    Args:
        shown: a derivation, or a parsed document.
        gold: with a document: its gold tree, drawn below (a derivation knows its own).
        title: heading of the page; by default the sentence that is shown.
        jupyter: whether to display it in a notebook; by default, where this is one.

    Returns:
        The page, or None where it is displayed in a notebook.

    Raises:
        ValueError: a document without a parse or without words.
    """
    page = render_page(shown, gold=gold, title=title)
    if jupyter or (jupyter is None and is_in_jupyter()):
        from IPython.display import HTML, display

        display(HTML(frame(page)))
        return None
    return page


def render_page(
    shown: Doc | Steps, *, gold: Doc | Example | None = None, title: str | None = None
) -> str:
    """The page that ``render`` gives."""
    data = page_data(shown, gold)
    data["title"] = title
    if title is None:
        title = " ".join(data["words"][slice(*data["sentences"][0])])
    return whole_page("page", data, title)


def page_data(shown: Doc | Steps, gold: Doc | Example | None = None) -> dict[str, Any]:
    """The data of the page's script, as JSON. Arguments as those of ``render``."""
    data = _doc_data(shown, gold) if isinstance(shown, Doc) else _derivation_data(shown)
    data.update(title=None, rtl=is_right_to_left(data["words"]), colours=COLOURS)
    return data


def whole_page(name: str, data: Any, title: str) -> str:
    """A page in one file, with the drawing that all pages share.

    Args:
        name: Of its files: ``NAME.html`` and ``NAME.js``.
        data: What the script reads, as JSON. Nothing in it is read as HTML.
        title: The page's title.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":  # nothing in it can end the script
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    page, style, drawing, script = map(file_text, (f"{name}.html", *SHARED, f"{name}.js"))
    page = page.replace("__STYLE__", style).replace("__SCRIPT__", drawing + script)
    before, after = page.split("__DATA__")
    return before.replace("__TITLE__", html.escape(title)) + text + after


def linked_page(title: str, *scripts: str) -> str:
    """The page of a derivation without one, for a server that has its files beside it.

    Args:
        title: The page's title.
        scripts: Names of files; the last one gets the derivation, and calls ``load`` with it.
    """
    page = file_text("page.html").replace("__TITLE__", html.escape(title))
    page = page.replace("<style>\n__STYLE__</style>", '<link rel="stylesheet" href="page.css">')
    linked = "".join(f'<script src="{name}"></script>\n' for name in scripts)
    return page.replace("__DATA__", "null").replace("<script>\n__SCRIPT__</script>\n", linked)


def file_text(name: str) -> str:
    """A file of the pages: HTML, style or script."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def frame(page: str) -> str:
    """A page as a frame within another, as in a notebook."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" style="width:100%;height:{HEIGHT}px;border:0" '
        f'title="derivation"></iframe>'
    )


def is_right_to_left(words: Sequence[str]) -> bool:
    """Whether more letters of the words run from right to left than from left to right."""
    kinds = [unicodedata.bidirectional(sign) for word in words for sign in word]
    return sum(kind in ("R", "AL") for kind in kinds) > kinds.count("L")


def _derivation_data(derivation: Steps) -> dict[str, Any]:
    data = derivation.as_dict()
    sources = {
        "greedy": "greedy search",
        "steered": "given moves, then greedy search",
        "given": "given actions",
    }
    source = sources.get(data["source"], f"oracle: {data['source']}")
    return {
        **data,
        "source": f"{data['system']}, {source}, {counted(len(data['steps']), 'step')}",
        "sentences": derivation.sentences(),
        "glossary": {**COLUMNS, **derivation.glossary},
    }


def _doc_data(doc: Doc, gold: Doc | Example | None) -> dict[str, Any]:
    tokens = [token for token in doc if not token.is_space]
    if not tokens or not doc.has_annotation("DEP"):
        raise ValueError(
            f"The document {doc.text!r:.60} has {'no parse' if tokens else 'no word'}: render() "
            f"draws parsed documents, and derivations."
        )
    number = {token.i: word for word, token in enumerate(tokens)}
    starts = [
        word
        for word, token in enumerate(tokens)
        if word == 0 or tokens[word - 1].sent != token.sent
    ]
    gold_heads = gold_labels = None
    if gold is not None:
        reference = gold.reference if isinstance(gold, Example) else gold
        heads, labels, _ = gold_parse(Example(doc, reference))
        known = [heads[token.i] for token in tokens]
        gold_heads = [None if head is None else number.get(head) for head in known]
        gold_labels = [labels[token.i] for token in tokens]
    words = [token.text for token in tokens]
    sure = confidences(doc)
    return {
        "source": counted(len(words), "word"),
        "words": words,
        "sentences": list(zip(starts, [*starts[1:], len(words)], strict=True)),
        "heads": [number.get(token.head.i, word) for word, token in enumerate(tokens)],
        "labels": [token.dep_ for token in tokens],
        "sure": None if sure is None else [round(float(sure[1, token.i]), 4) for token in tokens],
        "gold_heads": gold_heads,
        "gold_labels": gold_labels,
        "glossary": {},
        "steps": [],
    }
