"""``nmparse oracle``: the derivations of a tree, with the cost of every move."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import typer

from spacy_nmparse import systems
from spacy_nmparse.analysis.derivation import (
    Derivation,
    all_derivations,
    derive_actions,
    derive_gold,
)
from spacy_nmparse.analysis.page import render_page
from spacy_nmparse.analysis.steps import Choice, Step, action_name
from spacy_nmparse.analysis.text import arc_text, configuration, has_lists, has_planes
from spacy_nmparse.cli.asked import asks
from spacy_nmparse.cli.console import HTML, NUMBER, bad, failures, paint
from spacy_nmparse.cli.trees import read_tree
from spacy_nmparse.lab.losses import Lost, lost_arcs
from spacy_nmparse.lab.written_moves import check_moves, read_moves
from spacy_nmparse.pipe.files import write_files
from spacy_nmparse.systems import Gold
from spacy_nmparse.terminal import show
from spacy_nmparse.wording import counted

#: How many moves are shown with their costs, the cheapest; non-local systems can have many.
SHOWN = 8
#: The systems of the parsers, by the names of their factories.
SYSTEM_OF = {
    "nm_parser": "arc_eager",
    "nl_covington_parser": "nl_covington",
    "swap_parser": "swap_standard",
}


def read_options(system: str, pairs: list[str]) -> dict[str, Any]:
    """Options of a system, each of the type of its default: a name switches one on, name=true or
    name=false sets it, name=3 or name=text those that are numbers or texts, name=a,b lists.

    Raises typer.BadParameter for a value of another type, TypeError for an unknown option.
    """
    if system in SYSTEM_OF:
        raise bad(f"{system} is a parser. Its system is {SYSTEM_OF[system]}.")
    known = systems.check_known(system, dict.fromkeys(pair.partition("=")[0] for pair in pairs))
    options: dict[str, Any] = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        default = known[name]
        if isinstance(default, bool):
            if value.lower() not in ("", "true", "false"):
                raise bad(f"Option {name!r} is true or false, not {value!r}.")
            options[name] = value.lower() != "false"
        elif isinstance(default, (int, float)):
            try:
                options[name] = type(default)(value)
            except ValueError:
                raise bad(f"Option {name!r} is a number, not {value!r}.") from None
        elif isinstance(default, (tuple, list)):
            options[name] = tuple(value.split(","))
        else:
            options[name] = value
    return options


@dataclass(frozen=True)
class Given:
    """The arguments and options."""

    system: str = typer.Argument(..., help="Name of a transition system, as arc_eager")
    tree: str | None = typer.Argument(
        None,
        help="Heads as in CoNLL-U, as '2 0 2' or '2:nsubj 0:root 2:obj' (0 is ROOT, _ unknown), or "
        "a CoNLL-U file. Not needed with --words and --moves",
    )
    words: str | None = typer.Option(None, "--words", help="The words, for heads")
    moves: str | None = typer.Option(
        None, "--moves", help="The moves to make, as 'SHIFT LEFT-ARC(nsubj)', not an oracle's"
    )
    option: list[str] = typer.Option(
        [], "--option", "-o", help="An option of the system: name, name=true, name=3"
    )
    oracle: str = typer.Option("dynamic", "--oracle", help="The oracle to follow")
    number: int = NUMBER
    every: int = typer.Option(
        1, "--derivations", min=1, help="Up to so many of them, if the oracle allows several"
    )
    html: Path | None = HTML
    as_json: bool = typer.Option(False, "--json", help="Print JSON, a line for each step")


@asks(Given)
def run(given: Given) -> None:
    """Derive a tree step by step: configuration, cost of every legal move, the move taken, and the
    arcs that it loses."""
    if given.tree is None and given.moves is None:
        raise bad("An oracle needs a TREE: give its heads, or --words and --moves.")
    if given.moves is not None and given.every > 1:
        raise bad("--moves is one derivation: leave --derivations out.")
    chosen, gold, found, legal = _derived(given)
    if given.html is not None:
        with failures():
            write_files({given.html: render_page(found[0]).encode()})
    for count, derivation in enumerate(found, start=1):
        lost = _lost(chosen, gold, derivation)
        if given.as_json:
            _print_json(derivation, lost)
            continue
        if given.every > 1:
            show(f"derivation {count}")
        _print_text(derivation, lost, given.words is not None)
        if legal:
            show(f"The derivation is not finished. Legal next: {legal}.")
    if given.every > 1 and not given.as_json:
        more = "at least " if len(found) == given.every else ""
        show(f"{more}{counted(len(found), 'derivation')} by {given.oracle}")


def _derived(
    given: Given,
) -> tuple[systems.TransitionSystem, Gold | None, list[Derivation], str]:
    """The system, the tree if there is one, the derivations, and what is legal behind moves that
    end before the derivation does."""
    sentence = read_tree(given.tree, given.words, given.number)
    made = [] if given.moves is None else read_moves(given.moves)
    named = (*sentence.labels, *(action.label for action in made))
    labels = sorted({label for label in named if label}) or None
    legal, gold = "", None
    try:
        chosen = systems.create(given.system, labels, **read_options(given.system, given.option))
        chosen.oracle_id(given.oracle)
        if given.tree is not None:
            gold = Gold(sentence.heads, sentence.labels if labels else None)
        if given.moves is not None:
            legal = check_moves(chosen, made, sentence.words)
            found = [derive_actions(chosen, made, sentence.words, gold)]
        elif gold is not None and given.every == 1:
            found = [derive_gold(chosen, gold, given.oracle, sentence.words)]
        elif gold is not None:
            every = all_derivations(chosen, gold, given.oracle, sentence.words)
            found = list(islice(every, given.every))
    except (ValueError, TypeError) as error:
        raise bad(str(error)) from error
    return chosen, gold, found, legal


def _lost(
    system: systems.TransitionSystem, gold: Gold | None, derivation: Derivation
) -> list[tuple[Lost, float]] | None:
    """The arcs lost at the start, and by each move; None: no tree is known."""
    if gold is None:
        return None
    return list(
        lost_arcs(system, gold, [step.action for step in _moves(derivation) if step.action])
    )


def _told(lost: Lost, words: list[str]) -> list[str]:
    """The arcs that are lost, in words."""
    lines = [f"lost: {arc_text(arc, words)}" for arc in lost.arcs]
    if lost.others:
        arcs = ", ".join(arc_text(arc, words) for arc in lost.others)
        lines.append(f"lost: {lost.n_others} of {arcs}")
    return lines


def _name(word: int) -> str:
    return "ROOT" if word == systems.ROOT else str(word + 1)


def _heads(derivation: Derivation) -> list[int | None]:
    """As CoNLL-U has them; None: no head yet."""
    found = {arc.dependent: arc.head for arc in derivation.arcs(len(derivation.steps))}
    heads = [found.get(word) for word in range(len(derivation.words))]
    return [None if head is None else 0 if head == systems.ROOT else head + 1 for head in heads]


def _moves(derivation: Derivation) -> list[Step]:
    return [step for step in derivation.steps if step.action is not None]


def _print_json(derivation: Derivation, lost: list[tuple[Lost, float]] | None) -> None:
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
        if lost is not None:
            line["lost"] = _told(lost[count][0], list(map(_name, range(len(derivation.words)))))
        show(json.dumps(line))
    show(json.dumps({"heads": _heads(derivation)}))


def _print_text(
    derivation: Derivation, lost: list[tuple[Lost, float]] | None, in_words: bool
) -> None:
    numbers = list(map(_name, range(len(derivation.words))))
    words = derivation.words if in_words else numbers
    lists, planes = has_lists(derivation), has_planes(derivation)
    for line in _told(lost[0][0], words) if lost else ():
        show(paint(f"     {line}, from the start", "old"))
    for count, step in enumerate(_moves(derivation), start=1):
        costs = "  ".join(_cost(choice) for choice in step.choices[:SHOWN])
        if len(step.choices) > SHOWN:
            costs += f"  … {len(step.choices) - SHOWN} more"
        show(f"{count:>3}  {configuration(step, words, lists, planes)}  {step.name}  ({costs})")
        for line in _told(lost[count][0], words) if lost else ():
            show(paint(f"     {line}", "old"))
    if derivation.words != words:
        show("words:", " ".join(f"{i}:{word}" for i, word in enumerate(derivation.words, start=1)))
    show("heads:", *("_" if head is None else head for head in _heads(derivation)))
    if lost and lost[-1][1]:
        show(f"loss: {lost[-1][1]:g}")


def _cost(choice: Choice) -> str:
    if choice.cost is None:
        return action_name(choice.action)
    return paint(f"{action_name(choice.action)} {choice.cost:g}", "" if choice.cost else "good")
