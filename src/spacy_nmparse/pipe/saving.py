"""Saving and loading a parser: its parts, their description, and what a failed load leaves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import srsly
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_nmparse.about import __version__
from spacy_nmparse.pipe.seal import damaged, saved_parts, sealed
from spacy_nmparse.pipe.tags import Attributes, TagSet, TagTriples
from spacy_nmparse.scorers.operations import feature_names, restore_system, system_of
from spacy_nmparse.scorers.weights import check_weights, layout, references, restore_references

FORMAT = 2  # of what to_disk and to_bytes write; raised whenever older versions cannot read it
MODEL_FILE, CONFIG_FILE, VOCAB_FILE = "model", "parser.json", "vocab"

#: What is saved, by the names of its files.
Parts = dict[str, bytes]


@dataclass(frozen=True)
class Description:
    """What ``parser.json`` says of a parser.

    Attributes:
        system: Name and options of its transition system.
        features: The features that its weights are made for.
        labels: Its labels.
        tags: The attributes that it learns along with the trees, and their values.
        tag_triples: Which of them words have together.
        cfg: Its other settings that are saved.
    """

    system: dict[str, Any]
    features: Any
    labels: list[str]
    tags: Attributes
    tag_triples: TagTriples
    cfg: dict[str, Any]

    def to_bytes(self, parts: Parts) -> bytes:
        """As a file, with the checksums of the other parts."""
        content = {
            "format": FORMAT,
            "version": __version__,
            "system": self.system,
            "features": self.features,
            "labels": self.labels,
            "tags": self.tags,
            "tag_triples": self.tag_triples,
            "cfg": self.cfg,
        }
        return json.dumps(sealed(content, parts), ensure_ascii=False, indent=1).encode("utf8")


def save(model: Model, vocab: Vocab, description: Description, exclude: Iterable[str]) -> Parts:
    """The parts of a parser, but for those that are excluded; its description comes last."""
    exclude = list(exclude)
    parts: Parts = {}
    if MODEL_FILE not in exclude:
        parts[MODEL_FILE] = model.to_bytes()
    if VOCAB_FILE not in exclude:
        parts[VOCAB_FILE] = vocab.to_bytes(exclude=["strings"])
    if CONFIG_FILE not in exclude:
        parts[CONFIG_FILE] = description.to_bytes(parts)
    return parts


def unpack(data: bytes, exclude: Iterable[str], component: str) -> Parts:
    """The parts in what ``to_bytes`` gave. Raises ValueError where they are damaged."""
    try:
        content = dict(srsly.msgpack_loads(data))
    except Exception as error:
        raise ValueError(
            f"The component '{component}' cannot load its bytes: they are damaged "
            f"({type(error).__name__}: {error})."
        ) from error
    names = (CONFIG_FILE, MODEL_FILE, VOCAB_FILE)
    return {name: content[name] for name in names if name in content and name not in exclude}


def read_folder(path: Path, exclude: Iterable[str], component: str) -> Parts:
    """The parts in a folder. Raises ValueError where one cannot be read."""
    parts = {}
    for name in (CONFIG_FILE, MODEL_FILE, VOCAB_FILE):
        if name in exclude:
            continue
        try:
            parts[name] = (path / name).read_bytes()
        except OSError as error:
            raise ValueError(
                f"The component '{component}' cannot read {path / name}: {error}."
            ) from error
    return parts


def check(
    parts: Parts, exclude: Iterable[str], present: Description, component: str
) -> Description:
    """Check the parts before anything of them is loaded.

    Args:
        parts: What is to be loaded.
        exclude: The parts that need not be there.
        present: The description of the parser that loads them.
        component: Its name, for errors.

    Returns:
        Their description; that of the parser where they have none.

    Raises:
        ValueError: A part is missing or damaged, or they are those of another kind of parser.
    """
    for name in (
        CONFIG_FILE,
        *saved_parts(parts.get(CONFIG_FILE, b""), (MODEL_FILE, VOCAB_FILE)),
    ):
        if name not in exclude and name not in parts:
            raise ValueError(f"The component '{component}' cannot load: {name} is missing.")
        if name in parts and not isinstance(parts[name], bytes):
            raise ValueError(f"The component '{component}' cannot load: {name} is damaged.")
    others = {name: data for name, data in parts.items() if name != CONFIG_FILE}
    description = present
    if CONFIG_FILE in parts:
        where = f"The component '{component}' cannot load {CONFIG_FILE}:"
        description = _read_description(parts[CONFIG_FILE], others, present, where)
    if VOCAB_FILE in parts:
        try:
            Vocab().from_bytes(parts[VOCAB_FILE])
        except Exception as error:
            raise ValueError(
                f"The component '{component}' cannot load {VOCAB_FILE}: it is damaged."
            ) from error
    return description


def _read_description(
    config: bytes, parts: Mapping[str, bytes], present: Description, where: str
) -> Description:
    try:
        content = json.loads(config.decode("utf8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where} it is damaged ({error}).") from error
    if (
        not isinstance(content, dict)
        or not isinstance(content.get("labels"), list)
        or not isinstance(content.get("tags"), dict)
        or not isinstance(content.get("tag_triples", []), list)
        or not isinstance(content.get("cfg"), dict)
    ):
        raise ValueError(f"{where} it does not describe a parser.")
    if content.get("format") != FORMAT:
        raise ValueError(
            f"{where} it was written by spacy-nmparse {content.get('version')} in format "
            f"{content.get('format')}, and version {__version__} reads format {FORMAT}: "
            f"install a version that fits, or train the model again."
        )
    fault = damaged(content, parts)
    if fault is not None:
        raise ValueError(
            f"{where} {fault}. Take the whole model from where it is sound, or train it again."
        )
    if content.get("system") != present.system:
        raise ValueError(
            f"{where} the model was trained with the system {content.get('system')}, but the "
            f"configuration says {present.system}."
        )
    if content.get("features") != present.features:
        raise ValueError(f"{where} the model was trained with other features.")
    if not all(isinstance(label, str) and label for label in content["labels"]):
        raise ValueError(f"{where} its labels are not all strings.")
    try:
        tags = TagSet(content["tags"], content.get("tag_triples"))
    except ValueError as error:
        raise ValueError(f"{where} {error}") from error
    # The configuration says how to go on; what calibration has found is the model's.
    cfg = {**content["cfg"], "projectivize": present.cfg["projectivize"]}
    return Description(
        present.system, present.features, content["labels"], tags.attributes, tags.triples, cfg
    )


class ModelSnapshot:
    """A model before it is loaded, to be restored where that fails."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._system = system_of(model)
        self._data = model.to_bytes()
        self._references = references(model)
        self._open_dims = [
            (node, dim)
            for node in model.walk()
            for dim in node.dim_names
            if node.has_dim(dim) is None
        ]

    def restore(self) -> None:
        """Make the model what it was."""
        restore_system(self._model, self._system)
        restore_references(self._model, self._references)
        for node in self._model.walk():
            for param in node.param_names:
                node.set_param(param, None)  # or else dimensions are fixed
        for node, dim in self._open_dims:
            node.set_dim(dim, None, force=True)  # type: ignore[arg-type]
        self._model.from_bytes(self._data)


def load_weights(model: Model, data: bytes, features: Any, tags: TagSet) -> None:
    """Load weights into a model.

    Args:
        model: The model.
        data: What its ``to_bytes`` gave.
        features: The features that they must be made for.
        tags: The tags that it learns.

    Raises:
        ValueError: They are not those of such a model.
    """
    before = layout(model)
    model.from_bytes(data)
    if layout(model) != before:
        raise ValueError("its layers have other names")
    if feature_names(model) != features:
        raise ValueError("its weights are made for other features")
    check_weights(model, tags.sizes)
