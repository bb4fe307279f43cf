"""The loops of a bidirectional simple recurrent unit over the words of sequences.

    f, o = sigmoid(W x + v * c' + b);  g = W x + b
    c = f * c' + (1 - f) * g;  h = o * tanh(c)

c' belongs to the word before (direction 0) or after (direction 1); zeros at the ends. W x comes
from one matrix product.
"""
import numpy

from libc.stddef cimport ptrdiff_t
from libc.stdint cimport uint32_t

from spacy_nmparse.layers.kernels cimport nmp_drop


cdef extern from "sru.h" nogil:
    void nmp_sru_step(
        float* gates, const float* biases, const float* loops, const float* last, float* cell,
        float* hidden, int width
    )
    void nmp_sru_step_back(
        float* d_gates, float* d_loops, float* d_cell, const float* d_hidden, const float* gates,
        const float* loops, const float* cell, const float* last, int width
    )


cdef int check_lengths(const int[::1] lengths, ptrdiff_t n_words) except -1:
    """Raises ValueError where lengths do not add up to the words."""
    cdef ptrdiff_t i
    cdef ptrdiff_t n = 0
    for i in range(lengths.shape[0]):
        n += lengths[i]
        if lengths[i] < 0:
            raise ValueError(f"Sequence {i} has {lengths[i]} words.")
    if n != n_words:
        raise ValueError(f"Sequences of {n} words in all, but gates of {n_words} words.")
    return 0


def run_forward(
    float[:, :, ::1] gates, const float[::1] biases, const float[:, ::1] loops,
    const int[::1] lengths, float[:, :] hidden, float[:, :, ::1] cells=None
):
    """Run both directions.

    Args:
        gates: float32 (words, 2, 3 * width): W x, overwritten by the gates' values.
        biases: float32 (2 * 3 * width,): b.
        loops: float32 (2, 2 * width): v.
        lengths: int32: words of each sequence.
        hidden: float32 (words, 2 * width or more), the first columns filled with h of both
            directions; the numbers of a word lie side by side.
        cells: float32 (words, 2, width), filled with c, or None.

    Raises:
        ValueError: arrays whose shapes do not fit, or the numbers of a word in ``hidden`` do not
            lie side by side.
    """
    cdef int width = loops.shape[1] // 2
    cdef int i, n, t, w, direction
    cdef int first = 0
    cdef float[:, ::1] room = numpy.zeros((3, width), dtype="float32")  # zeros; cells by turns
    cdef const float* last
    cdef float* cell
    check_lengths(lengths, gates.shape[0])
    if (
        not gates.shape[1] == loops.shape[0] == 2 or loops.shape[1] != 2 * width
        or not gates.shape[2] == 3 * width or biases.shape[0] != 6 * width
        or hidden.shape[0] != gates.shape[0] or hidden.shape[1] < 2 * width
        or cells is not None and not (
            cells.shape[0] == gates.shape[0] and cells.shape[1] == 2 and cells.shape[2] == width
        )
    ):
        raise ValueError(f"The shapes of the arrays are not those of a width of {width}.")
    if gates.shape[0] and hidden.strides[1] != sizeof(float):
        raise ValueError("The outputs of a word must lie side by side.")
    with nogil:
        for i in range(lengths.shape[0]):
            n = lengths[i]
            for direction in range(2):
                last = &room[0, 0]
                for t in range(n):
                    w = first + (n - 1 - t if direction else t)
                    cell = &room[1 + t % 2, 0] if cells is None else &cells[w, direction, 0]
                    nmp_sru_step(
                        &gates[w, direction, 0], &biases[direction * 3 * width],
                        &loops[direction, 0], last, cell, &hidden[w, direction * width], width
                    )
                    last = cell
            first += n


def run_backward(
    const float[:, :, ::1] d_hidden, const float[:, :, ::1] gates, const float[:, :, ::1] cells,
    const float[:, ::1] loops, const int[::1] lengths
):
    """Run both directions backwards.

    Args:
        d_hidden: float32 (words, 2, width).
        gates, cells: as ``run_forward`` left them.
        loops: float32 (2, 2 * width).
        lengths: int32: words of each sequence.

    Returns:
        d_gates: float32 (words, 2, 3 * width), of W x + b; d_loops: float32 (2, 2 * width).

    Raises:
        ValueError: arrays whose shapes do not fit.
    """
    cdef int width = loops.shape[1] // 2
    cdef int i, n, t, w, direction, j
    cdef int first = 0
    cdef float[:, :, ::1] d_gates = numpy.empty((gates.shape[0], 2, 3 * width), dtype="float32")
    cdef float[:, ::1] d_loops = numpy.zeros((2, 2 * width), dtype="float32")
    cdef float[:, ::1] room = numpy.zeros((2, width), dtype="float32")
    cdef const float* last
    check_lengths(lengths, gates.shape[0])
    if (
        not d_hidden.shape[0] == cells.shape[0] == gates.shape[0]
        or not d_hidden.shape[1] == cells.shape[1] == gates.shape[1] == loops.shape[0] == 2
        or not d_hidden.shape[2] == cells.shape[2] == width
        or gates.shape[2] != 3 * width or loops.shape[1] != 2 * width
    ):
        raise ValueError(f"The shapes of the arrays are not those of a width of {width}.")
    with nogil:
        for i in range(lengths.shape[0]):
            n = lengths[i]
            for direction in range(2):
                for j in range(width):
                    room[1, j] = 0
                for t in range(n - 1, -1, -1):
                    w = first + (n - 1 - t if direction else t)
                    last = &room[0, 0]
                    if t:
                        last = &cells[w + (1 if direction else -1), direction, 0]
                    nmp_sru_step_back(
                        &d_gates[w, direction, 0], &d_loops[direction, 0], &room[1, 0],
                        &d_hidden[w, direction, 0], &gates[w, direction, 0],
                        &loops[direction, 0], &cells[w, direction, 0], last, width
                    )
            first += n
    return numpy.asarray(d_gates), numpy.asarray(d_loops)


def drop(float[:, ::1] values, double rate, uint32_t seed):
    """Drop each number with this probability, and scale the others so that the mean stays. The same
    seed drops the same places. Raises ValueError for a rate that is not 0 to 1."""
    if not 0 <= rate <= 1:
        raise ValueError(f"The rate of dropout is 0 to 1, not {rate}.")
    if rate and values.size:
        nmp_drop(
            &values[0, 0], NULL, seed, <uint32_t>min(rate * 4294967296.0, 4294967295.0),
            1.0 / (1.0 - rate) if rate < 1.0 else 0.0, <int>values.size
        )
