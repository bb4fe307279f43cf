"""What all transition systems share: the move table, the oracles, and the Python face."""
import re
from functools import cache, partial
from importlib.metadata import entry_points
from operator import index

from libc.stdlib cimport free

from spacy_nmparse.systems.memory cimport allocate
from spacy_nmparse.systems.state cimport state_alike, state_is_final

from spacy_nmparse.systems.action import Action, Move


cdef enum:  # in a message
    SHOWN_MOVES = 12
    SHOWN_LETTERS = 300


MOVE_NAMES = []         # by number
COLOURS = {}            # of moves by name
GLOSSARY = {}           # what a move does, by name, where it is the same in every system
ORACLE_NAMES = []       # by number


cpdef int new_move(str name, str colour=None, str glossary="") except -1:
    """Name a move. A name has the same number in every system; naming it again changes nothing.

    Args:
        name: as ``Action.move`` has it.
        colour: of the move in pictures and pages, as ``#rrggbb``; None: grey.
        glossary: what it does, a sentence or two.

    Returns:
        Its number, for ``TransitionSystem.add_move``.

    Raises:
        ValueError: no name, or no colour.
    """
    if not re.fullmatch("[A-Z]+(-[A-Z]+)*", name):
        raise ValueError(f"The name of a move is capitals and hyphens, as LEFT-ARC, not {name!r}.")
    if colour is not None and not re.fullmatch("#[0-9a-f]{6}", colour):
        raise ValueError(f"The colour of {name} is #rrggbb, not {colour!r}.")
    if name not in MOVE_NAMES:
        MOVE_NAMES.append(name)
        if colour is not None:
            COLOURS[name] = colour
        if glossary:
            GLOSSARY[name] = glossary
    return MOVE_NAMES.index(name)


cpdef int new_oracle(str name) except -1:
    """Name an oracle. A name has the same number in every system.

    Returns:
        Its number: the place of its function in ``SystemC.oracles``.

    Raises:
        ValueError: there are too many.
    """
    if name not in ORACLE_NAMES:
        if len(ORACLE_NAMES) == MAX_ORACLES:
            raise ValueError(f"No oracle {name!r}: there are {MAX_ORACLES} oracles already.")
        ORACLE_NAMES.append(name)
    return ORACLE_NAMES.index(name)


# In the order of the numbers in system.pxd.
new_move("SHIFT", "#4b5563")
new_move("REDUCE", "#7c3aed")
new_move("LEFT-ARC", "#2563eb")
new_move("RIGHT-ARC", "#059669")
new_move("NO-ARC")
new_move("SWAP", "#dc2626")
new_move("BREAK", "#b45309")
for _name in (
    "dynamic", "static", "monotonic", "combined", "eager", "lazy", "minimal", "nd_sw", "nd_all"
):
    new_oracle(_name)


cdef int no_arc(const StateC* s, int k) noexcept nogil:
    """The end of the arc of a move that makes none."""
    return NONE


@cache
def oracles_of(str name):
    """What gives the system of that name more oracles: functions that installed packages bring by
    entry points of the group ``spacy_nmparse_oracles``, named as ``arc_eager.paper``."""
    return tuple(
        point.load() for point in entry_points(group="spacy_nmparse_oracles")
        if point.name.partition(".")[0] == name
    )


cdef str shorten(str text):
    """A text for a message: its beginning, if it is long."""
    return text if len(text) <= SHOWN_LETTERS else f"{text[:SHOWN_LETTERS]} ..."


