"""Trained parsers that another learns from in addition to the gold trees.

Hinton, Vinyals & Dean 2015, *Distilling the Knowledge in a Neural Network*. Of several
transition-based parsers, with exploration as here: Liu et al. 2018, *Distilling Knowledge for
Search-based Structured Prediction*.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import spacy
from thinc.api import Model

from spacy_nmparse.pipe.component import ParsingComponent
from spacy_nmparse.pipe.labels import LabelSet
from spacy_nmparse.pipe.members import difference, lacks_vectors, own_token_vectors, parsers_of
from spacy_nmparse.scorers.hooks import hooks_of
from spacy_nmparse.scorers.scorer import Scorer
from spacy_nmparse.scorers.shared import ScorerInput


@dataclass(frozen=True)
class Teachers:
    """The teachers of a parser.

    Attributes:
        models: Their scorers, with token vectors of their own; their probabilities are averaged.
        labels: Their labels, in order.
        weight: Their share in the loss, above 0 and at most 1.
    """

    models: Sequence[Model]
    labels: list[str]
    weight: float

    def score(self, given: ScorerInput) -> list[Scorer]:
        """Their scores of a batch."""
        return [model.predict(given) for model in self.models]

    def check_labels(self, name: str, labels: Sequence[str]) -> None:
        """Raise ValueError where the pupil, the component of this name, has other labels."""
        if self.labels != labels:
            raise ValueError(
                f"The component '{name}' has got labels that its teacher does not know: "
                f"initialize it again, without the teacher or with one that knows them."
            )


def load_teachers(
    paths: Sequence[str], weight: Any, pupil: ParsingComponent, labels: Iterable[str]
) -> Teachers:
    """Load teachers.

    Args:
        paths: Their pipelines: folders, or packages. A teacher is the component with the pupil's
            name, or else the only parser of this package.
        weight: Their share in the loss.
        pupil: The parser that learns from them.
        labels: The labels of the pupil's data, which each teacher must know.

    Returns:
        The teachers.

    Raises:
        ValueError: The weight is not above 0 and at most 1; the pupil heeds no teachers; a pipeline
            cannot be loaded, or has no such component; or a teacher is not trained, differs from
            the pupil in system or lifting, or from the first teacher in labels, lacks a label, or
            looks up static vectors in another table.
    """
    where = f"The component '{pupil.name}' cannot learn from the teacher {', '.join(paths)}:"
    if not hooks_of(pupil.model).learns_by_gradients:
        raise ValueError(f"{where} its scorer learns from gold trees alone.")
    if not pupil.learning.heeds_teachers:
        raise ValueError(
            f"{where} its block 'learning' has no updates that do. With BeamLearning, set share "
            f"below 1."
        )
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight <= 1:
        raise ValueError(f"{where} teacher_weight is {weight!r}, not above 0 and at most 1.")
    known = [load_teacher(path, pupil, labels) for path in paths]
    for path, (_, other) in zip(paths, known, strict=True):
        if other != known[0][1]:
            raise ValueError(
                f"{where} the labels of {path}, or their order, are not those of {paths[0]}: train "
                f"teachers on the same data."
            )
    return Teachers([model for model, _ in known], known[0][1], float(weight))


def load_teacher(
    path: str, pupil: ParsingComponent, labels: Iterable[str]
) -> tuple[Model, list[str]]:
    """Load one teacher: its scorer and its labels. Arguments and errors as ``load_teachers``."""
    where = f"The component '{pupil.name}' cannot learn from the teacher {path}:"
    try:
        nlp = spacy.load(path)
    except Exception as error:
        raise ValueError(
            f"{where} it cannot be loaded ({type(error).__name__}: {error})."
        ) from error
    parsers = parsers_of(nlp)
    name = next(iter(parsers)) if len(parsers) == 1 else pupil.name
    if name not in parsers:
        raise ValueError(
            f"{where} it has {len(parsers)} parsers of spacy-nmparse, and none is named "
            f"'{pupil.name}'."
        )
    teacher = parsers[name]
    if not teacher.labels or not hooks_of(teacher.model).is_initialized(teacher.model):
        raise ValueError(f"{where} it is not trained.")
    found = difference(pupil, teacher)
    if found:
        raise ValueError(f"{where} the two differ in {found}.")
    known = teacher.label_data["labels"]
    unknown = sorted(set(LabelSet.complete(labels).names).difference(known))
    if unknown:
        raise ValueError(
            f"{where} it does not know the labels {unknown}: train it on the same data, with the "
            f"same tokenizer."
        )
    if lacks_vectors(nlp, name, pupil.vocab):
        raise ValueError(
            f"{where} it looks up its words' vectors in a table that the pipeline to be trained "
            f"does not have: train with the same vectors."
        )
    own_token_vectors(nlp, name)
    return teacher.model, known
