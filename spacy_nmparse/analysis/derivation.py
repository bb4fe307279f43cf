"""Derivations: every step of a parse, or of an oracle, with what it saw, chose and changed."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse import systems
from spacy_nmparse.analysis.tracer import Scored, Tracer, changes, items
from spacy_nmparse.pipe.gold import ROOT_LABEL, word_parse
from spacy_nmparse.pipe.parser import TransitionParser
from spacy_nmparse.pipe.parses import SPACE_LABEL, Arcs
from spacy_nmparse.pipe.words import Words
from spacy_nmparse.systems import ROOT, Action, Gold, State, TransitionSystem

MOVE, COMPLETE, LOWER = "move", "complete", "lower"  # kinds of steps
SHOWN = 24  # words of a buffer or list in JSON
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


class Arc(NamedTuple):
    """An arc from a head (``systems.ROOT``: the root) to a dependent."""

    head: int
    dependent: int
    label: str | None


class Items(Sequence[int]):
    """A tuple of word numbers in little memory: numbers, a range, numbers."""

    def __init__(self, front: Sequence[int], words: range, back: Sequence[int] = ()) -> None:
        self.front, self.words, self.back = tuple(front), words, tuple(back)

    def __len__(self) -> int:
        return len(self.front) + len(self.words) + len(self.back)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return tuple(self[j] for j in range(*i.indices(len(self))))
        i = i + len(self) if i < 0 else i
        for part in (self.front, self.words, self.back):
            if 0 <= i < len(part):
                return part[i]
            i -= len(part)
        raise IndexError("No such item.")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(tuple(self))


@dataclass(frozen=True)
class Choice:
    """A legal move of a configuration.

    Attributes:
        action: the move, with the label that the model likes best (gold derivations: the right
            one).
        probability: of the move among the legal ones; None where no model was asked.
        label_probability: of the label among those of the move.
        cost: what the action costs; None where no gold tree is known.
        least_cost: what the move costs with its best label.
        repair: which non-monotonic move this would be, or None (see ``Step``).
        noted: the label that a push notes for a later move.
    """

    action: Action
    probability: float | None = None
    label_probability: float | None = None
    cost: float | None = None
    least_cost: float | None = None
    repair: str | None = None
    noted: str | None = None


@dataclass(frozen=True)
class Step:
    """A step of a derivation: the configuration, what could be done, what was done.

    Attributes:
        kind: "move"; "complete": arcs that the scorer gives the words of a list system's sentence
            that have no head at its end; "lower": lifted arcs are lowered after the last move.
        action: of a move.
        chosen: of a move: the action as a ``Choice``.
        choices: the legal moves, the likeliest first (gold derivations: the cheapest); not all
            where there are many.
        least_cost: of a move: the least cost of any action of the configuration.
        start: the first word of the current sentence.
        stack: before the step, as that of ``State``.
        buffer: before the step.
        lambda1: before the step.
        lambda2: before the step.
        added: the arcs that the step makes.
        deleted: the arcs that it deletes. Those whose dependent is among the added ones too are
            replaced.
        repair: the name of the non-monotonic move that this is, or None
            (``TransitionSystem.repair``).
    """

    kind: str
    action: Action | None
    chosen: Choice | None
    choices: tuple[Choice, ...]
    least_cost: float | None
    start: int
    stack: tuple[int, ...]
    buffer: Sequence[int]
    lambda1: Sequence[int]
    lambda2: Sequence[int]
    added: tuple[Arc, ...]
    deleted: tuple[Arc, ...]
    repair: str | None = None

    @property
    def name(self) -> str:
        """The move, its k where that is not 1, and its label."""
        if self.action is None:
            return f"({self.kind})"
        return action_name(self.action)

    @property
    def cost(self) -> float | None:
        """What the action costs; None where no gold tree is known."""
        return None if self.chosen is None else self.chosen.cost

    @property
    def is_wrong(self) -> bool:
        """Whether another action would have cost less."""
        return self.cost is not None and self.least_cost is not None and self.cost > self.least_cost

    def as_dict(self) -> dict[str, Any]:
        """For JSON. Lists are cut to their parts next to the focus; their lengths are given."""
        result: dict[str, Any] = {
            "kind": self.kind,
            "action": None if self.action is None else list(self.action),
            "repair": self.repair,
            "cost": self.cost,
            "least_cost": self.least_cost,
            "start": self.start,
        }
        for name, taken in (
            ("stack", self.stack[-SHOWN:]),
            ("buffer", self.buffer[:SHOWN]),
            ("lambda1", self.lambda1[-SHOWN:]),
            ("lambda2", self.lambda2[:SHOWN]),
        ):
            result[name] = list(taken)
            result[f"{name}_length"] = len(getattr(self, name))
        result["added"] = [list(arc) for arc in self.added]
        result["deleted"] = [list(arc) for arc in self.deleted]
        result["choices"] = [
            {
                "action": list(choice.action),
                "probability": _rounded(choice.probability),
                "label_probability": _rounded(choice.label_probability),
                "cost": choice.cost,
                "least_cost": choice.least_cost,
                "repair": choice.repair,
            }
            for choice in self.choices
        ]
        return result


@dataclass
class Derivation:
    """The steps of a parse (``derive``) or of an oracle (``derive_gold``), and its tree.

    Words are numbered from 0, ROOT is ``systems.ROOT``; in heads a root is its own head.

    Attributes:
        system: name of the transition system.
        source: "greedy", the name of the oracle, or "given".
        words: their texts, without whitespace tokens.
        tokens: which token of the document each word is.
        steps: in order.
        heads: of the tree.
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
    heads: list[int] = field(repr=False)
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

    @property
    def repairs(self) -> list[Step]:
        """The steps that are non-monotonic moves."""
        return [step for step in self.steps if step.repair]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "system": self.system,
            "source": self.source,
            "words": self.words,
            "tokens": self.tokens,
            "heads": self.heads,
            "labels": self.labels,
            "sent_starts": self.sent_starts,
            "gold_heads": self.gold_heads,
            "gold_labels": self.gold_labels,
            "steps": [step.as_dict() for step in self.steps],
        }

    def to_json(self) -> str:
        """``as_dict`` as JSON."""
        return json.dumps(self.as_dict(), ensure_ascii=False)

    def _repr_html_(self) -> str:
        from spacy_nmparse.analysis.page import frame, render_page

        return frame(render_page(self))


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 6)


