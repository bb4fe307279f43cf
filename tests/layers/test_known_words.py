"""Vectors that are kept: the same bits as without, and never those of other weights."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import Model, fix_random_seed

from spacy_nmparse.layers import affix_embed
from spacy_nmparse.layers.affix_embed import AffixEmbed
from spacy_nmparse.layers.digest import digest
from spacy_nmparse.layers.known_words import KnownWords
from spacy_nmparse.layers.products import HAS_TILES

VOCAB = spacy.blank("en").vocab


def doc_of(*numbers: int) -> Doc:
    return Doc(VOCAB, [f"word{i}" for i in numbers])


def make(monkeypatch: pytest.MonkeyPatch, most: int = 1000) -> Model:
    """A layer that keeps the vectors of small batches, too."""
    if not HAS_TILES:
        pytest.skip("vectors depend on their batch here, and none are kept")
    monkeypatch.setattr(affix_embed, "WORTH", 1)
    fix_random_seed(0)
    model = AffixEmbed(width=8, embed_width=4, rows=500, affix_rows=100).initialize()
    model.attrs["known_words"] = KnownWords(most)
    return model


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many vectors each call computes from now on."""
    counts: list[int] = []
    compute = affix_embed.embed

    def embed(model: Model, words: Any, is_train: bool) -> Any:
        counts.append(len(words))
        return compute(model, words, is_train)

    monkeypatch.setattr(affix_embed, "embed", embed)
    return counts


def without(model: Model, docs: list[Doc]) -> list[Any]:
    """What the layer gives that knows no words."""
    copy = model.copy()
    copy.attrs["known_words"] = KnownWords(0)
    return copy.predict(docs)


def same(found: list[Any], expected: list[Any]) -> bool:
    return all((a == b).all() for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    ("most", "batches", "computed"),
    [
        (1000, [[[1, 2, 2], [3]], [[2, 4]], [[4, 3, 2, 1]], [[9, 1]]], [3, 1, 1]),
        # Where there is no more room, those of the last batch stay.
        (4, [[[1, 2, 3]], [[3, 4, 5]], [[4, 5, 3]], [[*range(9)]]], [3, 2, 6]),
    ],
)
def test_each_word_is_computed_once(
    monkeypatch: pytest.MonkeyPatch, most: int, batches: Any, computed: list[int]
) -> None:
    model = make(monkeypatch, most)
    docs = [[doc_of(*numbers) for numbers in batch] for batch in batches]
    expected = [without(model, batch) for batch in docs]
    counts = counted(monkeypatch)
    for batch, wanted in zip(docs, expected, strict=True):
        assert same(model.predict(batch), wanted)
    assert counts == computed


@pytest.mark.parametrize("parameter", range(18))
def test_other_weights(monkeypatch: pytest.MonkeyPatch, parameter: int) -> None:
    """A change of one number in place: vectors are computed again."""
    model = make(monkeypatch)
    docs, more = [doc_of(*range(40))], [doc_of(*range(30, 60))]
    before = model.predict(docs)
    layers = model.layers[0].walk()
    found = [(node, name) for node in layers for name in node.param_names]
    assert len(found) == 18
    node, name = found[parameter]
    array = node.get_param(name).reshape(-1)
    saved = array.copy()
    array[:: max(1, len(array) // 64)] += 0.5
    after = model.predict(docs)
    assert same(after, without(model, docs)) and not same(after, before)
    model.predict(more)
    array[:] = saved  # as averages come and go
    assert same(model.predict(docs), before)
    assert same(model.predict(more), without(model, more))


def test_training_computes_all(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make(monkeypatch)
    docs = [doc_of(1, 2, 3)]
    model.predict(docs)
    counts = counted(monkeypatch)
    vectors, backprop = model(docs, is_train=True)
    backprop(vectors)
    assert counts == [3]
    _, backprop = model(docs, is_train=False)
    with pytest.raises(RuntimeError, match="AffixEmbed: only what was run with is_train"):
        backprop(vectors)


def test_copies_and_bytes_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make(monkeypatch)
    empty = model.to_bytes()
    docs = [doc_of(1, 2, 3)]
    expected = model.predict(docs)
    assert model.to_bytes() == empty
    copy = model.copy()
    again = pickle.loads(pickle.dumps(model.attrs["known_words"]))
    counts = counted(monkeypatch)
    assert same(copy.predict(docs), expected) and counts == [3]
    copy.attrs["known_words"] = again
    assert same(copy.predict(docs), expected) and counts == [3, 3]


def test_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where there is room for a part of the words alone."""
    model = make(monkeypatch, most=60)
    generator = numpy.random.RandomState(0)
    batches = [[doc_of(*generator.randint(0, 90, size=30).tolist())] for _ in range(200)]
    expected = [without(model, batch) for batch in batches]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(model.predict, batches))
    assert all(same(a, b) for a, b in zip(found, expected, strict=True))


def test_two_at_once() -> None:
    """Another thread adds words while this one computes: each has its own."""
    known = KnownWords(100)

    def compute(numbers: list[int], meanwhile: Any = None) -> Any:
        def compute(places: numpy.ndarray) -> Any:
            if meanwhile:
                meanwhile()
            return numpy.asarray(numbers, dtype="float32")[places, None]

        table, rows = known.vectors(numpy.asarray(numbers, dtype="uint64"), 1, compute)
        return lambda: table[rows, 0].tolist()

    compute([1, 2, 3])
    compute([4])  # there is room behind it
    others: list[Any] = []
    first = compute([1, 5, 6], lambda: others.append(compute([1, 7, 8])))
    assert first() == [1, 5, 6] and others[0]() == [1, 7, 8]


def test_digest() -> None:
    """Of the content, the lengths and the order, whatever the place in memory."""
    array = numpy.random.RandomState(0).normal(size=(50, 7)).astype("float32")
    number = digest([array, array[0]])
    assert number == digest([array.copy(), array[0].copy()]) == digest(iter([array, array[0]]))
    assert number == digest([numpy.asfortranarray(array), array[0]])
    others = {number, digest([array]), digest([array[0], array]), digest([])}
    others |= {digest([array[:20], array[20:], array[0]]), digest([array[:0], array, array[0]])}
    others |= {digest([array, numpy.append(array[0], zero)]) for zero in ([0.0], [0.0, 0.0])}
    for place in range(0, array.size, 13):
        other = array.copy()
        other.reshape(-1)[place] = numpy.nextafter(other.reshape(-1)[place], numpy.float32(9))
        others.add(digest([other, array[0]]))
    assert len(others) == 8 + 27
