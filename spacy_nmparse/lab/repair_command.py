"""``nmparse repairs``: how a parser uses its non-monotonic moves.

The command comes through the entry points ``spacy_nmparse_commands``.
"""

from __future__ import annotations

from pathlib import Path

import typer

from spacy_nmparse.analysis.text import arc_text
from spacy_nmparse.cli.console import (
    COMPONENT,
    CORPUS,
    JSON,
    LIMIT,
    MODEL,
    UNIT,
    failures,
    gold_docs,
    load,
    paint,
    percent,
    print_json,
    print_table,
    title,
)
from spacy_nmparse.lab.repair_use import Repair, Repairs, find_repairs
from spacy_nmparse.terminal import show
from spacy_nmparse.wording import counted

N_LABELS = 10
OUTCOMES = {"tp": "right", "neutral": "neutral", "fp": "wrong"}


def run(
    model: str = MODEL,
    corpus: Path = CORPUS,
    component: str | None = COMPONENT,
    unit: str = UNIT,
    limit: int = LIMIT,
    examples: int = typer.Option(2, "--examples", min=0, help="Examples of each kind and outcome"),
    as_json: bool = JSON,
) -> None:
    """Judge the non-monotonic moves that a parser makes, and those that it misses."""
    nlp = load(model)
    with failures():
        docs = gold_docs(nlp, corpus, unit, limit)
        found = find_repairs(nlp, docs, name=component, n_examples=examples)
    if as_json:
        print_json(found.as_dict())
        return
    show(
        f"{counted(found.documents, 'document')}, {counted(found.words, 'word')}, "
        f"{counted(found.moves, 'move')}"
    )
    if not found.outcomes:
        show("No non-monotonic move was legal in any configuration: the system is monotonic.")
        return
    _print_outcomes(found)
    if found.heads:
        right, most = (100 * count / found.heads for count in (found.right, found.at_most))
        show(
            f"Heads right: {right:.2f} %; if the oracle decided these moves: {most:.2f} %"
            " (HGJ13, section 8)"
        )
    for move, counts in sorted(found.labels.items()):
        title(f"{move}: label before and after")
        rows = [
            (before or "(no arc)", after or "(no arc)", OUTCOMES[outcome], count)
            for (before, after, outcome), count in counts.most_common(N_LABELS)
        ]
        print_table(("before", "after", "outcome", "count"), rows, n_left=3)
    if found.examples:
        title("Examples")
        for example in sorted(found.examples, key=lambda one: (one.move, one.outcome)):
            show(_example_text(example))


def _print_outcomes(found: Repairs) -> None:
    title("Non-monotonic moves (HGJ13, Table 2)")
    rows = []
    for name, one in [*sorted(found.outcomes.items()), ("total", found.total)]:
        counts = (one.tp, one.neutral, one.fp, one.tn, one.fn, one.deferred)
        rows.append((name, *counts, percent(one.precision), percent(one.recall)))
    header = ("move", "TP", "neutral", "FP", "TN", "FN", "deferred", "precision", "recall")
    print_table(header, rows)


def _example_text(example: Repair) -> str:
    deleted = [paint(f"- {arc_text(arc, example.words)}", "old") for arc in example.deleted]
    added = [paint(f"+ {arc_text(arc, example.words)}", "new") for arc in example.added]
    head = example.gold_head
    gold = "unknown" if head is None else "ROOT" if head < 0 else str(head + 1)
    if head is not None and 0 <= head < len(example.words):
        gold = example.words[head]
    text = " ".join(example.words)
    arcs = "  ".join([*deleted, *added])
    return f"{example.move}, {OUTCOMES[example.outcome]}: {text}\n    {arcs}  (gold head: {gold})"
