"""A learn rate that rises and falls over the whole of training, whatever the data's size."""

# No postponed annotations: spaCy validates configs by the schedule's signature.

import random
from collections.abc import Iterator
from itertools import repeat
from typing import Any

import spacy
from thinc.api import warmup_linear


def warmup_over_epochs(
    rate: float,
    corpus: Any,
    batcher: Any,
    epochs: Any,
    warmup: float = 0.1,
) -> Iterator[float]:
    """Thinc's ``warmup_linear`` over the batches of so many epochs, counted in the data.

    Args:
        rate: the highest rate.
        corpus: the reader of the training data (``${corpora.train}``).
        batcher: what makes batches of them (``${training.batcher}``).
        epochs: how long training goes on (``${training.max_epochs}``), at least 1.
            These three are variables of the config. Where a config's optimizer is made without
            them (``nlp.initialize()``, ``nlp.create_optimizer()``), the rate is always the highest.
        warmup: the share of all batches over which the rate rises, at least 0, below 1.

    Yields:
        The rate of each update. The first is 0, as of ``warmup_linear``; the data are read for the
        second.

    Raises:
        ValueError: a number of epochs or a share that cannot be.
    """
    if isinstance(corpus, str):  # the variable
        yield from repeat(rate)
    if epochs < 1 or not 0 <= warmup < 1:
        raise ValueError(
            f"warmup_over_epochs: epochs {epochs} must be at least 1 (set training.max_epochs), "
            f"and warmup {warmup} at least 0, below 1."
        )
    yield 0.0
    state = random.getstate()
    examples = list(corpus(spacy.blank("xx")))
    steps = epochs * sum(1 for _ in batcher(examples))
    random.setstate(state)
    rates = iter(warmup_linear(rate, round(warmup * steps), steps))
    next(rates)
    yield from rates
