"""Several parsers made one: they decide together, and the pipeline is like any other."""

from __future__ import annotations

import random
from pathlib import Path

import numpy
import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.pipe.ensemble import merge
from spacy_nmparse.pipe.parser import TransitionParser
from spacy_nmparse.pipe.words import Words
from spacy_nmparse.search import beam
from tests.pipe.common import (
    LISTENER,
    NL,
    NM,
    SWAP,
    TOK2VEC,
    assert_sound,
    bare,
    learn,
    listening_pipeline,
    make_examples,
    make_nlp,
    parsed,
    parser_of,
    random_docs,
    random_parser,
    randomize,
    seal,
    tree,
)

FACTORIES = (NM, NL, SWAP)


def merged(*pipelines: Language) -> Language:
    return merge(pipelines, [parser_of(nlp).name for nlp in pipelines])


def some_docs(nlp: Language) -> list[Doc]:
    return random_docs(nlp.vocab, 1, range(13))


@pytest.mark.parametrize("factory", FACTORIES)
@pytest.mark.parametrize("width", [1, 4])
def test_twins_decide_as_one(factory: str, width: int) -> None:
    nlp = random_parser(1, factory=factory)
    docs = some_docs(nlp)
    nlp.get_pipe(factory).beam_width = width  # type: ignore[attr-defined]
    expected = parsed(nlp, docs)
    members = [random_parser(1, factory=factory) for _ in range(3)]
    members[0].get_pipe(factory).beam_width = width  # type: ignore[attr-defined]
    twins = merged(*members)
    assert twins.get_pipe(factory).beam_width == width  # type: ignore[attr-defined]
    assert parsed(twins, docs) == expected
    best = parser_of(nlp).n_best([bare(docs[3])], 3)[0]
    again = parser_of(twins).n_best([bare(docs[3])], 3)[0]
    assert [one.heads for one in again] == [one.heads for one in best]
    scores = [one.score for one in best]
    assert [one.score for one in again] == pytest.approx(scores, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("factory", FACTORIES)
def test_choices_have_the_mean_of_the_logarithms(factory: str) -> None:
    """In all configurations of a derivation by chance."""
    singles = [random_parser(seed, factory=factory) for seed in (1, 2)]
    together = merged(*(random_parser(seed, factory=factory) for seed in (1, 2)))
    doc = Doc(together.vocab, words=["She", "saw", "the", "new", "cat", "and", "Berlin", "!"])
    parsers = [parser_of(nlp) for nlp in (*singles, together)]
    scored = [parser.score_moves(Words.of([doc])) for parser in parsers]
    rng = random.Random(3)
    system = parsers[-1].system
    state = system.initial(len(doc))
    steps = 0
    while not state.is_final:
        found = [
            beam.probabilities(parser.system, one, 0, state)
            for parser, one in zip(parsers, scored, strict=True)
        ]
        expected = {
            action: numpy.exp((found[0][action][0] + found[1][action][0]) / 2)
            for action in found[0]
        }
        moves = {action.move for action in expected}
        total = sum(expected.values())
        if len(moves) == 1 or all(action.label is None for action in expected):
            for action, share in expected.items():
                assert numpy.exp(found[2][action][0]) == pytest.approx(share / total, abs=1e-4)
        assert sum(numpy.exp(value) for value, _ in found[2].values()) == pytest.approx(1, abs=1e-4)
        action = rng.choice(sorted(expected))
        system.apply(state, action)
        steps += 1
    assert steps >= len(doc)


@pytest.mark.parametrize("factory", FACTORIES)
def test_saved_and_loaded(factory: str, tmp_path: Path) -> None:
    nlp = merged(*(random_parser(seed, factory=factory) for seed in (1, 2)))
    docs = some_docs(nlp)
    expected = parsed(nlp, docs)
    for _, doc in zip(range(4), nlp.pipe(bare(doc) for doc in docs), strict=False):
        assert_sound(doc)
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert parsed(again, docs) == expected
    copy = spacy.blank("xx").from_config(nlp.config)
    copy.from_bytes(nlp.to_bytes())
    assert parsed(copy, docs) == expected
    # one differs from each of its members
    assert any(parsed(random_parser(seed, factory=factory), docs) != expected for seed in (1, 2))


def tagged(example: Example) -> Example:
    """With each word's first letter as its tag."""
    gold = example.reference
    words = [token.text for token in gold]
    annotations = {
        "heads": [token.head.i for token in gold],
        "deps": [token.dep_ for token in gold],
        "tags": ["T" + word[0] for word in words],
    }
    return Example(Doc(gold.vocab, words=words), Doc(gold.vocab, words=words, **annotations))


def test_trained_parsers() -> None:
    """Those that learned tags too, with recurrent layers, on a tok2vec that others share."""
    pipelines = []
    for seed in (1, 2):
        nlp = listening_pipeline(NL, recurrent_width=6, recurrent_depth=2, tag_weight=1.0)
        if seed == 1:
            tagger = {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}
            nlp.add_pipe("tagger", config={"model": tagger})
        numpy.random.seed(seed)
        learn(nlp, [tagged(example) for example in make_examples(nlp.vocab)])
        pipelines.append(nlp)
    gold = [example.reference for example in make_examples(pipelines[0].vocab)]
    tags = [[token.tag_ for token in doc] for doc in pipelines[0].pipe(bare(doc) for doc in gold)]
    assert tags == [["T" + token.text[0] for token in doc] for doc in gold]
    nlp = merged(*pipelines)
    assert nlp.pipe_names == ["tok2vec", "parser", "tagger"]
    docs = list(nlp.pipe(bare(doc) for doc in gold))
    assert [[token.tag_ for token in doc] for doc in docs] == tags
    assert [tree(doc) for doc in docs] == [tree(doc) for doc in gold]


def test_unused_token_vectors_go() -> None:
    pipelines = [listening_pipeline(SWAP) for _ in range(2)]
    for nlp in pipelines:
        nlp.initialize(lambda nlp=nlp: make_examples(nlp.vocab))
    assert merged(*pipelines).pipe_names == ["parser"]


def test_it_does_not_learn() -> None:
    nlp = merged(*(random_parser(seed) for seed in (1, 2)))
    examples = make_examples(nlp.vocab)
    before = nlp.get_pipe(NM).to_bytes()  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="'nm_parser' cannot be trained: an ensemble does not"):
        nlp.update(examples, sgd=nlp.resume_training())
    assert nlp.get_pipe(NM).to_bytes() == before  # type: ignore[attr-defined]


