"""Arcs over items of the stack, against search."""

from __future__ import annotations

import pytest

from spacy_nmparse.lab.attardi import derive
from spacy_nmparse.systems import ROOT
from tests.naive.trees import golds, is_projective

State = tuple[tuple[int, ...], int, tuple[int, ...]]  # stack, first word of the buffer, heads


def reachable(n: int, degree: int) -> set[tuple[int, ...]]:
    """All trees, as heads, that any moves lead to."""
    todo: list[State] = [((ROOT,), 0, (-2,) * n)]
    seen, trees = set(todo), set()
    while todo:
        stack, b, heads = todo.pop()
        after: list[State] = [((*stack, b), b + 1, heads)] if b < n else []
        if b == n and stack == (ROOT,):
            trees.add(tuple(w if h == ROOT else h for w, h in enumerate(heads)))
        for d in range(1, min(degree, len(stack) - 1) + 1):
            top, item = stack[-1], stack[-1 - d]
            for head, word in ((top, item), (item, top)):
                if word != ROOT:
                    left = tuple(w for w in stack if w != word)
                    after.append((left, b, (*heads[:word], head, *heads[word + 1 :])))
        for state in set(after) - seen:
            seen.add(state)
            todo.append(state)
    return trees


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_every_tree_that_can_be_derived_is(degree: int) -> None:
    for n in range(1, 6):
        trees = {tree.heads for tree in golds(n, projective=False)}
        found = {heads: derive(heads, degree) for heads in trees}
        derived = {heads for heads, moves in found.items() if moves is not None}
        assert derived == reachable(n, degree)
        if degree == 1:
            assert derived == {heads for heads in trees if is_projective(heads)}
        assert all(len(moves) == 2 * n for moves in found.values() if moves is not None)
