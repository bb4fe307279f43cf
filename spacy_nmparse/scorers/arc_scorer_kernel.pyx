"""The inner loops of the arc scorer. With j the focus word and i an item, of lambda1 or the stack:

    c                = hidden layer of the configuration
    score(move)      = move_W . c + move_b      for SHIFT, NO-ARC, BREAK
    p                = hidden layer of the pair i, j, with a row made from c
    score(j -> i)    = alpha_left log P(j | i) + left_W . p
    score(i -> j)    = alpha_right log P(i | j) + right_W . p
    P(head | word)   = softmax over near words and ROOT of h . U . d, U of the arc's direction
    P(label | arc)   = softmax(label_W . l + label_b)
    l                = hidden layer of the arc, with a row made from c

j is the word that all arcs of the configuration join to others: the first of the buffer, or where
that is ROOT, the word that gets a head. An arc from ROOT is one from the item ROOT to j. i -> j
leads to the right in the text: the words that are items are before j, and ROOT counts as such.

h and d are the vectors of the head as head and of the word as dependent. U . d and h . U are
computed for all words by matrix products, as is what a word adds to each hidden layer: the loops
only add rows up. P(head | word) is the biaffine model of Dozat & Manning (2017): it knows nothing
of configurations, but of the words still to come, and is learned from gold trees besides. Labels
are scored for arcs that are chosen (or, in learning, right) only. When nothing is learned, pairs
whose P is below a floor go without p.
"""
import numpy

from libc.math cimport INFINITY, exp, log
from libc.stdlib cimport abs, calloc, free
from libc.string cimport memcpy

from spacy_nmparse.scorers.layer cimport (
    TapeC,
    keep,
    layer_gradient,
    layer_keep,
    layer_recall,
    layer_remember,
    layer_run,
    layer_run_item,
)
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.system cimport CandidateC, TransitionSystem

from spacy_nmparse.scorers.layer import check_shapes, padded


cdef extern from "kernels.h" nogil:
    void nmp_add(float* out, const float* row, int width)
    void nmp_add_scaled(float* out, const float* row, float scale, int width)
    float nmp_dot(const float* a, const float* b, int width)
    void nmp_affine_sparse(
        float* out, const float* bias, const float* weights, const float* hidden,
        int n_in, int n_out
    )


cdef inline ptrdiff_t row_of(const ArcScorerC* self, const StateC* s, int w) noexcept nogil:
    return self.root_row if w == s.n else w - self.first_word


cdef inline bint leads_right(const StateC* s, const CandidateC* c) noexcept nogil:
    """Whether an arc leads from an item to the focus word."""
    return c.head == s.n or c.head < c.dependent


cdef inline float tree_score(
    const ArcScorerC* self, ptrdiff_t row, ptrdiff_t focus, bint right
) noexcept nogil:
    """log P(head | dependent) by the biaffine part alone, of an arc with an item."""
    cdef ptrdiff_t d = focus if right else row
    cdef ptrdiff_t h = row if right else focus
    if h == self.root_row:
        return self.head_scores[d * HEADS + HEADS - 1] - self.log_total[d]
    if self.stretch[2 * d] <= h < self.stretch[2 * d + 1] and abs(h - d) <= REACH:
        return self.head_scores[d * HEADS + h - d + REACH] - self.log_total[d]
    return nmp_dot(
        self.queries + (2 * focus + right) * self.width,
        self.items + (2 * row + right) * self.width, self.width
    ) - self.log_total[d]


