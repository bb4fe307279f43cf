"""The steps of the workflows `demo` and `ud` in project.yml.

    python scripts/demo.py train corpus/demo training/demo --lang tr --epochs 10
    python scripts/demo.py evaluate training/demo corpus/demo metrics/demo
    python scripts/demo.py package training/demo/nm_parser/model-best packages --name nm_parser_demo
    python scripts/demo.py parse tr_nm_parser_demo --text "Bu kitabı sana kim verdi?"
    python scripts/demo.py table metrics/demo

`train` trains the parsers of configs/ on the same data, seed and epochs, at the same time.
`package` installs the wheel into the environment of the Python that runs it, but for
`--wheel make`. The scores from raw text are those of scripts/evaluate.py: F1 over all words by the
CoNLL 2018 evaluation, which needs the package udtools (in the extra demo).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import spacy
from spacy.tokens import Doc, DocBin
from spacy.util import load_config
from wasabi import table

from spacy_nmparse.analysis.licences import Source, source_of
from spacy_nmparse.ud import conll18
from spacy_nmparse.ud.treebank import find_splits
from spacy_nmparse.ud.whole_pipeline import LEMMATIZER, whole_pipeline

ROOT = Path(__file__).resolve().parent.parent
SYSTEMS = ("nm_parser", "spacy_parser")
#: How long teachers train, and the parser that they teach, in shares of the epochs and steps of one
#: without teachers.
TEACHERS, PUPIL = 0.5, 1.5
#: What teachers differ in, by turns, so that they err in different places: the config; phrases are
#: exchanged, and no words; a wider network.
KINDS: dict[str, dict[str, Any]] = {
    "": {},
    "phrases": {"training.batcher.level": 0.0, "training.batcher.phrases": 0.4},
    "wide": {"components.parser.model.recurrent_width": 128},
}
NONE = "none"  # in place of a system, or of a wheel: leave it out
WHEELS = ("install", "make", NONE)
#: How each model is evaluated: name, options of evaluate.py.
EVALUATIONS = {
    "gold": ("--unit", "sentence", "--tokens", "gold"),
    "raw": ("--unit", "doc", "--tokens", "raw"),
}
#: From raw text, where the CoNLL-U file is known: the running text.
RUNNING = ("--unit", "text", "--tokens", "raw", "--conllu")
#: Bytes of a wheel above which `package` warns.
LARGEST_WHEEL = 10_000_000
_printing = threading.Lock()


def run(
    command: list[str],
    folder: Path,
    prefix: str = "",
    *,
    log: Path | None = None,
    quiet: bool = False,
) -> None:
    """Run a Python command and show its output line by line.

    Args:
        command: The arguments after the Python interpreter.
        folder: The working folder. (Not the project's: Python would import the package from the
            source tree there, which may not be compiled.)
        prefix: What to write before each line.
        log: A file to write the output to as well.
        quiet: Whether to show the output only if the command fails.

    Raises:
        RuntimeError: If the command fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    env = {
        **os.environ,
        "PYTHONUNBUFFERED": "1",
        "PYTHONIOENCODING": "utf-8",
        "ANSI_COLORS_DISABLED": "1",
    }
    lines = []
    with subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=env,
        cwd=folder,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if not quiet:
                with _printing:
                    print(f"{prefix}{line.rstrip()}", flush=True)
    if log is not None:
        log.write_text("".join(lines), encoding="utf-8")
    if process.returncode:
        if quiet:
            print("".join(lines[-40:]), end="")
        raise RuntimeError(
            f"{prefix}{' '.join(command[:3])} ended with status {process.returncode}; "
            "its output above says why."
        )