def action_name(action: Action) -> str:
    """The move, its k where that is not 1, and its label."""
    k = "" if action.k == 1 else str(action.k)
    return f"{action.move}{k} {action.label}" if action.label else f"{action.move}{k}"


def parser_of(nlp: Language, name: str | None = None) -> TransitionParser:
    """The parser of a pipeline, by its component's name where there are several.

    Raises:
        ValueError: there is none of this package, or there are several, or none of that name.
    """
    found = {key: pipe for key, pipe in nlp.pipeline if isinstance(pipe, TransitionParser)}
    if name is not None and name not in found:
        raise ValueError(
            f"No component {name!r} of this pipeline is a parser of spacy-nmparse: "
            f"{'there are ' + str(list(found)) if found else 'there is none'}."
        )
    if not found:
        raise ValueError(
            f"The pipeline has no parser of spacy-nmparse, only {nlp.pipe_names}: give one that "
            f"was trained with nm_parser, nl_covington_parser or swap_parser."
        )
    if len(found) > 1 and name is None:
        raise ValueError(f"The pipeline has several parsers, {list(found)}: name one of them.")
    return found[name] if name is not None else next(iter(found.values()))


def prepared(nlp: Language, component: TransitionParser, doc: Doc | str) -> Doc:
    """A fresh document as the component would get it in the pipeline.

    Of a Doc the tokens are taken, and sentence starts where they were set without a parse.
    """
    if isinstance(doc, str):
        fresh = nlp.make_doc(doc)
    else:
        preset = doc.has_annotation("SENT_START") and not doc.has_annotation("DEP")
        fresh = Doc(
            nlp.vocab,
            words=[token.text for token in doc],
            spaces=[bool(token.whitespace_) for token in doc],
            sent_starts=[token.is_sent_start for token in doc] if preset else None,
        )
    for _, pipe in nlp.pipeline:
        if pipe is component:
            break
        fresh = pipe(fresh)
    return fresh


