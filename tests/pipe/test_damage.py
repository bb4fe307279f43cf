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
from spacy_nmparse.pipe.saving import CHECKSUMS, FILES
from tests.pipe.common import (
    NL,
    NM,
    SMALL,
    TOK2VEC,
    affix_tok2vec,
    altered,
    arc_model_config,
    bare,
    gold_doc,
    make_examples,
    make_nlp,
    model_config,
    parser_of,
    random_parser,
    ready,
    seal,
    system,
    tiny_parser,
    tree,
)

SMALL_AFFIXES = affix_tok2vec(rows=20, affix_rows=20)


@pytest.fixture(scope="module")
def other() -> Language:
    """Another parser, which the damaged files are loaded into."""
    return random_parser(1)


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


def fails(parser: Any, given: Path | bytes, match: str = "nm_parser") -> None:
    with pytest.raises(ValueError, match=match) as error:
        (parser.from_bytes if isinstance(given, bytes) else parser.from_disk)(given)
    assert "nm_parser" in str(error.value)


@pytest.mark.parametrize("name", [*FILES, None])
def test_missing(trained: Language, tmp_path: Path, unharmed: Any, name: str | None) -> None:
    """A file, or all of them."""
    if name is None:
        fails(unharmed, tmp_path / "nowhere", "nowhere")
    else:
        parser_of(trained).to_disk(tmp_path)
        (tmp_path / name).unlink()
        fails(unharmed, tmp_path, name)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 99, "version": "9.9"}, r"9\.9.*format 99.*format 1: load.*train it"),
        ({"format": None}, "format None"),
        *(({"labels": bad}, "not label data") for bad in (None, ["a", 3], ["a", ""])),
        ({"labels": ["a"]}, "another configuration"),
        *(
            (bad, "does not describe a parser")
            for bad in ({"cfg": 3}, {"cfg": None}, b"[]", b"3", b"null", b"{}", b"\xff\xfe", b"{")
        ),
        ({"system": {"name": "swap"}}, "swap"),
        ({"system": 3}, "system 3"),
        ({"features": ["S0"]}, "features"),
        *(
            ({"tags": {"pos": bad}}, "'pos' are not distinct")
            for bad in (["NOUN", "NOUN"], [["NOUN"]])
        ),
        ({"tags": {"POS": ["NOUN", "VERB"]}}, "tags of sizes"),
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
        *(
            ({"settings": {name: {"configured": 1, "set": 8}}}, f"setting '{name}', which")
            for name in ("beam_with", "name")
        ),
        ({"settings": {"beam_width": 8}}, "8 as beam_width, not an integer of at least 1"),
        ({"settings": {"beam_width": {"set": 0}}}, "as beam_width, not an integer of at least 1"),
    ],
)
def test_config_of_another_parser(
    trained: Language, unharmed: Any, changes: Any, message: str
) -> None:
    """Damaged, and with the checksums of what is there; changes may be the file's content."""
    parts = srsly.msgpack_loads(parser_of(trained).to_bytes())
    if isinstance(changes, dict):
        changes = json.dumps({**json.loads(parts["parser.json"]), **changes}).encode("utf8")
    parts["parser.json"] = changes
    fails(unharmed, srsly.msgpack_dumps(parts))
    seal(parts)
    fails(unharmed, srsly.msgpack_dumps(parts), message)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"system": system("ArcEager", nonmonotonic_left=False)}, "nonmonotonic_left"),
        *(
            ({"model": model_config(**options)}, "another configuration")
            for options in (
                *({"hidden_width": 25}, {"maxout_pieces": 3}),
                *({"tok2vec": {**TOK2VEC, key: 16}} for key in ("width", "depth")),
            )
        ),
        ({"factory": NL, "system": system("NLCovington", explicit_root=False)}, "explicit_root"),
        ({"factory": NL, "system": system("Covington")}, "covington"),
        ({"factory": NL, "model": arc_model_config(features=None)}, "features"),
        *(
            ({"factory": NL, "model": arc_model_config(**{key: size})}, "another configuration")
            for key, size in (
                *(("hidden_width", 25), ("arc_width", 32)),
                *(("recurrent_width", 13), ("recurrent_width", 0)),
            )
        ),
    ],
)
def test_a_model_of_another_configuration(config: dict[str, Any], message: str) -> None:
    """Also in a parser that has no weights yet, which then still loads what fits."""
    foreign = parser_of(random_parser(1, factory=config.get("factory", NM))).to_bytes()
    new, nlp = make_nlp(**config), ready(**config)[0]
    expected = parser_of(nlp).to_bytes()
    for parser in (parser_of(new), parser_of(nlp)):
        before = parser.labels
        with pytest.raises(ValueError, match=message):
            parser.from_bytes(foreign)
        assert parser.labels == before
    assert parser_of(nlp).to_bytes() == expected
    parser_of(new).from_bytes(expected)
    assert parser_of(new).to_bytes() == expected