cdef void score(
    void* scorer, const StateC* s, const CandidateC* candidates, int n, float* out
) noexcept nogil:
    cdef ArcScorerC* self = <ArcScorerC*>scorer
    cdef LayerC* context = self.context
    cdef int m, i, j
    cdef ptrdiff_t row
    cdef bint right
    cdef float log_p
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
            continue
        right = leads_right(s, &candidates[m])
        i = candidates[m].head if right else candidates[m].dependent
        j = candidates[m].dependent if right else candidates[m].head
        row = row_of(self, s, i)
        log_p = tree_score(self, row, row_of(self, s, j), right)
        out[m] = self.alpha[right] * log_p
        if log_p >= self.floor:
            if self.scored[row] != self.n_scored:
                score_pair(self, s, i, j, row)
            out[m] += self.pair_scores[2 * row + right]


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
    cdef ptrdiff_t i, j
    cdef int m
    cdef bint right
    cdef float d_score
    for m in range(n):
        if candidates[m].dependent == NONE:
            d[candidates[m].move] += d_scores[m]
            continue
        right = leads_right(s, &candidates[m])
        i = row_of(self, s, candidates[m].head if right else candidates[m].dependent)
        j = row_of(self, s, candidates[m].dependent if right else candidates[m].head)
        d_score = self.alpha[right] * d_scores[m]
        self.d_alpha[right] += d_scores[m] * tree_score(self, i, j, right)
        self.d_log_total[j if right else i] += d_score
        nmp_add_scaled(
            self.d_queries + (2 * j + right) * self.width,
            self.items + (2 * i + right) * self.width, d_score, self.width
        )
        nmp_add_scaled(
            self.d_items + (2 * i + right) * self.width,
            self.queries + (2 * j + right) * self.width, d_score, self.width
        )
        layer_gradient(self.pairs, self.pair_steps[i])[right] += d_scores[m]


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
        row = row_of(self, s, item_of(s, &candidates[m]))
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


cdef inline void arc_places(
    const ArcScorerC* self, int h, int d, ptrdiff_t* item, ptrdiff_t* query
) noexcept nogil:
    """Where the vectors of an arc between two rows begin in items and queries."""
    cdef bint right = h == self.root_row or h < d
    item[0] = (2 * (h if right else d) + right) * <ptrdiff_t>self.width
    query[0] = (2 * (d if right else h) + right) * <ptrdiff_t>self.width


cdef int score_heads(const ArcScorerC* self, int d, int* first, float* out) noexcept nogil:
    """Biaffine scores of all heads of row d: of the near words of its stretch, from row first[0]
    on, then of ROOT. Returns their number. Its own is -inf."""
    cdef int last = min(self.stretch[2 * d + 1], d + REACH + 1)
    cdef int h
    cdef ptrdiff_t item, query
    first[0] = max(self.stretch[2 * d], d - REACH)
    for h in range(first[0], last + 1):
        if h == d:
            out[h - first[0]] = -INFINITY
            continue
        arc_places(self, self.root_row if h == last else h, d, &item, &query)
        out[h - first[0]] = nmp_dot(self.items + item, self.queries + query, self.width)
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


cdef double learn_tree(void* scorer, const GoldC* gold) noexcept nogil:
    """Every word chooses its head among the near words and ROOT, by the biaffine part alone. Also
    back-propagates what the moves' scores have left in d_log_total."""
    cdef ArcScorerC* self = <ArcScorerC*>scorer
    cdef int w, d, g, m, n, first
    cdef bint known
    cdef ptrdiff_t item, query
    cdef float total, share
    cdef double loss = 0
    for w in range(gold.n):
        d = w - self.first_word
        n = score_heads(self, d, &first, self.shares)
        total = log_sum(self.shares, n)
        g = NONE
        if gold.head[w] == gold.n:
            g = n - 1
        elif gold.head[w] != NONE:
            g = gold.head[w] - self.first_word - first
            if g >= n - 1:  # far away; the last place is ROOT's
                g = NONE
        known = g >= 0
        if known:
            loss += self.tree_weight * (total - self.shares[g])
        for m in range(n):
            if first + m == d:
                continue
            share = <float>exp(self.shares[m] - total)
            share *= self.tree_weight * known - self.d_log_total[d]
            if m == g and known:
                share -= self.tree_weight
            arc_places(self, self.root_row if m == n - 1 else first + m, d, &item, &query)
            nmp_add_scaled(self.d_items + item, self.queries + query, share, self.width)
            nmp_add_scaled(self.d_queries + query, self.items + item, share, self.width)
    return loss


