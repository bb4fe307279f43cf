"""Where a parser errs: by label, length, direction and projectivity of arcs, by length of
sentences; and its first wrong moves, with what they cost.

A move is wrong where another would have cost less. What the first wrong move of a document cost is
found by making the cheapest move instead, and letting the parser go on from there: the errors that
the parse then has less are its own cost and those that it led to downstream (fewer than none, where
the parser soon errs in another way).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from spacy_nmparse.analysis.steps import Step
from spacy_nmparse.analysis.tracing import ALL, Tracing, traced
from spacy_nmparse.pipe.evaluation import bin_name, bin_names
from spacy_nmparse.systems import Action, State
from spacy_nmparse.systems.projective import crossing_arcs


@dataclass
class Group:
    """Words of one kind: as the gold tree has it, and as the parse has it.

    Attributes:
        gold: words of this kind in the gold tree.
        heads: of them, those with the right head.
        labelled: of them, those with the right head and label.
        predicted: words of this kind in the parse.
        right: of them, those with the right head and label.
    """

    gold: int = 0
    heads: int = 0
    labelled: int = 0
    predicted: int = 0
    right: int = 0

    @property
    def uas(self) -> float | None:
        """Share of the gold words with the right head."""
        return self.heads / self.gold if self.gold else None

    @property
    def las(self) -> float | None:
        """Share of the gold words with the right head and label: the recall."""
        return self.labelled / self.gold if self.gold else None

    @property
    def precision(self) -> float | None:
        """Share of the predicted words with the right head and label."""
        return self.right / self.predicted if self.predicted else None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**self.__dict__, "uas": self.uas, "las": self.las, "precision": self.precision}


@dataclass
class FirstError:
    """First wrong moves of one kind: what was made, and what would have been right.

    Attributes:
        own: their costs added up.
        saved: by how many errors fewer the parses have where the right move is made instead.
    """

    made: str
    right: str
    count: int = 0
    own: float = 0.0
    saved: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with the means."""
        return {
            **self.__dict__,
            "own_mean": self.own / self.count,
            "downstream_mean": (self.saved - self.own) / self.count,
        }


@dataclass
class Errors:
    """The result of ``find_errors``.

    Attributes:
        groups: "all", "label", "length", "direction", "projectivity", "sentence_length" -> kind ->
            words.
        confusions: counts of (gold label, predicted label) of words with the right head.
        first: by (what was made, what would have been right).
        flawless: documents without a wrong move.
    """

    groups: dict[str, dict[str, Group]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Group))
    )
    confusions: Counter[tuple[str, str]] = field(default_factory=Counter)
    first: dict[tuple[str, str], FirstError] = field(default_factory=dict)
    documents: int = 0
    flawless: int = 0

    @property
    def all(self) -> Group:
        """All words."""
        return self.groups["all"]["all"]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "documents": self.documents,
            "flawless": self.flawless,
            "groups": {
                name: {kind: group.as_dict() for kind, group in groups.items()}
                for name, groups in self.groups.items()
            },
            "confusions": [
                {"gold": gold, "predicted": predicted, "count": count}
                for (gold, predicted), count in self.confusions.most_common()
            ],
            "first_errors": [
                one.as_dict() for one in sorted(self.first.values(), key=lambda one: -one.saved)
            ],
        }


def find_errors(nlp: Language, docs: Iterable[Doc], *, name: str | None = None) -> Errors:
    """Parse gold documents greedily and break the errors down.

    Args:
        nlp: a pipeline with a parser of this package.
        docs: gold documents; each is parsed by itself, and its first wrong move is looked for: one
            sentence each tells most. They are not changed.
        name: which parser, where there are several.

    Raises:
        ValueError: as ``derive``.
    """
    found = Errors()
    for tracing in traced(nlp, docs, name):
        steps = list(tracing.steps(tracing.initial(), ALL))
        final = tracing.final
        heads, labels, _ = tracing.tree()
        found.documents += 1
        _count_words(found, tracing, heads, labels)
        first = next((i for i, step in enumerate(steps) if step.is_wrong), None)
        if first is None:
            found.flawless += 1
        else:
            _count_first(found, tracing, steps, first, final)
    for name_ in ("length", "sentence_length"):
        order = {kind: i for i, kind in enumerate(["root", *bin_names()])}
        found.groups[name_] = dict(
            sorted(found.groups[name_].items(), key=lambda item: order[item[0]])
        )
    found.groups["label"] = dict(
        sorted(found.groups["label"].items(), key=lambda item: -item[1].gold)
    )
    return found