def train(
    corpus: Path,
    output: Path,
    *,
    systems: list[str],
    lang: str,
    epochs: int,
    seed: int,
    settings: list[str],
    whole: bool = False,
    teachers: int = 0,
) -> None:
    """Train the parsers, at the same time.

    Args:
        corpus: The folder with train.spacy and dev.spacy.
        output: The folder for a folder per system.
        systems: Names of configs.
        lang: spaCy's language code.
        epochs: Passes over the training data.
        seed: The random seed.
        settings: Further settings of the configs, KEY=VALUE.
        whole: Whether the first system becomes a whole pipeline (scripts/whole_pipeline.py).
        teachers: How many parsers teach the first system (see `teach`).

    Raises:
        FileNotFoundError: If the data is missing.
        ImportError: If udtools, which `evaluate` will need, is not installed.
        RuntimeError: If a training fails.
        ValueError: If there is no such system, a setting is malformed, or so many teachers, or
            teachers of spaCy's parser, are wanted.
    """
    conll18.require_udtools()
    if teachers < 0 or teachers == 1:
        raise ValueError(f"--teachers {teachers}: it takes two or more, or 0 for none.")
    if teachers and systems and systems[0].startswith("spacy_"):
        raise ValueError(f"--teachers teach parsers of this package, and {systems[0]} is none.")
    common = ["--nlp.lang", lang, "--system.seed", str(seed)]
    common += ["--training.max_epochs", str(epochs)]
    for split in ("train", "dev"):
        path = (corpus / f"{split}.spacy").resolve()
        if not path.is_file():
            raise FileNotFoundError(f"No file {path}: run the step that makes the data first.")
        common += [f"--paths.{split}", str(path)]
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise ValueError(f"Setting {setting!r}: write section.key=value.")
        common += [f"--{key}", value]

    def train_one(system: str) -> float:
        config = ROOT / "configs" / f"{system}.cfg"
        if not config.is_file():
            raise ValueError(f"No config {config} for system {system!r}.")
        folder = (output / system).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        start = time.perf_counter()
        own: list[str] = []
        alone = load_config(config, interpolate=False)
        if whole and system == systems[0]:
            made = whole_pipeline(alone)
            config = folder / "pipeline.cfg"
            made.to_disk(config, interpolate=False)
            alone["initialize"]["before_init"] = made["initialize"]["before_init"]
        if teachers and system == systems[0]:
            alone.to_disk(folder / "teacher.cfg", interpolate=False)
            seeds = range(seed, seed + teachers)
            steps = alone["training"]["max_steps"]
            options = [*common, *duration(epochs, steps, TEACHERS)]
            own += teach(folder / "teacher.cfg", folder / "teachers", options, seeds)
            own += duration(epochs, steps, PUPIL)
        command = ["-m", "spacy", "train", str(config), "--output", str(folder), *common, *own]
        run(command, folder, f"[{system}] ".ljust(15), log=folder / "log.txt")
        return time.perf_counter() - start

    with ThreadPoolExecutor(len(systems)) as pool:
        times = list(pool.map(train_one, systems))
    for system, seconds in zip(systems, times, strict=True):
        (output / system / "seconds.json").write_text(json.dumps(seconds), encoding="utf-8")
        print(f"{system}: trained in {seconds:.0f} s")


def duration(epochs: int, steps: int, share: float) -> list[str]:
    """Write how long to train.

    Args:
        epochs: Passes over the training data.
        steps: The most steps; 0: no limit.
        share: The share of both.

    Returns:
        Options of `spacy train`.
    """
    options = ["--training.max_epochs", str(max(1, round(share * epochs)))]
    return [*options, "--training.max_steps", str(round(share * steps))]


def teach(config: Path, output: Path, common: list[str], seeds: Sequence[int]) -> list[str]:
    """Train parsers that together teach another one.

    Args:
        config: The config of all of them, but for KINDS.
        output: The folder for the teachers.
        common: Options of `spacy train`.
        seeds: A seed for each teacher.

    Returns:
        The options of `spacy train` for the parser that they teach.

    Raises:
        RuntimeError: If a training fails.
    """

    def train_one(seed: int) -> str:
        folder = output / str(seed)
        options = [*common, "--system.seed", str(seed)]
        for key, value in list(KINDS.values())[(seed - seeds[0]) % len(KINDS)].items():
            options += [f"--{key}", str(value)]
        command = ["-m", "spacy", "train", str(config), "--output", str(folder), *options]
        run(command, folder, f"[teacher {seed}] ".ljust(15), log=folder / "log.txt")
        return str(folder / "model-best")

    with ThreadPoolExecutor(min(len(seeds), os.cpu_count() or 1)) as pool:
        models = list(pool.map(train_one, seeds))
    together = output / "together"
    shutil.rmtree(together, ignore_errors=True)
    command = ["-m", "spacy", "nmparse", "ensemble", *models, "--output", str(together)]
    run(command, output, "[teachers] ".ljust(15))
    return ["--paths.teacher", str(together)]


