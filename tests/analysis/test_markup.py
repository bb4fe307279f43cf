"""Words, labels and titles that are markup and scripts: every page and picture, opened in a real
browser, shows them as they are and runs none of them."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_nmparse import systems
from spacy_nmparse.analysis import derive_gold, render
from spacy_nmparse.analysis.drawing import write_drawings
from spacy_nmparse.analysis.page import frame
from spacy_nmparse.systems import Gold
from tests.analysis.browser import opened

RUN = "top.document.documentElement.setAttribute('data-ran', 1)"
WORDS = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f'</text></svg><img/src=x onerror="{RUN}">',
    f'"\'><svg/onload="{RUN}">',
    f'--></title></style></textarea><iframe/srcdoc="<script>{RUN}</script>">',
    f"<a xmlns='http://www.w3.org/1999/xhtml' href=\"javascript:{RUN}\">",
    "]]>&lt;b&gt;&amp;&#60;\\u003cb>__DATA__${1}`__TITLE__",
    "a\u0301\u202eb\u2028\u2029\ufeff𐌷😀",
]
LABELS = [f"{i}{word}" for i, word in enumerate(WORDS)]
HEADS = [1, 1, 1, 2, 6, 2, 1, 3]  # 4 <- 6 crosses 5 <- 2
OTHER_HEADS = [1, 1, 1, 2, 2, 2, 1, 1]
GOLD = Gold(HEADS, LABELS)


def document(vocab: Vocab, heads: list[int]) -> Doc:
    return Doc(vocab, words=WORDS, heads=heads, deps=LABELS)


def derivation_page() -> str:
    system = systems.create("swap_standard", labels=LABELS)
    page = render(derive_gold(system, GOLD, "lazy", WORDS), jupyter=False)
    assert page is not None
    return page


class Texts(HTMLParser):
    """What a page shows, and its elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def shown(page: str, folder: Path, kind: str = "html", address: str = "") -> Texts:
    """The page in a browser: nothing in the words has run or has become an element."""
    file = folder / f"page.{kind}"
    file.write_text(page, encoding="utf-8")
    dom = opened(file, address)
    assert "data-ran=" not in dom
    found = Texts(dom)
    assert not {"img", "a", "b", "textarea"} & {*found.tags}
    return found


def test_a_derivation_step_by_step(tmp_path: Path) -> None:
    page = derivation_page()
    for address in ("", "#step=9", "#step=tree"):
        found = shown(page, tmp_path, address=address)
        assert {*WORDS} <= {*found.texts}
        assert found.tags.count("script") == 2 and "iframe" not in found.tags
    assert {*LABELS} - {LABELS[1]} <= {*found.texts}  # that of the root is not drawn


def test_a_tree_with_its_gold_tree_and_a_title(tmp_path: Path) -> None:
    vocab, title = Vocab(), " ".join(WORDS)
    page = render(document(vocab, HEADS), gold=document(vocab, OTHER_HEADS), title=title)
    assert page is not None
    found = shown(page, tmp_path)
    assert {*WORDS, *LABELS, title} <= {*found.texts}
    assert found.tags.count("script") == 2 and "iframe" not in found.tags


def test_a_frame_in_a_notebook(tmp_path: Path) -> None:
    page = f"<!DOCTYPE html><html><body>{frame(derivation_page())}</body></html>"
    found = shown(page, tmp_path)
    assert found.tags.count("iframe") == 1 and "script" not in found.tags


def test_drawn_parses(tmp_path: Path) -> None:
    @Language.component("wrong_tree")
    def wrong_tree(doc: Doc) -> Doc:
        return document(doc.vocab, OTHER_HEADS)

    nlp = spacy.blank("en")
    nlp.add_pipe("wrong_tree")
    file = tmp_path / "parses.html"
    write_drawings(nlp, [document(nlp.vocab, HEADS)], file)
    found = shown(file.read_text(encoding="utf-8"), tmp_path)
    assert {*WORDS} <= {*found.texts}
    assert {f"{LABELS[7]} ✗ {WORDS[3]}", LABELS[0], LABELS[2]} <= {*found.texts}
    assert not {"script", "iframe"} & {*found.tags}


def test_these_words_run_where_nothing_is_escaped(tmp_path: Path) -> None:
    """Or the tests above would prove nothing."""
    file = tmp_path / "page.html"
    before = ("<p>", "<p>", "<svg><text>", '<p title="', "<title>")
    words = [word.replace("data-ran", f"data-ran{i}") for i, word in enumerate(WORDS[:5])]
    pages = (
        f"<html><body>{one}{word}</body></html>" for one, word in zip(before, words, strict=True)
    )
    frames = "".join(frame(f"<!DOCTYPE html>{page}") for page in pages)
    file.write_text(f"<!DOCTYPE html><html><body>{frames}</body></html>", encoding="utf-8")
    shown = opened(file)
    assert [f"data-ran{i}=" in shown for i in range(5)] == [True] * 5
