"""The steps of a derivation: what each saw, chose and changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from spacy_nmparse.analysis.tracer import changes, first_word
from spacy_nmparse.systems import ROOT, Action, State

MOVE, COMPLETE, LOWER = "move", "complete", "lower"  # kinds of steps
SHOWN = 24  # words of a buffer or list in JSON


class Arc(NamedTuple):
    """An arc from a head (``systems.ROOT``: the root) to a dependent."""

    head: int
    dependent: int
    label: str | None

    def moved(self, first: int) -> Arc:
        """The arc in a sentence by itself, which begins with the word ``first``."""
        head = ROOT if self.head == ROOT else self.head - first
        return Arc(head, self.dependent - first, self.label)


@dataclass(frozen=True)
class Choice:
    """A legal move of a configuration.

    Attributes:
        action: the move, with the label that the model likes best (gold derivations: the right
            one).
        probability: of the move among the legal ones; None where no model was asked.
        label_probability: of the label among those of the move.
        cost: what the action costs; None where no gold tree is known.
        least_cost: what the move costs with its best label.
        repair: which non-monotonic move this would be, or None (see ``Step``).
        noted: the label that a push notes for a later move.
    """

    action: Action
    probability: float | None = None
    label_probability: float | None = None
    cost: float | None = None
    least_cost: float | None = None
    repair: str | None = None
    noted: str | None = None


@dataclass(frozen=True)
class Step:
    """A step of a derivation: the configuration, what could be done, what was done.

    Attributes:
        kind: "move"; "complete": arcs that the scorer gives the words of a list system's sentence
            that have no head at its end; "lower": lifted arcs are lowered after the last move.
        action: of a move.
        chosen: of a move: the action as a ``Choice``.
        choices: the legal moves, the likeliest first (gold derivations: the cheapest); not all
            where there are many.
        least_cost: of a move: the least cost of any action of the configuration.
        start: the first word of the current sentence.
        stack: before the step, as that of ``State``.
        buffer: before the step.
        lambda1: before the step.
        lambda2: before the step.
        added: the arcs that the step makes.
        deleted: the arcs that it deletes. Those whose dependent is among the added ones too are
            replaced.
        repair: the name of the non-monotonic move that this is, or None
            (``TransitionSystem.repair``).
        other_stack: before the step: the inactive one of two stacks.
    """

    kind: str
    action: Action | None
    chosen: Choice | None
    choices: tuple[Choice, ...]
    least_cost: float | None
    start: int
    stack: tuple[int, ...]
    buffer: Sequence[int]
    lambda1: Sequence[int]
    lambda2: Sequence[int]
    added: tuple[Arc, ...]
    deleted: tuple[Arc, ...]
    repair: str | None = None
    other_stack: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The move, its k where that is not 1, and its label."""
        if self.action is None:
            return f"({self.kind})"
        return action_name(self.action)

    @property
    def cost(self) -> float | None:
        """The action's cost; None where no gold tree is known."""
        return None if self.chosen is None else self.chosen.cost

    @property
    def is_wrong(self) -> bool:
        """Whether another action would have cost less."""
        return self.cost is not None and self.least_cost is not None and self.cost > self.least_cost

    def as_dict(self) -> dict[str, Any]:
        """For JSON. Lists are cut to their parts next to the focus; their lengths are given."""
        result: dict[str, Any] = {
            "kind": self.kind,
            "action": None if self.action is None else list(self.action),
            "repair": self.repair,
            "cost": self.cost,
            "least_cost": self.least_cost,
            "start": self.start,
        }
        for name, taken in (
            ("stack", self.stack[-SHOWN:]),
            ("other_stack", self.other_stack[-SHOWN:]),
            ("buffer", self.buffer[:SHOWN]),
            ("lambda1", self.lambda1[-SHOWN:]),
            ("lambda2", self.lambda2[:SHOWN]),
        ):
            result[name] = list(taken)
            result[f"{name}_length"] = len(getattr(self, name))
        result["added"] = [list(arc) for arc in self.added]
        result["deleted"] = [list(arc) for arc in self.deleted]
        result["choices"] = [
            {
                "action": list(choice.action),
                "probability": _rounded(choice.probability),
                "label_probability": _rounded(choice.label_probability),
                "cost": choice.cost,
                "least_cost": choice.least_cost,
                "repair": choice.repair,
            }
            for choice in self.choices
        ]
        return result


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 6)


def action_name(action: Action) -> str:
    """The move, its k where that is not 1, and its label."""
    k = "" if action.k == 1 else str(action.k)
    return f"{action.move}{k} {action.label}" if action.label else f"{action.move}{k}"


def arc_of(word: int, head: int, label: str | None) -> Arc:
    """As ``State.heads`` has it: a root is its own head."""
    return Arc(ROOT if head == word else head, word, label)


def make_step(
    before: State,
    after: State,
    action: Action | None,
    choices: list[Choice],
    least: float | None,
    n_choices: int,
    kind: str = MOVE,
    arcs: tuple[list[Arc], list[Arc]] | None = None,
) -> Step:
    """Make the step between two configurations.

    Args:
        before: the configuration that was looked at.
        after: the next one.
        action: what led from one to the other; None: no move of the system.
        choices: the legal moves.
        least: the least cost of a move; None: no gold tree is known.
        n_choices: how many moves are kept besides the one made and the cheapest.
        kind: MOVE, COMPLETE or LOWER.
        arcs: those added and deleted; None: those by which the configurations differ.
    """
    parts = before.parts
    added, deleted = [], []
    if arcs is None:
        for word, old_head, old_label, head, label in changes(before, after):
            if old_head is not None:
                deleted.append(Arc(old_head, word, old_label))
            if head is not None:
                added.append(Arc(head, word, label))
    else:
        added, deleted = arcs
    chosen = next((one for one in choices if one.action == action), None)
    cheapest = next((one for one in choices if one.cost is not None and one.cost == least), None)
    return Step(
        kind,
        action,
        chosen,
        tuple(one for i, one in enumerate(choices) if i < n_choices or one in (chosen, cheapest)),
        least,
        first_word(before),
        tuple(parts.get("stack", ())),
        parts["buffer"],
        parts.get("lambda1", ()),
        parts.get("lambda2", ()),
        tuple(added),
        tuple(deleted),
        None if chosen is None else chosen.repair,
        tuple(parts.get("other_stack", ())),
    )
