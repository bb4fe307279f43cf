# cython: boundscheck=False, wraparound=False
"""A maxout layer with layer normalization, of words or of windows of words, in one pass.

    y = dropout(norm(maxout(W x + b)))

With windows x is a word and its neighbours, the word itself is added to y, and row 0 of inputs and
outputs stands for all places that are far from any word. Products are computed in blocks that stay
in the cache, where windows lie: neighbours stand side by side in memory.
"""
import numpy

from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from spacy_nmparse.layers.blas cimport AS_GIVEN, ROW_MAJOR, TRANSPOSED, sgemm
from spacy_nmparse.layers.kernels cimport (
    nmp_add,
    nmp_centre,
    nmp_drop,
    nmp_find_winners,
    nmp_maxout,
    nmp_norm,
    nmp_norm_back,
)
from spacy_nmparse.layers.products cimport (
    BLOCK,
    Rows,
    Weights,
    WeightsC,
    multiply_ready,
    multiply_rows,
)


cdef enum:
    BLOCK_BACK = 256        # rows of the products of gradients
    WEYL = 0x9e3779b9       # as in nmp_drop


cdef struct place_t:
    ptrdiff_t sequence
    ptrdiff_t position      # in the sequence: below 0 before its first word
    ptrdiff_t first         # the input row of its first word


cdef struct block_t:        # rows that are computed together
    ptrdiff_t row           # the first of them
    ptrdiff_t n
    float* products         # W x of each: the first pieces of all units, then the second ones
    const float* own[BLOCK]  # what is added to each at the end


