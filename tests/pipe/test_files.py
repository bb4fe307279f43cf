"""Outputs: what was there stays where writing fails or is cut short, and what is not ours."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.training.loop import create_before_to_disk_callback
from spacy.util import registry

from spacy_nmparse.pipe import files, workplace
from spacy_nmparse.pipe.files import (
    make_safe,
    new_file,
    place_of,
    replace_folder,
    safe_to_disk,
    write_files,
)
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


@pytest.fixture(params=[True, False], ids=["exchange", "rename"])
def exchanges(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether folders exchange their names in one step; else as on other systems than Linux."""
    if not request.param:
        monkeypatch.setattr(files, "exchange", lambda one, other: False)
    return bool(request.param)


@pytest.mark.usefixtures("exchanges")
def test_replacing_folders(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "folder"
    for text in ("one", "two", "three"):
        replace_folder(folder, writer(text))
        assert content(folder) == {"file": text.encode()}
        assert [path.name for path in folder.parent.iterdir()] == ["folder"]
    (tmp_path / "link").symlink_to(folder)
    replace_folder(tmp_path / "link", writer("linked"))
    assert content(folder) == {"file": b"linked"}
    assert (tmp_path / "link").is_symlink()

    def fails(path: Path) -> None:
        writer("half")(path)
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        replace_folder(folder, fails)
    assert content(folder) == {"file": b"linked"}
    assert [path.name for path in folder.parent.iterdir()] == ["folder"]
    (tmp_path / "file").write_text("a file")
    with pytest.raises(NotADirectoryError):
        replace_folder(tmp_path / "file", writer("no"))
    assert (tmp_path / "file").read_text() == "a file"


@pytest.mark.usefixtures("exchanges")
def test_other_files_stay(old: Language, new: Language, tmp_path: Path) -> None:
    """In the folder, those of the user; beside it, a copy made before learning on."""
    folder = tmp_path / "model"
    for name in ("model", "model.new", "model.old"):
        old.to_disk(tmp_path / name)
    before = content(tmp_path / "model.old")
    notes = ["notes.txt", "git/config", "nm_parser/notes.txt"]
    for name in notes:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(name)
    (folder / "link").symlink_to("notes.txt")
    (folder / "nm_parser" / "cfg").mkdir()  # empty, as that of no component
    safe_to_disk(new, folder)
    assert [(folder / name).read_text() for name in (*notes, "link")] == [*notes, notes[0]]
    assert (folder / "link").is_symlink() and (folder / "nm_parser" / "cfg").is_dir()
    assert tree(spacy.load(folder)(TEXT)) == tree(new(TEXT))
    assert content(tmp_path / "model.old") == content(tmp_path / "model.new") == before
    assert len(list(tmp_path.iterdir())) == 3


def test_the_working_folder(
    new: Language, old: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stays the same folder, with all else that is in it."""
    monkeypatch.chdir(tmp_path)
    old.to_disk(".")
    (tmp_path / "stale").mkdir()
    Path("thesis.txt").write_text("all my work")
    number = tmp_path.stat().st_ino
    safe_to_disk(new, ".")
    assert tmp_path.stat().st_ino == number and Path("thesis.txt").read_text() == "all my work"
    assert tree(spacy.load(tmp_path)(TEXT)) == tree(new(TEXT))
    new.to_disk(tmp_path / "plain")
    names = {path.name for path in Path("plain").iterdir()}
    assert {path.name for path in Path(".").iterdir()} == {*names, "plain", "stale", "thesis.txt"}
    safe_to_disk(new, ".", exclude=["nm_parser"])
    assert not Path("nm_parser").exists() and Path("stale").exists()


def test_a_link_in_a_folder(old: Language, new: Language, tmp_path: Path) -> None:
    """What is behind it is written there."""
    old.to_disk(tmp_path / "model")
    (tmp_path / "model" / "vocab").rename(tmp_path / "shared")
    link(tmp_path / "model" / "vocab", tmp_path / "shared")
    (tmp_path / "shared" / "strings.json").unlink()
    safe_to_disk(new, tmp_path / "model")
    assert (tmp_path / "model" / "vocab").is_symlink()
    assert (tmp_path / "shared" / "strings.json").is_file()
    assert tree(spacy.load(tmp_path / "model")(TEXT)) == tree(new(TEXT))


@pytest.mark.parametrize("n_before", range(2))
def test_a_folder_that_cannot_be_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_before: int
) -> None:
    """One of it whole is there, and the user's file."""
    folder = tmp_path / "folder"
    writer("one")(folder)
    (folder / "mine").write_text("mine")
    monkeypatch.setattr(files, "exchange", lambda one, other: False)
    rename, done = Path.rename, []

    def fails(path: Path, target: Path) -> Path:
        done.append(target)
        if len(done) == n_before + 1:
            raise PermissionError("a file is open")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fails)
    written = b"two"
    try:
        replace_folder(folder, writer("two"))
    except PermissionError:
        written = b"one"
    assert len(done) > n_before and content(folder) == {"file": written, "mine": b"mine"}
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_files_that_cannot_take_their_places(
    old: Language, new: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are the old ones then; those that were not there are not."""
    folder = tmp_path / "parser"
    parser_of(old).to_disk(folder)
    (folder / "vocab").unlink()
    before = content(folder)
    replace = Path.replace
    for last in (*FILES, ""):

        def fails(path: Path, target: Path, last: str = last) -> Path:
            if path.name.startswith("new") and target.name == last:
                raise PermissionError(13, "a file is open", str(path), None, str(target))
            return replace(path, target)

        monkeypatch.setattr(Path, "replace", fails)
        if last:
            with pytest.raises(PermissionError, match=last):
                parser_of(new).to_disk(folder)
            assert content(folder) == before
    parser_of(new).to_disk(folder)
    assert {path.name for path in folder.iterdir()} == set(FILES)
    assert content(folder)["model"] != before["model"]


def whole_one(state: dict[str, dict[str, bytes]]) -> dict[str, bytes]:
    """The content of the folder; while it is away, of the old one in the hidden folder."""
    if "folder" in state:
        return state["folder"]
    (hidden,) = state.values()
    return {"file": hidden[os.path.join("old", "file")]}


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
        assert whole_one(state) in whole
    if files.exchange(folder, folder):  # then the folder is never away
        assert all("folder" in state for state in states[first:])
    monkeypatch.setattr(files, "exchange", lambda one, other: False)
    states.clear()
    replace_folder(folder, writer("one"))
    for state in states:
        assert whole_one(state) in whole


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
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "new").write_text("mine")
    link(tmp_path / f".nmparse-{'0' * 16}", tmp_path / "mine")
    workplace._sweep.cache_clear()
    parser_of(old).to_disk(parser)
    safe_to_disk(old, pipeline)
    assert content(other) == {"file": b"as it was"}
    assert content(tmp_path / "mine") == {"new": b"mine"}
    assert {path.name for path in parser.iterdir() if not path.is_symlink()} == set(FILES)
    assert not pipeline.is_symlink() and (pipeline / "config.cfg").is_file()
    assert parser_of(spacy.load(pipeline)).to_bytes() == parser_of(old).to_bytes()


# Files


def test_two_processes_with_one_output(tmp_path: Path) -> None:
    """Each writes a whole file, whichever is last."""
    path = tmp_path / "file"
    with new_file(path) as one, new_file(path) as other:
        one.write(b"a" * 100_000)
        other.write(b"b")
        assert not path.exists()
    assert path.read_bytes() == b"a" * 100_000
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_other_files_beside_a_file_stay(tmp_path: Path) -> None:
    names = ["file.new", "file.old", "file.part", "file~", ".nmparse-mine", ".nmparse.jsonl"]
    for name in names:
        (tmp_path / name).write_text(name)
    write_files({tmp_path / "file": b"x"})
    assert content(tmp_path) == {"file": b"x", **{name: name.encode() for name in names}}


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX's modes")
def test_mode_and_owner_stay(tmp_path: Path) -> None:
    def access(path: Path) -> tuple[int, int, int]:
        status = path.stat()
        return stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid

    (tmp_path / "plain").touch()
    paths = [tmp_path / "file", tmp_path / "folder" / "file"]
    paths[1].parent.mkdir()
    for path in (*paths, paths[1].parent):
        path.touch()
        path.chmod(0o764)
        if os.geteuid() == 0:
            os.chown(path, 12345, 54321)
    before = [access(path) for path in paths]
    write_files({paths[0]: b"new"})
    replace_folder(paths[1].parent, writer("new"))
    assert [path.read_bytes() for path in paths] == [b"new", b"new"]
    assert [access(path) for path in paths] == before and access(paths[1].parent) == before[0]
    write_files({tmp_path / "second": b""})
    assert access(tmp_path / "second") == access(tmp_path / "plain")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may all")
def test_a_read_only_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("gold")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="file"):
        write_files({path: b"new"})
    assert content(tmp_path) == {"file": b"gold"}


def test_behind_links(tmp_path: Path) -> None:
    """Also where nothing is yet, and through several."""
    (tmp_path / "far").mkdir()
    link(tmp_path / "one", Path("far", "file"))
    link(tmp_path / "two", tmp_path / "one")
    for text in (b"new", b"newer"):
        write_files({tmp_path / "two": text})
        assert content(tmp_path / "far") == {"file": text}
        assert (tmp_path / "one").is_symlink() and (tmp_path / "two").is_symlink()
    link(tmp_path / "round", tmp_path / "round")
    with pytest.raises(OSError, match="round"):
        write_files({tmp_path / "round": b""})


@pytest.mark.skipif(not hasattr(os, "mknod"), reason="makes a device")
def test_a_device(tmp_path: Path) -> None:
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        device.write_bytes(b"")
    except OSError:
        pytest.skip("devices cannot be made here")
    link(tmp_path / "link", device)
    for path in (device, tmp_path / "link"):
        write_files({path: b"x", tmp_path / "file": b"y"})
        with new_file(path, before_replace=lambda new: pytest.fail("not replaced")) as file:
            file.write(b"x")
    assert stat.S_ISCHR(device.lstat().st_mode)
    assert {path.name for path in tmp_path.iterdir()} == {"null", "link", "file"}


def test_the_machines_devices() -> None:
    """They are only looked at: a test that fails may not write to them."""
    assert place_of(Path(os.devnull)) is None  # NUL on Windows
    if os.path.islink("/dev/stdout"):
        assert (place_of(Path("/dev/stdout")), place_of(Path("/dev/fd/7"))) == (1, 7)


@pytest.mark.skipif(not os.path.exists("/dev/fd/1"), reason="has no /dev/fd")
def test_an_open_file(tmp_path: Path) -> None:
    """It gets what is written between what others write there."""
    name = "link"
    link(tmp_path / name, Path("/dev/fd/1"))
    code = (
        "import sys; from pathlib import Path; from spacy_nmparse.pipe.files import write_files\n"
    )
    code += f"print('head'); write_files({{Path({name!r}): b'x\\n'}}); print('foot')"
    with (tmp_path / "out").open("wb") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, cwd=tmp_path, check=True)
    assert (tmp_path / "out").read_text() == "head\nx\nfoot\n"


# Processes that are killed

WRITES = """
import signal, sys
from pathlib import Path
from spacy_nmparse.cli.process import prepared
from spacy_nmparse.pipe.files import new_file
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup would ignore it, and a shell's & the other
signal.signal(signal.SIGINT, signal.default_int_handler)
with prepared(), new_file(Path("file")) as file:
    file.write(b"half")
    file.flush()
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(os.name != "posix", reason="kills by signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT", "SIGKILL"])
def test_signals_leave_nothing_half_written(tmp_path: Path, name: str) -> None:
    """Except for SIGKILL: there the next process removes it, but nothing of one that lives."""
    number = getattr(signal, name)
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", WRITES], cwd=tmp_path, **pipe) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        process.communicate()
    assert process.returncode == -number
    left = list(tmp_path.iterdir())
    assert bool(left) == (name == "SIGKILL")
    workplace._sweep.cache_clear()
    with new_file(tmp_path / "other"):
        workplace._sweep.cache_clear()
        write_files({tmp_path / "file": b"whole"})
    assert content(tmp_path) == {"file": b"whole", "other": b""}
    assert len(list(tmp_path.iterdir())) == 2
