"""A trained parser's greedy search over one document, to be followed step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.analysis.steps import (
    COMPLETE,
    LOWER,
    Choice,
    Step,
    action_name,
    arc_of,
    make_step,
)
from spacy_nmparse.analysis.tracer import Scored, Tracer, changes
from spacy_nmparse.pipe.annotations import SPACE_LABEL, copy_tags, same_tokens
from spacy_nmparse.pipe.component import ParsingComponent
from spacy_nmparse.pipe.gold import Parse, word_parse
from spacy_nmparse.pipe.members import parser_of
from spacy_nmparse.pipe.roots import short_name
from spacy_nmparse.pipe.words import Words
from spacy_nmparse.scorers.hooks import hooks_of
from spacy_nmparse.systems import Action, Gold, State
from spacy_nmparse.systems.projective import lower

ALL = 1 << 30  # choices of a configuration: no fewer than there are


def prepared(nlp: Language, component: ParsingComponent, doc: Doc | str) -> Doc:
    """A fresh document as the component would get it in the pipeline.

    Of a Doc the tokens are taken, sentence starts where they were set without a parse, and tags
    where the component looks at them.
    """
    if isinstance(doc, str):
        fresh = nlp.make_doc(doc)
    else:
        preset = doc.has_annotation("SENT_START") and not doc.has_annotation("DEP")
        starts = [token.is_sent_start for token in doc] if preset else None
        fresh = same_tokens(doc, nlp.vocab, starts)
        if hooks_of(component.model).looks_at_tags(component.model):
            copy_tags(doc, fresh)
    for _, pipe in nlp.pipeline:
        if pipe is component:
            break
        fresh = pipe(fresh)
    return fresh


class Tracing:
    """Greedy search over one document, to be followed from any configuration.

    Args: as those of ``derive``.
    """

    def __init__(
        self, component: ParsingComponent, doc: Doc, gold: Doc | Example | None = None
    ) -> None:
        words = Words.of([doc])
        tokens, self._constraints = words.tokens, words.constraints
        scorer = component.score_moves(words)
        if scorer is None:
            raise ValueError(f"There is no word in the document {doc.text!r}.")
        self.doc = doc
        self.component = component
        self.system = component.system
        self.tokens: list[int] = tokens.tolist()
        #: What the parser would learn (arcs lifted, if it lifts them), and the tree itself.
        self.gold: Gold | None = None
        self.gold_tree: Parse | None = None
        if gold is not None:
            reference = gold.reference if isinstance(gold, Example) else gold
            example = Example(doc, reference)
            self.gold = component.gold_reader.read(example, tokens, self._constraints)
            parse = word_parse(example, tokens)
            labels = [label and short_name(label) for label in parse.labels]
            self.gold_tree = parse._replace(labels=labels)
        self._tracer = Tracer(self.system, scorer, len(tokens))
        #: The configuration that the last call of ``steps`` or ``finish`` ended with.
        self.final = self.initial()

    def initial(self) -> State:
        """The initial configuration, under the document's preset sentence starts."""
        return self.system.initial(len(self.tokens), self._constraints.tolist())

    def moves(self, state: State) -> list[Scored]:
        """The legal moves as the model sees them, each with its best label."""
        return self._tracer.moves(state)

    def finish(
        self, state: State, decide: Callable[[State, list[Scored]], Scored] | None = None
    ) -> State:
        """Go on to the end, in place, without a record. `decide` takes one of a configuration's
        moves; by default the one that scores best."""

        def choose(here: State) -> tuple[Action, str | None]:
            moves = self.moves(here)
            best = best_of(moves) if decide is None else decide(here, moves)
            if self._ends_sentence(best.action):
                self._tracer.complete(here)
            return best.action, best.noted

        for _ in self.system.walk(state, choose):
            pass
        self._tracer.complete(state)
        self.final = state
        return state

    def steps(
        self, state: State, n_choices: int = 12, given: Iterable[Sequence[Any]] = ()
    ) -> Iterator[Step]:
        """Go on to the end, in place, step by step: by the given moves (as for ``derive``), then by
        the model's."""
        seen: list[Any] = []
        wanted = iter(given)

        def choose(here: State) -> tuple[Action, str | None]:
            moves = self.moves(here)
            if (one := next(wanted, None)) is None:
                best = best_of(moves)
            else:
                best = self._wanted(here, moves, one)
                key = best.action[:2]
                moves = [best if own.action[:2] == key else own for own in moves]
            judged = self._judged(here, moves)
            completed = list(self._completion(here)) if self._ends_sentence(best.action) else []
            seen[:] = completed, here.copy(), *judged
            return best.action, best.noted

        for action in self.system.walk(state, choose):
            completed, before, choices, least = seen
            yield from completed
            yield make_step(before, state, action, choices, least, n_choices)
        yield from self._completion(state)
        self.final = state

    def _wanted(self, state: State, moves: list[Scored], wanted: Sequence[Any]) -> Scored:
        """A given move as the model sees it, with its label."""
        found = next((one for one in moves if [*one.action[:2]] == [*wanted[:2]]), None)
        action = None
        if found is not None and len(wanted) == 2:
            costs = {} if self.gold is None else self.costs(state, moves)
            alike = [one for one in costs if one[:2] == found.action[:2]]
            cheapest = min(alike, key=lambda one: costs[one], default=found.action)
            same = costs.get(found.action) == costs.get(cheapest)
            action = found.action if same else cheapest
        elif found is not None and Action(*wanted) in self.system.actions(state):
            action = Action(*wanted)
        if found is None or action is None:
            legal = ", ".join(action_name(one.action) for one in moves)
            raise ValueError(f"The move {wanted!r} is not legal here. Legal moves: {legal}.")
        return found if action == found.action else found._replace(action=action, label_p=None)

    def _ends_sentence(self, action: Action) -> bool:
        return self.system.table[action.move].ends_sentence

    def _completion(self, state: State) -> Iterator[Step]:
        before = state.copy()
        self._tracer.complete(state)
        if changes(before, state):
            yield make_step(before, state, None, [], None, 0, COMPLETE)

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
        named = [SPACE_LABEL if label is None else label for label in labels]
        new_heads, plain = lower(heads, named)
        plain = [
            named[word] if new_heads[word] == word else label for word, label in enumerate(plain)
        ]
        new_labels: list[str | None] = list(map(short_name, plain))
        deleted, added = [], []
        for word, old in enumerate(zip(heads, named, strict=True)):
            new = new_heads[word], plain[word]
            if old != new:
                deleted.append(arc_of(word, *old))
                added.append(arc_of(word, *new))
        if not added:
            return new_heads, new_labels, None
        step = make_step(self.final, self.final, None, [], None, 0, LOWER, (added, deleted))
        return new_heads, new_labels, step


def traced(nlp: Language, golds: Iterable[Doc], name: str | None = None) -> Iterator[Tracing]:
    """The search over each of these gold documents that has words. They are not changed."""
    parser = parser_of(nlp, name)
    for gold in golds:
        if not all(token.is_space for token in gold):
            yield Tracing(parser, prepared(nlp, parser, gold), gold)


def least_costs(costs: dict[Action, float]) -> dict[tuple[str, int], float]:
    """The cost of each move and k with its best label."""
    least: dict[tuple[str, int], float] = {}
    for action, cost in costs.items():
        key = action.move, action.k
        least[key] = min(cost, least.get(key, cost))
    return least


def best_of(moves: Iterable[Scored]) -> Scored:
    """The move that the model likes best."""
    return max(moves, key=lambda one: one.score)  # of equal ones the first
