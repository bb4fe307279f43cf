"""What ``spacy train`` says beside spaCy's table of scores: which model is replaced, how long
training will still take, at the end what was not evaluated, and what went wrong. The scores are
also written to a file beside the model, and drawn."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from spacy.language import Language
from spacy.training import Example
from spacy.util import registry

from spacy_nmparse.pipe.files import write_files
from spacy_nmparse.pipe.training_curve import training_curve
from spacy_nmparse.private import training_output

#: Shares of training after which the time that is left is said. A larger share that comes after the
#: last evaluation is said, too.
TENTHS = 10
#: Seconds after which the time that is left is said for the first time.
SOON = 15
#: The file beside the model; each line has the scores of one evaluation, as JSON.
SCORES = "scores.jsonl"
CURVE = "scores.svg"
KINDS = ("epoch", "step", "words", "seconds", "score", "other_scores", "losses")

Log = tuple[Callable[[dict[str, Any] | None], None], Callable[[], None]]


class Epochs:
    """Counts the epochs of the training that runs in this process, with fractions.

    done: the number of epochs whose words have gone into batches.
    """

    def __init__(self) -> None:
        self.done = 0.0

    def count(
        self, batches: Iterable[Sequence[Example]], examples: Sequence[Example]
    ) -> Iterator[Sequence[Example]]:
        """The batches of an epoch that has these examples, counted."""
        before, n_words, seen = self.done, sum(len(one.reference) for one in examples), 0
        for batch in batches:
            seen += sum(len(one.reference) for one in batch)
            self.done = before + seen / max(n_words, 1)
            yield batch
        self.done = before + 1


EPOCHS = Epochs()


def prepare_training() -> None:
    """Say which model a `spacy train` that runs will replace, and let an error that ends it be said
    before its traceback."""
    output = training_output()
    if output is None or getattr(sys.excepthook, "__module__", None) == __name__:
        return  # another command, or prepared already
    show_traceback = sys.excepthook

    def excepthook(kind: Any, error: BaseException, traceback: Any) -> None:
        if isinstance(error, Exception):
            print(f"Error: {error}", file=sys.stderr)
        show_traceback(kind, error, traceback)

    sys.excepthook = excepthook
    best = output / "model-best"
    if best.is_dir():
        print(f"{best} {_described(best)}is replaced: stop now (Ctrl+C) to keep it.", flush=True)


def _described(model: Path) -> str:
    """The main scores of a model, in brackets."""
    try:
        scores = json.loads((model / "meta.json").read_text("utf-8"))["performance"]
        found = [f"{name} {100 * scores[name]:.2f}" for name in ("dep_uas", "dep_las")]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return f"({', '.join(found)}) "


def start_log(nlp: Language, stdout: IO, stderr: IO) -> Log:
    """Begin the log of a training run: what logs a step, and what ends the log."""
    training = nlp.config["training"]
    limits = {"epoch": training["max_epochs"], "step": training["max_steps"]}
    said = unevaluated = n_steps = 0
    evaluated: list[dict[str, Any]] = []
    weights = training.get("score_weights", {})
    names = [name for name, weight in weights.items() if weight is not None]
    start, EPOCHS.done = time.monotonic(), 0.0

    def log_step(info: dict[str, Any] | None) -> None:
        nonlocal said, unevaluated, n_steps, start
        log_row(info)
        if not n_steps:
            start = time.monotonic()  # behind the first evaluation, which trains nothing
        n_steps += 1
        unevaluated = 0 if info else unevaluated + 1
        seconds = time.monotonic() - start
        reached = {"epoch": EPOCHS.done, "step": n_steps}
        if info:
            evaluated.append(info)
            _write_scores(evaluated, names)
            seconds = info["seconds"]
            reached = {name: max(reached[name], info[name]) for name in limits}
        done = max((reached[name] / limits[name] for name in limits if limits[name] > 0), default=0)
        is_first = not said and 0 < done < 1 and time.monotonic() - start >= SOON
        if is_first or (info and said < int(TENTHS * done) < TENTHS):
            said = max(int(TENTHS * done), 1)
            minutes = seconds * (1 - done) / done / 60
            left = f"about {minutes:.0f} min" if minutes >= 1 else "less than a minute"
            print(f"{done:.0%} of training done, {left} left", file=stdout)

    def end() -> None:
        finish()
        steps = evaluated[-1]["step"] + 1 + unevaluated if evaluated else 0
        if TENTHS * unevaluated > steps:
            best = max(evaluated, key=lambda info: (info["score"], info["step"]))
            print(
                f"The last {unevaluated} of {steps} steps were not evaluated: model-best is of "
                f"step {best['step']}. Compare model-last, or set training.eval_frequency to "
                f"{max(1, steps // TENTHS)} or less.",
                file=stdout,
            )

    log_row, finish = registry.loggers.get("spacy.ConsoleLogger.v3")()(nlp, stdout, stderr)
    return log_step, end


def _write_scores(evaluated: Sequence[dict[str, Any]], names: Sequence[str]) -> None:
    """Add the scores of the last evaluation to the file beside the model, which the first begins,
    and draw those of these names."""
    info = evaluated[-1]
    model = info.get("output_path")
    if model is not None:
        path = Path(model).with_name(SCORES)
        with path.open("w" if len(evaluated) == 1 else "a", encoding="utf-8") as file:
            print(json.dumps({kind: info.get(kind) for kind in KINDS}, default=float), file=file)
        write_files({path.with_name(CURVE): training_curve(evaluated, names).encode()})
