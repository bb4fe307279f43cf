"""Settings of a component that are attributes: checked whenever they are set."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")

#: The attribute of a component that holds the configuration's values of its settings.
CONFIGURED = "_configured"


@dataclass(frozen=True)
class Kind(Generic[T]):
    """The values that a setting takes.

    Attributes:
        takes: What they are, in words.
        fits: Whether a value is one of them.
        convert: Makes a value that fits one of the setting's type.
    """

    takes: str
    fits: Callable[[Any], bool]
    convert: Callable[[Any], T]

    def checked(self, value: Any, component: str, setting: str) -> T:
        """The value, converted. Raises ValueError where it does not fit."""
        if not self.fits(value):
            raise ValueError(
                f"The component '{component}' takes {self.takes} as {setting}, not {value!r}."
            )
        return self.convert(value)


def one_of(values: Sequence[str]) -> Kind[str]:
    """One of a few strings."""
    return Kind(f"one of {', '.join(values)}", lambda value: value in values, str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def number_between(low: float, high: float) -> Kind[float]:
    """A number from low to high."""
    return Kind(
        f"a number between {low:g} and {high:g}",
        lambda value: _is_number(value) and low <= value <= high,
        float,
    )


NAME = Kind("a name", lambda value: isinstance(value, str), str)
SWITCH = Kind("true or false", lambda value: isinstance(value, bool), bool)
WIDTH = Kind("an integer of at least 1", lambda value: _is_whole(value) and value >= 1, int)
COUNT = Kind("an integer of at least 0", lambda value: _is_whole(value) and value >= 0, int)


class Setting(Generic[T]):
    """An attribute of a component (which has a ``name``) that takes values of one kind.

    Setting another value raises ValueError, and the old value stays. The first value is that of the
    configuration.
    """

    def __init__(self, kind: Kind[T]) -> None:
        self.kind = kind
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, component: None, owner: type) -> Setting[T]: ...
    @overload
    def __get__(self, component: Any, owner: type) -> T: ...
    def __get__(self, component: Any, owner: type) -> Setting[T] | T:
        if component is None:
            return self
        value: T = vars(component)[self._name]
        return value

    def __set__(self, component: Any, value: T) -> None:
        value = self.kind.checked(value, component.name, self._name)
        vars(component)[self._name] = value
        vars(component).setdefault(CONFIGURED, {}).setdefault(self._name, value)


def changed_settings(component: Any) -> dict[str, dict[str, Any]]:
    """The settings that do not have the configuration's values any more: what was "configured", and
    what they are "set" to."""
    return {
        name: {"configured": value, "set": vars(component)[name]}
        for name, value in vars(component)[CONFIGURED].items()
        if vars(component)[name] != value
    }


def saved_settings(component: Any, saved: Any, where: str) -> dict[str, Any]:
    """The settings of a component that loads what ``changed_settings`` gave. Where its
    configuration has another value than that of the saved component had, it stays.

    Args:
        component: The component, which does not change.
        saved: What was saved.
        where: Begins the messages of errors.

    Raises:
        ValueError: There is no such setting, or it does not take such a value.
    """
    found = {}
    if not isinstance(saved, dict):
        raise ValueError(f"{where} the settings {saved!r}, which are no table.")
    for name, values in saved.items():
        setting = getattr(type(component), name, None)
        if not isinstance(setting, Setting):
            raise ValueError(f"{where} the setting {name!r}, which this parser does not have.")
        if not isinstance(values, dict) or not setting.kind.fits(values.get("set")):
            raise ValueError(f"{where} {values!r} as {name}, not {setting.kind.takes}.")
        if values.get("configured") == vars(component)[CONFIGURED][name]:
            found[name] = setting.kind.convert(values["set"])
    return found


class KnownAttributes:
    """A component that takes no public attributes but those that its classes name: a misspelt
    setting is an AttributeError, not an attribute that nobody reads."""

    name: str

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            known: set[str] = set()
            for cls in type(self).__mro__:
                known |= {*vars(cls), *vars(cls).get("__annotations__", ())}
            if name not in known:
                close = difflib.get_close_matches(name, [one for one in known if one[0] != "_"], 1)
                hint = f" Did you mean {close[0]}?" if close else ""
                raise AttributeError(f"The component '{self.name}' has no setting {name!r}.{hint}")
        super().__setattr__(name, value)
