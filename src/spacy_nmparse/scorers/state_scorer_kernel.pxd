"""Scores of the moves and labels of one configuration, from the score tables of a batch."""
from spacy_nmparse.scorers.hidden_layer cimport Layer, LayerC
from spacy_nmparse.scorers.scorer cimport Scorer
from spacy_nmparse.scorers.word_rows cimport WordRows
from spacy_nmparse.systems.system cimport MAX_MOVES


cdef struct StateScorerC:
    LayerC* layer
    int step                # of the layer's tape: the configuration scored last
    int n_moves
    int n_labels
    int move_stride         # rows of move_W and label_W are padded with zeros to these lengths
    int label_stride
    int n_blocks            # label distributions: one for each labelled move
    int block[MAX_MOVES]    # move -> its label distribution, or NONE
    int noted_block         # the one that gives the label noted by a push, or NONE
    const float* move_W     # (width, move_stride)
    const float* move_b
    const float* label_W    # (n_blocks, width, label_stride)
    const float* label_b    # (n_blocks, label_stride)
    float* moves            # (move_stride,)


cdef class StateScorerKernel(Scorer):
    cdef StateScorerC s
    cdef Layer layer
    cdef WordRows rows
    cdef object weights
    cdef list arrays        # keeps the arrays alive that s points into
