"""Hostile values for gold trees and sentence starts: what is right, or a ValueError."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_nmparse import systems
from spacy_nmparse.systems import Gold
from tests.hostile import PROFILE


def is_tree(heads: list[int | None]) -> bool:
    n = len(heads)
    if any(head is not None and not 0 <= head < n for head in heads):
        return False
    for word in range(n):
        seen = set()
        above: int | None = word
        while above is not None and heads[above] != above:
            if above in seen:
                return False
            seen.add(above)
            above = heads[above]
    return n > 0


@PROFILE
@given(st.lists(st.none() | st.integers(-3, 8), max_size=8))
def test_gold_takes_trees_and_nothing_else(heads: list[int | None]) -> None:
    if is_tree(heads):
        assert list(Gold(heads).heads) == heads
    else:
        with pytest.raises(ValueError):
            Gold(heads)


@PROFILE
@given(
    st.lists(st.none() | st.integers(-1, 5), min_size=1, max_size=5),
    st.none() | st.lists(st.none() | st.sampled_from(["a", "", "zz"]), max_size=6),
    st.none() | st.lists(st.sampled_from([None, True, False]), max_size=6),
)
def test_gold_with_anything(heads: Any, labels: Any, sent_starts: Any) -> None:
    system = systems.create("arc_eager", labels=("a",), segment=True)
    try:
        gold = Gold(heads, labels, sent_starts)
    except ValueError:
        return
    n = len(heads)
    assert len(gold) == n == len(gold.labels) == len(gold.sent_starts)
    if set(gold.labels) <= {"a", None}:
        assert 0 <= system.loss(system.initial(n), gold) <= 2 * n
    else:
        with pytest.raises(ValueError, match="not among"):
            system.loss(system.initial(n), gold)


@PROFILE
@given(st.integers(-5, 3), st.lists(st.integers(-2, 2), max_size=4))
def test_any_start(n: int, sent_starts: list[int]) -> None:
    system = systems.create("arc_eager", segment=True)
    right = n == len(sent_starts) and set(sent_starts) <= {-1, 0, 1} and n > 0
    if right:
        assert system.initial(n, sent_starts=sent_starts).n_words == n
    else:
        with pytest.raises(ValueError):
            system.initial(n, sent_starts=sent_starts)
