"""Which gold arcs a move loses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from spacy_nmparse.analysis.steps import Arc, arc_of
from spacy_nmparse.systems import Action, Gold, State, TransitionSystem


class Lost(NamedTuple):
    """The gold arcs that a move takes out of reach.

    arcs: gold arcs that could be made before it, and cannot behind it.
    others: gold arcs each of which can still be made, but from here on not all of them.
    n_others: how many of these are lost at least.
    """

    arcs: tuple[Arc, ...] = ()
    others: tuple[Arc, ...] = ()
    n_others: int = 0


def lost_arcs(
    system: TransitionSystem, gold: Gold, actions: Sequence[Action]
) -> Iterator[tuple[Lost, float]]:
    """Yield the arcs out of reach from the beginning, then those that each move loses.

    Args:
        system: the transition system.
        gold: the gold tree.
        actions: legal moves from the initial configuration on.

    Yields:
        What is lost, and the loss of the configuration: first of the initial one.
    """
    state = system.initial(len(gold))
    reach = {word for word, head in enumerate(gold.heads) if head is not None}
    before = 0.0
    for action in (None, *actions):
        if action is not None:
            system.apply(state, action)
        loss = system.loss(state, gold)
        left = {word for word in reach if _is_reachable(system, state, gold, word)}
        n_others = max(0, int(loss - before) - len(reach - left))
        others = [w for w in left if n_others and system.loss(state, _without(gold, w)) < loss]
        yield Lost(_arcs(gold, reach - left), _arcs(gold, others), n_others), loss
        reach, before = left, loss


def _is_reachable(system: TransitionSystem, state: State, gold: Gold, word: int) -> bool:
    heads = [head if w == word else None for w, head in enumerate(gold.heads)]
    return system.loss(state, Gold(heads, gold.labels)) == 0


def _without(gold: Gold, word: int) -> Gold:
    heads = [None if w == word else head for w, head in enumerate(gold.heads)]
    return Gold(heads, gold.labels)


def _arcs(gold: Gold, words: Iterable[int]) -> tuple[Arc, ...]:
    heads = [(word, gold.heads[word], gold.labels[word]) for word in sorted(words)]
    return tuple(arc_of(word, head, label) for word, head, label in heads if head is not None)
