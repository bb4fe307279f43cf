"""Compare whole pipelines, from text to CoNLL-U: ours, spaCy's own components, and UDPipe 1.

    python -m benchmarks.pipelines assets/UD_Hungarian-Szeged assets/UD_Turkish-IMST --seeds 1 2 3
    python -m benchmarks.pipelines assets/UD_Hungarian-Szeged --systems udpipe \\
        --udpipe-tokenizer "epochs=8"

Each is trained on the treebank's training data, and parses the running text of dev and test
(benchmarks/raw_text.py). Ours is that of the workflow `ud` of project.yml. spaCy's has the
components that spaCy's own pipelines have; its sentences are those of the senter or of the parser,
whichever gives more LAS on dev. UDPipe has its authors' options, but for their vectors of words.
Each run becomes one file, benchmarks/runs/pipelines/TREEBANK/SYSTEM-seedN.json; runs that have
theirs are kept. Without treebanks the command prints what is there.
"""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import spacy
from spacy.util import load_config

from benchmarks import udpipe
from benchmarks.common import ROOT, command_line, program, record, run, show
from benchmarks.formats import markdown, mean_and_deviation
from benchmarks.runs import Keeper, Runs, load
from benchmarks.summary import made_with, spread
from benchmarks.systems import System, find_system
from benchmarks.training import duration, settings_of, train_model
from benchmarks.treebanks import (
    Treebank,
    add_run_arguments,
    choose_lang,
    convert_treebank,
    find_splits,
    path_of,
)
from spacy_nmparse.cli.records import parse_settings
from spacy_nmparse.ud.conll18 import METRICS
from spacy_nmparse.ud.conllu import EMPTY, XPOS, read_rows
from spacy_nmparse.ud.treebank import split_by
from spacy_nmparse.ud.whole_pipeline import whole_pipeline

OURS, SPACY, UDPIPE = "nl_covington_parser", "spacy_pipeline", "udpipe"
SYSTEMS = (OURS, SPACY, UDPIPE)
UDPIPE_SEED = 1  # its own, which cannot be set
SENTENCES_PER_DOC = 10
SPLITS = ("dev", "test")


def has_xpos(conllu: Path) -> bool:
    """Tell whether a treebank has tags of its own (XPOS)."""
    rows = (row for sentence in read_rows(conllu) for row in sentence.words)
    return any(row[XPOS] != EMPTY for row in rows)


def build(name: str, conllu: Path, work: Path) -> System:
    """Make the system that spaCy trains: SPACY, or ours, a whole pipeline around the config of a
    parser, written to `work`. Raises a ValueError if there is no such system."""
    system = find_system(name)
    if name == SPACY:
        if has_xpos(conllu):
            return system
        changed = {key: v for key, v in system.overrides.items() if key != "components.tagger"}
        pipes = [pipe for pipe in changed["nlp.pipeline"] if pipe != "tagger"]
        return replace(system, overrides={**changed, "nlp.pipeline": pipes})
    work.mkdir(parents=True, exist_ok=True)
    config = work / f"{name}-whole.cfg"
    whole_pipeline(load_config(system.config, interpolate=False)).to_disk(config)
    return System(name, config)


def zipped(model: Path) -> int:
    """Count the bytes of a model, compressed as in a wheel."""
    folder, name = (model.parent, model.name) if model.is_file() else (model, ".")
    archive = Path(shutil.make_archive(str(model) + "-size", "zip", folder, name))
    size = archive.stat().st_size
    archive.unlink()
    return size


def parse_texts(
    model: Path, files: dict[str, Path], log: Path, prefix: str, without: list[str]
) -> dict[str, Any]:
    """Parse and score the texts of dev and test, each in a process of its own, without some
    components; the results by split. Raises a RuntimeError if one fails."""
    results = {}
    for split in SPLITS:
        target = log.parent / f"{split}.json"
        command = ["-m", "benchmarks.raw_text", str(model), str(files[split]), "-o", str(target)]
        command += ["--without", *without] if without else []
        run(command, log, f"{prefix} {split}:", ROOT)
        results[split] = json.loads(target.read_text(encoding="utf-8"))
    return results


def train_spacy(
    treebank: Treebank,
    files: dict[str, Path],
    name: str,
    seed: int,
    epochs: int,
    output: Path,
    extra: dict[str, Any],
) -> dict[str, Any]:
    """Train and evaluate a pipeline of spaCy, with further settings, in the folder `output`: the
    run's contents. Raises a RuntimeError if a step fails, a ValueError if there is no such
    system."""
    system = build(name, files["train"], output.parent)
    extra = {"corpora.train.gold_preproc": False, **extra}
    seconds, command = train_model(treebank, system, seed, epochs, output, extra)
    model, log = output / "model-best", output / "log.txt"
    prefix = f"[{treebank.name} {output.name}]"
    results = parse_texts(model, files, log, prefix, [])
    without: list[str] = []
    if name == SPACY:
        other = parse_texts(model, files, log, f"{prefix} no senter", ["senter"])
        if other["dev"]["conll18"]["LAS"] > results["dev"]["conll18"]["LAS"]:
            results, without = other, ["senter"]
    overrides = {**system.overrides, **extra}
    return {
        **settings_of(treebank, name, system.config.name, overrides),
        "seed": seed,
        "without": without,
        "epochs": epochs,
        "command": command,
        "bytes": zipped(model),
        "training": duration(treebank, epochs, seconds),
        **record(),
        **results,
    }


