"""`python -m spacy nmparse ...`: found by spaCy's command line through an entry point.

spaCy imports this module for each of its commands: it imports nothing of ours until one of our own
commands runs, and a spaCy that keeps its application elsewhere just does not get them.
"""

# No postponed annotations here: typer reads them.
import json
from typing import Any, Dict, List, Optional

import typer

nmparse = typer.Typer(
    name="nmparse", no_args_is_help=True, help="Transition systems: derivations and costs."
)


@nmparse.callback()
def main() -> None:
    """Transition systems: derivations and costs."""


def read_heads(text: str) -> List[Optional[int]]:
    """Heads as CoNLL-U writes them: numbers from 1, 0 for ROOT, _ for unknown.

    Raises typer.BadParameter for anything else.
    """
    heads: List[Optional[int]] = []
    for word, part in enumerate(text.split()):
        if part == "_":
            heads.append(None)
        elif part.isdigit():
            heads.append(word if part == "0" else int(part) - 1)
        else:
            raise typer.BadParameter(
                f"{part!r} is no head: give one number a word, from 1, 0 for ROOT, _ for unknown."
            )
    return heads


def read_options(pairs: List[str]) -> Dict[str, Any]:
    """Options of a system: a name switches one on, name=true or name=false sets it.

    Raises typer.BadParameter for another value.
    """
    options: Dict[str, Any] = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        if value not in ("", "true", "false"):
            raise typer.BadParameter(f"Option {name!r} is true or false, not {value!r}.")
        options[name] = value != "false"
    return options


@nmparse.command("oracle")
def oracle(
    system: str = typer.Argument(..., help="Name of a transition system, as arc_eager"),
    heads: str = typer.Argument(..., help="Heads as in CoNLL-U, as '2 0 2': 0 is ROOT, _ unknown"),
    option: List[str] = typer.Option([], "--option", "-o", help="An option of the system"),
    name: str = typer.Option("dynamic", "--oracle", help="The oracle to follow"),
    as_json: bool = typer.Option(False, "--json", help="Print JSON, a line for each step"),
) -> None:
    """Derive a tree step by step: configuration, cost of every legal move, the move taken."""
    from spacy_nmparse import systems

    words = read_heads(heads)
    try:
        chosen = systems.create(system, **read_options(option))
        gold = systems.Gold(words)
        actions = chosen.derivation(gold, name)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error)) from error

    def number(word: int) -> str:
        return "ROOT" if word == systems.ROOT else str(word + 1)

    state = chosen.initial(len(words))
    for step, action in enumerate(actions, start=1):
        costs = chosen.costs(state, gold)
        left, right = state.stack or state.lambda1, state.buffer
        if as_json:
            line = {
                "step": step,
                "stack": [number(word) for word in left],
                "buffer": [number(word) for word in right],
                "costs": [[*move, cost] for move, cost in costs.items()],
                "action": list(action),
            }
            print(json.dumps(line))
        else:
            shown = "  ".join(
                f"{move.move}{'' if move.k == 1 else move.k} {cost:g}"
                for move, cost in costs.items()
            )
            print(
                f"{step:>3}  [{' '.join(map(number, left))}] [{' '.join(map(number, right))}]  "
                f"{action.move}{'' if action.k == 1 else action.k}  ({shown})"
            )
        chosen.apply(state, action)
    found, _ = state.tree()
    if as_json:
        print(json.dumps({"heads": [0 if h == w else h + 1 for w, h in enumerate(found)]}))
    else:
        print("heads:", " ".join("0" if h == w else str(h + 1) for w, h in enumerate(found)))


try:
    from spacy.cli._util import app

    app.add_typer(nmparse, name="nmparse")
except ImportError:  # pragma: no cover
    pass
