"""A transition system as a config block names it: everything but the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from spacy_nmparse import systems

SET_BY_COMPONENT = ("single_root", "segment", "root_label")


@dataclass(frozen=True)
class SystemSpec:
    """Name and options of a transition system; the component adds the labels later.

    name: a name in ``systems.names()``.
    options: options of ``systems.create``, but for those that the component sets.

    Raises ValueError for an unknown system, a value that an option does not take, or an option that
    the component sets; TypeError for an unknown option.
    """

    name: str
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for option in SET_BY_COMPONENT:
            if option in self.options:
                raise ValueError(
                    f"The component sets the option {option!r} of its system {self.name}: leave it "
                    f"out of the block."
                )
        systems.check_known(self.name, self.options)
        self.create(None)  # raises on a value that an option does not take

    def create(
        self,
        labels: Sequence[str] | None,
        root_label: str | Sequence[str] | None = None,
        **options: Any,
    ) -> systems.TransitionSystem:
        """Make the system over these labels, with further options."""
        return systems.create(
            self.name, labels=labels, root_label=root_label, **{**self.options, **options}
        )
