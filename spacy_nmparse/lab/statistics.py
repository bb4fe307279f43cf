"""Statistics of treebanks, and of the derivations by which systems and oracles reach them."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from spacy_nmparse import systems
from spacy_nmparse.analysis.trees import Tree, whole_trees
from spacy_nmparse.lab.minimal import n_swaps
from spacy_nmparse.pipe.evaluation import bin_name, bin_names
from spacy_nmparse.systems import Gold
from spacy_nmparse.systems.projective import crossing_arcs, is_projective

SWAP = "swap_standard"


def columns() -> dict[str, tuple[str, dict[str, Any], bool]]:
    """Titles of columns, as in FG18's Table 4: system, options, whether arcs may cross."""
    found: dict[str, tuple[str, dict[str, Any], bool]] = {}
    for name in systems.names():
        system = systems.create(name)
        suffix = ", projective trees" if system.projective else ""
        found[name + suffix] = (name, {}, not system.projective)
        if "explicit_root" in system.options:
            found[f"{name}, explicit root"] = (name, {"explicit_root": True}, True)
    return found


def count_transitions(trees: Sequence[Sequence[int]]) -> dict[str, dict[str, Any]]:
    """Count the transitions by which the static oracles derive trees (FG18, Table 4), of each
    system those that it can build.

    Args:
        trees: heads of each tree, a root being its own.

    Returns:
        For each system (list systems also with ``explicit_root``): sentences, transitions, and
        transitions per_sentence (None where there is no sentence).

    Raises:
        ValueError: a derivation does not end in the tree.
    """
    result = {}
    for column, (name, options, crossing) in columns().items():
        system = systems.create(name, **options)
        total = derived = 0
        for heads in trees:
            if not crossing and not is_projective(heads):
                continue
            state, gold = system.initial(len(heads)), Gold(heads)
            if system.loss(state, gold) > 0:
                continue
            derived += 1
            if name == SWAP:  # by its derivation, long sentences take too long
                total += 2 * (len(heads) + n_swaps(gold, lazy=False))
                continue
            for action in system.derivation(gold, "static"):
                system.apply(state, action)
                total += 1
            if list(state.tree()[0]) != list(heads):
                raise ValueError(f"{column} does not derive {heads}.")
        result[column] = {
            "sentences": derived,
            "transitions": total,
            "per_sentence": total / derived if derived else None,
        }
    return result


def describe(sentences: Iterable[Tree]) -> dict[str, Any]:
    """Count a treebank's sizes, lengths, roots, crossing arcs and labels, with the counts of
    ``count_transitions``.

    Sentences that are no whole trees (unknown heads, cycles) count as sentences and words only.
    """
    sentences = list(sentences)
    faults = Counter(sentence.fault for sentence in sentences if sentence.fault)
    whole = [sentence for sentence in sentences if sentence.fault is None]
    trees = whole_trees(whole)
    lengths = [len(sentence.words) for sentence in sentences]
    arcs = [(heads, word) for heads in trees for word, head in enumerate(heads) if head != word]
    crossing = [(heads, word) for heads in trees for word in crossing_arcs(heads)]
    labels = Counter(label for sentence in whole for label in sentence.labels if label is not None)
    return {
        "sentences": len(sentences),
        "words": sum(lengths),
        "sentence_length": _lengths(lengths),
        "faults": dict(faults),
        "several_roots": sum(sentence.n_roots > 1 for sentence in whole),
        "arcs": len(arcs),
        "arc_length": _lengths([abs(heads[word] - word) for heads, word in arcs]),
        "crossing_arcs": len(crossing),
        "crossing_arc_length": _lengths([abs(heads[word] - word) for heads, word in crossing]),
        "projective_sentences": sum(map(is_projective, trees)),
        "trees": len(trees),
        "labels": dict(labels.most_common()),
        "transitions": count_transitions(trees),
    }


def _lengths(lengths: Sequence[int]) -> dict[str, Any]:
    if not lengths:
        return {"mean": None, "median": None, "most": None, "bins": {}}
    counts = Counter(map(bin_name, lengths))
    return {
        "mean": statistics.fmean(lengths),
        "median": statistics.median(lengths),
        "most": max(lengths),
        "bins": {name: counts[name] for name in bin_names() if counts[name]},
    }