cdef class MaxoutNorm:
    """The layer for one batch.

    Args:
        parameters: float32 arrays: W (width * pieces, inputs), pieces of a unit side by side; b
            (width * pieces,); gain and shift of the layer normalization (width,).
        weights: W packed as pieces; those of windows exact.
        lengths: int32, words of each sequence, each at least 1.
        window: words to either side that a window has; -1: no windows.
        reach: how many places before and behind each sequence have rows of their own: among the
            inputs, and among the outputs.
        with_far: whether row 0 of the outputs is computed; only with windows.
        rate: of dropout.
        seed: of dropout.

    Raises:
        ValueError: arrays, sizes or lengths that do not fit one another.
    """

    cdef const float[:, ::1] W
    cdef const WeightsC* weights
    cdef const float[::1] gain, shift
    cdef const float[::1] b  # the first pieces of all units, then the second ones
    cdef const int[::1] lengths
    cdef const float[:, ::1] X
    cdef int width, pieces, n_in, window, input_width, first_row, with_windows
    cdef int step        # products of a row
    cdef ptrdiff_t reach_in, reach_out, n_inputs, n_rows
    cdef uint32_t limit, seed
    cdef float scale
    cdef Weights packed  # owns the weights
    cdef Rows ready      # the inputs, where they are no windows
    cdef object learned

    def __cinit__(
        self, parameters, Weights weights, lengths, int window=-1, reach=(0, 0),
        bint with_far=False, double rate=0.0, seed=0
    ):
        cdef ptrdiff_t n_words = 0
        cdef ptrdiff_t i
        cdef int reach_in, reach_out
        reach_in, reach_out = reach
        if window >= 0 and weights.pairs is not None:
            raise ValueError("MaxoutNorm: the weights of windows must be exact.")
        self.W, b, self.gain, self.shift = parameters
        self.packed = weights
        self.weights = &weights.c
        self.lengths = lengths
        for i in range(self.lengths.shape[0]):
            n_words += self.lengths[i]
            if self.lengths[i] < 1:
                raise ValueError(f"MaxoutNorm: sequence {i} has {self.lengths[i]} words.")
        self.check_sizes(window, reach_in, reach_out, rate)
        self.width = <int>self.gain.shape[0]
        self.step = <int>self.W.shape[0]
        self.pieces = self.step // self.width
        self.b = numpy.ascontiguousarray(
            b.reshape(self.width, self.pieces).T, dtype="float32"
        ).ravel()
        self.n_in = <int>self.W.shape[1]
        self.with_windows = window >= 0
        self.window = max(window, 0)
        self.input_width = self.n_in // (2 * self.window + 1)
        self.reach_in, self.reach_out = reach_in, reach_out
        self.n_inputs = n_words + 2 * self.lengths.shape[0] * reach_in + self.with_windows
        self.n_rows = n_words + 2 * self.lengths.shape[0] * reach_out + self.with_windows
        self.first_row = self.with_windows and not with_far
        self.limit = <uint32_t>min(rate * 4294967296.0, 4294967295.0)
        self.scale = 1.0 / (1.0 - rate) if rate < 1.0 else 0.0
        self.seed = seed

    cdef int check_sizes(self, int window, int reach_in, int reach_out, double rate) except -1:
        cdef ptrdiff_t width = self.gain.shape[0]
        cdef ptrdiff_t n_out = self.W.shape[0]
        cdef ptrdiff_t n_in = self.W.shape[1]
        if width < 1 or n_out < 1 or n_in < 1 or n_out % width or self.shift.shape[0] != width:
            raise ValueError(
                f"MaxoutNorm: weights {n_out, n_in}, gain ({width},), shift "
                f"({self.shift.shape[0]},)."
            )
        if self.weights.n_out != n_out or self.weights.n_in != n_in:
            raise ValueError(
                f"MaxoutNorm: the packed weights are {self.weights.n_out, self.weights.n_in}, not "
                f"{n_out, n_in}."
            )
        if window >= 0 and n_in != width * (2 * <ptrdiff_t>window + 1):
            raise ValueError(
                f"MaxoutNorm: {n_in} inputs, but windows reach over {window} words of {width}."
            )
        if min(reach_in, reach_out) < 0 or (window < 0 and reach_in != reach_out):
            raise ValueError(f"MaxoutNorm: reach {reach_in, reach_out}.")
        if not 0 <= rate <= 1:
            raise ValueError(f"MaxoutNorm: the rate of dropout is 0 to 1, not {rate}.")
        return 0

    def forward(self, X, bint learn, products_of=None):
        """Compute the layer.

        Args:
            X: float32 (rows, inputs), or, with windows, (1 + words, width).
            learn: whether ``backward`` will follow.
            products_of: with windows: float32 (rows, places of a window * width * pieces), the
                products of words at each place of a window, as ``packed`` has them; and int64
                (1 + words,), the row of each input. None: they are computed.

        Returns:
            float32 (rows, width), or (1 + words, width); words are those of all sequences, and
            the places within reach of them.

        Raises:
            ValueError: another number of inputs, or products of other words.
        """
        cdef block_t block
        cdef place_t place
        cdef ptrdiff_t kept
        cdef const float[:, ::1] of_words = None
        cdef const int64_t[::1] rows_of = None
        cdef float[:, ::1] Y, bests, shrinks, products, windows
        cdef uint8_t[:, ::1] winners = None
        if products_of is not None:
            of_words, rows_of = products_of
        self.check_inputs(X, of_words, rows_of)
        self.X, self.learned = X, None
        Y_array = numpy.empty((self.n_rows, self.width), dtype="float32")
        Y_array[:self.first_row] = 0
        if self.n_rows <= self.first_row:
            return Y_array
        if not self.with_windows:
            self.ready = Rows(X, self.packed)
        n_kept = self.n_rows if learn else min(self.n_rows, BLOCK)
        Y = Y_array
        bests = numpy.empty((n_kept, self.width), dtype="float32")
        shrinks = numpy.empty((n_kept, 2), dtype="float32")
        if learn:
            winners = numpy.empty((n_kept, self.width), dtype="uint8")
            self.learned = (bests, shrinks, winners)
        products = numpy.empty((min(self.n_rows, BLOCK), self.step), dtype="float32")
        windows = numpy.empty((min(self.n_rows, BLOCK), self.n_in), dtype="float32")
        block.products = &products[0, 0]
        with nogil:
            self.begin(&place)
            block.row = self.first_row
            while block.row < self.n_rows:
                block.n = min(<ptrdiff_t>BLOCK, self.n_rows - block.row)
                if of_words is None:
                    self.multiply(&block, &place, &windows[0, 0])
                else:
                    self.add_up(&block, &place, of_words, rows_of)
                kept = block.row if learn else 0
                self.finish(
                    &block, &Y[block.row, 0], &bests[kept, 0], &shrinks[kept, 0],
                    &winners[kept, 0] if learn else NULL
                )
                block.row += block.n
        return Y_array

    cdef int check_inputs(
        self, const float[:, ::1] X, const float[:, ::1] of_words, const int64_t[::1] rows_of
    ) except -1:
        """Raise ValueError where the inputs are not as many, or products of words not theirs."""
        cdef ptrdiff_t row
        if X.shape[0] != self.n_inputs or X.shape[1] != self.input_width:
            raise ValueError(
                f"MaxoutNorm: inputs {X.shape[0], X.shape[1]}, not "
                f"{self.n_inputs, self.input_width}."
            )
        if of_words is None:
            return 0
        if of_words.shape[1] != self.n_in // self.input_width * self.step:
            raise ValueError(
                f"MaxoutNorm: products of words {of_words.shape[0], of_words.shape[1]}."
            )
        if rows_of.shape[0] != self.n_inputs:
            raise ValueError(
                f"MaxoutNorm: products of {rows_of.shape[0]} words, not {self.n_inputs}."
            )
        for row in range(1, self.n_inputs):
            if not 0 <= rows_of[row] < of_words.shape[0]:
                raise ValueError(
                    f"MaxoutNorm: input {row} has no products: row {rows_of[row]} of "
                    f"{of_words.shape[0]}."
                )
        return 0

    def backward(self, dY):
        """Compute the gradients.

        Args:
            dY: float32, of what ``forward`` gave.

        Returns:
            dX: of its inputs.
            d_parameters: of W, b, gain and shift.

        Raises:
            ValueError: gradients of other outputs, or ``forward`` was not told of this.
        """
        cdef ptrdiff_t n, row, i
        cdef const float[:, ::1] d_outputs = dY
        cdef float[:, ::1] windows, dZ
        cdef place_t place, again
        cdef float[:, ::1] dX = numpy.zeros((self.n_inputs, self.input_width), dtype="float32")
        cdef float[:, ::1] dW = numpy.zeros((self.step, self.n_in), dtype="float32")
        cdef float[::1] db = numpy.zeros(self.step, dtype="float32")
        cdef float[:, ::1] d_norm = numpy.zeros((2, self.width), dtype="float32")
        d_parameters = (numpy.asarray(dW), numpy.asarray(db), *numpy.asarray(d_norm))
        result = numpy.asarray(dX), d_parameters
        if d_outputs.shape[0] != self.n_rows or d_outputs.shape[1] != self.width:
            raise ValueError(
                f"MaxoutNorm: gradients {dY.shape} of outputs {self.n_rows, self.width}."
            )
        if self.n_rows <= self.first_row:
            return result
        if self.learned is None:
            raise ValueError("MaxoutNorm: backward needs forward(X, learn=True) before it.")
        windows = numpy.empty((min(self.n_rows, BLOCK_BACK), self.n_in), dtype="float32")
        dZ = numpy.empty((min(self.n_rows, BLOCK_BACK), self.step), dtype="float32")
        self.begin(&place)
        row = self.first_row
        while row < self.n_rows:
            n = min(<ptrdiff_t>BLOCK_BACK, self.n_rows - row)
            again = place
            self.unmix(dZ, d_outputs, d_norm, row, n)
            with nogil:
                for i in range(n):
                    nmp_add(&db[0], &dZ[i, 0], self.step)
                    self.copy_window(&windows[i, 0], &place, row + i)
                    self.move_on(&place, row + i)
                sgemm(
                    ROW_MAJOR, TRANSPOSED, AS_GIVEN, self.step, self.n_in, <int>n, 1.0, &dZ[0, 0],
                    self.step, &windows[0, 0], self.n_in, 1.0, &dW[0, 0], self.n_in
                )
                sgemm(
                    ROW_MAJOR, AS_GIVEN, AS_GIVEN, <int>n, self.n_in, self.step, 1.0, &dZ[0, 0],
                    self.step, &self.W[0, 0], self.n_in, 0.0, &windows[0, 0], self.n_in
                )
                for i in range(n):
                    self.add_window(
                        &dX[0, 0], &windows[i, 0], &d_outputs[row + i, 0], &again, row + i
                    )
                    self.move_on(&again, row + i)
            row += n
        return result

    cdef int unmix(
        self, float[:, ::1] dZ, const float[:, ::1] d_outputs, float[:, ::1] d_norm,
        ptrdiff_t row, ptrdiff_t n
    ) except -1:
        """Fill dZ with the gradients of the products of n rows from ``row`` on, and add those of
        gain and shift to d_norm."""
        cdef const float[:, ::1] bests, shrinks
        cdef const uint8_t[:, ::1] winners
        cdef float[:, ::1] room = numpy.empty((3, self.width), dtype="float32")
        cdef ptrdiff_t i, j
        bests, shrinks, winners = self.learned
        with nogil:
            for i in range(n):
                memcpy(&room[2, 0], &d_outputs[row + i, 0], self.width * sizeof(float))
                if self.limit:
                    self.drop(&room[2, 0], row + i)
                nmp_centre(&room[0, 0], &bests[row + i, 0], &shrinks[row + i, 0], self.width)
                nmp_norm_back(
                    &room[1, 0], &d_norm[0, 0], &d_norm[1, 0], &room[2, 0], &room[0, 0],
                    &self.gain[0], shrinks[row + i, 1], self.width
                )
                memset(&dZ[i, 0], 0, self.step * sizeof(float))
                for j in range(self.width):
                    dZ[i, j * self.pieces + winners[row + i, j]] = room[1, j]
        return 0

    cdef void begin(self, place_t* place) noexcept nogil:
        """The place of the first row, row 0 of windows left out."""
        place.sequence = 0
        place.position = -self.reach_out
        place.first = self.with_windows + self.reach_in

    cdef void move_on(self, place_t* place, ptrdiff_t row) noexcept nogil:
        """The place of the row after this one."""
        cdef ptrdiff_t length
        if self.with_windows and row == 0:
            return
        length = self.lengths[place.sequence]
        place.position += 1
        if place.position == length + self.reach_out:
            place.sequence += 1
            place.position = -self.reach_out
            place.first += length + 2 * self.reach_in

    cdef ptrdiff_t input_row(
        self, const place_t* place, ptrdiff_t row, ptrdiff_t offset
    ) noexcept nogil:
        """The input that stands so far from a row's place."""
        cdef ptrdiff_t position = place.position + offset
        if self.with_windows and (
            row == 0 or position < -self.reach_in
            or position >= self.lengths[place.sequence] + self.reach_in
        ):
            return 0
        return place.first + position

    cdef bint is_whole(self, const place_t* place, ptrdiff_t row) noexcept nogil:
        """Whether the inputs of a row's window stand side by side."""
        return not self.with_windows or (
            row > 0 and place.position - self.window >= -self.reach_in
            and place.position + self.window < self.lengths[place.sequence] + self.reach_in
        )

    cdef void copy_window(self, float* to, const place_t* place, ptrdiff_t row) noexcept nogil:
        cdef ptrdiff_t i
        if self.is_whole(place, row):
            memcpy(
                to, &self.X[place.first + place.position - self.window, 0],
                self.n_in * sizeof(float)
            )
            return
        for i in range(-self.window, self.window + 1):
            memcpy(
                to + (i + self.window) * self.input_width,
                &self.X[self.input_row(place, row, i), 0], self.input_width * sizeof(float)
            )

    cdef void add_window(
        self, float* dX, const float* d_window, const float* d_output, const place_t* place,
        ptrdiff_t row
    ) noexcept nogil:
        """Add the gradients of a row's window, and of the word itself, to those of the inputs."""
        cdef ptrdiff_t i
        for i in range(-self.window, self.window + 1):
            nmp_add(
                dX + self.input_row(place, row, i) * self.input_width,
                d_window + (i + self.window) * self.input_width, self.input_width
            )
        if self.with_windows:
            nmp_add(
                dX + self.input_row(place, row, 0) * self.input_width, d_output, self.width
            )

    cdef void multiply(self, block_t* block, place_t* place, float* windows) noexcept nogil:
        """Fill a block. The place moves on behind its rows. windows: room for (n, n_in)."""
        cdef const float* rows[BLOCK]
        cdef ptrdiff_t i
        for i in range(block.n):
            if self.weights.plain == NULL and self.is_whole(place, block.row + i):
                rows[i] = &self.X[place.first + place.position - self.window, 0]
            else:
                rows[i] = windows + i * self.n_in
                self.copy_window(windows + i * self.n_in, place, block.row + i)
            block.own[i] = &self.X[self.input_row(place, block.row + i, 0), 0]
            self.move_on(place, block.row + i)
        if self.with_windows:
            multiply_rows(self.weights, rows, block.n, block.products, self.step)
        else:
            multiply_ready(
                self.weights, &self.ready.c, block.row, block.n, block.products, self.step
            )

    cdef void add_up(
        self, block_t* block, place_t* place, const float[:, ::1] of_words,
        const int64_t[::1] rows_of
    ) noexcept nogil:
        """The same, of products of words: a window's is their sum."""
        cdef float* products = block.products
        cdef ptrdiff_t i, j, word
        for i in range(block.n):
            memset(products, 0, self.step * sizeof(float))
            for j in range(-self.window, self.window + 1):
                word = self.input_row(place, block.row + i, j)
                if word > 0:
                    nmp_add(
                        products, &of_words[rows_of[word], (j + self.window) * self.step],
                        self.step
                    )
            block.own[i] = &self.X[self.input_row(place, block.row + i, 0), 0]
            self.move_on(place, block.row + i)
            products += self.step

    cdef void finish(
        self, const block_t* block, float* outputs, float* best, float* shrink, uint8_t* winners
    ) noexcept nogil:
        """Make a block's products outputs. winners: NULL where nothing is learned."""
        cdef float* products = block.products
        cdef ptrdiff_t i
        for i in range(block.n):
            nmp_add(products, &self.b[0], self.step)
            nmp_maxout(best, products, self.width, self.pieces)
            nmp_norm(outputs, shrink, best, &self.gain[0], &self.shift[0], self.width)
            if winners != NULL:
                nmp_find_winners(winners, products, self.width, self.pieces)
                winners += self.width
            if self.limit:
                self.drop(outputs, block.row + i)
            if self.with_windows:
                nmp_add(outputs, block.own[i], self.width)
            best += self.width
            shrink += 2
            outputs += self.width
            products += self.step

    cdef void drop(self, float* values, ptrdiff_t row) noexcept nogil:
        """Dropout of a row's numbers, the same ones each time."""
        cdef uint32_t start = self.seed + <uint32_t>row * <uint32_t>self.width * <uint32_t>WEYL
        nmp_drop(values, NULL, start, self.limit, self.scale, self.width)
