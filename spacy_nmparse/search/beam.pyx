"""Beam search: the best few sequences of moves, side by side.

A step makes one move in every hypothesis. First the best `width` of all their moves are chosen,
then the best `width` of the labels that these may give; a push's note is no choice, it is the best
label, as in greedy search. Scores are sums of logarithms of probabilities: of each move among the
legal ones, of each label among its move's; with an unnormalized scorer, sums of its scores. They
can be compared whatever the length of the sequences: a final hypothesis keeps its score and its
place until better ones take it. With a width of 1 this is greedy search.

What follows a sentence start does not depend on what was before. Once all hypotheses have started
a sentence at the same word, the best of their analyses of what precedes it is the best for all of
them: it is settled, and scores count from there. A text is searched through in windows, whose size
is bounded as long as something gets settled in each.
"""
import numpy

from libc.limits cimport INT_MAX
from libc.math cimport INFINITY, exp
from libc.stdint cimport int8_t, int32_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

from spacy_nmparse.search.completion cimport complete, needs_completion
from spacy_nmparse.search.common cimport (
    NONE,
    CandidateC,
    MomentC,
    ScratchC,
    StateC,
    SureC,
    SystemC,
    fixed_label,
    is_forced,
    is_only_word,
    keep,
    look,
    note,
    notes_label,
    scratch_free,
    scratch_init,
    score_moves,
    probability_of,
    weigh,
)
from spacy_nmparse.scorers.scorer cimport Scorer, ScorerC, best_label, log_total
from spacy_nmparse.systems.state cimport State, state_block_size, state_copy, state_init
from spacy_nmparse.systems.system cimport (
    LEARN_ANY,
    LEARN_NOT,
    TransitionSystem,
    apply_oracle,
    legal_moves,
)

from spacy_nmparse.systems.system import MOVE_NAMES, Action

# Words of a longer sequence that are searched through at a time, at first.
REACH = 128
# Words whose tables are made by one matrix product.
WINDOW = 512
# Scores of one sequence of moves, taken from different hypotheses, differ by less.
SAME = 1e-9


cdef enum:  # why the search stops
    FINISHED    # all that is wanted is final
    SETTLED     # a sentence start that all hypotheses share
    BLIND       # a hypothesis would look behind the words of its configuration


cdef bint insert(ItemC* items, int* n, int width, const ItemC* new) noexcept nogil:
    """Into the best items, sorted; False: it is not among them. Items come by ascending parent; of
    equal ones, the first is better."""
    cdef int i = n[0]
    while i > 0 and (
        new.score > items[i - 1].score
        or (
            new.score == items[i - 1].score and new.parent == items[i - 1].parent
            and new.raw > items[i - 1].raw
        )
    ):
        i -= 1
    if i == width:
        return False
    if n[0] < width:
        n[0] += 1
    cdef int j = n[0] - 1
    while j > i:
        items[j] = items[j - 1]
        j -= 1
    items[i] = new[0]
    return True


