"""The tape: what a hidden layer did in the steps of a batch, to be learned from."""
from libc.stdint cimport uint8_t


cdef enum:
    N_TAPE_ARRAYS = 6


cdef struct TapeC:
    int n_slots
    int n_facts
    int width
    int n_outputs
    bint has_winners
    int n_steps
    int capacity
    bint failed             # out of memory
    int* words              # (steps, slots)
    int* facts              # (steps, facts)
    int* owner              # (steps,): what the extra row was made from
    float* hidden           # (steps, width), after dropout
    uint8_t* winner         # (steps, width): which piece won; NMP_DROPPED; not with one piece
    float* d_outputs        # (steps, n_outputs)
    void* arrays[N_TAPE_ARRAYS]     # where the memory of these begins
    size_t sizes[N_TAPE_ARRAYS]     # in bytes


cdef int tape_begin(
    TapeC* tape, int n_slots, int n_facts, int width, int n_outputs, bint has_winners
) except -1
cdef int tape_write(
    TapeC* tape, const int* words, const int* facts, int owner, const float* hidden,
    const uint8_t* winner
) noexcept nogil
cdef void tape_end(TapeC* tape) noexcept
