"""A configuration of a list system, as the difference from a StateC, and its pending arcs."""
from spacy_nmparse.systems.covington.lists cimport N_LAMBDA1, options
from spacy_nmparse.systems.errors cimport label_ok
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.table cimport SystemC, label_fits


cdef struct ListViewC:
    int start
    int b
    int n_lambda1
    int head         # this arc has been added, in place of dependent's old one;
    int dependent    # or NONE
    int label
    int freed        # the arc into this word has been deleted; or NONE
    bint touched     # j has been compared with a word: no sentence can start there any more


cdef inline ListViewC list_view(const StateC* s) noexcept nogil:
    cdef ListViewC v
    v.start = s.start
    v.b = s.b
    v.n_lambda1 = s.numbers[N_LAMBDA1]
    v.head = NONE
    v.dependent = NONE
    v.label = NONE
    v.freed = NONE
    v.touched = False
    return v


cdef inline int head_of(const StateC* s, const ListViewC* v, int w) noexcept nogil:
    if w == v.dependent:
        return v.head
    return NONE if w == v.freed else s.head[w]


cdef inline bint label_is_right(
    const StateC* s, const GoldC* gold, const ListViewC* v, int w
) noexcept nogil:
    return label_ok(gold, w, v.label if w == v.dependent else s.label[w])


cdef inline bint in_lambda1(const StateC* s, const ListViewC* v, int w) noexcept nogil:
    return v.start <= w < v.start + v.n_lambda1 - s.system.explicit_root


cdef inline bint root_is_near(const StateC* s, const ListViewC* v, int w) noexcept nogil:
    """Whether an arc from ROOT to w can still be made."""
    return s.system.explicit_root and (w > v.b or (w == v.b and v.n_lambda1 > 0))


cdef inline bint is_pending(
    const StateC* s, const GoldC* gold, const ListViewC* v, int w, int e
) noexcept nogil:
    """Whether the gold arc into w from a word can still be built, in a sentence that ends at e."""
    cdef int g = gold.head[w]
    cdef int h = head_of(s, v, w)
    cdef int late
    if g == NONE or not v.start <= g < e or h == g or (h != NONE and not s.system.nonmonotonic):
        return False
    late = max(g, w)
    return late > v.b or (late == v.b and in_lambda1(s, v, min(g, w)))


cdef inline bint root_is_open(
    const StateC* s, const GoldC* gold, const ListViewC* v, int w, bint taken
) noexcept nogil:
    """Whether w, headless, can still become the child of ROOT that it should be. taken:
    single_root, and ROOT has a child."""
    if taken:
        return False
    if gold.label[w] == NONE or gold.label[w] == options(s).root_label:
        return True
    if not s.system.explicit_root:  # labels of roots are the system's, or none and not judged
        return options(s).root_label == NONE
    return label_fits(s.system, True, gold.label[w]) and root_is_near(s, v, w)


cdef inline bint is_right(
    const StateC* s, const GoldC* gold, const ListViewC* v, int w
) noexcept nogil:
    """Whether w has its gold head: an arc from it, or none if that is ROOT."""
    cdef int h = head_of(s, v, w)
    return gold.head[w] != NONE and (gold.head[w] == h or (gold.head[w] == s.n and h == NONE))