def train_udpipe(
    treebank: Treebank, files: dict[str, Path], options: dict[str, str], output: Path
) -> dict[str, Any]:
    """Train and evaluate UDPipe with its options for `tokenizer`, `tagger` and `parser`; the rest
    is as for `train_spacy`."""
    output.mkdir(parents=True, exist_ok=True)
    model, log = output / "udpipe.model", output / "log.txt"
    prefix = f"[{treebank.name} {output.name}]"
    command = ["-m", "benchmarks.udpipe", "pipeline"]
    given = [word for part, text in options.items() for word in (f"--{part}", text)]
    train = [*command, str(files["train"]), str(files["dev"]), str(model), *given]
    seconds = run(train, log, prefix, ROOT)
    results = parse_texts(model, files, log, prefix, [])
    about = record()
    about["versions"]["ufal.udpipe"] = metadata.version("ufal.udpipe")
    shown = " ".join(f'--{part} "{text}"' for part, text in options.items())
    epochs = udpipe.iterations(options["parser"])
    return {
        **settings_of(treebank, UDPIPE, "UDPipe 1", options),
        "seed": UDPIPE_SEED,
        "epochs": epochs,
        "command": f"python {' '.join(command)} {shown}",
        "bytes": zipped(model),
        "training": duration(treebank, epochs, seconds),
        **about,
        **results,
    }


def speed(run: dict[str, Any], split: str) -> float:
    """Words a second of the processor's time."""
    found: dict[str, float] = run[split]
    return found["words"] / found["processor_seconds"]


def summarize(folder: Path) -> dict[str, Any]:
    """Summarize runs, as all summarizers of benchmarks.report do."""
    systems: dict[str, dict[str, Any]] = {}
    for treebank, found in load(folder).items():
        for name, runs in found.items():
            every = [run for _, run in sorted(runs.items())]
            kept = ("config", "overrides", "without", "epochs", "command", "snapshot")
            entry: dict[str, Any] = {"seeds": sorted(runs)}
            entry |= {key: every[0][key] for key in kept if key in every[0]}
            entry["made_with"] = made_with(every[0])
            entry["training_seconds"] = spread([one["training"]["seconds"] for one in every])
            entry["bytes"] = spread([one["bytes"] for one in every])
            for split in SPLITS:
                scores = {
                    metric: spread([one[split]["conll18"][metric] for one in every])
                    for metric in METRICS
                }
                rates = [round(speed(one, split), 1) for one in every]
                entry[split] = {**scores, "words_per_second": spread(rates)}
            systems.setdefault(treebank, {})[name] = entry
    return {"systems": systems, "comparisons": {}}


def report(systems: dict[str, Runs], split: str) -> str:
    """The table of one treebank: mean and standard deviation over seeds."""
    rows = []
    for name, runs in systems.items():
        every = list(runs.values())
        row = [name, str(len(runs))]
        for metric in METRICS:
            row.append(mean_and_deviation((one[split]["conll18"][metric] for one in every), 100, 2))
        row.append(mean_and_deviation((speed(one, split) for one in every), 1, 0))
        row.append(mean_and_deviation((one["bytes"] for one in every), 1e-6, 2))
        row.append(mean_and_deviation((one["training"]["seconds"] for one in every), 1 / 60, 1))
        rows.append(row)
    return markdown(["system", "seeds", *METRICS, "words/s", "MB", "minutes"], rows)


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    parser = command_line(__doc__)
    parser.add_argument("treebanks", type=path_of, nargs="*", help="folders of UD treebanks")
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), help="also other configs")
    parser.add_argument("--snapshot", default="unknown", help="release of the treebanks")
    for part in udpipe.PIPELINE:
        parser.add_argument(f"--udpipe-{part}", default="", metavar="KEY=VALUE[;KEY=VALUE]...")
    parser.add_argument("--split", choices=SPLITS, default="test")
    add_run_arguments(parser, "pipelines", epochs=80)
    args = parser.parse_args(argv)
    extra = parse_settings(args.set)
    status = 0
    for folder in args.treebanks:
        files = find_splits(folder.resolve())
        lang = choose_lang(files["train"])
        merge = split_by(spacy.blank(lang))
        treebank = convert_treebank(
            folder, args.work, lang, args.snapshot, SENTENCES_PER_DOC, True, merge
        )
        keeper = Keeper("pipelines", args.runs / treebank.name)
        work = args.work.resolve() / treebank.name
        for seed, name in itertools.product(args.seeds, args.systems):
            if name == UDPIPE:
                options = {
                    part: udpipe.merge_options(text, getattr(args, f"udpipe_{part}"))
                    for part, text in udpipe.pipeline_options(treebank.name).items()
                }
                output = work / f"{UDPIPE}-seed{UDPIPE_SEED}"
                make = partial(train_udpipe, treebank, files, options, output)
                keeper.keep(UDPIPE, UDPIPE_SEED, make, {"overrides": options})
            else:
                of = (treebank, files, name, seed, args.epochs, work / f"{name}-seed{seed}")
                make = partial(train_spacy, *of, extra)
                keeper.keep(name, seed, make, {"epochs": args.epochs})
        status = keeper.status() or status
    parts = [
        f"## {treebank} ({args.split})\n\n{report(systems, args.split)}"
        for treebank, systems in load(args.runs).items()
    ]
    show("\n\n".join(parts))
    return status


if __name__ == "__main__":
    raise SystemExit(main())
