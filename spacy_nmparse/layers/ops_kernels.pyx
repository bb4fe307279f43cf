"""Loops of spaCy's own layers, for the switch ``spacy_nmparse.fast_blas.v1``: Thinc's formulas, one
pass over the data, in vector registers."""
import numpy

from libc.stddef cimport ptrdiff_t
from libc.string cimport memcpy

from spacy_nmparse.layers.kernels cimport (
    nmp_add,
    nmp_centre,
    nmp_maxout_units,
    nmp_norm,
    nmp_norm_back,
)


def maxout(const float[:, :, ::1] inputs):
    """(best, which): float32 and int32 (rows, width), the largest of the pieces and its number, the
    first of equal ones. inputs: float32 (rows, width, pieces)."""
    cdef ptrdiff_t n = inputs.shape[0] * inputs.shape[1]
    cdef float[:, ::1] best = numpy.empty((inputs.shape[0], inputs.shape[1]), dtype="float32")
    cdef int[:, ::1] which = numpy.empty((inputs.shape[0], inputs.shape[1]), dtype="int32")
    if n:
        with nogil:
            nmp_maxout_units(&best[0, 0], &which[0, 0], &inputs[0, 0, 0], n, <int>inputs.shape[2])
    return numpy.asarray(best), numpy.asarray(which)


ctypedef fused key_t:
    int
    unsigned int


def gather_add(const float[:, ::1] table, const key_t[:, ::1] keys):
    """The sums of the table's rows that each row of keys names, float32 (rows, width).

    Raises:
        IndexError: a key that is no row.
    """
    cdef ptrdiff_t i, j
    cdef ptrdiff_t n_rows = table.shape[0]
    cdef int width = <int>table.shape[1]
    cdef float[:, ::1] sums = numpy.empty((keys.shape[0], width), dtype="float32")
    if not keys.shape[0] or not width:
        return numpy.asarray(sums)
    if not keys.shape[1]:
        sums[:, :] = 0
        return numpy.asarray(sums)
    for i in range(keys.shape[0]):
        for j in range(keys.shape[1]):
            if not 0 <= <ptrdiff_t>keys[i, j] < n_rows:
                raise IndexError(f"Row {keys[i, j]} of a table of {n_rows} rows.")
    with nogil:
        for i in range(keys.shape[0]):
            memcpy(&sums[i, 0], &table[keys[i, 0], 0], width * sizeof(float))
            for j in range(1, keys.shape[1]):
                nmp_add(&sums[i, 0], &table[keys[i, j], 0], width)
    return numpy.asarray(sums)


def norm(const float[:, ::1] inputs, const float[::1] gain, const float[::1] bias):
    """Layer normalization.

    Args:
        inputs: float32 (rows, width).
        gain, bias: float32 (width,).

    Returns:
        outputs: float32 (rows, width).
        shrink: float32 (rows, 2): mean and 1 / standard deviation of each row, for ``norm_back``.

    Raises:
        ValueError: arrays whose shapes do not fit.
    """
    cdef ptrdiff_t i
    cdef int width = <int>inputs.shape[1]
    if not gain.shape[0] == bias.shape[0] == width:
        raise ValueError(
            f"norm: gain ({gain.shape[0]},) and bias ({bias.shape[0]},) of inputs of {width}."
        )
    cdef float[:, ::1] outputs = numpy.empty((inputs.shape[0], width), dtype="float32")
    cdef float[:, ::1] shrink = numpy.empty((inputs.shape[0], 2), dtype="float32")
    if width:
        with nogil:
            for i in range(inputs.shape[0]):
                nmp_norm(&outputs[i, 0], &shrink[i, 0], &inputs[i, 0], &gain[0], &bias[0], width)
    return numpy.asarray(outputs), numpy.asarray(shrink)


def norm_back(
    const float[:, ::1] d_outputs, const float[:, ::1] inputs, const float[:, ::1] shrink,
    const float[::1] gain
):
    """``norm`` backwards.

    Args:
        d_outputs: float32 (rows, width).
        inputs, shrink, gain: as ``norm`` took and gave them.

    Returns:
        (d_inputs, d_gain, d_bias)

    Raises:
        ValueError: arrays whose shapes do not fit.
    """
    cdef ptrdiff_t i
    cdef int width = <int>inputs.shape[1]
    if (
        not d_outputs.shape[0] == shrink.shape[0] == inputs.shape[0] or shrink.shape[1] != 2
        or not d_outputs.shape[1] == gain.shape[0] == width
    ):
        raise ValueError(
            f"norm_back: gradients {d_outputs.shape[0], d_outputs.shape[1]}, means and deviations "
            f"{shrink.shape[0], shrink.shape[1]} and gain ({gain.shape[0]},) of inputs "
            f"{inputs.shape[0], inputs.shape[1]}."
        )
    cdef float[:, ::1] d_inputs = numpy.empty((inputs.shape[0], width), dtype="float32")
    cdef float[::1] d_gain = numpy.zeros(width, dtype="float32")
    cdef float[::1] d_bias = numpy.zeros(width, dtype="float32")
    cdef float[::1] centred = numpy.empty(width, dtype="float32")
    if width:
        with nogil:
            for i in range(inputs.shape[0]):
                nmp_centre(&centred[0], &inputs[i, 0], &shrink[i, 0], width)
                nmp_norm_back(
                    &d_inputs[i, 0], &d_gain[0], &d_bias[0], &d_outputs[i, 0], &centred[0],
                    &gain[0], shrink[i, 1], width
                )
    return numpy.asarray(d_inputs), numpy.asarray(d_gain), numpy.asarray(d_bias)
