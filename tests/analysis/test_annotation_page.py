"""The page for annotation in a real browser, with a server behind it."""

from __future__ import annotations

import copy
import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from spacy.language import Language

from spacy_nmparse.analysis.annotation import server as server_module
from spacy_nmparse.analysis.annotation.assistant import Assistant
from spacy_nmparse.analysis.annotation.server import Handler, Server
from spacy_nmparse.analysis.annotation.store import Store
from spacy_nmparse.analysis.page import file_text
from spacy_nmparse.ud.conllu import DEPREL, MISC, read_rows
from tests.analysis.browser import dumped
from tests.analysis.test_annotation import LIKE, SAW, sentence, tree_of

EVIL = "</script><img/src=x/onerror=document.title=1>"
BEFORE = """
const result = {};
const all = (what) => [...document.querySelectorAll(what)];
const texts = (what) => all(what).map((one) => one.textContent);
const arcs = (kind = "") => all(`#picture g.arc${kind}`).map((one) => one.dataset.arc).sort();
const press = (...keys) => keys.forEach((key) =>
  document.dispatchEvent(new KeyboardEvent("keydown", {key})));
const until = async (test) => {
  for (let i = 0; i < 200; i++) {
    if (test()) return;
    await new Promise((done) => setTimeout(done, 25));
  }
  throw new Error(`not so: ${test}; ${byId("status").textContent}`);
};
const saved = (act) => {
  say(""); act(); return until(() => byId("status").textContent === "saved");
};
const put = (id, value) => {
  byId(id).value = value; byId(id).dispatchEvent(new Event("change"));
};
const label = (value) => { byId("label").value = value; byId("labelling").requestSubmit(); };
const run = async () => {
"""
AFTER = """
};
ready.then(run).catch((error) => { result.error = String(error); }).finally(() => {
  const out = element("pre", {id: "result"}, JSON.stringify(result)); document.body.append(out);
});
"""


@pytest.fixture(scope="module")
def assistant(trained: Language) -> Assistant:
    return Assistant(copy.deepcopy(trained))


Open = Callable[..., dict[str, Any]]