def evaluate(
    models: Path, corpus: Path, metrics: Path, systems: list[str], treebank: Path | None = None
) -> None:
    """Evaluate what `train` has trained on the test data.

    Args:
        models: The folder with a folder per system.
        corpus: The folder with test.spacy.
        metrics: The folder for SYSTEM-gold.json and SYSTEM-raw.json.
        systems: Names of configs.
        treebank: The folder with the CoNLL-U files, whose running text is parsed; None: the text
            of the documents of test.spacy is.

    Raises:
        FileNotFoundError: If a system has no trained model.
        ImportError: If udtools is not installed.
        RuntimeError: If an evaluation fails.
    """
    conll18.require_udtools()
    evaluations = dict(EVALUATIONS)
    if treebank is not None:
        evaluations["raw"] = (*RUNNING, str(find_splits(treebank)["test"].resolve()))
    for system in systems:
        model = models / system / "model-best"
        if not model.is_dir():
            raise FileNotFoundError(f"No trained model {model}: run the step that trains first.")
        for name, options in evaluations.items():
            target = (metrics / f"{model.parent.name}-{name}.json").resolve()
            command = [str(ROOT / "scripts" / "evaluate.py"), str(model.resolve())]
            command += [str((corpus / "test.spacy").resolve()), *options]
            prefix = f"[{model.parent.name}, {name}] "
            run([*command, "--output", str(target)], model.parent, prefix)


def card(model: Path, metrics: Path, source: Source, package: str) -> dict[str, Any]:
    """Describe a trained pipeline for those who install it.

    Args:
        model: The trained pipeline.
        metrics: The folder that `evaluate` wrote to.
        source: What it was trained on.
        package: The package's name without the language.

    Returns:
        The contents of the package's meta.json, of which spaCy makes its README.

    Raises:
        FileNotFoundError: If there are no scores.
    """
    system = model.parent.name
    path = metrics / f"{system}-raw.json"
    if not path.is_file():
        raise FileNotFoundError(f"No scores {path}: run the step that evaluates first.")
    raw = json.loads(path.read_text(encoding="utf-8"))
    meta: dict[str, Any] = json.loads((model / "meta.json").read_text(encoding="utf-8"))
    scores = {name: f1 for name, f1 in raw["conll18"].items() if f1 is not None}
    pipes = meta["pipeline"]
    lacks = [] if LEMMATIZER in pipes else ["tags", "lemmas"]
    meta.update(
        description=f"Trained on {source.name} with spacy-nmparse ({system}).",
        license=source.licence,
        # spaCy links the author to the URL: without them, "n/a" to nowhere.
        author=meta.get("author") or f"the authors of {source.name} (data)",
        url=meta.get("url") or source.url,
        sources=[{"name": source.name, "url": source.url, "license": source.licence}],
        performance={**{f"conll18_{name}": f1 for name, f1 in scores.items()}},
        speed={"words_per_second": raw["words_per_second"], "machine": raw["machine"]},
        notes=(
            f"F1 of the CoNLL 2018 evaluation from raw text, on the test set of {source.name}. "
            f"{raw['words_per_second']:,.0f} words a second in one process on "
            f"{raw['machine']['processor']}.\n\n"
            f"Parse files: `python -m spacy nmparse parse {meta['lang']}_{package} text.txt -o "
            f"text.conllu`. In Python: `spacy.load`.\n\n"
            "It is made for texts like those of the treebank. It knows no enhanced dependencies, "
            "no empty nodes and no entities, and splits multiword tokens only as the training data "
            "tell." + (f" It writes no {' and '.join(lacks)}." if lacks else "")
        ),
    )
    return meta


def package(
    model: Path, packages: Path, name: str, version: str, meta: dict[str, Any] | None = None
) -> Path:
    """Package a model as a wheel.

    Args:
        model: The trained pipeline.
        packages: The folder for the package.
        name: The package's name without the language.
        version: The package's version.
        meta: What its meta.json says; None: what the model's says.

    Returns:
        The wheel.

    Raises:
        FileNotFoundError: If there is no model, or no wheel came of it.
        RuntimeError: If packaging fails.
    """
    if not (model / "meta.json").is_file():
        raise FileNotFoundError(f"No trained model in {model}: run the step that trains first.")
    packages = packages.resolve()
    command = ["-m", "spacy", "package", str(model.resolve()), str(packages), "--force"]
    command += ["--build", "wheel", "--name", name, "--version", version]
    if meta is not None:
        packages.mkdir(parents=True, exist_ok=True)
        described = packages / f"{name}-meta.json"
        described.write_text(json.dumps(meta, ensure_ascii=False, indent=1), encoding="utf-8")
        command += ["--meta-path", str(described)]
    run(command, packages, quiet=True)
    wheels = sorted(packages.glob(f"*_{name}-{version}/dist/*.whl"))
    if not wheels:
        raise FileNotFoundError(f"No wheel in {packages}: python -m pip install build")
    size = wheels[-1].stat().st_size
    print(f"{wheels[-1].name}: {size / 1e6:.1f} MB", flush=True)
    if size > LARGEST_WHEEL:
        print("It is larger than 10 MB: smaller tables (rows of the embedding) make it smaller.")
    return wheels[-1]


