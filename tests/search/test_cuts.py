"""Where long sentences are cut, against a plain second implementation."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy
import pytest
from spacy.tokens import Doc

from spacy_nmparse.pipe.words import Words
from spacy_nmparse.search import cuts
from spacy_nmparse.systems import Gold
from tests.pipe.common import (
    SYSTEMS,
    TWO_PLANAR,
    assert_sound,
    assert_starts_kept,
    bare,
    parser_of,
    random_doc,
    random_parser,
    randomize,
    ready,
    tree,
)
from tests.pipe.test_confidence import Way

KINDS = {**SYSTEMS, "two planar": TWO_PLANAR}


def found_cut(way: Way, most: int) -> tuple[int, int] | None:
    """The first too long sentence's start, and where in its last half BREAK was likeliest, or n."""
    start, best = 0, (-1.0, way.n)
    while True:
        state = way.state
        unread = [word for word in state.buffer[len(state.returned) :] if word >= 0]
        last = last_start(way)
        if unread and unread[0] == last > start:
            start, best = last, (-1.0, way.n)
        if (last if last > start else unread[0] if unread else way.n) - start > most:
            return start, best[1]
        if state.is_final:
            return None
        actions = list(way.actions())
        share = way.moves.get(("BREAK", 1), -1.0)
        if share > best[0]:
            end = last_start(way.follow(next(one for one in actions if one.move == "BREAK")))
            if most < 2 * (end - start) <= 2 * most:
                best = share, end
        way = way.follow(actions[0])


def last_start(way: Way) -> int:
    return max(word for word, starts in enumerate(way.state.sent_starts) if starts)


def naive_cuts(parser: Any, scored: Any, starts: list[int], most: int) -> list[int]:
    """Begin again with each cut."""
    n = len(starts)
    starts = [0, *starts[1:]]
    while found := found_cut(Way(parser, scored, n, starts), most):
        start, word = found
        while word == n:  # BREAK was never legal
            word = next(one for one in range(start + most, n + 1) if one == n or starts[one] != -1)
            if word == n or starts[word] == 1:
                return starts
        starts[word] = 1
    return starts


@pytest.mark.parametrize("name", KINDS)
def test_cuts(name: str) -> None:
    parser = parser_of(random_parser(1, **{**KINDS[name], "projectivize": False}))
    rng, n_cuts = random.Random(1), 0
    for seed, n, most in ((1, 30, 9), (2, 30, 4), (3, 25, 12), (4, 12, 1), (5, 30, 7), (6, 30, 7)):
        randomize(parser.model, seed, 0.3)
        doc = random_doc(parser.vocab, rng, n, space=0)
        scored = parser.score_moves(Words.of([doc]))
        starts = [0] * n
        expected = naive_cuts(parser, scored, starts, most)
        fixed = cuts.cut(parser.system, scored, [n], numpy.asarray(starts, "int8"), most)
        assert fixed.tolist() == expected
        n_cuts += sum(expected)
    assert n_cuts >= 5


def longest(doc: Doc) -> int:
    words = ([token for token in sentence if not token.is_space] for sentence in doc.sents)
    return max(map(len, words), default=0)


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("name", KINDS)
def test_no_sentence_is_longer(name: str, width: int, recwarn: pytest.WarningsRecorder) -> None:
    """Unless it is given. Documents without longer ones are parsed as ever, whatever else is in
    the batch."""
    nlp, examples, sgd = ready(**KINDS[name], beam_width=width, max_sentence=0)
    nlp.update(examples, sgd=sgd)
    parser = parser_of(nlp)
    n_long = 0
    for seed in (2, 3):
        randomize(parser.model, seed, 0.15)
        rng = random.Random(2)
        docs = [random_doc(nlp.vocab, rng, n) for n in (0, 3, 9, 30, 30, 60, 200)]
        parser.max_sentence = 0
        expected = list(nlp.pipe(map(bare, docs)))
        parser.max_sentence = 8
        for doc, other in zip(nlp.pipe(docs), expected, strict=True):
            assert_sound(doc)
            assert longest(doc) <= 8
            assert longest(other) > 8 or tree(doc) == tree(other)
            n_long += longest(other) > 8
        for trees in parser.n_best([random_doc(nlp.vocab, rng, 40, space=0)], 3):
            for one in trees:
                starts = [i for i, starts in enumerate(one.sent_starts) if starts]
                assert max(b - a for a, b in itertools.pairwise([*starts, 40])) <= 8
    said = [str(one.message) for one in recwarn if "max_sentence = 8 words" in str(one.message)]
    assert len(said) <= 1 and (said or not n_long)
    starts = [1] + [-1] * 29 + [0] * 5 + [1, -1] + [0] * 23
    doc = Doc(nlp.vocab, [rng.choice(["She", "saw", "cat"]) for _ in starts], sent_starts=starts)
    assert_starts_kept(nlp(doc), starts)
    assert [len(sentence) > 8 for sentence in doc.sents].count(True) == 1


def test_cuts_leave_what_is_given() -> None:
    parser = parser_of(random_parser(2))
    doc = random_doc(parser.vocab, random.Random(0), 20, space=0)
    scored = parser.score_moves(Words.of([doc, doc]))
    free = numpy.zeros(40, dtype="int8")
    gold = Gold([None] * 20, None, [True] + [None] * 19)
    fixed = cuts.cut(parser.system, scored, [20, 20], free, 3, given=[gold, None])
    assert not fixed[:20].any() and fixed[20:].any()
    fixed = cuts.cut(parser.system, scored, [20, 20], free, 3, often=True, only=[0])
    assert fixed[:20].any() and not fixed[20:].any()
    inside = numpy.asarray(([0] + [-1] * 19) * 2, dtype="int8")
    fixed = cuts.cut(parser.system, scored, [20, 20], inside, 3)
    assert (fixed == inside).all()


def test_a_cut_is_said_once(recwarn: pytest.WarningsRecorder) -> None:
    """And not of a parser that has learned nothing so far."""
    nlp, examples, sgd = ready(max_sentence=4)
    parser = parser_of(nlp)
    for said in (0, 1):
        randomize(parser.model, 2)
        for _ in range(3):
            parser(random_doc(parser.vocab, random.Random(0), 60, space=0))
        assert len([one for one in recwarn if "max_sentence" in str(one.message)]) == said
        nlp.update(examples, sgd=sgd)
