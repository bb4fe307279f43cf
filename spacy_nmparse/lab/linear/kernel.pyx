"""The inner loops of the linear scorer, and of what learns it.

    score(move, label; c) = sum over features f of c of w[hash(f) + class(move, label)]

A move with labels is as good as its best label; so searches choose among all pairs of moves and
labels, as in the papers that use such models. The row of a feature begins at its hash and overlaps
those of others: few of its weights are not 0.

Where a perceptron learns, the weights change at once. ``gradients`` takes the changes back, and
tells them: ``apply_changes`` makes them for good. Where a logistic regression learns, it tells the
configurations, and ``learn_examples`` learns from them one after the other.

A perceptron has the rule of Goldberg & Nivre (2012): where the best move and label are wrong, these
are weakened and the best right ones strengthened. With both, the loss is the number of
configurations in which the best is wrong.
"""
from typing import NamedTuple

import numpy

from libc.math cimport exp, fabs, fmaxf, fminf
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from spacy_nmparse.lab.linear.templates cimport (
    MAX_TEMPLATES,
    Templates,
    TemplatesC,
    find_features,
)
from spacy_nmparse.layers.kernels cimport nmp_sum_rows
from spacy_nmparse.learning.rollout cimport RolloutC, learns_label
from spacy_nmparse.search.choice cimport (
    ARC_LABEL,
    ChoiceC,
    SearchC,
    begin_choice,
    choose_label,
)
from spacy_nmparse.scorers.scorer cimport Scorer, ScorerC
from spacy_nmparse.systems.memory cimport allocate
from spacy_nmparse.systems.moves cimport b0_end, s0_end, s1_end
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.table cimport (
    LEARN_ANY,
    LEARN_LABEL,
    LEARN_NOT,
    MAX_MOVES,
    CandidateC,
    MoveC,
    SystemC,
    MoveTable,
    arc_end_t,
    label_fits,
)

from spacy_nmparse.scorers.state_scorer_kernel import check_system, label_blocks


cdef enum:
    HALF = 30000       # examples until the learning rate of a logistic regression has halved

cdef double LEAST = 1e-3    # gradients of scores below it are left out


cdef struct LessonC:        # a change of the weights of a class, or a configuration to learn from
    int64_t features        # where its features end among those of all lessons
    int64_t classes         # where its classes end; a change has one
    int64_t time            # of a change: how many examples were seen before it
    float amount            # of a change: what was added


cdef struct LinearC:
    const TemplatesC* templates
    int bits
    const uint64_t* batch_words
    const uint64_t* batch_tags
    const uint64_t* words   # of them, those of the sequence
    const uint64_t* tags
    float* weights          # (2 ** bits + stride,): a feature's row begins at its hash
    int n_moves
    int n_labels
    int n_blocks            # moves that have labels
    int block[MAX_MOVES]    # move -> its number among these, or NONE
    int noted_block         # of the move whose labels pushes note, or NONE
    const SystemC* system
    int root_label          # the one label of arcs from ROOT, or NONE
    int stride              # classes, and zeros
    int n_features          # of the configuration scored last
    uint32_t features[MAX_TEMPLATES]
    const float* rows[MAX_TEMPLATES]
    float* sums             # (stride,): the score of each class there
    float best[2][MAX_MOVES]    # block -> the score of its best label there; of roots: in [1]
    float* kept             # (places, stride)
    # Learning.
    int64_t time            # examples seen in this batch
    LessonC* lessons
    size_t n_lessons
    size_t max_lessons
    uint32_t* noted         # the features of all lessons
    size_t n_noted
    size_t max_noted
    int* classes            # of all lessons; those that are not right as -1 - class
    size_t n_classes
    size_t max_classes
    bint failed             # out of memory


cdef inline int class_of(const LinearC* self, int move, int label) noexcept nogil:
    """Labels added later come behind all others."""
    if self.block[move] == NONE or label == NONE:
        return move
    return self.n_moves + label * self.n_blocks + self.block[move]


