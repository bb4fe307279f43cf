"""Rows that words add to hidden layers: their vectors times weights."""
import numpy

from libc.stdint cimport uint8_t

from spacy_nmparse.layers.products cimport Rows, Weights
from spacy_nmparse.scorers.hidden_layer cimport Layer

from spacy_nmparse.layers.products import packed
from spacy_nmparse.scorers.hidden_layer import check_shapes


cdef enum:
    REGISTER = 16           # floats
    HALF_PAGE = 512


cdef class WordRows:
    """The rows of the words of a window, for each slot of each layer.

    Rows of slots on the stack, in lists and in the buffer are made for all words by one matrix
    product. Slots that are found along arcs look at few words: their rows are made one by one, when
    a word is first looked at. In learning, all rows are made together.

    Args:
        vectors: float32 (words, width): of the batch.
        weights: float32 (rows' size, width): of all slots of the layers, one after the other.
        layers: the ``Layer`` objects.

    Raises:
        ValueError: weights of another shape.
    """
    def __cinit__(self, vectors, weights, list layers):
        cdef Layer layer
        cdef int i, size
        cdef int begin = 0
        cdef int end = 0
        for layer in layers:
            if layer is None:
                raise TypeError("A layer of word rows is a Layer, not None.")
            end += layer.c.features.n_slots * layer.c.pieces * layer.c.width
        check_shapes({"word_W": weights}, {"word_W": (end, vectors.shape[1])})
        end = 0
        self.vectors = numpy.ascontiguousarray(vectors)
        self.layers = layers
        self.n_slots = 0
        self.size = weights.shape[0]
        # Rows a multiple of half a page apart would share few places of a cache.
        self.stride = self.size + (REGISTER if self.size % HALF_PAGE == 0 else 0)
        self.first = self.last = 0
        self.runs = []
        self.found = []
        self.weights = weights
        self.packed = self.ready = None
        for layer in layers:
            size = layer.c.pieces * layer.c.width
            layer.c.first_column = end
            for i in range(layer.c.features.n_slots):
                layer.c.slot_weights[i] = NULL
                if layer.c.features.slots[i].n_hops:
                    self.found.append((end, end + size))
                    if begin < end:
                        self.runs.append((begin, end))
                    begin = end + size
                end += size
            self.n_slots += layer.c.features.n_slots
        if begin < end:
            self.runs.append((begin, end))

    cdef int pack(self) except -1:
        """Pack the weights for parsing, and tell the layers of those that they need."""
        cdef Layer layer
        cdef Weights weights
        cdef int i
        self.packed = packed(self.weights, (*self.runs, *self.found))
        of_slots = iter(self.packed[len(self.runs) :])
        if not self.packed:
            return 0
        self.ready = Rows(self.vectors, self.packed[0])
        for layer in self.layers:
            layer.c.vectors = &self.ready.c
            for i in range(layer.c.features.n_slots):
                if layer.c.features.slots[i].n_hops:
                    weights = next(of_slots)
                    layer.c.slot_weights[i] = &weights.c
        return 0

    cdef int make(self, int first, int last) except -1:
        """Make the rows of the batch's words first .. last - 1, and tell the layers. Those that
        are there from the window before are kept."""
        cdef Layer layer
        cdef float[:, ::1] rows
        cdef uint8_t[:, ::1] made
        cdef int slots = 0
        cdef int n = last - first
        cdef int n_kept = 0
        cdef bint learning = (<Layer>self.layers[0]).c.learning
        old = (self.rows, self.made)
        if first >= self.first and not learning:
            n_kept = max(0, min(self.last, last) - first)
        if self.rows is None or len(self.rows) < n or n_kept:
            self.rows = numpy.empty((n, self.stride), dtype="float32")
            self.made = numpy.empty((n, self.n_slots), dtype="uint8")
        if n_kept:
            kept = slice(first - self.first, first - self.first + n_kept)
            self.rows[:n_kept] = old[0][kept]
            self.made[:n_kept] = old[1][kept]
        self.made[n_kept:n] = 0
        if learning:
            packed(self.weights).times(self.vectors[first:last], self.rows[:n, : self.size])
        else:
            if self.packed is None:
                self.pack()
            new = first + n_kept
            vectors = self.vectors[new:last]
            for run, (begin, end) in enumerate(self.runs):
                self.packed[run].times(
                    vectors, self.rows[n_kept:n, begin:end], self.ready, new
                )
        self.first = first
        self.last = 0 if learning else last
        rows = self.rows
        made = self.made
        for layer in self.layers:
            layer.c.word_rows = &rows[0, layer.c.first_column]
            layer.c.stride = self.stride
            layer.c.made = NULL if learning else &made[0, 0] + slots
            layer.c.made_stride = self.n_slots
            layer.c.first_vector = first
            slots += layer.c.features.n_slots
        return 0

    cdef gradient(self):
        """Zeros, laid out as the rows of the whole batch."""
        return numpy.zeros((len(self.vectors), self.stride), dtype="float32")
