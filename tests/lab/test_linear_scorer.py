"""The linear scorer against a plain implementation: features, scores, perceptron, averages."""

from __future__ import annotations

import copy
import random
import tracemalloc
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import fix_random_seed

from spacy_nmparse import systems
from spacy_nmparse.analysis.tracing import prepared
from spacy_nmparse.lab.linear.perceptron import Perceptron as Weights
from spacy_nmparse.lab.linear.perceptron import perceptron_of
from spacy_nmparse.lab.linear.scorer import LinearScorer, read_words, system_features
from spacy_nmparse.lab.linear.templates import Templates
from spacy_nmparse.lab.linear.zhang_nivre import ADDITIONAL, TEMPLATES
from spacy_nmparse.pipe.doc_io import parsed_tokens
from spacy_nmparse.pipe.words import Words
from spacy_nmparse.scorers.ensemble import Ensemble
from spacy_nmparse.scorers.shared import ScorerInput
from spacy_nmparse.search import beam, greedy
from spacy_nmparse.systems import Action, Gold
from tests.naive.linear import Logistic, Perceptron, best, features, noted_label
from tests.pipe.common import (
    DOCUMENTS,
    bare,
    gold_doc,
    make_example,
    make_examples,
    parser_of,
    random_doc,
    tree,
)

BITS = 12
LINEAR: dict[str, Any] = {"@architectures": "spacy_nmparse.LinearScorer.v1", "bits": BITS}
LOGISTIC = {**LINEAR, "learner": "logistic"}
L_D = {"nonmonotonic_left": True, "nonmonotonic_reduce": True}
REPAIRS = {"nonmonotonic_left": True, "repairs": ("right_lower", "right_raise", "left_invert")}
SYSTEMS: list[tuple[str, dict[str, Any]]] = [
    ("arc_eager", {}),
    ("arc_eager", L_D),
    ("arc_eager", REPAIRS),
    ("arc_standard", {}),
    ("arc_hybrid", {}),
    ("swap_standard", {}),
    ("covington", {}),
]
FACTORIES: list[tuple[str, dict[str, Any]]] = [
    ("nm_parser", {"projectivize": True}),
    ("swap_parser", {}),
    ("nl_covington_parser", {"system": {"@misc": "spacy_nmparse.Covington.v1"}}),
]


def make_linear(factory: str = "nm_parser", lang: str = "xx", **config: Any) -> Language:
    """A pipeline of a linear parser without labels."""
    fix_random_seed(0)
    nlp = spacy.blank(lang)
    nlp.add_pipe(factory, config={"model": LINEAR, **config})
    return nlp


def initialized(**config: Any) -> Language:
    nlp = make_linear(**config)
    nlp.initialize(lambda: make_examples(nlp.vocab))
    return nlp


def by_heart(
    n_updates: int = 100, documents: Sequence[Sequence[int]] = DOCUMENTS, **config: Any
) -> Language:
    """A pipeline that has seen the trees so often; by then it knows them."""
    nlp = initialized(**config)
    examples = make_examples(nlp.vocab, documents)
    for example in examples:
        set_tags(example.predicted)
    for _ in range(n_updates):
        learn_from(nlp, examples)
    return nlp


def learn_from(nlp: Language, examples: list[Example]) -> float:
    """One update. Returns the loss."""
    parser = parser_of(nlp)
    losses = nlp.update(examples, sgd=None)
    parser.finish_update(None)
    return losses[parser.name]


def knows(
    nlp: Language, documents: Sequence[Sequence[int]] = DOCUMENTS, n_process: int = 1
) -> bool:
    golds = [gold_doc(nlp.vocab, trees) for trees in documents]
    docs = nlp.pipe([set_tags(bare(gold)) for gold in golds], n_process=n_process, batch_size=2)
    return [tree(doc) for doc in docs] == [tree(gold) for gold in golds]


def randomize(parser: Any) -> None:
    """Random weights."""
    perceptron = perceptron_of(parser.model)
    weights = numpy.random.RandomState(3).randint(-3, 4, perceptron.size)
    perceptron.begin(weights.astype("float32"))


