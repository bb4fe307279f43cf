"""What treebanks are like, and what systems and oracles need to derive them."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from spacy_nmparse import systems
from spacy_nmparse.analysis.trees import Tree, whole_trees
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
                total += 2 * (len(heads) + n_swaps(heads))
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


def n_swaps(heads: Sequence[int]) -> int:
    """How many SWAPs derive a tree (Nivre 2009; BN15, Algorithm 1): a root is its own head."""
    root = len(heads)
    above = [root if head == word else head for word, head in enumerate(heads)] + [root]
    place, pending = _projective_places(above), Counter(above[:root])
    swaps, stack, buffer = 0, [root], list(reversed(range(root)))
    while buffer or len(stack) > 1:
        s1, s0 = stack[-2:] if len(stack) > 1 else (root, root)
        if s1 != root and above[s1] == s0 and not pending[s1]:
            pending[s0] -= 1
            del stack[-2]
        elif s0 != root and above[s0] == s1 and not pending[s0]:
            pending[s1] -= 1
            stack.pop()
        elif s1 < s0 and place[s0] < place[s1]:
            swaps += 1
            buffer.append(stack.pop(-2))
        else:
            stack.append(buffer.pop())
    return swaps


def _projective_places(above: Sequence[int]) -> list[int]:
    """Where each word stands when no arc crosses and siblings stand as in the text."""
    root = len(above) - 1
    children: list[list[int]] = [[] for _ in above]
    for word, head in enumerate(above[:root]):
        children[head].append(word)
    place, count, waiting = [0] * len(above), 0, [(root, False)]
    while waiting:
        word, is_head_alone = waiting.pop()
        if is_head_alone:
            place[word], count = count, count + 1
            continue
        after = [child for child in children[word] if child > word]
        before = [child for child in children[word] if child < word]
        if word == root:
            after, before = before, after
        waiting += [(child, False) for child in reversed(after)]
        waiting.append((word, True))
        waiting += [(child, False) for child in reversed(before)]
    return place


def describe(sentences: Iterable[Tree]) -> dict[str, Any]:
    """What a treebank is like: sizes, lengths, roots, crossing arcs, labels, and the counts of
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
