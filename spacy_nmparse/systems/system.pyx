"""The Python face of transition systems."""
from functools import cache, partial
from operator import index

from libc.stdlib cimport free

from spacy_nmparse.systems.configuration cimport State
from spacy_nmparse.systems.gold cimport Gold
from spacy_nmparse.systems.memory cimport allocate
from spacy_nmparse.systems.table cimport (
    CROSSES_LATER,
    DYNAMIC,
    LEARN_ANY,
    LEARN_LABEL,
    LEARN_NOT,
    NONE,
    STATIC,
    CandidateC,
    MoveC,
    MoveTable,
    apply_oracle,
    cost_of,
    label_fits,
    legal_moves,
    max_candidates,
    rest_loss,
)

from spacy_nmparse.systems.action import Action, Move
from spacy_nmparse.systems.parts import ROOT, Items
from spacy_nmparse.systems.names import COLOURS, GLOSSARY, MOVE_NAMES, ORACLE_NAMES
from spacy_nmparse.systems.reach import labelled_by, under


cdef enum:  # in a message
    SHOWN_MOVES = 12
    SHOWN_LETTERS = 300


cdef str shorten(str text):
    """A text for a message: its beginning, if it is long."""
    return text if len(text) <= SHOWN_LETTERS else f"{text[:SHOWN_LETTERS]} ..."


cdef MoveTable table_of(system):
    """The system, typed. Raises TypeError where it is none."""
    if not isinstance(system, MoveTable):
        raise TypeError("A system without moves: make systems by systems.create(name).")
    return system


cdef int label_id(MoveTable t, label) except? -2:
    if label is None:
        return 0 if t.labels is None else NONE
    if t.labels is None or label not in t.label_ids:
        raise ValueError(f"Label {label!r} is not among the system's labels {t.labels}.")
    return t.label_ids[label]


cdef str legal_here(MoveTable t, State state):
    """The moves that are legal, without labels, as a text that does not grow with the text."""
    found = dict.fromkeys((action.move, action.k) for action in t.actions(state))
    shown = ", ".join(f"{name} with k = {k}" for name, k in [*found][:SHOWN_MOVES])
    return f"{shown}, ..." if len(found) > SHOWN_MOVES else shown or "nothing"


cdef tuple legal_move(MoveTable t, State state, action):
    """(place in the table, k, label) of a legal action, in numbers; ValueError: it is none."""
    cdef int i, label
    try:
        if isinstance(action, str):
            raise TypeError
        name, k, label_name = action
        k = index(k)
    except (TypeError, ValueError):
        raise ValueError(f"An action is (move, k, label), not {action!r}.") from None
    label = label_id(t, label_name)
    if name not in t.moves:
        raise ValueError(f"{t.name} has no move {name!r}: its moves are {t.moves}.")
    i = t.moves.index(name)
    if not 1 <= k <= state.c.n + 1 or not is_legal(t, state, i, k, label):
        raise ValueError(
            f"{tuple(action)} is illegal in {shorten(repr(state))}; legal here: "
            f"{legal_here(t, state)}."
        )
    return i, k, label


cdef bint is_legal(MoveTable t, State state, int i, int k, int label):
    """Whether the i-th move of the table can be made with this k and label id."""
    cdef const MoveC* move = &t.c.moves[i]
    cdef int dependent
    if k < 1 or (k > 1 and move.next_k is NULL):
        return False
    if not move.precondition(&state.c, k):
        return False
    dependent = move.dependent(&state.c, k)
    if t.labels is None:
        return True
    if dependent == NONE:
        return label == NONE
    from_root = move.head(&state.c, k) == state.c.n
    return label != NONE and label_fits(&t.c, from_root, label)


