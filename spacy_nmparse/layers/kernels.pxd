"""The loops of the headers that several modules run."""
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport uint8_t, uint32_t


cdef extern from "kernels.h" nogil:
    void nmp_keep_larger(
        float* top, int* best, const float* sum, int number, int width
    ) nogil
    void nmp_add(float* out, const float* row, int width)
    void nmp_add_product(float* out, const float* a, const float* b, int width)
    void nmp_add_scaled(float* out, const float* row, float scale, int width)
    void nmp_sum_rows(
        float* out, const float* const* rows, int n_rows, int n_products, int width
    )
    float nmp_dot(const float* a, const float* b, int width)
    void nmp_affine(
        float* out, const float* bias, const float* weights, const float* row, int n_in, int n_out
    )
    void nmp_affine_sparse(
        float* out, const float* bias, const float* weights, const float* row, int n_in, int n_out
    )


cdef extern from "activation.h" nogil:
    void nmp_maxout(float* out, const float* row, int width, int pieces)
    void nmp_find_winners(uint8_t* winner, const float* row, int width, int pieces)
    void nmp_maxout_back(
        float* d_row, const float* d_out, const uint8_t* winner, float scale, int width, int pieces
    )
    void nmp_maxout_units(float* best, int* which, const float* units, ptrdiff_t n, int pieces)
    void nmp_relu(float* out, const float* row, int width)
    void nmp_relu_back(
        float* d_row, const float* d_out, const float* hidden, float scale, int width
    )
    void nmp_drop(
        float* values, uint8_t* winner, uint32_t start, uint32_t limit, float scale, int width
    )
    void nmp_norm(
        float* out, float* shrink, const float* row, const float* gain, const float* shift,
        int width
    )
    void nmp_centre(float* out, const float* row, const float* shrink, int width)
    void nmp_norm_back(
        float* d_row, float* d_gain, float* d_shift, const float* d_out, const float* row,
        const float* gain, float scale, int width
    )
