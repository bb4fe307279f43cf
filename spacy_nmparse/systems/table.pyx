"""A transition system as search and learning see it: a table of moves, and labels."""
from functools import cache, partial
from importlib.metadata import entry_points

from spacy_nmparse.systems.state cimport state_alike, state_is_final


cdef int no_arc(const StateC* s, int k) noexcept nogil:
    """The end of the arc of a move that makes none."""
    return NONE


@cache
def oracles_of(str name):
    """Functions of installed packages that give the system of that name more oracles: entry points
    of the group ``spacy_nmparse_oracles``, named as ``arc_eager.paper``."""
    return tuple(
        point.load() for point in entry_points(group="spacy_nmparse_oracles")
        if point.name.partition(".")[0] == name
    )


cdef class MoveTable:
    """The moves of a transition system, in C, its labels and its options.

    A system is a subclass whose constructor calls ``begin`` and adds the moves. ``systems.create``
    gives it the methods of ``TransitionSystem``.

    Args:
        labels: the dependency labels; None makes the system unlabelled.

    Raises:
        ValueError: labels that are not distinct, non-empty strings.
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
        self.options = {}
        self.labels = labels
        self.label_names = (None,) if labels is None else labels
        self.label_ids = None if labels is None else {l: i for i, l in enumerate(labels)}
        self.c.n_labels = len(self.label_names)
        self.c.noted_arc = NONE
        self.c.is_final = state_is_final
        self.c.alike = state_alike
        self.c.loss = rest_loss
        self.c.oracles[DYNAMIC] = learn_cheapest
        self.repair_names = {}
        self.features = {}
        self.texts = {}

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

    def __reduce__(self):
        return partial(self._maker(), self.labels, **self.options), ()

    def __repr__(self):
        options = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"<TransitionSystem {self.name} labels={self.labels}{options}>"

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

    cdef bint is_like(self, MoveTable other):
        """Whether the other system is this one, or has its class, labels and options."""
        return other is self or (
            type(other) is type(self) and other.labels == self.labels
            and other.options == self.options
        )