def set_tags(doc: Doc) -> Doc:
    for token in doc:
        token.tag_ = "T" + token.text[-1]
    return doc


# Features


@pytest.mark.parametrize(("name", "options"), SYSTEMS)
def test_features_are_those_of_the_plain_implementation(name: str, options: dict[str, Any]) -> None:
    labels = ("a", "b", "c")
    system = systems.create(name, labels=labels, **options)
    names = system_features(system)
    templates = Templates(names)
    rng = random.Random(2)
    for _ in range(12):
        n = rng.randint(1, 14)
        words = [rng.getrandbits(64) for _ in range(n)]
        tags = [rng.choice((0, 5, 7)) for _ in range(n)]
        arrays = [numpy.array(one, dtype="uint64") for one in (words, tags)]
        state = system.initial(n)
        while not state.is_final:
            expected = features(names, state, words, tags, labels, BITS)
            assert templates.features(state, *arrays, BITS) == expected
            system.apply(state, rng.choice(system.actions(state)), push_label="b")


def test_the_templates_of_arc_eager_are_those_of_the_paper() -> None:
    names = system_features(systems.create("arc_eager"))
    assert len(names) == len(set(names)) == 72
    for name in (
        "S0.word*S0.tag*B0.word*B0.tag",
        "B0.tag*B1.tag*B2.tag",
        "S0.h.tag*S0.tag*B0.tag",
        "S0.word*B0.word*S0-B0.distance",
        "B0.tag*B0.n_left",
        "S0.h.h.word",
        "S0.tag*S0.r1.tag*S0.r2.tag",
        "B0.word*B0.left_labels",
    ):
        assert name in names
    assert TEMPLATES["S0-B0"] == names


def test_lists_of_templates_have_names() -> None:
    """The draft on repairs names 19, one of them and another one twice."""
    both = LinearScorer(features=["zhang_nivre", "additional", "S1.r2.tag"]).attrs["features"]
    assert both == [*TEMPLATES["S0-B0"], *ADDITIONAL, "S1.r2.tag"]
    assert len(ADDITIONAL) == 17
    assert "S2.tag*B0.word*B1.word" in ADDITIONAL


def test_templates_look_at_the_words_that_arcs_join() -> None:
    both = system_features(systems.create("arc_hybrid"))
    assert both == list(dict.fromkeys(TEMPLATES["S0-B0"] + TEMPLATES["S1-S0"]))
    assert system_features(systems.create("arc_standard")) == TEMPLATES["S1-S0"]
    assert system_features(systems.create("swap_standard")) == TEMPLATES["S1-S0"]
    assert system_features(systems.create("covington")) == TEMPLATES["I1-B0"]
    assert "S1.r2.tag" in system_features(systems.create("arc_eager", **REPAIRS))


def test_sets_of_labels_know_no_order_and_no_number() -> None:
    system = systems.create("arc_standard", labels=("a", "b"))
    templates = Templates(["S0.right_labels"])
    nothing = numpy.zeros(4, dtype="uint64")

    def after(*labels: str) -> list[int]:
        state = system.initial(4)
        for label in labels:
            system.apply(state, Action("SHIFT"))
            system.apply(state, Action("SHIFT"))
            system.apply(state, Action("RIGHT-ARC", 1, label))
            break
        for label in labels[1:]:
            system.apply(state, Action("SHIFT"))
            system.apply(state, Action("RIGHT-ARC", 1, label))
        return templates.features(state, nothing, nothing, BITS)

    assert after("a", "b") == after("b", "a") == after("a", "b", "a")
    assert after("a") != after("b") != after("a", "b")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["S0.colour"], "'S0.colour'"),
        (["S0"], "as S0.word"),
        (["Q0.word"], "'Q0'"),
        (["S0.word", "S0.word"], "named twice"),
        (["*".join(f"S{i}.word" for i in range(5))], "more than 4"),
        ([], "1 to 192 templates"),
    ],
)
def test_bad_templates_are_named(names: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("*", r"\*")):
        LinearScorer(features=names)


