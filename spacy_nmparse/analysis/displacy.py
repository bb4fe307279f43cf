"""displaCy's pictures of parses. (spaCy's ``evaluate --displacy-path`` draws them for components
of the factory ``parser`` only.)"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spacy import displacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.analysis.page import is_right_to_left
from spacy_nmparse.pipe.annotations import same_tokens
from spacy_nmparse.pipe.doc_io import gold_parse
from spacy_nmparse.pipe.files import write_files

LIMIT = 25  # pictures


def displacy_data(doc: Doc, gold: Doc | Example | None = None) -> dict[str, Any]:
    """A parsed document as displaCy takes it with ``manual=True``.

    Args:
        doc: the parsed document.
        gold: its gold tree: then labels tell what is wrong, as in ``obj (nsubj)`` (another label),
            ``obj ✗ saw`` (another head).

    Returns:
        {"words": ..., "arcs": ..., "settings": ...}.
    """
    heads: list[int | None] = [None] * len(doc)
    labels: list[str | None] = [None] * len(doc)
    if gold is not None:
        reference = gold.reference if isinstance(gold, Example) else gold
        heads, labels, _ = gold_parse(Example(doc, reference))
    arcs = []
    for token in doc:
        if token.head.i == token.i:
            continue
        label = token.dep_
        head = heads[token.i]
        if head is not None and head != token.head.i:
            label += f" ✗ {'ROOT' if head == token.i else doc[head].text}"
        elif head is not None and labels[token.i] not in (None, label):
            label += f" ({labels[token.i]})"
        first, last = sorted((token.i, token.head.i))
        way = "left" if token.i < token.head.i else "right"
        # displaCy escapes words, but not labels
        arcs.append({"start": first, "end": last, "label": html.escape(label), "dir": way})
    words = [{"text": token.text, "tag": token.pos_, "lemma": None} for token in doc]
    return {
        "words": words,
        "arcs": arcs,
        "settings": {"lang": doc.lang_, "direction": direction(doc)},
    }


def direction(doc: Doc) -> str:
    """Which way a document's letters run, whatever its language: "ltr" or "rtl"; of one without
    letters, which way its language runs."""
    texts = [token.text for token in doc]
    if is_right_to_left(texts):
        return "rtl"
    if any(unicodedata.bidirectional(sign) == "L" for text in texts for sign in text):
        return "ltr"
    return str(doc.vocab.writing_system.get("direction", "ltr"))


def write_parses(nlp: Language, golds: Iterable[Doc], path: Path, *, limit: int = LIMIT) -> int:
    """Parse gold documents and write their pictures, errors marked, as one page.

    Args:
        nlp: the pipeline. Words and spaces of the documents are given to it.
        golds: gold documents.
        path: the page to write.
        limit: how many documents at most.

    Returns:
        How many there are.
    """
    data = []
    for gold, _ in zip(golds, range(limit), strict=False):
        data.append(displacy_data(nlp(same_tokens(gold, nlp.vocab)), gold))
    page = displacy.render(
        data, style="dep", page=True, manual=True, jupyter=False, options={"compact": True}
    )
    write_files({path: page.encode()})
    return len(data)
