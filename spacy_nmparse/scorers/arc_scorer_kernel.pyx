"""The inner loops of the arc scorer. With j the focus word and i an item, of lambda1 or the stack:

    c                = hidden layer of the configuration
    score(move)      = move_W . c + move_b      for SHIFT, NO-ARC, BREAK
    p                = hidden layer of the pair i, j, with a row made from c
    score(j -> i)    = alpha_left log P(j | i) + left_W . p
    score(i -> j)    = alpha_right log P(i | j) + right_W . p
    P(head | word)   : see tree_scores.pyx
    P(label | arc)   = softmax(label_W . l + label_b)
    l                = hidden layer of the arc, with a row made from c

j is an end of all arcs of the configuration: the first word of the buffer or, where that is ROOT,
the word that gets a head. An arc from ROOT is one from the item ROOT to j. All items are before j
in the text, and ROOT counts as before j, so i -> j leads to the right.

One matrix product computes what each word adds to each hidden layer; the loops only add rows up.
Labels are scored only for arcs that are chosen or, in learning, right. In parsing, only the arcs
with the highest P(head | word) have a pair layer p.
"""
import numpy

from libc.math cimport INFINITY
from libc.stddef cimport ptrdiff_t
from libc.stdlib cimport free

from spacy_nmparse.layers.kernels cimport nmp_affine_sparse, nmp_dot
from spacy_nmparse.scorers.hidden_layer cimport (
    Layer,
    LayerC,
    keep,
    layer_gradient,
    layer_keep,
    layer_recall,
    layer_remember,
    layer_run,
    layer_run_item,
)
from spacy_nmparse.scorers.scorer cimport Scorer
from spacy_nmparse.scorers.tape cimport TapeC
from spacy_nmparse.scorers.tree_scores cimport (
    REACH,
    TreeC,
    TreeScores,
    tree_learn,
    tree_learn_arc,
    tree_log_p,
)
from spacy_nmparse.scorers.word_rows cimport WordRows
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.memory cimport allocate
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.table cimport CandidateC, MoveTable

from spacy_nmparse.scorers.hidden_layer import check_shapes, padded
from spacy_nmparse.scorers.shared import Gradients


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


cdef inline ptrdiff_t row_of(const ArcScorerC* self, const StateC* s, int w) noexcept nogil:
    return self.tree.root_row if w == s.n else w - self.tree.first_word


cdef inline bint leads_right(const StateC* s, const CandidateC* c) noexcept nogil:
    """Whether an arc leads from an item to the focus word."""
    return c.head == s.n or c.head < c.dependent


cdef void begin(void* scorer, int first_row, int offset) noexcept nogil:
    cdef ArcScorerC* self = <ArcScorerC*>scorer
    cdef int first_word = first_row - offset
    self.tree.first_word = first_word
    self.context.first_word = first_word
    self.pairs.first_word = first_word
    self.labels.first_word = first_word


cdef void score(
    void* scorer, const StateC* s, const CandidateC* candidates, int n, float* out
) noexcept nogil:
    cdef ArcScorerC* self = <ArcScorerC*>scorer
    cdef LayerC* context = self.context
    cdef int m, i, j
    cdef ptrdiff_t row
    cdef bint right
    cdef float floor
    layer_run(context, s, NONE, NONE)
    nmp_affine_sparse(
        self.outputs, self.output_b, self.output_W, context.hidden, context.width,
        self.output_stride
    )
    self.pairs.extra = self.outputs + self.n_moves
    self.n_scored += 1
    if context.learning:
        self.step = layer_remember(context)
        self.pairs.owner = self.step
    for m in range(n):
        if candidates[m].dependent == NONE:
            out[m] = self.outputs[candidates[m].move]
        else:
            out[m] = tree_log_p(
                self.tree, row_of(self, s, candidates[m].head),
                row_of(self, s, candidates[m].dependent)
            )
    floor = least_looked_at(self, candidates, n, out)
    for m in range(n):
        if candidates[m].dependent == NONE:
            continue
        right = leads_right(s, &candidates[m])
        i = candidates[m].head if right else candidates[m].dependent
        j = candidates[m].dependent if right else candidates[m].head
        row = row_of(self, s, i)
        if out[m] < floor:
            out[m] *= self.alpha[right]
            continue
        if self.scored[row] != self.n_scored:
            score_pair(self, s, i, j, row)
        out[m] = self.alpha[right] * out[m] + self.pair_scores[2 * row + right]


