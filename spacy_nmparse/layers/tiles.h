/* Matrix products in tiles that stay in vector registers. Each number is one sum from the first
 * column on, so a row's product has the same bits whatever rows stand beside it; those of OpenBLAS
 * depend on the row's place. */
#ifndef SPACY_NMPARSE_TILES_H
#define SPACY_NMPARSE_TILES_H

#include <stddef.h>

#include "kernels.h"

enum { NMP_PANEL = 16 }; /* outputs of a panel */

#if defined(__GNUC__)

typedef float nmp_4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float nmp_8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef float nmp_16 __attribute__((vector_size(64), aligned(4), may_alias));

/* Define NAME, the products of rows and panels of NUMBERs: ADD adds those of a number and LANES
 * weights to SUMS, STORE writes them as a VECTOR of floats, in units of row_scales[row] *
 * scales[output] where numbers are integers. A tile has up to ROWS rows and PANELS panels; that of a
 * single row has ROW_PANELS, at least as many, whose sums do not wait for one another. */
#define NMP_DEFINE_PRODUCT(                                                                        \
    NAME, TARGET, NUMBER, SUMS, VECTOR, LANES, ROWS, PANELS, ROW_PANELS, ADD, STORE)               \
    __attribute__((always_inline, TARGET)) static inline void NAME##_tile(                         \
        float *out, ptrdiff_t step, const NUMBER *const *rows, const NUMBER *panels,               \
        ptrdiff_t n_in, const float *row_scales, const float *scales, const int n_rows,              \
        const int n_panels)                                                                        \
    {                                                                                              \
        const ptrdiff_t n_vectors = n_panels * NMP_PANEL / LANES;                                  \
        SUMS sums[ROWS][ROW_PANELS * NMP_PANEL / LANES];                                           \
        const NUMBER *a[ROWS];                                                                     \
        ptrdiff_t i, j, v;                                                                         \
        (void)row_scales, (void)scales;                                                            \
        NMP_UNROLL for (i = 0; i < n_rows; ++i)                                                    \
        {                                                                                          \
            a[i] = rows[i];                                                                        \
            NMP_UNROLL for (v = 0; v < n_vectors; ++v) sums[i][v] = (SUMS){0};                     \
        }                                                                                          \
        for (j = 0; j < n_in; ++j) {                                                               \
            SUMS weights[ROW_PANELS * NMP_PANEL / LANES];                                          \
            NMP_UNROLL for (v = 0; v < n_vectors; ++v)                                             \
                weights[v] = *(const SUMS *)(panels + v * LANES % NMP_PANEL                        \
                    + (v * LANES / NMP_PANEL * n_in + j) * NMP_PANEL);                             \
            NMP_UNROLL for (i = 0; i < n_rows; ++i)                                                \
                NMP_UNROLL for (v = 0; v < n_vectors; ++v) { ADD(sums[i][v], a[i][j], weights[v]) }\
        }                                                                                          \
        NMP_UNROLL for (i = 0; i < n_rows; ++i)                                                    \
            NMP_UNROLL for (v = 0; v < n_vectors; ++v)                                             \
                STORE(                                                                             \
                    VECTOR, out + i * step + v * LANES, sums[i][v], row_scales + i,                \
                    scales + v * LANES);                                                           \
    }                                                                                              \
                                                                                                   \
    __attribute__((always_inline, TARGET)) static inline void NAME##_rows(                         \
        float *out, ptrdiff_t step, const NUMBER *const *rows, ptrdiff_t n_rows,                   \
        const NUMBER *panels, ptrdiff_t n_in, const float *row_scales, const float *scales,          \
        const int n_panels)                                                                        \
    {                                                                                              \
        ptrdiff_t i = 0;                                                                           \
        for (; i + ROWS <= n_rows; i += ROWS)                                                      \
            NAME##_tile(                                                                           \
                out + i * step, step, rows + i, panels, n_in, row_scales + i, scales, ROWS,          \
                n_panels);                                                                         \
        for (; ROWS > 4 && i + 4 <= n_rows; i += 4)                                                \
            NAME##_tile(                                                                           \
                out + i * step, step, rows + i, panels, n_in, row_scales + i, scales,                \
                ROWS > 4 ? 4 : 1, n_panels);                                                       \
        for (; i + 2 <= n_rows; i += 2)                                                            \
            NAME##_tile(                                                                           \
                out + i * step, step, rows + i, panels, n_in, row_scales + i, scales, 2, n_panels);  \
        for (; i < n_rows; ++i)                                                                    \
            NAME##_tile(                                                                           \
                out + i * step, step, rows + i, panels, n_in, row_scales + i, scales, 1, n_panels);  \
    }                                                                                              \
                                                                                                   \
    __attribute__((noinline, TARGET)) static void NAME(                                            \
        float *out, ptrdiff_t step, const NUMBER *const *rows, ptrdiff_t n_rows,                   \
        const NUMBER *panels, ptrdiff_t n_in, ptrdiff_t n_out, const float *row_scales,             \
        const float *scales)                                                                        \
    {                                                                                              \
        ptrdiff_t o = 0, i, r;                                                                     \
        for (; n_rows == 1 && o + ROW_PANELS * NMP_PANEL <= n_out; o += ROW_PANELS * NMP_PANEL)    \
            NAME##_tile(                                                                           \
                out + o, step, rows, panels + o * n_in, n_in, row_scales, scales + o, 1,             \
                ROW_PANELS);                                                                       \
        for (; o + PANELS * NMP_PANEL <= n_out; o += PANELS * NMP_PANEL)                           \
            NAME##_rows(                                                                           \
                out + o, step, rows, n_rows, panels + o * n_in, n_in, row_scales, scales + o,        \
                PANELS);                                                                           \
        for (; PANELS > 1 && o + NMP_PANEL <= n_out; o += NMP_PANEL)                               \
            NAME##_rows(                                                                           \
                out + o, step, rows, n_rows, panels + o * n_in, n_in, row_scales, scales + o, 1);    \
        if (o == n_out)                                                                            \
            return;                                                                                \
        for (i = 0; i < n_rows; i += ROWS) { /* a part of a panel */                               \
            float room[ROWS * NMP_PANEL];                                                          \
            const ptrdiff_t n = n_rows - i < ROWS ? n_rows - i : ROWS;                             \
            NAME##_rows(                                                                           \
                room, NMP_PANEL, rows + i, n, panels + o * n_in, n_in, row_scales + i, scales + o,   \
                1);                                                                                \
            for (r = 0; r < n; ++r)                                                                \
                memcpy(                                                                            \
                    out + (i + r) * step + o, room + r * NMP_PANEL,                                \
                    (size_t)(n_out - o) * sizeof(float));                                          \
        }                                                                                          \
    }

