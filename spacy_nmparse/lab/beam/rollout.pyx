"""Global training: a beam runs against the oracle, and whole sequences of moves are learned.

Two beams take steps side by side over each gold sentence: one is free, the other is held to moves
that the oracle allows, so that it finds the right hypotheses that the model likes best at each step
(Yu et al. 2013; not the best sequence of the whole sentence, as in Björkelund & Nivre 2015, section
5). After some step they are compared:

    max_violation   where the best hypothesis is furthest ahead of the best right one (Huang, Fayong
                    & Guo 2012); of equal steps the last: the end, if the right one is never behind
    early_update    where the last right hypothesis has fallen out of the free beam (Collins & Roark
                    2004); the end, if it never does

The loss is -log of the share of the right hypotheses in the probability of all hypotheses of both
beams (a softmax over the beam: Andor et al. 2016). A hypothesis's score is the one it has in
parsing: the sum of the logarithms of its moves' and labels' probabilities.

A scorer that learns from its mistakes has the rule of the structured perceptron: where the best
hypothesis is wrong, its moves are weakened, and those of the best right one strengthened, but for
what the two have in common. Then the loss of the sentence is 1, otherwise 0.
"""
import numpy

from libc.math cimport INFINITY
from libc.stdint cimport int8_t, uint64_t
from libc.stdlib cimport free

from spacy_nmparse.lab.beam.move_tree cimport MoveTree
from spacy_nmparse.learning.rollout cimport RolloutC, oracle_for, roll_out
from spacy_nmparse.search.choice cimport SearchC, check_batch, search_free, search_init
from spacy_nmparse.search.hypotheses cimport Beam
from spacy_nmparse.scorers.scorer cimport Scorer
from spacy_nmparse.systems.gold cimport Gold
from spacy_nmparse.systems.memory cimport allocate
from spacy_nmparse.systems.table cimport MoveTable

from spacy_nmparse.systems.gold import Gold as make_gold

# What there is to choose from, in the order of their numbers.
UPDATES = ("max_violation", "early_update")
# Words of the longest sentence that is learned by a beam; documents with a longer one are learned
# by greedy rollouts.
LONGEST = 500


cdef enum:
    MAX_VIOLATION
    EARLY_UPDATE


cdef struct EndC:       # a hypothesis to be compared
    int record          # its last move
    bint right
    bint held           # whose record it is


cdef class Comparison:
    """Both beams, and what is learned from them.

    Args:
        system: the transition system.
        scored: the scores of the batch.
        width: of each of the two beams.
        max_words: the longest window.
    """
    cdef Beam free
    cdef Beam held
    cdef MoveTree tree
    cdef EndC* ends
    cdef int n_ends
    cdef bint mistakes          # the scorer learns from its mistakes

    def __cinit__(self, MoveTable system, Scorer scored, int width, int max_words):
        self.free = Beam(system, scored, width, max_words)
        self.held = Beam(system, scored, width, max_words)
        self.held.held = True
        self.free.search.completes = False
        self.held.search.completes = False
        self.tree = MoveTree(system, scored, 2 * width, max_words)
        self.mistakes = scored.c.add is not NULL
        self.ends = <EndC*>allocate(2 * width, sizeof(EndC))

    def __dealloc__(self):
        free(self.ends)

    cdef void find(
        self, Gold gold, int oracle, int update, int stop, int n_words, const int8_t* constraints
    ) noexcept:
        """Run both beams, and note the hypotheses of the step to learn from.

        Args:
            gold: the gold tree of the window.
            oracle: number of the oracle.
            update: MAX_VIOLATION or EARLY_UPDATE.
            stop: word of the window before which the sentence ends.
            n_words: words of the sequence that remain, from the window's first word on.
            constraints: of the window's words.
        """
        cdef Beam beam
        for beam in (self.free, self.held):
            beam.gold = &gold.c
            beam.oracle = oracle
            beam.stop = stop
            beam.begin(gold.c.n, constraints)
        self.tree.begin(gold.c.n, constraints)
        self.n_ends = 0
        with nogil:
            self.compare(update, n_words)

    cdef void compare(self, int update, int n_words) noexcept nogil:
        cdef double violation
        cdef double most = -INFINITY
        while not (
            self.free.stays(&self.free.live[0]) and self.held.stays(&self.held.live[0])
        ) and self.free.sees(n_words) and self.held.sees(n_words):
            self.free.step()
            self.held.step()
            if self.held.n_live == 0:
                return
            violation = self.free.live[0].score - self.held.live[0].score
            if update == EARLY_UPDATE:
                self.note_ends()
                if not self.has_right():
                    return
            elif violation >= most:
                most = violation
                self.note_ends()

    cdef bint has_right(self) noexcept nogil:
        """Whether the free beam has a right hypothesis."""
        cdef int i
        for i in range(self.free.n_live):
            if self.free.live[i].right:
                return True
        return False

    cdef void note_ends(self) noexcept nogil:
        self.n_ends = 0
        self.note_ends_of(self.free, False)
        self.note_ends_of(self.held, True)

    cdef void note_ends_of(self, Beam beam, bint held) noexcept nogil:
        """Note all hypotheses, or the best one."""
        cdef EndC* end
        cdef int i
        for i in range(min(beam.n_live, 1) if self.mistakes else beam.n_live):
            end = &self.ends[self.n_ends]
            end.record = beam.live[i].last
            end.right = beam.live[i].right
            end.held = held
            self.n_ends += 1

    cdef bint failed(self) noexcept nogil:
        """Whether the hypotheses have outgrown the memory."""
        return self.tree.failed or self.free.failed or self.held.failed

    cdef double learn(self) noexcept nogil:
        """Learn from what find has noted. Returns the loss."""
        cdef double loss = 0
        cdef EndC* end
        cdef int i
        # A perceptron has nothing to learn where the best hypothesis is right.
        if self.n_ends and not (self.mistakes and (self.n_ends < 2 or self.ends[0].right)):
            for i in range(self.n_ends):
                end = &self.ends[i]
                self.tree.add(
                    self.held.records if end.held else self.free.records, end.record, end.right
                )
            if not self.failed():
                loss = self.tree.correct() if self.mistakes else self.tree.learn()
        if self.mistakes:
            self.free.search.scorer.note_example(self.free.search.scorer.self, NULL, NULL, 0)
        return loss


