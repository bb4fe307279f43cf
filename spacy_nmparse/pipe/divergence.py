"""Training that goes wrong: numbers that are infinite, or no numbers at all, are an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stopped_divergence(component: str) -> Iterator[None]:
    """Make a FloatingPointError a ValueError that says what to change.

    Args:
        component: The name of the component that is trained or saved.
    """
    try:
        yield
    except FloatingPointError as error:
        raise ValueError(
            f"The training of the component '{component}' has diverged: {error}. Load the last "
            f"model that was saved, and lower the optimizer's learn_rate, or set its grad_clip to "
            f"1.0. If that does not help, look for values of the pipeline's word vectors that are "
            f"infinite, or no numbers."
        ) from error
