"""Derivations and trees as text, for the terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from spacy_nmparse.analysis.derivation import Derivation
from spacy_nmparse.analysis.drawing import levels_of
from spacy_nmparse.analysis.steps import Arc, Choice, Step, action_name
from spacy_nmparse.systems import ROOT

#: Colours a text: "new", "old" (arcs), "soft", "strong", "repair"; or does not.
Paint = Callable[[str, str], str]

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
LINES = {
    UP | DOWN: "│",
    LEFT | RIGHT: "─",
    DOWN | RIGHT: "┌",
    DOWN | LEFT: "┐",
    UP | RIGHT: "└",
    UP | LEFT: "┘",
    UP: "│",
    DOWN: "│",
    LEFT: "─",
    RIGHT: "─",
    UP | DOWN | LEFT | RIGHT: "┼",
}


def plain(text: str, style: str) -> str:
    """No colour."""
    return text


def width_of(text: str) -> int:
    """Columns that a text takes in a terminal."""
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        for sign in text
    )


def padded(text: str, width: int) -> str:
    """The text with spaces up to a width."""
    return text + " " * (width - width_of(text))


def arc_text(arc: Arc, words: Sequence[str]) -> str:
    """An arc as ``saw –nsubj→ She``."""
    head = "ROOT" if arc.head == ROOT else words[arc.head]
    return f"{head} –{arc.label or ''}→ {words[arc.dependent]}"


def picture(
    words: Sequence[str],
    arcs: Sequence[tuple[Arc, str]],
    paint: Paint = plain,
    marks: dict[int, str] | None = None,
) -> list[str]:
    """Arcs over words, in lines of text.

    Args:
        words: the words of a sentence, numbered from 0.
        arcs: the arcs, each with a style for ``paint`` ("" for none). A word can have two: the one
            deleted and the one added.
        paint: colours the parts.
        marks: styles of words.

    Returns:
        The lines; the last one has the words.
    """
    keys = [(arc, number) for number, (arc, _) in enumerate(arcs)]
    level, top = _levels(keys)
    starts, column, at = _columns(words, keys)
    lines = [[0] * at for _ in range(top + 1)]  # row 0: the arrow heads
    styles = [[""] * at for _ in range(top + 1)]
    signs: dict[tuple[int, int], str] = {}

    def mark(row: int, col: int, line: int, style: str) -> None:
        lines[row][col] |= line
        styles[row][col] = style or styles[row][col]

    for arc, number in keys:
        style, row = arcs[number][1], level[number]
        dependent = column[arc.dependent, number]
        signs[0, dependent] = "▼"
        if arc.head == ROOT:
            for between in range(row):
                mark(between, dependent, UP | DOWN, style)
            _write(signs, styles, row, dependent, "ROOT", style, at)
            continue
        head = column[arc.head, number]
        for end in (head, dependent):
            for between in range(row):
                mark(between, end, UP | DOWN, style)
        left, right = sorted((head, dependent))
        mark(row, left, DOWN | RIGHT, style)
        mark(row, right, DOWN | LEFT, style)
        for between in range(left + 1, right):
            mark(row, between, LEFT | RIGHT, style)
        label = arc.label or ""
        if label and right - left - 1 >= width_of(label):
            middle = (left + right + 1) // 2
            _write(signs, styles, row, middle, label, style, at)
    result = []
    for row in range(top, -1, -1):
        cells = [
            (signs.get((row, col)) or LINES.get(lines[row][col], " "), styles[row][col])
            for col in range(at)
        ]
        result.append(_painted(cells, paint))
    lines_above = [line for line in result if line.strip()]
    return [*lines_above, _words_line(words, starts, paint, marks or {})]


def _columns(
    words: Sequence[str], keys: Sequence[tuple[Arc, int]]
) -> tuple[list[int], dict[tuple[int, int], int], int]:
    """Where words and arcs stand. Every end of an arc has a column of its own; labels fit between.

    Returns:
        The first column of each word; the column of each end of an arc, by word and number of the
        arc; and how many columns there are.
    """
    ends: list[list[tuple[int, int, int]]] = [[] for _ in words]  # side, order, arc
    for arc, number in keys:
        if arc.head == ROOT:
            ends[arc.dependent].append((1, 0, number))
            continue
        for word, other in ((arc.head, arc.dependent), (arc.dependent, arc.head)):
            ends[word].append((0 if other < word else 2, -other, number))
    column: dict[tuple[int, int], int] = {}
    starts: list[int] = []
    at = 0
    for word, text in enumerate(words):
        ends[word].sort()
        for arc, _ in keys:  # room for labels
            if arc.head == ROOT or max(arc[:2]) != word:
                continue
            other = min(arc[:2])
            room = width_of(words[other]) // 2 + width_of(arc.label or "") + 5
            at = max(at, starts[other] + room)
        starts.append(at)
        wide = max(width_of(text), len(ends[word]))
        first = at + (wide - len(ends[word])) // 2
        for place, (_, _, number) in enumerate(ends[word]):
            column[word, number] = first + place
        at += wide + 2
    return starts, column, max(at, len("ROOT"))


def _words_line(
    words: Sequence[str], starts: Sequence[int], paint: Paint, marks: dict[int, str]
) -> str:
    """The words, each from its first column on, in the styles of ``marks``."""
    last, here = "", 0
    for place, (word_text, start) in enumerate(zip(words, starts, strict=True)):
        shown = paint(word_text, marks[place]) if place in marks else word_text
        last += " " * (start - here) + shown
        here = start + width_of(word_text)
    return last


def _levels(keys: Sequence[tuple[Arc, int]]) -> tuple[dict[int, int], int]:
    """The level of each arc, and the highest level, which is that of arcs from ROOT."""
    inner = [(number, sorted(arc[:2])) for arc, number in keys if arc.head != ROOT]
    heights = levels_of([(a, b) for _, (a, b) in inner])
    top = max(heights, default=0) + 1
    found = dict.fromkeys((number for _, number in keys), top)
    return found | dict(zip((number for number, _ in inner), heights, strict=True)), top


def _write(
    signs: dict[tuple[int, int], str],
    styles: list[list[str]],
    row: int,
    middle: int,
    text: str,
    style: str,
    width: int,
) -> None:
    """Put a text into a row, its middle at a column."""
    start = max(0, min(middle - width_of(text) // 2, width - width_of(text)))
    for place, sign in enumerate(text):
        signs[row, start + place] = sign
        styles[row][start + place] = style


def _painted(cells: Sequence[tuple[str, str]], paint: Paint) -> str:
    """Cells as text, neighbours of one style painted at once."""
    text, run, style = "", "", ""
    for sign, its in [*cells, ("", "end")]:
        if its != style:
            text += paint(run, style) if style and run else run
            run, style = "", its
        run += sign
    return text.rstrip()


def step_picture(derivation: Derivation, number: int, paint: Paint = plain) -> list[str]:
    """The sentence at a step: arcs that stay, the deleted ones ("old"), the new ones ("new"); words
    on the stack (or in lambda1's focus) and at the front of the buffer are "strong"."""
    steps = derivation.steps
    step = steps[number] if number < len(steps) else None
    start = step.start if step else (steps[-1].start if steps else 0)
    first, end = next(span for span in reversed(derivation.sentences()) if span[0] <= start)
    return _picture(derivation, number, first, end, step, paint)


def tree_pictures(derivation: Derivation, paint: Paint = plain) -> list[list[str]]:
    """The tree of each sentence."""
    n = len(derivation.steps)
    return [
        _picture(derivation, n, first, end, None, paint) for first, end in derivation.sentences()
    ]


def _picture(
    derivation: Derivation, number: int, first: int, end: int, step: Step | None, paint: Paint
) -> list[str]:
    deleted = step.deleted if step else ()
    arcs = [(arc.moved(first), "") for arc in derivation.arcs(number) if arc not in deleted]
    for changed, style in ((deleted, "old"), (step.added if step else (), "new")):
        arcs += [(arc.moved(first), style) for arc in changed]
    arcs = [(arc, style) for arc, style in arcs if 0 <= arc.dependent < end - first]
    marks = {}
    if step:
        focus = [*step.stack, *step.lambda1[-1:], *step.buffer[:1]]
        marks = {word - first: "strong" for word in focus if first <= word < end}
    return picture(derivation.words[first:end], arcs, paint, marks)


def has_lists(derivation: Derivation) -> bool:
    """Whether its system has lists in place of a stack."""
    return any(step.lambda1 or step.lambda2 for step in derivation.steps)


def has_planes(derivation: Derivation) -> bool:
    """Whether its system has two stacks."""
    return any(step.other_stack for step in derivation.steps)


def step_lines(derivation: Derivation, paint: Paint = plain, n_choices: int = 0) -> list[str]:
    """A derivation, a line for each step: number, move, probability, cost, stack (or lists) and
    buffer, arcs. Below it up to n_choices other moves."""
    words, steps = derivation.words, derivation.steps
    lists, planes = has_lists(derivation), has_planes(derivation)
    wide = max((len(step.name) for step in steps), default=0)
    with_cost = any(step.cost is not None for step in steps)
    with_share = any(step.chosen and step.chosen.probability is not None for step in steps)
    lines = []
    for number, step in enumerate(steps, start=1):
        name = padded(step.name, wide)
        parts = [
            f"{number:>{len(str(len(steps)))}}",
            paint(name, "repair") if step.repair else name,
        ]
        parts += _numbers(step.chosen, with_share, with_cost, step, paint)
        parts.append(configuration(step, words, lists, planes))
        parts += [paint(f"- {arc_text(arc, words)}", "old") for arc in step.deleted]
        parts += [paint(f"+ {arc_text(arc, words)}", "new") for arc in step.added]
        lines.append("  ".join(parts).rstrip())
        others = [choice for choice in step.choices if choice != step.chosen][:n_choices]
        for choice in others:
            indent = " " * len(str(len(steps)))
            numbers = _numbers(choice, with_share, with_cost, step, paint)
            text = "  ".join([indent, padded(action_name(choice.action), wide), *numbers])
            lines.append(paint(text.rstrip(), "soft"))
    return lines


def _numbers(
    choice: Choice | None, with_share: bool, with_cost: bool, step: Step, paint: Paint
) -> list[str]:
    """Probability and cost of a choice, as far as they are shown."""
    probability = choice.probability if choice else None
    cost = choice.cost if choice else None
    parts = []
    if with_share:
        parts.append(padded("" if probability is None else f"{100 * probability:5.1f}%", 6))
    if with_cost:
        text = padded("" if cost is None else f"cost {cost:g}", 6)
        wrong = cost is not None and step.least_cost is not None and cost > step.least_cost
        parts.append(paint(text, "old") if wrong else text)
    return parts


def configuration(step: Step, words: Sequence[str], lists: bool, planes: bool) -> str:
    """The stack (or lists, or both stacks) and the buffer before a step; of long ones the ends that
    meet."""
    if lists:
        left = f"[{_some(step.lambda1, words, 3, False)}] [{_some(step.lambda2, words, 3, True)}]"
    else:
        left = f"[{_some(step.stack, words, 4, False)}]"
        if planes:
            left += f" [{_some(step.other_stack, words, 4, False)}]"
    return f"{left} [{_some(step.buffer, words, 3, True)}]"


def _some(numbers: Sequence[int], words: Sequence[str], n: int, front: bool) -> str:
    """The n first (or last) items as words; ROOT, if it is the only other one, too."""
    if len(numbers) == n + 1 and numbers[-1 if front else 0] == ROOT:
        n += 1
    chosen = numbers[:n] if front else numbers[-n:] if n else ()
    shown = ["ROOT" if word == ROOT else words[word] for word in chosen]
    if len(numbers) > n:
        shown = [*shown, "…"] if front else ["…", *shown]
    return " ".join(shown)