cdef float least_looked_at(
    const ArcScorerC* self, const CandidateC* candidates, int n, const float* log_p
) noexcept nogil:
    """The least log P of the n_pairs likeliest arcs."""
    cdef float top[MOST_PAIRS]
    cdef int m, i
    cdef int count = 0
    if self.n_pairs == 0 or n <= self.n_pairs:
        return -INFINITY
    for m in range(n):
        if candidates[m].dependent == NONE or (
            count == self.n_pairs and log_p[m] <= top[count - 1]
        ):
            continue
        i = count if count < self.n_pairs else count - 1
        count = i + 1
        while i > 0 and top[i - 1] < log_p[m]:
            top[i] = top[i - 1]
            i -= 1
        top[i] = log_p[m]
    return top[count - 1] if count == self.n_pairs else -INFINITY


cdef void score_pair(
    ArcScorerC* self, const StateC* s, int i, int j, ptrdiff_t row
) noexcept nogil:
    """Both arcs between i and j follow from one hidden layer."""
    cdef LayerC* pairs = self.pairs
    self.scored[row] = self.n_scored
    layer_run_item(pairs, s, <int>row, i, j)
    if pairs.learning:
        self.pair_steps[row] = layer_remember(pairs)
    self.pair_scores[2 * row] = nmp_dot(self.pair_W, pairs.hidden, pairs.width)
    self.pair_scores[2 * row + 1] = nmp_dot(self.pair_W + pairs.width, pairs.hidden, pairs.width)


cdef int score_labels(
    void* scorer, const StateC* s, const CandidateC* c, bint remember, float* out
) noexcept nogil:
    """The ticket is the step of the label layer's tape."""
    cdef ArcScorerC* self = <ArcScorerC*>scorer
    cdef LayerC* labels = self.labels
    nmp_affine_sparse(
        self.mixed, self.mix_b, self.mix_W, self.context.hidden, self.context.width,
        self.label_size
    )
    labels.owner = self.step
    layer_run(labels, s, c.head, c.dependent)
    nmp_affine_sparse(
        out, self.label_b, self.label_W, labels.hidden, labels.width, self.label_stride
    )
    return layer_remember(labels) if remember and labels.learning else NONE


cdef void learn(
    void* scorer, const StateC* s, const CandidateC* candidates, int n, const float* d_scores
) noexcept nogil:
    cdef ArcScorerC* self = <ArcScorerC*>scorer
    cdef float* d = layer_gradient(self.context, self.step)
    cdef ptrdiff_t head, dependent
    cdef int m
    cdef bint right
    for m in range(n):
        if candidates[m].dependent == NONE:
            d[candidates[m].move] += d_scores[m]
            continue
        right = leads_right(s, &candidates[m])
        head = row_of(self, s, candidates[m].head)
        dependent = row_of(self, s, candidates[m].dependent)
        self.d_alpha[right] += d_scores[m] * tree_log_p(self.tree, head, dependent)
        tree_learn_arc(self.tree, head, dependent, self.alpha[right] * d_scores[m])
        layer_gradient(self.pairs, self.pair_steps[head if right else dependent])[right] += (
            d_scores[m]
        )


cdef int keep_configuration(void* scorer, int place) noexcept nogil:
    cdef ArcScorerC* self = <ArcScorerC*>scorer
    return layer_keep(self.context, self.step, place)


cdef void recall(
    void* scorer, int ticket, const StateC* s, const CandidateC* candidates, int n
) noexcept nogil:
    """The steps of a configuration's pairs follow each other, in the order of its candidates."""
    cdef ArcScorerC* self = <ArcScorerC*>scorer
    cdef int step, m
    cdef ptrdiff_t row
    layer_recall(self.context, ticket)
    self.step = ticket
    if n == 0:
        return
    self.n_scored += 1
    step = first_owned(&self.pairs.tape, ticket)
    for m in range(n):
        if candidates[m].dependent == NONE:
            continue
        row = row_of(
            self, s,
            candidates[m].head if leads_right(s, &candidates[m]) else candidates[m].dependent
        )
        if self.scored[row] != self.n_scored:
            self.scored[row] = self.n_scored
            self.pair_steps[row] = step
            step += 1


