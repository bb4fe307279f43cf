"""Training rollouts: the search runs, an oracle judges each configuration, gradients are collected.

The loss of a configuration is -log of the probability of what the oracle would have learned:
P(move) summed over the right moves, times P(label | move) where just one label is right. Everything
is written into flat arrays, and back-propagated by a few matrix products for the whole batch.
"""
import numpy

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int8_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from spacy_nmparse.learning.search cimport (
    NONE,
    CandidateC,
    ScratchC,
    StateC,
    StateScorerC,
    SystemC,
    fixed_label,
    is_forced,
    scratch_free,
    scratch_init,
    uniform,
)
from spacy_nmparse.scorers.state_scorer_kernel cimport (
    StateScorerKernel,
    best_label,
    find_rows,
    hidden_layer,
    label_scores,
    move_scores,
    word_row,
)
from spacy_nmparse.systems.gold cimport Gold, GoldC
from spacy_nmparse.systems.state cimport state_init
from spacy_nmparse.systems.system cimport (
    LEARN_LABEL,
    LEARN_NOT,
    MAX_MOVES,
    TransitionSystem,
    is_final,
    judge,
    legal_moves,
)


cdef extern from "kernels.h" nogil:
    void nmp_add(float* out, const float* row, int width)
    void nmp_add_product(float* out, const float* a, const float* b, int width)


cdef struct TapeC:          # what the steps of all rollouts leave behind
    int n_steps
    int n_outputs           # moves, then the labels of each block
    int* words              # (steps, slots)
    int* facts              # (steps, facts)
    float* hidden           # (steps, width), after dropout
    uint8_t* winner         # (steps, width): which piece won; DROPPED
    float* d_outputs        # (steps, n_outputs)
    double loss


cdef enum:
    DROPPED = 255


cdef void softmax(float* scores, int n, int skip) noexcept nogil:
    """In place; the entry `skip` gets no share."""
    cdef int i
    cdef float top = -1e30
    cdef float total = 0
    for i in range(n):
        if i != skip and scores[i] > top:
            top = scores[i]
    for i in range(n):
        scores[i] = 0 if i == skip else <float>exp(scores[i] - top)
        total += scores[i]
    for i in range(n):
        scores[i] /= total


cdef double log_softmax(const float* scores, int n, int skip, int which) noexcept nogil:
    """The logarithm of the share of one entry; the entry `skip` gets none."""
    cdef int i
    cdef double top = -INFINITY
    cdef double total = 0
    for i in range(n):
        if i != skip:
            top = max(top, <double>scores[i])
    for i in range(n):
        if i != skip:
            total += exp(scores[i] - top)
    return scores[which] - top - log(total)


cdef int normalize(const double* logs, float* out, int n, double* loss) noexcept nogil:
    """Shares that add up to 1; their sum's logarithm is taken off the loss. Returns the largest."""
    cdef int i
    cdef int best = 0
    cdef double total = 0
    for i in range(1, n):
        if logs[i] > logs[best]:
            best = i
    for i in range(n):
        total += exp(logs[i] - logs[best])
    for i in range(n):
        out[i] = <float>(exp(logs[i] - logs[best]) / total)
    loss[0] -= logs[best] + log(total)
    return best


cdef void activate(
    const StateScorerC* scorer, const float* pre, float* hidden, uint8_t* winner, float dropout,
    uint64_t* seed
) noexcept nogil:
    """Note which piece won, and drop units."""
    cdef int j, p, best
    cdef float keep = <float>1.0 / (<float>1.0 - dropout)
    for j in range(scorer.width):
        best = 0
        if scorer.pieces == 1:
            if pre[j] <= 0:
                best = DROPPED
        else:
            for p in range(1, scorer.pieces):
                if pre[p * scorer.width + j] > pre[best * scorer.width + j]:
                    best = p
        if dropout > 0:
            if uniform(seed) < dropout:
                best = DROPPED
                hidden[j] = 0
            else:
                hidden[j] *= keep
        winner[j] = <uint8_t>best


