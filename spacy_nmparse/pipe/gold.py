"""Gold trees for learning, from spaCy's examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy
from spacy.training import Example

from spacy_nmparse.pipe.annotations import Parses
from spacy_nmparse.pipe.doc_io import gold_parse, is_partial, parsed_tokens
from spacy_nmparse.pipe.roots import ROOT_LABEL, is_root_name, name_roots
from spacy_nmparse.systems import Gold
from spacy_nmparse.systems.projective import check_acyclic, is_projective, lift, plain_label
from spacy_nmparse.systems.reach import under, within


class Parse(NamedTuple):
    """A gold parse over the words of an example; None: unknown.

    Attributes:
        heads: of each word its head's number, of a root its own.
        labels: of each word its label; roots have names of ``pipe.roots``.
        starts: whether a sentence starts at the word.
    """

    heads: list[int | None]
    labels: list[str | None]
    starts: list[bool | None]


def word_parse(example: Example, tokens: numpy.ndarray) -> Parse:
    """Gold heads, labels and sentence starts over the parsed words of an example.

    Heads that are spaces, misaligned or missing are None. So are those in another sentence:
    sentence starts do not say which of two interleaved sentences a word belongs to.

    Raises ValueError where the heads form a cycle.
    """
    heads, labels, starts = gold_parse(example)
    check_acyclic(heads)
    labels = name_roots(example, heads, labels)
    heads, labels, starts = of_words(heads, labels, starts, tokens)
    if is_partial(example.reference):
        starts = known_starts(heads)
    if any(starts[1:]):
        sentences = list(accumulate(start is True for start in starts))
        heads = [
            None if head is not None and sentences[head] != sentences[word] else head
            for word, head in enumerate(heads)
        ]
    return Parse(heads, labels, starts)


def of_words(
    heads: list[int | None],
    labels: list[str | None],
    starts: list[bool | None],
    tokens: numpy.ndarray,
) -> Parse:
    """The part of a parse of all tokens that concerns words: without spaces, renumbered."""
    if len(tokens) == len(heads):
        return Parse(heads, labels, starts)
    number = {int(token): word for word, token in enumerate(tokens)}
    # A start marked on a space is the start of the next word.
    for token in range(len(starts) - 1):
        if token not in number and starts[token]:
            starts[token + 1] = True
    return Parse(
        [None if heads[t] is None else number.get(heads[t]) for t in tokens.tolist()],
        [labels[t] for t in tokens.tolist()],
        [starts[t] for t in tokens.tolist()],
    )


def spanning(heads: Sequence[int | None]) -> list[int]:
    """For each word, how many arcs there are between words before it and it or words behind it."""
    changes = [0] * (len(heads) + 1)
    for word, head in enumerate(heads):
        if head is not None and head != word:
            changes[min(word, head) + 1] += 1
            changes[max(word, head) + 1] -= 1
    return list(accumulate(changes[:-1]))


def known_starts(heads: list[int | None]) -> list[bool | None]:
    """Sentence starts as far as the heads tell. (spaCy starts a sentence at the left edge of every
    root, also where the words before it have no annotation and may belong to it.)"""
    complete: list[bool | None] = [None] * len(heads)  # whether its chain of heads ends in a root
    for word in range(len(heads)):
        chain = [word]
        while complete[chain[-1]] is None:
            above = heads[chain[-1]]
            if above is None or above == chain[-1]:
                complete[chain[-1]] = above is not None
            else:
                chain.append(above)
        for link in chain:
            complete[link] = complete[chain[-1]]
    starts: list[bool | None] = []
    for word, arcs in enumerate(spanning(heads)):
        is_known = word == 0 or (complete[word] and complete[word - 1])
        starts.append(False if arcs else True if is_known else None)
    return starts


def projective_parse(parse: Parse) -> Parse:
    """The same with crossing arcs lifted, their labels decorated."""
    if is_projective(parse.heads):
        return parse
    heads, labels = lift(parse.heads, parse.labels)
    return Parse(heads, labels, parse.starts)


class GoldReader:
    """Reads gold trees from examples, as far as a parser can learn them.

    component: the parser's name, for errors.
    labels: the parser's labels.
    projectivize: whether crossing arcs are lifted.
    max_length: of the longest arc that the system can make; 0: of any length.
    """

    def __init__(
        self, component: str, labels: Iterable[str], projectivize: bool, max_length: int
    ) -> None:
        self._component = component
        self._labels = set(labels)
        self._roots = [label for label in self._labels if is_root_name(label)]
        self._projectivize = projectivize
        self._max_length = max_length

    def read(self, example: Example, tokens: numpy.ndarray, constraints: numpy.ndarray) -> Gold:
        """The gold tree, as far as preset sentence starts and the system leave it within reach.

        Args:
            example: the example.
            tokens: int32 (words,): its tokens that are words.
            constraints: int8 (words,): preset sentence starts, as ``parsed_tokens`` gives them.

        Raises:
            ValueError: the heads form a cycle.
        """
        try:
            return self.gold(self._parse(example, tokens), constraints)
        except ValueError as error:
            raise self._bad(example, error) from error

    def gold(self, parse: Parse, constraints: numpy.ndarray) -> Gold:
        """The gold tree of a parse; otherwise like ``read``."""
        gold = self._gold(parse)
        if constraints.any():
            gold = under(gold, constraints.tolist())[0]
        return self._within_reach(gold)

    def from_parses(self, parses: Parses, names: Sequence[str]) -> list[Gold]:
        """Gold trees from the parses of documents that have words.

        Args:
            parses: the parses.
            names: the labels by their numbers.
        """
        golds = []
        for parse in parses.by_document():
            heads, labels, starts = (array.tolist() for array in parse.arcs)
            starts = [word == 0 or bool(start) for word, start in enumerate(starts)]
            gold = Gold(heads, [names[label] for label in labels], starts)
            golds.append(self._within_reach(gold))
        return golds

    def find_labels(self, examples: Iterable[Example]) -> list[str]:
        """The labels of the gold trees, by name, so that copies of the data with other words or
        phrases have the same in the same order; those that the parser has do not matter. Before
        them come the names of roots, the most frequent first; none, where it is ROOT alone.

        Raises:
            ValueError: there is no label, or the heads of a tree form a cycle.
        """
        found: set[str] = set()
        roots: Counter[str] = Counter()
        n_examples = n_labelled = 0
        placeholder = False
        for example in examples:
            n_examples += 1
            placeholder = [token.text for token in example.reference] == ["x", "y", "z"]
            try:
                parse = self._parse(example, parsed_tokens([example.predicted])[0])
            except ValueError as error:
                raise self._bad(example, error) from error
            for word, (head, label) in enumerate(zip(parse.heads, parse.labels, strict=True)):
                n_labelled += head is not None and bool(label)
                if head == word and label:
                    roots[label] += 1
                elif head is not None and label and not is_root_name(label):
                    found |= {label, plain_label(label)}
        if not n_labelled and not (n_examples == 1 and placeholder):
            raise ValueError(
                f"The component '{self._component}' found no dependency label in {n_examples} "
                f"examples: train it on a corpus with heads and labels (DEP), or give it labels."
            )
        names = sorted(roots, key=lambda name: (-roots[name], name))
        return [*(names if names != [ROOT_LABEL] else ()), *sorted(found)]

    def _parse(self, example: Example, tokens: numpy.ndarray) -> Parse:
        parse = word_parse(example, tokens)
        return projective_parse(parse) if self._projectivize else parse

    def _gold(self, parse: Parse) -> Gold:
        """The gold tree of a parse: labels that the parser does not have, or that do not fit the
        arc (ROOT on a word with a head), are unknown. A parser that has one name of roots alone
        gives it to all."""
        fitting: list[str | None] = []
        for word, (head, label) in enumerate(zip(parse.heads, parse.labels, strict=True)):
            if head == word and len(self._roots) == 1:
                fitting.append(self._roots[0])
            elif label in self._labels and is_root_name(label) == (head == word):
                fitting.append(label)
            else:
                fitting.append(None)
        return Gold(parse.heads, fitting, parse.starts)

    def _within_reach(self, gold: Gold) -> Gold:
        """Without the arcs that are too long for the system."""
        return within(gold, self._max_length)[0] if self._max_length else gold

    def _bad(self, example: Example, error: ValueError) -> ValueError:
        return ValueError(
            f"The component '{self._component}' cannot learn from the gold tree of "
            f"{example.reference.text!r:.80}: {error} Correct or remove it."
        )
