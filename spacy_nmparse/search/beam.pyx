"""Beam search: the best few sequences of moves, side by side; see ``hypotheses.pyx``.

A text is searched through in windows of words. A window grows only where no sentence start in it
gets settled.
"""
from math import inf

import numpy

from spacy_nmparse.search.sequences import TooLong

from libc.stdint cimport int8_t, int32_t

from spacy_nmparse.search.sequences cimport Sequences, Found, OutputC
from spacy_nmparse.search.choice cimport NONE, write_tree
from spacy_nmparse.search.completion cimport complete
from spacy_nmparse.search.hypotheses cimport BLIND, FINISHED, Beam, HypothesisC
from spacy_nmparse.scorers.scorer cimport Scorer
from spacy_nmparse.systems.table cimport MoveTable

# Words of a longer sequence that are searched through at a time, at first.
REACH = 128
cdef enum:
    WINDOW = 512    # words whose tables are made by one matrix product
# Scores of one sequence of moves, taken from different hypotheses, differ by less.
SAME = 1e-9


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


cdef int longest_sentence(const int8_t[::1] starts) noexcept nogil:
    """Words of the longest sentence of some that begin one."""
    cdef int w
    cdef int start = 0
    cdef int most = 0
    for w in range(starts.shape[0]):
        if starts[w] == 1:
            start = w
        most = max(most, w - start + 1)
    return most


cdef class BeamSearch:
    """Beam search through the sequences of a batch, each in windows of words.

    Args:
        batch: the sequences; those with a given tree are searched through at once.
        width: the most hypotheses at a time.
        n: how many analyses of each part are wanted; one, where they are written.
        reach: words of a longer sequence that are searched through at a time, at first.
        gap: hypotheses whose score is lower than the best one's by more are given up, but for
            unnormalized scorers.
        found: where the best analyses are written; None: they are returned.
        most: words of a sentence; 0: any number.

    Raises:
        ValueError: reach is below 1.
    """
    cdef Sequences batch
    cdef Found found
    cdef Beam beam
    cdef int width, n, reach, most, lookahead
    cdef double gap
    cdef int first, last        # these words of the batch have tables: first .. last - 1
    cdef int words              # in the window
    cdef set too_long           # sequences

    def __cinit__(
        self, Sequences batch, int width, int n, int reach, double gap, Found found or None,
        int most
    ):
        if reach < 1:
            raise ValueError(f"A beam reaches over at least 1 word, not {reach}.")
        self.batch, self.found = batch, found
        self.width, self.n, self.reach, self.gap = width, n, reach, gap
        self.most = most or batch.n_words
        self.too_long = set()
        self.lookahead = max(<int>batch.scored.lookahead, <int>batch.system.lookahead)

    cdef list search_all(self):
        """Search through all sequences. Returns for each a list of parts, which begin with
        sentences: (first word, analyses), the analyses being tuples (score, heads, labels, starts)
        of the part's words, best first; empty, where they are written. Raises TooLong."""
        cdef int offset = 0
        cdef int i
        result = []
        for i in range(self.batch.n):
            result.append(self.search(i, offset))
            offset += self.batch.lengths[i]
        if self.too_long:
            raise TooLong(self.too_long)
        return result

    cdef list search(self, int i, int offset):
        """The parts of the i-th sequence, whose first word is the batch's word ``offset``."""
        cdef int length = self.batch.lengths[i]
        cdef bint at_once = self.batch.tree(i) is not NULL or not self.batch.system.c.segment
        cdef int words = length if at_once else self.reach + self.lookahead
        cdef int base = 0
        cdef int done
        parts = []
        while base < length:
            words = min(words, length - base)
            self.begin(i, offset, base, words)
            done = self.run(offset, base, length - base, parts)
            if not done and words > self.most:
                break
            base += done
            words = self.reach + self.lookahead if done else 2 * words  # a wider view
        trees = [analysis[3] for _, found in parts for analysis in found]
        if self.found is not None:
            trees = [self.found.starts[offset:offset + length]]
        if base < length or any(longest_sentence(starts) > self.most for starts in trees):
            self.too_long.add(i)
        return parts

    cdef int begin(self, int i, int offset, int base, int words) except -1:
        """Begin a window: so many words of the i-th sequence, from its word ``base`` on."""
        if self.beam is None or self.beam.max_words < words:
            self.beam = Beam(
                self.batch.system, self.batch.scored, self.width, words,
                self.found is not None and self.found.probabilities is not None
            )
            if not self.batch.scored.c.unnormalized:
                self.beam.gap = self.gap
        self.words = words
        self.make_tables(i, offset, base, words)
        self.batch.scored.begin(offset + base)
        self.beam.search.given = self.batch.tree(i)
        self.beam.begin(words, &self.batch.constraints[offset + base])
        if base:
            self.beam.live[0].state.constraint[0] = 0
        return 0

    cdef int make_tables(self, int i, int offset, int base, int words) except -1:
        """Let the words of a window have tables, and those before them that are looked at."""
        cdef int first = offset + max(0, base - <int>self.batch.scored.margin)
        cdef int whole = offset
        cdef int k
        if offset + base + words <= self.last and first >= self.first:
            return 0
        self.first = first
        self.last = offset + base + words
        if base == 0:  # as many whole sequences as fit
            for k in range(i, self.batch.n):
                whole += self.batch.lengths[k]
                if whole - first > WINDOW:
                    break
                self.last = max(self.last, whole)
        else:
            whole += self.batch.lengths[i]
            self.last = max(self.last, min(whole, first + <int>WINDOW))
        self.batch.scored.set_window(first, self.last)
        return 0

    cdef int run(self, int offset, int base, int n_left, list parts) except -1:
        """Search through the window, as far as it reaches. Returns how many words are settled.

        Args:
            offset: the batch's word that is the first of the sequence.
            base: the sequence's word that is the first of the window.
            n_left: words of the sequence from that one on.
            parts: analyses are added to it, if they are wanted.
        """
        cdef int wanted = 1 if self.n == 1 else self.width
        cdef int done = 0
        cdef int why, settled
        cdef OutputC out
        while True:
            with nogil:
                why = self.beam.run(n_left, wanted)
            if why == BLIND:
                return done
            settled = self.words if why == FINISHED else self.beam.settled
            if self.found is not None:
                out = self.found.behind(offset + base)
                self.beam.fill(done, settled, base, &out)
            else:
                found = analyses(self.beam, done, settled, self.n)
                if base + done:
                    for analysis in found:
                        analysis[3][0] = 1
                parts.append((base + done, found))
            done = settled
            if why == FINISHED:
                return done
            self.beam.forget()


