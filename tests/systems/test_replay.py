"""The systems against plain second implementations, step by step; and oracles against gold."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems import Gold
from tests.naive import arc_eager as naive
from tests.naive.trees import Tree, golds

VARIANTS: list[dict[str, Any]] = [
    {},
    {"nonmonotonic_left": True},
    {"nonmonotonic_reduce": True},
    {"nonmonotonic_left": True, "nonmonotonic_reduce": True},
    {"nonmonotonic_reduce": True, "labelled_reduce": True},
    {"nonmonotonic_left": True, "nonmonotonic_reduce": True, "labelled_reduce": True},
]
REPAIRS = ("right_lower", "right_raise", "left_invert")
REPAIR_MOVES = ("RIGHT-LOWER", "RIGHT-RAISE", "LEFT-INVERT")
VARIANTS += [
    *({"nonmonotonic_left": True, "repairs": (repair,)} for repair in REPAIRS),
    {"nonmonotonic_left": True, "nonmonotonic_reduce": True, "repairs": REPAIRS},
]
VARIANTS += [
    {
        "nonmonotonic_left": True,
        "nonmonotonic_reduce": True,
        "labelled_reduce": True,
        "repairs": REPAIRS,
    },
    {"unshift": True},
    {"unshift": True, "nonmonotonic_left": True},
]
SETTINGS: list[dict[str, Any]] = [
    {},
    {"single_root": True},
    {"segment": True},
    {"single_root": True, "segment": True},
]
OPTIONS = [
    {**setting, **variant}
    for setting in SETTINGS
    for variant in VARIANTS
    if len(setting) != 1 or not {"repairs", "unshift"} & set(variant)
]
LABELS: list[dict[str, Any]] = [
    {"labels": None},
    {"labels": ("a", "b")},
    {"labels": ("a", "b", "ROOT"), "root_label": "ROOT"},
]


def name(options: dict[str, Any]) -> str:
    words = [key if value is True else f"{key}={value}" for key, value in options.items() if value]
    return "-".join(words).replace(" ", "").replace("'", "") or "plain"


def make(options: dict[str, Any]) -> tuple[systems.TransitionSystem, naive.ArcEager]:
    """The same system twice."""
    return systems.create("arc_eager", **options), naive.ArcEager(**options)


def compare(
    real: systems.TransitionSystem,
    plain: naive.ArcEager,
    state: systems.State,
    mirror: naive.State,
) -> list[naive.Action]:
    """Assert that both configurations are the same. Returns the legal actions in fixed order."""
    assert tuple(state.stack) == mirror.stack
    assert tuple(state.buffer) == mirror.buffer
    assert tuple(state.returned) == mirror.returned
    assert tuple(state.heads) == mirror.heads
    assert tuple(state.labels) == mirror.labels
    assert tuple(state.sent_starts) == mirror.starts
    assert state.is_final == mirror.is_final
    assert state.n_words == mirror.n
    words = [word for word in mirror.stack if word != naive.ROOT]
    assert [state.push_labels[w] for w in words] == [mirror.noted[w] for w in words]
    for place, word in enumerate(words):  # a head is right beneath; the bottom has none
        assert mirror.heads[word] in ((None,) if place == 0 else (None, words[place - 1]))
    legal = plain.actions(mirror)
    if not mirror.is_final:
        told = real.actions(state)
        assert len(told) == len(set(told))
        assert set(map(tuple, told)) == set(map(tuple, legal))
        legal = [naive.Action(*action) for action in told]
        assert legal
    return legal


@pytest.mark.parametrize("labels", LABELS, ids=name)
@pytest.mark.parametrize("options", OPTIONS, ids=name)
def test_all_small_derivations(options: dict[str, Any], labels: dict[str, Any]) -> None:
    real, plain = make({**options, **labels})
    longest = 4 if labels["labels"] is None else 2
    for n in range(1, longest + 1):
        todo = [(real.initial(n), plain.initial(n))]
        seen = {todo[0][1]}
        while todo:
            state, mirror = todo.pop()
            for action in compare(real, plain, state, mirror):
                after = plain.apply(mirror, action)
                if after not in seen:
                    seen.add(after)
                    copy = state.copy()
                    real.apply(copy, action)
                    todo.append((copy, after))
            compare(real, plain, state, mirror)  # the copies left it alone


def labels_to_note(system: systems.TransitionSystem) -> list[str | None]:
    """The labels that a push may note, and none."""
    root_label = system.options["root_label"]
    return [None, *(label for label in system.labels or () if label != root_label)]


@pytest.mark.parametrize("labels", LABELS, ids=name)
@pytest.mark.parametrize("options", OPTIONS, ids=name)
def test_random_walks(options: dict[str, Any], labels: dict[str, Any]) -> None:
    real, plain = make({**options, **labels})
    noted = labels_to_note(real)
    draw = random.Random(0)
    every = [
        naive.Action(move, 1, label)
        for move in ("SHIFT", "REDUCE", "LEFT-ARC", "RIGHT-ARC", *REPAIR_MOVES)
        for label in (None, *(real.labels or ()))
    ]
    for walk in range(60):
        n = draw.randint(1, 12)
        preset = tuple(draw.choice((0, 0, 1, -1)) for _ in range(n)) if walk % 2 else None
        state, mirror = real.initial(n, sent_starts=preset), plain.initial(n, preset)
        while legal := compare(real, plain, state, mirror):
            for action in every:
                if action not in legal:
                    with pytest.raises(ValueError, match=r"illegal|no move"):
                        real.apply(state, action)
            action = draw.choice(legal)
            note = draw.choice(noted)
            real.apply(state, action, push_label=note)
            mirror = plain.apply(mirror, action, note)
        heads, labels_ = state.tree()
        assert (tuple(heads), tuple(labels_)) == (mirror.heads, mirror.labels)
        assert_trees(heads, state.sent_starts, one_root=options.get("single_root", False))


def assert_trees(heads: list[int], starts: list[bool], one_root: bool) -> None:
    """Sentences without arcs across, each with its roots, no cycles."""
    sentence = list(itertools.accumulate(starts))
    assert all(sentence[word] == sentence[head] for word, head in enumerate(heads))
    for word in range(len(heads)):
        seen = set()
        while heads[word] != word:
            assert word not in seen
            seen.add(word)
            word = heads[word]
    roots = [sentence[word] for word, head in enumerate(heads) if word == head]
    assert set(roots) == set(sentence)
    assert not one_root or len(roots) == len(set(roots))


def trees(n: int, options: dict[str, Any], labels: dict[str, Any]) -> Iterator[Tree]:
    """Every full projective tree that the system can build; names of labels are drawn."""
    draw = random.Random(n)
    for tree in golds(
        n, one_root=options.get("single_root", False), segment=options.get("segment", False)
    ):
        if labels["labels"] is None:
            yield tree
            continue
        own = [draw.choice("ab") for _ in range(n)]
        if labels.get("root_label"):
            own = ["ROOT" if h == w else own[w] for w, h in enumerate(tree.heads)]
        yield tree._replace(labels=tuple(own))


@pytest.mark.parametrize("labels", LABELS, ids=name)
@pytest.mark.parametrize("options", OPTIONS, ids=name)
def test_oracles_derive_gold(options: dict[str, Any], labels: dict[str, Any]) -> None:
    real, plain = make({**options, **labels})
    assert {"static", "dynamic", "monotonic", "combined"} <= set(real.oracles)
    for n in range(1, 6 if labels["labels"] is None else 5):
        for tree in trees(n, options, labels):
            gold = Gold(*tree)
            for oracle in ("static", "dynamic", "monotonic", "combined"):
                mirror = plain.initial(n)
                for action in real.derivation(gold, oracle):
                    assert tuple(action) in plain.actions(mirror)
                    if oracle in ("static", "monotonic"):
                        assert action.move != "LEFT-ARC" or mirror.heads[mirror.stack[-1]] is None
                    if oracle == "static":
                        assert tuple(action) == plain.static(mirror, tree)
                    mirror = plain.apply(mirror, naive.Action(*action))
                assert mirror.is_final
                assert mirror.heads == tree.heads
                assert labels["labels"] is None or mirror.labels == tree.labels
                assert tree.sent_starts is None or mirror.starts == tree.sent_starts


@pytest.mark.parametrize("labels", LABELS[:2], ids=name)
@pytest.mark.parametrize("options", OPTIONS, ids=name)
def test_search_agrees_on_longer_texts(options: dict[str, Any], labels: dict[str, Any]) -> None:
    """Costs and losses along random walks, on texts longer than exhaustive.py can take."""
    real, plain = make({**options, **labels})
    noted = labels_to_note(real)
    draw = random.Random(1)
    sizes = (4, 3) if labels["labels"] is None else (3, 2)
    if "repairs" in options:  # nothing is settled there before the end
        sizes = (2, 2) if labels["labels"] is None else (2, 1)
    segment = options.get("segment", False)
    pools = [golds(n, segment=segment, partial=True, unknown_starts=True) for n in sizes]
    for _ in range(4):
        tree = joined(*(draw.choice(pool) for pool in pools))
        n = len(tree.heads)
        if labels["labels"] is not None:
            tree = tree._replace(labels=tuple(draw.choice(("a", "b", None)) for _ in range(n)))
        gold = Gold(*tree)
        known: dict[object, int] = {}
        for _ in range(3):
            state, mirror = real.initial(n), plain.initial(n)
            while legal := compare(real, plain, state, mirror):
                note = draw.choice(noted)
                assert real.loss(state, gold) == plain.loss(mirror, tree, known)
                costs = real.costs(state, gold, push_label=note)
                truth = plain.costs(mirror, tree, known, note)
                assert {tuple(action): cost for action, cost in costs.items()} == truth
                action = draw.choice(legal)
                real.apply(state, action, push_label=note)
                mirror = plain.apply(mirror, action, note)


def joined(left: Tree, right: Tree) -> Tree:
    """Both trees as one text."""
    size = len(left.heads)
    starts = None
    if left.sent_starts is not None and right.sent_starts is not None:
        starts = left.sent_starts + right.sent_starts
    return Tree(
        left.heads + tuple(None if h is None else h + size for h in right.heads), None, starts
    )
