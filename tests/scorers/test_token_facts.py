"""Facts of tokens that an installed package brings."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import numpy
import pytest
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.scorers import features
from spacy_nmparse.scorers.arc_scorer import ArcScorer
from spacy_nmparse.scorers.token_facts import TokenFact
from tests.pipe.common import SWAP, make_nlp, model_config, parser_of, tree

TAG = TokenFact(3, lambda doc: [len(token.tag_) for token in doc], looks_at_tags=True)
NAMES = ["S0", "B0", "S1.tag", "S0.tag", "B0.tag", "S0.l1.tag"]


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry point of a package."""
    point = EntryPoint("tag", f"{__name__}:TAG", "spacy_nmparse_features")
    monkeypatch.setattr(
        features, "entry_points", lambda group: [point] if group == point.group else []
    )
    monkeypatch.setattr(features, "TOKEN_FACTS", {})


def examples(vocab: Any) -> list[Example]:
    """Words that differ in nothing but their tags, and so do the trees."""
    made = []
    for tags, heads in (("A B B", [0, 0, 0]), ("B B A", [2, 2, 2]), ("B A B", [1, 1, 1])):
        words, named = ["x"] * 3, [tag.replace("B", "BB") for tag in tags.split()]
        deps = ["ROOT" if i == head else "dep" for i, head in enumerate(heads)]
        gold = Doc(vocab, words=words, tags=named, heads=heads, deps=deps)
        made.append(Example(Doc(vocab, words=words, tags=named), gold))
    return made


def test_trees_follow_tags(tmp_path: Any) -> None:
    model = model_config(features=NAMES, recurrent_width=0, tag_weight=0.0)
    nlp = make_nlp(factory=SWAP, model=model)
    given = examples(nlp.vocab)
    sgd = nlp.initialize(lambda: given)
    sgd.learn_rate = 0.02
    for _ in range(80):
        nlp.update(given, sgd=sgd)
    for example in given:
        assert tree(parser_of(nlp)(example.predicted.copy())) == tree(example.reference)


def test_values_are_checked() -> None:
    model = model_config(features=NAMES)
    nlp = make_nlp(factory=SWAP, model=model)
    nlp.initialize(lambda: examples(nlp.vocab))
    with pytest.raises(ValueError, match=r"'tag' has values from 0 to 5, not from 0 to 2"):
        nlp(Doc(nlp.vocab, words=["x", "x"], tags=["", "NNPPP"]))
    with pytest.raises(ValueError, match="no facts of tokens"):
        ArcScorer(None, features={"pair": ["H", "H.tag"]})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a hop is one of"):
        features.Features(["S0", "S0.gat"])
    assert numpy.array_equal(features.Features(NAMES).fact_sizes(5), [4] * 4)
