"""Damaged and foreign model files: a clear error, and the parser is as it was."""

from __future__ import annotations

import json
import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
from spacy.language import Language

import spacy_nmparse
from spacy_nmparse.pipe.saving import CHECKSUMS, FILES, checksums
from tests.pipe.common import (
    NL,
    NM,
    SMALL,
    TOK2VEC,
    affix_tok2vec,
    arc_model_config,
    bare,
    gold_doc,
    learn,
    make_examples,
    make_nlp,
    model_config,
    parser_of,
    random_parser,
    seal,
    system,
    tiny_parser,
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
    learn(nlp, make_examples(nlp.vocab, [[0], [1]]))
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
    for name in FILES:
        data = changed.get(name.replace(".", "_"), (saved / name).read_bytes())
        if data is not None:
            (target / name).write_bytes(data)
    return target


def sealed_again(path: Path) -> Path:
    """With the checksums of what is there: not damaged, but another model."""
    parts = {file.name: file.read_bytes() for file in path.iterdir()}
    (path / CHECKSUMS).write_bytes(checksums(parts))
    return path


def fails(parser: Any, path: Path, match: str = "nm_parser") -> None:
    with pytest.raises(ValueError, match=match) as error:
        parser.from_disk(path)
    assert "nm_parser" in str(error.value)


def test_the_files_are_sound(saved: Path, tmp_path: Path, trained: Language) -> None:
    nlp = make_nlp()
    nlp.get_pipe("nm_parser").from_disk(copy_of(saved, tmp_path))
    gold = gold_doc(nlp.vocab, [2])
    assert tree(nlp(bare(gold))) == tree(gold)


@pytest.mark.parametrize("name", FILES)
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
        ({"format": 99, "version": "9.9"}, r"9\.9.*format 99.*format 1: load.*train it"),
        ({"format": None}, "format None"),
        ({"labels": None}, "not label data"),
        ({"labels": ["a", 3]}, "not label data"),
        ({"labels": ["a", ""]}, "not label data"),
        ({"labels": ["a"]}, "another configuration"),
        ({"cfg": 3}, "does not describe a parser"),
        ({"cfg": None}, "does not describe a parser"),
        ({"system": {"name": "swap"}}, "swap"),
        ({"system": 3}, "system 3"),
        ({"features": ["S0"]}, "features"),
        ({"tags": {"pos": ["NOUN", "NOUN"]}}, "'pos' are not distinct"),
        ({"tags": {"pos": [["NOUN"]]}}, "'pos' are not distinct"),
        ({"tags": {}, "tag_triples": [["NOUN"]]}, "is not a part of speech"),
        *(
            ({"cfg": {"temperatures": bad}}, "has the temperatures .* two numbers, each between")
            for bad in (
                *(None, 1.0, "ab", {}, [], [1.0], [1.0, 1.0, 1.0], [[1.0, 1.0]], ["1", "1"]),
                *([1.0, bad] for bad in (0, -1, 1e-9, 1e9, None, True, float("nan"), float("inf"))),
                *([bad, 1.0] for bad in (0.0, -0.5, float("nan"))),
            )
        ),
        *(
            ({"cfg": {"token_vectors": bad}}, "fingerprint of token vectors that is none")
            for bad in (
                *(None, 3, "abc", [], {}, [[1.0], [1.0]], [[1.0], [1.0, 2.0], [1.0]]),
                *([[1.0], [1.0], [bad]] for bad in (0.0, -1.0, None, "x", float("nan"))),
                *([[float("inf")], [1.0], [1.0]], [["x"], [1.0], [1.0]], [1.0, 1.0, [1.0]]),
            )
        ),
        ({"settings": [1]}, r"the settings \[1\], which are no table"),
        ({"settings": {"beam_with": {"configured": 1, "set": 8}}}, "setting 'beam_with', which"),
        ({"settings": {"name": {"configured": 1, "set": 8}}}, "setting 'name', which"),
        ({"settings": {"beam_width": 8}}, "8 as beam_width, not an integer of at least 1"),
        ({"settings": {"beam_width": {"set": 0}}}, "as beam_width, not an integer of at least 1"),
    ],
)
def test_config_of_another_parser(
    saved: Path, tmp_path: Path, unharmed: Any, changes: dict[str, Any], message: str
) -> None:
    path = copy_of(saved, tmp_path, parser_json=config(saved, **changes))
    fails(unharmed, path)
    fails(unharmed, sealed_again(path), message)


