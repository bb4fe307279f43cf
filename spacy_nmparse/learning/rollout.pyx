"""Training rollouts: the search runs, an oracle judges each configuration, gradients are collected.

The loss of a configuration is -log of the probability of what the oracle would have learned:
P(move) summed over the right moves, times P(label | move) where just one label is right. Where a
teacher is given, another scorer, it has a share in the loss: the cross entropy with the teacher's
P(move), and with its P(label | move) of the move that it likes best, times P(move) (after Liu et
al. 2018, *Distilling Knowledge for Search-based Structured Prediction*).

A perceptron has the rule of Goldberg & Nivre (2012): where the best move and label are wrong, these
are weakened and the best right ones strengthened. A logistic regression takes note of the
configurations. With both, the loss is the number of configurations in which the best is wrong.
"""
import numpy

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int8_t, uint64_t

from spacy_nmparse.search.common cimport (
    NONE,
    CandidateC,
    ScratchC,
    StateC,
    SystemC,
    fixed_label,
    is_forced,
    scratch_free,
    scratch_init,
)
from spacy_nmparse.scorers.hidden_layer cimport uniform
from spacy_nmparse.scorers.scorer cimport Scorer, ScorerC, best_label, log_total
from spacy_nmparse.systems.gold cimport Gold, GoldC
from spacy_nmparse.systems.state cimport state_init
from spacy_nmparse.systems.system cimport (
    COMBINED,
    DYNAMIC,
    LEARN_ANY,
    LEARN_LABEL,
    LEARN_NOT,
    MONOTONIC,
    TransitionSystem,
    apply_oracle,
    legal_moves,
    max_candidates,
)


cdef enum:
    # Words that a sentence may have in exploration. A parser that has not learned to end sentences
    # would run to the end of the document, and list systems look at all pairs of its words.
    STRAY = 200


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


cdef void log_softmax(float* scores, int n, int skip) noexcept nogil:
    """In place; the entry `skip` does not change."""
    cdef int i
    cdef double total = log_total(scores, n, skip)
    for i in range(n):
        if i != skip:
            scores[i] = <float>(scores[i] - total)


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


cdef int oracle_for(const GoldC* gold, int oracle) noexcept nogil:
    """The oracle that judges a tree in learning. Where heads are unknown, the dynamic one does for
    those that follow one tree: they would have invented arcs, or none, learned as right ones. Where
    no head is known, it does for all, and so nothing is learned."""
    if gold.n_unknown == 0:
        return oracle
    if gold.n_unknown < gold.n and (oracle == MONOTONIC or oracle == COMBINED):
        return oracle
    return DYNAMIC


cdef double teach(
    const SystemC* system, const ScorerC* scorer, const TeacherC* teacher, const StateC* s,
    const CandidateC* candidates, int n, float* scores, float* d_scores
) noexcept nogil:
    """Learn the teacher's choices in the configuration that the scorer scored last, with these
    scores (which are overwritten). Adds their gradient to d_scores; returns the loss."""
    cdef const ScorerC* knows = teacher.scorer
    cdef const CandidateC* c
    cdef int i, label, ticket
    cdef int best = 0
    cdef double loss = 0
    cdef float part
    cdef float* probabilities = teacher.probabilities
    cdef float* labels = teacher.labels
    cdef float* own = teacher.own_labels
    cdef float* d_labels
    knows.score(knows.self, s, candidates, n, probabilities)
    softmax(probabilities, n, NONE)
    log_softmax(scores, n, NONE)
    for i in range(n):
        if probabilities[i] > probabilities[best]:
            best = i
        loss -= probabilities[i] * scores[i]
        d_scores[i] += teacher.weight * (<float>exp(scores[i]) - probabilities[i])
    c = &candidates[best]
    if c.dependent == NONE or fixed_label(system, s, c) != NONE:
        return teacher.weight * loss
    part = probabilities[best]
    knows.score_labels(knows.self, s, c, False, labels)
    softmax(labels, system.n_labels, scorer.root_label)
    ticket = scorer.score_labels(scorer.self, s, c, True, own)
    log_softmax(own, system.n_labels, scorer.root_label)
    d_labels = scorer.label_gradient(scorer.self, ticket)
    for label in range(system.n_labels):
        if label != scorer.root_label:
            loss -= part * labels[label] * own[label]
            d_labels[label] += teacher.weight * part * (<float>exp(own[label]) - labels[label])
    return teacher.weight * loss


