"""The bias of moves that make arcs cross: what it shifts, by how much, and where it counts."""

from __future__ import annotations

import random
from typing import Any

import numpy
import pytest
from spacy.tokens import Doc

from spacy_nmparse.analysis.derivation import derive
from spacy_nmparse.lab.probabilities import probabilities
from spacy_nmparse.pipe.words import Words
from spacy_nmparse.systems import ROOT, Action, State
from tests.pipe.common import (
    SYSTEMS,
    bare,
    parser_of,
    random_doc,
    random_docs,
    random_parser,
    tree,
)

KINDS = ("arc-eager", "swap", "nl", "nl nonmonotonic")


def crosses(system: Any, state: State, action: Action) -> bool:
    """SWAP, or an arc over a word that is headless, or has its head or a dependent outside."""
    if action.move == "SWAP":
        return True
    if not system.name.endswith("covington") or action.move in ("SHIFT", "NO-ARC", "BREAK"):
        return False
    low, high = sorted((state.lambda1[-action.k], state.buffer[0]))
    if low == ROOT:
        return False
    heads = state.heads
    return any(
        heads[word] in (None, word)  # a root is its own head
        or not low <= heads[word] <= high
        or any(head == word for head in (*heads[:low], *heads[high + 1 :]))
        for word in range(low + 1, high)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_what_it_shifts(kind: str) -> None:
    """The odds of moves that make arcs cross, by the bias, in all configurations; nothing else."""
    nlp = random_parser(1, **SYSTEMS[kind])
    parser = parser_of(nlp)
    rng = random.Random(5)
    seen = {False: 0, True: 0}
    for _ in range(6):
        doc = random_doc(nlp.vocab, rng, 9)
        n = len(doc)
        words = Words([doc], numpy.arange(n), numpy.zeros(n, "int8"), numpy.asarray([n]))
        found = []
        for bias in (0.0, 1.5):
            parser.crossing_bias = bias
            found.append(parser.score_moves(words))
        state = parser.system.initial(len(doc))
        while not state.is_final:
            plain, shifted = (probabilities(parser.system, scored, 0, state) for scored in found)
            crossing = {action: crosses(parser.system, state, action) for action in plain}
            total = sum(numpy.exp(plain[a][0] + 1.5 * crossing[a]) for a in plain)
            for action, (score, noted) in shifted.items():
                expected = plain[action][0] + 1.5 * crossing[action] - numpy.log(total)
                assert score == pytest.approx(expected, abs=1e-4), action
                assert noted == plain[action][1]
                seen[crossing[action]] += 1
            parser.system.apply(state, rng.choice(sorted(plain)))
    assert seen[False] > 500
    assert (seen[True] > 20) == (kind != "arc-eager")


@pytest.mark.parametrize("kind", ["swap", "nl"])
def test_traces_are_those_of_the_parse(kind: str) -> None:
    plain, nlp = (random_parser(4, **SYSTEMS[kind], crossing_bias=bias) for bias in (0.0, 200.0))
    changed = 0
    for doc in random_docs(nlp.vocab, 2, [10] * 8, space=0):
        expected = tree(nlp(bare(doc)))
        assert derive(nlp, bare(doc)).heads == [head for _, head, *_ in expected]
        changed += expected != tree(plain(bare(doc)))
    assert changed > 2
    assert len(nlp(Doc(nlp.vocab, words=[]))) == 0
