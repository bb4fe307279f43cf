"""``nmparse lattice``: all derivations of a tree that an oracle allows, in one picture."""

from __future__ import annotations

from pathlib import Path

import typer

from spacy_nmparse import systems
from spacy_nmparse.analysis.lattice import derivation_lattice
from spacy_nmparse.analysis.lattice_picture import lattice_lines, lattice_svg
from spacy_nmparse.analysis.text import width_of
from spacy_nmparse.cli.console import columns, failures, paint, print_json
from spacy_nmparse.cli.oracle import read_options, read_tree
from spacy_nmparse.systems import Gold


def run(
    system: str,
    tree: str,
    words: str | None,
    options: list[str],
    oracle: str,
    number: int,
    max_nodes: int,
    svg: Path | None,
    as_json: bool,
) -> None:
    """Print the lattice, or write it as a picture."""
    sentence = read_tree(tree, words, number)
    labels = sorted({label for label in sentence.labels if label}) or None
    try:
        chosen = systems.create(system, labels, **read_options(system, options))
        gold = Gold(sentence.heads, sentence.labels if labels else None)
        found = derivation_lattice(chosen, gold, oracle, sentence.words, max_nodes)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error)) from error
    if svg is not None:
        with failures():
            svg.write_text(lattice_svg(found), encoding="utf-8")
    if as_json:
        print_json(found.as_dict())
        return
    wide = max(map(width_of, lattice_lines(found)))
    if wide > columns():
        print(f"(The lattice is {wide} columns wide: widen the terminal, or use --svg FILE.)")
    else:
        print("\n".join(lattice_lines(found, paint)))
    print(
        f"{len(found.nodes)} configurations, {len(found.edges)} moves, "
        f"{found.n_derivations} derivations by {oracle}"
    )
    if svg is not None:
        print(f"Written: {svg}")
