"""Errors, broken down."""

from __future__ import annotations

import json

import pytest
from spacy.language import Language
from spacy.training import Example

from spacy_nmparse.analysis import find_errors
from spacy_nmparse.analysis.tracing import Tracing, prepared
from spacy_nmparse.pipe.evaluation import score_dependencies, sentence_counts
from spacy_nmparse.pipe.members import parser_of
from tests.pipe.common import (
    NL,
    NM,
    TREES,
    bare,
    gold_doc,
    make_examples,
    make_nlp,
    random_parser,
    train,
)

DOCUMENTS = [[0], [1], [2], [3], [4], [5], [0, 1], [2, 4, 3]]


@pytest.fixture(scope="module")
def half_trained() -> Language:
    """A parser that errs now and then: ten updates teach it all."""
    nlp = make_nlp(projectivize=True)
    train(nlp, make_examples(nlp.vocab), steps=6)
    return nlp


def test_scores_are_those_of_the_scorer(half_trained: Language) -> None:
    nlp = half_trained
    golds = [gold_doc(nlp.vocab, trees) for trees in DOCUMENTS]
    found = find_errors(nlp, golds)
    examples = [Example(nlp(bare(gold)), gold) for gold in golds]
    counts = [count for example in examples for count in sentence_counts(example)]
    all_ = found.all
    assert all_.gold == all_.predicted == sum(count.words for count in counts)
    assert all_.heads == sum(count.heads for count in counts)
    assert all_.labelled == all_.right == sum(count.labelled for count in counts)
    assert 0 < all_.labelled < all_.gold
    scores = score_dependencies(examples)
    crossing = found.groups["projectivity"].get("crossing")
    assert crossing is not None
    assert crossing.uas == pytest.approx(scores["nonproj_r"])
    for groups in found.groups.values():
        for name in ("gold", "heads", "labelled", "predicted", "right"):
            total = sum(getattr(group, name) for group in groups.values())
            assert total == getattr(all_, name)
    assert sum(found.confusions.values()) == all_.heads - all_.labelled
    assert found.groups["direction"]["root"].gold == sum(len(trees) for trees in DOCUMENTS)


def test_first_errors(half_trained: Language) -> None:
    nlp = half_trained
    golds = [gold_doc(nlp.vocab, trees) for trees in DOCUMENTS]
    found = find_errors(nlp, golds)
    firsts = found.first.values()
    assert found.documents == len(golds)
    assert found.flawless + sum(one.count for one in firsts) == len(golds)
    assert found.flawless < len(golds)
    parser = parser_of(nlp)
    wrong = 0
    for gold in golds:
        tracing = Tracing(parser, prepared(nlp, parser, gold), gold)
        wrong += any(step.is_wrong for step in tracing.steps(tracing.initial()))
    assert wrong == sum(one.count for one in firsts)
    for one in firsts:
        assert one.own >= one.count
    result = json.loads(json.dumps(found.as_dict()))
    saved = [one["saved"] for one in result["first_errors"]]
    assert saved == sorted(saved, reverse=True)
    for one in result["first_errors"]:
        assert one["downstream_mean"] * one["count"] == pytest.approx(one["saved"] - one["own"])


@pytest.mark.parametrize("factory", [NM, NL])
def test_what_is_saved_is_saved(factory: str) -> None:
    """One document: the parse with the right first move has so many errors fewer."""
    nlp = random_parser(5, factory=factory, projectivize=False)
    parser = parser_of(nlp)
    gold = gold_doc(nlp.vocab, [1])
    (first,) = find_errors(nlp, [gold]).first.values()
    tracing = Tracing(parser, prepared(nlp, parser, gold), gold)
    assert tracing.gold is not None
    steps = list(tracing.steps(tracing.initial(), 1000))
    best = []
    place = next(i for i, step in enumerate(steps) if step.is_wrong)
    state = tracing.replay(steps[:place])
    costs = tracing.costs(state, tracing.moves(state))
    for action, cost in costs.items():
        if cost == min(costs.values()):
            after = state.copy()
            noted = next(
                (one.noted for one in tracing.moves(state) if one.action[:2] == action[:2]), None
            )
            tracing.make(after, action, action.label or noted)
            best.append(errors(tracing, tracing.finish(after).tree()))
    made = errors(tracing, tracing.finish(tracing.replay(steps[: place + 1])).tree())
    assert first.saved in [made - one for one in best]


def errors(tracing: Tracing, tree: tuple[list[int], list[str | None]]) -> int:
    assert tracing.gold is not None
    gold = zip(tracing.gold.heads, tracing.gold.labels, strict=True)
    return sum(a != b for a, b in zip(zip(*tree, strict=True), gold, strict=True))


def test_a_parser_that_knows_the_trees(trained: Language) -> None:
    found = find_errors(trained, [gold_doc(trained.vocab, [n]) for n in range(len(TREES))])
    assert found.all.las == 1
    assert found.flawless == found.documents == len(TREES)
    assert not found.first and not found.confusions
