"""The encoder against spaCy's own."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy
import pytest
import spacy
from spacy.ml.models.tok2vec import MaxoutWindowEncoder as SpacyEncoder
from thinc.api import Model, NumpyOps, fix_random_seed, set_dropout_rate

from spacy_nmparse.layers import encoder
from spacy_nmparse.layers.encoder import MaxoutWindowEncoder
from spacy_nmparse.layers.known_words import Repeated
from spacy_nmparse.layers.maxout_norm import MaxoutNorm
from spacy_nmparse.layers.products import HAS_FIXED, HAS_TILES, packed
from tests.pipe.common import (
    affix_tok2vec,
    make_examples,
    make_nlp,
    model_config,
    parser_of,
    texts,
    train,
    tree,
)

LENGTHS = (5, 0, 1, 2, 17, 0, 1, 130, 3)
LAYOUTS = [
    *((96, 1, 3, 4), (8, 1, 3, 1), (33, 1, 3, 2), (8, 2, 1, 3), (20, 2, 2, 4), (7, 1, 4, 3)),
    *((16, 0, 3, 2), (5, 3, 2, 5)),
]


def sample(lengths: tuple[int, ...], width: int, seed: int = 1) -> list[Any]:
    random = numpy.random.RandomState(seed)
    return [random.normal(size=(n, width)).astype("float32") for n in lengths]


def make(width: int, window: int, pieces: int, depth: int) -> tuple[Model, Model]:
    """spaCy's and ours, with the same weights: none of them as at first, where many are 0."""
    theirs = SpacyEncoder(width, window, pieces, depth).initialize()
    random = numpy.random.RandomState(2)
    for node in theirs.walk():
        for name in node.param_names:
            shape = node.get_param(name).shape
            node.set_param(name, random.normal(scale=0.3, size=shape).astype("float32"))
    ours = MaxoutWindowEncoder(width, window, pieces, depth).initialize()
    return theirs, ours.from_bytes(theirs.to_bytes())


def gradients(model: Model) -> list[Any]:
    return [node.get_grad(name) for node in model.walk() for name in node.param_names]


def compare(found: Any, expected: Any) -> None:
    assert found.shape == expected.shape and found.dtype == "float32"
    if expected.size:
        assert abs(found - expected).max() <= 2e-5 * max(1, abs(expected).max())


def same(found: Sequence[Any], expected: Sequence[Any]) -> None:
    """To the bit."""
    for one, other in zip(found, expected, strict=True):
        numpy.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_it_computes_what_spacys_does(layout: tuple[int, int, int, int]) -> None:
    """Whatever stands beside a document, its vectors are the same to the bit."""
    theirs, ours = make(*layout)
    Xs = sample(LENGTHS, layout[0])
    expected, theirs_back = theirs(Xs, is_train=True)
    found, ours_back = ours(Xs, is_train=True)
    d_Ys = sample(LENGTHS, layout[0], seed=3)
    together = ours.predict(Xs)
    rows = [*zip(found, expected, strict=True), *zip(together, expected, strict=True)]
    rows += zip(ours_back(d_Ys), theirs_back(d_Ys), strict=True)
    rows += zip(gradients(ours), gradients(theirs), strict=True)
    for one, other in rows:
        compare(one, other)
    assert len(rows) == 3 * len(LENGTHS) + 4 * layout[3]
    if HAS_TILES:
        same([ours.predict([X])[0] for X in Xs], together)
        same(ours.predict(Xs[::-1])[::-1], together)


@pytest.mark.parametrize("lengths", [(), (0,), (0, 0), (4, 2)])
def test_it_runs_backwards_without_training(lengths: tuple[int, ...]) -> None:
    """As Thinc's layers; a copy does, too."""
    models = [make(8, 1, 3, 2)[1] for _ in range(2)]
    models += [pickle.loads(pickle.dumps(models[0])), models[0].copy()]
    Xs, d_Ys = sample(lengths, 8), sample(lengths, 8, seed=3)
    runs = []
    for is_train, model in zip((True, False, True, False), models, strict=True):
        Ys, backprop = model(Xs, is_train)
        rows = [*Ys, *backprop(d_Ys)]
        runs.append([*rows, *gradients(model)] if sum(lengths) else rows)
        assert [Y.shape for Y in Ys] == [X.shape for X in Xs]
    for found in runs[1:]:
        same(found, runs[0])


