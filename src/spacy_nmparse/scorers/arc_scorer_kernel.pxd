"""Scores of the moves of one configuration of a system with non-local arcs."""
from libc.stddef cimport ptrdiff_t

from spacy_nmparse.scorers.hidden_layer cimport Layer, LayerC
from spacy_nmparse.scorers.scorer cimport Scorer
from spacy_nmparse.scorers.tree_scores cimport TreeC, TreeScores
from spacy_nmparse.scorers.word_rows cimport WordRows


cpdef enum:  # also for Python
    MOST_PAIRS = 64


# Tables have one row for each word of the window, and a last one for ROOT. LEFT and RIGHT: of the
# arcs j -> i and i -> j, where i is the item and j the focus word. ROOT is an item.
cdef struct ArcScorerC:
    LayerC* context         # of a configuration
    LayerC* pairs           # of an item and the focus word
    LayerC* labels          # of an arc
    TreeC* tree             # P(head | word)
    int step                # of the context's tape: the configuration scored last
    int n_scored            # configurations scored so far
    int* scored             # (rows,): the configuration in which the pair with j was scored last
    float* pair_scores      # (rows, 2): by the pairs' layer alone
    int* pair_steps         # (rows,): of the pairs' tape
    int n_labels
    int label_stride
    int n_moves
    int pair_size           # of the row that the context adds to the pairs' layer
    int label_size          # of the row that it adds to the labels' layer
    int output_stride
    const float* output_W   # (context width, output_stride): moves, row of pairs
    const float* output_b
    const float* mix_W      # (context width, label_size): row of labels
    const float* mix_b
    const float* pair_W     # (2, pair width)
    const float* label_W    # (label layer's width, label_stride)
    const float* label_b
    float* outputs          # (output_stride,): of the configuration scored last
    float* mixed            # (label_size,): row of labels
    float alpha[2]          # weights of log P(head | word)
    float d_alpha[2]
    int n_pairs             # how many arcs of a configuration the pair's layer scores; 0: all


cdef class ArcScorerKernel(Scorer):
    cdef ArcScorerC a
    cdef Layer context
    cdef Layer pairs
    cdef Layer labels
    cdef TreeScores tree
    cdef WordRows rows
    cdef object weights
    cdef object tables      # of the window
    cdef list arrays        # keeps the arrays alive that a points into

    cdef ptrdiff_t rows_before(self, Layer layer) noexcept