cdef class Beam:
    """The hypotheses over a sequence, or a window of it.

    Args:
        system: the transition system.
        scored: the scores of the batch.
        width: the most hypotheses.
        max_words: the longest window.
        asked: whether to note how sure the search is.
    """
    def __cinit__(
        self, TransitionSystem system, Scorer scored, int width, int max_words, bint asked=False
    ):
        cdef int i
        cdef size_t size = max_words + 1
        if width < 1:
            raise ValueError(f"A beam has a width of at least 1, not {width}.")
        self.system = system
        self.scored = scored
        self.lookahead = max(<int>scored.lookahead, <int>system.lookahead)
        self.width = width
        self.max_words = max_words
        self.live = <HypothesisC*>calloc(width, sizeof(HypothesisC))
        self.next = <HypothesisC*>calloc(width, sizeof(HypothesisC))
        self.unused = <HypothesisC*>calloc(2 * width, sizeof(HypothesisC))
        self.children = <int*>calloc(width, sizeof(int))
        self.moves = <ItemC*>calloc(width, sizeof(ItemC))
        self.choices = <ItemC*>calloc(width, sizeof(ItemC))
        if (
            self.live == NULL or self.next == NULL or self.unused == NULL
            or self.children == NULL or self.moves == NULL or self.choices == NULL
        ):
            raise MemoryError(f"No memory for a beam of {width} hypotheses.")
        if asked:
            self.elsewhere = <float*>calloc(width * size, sizeof(float))
            if self.elsewhere == NULL:
                raise MemoryError(f"No memory for a beam of {width} hypotheses.")
        for i in range(2 * width):
            self.unused[i].block = malloc(state_block_size(max_words))
            self.unused[i].entered = <double*>calloc(size, sizeof(double))
            if asked:
                self.unused[i].sure = <float*>calloc(4 * size, sizeof(float))
            self.n_free += 1
            if self.unused[i].block == NULL or self.unused[i].entered == NULL or (
                asked and self.unused[i].sure == NULL
            ):
                raise MemoryError(f"No memory for a beam over {max_words} words.")
        scratch_init(&self.scratch, &system.c, &scored.c, max_words)
        self.has_scratch = True
        scored.make_places(width)
        self.gold = NULL
        self.stop = INT_MAX
        self.gap = INFINITY

    def __dealloc__(self):
        cdef int i
        for i in range(self.n_live):
            free(self.live[i].block)
            free(self.live[i].entered)
            free(self.live[i].sure)
        for i in range(self.n_free):
            free(self.unused[i].block)
            free(self.unused[i].entered)
            free(self.unused[i].sure)
        free(self.elsewhere)
        free(self.live)
        free(self.next)
        free(self.unused)
        free(self.children)
        free(self.moves)
        free(self.choices)
        free(self.records)
        if self.has_scratch:
            scratch_free(&self.scratch)

    cdef void begin(self, int n, const int8_t* constraints) noexcept:
        """The initial configuration over n words as the only hypothesis."""
        cdef int w
        cdef HypothesisC* first
        while self.n_live:
            self.drop(self.n_live - 1)
        self.settled = 0
        self.take(&self.live[0])
        self.n_live = 1
        first = &self.live[0]
        state_init(&first.state, first.block, n)
        for w in range(n):
            first.state.constraint[w] = constraints[w]
        self.system.c.start(&self.system.c, &first.state)
        first.score = 0
        first.entered[0] = 0
        first.last = NONE
        first.right = self.gold is not NULL
        if first.sure is not NULL:
            for w in range(4 * self.max_words):
                first.sure[w] = 1
        self.n_records = 0

    cdef void take(self, HypothesisC* out) noexcept nogil:
        self.n_free -= 1
        out[0] = self.unused[self.n_free]

    cdef void drop(self, int i) noexcept nogil:
        """Give up the i-th hypothesis, and move the ones behind it up."""
        self.unused[self.n_free] = self.live[i]
        self.n_free += 1
        self.n_live -= 1
        while i < self.n_live:
            self.live[i] = self.live[i + 1]
            i += 1

    cdef int run(self, int n_words, int wanted) noexcept nogil:
        """Search until the first `wanted` hypotheses are final (or all), or something is settled,
        or the n_words of the sequence that remain do not suffice. Says which."""
        cdef int i
        while True:
            for i in range(self.n_live):
                if not self.system.c.is_final(&self.live[i].state):
                    break
            else:
                return FINISHED
            if i >= wanted:
                return FINISHED
            if not self.sees(n_words):
                return BLIND
            if self.step() and self.settle():
                return SETTLED

    cdef bint sees(self, int n_words) noexcept nogil:
        """Whether all hypotheses have before them what they look at, of the n_words that remain of
        the sequence."""
        cdef int i
        cdef int n = self.live[0].state.n
        if n < n_words:
            for i in range(self.n_live):
                if self.live[i].state.b + self.lookahead > n and (
                    not self.stays(&self.live[i])
                ):
                    return False
        return True

    cdef bint stays(self, const HypothesisC* h) noexcept nogil:
        """Whether a hypothesis has no more moves to make."""
        return self.system.c.is_final(&h.state) or h.state.start >= self.stop

    cdef void judge_moves(self, const HypothesisC* h, CandidateC* candidates) noexcept nogil:
        """Fill `learn` of the candidates of the configuration scored last."""
        cdef ScorerC* scorer = &self.scored.c
        cdef const StateC* s = &h.state
        cdef int noted = NONE
        if scorer.notes_labels and s.n_stack > 0 and self.system.c.n_labels > 1:
            scorer.score_noted(scorer.self, s, self.scratch.labels)
            noted = best_label(scorer, self.scratch.labels)
        apply_oracle(&self.system.c, s, self.gold, self.oracle, noted, False, candidates)

    cdef bint step(self) noexcept nogil:
        """One move in every hypothesis. Returns whether one has begun a sentence."""
        cdef SystemC* system = &self.system.c
        cdef ScorerC* scorer = &self.scored.c
        cdef CandidateC* candidates = self.scratch.candidates
        cdef float* scores = self.scratch.scores
        cdef float* labels = self.scratch.labels
        cdef ItemC item
        cdef ItemC* move
        cdef HypothesisC* h
        cdef HypothesisC* swap
        cdef StateC* s
        cdef int i, j, n, parent
        cdef int n_moves = 0
        cdef int n_choices = 0
        cdef int last_scored = NONE
        cdef double total, log_sum
        cdef bint began = False
        # The best moves.
        for parent in range(self.n_live):
            h = &self.live[parent]
            s = &h.state
            item.parent = parent
            item.score = h.score
            item.raw = 0
            item.label = NONE
            item.noted = NONE
            item.right = h.right
            item.move_p = 1
            item.label_p = 1
            item.stays = self.stays(h)
            if item.stays:
                insert(self.moves, &n_moves, self.width, &item)
                continue
            n = legal_moves(system, s, candidates)
            if n == 1 and is_forced(system, scorer, s, candidates):
                item.candidate = candidates[0]
                item.candidate.learn = LEARN_ANY
                if self.elsewhere is not NULL:
                    weigh(
                        system, s, candidates, scores, n, &self.elsewhere[parent * self.max_words]
                    )
                insert(self.moves, &n_moves, self.width, &item)
                continue
            score_moves(system, scorer, s, candidates, n, scores)
            scorer.keep(scorer.self, parent)
            last_scored = parent
            log_sum = log_total(scores, n, NONE)
            total = 0 if scorer.unnormalized else log_sum
            if self.elsewhere is not NULL:
                weigh(system, s, candidates, scores, n, &self.elsewhere[parent * self.max_words])
            if h.right:
                self.judge_moves(h, candidates)
            for i in range(n):
                if self.held and candidates[i].learn == LEARN_NOT:
                    continue
                item.right = h.right and candidates[i].learn != LEARN_NOT
                item.score = h.score + (scores[i] - total)
                item.raw = scores[i]
                if n_moves == self.width and item.score < self.moves[n_moves - 1].score:
                    continue
                item.candidate = candidates[i]
                if self.elsewhere is not NULL and not is_only_word(system, s):
                    item.move_p = <float>exp(scores[i] - log_sum)
                insert(self.moves, &n_moves, self.width, &item)
        # The best labels of these. The scorer knows those of the configuration scored last only.
        for i in range(n_moves):
            move = &self.moves[i]
            if n_choices == self.width and move.score < self.choices[n_choices - 1].score:
                break
            if n_choices and move.score < self.choices[0].score - self.gap:
                break
            s = &self.live[move.parent].state
            item = move[0]
            item.parent = i
            item.raw = 0
            if move.stays:
                insert(self.choices, &n_choices, self.width, &item)
                continue
            if move.candidate.dependent != NONE:
                item.label = fixed_label(system, s, &move.candidate)
                item.noted = item.label
                if item.label == NONE:
                    if last_scored != move.parent:
                        scorer.recall(scorer.self, move.parent, s, NULL, 0)
                        last_scored = move.parent
                    scorer.score_labels(scorer.self, s, &move.candidate, False, labels)
                    log_sum = log_total(labels, system.n_labels, scorer.root_label)
                    total = log_sum
                    if scorer.unnormalized:  # the move has the score of its best label
                        total = labels[best_label(scorer, labels)]
                    for j in range(system.n_labels):
                        if j == scorer.root_label:
                            continue
                        item.right = move.right and (
                            move.candidate.learn == LEARN_ANY or j == move.candidate.label
                        )
                        if self.held and not item.right:
                            continue
                        item.score = move.score + (labels[j] - total)
                        if n_choices and item.score < self.choices[0].score - self.gap or (
                            n_choices == self.width
                            and item.score < self.choices[n_choices - 1].score
                        ):
                            continue
                        item.raw = labels[j]
                        item.label = j
                        item.noted = j
                        if self.elsewhere is not NULL:
                            item.label_p = <float>exp(labels[j] - log_sum)
                        insert(self.choices, &n_choices, self.width, &item)
                    continue
            elif notes_label(system, scorer, s, &move.candidate):
                if last_scored != move.parent:
                    scorer.recall(scorer.self, move.parent, s, NULL, 0)
                    last_scored = move.parent
                scorer.score_noted(scorer.self, s, labels)
                item.noted = best_label(scorer, labels)
                if self.elsewhere is not NULL:
                    item.label_p = probability_of(
                        labels, system.n_labels, scorer.root_label, item.noted
                    )
            insert(self.choices, &n_choices, self.width, &item)
        while n_choices > 1 and (
            self.choices[n_choices - 1].score < self.choices[0].score - self.gap
        ):
            n_choices -= 1
        # Make the moves. The last child of a hypothesis takes its memory.
        for i in range(self.n_live):
            self.children[i] = 0
        for i in range(n_choices):
            self.choices[i].parent = self.moves[self.choices[i].parent].parent
            self.children[self.choices[i].parent] += 1
        for i in range(self.n_live):
            if self.children[i] == 0:
                self.unused[self.n_free] = self.live[i]
                self.n_free += 1
        for i in range(n_choices):
            parent = self.choices[i].parent
            h = &self.next[i]
            self.children[parent] -= 1
            if self.children[parent] == 0:
                h[0] = self.live[parent]
            else:
                self.take(h)
                h.last = self.live[parent].last
                state_copy(&h.state, h.block, &self.live[parent].state)
                memcpy(
                    h.entered, self.live[parent].entered, (h.state.n + 1) * sizeof(double)
                )
                if h.sure is not NULL:
                    memcpy(h.sure, self.live[parent].sure, 4 * self.max_words * sizeof(float))
        for i in range(n_choices):
            h = &self.next[i]
            h.score = self.choices[i].score
            h.right = self.choices[i].right
            if not self.choices[i].stays:
                began = self.make(h, &self.choices[i]) or began
        self.n_live = n_choices
        swap = self.live
        self.live = self.next
        self.next = swap
        return began

    cdef bint make(self, HypothesisC* h, const ItemC* item) noexcept nogil:
        """Make a move. Returns whether a sentence begins."""
        cdef SystemC* system = &self.system.c
        cdef const CandidateC* c = &item.candidate
        cdef int start = h.state.start
        cdef SureC sure = self.sure_of(h)
        cdef MomentC moment
        if h.sure is not NULL:
            keep(system, &h.state, c, &self.elsewhere[item.parent * self.max_words], &sure)
        if self.gold is not NULL:
            h.last = self.record(h.last, item)
        elif system.moves[c.move].ends_sentence:
            self.complete_tree(h)
        if h.sure is not NULL:
            look(&h.state, c, &moment)
        system.moves[c.move].effect(system, &h.state, c.k, item.label, item.noted)
        if h.sure is not NULL:
            note(&h.state, c, &moment, item.move_p, item.label_p, &sure)
        if h.state.start == start:
            return False
        h.entered[h.state.start] = h.score
        return True

    cdef int record(self, int before, const ItemC* item) noexcept nogil:
        """Note a move. Returns its place among the records."""
        cdef void* block
        cdef RecordC* new
        cdef int most = max(1024, 2 * self.max_records)
        if self.n_records == self.max_records:
            block = realloc(self.records, most * sizeof(RecordC))
            if block == NULL:
                self.failed = True
                return before
            self.records = <RecordC*>block
            self.max_records = most
        new = &self.records[self.n_records]
        new.before = before
        new.move = item.candidate.move
        new.k = item.candidate.k
        new.label = item.label
        new.noted = item.noted
        self.n_records += 1
        return self.n_records - 1

    cdef SureC sure_of(self, const HypothesisC* h) noexcept nogil:
        """How sure a hypothesis is, of the words of the window."""
        cdef SureC sure
        sure.head = h.sure
        if h.sure is not NULL:
            sure.label = &h.sure[self.max_words]
            sure.kept = &h.sure[2 * self.max_words]
            sure.noted = &h.sure[3 * self.max_words]
        return sure

    cdef void complete_tree(self, HypothesisC* h) noexcept nogil:
        cdef StateC unlent
        if needs_completion(&self.system.c):
            unlent = self.scratch.state
            self.scratch.state = h.state
            self.scratch.sure = self.sure_of(h)
            complete(&self.system.c, &self.scored.c, &self.scratch)
            h.state = self.scratch.state
            self.scratch.state = unlent

    cdef bint settle(self) noexcept nogil:
        """Look for the last sentence start that all hypotheses share."""
        cdef int i, w
        cdef int last = self.live[0].state.start
        for i in range(1, self.n_live):
            last = min(last, self.live[i].state.start)
        for w in range(last, self.settled, -1):
            for i in range(self.n_live):
                if not self.live[i].state.sentence_start[w]:
                    break
            else:
                self.settled = w
                return True
        return False

    cdef double end_of(self, int i, int last) noexcept nogil:
        """The score of the i-th hypothesis before the word `last`, a settled start or the end."""
        cdef HypothesisC* h = &self.live[i]
        return h.score if last == h.state.n else h.entered[last]

    cdef void fill(self, int first, int last, int shift, const OutputC* out) noexcept nogil:
        """Write the best analysis of the words first .. last - 1, before the end or a settled
        start; `shift`: the number of the window's first word in its sequence."""
        cdef int i, w
        cdef int best = 0
        cdef HypothesisC* h
        cdef SureC sure
        for i in range(1, self.n_live):
            if self.end_of(i, last) > self.end_of(best, last):
                best = i
        h = &self.live[best]
        if last == h.state.n:
            self.complete_tree(h)
        sure = self.sure_of(h)
        for w in range(first, last):
            out.heads[w] = w if h.state.head[w] == h.state.n else h.state.head[w]
            if out.heads[w] != NONE:
                out.heads[w] += shift
            out.labels[w] = h.state.label[w]
            out.starts[w] = h.state.sentence_start[w]
            if h.sure is not NULL:
                out.sure_of_head[w] = sure.head[w] * sure.kept[w]
                out.sure_of_label[w] = sure.label[w]
        if shift:
            out.starts[first] = 1

    cdef list analyses(self, int first, int last, int n):
        """The n best analyses of the words first .. last - 1, before the end or a settled start:
        (score, heads, labels, starts), best first; each once."""
        cdef int i, w
        cdef int n_words = self.live[0].state.n
        cdef HypothesisC* h
        cdef int32_t[::1] heads, labels
        cdef int8_t[::1] starts
        ends = [self.end_of(i, last) for i in range(self.n_live)]
        found = []
        known = {}  # scores by tree
        for i in sorted(range(self.n_live), key=lambda i: -ends[i]):
            h = &self.live[i]
            if last == n_words:
                self.complete_tree(h)
            heads_array = numpy.empty(last - first, dtype="int32")
            labels_array = numpy.empty(last - first, dtype="int32")
            starts_array = numpy.empty(last - first, dtype="int8")
            heads, labels, starts = heads_array, labels_array, starts_array
            for w in range(first, last):
                heads[w - first] = (w if h.state.head[w] == n_words else h.state.head[w])
                if heads[w - first] != NONE:
                    heads[w - first] -= first
                labels[w - first] = h.state.label[w]
                starts[w - first] = h.state.sentence_start[w]
            # Hypotheses that part later have the same score here, but for its last bits: ``forget``
            # may have taken another number off each.
            key = (heads_array.tobytes(), labels_array.tobytes(), starts_array.tobytes())
            scores = known.setdefault(key, [])
            if all(abs(ends[i] - score) > SAME for score in scores):
                scores.append(ends[i])
                found.append((ends[i], heads_array, labels_array, starts_array))
                if len(found) == n:
                    break
        return found

    cdef void forget(self) noexcept nogil:
        """Count scores from what is settled; of hypotheses that are alike since then, keep one."""
        cdef int i, j, w
        cdef double before
        cdef HypothesisC* h
        cdef HypothesisC moved
        for i in range(self.n_live):
            h = &self.live[i]
            before = h.entered[self.settled]
            for w in range(self.settled, h.state.start + 1):
                h.entered[w] -= before
            h.score -= before
        for i in range(1, self.n_live):  # best first again
            moved = self.live[i]
            j = i
            while j > 0 and moved.score > self.live[j - 1].score:
                self.live[j] = self.live[j - 1]
                j -= 1
            self.live[j] = moved
        i = 1
        while i < self.n_live:
            for j in range(i):
                if self.system.c.alike(
                    &self.live[i].state, &self.live[j].state, self.settled
                ):
                    self.drop(i)
                    break
            else:
                i += 1


