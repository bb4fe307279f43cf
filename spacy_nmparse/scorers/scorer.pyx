"""The interface of scorers, as search and learning call it."""


cdef class Scorer:
    """The scores of one batch: made by a scorer's Thinc model, used by search and learning.

    Tables are made for a window of the batch's words at a time (``set_window``); sequences are
    scored one after the other (``begin``).
    """
    @property
    def crossing_bias(self):
        """What searches add to the scores of moves that make arcs cross (float)."""
        return self.c.crossing_bias

    @crossing_bias.setter
    def crossing_bias(self, float bias):
        self.c.crossing_bias = bias

    @property
    def label_rules(self):
        """Which labels searches may not give (``LabelRules`` or None)."""
        return self.rules

    @label_rules.setter
    def label_rules(self, LabelRules rules or None):
        self.rules = rules
        self.c.rules = NULL if rules is None else &rules.c

    cdef int check_system(self, MoveTable system) except -1:
        """Raise ValueError where these are not scores of the system's moves."""
        if self.system is not system and (self.system is None or not system.is_like(self.system)):
            raise ValueError(
                f"The scores are those of moves of {self.system!r}, not of {system!r}: let the "
                f"model of that system's parser make them."
            )
        system._check_made()
        return 0

    cdef int make_tables(self, int first, int last) except -1:
        raise NotImplementedError

    cdef int set_window(self, int first, int last) except -1:
        """Make the tables of the batch's words first .. last - 1."""
        self.make_tables(first, last)
        self.first_row = first
        self.last_row = last
        return 0

    cdef void begin(self, int offset) noexcept:
        """From now on configurations are those of the sequence that starts at the batch's word
        ``offset``."""
        self.c.begin(self.c.self, self.first_row, offset)

    cdef int make_places(self, int n) except -1:
        """Make room for n configurations to keep."""
        raise NotImplementedError

    cdef void set_learning(self, bint on) noexcept:
        """Between begin_learning and gradients: whether what is scored is remembered and has units
        dropped. Off, this is as fast as in parsing."""
        pass

    def begin_learning(self, float dropout, seed):
        """Remember from now on what is scored, and drop hidden units.

        Args:
            dropout: probability of dropping a hidden unit.
            seed: int that seeds the dropout.
        """
        raise NotImplementedError

    def gradients(self):
        """Back-propagate what has been learned to tables and weights; returns what the model's
        backward pass takes. Ends learning."""
        raise NotImplementedError
