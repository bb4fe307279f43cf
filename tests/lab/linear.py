"""What the tests of the linear scorer share: parsers, training, tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import fix_random_seed

from spacy_nmparse.lab.linear.perceptron import perceptron_of
from spacy_nmparse.lab.linear.scorer import read_words
from spacy_nmparse.pipe.doc_io import parsed_tokens
from spacy_nmparse.scorers.shared import ScorerInput
from spacy_nmparse.systems import Gold
from tests.naive.linear import Perceptron
from tests.pipe.common import (
    DOCUMENTS,
    bare,
    gold_doc,
    make_examples,
    parser_of,
    tree,
    with_learning,
)

BITS = 12
LINEAR: dict[str, Any] = {"@architectures": "spacy_nmparse.LinearScorer.v1", "bits": BITS}
LOGISTIC = {**LINEAR, "learner": "logistic"}
L_D = {"nonmonotonic_left": True, "nonmonotonic_reduce": True}
REPAIRS = {"nonmonotonic_left": True, "repairs": ("right_lower", "right_raise", "left_invert")}
SYSTEMS: list[tuple[str, dict[str, Any]]] = [
    ("arc_eager", {}),
    ("arc_eager", L_D),
    ("arc_eager", REPAIRS),
    ("arc_standard", {}),
    ("arc_hybrid", {}),
    ("swap_standard", {}),
    ("covington", {}),
]
FACTORIES: list[tuple[str, dict[str, Any]]] = [
    ("nm_parser", {"projectivize": True}),
    ("swap_parser", {}),
    ("nl_covington_parser", {"system": {"@misc": "spacy_nmparse.Covington.v1"}}),
]


def make_linear(factory: str = "nm_parser", lang: str = "xx", **config: Any) -> Language:
    """A pipeline of a linear parser without labels."""
    fix_random_seed(0)
    nlp = spacy.blank(lang)
    nlp.add_pipe(factory, config=with_learning({"model": LINEAR, **config}))
    return nlp


def initialized(**config: Any) -> Language:
    nlp = make_linear(**config)
    nlp.initialize(lambda: make_examples(nlp.vocab))
    return nlp


def tagged_examples(vocab: Vocab, documents: Sequence[Sequence[int]] = DOCUMENTS) -> list[Example]:
    """With tags on the words that the parser sees."""
    examples = make_examples(vocab, documents)
    for example in examples:
        set_tags(example.predicted)
    return examples


def by_heart(
    n_updates: int = 100, documents: Sequence[Sequence[int]] = DOCUMENTS, **config: Any
) -> Language:
    """A pipeline that has seen the trees so often; by then it knows them."""
    nlp = initialized(**config)
    examples = tagged_examples(nlp.vocab, documents)
    for _ in range(n_updates):
        learn_from(nlp, examples)
    return nlp


def learn_from(nlp: Language, examples: list[Example]) -> float:
    """One update. Returns the loss."""
    parser = parser_of(nlp)
    losses = nlp.update(examples, sgd=None)
    parser.finish_update(None)
    return losses[parser.name]


def knows(
    nlp: Language, documents: Sequence[Sequence[int]] = DOCUMENTS, n_process: int = 1
) -> bool:
    golds = [gold_doc(nlp.vocab, trees) for trees in documents]
    docs = nlp.pipe([set_tags(bare(gold)) for gold in golds], n_process=n_process, batch_size=2)
    return [tree(doc) for doc in docs] == [tree(gold) for gold in golds]


def randomize(parser: Any) -> None:
    """Random weights."""
    perceptron = perceptron_of(parser.model)
    weights = numpy.random.RandomState(3).randint(-3, 4, perceptron.size)
    perceptron.begin(weights.astype("float32"))


def set_tags(doc: Doc) -> Doc:
    for token in doc:
        token.tag_ = "T" + token.text[-1]
    return doc


def seen(doc: Doc) -> list[list[int]]:
    """The numbers of its words and tags."""
    return [array.tolist() for array in read_words(ScorerInput([doc]))]


def gold_of(parser: Any, example: Example) -> Gold:
    return parser.gold_reader.read(example, *parsed_tokens([example.predicted])[:2])


def plain(parser: Any) -> Perceptron:
    """The plain implementation with the parser's weights."""
    naive = Perceptron(parser.system, parser.model.attrs["features"], BITS)
    weights = perceptron_of(parser.model).parsing_weights()
    naive.weights.update(enumerate(weights.tolist()))
    return naive
