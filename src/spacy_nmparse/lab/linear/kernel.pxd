"""Scores of the moves of one configuration by a linear model of hashed features."""
from libc.stdint cimport int64_t, uint32_t, uint64_t

from spacy_nmparse.scorers.scorer cimport Scorer
from spacy_nmparse.lab.linear.templates cimport MAX_TEMPLATES, Templates, TemplatesC
from spacy_nmparse.systems.system cimport MAX_MOVES


cdef struct MistakeC:       # what has been added to the weights
    int64_t time
    int which               # the class
    float amount
    size_t features         # where they end among the noted ones


cdef struct ExampleC:       # a configuration
    size_t features         # where they end among the noted ones
    size_t classes


cdef struct LinearC:
    const TemplatesC* templates
    int bits
    const uint64_t* batch_words
    const uint64_t* batch_tags
    const uint64_t* words   # of them, those of the sequence
    const uint64_t* tags
    float* weights          # (2 ** bits + stride,): a feature's row begins at its hash
    int n_moves
    int n_labels
    int n_blocks            # moves that have labels
    int block[MAX_MOVES]    # move -> its number among these, or NONE
    int noted_block         # of the move whose labels pushes note, or NONE
    int root_label
    int stride              # classes, and zeros
    int n_features          # of the configuration scored last
    uint32_t features[MAX_TEMPLATES]
    const float* rows[MAX_TEMPLATES]
    float* sums             # (stride,): the score of each class there
    float best[MAX_MOVES]   # block -> the score of its best label there
    float* kept             # (places, stride)
    # Learning.
    int64_t time            # examples seen in this batch
    MistakeC* mistakes
    size_t n_mistakes
    size_t max_mistakes
    uint32_t* noted         # the features of all mistakes, or of all examples
    size_t n_noted
    size_t max_noted
    ExampleC* examples
    size_t n_examples
    size_t max_examples
    int* classes            # of all examples; those that are not right as -1 - class
    size_t n_classes
    size_t max_classes
    bint failed             # out of memory


cdef class LinearScorerKernel(Scorer):
    cdef LinearC s
    cdef Templates templates
    cdef object words
    cdef object tags
    cdef object weights
