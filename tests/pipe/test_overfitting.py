"""A parser that is trained on a few trees gives them back, however it is stored and called."""

from __future__ import annotations

import copy
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc, DocBin

from spacy_nmparse.scorers.state_scorer import DEFAULT_FEATURES
from tests.pipe.common import (
    DOCUMENTS,
    TREES,
    assert_edges,
    assert_sound,
    bare,
    gold_doc,
    learn,
    make_examples,
    make_nlp,
    model_config,
    overfitted,
    random_doc,
    random_parser,
    train,
    tree,
    unknown,
)

BOTH = ("nonmonotonic_left", "nonmonotonic_reduce")
REPAIRS = ("right_lower", "right_raise", "left_invert")


def texts(count: int = 30) -> list[str]:
    rng = random.Random(5)
    found = [" ".join(TREES[n][0] for n in trees) for trees in DOCUMENTS]
    while len(found) < count:
        words = " ".join(rng.choice(TREES)[0] for _ in range(rng.randint(0, 4))).split()
        rng.shuffle(words)
        found.append("  ".join(words))
    return found


@pytest.mark.parametrize("number", range(len(DOCUMENTS)))
def test_overfitting(trained: Language, number: int) -> None:
    gold = gold_doc(trained.vocab, DOCUMENTS[number])
    doc = trained(bare(gold))
    assert tree(doc) == tree(gold)
    assert [sent.text.strip() for sent in doc.sents] == [TREES[n][0] for n in DOCUMENTS[number]]
    assert_sound(doc)
    assert_edges(doc)


@pytest.mark.parametrize(
    "options",
    [
        {"nonmonotonic_left": False, "nonmonotonic_reduce": False},
        {"nonmonotonic_left": True, "nonmonotonic_reduce": False},
        {"nonmonotonic_left": False, "nonmonotonic_reduce": True},
        {"nonmonotonic_left": True, "nonmonotonic_reduce": True, "labelled_reduce": True},
        {"nonmonotonic_left": True, "nonmonotonic_reduce": False, "unshift": True},
        {**dict.fromkeys(BOTH, True), "labelled_reduce": True, "push": "shift"},
    ],
)
def test_overfitting_of_other_systems(options: dict[str, Any]) -> None:
    system = {"@misc": "spacy_nmparse.ArcEager.v1", **options}
    dynamic = {"labelled_reduce", "repairs", "unshift", "push"} & set(options)
    nlp = overfitted(system=system, oracle="dynamic" if dynamic else "static")
    created = nlp.get_pipe("nm_parser").system.options
    assert {key: created[key] for key in options} == options
    for trees in DOCUMENTS:
        gold = gold_doc(nlp.vocab, trees)
        assert tree(nlp(bare(gold))) == tree(gold)


def test_repairs_are_learned(tmp_path: Path) -> None:
    """Their scores get gradients, and the words that they concern are looked at."""
    options = {"@misc": "spacy_nmparse.ArcEager.v1", **dict.fromkeys(BOTH, True)}
    nlp = overfitted(system={**options, "repairs": REPAIRS}, oracle="combined")
    parser = nlp.get_pipe("nm_parser")
    features = parser.model.attrs["features"]
    assert {"S0.h", "S0.l1", "S1.r2", "S0.h.h"} <= set(features)
    scores = dict(zip(parser.system.moves, parser.model.get_param("move_W"), strict=True))
    for move in ("RIGHT-LOWER", "RIGHT-RAISE", "LEFT-INVERT"):
        assert abs(scores[move]).max() > 0
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert again.get_pipe("nm_parser").system.options["repairs"] == REPAIRS
    for trees in DOCUMENTS:
        gold = gold_doc(nlp.vocab, trees)
        assert tree(again(bare(gold))) == tree(nlp(bare(gold))) == tree(gold)


def test_models_without_repairs_are_what_they_were() -> None:
    """Neither their features nor the options that they remember change with what others have."""
    parser = make_nlp().get_pipe("nm_parser")
    assert tuple(parser.model.attrs["features"]) == DEFAULT_FEATURES
    assert set(parser.system_spec.options) == {*BOTH, "labelled_reduce"}
    assert parser.system_spec.create(None, segment=True).moves == (
        "SHIFT",
        "REDUCE",
        "LEFT-ARC",
        "RIGHT-ARC",
        "BREAK",
    )


