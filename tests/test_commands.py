"""The commands in blocks of the README and of the pages in docs/ are run here on tiny data, or are
steps of project.yml, or in ``NOT_RUN``; and programs accept the options of all commands."""

from __future__ import annotations

import argparse
import copy
import glob
import importlib
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
import srsly
from spacy.cli import app
from spacy.language import Language
from spacy.tokens import DocBin
from typer.main import get_command
from typer.testing import CliRunner

from spacy_nmparse.cli import nmparse
from spacy_nmparse.ud.whole_pipeline import CONFIGS
from tests.pipe.common import gold_doc
from tests.test_cli import CONLLU
from tests.test_readme import PAGES, ROOT, pages_with, read

#: How commands of blocks begin that are not run here.
NOT_RUN = (
    # .ci/run and nox run these.
    *("python -m venv", "python -m pip", "python -m pytest", "python setup.py build_ext"),
    *("ruff", "cython-lint", "mypy", "mkdocs", "nox", "python -m cibuildwheel"),
    # They need Graphviz, pipelines of other tests, or a browser.
    *("dot ", "python -m spacy nmparse replace", "python -m spacy nmparse annotate"),
    # Tests of whole pipelines and of transformers have these.
    *("python -m spacy nmparse learn-on", "python -m spacy nmparse init-config transformer.cfg"),
    *("python -m spacy train transformer.cfg", "python -m spacy nmparse vectors"),
    # They need Ray, or a web server.
    *("python examples/ray_corpus.py", "MODEL=", "curl "),
    # A form, not a command.
    "python -m spacy nmparse parse MODEL",
)
#: What a line must begin with to be a command.
PROGRAMS = ("python ", "python3 ", "py ", ".venv/bin/python ", "ruff ", "cython-lint ", "mypy")

PROJECT: dict[str, Any] = srsly.read_yaml(ROOT / "project.yml")
SCRIPTS = [line for command in PROJECT["commands"] for line in command["script"]]
NAMES = {command["name"] for command in PROJECT["commands"]} | set(PROJECT["workflows"])


def parts_of(line: str) -> list[str]:
    """A line's commands, with one name for Python."""
    found = (" ".join(part.split()) for part in line.split("&&"))
    return [re.sub(r"^([\w.-]+/bin/python|python3|py)\b", "python", part) for part in found]


def block_commands(page: Path) -> list[str]:
    """The commands in a page's blocks of shell code."""
    blocks = re.findall(r"^```bash\n(.*?)^```$", read(page), re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    commands = (re.sub(r"(^|\s)#.*", "", line).strip() for line in lines)
    return [part for command in commands if command for part in parts_of(command)]


def inline_commands(page: Path) -> list[str]:
    """The commands in a page's text."""
    text = re.sub(r"^```.*?^```$", "", read(page), flags=re.MULTILINE | re.DOTALL)
    found = (" ".join(code.split()) for code in re.findall(r"`([^`]+)`", text))
    return [part for code in found if code.startswith(PROGRAMS) for part in parts_of(code)]


def is_elsewhere(command: str) -> bool:
    """Whether a command is not for this file to run: it is in NOT_RUN, or a step of the project."""
    if found := re.match(r"python -m spacy project run ([a-z][\w-]*)", command):
        assert found[1] in NAMES, f"project.yml has no command {found[1]}: {command}"
        for name in re.findall(r"--vars\.(\w+)", command):
            assert name in PROJECT["vars"], f"project.yml has no variable {name}: {command}"
        return True
    if found := re.match(r"python -m (benchmarks\.(?!systems\b)\w+)", command):
        steps = [line for line in SCRIPTS if f"{line} ".startswith(f"python -m {found[1]} ")]
        assert steps, f"no step of project.yml runs {found[1]}, and no test: {command}"
        return True
    return command.startswith(NOT_RUN)


class Accepted(BaseException):
    """A program has taken its options."""


@pytest.fixture
def only_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs stop once they have read their options."""
    parse = argparse.ArgumentParser.parse_args

    def stop(self: Any, *arguments: Any) -> NoReturn:
        parse(self, *arguments)
        raise Accepted

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stop)


def main_of(program: str) -> Any:
    """The function that runs a program of this repository: a path, or a module's name."""
    return importlib.import_module(program.removesuffix(".py").replace("/", ".")).main


def is_run(command: str) -> bool:
    """Whether ``test_commands_run`` runs a command of a block."""
    commands = r"-m spacy (nmparse|train|pretrain|init) |-m benchmarks.systems "
    return bool(re.match(rf"python ({commands}|(scripts|examples)/)", command))


def check_options(command: str) -> None:
    """Let a program of this repository read the options of a command line."""
    if found := re.match(r"python -m spacy nmparse ([a-z-]+) ", command):
        own: Any = get_command(nmparse)
        own.get_command(None, found[1]).make_context(
            found[1], shlex.split(command[found.end() :].split(" > ")[0])
        )
    program = r"python (?:-m ((?:benchmarks|tests)\.\w+)|((?:scripts|examples)/\w+\.py))"
    if found := re.match(program, command):
        arguments = shlex.split(command[found.end() :].split(" > ")[0])
        with pytest.raises(Accepted):
            main_of(found[1] or found[2])(arguments)


@pytest.mark.usefixtures("only_options")
def test_programs_take_the_options() -> None:
    for page in PAGES:
        for command in block_commands(page):
            assert is_elsewhere(command) or is_run(command), f"{page.name}: not run: {command}"
        for command in [*block_commands(page), *inline_commands(page)]:
            is_elsewhere(command)
            check_options(command)


@pytest.mark.usefixtures("only_options")
def test_what_is_wrong_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text("Say `python -m spacy dance`.\n```bash\npython x.py && py y.py\n```\n", "utf-8")
    assert inline_commands(page) == ["python -m spacy dance"]
    assert block_commands(page) == ["python x.py", "python y.py"]
    for command in (*inline_commands(page), *block_commands(page)):
        assert not is_elsewhere(command) and not is_run(command)
    for command in (
        "python -m spacy project run nonsense",
        "python -m spacy project run ud . --vars.nonsense 1",
        "python -m benchmarks.nonsense",
    ):
        with pytest.raises(AssertionError):
            is_elsewhere(command)
    with pytest.raises(SystemExit):
        check_options("python scripts/prepare_demo.py FOLDER --nonsense")
    with pytest.raises(Exception, match="No such option: --nonsense"):
        check_options("python -m spacy nmparse evaluate MODEL DATA --nonsense")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="no file"):
        execute("python -m spacy nmparse stats corpus.conllu")


