"""Some sequences of moves over the same words, as a tree: what global training learns from.

The search drops no units and remembers nothing. Its sequences are run through once more, sharing
the configurations that they have in common, to score them with dropout, and again, to learn.
"""
from libc.math cimport exp
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from spacy_nmparse.search.choice cimport (
    ARC_LABEL,
    NONE,
    CandidateC,
    StateC,
    SystemC,
    begin_state,
    find_moves,
    label_choice,
    search_free,
    search_init,
)
from spacy_nmparse.scorers.scorer cimport ScorerC
from spacy_nmparse.scorers.softmax cimport log_total
from spacy_nmparse.systems.memory cimport allocate
from spacy_nmparse.systems.table cimport legal_moves


cdef class MoveTree:
    """The tree.

    Args:
        system: the transition system.
        scored: the scores of the batch.
        most: sequences.
        max_words: the longest window.
    """
    def __cinit__(self, MoveTable system, Scorer scored, int most, int max_words):
        scored.check_system(system)
        if most < 1 or max_words < 1:
            raise ValueError(
                f"A tree has at least 1 sequence and 1 word, not {most} and {max_words}."
            )
        self.system = system
        self.scored = scored
        self.end_scores = <double*>allocate(most, sizeof(double))
        search_init(&self.search, &system.c, &scored.c, max_words)

    def __dealloc__(self):
        free(self.nodes)
        free(self.path)
        free(self.floats)
        free(self.end_scores)
        search_free(&self.search)

    cdef void begin(self, int n, const int8_t* constraints) noexcept nogil:
        """Empty the tree, for sequences of moves over n words."""
        self.n_words = n
        self.constraints = constraints
        self.n_nodes = 0
        self.n_floats = 0
        if self.make_room(1):
            self.add_node(NONE, NULL)

    cdef void add(self, const RecordC* records, int last, bint right) noexcept nogil:
        """Add the sequence of moves whose last one is the record `last`, or NONE."""
        cdef int i
        cdef int length = 0
        cdef int at = 0
        cdef int r = last
        while r != NONE:
            length += 1
            r = records[r].before
        if not self.make_room(self.n_nodes + length):
            return
        r = last
        for i in range(length):
            self.path[i] = r
            r = records[r].before
        for i in range(length - 1, -1, -1):
            at = self.follow(at, &records[self.path[i]])
        self.nodes[at].ends = True
        self.nodes[at].right = right

    cdef double learn(self) noexcept nogil:
        """Learn by the gradient of -log of the share of the right sequences in the probability of
        all. Returns the loss."""
        cdef int i
        cdef double all, right
        cdef NodeC* node
        self.visit(SCORE)
        if self.failed:
            return 0
        all = self.log_share(False)
        right = self.log_share(True)
        for i in range(self.n_nodes):
            node = &self.nodes[i]
            if node.ends:
                node.gradient = exp(node.score - all)
                if node.right:
                    node.gradient -= exp(node.score - right)
        self.pass_gradients()
        self.visit(LEARN)
        return all - right

    cdef double correct(self) noexcept nogil:
        """Learn by the perceptron's rule from a wrong sequence and a right one. Returns the loss.
        """
        cdef int i
        for i in range(self.n_nodes):
            if self.nodes[i].ends:
                self.nodes[i].gradient = -1 if self.nodes[i].right else 1
        self.pass_gradients()
        self.visit(CORRECT)
        return 1

    cdef double log_share(self, bint right) noexcept nogil:
        """The logarithm of the probability of all sequences, or of the right ones."""
        cdef int i
        cdef int n = 0
        for i in range(self.n_nodes):
            if self.nodes[i].ends and (self.nodes[i].right or not right):
                self.end_scores[n] = self.nodes[i].score
                n += 1
        return log_total(self.end_scores, n, NULL)

    cdef void pass_gradients(self) noexcept nogil:
        """Add up the gradients of the sequences that have a move in common."""
        cdef int i
        for i in range(self.n_nodes - 1, 0, -1):
            self.nodes[self.nodes[i].before].gradient += self.nodes[i].gradient

    cdef bint make_room(self, int n) noexcept nogil:
        """Room for n nodes. False: out of memory."""
        cdef void* nodes
        cdef void* path
        if n > self.max_nodes:
            nodes = realloc(self.nodes, 2 * n * sizeof(NodeC))
            if nodes != NULL:
                self.nodes = <NodeC*>nodes
            path = realloc(self.path, 2 * n * sizeof(int))
            if path != NULL:
                self.path = <int*>path
            if nodes == NULL or path == NULL:
                self.failed = True
                return False
            self.max_nodes = 2 * n
        return True

    cdef int add_node(self, int before, const RecordC* move) noexcept nogil:
        cdef int i = self.n_nodes
        cdef NodeC* node = &self.nodes[i]
        self.n_nodes += 1
        node.before = before
        node.first = NONE
        node.other = NONE
        node.score = 0
        node.gradient = 0
        node.label_ticket = NONE
        node.ends = False
        node.right = False
        node.visited = False
        node.ticket = NONE
        if before != NONE:
            node.move = move[0]
            node.other = self.nodes[before].first
            self.nodes[before].first = i
        return i

    cdef int follow(self, int at, const RecordC* move) noexcept nogil:
        """The node that makes a move after the node `at`."""
        cdef int i = self.nodes[at].first
        while i != NONE:
            if same_move(&self.nodes[i].move, move):
                return i
            i = self.nodes[i].other
        return self.add_node(at, move)

    cdef void visit(self, int what) noexcept nogil:
        """Score, or learn in, each configuration that a move follows, once."""
        cdef int i
        for i in range(self.n_nodes):
            self.nodes[i].visited = False
        for i in range(self.n_nodes):
            if self.nodes[i].ends and not self.failed:
                self.replay(i, what)

    cdef void replay(self, int end, int what) noexcept nogil:
        """Make the moves of a sequence; do what has not been done yet on the way."""
        cdef StateC* s = &self.search.own_state
        cdef const RecordC* move
        cdef int i = end
        cdef int length = 0
        while i != 0:
            self.path[length] = i
            length += 1
            i = self.nodes[i].before
        begin_state(&self.search, s, self.search.own_block, self.n_words, self.constraints)
        while True:
            if not self.nodes[i].visited:
                self.nodes[i].visited = True
                if self.nodes[i].first == NONE:
                    return
                if what == SCORE:
                    self.score_node(&self.nodes[i])
                elif what == LEARN:
                    self.learn_node(&self.nodes[i])
                else:
                    self.correct_node(&self.nodes[i])
            if length == 0 or self.failed:
                return
            length -= 1
            i = self.path[length]
            move = &self.nodes[i].move
            self.system.c.moves[move.move].effect(s, move.k, move.label, move.noted)

    cdef void score_node(self, NodeC* node) noexcept nogil:
        """Score the configuration, and the moves that follow it."""
        cdef const SystemC* system = &self.system.c
        cdef const ScorerC* scorer = &self.scored.c
        cdef const float* scores = self.search.scores
        cdef float* labels = self.search.labels
        cdef const CandidateC* c
        cdef NodeC* after
        cdef int j = node.first
        if not find_moves(&self.search):
            self.nodes[j].score = node.score
            return
        node.ticket = scorer.keep(scorer.self, 0)
        node.total = log_total(scores, self.search.n, NULL)
        node.scores = self.copy_floats(scores, self.search.n)
        while j != NONE:
            after = &self.nodes[j]
            c = self.candidate_of(&after.move)
            after.score = node.score + (scores[c - self.search.candidates] - node.total)
            if label_choice(&self.search, c) == ARC_LABEL:
                after.label_ticket = scorer.score_labels(
                    scorer.self, self.search.s, c, True, labels
                )
                after.label_total = log_total(labels, system.n_labels, self.search.mask)
                after.labels = self.copy_floats(labels, system.n_labels)
                after.score += labels[after.move.label] - after.label_total
            j = after.other

    cdef void learn_node(self, const NodeC* node) noexcept nogil:
        """Hand the gradients of the configuration's scores to the scorer."""
        cdef const SystemC* system = &self.system.c
        cdef const ScorerC* scorer = &self.scored.c
        cdef const StateC* s = self.search.s
        cdef CandidateC* candidates = self.search.candidates
        cdef float* d_scores = self.search.values
        cdef float* d_labels
        cdef const float* known
        cdef const NodeC* after
        cdef double total = 0
        cdef int label, m
        cdef int j = node.first
        if node.ticket == NONE:
            return
        self.search.n = legal_moves(s, candidates)
        while j != NONE:
            total += self.nodes[j].gradient
            j = self.nodes[j].other
        for m in range(self.search.n):
            d_scores[m] = <float>(-total * exp(self.floats[node.scores + m] - node.total))
        scorer.recall(scorer.self, node.ticket, s, candidates, self.search.n)
        j = node.first
        while j != NONE:
            after = &self.nodes[j]
            d_scores[self.candidate_of(&after.move) - candidates] += <float>after.gradient
            if after.label_ticket != NONE:
                d_labels = scorer.label_gradient(scorer.self, after.label_ticket)
                known = self.floats + after.labels
                label_choice(&self.search, self.candidate_of(&after.move))
                for label in range(system.n_labels):
                    if self.search.mask[label]:
                        d_labels[label] -= <float>(
                            after.gradient * exp(known[label] - after.label_total)
                        )
                d_labels[after.move.label] += <float>after.gradient
            j = after.other
        scorer.learn(scorer.self, s, candidates, self.search.n, d_scores)

    cdef void correct_node(self, const NodeC* node) noexcept nogil:
        """Weaken the move after this configuration that is wrong, strengthen the one that is right,
        if they differ. A forced move has no score, and so nothing to learn."""
        cdef const ScorerC* scorer = &self.scored.c
        cdef const NodeC* after
        cdef int j = node.first
        while j != NONE and self.nodes[j].gradient == 0:
            j = self.nodes[j].other
        if j == NONE or not find_moves(&self.search):
            return
        j = node.first
        while j != NONE:
            after = &self.nodes[j]
            if after.gradient != 0:
                scorer.add(
                    scorer.self, self.candidate_of(&after.move), after.move.label,
                    <float>-after.gradient
                )
            j = after.other

    cdef const CandidateC* candidate_of(self, const RecordC* move) noexcept nogil:
        """The legal move that was made."""
        cdef const CandidateC* c = self.search.candidates
        while c.move != move.move or c.k != move.k:
            c += 1
        return c

    cdef size_t copy_floats(self, const float* new, int n) noexcept nogil:
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