def probabilities(TransitionSystem system, Scorer scored, int offset, State state):
    """What the search thinks of each legal action of a configuration.

    Args:
        system: the transition system.
        scored: the scores of the batch.
        offset: the batch's word that is the first of the configuration's.
        state: the configuration.

    Returns:
        A dict from ``Action`` to (log-probability of the move and its label, label that a push
        notes or None).
    """
    cdef ScratchC scratch
    cdef SystemC* c = &system.c
    cdef ScorerC* scorer = &scored.c
    cdef CandidateC* one
    cdef int i, n, label, noted
    cdef double total, label_total
    if offset < scored.first_row or offset + state.c.n > scored.last_row:
        scored.set_window(offset, offset + state.c.n)
    scored.begin(offset)
    scratch_init(&scratch, c, scorer, state.c.n)
    result = {}
    try:
        n = legal_moves(c, &state.c, scratch.candidates)
        if n:
            score_moves(c, scorer, &state.c, scratch.candidates, n, scratch.scores)
            if n == 1:
                scratch.scores[0] = 0
            total = log_total(scratch.scores, n, NONE)
        for i in range(n):
            one = &scratch.candidates[i]
            name = MOVE_NAMES[c.moves[one.move].name]
            label = NONE
            noted = NONE
            if one.dependent != NONE:
                label = fixed_label(c, &state.c, one)
                if label == NONE:
                    scorer.score_labels(scorer.self, &state.c, one, False, scratch.labels)
                    label_total = log_total(scratch.labels, c.n_labels, scorer.root_label)
                    for label in range(c.n_labels):
                        if label != scorer.root_label:
                            result[Action(name, one.k, system.label_names[label])] = (
                                scratch.scores[i] - total + scratch.labels[label] - label_total,
                                system.label_names[label],
                            )
                    continue
                noted = label
            elif notes_label(c, scorer, &state.c, one):
                scorer.score_noted(scorer.self, &state.c, scratch.labels)
                noted = best_label(scorer, scratch.labels)
            result[Action(name, one.k, None if label == NONE else system.label_names[label])] = (
                scratch.scores[i] - total, None if noted == NONE else system.label_names[noted]
            )
    finally:
        scratch_free(&scratch)
    return result


