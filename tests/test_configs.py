"""The configs and the benchmarks' systems are complete, and differ in what they say they do."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
import srsly
from spacy.util import load_config, load_model_from_config

from benchmarks.systems import CONFIGS, FILE, find_system
from spacy_nmparse import registered
from spacy_nmparse.scorers.affix_embed import AffixEmbed
from spacy_nmparse.scorers.arc_scorer import FEATURES, ArcScorer
from spacy_nmparse.scorers.state_scorer import StateScorer

FACTORIES = ("nm_parser", "nl_covington_parser", "swap_parser")
SYSTEMS = sorted(
    {path.stem for path in CONFIGS.glob("*.cfg")} - {"nm_parser_transformer"}
    | srsly.read_yaml(FILE)["systems"].keys()
    | {f"{name}_multihash" for name in (*FACTORIES, "spacy_parser", "arc_swift")}
    | {"nl_covington_parser_fast", "spacy_parser_multihash_morphology"}
)


def pop(config: Any, *keys: str) -> Any:
    for key in keys[:-1]:
        config = config[key]
    return config.pop(keys[-1])


def test_accuracy_differs_in_size_and_length_of_training() -> None:
    factory = "nl_covington_parser"
    names = (f"{factory}_accuracy", factory)
    accuracy, efficiency = (load_config(CONFIGS / f"{name}.cfg") for name in names)
    scorers = []
    for config in (accuracy, efficiency):
        assert config["components"]["parser"]["factory"] == factory
        scorers.append(pop(config, "components", "parser", "model"))
    default = inspect.signature(ArcScorer).parameters["lstm_width"].default
    assert scorers[0]["lstm_width"] > scorers[1].get("lstm_width", default)
    for keys in (
        ("components", "tok2vec", "model", "encode", "width"),
        ("training", "dropout"),
        ("training", "max_epochs"),
    ):
        assert pop(accuracy, *keys) > pop(efficiency, *keys)
    embed = ("components", "tok2vec", "model", "embed")
    accurate, efficient = (pop(config, *embed) for config in (accuracy, efficiency))
    assert accurate["@architectures"] == efficient["@architectures"]
    assert efficient["@architectures"] == "spacy_nmparse.AffixEmbed.v1"
    assert accuracy == efficiency


def test_accuracy_adds_features_of_crossing_arcs() -> None:
    config = load_config(CONFIGS / "nl_covington_parser_accuracy.cfg")
    (layer, names), *others = config["components"]["parser"]["model"]["features"].items()
    assert layer == "pair" and not others
    assert names == [*FEATURES["pair"], "H-D.crossed", "H-D.headless"]


def defaults(function: Any) -> dict[str, Any]:
    """The defaults of its arguments, tuples as lists, which configs have."""
    found = inspect.signature(function).parameters.values()
    return {p.name: list(p.default) if isinstance(p.default, tuple) else p.default for p in found}


@pytest.mark.parametrize("function", [ArcScorer, StateScorer, AffixEmbed])
def test_registered_defaults(function: Any) -> None:
    """Told twice, as what spaCy finds imports nothing of the package: both say the same."""
    assert defaults(getattr(registered, function.__name__)) == defaults(function)


def test_defaults_of_the_arc_scorer() -> None:
    """Those of the component are the architecture's."""
    found = {**registered.NL_COVINGTON_PARSER["model"]}
    del found["@architectures"], found["tok2vec"]
    expected = defaults(ArcScorer)
    del expected["tok2vec"]
    assert found == expected


def pop_teacher(config: Any) -> None:
    """spaCy's components learn from none."""
    assert pop(config, "paths", "teacher") is None
    assert pop(config, "initialize", "components", "parser")["teacher"] == "${paths.teacher}"


@pytest.mark.parametrize("suffix", ["", "_multihash"])
@pytest.mark.parametrize("name", [*FACTORIES, "arc_swift"])
def test_parsers_compare_with_spacys(name: str, suffix: str) -> None:
    """All the same but for the component, on each embedding."""
    configs = [find_system(system + suffix).build() for system in (name, "spacy_parser")]
    parsers = [pop(config, "components", "parser") for config in configs]
    pop_teacher(configs[0])
    assert configs[0] == configs[1]
    assert parsers[0]["model"]["tok2vec"] == parsers[1]["model"]["tok2vec"]
    assert parsers[1]["factory"] == "parser" != parsers[0]["factory"]


@pytest.mark.parametrize("name", SYSTEMS)
def test_system_is_complete(name: str, tmp_path: Path) -> None:
    """What is written is what spaCy reads: no setting is left over, none is another block's."""
    path = find_system(name).write(tmp_path, {})
    config = load_config(path, interpolate=True)
    nlp = load_model_from_config(config, auto_fill=True)
    first, *_, last = nlp.pipe_names
    assert first == "tok2vec"
    filled = nlp.config["components"][last]["model"]
    written = config["components"][last]["model"]
    assert {key: filled[key] for key in written} == written
    encoder = config["components"]["tok2vec"]["model"]["encode"]
    assert written["tok2vec"]["width"] == encoder["width"]


def test_senter_trains_as_the_parsers() -> None:
    senter, parser = (find_system(name).build() for name in ("senter", "nm_parser_multihash"))
    pop_teacher(parser)
    for config in (senter, parser):
        pop(config, "components", config["nlp"].pop("pipeline")[1])
        pop(config, "training", "score_weights")
    assert senter == parser
