"""Settings of a component that are attributes: checked whenever they are set."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, Generic, TypeVar, overload

from spacy_nmparse.settings import Kind, described

T = TypeVar("T")


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


def add_settings(cls: type, others: Sequence[str] = ()) -> None:
    """Make the described settings attributes of a component's class, but for those others, which
    are its own properties."""
    for name, one in described().items():
        if name not in others:
            attribute: Setting = Setting(one.metadata["kind"])
            attribute.__set_name__(cls, name)
            setattr(cls, name, attribute)


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
