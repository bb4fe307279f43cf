"""Commands whose arguments and options are the fields of a dataclass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from inspect import Parameter, Signature
from typing import Any, TypeVar, get_type_hints

Asked = TypeVar("Asked")


def asks(kind: Callable[..., Asked]) -> Callable[[Callable[[Asked], None]], Callable[..., None]]:
    """Make a command of a function with one argument.

    Args:
        kind: A dataclass. Its fields are the command's arguments and options, with defaults of
            typer; the function gets an object of it.
    """

    def command(work: Callable[[Asked], None]) -> Callable[..., None]:
        def run(*args: Any, **options: Any) -> None:
            work(kind(*args, **options))

        own: Any = run
        own.__doc__, own.__annotations__ = work.__doc__, get_type_hints(kind)
        own.__signature__ = Signature(
            [
                Parameter(one.name, Parameter.POSITIONAL_OR_KEYWORD, default=one.default)
                for one in fields(kind)  # type: ignore[arg-type]
            ]
        )
        return run

    return command