cdef list expand(MoveTable t, State state, Gold gold, int oracle, int push_label, bint exact):
    """[(action, (cost, learn))] of the legal actions, labels spelled out. exact: costs above the
    least are wanted too."""
    cdef int n, i, label
    cdef CandidateC* c
    cdef CandidateC* candidates
    cdef bint from_root
    candidates = <CandidateC*>allocate(max_candidates(&t.c, state.c.n), sizeof(CandidateC))
    try:
        if gold is None:
            n = legal_moves(&state.c, candidates)
        else:
            n = apply_oracle(&state.c, &gold.c, oracle, push_label, exact, candidates)
        result = []
        for i in range(n):
            c = &candidates[i]
            name = MOVE_NAMES[t.c.moves[c.move].name]
            if c.dependent == NONE or t.labels is None:
                result.append((Action(name, c.k, None), (c.cost, c.learn != LEARN_NOT)))
                continue
            from_root = c.head == state.c.n
            for label in range(t.c.n_labels):
                if not label_fits(&t.c, from_root, label):
                    continue
                right = c.label == NONE or label == c.label
                result.append((
                    Action(name, c.k, t.label_names[label]),
                    (
                        c.cost if right else c.cost_other,
                        c.learn == LEARN_ANY or (c.learn == LEARN_LABEL and right),
                    ),
                ))
        return result
    finally:
        free(candidates)


