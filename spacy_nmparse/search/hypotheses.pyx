"""The hypotheses of a beam search: the best few sequences of moves, side by side.

A step makes one move in every hypothesis. First the best `width` of all their moves are chosen,
then the best `width` of the labels that these may give; a push's note is no choice, it is the best
label, as in greedy search. Scores are sums of logarithms of probabilities: of each move among the
legal ones, of each label among its move's. They can be compared whatever the length of the
sequences: a final hypothesis keeps its score and its place until better ones take it. Sums of an
unnormalized scorer's scores cannot: mostly positive, they grow with each move. There a final
hypothesis gets the mean score of its moves at each further step, as if it went on (Zhu et al. 2013
have IDLE moves for that). With a width of 1 this is greedy search.

What follows a sentence start does not depend on what was before. Once all hypotheses have started
a sentence at the same word, the best of their analyses of what precedes it is the best for all of
them: it is settled, and scores count from there.
"""
from libc.limits cimport INT_MAX
from libc.math cimport INFINITY, exp
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from spacy_nmparse.search.choice cimport (
    ARC_LABEL,
    NO_LABEL,
    NONE,
    CandidateC,
    begin_choice,
    begin_state,
    choose_label,
    find_moves,
    noted_by_push,
    score_labels,
    search_free,
    search_init,
    write_tree,
)
from spacy_nmparse.search.completion cimport complete
from spacy_nmparse.search.confidence cimport is_only_word, record_attaching
from spacy_nmparse.search.step cimport make_move
from spacy_nmparse.scorers.scorer cimport ScorerC
from spacy_nmparse.scorers.softmax cimport argmax, log_total
from spacy_nmparse.systems.memory cimport allocate
from spacy_nmparse.systems.state cimport state_block_size, state_copy
from spacy_nmparse.systems.table cimport LEARN_ANY, LEARN_NOT, apply_oracle


cdef bint has_room(const BestItemsC* best, double score) noexcept nogil:
    """Whether an item with this score may be among the best."""
    return not (best.n == best.most and score < best.items[best.n - 1].score)


cdef bint is_behind(const BestItemsC* best, double score, double gap) noexcept nogil:
    """Whether the best item is better by more than the gap."""
    return best.n > 0 and score < best.items[0].score - gap


cdef bint is_better(const ItemC* new, const ItemC* old) noexcept nogil:
    """Items come by ascending parent, or move; of equal ones, the first is better."""
    if new.score != old.score:
        return new.score > old.score
    return new.parent == old.parent and new.move == old.move and new.raw > old.raw