def test_words_are_norms_and_tags_or_parts_of_speech() -> None:
    nlp = spacy.blank("en")
    doc = Doc(nlp.vocab, words=["Dogs", " ", "bark", "!"], pos=["NOUN", "SPACE", "VERB", "PUNCT"])
    doc[0].tag_ = "NNS"
    rows, _, _ = parsed_tokens([doc])
    words, tags = read_words(ScorerInput([doc], rows))
    assert words.tolist() == [nlp.vocab.strings[text] for text in ("dogs", "bark", "!")]
    assert tags.tolist() == [nlp.vocab.strings["NNS"], doc[2].pos, doc[3].pos]


# Scores


@pytest.mark.parametrize(("factory", "config"), FACTORIES)
def test_parsing_follows_the_best_move_and_label(factory: str, config: dict[str, Any]) -> None:
    nlp = initialized(factory=factory, **config)
    parser = parser_of(nlp)
    randomize(parser)
    rng = random.Random(0)
    docs = [set_tags(random_doc(nlp.vocab, rng, rng.randint(1, 9), space=0.0)) for _ in range(20)]
    weights = perceptron_of(parser.model).parsing_weights()
    naive = Perceptron(parser.system, parser.model.attrs["features"], BITS)
    naive.weights.update(enumerate(weights.tolist()))
    for doc in docs:
        words, tags = (array.tolist() for array in read_words(ScorerInput([doc])))
        state = parser.system.initial(len(doc))
        while not state.is_final:
            found = naive.features(state, words, tags)
            actions = parser.system.actions(state)
            noted = noted_label(naive, found, "RIGHT-ARC" if factory == "nm_parser" else None)
            parser.system.apply(state, best(naive.scores(found, actions)), push_label=noted)
        arcs = parser.predict([doc]).arcs
        # words that a list system leaves headless are completed otherwise
        known = [i for i, head in enumerate(state.heads) if head is not None]
        assert [arcs.heads[i] for i in known] == [state.heads[i] for i in known]


# Learning


def rolled_out(
    model: Perceptron,
    gold: Gold,
    words: list[int],
    tags: list[int],
    follow_model: bool,
    noted: bool,
) -> int:
    """The perceptron's rule along one rollout. Returns the number of mistakes."""
    system = model.system
    state = system.initial(len(gold))
    mistakes = 0
    while not state.is_final:
        found = model.features(state, words, tags)
        label = noted_label(model, found, "RIGHT-ARC" if noted else None)
        actions = system.actions(state)
        if len(actions) == 1:
            system.apply(state, actions[0], push_label=label)
            continue
        scores = model.scores(found, actions)
        allowed = system.oracle(state, gold, "dynamic", push_label=label)
        predicted = best(scores)
        right = predicted
        if predicted not in allowed:
            right = best({action: scores[action] for action in actions if action in allowed})
            model.add(found, right, 1)
            model.add(found, predicted, -1)
            mistakes += 1
        model.count()
        system.apply(state, predicted if follow_model else right, push_label=label)
    return mistakes


@pytest.mark.parametrize("explore", [0.0, 1.0])
@pytest.mark.parametrize("factory", ["nm_parser", "swap_parser"])
def test_updates_and_averages_are_those_of_the_plain_perceptron(
    factory: str, explore: float
) -> None:
    nlp = initialized(factory=factory, explore=explore, oracle="dynamic")
    parser = parser_of(nlp)
    naive = Perceptron(parser.system, parser.model.attrs["features"], BITS)
    perceptron = perceptron_of(parser.model)
    for _ in range(6):
        examples = make_examples(nlp.vocab, [[0], [1], [2], [4], [5]])
        random.Random(1).shuffle(examples)
        expected = 0
        for example in examples:
            example.predicted = set_tags(example.predicted)
            tokens, presets, _ = parsed_tokens([example.predicted])
            gold = parser.gold_reader.read(example, tokens, presets)
            words, tags = (one.tolist() for one in read_words(ScorerInput([example.predicted])))
            naive_gold = (gold, words, tags, explore == 1, factory == "nm_parser")
            expected += rolled_out(naive, *naive_gold)
        losses = parser.update(examples, sgd=None, losses={parser.name: 0.0})
        parser.finish_update(None)
        assert losses[parser.name] == expected
        present = dict(enumerate(perceptron.learning_weights().tolist()))
        assert {p: w for p, w in present.items() if w} == {
            p: w for p, w in naive.weights.items() if w
        }
        average = perceptron.parsing_weights()
        for place, value in naive.averages().items():
            assert average[place] == pytest.approx(value, abs=1e-6)
        assert numpy.count_nonzero(average) == sum(map(bool, naive.sums.values()))
    assert expected < 10  # it has learned something


