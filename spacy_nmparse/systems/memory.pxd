"""Memory for arrays of C structs and numbers."""
from libc.stdlib cimport calloc


cdef inline void* allocate(size_t n, size_t size) except NULL:
    """Zeros, n times so many bytes, for ``free``. Raises MemoryError."""
    cdef void* block = calloc(max(n, <size_t>1), size)
    if block == NULL:
        raise MemoryError(f"No memory for {n} times {size} bytes.")
    return block