def derive(
    source: Language | TransitionParser,
    doc: Doc | str,
    gold: Doc | Example | None = None,
    *,
    name: str | None = None,
    n_choices: int = 12,
) -> Derivation:
    """The derivation by which a trained parser parses a document: greedy search, step by step.

    Args:
        source: a pipeline with a parser of this package; the components before it run on a fresh
            copy of the document. Or the parser: then the document is taken as it is.
        doc: the document, which is not changed; with a pipeline, a text will do.
        gold: its gold tree, as a document or example whose reference has one.
        name: the parser's name in the pipeline, where there are several.
        n_choices: how many moves of a configuration are kept beside the one made and the cheapest.

    Returns:
        The derivation. Its tree is the parser's (``beam_width`` 1).

    Raises:
        ValueError: the pipeline has no parser, or it has no labels or weights yet; there are no
            words; the gold tree has a cycle.
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
    tracing = Tracing(component, doc, gold)
    steps = list(tracing.steps(tracing.initial(), n_choices))
    heads, labels, lowered = tracing.tree()
    gold_heads, gold_labels = tracing.gold_tree or (None, None)
    if lowered is not None:
        steps.append(lowered)
    return Derivation(
        component.system.name,
        "greedy",
        [doc[token].text for token in tracing.tokens],
        tracing.tokens,
        steps,
        heads,
        labels,
        tracing.final.sent_starts,
        gold_heads,
        gold_labels,
        _glossary(component.system, SCORED_COMPLETION),
    )


class Tracing:
    """Greedy search over one document, to be followed from any configuration.

    Args: as those of ``derive``.
    """

    def __init__(
        self, component: TransitionParser, doc: Doc, gold: Doc | Example | None = None
    ) -> None:
        words = Words.of([doc])
        (tokens,), (self._constraints,) = words.tokens, words.presets
        found = component.score_moves(words)
        if found is None:
            raise ValueError(f"There is no word in the document {doc.text!r}.")
        self.component = component
        self.system = component.system
        self.tokens: list[int] = tokens.tolist()
        #: What the parser would learn (arcs lifted, if it lifts them), and the tree itself.
        self.gold: Gold | None = None
        self.gold_tree: tuple[list[int | None], list[str | None]] | None = None
        if gold is not None:
            reference = gold.reference if isinstance(gold, Example) else gold
            example = Example(doc, reference)
            self.gold = component.gold_reader.read(example, tokens, self._constraints)
            parse = word_parse(example, tokens)
            labels = [
                ROOT_LABEL if head == w else parse.labels[w] for w, head in enumerate(parse.heads)
            ]
            self.gold_tree = parse.heads, labels
        self._tracer = Tracer(self.system, found.scorer, len(tokens))
        #: The configuration that the last call of ``steps`` or ``finish`` ended with.
        self.final = self.initial()

    def initial(self) -> State:
        """The initial configuration, under the document's preset sentence starts."""
        return self.system.initial(len(self.tokens), self._constraints.tolist())

    def moves(self, state: State) -> list[Scored]:
        """The legal moves as the model sees them, each with its best label."""
        return self._tracer.moves(state)

    def finish(self, state: State) -> State:
        """Go on to the end, in place, without a record."""
        while not state.is_final:
            best = _best(self._tracer.moves(state))
            self.make(state, best.action, best.noted)
        self._tracer.complete(state)
        self.final = state
        return state

    def steps(self, state: State, n_choices: int = 12) -> Iterator[Step]:
        """Go on to the end, in place, step by step."""
        while not state.is_final:
            moves = self._tracer.moves(state)
            best = _best(moves)
            choices, least = self._judged(state, moves)
            if self._ends_sentence(best.action):
                yield from self._completion(state)
            before = state.copy()
            self.system.apply(state, best.action, push_label=best.noted)
            yield _step(before, state, best.action, choices, least, n_choices)
        yield from self._completion(state)
        self.final = state

    def _ends_sentence(self, action: Action) -> bool:
        return self.system.table[action.move].ends_sentence

    def _completion(self, state: State) -> Iterator[Step]:
        before = state.copy()
        self._tracer.complete(state)
        if changes(before, state):
            yield _step(before, state, None, [], None, 0, COMPLETE)

    def _judged(self, state: State, moves: list[Scored]) -> tuple[list[Choice], float | None]:
        """The moves as choices, by probability, and the least cost of all actions."""
        costs = {} if self.gold is None else self.costs(state, moves)
        least = least_costs(costs)
        return [
            Choice(
                one.action,
                one.share,
                one.label_p,
                costs.get(one.action),
                least.get((one.action.move, one.action.k)),
                self.system.repair(state, one.action),
                one.noted,
            )
            for one in sorted(moves, key=lambda one: -one.share)
        ], min(costs.values(), default=None)

    def costs(self, state: State, moves: list[Scored]) -> dict[Action, float]:
        """The cost of each legal action, labels spelled out, where a push notes what the model
        says.

        Raises ValueError without a gold tree.
        """
        if self.gold is None:
            raise ValueError("Costs need a gold tree.")
        table = self.system.table
        noted = next((one.noted for one in moves if table[one.action.move].notes_label), None)
        return self.system.costs(state, self.gold, push_label=noted)

    def make(self, state: State, action: Action, noted: str | None) -> None:
        """Make a move, in place; before one that ends a sentence, that is completed."""
        if self._ends_sentence(action):
            self._tracer.complete(state)
        self.system.apply(state, action, push_label=noted)

    def replay(self, steps: Sequence[Step]) -> State:
        """The configuration that the moves of the first steps of this document's derivation lead
        to."""
        state = self.initial()
        for step in steps:
            if step.action is not None and step.chosen is not None:
                self.make(state, step.action, step.chosen.noted)
        return state

    def tree(self) -> tuple[list[int], list[str | None], Step | None]:
        """Heads, labels, and the step of lowering arcs, of the final configuration."""
        heads, labels = self.final.tree()
        number = {label: i for i, label in enumerate(self.system.label_names)}
        lowered = self.component.lowered(
            Arcs(
                numpy.asarray(heads, dtype="int32"),
                numpy.asarray([-1 if label is None else number[label] for label in labels]),
                numpy.zeros(len(heads), dtype="int8"),
            )
        )
        new_heads = lowered.heads.tolist()
        new_labels: list[str | None] = [
            SPACE_LABEL if one < 0 else self.system.label_names[one]
            for one in lowered.labels.tolist()
        ]
        deleted, added = [], []
        for word, (old, new) in enumerate(
            zip(
                zip(heads, labels, strict=True),
                zip(new_heads, new_labels, strict=True),
                strict=True,
            )
        ):
            if old[0] != new[0] or (old[1] is not None and old[1] != new[1]):
                deleted.append(_arc(word, *old))
                added.append(_arc(word, *new))
        if not added:
            return new_heads, new_labels, None
        step = _step(self.final, self.final, None, [], None, 0, LOWER, (added, deleted))
        return new_heads, new_labels, step


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
        raise ValueError(f"{len(words)} words for a tree over {n}.")
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
        step = _step(before, state, action, choices, min(costs.values()), len(costs))
        steps = [*steps, step]