cdef class TransitionSystem:
    """A transition system: what the moves are, when they are legal, what they do and cost.

    Made by ``systems.create(name, labels=..., **options)``. Stateless: a configuration is a
    ``State``, a gold tree a ``Gold``.

    Args:
        labels: its dependency labels; None makes it unlabelled.
        **options: its own, and those that every system has. ``single_root``: one child of ROOT in
            each sentence. ``segment``: BREAK splits documents into sentences. ``root_label``: the
            label that arcs from ROOT, and they alone, take, or a sequence of such labels (None: any
            label).
    """
    def __cinit__(self, labels=None, *args, **kwargs):
        if isinstance(labels, str):
            raise ValueError(f"Labels are a sequence of strings, not the string {labels!r}.")
        if labels is not None:
            labels = tuple(labels)
            for label in labels:
                if not isinstance(label, str) or not label:
                    raise ValueError(f"Labels must be non-empty strings, not {label!r}.")
            if len(set(labels)) != len(labels) or not labels:
                raise ValueError(f"Labels must be distinct and at least one: {labels}.")
        self.labels = labels
        self.label_names = (None,) if labels is None else labels
        self.label_ids = None if labels is None else {l: i for i, l in enumerate(labels)}
        self.c.n_labels = len(self.label_names)
        self.options = {}
        self.repair_names = {}
        self.features = {}
        self.texts = {}
        self.c.root_label = NONE
        self.c.noted_arc = NONE
        self.c.is_final = state_is_final
        self.c.alike = state_alike
        self.c.cost = formula_cost
        self.c.oracles[DYNAMIC] = learn_cheapest

    cdef int begin(self, str name, dict shared, dict own=None) except -1:
        """Take the name and the options, those that every system has and its own: the first thing
        that the constructor of a system does.

        Raises:
            TypeError: an option that is none, or the system is made already.
            ValueError: a root_label that is none of the labels, or no label is left for others.
        """
        if self.name is not None:
            raise TypeError(f"{self!r} is made already: make another one by systems.create(name).")
        defaults = {**(own or {}), "single_root": False, "segment": False, "root_label": None}
        for option in shared:
            if option not in defaults:
                raise TypeError(f"{name} has no option {option!r}: it has {', '.join(defaults)}.")
        self.name = name
        self.options = {**defaults, **shared}
        self.c.single_root = self.options["single_root"] = bool(self.options["single_root"])
        self.c.segment = self.options["segment"] = bool(self.options["segment"])
        root_label = self.options["root_label"]
        if root_label is not None:
            roots = (root_label,) if isinstance(root_label, str) else tuple(root_label)
            for root in roots:
                if self.labels is None or root not in self.label_ids:
                    raise ValueError(f"root_label {root!r} is not among the labels {self.labels}.")
            if not roots or set(roots) == set(self.labels):
                raise ValueError("root_label needs another label as well, for the other arcs.")
            self.root_mask = bytes(label in roots for label in self.labels)
            self.c.root_label = self.label_ids[roots[0]]
            self.c.n_root_labels = len(set(roots))
            self.c.root_labels = self.root_mask
        for give in oracles_of(name):
            give(self)
        return 0

    cdef MoveC* add_move(
        self, int name, precondition_t precondition, effect_t effect, cost_t cost, rest_t rest,
        arc_end_t head=no_arc, arc_end_t dependent=no_arc, next_k_t next_k=NULL
    ) except NULL:
        """Add a move behind the last one of the table; what is not given can be set in what is
        returned."""
        cdef MoveC* move = &self.c.moves[self.c.n_moves]
        if self.c.n_moves == MAX_MOVES:
            raise ValueError(f"A system has at most {MAX_MOVES} moves.")
        move.name = name
        move.precondition = precondition
        move.effect = effect
        move.cost = cost
        move.rest = rest
        move.head = head
        move.dependent = dependent
        move.next_k = next_k
        move.attached = dependent
        move.labelled = dependent is not no_arc
        self.c.n_moves += 1
        return move

    cdef int add_break(
        self, precondition_t precondition, effect_t effect, cost_t cost, rest_t rest
    ) except -1:
        """Add BREAK, with the option ``segment``."""
        if self.c.segment:
            self.add_move(BREAK, precondition, effect, cost, rest).ends_sentence = True
        return 0

    cpdef int bind(self, Gold gold) except -1:
        """Give the gold tree what the system reads of it: labels by number, and its own tables.

        ``costs``, ``loss`` and ``oracle`` do this themselves. Cython code that calls cost functions
        does it first.

        Raises:
            ValueError: gold has a label that the system lacks.
        """
        gold.bind(self.label_names, self.label_ids)
        if self.c.derive is not NULL:
            self.c.derive(&gold.c, &self.c)
        return 0

    def __reduce__(self):
        return partial(type(self), self.labels, **self.options), ()

    def __repr__(self):
        options = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"<TransitionSystem {self.name} labels={self.labels}{options}>"

    @property
    def moves(self):
        """Names of the moves, in the order of the move table."""
        return tuple(MOVE_NAMES[self.c.moves[i].name] for i in range(self.c.n_moves))

    @property
    def table(self):
        """The move table: a dict from names to ``Move``."""
        cdef const MoveC* move
        table = {}
        for i in range(self.c.n_moves):
            move = &self.c.moves[i]
            name = MOVE_NAMES[move.name]
            table[name] = Move(
                name, bool(move.labelled), bool(move.notes_label), bool(move.ends_sentence),
                move.crossing == CROSSES_LATER, self.features.get(name, ()), COLOURS.get(name),
            )
        return table

    @property
    def projective(self):
        """Whether no arcs of its trees cross."""
        return bool(self.c.projective)

    @property
    def headless(self):
        """Whether its final configurations may have headless words, which hang off ROOT then."""
        return bool(self.c.headless)

    @property
    def labels_roots(self):
        """Whether arcs from ROOT are moves, which have labels to choose; else what is headless at
        the end hangs off ROOT."""
        return bool(self.c.explicit_root or not self.c.headless)

    @property
    def lookahead(self):
        """How many words, from the next unread one on, its preconditions look at (int)."""
        return 1

    @property
    def oracles(self):
        """Names of the oracles that ``oracle`` and ``derivation`` take."""
        return tuple(
            name for i, name in enumerate(ORACLE_NAMES) if self.c.oracles[i] is not NULL
        )

    def glossary(self):
        """What its moves do, and what the parts of its configurations hold, for readers of a
        derivation.

        Returns:
            dict from str to str, a sentence or two each: for the moves, as ``moves`` names them,
            and for "stack", "buffer", "lambda1" and "lambda2", those that it has. Moves of which
            a system says nothing have the line that came with their name (``new_move``).
        """
        moves = set(self.moves)
        texts = {name: text for name, text in GLOSSARY.items() if name in moves}
        others = set(MOVE_NAMES) - moves
        return texts | {name: text for name, text in self.texts.items() if name not in others}

    def initial(self, n, sent_starts=None):
        """The initial configuration over n words.

        Args:
            n: number of words, at least 1.
            sent_starts: for each word 1 (must start a sentence), -1 (must not) or 0 (free), as in
                spaCy; heeded by systems made with ``segment=True``.

        Raises:
            ValueError: n is no whole number from 1 on, or sent_starts have another length or other
                values.
        """
        cdef State state
        cdef int w
        self._check_made()
        try:
            n = index(n)
        except TypeError:
            raise ValueError(f"A configuration has a whole number of words, not {n!r}.") from None
        state = State(n, self.label_names, self._form())
        state.bind(&self.c, self)
        if sent_starts is not None:
            if len(sent_starts) != n:
                raise ValueError(f"{n} words but {len(sent_starts)} sent_starts.")
            for w in range(n):
                if sent_starts[w] not in (-1, 0, 1):
                    raise ValueError(f"sent_starts takes 1, 0 or -1, not {sent_starts[w]!r}.")
                state.c.constraint[w] = sent_starts[w]
        self.c.start(&state.c)
        return state

    def actions(self, State state not None):
        """The legal actions, in the order of move table, k, labels.

        Raises:
            ValueError: a configuration of another system.
        """
        self.check_state(state)
        return [action for action, _ in self.expand(state, None, 0, NONE, True)]

    def apply(self, State state not None, action, push_label=None):
        """Apply an action in place.

        Args:
            state: the configuration to change.
            action: an ``Action`` or a (move, k, label) tuple.
            push_label: for a push, the label that a later non-monotonic REDUCE of the word gives.

        Raises:
            ValueError: the action is illegal here or is none, a label is not the system's, SHIFT
                is to note the root_label, or a configuration of another system.
        """
        cdef int i, k, label, noted
        self.check_state(state)
        noted = self._label_id(push_label)
        i, k, label = self.legal_move(state, action)
        if noted != NONE and self.c.moves[i].notes_label and not label_fits(&self.c, False, noted):
            raise ValueError(
                f"push_label {push_label!r} is a root_label: a later move could give it to an "
                f"arc from a word."
            )
        self.c.moves[i].effect(&state.c, k, label, noted)

    def cost(self, State state not None, Gold gold not None, action, push_label=None):
        """The cost of one action (float), by the function that Cython code elsewhere calls.
        ``costs`` has those of all actions, in less time.

        Raises:
            ValueError: as ``costs``, and as ``apply``.
        """
        cdef int noted = self._label_id(push_label)
        cdef int i, k, label
        gold, _ = self.check_gold(state, gold)
        i, k, label = self.legal_move(state, action)
        return float(self.c.cost(&state.c, &gold.c, i, k, label, noted))

    def costs(self, State state not None, Gold gold not None, push_label=None):
        """Cost of each legal action: the loss it adds to what is still reachable.

        Args:
            state: the configuration.
            gold: the gold tree, over as many words.
            push_label: the label that a push made here would note.

        Returns:
            dict from ``Action`` to float.

        Raises:
            ValueError: gold has another length or labels that the system lacks, or a configuration
                of another system.
        """
        cdef int noted = self._label_id(push_label)
        gold, _ = self.check_gold(state, gold)
        return {
            action: float(cost)
            for action, (cost, _) in self.expand(state, gold, DYNAMIC, noted, True)
        }

    def loss(self, State state not None, Gold gold not None):
        """The least loss of any final configuration that is reachable from state (float)."""
        cdef int errors
        gold, errors = self.check_gold(state, gold)
        return float(self.c.loss(&state.c, &gold.c) + errors)

    def oracle(self, State state not None, Gold gold not None, name="dynamic", push_label=None):
        """The set of actions that the named oracle allows here.

        Raises:
            ValueError: an oracle that the system does not have; the rest as in ``costs``.
        """
        cdef int noted = self._label_id(push_label)
        cdef int number = self.oracle_id(name)
        gold, _ = self.check_gold(state, gold)
        return {
            action
            for action, (_, learn) in self.expand(state, gold, number, noted, False)
            if learn
        }

    def follow(self, State state not None, Gold gold not None, name="dynamic", push_label=None):
        """The one action by which the named oracle goes on: of those that it allows the static
        oracle's, if that is among them, else the first.

        Raises:
            ValueError: as ``oracle``; or the configuration is final.
        """
        allowed = self.oracle(state, gold, name, push_label)
        if not allowed:
            raise ValueError(f"The {name} oracle allows nothing in {state!r} for {gold!r}.")
        if len(allowed) > 1 and self.c.oracles[STATIC] is not NULL:
            allowed = allowed & self.oracle(state, gold, "static", push_label) or allowed
        return next(action for action in self.actions(state) if action in allowed)

    def derivation(self, Gold gold not None, oracle="dynamic"):
        """A full list of actions: those that the oracle follows (see ``follow``).

        Raises:
            ValueError: as ``oracle``.
        """
        state = self.initial(len(gold))
        return list(self.walk(state, lambda here: (self.follow(here, gold, oracle), None)))

    def walk(self, State state not None, choose):
        """Go on to the end, or until no action is chosen; yields each action after making it.

        Args:
            state: where to begin; changed in place.
            choose: from a configuration to the action and the label that a push of it notes, or to
                None.

        Raises:
            ValueError: as ``apply``.
        """
        while not state.is_final:
            chosen = choose(state)
            if chosen is None:
                return
            self.apply(state, *chosen)
            yield chosen[0]

    def repair(self, State state not None, action):
        """The name of the non-monotonic move that a legal action is here (str), or None: it deletes
        an arc, makes one that no monotonic system has, or puts a word back into the buffer.

        Raises:
            ValueError: as ``apply``.
        """
        cdef const MoveC* move
        cdef int i, k
        self.check_state(state)
        i, k, _ = self.legal_move(state, action)
        move = &self.c.moves[i]
        if move.is_repair is not NULL and move.is_repair(&state.c, k):
            return self.repair_names.get(action[0], action[0])
        return None

    def oracle_id(self, name):
        """The number by which the learning code knows the named oracle (ValueError: no such)."""
        if name not in self.oracles:
            raise ValueError(f"{self.name} has no oracle {name!r}: it has {self.oracles}.")
        return ORACLE_NAMES.index(name)

    def _label_id(self, label):
        if label is None:
            return 0 if self.labels is None else NONE
        if self.labels is None or label not in self.label_ids:
            raise ValueError(f"Label {label!r} is not among the system's labels {self.labels}.")
        return self.label_ids[label]

    def _check_made(self):
        """Raises TypeError where the class has not set what costs and losses need."""
        cdef int i
        cdef const MoveC* move
        if self.c.start is NULL:
            raise TypeError("A system without moves: make systems by systems.create(name).")
        if self.c.loss is NULL:
            raise TypeError(
                f"{self.name} has no costs: call use_differences, or set c.loss and c.cost."
            )
        for i in range(self.c.n_moves):
            move = &self.c.moves[i]
            if move.cost is NULL and (self.c.formulas or self.c.cost is formula_cost):
                raise TypeError(
                    f"{self.name}: {MOVE_NAMES[move.name]} has no cost: give add_move one, or call "
                    f"use_differences without use_formulas, or set c.cost."
                )
            if move.rest is NULL and self.c.differences:
                raise TypeError(
                    f"{self.name}: {MOVE_NAMES[move.name]} has no rest, which use_differences "
                    f"needs: give add_move one."
                )

    cdef bint is_like(self, TransitionSystem other):
        """Whether the other system is this one, or has its class, labels and options."""
        return other is self or (
            type(other) is type(self) and other.labels == self.labels
            and other.options == self.options
        )

    cdef int check_state(self, State state) except -1:
        """Raises ValueError where the configuration was not made by a system like this one."""
        if state.owner is self:
            return 0
        self._check_made()
        if state.owner is None or not (
            self._has_configurations_of(state.owner) or state.owner._has_configurations_of(self)
        ):
            other, own = state.system, self._form()
            if other == own:
                other, own = shorten(repr(state.owner)), shorten(repr(self))
            raise ValueError(
                f"A configuration of {other} is none of {own}: make it by initial(n_words) of that "
                f"system."
            )
        state.bind(&self.c, self)
        return 0

    def _has_configurations_of(self, TransitionSystem other not None):
        """Whether the configurations of the other system are of this one, too."""
        return self.is_like(other)

    def _form(self):
        """What its configurations are of (str): its name, and an option that changes them."""
        return self.name

    def _legal_here(self, State state):
        """The moves that are legal, without labels, as a text that does not grow with the text."""
        found = dict.fromkeys((action.move, action.k) for action in self.actions(state))
        shown = ", ".join(f"{name} with k = {k}" for name, k in [*found][:SHOWN_MOVES])
        return f"{shown}, ..." if len(found) > SHOWN_MOVES else shown or "nothing"

    cdef tuple check_gold(self, State state, Gold gold):
        """The gold tree under the state's preset sentence starts, the system's limit of lengths and
        its root label, and the errors they force."""
        cdef int w
        self.check_state(state)
        if gold.c.n != state.c.n:
            raise ValueError(f"The gold tree has {gold.c.n} words, the configuration {state.c.n}.")
        errors = 0
        if self.c.segment:
            for w in range(state.c.n):
                if state.c.constraint[w] != 0:
                    gold, errors = gold.under([state.c.constraint[i] for i in range(state.c.n)])
                    break
        if self.c.max_length:
            gold, too_long = gold.within(self.c.max_length)
            errors += too_long
        if self.c.root_labels != NULL:
            roots = [label for label, root in zip(self.labels, self.root_mask) if root]
            gold, wrong = gold.labelled_by(roots)
            errors += wrong
        self.bind(gold)
        return gold, errors

    cdef tuple legal_move(self, State state, action):
        """(place in the table, k, label) of a legal action, in numbers; ValueError: it is none."""
        cdef int i, label
        try:
            if isinstance(action, str):
                raise TypeError
            name, k, label_name = action
            k = index(k)
        except (TypeError, ValueError):
            raise ValueError(f"An action is (move, k, label), not {action!r}.") from None
        label = self._label_id(label_name)
        if name not in self.moves:
            raise ValueError(f"{self.name} has no move {name!r}: its moves are {self.moves}.")
        i = self.moves.index(name)
        if not 1 <= k <= state.c.n + 1 or not self.is_legal(state, i, k, label):
            raise ValueError(
                f"{tuple(action)} is illegal in {shorten(repr(state))}; legal here: "
                f"{self._legal_here(state)}."
            )
        return i, k, label

    cdef bint is_legal(self, State state, int i, int k, int label):
        """Whether the i-th move of the table can be made with this k and label id."""
        cdef const MoveC* move = &self.c.moves[i]
        cdef int dependent
        if k < 1 or (k > 1 and move.next_k is NULL):
            return False
        if not move.precondition(&state.c, k):
            return False
        dependent = move.dependent(&state.c, k)
        if self.labels is None:
            return True
        if dependent == NONE:
            return label == NONE
        from_root = move.head(&state.c, k) == state.c.n
        return label != NONE and label_fits(&self.c, from_root, label)

    cdef list expand(self, State state, Gold gold, int oracle, int push_label, bint exact):
        """[(action, (cost, learn))] of the legal actions, labels spelled out. exact: costs above
        the least are wanted too."""
        cdef int n, i, label
        cdef CandidateC* c
        cdef CandidateC* candidates
        cdef bint from_root
        candidates = <CandidateC*>allocate(
            max_candidates(&self.c, state.c.n), sizeof(CandidateC)
        )
        try:
            if gold is None:
                n = legal_moves(&state.c, candidates)
            else:
                n = apply_oracle(&state.c, &gold.c, oracle, push_label, exact, candidates)
            result = []
            for i in range(n):
                c = &candidates[i]
                name = MOVE_NAMES[self.c.moves[c.move].name]
                if c.dependent == NONE or self.labels is None:
                    result.append((Action(name, c.k, None), (c.cost, c.learn != LEARN_NOT)))
                    continue
                from_root = c.head == state.c.n
                for label in range(self.c.n_labels):
                    if not label_fits(&self.c, from_root, label):
                        continue
                    right = c.label == NONE or label == c.label
                    result.append((
                        Action(name, c.k, self.label_names[label]),
                        (
                            c.cost if right else c.cost_other,
                            c.learn == LEARN_ANY or (c.learn == LEARN_LABEL and right),
                        ),
                    ))
            return result
        finally:
            free(candidates)
