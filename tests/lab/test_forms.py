"""Forms of arc-standard and arc-eager: the lecture notes' tables, and what they have in common with
the systems that they are forms of."""

from __future__ import annotations

from typing import Any

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems import Action, Gold
from tests.exhaustive import graph
from tests.naive.arc_standard import Rooted, State
from tests.naive.forms import BufferArcs, RootFirst
from tests.naive.system import ROOT
from tests.naive.system import Action as NaiveAction

WORDS = ["they", "like", "bagels", "with", "lox"]
GOLD = Gold([1, 1, 1, 4, 2])
TABLE_11_2 = """
[ROOT]                    | they like bagels with lox | SHIFT
[ROOT they]               | like bagels with lox      | ARC-LEFT    they <- like
[ROOT]                    | like bagels with lox      | SHIFT
[ROOT like]               | bagels with lox           | SHIFT
[ROOT like bagels]        | with lox                  | SHIFT
[ROOT like bagels with]   | lox                       | ARC-LEFT    with <- lox
[ROOT like bagels]        | lox                       | ARC-RIGHT   bagels -> lox
[ROOT like]               | bagels                    | ARC-RIGHT   like -> bagels
[ROOT]                    | like                      | ARC-RIGHT   ROOT -> like
[ROOT]                    |                           | DONE
"""
TABLE_11_3 = """
[ROOT]                    | they like bagels with lox | SHIFT
[ROOT they]               | like bagels with lox      | ARC-LEFT    they <- like
[ROOT]                    | like bagels with lox      | ARC-RIGHT   ROOT -> like
[ROOT like]               | bagels with lox           | ARC-RIGHT   like -> bagels
[ROOT like bagels]        | with lox                  | SHIFT
[ROOT like bagels with]   | lox                       | ARC-LEFT    with <- lox
[ROOT like bagels]        | lox                       | ARC-RIGHT   bagels -> lox
[ROOT like bagels lox]    |                           | REDUCE
[ROOT like bagels]        |                           | REDUCE
[ROOT like]               |                           | REDUCE
[ROOT]                    |                           | DONE
"""
NAMES = {"ARC-LEFT": "LEFT-ARC", "ARC-RIGHT": "RIGHT-ARC"}
FORMS = [("arc_standard", "buffer_arcs", BufferArcs), ("arc_eager", "root_first", RootFirst)]


def text(word: int) -> str:
    return "ROOT" if word == systems.ROOT else WORDS[word]


@pytest.mark.parametrize(
    ("system", "option", "table"),
    [("arc_standard", "buffer_arcs", TABLE_11_2), ("arc_eager", "root_first", TABLE_11_3)],
)
def test_tables_of_the_notes(system: str, option: str, table: str) -> None:
    """Move for move: stack, buffer, action, and the arc that is added."""
    real = systems.create(system, **{option: True})
    state = real.initial(5)
    for row in table.strip().splitlines():
        stack, buffer, told = (part.strip() for part in row.split("|"))
        assert stack == f"[{' '.join(map(text, state.stack))}]"
        assert buffer == " ".join(map(text, state.buffer))
        move, *arc = told.split(maxsplit=1)
        if move == "DONE":
            assert state.is_final and state.tree()[0] == list(GOLD.heads)
            break
        action = Action(NAMES.get(move, move))
        assert real.oracle(state, GOLD, "static") == {action}
        assert real.costs(state, GOLD)[action] == 0
        before = state.heads
        real.apply(state, action)
        new = [
            f"{WORDS[word]} <- {text(head)}" if word < head else f"{text(head)} -> {WORDS[word]}"
            for word, (head, old) in enumerate(zip(heads_of(state), before, strict=True))
            if head is not None and old is None
        ]
        assert new == arc
    else:
        raise AssertionError("not done")


def heads_of(state: systems.State) -> list[int | None]:
    return [systems.ROOT if head == word else head for word, head in enumerate(state.heads)]


def notes_moves(plain: Rooted, state: State) -> list[str]:
    """The moves of the notes, which may lead to where no word can get a head any more."""
    s0, word = state.stack[-1], state.stack[-1] != ROOT
    rooted = any(head == w for w, head in enumerate(state.heads))
    eager = isinstance(plain, RootFirst)
    legal = []
    if state.buffer:
        legal.append("SHIFT")
        if word and not (eager and not state.is_headless(s0)):
            legal.append("LEFT-ARC")
        if word or not (plain.single_root and rooted):
            legal.append("RIGHT-ARC")
    if eager and word and not state.is_headless(s0):
        legal.append("REDUCE")
    return legal


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize(("system", "option", "naive"), FORMS)
def test_legal_is_what_leads_to_the_end(
    system: str, option: str, naive: type[Rooted], single_root: bool
) -> None:
    """The moves of the notes, without those after which DONE is out of reach."""
    plain: Any = naive(single_root=single_root)
    ends: dict[State, bool] = {}

    def can_end(state: State) -> bool:
        if state not in ends:
            moves = notes_moves(plain, state)
            after = [can_end(plain.apply(state, NaiveAction(move))) for move in moves]
            ends[state] = state.is_final or any(after)
        return ends[state]

    real = systems.create(system, **{option: True}, single_root=single_root)
    assert can_end(plain.initial(4))
    found = {
        (tuple(node.state.stack), tuple(node.state.buffer), tuple(node.state.heads)): node
        for node in graph(real, real.initial(4), (None,))
    }
    known = {
        (state.stack, state.buffer, state.heads): state for state, ends_ in ends.items() if ends_
    }
    reached = {key for key in known if key in found}
    assert set(found) == reached
    for key, node in found.items():
        state = known[key]
        if not state.is_final:
            assert {action.move for action in node.actions} == {
                move
                for move in notes_moves(plain, state)
                if can_end(plain.apply(state, NaiveAction(move)))
            }
    assert not all(ends.values())


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"nonmonotonic_left": True}, "nonmonotonic_left out"),
        (
            {"nonmonotonic_reduce": True, "labelled_reduce": True},
            "nonmonotonic_reduce and labelled",
        ),
        ({"unshift": True}, "unshift out"),
        ({"nonmonotonic_left": True, "push": "right_arc"}, "nonmonotonic_left and push out"),
        ({"nonmonotonic_left": True, "repairs": ("right_lower",)}, "left and repairs out"),
    ],
)
def test_root_first_goes_alone(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=f"root_first goes with .*{named}"):
        systems.create("arc_eager", root_first=True, **options)