@pytest.mark.parametrize("content", [b"[]", b"3", b"null", b"{}", b"\xff\xfe", b"{"])
def test_config_that_is_none(saved: Path, tmp_path: Path, unharmed: Any, content: bytes) -> None:
    path = copy_of(saved, tmp_path, parser_json=content)
    fails(unharmed, sealed_again(path), "does not describe a parser")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"system": system("ArcEager", nonmonotonic_left=False)}, "nonmonotonic_left"),
        *(
            ({"model": model_config(**options)}, "another configuration")
            for options in (
                {"hidden_width": 25},
                {"maxout_pieces": 3},
                {"tok2vec": {**TOK2VEC, "width": 16}},
                {"tok2vec": {**TOK2VEC, "depth": 2}},
            )
        ),
        ({"factory": NL, "system": system("NLCovington", explicit_root=False)}, "explicit_root"),
        ({"factory": NL, "system": system("Covington")}, "covington"),
        ({"factory": NL, "model": arc_model_config(features=None)}, "features"),
        *(
            ({"factory": NL, "model": arc_model_config(**options)}, "another configuration")
            for options in (
                {"hidden_width": 25},
                {"arc_width": 32},
                {"recurrent_width": 13},
                {"recurrent_width": 0},
            )
        ),
    ],
)
def test_a_model_of_another_configuration(config: dict[str, Any], message: str) -> None:
    """Also in a parser that has no weights yet, which then still loads what fits."""
    factory = config.get("factory", NM)
    foreign = parser_of(random_parser(1, factory=factory)).to_bytes()
    new, nlp = make_nlp(**config), make_nlp(**config)
    nlp.initialize(lambda: make_examples(nlp.vocab))
    expected = parser_of(nlp).to_bytes()
    for parser in (parser_of(new), parser_of(nlp)):
        before = parser.labels
        with pytest.raises(ValueError, match=message):
            parser.from_bytes(foreign)
        assert parser.labels == before
    assert parser_of(nlp).to_bytes() == expected
    parser_of(new).from_bytes(expected)
    assert parser_of(new).to_bytes() == expected


@pytest.mark.parametrize("factory", SMALL)
def test_parameters_of_the_wrong_shape(factory: str) -> None:
    """Whoever wrote the model's file: no layer reads beyond the end of its weights."""
    parser = parser_of(tiny_parser(factory, 1))
    parts = srsly.msgpack_loads(parser.to_bytes(exclude=["vocab"]))
    content = srsly.msgpack_loads(parts["model"])
    params = content["params"]
    places = [(n, name) for n, all_ in enumerate(params) for name in all_ if all_[name] is not None]
    assert len(places) > 12
    for number, (node, name) in enumerate(places):
        array = content["params"][node][name]
        bads = (array[:-1], array[..., None], array.astype("float64"), None)
        broken = {**content, "params": [dict(all_) for all_ in content["params"]]}
        broken["params"][node][name] = bads[number % 4]
        damaged = {**parts, "model": srsly.msgpack_dumps(broken)}
        with pytest.raises(ValueError, match="model is not the one that was saved"):
            parser.from_bytes(srsly.msgpack_dumps(damaged), exclude=["vocab"])
        seal(damaged)
        with pytest.raises(ValueError, match=f"{name} have the shape|{name} are|{name} of"):
            parser.from_bytes(srsly.msgpack_dumps(damaged), exclude=["vocab"])
    assert srsly.msgpack_loads(parser.to_bytes(exclude=["vocab"])) == parts


@pytest.mark.parametrize("factory", SMALL)
def test_sizes_ask_for_no_memory(factory: str) -> None:
    """Lengths in a file, and dimensions of layers, whoever wrote them: nothing makes room for more
    than the file has."""
    parser = parser_of(tiny_parser(factory, 1))
    before = parser.to_bytes()
    parts = srsly.msgpack_loads(before)
    content = srsly.msgpack_loads(parts["model"])
    tracemalloc.start()
    models = [head + b"\x7f\xff\xff\xff" for head in (b"\xc6", b"\xc9", b"\xdb", b"\xdd", b"\xdf")]
    sized = [place for place, node in enumerate(content["nodes"]) if any(node["dims"].values())]
    for place in sized[::4]:
        nodes = [*content["nodes"]]
        nodes[place] = {**nodes[place], "dims": dict.fromkeys(nodes[place]["dims"], 10**11)}
        models.append(srsly.msgpack_dumps({**content, "nodes": nodes}))
    array = {b"nd": True, b"type": "<f4", b"kind": b"", b"shape": (10**11,), b"data": bytes(8)}
    params = [{**params, "b": array} for params in content["params"]]
    models.append(srsly.msgpack_dumps({**content, "params": params}))
    assert len(models) > 8
    for model in models:
        damaged = {**parts, "model": model}
        seal(damaged)
        with pytest.raises(ValueError, match="the model is damaged"):
            parser.from_bytes(srsly.msgpack_dumps(damaged))
    for head in models[:5]:
        seal(damaged := {**parts, "vocab": head})
        with pytest.raises(ValueError, match="vocab is damaged"):
            parser.from_bytes(srsly.msgpack_dumps(damaged))
        with pytest.raises(ValueError, match="cannot load its bytes"):
            parser.from_bytes(head)
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()
    assert parser.to_bytes() == before