cdef void roll_out(
    const SystemC* system, const StateScorerC* scorer, ScratchC* scratch, const GoldC* gold,
    int oracle, float explore, float dropout, uint64_t* seed, int first_row, TapeC* tape
) noexcept nogil:
    cdef StateC* s = &scratch.state
    cdef CandidateC* candidates = scratch.candidates
    cdef CandidateC* c
    cdef CandidateC* chosen
    cdef int n_slots = scorer.features.n_slots
    cdef int n_facts = scorer.features.n_facts
    cdef int n_labels = scorer.n_labels
    cdef int i, n, label, noted, predicted, right
    cdef bint follow_model
    cdef float* hidden
    cdef float* d
    cdef float* d_labels
    cdef int* words
    cdef int* facts
    cdef float total, top, best_right, share
    cdef float[MAX_MOVES] probability    # of each candidate's move
    cdef float[MAX_MOVES] right_mass     # of what is right about it
    cdef double[MAX_MOVES] log_mass
    while not is_final(s):
        n = legal_moves(system, s, candidates)
        if n == 1 and is_forced(system, scorer, s, &candidates[0]):
            label = NONE
            if candidates[0].dependent != NONE:
                label = fixed_label(system, s, &candidates[0])
            system.moves[candidates[0].move].effect(system, s, candidates[0].k, label, label)
            continue
        words = tape.words + tape.n_steps * <ptrdiff_t>n_slots
        facts = tape.facts + tape.n_steps * <ptrdiff_t>n_facts
        hidden = tape.hidden + tape.n_steps * <ptrdiff_t>scorer.width
        d = tape.d_outputs + tape.n_steps * <ptrdiff_t>tape.n_outputs
        memset(d, 0, tape.n_outputs * sizeof(float))
        find_rows(scorer, s, first_row, words, facts)
        hidden_layer(scorer, words, facts, scratch.pre, hidden)
        activate(
            scorer, scratch.pre, hidden, tape.winner + tape.n_steps * <ptrdiff_t>scorer.width,
            dropout, seed
        )
        move_scores(scorer, hidden, scratch.moves)
        noted = NONE
        if scorer.noted_block != NONE and s.n_stack > 0 and n_labels > 1:
            label_scores(scorer, hidden, scorer.noted_block, scratch.labels)
            noted = best_label(scorer, scratch.labels)
        n = judge(system, s, gold, oracle, noted, candidates)

        # P(move) over the legal moves.
        top = scratch.moves[candidates[0].move]
        predicted = 0
        for i in range(1, n):
            if scratch.moves[candidates[i].move] > top:
                top = scratch.moves[candidates[i].move]
                predicted = i
        total = 0
        for i in range(n):
            probability[i] = <float>exp(scratch.moves[candidates[i].move] - top)
            total += probability[i]
        # The mass of what is right.
        best_right = -1
        right = 0
        share = 0
        for i in range(n):
            c = &candidates[i]
            probability[i] /= total
            right_mass[i] = 0
            if c.learn == LEARN_NOT:
                continue
            right_mass[i] = probability[i]
            if c.learn == LEARN_LABEL and fixed_label(system, s, c) == NONE:
                d_labels = d + scorer.n_moves + scorer.block[c.move] * n_labels
                label_scores(scorer, hidden, scorer.block[c.move], scratch.labels)
                memcpy(d_labels, scratch.labels, n_labels * sizeof(float))
                softmax(d_labels, n_labels, scorer.root_label)
                right_mass[i] *= d_labels[c.label]
            if right_mass[i] > best_right:
                best_right = right_mass[i]
                right = i
            share += right_mass[i]
        if share > <float>1e-30:
            tape.loss -= log(share)
            for i in range(n):
                right_mass[i] /= share
        else:  # too small for floats
            for i in range(n):
                c = &candidates[i]
                log_mass[i] = -INFINITY
                if c.learn == LEARN_NOT:
                    continue
                log_mass[i] = scratch.moves[c.move] - top - log(total)
                if c.learn == LEARN_LABEL and fixed_label(system, s, c) == NONE:
                    label_scores(scorer, hidden, scorer.block[c.move], scratch.labels)
                    log_mass[i] += log_softmax(scratch.labels, n_labels, scorer.root_label, c.label)
            right = normalize(log_mass, right_mass, n, &tape.loss)
        # Gradients of -log(share).
        for i in range(n):
            c = &candidates[i]
            d[c.move] = probability[i] - right_mass[i]
            if c.learn == LEARN_LABEL and fixed_label(system, s, c) == NONE:
                d_labels = d + scorer.n_moves + scorer.block[c.move] * n_labels
                for label in range(n_labels):
                    d_labels[label] *= right_mass[i]
                d_labels[c.label] -= right_mass[i]
        tape.n_steps += 1

        # Follow the model or the oracle.
        follow_model = explore > 0 and uniform(seed) < explore
        chosen = &candidates[predicted if follow_model else right]
        label = NONE
        if chosen.dependent != NONE:
            label = fixed_label(system, s, chosen)
            if label == NONE and not follow_model and chosen.learn == LEARN_LABEL:
                label = chosen.label
            elif label == NONE:
                label_scores(scorer, hidden, scorer.block[chosen.move], scratch.labels)
                label = best_label(scorer, scratch.labels)
            noted = label
        system.moves[chosen.move].effect(system, s, chosen.k, label, noted)