cdef int learn_likelihood(
    const SystemC* system, const ScorerC* scorer, const TeacherC* teacher, const StateC* s,
    CandidateC* candidates, int n, const ScratchC* scratch, int* predicted, TotalsC* totals
) noexcept nogil:
    """Learn by the gradient of the loss of the configuration scored last. Returns the best right
    candidate; predicted: the best one."""
    cdef CandidateC* c
    cdef int i, label, right
    cdef float* d_labels
    cdef float total, top, best_right, share, weight
    cdef double loss_before
    cdef float* scores = scratch.scores
    cdef float* probability = scratch.values    # of each candidate
    cdef float* right_mass = scratch.right      # of what is right about it
    cdef double* log_mass = scratch.logs
    weight = 1 if teacher is NULL else 1 - teacher.weight
    loss_before = totals.loss

    # P(move) over the legal moves.
    predicted[0] = 0
    for i in range(1, n):
        if scores[i] > scores[predicted[0]]:
            predicted[0] = i
    top = scores[predicted[0]]
    total = 0
    for i in range(n):
        probability[i] = <float>exp(scores[i] - top)
        total += probability[i]
    # The mass of what is right. candidates[i].ticket: of its remembered label scores.
    best_right = -1
    right = 0
    share = 0
    for i in range(n):
        c = &candidates[i]
        probability[i] /= total
        right_mass[i] = 0
        log_mass[i] = -INFINITY
        if c.learn == LEARN_NOT:
            continue
        right_mass[i] = probability[i]
        log_mass[i] = scores[i] - top - log(total)
        if c.learn == LEARN_LABEL and fixed_label(system, s, c) == NONE:
            c.ticket = scorer.score_labels(scorer.self, s, c, True, scratch.labels)
            log_mass[i] += scratch.labels[c.label] - log_total(
                scratch.labels, system.n_labels, scorer.root_label
            )
            softmax(scratch.labels, system.n_labels, scorer.root_label)
            d_labels = scorer.label_gradient(scorer.self, c.ticket)
            for label in range(system.n_labels):
                d_labels[label] = scratch.labels[label]
            right_mass[i] *= scratch.labels[c.label]
        if right_mass[i] > best_right:
            best_right = right_mass[i]
            right = i
        share += right_mass[i]
    if share > <float>1e-30:
        totals.loss -= log(share)
        for i in range(n):
            right_mass[i] /= share
    else:  # too small for floats
        right = normalize(log_mass, right_mass, n, &totals.loss)
    totals.loss = loss_before + weight * (totals.loss - loss_before)
    # Gradients of -weight log(share).
    for i in range(n):
        c = &candidates[i]
        probability[i] = weight * (probability[i] - right_mass[i])
        if c.learn == LEARN_LABEL and fixed_label(system, s, c) == NONE:
            d_labels = scorer.label_gradient(scorer.self, c.ticket)
            for label in range(system.n_labels):
                d_labels[label] *= weight * right_mass[i]
            d_labels[c.label] -= weight * right_mass[i]
    if teacher is not NULL:
        totals.loss += teach(system, scorer, teacher, s, candidates, n, scores, probability)
    scorer.learn(scorer.self, s, candidates, n, probability)
    return right


cdef int learn_mistake(
    const SystemC* system, const ScorerC* scorer, const StateC* s, const CandidateC* candidates,
    int n, const ScratchC* scratch, int* predicted, TotalsC* totals
) noexcept nogil:
    """The same by the perceptron's rule, if the scorer has one."""
    cdef const float* scores = scratch.scores
    cdef const CandidateC* c
    cdef int i, label
    cdef int right = NONE
    cdef int right_label = NONE
    cdef float value
    cdef float best = 0
    predicted[0] = 0
    for i in range(n):
        c = &candidates[i]
        if scores[i] > scores[predicted[0]]:
            predicted[0] = i
        if c.learn == LEARN_NOT:
            continue
        label = choose_label(system, scorer, s, c, scratch.labels)
        value = scores[i]
        if c.learn == LEARN_LABEL and label != c.label and fixed_label(system, s, c) == NONE:
            label = c.label
            value = scratch.labels[label]
        if right == NONE or value > best:
            right = i
            right_label = label
            best = value
    c = &candidates[predicted[0]]
    label = choose_label(system, scorer, s, c, scratch.labels)
    if c.learn == LEARN_ANY or (
        c.learn == LEARN_LABEL and (label == c.label or fixed_label(system, s, c) != NONE)
    ):
        return predicted[0]
    totals.loss += 1
    if scorer.add is not NULL:
        scorer.add(scorer.self, &candidates[right], right_label, 1)
        scorer.add(scorer.self, c, label, -1)
    return right


cdef inline int choose_label(
    const SystemC* system, const ScorerC* scorer, const StateC* s, const CandidateC* c,
    float* labels
) noexcept nogil:
    """The label that the model gives a move's arc, or NONE. Fills labels where it has a choice."""
    cdef int label
    if c.dependent == NONE:
        return NONE
    label = fixed_label(system, s, c)
    if label == NONE:
        scorer.score_labels(scorer.self, s, c, False, labels)
        label = best_label(scorer, labels)
    return label


