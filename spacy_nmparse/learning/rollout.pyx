"""Training rollouts: the search runs, an oracle judges each configuration, gradients are collected.

The loss of a configuration is -log of the probability of what the oracle would have learned:
P(move) summed over the right moves, times P(label | move) where just one label is right.

Teachers, other scorers, can have a share in the loss (after Liu et al. 2018, *Distilling Knowledge
for Search-based Structured Prediction*). Their part is the cross entropy with the mean of their
P(move). For the move that they like best, the cross entropy with the mean of their P(label | move),
times that move's P, is added.

A scorer without gradients has a rule of its own (``RuledScorer``).
"""
import numpy

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport uint8_t, uint64_t, uintptr_t
from libc.string cimport memcpy, memset

from spacy_nmparse.search.choice cimport (
    ARC_LABEL,
    PUSH_LABEL,
    CandidateC,
    ChoiceC,
    SearchC,
    StateC,
    SystemC,
    begin_choice,
    begin_state,
    choose_label,
    find_moves,
    label_choice,
    noted_by_push,
    search_free,
    search_init,
)
from spacy_nmparse.search.sequences cimport Sequences
from spacy_nmparse.search.step cimport make_move
from spacy_nmparse.scorers.random cimport uniform
from spacy_nmparse.scorers.scorer cimport Scorer, ScorerC
from spacy_nmparse.scorers.softmax cimport argmax, log_softmax, log_total, softmax
from spacy_nmparse.systems.gold cimport Gold, GoldC
from spacy_nmparse.systems.names cimport follows_tree
from spacy_nmparse.systems.table cimport (
    DYNAMIC,
    LEARN_LABEL,
    LEARN_NOT,
    apply_oracle,
    max_candidates,
    walk_to_end,
)


cdef enum:
    # Words that a sentence may have in exploration. A parser that has not learned to end sentences
    # would run to the end of the document, and list systems look at all pairs of its words.
    STRAY = 200


cdef int oracle_for(const GoldC* gold, int oracle) noexcept nogil:
    """The oracle that judges a tree in learning. On partial trees ``dynamic`` replaces oracles that
    follow one tree: those would teach invented arcs. Where no head is known it replaces all, and so
    nothing is learned."""
    if gold.n_unknown == gold.n or (gold.n_unknown > 0 and follows_tree(oracle)):
        return DYNAMIC
    return oracle


cdef void add_share(
    float* total, float* scores, int n, const uint8_t* mask, int n_teachers
) noexcept nogil:
    """Add one teacher's probabilities, of its scores, to the mean of all."""
    cdef int i
    softmax(scores, n, mask)
    for i in range(n):
        total[i] += scores[i] / n_teachers


cdef double teach(const RolloutC* rollout, float* d_scores) noexcept nogil:
    """Learn the teachers' choices in the current configuration. Its scores are overwritten, their
    gradient is added to d_scores. Returns the loss."""
    cdef SearchC* search = rollout.search
    cdef const SystemC* system = search.system
    cdef const ScorerC* scorer = search.scorer
    cdef const TeacherC* teacher = rollout.teacher
    cdef const CandidateC* c
    cdef int i, label, ticket
    cdef double loss = 0
    cdef float part
    cdef float* scores = search.scores
    cdef float* probabilities = teacher.probabilities
    cdef float* labels = teacher.labels
    cdef float* own = search.labels
    cdef float* d_labels
    memset(probabilities, 0, search.n * sizeof(float))
    for i in range(teacher.n):
        teacher.scorers[i].score(
            teacher.scorers[i].self, search.s, search.candidates, search.n, teacher.of_one
        )
        add_share(probabilities, teacher.of_one, search.n, NULL, teacher.n)
    log_softmax(scores, search.n, NULL)
    for i in range(search.n):
        loss -= probabilities[i] * scores[i]
        d_scores[i] += teacher.weight * (<float>exp(scores[i]) - probabilities[i])
    i = argmax(probabilities, search.n, NULL)
    c = &search.candidates[i]
    if label_choice(search, c) != ARC_LABEL:
        return teacher.weight * loss
    part = probabilities[i]
    memset(labels, 0, system.n_labels * sizeof(float))
    for i in range(teacher.n):
        teacher.scorers[i].score_labels(
            teacher.scorers[i].self, search.s, c, False, teacher.of_one
        )
        add_share(labels, teacher.of_one, system.n_labels, search.mask, teacher.n)
    ticket = scorer.score_labels(scorer.self, search.s, c, True, own)
    log_softmax(own, system.n_labels, search.mask)
    d_labels = scorer.label_gradient(scorer.self, ticket)
    for label in range(system.n_labels):
        if search.mask[label]:
            loss -= part * labels[label] * own[label]
            d_labels[label] += teacher.weight * part * (<float>exp(own[label]) - labels[label])
    return teacher.weight * loss


