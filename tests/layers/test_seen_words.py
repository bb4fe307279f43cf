"""What training has seen of words, against sets of them."""

from __future__ import annotations

from collections import defaultdict

import numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_nmparse.layers.seen_words import HIDDEN, hide, nothing_seen, see

#: Norms and shapes; a norm's affix is always the same.
WORDS = st.lists(
    st.tuples(st.integers(1, 6), st.integers(1, 4)).map(lambda word: (*word, word[0] % 3 + 1)),
    min_size=1,
    max_size=5,
)


def table(words: list[tuple[int, int, int]]) -> numpy.ndarray:
    return numpy.asarray(words, dtype="uint64")


@settings(deadline=None)
@given(st.lists(WORDS, max_size=4), WORDS)
def test_what_hides(batches: list[list[tuple[int, int, int]]], words: list) -> None:
    """A number in one column says nothing of the same number in another."""
    known = nothing_seen()
    norms: set[int] = set()
    shapes: set[int] = set()
    owners: dict[int, set[int]] = defaultdict(set)
    for batch in batches:
        see(known, table(batch))
        for norm, shape, affix in batch:
            norms.add(norm)
            shapes.add(shape)
            owners[affix].add(norm)
    expected = [
        [
            norm if norm in norms else HIDDEN,
            shape if shape in shapes else HIDDEN,
            affix if len(owners[affix]) > 1 else HIDDEN,
        ]
        for norm, shape, affix in words
    ]
    found = table(words)
    hide(known, found)
    assert found.tolist() == (expected if norms else [list(word) for word in words])
