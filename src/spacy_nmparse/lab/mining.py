"""Which single edit of arcs, when it could first be seen, would have mended a parser's errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from spacy_nmparse.analysis.derivation import Derivation, derive
from spacy_nmparse.analysis.steps import Step
from spacy_nmparse.pipe.members import parser_of
from spacy_nmparse.systems import ROOT

Heads = dict[int, int]  # word -> head, as far as arcs are there

#: Edits that moves make: those of the draft on repairs (left invert attaches S0, too), and
#: LEFT-YIELD.
MOVES = {
    ("S0", "B0"): "left reattach",
    ("S0", "the last dependent of its head before it"): "right lower",
    ("S0", "the head of its head"): "right raise",
    ("the first left dependent of S0", "B0"): "left invert",
    ("a dependent of B0", "S0"): "LEFT-YIELD",
}
LATE = "only after the last move"


class Edit(NamedTuple):
    """A word gets another head: what the word is in the configuration, and what the new head is."""

    dependent: str
    head: str


@dataclass
class Mined:
    """What would mend errors.

    Attributes:
        words: gold words whose head is known.
        errors: those with another head in the parser's tree.
        edits: how many of the errors each edit would mend.
        whole: how many of these edits leave a tree without crossing arcs and cycles.
    """

    words: int = 0
    errors: int = 0
    edits: Counter[Edit] = field(default_factory=Counter)
    whole: Counter[Edit] = field(default_factory=Counter)

    def ranked(self) -> list[Edit]:
        """The edits, those first that mend most and leave a tree."""
        return sorted(self.edits, key=lambda one: (-self.whole[one], -self.edits[one], one))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "words": self.words,
            "errors": self.errors,
            "edits": [[*one, self.edits[one], self.whole[one]] for one in self.ranked()],
        }


def mine_edits(nlp: Language, golds: Iterable[Doc], name: str | None = None) -> Mined:
    """Follow a parser through gold sentences. For each word with a wrong head in the end, find the
    first configuration behind the wrong arc in which the right head has been read or is B0, and
    what edit would put it right there. Where the word or its wrong head is at the top of the stack
    only later, before that B0 is read, it is that configuration.

    Args:
        nlp: a pipeline with a parser that has a stack.
        golds: the gold trees.
        name: the parser's name in the pipeline, where there are several.

    Raises:
        ValueError: no such parser, or one whose trees may end with headless words.
    """
    if parser_of(nlp, name).system.headless:
        raise ValueError(
            f"Edits are mined where every word gets its head from a move, on one stack, and not in "
            f"{parser_of(nlp, name).system.name}: list systems have none."
        )
    mined = Mined()
    for gold in golds:
        mine_derivation(derive(nlp, gold, gold, name=name, n_choices=0), mined)
    return mined


def mine_derivation(derivation: Derivation, mined: Mined) -> None:
    """Add the errors of one derivation, whose gold tree is known."""
    if derivation.gold_heads is None:
        return
    wanted: Heads = {}
    for word, head in enumerate(derivation.gold_heads):
        mined.words += head is not None
        if head is not None and derivation.heads[word] != head:
            wanted[word] = ROOT if head == word else head
    mined.errors += len(wanted)
    made = {arc.dependent: i for i, step in enumerate(derivation.steps) for arc in step.added}
    heads: Heads = {}
    seen: dict[int, _Sight] = {}
    for i, step in enumerate(derivation.steps):
        for word, head in wanted.items():
            if made[word] < i and step.action is not None and _is_seen(step, head):
                sight = _Sight(step, heads, word, head, len(derivation.words))
                first = seen.setdefault(word, sight)
                if sight.is_nearer(first):
                    seen[word] = sight
        for arc in step.deleted:
            del heads[arc.dependent]
        for arc in step.added:
            heads[arc.dependent] = arc.head
    for word in wanted:
        edit = seen[word].edit if word in seen else Edit("any word", LATE)
        mined.edits[edit] += 1
        if word in seen and seen[word].whole:
            mined.whole[edit] += 1


class _Sight:
    """An edit in a configuration."""

    def __init__(self, step: Step, heads: Heads, word: int, head: int, n: int) -> None:
        self.b0 = step.buffer[0] if step.buffer else None
        top = {self.b0, *step.stack[-1:]}
        self.at_top = word in top or heads[word] in top
        self.edit = Edit(*_named(step, heads, word, head))
        self.whole = _is_whole(heads, word, head, n)

    def is_nearer(self, first: _Sight) -> bool:
        """Whether the same word is in front, and the edit is at the top of the stack only here."""
        return self.b0 == first.b0 and self.at_top and not first.at_top


def _is_seen(step: Step, word: int) -> bool:
    """Whether a word has been read, or is B0; ROOT always is."""
    front = min((item for item in step.buffer if item != ROOT), default=None)
    return word == ROOT or front is None or word <= front


def _named(step: Step, heads: Heads, word: int, head: int) -> tuple[str, str]:
    """What a word and its right head are in a configuration."""
    b0 = step.buffer[0] if step.buffer else None
    place = {item: f"S{i}" for i, item in enumerate(reversed(step.stack)) if i < 2}
    old = heads[word]
    siblings = [w for w, h in heads.items() if h == old and w != word]
    if word in place:
        dependent = place[word]
    elif word in step.stack:
        dependent = "a word deeper on the stack"
    elif old == b0:
        dependent = "a dependent of B0"
    elif old in place:
        if word > old:
            dependent = f"a right dependent of {place[old]}"
        elif min(siblings, default=word) < word:
            dependent = f"a left dependent of {place[old]}"
        else:
            dependent = f"the first left dependent of {place[old]}"
    else:
        dependent = "a word that has left the stack"
    before = [w for w in siblings if w < word and (old == ROOT or w > old)]
    if head == b0:
        return dependent, "B0"
    if head == ROOT:
        return dependent, "ROOT"
    if heads.get(old) == head:
        return dependent, "the head of its head"
    if before and head == max(before):
        return dependent, "the last dependent of its head before it"
    if head in siblings:
        return dependent, "another dependent of its head"
    if _is_above(heads, word, head):
        return dependent, "a word below it"
    if head in place:
        return dependent, place[head]
    return dependent, "a word deeper on the stack" if head in step.stack else "another word read"


def _is_above(heads: Heads, word: int, below: int) -> bool:
    """Whether ``below`` is in the subtree of word."""
    while below in heads and below != word:
        below = heads[below]
    return below == word


def _is_whole(heads: Heads, word: int, head: int, n: int) -> bool:
    """Whether the arc head -> word, in place of the old one, closes no cycle and crosses none."""
    if head != ROOT and _is_above(heads, word, head):
        return False
    low, high = sorted((word, n if head == ROOT else head))
    for dependent, other in heads.items():
        if dependent != word:
            a, b = sorted((dependent, n if other == ROOT else other))
            if a < low < b < high or low < a < high < b:
                return False
    return True