cdef inline int only_class(
    const LinearC* self, const StateC* s, const CandidateC* c
) noexcept nogil:
    """The candidate's class, or NONE: it has one for each label."""
    if self.block[c.move] == NONE or c.dependent == NONE:
        return c.move
    if self.root_label != NONE and c.head == s.n:
        return class_of(self, c.move, self.root_label)
    return NONE


cdef void begin(void* scorer, int first_row, int offset) noexcept nogil:
    cdef LinearC* self = <LinearC*>scorer
    self.words = self.batch_words + offset
    self.tags = self.batch_tags + offset


cdef void score(
    void* scorer, const StateC* s, const CandidateC* candidates, int n, float* out
) noexcept nogil:
    cdef LinearC* self = <LinearC*>scorer
    cdef int i, block, label, root, which
    cdef const float* scores
    self.n_features = find_features(
        self.templates, s, self.words, self.tags, self.bits, self.features
    )
    for i in range(self.n_features):
        self.rows[i] = self.weights + self.features[i]
    if self.n_features:
        nmp_sum_rows(self.sums, self.rows, self.n_features, 0, self.stride)
    else:
        memset(self.sums, 0, self.stride * sizeof(float))
    for block in range(self.n_blocks):
        self.best[0][block] = self.best[1][block] = -1e30
    scores = self.sums + self.n_moves
    for root in range(2):
        for label in range(self.n_labels):
            if label_fits(self.system, root, label):
                for block in range(self.n_blocks):
                    self.best[root][block] = max(
                        self.best[root][block], scores[label * self.n_blocks + block]
                    )
    for i in range(n):
        which = only_class(self, s, &candidates[i])
        if which != NONE:
            out[i] = self.sums[which]
        else:
            out[i] = self.best[candidates[i].head == s.n][self.block[candidates[i].move]]


cdef void score_block(LinearC* self, int block, float* out) noexcept nogil:
    cdef int label
    for label in range(self.n_labels):
        out[label] = self.sums[self.n_moves + label * self.n_blocks + block]


cdef int score_labels(
    void* scorer, const StateC* s, const CandidateC* c, bint remember, float* out
) noexcept nogil:
    cdef LinearC* self = <LinearC*>scorer
    score_block(self, self.block[c.move], out)
    return NONE


cdef void score_noted(void* scorer, const StateC* s, float* out) noexcept nogil:
    cdef LinearC* self = <LinearC*>scorer
    score_block(self, self.noted_block, out)


cdef int keep_configuration(void* scorer, int place) noexcept nogil:
    cdef LinearC* self = <LinearC*>scorer
    memcpy(self.kept + place * <size_t>self.stride, self.sums, self.stride * sizeof(float))
    return place


cdef void recall(
    void* scorer, int ticket, const StateC* s, const CandidateC* candidates, int n
) noexcept nogil:
    cdef LinearC* self = <LinearC*>scorer
    memcpy(self.sums, self.kept + ticket * <size_t>self.stride, self.stride * sizeof(float))


cdef void count_example(
    void* scorer, const StateC* s, const CandidateC* candidates, int n
) noexcept nogil:
    (<LinearC*>scorer).time += 1


cdef void note_example(
    void* scorer, const StateC* s, const CandidateC* candidates, int n
) noexcept nogil:
    """Note the features of the configuration scored last, and the classes of its legal moves."""
    cdef LinearC* self = <LinearC*>scorer
    cdef const CandidateC* c
    cdef int i, label, which
    if not make_room(self, n * <size_t>self.stride):
        return
    for i in range(n):
        c = &candidates[i]
        which = only_class(self, s, c)
        if which != NONE:
            note_class(self, which, c.learn != LEARN_NOT)
            continue
        for label in range(self.n_labels):
            if not label_fits(self.system, c.head == s.n, label):
                continue
            note_class(
                self, class_of(self, c.move, label),
                c.learn == LEARN_ANY or (c.learn != LEARN_NOT and label == c.label)
            )
    note_lesson(self, 0)


