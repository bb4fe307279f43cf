"""The loss of a rollout against the same computed naively."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy
import pytest
from spacy.tokens import Doc

from spacy_nmparse.learning.lesson import Lesson
from spacy_nmparse.learning.rollout import learn
from spacy_nmparse.scorers.shared import ScorerInput
from spacy_nmparse.systems import Gold
from tests.learning.naive_loss import naive_loss
from tests.naive.scorers import NaiveStateParser
from tests.pipe.common import (
    DOCUMENTS,
    SMALL,
    gold_doc,
    gold_of,
    make_example,
    make_examples,
    make_nlp,
    model_config,
    parser_of,
    random_parser,
    randomize,
    system,
)


@pytest.mark.parametrize("oracle", ["static", "dynamic", "combined", "monotonic"])
@pytest.mark.parametrize("known", [True, False])
def test_loss_of_a_rollout(oracle: str, known: bool) -> None:
    nlp = make_nlp(oracle=oracle, explore=0.0, model=model_config(hidden_width=9))
    examples = [make_example(gold_doc(nlp.vocab, trees)) for trees in DOCUMENTS]
    nlp.initialize(lambda: examples)
    if not known:  # the parser lacks some labels: they are unknown
        labels = {"labels": ["nsubj", "det", "obj"]}
        nlp = make_nlp(oracle=oracle, explore=0.0, model=model_config(hidden_width=9))
        nlp.get_pipe("nm_parser").initialize(lambda: examples, nlp=nlp, labels=labels)
    parser: Any = nlp.get_pipe("nm_parser")
    randomize(parser.model, 5, scale=0.15)
    naive = NaiveStateParser(parser)
    for trees, example in zip(DOCUMENTS, examples, strict=True):
        if any(n in (2, 3) for n in trees):
            continue  # trees that cross are lifted first
        reference = example.reference
        vectors = parser.model.get_ref("tok2vec").predict([example.predicted])[0]
        gold = Gold(
            [t.head.i for t in reference],
            [t.dep_ if t.dep_ in parser.labels else None for t in reference],
            [bool(t.is_sent_start) for t in reference],
        )
        expected = naive_loss(naive, vectors.astype("float64"), gold, oracle)
        found = parser.update([example])["nm_parser"]
        assert found == pytest.approx(expected, rel=1e-3)
        assert expected > 0.1 or len(reference) == 1


@pytest.mark.parametrize("gap", [5.0, 60.0, 200.0, 5000.0])
def test_a_right_move_that_is_nearly_ruled_out(gap: float) -> None:
    """However small the probability of what is right: its loss is the gap, its gradient -1."""
    nlp = make_nlp(oracle="static", explore=0.0, model=model_config(hidden_width=4))
    doc = Doc(nlp.vocab, words=["She", "sleeps"], heads=[1, 1], deps=["nsubj", "ROOT"])
    nlp.initialize(lambda: [make_example(doc)])
    parser: Any = nlp.get_pipe("nm_parser")
    model = parser.model
    for name in model.param_names:
        model.set_param(name, model.get_param(name) * 0)
    moves = list(parser.system.moves)
    bias = model.get_param("move_b").copy()
    bias[moves.index("LEFT-ARC")] = -gap
    model.set_param("move_b", bias)
    # One scored step: LEFT-ARC against SHIFT, RIGHT-ARC and BREAK; nsubj against dep.
    loss = parser.update([make_example(doc)])["nm_parser"]
    assert loss == pytest.approx(gap + numpy.log(3 + numpy.exp(-gap)) + numpy.log(2), rel=1e-4)
    gradient = dict(zip(moves, model.get_grad("move_b").tolist(), strict=True))
    assert gradient["LEFT-ARC"] == pytest.approx(-1, abs=0.01)
    for move in ("SHIFT", "RIGHT-ARC", "BREAK"):
        assert gradient[move] == pytest.approx(1 / 3, abs=0.01)


@pytest.mark.parametrize("training", [{}, {"update": "max_violation"}])
@pytest.mark.parametrize("factory", SMALL)
def test_scores_of_other_words(factory: str, training: dict[str, Any]) -> None:
    """Longer or shorter, they once ended the process."""
    nlp = random_parser(0, factory=factory, **training)
    parser = parser_of(nlp)
    examples = make_examples(nlp.vocab)
    for scored in (examples[:1], examples[1:], [*examples, *examples]):
        scores, _ = parser.model.begin_update(ScorerInput([one.predicted for one in scored]))
        with pytest.raises(ValueError, match="do not go with the scores of"):
            parser.get_loss(examples, scores)
    for nothing in (None, "scores"):
        with pytest.raises(TypeError, match="'scored'"):
            parser.get_loss(examples, nothing)


def test_scores_of_another_system() -> None:
    examples = make_examples(random_parser(0).vocab)
    one, other = (
        parser_of(random_parser(0, system=system("ArcEager", nonmonotonic_left=left)))
        for left in (False, True)
    )
    words = ScorerInput([example.predicted for example in examples])
    scores, _ = other.model.begin_update(words)
    with pytest.raises(ValueError, match="scores are those of moves of"):
        one.get_loss(examples, scores)
    golds = [gold_of(example.reference) for example in examples]
    constraints = numpy.zeros(scores.n_words, "int8")
    scores, _ = one.model.begin_update(words)
    with pytest.raises(ValueError, match="scores are those of moves of"):
        lesson = Lesson(one.system, scores, golds, constraints, 0)
        learn(replace(lesson, teachers=lambda: [other.model.predict(words)]), "dynamic", 0, 1)
    with pytest.raises(ValueError, match="no gold tree"):
        learn(replace(lesson, golds=[]), "dynamic", 0, 1)
