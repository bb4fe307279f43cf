"""OpenBLAS' product of matrices, for other modules' loops: on one thread, without the GIL."""

cdef enum:  # of cblas.h
    ROW_MAJOR = 101
    AS_GIVEN = 111
    TRANSPOSED = 112


ctypedef void (*sgemm_t)(
    int order, int transposed_a, int transposed_b, int m, int n, int k, float alpha,
    const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc
) noexcept nogil

cdef sgemm_t sgemm

cdef checked(A, tuple shape_of_B, dtype_of_B, out)
