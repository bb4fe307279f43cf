"""A parser that is trained on a few trees gives them back, however it is stored and called.

Tests with ``by_heart`` are run with each kind of parser (tests/conftest.py).
"""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.scorer import Scorer

from spacy_nmparse.scorers.state_scorer import DEFAULT_FEATURES
from spacy_nmparse.systems.projective import crossing_arcs
from tests.pipe.common import (
    BOTH,
    DOCUMENTS,
    KINDS,
    NEITHER,
    NL,
    SWIFT,
    SYSTEMS,
    TREES,
    TWO_PLANAR,
    any_system,
    arc_model_config,
    assert_edges,
    assert_sound,
    bare,
    gold_doc,
    knows_the_trees,
    learn,
    make_examples,
    make_nlp,
    model_config,
    overfitted,
    parser_of,
    parses,
    random_parser,
    ready,
    system,
    texts,
    tree,
    unknown,
)


def assert_sound_trees(nlp: Language) -> None:
    """What it gives the words of DOCUMENTS, right or not."""
    for trees in DOCUMENTS:
        doc = nlp(bare(gold_doc(nlp.vocab, trees)))
        assert_sound(doc)
        assert_edges(doc)


REPAIRS = ("right_lower", "right_raise", "left_invert")
LABELLED = {**BOTH, "labelled_reduce": True}


# Learning


LEFT = {**NEITHER, "nonmonotonic_left": True}
REDUCE = {**NEITHER, "nonmonotonic_reduce": True}
IMPLICIT, LOOSE = {"explicit_root": False}, {"nonmonotonic": True}