def sentences(gold):
    """Where the sentences of a gold tree begin, as far as known, and where the last one ends."""
    starts = [w for w, start in enumerate(gold.sent_starts) if start or w == 0]
    return [*starts, len(gold)]


def window(gold, int first, int last):
    """The gold tree of some of the words; heads outside are unknown."""
    return make_gold(
        [
            None if head is None or not first <= head < last else head - first
            for head in gold.heads[first:last]
        ],
        gold.labels[first:last],
        (True, *gold.sent_starts[first + 1:last]),
    )


def learn(
    MoveTable system, Scorer scored, golds, constraints, oracle, update, int width,
    float dropout, seed
):
    """Search through a batch once and collect its gradients.

    Args:
        system: the transition system.
        scored: the scores of the batch, as the scorer's model gives them.
        golds: a ``Gold`` for each sequence; their lengths add up to the words of the batch.
        constraints: int8 (words,), as in ``greedy.parse``.
        oracle: name of the oracle that says which sequences of moves are right.
        update: "max_violation" or "early_update".
        width: hypotheses of each beam.
        dropout: probability of dropping a hidden unit.
        seed: int that seeds the dropout.

    Returns:
        (gradients, loss): what the model's backward pass takes; summed negative log likelihood.

    Raises:
        ValueError: another update, a width below 1, a scorer that learns from single
            configurations only, or as ``rollout.learn``.
        MemoryError: the hypotheses have outgrown the memory.
    """
    cdef int oracle_number = system.oracle_id(oracle)
    cdef uint64_t random = (<uint64_t>seed) * 2 + 1
    cdef int8_t[::1] fixed = numpy.array(constraints, dtype="int8")
    cdef int offset = 0
    cdef int first, last, n, how
    cdef Gold gold, part
    cdef Comparison both = None
    cdef SearchC search
    cdef RolloutC rollout
    golds = list(golds)
    if not golds:
        raise ValueError("There is no gold tree to learn from.")
    sizes = numpy.asarray([len(gold) for gold in golds], dtype="intc")
    check_batch(system, scored, sizes, fixed)
    if update not in UPDATES:
        raise ValueError(f"A beam is learned from by one of {UPDATES}, not {update!r}.")
    if scored.c.learn is NULL and scored.c.add is NULL:
        raise ValueError(
            "A logistic regression does not learn from a beam: set learning to GreedyLearning, or "
            "learner to 'perceptron'."
        )
    how = UPDATES.index(update)
    rollout.search = &search
    rollout.teacher = NULL
    rollout.explore = 0
    rollout.seed = &random
    rollout.loss = 0
    scored.begin_learning(dropout, seed)
    scored.set_window(0, scored.n_words)
    for gold in golds:
        bounds = sentences(gold) if system.c.segment else [0, len(gold)]
        if max(b - a for a, b in zip(bounds, bounds[1:])) > LONGEST:
            search_init(&search, &system.c, &scored.c, gold.c.n)
            search.completes = False
            try:
                roll_out(&rollout, system, scored, gold, &fixed[offset], offset, oracle_number)
            finally:
                search_free(&search)
            offset += gold.c.n
            continue
        for first, last in zip(bounds, bounds[1:]):
            # The hypotheses may look at, and run into, what follows the sentence.
            n = min(gold.c.n - first, 2 * (last - first) + scored.lookahead)
            part = gold
            if n < gold.c.n:
                part = window(gold, first, first + n)
            system.bind(part)
            if both is None or both.free.max_words < n:
                both = Comparison(system, scored, width, n)
            if first:
                fixed[offset + first] = 0
            scored.begin(offset + first)
            scored.set_learning(False)
            both.find(
                part, oracle_for(&gold.c, oracle_number), how, last - first, gold.c.n - first,
                &fixed[offset + first]
            )
            scored.set_learning(True)
            with nogil:
                rollout.loss += both.learn()
            if both.failed():
                raise MemoryError(
                    f"No memory for the hypotheses of a sentence of {last - first} words."
                )
        if scored.c.learn_tree is not NULL:
            scored.begin(offset)
            rollout.loss += scored.c.learn_tree(scored.c.self, &gold.c)
        offset += gold.c.n
    return scored.gradients(), rollout.loss