cdef list search(
    TransitionSystem system, Scorer scored, lengths, constraints, int width, int n, int reach,
    const OutputC* out, double gap
):
    """Beam search through a batch.

    Args:
        system: the transition system.
        scored: the scores of the batch, as the scorer's model gives them.
        lengths: number of words of each sequence, at least 1.
        constraints: int8 (words,): 1 the word must start a sentence, -1 it must not, 0 free.
        width: the most hypotheses at a time.
        n: how many analyses of each part are wanted; one, if there is `out`.
        reach: words of a longer sequence that are searched through at a time, at first.
        out: where the best analyses go; NULL: they are returned.
        gap: hypotheses whose score is lower than the best one's by more are given up, but for
            unnormalized scorers.

    Returns:
        For each sequence a list of parts, which begin with sentences: (first word, analyses), the
        analyses being tuples (score, heads, labels, starts) of the part's words, best first; empty,
        if there is `out`.
    """
    cdef const int8_t[::1] fixed = numpy.array(constraints, dtype="int8")
    cdef Beam beam = None
    cdef OutputC here
    cdef int words, rest, base, length, done, why, wanted, settled
    cdef int lookahead = max(<int>scored.lookahead, <int>system.lookahead)
    cdef int first = 0
    cdef int last = 0
    cdef int offset = 0
    cdef int i, j, whole
    cdef bint asked = out is not NULL and out.sure_of_head is not NULL
    result = []
    wanted = 1 if n == 1 else width
    for i in range(len(lengths)):
        length = lengths[i]
        base = 0
        words = min(reach + lookahead, length) if system.c.segment else length
        parts = []
        while base < length:
            rest = length - base
            words = min(words, rest)
            if beam is None or beam.max_words < words:
                beam = Beam(system, scored, width, words, asked)
                if not scored.c.unnormalized:
                    beam.gap = gap
            if offset + base + words > last or max(0, base - scored.margin) + offset < first:
                first = offset + max(0, base - scored.margin)
                last = offset + base + words
                if base == 0:  # as many whole sequences as fit
                    whole = offset
                    for j in range(i, len(lengths)):
                        whole += lengths[j]
                        if whole - first > WINDOW:
                            break
                        last = max(last, whole)
                else:
                    last = max(last, min(offset + length, first + WINDOW))
                scored.set_window(first, last)
            scored.begin(offset + base)
            beam.begin(words, &fixed[offset + base])
            if base:
                beam.live[0].state.constraint[0] = 0
            if out is not NULL:
                here = shifted(out, offset + base)
            done = 0
            while True:
                with nogil:
                    why = beam.run(rest, wanted)
                if why == BLIND:
                    break
                settled = words if why == FINISHED else beam.settled
                if out is not NULL:
                    beam.fill(done, settled, base, &here)
                else:
                    analyses = beam.analyses(done, settled, n)
                    if base + done:
                        for analysis in analyses:
                            analysis[3][0] = 1
                    parts.append((base + done, analyses))
                done = settled
                if why == FINISHED:
                    break
                beam.forget()
            if done == 0:  # nothing settled: a wider view
                words *= 2
            else:
                base += done
                words = reach + lookahead
        result.append(parts)
        offset += length
    return result


