"""Global training: a beam runs against the oracle, and whole sequences of moves are learned.

Two beams take steps side by side over each gold sentence: one is free, the other is held to moves
that the oracle allows, so that it finds the right sequences that the model likes best (the latent
gold sequences of Björkelund & Nivre 2015, section 5). After some step they are compared:

    max_violation   where the best hypothesis is furthest ahead of the best right one (Huang, Fayong
                    & Guo 2012); of equal steps the last: the end, if the right one is never behind
    early_update    where the last right hypothesis has fallen out of the free beam (Collins & Roark
                    2004); the end, if it never does

The loss is -log of the share of the right hypotheses in the probability of all hypotheses of both
beams (a softmax over the beam: Andor et al. 2016). A hypothesis's score is the one it has in
parsing: the sum of the logarithms of its moves' and labels' probabilities.

The search drops no units and remembers nothing. The hypotheses that are compared are run through
once more, sharing the configurations that they have in common, to score them with dropout, and
again, to learn.

A scorer that learns from its mistakes has the rule of the structured perceptron: where the best
hypothesis is wrong, its moves are weakened, and those of the best right one strengthened, but for
what the two have in common. Then the loss of the sentence is 1, otherwise 0.
"""
import numpy

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

from spacy_nmparse.search.beam cimport Beam, RecordC
from spacy_nmparse.learning.rollout cimport TotalsC, oracle_for, roll_out
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
from spacy_nmparse.scorers.scorer cimport Scorer, ScorerC, log_total
from spacy_nmparse.systems.gold cimport Gold
from spacy_nmparse.systems.state cimport state_init
from spacy_nmparse.systems.system cimport TransitionSystem, legal_moves

from spacy_nmparse.systems.gold import Gold as make_gold

# What there is to choose from, in the order of their numbers.
UPDATES = ("max_violation", "early_update")
# Words of the longest sentence that is learned by a beam; documents with a longer one are learned
# by greedy rollouts.
LONGEST = 500


cdef enum:
    MAX_VIOLATION
    EARLY_UPDATE


# A move of the hypotheses that are compared, and the configuration that it leads to. The first has
# no move: it is the start.
cdef struct StepC:
    int before          # the step before it, or NONE
    int first           # the first of the steps that follow it, or NONE
    int other           # another step that follows the one before it, or NONE
    RecordC move
    # The move.
    double score        # of all moves so far
    double gradient     # of the loss by the scores of the hypotheses that have made it
    int label_ticket    # of its label scores, or NONE
    double label_total
    size_t labels       # where they begin among the floats
    bint ends           # a hypothesis ends with it
    bint right
    # The configuration.
    bint scored
    int ticket
    int n               # moves scored, or 0
    double total
    size_t scores


cdef struct EndC:       # a hypothesis to be compared
    int record
    bint right
    bint held           # whose record it is