def test_labels_can_be_added() -> None:
    nlp = merged(*(random_parser(seed) for seed in (1, 2)))
    docs = some_docs(nlp)
    expected = parsed(nlp, docs)
    assert parser_of(nlp).add_label("new") == 1
    for member in parser_of(nlp).model.layers:
        member.get_param("label_b")[..., -1] = -100
    assert parsed(nlp, docs) == expected


def test_calibration_and_confidences() -> None:
    nlp = merged(*(random_parser(seed) for seed in (1, 2)))
    parser: TransitionParser = parser_of(nlp)
    parser.calibrate(make_examples(nlp.vocab))
    parser.confidence = True
    (doc,) = nlp.pipe([Doc(nlp.vocab, words=["She", "saw", "Berlin"])])
    assert all(0 < token._.head_confidence <= 1 for token in doc)


@pytest.mark.parametrize("listening", [False, True])
def test_static_vectors(listening: bool) -> None:
    """The members look words up in one table, so they must have learned with that one."""

    def pipeline(seed: int, table: int) -> Language:
        nlp = spacy.blank("xx")
        rng = numpy.random.RandomState(table)
        for word in ("cat", "saw"):
            nlp.vocab.set_vector(word, rng.uniform(-1, 1, 4).astype("f"))
        tok2vec = {**TOK2VEC, "pretrained_vectors": True}
        if listening:
            nlp.add_pipe("tok2vec", config={"model": tok2vec})
        nlp.add_pipe(NM, config={"model": {"tok2vec": LISTENER if listening else tok2vec}})
        nlp.initialize(lambda: make_examples(nlp.vocab))
        for _, pipe in nlp.pipeline:
            randomize(pipe.model, seed)  # type: ignore[attr-defined]
        return nlp

    pipelines = [pipeline(1, table=1), pipeline(2, table=2)]
    names = [nlp.pipe_names for nlp in pipelines]
    with pytest.raises(ValueError, match="in another table"):
        merged(*pipelines)
    assert [nlp.pipe_names for nlp in pipelines] == names
    docs = some_docs(pipelines[0])
    expected = parsed(pipeline(1, table=1), docs)
    assert parsed(merged(pipelines[0], pipeline(1, table=1)), docs) == expected