def install(wheel: Path) -> None:
    """Install a model's wheel into the environment of this Python.

    Args:
        wheel: The wheel. What it requires (spaCy and this package) is there where this runs.

    Raises:
        RuntimeError: If pip fails.
    """
    print(f"Installing {wheel.name} into {sys.prefix}", flush=True)
    command = ["-m", "pip", "install", "--no-deps", "--force-reinstall", "--quiet"]
    run([*command, str(wheel)], wheel.parent, quiet=True)


def show(doc: Doc) -> str:
    """Write out the trees of a document.

    Args:
        doc: A parsed document.

    Returns:
        Per sentence a line per token: number, word, number of the head (0: root), label, head.
    """
    blocks = []
    for sent in doc.sents:
        width = max(len(token.text.strip()) for token in sent)
        lines = [" ".join(sent.text.split())]
        for token in sent:
            is_root = token.head.i == token.i
            number = 0 if is_root else token.head.i - sent.start + 1
            head = "" if is_root else token.head.text.strip()
            place = f"{token.i - sent.start + 1:>4}  {token.text.strip():<{width}}"
            lines.append(f"{place}  {number:>4}  {token.dep_:<12} {head}".rstrip())
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def parse(model: str, text: str, corpus: Path | None) -> None:
    """Parse a text and print its trees.

    Args:
        model: An installed package or a folder.
        text: The text; if empty, that of the first document of `corpus`.
        corpus: A .spacy file.

    Raises:
        ValueError: If there is neither a text nor a corpus.
        OSError: If the model or corpus cannot be loaded.
    """
    nlp = spacy.load(model)
    text = text.strip("\"'")  # on Windows, project.yml's quotes arrive with it
    if not text:
        if corpus is None:
            raise ValueError("Nothing to parse: give --text or --corpus.")
        text = next(DocBin().from_disk(corpus).get_docs(nlp.vocab)).text
    print(f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}: {nlp.pipe_names}\n")
    print(show(nlp(text)))


def compare(metrics: Path, names: list[str]) -> None:
    """Print the scores side by side.

    Args:
        metrics: The folder that `evaluate` wrote to.
        names: Names of configs.

    Raises:
        FileNotFoundError: If it does not hold the scores of all.
    """
    missing = [name for name in names if not (metrics / f"{name}-gold.json").is_file()]
    if missing:
        raise FileNotFoundError(
            f"No scores of {', '.join(missing)} in {metrics}: run the step that evaluates first."
        )
    results = {
        name: {
            kind: json.loads((metrics / f"{name}-{kind}.json").read_text(encoding="utf-8"))
            for kind in EVALUATIONS
        }
        for name in names
    }

    def percent(name: str, kind: str, part: str, key: str) -> str:
        value = results[name][kind].get(part, {}).get(key)
        return "-" if value is None else f"{100 * value:.2f}"

    rows: list[tuple[str, ...]] = []
    for title, kind, part, key in (
        ("UAS, all words", "gold", "scores", "uas_all"),
        ("LAS, all words", "gold", "scores", "las_all"),
        ("LAS, as CoNLL 2018", "gold", "scores", "dep_las_conll"),
        ("CLAS, as CoNLL 2018", "gold", "scores", "dep_clas"),
        ("UAS, as spaCy", "gold", "scores", "dep_uas"),
        ("LAS, as spaCy", "gold", "scores", "dep_las"),
        ("whole sentences right", "gold", "scores", "dep_exact"),
        ("non-projective arcs, precision", "gold", "scores", "nonproj_p"),
        ("non-projective arcs, recall", "gold", "scores", "nonproj_r"),
        ("from raw text: tokens F1", "raw", "conll18", "Tokens"),
        ("from raw text: sentences F1", "raw", "conll18", "Sentences"),
        ("from raw text: words F1", "raw", "conll18", "Words"),
        *(
            (f"from raw text: {metric} F1", "raw", "conll18", metric)
            for metric in conll18.METRICS
            if metric not in conll18.TEXT
        ),
    ):
        values = [percent(name, kind, part, key) for name in names]
        if set(values) != {"-"}:
            rows.append((title, *values))
    speeds = (f"{results[name]['gold']['words_per_second']:,.0f}" for name in names)
    rows.append(("words per second", *speeds))
    first = results[names[0]]["gold"]
    print(f"Test data: {first['n_sentences']} sentences, {first['n_words']} words")
    print("Gold sentences and tokens; from raw text: the CoNLL 2018 evaluation, over all words")
    aligns: list[Literal["l", "r", "c"]] = ["l"]
    aligns += ["r"] * len(names)
    print(table(rows, header=("", *names), divider=True, aligns=aligns))


