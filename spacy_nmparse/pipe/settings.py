"""Settings of a component that are attributes: checked whenever they are set."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, Generic, TypeVar, overload

from spacy_nmparse.settings import Kind, described

T = TypeVar("T")

#: The attribute of a component that holds the configuration's values of its settings.
CONFIGURED = "_configured"


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
