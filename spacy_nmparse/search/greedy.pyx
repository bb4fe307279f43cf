"""Greedy search: in each configuration the legal move that the scorer likes best."""
import numpy

from spacy_nmparse.search.sequences import TooLong

from spacy_nmparse.search.sequences cimport Sequences, Found, OutputC
from spacy_nmparse.search.choice cimport (
    ChoiceC,
    ConfidenceC,
    SearchC,
    begin_state,
    search_free,
    search_init,
    write_tree,
)
from spacy_nmparse.search.completion cimport complete
from spacy_nmparse.search.step cimport choose_best, make_move, next_end
from spacy_nmparse.scorers.scorer cimport Scorer
from spacy_nmparse.systems.candidates cimport walk_to_end
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.table cimport MoveTable

# Words whose tables are made by one matrix product: enough to be efficient, few enough for caches.
WINDOW = 256


cdef struct GreedyC:
    SearchC search
    int lookahead       # words from the next one on that the scorer looks at
    int last            # words of the sequence before this one have tables
    int most            # words of a sentence


cdef inline bint is_too_long(const GreedyC* greedy, const StateC* s) noexcept nogil:
    return next_end(s) - s.start > greedy.most


cdef bint greedy_step(void* walker, StateC* s) noexcept nogil:
    """Make the best move. False: the sentence is too long, or words without tables would be looked
    at."""
    cdef GreedyC* greedy = <GreedyC*>walker
    cdef ChoiceC best
    if is_too_long(greedy, s) or s.b + greedy.lookahead > greedy.last and greedy.last < s.n:
        return False
    choose_best(&greedy.search, &best)
    make_move(&greedy.search, &best)
    return True


cdef int words_that_fit(const int* lengths, int n, int window) noexcept nogil:
    """How many words, from the first of n sequences on, have their tables made together: those of
    whole sequences, or the first ones of a long one."""
    cdef int i
    cdef int words = 0
    for i in range(n):
        if words > 0 and words + lengths[i] > window:
            break
        words += lengths[i]
    return words if words < 2 * window else window


cdef int search_batch(GreedyC* greedy, Sequences batch, Found found) except -1:
    """Go through the sequences, in windows of words that have tables."""
    cdef SearchC* search = &greedy.search
    cdef StateC* s = &search.own_state
    cdef Certainty sure = None if found.probabilities is None else Certainty(batch, found)
    cdef OutputC out
    cdef int window = WINDOW
    cdef int first, last
    cdef int i = 0
    cdef int offset = 0             # the batch's word that is the first of the i-th sequence
    cdef bint started = False
    greedy.lookahead = batch.scored.lookahead
    while i < batch.n:
        if started:  # on from the current sentence, twice as far as it already reaches
            first = offset + max(0, s.start - batch.scored.margin)
            last = first + max(window, 2 * (offset + s.b + greedy.lookahead - first))
            last = min(last, offset + s.n)
        else:
            first = offset
            last = first + words_that_fit(&batch.lengths[i], batch.n - i, window)
        if started and is_too_long(greedy, s):
            raise TooLong(range(batch.n))
        batch.scored.set_window(first, last)
        with nogil:
            while i < batch.n and (
                started or offset == first or offset + batch.lengths[i] <= last
            ):
                if not started:
                    started = True
                    search.given = batch.tree(i)
                    begin_state(
                        search, s, search.own_block, batch.lengths[i], &batch.constraints[offset]
                    )
                    if sure is not None:
                        sure.begin(&search.confidence, offset)
                search.scorer.begin(search.scorer.self, first, offset)
                greedy.last = last - offset
                if not walk_to_end(s, greedy_step, greedy):
                    break
                complete(search)
                out = found.behind(offset)
                write_tree(s, 0, s.n, 0, out.heads, out.labels, out.starts)
                offset += s.n
                i += 1
                started = False
    if sure is not None:
        sure.end()
    return 0


cdef class Certainty:
    """Room to note how sure the search is of a batch's words, and of what is ``found``."""
    cdef Found found
    cdef float[:, ::1] untouched    # (2, words): and what pushes note
    cdef float[::1] attaching
    cdef int[::1] listed

    def __cinit__(self, Sequences batch, Found found):
        self.found = found
        found.probabilities[:] = 1
        self.untouched = numpy.ones((2, batch.n_words), dtype="float32")
        self.attaching = numpy.zeros(batch.n_words, dtype="float32")
        self.listed = numpy.zeros(1 + batch.longest, dtype="intc")

    cdef void begin(self, ConfidenceC* confidence, int offset) noexcept nogil:
        """A sequence whose first word is the batch's word ``offset``."""
        confidence.head = &self.found.probabilities[0, offset]
        confidence.label = &self.found.probabilities[1, offset]
        confidence.untouched = &self.untouched[0, offset]
        confidence.noted = &self.untouched[1, offset]
        confidence.attaching = &self.attaching[offset]
        confidence.listed = &self.listed[0]
        self.listed[0] = 0

    cdef int end(self) except -1:
        heads = numpy.asarray(self.found.probabilities[0])
        heads *= self.untouched[0]
        return 0


def parse(
    MoveTable system, Scorer scored, lengths, constraints, probabilities=None, given=None,
    int most=0
):
    """Parse a batch.

    Args:
        system: the transition system.
        scored: the scores of the batch, as the scorer's model gives them.
        lengths: number of words of each sequence, at least 1.
        constraints: int8 (words,): 1 the word must start a sentence, -1 it must not, 0 free.
        probabilities: float32 (2, words) to fill, or None: for each word the probability of its
            head, and of its label with that head, as ``confidence.pyx`` has it.
        given: for each sequence a ``Gold``, whose known arcs are kept as far as the system can make
            them, or None; None for all.
        most: words of a sentence; 0: any number.

    Returns:
        heads: int32 (words,), numbered within the sequence; a root is its own head.
        labels: int32 (words,), numbers of the system's labels (-1: none).
        starts: int8 (words,), 1 where a BREAK was made before the word.

    Raises:
        ValueError: scores of another system or of other words, or arrays of other shapes.
        TooLong: a sentence would have more than ``most`` words.
    """
    cdef Sequences batch = Sequences(system, scored, lengths, constraints, given)
    cdef Found found = Found(batch, probabilities)
    cdef GreedyC greedy
    greedy.most = most or batch.n_words
    if batch.n_words:
        search_init(&greedy.search, &system.c, &scored.c, batch.longest)
        try:
            search_batch(&greedy, batch, found)
        finally:
            search_free(&greedy.search)
    return found.trees()
