"""Lattices of derivations as lines of text and as SVG."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import pairwise

from spacy_nmparse.analysis.lattice import Edge, Lattice
from spacy_nmparse.analysis.steps import action_name
from spacy_nmparse.analysis.text import Paint, padded, plain, width_of
from spacy_nmparse.systems.system import COLOURS

#: Of moves that have no colour of their own.
GREY = "#4b5563"
#: Signs that no XML may hold, escaped or not.
FORBIDDEN = re.compile("[^\\t\\n\\r -\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
LETTER, LINE, GAP_X, GAP_Y, MARGIN = 7.0, 16, 96, 26, 16  # in pixels


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
    texts = [lattice.configuration(node) for node in range(len(lattice.nodes))]
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


def lattice_svg(lattice: Lattice) -> str:
    """The lattice from left to right as a picture (SVG): in each node the stack (or lists) above
    the buffer; moves in colours; the final configuration has a double edge. Arcs made so far appear
    under the mouse."""
    columns, stops = _columns(lattice)
    shown = [[" ".join(part) for part in lattice.texts(node)] for node in range(len(lattice.nodes))]
    widths = [max(map(width_of, texts)) * LETTER + 20 for texts in shown]
    height = 2 * LINE + 10
    lefts, at = [], float(MARGIN)
    for column in columns:
        lefts.append(at)
        at += max(widths[one] if one < len(widths) else 0 for one in column) + GAP_X
    most = max(map(len, columns))
    y = {
        one: MARGIN + (most - len(column)) * (height + GAP_Y) / 2 + i * (height + GAP_Y)
        for column in columns
        for i, one in enumerate(column)
    }
    layer = {one: i for i, column in enumerate(columns) for one in column}
    parts = [
        _edge_svg(edge, stops[edge], lefts, widths, y, layer, height) for edge in lattice.edges
    ]
    parts += [
        _node_svg(lattice, node, shown[node], lefts[layer[node]], y[node], widths[node], height)
        for node in range(len(lattice.nodes))
    ]
    wide, high = at - GAP_X + MARGIN, 2 * MARGIN + most * (height + GAP_Y) - GAP_Y
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high}" '
        f'viewBox="0 0 {wide:.0f} {high}">'
        '<rect width="100%" height="100%" fill="white"/>'
        f'<g font-family="monospace" font-size="12" text-anchor="middle">{"".join(parts)}</g>'
        "</svg>\n"
    )


def _escape(text: str) -> str:
    return html.escape(FORBIDDEN.sub("\ufffd", text))


def _columns(lattice: Lattice) -> tuple[list[list[int]], dict[Edge, list[int]]]:
    """The nodes of each layer from top to bottom, with a stop in every layer that an edge passes;
    and the stops of each edge."""
    columns: list[list[int]] = [[] for _ in range(max(lattice.layers) + 1)]
    for node, place in enumerate(lattice.layers):
        columns[place].append(node)
    stops: dict[Edge, list[int]] = {}
    before: dict[int, list[int]] = {}
    new = len(lattice.nodes)
    for edge in lattice.edges:
        stops[edge] = []
        last = edge.source
        for place in range(lattice.layers[edge.source] + 1, lattice.layers[edge.target]):
            columns[place].append(new)
            stops[edge].append(new)
            before[new] = [last]
            last, new = new, new + 1
        before.setdefault(edge.target, []).append(last)
    for left, column in pairwise(columns):  # near what leads to them
        place_of = {one: i for i, one in enumerate(left)}
        middle = {
            one: sum(place_of[source] for source in before[one]) / len(before[one])
            for one in column
        }
        column.sort(key=lambda one: middle[one])
    return columns, stops


def _node_svg(
    lattice: Lattice,
    node: int,
    texts: Sequence[str],
    left: float,
    top: float,
    wide: float,
    height: int,
) -> str:
    state = lattice.nodes[node]
    arcs = ", ".join(
        f"{'ROOT' if head == word else lattice.words[head]} → {lattice.words[word]}"
        for word, head in enumerate(state.heads)
        if head is not None
    )
    parts = [f"<title>{node + 1}: {_escape(arcs or 'no arcs')}</title>"]
    for inset in (0, 4) if state.is_final else (0,):
        parts.append(
            f'<rect x="{left + inset:.0f}" y="{top + inset:.0f}" width="{wide - 2 * inset:.0f}" '
            f'height="{height - 2 * inset}" rx="{10 - inset}" fill="white" stroke="black"/>'
        )
    for i, text in enumerate(texts, start=1):
        x, y = left + wide / 2, top + LINE * i
        parts.append(f'<text x="{x:.0f}" y="{y:.0f}">{_escape(text)}</text>')
    return f'<g class="node">{"".join(parts)}</g>'


def _edge_svg(
    edge: Edge,
    stops: Sequence[int],
    lefts: Sequence[float],
    widths: Sequence[float],
    y: dict[int, float],
    layer: dict[int, int],
    height: int,
) -> str:
    color = COLOURS.get(edge.action.move, GREY)
    x0, y0 = lefts[layer[edge.source]] + widths[edge.source], y[edge.source] + height / 2
    path = f"M{x0:.0f} {y0:.0f}"
    label = ""
    for one in (*stops, edge.target):
        x1, y1 = lefts[layer[one]], y[one] + height / 2
        half = (x1 - x0) / 2
        path += f"C{x0 + half:.0f} {y0:.0f} {x1 - half:.0f} {y1:.0f} {x1:.0f} {y1:.0f}"
        if not label:
            label = (
                f'<text x="{x0 + half:.0f}" y="{(y0 + y1) / 2 - 4:.0f}" fill="{color}" '
                f'font-size="10">{_escape(action_name(edge.action))}</text>'
            )
        x0, y0 = x1, y1
    return f'<g class="edge"><path d="{path}" stroke="{color}" fill="none"/>{label}</g>'
