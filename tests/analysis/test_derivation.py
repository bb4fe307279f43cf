"""Derivations against the parser that they explain."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_nmparse import systems
from spacy_nmparse.analysis import Arc, Derivation, derive, derive_actions, derive_gold
from spacy_nmparse.analysis.tracing import Tracing, prepared
from spacy_nmparse.pipe.members import parser_of
from spacy_nmparse.systems import ROOT, Gold
from spacy_nmparse.systems.parts import Items
from tests.pipe.common import (
    NL,
    NM,
    SYSTEMS,
    TREES,
    gold_doc,
    make_nlp,
    overfitted,
    random_doc,
    random_parser,
    tree,
)
from tests.search.test_beam import make, some_docs

CAN_REPAIR = ("arc-eager", "monotonic", "labelled reduce", "nl nonmonotonic")


def assert_whole(derivation: Derivation) -> None:
    """The steps add up to the tree."""
    arcs = derivation.arcs(len(derivation.steps))
    assert arcs == [
        Arc(ROOT if head == word else head, word, label)
        for word, (head, label) in enumerate(
            zip(derivation.heads, derivation.labels, strict=True)
        )
    ]  # fmt: skip


def assert_explains(derivation: Derivation, parsed: Doc) -> None:
    """The derivation's tree is that of the document."""
    tokens = derivation.tokens
    assert [parsed[token].head.i for token in tokens] == [tokens[h] for h in derivation.heads]
    assert [parsed[token].dep_ for token in tokens] == derivation.labels
    if tokens == list(range(len(parsed))):
        starts = [bool(parsed[token].is_sent_start) for token in tokens]
        assert [bool(start) or i == 0 for i, start in enumerate(derivation.sent_starts)] == starts
    assert_whole(derivation)


@pytest.mark.parametrize("name", SYSTEMS)
def test_other_moves(name: str) -> None:
    """Its own moves lead to the parser's tree; another one is made, and the parser goes on."""
    parser = make(name)
    (doc,) = some_docs(parser, [7], 0.0)
    own = derive(parser, doc)
    moves = [step.action for step in own.steps if step.action is not None]
    again = derive(parser, doc, moves=moves)
    assert again.source == "steered" and again.steps == own.steps and again.heads == own.heads
    steps = [step for step in own.steps if step.action is not None]
    for i, step in enumerate(steps):
        for choice in step.choices[:3]:
            other = derive(parser, doc, moves=[*moves[:i], choice.action])
            made = [one.action for one in other.steps if one.action is not None]
            assert made[: i + 1] == [*moves[:i], choice.action]
            assert None not in other.heads
            assert_whole(other)
    with pytest.raises(ValueError, match="is not legal here"):
        derive(parser, doc, moves=[("LEFT-ARC", 99, None)])
    with pytest.raises(ValueError, match=f"{len(moves) + 1} moves are given"):
        derive(parser, doc, moves=[*moves, moves[0]])


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_tree_is_the_parsers(name: str) -> None:
    parser = make(name)
    docs = some_docs(parser, [1, 2, 5, 20, 60], 0.1)
    docs += some_docs(parser, [3, 40], 0.0, 1)
    repairs = 0
    for doc in docs:
        derivation = derive(parser, doc)
        assert_explains(derivation, parser(Doc(doc.vocab, **words_and_starts(doc))))
        repairs += sum(step.repair is not None for step in derivation.steps)
    # single_root attaches by REDUCE what is left at the end, in the monotonic system too
    assert bool(repairs) == (name in CAN_REPAIR)


def words_and_starts(doc: Doc) -> dict[str, Any]:
    return {
        "words": [token.text for token in doc],
        "sent_starts": [token.is_sent_start for token in doc],
    }


@pytest.mark.parametrize("factory", [NM, NL])
def test_spaces_and_lifted_arcs(factory: str) -> None:
    rng = random.Random(4)
    kinds = set()
    for seed in range(4):
        nlp = random_parser(seed, factory=factory, projectivize=True)
        for length in (3, 10, 30, 80):
            doc = random_doc(nlp.vocab, rng, length)
            if all(token.is_space for token in doc):
                continue
            derivation = derive(nlp, doc)
            kinds |= {step.kind for step in derivation.steps}
            assert_explains(derivation, parser_of(nlp)(doc))
            assert not any(doc[token].is_space for token in derivation.tokens)
    assert kinds >= ({"lower"} if factory == NM else {"complete"})