def derive_actions(
    system: TransitionSystem | str,
    actions: Sequence[Action | tuple[str, int, str | None]],
    words: Sequence[str],
    gold: Gold | None = None,
) -> Derivation:
    """The derivation that given actions make, as those of a paper's figure. It may end before the
    end: the words without a head are then roots.

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
        raise ValueError(f"{len(words)} words for a tree over {len(gold) if gold else 'no words'}.")
    state = system.initial(len(words))
    steps = []
    for action in (Action(*one) for one in actions):
        before = state.copy()
        system.apply(state, action)
        if gold is None:
            legal = {(one.move, one.k): one for one in reversed(system.actions(before))}
            legal[action.move, action.k] = action
            choices = [Choice(one, repair=system.repair(before, one)) for one in legal.values()]
            steps.append(_step(before, state, action, choices, None, len(choices)))
        else:
            costs = system.costs(before, gold)
            choices = _cheapest(system, before, costs, action)
            least = min(costs.values())
            steps.append(_step(before, state, action, choices, least, len(choices)))
    return _finished(system, "given", words, state, steps, gold)


def _finished(
    system: TransitionSystem,
    source: str,
    words: Sequence[str] | None,
    state: State,
    steps: list[Step],
    gold: Gold | None,
) -> Derivation:
    """The derivation of these steps; words that have no head in the end hang off ROOT."""
    n = state.n_words
    if state.is_final:
        heads, labels = state.tree()
    else:
        heads = [word if head is None else head for word, head in enumerate(state.heads)]
        labels = state.labels
    hung = [_arc(w, heads[w], labels[w]) for w, head in enumerate(state.heads) if head is None]
    if hung and state.is_final:
        steps = [*steps, _step(state, state, None, [], None, 0, COMPLETE, (hung, []))]
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


def least_costs(costs: dict[Action, float]) -> dict[tuple[str, int], float]:
    """The cost of each move and k with its best label."""
    least: dict[tuple[str, int], float] = {}
    for action, cost in costs.items():
        key = action.move, action.k
        least[key] = min(cost, least.get(key, cost))
    return least


def _best(moves: list[Scored]) -> Scored:
    return max(moves, key=lambda one: one.score)  # of equal ones the first


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


def _arc(word: int, head: int, label: str | None) -> Arc:
    """As ``State.heads`` has it: a root is its own head."""
    return Arc(ROOT if head == word else head, word, label)


def _step(
    before: State,
    after: State,
    action: Action | None,
    choices: list[Choice],
    least: float | None,
    n_choices: int,
    kind: str = MOVE,
    arcs: tuple[list[Arc], list[Arc]] | None = None,
) -> Step:
    start, stack, put_back, unread, root_last, root_first, lambda1, lambda2 = items(before)
    added, deleted = [], []
    if arcs is None:
        for word, old_head, old_label, head, label in changes(before, after):
            if old_head is not None:
                deleted.append(Arc(old_head, word, old_label))
            if head is not None:
                added.append(Arc(head, word, label))
    else:
        added, deleted = arcs
    chosen = next((one for one in choices if one.action == action), None)
    cheapest = next((one for one in choices if one.cost is not None and one.cost == least), None)
    return Step(
        kind,
        action,
        chosen,
        tuple(one for i, one in enumerate(choices) if i < n_choices or one in (chosen, cheapest)),
        least,
        start,
        tuple(stack),
        Items(put_back, unread, (ROOT,) if root_last else ()),
        Items((ROOT,) if root_first else (), lambda1),
        Items((), lambda2),
        tuple(added),
        tuple(deleted),
        None if chosen is None else chosen.repair,
    )
