"""Proof by search of swap_standard's oracles; part of ``python -m tests.exhaustive``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from spacy_nmparse import systems
from spacy_nmparse.systems import Gold
from tests.naive import arc_standard as naive
from tests.naive.system import ROOT
from tests.naive.trees import Tree, golds, is_projective

SWAP_ORACLES = tuple(
    name for name in ("eager", "lazy", "minimal") if name in systems.create("swap_standard").oracles
)
#: What SHIFT is a choice with; there is no other choice between moves (BN15, section 4.1).
OTHERS = ("LEFT-ARC", "RIGHT-ARC", "SWAP")
ORACLE_HEADER = (
    "| swap_standard's oracles | n | trees | configurations | moves that nd_all allows | refuses | "
    f"wrong | SWAPs of non-projective trees: {' | '.join(SWAP_ORACLES)} | fewest | in any order | "
    f"SHIFT or: {' | '.join(OTHERS)} |\n| --- |{' --: |' * (8 + len(SWAP_ORACLES) + len(OTHERS))}"
)


@dataclass
class OracleResult:
    """What the oracles of swap_standard allow in the configurations on the way to all trees."""

    options: dict[str, Any]
    n: int
    trees: int = 0
    configurations: int = 0
    allowed: int = 0  # by ND-ALL
    refused: int = 0
    wrong: int = 0
    swaps: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SWAP_ORACLES, 0))
    fewest: int = 0
    freely: int = 0  # SWAPs, where they may leave the projective order (BN15, footnote 3)
    choices: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OTHERS, 0))
    examples: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return self.wrong > 0


def check_swap_oracles(options: dict[str, Any], n: int) -> OracleResult:
    """Compare the oracles of swap_standard with what search finds on every tree.

    ND-ALL must allow the moves that keep the tree reachable within the projective order, and no
    others, and leave no choice but one between SHIFT and one of OTHERS (counted by that one);
    ND-SW the same, but for SHIFT beside an arc; the others must stay within that, derive
    the tree, and MINIMAL with the fewest SWAPs. BREAK comes first.
    """
    result = OracleResult(options, n)
    system = systems.create("swap_standard", **options)
    plain = naive.ArcStandard(swap=True, **options)

    def wrong(what: str) -> None:
        result.wrong += 1
        if len(result.examples) < 3:
            result.examples.append(what)

    one_root, segment = (options.get(name, False) for name in ("single_root", "segment"))
    for tree in golds(n, projective=False, one_root=one_root, segment=segment):
        gold = Gold(*tree)
        result.trees += 1
        found = naive.lattice(plain, tree)
        todo: list[tuple[systems.State, naive.State]] = [(system.initial(n), plain.initial(n))]
        seen = {todo[0][1]}
        while todo:
            state, mirror = todo.pop()
            moves = found[mirror]
            if mirror.is_final:
                continue
            result.configurations += 1
            right = {action for action, (_, swaps) in moves.items() if swaps is not None}
            told = {naive.Action(*a) for a in system.oracle(state, gold, "nd_all")}
            if naive.Action("BREAK") in right:
                right = {naive.Action("BREAK")}
            if told != right:
                wrong(f"nd_all allows {told}, right {right}: {state!r}, {tree}")
            other = {action.move for action in right} - {"SHIFT"}
            if len(right) > 1 and (len(right) > 2 or len(other) > 1 or not other <= set(OTHERS)):
                wrong(f"a choice between {right}: {state!r}, {tree}")
            elif len(right) > 1:
                result.choices[other.pop()] += 1
            result.allowed += len(told)
            result.refused += len(moves) - len(told)
            if any(action.move.endswith("ARC") for action in right):
                right = {action for action in right if action.move.endswith("ARC")}
            if "nd_sw" in system.oracles:  # the lab's
                told = {naive.Action(*a) for a in system.oracle(state, gold, "nd_sw")}
            if "nd_sw" in system.oracles and told != right:
                wrong(f"nd_sw allows {told}, right {right}: {state!r}, {tree}")
            for action, (after, swaps) in moves.items():
                if swaps is not None and after not in seen:
                    seen.add(after)
                    copy = state.copy()
                    system.apply(copy, action)
                    todo.append((copy, after))
        counts = {}
        for oracle in SWAP_ORACLES:
            mirror = plain.initial(n)
            counts[oracle] = 0
            for action in system.derivation(gold, oracle):
                counts[oracle] += action.move == "SWAP"
                if found[mirror].get(naive.Action(*action), (None, None))[1] is None:
                    wrong(f"{oracle} allows {action}: {mirror}, {tree}")
                    break
                mirror = plain.apply(mirror, naive.Action(*action))
            if mirror.heads != tree.heads:
                wrong(f"{oracle} derives {mirror.heads}, not {tree}")
        start = found[plain.initial(n)]
        fewest = min(k + (a.move == "SWAP") for a, (_, k) in start.items() if k is not None)
        if counts.get("minimal", fewest) != fewest:
            wrong(f"minimal makes {counts['minimal']} SWAPs, {fewest} would do: {tree}")
        if not is_projective(tree.heads):
            for oracle in SWAP_ORACLES:
                result.swaps[oracle] += counts[oracle]
            result.fewest += fewest
            result.freely += fewest_freely(plain, tree, fewest)
    return result


def fewest_freely(plain: naive.ArcStandard, tree: Tree, most: int) -> int:
    """The fewest SWAPs of all derivations of a tree, of which one has `most`."""
    frontier = {plain.initial(len(tree.heads))}
    seen: set[naive.State] = set()
    for swaps in range(most):
        todo, frontier = list(frontier), set()
        while todo:
            state = todo.pop()
            if state in seen:
                continue
            seen.add(state)
            if state.is_final:
                return swaps
            left = [w for w in (*state.stack, *state.buffer) if w != ROOT]
            heads = {tree.heads[w] for w in left if tree.heads[w] != w}
            for action in plain.actions(state):
                after = plain.apply(state, action)
                if action.move == "SWAP":
                    frontier.add(after)
                elif not action.move.endswith("ARC"):
                    todo.append(after)
                else:
                    (word,) = set(state.stack) - set(after.stack)
                    if after.heads[word] == tree.heads[word] and word not in heads:
                        todo.append(after)
    return most


def oracle_row(result: OracleResult) -> str:
    """One line of the table of swap_standard's oracles."""
    options = ", ".join(result.options) or "none"
    swaps = " | ".join(str(result.swaps[oracle]) for oracle in SWAP_ORACLES)
    return (
        f"| {options} | {result.n} | {result.trees} | {result.configurations} | {result.allowed} | "
        f"{result.refused} | {result.wrong} | {swaps} | {result.fewest} | "
        f"{result.freely} | {' | '.join(map(str, result.choices.values()))} |"
    )