cdef bint learns_label(SearchC* search, const CandidateC* c) noexcept nogil:
    """Whether just one of the labels among which the scorer chooses is right."""
    return c.learn == LEARN_LABEL and label_choice(search, c) == ARC_LABEL


cdef double weigh_right(SearchC* search, int* right) noexcept nogil:
    """Find the probability of what is right in the current configuration. Returns -log of it.

    Fills search.values with the probability of each candidate, search.shares with each one's share
    in what is right, and ``right`` with the candidate whose share is largest. Scores of labels are
    remembered under ``CandidateC.ticket``; their gradient is filled with their probabilities.
    """
    cdef const ScorerC* scorer = search.scorer
    cdef int n = search.n
    cdef int i
    cdef CandidateC* c
    cdef float* d_labels
    cdef float* labels = search.labels
    cdef float* mass = search.shares
    cdef double* log_mass = search.logs
    cdef float best = -1
    cdef float share = 0
    cdef float label_score
    cdef double log_sum, all_right
    memcpy(search.values, search.scores, n * sizeof(float))
    log_sum = softmax(search.values, n, NULL)
    right[0] = 0
    for i in range(n):
        c = &search.candidates[i]
        mass[i] = 0
        log_mass[i] = -INFINITY
        if c.learn == LEARN_NOT:
            continue
        mass[i] = search.values[i]
        log_mass[i] = search.scores[i] - log_sum
        if learns_label(search, c):
            c.ticket = scorer.score_labels(scorer.self, search.s, c, True, labels)
            label_score = labels[c.label]
            log_mass[i] += label_score - softmax(labels, search.system.n_labels, search.mask)
            d_labels = scorer.label_gradient(scorer.self, c.ticket)
            memcpy(d_labels, labels, search.system.n_labels * sizeof(float))
            mass[i] *= labels[c.label]
        if mass[i] > best:
            best = mass[i]
            right[0] = i
        share += mass[i]
    if share > <float>1e-30:
        for i in range(n):
            mass[i] /= share
        return -log(share)
    all_right = log_total(log_mass, n, NULL)  # too small for floats
    for i in range(n):
        mass[i] = <float>exp(log_mass[i] - all_right)
    right[0] = argmax(mass, n, NULL)
    return -all_right


cdef int learn_likelihood(RolloutC* rollout, int predicted) noexcept nogil:
    """Learn by the gradient of the loss of the current configuration: a ``judge_t``."""
    cdef SearchC* search = rollout.search
    cdef const ScorerC* scorer = search.scorer
    cdef float* gradient = search.values    # first: probabilities
    cdef float weight = 1 if rollout.teacher is NULL else 1 - rollout.teacher.weight
    cdef float part
    cdef float* d_labels
    cdef CandidateC* c
    cdef int i, label, right
    cdef double loss = rollout.loss + weigh_right(search, &right)
    rollout.loss += weight * (loss - rollout.loss)
    for i in range(search.n):
        c = &search.candidates[i]
        part = search.shares[i]
        gradient[i] = weight * (gradient[i] - part)
        if learns_label(search, c):
            d_labels = scorer.label_gradient(scorer.self, c.ticket)
            for label in range(search.system.n_labels):
                d_labels[label] *= weight * part
            d_labels[c.label] -= weight * part
    if rollout.teacher is not NULL:
        rollout.loss += teach(rollout, gradient)
    scorer.learn(scorer.self, search.s, search.candidates, search.n, gradient)
    return right


cdef bint learning_step(void* walker, StateC* s) noexcept nogil:
    """Learn from a configuration, and make the move of the model or of the oracle."""
    cdef RolloutC* rollout = <RolloutC*>walker
    cdef SearchC* search = rollout.search
    cdef CandidateC* chosen = search.candidates
    cdef ChoiceC choice
    cdef int kind, noted, predicted, right
    cdef bint follow_model
    if not find_moves(search):
        begin_choice(search, chosen, &choice)
        make_move(search, &choice)
        return True
    noted = noted_by_push(search)
    apply_oracle(s, rollout.gold, rollout.oracle, noted, False, search.candidates)
    predicted = argmax(search.scores, search.n, NULL)
    right = rollout.judge(rollout, predicted)
    follow_model = (
        rollout.explore > 0 and uniform(rollout.seed) < rollout.explore and s.b - s.start < STRAY
    )
    chosen = &search.candidates[predicted if follow_model else right]
    kind = begin_choice(search, chosen, &choice)
    if kind == PUSH_LABEL:
        choice.noted = noted
    elif kind == ARC_LABEL and chosen.learn == LEARN_LABEL and not follow_model:
        choice.label = choice.noted = chosen.label
    else:
        choose_label(search, &choice, kind)
    make_move(search, &choice)
    return True


