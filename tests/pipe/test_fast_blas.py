"""The switch ``spacy_nmparse.fast_blas.v1``: in effect everywhere, and the same trees."""

from __future__ import annotations

import multiprocessing
from typing import Any

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import LayerNorm, NumpyOps

from spacy_nmparse.layers.ops import FastOps, norm_forward
from spacy_nmparse.pipe.fast_blas import nodes, use_fast_blas
from tests.pipe.common import LISTENER, TOK2VEC, TREES, gold_doc, model_config

SWITCH = {"@callbacks": "spacy_nmparse.fast_blas.v1"}

TEXTS = [words for words, _, _ in TREES] * 4


def make_pipeline(switch: bool = False) -> Language:
    """spaCy's tok2vec and tagger, and a parser that shares the vectors; not trained."""
    config = {"nlp": {"after_pipeline_creation": SWITCH}} if switch else {}
    nlp = spacy.blank("en", config=config)
    nlp.add_pipe("tok2vec", config={"model": TOK2VEC})
    nlp.add_pipe("tagger", config={"model": {"tok2vec": LISTENER}})
    nlp.add_pipe("nm_parser", name="parser", config={"model": model_config(tok2vec=LISTENER)})
    return nlp


def examples(nlp: Language) -> list[Example]:
    golds = [gold_doc(nlp.vocab, [tree]) for tree in range(len(TREES))]
    for gold in golds:
        for token in gold:
            token.tag_ = "XY"[token.i % 2]
    return [Example(Doc(nlp.vocab, words=[token.text for token in gold]), gold) for gold in golds]


@pytest.fixture(scope="module")
def plain() -> Language:
    nlp = make_pipeline()
    nlp.initialize(lambda: examples(nlp))
    for _ in range(12):
        nlp.update(examples(nlp))
    return nlp


def loaded(plain: Language, path: Any, **config: Any) -> Language:
    plain.to_disk(path)
    return spacy.load(path, config=config)


def switched(plain: Language) -> Language:
    nlp = spacy.blank("en").from_config(plain.config).from_bytes(plain.to_bytes())
    return use_fast_blas(nlp)


def heads(nlp: Language, **options: Any) -> list[list[tuple[int, str]]]:
    return [[(t.head.i, t.dep_) for t in doc] for doc in nlp.pipe(TEXTS, **options)]


def test_every_layer_has_it(plain: Language) -> None:
    nlp = switched(plain)
    assert {node.name for node in nodes(nlp)} >= {"maxout", "layernorm", "softmax", "state_scorer"}
    assert all(type(node.ops) is FastOps for node in nodes(nlp))
    norms = [node for node in nodes(nlp) if node.name == "layernorm"]
    assert norms and all(node._func is norm_forward for node in norms)
    assert not any(isinstance(node.ops, FastOps) for node in nodes(plain))


def test_products_are_openblas(plain: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    gemm = FastOps.gemm

    def watch(self: FastOps, x: Any, y: Any, **options: Any) -> Any:
        seen.append(x.shape)
        return gemm(self, x, y, **options)

    monkeypatch.setattr(FastOps, "gemm", watch)
    list(plain.pipe(TEXTS))
    assert not seen
    list(switched(plain).pipe(TEXTS))
    assert len(seen) >= 3  # embedding and convolution of tok2vec, softmax of the tagger


def test_other_ops_stay(plain: Language) -> None:
    class Other(NumpyOps):
        pass

    nlp = make_pipeline()
    nlp.get_pipe("tagger").model.ops = Other()  # type: ignore[attr-defined]
    use_fast_blas(nlp)
    assert type(nlp.get_pipe("tagger").model.ops) is Other  # type: ignore[attr-defined]


def test_same_trees_and_vectors(plain: Language) -> None:
    fast = switched(plain)
    assert heads(fast) == heads(plain)
    for one, other in zip(plain.pipe(TEXTS), fast.pipe(TEXTS), strict=True):
        numpy.testing.assert_allclose(one.tensor, other.tensor, atol=1e-4)
        assert [token.tag_ for token in one] == [token.tag_ for token in other]


def test_training_is_the_same_up_to_rounding() -> None:
    losses: list[dict[str, float]] = []
    for switch in (False, True):
        numpy.random.seed(0)
        nlp = make_pipeline()
        nlp.initialize(lambda nlp=nlp: examples(nlp))  # type: ignore[misc]
        if switch:
            use_fast_blas(nlp)
        numpy.random.seed(1)
        for _ in range(3):
            losses.append(nlp.update(examples(nlp), drop=0.2))
    for before, after in zip(losses[:3], losses[3:], strict=True):
        assert before == pytest.approx(after, rel=1e-3)
    assert losses[0]["parser"] != losses[2]["parser"]


def test_in_the_config(plain: Language, tmp_path: Any) -> None:
    nlp = loaded(plain, tmp_path / "plain", nlp={"after_pipeline_creation": SWITCH})
    assert all(type(node.ops) is FastOps for node in nodes(nlp))
    assert heads(nlp) == heads(plain)
    nlp.to_disk(tmp_path / "fast")  # it stays with the pipeline
    again = spacy.load(tmp_path / "fast")
    assert all(type(node.ops) is FastOps for node in nodes(again))


def test_added_labels_and_norm_without_pipeline() -> None:
    nlp = spacy.blank("en")
    assert use_fast_blas(nlp) is nlp
    assert LayerNorm(4)._func is not norm_forward


class Witness:
    """A component that notes with each document what the parser's process computes with."""

    def __init__(self, parser: Any) -> None:
        self.parser = parser

    def __call__(self, doc: Doc) -> Doc:
        ops = {type(node.ops).__name__ for node in self.parser.model.walk()}
        doc.user_data["ops"] = sorted(ops)
        doc.user_data["process"] = multiprocessing.current_process().name
        return doc


# Without annotations: they would be strings here, which spaCy 3.8.7 does not understand.
@Language.factory("fast_blas_witness")
def make_witness(nlp, name):  # type: ignore[no-untyped-def]
    return Witness(nlp.get_pipe("parser"))


METHODS = multiprocessing.get_all_start_methods()


@pytest.mark.parametrize(
    "method", [METHODS[0], *(pytest.param(one, marks=pytest.mark.slow) for one in METHODS[1:])]
)
def test_processes(plain: Language, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers have the same ops, whether they are forked or start afresh."""
    nlp = switched(plain)
    nlp.add_pipe("fast_blas_witness")
    monkeypatch.setattr("spacy.language.mp", multiprocessing.get_context(method))
    docs = list(nlp.pipe(TEXTS, n_process=2, batch_size=6))
    for doc in docs:
        assert doc.user_data["ops"] == ["FastOps"]
        assert doc.user_data["process"] != "MainProcess"
    assert [[(t.head.i, t.dep_) for t in doc] for doc in docs] == heads(plain)
