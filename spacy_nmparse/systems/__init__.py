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
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from spacy_nmparse.compiled import require_compiled

require_compiled("spacy_nmparse.systems.state")
from spacy_nmparse.systems.action import Action, Move  # noqa: E402
from spacy_nmparse.systems.gold import Gold  # noqa: E402
from spacy_nmparse.systems.state import ROOT, State  # noqa: E402
from spacy_nmparse.systems.system import TransitionSystem  # noqa: E402

__all__ = [
    "ROOT",
    "Action",
    "Gold",
    "Move",
    "State",
    "TransitionSystem",
    "create",
    "forms",
    "names",
    "options",
    "register",
    "system_class",
]

#: The entry points by which installed packages bring systems: names and classes. A form of a system
#: has the name of the system and of the option that chooses it: ``arc_eager.root_first``.
ENTRY_POINTS = "spacy_nmparse_systems"

#: The systems of this package: names, and where the classes are.
_OWN = {
    "arc_standard": "arc_standard:ArcStandard",
    "arc_eager": "arc_eager:ArcEager",
    "arc_hybrid": "arc_hybrid:ArcHybrid",
    "covington": "covington.covington:Covington",
    "nl_covington": "covington.covington:NonLocalCovington",
    "swap_standard": "swap.swap:SwapStandard",
}
_registered: dict[str, type[TransitionSystem]] = {}


def names() -> tuple[str, ...]:
    """Names of all transition systems: of this package, registered, and of installed packages."""
    installed = sorted(
        point.name for point in entry_points(group=ENTRY_POINTS) if "." not in point.name
    )
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
                close = get_close_matches(name, names(), 1)
                known = f"Did you mean {close[0]}?" if close else f"There are {', '.join(names())}."
                raise ValueError(f"No system {name!r}. {known}")
            register(name, next(iter(found)).load())
    return _registered[name]


def forms(name: str) -> dict[str, type[TransitionSystem]]:
    """The forms of a transition system: the options that choose them, and their classes."""
    found = {}
    for point in entry_points(group=ENTRY_POINTS):
        base, _, option = point.name.partition(".")
        if base == name and option:
            found[option] = point.load()
    return found


def options(name: str) -> dict[str, Any]:
    """The options of a transition system with their defaults, those of its forms among them.

    Raises:
        ValueError: an unknown name.
    """
    known = dict(system_class(name)().options)
    for option, form in forms(name).items():
        for other, default in form().options.items():
            known.setdefault(other, False if other == option and default is True else default)
    return known


def create(name: str, labels: Sequence[str] | None = None, **options: Any) -> TransitionSystem:
    """Make a transition system, or the form of it that its options choose.

    Args:
        name: one of ``names()``.
        labels: its dependency labels; None makes it unlabelled.
        **options: the system's own (see its class); an unknown one is a TypeError.

    Raises:
        TypeError: an unknown option, or a class without costs.
        ValueError: an unknown name, an option's value of the wrong kind, options that do not go
            together, or labels that are not distinct non-empty strings.
    """
    cls = system_class(name)
    known = cls().options
    if not options.keys() <= known.keys():
        known = check_known(name, options)
    for option, value in options.items():
        check_value(name, option, known[option], value)
    if known.keys() == cls().options.keys():
        system = cls(labels, **options)
    else:
        system = make_form(name, cls, labels, known, options)
    system._check_made()
    roots = options.get("root_label")
    if roots and not isinstance(roots, str) and len(roots) > 1 and not system.labels_roots:
        raise ValueError(
            f"{name}: arcs from ROOT are no moves here, so there is nothing that chooses among the "
            f"root_labels {roots}: give one, or set explicit_root."
        )
    return system


def check_known(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """The options of a system and its forms. Raises TypeError where one is given that is none."""
    known = options(name)
    for option in given:
        if option not in known:
            raise TypeError(f"{name} has no option {option!r}: it has {', '.join(known)}.")
    return known


def check_value(name: str, option: str, default: Any, value: Any) -> None:
    """Raises ValueError where the value is not of the default's type."""
    if isinstance(default, bool) and value not in (True, False):
        raise ValueError(f"{name}: {option} is True or False, not {value!r}.")
    if type(default) is int and type(value) is not int:
        raise ValueError(f"{name}: {option} is a whole number, not {value!r}.")
    if type(default) is float and type(value) not in (int, float):
        raise ValueError(f"{name}: {option} is a number, not {value!r}.")


def make_form(
    name: str,
    cls: type[TransitionSystem],
    labels: Sequence[str] | None,
    known: dict[str, Any],
    given: dict[str, Any],
) -> TransitionSystem:
    """The form whose options are given, or the system itself where they have their defaults.

    Raises ValueError for options of several forms.
    """
    own = cls().options
    given = {option: value for option, value in given.items() if value != known[option]}
    found = forms(name)
    chosen = {option: form for option, form in found.items() if option in given}
    if not chosen:  # what belongs to a form that is not chosen, the form tells
        others = [form for form in found.values() if given.keys() <= form().options.keys()]
        return cls(labels, **given) if given.keys() <= own.keys() else others[0](labels, **given)
    option, form = min(chosen.items(), key=lambda pair: len(pair[1]().options))
    strange = [other for other in given if other not in form().options]
    if strange:
        fitting = [other for other in form().options if other != option]
        raise ValueError(
            f"{name}: {option} goes with {', '.join(fitting[:-1])} and {fitting[-1]} only: leave "
            f"{' and '.join(strange)} out, or {option}."
        )
    return form(labels, **given)
