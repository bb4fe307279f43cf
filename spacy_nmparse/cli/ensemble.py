"""``nmparse ensemble``: several trained parsers made one."""

from __future__ import annotations

from pathlib import Path

import typer

from spacy_nmparse.cli.console import COMPONENT, OUTPUT, check_absent, failures, load
from spacy_nmparse.pipe.ensemble import merge
from spacy_nmparse.pipe.files import safe_to_disk
from spacy_nmparse.pipe.members import parser_of
from spacy_nmparse.ud.terminal import show


def run(
    models: list[str] = typer.Argument(..., help="Pipelines, packages or folders: two or more"),
    output: Path = OUTPUT,
    component: str | None = COMPONENT,
) -> None:
    """Make one parser of several that were trained by themselves: slower, and more accurate."""
    check_absent(output)
    pipelines = [load(model) for model in models]
    with failures():
        names = [parser_of(nlp, component).name for nlp in pipelines]
        safe_to_disk(merge(pipelines, names), output)
    show(f"{output}: {pipelines[0].pipe_names}, {len(models)} parsers in {names[0]}")
