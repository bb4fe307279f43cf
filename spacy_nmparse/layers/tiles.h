/* Matrix products in tiles that stay in vector registers. Each number is one sum from the first
 * column on, so a row's product has the same bits whatever rows stand beside it; those of OpenBLAS
 * depend on the row's place. */
#ifndef SPACY_NMPARSE_TILES_H
#define SPACY_NMPARSE_TILES_H

#include <stddef.h>

#include "kernels.h"

enum { NMP_PANEL = 16, NMP_TILE_ROWS = 8 }; /* outputs of a panel; most rows of a tile */

#if !defined(NMP_PLAIN) && defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) \
    && !defined(__clang__)

typedef float nmp_8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef float nmp_16 __attribute__((vector_size(64), aligned(4), may_alias));

/* out[i][o] = sum over j of rows[i][j] * panels[o / PANEL][j][o % PANEL] for N_ROWS rows and
 * N_VECTORS vectors of outputs, side by side in panels of n_in * PANEL numbers. */
#define NMP_DEFINE_TILE(NAME, TARGET, VECTOR, LANES, N_ROWS, N_VECTORS)                            \
    __attribute__((always_inline, target(TARGET))) static inline void NAME(                        \
        float *out, ptrdiff_t step, const float *const *rows, const float *panels, ptrdiff_t n_in) \
    {                                                                                              \
        const float *a[N_ROWS];                                                                    \
        VECTOR sums[N_ROWS][N_VECTORS];                                                            \
        ptrdiff_t i, j, v;                                                                         \
        _Pragma("GCC unroll 8") for (i = 0; i < N_ROWS; ++i)                                       \
        {                                                                                          \
            a[i] = rows[i];                                                                        \
            _Pragma("GCC unroll 4") for (v = 0; v < N_VECTORS; ++v)                                \
                sums[i][v] = (VECTOR){0};                                                          \
        }                                                                                          \
        for (j = 0; j < n_in; ++j) {                                                               \
            VECTOR weights[N_VECTORS];                                                             \
            _Pragma("GCC unroll 4") for (v = 0; v < N_VECTORS; ++v)                                \
                weights[v] = *(const VECTOR *)(panels + v * LANES % NMP_PANEL                      \
                    + (v * LANES / NMP_PANEL * n_in + j) * NMP_PANEL);                             \
            _Pragma("GCC unroll 8") for (i = 0; i < N_ROWS; ++i)                                   \
                _Pragma("GCC unroll 4") for (v = 0; v < N_VECTORS; ++v)                            \
                    sums[i][v] += a[i][j] * weights[v];                                            \
        }                                                                                          \
        _Pragma("GCC unroll 8") for (i = 0; i < N_ROWS; ++i)                                       \
            _Pragma("GCC unroll 4") for (v = 0; v < N_VECTORS; ++v)                                \
                *(VECTOR *)(out + i * step + v * LANES) = sums[i][v];                              \
    }

NMP_DEFINE_TILE(nmp_tile_avx2, "avx2,fma", nmp_8, 8, 6, 2)
NMP_DEFINE_TILE(nmp_tile_avx512, "avx512f", nmp_16, 16, 8, 1)
NMP_DEFINE_TILE(nmp_tiles_avx512, "avx512f", nmp_16, 16, 8, 2)

__attribute__((noinline, target("avx2,fma"))) static void nmp_multiply_avx2(
    float *out, ptrdiff_t step, const float *const *rows, ptrdiff_t n_rows, const float *panels,
    ptrdiff_t n_in)
{
    ptrdiff_t o, i;
    for (o = 0; o < step; o += NMP_PANEL)
        for (i = 0; i < n_rows; i += 6)
            nmp_tile_avx2(out + i * step + o, step, rows + i, panels + o * n_in, n_in);
}

__attribute__((noinline, target("avx512f"))) static void nmp_multiply_avx512(
    float *out, ptrdiff_t step, const float *const *rows, ptrdiff_t n_rows, const float *panels,
    ptrdiff_t n_in)
{
    ptrdiff_t o, i;
    for (o = 0; o + NMP_PANEL < step; o += 2 * NMP_PANEL)
        for (i = 0; i < n_rows; i += 8)
            nmp_tiles_avx512(out + i * step + o, step, rows + i, panels + o * n_in, n_in);
    if (o < step)
        for (i = 0; i < n_rows; i += 8)
            nmp_tile_avx512(out + i * step + o, step, rows + i, panels + o * n_in, n_in);
}

/* Whether nmp_multiply works on this processor. */
static int nmp_has_tiles(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

/* The products of rows and weights (packed by nmp_pack), n_out of them a row. out: (n_rows + 7,
 * n_out in whole panels), what is beyond n_rows is overwritten; rows: n_rows + 7 pointers, those
 * beyond n_rows anything that can be read. */
static void nmp_multiply(
    float *out, const float *const *rows, ptrdiff_t n_rows, const float *panels, ptrdiff_t n_in,
    ptrdiff_t n_out)
{
    const ptrdiff_t step = (n_out + NMP_PANEL - 1) / NMP_PANEL * NMP_PANEL;
    if (__builtin_cpu_supports("avx512f"))
        nmp_multiply_avx512(out, step, rows, n_rows, panels, n_in);
    else
        nmp_multiply_avx2(out, step, rows, n_rows, panels, n_in);
}
#else
static int nmp_has_tiles(void)
{
    return 0;
}

static void nmp_multiply(
    float *out, const float *const *rows, ptrdiff_t n_rows, const float *panels, ptrdiff_t n_in,
    ptrdiff_t n_out)
{
    (void)out, (void)rows, (void)n_rows, (void)panels, (void)n_in, (void)n_out;
}
#endif

/* Lay weights (width, pieces, n_in) out in panels: (panels, n_in, PANEL), the first pieces of all
 * units, then the second ones; anything behind the last. */
NMP_CLONES
static void nmp_pack(
    float *NMP_RESTRICT panels, const float *NMP_RESTRICT weights, ptrdiff_t n_in, ptrdiff_t width,
    ptrdiff_t pieces)
{
    const ptrdiff_t n_out = width * pieces;
    ptrdiff_t o, j, k;
    for (o = 0; o < n_out; o += NMP_PANEL, panels += n_in * NMP_PANEL) {
        const float *rows[NMP_PANEL];
        for (k = 0; k < NMP_PANEL; ++k) {
            const ptrdiff_t place = o + k < n_out ? o + k : 0;
            rows[k] = weights + (place % width * pieces + place / width) * n_in;
        }
        for (j = 0; j < n_in; ++j)
            for (k = 0; k < NMP_PANEL; ++k)
                panels[j * NMP_PANEL + k] = rows[k][j];
    }
}

#endif
