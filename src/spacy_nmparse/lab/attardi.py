"""Arc-standard with arcs over items of the stack (Attardi 2006), which may cross others.

A configuration is (stack, buffer, arcs), with ROOT at the bottom of the stack. Of degree d are arcs
between the top of the stack and the item d places beneath it; degree 1 is arc-standard.

    SHIFT        (S, b0|B, A) => (S|b0, B, A)
    LEFT-ARC d   (S|sd|...|s0, B, A) => (S|...|s0, B, A + s0 -> sd), sd not ROOT
    RIGHT-ARC d  (S|sd|...|s0, B, A) => (S|sd|..., B, A + sd -> s0)

A word leaves the stack with its head, so it must have its dependents. An arc of the tree that can
be made brings no items further apart, and takes no other arc's place: to make arcs first derives
every tree that the moves can.
"""

from __future__ import annotations

from collections.abc import Sequence

from spacy_nmparse.systems import ROOT, Action


def derive(heads: Sequence[int], degree: int) -> list[Action] | None:
    """The moves that derive a tree by arcs up to a degree.

    Args:
        heads: the head of each word; a root is its own.
        degree: of the longest arcs: 1 for projective trees.

    Returns:
        The moves, or None if there are none.
    """
    head = [ROOT if h == w else h for w, h in enumerate(heads)]
    missing = [head.count(w) for w in range(len(head))]  # dependents that a word does not have yet
    stack, moves = [ROOT], []
    b = 0
    while b < len(head) or len(stack) > 1:
        top = stack[-1]
        for d in range(1, min(degree, len(stack) - 1) + 1):
            item = stack[-1 - d]
            if item != ROOT and head[item] == top and missing[item] == 0:
                moves.append(Action("LEFT-ARC", d))
                del stack[-1 - d]
                missing[top] -= 1
                break
            if head[top] == item and missing[top] == 0:
                moves.append(Action("RIGHT-ARC", d))
                stack.pop()
                if item != ROOT:
                    missing[item] -= 1
                break
        else:
            if b == len(head):
                return None
            moves.append(Action("SHIFT"))
            stack.append(b)
            b += 1
    return moves
