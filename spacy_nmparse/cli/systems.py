"""``nmparse systems``: the transition systems, their options and oracles."""

from __future__ import annotations

from typing import Any

import typer

from spacy_nmparse import systems
from spacy_nmparse.cli.console import JSON, failures, print_json, print_table, title


def run(
    system: str | None = typer.Argument(None, help="This system alone"), as_json: bool = JSON
) -> None:
    """List the transition systems: options with types and defaults, oracles."""
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
