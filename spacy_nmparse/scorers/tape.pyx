"""The tape: the steps of a hidden layer in a batch, kept for back-propagation."""
from libc.stddef cimport ptrdiff_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset


cdef enum:
    FIRST_STEPS = 256
    N_SPARE = 6             # tapes whose memory is used again
    SPARE_BYTES = 1 << 28   # of such a tape, at most


# Every update needs tapes, and memory that is new to the process is slow.
cdef TapeC[N_SPARE] spare_tapes
cdef int n_spare_tapes = 0


cdef int tape_begin(
    TapeC* tape, int n_slots, int n_facts, int width, int n_outputs, bint has_winners
) except -1:
    """Make the tape an empty one for steps of these sizes."""
    global n_spare_tapes
    tape_end(tape)
    if n_spare_tapes:
        n_spare_tapes -= 1
        tape[0] = spare_tapes[n_spare_tapes]
        tape.n_steps = tape.capacity = 0
        tape.failed = False
    tape.n_slots = n_slots
    tape.n_facts = n_facts
    tape.width = width
    tape.n_outputs = n_outputs
    tape.has_winners = has_winners
    if grow(tape) < 0:
        raise MemoryError("No memory for training steps.")
    return 0


cdef void tape_end(TapeC* tape) noexcept:
    """Forget the steps, and give the memory to the next tape, or back."""
    global n_spare_tapes
    cdef size_t total = 0
    cdef int i
    for i in range(N_TAPE_ARRAYS):
        total += tape.sizes[i]
    if 0 < total <= SPARE_BYTES and n_spare_tapes < N_SPARE:
        spare_tapes[n_spare_tapes] = tape[0]
        n_spare_tapes += 1
    else:
        for i in range(N_TAPE_ARRAYS):
            free(tape.arrays[i])
    memset(tape, 0, sizeof(TapeC))


cdef void lay_out(TapeC* tape, size_t* step_sizes) noexcept nogil:
    """Point the tape's arrays at its memory, and tell what one step takes of each."""
    tape.words = <int*>tape.arrays[0]
    tape.facts = <int*>tape.arrays[1]
    tape.owner = <int*>tape.arrays[2]
    tape.hidden = <float*>tape.arrays[3]
    tape.winner = <uint8_t*>tape.arrays[4]
    tape.d_outputs = <float*>tape.arrays[5]
    step_sizes[0] = tape.n_slots * sizeof(int)
    step_sizes[1] = max(1, tape.n_facts) * sizeof(int)
    step_sizes[2] = sizeof(int)
    step_sizes[3] = tape.width * sizeof(float)
    step_sizes[4] = tape.width if tape.has_winners else 0
    step_sizes[5] = tape.n_outputs * sizeof(float)


cdef int grow(TapeC* tape) noexcept nogil:
    """Make room for more steps. Returns -1 when out of memory, leaving the tape unchanged."""
    cdef size_t capacity = max(FIRST_STEPS, 2 * tape.capacity)
    cdef size_t[N_TAPE_ARRAYS] step_sizes
    cdef int i
    cdef void* block
    cdef int result = 0
    lay_out(tape, step_sizes)
    for i in range(N_TAPE_ARRAYS):
        if capacity * step_sizes[i] <= tape.sizes[i]:
            continue
        block = realloc(tape.arrays[i], capacity * step_sizes[i])
        if block == NULL:
            result = -1
            break
        tape.arrays[i] = block
        tape.sizes[i] = capacity * step_sizes[i]
    lay_out(tape, step_sizes)
    if result == 0:
        tape.capacity = <int>capacity
    return result


cdef int tape_write(
    TapeC* tape, const int* words, const int* facts, int owner, const float* hidden,
    const uint8_t* winner
) noexcept nogil:
    """Write a step, with a gradient of zeros. Returns its number; out of memory: the last one that
    there is room for, and the tape is marked as failed."""
    cdef ptrdiff_t step
    if tape.n_steps == tape.capacity and grow(tape) < 0:
        tape.failed = True
        tape.n_steps -= 1
    step = tape.n_steps
    tape.n_steps += 1
    memcpy(tape.words + step * tape.n_slots, words, tape.n_slots * sizeof(int))
    memcpy(tape.facts + step * tape.n_facts, facts, tape.n_facts * sizeof(int))
    tape.owner[step] = owner
    memcpy(tape.hidden + step * tape.width, hidden, tape.width * sizeof(float))
    if tape.has_winners:
        memcpy(tape.winner + step * tape.width, winner, tape.width)
    memset(tape.d_outputs + step * tape.n_outputs, 0, tape.n_outputs * sizeof(float))
    return <int>step
