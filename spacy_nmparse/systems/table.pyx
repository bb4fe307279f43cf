"""A transition system as search and learning see it: a table of moves, and labels."""
from spacy_nmparse.systems.structs cimport NONE


cdef class MoveTable:
    """The moves of a transition system, in C, and its labels. ``TransitionSystem`` fills it.

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
        self.c.root_label = NONE
        self.c.noted_arc = NONE

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
