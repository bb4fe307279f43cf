"""The biaffine model of Dozat & Manning (2017), as a part of a scorer.

    P(head | word) = softmax over near words and ROOT of h . U . d

h is the vector of the head as head, d that of the word as dependent; each direction of arcs has its
own U. The model does not see configurations. It compares an arc with all arcs that it rules out,
those to heads that are still to come included. It learns from the moves whose arcs it scores, and
from gold trees. Matrix products compute U . d and h . U for all words.
"""
import numpy

from libc.math cimport INFINITY, exp, log
from libc.string cimport memcpy

from spacy_nmparse.layers.kernels cimport nmp_add_scaled, nmp_dot
from spacy_nmparse.systems.state cimport NONE

from spacy_nmparse.layers.blas import matmul
from spacy_nmparse.layers.products import packed
from spacy_nmparse.scorers.hidden_layer import check_shapes


cdef inline void arc_places(
    const TreeC* tree, ptrdiff_t h, ptrdiff_t d, ptrdiff_t* item, ptrdiff_t* query
) noexcept nogil:
    """Where the vectors of an arc between two rows begin in items and queries."""
    cdef bint right = h == tree.root_row or h < d
    item[0] = (2 * (h if right else d) + right) * tree.width
    query[0] = (2 * (d if right else h) + right) * tree.width


cdef float far_log_p(const TreeC* tree, ptrdiff_t head, ptrdiff_t dependent) noexcept nogil:
    """log P(head | dependent), as if the head were one more."""
    cdef ptrdiff_t item, query
    arc_places(tree, head, dependent, &item, &query)
    return nmp_dot(
        tree.queries + query, tree.items + item, tree.width
    ) - tree.log_total[dependent]


cdef void tree_learn_arc(
    TreeC* tree, ptrdiff_t head, ptrdiff_t dependent, float d_log_p
) noexcept nogil:
    """Back-propagate tree_log_p; tree_learn does what is left."""
    cdef ptrdiff_t item, query
    arc_places(tree, head, dependent, &item, &query)
    tree.d_log_total[dependent] += d_log_p
    nmp_add_scaled(tree.d_queries + query, tree.items + item, d_log_p, tree.width)
    nmp_add_scaled(tree.d_items + item, tree.queries + query, d_log_p, tree.width)


cdef int score_heads(const TreeC* tree, int d, int* first, float* out) noexcept nogil:
    """Scores of all heads of row d: of the near words of its stretch, from row first[0] on, then of
    ROOT. Returns their number. Its own is -inf."""
    cdef int last = min(tree.stretch[2 * d + 1], d + REACH + 1)
    cdef int h
    cdef ptrdiff_t item, query
    first[0] = max(tree.stretch[2 * d], d - REACH)
    for h in range(first[0], last + 1):
        if h == d:
            out[h - first[0]] = -INFINITY
            continue
        arc_places(tree, tree.root_row if h == last else h, d, &item, &query)
        out[h - first[0]] = nmp_dot(tree.items + item, tree.queries + query, tree.width)
    return last + 1 - first[0]


cdef float log_sum(const float* scores, int n) noexcept nogil:
    cdef int m
    cdef float top = -INFINITY
    cdef float total = 0
    for m in range(n):
        top = max(top, scores[m])
    for m in range(n):
        total += <float>exp(scores[m] - top)
    return top + <float>log(total)


cdef double tree_learn(TreeC* tree, const GoldC* gold) noexcept nogil:
    """Every word chooses its head among the near words and ROOT. Returns the loss. Also
    back-propagates what tree_learn_arc has left in d_log_total."""
    cdef int w, d, g, m, n, first
    cdef bint known
    cdef ptrdiff_t item, query
    cdef float total, share
    cdef double loss = 0
    for w in range(gold.n):
        d = w - tree.first_word
        n = score_heads(tree, d, &first, tree.row)
        total = log_sum(tree.row, n)
        g = NONE
        if gold.head[w] == gold.n:
            g = n - 1
        elif gold.head[w] != NONE:
            g = gold.head[w] - tree.first_word - first
            if g >= n - 1:  # far away; the last place is ROOT's
                g = NONE
        known = g >= 0
        if known:
            loss += tree.tree_weight * (total - tree.row[g])
        for m in range(n):
            if first + m == d:
                continue
            share = <float>exp(tree.row[m] - total)
            share *= tree.tree_weight * known - tree.d_log_total[d]
            if m == g and known:
                share -= tree.tree_weight
            arc_places(tree, tree.root_row if m == n - 1 else first + m, d, &item, &query)
            nmp_add_scaled(tree.d_items + item, tree.queries + query, share, tree.width)
            nmp_add_scaled(tree.d_queries + query, tree.items + item, share, tree.width)
    return loss