def search_parts(
    TransitionSystem system, Scorer scored, lengths, constraints, int width, int n, reach=REACH
):
    """Search through a batch for several trees. Arguments and result as those of ``search``."""
    return search(system, scored, lengths, constraints, width, n, reach, NULL, INFINITY)


cdef OutputC shifted(const OutputC* out, int n) noexcept:
    """Where what belongs to the words from the n-th on goes."""
    cdef OutputC rest
    rest.heads = &out.heads[n]
    rest.labels = &out.labels[n]
    rest.starts = &out.starts[n]
    rest.sure_of_head = NULL if out.sure_of_head is NULL else &out.sure_of_head[n]
    rest.sure_of_label = NULL if out.sure_of_label is NULL else &out.sure_of_label[n]
    return rest


def parse(
    TransitionSystem system, Scorer scored, lengths, constraints, int width, reach=REACH,
    probabilities=None, gap=INFINITY
):
    """Parse a batch.

    Args:
        system: the transition system.
        scored: the scores of the batch, as the scorer's model gives them.
        lengths: number of words of each sequence, at least 1.
        constraints: int8 (words,): 1 the word must start a sentence, -1 it must not, 0 free.
        width: the most hypotheses at a time.
        reach: words of a longer sequence that are searched through at a time, at first.
        probabilities: float32 (2, words) to fill, or None: for each word the probabilities of its
            head in the best tree, and of its label with that head, as ``search.pyx`` has it.
        gap: hypotheses whose score is lower than the best one's by more are given up, but for
            unnormalized scorers.

    Returns:
        heads, labels, starts: as ``greedy.parse`` returns them.
    """
    cdef int n_words = sum(lengths)
    cdef int32_t[::1] heads = numpy.empty(n_words, dtype="int32")
    cdef int32_t[::1] labels = numpy.empty(n_words, dtype="int32")
    cdef int8_t[::1] starts = numpy.zeros(n_words, dtype="int8")
    cdef float[:, ::1] sure = probabilities
    cdef OutputC out
    out.sure_of_head = out.sure_of_label = NULL
    if n_words:
        out.heads, out.labels, out.starts = &heads[0], &labels[0], &starts[0]
        if sure is not None:
            out.sure_of_head, out.sure_of_label = &sure[0, 0], &sure[1, 0]
        search(system, scored, lengths, constraints, width, 1, reach, &out, gap)
    return numpy.asarray(heads), numpy.asarray(labels), numpy.asarray(starts)


