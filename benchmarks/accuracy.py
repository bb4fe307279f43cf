"""Train and evaluate parsers side by side on one treebank.

    python -m benchmarks.accuracy assets/UD_Gothic-PROIEL --epochs 30 --seeds 1 2 3
    python -m benchmarks.accuracy assets/UD_Gothic-PROIEL --system nm_parser \\
        --system monotonic=nm_parser,components.parser.system.nonmonotonic_left=false

TREEBANK is a folder with the CoNLL-U files of Universal Dependencies, or one with train.spacy,
dev.spacy and test.spacy. A system is a name (a config in configs/, or a system of
benchmarks/systems.yml), or NAME=BASE with settings after commas. Each run (system and seed) becomes
one file, benchmarks/runs/accuracy/TREEBANK/SYSTEM-seedN.json; a run that has its file is skipped,
and a file that was made in another way is refused.
Gold sentence and token boundaries; the best model on dev is kept. Each split is evaluated twice:
without sentence boundaries (`dev`, `test`: a parser may still split the sentence) and with those of
the sentence preset (`dev_preset`, `test_preset`). `curve` has the scores of the evaluations on dev
during training, with the averaged weights of the time. With `--moves`, `moves` counts how the best
parser uses its non-monotonic moves on dev (`python -m spacy nmparse repairs`).

With `--also beam8:components.parser.beam_width=8` each model is evaluated once more, with other
settings, as SYSTEM_beam8. With `--teacher MODEL...` the systems are taught by other models
(docs/training.md), as SYSTEM_taught. With `--more FILE...` they also learn from CoNLL-U files of
other treebanks, and are told which sentence is of which, as SYSTEM_more.

With `--switch` all systems are trained and evaluated with the switch of docs/speed.md: sooner, and
different in the last bits. The result files say so.

`python -m benchmarks.table` prints the runs as a table, `python -m benchmarks.report` summarizes
them in benchmarks/results/accuracy.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.common import command_line, program, record, write_setting
from benchmarks.runs import Keeper
from benchmarks.systems import System, parse_system, split_settings
from benchmarks.training import (
    CURVE,
    EVALUATIONS,
    SWITCH,
    count_moves,
    duration,
    evaluate_model,
    read_curve,
    settings_of,
    train_model,
)
from benchmarks.treebanks import (
    Treebank,
    add_run_arguments,
    add_treebank_arguments,
    convert_more,
    count_words,
    open_treebank,
    path_of,
)
from spacy_nmparse.cli.records import parse_settings

SYSTEMS = ("nm_parser", "spacy_parser")


def parse_evaluation(text: str) -> tuple[str, dict[str, Any]]:
    """Read a further evaluation from the command line, NAME:KEY=VALUE[,KEY=VALUE]...: its name and
    settings. Raises a ValueError if the text is malformed."""
    name, colon, settings = text.partition(":")
    if not (name and colon and settings) or "=" in name:
        raise ValueError(f"Evaluation {text!r}: write NAME:KEY=VALUE[,KEY=VALUE]...")
    return name, parse_settings(split_settings(settings))


def find_model(output: Path, name: str) -> Path:
    """The model of a run that is to be evaluated as `name`; a RuntimeError if it is not there any
    more."""
    model = output / "model-best"
    if not model.is_dir():
        raise RuntimeError(
            f"{output.name}: no model {model} to evaluate as {name!r}; delete the result file "
            f"{output.name}.json to train it again."
        )
    return model


def evaluate_again(
    treebank: Treebank,
    trained: dict[str, Any],
    name: str,
    settings: dict[str, Any],
    work: Path,
    which: Sequence[str] = tuple(EVALUATIONS),
) -> dict[str, Any]:
    """Evaluate a trained model, whose run is `trained`, with other settings, as `name`: a run's
    contents. Raises a RuntimeError if the model is not there any more, or cannot be evaluated."""
    run_name = f"{trained['system']}-seed{trained['seed']}"
    output = work.resolve() / treebank.name / run_name
    find_model(output, name)
    prefix = f"[{treebank.name} {run_name} {name}]"
    log = output / f"log_{name}.txt"
    evaluations = evaluate_model(treebank, output, log, prefix, settings, which)
    again = {key: value for key, value in trained.items() if key not in EVALUATIONS}
    shown = [f"--set {key}={write_setting(value)}" for key, value in settings.items()]
    again["system"] = f"{trained['system']}_{name}"
    again["command"] += f"; python -m spacy nmparse evaluate {' '.join(shown)}"
    return {
        **again,
        **record(),
        "evaluated_with": settings,
        **evaluations,
    }


def words_of_more(system: System) -> dict[str, dict[str, int]]:
    """What result files say of the other treebanks that a system learns from: their words."""
    words = {name: count_words(path) for name, path in system.more.items()}
    return {"more": words} if words else {}


def train_and_evaluate(
    treebank: Treebank,
    system: System,
    seed: int,
    epochs: int,
    work: Path,
    extra: dict[str, Any],
    evaluate: Sequence[str] = tuple(EVALUATIONS),
    moves: bool = False,
    switch: bool = False,
) -> dict[str, Any]:
    """Do one run: its contents. `extra` are further settings, the same for all systems; the rest
    are options of the command line."""
    name = f"{system.name}-seed{seed}"
    output = work.resolve() / treebank.name / name
    log = output / "log.txt"
    seconds, command = train_model(treebank, system, seed, epochs, output, extra, switch)
    prefix = f"[{treebank.name} {name}]"
    evaluations = evaluate_model(treebank, output, log, prefix, {}, evaluate)
    if moves:
        corpus = treebank.corpus["dev"]
        counts = count_moves(output / "model-best", corpus, log, f"{prefix} moves:")
    overrides = {**system.overrides, **extra}
    return {
        **settings_of(treebank, system.name, system.config.name, overrides),
        **({"teachers": [path.parent.name for path in system.teachers]} if system.teachers else {}),
        **words_of_more(system),
        "seed": seed,
        "epochs": epochs,
        "command": command,
        **({"switch": SWITCH} if switch else {}),
        **record(),
        "training": duration(treebank, epochs, seconds),
        "curve": read_curve(output / CURVE),
        **evaluations,
        **({"moves": counts} if moves else {}),
    }


class Study(Keeper):
    """Trains systems and evaluates them, again with other settings, and together. `args` are the
    command line's."""

    def __init__(self, treebank: Treebank, args: argparse.Namespace) -> None:
        """Raises a ValueError if a setting is malformed."""
        super().__init__("accuracy", args.runs / treebank.name)
        self.treebank = treebank
        self.args = args
        self.extra = parse_settings(args.set)
        self.evaluations = [parse_evaluation(text) for text in args.also]

    def read(self, path: Path) -> dict[str, Any]:
        """A run that there is."""
        run: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return run

    def evaluate(self, path: Path) -> None:
        """Do the further evaluations of a run."""
        run = self.read(path)
        rest = (self.args.work, self.args.evaluate)
        for name, settings in self.evaluations:
            again = partial(evaluate_again, self.treebank, run, name, settings, *rest)
            self.keep(f"{run['system']}_{name}", run["seed"], again, {"evaluated_with": settings})

    def train(self, system: System, seed: int) -> None:
        """Do one run of a system, and its further evaluations."""
        args = self.args
        one = (self.treebank, system, seed, args.epochs, args.work, self.extra)
        options = (args.evaluate, args.moves, args.switch)
        made = partial(train_and_evaluate, *one, *options)
        expected = {
            "files": self.treebank.files,
            "config": system.config.name,
            "overrides": {**system.overrides, **self.extra},
            "epochs": args.epochs,
            **words_of_more(system),
        }
        if self.keep(system.name, seed, made, expected):
            self.evaluate(self.path(system.name, seed))

    def run(self, systems: Sequence[System]) -> None:
        """Do all that the command line asks for."""
        args = self.args
        for seed in args.seeds:
            for system in systems:
                self.train(system, seed)


