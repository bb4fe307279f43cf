"""Proof by search: costs and losses of the systems on all small trees and all configurations.

For every gold tree on n words, every configuration that can be reached from the start, every legal
action (a push with every label that it can note): ``system.costs`` must be the true cost and
``system.loss`` the true loss. The truth needs nothing but actions, ``apply`` and final trees: the
loss of a configuration is the least over the final configurations behind it.

    python -m tests.exhaustive --max-n 5

prints one line per system, options and n, and exits with 1 if anything disagrees where exactness is
claimed, or if nothing was tried. A new system is tried as soon as it is registered.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spacy_nmparse import systems
from spacy_nmparse.systems import Gold
from tests.exhaustive_cases import CASES, SETTINGS, Case
from tests.naive.trees import Tree, roots_of
from tests.swap_oracles import ORACLE_HEADER, OracleResult, check_swap_oracles, oracle_row

PUSHES = ("SHIFT", "RIGHT-ARC", "RIGHT-LOWER", "RIGHT-RAISE")


@dataclass
class Result:
    """What was compared, and what disagreed."""

    case: Case
    n: int
    trees: int = 0
    all_trees: int = 0
    configurations: int = 0
    triples: int = 0
    wrong_costs: int = 0
    wrong_losses: int = 0
    losses_too_high: int = 0  # of the wrong ones
    seconds: float = 0.0
    examples: list[str] = field(default_factory=list)

    @property
    def judged(self) -> int:
        """Losses that were compared."""
        return self.trees * self.configurations

    @property
    def failed(self) -> bool:
        if self.case.bound and self.losses_too_high:
            return True
        return self.case.exact and self.wrong_costs + self.wrong_losses > 0


def key(system: systems.TransitionSystem, state: systems.State) -> tuple[Any, ...]:
    """What tells configurations apart, hashable."""
    lists = (*state.parts.values(), state.returned, system.details(state).values())
    arcs = (state.heads, state.labels, state.push_labels, state.sent_starts)
    return tuple(tuple(part) for part in (*lists, *arcs))


@dataclass
class Node:
    """A configuration, and for each legal action and noted label the place of the next one."""

    state: systems.State
    actions: list[systems.Action]
    edges: list[tuple[str | None, int, int]]  # noted label, place in actions, next node


class TooMany(Exception):
    """There are more configurations than asked for."""


def graph(
    system: systems.TransitionSystem,
    initial: systems.State,
    noted: Iterable[str | None],
    limit: int = 0,
) -> list[Node]:
    """All configurations, each of them before every configuration that leads to it.

    Raises TooMany if there are more than ``limit`` (0: however many there are).
    """
    noted = tuple(noted)
    places: dict[tuple[Any, ...], int] = {}
    nodes: list[Node] = []
    # Depth first, a node is numbered when all behind it are.
    todo = [_expand(system, initial, noted)]
    while todo:
        name, node, ahead = todo[-1]
        if ahead:
            push_label, place, state = ahead[-1]
            known = places.get(key(system, state))
            if known is None:
                todo.append(_expand(system, state, noted))
            else:
                node.edges.append((push_label, place, known))
                ahead.pop()
        else:
            if limit and len(nodes) == limit:
                raise TooMany
            places[name] = len(nodes)
            nodes.append(node)
            todo.pop()
    return nodes


_Ahead = list[tuple["str | None", int, systems.State]]


def _expand(
    system: systems.TransitionSystem, state: systems.State, noted: tuple[str | None, ...]
) -> tuple[tuple[Any, ...], Node, _Ahead]:
    actions = [] if state.is_final else system.actions(state)
    ahead: _Ahead = []
    for place, action in enumerate(actions):
        for push_label in noted if action.move in PUSHES else (None,):
            copy = state.copy()
            system.apply(copy, action, push_label=push_label)
            ahead.append((push_label, place, copy))
    return key(system, state), Node(state, actions, []), ahead


def final_losses(
    system: systems.TransitionSystem, state: systems.State, trees: list[Tree]
) -> np.ndarray:
    """Loss of a final configuration's tree against each gold tree, told word by word.

    Under ``single_root``, heads that tree() makes up for headless words are wrong, but for that of
    one word that gold gives to ROOT, in each sentence where ROOT has no child. Labels of headless
    words are only judged where the system has labels for them.
    """
    heads, labels = state.tree()
    built = state.heads
    starts = state.sent_starts
    sentence = list(itertools.accumulate(starts))
    one_root = system.options.get("single_root", False)
    root_labels = system.options.get("explicit_root") or system.options.get("root_label")
    with_root = {sentence[word] for word, head in enumerate(built) if head == word}
    losses = np.zeros(len(trees), dtype=np.int16)
    for i, tree in enumerate(trees):
        rooted = set(with_root) if one_root else set()
        for word, head in enumerate(tree.heads):
            if head is None:
                continue
            label = None
            if tree.labels is not None and system.labels is not None:
                label = tree.labels[word]
            if built[word] is not None:
                losses[i] += heads[word] != head or (label is not None and labels[word] != label)
                continue
            hung = roots_of(system.options.get("root_label"))[:1]
            right = head == word and sentence[word] not in rooted
            right = right and (label is None or label in hung or not root_labels)
            losses[i] += not right
            if right and one_root:
                rooted.add(sentence[word])
        for word in range(1, len(heads)):
            if tree.sent_starts is not None and tree.sent_starts[word] is not None:
                losses[i] += starts[word] != tree.sent_starts[word]
    return losses


def true_losses(
    system: systems.TransitionSystem, nodes: list[Node], trees: list[Tree]
) -> np.ndarray:
    """Loss of each configuration (row) against each gold tree (column)."""
    losses = np.empty((len(nodes), len(trees)), dtype=np.int16)
    for i, node in enumerate(nodes):
        if node.edges:
            losses[i] = losses[[place for _, _, place in node.edges]].min(axis=0)
        elif node.state.is_final:
            losses[i] = final_losses(system, node.state, trees)
        else:
            raise AssertionError(f"No legal action in {node.state!r}.")
    return losses


def check(
    case: Case,
    n: int,
    *,
    max_pairs: int = 0,
    max_configurations: int = 0,
    seed: int = 0,
    examples: int = 3,
) -> Result:
    """Compare everything for one case and n.

    max_pairs: draw a sample of the gold trees where trees times configurations are more (0: never).
    max_configurations: raise TooMany if there are more (0: never).
    """
    began = time.perf_counter()
    result = Result(case, n)
    system = case.create()
    noted: tuple[str | None, ...] = (None,)
    if case.notes_labels and case.labels is not None:
        roots = roots_of(case.options.get("root_label"))
        noted = (None, *(label for label in case.labels if label not in roots))
    trees = case.golds(n)
    result.all_trees = result.trees = len(trees)
    starts: list[tuple[int, ...] | None] = [None]
    if case.constraints:
        starts = [(0, *rest) for rest in itertools.product((0, -1, 1), repeat=n - 1)]
    initials = (system.initial(n, sent_starts=preset) for preset in starts)
    graphs = [graph(system, initial, noted, max_configurations) for initial in initials]
    result.configurations = sum(len(nodes) for nodes in graphs)
    if max_pairs and len(trees) * result.configurations > max_pairs:
        size = max(1, max_pairs // result.configurations)
        drawn = np.random.default_rng(seed).choice(len(trees), size, replace=False)
        trees = [trees[i] for i in sorted(drawn)]
        result.trees = len(trees)
    for nodes, preset in zip(graphs, starts, strict=True):
        step = max(1, 50_000_000 // len(nodes))
        for first in range(0, len(trees), step):
            _compare(result, system, nodes, trees[first : first + step], preset, examples)
    result.seconds = time.perf_counter() - began
    return result


def _compare(
    result: Result,
    system: systems.TransitionSystem,
    nodes: list[Node],
    trees: list[Tree],
    preset: tuple[int, ...] | None,
    examples: int,
) -> None:
    case = result.case
    truth = true_losses(system, nodes, trees).tolist()
    gold_trees = [Gold(*tree) for tree in trees]

    def tell(what: str, state: systems.State, tree: Tree) -> None:
        if len(result.examples) < examples:
            result.examples.append(
                f"{what}: {state!r}, noted {state.push_labels}, sent_starts {state.sent_starts}, "
                f"preset {preset}, {tree}"
            )

    for i, node in enumerate(nodes):
        by_label: dict[str | None, list[tuple[int, int]]] = {}
        for push_label, place, following in node.edges:
            by_label.setdefault(push_label, []).append((place, following))
        result.triples += len(node.edges) * len(trees)
        for j, gold in enumerate(gold_trees):
            here = truth[i][j]
            loss = loss_of(case, system, node.state, gold)
            if loss is not None and loss != here:
                result.wrong_losses += 1
                result.losses_too_high += loss > here
                tell(f"loss {loss}, true {here}", node.state, trees[j])
            for push_label, edges in by_label.items():
                told = costs_of(case, system, node.state, gold, push_label, node.actions)
                for place, following in edges:
                    true = truth[following][j] - here
                    if told[place] != true:
                        result.wrong_costs += 1
                        what = f"cost of {tuple(node.actions[place])}, noting {push_label}"
                        tell(f"{what}: {told[place]}, true {true}", node.state, trees[j])


def loss_of(
    case: Case, system: systems.TransitionSystem, state: systems.State, gold: Gold
) -> float | None:
    """The loss that the system, or an oracle, tells; None: it tells none."""
    if case.formula == "paper":
        return None
    if case.formula == "exact":
        from spacy_nmparse.lab.crossing.exact import exact_loss

        return exact_loss(system, state, gold)
    return system.loss(state, gold)


def costs_of(
    case: Case,
    system: systems.TransitionSystem,
    state: systems.State,
    gold: Gold,
    push_label: str | None,
    actions: list[systems.Action],
) -> list[float]:
    """The cost that the system, a paper or an oracle tells of each legal action."""
    if case.formula == "paper":
        from spacy_nmparse.lab.hgj13 import paper_costs

        moves = paper_costs(system, state, gold)
        return [moves[action.move] for action in actions]
    costs = system.costs(state, gold, push_label=push_label)
    if case.formula == "exact":
        from spacy_nmparse.lab.crossing.exact import exact_costs

        costs = exact_costs(system, state, gold, push_label)
        least = {action for action, cost in costs.items() if cost == min(costs.values())}
        if system.oracle(state, gold, "exact", push_label) != least:
            raise AssertionError(f"exact allows other moves than {least} in {state!r}, {gold!r}.")
    if list(costs) != actions:
        raise AssertionError(f"costs() of {state!r} tells of {list(costs)}, legal: {actions}.")
    return list(costs.values())


def row(result: Result) -> str:
    """One line of the table."""
    trees = str(result.trees)
    if result.trees < result.all_trees:
        trees += f" of {result.all_trees}"
    counts = (result.wrong_costs, result.triples), (result.wrong_losses, result.judged)
    if result.case.exact:
        wrong, lost = (str(count) for count, _ in counts)
    else:
        wrong, lost = (f"({count}: {100 * count / max(1, n):.4f} %)" for count, n in counts)
    return (
        f"| {result.case.system} | {result.case.name} | {result.n} | {trees} | "
        f"{result.configurations} | {result.triples} | {wrong} | {lost} |"
    )


HEADER = (
    "| system | options and gold | n | trees | configurations | triples | wrong costs | "
    "wrong losses |\n| --- | --- | --: | --: | --: | --: | --: | --: |"
)


def check_system(parser: argparse.ArgumentParser, name: str | None) -> None:
    """End with an error where there is no such system."""
    try:
        if name:
            systems.system_class(name)
    except ValueError as error:
        parser.error(str(error))


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.exhaustive", description=__doc__)
    add = parser.add_argument
    add("--min-n", type=int, default=1)
    add("--max-n", type=int, default=4)
    add("--system", help="only this system")
    what = "only the case of this name; if there is none, those whose name contains this"
    add("--only", default="", help=what)
    what = "sample the gold trees above this many (tree, configuration) pairs; 0: never"
    add("--max-pairs", type=int, default=1_000_000, help=what)
    what = "skip what has more configurations from one start; 0: never"
    add("--max-configurations", type=int, default=150_000, help=what)
    add("--seed", type=int, default=0)
    add("--examples", type=int, default=3, help="disagreements to print per line")
    add("--times", action="store_true", help="print seconds, too")
    options = parser.parse_args(arguments)
    check_system(parser, options.system)
    numbers = range(options.min_n, options.max_n + 1)
    limits = ("max_pairs", "max_configurations", "seed", "examples")
    print("Numbers in brackets: no exactness is claimed there.\n")
    print(HEADER, flush=True)
    failed = False
    tried = triples = wrong = 0

    def show(line: str, result: Result | OracleResult) -> None:
        nonlocal failed, tried
        tried += 1
        print(line, flush=True)
        if result.failed:
            failed = True
            for example in result.examples:
                print("   ", example, flush=True)

    cases = [case for case in CASES if options.system in (None, case.system)]
    named = [case for case in cases if case.name == options.only]
    for case, n in itertools.product(
        named or [case for case in cases if options.only in case.name], numbers
    ):
        try:
            result = check(case, n, **{name: getattr(options, name) for name in limits})
        except TooMany:
            many = f"more than {options.max_configurations}, skipped"
            print(f"| {case.system} | {case.name} | {n} | | {many} | | | |", flush=True)
            continue
        show(f"{row(result)} " + f"{result.seconds:.1f} s" * options.times, result)
        if case.exact:
            triples += result.triples
            wrong += result.wrong_costs + result.wrong_losses
    print(f"\nWhere exactness is claimed: {triples} triples, {wrong} wrong.")
    if options.system in (None, "swap_standard") and not options.only:
        print(f"\n{ORACLE_HEADER}")
        for setting, n in itertools.product(SETTINGS, numbers):
            oracles = check_swap_oracles(setting, n)
            show(oracle_row(oracles), oracles)
    if not tried:
        print("\nNothing was tried: see --only, --min-n, --max-n and --max-configurations.")
    return int(failed or not tried)


if __name__ == "__main__":
    sys.exit(main())
