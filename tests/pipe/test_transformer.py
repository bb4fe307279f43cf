"""nm_parser_transformer.cfg, with a tiny transformer of random weights in place of the real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config, load_model_from_config
from thinc.api import Adam, Config

from spacy_nmparse.pipe.replace import replace_parser
from spacy_nmparse.ud.whole_pipeline import CONFIGS

CONFIG = CONFIGS / "nm_parser_transformer.cfg"
PACKAGE = "spacy-curated-transformers"
WORDS = ("ab", "cd", "ef", "gh")
HEADS = ([1, 1, 1, 2], [0, 0, 1, 0])


def tiny(folder: Path) -> Config:
    """The config, with characters as pieces and nothing to download."""
    pieces = folder / "characters.txt"
    pieces.write_text("\n".join(("[UNK]", "[PAD]", "[CLS]", "[SEP]", *"abcdefgh")) + "\n")
    config = load_config(CONFIG)
    config["components"]["transformer"]["model"].update(
        vocab_size=12,
        hidden_width=16,
        intermediate_width=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        mixed_precision=False,
        piece_encoder={"@architectures": f"{PACKAGE}.CharEncoder.v1"},
    )
    config["initialize"]["components"]["transformer"] = {
        "piecer_loader": {
            "@model_loaders": f"{PACKAGE}.CharEncoderLoader.v1",
            "path": str(pieces),
        }
    }
    config["training"]["gpu_allocator"] = None
    return config


def make(nlp: Language, heads: list[int] | None) -> Doc:
    labels = heads and ["ROOT" if head == i else "dep" for i, head in enumerate(heads)]
    return Doc(nlp.vocab, words=WORDS, heads=heads, deps=labels)


@pytest.fixture
def nlp(tmp_path: Path) -> Language:
    pytest.importorskip("spacy_curated_transformers", reason=f"needs the package {PACKAGE}")
    if np.lib.NumpyVersion(np.__version__) >= "2.4.0":
        pytest.skip(f"{PACKAGE} 0.3.1 needs NumPy below 2.4")
    return load_model_from_config(tiny(tmp_path), auto_fill=True)


def weights(nlp: Language) -> dict[str, Any]:
    transformer: Any = nlp.get_pipe("transformer")
    module = transformer.model.get_ref("transformer").shims[0]._model
    return {key: value.clone().numpy() for key, value in module.state_dict().items()}


def test_trains_and_is_read_back(nlp: Language, tmp_path: Path) -> None:
    examples = [Example(make(nlp, None), make(nlp, heads)) for heads in HEADS]
    nlp.initialize(lambda: examples)
    before = weights(nlp)
    optimizer = Adam(0.01)  # that of the config warms up from 0
    losses: list[float] = []
    for _ in range(10):
        found: dict[str, float] = {}
        nlp.update(examples, sgd=optimizer, losses=found)
        losses.append(found["parser"])
    assert 0 < losses[-1] < losses[0]
    for key, value in weights(nlp).items():
        # the parser's loss trains the transformer
        assert "word_embeddings" not in key or not np.array_equal(value, before[key])

    doc = nlp(make(nlp, None))
    assert sum(token.head.i == token.i for token in doc) == len(list(doc.sents))
    nlp.to_disk(tmp_path / "model")
    again = spacy.load(tmp_path / "model")
    parsed = again(make(again, None))
    assert [token.head.i for token in parsed] == [token.head.i for token in doc]
    assert [token.dep_ for token in parsed] == [token.dep_ for token in doc]


def test_config_is_that_of_the_parser_but_for_the_transformer() -> None:
    config, other = (load_config(CONFIG.with_name(name)) for name in (CONFIG.name, "nm_parser.cfg"))
    ours, theirs = (one["components"]["parser"] for one in (config, other))
    assert ours["factory"] == theirs["factory"]
    assert ours.get("system") == theirs.get("system")
    listener = ours["model"].pop("tok2vec")
    assert listener["@architectures"] == f"{PACKAGE}.LastTransformerLayerListener.v1"
    theirs["model"].pop("tok2vec")
    assert ours["model"].pop("recurrent_width") == 0
    assert ours["model"] == theirs["model"]
    for section in ("corpora", "paths"):
        assert config[section] == other[section]
    loaders = config["initialize"]["components"]["transformer"]
    assert loaders["encoder_loader"]["name"] == loaders["piecer_loader"]["name"]


def test_its_parser_takes_another_one_s_place(nlp: Language, tmp_path: Path) -> None:
    """With a transformer of its own: the pipeline's transformer, and what it says, stay."""
    examples = [Example(make(nlp, None), make(nlp, heads)) for heads in HEADS]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    nlp(make(nlp, None))
    noted: Any = nlp.get_pipe("parser")
    assert noted._fingerprint._noted[0].shape == (len(WORDS), 16)
    nlp.to_disk(tmp_path / "source")
    target = load_model_from_config(tiny(tmp_path), auto_fill=True)
    target.initialize(lambda: examples)
    before = target(make(target, None))
    replace_parser(target, spacy.load(tmp_path / "source"), "parser")
    target.to_disk(tmp_path / "target")
    expected = nlp(make(nlp, None))
    for one in (target, spacy.load(tmp_path / "target")):
        doc = one(make(one, None))
        assert [token.head.i for token in doc] == [token.head.i for token in expected]
        found, wanted = (d._.trf_data.last_hidden_layer_state.dataXd for d in (doc, before))
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("how", ["disable", "exclude"])
def test_without_its_transformer(nlp: Language, tmp_path: Path, how: str) -> None:
    nlp.initialize(lambda: [Example(make(nlp, None), make(nlp, heads)) for heads in HEADS])
    nlp.to_disk(tmp_path / "model")
    alone = spacy.load(tmp_path / "model", **{how: ["transformer"]})  # type: ignore[arg-type]
    with pytest.warns(UserWarning, match="'parser' shares .* transformer .* not processed"):
        alone(make(alone, None))


def test_a_transformer_that_is_not_trained(nlp: Language, tmp_path: Path) -> None:
    """In its own block; spaCy's frozen_components leave its listeners without vectors."""
    examples = [Example(make(nlp, None), make(nlp, heads)) for heads in HEADS]
    sgd = nlp.initialize(lambda: examples)
    error = pytest.raises(ValueError, match=r"'parser' cannot be trained.* frozen = true")
    with nlp.select_pipes(disable=["transformer"]), error:
        nlp.update(examples, sgd=sgd)
    config = tiny(tmp_path)
    config["components"]["transformer"]["frozen"] = True
    nlp = load_model_from_config(config, auto_fill=True)
    sgd = nlp.initialize(lambda: examples)
    before = weights(nlp)
    nlp.update([Example(make(nlp, None), make(nlp, heads)) for heads in HEADS], sgd=sgd)
    assert all(np.array_equal(value, before[key]) for key, value in weights(nlp).items())


def test_a_transformer_of_its_own_is_not_listened_to(nlp: Language) -> None:
    """Its vectors are those that the parser was trained on: none are kept for comparison."""
    nlp.initialize(lambda: [Example(make(nlp, None), make(nlp, heads)) for heads in HEADS])
    nlp.replace_listeners("transformer", "parser", ["model.tok2vec"])
    parser: Any = nlp.get_pipe("parser").from_bytes(nlp.get_pipe("parser").to_bytes())  # type: ignore[attr-defined]
    nlp(make(nlp, None))
    assert not parser._fingerprint._compared
