"""Train and evaluate parsers side by side on one treebank.

    python benchmarks/accuracy.py assets/UD_Gothic-PROIEL --epochs 30 --seeds 1 2 3
    python benchmarks/accuracy.py assets/UD_Gothic-PROIEL --system nm_parser \\
        --system monotonic=configs/nm_parser.cfg,components.parser.system.nonmonotonic_left=false

TREEBANK is a folder with the CoNLL-U files of Universal Dependencies, or one with train.spacy,
dev.spacy and test.spacy. A system is the name of a file in configs/, or NAME=CONFIG with settings
after commas. Each run (system and seed) becomes one file,
benchmarks/results/accuracy/TREEBANK/SYSTEM-seedN.json; runs that have theirs are skipped. Gold
sentence and token boundaries; the best epoch on dev is kept. Each split is evaluated twice: without
sentence boundaries (`dev`, `test`: a parser may still split the sentence) and with those of the
sentence preset (`dev_preset`, `test_preset`). `curve` has the scores of the evaluations on dev
during training, with the averaged weights of the time. With `--moves`, `moves` counts how the best
epoch's parser uses its non-monotonic moves on dev (`python -m spacy nmparse repairs`).

With `--also beam8:components.parser.beam_width=8` each model is evaluated once more, with other
settings, as SYSTEM_beam8. With `--ensemble` the models of all seeds are evaluated as one
parser (`python -m spacy nmparse ensemble`), as SYSTEM_ensemble3 for three, under the first seed.
With `--distill` the systems are then trained anew from each seed, taught by their ensemble
(docs/training.md), as SYSTEM_distilled. `--teacher MODEL` has them taught by another model from the
beginning, as SYSTEM_taught.

`--each-epoch` evaluates on dev during training often enough for a score of each epoch.

With `--switch` all systems are trained and evaluated with the switch of docs/speed.md: sooner, and
different in the last bits. The result files say so.

benchmarks/table.py turns the files into a table.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import DocBin
from spacy.util import load_config

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from convert_ud import SPLITS, convert, find_splits  # noqa: E402
from evaluate import dump, machine, parse_settings, versions, write_setting  # noqa: E402

#: One thread per process, so that times can be compared.
THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
SYSTEMS = ("nm_parser", "spacy_parser_affixes")
EVALUATIONS = {
    "dev": ("dev", "none"),
    "test": ("test", "none"),
    "dev_preset": ("dev", "gold"),
    "test_preset": ("test", "gold"),
}
#: What is kept of an evaluation. `conll18` needs CoNLL-U files and the package udtools.
PARTS = (
    "n_sentences",
    "n_words",
    "words_per_second",
    "scores",
    "conll18",
    "by_length",
    "per_sentence",
)
#: `[nlp.after_pipeline_creation]` with the switch of docs/speed.md.
SWITCH = {"@callbacks": "spacy_nmparse.fast_blas.v1"}
#: The file that spaCy's logger writes evaluations during training to.
CURVE = "curve.jsonl"
#: Their scores, beside those of the configs. They weigh nothing.
SHOWN = ("dep_uas_conll", "dep_las_conll")


@dataclass(frozen=True)
class System:
    """A parser to train.

    Attributes:
        name: What the result files and tables call it.
        config: The training config.
        overrides: Settings that differ from the config's.
        teacher: The pipeline that it learns from besides; None for none.
    """

    name: str
    config: Path
    overrides: dict[str, Any] = field(default_factory=dict)
    teacher: Path | None = None


def parse_system(text: str) -> System:
    """Read a system from the command line.

    Args:
        text: NAME, or NAME=CONFIG[,key=value]... Values may be lists: key=["a","b"].

    Returns:
        The system.

    Raises:
        ValueError: If the text is malformed, or its config does not exist.
    """
    name, _, rest = text.partition("=")
    config, *settings = split_settings(rest) if rest else [str(ROOT / "configs" / f"{name}.cfg")]
    path = Path(config)
    if not path.is_file():
        raise ValueError(f"System {text!r}: no config {config}; see the folder configs.")
    return System(name, path.resolve(), parse_settings(settings))


def split_settings(text: str) -> list[str]:
    """Split settings at the commas between them; a list as a value keeps its own.

    Args:
        text: KEY=VALUE[,KEY=VALUE]...

    Returns:
        The settings.
    """
    settings, depth = [""], 0
    for character in text:
        depth += (character in "[{") - (character in "]}")
        if character == "," and not depth:
            settings.append("")
        else:
            settings[-1] += character
    return settings


def parse_evaluation(text: str) -> tuple[str, dict[str, Any]]:
    """Read a further evaluation from the command line.

    Args:
        text: NAME:KEY=VALUE[,KEY=VALUE]...

    Returns:
        Its name and settings.

    Raises:
        ValueError: If the text is malformed.
    """
    name, colon, settings = text.partition(":")
    if not (name and colon and settings) or "=" in name:
        raise ValueError(f"Evaluation {text!r}: write NAME:KEY=VALUE[,KEY=VALUE]...")
    return name, parse_settings(split_settings(settings))


def choose_lang(train_file: Path) -> str:
    """Choose spaCy's language for a UD file by its name (`got_proiel-ud-train.conllu`).

    Args:
        train_file: The training file.

    Returns:
        The language code, or "xx" where spaCy does not know it or lacks its requirements.
    """
    code = train_file.name.partition("_")[0]
    try:
        spacy.blank(code)
    except Exception:  # unknown language, or its tokenizer's package is not installed
        return "xx"
    return code


def fingerprint(path: Path) -> str:
    """Compute a file's SHA-256.

    Args:
        path: The file.

    Returns:
        The first 16 hexadecimal digits.
    """
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def count_words(path: Path) -> int:
    """Count the tokens of a .spacy file.

    Args:
        path: The file.

    Returns:
        The number of tokens.
    """
    vocab = spacy.blank("xx").vocab
    return sum(len(doc) for doc in DocBin().from_disk(path).get_docs(vocab))


def run(command: list[str], log: Path, prefix: str) -> float:
    """Run a Python command, showing its output and keeping it in a file.

    Args:
        command: The arguments after the Python interpreter.
        log: The file to append the output to.
        prefix: What to write before each line shown.

    Returns:
        The seconds it took.

    Raises:
        RuntimeError: If the command fails.
    """
    env = {
        **os.environ,
        **THREADS,
        "PYTHONUNBUFFERED": "1",
        "PYTHONIOENCODING": "utf-8",
        "ANSI_COLORS_DISABLED": "1",
    }
    start = time.perf_counter()
    tail: list[str] = []
    with (
        log.open("a", encoding="utf-8") as file,
        subprocess.Popen(
            [sys.executable, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=env,
            # not the project's folder: Python would import the source tree, compiled or not
            cwd=log.parent,
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            file.write(line)
            file.flush()
            print(f"{prefix} {line.rstrip()}", flush=True)
            tail = [*tail[-14:], line]
    if process.returncode:
        raise RuntimeError(
            f"{' '.join(command[:3])} ended with status {process.returncode}; log: {log}\n"
            + "".join(tail)
        )
    return time.perf_counter() - start


@dataclass(frozen=True)
class Treebank:
    """A converted treebank.

    Attributes:
        name: The name of its folder.
        snapshot: Its release, as far as known.
        lang: spaCy's language code.
        files: The fingerprint of each CoNLL-U file.
        corpus: The .spacy file of each split.
        train_words: The number of words to train on.
        conllu: The CoNLL-U file of each split; none where the corpus was not converted here.
    """

    name: str
    snapshot: str
    lang: str
    files: dict[str, str]
    corpus: dict[str, Path]
    train_words: int
    conllu: dict[str, Path]


def prepare(folder: Path, work: Path, lang: str | None, snapshot: str, n_sents: int) -> Treebank:
    """Convert a treebank.

    Args:
        folder: The treebank's folder.
        work: The folder for the converted files.
        lang: spaCy's language code; None to choose it by the file names.
        snapshot: The treebank's release.
        n_sents: Sentences per document.

    Returns:
        The converted treebank.
    """
    folder = folder.resolve()
    files = find_splits(folder)
    output = work.resolve() / folder.name / "corpus"
    output.mkdir(parents=True, exist_ok=True)
    # Each file appears in one step: another run on the treebank may be reading it.
    with tempfile.TemporaryDirectory(dir=output.parent, prefix="corpus-") as partial:
        converted = convert(files, Path(partial), n_sents, with_single=n_sents > 1)
        corpus = {split: path.replace(output / path.name) for split, path in converted.items()}
    return Treebank(
        folder.name,
        snapshot,
        lang or choose_lang(files["train"]),
        {path.name: fingerprint(path) for path in files.values()},
        corpus,
        count_words(corpus["train"]),
        files,
    )


def read_prepared(folder: Path, lang: str | None, snapshot: str) -> Treebank:
    """Take a corpus as it is, such as the demo's.

    Args:
        folder: The folder with train.spacy, dev.spacy and test.spacy.
        lang: spaCy's language code; None for the multi-language one.
        snapshot: The treebank's release.

    Returns:
        The treebank.
    """
    folder = folder.resolve()
    corpus = {split: folder / f"{split}.spacy" for split in SPLITS}
    return Treebank(
        folder.name,
        snapshot,
        lang or "xx",
        {path.name: fingerprint(path) for path in corpus.values()},
        corpus,
        count_words(corpus["train"]),
        {},
    )


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name a treebank, systems and settings.

    Args:
        parser: The command line's.
    """
    parser.add_argument("treebank", type=Path, help="folder of a UD treebank, or of .spacy files")
    parser.add_argument(
        "--local", default="", metavar="FOLDER", help="use this folder instead of TREEBANK"
    )
    parser.add_argument("--system", action="append", metavar="NAME[=CONFIG[,KEY=VALUE]...]")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--lang", help="spaCy language code; by default from the file names")
    parser.add_argument("--snapshot", default="unknown", help="release of the treebank")


