"""``nmparse stats``: what a treebank is like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spacy_nmparse.analysis.trees import read_sentences
from spacy_nmparse.cli.console import CORPUS, JSON, failures, print_json, print_table, title
from spacy_nmparse.lab.statistics import describe
from spacy_nmparse.pipe.evaluation import bin_names

N_LABELS = 15


def run(corpus: Path = CORPUS, as_json: bool = JSON) -> None:
    """Describe a treebank: sizes, crossing arcs, transitions by system."""
    with failures():
        found = {"file": corpus.name, **describe(read_sentences(corpus))}
    if as_json:
        print_json(found)
        return
    _print_sizes(found)
    _print_lengths(found)
    trees = found["trees"]
    if trees:
        title("Transitions that derive the trees, static oracles (FG18, Table 4)")
        rows = [
            (column, one["sentences"], one["transitions"], _decimals(one["per_sentence"]))
            for column, one in found["transitions"].items()
        ]
        print_table(("system", "sentences", "transitions", "per sentence"), rows)
    title("Labels")
    labels = list(found["labels"].items())
    total = sum(count for _, count in labels) or 1
    shown: list[tuple[Any, ...]] = [
        (label, n, f"{100 * n / total:.2f} %") for label, n in labels[:N_LABELS]
    ]
    if labels[N_LABELS:]:
        rest = sum(count for _, count in labels[N_LABELS:])
        shown.append((f"({len(labels) - N_LABELS} more)", rest, f"{100 * rest / total:.2f} %"))
    print_table(("label", "words", "share"), shown)


def _print_sizes(found: dict[str, Any]) -> None:
    trees = found["trees"]
    rows: list[tuple[str, Any]] = [
        ("sentences", found["sentences"]),
        ("words", found["words"]),
        ("words per sentence", _decimals(found["sentence_length"]["mean"])),
        ("longest sentence", found["sentence_length"]["most"]),
        *((f"no whole tree: {fault}", count) for fault, count in found["faults"].items()),
        ("several roots", found["several_roots"]),
        ("projective trees", share(found["projective_sentences"], trees)),
        ("arcs between words", found["arcs"]),
        ("crossing arcs", share(found["crossing_arcs"], found["arcs"])),
        ("their median length", _decimals(found["crossing_arc_length"]["median"])),
    ]
    title(found["file"])
    print_table(("", "value"), rows)


def _print_lengths(found: dict[str, Any]) -> None:
    title("Lengths")
    parts = [found[name]["bins"] for name in ("sentence_length", "arc_length")]
    parts.append(found["crossing_arc_length"]["bins"])
    rows = [
        (name, *(part.get(name, 0) for part in parts))
        for name in bin_names()
        if any(name in part for part in parts)
    ]
    print_table(("words", "sentences", "arcs", "crossing arcs"), rows)


def share(part: int, whole: int) -> str:
    """A count, and its share."""
    return f"{part} ({100 * part / whole:.2f} %)" if whole else str(part)


def _decimals(number: float | None) -> str:
    return "-" if number is None else f"{number:.2f}"
