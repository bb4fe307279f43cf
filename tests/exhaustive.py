"""Proof by search: costs and losses of the systems on all small trees and all configurations.

For every gold tree on n words, every configuration that can be reached from the start, every legal
action (a push with every label that it can note): ``system.costs`` must be the true cost and
``system.loss`` the true loss. The truth needs nothing but actions, ``apply`` and final trees: the
loss of a configuration is the least over the final configurations behind it.

    python -m tests.exhaustive --max-n 5

prints one line per system, options and n, and exits with 1 if anything disagrees where exactness is
claimed. A new system is tried as soon as it is registered.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from spacy_nmparse import systems
from spacy_nmparse.systems import Gold
from spacy_nmparse.systems.swap.gold import fewest_swaps
from tests.naive import arc_standard as naive
from tests.naive.trees import Tree, golds, is_projective

PUSHES = ("SHIFT", "RIGHT-ARC", "RIGHT-LOWER", "RIGHT-RAISE")


@dataclass(frozen=True)
class Case:
    """A system, its options, and the gold trees to try it on.

    exact: disagreements are failures. root_label and segment among the options also shape the gold
    trees. constraints: from every initial configuration with preset sentence starts. known_starts:
    gold tells all sentence starts, even if it is partial.
    notes_labels: a push is tried with every label to note. formula: "dynamic" for the system's own
    costs and loss, "paper" for the formulas as printed.
    """

    system: str
    options: dict[str, Any] = field(default_factory=dict)
    labels: tuple[str, ...] | None = None
    projective: bool = True
    partial: bool = True
    one_root: bool = False
    constraints: bool = False
    known_starts: bool = False
    notes_labels: bool = False
    exact: bool = True
    formula: str = "dynamic"

    @property
    def name(self) -> str:
        """The options and gold trees in words."""
        options = []
        for key, value in self.options.items():
            if isinstance(value, tuple):
                options.append(" + ".join(value))
            elif value is not False and value is not None:
                options.append(key if value is True else f"{key}={value}")
        words = [*options, "labelled" if self.labels else "unlabelled"]
        words += ["partial gold" if self.partial else "full gold"]
        words += ["crossing gold"] * (not self.projective)
        words += ["one root"] * self.one_root
        words += ["preset starts"] * self.constraints
        words += ["known starts"] * self.known_starts
        words += [f"{self.formula} formulas"] * (self.formula != "dynamic")
        return ", ".join(words)

    def create(self) -> systems.TransitionSystem:
        return systems.create(self.system, labels=self.labels, **self.options)

    def golds(self, n: int) -> list[Tree]:
        labels: tuple[str | None, ...] | None = None
        if self.labels:
            labels = (self.labels[0], None) if self.partial else (self.labels[0],)
        return golds(
            n,
            projective=self.projective,
            partial=self.partial,
            one_root=self.one_root,
            labels=labels,
            root_label=self.options.get("root_label"),
            segment=self.options.get("segment", False),
            unknown_starts=self.partial and not self.known_starts,
        )


_SETTINGS: list[dict[str, Any]] = [
    {},
    {"single_root": True},
    {"segment": True},
    {"single_root": True, "segment": True},
]


def _arc_eager_cases() -> Iterator[Case]:
    variants: list[dict[str, Any]] = [
        {},
        {"nonmonotonic_left": True},
        {"nonmonotonic_reduce": True},
        {"nonmonotonic_left": True, "nonmonotonic_reduce": True},
    ]
    for setting, variant in itertools.product(_SETTINGS, variants):
        plain = Case("arc_eager", {**variant, **setting})
        labelled = replace(plain, labels=("a", "b"))
        attaching = "nonmonotonic_reduce" in variant or "single_root" in setting
        yield plain
        yield replace(labelled, notes_labels=attaching)
        if attaching:
            yield replace(labelled, options={**plain.options, "labelled_reduce": True})
        if len(setting) == 2:
            yield replace(plain, partial=False)
            yield replace(plain, constraints=True)
            yield replace(
                labelled,
                options={**plain.options, "root_label": "ROOT"},
                labels=("a", "b", "ROOT"),
                notes_labels=attaching,
            )
        yield replace(plain, projective=False)
        if len(setting) == 2:
            noted = attaching and "nonmonotonic_left" not in variant
            yield replace(labelled, projective=False, notes_labels=noted)
            yield replace(plain, projective=False, constraints=True)
        if not setting:
            yield replace(plain, projective=False, partial=False)
            right = "nonmonotonic_left" in variant or "nonmonotonic_reduce" not in variant
            yield replace(plain, formula="paper", partial=False, exact=right)


REPAIRS = ("right_lower", "right_raise", "left_invert")


def _repair_cases() -> Iterator[Case]:
    left: dict[str, Any] = {"nonmonotonic_left": True}
    both: dict[str, Any] = {**left, "nonmonotonic_reduce": True}
    for size in range(1, 4):
        for repairs in itertools.combinations(REPAIRS, size):
            for variant, decoupled in itertools.product((left, both), (False, True)):
                options = {**variant, "repairs": repairs, "decoupled_repairs": decoupled}
                yield Case("arc_eager", options)
    variants: list[dict[str, Any]] = [
        {**left, "repairs": REPAIRS},
        {**both, "repairs": REPAIRS},
        {**left, "repairs": REPAIRS, "decoupled_repairs": True},
        {**both, "repairs": REPAIRS, "decoupled_repairs": True},
        {"unshift": True},
        {**left, "unshift": True},
    ]
    for setting, variant in itertools.product(_SETTINGS, variants):
        plain = Case("arc_eager", {**variant, **setting})
        labelled = replace(plain, labels=("a", "b"))
        if setting or "unshift" in variant:
            yield plain
        if "nonmonotonic_reduce" in variant:
            yield replace(labelled, options={**plain.options, "labelled_reduce": True})
        elif not setting or len(setting) == 2:
            yield labelled
        if len(setting) == 2:
            rooted = {**labelled.options, "root_label": "ROOT", "labelled_reduce": True}
            yield replace(plain, partial=False)
            yield replace(plain, constraints=True)
            yield replace(labelled, options=rooted, labels=("a", "b", "ROOT"))
        if not setting:
            yield replace(plain, projective=False, partial=False, exact=False)
    yield replace(Case("arc_eager", variants[1], labels=("a", "b")), notes_labels=True)


def _push_cases() -> Iterator[Case]:
    both = {"nonmonotonic_left": True, "nonmonotonic_reduce": True, "labelled_reduce": True}
    for setting in _SETTINGS:
        for push in ("shift", "right_arc"):
            plain = Case("arc_eager", {**both, "push": push, **setting})
            yield plain
            yield replace(plain, projective=False)
            yield replace(plain, labels=("a", "b"))


def _list_cases(system: str) -> Iterator[Case]:
    settings: list[dict[str, Any]] = [
        dict.fromkeys(keys, True)
        for size in range(4)
        for keys in itertools.combinations(("explicit_root", "single_root", "segment"), size)
    ]
    for setting in settings:
        full = {"single_root", "segment"} <= set(setting)
        plain = Case(system, setting, projective=False, known_starts=full)
        labelled = replace(plain, labels=("a", "b"))
        yield plain
        yield labelled
        yield replace(plain, options={**setting, "max_length": 1})
        if "single_root" in setting:
            rooted = {**setting, "root_label": "ROOT"}
            yield replace(labelled, options=rooted, labels=("a", "b", "ROOT"))
        if full:
            yield replace(plain, constraints=True)
            yield replace(plain, known_starts=False, exact=False)
        if "segment" not in setting:
            loose = {"nonmonotonic": True, **setting}
            yield replace(plain, options=loose, partial=False, exact=False)


def _planar_cases() -> Iterator[Case]:
    for setting in _SETTINGS:
        full = {"single_root", "segment"} <= set(setting)
        plain = Case("two_planar", setting, projective=False, known_starts=full)
        labelled = replace(plain, labels=("a", "b"))
        rooted = {**setting, "root_label": "ROOT"}
        yield plain
        yield labelled
        yield replace(labelled, options=rooted, labels=("a", "b", "ROOT"))
        if "segment" in setting:
            yield replace(plain, partial=False)
            yield replace(plain, constraints=True)
        if full:
            yield replace(plain, known_starts=False, exact=False)


def _projective_cases(system: str, **form: bool) -> Iterator[Case]:
    for setting in ({**form, **setting} for setting in _SETTINGS):
        plain = Case(system, setting)
        labelled = replace(plain, labels=("a", "b"))
        rooted = {**setting, "root_label": "ROOT"}
        yield plain
        yield labelled
        yield replace(labelled, options=rooted, labels=("a", "b", "ROOT"))
        if "segment" in setting:
            yield replace(plain, partial=False)
            yield replace(plain, constraints=True)
            yield replace(plain, projective=False, constraints=True)
        yield replace(plain, projective=False)
        yield replace(labelled, projective=False)
        yield replace(plain, projective=False, partial=False)


def _swap_cases() -> Iterator[Case]:
    for setting in _SETTINGS:
        plain = Case("swap_standard", setting, projective=False, exact=False)
        yield plain
        yield replace(plain, partial=False)
        yield replace(plain, partial=False, projective=True)
        if "segment" in setting:
            yield replace(plain, constraints=True)
        rooted = {**setting, "root_label": "ROOT"}
        yield replace(plain, options=rooted, labels=("a", "b", "ROOT"))


def is_there(case: Case) -> bool:
    """Whether the options and formulas are: forms and oracles may be another package's."""
    known = case.formula == "dynamic" or case.formula in systems.create(case.system).oracles
    return known and case.options.keys() <= systems.options(case.system).keys()


