"""Train `nm_parser_linear`, and measure how well and how fast it parses dev.

    python -m benchmarks.perceptron assets/UD_Gothic-PROIEL
    python -m benchmarks.perceptron training/jackknife/UD_Gothic-PROIEL

The parser looks at the tags of the data: right ones, or, in a treebank of benchmarks.jackknife,
predicted ones. It is trained in this process, as the papers train: `--epochs` passes over the
shuffled sentences, and the averaged weights of the end; no epoch is chosen on dev.

Speed is that of one core, in processor time, of everything after tokenization: sentences of dev,
each a document, the least of five repetitions.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_model_from_config, minibatch, registry
from thinc.api import fix_random_seed

from benchmarks.common import RUNS, WORK, command_line, program, record
from benchmarks.systems import System, find_system
from benchmarks.training import PARTS, counted_moves, duration, settings_of
from benchmarks.treebanks import Treebank, add_treebank_arguments, open_treebank
from spacy_nmparse.analysis.evaluate import blank_copy, evaluate
from spacy_nmparse.cli.records import dump
from spacy_nmparse.lab.linear.logistic import Logistic
from spacy_nmparse.lab.linear.perceptron import perceptron_of
from spacy_nmparse.lab.repair_use import find_repairs
from spacy_nmparse.pipe.schedule import Chance
from spacy_nmparse.ud.corpus import read_docs

#: Sentences handed to the parser at a time. It learns from each configuration at once.
BATCH = 32
SPLITS = ("dev", "test")
REPETITIONS = 5
#: The parts of a config that `train` reads, and the settings of these that it sets itself.
READ = ("components.", "corpora.train.", "initialize.", "nlp.")
SET = ("corpora.train.gold_preproc", "nlp.lang")


def check_settings(settings: Iterable[str]) -> None:
    """Make sure that `train` reads settings, given by their dotted keys. Raises a ValueError for
    those that would change nothing."""
    if ignored := [key for key in settings if key in SET or not key.startswith(READ)]:
        raise ValueError(
            f"--set {', '.join(ignored)} would change nothing: parsers with the linear scorer are "
            "not trained by `spacy train`. Leave it out; --epochs, --seeds and --lang are options."
        )


def train(
    treebank: Treebank,
    system: System,
    seed: int,
    epochs: int,
    each: Callable[[Language, int], None] | None = None,
) -> Language:
    """Train a parser. A logistic regression learns from the oracle's own states in the first pass,
    and after that from those that the parser reaches. `each` is called with the pipeline and the
    number of the pass, from 0 on, after each."""
    settings = {
        "nlp.lang": treebank.lang,
        "paths.train": str(treebank.corpus["train"]),
        "paths.dev": str(treebank.corpus["dev"]),
        "corpora.train.gold_preproc": True,
    }
    config = system.changed(settings).build().interpolate()
    fix_random_seed(seed)
    nlp = load_model_from_config(config, auto_fill=True)
    corpus = registry.resolve(config["corpora"])["train"]
    examples = list(corpus(nlp))
    optimizer = nlp.initialize(lambda: examples)
    parser: Any = nlp.get_pipe("parser")
    explore = parser.learning.explore
    for epoch in range(epochs):
        iterative = isinstance(perceptron_of(parser.model), Logistic)
        first = iterative and epoch == 0
        parser.learning.explore = Chance(0.0, "explore") if first else explore
        random.shuffle(examples)
        for batch in minibatch(examples, BATCH):
            nlp.update(batch, sgd=optimizer)
        if each is not None:
            each(nlp, epoch)
    return nlp


def tag_accuracy(treebank: Treebank) -> dict[str, Any]:
    """The shares of right tags by split (`tags`) of a treebank of benchmarks.jackknife; else
    nothing."""
    path = treebank.corpus["train"].parent / "tags.json"
    if not path.is_file():
        return {}
    return {"tags": json.loads(path.read_text(encoding="utf-8"))["accuracy"]}


def train_and_evaluate(
    treebank: Treebank,
    system: System,
    seed: int,
    epochs: int,
    command: str,
    each_epoch: bool = False,
    repairs: bool = True,
) -> dict[str, Any]:
    """Do one run: its contents, as of benchmarks.accuracy. `command` is what does it. With
    `each_epoch` dev is evaluated after each pass, too; with `repairs` the use of non-monotonic
    moves is counted."""
    curve: dict[str, list[float]] = {"epoch": [], "dep_uas_conll": []}

    def note(nlp: Language, epoch: int) -> None:
        """Add a pass to the curve."""
        scores = evaluate(nlp, treebank.corpus["dev"], tags="data")["scores"]
        curve["epoch"].append(epoch)
        curve["dep_uas_conll"].append(round(100 * scores["uas_all"], 3))

    start = time.process_time()
    nlp = train(treebank, system, seed, epochs, note if each_epoch else None)
    seconds = time.process_time() - start
    evaluations = {}
    for split in SPLITS:
        result = evaluate(nlp, treebank.corpus[split], tags="data")
        evaluations[split] = {part: result[part] for part in PARTS if part in result}
    moves = {}
    if repairs:
        docs = read_docs(treebank.corpus["dev"], nlp.vocab)
        found = find_repairs(nlp, docs, n_examples=0)
        moves = {"moves": counted_moves(found.as_dict())}
    return {
        **settings_of(treebank, system.name, system.config.name, system.overrides),
        "seed": seed,
        "epochs": epochs,
        "command": command,
        **record(),
        **tag_accuracy(treebank),
        "training": duration(treebank, epochs, seconds),
        **({"curve": curve} if each_epoch else {}),
        **evaluations,
        **moves,
    }


def measure(nlp: Language, sentences: list[Doc]) -> dict[str, int]:
    """Sentences and words that a pipeline parses in a second of processor time."""
    seconds = []
    for _ in range(REPETITIONS):
        docs = [blank_copy(nlp, gold, "gold", "none", "data") for gold in sentences]
        start = time.process_time()
        for _ in nlp.pipe(docs):
            pass
        seconds.append(time.process_time() - start)
    return {
        "sentences_per_second": round(len(sentences) / min(seconds)),
        "words_per_second": round(sum(map(len, sentences)) / min(seconds)),
    }


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    parser = command_line(__doc__)
    add_treebank_arguments(parser)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, default=WORK / "perceptron", help="gold corpora")
    parser.add_argument("--runs", type=Path, default=RUNS / "perceptron")
    args = parser.parse_args(argv)
    treebank = open_treebank(args)
    start = time.process_time()
    nlp = train(treebank, find_system("nm_parser_linear"), args.seed, args.epochs)
    seconds = time.process_time() - start
    tags = "predicted" if (args.treebank / "tags.json").is_file() else "gold"
    scores = evaluate(nlp, treebank.corpus["dev"], tags="data")["scores"]
    result = {
        "treebank": treebank.name,
        "snapshot": treebank.snapshot,
        "files": treebank.files,
        "tags": tags,
        "epochs": args.epochs,
        "seed": args.seed,
        **record(),
        "training_seconds": round(seconds, 1),
        **measure(nlp, read_docs(treebank.corpus["dev"], nlp.vocab)),
        "scores": {name: scores[name] for name in ("uas_all", "las_all", "uas_words", "las_words")},
    }
    dump(result, args.runs / f"{treebank.name}-{tags}.json")
    print(
        f"{treebank.name}, {tags} tags: UAS {100 * scores['uas_all']:.2f}, LAS "
        f"{100 * scores['las_all']:.2f}; {result['sentences_per_second']} sentences, "
        f"{result['words_per_second']} words a second; trained in {seconds:.0f} s"
    )


if __name__ == "__main__":
    raise SystemExit(main())
