"""A hidden layer over the words and facts of a configuration, and the tape of its steps.

    hidden = maxout(bias + sum of the word rows + sum of the fact rows
                    + sum over pairs of the products of their two word rows
                    + a row that comes from elsewhere)

Token vectors are multiplied into word rows by matrix products beforehand; here they are only added
up. While learning, steps are written into flat arrays, and back-propagated together.
"""
import numpy

from libc.stdint cimport uint32_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from spacy_nmparse.layers.kernels cimport (
    nmp_add,
    nmp_add_product,
    nmp_add_scaled,
    nmp_drop,
    nmp_find_winners,
    nmp_maxout,
    nmp_maxout_back,
    nmp_relu,
    nmp_relu_back,
    nmp_sum_rows,
)
from spacy_nmparse.layers.products cimport multiply_ready
from spacy_nmparse.scorers.features cimport find_facts, find_words
from spacy_nmparse.scorers.random cimport random_bits
from spacy_nmparse.scorers.tape cimport TapeC, tape_begin, tape_end, tape_write
from spacy_nmparse.systems.memory cimport allocate
from spacy_nmparse.systems.state cimport NONE

from spacy_nmparse.layers.blas import matmul


cdef enum:
    NO_ROW = -0x7fffffff    # what no feature's row is
    REGISTER = 16           # floats
    FEW_OUTPUTS = 4         # that take no matrix products


cdef void find_tokens(LayerC* layer) noexcept nogil:
    """The value of each token fact, in place of the word: 0 where there is none."""
    cdef int i, w
    cdef ptrdiff_t column
    for i in range(layer.features.n_facts):
        column = layer.features.facts[i].kind - TOKEN
        if layer.features.facts[i].value is NULL and column >= 0:
            w = layer.facts[i]
            layer.facts[i] = 0 if w == NONE else 1 + layer.tokens[
                column * layer.n_tokens + layer.first_vector + w - layer.first_word
            ]


cdef void find_rows(LayerC* layer, const StateC* s, int head, int dependent) noexcept nogil:
    """For each slot the word's row in the window, or -1 - i for pad row i; the row of each fact."""
    cdef int i, w
    find_words(&layer.features, s, head, dependent, layer.words)
    find_facts(&layer.features, s, head, dependent, layer.words, layer.facts)
    if layer.tokens is not NULL:
        find_tokens(layer)
    for i in range(layer.features.n_facts):
        layer.facts[i] += layer.fact_offset[i]
    for i in range(layer.features.n_slots):
        w = layer.words[i]
        if w == NONE:
            layer.words[i] = -1 - 2 * i
        elif w == s.n:
            layer.words[i] = -2 - 2 * i
        else:
            layer.words[i] = w - layer.first_word


cdef inline const float* word_row(
    const LayerC* layer, const int* words, int slot
) noexcept nogil:
    cdef ptrdiff_t size = layer.pieces * layer.width
    cdef float* row
    cdef uint8_t* made
    if words[slot] < 0:
        return layer.pad_rows + (-1 - words[slot]) * size
    row = layer.word_rows + words[slot] * layer.stride + slot * size
    if layer.made is not NULL and layer.slot_weights[slot] is not NULL:
        made = layer.made + words[slot] * layer.made_stride + slot
        if not made[0]:
            multiply_ready(
                layer.slot_weights[slot], layer.vectors, layer.first_vector + words[slot], 1, row,
                size
            )
            made[0] = True
    return row


cdef int add_rows(
    const LayerC* layer, const FeaturesOfC* which, const float** rows, int n
) noexcept nogil:
    """Append the rows of some features to the n that are there. Returns how many there are."""
    cdef ptrdiff_t size = layer.pieces * layer.width
    cdef int i
    for i in range(which.n_slots):
        rows[n] = word_row(layer, layer.words, which.slots[i])
        n += 1
    for i in range(which.n_facts):
        rows[n] = layer.fact_rows + layer.facts[which.facts[i]] * size
        n += 1
    return n