def search_parts(
    MoveTable system, Scorer scored, lengths, constraints, int width, int n, reach=REACH,
    given=None, int most=0
):
    """Search for several trees. Arguments and errors as those of ``parse``; result as that of
    ``BeamSearch.search_all``."""
    cdef Sequences batch = Sequences(system, scored, lengths, constraints, given)
    return (<BeamSearch>BeamSearch(batch, width, n, reach, inf, None, most)).search_all()


def parse(
    MoveTable system, Scorer scored, lengths, constraints, int width, reach=REACH,
    probabilities=None, gap=inf, given=None, int most=0
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
        given, most: as of ``greedy.parse``.

    Returns:
        heads, labels, starts: as ``greedy.parse`` returns them.

    Raises:
        ValueError: as ``greedy.parse``; or width or reach is below 1.
        TooLong: as ``greedy.parse``; or there is no start of a sentence in ``most`` words that all
            hypotheses share.
    """
    cdef Sequences batch = Sequences(system, scored, lengths, constraints, given)
    cdef Found found = Found(batch, probabilities)
    if batch.n_words:
        (<BeamSearch>BeamSearch(batch, width, 1, reach, gap, found, most)).search_all()
    return found.trees()


def n_best(
    MoveTable system, Scorer scored, lengths, constraints, int width, int n, reach=REACH,
    given=None, int most=0
):
    """The n best trees of each sequence, or as many as the beam has.

    Args: as those of ``parse``; n: how many trees. Raises what ``parse`` raises.

    Returns:
        For each sequence a list of (score, heads, labels, starts), best first, no two the same. The
        score is the sum of the logarithms of the probabilities of the tree's moves and labels (of
        the best sequence of moves that makes it).
    """
    return [
        combine(parts, n)
        for parts in search_parts(
            system, scored, lengths, constraints, max(width, n), 0, reach, given, most
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
