"""``nmparse swaps``: how many SWAPs derive a treebank (BN15, Table 1).

The command comes through the entry points ``spacy_nmparse_commands``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spacy_nmparse.analysis.trees import read_sentences, whole_trees
from spacy_nmparse.cli.console import CORPUS, JSON, failures, print_json, print_table, title
from spacy_nmparse.lab.stats_command import share
from spacy_nmparse.lab.swap_counts import count_swaps


def run(corpus: Path = CORPUS, as_json: bool = JSON) -> None:
    """Count the SWAPs by which SwapStandard's oracles derive a treebank."""
    with failures():
        found = {"file": corpus.name, **count_swaps(whole_trees(read_sentences(corpus)))}
    if as_json:
        print_json(found)
        return
    title(f"{corpus.name}: SWAPs that derive the trees")
    print_table(("", "value"), _rows(found))


def _rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    eager, lazy, minimal = (found["swaps"][name] for name in ("eager", "lazy", "minimal"))
    trees = found["sentences"]
    return [
        ("projective trees", share(found["projective"], trees)),
        ("SWAPs by EAGER", str(eager)),
        ("fewer by LAZY", f"{100 * (1 - lazy / eager):.2f} %" if eager else "-"),
        ("fewer by MINIMAL", f"{100 * (1 - minimal / eager):.2f} %" if eager else "-"),
        ("MINIMAL not proven", str(found["not_proven"])),
        ("trees with one derivation", share(found["unique"], trees)),
    ]