def test_updates_of_a_logistic_regression_are_those_of_the_plain_one() -> None:
    """Along the oracle's moves, to trees without crossing arcs; pruning and penalties included."""
    options = {"l1": 0.01, "min_count": 2}
    nlp = initialized(oracle="static", explore=0.0, model={**LOGISTIC, **options})
    parser = parser_of(nlp)
    names = parser.model.attrs["features"]
    naive = Logistic(parser.system, names, BITS, options["l1"], options["min_count"])
    learner = perceptron_of(parser.model)
    for example in make_examples(nlp.vocab, [[0], [1], [5]]) * 3:
        example.predicted = set_tags(example.predicted)
        tokens, presets, _ = parsed_tokens([example.predicted])
        gold = parser.gold_reader.read(example, tokens, presets)
        words, tags = (one.tolist() for one in read_words(ScorerInput([example.predicted])))
        state = parser.system.initial(len(gold))
        while not state.is_final:
            actions = parser.system.actions(state)
            (right,) = parser.system.oracle(state, gold, "static")
            if len(actions) > 1:
                naive.learn(naive.features(state, words, tags), actions, {right})
            parser.system.apply(state, right)
        parser.update([example], sgd=None)
        parser.finish_update(None)
        present = learner.learning_weights()
        for place, weight in naive.weights.items():
            assert present[place] == pytest.approx(weight, abs=1e-5)
        assert numpy.count_nonzero(present) == sum(map(bool, naive.weights.values()))
        parsing = learner.parsing_weights()
        for place in naive.weights:
            assert parsing[place] == pytest.approx(naive.penalized(place), abs=1e-5)
    assert 0 < numpy.count_nonzero(parsing) < numpy.count_nonzero(present)


def test_a_logistic_regression_learns_and_is_saved(tmp_path: Path) -> None:
    room = {"model": {**LOGISTIC, "bits": 16, "l1": 1e-5, "min_count": 1}}
    nlp = by_heart(projectivize=True, **room)
    assert knows(nlp)
    nlp.to_disk(tmp_path / "model")
    again = spacy.load(tmp_path / "model")
    assert knows(again)
    assert parser_of(again).add_label("new")
    learn_from(again, make_examples(again.vocab))
    assert knows(again)


def test_a_logistic_regression_does_not_learn_from_a_beam() -> None:
    nlp = initialized(model=LOGISTIC, beam_training="max_violation")
    with pytest.raises(ValueError, match="does not learn from a beam: set beam_training"):
        learn_from(nlp, make_examples(nlp.vocab))


@pytest.mark.parametrize(("factory", "config"), FACTORIES)
@pytest.mark.parametrize("training", ["local", "max_violation", "early_update"])
def test_trees_are_learned_by_heart(factory: str, config: dict[str, Any], training: str) -> None:
    how = {"beam_training": training, "beam_train_width": 4}
    if training == "local":
        assert knows(by_heart(factory=factory, **config, **how))
        return
    alone = [trees for trees in DOCUMENTS if len(trees) == 1]
    room = {"model": {**LINEAR, "bits": 20}}  # a beam finds what shared weights favour
    nlp = by_heart(documents=alone, factory=factory, **config, **how, **room, beam_width=4)
    assert knows(nlp, alone)


def configurations(system: Any, n: int) -> list[Any]:
    """All ways to all configurations of n words that are not final."""
    found = [system.initial(n)]
    for state in found:
        for action in system.actions(state):
            after = state.copy()
            system.apply(after, action)
            if not after.is_final:
                found.append(after)
    return found


