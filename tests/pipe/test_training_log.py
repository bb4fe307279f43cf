"""What `spacy train` prints beside spaCy's table."""

from __future__ import annotations

import io

import pytest
import spacy
from spacy.util import registry


def said(lang: str, max_epochs: int, max_steps: int, epochs: range, after: int = 0) -> list[str]:
    """What a run prints that takes a minute an epoch, of ten steps each."""
    nlp = spacy.blank(lang)
    nlp.config["training"] |= {"max_epochs": max_epochs, "max_steps": max_steps}
    out = io.StringIO()
    log, finish = registry.loggers.get("spacy_nmparse.ConsoleLogger.v1")()(nlp, out, out)
    for i in epochs:
        log(
            {
                "epoch": i,
                "step": 10 * i,
                "seconds": 60 * i,
                "score": 0.5 if i else 0.6,
                "losses": {},
                "other_scores": {},
            }
        )
        log(None)
    for _ in range(after):
        log(None)
    finish()
    return out.getvalue().splitlines()


@pytest.mark.parametrize("limits", [(40, 0), (0, 400), (40, 800), (80, 400)])
def test_the_time_that_is_left(limits: tuple[int, int]) -> None:
    """By epochs or by steps, whichever ends training; each tenth once."""
    left = [line for line in said("en", *limits, range(41)) if "left" in line]
    assert left[0] == "10% of training done, about 36 min left"
    assert left[-1] == "90% of training done, about 4 min left"
    assert len(left) == 9


def test_no_limit_no_time() -> None:
    lines = said("en", 0, 0, range(3))
    assert len(lines) == 5 and not any("left" in line or "xx" in line for line in lines)


def test_a_forgotten_language_is_said() -> None:
    assert "--nlp.lang" in said("xx", 0, 0, range(1))[0]


def test_steps_that_were_not_evaluated_are_said() -> None:
    """If they are more than a tenth."""
    for epochs, after, said_last in (
        (3, 0, ""),
        (1, 59, "The last 60 of 61 steps were not evaluated: model-best is of step 0."),
        (3, 9, "The last 10 of 31 steps were not evaluated: model-best is of step 0."),
    ):
        lines = said("en", 0, 0, range(epochs), after)
        assert ("not evaluated" in lines[-1]) == bool(said_last) and said_last in lines[-1]
    assert lines[-1].endswith("set training.eval_frequency to 3 or less.")
