"""Rows that words add to hidden layers: their vectors times weights."""
from libc.stddef cimport ptrdiff_t

from spacy_nmparse.layers.products cimport Rows


cdef class WordRows:
    cdef readonly object vectors
    cdef readonly int size          # of a word's row
    cdef readonly ptrdiff_t stride  # from one row to the next one
    cdef int n_slots                # of all layers
    cdef int first, last            # the batch's words that have rows
    cdef list layers
    cdef object weights
    cdef list runs                  # of rows of the weights, that are made together
    cdef list found                 # those of the other slots
    cdef list packed                # the weights of all these, for parsing
    cdef Rows ready                 # the vectors, for these weights
    cdef object rows
    cdef object made

    cdef int pack(self) except -1
    cdef int make(self, int first, int last) except -1
    cdef gradient(self)
