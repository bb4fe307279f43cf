"""What is left of a gold tree where some of its arcs cannot be made.

Each function returns a ``Gold`` in which those arcs are unknown, and how many errors are certain
without them.
"""

from collections.abc import Collection, Sequence

from spacy_nmparse.systems.gold import Gold


def under(gold: Gold, sent_starts: Sequence[int]) -> tuple[Gold, int]:
    """Without the arcs across preset sentence starts; where a start is preset, it is gold.

    Args:
        gold: the tree.
        sent_starts: for each word 1 (starts a sentence), -1 (does not) or 0 (free).
    """
    errors = 0
    if len(sent_starts) != len(gold):
        raise ValueError(f"Gold has {len(gold)} words but {len(sent_starts)} sent_starts.")
    starts = list(gold.sent_starts)
    sentence: list[int] = []
    for w in range(len(gold)):
        sentence.append((sentence[-1] if w else 0) + (w > 0 and sent_starts[w] == 1))
        if w > 0 and sent_starts[w] != 0:
            preset = sent_starts[w] == 1
            errors += starts[w] is not None and bool(starts[w]) != preset
            starts[w] = preset
    heads = [
        None if h is None or sentence[h] != sentence[w] else h for w, h in enumerate(gold.heads)
    ]
    return Gold(heads, gold.labels, starts), errors + _n_lost(gold, heads)


def within(gold: Gold, max_length: int) -> tuple[Gold, int]:
    """Without the arcs whose ends are more than ``max_length`` words apart."""
    heads = [None if h is None or abs(h - w) > max_length else h for w, h in enumerate(gold.heads)]
    return Gold(heads, gold.labels, gold.sent_starts), _n_lost(gold, heads)


def labelled_by(gold: Gold, root_labels: Collection[str]) -> tuple[Gold, int]:
    """Without the arcs whose labels are wrong on them: arcs from ROOT have ``root_labels``, and no
    others have. Whatever is predicted there, it is one error."""
    wrong = [
        h is not None and label is not None and (label in root_labels) != (h == w)
        for w, (h, label) in enumerate(zip(gold.heads, gold.labels, strict=True))
    ]
    if not any(wrong):
        return gold, 0
    heads = [None if out else h for out, h in zip(wrong, gold.heads, strict=True)]
    labels = [None if out else label for out, label in zip(wrong, gold.labels, strict=True)]
    return Gold(heads, labels, gold.sent_starts), sum(wrong)


def _n_lost(gold: Gold, heads: Sequence[int | None]) -> int:
    return sum(new is not old for new, old in zip(heads, gold.heads, strict=True))