@pytest.mark.parametrize(
    ("config", "oracle"),
    [
        *(
            ({"system": system("ArcEager", **options)}, "static")
            for options in (NEITHER, LEFT, REDUCE)
        ),
        ({"system": system("ArcEager", **LABELLED)}, "dynamic"),
        ({"system": any_system("arc_eager", **LEFT, unshift=True)}, "dynamic"),
        ({"system": any_system("arc_eager", **LABELLED, push="shift")}, "dynamic"),
        *(
            ({"factory": NL, "system": block}, oracle)
            for block, oracle in (
                (system("NLCovington"), "static"),
                (system("NLCovington", **IMPLICIT), "dynamic"),
                (system("NLCovington", **LOOSE, **IMPLICIT), "static"),
                (system("Covington"), "dynamic"),
                (system("Covington", **LOOSE), "static"),
            )
        ),
        *(
            pytest.param({"factory": NL, "system": block}, oracle, marks=pytest.mark.slow)
            for block, oracle in (
                (system("NLCovington", **IMPLICIT), "static"),
                (system("NLCovington", **LOOSE), "static"),
                (system("Covington"), "static"),
                (system("Covington", **IMPLICIT), "static"),
                (system("Covington", **IMPLICIT), "dynamic"),
            )
        ),
        (SYSTEMS["root first"], "dynamic"),
        (SYSTEMS["root first"], "static"),
        (SYSTEMS["buffer arcs"], "dynamic"),
        ({**KINDS["arc_swift"], "model": arc_model_config(features=None)}, "static"),
        ({"factory": NL, "projectivize": True}, "dynamic"),
        # By the dynamic oracle, what is known by heart of one tree may be little of the next.
        ({**TWO_PLANAR, "explore": 0.0}, "static"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_overfitting_of_other_systems(config: dict[str, Any], oracle: str) -> None:
    nlp = overfitted(**{**config, "oracle": oracle})
    parser = parser_of(nlp)
    block = config.get("system", {})
    given = block.get("options", block)
    options = {key: value for key, value in given.items() if key not in ("@misc", "name")}
    assert {key: parser.system.options.get(key, False) for key in options} == options
    lifts = config.get("projectivize", config.get("factory") != NL)
    assert parser.cfg == {"projectivize": lifts}
    assert any("||" in label for label in parser.label_data["labels"]) == lifts
    assert knows_the_trees(nlp)
    assert_sound_trees(nlp)


@pytest.mark.parametrize(
    "config",
    [
        *(
            {"factory": NL, "oracle": "dynamic", "system": block}
            for block in (
                system("NLCovington", **LOOSE),
                system("NLCovington", **LOOSE, **IMPLICIT),
                system("Covington", **LOOSE),
            )
        ),
        {"factory": NL, "system": SWIFT},  # crossing gold: nothing is lifted
        {**TWO_PLANAR, "explore": 1.0},
        {"projectivize": False},
    ],
)
def test_trees_that_cannot_all_be_learned(config: dict[str, Any]) -> None:
    """An error may be learned as free (docs/systems.md), or an arc crosses: most are right."""
    nlp = overfitted(**config)
    assert nlp.evaluate(make_examples(nlp.vocab))["dep_las"] > 0.8
    assert_sound_trees(nlp)
    if "system" not in config:
        parser, golds = parser_of(nlp), [gold_doc(nlp.vocab, [number]) for number in (1, 2)]
        assert not any("||" in label for label in parser.label_data["labels"])
        (one, two), (projective, crossing) = parser.pipe(map(bare, golds)), golds
        assert tree(one) == tree(projective) and crossing_arcs([t.head.i for t in crossing])
        assert two[4].head.i != crossing[4].head.i


def test_arcs_that_are_too_long_for_the_system() -> None:
    """Shorter ones are learned along the static oracle's path, and trees stay sound."""
    short = system("NLCovington", max_length=2)
    nlp = overfitted(factory=NL, system=short, oracle="static", explore=0.0)
    assert_sound_trees(nlp)
    for trees in DOCUMENTS:
        gold = gold_doc(nlp.vocab, trees)
        pairs = zip(gold, nlp(bare(gold)), strict=True)
        wrong = {token.i for token, found in pairs if token.head.i != found.head.i}
        assert wrong <= {token.i for token in gold if abs(token.i - token.head.i) > 2}
    assert any(abs(head - word) > 2 for _, heads, _ in TREES for word, head in enumerate(heads))


@pytest.mark.parametrize("decoupled", [False, True])
def test_repairs_are_learned(tmp_path: Path, decoupled: bool) -> None:
    """Their scores get gradients, and the words that they concern are looked at, here alone."""
    block = any_system("arc_eager", **BOTH, repairs=REPAIRS, decoupled_repairs=decoupled)
    nlp = overfitted(system=block, oracle="combined")
    parser = parser_of(nlp)
    features = parser.model.attrs["features"]
    assert {"S0.h", "S0.l1", "S1.r2", "S0.h.h"} <= set(features)
    scores = dict(zip(parser.system.moves, parser.model.get_param("move_W"), strict=True))
    for move in ("RIGHT-LOWER", "RIGHT-RAISE", "LEFT-INVERT"):
        assert abs(scores[move]).max() > 0
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert parser_of(again).system.options["repairs"] == REPAIRS
    assert knows_the_trees(again) and knows_the_trees(nlp)
    plain = parser_of(make_nlp())
    assert tuple(plain.model.attrs["features"]) == DEFAULT_FEATURES
    assert set(plain.system_spec.options) == {*BOTH}
    moves = plain.system_spec.create(None, segment=True).moves
    assert moves == ("SHIFT", "REDUCE", "LEFT-ARC", "RIGHT-ARC", "BREAK")


@pytest.mark.parametrize(
    "config",
    [
        {"model": model_config(maxout_pieces=1)},
        {"model": model_config(maxout_pieces=3, features=["S0", "B0", "S1", "S0.l1", "S0.label"])},
        *(
            {"factory": NL, "model": arc_model_config(**options)}
            for options in (
                {"maxout_pieces": 1, "recurrent_width": 0},
                {"maxout_pieces": 3, "hidden_width": 9, "tree_weight": 0.0},
                {"features": None, "arc_width": 32},
            )
        ),
    ],
)
def test_overfitting_with_other_scorers(config: dict[str, Any]) -> None:
    nlp = overfitted(**config)
    gold = gold_doc(nlp.vocab, [0, 1])
    assert tree(nlp(bare(gold))) == tree(gold)
    assert knows_the_trees(nlp) or config.get("factory") != NL


def test_what_cannot_be_learned_is_no_success() -> None:
    """``learn`` of tests/pipe/common.py, which most tests of training rely on, can fail."""
    nlp, examples, sgd = ready([[0]])
    sgd = nlp.initialize(lambda: make_examples(nlp.vocab))
    with pytest.raises(AssertionError, match="not learned"):
        learn(nlp, [*examples, unknown(nlp.vocab)], sgd=sgd, most=60)


def test_scores_of_what_was_learned(by_heart: Language) -> None:
    assert knows_the_trees(by_heart)
    assert_sound_trees(by_heart)
    examples = make_examples(by_heart.vocab)
    scores = by_heart.evaluate(examples)
    for key in ("dep_uas", "dep_las", "sents_f", "dep_las_conll", "dep_exact", "nonproj_r"):
        assert scores[key] == 1.0, key
    assert set(scores["dep_las_per_type"]) == {
        label.lower() for _, _, deps in TREES for label in deps.split() if label != "punct"
    }
    for example in examples:
        example.predicted = by_heart(example.predicted)
    spacys = Scorer.score_deps(
        examples, "dep", getter=lambda token, attr: getattr(token, f"{attr}_")
    )
    assert spacys["dep_las"] == 1.0


def test_labels_of_lifted_arcs_are_never_seen(trained: Language) -> None:
    parser = parser_of(trained)
    assert any("||" in label for label in parser.label_data["labels"]), "nothing was lifted"
    assert not any("||" in label for label in parser.labels)
    assert set(parser.labels) == {"dep", *" ".join(deps for _, _, deps in TREES).split()}
    for seed in range(3):  # a parser of random weights predicts them everywhere
        nlp = random_parser(seed)
        docs = list(nlp.pipe(texts()))
        assert not any("||" in token.dep_ for doc in docs for token in doc)
        scores = nlp.evaluate(make_examples(nlp.vocab))
        assert not any("||" in label for label in scores["dep_las_per_type"] or {})


# The same trees whichever way


def test_stored(by_heart: Language, kind: dict[str, Any], tmp_path: Path) -> None:
    """As bytes, on disk, as a component alone, copied and pickled; labels alone before weights."""
    parser, expected = parser_of(by_heart), parses(by_heart)
    by_heart.to_disk(tmp_path)
    assert parses(spacy.load(tmp_path)) == expected
    parser.to_disk(tmp_path / "component")
    pipelines = [make_nlp(**kind) for _ in range(3)]
    pipelines[0].from_bytes(by_heart.to_bytes())
    parser_of(pipelines[1]).from_disk(tmp_path / "component")
    labelled, examples = pipelines[2], make_examples(pipelines[2].vocab, [[5]])  # it has no label
    parser_of(labelled).initialize(lambda: examples, nlp=labelled, labels=parser.label_data)
    assert parser_of(labelled).label_data == parser.label_data
    parser_of(labelled).from_bytes(parser.to_bytes())
    for nlp in pipelines:
        assert parser_of(nlp).to_bytes() == parser.to_bytes()
        assert parser_of(nlp).labels == parser.labels
        assert parses(nlp) == expected
        assert knows_the_trees(nlp)
    for twin in (pickle.loads(pickle.dumps(parser)), copy.deepcopy(parser)):
        assert twin is not parser and twin.labels == parser.labels
        assert [tree(twin(by_heart.make_doc(text))) for text in texts()] == expected
    assert parses(copy.deepcopy(by_heart)) == expected


def test_a_copy_can_be_trained(by_heart: Language) -> None:
    parser = parser_of(by_heart)
    before = parser.to_bytes()
    other = pickle.loads(pickle.dumps(parser))
    sgd = by_heart.create_optimizer()
    assert other.update([unknown(other.vocab)], sgd=sgd)[parser.name] > 1
    assert other.to_bytes() != before
    assert parser.to_bytes() == before


def test_memory_zone(by_heart: Language) -> None:
    gold = gold_doc(by_heart.vocab, [0, 1])
    expected = tree(gold)
    for _ in range(2):
        with by_heart.memory_zone():
            doc = by_heart("She saw the cat . I like London and Berlin .")
            assert tree(doc) == expected
    assert by_heart.vocab.strings[by_heart.vocab.strings["nsubj"]] == "nsubj"
