"""Parsers of pipelines: which there are, whether they fit together, token vectors of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spacy.language import Language
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_nmparse.pipe.component import ParsingComponent
from spacy_nmparse.pipe.words import listeners


def title(nlp: Language) -> str:
    """A pipeline's name in messages."""
    return str(nlp.path or f"{nlp.lang}_{nlp.meta.get('name') or 'pipeline'}")


def parsers_of(nlp: Language) -> dict[str, ParsingComponent]:
    """The parsers of this package in a pipeline, by name."""
    return {name: pipe for name, pipe in nlp.pipeline if isinstance(pipe, ParsingComponent)}


def parser_of(nlp: Language, name: str | None = None) -> ParsingComponent:
    """The parser of a pipeline, by its component's name where there are several.

    Raises:
        ValueError: there is none of this package, or there are several, or none of that name.
    """
    found = parsers_of(nlp)
    if not found:
        raise ValueError(
            f"{title(nlp)} has no parser of spacy-nmparse, only {nlp.pipe_names}: give one that "
            f"was trained with nm_parser, nl_covington_parser or swap_parser."
        )
    if name is None and len(found) == 1:
        (name,) = found
    if name not in found:
        which = "not one" if name is None else f"none named {name!r}"
        raise ValueError(f"{title(nlp)} has the parsers {list(found)}, {which}: name one of them.")
    return found[name]


def difference(one: ParsingComponent, other: ParsingComponent) -> str:
    """The settings that hinder two parsers from deciding together, or nothing."""
    if (one.system_spec.name, one.system_spec.options) != (
        other.system_spec.name,
        other.system_spec.options,
    ):
        return (
            f"their systems, {one.system_spec.name} {one.system_spec.options} and "
            f"{other.system_spec.name} {other.system_spec.options}"
        )
    if one.cfg["projectivize"] != other.cfg["projectivize"]:
        return "projectivize"
    return ""


def _upstreams(nlp: Language, name: str) -> list[str]:
    """The components whose token vectors a parser listens to. Raises ValueError where spaCy has
    connected a parser that listens with none."""
    found = [
        upstream for upstream, pipe in nlp.pipeline if getattr(pipe, "listener_map", {}).get(name)
    ]
    if not found and listeners(nlp.get_pipe(name).model):  # type: ignore[attr-defined]
        raise ValueError(
            f"The parser '{name}' of {title(nlp)} shares token vectors, but is not connected with "
            f"the component that makes them: that one is disabled or not there, or one of the two "
            f"was renamed. Load the pipeline with both, and with the other one's name as "
            f"components.{name}.model.tok2vec.upstream."
        )
    return found


def lacks_vectors(nlp: Language, name: str, vocab: Vocab) -> bool:
    """Whether a parser's token vectors look words up in a table that a vocabulary does not have."""
    models: list[Model] = [
        nlp.get_pipe(component).model  # type: ignore[attr-defined]
        for component in (name, *_upstreams(nlp, name))
    ]
    if not any(layer.name == "static_vectors" for model in models for layer in model.walk()):
        return False
    own, other = (one.vectors.to_bytes(exclude=["strings"]) for one in (nlp.vocab, vocab))
    return bool(own != other)


def own_token_vectors(nlp: Language, name: str) -> None:
    """Give a parser a copy of the tok2vec that it listens to."""
    for upstream in _upstreams(nlp, name):
        config = nlp.get_pipe_config(name)["model"]
        nlp.replace_listeners(upstream, name, list(_listening(config, "model", upstream)))


def _listening(block: dict[str, Any], path: str, upstream: str) -> Iterator[str]:
    """The paths in a parser's config of the layers that listen to a component."""
    if block.get("upstream") in (upstream, "*"):
        yield path
    for key, value in block.items():
        if isinstance(value, dict):
            yield from _listening(value, f"{path}.{key}", upstream)