cdef void add(void* scorer, const CandidateC* c, int label, float amount) noexcept nogil:
    cdef LinearC* self = <LinearC*>scorer
    cdef int i
    cdef int which = class_of(self, c.move, label)
    if not make_room(self, 1):
        return
    for i in range(self.n_features):
        self.weights[self.features[i] + which] += amount
    note_class(self, which, True)
    note_lesson(self, amount)


cdef int learn_mistake(RolloutC* rollout, int predicted) noexcept nogil:
    """Learn by the perceptron's rule, if the scorer has one."""
    cdef SearchC* search = rollout.search
    cdef const ScorerC* scorer = search.scorer
    cdef const CandidateC* c
    cdef ChoiceC choice
    cdef int i
    cdef int right = NONE
    cdef int right_label = NONE
    cdef float value
    cdef float best = 0
    for i in range(search.n):
        c = &search.candidates[i]
        if c.learn == LEARN_NOT:
            continue
        choose_arc_label(search, c, &choice)
        value = search.scores[i]
        if learns_label(search, c) and choice.label != c.label:
            choice.label = c.label
            value = search.labels[c.label]
        if right == NONE or value > best:
            right = i
            right_label = choice.label
            best = value
    c = &search.candidates[predicted]
    choose_arc_label(search, c, &choice)
    if c.learn == LEARN_ANY or (
        c.learn == LEARN_LABEL and (choice.label == c.label or not learns_label(search, c))
    ):
        return predicted
    rollout.loss += 1
    if scorer.add is not NULL:
        scorer.add(scorer.self, &search.candidates[right], right_label, 1)
        scorer.add(scorer.self, c, choice.label, -1)
    return right


cdef inline void choose_arc_label(
    SearchC* search, const CandidateC* c, ChoiceC* choice
) noexcept nogil:
    """Choose a move and the label of its arc, if it makes one, but not what a push notes."""
    if begin_choice(search, c, choice) == ARC_LABEL:
        choose_label(search, choice, ARC_LABEL)


cdef int learn_example(RolloutC* rollout, int predicted) noexcept nogil:
    """Learn from a configuration: a ``judge_t``."""
    cdef SearchC* search = rollout.search
    cdef int right = learn_mistake(rollout, predicted)
    search.scorer.note_example(search.scorer.self, search.s, search.candidates, search.n)
    return right


cdef inline void note_class(LinearC* self, int which, bint right) noexcept nogil:
    self.classes[self.n_classes] = which if right else -1 - which
    self.n_classes += 1


cdef inline void note_lesson(LinearC* self, float amount) noexcept nogil:
    """Note what was learned of the configuration scored last, and of the classes just noted."""
    cdef LessonC* lesson = &self.lessons[self.n_lessons]
    memcpy(self.noted + self.n_noted, self.features, self.n_features * sizeof(uint32_t))
    self.n_noted += self.n_features
    self.n_lessons += 1
    lesson.features = <int64_t>self.n_noted
    lesson.classes = <int64_t>self.n_classes
    lesson.time = self.time
    lesson.amount = amount


cdef bint make_room(LinearC* self, size_t n_classes) noexcept nogil:
    """Make room for one more lesson, with so many classes. False: out of memory."""
    if (
        grow(<void**>&self.lessons, &self.max_lessons, self.n_lessons + 1, sizeof(LessonC))
        and grow(<void**>&self.classes, &self.max_classes, self.n_classes + n_classes, sizeof(int))
        and grow(
            <void**>&self.noted, &self.max_noted, self.n_noted + self.n_features, sizeof(uint32_t)
        )
    ):
        return True
    self.failed = True
    return False


cdef inline bint grow(void** block, size_t* most, size_t wanted, size_t size) noexcept nogil:
    """Make room for that many items of that size. False: out of memory."""
    cdef void* larger
    if wanted <= most[0]:
        return True
    larger = realloc(block[0], 2 * wanted * size)
    if larger == NULL:
        return False
    block[0] = larger
    most[0] = 2 * wanted
    return True


#: The fields of ``LessonC``.
LESSON = numpy.dtype(
    [("features", "int64"), ("classes", "int64"), ("time", "int64"), ("amount", "float32")],
    align=True,
)


