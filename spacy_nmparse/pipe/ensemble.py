"""Parsers that were trained by themselves, made one: each move is decided by all of them.

Ensembles: Dietterich 2000. Of greedy transition-based parsers: Kuncoro et al. 2016, *Distilling an
Ensemble of Greedy Dependency Parsers into One MST Parser*, whose parsers vote on arcs; here they
vote on moves, and the trees are those of the system.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from spacy_nmparse.pipe.component import ParsingComponent
from spacy_nmparse.pipe.members import (
    difference,
    lacks_vectors,
    own_token_vectors,
    parser_of,
    title,
)
from spacy_nmparse.pipe.settings import changed_settings
from spacy_nmparse.scorers.operations import is_ensemble, is_initialized
from spacy_nmparse.scorers.tagging import REFERENCES
from spacy_nmparse.scorers.words import recurrent_layers


def merge(pipelines: Sequence[Language], names: Sequence[str]) -> Language:
    """Make an ensemble of the parsers of several pipelines.

    Args:
        pipelines: trained on the same data, with other seeds, say. They are changed: each parser
            gets a tok2vec of its own instead of one that it shares. The first gets the ensemble
            instead of its parser, and loses the tok2vec components that nothing listens to any
            more.
        names: of the parsers' components, one for each pipeline.

    Returns:
        The first pipeline.

    Raises:
        ValueError: there are fewer than two; a component is not a trained parser of this package,
            or is an ensemble itself; or the parsers differ in system, labels or lifting, or in tags
            that they write, or look up static vectors in different tables. Nothing is changed then.
    """
    parsers = [_checked(nlp, name) for nlp, name in zip(pipelines, names, strict=True)]
    if len(parsers) < 2:
        raise ValueError("An ensemble needs at least two pipelines.")
    for nlp, parser in zip(pipelines, parsers, strict=True):
        found = difference(parsers[0], parser)
        if not found and parser.label_data["labels"] != parsers[0].label_data["labels"]:
            found = "their labels, or the order of these: train them on the same data"
        if found:
            raise ValueError(
                f"The parsers of {title(pipelines[0])} and {title(nlp)} cannot decide together: "
                f"they differ in {found}."
            )
    for nlp, name in zip(pipelines[1:], names[1:], strict=True):
        if lacks_vectors(nlp, name, pipelines[0].vocab):
            raise ValueError(
                f"The parser of {title(nlp)} looks up its words' vectors in another table than "
                f"that of {title(pipelines[0])}: train them with the same vectors."
            )
    labels = parsers[0].label_data
    keeps_tags = bool(labels["tags"]) and all(parser.label_data == labels for parser in parsers)
    if any(parser.write_tags for parser in parsers) and not keeps_tags:
        raise ValueError(
            "The parsers cannot write tags together: they have learned other ones, or none. Train "
            "them on the same data, or set write_tags = false."
        )
    members = {}
    for number, (nlp, name) in enumerate(zip(pipelines, names, strict=True), start=1):
        own_token_vectors(nlp, name)
        model = _config(nlp, name)["model"]
        members[f"member{number}"] = model if keeps_tags else {**model, "tag_weight": 0.0}
    first, name = pipelines[0], names[0]
    config = _config(first, name)
    factory, place = config.pop("factory"), first.pipe_names.index(name)
    config["model"] = {"@architectures": "spacy_nmparse.Ensemble.v1", "*": members}
    first.remove_pipe(name)
    options: dict[str, Any] = {"before": place} if place < len(first.pipe_names) else {}
    ensemble = first.add_pipe(factory, name=name, config=config, **options)
    doc = Doc(first.vocab, words=["word"])
    if not keeps_tags:
        labels = {"labels": labels["labels"]}
    ensemble.initialize(lambda: [Example(doc, doc.copy())], nlp=first, labels=labels)  # type: ignore[attr-defined]
    for setting, values in changed_settings(parsers[0]).items():
        setattr(ensemble, setting, values["set"])
    for target, parser in zip(ensemble.model.layers, parsers, strict=True):  # type: ignore[attr-defined]
        _copy(parser.model, target)
    for unused in [key for key, pipe in first.pipeline if _is_unused(pipe)]:
        first.remove_pipe(unused)
    first.meta.pop("performance", None)
    return first


def _checked(nlp: Language, name: str) -> ParsingComponent:
    """The component, if it can be a member."""
    parser = parser_of(nlp, name)
    if is_ensemble(parser.model):
        raise ValueError(f"The parser of {title(nlp)} is an ensemble already: give its members.")
    if not parser.labels or not is_initialized(parser.model):
        raise ValueError(f"The parser of {title(nlp)} is not trained.")
    return parser


def _config(nlp: Language, name: str) -> dict[str, Any]:
    """The block of a component, without references to others."""
    config: dict[str, Any] = nlp.config.interpolate()["components"][name]
    return config


def _is_unused(pipe: Any) -> bool:
    """Whether a component makes token vectors for others, and there are none."""
    return hasattr(pipe, "listener_map") and not any(pipe.listener_map.values())


def _copy(source: Model, target: Model) -> None:
    """Copy the weights of a scorer into one that may have no layer for tags."""
    target.attrs["features"] = source.attrs["features"]
    for name in source.param_names:
        target.set_param(name, source.get_param(name).copy())
    for name in REFERENCES:
        layer = target.maybe_get_ref(name)
        if layer is not None:
            layer.from_bytes(source.get_ref(name).to_bytes())
    target.get_ref("tok2vec").from_bytes(source.get_ref("tok2vec").to_bytes())
    for layer, copy in zip(recurrent_layers(source), recurrent_layers(target), strict=True):
        copy.from_bytes(layer.to_bytes())
