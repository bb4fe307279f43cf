"""Errors, broken down."""

from __future__ import annotations

import pytest
from spacy.language import Language
from spacy.training import Example

from spacy_nmparse.analysis import find_errors
from spacy_nmparse.pipe.evaluation import score_dependencies, sentence_counts
from tests.pipe.common import (
    TREES,
    bare,
    gold_doc,
    make_examples,
    make_nlp,
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


def test_a_parser_that_knows_the_trees(trained: Language) -> None:
    found = find_errors(trained, [gold_doc(trained.vocab, [n]) for n in range(len(TREES))])
    assert found.all.las == 1
    assert found.documents == len(TREES) and not found.confusions
