"""``nmparse evaluate``: the scores of a trained pipeline, printed and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from spacy_nmparse.analysis.evaluate import evaluate
from spacy_nmparse.cli.asked import asks
from spacy_nmparse.cli.console import CODE, MODEL, check_choice, check_trees, failures, load
from spacy_nmparse.cli.records import dump, machine, parse_settings, versions
from spacy_nmparse.terminal import show
from spacy_nmparse.ud.corpus import check_file
from spacy_nmparse.wording import counted

CHOICES = {
    "unit": ("sentence", "doc", "text"),
    "tokens": ("gold", "raw"),
    "sents": ("none", "gold"),
    "tags": ("none", "data"),
}


@dataclass(frozen=True)
class Given:
    """The arguments and options."""

    model: str = MODEL
    data: Path = typer.Argument(..., help="Gold data: a .spacy or CoNLL-U (.conllu) file")
    output: Path | None = typer.Option(None, "--output", "-o", help="A JSON file to write")
    unit: str = typer.Option(
        "sentence",
        "--unit",
        help="'sentence': each gold sentence by itself; 'doc': whole documents; 'text': the "
        "running text of the CoNLL-U file",
    )
    tokens: str = typer.Option("gold", "--tokens", help="'gold', or 'raw': the tokenizer's")
    sents: str = typer.Option("none", "--sents", help="'gold': preset the gold boundaries; 'none'")
    tags: str = typer.Option("none", "--tags", help="'data': show the parser gold tags; 'none'")
    conllu: list[Path] = typer.Option(
        [],
        "--conllu",
        help="The CoNLL-U file that DATA was made from: score by the program of the CoNLL 2018 "
        "shared task against its words",
    )
    batch_size: int = typer.Option(256, "--batch-size", min=1, help="Documents of a batch")
    settings: list[str] = typer.Option(
        [], "--set", help="Another setting, KEY=VALUE, as components.parser.beam_width=8"
    )
    code: Path | None = CODE


@asks(Given)
def run(given: Given) -> None:
    """Score a pipeline on gold data: trees on gold tokens, or everything from raw text."""
    data, conllu = given.data, given.conllu
    how = {name: getattr(given, name) for name in CHOICES}
    for name, value in how.items():
        check_choice(f"--{name}", value, CHOICES[name])
    with failures():
        check_file(data)
        check_trees([data, *conllu])
        nlp = load(given.model, parse_settings(given.settings))
        scores = evaluate(nlp, data, **how, batch_size=given.batch_size, conllu=conllu)
    command = ["python -m spacy nmparse evaluate", Path(given.model).name, data.name]
    options = [*how.items(), *(("conllu", path.name) for path in conllu)]
    for name, value in [*options, *(("set", setting) for setting in given.settings)]:
        command += [f"--{name}", value]
    result = {
        "model": nlp.meta.get("name") or Path(given.model).name,
        "command": " ".join(command),
        "versions": versions(),
        "machine": machine(),
        **scores,
    }
    sentences = counted(result["n_sentences"], "sentence")
    show(f"{data.name}: {sentences}, {counted(result['n_words'], 'word')}")
    if given.tokens == "gold":
        print_scores(result["scores"])
    if "conll18" in result:
        gold = ", ".join(path.name for path in conllu) or data.name
        show(f"  CoNLL 2018 evaluation, F1 against the words of {gold}")
        print_scores(result["conll18"])
    show(f"  {'words/s':<14} {result['words_per_second'] or 0:6.0f}")
    if given.output is not None:
        with failures():
            dump(result, given.output)
        show(f"  written to {given.output}")


def print_scores(scores: dict[str, Any]) -> None:
    """Print scores in percent.

    Args:
        scores: The scores, between 0 and 1 or None, by name; others are left out. Or `error`.
    """
    if "error" in scores:
        show(f"  not evaluated: {scores['error']}")
    for name, value in scores.items():
        if isinstance(value, float):
            show(f"  {name:<14} {100 * value:6.2f}")
        elif value is None:
            show(f"  {name:<14}      -")
