"""Outputs: what was there stays where writing fails or is cut short, and what is not ours.

``NMPARSE_KILLS=100 python -m pytest tests/pipe/test_files.py -k killed`` kills a training as often.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import multiprocessing
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import create_before_to_disk_callback
from spacy.training.loop import train as spacy_train
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
from tests.pipe.common import NM, make_examples, parser_of, random_parser, tree
from tests.pipe.test_pipeline import config_of


@pytest.fixture(scope="module")
def two() -> tuple[Language, Language]:
    """The pipeline that is saved first, and the one that takes its place."""
    return random_parser(1), random_parser(2)


TEXT = "She saw the cat . I like London"


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


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
def test_a_full_disk(two: tuple[Language, Language], tmp_path: Path, share: float) -> None:
    old, new = two
    folder, pipeline = tmp_path / "parser", tmp_path / "pipeline"
    parser_of(old).to_disk(folder)
    safe_to_disk(old, pipeline)
    before = content(tmp_path)
    with small_files(int(share * len(before[os.path.join("parser", "model")]))):
        with pytest.raises(OSError):
            parser_of(new).to_disk(folder)
        with pytest.raises(OSError):
            safe_to_disk(new, pipeline)
    assert content(tmp_path) == before
    assert {path.name for path in tmp_path.iterdir()} == {"parser", "pipeline"}
    parser_of(new).to_disk(folder)
    safe_to_disk(new, pipeline)
    assert (folder / "model").read_bytes() == (pipeline / "nm_parser" / "model").read_bytes()
    assert tree(spacy.load(pipeline)(TEXT)) == tree(new(TEXT))


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
    link(tmp_path / "link", folder)
    for path, text in ((folder, "one"), (folder, "two"), (tmp_path / "link", "linked")):
        replace_folder(path, writer(text))
        assert content(folder) == {"file": text.encode()} and (tmp_path / "link").is_symlink()
        assert [path.name for path in folder.parent.iterdir()] == ["folder"]

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
def test_other_files_stay(two: tuple[Language, Language], tmp_path: Path) -> None:
    """In the folder, those of the user; beside it, a copy made before learning on."""
    folder = tmp_path / "model"
    for name in ("model", "model.new", "model.old"):
        two[0].to_disk(tmp_path / name)
    before = content(tmp_path / "model.old")
    notes = ["notes.txt", "git/config", "nm_parser/notes.txt"]
    for name in notes:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(name)
    (folder / "link").symlink_to("notes.txt")
    (folder / "nm_parser" / "cfg").mkdir()  # empty, as that of no component
    safe_to_disk(two[1], folder)
    assert [(folder / name).read_text() for name in (*notes, "link")] == [*notes, notes[0]]
    assert (folder / "link").is_symlink() and (folder / "nm_parser" / "cfg").is_dir()
    assert tree(spacy.load(folder)(TEXT)) == tree(two[1](TEXT))
    assert content(tmp_path / "model.old") == content(tmp_path / "model.new") == before
    assert len(list(tmp_path.iterdir())) == 3


def test_the_working_folder(
    two: tuple[Language, Language], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stays the same folder, with all else that is in it."""
    monkeypatch.chdir(tmp_path)
    two[0].to_disk(".")
    (tmp_path / "stale").mkdir()
    Path("thesis.txt").write_text("all my work")
    number = tmp_path.stat().st_ino
    safe_to_disk(two[1], ".")
    assert tmp_path.stat().st_ino == number and Path("thesis.txt").read_text() == "all my work"
    assert tree(spacy.load(tmp_path)(TEXT)) == tree(two[1](TEXT))
    two[1].to_disk(tmp_path / "plain")
    names = {path.name for path in Path("plain").iterdir()}
    assert {path.name for path in Path(".").iterdir()} == {*names, "plain", "stale", "thesis.txt"}
    safe_to_disk(two[1], ".", exclude=["nm_parser"])
    assert not Path("nm_parser").exists() and Path("stale").exists()


def test_a_link_in_a_folder(two: tuple[Language, Language], tmp_path: Path) -> None:
    """What is behind it is written there."""
    model, shared = tmp_path / "model", tmp_path / "shared"
    two[0].to_disk(model)
    (model / "vocab").rename(shared)
    link(model / "vocab", shared)
    (shared / "strings.json").unlink()
    safe_to_disk(two[1], model)
    assert (model / "vocab").is_symlink() and (shared / "strings.json").is_file()
    assert tree(spacy.load(model)(TEXT)) == tree(two[1](TEXT))