@pytest.mark.parametrize(("name", "n", "preset"), [("arc-eager", 2600, 0), ("nl", 1300, 40)])
def test_a_long_document(name: str, n: int, preset: int) -> None:
    """Longer than the windows in which scores are made."""
    parser = make(name)
    (doc,) = some_docs(parser, [n], 0.0)
    if preset:
        for token in doc:
            token.is_sent_start = token.i % preset == 0
    derivation = derive(parser, doc)
    assert_explains(derivation, parser(doc))
    assert len(derivation.steps[5].buffer) > 39
    if not preset:
        assert len(derivation.steps[5].buffer) > 2000
        assert len(json.dumps(derivation.as_dict())) < 40_000_000


def test_what_a_step_tells(trained: Language) -> None:
    gold = gold_doc(trained.vocab, [0])
    derivation = derive(trained, gold, gold)
    assert derivation.words == TREES[0][0].split()
    assert derivation.heads == TREES[0][1]
    assert derivation.gold_heads == TREES[0][1]
    first, second = derivation.steps[:2]
    assert (first.name, first.stack, first.buffer) == ("SHIFT", (), (0, 1, 2, 3, 4, ROOT))
    assert second.stack == (0,)
    assert second.action == ("LEFT-ARC", 1, "nsubj")
    assert second.added == (Arc(1, 0, "nsubj"),)
    assert derivation.arcs(1) == []
    assert derivation.arcs(2) == [Arc(1, 0, "nsubj")]
    for step in derivation.steps:
        assert not step.is_wrong, "overfitted"
        assert step.chosen in step.choices
        assert step.cost == step.least_cost == 0
        assert sum(choice.probability or 0 for choice in step.choices) == pytest.approx(1, abs=1e-4)
        for choice in step.choices:
            assert choice.least_cost is not None and choice.cost is not None
            assert choice.least_cost <= choice.cost


def test_the_gold_tree_is_not_lifted() -> None:
    nlp = random_parser(3, projectivize=True)
    gold = gold_doc(nlp.vocab, [2])
    derivation = derive(nlp, gold, gold)
    assert derivation.gold_heads == TREES[2][1]
    assert derivation.gold_labels == TREES[2][2].split()


def test_costs_are_the_systems() -> None:
    nlp = random_parser(5)
    parser = parser_of(nlp)
    gold = gold_doc(nlp.vocab, [1, 3])
    tracing = Tracing(parser, prepared(nlp, parser, gold), gold)
    assert tracing.gold is not None
    wrong = 0.0
    start = parser.system.loss(tracing.initial(), tracing.gold)
    for step in tracing.steps(tracing.initial()):
        if step.cost is not None:
            wrong += step.cost
    assert wrong > 0
    assert parser.system.loss(tracing.final, tracing.gold) == pytest.approx(start + wrong)


def test_a_start_from_the_middle() -> None:
    parser = make("nl")
    (doc,) = some_docs(parser, [30], 0.0)
    whole = Tracing(parser, doc)
    steps = list(whole.steps(whole.initial()))
    state = whole.initial()
    for step in steps[:20]:
        assert step.action is not None
        parser.system.apply(state, step.action)
    end = whole.finish(state)
    heads, labels, _ = whole.tree()
    assert end.is_final
    assert [heads, labels] == [derive(parser, doc).heads, derive(parser, doc).labels]


def test_only_the_best_choices_are_kept() -> None:
    parser = make("nl")
    (doc,) = some_docs(parser, [30], 0.0)
    few = derive(parser, doc, n_choices=2)
    assert max(len(step.choices) for step in few.steps) <= 4
    assert max(len(step.choices) for step in derive(parser, doc).steps) > 4
    assert few.heads == derive(parser, doc).heads