@pytest.mark.parametrize("factory", SMALL)
def test_attributes_that_layers_cannot_have(factory: str) -> None:
    """Whoever wrote the model's file: no layer is run with them."""
    model = {**SMALL[factory]["model"], "tok2vec": affix_tok2vec(), "recurrent_width": 4}
    parser = parser_of(random_parser(1, factory=factory, model=model))
    parts = srsly.msgpack_loads(before := parser.to_bytes(exclude=["vocab"]))
    content = srsly.msgpack_loads(parts["model"])
    places = [(i, name) for i, attrs in enumerate(content["attrs"]) for name in attrs]
    assert len(places) > 15
    for i, name in places:
        for bad in (None, "x", -1, float("nan"), float("inf"), [], {}, [-1], b"x"):
            value = srsly.msgpack_dumps(bad)
            if value == content["attrs"][i][name]:
                continue
            altered = {**content, "attrs": [dict(attrs) for attrs in content["attrs"]]}
            altered["attrs"][i][name] = value
            seal(damaged := {**parts, "model": srsly.msgpack_dumps(altered)})
            with pytest.raises(ValueError, match=f"{name} |features|tags of sizes"):
                parser.from_bytes(srsly.msgpack_dumps(damaged), exclude=["vocab"])
    assert parser.to_bytes(exclude=["vocab"]) == before


def test_attributes_that_are_not_those_of_the_configuration() -> None:
    """Some are settings, of which what was saved holds; of others the weights are made."""
    config: Any = {"factory": NL, "model": arc_model_config(tok2vec=affix_tok2vec())}
    source, parser = (parser_of(random_parser(seed, **config)) for seed in (0, 1))
    embed = next(node for node in source.model.walk() if node.name == "nmparse_affix_embed")
    source.model.attrs["n_pairs"], embed.attrs["word_dropout"] = 0, 0.5
    parser.from_bytes(source.to_bytes())
    assert parser.model.attrs["n_pairs"] == 0
    assert parser.to_bytes() == source.to_bytes()
    embed.attrs["suffixes"] = [1, 2, 3, 4, 5, 6, 7]
    with pytest.raises(ValueError, match=r"suffixes of the layer nmparse_affix_embed cannot be \["):
        parser.from_bytes(source.to_bytes())


def test_spacys_embedding_of_characters() -> None:
    embed = {"@architectures": "spacy.CharacterEmbed.v2", "width": 16, "rows": 50, "nM": 4, "nC": 3}
    embed |= {"include_static_vectors": False, "feature": "LOWER"}
    model = model_config(tok2vec={**affix_tok2vec(), "embed": embed})
    parsers = [parser_of(random_parser(seed, model=model)) for seed in (0, 1)]
    parsers[1].from_bytes(parsers[0].to_bytes())
    assert parsers[1].to_bytes() == parsers[0].to_bytes()


def test_a_reference_to_another_layer(unharmed: Any) -> None:
    parts = srsly.msgpack_loads(unharmed.to_bytes())
    content = srsly.msgpack_loads(parts["model"])
    refs = content["nodes"][0]["refs"]
    refs["tagging"], refs["reading"] = refs["reading"], refs["tagging"]
    seal(parts := {**parts, "model": srsly.msgpack_dumps(content)})
    with pytest.raises(ValueError, match="its layers have other names"):
        unharmed.from_bytes(srsly.msgpack_dumps(parts))


