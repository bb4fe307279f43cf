"""Saving that fails, or is cut short, leaves what was there before."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.training.loop import create_before_to_disk_callback
from spacy.util import registry

from spacy_nmparse.pipe import files
from spacy_nmparse.pipe.files import make_safe, replace_folder, safe_to_disk
from spacy_nmparse.pipe.saving import FILES
from tests.pipe.common import make_nlp, model_config, parser_of, random_parser, tree

TEXT = "She saw the cat . I like London"


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def old() -> Language:
    return random_parser(1)


@pytest.fixture(scope="module")
def new() -> Language:
    return random_parser(2)


# A full disk


@contextmanager
def small_files(size: int) -> Iterator[None]:
    """No file can grow beyond a size: what lies beyond it is an OSError, as on a full disk."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.skipif(os.name != "posix", reason="limits the size of files")
@pytest.mark.parametrize("share", [0.0, 0.2, 0.9, 0.9999])
def test_a_full_disk(old: Language, new: Language, tmp_path: Path, share: float) -> None:
    folder, pipeline = tmp_path / "parser", tmp_path / "pipeline"
    parser_of(old).to_disk(folder)
    safe_to_disk(old, pipeline)
    before, pipeline_before = content(folder), content(pipeline)
    size = int(share * len(before["model"]))
    with small_files(size):
        with pytest.raises(OSError):
            parser_of(new).to_disk(folder)
        with pytest.raises(OSError):
            safe_to_disk(new, pipeline)
    assert content(folder) == before
    assert content(pipeline) == pipeline_before
    assert {path.name for path in tmp_path.iterdir()} == {"parser", "pipeline"}
    parser_of(new).to_disk(folder)
    assert content(folder) != before
    safe_to_disk(new, pipeline)
    assert tree(spacy.load(pipeline)(TEXT)) == tree(new(TEXT))