cdef void run(LayerC* layer, const float* first) noexcept nogil:
    """Fill layer.hidden: the sum of the first row and of all that is not in it."""
    cdef const float* rows[2 + MAX_SLOTS + MAX_FACTS]
    cdef int n_paired = layer.features.n_slots - layer.features.n_singles
    cdef int size = layer.pieces * layer.width
    cdef int i, n
    rows[0] = first
    n = add_rows(layer, &layer.others, rows, 1)
    if layer.extra is not NULL:
        rows[n] = layer.extra
        n += 1
    for i in range(n_paired):
        rows[n + i] = word_row(layer, layer.words, layer.features.n_singles + i)
    nmp_sum_rows(layer.pre, rows, n, n_paired // 2, size)
    if layer.pieces > 1:
        nmp_maxout(layer.hidden, layer.pre, layer.width, layer.pieces)
    else:
        nmp_relu(layer.hidden, layer.pre, layer.width)
    if layer.learning:
        drop_units(layer)


cdef void layer_run(LayerC* layer, const StateC* s, int head, int dependent) noexcept nogil:
    """Fill layer.hidden for a configuration (and for an arc, if features ask for its ends)."""
    find_rows(layer, s, head, dependent)
    run(layer, layer.bias)


cdef inline bint is_same(const int* a, const int* b, const int* places, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        if a[places[i]] != b[places[i]]:
            return False
    return True


cdef void layer_run_item(LayerC* layer, const StateC* s, int row, int i, int j) noexcept nogil:
    """Run a layer that sums items, for the item i, whose row is ``row``, and the focus word j. The
    sum of all that depends on i alone is kept, and computed again only when that changes."""
    cdef const float* rows[1 + MAX_SLOTS + MAX_FACTS]
    cdef int size = layer.pieces * layer.width
    cdef int n_slots = layer.features.n_slots
    cdef int* key = layer.item_keys + row * <ptrdiff_t>(n_slots + layer.features.n_facts)
    cdef float* total = layer.item_sums + row * <ptrdiff_t>size
    find_rows(layer, s, i, j)
    if not (
        is_same(layer.words, key, layer.of_item.slots, layer.of_item.n_slots)
        and is_same(layer.facts, key + n_slots, layer.of_item.facts, layer.of_item.n_facts)
    ):
        rows[0] = layer.bias
        nmp_sum_rows(total, rows, add_rows(layer, &layer.of_item, rows, 1), 0, size)
        memcpy(key, layer.words, n_slots * sizeof(int))
        memcpy(key + n_slots, layer.facts, layer.features.n_facts * sizeof(int))
    run(layer, total)


cdef void drop_units(LayerC* layer) noexcept nogil:
    """Find the pieces that won, and drop units."""
    cdef uint32_t start = 0
    cdef uint32_t limit = <uint32_t>(layer.dropout * <double>4294967296.0)
    cdef float scale = <float>1.0 / (<float>1.0 - layer.dropout)
    if layer.dropout > 0:
        start = <uint32_t>(random_bits(&layer.seed) >> 32)
    if layer.pieces > 1:
        nmp_find_winners(layer.winner, layer.pre, layer.width, layer.pieces)
    if layer.dropout > 0:
        nmp_drop(
            layer.hidden, layer.winner if layer.pieces > 1 else NULL, start, limit, scale,
            layer.width
        )


cdef int layer_remember(LayerC* layer) noexcept nogil:
    """Write what layer_run has just done on the tape: the step's number, as of tape_write."""
    return tape_write(
        &layer.tape, layer.words, layer.facts, layer.owner, layer.hidden, layer.winner
    )


cdef int layer_keep(LayerC* layer, int step, int place) noexcept nogil:
    """Keep the hidden layer under a place, or, while learning, where its step is on the tape."""
    if layer.learning:
        return step
    memcpy(
        layer.kept + place * <ptrdiff_t>layer.width, layer.hidden, layer.width * sizeof(float)
    )
    return place


cdef void layer_recall(LayerC* layer, int ticket) noexcept nogil:
    """Come back to a kept hidden layer."""
    cdef const float* kept = layer.tape.hidden if layer.learning else layer.kept
    memcpy(layer.hidden, kept + ticket * <ptrdiff_t>layer.width, layer.width * sizeof(float))


cdef inline float* gradient_row(
    const LayerC* layer, float* d_words, float* d_pads, int row, int slot
) noexcept nogil:
    cdef ptrdiff_t size = layer.pieces * layer.width
    if row < 0:
        return d_pads + (-1 - row) * size
    return d_words + row * layer.stride + slot * size


cdef struct GradientsC:     # where scatter adds to
    float* bias
    float* words            # as LayerC.word_rows
    float* pads
    float* facts
    float* extra            # by the steps' owners; or NULL
    ptrdiff_t extra_stride
    float* output_W
    float* output_b


cdef void output_back(
    const LayerC* layer, int step, const float* output_W, const GradientsC* d, float* d_hidden
) noexcept nogil:
    """Back-propagate the outputs of one step."""
    cdef const float* hidden = layer.tape.hidden + step * <ptrdiff_t>layer.width
    cdef const float* d_outputs = layer.tape.d_outputs + step * <ptrdiff_t>layer.tape.n_outputs
    cdef int i
    memset(d_hidden, 0, layer.width * sizeof(float))
    for i in range(layer.tape.n_outputs):
        d.output_b[i] += d_outputs[i]
        nmp_add_scaled(d_hidden, output_W + i * layer.width, d_outputs[i], layer.width)
        nmp_add_scaled(d.output_W + i * layer.width, hidden, d_outputs[i], layer.width)


cdef void scatter(
    const LayerC* layer, const float* d_hidden, const float* output_W, const GradientsC* gradients,
    float* room
) noexcept nogil:
    """Add each step's gradient to the rows that its hidden layer was the sum of.

    d_hidden: of all steps, or NULL: follows from d_outputs and output_W. room: for two gradients of
    a hidden layer.
    """
    cdef int size = layer.pieces * layer.width
    cdef int n_slots = layer.features.n_slots
    cdef int n_singles = layer.features.n_singles
    cdef int n_facts = layer.features.n_facts
    cdef float scale = <float>1.0 / (<float>1.0 - layer.dropout)
    cdef int step, i, other
    cdef const int* words
    cdef const int* facts
    cdef ptrdiff_t place
    cdef const float* d
    cdef float* d_pre = room + layer.width
    for step in range(layer.tape.n_steps):
        place = step * <ptrdiff_t>layer.width
        d = room
        if d_hidden is NULL:
            output_back(layer, step, output_W, gradients, room)
        else:
            d = d_hidden + place
        if layer.pieces > 1:
            nmp_maxout_back(
                d_pre, d, layer.tape.winner + place, scale, layer.width, layer.pieces
            )
        else:
            nmp_relu_back(d_pre, d, layer.tape.hidden + place, scale, layer.width)
        nmp_add(gradients.bias, d_pre, size)
        if gradients.extra is not NULL:
            nmp_add(gradients.extra + layer.tape.owner[step] * gradients.extra_stride, d_pre, size)
        words = layer.tape.words + step * <ptrdiff_t>n_slots
        facts = layer.tape.facts + step * <ptrdiff_t>n_facts
        for i in range(n_singles):
            nmp_add(gradient_row(layer, gradients.words, gradients.pads, words[i], i), d_pre, size)
        for i in range(n_singles, n_slots):
            other = i + 1 if (i - n_singles) % 2 == 0 else i - 1
            nmp_add_product(
                gradient_row(layer, gradients.words, gradients.pads, words[i], i), d_pre,
                word_row(layer, words, other), size
            )
        for i in range(n_facts):
            nmp_add(gradients.facts + facts[i] * <ptrdiff_t>size, d_pre, size)


cdef const float* keep(list arrays, array) except *:
    """Where the array's numbers are, as float32 in C order; the list keeps them alive."""
    array = numpy.ascontiguousarray(array, dtype="float32")
    arrays.append(array)
    cdef const float[::1] view = array.reshape(-1)
    return &view[0] if view.shape[0] else NULL


cdef float[:, ::1] tape_floats(float* data, int n, int width):
    return <float[:n, :width]>data


cdef class Layer:
    """One hidden layer.

    Args:
        features: its ``Features``.
        n_labels: number of the system's labels.
        weights: float32 arrays on the CPU: pad_rows (slots, 2, pieces * width), fact_rows
            (values, pieces * width), bias (pieces * width,).
        pieces: maxout pieces.
        sums_items: whether ``layer_run_item`` runs it, after ``make_sums``.

    Raises:
        ValueError: weights of other shapes.
    """
    def __cinit__(
        self, Features features, int n_labels, dict weights, int pieces, bint sums_items=False
    ):
        cdef int i, offset = 0
        if pieces < 1:
            raise ValueError(f"A hidden layer has at least 1 piece, not {pieces}.")
        self.arrays = []
        self.features = features
        self.c.features = features.c
        self.c.pieces = pieces
        self.c.width = weights["bias"].shape[0] // pieces
        for i, size in enumerate(features.fact_sizes(n_labels)):
            self.c.fact_offset[i] = offset
            offset += size
        row = pieces * self.c.width
        check_shapes(
            weights,
            {
                "pad_rows": (self.c.features.n_slots, 2, row),
                "fact_rows": (offset, row),
                "bias": (row,),
            },
        )
        self.c.pad_rows = keep(self.arrays, weights["pad_rows"])
        self.c.fact_rows = keep(self.arrays, weights["fact_rows"])
        self.c.bias = keep(self.arrays, weights["bias"])
        self.sort_features(sums_items)
        self.c.owner = NONE
        self.c.pre = <float*>allocate(row, sizeof(float))
        self.c.hidden = <float*>allocate(self.c.width, sizeof(float))
        self.c.winner = <uint8_t*>allocate(self.c.width, 1)

    cdef int sort_features(self, bint sums_items) except -1:
        """Tell the features that look at H alone from the others, where their sums are wanted."""
        cdef FeaturesOfC* part
        cdef int i
        for i in range(self.c.features.n_singles):
            of_item = sums_items and self.features.words[i].split(".")[0] == "H"
            part = &self.c.of_item if of_item else &self.c.others
            part.slots[part.n_slots] = i
            part.n_slots += 1
        for i in range(self.c.features.n_facts):
            of_item = sums_items and self.features.facts[i].split(".")[0] == "H"
            part = &self.c.of_item if of_item else &self.c.others
            part.facts[part.n_facts] = i
            part.n_facts += 1
        return 0

    cdef int set_tokens(self, tokens) except -1:
        """Give the values of the token facts: int32 (facts, words of the batch), or None."""
        cdef const int[:, ::1] view
        self.tokens = tokens
        if tokens is not None and tokens.size:
            view = tokens
            self.c.tokens = &view[0, 0]
            self.c.n_tokens = tokens.shape[1]
        return 0

    cdef int make_places(self, int n) except -1:
        """Make room for n kept hidden layers."""
        free(self.c.kept)
        self.c.kept = NULL
        self.c.kept = <float*>allocate(n * <size_t>self.c.width, sizeof(float))
        return 0

    cdef void make_sums(self, int n_rows) except *:
        """Make room for the sums of the items of a window of n_rows rows."""
        cdef float[:, ::1] sums
        cdef int[:, ::1] keys
        n_features = self.c.features.n_slots + self.c.features.n_facts
        self.sums = (
            numpy.empty((n_rows, self.c.pieces * self.c.width), dtype="float32"),
            numpy.full((n_rows, n_features), NO_ROW, dtype="intc"),
        )
        sums, keys = self.sums
        self.c.item_sums = &sums[0, 0]
        self.c.item_keys = &keys[0, 0]

    def __dealloc__(self):
        free(self.c.pre)
        free(self.c.hidden)
        free(self.c.winner)
        free(self.c.kept)
        tape_end(&self.c.tape)

    cdef int begin_learning(self, int n_outputs, float dropout, uint64_t seed) except -1:
        tape_begin(
            &self.c.tape, self.c.features.n_slots, self.c.features.n_facts, self.c.width,
            n_outputs, self.c.pieces > 1
        )
        self.c.learning = True
        self.c.dropout = dropout
        self.c.seed = seed * 2 + 1
        return 0

    cdef dict gradients(
        self, output_W, float* d_word_rows, float* d_extra, ptrdiff_t extra_stride
    ):
        """Back-propagate the remembered steps, and forget them.

        Args:
            output_W: (outputs, width): what makes outputs of the hidden layer.
            d_word_rows: the word rows' gradient, laid out as the rows, to be added to.
            d_extra: the extra rows' gradient by their owners, to be added to; or NULL.
            extra_stride: from one owner's extra row to the next one's.

        Returns:
            Gradients of pad_rows, fact_rows, bias, and of the outputs' weights: output_W, output_b.

        Raises:
            MemoryError: the tape has outgrown the memory.
        """
        cdef int steps = self.c.tape.n_steps
        cdef int size = self.c.pieces * self.c.width
        if self.c.tape.failed:
            tape_end(&self.c.tape)
            raise MemoryError(f"No memory for more than {steps} training steps in one batch.")
        self.c.learning = False
        shapes = {
            "pad_rows": (self.c.features.n_slots, 2, size), "fact_rows": self.arrays[1].shape,
            "bias": size, "output_W": output_W.shape, "output_b": output_W.shape[0],
        }
        result = {name: numpy.zeros(shape, dtype="float32") for name, shape in shapes.items()}
        if not steps:
            return result
        cdef const float[:, ::1] d_hidden = None
        if self.c.tape.n_outputs > FEW_OUTPUTS:
            d_hidden = output_gradients(&self.c.tape, self.c.width, output_W, result)
        cdef const float[:, ::1] W = output_W
        cdef float[:, :, ::1] d_pads = result["pad_rows"]
        cdef float[:, ::1] d_facts = result["fact_rows"]
        cdef float[::1] d_bias = result["bias"]
        cdef float[:, ::1] d_output_W = result["output_W"]
        cdef float[::1] d_output_b = result["output_b"]
        cdef float[::1] room = numpy.empty(self.c.width + size, dtype="float32")
        cdef GradientsC into
        into.bias = &d_bias[0]
        into.words = d_word_rows
        into.pads = &d_pads[0, 0, 0]
        into.facts = &d_facts[0, 0] if d_facts.shape[0] else NULL
        into.extra = d_extra
        into.extra_stride = extra_stride
        into.output_W = &d_output_W[0, 0]
        into.output_b = &d_output_b[0]
        with nogil:
            scatter(
                &self.c, NULL if d_hidden is None else &d_hidden[0, 0], &W[0, 0], &into, &room[0]
            )
        tape_end(&self.c.tape)
        return result


cdef output_gradients(const TapeC* tape, int width, output_W, dict result):
    """Put the gradients of the outputs' weights into ``result``, by products of matrices. Returns
    the hidden layer's."""
    d_outputs = numpy.asarray(tape_floats(tape.d_outputs, tape.n_steps, tape.n_outputs))
    hidden = numpy.asarray(tape_floats(tape.hidden, tape.n_steps, width))
    result["output_W"] = matmul(d_outputs.T, hidden)
    result["output_b"] = d_outputs.sum(axis=0)
    return matmul(d_outputs, output_W)


def check_shapes(weights, shapes):
    """Raise ValueError where weights do not have the shapes that features and system need."""
    for name, shape in shapes.items():
        if tuple(weights[name].shape) != tuple(shape):
            raise ValueError(
                f"The scorer's weights {name} have the shape {tuple(weights[name].shape)}, but its "
                f"features and the system need {tuple(shape)}: it was made for another system."
            )


def padded(array):
    """The array, its last axis filled up with zeros to whole vector registers."""
    n = array.shape[-1]
    result = numpy.zeros((*array.shape[:-1], n + -n % REGISTER), dtype=array.dtype)
    result[..., :n] = array
    return result
