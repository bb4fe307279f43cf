# cython: boundscheck=False, wraparound=False
"""The best reading of words: that whose values have the largest sum of scores.

Readings are laid out as an FP-tree: each as the path of its values, the most frequent value first,
so that most begin as the one before and share its sums.
"""
import numpy

from libc.math cimport INFINITY
from libc.stddef cimport ptrdiff_t
from libc.string cimport memset

from spacy_nmparse.layers.kernels cimport nmp_keep_larger, nmp_sum_rows


cdef enum:
    WORDS = 32      # scored at a time


cdef class Readings:
    """Readings, ready to be compared.

    Args:
        table: float32 (readings, values), 1 where a reading has a value, 0 elsewhere.
    """
    cdef readonly object table
    cdef int[:, ::1] paths  # of each reading: its number, values shared with the one before, end
    cdef int[::1] values    # of all readings, those that are not shared
    cdef int longest

    def __init__(self, table):
        by_frequency = numpy.argsort(-table.sum(axis=0), kind="stable")
        found = sorted(
            (numpy.flatnonzero(row).tolist(), number)
            for number, row in enumerate(table[:, by_frequency] != 0)
        )
        paths, values, before = [], [], []
        for path, number in found:
            shared = 0
            while shared < len(path) and path[shared : shared + 1] == before[shared : shared + 1]:
                shared += 1
            values += by_frequency[path[shared:]].tolist()
            paths.append((number, shared, len(path)))
            before = path
        self.table = table
        self.paths = numpy.asarray(paths, dtype="int32").reshape(-1, 3)
        self.values = numpy.asarray(values, dtype="int32")
        self.longest = max((length for _, _, length in paths), default=0)

    def __reduce__(self):
        return Readings, (self.table,)

    def best(self, const float[:, :] scores):
        """The best reading of each word, the first of equal ones: int32 (words,).

        Args:
            scores: float32 (words, values).

        Raises:
            ValueError: scores of other values.
        """
        cdef ptrdiff_t n_words = scores.shape[0]
        cdef ptrdiff_t n_values = scores.shape[1]
        if n_values != self.table.shape[1]:
            raise ValueError(f"Readings of {self.table.shape[1]} values, but scores of {n_values}.")
        result = numpy.zeros(n_words, dtype="int32")
        cdef int[::1] chosen = result
        cdef float[:, ::1] of_values = numpy.zeros((n_values, WORDS), dtype="float32")
        cdef float[:, ::1] sums = numpy.zeros((self.longest + 1, WORDS), dtype="float32")
        cdef int best[WORDS]
        cdef ptrdiff_t first = 0
        cdef ptrdiff_t n, i, j
        if not self.longest:
            return result
        with nogil:
            while first < n_words:
                n = min(n_words - first, <ptrdiff_t>WORDS)
                for i in range(n):
                    for j in range(n_values):
                        of_values[j, i] = scores[first + i, j]
                self.compare(&of_values[0, 0], &sums[0, 0], best)
                for i in range(n):
                    chosen[first + i] = best[i]
                first += n
        return result

    cdef void compare(self, const float* scores, float* sums, int* best) noexcept nogil:
        """Find the best readings of WORDS words. scores: (values, WORDS). sums: (longest + 1,
        WORDS), of which the first are 0."""
        cdef float top[WORDS]
        cdef const float* rows[2]
        cdef const int* value = &self.values[0]
        cdef ptrdiff_t r, i, k
        memset(best, 0, WORDS * sizeof(int))
        for i in range(WORDS):
            top[i] = -INFINITY
        for r in range(self.paths.shape[0]):
            for k in range(self.paths[r, 1], self.paths[r, 2]):
                rows[0] = sums + k * WORDS
                rows[1] = scores + value[0] * <ptrdiff_t>WORDS
                nmp_sum_rows(sums + (k + 1) * WORDS, rows, 2, 0, WORDS)
                value += 1
            nmp_keep_larger(
                top, best, sums + self.paths[r, 2] * <ptrdiff_t>WORDS, self.paths[r, 0], WORDS
            )
