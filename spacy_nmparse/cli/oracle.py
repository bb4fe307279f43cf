"""``nmparse oracle``: the derivations of a tree, with the cost of every move."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import typer

from spacy_nmparse import systems
from spacy_nmparse.analysis.corpus import Sentence, read_sentences
from spacy_nmparse.analysis.derivation import Derivation, all_derivations, derive_gold
from spacy_nmparse.analysis.page import render_page
from spacy_nmparse.analysis.steps import Step
from spacy_nmparse.analysis.text import configuration, has_lists, has_planes
from spacy_nmparse.cli.console import failures, paint
from spacy_nmparse.systems import Gold

#: How many moves are shown with their costs, the cheapest; non-local systems can have many.
SHOWN = 8


def read_heads(text: str) -> list[int | None]:
    """Heads as CoNLL-U writes them: numbers from 1, 0 for ROOT, _ for unknown.

    Raises typer.BadParameter for anything else.
    """
    heads: list[int | None] = []
    for word, part in enumerate(text.split()):
        if part == "_":
            heads.append(None)
        elif part.isdecimal() and int(part) != word + 1:
            heads.append(word if part == "0" else int(part) - 1)
        else:
            raise typer.BadParameter(
                f"{part!r} is no head of word {word + 1}: give one number a word, from 1, 0 for "
                f"ROOT, _ for unknown; or the path of a CoNLL-U file."
            )
    return heads


def read_options(pairs: list[str]) -> dict[str, Any]:
    """Options of a system: a name switches one on, name=true or name=false sets it, name=3 or
    name=text those that are numbers or names.

    Raises typer.BadParameter for another value.
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        if name in ("max_length", "max_search_states"):
            if not value.isdecimal():
                raise typer.BadParameter(f"Option {name!r} is a number, not {value!r}.")
            options[name] = int(value)
        elif name in ("push", "root_label"):
            options[name] = value
        elif name == "repairs":
            options[name] = tuple(value.split(","))
        elif value in ("", "true", "false"):
            options[name] = value != "false"
        else:
            raise typer.BadParameter(f"Option {name!r} is true or false, not {value!r}.")
    return options


def read_tree(tree: str, number: int) -> Sentence:
    """A sentence of a file, or heads.

    Raises typer.BadParameter for what is neither.
    """
    path = Path(tree)
    if path.suffix in (".conllu", ".conll", ".spacy"):
        with failures():
            sentences = list(islice(read_sentences(path), number))
            if len(sentences) < number:
                raise ValueError(f"{path} has {len(sentences)} sentences, not {number}.")
        return sentences[-1]
    heads = read_heads(tree)
    return Sentence([str(word + 1) for word in range(len(heads))], heads, [None] * len(heads))


def run(
    system: str,
    tree: str,
    options: list[str],
    oracle: str,
    number: int,
    every: int,
    html: Path | None,
    as_json: bool,
) -> None:
    """Print the derivations."""
    sentence = read_tree(tree, number)
    labels = sorted({label for label in sentence.labels if label}) or None
    try:
        chosen = systems.create(system, labels, **read_options(options))
        gold = Gold(sentence.heads, sentence.labels if labels else None)
        if every == 1:
            found = [derive_gold(chosen, gold, oracle, sentence.words)]
        else:
            found = list(islice(all_derivations(chosen, gold, oracle, sentence.words), every))
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error)) from error
    if html is not None:
        with failures():
            html.write_text(render_page(found[0]), encoding="utf-8")
    for count, derivation in enumerate(found, start=1):
        if as_json:
            _print_json(derivation)
            continue
        if every > 1:
            print(f"derivation {count}")
        _print_text(derivation)
    if every > 1 and not as_json:
        more = "at least " if len(found) == every else ""
        print(f"{more}{len(found)} derivations by {oracle}")


def _name(word: int) -> str:
    return "ROOT" if word == systems.ROOT else str(word + 1)


def _heads(derivation: Derivation) -> list[int]:
    return [0 if head == word else head + 1 for word, head in enumerate(derivation.heads)]


def _moves(derivation: Derivation) -> list[Step]:
    return [step for step in derivation.steps if step.action is not None]


def _print_json(derivation: Derivation) -> None:
    planes = has_planes(derivation)
    for count, step in enumerate(_moves(derivation), start=1):
        line = {
            "step": count,
            "stack": list(map(_name, step.stack or step.lambda1)),
            **({"other_stack": list(map(_name, step.other_stack))} if planes else {}),
            "buffer": list(map(_name, step.buffer)),
            "costs": [[*choice.action, choice.cost] for choice in step.choices],
            "action": list(step.action or ()),
        }
        print(json.dumps(line))
    print(json.dumps({"heads": _heads(derivation)}))


def _print_text(derivation: Derivation) -> None:
    numbers = list(map(_name, range(len(derivation.words))))
    lists, planes = has_lists(derivation), has_planes(derivation)
    for count, step in enumerate(_moves(derivation), start=1):
        costs = "  ".join(
            paint(f"{_short(choice.action)} {choice.cost:g}", "" if choice.cost else "good")
            for choice in step.choices[:SHOWN]
        )
        if len(step.choices) > SHOWN:
            costs += f"  … {len(step.choices) - SHOWN} more"
        print(f"{count:>3}  {configuration(step, numbers, lists, planes)}  {step.name}  ({costs})")
    if derivation.words != numbers:
        print("words:", " ".join(f"{i}:{word}" for i, word in enumerate(derivation.words, start=1)))
    print("heads:", *_heads(derivation))


def _short(action: systems.Action) -> str:
    k = "" if action.k == 1 else action.k
    return f"{action.move}{k}" + (f" {action.label}" if action.label else "")
