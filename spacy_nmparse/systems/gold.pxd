"""The gold tree: heads, labels, sentence starts, and the tables derived from them once."""
from spacy_nmparse.systems.structs cimport NONE, CrossingC, GoldC, TablesC


cdef inline void* tables_of(const GoldC* gold, const void* owner) noexcept nogil:
    """The tables of this owner, or NULL: it has made none."""
    cdef TablesC* tables = gold.tables
    while tables != NULL and tables.owner != owner:
        tables = tables.next
    return NULL if tables == NULL else tables + 1


cdef void* new_tables(GoldC* gold, const void* owner, size_t size) except NULL


cdef inline int first_child(const GoldC* gold, int head, int first) noexcept nogil:
    """Where in gold.children the dependents of head from word ``first`` on begin."""
    cdef int low = gold.child_offset[head]
    cdef int high = gold.child_offset[head + 1]
    cdef int middle
    while low < high:
        middle = (low + high) // 2
        if gold.children[middle] < first:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline int children_from(const GoldC* gold, int head, int first) noexcept nogil:
    """How many gold dependents of head have a number >= first."""
    return gold.child_offset[head + 1] - first_child(gold, head, first)


cdef inline int last_child(const GoldC* gold, int w) noexcept nogil:
    """The last gold dependent of w, or NONE."""
    cdef int end = gold.child_offset[w + 1]
    return gold.children[end - 1] if end > gold.child_offset[w] else NONE


cdef inline int far_end(const GoldC* gold, int w) noexcept nogil:
    """The last word that w has a gold arc with, or NONE."""
    cdef int g = gold.head[w]
    return max(last_child(gold, w), NONE if g == gold.n else g)


cdef class Gold:
    cdef GoldC c
    cdef void* block
    cdef int* label_ids
    cdef readonly tuple heads
    cdef readonly tuple labels
    cdef readonly tuple sent_starts
    cdef tuple bound_to

    cdef int fill(self, int n) except -1
    cdef int check_tree(self) except -1
    cdef int bind(self, tuple label_names, dict label_ids) except -1
