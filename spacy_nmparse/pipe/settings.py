"""Settings of a component that are attributes: checked whenever they are set."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


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


SWITCH = Kind("true or false", lambda value: isinstance(value, bool), bool)
WIDTH = Kind("an integer of at least 1", lambda value: _is_whole(value) and value >= 1, int)


class Setting(Generic[T]):
    """An attribute of a component (which has a ``name``) that takes values of one kind.

    Setting another value raises ValueError, and the old value stays.
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
        vars(component)[self._name] = self.kind.checked(value, component.name, self._name)


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
