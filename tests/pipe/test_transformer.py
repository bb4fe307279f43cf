"""A pretrained transformer under a parser, here a tiny one of random weights."""

from __future__ import annotations

import json
import random
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config, load_model_from_config, registry
from thinc.api import Adam, Config
from thinc.types import Ragged

from spacy_nmparse.layers.affix_embed import all_parameters
from spacy_nmparse.pipe.replace import replace_parser
from spacy_nmparse.pipe.warmup import warmup_over_epochs
from spacy_nmparse.ud.whole_pipeline import CONFIGS
from tests.toy_treebank import nmparse

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
    return Doc(nlp.vocab, words=WORDS, heads=heads, deps=labels, lemmas=heads and [*WORDS])


def examples_of(nlp: Language) -> list[Example]:
    return [Example(make(nlp, None), make(nlp, heads)) for heads in HEADS]


def started(config: Config) -> Language:
    nlp = load_model_from_config(config, auto_fill=True)
    nlp.initialize(lambda: examples_of(nlp))
    return nlp


@pytest.fixture
def config(tmp_path: Path) -> Config:
    pytest.importorskip("spacy_curated_transformers", reason=f"needs the package {PACKAGE}")
    return tiny(tmp_path)


@pytest.fixture
def nlp(config: Config) -> Language:
    """A pipeline that is initialized."""
    return started(config)


def weights(nlp: Language) -> dict[str, Any]:
    transformer: Any = nlp.get_pipe("transformer")
    module = transformer.model.get_ref("transformer").shims[0]._model
    return {key: value.clone().numpy() for key, value in module.state_dict().items()}


def heads_of(nlp: Language) -> list[int]:
    return [token.head.i for token in nlp(make(nlp, None))]


@pytest.mark.parametrize("affixes", [False, True])
def test_trains_and_is_read_back(config: Config, tmp_path: Path, affixes: bool) -> None:
    """Beside an embedding of affixes, which learns too, and alone."""
    if not affixes:
        model = config["components"]["parser"]["model"]
        model["tok2vec"] = model["tok2vec"]["*"]["transformer"]
    nlp = started(config)
    parser: Any = nlp.get_pipe("parser")
    embeds = [node for node in parser.model.walk() if node.name == "nmparse_affix_embed"]
    assert len(embeds) == affixes
    parameters = [array.copy() for embed in embeds for array in all_parameters(embed)]
    before = weights(nlp)
    optimizer = Adam(0.01)
    losses: list[float] = []
    for _ in range(10):
        found: dict[str, float] = {}
        nlp.update(examples_of(nlp), sgd=optimizer, losses=found)
        losses.append(found["parser"])
    assert 0 < losses[-1] < losses[0]
    for key, value in weights(nlp).items():
        # the parser's loss trains the transformer
        assert "word_embeddings" not in key or not np.array_equal(value, before[key])
    after = [array for embed in embeds for array in all_parameters(embed)]
    assert not affixes or not all(map(np.array_equal, parameters, after))

    doc = nlp(make(nlp, None))
    assert sum(token.head.i == token.i for token in doc) == len(list(doc.sents))
    nlp.to_disk(tmp_path / "model")
    again = spacy.load(tmp_path / "model")
    assert [(t.head.i, t.dep_) for t in again(make(again, None))] == [
        (t.head.i, t.dep_) for t in doc
    ]


def test_config_is_that_of_the_parser_but_for_the_transformer() -> None:
    config, other = (load_config(CONFIG.with_name(name)) for name in (CONFIG.name, "nm_parser.cfg"))
    ours, theirs = (one["components"]["parser"] for one in (config, other))
    assert ours["factory"] == theirs["factory"]
    assert ours.get("system") == theirs.get("system")
    listener = ours["model"].pop("tok2vec")["*"]["transformer"]
    assert listener["@architectures"] == f"{PACKAGE}.LastTransformerLayerListener.v1"
    theirs["model"].pop("tok2vec")
    assert ours["model"] == theirs["model"]
    for section in ("corpora", "paths"):
        assert config[section] == other[section]
    loaders = config["initialize"]["components"]["transformer"]
    assert loaders["encoder_loader"]["name"] == loaders["piecer_loader"]["name"]


