"""The inner loops of the state scorer: one hidden layer, then moves, then labels where needed.

    hidden = maxout(bias + sum of the word rows + sum of the fact rows
                    + sum over pairs of the products of their two word rows)
    P(move) = softmax over the legal moves;  P(label | move) = softmax over its labels

so that labels are scored only for a move that makes an arc.
"""
import numpy

from spacy_nmparse.scorers.features cimport Features
from spacy_nmparse.systems.state cimport NONE
from spacy_nmparse.systems.system cimport RIGHT_ARC, TransitionSystem

from spacy_nmparse.scorers.features cimport find_facts, find_words


cdef extern from "kernels.h" nogil:
    void nmp_add_product(float* out, const float* a, const float* b, int width)
    void nmp_sum_rows(float* out, const float* const* rows, int n_rows, int width)
    void nmp_activate(float* out, const float* pre, int width, int pieces)
    void nmp_affine(
        float* out, const float* bias, const float* weights, const float* hidden,
        int n_in, int n_out
    )


cdef void find_rows(
    const StateScorerC* scorer, const StateC* s, int first_word, int* words, int* facts
) noexcept nogil:
    """For each slot the word's row in the window, or -1 - i for pad row i; the row of each fact."""
    cdef int i, w
    find_words(&scorer.features, s, words)
    for i in range(scorer.features.n_slots):
        w = words[i]
        if w == NONE:
            words[i] = -1 - 2 * i
        elif w == s.n:
            words[i] = -2 - 2 * i
        else:
            words[i] = w - first_word
    find_facts(&scorer.features, s, facts)
    for i in range(scorer.features.n_facts):
        facts[i] += scorer.fact_offset[i]


cdef void hidden_layer(
    const StateScorerC* scorer, const int* words, const int* facts, float* pre, float* hidden
) noexcept nogil:
    """pre: (pieces * width,) before the activation; hidden: (width,) after it."""
    cdef const float* rows[1 + MAX_SLOTS + MAX_FACTS]
    cdef ptrdiff_t size = scorer.pieces * scorer.width
    cdef int i
    cdef int n = 1
    rows[0] = scorer.bias
    for i in range(scorer.features.n_singles):
        rows[n] = word_row(scorer, words, i)
        n += 1
    for i in range(scorer.features.n_facts):
        rows[n] = scorer.fact_rows + facts[i] * size
        n += 1
    nmp_sum_rows(pre, rows, n, <int>size)
    for i in range(scorer.features.n_singles, scorer.features.n_slots, 2):
        nmp_add_product(
            pre, word_row(scorer, words, i), word_row(scorer, words, i + 1), <int>size
        )
    nmp_activate(hidden, pre, scorer.width, scorer.pieces)


cdef void move_scores(
    const StateScorerC* scorer, const float* hidden, float* out
) noexcept nogil:
    """Scores of all moves, legal or not; out: (move_stride,)."""
    nmp_affine(out, scorer.move_b, scorer.move_W, hidden, scorer.width, scorer.move_stride)


cdef void label_scores(
    const StateScorerC* scorer, const float* hidden, int block, float* out
) noexcept nogil:
    """Scores of the labels of one distribution; out: (label_stride,)."""
    nmp_affine(
        out, scorer.label_b + block * scorer.label_stride,
        scorer.label_W + block * scorer.width * <ptrdiff_t>scorer.label_stride,
        hidden, scorer.width, scorer.label_stride
    )


cdef int best_label(const StateScorerC* scorer, const float* scores) noexcept nogil:
    """The best label of an arc from a word (ties: the first)."""
    cdef int i
    cdef int best = NONE
    for i in range(scorer.n_labels):
        if i != scorer.root_label and (best == NONE or scores[i] > scores[best]):
            best = i
    return best