@pytest.fixture
def work(assistant: Assistant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens the page of some sentences, and tells what a script leaves in ``result``."""

    def opened(
        script: str, *trees: str, page: str = "annotate", options: str = ""
    ) -> dict[str, Any]:
        path = tmp_path / "a.annotated.conllu"
        found = [sentence(tree) for tree in trees] if trees else list(read_rows(path))
        store = Store(path, assistant.judge(found))

        def with_script(name: str) -> str:
            tail = BEFORE + script + AFTER if name == f"{page}.js" else ""
            return file_text(name) + tail

        monkeypatch.setattr(server_module, "file_text", with_script)
        with Server(store, assistant) as server:

            def die(body: Any) -> dict[str, Any]:
                server.shutdown()
                server.server_close()
                return {}

            server.routes["/die"] = die
            Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
            path_of = {"annotate": "/#", "derive": "/derive#"}
            address = server.url.replace("/#", path_of[page]) + options
            text = dumped(address, tmp_path, "--virtual-time-budget=60000")
            server.shutdown()
        match = re.search(r'<pre id="result">(.*?)</pre>', text, re.DOTALL)
        assert match is not None, text[-2000:]
        result = json.loads(html.unescape(match[1]))
        assert "error" not in result, result["error"]
        return result

    return opened


def trees_in(folder: Path) -> list[list[str]]:
    return [tree_of(one) for one in read_rows(folder / "a.annotated.conllu")]


def test_by_keys_alone(work: Open, tmp_path: Path) -> None:
    """Correct, parse anew, undo, redo, confirm, and find all of it after loading again."""
    script = """
    result.title = document.title; result.count = byId("count").textContent;
    press("ArrowRight", "ArrowRight", "ArrowRight", "Enter");
    result.taken = all("rect.top").map((one) => one.dataset.box);
    result.what = byId("what").textContent;
    press("ArrowLeft", "ArrowLeft", "Enter");
    result.old = byId("label").value; result.focused = document.activeElement.id;
    await saved(() => label("xco"));
    result.new = arcs(".confirmed"); result.changed = byId("what").textContent;
    await saved(() => press("u")); result.undone = arcs(".confirmed");
    await saved(redo); result.redone = arcs(".confirmed");
    press("n"); await until(() => now.key === 1);
    press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight");
    await saved(() => press("r")); result.root = arcs().filter((one) => one.startsWith("-1"));
    press("p"); await until(() => now.key === 0);
    await saved(() => press("a")); await until(() => now.key === 1);
    result.done = byId("count").textContent; result.list = texts("#list li.done").length;
    """
    wrong = SAW.replace("./2", "./4")
    result = work(script, wrong, LIKE)
    assert result["title"] == "a.annotated.conllu"
    assert result["count"] == "0 of 2 sentences confirmed"
    assert result["taken"] == ["3"] and result["what"] == "Choose the head of cat."
    assert result["old"] == "obj" and result["focused"] == "label"
    assert result["new"] == result["redone"] == ["1,3"] and result["undone"] == []
    assert result["changed"] == "Changed by the parser: . ← punct ← saw"
    assert result["root"] == ["-1,4"]
    assert result["done"] == "1 of 2 sentences confirmed" and result["list"] == 1
    first, second = trees_in(tmp_path)
    assert first == ["2/nsubj!", "0/root!", "4/det!", "2/xcomp!", "2/punct!"]
    assert second[4] == "0/root!" and sum(one.startswith("0/") for one in second) == 1
    script = """
    result.arcs = arcs(".confirmed").length; result.count = byId("count").textContent;
    """
    assert work(script) == {"arcs": 5, "count": "1 of 2 sentences confirmed"}


def test_by_mouse(work: Open, tmp_path: Path) -> None:
    script = """
    const click = (what) => document.querySelector(what)
      .dispatchEvent(new MouseEvent("click", {bubbles: true}));
    click('[data-box="4"]'); click('[data-box="3"]');
    await saved(() => label("dep:x"));
    click('[data-label="2"]'); result.named = byId("arc").textContent; byId("cancel").click();
    const cell = (word, column, value) => {
      const input = document.querySelector(`[data-cell="${word},${column}"]`);
      input.value = value; return saved(() => input.dispatchEvent(new Event("change")));
    };
    await cell(0, 3, "PRON"); await cell(0, 5, "Case=Nom"); await cell(0, 2, "she");
    await saved(() => put("comments", "# sent_id = x\\nchecked"));
    press("c", "ArrowRight", "c"); await until(() => now.confirmed === 3);
    result.quick = now.rows.map(isConfirmed);
    put("order", "doubt"); await until(() => now.key === 1);
    result.order = all("#list li").map((one) => Number(one.dataset.key));
    """
    result = work(script, SAW, LIKE.replace("2/obj", "5/dep"), "Yes/0/root!")
    assert result["named"] == "cat → the:"
    assert result["quick"] == [False, False, True, True, True]  # none waits for the server
    assert result["order"] == [1, 0, 2]
    (first, *_) = read_rows(tmp_path / "a.annotated.conllu")
    assert tree_of(first)[4] == "4/dep:x!"
    assert first.words[0][2:6] == ["she", "PRON", "_", "Case=Nom"]
    assert first.value("sent_id") == "x" and "# checked" in first.comments


def test_split_merge_and_their_undo(work: Open, tmp_path: Path) -> None:
    script = """
    const shown = () => items.map((one) => one.words);
    press("ArrowRight", "ArrowRight");
    await saved(() => press("s")); result.split = shown();
    await saved(() => press("u")); result.undone = shown(); result.arcs = arcs();
    await saved(redo); result.again = shown();
    await saved(() => press("m")); result.merged = shown();
    await saved(() => press("m")); result.all = shown();
    await saved(() => press("u")); await saved(() => press("u")); await saved(() => press("u"));
    result.end = shown();
    """
    result = work(script, SAW, LIKE)
    assert result["split"] == result["again"] == [2, 3, 6]
    assert result["undone"] == result["end"] == result["merged"] == [5, 6]
    assert result["all"] == [11]
    assert result["arcs"] == ["-1,1", "1,0", "1,3", "1,4", "3,2"]
    assert trees_in(tmp_path) == [tree_of(sentence(SAW)), tree_of(sentence(LIKE))]


def test_two_windows(work: Open, tmp_path: Path) -> None:
    """Who is late sees both trees, and keeps one."""
    script = """
    const elsewhere = async (name) => {
      const other = await ask("read", {key: 0});
      other.rows[3][DEPREL] = name;
      await ask("save", {parts: partsOf([other]), sentences: [other]});
    };
    await elsewhere("iobj");
    press("c"); await until(() => conflict);
    result.ours = texts("#ours text.label"); result.theirs = texts("#theirs text.label");
    await saved(() => byId("keep").click()); result.kept = now.rows[3][DEPREL];
    await elsewhere("dep");
    press("c"); await until(() => conflict);
    byId("take").click(); await until(() => !conflict && now.rows[3][DEPREL] === "dep");
    result.hidden = byId("conflict").hidden;
    """
    result = work(script, SAW)
    assert "obj" in result["ours"] and "iobj 0%" in result["theirs"]
    assert result["kept"] == "obj" and result["hidden"]
    assert trees_in(tmp_path)[0][3] == "2/dep"


def test_a_server_that_dies(work: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was saved is in the file; what was not is told, and stays on the page."""
    monkeypatch.setattr(Handler, "protocol_version", "HTTP/1.0")  # no connection stays open
    script = """
    await saved(() => press("c"));
    await ask("die", {}).catch(() => 0);
    press("ArrowRight", "c"); await until(() => byId("status").classList.contains("bad"));
    result.status = byId("status").textContent; result.kept = isConfirmed(now.rows[1]);
    press("n"); result.stays = now.key;
    """
    result = work(script, SAW, LIKE)
    assert result["status"] == "Not saved: the server does not answer. try again"
    assert result["kept"] and result["stays"] == 0
    assert trees_in(tmp_path)[0][:2] == ["2/nsubj!", "0/root"]


def test_problems_are_shown_at_once(work: Open) -> None:
    script = """
    byId("complete").click();
    press("ArrowRight", "ArrowRight", "ArrowRight");
    await saved(() => press("r")); result.roots = texts("#problems li");
    press("ArrowLeft", "ArrowLeft", "Enter", "ArrowLeft", "Enter");
    await saved(() => label("x")); result.cycle = texts("#problems li");
    """
    result = work(script, SAW)
    assert result["roots"] == ["2 roots: 2, 4."]
    assert "Cycle: 1 → 2 → 1." in result["cycle"]


def test_markup_and_right_to_left(work: Open) -> None:
    script = """
    await saved(() => press("c"));
    result.words = texts("#picture [data-word]"); result.images = all("img, #picture b").length;
    result.title = document.title; result.labels = texts("#picture .label");
    press("n"); await until(() => now.rtl); press("ArrowLeft"); result.focus = focus;
    result.places = all("#picture [data-word]").map((one) => one.getBoundingClientRect().left);
    """
    result = work(script, f"{EVIL}/0/root {EVIL}/1/<b>x", "הילד/2/nsubj אכל/0/root תפוח/2/obj")
    assert result["words"] == [EVIL, EVIL] and result["images"] == 0
    assert any(one.startswith("<b>x") for one in result["labels"])
    assert result["title"] == "a.annotated.conllu"
    assert result["focus"] == 1  # forward is to the left
    assert result["places"] == sorted(result["places"], reverse=True)


def test_a_thousand_sentences(work: Open, tmp_path: Path) -> None:
    script = """
    result.n = all("#list li").length;
    await open(999); await saved(() => press("c")); result.count = now.confirmed;
    """
    result = work(script, *[SAW] * 1000)
    assert result == {"n": 1000, "count": 1}
    found = list(read_rows(tmp_path / "a.annotated.conllu"))
    assert len(found) == 1000
    assert [found[i].rows[0][MISC] for i in (998, 999)] == ["_", "Confirmed=Yes"]
    assert found[0].rows[0][DEPREL] == "nsubj"


MOVES = """
const moves = () => data.steps.map(named), costs = () => data.steps.map((step) => step.cost);
const digit = (n, shiftKey = false) => document.dispatchEvent(
  new KeyboardEvent("keydown", {code: `Digit${n}`, key: "", shiftKey}));
const put_text = (text) => { byId("text").value = text; byId("asking").requestSubmit(); };
"""


def test_other_moves_are_tried_by_keys(work: Open, tmp_path: Path) -> None:
    """A sentence of the file with its tree as gold: a move's cost, another move, and back."""
    script = (
        MOVES
        + """
    result.gold = costs().every((cost) => cost === 0); result.own = moves();
    press("ArrowRight");
    result.buttons = texts("button.take"); result.tags = texts(".tag");
    digit(2); await until(() => data.steps[1].action[0] === "SHIFT");
    result.now = now; result.cost = data.steps[1].cost; result.mark = texts("#list li")[1];
    press("ArrowLeft"); result.wrong = texts(".tag");
    result.source = byId("source").textContent;
    result.coloured = all("td.move").map((one) => one.style.boxShadow !== "");
    history.back(); await until(() => String(moves()) === String(result.own));
    digit(3); await until(() => data.steps[1].action[0] === "RIGHT-ARC");
    press("o"); await until(() => String(moves()) === String(result.own));
    result.sentence = byId("annotate").getAttribute("href").split("&")[1];
    """
    )
    result = work(script, LIKE, SAW, page="derive", options="&key=1&at=2")
    assert result["gold"] and result["own"][:2] == ["SHIFT", "LEFT-ARC nsubj"]
    assert result["buttons"][:2] == ["1", "2"] and result["tags"] == ["costs least"]
    assert result["now"] == 2 and result["cost"] == 2 and result["mark"] == "2 SHIFT ✎"
    assert result["wrong"] == ["wrong: costs 2, not 0"] and all(result["coloured"])
    assert "given moves, then greedy search" in result["source"]
    assert result["sentence"] == "sentence=2"
    assert not (tmp_path / "a.annotated.conllu").exists()  # nothing is changed


def test_a_typed_sentence_and_a_gold_tree_made_by_clicks(work: Open) -> None:
    script = (
        MOVES
        + """
    result.empty = byId("panels").hidden && byId("right").disabled;
    put_text("She saw <b>the cat ."); await until(() => data?.words.length);
    result.words = texts("#picture [data-word]"); result.gold = data.gold_heads;
    put_text("She saw the cat ."); await until(() => data.words.length === 5);
    press("ArrowRight"); all("button.take")[1].click();
    await until(() => data.steps[1].action[0] === "SHIFT");
    result.heads = data.heads;
    document.body.style.width = "370px";
    result.fits = document.querySelector("footer").scrollWidth <= 370;
    byId("right").click(); await until(() => data.gold_heads);
    result.taken = data.gold_heads; result.cost = data.steps[1].cost;
    press("ArrowRight"); digit(2, true); await until(() => data.steps[1].action[0] === "SHIFT");
    result.least = data.steps[1].cost; result.typed = byId("text").value;
    put_text("word ".repeat(300)); await until(() => byId("status").textContent);
    result.error = ""; result.long = byId("status").textContent;
    delete result.error;
    """
    )
    result = work(script, SAW, page="derive")
    assert result["empty"] and result["gold"] is None and "<" in result["words"]
    assert result["heads"] == result["taken"] and result["least"] < result["cost"]
    assert result["fits"]  # on a phone
    assert result["typed"] == "She saw the cat ."
    assert result["long"] == "300 words: a derivation is shown of 200 at most."


def test_the_derivation_of_a_sentence_is_one_key_away(work: Open) -> None:
    script = """
    press("n"); await until(() => now.key === 1);
    navigation.addEventListener("navigate", (event) => {
      result.to = event.destination.url; event.preventDefault();
    });
    press("d"); await until(() => result.to);
    """
    assert re.search(r"/derive#token=[^&]+&key=1&at=2$", work(script, SAW, LIKE)["to"])