def folder_of(args: argparse.Namespace) -> Path:
    """Tell the treebank's folder.

    Args:
        args: The arguments of `add_data_arguments`.

    Returns:
        That of --local, if given.
    """
    local = args.local.strip("\"'")  # an empty variable of project.yml may arrive as quotes
    return (Path(local) if local else args.treebank).resolve()


def open_treebank(args: argparse.Namespace, n_sents: int = 1) -> Treebank:
    """Find a treebank, and convert it if it has to be.

    Args:
        args: The arguments of `add_data_arguments`, and `work`.
        n_sents: Sentences of a document, where it is converted.

    Returns:
        The treebank.
    """
    folder = folder_of(args)
    if is_prepared(folder):
        return read_prepared(folder, args.lang, args.snapshot)
    return prepare(folder, args.work, args.lang, args.snapshot, n_sents)


def is_prepared(folder: Path) -> bool:
    """Tell a corpus in spaCy's format from a UD treebank.

    Args:
        folder: The folder.

    Returns:
        Whether it holds train.spacy, dev.spacy and test.spacy.
    """
    return all((folder / f"{split}.spacy").is_file() for split in SPLITS)


def evaluate_model(
    treebank: Treebank,
    output: Path,
    log: Path,
    prefix: str,
    settings: dict[str, Any],
    which: Sequence[str] = tuple(EVALUATIONS),
) -> dict[str, Any]:
    """Evaluate a trained model.

    Args:
        treebank: The data.
        output: The run's folder, with the model in model-best.
        log: The file to append the output to.
        prefix: What to write before each line shown.
        settings: Settings of the components that differ from those it was trained with.
        which: The evaluations, of EVALUATIONS.

    Returns:
        The evaluations by name.

    Raises:
        RuntimeError: If one fails.
    """
    evaluations = {}
    for key in which:
        split, sents = EVALUATIONS[key]
        target = output / f"{key}.json"
        command = [str(ROOT / "scripts" / "evaluate.py"), str(output / "model-best")]
        command += [str(treebank.corpus[split]), "--sents", sents, "--output", str(target)]
        for name, value in settings.items():
            command += ["--set", f"{name}={write_setting(value)}"]
        if split in treebank.conllu and find_spec("udtools"):
            command += ["--conllu", str(treebank.conllu[split])]
        run(command, log, f"{prefix} {key}:")
        result = json.loads(target.read_text(encoding="utf-8"))
        evaluations[key] = {part: result[part] for part in PARTS if part in result}
    return evaluations


