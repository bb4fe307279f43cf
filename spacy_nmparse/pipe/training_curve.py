"""The picture (SVG) of the scores of a training run."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 340, 44, 130, 26, 36
COLOURS = ("#2563eb,#60a5fa", "#15803d,#4ade80", "#b45309,#f0b429", "#7c3aed,#c4a7ff")
STYLE = """svg{color-scheme:light dark;background:light-dark(#fff,#14181f)}
text{font:12px system-ui,sans-serif;fill:light-dark(#1d2430,#e6e9ef);text-anchor:middle}
line{stroke:light-dark(#d5d9e0,#353d4b)}polyline{fill:none;stroke-width:2px}"""


def training_curve(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> str:
    """Draw scores by step. What is far below the best evaluation is cut.

    Args:
        rows: What spaCy's loggers get of each evaluation: ``step``, ``score``, ``other_scores``.
        names: Which of ``other_scores`` are drawn, as far as they are numbers. None is: ``score``.
    """
    lines = {name: [row["other_scores"].get(name) for row in rows] for name in names}
    lines = {name: own for name, own in lines.items() if all(isinstance(s, float) for s in own)}
    lines = lines or {"score": [row["score"] for row in rows]}
    best = max(range(len(rows)), key=lambda i: rows[i]["score"])
    low = max(min(own[best] for own in lines.values()) - 0.2, min(map(min, lines.values())))
    high = max(low + 0.05, *map(max, lines.values()))
    last = max(rows[-1]["step"], 1)

    def x(step: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * step / last

    def y(score: float) -> float:
        share = (max(score, low) - low) / (high - low)
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share, 1)

    drawn, at = [], x(rows[best]["step"])
    for i in range(5):
        score, step = low + (high - low) * i / 4, round(last * i / 4)
        drawn.append(f'<line x1="{LEFT}" x2="{x(last)}" y1="{y(score)}" y2="{y(score)}"/>')
        drawn.append(f'<text x="{LEFT / 2}" y="{y(score) + 4}">{100 * score:.1f}</text>')
        drawn.append(f'<text x="{x(step):.1f}" y="{HEIGHT - 18}">{step}</text>')
    drawn.append(f'<text x="{x(last / 2):.1f}" y="{HEIGHT - 3}">step</text>')
    drawn.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="18" y2="{y(low)}"/>')
    drawn.append(f'<text x="{at:.1f}" y="13">model-best</text>')
    below = 0.0
    for i, (name, own) in enumerate(sorted(lines.items(), key=lambda one: -one[1][-1])):
        colour = f"light-dark({COLOURS[i % len(COLOURS)]})"
        points = " ".join(f"{x(row['step']):.1f},{y(s)}" for row, s in zip(rows, own, strict=True))
        below = max(below + 15, y(own[-1]) + 4)  # names do not meet
        drawn.append(f'<polyline style="stroke:{colour}" points="{points}"/>')
        style = f"fill:{colour};text-anchor:start"
        shown = f"{html.escape(name)} {100 * own[best]:.2f}"
        drawn.append(f'<text x="{x(last) + 8:.1f}" y="{below:.1f}" style="{style}">{shown}</text>')
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    parts = f"<title>Scores on dev</title><style>{STYLE}</style>{''.join(drawn)}"
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{parts}</svg>\n'
