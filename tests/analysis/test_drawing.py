"""Trees as SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from spacy.language import Language

from spacy_nmparse.analysis.drawing import LABEL, _width, draw, write_drawings
from tests.commands import run
from tests.pipe.common import TREES, gold_doc

NAME = "{http://www.w3.org/2000/svg}"
HEBREW = ("הילד הקטן אכל את התפוח", [2, 0, 2, 4, 2], "nsubj amod ROOT case:acc obj")


def parts(picture: str, tag: str, kind: str) -> list[ElementTree.Element]:
    """The elements of a class."""
    found = ElementTree.fromstring(picture).iter(NAME + tag)
    return [one for one in found if kind in one.get("class", "").split()]


@pytest.mark.parametrize("tree", [*TREES, HEBREW])
def test_labels_do_not_meet(tree: tuple[str, list[int], str]) -> None:
    """Each arc has a label, even a long one; a word is where its own arc ends."""
    words, heads = tree[0].split(), tree[1]
    picture = draw(words, heads, [f"{label}:very:long" for label in tree[2].split()])
    boxes = []
    for label in parts(picture, "text", "label"):
        x, y, wide = float(label.get("x", "")), float(label.get("y", "")), _width(label.text, LABEL)
        assert not any(abs(x - a) < (wide + w) / 2 and abs(y - b) < LABEL for a, b, w in boxes)
        boxes.append((x, y, wide))
    assert len(boxes) == len(words) == len(parts(picture, "path", "head"))
    order = [one.text for one in ElementTree.fromstring(picture).iter(f"{NAME}text")][len(words) :]
    places = [float(x.get("x", "")) for x in ElementTree.fromstring(picture).iter(f"{NAME}text")]
    assert order == words
    assert places[len(words) :] == sorted(places[len(words) :], reverse=tree is HEBREW)


def test_kinds_of_arcs() -> None:
    """Arcs that cross and wrong ones are marked; unknown heads have no arc."""
    words, heads, labels = TREES[2]
    picture = draw(words.split(), heads, labels.split(), ["NOUN"] * 8, wrong=[0])
    assert [one.text for one in parts(picture, "text", "crossing")] == ["advmod", "prep"]
    assert [one.text for one in parts(picture, "text", "wrong")] == ["det"]
    assert len(parts(picture, "text", "tag")) == 8
    assert not parts(draw(["a"], [None], [None]), "path", "arc")


def test_what_stands_in_forms_is_text() -> None:
    picture = draw(["<script>", "\x1b&"], [0, 0], ['"<b>', None])
    texts = [one.text for one in ElementTree.fromstring(picture).iter(f"{NAME}text")]
    assert {"<script>", "�&", '"<b>'} <= {*texts}


def test_the_commands(trained: Language, tmp_path: Path) -> None:
    """A file's sentence, or heads; a page of parses with their errors."""
    tree, out = ("2:nsubj 0:root 2:obj", "--words", "She likes tea"), tmp_path / "new" / "tree.svg"
    done = run("draw", *tree, "-o", out)
    assert done.exit_code == 0, done.output
    assert {"She", "obj"} <= {one.text for one in ElementTree.parse(out).iter(f"{NAME}text")}
    assert "cycle" in run("draw", "2 1", "-o", out).output
    gold = gold_doc(trained.vocab, [0])
    write_drawings(trained, [gold], out)
    assert "wrong" not in out.read_text(encoding="utf-8").replace(".wrong", "")
    gold[0].dep_ = "iobj"
    write_drawings(trained, [gold, gold], out)
    assert out.read_text(encoding="utf-8").count("nsubj (iobj)</text>") == 2
