"""The page that steps through a derivation: its data; its behaviour in a real browser."""

from __future__ import annotations

import html
import json
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_nmparse import systems
from spacy_nmparse.analysis import Derivation, derive, derive_gold, render
from spacy_nmparse.analysis.page import is_right_to_left
from spacy_nmparse.analysis.steps import action_name
from spacy_nmparse.systems import Gold
from tests.analysis.browser import opened
from tests.pipe.common import NL, TREES, gold_doc, random_parser

EVIL = "</script><img src=x onerror=alert(1)>"


def html_of(shown: Derivation | Doc, **options: Any) -> str:
    """The page of a derivation or a parse."""
    page = render(shown, jupyter=False, **options)
    assert page is not None
    return page


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_data_of_a_derivation(trained: Language) -> None:
    gold = gold_doc(trained.vocab, [0])
    derivation = derive(trained, gold, gold)
    data, told = data_of(html_of(derivation)), derivation.as_dict()
    for key in ("words", "heads", "gold_heads"):
        assert data[key] == told[key]
    assert data["sentences"] == [[0, 5]] and not data["rtl"]
    step = data["steps"][1]
    assert {key: step[key] for key in ("action", "added", "stack")} == {
        "action": ["LEFT-ARC", 1, "nsubj"],
        "added": [[1, 0, "nsubj"]],
        "stack": [0],
    }
    assert [choice["action"] for choice in step["choices"]].count(step["action"]) == 1
    assert step["choices"][0]["cost"] == 0


def test_moves_and_lists_are_explained(trained: Language) -> None:
    data = data_of(html_of(derive(trained, "She saw the cat .")))
    assert set(data["glossary"]) >= {"stack", "buffer", "repair", "model %", "oracle's cost"}
    assert set(data["glossary"]) >= {
        c["action"][0] for step in data["steps"] for c in step["choices"]
    }
    nlp = random_parser(1, factory=NL)
    data = data_of(html_of(derive(nlp, Doc(nlp.vocab, words=["cat"] * 3))))
    assert set(data["glossary"]) >= {"lambda1", "lambda2", "buffer", "(complete)", "SHIFT"}
    assert "stack" not in data["glossary"]


def test_headings_are_whole() -> None:
    words = [f"word{i}" for i in range(30)]
    doc = Doc(Vocab(), words=words, heads=[0] * 30, deps=["ROOT", *["dep"] * 29])
    page = html_of(doc)
    assert f"<title>{' '.join(words)}</title>" in page
    assert data_of(page)["title"] is None
    page = html_of(doc, title="A & B")
    assert "<title>A &amp; B</title>" in page
    assert data_of(page)["title"] == "A & B"


def test_buttons_are_drawn(trained: Language) -> None:
    page = html_of(derive(trained, "She saw the cat ."))
    assert not set(page) & set("⏮⏭◀▶↺")  # common fonts lack some of them


def test_nothing_comes_from_elsewhere(trained: Language) -> None:
    page = html_of(derive(trained, "She saw the cat ."))
    rest = page.replace("http://www.w3.org/2000/svg", "")  # a name, not an address
    assert not re.search(r"https?://|src=|@import|url\(|<link", rest)


def test_words_are_no_html() -> None:
    words = [EVIL, "a&b", "\u2028"]
    doc = Doc(Vocab(), words=words, heads=[0, 0, 0], deps=["ROOT", EVIL, "b"])
    page = html_of(doc, title=EVIL)
    assert EVIL not in page and "<img" not in page
    data = data_of(page)
    assert data["words"] == words
    assert data["labels"][1] == EVIL


def test_a_long_document_is_cut() -> None:
    nlp = random_parser(1)
    doc = Doc(nlp.vocab, words=["cat"] * 300)
    data = data_of(html_of(derive(nlp, doc)))
    assert data["steps"][0]["buffer_length"] == 301
    assert len(data["steps"][0]["buffer"]) < 30


