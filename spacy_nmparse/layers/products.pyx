"""Matrix products in which a row does not depend on the rows beside it, for parsing: a word has the
same scores to the bit whatever the batch.

They are made in tiles, of float32 or, where the processor is faster so, of numbers rounded to
integers of 16 bits: nearly all trees stay the same. MSVC has no tiles: OpenBLAS multiplies there,
and the last bits depend on the batch.
"""
import weakref

import numpy

from libc.stdint cimport int32_t

from spacy_nmparse.layers.blas cimport AS_GIVEN, ROW_MAJOR, TRANSPOSED, checked, sgemm

from spacy_nmparse.layers.blas import matmul
from spacy_nmparse.layers.digest import digest


cdef extern from "tiles.h" nogil:
    ptrdiff_t nmp_packed(ptrdiff_t n_in, ptrdiff_t n_out)
    bint nmp_has_tiles()
    void nmp_pack(
        float* panels, const float* weights, ptrdiff_t n_in, ptrdiff_t width, ptrdiff_t pieces
    )
    void nmp_multiply(
        float* out, ptrdiff_t step, const float** rows, ptrdiff_t n_rows, const float* panels,
        ptrdiff_t n_in, ptrdiff_t n_out
    )


cdef extern from "fixed16.h" nogil:
    enum: NMP_FIXED_MOST
    bint nmp_has_fixed()
    ptrdiff_t nmp_pairs(ptrdiff_t n_in)
    float nmp_fix_row(int32_t* pairs, const float* row, ptrdiff_t n_in)
    void nmp_pack_fixed(
        int32_t* panels, float* scales, const float* weights, ptrdiff_t n_in, ptrdiff_t width,
        ptrdiff_t pieces, int32_t* room
    )
    void nmp_multiply_fixed(
        float* out, ptrdiff_t step, const int32_t** rows, ptrdiff_t n_rows, const int32_t* panels,
        ptrdiff_t n_in, ptrdiff_t n_out, const float* row_scales, const float* scales
    )


#: Whether this processor multiplies integers of 16 bits faster, and this build can.
HAS_FIXED = bool(nmp_has_fixed())
#: Whether a row's product has the same bits whatever other rows stand beside it.
HAS_TILES = bool(nmp_has_tiles())

# What was packed before. Arrays have no hash, so the key is an array's id. The entry's weak
# reference tells whether that is the same array still, its digest whether its numbers are the same.
_known = {}


def packed(W, parts=None, pieces=1, windows=1, exact=False):
    """The weights of a layer, packed again only if the numbers in the array have changed.

    Args:
        W: float32 (n, k), or more dimensions, of which all but the last are taken as one.
        parts: pairs (begin, end) of rows of W, each the weights of products of their own.
        pieces: as of ``Weights``.
        windows: how many vectors stand side by side in an input of W. The weights that are made
            take one vector: they give its products as the first of a window, then as the second,
            and so on, each in the order that ``pieces`` says.
        exact: as of ``Weights``.

    Returns:
        ``Weights``; of parts: a list of them.
    """
    if not isinstance(W, numpy.ndarray) or not W.flags.c_contiguous:
        return _pack(W, parts, pieces, windows, exact)
    key = (id(W), parts, pieces, windows, exact)
    number = digest([W])
    entry = _known.get(key)
    if entry is not None and entry[0]() is W and entry[1] == number:
        return entry[2]
    weights = _pack(W, parts, pieces, windows, exact)
    _known[key] = (weakref.ref(W, lambda _: _known.pop(key, None)), number, weights)
    return weights


