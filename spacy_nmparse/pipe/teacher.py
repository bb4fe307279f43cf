"""A trained parser, or an ensemble, that another learns from in addition to the gold trees.

Hinton, Vinyals & Dean 2015, *Distilling the Knowledge in a Neural Network*. Of ensembles of
transition-based parsers, with exploration as here: Liu et al. 2018, *Distilling Knowledge for
Search-based Structured Prediction*.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import spacy
from thinc.api import Model

from spacy_nmparse.pipe.component import ParsingComponent
from spacy_nmparse.pipe.labels import LabelSet
from spacy_nmparse.pipe.members import difference, lacks_vectors, own_token_vectors, parsers_of
from spacy_nmparse.scorers.operations import is_initialized, learns_by_gradients


@dataclass(frozen=True)
class Teacher:
    """What a parser learns from.

    Attributes:
        model: The teacher's scorer, or ensemble of scorers, with token vectors of its own.
        labels: The teacher's labels, in order.
        weight: Its share in the loss, above 0 and at most 1.
    """

    model: Model
    labels: list[str]
    weight: float


def load_teacher(
    path: str, weight: float, pupil: ParsingComponent, labels: Iterable[str]
) -> Teacher:
    """Load a teacher.

    Args:
        path: Its pipeline: a folder, or a package. The teacher is the component with the pupil's
            name, or else the only parser of this package.
        weight: Its share in the loss.
        pupil: The parser that learns from it.
        labels: The labels of the pupil's data, which the teacher must know.

    Returns:
        The teacher.

    Raises:
        ValueError: The weight is not above 0 and at most 1; the pupil is trained with a beam alone,
            or learns from gold trees alone; the pipeline cannot be loaded, or has no such
            component; or the teacher is not trained, differs from the pupil in system or lifting,
            lacks a label, or looks up static vectors in another table.
    """
    where = f"The component '{pupil.name}' cannot learn from the teacher {path}:"
    if not learns_by_gradients(pupil.model):
        raise ValueError(f"{where} its scorer learns from gold trees alone.")
    if not pupil.learns_single_moves:
        raise ValueError(
            f"{where} updates with a beam do without it, and beam_training is "
            f"{pupil.beam_training!r} with beam_updates 1.0: lower beam_updates, or set "
            f"beam_training to 'local'."
        )
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight <= 1:
        raise ValueError(f"{where} teacher_weight is {weight!r}, not above 0 and at most 1.")
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
    if not teacher.labels or not is_initialized(teacher.model):
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
    return Teacher(teacher.model, known, float(weight))
