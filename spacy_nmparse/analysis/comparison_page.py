"""The sentences in which parsers differ, as a page for the browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spacy_nmparse.analysis.comparison import Run, Treebank, gold_trees
from spacy_nmparse.analysis.page import is_right_to_left, whole_page
from spacy_nmparse.pipe.evaluation import BINS, bin_names


def comparison_page(treebank: Treebank, systems: Mapping[str, Sequence[Run]]) -> str:
    """The page: of each system the trees of its first run, side by side, and the gold ones."""
    firsts = {name: runs[0] for name, runs in systems.items()}
    words, gold = gold_trees(treebank)
    sentences: list[dict[str, Any]] = []
    for number, (own, tree) in enumerate(zip(words, gold, strict=True)):
        trees = [run.trees[number] for run in firsts.values()]
        if all(one == trees[0] for one in trees):
            continue
        sentences.append(
            {
                "number": number + 1,
                "id": treebank.sentences[number].value("sent_id") or "",
                "words": own,
                "rtl": is_right_to_left(own),
                "trees": [tree, *trees],
            }
        )
    data = {
        "names": ["gold", *firsts],
        "runs": [str(treebank.path), *(run.name for run in firsts.values())],
        "bins": dict(zip(bin_names(), BINS, strict=True)),
        "n_sentences": len(words),
        "sentences": sentences,
    }
    return whole_page("compare", data, f"{treebank.path.name}: {', '.join(firsts)}")