@pytest.mark.parametrize("name", systems.names())
def test_gold_derivations(name: str) -> None:
    heads = [1, 1, 1, 2, 1]
    system = systems.create(name, labels=("a", "b"))
    gold = Gold(heads, ["a", "b", "a", "b", "a"])
    derivation = derive_gold(system, gold)
    moves = [step.action for step in derivation.steps if step.kind == "move"]
    assert moves == system.derivation(gold)
    assert derivation.heads == heads
    assert {step.cost for step in derivation.steps} <= {0, None}
    assert_whole(derivation)


def test_given_actions() -> None:
    """HGJ13, Figure 1: after move 9 fall heads Jack, which saw headed before."""
    system = systems.create("arc_eager", nonmonotonic_left=True)
    words = ["I", "saw", "Jack", "and", "Jill", "fall"]
    moves = ["SHIFT", "LEFT-ARC", "SHIFT", "RIGHT-ARC", "RIGHT-ARC", "REDUCE"]
    moves += ["RIGHT-ARC", "REDUCE", "LEFT-ARC"]
    actions = [(move, 1, None) for move in moves]
    derivation = derive_actions(system, actions, words, Gold([1, 1, 5, 2, 2, 1]))
    last = derivation.steps[-1]
    assert (last.deleted, last.added) == ((Arc(1, 2, None),), (Arc(5, 2, None),))
    assert (last.repair, last.cost) == ("LEFT-ARC", 0)
    assert [step.cost for step in derivation.steps] == [0] * 9  # what can be repaired is free
    assert derivation.heads == [1, None, 5, 2, 2, None]
    assert derivation.arcs(9)[1:] == [Arc(5, 2, None), Arc(2, 3, None), Arc(2, 4, None)]
    bare = derive_actions(system, actions, words)
    assert bare.gold_heads is None and bare.steps[-1].cost is None
    assert "LEFT-ARC" in [choice.repair for choice in bare.steps[-1].choices]
    with pytest.raises(ValueError, match="illegal"):
        derive_actions("arc_eager", actions, words)
    with pytest.raises(ValueError, match="6 words"):
        derive_actions("arc_eager", [], words, Gold([0]))


def test_items() -> None:
    found = Items((5, 3), range(7, 10), (ROOT,))
    assert tuple(found) == (5, 3, 7, 8, 9, ROOT)
    assert (len(found), found[-1], found[2], found[1:4]) == (6, ROOT, 7, (3, 7, 8))
    assert found == (5, 3, 7, 8, 9, ROOT) and found != (5,)
    with pytest.raises(IndexError):
        found[6]


def test_presets_are_kept(trained: Language) -> None:
    doc = Doc(trained.vocab, words=["She", "saw", "Yes"], sent_starts=[1, 0, 1])
    derivation = derive(trained, doc)
    assert derivation.sent_starts == [True, False, True]
    assert derivation.sentences() == [(0, 2), (2, 3)]


def test_errors(trained: Language) -> None:
    with pytest.raises(ValueError, match="no parser of spacy-nmparse"):
        derive(spacy.blank("xx"), "a")
    with pytest.raises(ValueError, match="no word"):
        derive(trained, "  ")
    with pytest.raises(ValueError, match="no labels"):
        derive(make_nlp(), "a")
    with pytest.raises(ValueError, match="pipeline"):
        derive(parser_of(trained), "a")
    with pytest.raises(ValueError, match="none named 'x'"):
        parser_of(trained, "x")
    with pytest.raises(ValueError, match="2 words"):
        derive_gold("arc_eager", Gold([0]), words=["a", "b"])
    with pytest.raises(ValueError, match="no_such"):
        derive_gold("no_such", Gold([0]))


def test_a_beam_is_warned_about() -> None:
    nlp = overfitted()
    parser_of(nlp).beam_width = 2
    with pytest.warns(UserWarning, match="greedy search"):
        derive(nlp, "She saw the cat .")


def test_the_document_stays_as_it_is(trained: Language) -> None:
    doc = trained("She saw the cat .")
    before = tree(doc)
    derive(trained, doc)
    assert tree(doc) == before
