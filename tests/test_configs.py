"""The configs: complete, and different from one another in what they say they are."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from spacy.util import load_config, load_model_from_config

from spacy_nmparse import registered
from spacy_nmparse.scorers.affix_embed import AffixEmbed
from spacy_nmparse.scorers.arc_scorer import FEATURES, ArcScorer
from spacy_nmparse.scorers.state_scorer import StateScorer

CONFIGS = Path(__file__).resolve().parent.parent / "configs"
FACTORIES = ("nm_parser", "nl_covington_parser", "swap_parser")


def pop(config: Any, *keys: str) -> Any:
    for key in keys[:-1]:
        config = config[key]
    return config.pop(keys[-1])


@pytest.mark.parametrize("factory", FACTORIES)
def test_accuracy_differs_in_size_and_length_of_training(factory: str) -> None:
    names = (f"{factory}_accuracy", factory)
    accuracy, efficiency = (load_config(CONFIGS / f"{name}.cfg") for name in names)
    scorers = []
    for config in (accuracy, efficiency):
        assert config["components"]["parser"]["factory"] == factory
        scorers.append(pop(config, "components", "parser", "model"))
    assert scorers[0]["lstm_width"] > scorers[1].get("lstm_width", 0)
    assert {"@architectures", "tok2vec"} <= set(scorers[1]) < set(scorers[0])
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
    assert set(accurate) > set(efficient)
    assert accuracy == efficiency


def test_accuracy_adds_features_of_crossing_arcs() -> None:
    config = load_config(CONFIGS / "nl_covington_parser_accuracy.cfg")
    (layer, names), *others = config["components"]["parser"]["model"]["features"].items()
    assert layer == "pair" and not others
    assert names == [*FEATURES["pair"], "H-D.crossed", "H-D.headless"]


def test_fast_differs_in_sizes() -> None:
    names = ("nl_covington_parser_fast", "nl_covington_parser")
    fast, efficiency = (load_config(CONFIGS / f"{name}.cfg") for name in names)
    models = [config["components"]["parser"]["model"] for config in (fast, efficiency)]
    default = inspect.signature(ArcScorer).parameters
    smaller = set(models[0]) - set(models[1])
    widths = {"hidden_width", "context_width", "projection_width", "lstm_width"}
    assert smaller == {*widths, "lstm_depth"}
    for size in smaller:
        assert models[0].pop(size) < default[size].default
    assert fast == efficiency


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


OURS = (*FACTORIES, "nl_covington_parser_fast", "arc_swift")


@pytest.mark.parametrize(
    ("affixes", "multihash"),
    [*((name, f"{name}_multihash") for name in OURS), ("spacy_parser_affixes", "spacy_parser")],
)
def test_multihash_differs_in_the_embedding(affixes: str, multihash: str) -> None:
    configs = [load_config(CONFIGS / f"{name}.cfg") for name in (affixes, multihash)]
    embeds = [pop(config, "components", "tok2vec", "model", "embed") for config in configs]
    assert embeds[0].pop("@architectures") == "spacy_nmparse.AffixEmbed.v1"
    assert embeds[0] == {key: embeds[1][key] for key in ("width", "include_static_vectors")}
    assert embeds[1]["@architectures"] == "spacy.MultiHashEmbed.v2"
    if multihash == "nl_covington_parser_multihash":  # as its results were measured
        assert pop(configs[1], "components", "parser", "model", "lstm_depth") == 1
    assert configs[0] == configs[1]


def pop_teacher(config: Any) -> None:
    """spaCy's components learn from none."""
    assert pop(config, "paths", "teacher") is None
    assert pop(config, "initialize", "components", "parser")["teacher"] == "${paths.teacher}"


@pytest.mark.parametrize("name", OURS)
def test_parsers_compare_with_spacys(name: str) -> None:
    """All the same but for the component, on each embedding."""
    for own, other in ((name, "spacy_parser_affixes"), (f"{name}_multihash", "spacy_parser")):
        configs = [load_config(CONFIGS / f"{config}.cfg") for config in (own, other)]
        parsers = [pop(config, "components", "parser") for config in configs]
        pop_teacher(configs[0])
        assert configs[0] == configs[1]
        assert parsers[0]["model"]["tok2vec"] == parsers[1]["model"]["tok2vec"]
        assert parsers[1]["factory"] == "parser" != parsers[0]["factory"]


NAMES = (
    *OURS,
    *(f"{name}_multihash" for name in OURS),
    *(f"{factory}_accuracy" for factory in FACTORIES),
    "senter",
)


@pytest.mark.parametrize("name", NAMES)
def test_config_is_complete(name: str) -> None:
    config = load_config(CONFIGS / f"{name}.cfg", interpolate=True)
    nlp = load_model_from_config(config, auto_fill=True)
    first, last = nlp.pipe_names
    assert first == "tok2vec"
    filled = nlp.config["components"][last]["model"]
    written = config["components"][last]["model"]
    assert {key: filled[key] for key in written} == written
    encoder = config["components"]["tok2vec"]["model"]["encode"]
    assert written["tok2vec"]["width"] == encoder["width"]


def test_senter_trains_as_the_parsers() -> None:
    senter, parser = (
        load_config(CONFIGS / f"{name}.cfg") for name in ("senter", "nm_parser_multihash")
    )
    pop_teacher(parser)
    for config in (senter, parser):
        pop(config, "components", config["nlp"].pop("pipeline")[1])
        pop(config, "training", "score_weights")
    assert senter == parser
