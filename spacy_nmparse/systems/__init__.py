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
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from spacy_nmparse.systems.gold import Gold
from spacy_nmparse.systems.state import ROOT, State
from spacy_nmparse.systems.system import Action, Move, TransitionSystem

__all__ = [
    "ROOT",
    "Action",
    "Gold",
    "Move",
    "State",
    "TransitionSystem",
    "create",
    "names",
    "register",
    "system_class",
]

#: The entry points by which installed packages bring systems: names and classes.
ENTRY_POINTS = "spacy_nmparse_systems"

#: The systems of this package: names, and where the classes are.
_OWN = {
    "arc_standard": "arc_standard:ArcStandard",
    "arc_eager": "arc_eager:ArcEager",
    "arc_hybrid": "arc_hybrid:ArcHybrid",
    "arc_swift": "arc_swift:ArcSwift",
    "covington": "covington.covington:Covington",
    "nl_covington": "covington.covington:NonLocalCovington",
    "swap_standard": "swap.swap:SwapStandard",
    "two_planar": "two_planar:TwoPlanar",
}
_registered: dict[str, type[TransitionSystem]] = {}


def names() -> tuple[str, ...]:
    """Names of all transition systems: of this package, registered, and of installed packages."""
    installed = sorted(point.name for point in entry_points(group=ENTRY_POINTS))
    return tuple(dict.fromkeys([*_OWN, *_registered, *installed]))


def register(name: str, cls: type[TransitionSystem]) -> None:
    """Add a transition system, for this process. An installed package does the same by an entry
    point of the group ``spacy_nmparse_systems``.

    Args:
        name: what ``create`` and config blocks call it; ``cls().name`` must be the same.
        cls: its class.

    Raises:
        TypeError: cls is not a transition system.
        ValueError: the name is that of another system, or not that of the class.
    """
    if not isinstance(cls, type) or not issubclass(cls, TransitionSystem):
        raise TypeError(f"A system is a subclass of TransitionSystem, not {cls!r}.")
    if name in _OWN or _registered.get(name, cls) is not cls:
        raise ValueError(f"There is a transition system {name!r} already: choose another name.")
    if cls().name != name:
        raise ValueError(f"{cls.__name__} calls itself {cls().name!r}: register it by that name.")
    _registered[name] = cls


def system_class(name: str) -> type[TransitionSystem]:
    """The class of a transition system.

    Raises:
        ValueError: an unknown name.
    """
    if name not in _registered:
        if name in _OWN:
            module, cls = _OWN[name].split(":")
            _registered[name] = getattr(import_module(f"{__name__}.{module}"), cls)
        else:
            found = entry_points(group=ENTRY_POINTS, name=name)
            if not found:
                raise ValueError(f"There is no transition system {name!r}: there are {names()}.")
            register(name, next(iter(found)).load())
    return _registered[name]


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
    cls = system_class(name)
    known = cls().options
    for option, value in options.items():
        if option not in known:
            raise TypeError(f"{name} has no option {option!r}: it has {', '.join(known)}.")
        if isinstance(known[option], bool) and value not in (True, False):
            raise ValueError(f"{name}: {option} is True or False, not {value!r}.")
        if type(known[option]) is int and type(value) is not int:
            raise ValueError(f"{name}: {option} is a whole number, not {value!r}.")
    return cls(labels, **options)
