"""P(head | word) of every word of a window, by a biaffine score of each arc."""
from libc.stddef cimport ptrdiff_t

from spacy_nmparse.systems.gold cimport GoldC


cdef enum:
    REACH = 64              # how many words away from a word its heads are normalized over
    HEADS = 2 * REACH + 2   # those words, the word itself and ROOT, which is the last


# Tables have one row for each word of the window, and a last one for ROOT. Of the two ends of an
# arc the earlier one (ROOT is before all words) has its vector in items, the later one in queries.
# LEFT and RIGHT: of arcs whose head is the later, the earlier one.
cdef struct TreeC:
    int width               # of the vectors
    int first_word          # the sequence's word whose rows come first in the tables
    int root_row
    const float* items      # (rows, 2, width): as dependent (LEFT), as head (RIGHT)
    const float* queries    # (rows, 2, width): as head (LEFT), as dependent (RIGHT); times U
    const float* log_total  # (rows,): log of the sum of exp of the scores of all heads
    const float* head_scores    # (rows, HEADS): scores of each word's heads
    const int* stretch      # (rows, 2): first and last + 1 row of the stretch that a word is in
    float* row              # (HEADS,): room for the scores of one word's heads
    float tree_weight       # of the loss that tree_learn adds
    float* d_log_total      # (rows,)
    float* d_items          # gradients, of the same shapes
    float* d_queries


cdef float far_log_p(const TreeC* tree, ptrdiff_t head, ptrdiff_t dependent) noexcept nogil
cdef void tree_learn_arc(
    TreeC* tree, ptrdiff_t head, ptrdiff_t dependent, float d_log_p
) noexcept nogil
cdef double tree_learn(TreeC* tree, const GoldC* gold) noexcept nogil


cdef inline float tree_log_p(
    const TreeC* tree, ptrdiff_t head, ptrdiff_t dependent
) noexcept nogil:
    """log P(head | dependent) of two rows."""
    cdef const float* scores = tree.head_scores + dependent * HEADS
    if head == tree.root_row:
        return scores[HEADS - 1] - tree.log_total[dependent]
    if (
        tree.stretch[2 * dependent] <= head < tree.stretch[2 * dependent + 1]
        and -REACH <= head - dependent <= REACH
    ):
        return scores[head - dependent + REACH] - tree.log_total[dependent]
    return far_log_p(tree, head, dependent)


cdef class TreeScores:
    cdef TreeC c
    cdef readonly int n_words
    cdef object items
    cdef object starts      # int32 (words, 2): the batch's words between which a word's stretch is
    cdef object U
    cdef list queries       # the weights that make queries of items, by side
    cdef object root
    cdef object tables      # of the window
    cdef object d_tables

    cdef int make_tables(self, int first, int last) except -1
    cdef int begin_learning(self) except -1
    cdef tuple gradients(self)
