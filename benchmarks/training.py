"""Training parsers by `spacy train`, and evaluating them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from spacy.util import load_config

from benchmarks.common import run, write_setting
from benchmarks.systems import System
from benchmarks.treebanks import Treebank

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
    "per_sentence",
)
#: `[nlp.after_pipeline_creation]` with the switch of docs/speed.md.
SWITCH = {"@callbacks": "spacy_nmparse.fast_blas.v1"}
#: The file that spaCy's logger writes evaluations during training to.
CURVE = "curve.jsonl"
#: Their scores, with those of the configs. They weigh nothing.
SHOWN = ("dep_uas_conll", "dep_las_conll")


def evaluate_model(
    treebank: Treebank,
    output: Path,
    log: Path,
    prefix: str,
    settings: dict[str, Any],
    which: Sequence[str] = tuple(EVALUATIONS),
) -> dict[str, Any]:
    """Do some of the EVALUATIONS of a run's model, which is model-best in its folder `output`, with
    settings of the components that differ from those it was trained with: the evaluations by name.
    Raises a RuntimeError if one fails."""
    evaluations = {}
    for key in which:
        split, sents = EVALUATIONS[key]
        target = output / f"{key}.json"
        command = ["-m", "spacy", "nmparse", "evaluate", str(output / "model-best")]
        command += [str(treebank.corpus[split]), "--sents", sents, "--output", str(target)]
        if reads_tags(output / "model-best"):
            command += ["--tags", "data"]
        for name, value in settings.items():
            command += ["--set", f"{name}={write_setting(value)}"]
        if split in treebank.conllu and find_spec("udtools"):
            command += ["--conllu", str(treebank.conllu[split])]
        run(command, log, f"{prefix} {key}:")
        result = json.loads(target.read_text(encoding="utf-8"))
        evaluations[key] = {part: result[part] for part in PARTS if part in result}
    return evaluations


def settings_of(treebank: Treebank, name: str, config: str, overrides: Any) -> dict[str, Any]:
    """What a run's file says of how it was made, its first part; another one would be another run.
    `config` is what the system was trained by, `overrides` what differs from that."""
    return {
        "system": name,
        "config": config,
        "overrides": overrides,
        "treebank": treebank.name,
        "snapshot": treebank.snapshot,
        "files": treebank.files,
        "lang": treebank.lang,
    }


def duration(treebank: Treebank, epochs: int, seconds: float) -> dict[str, float]:
    """What a run's file says of its training: start and evaluations on dev included."""
    rate = round(treebank.train_words * epochs / seconds, 1)
    words = treebank.train_words
    return {"words": words, "seconds": round(seconds, 1), "words_per_second": rate}


def reads_tags(model: Path) -> bool:
    """Whether a pipeline was trained with `spacy_nmparse.TaggedCorpus.v1`: its parser takes its
    words' tags from the data."""
    corpora = load_config(model / "config.cfg")["corpora"]
    return bool(corpora["train"]["@readers"] == "spacy_nmparse.TaggedCorpus.v1")


def train_model(
    treebank: Treebank,
    system: System,
    seed: int,
    epochs: int,
    output: Path,
    extra: dict[str, Any],
    switch: bool = False,
) -> tuple[float, str]:
    """Train a parser. What the folder `output` holds is deleted; it gets model-best and the log.
    `extra` are further settings, the same for all systems; `switch` is that of docs/speed.md.
    Returns the seconds it took, and the command without paths. Raises a RuntimeError if it
    fails."""
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    settings: dict[str, Any] = {
        "nlp.lang": treebank.lang,
        "system.seed": seed,
        "corpora.train.gold_preproc": True,
        "training.max_epochs": epochs,
        "training.max_steps": 0,
        # batches grow to 1,000 words: about one evaluation in two late epochs, and never too many
        "training.eval_frequency": max(50, treebank.train_words // 500),
        **extra,
    }
    slot = "nlp.after_pipeline_creation"
    if switch and system.build()["nlp"].get("after_pipeline_creation"):
        raise RuntimeError(f"{system.name}: --switch needs [{slot}] to be empty.")
    config = system.write(output, {slot: SWITCH} if switch else {})
    train = ["-m", "spacy", "train", str(config), "--output", str(output)]
    data = {treebank.name: treebank.corpus["train"], **system.more}
    named = json.dumps({name: str(path) for name, path in data.items()})
    train += ["--paths.train", named if system.more else str(treebank.corpus["train"])]
    train += ["--paths.dev", str(treebank.corpus["dev"])]
    shown = ["python", "-m", "spacy", "train", config.name]
    for key, value in settings.items():
        train += [f"--{key}", write_setting(value)]
        shown += train[-2:]
    if system.teachers:
        train += ["--paths.teacher", json.dumps([str(path) for path in system.teachers])]
        shown += ["--paths.teacher", json.dumps([path.parent.name for path in system.teachers])]
    train += ["--training.logger.@loggers", "spacy.ConsoleLogger.v2"]
    train += ["--training.logger.output_file", str(output / CURVE)]
    for score in SHOWN:
        train += [f"--training.score_weights.{score}", "0.0"]
    seconds = run(train, output / "log.txt", f"[{treebank.name} {output.name}]")
    shutil.rmtree(output / "model-last", ignore_errors=True)
    return seconds, " ".join(shown)


def read_curve(path: Path) -> dict[str, list[float]]:
    """Read the scores on dev during training that spaCy's console logger wrote: the columns
    `epoch`, `step`, and the scores that there are, in points."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    curve = {name: [row[name] for row in rows] for name in ("epoch", "step")}
    for name in rows[0]["scores"] if rows else ():
        values = [round(row["scores"][name], 3) for row in rows]
        if any(values):  # a score that the parser's scorer does not give is 0
            curve[name] = values
    return curve


def count_moves(model: Path, corpus: Path, log: Path, prefix: str) -> dict[str, Any]:
    """Count by `nmparse repairs` how a trained parser uses its non-monotonic moves on gold
    sentences: by kind of move, and by labels before and after."""
    command = ["-m", "spacy", "nmparse", "repairs", str(model), str(corpus)]
    output = log.with_name("moves.txt")
    run([*command, "--examples", "0", "--json"], output, prefix)
    lines = output.read_text(encoding="utf-8").splitlines()
    return counted_moves(json.loads(next(line for line in lines if line.startswith("{"))))


def counted_moves(found: dict[str, Any]) -> dict[str, Any]:
    """What result files have of what `nmparse repairs` finds: counts of non-monotonic moves by
    kind (`punct`: of those, where S0 is punctuation), and by labels before and after."""
    labels: dict[str, dict[str, dict[str, int]]] = {}
    for move, counts in found["labels"].items():
        changes = labels.setdefault(move, {})
        for one in counts:
            change = f"{one['before'] or '-'} > {one['after'] or '-'}"
            changes.setdefault(change, {})[one["outcome"]] = one["count"]
    return {
        **{name: found[name] for name in ("documents", "words", "moves", "repairs", "punct")},
        "labels": labels,
    }