def test_nothing_is_left_out_that_is_not_there() -> None:
    commands = [command for page in PAGES for command in block_commands(page)]
    for start in NOT_RUN:
        assert any(command.startswith(start) for command in commands), start


@pytest.fixture(scope="module")
def workplace(trained: Language, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which the pages' paths are there: configs, a treebank, data and a model, those of
    the demo with logs, models of three seeds, what benchmarks have written."""
    folder = tmp_path_factory.mktemp("commands")
    shutil.copytree(CONFIGS, folder / "configs")
    treebank = folder / "path" / "to" / "UD_English-EWT"
    treebank.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        (treebank / f"en_ewt-ud-{split}.conllu").write_text(CONLLU, encoding="utf-8")
    for name in ("got_proiel-ud-test", "en_gum-ud-train"):
        (treebank.parent / f"{name}.conllu").write_text(CONLLU, encoding="utf-8")
    (folder / "texts").mkdir()
    (folder / "texts" / "a.txt").write_text("I saw Jack fall.\n", encoding="utf-8")
    corpus = folder / "corpus" / "demo"
    corpus.mkdir(parents=True)
    docs = [gold_doc(trained.vocab, trees) for trees in ([0], [1, 4], [2], [3])]
    for split in ("train", "dev", "test"):
        for place in (corpus, corpus.parent):
            DocBin(docs=docs).to_disk(place / f"{split}.spacy")
    log = [
        "E    #       LOSS TOK2VEC  DEP_LAS  SCORE",
        "---  ------  ------------  -------  ------",
    ]
    log += [
        "  0     200         50.00    20.00    0.20",
        "  1     400         40.00    30.00    0.30",
    ]
    for system in ("nm_parser", "spacy_parser"):
        model = folder / "training" / "demo" / system
        model.mkdir(parents=True)
        trained.to_disk(model / "model-best")
        (model / "log.txt").write_text("\n".join(log), encoding="utf-8")
    renamed = copy.deepcopy(trained)
    renamed.rename_pipe(renamed.pipe_names[-1], "parser")
    renamed.to_disk(folder / "training" / "model-best")
    for seed in (1, 2, 3):
        (folder / "training" / f"seed{seed}").mkdir()
        trained.to_disk(folder / "training" / f"seed{seed}" / "model-best")
    lines = [{"epoch": e, "oracle": "nd_all", "swaps_per_sentence": 0.5} for e in range(2)]
    srsly.write_jsonl(folder / "swaps.jsonl", lines)
    srsly.write_jsonl(folder / "text.jsonl", [{"text": "I saw Jack fall."}] * 9)
    yield folder


def execute(command: str) -> None:
    """Run a command line: a command of spaCy's or ours, or a program of this repository."""
    words = shlex.split(command)[1:]
    output = None
    if ">" in words:
        words, output = words[: words.index(">")], Path(words[-1])
    words = [
        path for word in words for path in (sorted(glob.glob(word)) if "*" in word else [word])
    ]
    if words[:3] == ["-m", "spacy", "nmparse"]:
        result = CliRunner().invoke(nmparse, words[3:])
    elif words[:2] == ["-m", "spacy"]:
        result = CliRunner().invoke(app, words[2:])
    else:
        program, *arguments = words[1:] if words[0] == "-m" else words
        assert main_of(program)(arguments) in (0, None), command
        return
    assert result.exit_code == 0, f"{command}\n{result.output}\n{result.exception}"
    if output is not None:
        output.write_text(result.stdout, encoding="utf-8")


@pages_with("^```bash$")
def test_commands_run(page: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace)
    for command in block_commands(page):
        if not is_elsewhere(command):
            execute(command)


def test_the_project_is_documented(tmp_path: Path) -> None:
    """If this fails: python -m spacy project run document"""
    page = tmp_path / "PROJECT.md"
    shutil.copy(ROOT / "PROJECT.md", page)
    arguments = ["project", "document", str(ROOT), "--no-emoji", "--output", str(page)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    # The tables are ours; the words around them are those of spaCy's version.
    written, kept = (
        [line for line in read(path).splitlines() if line.startswith("|")]
        for path in (page, ROOT / "PROJECT.md")
    )
    assert len(written) > len(NAMES)
    assert written == kept