#define NMP_ADD(SUM, A, WEIGHTS) SUM += (A) * (WEIGHTS);
#define NMP_STORE(VECTOR, TO, SUM, ROW_SCALE, SCALES) *(VECTOR *)(TO) = (SUM)

#if defined(NMP_X86)
NMP_DEFINE_PRODUCT(
    nmp_multiply_avx512, NMP_AVX512_TARGET, float, nmp_16, nmp_16, 16, 8, 2, 8, NMP_ADD, NMP_STORE)
NMP_DEFINE_PRODUCT(
    nmp_multiply_avx2, NMP_AVX2_TARGET, float, nmp_8, nmp_8, 8, 6, 1, 4, NMP_ADD, NMP_STORE)
NMP_DEFINE_PRODUCT(
    nmp_multiply_plain, unused, float, nmp_4, nmp_4, 4, 3, 1, 2, NMP_ADD, NMP_STORE)
#else
NMP_DEFINE_PRODUCT(
    nmp_multiply_plain, unused, float, nmp_4, nmp_4, 4, 6, 1, 4, NMP_ADD, NMP_STORE)
#endif

#else

static void nmp_multiply_plain(
    float *out, ptrdiff_t step, const float *const *rows, ptrdiff_t n_rows, const float *panels,
    ptrdiff_t n_in, ptrdiff_t n_out, const float *row_scales, const float *scales)
{
    ptrdiff_t i, j, k, o;
    (void)row_scales, (void)scales;
    for (i = 0; i < n_rows; ++i)
        for (o = 0; o < n_out; o += NMP_PANEL) {
            const ptrdiff_t n = n_out - o < NMP_PANEL ? n_out - o : NMP_PANEL;
            float sums[NMP_PANEL] = {0};
            for (j = 0; j < n_in; ++j)
                for (k = 0; k < NMP_PANEL; ++k)
                    sums[k] += rows[i][j] * panels[o * n_in + j * NMP_PANEL + k];
            memcpy(out + i * step + o, sums, (size_t)n * sizeof(float));
        }
}

#endif

/* Whether nmp_multiply is as fast as OpenBLAS. */
static inline int nmp_has_tiles(void)
{
#if defined(__GNUC__)
    return 1;
#else
    return 0;
#endif
}

/* The products of rows and weights (packed by nmp_pack), n_out of them a row, those of a row step
 * numbers behind those of the one before. */
static inline void nmp_multiply(
    float *out, ptrdiff_t step, const float *const *rows, ptrdiff_t n_rows, const float *panels,
    ptrdiff_t n_in, ptrdiff_t n_out)
{
#if defined(NMP_X86)
    if (nmp_cpu >= NMP_AVX512)
        nmp_multiply_avx512(out, step, rows, n_rows, panels, n_in, n_out, NULL, NULL);
    else if (nmp_cpu >= NMP_AVX2)
        nmp_multiply_avx2(out, step, rows, n_rows, panels, n_in, n_out, NULL, NULL);
    else
#endif
        nmp_multiply_plain(out, step, rows, n_rows, panels, n_in, n_out, NULL, NULL);
}

/* Numbers of the packed weights (n_out, n_in). */
static inline ptrdiff_t nmp_packed(ptrdiff_t n_in, ptrdiff_t n_out)
{
    return n_in * ((n_out + NMP_PANEL - 1) / NMP_PANEL * NMP_PANEL);
}

/* Lay weights (width, pieces, n_in) out in panels: (panels, n_in, PANEL), the first pieces of all
 * scales, then the second ones; anything behind the last. */
NMP_LOOP(nmp_pack,
    (float *NMP_RESTRICT panels, const float *NMP_RESTRICT weights, ptrdiff_t n_in, ptrdiff_t width,
     ptrdiff_t pieces),
    (panels, weights, n_in, width, pieces))
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
