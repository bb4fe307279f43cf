"""Several scorers of one system that decide together: the score of a choice is the mean of the
logarithms of the probabilities that they give it. For parsing; each is trained by itself.
"""
from libc.stdlib cimport free, realloc

from spacy_nmparse.scorers.scorer cimport Scorer, ScorerC
from spacy_nmparse.scorers.softmax cimport log_total
from spacy_nmparse.systems.memory cimport allocate
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.system cimport CandidateC, TransitionSystem, max_candidates


cdef struct EnsembleC:
    int n
    const ScorerC** members
    int n_labels
    int left_out
    float* scores               # of one member
    int* tickets                # place -> that of each member


cdef void add_log_p(
    const float* scores, int n, int skip, int n_members, float* out
) noexcept nogil:
    """Add log softmax of the scores, divided by n_members; the entry `skip` has none."""
    cdef int i
    cdef double total = log_total(scores, n, skip)
    for i in range(n):
        out[i] += <float>((scores[i] - total) / n_members)


cdef void begin(void* scorer, int first_row, int offset) noexcept nogil:
    cdef EnsembleC* self = <EnsembleC*>scorer
    cdef int i
    for i in range(self.n):
        self.members[i].begin(self.members[i].self, first_row, offset)


cdef void score(
    void* scorer, const StateC* s, const CandidateC* candidates, int n, float* out
) noexcept nogil:
    cdef EnsembleC* self = <EnsembleC*>scorer
    cdef int i
    for i in range(n):
        out[i] = 0
    for i in range(self.n):
        self.members[i].score(self.members[i].self, s, candidates, n, self.scores)
        add_log_p(self.scores, n, NONE, self.n, out)


cdef int score_labels(
    void* scorer, const StateC* s, const CandidateC* c, bint remember, float* out
) noexcept nogil:
    cdef EnsembleC* self = <EnsembleC*>scorer
    cdef int i
    for i in range(self.n_labels):
        out[i] = 0
    for i in range(self.n):
        self.members[i].score_labels(self.members[i].self, s, c, False, self.scores)
        add_log_p(self.scores, self.n_labels, self.left_out, self.n, out)
    return NONE


cdef void score_noted(void* scorer, const StateC* s, float* out) noexcept nogil:
    cdef EnsembleC* self = <EnsembleC*>scorer
    cdef int i
    for i in range(self.n_labels):
        out[i] = 0
    for i in range(self.n):
        self.members[i].score_noted(self.members[i].self, s, self.scores)
        add_log_p(self.scores, self.n_labels, self.left_out, self.n, out)


cdef int keep(void* scorer, int place) noexcept nogil:
    cdef EnsembleC* self = <EnsembleC*>scorer
    cdef int i
    for i in range(self.n):
        self.tickets[place * self.n + i] = self.members[i].keep(self.members[i].self, place)
    return place


cdef void recall(
    void* scorer, int ticket, const StateC* s, const CandidateC* candidates, int n
) noexcept nogil:
    cdef EnsembleC* self = <EnsembleC*>scorer
    cdef int i
    for i in range(self.n):
        self.members[i].recall(
            self.members[i].self, self.tickets[ticket * self.n + i], s, candidates, n
        )


cdef class EnsembleKernel(Scorer):
    """The scores of one batch by several scorers.

    Args:
        members: their scores of the batch; at least one.
        system: the transition system of all.

    Raises:
        ValueError: there are no members, or they score other words, labels or moves.
    """
    cdef EnsembleC e
    cdef list members

    def __cinit__(self, members, TransitionSystem system):
        cdef Scorer one
        cdef int i
        cdef size_t room
        self.members = list(members)
        if not self.members:
            raise ValueError("An ensemble needs at least one scorer.")
        for one in self.members:
            if one is None:
                raise TypeError("A member of an ensemble is a Scorer, not None.")
            one.check_system(system)
        self.system = system
        one = self.members[0]
        self.n_words = one.n_words
        self.c = one.c
        self.e.n = len(self.members)
        self.e.n_labels = one.c.n_labels
        self.e.left_out = one.c.left_out
        self.e.members = <const ScorerC**>allocate(self.e.n, sizeof(ScorerC*))
        room = max(max_candidates(&system.c, self.n_words), self.n_words, one.c.label_stride)
        self.e.scores = <float*>allocate(room, sizeof(float))
        self.lookahead = 0
        self.margin = 0
        for i in range(self.e.n):
            one = self.members[i]
            if (
                one.c.n_labels != self.e.n_labels or one.n_words != self.n_words
                or one.c.notes_labels != self.c.notes_labels
            ):
                raise ValueError("The scorers of an ensemble score different labels or words.")
            self.e.members[i] = &one.c
            self.lookahead = max(self.lookahead, one.lookahead)
            self.margin = max(self.margin, one.margin)
        self.c.self = &self.e
        self.c.begin = begin
        self.c.score = score
        self.c.score_labels = score_labels
        self.c.score_noted = score_noted
        self.c.learn = NULL
        self.c.label_gradient = NULL
        self.c.keep = keep
        self.c.recall = recall
        self.c.learn_tree = NULL
        self.c.note_example = NULL
        self.c.add = NULL

    def __dealloc__(self):
        free(self.e.members)
        free(self.e.scores)
        free(self.e.tickets)

    cdef int make_tables(self, int first, int last) except -1:
        cdef Scorer one
        for one in self.members:
            one.set_window(first, last)
        return 0

    cdef int make_places(self, int n) except -1:
        cdef Scorer one
        for one in self.members:
            one.make_places(n)
        tickets = <int*>realloc(self.e.tickets, n * self.e.n * sizeof(int))
        if tickets is NULL:
            raise MemoryError("No memory for the configurations of a beam.")
        self.e.tickets = tickets
        return 0

    def begin_learning(self, float dropout, seed):
        """An ensemble does not learn: ValueError."""
        raise ValueError("an ensemble does not learn; train its members by themselves")