def _count_words(
    found: Errors, tracing: Tracing, heads: Sequence[int], labels: Sequence[str | None]
) -> None:
    """Count the words of a document whose gold heads and labels are known."""
    assert tracing.gold_tree is not None
    gold_heads, gold_labels, starts = tracing.gold_tree
    crossing = [set(crossing_arcs(tree)) for tree in (gold_heads, list(heads))]
    lengths = _sentence_lengths([bool(start) for start in starts])
    for word, (head, label) in enumerate(zip(gold_heads, gold_labels, strict=True)):
        if head is None or label is None:
            continue
        right_head = heads[word] == head
        right = right_head and (labels[word] == label)
        kinds = _kinds(word, head, label, crossing[0], lengths[word])
        for name, kind in kinds.items():
            group = found.groups[name][kind]
            group.gold += 1
            group.heads += right_head
            group.labelled += right
        said = _kinds(word, heads[word], labels[word] or "", crossing[1], lengths[word])
        for name, kind in said.items():
            group = found.groups[name][kind]
            group.predicted += 1
            group.right += right
        if right_head and not right:
            found.confusions[label, labels[word] or ""] += 1


def _kinds(word: int, head: int, label: str, crossing: set[int], length: int) -> dict[str, str]:
    root = head == word
    return {
        "all": "all",
        "label": label,
        "length": "root" if root else bin_name(abs(head - word)),
        "direction": "root" if root else "head to the right" if head > word else "head to the left",
        "projectivity": "crossing" if word in crossing else "projective",
        "sentence_length": bin_name(length),
    }


def _sentence_lengths(starts: Sequence[bool]) -> list[int]:
    """Of each word's sentence."""
    firsts = [word for word, start in enumerate(starts) if start or word == 0]
    lengths: list[int] = []
    for first, end in zip(firsts, [*firsts[1:], len(starts)], strict=True):
        lengths += [end - first] * (end - first)
    return lengths


def _count_first(
    found: Errors, tracing: Tracing, steps: Sequence[Step], first: int, final: State
) -> None:
    """Count what the first wrong move led to."""
    step = steps[first]
    assert step.chosen is not None and step.cost is not None and step.least_cost is not None
    state = tracing.replay(steps[:first])
    action, noted = _cheapest(tracing, state)
    tracing.make(state, action, noted)
    saved = _n_errors(tracing, final) - _n_errors(tracing, tracing.finish(state))
    same_move = (action.move, action.k) == (step.chosen.action.move, step.chosen.action.k)
    made = step.chosen.action.move
    key = (made, f"{made}, other label") if same_move else (made, action.move)
    if made == action.move and not same_move:
        key = (made, f"{made}, other word")
    one = found.first.setdefault(key, FirstError(*key))
    one.count += 1
    one.own += step.cost - step.least_cost
    one.saved += saved


def _cheapest(tracing: Tracing, state: State) -> tuple[Action, str | None]:
    """Of the actions that cost least, that of the likeliest move; the label that it notes."""
    moves = tracing.moves(state)
    costs = tracing.costs(state, moves)
    least = min(costs.values())
    share = {(one.action.move, one.action.k): one.share for one in moves}
    action = max(
        (one for one in costs if costs[one] == least), key=lambda one: share[one.move, one.k]
    )
    noted = next((one.noted for one in moves if one.action[:2] == action[:2]), None)
    return action, action.label or noted


def _n_errors(tracing: Tracing, final: State) -> int:
    """Words whose head or label is not gold's; as the parser learns it: not lowered."""
    assert tracing.gold is not None
    heads, labels = final.tree()
    return sum(
        gold_head is not None
        and (head != gold_head or (gold_label is not None and label != gold_label))
        for head, label, gold_head, gold_label in zip(
            heads, labels, tracing.gold.heads, tracing.gold.labels, strict=True
        )
    )
