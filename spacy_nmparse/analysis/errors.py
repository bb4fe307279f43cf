"""Where a parser errs: by label, length, direction and projectivity of arcs, by length of
sentences."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from spacy_nmparse.analysis.tracing import Tracing, traced
from spacy_nmparse.pipe.evaluation import bin_name, bin_names
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
class Errors:
    """What ``find_errors`` has found.

    Attributes:
        groups: "all", "label", "length", "direction", "projectivity", "sentence_length" -> kind ->
            words.
        confusions: counts of (gold label, predicted label) of words with the right head.
    """

    groups: dict[str, dict[str, Group]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Group))
    )
    confusions: Counter[tuple[str, str]] = field(default_factory=Counter)
    documents: int = 0

    @property
    def all(self) -> Group:
        """All words."""
        return self.groups["all"]["all"]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "documents": self.documents,
            "groups": {
                name: {kind: group.as_dict() for kind, group in groups.items()}
                for name, groups in self.groups.items()
            },
            "confusions": [
                {"gold": gold, "predicted": predicted, "count": count}
                for (gold, predicted), count in self.confusions.most_common()
            ],
        }


def find_errors(nlp: Language, docs: Iterable[Doc], *, name: str | None = None) -> Errors:
    """Parse gold documents greedily and break the errors down.

    Args:
        nlp: a pipeline with a parser of this package.
        docs: gold documents; each is parsed by itself. They are not changed.
        name: which parser, where there are several.

    Raises:
        ValueError: as ``derive``.
    """
    found = Errors()
    for tracing in traced(nlp, docs, name):
        tracing.finish(tracing.initial())
        heads, labels, _ = tracing.tree()
        found.documents += 1
        _count_words(found, tracing, heads, labels)
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
