"""Derivations: every step of a parse, or of an oracle, with what it saw, chose and changed."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse import systems
from spacy_nmparse.analysis.page import frame, render_page
from spacy_nmparse.analysis.steps import COMPLETE, LOWER, Arc, Choice, Step, arc_of, make_step
from spacy_nmparse.analysis.tracing import Tracing, prepared
from spacy_nmparse.pipe.members import parser_of
from spacy_nmparse.pipe.parser import TransitionParser
from spacy_nmparse.systems import Action, Gold, State, TransitionSystem
from spacy_nmparse.wording import counted

#: What is in a derivation but in no system's glossary; names as in ``Step.name``.
GLOSSARY = {
    "repair": "A non-monotonic move takes back an earlier decision: it replaces or deletes an arc, "
    "attaches a word that was left without a head, or puts it back into the buffer.",
    f"({LOWER})": "After the last move: arcs that were lifted in training, so that none cross, "
    "return to the heads that their labels point to.",
}
SCORED_COMPLETION = (
    "The sentence is over, and some words have no head: the scorer attaches each to the head that "
    "it likes best, the root of the sentence first."
)
HUNG_COMPLETION = (
    "The derivation is over, and some words have no head: they become dependents of ROOT, or of "
    "the sentence's root if there may be only one."
)


@dataclass
class Derivation:
    """The steps of a parse (``derive``) or of an oracle (``derive_gold``), and its tree.

    Words are numbered from 0, ROOT is ``systems.ROOT``; in heads a root is its own head.

    Attributes:
        system: name of the transition system.
        source: "greedy"; "steered": given moves, then greedy search; the name of the oracle; or
            "given".
        words: their texts, without whitespace tokens.
        tokens: which token of the document each word is.
        steps: in order.
        heads: of the tree; None where an unfinished derivation has not given a word its head.
        labels: of the tree.
        sent_starts: which words start a sentence.
        gold_heads: as far as they are known; None: no gold tree was given.
        gold_labels: as far as they are known; None: no gold tree was given.
        glossary: what moves do and the parts of configurations hold, as
            ``TransitionSystem.glossary`` says; also "repair", and the steps that are no moves, by
            name.
    """

    system: str
    source: str
    words: list[str]
    tokens: list[int]
    steps: list[Step] = field(repr=False)
    heads: Sequence[int | None] = field(repr=False)
    labels: list[str | None] = field(repr=False)
    sent_starts: list[bool] = field(repr=False)
    gold_heads: list[int | None] | None = field(default=None, repr=False)
    gold_labels: list[str | None] | None = field(default=None, repr=False)
    glossary: dict[str, str] = field(default_factory=dict, repr=False)

    def arcs(self, step: int) -> list[Arc]:
        """The arcs before a step, by dependent; ``len(steps)``: those of the tree."""
        found: dict[int, Arc] = {}
        for done in self.steps[:step]:
            for arc in done.deleted:
                del found[arc.dependent]
            for arc in done.added:
                found[arc.dependent] = arc
        return [found[word] for word in sorted(found)]

    def sentences(self) -> list[tuple[int, int]]:
        """The sentences as (first word, one behind the last)."""
        firsts = [word for word, start in enumerate(self.sent_starts) if start or word == 0]
        return list(zip(firsts, [*firsts[1:], len(self.words)], strict=True))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        found = {name: value for name, value in vars(self).items() if name != "glossary"}
        found["steps"] = [step.as_dict() for step in found.pop("steps")]
        return found

    def _repr_html_(self) -> str:
        return frame(render_page(self))


def derive(
    source: Language | TransitionParser,
    doc: Doc | str,
    gold: Doc | Example | None = None,
    *,
    name: str | None = None,
    n_choices: int = 12,
    moves: Iterable[Sequence[Any]] = (),
) -> Derivation:
    """The derivation by which a trained parser parses a document: greedy search, step by step.

    Args:
        source: a pipeline with a parser of this package; the components before it run on a fresh
            copy of the document. Or the parser: then the document is not processed before.
        doc: the document, which is not changed; with a pipeline, a text will do.
        gold: its gold tree, as a document or example whose reference has one.
        name: the parser's name in the pipeline, where there are several.
        n_choices: how many moves of a configuration are kept besides the one made and the cheapest.
        moves: the first moves, as (move, k, label), or as (move, k) with the label that costs least
            (without a gold tree: the likeliest); the parser goes on from there.

    Returns:
        The derivation. Its tree is the parser's (``beam_width`` 1), if no moves are given.

    Raises:
        ValueError: the pipeline has no parser, or it has no labels or weights yet; there are no
            words; the gold tree has a cycle; a given move is not legal, or comes after the end.
    """
    if isinstance(source, Language):
        component = parser_of(source, name)
        doc = prepared(source, component, doc)
    else:
        component = source
        if isinstance(doc, str):
            raise ValueError("A text needs a pipeline: give derive() the nlp, not its parser.")
    if component.beam_width > 1:
        warnings.warn(
            f"The component '{component.name}' has a beam_width of {component.beam_width}: the "
            f"derivation is that of greedy search, whose tree may be another one.",
            stacklevel=2,
        )
    tracing, given = Tracing(component, doc, gold), [*moves]
    steps = list(tracing.steps(tracing.initial(), n_choices, given))
    if (n_moves := sum(step.action is not None for step in steps)) < len(given):
        raise ValueError(f"{len(given)} moves are given: the derivation ends after {n_moves}.")
    heads, labels, lowered = tracing.tree()
    gold_heads, gold_labels, _ = tracing.gold_tree or (None, None, None)
    return Derivation(
        component.system.name,
        "steered" if given else "greedy",
        [doc[token].text for token in tracing.tokens],
        tracing.tokens,
        steps if lowered is None else [*steps, lowered],
        heads,
        labels,
        tracing.final.sent_starts,
        gold_heads,
        gold_labels,
        _glossary(component.system, SCORED_COMPLETION),
    )


def derive_gold(
    system: TransitionSystem | str,
    gold: Gold,
    oracle: str = "dynamic",
    words: Sequence[str] | None = None,
) -> Derivation:
    """The derivation of a tree by an oracle, with the cost of every legal move on the way.

    Args:
        system: the system, or its name for one without labels.
        gold: the tree.
        oracle: at each step an action that this oracle allows is made, as by
            ``system.derivation``.
        words: texts of the words; their numbers from 1 by default.

    Raises:
        ValueError: no such system or oracle; a label that the system lacks; the oracle allows
            nothing in some configuration (as for crossing trees and some static oracles); another
            number of words.
    """
    return next(all_derivations(system, gold, oracle, words))


def all_derivations(
    system: TransitionSystem | str,
    gold: Gold,
    oracle: str = "dynamic",
    words: Sequence[str] | None = None,
) -> Iterator[Derivation]:
    """Every derivation of a tree that an oracle allows, that of ``derive_gold`` first; there can be
    very many.

    Args and errors: as those of ``derive_gold``.
    """
    if isinstance(system, str):
        system = systems.create(system)
    n = len(gold)
    if words is not None and len(words) != n:
        raise ValueError(f"{counted(len(words), 'word')} for a tree over {n}.")
    # Moves to be made: the configuration, the steps to it, costs there, the action.
    waiting: list[tuple[State, list[Step], dict[Action, float], Action]] = []
    state = system.initial(n)
    steps: list[Step] = []
    while True:
        if state.is_final:
            yield _finished(system, oracle, words, state, steps, gold)
        else:
            allowed = system.oracle(state, gold, oracle)
            if not allowed:
                raise ValueError(f"The {oracle} oracle allows nothing in {state!r} for {gold!r}.")
            costs = system.costs(state, gold)
            ways = [one for one in costs if one in allowed]
            if len(ways) > 1:
                canonical = system.oracle(state, gold, "static")
                ways.sort(key=lambda one: one not in canonical)
            waiting += [(state, steps, costs, one) for one in reversed(ways)]
        if not waiting:
            return
        before, steps, costs, action = waiting.pop()
        state = before.copy()
        system.apply(state, action)
        choices = _cheapest(system, before, costs, action)
        step = make_step(before, state, action, choices, min(costs.values()), len(costs))
        steps = [*steps, step]


def derive_actions(
    system: TransitionSystem | str,
    actions: Sequence[Action | tuple[str, int, str | None]],
    words: Sequence[str],
    gold: Gold | None = None,
) -> Derivation:
    """The derivation that given actions make, as those of a paper's figure. It may be unfinished.

    Args:
        system: the system, or its name for one without labels.
        actions: what is done, in order.
        words: texts of the words.
        gold: a gold tree, for costs.

    Raises:
        ValueError: no such system; an action is illegal where it is made; another number of words.
    """
    if isinstance(system, str):
        system = systems.create(system)
    if not words or (gold is not None and len(gold) != len(words)):
        over = len(gold) if gold else "no words"
        raise ValueError(f"{counted(len(words), 'word')} for a tree over {over}.")
    state = system.initial(len(words))
    steps = []
    for action in (Action(*one) for one in actions):
        before = state.copy()
        system.apply(state, action)
        if gold is None:
            legal = {(one.move, one.k): one for one in reversed(system.actions(before))}
            legal[action.move, action.k] = action
            choices = [Choice(one, repair=system.repair(before, one)) for one in legal.values()]
            steps.append(make_step(before, state, action, choices, None, len(choices)))
        else:
            costs = system.costs(before, gold)
            choices = _cheapest(system, before, costs, action)
            least = min(costs.values())
            steps.append(make_step(before, state, action, choices, least, len(choices)))
    return _finished(system, "given", words, state, steps, gold)


def _finished(
    system: TransitionSystem,
    source: str,
    words: Sequence[str] | None,
    state: State,
    steps: list[Step],
    gold: Gold | None,
) -> Derivation:
    """The derivation of these steps. If it is finished, words without a head hang off ROOT."""
    n = state.n_words
    heads, labels = state.tree() if state.is_final else (state.heads, state.labels)
    hung = [
        arc_of(w, head, labels[w])
        for w, head in enumerate(heads)
        if head is not None and state.heads[w] is None
    ]
    if hung:
        steps = [*steps, make_step(state, state, None, [], None, 0, COMPLETE, (hung, []))]
    return Derivation(
        system.name,
        source,
        [str(word + 1) for word in range(n)] if words is None else list(words),
        list(range(n)),
        steps,
        heads,
        labels,
        state.sent_starts,
        None if gold is None else list(gold.heads),
        None if gold is None else list(gold.labels),
        _glossary(system, HUNG_COMPLETION),
    )


def _glossary(system: TransitionSystem, completion: str) -> dict[str, str]:
    return {**GLOSSARY, f"({COMPLETE})": completion, **system.glossary()}


def _cheapest(
    system: TransitionSystem, state: State, costs: dict[Action, float], taken: Action
) -> list[Choice]:
    """One choice for each move and k, with its best label, the cheapest first."""
    best = {(taken.move, taken.k): taken}
    for action in sorted(costs, key=lambda one: costs[one]):
        best.setdefault((action.move, action.k), action)
    return [
        Choice(
            action,
            cost=costs[action],
            least_cost=costs[action],
            repair=system.repair(state, action),
        )
        for action in sorted(best.values(), key=lambda one: costs[one])
    ]