def unquoted(path: Path | None) -> Path | None:
    """A path without the quotes of project.yml, which arrive with it on Windows."""
    return Path(str(path).strip("\"'")) if path else None


def add_systems(step: argparse.ArgumentParser) -> None:
    """The option that names the systems."""
    step.add_argument(
        "--systems", nargs="+", default=list(SYSTEMS), help="names of configs; none is left out"
    )


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments, by default those of the process.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(dest="step", required=True)

    step = steps.add_parser("train", help="train the parsers of configs/")
    step.add_argument("corpus", type=Path)
    step.add_argument("output", type=Path)
    add_systems(step)
    step.add_argument("--lang", default="xx")
    step.add_argument("--epochs", type=int, default=10)
    step.add_argument("--seed", type=int, default=1)
    step.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    step.add_argument(
        "--pipeline",
        choices=("whole", "parser"),
        default="parser",
        help="whole: words, tags and lemmas too, of the first system",
    )
    step.add_argument(
        "--teachers", type=int, default=0, help="train so many parsers, to teach the first one"
    )

    step = steps.add_parser("evaluate", help="evaluate the trained parsers")
    step.add_argument("models", type=Path)
    step.add_argument("corpus", type=Path)
    step.add_argument("metrics", type=Path)
    add_systems(step)
    step.add_argument("--treebank", type=Path, help="CoNLL-U files: parse their running text")

    step = steps.add_parser("package", help="package a model as a wheel and install it")
    step.add_argument("model", type=Path)
    step.add_argument("packages", type=Path)
    step.add_argument("--name", required=True)
    step.add_argument("--version", default="0.1.0")
    step.add_argument("--wheel", choices=WHEELS, default=WHEELS[0])
    step.add_argument("--metrics", type=Path, help="scores for the model card")
    step.add_argument("--treebank", type=Path, help="what the model was trained on")

    step = steps.add_parser("parse", help="parse a text and print its trees")
    step.add_argument("model")
    step.add_argument("--text", default="")
    step.add_argument("--corpus", type=Path)

    step = steps.add_parser("table", help="print the scores side by side")
    step.add_argument("metrics", type=Path)
    add_systems(step)

    args = parser.parse_args(argv)
    # A system that is given twice is trained once.
    systems = [name for name in dict.fromkeys(getattr(args, "systems", ())) if name != NONE]
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        if args.step == "train":
            train(
                args.corpus,
                args.output,
                systems=systems,
                lang=args.lang,
                epochs=args.epochs,
                seed=args.seed,
                settings=args.set,
                whole=args.pipeline == "whole",
                teachers=args.teachers,
            )
        elif args.step == "evaluate":
            evaluate(args.models, args.corpus, args.metrics, systems, unquoted(args.treebank))
        elif args.step == "package" and args.wheel == NONE:
            print("No wheel is made (wheel: none).")
        elif args.step == "package":
            treebank = unquoted(args.treebank)
            meta = None
            if args.metrics and treebank:
                meta = card(args.model, args.metrics, source_of(treebank), args.name)
            wheel = package(args.model, args.packages, args.name, args.version, meta)
            if args.wheel == WHEELS[0]:
                install(wheel)
        elif args.step == "parse":
            parse(args.model, args.text, args.corpus)
        else:
            compare(args.metrics, systems)
    except (ImportError, OSError, ValueError, RuntimeError) as error:
        print(f"demo.py {args.step}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