cdef void insert(BestItemsC* best, const ItemC* new) noexcept nogil:
    """Insert an item, if it is among the best."""
    cdef int i = best.n
    while i > 0 and is_better(new, &best.items[i - 1]):
        i -= 1
    if i == best.most:
        return
    cdef int j = min(best.n, best.most - 1)
    best.n = j + 1
    while j > i:
        best.items[j] = best.items[j - 1]
        j -= 1
    best.items[i] = new[0]


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
        self, MoveTable system, Scorer scored, int width, int max_words, bint asked=False
    ):
        cdef int i
        cdef size_t size = max_words + 1
        if width < 1:
            raise ValueError(f"A beam has a width of at least 1, not {width}.")
        if max_words < 1:
            raise ValueError(f"A beam searches at least 1 word, not {max_words}.")
        scored.check_system(system)
        self.system = system
        self.scored = scored
        self.lookahead = max(<int>scored.lookahead, <int>system.lookahead)
        self.width = width
        self.max_words = max_words
        self.live = <HypothesisC*>allocate(width, sizeof(HypothesisC))
        self.next = <HypothesisC*>allocate(width, sizeof(HypothesisC))
        self.unused = <HypothesisC*>allocate(2 * width, sizeof(HypothesisC))
        self.children = <int*>allocate(width, sizeof(int))
        self.moves.items = <ItemC*>allocate(width, sizeof(ItemC))
        self.choices.items = <ItemC*>allocate(width, sizeof(ItemC))
        self.moves.most = self.choices.most = width
        if asked:
            self.attaching = <float*>allocate(width * size, sizeof(float))
            self.listed = <int*>allocate(width * size, sizeof(int))
        for i in range(2 * width):
            self.n_free += 1
            self.unused[i].block = allocate(state_block_size(max_words), 1)
            self.unused[i].entered = <double*>allocate(size, sizeof(double))
            if asked:
                self.unused[i].confidence = <float*>allocate(4 * size, sizeof(float))
        search_init(&self.search, &system.c, &scored.c, max_words)
        scored.make_places(width)
        self.gold = NULL
        self.stop = INT_MAX
        self.gap = INFINITY

    def __dealloc__(self):
        while self.n_live:
            self.drop(self.n_live - 1)
        for i in range(self.n_free):
            free(self.unused[i].block)
            free(self.unused[i].entered)
            free(self.unused[i].confidence)
        free(self.attaching)
        free(self.listed)
        free(self.live)
        free(self.next)
        free(self.unused)
        free(self.children)
        free(self.moves.items)
        free(self.choices.items)
        free(self.records)
        search_free(&self.search)

    cdef void begin(self, int n, const int8_t* constraints) noexcept:
        """The initial configuration over n words as the only hypothesis."""
        cdef int i
        cdef HypothesisC* first = &self.live[0]
        while self.n_live:
            self.drop(self.n_live - 1)
        self.settled = 0
        self.take(first)
        self.n_live = 1
        begin_state(&self.search, &first.state, first.block, n, constraints)
        first.score = 0
        first.total = 0
        first.moves = 0
        first.entered[0] = 0
        first.last = NONE
        first.right = self.gold is not NULL
        if first.confidence is not NULL:
            for i in range(4 * self.max_words):
                first.confidence[i] = 1
        self.n_records = 0

    cdef void set_current(self, HypothesisC* h, int parent) noexcept nogil:
        """Make a hypothesis, or one that takes the move of its parent, the search's current one."""
        self.search.s = &h.state
        if h.confidence is not NULL:
            self.search.confidence.head = h.confidence
            self.search.confidence.label = &h.confidence[self.max_words]
            self.search.confidence.untouched = &h.confidence[2 * self.max_words]
            self.search.confidence.noted = &h.confidence[3 * self.max_words]
            self.search.confidence.attaching = &self.attaching[parent * self.max_words]
            self.search.confidence.listed = &self.listed[parent * (1 + self.max_words)]

    cdef void take(self, HypothesisC* out) noexcept nogil:
        self.n_free -= 1
        out[0] = self.unused[self.n_free]

    cdef void release(self, const HypothesisC* h) noexcept nogil:
        self.unused[self.n_free] = h[0]
        self.n_free += 1

    cdef void drop(self, int i) noexcept nogil:
        """Give up the i-th hypothesis, and move the ones behind it up."""
        self.release(&self.live[i])
        self.n_live -= 1
        while i < self.n_live:
            self.live[i] = self.live[i + 1]
            i += 1

    cdef int run(self, int n_words, int wanted) noexcept nogil:
        """Search until the best `wanted` hypotheses are final (FINISHED), a sentence start is
        settled (SETTLED), or more words than the window's are needed (BLIND). n_words: how many
        words of the sequence remain, from the window's first on."""
        cdef int i
        while True:
            i = 0
            while i < min(wanted, self.n_live) and self.stays(&self.live[i]):
                i += 1
            if i == min(wanted, self.n_live):
                return FINISHED
            if not self.sees(n_words):
                return BLIND
            if self.step() and self.settle():
                return SETTLED

    cdef bint sees(self, int n_words) noexcept nogil:
        """Whether all words that the hypotheses look at are in the window, or the sequence, of
        which n_words remain, has no more."""
        cdef int i
        cdef int n = self.live[0].state.n
        if n < n_words:
            for i in range(self.n_live):
                if self.live[i].state.b + self.lookahead > n and not self.stays(&self.live[i]):
                    return False
        return True

    cdef bint stays(self, const HypothesisC* h) noexcept nogil:
        """Whether a hypothesis has no more moves to make."""
        return self.system.c.is_final(&h.state) or h.state.start >= self.stop

    cdef double gain_of_staying(self, const HypothesisC* h) noexcept nogil:
        """What a step adds to the score of a hypothesis without a move: the mean of its moves."""
        return h.total / h.moves if self.search.scorer.unnormalized and h.moves else 0

    cdef bint step(self) noexcept nogil:
        """One move in every hypothesis. Returns whether one has begun a sentence."""
        cdef const ItemC* items = self.choices.items
        cdef int i
        cdef bint began = False
        self.moves.n = 0
        self.choices.n = 0
        self.scored_last = NONE
        for i in range(self.n_live):
            self.offer_moves(i)
        for i in range(self.moves.n):
            if not has_room(&self.choices, self.moves.items[i].score) or (
                is_behind(&self.choices, self.moves.items[i].score, self.gap)
            ):
                break
            self.offer_labels(i)
        while self.choices.n > 1 and (
            is_behind(&self.choices, items[self.choices.n - 1].score, self.gap)
        ):
            self.choices.n -= 1
        self.inherit()
        for i in range(self.n_live):
            if not items[i].stays:
                began = self.make(&self.live[i], &items[i]) or began
        return began

    cdef void offer_moves(self, int parent) noexcept nogil:
        """Choose among the moves of a hypothesis."""
        cdef const ScorerC* scorer = self.search.scorer
        cdef HypothesisC* h = &self.live[parent]
        cdef const float* scores = self.search.scores
        cdef bint asked = h.confidence is not NULL
        cdef bint only_word
        cdef double log_sum, total
        cdef ItemC item
        cdef CandidateC* c
        cdef int i
        item.score = h.score
        item.raw = 0
        item.parent = parent
        item.move = NONE
        item.stays = self.stays(h)
        item.right = h.right
        item.choice.move_p = 1
        if item.stays:
            item.score += self.gain_of_staying(h)
            insert(&self.moves, &item)
            return
        self.set_current(h, parent)
        if not find_moves(&self.search):
            self.search.candidates[0].learn = LEARN_ANY
            item.choice.move = self.search.candidates[0]
            if asked:
                record_attaching(&self.search)
            insert(&self.moves, &item)
            return
        scorer.keep(scorer.self, parent)
        self.scored_last = parent
        log_sum = log_total(scores, self.search.n, NULL)
        total = 0 if scorer.unnormalized else log_sum
        if asked:
            record_attaching(&self.search)
        if h.right:
            apply_oracle(
                self.search.s, self.gold, self.oracle,
                noted_by_push(&self.search), False, self.search.candidates
            )
        only_word = asked and is_only_word(&self.search)
        for i in range(self.search.n):
            c = &self.search.candidates[i]
            if self.held and c.learn == LEARN_NOT:
                continue
            item.score = h.score + (scores[i] - total)
            if not has_room(&self.moves, item.score):
                continue
            item.raw = scores[i]
            item.right = h.right and c.learn != LEARN_NOT
            item.choice.move = c[0]
            if asked and not only_word:
                item.choice.move_p = <float>exp(scores[i] - log_sum)
            insert(&self.moves, &item)

    cdef void offer_labels(self, int move) noexcept nogil:
        """Choose among the labels of a move. The scorer knows those of the configuration scored
        last only."""
        cdef const ScorerC* scorer = self.search.scorer
        cdef const float* labels = self.search.labels
        cdef const ItemC* unlabelled = &self.moves.items[move]
        cdef HypothesisC* h = &self.live[unlabelled.parent]
        cdef ItemC item = unlabelled[0]
        cdef ChoiceC* choice = &item.choice
        cdef double log_sum, total
        cdef int label, kind
        item.raw = 0
        item.move = move
        if item.stays:
            insert(&self.choices, &item)
            return
        self.set_current(h, item.parent)
        kind = begin_choice(&self.search, &unlabelled.choice.move, choice)
        choice.move_p = unlabelled.choice.move_p
        if kind != NO_LABEL and self.scored_last != item.parent:
            scorer.recall(scorer.self, item.parent, &h.state, NULL, 0)
            self.scored_last = item.parent
        if kind != ARC_LABEL:
            choose_label(&self.search, choice, kind)
            insert(&self.choices, &item)
            return
        score_labels(&self.search, &choice.move, kind)
        log_sum = log_total(labels, scorer.n_labels, self.search.mask)
        total = log_sum
        if scorer.unnormalized:  # the move has the score of its best label
            total = labels[argmax(labels, scorer.n_labels, self.search.mask)]
        for label in range(scorer.n_labels):
            if not self.search.mask[label]:
                continue
            item.right = unlabelled.right and (
                choice.move.learn == LEARN_ANY or label == choice.move.label
            )
            item.score = unlabelled.score + (labels[label] - total)
            if (
                self.held and not item.right or not has_room(&self.choices, item.score)
                or is_behind(&self.choices, item.score, self.gap)
            ):
                continue
            item.raw = labels[label]
            choice.label = label
            choice.noted = label
            if h.confidence is not NULL:
                choice.label_p = <float>exp(labels[label] - log_sum)
            insert(&self.choices, &item)

    cdef void inherit(self) noexcept nogil:
        """Make the parents of the choices the hypotheses. The last child of one takes its memory;
        the others get copies."""
        cdef int i, parent
        cdef HypothesisC* h
        cdef HypothesisC* swap
        for i in range(self.n_live):
            self.children[i] = 0
        for i in range(self.choices.n):
            self.children[self.choices.items[i].parent] += 1
        for i in range(self.n_live):
            if self.children[i] == 0:
                self.release(&self.live[i])
        for i in range(self.choices.n):
            parent = self.choices.items[i].parent
            h = &self.next[i]
            self.children[parent] -= 1
            if self.children[parent] == 0:
                h[0] = self.live[parent]
                continue
            self.take(h)
            h.score = self.live[parent].score
            h.total = self.live[parent].total
            h.moves = self.live[parent].moves
            h.last = self.live[parent].last
            state_copy(&h.state, h.block, &self.live[parent].state)
            memcpy(h.entered, self.live[parent].entered, (h.state.n + 1) * sizeof(double))
            if h.confidence is not NULL:
                memcpy(
                    h.confidence, self.live[parent].confidence, 4 * self.max_words * sizeof(float)
                )
        for i in range(self.choices.n):
            h = &self.next[i]
            if not self.choices.items[i].stays:
                h.total += self.choices.items[i].score - h.score
                h.moves += 1
            h.score = self.choices.items[i].score
            h.right = self.choices.items[i].right
        self.n_live = self.choices.n
        swap = self.live
        self.live = self.next
        self.next = swap

    cdef bint make(self, HypothesisC* h, const ItemC* item) noexcept nogil:
        """Make a move. Returns whether a sentence begins."""
        cdef int start = h.state.start
        self.set_current(h, item.parent)
        if self.gold is not NULL:
            h.last = self.record(h, &item.choice)
        make_move(&self.search, &item.choice)
        if h.state.start == start:
            return False
        h.entered[h.state.start] = h.score
        return True

    cdef int record(self, const HypothesisC* h, const ChoiceC* choice) noexcept nogil:
        """Note a hypothesis's move. Returns its place among the records."""
        cdef void* block
        cdef RecordC* new
        cdef int most = max(1024, 2 * self.max_records)
        if self.n_records == self.max_records:
            block = realloc(self.records, most * sizeof(RecordC))
            if block == NULL:
                self.failed = True
                return h.last
            self.records = <RecordC*>block
            self.max_records = most
        new = &self.records[self.n_records]
        new.before = h.last
        new.score = h.score
        new.move = choice.move.move
        new.k = choice.move.k
        new.label = choice.label
        new.noted = choice.noted
        self.n_records += 1
        return self.n_records - 1

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
        for i in range(1, self.n_live):
            if self.end_of(i, last) > self.end_of(best, last):
                best = i
        h = &self.live[best]
        self.set_current(h, best)
        if last == h.state.n:
            complete(&self.search)
        write_tree(
            &h.state, first, last, shift,
            &out.heads[first], &out.labels[first], &out.starts[first]
        )
        if h.confidence is not NULL:
            for w in range(first, last):
                out.head_p[w] = self.search.confidence.head[w] * self.search.confidence.untouched[w]
                out.label_p[w] = self.search.confidence.label[w]
        if shift:
            out.starts[first] = 1

    cdef void forget(self) noexcept nogil:
        """Count scores from the settled start on. Of hypotheses that are alike from there on, keep
        the best."""
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
                if self.system.c.alike(&self.live[i].state, &self.live[j].state, self.settled):
                    self.drop(i)
                    break
            else:
                i += 1
