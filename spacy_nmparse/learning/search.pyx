"""What every search shares: scratch memory, and choosing labels."""
from libc.math cimport exp
from libc.stdlib cimport calloc, free, malloc

from spacy_nmparse.scorers.features cimport n_crossed, n_headless_between
from spacy_nmparse.systems.state cimport state_block_size
from spacy_nmparse.systems.system cimport (
    CROSSES_BY_ARC,
    CROSSES_LATER,
    max_candidates,
)


cdef int scratch_init(
    ScratchC* scratch, const SystemC* system, const ScorerC* scorer, int max_words
) except -1:
    """Memory for one search at a time, over configurations of up to max_words words."""
    cdef size_t n = max(max_candidates(system, max_words), max_words)
    scratch.head_share = NULL
    scratch.label_share = NULL
    scratch.noted_share = NULL
    scratch.block = malloc(state_block_size(max_words))
    scratch.candidates = <CandidateC*>malloc(n * sizeof(CandidateC))
    scratch.scores = <float*>malloc(n * sizeof(float))
    scratch.shares = <float*>malloc(n * sizeof(float))
    scratch.right = <float*>malloc(n * sizeof(float))
    scratch.logs = <double*>malloc(n * sizeof(double))
    scratch.labels = <float*>calloc(scorer.label_stride, sizeof(float))
    if (
        scratch.block == NULL or scratch.candidates == NULL or scratch.scores == NULL
        or scratch.shares == NULL or scratch.right == NULL or scratch.logs == NULL
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


cdef float share_of(const float* scores, int n, int skip, int which) noexcept nogil:
    """The probability of one entry by softmax; the entry `skip` gets none."""
    cdef int i
    cdef double total = 0
    for i in range(n):
        if i != skip:
            total += exp(<double>scores[i] - scores[which])
    return <float>(1 / total)


cdef void scratch_free(ScratchC* scratch) noexcept nogil:
    free(scratch.block)
    free(scratch.candidates)
    free(scratch.scores)
    free(scratch.shares)
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
