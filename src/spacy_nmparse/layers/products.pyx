"""Matrix products in which a row does not depend on the rows beside it, for parsing: a word has the
same scores to the bit whatever the batch.

They are made in tiles, of float32 or, where the processor is faster so, of numbers rounded to
bfloat16: nearly all trees stay the same. MSVC has no tiles: OpenBLAS multiplies there, and the last
bits depend on the batch.
"""
import weakref

import numpy

from libc.stdint cimport uint32_t

from spacy_nmparse.layers.blas cimport AS_GIVEN, ROW_MAJOR, TRANSPOSED, checked, sgemm

from spacy_nmparse.layers.blas import matmul
from spacy_nmparse.layers.cpu import CLASS
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


cdef extern from "bfloat16.h" nogil:
    enum: NMP_BF_BLOCK
    ptrdiff_t nmp_bf_pairs(ptrdiff_t n_in)
    ptrdiff_t nmp_bf_packed(ptrdiff_t n_in, ptrdiff_t n_out)
    void nmp_bf_pack(
        uint32_t* packed, const float* weights, ptrdiff_t step, ptrdiff_t n_in, ptrdiff_t n_out
    )
    void nmp_bf_multiply(
        float* out, ptrdiff_t step, const float* rows, ptrdiff_t n_rows, const uint32_t* packed,
        ptrdiff_t n_in, ptrdiff_t n_out, uint32_t* room
    )
    void nmp_bf_multiply_row(
        float* out, const float* row, const uint32_t* packed, ptrdiff_t n_in, ptrdiff_t n_out
    )


#: Whether this processor multiplies numbers rounded to bfloat16, and this build can.
HAS_BFLOAT16 = CLASS == "avx512-bf16"
#: Whether a row's product has the same bits whatever other rows stand beside it.
HAS_TILES = bool(nmp_has_tiles())

# By number of an array: a weak reference to it, the number of its content, and its weights.
_known = {}


def packed(W, rounded=False, parts=None, pieces=1, windows=1):
    """The weights of a layer, packed again only if the numbers in the array have changed.

    Args:
        W: float32 (n, k), or more dimensions, of which all but the last are taken as one.
        rounded: as of ``Weights``.
        parts: pairs (begin, end) of rows of W, each the weights of products of their own.
        pieces: as of ``Weights``.
        windows: so many vectors stand side by side in what W is made for. The weights are for one
            of them: its products as the first, then as the second ..., each as ``pieces`` says.

    Returns:
        ``Weights``; of parts: a list of them.
    """
    if not isinstance(W, numpy.ndarray) or not W.flags.c_contiguous:
        return _pack(W, rounded, parts, pieces, windows)
    key = (id(W), rounded, parts, pieces, windows)
    number = digest([W])
    entry = _known.get(key)
    if entry is not None and entry[0]() is W and entry[1] == number:
        return entry[2]
    weights = _pack(W, rounded, parts, pieces, windows)
    _known[key] = (weakref.ref(W, lambda _: _known.pop(key, None)), number, weights)
    return weights