def test_a_reference_too_many(trained: Language, unharmed: Any) -> None:
    """Thinc takes the references that a file names: the parser does not keep them."""
    parts = srsly.msgpack_loads(trained.get_pipe("nm_parser").to_bytes())
    content = srsly.msgpack_loads(parts["model"])
    content["nodes"][0]["refs"]["surplus"] = 0
    parts["model"] = srsly.msgpack_dumps(content)
    seal(parts)
    with pytest.raises(ValueError, match="its layers have other names"):
        unharmed.from_bytes(srsly.msgpack_dumps(parts))
    assert "surplus" not in unharmed.model.ref_names


def test_a_vocabulary_that_is_none(trained: Language, unharmed: Any) -> None:
    """Whoever has written it, and whatever its checksum is."""
    parts = srsly.msgpack_loads(trained.get_pipe("nm_parser").to_bytes())
    seal(parts := {**parts, "vocab": b"x"})
    with pytest.raises(ValueError, match="vocab is damaged"):
        unharmed.from_bytes(srsly.msgpack_dumps(parts))
    with pytest.raises(ValueError, match="vocab is not the one"):
        unharmed.from_bytes(srsly.msgpack_dumps({**parts, "vocab": "x"}))


@pytest.mark.parametrize("content", [None, b"", b"{", b"3", b"[1]", b"null"])
def test_without_checksums(trained: Language, unharmed: Any, content: bytes | None) -> None:
    parts = srsly.msgpack_loads(trained.get_pipe("nm_parser").to_bytes())
    parts[CHECKSUMS] = content
    with pytest.raises(ValueError, match=f"nm_parser.*{CHECKSUMS} is missing or damaged"):
        unharmed.from_bytes(srsly.msgpack_dumps(parts))


@pytest.mark.parametrize("factory", SMALL)
def test_loading_executes_nothing(
    factory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No pickle, in no file; and what would be one is refused."""
    nlp = tiny_parser(factory, 1)
    nlp.to_disk(tmp_path)
    files = {path.name for path in (tmp_path / nlp.pipe_names[0]).iterdir()}
    assert files == {"model", "parser.json", CHECKSUMS}

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("something was unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    parser = parser_of(spacy.load(tmp_path))
    assert parser.to_bytes() == parser_of(nlp).to_bytes()
    parts = srsly.msgpack_loads(parser.to_bytes())
    model = srsly.msgpack_loads(parts["model"])
    model["params"][0]["label_W"] = {b"nd": True, b"type": "|O", b"kind": b"", b"shape": (1,)} | {
        b"data": pickle.dumps(print)
    }
    parts["model"] = srsly.msgpack_dumps(model)
    seal(parts)
    with pytest.raises(ValueError, match="the model is damaged"):
        parser.from_bytes(srsly.msgpack_dumps(parts))


def test_the_package_knows_no_pickle() -> None:
    folder = Path(spacy_nmparse.__file__).parent
    sources = [*folder.rglob("*.py"), *folder.rglob("*.pyx")]
    assert len(sources) > 60
    for path in sources:
        text = path.read_text(encoding="utf8")
        for word in ("import pickle", "cloudpickle", "dill", "joblib", "allow_pickle", "eval("):
            assert word not in text, path


def test_exclude(trained: Language, tmp_path: Path) -> None:
    parser = trained.get_pipe("nm_parser")
    parser.to_disk(tmp_path, exclude=["vocab", "model"])
    assert {path.name for path in tmp_path.iterdir()} == {"parser.json", CHECKSUMS}
    nlp = make_nlp()
    nlp.get_pipe("nm_parser").from_disk(tmp_path, exclude=["vocab", "model"])
    assert nlp.get_pipe("nm_parser").labels == parser.labels
    data = parser.to_bytes(exclude=["model"])
    assert len(data) < len(parser.to_bytes()) / 2
    nlp.get_pipe("nm_parser").from_bytes(data)
    incomplete = srsly.msgpack_loads(parser.to_bytes())
    del incomplete["model"]
    with pytest.raises(ValueError, match="model is missing"):
        nlp.get_pipe("nm_parser").from_bytes(srsly.msgpack_dumps(incomplete))
    nlp.get_pipe("nm_parser").from_bytes(data, exclude=["model"])
    data = parser.to_bytes(exclude=["parser.json", "vocab"])
    assert set(srsly.msgpack_loads(data)) == {"model", CHECKSUMS}
    nlp.get_pipe("nm_parser").from_bytes(data, exclude=["parser.json", "vocab"])
    assert nlp.get_pipe("nm_parser").to_bytes() == parser.to_bytes()
    nlp.get_pipe("nm_parser").from_bytes(parser.to_bytes(), exclude=["parser.json"])