def test_its_parser_takes_another_one_s_place(
    nlp: Language, config: Config, tmp_path: Path
) -> None:
    """With a transformer of its own: the pipeline's transformer, and what it says, stay."""
    nlp.update(examples_of(nlp))
    expected = heads_of(nlp)
    noted: Any = nlp.get_pipe("parser")
    assert noted._fingerprint._noted[0].shape == (len(WORDS), 16)
    nlp.to_disk(tmp_path / "source")
    target = started(config)
    before = target(make(target, None))
    replace_parser(target, spacy.load(tmp_path / "source"), "parser")
    target.to_disk(tmp_path / "target")
    for one in (target, spacy.load(tmp_path / "target")):
        doc = one(make(one, None))
        assert [token.head.i for token in doc] == expected
        found, wanted = (d._.trf_data.last_hidden_layer_state.dataXd for d in (doc, before))
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("how", ["disable", "exclude"])
def test_without_its_transformer(nlp: Language, tmp_path: Path, how: str) -> None:
    nlp.to_disk(tmp_path / "model")
    alone = spacy.load(tmp_path / "model", **{how: ["transformer"]})  # type: ignore[arg-type]
    with pytest.warns(UserWarning, match="'parser' shares .* transformer .* not processed"):
        alone(make(alone, None))


def test_a_transformer_that_is_not_trained(nlp: Language, config: Config) -> None:
    """In its own block; spaCy's frozen_components leave its listeners without vectors."""
    error = pytest.raises(ValueError, match=r"'parser' cannot be trained.* frozen = true")
    with nlp.select_pipes(disable=["transformer"]), error:
        nlp.update(examples_of(nlp), sgd=Adam(0.01))
    config["components"]["transformer"]["frozen"] = True
    nlp = started(config)
    before = weights(nlp)
    nlp.update(examples_of(nlp), sgd=Adam(0.01))
    assert all(np.array_equal(value, before[key]) for key, value in weights(nlp).items())


@pytest.mark.parametrize("path", ["model.tok2vec", "model.tok2vec.*.transformer"])
def test_a_transformer_of_its_own_is_not_listened_to(
    config: Config, tmp_path: Path, path: str
) -> None:
    """Alone, and beside an embedding of affixes. Its vectors are those that the parser was trained
    on: none are kept for comparison."""
    if "*" not in path:
        model = config["components"]["parser"]["model"]
        model["tok2vec"] = model["tok2vec"]["*"]["transformer"]
    nlp = started(config)
    expected = heads_of(nlp)
    nlp.replace_listeners("transformer", "parser", [path])
    parser: Any = nlp.get_pipe("parser").from_bytes(nlp.get_pipe("parser").to_bytes())  # type: ignore[attr-defined]
    assert heads_of(nlp) == expected
    assert not parser._fingerprint._compared
    nlp.to_disk(tmp_path / "model")
    assert heads_of(spacy.load(tmp_path / "model", exclude=["transformer"])) == expected


BERT = {
    "model_type": "bert",
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "vocab_size": 13,
    "max_position_embeddings": 512,
    "pad_token_id": 0,
}
PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "ab", "cd", "##cd", "e", "##f", "g", "##h")


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    """A folder as Hugging Face saves a transformer."""
    transformers = pytest.importorskip("transformers", reason="needs the package transformers")
    pytest.importorskip("spacy_curated_transformers", reason=f"needs the package {PACKAGE}")
    folder = tmp_path / "bert"
    folder.mkdir()
    pieces = folder / "vocab.txt"
    pieces.write_text("\n".join((*PIECES, "x")) + "\n", encoding="utf-8")
    transformers.BertTokenizerFast(str(pieces)).save_pretrained(folder)
    transformers.BertModel(transformers.BertConfig(**BERT)).save_pretrained(folder)
    return folder


def written(folder: Path, target: Path, *arguments: str) -> Config:
    """The config that init-config writes for a transformer, to be trained without a GPU."""
    given = ["init-config", str(target), "--lang", "en", "--transformer", str(folder), *arguments]
    assert nmparse(given) == 0
    return load_config(target, interpolate=False)