def _cases() -> Iterator[Case]:
    """Every system: those with options of their own, and others as what they are."""
    own: dict[str, tuple[Callable[[], Iterator[Case]], ...]] = {
        "arc_eager": (
            _arc_eager_cases,
            _repair_cases,
            _push_cases,
            partial(_projective_cases, "arc_eager", root_first=True),
        ),
        "arc_standard": (
            partial(_projective_cases, "arc_standard"),
            partial(_projective_cases, "arc_standard", buffer_arcs=True),
        ),
        "swap_standard": (_swap_cases,),
        "two_planar": (_planar_cases,),
    }
    for name in systems.names():
        if name in own:
            for cases in own[name]:
                yield from filter(is_there, cases())
        elif systems.create(name).headless:
            yield from _list_cases(name)
        else:
            yield from _projective_cases(name)


CASES: tuple[Case, ...] = tuple(_cases())


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
    def failed(self) -> bool:
        return self.case.exact and self.wrong_costs + self.wrong_losses > 0


def key(state: systems.State) -> tuple[Any, ...]:
    """What tells configurations apart."""
    return (
        tuple(state.stack),
        tuple(state.other_stack),
        state.switched,
        state.revised,
        tuple(state.buffer),
        tuple(state.returned),
        tuple(state.lambda1),
        tuple(state.lambda2),
        tuple(state.heads),
        tuple(state.labels),
        tuple(state.push_labels),
        tuple(state.sent_starts),
    )


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
            known = places.get(key(state))
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
            if push_label is None:
                system.apply(copy, action)
            else:
                system.apply(copy, action, push_label=push_label)
            ahead.append((push_label, place, copy))
    return key(state), Node(state, actions, []), ahead


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
            root_label = system.options.get("root_label")
            right = head == word and sentence[word] not in rooted
            right = right and (label is None or label == root_label or not root_labels)
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
        root_label = case.options.get("root_label")
        noted = (None, *(label for label in case.labels if label != root_label))
    trees = case.golds(n)
    result.all_trees = result.trees = len(trees)
    starts: list[tuple[int, ...] | None] = [None]
    if case.constraints:
        starts = [(0, *rest) for rest in itertools.product((0, -1, 1), repeat=n - 1)]
    initials = [
        system.initial(n) if preset is None else system.initial(n, sent_starts=preset)
        for preset in starts
    ]
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
    losses = true_losses(system, nodes, trees)
    truth = losses.tolist()
    gold_trees = [Gold(*tree) for tree in trees]
    costs_of = _COSTS[case.formula]
    for i, node in enumerate(nodes):
        by_label: dict[str | None, list[tuple[int, int]]] = {}
        for push_label, place, following in node.edges:
            by_label.setdefault(push_label, []).append((place, following))
        result.triples += len(node.edges) * len(trees)
        here = truth[i]
        for j, gold in enumerate(gold_trees):
            if case.formula == "dynamic" and system.loss(node.state, gold) != here[j]:
                result.wrong_losses += 1
                result.losses_too_high += system.loss(node.state, gold) > here[j]
                if len(result.examples) < examples:
                    result.examples.append(
                        f"loss {system.loss(node.state, gold)}, true {here[j]}: {node.state!r}, "
                        f"noted {node.state.push_labels}, sent_starts {node.state.sent_starts}, "
                        f"preset {preset}, {trees[j]}"
                    )
            if not node.edges:
                continue
            for push_label, edges in by_label.items():
                told = costs_of(system, node.state, gold, push_label, node.actions)
                for place, following in edges:
                    if told[place] != truth[following][j] - here[j]:
                        result.wrong_costs += 1
                        if len(result.examples) < examples:
                            result.examples.append(
                                f"cost of {tuple(node.actions[place])}, noting {push_label}: "
                                f"{told[place]}, true {truth[following][j] - here[j]}: "
                                f"{node.state!r}, noted {node.state.push_labels}, sent_starts "
                                f"{node.state.sent_starts}, preset {preset}, {trees[j]}"
                            )


