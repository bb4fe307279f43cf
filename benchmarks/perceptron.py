"""Training parsers with the linear scorer in this process, as the papers train: a number of passes
over the shuffled sentences, and the averaged weights of the end; no epoch is chosen on dev. That
takes seconds, less than `spacy train` takes to start and to evaluate.
"""

from __future__ import annotations

import random
import time
from typing import Any

from spacy.language import Language
from spacy.util import load_model_from_config, minibatch, registry
from thinc.api import fix_random_seed

from benchmarks.common import record
from benchmarks.systems import System
from benchmarks.training import PARTS, counted_moves
from benchmarks.treebanks import Treebank
from scripts.evaluate import evaluate
from spacy_nmparse.analysis.corpus import read_docs
from spacy_nmparse.analysis.repairs import find_repairs

#: Sentences handed to the parser at a time. It learns from each configuration at once.
BATCH = 32
SPLITS = ("dev", "test")


def train(treebank: Treebank, system: System, seed: int, epochs: int) -> Language:
    """Train a parser.

    Args:
        treebank: The data.
        system: The parser.
        seed: The random seed.
        epochs: Passes over the training data.

    Returns:
        The pipeline.
    """
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
    for _ in range(epochs):
        random.shuffle(examples)
        for batch in minibatch(examples, BATCH):
            nlp.update(batch, sgd=optimizer)
    return nlp


def train_and_evaluate(
    treebank: Treebank, system: System, seed: int, epochs: int
) -> dict[str, Any]:
    """Do one run.

    Args:
        treebank: The data.
        system: The parser.
        seed: The random seed.
        epochs: Passes over the training data.

    Returns:
        The contents of the run's result file, as of benchmarks.accuracy.
    """
    start = time.process_time()
    nlp = train(treebank, system, seed, epochs)
    seconds = time.process_time() - start
    evaluations = {}
    for split in SPLITS:
        result = evaluate(nlp, treebank.corpus[split], tags="data")
        evaluations[split] = {part: result[part] for part in PARTS if part in result}
    docs = read_docs(treebank.corpus["dev"], nlp.vocab)
    moves = find_repairs(nlp, docs, n_examples=0).as_dict()
    return {
        "system": system.name,
        "config": system.config.name,
        "overrides": system.overrides,
        "treebank": treebank.name,
        "snapshot": treebank.snapshot,
        "files": treebank.files,
        "lang": treebank.lang,
        "seed": seed,
        "epochs": epochs,
        "command": f"python -m benchmarks.variants hgj13_linear --only {system.name}",
        **record(),
        "training": {
            "words": treebank.train_words,
            "seconds": round(seconds, 1),
            "words_per_second": round(treebank.train_words * epochs / seconds, 1),
        },
        **evaluations,
        "moves": counted_moves(moves),
    }