cdef void roll_out(
    const SystemC* system, const ScorerC* scorer, const TeacherC* teacher, ScratchC* scratch,
    const GoldC* gold, int oracle, float explore, uint64_t* seed, TotalsC* totals
) noexcept nogil:
    """Roll out a sequence. teacher: NULL for none."""
    cdef StateC* s = &scratch.state
    cdef CandidateC* candidates = scratch.candidates
    cdef CandidateC* chosen
    cdef int n, label, noted, predicted, right
    cdef bint follow_model
    while not system.is_final(s):
        n = legal_moves(system, s, candidates)
        if n == 1 and is_forced(system, scorer, s, &candidates[0]):
            label = NONE
            if candidates[0].dependent != NONE:
                label = fixed_label(system, s, &candidates[0])
            system.moves[candidates[0].move].effect(system, s, candidates[0].k, label, label)
            continue
        scorer.score(scorer.self, s, candidates, n, scratch.scores)
        noted = NONE
        if scorer.notes_labels and s.n_stack > 0 and system.n_labels > 1:
            scorer.score_noted(scorer.self, s, scratch.labels)
            noted = best_label(scorer, scratch.labels)
        n = apply_oracle(system, s, gold, oracle, noted, False, candidates)

        if scorer.learn is not NULL:
            right = learn_likelihood(
                system, scorer, teacher, s, candidates, n, scratch, &predicted, totals
            )
        else:
            right = learn_mistake(
                system, scorer, s, candidates, n, scratch, &predicted, totals
            )
            scorer.note_example(scorer.self, s, candidates, n)
        totals.steps += 1

        # Follow the model or the oracle.
        follow_model = explore > 0 and uniform(seed) < explore and s.b - s.start < STRAY
        chosen = &candidates[predicted if follow_model else right]
        label = NONE
        if chosen.dependent != NONE:
            label = fixed_label(system, s, chosen)
            if label == NONE and not follow_model and chosen.learn == LEARN_LABEL:
                label = chosen.label
            elif label == NONE:
                scorer.score_labels(scorer.self, s, chosen, False, scratch.labels)
                label = best_label(scorer, scratch.labels)
            noted = label
        system.moves[chosen.move].effect(system, s, chosen.k, label, noted)
    if scorer.learn_tree is not NULL:
        totals.loss += scorer.learn_tree(scorer.self, gold)


def learn(
    TransitionSystem system, Scorer scored, golds, constraints, oracle, float explore,
    float dropout, seed, Scorer teacher=None, float teacher_weight=0
):
    """Roll out a batch once and collect its gradients.

    Args:
        system: the transition system.
        scored: the scores of the batch, as the scorer's model gives them.
        golds: a ``Gold`` for each sequence; their lengths add up to the words of the batch.
        constraints: int8 (words,), as in ``greedy.parse``.
        oracle: name of the oracle that judges (see ``oracle_for``).
        explore: probability of following the model instead of the oracle, at each step.
        dropout: probability of dropping a hidden unit.
        seed: int that seeds exploration and dropout.
        teacher: the scores of the batch by another model of the same system and labels.
        teacher_weight: the teacher's share in the loss, 0 to 1; the oracle has the rest.

    Returns:
        (gradients, loss, steps): what the model's backward pass takes; summed negative log
        likelihood; scored steps.
    """
    cdef int wanted = system.oracle_id(oracle)
    cdef uint64_t random = (<uint64_t>seed) * 2 + 1
    cdef int w, n
    cdef int offset = 0
    cdef Gold gold
    cdef ScratchC scratch
    cdef StateC* s = &scratch.state
    cdef TotalsC totals
    cdef TeacherC taught
    cdef const TeacherC* taught_by = NULL
    cdef float[::1] probabilities, labels, own_labels
    cdef const int8_t[::1] fixed = numpy.ascontiguousarray(constraints, dtype="int8")
    totals.loss = 0
    totals.steps = 0
    scored.begin_learning(dropout, seed)
    scored.set_window(0, scored.n_words)
    longest = max(len(gold) for gold in golds)
    if teacher is not None:
        if teacher.n_words != scored.n_words or teacher.c.n_labels != scored.c.n_labels:
            raise ValueError("The teacher scores other words or labels.")
        teacher.set_window(0, teacher.n_words)
        probabilities = numpy.empty(max_candidates(&system.c, longest), dtype="float32")
        labels = numpy.zeros(teacher.c.label_stride, dtype="float32")
        own_labels = numpy.zeros(scored.c.label_stride, dtype="float32")
        taught.scorer = &teacher.c
        taught.weight = teacher_weight
        taught.probabilities = &probabilities[0]
        taught.labels = &labels[0]
        taught.own_labels = &own_labels[0]
        taught_by = &taught
    scratch_init(&scratch, &system.c, &scored.c, longest)
    try:
        for gold in golds:
            n = gold.c.n
            system.bind(gold)
            state_init(s, scratch.block, n)
            for w in range(n):
                s.constraint[w] = fixed[offset + w]
            system.c.start(&system.c, s)
            scored.begin(offset)
            if teacher is not None:
                teacher.begin(offset)
            with nogil:
                roll_out(
                    &system.c, &scored.c, taught_by, &scratch, &gold.c,
                    oracle_for(&gold.c, wanted), explore, &random, &totals
                )
            offset += n
    finally:
        scratch_free(&scratch)
    return scored.gradients(), totals.loss, totals.steps
