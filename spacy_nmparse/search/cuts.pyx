"""Where to cut running text, if a search finds no sentence start in it for too long."""
import numpy

from libc.stdint cimport int8_t

from spacy_nmparse.search.sequences cimport Sequences
from spacy_nmparse.search.choice cimport (
    NONE,
    ChoiceC,
    SearchC,
    begin_state,
    search_free,
    search_init,
)
from spacy_nmparse.search.step cimport choose_best, make_move, next_end
from spacy_nmparse.scorers.scorer cimport Scorer
from spacy_nmparse.scorers.softmax cimport probability_of
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.table cimport MoveTable, walk_to_end


# A greedy search through a window of a sequence.
cdef struct CutterC:
    SearchC search
    int most            # words of a sentence
    int visible         # a word that is looked at stands before this one of the window
    int lookahead       # words from the next one on that are looked at
    int start           # of the sentence that best is about
    int best            # the word of its last half before which BREAK was most probable, or NONE
    float probability   # of that


cdef bint cutting_step(void* walker, StateC* s) noexcept nogil:
    """Make the best move. False: the sentence is too long, or what comes next is not visible."""
    cdef CutterC* cutter = <CutterC*>walker
    cdef SearchC* search = &cutter.search
    cdef ChoiceC best
    cdef float probability
    cdef int i
    cdef int end = next_end(s)
    if end - s.start > cutter.most or s.b + cutter.lookahead > cutter.visible:
        return False
    if cutter.start != s.start:
        cutter.start = s.start
        cutter.best = NONE
    choose_best(search, &best)
    if 2 * (end - s.start) > cutter.most:
        for i in range(search.n):
            if search.system.moves[search.candidates[i].move].ends_sentence:
                probability = probability_of(search.scores, search.n, NULL, i)
                if cutter.best == NONE or probability > cutter.probability:
                    cutter.best = end
                    cutter.probability = probability
    make_move(search, &best)
    return True


cdef int next_free(const int8_t* constraints, int first, int last) noexcept nogil:
    """The first word before which a sentence may end, or last."""
    while first < last and constraints[first] == -1:
        first += 1
    return first


cdef int find_starts(
    Scorer scored, CutterC* cutter, const int8_t[::1] constraints, int offset, int8_t[::1] starts
) except -1:
    """Search through a sequence, window by window, with no sentence longer than most words.

    Args:
        scored: the scores of the batch.
        cutter: with room for the longest window.
        constraints: those of the sequence.
        offset: the batch's word that is the first of the sequence.
        starts: to fill, zeros at first: 1 where the search has found a start, 2 where it is cut.
    """
    cdef SearchC* search = &cutter.search
    cdef StateC* s = &search.own_state
    cdef int length = starts.shape[0]
    cdef int base = 0       # the first word of the window
    cdef int words, first, w, cut
    while length - base > cutter.most:
        words = min(length - base, 2 * cutter.most + cutter.lookahead + 1)
        first = offset + max(0, base - scored.margin)
        scored.set_window(first, offset + base + words)
        with nogil:
            begin_state(search, s, search.own_block, words, &constraints[base])
            s.constraint[0] = 0
            search.scorer.begin(search.scorer.self, first, offset + base)
            cutter.visible = words if base + words < length else words + cutter.lookahead
            cutter.start = NONE
            walk_to_end(s, cutting_step, cutter)
            for w in range(1, min(s.start + 1, words)):
                if s.sentence_start[w]:
                    starts[base + w] = 1
            cut = s.start
            if next_end(s) - s.start > cutter.most:
                cut = cutter.best
                if cut == NONE:
                    cut = next_free(&constraints[base], s.start + cutter.most, length - base)
                if base + cut < length and constraints[base + cut] == 0:
                    starts[base + cut] = 2
        if cut == 0:
            break
        base += cut
    return 0


def cut(
    MoveTable system not None, Scorer scored not None, lengths, constraints, int most,
    often=False, given=None, only=None
):
    """Find where running text has to be cut, so that no sentence is longer than `most` words.

    Greedy search goes through each longer sequence. A sentence that it does not end in time is cut
    in its last half, before the word where BREAK was most probable in any configuration.

    Args:
        system: the transition system.
        scored: the scores of the batch.
        lengths: number of words of each sequence, at least 1.
        constraints: int8 (words,): 1 the word must start a sentence, -1 it must not, 0 free. Only
            free words get cuts: what is given as one sentence stays one.
        most: words of a sentence, at least 1.
        often: whether there must be a start in every `most` words, for a search that may not find
            those that greedy search finds.
        given: as of ``greedy.parse``; sequences with a tree are not cut.
        only: numbers of the sequences that are cut; None: all.

    Raises:
        ValueError: arrays of other words, or less than one word.

    Returns:
        The constraints with a 1 at each cut (others have the same starts as without, where greedy
        search goes on from here).
    """
    cdef CutterC cutter
    cdef int offset = 0
    cdef Sequences batch = Sequences(system, scored, lengths, constraints)
    fixed = numpy.asarray(batch.constraints)
    if most < 1 or (given is not None and len(given) != len(lengths)):
        raise ValueError(f"No cuts by {most} words, with trees of other sequences than {lengths}.")
    cutter.most = most
    cutter.lookahead = max(<int>scored.lookahead, <int>system.lookahead)
    words = min(2 * most + cutter.lookahead + 1, max(lengths, default=0))
    search_init(&cutter.search, &system.c, &scored.c, words)
    try:
        for i, length in enumerate(lengths):
            own = fixed[offset:offset + length]
            wanted = (only is None or i in only) and (given is None or given[i] is None)
            if wanted and length > most and not own[1:].all():
                starts = numpy.zeros(length, dtype="int8")
                find_starts(scored, &cutter, own, offset, starts)
                own[starts == 2] = 1
                if often:
                    add_starts(own, numpy.nonzero(starts)[0].tolist(), most)
            offset += length
    finally:
        search_free(&cutter.search)
    return fixed


def add_starts(constraints, starts, most):
    """Set a 1 at some of these starts, so that the next 1 is never more than `most` words away."""
    last = before = 0  # the last 1, the last start
    for start in [*starts, len(constraints)]:
        if start - last > most and before > last:
            constraints[before] = 1
            last = before
        if start < len(constraints) and constraints[start] == 1:
            last = start
        before = start