def _own_costs(
    system: systems.TransitionSystem,
    state: systems.State,
    gold: Gold,
    push_label: str | None,
    actions: list[systems.Action],
) -> list[float]:
    if push_label is None:
        costs = system.costs(state, gold)
    else:
        costs = system.costs(state, gold, push_label=push_label)
    if list(costs) != actions:
        raise AssertionError(f"costs() of {state!r} tells of {list(costs)}, legal: {actions}.")
    return list(costs.values())


def _paper_costs(
    system: systems.TransitionSystem,
    state: systems.State,
    gold: Gold,
    push_label: str | None,
    actions: list[systems.Action],
) -> list[float]:
    from spacy_nmparse.lab.hgj13 import paper_costs

    costs = paper_costs(system, state, gold)
    return [costs[action.move] for action in actions]


_COSTS: dict[str, Callable[..., list[float]]] = {"dynamic": _own_costs, "paper": _paper_costs}


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
    examples: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return self.wrong > 0


SWAP_ORACLES = ("eager", "lazy", "minimal")


def check_swap_oracles(options: dict[str, Any], n: int) -> OracleResult:
    """Compare the oracles of swap_standard with what search finds on every tree.

    ND-ALL must allow the moves that keep the tree reachable within the projective order, and no
    others; ND-SW the same, but for SHIFT beside an arc; the others must stay within that, derive
    the tree, and MINIMAL with the fewest SWAPs. BREAK comes first.
    """
    result = OracleResult(options, n)
    system = systems.create("swap_standard", **options)
    plain = naive.ArcStandard(swap=True, **options)
    trees = golds(
        n,
        projective=False,
        one_root=options.get("single_root", False),
        segment=options.get("segment", False),
    )

    def wrong(what: str) -> None:
        result.wrong += 1
        if len(result.examples) < 3:
            result.examples.append(what)

    for tree in trees:
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
            result.allowed += len(told)
            result.refused += len(moves) - len(told)
            if any(action.move.endswith("ARC") for action in right):
                right = {action for action in right if action.move.endswith("ARC")}
            told = {naive.Action(*a) for a in system.oracle(state, gold, "nd_sw")}
            if told != right:
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
        if counts["minimal"] != fewest or fewest_swaps(gold) != (fewest, True):
            wrong(f"minimal makes {counts['minimal']} SWAPs, {fewest} would do: {tree}")
        if not is_projective(tree.heads):
            for oracle in SWAP_ORACLES:
                result.swaps[oracle] += counts[oracle]
            result.fewest += fewest
    return result


