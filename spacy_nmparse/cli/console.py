"""Shared by the commands: reading models and corpora, errors, colours, tables."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc
from wasabi import table

from spacy_nmparse.analysis.evaluate import references
from spacy_nmparse.analysis.faults import refuse_faults, several_roots
from spacy_nmparse.pipe.files import is_replaced
from spacy_nmparse.terminal import colored, show, shown
from spacy_nmparse.ud.corpus import CONLLU, check_exists, check_file, read_docs
from spacy_nmparse.ud.treebank import split_by
from spacy_nmparse.wording import counted


def _import_code(path: Path | None) -> None:
    """Import a file of Python, for what it registers."""
    if path is not None:
        with failures():
            check_exists(path)
        spacy.util.import_file("python_code", path)


#: Arguments and options of several commands.
CODE = typer.Option(
    None,
    "--code",
    "-c",
    callback=_import_code,
    help="A file of Python that registers what the pipeline needs, as for spaCy's commands",
)
MODEL = typer.Argument(..., help="A pipeline: its package or folder")
CORPUS = typer.Argument(..., help="A .spacy or CoNLL-U (.conllu) file with trees")
COMPONENT = typer.Option(None, "--component", help="Name of the parser, if there are several")
LIMIT = typer.Option(0, "--limit", "-n", min=0, help="Only the first documents; 0: all")
UNIT = typer.Option(
    "sentence", "--unit", help="'sentence': each gold sentence by itself; 'doc': whole documents"
)
OUTPUT = typer.Option(..., "--output", "-o", help="Folder for the new pipeline")
NUMBER = typer.Option(1, "--number", min=1, help="Which sentence of the file")
HTML = typer.Option(None, "--html", help="Write a page that steps through it")
JSON = typer.Option(False, "--json", help="Print JSON")

COLORS: dict[str, dict[str, Any]] = {
    "new": {"fg": "green"},
    "old": {"fg": "red"},
    "repair": {"fg": "pink", "bold": True},
    "strong": {"fg": "blue", "bold": True},
    "soft": {"fg": "grey"},
    "good": {"fg": "green"},
    "warn": {"fg": "yellow"},
    "title": {"fg": "white", "bold": True},
}


def has_color(stream: Any) -> bool:
    """Whether a stream takes colours: a terminal, or FORCE_COLOR is set, and NO_COLOR is not."""
    if os.environ.get("NO_COLOR") or os.environ.get("ANSI_COLORS_DISABLED"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream is not None and stream.isatty())


def paint(text: str, style: str) -> str:
    """The text in a colour, where standard output takes colours."""
    if style not in COLORS or not has_color(sys.stdout):
        return text
    return colored(text, **COLORS[style])


def columns() -> int:
    """The width of the terminal; none is wide enough for anything."""
    return shutil.get_terminal_size((10_000, 24)).columns


def fail(message: str) -> NoReturn:
    """Say what is wrong, and end with status 2."""
    text = f"Error: {message}"
    show(colored(text, fg="red") if has_color(sys.stderr) else text, file=sys.stderr)
    raise typer.Exit(2)


def bad(message: str) -> typer.BadParameter:
    """The error that an argument is wrong, to be raised."""
    return typer.BadParameter(shown(message))


def check_choice(option: str, value: str | None, choices: Iterable[str]) -> None:
    """Fail where an option has a value that is none of its choices."""
    if value is not None and value not in choices:
        fail(f"{option} is one of {', '.join(choices)}, not {value!r}.")


def check_absent(output: Path, remedy: str = "give another path") -> None:
    """Fail where a file or folder is at an output that is to be made."""
    if output.is_dir() or (output.exists() and is_replaced(output)):
        fail(f"{output} exists already: {remedy}.")


@contextmanager
def failures() -> Iterator[None]:
    """End with status 2 where something is wrong with what was given."""
    try:
        yield
    except (ValueError, TypeError, OSError, ImportError) as error:
        fail(str(error))


def load(model: str, settings: dict[str, Any] | None = None) -> Language:
    """A pipeline by name or path, with some settings changed."""
    try:
        return spacy.load(model, config=settings or {})
    except (OSError, ValueError, ImportError) as error:
        folder = Path(model)
        if folder.is_dir() and not (folder / "meta.json").is_file():
            found = [f" Did you mean {path}?" for path in sorted(folder.rglob("model-best"))]
            fail(f"No pipeline in {folder}.{''.join(found[:1])}")
        if folder.exists() or not isinstance(error, OSError):
            fail(f"{model} cannot be loaded as a pipeline: {error}")
        fail(
            f"There is no pipeline {model!r}: give the name of an installed package or the folder "
            f"of a trained pipeline, such as training/model-best."
        )


def check_lang(lang: str, option: str) -> str:
    """A language code, if spaCy has it."""
    try:
        known = spacy.util.get_lang_class(lang)
    except ImportError:
        raise ValueError(
            f"{option} {lang}: spaCy has no such language: give its code, as en, or xx for any."
        ) from None
    if known.lang != lang:  # the config of a pipeline has spaCy's own code
        raise ValueError(f"{option}: write {known.lang}, spaCy's code for {known.__name__}.")
    return lang


def check_trees(files: Sequence[Path], one_root: bool = False) -> None:
    """Warn of sentences with several roots in CoNLL-U files, or refuse them; refuse files with
    faults, and list these."""
    for file in files:
        check_exists(file)
    conllu = [file for file in files if file.suffix in CONLLU]
    try:
        rooted = list(several_roots(conllu))
    except ValueError:
        refuse_faults(conllu)
        raise
    if not rooted:
        return
    file, line = rooted[0]
    found = f"{counted(len(rooted), 'sentence')} with several roots, the first at {file}, line "
    if one_root:
        fail(f"{found}{line}.")
    show(f"Warning: {found}{line}: spaCy has a sentence for each root.", file=sys.stderr)


def gold_docs(nlp: Language, corpus: Path, unit: str, limit: int) -> list[Doc]:
    """The gold documents of a file, or their sentences, in tokens as ``evaluate`` has them."""
    check_choice("--unit", unit, ("sentence", "doc"))
    check_file(corpus)
    check_trees([corpus])
    docs = list(references(read_docs(corpus, nlp.vocab, split_by(nlp)), unit))
    return docs[:limit] if limit else docs


def print_json(value: Any) -> None:
    """Print JSON on one line."""
    text = json.dumps(value, ensure_ascii=False)
    show(re.sub("[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text))


def title(text: str) -> None:
    """Print a heading."""
    show(f"\n{paint(text, 'title')}")


def print_table(header: Sequence[str], rows: Sequence[Sequence[Any]], n_left: int = 1) -> None:
    """Print a table whose first columns are texts, the others numbers."""
    aligns: list[Any] = ["l"] * n_left + ["r"] * (len(header) - n_left)
    show(table([list(map(str, row)) for row in rows], header=header, divider=True, aligns=aligns))


def percent(share: float | None) -> str:
    """A share as a percentage with two decimals; - for None."""
    return "-" if share is None else f"{100 * share:.2f}"