cdef int first_owned(const TapeC* tape, int owner) noexcept nogil:
    """The first step that belongs to this owner or a later one; owners are in order."""
    cdef int low = 0
    cdef int high = tape.n_steps
    cdef int middle
    while low < high:
        middle = (low + high) // 2
        if tape.owner[middle] < owner:
            low = middle + 1
        else:
            high = middle
    return low


cdef double learn_tree(void* scorer, const GoldC* gold) noexcept nogil:
    return tree_learn((<ArcScorerC*>scorer).tree, gold)


cdef float* label_gradient(void* scorer, int ticket) noexcept nogil:
    return layer_gradient((<ArcScorerC*>scorer).labels, ticket)


def check_system(MoveTable system):
    """Raise ValueError where the arcs of a configuration do not all have one word as an end."""
    if system.c.item is NULL:
        raise ValueError(
            f"An arc scorer cannot score {system.name}: it scores arcs between the first word of "
            f"the buffer and any item of a list or stack. A state scorer can."
        )


cdef class ArcScorerKernel(Scorer):
    """The scores of one batch.

    Args:
        features: ``Features`` of a configuration ("context"), of an item and the focus word
            ("pair": H is the item, D the focus word), of an arc ("label").
        system: the transition system whose moves it scores.
        vectors: float32 (words, width): one row for each parsed word of the batch, projected.
        tree: P(head | word).
        weights: float32 arrays on the CPU, as ``arc_scorer.shapes`` tells.
        pieces: maxout pieces of the hidden layers.
        n_pairs: when nothing is learned, this many arcs of a configuration, the likeliest by
            P(head | word), get a score from the pair's layer; at most MOST_PAIRS; 0: all.

    Raises:
        ValueError: weights of other shapes, a tree of other words, or a system whose arcs do not
            all join one word of the configuration to others.
    """
    cdef ArcScorerC a
    cdef Layer context
    cdef Layer pairs
    cdef Layer labels
    cdef TreeScores tree
    cdef WordRows rows
    cdef object weights
    cdef object tables      # of the window
    cdef list arrays        # keeps the arrays alive that a points into

    def __cinit__(
        self, dict features, MoveTable system, vectors, TreeScores tree, dict weights,
        int pieces, int n_pairs
    ):
        check_system(system)
        if tree.n_words != len(vectors):
            raise ValueError(f"The tree scores {tree.n_words} words, not {len(vectors)}.")
        self.system = system
        n_labels = system.c.n_labels
        layers = [
            Layer(
                features[name], n_labels,
                {part: weights[f"{name}_{part}"] for part in ("pad_rows", "fact_rows", "bias")},
                pieces, sums_items=name == "pair"
            )
            for name in ("context", "pair", "label")
        ]
        self.context, self.pairs, self.labels = layers
        self.tree = tree
        self.weights = weights
        self.arrays = []
        self.margin = REACH
        self.n_words = vectors.shape[0]
        self.lookahead = max(REACH + 1, *(f.lookahead for f in features.values()))
        self.a.context = &self.context.c
        self.a.pairs = &self.pairs.c
        self.a.labels = &self.labels.c
        self.a.n_labels = n_labels
        self.a.n_moves = system.c.n_moves
        self.a.tree = &self.tree.c
        self.a.pair_size = pieces * self.pairs.c.width
        self.a.label_size = pieces * self.labels.c.width
        if not 0 <= n_pairs <= MOST_PAIRS:
            raise ValueError(f"An arc scorer looks at 0 to {MOST_PAIRS} pairs, not {n_pairs}.")
        self.a.n_pairs = n_pairs
        self.lay_out(weights)
        self.rows = WordRows(vectors, weights["word_W"], layers)
        self.c.self = &self.a
        self.c.n_labels = n_labels
        self.c.label_stride = self.a.label_stride
        self.c.notes_labels = False
        self.c.begin = begin
        self.c.score = score
        self.c.score_labels = score_labels
        self.c.learn = learn
        self.c.label_gradient = label_gradient
        self.c.keep = keep_configuration
        self.c.recall = recall
        self.c.learn_tree = learn_tree

    cdef int lay_out(self, dict weights) except -1:
        """Lay the weights of outputs out as the loops read them."""
        cdef int n_outputs = self.a.n_moves + self.a.pair_size + self.a.label_size
        cdef int now = self.a.n_moves + self.a.pair_size
        check_shapes(
            weights,
            {
                "output_W": (n_outputs, self.context.c.width),
                "output_b": (n_outputs,),
                "pair_W": (2, self.pairs.c.width),
                "alpha": (2,),
                "label_W": (self.a.n_labels, self.labels.c.width),
                "label_b": (self.a.n_labels,),
            },
        )
        output_W = padded(weights["output_W"][:now].T)
        label_W = padded(weights["label_W"].T)
        self.a.output_stride = output_W.shape[-1]
        self.a.label_stride = label_W.shape[-1]
        self.a.output_W = keep(self.arrays, output_W)
        self.a.output_b = keep(self.arrays, padded(weights["output_b"][:now]))
        self.a.mix_W = keep(self.arrays, weights["output_W"][now:].T)
        self.a.mix_b = keep(self.arrays, weights["output_b"][now:])
        self.a.pair_W = keep(self.arrays, weights["pair_W"])
        self.a.label_W = keep(self.arrays, label_W)
        self.a.label_b = keep(self.arrays, padded(weights["label_b"]))
        self.a.outputs = <float*>allocate(self.a.output_stride, sizeof(float))
        self.a.mixed = <float*>allocate(self.a.label_size, sizeof(float))
        self.labels.c.extra = self.a.mixed
        self.a.alpha = [float(x) for x in weights["alpha"]]
        return 0

    def __dealloc__(self):
        free(self.a.outputs)
        free(self.a.mixed)

    cdef int make_tables(self, int first, int last) except -1:
        cdef float[:, ::1] pair_scores
        cdef int[::1] scored, pair_steps
        n = last - first
        self.rows.make(first, last)
        self.pairs.make_sums(n + 1)
        self.tree.make_tables(first, last)
        self.tables = (
            numpy.zeros(n + 1, dtype="intc"), numpy.empty((n + 1, 2), dtype="float32"),
            numpy.empty(n + 1, dtype="intc")
        )
        scored, pair_scores, pair_steps = self.tables
        self.a.n_scored = 0
        self.a.scored = &scored[0]
        self.a.pair_scores = &pair_scores[0, 0]
        self.a.pair_steps = &pair_steps[0]
        return 0

    cdef int make_places(self, int n) except -1:
        return self.context.make_places(n)

    cdef void set_learning(self, bint on) noexcept:
        self.context.c.learning = on
        self.pairs.c.learning = on
        self.labels.c.learning = on

    def begin_learning(self, float dropout, seed):
        n_outputs = self.a.n_moves + self.a.pair_size + self.a.label_size
        self.context.begin_learning(n_outputs, dropout, seed)
        self.pairs.begin_learning(2, dropout, seed + 1)
        self.labels.begin_learning(self.a.n_labels, dropout, seed + 2)
        self.a.n_pairs = 0
        self.a.d_alpha = [0.0, 0.0]
        self.tree.begin_learning()

    def gradients(self):
        """Gradients of the whole batch's tables, whose window must be all words."""
        cdef float[:, ::1] d_rows
        cdef TapeC* tape = &self.context.c.tape
        cdef float* d_context = tape.d_outputs + self.a.n_moves
        cdef ptrdiff_t stride = tape.n_outputs
        d_rows_array = self.rows.gradient()
        d_rows = d_rows_array
        # Backwards: the context made rows of the two other layers.
        labels = self.labels.gradients(
            self.weights["label_W"], &d_rows[0, self.labels.c.first_column],
            d_context + self.a.pair_size, stride
        )
        pairs = self.pairs.gradients(
            self.weights["pair_W"], &d_rows[0, self.pairs.c.first_column], d_context, stride
        )
        context = self.context.gradients(self.weights["output_W"], &d_rows[0, 0], NULL, 0)
        d_items, tree = self.tree.gradients()
        pairs.pop("output_b")
        weights = {
            "output_W": context.pop("output_W"),
            "output_b": context.pop("output_b"),
            "pair_W": pairs.pop("output_W"),
            "label_W": labels.pop("output_W"),
            "label_b": labels.pop("output_b"),
            **tree,
            "alpha": numpy.asarray([self.a.d_alpha[0], self.a.d_alpha[1]], dtype="float32"),
            **{f"context_{name}": gradient for name, gradient in context.items()},
            **{f"pair_{name}": gradient for name, gradient in pairs.items()},
            **{f"label_{name}": gradient for name, gradient in labels.items()},
        }
        return Gradients(d_rows_array[:, : self.rows.size], d_items, weights)
