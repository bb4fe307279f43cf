"""Train a parser on a treebank of your own, in CoNLL-U, and evaluate it; all from Python.

    python examples/train_treebank.py train.conllu dev.conllu training/mine --lang en --epochs 10

The steps: CoNLL-U to spaCy's own format, one document for each sentence; training by a config of
this package; the scores of the best model on dev. What else can be set: docs/training.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import spacy
from spacy.cli.train import train
from spacy.tokens import DocBin
from spacy.training import Corpus

from spacy_nmparse.ud.corpus import read_docs
from spacy_nmparse.ud.whole_pipeline import CONFIGS


def main(argv: list[str] | None = None) -> None:
    """Run the command line."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("train", type=Path, help="CoNLL-U to learn from")
    parser.add_argument("dev", type=Path, help="CoNLL-U that chooses the best model")
    parser.add_argument("output", type=Path, help="folder for data and model")
    parser.add_argument("--config", type=Path, default=CONFIGS / "nm_parser.cfg")
    parser.add_argument("--lang", default="xx", help="language code of spaCy")
    parser.add_argument("--epochs", type=int, default=10)
    given = parser.parse_args(argv)
    given.output.mkdir(parents=True, exist_ok=True)

    vocab = spacy.blank(given.lang).vocab
    docs = {split: read_docs(getattr(given, split), vocab) for split in ("train", "dev")}
    for split in docs:
        DocBin(docs=docs[split]).to_disk(given.output / f"{split}.spacy")

    settings = {
        "paths.train": str(given.output / "train.spacy"),
        "paths.dev": str(given.output / "dev.spacy"),
        "nlp.lang": given.lang,
        "corpora.train.gold_preproc": True,  # gold tokens and sentences
        "training.max_epochs": given.epochs,
        # batches grow to 1,000 words: an evaluation for each epoch or two
        "training.eval_frequency": max(10, sum(map(len, docs["train"])) // 1000),
    }
    train(given.config, given.output, overrides=settings)

    nlp = spacy.load(given.output / "model-best")
    scores = nlp.evaluate(list(Corpus(given.output / "dev.spacy", gold_preproc=True)(nlp)))
    for name in ("dep_uas", "dep_las", "dep_uas_conll", "dep_las_conll", "dep_exact"):
        print(f"{name:<14}{100 * scores[name]:6.2f}")


if __name__ == "__main__":
    main()
