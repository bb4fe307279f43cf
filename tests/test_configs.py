"""The configs are short, the benchmarks' systems complete; each differs in what it says it does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
from spacy.cli import app
from spacy.tokenizer import Tokenizer
from spacy.util import load_config, load_model_from_config
from thinc.api import Config
from typer.testing import CliRunner

from benchmarks.systems import CONFIGS, FILE, find_system
from spacy_nmparse import registered

FACTORIES = ("nm_parser", "nl_covington_parser", "swap_parser")
SYSTEMS = sorted(
    {path.stem for path in CONFIGS.glob("*.cfg")} - {"nm_parser_transformer"}
    | srsly.read_yaml(FILE)["systems"].keys()
    | {f"{name}_multihash" for name in (*FACTORIES, "spacy_parser", "arc_swift")}
    | {"nl_covington_parser_untagged", "spacy_parser_multihash_morphology"}
)


def weighed(config: Any) -> Any:
    """A config without the scores that it does not weigh."""
    weights = config["training"]["score_weights"]
    config["training"]["score_weights"] = {key: w for key, w in weights.items() if w is not None}
    return config


def pop(config: Any, *keys: str) -> Any:
    for key in keys[:-1]:
        config = config[key]
    return config.pop(keys[-1])


def filled(config: Config) -> Config:
    """With all defaults."""
    return load_model_from_config(config, auto_fill=True).config


def test_default_token_vectors_are_those_of_the_configs() -> None:
    config = filled(load_config(CONFIGS / "nm_parser.cfg", interpolate=False)).interpolate()
    found = config["components"]["tok2vec"]["model"]["encode"]
    assert found == registered.TOK2VEC["encode"]


def pop_teacher(config: Any) -> None:
    """spaCy's components learn from none."""
    assert pop(config, "paths", "teacher") is None
    assert pop(config, "initialize", "components", "parser")["teacher"] == "${paths.teacher}"


@pytest.mark.parametrize("suffix", ["", "_multihash"])
@pytest.mark.parametrize("name", [*FACTORIES, "arc_swift"])
def test_parsers_compare_with_spacys(name: str, suffix: str) -> None:
    """All the same but for the component, on each embedding; above recurrent layers, for the
    encoder's depth; and, with the arc scorer, for the learning rate."""
    systems = [find_system(system + suffix) for system in (name, "spacy_parser")]
    configs = [weighed(filled(system.build())) for system in systems]
    parsers = [pop(config, "components", "parser") for config in configs]
    pop_teacher(configs[0])
    depths = [pop(c, "components", "tok2vec", "model", "encode", "depth") for c in configs]
    assert depths == [4 if suffix else 1, 4]
    rates = [pop(config, "training", "optimizer", "learn_rate") for config in configs]
    assert rates == [0.001 if name == "nm_parser" else 0.002, 0.001]
    assert configs[0] == configs[1]
    assert parsers[0]["model"]["tok2vec"] == parsers[1]["model"]["tok2vec"]
    assert parsers[1]["factory"] == "parser" != parsers[0]["factory"]


@pytest.mark.parametrize("name", SYSTEMS)
def test_system_is_complete(name: str, tmp_path: Path) -> None:
    """What is written is what spaCy reads: no setting is left over, none is another block's."""
    path = find_system(name).write(tmp_path, {})
    config = load_config(path, interpolate=True)
    nlp = load_model_from_config(config, auto_fill=True)
    *_, last = nlp.pipe_names
    found = nlp.config.interpolate()["components"]
    for component, block in config["components"].items():
        assert Config(found[component]).merge(block) == found[component]
    model = found[last]["model"]
    assert (nlp.pipe_names[0] == "tok2vec") == ("tok2vec" in model)
    if "tok2vec" in model:
        assert model["tok2vec"]["width"] == found["tok2vec"]["model"]["encode"]["width"]


ALL = sorted(CONFIGS.glob("*.cfg"))


def skip_without_packages(path: Path) -> None:
    if "transformer" in path.stem:
        pytest.importorskip("spacy_curated_transformers", reason="needs a package of its own")


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_spacy_fills_and_accepts_it(path: Path, tmp_path: Path) -> None:
    skip_without_packages(path)
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 70
    for arguments in (
        ["init", "fill-config", str(path), str(tmp_path / "full.cfg")],
        ["debug", "config", str(tmp_path / "full.cfg"), "--paths.train", "a", "--paths.dev", "b"],
    ):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
    assert "Config is valid" in result.output


def leaves(block: Any) -> Iterator[Any]:
    if isinstance(block, dict):
        for value in block.values():
            yield from leaves(value)
    else:
        yield block


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_variables_arrive(path: Path) -> None:
    """spaCy leaves a block that is written on one line a text, if a variable in it is one."""
    variables = {f"paths.{key}": "given" for key in load_config(path)["paths"]}
    config = load_config(path, overrides={**variables, "nlp.lang": "en"}, interpolate=True)
    found = [*leaves(config)]
    assert found.count("given") > len(variables)
    assert not [value for value in found if isinstance(value, str) and value.startswith("{")]


@pytest.mark.parametrize("lang", ["xx", "en", "th", "zh"])
def test_each_language_has_its_tokenizer(lang: str) -> None:
    config = load_config(CONFIGS / "nm_parser.cfg", overrides={"nlp.lang": lang})
    try:
        own = spacy.blank(lang).tokenizer
    except ImportError as error:
        pytest.skip(str(error))
    tokenizer = load_model_from_config(config, auto_fill=True).tokenizer
    assert type(tokenizer) is type(own)
    if isinstance(own, Tokenizer):
        assert tokenizer.max_cache_size > own.max_cache_size
    text = "I don't know. 我不知道"
    assert [token.text for token in tokenizer(text)] == [token.text for token in own(text)]


def test_arc_swift_differs_in_the_parser_only() -> None:
    swift, other = (find_system(name).build() for name in ("arc_swift", "nl_covington_parser"))
    parser: Any = load_model_from_config(swift, auto_fill=True).get_pipe("parser")
    assert parser.system_spec.name == "arc_swift"
    assert parser.learning.oracle == "combined"
    assert parser.cfg == {"projectivize": True}
    assert swift["components"].pop("parser") != other["components"].pop("parser")
    assert swift == other
