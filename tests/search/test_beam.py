"""Beam search against greedy search and against the enumeration of all sequences of moves."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy
import pytest
from spacy.tokens import Doc

from spacy_nmparse.analysis.tracer import Tracer
from spacy_nmparse.lab.probabilities import probabilities
from spacy_nmparse.pipe.doc_io import parsed_tokens
from spacy_nmparse.scorers.shared import ScorerInput
from spacy_nmparse.search import beam, greedy
from spacy_nmparse.systems import Gold
from tests.pipe.common import (
    SYSTEMS,
    assert_sound,
    assert_starts_kept,
    bare,
    make_examples,
    make_nlp,
    parser_of,
    random_doc,
    random_parser,
    randomize,
    tree,
)

WIDE = 3000


def make(name: str, seed: int = 0) -> Any:
    return parser_of(random_parser(seed, **SYSTEMS[name], projectivize=False))


def flat(parser: Any, docs: Sequence[Doc]) -> tuple[Any, list[int], numpy.ndarray]:
    words = [parsed_tokens([doc])[:2] for doc in docs]
    lengths = [len(tokens) for tokens, _ in words]
    stretches: list[int] = []
    for tokens, constraints in words:
        starts = [0, *numpy.nonzero(constraints == 1)[0].tolist(), len(tokens)]
        stretches += numpy.diff(starts).tolist()
    scored = parser.model.predict(ScorerInput(docs, None, numpy.asarray(stretches, "int32")))
    return scored, lengths, numpy.concatenate([constraints for _, constraints in words])


def some_docs(parser: Any, lengths: Sequence[int], preset: float, seed: int = 0) -> list[Doc]:
    rng = random.Random(seed)
    docs = []
    for length in lengths:
        words = [t.text for t in random_doc(parser.vocab, rng, length, space=0.0)]
        starts = [rng.choice([1, -1]) if rng.random() < preset else 0 for _ in words]
        docs.append(Doc(parser.vocab, words=words, sent_starts=starts))
    return docs


def same(one: Sequence[numpy.ndarray], other: Sequence[numpy.ndarray]) -> bool:
    return all((a == b).all() for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_width_of_one_is_greedy(name: str, seed: int) -> None:
    parser = make(name, seed)
    if seed:  # many words are attached with little doubt, and yet sentences end
        randomize(parser.model, seed, 0.15)
    docs = some_docs(parser, [1, 2, 5, 20, 60, 300, 3, 600, 31], 0.1, seed)
    docs += some_docs(parser, [40, 1, 300, 30], 0.0, seed)
    inputs = flat(parser, docs)
    sure, found = (numpy.zeros((2, sum(inputs[1])), "float32") for _ in range(2))
    expected = greedy.parse(parser.system, *inputs, sure)
    assert len(set(expected[0].tolist())) > 20
    for reach in (5, 60, beam.REACH, 10000):
        assert same(beam.parse(parser.system, *inputs, 1, reach, found), expected), reach
        assert (found == sure).all()


def sequences(
    parser: Any, scored: Any, offset: int, n: int, constraints: Sequence[int]
) -> dict[Any, float]:
    """The score of the best sequence of moves to each tree."""
    best: dict[Any, float] = {}

    def go_on(state: Any, score: float) -> None:
        if state.is_final:
            # Final configurations of list systems: completed by the scorer.
            heads = tuple(state.heads)
            key = (heads, tuple(state.labels), tuple(map(bool, state.sent_starts)))
            best[key] = max(best.get(key, -1e9), score)
            return
        found = probabilities(parser.system, scored, offset, state)
        assert sum(numpy.exp(p) for p, _ in found.values()) == pytest.approx(1, abs=1e-4)
        assert set(found) == set(parser.system.actions(state))
        for action, (p, noted) in found.items():
            after = state.copy()
            parser.system.apply(after, action, push_label=noted)
            go_on(after, score + p)

    go_on(parser.system.initial(n, sent_starts=list(constraints)), 0.0)
    return best


def few_labels(
    name: str, seed: int, starts: Sequence[int], scale: float = 0.3
) -> tuple[Any, Any, list[int], numpy.ndarray]:
    """A parser that chooses between two labels, and what it searches a document with."""
    nlp = make_nlp(**SYSTEMS[name], projectivize=False)
    parser = parser_of(nlp)
    labels = {"labels": ["ROOT", "a", "dep"]}
    parser.initialize(lambda: make_examples(nlp.vocab), nlp=nlp, labels=labels)
    randomize(parser.model, seed, scale)
    words = [token.text for token in some_docs(parser, [len(starts)], 0, seed)[0]]
    return parser, *flat(parser, [Doc(parser.vocab, words=words, sent_starts=[*starts])])


@pytest.mark.parametrize(
    ("name", "length"),
    [
        *((name, 2) for name in SYSTEMS),
        *((name, 3) for name in ("arc-eager", "monotonic", "labelled reduce", "arc-standard")),
    ],
)
@pytest.mark.parametrize("preset", [0, -1])
def test_a_wide_beam_finds_everything(name: str, length: int, preset: int) -> None:
    """Where the beam has room for all sequences of moves, it has all trees, in order."""
    starts = [0] + [preset] * (length - 1)
    for seed in range(2):
        parser, scored, lengths, constraints = few_labels(name, seed, starts)
        expected = sequences(parser, scored, 0, length, starts)
        (found,) = beam.n_best(parser.system, scored, lengths, constraints, 1, WIDE)
        assert 1 < len(expected) < WIDE
        scores = [score for score, *_ in found]
        assert scores == sorted(scores, reverse=True)
        assert scores[0] == pytest.approx(max(expected.values()), abs=1e-4)
        width = beam.parse(parser.system, scored, lengths, constraints, WIDE)
        assert same(width, found[0][1:])
        if None in {head for heads, *_ in expected for head in heads}:
            continue  # completed by the search alone
        names = parser.system.labels
        trees = {
            (tuple(heads), tuple(names[label] for label in labels), (True, *map(bool, rest))): score
            for score, heads, labels, (_, *rest) in (
                (score, *(array.tolist() for array in arrays)) for score, *arrays in found
            )
        }
        assert trees.keys() == expected.keys()
        assert all(trees[tree] == pytest.approx(expected[tree], abs=1e-4) for tree in trees)


def search_with_gap(parser: Any, scored: Any, n: int, starts: Sequence[int], gap: float) -> Any:
    """The best final configuration where the others are given up that fall behind."""
    live = [(0.0, parser.system.initial(n, sent_starts=list(starts)))]
    while not live[0][1].is_final:
        after = [one for one in live if one[1].is_final]
        for score, state in live:
            if not state.is_final:
                for action, (p, noted) in probabilities(parser.system, scored, 0, state).items():
                    copy = state.copy()
                    parser.system.apply(copy, action, push_label=noted)
                    after.append((score + p, copy))
        after.sort(key=lambda one: -one[0])
        live = [one for one in after if one[0] >= after[0][0] - gap]
    return live[0][1]


@pytest.mark.parametrize("name", ["arc-eager", "swap", "arc-standard"])
def test_hypotheses_that_fall_behind_are_given_up(name: str) -> None:
    starts = [0, -1, -1, -1]
    changed = 0
    for seed in range(6):
        parser, scored, lengths, constraints = few_labels(name, seed, starts, 0.05)
        whole = beam.parse(parser.system, scored, lengths, constraints, WIDE)
        for gap in (0.05, 0.3, 1.0):
            found = beam.parse(parser.system, scored, lengths, constraints, WIDE, gap=gap)
            changed += not same(found, whole)
            best = search_with_gap(parser, scored, 4, starts, gap)
            assert found[0].tolist() == best.heads
            assert [parser.system.labels[label] for label in found[1]] == best.labels
    assert changed > 3


@pytest.mark.parametrize("name", ["arc-eager", "swap", "arc-standard"])
def test_scores_of_sentences_add_up(name: str) -> None:
    """What is settled at a sentence start has the scores of the moves before it, and no others."""
    starts = [0, -1, 1, -1]
    for seed in range(2):
        parser, scored, lengths, constraints = few_labels(name, seed, starts)
        expected = sequences(parser, scored, 0, 4, starts)
        (found,) = beam.n_best(parser.system, scored, lengths, constraints, 1, WIDE)
        scores = [score for score, *_ in found][:3]
        assert scores == pytest.approx(sorted(expected.values())[:-4:-1], abs=1e-4)


@pytest.mark.parametrize("name", ["arc-eager", "swap", "arc-standard"])
def test_a_wider_beam_finds_better_trees(name: str) -> None:
    parser = make(name)
    randomize(parser.model, 0, 0.2)  # less sure of everything
    docs = [flat(parser, [doc]) for doc in some_docs(parser, [25] * 20, 0)]
    totals = [
        sum(beam.n_best(parser.system, *doc, width, 1)[0][0][0] for doc in docs)
        for width in (1, 4, 16)
    ]
    assert totals[0] + 1 < totals[1] <= totals[2], totals
    (doc,) = some_docs(parser, [300], 0)
    parser.beam_width = 4
    wide = tree(parser(bare(doc)))
    parser.beam_width = 1
    assert tree(parser(bare(doc))) != wide
    with pytest.raises(ValueError, match="at least 1"):
        parser.n_best([doc], 0)


@pytest.mark.parametrize("name", ["arc-eager", "monotonic", "swap", "covington"])
def test_windows_and_batches_change_nothing(name: str) -> None:
    """Texts are searched through in windows; what is settled is settled for good."""
    parser = make(name, 1)
    randomize(parser.model, 1, 0.25)
    docs = some_docs(parser, [3, 200, 1, 400, 10], 0.1)
    inputs = flat(parser, docs)
    whole = beam.parse(parser.system, *inputs, 4, 10000)
    parts = beam.search_parts(parser.system, *inputs, 4, 1, 30)
    assert sum(len(one) for one in parts) > 12
    assert parts[3][1][0] < 100
    found = beam.parse(parser.system, *inputs, 4, 30)
    agreement = [(a == b).mean() for a, b in zip(whole, found, strict=True)]
    assert min(agreement) > 0.95, agreement
    offset = 0
    for doc in docs:
        alone = beam.parse(parser.system, *flat(parser, [doc]), 4, 30)
        assert same(alone, [array[offset : offset + len(doc)] for array in found])
        offset += len(doc)


@pytest.mark.parametrize("name", SYSTEMS)
def test_trees_of_documents(name: str) -> None:
    """Sound trees, preset sentence starts kept; the best of n_best is the parse."""
    nlp = random_parser(3, **SYSTEMS[name], beam_width=3)
    parser = parser_of(nlp)
    rng = random.Random(0)
    docs = [random_doc(nlp.vocab, rng, n) for n in (0, 1, 2, 12, 30, 90)]
    for doc in docs:
        for token in doc:
            token.is_sent_start = rng.choice([None, None, None, False, True])
    preset = [[doc[i].is_sent_start for i in range(len(doc))] for doc in docs]
    trees = parser.n_best(docs, 3)
    assert [[t.is_sent_start for t in doc] for doc in docs] == preset
    parsed = [parser(doc.copy()) for doc in docs]
    assert [len(found) for found in trees][:1] == [1]
    assert 1 < len(trees[-1]) <= 3
    for doc, found, starts in zip(parsed, trees, preset, strict=True):
        assert_sound(doc)
        assert_starts_kept(doc, [{None: 0, True: 1, False: -1}[start] for start in starts])
        scores = [one.score for one in found]
        assert scores == sorted(scores, reverse=True) and max(scores) <= 0
        assert len({(*one.heads, *one.labels, *one.sent_starts) for one in found}) == len(found)
        assert found[0].heads == [token.head.i for token in doc]
        assert found[0].labels == [token.dep_ for token in doc]
        assert found[0].sent_starts == [bool(token.is_sent_start) for token in doc]
        for one in found:
            copy = Doc(doc.vocab, words=[t.text for t in doc], heads=one.heads, deps=one.labels)
            assert [bool(t.is_sent_start) for t in copy] == one.sent_starts


def test_arguments_of_another_batch() -> None:
    parser, other = make("arc-eager"), make("labelled reduce")
    scored, lengths, constraints = flat(parser, some_docs(parser, [3, 2], 0.0))
    golds = [Gold([0] * n) for n in (2, 3)]
    right = {"system": parser.system, "lengths": lengths, "fixed": constraints, "given": None}
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("scores are those of moves of", {"system": other.system}),
        ("3 words in all and 5 constraints", {"lengths": [3]}),
        ("5 words in all and 4 constraints", {"fixed": constraints[:4]}),
        ("at least 1 word, not 0", {"lengths": [5, 0]}),
        ("at least 1 word, not -1", {"lengths": [6, -1]}),
        ("constraint of word 0 is 1, 0 or -1, not 5", {"fixed": constraints + 5}),
        ("2 sequences but 1 given trees", {"given": golds[:1]}),
        ("sequence 0 has 2 words, the sequence 3", {"given": golds}),
    ]
    for message, changed in wrong:
        system, numbers, fixed, given = (right | changed).values()
        for search, more in ((greedy.parse, ()), (beam.parse, (2,)), (beam.n_best, (2, 1))):
            with pytest.raises(ValueError, match=message):
                search(system, scored, numbers, fixed, *more, given=given)
    batch = (parser.system, scored, lengths, constraints)
    for shape in ((1, 5), (2, 4), (2, 6)):
        room = numpy.zeros(shape, "float32")
        for search, more in ((greedy.parse, ()), (beam.parse, (2,))):
            with pytest.raises(ValueError, match=r"have the shape \(2, 5\)"):
                search(*batch, *more, probabilities=room)
    with pytest.raises(ValueError, match="at least 1 word, not 0"):
        beam.parse(*batch, 2, reach=0)


def test_a_configuration_of_another_document() -> None:
    parser, other = make("arc-eager"), make("labelled reduce")
    scored, _, _ = flat(parser, some_docs(parser, [3], 0.0))
    state = parser.system.initial(3)
    assert probabilities(parser.system, scored, 0, state)
    for system, offset, strange, message in (
        (parser.system, 1, state, "3 words from word 1 on .* 3 words"),
        (parser.system, -1, state, "word -1 on"),
        (parser.system, 0, parser.system.initial(4), "4 words from word 0 on"),
        (parser.system, 0, other.system.initial(3), "is none of"),
        (other.system, 0, state, "scores are those of moves of"),
    ):
        with pytest.raises(ValueError, match=message):
            probabilities(system, scored, offset, strange)
        if not offset:
            with pytest.raises(ValueError, match=r"scores are those|is none of|4 words"):
                Tracer(system, scored, 3).moves(strange)
    with pytest.raises(ValueError, match="scores are those of 3 words, not of 2"):
        Tracer(parser.system, scored, 2)