cdef class Comparison:
    """The hypotheses that are compared, as a tree of moves.

    Args:
        system: the transition system.
        scored: the scores of the batch.
        width: of each of the two beams.
        max_words: the longest window.
    """
    cdef TransitionSystem system
    cdef Scorer scored
    cdef Beam free
    cdef Beam held
    cdef EndC* ends
    cdef int n_ends
    cdef int* path              # steps of one hypothesis
    cdef StepC* steps
    cdef int n_steps
    cdef int max_steps
    cdef float* floats
    cdef size_t n_floats
    cdef size_t max_floats
    cdef bint failed            # out of memory
    cdef ScratchC scratch
    cdef bint has_scratch
    cdef const int8_t* constraints

    def __cinit__(self, TransitionSystem system, Scorer scored, int width, int max_words):
        self.system = system
        self.scored = scored
        self.free = Beam(system, scored, width, max_words)
        self.held = Beam(system, scored, width, max_words)
        self.held.held = True
        self.ends = <EndC*>calloc(2 * width, sizeof(EndC))
        if self.ends == NULL:
            raise MemoryError(f"No memory for a beam of {width} hypotheses.")
        scratch_init(&self.scratch, &system.c, &scored.c, max_words)
        self.has_scratch = True

    def __dealloc__(self):
        free(self.ends)
        free(self.steps)
        free(self.floats)
        if self.has_scratch:
            scratch_free(&self.scratch)

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
        self.constraints = constraints
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
        self.note_ends_of(self.free, self.compared(self.free), False)
        self.note_ends_of(self.held, self.compared(self.held), True)

    cdef int compared(self, Beam beam) noexcept nogil:
        """How many of the hypotheses: all, or the best one."""
        return beam.n_live if self.scored.c.add is NULL else min(beam.n_live, 1)

    cdef void note_ends_of(self, Beam beam, int n, bint held) noexcept nogil:
        cdef int i
        cdef EndC* end
        for i in range(n):
            end = &self.ends[self.n_ends]
            end.record = beam.live[i].last
            end.right = beam.live[i].right
            end.held = held
            self.n_ends += 1

    cdef double learn(self) noexcept nogil:
        """Learn from what find has noted. Returns the loss."""
        cdef int i
        cdef double all, right
        cdef StepC* step
        self.failed = self.failed or self.free.failed or self.held.failed
        if self.scored.c.add is not NULL:
            all = self.learn_mistake()
            self.scored.c.note_example(self.scored.c.self, NULL, NULL, 0)
            return all
        if self.n_ends == 0 or not self.grow_tree():
            return 0
        for i in range(self.n_steps):
            if self.steps[i].ends:
                self.walk(i, False)
        if self.failed:
            return 0
        all = self.log_share(False)
        right = self.log_share(True)
        for i in range(self.n_steps - 1, 0, -1):
            step = &self.steps[i]
            if step.ends:
                step.gradient += exp(step.score - all)
                if step.right:
                    step.gradient -= exp(step.score - right)
            self.steps[step.before].gradient += step.gradient
        for i in range(self.n_steps):
            self.steps[i].scored = False
        for i in range(self.n_steps):
            if self.steps[i].ends:
                self.walk(i, True)
        return all - right

    cdef double learn_mistake(self) noexcept nogil:
        """Learn from the best hypothesis, if it is wrong, and the best right one. Returns the loss.
        """
        cdef int i
        self.n_steps = 0
        if self.failed or self.n_ends < 2 or self.ends[0].right or not self.grow_tree():
            return 0
        for i in range(self.n_steps - 1, 0, -1):
            if self.steps[i].ends:
                self.steps[i].gradient += -1 if self.steps[i].right else 1
            self.steps[self.steps[i].before].gradient += self.steps[i].gradient
        for i in range(self.n_steps):
            if self.steps[i].ends:
                self.walk(i, True)
        return 1

    cdef double log_share(self, bint right) noexcept nogil:
        """The logarithm of the probability of all hypotheses, or of the right ones."""
        cdef int i
        cdef double top = -INFINITY
        cdef double total = 0
        for i in range(self.n_steps):
            if self.steps[i].ends and (self.steps[i].right or not right):
                top = max(top, self.steps[i].score)
        for i in range(self.n_steps):
            if self.steps[i].ends and (self.steps[i].right or not right):
                total += exp(self.steps[i].score - top)
        return top + log(total)

    cdef bint grow_tree(self) noexcept nogil:
        """Make the tree of the noted hypotheses. False: out of memory."""
        cdef int i, r, n, length
        cdef int most = 1
        cdef int at
        cdef const RecordC* records
        for i in range(self.n_ends):
            records = self.held.records if self.ends[i].held else self.free.records
            r = self.ends[i].record
            while r != NONE:
                most += 1
                r = records[r].before
        if most > self.max_steps:
            free(self.steps)
            free(self.path)
            self.max_steps = 0
            self.steps = <StepC*>malloc(2 * most * sizeof(StepC))
            self.path = <int*>malloc(2 * most * sizeof(int))
            if self.steps == NULL or self.path == NULL:
                self.failed = True
                return False
            self.max_steps = 2 * most
        self.n_steps = 0
        self.n_floats = 0
        self.add_step(NONE, NULL)
        for i in range(self.n_ends):
            records = self.held.records if self.ends[i].held else self.free.records
            length = 0
            r = self.ends[i].record
            while r != NONE:
                self.path[length] = r
                length += 1
                r = records[r].before
            at = 0
            for n in range(length - 1, -1, -1):
                at = self.follow(at, &records[self.path[n]])
            self.steps[at].ends = True
            self.steps[at].right = self.ends[i].right
        return True

    cdef int add_step(self, int before, const RecordC* move) noexcept nogil:
        cdef int i = self.n_steps
        cdef StepC* step = &self.steps[i]
        self.n_steps += 1
        step.before = before
        step.first = NONE
        step.other = NONE
        step.score = 0
        step.gradient = 0
        step.label_ticket = NONE
        step.ends = False
        step.right = False
        step.scored = False
        step.ticket = NONE
        step.n = 0
        if before != NONE:
            step.move = move[0]
            step.other = self.steps[before].first
            self.steps[before].first = i
        return i

    cdef int follow(self, int at, const RecordC* move) noexcept nogil:
        """The step that makes a move after the step `at`."""
        cdef int i = self.steps[at].first
        while i != NONE:
            if (
                self.steps[i].move.move == move.move and self.steps[i].move.k == move.k
                and self.steps[i].move.label == move.label
                and self.steps[i].move.noted == move.noted
            ):
                return i
            i = self.steps[i].other
        return self.add_step(at, move)

    cdef void walk(self, int end, bint learning) noexcept nogil:
        """Make the moves of a hypothesis; score, or learn, what has not been yet."""
        cdef StateC* s = &self.scratch.state
        cdef int n = self.free.live[0].state.n
        cdef int i, w
        cdef int length = 0
        cdef const RecordC* move
        i = end
        while i != 0:
            self.path[length] = i
            length += 1
            i = self.steps[i].before
        state_init(s, self.scratch.block, n)
        for w in range(n):
            s.constraint[w] = self.constraints[w]
        self.system.c.start(&self.system.c, s)
        i = 0
        while True:
            if not self.steps[i].scored:
                self.steps[i].scored = True
                if self.steps[i].first == NONE:
                    return
                if learning and self.scored.c.add is not NULL:
                    self.correct_step(&self.steps[i])
                elif learning:
                    self.learn_step(&self.steps[i])
                else:
                    self.score_step(&self.steps[i])
                if self.failed:
                    return
            if length == 0:
                return
            length -= 1
            i = self.path[length]
            move = &self.steps[i].move
            self.system.c.moves[move.move].effect(
                &self.system.c, s, move.k, move.label, move.noted
            )

    cdef void score_step(self, StepC* step) noexcept nogil:
        """Score the configuration, and the moves that follow it."""
        cdef const SystemC* system = &self.system.c
        cdef const ScorerC* scorer = &self.scored.c
        cdef const StateC* s = &self.scratch.state
        cdef CandidateC* candidates = self.scratch.candidates
        cdef const CandidateC* c
        cdef StepC* after
        cdef int j = step.first
        cdef int n = legal_moves(system, s, candidates)
        cdef int m
        if n == 1 and is_forced(system, scorer, s, candidates):
            self.steps[j].score = step.score
            return
        scorer.score(scorer.self, s, candidates, n, self.scratch.scores)
        step.ticket = scorer.keep(scorer.self, 0)
        step.n = n
        step.total = log_total(self.scratch.scores, n, NONE)
        step.scores = self.keep_floats(self.scratch.scores, n)
        while j != NONE:
            after = &self.steps[j]
            m = find_candidate(candidates, n, &after.move)
            c = &candidates[m]
            after.score = step.score + (self.scratch.scores[m] - step.total)
            if c.dependent != NONE and fixed_label(system, s, c) == NONE:
                after.label_ticket = scorer.score_labels(
                    scorer.self, s, c, True, self.scratch.labels
                )
                after.label_total = log_total(
                    self.scratch.labels, system.n_labels, scorer.root_label
                )
                after.labels = self.keep_floats(self.scratch.labels, system.n_labels)
                after.score += self.scratch.labels[after.move.label] - after.label_total
            j = after.other

    cdef void learn_step(self, const StepC* step) noexcept nogil:
        """Hand the gradients of the configuration's scores to the scorer."""
        cdef const SystemC* system = &self.system.c
        cdef const ScorerC* scorer = &self.scored.c
        cdef const StateC* s = &self.scratch.state
        cdef CandidateC* candidates = self.scratch.candidates
        cdef float* d_scores = self.scratch.values
        cdef float* d_labels
        cdef const float* known
        cdef const StepC* after
        cdef double total = 0
        cdef int label, m, n
        cdef int j = step.first
        if step.ticket == NONE:
            return
        n = legal_moves(system, s, candidates)
        while j != NONE:
            total += self.steps[j].gradient
            j = self.steps[j].other
        for m in range(n):
            d_scores[m] = <float>(
                -total * exp(self.floats[step.scores + m] - step.total)
            )
        scorer.recall(scorer.self, step.ticket, s, candidates, n)
        j = step.first
        while j != NONE:
            after = &self.steps[j]
            d_scores[find_candidate(candidates, n, &after.move)] += <float>after.gradient
            if after.label_ticket != NONE:
                d_labels = scorer.label_gradient(scorer.self, after.label_ticket)
                known = self.floats + after.labels
                for label in range(system.n_labels):
                    if label != scorer.root_label:
                        d_labels[label] -= <float>(
                            after.gradient * exp(known[label] - after.label_total)
                        )
                d_labels[after.move.label] += <float>after.gradient
            j = after.other
        scorer.learn(scorer.self, s, candidates, n, d_scores)

    cdef void correct_step(self, const StepC* step) noexcept nogil:
        """Weaken the move after this configuration that is wrong, strengthen the one that is right,
        if they differ. A forced move has no score, and so nothing to learn."""
        cdef const SystemC* system = &self.system.c
        cdef const ScorerC* scorer = &self.scored.c
        cdef const StateC* s = &self.scratch.state
        cdef CandidateC* candidates = self.scratch.candidates
        cdef const StepC* after
        cdef int j = step.first
        cdef int n
        while j != NONE and self.steps[j].gradient == 0:
            j = self.steps[j].other
        if j == NONE:
            return
        n = legal_moves(system, s, candidates)
        if n == 1 and is_forced(system, scorer, s, candidates):
            return
        scorer.score(scorer.self, s, candidates, n, self.scratch.scores)
        j = step.first
        while j != NONE:
            after = &self.steps[j]
            if after.gradient != 0:
                scorer.add(
                    scorer.self, &candidates[find_candidate(candidates, n, &after.move)],
                    after.move.label, <float>-after.gradient
                )
            j = after.other

    cdef size_t keep_floats(self, const float* new, int n) noexcept nogil:
        """Where the numbers have been copied to."""
        cdef size_t place = self.n_floats
        cdef size_t most
        cdef void* block
        if place + n > self.max_floats:
            most = max(4096, 2 * (place + n))
            block = realloc(self.floats, most * sizeof(float))
            if block == NULL:
                self.failed = True
                return 0
            self.floats = <float*>block
            self.max_floats = most
        memcpy(self.floats + place, new, n * sizeof(float))
        self.n_floats += n
        return place


