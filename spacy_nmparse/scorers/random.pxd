"""Random numbers, each made from the last one."""
from libc.stdint cimport uint64_t


cdef inline uint64_t random_bits(uint64_t* seed) noexcept nogil:
    """xorshift64*: the next 64 random bits, the higher ones the better."""
    seed[0] ^= seed[0] >> 12
    seed[0] ^= seed[0] << 25
    seed[0] ^= seed[0] >> 27
    return seed[0] * <uint64_t>0x2545F4914F6CDD1D


cdef inline float uniform(uint64_t* seed) noexcept nogil:
    """The next number in [0, 1)."""
    return <float>(random_bits(seed) >> 40) / <float>16777216.0
