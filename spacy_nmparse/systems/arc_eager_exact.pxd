"""The exact loss of any arc-eager configuration, and costs as its differences."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SystemC


cdef struct ViewC:   # a configuration, told as the difference to a StateC
    int n_stack      # that many items of the state's stack,
    int pushed       # and then this word, or NONE
    bint headed      # whether it has a head: the item beneath it
    int label        # the label of that arc, or the label noted for it
    int b            # the next unread word
    bint closed      # BREAK has been made before it
    bint fresh       # it is the first word of its sentence, and nothing has been done
    bint has_left    # it has a dependent


cdef ViewC view(const StateC* s) noexcept nogil
cdef bint lost_if_popped(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int i, int e
) noexcept nogil
cdef int inner(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int e
) noexcept nogil
cdef int behind(const SystemC* system, const GoldC* gold, int e) noexcept nogil
cdef int last_child(const GoldC* gold, int w) noexcept nogil
cdef int exact_rest(const SystemC* system, const StateC* s, const GoldC* gold) noexcept nogil
cdef int exact_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int move, int label, int push_label
) noexcept nogil


cdef inline bint needs_exact(const SystemC* system, const GoldC* gold) noexcept nogil:
    """Whether the costs of single moves are not told by local differences alone."""
    return system.single_root and (
        not system.nonmonotonic_reduce or (system.segment and gold.unknown_starts)
    )
