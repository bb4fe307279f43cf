"""Gold trees for learning, from spaCy's examples."""

from __future__ import annotations

import numpy
from spacy.training import Example

from spacy_nmparse.pipe.doc_io import gold_parse, is_partial
from spacy_nmparse.systems import Gold
from spacy_nmparse.systems.projective import check_acyclic, is_projective, lift

ROOT_LABEL = "ROOT"

Parse = tuple[list[int | None], list[str | None], list[bool | None]]


def word_parse(example: Example, tokens: numpy.ndarray) -> Parse:
    """Gold heads, labels and sentence starts over the parsed words of an example.

    Heads that are spaces, misaligned or missing are None. So are those in another sentence: trees
    of different sentences that interleave cannot be told apart by sentence starts.

    Raises ValueError where the heads form a cycle.
    """
    heads, labels, starts = gold_parse(example)
    check_acyclic(heads)
    if len(tokens) < len(heads):
        number = {int(token): word for word, token in enumerate(tokens)}
        token_list = tokens.tolist()
        # A start marked on a space is the start of the next word.
        moved = list(starts)
        for token in range(len(starts)):
            if token not in number and starts[token] and token + 1 < len(starts):
                moved[token + 1] = True
                starts[token + 1] = True
        heads = [number.get(heads[t]) if heads[t] is not None else None for t in token_list]
        labels = [labels[t] for t in token_list]
        starts = [moved[t] for t in token_list]
    if is_partial(example.reference):
        starts = known_starts(heads)
    if any(starts[1:]):
        sentence = 0
        sentences = []
        for start in starts:
            sentence += start is True
            sentences.append(sentence)
        if sentences:
            first = sentences[0]
            sentences = [max(number_, first) for number_ in sentences]
        heads = [
            None if head is not None and sentences[head] != sentences[word] else head
            for word, head in enumerate(heads)
        ]
    return heads, labels, starts


def known_starts(heads: list[int | None]) -> list[bool | None]:
    """Sentence starts as far as the heads tell. (spaCy starts a sentence at the left edge of every
    root, also where the words before it have no annotation and may belong to it.)"""
    n = len(heads)
    spans = [0] * (n + 1)  # by how much the number of arcs over the gap before a word changes
    complete: list[bool | None] = [None] * n  # whether its chain of heads ends in a root
    for word, head in enumerate(heads):
        if head is not None and head != word:
            spans[min(word, head) + 1] += 1
            spans[max(word, head) + 1] -= 1
        chain = [word]
        while complete[chain[-1]] is None:
            above = heads[chain[-1]]
            if above is None or above == chain[-1]:
                complete[chain[-1]] = above is not None
            else:
                chain.append(above)
        for link in chain:
            complete[link] = complete[chain[-1]]
    starts: list[bool | None] = [True]
    arcs = 0
    for word in range(1, n):
        arcs += spans[word]
        if arcs:
            starts.append(False)
        else:
            starts.append(True if complete[word] and complete[word - 1] else None)
    return starts[:n]


def projective_parse(parse: Parse) -> Parse:
    """The same with crossing arcs lifted, their labels decorated."""
    heads, labels, starts = parse
    if not is_projective(heads):
        heads, labels = lift(heads, labels)
    return heads, labels, starts


def make_gold(parse: Parse, label_set: set[str]) -> Gold:
    """The gold tree of a parse: labels that the parser does not have, or that do not fit the arc
    (ROOT on a word with a head), are unknown."""
    heads, labels, starts = parse
    fitting: list[str | None] = []
    for word, (head, label) in enumerate(zip(heads, labels, strict=True)):
        if head == word:
            fitting.append(ROOT_LABEL)
        elif label in label_set and label != ROOT_LABEL:
            fitting.append(label)
        else:
            fitting.append(None)
    return Gold(heads, fitting, starts)