class Lessons(NamedTuple):
    """What a batch has taught: changes of weights, or configurations to learn from.

    n_examples: of changes: configurations, or sentences where a beam is learned from, that were
        looked at.
    records: (lessons,) of ``LESSON``: where the features and classes of each end; of a change, also
        how many examples were looked at before it, and what was added to the weights.
    features: uint32: the hashed features, one lesson after the other.
    classes: int32: of a change, the class whose weights were changed; of a configuration, what is
        legal; what is not right as -1 - class.
    """
    n_examples: int
    records: object
    features: object
    classes: object


def apply_changes(float[::1] weights, double[::1] totals, int64_t time, lessons):
    """Change weights, and what their averages are made of: totals is the sum of all changes, each
    times the number of examples before it (after Daumé 2006), so that the average over all examples
    is weights - totals / time, and weights that nothing changes cost nothing.

    Args:
        weights: float32 (size,), changed in place.
        totals: float64 (size,), changed in place.
        time: examples before the batch.
        lessons: ``Lessons``, changes.

    Returns:
        The number of examples after the batch.
    """
    cdef const LessonC[::1] changes = lessons.records
    cdef const uint32_t[::1] features = lessons.features
    cdef const int[::1] classes = lessons.classes
    cdef Py_ssize_t i, place
    cdef int64_t j = 0
    with nogil:
        for i in range(changes.shape[0]):
            while j < changes[i].features:
                place = features[j] + classes[i]
                weights[place] += changes[i].amount
                totals[place] += <double>changes[i].amount * (time + changes[i].time)
                j += 1
    return time + lessons.n_examples


cdef inline void penalize(float* weight, float* taken, float penalty) noexcept nogil:
    """Pull a weight towards 0 by the penalty of all examples, less what it has had of it."""
    cdef float before = weight[0]
    if before > 0:
        weight[0] = fmaxf(0, before - (penalty + taken[0]))
    elif before < 0:
        weight[0] = fminf(0, before + (penalty - taken[0]))
    taken[0] += weight[0] - before


cdef int keep_frequent(
    const uint32_t[::1] features, int64_t first, int64_t last, uint8_t[::1] counts, int min_count,
    uint32_t* kept
) noexcept nogil:
    """Count the features first .. last - 1; keep those that were seen often enough. Returns how
    many these are."""
    cdef int64_t i
    cdef Py_ssize_t place
    cdef int n = 0
    for i in range(first, last):
        place = features[i]
        if counts[place] < 255:
            counts[place] += 1
        if counts[place] >= min_count:
            kept[n] = features[i]
            n += 1
    return n


cdef void find_gradients(
    const float[::1] weights, const uint32_t* kept, int n_kept, const int[::1] classes,
    int64_t first, int64_t last, double[::1] gradients
) noexcept nogil:
    """The gradient of -log P(right) by the score of each of the classes first .. last - 1."""
    cdef double top = -1e30
    cdef double all = 0
    cdef double right = 0
    cdef double share
    cdef int64_t j
    cdef int i
    for j in range(first, last):
        gradients[j] = 0
        for i in range(n_kept):
            gradients[j] += weights[kept[i] + class_in(classes[j])]
        top = max(top, gradients[j])
    for j in range(first, last):
        gradients[j] = exp(gradients[j] - top)
        all += gradients[j]
        if classes[j] >= 0:
            right += gradients[j]
    for j in range(first, last):
        share = gradients[j]
        gradients[j] = share / all
        if classes[j] >= 0:
            gradients[j] -= share / right if right > 0 else 1


