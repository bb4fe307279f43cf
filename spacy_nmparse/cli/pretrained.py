"""A config whose components share a pretrained transformer in place of a `tok2vec`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import srsly
from spacy.util import load_config
from thinc.api import Config

from spacy_nmparse.ud.whole_pipeline import CONFIGS

PACKAGE = "spacy-curated-transformers"
FRONT = re.compile(r"---\n(.*?\n)---", re.DOTALL)  # how the README of a transformer begins
#: By Hugging Face's `model_type`: the architecture, what cuts words into pieces, and positions that
#: no piece can have.
MODELS = {
    "bert": ("BertTransformer", "BertWordpieceEncoder", 0),
    "camembert": ("CamembertTransformer", "CamembertSentencepieceEncoder", 2),
    "roberta": ("RobertaTransformer", "ByteBPEEncoder", 2),
    "xlm-roberta": ("XlmrTransformer", "XlmrSentencepieceEncoder", 2),
}
#: Settings of the architecture, and what `config.json` calls them.
NAMES = {
    "attention_probs_dropout_prob": "attention_probs_dropout_prob",
    "hidden_act": "hidden_act",
    "hidden_dropout_prob": "hidden_dropout_prob",
    "hidden_width": "hidden_size",
    "intermediate_width": "intermediate_size",
    "layer_norm_eps": "layer_norm_eps",
    "max_position_embeddings": "max_position_embeddings",
    "num_attention_heads": "num_attention_heads",
    "num_hidden_layers": "num_hidden_layers",
    "padding_idx": "pad_token_id",
    "type_vocab_size": "type_vocab_size",
    "vocab_size": "vocab_size",
}


def read_description(name: str) -> dict[str, Any]:
    """Read `config.json` of a transformer: a folder, or a name at the Hugging Face hub.

    Raises:
        FileNotFoundError: If a folder has no such file.
        ValueError: If a name cannot be fetched, or the package that fetches it is missing.
    """
    try:
        path = file_of(name, "config.json")
    except Exception as error:
        raise ValueError(
            f"There is no folder {name}, and no transformer of this name could be fetched from "
            f"the Hugging Face hub: {error}"
        ) from error
    if not path.is_file():
        raise FileNotFoundError(f"{name} is no transformer: it has no config.json.")
    description: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return description


def read_licence(name: str) -> str:
    """The licence of a transformer as its `README.md` names it, "" if it does not; name: as of
    `read_description`."""
    try:
        text = file_of(name, "README.md").read_text(encoding="utf-8")
        licence = srsly.yaml_loads(FRONT.match(text)[1])["license"]  # type: ignore[index]
        return licence if isinstance(licence, str) else ", ".join(licence)
    except Exception:  # no file, no such part of it, or one that is no YAML: it names none
        return ""


def file_of(name: str, file: str) -> Path:
    """Where a file of a transformer is. It is fetched, unless `name` is a folder."""
    if Path(name).is_dir():
        return Path(name) / file
    from huggingface_hub import hf_hub_download

    return Path(hf_hub_download(name, file))


def with_transformer(config: dict[str, Any], name: str) -> Config:
    """Put a transformer in the place of the `tok2vec`; it is trained with the parser.

    Args:
        config: A config of this package, or of `whole_pipeline`, variables not replaced. It is not
            changed.
        name: A folder with a transformer as Hugging Face saves it, or its name at the hub.

    Returns:
        The config. Training and listeners are those of `nm_parser_transformer.cfg`.

    Raises:
        ValueError: If spacy-curated-transformers does not know the model.
        FileNotFoundError, ValueError: As of `read_description`.
    """
    description = read_description(name)
    kind = description.get("model_type")
    if kind not in MODELS:
        raise ValueError(
            f"{name} is a model of type {kind!r}; {PACKAGE} can run {', '.join(MODELS)}."
        )
    architecture, pieces, n_free = MODELS[kind]
    other = load_config(CONFIGS / "nm_parser_transformer.cfg", interpolate=False)
    found = Config(config).copy()
    transformer = other["components"]["transformer"]
    transformer["model"] = {
        "@architectures": f"{PACKAGE}.{architecture}.v1",
        **{ours: description[theirs] for ours, theirs in NAMES.items() if theirs in description},
        "piece_encoder": {"@architectures": f"{PACKAGE}.{pieces}.v1"},
        "with_spans": transformer["model"]["with_spans"],
    }
    if "max_position_embeddings" in transformer["model"]:
        longest = transformer["model"]["max_position_embeddings"] - n_free
        transformer["model"]["model_max_length"] = longest
    components = found["components"]
    del components["tok2vec"]
    for component in components.values():
        if "tok2vec" in component.get("model", {}):
            component["model"]["tok2vec"] = other["components"]["parser"]["model"]["tok2vec"]
    found["components"] = {"transformer": transformer, **components}
    pipeline = [pipe for pipe in found["nlp"]["pipeline"] if pipe != "tok2vec"]
    found["nlp"].update(pipeline=["transformer", *pipeline], batch_size=other["nlp"]["batch_size"])
    for setting in ("batcher", "optimizer", "max_epochs", "max_steps"):
        found["training"][setting] = other["training"][setting]
    loaders = other["initialize"]["components"]["transformer"]
    for loader in loaders.values():
        loader["name"] = str(Path(name).resolve()) if Path(name).is_dir() else name
    found["initialize"]["components"]["transformer"] = loaders
    return found