def find_model(output: Path, name: str) -> Path:
    """Find the model of a run.

    Args:
        output: The run's folder.
        name: What is to be evaluated with it.

    Returns:
        The model's folder.

    Raises:
        RuntimeError: If it is not there any more.
    """
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
    """Evaluate a trained model with other settings.

    Args:
        treebank: The data.
        trained: The contents of the result file of its training.
        name: The name of the evaluation.
        settings: The settings.
        work: The folder for models and logs.
        which: The evaluations, of EVALUATIONS.

    Returns:
        The contents of the result file.

    Raises:
        RuntimeError: If the model is not there any more, or cannot be evaluated.
    """
    run_name = f"{trained['system']}-seed{trained['seed']}"
    output = work.resolve() / treebank.name / run_name
    find_model(output, name)
    prefix = f"[{treebank.name} {run_name} {name}]"
    log = output / f"log_{name}.txt"
    evaluations = evaluate_model(treebank, output, log, prefix, settings, which)
    again = {key: value for key, value in trained.items() if key not in EVALUATIONS}
    shown = [f"--set {key}={write_setting(value)}" for key, value in settings.items()]
    again["system"] = f"{trained['system']}_{name}"
    again["command"] += f"; scripts/evaluate.py {' '.join(shown)}"
    return {
        **again,
        "versions": versions(),
        "machine": {**machine(), "threads": THREADS},
        "evaluated_with": settings,
        **evaluations,
    }