def repeated(places: list[list[int]], width: int, weights: int | None, seed: int = 1) -> Repeated:
    """Documents of words of a language that has ten."""
    (table,) = sample((10,), width, seed)
    flat = numpy.concatenate(places).astype(int)
    keys, place = numpy.unique(flat, return_inverse=True)
    parts = [table[numpy.asarray(words, dtype=int)] for words in places]
    return Repeated(parts, keys.astype("uint64"), table[keys], place.astype("int32"), weights)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_words_that_repeat(layout: tuple[int, int, int, int]) -> None:
    """The same but for rounding; the same to the bit whatever stands beside, and was before."""
    _, ours = make(*layout)
    places = [[3, 1, 3, 3], [], [4], [1, 9, 0, 5, 5, 2, 1, 1, 8, 7, 6], [2, 2]]
    alone = [ours.predict(repeated([one], layout[0], None))[0] for one in places if one]
    for n, weights in ((5, None), (2, 7), (5, 7), (5, 7), (5, None)):
        words = repeated(places[:n], layout[0], weights)
        found = [Y for Y in ours.predict(words) if len(Y)]
        expected = [Y for Y in ours.predict(list(words)) if len(Y)]
        for Y, once, other in zip(found, alone, expected, strict=False):
            compare(Y, other)
            assert numpy.array_equal(Y, once) or not HAS_TILES
    assert len(ours.attrs["known_words"]._known.keys) == 10


def one_layer(shift: float = 0.0, exact: bool = True) -> dict[str, Any]:
    """What a layer of 20 units is made of, for a document of 100 words."""
    (W,) = sample((60,), 10, seed=4)
    gain, shifts, b = (numpy.full(n, x, "float32") for n, x in ((20, 1), (20, shift), (60, 0)))
    lengths = numpy.asarray([100], dtype="int32")
    weights = packed(W, pieces=3, exact=exact)
    return dict(parameters=(W, b, gain, shifts), weights=weights, lengths=lengths)


def test_products_of_other_words_and_weights() -> None:
    """Nothing is taken from before that was computed by others."""
    _, ours = make(8, 1, 3, 2)
    places = [[1, 2, 3, 3]]
    first = ours.predict(repeated(places, 8, 1))[0]
    (other,) = ours.predict(repeated(places, 8, 2, seed=5))
    compare(other, ours.predict(list(repeated(places, 8, None, seed=5)))[0])
    assert abs(other - first).max() > 0.1
    for node in ours.walk():
        if node.name == "maxout":
            node.get_param("W")[:] *= -1
    (after,) = ours.predict(repeated(places, 8, 2, seed=5))
    compare(after, ours.predict(list(repeated(places, 8, None, seed=5)))[0])
    assert abs(after - other).max() > 0.1


def test_dropout() -> None:
    """Units of each layer are dropped at the rate, others scaled; as NumPy's seed says."""
    _, ours = make(96, 1, 3, 2)
    Xs = sample((200, 50), 96)
    set_dropout_rate(ours, 0.3)
    runs = []
    for seed in (1, 1, 2):
        fix_random_seed(seed)
        runs.append(numpy.concatenate(ours(Xs, is_train=True)[0]))
    assert (runs[0] == runs[1]).all() and abs(runs[0] - runs[2]).max() > 0.1
    compare(ours.predict(Xs)[0], make(96, 1, 3, 2)[1].predict(Xs)[0])
    set_dropout_rate(ours, 0.0)
    compare(ours(Xs, is_train=True)[0][0], ours.predict(Xs)[0])
    made = one_layer(shift=5)
    (X,) = sample((100,), 10)
    plain = MaxoutNorm(**made).forward(X, False)
    layer = MaxoutNorm(**made, rate=0.25, seed=7)
    dropped = layer.forward(X, True)
    kept = dropped != 0
    assert 0.7 < kept.mean() < 0.8 and (kept.mean(axis=0) > 0.5).all()
    numpy.testing.assert_allclose(dropped[kept], plain[kept] / 0.75, rtol=1e-5)
    _, (*_, d_shift) = layer.backward(numpy.ones((100, 20), "float32"))
    numpy.testing.assert_allclose(d_shift, kept.sum(axis=0) / 0.75, rtol=1e-5)


@pytest.mark.skipif(not HAS_FIXED, reason="the processor rounds nothing")
def test_rounded_weights() -> None:
    """Words may be multiplied by them, windows not."""
    (X,) = sample((100,), 10)
    found, expected = (
        MaxoutNorm(**one_layer(exact=exact)).forward(X, False) for exact in (False, True)
    )
    assert 0 < abs(found - expected).max() < 1e-3
    with pytest.raises(ValueError, match="windows must be exact"):
        MaxoutNorm(**one_layer(exact=False), window=0)


def test_weights_of_either_load_into_the_other() -> None:
    theirs, ours = make(8, 1, 3, 2)
    back = SpacyEncoder(8, 1, 3, 2).initialize().from_bytes(ours.to_bytes())
    assert [node.attrs for node in back.walk()] == [node.attrs for node in theirs.walk()]
    for one, other in zip(back.walk(), theirs.walk(), strict=True):
        same(*([node.get_param(name) for name in node.param_names] for node in (one, other)))


def test_weights_that_change_are_seen() -> None:
    theirs, ours = make(8, 1, 3, 2)
    Xs = sample((4, 2), 8)
    for model in (theirs, ours):
        model.predict(Xs)
        for node in model.walk():
            for name in node.param_names:
                node.get_param(name)[:] *= 0.5
    compare(ours.predict(Xs)[0], theirs.predict(Xs)[0])
    params = [(node, name) for node in ours.walk() for name in node.param_names]
    with ours.use_params({(node.id, name): 0 * node.get_param(name) for node, name in params}):
        compare(ours.predict(Xs)[0], Xs[0])
    compare(ours.predict(Xs)[0], theirs.predict(Xs)[0])


