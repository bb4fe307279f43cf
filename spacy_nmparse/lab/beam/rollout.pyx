"""Global training: a beam runs against the oracle, and whole sequences of moves are learned.

Two beams run over each gold sentence: one is free, the other is held to moves that the oracle
allows, so that it finds the right hypotheses that the model likes best. After some step they are
compared:

    max_violation   where the best hypothesis is furthest ahead of the best right one of that step
                    (Huang, Fayong & Guo 2012; Yu et al. 2013); of equal steps the last: the end, if
                    the right one is never behind
    early_update    where the last right hypothesis has fallen out of the free beam (Collins & Roark
                    2004); the end, if it never does
    latent          as max_violation, but nothing is right save the sequence that is best at the end
                    of the sentence (Björkelund & Nivre 2015, section 5)

The loss is -log of the share of the right hypotheses in the probability of all hypotheses of both
beams (a softmax over the beam: Andor et al. 2016). A hypothesis's score is the one it has in
parsing: the sum of the logarithms of its moves' and labels' probabilities.

A scorer that learns from its mistakes has the rule of the structured perceptron: where the best
hypothesis is wrong, its moves are weakened, and those of the best right one strengthened, but for
what the two have in common. Then the loss of the sentence is 1, otherwise 0.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int8_t, uint64_t
from libc.stdlib cimport free

from spacy_nmparse.lab.beam.move_tree cimport MoveTree, same_move
from spacy_nmparse.learning.rollout cimport RolloutC, oracle_for, roll_out, sequences_of
from spacy_nmparse.search.choice cimport NONE, SearchC, search_free, search_init
from spacy_nmparse.search.hypotheses cimport Beam, HypothesisC, RecordC
from spacy_nmparse.search.sequences cimport Sequences
from spacy_nmparse.scorers.scorer cimport Scorer
from spacy_nmparse.systems.gold cimport Gold
from spacy_nmparse.systems.memory cimport allocate
from spacy_nmparse.systems.table cimport MoveTable

from spacy_nmparse.systems.gold import Gold as make_gold

# What there is to choose from, in the order of their numbers.
UPDATES = ("max_violation", "early_update", "latent")
# Words of the longest sentence that is learned by a beam; documents with a longer one are learned
# by greedy rollouts.
LONGEST = 500


cdef enum:
    MAX_VIOLATION
    EARLY_UPDATE
    LATENT


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
            update: MAX_VIOLATION, EARLY_UPDATE or LATENT.
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
            if update == LATENT:
                self.compare_latent(n_words)
            else:
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

    cdef void compare_latent(self, int n_words) noexcept nogil:
        """The held beam runs to its end, then the free one along its best sequence. A sequence that
        ends before that of the free beam keeps its score, as in the held beam."""
        cdef const HypothesisC* latent = &self.held.live[0]
        cdef double violation, score
        cdef double most = -INFINITY
        cdef int step = 0
        cdef int last
        cdef bint ended
        while not self.held.stays(latent) and self.held.sees(n_words):
            self.held.step()
            latent = &self.held.live[0]
            if self.held.n_live == 0 or self.held.failed:
                return
        ended = self.held.stays(latent)
        while (
            step < latent.moves or ended and not self.free.stays(&self.free.live[0])
        ) and self.free.sees(n_words):
            self.free.step()
            step += 1
            last = move_before(self.held.records, latent.last, latent.moves - step)
            score = self.held.records[last].score
            if step > latent.moves:
                score += (step - latent.moves) * self.held.gain_of_staying(latent)
            violation = self.free.live[0].score - score
            if violation >= most:
                most = violation
                self.n_ends = 0
                self.note_ends_of(self.free, False)
                self.note_latent(last)

    cdef void note_latent(self, int last) noexcept nogil:
        """Note the moves up to the record `last` of the held beam, and that none but these are
        right."""
        cdef EndC* end
        cdef int i
        for i in range(self.n_ends):
            end = &self.ends[i]
            end.right = same_moves(self.free.records, end.record, self.held.records, last)
        end = &self.ends[self.n_ends]
        end.record = last
        end.right = True
        end.held = True
        self.n_ends += 1

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


cdef int move_before(const RecordC* records, int last, int n) noexcept nogil:
    """The record of the move n moves before another one."""
    while n > 0:
        last = records[last].before
        n -= 1
    return last


cdef bint same_moves(const RecordC* a, int i, const RecordC* b, int j) noexcept nogil:
    """Whether two sequences of moves, which end with the i-th and the j-th record, are the same."""
    while i != NONE and j != NONE:
        if not same_move(&a[i], &b[j]):
            return False
        i = a[i].before
        j = b[j].before
    return i == j


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


cdef class BeamRollout:
    """Runs the beams over the sentences of a batch.

    Args:
        batch: the sequences.
        update: MAX_VIOLATION, EARLY_UPDATE or LATENT.
        width: hypotheses of each beam.
        oracle: number of the oracle.
        seed: of the greedy rollouts.
    """
    cdef Sequences batch
    cdef Comparison both        # with room for the longest sentence so far
    cdef int update, width, oracle
    cdef uint64_t random
    cdef RolloutC rollout
    cdef SearchC search

    def __cinit__(self, Sequences batch, int update, int width, int oracle, seed):
        self.batch = batch
        self.update, self.width, self.oracle = update, width, oracle
        self.random = (<uint64_t>seed) * 2 + 1
        self.rollout.search = &self.search
        self.rollout.seed = &self.random

    cdef int learn(self, Gold gold, int offset) except -1:
        """Learn from the sequence whose first word is the batch's word ``offset``."""
        cdef int first, last
        cdef Scorer scored = self.batch.scored
        bounds = sentences(gold) if self.batch.system.c.segment else [0, len(gold)]
        if max(b - a for a, b in zip(bounds, bounds[1:])) > LONGEST:
            return self.learn_greedily(gold, offset)
        for first, last in zip(bounds, bounds[1:]):
            self.learn_sentence(gold, offset, first, last)
        if scored.c.learn_tree is not NULL:
            scored.begin(offset)
            self.rollout.loss += scored.c.learn_tree(scored.c.self, &gold.c)
        return 0

    cdef int learn_greedily(self, Gold gold, int offset) except -1:
        search_init(&self.search, &self.batch.system.c, &self.batch.scored.c, gold.c.n)
        self.search.completes = False
        try:
            roll_out(&self.rollout, self.batch, gold, offset, self.oracle)
        finally:
            search_free(&self.search)
        return 0

    cdef int learn_sentence(self, Gold gold, int offset, int first, int last) except -1:
        """Learn from the words first .. last - 1 of a sequence."""
        cdef Scorer scored = self.batch.scored
        cdef int n_left = gold.c.n - first
        # The hypotheses may look at, and run into, what follows the sentence.
        cdef int n = min(n_left, 2 * (last - first) + scored.lookahead)
        cdef Gold part = gold if n == gold.c.n else window(gold, first, first + n)
        self.batch.system.bind(part)
        if self.both is None or self.both.free.max_words < n:
            self.both = Comparison(self.batch.system, scored, self.width, n)
        if first:
            self.batch.constraints[offset + first] = 0
        scored.begin(offset + first)
        scored.set_learning(False)
        self.both.find(
            part, oracle_for(&gold.c, self.oracle), self.update, last - first, n_left,
            &self.batch.constraints[offset + first]
        )
        scored.set_learning(True)
        with nogil:
            self.rollout.loss += self.both.learn()
        if self.both.failed():
            raise MemoryError(
                f"No memory for the hypotheses of a sentence of {last - first} words."
            )
        return 0


