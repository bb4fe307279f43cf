"""The lattice of all derivations of a tree that an oracle allows (Björkelund & Nivre 2015, Figures
2 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from spacy_nmparse import systems
from spacy_nmparse.systems import Action, Gold, State, TransitionSystem

MAX_NODES = 300


@dataclass(frozen=True)
class Edge:
    """A move: the numbers of the configurations before and behind it, and the action."""

    source: int
    target: int
    action: Action


@dataclass
class Lattice:
    """Configurations and the moves between them. Derivations that come to the same stack (or
    lists), buffer and arcs share what follows.

    Attributes:
        system: name of the transition system.
        oracle: name of the oracle.
        words: their texts.
        nodes: the configurations, each before those that its moves lead to; the first is the
            initial one.
        layers: for each the most moves that lead to it.
        edges: the moves, by their source.
    """

    system: str
    oracle: str
    words: list[str]
    nodes: list[State] = field(repr=False)
    layers: list[int] = field(repr=False)
    edges: list[Edge] = field(repr=False)

    @property
    def n_derivations(self) -> int:
        """How many derivations the lattice has."""
        ways = [1, *[0] * (len(self.nodes) - 1)]
        for edge in self.edges:
            ways[edge.target] += ways[edge.source]
        return sum(ways[i] for i, node in enumerate(self.nodes) if node.is_final)

    @property
    def has_planes(self) -> bool:
        """Whether there is a second stack."""
        return any(node.other_stack for node in self.nodes)

    def texts(self, node: int) -> tuple[list[str], list[str]]:
        """What is left and right of the focus: the stack, the other stack and the stack, or lambda1
        and lambda2; and the buffer."""
        state = self.nodes[node]
        left = self._texts([*state.lambda1, *state.lambda2] if _has_lists(state) else state.stack)
        if self.has_planes:
            left = [*self._texts(state.other_stack), "|", *left]
        return left, self._texts(state.buffer)

    def configuration(self, node: int) -> str:
        """A configuration as ``[ROOT She] [likes tea]``; of two stacks the active one first."""
        state = self.nodes[node]
        lists = [state.lambda1, state.lambda2] if _has_lists(state) else [state.stack]
        if self.has_planes:
            lists.append(state.other_stack)
        return " ".join(f"[{' '.join(self._texts(part))}]" for part in (*lists, state.buffer))

    def _texts(self, numbers: Sequence[int]) -> list[str]:
        return ["ROOT" if number == systems.ROOT else self.words[number] for number in numbers]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "system": self.system,
            "oracle": self.oracle,
            "words": self.words,
            "derivations": self.n_derivations,
            "nodes": [
                {
                    "stack": node.stack,
                    "other_stack": node.other_stack,
                    "lambda1": node.lambda1,
                    "lambda2": node.lambda2,
                    "buffer": node.buffer,
                    "heads": node.heads,
                    "labels": node.labels,
                    "final": node.is_final,
                }
                for node in self.nodes
            ],
            "edges": [[edge.source, edge.target, list(edge.action)] for edge in self.edges],
        }


def _has_lists(state: State) -> bool:
    return bool(state.lambda1 or state.lambda2)


def derivation_lattice(
    system: TransitionSystem | str,
    gold: Gold,
    oracle: str = "dynamic",
    words: Sequence[str] | None = None,
    max_nodes: int = MAX_NODES,
) -> Lattice:
    """The lattice of all derivations of a tree that an oracle allows.

    Args:
        system: the system, or its name for one without labels.
        gold: the tree.
        oracle: an oracle of the system.
        words: texts of the words; their numbers from 1 by default.
        max_nodes: the most configurations that it may have.

    Raises:
        ValueError: it has more; no such system or oracle; the oracle allows nothing in some
            configuration; another number of words.
    """
    if isinstance(system, str):
        system = systems.create(system)
    texts = [str(word + 1) for word in range(len(gold))] if words is None else list(words)
    if len(texts) != len(gold):
        raise ValueError(f"{len(texts)} words for a tree over {len(gold)}.")
    states = [system.initial(len(gold))]
    known = {_key(states[0]): 0}
    moves: list[tuple[int, int, Action]] = []
    for number, state in enumerate(states):  # which grows
        if state.is_final:
            continue
        allowed = system.oracle(state, gold, oracle)
        if not allowed:
            raise ValueError(f"The {oracle} oracle allows nothing in {state!r} for {gold!r}.")
        for action in system.actions(state):
            if action not in allowed:
                continue
            after = state.copy()
            system.apply(after, action)
            target = known.setdefault(_key(after), len(states))
            if target == len(states):
                states.append(after)
            moves.append((number, target, action))
        if len(states) > max_nodes:
            raise ValueError(
                f"The lattice has more than {max_nodes} configurations: take a shorter sentence or "
                f"an oracle that allows fewer derivations, or raise max_nodes (--max-nodes)."
            )
    layers = _layers(len(states), moves)
    order = sorted(range(len(states)), key=lambda node: (layers[node], node))
    place = {node: i for i, node in enumerate(order)}
    edges = [Edge(place[source], place[target], action) for source, target, action in moves]
    return Lattice(
        system.name,
        oracle,
        texts,
        [states[node] for node in order],
        [layers[node] for node in order],
        sorted(edges, key=lambda edge: edge.source),
    )


def _key(state: State) -> tuple[Any, ...]:
    stacks = (state.stack, state.other_stack, [state.switched, state.revised])
    items = (state.buffer, state.returned, state.lambda1, state.lambda2)
    tree = (state.heads, state.labels, state.push_labels, state.sent_starts)
    return tuple(tuple(part) for part in (*stacks, *items, *tree))


def _layers(n: int, moves: Sequence[tuple[int, int, Action]]) -> list[int]:
    """The most moves from the first node to each; no move leads back."""
    after: list[list[int]] = [[] for _ in range(n)]
    waiting = [0] * n
    for source, target, _ in moves:
        after[source].append(target)
        waiting[target] += 1
    layers = [0] * n
    ready = [0]
    while ready:
        node = ready.pop()
        for target in after[node]:
            layers[target] = max(layers[target], layers[node] + 1)
            waiting[target] -= 1
            if waiting[target] == 0:
                ready.append(target)
    return layers