cdef class StateScorerKernel:
    """The weights of a state scorer, laid out for the loops above.

    Args:
        features: its ``Features``.
        system: the transition system whose moves it scores.
        weights: float32 arrays on the CPU: pad_rows (slots, 2, pieces * width), fact_rows
            (values, pieces * width), bias (pieces * width,), move_W (moves, width), move_b,
            label_W (blocks, labels, width), label_b (blocks, labels).
        pieces: maxout pieces.
    """
    def __init__(self, Features features, TransitionSystem system, dict weights, int pieces):
        cdef int i, offset = 0
        for i in range(system.c.n_moves):
            if system.c.moves[i].reach is not NULL:
                raise ValueError(
                    f"A state scorer cannot score {system.name}: its arcs reach beyond the words "
                    f"in focus."
                )
        self.arrays = []
        self.c.features = features.c
        self.c.pieces = pieces
        self.c.width = weights["bias"].shape[0] // pieces
        self.c.n_moves = system.c.n_moves
        self.c.n_labels = system.c.n_labels
        self.c.root_label = system.c.root_label
        for i, size in enumerate(features.fact_sizes(system.c.n_labels)):
            self.c.fact_offset[i] = offset
            offset += size
        blocks = label_blocks(system)
        self.c.n_blocks = max(blocks) + 1
        self.c.noted_block = NONE
        for i in range(system.c.n_moves):
            self.c.block[i] = blocks[i]
            if system.c.moves[i].name == RIGHT_ARC and notes_labels(system):
                self.c.noted_block = blocks[i]
        size = pieces * self.c.width
        n_slots = self.c.features.n_slots
        shapes = {
            "pad_rows": (n_slots, 2, size),
            "fact_rows": (offset, size),
            "bias": (size,),
            "move_W": (self.c.n_moves, self.c.width),
            "move_b": (self.c.n_moves,),
            "label_W": (self.c.n_blocks, self.c.n_labels, self.c.width),
            "label_b": (self.c.n_blocks, self.c.n_labels),
        }
        for name, shape in shapes.items():
            if tuple(weights[name].shape) != shape:
                raise ValueError(
                    f"The scorer's weights {name} have the shape {tuple(weights[name].shape)}, but "
                    f"its features and the system need {shape}: it was made for another system."
                )
        self.c.pad_rows = self.keep(weights["pad_rows"])
        self.c.fact_rows = self.keep(weights["fact_rows"])
        self.c.bias = self.keep(weights["bias"])
        move_W = padded(weights["move_W"].T)
        label_W = padded(weights["label_W"].transpose((0, 2, 1)))
        self.c.move_stride = move_W.shape[-1]
        self.c.label_stride = label_W.shape[-1]
        self.c.move_W = self.keep(move_W)
        self.c.move_b = self.keep(padded(weights["move_b"]))
        self.c.label_W = self.keep(label_W)
        self.c.label_b = self.keep(padded(weights["label_b"]))
        self.c.word_rows = NULL

    cdef const float* keep(self, array) except *:
        array = numpy.ascontiguousarray(array, dtype="float32")
        self.arrays.append(array)
        cdef const float[::1] view = array.reshape(-1)
        return &view[0] if view.shape[0] else NULL

    cdef void set_window(self, const float* word_rows) noexcept:
        self.c.word_rows = word_rows


def padded(array):
    """The array, its last axis filled up with zeros to whole vector registers."""
    missing = -array.shape[-1] % 16
    return numpy.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, missing)])


def label_blocks(TransitionSystem system):
    """For each move of the table the number of its label distribution, or -1: it has none."""
    from spacy_nmparse.systems.system import MOVE_NAMES
    blocks = []
    cdef int n = 0
    for i in range(system.c.n_moves):
        name = MOVE_NAMES[system.c.moves[i].name]
        labelled = system.labels is not None and (
            name in ("LEFT-ARC", "RIGHT-ARC", "RIGHT-LOWER", "RIGHT-RAISE", "LEFT-INVERT")
            or (name == "REDUCE" and system.c.labelled_reduce)
        )
        blocks.append(n if labelled else NONE)
        n += labelled
    return blocks


cdef bint notes_labels(TransitionSystem system):
    """Whether a later REDUCE may need the label noted by a push."""
    return (
        system.labels is not None and not system.c.labelled_reduce
        and (system.c.nonmonotonic_reduce or system.c.single_root)
    )
