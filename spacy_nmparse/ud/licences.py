"""Treebanks as sources of models: their names, pages and licences, and what those forbid.

Not legal advice: NonCommercial and NoDerivatives are looked for in the names of licences.
"""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

UNKNOWN = "see the treebank"
METADATA = re.compile(r"(?m)^License: *(\S.*?)\s*$")  # of the README of a UD treebank
#: Licences of Creative Commons in running text: their short names, their long ones, their pages.
COMMONS = re.compile(
    r"(?i)(?:\b(?:CC|Creative ?Commons)[ -]|creativecommons\.org/licenses/)(BY(?:-[A-Z]{2})*)"
    r"[ /-](\d\.\d)|\b(Attribution(?:-[a-z]+)*) (\d\.\d)"
)
SHORT = {"attribution": "BY", "noncommercial": "NC", "sharealike": "SA", "noderivatives": "ND"}
SHORT["noderivs"] = "ND"
GNU = re.compile(r"GNU (?:Lesser )?General Public License")
#: NonCommercial and NoDerivatives.
FORBIDS = re.compile(r"(?i)non-?commercial|no-?deriv|\bBY\b.*-(?:NC|ND)\b")


class Source(NamedTuple):
    """What a model is trained on."""

    name: str
    url: str
    licences: list[str]

    @property
    def licence(self) -> str:
        """For a model card: the first licence, or words that send the reader there."""
        return next(iter(self.licences), UNKNOWN)

    @property
    def objection(self) -> str:
        """Why no model of it should be given away: a sentence, or nothing."""
        for licence in filter(FORBIDS.search, self.licences):
            return f"{self.name}: its licence, {licence}, forbids some uses of what is made of it."
        return "" if self.licences else f"{self.name} names no licence."


def source_of(treebank: Path) -> Source:
    """Describe a treebank.

    Args:
        treebank: The folder of a treebank of Universal Dependencies, or the name of an installed
            Python package that holds one.

    Returns:
        Its name, page and licences.

    Raises:
        FileNotFoundError: If there is neither a folder nor a package.
    """
    name = treebank.resolve().name
    if treebank.is_dir():
        url = f"https://github.com/UniversalDependencies/{name}"
        return Source(name, url, licences_of(treebank))
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        raise FileNotFoundError(f"No treebank {treebank}: no folder, no package.") from None
    fields = {field: about[field] for field in about}
    named = ("License-Expression", "License", "Home-page")
    expression, licence, url = (fields.get(field, "") for field in named)
    return Source(name, url, [expression or licence] if expression or licence else [])


def licences_of(treebank: Path) -> list[str]:
    """The licences that a treebank's README and LICENSE name.

    Args:
        treebank: The folder of the treebank.

    Returns:
        Each once; first the one in the README's metadata.
    """
    paths = sorted([*treebank.glob("README*"), *treebank.glob("LICENSE*")], reverse=True)
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in paths]
    found = [name for text in texts for name in METADATA.findall(text)]
    for text in texts:
        line = re.sub(r"\s+", " ", re.sub(r"-\s*\n\s*", "-", text))
        for short, version, long, of_long in COMMONS.findall(line):
            elements = (short or long).lower().split("-")
            name = "-".join(SHORT.get(element, element.upper()) for element in elements)
            found.append(f"CC {name} {version or of_long}")
        found += GNU.findall(line)
    return list(dict.fromkeys(found))
