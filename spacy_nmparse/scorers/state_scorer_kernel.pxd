"""Scores of the moves and labels of one configuration, from the score tables of a batch."""
from spacy_nmparse.scorers.features cimport MAX_FACTS, MAX_SLOTS, FeaturesC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport MAX_MOVES


cdef struct StateScorerC:
    FeaturesC features
    int width               # of the hidden layer
    int pieces              # of its maxout; 1: ReLU
    int n_moves
    int n_labels
    int move_stride         # rows of move_W and label_W are padded with zeros to these lengths
    int label_stride
    int n_blocks            # label distributions: one for each labelled move
    int block[MAX_MOVES]    # move -> its label distribution, or NONE
    int noted_block         # the one that gives the label noted by a push, or NONE
    int root_label          # as in SystemC
    const float* word_rows  # (words of the window, slots, pieces * width)
    const float* pad_rows   # (slots, 2, pieces * width): no word there, ROOT there
    const float* fact_rows  # (values of all facts, pieces * width)
    int fact_offset[MAX_FACTS]
    const float* bias       # (pieces * width,)
    const float* move_W     # (width, move_stride)
    const float* move_b
    const float* label_W    # (n_blocks, width, label_stride)
    const float* label_b    # (n_blocks, label_stride)


cdef inline const float* word_row(
    const StateScorerC* scorer, const int* words, int slot
) noexcept nogil:
    """The row of the word in a slot; words as ``find_rows`` leaves them."""
    cdef ptrdiff_t size = scorer.pieces * scorer.width
    if words[slot] < 0:
        return scorer.pad_rows + (-1 - words[slot]) * size
    return scorer.word_rows + (words[slot] * <ptrdiff_t>scorer.features.n_slots + slot) * size


cdef void find_rows(
    const StateScorerC* scorer, const StateC* s, int first_word, int* words, int* facts
) noexcept nogil
cdef void hidden_layer(
    const StateScorerC* scorer, const int* words, const int* facts, float* pre, float* hidden
) noexcept nogil
cdef void move_scores(
    const StateScorerC* scorer, const float* hidden, float* out
) noexcept nogil
cdef void label_scores(
    const StateScorerC* scorer, const float* hidden, int block, float* out
) noexcept nogil
cdef int best_label(const StateScorerC* scorer, const float* scores) noexcept nogil


cdef class StateScorerKernel:
    cdef StateScorerC c
    cdef list arrays        # keeps the arrays alive that c points into

    cdef const float* keep(self, array) except *
    cdef void set_window(self, const float* word_rows) noexcept