def evaluate_ensemble(
    treebank: Treebank,
    trained: Sequence[dict[str, Any]],
    work: Path,
    which: Sequence[str] = tuple(EVALUATIONS),
) -> dict[str, Any]:
    """Evaluate the models of several seeds as one parser.

    Args:
        treebank: The data.
        trained: The contents of the result files of their training.
        work: The folder for models and logs.
        which: The evaluations, of EVALUATIONS.

    Returns:
        The contents of the result file, as if it were the first seed's.

    Raises:
        RuntimeError: If a model is not there any more, or a step fails.
    """
    folder = work.resolve() / treebank.name
    first = trained[0]
    name = f"{first['system']}_ensemble{len(trained)}"
    models = [find_model(folder / f"{one['system']}-seed{one['seed']}", name) for one in trained]
    output = folder / f"{name}-seed{first['seed']}"
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir()
    prefix, log = f"[{treebank.name} {name}]", output / "log.txt"
    command = ["-m", "spacy", "nmparse", "ensemble", *map(str, models)]
    run([*command, "--output", str(output / "model-best")], log, prefix)
    evaluations = evaluate_model(treebank, output, log, prefix, {}, which)
    left_out = {*EVALUATIONS, "curve", "moves", "seed", "command", "training"}
    return {
        **{key: value for key, value in first.items() if key not in left_out},
        "system": name,
        "seed": first["seed"],
        "seeds": [one["seed"] for one in trained],
        "command": "; ".join([*(one["command"] for one in trained), "nmparse ensemble"]),
        "versions": versions(),
        "machine": {**machine(), "threads": THREADS},
        "training": {
            "words": treebank.train_words,
            "seconds": round(sum(one["training"]["seconds"] for one in trained), 1),
        },
        **evaluations,
    }