def test_files_that_cannot_take_their_places(
    two: tuple[Language, Language], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are the old ones then; those that were not there are not."""
    parser_of(two[0]).to_disk(tmp_path)
    (tmp_path / "vocab").unlink()
    before = content(tmp_path)
    replace = Path.replace
    for last in (*FILES, ""):

        def fails(path: Path, target: Path, last: str = last) -> Path:
            if path.name.startswith("new") and target.name == last:
                raise PermissionError(13, "a file is open", str(path), None, str(target))
            return replace(path, target)

        monkeypatch.setattr(Path, "replace", fails)
        if last:
            with pytest.raises(PermissionError, match=last):
                parser_of(two[1]).to_disk(tmp_path)
            assert content(tmp_path) == before
    parser_of(two[1]).to_disk(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(FILES)
    assert content(tmp_path)["model"] != before["model"]


def whole_one(state: dict[str, dict[str, bytes]]) -> dict[str, bytes]:
    """The content of the folder; while it is away, of the old one in the hidden folder."""
    if "folder" in state:
        return state["folder"]
    (hidden,) = state.values()
    return {"file": hidden[os.path.join("old", "file")]}


def test_every_step_leaves_a_whole_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At each removal and renaming, where a process may be killed, and where a renaming fails."""
    states: list[dict[str, dict[str, bytes]]] = []
    failing = itertools.count(1000)
    folder = tmp_path / "folder"

    def noted(function: Any) -> Any:
        def step(*args: Any, **kwargs: Any) -> Any:
            if function is rename and next(failing) == 0:
                raise PermissionError("a file is open")
            result = function(*args, **kwargs)
            states.append({path.name: content(path) for path in tmp_path.iterdir()})
            return result

        return step

    rename = Path.rename
    monkeypatch.setattr(shutil, "rmtree", noted(shutil.rmtree))
    monkeypatch.setattr(Path, "rename", noted(rename))
    monkeypatch.setattr(files, "exchange", noted(files.exchange))
    for text in ("one", "two"):
        replace_folder(folder, writer(text))
    whole = ({"file": b"one"}, {"file": b"two"})
    assert len(states) > 4
    first = next(i for i, state in enumerate(states) if "folder" in state)
    assert all(whole_one(state) in whole for state in states[first:])
    if files.exchange(folder, folder):  # then the folder is never away
        assert all("folder" in state for state in states[first:])
    monkeypatch.setattr(files, "exchange", lambda one, other: False)
    states.clear()
    replace_folder(folder, writer("one"))
    assert all(whole_one(state) in whole for state in states)
    (folder / "mine").write_text("mine")
    for n_before, text in enumerate((b"one", b"two")):  # renamings before the one that fails
        failing = itertools.count(-n_before)
        with suppress(PermissionError):
            replace_folder(folder, writer("two"))
            text = b"two"
        assert next(failing) > 0 and content(folder) == {"file": text, "mine": b"mine"}
        assert [path.name for path in tmp_path.iterdir()] == ["folder"]


# In training


def test_the_callback(two: tuple[Language, Language], tmp_path: Path) -> None:
    callback = registry.callbacks.get("spacy_nmparse.safe_checkpoints.v1")()
    old = two[0]
    safe = create_before_to_disk_callback(callback)(old)
    safe.to_disk(tmp_path / "safe")
    old.to_disk(tmp_path / "plain")
    assert content(tmp_path / "safe") == content(tmp_path / "plain")
    assert type(safe) is type(old) and safe.vocab is old.vocab
    assert "to_disk" not in vars(old)
    make_safe(safe).to_disk(tmp_path / "safe", exclude=["nm_parser"])
    assert not (tmp_path / "safe" / "nm_parser").exists()


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


def test_links_are_not_written_through(two: tuple[Language, Language], tmp_path: Path) -> None:
    """Where new files are written before they take their places, there are links."""
    other, parser, pipeline = (tmp_path / name for name in ("other", "parser", "pipeline"))
    for folder in (other, parser, tmp_path / "mine"):
        folder.mkdir()
        (folder / "file").write_text("as it was")
    for name in FILES:
        link(parser / f"{name}.new", other / "file")
    link(tmp_path / "pipeline.new", other)
    link(tmp_path / "pipeline.old", other)
    link(tmp_path / f".nmparse-{'0' * 16}", tmp_path / "mine")
    workplace._sweep.cache_clear()
    parser_of(two[0]).to_disk(parser)
    safe_to_disk(two[0], pipeline)
    assert content(other) == content(tmp_path / "mine") == {"file": b"as it was"}
    assert {path.name for path in parser.iterdir() if not path.is_symlink()} == {*FILES, "file"}
    assert not pipeline.is_symlink() and (pipeline / "config.cfg").is_file()
    assert parser_of(spacy.load(pipeline)).to_bytes() == parser_of(two[0]).to_bytes()


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
    """And what is behind links is written there, where nothing is yet, and through several."""
    names = ["file.new", "file.old", "file.part", "file~", ".nmparse-mine", ".nmparse.jsonl"]
    others = {name: name.encode() for name in names}
    (tmp_path / "far").mkdir()
    for name in names:
        (tmp_path / "far" / name).write_text(name)
    link(tmp_path / "one", Path("far", "file"))
    link(tmp_path / "two", tmp_path / "one")
    for text in (b"new", b"newer"):
        write_files({tmp_path / "two": text})
        assert content(tmp_path / "far") == {"file": text, **others}
        assert (tmp_path / "one").is_symlink() and (tmp_path / "two").is_symlink()
    link(tmp_path / "round", tmp_path / "round")
    with pytest.raises(OSError, match="round"):
        write_files({tmp_path / "round": b""})


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


# A training that is killed while it saves


def make_pipeline(folder: Path) -> Language:
    """Ready to be trained by spaCy's loop, with a checkpoint after each update."""
    corpus = str(folder / "corpus.spacy")
    examples = make_examples(spacy.blank("xx").vocab)
    DocBin(docs=[example.reference for example in examples]).to_disk(corpus)
    config = config_of(NM)
    config["corpora"]["train"]["path"] = config["corpora"]["dev"]["path"] = corpus
    config["training"] |= {"max_steps": 0, "patience": 0, "max_epochs": -1, "eval_frequency": 1}
    config["training"] |= {"train_corpus": "corpora.train", "dev_corpus": "corpora.dev"}
    return init_nlp(spacy.util.load_model_from_config(config, auto_fill=True).config)


def digest(nlp: Language) -> str:
    """Of the weights of all components."""
    whole = hashlib.sha256()
    for name, pipe in nlp.pipeline:
        whole.update(name.encode())
        whole.update(pipe.model.to_bytes())
    return whole.hexdigest()


def train_and_kill(nlp: Language, out: Path, seconds: float) -> set[str]:
    """Train in another process, kill it; the digests of all that it saved, or began to."""
    log = out / "digests"
    log.touch()

    def before_to_disk(saved: Language) -> Language:
        with log.open("a") as file:
            file.write(digest(saved) + "\n")
        return make_safe(saved)

    def work() -> None:
        training = nlp.config["training"]
        training["before_to_disk"] = {"@callbacks": "tests.before_to_disk"}
        spacy.registry.callbacks.register("tests.before_to_disk", func=lambda: before_to_disk)
        training["logger"] = {"@loggers": "tests.silent"}
        silent = (lambda info: None, lambda: None)
        spacy.registry.loggers.register("tests.silent", func=lambda: lambda *streams: silent)
        spacy_train(nlp, out, stdout=io.StringIO(), stderr=io.StringIO())

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    while len(log.read_text().splitlines()) < 2:  # the first one is complete
        time.sleep(0.01)
        assert process.is_alive(), "The training ended by itself."
    time.sleep(seconds)
    process.kill()
    process.join()
    return set(log.read_text().splitlines())


@pytest.mark.skipif(os.name != "posix", reason="kills by SIGKILL")
def test_killed_training(tmp_path: Path) -> None:
    """spaCy's own loop, with a checkpoint after each update."""
    rng = random.Random(0)
    nlp = make_pipeline(tmp_path)
    for number in range(int(os.environ.get("NMPARSE_KILLS", 3))):
        out = tmp_path / str(number)
        out.mkdir()
        digests = train_and_kill(nlp, out, rng.uniform(0, 1))
        left = spacy.load(out / "model-last")
        left("She saw the cat . A hearing is scheduled on the issue today")
        assert digest(left) in digests  # not parts of two checkpoints
