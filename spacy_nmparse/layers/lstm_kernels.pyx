"""The loops of a bidirectional LSTM over the words of sequences.

    i, f, o = sigmoid(W x + U h' + b);  g = tanh(W x + U h' + b)
    c = f * c' + i * g;  h = o * tanh(c)

h' and c' belong to the word before (direction 0) or after (direction 1); zeros at the ends. W x + b
comes from one matrix product, and the weights' gradients go into a few.
"""
import numpy

from libc.stddef cimport ptrdiff_t
from libc.string cimport memcpy, memset


cdef extern from "kernels.h" nogil:
    void nmp_add_affine(
        float* out, const float* weights, const float* hidden, int n_in, int n_out
    )
    void nmp_add_affine_six(
        float** outs, const float* weights, float** ins, int n_in, int n_out
    )
    void nmp_affine(
        float* out, const float* bias, const float* weights, const float* hidden,
        int n_in, int n_out
    )
    void nmp_lstm_step(float* gates, float* cell, float* hidden, int width)
    void nmp_lstm_step_back(
        float* d_gates, float* d_cell, const float* d_hidden, const float* gates,
        const float* cell, const float* last_cell, int width
    )


cdef enum:
    LANES = 6               # sequences that go through the LSTM in step
    BLOCK = 16              # gates whose weights are together in U_blocks


cdef void forward_pass(
    float* gates, float* cells, float* hidden, const float* U, const float* U_blocks,
    const int* firsts, const int* lengths, int n, int direction, int width, float* room
) noexcept nogil:
    """One direction over n sequences, at most LANES, the longest first. U: (width, 4 * width) of
    it; U_blocks: (4 * width / BLOCK, width, BLOCK), or NULL: width does not fit. room: (5 * width,)
    for lanes that have ended."""
    cdef int t, w, i, place
    cdef int live = n
    cdef float* gate[LANES]
    cdef const float* before[LANES]
    cdef float* now[LANES]
    cdef float* cell[LANES]
    for t in range(lengths[0]):
        while lengths[live - 1] <= t:
            live -= 1
        for i in range(LANES):
            if i >= live:
                gate[i] = room
                before[i] = room + 4 * width
                continue
            w = firsts[i] + (lengths[i] - 1 - t if direction else t)
            gate[i] = gates + (2 * <ptrdiff_t>w + direction) * 4 * width
            cell[i] = cells + (2 * <ptrdiff_t>w + direction) * width
            now[i] = hidden + (2 * <ptrdiff_t>w + direction) * width
            if t == 0:
                memset(cell[i], 0, width * sizeof(float))
            else:
                place = 2 * width if direction else -2 * width
                before[i] = now[i] + place
                memcpy(cell[i], cell[i] + place, width * sizeof(float))
        if t and (live == 1 or U_blocks == NULL):
            for i in range(live):
                nmp_add_affine(gate[i], U, before[i], width, 4 * width)
        elif t:
            memset(room, 0, 5 * width * sizeof(float))
            nmp_add_affine_six(gate, U_blocks, before, width, 4 * width)
        for i in range(live):
            nmp_lstm_step(gate[i], cell[i], now[i], width)


cdef void backward_pass(
    float* d_gates, const float* d_hidden, float* d_h, float* d_cell, const float* zeros,
    const float* gates, const float* cells, const float* U_back, int first, int n, int direction,
    int width
) noexcept nogil:
    """U_back: (4 * width, width) of the direction. d_h, d_cell: room for (width,) each."""
    cdef int t, w, j
    cdef ptrdiff_t place
    cdef const float* last_cell
    memset(d_cell, 0, width * sizeof(float))
    for t in range(n - 1, -1, -1):
        w = first + (n - 1 - t if direction else t)
        place = 2 * <ptrdiff_t>w + direction
        if t == n - 1:
            memcpy(d_h, d_hidden + place * width, width * sizeof(float))
        else:  # what the step after sent back is in d_h
            for j in range(width):
                d_h[j] += d_hidden[place * width + j]
        last_cell = zeros
        if t > 0:
            last_cell = cells + (place + (2 if direction else -2)) * width
        nmp_lstm_step_back(
            d_gates + place * 4 * width, d_cell, d_h, gates + place * 4 * width,
            cells + place * width, last_cell, width
        )
        nmp_affine(d_h, zeros, U_back, d_gates + place * 4 * width, 4 * width, width)


