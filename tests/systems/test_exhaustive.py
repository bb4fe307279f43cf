"""Costs and losses are the true ones, by search; see exhaustive.py for more words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pytest

from spacy_nmparse import systems
from tests import fuzz
from tests.exhaustive import check, key, main, row
from tests.exhaustive_cases import CASES, ROOTED, WHOLE, Case
from tests.naive.trees import Tree, forests, golds, roots_per_sentence

EXACT = [case for case in CASES if case.exact]
BOUNDS = [case for case in CASES if case.bound]


@dataclass(frozen=True)
class Misfit(Case):
    """A case whose gold trees have labels that cannot stand on their arcs: the root's on others,
    others on the root's."""

    @property
    def name(self) -> str:
        return f"{super().name}, labels that fit no arc"

    def golds(self, n: int) -> list[Tree]:
        root, other = self.options["root_label"], (self.labels or ())[0]
        wrong = {root: other, other: root}
        return [
            tree._replace(
                labels=tuple(
                    wrong.get(label, label) if (w + n) % 2 else label
                    for w, label in enumerate(tree.labels)
                )
            )
            for tree in super().golds(n)
        ]


MISFITS = (
    *(Misfit(**vars(case)) for case in EXACT if "root_label" in case.options),
    Misfit("arc_eager", {"root_label": "ROOT"}, ROOTED),
    Misfit("covington", {"root_label": "ROOT", "explicit_root": True}, ROOTED, False),
    Misfit("nl_covington", {"root_label": "ROOT", "explicit_root": True}, ROOTED, False),
)
#: Cases with two labels for roots, of systems whose arcs from ROOT are moves.
SEVERAL = tuple(
    case.but(root_label=("ROOT", "TOP"), labels=(*ROOTED, "TOP"))
    for case in EXACT
    if {"root_label", *WHOLE} <= case.options.keys()
    and ("explicit_root" in case.options or not systems.create(case.system).headless)
)


def each_of(cases: Iterable[Case]) -> pytest.MarkDecorator:
    def name(case: Case) -> str:
        return f"{case.system}-{case.name}".replace(", ", "-")

    return pytest.mark.parametrize("case", list(cases), ids=name)


def prove(case: Case, lengths: range, pairs: int) -> None:
    for n in lengths:
        result = check(case, n, max_pairs=pairs, seed=n)
        assert result.triples > 0
        assert not result.failed, "\n".join([row(result), *result.examples])


@each_of([*EXACT, *MISFITS, *SEVERAL])
def test_costs_and_losses(case: Case) -> None:
    """Every tree of two words, and a sample of those of three."""
    prove(case, range(1, 4), 4_000)


@each_of(case for case in EXACT if "unlabelled, full gold, crossing gold" in case.name)
def test_costs_and_losses_where_words_cross(case: Case) -> None:
    """A gold tree of four words can cross a stack item and a word behind the next."""
    prove(case, range(4, 5), 30_000)


@each_of(BOUNDS)
def test_crossing_gold_is_never_overrated(case: Case) -> None:
    """What projective systems tell of crossing gold are lower bounds."""
    prove(case, range(2, 4), 4_000)
    result = check(case, 3 if case.labels or case.constraints else 4, max_pairs=20_000)
    assert not result.failed, "\n".join([row(result), *result.examples])
    assert result.wrong_losses < result.judged / 10


@pytest.mark.slow
@each_of(EXACT)
def test_costs_and_losses_of_more_trees(case: Case) -> None:
    """More of those of three words, and a sample of those of four."""
    longest = 3 if case.labels is not None or case.constraints else 4
    prove(case, range(3, longest + 1), 15_000)


def test_all_trees_are_there() -> None:
    assert [len(list(forests(n, projective=True))) for n in range(1, 6)] == [1, 3, 12, 55, 273]
    assert [len(list(forests(n, projective=False))) for n in range(1, 6)] == [1, 3, 16, 125, 1296]
    full = golds(4, segment=True, one_root=True)
    assert all(set(roots_per_sentence(tree.heads, tree.sent_starts)) == {1} for tree in full)
    assert len(golds(2, partial=True, labels=("a", None))) == 21


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--max-n", "2", "--only", "nonmonotonic_left, unlabelled, partial"]) == 0
    table = capsys.readouterr().out
    assert "| arc_eager | nonmonotonic_left, unlabelled, partial gold | 2 | 8 | 14 |" in table


def test_configurations_are_told_apart() -> None:
    system = EXACT[0].create()
    state = system.initial(2)
    after = state.copy()
    system.apply(after, system.actions(after)[0])
    assert key(system, state) == key(system, system.initial(2)) != key(system, after)


@pytest.mark.parametrize("program", [main, fuzz.main])
def test_unknown_systems_are_errors(
    program: Callable[[list[str]], int], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as status:
        program(["--system", "arc_hybird"])
    assert status.value.code == 2
    assert "No system 'arc_hybird'. Did you mean arc_hybrid?" in capsys.readouterr().err


def test_nothing_to_try_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "no such case"]) == 1
    assert "Nothing was tried" in capsys.readouterr().out
