"""Moves as they are written on a command line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from spacy_nmparse import systems
from spacy_nmparse.analysis.steps import action_name
from spacy_nmparse.cli.console import bad
from spacy_nmparse.systems import Action, State, TransitionSystem

#: Names of moves in lecture notes (Eisenstein 2019) and ours.
NOTES = {"ARC-LEFT": "LEFT-ARC", "ARC-RIGHT": "RIGHT-ARC"}


def read_moves(text: str) -> list[Action]:
    """Moves as ``SHIFT LEFT-ARC(nsubj) RIGHT-ARC2(obj)``: a name, k where it is not 1, a label.

    Raises typer.BadParameter for anything else.
    """
    moves = []
    for word in text.split():
        found = re.fullmatch(r"([A-Za-z]+(?:-[A-Za-z]+)*)(\d*)(?:\(([^()]+)\))?", word)
        if found is None:
            raise bad(
                f"{word!r} is no move: write its name, as SHIFT, right behind it k where that is "
                f"not 1, as LEFT-ARC2, and a label in brackets, as LEFT-ARC2(nsubj)."
            )
        name, k, label = found.groups()
        moves.append(Action(NOTES.get(name.upper(), name.upper()), int(k or 1), label))
    return moves


def check_moves(system: TransitionSystem, moves: list[Action], words: list[str]) -> str:
    """Make the moves.

    Returns:
        What is legal after them; "" at the end of the derivation.

    Raises typer.BadParameter for one that is illegal: which, why, and what is legal there.
    """
    state = system.initial(len(words))
    for number, action in enumerate(moves, start=1):
        if action.move not in system.moves:
            raise bad(
                f"Move {number}: {system.name} has no {action.move}: its moves are "
                f"{', '.join(system.moves)}."
            )
        if state.is_final:
            raise bad(f"Move {number}, {action_name(action)}: the derivation is over before it.")
        legal = system.actions(state)
        if action not in legal:
            raise bad(
                f"Move {number}, {action_name(action)}, is illegal in {_told(state, words)}. "
                f"{_why(system, action, legal)} Legal there: {_legal(legal)}."
            )
        system.apply(state, action)
    return "" if state.is_final else _legal(system.actions(state))


def _why(system: TransitionSystem, action: Action, legal: list[Action]) -> str:
    labels = [one.label for one in legal if one[:2] == action[:2]]
    if labels == [None]:
        return f"{action.move} takes no label there."
    if labels:
        names = ", ".join(str(label) for label in labels)
        return f"{action.move} needs a label in brackets there, of {names}."
    return f"{action.move}: {system.glossary().get(action.move, 'not there.')}"


def _legal(legal: list[Action]) -> str:
    """Moves without their labels; of non-local ones the range of k."""
    ks: dict[str, list[int]] = {}
    for move, k, _ in legal:
        ks.setdefault(move, []).append(k)
    names = [
        move
        if found == [1] * len(found)
        else f"{move} with k = {', '.join(map(str, sorted({*found})))}"
        for move, found in ks.items()
    ]
    return ", ".join(names)


def _told(state: State, words: list[str]) -> str:
    def texts(numbers: Sequence[int]) -> str:
        return " ".join("ROOT" if w == systems.ROOT else words[w] for w in numbers)

    return " ".join(f"[{texts(part)}]" for part in state.parts.values())
