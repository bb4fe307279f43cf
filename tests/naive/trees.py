"""All gold trees over n words.

Heads are as everywhere: a word that is its own head is a child of ROOT, None is unknown.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

Heads = tuple[int | None, ...]


class Tree(NamedTuple):
    """What ``Gold`` takes."""

    heads: Heads
    labels: tuple[str | None, ...] | None
    sent_starts: tuple[bool | None, ...] | None


def is_forest(heads: tuple[int, ...]) -> bool:
    """Whether every chain of heads ends in a child of ROOT."""
    for word in range(len(heads)):
        for _ in heads:
            word = heads[word]
        if heads[word] != word:
            return False
    return True


def is_projective(heads: Heads) -> bool:
    """Whether no two known arcs cross, ROOT standing behind the last word (or before the first)."""
    n = len(heads)
    arcs = [
        (w, n) if h == w else (min(w, h), max(w, h)) for w, h in enumerate(heads) if h is not None
    ]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def forests(n: int, projective: bool) -> Iterator[tuple[int, ...]]:
    """All trees on n words with one or more children of ROOT."""
    for heads in itertools.product(range(n), repeat=n):
        if is_forest(heads) and (not projective or is_projective(heads)):
            yield heads


def crosses(heads: tuple[int, ...], start: int) -> bool:
    """Whether an arc between words joins both sides of a sentence start."""
    return any(min(w, h) < start <= max(w, h) for w, h in enumerate(heads))


def roots_of(root_label: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """The labels of roots that the option ``root_label`` names."""
    return (root_label,) if isinstance(root_label, str) else root_label or ()


def golds(
    n: int,
    *,
    projective: bool = True,
    partial: bool = False,
    one_root: bool = False,
    labels: tuple[str | None, ...] | None = None,
    root_label: str | tuple[str, ...] | None = None,
    segment: bool = False,
    unknown_starts: bool = False,
) -> list[Tree]:
    """All distinct gold trees over n words, in a fixed order.

    Args:
        n: number of words.
        projective: only those without crossing arcs.
        partial: also those with any of their heads hidden.
        one_root: only those with one child of ROOT in each sentence.
        labels: what a label can be; None: unlabelled. One label stands for all, since names of
            labels can be exchanged word by word; None among them hides labels.
        root_label: the labels of the children of ROOT, in place of the first of ``labels``.
        segment: with sentence starts, wherever no arc is in the way.
        unknown_starts: starts can be unknown, too.
    """
    trees: set[Tree] = set()
    for heads in forests(n, projective):
        starts: list[tuple[bool | None, ...] | None] = [None]
        if segment:
            choices: list[tuple[bool | None, ...]] = [(True,)]
            for word in range(1, n):
                known = (False,) if crosses(heads, word) else (True, False)
                choices.append((*known, None) if unknown_starts else known)
            starts = list(itertools.product(*choices))
        words: list[list[tuple[int | None, str | None]]] = []
        for word, head in enumerate(heads):
            own: tuple[str | None, ...] = labels or (None,)
            if root_label is not None and head == word:
                roots = roots_of(root_label)
                own = tuple(
                    root for label in own for root in (roots if label is not None else (None,))
                )
            words.append([(head, label) for label in dict.fromkeys(own)])
            if partial:
                words[-1].append((None, None))
        for sent_starts in starts:
            if one_root and not all(k == 1 for k in roots_per_sentence(heads, sent_starts)):
                continue
            for word_choice in itertools.product(*words):
                trees.add(
                    Tree(
                        tuple(head for head, _ in word_choice),
                        None if labels is None else tuple(label for _, label in word_choice),
                        sent_starts,
                    )
                )
    return sorted(trees, key=repr)


def roots_per_sentence(
    heads: tuple[int, ...], sent_starts: tuple[bool | None, ...] | None
) -> list[int]:
    """Number of children of ROOT in each sentence that the known sentence starts make."""
    counts: list[int] = []
    for word, head in enumerate(heads):
        if word == 0 or (sent_starts is not None and sent_starts[word]):
            counts.append(0)
        counts[-1] += head == word
    return counts
