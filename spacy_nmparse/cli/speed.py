"""``nmparse speed``: words per second by length of the sentence."""

from __future__ import annotations

from pathlib import Path

from spacy_nmparse.analysis.speed import speed_by_length
from spacy_nmparse.cli.console import failures, gold_docs, load, print_json, print_table


def run(
    model: str,
    corpus: Path,
    component: str | None,
    unit: str,
    limit: int,
    reps: int,
    as_json: bool,
) -> None:
    """Print what was measured."""
    nlp = load(model)
    with failures():
        docs = gold_docs(nlp, corpus, unit, limit)
        rows = speed_by_length(nlp, docs, name=component, reps=reps)
    if as_json:
        print_json({"model": model, "corpus": corpus.name, "lengths": rows})
        return
    header = ("words", "documents", "words in all", "words/s, parser", "words/s, pipeline")
    shown = [
        (
            row["length"],
            row["documents"],
            row["words"],
            f"{row['parser']:.0f}",
            f"{row['pipeline']:.0f}",
        )
        for row in rows
    ]
    print_table(header, shown)