@pytest.mark.parametrize("factory", [NM, NL])
def test_parameters_of_the_wrong_shape(factory: str) -> None:
    """Whoever wrote the model's file: no layer reads beyond the end of its weights."""
    parser = parser_of(tiny_parser(factory, 1))
    parts = srsly.msgpack_loads(before := parser.to_bytes())
    content = srsly.msgpack_loads(parts["model"])
    params = [*content["params"]]
    places = [(n, name) for n, all_ in enumerate(params) for name in all_ if all_[name] is not None]
    assert len(places) > 12
    for number, (node, name) in enumerate(places):
        array = params[node][name]
        bad = (array[:-1], array[..., None], array.astype("float64"), None)[number % 4]
        content["params"][node] = {**params[node], name: bad}
        broken = altered(before, model=content)
        content["params"][node] = params[node]
        damaged = {**srsly.msgpack_loads(broken), CHECKSUMS: parts[CHECKSUMS]}
        with pytest.raises(ValueError, match="model is not the one that was saved"):
            parser.from_bytes(srsly.msgpack_dumps(damaged))
        with pytest.raises(ValueError, match=f"{name} have the shape|{name} are|{name} of"):
            parser.from_bytes(broken)
    assert parser.to_bytes() == before


@pytest.mark.parametrize("factory", [NM, NL])
def test_sizes_ask_for_no_memory(factory: str) -> None:
    """Lengths and dimensions in a file: nothing makes room for more than the file has."""
    parser = parser_of(tiny_parser(factory, 1))
    before = parser.to_bytes()
    content = srsly.msgpack_loads(srsly.msgpack_loads(before)["model"])
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
    damaged = [("the model is damaged", altered(before, model=model)) for model in models]
    damaged += [("vocab is damaged", altered(before, vocab=head)) for head in models[:5]]
    damaged += [("cannot load its bytes", head) for head in models[:5]]
    for message, data in damaged:
        with pytest.raises(ValueError, match=message):
            parser.from_bytes(data)
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()
    assert parser.to_bytes() == before


@pytest.mark.parametrize("factory", [NM, NL])
def test_attributes_that_layers_cannot_have(factory: str) -> None:
    """Whoever wrote the model's file: no layer is run with them."""
    model = {**SMALL[factory]["model"], "tok2vec": SMALL_AFFIXES, "recurrent_width": 4}
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
            other = {**content, "attrs": [dict(attrs) for attrs in content["attrs"]]}
            other["attrs"][i][name] = value
            seal(damaged := {**parts, "model": srsly.msgpack_dumps(other)})
            with pytest.raises(ValueError, match=f"{name} |features|tags of sizes"):
                parser.from_bytes(srsly.msgpack_dumps(damaged), exclude=["vocab"])
    assert parser.to_bytes(exclude=["vocab"]) == before


def test_attributes_that_are_not_those_of_the_configuration() -> None:
    """Some are settings, of which what was saved holds; of others the weights are made."""
    config: Any = {"factory": NL, "model": arc_model_config(tok2vec=SMALL_AFFIXES)}
    source, parser = (parser_of(random_parser(seed, **config)) for seed in (0, 1))
    embed = next(node for node in source.model.walk() if node.name == "nmparse_affix_embed")
    source.model.attrs["n_pairs"], embed.attrs["word_dropout"] = 0, 0.5
    parser.from_bytes(source.to_bytes())
    assert parser.model.attrs["n_pairs"] == 0
    assert parser.to_bytes() == source.to_bytes()
    embed.attrs["suffixes"] = [1, 2, 3, 4, 5, 6, 7]
    with pytest.raises(ValueError, match=r"suffixes of the layer nmparse_affix_embed cannot be \["):
        parser.from_bytes(source.to_bytes())
    spacys = {"@architectures": "spacy.CharacterEmbed.v2", "width": 16, "rows": 50}
    spacys |= {"nM": 4, "nC": 3, "include_static_vectors": False, "feature": "LOWER"}
    model = model_config(tok2vec={**affix_tok2vec(), "embed": spacys})
    source, parser = (parser_of(random_parser(seed, model=model)) for seed in (0, 1))
    assert parser.from_bytes(source.to_bytes()).to_bytes() == source.to_bytes()


