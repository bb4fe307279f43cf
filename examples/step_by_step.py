"""Step through transition systems from Python, and ask their oracles.

    python examples/step_by_step.py

Words are numbered from 0; a root is its own head. No model is needed.
"""

from __future__ import annotations

import argparse

from spacy_nmparse import systems
from spacy_nmparse.systems import Action, Gold, State, TransitionSystem

WORDS = ["I", "saw", "Jack", "and", "Jill", "fall"]
GOLD = Gold([1, 1, 5, 4, 2, 1], ["nsubj", "ROOT", "nsubj", "cc", "conj", "ccomp"])


def text(words: list[int]) -> str:
    """Words as texts."""
    return " ".join("ROOT" if word == systems.ROOT else WORDS[word] for word in words) or "-"


def least_costs(system: TransitionSystem, state: State, gold: Gold) -> dict[str, float]:
    """What each legal move costs with its best label, the cheapest first."""
    least: dict[str, float] = {}
    for action, cost in system.costs(state, gold).items():
        least[action.move] = min(cost, least.get(action.move, cost))
    return dict(sorted(least.items(), key=lambda item: item[1]))


def repair() -> None:
    """A wrong arc, and how the non-monotonic system replaces it."""
    labels = ("nsubj", "obj", "cc", "conj", "ccomp", "ROOT")
    system = systems.create(
        "arc_eager", labels=labels, nonmonotonic_left=True, nonmonotonic_reduce=True
    )
    state = system.initial(len(WORDS))
    wrong = {3: Action("RIGHT-ARC", 1, "obj")}  # Jack as the object of saw
    for number in range(100):
        if state.is_final:
            break
        action = wrong.get(number) or min(system.oracle(state, GOLD, "combined"), key=str)
        costs = ", ".join(f"{m} {c:g}" for m, c in least_costs(system, state, GOLD).items())
        print(f"{number + 1:>2}  [{text(state.stack)}] [{text(state.buffer)}]  {costs}")
        system.apply(state, action)
        made = action.move if action.label is None else f"{action.move} {action.label}"
        print(f"    {made}, least loss {system.loss(state, GOLD):g}")
    heads, _ = state.tree()
    print("the gold tree:", heads == list(GOLD.heads), end="\n\n")


def crossing() -> None:
    """A tree whose arcs cross: who derives it, in how many moves."""
    # A hearing is scheduled on the issue today (Nivre 2009): hearing -> on crosses
    # scheduled -> today. A projective system gets as close as it can.
    gold = Gold([1, 3, 3, 3, 1, 6, 4, 3])
    for name in ("arc_eager", "covington", "nl_covington", "swap_standard"):
        system = systems.create(name)
        state = system.initial(len(gold))
        derivation = system.derivation(gold, "static")
        for action in derivation:
            system.apply(state, action)
        heads, _ = state.tree()
        wrong = sum(head != other for head, other in zip(heads, gold.heads, strict=True))
        print(f"{name:<14} {len(derivation)} moves, {wrong} wrong heads")


def main(argv: list[str] | None = None) -> None:
    """Run the command line."""
    assert __doc__ is not None
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args(argv)
    repair()
    crossing()


if __name__ == "__main__":
    main()
