# cython: boundscheck=False, wraparound=False
"""Rows of tables of hashed vectors: which ones numbers have, their sums, and adding to them.

A number has four rows of its table, by hash (Bloom embeddings, Serrà & Karatzoglou 2017), as in
thinc's ``HashEmbed`` of the same seed.
"""
import numpy

from libc.stdint cimport INT32_MAX, int32_t, uint32_t, uint64_t
from murmurhash.mrmr cimport hash128_x64

cdef enum:
    N_HASHES = 4


cdef Py_ssize_t width_of(list tables, const int32_t[:, :, ::1] rows) except -1:
    """The tables' common width. Raises ValueError where tables and rows do not fit each other."""
    cdef Py_ssize_t table, word, i
    cdef Py_ssize_t wrong = 0
    cdef Py_ssize_t n_tables = len(tables)
    cdef int32_t n
    cdef const float[:, ::1] values = None
    cdef Py_ssize_t width = 0
    if rows.shape[0] != n_tables or rows.shape[2] != N_HASHES:
        raise ValueError(
            f"The rows of {n_tables} tables have the shape ({n_tables}, words, {N_HASHES}), not "
            f"({rows.shape[0]}, {rows.shape[1]}, {rows.shape[2]})."
        )
    for table in range(n_tables):
        values = tables[table]
        n = <int32_t>min(values.shape[0], <Py_ssize_t>INT32_MAX)
        if table and values.shape[1] != width:
            raise ValueError(f"Tables have one width, not {width} and {values.shape[1]}.")
        width = values.shape[1]
        for word in range(rows.shape[1]):
            for i in range(N_HASHES):
                wrong += not 0 <= rows[table, word, i] < n
        if wrong:
            raise ValueError(f"Table {table} has {n} rows: {wrong} of the rows are none of them.")
    return width


def rows_of(const uint64_t[:, ::1] numbers, sizes):
    """Find the rows of numbers.

    Args:
        numbers: uint64 (words, tables)
        sizes: rows of each table, list of int; a table's place is the seed of its hashes.

    Returns:
        int32 (tables, words, 4)

    Raises:
        ValueError: sizes of other tables, or no rows.
    """
    cdef Py_ssize_t n_words = numbers.shape[0]
    cdef Py_ssize_t n_tables = numbers.shape[1]
    cdef Py_ssize_t table, word, i
    cdef uint32_t size
    cdef uint32_t keys[N_HASHES]
    cdef int32_t[:, :, ::1] rows = numpy.empty((n_tables, n_words, N_HASHES), dtype="int32")
    if len(sizes) != n_tables or any(not 1 <= size <= INT32_MAX for size in sizes):
        raise ValueError(f"Sizes are those of {n_tables} tables, each at least 1, not {sizes}.")
    for table in range(n_tables):
        size = sizes[table]
        for word in range(n_words):
            hash128_x64(&numbers[word, table], sizeof(uint64_t), <uint32_t>table, keys)
            for i in range(N_HASHES):
                rows[table, word, i] = <int32_t>(keys[i] % size)
    return numpy.asarray(rows)


def sum_rows(list tables, const int32_t[:, :, ::1] rows):
    """Sum the rows of each word in each table.

    Args:
        tables: float32 (rows, width) each.
        rows: int32 (tables, words, 4)

    Returns:
        float32 (words, tables * width), the first table's sums first.

    Raises:
        ValueError: rows that the tables do not have, or arrays of other shapes.
    """
    cdef Py_ssize_t n_words = rows.shape[1]
    cdef Py_ssize_t width = width_of(tables, rows)
    cdef Py_ssize_t table, word, i
    cdef const float[:, ::1] values
    cdef const float* start
    cdef const float* a
    cdef const float* b
    cdef const float* c
    cdef const float* d
    cdef float* to
    cdef float[:, ::1] sums = numpy.empty((n_words, len(tables) * width), dtype="float32")
    for table in range(rows.shape[0]):
        values = tables[table]
        start = &values[0, 0]
        with nogil:
            for word in range(n_words):
                a = start + rows[table, word, 0] * width
                b = start + rows[table, word, 1] * width
                c = start + rows[table, word, 2] * width
                d = start + rows[table, word, 3] * width
                to = &sums[word, table * width]
                for i in range(width):
                    to[i] = a[i] + b[i] + c[i] + d[i]
    return numpy.asarray(sums)


def add_to_rows(list tables, const int32_t[:, :, ::1] rows, const float[:, ::1] values):
    """Add to each row of each word in each table.

    Args:
        tables: float32 (rows, width) each; changed.
        rows: int32 (tables, words, 4)
        values: float32 (words, tables * width)

    Raises:
        ValueError: as ``sum_rows``.
    """
    cdef Py_ssize_t n_words = rows.shape[1]
    cdef Py_ssize_t width = width_of(tables, rows)
    cdef Py_ssize_t table, word, i, j
    cdef float[:, ::1] values_of_table
    cdef float* start
    cdef float* to
    cdef const float* added
    if values.shape[0] != n_words or values.shape[1] != len(tables) * width:
        raise ValueError(
            f"Values have the shape {n_words, len(tables) * width}, not "
            f"{values.shape[0], values.shape[1]}."
        )
    for table in range(rows.shape[0]):
        values_of_table = tables[table]
        start = &values_of_table[0, 0]
        with nogil:
            for i in range(N_HASHES):
                for word in range(n_words):
                    to = start + rows[table, word, i] * width
                    added = &values[word, table * width]
                    for j in range(width):
                        to[j] += added[j]