cdef float* label_gradient(void* scorer, int ticket) noexcept nogil:
    return layer_gradient((<ArcScorerC*>scorer).labels, ticket)


cdef class ArcScorerKernel(Scorer):
    """The scores of one batch.

    Args:
        features: ``Features`` of a configuration ("context"), of an item and the focus word
            ("pair": H is the item, D the focus word), of an arc ("label").
        system: the transition system whose moves it scores.
        vectors: float32 (words, width): one row for each parsed word of the batch, projected.
        items: float32 (words, 2, arc width): each word's vectors as dependent and as head.
        lengths: int32, words of each stretch that surely begins and ends a sentence.
        weights: float32 arrays on the CPU, as ``arc_scorer.shapes`` tells.
        pieces: maxout pieces of the hidden layers.
        tree_weight: weight, in learning, of the loss of P(head | word).
        floor: when nothing is learned, arcs whose P(head | word) is below get no score from the
            pair's layer.

    Raises:
        ValueError: weights of other shapes, or a system whose arcs do not all join one word of the
            configuration to others.
    """
    def __init__(
        self, dict features, TransitionSystem system, vectors, items, lengths, dict weights,
        int pieces, float tree_weight, double floor
    ):
        if not system.c.one_focus:
            raise ValueError(
                f"An arc scorer cannot score {system.name}: it scores arcs between the first word "
                f"of the buffer and any item of a list or stack."
            )
        n_labels = system.c.n_labels
        layers = [
            Layer(
                features[name], n_labels,
                {part: weights[f"{name}_{part}"] for part in ("pad_rows", "fact_rows", "bias")},
                pieces
            )
            for name in ("context", "pair", "label")
        ]
        self.context, self.pairs, self.labels = layers
        self.vectors = vectors
        self.items = items
        self.weights = weights
        self.arrays = []
        ends = numpy.cumsum(lengths)
        self.starts = numpy.stack(
            [numpy.repeat(ends - lengths, lengths), numpy.repeat(ends, lengths)], axis=1
        )
        self.margin = REACH
        self.n_words = vectors.shape[0]
        self.lookahead = max(REACH + 1, *(f.lookahead for f in features.values()))
        self.a.context = &self.context.c
        self.a.pairs = &self.pairs.c
        self.a.labels = &self.labels.c
        self.a.n_labels = n_labels
        self.a.n_moves = system.c.n_moves
        self.a.width = weights["root"].shape[0]
        self.a.pair_size = pieces * self.pairs.c.width
        self.a.label_size = pieces * self.labels.c.width
        width = self.context.c.width
        n_outputs = self.a.n_moves + self.a.pair_size + self.a.label_size
        row = self.rows_before(None)
        check_shapes(
            weights,
            {
                "word_W": (row, vectors.shape[1]),
                "output_W": (n_outputs, width),
                "output_b": (n_outputs,),
                "pair_W": (2, self.pairs.c.width),
                "arc_U": (2, self.a.width, self.a.width),
                "root": (self.a.width,),
                "alpha": (2,),
                "label_W": (n_labels, self.labels.c.width),
                "label_b": (n_labels,),
            },
        )
        now = self.a.n_moves + self.a.pair_size
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
        self.a.outputs = <float*>calloc(self.a.output_stride, sizeof(float))
        self.a.mixed = <float*>calloc(self.a.label_size, sizeof(float))
        if self.a.outputs == NULL or self.a.mixed == NULL:
            raise MemoryError("No memory for the scores of a configuration.")
        self.labels.c.extra = self.a.mixed
        self.c.self = &self.a
        self.c.n_labels = n_labels
        self.c.label_stride = self.a.label_stride
        self.c.root_label = system.c.root_label
        self.c.notes_labels = False
        self.c.score = score
        self.c.score_labels = score_labels
        self.c.score_noted = NULL
        self.c.learn = learn
        self.c.label_gradient = label_gradient
        self.c.keep = keep_configuration
        self.c.recall = recall
        self.a.tree_weight = tree_weight
        self.a.floor = <float>log(floor) if floor > 0 else -INFINITY
        self.c.learn_tree = learn_tree
        self.a.alpha = [float(x) for x in weights["alpha"]]

    def __dealloc__(self):
        free(self.a.outputs)
        free(self.a.mixed)

    cdef ptrdiff_t rows_before(self, Layer layer) noexcept:
        """Where the layer's rows begin among those of a word. None: where the last one's end."""
        cdef Layer other
        cdef ptrdiff_t before = 0
        for other in (self.context, self.pairs, self.labels):
            if other is layer:
                break
            before += other.c.features.n_slots * other.c.pieces * <ptrdiff_t>other.c.width
        return before

    cdef int make_tables(self, int first, int last) except -1:
        cdef const float[:, ::1] rows
        cdef const float[:, :, ::1] items, queries
        cdef ptrdiff_t size = self.weights["word_W"].shape[0]
        cdef const int[:, ::1] stretch
        cdef float[::1] shares, log_total
        cdef float[:, ::1] pair_scores, head_scores
        cdef int[::1] scored, pair_steps
        cdef int d, count, near_
        cdef int n_rows = last - first
        cdef Layer layer
        n = last - first
        if self.rows is None or len(self.rows) < n:
            self.rows = numpy.empty((n, size), dtype="float32")
        numpy.matmul(self.vectors[first:last], self.weights["word_W"].T, out=self.rows[:n])
        rows = self.rows
        for layer in (self.context, self.pairs, self.labels):
            layer.set_rows(&rows[0, 0] + self.rows_before(layer), size)
        self.pairs.keep_sums(n + 1)
        items_array = numpy.zeros((n + 1, 2, self.a.width), dtype="float32")
        items_array[:n] = self.items[first:last]
        items_array[n, 1] = self.weights["root"]
        queries_array = numpy.empty((n + 1, 2, self.a.width), dtype="float32")
        for side in (0, 1):
            queries_array[:, side] = items_array[:, 1 - side] @ self.weights["arc_U"][side].T
        items, queries = items_array, queries_array
        self.a.items = &items[0, 0, 0]
        self.a.queries = &queries[0, 0, 0]
        self.a.root_row = n
        stretch_array = numpy.clip(self.starts[first:last] - first, 0, n).astype("int32")
        shares_array = numpy.empty(HEADS, dtype="float32")
        head_scores_array = numpy.empty((n, HEADS), dtype="float32")
        log_total_array = numpy.zeros(n + 1, dtype="float32")
        scored_array = numpy.zeros(n + 1, dtype="intc")
        pair_scores_array = numpy.empty((n + 1, 2), dtype="float32")
        pair_steps_array = numpy.empty(n + 1, dtype="intc")
        self.tables = (
            items_array, queries_array, stretch_array, shares_array, log_total_array,
            scored_array, pair_scores_array, pair_steps_array, head_scores_array
        )
        head_scores = head_scores_array
        self.a.head_scores = &head_scores[0, 0]
        scored, pair_scores, pair_steps = scored_array, pair_scores_array, pair_steps_array
        self.a.n_scored = 0
        self.a.scored = &scored[0]
        self.a.pair_scores = &pair_scores[0, 0]
        self.a.pair_steps = &pair_steps[0]
        stretch, shares, log_total = stretch_array, shares_array, log_total_array
        self.a.stretch = &stretch[0, 0]
        self.a.shares = &shares[0]
        self.a.log_total = &log_total[0]
        with nogil:
            for d in range(n_rows):
                count = score_heads(&self.a, d, &near_, &shares[0])
                log_total[d] = log_sum(&shares[0], count)
                memcpy(
                    &head_scores[d, near_ - d + REACH], &shares[0], (count - 1) * sizeof(float)
                )
                head_scores[d, HEADS - 1] = shares[count - 1]
        return 0

    cdef void begin(self, int offset) noexcept:
        self.a.first_word = self.first_row - offset
        self.context.c.first_word = self.a.first_word
        self.pairs.c.first_word = self.a.first_word
        self.labels.c.first_word = self.a.first_word

    cdef int make_places(self, int n) except -1:
        return self.context.make_places(n)

    cdef void set_learning(self, bint on) noexcept:
        self.context.c.learning = on
        self.pairs.c.learning = on
        self.labels.c.learning = on

    def begin_learning(self, float dropout, seed):
        cdef float[:, :, ::1] d_items, d_queries
        n_outputs = self.a.n_moves + self.a.pair_size + self.a.label_size
        self.context.begin_learning(n_outputs, dropout, seed)
        self.pairs.begin_learning(2, dropout, seed + 1)
        self.labels.begin_learning(self.a.n_labels, dropout, seed + 2)
        self.a.floor = -INFINITY
        shape = (self.n_words + 1, 2, self.a.width)
        cdef float[::1] d_log_total = numpy.zeros(self.n_words + 1, dtype="float32")
        self.arrays.append(d_log_total)
        self.a.d_log_total = &d_log_total[0]
        self.a.d_alpha = [0.0, 0.0]
        self.d_tables = [numpy.zeros(shape, dtype="float32") for _ in range(2)]
        d_items, d_queries = self.d_tables
        self.a.d_items = &d_items[0, 0, 0]
        self.a.d_queries = &d_queries[0, 0, 0]

    def gradients(self):
        """Gradients of the whole batch's tables, whose window must be all words."""
        from spacy_nmparse.scorers.arc_scorer import ArcGradients
        cdef float[:, ::1] d_rows
        cdef TapeC* tape = &self.context.c.tape
        cdef float* d_context = tape.d_outputs + self.a.n_moves
        cdef ptrdiff_t stride = tape.n_outputs
        d_rows_array = numpy.zeros((self.n_words, self.rows.shape[1]), dtype="float32")
        d_rows = d_rows_array
        # Backwards: the context made rows of the two other layers.
        labels = self.labels.gradients(
            self.weights["label_W"], &d_rows[0, 0] + self.rows_before(self.labels),
            d_context + self.a.pair_size, stride
        )
        pairs = self.pairs.gradients(
            self.weights["pair_W"], &d_rows[0, 0] + self.rows_before(self.pairs), d_context,
            stride
        )
        context = self.context.gradients(self.weights["output_W"], &d_rows[0, 0], NULL, 0)
        items = self.tables[0]
        d_items, d_queries = self.d_tables
        d_U = numpy.empty_like(self.weights["arc_U"])
        for side in (0, 1):
            d_U[side] = d_queries[:, side].T @ items[:, 1 - side]
            d_items[:, 1 - side] += d_queries[:, side] @ self.weights["arc_U"][side]
        pairs.pop("output_b")
        weights = {
            "output_W": context.pop("output_W"),
            "output_b": context.pop("output_b"),
            "pair_W": pairs.pop("output_W"),
            "label_W": labels.pop("output_W"),
            "label_b": labels.pop("output_b"),
            "arc_U": d_U,
            "root": d_items[-1, 1].copy(),
            "alpha": numpy.asarray([self.a.d_alpha[0], self.a.d_alpha[1]], dtype="float32"),
            **{f"context_{name}": gradient for name, gradient in context.items()},
            **{f"pair_{name}": gradient for name, gradient in pairs.items()},
            **{f"label_{name}": gradient for name, gradient in labels.items()},
        }
        return ArcGradients(d_rows_array, d_items[:-1], weights)
