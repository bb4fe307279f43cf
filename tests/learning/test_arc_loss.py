"""Loss and gradients of the arc scorer's rollouts against a naive loss in float64."""

from __future__ import annotations

import random
from typing import Any

import numpy
import pytest
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.scorers.shared import recurrent_layers
from spacy_nmparse.systems import Gold
from spacy_nmparse.systems.reach import under
from tests.differences import slope
from tests.learning.naive_loss import naive_loss
from tests.naive.scorers import NEAR, NaiveArcParser
from tests.pipe.common import (
    NL,
    arc_model_config,
    gold_doc,
    gold_of,
    make_example,
    make_examples,
    parser_of,
    random_heads,
    randomize,
    ready,
)
from tests.scorers.test_arc_scorer import SETUPS

pytestmark = pytest.mark.usefixtures("exact_products")


def arc_loss(
    naive: NaiveArcParser,
    vectors: numpy.ndarray,
    gold: Gold,
    oracle: str,
    tree_weight: float,
    explore: bool = False,
    starts: list[int] | None = None,
) -> float:
    """With that of near gold heads, by tree_weight."""
    loss = naive_loss(naive, vectors, gold, oracle, explore, starts)
    return loss + tree_weight * tree_loss(naive, gold, len(vectors))


def tree_loss(naive: NaiveArcParser, gold: Gold, n: int) -> float:
    longest = naive.system.options.get("max_length") or n
    loss = 0.0
    for word, head in enumerate(gold.heads):
        column = n if head == word else head
        if head is not None and abs(head - word) <= longest and naive.near[word, column]:
            loss -= naive.log_p[word, column]
    return loss


def make_rollout(setup: str, seed: int = 3, **config: Any) -> tuple[Any, list[Any]]:
    """A parser of random weights, and examples whose trees cross."""
    system, model = SETUPS[setup]
    model = arc_model_config(**{**model, **config.pop("model", {})})
    nlp, examples, _ = ready(factory=NL, system=system, model=model, **config)
    parser = parser_of(nlp)
    randomize(parser.model, seed, 0.25)
    return parser, examples


def loss_of(parser: Any, *examples: Example) -> float:
    loss: float = parser.update(examples)[NL]
    return loss


def naive_of(parser: Any) -> NaiveArcParser:
    """It looks at all arcs, as learning does."""
    naive = NaiveArcParser(parser.model, parser.system)
    naive.n_pairs = 0
    return naive


def vectors_of(parser: Any, doc: Doc) -> numpy.ndarray:
    return parser.model.get_ref("tok2vec").predict([doc])[0]


@pytest.mark.parametrize("setup", SETUPS)
@pytest.mark.parametrize(
    ("oracle", "explore", "tree_weight"),
    [
        ("dynamic", 0.0, 0.7),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (("static", 1.0, 2.0), ("static", 0.0, 0.0), ("dynamic", 1.0, 0.3))
        ),
    ],
)
def test_loss_of_a_rollout(setup: str, oracle: str, explore: float, tree_weight: float) -> None:
    parser, examples = make_rollout(
        setup, oracle=oracle, explore=explore, model={"tree_weight": tree_weight}
    )
    naive = naive_of(parser)
    total = 0.0
    for example in examples:
        naive.gap = numpy.inf
        vectors, gold = vectors_of(parser, example.predicted), gold_of(example.reference)
        expected = arc_loss(naive, vectors, gold, oracle, tree_weight, explore == 1.0)
        assert naive.gap > 1e-5
        assert loss_of(parser, example) == pytest.approx(expected, rel=1e-4, abs=1e-5)
        total += expected
        assert expected > 0.1 or len(example.reference) == 1
    assert loss_of(parser, *examples) == pytest.approx(total, rel=1e-4)


def test_loss_with_preset_starts_and_unknown_heads() -> None:
    """The biaffine part chooses heads within forced sentences, and learns from known ones."""
    parser, _ = make_rollout("plain", oracle="static", explore=0.0)
    naive = naive_of(parser)
    reference = gold_doc(parser.vocab, [2, 4, 3, 0])
    rng = random.Random(0)
    for _ in range(10):
        starts = [0, *(rng.choice([0, 0, 0, 1, -1]) for _ in reference[1:])]
        doc = Doc(parser.vocab, words=[t.text for t in reference], sent_starts=starts)
        gold, vectors = under(gold_of(reference), starts)[0], vectors_of(parser, doc)
        expected = arc_loss(naive, vectors, gold, "static", 0.3, starts=starts)
        assert loss_of(parser, Example(doc, reference)) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("root", [0, 10, NEAR, NEAR + 1, NEAR + 2, 2 * NEAR + 20])
def test_heads_at_the_edge_of_what_is_near(root: int) -> None:
    """All words hang off one: those too far away from it do not choose a head at all."""
    n = 2 * NEAR + 21
    parser, _ = make_rollout("few features", oracle="static", explore=0.0)
    deps = ["ROOT" if word == root else "obj" for word in range(n)]
    words = [str(word) for word in range(n)]
    reference = Doc(parser.vocab, words=words, heads=[root] * n, deps=deps)
    losses = []
    for weight in (0.0, 1.0):
        parser.model.attrs["tree_weight"] = weight
        losses.append(parser.update([make_example(reference)])["nl_covington_parser"])
    naive = naive_of(parser)
    naive.read(vectors_of(parser, reference))
    gold = gold_of(reference)
    known = sum(abs(root - word) <= NEAR for word in range(n))
    assert naive.near[numpy.arange(n), root].sum() == known - 1 < n - 1
    assert losses[1] - losses[0] == pytest.approx(tree_loss(naive, gold, n), rel=1e-4)