def n_best(
    TransitionSystem system, Scorer scored, lengths, constraints, int width, int n, reach=REACH
):
    """The n best trees of each sequence, or as many as the beam has.

    Args: as those of ``parse``; n: how many trees.

    Returns:
        For each sequence a list of (score, heads, labels, starts), best first, no two the same. The
        score is the sum of the logarithms of the probabilities of the tree's moves and labels (of
        the best sequence of moves that makes it).
    """
    return [
        combine(parts, n)
        for parts in search_parts(system, scored, lengths, constraints, max(width, n), 0, reach)
    ]


def combine(parts, n):
    """The n best analyses of a sequence from those of its parts."""
    best = [(0.0, ())]
    for first, analyses in parts:
        distinct = {}  # sequences of moves that make the same tree
        for analysis in analyses:
            key = tuple(array.tobytes() for array in analysis[1:])
            distinct.setdefault(key, (first, analysis))
        best = sorted(
            (
                (score + part[1][0], (*before, part))
                for score, before in best for part in list(distinct.values())[:n]
            ),
            key=lambda one: -one[0],
        )[:n]
    return [
        (
            score,
            numpy.concatenate([
                numpy.where(part[1] == NONE, NONE, part[1] + first) for first, part in chosen
            ]).astype("int32"),
            numpy.concatenate([part[2] for _, part in chosen]),
            numpy.concatenate([part[3] for _, part in chosen]),
        )
        for score, chosen in best
    ]