def learn_examples(
    float[::1] weights, float[::1] taken, uint8_t[::1] counts, so_far, lessons, float rate,
    float l1, int min_count
):
    """Learn from configurations, one after the other, by gradients of

        -log P(right) + l1 * sum of |weights|,    P(class) = softmax over what is legal

    with the cumulative penalty of Tsuruoka et al. (2009): a weight is penalized when its feature
    and class come up, for all examples since the last time. Classes that are almost impossible are
    left alone.

    Args:
        weights: float32 (size,), changed in place.
        taken: float32 (size,): what penalties have added to each weight; changed in place.
        counts: uint8 (size,): how often each feature was seen, up to 255; changed in place.
        so_far: (time, penalty): examples before these, and what a weight could have had by then.
        lessons: ``Lessons``, configurations.
        rate: learning rate of the first example; it falls as 1 / (1 + time / HALF).
        l1: the penalty for each example.
        min_count: features that were not seen so often have no weights.

    Returns (time, penalty) after the examples.

    Raises:
        ValueError: a configuration has more features than templates can have.
    """
    cdef const LessonC[::1] records = lessons.records
    cdef const uint32_t[::1] features = lessons.features
    cdef const int[::1] classes = lessons.classes
    cdef double[::1] gradients = numpy.empty(max(1, classes.shape[0]), dtype="float64")
    cdef uint32_t[MAX_TEMPLATES] kept
    cdef int64_t time = so_far[0]
    cdef float penalty = so_far[1]
    cdef Py_ssize_t e, place
    cdef int64_t i, j, first, first_class
    cdef int n_kept
    cdef float now
    first = first_class = 0
    for e in range(records.shape[0]):
        if records[e].features - (records[e - 1].features if e else 0) > MAX_TEMPLATES:
            raise ValueError(f"A configuration has at most {MAX_TEMPLATES} features.")
    with nogil:
        for e in range(records.shape[0]):
            n_kept = keep_frequent(features, first, records[e].features, counts, min_count, kept)
            find_gradients(
                weights, kept, n_kept, classes, first_class, records[e].classes, gradients
            )
            now = rate / (1 + time / <float>HALF)
            penalty += now * l1
            time += 1
            for j in range(first_class, records[e].classes):
                if fabs(gradients[j]) < LEAST:
                    continue
                for i in range(n_kept):
                    place = kept[i] + class_in(classes[j])
                    weights[place] -= <float>(now * gradients[j])
                    penalize(&weights[place], &taken[place], penalty)
            first, first_class = records[e].features, records[e].classes
    return time, penalty


cdef inline int class_in(int noted) noexcept nogil:
    return noted if noted >= 0 else -1 - noted


def n_columns(MoveTable system):
    """Weights that a feature has: one for each move and label, up to a multiple of 8."""
    cdef int n = system.c.n_moves + system.c.n_labels * (max(label_blocks(system)) + 1)
    return (n + 7) // 8 * 8


cdef inline bint joins(const MoveC* move, arc_end_t one, arc_end_t other) noexcept:
    return (move.head is one and move.dependent is other) or (
        move.head is other and move.dependent is one
    )


def focus(MoveTable system):
    """The pairs of words that the system's arcs join: of S0-B0, S1-S0, I1-B0."""
    cdef int i
    if system.c.item is not NULL and system.c.focus is not NULL:
        return ["I1-B0"]
    found = set()
    for i in range(system.c.n_moves):
        if joins(&system.c.moves[i], s0_end, b0_end):
            found.add("S0-B0")
        if joins(&system.c.moves[i], s1_end, s0_end):
            found.add("S1-S0")
    return sorted(found) or ["S0-B0", "S1-S0"]


