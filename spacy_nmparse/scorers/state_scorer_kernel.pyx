"""The inner loops of the state scorer: one hidden layer, then moves, then labels where needed.

    P(move) = softmax over the legal moves;  P(label | move) = softmax over its labels

so that labels are scored only for a move that makes an arc.
"""
import numpy

from libc.stdlib cimport free

from spacy_nmparse.layers.kernels cimport nmp_affine
from spacy_nmparse.scorers.features cimport Features
from spacy_nmparse.scorers.hidden_layer cimport (
    Layer,
    LayerC,
    keep,
    layer_gradient,
    layer_keep,
    layer_recall,
    layer_remember,
    layer_run,
)
from spacy_nmparse.scorers.scorer cimport Scorer
from spacy_nmparse.scorers.word_rows cimport WordRows
from spacy_nmparse.systems.memory cimport allocate
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.system cimport MAX_MOVES, CandidateC, TransitionSystem, left_out

from spacy_nmparse.scorers.hidden_layer import check_shapes, padded
from spacy_nmparse.scorers.shared import Gradients


cdef struct StateScorerC:
    LayerC* layer
    int step                # of the layer's tape: the configuration scored last
    int n_moves
    int n_labels
    int move_stride         # rows of move_W and label_W are padded with zeros to these lengths
    int label_stride
    int n_blocks            # label distributions: one for each labelled move
    int block[MAX_MOVES]    # move -> its label distribution, or NONE
    int noted_block         # the one that gives the label noted by a push, or NONE
    const float* move_W     # (width, move_stride)
    const float* move_b
    const float* label_W    # (n_blocks, width, label_stride)
    const float* label_b    # (n_blocks, label_stride)
    float* moves            # (move_stride,)


cdef void begin(void* scorer, int first_row, int offset) noexcept nogil:
    (<StateScorerC*>scorer).layer.first_word = first_row - offset


cdef void score(
    void* scorer, const StateC* s, const CandidateC* candidates, int n, float* out
) noexcept nogil:
    cdef StateScorerC* self = <StateScorerC*>scorer
    cdef LayerC* layer = self.layer
    cdef int i
    layer_run(layer, s, NONE, NONE)
    if layer.learning:
        self.step = layer_remember(layer)
    if n == 1 and not layer.learning:
        out[0] = 0
        return
    nmp_affine(
        self.moves, self.move_b, self.move_W, layer.hidden, layer.width, self.move_stride
    )
    for i in range(n):
        out[i] = self.moves[candidates[i].move]


cdef inline void score_block(StateScorerC* self, int block, float* out) noexcept nogil:
    nmp_affine(
        out, self.label_b + block * self.label_stride,
        self.label_W + block * self.layer.width * <ptrdiff_t>self.label_stride,
        self.layer.hidden, self.layer.width, self.label_stride
    )


cdef int score_labels(
    void* scorer, const StateC* s, const CandidateC* c, bint remember, float* out
) noexcept nogil:
    """The ticket is the move's label distribution."""
    cdef StateScorerC* self = <StateScorerC*>scorer
    score_block(self, self.block[c.move], out)
    return self.block[c.move]


cdef void score_noted(void* scorer, const StateC* s, float* out) noexcept nogil:
    cdef StateScorerC* self = <StateScorerC*>scorer
    score_block(self, self.noted_block, out)


cdef void learn(
    void* scorer, const StateC* s, const CandidateC* candidates, int n, const float* d_scores
) noexcept nogil:
    cdef StateScorerC* self = <StateScorerC*>scorer
    cdef float* d = layer_gradient(self.layer, self.step)
    cdef int i
    for i in range(n):
        d[candidates[i].move] += d_scores[i]


cdef float* label_gradient(void* scorer, int ticket) noexcept nogil:
    cdef StateScorerC* self = <StateScorerC*>scorer
    return layer_gradient(self.layer, self.step) + self.n_moves + ticket * self.n_labels


cdef int keep_configuration(void* scorer, int place) noexcept nogil:
    cdef StateScorerC* self = <StateScorerC*>scorer
    return layer_keep(self.layer, self.step, place)


cdef void recall(
    void* scorer, int ticket, const StateC* s, const CandidateC* candidates, int n
) noexcept nogil:
    cdef StateScorerC* self = <StateScorerC*>scorer
    layer_recall(self.layer, ticket)
    self.step = ticket


def check_system(TransitionSystem system, kind="state"):
    """Raise ValueError where the arcs of a configuration do not all join words in focus. kind: of
    the scorer, for the message."""
    cdef int i
    for i in range(system.c.n_moves):
        if system.c.moves[i].next_k is not NULL:
            raise ValueError(
                f"A {kind} scorer cannot score {system.name}: its arcs reach beyond the words in "
                f"focus. An arc scorer can."
            )