def _pack(W, rounded, parts, pieces, windows):
    flat = W.reshape(-1, W.shape[-1])
    if windows > 1:
        each = flat.reshape(-1, pieces, windows, flat.shape[1] // windows)
        flat, pieces = each.transpose(2, 1, 0, 3).reshape(-1, each.shape[-1]), 1
    if parts is None:
        return Weights(flat, rounded, pieces)
    return [Weights(flat[begin:end], rounded, pieces) for begin, end in parts]


cdef class Weights:
    """The weights of a layer, that vectors are multiplied by, on one thread and without the GIL.
    Sums are float32, and those of a row do not depend on the rows beside it, but with MSVC
    (HAS_TILES).

    Args:
        W: float32 (n, k).
        rounded: whether the numbers of weights and vectors may be rounded to bfloat16, which has 8
            significant bits, where the processor is faster with them (HAS_BFLOAT16).
        pieces: of a unit, which lie side by side in W: products are the first pieces of all units,
            then the second ones. Only of weights that are not rounded.

    Raises:
        ValueError: an array that is not of two dimensions or not float32.
    """
    def __init__(self, W, bint rounded=False, ptrdiff_t pieces=1):
        cdef uint32_t[::1] pairs
        cdef float[::1] panels
        cdef const float[:, ::1] plain
        cdef size_t weights
        self.panels = self.pairs = self.W = None
        if not isinstance(W, numpy.ndarray):
            self.W = W
            return
        checked(W[:0], W.T.shape, W.dtype, None)
        self.c.n_out, self.c.n_in = W.shape
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
        if rounded and HAS_BFLOAT16:
            pairs = self.pairs = numpy.empty(
                nmp_bf_packed(self.c.n_in, self.c.n_out), dtype="uint32"
            )
            self.c.pairs = &pairs[0]
            with nogil:
                nmp_bf_pack(
                    &pairs[0], <const float*>weights, self.c.n_in, self.c.n_in, self.c.n_out
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

    def times(self, A, out=None):
        """The product ``A @ W.T``: arguments, result and errors as of ``matmul``."""
        cdef const float* rows[BLOCK]
        cdef uint32_t[::1] room
        cdef ptrdiff_t m, step, stride, i
        cdef ptrdiff_t first = 0
        cdef size_t begin, products
        if self.W is not None:
            return matmul(A, self.W.T, out)
        out = checked(A, (self.c.n_in, self.c.n_out), "float32", out)
        if not A.size:
            return out
        if (
            self.pairs is not None or (A.strides[1] != 4 and self.c.n_in > 1) or A.strides[0] % 4
        ):
            A = numpy.ascontiguousarray(A)
        m, begin, stride = A.shape[0], A.ctypes.data, A.strides[0] // 4
        products, step = out.ctypes.data, max(out.strides[0] // 4, self.c.n_out)
        if m == 1:
            multiply_row(&self.c, <const float*>begin, <float*>products)
        elif self.pairs is not None:
            room = numpy.empty(NMP_BF_BLOCK * nmp_bf_pairs(self.c.n_in), dtype="uint32")
            with nogil:
                nmp_bf_multiply(
                    <float*>products, step, <const float*>begin, m, self.c.pairs, self.c.n_in,
                    self.c.n_out, &room[0]
                )
        else:
            with nogil:
                while first < m:
                    for i in range(min(<ptrdiff_t>BLOCK, m - first)):
                        rows[i] = <const float*>begin + (first + i) * stride
                    multiply_rows(
                        &self.c, rows, min(<ptrdiff_t>BLOCK, m - first),
                        <float*>products + first * step, step
                    )
                    first += BLOCK
        return out


cdef void multiply_row(const WeightsC* weights, const float* row, float* out) noexcept nogil:
    """The product of one row: the bits that it has among others."""
    if weights.pairs is not NULL:
        nmp_bf_multiply_row(out, row, weights.pairs, weights.n_in, weights.n_out)
    else:
        nmp_multiply(
            out, weights.n_out, &row, 1, weights.panels, weights.n_in, weights.n_out
        )


cdef void multiply_rows(
    const WeightsC* weights, const float** rows, ptrdiff_t n_rows, float* out, ptrdiff_t step
) noexcept nogil:
    """The products of rows by weights that are not rounded, those of a row step numbers behind
    those of the one before. Where OpenBLAS multiplies, the rows must follow one another."""
    if weights.plain is not NULL:
        sgemm(
            ROW_MAJOR, AS_GIVEN, TRANSPOSED, <int>n_rows, <int>weights.n_out, <int>weights.n_in,
            1.0, rows[0], <int>weights.n_in, weights.plain, <int>weights.n_in, 0.0, out, <int>step
        )
    else:
        nmp_multiply(out, step, rows, n_rows, weights.panels, weights.n_in, weights.n_out)
