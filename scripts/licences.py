"""Treebanks and word vectors as sources of models: their names, pages and licences.

Not legal advice: a licence that is not in a list of those that allow models needs a person.
"""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import spacy
from spacy.util import load_config

UNKNOWN = "see the source"
METADATA = re.compile(r"(?m)^License: *(\S.*?)\s*$")  # of the README of a UD treebank
UD_NAME = re.compile(r"UD_[A-Z]\w*-\w+")  # of a treebank of Universal Dependencies
#: Names of SPDX of the licences that allow to give away, change and sell what is made of the data.
OPEN = frozenset(
    (
        *(f"CC-{kind}-{version}" for kind in ("BY", "BY-SA") for version in ("2.5", "3.0", "4.0")),
        *("CC0-1.0", "PDDL-1.0", "ODC-By-1.0", "ODbL-1.0"),
        *("Apache-2.0", "BSD-3-Clause", "MIT"),
        *("GPL-2.0", "GPL-3.0", "LGPL-3.0", "LGPLLR"),
    )
)


class Source(NamedTuple):
    """What a model is trained on; `licence` is SPDX's name for it, or words that send the reader to
    the source."""

    name: str
    url: str
    licence: str

    @property
    def objection(self) -> str:
        """Why no model of it should be given away before somebody has read its licence: a sentence,
        or nothing."""
        if self.licence == UNKNOWN:
            return f"{self.name} names no licence."
        if self.licence not in OPEN:
            return f"{self.name}: its licence, {self.licence}, is none of those known to be open."
        return ""


def source_of(treebank: Path) -> Source:
    """Describe a treebank.

    Args:
        treebank: The folder of a treebank of Universal Dependencies, or the name of an installed
            Python package that holds one.

    Returns:
        Its name, page and licence: that of the metadata in the README, or of the package. No page,
        where the folder's name is none of a treebank of Universal Dependencies.

    Raises:
        FileNotFoundError: If there is neither a folder nor a package.
    """
    name = treebank.resolve().name
    if treebank.is_dir():
        texts = [path.read_text("utf-8", "replace") for path in sorted(treebank.glob("README*"))]
        found = METADATA.search("\n".join(texts))
        url = f"https://github.com/UniversalDependencies/{name}" if UD_NAME.fullmatch(name) else ""
        return Source(name, url, spdx(found[1] if found else ""))
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        raise FileNotFoundError(f"No treebank {treebank}: no folder, no package.") from None
    fields = {field: about[field] for field in about}
    named = ("License-Expression", "License", "Home-page")
    expression, licence, url = (fields.get(field, "") for field in named)
    return Source(name, url, spdx(expression or licence))


def vectors_of(model: Path) -> list[Source]:
    """Describe the pipeline whose word vectors a trained pipeline has, as it describes itself.

    Args:
        model: The folder of the trained pipeline.

    Returns:
        One source; none, if it was trained without vectors.

    Raises:
        OSError: If the pipeline with the vectors is not there any more.
    """
    name = load_config(model / "config.cfg", interpolate=True)["initialize"]["vectors"]
    if not name:
        return []
    meta = spacy.load(name).meta
    title = Path(name).name if Path(name).exists() else name
    return [Source(f"the word vectors of {title}", meta["url"], spdx(meta["license"]))]


def spdx(name: str) -> str:
    """SPDX's name of a licence that is written with spaces, ``CC BY-SA 4.0``, or in small letters,
    ``apache-2.0``."""
    name = name.replace(" ", "-")
    known = {licence.lower(): licence for licence in OPEN}
    return known.get(name.lower(), name) or UNKNOWN