cdef class StateScorerKernel(Scorer):
    """The scores of one batch.

    Args:
        features: the scorer's ``Features``.
        system: the transition system whose moves it scores.
        vectors: float32 (words, width): one row for each parsed word of the batch, projected.
        weights: float32 arrays on the CPU: word_W (slots * pieces * hidden, width), pad_rows
            (slots, 2, pieces * hidden), fact_rows (values, pieces * hidden), bias
            (pieces * hidden,), move_W (moves, hidden), move_b, label_W (blocks, labels, hidden),
            label_b (blocks, labels).
        pieces: maxout pieces.

    Raises:
        ValueError: weights of other shapes, or a system with non-local arcs.
    """
    cdef StateScorerC s
    cdef Layer layer
    cdef WordRows rows
    cdef object weights
    cdef list arrays        # keeps the arrays alive that s points into

    def __cinit__(
        self, Features features, TransitionSystem system, vectors, dict weights, int pieces
    ):
        cdef int i
        check_system(system)
        self.system = system
        self.layer = Layer(features, system.c.n_labels, weights, pieces)
        self.rows = WordRows(vectors, weights["word_W"], [self.layer])
        self.weights = weights
        self.arrays = []
        self.n_words = vectors.shape[0]
        self.lookahead = features.lookahead
        self.s.layer = &self.layer.c
        self.s.n_moves = system.c.n_moves
        self.s.n_labels = system.c.n_labels
        blocks = label_blocks(system)
        self.s.n_blocks = max(blocks) + 1
        self.s.noted_block = NONE
        for i in range(system.c.n_moves):
            self.s.block[i] = blocks[i]
        if system.c.noted_arc != NONE:
            self.s.noted_block = blocks[system.c.noted_arc]
        width = self.layer.c.width
        check_shapes(
            weights,
            {
                "move_W": (self.s.n_moves, width),
                "move_b": (self.s.n_moves,),
                "label_W": (self.s.n_blocks, self.s.n_labels, width),
                "label_b": (self.s.n_blocks, self.s.n_labels),
            },
        )
        move_W = padded(weights["move_W"].T)
        label_W = padded(weights["label_W"].transpose((0, 2, 1)))
        self.s.move_stride = move_W.shape[-1]
        self.s.label_stride = label_W.shape[-1]
        self.s.move_W = keep(self.arrays, move_W)
        self.s.move_b = keep(self.arrays, padded(weights["move_b"]))
        self.s.label_W = keep(self.arrays, label_W)
        self.s.label_b = keep(self.arrays, padded(weights["label_b"]))
        self.s.moves = <float*>allocate(self.s.move_stride, sizeof(float))
        self.c.self = &self.s
        self.c.n_labels = self.s.n_labels
        self.c.label_stride = self.s.label_stride
        self.c.left_out = left_out(&system.c)
        self.c.notes_labels = self.s.noted_block != NONE
        self.c.begin = begin
        self.c.score = score
        self.c.score_labels = score_labels
        self.c.score_noted = score_noted
        self.c.learn = learn
        self.c.label_gradient = label_gradient
        self.c.keep = keep_configuration
        self.c.recall = recall

    def __dealloc__(self):
        free(self.s.moves)

    cdef int make_tables(self, int first, int last) except -1:
        self.rows.make(first, last)
        return 0

    cdef int make_places(self, int n) except -1:
        return self.layer.make_places(n)

    cdef void set_learning(self, bint on) noexcept:
        self.layer.c.learning = on

    def begin_learning(self, float dropout, seed):
        self.layer.begin_learning(
            self.s.n_moves + self.s.n_blocks * self.s.n_labels, dropout, seed
        )

    def gradients(self):
        cdef float[:, ::1] d_rows
        n_moves = self.s.n_moves
        output_W = numpy.concatenate(
            [self.weights["move_W"], self.weights["label_W"].reshape(-1, self.layer.c.width)]
        )
        d_rows_array = self.rows.gradient()
        d_rows = d_rows_array
        d = self.layer.gradients(output_W, &d_rows[0, 0], NULL, 0)
        d_output_W, d_output_b = d.pop("output_W"), d.pop("output_b")
        return Gradients(
            d_rows_array[:, : self.rows.size],
            None,
            {
                **d,
                "move_W": d_output_W[:n_moves],
                "move_b": d_output_b[:n_moves],
                "label_W": d_output_W[n_moves:].reshape(self.weights["label_W"].shape),
                "label_b": d_output_b[n_moves:].reshape(self.weights["label_b"].shape),
            },
        )


def label_blocks(TransitionSystem system):
    """For each move of the table the number of its label distribution, or -1: it has none."""
    blocks = []
    cdef int n = 0
    for i in range(system.c.n_moves):
        labelled = system.labels is not None and system.c.moves[i].labelled
        blocks.append(n if labelled else NONE)
        n += labelled
    return blocks