def test_errors() -> None:
    def fails(match: str, *pipelines: Language) -> None:
        configs = [nlp.config.to_str() for nlp in pipelines]
        with pytest.raises(ValueError, match=match):
            merged(*pipelines)
        assert [nlp.config.to_str() for nlp in pipelines] == configs

    fails("at least two", random_parser(1))
    fails("their systems", random_parser(1), random_parser(1, factory=SWAP))
    other = random_parser(1)
    parser_of(other).cfg["projectivize"] = False
    fails("projectivize", random_parser(1), other)
    other = random_parser(1)
    parser_of(other).add_label("new")
    fails("their labels", random_parser(1), other)
    fails("is not trained", random_parser(1), make_nlp())
    twins = merged(random_parser(1), random_parser(2))
    fails("ensemble already", random_parser(1), twins)
    with pytest.raises(ValueError, match="none named 'tagger'"):
        merge([random_parser(1), random_parser(2)], [NM, "tagger"])
    with pytest.raises(ValueError, match="there must be a member"):
        spacy.registry.architectures.get("spacy_nmparse.Ensemble.v1")()
    with pytest.raises(ValueError, match="members are scorers that learn by gradients"):
        parser = parser_of(random_parser(1))
        spacy.registry.architectures.get("spacy_nmparse.Ensemble.v1")(
            parser.model.get_ref("tok2vec")
        )


def test_damaged_bytes_change_nothing() -> None:
    nlp = merged(*(random_parser(seed) for seed in (1, 2)))
    docs = some_docs(nlp)
    expected = parsed(nlp, docs)
    other = merged(*(random_parser(seed) for seed in (3, 4)))
    parser = parser_of(other)
    parts = srsly.msgpack_loads(parser.to_bytes())
    parts["model"] = parts["model"][:-20]
    seal(parts)
    with pytest.raises(ValueError, match="the model is damaged"):
        parser_of(nlp).from_bytes(srsly.msgpack_dumps(parts))
    assert parsed(nlp, docs) == expected
    randomize(parser.model, 7)
    parser_of(nlp).from_bytes(parser.to_bytes())
    assert parsed(nlp, docs) == parsed(other, docs)


def test_ensembles_write_tags() -> None:
    """Where all members have learned the same ones."""
    pipelines = []
    for seed in (1, 2):
        nlp = make_nlp(factory=NL, write_tags=True)
        examples = [tagged(example) for example in make_examples(nlp.vocab)]
        for example in examples:
            for token in example.reference:
                token.pos_ = "NOUN" if token.text[0].islower() else "PROPN"
        nlp.initialize(lambda examples=examples: examples)
        randomize(parser_of(nlp).model, seed)
        pipelines.append(nlp)
    text = "She saw the cat ."
    readings = parser_of(pipelines[0])._learned.tags.readings
    assert readings is not None
    words = [Words.of([nlp.make_doc(text)]) for nlp in pipelines]
    scored = [
        parser_of(nlp).score_moves(one, with_tags=True)
        for nlp, one in zip(pipelines, words, strict=True)
    ]
    scores = sum(one.tag_scores for one in scored if one is not None)
    triples = parser_of(pipelines[0]).label_data["tag_triples"]
    nlp = merge(pipelines, [NL, NL])
    assert [[token.pos_, token.tag_] for token in nlp(text)] == [
        triples[best][:2] for best in (scores @ readings.T).argmax(axis=1)
    ]
    others = [make_nlp(factory=NL, write_tags=write) for write in (True, False)]
    others[0].initialize(lambda: examples)
    others[1].initialize(lambda: make_examples(others[1].vocab))
    with pytest.raises(ValueError, match="cannot write tags together"):
        merge(others, [NL, NL])
