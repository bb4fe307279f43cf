"""The systems and their plain second implementations (tests/naive), with all their options.

``TWINS`` holds every system with every set of options that the tests replay; a test of all
systems is parametrized over it.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems import ROOT, Gold
from tests.naive.arc_eager import ArcEager
from tests.naive.arc_hybrid import ArcHybrid
from tests.naive.arc_standard import ArcStandard
from tests.naive.arc_swift import ArcSwift
from tests.naive.covington import Covington
from tests.naive.forms import BufferArcs, RootFirst
from tests.naive.system import Action
from tests.naive.trees import Tree, golds, roots_of
from tests.naive.two_planar import TwoPlanar

Options = dict[str, Any]
NAIVE: dict[str, Any] = {
    "arc_eager": (ArcEager, {}),
    "arc_hybrid": (ArcHybrid, {}),
    "arc_standard": (ArcStandard, {}),
    "arc_swift": (ArcSwift, {}),
    "covington": (Covington, {"non_local": False}),
    "nl_covington": (Covington, {"non_local": True}),
    "swap_standard": (ArcStandard, {"swap": True}),
    "two_planar": (TwoPlanar, {}),
}
#: Options that make another system of one, with a second implementation of its own.
FORMS: dict[str, tuple[str, Any]] = {
    "arc_eager": ("root_first", RootFirst),
    "arc_standard": ("buffer_arcs", BufferArcs),
}
LISTS = ("covington", "nl_covington")
HEADLESS = (*LISTS, "two_planar")  # may leave words without a head
CROSSING = (*HEADLESS, "swap_standard")

SETTINGS: list[Options] = [
    {},
    {"single_root": True},
    {"segment": True},
    {"single_root": True, "segment": True},
]
LIST_SETTINGS: list[Options] = [
    {**root, **setting} for root in ({}, {"explicit_root": True}) for setting in SETTINGS
]
BOTH: Options = {"nonmonotonic_left": True, "nonmonotonic_reduce": True}
REPAIRS = ("right_lower", "right_raise", "left_invert")
REPAIR_MOVES = ("RIGHT-LOWER", "RIGHT-RAISE", "LEFT-INVERT")
EAGER: list[Options] = [
    {},
    {"nonmonotonic_left": True},
    {"nonmonotonic_reduce": True},
    BOTH,
    {"nonmonotonic_reduce": True, "labelled_reduce": True},
    {**BOTH, "labelled_reduce": True},
    *({"nonmonotonic_left": True, "repairs": (repair,)} for repair in REPAIRS),
    {**BOTH, "repairs": REPAIRS},
    {**BOTH, "repairs": REPAIRS, "decoupled_repairs": True},
    {**BOTH, "labelled_reduce": True, "repairs": REPAIRS},
    {"unshift": True},
    {"unshift": True, "nonmonotonic_left": True},
]
LABELS: list[Options] = [
    {"labels": None},
    {"labels": ("a", "b")},
    {"labels": ("a", "b", "ROOT"), "root_label": "ROOT"},
]
#: Where arcs from ROOT are moves, and roots are as the component wants them.
SEVERAL: Options = {"labels": ("a", "b", "ROOT", "TOP"), "root_label": ("ROOT", "TOP")}


def name(options: Options) -> str:
    words = [key if value is True else f"{key}={value}" for key, value in options.items() if value]
    return "-".join(words).replace(" ", "").replace("'", "") or "plain"


@dataclass(frozen=True)
class Twin:
    """A system with options, made twice."""

    system: str
    options: Options = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.system}-{name(self.options)}"

    @property
    def form(self) -> str | None:
        """The option that makes another system of it, if it has that."""
        option, _ = FORMS.get(self.system, (None, None))
        return option if option in self.options else None

    def make(self, labels: Options) -> tuple[systems.TransitionSystem, Any]:
        options = {**self.options, **labels}
        real = systems.create(self.system, **options)
        if self.form:
            del options[self.form]
            return real, FORMS[self.system][1](**options)
        naive, more = NAIVE[self.system]
        return real, naive(**more, **options)

    def golds(self, n: int, labels: Options, draw: random.Random) -> Iterator[Tree]:
        """Every full tree that the system can build; names of labels are drawn."""
        setting = {"one_root": self.options.get("single_root", False)}
        crossing = self.system in CROSSING
        segment = self.options.get("segment", False)
        for tree in golds(n, projective=not crossing, segment=segment, **setting):
            yield with_labels(tree, labels, draw, "ab")


def _twins() -> Iterator[Twin]:
    for system in systems.names():
        for setting in LIST_SETTINGS if system in LISTS else SETTINGS:
            if system in LISTS:
                variants: list[Options] = [{}, {"nonmonotonic": True}]
            elif system == "arc_eager":
                variants = EAGER
            else:
                variants = [{}]
            if system in FORMS:
                variants = [*variants, {FORMS[system][0]: True}]
            known = systems.options(system).keys()  # forms may be another package's
            for variant in variants:
                searched = {"repairs", "unshift"} & set(variant)
                if variant.keys() <= known and (len(setting) != 1 or not searched):
                    yield Twin(system, {**setting, **variant})


TWINS = list(_twins())


def labelled(twins: list[Twin]) -> list[Any]:
    """For pytest: systems with the labels that they take."""
    found = [(twin, labels) for twin in twins for labels in LABELS]
    for twin in twins:
        labels_roots = twin.system not in HEADLESS or twin.options.get("explicit_root")
        if SETTINGS[-1].items() <= twin.options.items() and labels_roots:
            found.append((twin, SEVERAL))
    return [pytest.param(*one, id=f"{one[0]}-{name(one[1])}") for one in found]


def some_and_more(
    twins: list[Twin], longer: Callable[[Twin, Options], bool] = lambda *_: True
) -> list[Any]:
    """The same with False; and with True in a slow test, those that it takes longer with."""
    some = labelled(twins)
    more = [one for one in some if longer(*one.values)]
    slow = {"marks": pytest.mark.slow}
    return [
        *(pytest.param(*one.values, False, id=one.id) for one in some),
        *(pytest.param(*one.values, True, id=f"{one.id}-more", **slow) for one in more),
    ]


def with_labels(tree: Tree, labels: Options, draw: random.Random, names: Any) -> Tree:
    """The tree with labels drawn from names; roots have the label for roots."""
    if labels["labels"] is None:
        return tree
    own = [draw.choice(names) for _ in tree.heads]
    if roots := roots_of(labels.get("root_label")):
        own = [draw.choice(roots) if h == w else own[w] for w, h in enumerate(tree.heads)]
    return tree._replace(labels=tuple(own))


def takes_notes(system: systems.TransitionSystem) -> bool:
    """Whether its pushes may note labels."""
    return system.name == "arc_eager" and not system.options.get("root_first")


def labels_to_note(system: systems.TransitionSystem) -> list[str | None]:
    """The labels that a push may note, and none."""
    if not takes_notes(system):
        return [None]
    roots = roots_of(system.options["root_label"])
    return [None, *(label for label in system.labels or () if label not in roots)]


#: What any system's second implementation may have.
PARTS = ("stack", "other_stack", "buffer", "lambda1", "lambda2")


def compare(
    real: systems.TransitionSystem, plain: Any, state: systems.State, mirror: Any
) -> list[Action]:
    """Assert that both configurations are the same. Returns the legal actions in fixed order."""
    for part in PARTS:
        assert tuple(state.parts.get(part, ())) == getattr(mirror, part, ()), part
    for name in ("stack", "buffer", "lambda1", "lambda2"):  # whatever the system
        assert getattr(state, name) == list(getattr(mirror, name, ())), name
    assert tuple(state.returned) == getattr(mirror, "returned", ())
    assert tuple(state.labels) == mirror.labels
    heads = tuple(w if head == ROOT else head for w, head in enumerate(mirror.heads))
    assert tuple(state.heads) == heads
    assert tuple(state.sent_starts) == mirror.starts
    assert state.n_words == mirror.n
    assert state.is_final == mirror.is_final
    for name, value in real.details(state).items():
        assert getattr(state, name) == value == getattr(mirror, name)
    kids: dict[int, list[int]] = {}
    for word, head in enumerate(heads):
        if head is not None:
            kids.setdefault(ROOT if head == word else head, []).append(word)
    for word in range(-1, mirror.n):
        assert state.dependents(word) == kids.get(word, [])
    _check_stack(real, state, mirror)
    legal = plain.actions(mirror)
    assert bool(legal) != mirror.is_final
    if not mirror.is_final:
        told = list(map(tuple, real.actions(state)))
        # A scorer has a distribution of labels for these moves, and no others.
        assert all(label is None or real.table[move].labelled for move, _, label in told)
        assert len(told) == len(set(told))
        if takes_notes(real):  # its twin tells them in no particular order
            assert set(told) == set(map(tuple, legal))
            legal = [Action(*action) for action in told]
        assert told == list(map(tuple, legal))
    return legal


def _check_stack(real: systems.TransitionSystem, state: systems.State, mirror: Any) -> None:
    words = [word for word in state.stack if word != ROOT]
    if takes_notes(real):
        assert [state.push_labels[w] for w in words] == [mirror.noted[w] for w in words]
    if real.name in ("arc_eager", "arc_swift"):  # a head is right beneath
        lowest = words[0] if words and ROOT in state.stack else None  # ROOT may be its head
        for beneath, word in zip([lowest, *words], words, strict=False):
            assert state.heads[word] in (None, beneath)
    elif real.name != "two_planar":
        assert all(state.heads[word] is None for word in words)


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


def replay(real: systems.TransitionSystem, gold: Gold, oracle: str) -> systems.State:
    """The configuration at the end of the oracle's derivation."""
    state = real.initial(len(gold))
    for action in real.derivation(gold, oracle):
        real.apply(state, action)
    return state
