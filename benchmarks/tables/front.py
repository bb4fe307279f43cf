"""The picture of accuracy and speed."""

from __future__ import annotations

import math
import statistics

from benchmarks.common import ROOT
from benchmarks.tables.common import NL, NM, STOCK_LONG, SWAP, TREEBANKS, entry, raw_mean
from benchmarks.tables.speed import timed
from benchmarks.titles import title

PICTURE = ROOT / "docs" / "images" / "front.svg"
WIDTH, HEIGHT = 720, 480  # pixels
LEFT, TOP, RIGHT, BOTTOM = 50, 35, 20, 50  # what is around the axes
SHOWN = (STOCK_LONG, NM, SWAP, f"{SWAP}_beam4", NL, f"{NL}_beam4")


def points() -> list[tuple[str, float, float]]:
    """Name, thousands of words a second and mean LAS on test of what is in the picture."""
    found = []
    for name in SHOWN:
        entries = [entry(one, name) for one in TREEBANKS]
        las = statistics.fmean(raw_mean(one, "las_all") for one in entries if one is not None)
        system = name.replace("_long", "")
        rate = timed("avx2")["pipeline"][system]["words_per_second"]["median"] / 1000
        found.append((title(name).replace("`", ""), rate, las))
    return found


def front() -> str:
    """The picture, as SVG."""
    every = points()
    most = 20 * math.ceil(max(rate for _, rate, _ in every) / 20) + 20
    low = 2 * math.floor(min(las for *_, las in every) / 2)
    high = 2 * math.ceil(max(las for *_, las in every) / 2)

    def x(rate: float) -> float:
        return LEFT + rate / most * (WIDTH - LEFT - RIGHT)

    def y(las: float) -> float:
        return TOP + (high - las) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def text(across: float, down: float, what: str, anchor: str = "middle") -> str:
        return f'<text x="{across:.0f}" y="{down:.0f}" text-anchor="{anchor}">{what}</text>'

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        "<title>Accuracy and speed</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for rate in range(0, most + 1, 20):
        parts.append(f'<path d="M{x(rate):.0f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        parts.append(text(x(rate), HEIGHT - BOTTOM + 18, str(rate)))
    for las in range(low, high + 1, 2):
        parts.append(f'<path d="M{LEFT} {y(las):.0f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(text(LEFT - 8, y(las) + 4, str(las), "end"))
    parts.append(text(WIDTH / 2, HEIGHT - 12, "thousand words a second"))
    parts.append(text(LEFT - 8, TOP - 15, "LAS", "end"))
    for name, rate, las in every:
        colour = "#777" if name.startswith("spaCy") else "#0b6e4f"
        parts.append(f'<circle cx="{x(rate):.1f}" cy="{y(las):.1f}" r="5" fill="{colour}"/>')
        right, down, anchor = (0, 20, "middle") if "beam" in name else (9, 4, "start")
        parts.append(text(x(rate) + right, y(las) + down, name, anchor))
    return "\n".join([*parts, "</svg>", ""])
