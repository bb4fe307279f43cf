"""Damaged and foreign model files: a clear error, and the parser is as it was."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import srsly
from spacy.language import Language

from tests.pipe.common import (
    assert_sound,
    bare,
    gold_doc,
    make_examples,
    make_nlp,
    model_config,
    train,
    tree,
)


@pytest.fixture(scope="module")
def saved(trained: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved")
    trained.get_pipe("nm_parser").to_disk(path)
    return path


@pytest.fixture(scope="module")
def other() -> Language:
    """Another trained parser, which the damaged files are loaded into."""
    nlp = make_nlp()
    train(nlp, make_examples(nlp.vocab, [[0], [1]]), steps=30)
    return nlp


@pytest.fixture
def unharmed(other: Language) -> Any:
    """Checks after the test that the other parser is what it was."""
    parser = other.get_pipe("nm_parser")
    before = parser.to_bytes()
    gold = gold_doc(other.vocab, [0])
    expected = tree(other(bare(gold)))
    yield parser
    assert parser.to_bytes() == before
    assert tree(other(bare(gold))) == expected
    assert parser.update(make_examples(other.vocab, [[0]]))["nm_parser"] >= 0


def copy_of(saved: Path, target: Path, **changed: bytes | None) -> Path:
    for name in ("parser.json", "model", "vocab"):
        data = changed.get(name.replace(".", "_"), (saved / name).read_bytes())
        if data is not None:
            (target / name).write_bytes(data)
    return target


def fails(parser: Any, path: Path, match: str = "nm_parser") -> None:
    with pytest.raises(ValueError, match=match) as error:
        parser.from_disk(path)
    assert "nm_parser" in str(error.value)


def test_the_files_are_sound(saved: Path, tmp_path: Path, trained: Language) -> None:
    nlp = make_nlp()
    nlp.get_pipe("nm_parser").from_disk(copy_of(saved, tmp_path))
    gold = gold_doc(nlp.vocab, [2])
    assert tree(nlp(bare(gold))) == tree(gold)


@pytest.mark.parametrize("name", ["parser.json", "model", "vocab"])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_truncated(saved: Path, tmp_path: Path, unharmed: Any, name: str, share: float) -> None:
    data = (saved / name).read_bytes()
    cut = data[: int(len(data) * share)]
    fails(unharmed, copy_of(saved, tmp_path, **{name.replace(".", "_"): cut}))


@pytest.mark.parametrize("name", ["parser.json", "model", "vocab"])
def test_missing(saved: Path, tmp_path: Path, unharmed: Any, name: str) -> None:
    fails(unharmed, copy_of(saved, tmp_path, **{name.replace(".", "_"): None}), name)


def test_missing_folder(tmp_path: Path, unharmed: Any) -> None:
    fails(unharmed, tmp_path / "nowhere", "nowhere")


def config(saved: Path, **changes: Any) -> bytes:
    content = json.loads((saved / "parser.json").read_text("utf8"))
    content.update(changes)
    return json.dumps(content).encode("utf8")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 99, "version": "9.9"}, r"9\.9.*format 99.*reads format 1.*train the model"),
        ({"format": None}, "format None"),
        ({"labels": None}, "does not describe a parser"),
        ({"labels": ["a", 3]}, "not all strings"),
        ({"labels": ["a", ""]}, "not all strings"),
        ({"labels": ["a"]}, "another configuration"),
        ({"cfg": 3}, "does not describe a parser"),
        ({"cfg": None}, "does not describe a parser"),
        ({"system": {"name": "swap"}}, "swap"),
        ({"system": 3}, "system 3"),
        ({"features": ["S0"]}, "features"),
    ],
)
def test_config_of_another_parser(
    saved: Path, tmp_path: Path, unharmed: Any, changes: dict[str, Any], message: str
) -> None:
    fails(unharmed, copy_of(saved, tmp_path, parser_json=config(saved, **changes)), message)


@pytest.mark.parametrize("content", [b"[]", b"3", b"null", b"{}", b"\xff\xfe", b"{"])
def test_config_that_is_none(saved: Path, tmp_path: Path, unharmed: Any, content: bytes) -> None:
    fails(unharmed, copy_of(saved, tmp_path, parser_json=content))


@pytest.mark.parametrize(
    "options",
    [
        {"hidden_width": 25},
        {"maxout_pieces": 3},
        {"tok2vec": {**model_config()["tok2vec"], "width": 16}},
        {"tok2vec": {**model_config()["tok2vec"], "depth": 2}},
    ],
)
def test_model_of_another_size(
    trained: Language, tmp_path: Path, saved: Path, options: dict[str, Any]
) -> None:
    """Also in a parser that has no weights yet, which then still loads what fits."""
    nlp = make_nlp(model=model_config(**options))
    parser = nlp.get_pipe("nm_parser")
    fails(parser, copy_of(saved, tmp_path), "another configuration")
    assert parser.labels == ()
    examples = make_examples(nlp.vocab)
    nlp.initialize(lambda: examples)
    expected = parser.to_bytes()
    again = make_nlp(model=model_config(**options)).get_pipe("nm_parser")
    fails(again, copy_of(saved, tmp_path), "another configuration")
    again.from_bytes(expected)
    assert again.to_bytes() == expected


def test_system_of_another_parser(trained: Language) -> None:
    system = {"@misc": "spacy_nmparse.ArcEager.v1", "nonmonotonic_left": False}
    other = make_nlp(system=system).get_pipe("nm_parser")
    with pytest.raises(ValueError, match="nonmonotonic_left"):
        other.from_bytes(trained.get_pipe("nm_parser").to_bytes())


def test_parameters_of_the_wrong_shape(saved: Path, tmp_path: Path, unharmed: Any) -> None:
    content = srsly.msgpack_loads((saved / "model").read_bytes())
    for name in ("word_W", "bias", "label_W", "move_W", "fact_rows"):
        broken = srsly.msgpack_loads((saved / "model").read_bytes())
        array = content["params"][0][name]
        broken["params"][0][name] = array[:-1]
        fails(unharmed, copy_of(saved, tmp_path, model=srsly.msgpack_dumps(broken)), name)


def test_damaged_bytes(trained: Language, unharmed: Any) -> None:
    data = trained.get_pipe("nm_parser").to_bytes()
    for bad in (b"", b"x", data[:-7], data[: len(data) // 2], srsly.msgpack_dumps({"a": 1})):
        with pytest.raises(ValueError, match="nm_parser"):
            unharmed.from_bytes(bad)


def test_random_damage(trained: Language, saved: Path, tmp_path: Path, other: Language) -> None:
    """A flipped byte either is an error or leaves a parser that parses."""
    rng = random.Random(0)
    gold = gold_doc(other.vocab, [0, 2])
    parser = other.get_pipe("nm_parser")
    before = parser.to_bytes()
    other_before = before
    failures = 0
    for name in ("parser.json", "model"):
        data = (saved / name).read_bytes()
        for _ in range(40):
            broken = bytearray(data)
            # The names and shapes of the model are in its first and last bytes.
            place = rng.randrange(min(len(data), 600))
            broken[place] = rng.randrange(256)
            path = copy_of(saved, tmp_path, **{name.replace(".", "_"): bytes(broken)})
            try:
                parser.from_disk(path)
            except ValueError as error:
                failures += 1
                assert "nm_parser" in str(error)
                assert parser.to_bytes() == before
            else:
                assert_sound(other(bare(gold)))
                before = parser.to_bytes()
    assert failures > 20
    parser.from_bytes(other_before)


def test_exclude(trained: Language, tmp_path: Path) -> None:
    parser = trained.get_pipe("nm_parser")
    parser.to_disk(tmp_path, exclude=["vocab", "model"])
    assert [path.name for path in tmp_path.iterdir()] == ["parser.json"]
    nlp = make_nlp()
    nlp.get_pipe("nm_parser").from_disk(tmp_path, exclude=["vocab", "model"])
    assert nlp.get_pipe("nm_parser").labels == parser.labels
    data = parser.to_bytes(exclude=["model"])
    assert len(data) < len(parser.to_bytes()) / 2
    with pytest.raises(ValueError, match="model is missing"):
        nlp.get_pipe("nm_parser").from_bytes(data)
    nlp.get_pipe("nm_parser").from_bytes(data, exclude=["model"])
