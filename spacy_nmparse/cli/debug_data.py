"""``nmparse debug-data``: checks of a config's data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from confection import ConfigValidationError
from spacy.util import load_config, load_model_from_config

from spacy_nmparse.analysis.data_check import DataCheck, Split, check_data
from spacy_nmparse.analysis.faults import refuse_faults
from spacy_nmparse.cli.console import (
    COMPONENT,
    JSON,
    fail,
    failures,
    paint,
    print_json,
    print_table,
    title,
)
from spacy_nmparse.private import import_code, read_overrides
from spacy_nmparse.terminal import show
from spacy_nmparse.ud.corpus import CONLLU
from spacy_nmparse.ud.folders import files_in
from spacy_nmparse.wording import shorten

SIGNS = {"good": ("✔", "good"), "info": ("ℹ", ""), "warning": ("⚠", "warn"), "error": ("✘", "old")}
N_LABELS = 12
N_STRINGS = 10


#: Arguments that are no options of the command override the config.
CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True}


def run(
    ctx: typer.Context,
    config: Path = typer.Argument(..., help="A training config"),
    code: Path | None = typer.Option(None, "--code", "-c", help="Python file to import first"),
    component: str | None = COMPONENT,
    as_json: bool = JSON,
) -> None:
    """Check the data of a config for its parser. Overrides as in spaCy: --paths.train FILE."""
    overrides = read_overrides(list(ctx.args))
    import_code(code)
    if not config.is_file():
        fail(f"There is no config {config}.")
    with failures():
        try:
            loaded = load_config(config, overrides=overrides)
            nlp = load_model_from_config(loaded, auto_fill=True)
            found = check_data(nlp, component)
        except ConfigValidationError as error:
            raise ValueError(f"{config} is no training config: {error}") from error
        except ValueError:
            refuse_faults(_conllu(loaded.interpolate()))
            raise
    if as_json:
        print_json(found.as_dict())
    else:
        _print(found)
    if found.has_errors:
        raise typer.Exit(1)


def _conllu(config: dict[str, Any]) -> Iterator[Path]:
    """The CoNLL-U files of a config's corpora."""
    for corpus in config["corpora"].values():
        given = corpus.get("path") or []
        for paths in given.values() if isinstance(given, dict) else [given]:
            for path in map(Path, [paths] if isinstance(paths, str) else paths):
                files = files_in(path) if path.is_dir() else [path]
                yield from (file for file in files if file.is_file() and file.suffix in CONLLU)


def _print(found: DataCheck) -> None:
    title(f"Data for '{found.component}' ({found.system})")
    print_table(
        ("", "training", "development"),
        [
            (name, a, b)
            for (name, a), (_, b) in zip(_rows(found.train), _rows(found.dev), strict=True)
        ],
    )
    title("Labels")
    labels = found.train.labels.most_common()
    rows = [(label, count, found.dev.labels[label]) for label, count in labels[:N_LABELS]]
    print_table(("label", "training", "development"), rows)
    if len(labels) > N_LABELS:
        show(f"({len(labels) - N_LABELS} more: --json)")
    train, dev = found.train.tokens.differences, found.dev.tokens.differences
    strings = (train + dev).most_common(N_STRINGS)
    if strings:
        title("Strings that the tokenizer splits otherwise")
        print_table(
            ("data", "tokenizer", "training", "development"),
            [
                (shorten(pair[0]), shorten(pair[1]), str(train[pair]), str(dev[pair]))
                for pair, _ in strings
            ],
        )
        more = len(train + dev) - len(strings)
        if more:
            show(f"({more} more: --json)")
    title("Findings")
    for finding in found.findings:
        sign, style = SIGNS[finding.level]
        show(paint(f"{sign} {finding.message}", style))


def _rows(split: Split) -> list[tuple[str, str]]:
    sizes = split.sentences_per_document
    f1 = split.tokens.f1
    per_document = sum(size * count for size, count in sizes.items()) / max(1, sizes.total())
    return [
        ("documents", str(split.documents)),
        ("sentences", str(split.sentences)),
        ("sentences per document", f"{per_document:.1f}"),
        ("words", str(split.words)),
        ("words without a head", str(split.unknown_heads)),
        ("tokens of the tokenizer, F1", "-" if f1 is None else f"{100 * f1:.2f}"),
        ("documents with cycles", str(len(split.cycles))),
        ("sentences with several roots", str(split.several_roots)),
        ("crossing arcs", str(split.crossing_arcs)),
        ("labels", str(len(split.labels))),
    ]
