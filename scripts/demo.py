"""The steps of the workflows `demo` and `ud` in project.yml that are more than one command.

    python scripts/demo.py variables parser=nm_parser baseline=none pipeline=whole wheel=install
    python scripts/demo.py train corpus/demo training/demo --lang tr --epochs 10
    python scripts/demo.py evaluate training/demo corpus/demo metrics/demo
    python scripts/demo.py wheel
    python scripts/demo.py package training/demo/nm_parser/model-best packages --name nm_parser_demo
    python scripts/demo.py parse tr_nm_parser_demo --text "Bu kitabı sana kim verdi?"
    python scripts/demo.py table metrics/demo

Systems are names of configs; `none` is left out.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import spacy
import typer
from spacy.tokens import DocBin
from spacy.util import load_config
from spacy.vocab import Vocab
from wasabi import table as draw

from spacy_nmparse.cli.evaluate import run as evaluate_model
from spacy_nmparse.cli.init_config import PIPELINES
from spacy_nmparse.ud import conll18, doc_to_conllu
from spacy_nmparse.ud.treebank import find_files
from spacy_nmparse.ud.whole_pipeline import CONFIGS, KINDS, whole_pipeline

sys.path.append(str(Path(__file__).resolve().parent.parent))  # of a file that is run
from scripts.licences import source_of, vectors_of
from scripts.packages import VERSION, card, full_name, wheel_of

ROOT = Path(__file__).resolve().parent.parent
SYSTEMS = ("nm_parser", "spacy_parser")
#: How long teachers train, and the parser that they teach, in shares of the epochs and steps of one
#: without teachers.
TEACHERS, PUPIL = 0.5, 1.5
NONE = "none"  # in place of a system, or of a wheel
WHEELS = ("install", "make", NONE)
#: Where `wheel` puts this package's own wheel, and `package` finds it.
OWN_WHEELS = ROOT / "wheels"
#: So many evaluations on dev are wanted of a training that has few steps; teachers have half.
DEV_EVALUATIONS = 20
#: How each model is evaluated. From raw text, where the CoNLL-U files are known: the running text.
EVALUATIONS = {
    "gold": {"unit": "sentence", "tokens": "gold"},
    "raw": {"unit": "doc", "tokens": "raw"},
}
LARGEST_WHEEL = 10_000_000  # bytes
#: What `table` shows: a title, the evaluation, and the score's place there.
ROWS = [
    ("UAS, all words", "gold", "scores", "uas_all"),
    ("LAS, all words", "gold", "scores", "las_all"),
    ("LAS, as CoNLL 2018", "gold", "scores", "dep_las_conll"),
    ("CLAS, as CoNLL 2018", "gold", "scores", "dep_clas"),
    ("UAS, as spaCy", "gold", "scores", "dep_uas"),
    ("LAS, as spaCy", "gold", "scores", "dep_las"),
    ("whole sentences right", "gold", "scores", "dep_exact"),
    ("non-projective arcs, precision", "gold", "scores", "nonproj_p"),
    ("non-projective arcs, recall", "gold", "scores", "nonproj_r"),
    *((f"from raw text: {m.lower()} F1", "raw", "conll18", m) for m in conll18.TEXT),
    *(
        (f"from raw text: {metric} F1", "raw", "conll18", metric)
        for metric in conll18.METRICS
        if metric not in conll18.TEXT
    ),
]
app = typer.Typer(add_completion=False, help=__doc__)
_printing = threading.Lock()


def run(
    command: list[str], folder: Path, prefix: str = "", log: str = "", quiet: bool = False
) -> None:
    """Run a Python command and show its output line by line.

    Args:
        command: The arguments after the Python interpreter.
        folder: The working folder.
        prefix: What to write before each line.
        log: A file of the folder to write the output to as well.
        quiet: Whether to show the output only if the command fails.

    Raises:
        RuntimeError: If the command fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    env = {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8", "ANSI_COLORS_DISABLED": "1"}
    lines = []
    with subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **env},
        cwd=folder,
    ) as process:
        for line in process.stdout or ():
            lines.append(line)
            if not quiet:
                with _printing:
                    print(f"{prefix}{line.rstrip()}", flush=True)
    if log:
        (folder / log).write_text("".join(lines), encoding="utf-8")
    if process.returncode:
        if quiet:
            print("".join(lines[-40:]), end="")
        raise RuntimeError(
            f"{prefix}{' '.join(command[:3])} ended with status {process.returncode}; "
            "its output above says why."
        )


