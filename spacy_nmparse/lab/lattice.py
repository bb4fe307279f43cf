"""The lattice of all derivations of a tree that an oracle allows (Björkelund & Nivre 2015, Figures
2 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Any

from spacy_nmparse import systems
from spacy_nmparse.analysis.steps import Arc, arc_of
from spacy_nmparse.analysis.text import arc_text
from spacy_nmparse.systems import Action, Gold, State, TransitionSystem
from spacy_nmparse.wording import counted

MAX_NODES = 300
#: What of a configuration is in JSON.


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
        edges: the moves, by their source.
    """

    system: str
    oracle: str
    words: list[str]
    nodes: list[State] = field(repr=False)
    edges: list[Edge] = field(repr=False)

    @property
    def n_derivations(self) -> int:
        """How many derivations the lattice has."""
        ways = [1, *[0] * (len(self.nodes) - 1)]
        for edge in self.edges:
            ways[edge.target] += ways[edge.source]
        return sum(ways[i] for i, node in enumerate(self.nodes) if node.is_final)

    def configuration(self, node: int) -> list[str]:
        """The stack (or the lists; or the active stack and the other one) and the buffer of a
        configuration, each as ``[ROOT She]``; then the arcs that not all configurations with the
        same stack and buffer have, each as ``likes –→ She``."""
        parts = self._parts(self.nodes[node])
        shared = set.intersection(
            *(_arcs(self.nodes[other]) for other in self._alike[tuple(parts)])
        )
        own = sorted(_arcs(self.nodes[node]) - shared, key=lambda arc: arc.dependent)
        return [*parts, *(arc_text(arc, self.words) for arc in own)]

    @cached_property
    def _alike(self) -> dict[tuple[str, ...], list[int]]:
        """The configurations with the same stack (or lists) and buffer."""
        found: dict[tuple[str, ...], list[int]] = {}
        for node, state in enumerate(self.nodes):
            found.setdefault(tuple(self._parts(state)), []).append(node)
        return found

    def _parts(self, state: State) -> list[str]:
        return [f"[{' '.join(map(self.text, words))}]" for words in state.parts.values()]

    def text(self, word: int) -> str:
        """A word, or ROOT."""
        return "ROOT" if word == systems.ROOT else self.words[word]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "system": self.system,
            "oracle": self.oracle,
            "words": self.words,
            "derivations": self.n_derivations,
            "nodes": [
                {
                    **{name: list(words) for name, words in node.parts.items()},
                    "heads": node.heads,
                    "labels": node.labels,
                    "final": node.is_final,
                }
                for node in self.nodes
            ],
            "edges": [[edge.source, edge.target, list(edge.action)] for edge in self.edges],
        }


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
        raise ValueError(f"{counted(len(texts), 'word')} for a tree over {len(gold)}.")
    states = [system.initial(len(gold))]
    known = {_key(system, states[0]): 0}
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
            target = known.setdefault(_key(system, after), len(states))
            if target == len(states):
                states.append(after)
            moves.append((number, target, action))
        if len(states) > max_nodes:
            raise ValueError(
                f"The lattice has more than {max_nodes} configurations: take a shorter sentence or "
                f"an oracle that allows fewer derivations, or raise max_nodes (--max-nodes)."
            )
    before: dict[int, list[int]] = {node: [] for node in range(len(states))}
    for source, target, _ in moves:
        before[target].append(source)
    layers: dict[int, int] = {}  # the most moves that lead to each
    for node in TopologicalSorter(before).static_order():
        layers[node] = max((layers[source] + 1 for source in before[node]), default=0)
    order = sorted(before, key=lambda node: (layers[node], node))
    place = {node: i for i, node in enumerate(order)}
    edges = [Edge(place[source], place[target], action) for source, target, action in moves]
    edges.sort(key=lambda edge: edge.source)
    return Lattice(system.name, oracle, texts, [states[node] for node in order], edges)


def _arcs(state: State) -> set[Arc]:
    return {
        arc_of(word, head, state.labels[word])
        for word, head in enumerate(state.heads)
        if head is not None
    }


def _key(system: TransitionSystem, state: State) -> tuple[Any, ...]:
    parts = (*state.parts.values(), state.returned, system.details(state).values())
    tree = (state.heads, state.labels, state.push_labels, state.sent_starts)
    return tuple(tuple(part) for part in (*parts, *tree))
