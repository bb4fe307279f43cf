"""The inner loops of the linear scorer.

    score(move, label; c) = sum over features f of c of w[hash(f) + class(move, label)]

A move with labels is as good as its best label; so searches choose among all pairs of moves and
labels, as in the papers that use such models. The row of a feature begins at its hash and overlaps
those of others: few of its weights are not 0.

Where a perceptron learns, the weights change at once, by its ``rule``. ``gradients`` takes the
changes back, and tells them. Where a logistic regression learns, it tells the configurations. Of
both, ``updates`` makes weights.
"""
import numpy

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from spacy_nmparse.lab.linear.rule cimport learn_example
from spacy_nmparse.lab.linear.templates cimport (
    MAX_TEMPLATES,
    Templates,
    TemplatesC,
    find_features,
)
from spacy_nmparse.lab.linear.updates cimport LessonC
from spacy_nmparse.layers.kernels cimport nmp_sum_rows
from spacy_nmparse.learning.rollout cimport RuledScorer
from spacy_nmparse.systems.memory cimport allocate
from spacy_nmparse.systems.moves cimport b0_end, s0_end, s1_end
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.table cimport (
    LEARN_ANY,
    LEARN_NOT,
    MAX_MOVES,
    CandidateC,
    MoveC,
    SystemC,
    MoveTable,
    arc_end_t,
    label_fits,
)

from spacy_nmparse.lab.linear.updates import LESSON, Lessons
from spacy_nmparse.scorers.state_scorer_kernel import check_system, label_blocks


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


cdef class LinearScorerKernel(RuledScorer):
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
        self.judge = learn_example
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
        """The lessons since ``begin_learning`` (``Lessons``). It also takes the changes of the
        weights back."""
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