def words_of_epoch(treebank: Treebank, system: System, extra: dict[str, Any]) -> int:
    """Count the words of an epoch, those of copies that `spacy_nmparse.NonceCorpus.v1` makes among
    them.

    Args:
        treebank: The data.
        system: The parser.
        extra: Further settings, the same for all systems.

    Returns:
        The number of words.
    """
    copies = load_config(system.config, interpolate=False)["corpora"]["train"].get("copies", 0)
    copies = {**extra, **system.overrides}.get("corpora.train.copies", copies)
    return treebank.train_words * (1 + copies)


def steps_of_last_epoch(words: int, epochs: int) -> int:
    """Estimate the number of batches of the last epoch, which has the fewest.

    Args:
        words: Words of an epoch.
        epochs: Passes over them.

    Returns:
        The number with the batches of configs/: 100 words, growing by 0.1 % a batch up to 1,000.
    """
    size = min(100 + 0.001 * words * epochs, 1000)
    return max(1, int(words / size))


def switched(config: Path, output: Path) -> Path:
    """Write a config with the switch of docs/speed.md.

    Args:
        config: The config.
        output: The folder to write to.

    Returns:
        The new config, of the same name.

    Raises:
        RuntimeError: If the config has another callback in the switch's place.
    """
    settings = load_config(config, interpolate=False)
    if settings["nlp"].get("after_pipeline_creation"):
        raise RuntimeError(f"{config}: --switch needs [nlp.after_pipeline_creation] to be empty.")
    settings["nlp"]["after_pipeline_creation"] = SWITCH
    settings.to_disk(output / config.name)
    return output / config.name