def test_documents_with_spaces_and_sentences(trained: Language) -> None:
    doc = trained("She saw the cat .\n\nYes")
    data = data_of(html_of(doc, gold=doc))
    assert data["words"] == ["She", "saw", "the", "cat", ".", "Yes"]
    assert data["heads"] == data["gold_heads"]
    assert data["steps"] == []
    starts = [first for first, _ in data["sentences"]]
    assert starts[0] == 0 and data["sentences"][-1][1] == 6


def test_bad_calls(trained: Language) -> None:
    with pytest.raises(ValueError, match="no parse"):
        render(trained.make_doc("Yes"))
    with pytest.raises(ValueError, match="no word"):
        render(trained.make_doc(" "))


def test_directions() -> None:
    assert is_right_to_left(["הילד", "אכל", "a", "."])
    assert is_right_to_left(["ذهب", "الولد"])
    assert not is_right_to_left(["She", "saw", "הילד"])
    assert not is_right_to_left(["1", "."])


def test_notebooks(trained: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    fake = types.ModuleType("IPython.display")
    fake.HTML = lambda text: text  # type: ignore[attr-defined]
    fake.display = shown.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython.display", fake)
    derivation = derive(trained, "She saw the cat .")
    assert render(derivation, jupyter=True) is None
    assert shown == [derivation._repr_html_()]
    page = re.search(r'srcdoc="([^"]*)"', shown[0])
    assert page is not None
    assert html.unescape(page[1]) == render(derivation, jupyter=False)


def in_browser(page: str, script: str, folder: Path, address: str = "") -> dict[str, Any]:
    """What a script, run in the page, leaves in ``result``; ``errors`` holds what went wrong."""
    before = "<script>window.errors = []; window.onerror = (m) => { errors.push(m); };</script>"
    after = (
        "<script>const result = {};\n"
        "const press = (key) => document.dispatchEvent(new KeyboardEvent('keydown', {key}));\n"
        "const all = (what) => [...document.querySelectorAll(what)];\n"
        "const texts = (what) => all(what).map((one) => one.textContent);\n"
        "const arcs = (kind) => all(`g.arc${kind}`).map((one) => one.dataset.arc);\n"
        f"{script}\n"
        "result.errors = errors;\n"
        "const out = document.createElement('pre'); out.id = 'result';\n"
        "out.textContent = JSON.stringify(result); document.body.append(out);</script>"
    )
    head, rest = page.split("<head>", 1)
    file = folder / "page.html"
    file.write_text(f"{head}<head>{before}{rest.replace('</body>', after + '</body>')}", "utf-8")
    found = re.search(r'<pre id="result">(.*?)</pre>', opened(file, address), re.DOTALL)
    assert found is not None
    result = json.loads(html.unescape(found[1]))
    assert result["errors"] == []
    return result


def test_stepping(trained: Language, tmp_path: Path) -> None:
    gold = gold_doc(trained.vocab, [0])
    derivation = derive(trained, gold, gold)
    script = """
    result.moves = []; result.added = [];
    for (let i = 0; i <= data.steps.length; i++) {
      result.moves.push(byId("move").textContent); result.added.push(arcs(".added"));
      press("ArrowRight");
    }
    result.tree = arcs(":not(.gold)").sort(); result.gold = arcs(".gold").sort();
    result.nextDisabled = byId("next").disabled;
    press("ArrowLeft"); result.last = byId("move").textContent;
    press("Home"); result.first = byId("count").textContent;
    byId("next").click(); result.clicked = byId("count").textContent;
    result.stack = texts("#configuration .items:first-of-type .top");
    byId("list").children[3].click(); result.listed = byId("count").textContent;
    byId("gold").click(); result.goldOff = arcs(".gold").length;
    result.rows = texts("#table-box tr").length;
    """
    result = in_browser(html_of(derivation), script, tmp_path)
    assert result["moves"] == [*(step.name for step in derivation.steps), ""]
    assert result["added"] == [
        *([f"{arc.head},{arc.dependent}" for arc in step.added] for step in derivation.steps),
        [],
    ]
    tree = [f"{-1 if head == word else head},{word}" for word, head in enumerate(TREES[0][1])]
    assert result["tree"] == sorted(tree) == result["gold"]
    assert result["nextDisabled"]
    n = len(derivation.steps)
    assert result["last"] == derivation.steps[-1].name
    counts = [result[name] for name in ("first", "clicked", "listed")]
    assert counts == [f"1 / {n}", f"2 / {n}", f"4 / {n}"]
    assert result["stack"] == ["She"]
    assert result["goldOff"] == 0
    assert result["rows"] == len(derivation.steps[3].choices) + 1


def test_repairs_and_wrong_moves(tmp_path: Path) -> None:
    nlp = random_parser(3)
    gold = gold_doc(nlp.vocab, [0, 1, 2, 3])
    derivation = derive(nlp, gold, gold)
    replaced = next(i for i, step in enumerate(derivation.steps) if step.repair and step.deleted)
    wrong = next(i for i, step in enumerate(derivation.steps) if step.is_wrong)
    assert wrong > 0
    script = """
    result.deleted = arcs(".deleted"); result.added = arcs(".added");
    const style = (kind) => getComputedStyle(document.querySelector(`path.${kind}:not(.head)`));
    result.colors = [style("deleted").stroke, style("added").stroke];
    result.tag = texts(".tag.repair");
    press("Home"); press("w"); result.wrong = byId("count").textContent;
    result.wrongTag = texts(".tag.wrong").length;
    """
    result = in_browser(html_of(derivation), script, tmp_path, f"#step={replaced + 1}")
    step = derivation.steps[replaced]
    assert result["deleted"] == [f"{arc.head},{arc.dependent}" for arc in step.deleted]
    assert result["added"] == [f"{arc.head},{arc.dependent}" for arc in step.added]
    assert result["colors"] == ["rgb(200, 30, 30)", "rgb(21, 128, 61)"]  # red, green
    assert result["tag"] == [f" repair {step.repair}"]
    assert result["wrong"] == f"{wrong + 1} / {len(derivation.steps)}"
    assert result["wrongTag"] == 1


def test_crossing_arcs_and_escapes(tmp_path: Path) -> None:
    words = ["<b>A</b>", "hearing", "is", "scheduled", "on", "the", "issue", EVIL]
    system = systems.create("swap_standard")
    derivation = derive_gold(system, Gold([1, 3, 3, 3, 1, 6, 4, 3]), "lazy", words)
    script = """
    press("End");
    result.crossing = arcs(".crossing"); result.words = texts("[data-word]");
    result.images = all("img").length;
    const boxes = all("svg text.label").map((one) => one.getBoundingClientRect());
    const words = all("svg [data-word]").map((one) => one.getBoundingClientRect());
    const meet = (a, b) => a.left < b.right && b.left < a.right
      && a.top < b.bottom && b.top < a.bottom;
    result.overlaps = boxes.filter((a) => words.some((b) => meet(a, b))).length
      + words.filter((a, i) => words.some((b, j) => i !== j && meet(a, b))).length;
    """
    result = in_browser(html_of(derivation), script, tmp_path)
    assert sorted(result["crossing"]) == ["1,4", "3,7"]
    assert result["words"] == words
    assert result["images"] == 0
    assert result["overlaps"] == 0


def test_lists_and_right_to_left(tmp_path: Path) -> None:
    nlp = random_parser(1, factory=NL)
    doc = Doc(nlp.vocab, words=["הילד", "אכל", "את", "התפוח", "האדום"])
    script = """
    press("ArrowLeft"); press("ArrowLeft");
    result.count = byId("count").textContent;
    result.titles = texts("#configuration h2");
    result.places = all("[data-word]").map((one) => one.getBoundingClientRect().left);
    """
    result = in_browser(html_of(derive(nlp, doc)), script, tmp_path)
    assert result["count"].startswith("3 /")  # forward is to the left
    assert result["titles"] == ["λ1 (focus last)", "λ2", "Buffer"]
    assert result["places"] == sorted(result["places"], reverse=True)


def test_explanations(tmp_path: Path) -> None:
    nlp = random_parser(1, factory=NL)
    derivation = derive(nlp, Doc(nlp.vocab, words=TREES[0][0].split()))
    script = """
    const box = byId("explanation");
    const read = () => box.matches(":popover-open") ? box.textContent : null;
    const terms = (where) => all(`${where} .term`);
    result.icons = ["first", "back", "next", "last"].map((id) =>
      document.querySelectorAll(`#${id} svg path`).length);
    result.hidden = read();
    result.lists = terms("#configuration").map((one) => {
      box.hidePopover(); one.click(); return read();
    });
    box.hidePopover(); press("ArrowRight");
    const cell = terms("#table-box td")[0];
    cell.click(); result.open = read(); cell.click(); result.twice = read();
    result.reached = terms("#table-box td").filter((one) => one.tabIndex === 0)
      .map((one) => one.textContent);
    result.title = cell.title;
    """
    result = in_browser(html_of(derivation), script, tmp_path)
    text = derivation.glossary
    assert result["icons"] == [1, 1, 1, 1]
    assert result["lists"] == [
        f"λ1 (focus last) {text['lambda1']}",
        f"λ2 {text['lambda2']}",
        f"Buffer {text['buffer']}",
    ]
    choices = [choice.action for choice in derivation.steps[1].choices]
    assert result["title"] == text[choices[0].move]
    assert result["open"] == f"{action_name(choices[0])} {text[choices[0].move]}"
    assert result["hidden"] is None and result["twice"] is None
    first = {action.move: action_name(action) for action in reversed(choices)}
    assert sorted(result["reached"]) == sorted(first.values())  # each explained once by Tab


def test_what_does_nothing_is_not_shown(tmp_path: Path) -> None:
    gold = Gold([1, 3, 3, 3, 1, 3])
    derivation = derive_gold(systems.create("swap_standard"), gold, "lazy")
    script = """
    const shown = (what) => all(what).filter((one) => one.checkVisibility())
      .map((one) => one.textContent);
    result.keys = shown("kbd"); result.buttons = shown("button[id]").length;
    result.start = shown("#legend .key"); result.box = shown("#choices h2");
    byId("gold").click(); press("End");
    result.tree = shown("#legend .key"); result.empty = shown("#choices h2");
    """
    result = in_browser(html_of(derivation), script, tmp_path)
    assert result["keys"] == ["←", "→", "Home", "End"] and result["buttons"] == 4
    assert result["start"] == ["gold arc"] and result["tree"] == ["crossing arc"]
    assert result["box"] == ["What the oracle says"] and result["empty"] == []


def test_both_ends_of_a_long_arc_are_in_sight(tmp_path: Path) -> None:
    gold = Gold([0, *range(38), 0])
    derivation = derive_gold(systems.create("nl_covington"), gold, "static")
    step = next(i for i, one in enumerate(derivation.steps) if (0, 39, None) in one.added)
    script = """
    const box = byId("picture").getBoundingClientRect();
    const arc = document.querySelector("g.added").getBoundingClientRect();
    result.inside = box.left <= arc.left && arc.right <= box.right;
    const picture = document.querySelector("#picture svg");
    result.smaller = picture.width.baseVal.value < picture.viewBox.baseVal.width;
    byId("picture").style.width = "330px"; draw();  // a phone: one end, and letters to read
    const tiny = document.querySelector("#picture svg"), phone = byId("picture");
    const end = tiny.querySelector('[data-word="39"]').getBoundingClientRect();
    result.read = tiny.width.baseVal.value / tiny.viewBox.baseVal.width;
    result.end = phone.getBoundingClientRect().left <= end.left
      && end.right <= phone.getBoundingClientRect().right;
    """
    result = in_browser(html_of(derivation), script, tmp_path, f"#step={step + 1}")
    assert result["inside"] and result["smaller"]
    assert result["read"] > 0.5 and result["end"]


def test_confidences(tmp_path: Path) -> None:
    nlp = random_parser(1)
    words = TREES[0][0].split()
    assert data_of(html_of(nlp(Doc(nlp.vocab, words=words))))["sure"] is None
    nlp.get_pipe("nm_parser").confidence = True  # type: ignore[attr-defined]
    starts = [i == 0 for i in range(len(words))]  # the page shows one sentence
    doc = nlp(Doc(nlp.vocab, words=words, sent_starts=starts))
    sure = data_of(html_of(doc))["sure"]
    assert sure == pytest.approx([token._.dep_confidence for token in doc], abs=1e-4)
    script = """result.labels = texts(".label");"""
    labels = in_browser(html_of(doc), script, tmp_path)["labels"]
    assert sorted(labels) == sorted(f"{t.dep_} {t._.dep_confidence:.0%}" for t in doc)


def two_sentences() -> Derivation:
    """She left . | What do you want ?"""
    system = systems.create("arc_eager", segment=True)
    words = ["She", "left", ".", "What", "do", "you", "want", "?"]
    gold = Gold([1, 1, 1, 6, 6, 6, 6, 6], sent_starts=[1, 0, 0, 1, 0, 0, 0, 0])
    return derive_gold(system, gold, "static", words)


def test_the_address_follows(tmp_path: Path) -> None:
    derivation = two_sentences()
    assert derivation.sentences() == [(0, 3), (3, 8)]
    second = next(i for i, step in enumerate(derivation.steps) if step.start == 3)
    script = """
    const step = (act) => { act(); writeAddress(); return location.hash; };
    result.fresh = location.hash; result.before = history.length;
    result.title = byId("title").textContent;
    result.soon = (press("ArrowRight"), location.hash);  // not yet: browsers limit the changes
    result.next = step(() => 0);
    const choose = (i) => {
      byId("sentence").value = i; byId("sentence").dispatchEvent(new Event("change"));
    };
    result.sentence = step(() => choose(1));
    result.otherTitle = byId("title").textContent;
    result.tree = step(() => press("End"));
    result.firstTree = step(() => choose(0));
    result.after = history.length;
    const at = (hash) => { history.replaceState(null, "", hash); readAddress(); show();
      return [byId("count").textContent, byId("sentence").value]; };
    result.opened = ["#step=3", "#sentence=2", "#sentence=2&step=tree", "#step=999", "#step=0",
      "#step=x&sentence=-1", "#step=1.5", "#"].map(at);
    history.replaceState(null, "", "#theme=dark"); readAddress();
    result.themed = step(() => press("Home"));
    result.theme = document.documentElement.style.colorScheme;
    """
    n = len(derivation.steps)
    result = in_browser(html_of(derivation), script, tmp_path)
    assert result["fresh"] == ""
    assert result["title"] == "She left ."
    assert result["soon"] == "" and result["next"] == "#sentence=1&step=2"
    assert result["sentence"] == f"#sentence=2&step={second + 1}"
    assert result["otherTitle"] == "What do you want ?"
    assert result["tree"] == "#sentence=2&step=tree"
    assert result["firstTree"] == "#sentence=1&step=tree"
    assert result["before"] == result["after"]  # Back leaves the page
    start = [f"1 / {n}", "0"]
    assert result["opened"] == [
        [f"3 / {n}", "0"],
        [f"{second + 1} / {n}", "1"],
        ["the tree", "1"],
        [f"{n} / {n}", "1"],
        *[start] * 4,
    ]
    assert result["themed"] == "#theme=dark&sentence=1&step=1" and result["theme"] == "dark"


def test_an_address_opens_its_step(tmp_path: Path) -> None:
    derivation = two_sentences()
    script = """
    result.count = byId("count").textContent; result.move = byId("move").textContent;
    result.words = texts("[data-word]");
    """
    n = len(derivation.steps)
    result = in_browser(html_of(derivation), script, tmp_path, f"#sentence=2&step={n - 1}")
    assert result["count"] == f"{n - 1} / {n}"
    assert result["move"] == derivation.steps[n - 2].name
    assert result["words"] == derivation.words[3:]