# Gradients


LEARNING = [("static", 0.0, 0.0), ("dynamic", 1.0, 0.6), ("dynamic", 0.0, 0.3)]


@pytest.mark.parametrize(
    ("setup", "oracle", "explore", "tree_weight"),
    [
        *(("plain", *LEARNING[0]), ("plain", *LEARNING[1]), ("arc-swift", *LEARNING[2])),
        *(
            pytest.param(setup, *LEARNING[i % 3], marks=pytest.mark.slow)
            for i, setup in enumerate(SETUPS)
            if setup not in ("plain", "arc-swift")
        ),
    ],
)
def test_gradients(setup: str, oracle: str, explore: float, tree_weight: float) -> None:
    """Of all parameters of scorer and recurrent layers: the naive loss, at a few places of each."""
    parser, _ = make_rollout(
        setup, oracle=oracle, explore=explore, model={"tree_weight": tree_weight}
    )
    model = parser.model
    alpha = numpy.asarray([0.7, -1.3], dtype="float32")
    model.set_param("alpha", alpha)
    examples = make_examples(parser.vocab, [[2], [5]] if explore else [[4, 3]])
    found = parser.update(examples, sgd=False)["nl_covington_parser"]
    naive = naive_of(parser)
    inputs = [
        (vectors_of(parser, eg.predicted).astype("float64"), gold_of(eg.reference))
        for eg in examples
    ]

    def loss() -> float:
        return sum(
            arc_loss(naive, vectors, gold, oracle, tree_weight, explore == 1.0)
            for vectors, gold in inputs
        )

    assert loss() == pytest.approx(found, rel=1e-4)
    assert naive.gap > 1e-5
    rng = numpy.random.RandomState(0)
    parts = [(model, naive.p), *zip(recurrent_layers(model), naive.recurrent, strict=True)]
    for node, arrays in parts:
        for name, array in arrays.items():
            gradient = node.get_grad(name)
            assert gradient.shape == array.shape
            scale = float(abs(gradient).max(initial=0))
            if not array.size:
                continue
            assert scale > 1e-4 or (setup, name) == ("few features", "context_pad_rows"), name
            order = abs(gradient).ravel().argsort()[::-1]
            places = {order[0], *rng.choice(array.size, min(3, array.size))}
            for number in places:
                place = numpy.unravel_index(number, array.shape)
                # A kink (another piece of maxout wins) within a step spoils it: a shorter one.
                for size in (1e-5, 1e-7):
                    expected = slope(array, place, loss, size)
                    close = abs(gradient[place] - expected) < 2e-4 * max(1.0, scale)
                    if close:
                        break
                assert close, (name, place, gradient[place], expected)


def test_gradients_of_token_vectors() -> None:
    """Through the recurrent layers, over spaces: the gradient that the token vectors get."""
    parser, _ = make_rollout("plain", oracle="static", explore=0.0)
    tok2vec = parser.model.get_ref("tok2vec")
    words = ["\n", "A", "hearing", " ", "is", "scheduled", "on", "\n", "\n", "the", "issue", " "]
    heads = [2, 2, 5, 2, 5, 5, 2, 6, 6, 10, 6, 10]
    deps = ["dep", "det", "nsubj", "dep", "aux", "ROOT", "prep", "dep", "dep", "det", "pobj", "dep"]
    reference = Doc(parser.vocab, words=words, heads=heads, deps=deps)
    tokens = [i for i, word in enumerate(words) if word.strip()]
    vectors = numpy.random.RandomState(1).normal(size=(len(words), 32)).astype("float32")
    seen: list[numpy.ndarray] = []
    tok2vec._func = lambda model, X, is_train: ([vectors], lambda d: (seen.extend(d), [])[1])
    found = parser.update([make_example(reference)])["nl_covington_parser"]
    number = {token: word for word, token in enumerate(tokens)}
    gold = Gold(
        [number[heads[t]] for t in tokens], [deps[t] for t in tokens], [t == 1 for t in tokens]
    )
    naive = naive_of(parser)
    array = vectors.astype("float64")

    def loss() -> float:
        return arc_loss(naive, array[tokens], gold, "static", 0.3)

    assert loss() == pytest.approx(found, rel=1e-4)
    (gradient,) = seen
    assert gradient.shape == vectors.shape
    spaces = [i for i in range(len(words)) if i not in tokens]
    assert spaces and not gradient[spaces].any()
    scale = float(abs(gradient).max())
    assert scale > 0.1
    rng = random.Random(0)
    for token in tokens:
        for column in rng.sample(range(32), 4):
            expected = slope(array, (token, column), loss, 1e-5)
            assert abs(gradient[token, column] - expected) < 2e-4 * max(1.0, scale)


def test_long_gold_arcs_with_a_limit() -> None:
    """max_length: longer gold arcs are not learned, neither by moves nor by the biaffine part."""
    parser, _ = make_rollout("short arcs", oracle="dynamic", explore=0.0)
    heads = random_heads(12, random.Random(4))
    assert max(abs(head - word) for word, head in enumerate(heads)) > 3
    deps = ["ROOT" if head == word else "obj" for word, head in enumerate(heads)]
    reference = Doc(parser.vocab, words=[str(i) for i in range(12)], heads=heads, deps=deps)
    vectors = vectors_of(parser, reference)
    expected = arc_loss(naive_of(parser), vectors, gold_of(reference), "dynamic", 0.3)
    assert loss_of(parser, make_example(reference)) == pytest.approx(expected, rel=1e-4)