def describe(folder: Path, **changed: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**BERT, **changed}), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("kind", "architecture", "pieces", "length"),
    [
        ("bert", "BertTransformer", "BertWordpieceEncoder", 512),
        ("xlm-roberta", "XlmrTransformer", "XlmrSentencepieceEncoder", 510),
    ],
)
def test_config_has_the_sizes_of_the_folder(
    tmp_path: Path, kind: str, architecture: str, pieces: str, length: int
) -> None:
    """Written without the packages that training needs; other blocks are those of the parser."""
    folder = describe(tmp_path / "model", model_type=kind)
    config = written(folder, tmp_path / "x.cfg", "--pipeline", "parser")
    found = config["components"]["transformer"]["model"]
    assert found["@architectures"] == f"{PACKAGE}.{architecture}.v1"
    assert found["piece_encoder"]["@architectures"] == f"{PACKAGE}.{pieces}.v1"
    sizes = ("hidden_width", "intermediate_width", "num_hidden_layers", "num_attention_heads")
    assert [found[size] for size in sizes] == [16, 32, 1, 2]
    assert found["model_max_length"] == length
    assert config["nlp"]["pipeline"] == ["transformer", "parser"]
    assert config["components"]["parser"]["factory"] == "nl_covington_parser"
    assert "tok2vec" not in config["components"]
    for loader in config["initialize"]["components"]["transformer"].values():
        assert loader["name"] == str(folder)