cdef inline float* gradient_row(
    float* d_words, float* d_pads, int row, int slot, int n_slots, int size
) noexcept nogil:
    if row < 0:
        return d_pads + (-1 - row) * <ptrdiff_t>size
    return d_words + (row * <ptrdiff_t>n_slots + slot) * size


cdef void scatter(
    const StateScorerC* scorer, const TapeC* tape, const float* d_hidden, float* d_pre, float keep,
    float* d_bias, float* d_words, float* d_pads, float* d_facts
) noexcept nogil:
    """Add each step's gradient to the rows that its hidden layer was the sum of."""
    cdef int size = scorer.pieces * scorer.width
    cdef int n_slots = scorer.features.n_slots
    cdef int n_facts = scorer.features.n_facts
    cdef int step, i, j, row, other
    cdef const int* words
    cdef const uint8_t* winner
    cdef const float* d
    for step in range(tape.n_steps):
        memset(d_pre, 0, size * sizeof(float))
        winner = tape.winner + step * <ptrdiff_t>scorer.width
        d = d_hidden + step * <ptrdiff_t>scorer.width
        for j in range(scorer.width):
            if winner[j] != DROPPED:
                d_pre[winner[j] * scorer.width + j] = d[j] * keep
        nmp_add(d_bias, d_pre, size)
        words = tape.words + step * <ptrdiff_t>n_slots
        for i in range(scorer.features.n_singles):
            nmp_add(gradient_row(d_words, d_pads, words[i], i, n_slots, size), d_pre, size)
        for i in range(scorer.features.n_singles, n_slots):
            other = i + 1 if (i - scorer.features.n_singles) % 2 == 0 else i - 1
            nmp_add_product(
                gradient_row(d_words, d_pads, words[i], i, n_slots, size), d_pre,
                word_row(scorer, words, other), size
            )
        for i in range(n_facts):
            row = tape.facts[step * <ptrdiff_t>n_facts + i]
            nmp_add(d_facts + row * <ptrdiff_t>size, d_pre, size)


