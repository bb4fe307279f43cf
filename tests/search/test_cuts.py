"""Where long sentences are cut, against a plain second implementation."""

from __future__ import annotations

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
        fixed, n_found = cuts.cut(parser.system, scored, [n], numpy.asarray(starts, "int8"), most)
        assert fixed.tolist() == expected
        assert n_found == sum(expected)
        n_cuts += n_found
    assert n_cuts >= 5


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("name", KINDS)
def test_no_sentence_is_longer(name: str, width: int) -> None:
    """Unless it is given; shorter documents are parsed as ever."""
    nlp = random_parser(2, **KINDS[name], beam_width=width)
    parser = parser_of(nlp)
    randomize(parser.model, 2, 0.15)
    rng = random.Random(2)
    docs = [random_doc(nlp.vocab, rng, n) for n in (0, 3, 9, 60, 200)]
    expected = [tree(doc) for doc in nlp.pipe(map(bare, docs))]
    parser.max_sentence = 8
    with pytest.warns(UserWarning, match="no sentence start in max_sentence = 8 words"):
        found = list(nlp.pipe(docs))
    for doc, other in zip(found, expected, strict=True):
        assert_sound(doc)
        n_words = [sum(not token.is_space for token in sentence) for sentence in doc.sents]
        assert max(n_words, default=0) <= 8
        assert len(doc) > 8 or tree(doc) == other
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
    fixed, _ = cuts.cut(parser.system, scored, [20, 20], free, 3, given=[gold, None])
    assert not fixed[:20].any() and fixed[20:].any()
    inside = numpy.asarray(([0] + [-1] * 19) * 2, dtype="int8")
    fixed, n_cuts = cuts.cut(parser.system, scored, [20, 20], inside, 3)
    assert (fixed == inside).all() and n_cuts == 0


def test_a_cut_is_said_once(recwarn: pytest.WarningsRecorder) -> None:
    parser = parser_of(random_parser(2, max_sentence=4))
    for _ in range(3):
        parser(random_doc(parser.vocab, random.Random(0), 60, space=0))
    assert len([one for one in recwarn if "max_sentence" in str(one.message)]) == 1
