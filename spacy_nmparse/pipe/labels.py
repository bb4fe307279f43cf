"""The labels of a parser, and what else it has learned besides its weights."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy

from spacy_nmparse.pipe.annotations import SPACE_LABEL, Arcs
from spacy_nmparse.pipe.roots import ROOT_LABEL, is_root_name
from spacy_nmparse.pipe.tags import Attributes, TagSet, TagTriples
from spacy_nmparse.systems import TransitionSystem
from spacy_nmparse.systems.projective import DELIMITER, lower, plain_label


class LabelSet:
    """The labels of a parser in their order, those that note lifted arcs among them.

    names: the labels.
    plain: the labels without such notes, as documents have them.
    roots: those of roots.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(names)
        self.plain = tuple(dict.fromkeys(plain_label(name) for name in self.names))
        self.roots = tuple(filter(is_root_name, self.names))
        lifted = [DELIMITER in name and not is_root_name(name) for name in self.names]
        self._notes_lift = numpy.asarray(lifted, dtype=bool)
        self._any_notes_lift = bool(self._notes_lift.any())

    @property
    def root_label(self) -> str | tuple[str, ...]:
        """The value of a system's option ``root_label``."""
        return self.roots[0] if len(self.roots) == 1 else self.roots

    @classmethod
    def complete(cls, names: Iterable[str]) -> LabelSet:
        """Labels with those that every parser needs: of roots, of spaces, and the plain ones."""
        names = list(names)
        roots = [] if any(map(is_root_name, names)) else [ROOT_LABEL]
        plain = (plain_label(name) for name in names if not is_root_name(name))
        return cls(dict.fromkeys([*names, *roots, SPACE_LABEL, *plain]))

    def lowered(self, arcs: Arcs, ends: numpy.ndarray) -> Arcs:
        """The arcs with those lowered whose labels note a lift, and with plain labels.

        Args:
            arcs: of the words of documents.
            ends: int32 (documents,): where the words of each document end.
        """
        if not self._any_notes_lift or not self._notes_lift[arcs.labels].any():
            return arcs
        number = {name: i for i, name in enumerate(self.names)}
        heads: list[int] = []
        labels: list[int] = []
        for first, last in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            names = [self.names[label] for label in arcs.labels[first:last]]
            found, plain = lower(arcs.heads[first:last].tolist(), names)
            heads += found
            own = arcs.labels[first:last].tolist()
            labels += [
                own[word] if found[word] == word else number[label]
                for word, label in enumerate(plain)
            ]
        return Arcs(
            numpy.asarray(heads, dtype="int32"), numpy.asarray(labels, dtype="int32"), arcs.starts
        )


@dataclass(frozen=True)
class Learned:
    """All that a parser has learned besides its weights.

    Attributes:
        labels: Its labels.
        tags: The tags that it learns along with the trees.
        system: The transition system over the labels; without labels until there are any.
    """

    labels: LabelSet
    tags: TagSet
    system: TransitionSystem


@dataclass(frozen=True)
class LabelData:
    """The data of ``spacy init labels``: labels; attributes with their values; and the triples of
    POS, TAG and MORPH that occur."""

    labels: list[str]
    tags: Attributes
    tag_triples: TagTriples

    @classmethod
    def checked(cls, data: Any) -> LabelData:
        """Label data from outside. Raises ValueError where it is none."""
        if (
            not isinstance(data, dict)
            or not isinstance(data.get("labels"), list)
            or not all(isinstance(label, str) and label for label in data["labels"])
            or not isinstance(data.get("tags", {}), dict)
            or not isinstance(data.get("tag_triples", []), list)
        ):
            raise ValueError(
                f'labels that are not label data ({{"labels": [...], "tags": {{...}}}}): '
                f"{data!r:.80}"
            )
        return cls(data["labels"], data.get("tags", {}), data.get("tag_triples", []))
