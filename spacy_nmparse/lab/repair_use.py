"""How a parser uses its non-monotonic moves (HGJ13, section 8 and Table 2).

In every configuration that greedy search meets on the way to a gold document's parse, the legal
non-monotonic moves are judged by the oracle's costs; labels do not count:

| | the move was made | it was not |
| --- | --- | --- |
| it costs least | TP; neutral, if it adds no gold arc | FN; deferred, if what was made is as good |
| it costs more | FP | TN |

Besides: how many heads would be right if the oracle decided these moves, and the model all others
(the upper bound of section 8).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from operator import eq
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from spacy_nmparse.analysis.steps import Arc, Step
from spacy_nmparse.analysis.tracer import Scored
from spacy_nmparse.analysis.tracing import ALL, Tracing, best_of, least_costs, traced
from spacy_nmparse.systems import ROOT, State


@dataclass
class Outcomes:
    """How often a kind of repair was made rightly (tp), without harm or use (neutral) or wrongly
    (fp), missed (fn), rightly left (tn), or put off (deferred)."""

    tp: int = 0
    neutral: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0
    deferred: int = 0

    @property
    def precision(self) -> float | None:
        """Of the repairs that were made, the share that added a gold arc at the least cost."""
        made = self.tp + self.neutral + self.fp
        return self.tp / made if made else None

    @property
    def recall(self) -> float | None:
        """Of the repairs that were needed, the share that was made."""
        needed = self.tp + self.fn
        return self.tp / needed if needed else None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**self.__dict__, "precision": self.precision, "recall": self.recall}

    def add(self, other: Outcomes) -> None:
        """Add another's counts."""
        for name, count in other.__dict__.items():
            setattr(self, name, getattr(self, name) + count)


@dataclass
class Repair:
    """A repair in its sentence: "tp", "neutral" or "fp"; what was deleted and added."""

    move: str
    outcome: str
    words: list[str]
    deleted: list[Arc]
    added: list[Arc]
    gold_head: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        lists = {"deleted": list(map(list, self.deleted)), "added": list(map(list, self.added))}
        return {**self.__dict__, **lists}


