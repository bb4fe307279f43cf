"""Measure the speed of parsers on the same data, as users get it: no variable is set.

    python -m benchmarks.speed
    python -m benchmarks.speed --treebank assets/UD_English-EWT --ops default switch
    python -m benchmarks.speed --beam 8 --stages parse pipeline
    python -m benchmarks.speed --models training/demo/nm_parser/model-best \\
        training/demo/spacy_parser/model-best

Words per second of

    parse     the parser alone: token vectors are given, as the tok2vec component left them
    pipeline  from text to trees, tokenizer and tok2vec included
    training  updates of the whole pipeline

`--busy 0 1` measures each of these on an otherwise idle machine, and next to one process that keeps
a processor core busy.

The parsers are trained first, for a few epochs, on the demo's corpus, which scripts/prepare_demo.py
makes (`--treebank`: another folder of .spacy files, or of Universal Dependencies): the three
factories and, to compare them with, two pipelines of spaCy's parser. `spacy_init_config` is what
`spacy init config --pipeline parser --optimize efficiency` makes, which is what most users train;
`spacy_parser_multihash` has the sizes of the factory `parser`. All take turns: one timing each per
repetition, on fresh copies of the documents, in alternating order. A ratio compares two timings of
one repetition. A parser must give the same trees every time. Our token vectors keep those of words
that they have seen: before each timing from text they see the text of `training` alone.

Documents have ten sentences without preset boundaries (`--unit sentence`: one sentence each).
`--ops` chooses who computes matrix products for Thinc, for spaCy's parser too: `default` (BLIS on
most machines), or `switch` (the callback spacy_nmparse.fast_blas.v1, docs/speed.md). With both, all
take turns, and ratios are to spaCy's parsers on the first of them.

`--beam 8` compares beam search of that width: ours, with models that were trained without a beam,
against spaCy's `beam_parser`, trained as its defaults have it. A system SYSTEM_beam4 is SYSTEM, of
this package, searched with a beam of 4; SYSTEM_threads2 parses with two threads.

Result: a table, and benchmarks/runs/speed/TREEBANK-UNIT-CLASS.json (with a beam:
TREEBANK-UNIT-beam8-CLASS.json). The class is the processor's (docs/speed.md; NMPARSE_CPU chooses a
lower one); a file of another class is not written over.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from benchmarks.common import ROOT, RUNS, WORK, command_line, program, record, run
from benchmarks.contestants import PARSER, STAGES, Contestant, Timing
from benchmarks.formats import markdown
from benchmarks.systems import find_system
from benchmarks.treebanks import Treebank, add_source_arguments, open_treebank
from spacy_nmparse.analysis.evaluate import read_docs, references
from spacy_nmparse.cli.records import dump

#: The data by default, and their language.
DEMO = (ROOT / "corpus" / "demo", "tr")
SPACY = "spacy_"  # how the names of systems with spaCy's parser begin
INIT_CONFIG = "spacy_init_config"
FACTORY = "spacy_parser_multihash"  # of the sizes of spaCy's factory
OPS = ("default", "switch")
#: Variables that libraries of matrix products read; a run where one is set is refused.
VARIABLES = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM")
#: A process that keeps one processor core busy.
BUSY = "while True: pass"


def split_name(name: str, beam: int) -> tuple[str, int, int]:
    """Read a name of the command line: that of the config, the width of the beam (`beam` where the
    name has none), and the threads."""
    match = re.fullmatch(r"(.+?)(?:_beam(\d+))?(?:_threads(\d+))?", name)
    assert match is not None
    return match[1], int(match[2] or beam), int(match[3] or 1)


def train(system: str, data: Treebank, epochs: int, seed: int, work: Path, beam: int = 1) -> Path:
    """Train a system with a beam of this width; spaCy's parser is then its beam parser. Returns the
    trained pipeline. Raises a ValueError if there is no such system, a RuntimeError if training
    fails."""
    output = (work / data.name / (f"{system}-beam{beam}" if beam > 1 else system)).resolve()
    if system == INIT_CONFIG:
        output.mkdir(parents=True, exist_ok=True)
        config = output / "config.cfg"
        how = ["--lang", data.lang, "--pipeline", PARSER, "--optimize", "efficiency", "--force"]
        run(["-m", "spacy", "init", "config", str(config), *how], output / "log.txt", f"[{system}]")
    else:
        config = find_system(system).write(output, {})
    command = ["-m", "spacy", "train", str(config), "--output", str(output)]
    command += ["--nlp.lang", data.lang, "--system.seed", str(seed)]
    command += ["--training.max_epochs", str(epochs)]
    if beam > 1 and system.startswith(SPACY):
        command += ["--components.parser.factory", "beam_parser"]
        command += ["--components.parser.beam_width", str(beam)]
    for split in ("train", "dev"):
        command += [f"--paths.{split}", str(data.corpus[split].resolve())]
    run(command, output / "log.txt", f"[{system}]")
    return output / "model-last"


def choose_docs(
    data: Treebank, nlp: Language, unit: str, splits: Sequence[str], n: int
) -> list[Doc]:
    """Read gold documents of some splits, whole or a sentence each (`unit`), and repeat them until
    there are at least `n` words."""
    docs = [doc for split in splits for doc in references(read_docs(nlp, data.corpus[split]), unit)]
    chosen: list[Doc] = []
    while sum(map(len, chosen)) < n:
        chosen.append(docs[len(chosen) % len(docs)])
    return chosen


def spread(values: Sequence[float], digits: int = 0) -> str:
    """Write a median with least and greatest value."""
    low, median, high = min(values), statistics.median(values), max(values)
    return f"{median:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"


def ratios(ours: Timing, theirs: Timing) -> list[float]:
    """How many times as fast one is as the other, repetition by repetition."""
    return [b / a for a, b in zip(ours.seconds, theirs.seconds, strict=True)]


def compare(
    title: str,
    contestants: Sequence[Contestant],
    bases: Sequence[Contestant],
    stages: Sequence[str],
) -> list[list[str]]:
    """Make the rows of the table. `title` is what they have in common (matrix products, load); each
    of `bases` has a column for the parsers' ratios to it."""
    rows = []
    for stage in stages:
        for contestant in contestants:
            timing = contestant.timings[stage]
            row = [f"{stage}, {contestant.name}, {title}", spread(timing.rates())]
            for base in bases:
                times = spread(ratios(timing, base.timings[stage]), 2)
                row.append("" if contestant is base else times)
            rows.append(row)
    return rows