cdef class TreeScores:
    """The scores of one batch.

    Args:
        items: float32 (words, 2, width): each word's vectors as dependent and as head.
        lengths: int32, words of each stretch that surely begins and ends a sentence.
        weights: float32 arrays on the CPU: arc_U (2, width, width), root (width,).
        tree_weight: weight, in learning, of the loss of P(head | word).

    Raises:
        ValueError: weights of other shapes, or lengths of other words.
    """
    def __cinit__(self, items, lengths, dict weights, float tree_weight):
        if items.ndim != 3 or items.shape[1] != 2 or numpy.sum(lengths) != len(items):
            raise ValueError(
                f"Items have the shape (words, 2, width), and lengths add up to the words, not "
                f"{tuple(items.shape)} and {numpy.sum(lengths)}."
            )
        ends = numpy.cumsum(lengths)
        self.starts = numpy.stack(
            [numpy.repeat(ends - lengths, lengths), numpy.repeat(ends, lengths)], axis=1
        )
        self.items = items
        self.U = weights["arc_U"]
        self.root = weights["root"]
        self.n_words = len(items)
        self.c.width = items.shape[2]
        self.c.tree_weight = tree_weight
        width = items.shape[2]
        check_shapes(weights, {"arc_U": (2, width, width), "root": (width,)})
        self.queries = packed(self.U, ((0, width), (width, 2 * width)))

    cdef int make_tables(self, int first, int last) except -1:
        """Of the batch's words first .. last - 1."""
        cdef const float[:, :, ::1] items, queries
        cdef const int[:, ::1] stretch
        cdef float[::1] row, log_total
        cdef float[:, ::1] head_scores
        cdef int d, count, near_
        cdef int n_rows = last - first
        n = last - first
        items_array = numpy.zeros((n + 1, 2, self.c.width), dtype="float32")
        items_array[:n] = self.items[first:last]
        items_array[n, 1] = self.root
        queries_array = numpy.empty((n + 1, 2, self.c.width), dtype="float32")
        for side in (0, 1):
            self.queries[side].times(items_array[:, 1 - side], queries_array[:, side])
        stretch_array = numpy.clip(self.starts[first:last] - first, 0, n).astype("int32")
        row_array = numpy.empty(HEADS, dtype="float32")
        head_scores_array = numpy.empty((n, HEADS), dtype="float32")
        log_total_array = numpy.zeros(n + 1, dtype="float32")
        self.tables = (
            items_array, queries_array, stretch_array, row_array, head_scores_array,
            log_total_array
        )
        items, queries, stretch, row, head_scores, log_total = self.tables
        self.c.root_row = n
        self.c.items = &items[0, 0, 0]
        self.c.queries = &queries[0, 0, 0]
        self.c.stretch = &stretch[0, 0]
        self.c.row = &row[0]
        self.c.head_scores = &head_scores[0, 0]
        self.c.log_total = &log_total[0]
        with nogil:
            for d in range(n_rows):
                count = score_heads(&self.c, d, &near_, &row[0])
                log_total[d] = log_sum(&row[0], count)
                memcpy(
                    &head_scores[d, near_ - d + REACH], &row[0], (count - 1) * sizeof(float)
                )
                head_scores[d, HEADS - 1] = row[count - 1]
        return 0

    cdef int begin_learning(self) except -1:
        cdef float[:, :, ::1] d_items, d_queries
        cdef float[::1] d_log_total
        shape = (self.n_words + 1, 2, self.c.width)
        self.d_tables = (
            numpy.zeros(shape, dtype="float32"), numpy.zeros(shape, dtype="float32"),
            numpy.zeros(self.n_words + 1, dtype="float32")
        )
        d_items, d_queries, d_log_total = self.d_tables
        self.c.d_items = &d_items[0, 0, 0]
        self.c.d_queries = &d_queries[0, 0, 0]
        self.c.d_log_total = &d_log_total[0]
        return 0

    cdef tuple gradients(self):
        """Gradients of the items, and of each weight by its name. The window must be the whole
        batch."""
        d_items, d_queries, _ = self.d_tables
        d_U = numpy.empty_like(self.U)
        for side in (0, 1):
            matmul(d_queries[:, side].T, self.tables[0][:, 1 - side], out=d_U[side])
            d_items[:, 1 - side] += matmul(d_queries[:, side], self.U[side])
        return d_items[:-1], {"arc_U": d_U, "root": d_items[-1, 1].copy()}
