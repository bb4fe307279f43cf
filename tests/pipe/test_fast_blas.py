"""The switch ``spacy_nmparse.fast_blas.v1``: in effect everywhere, and the same trees."""

from __future__ import annotations

import pickle
from typing import Any

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.training import Example
from thinc.api import LayerNorm, NumpyOps

from spacy_nmparse.layers.ops import FastOps, norm_forward
from spacy_nmparse.pipe.fast_blas import nodes, use_fast_blas
from tests.pipe.common import (
    LISTENER,
    NM,
    TREES,
    listening_pipeline,
    make_examples,
    model_config,
    tagged,
    tree,
)

SWITCH = {"@callbacks": "spacy_nmparse.fast_blas.v1"}

TEXTS = [words for words, _, _ in TREES] * 4


def make_pipeline() -> Language:
    """A tagger and a parser that share a tok2vec; not trained."""
    nlp = listening_pipeline(NM, **model_config())
    nlp.add_pipe("tagger", config={"model": {"tok2vec": LISTENER}})
    return nlp


def examples(nlp: Language) -> list[Example]:
    return [tagged(example) for example in make_examples(nlp.vocab)]


@pytest.fixture(scope="module")
def plain() -> Language:
    nlp = make_pipeline()
    nlp.initialize(lambda: examples(nlp))
    for _ in range(12):
        nlp.update(examples(nlp))
    return nlp


def switched(plain: Language) -> Language:
    nlp = spacy.blank("xx").from_config(plain.config).from_bytes(plain.to_bytes())
    return use_fast_blas(nlp)


def test_every_layer_has_it(
    plain: Language, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it is used: the trees are the same, and the vectors nearly. In a config, and where
    workers unpickle a pipeline, it stays."""
    seen: list[Any] = []
    gemm = FastOps.gemm
    monkeypatch.setattr(
        FastOps,
        "gemm",
        lambda ops, x, *rest, **more: (seen.append(x), gemm(ops, x, *rest, **more))[1],
    )
    expected = list(plain.pipe(TEXTS))
    assert not seen
    plain.to_disk(tmp_path / "plain")
    named = spacy.load(tmp_path / "plain", config={"nlp": {"after_pipeline_creation": SWITCH}})
    named.to_disk(tmp_path / "fast")
    unpickled = pickle.loads(pickle.dumps(switched(plain)))
    for nlp in (switched(plain), unpickled, named, spacy.load(tmp_path / "fast")):
        names = {node.name for node in nodes(nlp)}
        assert names >= {"maxout", "layernorm", "softmax", "state_scorer"}
        assert all(type(node.ops) is FastOps for node in nodes(nlp))
        norms = [node for node in nodes(nlp) if node.name == "layernorm"]
        assert norms and all(node._func is norm_forward for node in norms)
        seen.clear()
        found = list(nlp.pipe(TEXTS))
        assert len(seen) >= 3  # embedding and convolution of tok2vec, softmax of the tagger
        assert list(map(tree, found)) == list(map(tree, expected))
        for one, other in zip(expected, found, strict=True):
            numpy.testing.assert_allclose(one.tensor, other.tensor, atol=1e-4)
            assert [token.tag_ for token in one] == [token.tag_ for token in other]
    assert not any(isinstance(node.ops, FastOps) for node in nodes(plain))


def test_what_it_leaves() -> None:
    """Other ops, pipelines without models, and Thinc's own layers."""

    class Other(NumpyOps):
        pass

    nlp: Any = make_pipeline()
    nlp.get_pipe("tagger").model.ops = Other()
    use_fast_blas(nlp)
    assert type(nlp.get_pipe("tagger").model.ops) is Other
    nlp = spacy.blank("en")
    assert use_fast_blas(nlp) is nlp
    assert LayerNorm(4)._func is not norm_forward


def test_training_is_the_same_up_to_rounding() -> None:
    losses: list[list[dict[str, float]]] = []
    for switch in (False, True):
        numpy.random.seed(0)
        nlp = make_pipeline()
        nlp.initialize(lambda nlp=nlp: examples(nlp))  # type: ignore[misc]
        if switch:
            use_fast_blas(nlp)
        numpy.random.seed(1)
        losses.append([nlp.update(examples(nlp), drop=0.2) for _ in range(3)])
    for before, after in zip(*losses, strict=True):
        assert before == pytest.approx(after, rel=1e-3)
    assert losses[0][0]["parser"] != losses[0][2]["parser"]