@dataclass
class Repairs:
    """The result of ``find_repairs``.

    Attributes:
        outcomes: by kind of repair.
        punct: those where S0 is punctuation by its gold label, which HGJ13 leave out.
        labels: by kind of repair, counts of (label before, label after, "tp", "neutral" or "fp").
        examples: a few of each kind and outcome.
        heads: words whose gold head is known.
        right: those of them whose head is right.
        at_most: those whose head would be right if the oracle decided the repairs.
    """

    outcomes: dict[str, Outcomes] = field(default_factory=lambda: defaultdict(Outcomes))
    punct: dict[str, Outcomes] = field(default_factory=lambda: defaultdict(Outcomes))
    labels: dict[str, Counter[tuple[str, str, str]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    examples: list[Repair] = field(default_factory=list)
    documents: int = 0
    words: int = 0
    moves: int = 0
    heads: int = 0
    right: int = 0
    at_most: int = 0

    @property
    def total(self) -> Outcomes:
        """All kinds together."""
        total = Outcomes()
        for one in self.outcomes.values():
            total.add(one)
        return total

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "documents": self.documents,
            "words": self.words,
            "moves": self.moves,
            "heads": self.heads,
            "right": self.right,
            "at_most": self.at_most,
            "repairs": {name: one.as_dict() for name, one in sorted(self.outcomes.items())},
            "punct": {name: one.as_dict() for name, one in sorted(self.punct.items())},
            "total": self.total.as_dict(),
            "labels": {
                name: [
                    {"before": before, "after": after, "outcome": outcome, "count": count}
                    for (before, after, outcome), count in counts.most_common()
                ]
                for name, counts in sorted(self.labels.items())
            },
            "examples": [example.as_dict() for example in self.examples],
        }


def find_repairs(
    nlp: Language, docs: Iterable[Doc], *, name: str | None = None, n_examples: int = 3
) -> Repairs:
    """Parse gold documents and judge every repair that was or could have been made.

    Args:
        nlp: a pipeline with a parser of this package.
        docs: gold documents. They are not changed.
        name: which parser, where there are several.
        n_examples: examples of each kind of repair and outcome.

    Raises:
        ValueError: as ``derive``.
    """
    found = Repairs()
    kept: Counter[tuple[str, str]] = Counter()
    for tracing in traced(nlp, docs, name):
        found.documents += 1
        found.words += len(tracing.tokens)
        for step in tracing.steps(tracing.initial(), ALL):
            found.moves += step.kind == "move"
            counted = [found.outcomes]
            if step.stack and _is_punctuation(tracing, step.stack[-1]):
                counted.append(found.punct)
            for outcomes in counted:
                _count_others(outcomes, step)
            if step.repair is None:
                continue
            outcome = _outcome(tracing, step)
            for outcomes in counted:
                one = outcomes[step.repair]
                setattr(one, outcome, getattr(one, outcome) + 1)
            for before, after in _pairs(step):
                found.labels[step.repair][before, after, outcome] += 1
            if kept[step.repair, outcome] < n_examples:
                kept[step.repair, outcome] += 1
                found.examples.append(_example(tracing, step, outcome))
        assert tracing.gold_tree is not None
        gold = tracing.gold_tree.heads
        found.heads += len(gold) - list(gold).count(None)
        found.right += sum(map(eq, tracing.tree()[0], gold))
        tracing.finish(tracing.initial(), partial(_repaired, tracing))
        found.at_most += sum(map(eq, tracing.tree()[0], gold))
    return found


def _repaired(tracing: Tracing, state: State, moves: list[Scored]) -> Scored:
    """The model's move, except that no repair is made that costs more than the least, and that one
    that costs least is made where the model's move costs more."""
    costs = least_costs(tracing.costs(state, moves))
    least = min(costs.values())
    right = [one for one in moves if costs[one.action.move, one.action.k] == least]
    repairs = [one for one in moves if tracing.system.repair(state, one.action)]
    allowed = [one for one in moves if one not in repairs or one in right]
    best = best_of(allowed or moves)
    needed = [one for one in right if one in repairs]
    return best if best in right or not needed else best_of(needed)


def _is_punctuation(tracing: Tracing, word: int) -> bool:
    """Whether a word is punctuation by its gold label."""
    return tracing.gold is not None and word != ROOT and tracing.gold.labels[word] == "punct"


def _outcome(tracing: Tracing, step: Step) -> str:
    """Of a repair that was made."""
    if step.chosen is None or step.chosen.least_cost != step.least_cost:
        return "fp"
    heads = tracing.gold.heads if tracing.gold else ()
    useful = not step.added or any(
        heads[arc.dependent] == (arc.dependent if arc.head == ROOT else arc.head)
        for arc in step.added
    )
    return "tp" if useful else "neutral"


def _count_others(outcomes: dict[str, Outcomes], step: Step) -> None:
    """Judge the repairs that were legal where a step was made, but were not it: each kind once."""
    kinds: dict[str, bool] = {}
    for choice in step.choices:
        if choice.repair is not None:
            right = choice.least_cost == step.least_cost
            kinds[choice.repair] = kinds.get(choice.repair, False) or right
    chosen = step.chosen
    for kind, right in kinds.items():
        one = outcomes[kind]
        if kind == step.repair:
            continue
        if not right:
            one.tn += 1
        elif chosen is not None and chosen.least_cost == step.least_cost:
            one.deferred += 1
        else:
            one.fn += 1


def _pairs(step: Step) -> list[tuple[str, str]]:
    """Labels before and after, of each word whose arc a step has changed."""
    before = {arc.dependent: arc.label or "" for arc in step.deleted}
    after = {arc.dependent: arc.label or "" for arc in step.added}
    return [(before.get(word, ""), after.get(word, "")) for word in {**before, **after}]


def _example(tracing: Tracing, step: Step, outcome: str) -> Repair:
    """The words of the sentence around a repair, numbered from its first."""
    assert step.repair is not None and tracing.gold is not None
    first = step.start
    arcs = [*step.deleted, *step.added]
    last = max([*(word for arc in arcs for word in arc[:2]), *step.stack, *step.buffer[:1]])
    words = [tracing.doc[token].text for token in tracing.tokens[first : last + 6]]
    heads = tracing.gold.heads
    head = heads[arcs[-1].dependent]
    return Repair(
        step.repair,
        outcome,
        words,
        [arc.moved(first) for arc in step.deleted],
        [arc.moved(first) for arc in step.added],
        None if head is None else -1 if head == arcs[-1].dependent else head - first,
    )
