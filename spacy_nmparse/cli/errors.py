"""``nmparse errors``: where a parser errs, and what its first wrong moves cost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import typer

from spacy_nmparse.analysis.drawing import write_drawings
from spacy_nmparse.analysis.errors import Errors, find_errors
from spacy_nmparse.cli.asked import asks
from spacy_nmparse.cli.console import (
    CODE,
    COMPONENT,
    CORPUS,
    JSON,
    LIMIT,
    MODEL,
    UNIT,
    failures,
    gold_docs,
    load,
    percent,
    print_json,
    print_table,
    title,
)
from spacy_nmparse.terminal import show
from spacy_nmparse.wording import counted

TITLES = {
    "label": "By label",
    "length": "By length of the arc",
    "direction": "By direction",
    "projectivity": "By projectivity",
    "sentence_length": "By length of the sentence",
}
N_ROWS = 20


@dataclass(frozen=True)
class Given:
    """The arguments and options."""

    model: str = MODEL
    corpus: Path = CORPUS
    component: str | None = COMPONENT
    unit: str = UNIT
    limit: int = LIMIT
    drawing: Path | None = typer.Option(
        None, "--draw", help="Write a page with drawings of the parses, errors marked"
    )
    as_json: bool = JSON
    code: Path | None = CODE


@asks(Given)
def run(given: Given) -> None:
    """Break a parser's errors down, and find its first wrong moves and what they cost."""
    nlp = load(given.model)
    with failures():
        docs = gold_docs(nlp, given.corpus, given.unit, given.limit)
        found = find_errors(nlp, docs, name=given.component)
        if given.drawing is not None:
            write_drawings(nlp, docs, given.drawing)
    if given.as_json:
        print_json(found.as_dict())
        return
    all_ = found.all
    show(
        f"{counted(found.documents, 'document')}, {counted(all_.gold, 'word')}: "
        f"UAS {percent(all_.uas)}, LAS {percent(all_.las)}"
    )
    _print_groups(found)
    title("Right head, wrong label")
    rows = [
        (gold, said, count) for (gold, said), count in found.confusions.most_common(N_ROWS // 2)
    ]
    print_table(("gold", "predicted", "words"), rows, n_left=2)
    _print_first(found)


def _print_groups(found: Errors) -> None:
    for name, text in TITLES.items():
        title(text)
        groups = list(found.groups[name].items())
        rows = [
            (kind, g.gold, percent(g.uas), percent(g.las), g.predicted, percent(g.precision))
            for kind, g in groups[:N_ROWS]
        ]
        header = (name.replace("_", " "), "gold", "UAS", "LAS", "predicted", "precision")
        print_table(header, rows)
        if len(groups) > N_ROWS:
            show(f"({len(groups) - N_ROWS} rarer ones: --json)")


def _print_first(found: Errors) -> None:
    title("First wrong moves of a document, and the errors that the right ones would have saved")
    of = f"of {found.documents}"
    flawless = counted(found.flawless, f"document {of} has", f"documents {of} have")
    show(f"{flawless} no wrong move.")
    rows = [
        (
            one.made,
            one.right,
            one.count,
            f"{one.own / one.count:.2f}",
            f"{one.saved / one.count:.2f}",
            f"{(one.saved - one.own) / one.count:+.2f}",
        )
        for one in sorted(found.first.values(), key=lambda one: -one.count)[:N_ROWS]
    ]
    header = ("made", "instead of", "documents", "own cost", "saved", "downstream")
    print_table(header, rows, n_left=2)
