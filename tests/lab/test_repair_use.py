"""Repairs, judged."""

from __future__ import annotations

import json
from typing import Any

import pytest
from spacy.language import Language

from spacy_nmparse.analysis import derive
from spacy_nmparse.analysis.tracing import Tracing, least_costs, prepared
from spacy_nmparse.lab.repair_use import find_repairs
from spacy_nmparse.pipe.members import parser_of
from spacy_nmparse.systems import ROOT, State
from tests.pipe.common import NL, NM, TREES, gold_doc, random_parser, system

SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "arc-eager": (NM, system("ArcEager", nonmonotonic_left=True, nonmonotonic_reduce=True)),
    "nl": (NL, system("NLCovington", nonmonotonic=True)),
}


def repair(before: State, after: State, move: str) -> str | None:
    """Which non-monotonic move has led from one configuration to the next, by what has changed."""
    old, new = ((*zip(s.heads, s.labels, strict=True),) for s in (before, after))
    changed = [head for (head, label), now in zip(old, new, strict=True) if (head, label) != now]
    if move in ("RIGHT-LOWER", "RIGHT-RAISE", "LEFT-INVERT"):
        return move
    if move == "REDUCE":
        put_back = len(after.returned) > len(before.returned)
        return "UNSHIFT" if put_back else move if changed else None
    return move if any(head is not None for head in changed) else None


def parser(name: str, seed: int = 3) -> Language:
    factory, block = SYSTEMS[name]
    return random_parser(seed, factory=factory, system=block, projectivize=False)


@pytest.mark.parametrize("name", SYSTEMS)
def test_counts_follow_from_costs(name: str) -> None:
    """Once more, configuration by configuration, with the systems' Python face alone."""
    nlp = parser(name)
    component = parser_of(nlp)
    golds = [gold_doc(nlp.vocab, trees) for trees in ([0, 1], [2], [3, 4, 1])]
    expected: dict[str, list[int]] = {}
    punct: dict[str, list[int]] = {}
    for gold in golds:
        tracing = Tracing(component, prepared(nlp, component, gold), gold)
        assert tracing.gold is not None
        state, labels = tracing.initial(), tracing.gold.labels
        for step in derive(nlp, gold, gold).steps:
            if step.action is None:
                continue
            noted = next((one.noted for one in step.choices if one.action.move == "SHIFT"), None)
            costs = tracing.system.costs(state, tracing.gold, push_label=noted)
            least = min(costs.values())
            kinds: dict[str, float] = {}
            for action, cost in costs.items():
                after = state.copy()
                tracing.system.apply(after, action)
                kind = repair(state, after, action.move)
                assert kind == tracing.system.repair(state, action)
                if kind:
                    kinds[kind] = min(cost, kinds.get(kind, cost))
            taken = min(cost for action, cost in costs.items() if action[:2] == step.action[:2])
            for kind, cost in kinds.items():
                if kind == step.repair:
                    outcome = 0 if taken == least else 1  # made rightly, wrongly
                else:
                    outcome = 2 if cost == least and taken > least else 3  # missed
                over_punct = step.stack and labels[step.stack[-1]] == "punct"
                for counted in (expected, punct) if over_punct else (expected,):
                    counted.setdefault(kind, [0, 0, 0, 0])[outcome] += 1
            assert step.chosen is not None
            tracing.system.apply(state, step.action, push_label=step.chosen.noted)
    found = find_repairs(nlp, golds)
    assert expected
    assert punct or name == "nl"
    for outcomes, counted in ((found.outcomes, expected), (found.punct, punct)):
        assert counted == {
            kind: [one.tp + one.neutral, one.fp, one.fn, one.tn + one.deferred]
            for kind, one in outcomes.items()
        }
    assert found.words == sum(len(gold) for gold in golds)


def test_examples_and_labels() -> None:
    nlp = parser("arc-eager", 6)
    golds = [gold_doc(nlp.vocab, trees) for trees in ([0, 1], [2], [3, 4, 1])]
    found = find_repairs(nlp, golds, n_examples=1)
    kinds = [(example.move, example.outcome) for example in found.examples]
    assert len(kinds) == len(set(kinds)) > 1
    for example in found.examples:
        for arc in [*example.added, *example.deleted]:
            assert 0 <= arc.dependent < len(example.words)
            assert arc.head == ROOT or 0 <= arc.head < len(example.words)
        if example.outcome == "tp":
            (arc,) = example.added
            assert arc.head == example.gold_head
    for move, counts in found.labels.items():
        one = found.outcomes[move]
        assert sum(counts.values()) == one.tp + one.neutral + one.fp
        assert all((before == "") == (move == "REDUCE") for before, _, _ in counts)
    total = found.total
    assert total.tp == sum(one.tp for one in found.outcomes.values())
    assert total.precision == total.tp / (total.tp + total.neutral + total.fp)
    again = json.loads(json.dumps(found.as_dict()))
    assert again["total"]["fn"] == total.fn
    assert {entry["outcome"] for entry in again["labels"]["LEFT-ARC"]} <= {"tp", "neutral", "fp"}


def test_a_parser_that_knows_the_trees(trained: Language) -> None:
    found = find_repairs(trained, [gold_doc(trained.vocab, [n]) for n in range(len(TREES))])
    assert (found.total.fp, found.total.fn) == (0, 0)
    assert found.right == found.at_most


@pytest.mark.parametrize("name", SYSTEMS)
def test_an_oracle_that_decides_repairs_alone(name: str) -> None:
    """Derivations by hand: wrong repairs are left, those that the model misses are made."""
    gains = 0
    for seed in range(3, 9):
        nlp = parser(name, seed)
        gold = gold_doc(nlp.vocab, [0, 1, 2, 3, 4])
        tracing = Tracing(parser_of(nlp), prepared(nlp, parser_of(nlp), gold), gold)
        state, made = tracing.initial(), 0
        while not state.is_final:
            moves = tracing.moves(state)
            costs = least_costs(tracing.costs(state, moves))
            right = [m for m in moves if costs[m.action[:2]] == min(costs.values())]
            wrong = [m for m in moves if m not in right]
            repairs = [m for m in moves if tracing.system.repair(state, m.action)]
            chosen = max(right + [m for m in wrong if m not in repairs], key=lambda m: m.score)
            if chosen in wrong and any(m in repairs for m in right):
                chosen = max((m for m in right if m in repairs), key=lambda m: m.score)
                made += 1
            tracing.make(state, chosen.action, chosen.noted)
        tracing.finish(state)
        found = find_repairs(nlp, [gold])
        known = list(zip(tracing.tree()[0], tracing.gold_tree.heads, strict=True))
        assert found.heads == len(known)
        assert found.at_most == sum(head == of_gold for head, of_gold in known)
        gains += made
    assert gains


def test_a_monotonic_system() -> None:
    nlp = random_parser(1, system=system("SwapStandard"), projectivize=False)
    found = find_repairs(nlp, [gold_doc(nlp.vocab, [0])])
    assert not found.outcomes
    assert found.total.precision is found.total.recall is None