cdef class LinearScorerKernel(Scorer):
    """The scores of one batch.

    Args:
        templates: the scorer's ``Templates``.
        system: the transition system whose moves it scores.
        words: uint64 (words,): what each parsed word of the batch is.
        tags: uint64 (words,): its tag, or 0.
        weights: float32 (2 ** bits + columns,); learning changes them.
        bits: of the features' hashes, 1 to 31.
        logistic: learning, it takes note of examples; otherwise it is a perceptron.

    Raises:
        ValueError: weights of another shape, tags of other words, or a system with non-local arcs.
    """
    cdef LinearC s
    cdef Templates templates
    cdef object words
    cdef object tags
    cdef object weights

    def __cinit__(
        self, Templates templates, MoveTable system, words, tags, weights, int bits,
        bint logistic=False
    ):
        cdef int i
        cdef const uint64_t[::1] word_ids = words
        cdef const uint64_t[::1] tag_ids = tags
        cdef float[::1] table = weights
        check_system(system, "linear")
        self.system = system
        if word_ids.shape[0] != tag_ids.shape[0] or not 1 <= bits <= 31:
            raise ValueError(
                f"There are {word_ids.shape[0]} words but {tag_ids.shape[0]} tags, or hashes of "
                f"{bits} bits, not 1 to 31."
            )
        blocks = label_blocks(system)
        self.s.stride = n_columns(system)
        if table.shape[0] != (<Py_ssize_t>1 << bits) + self.s.stride:
            raise ValueError(
                f"Weights of {system.name} with {bits} bits are "
                f"{(1 << bits) + self.s.stride}, not {table.shape[0]}."
            )
        self.templates = templates
        self.words = words
        self.tags = tags
        self.weights = weights
        self.n_words = words.shape[0]
        self.lookahead = templates.lookahead
        self.s.templates = &templates.c
        self.s.bits = bits
        self.s.weights = &table[0]
        if self.n_words:
            self.s.batch_words = &word_ids[0]
            self.s.batch_tags = &tag_ids[0]
        self.s.n_moves = system.c.n_moves
        self.s.n_labels = system.c.n_labels
        self.s.n_blocks = max(blocks) + 1
        self.s.system = &system.c
        for i in range(system.c.n_moves):
            self.s.block[i] = blocks[i]
        self.s.noted_block = NONE if system.c.noted_arc == NONE else blocks[system.c.noted_arc]
        self.s.root_label = NONE
        if system.c.root_labels != NULL and system.root_mask.count(1) == 1:
            self.s.root_label = system.root_mask.index(1)
        self.s.sums = <float*>allocate(self.s.stride, sizeof(float))
        self.c.self = &self.s
        self.c.n_labels = self.s.n_labels
        self.c.label_stride = self.s.n_labels
        self.c.notes_labels = self.s.noted_block != NONE
        self.c.unnormalized = True
        self.c.begin = begin
        self.c.score = score
        self.c.score_labels = score_labels
        self.c.score_noted = score_noted
        self.c.keep = keep_configuration
        self.c.recall = recall
        self.c.judge = <void*>learn_example
        self.c.note_example = note_example if logistic else count_example
        if not logistic:
            self.c.add = add

    def __dealloc__(self):
        free(self.s.sums)
        free(self.s.kept)
        free(self.s.lessons)
        free(self.s.noted)
        free(self.s.classes)

    cdef int make_tables(self, int first, int last) except -1:
        return 0

    cdef int make_places(self, int n) except -1:
        kept = <float*>realloc(self.s.kept, n * <size_t>self.s.stride * sizeof(float))
        if kept is NULL:
            raise MemoryError("No memory for the configurations of a beam.")
        self.s.kept = kept
        return 0

    def begin_learning(self, float dropout, seed):
        self.s.time = 0
        self.s.n_lessons = 0
        self.s.n_noted = 0
        self.s.n_classes = 0
        self.s.failed = False

    def gradients(self):
        """What was noted since ``begin_learning`` (``Lessons``); the weights are those of then
        again."""
        cdef const LessonC* lesson
        cdef size_t i
        cdef int64_t j = 0
        if self.c.add is not NULL:
            for i in range(self.s.n_lessons):
                lesson = &self.s.lessons[i]
                while j < lesson.features:
                    self.s.weights[self.s.noted[j] + self.s.classes[i]] -= lesson.amount
                    j += 1
        if self.s.failed:
            raise MemoryError("No memory for what a batch has taught.")
        return Lessons(
            self.s.time,
            copied(self.s.lessons, self.s.n_lessons, LESSON),
            copied(self.s.noted, self.s.n_noted, numpy.dtype("uint32")),
            copied(self.s.classes, self.s.n_classes, numpy.dtype("int32")),
        )


cdef copied(const void* items, size_t n, dtype):
    """A NumPy array of n items, read-only."""
    return numpy.frombuffer((<const char*>items)[:n * <size_t>dtype.itemsize], dtype=dtype)
