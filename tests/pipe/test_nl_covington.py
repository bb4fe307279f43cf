"""What only list systems and arc scorers have: dropout of their own, rehearsal."""

from __future__ import annotations

import random
from typing import Any

import numpy
import pytest

from spacy_nmparse.scorers.shared import recurrent_layers
from tests.pipe.common import (
    NL,
    arc_model_config,
    bare,
    gold_doc,
    make_example,
    make_examples,
    make_nlp,
    overfitted,
    parser_of,
    random_doc,
    randomize,
    train,
    tree,
)

NONLOCAL = "spacy_nmparse.NLCovington.v1"
SYSTEMS: dict[str, dict[str, Any]] = {
    "plain": {"@misc": NONLOCAL},
    "nonmonotonic implicit": {"@misc": NONLOCAL, "nonmonotonic": True, "explicit_root": False},
    "short arcs": {"@misc": NONLOCAL, "max_length": 2},
}


def test_dropout_of_the_scorers_own_layers() -> None:
    """drop is the rate of tok2vec; dropout_factor times as much, 0.9 at most, is theirs."""
    for factor, expected in ((0.0, 0.0), (1.5, 0.3), (100.0, 0.9)):
        nlp = make_nlp(factory=NL, model=arc_model_config(dropout_factor=factor, recurrent_depth=2))
        train(nlp, make_examples(nlp.vocab), steps=1, drop=0.2)
        model = parser_of(nlp).model
        for node in model.walk():
            if "dropout_rate" in node.attrs:
                own = node is model or node in recurrent_layers(model)
                assert node.attrs["dropout_rate"] == pytest.approx(expected if own else 0.2)
        doc = bare(gold_doc(nlp.vocab, [2]))  # none of it in parsing
        assert tree(nlp(doc)) == tree(nlp(bare(doc)))


@pytest.mark.parametrize("system", ["plain", "nonmonotonic implicit", "short arcs"])
def test_rehearsal(system: str) -> None:
    """What completion gives is learned like any tree; arcs that are too long are given up."""
    nlp = overfitted(factory=NL, system=SYSTEMS[system])
    parser = parser_of(nlp)
    sgd = nlp.resume_training()
    randomize(parser._rehearsal_model, 5, 0.3)
    rng = random.Random(0)
    docs = [random_doc(nlp.vocab, rng, n) for n in (0, 1, 5, 20)]
    before = parser.to_bytes()
    losses = [parser.rehearse([make_example(doc) for doc in docs], sgd=sgd)[NL] for _ in range(30)]
    assert parser.to_bytes() != before
    assert numpy.isfinite(losses).all() and losses[-1] < losses[0]
    if system == "short arcs":
        seen: list[Any] = []
        parser._rollout = lambda scorer, batch, *_: (seen.extend(batch.golds), 1 / 0)
        with pytest.raises(ZeroDivisionError):
            parser.rehearse([make_example(random_doc(nlp.vocab, rng, 40, space=0))])
        (gold,) = seen
        assert None in gold.heads, "no arc of the tree is too long"
        assert all(head is None or abs(head - w) <= 2 for w, head in enumerate(gold.heads))
