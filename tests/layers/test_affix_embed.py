"""The embedding of words by their affixes: the numbers, the layer, its gradients, in pipelines."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vectors import Vectors
from thinc.api import Model, fix_random_seed, set_dropout_rate

from spacy_nmparse.layers import affix_embed
from spacy_nmparse.layers.affix_embed import AffixEmbed, Types, static_vectors
from spacy_nmparse.layers.affixes import affix_numbers
from tests.differences import check_largest
from tests.pipe.common import LISTENER, affix_tok2vec

pytestmark = pytest.mark.usefixtures("exact_products")

LENGTHS = (1, 2, 3, 5)


@settings(deadline=None)
@given(st.lists(st.text(alphabet="aAbß\u0307\U0001f600", max_size=6), max_size=8))
def test_numbers_are_equal_where_affixes_are(words: list[str]) -> None:
    numbers = affix_numbers(words, LENGTHS, LENGTHS)
    assert numbers.shape == (len(words), 2 * len(LENGTHS)) and numbers.dtype == "uint64"
    for (one, a), (other, b) in combinations(zip(words, numbers.tolist(), strict=True), 2):
        for i, length in enumerate(LENGTHS):
            assert (a[i] == b[i]) == (one[:length] == other[:length])
            assert (a[len(LENGTHS) + i] == b[len(LENGTHS) + i]) == (
                one[-length:] == other[-length:]
            )


def test_numbers_are_the_same_everywhere() -> None:
    """Models are saved on one machine and run on another."""
    assert affix_numbers(["házában", "ő"], [1, 3], [2]).tolist() == [
        [16483435314137532808, 7389887210457182541, 4565793214567839512],
        [12164156037524166887, 12164156037524166887, 12164156037524166887],
    ]


def make(docs: list[Doc] | None = None, **options: Any) -> Model:
    fix_random_seed(0)
    model = AffixEmbed(**{"width": 8, "embed_width": 4, "rows": 50, "affix_rows": 20, **options})
    return model.initialize(X=docs)


def make_docs(*texts: str) -> list[Doc]:
    vocab = spacy.blank("en").vocab
    return [Doc(vocab, text.split()) for text in texts]


def test_each_word_gets_the_vector_of_its_kind() -> None:
    docs = make_docs("a cat sat near a Cat", "", "cat")
    types = Types.of(docs, [False] * 3)
    numbers, place = types.numbers((1,), (2,)), types.place
    assert numbers.shape == (5, 4) and place.dtype == "int32"
    assert (types.numbers((1,), (2,), numpy.asarray([3, 1])) == numbers[[3, 1]]).all()
    norms = [docs[0].vocab.strings[norm] for norm in numbers[place, 0].tolist()]
    assert norms == ["a", "cat", "sat", "near", "a", "cat", "cat"]
    vectors = make().predict(docs)
    assert [(v.shape, v.dtype) for v in vectors] == [((n, 8), "float32") for n in (6, 0, 1)]
    assert (vectors[0][0] == vectors[0][4]).all() and (vectors[0][1] == vectors[2][0]).all()
    assert abs(vectors[0][1] - vectors[0][5]).max() > 1e-3  # another shape
    for texts in ((), ("",), ("", "")):
        vectors, backprop = make()(make_docs(*texts), is_train=True)
        assert [v.shape for v in vectors] == [(0, 8)] * len(texts) and backprop(vectors) == []


def test_documents_of_several_vocabularies() -> None:
    """Words that the first one does not know; as in spaCy's layer, vectors are the first one's."""
    docs = [*make_docs("a cat", ""), *make_docs("a dog sat")]
    with pytest.raises(KeyError):
        docs[0].vocab.strings[docs[2][1].norm]
    model = make()
    for together, doc in zip(model.predict(docs), docs, strict=True):
        assert together == pytest.approx(model.predict([doc])[0], abs=1e-6)
    docs = [*with_vectors("cat"), *make_docs("dog unheardof")]
    model = make(docs, include_static_vectors=True)
    _, (dog, _) = model.predict(docs)
    (alone,) = model.predict(with_vectors("dog"))
    assert dog == pytest.approx(alone[0], abs=1e-6)


def test_endings_are_shared() -> None:
    """As spaCy's cannot be; opening and closing quotes, which have one norm, differ in shape."""
    only_ends = make(prefixes=(), suffixes=(4,))
    known, alike, other = only_ends.predict(make_docs("xxbban yybban xxbben"))[0]
    assert abs(known - alike).max() < abs(known - other).max()
    docs = make_docs("“ a ”")
    assert docs[0][0].norm == docs[0][2].norm
    model = make(prefixes=(1,), suffixes=(1,))
    model(docs, is_train=True)
    opening, _, closing = model.predict(docs)[0]
    assert abs(opening - closing).max() > 0.01


