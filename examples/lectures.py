"""Figures to teach with: the derivations of lecture notes, a search error, and lattices.

    python examples/lectures.py
    python examples/lectures.py --dot lattices

prints Tables 11.2 and 11.3 of Eisenstein (2019), what goes wrong when one move of the first table
is another, and Figures 2 and 4 of Björkelund & Nivre (2015): all derivations of a tree, the second
that of a German sentence with crossing arcs. ``--dot`` writes the figures for Graphviz, too.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from spacy_nmparse import systems
from spacy_nmparse.analysis import derive_actions, derive_gold
from spacy_nmparse.analysis.text import arc_text, step_lines
from spacy_nmparse.lab.lattice import derivation_lattice
from spacy_nmparse.lab.lattice_picture import lattice_dot, lattice_lines
from spacy_nmparse.lab.losses import lost_arcs
from spacy_nmparse.pipe.files import write_files
from spacy_nmparse.systems import Action, Gold

WORDS = ["they", "like", "bagels", "with", "lox"]
GOLD = Gold([1, 1, 1, 4, 2])
LATTICES = {
    "figure-2": (["She", "likes", "tea"], Gold([1, 1, 1])),
    "figure-4": (["Ausgelöst", "wurde", "sie", "durch", "Intel"], Gold([1, 1, 1, 0, 3])),
}


def tables() -> None:
    """Both derivations of a sentence."""
    arc_standard = systems.create("arc_standard", buffer_arcs=True)
    arc_eager = systems.create("arc_eager", root_first=True)
    for title, system in (("Table 11.2", arc_standard), ("Table 11.3", arc_eager)):
        print(title)
        print("\n".join(step_lines(derive_gold(system, GOLD, "static", WORDS))), end="\n\n")


def search_error() -> None:
    """An early decision that a greedy parser cannot take back."""
    system = systems.create("arc_standard", buffer_arcs=True, single_root=True)
    actions = [Action(move) for move in ("SHIFT", "LEFT-ARC", "SHIFT", "RIGHT-ARC")]
    state = system.initial(len(WORDS))
    for action in actions:
        system.apply(state, action)
    while not state.is_final:  # the best that is left
        actions.append(system.follow(state, GOLD))
        system.apply(state, actions[-1])
    lines = step_lines(derive_actions(system, actions, WORDS, GOLD))
    _, *steps = lost_arcs(system, GOLD, actions)
    print("ARC-RIGHT at step 4 of Table 11.2")
    for line, (lost, _) in zip(lines, steps, strict=True):
        print(line)
        for arc in lost.arcs:
            print(f"   lost: {arc_text(arc, WORDS)}")
    print()


def lattices(folder: Path | None) -> None:
    """All derivations of a tree in one picture."""
    for name, (words, gold) in LATTICES.items():
        found = derivation_lattice("swap_standard", gold, "nd_all", words)
        print(f"{name}: {found.n_derivations} derivations")
        print("\n".join(lattice_lines(found)), end="\n\n")
        if folder is not None:
            write_files({folder / f"{name}.dot": lattice_dot(found).encode()})


def main(argv: list[str] | None = None) -> None:
    """Run the command line."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dot", type=Path, metavar="FOLDER", help="write the lattices here")
    options = parser.parse_args(argv)
    tables()
    search_error()
    lattices(options.dot)


if __name__ == "__main__":
    main()
