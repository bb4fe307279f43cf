"""Derivations in the terminal."""

from __future__ import annotations

from spacy.language import Language

from spacy_nmparse import systems
from spacy_nmparse.analysis import Arc, derive, derive_gold
from spacy_nmparse.analysis.text import picture, step_lines, step_picture, tree_pictures, width_of
from spacy_nmparse.systems import ROOT, Gold
from tests.pipe.common import gold_doc, random_parser

WORDS = ["A", "hearing", "is", "scheduled", "on", "the", "issue", "today"]
HEADS = [1, 3, 3, 3, 1, 6, 4, 3]


def test_a_picture_of_crossing_arcs() -> None:
    derivation = derive_gold(systems.create("swap_standard"), Gold(HEADS), "lazy", WORDS)
    (lines,) = tree_pictures(derivation)
    assert lines == [
        "                      ROOT",
        "                        │┌────────────────────────┐",
        "        ┌───────────────┼┼─────┐                  │",
        "        │┌─────────────┐││     │┌──────────┐      │",
        "┌──────┐││    ┌───────┐│││     ││   ┌─────┐│      │",
        "▼      ││▼    ▼       ││▼│     ▼│   ▼     │▼      ▼",
        "A    hearing  is    scheduled  on  the   issue  today",
    ]


def test_labels_and_colours() -> None:
    arcs = [(Arc(1, 0, "nsubj"), "old"), (Arc(2, 0, "obj"), "new"), (Arc(ROOT, 1, "ROOT"), "")]
    lines = picture(["a", "b", "c"], arcs, lambda text, style: f"<{style}>{text}</{style}>")
    text = "\n".join(lines)
    assert "<old>┌" in text and "nsubj" in text and "obj" in text and "ROOT" in text
    bare = picture(["a", "b", "c"], arcs)
    assert bare[-1].split() == ["a", "b", "c"]
    assert bare[-2].count("▼") == 3


def test_wide_words() -> None:
    assert width_of("日本") == 4 and width_of("e\u0301") == 1
    lines = picture(["日本", "語", "x"], [(Arc(1, 0, "a"), ""), (Arc(1, 2, "b"), "")])
    column = lines[-2].index("▼", 3)
    assert width_of(lines[-1]) > column >= width_of(lines[-1]) - 1


def test_a_word_shorter_than_root() -> None:
    assert picture(["!"], [(Arc(ROOT, 0, "ROOT"), "")])[-2:] == ["▼", "!"]


def test_lines_of_steps(trained: Language) -> None:
    gold = gold_doc(trained.vocab, [0])
    derivation = derive(trained, gold, gold)
    lines = step_lines(derivation)
    assert len(lines) == len(derivation.steps)
    assert lines[1].split("  ")[0] == " 2"
    assert "LEFT-ARC nsubj" in lines[1] and "cost 0" in lines[1]
    assert lines[1].endswith("[She] [saw the cat …]  + saw –nsubj→ She")
    more = step_lines(derivation, n_choices=2)
    assert len(more) > len(lines)
    assert "SHIFT" in more[2] and "cost" in more[2]


def test_a_repair_is_red_and_green() -> None:
    nlp = random_parser(3)
    gold = gold_doc(nlp.vocab, [0, 1, 2, 3])
    derivation = derive(nlp, gold)
    number = next(i for i, s in enumerate(derivation.steps) if s.repair and s.deleted)
    lines = step_lines(derivation, lambda text, style: f"<{style}>{text}</{style}>")
    assert "<repair>" in lines[number] and "<old>- " in lines[number] and "<new>+ " in lines[number]
    drawn = "\n".join(step_picture(derivation, number, lambda t, s: f"<{s}>{t}</{s}>"))
    assert "<old>" in drawn and "<new>" in drawn and "<strong>" in drawn
