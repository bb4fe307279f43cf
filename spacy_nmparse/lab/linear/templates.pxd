"""Discrete features of a configuration, hashed."""
from libc.stdint cimport uint32_t, uint64_t

from spacy_nmparse.scorers.features cimport Features, FeaturesC
from spacy_nmparse.systems.state cimport StateC


cdef enum:
    MAX_TEMPLATES = 192
    MAX_ATOMS = 96
    MAX_PARTS = 4


cdef struct AtomC:      # a value that templates are made of
    int kind
    int slot            # of its word
    int other           # of the other word of a distance


cdef struct TemplateC:
    uint64_t seed       # its own number, hashed
    int n_atoms
    int atoms[MAX_PARTS]


cdef struct TemplatesC:
    FeaturesC words
    int n_atoms
    AtomC atoms[MAX_ATOMS]
    int n_templates
    TemplateC templates[MAX_TEMPLATES]


# Of the words and tags of a sequence. Returns how many features there are.
cdef int find_features(
    const TemplatesC* templates, const StateC* s, const uint64_t* words, const uint64_t* tags,
    int bits, uint32_t* out
) noexcept nogil


cdef class Templates:
    cdef TemplatesC c
    cdef Features words
