"""The steps of the workflows `demo` and `ud` in project.yml.

    python scripts/demo.py train corpus/demo training/demo --lang tr --epochs 10
    python scripts/demo.py evaluate training/demo corpus/demo metrics/demo
    python scripts/demo.py package training/demo/nm_parser/model-best packages --name nm_parser_demo
    python scripts/demo.py parse tr_nm_parser_demo --text "Bu kitabı sana kim verdi?"
    python scripts/demo.py table metrics/demo

`train` trains the parsers of configs/ on the same data, seed and epochs, at the same time, one
thread each. `package` installs the wheel into the environment of the Python that runs it. The
scores from raw text are those of scripts/evaluate.py: F1 over all words by the CoNLL 2018
evaluation, which needs the package udtools (in the extra demo).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import conll18
import spacy
from spacy.tokens import Doc, DocBin
from wasabi import table

ROOT = Path(__file__).resolve().parent.parent
SYSTEMS = ("nm_parser", "spacy_parser_affixes")
NONE = "none"  # in place of a system, or of a wheel: leave it out
THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
#: How each model is evaluated: name, options of evaluate.py.
EVALUATIONS = {
    "gold": ("--unit", "sentence", "--tokens", "gold"),
    "raw": ("--unit", "doc", "--tokens", "raw"),
}
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
        **THREADS,
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

    Raises:
        FileNotFoundError: If the data is missing.
        ImportError: If udtools, which `evaluate` will need, is not installed.
        RuntimeError: If a training fails.
        ValueError: If there is no such system, or a setting is malformed.
    """
    conll18.require_udtools()
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
        command = ["-m", "spacy", "train", str(config), "--output", str(folder), *common]
        start = time.perf_counter()
        run(command, folder, f"[{system}] ".ljust(15), log=folder / "log.txt")
        return time.perf_counter() - start

    with ThreadPoolExecutor(len(systems)) as pool:
        times = list(pool.map(train_one, systems))
    for system, seconds in zip(systems, times, strict=True):
        (output / system / "seconds.json").write_text(json.dumps(seconds), encoding="utf-8")
        print(f"{system}: trained in {seconds:.0f} s")


def evaluate(models: Path, corpus: Path, metrics: Path, systems: list[str]) -> None:
    """Evaluate what `train` has trained on the test data.

    Args:
        models: The folder with a folder per system.
        corpus: The folder with test.spacy.
        metrics: The folder for SYSTEM-gold.json and SYSTEM-raw.json.
        systems: Names of configs.

    Raises:
        FileNotFoundError: If a system has no trained model.
        ImportError: If udtools is not installed.
        RuntimeError: If an evaluation fails.
    """
    conll18.require_udtools()
    for system in systems:
        model = models / system / "model-best"
        if not model.is_dir():
            raise FileNotFoundError(f"No trained model {model}: run the step that trains first.")
        for name, options in EVALUATIONS.items():
            target = (metrics / f"{model.parent.name}-{name}.json").resolve()
            command = [str(ROOT / "scripts" / "evaluate.py"), str(model.resolve())]
            command += [str((corpus / "test.spacy").resolve()), *options]
            prefix = f"[{model.parent.name}, {name}] "
            run([*command, "--output", str(target)], model.parent, prefix)


def package(model: Path, packages: Path, name: str, version: str) -> None:
    """Package a model as a wheel and install it into the environment of this Python.

    Args:
        model: The trained pipeline.
        packages: The folder for the package.
        name: The package's name without the language.
        version: The package's version.

    Raises:
        FileNotFoundError: If there is no model, or no wheel came of it.
        RuntimeError: If packaging or installing fails.
    """
    if not (model / "meta.json").is_file():
        raise FileNotFoundError(f"No trained model in {model}: run the step that trains first.")
    packages = packages.resolve()
    command = ["-m", "spacy", "package", str(model.resolve()), str(packages), "--force"]
    run([*command, "--build", "wheel", "--name", name, "--version", version], packages, quiet=True)
    wheels = sorted(packages.glob(f"*_{name}-{version}/dist/*.whl"))
    if not wheels:
        raise FileNotFoundError(f"No wheel in {packages}: python -m pip install build")
    print(f"Installing {wheels[-1].name} into {sys.prefix}", flush=True)
    # The requirements of the model (spaCy and this package) are installed where this runs.
    install = ["-m", "pip", "install", "--no-deps", "--force-reinstall", "--quiet"]
    run([*install, str(wheels[-1])], packages, quiet=True)


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
        ("from raw text: UAS F1", "raw", "conll18", "UAS"),
        ("from raw text: LAS F1", "raw", "conll18", "LAS"),
        ("from raw text: CLAS F1", "raw", "conll18", "CLAS"),
    ):
        rows.append((title, *(percent(name, kind, part, key) for name in names)))
    speeds = (f"{results[name]['gold']['words_per_second']:,.0f}" for name in names)
    rows.append(("words per second", *speeds))
    first = results[names[0]]["gold"]
    print(f"Test data: {first['n_sentences']} sentences, {first['n_words']} words")
    print("Gold sentences and tokens; from raw text: the CoNLL 2018 evaluation, over all words")
    aligns: list[Literal["l", "r", "c"]] = ["l"]
    aligns += ["r"] * len(names)
    print(table(rows, header=("", *names), divider=True, aligns=aligns))


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

    step = steps.add_parser("evaluate", help="evaluate the trained parsers")
    step.add_argument("models", type=Path)
    step.add_argument("corpus", type=Path)
    step.add_argument("metrics", type=Path)
    add_systems(step)

    step = steps.add_parser("package", help="package a model as a wheel and install it")
    step.add_argument("model", type=Path)
    step.add_argument("packages", type=Path)
    step.add_argument("--name", required=True)
    step.add_argument("--version", default="0.1.0")
    step.add_argument("--wheel", choices=("install", NONE), default="install")

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
            )
        elif args.step == "evaluate":
            evaluate(args.models, args.corpus, args.metrics, systems)
        elif args.step == "package" and args.wheel == NONE:
            print("No wheel is made (wheel: none).")
        elif args.step == "package":
            package(args.model, args.packages, args.name, args.version)
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