def _pack(W, parts, pieces, windows, exact):
    flat = W.reshape(-1, W.shape[-1])
    if windows > 1:
        each = flat.reshape(-1, pieces, windows, flat.shape[1] // windows)
        flat, pieces = each.transpose(2, 1, 0, 3).reshape(-1, each.shape[-1]), 1
    if parts is None:
        return Weights(flat, pieces, exact)
    return [Weights(flat[begin:end], pieces, exact) for begin, end in parts]


cdef class Weights:
    """The weights of a layer, which multiply vectors on one thread and without the GIL. Sums are
    float32; the sums of a row do not depend on the rows beside it (but with MSVC: HAS_TILES).

    Args:
        W: float32 (n, k).
        pieces: of a unit, which lie side by side in W: products are the first pieces of all units,
            then the second ones.
        exact: whether nothing is rounded. Otherwise, where the processor is faster with integers
            of 16 bits (HAS_FIXED), weights and vectors are rounded to these; each row, and the
            weights of each output, have one scale.

    Raises:
        ValueError: an array that is not of two dimensions or not float32, or whose rows are no
            whole units of so many pieces.
    """
    def __cinit__(self, W, ptrdiff_t pieces=1, bint exact=False):
        cdef int32_t[::1] pairs, room
        cdef float[::1] panels
        cdef const float[:, ::1] plain
        cdef size_t weights
        self.panels = self.pairs = self.W = None
        if not isinstance(W, numpy.ndarray):
            self.W = W
            return
        checked(W[:0], W.T.shape, W.dtype, None)
        self.c.n_out, self.c.n_in = W.shape
        if pieces < 1 or self.c.n_out % pieces:
            raise ValueError(f"Weights {W.shape} are not those of units of {pieces} pieces.")
        W = numpy.ascontiguousarray(W)
        weights = W.ctypes.data
        if not W.size or not HAS_TILES:  # a copy: what is kept must not keep the array
            split = W.reshape(self.c.n_out // pieces, pieces, self.c.n_in)
            self.W = split.swapaxes(0, 1).reshape(W.shape).copy()
        if not W.size:
            return
        if self.W is not None:
            plain = self.W
            self.c.plain = &plain[0, 0]
        if HAS_FIXED and not exact and self.c.n_in <= NMP_FIXED_MOST:
            pairs = self.pairs = numpy.empty(
                nmp_packed(nmp_pairs(self.c.n_in), self.c.n_out), dtype="int32"
            )
            panels = self.panels = numpy.zeros(nmp_packed(1, self.c.n_out), dtype="float32")
            room = numpy.empty(nmp_pairs(self.c.n_in), dtype="int32")
            self.c.pairs, self.c.scales = &pairs[0], &panels[0]
            with nogil:
                nmp_pack_fixed(
                    &pairs[0], &panels[0], <const float*>weights, self.c.n_in,
                    self.c.n_out // pieces, pieces, &room[0]
                )
        else:
            panels = self.panels = numpy.empty(
                nmp_packed(self.c.n_in, self.c.n_out), dtype="float32"
            )
            self.c.panels = &panels[0]
            with nogil:
                nmp_pack(
                    &panels[0], <const float*>weights, self.c.n_in, self.c.n_out // pieces, pieces
                )

    def times(self, A, out=None, Rows ready=None, ptrdiff_t first=0):
        """The product ``A @ W.T``: arguments, result and errors as of ``matmul``.

        ready: rows that are rounded already; A is some of these, from the ``first`` one on.
            ValueError: it is not.
        """
        cdef const float* rows[BLOCK]
        cdef float scales[BLOCK]
        cdef int32_t[::1] room = None
        cdef RowsC block
        cdef ptrdiff_t m, n, step, stride, i
        cdef ptrdiff_t done = 0
        cdef size_t begin, products
        cdef float* to
        if self.W is not None:
            return matmul(A, self.W.T, out)
        out = checked(A, (self.c.n_in, self.c.n_out), "float32", out)
        if not A.size:
            return out
        if (A.strides[1] != 4 and self.c.n_in > 1) or A.strides[0] % 4:
            A = numpy.ascontiguousarray(A)
        if ready is not None and not (
            ready.c.width == self.c.n_in and 0 <= first <= len(ready.numbers) - len(A)
        ):
            raise ValueError(
                f"Rows {ready.numbers.shape} do not have {A.shape} from row {first} on."
            )
        m, begin, stride = A.shape[0], A.ctypes.data, A.strides[0] // 4
        products, step = out.ctypes.data, max(out.strides[0] // 4, self.c.n_out)
        if self.pairs is None or (ready is not None and ready.c.pairs is NULL):
            ready = None
        if self.pairs is not None and ready is None:
            block.row_pairs = nmp_pairs(self.c.n_in)
            room = numpy.empty(min(m, <ptrdiff_t>BLOCK) * block.row_pairs, dtype="int32")
            block.pairs, block.scales = &room[0], scales
        with nogil:
            while done < m:
                n = min(<ptrdiff_t>BLOCK, m - done)
                to = <float*>products + done * step
                if ready is not None:
                    multiply_ready(&self.c, &ready.c, first + done, n, to, step)
                else:
                    for i in range(n):
                        rows[i] = <const float*>begin + (done + i) * stride
                    if room is None:
                        multiply_rows(&self.c, rows, n, to, step)
                    else:
                        for i in range(n):
                            scales[i] = nmp_fix_row(
                                &room[i * block.row_pairs], rows[i], self.c.n_in
                            )
                        multiply_ready(&self.c, &block, 0, n, to, step)
                done += n
        return out


cdef class Rows:
    """Rows that are multiplied by several weights: rounded once for all of them.

    Args:
        A: float32 (rows, width), C-contiguous.
        weights: one of the weights: whether they are rounded.
    """
    def __cinit__(self, const float[:, ::1] A, Weights weights):
        cdef int32_t[:, ::1] pairs
        cdef float[::1] scales
        cdef ptrdiff_t i
        self.numbers = numpy.asarray(A)
        self.c.width, self.c.row_pairs = A.shape[1], nmp_pairs(A.shape[1])
        self.pairs = self.scales = None
        if not A.size:
            return
        self.c.numbers = &A[0, 0]
        if weights.pairs is None:
            return
        pairs = self.pairs = numpy.empty((A.shape[0], self.c.row_pairs), dtype="int32")
        scales = self.scales = numpy.empty(A.shape[0], dtype="float32")
        self.c.pairs, self.c.scales = &pairs[0, 0], &scales[0]
        with nogil:
            for i in range(A.shape[0]):
                scales[i] = nmp_fix_row(&pairs[i, 0], &A[i, 0], A.shape[1])


cdef void multiply_ready(
    const WeightsC* weights, const RowsC* rows, ptrdiff_t first, ptrdiff_t n, float* out,
    ptrdiff_t step
) noexcept nogil:
    """The products of up to BLOCK rows, from the ``first`` on; each row has the bits that it would
    have alone."""
    cdef const float* numbers[BLOCK]
    cdef const int32_t* pairs[BLOCK]
    cdef ptrdiff_t i
    if weights.pairs is NULL:
        for i in range(n):
            numbers[i] = rows.numbers + (first + i) * rows.width
        multiply_rows(weights, numbers, n, out, step)
    else:
        for i in range(n):
            pairs[i] = rows.pairs + (first + i) * rows.row_pairs
        nmp_multiply_fixed(
            out, step, pairs, n, weights.pairs, weights.n_in, weights.n_out, rows.scales + first,
            weights.scales
        )


cdef void multiply_rows(
    const WeightsC* weights, const float** rows, ptrdiff_t n_rows, float* out, ptrdiff_t step
) noexcept nogil:
    """The products of rows by exact weights. The products of a row begin ``step`` numbers behind
    those of the row before. Where OpenBLAS multiplies, the rows must follow one another."""
    if weights.plain is not NULL:
        sgemm(
            ROW_MAJOR, AS_GIVEN, TRANSPOSED, <int>n_rows, <int>weights.n_out, <int>weights.n_in,
            1.0, rows[0], <int>weights.n_in, weights.plain, <int>weights.n_in, 0.0, out, <int>step
        )
    else:
        nmp_multiply(out, step, rows, n_rows, weights.panels, weights.n_in, weights.n_out)
