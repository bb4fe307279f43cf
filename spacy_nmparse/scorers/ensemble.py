"""The ensemble: a Thinc model of several scorers that decide together.

It does not learn; its members do, each by itself (see ``pipe.ensemble``).
"""

# No postponed annotations: spaCy validates configs by this architecture's signature.

from collections.abc import Callable
from typing import Any

from thinc.api import Model

from spacy_nmparse.scorers.ensemble_kernel import EnsembleKernel
from spacy_nmparse.scorers.hooks import Hooks
from spacy_nmparse.scorers.shared import ScorerInput


def Ensemble(*members: Model) -> Model[ScorerInput, EnsembleKernel]:
    """Build the ensemble.

    Args:
        members: scorers that learn by gradients: state scorers or arc scorers, say.

    Raises:
        ValueError: there are no members, or one of them is not such a scorer.
    """
    if not members:
        raise ValueError("Ensemble: there must be a member.")
    for member in members:
        hooks = member.attrs.get("hooks")
        if not hooks or isinstance(hooks, EnsembleHooks) or not hooks.learns_by_gradients:
            raise ValueError(
                f"Ensemble: members are scorers that learn by gradients, as state scorers and arc "
                f"scorers do, not {member.name}."
            )
    attrs = {"hooks": EnsembleHooks(), "system": None}
    return Model("ensemble", forward, init=init, layers=members, attrs=attrs)


class EnsembleHooks(Hooks):
    """An ensemble is asked nothing but for its members, which are asked themselves."""

    def members(self, model: Model) -> list[Model]:
        """The members."""
        return list(model.layers)


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

    together = EnsembleKernel(scored, model.attrs["system"].system)
    if X.wants_tags:
        together.tag_scores = sum(one.tag_scores for one in scored)
    return together, backprop
