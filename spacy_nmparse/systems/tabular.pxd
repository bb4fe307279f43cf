"""The loss of arc-standard configurations by dynamic programming."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.system cimport SystemC, label_fits


cdef enum:
    MAX_SIDE = 64    # that many linked items on either side of the stack's top enter the table


cdef struct ViewC:   # a configuration, told as the difference to a StateC
    int below        # that many items of the state's stack, from the bottom,
    int top          # and this word on them, or NONE
    int b            # the next unread word
    bint closed      # BREAK has been made before it


cdef ViewC view(const StateC* s) noexcept nogil
cdef int rest(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v
) noexcept nogil
cdef int sentence_end(const StateC* s, const GoldC* gold, int b, int far) noexcept nogil


cdef inline int last_child(const GoldC* gold, int w) noexcept nogil:
    """The last gold dependent of w, or NONE."""
    cdef int end = gold.child_offset[w + 1]
    return gold.children[end - 1] if end > gold.child_offset[w] else NONE


cdef inline int far_end(const GoldC* gold, int w) noexcept nogil:
    """The last word that w has a gold arc with, or NONE."""
    cdef int g = gold.head[w]
    return max(last_child(gold, w), NONE if g == gold.n else g)


cdef inline bint can_be_right(const SystemC* system, const GoldC* gold, int w) noexcept nogil:
    """Whether an arc from the gold head of w may take the gold label."""
    return gold.label[w] == NONE or label_fits(system, gold.head[w] == gold.n, gold.label[w])
