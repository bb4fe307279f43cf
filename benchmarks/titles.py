"""Names of systems, treebanks and figures in tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

#: Suffixes of systems' names, and what tables add to the title for them.
SUFFIXES = {
    r"bias(\d+)": "`crossing_bias = {}`",
    r"taught": "taught",
    r"plain": "data as they are",
    r"long": "",  # tables give the epochs
    r"beam(\d+)": "beam of {}",
    r"threads(\d+)": "{} threads",
}
SPACY = {
    "spacy_init_config": "the pipeline of `spacy init config`",
    "spacy_parser": "spaCy's `parser` with `AffixEmbed`",
    "spacy_parser_multihash": "spaCy's `parser`",
    "spacy_parser_multihash_freq1": "spaCy's `parser` with `min_action_freq = 1`",
    "spacy_parser_multihash_morphology": "spaCy's `parser` and `morphologizer`",
}


def title(system: str) -> str:
    """A system's name in tables, in Markdown."""
    added: list[str] = []
    while system not in SPACY:
        base, _, suffix = system.rpartition("_")
        found = [(re.fullmatch(form, suffix), text) for form, text in SUFFIXES.items()]
        match = next(((m, text) for m, text in found if m), None)
        if match is None:
            break
        added.insert(0, match[1].format(*match[0].groups()))
        system = base
    return ", ".join(filter(None, [SPACY.get(system, f"`{system}`"), *added]))


def short(treebank: str) -> str:
    """A treebank's name in tables."""
    return treebank.removeprefix("UD_")


def seeds(numbers: Sequence[int]) -> str:
    """Write a list of seeds: as `1 to 5` or `1, 3`."""
    if len(numbers) > 2 and list(numbers) == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers))


def probability(p: float) -> str:
    """Write a p value, as `p < 0.001`, `p = 0.004` or `p = 0.03`."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.{3 if p < 0.01 else 2}f}"


class Difference(str):
    """A comparison of a summary as a cell of a table, and its p by bootstrap."""

    p: float

    def marked(self) -> str:
        """The same with the difference in bold, as tables show what is beyond chance."""
        number, _, rest = self.partition(" ")
        return f"**{number}** {rest}"


def difference(found: dict[str, Any], more: str = "") -> Difference:
    """Write a comparison of a summary, as `+1.06 (0.30 to 1.81), p = 0.004`, and more after it."""
    interval = f"({found['low']:.2f} to {found['high']:.2f})"
    shown = f"{found['difference']:+.2f} {interval}, {probability(found['p_bootstrap'])}{more}"
    cell = Difference(shown)
    cell.p = found["p_bootstrap"]
    return cell
