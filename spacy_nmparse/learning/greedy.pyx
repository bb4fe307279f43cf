"""Greedy search: in each configuration the legal move that the scorer likes best."""
import numpy

from libc.stdint cimport int8_t, int32_t

from spacy_nmparse.learning.search cimport (
    NONE,
    CandidateC,
    ScratchC,
    StateC,
    StateScorerC,
    SystemC,
    fixed_label,
    is_forced,
    notes_label,
    scratch_free,
    scratch_init,
)
from spacy_nmparse.scorers.state_scorer_kernel cimport (
    StateScorerKernel,
    best_label,
    find_rows,
    hidden_layer,
    label_scores,
    move_scores,
)
from spacy_nmparse.systems.state cimport state_init
from spacy_nmparse.systems.system cimport TransitionSystem, is_final, legal_moves

# Words whose rows are made by one matrix product: enough to be efficient, few enough for the cache.
WINDOW = 512


cdef bint advance(
    const SystemC* system, const StateScorerC* scorer, ScratchC* scratch, int first_row,
    int last_word, int lookahead
) noexcept nogil:
    """Move until the end (True), or until words behind last_word would be looked at (False)."""
    cdef StateC* s = &scratch.state
    cdef CandidateC* candidates = scratch.candidates
    cdef CandidateC* best
    cdef int i, n, label, noted
    while not is_final(s):
        if s.b + lookahead > last_word and last_word < s.n:
            return False
        n = legal_moves(system, s, candidates)
        best = &candidates[0]
        if n > 1 or not is_forced(system, scorer, s, best):
            find_rows(scorer, s, first_row, scratch.words, scratch.facts)
            hidden_layer(scorer, scratch.words, scratch.facts, scratch.pre, scratch.hidden)
            if n > 1:
                move_scores(scorer, scratch.hidden, scratch.moves)
                for i in range(1, n):
                    if scratch.moves[candidates[i].move] > scratch.moves[best.move]:
                        best = &candidates[i]
        label = NONE
        noted = NONE
        if best.dependent != NONE:
            label = fixed_label(system, s, best)
            if label == NONE:
                label_scores(scorer, scratch.hidden, scorer.block[best.move], scratch.labels)
                label = best_label(scorer, scratch.labels)
            noted = label
        elif notes_label(system, scorer, s, best):
            label_scores(scorer, scratch.hidden, scorer.noted_block, scratch.labels)
            noted = best_label(scorer, scratch.labels)
        system.moves[best.move].effect(system, s, best.k, label, noted)
    return True


cdef int buffer_lookahead(const StateScorerC* scorer) noexcept nogil:
    """How many words of the buffer the scorer looks at."""
    cdef int i, most = 1
    for i in range(scorer.features.n_slots):
        if not scorer.features.slots[i].on_stack:
            most = max(most, scorer.features.slots[i].place + 1)
    return most


def parse(TransitionSystem system, scored, lengths, constraints):
    """Parse a batch.

    Args:
        system: the transition system.
        scored: the scorer's output over all words of the batch.
        lengths: number of words of each sequence, at least 1.
        constraints: int8 (words,): 1 the word must start a sentence, -1 it must not, 0 free.

    Returns:
        heads: int32 (words,), numbered within the sequence; a root is its own head.
        labels: int32 (words,), numbers of the system's labels (-1: none).
        starts: int8 (words,), 1 where a BREAK was made before the word.
    """
    cdef StateScorerKernel kernel = scored.kernel
    cdef int n_words = sum(lengths)
    heads_array = numpy.empty(n_words, dtype="int32")
    labels_array = numpy.empty(n_words, dtype="int32")
    starts_array = numpy.zeros(n_words, dtype="int8")
    cdef int32_t[::1] heads = heads_array
    cdef int32_t[::1] labels = labels_array
    cdef int8_t[::1] starts = starts_array
    cdef const int8_t[::1] fixed = numpy.ascontiguousarray(constraints, dtype="int8")
    cdef const float[:, :, ::1] rows
    cdef ScratchC scratch
    cdef StateC* s = &scratch.state
    cdef int lookahead = buffer_lookahead(&kernel.c)
    cdef int i, w, n, first, last, offset, window
    cdef bint done
    if n_words == 0:
        return heads_array, labels_array, starts_array
    scratch_init(&scratch, &system.c, &kernel.c, max(lengths))
    buffer = numpy.empty((min(n_words, 2 * WINDOW), scored.word_W.shape[0]), dtype="float32")
    try:
        first = last = offset = 0  # the window: words first .. last - 1 of the batch
        for i in range(len(lengths)):
            n = lengths[i]
            state_init(s, scratch.block, n)
            for w in range(n):
                s.constraint[w] = fixed[offset + w]
            system.c.start(&system.c, s)
            if offset + n > last:
                first = offset
                last = offset
                for w in range(i, len(lengths)):  # as many whole sequences as fit
                    if last > first and last - first + lengths[w] > WINDOW:
                        break
                    last += lengths[w]
                last = min(last, first + max(WINDOW, n if n < 2 * WINDOW else WINDOW))
                rows = scored.word_rows(first, last, buffer)
                kernel.set_window(&rows[0, 0, 0])
            done = False
            while not done:
                with nogil:
                    done = advance(
                        &system.c, &kernel.c, &scratch, first - offset, last - offset, lookahead
                    )
                if not done:
                    # On from the current sentence, twice as far as it already reaches.
                    window = max(WINDOW, 2 * (s.b + lookahead - s.start))
                    first = offset + s.start
                    last = min(first + window, offset + n)
                    if last - first > len(buffer):
                        buffer = numpy.empty((window, buffer.shape[1]), dtype="float32")
                    rows = scored.word_rows(first, last, buffer)
                    kernel.set_window(&rows[0, 0, 0])
            for w in range(n):
                heads[offset + w] = w if s.head[w] == n else s.head[w]
                labels[offset + w] = s.label[w]
                starts[offset + w] = s.sentence_start[w]
            offset += n
    finally:
        scratch_free(&scratch)
    return heads_array, labels_array, starts_array
