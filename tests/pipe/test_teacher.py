"""A parser that learns from another in addition to the gold trees."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.lab.probabilities import probabilities
from spacy_nmparse.pipe.teacher import Teachers
from spacy_nmparse.pipe.words import Words
from tests.pipe.common import (
    NL,
    NM,
    SWAP,
    TOK2VEC,
    arc_model_config,
    bare,
    gold_doc,
    gold_of,
    learn,
    listening_pipeline,
    make_examples,
    make_nlp,
    model_config,
    overfitted,
    parsed,
    parser_of,
    random_parser,
    randomize,
    ready,
    settle,
    train,
    tree,
)

#: Without losses other than that of moves and labels.
PLAIN: dict[str, Any] = {
    NL: {"model": arc_model_config(tree_weight=0.0, n_pairs=0), "oracle": "static", "explore": 0.0},
    SWAP: {"model": model_config(), "oracle": "eager", "explore": 0.0},
}


def path_of(nlp: Language, folder: Path) -> str:
    nlp.to_disk(folder)
    return str(folder)


def taught(nlp: Language, teacher: str | list[str] | None, weight: float = 0.5) -> Any:
    """The pipeline's parser, initialized with a teacher."""
    settings = {"teacher": teacher, "teacher_weight": weight}
    parser = parser_of(nlp)
    nlp.config["initialize"]["components"][parser.name] = settings
    nlp.initialize(lambda: make_examples(nlp.vocab))
    return parser


def imitate(pupil: Language, examples: list[Example], steps: int = 400) -> None:
    """More updates than it takes: what the teacher doubts stays in the loss for ever."""
    sgd = pupil.resume_training()
    train(pupil, examples, steps=steps, sgd=sgd)
    settle(pupil, examples, sgd)


def choices(parser: Any, doc: Doc, state: Any) -> dict[str, dict[str | None, float]]:
    """log P(move, label) by move (and how many items it passes by), then label."""
    found: dict[str, dict[str | None, float]] = {}
    for action, (value, _) in probabilities(
        parser.system, parser.score_moves(Words.of([doc])), 0, state
    ).items():
        found.setdefault(f"{action.move} {action.k}", {})[action.label] = value
    return found


def by_move(found: dict[str, dict[str | None, float]]) -> dict[str, float]:
    return {
        move: float(numpy.logaddexp.reduce(list(labels.values()))) for move, labels in found.items()
    }


def cross_entropy(pupil: Any, teacher: Any, example: Example) -> float:
    """Of moves, and of the labels of the teacher's best move, along the oracle's path."""
    reference = example.reference
    gold = gold_of(reference)
    state = pupil.system.initial(len(reference))
    loss = 0.0
    while not state.is_final:
        own, other = (choices(one, bare(reference), state) for one in (pupil, teacher))
        log_p, log_t = by_move(own), by_move(other)
        loss -= sum(numpy.exp(log_t[move]) * log_p[move] for move in log_p)
        best = max(log_t, key=lambda move: log_t[move])
        if len(other[best]) > 1:
            for label, value in other[best].items():
                loss -= numpy.exp(value) * (own[best][label] - log_p[best])
        (action,) = pupil.system.oracle(state, gold, pupil.learning.oracle)
        pupil.system.apply(state, action)
    return loss


@pytest.mark.parametrize("factory", [NL, SWAP])
def test_loss(factory: str) -> None:
    """As it is computed from the probabilities of the two, in share with that of gold trees."""
    pupil, teacher = (
        parser_of(random_parser(seed, factory=factory, **PLAIN[factory])) for seed in (1, 2)
    )
    for seed, parser in enumerate((pupil, teacher)):
        randomize(parser.model, seed, 0.15)
    expected = []
    for example in make_examples(pupil.vocab, [[0], [1], [2], [3], [4], [5]]):
        gold_loss = pupil.update([example])[factory]
        expected.append(cross_entropy(pupil, teacher, example))
        for weight in (1.0, 0.3):
            pupil._teachers = Teachers([teacher.model], teacher.label_data["labels"], weight)
            loss = pupil.update([example])[factory]
            assert loss == pytest.approx((1 - weight) * gold_loss + weight * expected[-1], rel=1e-3)
        pupil._teachers = None
    assert max(expected) > 5


def test_what_is_not_annotated_is_learned_from_the_teacher(tmp_path: Path) -> None:
    """By its choices alone, of moves and labels. How long that takes depends on rounding."""
    teacher = overfitted(factory=NL)
    path = path_of(teacher, tmp_path)
    golds = [example.reference for example in make_examples(teacher.vocab)]
    blank = [Example(bare(gold), bare(gold)) for gold in golds]
    for given in (path, None):
        pupil = make_nlp(factory=NL)
        taught(pupil, given)
        for _ in range(8 if given else 1):
            imitate(pupil, blank, 200)
            if known := parsed(pupil, golds) == [tree(gold) for gold in golds]:
                break
        assert known == bool(given)


