"""``nmparse learn-on``: train a trained pipeline on, on more sentences."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import srsly
import typer
from spacy.cli.train import train
from spacy.language import Language
from thinc.api import Config

from spacy_nmparse.analysis.evaluate import evaluate
from spacy_nmparse.cli.console import CODE, MODEL, OUTPUT, check_absent, check_trees, failures, load
from spacy_nmparse.layers.treebanks import names_in
from spacy_nmparse.pipe.members import parser_of, parsers_of
from spacy_nmparse.pipe.subtokens import SPACED, SUBTOK
from spacy_nmparse.pipe.training_log import CURVE, SCORES
from spacy_nmparse.pipe.workplace import alone
from spacy_nmparse.terminal import show
from spacy_nmparse.ud.corpus import check_exists
from spacy_nmparse.ud.readers import Corpus
from spacy_nmparse.ud.whole_pipeline import LEMMATIZER, MULTIWORD

#: The config beside the models, and its name until they are trained.
CONFIG, UNFINISHED = "learn-on.cfg", "unfinished.cfg"
MODELS = ("model-best", "model-last")
#: How the reader makes documents: as in the pipeline's own training.
DOCUMENTS = ("gold_preproc", "max_length", "n_sents")
#: The treebank that sentences are of by default, in the config.
FIRST = "first"
#: Words of all epochs for each step between evaluations, and the most steps.
WORDS, STEPS = 1000, 200


def run(
    model: str = MODEL,
    files: list[str] = typer.Argument(
        ...,
        metavar="FILE...",
        help="CoNLL-U or .spacy files: the new sentences, and the old training data; NAME=FILE: "
        "sentences of another treebank than the first, which the pipeline knows by this name",
    ),
    output: Path = OUTPUT,
    dev: Path | None = typer.Option(
        None, "--dev", help="A CoNLL-U or .spacy file that chooses the best model, and measures it"
    ),
    epochs: int = typer.Option(5, "--epochs", min=1, help="Passes over the files"),
    learn_rate: float = typer.Option(0.0005, "--learn-rate", help="Learning rate"),
    code: Path | None = CODE,
) -> None:
    """Train a trained pipeline on: the weights that it has are where learning begins."""
    if not (output / UNFINISHED).is_file():
        check_absent(output)
    treebanks = _by_treebank(files)
    named = [*(file for own in treebanks.values() for file in own), *([dev] if dev else [])]
    with failures():
        for file in named:
            check_exists(file)
        check_trees(named)
        nlp = load(model)
        parser_of(nlp, next(iter(parsers_of(nlp)), None))  # says what is missing
        for name in sorted({*treebanks} - {FIRST} - (names_in(nlp) or {*treebanks})):
            show(f"Warning: {model} does not know the treebank {name!r}: new.", file=sys.stderr)
        n_words = sum(len(doc) for doc in Corpus(treebanks).docs(nlp))
        before = None if dev is None else evaluate(nlp, dev)["scores"]
        trained = output / ("model-best" if dev else "model-last")
        output.mkdir(parents=True, exist_ok=True)
        (output / UNFINISHED).touch()
        with alone(output / UNFINISHED):
            config = _config(nlp, _left(trained) or model, epochs * n_words)
            paths = {name: [*map(str, own)] for name, own in treebanks.items()}
            config["paths"] = {"train": paths, "dev": str(dev or named[0])}
            config["corpora"]["dev"]["limit"] = 0 if dev else 1
            config["training"]["max_epochs"] = epochs
            config["training"]["optimizer"]["learn_rate"] = learn_rate
            config.to_disk(output / UNFINISHED)
            train(output / UNFINISHED, output)
        (output / UNFINISHED).replace(output / CONFIG)
        if dev is None or before is None:  # nothing has measured it
            shutil.rmtree(output / "model-best")
            meta = srsly.read_json(trained / "meta.json")
            srsly.write_json(trained / "meta.json", {**meta, "performance": {}})
        else:
            after = evaluate(load(str(trained)), dev)["scores"]
            for kind in ("las_all", "uas_all"):
                old, new = (100 * (one[kind] or 0) for one in (before, after))
                name = kind.partition("_")[0].upper()
                show(f"{dev}: {name} {old:.2f} before, {new:.2f} now ({new - old:+.2f})")
    show(f"The pipeline: {trained}")


def _by_treebank(files: list[str]) -> dict[str, list[Path]]:
    """The files of each treebank, by its name; those of the first, which have none, come first."""
    found: dict[str, list[Path]] = {FIRST: []}
    for file in files:
        name, equals, path = file.partition("=")
        other = bool(name and equals) and not Path(file).is_file()
        found.setdefault(name if other else FIRST, []).append(Path(path if other else file))
    return found


def _left(model: Path) -> str | None:
    """What a training that has ended early has left beside this model is moved to a folder there.
    The new path of the model, or of another one, if any is there."""
    output = model.parent
    left = [one for one in (model.name, *MODELS, SCORES, CURVE) if (output / one).exists()]
    if left:
        kept = next(path for i in count(1) if not (path := output / f"earlier-{i}").exists())
        kept.mkdir()
        for one in dict.fromkeys(left):
            (output / one).rename(kept / one)
        if left[0] in MODELS:
            show(f"A training has ended early: this one goes on from {kept / left[0]}.")
            return str(kept / left[0])
    return None


def _config(nlp: Language, model: str, n_words: int) -> Config:
    """The config of a training that begins with the weights of a pipeline.

    Args:
        nlp: The pipeline.
        model: Where it is loaded from.
        n_words: The words of all epochs.
    """
    frozen, listened = _frozen(nlp)
    own = nlp.config.interpolate()
    readers = {
        split: {
            "@readers": "spacy_nmparse.Corpus.v1",
            "path": f"${{paths.{split}}}",
            **_kept(own["corpora"].get(split), DOCUMENTS),
        }
        for split in ("train", "dev")
    }
    labels = {label for parser in parsers_of(nlp).values() for label in parser.labels}
    readers["train"]["subtokens"] = not labels.isdisjoint((SUBTOK, SPACED))
    words = {"@schedules": "compounding.v1", "start": 100, "stop": 1000, "compound": 1.001}
    batcher = {"@batchers": "spacy_nmparse.exchanged_words.v1", "size": words}
    adam = {
        "@optimizers": "spacy_nmparse.Adam.v1",
        "use_averages": False,  # an average of few updates would be far from the weights
        **_kept(own["training"].get("optimizer"), ["pretrained_factor"]),
    }
    copied = {"@callbacks": "spacy.copy_from_base_model.v1", "tokenizer": model, "vocab": model}
    more = {"@callbacks": "spacy_nmparse.learn_more.v1", "model": model}
    return Config(
        {
            "paths": {},
            "nlp": nlp.config["nlp"],
            "components": {name: {"source": model} for name in nlp.component_names},
            "corpora": readers,
            "training": {
                "seed": 1,
                "gpu_allocator": None,
                "eval_frequency": max(1, min(STEPS, n_words // WORDS)),
                "frozen_components": frozen,
                "annotating_components": listened,
                "before_to_disk": {"@callbacks": "spacy_nmparse.safe_checkpoints.v1"},
                "logger": {"@loggers": "spacy_nmparse.ConsoleLogger.v1"},
                "batcher": {**batcher, "level": 0.0, "phrases": 0.0},
                "optimizer": adam,
                "score_weights": {"dep_las": 1.0},
            },
            "initialize": {"before_init": copied, "after_init": more},
        }
    )


def _kept(block: dict[str, Any] | None, names: Sequence[str]) -> dict[str, Any]:
    """The settings of these names that a block of the pipeline's own config has."""
    return {name: value for name, value in (block or {}).items() if name in names}


def _frozen(nlp: Language) -> tuple[list[str], list[str]]:
    """The components that must not learn, since the files say nothing of what they do, with the
    token vectors that these listen to; and which of these the parsers listen to as well."""
    taught = {*parsers_of(nlp), LEMMATIZER, MULTIWORD}
    heard: dict[str, Any] = {
        name: getattr(pipe, "listening_components", None) for name, pipe in nlp.pipeline
    }
    frozen = [
        name
        for name, pipe in nlp.pipeline
        if getattr(pipe, "is_trainable", False)
        and (name not in taught if heard[name] is None else {*heard[name]} - taught)
    ]
    return frozen, [name for name in frozen if taught & {*(heard[name] or ())}]
