"""The sequences that a search goes through, and the trees that it finds for them."""
import numpy

from spacy_nmparse.systems.gold cimport Gold


class TooLong(Exception):
    """Numbers of sequences: in one of them a sentence has more words than it may have."""


cdef class Sequences:
    """Sequences of words to search through, checked. Arguments are those of ``greedy.parse``.

    Raises:
        ValueError: scores of another system, or lengths, constraints or trees of other words.
    """
    def __cinit__(self, MoveTable system, Scorer scored, lengths, constraints, given=None):
        scored.check_system(system)
        self.system = system
        self.scored = scored
        self.lengths = numpy.asarray(lengths, dtype="intc")
        self.constraints = numpy.array(constraints, dtype="int8")
        self.given = given
        self.n = self.lengths.shape[0]
        self.n_words = scored.n_words
        self.check_words()
        self.addresses = numpy.zeros(self.n, dtype="uintp")
        if given is not None:
            self.find_addresses()

    cdef int check_words(self) except -1:
        """Find the longest sequence."""
        cdef ptrdiff_t n_words = 0
        cdef ptrdiff_t i
        for i in range(self.n):
            n_words += self.lengths[i]
            self.longest = max(self.longest, self.lengths[i])
            if self.lengths[i] < 1:
                raise ValueError(
                    f"A sequence has at least 1 word, not {self.lengths[i]} (sequence {i})."
                )
        if not n_words == self.n_words == self.constraints.shape[0]:
            raise ValueError(
                f"Sequences of {n_words} words in all and {self.constraints.shape[0]} constraints "
                f"do not go with the scores of {self.n_words} words: take those of the same "
                f"documents."
            )
        for i in range(n_words):
            if not -1 <= self.constraints[i] <= 1:
                raise ValueError(
                    f"The constraint of word {i} is 1, 0 or -1, not {self.constraints[i]}."
                )
        return 0

    cdef int find_addresses(self) except -1:
        cdef Gold gold
        if len(self.given) != self.n:
            raise ValueError(
                f"There are {self.n} sequences but {len(self.given)} given trees."
            )
        for i, gold in enumerate(self.given):
            if gold is not None:
                if gold.c.n != self.lengths[i]:
                    raise ValueError(
                        f"The given tree of sequence {i} has {gold.c.n} words, the sequence "
                        f"{self.lengths[i]}."
                    )
                self.system.bind(gold)
                self.addresses[i] = <uintptr_t>&gold.c
        return 0


cdef class Found:
    """The trees of a batch's words; probabilities: as of ``greedy.parse``.

    Raises:
        ValueError: probabilities of another shape.
    """
    def __cinit__(self, Sequences batch, probabilities=None):
        cdef int n = batch.n_words
        self.probabilities = probabilities
        if probabilities is not None and (
            self.probabilities.shape[0] != 2 or self.probabilities.shape[1] != n
        ):
            raise ValueError(
                f"Probabilities of {n} words have the shape (2, {n}), not "
                f"({self.probabilities.shape[0]}, {self.probabilities.shape[1]})."
            )
        self.heads = numpy.empty(n, dtype="int32")
        self.labels = numpy.empty(n, dtype="int32")
        self.starts = numpy.zeros(n, dtype="int8")

    cdef OutputC behind(self, int n) noexcept nogil:
        """Where what belongs to the words from the n-th on goes."""
        cdef OutputC out
        out.heads, out.labels, out.starts = &self.heads[n], &self.labels[n], &self.starts[n]
        out.head_p = out.label_p = NULL
        if self.probabilities is not None:
            out.head_p, out.label_p = &self.probabilities[0, n], &self.probabilities[1, n]
        return out

    cdef tuple trees(self):
        """heads, labels and starts, as arrays."""
        return numpy.asarray(self.heads), numpy.asarray(self.labels), numpy.asarray(self.starts)