class TransitionSystem:
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
    __slots__ = ()

    def _maker(self):
        """A function that makes such a system from labels and options."""
        cls = type(table_of(self))
        return partial(remake, bare(cls)) if bare(cls) else cls

    @property
    def moves(self):
        """Names of the moves, in the order of the move table."""
        cdef MoveTable t = table_of(self)
        return tuple(MOVE_NAMES[t.c.moves[i].name] for i in range(t.c.n_moves))

    @property
    def table(self):
        """The move table: a dict from names to ``Move``."""
        cdef MoveTable t = table_of(self)
        cdef const MoveC* move
        table = {}
        for i in range(t.c.n_moves):
            move = &t.c.moves[i]
            name = MOVE_NAMES[move.name]
            table[name] = Move(
                name, bool(move.labelled), bool(move.notes_label), bool(move.ends_sentence),
                move.crossing == CROSSES_LATER, t.features.get(name, ()), COLOURS.get(name),
            )
        return table

    @property
    def projective(self):
        """Whether no arcs of its trees cross."""
        cdef MoveTable t = table_of(self)
        return bool(t.c.projective)

    @property
    def headless(self):
        """Whether its final configurations may have headless words, which hang off ROOT then."""
        cdef MoveTable t = table_of(self)
        return t.c.focus is not NULL

    @property
    def has_costs(self):
        """Whether it tells costs and losses. A system without can be followed, and learned by a
        static oracle."""
        cdef MoveTable t = table_of(self)
        cdef int i
        return t.c.costs is not NULL or any([
            t.c.moves[i].cost is not NULL or t.c.moves[i].rest is not NULL
            for i in range(t.c.n_moves)
        ])

    @property
    def labels_roots(self):
        """Whether arcs from ROOT are moves, which have labels to choose; else what is headless at
        the end hangs off ROOT."""
        cdef MoveTable t = table_of(self)
        return bool(t.c.explicit_root or t.c.focus is NULL)

    @property
    def lookahead(self):
        """How many words, from the next unread one on, its preconditions look at (int)."""
        return 1

    def parts(self, State state not None):
        """The parts of a configuration that hold its words: dict from names to word numbers, as
        ``glossary`` names them, the buffer last. ROOT is ``systems.ROOT``. Stacks end with their
        top, a buffer begins with its front."""
        root = (ROOT,) if state.c.root_last else ()
        buffer = Items(state.returned, range(state.c.b, state.c.end), root)
        return {"stack": state.stack, "buffer": buffer}

    def details(self, State state not None):
        """More that tells configurations apart (dict from names to values); by default nothing."""
        return {}

    def hang_headless(self, heads, labels, starts):
        """Give a head to the words of a final configuration that have none, in place, as
        ``State.tree`` shows them. Systems without headless words have nothing to do.

        Args:
            heads: as in ``State.heads``.
            labels: as in ``State.labels``.
            starts: as in ``State.sent_starts``.
        """

    def within_reach(self, gold):
        """A gold tree without the arcs that no configuration can have: (``Gold``, number of arcs
        given up); by default the whole tree."""
        return gold, 0

    @property
    def oracles(self):
        """Names of the oracles that ``oracle`` and ``derivation`` take."""
        cdef MoveTable t = table_of(self)
        return tuple(
            name for i, name in enumerate(ORACLE_NAMES)
            if t.c.oracles[i] is not NULL and (i != DYNAMIC or self.has_costs)
        )

    def glossary(self):
        """Explanations of its moves and of the parts of its configurations, for readers of a
        derivation.

        Returns:
            dict from str to str, a sentence or two each: for the moves, as ``moves`` names them,
            and for the ``parts`` of a configuration. Moves of which a system says nothing have the
            line that came with their name (``new_move``).
        """
        cdef MoveTable t = table_of(self)
        moves = set(self.moves)
        texts = {name: text for name, text in GLOSSARY.items() if name in moves}
        others = set(MOVE_NAMES) - moves
        return texts | {name: text for name, text in t.texts.items() if name not in others}

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
        cdef MoveTable t = table_of(self)
        cdef State state
        cdef int w
        self._check_made()
        try:
            n = index(n)
        except TypeError:
            raise ValueError(f"A configuration has a whole number of words, not {n!r}.") from None
        state = State(n, self.label_names, self._form())
        state.bind(&t.c, self)
        if sent_starts is not None:
            if len(sent_starts) != n:
                raise ValueError(f"{n} words but {len(sent_starts)} sent_starts.")
            for w in range(n):
                if sent_starts[w] not in (-1, 0, 1):
                    raise ValueError(f"sent_starts takes 1, 0 or -1, not {sent_starts[w]!r}.")
                state.c.constraint[w] = sent_starts[w]
        t.c.start(&state.c)
        return state

    def actions(self, State state not None):
        """The legal actions, in the order of move table, k, labels.

        Raises:
            ValueError: a configuration of another system.
        """
        cdef MoveTable t = table_of(self)
        self.check_state(state)
        return [action for action, _ in expand(t, state, None, 0, NONE, True)]

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
        cdef MoveTable t = table_of(self)
        cdef int i, k, label, noted
        self.check_state(state)
        noted = label_id(t, push_label)
        i, k, label = legal_move(t, state, action)
        if noted != NONE and t.c.moves[i].notes_label and not label_fits(&t.c, False, noted):
            raise ValueError(
                f"push_label {push_label!r} is a root_label: a later move could give it to an "
                f"arc from a word."
            )
        t.c.moves[i].effect(&state.c, k, label, noted)

    def cost(self, State state not None, Gold gold not None, action, push_label=None):
        """The cost of one action (float), by the function that Cython code elsewhere calls.
        ``costs`` has those of all actions, in less time.

        Raises:
            ValueError: as ``costs``, and as ``apply``.
        """
        cdef MoveTable t = table_of(self)
        cdef int noted = label_id(t, push_label)
        cdef int i, k, label
        self._check_costs()
        gold, _ = self.check_gold(state, gold)
        i, k, label = legal_move(t, state, action)
        return float(cost_of(&state.c, &gold.c, i, k, label, noted))

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
        cdef MoveTable t = table_of(self)
        cdef int noted = label_id(t, push_label)
        self._check_costs()
        gold, _ = self.check_gold(state, gold)
        return {
            action: float(cost)
            for action, (cost, _) in expand(t, state, gold, DYNAMIC, noted, True)
        }

    def loss(self, State state not None, Gold gold not None):
        """The least loss of any final configuration that is reachable from state (float)."""
        cdef MoveTable t = table_of(self)
        cdef int errors
        self._check_costs()
        gold, errors = self.check_gold(state, gold)
        return float(t.c.loss(&state.c, &gold.c) + errors)

    def oracle(self, State state not None, Gold gold not None, name="dynamic", push_label=None):
        """The set of actions that the named oracle allows here.

        Raises:
            ValueError: an oracle that the system does not have; the rest as in ``costs``.
        """
        cdef MoveTable t = table_of(self)
        cdef int noted = label_id(t, push_label)
        cdef int number = self.oracle_id(name)
        gold, _ = self.check_gold(state, gold)
        return {
            action
            for action, (_, learn) in expand(t, state, gold, number, noted, False)
            if learn
        }

    def follow(self, State state not None, Gold gold not None, name="dynamic", push_label=None):
        """The action that the named oracle follows: the static oracle's, if it allows that, else
        the first that it allows.

        Raises:
            ValueError: as ``oracle``; or the configuration is final.
        """
        cdef MoveTable t = table_of(self)
        allowed = self.oracle(state, gold, name, push_label)
        if not allowed:
            raise ValueError(f"The {name} oracle allows nothing in {state!r} for {gold!r}.")
        if len(allowed) > 1 and t.c.oracles[STATIC] is not NULL:
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
        """The name of the non-monotonic move that a legal action is here (str), or None. Such a
        move deletes an arc, makes an arc that no monotonic system makes, or puts a word back into
        the buffer.

        Raises:
            ValueError: as ``apply``.
        """
        cdef MoveTable t = table_of(self)
        cdef const MoveC* move
        cdef int i, k
        self.check_state(state)
        i, k, _ = legal_move(t, state, action)
        move = &t.c.moves[i]
        if move.is_repair is not NULL and move.is_repair(&state.c, k):
            return t.repair_names.get(action[0], action[0])
        return None

    def oracle_id(self, name):
        """The number by which the learning code knows the named oracle (ValueError: no such)."""
        if name not in self.oracles:
            raise ValueError(f"{self.name} has no oracle {name!r}: it has {self.oracles}.")
        return ORACLE_NAMES.index(name)

    def _check_made(self):
        """Raises TypeError where the class has no moves, or has costs for some of them only."""
        cdef MoveTable t = table_of(self)
        cdef int i
        cdef const MoveC* move
        if t.c.start is NULL:
            raise TypeError("A system without moves: make systems by systems.create(name).")
        if not self.has_costs:
            return
        for i in range(t.c.n_moves):
            move = &t.c.moves[i]
            if t.c.costs is NULL and move.cost is NULL and move.rest is NULL:
                raise TypeError(
                    f"{self.name}: {MOVE_NAMES[move.name]} has no cost, and others have: give "
                    f"add_move its cost or its rest, or set c.costs."
                )
            if t.c.loss is rest_loss and t.c.rest is NULL and move.rest is NULL:
                raise TypeError(
                    f"{self.name} has costs and no loss: give each move its rest, or set c.rest or "
                    f"c.loss."
                )

    def _check_costs(self):
        """Raises TypeError where the system has no moves or no costs."""
        self._check_made()
        if not self.has_costs:
            raise TypeError(f"{self.name} has no costs: give each move its cost or its rest.")

    def check_state(self, State state not None):
        """Raises ValueError where the configuration was not made by a system like this one."""
        cdef MoveTable t = table_of(self)
        if state.owner is self:
            return
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
        state.bind(&t.c, self)

    def _has_configurations_of(self, MoveTable other not None):
        """Whether the configurations of the other system are of this one, too."""
        cdef MoveTable t = table_of(self)
        return t.is_like(other)

    def _form(self):
        """The form of its configurations (str): its name, and an option that changes them."""
        return self.name

    def check_gold(self, State state not None, Gold gold not None):
        """The part of the gold tree that the state's preset sentence starts, the system's reach and
        its root label allow, and the number of errors that these force."""
        cdef MoveTable t = table_of(self)
        cdef int i, w
        self.check_state(state)
        if gold.c.n != state.c.n:
            raise ValueError(f"The gold tree has {gold.c.n} words, the configuration {state.c.n}.")
        errors = 0
        if t.c.segment:
            for w in range(state.c.n):
                if state.c.constraint[w] != 0:
                    gold, errors = under(gold, [state.c.constraint[i] for i in range(state.c.n)])
                    break
        gold, given_up = self.within_reach(gold)
        errors += given_up
        if t.c.root_labels != NULL:
            roots = [label for label, root in zip(self.labels, t.root_mask) if root]
            gold, wrong = labelled_by(gold, roots)
            errors += wrong
        t.bind(gold)
        return gold, errors


@cache
def with_face(cls):
    """A class of move tables with the methods of ``TransitionSystem``."""
    if issubclass(cls, TransitionSystem):
        return cls
    names = {"__doc__": cls.__doc__, "__module__": cls.__module__, "_bare": cls, "__slots__": ()}
    return type(cls.__name__, (cls, TransitionSystem), names)


def bare(cls):
    """The class that ``with_face`` made this one of, or None: another way made it."""
    return vars(cls).get("_bare")


def remake(cls, labels, **options):
    """Make a system anew that was pickled."""
    return with_face(cls)(labels, **options)