def test_overfitting_with_other_scorers() -> None:
    for options in (
        {"maxout_pieces": 1},
        {"maxout_pieces": 3, "features": ["S0", "B0", "S1", "S0.l1", "S0.label"]},
    ):
        nlp = overfitted(model=model_config(**options))
        gold = gold_doc(nlp.vocab, [0, 1])
        assert tree(nlp(bare(gold))) == tree(gold)


def test_what_cannot_be_learned_is_no_success() -> None:
    """``learn`` of tests/pipe/common.py, which most tests of training rely on, can fail."""
    nlp = make_nlp()
    examples = [*make_examples(nlp.vocab, [[0]]), unknown(nlp.vocab)]
    with pytest.raises(AssertionError, match="not learned"):
        learn(nlp, examples, sgd=nlp.initialize(lambda: make_examples(nlp.vocab)))


@pytest.mark.parametrize("explore", [0.0, 0.5])
def test_the_loss_falls(explore: float) -> None:
    nlp = make_nlp(explore=explore)
    examples = make_examples(nlp.vocab)
    sgd = nlp.initialize(lambda: examples)
    first = nlp.update(examples, sgd=sgd)["nm_parser"]
    assert train(nlp, examples, sgd=sgd, steps=60) < first / 10


def test_scores_of_what_was_learned(trained: Language) -> None:
    scores = trained.evaluate(make_examples(trained.vocab))
    for key in ("dep_uas", "dep_las", "sents_f", "dep_las_conll", "dep_exact", "nonproj_r"):
        assert scores[key] == 1.0, key
    assert set(scores["dep_las_per_type"]) == {
        label.lower() for _, _, deps in TREES for label in deps.split() if label != "punct"
    }


def test_labels_of_lifted_arcs_are_never_seen(trained: Language) -> None:
    parser = trained.get_pipe("nm_parser")
    assert any("||" in label for label in parser.label_data["labels"]), "nothing was lifted"
    assert not any("||" in label for label in parser.labels)
    assert set(parser.labels) == {"dep", *" ".join(deps for _, _, deps in TREES).split()}
    for seed in range(3):  # a parser of random weights predicts them everywhere
        nlp = random_parser(seed)
        docs = list(nlp.pipe(texts()))
        assert not any("||" in token.dep_ for doc in docs for token in doc)
        for example, doc in zip(make_examples(nlp.vocab), docs, strict=False):
            example.predicted = nlp(bare(example.reference))
            scores = nlp.get_pipe("nm_parser").score([example])
            assert not any("||" in label for label in scores["dep_las_per_type"] or {})
            assert_sound(doc)


def test_without_lifting_crossing_arcs_are_not_found() -> None:
    nlp = overfitted(projectivize=False)
    parser = nlp.get_pipe("nm_parser")
    assert not any("||" in label for label in parser.label_data["labels"])
    projective, crossing = gold_doc(nlp.vocab, [1]), gold_doc(nlp.vocab, [2])
    assert tree(nlp(bare(projective))) == tree(projective)
    doc = nlp(bare(crossing))
    assert doc[4].head.i != crossing[4].head.i
    assert_sound(doc)


# The same trees whichever way


@pytest.mark.parametrize("batch_size", [1, 2, 7, 1000])
def test_batch_size(trained: Language, batch_size: int) -> None:
    for nlp in (trained, random_parser(1)):
        expected = [tree(nlp(text)) for text in texts()]
        assert len({str(t) for t in expected}) > 10
        assert [tree(doc) for doc in nlp.pipe(texts(), batch_size=batch_size)] == expected
        parser = nlp.get_pipe("nm_parser")
        docs = [nlp.make_doc(text) for text in texts()]
        assert [tree(doc) for doc in parser.pipe(docs, batch_size=batch_size)] == expected


def test_two_processes(trained: Language) -> None:
    expected = [tree(doc) for doc in trained.pipe(texts())]
    docs = trained.pipe(texts(), n_process=2, batch_size=4)
    assert [tree(doc) for doc in docs] == expected