class OtherOps(NumpyOps):
    pass


def test_other_ops_run_spacys_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs, ours = make(8, 1, 3, 2)
    monkeypatch.setattr(encoder, "Run", None)
    Xs = sample((4, 2), 8)
    with pytest.raises(TypeError):
        ours.predict(Xs)
    for node in ours.walk():
        node.ops = OtherOps()
    compare(ours.predict(Xs)[0], theirs.predict(Xs)[0])


@pytest.mark.parametrize("name", ["W", "b", "G"])
def test_damaged_weights(name: str) -> None:
    """Inputs of another width, and sizes that cannot be."""
    _, ours = make(8, 1, 3, 2)
    with pytest.raises(ValueError, match=r"inputs \(5, 7\), not \(5, 8\)"):
        ours.predict(sample((4,), 7))
    node = [node for node in ours.walk() if name in node.param_names][-1]
    node.set_param(name, node.get_param(name)[:-1])
    with pytest.raises(ValueError, match=r"maxout: .* the model is damaged"):
        ours.predict(sample((4,), 8))


@pytest.mark.parametrize("wrong", [(0, 1, 3, 1), (8, -1, 3, 1), (8, 1, 0, 1), (8, 1, 3, 0)])
def test_errors(wrong: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match=r"MaxoutWindowEncoder: \w+"):
        MaxoutWindowEncoder(*wrong)


def test_a_pipeline_with_spacys_encoder_gets_ours(tmp_path: Any) -> None:
    tok2vec = affix_tok2vec("spacy.MaxoutWindowEncoder.v2", depth=2)
    theirs = make_nlp(model=model_config(tok2vec=tok2vec))
    train(theirs, make_examples(theirs.vocab), steps=5)
    theirs.to_disk(tmp_path)
    setting = "components.nm_parser.model.tok2vec.encode.@architectures"
    nlp = spacy.load(tmp_path, config={setting: "spacy_nmparse.MaxoutWindowEncoder.v1"})
    assert encoder.forward in [node._func for node in parser_of(nlp).model.walk()]
    assert [tree(nlp(text)) for text in texts()] == [tree(theirs(text)) for text in texts()]


def test_what_does_not_fit_a_layer() -> None:
    """Once read and written beyond the ends of arrays."""
    (W,) = sample((6,), 9)
    b, gain, shift = numpy.zeros(6, "float32"), numpy.ones(3, "float32"), numpy.zeros(3, "float32")
    made = {
        "parameters": (W, b, gain, shift),
        "weights": packed(W, pieces=2, exact=True),
        "lengths": numpy.asarray([2, 3], "int32"),
        "window": 1,
    }
    for name, value in (
        ("parameters", (W[:4], b, gain, shift)),
        ("parameters", (W[:, :6].copy(), b, gain, shift)),
        ("weights", packed(W[:3].copy(), exact=True)),
        ("parameters", (W, b[:5], gain, shift)),
        ("parameters", (W, b, gain[:0], shift)),
        ("parameters", (W, b, numpy.ones(4, "float32"), shift)),
        ("parameters", (W, b, gain, shift[:2])),
        ("lengths", numpy.asarray([2, 0], "int32")),
        ("lengths", numpy.asarray([6, -1], "int32")),
        ("window", 2),
        ("window", 2**31 - 1),
        ("reach", (-1, 0)),
        ("rate", 1.5),
    ):
        with pytest.raises(ValueError, match=r"MaxoutNorm|reshape"):
            MaxoutNorm(**{**made, name: value})
    with pytest.raises(ValueError, match=r"reach \(0, 1\)"):
        MaxoutNorm(**{**made, "window": -1, "reach": (0, 1)})
    layer = MaxoutNorm(**made)
    (X,) = sample((6,), 3)
    with pytest.raises(ValueError, match="backward needs forward"):
        layer.backward(layer.forward(X, False))
    products = numpy.zeros((4, 18), "float32")
    for rows in (numpy.zeros(5, "int64"), numpy.full(6, 4), numpy.full(6, -1)):
        with pytest.raises(ValueError, match="products"):
            layer.forward(X, False, (products, rows))
    dY = layer.forward(X, True)
    dX, _ = layer.backward(dY)
    with pytest.raises(ValueError, match="MaxoutNorm: inputs"):
        layer.forward(X[:2], True)
    for wrong in (dY[:5], dY[:, :2].copy()):
        with pytest.raises(ValueError, match="MaxoutNorm: gradients"):
            layer.backward(wrong)
    assert numpy.array_equal(layer.backward(dY)[0], dX)
    layer.forward(X, False)
    with pytest.raises(ValueError, match="backward needs forward"):
        layer.backward(dY)
