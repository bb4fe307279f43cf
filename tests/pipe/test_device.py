"""Parsers with their models on a GPU, as far as that can be tested without one: on arrays that
refuse to be NumPy's."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from spacy.language import Language
from spacy.tokens import Doc

from tests.layers.device import DeviceArray, device
from tests.pipe.common import (
    NL,
    NM,
    SWAP,
    TREES,
    affix_tok2vec,
    arc_model_config,
    make_examples,
    make_nlp,
    model_config,
    overfitted,
    tagged,
    tree,
)

copy = DeviceArray.get
#: The layers of the parsers as installed, small.
MODELS = {NM: model_config, SWAP: model_config, NL: arc_model_config}
CONFIGS: dict[str, dict[str, Any]] = {
    factory: {
        "factory": factory,
        "model": make(
            tok2vec=affix_tok2vec("spacy_nmparse.MaxoutWindowEncoder.v1"), recurrent_width=12
        ),
        "confidence": True,
    }
    for factory, make in MODELS.items()
}


def updated(factory: str) -> tuple[Language, list[float]]:
    """A parser that learns tags too, after some updates without dropout, and their losses."""
    nlp = make_nlp("parser", write_tags=True, **CONFIGS[factory])
    examples = [tagged(one) for one in make_examples(nlp.vocab)]
    sgd = nlp.initialize(lambda: examples)
    return nlp, [nlp.update(examples, sgd=sgd, drop=0.0)["parser"] for _ in range(4)]


@pytest.mark.parametrize("factory", MODELS)
def test_learns_as_on_the_cpu(factory: str) -> None:
    """But for the rounding of products on the CPU."""
    _, losses = updated(factory)
    with device():
        _, on_device = updated(factory)
    assert on_device == pytest.approx(losses, rel=1e-3)


@pytest.mark.parametrize("factory", MODELS)
def test_parses_as_on_the_cpu(factory: str) -> None:
    config = CONFIGS[factory]
    nlp = overfitted(**config)
    known = [text for text, *_ in TREES]
    with device():
        other = make_nlp(**config).from_bytes(nlp.to_bytes())
        parser: Any = other.get_pipe(factory)
        assert isinstance(parser.model.get_param("word_W"), DeviceArray)
        found = [tree(doc) for doc in other.pipe(known)]
        parser.beam_width = 4
        assert found == [tree(doc) for doc in other.pipe(known)]
        saved = other.to_bytes()
    assert found == [tree(doc) for doc in nlp.pipe(known)]
    assert found == [tree(doc) for doc in make_nlp(**config).from_bytes(saved).pipe(known)]


@pytest.mark.parametrize("factory", MODELS)
def test_a_batch_goes_to_and_fro_once(factory: str) -> None:
    """However many words it has."""
    with device():
        nlp, _ = updated(factory)
        moved = []
        for count in (1, 500):
            docs = [Doc(nlp.vocab, words=TREES[0][0].split()) for _ in range(count)]
            with mock.patch.object(DeviceArray, "get", autospec=True, side_effect=copy) as get:
                list(nlp.pipe(docs, batch_size=count))
            moved.append(get.call_count)
    assert moved[0] == moved[1] > 0
