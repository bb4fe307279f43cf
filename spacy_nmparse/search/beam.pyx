"""Beam search: the best few sequences of moves, side by side; see ``hypotheses.pyx``.

A text is searched through in windows, whose size is bounded as long as a sentence start gets
settled in each.
"""
from math import inf

import numpy

from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int32_t, uintptr_t

from spacy_nmparse.search.choice cimport (
    ARC_LABEL,
    NONE,
    ChoiceC,
    SearchC,
    addresses,
    check_batch,
    begin_choice,
    choose_label,
    find_moves,
    score_labels,
    search_free,
    search_init,
    write_tree,
)
from spacy_nmparse.search.completion cimport complete
from spacy_nmparse.search.hypotheses cimport BLIND, FINISHED, Beam, HypothesisC, OutputC
from spacy_nmparse.scorers.scorer cimport Scorer
from spacy_nmparse.scorers.softmax cimport log_total
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport State
from spacy_nmparse.systems.system cimport TransitionSystem, label_fits

from spacy_nmparse.systems.action import Action
from spacy_nmparse.systems.system import MOVE_NAMES

# Words of a longer sequence that are searched through at a time, at first.
REACH = 128
# Words whose tables are made by one matrix product.
WINDOW = 512
# Scores of one sequence of moves, taken from different hypotheses, differ by less.
SAME = 1e-9


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

    Raises:
        ValueError: scores or a configuration of another system, or words that are not scored.
    """
    cdef SearchC search
    cdef ChoiceC choice
    cdef int i, label, kind
    cdef double total, label_total
    scored.check_system(system)
    system.check_state(state)
    if not 0 <= offset <= scored.n_words - state.c.n:
        raise ValueError(
            f"A configuration of {state.c.n} words from word {offset} on does not go with the "
            f"scores of {scored.n_words} words: take those of the same document."
        )
    if offset < scored.first_row or offset + state.c.n > scored.last_row:
        scored.set_window(offset, offset + state.c.n)
    scored.begin(offset)
    search_init(&search, &system.c, &scored.c, state.c.n)
    search.s = &state.c
    names = system.label_names
    result = {}
    try:
        find_moves(&search)
        total = log_total(search.scores, search.n, NONE)
        for i in range(search.n):
            kind = begin_choice(&search, &search.candidates[i], &choice)
            name, k = MOVE_NAMES[system.c.moves[choice.move.move].name], choice.move.k
            if kind == ARC_LABEL:
                score_labels(&search, &choice.move, kind)
                label_total = log_total(search.labels, system.c.n_labels, scored.c.left_out)
                for label in range(system.c.n_labels):
                    if label_fits(&system.c, choice.move.head == state.c.n, label):
                        result[Action(name, k, names[label])] = (
                            search.scores[i] - total + search.labels[label] - label_total,
                            names[label],
                        )
                continue
            choose_label(&search, &choice, kind)
            result[Action(name, k, None if choice.label == NONE else names[choice.label])] = (
                search.scores[i] - total, None if choice.noted == NONE else names[choice.noted]
            )
    finally:
        search_free(&search)
    return result


cdef list analyses(Beam beam, int first, int last, int n):
    """The n best analyses of the words first .. last - 1, before the end or a settled start:
    (score, heads, labels, starts), best first; each once."""
    cdef int i
    cdef HypothesisC* h
    cdef int32_t[::1] heads, labels
    cdef int8_t[::1] starts
    ends = [beam.end_of(i, last) for i in range(beam.n_live)]
    found = []
    known = {}  # scores by tree
    for i in sorted(range(beam.n_live), key=lambda i: -ends[i]):
        h = &beam.live[i]
        if last == h.state.n:
            beam.set_current(h, i)
            complete(&beam.search)
        heads_array = numpy.empty(last - first, dtype="int32")
        labels_array = numpy.empty(last - first, dtype="int32")
        starts_array = numpy.empty(last - first, dtype="int8")
        heads, labels, starts = heads_array, labels_array, starts_array
        write_tree(&h.state, first, last, -first, &heads[0], &labels[0], &starts[0])
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


cdef list search_batch(
    TransitionSystem system, Scorer scored, const int[::1] lengths, const int8_t[::1] fixed, given,
    int width, int n, int reach, const OutputC* out, double gap
):
    """Beam search through a batch.

    Args:
        system: the transition system.
        scored: the scores of the batch, as the scorer's model gives them.
        lengths: number of words of each sequence.
        fixed: constraints of the words.
        given: as of ``greedy.parse``; such sequences are searched through at once.
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
    cdef Beam beam = None
    cdef OutputC here
    cdef int words, n_left, base, length, done, why, wanted, settled
    cdef int lookahead = max(<int>scored.lookahead, <int>system.lookahead)
    cdef int first = 0
    cdef int last = 0
    cdef int offset = 0
    cdef int i, j, whole
    cdef bint asked = out is not NULL and out.head_p is not NULL
    cdef bint at_once
    cdef const uintptr_t[::1] trees = addresses(system, given, lengths)
    if reach < 1:
        raise ValueError(f"A beam reaches over at least 1 word, not {reach}.")
    result = []
    wanted = 1 if n == 1 else width
    for i in range(lengths.shape[0]):
        length = lengths[i]
        base = 0
        at_once = trees[i] != 0 or not system.c.segment
        words = length if at_once else min(reach + lookahead, length)
        parts = []
        while base < length:
            n_left = length - base
            words = min(words, n_left)
            if beam is None or beam.max_words < words:
                beam = Beam(system, scored, width, words, asked)
                if not scored.c.unnormalized:
                    beam.gap = gap
            if offset + base + words > last or max(0, base - scored.margin) + offset < first:
                first = offset + max(0, base - scored.margin)
                last = offset + base + words
                if base == 0:  # as many whole sequences as fit
                    whole = offset
                    for j in range(i, lengths.shape[0]):
                        whole += lengths[j]
                        if whole - first > WINDOW:
                            break
                        last = max(last, whole)
                else:
                    last = max(last, min(offset + length, first + WINDOW))
                scored.set_window(first, last)
            scored.begin(offset + base)
            beam.search.given = <const GoldC*>trees[i]
            beam.begin(words, &fixed[offset + base])
            if base:
                beam.live[0].state.constraint[0] = 0
            if out is not NULL:
                here = shifted(out, offset + base)
            done = 0
            while True:
                with nogil:
                    why = beam.run(n_left, wanted)
                if why == BLIND:
                    break
                settled = words if why == FINISHED else beam.settled
                if out is not NULL:
                    beam.fill(done, settled, base, &here)
                else:
                    found = analyses(beam, done, settled, n)
                    if base + done:
                        for analysis in found:
                            analysis[3][0] = 1
                    parts.append((base + done, found))
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
    TransitionSystem system, Scorer scored, lengths, constraints, int width, int n, reach=REACH,
    given=None
):
    """Search for several trees. Arguments, result and errors as those of ``parse`` and of
    ``search_batch``."""
    cdef const int[::1] sizes = numpy.asarray(lengths, dtype="intc")
    cdef const int8_t[::1] fixed = numpy.array(constraints, dtype="int8")
    check_batch(system, scored, sizes, fixed)
    return search_batch(system, scored, sizes, fixed, given, width, n, reach, NULL, INFINITY)