def train(
    args: argparse.Namespace, folder: Path, systems: Sequence[str], more: Sequence[str] = ()
) -> int:
    """Train systems on a treebank for another benchmark, with its arguments and more of them; the
    exit status."""
    command = [str(folder), "--epochs", str(args.epochs), "--seeds", *map(str, args.seeds), *more]
    command += ["--snapshot", args.snapshot]
    command += ["--lang", args.lang] if args.lang else []
    command += ["--work", str(args.work), "--runs", str(args.runs)]
    for option, values in (("--set", args.set), ("--system", systems)):
        command += [word for value in values for word in (option, value)]
    return main(command)


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    parser = command_line(__doc__)
    add_treebank_arguments(parser)
    parser.add_argument("--system", action="append", metavar="NAME[=BASE[,KEY=VALUE]...]")
    add_run_arguments(parser, "accuracy", epochs=20)
    parser.add_argument(
        "--also", action="append", default=[], metavar="NAME:KEY=VALUE[,KEY=VALUE]..."
    )
    parser.add_argument(
        "--evaluate", nargs="+", choices=tuple(EVALUATIONS), default=tuple(EVALUATIONS)
    )
    parser.add_argument(
        "--moves", action="store_true", help="count how non-monotonic moves are used on dev"
    )
    parser.add_argument("--switch", action="store_true", help="use the switch of docs/speed.md")
    parser.add_argument(
        "--teacher",
        type=path_of,
        nargs="+",
        default=(),
        metavar="MODEL",
        help="learn from pipelines",
    )
    parser.add_argument(
        "--more",
        type=path_of,
        nargs="+",
        default=(),
        metavar="FILE",
        help="learn from other treebanks, too",
    )
    args = parser.parse_args(argv)
    systems = [parse_system(text) for text in args.system or SYSTEMS]
    if args.teacher:
        teachers = tuple(path.resolve(strict=True) for path in args.teacher)
        systems = [replace(one, name=f"{one.name}_taught", teachers=teachers) for one in systems]
    treebank = open_treebank(args)
    if args.more:
        files = [path.resolve(strict=True) for path in args.more]
        more = convert_more(files, args.work.resolve() / treebank.name / "more")
        systems = [replace(one, name=f"{one.name}_more", more=more) for one in systems]
    study = Study(treebank, args)
    study.run(systems)
    return study.status()


if __name__ == "__main__":
    raise SystemExit(main())