def test_parsing_twice_changes_nothing(trained: Language) -> None:
    for nlp in (trained, random_parser(2)):
        for text in texts():
            doc = nlp(text)
            expected = tree(doc)
            assert tree(nlp.get_pipe("nm_parser")(doc)) == expected


def test_bytes(trained: Language) -> None:
    nlp = make_nlp()
    nlp.from_bytes(trained.to_bytes())
    assert nlp.get_pipe("nm_parser").labels == trained.get_pipe("nm_parser").labels
    assert nlp.get_pipe("nm_parser").to_bytes() == trained.get_pipe("nm_parser").to_bytes()
    assert [tree(nlp(text)) for text in texts()] == [tree(trained(text)) for text in texts()]


def test_disk(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path)
    nlp = spacy.load(tmp_path)
    assert [tree(nlp(text)) for text in texts()] == [tree(trained(text)) for text in texts()]
    component = tmp_path / "component"
    trained.get_pipe("nm_parser").to_disk(component)
    other = make_nlp()
    other.get_pipe("nm_parser").from_disk(component)
    assert [tree(other(text)) for text in texts()] == [tree(trained(text)) for text in texts()]


def test_pickle_and_deepcopy(trained: Language) -> None:
    parser = trained.get_pipe("nm_parser")
    for other in (pickle.loads(pickle.dumps(parser)), copy.deepcopy(parser)):
        assert other is not parser and other.labels == parser.labels
        for text in texts():
            assert tree(other(trained.make_doc(text))) == tree(trained(text))
    nlp = copy.deepcopy(trained)
    assert [tree(nlp(text)) for text in texts()] == [tree(trained(text)) for text in texts()]


def test_a_copy_can_be_trained(trained: Language) -> None:
    parser = trained.get_pipe("nm_parser")
    before = parser.to_bytes()
    other = pickle.loads(pickle.dumps(parser))
    sgd = trained.create_optimizer()
    assert other.update([unknown(other.vocab)], sgd=sgd)["nm_parser"] > 1
    assert other.to_bytes() != before
    assert parser.to_bytes() == before


def test_labels_restore_a_pipeline_without_examples(trained: Language) -> None:
    data = trained.get_pipe("nm_parser").label_data
    nlp = make_nlp()
    parser = nlp.get_pipe("nm_parser")
    examples = make_examples(nlp.vocab, [[5]])  # one word: no label at all
    parser.initialize(lambda: examples, nlp=nlp, labels=data)
    assert parser.label_data == data
    parser.from_bytes(trained.get_pipe("nm_parser").to_bytes())
    gold = gold_doc(nlp.vocab, [2, 4, 3])
    assert tree(nlp(bare(gold))) == tree(gold)


def test_memory_zone(trained: Language) -> None:
    gold = gold_doc(trained.vocab, [0, 1])
    expected = tree(gold)
    for _ in range(2):
        with trained.memory_zone():
            doc = trained("She saw the cat . I like London and Berlin .")
            assert tree(doc) == expected
    assert trained.vocab.strings[trained.vocab.strings["nsubj"]] == "nsubj"


def test_docs_of_another_vocab(trained: Language) -> None:
    vocab = spacy.blank("xx").vocab
    gold = gold_doc(trained.vocab, [0])
    doc = Doc(vocab, words=[token.text for token in gold])
    parsed = trained.get_pipe("nm_parser")(doc)
    assert tree(parsed) == tree(gold)


def test_doc_bin_keeps_parses(trained: Language) -> None:
    rng = random.Random(2)
    for nlp in (trained, random_parser(3)):
        docs = [nlp(random_doc(nlp.vocab, rng, rng.randint(0, 30))) for _ in range(50)]
        stored = DocBin(docs=docs).to_bytes()
        for doc, read in zip(docs, DocBin().from_bytes(stored).get_docs(nlp.vocab), strict=True):
            assert tree(read) == tree(doc)


def test_scores_with_spacys_scorer(trained: Language) -> None:
    examples = make_examples(trained.vocab)
    for example in examples:
        example.predicted = trained(example.predicted)
    scores = Scorer.score_deps(
        examples, "dep", getter=lambda token, attr: getattr(token, attr + "_")
    )
    assert scores["dep_las"] == 1.0
