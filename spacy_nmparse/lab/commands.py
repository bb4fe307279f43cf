"""Commands of ``nmparse`` that come from the lab, through the entry points spacy_nmparse_commands.

spaCy's command line loads this module, as it does ``spacy_nmparse.cli``: nothing heavy here.
"""

# No postponed annotations here: typer reads them.
from pathlib import Path
from typing import List, Optional

import typer


def lattice(
    system: str = typer.Argument(..., help="Name of a transition system, as swap_standard"),
    tree: str = typer.Argument(..., help="Heads, or a CoNLL-U file, as for 'oracle'"),
    words: Optional[str] = typer.Option(None, "--words", help="The words, for heads"),
    option: List[str] = typer.Option([], "--option", "-o", help="As for 'oracle'"),
    name: str = typer.Option("dynamic", "--oracle", help="The oracle that allows the moves"),
    number: int = typer.Option(1, "--number", min=1, help="Which sentence of the file"),
    max_nodes: int = typer.Option(300, "--max-nodes", min=1, help="The most configurations"),
    dot: Optional[Path] = typer.Option(None, "--dot", help="Write a graph for Graphviz"),
    as_json: bool = typer.Option(False, "--json", help="Print JSON"),
) -> None:
    """Draw all derivations of a tree that an oracle allows, equal configurations merged."""
    from spacy_nmparse import systems
    from spacy_nmparse.analysis.text import width_of
    from spacy_nmparse.cli.console import bad, columns, failures, paint, print_json
    from spacy_nmparse.cli.trees import read_tree
    from spacy_nmparse.lab.lattice import derivation_lattice
    from spacy_nmparse.lab.lattice_picture import lattice_dot, lattice_lines
    from spacy_nmparse.lab.oracle_command import read_options
    from spacy_nmparse.pipe.files import write_files
    from spacy_nmparse.terminal import show
    from spacy_nmparse.wording import counted

    sentence = read_tree(tree, words, number)
    labels = sorted({label for label in sentence.labels if label}) or None
    try:
        chosen = systems.create(system, labels, **read_options(system, option))
        gold = systems.Gold(sentence.heads, sentence.labels if labels else None)
        found = derivation_lattice(chosen, gold, name, sentence.words, max_nodes)
    except (ValueError, TypeError) as error:
        raise bad(str(error)) from error
    if dot is not None:
        with failures():
            write_files({dot: lattice_dot(found).encode()})
    if as_json:
        print_json(found.as_dict())
        return
    wide = max(map(width_of, lattice_lines(found)))
    if wide > columns():
        show(f"(The lattice is {wide} columns wide: widen the terminal, or use --dot FILE.)")
    else:
        show("\n".join(lattice_lines(found, paint)))
    show(
        f"{counted(len(found.nodes), 'configuration')}, {counted(len(found.edges), 'move')}, "
        f"{counted(found.n_derivations, 'derivation')} by {name}"
    )
    if dot is not None:
        show(f"Written: {dot}")
