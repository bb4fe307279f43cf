"""Transition systems: configurations, moves, costs, oracles. Needs neither spaCy nor Thinc.

>>> from spacy_nmparse import systems
>>> from spacy_nmparse.systems import Gold
>>> system = systems.create("arc_eager", nonmonotonic_left=True, nonmonotonic_reduce=True)
>>> state = system.initial(3)
>>> system.costs(state, Gold([1, 1, 1]))
{Action(move='SHIFT', k=1, label=None): 0.0}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spacy_nmparse.systems.arc_eager import ArcEager
from spacy_nmparse.systems.arc_standard import ArcStandard
from spacy_nmparse.systems.arc_swift import ArcSwift
from spacy_nmparse.systems.covington import Covington, NonLocalCovington
from spacy_nmparse.systems.gold import Gold
from spacy_nmparse.systems.state import ROOT, State
from spacy_nmparse.systems.swap import SwapStandard
from spacy_nmparse.systems.system import Action, TransitionSystem

__all__ = ["ROOT", "Action", "Gold", "State", "TransitionSystem", "create", "names"]

_SYSTEMS: dict[str, type[TransitionSystem]] = {
    "arc_standard": ArcStandard,
    "arc_eager": ArcEager,
    "arc_swift": ArcSwift,
    "covington": Covington,
    "nl_covington": NonLocalCovington,
    "swap_standard": SwapStandard,
}


def names() -> tuple[str, ...]:
    """Names of all transition systems."""
    return tuple(_SYSTEMS)


def create(name: str, labels: Sequence[str] | None = None, **options: Any) -> TransitionSystem:
    """Make a transition system.

    Args:
        name: one of ``names()``.
        labels: its dependency labels; None makes it unlabelled.
        **options: the system's own (see its class); an unknown one is a TypeError.

    Raises:
        ValueError: an unknown name, an option's value of the wrong kind, or labels that are not
            distinct non-empty strings.
    """
    if name not in _SYSTEMS:
        raise ValueError(f"There is no transition system {name!r}: there are {names()}.")
    known = _SYSTEMS[name]().options
    for option, value in options.items():
        if option not in known:
            raise TypeError(f"{name} has no option {option!r}: it has {', '.join(known)}.")
        if isinstance(known[option], bool) and value not in (True, False):
            raise ValueError(f"{name}: {option} is True or False, not {value!r}.")
        if type(known[option]) is int and type(value) is not int:
            raise ValueError(f"{name}: {option} is a whole number, not {value!r}.")
    return _SYSTEMS[name](labels, **options)