def run_forward(float[:, :, ::1] gates, const float[:, :, ::1] U, const int[::1] lengths):
    """Run both directions.

    Args:
        gates: float32 (words, 2, 4 * width): W x + b, overwritten by the gates' values.
        U: float32 (2, width, 4 * width).
        lengths: int32: words of each sequence.

    Returns:
        (hidden, cells): float32 (words, 2, width) each.
    """
    cdef int width = U.shape[1]
    cdef int i, n, direction, n_sequences
    hidden_array = numpy.empty((gates.shape[0], 2, width), dtype="float32")
    cells_array = numpy.empty((gates.shape[0], 2, width), dtype="float32")
    cdef float[:, :, ::1] hidden = hidden_array
    cdef float[:, :, ::1] cells = cells_array
    if gates.shape[0] == 0:
        return hidden_array, cells_array
    sizes_array = numpy.asarray(lengths)
    order = (-sizes_array).argsort(kind="stable")
    order = order[:numpy.count_nonzero(sizes_array)]
    cdef const int[::1] firsts = (sizes_array.cumsum() - sizes_array).astype("intc")[order]
    cdef const int[::1] sizes = sizes_array[order]
    n_sequences = <int>sizes.shape[0]
    cdef float[::1] room = numpy.zeros(5 * width, dtype="float32")
    cdef const float[:, :, :, ::1] U_blocks
    cdef const float* blocks = NULL
    if n_sequences > 1 and 4 * width % BLOCK == 0:
        U_blocks = numpy.ascontiguousarray(
            numpy.asarray(U).reshape(2, width, -1, BLOCK).transpose(0, 2, 1, 3)
        )
        blocks = &U_blocks[0, 0, 0, 0]
    with nogil:
        i = 0
        while i < n_sequences:
            n = min(<int>LANES, n_sequences - i)
            for direction in range(2):
                forward_pass(
                    &gates[0, 0, 0], &cells[0, 0, 0], &hidden[0, 0, 0], &U[direction, 0, 0],
                    NULL if blocks == NULL else blocks + direction * 4 * width * width,
                    &firsts[i], &sizes[i], n, direction, width, &room[0]
                )
            i += LANES
    return hidden_array, cells_array


def run_backward(
    const float[:, :, ::1] d_hidden, const float[:, :, ::1] gates, const float[:, :, ::1] cells,
    const float[:, :, ::1] U_back, const int[::1] lengths
):
    """Run both directions backwards.

    Args:
        d_hidden: float32 (words, 2, width).
        gates, cells: as ``run_forward`` left them.
        U_back: float32 (2, 4 * width, width).
        lengths: int32: words of each sequence.

    Returns:
        d_gates: float32 (words, 2, 4 * width), of W x + U h' + b.
    """
    cdef int width = U_back.shape[2]
    cdef int i, direction
    cdef int first = 0
    d_gates_array = numpy.zeros((gates.shape[0], 2, 4 * width), dtype="float32")
    cdef float[:, :, ::1] d_gates = d_gates_array
    cdef float[:, ::1] room = numpy.zeros((3, width), dtype="float32")
    if gates.shape[0] == 0:
        return d_gates_array
    with nogil:
        for i in range(lengths.shape[0]):
            for direction in range(2):
                if lengths[i]:
                    backward_pass(
                        &d_gates[0, 0, 0], &d_hidden[0, 0, 0], &room[0, 0], &room[1, 0],
                        &room[2, 0], &gates[0, 0, 0], &cells[0, 0, 0], &U_back[direction, 0, 0],
                        first, lengths[i], direction, width
                    )
            first += lengths[i]
    return d_gates_array
