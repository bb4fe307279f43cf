"""displaCy's pictures of parses."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from spacy import displacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_nmparse.analysis import displacy_data, write_parses
from tests.pipe.common import gold_doc


def test_what_is_wrong_is_marked() -> None:
    vocab = Vocab()
    words = ["She", "saw", "the", "<b>"]
    doc = Doc(vocab, words=words, heads=[1, 1, 1, 1], deps=["nsubj", "ROOT", "det", "obj"])
    gold = Doc(vocab, words=words, heads=[1, 1, 3, 1], deps=["nsubj", "ROOT", "det", "iobj"])
    assert displacy_data(doc)["arcs"] == [
        {"start": 0, "end": 1, "label": "nsubj", "dir": "left"},
        {"start": 1, "end": 2, "label": "det", "dir": "right"},
        {"start": 1, "end": 3, "label": "obj", "dir": "right"},
    ]
    data = displacy_data(doc, gold)
    assert [arc["label"] for arc in data["arcs"]] == ["nsubj", "det ✗ &lt;b&gt;", "obj (iobj)"]
    assert [word["text"] for word in data["words"]] == words
    picture = displacy.render(data, manual=True, jupyter=False)
    assert "obj (iobj)" in picture and "<b>" not in picture


def test_a_page_of_parses(trained: Language, tmp_path: Path) -> None:
    path = tmp_path / "parses.html"
    golds = [gold_doc(trained.vocab, [number]) for number in (0, 1, 4)]
    assert write_parses(trained, golds, path, limit=2) == 2
    page = path.read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    assert "London" in page and "Sleep" not in page
    assert "✗" not in page


@pytest.mark.parametrize(
    ("lang", "words", "way"),
    [
        ("xx", "הוא ראה את NATO .", "rtl"),
        ("ar", "رأى الولد القطة .", "rtl"),
        ("he", "He said : שלום", "ltr"),  # the letters decide, whatever the pipeline's language
        ("en", "سلام دنیا !", "rtl"),
        ("fa", "12 + 3", "rtl"),
        ("en", "12 + 3", "ltr"),
    ],
)
def test_letters_that_run_from_right_to_left(
    lang: str, words: str, way: str, tmp_path: Path
) -> None:
    nlp = spacy.blank(lang)
    tokens = words.split()
    doc = Doc(
        nlp.vocab,
        words=tokens,
        heads=[0] * len(tokens),
        deps=["ROOT", "a", "b", "c", "d"][: len(tokens)],
    )
    assert displacy_data(doc)["settings"]["direction"] == way
    assert write_parses(nlp, [doc], tmp_path / "page.html") == 1
    assert f'direction: {way}"' in (tmp_path / "page.html").read_text(encoding="utf-8")