def test_training_hides_norms() -> None:
    """Of the share of words that was asked for; and affixes of one word, as prediction will."""
    docs = make_docs(" ".join(f"w{i}" for i in range(400)))
    model = make(prefixes=(), suffixes=(), word_dropout=0.3)
    (vectors,), _ = model(docs, is_train=True)
    (shown,) = model.predict(docs)
    numbers = numpy.asarray([[0, token.shape] for token in docs[0]], dtype="uint64")
    hidden = model.layers[0].predict(numbers)
    is_shown, is_hidden = (
        numpy.isclose(vectors, expected, atol=1e-6).all(axis=1) for expected in (shown, hidden)
    )
    assert (is_shown ^ is_hidden).all()
    assert 0.2 < is_hidden.mean() < 0.4
    docs = make_docs("aw1 bw1 cw2")
    model = make(prefixes=(), suffixes=(2,), word_dropout=0.0)
    (first,), _ = model(docs, is_train=True)
    assert first == pytest.approx(model.predict(docs)[0], abs=1e-6)


def test_what_was_not_seen_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Norms and affixes, in any batch, copy or saved layer; a hidden norm counts as seen."""
    model = make(prefixes=(), suffixes=(2,), word_dropout=0.9)
    words = make_docs("aw1 bw1 cw2 dw1 dw2")
    place, numbers = Types.of(words, [False]).place, Types.of(words, [False]).numbers((), (2,))
    before = model.layers[0].predict(numbers)[place]
    assert model.predict(words)[0] == pytest.approx(before, abs=1e-6), "before training"
    model(make_docs("aw1 cw2"), is_train=True)
    model(make_docs("cw2", "bw1"), is_train=True)
    numbers[place[[3, 4]], 0] = 0
    numbers[place[[2, 4]], 2] = 0
    expected = model.layers[0].predict(numbers)[place]
    loaded = make(prefixes=(), suffixes=(2,)).from_bytes(model.to_bytes())
    for layer in (model, model.copy(), loaded):
        for worth in (1000, 1):  # without and with vectors that are kept
            monkeypatch.setattr(affix_embed, "WORTH", worth)
            assert layer.predict(words)[0] == pytest.approx(expected, abs=1e-6)
    model(make_docs("dw2"), is_train=True)
    numbers[place[4]] = Types.of(words, [False]).numbers((), (2,))[place[4]]
    numbers[place[2], 2] = numbers[place[4], 2]
    expected = model.layers[0].predict(numbers)[place]
    assert model.predict(words)[0] == pytest.approx(expected, abs=1e-6)


def test_dropout_factor() -> None:
    (doc,) = make_docs(" ".join(f"w{i}" for i in range(9)))
    numbers = Types.of([doc], [False]).numbers((1,), (2,))
    sizes: dict[str, Any] = {"embed_width": 500, "prefixes": (1,), "suffixes": (2,)}
    for factor, least, most in (
        (0.0, 0, 0),
        (0.5, 0.07, 0.13),
        (2.0, 0.35, 0.45),
        (9.0, 0.87, 0.93),
    ):
        model = make(dropout_factor=factor, word_dropout=0.0, **sizes)
        set_dropout_rate(model, 0.2)
        result, _ = model.layers[0].layers[0](numbers, is_train=True)
        assert least <= (result == 0).all(axis=0).mean() <= most


def with_vectors(*texts: str) -> list[Doc]:
    """Documents whose vocabulary knows vectors of some words."""
    docs = make_docs(*texts)
    generator = numpy.random.RandomState(2)
    for word in ("the", "cat", "Cat", "dog"):
        docs[0].vocab.set_vector(word, generator.normal(size=5).astype("float32"))
    return docs


def example(nlp: Language, text: str) -> Example:
    annotation = {"heads": [1, 1, 1], "deps": ["nsubj", "ROOT", "obj"]}
    return Example.from_dict(nlp.make_doc(text), annotation)


@pytest.mark.parametrize("static", [False, True])
def test_gradients(static: bool) -> None:
    docs = with_vectors("the cat sat on the mat", "the dog")
    docs[1]._.ud_treebank = "other"
    model = make(docs, word_dropout=0.0, include_static_vectors=static)
    weights = numpy.random.RandomState(1).normal(size=(8, 8)).astype("float32")

    def loss() -> float:
        return float((numpy.concatenate(model.predict(docs)) * weights).sum())

    model(docs, is_train=True)  # the treebank gets its row
    _, backprop = model(docs, is_train=True)
    backprop([weights[:6], weights[6:]])
    checked = 0
    for node in model.walk():
        for name in filter(node.has_param, node.param_names):
            checked += check_largest(node.get_param(name), node.get_grad(name), loss)
    assert checked == 3 * (14 + 4 + static + 1)


def test_static_vectors() -> None:
    """Words with the same norm and shape have vectors of their own texts; the rest have none."""
    docs = with_vectors("cat dog", "mat")
    for doc in docs:
        for token in doc:
            token.norm_ = "x"
    types = Types.of(docs, [False] * 2, by_text=True)
    assert len(set(map(tuple, types.numbers((), ()).tolist()))) == 1
    assert [types.texts()[i] for i in types.place.tolist()] == ["cat", "dog", "mat"]
    model = make(docs, include_static_vectors=True)
    (cat, dog), (mat,) = model.predict(docs)
    assert abs(cat - dog).max() > 1e-3 < abs(cat - mat).max()
    static = static_vectors(model)
    assert static is not None
    assert static.get_dim("nM") == 5
    static.set_param("W", 0 * static.get_param("W"))
    (cat, dog), (mat,) = model.predict(docs)
    assert (cat == dog).all() and (cat == mat).all()


@pytest.mark.parametrize("attr", ["ORTH", "NORM"])
def test_training_hides_static_vectors(attr: str) -> None:
    """Those of the words whose norms it hides: such words are as unknown ones without a vector."""
    words = [f"w{i}" for i in range(400)]
    vocab = spacy.blank("en").vocab
    data = numpy.random.default_rng(0).normal(size=(400, 5)).astype("f")
    vocab.vectors = Vectors(strings=vocab.strings, data=data, keys=words, attr=attr)
    docs = [Doc(vocab, words)]
    model = make(docs, prefixes=(), suffixes=(), word_dropout=0.3, include_static_vectors=True)
    (vectors,), _ = model(docs, is_train=True)
    (shown,) = model.predict(docs)
    (hidden,) = model.predict([Doc(vocab, [f"x{i}" for i in range(400)])])
    is_shown, is_hidden = (
        numpy.isclose(vectors, expected, atol=1e-6).all(axis=1) for expected in (shown, hidden)
    )
    assert (is_shown ^ is_hidden).all()
    assert 0.2 < is_hidden.mean() < 0.4


def test_vectors_that_nobody_reads() -> None:
    """And those that are missing."""
    with pytest.warns(UserWarning, match="not use the .*include_static_vectors = true"):
        make(with_vectors("cat dog", "mat"))
    for docs in (None, make_docs("a cat")):
        with pytest.raises(ValueError, match=r"include_static_vectors .*vectors: .*--paths"):
            make(docs, include_static_vectors=True)


def test_copies_have_static_vectors() -> None:
    """Thinc's copy of a model, which spaCy's ``replace_listeners`` makes, has no references."""
    docs = with_vectors("cat dog", "mat")
    model = make(docs, include_static_vectors=True)
    for found, wanted in zip(model.copy().predict(docs), model.predict(docs), strict=True):
        assert (found == wanted).all()
    nlp = spacy.blank("en")
    nlp.vocab.set_vector("cats", numpy.ones(3, dtype="float32"))
    nlp.add_pipe("tok2vec", config={"model": affix_tok2vec(include_static_vectors=True)})
    listener = {**LISTENER, "width": 16}
    nlp.add_pipe("nm_parser", name="parser", config={"model": {"tok2vec": listener}})
    nlp.initialize(lambda: [example(nlp, "she saw cats")])
    before = nlp("she saw cats").to_json()
    nlp.replace_listeners("tok2vec", "parser", ["model.tok2vec"])
    assert nlp("she saw cats").to_json() == before


@pytest.mark.parametrize("attr", ["ORTH", "NORM"])
def test_static_vectors_keyed_by_norms(attr: str) -> None:
    """As in spaCy's own layer: those of the tokens' own norms."""
    vocab = spacy.blank("en").vocab
    vocab.vectors = Vectors(
        strings=vocab.strings, data=numpy.ones((1, 5), "f"), keys=["is"], attr=attr
    )
    doc = Doc(vocab, ["'s", "unheardof"])
    doc[0].norm_ = "is"
    model = make([doc], include_static_vectors=True)
    (before,) = model.predict([doc])
    static = static_vectors(model)
    static.set_param("W", 0 * static.get_param("W"))
    (after,) = model.predict([doc])
    assert (abs(before - after).max(axis=1) > 1e-3).tolist() == [attr == "NORM", False]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("width", 0), ("prefixes", [0]), ("prefixes", [1.5]), ("suffixes", [2, 2]), ("rows", 0)),
        *(("word_dropout", 1.0), ("dropout_factor", -1)),
    ],
)
def test_errors(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"AffixEmbed: .*{name}"):
        AffixEmbed(**{"width": 8, name: value})
    with pytest.raises(ValueError, match="0 or more"):
        affix_numbers(["word"], [1], [-1])