def row(result: Result) -> str:
    """One line of the table."""
    trees = str(result.trees)
    if result.trees < result.all_trees:
        trees += f" of {result.all_trees}"
    wrong = lost = ""
    if result.case.exact:
        wrong, lost = str(result.wrong_costs), str(result.wrong_losses)
    else:
        share = 100 * result.wrong_costs / max(1, result.triples)
        wrong = f"({result.wrong_costs}: {share:.4f} %)"
        share = 100 * result.wrong_losses / (result.trees * result.configurations)
        lost = f"({result.wrong_losses}: {share:.4f} %)"
    return (
        f"| {result.case.system} | {result.case.name} | {result.n} | {trees} | "
        f"{result.configurations} | {result.triples} | {wrong} | {lost} |"
    )


HEADER = (
    "| system | options and gold | n | trees | configurations | triples | wrong costs | "
    "wrong losses |\n| --- | --- | --: | --: | --: | --: | --: | --: |"
)


ORACLE_HEADER = (
    "| swap_standard's oracles | n | trees | configurations | moves that nd_all allows | refuses | "
    "wrong | SWAPs of non-projective trees: eager | lazy | minimal | fewest |\n"
    "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |"
)


def oracle_row(result: OracleResult) -> str:
    """One line of the table of swap_standard's oracles."""
    options = ", ".join(result.options) or "none"
    swaps = " | ".join(str(result.swaps[oracle]) for oracle in SWAP_ORACLES)
    return (
        f"| {options} | {result.n} | {result.trees} | {result.configurations} | {result.allowed} | "
        f"{result.refused} | {result.wrong} | {swaps} | {result.fewest} |"
    )


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.exhaustive", description=__doc__)
    parser.add_argument("--min-n", type=int, default=1)
    parser.add_argument("--max-n", type=int, default=4)
    parser.add_argument("--system", help="only this system")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument(
        "--max-pairs",
        type=int,
        default=1_000_000,
        help="sample the gold trees above this many (tree, configuration) pairs; 0: never",
    )
    parser.add_argument(
        "--max-configurations",
        type=int,
        default=150_000,
        help="skip what has more configurations from one start; 0: never",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--examples", type=int, default=3, help="disagreements to print per line")
    parser.add_argument("--times", action="store_true", help="print seconds, too")
    options = parser.parse_args(arguments)
    print("Numbers in brackets: no exactness is claimed there.\n")
    print(HEADER, flush=True)
    failed = False
    total = {"triples": 0, "wrong": 0}
    for case in CASES:
        if options.system not in (None, case.system) or options.only not in case.name:
            continue
        for n in range(options.min_n, options.max_n + 1):
            try:
                result = check(
                    case,
                    n,
                    max_pairs=options.max_pairs,
                    max_configurations=options.max_configurations,
                    seed=options.seed,
                    examples=options.examples,
                )
            except TooMany:
                many = f"more than {options.max_configurations}, skipped"
                print(f"| {case.system} | {case.name} | {n} | | {many} | | | |", flush=True)
                continue
            print(row(result), f"{result.seconds:.1f} s" if options.times else "", flush=True)
            if result.failed:
                failed = True
                for example in result.examples:
                    print("   ", example, flush=True)
            if case.exact:
                total["triples"] += result.triples
                total["wrong"] += result.wrong_costs + result.wrong_losses
    print(f"\nWhere exactness is claimed: {total['triples']} triples, {total['wrong']} wrong.")
    if options.system in (None, "swap_standard") and not options.only:
        print(f"\n{ORACLE_HEADER}")
        for setting in _SETTINGS:
            for n in range(options.min_n, options.max_n + 1):
                oracles = check_swap_oracles(setting, n)
                print(oracle_row(oracles), flush=True)
                failed = failed or oracles.failed
                for example in oracles.examples:
                    print("   ", example, flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
