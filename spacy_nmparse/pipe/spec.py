"""A transition system as a config block names it: everything but the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from spacy_nmparse import systems


@dataclass(frozen=True)
class SystemSpec:
    """Name and options of a transition system; the component adds the labels later.

    name: a name in ``systems.names()``.
    options: options of ``systems.create``.
    """

    name: str
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.create(None)  # raises on an unknown name or option

    def create(
        self, labels: Sequence[str] | None, root_label: str | None = None, **options: Any
    ) -> systems.TransitionSystem:
        """Make the system over these labels, with further options."""
        return systems.create(
            self.name, labels=labels, root_label=root_label, **{**self.options, **options}
        )
