"""``nmparse systems``: the transition systems, their options and oracles."""

from __future__ import annotations

from typing import Any

from spacy_nmparse import systems
from spacy_nmparse.cli.console import failures, print_json, print_table, title


def run(system: str | None, as_json: bool) -> None:
    """Print them, or one of them."""
    with failures():
        found: dict[str, dict[str, Any]] = {
            name: {"options": systems.options(name), "oracles": systems.create(name).oracles}
            for name in (systems.names() if system is None else [system])
        }
    if as_json:
        print_json(found)
        return
    for name, one in found.items():
        title(f"{name}: oracles {', '.join(one['oracles'])}")
        rows = [(option, type(value).__name__, value) for option, value in one["options"].items()]
        print_table(("option", "type", "default"), rows, n_left=3)