def test_a_reference_to_another_layer(trained: Language, unharmed: Any) -> None:
    """Exchanged, or one too many: Thinc takes the references that a file names."""

    def exchanged(content: Any) -> None:
        refs = content["nodes"][0]["refs"]
        refs["tagging"], refs["reading"] = refs["reading"], refs["tagging"]

    def surplus(content: Any) -> None:
        content["nodes"][0]["refs"]["surplus"] = 0

    for parser, change in ((unharmed, exchanged), (parser_of(trained), surplus)):
        fails(unharmed, altered(parser, model=change), "its layers have other names")
    assert "surplus" not in unharmed.model.ref_names


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers(unharmed: Any, value: float) -> None:
    def change(content: Any) -> None:
        content["params"][0]["move_b"] = content["params"][0]["move_b"] * value

    message = "weights move_b of the layer state_scorer are infinite"
    fails(unharmed, altered(unharmed, model=change), message)


def test_a_vocabulary_that_is_none(trained: Language, unharmed: Any) -> None:
    """Whoever has written it, and whatever its checksum is."""
    fails(unharmed, altered(parser_of(trained), vocab=b"x"), "vocab is damaged")
    parts = srsly.msgpack_loads(parser_of(trained).to_bytes())
    fails(unharmed, srsly.msgpack_dumps({**parts, "vocab": "x"}), "vocab is not the one")


@pytest.mark.parametrize("content", [None, b"", b"{", b"3", b"[1]", b"null"])
def test_without_checksums(trained: Language, unharmed: Any, content: bytes | None) -> None:
    parts = {**srsly.msgpack_loads(parser_of(trained).to_bytes()), CHECKSUMS: content}
    message = f"nm_parser.*{CHECKSUMS} is missing or damaged"
    fails(unharmed, srsly.msgpack_dumps(parts), message)


@pytest.mark.parametrize("factory", [NM, NL])
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
    array = {b"nd": True, b"type": "|O", b"kind": b"", b"shape": (1,)}
    array[b"data"] = pickle.dumps(print)
    data = altered(parser, model=lambda content: content["params"][0].update(label_W=array))
    with pytest.raises(ValueError, match="the model is damaged"):
        parser.from_bytes(data)


def test_the_package_knows_no_pickle() -> None:
    folder = Path(spacy_nmparse.__file__).parent
    sources = [*folder.rglob("*.py"), *folder.rglob("*.pyx")]
    assert len(sources) > 60
    for path in sources:
        text = path.read_text(encoding="utf8")
        for word in ("import pickle", "cloudpickle", "dill", "joblib", "allow_pickle", "eval("):
            assert word not in text, path


def test_exclude(trained: Language, tmp_path: Path) -> None:
    parser, other = parser_of(trained), parser_of(make_nlp())
    parser.to_disk(tmp_path, exclude=["vocab", "model"])
    assert {path.name for path in tmp_path.iterdir()} == {"parser.json", CHECKSUMS}
    other.from_disk(tmp_path, exclude=["vocab", "model"])
    assert other.labels == parser.labels
    data = parser.to_bytes(exclude=["model"])
    assert len(data) < len(parser.to_bytes()) / 2
    other.from_bytes(data)
    incomplete = srsly.msgpack_loads(parser.to_bytes())
    del incomplete["model"]
    with pytest.raises(ValueError, match="model is missing"):
        other.from_bytes(srsly.msgpack_dumps(incomplete))
    other.from_bytes(data, exclude=["model"])
    data = parser.to_bytes(exclude=["parser.json", "vocab"])
    assert set(srsly.msgpack_loads(data)) == {"model", CHECKSUMS}
    other.from_bytes(data, exclude=["parser.json", "vocab"])
    assert other.to_bytes() == parser.to_bytes()
    other.from_bytes(parser.to_bytes(), exclude=["parser.json"])