def wanted(systems: Sequence[str]) -> list[str]:
    """The systems without `none`; one that is given twice counts once."""
    return [name for name in dict.fromkeys(systems) if name != NONE]


def check(systems: Sequence[str] = (), pipeline: str = "parser", wheel: str = NONE) -> None:
    """Check names.

    Raises:
        ValueError: If a name is unknown, or the first system is no parser of a whole pipeline.
    """
    known = sorted(config.stem for config in CONFIGS.glob("*.cfg"))
    named = [("pipeline", pipeline, PIPELINES), ("wheel", wheel, WHEELS)]
    for kind, name, names in [*(("parser", one, known) for one in systems), *named]:
        if name not in names:
            raise ValueError(f"There is no {kind} {name!r}: it is one of {', '.join(names)}.")
    if pipeline == "whole" and systems:
        whole_pipeline(load_config(CONFIGS / f"{systems[0]}.cfg", interpolate=False))


@app.command()
def variables(given: list[str] = typer.Argument(help="NAME=VALUE, each")) -> None:
    """Say which variables the workflow `ud` runs with, and check the names among their values."""
    values = dict(one.split("=", 1) for one in given)
    lines = (f"  --vars.{name} {value}" for name, value in values.items())
    print("The workflow runs with:", *lines, sep="\n")
    check(wanted([values["parser"], values["baseline"]]), values["pipeline"], values["wheel"])


@app.command()
def train(
    corpus: Path,
    output: Path,
    systems: list[str] = typer.Argument(default=SYSTEMS),
    lang: str = "xx",
    epochs: int = 10,
    baseline_epochs: int = typer.Option(0, help="Of the others than the first; 0: as many"),
    seed: int = 1,
    settings: list[str] = typer.Option([], "--set", help="Of the configs: KEY=VALUE"),
    pipeline: str = typer.Option("parser", help="whole: words, tags, lemmas too, of the first"),
    teachers: int = typer.Option(0, help="Train so many parsers, to teach the first one"),
    vectors: str = typer.Option(NONE, help="A pipeline whose word vectors all of them see"),
    more: str = typer.Option(NONE, help="Other treebanks to learn from, too: folders in one text"),
    treebanks: Path = typer.Option(Path(), help="The folder that these are in"),
) -> None:
    """Train parsers, each by its config, on the same data and seed, at the same time."""
    conll18.require_udtools()  # the next step needs it
    systems = wanted(systems)
    check(systems, pipeline)
    if teachers < 0 or teachers == 1:
        raise ValueError(f"--teachers {teachers}: it takes two or more, or 0 for none.")
    if teachers and systems and systems[0].startswith("spacy_"):
        raise ValueError(f"--teachers teach parsers of this package, and {systems[0]} is none.")
    common = ["--nlp.lang", lang, "--system.seed", str(seed), *vector_options(vectors)]
    others = other_treebanks(treebanks, more)
    for split in ("train", "dev"):
        path = (corpus / f"{split}.spacy").resolve()
        if not path.is_file():
            raise FileNotFoundError(
                f"No file {path}: run the step that makes the data, of a treebank with training "
                f"data."
            )
        named = json.dumps({corpus.name: str(path), **others})
        common += [f"--paths.{split}", named if others and split == "train" else str(path)]
    if epochs > 0:
        frequency = eval_frequency(corpus / "train.spacy", epochs)
        common += ["--training.eval_frequency", str(frequency)]
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise ValueError(f"Setting {setting!r}: write section.key=value.")
        common += [f"--{key}", value]

    def train_one(system: str) -> int:
        config = CONFIGS / f"{system}.cfg"
        folder = (output / system).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        start = time.perf_counter()
        n_epochs = epochs if system == systems[0] else baseline_epochs or epochs
        own = ["--training.max_epochs", str(n_epochs)]
        alone = load_config(config, interpolate=False)
        if pipeline == "whole" and system == systems[0]:
            made = whole_pipeline(alone)
            config = folder / "pipeline.cfg"
            made.to_disk(config, interpolate=False)
            alone["initialize"]["before_init"] = made["initialize"]["before_init"]
        if teachers and system == systems[0]:
            alone.to_disk(folder / "teacher.cfg", interpolate=False)
            steps = alone["training"]["max_steps"]
            options = [*common, *own, *duration(epochs, steps, TEACHERS)]
            seeds = range(seed, seed + teachers)
            own += teach(folder / "teacher.cfg", folder / "teachers", options, seeds)
            own += duration(epochs, steps, PUPIL)
        command = ["-m", "spacy", "train", str(config), "--output", str(folder), *common, *own]
        run(command, folder, f"[{system}] ".ljust(15), "log.txt")
        seconds = round(time.perf_counter() - start)
        told = json.dumps({"epochs": n_epochs, "seconds": seconds})
        (folder / "training.json").write_text(told, encoding="utf-8")
        return seconds

    with ThreadPoolExecutor(len(systems)) as pool:
        times = list(pool.map(train_one, systems))
    for system, seconds in zip(systems, times, strict=True):
        print(f"{system}: trained in {seconds} s")


