"""A hidden layer over the words and facts of a configuration."""
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport uint8_t, uint64_t

from spacy_nmparse.layers.products cimport RowsC, WeightsC
from spacy_nmparse.scorers.features cimport MAX_FACTS, MAX_SLOTS, TOKEN, Features, FeaturesC
from spacy_nmparse.scorers.tape cimport TapeC
from spacy_nmparse.systems.state cimport StateC


cdef struct FeaturesOfC:    # some of a layer's features, pairs left out
    int n_slots
    int n_facts
    int slots[MAX_SLOTS]
    int facts[MAX_FACTS]


cdef struct LayerC:
    FeaturesC features
    int width
    int pieces              # of its maxout; 1: ReLU
    int first_word          # the sequence's word whose rows are the first of word_rows
    ptrdiff_t stride        # from one word's rows to the next word's
    float* word_rows        # (words of the window, slots, pieces * width)
    ptrdiff_t first_column  # where the layer's begin in the row of a word
    # Slots whose rows are made on demand.
    int first_vector        # the batch's word that the window starts with
    const RowsC* vectors    # of the batch's words
    const WeightsC* slot_weights[MAX_SLOTS]     # NULL: not such a slot
    uint8_t* made           # (words of the window, slots): whether it is there; NULL: all are
    ptrdiff_t made_stride   # from one word's to the next word's
    const float* pad_rows   # (slots, 2, pieces * width): no word there, ROOT there
    const float* fact_rows  # (values of all facts, pieces * width)
    int fact_offset[MAX_FACTS]
    const float* bias       # (pieces * width,)
    const float* extra      # (pieces * width,): one more row to add, or NULL
    int owner               # the step, of another layer's tape, that extra comes from
    # Features that look at nothing but the item H and what hangs on it, if their sums are kept.
    FeaturesOfC of_item
    FeaturesOfC others
    float* item_sums        # (rows, pieces * width), by H's row
    int* item_keys          # (rows, slots + facts): what each sum was made from
    # The configuration looked at last.
    int words[MAX_SLOTS]
    int facts[MAX_FACTS]
    const int* tokens       # (token facts, words of the batch): their values; NULL: no such facts
    ptrdiff_t n_tokens      # words of the batch
    float* pre              # (pieces * width,)
    float* hidden           # (width,)
    float* kept             # (places, width): hidden layers to come back to
    # Learning.
    bint learning
    float dropout
    uint64_t seed
    uint8_t* winner         # (width,)
    TapeC tape


cdef void layer_run(LayerC* layer, const StateC* s, int head, int dependent) noexcept nogil
cdef void layer_run_item(LayerC* layer, const StateC* s, int row, int i, int j) noexcept nogil
cdef int layer_remember(LayerC* layer) noexcept nogil
cdef int layer_keep(LayerC* layer, int step, int place) noexcept nogil
cdef void layer_recall(LayerC* layer, int ticket) noexcept nogil


cdef inline float* layer_gradient(LayerC* layer, int step) noexcept nogil:
    """Where the gradient of the outputs of a remembered step goes."""
    return layer.tape.d_outputs + step * <ptrdiff_t>layer.tape.n_outputs


cdef class Layer:
    cdef LayerC c
    cdef Features features
    cdef list arrays        # keeps the arrays alive that c points into
    cdef object sums
    cdef object tokens

    cdef int sort_features(self, bint sums_items) except -1
    cdef int set_tokens(self, tokens) except -1
    cdef int make_places(self, int n) except -1
    cdef void make_sums(self, int n_rows) except *
    cdef int begin_learning(self, int n_outputs, float dropout, uint64_t seed) except -1
    cdef dict gradients(
        self, output_W, float* d_word_rows, float* d_extra, ptrdiff_t extra_stride
    )


cdef const float* keep(list arrays, array) except *