def learn(lesson, oracle, update, int width, seed):
    """Search through a batch once and collect its gradients.

    Args:
        lesson: a ``Lesson``; its teachers are not heeded.
        oracle: name of the oracle that says which sequences of moves are right.
        update: "max_violation", "early_update" or "latent".
        width: hypotheses of each beam.
        seed: int that seeds the dropout.

    Returns:
        (gradients, loss): what the model's backward pass takes; summed negative log likelihood.

    Raises:
        ValueError: another update, a width below 1, a scorer that learns from single
            configurations only, or as ``rollout.learn``.
        MemoryError: the hypotheses have outgrown the memory.
    """
    cdef int oracle_number = lesson.system.oracle_id(oracle)
    cdef int offset = 0
    cdef Sequences batch = sequences_of(lesson)
    cdef Scorer scored = batch.scored
    cdef BeamRollout beams
    if update not in UPDATES:
        raise ValueError(f"A beam is learned from by one of {UPDATES}, not {update!r}.")
    if scored.c.learn is NULL and scored.c.add is NULL:
        raise ValueError(
            "A logistic regression does not learn from a beam: set learning to GreedyLearning, or "
            "learner to 'perceptron'."
        )
    scored.begin_learning(lesson.dropout, seed)
    scored.set_window(0, scored.n_words)
    beams = BeamRollout(batch, UPDATES.index(update), width, oracle_number, seed)
    for gold in lesson.golds:
        beams.learn(gold, offset)
        offset += len(gold)
    return scored.gradients(), beams.rollout.loss
