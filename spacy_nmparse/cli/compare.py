"""``nmparse compare``: parsers with several seeds each, by their scores and their trees."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from spacy_nmparse.analysis.comparison import Difference, Run, Treebank, as_dict, differences
from spacy_nmparse.analysis.comparison_page import comparison_page
from spacy_nmparse.analysis.significance import require_scipy
from spacy_nmparse.analysis.tables import markdown, mean_and_deviation
from spacy_nmparse.cli.console import (
    JSON,
    check_choice,
    check_trees,
    fail,
    failures,
    load,
    percent,
    print_json,
    print_table,
    title,
)
from spacy_nmparse.pipe.files import write_files
from spacy_nmparse.terminal import show
from spacy_nmparse.ud.corpus import CONLLU, check_exists
from spacy_nmparse.ud.treebank import split_by
from spacy_nmparse.wording import counted

Rows = list[list[str]]
SCORES = "Scores in percent: mean and standard deviation over the runs"
DIFFERENCES = (
    "Differences in points: 95 % interval and p by paired bootstrap over sentences, p by "
    "Wilcoxon's test over runs, what is beyond chance by Holm's correction, and the sentences in "
    "which the first runs have other heads (UAS), or heads or labels (LAS)"
)


def run(
    gold: Path = typer.Argument(..., help="A CoNLL-U file with gold trees"),
    systems: list[str] = typer.Argument(
        ...,
        metavar="NAME=RUN[,RUN...]...",
        help="A name for each parser, and its runs: pipelines or parsed CoNLL-U files, as of "
        "several seeds",
    ),
    baseline: str | None = typer.Option(
        None, "--baseline", help="Compare all others with this one; else each with each"
    ),
    sents: str = typer.Option(
        "none", "--sents", help="'gold': pipelines get the sentence boundaries; 'none'"
    ),
    html: Path | None = typer.Option(
        None, "--html", help="Write a page of the sentences in which the trees differ"
    ),
    as_markdown: bool = typer.Option(False, "--markdown", help="Print Markdown"),
    as_json: bool = JSON,
) -> None:
    """Compare parsers over several seeds: scores, how sure the differences are, and trees."""
    check_choice("--sents", sents, ("none", "gold"))
    if as_json and as_markdown:
        fail("--json or --markdown: give one of them.")
    named = _named(systems)
    if baseline is not None:
        check_choice("--baseline", baseline, named)
    with failures():
        if len(named) > 1:
            require_scipy()
        check_exists(gold)
        if gold.suffix not in CONLLU:
            fail(f"{gold} is no CoNLL-U file: give the treebank's own .conllu file.")
        check_trees([gold])
        treebank = Treebank(gold)
        if treebank.has_multiword_tokens:
            treebank.merges = [split_by(load(path)) for path in _models(named)]
        found = {name: _runs(treebank, name, runs, sents) for name, runs in named.items()}
        compared = differences(found, baseline)
        if html is not None:
            write_files({html: comparison_page(treebank, found).encode()})
    if as_json:
        print_json(as_dict(treebank, found, compared))
        return
    first = next(iter(found.values()))[0].result
    counts = [counted(first["n_sentences"], "sentence"), counted(first["n_words"], "word")]
    for heading, (header, rows) in (
        (f"{gold.name}: {', '.join(counts)}\n{SCORES}", _score_table(found)),
        (DIFFERENCES, _difference_table(compared)),
    ):
        if not rows:
            continue
        if as_markdown:
            show(f"{heading.replace(chr(10), chr(10) * 2)}:\n\n{markdown(header, rows)}\n")
        else:
            title(heading)
            print_table(header, rows)
    if html is not None and not as_markdown:
        show(f"\nWritten: {html}")


def _named(systems: Sequence[str]) -> dict[str, list[str]]:
    """The runs of each name."""
    found: dict[str, list[str]] = {}
    for text in systems:
        name, equals, runs = text.partition("=")
        paths = runs.split(",")
        if not (name and equals and all(paths)):
            fail(f"{text!r}: write NAME=RUN or NAME=RUN,RUN, as nm=seed1/model-best,seed2.conllu.")
        if name in found:
            fail(f"{name!r} is given twice: write its runs as {name}=RUN,RUN.")
        found[name] = paths
    every = [path for paths in found.values() for path in paths]
    for path in every:
        if every.count(path) > 1:
            fail(f"{path} is given twice: a run is of one parser and seed.")
    return found


def _is_file(path: str) -> bool:
    """Whether a run is a parsed file."""
    return Path(path).suffix in CONLLU and not Path(path).is_dir()


def _models(named: dict[str, list[str]]) -> list[str]:
    return [path for paths in named.values() for path in paths if not _is_file(path)]


def _runs(treebank: Treebank, name: str, paths: Sequence[str], sents: str) -> list[Run]:
    """The runs of a system; each is told on standard error."""
    found = []
    for path in paths:
        if _is_file(path):
            check_exists(Path(path))
            one = treebank.run_file(Path(path))
        else:
            one = treebank.run_model(path, load(path), sents)
        uas, las = (percent(one.scores[metric]) for metric in ("uas_all", "las_all"))
        show(f"{name}: {path}: UAS {uas}, LAS {las}", file=sys.stderr)
        found.append(one)
    return found


def _score_table(systems: dict[str, list[Run]]) -> tuple[list[str], Rows]:
    names = list(next(iter(systems.values()))[0].scores)
    header = ["", *(f"{name} ({len(runs)})" for name, runs in systems.items())]
    rows = []
    for metric in names:
        values = [[run.scores[metric] for run in runs] for runs in systems.values()]
        rows.append([metric, *(mean_and_deviation(one, 100, 2) for one in values)])
    return header, rows


def _difference_table(compared: Sequence[Difference]) -> tuple[list[str], Rows]:
    header = ["", "metric", "difference", "95 % interval", "p bootstrap", "p Wilcoxon", "sure"]
    header.append("sentences")
    rows = []
    for one in compared:
        found: Any = one.found
        ps = (found.p_bootstrap, found.p_wilcoxon)
        rows.append(
            [
                *(f"{one.system} - {one.baseline}", one.metric, f"{found.difference:+.2f}"),
                f"{found.low:+.2f} … {found.high:+.2f}",
                *("-" if p is None else f"{p:.4f}" for p in ps),
                "yes" if one.is_sure else "no",
                str(one.n_changed),
            ]
        )
    return header, rows