cdef OutputC shifted(const OutputC* out, int n) noexcept:
    """Where what belongs to the words from the n-th on goes."""
    cdef OutputC result
    result.heads = &out.heads[n]
    result.labels = &out.labels[n]
    result.starts = &out.starts[n]
    result.head_p = NULL if out.head_p is NULL else &out.head_p[n]
    result.label_p = NULL if out.label_p is NULL else &out.label_p[n]
    return result


def parse(
    TransitionSystem system, Scorer scored, lengths, constraints, int width, reach=REACH,
    probabilities=None, gap=inf, given=None
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
            head in the best tree, and of its label with that head, as ``confidence.pyx`` has it.
        gap: hypotheses whose score is lower than the best one's by more are given up, but for
            unnormalized scorers.
        given: as of ``greedy.parse``.

    Returns:
        heads, labels, starts: as ``greedy.parse`` returns them.

    Raises:
        ValueError: as ``greedy.parse``; or width or reach is below 1.
    """
    cdef const int[::1] sizes = numpy.asarray(lengths, dtype="intc")
    cdef const int8_t[::1] fixed = numpy.array(constraints, dtype="int8")
    cdef float[:, ::1] sure = probabilities
    check_batch(system, scored, sizes, fixed, sure)
    cdef int n_words = scored.n_words
    cdef int32_t[::1] heads = numpy.empty(n_words, dtype="int32")
    cdef int32_t[::1] labels = numpy.empty(n_words, dtype="int32")
    cdef int8_t[::1] starts = numpy.zeros(n_words, dtype="int8")
    cdef OutputC out
    out.head_p = out.label_p = NULL
    if n_words:
        out.heads, out.labels, out.starts = &heads[0], &labels[0], &starts[0]
        if sure is not None:
            out.head_p, out.label_p = &sure[0, 0], &sure[1, 0]
        search_batch(system, scored, sizes, fixed, given, width, 1, reach, &out, gap)
    return numpy.asarray(heads), numpy.asarray(labels), numpy.asarray(starts)


def n_best(
    TransitionSystem system, Scorer scored, lengths, constraints, int width, int n, reach=REACH,
    given=None
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
        for parts in search_parts(
            system, scored, lengths, constraints, max(width, n), 0, reach, given
        )
    ]


def combine(parts, n):
    """The n best analyses of a sequence from those of its parts."""
    best = [(0.0, ())]
    for first, found in parts:
        distinct = {}  # sequences of moves that make the same tree
        for analysis in found:
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
