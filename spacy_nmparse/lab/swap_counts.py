"""How many SWAPs the oracles of SwapStandard need for a treebank (BN15, Table 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spacy_nmparse import systems
from spacy_nmparse.lab.minimal import fewest_swaps, n_swaps
from spacy_nmparse.systems.action import Action
from spacy_nmparse.systems.configuration import State
from spacy_nmparse.systems.gold import Gold
from spacy_nmparse.systems.projective import is_projective
from spacy_nmparse.systems.system import TransitionSystem

#: The oracles of BN15's Table 1.
SWAP_ORACLES = ("eager", "lazy", "minimal")


def count_swaps(trees: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Count the SWAPs by which SwapStandard derives trees (BN15, Table 1).

    Projective trees need none. For the oracle `minimal` it is told how many searches were cut off,
    so that fewer SWAPs cannot be ruled out.

    Args:
        trees: heads of each tree, a root being its own.

    Returns:
        sentences; projective ones; not_proven; unique (sentences with one derivation only, by the
        oracle `nd_all`); swaps by oracle.
    """
    system = systems.create("swap_standard")
    result = {"sentences": 0, "projective": 0, "not_proven": 0, "unique": 0}
    swaps = dict.fromkeys(SWAP_ORACLES, 0)
    for heads in trees:
        gold = Gold(heads)
        result["sentences"] += 1
        result["unique"] += is_unique(system, gold)
        if is_projective(heads):
            result["projective"] += 1
            continue
        fewest, proven = fewest_swaps(gold)
        result["not_proven"] += not proven
        swaps["eager"] += n_swaps(gold, lazy=False)
        swaps["lazy"] += n_swaps(gold, lazy=True)
        swaps["minimal"] += fewest
    return {**result, "swaps": swaps}


def is_unique(system: TransitionSystem, gold: Gold) -> bool:
    """Whether SwapStandard has a single derivation of the tree, by the oracle `nd_all`."""
    state = system.initial(len(gold))

    def only(here: State) -> tuple[Action, None] | None:
        allowed = system.oracle(here, gold, "nd_all")
        return (allowed.pop(), None) if len(allowed) == 1 else None

    for _ in system.walk(state, only):
        pass
    return state.is_final
