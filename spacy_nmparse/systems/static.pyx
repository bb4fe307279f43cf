"""Static oracles: learn the wanted move, else the cheapest."""
from spacy_nmparse.systems.errors cimport label_counts
from spacy_nmparse.systems.table cimport LEARN_ANY, LEARN_LABEL, LEARN_NOT, STATIC


cdef void learn_wanted(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """Learn the move of the canonical derivation, a gold arc with its label; or, where that is not
    legal or another one costs less, the first of the cheapest moves."""
    cdef int best = first_cheapest(candidates, n)
    cdef int wanted = s.system.wanted(s, gold, candidates, n)
    cdef CandidateC* c
    if wanted != NONE and candidates[wanted].cost == candidates[best].cost:
        best = wanted
        c = &candidates[best]
        if c.label == NONE and label_counts(s, gold, c.head, c.dependent):
            c.label = gold.label[c.dependent]
    learn_only(candidates, n, best)


cdef void learn_first_cheapest(CandidateC* candidates, int n) noexcept nogil:
    learn_only(candidates, n, first_cheapest(candidates, n))


cdef int first_cheapest(const CandidateC* candidates, int n) noexcept nogil:
    cdef int i
    cdef int best = 0
    for i in range(1, n):
        if candidates[i].cost < candidates[best].cost:
            best = i
    return best


cdef void learn_only(CandidateC* candidates, int n, int best) noexcept nogil:
    cdef int i
    for i in range(n):
        candidates[i].learn = LEARN_NOT
    candidates[best].learn = LEARN_ANY if candidates[best].label == NONE else LEARN_LABEL


cdef void use_static(SystemC* system, wanted_t wanted) noexcept nogil:
    """Give a system the oracle ``static``: the canonical moves are those that ``wanted`` says."""
    system.wanted = wanted
    system.oracles[STATIC] = learn_wanted
