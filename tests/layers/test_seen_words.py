"""What training has seen of words, against sets of them."""

from __future__ import annotations

from collections import defaultdict

import numpy
from hypothesis import given
from hypothesis import strategies as st

from spacy_nmparse.layers.seen_words import HIDDEN, hide, nothing_seen, see

WORDS = st.lists(st.tuples(*[st.integers(1, 4)] * 3), min_size=1, max_size=5)


def table(words: list[tuple[int, int, int]]) -> numpy.ndarray:
    return numpy.asarray(words, dtype="uint64")


@given(st.lists(WORDS, max_size=4), WORDS)
def test_what_hides(batches: list[list[tuple[int, int, int]]], words: list) -> None:
    """A number in one column says nothing of the same number in another. Of the shapes of a norm,
    the first counts."""
    known = nothing_seen()
    norms: set[int] = set()
    owners: dict[tuple[int, int], set[int]] = defaultdict(set)
    for batch in batches:
        see(known, table(batch))
        for norm, *others in batch:
            if norm not in norms:
                norms.add(norm)
                for column, number in enumerate(others):
                    owners[column, number].add(norm)
    expected = [
        [
            norm if norm in norms else HIDDEN,
            *(n if len(owners[c, n]) > 1 else HIDDEN for c, n in enumerate(others)),
        ]
        for norm, *others in words
    ]
    found = table(words)
    hide(known, found)
    assert found.tolist() == (expected if norms else [list(word) for word in words])
