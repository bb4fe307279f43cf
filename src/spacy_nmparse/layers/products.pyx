"""Matrix products in which a row does not depend on the rows beside it, for parsing: a word has the
same scores to the bit whatever the batch.

They are made in tiles, of float32 or, where the processor is faster so, of numbers rounded to
bfloat16: nearly all trees stay the same. MSVC has no tiles: OpenBLAS multiplies there, and the last
bits depend on the batch.
"""
import weakref

import numpy

from libc.stdint cimport uint32_t

from spacy_nmparse.layers.blas cimport checked

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


cdef enum:
    BLOCK = 96              # rows of a product: whole tiles of any height


#: Whether this processor multiplies numbers rounded to bfloat16, and this build can.
HAS_BFLOAT16 = CLASS == "avx512-bf16"
#: Whether a row's product has the same bits whatever other rows stand beside it.
HAS_TILES = bool(nmp_has_tiles())

# By number of an array: a weak reference to it, the number of its content, and its weights.
_known = {}


def packed(W, rounded=False, parts=None, pieces=1):
    """The weights of a layer, packed again only if the numbers in the array have changed.

    Args:
        W: float32 (n, k), or more dimensions, of which all but the last are taken as one.
        rounded: as of ``Weights``.
        parts: pairs (begin, end) of rows of W, each the weights of products of their own.
        pieces: as of ``Weights``.

    Returns:
        ``Weights``; of parts: a list of them.
    """
    if not isinstance(W, numpy.ndarray) or not W.flags.c_contiguous:
        return _pack(W, rounded, parts, pieces)
    key = (id(W), rounded, parts, pieces)
    number = digest([W])
    entry = _known.get(key)
    if entry is not None and entry[0]() is W and entry[1] == number:
        return entry[2]
    weights = _pack(W, rounded, parts, pieces)
    _known[key] = (weakref.ref(W, lambda _: _known.pop(key, None)), number, weights)
    return weights


def _pack(W, rounded, parts, pieces):
    flat = W.reshape(-1, W.shape[-1])
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
        cdef size_t weights
        self.panels = self.pairs = self.W = None
        if not isinstance(W, numpy.ndarray):
            self.W = W
            return
        checked(W[:0], W.T.shape, W.dtype, None)
        self.n, self.k = W.shape
        W = numpy.ascontiguousarray(W)
        weights = W.ctypes.data
        if not W.size or not HAS_TILES:  # a copy: what is kept must not keep the array
            split = W.reshape(self.n // pieces, pieces, self.k)
            self.W = split.swapaxes(0, 1).reshape(W.shape).copy()
        if not W.size:
            return
        if rounded and HAS_BFLOAT16:
            pairs = self.pairs = numpy.empty(nmp_bf_packed(self.k, self.n), dtype="uint32")
            with nogil:
                nmp_bf_pack(&pairs[0], <const float*>weights, self.k, self.k, self.n)
        else:
            panels = self.panels = numpy.empty(nmp_packed(self.k, self.n), dtype="float32")
            with nogil:
                nmp_pack(
                    &panels[0], <const float*>weights, self.k, self.n // pieces, pieces
                )

    def times(self, A, out=None):
        """The product ``A @ W.T``: arguments, result and errors as of ``matmul``."""
        cdef uint32_t[::1] pairs, room
        cdef ptrdiff_t m, step
        cdef size_t rows, products
        if self.W is not None:
            return matmul(A, self.W.T, out)
        out = checked(A, (self.k, self.n), "float32", out)
        if not A.size:
            return out
        m = A.shape[0]
        step = max(out.strides[0] // 4, self.n)
        products = out.ctypes.data
        if self.pairs is None:
            if (A.strides[1] != 4 and self.k > 1) or A.strides[0] % 4:
                A = numpy.ascontiguousarray(A)
            rows = A.ctypes.data
            self._multiply(<float*>products, step, <const float*>rows, A.strides[0] // 4, m)
            return out
        A = numpy.ascontiguousarray(A)
        rows = A.ctypes.data
        pairs = self.pairs
        room = numpy.empty(NMP_BF_BLOCK * nmp_bf_pairs(self.k), dtype="uint32")
        with nogil:
            if m == 1:
                nmp_bf_multiply_row(
                    <float*>products, <const float*>rows, &pairs[0], self.k, self.n
                )
            else:
                nmp_bf_multiply(
                    <float*>products, step, <const float*>rows, m, &pairs[0], self.k, self.n,
                    &room[0]
                )
        return out

    cdef _multiply(
        self, float* products, ptrdiff_t step, const float* A, ptrdiff_t stride, ptrdiff_t m
    ):
        cdef const float* rows[BLOCK]
        cdef const float[::1] panels = self.panels
        cdef ptrdiff_t first, i, n
        with nogil:
            first = 0
            while first < m:
                n = min(<ptrdiff_t>BLOCK, m - first)
                for i in range(n):
                    rows[i] = A + (first + i) * stride
                nmp_multiply(
                    products + first * step, step, rows, n, &panels[0], self.k, self.n
                )
                first += n
