"""The loss of arc-standard configurations by dynamic programming."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SystemC


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