cdef int roll_out(
    RolloutC* rollout, Sequences batch, Gold gold, int offset, int oracle
) except -1:
    """Roll out one sequence.

    Args:
        rollout: what is learned, and the search, which has room for the sequence.
        batch: the sequences.
        gold: the gold tree of this one.
        offset: the batch's word that is the first of the sequence.
        oracle: number of the oracle that was asked for.
    """
    cdef SearchC* search = rollout.search
    batch.system.bind(gold)
    begin_state(
        search, &search.own_state, search.own_block, gold.c.n, &batch.constraints[offset]
    )
    batch.scored.begin(offset)
    rollout.gold = &gold.c
    rollout.oracle = oracle_for(&gold.c, oracle)
    if isinstance(batch.scored, RuledScorer):
        rollout.judge = (<RuledScorer>batch.scored).judge
    else:
        rollout.judge = learn_likelihood
    with nogil:
        walk_to_end(search.s, learning_step, rollout)
        if search.scorer.learn_tree is not NULL:
            rollout.loss += search.scorer.learn_tree(search.scorer.self, rollout.gold)
    return 0


cdef class RuledScorer(Scorer):
    """A scorer that learns by a rule of its own: see ``judge_t``."""


cdef class Teaching:
    """Other scorers of a batch that have a share in the loss.

    Args:
        batch: the pupil's sequences.
        teachers: their scores of the batch.
        weight: their share in the loss, 0 to 1.

    Raises:
        ValueError: scores of another system or of other words.
    """
    cdef TeacherC c
    cdef list scorers
    cdef uintptr_t[::1] addresses
    cdef float[:, ::1] room

    def __cinit__(self, Sequences batch, teachers, float weight):
        cdef Scorer teacher
        cdef int i
        size = max(max_candidates(&batch.system.c, batch.longest), batch.scored.c.label_stride)
        self.scorers = list(teachers)
        self.addresses = numpy.empty(len(self.scorers), dtype="uintp")
        for i, teacher in enumerate(self.scorers):
            teacher.check_system(batch.system)
            if teacher.n_words != batch.n_words:
                raise ValueError(
                    f"A teacher scores {teacher.n_words} words, the pupil {batch.n_words}."
                )
            teacher.set_window(0, teacher.n_words)
            self.addresses[i] = <uintptr_t>&teacher.c
            size = max(size, teacher.c.label_stride)
        self.room = numpy.empty((3, size), dtype="float32")
        self.c.scorers = <const ScorerC**>&self.addresses[0]
        self.c.n = len(self.scorers)
        self.c.weight = weight
        self.c.probabilities = &self.room[0, 0]
        self.c.labels = &self.room[1, 0]
        self.c.of_one = &self.room[2, 0]


cdef Sequences sequences_of(lesson):
    """The sequences of a ``Lesson``. Raises ValueError where there are none, and as Sequences."""
    if not len(lesson.golds):
        raise ValueError("There is no gold tree to learn from.")
    lengths = [len(gold) for gold in lesson.golds]
    return Sequences(lesson.system, lesson.scorer, lengths, lesson.constraints)


def learn(lesson, oracle, float explore, seed):
    """Roll out a batch once and collect its gradients.

    Args:
        lesson: a ``Lesson``: the batch, its gold trees, and what is told of teachers and dropout.
        oracle: name of the oracle that judges (see ``oracle_for``).
        explore: probability of following the model instead of the oracle, at each step.
        seed: int that seeds exploration and dropout.

    Returns:
        (gradients, loss): what the model's backward pass takes; summed negative log likelihood.

    Raises:
        ValueError: an oracle that the system does not have; golds, constraints or scores of other
            words; scores of another system; nothing to learn from.
    """
    cdef int wanted = lesson.system.oracle_id(oracle)
    cdef uint64_t random = (<uint64_t>seed) * 2 + 1
    cdef int offset = 0
    cdef Gold gold
    cdef Scorer teacher
    cdef SearchC search
    cdef RolloutC rollout
    cdef Teaching teaching = None
    cdef Sequences batch = sequences_of(lesson)
    rollout.search = &search
    rollout.loss = 0
    rollout.teacher = NULL
    rollout.explore = explore
    rollout.seed = &random
    batch.scored.begin_learning(lesson.dropout, seed)
    batch.scored.set_window(0, batch.n_words)
    teachers = lesson.teachers()
    if len(teachers):
        teaching = Teaching(batch, teachers, lesson.weight)
        rollout.teacher = &teaching.c
    search_init(&search, &batch.system.c, &batch.scored.c, batch.longest)
    search.completes = False
    try:
        for gold in lesson.golds:
            for teacher in teachers:
                teacher.begin(offset)
            roll_out(&rollout, batch, gold, offset, wanted)
            offset += gold.c.n
    finally:
        search_free(&search)
    return batch.scored.gradients(), rollout.loss
