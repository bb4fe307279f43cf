"""Greedy search: in each configuration the legal move that the scorer likes best."""
import numpy

from libc.stdint cimport int8_t, int32_t

from spacy_nmparse.learning.complete cimport complete, needs_completion
from spacy_nmparse.learning.search cimport (
    NONE,
    CandidateC,
    ScratchC,
    StateC,
    SystemC,
    fixed_label,
    is_forced,
    notes_label,
    scratch_free,
    scratch_init,
    score_moves,
    share_of,
)
from spacy_nmparse.scorers.scorer cimport Scorer, ScorerC, best_label
from spacy_nmparse.systems.state cimport B, S, state_init
from spacy_nmparse.systems.system cimport TransitionSystem, legal_moves

# Words whose tables are made by one matrix product: enough to be efficient, few enough for caches.
WINDOW = 256


cdef struct SureC:
    float move          # share of the move
    float label         # share of the label that it gives or notes
    int words[4]        # that may get a head
    int heads[4]        # theirs before the move


cdef void look(const StateC* s, const CandidateC* c, SureC* sure) noexcept nogil:
    """Note, before a move, whom it may attach."""
    cdef int i
    sure.words[0] = B(s, 0)
    sure.words[1] = S(s, 0)
    sure.words[2] = S(s, 1)
    sure.words[3] = c.dependent
    for i in range(4):
        if sure.words[i] == s.n:
            sure.words[i] = NONE
        sure.heads[i] = NONE if sure.words[i] == NONE else s.head[sure.words[i]]


cdef void note(ScratchC* scratch, const CandidateC* c, const SureC* sure) noexcept nogil:
    """Note, after a move, how sure it was of whom it has attached."""
    cdef const StateC* s = &scratch.state
    cdef int i, w
    for i in range(4):
        w = sure.words[i]
        if w == NONE:
            continue
        if i == 3 or (s.head[w] != NONE and s.head[w] != sure.heads[i] and w != c.dependent):
            scratch.head_share[w] = sure.move
            scratch.label_share[w] = sure.label if i == 3 else scratch.noted_share[w]
    w = sure.words[0]
    if w != NONE:  # the pushed word, in case
        scratch.noted_share[w] = sure.label


cdef bint advance(
    const SystemC* system, const ScorerC* scorer, ScratchC* scratch, int last_word, int lookahead
) noexcept nogil:
    """Move until the end (True), or until words behind last_word would be looked at (False)."""
    cdef StateC* s = &scratch.state
    cdef CandidateC* candidates = scratch.candidates
    cdef CandidateC* best
    cdef float* scores = scratch.scores
    cdef int i, n, label, noted
    cdef int top
    cdef SureC sure
    cdef bint completes = needs_completion(system)
    while not system.is_final(s):
        if s.b + lookahead > last_word and last_word < s.n:
            return False
        n = legal_moves(system, s, candidates)
        best = &candidates[0]
        top = 0
        sure.move = 1
        sure.label = 1
        if n > 1 or not is_forced(system, scorer, s, best):
            score_moves(system, scorer, s, candidates, n, scores)
            for i in range(1, n):
                if scores[i] > scores[top]:
                    top = i
            best = &candidates[top]
            if scratch.head_share is not NULL and n > 1:
                sure.move = share_of(scores, n, NONE, top)
        label = NONE
        noted = NONE
        if best.dependent != NONE:
            label = fixed_label(system, s, best)
            if label == NONE:
                scorer.score_labels(scorer.self, s, best, False, scratch.labels)
                label = best_label(scorer, scratch.labels)
                if scratch.head_share is not NULL:
                    sure.label = share_of(
                        scratch.labels, system.n_labels, scorer.root_label, label
                    )
            noted = label
        elif notes_label(system, scorer, s, best):
            scorer.score_noted(scorer.self, s, scratch.labels)
            noted = best_label(scorer, scratch.labels)
            if scratch.head_share is not NULL:
                sure.label = share_of(scratch.labels, system.n_labels, scorer.root_label, noted)
        elif completes and system.moves[best.move].ends_sentence:
            complete(system, scorer, scratch)
        if scratch.head_share is not NULL:
            look(s, best, &sure)
        system.moves[best.move].effect(system, s, best.k, label, noted)
        if scratch.head_share is not NULL:
            note(scratch, best, &sure)
    if completes:
        complete(system, scorer, scratch)
    return True


def parse(TransitionSystem system, Scorer scored, lengths, constraints, shares=None):
    """Parse a batch.

    Args:
        system: the transition system.
        scored: the scores of the batch, as the scorer's model gives them.
        lengths: number of words of each sequence, at least 1.
        constraints: int8 (words,): 1 the word must start a sentence, -1 it must not, 0 free.
        shares: float32 (3, words) to be filled, or None: for each word the probability of the move
            that attached it, among the legal ones, and of its label, among the labels of that move;
            the third row is room.

    Returns:
        heads: int32 (words,), numbered within the sequence; a root is its own head.
        labels: int32 (words,), numbers of the system's labels (-1: none).
        starts: int8 (words,), 1 where a BREAK was made before the word.
    """
    cdef int n_words = sum(lengths)
    heads_array = numpy.empty(n_words, dtype="int32")
    labels_array = numpy.empty(n_words, dtype="int32")
    starts_array = numpy.zeros(n_words, dtype="int8")
    cdef int32_t[::1] heads = heads_array
    cdef int32_t[::1] labels = labels_array
    cdef int8_t[::1] starts = starts_array
    cdef const int8_t[::1] fixed = numpy.ascontiguousarray(constraints, dtype="int8")
    cdef ScratchC scratch
    cdef StateC* s = &scratch.state
    cdef float[:, ::1] sure
    cdef int lookahead = scored.lookahead
    cdef int i, w, n, first, last, offset, window
    cdef bint done
    if n_words == 0:
        return heads_array, labels_array, starts_array
    scratch_init(&scratch, &system.c, &scored.c, max(lengths))
    try:
        first = last = offset = 0  # the window: words first .. last - 1 of the batch
        for i in range(len(lengths)):
            n = lengths[i]
            state_init(s, scratch.block, n)
            for w in range(n):
                s.constraint[w] = fixed[offset + w]
            system.c.start(&system.c, s)
            if shares is not None:
                sure = shares
                scratch.head_share = &sure[0, offset]
                scratch.label_share = &sure[1, offset]
                scratch.noted_share = &sure[2, offset]
            if offset + n > last:
                first = offset
                last = offset
                for w in range(i, len(lengths)):  # as many whole sequences as fit
                    if last > first and last - first + lengths[w] > WINDOW:
                        break
                    last += lengths[w]
                last = min(last, first + max(WINDOW, n if n < 2 * WINDOW else WINDOW))
                scored.set_window(first, last)
            scored.begin(offset)
            done = False
            while not done:
                with nogil:
                    done = advance(&system.c, &scored.c, &scratch, last - offset, lookahead)
                if not done:
                    # On from the current sentence, twice as far as it already reaches.
                    first = offset + max(0, s.start - scored.margin)
                    window = max(WINDOW, 2 * (offset + s.b + lookahead - first))
                    last = min(first + window, offset + n)
                    scored.set_window(first, last)
                    scored.begin(offset)
            for w in range(n):
                heads[offset + w] = w if s.head[w] == n else s.head[w]
                labels[offset + w] = s.label[w]
                starts[offset + w] = s.sentence_start[w]
            offset += n
    finally:
        scratch_free(&scratch)
    return heads_array, labels_array, starts_array