def learn(
    TransitionSystem system, scored, params, golds, constraints, oracle, float explore,
    float dropout, seed
):
    """Roll out a batch once and collect its gradients.

    Args:
        system: the transition system.
        scored: the scorer's output over all words of the batch.
        params: the scorer's parameters "move_W", "label_W" (arrays on the CPU).
        golds: a ``Gold`` for each sequence; their lengths add up to the words of the batch.
        constraints: int8 (words,), as in ``greedy.parse``.
        oracle: name of the oracle that judges.
        explore: probability of following the model instead of the oracle, at each step.
        dropout: probability of dropping a hidden unit.
        seed: int that seeds exploration and dropout.

    Returns:
        (gradients, loss, steps): ``Gradients``; summed negative log likelihood; scored steps.
    """
    from spacy_nmparse.scorers.state_scorer import Gradients
    cdef StateScorerKernel kernel = scored.kernel
    cdef const StateScorerC* scorer = &kernel.c
    cdef int oracle_number = system.oracle_id(oracle)
    cdef int n_words = scored.vectors.shape[0]
    cdef int n_slots = scorer.features.n_slots
    cdef int n_facts = scorer.features.n_facts
    cdef ptrdiff_t size = scorer.pieces * scorer.width
    cdef ptrdiff_t capacity = 3 * n_words + 2
    cdef uint64_t random = (<uint64_t>seed) * 2 + 1
    cdef int w, n
    cdef int offset = 0
    cdef Gold gold
    cdef ScratchC scratch
    cdef StateC* s = &scratch.state
    cdef TapeC tape
    cdef const int8_t[::1] fixed = numpy.ascontiguousarray(constraints, dtype="int8")

    tape.n_steps = 0
    tape.n_outputs = scorer.n_moves + scorer.n_blocks * scorer.n_labels
    tape.loss = 0
    # Memory that is not reached is not used: the bound on the steps costs nothing.
    words_array = numpy.empty((capacity, n_slots), dtype="intc")
    facts_array = numpy.empty((capacity, max(n_facts, 1)), dtype="intc")
    hidden_array = numpy.empty((capacity, scorer.width), dtype="float32")
    winner_array = numpy.empty((capacity, scorer.width), dtype="uint8")
    outputs_array = numpy.empty((capacity, tape.n_outputs), dtype="float32")
    cdef int[:, ::1] words = words_array
    cdef int[:, ::1] facts = facts_array
    cdef float[:, ::1] hidden = hidden_array
    cdef uint8_t[:, ::1] winner = winner_array
    cdef float[:, ::1] outputs = outputs_array
    tape.words = &words[0, 0]
    tape.facts = &facts[0, 0]
    tape.hidden = &hidden[0, 0]
    tape.winner = &winner[0, 0]
    tape.d_outputs = &outputs[0, 0]

    rows_array = scored.word_rows(0, n_words)
    cdef const float[:, :, ::1] rows = rows_array
    kernel.set_window(&rows[0, 0, 0])
    scratch_init(&scratch, &system.c, scorer, max(len(gold) for gold in golds))
    try:
        for gold in golds:
            n = gold.c.n
            system.bind(gold)
            state_init(s, scratch.block, n)
            for w in range(n):
                s.constraint[w] = fixed[offset + w]
            system.c.start(&system.c, s)
            with nogil:
                roll_out(
                    &system.c, scorer, &scratch, &gold.c, oracle_number, explore, dropout,
                    &random, -offset, &tape
                )
            offset += n
    finally:
        scratch_free(&scratch)

    steps = tape.n_steps
    d_outputs = outputs_array[:steps]
    hidden_steps = hidden_array[:steps]
    output_W = numpy.concatenate(
        [params["move_W"], params["label_W"].reshape(-1, scorer.width)]
    )
    d_output_W = d_outputs.T @ hidden_steps
    d_output_b = d_outputs.sum(axis=0)
    d_hidden_array = numpy.ascontiguousarray(d_outputs @ output_W)
    d_words_array = numpy.zeros((n_words, n_slots, size), dtype="float32")
    weights = {
        "pad_rows": numpy.zeros((n_slots, 2, size), dtype="float32"),
        "fact_rows": numpy.zeros(params["fact_rows"].shape, dtype="float32"),
        "bias": numpy.zeros(size, dtype="float32"),
        "move_W": d_output_W[: scorer.n_moves],
        "move_b": d_output_b[: scorer.n_moves],
        "label_W": d_output_W[scorer.n_moves :].reshape(params["label_W"].shape),
        "label_b": d_output_b[scorer.n_moves :].reshape(scorer.n_blocks, scorer.n_labels),
    }
    cdef const float[:, ::1] d_hidden = d_hidden_array
    cdef float[:, :, ::1] d_words = d_words_array
    cdef float[:, :, ::1] d_pads = weights["pad_rows"]
    cdef float[:, ::1] d_facts = weights["fact_rows"]
    cdef float[::1] d_bias = weights["bias"]
    cdef float[::1] d_pre = numpy.empty(size, dtype="float32")
    cdef float keep = 1 / (1 - dropout)
    cdef float* d_facts_start = &d_facts[0, 0] if d_facts.shape[0] else NULL
    if steps:
        with nogil:
            scatter(
                scorer, &tape, &d_hidden[0, 0], &d_pre[0], keep, &d_bias[0], &d_words[0, 0, 0],
                &d_pads[0, 0, 0], d_facts_start
            )
    return Gradients(d_words_array, weights), tape.loss, steps