@contextlib.contextmanager
def load_of(n: int) -> Iterator[None]:
    """Keep so many processor cores busy."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(n)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def measure(contestants: Sequence[Contestant], reps: int, stages: Sequence[str] = STAGES) -> None:
    """Time the stages, the parsers taking turns: so many repetitions, and one before, not
    counted."""
    for contestant in contestants:
        contestant.timings = {stage: Timing() for stage in STAGES}
    for stage in stages:
        for rep in range(reps + 1):
            turn = contestants if rep % 2 else list(reversed(contestants))
            for contestant in turn:
                getattr(contestant, stage)()
                if rep == 0:
                    contestant.timings[stage] = Timing()
            if sys.stdout.isatty():
                print(f"\r{stage}: {rep} of {reps}", end="\n" if rep == reps else "", flush=True)


def refuse_other_class(path: Path, kind: str) -> None:
    """Raise a ValueError if there is a result of another class of processors."""
    if path.exists():
        found = json.loads(path.read_text(encoding="utf-8"))["machine"].get("class")
        if found != kind:
            raise ValueError(
                f"{path} was measured in the class {found}, and this process has {kind}: name "
                f"another file (-o), or remove it."
            )


def shown(models: Sequence[Path] | None) -> str:
    """The option --models for the record, without the folders they happen to be in: a trained
    pipeline is known by the folder around it. Empty without models."""
    if not models:
        return ""
    trained = ("model-best", "model-last")
    names = ["/".join(path.parts[-2 if path.name in trained else -1 :]) for path in models]
    return f"--models {' '.join(names)} "


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    parser = command_line(__doc__)
    parser.add_argument("--treebank", type=Path, help="folder of a UD treebank, or of .spacy files")
    add_source_arguments(parser)
    parser.add_argument(
        "--systems", nargs="+", metavar="NAME",
        default=["nm_parser", "swap_parser", "nl_covington_parser", INIT_CONFIG, FACTORY],
        help="systems; all are compared with those whose names begin with spacy_",
    )  # fmt: skip
    parser.add_argument(
        "--models", nargs="+", type=Path, metavar="FOLDER",
        help="trained pipelines of the systems, in their order; by default they are trained",
    )  # fmt: skip
    parser.add_argument("--epochs", type=int, default=3, help="epochs to train")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reps", type=int, default=7, help="repetitions")
    parser.add_argument("--words", type=int, default=20_000, help="words to parse each time")
    parser.add_argument("--train-words", type=int, default=5_000, help="words to learn each time")
    parser.add_argument("--unit", choices=("doc", "sentence"), default="doc")
    parser.add_argument("--ops", nargs="+", choices=OPS, default=["default"])
    parser.add_argument(
        "--busy", nargs="+", type=int, default=[0, 1], metavar="N",
        help="measure next to N processes that keep a processor core busy each",
    )  # fmt: skip
    parser.add_argument("--beam", type=int, default=1, metavar="WIDTH", help="width of the beams")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES))
    parser.add_argument("--work", type=Path, default=WORK / "speed")
    parser.add_argument("-o", "--output", type=Path, help="JSON file to write")
    args = parser.parse_args(argv)
    if args.models and len(args.models) != len(args.systems):
        parser.error(f"{len(args.systems)} systems need as many models, not {len(args.models)}.")
    set_ = [name for name in VARIABLES if f"{name}_NUM_THREADS" in os.environ]
    if set_:
        parser.error(f"Unset {set_[0]}_NUM_THREADS: speed is measured as users get it.")
    if args.treebank is None:
        args.treebank, args.lang = DEMO[0], args.lang or DEMO[1]
    data = open_treebank(args, n_sents=10)
    about = record()
    kind = about["machine"]["class"]
    beam = f"-beam{args.beam}" if args.beam > 1 else ""
    output = args.output or RUNS / "speed" / f"{data.name}-{args.unit}{beam}-{kind}.json"
    refuse_other_class(output, kind)
    systems = [split_name(name, args.beam) for name in args.systems]
    trained = {
        system: train(system, data, args.epochs, args.seed, args.work, args.beam)
        for system in ([] if args.models else dict.fromkeys(one for one, *_ in systems))
    }
    paths = args.models or [trained[system] for system, *_ in systems]
    vocab = spacy.blank(data.lang)
    gold = choose_docs(data, vocab, args.unit, ("dev", "test"), args.words)
    learned = choose_docs(data, vocab, args.unit, ("train",), args.train_words)
    groups = {
        ops: [
            Contestant(name, path, gold, learned, width, threads, ops)
            for name, path, (_, width, threads) in zip(args.systems, paths, systems, strict=True)
        ]
        for ops in args.ops
    }
    ours = [one for group in groups.values() for one in group]
    bases = [one for one in groups[args.ops[0]] if one.name.startswith(SPACY)]
    rows = []
    results: dict[str, Any] = {}
    for busy in args.busy:
        with load_of(busy):
            measure(ours, args.reps, args.stages)
        results[str(busy)] = {}
        for ops, group in groups.items():
            rows += compare(f"{ops}, {busy} busy", group, bases, args.stages)
            results[str(busy)][ops] = {
                stage: {one.name: one.timings[stage].as_dict() for one in group}
                for stage in args.stages
            }
    print(
        f"\n{data.name}: {len(gold)} documents, {sum(map(len, gold)):,} words; "
        f"{about['machine']['processor']}, class {kind}\n"
    )
    title = ["stage, parser, matrix products, load"]
    title += [f"words per second: median of {args.reps} (range)"]
    print(markdown([*title, *(f"times {base.name}" for base in bases)], rows))
    options = ["treebank", "epochs", "seed", "reps", "words", "train_words", "unit", "ops"]
    options += ["busy", "beam", "stages"]
    given = {name: getattr(args, name) for name in options}
    given |= {"treebank": data.name, "epochs": None if args.models else args.epochs}
    result = {
        "command": f"python -m benchmarks.speed --systems {' '.join(args.systems)} "
        f"{shown(args.models) or f'--epochs {args.epochs} '}--reps {args.reps} "
        f"--words {args.words} --train-words {args.train_words} --unit {args.unit} "
        f"--ops {' '.join(args.ops)} --busy {' '.join(map(str, args.busy))} --beam {args.beam} "
        f"--stages {' '.join(args.stages)}",
        "settings": given,
        **about,
        "documents": len(gold),
        "results": results,
    }
    dump(result, output)
    print(f"\nWritten to {output}")


if __name__ == "__main__":
    raise SystemExit(main())