@pytest.mark.parametrize("members", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_parsers_on_shared_token_vectors_teach(members: int, tmp_path: Path) -> None:
    """One alone, or several together."""
    paths = []
    for seed in range(members):
        nlp = listening_pipeline(NL)
        numpy.random.seed(seed)
        learn(nlp, make_examples(nlp.vocab))
        paths.append(path_of(nlp, tmp_path / str(seed)))
    pupil = listening_pipeline(NL)
    parser = taught(pupil, paths, 1.0)
    assert len(parser._teachers.models) == members
    for model in parser._teachers.models:
        assert not any(node.name == "tok2vec-listener" for node in model.walk())
    gold = make_examples(pupil.vocab)
    imitate(pupil, gold)
    golds = [one.reference for one in gold]
    assert parsed(pupil, golds) == [tree(one) for one in golds]


def test_the_pupil_needs_its_teacher_in_training_only(tmp_path: Path) -> None:
    pupil = make_nlp()
    taught(pupil, path_of(random_parser(2), tmp_path / "teacher"))
    train(pupil, make_examples(pupil.vocab), steps=5, sgd=pupil.resume_training())
    pupil.to_disk(tmp_path / "pupil")
    shutil.rmtree(tmp_path / "teacher")
    again = spacy.load(tmp_path / "pupil")
    doc = gold_doc(pupil.vocab, [0, 1])
    assert tree(again(bare(doc))) == tree(pupil(bare(doc)))
    assert again.config["initialize"]["components"][NM]["teacher_weight"] == 0.5
    assert parser_of(again)._teachers is None
    assert taught(pupil, None)._teachers is None  # initialized anew, without


def test_the_pupil_takes_its_teachers_labels(tmp_path: Path) -> None:
    """In the same order, also those that its own data do not have; no other one can be added."""
    nlp = random_parser(1)
    teacher = parser_of(nlp)
    labels = [*reversed(teacher.label_data["labels"]), "other"]
    teacher.initialize(lambda: make_examples(nlp.vocab), nlp=nlp, labels={"labels": labels})
    pupil = make_nlp()
    parser = taught(pupil, path_of(nlp, tmp_path))
    assert parser.label_data["labels"] == teacher.label_data["labels"]
    assert parser.labels[-1] == "other"
    pupil.update(make_examples(pupil.vocab), sgd=pupil.resume_training())
    parser.add_label("new")
    before = parser.to_bytes()
    with pytest.raises(ValueError, match="labels that its teacher does not know"):
        pupil.update(make_examples(pupil.vocab), sgd=pupil.resume_training())
    assert parser.to_bytes() == before


def test_errors(tmp_path: Path) -> None:
    def fails(match: str, path: Any, weight: Any = 0.5, **config: Any) -> None:
        nlp = make_nlp(**config)
        if isinstance(path, Language):
            path = path_of(path, tmp_path / str(len(list(tmp_path.iterdir()))))
        with pytest.raises(ValueError, match=f"'{NM}' cannot learn from the teacher .*{match}"):
            taught(nlp, path, weight)
        with pytest.raises(ValueError, match="has no labels yet"):
            nlp("text")

    good = path_of(random_parser(1), tmp_path / "good")
    more = random_parser(1)
    parser_of(more).add_label("new")
    fails("labels of .*, or their order", [good, path_of(more, tmp_path / "more")])
    for weight in (0.0, -1.0, 1.5):
        fails("above 0 and at most 1", good, weight)
    fails("cannot be loaded", str(tmp_path / "missing"))
    fails("0 parsers", spacy.blank("xx"))
    fails(r"does not know the labels \['", ready([[0]])[0])
    fails("differ in their systems", random_parser(1, factory=SWAP, name=NM))
    fails("is not trained", make_nlp())
    two = random_parser(1, name="one")
    two.add_pipe(NM, name="two", source=random_parser(1))
    fails("2 parsers", two)
    static = spacy.blank("xx")
    static.vocab.set_vector("cat", numpy.ones(4, "f"))
    model = model_config(tok2vec={**TOK2VEC, "pretrained_vectors": True})
    static.add_pipe(NM, config={"model": model, "projectivize": True})
    static.initialize(lambda: make_examples(static.vocab))
    fails("looks up its words' vectors", static)
    fails("set share", good, update="max_violation")
    assert taught(make_nlp(update="max_violation"), None)._teachers is None
    for updates in (0.5, [0.0, 1.0], [1.0]):  # schedules may begin or end with 1
        assert taught(make_nlp(update="max_violation", share=updates), good)._teachers
