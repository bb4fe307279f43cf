"""What exhaustive search proves: systems, their options, and the gold trees to try them on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from spacy_nmparse import systems
from tests.naive.trees import Tree, golds

LABELS, ROOTED = ("a", "b"), ("a", "b", "ROOT")


@dataclass(frozen=True)
class Case:
    """A system, its options, and the gold trees to try it on.

    exact: disagreements are failures. root_label and segment among the options also shape the gold
    trees. constraints: from every initial configuration with preset sentence starts. known_starts:
    gold tells all sentence starts, even if it is partial.
    notes_labels: a push is tried with every label to note. formula: "dynamic" for the system's own
    costs and loss, "paper" for the formulas as printed, "exact" for the oracle of that name. bound:
    the loss must not be higher than the true one.
    """

    system: str
    options: dict[str, Any] = field(default_factory=dict)
    labels: tuple[str, ...] | None = None
    projective: bool = True
    partial: bool = True
    one_root: bool = False
    constraints: bool = False
    known_starts: bool = False
    notes_labels: bool = False
    exact: bool = True
    formula: str = "dynamic"
    bound: bool = False

    @property
    def name(self) -> str:
        """The options and gold trees in words."""
        options = []
        for key, value in self.options.items():
            if isinstance(value, tuple):
                options.append(" + ".join(value))
            elif value is not False and value is not None:
                options.append(key if value is True else f"{key}={value}")
        words = [*options, "labelled" if self.labels else "unlabelled"]
        words += ["partial gold" if self.partial else "full gold"]
        words += ["crossing gold"] * (not self.projective)
        words += ["one root"] * self.one_root
        words += ["preset starts"] * self.constraints
        words += ["known starts"] * self.known_starts
        words += {"paper": ["paper formulas"], "exact": ["exact oracle"]}.get(self.formula, [])
        return ", ".join(words)

    def but(self, **changes: Any) -> Case:
        """The same with other fields, and more options."""
        own = {one.name: changes.pop(one.name) for one in fields(self) if one.name in changes}
        return replace(self, options={**self.options, **changes}, **own)

    def create(self) -> systems.TransitionSystem:
        return systems.create(self.system, labels=self.labels, **self.options)

    def golds(self, n: int) -> list[Tree]:
        labels: tuple[str | None, ...] | None = None
        if self.labels:
            labels = (self.labels[0], None) if self.partial else (self.labels[0],)
        return golds(
            n,
            projective=self.projective,
            partial=self.partial,
            one_root=self.one_root,
            labels=labels,
            root_label=self.options.get("root_label"),
            segment=self.options.get("segment", False),
            unknown_starts=self.partial and not self.known_starts,
        )


def subsets(*options: str) -> list[dict[str, Any]]:
    """Each choice of options that are true."""
    return [
        dict.fromkeys(chosen, True)
        for size in range(len(options) + 1)
        for chosen in itertools.combinations(options, size)
    ]


SETTINGS = subsets("single_root", "segment")
WHOLE = SETTINGS[-1]


def _crossing(case: Case, bound: bool = True) -> Iterator[Case]:
    """A projective system on crossing gold: by its own costs, and by the oracle ``exact``. With
    single roots and unknown starts, a start that a lost arc crosses is taken for none."""
    bound = bound and not WHOLE.keys() <= case.options.keys()
    yield case.but(projective=False, exact=False, bound=bound)
    yield case.but(projective=False, formula="exact")


def _arc_eager_cases() -> Iterator[Case]:
    variants = subsets("nonmonotonic_left", "nonmonotonic_reduce")
    for setting, variant in itertools.product(SETTINGS, variants):
        plain = Case("arc_eager", {**variant, **setting})
        labelled = plain.but(labels=LABELS)
        attaching = "nonmonotonic_reduce" in variant or "single_root" in setting
        yield plain
        yield labelled.but(notes_labels=attaching)
        if attaching:
            yield labelled.but(labelled_reduce=True)
        if setting == WHOLE:
            yield plain.but(partial=False)
            yield plain.but(constraints=True)
            yield plain.but(root_label="ROOT", labels=ROOTED, notes_labels=attaching)
        yield from _crossing(plain)
        if setting == WHOLE:
            noted = attaching and "nonmonotonic_left" not in variant
            yield from _crossing(plain.but(labels=LABELS, notes_labels=noted))
            yield from _crossing(plain.but(constraints=True))
        if not setting:
            yield from _crossing(plain.but(partial=False))
            right = "nonmonotonic_left" in variant or "nonmonotonic_reduce" not in variant
            yield plain.but(formula="paper", partial=False, exact=right)


REPAIRS = ("right_lower", "right_raise", "left_invert")


def _repair_cases() -> Iterator[Case]:
    left: dict[str, Any] = {"nonmonotonic_left": True}
    both: dict[str, Any] = {**left, "nonmonotonic_reduce": True}
    for size in range(1, 4):
        for repairs in itertools.combinations(REPAIRS, size):
            for variant, decoupled in itertools.product((left, both), (False, True)):
                options = {**variant, "repairs": repairs, "decoupled_repairs": decoupled}
                yield Case("arc_eager", options)
    variants: list[dict[str, Any]] = [
        {**left, "repairs": REPAIRS},
        {**both, "repairs": REPAIRS},
        {**left, "repairs": REPAIRS, "decoupled_repairs": True},
        {**both, "repairs": REPAIRS, "decoupled_repairs": True},
        {"unshift": True},
        {**left, "unshift": True},
    ]
    for setting, variant in itertools.product(SETTINGS, variants):
        plain = Case("arc_eager", {**variant, **setting})
        if setting or "unshift" in variant:
            yield plain
        if "nonmonotonic_reduce" in variant:
            yield plain.but(labelled_reduce=True, labels=LABELS)
        elif setting in ({}, WHOLE):
            yield plain.but(labels=LABELS)
        if setting == WHOLE:
            yield plain.but(partial=False)
            yield plain.but(constraints=True)
            yield plain.but(root_label="ROOT", labelled_reduce=True, labels=ROOTED)
        if not setting:
            yield plain.but(projective=False, partial=False, exact=False, bound=True)
    yield Case("arc_eager", variants[1], labels=LABELS, notes_labels=True)


def _push_cases() -> Iterator[Case]:
    both = {"nonmonotonic_left": True, "nonmonotonic_reduce": True, "labelled_reduce": True}
    for setting in SETTINGS:
        for push in ("shift", "right_arc"):
            plain = Case("arc_eager", {**both, "push": push, **setting})
            yield plain
            yield from _crossing(plain)
            yield plain.but(labels=LABELS)


def _list_cases(system: str) -> Iterator[Case]:
    for setting in subsets("explicit_root", "single_root", "segment"):
        full = WHOLE.keys() <= setting.keys()
        plain = Case(system, setting, projective=False, known_starts=full)
        yield plain
        yield plain.but(labels=LABELS)
        yield plain.but(max_length=1)
        if "single_root" in setting:
            yield plain.but(root_label="ROOT", labels=ROOTED)
        if full:
            yield plain.but(constraints=True)
            yield plain.but(known_starts=False, exact=False)
        if "segment" not in setting:
            loose = {"nonmonotonic": True, **setting}
            yield replace(plain, options=loose, partial=False, exact=False)


def _planar_cases() -> Iterator[Case]:
    for setting in SETTINGS:
        plain = Case("two_planar", setting, projective=False, known_starts=setting == WHOLE)
        yield plain
        yield plain.but(labels=LABELS)
        yield plain.but(root_label="ROOT", labels=ROOTED)
        if "segment" in setting:
            yield plain.but(partial=False)
            yield plain.but(constraints=True)
        if setting == WHOLE:
            yield plain.but(known_starts=False, exact=False)


def _projective_cases(system: str, **form: bool) -> Iterator[Case]:
    bound = system != "arc_standard"  # near the loss: see docs/proofs.md
    for setting in SETTINGS:
        plain = Case(system, {**form, **setting})
        yield plain
        yield plain.but(labels=LABELS)
        yield plain.but(root_label="ROOT", labels=ROOTED)
        if "segment" in setting:
            yield plain.but(partial=False)
            yield plain.but(constraints=True)
            yield from _crossing(plain.but(constraints=True), bound)
        yield from _crossing(plain, bound)
        yield from _crossing(plain.but(labels=LABELS), bound)
        yield from _crossing(plain.but(partial=False), bound)


def _swap_cases() -> Iterator[Case]:
    for setting in SETTINGS:
        plain = Case("swap_standard", setting, projective=False, exact=False)
        yield plain
        yield plain.but(partial=False)
        yield plain.but(partial=False, projective=True)
        if "segment" in setting:
            yield plain.but(constraints=True)
        yield plain.but(root_label="ROOT", labels=ROOTED)


def is_there(case: Case) -> bool:
    """Whether the options and formulas are: forms and oracles may be another package's."""
    known = case.formula == "dynamic" or case.formula in systems.create(case.system).oracles
    return known and case.options.keys() <= systems.options(case.system).keys()


def _cases() -> Iterator[Case]:
    """Every system: those with options of their own, and others as what they are."""
    own: dict[str, tuple[Callable[[], Iterator[Case]], ...]] = {
        "arc_eager": (
            _arc_eager_cases,
            _repair_cases,
            _push_cases,
            partial(_projective_cases, "arc_eager", root_first=True),
        ),
        "arc_standard": (
            partial(_projective_cases, "arc_standard"),
            partial(_projective_cases, "arc_standard", buffer_arcs=True),
        ),
        "swap_standard": (_swap_cases,),
        "two_planar": (_planar_cases,),
    }
    for name in systems.names():
        if name in own:
            for cases in own[name]:
                yield from filter(is_there, cases())
        elif systems.create(name).headless:
            yield from _list_cases(name)
        else:
            yield from filter(is_there, _projective_cases(name))


CASES: tuple[Case, ...] = tuple(_cases())
