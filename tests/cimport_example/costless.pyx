# cython: language_level=3
"""A transition system with costs for some of its moves: `tests/test_cimport.py` compiles this."""
from spacy_nmparse.systems.arc_hybrid cimport can_left_arc, do_left_arc, shift_cost
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.moves cimport b0_end, can_shift, do_shift, root_last, s0_end
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.table cimport LEFT_ARC, SHIFT, MoveTable


cdef int no_loss(const StateC* s, const GoldC* gold) noexcept nogil:
    return 0


cdef class Costless(MoveTable):
    def __init__(self, labels=None, *, missing="loss", **options):
        self.begin("costless", options, {"missing": missing})
        self.c.start = root_last
        self.add_move(SHIFT, can_shift, do_shift, shift_cost, NULL)
        if missing == "cost":
            self.c.loss = no_loss
            self.add_move(LEFT_ARC, can_left_arc, do_left_arc, NULL, NULL, b0_end, s0_end)