@pytest.mark.parametrize(
    ("changed", "arguments", "message"),
    [
        ({"model_type": "gpt2"}, [], "is a model of type 'gpt2'"),
        (None, [], "has no config.json"),
        ({}, ["--vectors", "x"], "--vectors and --transformer"),
    ],
)
def test_config_of_no_such_transformer(
    tmp_path: Path,
    changed: dict[str, Any] | None,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    if changed is not None:
        describe(folder, **changed)
    target = tmp_path / "x.cfg"
    given = ["init-config", str(target), "--transformer", str(folder), *arguments]
    assert nmparse(given) == 2
    assert message in capsys.readouterr().err
    assert not target.exists()


def test_a_folder_is_trained_as_written(bert: Path, tmp_path: Path) -> None:
    """A whole pipeline: sizes, pieces and weights fit, and all components learn of it."""
    config = written(bert, tmp_path / "x.cfg")
    config["training"]["gpu_allocator"] = None
    del config["initialize"]["before_init"]
    nlp = load_model_from_config(config, auto_fill=True)
    assert nlp.pipe_names == ["transformer", "parser", "ud_lemmatizer", "multiword_tokens"]
    transformer: Any = nlp.get_pipe("transformer")
    assert transformer.listening_components == ["parser", "ud_lemmatizer"]
    nlp.initialize(lambda: examples_of(nlp))
    pieces = transformer.model.get_ref("piece_encoder").attrs["wordpiece_processor"]
    assert pieces.to_list()[: len(PIECES)] == list(PIECES)
    before = weights(nlp)
    optimizer = Adam(0.01)
    for _ in range(4):  # the parser's first updates have no gradient for it
        losses: dict[str, float] = {}
        nlp.update(examples_of(nlp), sgd=optimizer, losses=losses)
    assert losses["transformer"] > 0
    assert any(not np.array_equal(value, before[key]) for key, value in weights(nlp).items())


def test_outputs_of_a_frozen_transformer_are_kept(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Training and evaluating run it once for each document; outputs are the same, in so much
    memory at most, and only until other weights are loaded."""
    config["components"]["transformer"]["frozen"] = True
    nlp = started(config)
    examples = examples_of(nlp)
    transformer: Any = nlp.get_pipe("transformer")
    other = Doc(nlp.vocab, words=["gh", "ab"])
    docs = [make(nlp, None), other, Doc(nlp.vocab)]
    expected = transformer.predict(docs).last_hidden_layer_states
    runs: list[int] = []
    run = transformer.model.predict
    monkeypatch.setattr(
        type(transformer.model), "predict", lambda self, X: runs.append(len(X)) or run(X)
    )
    for _ in range(3):
        transformer.update(examples, sgd=Adam(0.01))
        found = transformer.predict(docs).last_hidden_layer_states
    assert runs == [1, 2]  # both examples have the same words
    for one, kept in zip(expected, found, strict=True):
        np.testing.assert_allclose(kept.dataXd, one.dataXd, atol=1e-6)
        np.testing.assert_array_equal(kept.lengths, one.lengths)
    transformer.from_bytes(transformer.to_bytes())
    transformer.predict(docs)
    transformer.predict(docs)
    assert runs == [1, 2, 3, 3]
    transformer.megabytes = 0
    transformer.update(examples)
    transformer.update(examples)
    assert runs[4:] == [1, 1]


def test_kept_outputs_fill_the_memory(config: Config) -> None:
    """Then other documents are computed each time, and a warning says so once: not where nothing is
    to be kept, nor where all fits."""
    transformer: Any = started(config).get_pipe("transformer")
    docs = [Doc(transformer.vocab, words=["ab"] * n) for n in (200, 300, 400)]
    for megabytes, n_runs, n_warnings in ((0, 9, 0), (1, 5, 1), (2, 3, 0)):
        kept = sys.modules[type(transformer).__module__].KeptOutputs("transformer", megabytes)
        runs: list[int] = []

        def run(docs: list[Doc], runs: list[int] = runs) -> Any:
            runs.append(len(docs))  # half a megabyte each
            layer = Ragged(np.zeros((500, 250), "f"), np.full(500, 1, "i"))
            return SimpleNamespace(all_outputs=[[layer] for _ in docs])

        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            for _ in range(3):
                for doc in docs:
                    assert len(kept.outputs([doc], run)) == 1
        assert (len(runs), len(found)) == (n_runs, n_warnings)
        assert all("--components.transformer.megabytes" in str(one.message) for one in found)


def test_of_a_long_word_its_beginning_counts(nlp: Language) -> None:
    transformer: Any = nlp.get_pipe("transformer")
    docs = [Doc(nlp.vocab, words=["ab", "cd" * n, "e"]) for n in (50, 2000)]
    for outputs in (transformer.predict(docs), transformer._create_backprops(docs, {})[0]):
        short, long = (layers[-1] for layers in outputs.all_outputs)
        assert long.lengths.tolist() == short.lengths.tolist() == [2, 100, 1]
    assert [doc.text for doc in nlp.pipe(docs)] == [doc.text for doc in docs]


def test_memory_is_given_back(nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the transformer is trained, after every `N_UPDATES` updates."""
    examples = examples_of(nlp)
    transformer: Any = nlp.get_pipe("transformer")
    module = sys.modules[type(transformer).__module__]
    module.give_back_memory()
    calls: list[None] = []
    monkeypatch.setattr(module, "give_back_memory", lambda: calls.append(None))
    monkeypatch.setattr(module, "N_UPDATES", 5)
    counts = []
    for transformer.frozen in (False, True):
        for _ in range(10):
            transformer.update(examples)
        counts.append(len(calls))
    assert counts == [2, 2]


def test_megabytes_below_0(config: Config) -> None:
    config["components"]["transformer"]["megabytes"] = -1
    with pytest.raises(ValueError, match="megabytes must be at least 0, got -1"):
        load_model_from_config(config, auto_fill=True)


def test_warmup_over_epochs() -> None:
    """Up over a tenth of all batches, down to 0 at the last; counting draws no random number."""

    def batcher(examples: list[int]) -> list[int]:
        random.random()
        return examples[::2]

    state = random.getstate()
    rates = warmup_over_epochs(0.5, lambda nlp: range(10), batcher, 4)  # 20 batches
    found = [next(rates) for _ in range(22)]
    assert found[:3] == [0.0, 0.25, 0.5]
    assert found[11] == 0.25
    assert found[20:] == [0.0, 0.0]
    assert random.getstate() == state


def test_no_warmup_outside_of_training() -> None:
    """spaCy makes the optimizer of ``nlp.initialize()`` without the config around it."""
    config = load_config(CONFIG, interpolate=False)["training"]["optimizer"]
    optimizer = registry.resolve({"optimizer": config})["optimizer"]
    assert optimizer.learn_rate == config["learn_rate"]["rate"]
    optimizer.step_schedules()
    assert optimizer.learn_rate == config["learn_rate"]["rate"]


@pytest.mark.parametrize(("epochs", "warmup"), [(0, 0.1), (2, 1.0)])
def test_no_warmup(epochs: int, warmup: float) -> None:
    with pytest.raises(ValueError, match=f"epochs {epochs} .* warmup {warmup}"):
        next(warmup_over_epochs(0.5, list, list, epochs, warmup))