def test_a_beam_learns_from_scored_moves_alone() -> None:
    """A forced move adds nothing to a sequence's score: weights for it would only be noise."""
    nlp = initialized(beam_training="max_violation", beam_train_width=4)
    parser = parser_of(nlp)
    doc = Doc(nlp.vocab, words=["I", "saw", "stars"], heads=[1, 1, 1], deps=["a", "ROOT", "a"])
    words, tags = (one.tolist() for one in read_words(ScorerInput([doc])))
    model = Perceptron(parser.system, parser.model.attrs["features"], BITS)
    forced, scored = set(), set()
    for state in configurations(parser.system, len(doc)):
        actions = parser.system.actions(state)
        found = forced if len(actions) == 1 and actions[0].move != "SHIFT" else scored
        found.add(tuple(model.features(state, words, tags)))
    learned = []
    for _ in range(3):
        parser.update([make_example(doc)], sgd=None)
        (mistakes,) = perceptron_of(parser.model)._pending
        for first, last in pairwise([0, *mistakes.ends.tolist()]):
            learned.append(tuple(mistakes.features[first:last].tolist()))
        parser.finish_update(None)
    assert learned and set(learned) <= scored - forced


def test_there_is_room_for_the_features_of_a_treebank() -> None:
    """Training with a beam on 20,000 words leaves 1 to 2 million weights that are not 0. Where
    features often share weights, a beam finds the wrong trees that this favours."""
    weights = 1 << LinearScorer().get_dim("bits")
    assert 2_000_000 / weights < 0.1


@pytest.mark.parametrize("oracle", ["static", "combined", "monotonic"])
def test_all_oracles_teach(oracle: str) -> None:
    explore = 0.0 if oracle == "static" else 1.0
    room = {"model": {**LINEAR, "bits": 16}}
    assert knows(by_heart(oracle=oracle, explore=explore, projectivize=True, **room))


# Search


def scored(parser: Any, doc: Doc) -> tuple[Any, ...]:
    words = Words.of([doc])
    found = parser.score_moves(words)
    return parser.system, found, words.lengths, words.constraints


