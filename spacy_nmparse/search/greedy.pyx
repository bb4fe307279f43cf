"""Greedy search: in each configuration the legal move that the scorer likes best."""
import numpy

from libc.stdint cimport int8_t, int32_t, uintptr_t

from spacy_nmparse.search.choice cimport (
    ChoiceC,
    SearchC,
    addresses,
    check_batch,
    begin_state,
    search_free,
    search_init,
    write_tree,
)
from spacy_nmparse.search.completion cimport complete
from spacy_nmparse.search.step cimport choose_best, make_move
from spacy_nmparse.scorers.scorer cimport Scorer
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport TransitionSystem, walk_to_end

# Words whose tables are made by one matrix product: enough to be efficient, few enough for caches.
WINDOW = 256


cdef struct GreedyC:
    SearchC search
    int lookahead       # words from the next one on that the scorer looks at
    int last            # words of the sequence before this one have tables


cdef bint step(void* walker, StateC* s) noexcept nogil:
    """Make the best move. False: words without tables would be looked at."""
    cdef GreedyC* greedy = <GreedyC*>walker
    cdef ChoiceC best
    if s.b + greedy.lookahead > greedy.last and greedy.last < s.n:
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


def parse(
    TransitionSystem system, Scorer scored, lengths, constraints, probabilities=None, given=None
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

    Returns:
        heads: int32 (words,), numbered within the sequence; a root is its own head.
        labels: int32 (words,), numbers of the system's labels (-1: none).
        starts: int8 (words,), 1 where a BREAK was made before the word.

    Raises:
        ValueError: scores of another system or of other words, or arrays of other shapes.
    """
    cdef const int[::1] sizes = numpy.asarray(lengths, dtype="intc")
    cdef const int8_t[::1] fixed = numpy.ascontiguousarray(constraints, dtype="int8")
    cdef float[:, ::1] found = probabilities
    cdef int longest = check_batch(system, scored, sizes, fixed, found)
    cdef int n_words = scored.n_words
    heads_array = numpy.empty(n_words, dtype="int32")
    labels_array = numpy.empty(n_words, dtype="int32")
    starts_array = numpy.zeros(n_words, dtype="int8")
    cdef int32_t[::1] heads = heads_array
    cdef int32_t[::1] labels = labels_array
    cdef int8_t[::1] starts = starts_array
    cdef int n_sequences = sizes.shape[0]
    cdef const uintptr_t[::1] trees = addresses(system, given, sizes)
    cdef GreedyC greedy
    cdef SearchC* search = &greedy.search
    cdef StateC* s = &search.own_state
    cdef float[:, ::1] room = None
    cdef int margin = scored.margin
    cdef int window = WINDOW
    cdef int i, first, last, offset
    cdef bint started
    if n_words == 0:
        return heads_array, labels_array, starts_array
    if probabilities is not None:
        probabilities.fill(1)
        untouched = numpy.ones((3, n_words), dtype="float32")
        room = untouched
    greedy.lookahead = scored.lookahead
    search_init(search, &system.c, &scored.c, longest)
    try:
        i = offset = 0
        started = False
        while i < n_sequences:
            # The window of words whose tables are there: first .. last - 1 of the batch.
            if started:  # on from the current sentence, twice as far as it already reaches
                first = offset + max(0, s.start - margin)
                last = first + max(window, 2 * (offset + s.b + greedy.lookahead - first))
                last = min(last, offset + s.n)
            else:
                first = offset
                last = first + words_that_fit(&sizes[i], n_sequences - i, window)
            scored.set_window(first, last)
            with nogil:
                while i < n_sequences and (started or offset == first or offset + sizes[i] <= last):
                    if not started:
                        started = True
                        search.given = <const GoldC*>trees[i]
                        begin_state(search, s, search.own_block, sizes[i], &fixed[offset])
                        if found is not None:
                            search.confidence.head = &found[0, offset]
                            search.confidence.label = &found[1, offset]
                            search.confidence.untouched = &room[0, offset]
                            search.confidence.noted = &room[1, offset]
                            search.confidence.attaching = &room[2, offset]
                    search.scorer.begin(search.scorer.self, first, offset)
                    greedy.last = last - offset
                    if not walk_to_end(s, step, &greedy):
                        break
                    complete(search)
                    write_tree(s, 0, s.n, 0, &heads[offset], &labels[offset], &starts[offset])
                    offset += sizes[i]
                    i += 1
                    started = False
    finally:
        search_free(search)
    if probabilities is not None:
        probabilities[0] *= untouched[0]
    return heads_array, labels_array, starts_array