def test_a_component_that_cannot_be_saved(
    old: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    safe_to_disk(old, tmp_path / "pipeline")
    before = content(tmp_path / "pipeline")

    def fails(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(parser_of(old), "to_disk", fails)
    with pytest.raises(RuntimeError, match="no"):
        safe_to_disk(old, tmp_path / "pipeline")
    assert content(tmp_path / "pipeline") == before
    assert [path.name for path in tmp_path.iterdir()] == ["pipeline"]


# Folders


def writer(text: str) -> Any:
    def write(path: Path) -> None:
        path.mkdir()
        (path / "file").write_text(text)

    return write


@pytest.mark.parametrize("exchanges", [True, False])
def test_replacing_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchanges: bool
) -> None:
    if not exchanges:  # as on other systems than Linux
        monkeypatch.setattr(files, "exchange", lambda one, other: False)
    folder = tmp_path / "deep" / "folder"
    for text in ("one", "two", "three"):
        replace_folder(folder, writer(text))
        assert content(folder) == {"file": text.encode()}
        assert [path.name for path in folder.parent.iterdir()] == ["folder"]
    (tmp_path / "link").symlink_to(folder)
    replace_folder(tmp_path / "link", writer("linked"))
    assert content(folder) == {"file": b"linked"}
    assert (tmp_path / "link").is_symlink()
    # What killed processes left.
    writer("half")(folder.with_name("folder.new"))
    replace_folder(folder, writer("four"))
    assert [path.name for path in folder.parent.iterdir()] == ["folder"]
    folder.rename(folder.with_name("folder.old"))
    writer("half")(folder.with_name("folder.new"))

    def fails(path: Path) -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        replace_folder(folder, fails)
    assert content(folder) == {"file": b"four"}
    assert [path.name for path in folder.parent.iterdir()] == ["folder"]


def test_every_step_leaves_a_whole_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state at each removal and renaming, which is where a process may be killed."""
    states = []
    folder = tmp_path / "folder"

    def noted(function: Any) -> Any:
        def step(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            states.append({path.name: content(path) for path in tmp_path.iterdir()})
            return result

        return step

    monkeypatch.setattr(shutil, "rmtree", noted(shutil.rmtree))
    monkeypatch.setattr(Path, "rename", noted(Path.rename))
    monkeypatch.setattr(files, "exchange", noted(files.exchange))
    for text in ("one", "two"):
        replace_folder(folder, writer(text))
    whole = ({"file": b"one"}, {"file": b"two"})
    assert len(states) > 4
    first = next(i for i, state in enumerate(states) if "folder" in state)
    for state in states[first:]:
        assert (state.get("folder") or state["folder.old"]) in whole
    if files.exchange(folder, folder):  # then the folder is never away
        assert all("folder" in state for state in states[first:])
    monkeypatch.setattr(files, "exchange", lambda one, other: False)
    states.clear()
    replace_folder(folder, writer("one"))
    for state in states:
        assert (state.get("folder") or state["folder.old"]) in whole


# In training


def test_the_callback(old: Language, tmp_path: Path) -> None:
    callback = registry.resolve({"callback": {"@callbacks": "spacy_nmparse.safe_checkpoints.v1"}})[
        "callback"
    ]
    safe = create_before_to_disk_callback(callback)(old)
    safe.to_disk(tmp_path / "safe")
    old.to_disk(tmp_path / "plain")
    assert content(tmp_path / "safe") == content(tmp_path / "plain")
    assert type(safe) is type(old) and safe.vocab is old.vocab
    assert "to_disk" not in vars(old)
    make_safe(safe).to_disk(tmp_path / "safe", exclude=["nm_parser"])
    assert not (tmp_path / "safe" / "nm_parser").exists()


# A document that fails in a batch


@pytest.mark.parametrize("factory", ["nm_parser", "nl_covington_parser", "swap_parser"])
@pytest.mark.parametrize("width", [1, 3])
def test_annotations_that_fail(factory: str, width: int) -> None:
    """Documents before the bad one, which are parsed again, are as they would be without it."""
    nlp = random_parser(3, factory=factory, beam_width=width, confidence=True)
    parser = parser_of(nlp)
    texts = [TEXT, "bad", "Sleep !", TEXT + " Yes", "bad", ""]
    expected = [(tree(doc), doc.user_data) for doc in map(nlp, texts) if doc.text != "bad"]
    set_annotations = parser.set_annotations
    written: list[str] = []

    def fails(docs: Any, parses: Any) -> None:
        for i, doc in enumerate(docs):
            if doc.text == "bad":
                raise RuntimeError("a bad document")
            set_annotations([doc], parses.by_document()[i])
            written.append(doc.text)

    parser.set_annotations = fails
    failed: list[tuple[str, list[str], str]] = []
    nlp.set_error_handler(
        lambda name, proc, docs, error: failed.append((name, [d.text for d in docs], str(error)))
    )
    docs = list(nlp.pipe(texts, batch_size=6))
    assert [doc.text for doc in docs] == [TEXT, "Sleep !", TEXT + " Yes", ""]
    assert failed == [(factory, ["bad"], "a bad document")] * 2
    for doc, (expected_tree, expected_data) in zip(docs, expected, strict=True):
        assert tree(doc) == expected_tree
        assert doc.user_data.keys() == expected_data.keys()


@pytest.mark.parametrize("n", [1, 9])
@pytest.mark.parametrize("recurrent_width", [0, 4])
def test_vectors_of_other_tokens(n: int, recurrent_width: int) -> None:
    """A component behind tok2vec that merges or splits tokens: too many vectors, or too few."""
    tok2vec = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32, "upstream": "*"}
    nlp = make_nlp(model=model_config(recurrent_width=recurrent_width, tok2vec=tok2vec))
    source = random_parser(0, model=model_config(recurrent_width=recurrent_width))
    parser = parser_of(nlp)
    for label in parser_of(source).labels:
        parser.add_label(label)
    parser.model.initialize()
    expected = None
    docs = [nlp.make_doc(text) for text in (TEXT, "one two three", TEXT)]
    for i, doc in enumerate(docs):
        doc.tensor = parser.model.ops.xp.ones((n if i == 1 else len(doc), 32), dtype="float32")
    failed: list[str] = []
    nlp.set_error_handler(lambda name, proc, docs, error: failed.append(str(error)))
    parsed = list(parser.pipe(docs))
    assert parsed == [docs[0], docs[2]]
    expected = tree(docs[0])
    assert tree(docs[2]) == expected
    (message,) = failed
    assert f"3 tokens, but {n} token vectors" in message


# Names and links that lead elsewhere


@pytest.mark.parametrize("name", ["../elsewhere", "..", "/tmp/elsewhere", "a/b", "."])
def test_names_of_components_lead_nowhere(name: str, tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer", name=name)
    with pytest.raises(ValueError, match="no name for a folder"):
        safe_to_disk(nlp, tmp_path / "folder" / "model")
    assert not [*tmp_path.iterdir()]


def link(path: Path, target: Path) -> None:
    try:
        path.symlink_to(target)
    except OSError:
        pytest.skip("links cannot be made here")


def test_links_are_not_written_through(old: Language, tmp_path: Path) -> None:
    """Where new files are written before they take their places, there are links."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").write_text("as it was")
    parser, pipeline = tmp_path / "parser", tmp_path / "pipeline"
    parser.mkdir()
    for name in FILES:
        link(parser / f"{name}.new", other / "file")
    link(tmp_path / "pipeline.new", other)
    link(tmp_path / "pipeline.old", other)
    parser_of(old).to_disk(parser)
    safe_to_disk(old, pipeline)
    assert content(other) == {"file": b"as it was"}
    assert {path.name for path in parser.iterdir()} == set(FILES)
    assert not pipeline.is_symlink() and (pipeline / "config.cfg").is_file()
    assert parser_of(spacy.load(pipeline)).to_bytes() == parser_of(old).to_bytes()