cdef int find_candidate(
    const CandidateC* candidates, int n, const RecordC* move
) noexcept nogil:
    cdef int m
    for m in range(n):
        if candidates[m].move == move.move and candidates[m].k == move.k:
            return m
    return NONE


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
    TransitionSystem system, Scorer scored, golds, constraints, oracle, update, int width,
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
        (gradients, loss, steps): what the model's backward pass takes; summed negative log
        likelihood; scored steps that were learned from.

    Raises:
        ValueError: another update, an oracle that the system does not have, a width below 1, or a
            scorer that learns from single configurations only.
        MemoryError: the hypotheses have outgrown the memory.
    """
    cdef int oracle_number = system.oracle_id(oracle)
    cdef uint64_t random = (<uint64_t>seed) * 2 + 1
    cdef int8_t[::1] fixed = numpy.array(constraints, dtype="int8")
    cdef int offset = 0
    cdef int first, last, n, how, i
    cdef Gold gold, part
    cdef Comparison both = None
    cdef TotalsC totals
    if update not in UPDATES:
        raise ValueError(f"A beam is learned from by one of {UPDATES}, not {update!r}.")
    if scored.c.learn is NULL and scored.c.add is NULL:
        raise ValueError(
            f"A logistic regression does not learn from a beam: set beam_training to 'local', not "
            f"{update!r}, or learner to 'perceptron'."
        )
    how = UPDATES.index(update)
    totals.loss = 0
    totals.steps = 0
    scored.begin_learning(dropout, seed)
    scored.set_window(0, scored.n_words)
    for gold in golds:
        bounds = sentences(gold) if system.c.segment else [0, len(gold)]
        if max(b - a for a, b in zip(bounds, bounds[1:])) > LONGEST:
            learn_greedily(
                system, scored, gold, fixed[offset:], offset, oracle_for(&gold.c, oracle_number),
                &random, &totals
            )
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
                totals.loss += both.learn()
            if both.failed:
                raise MemoryError(
                    f"No memory for the hypotheses of a sentence of {last - first} words."
                )
            for i in range(both.n_steps):
                totals.steps += both.steps[i].ticket != NONE
        if scored.c.learn_tree is not NULL:
            scored.begin(offset)
            totals.loss += scored.c.learn_tree(scored.c.self, &gold.c)
        offset += gold.c.n
    return scored.gradients(), totals.loss, totals.steps


cdef int learn_greedily(
    TransitionSystem system, Scorer scored, Gold gold, const int8_t[::1] fixed, int offset,
    int oracle, uint64_t* random, TotalsC* totals
) except -1:
    """A greedy rollout over a sequence, along the oracle's moves."""
    cdef ScratchC scratch
    cdef StateC* s = &scratch.state
    cdef int w
    cdef int n = gold.c.n
    system.bind(gold)
    scratch_init(&scratch, &system.c, &scored.c, n)
    try:
        state_init(s, scratch.block, n)
        for w in range(n):
            s.constraint[w] = fixed[w]
        system.c.start(&system.c, s)
        scored.begin(offset)
        with nogil:
            roll_out(
                &system.c, &scored.c, NULL, &scratch, &gold.c, oracle, 0, random, totals
            )
    finally:
        scratch_free(&scratch)
    return 0
