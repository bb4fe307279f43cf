"""What every search shares: scratch memory, choosing labels, and how sure it is.

The probability of a head is that of the move that attached the word, among the legal ones, times,
for every other configuration with moves that would attach the word, the probability of the legal
moves that do not. That of a label is its share among those of its move.
"""
from libc.math cimport exp
from libc.stdlib cimport calloc, free, malloc

from spacy_nmparse.scorers.features cimport n_crossed, n_headless_between
from spacy_nmparse.scorers.scorer cimport log_total
from spacy_nmparse.systems.state cimport B, S, state_block_size
from spacy_nmparse.systems.system cimport (
    CROSSES_BY_ARC,
    CROSSES_LATER,
    max_candidates,
)


# What the made move adds to 1 - elsewhere may be lost in rounding.
cdef float LEAST = 1e-6


cdef int scratch_init(
    ScratchC* scratch, const SystemC* system, const ScorerC* scorer, int max_words
) except -1:
    """Memory for one search at a time, over configurations of up to max_words words."""
    cdef size_t n = max(max_candidates(system, max_words), max_words)
    scratch.sure.head = NULL
    scratch.block = malloc(state_block_size(max_words))
    scratch.candidates = <CandidateC*>malloc(n * sizeof(CandidateC))
    scratch.scores = <float*>malloc(n * sizeof(float))
    scratch.values = <float*>malloc(n * sizeof(float))
    scratch.right = <float*>malloc(n * sizeof(float))
    scratch.logs = <double*>malloc(n * sizeof(double))
    scratch.labels = <float*>calloc(scorer.label_stride, sizeof(float))
    if (
        scratch.block == NULL or scratch.candidates == NULL or scratch.scores == NULL
        or scratch.values == NULL or scratch.right == NULL or scratch.logs == NULL
        or scratch.labels == NULL
    ):
        scratch_free(scratch)
        raise MemoryError(f"No memory to parse a sequence of {max_words} words.")
    return 0


cdef bint makes_crossing(
    const SystemC* system, const StateC* s, const CandidateC* c
) noexcept nogil:
    """Whether a move makes crossing arcs possible, or an arc that crosses one that is there or, as
    far as is known, one to come: a list system has passed the headless words between the ends by.
    """
    cdef int crossing = system.moves[c.move].crossing
    if crossing != CROSSES_BY_ARC:
        return crossing == CROSSES_LATER
    return (
        n_crossed(s, c.head, c.dependent) > 0 or n_headless_between(s, c.head, c.dependent) > 0
    )


cdef void score_moves(
    const SystemC* system, const ScorerC* scorer, const StateC* s, const CandidateC* candidates,
    int n, float* out
) noexcept nogil:
    """The scores of the n legal moves of a configuration, for a search."""
    cdef int i
    scorer.score(scorer.self, s, candidates, n, out)
    if scorer.crossing_bias != 0:
        for i in range(n):
            if makes_crossing(system, s, &candidates[i]):
                out[i] += scorer.crossing_bias


cdef float probability_of(const float* scores, int n, int skip, int which) noexcept nogil:
    """The probability of one entry by softmax; the entry `skip` gets none."""
    cdef int i
    cdef double total = 0
    for i in range(n):
        if i != skip:
            total += exp(<double>scores[i] - scores[which])
    return <float>(1 / total)


cdef inline int attached(
    const SystemC* system, const StateC* s, const CandidateC* c
) noexcept nogil:
    """The word that a move attaches, or NONE; it may not have a label to choose."""
    return system.moves[c.move].attached(system, s, c.k)


cdef bint is_only_word(const SystemC* system, const StateC* s) noexcept nogil:
    """Whether the sentence has one word, as far as its end is given: all moves leave it to ROOT."""
    return s.b == s.start and (
        s.b + 1 == s.n or (system.segment and s.constraint[s.b + 1] == 1)
    )


cdef void weigh(
    const SystemC* system, const StateC* s, const CandidateC* candidates, const float* scores,
    int n, float* elsewhere
) noexcept nogil:
    """Fill elsewhere: word of the sentence -> probability of the moves that attach it."""
    cdef double total
    cdef int i, w
    for w in range(s.start, min(s.b + 1, s.n)):
        elsewhere[w] = 0
    if n == 1 or is_only_word(system, s):
        return
    total = log_total(scores, n, NONE)
    for i in range(n):
        w = attached(system, s, &candidates[i])
        if w != NONE:
            elsewhere[w] += <float>exp(scores[i] - total)


cdef void keep(
    const SystemC* system, const StateC* s, const CandidateC* c, const float* elsewhere,
    const SureC* sure
) noexcept nogil:
    """Note, before a move, of whom other moves would have attached and it does not. A sentence does
    not depend on what was before it: its start says nothing of its first word."""
    cdef int taken = attached(system, s, c)
    cdef int last = s.b if system.moves[c.move].ends_sentence else min(s.b + 1, s.n)
    cdef int w
    for w in range(s.start, last):
        if w != taken and elsewhere[w] > 0:
            sure.kept[w] *= max(1 - elsewhere[w], LEAST)


cdef void look(const StateC* s, const CandidateC* c, MomentC* moment) noexcept nogil:
    """Note, before a move, whom it may attach."""
    cdef int i
    moment.words[0] = B(s, 0)
    moment.words[1] = S(s, 0)
    moment.words[2] = S(s, 1)
    moment.words[3] = c.dependent
    for i in range(4):
        if moment.words[i] == s.n:
            moment.words[i] = NONE
        moment.heads[i] = NONE if moment.words[i] == NONE else s.head[moment.words[i]]


cdef void note(
    const StateC* s, const CandidateC* c, const MomentC* moment, float move, float label,
    const SureC* sure
) noexcept nogil:
    """Note, after a move, how sure it was of whom it has attached: the probabilities of the move
    and of the label that it gave or noted."""
    cdef int i, w
    for i in range(4):
        w = moment.words[i]
        if w == NONE:
            continue
        if i == 3 or (s.head[w] != NONE and s.head[w] != moment.heads[i] and w != c.dependent):
            sure.head[w] = move
            sure.label[w] = label if i == 3 else sure.noted[w]
    w = moment.words[0]
    if w != NONE:  # the pushed word, in case
        sure.noted[w] = label


cdef void scratch_free(ScratchC* scratch) noexcept nogil:
    free(scratch.block)
    free(scratch.candidates)
    free(scratch.scores)
    free(scratch.values)
    free(scratch.right)
    free(scratch.logs)
    free(scratch.labels)


cdef int fixed_label(
    const SystemC* system, const StateC* s, const CandidateC* c
) noexcept nogil:
    """The label of the move's arc where the model has no choice, else NONE."""
    if system.n_labels == 1:
        return 0
    if system.root_label != NONE and c.head == s.n:
        return system.root_label
    if system.root_label != NONE and system.n_labels == 2:
        return 1 - system.root_label
    return NONE


cdef bint notes_label(
    const SystemC* system, const ScorerC* scorer, const StateC* s, const CandidateC* c
) noexcept nogil:
    """Whether the move is a push that notes a label, to be chosen by the model."""
    return (
        scorer.notes_labels and s.n_stack > 0 and system.n_labels > 1
        and system.moves[c.move].notes_label
    )


cdef bint is_forced(
    const SystemC* system, const ScorerC* scorer, const StateC* s, const CandidateC* c
) noexcept nogil:
    """Whether a sole candidate leaves the model nothing to score."""
    if c.dependent != NONE and fixed_label(system, s, c) == NONE:
        return False
    return not notes_label(system, scorer, s, c)
