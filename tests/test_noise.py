"""Noise for the session "robust" of nox: in the last bit, and the same each time."""

from __future__ import annotations

import numpy
import pytest
from thinc.api import Model

from tests.noise import noisy
from tests.pipe.common import make_examples, make_nlp, parser_of


def initial(seed: int | None, monkeypatch: pytest.MonkeyPatch) -> numpy.ndarray:
    """A weight of a new model."""
    with monkeypatch.context() as patched:
        if seed is not None:
            patched.setattr(Model, "initialize", noisy(Model.initialize, seed))
        nlp = make_nlp()
        nlp.initialize(lambda: make_examples(nlp.vocab))
    return parser_of(nlp).model.get_param("word_W")


def test_noise_is_in_the_last_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, one, again, other = (initial(seed, monkeypatch) for seed in (None, 1, 1, 2))
    up, down = (numpy.nextafter(plain, numpy.float32(end)) for end in (9, -9))
    assert ((one == up) | (one == down) | (plain == 0)).all()
    assert (one[plain == 0] == 0).all()
    assert 0.4 < (one > plain).mean() < 0.6
    assert (one == again).all() and (one != other).any()
