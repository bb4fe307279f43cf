"""Write a treebank with predicted tags, to train parsers that look at tags.

    python -m benchmarks.jackknife assets/UD_Gothic-PROIEL
    python -m benchmarks.accuracy training/jackknife/UD_Gothic-PROIEL --system nm_parser_linear

A tagger that has seen a sentence tags it better than a new one. So the training sentences are cut
into `--folds` parts, and each is tagged by a tagger trained on the others (jackknifing); dev and
test by one trained on all. Tagger and token vectors are spaCy's own, so that no change of this
package changes tags; trained for `--epochs`; averaged weights tag.

WORK/TREEBANK (by default training/jackknife/TREEBANK) gets train.spacy, dev.spacy and test.spacy:
the gold trees, parts of speech and features, and predicted tags; and tags.json, which says how many
tags are right.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import minibatch
from thinc.api import fix_random_seed

from benchmarks.common import WORK, command_line, program, record
from benchmarks.treebanks import Treebank, add_treebank_arguments, open_treebank
from spacy_nmparse.analysis.evaluate import blank_copy
from spacy_nmparse.cli.records import dump
from spacy_nmparse.ud.treebank import SPLITS

#: Sentences of a batch, and dropout, as of spaCy's own taggers.
BATCH, DROPOUT = 32, 0.1
TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 96,
    "depth": 2,
    "embed_size": 2000,
    "window_size": 1,
    "maxout_pieces": 3,
    "subword_features": True,
}
MODEL = {"@architectures": "spacy.Tagger.v2", "nO": None, "tok2vec": TOK2VEC}


def train_tagger(lang: str, sentences: Sequence[Doc], epochs: int, seed: int) -> Language:
    """A pipeline of a tagger that has learned from these sentences, with averaged weights."""
    fix_random_seed(seed)
    nlp = spacy.blank(lang)
    # A tag may be "!", which spaCy would read as: any tag but "".
    nlp.add_pipe("tagger", config={"model": MODEL, "neg_prefix": " "})
    examples = [Example(blank_copy(nlp, gold, "gold", "none"), gold) for gold in sentences]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(epochs):
        random.shuffle(examples)
        for batch in minibatch(examples, BATCH):
            nlp.update(batch, drop=DROPOUT, sgd=optimizer)
    with nlp.use_params(optimizer.averages):
        trained = nlp.to_bytes()
    return nlp.from_bytes(trained)


def tag(nlp: Language, sentences: Sequence[Doc]) -> tuple[int, int]:
    """Give sentences predicted tags in place of their own; how many words had got their own tag,
    and how many words there are."""
    right = words = 0
    blank = (blank_copy(nlp, gold, "gold", "none") for gold in sentences)
    for found, gold in zip(nlp.pipe(blank), sentences, strict=True):
        for one, other in zip(found, gold, strict=True):
            right += one.tag_ == other.tag_
            other.tag_ = one.tag_
        words += len(gold)
    return right, words


def fold_bounds(n_sentences: int, folds: int) -> list[tuple[int, int]]:
    """Cut sentences into parts: of each its first sentence, and the first behind it; the parts
    differ by at most one sentence. Raises a ValueError if there are fewer than two parts, or fewer
    sentences than parts."""
    if not 2 <= folds <= n_sentences:
        raise ValueError(
            f"{n_sentences} sentences can be cut into 2 to as many parts, not {folds}."
        )
    bounds = [n_sentences * i // folds for i in range(folds + 1)]
    return list(itertools.pairwise(bounds))


def jackknife(treebank: Treebank, folds: int, epochs: int, seed: int) -> dict[str, Any]:
    """Tag a treebank whose sentences are documents: `docs` by split, with predicted tags, and the
    shares of tags that are right (`accuracy`)."""
    vocab = spacy.blank(treebank.lang).vocab
    docs = {s: list(DocBin().from_disk(treebank.corpus[s]).get_docs(vocab)) for s in SPLITS}
    gold = [doc.copy() for doc in docs["train"]]
    nlp = train_tagger(treebank.lang, gold, epochs, seed)
    counts = {split: [tag(nlp, docs[split])] for split in ("dev", "test")}
    counts["train"] = []
    for first, last in fold_bounds(len(gold), folds):
        nlp = train_tagger(treebank.lang, gold[:first] + gold[last:], epochs, seed)
        counts["train"].append(tag(nlp, docs["train"][first:last]))
    accuracy = {
        split: sum(right for right, _ in parts) / sum(words for _, words in parts)
        for split, parts in counts.items()
    }
    return {"docs": docs, "accuracy": accuracy}


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    parser = command_line(__doc__)
    add_treebank_arguments(parser)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, default=WORK / "jackknife", help="where to write")
    args = parser.parse_args(argv)
    treebank = open_treebank(args)
    found = jackknife(treebank, args.folds, args.epochs, args.seed)
    folder = args.work.resolve() / treebank.name
    folder.mkdir(parents=True, exist_ok=True)
    for split, docs in found["docs"].items():
        DocBin(docs=docs, store_user_data=True).to_disk(folder / f"{split}.spacy")
    result = {
        "treebank": treebank.name,
        "snapshot": treebank.snapshot,
        "files": treebank.files,
        "lang": treebank.lang,
        "folds": args.folds,
        "epochs": args.epochs,
        "seed": args.seed,
        **record(),
        "accuracy": found["accuracy"],
    }
    dump(result, folder / "tags.json")
    shares = ", ".join(f"{split} {100 * share:.2f}" for split, share in found["accuracy"].items())
    print(f"{folder}: {shares} % of tags right")


if __name__ == "__main__":
    raise SystemExit(main())
