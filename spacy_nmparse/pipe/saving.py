"""Saving and loading a parser: its parts, how they are known to be whole, and what must fit.

The checksums tell accidents, not attacks: who writes a file on purpose can write its checksum, too.
Nothing in these files is ever executed.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import srsly
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_nmparse.about import __version__
from spacy_nmparse.pipe.confidence import TEMPERATURES
from spacy_nmparse.pipe.fingerprint import check_values
from spacy_nmparse.pipe.labels import LabelData, Learned
from spacy_nmparse.scorers.shared import set_system
from spacy_nmparse.scorers.weights import check_finite, check_layout, check_weights, layout

FORMAT = 1  # of what to_disk and to_bytes write; raised whenever older versions cannot read it
MODEL, VOCAB, CONFIG, CHECKSUMS = FILES = ("model", "vocab", "parser.json", "checksums.json")

#: What is saved, by the names of its files.
Parts = dict[str, bytes]


def checksums(parts: Mapping[str, bytes]) -> bytes:
    """The file that holds the SHA-256 checksums of the other parts."""
    found = {
        name: hashlib.sha256(data).hexdigest() for name, data in parts.items() if name != CHECKSUMS
    }
    return _json(found)


def _json(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=1).encode("utf8")


def save(
    model: Model, vocab: Vocab, description: Mapping[str, Any], exclude: Iterable[str]
) -> Parts:
    """The parts of a parser, but for those that are excluded; the checksums come last.

    Raises:
        FloatingPointError: A weight is infinite, or no number.
    """
    exclude = list(exclude)
    parts: Parts = {}
    if MODEL not in exclude:
        check_finite(model)
        parts[MODEL] = model.to_bytes()
    if VOCAB not in exclude:
        parts[VOCAB] = vocab.to_bytes(exclude=["strings"])
    if CONFIG not in exclude:
        parts[CONFIG] = _json({"format": FORMAT, "version": __version__, **description})
    return {**parts, CHECKSUMS: checksums(parts)}


def unpack(data: bytes, exclude: Iterable[str], where: str) -> Parts:
    """The parts in what ``to_bytes`` gave. Raises ValueError where one is missing or damaged."""
    try:
        parts = dict(srsly.msgpack_loads(data))
    except Exception as error:
        raise ValueError(f"{where} they are damaged ({type(error).__name__}: {error}).") from error
    return _whole(parts, exclude, where)


def read_folder(path: Path, exclude: Iterable[str], where: str) -> Parts:
    """The parts in a folder. Raises ValueError where one is missing or damaged."""
    try:
        parts = {name: (path / name).read_bytes() for name in FILES if (path / name).exists()}
    except OSError as error:
        raise ValueError(f"{where} {error}.") from error
    return _whole(parts, exclude, where)


def _whole(parts: Mapping[str, Any], exclude: Iterable[str], where: str) -> Parts:
    """The parts that were saved together, but for those that are excluded."""
    try:
        saved = dict(json.loads(parts[CHECKSUMS]))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{where} {CHECKSUMS} is missing or damaged.") from error
    exclude = list(exclude)
    names = [name for name in saved if name not in exclude]
    for name in names:
        data = parts.get(name)
        if data is None:
            raise ValueError(f"{where} {name} is missing.")
        if not isinstance(data, bytes) or hashlib.sha256(data).hexdigest() != saved[name]:
            raise ValueError(
                f"{where} {name} is not the one that was saved: it is damaged, edited, or of "
                f"another model. Take the whole model from where it is sound, or train it again."
            )
    return {name: parts[name] for name in names}


def read_description(
    data: bytes, present: Mapping[str, Any], where: str
) -> tuple[LabelData, dict[str, Any], Any]:
    """The labels and the ``cfg`` of a saved parser, and its settings that had been changed.

    Args:
        data: What ``save`` has made of its description.
        present: The description of the parser that loads it.
        where: Begins the messages of errors.

    Raises:
        ValueError: It is not the description of a parser, or not of one of the same kind.
    """
    try:
        content = json.loads(data)
        version, cfg = content["version"], dict(content["cfg"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{where} {CONFIG} does not describe a parser.") from error
    for key, value in {"format": FORMAT, **present}.items():
        if key in ("format", "system", "features") and content.get(key) != value:
            raise ValueError(
                f"{where} the model was saved by spacy-nmparse {version} with the {key} "
                f"{content.get(key)}, but this parser ({__version__}) has the {key} {value}: load "
                f"it with the configuration and the version that it was made with, or train it "
                f"again."
            )
    try:
        labels = LabelData.checked(content)
        if "temperatures" in cfg and not TEMPERATURES.fits(cfg["temperatures"]):
            raise ValueError(f"the temperatures {cfg['temperatures']!r}, not {TEMPERATURES.takes}")
        if "token_vectors" in cfg:
            check_values(cfg["token_vectors"])
    except ValueError as error:
        raise ValueError(f"{where} {CONFIG} has {error}.") from error
    # The configuration says how to go on; what calibration has found is the model's.
    cfg["projectivize"] = present["cfg"]["projectivize"]
    return labels, cfg, content.get("settings", {})


def check_vocab(data: bytes, where: str) -> None:
    """Raise ValueError where these are not the bytes of a vocabulary."""
    try:
        Vocab().from_bytes(data)
    except Exception as error:
        raise ValueError(f"{where} {VOCAB} is damaged.") from error


def check_model(model: Model, data: bytes, features: Any, learned: Learned) -> None:
    """Check that a model can load weights: a copy of it tries.

    Args:
        model: The model.
        data: What its ``to_bytes`` gave.
        features: The features that they must be made for.
        learned: The labels and tags that they score.

    Raises:
        ValueError: They are not those of such a model. Damaged ones raise other errors, too.
        FloatingPointError: A weight is infinite, or no number.
    """
    trial = copy.deepcopy(model)
    before = layout(trial)
    set_system(trial, learned.system)
    trial.from_bytes(data)
    check_layout(trial, before)
    if trial.attrs["features"] != features:
        raise ValueError("its weights are made for other features")
    check_weights(trial, learned.tags.sizes)
    check_finite(trial)
