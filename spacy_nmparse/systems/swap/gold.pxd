"""What the swap system reads from a gold tree: projective order, components, the fewest SWAPs."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.system cimport SystemC


cdef int derive_swap(GoldC* gold, const SystemC* system) except -1
cdef void find_minimal(const GoldC* gold) noexcept nogil
cdef inline int step_of(int n_swaps, int b, int n_waiting, int n_stack) noexcept nogil:
    """How many moves, BREAKs aside, lead to a configuration."""
    return 2 * (b + n_swaps - n_waiting) - n_stack + 1


cdef bint is_minimal_swap(const GoldC* gold, int step) noexcept nogil
