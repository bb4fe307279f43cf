"""Settings of the component: from configs, set later, and wrong ones."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language

from spacy_nmparse.pipe.schedule import Chance
from tests.pipe.common import (
    NL,
    NM,
    SMALL,
    knows_the_trees,
    make_examples,
    make_nlp,
    model_config,
    overfitted,
    parser_of,
    random_parser,
    system,
    train,
    with_learning,
)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"oracle": "wise"}, r"wise.*dynamic"),
        ({"explore": 1.5}, r"explore.*1\.5"),
        ({"explore": -0.1}, r"explore.*-0\.1"),
        ({"share": 2.0}, r"share.*2\.0"),
        ({"update": "global"}, r"one of max_violation, early_update, latent as update"),
        ({"width": 0}, r"at least 1 as width, not 0"),
        ({"system": system("ArcEager", swift=True)}, r"swift"),
        ({"model": model_config(features=["S0", "Q7"])}, r"Q7"),
        ({"model": model_config(hidden_width=0)}, r"hidden_width"),
        ({"model": model_config(maxout_pieces=0)}, r"maxout_pieces"),
        ({"model": model_config(nothing=1)}, r"nothing"),
        ({"nothing": 1}, r"nothing"),
        ({"factory": NL, "oracle": "combined"}, r"combined"),
        ({"factory": NL, "system": system("NLCovington", max_length=-1)}, r"max_length.*-1"),
    ],
)
def test_wrong_options(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as error:
        make_nlp(**config)
    assert re.search(message, str(error.value), re.S), error.value
    if not {"model", "system", "explore", "share"} & {*config}:  # made before the component
        assert config.get("factory", NM) in str(error.value)


#: The default, another value.
VALUES: dict[str, tuple[Any, Any]] = {
    "beam_width": (1, 4),
    "childless_labels": ([], ["det"]),
    "confidence": (False, True),
    "crossing_bias": (0.0, -0.5),
    "keep_heads": (False, True),
    "max_sentence": (1000, 50),
    "threads": (1, 2),
    "unique_labels": ([], ["nsubj"]),
    "write_tags": (False, True),
}
DEFAULTS, SETTINGS = ({key: pair[i] for key, pair in VALUES.items()} for i in (0, 1))


@pytest.mark.parametrize("factory", SMALL)
def test_settings(factory: str, tmp_path: Path) -> None:
    """Those of the config that a pipeline is made or loaded with, whatever it was saved with."""
    nlp = spacy.blank("xx")
    nlp.add_pipe(factory, name="a")
    nlp.add_pipe(factory, name="b", config=with_learning({**SETTINGS, "share": 0.5}))
    nlp.initialize()
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    other = spacy.load(tmp_path, config={"components": {"a": SETTINGS}})
    for one, name, settings in (
        (again, "a", DEFAULTS),
        (again, "b", SETTINGS),
        (other, "a", SETTINGS),
    ):
        block = one.config["components"][name]
        assert {key: block[key] for key in settings} == settings
        assert {key: getattr(one.get_pipe(name), key) for key in settings} == settings
    learning: list[Any] = [again.get_pipe(name).learning for name in ("a", "b")]  # type: ignore[attr-defined]
    assert not hasattr(learning[0], "share") and learning[1].share.next() == 0.5


@pytest.mark.parametrize("factory", SMALL)
def test_learning_does_not_look_at_them(factory: str) -> None:
    weights = []
    for settings in (DEFAULTS, SETTINGS):
        nlp = make_nlp(factory=factory, **settings)
        train(nlp, make_examples(nlp.vocab), steps=3)
        weights.append(parser_of(nlp).model.to_bytes())
    assert weights[0] == weights[1]


@pytest.mark.parametrize("as_bytes", [False, True])
def test_settings_that_were_changed(as_bytes: bool, tmp_path: Path) -> None:
    """They are saved; a configuration that says otherwise than the saved one holds."""

    def saved_and_loaded(nlp: Language, **config: Any) -> Any:
        if not as_bytes:
            nlp.to_disk(tmp_path)
            return parser_of(spacy.load(tmp_path, config={"components": {NM: config}}))
        other = parser_of(make_nlp(**{"crossing_bias": 0.5, **config}))
        return other.from_bytes(parser_of(nlp).to_bytes())

    nlp = random_parser(crossing_bias=0.5)
    parser = parser_of(nlp)
    before = parser.to_bytes()
    assert b'"settings"' not in before
    for key, value in SETTINGS.items():
        setattr(parser, key, value)
    again = saved_and_loaded(nlp)
    assert {key: getattr(again, key) for key in SETTINGS} == SETTINGS
    assert again.to_bytes() == parser.to_bytes()
    other = saved_and_loaded(nlp, beam_width=2, crossing_bias=1.0)
    assert (other.beam_width, other.crossing_bias, other.threads) == (2, 1.0, 2)
    for key, value in {**DEFAULTS, "crossing_bias": 0.5}.items():
        setattr(parser, key, value)
    assert parser.to_bytes() == before


@pytest.mark.parametrize(
    ("setting", "values"),
    [
        ("beam_width", (0, -1, True, 1.5)),
        ("confidence", ("yes", 1)),
        ("crossing_bias", (float("nan"), float("-inf"), 1e39, 10**400, True, "much", None)),
        ("max_sentence", (-1, 1.5, True, "8")),
        ("threads", (0, True, 1.5)),
        ("write_tags", ("yes",)),
    ],
)
def test_wrong_settings(setting: str, values: Sequence[Any]) -> None:
    """In a config, and when they are set later: then nothing changes. And misspelt ones."""
    nlp = make_nlp()
    parser = parser_of(nlp)
    for value in values:
        with pytest.raises(ValueError):
            make_nlp(**{setting: value})
        message = f"'nm_parser' takes .* as {setting}, not {re.escape(repr(value))}"
        with pytest.raises(ValueError, match=message):
            setattr(parser, setting, value)
        assert getattr(parser, setting) == DEFAULTS[setting]
    setattr(parser, setting, SETTINGS[setting])
    assert getattr(parser, setting) == SETTINGS[setting]
    with pytest.raises(AttributeError, match=r"'beam_with'\. Did you mean beam_width"):
        parser.beam_with = 4
    with pytest.raises(AttributeError, match=r"no setting 'xyz'\.$"):
        parser.xyz = 4
    parser.learning = parser.learning  # no setting that is checked, but declared
    nlp.set_error_handler(lambda *_: None)


@pytest.mark.parametrize("factory", SMALL)
def test_warns_of_exploration_with_a_static_oracle(factory: str) -> None:
    """Once, when the component is made; not where training keeps to the oracle's path."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for explore in (0, 0.0, [0.0, 0.5]):
            make_nlp(factory=factory, oracle="static", explore=explore)
        make_nlp(factory=factory, oracle="dynamic", explore=1.0)
        assert [str(one.message) for one in caught if "static" in str(one.message)] == []
        nlp = make_nlp("one", factory=factory, oracle="static", explore=1.0)
        train(nlp, make_examples(nlp.vocab), 2)
    (message,) = (str(one.message) for one in caught if "static" in str(one.message))
    assert "'one'" in message and "explore = 1.0" in message and "Set explore = 0" in message


def test_schedules_of_exploration() -> None:
    explore = Chance([0.0, 0.5, 1.0], "explore")
    assert [explore.next() for _ in range(5)] == [0.0, 0.5, 1.0, 1.0, 1.0]
    explore.restart()
    assert explore.next() == 0.0
    assert copy.deepcopy(explore).next() == 0.0
    assert [Chance(repeat(0.25), "explore").next() for _ in range(2)] == [0.25, 0.25]
    with pytest.raises(ValueError, match="7"):
        Chance([7], "explore").next()
    schedule = {"@schedules": "compounding.v1", "start": 0.1, "stop": 0.9, "compound": 2}
    assert knows_the_trees(overfitted(explore=schedule))
