# Nothing of this module can be imported from Python; see leaves.pxd.
"""Errors in stack items when they leave the stack, by system.

Each function counts the errors in the i-th stack item when it leaves the stack before the word
``front`` is read, or, with ROOT for ``front``, at the end of the sentence.
"""
from spacy_nmparse.lab.crossing.spans cimport INFINITY
from spacy_nmparse.systems.arc_eager_exact cimport label_is_right
from spacy_nmparse.systems.arc_eager_options cimport eager
from spacy_nmparse.systems.errors cimport is_lost
from spacy_nmparse.systems.views cimport is_headed, stack_item


cdef int eager_leave(
    const StateC* s, const GoldC* gold, const ViewC* v, int i, int front
) noexcept nogil:
    """Arc-eager."""
    cdef int w = stack_item(s, v, i)
    cdef int g = gold.head[w]
    cdef bint headed = is_headed(s, v, i)
    cdef bint right = g == front and (not headed or s.system.nonmonotonic)
    if g == gold.n and i > 0 and s.system.single_root:
        right = False
    if i > 0 and g == stack_item(s, v, i - 1) and (
        headed or eager(s).nonmonotonic_reduce or (s.system.single_root and front == gold.n)
    ):
        return not label_is_right(s, gold, v, w)
    return is_lost(s, gold, w, right)


cdef int hybrid_leave(
    const StateC* s, const GoldC* gold, const ViewC* v, int i, int front
) noexcept nogil:
    """Arc-hybrid."""
    cdef int w = stack_item(s, v, i)
    cdef int g = gold.head[w]
    cdef bint right = g == front and (g < gold.n or i == 0 or not s.system.single_root)
    return is_lost(s, gold, w, right or (i > 0 and g == stack_item(s, v, i - 1)))


cdef int swift_leave(
    const StateC* s, const GoldC* gold, const ViewC* v, int i, int front
) noexcept nogil:
    """Arc-swift."""
    cdef int w = stack_item(s, v, i)
    cdef int g = gold.head[w]
    cdef bint right = g == front
    if is_headed(s, v, i):
        return 0
    if front == gold.n and i > 0 and s.system.single_root:
        right = False
        while i > 0 and not right:
            i -= 1
            right = g == stack_item(s, v, i)
            if not is_headed(s, v, i):
                break
    return is_lost(s, gold, w, right)


cdef int root_first_leave(
    const StateC* s, const GoldC* gold, const ViewC* v, int i, int front
) noexcept nogil:
    """Arc-eager with ROOT at the bottom of the stack."""
    cdef int w = stack_item(s, v, i)
    if is_headed(s, v, i):
        return INFINITY if i == 1 and s.system.single_root and front < gold.n else 0
    return INFINITY if front == gold.n else is_lost(s, gold, w, gold.head[w] == front)
