"""Wheels of trained pipelines, and their model cards."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scripts.licences import Source
from spacy_nmparse.ud.whole_pipeline import LEMMATIZER

VERSION = "0.1.0"


def full_name(lang: str, name: str) -> str:
    """The name under which `spacy package` installs a pipeline."""
    return name if name.startswith(f"{lang}_") else f"{lang}_{name}"


def wheel_of(packages: Path, lang: str, name: str, version: str = VERSION) -> Path:
    """Find the wheel of a pipeline.

    Args:
        packages: The folder that `spacy package` wrote to.
        lang: The pipeline's language.
        name: Its name, with or without the language.
        version: Its version.

    Returns:
        The wheel of this language, name and version.

    Raises:
        FileNotFoundError: If there is none.
    """
    full = f"{full_name(lang, name)}-{version}"
    folder = packages / full / "dist"
    wheels = list(folder.glob(f"{full}-*.whl"))
    if len(wheels) != 1:
        raise FileNotFoundError(
            f"{len(wheels)} wheels in {folder}, not one: python -m pip install build wheel"
        )
    return wheels[0]


def card(model: Path, raw: Path, sources: Sequence[Source], name: str) -> dict[str, Any]:
    """Describe a trained pipeline for those who install it.

    Args:
        model: The trained pipeline.
        raw: The scores from raw text, as `nmparse evaluate` writes them.
        sources: What it was trained on; the scores are those of the first.
        name: The package's name without the language.

    Returns:
        The contents of the package's meta.json, of which spaCy makes its README.

    Raises:
        FileNotFoundError: If there are no scores.
    """
    if not raw.is_file():
        raise FileNotFoundError(f"No scores {raw}: run the step that evaluates first.")
    found = json.loads(raw.read_text(encoding="utf-8"))
    meta: dict[str, Any] = json.loads((model / "meta.json").read_text(encoding="utf-8"))
    scores = {metric: f1 for metric, f1 in found["conll18"].items() if f1 is not None}
    source, trained_on = sources[0], ", ".join(one.name for one in sources)
    lacks = [] if LEMMATIZER in meta["pipeline"] else ["tags", "lemmas"]
    meta.update(
        description=f"Trained on {trained_on} with spacy-nmparse ({model.parent.name}).",
        license=" AND ".join(dict.fromkeys(one.licence for one in sources)),
        # spaCy links the author to the URL: without them, "n/a" to nowhere.
        author=meta.get("author") or f"the authors of {source.name} (data)",
        url=meta.get("url") or source.url,
        sources=[{"name": one.name, "url": one.url, "license": one.licence} for one in sources],
        performance={f"conll18_{metric}": f1 for metric, f1 in scores.items()},
        speed={"words_per_second": found["words_per_second"], "machine": found["machine"]},
        notes=(
            f"F1 of the CoNLL 2018 evaluation from raw text, on the test set of {source.name}. "
            f"{found['words_per_second']:,.0f} words a second in one process on "
            f"{found['machine']['processor']}.\n\n"
            f"Parse files: `python -m spacy nmparse parse {full_name(meta['lang'], name)} text.txt "
            f"-o text.conllu`. In Python: `spacy.load`.\n\n"
            "It is made for texts like those of the treebank. It knows no enhanced dependencies, "
            "no empty nodes and no entities, and splits multiword tokens only as the training data "
            "tell." + (f" It writes no {' and '.join(lacks)}." if lacks else "")
        ),
    )
    return meta
