"""How far the losses of repair transitions can be trusted on whole sentences, and what they cost.

    python -m benchmarks.repairs assets/UD_Gothic-PROIEL

Where the bounds of a loss differ, derivations are searched for, in a limited number of
configurations (the option `max_search_states` of arc_eager). From the start of each sentence,
lifted to be projective, an action is taken that costs least without repairs, or with a probability
of `--mistakes` any one. In each configuration shorter searches are compared with the longest: how
many losses differ, in how many configurations the dynamic oracle, as training asks it, allows other
actions than those that cost least by the longest search, and how long the oracle takes. With
`--decoupled 1` the same of decoupled repairs.

Result: a table, and benchmarks/runs/repairs/TREEBANK-SPLIT.json.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import program
from benchmarks.counting import count_treebanks
from spacy_nmparse import systems
from spacy_nmparse.analysis.trees import read_sentences, whole_trees
from spacy_nmparse.systems import Gold
from spacy_nmparse.systems.projective import lift

REPAIRS = ("right_lower", "right_raise", "left_invert")
SEARCHES = (1, 10, 50, 200, 5000)


def compare(path: Path, size: int, mistakes: float, decoupled: int) -> dict[str, Any]:
    """Walk through `size` sentences of a file, any action being taken with the probability
    `mistakes`. Counts configurations, those where repairs make the loss less, and for each search
    the losses and sets of allowed actions that differ from those of the longest, and microseconds a
    call."""
    options: dict[str, Any] = {
        "nonmonotonic_left": True,
        "nonmonotonic_reduce": True,
        "single_root": True,
    }
    plain = systems.create("arc_eager", **options)
    options |= {"repairs": REPAIRS, "decoupled_repairs": bool(decoupled)}
    others = {
        search: systems.create("arc_eager", **options, max_search_states=search)
        for search in SEARCHES
    }
    draw = random.Random(0)
    trees = [heads for heads in whole_trees(read_sentences(path)) if len(heads) > 1]
    draw.shuffle(trees)
    result = {"configurations": 0, "repairs_help": 0}
    losses = dict.fromkeys(SEARCHES, 0)
    free = dict.fromkeys(SEARCHES, 0)
    seconds = {0: 0.0, **dict.fromkeys(SEARCHES, 0.0)}
    for heads in trees[:size]:
        gold = Gold(lift(heads, [None] * len(heads))[0])
        state = others[SEARCHES[0]].initial(len(heads))
        while not state.is_final:
            told = {}
            for search, system in [(0, plain), *others.items()]:
                began = time.perf_counter()
                allowed = system.oracle(state, gold)
                seconds[search] += time.perf_counter() - began
                told[search] = (system.loss(state, gold), allowed)
            costs = others[SEARCHES[-1]].costs(state, gold)
            least = min(costs.values())
            longest = (told[SEARCHES[-1]][0], {a for a, cost in costs.items() if cost == least})
            result["configurations"] += 1
            result["repairs_help"] += told[0][0] > longest[0]
            for search in SEARCHES:
                losses[search] += told[search][0] != longest[0]
                free[search] += told[search][1] != longest[1]
            legal = others[SEARCHES[0]].actions(state)
            wrong = draw.random() < mistakes
            right = [action for action in legal if action in told[0][1]]
            others[SEARCHES[0]].apply(state, draw.choice(legal if wrong else right))
    return {
        **result,
        "losses": losses,
        "free": free,
        "microseconds": {
            search: round(1e6 * time_ / result["configurations"], 1)
            for search, time_ in seconds.items()
        },
    }


def rows(counts: dict[str, Any]) -> list[list[str]]:
    """Write the counts of a treebank, a row for each length of search."""
    total = counts["configurations"]
    cells = []
    for search in (0, *SEARCHES):
        shares = [""] * 2
        if search:
            differ = [counts[key][search] / total for key in ("losses", "free")]
            shares = [f"{100 * share:.2f} %" for share in differ]
        time_ = f"{counts['microseconds'][search]:.0f}"
        helped = f"{100 * counts['repairs_help'] / total:.1f} %"
        cells.append([str(search or "no repairs"), str(total), helped, *shares, time_])
    return cells


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    header = ["search", "configurations", "repairs lessen the loss", "losses differ"]
    header += ["allowed actions differ", "microseconds"]
    options = {"size": 100, "mistakes": 0.1, "decoupled": 0}
    return count_treebanks("repairs", __doc__, "dev", compare, rows, header, argv, options)


if __name__ == "__main__":
    raise SystemExit(main())
