"""Lattices of derivations as lines of text, and as graphs for Graphviz."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from spacy_nmparse.analysis.steps import action_name
from spacy_nmparse.analysis.text import Paint, padded, plain, width_of
from spacy_nmparse.lab.lattice import Edge, Lattice
from spacy_nmparse.systems.names import COLOURS

#: Of moves that have no colour of their own.
GREY = "#4b5563"
#: Signs that no XML may hold, escaped or not.
FORBIDDEN = re.compile("[^\\t\\n\\r -\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def lattice_lines(lattice: Lattice, paint: Paint = plain) -> list[str]:
    """The lattice from top to bottom: a line for each configuration, and between them, on the left,
    where derivations part and meet. The moves name the configurations that they lead to.

    Args:
        lattice: the lattice.
        paint: colours the moves where there is a choice ("strong").
    """
    lanes: list[int | None] = []  # what each leads to
    drawn: list[tuple[str, int | None]] = []
    for node, state in enumerate(lattice.nodes):
        into = [i for i, target in enumerate(lanes) if target == node]
        if not into:
            lanes.append(node)
            into = [len(lanes) - 1]
        if len(into) > 1:
            drawn.append((_joined(lanes, into, "┘", "┴"), None))
            for i in into[1:]:
                lanes[i] = None
        drawn.append((_row(lanes, into[0], "◎" if state.is_final else "●"), node))
        targets = [edge.target for edge in lattice.edges if edge.source == node]
        lanes[into[0]] = targets[0] if targets else None
        out = [into[0]]
        for target in targets[1:]:
            free = [i for i, lane in enumerate(lanes) if lane is None and i > into[0]]
            out.append(free[0] if free else len(lanes))
            lanes[out[-1] :] = [target, *lanes[out[-1] + 1 :]]
        if len(out) > 1:
            drawn.append((_joined(lanes, sorted(out), "┐", "┬"), None))
        while lanes and lanes[-1] is None:
            lanes.pop()
    graph = max(width_of(row) for row, _ in drawn)
    number = len(str(len(lattice.nodes)))
    texts = [" ".join(lattice.configuration(node)) for node in range(len(lattice.nodes))]
    wide = max(map(width_of, texts))
    lines = []
    for row, place in drawn:
        line = padded(row, graph)
        if place is not None:
            moves = [edge for edge in lattice.edges if edge.source == place]
            line += f"  {place + 1:>{number}}  {padded(texts[place], wide)}  "
            line += "  ".join(_move(edge, len(moves) > 1, paint) for edge in moves)
        lines.append(line.rstrip())
    return lines


def _move(edge: Edge, choice: bool, paint: Paint) -> str:
    text = f"{action_name(edge.action)} → {edge.target + 1}"
    return paint(text, "strong") if choice else text


def _row(lanes: Sequence[int | None], place: int, sign: str) -> str:
    signs = [sign if i == place else " " if lane is None else "│" for i, lane in enumerate(lanes)]
    return " ".join(signs).rstrip()


def _joined(lanes: Sequence[int | None], places: Sequence[int], last: str, between: str) -> str:
    """A row in which the lanes of these places are one: those behind the first turn to it."""
    row = ""
    for i, lane in enumerate(lanes):
        inside = places[0] < i < places[-1]
        if i == places[0]:
            sign = "├"
        elif i == places[-1]:
            sign = last
        elif i in places:
            sign = between
        elif inside:
            sign = "─" if lane is None else "┼"
        else:
            sign = " " if lane is None else "│"
        row += sign + ("─" if places[0] <= i < places[-1] else " ")
    return row.rstrip()


def lattice_dot(lattice: Lattice) -> str:
    """The lattice from top to bottom as a graph in DOT, the language of Graphviz: ``dot -Tsvg``
    draws it. The final configuration has a double edge; moves have the colours of the page, and a
    legend names them. In a browser, arcs made so far appear under the mouse."""
    lines = [
        "digraph lattice {",
        'node [shape=box style=rounded fontname="sans-serif"]',
        'edge [fontname="sans-serif" fontsize=11]',
    ]
    for node, state in enumerate(lattice.nodes):
        arcs = [
            f"{'ROOT' if head == word else lattice.words[head]} → {lattice.words[word]}"
            for word, head in enumerate(state.heads)
            if head is not None
        ]
        label = "\\n".join(map(_escaped, lattice.configuration(node)))
        tip = _escaped(", ".join(arcs) or "no arcs")
        twice = " peripheries=2" if state.is_final else ""
        lines.append(f'{node} [label="{label}" tooltip="{tip}"{twice}]')
    for edge in lattice.edges:
        colour = COLOURS.get(edge.action.move, GREY)
        label = _escaped(action_name(edge.action))
        lines.append(
            f'{edge.source} -> {edge.target} [label="{label}" color="{colour}" '
            f'fontcolor="{colour}"]'
        )
    moves = dict.fromkeys(edge.action.move for edge in lattice.edges)
    rows = "".join(
        f'<tr><td><font color="{COLOURS.get(move, GREY)}">→ {move}</font></td></tr>'
        for move in moves
    )
    lines.append(f"legend [shape=plain label=<<table border='0'>{rows}</table>>]")
    return "\n".join([*lines, "}\n"])


def _escaped(text: str) -> str:
    """A text within quotes in DOT, where &, quotes and backslashes have meanings."""
    text = html.escape(FORBIDDEN.sub("\ufffd", text))
    return text.replace("\\", "\\\\")
