"""What ``spacy train`` prints: spaCy's table of scores, and how long training will still take,
and at the end what was not evaluated."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any

from spacy.language import Language
from spacy.util import registry

#: Shares of training after which the time that is left is said. A larger share that comes after the
#: last evaluation is said, too.
TENTHS = 10

NO_LANGUAGE = (
    "The language is xx: tokens are split by rules of no language. Does spaCy know yours? "
    "Give --nlp.lang CODE."
)

Log = tuple[Callable[[dict[str, Any] | None], None], Callable[[], None]]


def start_log(nlp: Language, stdout: IO, stderr: IO) -> Log:
    """Begin the log of a training run: what logs a step, and what ends the log."""
    training = nlp.config["training"]
    limits = {"epoch": training["max_epochs"], "step": training["max_steps"]}
    said = unevaluated = 0
    evaluated: list[tuple[float, int]] = []  # scores with their steps

    def log_step(info: dict[str, Any] | None) -> None:
        nonlocal said, unevaluated
        log_row(info)
        if info is None:
            unevaluated += 1
            return
        unevaluated = 0
        evaluated.append((info["score"], info["step"]))
        done = max([info[name] / limit for name, limit in limits.items() if limit > 0], default=0.0)
        if said < int(TENTHS * done) < TENTHS:
            said = int(TENTHS * done)
            minutes = info["seconds"] * (1 - done) / done / 60
            print(f"{done:.0%} of training done, about {minutes:.0f} min left", file=stdout)

    def end() -> None:
        finish()
        steps = evaluated[-1][1] + 1 + unevaluated if evaluated else 0
        if TENTHS * unevaluated > steps:
            print(
                f"The last {unevaluated} of {steps} steps were not evaluated: model-best is of "
                f"step {max(evaluated)[1]}. Compare model-last, or set training.eval_frequency to "
                f"{max(1, steps // TENTHS)} or less.",
                file=stdout,
            )

    if nlp.lang == "xx":
        print(NO_LANGUAGE, file=stdout)
    log_row, finish = registry.loggers.get("spacy.ConsoleLogger.v3")()(nlp, stdout, stderr)
    return log_step, end