def other_treebanks(folder: Path, more: str) -> dict[str, list[str]]:
    """The training data of other treebanks, CoNLL-U files, by the names of their folders.

    Raises:
        FileNotFoundError: If there is no such folder, or it has no training data.
    """
    found = {}
    for name in more.split() if more != NONE else ():
        files = find_files(folder / name).get("train", [])
        if not files:
            raise FileNotFoundError(f"{folder / name} has no training data.")
        found[name] = [str(file.resolve()) for file in files]
    return found


def vector_options(vectors: str) -> list[str]:
    """Options of `spacy train` for the word vectors of a pipeline, a package or folder.

    Raises:
        OSError: If there is no such pipeline.
        ValueError: If it has no vectors.
    """
    if vectors == NONE:
        return []
    if not spacy.load(vectors).vocab.vectors.shape[0]:
        raise ValueError(f"The pipeline {vectors!r} has no word vectors: name another, or none.")
    named = str(Path(vectors).resolve()) if Path(vectors).exists() else vectors
    use = "--components.tok2vec.model.embed.include_static_vectors"
    return ["--paths.vectors", named, use, "true"]


def eval_frequency(data: Path, epochs: int) -> int:
    """Steps from one evaluation on dev to the next: the configs' 200, fewer in a short training."""
    sizes = [len(doc) for doc in DocBin().from_disk(data).get_docs(Vocab())]
    steps = epochs * min(len(sizes), sum(sizes) // 100)  # of a document, or 100 words
    return max(1, min(200, steps // DEV_EVALUATIONS))


def duration(epochs: int, steps: int, share: float) -> list[str]:
    """Options of `spacy train` for a share of the epochs, and of the most steps (0: no limit)."""
    options = ["--training.max_epochs", str(max(1, round(share * epochs)))]
    return [*options, "--training.max_steps", str(round(share * steps))]


def teach(config: Path, output: Path, common: list[str], seeds: Sequence[int]) -> list[str]:
    """Train parsers that teach another one.

    Args:
        config: The config of all of them, but for KINDS.
        output: The folder for the teachers.
        common: Options of `spacy train`.
        seeds: A seed for each teacher.

    Returns:
        The options of `spacy train` for the parser that they teach.
    """

    def train_one(seed: int) -> str:
        folder = output / str(seed)
        options = [*common, "--system.seed", str(seed)]
        for key, value in list(KINDS.values())[(seed - seeds[0]) % len(KINDS)].items():
            options += [f"--{key}", str(value)]
        command = ["-m", "spacy", "train", str(config), "--output", str(folder), *options]
        run(command, folder, f"[teacher {seed}] ".ljust(15), "log.txt")
        return str(folder / "model-best")

    with ThreadPoolExecutor(min(len(seeds), os.cpu_count() or 1)) as pool:
        models = list(pool.map(train_one, seeds))
    return ["--paths.teacher", json.dumps(models)]


@app.command()
def evaluate(
    models: Path,
    corpus: Path,
    metrics: Path,
    systems: list[str] = typer.Argument(default=SYSTEMS),
    treebank: Path | None = typer.Option(None, help="Its CoNLL-U: parse the running text"),
) -> None:
    """Evaluate the trained parsers on test.spacy: gold tokens, and raw text."""
    conll18.require_udtools()
    conllu: list[Path] = []
    if treebank is not None:
        conllu = find_files(treebank).get("test", [])
        if not conllu:
            raise FileNotFoundError(f"{treebank} has no test file to evaluate on.")
    for system in wanted(systems):
        model = models / system / "model-best"
        if not model.is_dir():
            raise FileNotFoundError(f"No trained model {model}: run the step that trains first.")
        told = model.parent / "training.json"
        if told.is_file():
            metrics.mkdir(parents=True, exist_ok=True)
            shutil.copy2(told, metrics / f"{system}-training.json")
        for name, how in EVALUATIONS.items():
            print(f"[{system}, {name}]", flush=True)
            files = conllu if how["tokens"] == "raw" else []
            unit = {"unit": "text"} if files else {}
            target = metrics / f"{system}-{name}.json"
            how = {**how, **unit, "sents": NONE, "tags": NONE, "batch_size": 256, "settings": []}
            evaluate_model(str(model), corpus / "test.spacy", target, conllu=files, **how)


@app.command(name="wheel")
def make_own_wheel() -> None:
    """Make this package's wheel, without compiling again what `pip install -e` has compiled."""
    shutil.rmtree(OWN_WHEELS, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        command = ["setup.py", "--quiet", "egg_info", "--egg-base", folder]
        command += ["build", "--build-base", folder, "bdist_wheel", "--dist-dir", str(OWN_WHEELS)]
        run(command, ROOT, quiet=True)
    print(f"Made {next(OWN_WHEELS.glob('*.whl'))}")


@app.command()
def package(
    model: Path,
    packages: Path,
    name: str = typer.Option(..., help="Of the package, without the language"),
    version: str = VERSION,
    wheel: str = typer.Option("install", help="Or make: do not install it, or none: make none"),
    metrics: Path | None = typer.Option(None, help="Scores for the model card"),
    treebank: Path | None = typer.Option(None, help="What the model was trained on"),
    more: str = typer.Option(NONE, help="And these: folders beside it, in one text"),
) -> None:
    """Package a model as a wheel, and install it into the environment of this Python."""
    check(wheel=wheel)
    if wheel == NONE:
        print("No wheel is made (wheel: none).")
        return
    if not (model / "meta.json").is_file():
        raise FileNotFoundError(f"No trained model in {model}: run the step that trains first.")
    packages = packages.resolve()
    meta: dict[str, Any] = json.loads((model / "meta.json").read_text(encoding="utf-8"))
    folder = packages / f"{full_name(meta['lang'], name)}-{version}"
    shutil.rmtree(folder, ignore_errors=True)  # spaCy keeps the README and wheels of before
    command = ["-m", "spacy", "package", str(model.resolve()), str(packages), "--force"]
    command += ["--build", "none", "--name", name, "--version", version]
    if metrics and treebank:
        raw = metrics / f"{model.parent.name}-raw.json"
        others = [treebank.parent / one for one in more.split() if more != NONE]
        sources = [source_of(one) for one in (treebank, *others)]
        meta = card(model, raw, [*sources, *vectors_of(model)], name)
        path = packages / f"{full_name(meta['lang'], name)}-meta.json"
        packages.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(meta, ensure_ascii=False, indent=1), encoding="utf-8")
        command += ["--meta-path", str(path)]
    run(command, packages, quiet=True)
    # spaCy's own build would make an environment first, and fetch what builds it.
    run(["setup.py", "--quiet", "bdist_wheel"], folder, quiet=True)
    made = wheel_of(packages, meta["lang"], name, version)
    size = made.stat().st_size
    print(f"{made.name}: {size / 1e6:.1f} MB", flush=True)
    if size > LARGEST_WHEEL:
        print("It is larger than 10 MB: smaller tables (rows of the embedding) make it smaller.")
    for own in OWN_WHEELS.glob("*.whl"):
        shutil.copy2(own, made.parent)
        print(f"It needs {own.name}, which is beside it.", flush=True)
    find = f"--find-links {shlex.quote(str(made.parent))} {full_name(meta['lang'], name)}"
    print(f"Install it offline: python -m pip install --no-index {find}", flush=True)
    if wheel == "install":
        print(f"Installing {made.name} into {sys.prefix}", flush=True)
        # What it requires, spaCy and this package, is there where this runs.
        command = ["-m", "pip", "install", "--no-deps", "--force-reinstall", "--quiet"]
        run([*command, str(made)], packages, quiet=True)


@app.command()
def parse(model: str, text: str = "", corpus: Path | None = None) -> None:
    """Parse a text, or that of the first document of a corpus, and print it as CoNLL-U."""
    nlp = spacy.load(model)
    if not text:
        if corpus is None:
            raise ValueError("Nothing to parse: give --text or --corpus.")
        text = next(DocBin().from_disk(corpus).get_docs(nlp.vocab)).text
    print(f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}: {nlp.pipe_names}\n")
    print(doc_to_conllu(nlp(text)), end="")


@app.command()
def table(metrics: Path, systems: list[str] = typer.Argument(default=SYSTEMS)) -> None:
    """Print the scores side by side."""
    names = wanted(systems)
    files = {
        (name, kind): metrics / f"{name}-{kind}.json" for name in names for kind in EVALUATIONS
    }
    missing = [path.name for path in files.values() if not path.is_file()]
    if missing:
        raise FileNotFoundError(
            f"No {', '.join(missing)} in {metrics}: run the step that evaluates first."
        )
    found = {key: json.loads(path.read_text(encoding="utf-8")) for key, path in files.items()}

    def percent(value: float | None) -> str:
        return "-" if value is None else f"{100 * value:.2f}"

    rows = []
    for title, kind, part, key in ROWS:
        values = [percent(found[name, kind].get(part, {}).get(key)) for name in names]
        if set(values) != {"-"}:
            rows.append((title, *values))
    speeds = (f"{found[name, 'gold']['words_per_second']:,.0f}" for name in names)
    rows.append(("words per second", *speeds))
    training = [metrics / f"{name}-training.json" for name in names]
    if all(path.is_file() for path in training):
        told = [json.loads(path.read_text(encoding="utf-8")) for path in training]
        for title in ("epochs", "seconds"):
            rows.append((f"{title} of training", *(str(one[title]) for one in told)))
    first = found[names[0], "gold"]
    print(f"Test data: {first['n_sentences']} sentences, {first['n_words']} words")
    print("Gold tokens, each gold sentence a document, which the parser may split;")
    print("from raw text: the CoNLL 2018 evaluation, over all words")
    aligns: list[Literal["l", "r", "c"]] = ["l"]
    aligns += ["r"] * len(names)
    print(draw(rows, header=("", *names), divider=True, aligns=aligns))


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments, by default those of the process.

    Returns:
        The exit status.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    given = sys.argv[1:] if argv is None else argv
    try:
        # on Windows, project.yml's quotes arrive with the arguments
        app([one.strip("\"'") for one in given], prog_name="demo.py")
    except SystemExit as end:
        return int(end.code or 0)
    except (ImportError, OSError, ValueError, RuntimeError) as error:
        print(f"demo.py: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