def train_model(
    treebank: Treebank,
    system: System,
    seed: int,
    epochs: int,
    output: Path,
    extra: dict[str, Any],
    switch: bool = False,
    each_epoch: bool = False,
) -> tuple[float, str]:
    """Train a parser.

    Args:
        treebank: The data.
        system: The parser.
        seed: The random seed.
        epochs: Passes over the training data.
        output: The folder for model-best and the log; what it holds is deleted.
        extra: Further settings, the same for all systems.
        switch: Whether to train with the switch of docs/speed.md.
        each_epoch: Whether to evaluate in each epoch.

    Returns:
        The seconds it took, and the command without paths.

    Raises:
        RuntimeError: If it fails.
    """
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    # batches grow to 1,000 words: about one evaluation in two late epochs, and never too many
    frequency = max(50, treebank.train_words // 500)
    if each_epoch:
        frequency = steps_of_last_epoch(words_of_epoch(treebank, system, extra), epochs)
    settings: dict[str, Any] = {
        "nlp.lang": treebank.lang,
        "system.seed": seed,
        "corpora.train.gold_preproc": True,
        "training.max_epochs": epochs,
        "training.eval_frequency": frequency,
        **extra,
        **system.overrides,
    }
    config = switched(system.config, output) if switch else system.config
    train = ["-m", "spacy", "train", str(config), "--output", str(output)]
    for split in ("train", "dev"):
        train += [f"--paths.{split}", str(treebank.corpus[split])]
    shown = ["python", "-m", "spacy", "train", system.config.name]
    for key, value in settings.items():
        train += [f"--{key}", write_setting(value)]
        shown += train[-2:]
    if system.teacher:
        train += ["--paths.teacher", str(system.teacher)]
        shown += ["--paths.teacher", system.teacher.parent.name]
    train += ["--training.logger.@loggers", "spacy.ConsoleLogger.v2"]
    train += ["--training.logger.output_file", str(output / CURVE)]
    for score in SHOWN:
        train += [f"--training.score_weights.{score}", "0.0"]
    seconds = run(train, output / "log.txt", f"[{treebank.name} {output.name}]")
    shutil.rmtree(output / "model-last", ignore_errors=True)
    return seconds, " ".join(shown)


def read_curve(path: Path) -> dict[str, list[float]]:
    """Read the scores on dev during training.

    Args:
        path: What spaCy's console logger wrote: a line of JSON for each evaluation.

    Returns:
        The columns `epoch`, `step`, and the scores that there are, in points.
    """
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    curve = {name: [row[name] for row in rows] for name in ("epoch", "step")}
    for name in rows[0]["scores"] if rows else ():
        values = [round(row["scores"][name], 3) for row in rows]
        if any(values):  # a score that the parser's scorer does not give is 0
            curve[name] = values
    return curve


def count_moves(model: Path, corpus: Path, log: Path, prefix: str) -> dict[str, Any]:
    """Count how a trained parser uses its non-monotonic moves.

    Args:
        model: The pipeline.
        corpus: The gold sentences.
        log: The file to append the output to.
        prefix: What to write before each line shown.

    Returns:
        What the command `nmparse repairs` finds: counts by kind of move, and by labels before and
        after.
    """
    command = ["-m", "spacy", "nmparse", "repairs", str(model), str(corpus)]
    output = log.with_name("moves.txt")
    run([*command, "--examples", "0", "--json"], output, prefix)
    lines = output.read_text(encoding="utf-8").splitlines()
    found = json.loads(next(line for line in lines if line.startswith("{")))
    labels: dict[str, dict[str, dict[str, int]]] = {}
    for move, counts in found["labels"].items():
        changes = labels.setdefault(move, {})
        for one in counts:
            change = f"{one['before'] or '-'} > {one['after'] or '-'}"
            changes.setdefault(change, {})[one["outcome"]] = one["count"]
    return {
        **{name: found[name] for name in ("documents", "words", "moves", "repairs", "total")},
        "labels": labels,
    }


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
    each_epoch: bool = False,
) -> dict[str, Any]:
    """Do one run.

    Args:
        treebank: The data.
        system: The parser.
        seed: The random seed.
        epochs: Passes over the training data.
        work: The folder for models and logs.
        extra: Further settings, the same for all systems.
        evaluate: What to evaluate, of EVALUATIONS.
        moves: Whether to count how non-monotonic moves are used on dev.
        switch: Whether to train and evaluate with the switch of docs/speed.md.
        each_epoch: Whether to evaluate on dev in each epoch of training.

    Returns:
        The contents of the result file.
    """
    name = f"{system.name}-seed{seed}"
    output = work.resolve() / treebank.name / name
    log = output / "log.txt"
    seconds, command = train_model(
        treebank, system, seed, epochs, output, extra, switch, each_epoch
    )
    prefix = f"[{treebank.name} {name}]"
    evaluations = evaluate_model(treebank, output, log, prefix, {}, evaluate)
    if moves:
        corpus = treebank.corpus["dev"]
        counts = count_moves(output / "model-best", corpus, log, f"{prefix} moves:")
    return {
        "system": system.name,
        "config": system.config.name,
        "overrides": {**extra, **system.overrides},
        **({"teacher": system.teacher.parent.name} if system.teacher else {}),
        "treebank": treebank.name,
        "snapshot": treebank.snapshot,
        "files": treebank.files,
        "lang": treebank.lang,
        "seed": seed,
        "epochs": epochs,
        "command": command,
        **({"switch": SWITCH} if switch else {}),
        "versions": versions(),
        "machine": {**machine(), "threads": THREADS},
        "training": {
            "words": treebank.train_words,
            "seconds": round(seconds, 1),
            # start and evaluations on dev included
            "words_per_second": round(
                words_of_epoch(treebank, system, extra) * epochs / seconds, 1
            ),
        },
        "curve": read_curve(output / CURVE),
        **evaluations,
        **({"moves": counts} if moves else {}),
    }


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
    add_data_arguments(parser)
    parser.add_argument(
        "--also", action="append", default=[], metavar="NAME:KEY=VALUE[,KEY=VALUE]..."
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument(
        "--n-sents", type=int, default=1, help="sentences per document; .spacy files keep theirs"
    )
    parser.add_argument(
        "--evaluate", nargs="+", choices=tuple(EVALUATIONS), default=tuple(EVALUATIONS)
    )
    parser.add_argument(
        "--moves", action="store_true", help="count how non-monotonic moves are used on dev"
    )
    parser.add_argument(
        "--each-epoch", action="store_true", help="evaluate in each epoch of training"
    )
    parser.add_argument("--switch", action="store_true", help="use the switch of docs/speed.md")
    parser.add_argument(
        "--ensemble", action="store_true", help="evaluate the seeds of a system as one parser, too"
    )
    parser.add_argument(
        "--distill", action="store_true", help="train each seed once more, taught by the ensemble"
    )
    parser.add_argument("--teacher", type=Path, metavar="MODEL", help="a pipeline to learn from")
    parser.add_argument("--work", type=Path, default=ROOT / "training" / "accuracy")
    parser.add_argument(
        "--results", type=Path, default=ROOT / "benchmarks" / "results" / "accuracy"
    )
    args = parser.parse_args(argv)
    try:
        systems = [parse_system(text) for text in args.system or SYSTEMS]
        if args.teacher:
            teacher = args.teacher.resolve(strict=True)
            systems = [replace(one, name=f"{one.name}_taught", teacher=teacher) for one in systems]
        evaluations = [parse_evaluation(text) for text in args.also]
        extra = parse_settings(args.set)
        treebank = open_treebank(args, args.n_sents)
    except (OSError, ValueError) as error:
        print(f"accuracy.py: {error}", file=sys.stderr)
        return 1
    failed = []

    def keep(target: Path, make: Callable[[], dict[str, Any]]) -> bool:
        """Do a run unless its file is there; False if it failed."""
        if target.is_file():
            print(f"{target.name}: done before")
            return True
        try:
            result = make()
        except RuntimeError as error:
            print(f"accuracy.py: {error}", file=sys.stderr)
            failed.append(target.name)
            return False
        dump(result, target)
        split = args.evaluate[0]
        scores = result[split]["scores"]
        print(
            f"{target.name}: {split} UAS {100 * scores['uas_all']:.2f} "
            f"LAS {100 * scores['las_all']:.2f}, {result['training']['seconds']:.0f} s"
        )
        return True

    results = args.results / treebank.name

    def evaluate_with(target: Path) -> None:
        """Do the further evaluations of a run."""
        trained = json.loads(target.read_text(encoding="utf-8"))
        for name, settings in evaluations:
            again = partial(
                evaluate_again, treebank, trained, name, settings, args.work, args.evaluate
            )
            keep(results / f"{trained['system']}_{name}-seed{trained['seed']}.json", again)

    def train(system: System, seed: int) -> None:
        """Do one run of a system, and its further evaluations."""
        target = results / f"{system.name}-seed{seed}.json"
        run_of = (treebank, system, seed, args.epochs, args.work, extra)
        options = (args.evaluate, args.moves, args.switch, args.each_epoch)
        if not keep(target, partial(train_and_evaluate, *run_of, *options)):
            return
        evaluate_with(target)

    def merge(system: System) -> Path | None:
        """Evaluate a system's seeds as one parser; its model, or None if it is not there."""
        files = [results / f"{system.name}-seed{seed}.json" for seed in args.seeds]
        if not all(file.is_file() for file in files):
            return None
        members = [json.loads(file.read_text(encoding="utf-8")) for file in files]
        name = f"{system.name}_ensemble{len(files)}"
        target = results / f"{name}-seed{args.seeds[0]}.json"
        evaluate = partial(evaluate_ensemble, treebank, members, args.work, args.evaluate)
        if not keep(target, evaluate):
            return None
        evaluate_with(target)
        return args.work.resolve() / treebank.name / target.stem / "model-best"

    for seed in args.seeds:
        for system in systems:
            train(system, seed)
    for system in systems if args.ensemble or args.distill else ():
        teacher = merge(system)
        for seed in args.seeds if args.distill and teacher else ():
            train(replace(system, name=f"{system.name}_distilled", teacher=teacher), seed)
    if failed:
        print(f"accuracy.py: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
