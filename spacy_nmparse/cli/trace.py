"""``nmparse trace``: a trained parser's derivation of a text."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import typer
from spacy.language import Language
from spacy.tokens import Doc

from spacy_nmparse.analysis.derivation import Derivation, derive
from spacy_nmparse.analysis.page import render_page
from spacy_nmparse.analysis.text import plain, step_lines, step_picture, tree_pictures
from spacy_nmparse.cli.asked import asks
from spacy_nmparse.cli.console import (
    CODE,
    COMPONENT,
    HTML,
    JSON,
    MODEL,
    NUMBER,
    check_choice,
    columns,
    fail,
    failures,
    gold_docs,
    load,
    paint,
    print_json,
)
from spacy_nmparse.pipe.files import write_files
from spacy_nmparse.terminal import show
from spacy_nmparse.wording import counted

PICTURES = ("tree", "repairs", "all", "none")


@dataclass(frozen=True)
class Given:
    """The arguments and options."""

    model: str = MODEL
    text: str | None = typer.Argument(None, help="The text to parse; - reads standard input")
    corpus: Path | None = typer.Option(
        None, "--corpus", help="Instead of a text: take a sentence of this file, with its gold tree"
    )
    number: int = NUMBER
    words: bool = typer.Option(False, "--words", help="The text's words are parted by spaces")
    component: str | None = COMPONENT
    choices: int = typer.Option(0, "--choices", min=0, help="Show other moves at each step")
    pictures: str = typer.Option(
        "tree", "--pictures", help="Arcs drawn: 'tree', 'repairs' (each repair too), 'all', 'none'"
    )
    html: Path | None = HTML
    as_json: bool = JSON
    code: Path | None = CODE


@asks(Given)
def run(given: Given) -> None:
    """Follow a trained parser through a text, move by move."""
    if (given.text is None) == (given.corpus is None):
        fail("Give a text in quotes, or --corpus FILE with the --number of a sentence.")
    check_choice("--pictures", given.pictures, PICTURES)
    nlp = load(given.model)
    with failures():
        doc, gold = _document(nlp, given)
        derivation = derive(nlp, doc, gold, name=given.component)
        if given.html is not None:
            write_files({given.html: render_page(derivation).encode()})
    if given.as_json:
        print_json(derivation.as_dict())
        return
    n_words = counted(len(derivation.words), "word")
    n_steps = counted(len(derivation.steps), "step")
    show(f"{derivation.system}: {n_words}, {n_steps}")
    if gold is not None and derivation.gold_heads is not None:
        heads = zip(derivation.heads, derivation.gold_heads, strict=True)
        show(f"heads as in the gold tree: {sum(a == b for a, b in heads)}")
    show()
    print_derivation(derivation, given.choices, given.pictures)
    if given.html is not None:
        show(f"\nWritten: {given.html}")


def _document(nlp: Language, given: Given) -> tuple[Doc, Doc | None]:
    text, corpus, number = given.text, given.corpus, given.number
    if corpus is not None:
        docs = gold_docs(nlp, corpus, "sentence", 0)
        if number > len(docs):
            raise ValueError(f"{corpus} has {counted(len(docs), 'sentence')}, not {number}.")
        return docs[number - 1], docs[number - 1]
    if text == "-":
        if sys.stdin is None:
            raise ValueError("Standard input is closed: give a text.")
        text = sys.stdin.read().rstrip("\n")
    text = text or ""
    return Doc(nlp.vocab, words=text.split()) if given.words else nlp.make_doc(text), None


def print_derivation(derivation: Derivation, choices: int, pictures: str) -> None:
    """Print the steps, and the pictures that are asked for."""
    show("\n".join(step_lines(derivation, paint, choices)))
    for i, step in enumerate(derivation.steps):
        if pictures == "all" or (pictures == "repairs" and step.repair):
            show(f"\n{i + 1}  {step.name}")
            _print_picture(step_picture(derivation, i, plain), step_picture(derivation, i, paint))
    if pictures != "none":
        for bare, lines in zip(
            tree_pictures(derivation), tree_pictures(derivation, paint), strict=True
        ):
            show()
            _print_picture(bare, lines)


def _print_picture(bare: list[str], lines: list[str]) -> None:
    """Print lines, unless they are wider than the terminal."""
    wide = max(map(len, bare))
    if wide > columns():
        show(f"(The picture is {wide} columns wide: widen the terminal, or use --html FILE.)")
        return
    show("\n".join(lines))