@pytest.mark.parametrize(("factory", "config"), FACTORIES)
def test_a_beam_of_one_is_greedy_search(factory: str, config: dict[str, Any]) -> None:
    nlp = initialized(factory=factory, **config)
    parser = parser_of(nlp)
    randomize(parser)
    rng = random.Random(4)
    for _ in range(20):
        batch = scored(parser, random_doc(nlp.vocab, rng, rng.randint(1, 12), space=0.0))
        one, other = greedy.parse(*batch), beam.parse(*batch, 1)
        assert all((a == b).all() for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("factory", ["nm_parser", "swap_parser"])
def test_a_wide_beam_finds_the_highest_sum_of_scores(factory: str) -> None:
    nlp = initialized(factory=factory)
    parser = parser_of(nlp)
    randomize(parser)
    naive = Perceptron(parser.system, parser.model.attrs["features"], BITS)
    weights = perceptron_of(parser.model).parsing_weights()
    naive.weights.update(enumerate(weights.tolist()))
    notes = "RIGHT-ARC" if factory == "nm_parser" else None
    doc = Doc(nlp.vocab, words=["She", "saw"])
    words, tags = (one.tolist() for one in read_words(ScorerInput([doc])))

    def most(state: Any) -> float:
        if state.is_final:
            return 0.0
        actions = parser.system.actions(state)
        found = naive.features(state, words, tags)
        noted = noted_label(naive, found, notes)
        # a sole move without a label is made unscored
        scores = naive.scores(found, actions) if len(actions) > 1 else {actions[0]: 0.0}
        sums = []
        for action, score in scores.items():
            after = state.copy()
            parser.system.apply(after, action, push_label=noted)
            sums.append(score + most(after))
        return max(sums)

    ((score, *_), *_) = beam.n_best(*scored(parser, doc), 3000, 1)[0]
    assert score == pytest.approx(most(parser.system.initial(2)))


# Thinc and spaCy


def test_nothing_changes_before_finish_update() -> None:
    nlp = by_heart(n_updates=1)
    parser = parser_of(nlp)
    perceptron = perceptron_of(parser.model)
    present, average = perceptron.learning_weights().copy(), perceptron.parsing_weights().copy()
    examples = make_examples(nlp.vocab)
    scorer, _ = parser.model.begin_update(Words.of(eg.predicted for eg in examples).scorer_input())
    loss, _ = parser.get_loss(examples, scorer)
    parser.update(examples, sgd=None)
    assert loss > 0
    assert (perceptron.learning_weights() == present).all()
    assert (perceptron.parsing_weights() == average).all()
    parser.finish_update(None)
    assert (perceptron.learning_weights() != present).any()
    assert (perceptron.parsing_weights() != average).any()


def test_optimizers_and_dropout_make_no_difference() -> None:
    weights = []
    for options in ({"sgd": None, "drop": 0.0}, {"drop": 0.5}):
        nlp = initialized()
        optimizer = nlp.create_optimizer() if "sgd" not in options else None
        for _ in range(3):
            nlp.update(make_examples(nlp.vocab), **{"sgd": optimizer, **options})
            if optimizer is None:
                parser_of(nlp).finish_update(None)
        weights.append(perceptron_of(parser_of(nlp).model).parsing_weights())
    assert (weights[0] == weights[1]).all()


def test_saved_weights_are_the_averages(tmp_path: Path) -> None:
    nlp = by_heart()
    nlp.to_disk(tmp_path / "model")
    loaded = spacy.load(tmp_path / "model")
    again = make_linear(projectivize=True).from_bytes(nlp.to_bytes())
    expected = perceptron_of(parser_of(nlp).model).parsing_weights()
    for other in (loaded, again, copy.deepcopy(nlp)):
        model = parser_of(other).model
        assert (perceptron_of(model).parsing_weights() == expected).all()
        assert model.to_bytes() == parser_of(nlp).model.to_bytes()
        assert [tree(other(gold_doc(other.vocab, t))) for t in DOCUMENTS] == [
            tree(nlp(gold_doc(nlp.vocab, t))) for t in DOCUMENTS
        ]


@pytest.mark.parametrize("size", [10**12, 10**9, 17, 8, -1, "9", 9.0, None])
def test_a_size_that_the_weights_have_not(size: Any) -> None:
    """Is an error before there is room for so many."""
    content = {"known": b"\x80\x80", "weights": bytes(8)}
    known = Weights().from_bytes(srsly.msgpack_dumps({**content, "size": 9}))
    tracemalloc.start()
    with pytest.raises(ValueError, match="16 signs of weights"):
        known.from_bytes(srsly.msgpack_dumps({**content, "size": size}))
    with pytest.raises(ValueError):
        known.from_bytes(srsly.msgpack_dumps({**content, "size": 9, "weights": bytes(4000)}))
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()
    assert known.size == 9


def test_training_goes_on_from_saved_weights() -> None:
    nlp = by_heart(n_updates=10, projectivize=True)
    again = make_linear(projectivize=True).from_bytes(nlp.to_bytes())
    optimizer = again.resume_training()
    examples = make_examples(again.vocab)
    for example in examples:
        set_tags(example.predicted)
    for _ in range(40):
        losses = again.update(examples, sgd=optimizer)
    assert losses[parser_of(again).name] == 0
    assert knows(again)


def test_a_copy_learns_by_itself() -> None:
    nlp = by_heart(n_updates=1)
    model = parser_of(nlp).model
    before = perceptron_of(model).parsing_weights().copy()
    other = copy.deepcopy(nlp)
    learn_from(other, make_examples(other.vocab))
    assert (perceptron_of(model).parsing_weights() == before).all()
    assert (perceptron_of(parser_of(other).model).parsing_weights() != before).any()


def test_processes_parse_alike() -> None:
    assert knows(by_heart(projectivize=True), n_process=2)


def test_documents_without_words() -> None:
    nlp = by_heart(n_updates=1)
    docs = [Doc(nlp.vocab), Doc(nlp.vocab, words=[" "]), Doc(nlp.vocab, words=["Yes"])]
    assert [len(doc) for doc in nlp.pipe(docs)] == [0, 1, 1]
    nlp.update([Example(Doc(nlp.vocab), Doc(nlp.vocab))])


def test_new_labels_leave_what_is_known() -> None:
    nlp = by_heart(n_updates=20, projectivize=True)
    parser = parser_of(nlp)
    assert parser.add_label("new")
    assert knows(nlp)
    weights = perceptron_of(parser.model)
    example = make_examples(nlp.vocab, [[1]])[0]
    for token in example.reference:
        token.dep_ = "new" if token.dep_ == "cc" else token.dep_
    for _ in range(200):
        learn_from(nlp, [example])
    assert "new" in [token.dep_ for token in nlp(bare(example.reference))]
    assert weights.size == len(weights.parsing_weights())


def test_tags_are_looked_at() -> None:
    nlp = initialized()
    words = ["x", "y"]
    examples = []
    for heads, tags in (([0, 0], ["A", "B"]), ([1, 1], ["B", "A"])):
        deps = ["ROOT" if head == i else "obj" for i, head in enumerate(heads)]
        gold = Doc(nlp.vocab, words=words, heads=heads, deps=deps)
        examples.append(Example(Doc(nlp.vocab, words=words, tags=tags), gold))
    for _ in range(20):
        learn_from(nlp, examples)
    for example in examples:
        parsed = nlp(example.predicted.copy())
        assert [t.head.i for t in parsed] == [t.head.i for t in example.reference]


def test_tools_show_the_parser_the_tags_of_the_data() -> None:
    nlp = by_heart(n_updates=1)
    gold = set_tags(gold_doc(nlp.vocab, [0]))
    shown = prepared(nlp, parser_of(nlp), gold)
    assert [token.tag_ for token in shown] == [token.tag_ for token in gold]
    assert not shown.has_annotation("DEP")


# Errors


@pytest.mark.parametrize("system", ["NLCovington", "ArcSwift"])
def test_systems_with_arcs_from_afar_are_refused(system: str) -> None:
    name = {"NLCovington": "nl_covington", "ArcSwift": "arc_swift"}[system]
    with pytest.raises(ValueError, match=f"A linear scorer cannot score {name}: .* An arc scorer"):
        make_linear(system={"@misc": f"spacy_nmparse.{system}.v1"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bits": 7}, "bits 7 must be 8 to 30"),
        ({"bits": 31}, "bits 31 must be 8 to 30"),
        ({"learner": "svm"}, "learner 'svm' must be one of"),
        ({"l1": -1.0}, "l1 -1.0 must be at least 0"),
        ({"min_count": 256}, "min_count 256 1 to 255"),
    ],
)
def test_options_have_bounds(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"LinearScorer: .*{message}"):
        LinearScorer(**options)


def test_it_needs_a_system() -> None:
    with pytest.raises(ValueError, match="needs set_system"):
        LinearScorer().initialize()


def test_it_cannot_be_a_member_of_an_ensemble() -> None:
    with pytest.raises(ValueError, match=r"learn by gradients.* not linear_scorer"):
        Ensemble(LinearScorer())


def test_it_cannot_be_taught(tmp_path: Path) -> None:
    nlp = by_heart(n_updates=1)
    nlp.to_disk(tmp_path / "teacher")
    pupil = make_linear()
    parser = parser_of(pupil)
    with pytest.raises(ValueError, match="learns from gold trees alone"):
        parser.initialize(
            lambda: make_examples(pupil.vocab), nlp=pupil, teacher=str(tmp_path / "teacher")
        )


@pytest.mark.parametrize("wrong", ["bits", "weights", "data"])
def test_weights_of_another_model_are_refused(wrong: str) -> None:
    nlp = by_heart(n_updates=2)
    parser = parser_of(nlp)
    before = parser.to_bytes()
    options = {"bits": {"model": {**LINEAR, "bits": BITS + 1}}}.get(wrong, {})
    other = by_heart(n_updates=1, **options)
    if wrong == "weights":
        perceptron_of(parser_of(other).model).reset(100)
    data = srsly.msgpack_loads(parser_of(other).to_bytes())
    if wrong == "data":
        data["model"] = data["model"][:-20]
    with pytest.raises(ValueError, match="cannot load"):
        parser.from_bytes(srsly.msgpack_dumps(data))
    assert parser.to_bytes() == before
