"""A move of the arc-eager family, made to look at what follows, and taken back."""
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SystemC


cdef struct TrialC:
    StateC before   # its numbers; its arrays are those of the configuration at hand
    int name        # of the move
    int s0
    int s1
    int b0
    int x           # RIGHT-LOWER: the word that comes back to the stack; LEFT-INVERT: the new head;
    #                 LEFT-YIELD: the dependent
    int s0_head
    int s0_label
    int x_label
    int noted       # label noted for B0


cdef void make(StateC* s, int move, int label, int push_label, TrialC* t) noexcept nogil
cdef void take_back(StateC* s, const TrialC* t) noexcept nogil
