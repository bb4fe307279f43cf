# cython: language_level=3
"""A transition system that lacks what costs need: `tests/test_cimport.py` compiles this."""
from spacy_nmparse.systems.arc_hybrid cimport shift_cost
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.moves cimport can_shift, do_shift, root_last
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SHIFT, TransitionSystem


cdef int no_loss(const StateC* s, const GoldC* gold) noexcept nogil:
    return 0


cdef class Costless(TransitionSystem):
    def __init__(self, labels=None, *, missing="loss", **options):
        self.begin("costless", options, {"missing": missing})
        self.c.start = root_last
        if missing == "cost":
            self.c.loss = no_loss
            self.add_move(SHIFT, can_shift, do_shift, NULL, NULL)
        else:
            self.add_move(SHIFT, can_shift, do_shift, shift_cost, NULL)
