"""``nmparse draw``: the picture of a tree."""

from __future__ import annotations

from pathlib import Path

import typer

from spacy_nmparse.analysis.drawing import draw
from spacy_nmparse.cli.console import NUMBER, failures
from spacy_nmparse.cli.trees import read_tree
from spacy_nmparse.pipe.files import write_files


def run(
    tree: str = typer.Argument(
        ..., help="A CoNLL-U or .spacy file, or heads as in CoNLL-U, as '2:nsubj 0:root 2:obj'"
    ),
    words: str | None = typer.Option(None, "--words", help="The words, for heads"),
    number: int = NUMBER,
    output: Path = typer.Option(..., "--output", "-o", help="The picture (SVG) to write"),
) -> None:
    """Draw a tree, arcs that cross in a colour of their own."""
    found = read_tree(tree, words, number)
    picture = draw(found.words, found.heads, found.labels, found.tags)
    with failures():
        write_files({output: picture.encode()})
