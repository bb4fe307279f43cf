"""The ensemble: a Thinc model of several scorers that decide together.

It does not learn; its members do, each by itself (see ``pipe.ensemble``).
"""

# No postponed annotations: spaCy validates configs by this architecture's signature.

from collections.abc import Callable
from typing import Any

from thinc.api import Model

from spacy_nmparse.scorers.ensemble_kernel import EnsembleKernel
from spacy_nmparse.scorers.shared import ScorerInput


def Ensemble(*members: Model) -> Model[ScorerInput, EnsembleKernel]:
    """Build the ensemble.

    Args:
        members: state scorers or arc scorers.

    Raises:
        ValueError: there are no members, or one of them is not such a scorer.
    """
    if not members:
        raise ValueError("Ensemble: there must be a member.")
    for member in members:
        if member.name not in ("state_scorer", "arc_scorer"):
            raise ValueError(
                f"Ensemble: members are state scorers or arc scorers, not {member.name}."
            )
    return Model("ensemble", forward, init=init, layers=members, attrs={"system": None})


def init(model: Model, X: ScorerInput | None = None, Y: Any = None) -> None:
    """Initialize the members."""
    for member in model.layers:
        member.initialize(X=X)


def forward(
    model: Model, X: ScorerInput, is_train: bool
) -> tuple[EnsembleKernel, Callable[[Any], Any]]:
    """Score tables of a batch, of all members.

    Raises:
        ValueError: it is asked to learn.
    """
    if is_train:
        raise ValueError("an ensemble does not learn; train its members by themselves")
    scored = [member.predict(X) for member in model.layers]

    def backprop(gradients: Any) -> Any:
        raise ValueError("an ensemble does not learn; train its members by themselves")

    return EnsembleKernel(scored, model.attrs["system"].system), backprop
