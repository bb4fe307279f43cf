"""The state scorer and the greedy search against a naive parser; parameters of every scorer."""

from __future__ import annotations

import random
from typing import Any

import pytest
from spacy.tokens import Doc

from spacy_nmparse.pipe.labels import LabelSet, Learned
from spacy_nmparse.pipe.tags import TagSet
from spacy_nmparse.scorers.arc_scorer import ArcScorer
from spacy_nmparse.scorers.features import Features
from spacy_nmparse.scorers.operations import resize_labels
from spacy_nmparse.scorers.shared import ScorerInput
from spacy_nmparse.scorers.state_scorer import DEFAULT_FEATURES, StateScorer
from tests.naive.scorers import NaiveStateParser
from tests.pipe.common import (
    NL,
    NM,
    arc_model_config,
    make_examples,
    make_nlp,
    model_config,
    parser_of,
    random_doc,
    random_parser,
    randomize,
)
from tests.scorers.test_arc_scorer import compare, constrained_doc

pytestmark = pytest.mark.usefixtures("exact_products")

ALL_HOPS = (
    *("S0", "S3", "B0", "B3", "S0.h", "S0.h.h", "S1.h", "S0.l1", "S0.l2", "S0.r1", "S0.r2"),
    *("B0.l1", "B0.l2", "S0.l1.l1", "S0.r1.r1", "S1.r1.l1"),
    *("S0.label", "S0.r1.label", "B0.l1.label", "S1.n_left", "B0.n_left", "S0.n_right"),
    *("S2.n_right", "S0-B0.distance", "stack.depth"),
)


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(5), marks=pytest.mark.slow)])
@pytest.mark.parametrize("pieces", [1, 2, 3])
@pytest.mark.parametrize("features", [DEFAULT_FEATURES, ALL_HOPS])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"nonmonotonic_left": False, "nonmonotonic_reduce": False},
        {"labelled_reduce": True},
    ],
)
def test_against_a_naive_parser(
    pieces: int, features: tuple[str, ...], options: dict[str, bool], seeds: range
) -> None:
    """Of labels alone that are no decorated ones: lifted arcs are put back behind the search."""
    nlp = make_nlp(
        model=model_config(hidden_width=7, maxout_pieces=pieces, features=list(features)),
        system={"@misc": "spacy_nmparse.ArcEager.v1", **options},
        projectivize=False,
    )
    nlp.initialize(lambda: make_examples(nlp.vocab))
    parser = parser_of(nlp)
    rng = random.Random(0)
    close, seen = 0, set()
    for seed in seeds:
        randomize(parser.model, seed, scale=0.3)
        lengths = (1, 4, 12, 22, 60)
        docs = [constrained_doc(parser, rng, n, [0, 0, 0, 1, -1]) for n in lengths]
        close += compare(parser, NaiveStateParser(parser), docs)
        seen.update(parser.predict(docs).arcs.labels.tolist())
    assert close < len(seeds)
    assert len(seen) > (3 if len(seeds) > 2 else 1)


def test_wrong_features() -> None:
    for names, message in (
        (["S0", "X1"], "X1"),
        (["S0.q"], "q"),
        (["S"], "'S'"),
        (["S0", "S0"], "twice"),
        (["S0", "S0*B0", "S0*B0"], "twice"),
        (["S0", "S0*q"], "q"),
        (["stack.depth"], "need a word"),
        (["S0.h.h.h.h.h.h.h"], "hops"),
        ([f"S{i}" for i in range(200)], "200 words"),
    ):
        with pytest.raises(ValueError, match=message):
            Features(names)


MODELS: dict[str, tuple[Any, dict[str, Any]]] = {
    NM: (StateScorer, model_config(features=list(ALL_HOPS))),
    NL: (ArcScorer, arc_model_config()),
}


@pytest.mark.parametrize("factory", MODELS)
def test_resizing_keeps_scores(factory: str) -> None:
    """Every fact of every layer keeps its row when labels are added in the midst of the table."""
    parser = parser_of(random_parser(2, factory=factory, model=MODELS[factory][1]))
    model = parser.model
    randomize(model, 2, 0.3)
    doc = random_doc(parser.vocab, random.Random(1), 200, space=0)
    doc = Doc(parser.vocab, words=[token.text for token in doc], sent_starts=[-1] * len(doc))
    before = parser.predict([doc]).arcs
    assert len(set(before[1])) > 4
    features = model.attrs["features"]
    layers = (
        {f"{name}_": names for name, names in features.items()} if factory == NL else {"": features}
    )
    sizes = {name: len(model.get_param(f"{name}fact_rows")) for name in layers}
    labels = [*parser.system.labels, "new1", "new2"]
    system = parser.system_spec.create(labels, root_label="ROOT", single_root=True, segment=True)
    resize_labels(model, system)
    parser._learned = Learned(LabelSet(labels), TagSet({}), system)
    bias = model.get_param("label_b")
    assert not bias[..., -2:].any()
    bias[..., -2:] = -1000.0
    model.set_param("label_b", bias)
    for old, new in zip(before, parser.predict([doc]).arcs, strict=True):
        assert (old == new).all()
    for name, names in layers.items():
        n_label_facts = sum(fact.endswith(".label") for fact in names)
        assert n_label_facts
        assert len(model.get_param(f"{name}fact_rows")) == sizes[name] + 2 * n_label_facts


@pytest.mark.parametrize("factory", MODELS)
def test_model_needs_a_system(factory: str) -> None:
    nlp = make_nlp(factory=factory)
    model = MODELS[factory][0](parser_of(nlp).model.get_ref("tok2vec"))
    with pytest.raises(ValueError, match="set_system"):
        model.initialize(X=ScorerInput([nlp.make_doc("a")]))
