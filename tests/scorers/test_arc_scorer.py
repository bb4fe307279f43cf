"""The arc scorer, the greedy search and the completion of trees against a naive parser."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy
import pytest
from spacy.tokens import Doc

from spacy_nmparse import systems
from spacy_nmparse.pipe.doc_io import parsed_tokens
from spacy_nmparse.scorers.arc_scorer import FEATURES, ArcScorer
from spacy_nmparse.scorers.features import Features
from spacy_nmparse.scorers.operations import set_system
from spacy_nmparse.scorers.shared import ScorerInput, recurrent_layers
from spacy_nmparse.search import greedy
from tests.naive.scorers import FAR, NEAR, NaiveArcParser
from tests.pipe.common import (
    NL,
    arc_model_config,
    bare,
    gold_doc,
    make_examples,
    make_nlp,
    model_config,
    parser_of,
    random_doc,
    randomize,
    ready,
    train,
    tree,
)

pytestmark = pytest.mark.usefixtures("exact_products")

# Systems and models that differ in all that there is to differ in.
NL_SYSTEM, LOCAL = "spacy_nmparse.NLCovington.v1", "spacy_nmparse.Covington.v1"
SWIFT = "spacy_nmparse.ArcSwift.v1"
SETUPS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({"@misc": NL_SYSTEM}, {}),
    "implicit": (
        {"@misc": NL_SYSTEM, "explicit_root": False},
        {"recurrent_width": 0, "maxout_pieces": 1, "hidden_width": 16},
    ),
    "nonmonotonic": (
        {"@misc": NL_SYSTEM, "nonmonotonic": True},
        {"maxout_pieces": 3, "hidden_width": 7, "context_width": 9, "arc_width": 32},
    ),
    "nonmonotonic implicit": (
        {"@misc": NL_SYSTEM, "nonmonotonic": True, "explicit_root": False},
        {"recurrent_width": 0, "hidden_width": 33, "context_width": 1, "projection_width": 1},
    ),
    "short arcs": (
        {"@misc": NL_SYSTEM, "max_length": 3},
        {"hidden_width": 1, "recurrent_width": 1},
    ),
    "local": ({"@misc": LOCAL}, {"hidden_width": 40, "arc_width": 13, "recurrent_depth": 2}),
    "local implicit": (
        {"@misc": LOCAL, "explicit_root": False, "nonmonotonic": True, "max_length": 5},
        {"maxout_pieces": 4, "hidden_width": 5},
    ),
    "few features": (
        {"@misc": NL_SYSTEM},
        {
            "features": {"context": ["B0"], "pair": ["H*D", "H"], "label": ["D.r2"]},
            "recurrent_depth": 3,
        },
    ),
    "arc-swift": ({"@misc": SWIFT}, {"hidden_width": 12}),
    "default features": ({"@misc": NL_SYSTEM}, {"features": None}),
}


def make_parser(setup: str, seed: int = 0, scale: float = 0.3, **options: Any) -> Any:
    system, model = SETUPS[setup]
    model = arc_model_config(**model)
    nlp, *_ = ready(factory=NL, system=system, model=model, **options)
    parser = parser_of(nlp)
    randomize(parser.model, seed, scale)
    return parser


def constrained_doc(
    parser: Any, rng: random.Random, length: int, kinds: Sequence[int], space: float = 0.0
) -> Doc:
    words = [token.text for token in random_doc(parser.vocab, rng, length, space)]
    return Doc(parser.vocab, words=words, sent_starts=[rng.choice(kinds) for _ in words])


def compare(parser: Any, naive: Any, docs: list[Doc]) -> int:
    """Returns how many documents had a decision too close for floats."""
    found = parser.predict(docs)
    tok2vec = parser.model.get_ref("tok2vec").predict(docs)
    close = 0
    for doc, parse, vectors in zip(docs, found.by_document(), tok2vec, strict=True):
        arrays = parse.arcs
        if not len(parse.tokens):
            assert all(token.is_space for token in doc)
            continue
        naive.gap = numpy.inf
        constraints = parsed_tokens([doc])[1].tolist()
        heads, labels, starts = naive.parse(vectors[parse.tokens], constraints)
        if naive.gap < 1e-4:
            close += 1
            continue
        assert arrays[0].tolist() == heads
        assert [parser.system.labels[label] for label in arrays[1]] == labels
        assert [True, *(bool(start) for start in arrays[2][1:])] == starts
    return close


@pytest.mark.parametrize("seeds", [range(1), pytest.param(range(4), marks=pytest.mark.slow)])
@pytest.mark.parametrize("setup", SETUPS)
def test_against_a_naive_parser(setup: str, seeds: range) -> None:
    rng = random.Random(1)
    counts: Counter[str] = Counter()
    close = 0
    pairs = numpy.zeros(2)
    shapes: list[tuple[int, list[int], float]] = [
        *((1, [0], 0.0), (2, [-1], 0.0), (7, [0, 0, 1, -1], 0.3), (0, [0], 0.0), (14, [-1], 0.0)),
        *((25, [0, -1, -1, -1], 0.1), (3, [0], 1.0), (60, [0, 0, 1, -1], 0.0)),
    ]
    for seed in seeds:
        parser = make_parser(setup, seed)
        naive = NaiveArcParser(parser.model, parser.system)
        docs = [constrained_doc(parser, rng, *shape) for shape in shapes]
        if seed == 0:
            docs.append(constrained_doc(parser, rng, 30, [-1]))
        close += compare(parser, naive, docs)
        pairs += naive.pairs
        counts.update(naive.completed)
    assert close < len(seeds)
    assert pairs[0] > 9
    if len(seeds) > 1:
        assert pairs[0] > 20
        assert pairs[1] > 20 or setup in ("local", "local implicit", "arc-swift")  # few arcs
        assert counts["roots"] > 3 and counts["heads"] > 10
        assert counts["again"] > 0 or setup != "plain"


@pytest.mark.parametrize(
    ("length", "shift"), [(150, 0.0), pytest.param(210, 50.0, marks=pytest.mark.slow)]
)
def test_words_far_apart(length: int, shift: float) -> None:
    """Heads beyond what the biaffine part normalizes over, and beyond where completion looks."""
    features = {"context": ["B0"], "pair": ["H"], "label": ["D"]}
    model = arc_model_config(features=features, recurrent_width=0, n_pairs=0)
    nlp, *_ = ready(factory=NL, model=model)
    parser = parser_of(nlp)
    randomize(parser.model, 0, 0.5 if shift else 0.3)
    bias = parser.model.get_param("output_b")
    bias[parser.system.moves.index("SHIFT")] = shift
    parser.model.set_param("output_b", bias)
    naive = NaiveArcParser(parser.model, parser.system)
    words = [f"0-{i}" for i in range(length)]
    doc = Doc(parser.vocab, words=words, sent_starts=[-1] * length)
    assert compare(parser, naive, [doc]) == 0
    distances = abs(parser.predict([doc]).arcs.heads - numpy.arange(length))
    assert sum(distances > NEAR) > 3
    if shift:
        assert naive.completed["heads"] > length / 3
        assert naive.completed["nowhere"] > 0, "no word had only dependents near it"
        assert sum(distances == FAR) + sum(distances > FAR) > 0
        assert naive.completed["again"] > 0


@pytest.mark.parametrize("labels", [None, ("a", "b", "c")])
@pytest.mark.parametrize("explicit_root", [True, False])
@pytest.mark.parametrize("shift", [0.0, 50.0])
def test_systems_without_a_label_for_roots(
    labels: tuple[str, ...] | None, explicit_root: bool, shift: float
) -> None:
    """Any label for arcs from ROOT as an item; none for roots that are chosen in the end. Without
    labels every arc has label 0, whatever is scored."""
    nlp = make_nlp()
    config = arc_model_config()
    model = ArcScorer(
        parser_of(nlp).model.get_ref("tok2vec"),
        **{key: config[key] for key in (*SIZES, "features")},
    )
    options = {"explicit_root": explicit_root, "single_root": True, "segment": True}
    system = systems.create("nl_covington", labels=labels, **options)
    set_system(model, system)
    rng = random.Random(3)
    docs = [random_doc(nlp.vocab, rng, length, space=0) for length in (1, 2, 5, 12, 20)]
    model.initialize(X=ScorerInput(docs))
    randomize(model, 0, 0.3)
    bias = model.get_param("output_b")
    bias[system.moves.index("SHIFT")] = shift or bias[system.moves.index("SHIFT")]
    model.set_param("output_b", bias)
    for doc, vectors in zip(docs, model.get_ref("tok2vec").predict(docs), strict=True):
        naive, n = NaiveArcParser(model, system), len(doc)
        heads, names, _ = naive.parse(vectors, [-1] * n)
        assert naive.gap > 1e-4
        scored = model.predict(ScorerInput([doc]))
        found = greedy.parse(system, scored, [n], numpy.full(n, -1, dtype="int8"))
        assert found[0].tolist() == heads
        if labels is None:
            assert not found[1].any() and set(names) == {None}
            continue
        assert [labels[label] if label >= 0 else None for label in found[1]] == names
        (root,) = (word for word, head in enumerate(heads) if head == word)
        assert (names[root] is None) == (not explicit_root)


SIZES = (
    *("arc_width", "hidden_width", "context_width", "maxout_pieces", "projection_width"),
    *("recurrent_width", "recurrent_depth"),
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(
            ({name: value}, f"{name} {value:g}")
            for name, value in (
                *((name, -(name == "recurrent_width")) for name in SIZES),
                *(
                    ("tree_weight", -0.1),
                    ("n_pairs", 65),
                    ("n_pairs", -1),
                    ("dropout_factor", -1.0),
                ),
            )
        ),
        *(
            ({"features": {layer: names}}, message)
            for layer, names, message in (
                *(("pairs", ["H"], "pairs"), ("pair", ["H", "H"], "twice")),
                *(("pair", ["H-D.distance"], "need a word"), ("label", [], "need a word")),
                *(("context", [name], name) for name in ("I0", "I00", "B2147483647")),
                ("context", ["B0", "I1-B1.distance"], "I1-B1"),
                ("context", ["B0.x"], "'x'"),
            )
        ),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    """Features that are not given are the default ones."""
    tok2vec = make_nlp().get_pipe("nm_parser").model.get_ref("tok2vec")
    with pytest.raises(ValueError, match=message):
        ArcScorer(tok2vec, **options)
    with pytest.raises(ValueError, match=message):
        make_nlp(factory=NL, model=arc_model_config(**options))
    model = ArcScorer(tok2vec, features={"pair": ["D", "H"]})
    default = {layer: list(names) for layer, names in FEATURES.items()}
    assert model.attrs["features"] == {**default, "pair": ["D", "H"]}
    for names in FEATURES.values():
        Features(names)


def test_systems_that_a_scorer_cannot_score() -> None:
    """Each kind of scorer says so, when it is to score a system of the other kind."""
    for factory, system, model in (
        (NL, "spacy_nmparse.ArcEager.v1", arc_model_config()),
        (NL, NL_SYSTEM, model_config()),
        (NL, SWIFT, model_config()),
    ):
        with pytest.raises(ValueError, match=r"cannot be made: An? .* cannot score .* can."):
            make_nlp(factory=factory, system={"@misc": system}, oracle="static", model=model)


WEIGHTS = (
    *("output_W", "output_b", "pair_W", "arc_U", "root", "alpha", "label_W", "label_b", "word_W"),
    *("context_pad_rows", "context_fact_rows", "context_bias", "pair_pad_rows", "pair_fact_rows"),
    *("pair_bias", "label_pad_rows", "label_fact_rows", "label_bias"),
)


def test_weights_of_other_shapes() -> None:
    parser = make_parser("plain")
    docs = [random_doc(parser.vocab, random.Random(0), 5)]
    for name in WEIGHTS:
        weights = parser.model.get_param(name)
        for axis in (0, -1):
            parser.model.set_param(name, numpy.concatenate([weights, weights], axis=axis))
            with pytest.raises(ValueError, match=r"shape|size"):
                parser.predict(docs)
        parser.model.set_param(name, weights)
    parser.predict(docs)


def test_initial_weights() -> None:
    """Scores of moves, pairs and labels start at zero, the biaffine part with weight 1."""
    nlp, *_ = ready(factory=NL)
    model = parser_of(nlp).model
    n_moves = len(parser_of(nlp).system.moves)
    assert (model.get_param("alpha") == 1).all()
    for name in ("pair_W", "label_W", "label_b", "output_b"):
        assert not model.get_param(name).any()
    output_W = model.get_param("output_W")
    assert not output_W[:n_moves].any() and (output_W[n_moves:] != 0).all()
    for name in ("project_W", "word_W", "arc_W", "arc_U", "root"):
        weights = model.get_param(name)
        assert (weights != 0).mean() > 0.99 and weights.std() > 0.02


def test_dropout_of_the_scorers_own_layers() -> None:
    """drop is the rate of tok2vec; dropout_factor times as much, 0.9 at most, is theirs."""
    for factor, expected in ((0.0, 0.0), (1.5, 0.3), (100.0, 0.9)):
        nlp = make_nlp(factory=NL, model=arc_model_config(dropout_factor=factor, recurrent_depth=2))
        train(nlp, make_examples(nlp.vocab), steps=1, drop=0.2)
        model = parser_of(nlp).model
        for node in model.walk():
            if "dropout_rate" in node.attrs:
                own = node is model or node in recurrent_layers(model)
                assert node.attrs["dropout_rate"] == pytest.approx(expected if own else 0.2)
        doc = bare(gold_doc(nlp.vocab, [2]))  # none of it in parsing
        assert tree(nlp(doc)) == tree(nlp(bare(doc)))
