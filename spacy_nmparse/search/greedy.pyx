"""Greedy search: in each configuration the legal move that the scorer likes best."""
import numpy

from libc.stdint cimport int8_t, int32_t
from libc.string cimport memcpy

from spacy_nmparse.search.completion cimport complete, needs_completion
from spacy_nmparse.search.common cimport (
    NONE,
    CandidateC,
    MomentC,
    ScratchC,
    StateC,
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
from spacy_nmparse.scorers.scorer cimport Scorer, ScorerC, best_label
from spacy_nmparse.systems.state cimport state_init
from spacy_nmparse.systems.system cimport TransitionSystem, legal_moves

# Words whose tables are made by one matrix product: enough to be efficient, few enough for caches.
WINDOW = 256


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
    cdef float move_p, label_p
    cdef MomentC moment
    cdef bint asked = scratch.sure.head is not NULL
    cdef bint completes = needs_completion(system)
    while not system.is_final(s):
        if s.b + lookahead > last_word and last_word < s.n:
            return False
        n = legal_moves(system, s, candidates)
        best = &candidates[0]
        top = 0
        move_p = 1
        label_p = 1
        if n > 1 or not is_forced(system, scorer, s, best):
            score_moves(system, scorer, s, candidates, n, scores)
            for i in range(1, n):
                if scores[i] > scores[top]:
                    top = i
            best = &candidates[top]
            if asked and n > 1:
                if not is_only_word(system, s):
                    move_p = probability_of(scores, n, NONE, top)
                weigh(system, s, candidates, scores, n, scratch.right)
                keep(system, s, best, scratch.right, &scratch.sure)
        label = NONE
        noted = NONE
        if best.dependent != NONE:
            label = fixed_label(system, s, best)
            if label == NONE:
                scorer.score_labels(scorer.self, s, best, False, scratch.labels)
                label = best_label(scorer, scratch.labels)
                if asked:
                    label_p = probability_of(
                        scratch.labels, system.n_labels, scorer.root_label, label
                    )
            noted = label
        elif notes_label(system, scorer, s, best):
            scorer.score_noted(scorer.self, s, scratch.labels)
            noted = best_label(scorer, scratch.labels)
            if asked:
                label_p = probability_of(scratch.labels, system.n_labels, scorer.root_label, noted)
        elif completes and system.moves[best.move].ends_sentence:
            complete(system, scorer, scratch)
        if asked:
            look(s, best, &moment)
        system.moves[best.move].effect(system, s, best.k, label, noted)
        if asked:
            note(s, best, &moment, move_p, label_p, &scratch.sure)
    if completes:
        complete(system, scorer, scratch)
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


cdef void write(const StateC* s, int32_t* heads, int32_t* labels, int8_t* starts) noexcept nogil:
    """Write what a final configuration says."""
    cdef int w
    for w in range(s.n):
        heads[w] = w if s.head[w] == s.n else s.head[w]
        labels[w] = s.label[w]
        starts[w] = s.sentence_start[w]


def parse(TransitionSystem system, Scorer scored, lengths, constraints, probabilities=None):
    """Parse a batch.

    Args:
        system: the transition system.
        scored: the scores of the batch, as the scorer's model gives them.
        lengths: number of words of each sequence, at least 1.
        constraints: int8 (words,): 1 the word must start a sentence, -1 it must not, 0 free.
        probabilities: float32 (2, words) to fill, or None: for each word the probability of its
            head, and of its label with that head, as ``common.pyx`` has it.

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
    cdef const int[::1] sizes = numpy.asarray(lengths, dtype="intc")
    cdef int n_sequences = len(lengths)
    cdef const SystemC* c_system = &system.c
    cdef const ScorerC* scorer = &scored.c
    cdef ScratchC scratch
    cdef StateC* s = &scratch.state
    cdef float[:, ::1] sure = None
    cdef float[:, ::1] room = None
    cdef int lookahead = scored.lookahead
    cdef int margin = scored.margin
    cdef int window = WINDOW
    cdef int i, first, last, offset
    cdef bint started
    if n_words == 0:
        return heads_array, labels_array, starts_array
    if probabilities is not None:
        probabilities.fill(1)
        kept = numpy.ones((2, n_words), dtype="float32")
        sure = probabilities
        room = kept
    scratch_init(&scratch, &system.c, &scored.c, max(lengths))
    try:
        i = offset = 0
        started = False
        while i < n_sequences:
            # The window of words whose tables are there: first .. last - 1 of the batch.
            if started:  # on from the current sentence, twice as far as it already reaches
                first = offset + max(0, s.start - margin)
                last = first + max(window, 2 * (offset + s.b + lookahead - first))
                last = min(last, offset + s.n)
            else:
                first = offset
                last = first + words_that_fit(&sizes[i], n_sequences - i, window)
            scored.set_window(first, last)
            with nogil:
                while i < n_sequences and (
                    started or offset == first or offset + sizes[i] <= last
                ):
                    if not started:
                        started = True
                        state_init(s, scratch.block, sizes[i])
                        memcpy(s.constraint, &fixed[offset], sizes[i])
                        c_system.start(c_system, s)
                        if sure is not None:
                            scratch.sure.head = &sure[0, offset]
                            scratch.sure.label = &sure[1, offset]
                            scratch.sure.kept = &room[0, offset]
                            scratch.sure.noted = &room[1, offset]
                    scorer.begin(scorer.self, first, offset)
                    if not advance(c_system, scorer, &scratch, last - offset, lookahead):
                        break
                    write(s, &heads[offset], &labels[offset], &starts[offset])
                    offset += sizes[i]
                    i += 1
                    started = False
    finally:
        scratch_free(&scratch)
    if probabilities is not None:
        probabilities[0] *= kept[0]
    return heads_array, labels_array, starts_array
