/* Products of numbers rounded to integers of 16 bits, of which a processor with AVX2 multiplies twice
 * as many at a time as of float32. A row has one scale, and each output's weights one, by which no
 * sum exceeds 32 bits (Cauchy-Schwarz): sums are exact, in any order. */
#ifndef SPACY_NMPARSE_FIXED16_H
#define SPACY_NMPARSE_FIXED16_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels.h"
#include "tiles.h"

/* The most inputs, and the Euclidean norms of a row and of an output's weights as integers: with
 * rounding, their product is below 2**31. */
enum { NMP_FIXED_MOST = 4096, NMP_ROW_NORM = 32700, NMP_WEIGHT_NORM = 65400, NMP_LARGEST = 32767 };

/* Pairs of numbers that a row of n_in is made of. */
static inline ptrdiff_t nmp_pairs(ptrdiff_t n_in)
{
    return (n_in + 1) / 2;
}

/* Round in[i] * factor, of at most LARGEST, to integers, two of which make a pair: the last bits of
 * the sum with 1.5 * 2**23. */
NMP_LOOP(nmp_fix,
    (int16_t *NMP_RESTRICT out, const float *NMP_RESTRICT in, float factor, ptrdiff_t n_in),
    (out, in, factor, n_in))
{
    ptrdiff_t i;
    for (i = 0; i < n_in; ++i) {
        const float shifted = in[i] * factor + 12582912.0f;
        int32_t bits;
        memcpy(&bits, &shifted, sizeof(bits));
        out[i] = (int16_t)bits;
    }
    if (n_in % 2)
        out[n_in] = 0;
}

/* The Euclidean norm of a row. */
NMP_VALUE(float, nmp_length,
    (const float *row, ptrdiff_t n_in),
    (row, n_in))
{
    float sum = 0;
    ptrdiff_t i = 0;
#if defined(__GNUC__)
    nmp_half sums[4] = {{0}};
    for (; i + 4 * NMP_HALF_SIZE <= n_in; i += 4 * NMP_HALF_SIZE) {
        const nmp_half a = NMP_CONST_HALF(row + i), b = NMP_CONST_HALF(row + i + NMP_HALF_SIZE);
        const nmp_half c = NMP_CONST_HALF(row + i + 2 * NMP_HALF_SIZE);
        const nmp_half d = NMP_CONST_HALF(row + i + 3 * NMP_HALF_SIZE);
        sums[0] += a * a;
        sums[1] += b * b;
        sums[2] += c * c;
        sums[3] += d * d;
    }
    sums[0] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    sum = ((sums[0][0] + sums[0][4]) + (sums[0][2] + sums[0][6]))
        + ((sums[0][1] + sums[0][5]) + (sums[0][3] + sums[0][7]));
#endif
    for (; i < n_in; ++i)
        sum += row[i] * row[i];
    return sqrtf(sum);
}

/* Round a row: its scale. */
static inline float nmp_fix_row(int32_t *pairs, const float *row, ptrdiff_t n_in)
{
    const float norm = nmp_length(row, n_in);
    nmp_fix((int16_t *)pairs, row, norm > 0 ? NMP_ROW_NORM / norm : 0, n_in);
    return norm / NMP_ROW_NORM;
}

/* Pack weights as nmp_pack does, with pairs for numbers; room: a row of pairs. Scales are a whole
 * panel's, too. */
static void nmp_pack_fixed(
    int32_t *panels, float *scales, const float *weights, ptrdiff_t n_in, ptrdiff_t width,
    ptrdiff_t pieces, int32_t *room)
{
    const ptrdiff_t n_pairs = nmp_pairs(n_in);
    ptrdiff_t o, j;
    for (o = 0; o < width * pieces; ++o) {
        const float *row = weights + (o % width * pieces + o / width) * n_in;
        int32_t *panel = panels + o / NMP_PANEL * n_pairs * NMP_PANEL + o % NMP_PANEL;
        const float norm = nmp_length(row, n_in);
        float largest = norm / NMP_WEIGHT_NORM * NMP_LARGEST, factor;
        for (j = 0; j < n_in; ++j)
            largest = fmaxf(largest, fabsf(row[j]));
        factor = largest > 0 ? NMP_LARGEST / largest : 1;
        nmp_fix((int16_t *)room, row, factor, n_in);
        for (j = 0; j < n_pairs; ++j)
            panel[j * NMP_PANEL] = room[j];
        scales[o] = isfinite(norm) ? 1 / factor : norm;
    }
}

#if defined(NMP_X86)

#include <immintrin.h>

typedef int32_t nmp_ints_8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t nmp_ints_16 __attribute__((vector_size(64), aligned(4), may_alias));

/* The empty assembly keeps GCC from making all products first, for which there are no registers. */
#define NMP_ADD_AVX2(SUM, A, WEIGHTS)                                                              \
    SUM += (nmp_ints_8)_mm256_madd_epi16(_mm256_set1_epi32(A), (__m256i)(WEIGHTS));                \
    __asm__ volatile("" : "+x"(SUM));
#define NMP_ADD_AVX512(SUM, A, WEIGHTS)                                                            \
    SUM += (nmp_ints_16)_mm512_madd_epi16(_mm512_set1_epi32(A), (__m512i)(WEIGHTS));
#define NMP_ADD_VNNI(SUM, A, WEIGHTS)                                                              \
    SUM = (nmp_ints_16)_mm512_dpwssd_epi32(                                                        \
        (__m512i)(SUM), _mm512_set1_epi32(A), (__m512i)(WEIGHTS));
#define NMP_STORE_FIXED(VECTOR, TO, SUM, ROW_SCALE, SCALES)                                        \
    *(VECTOR *)(TO)                                                                                \
        = __builtin_convertvector(SUM, VECTOR) * (*(ROW_SCALE) * *(const VECTOR *)(SCALES))

NMP_DEFINE_PRODUCT(
    nmp_fixed_avx2, NMP_AVX2_TARGET, int32_t, nmp_ints_8, nmp_8, 8, 6, 1, 4, NMP_ADD_AVX2,
    NMP_STORE_FIXED)
NMP_DEFINE_PRODUCT(
    nmp_fixed_avx512, NMP_AVX512_TARGET, int32_t, nmp_ints_16, nmp_16, 16, 8, 2, 8,
    NMP_ADD_AVX512, NMP_STORE_FIXED)
NMP_DEFINE_PRODUCT(
    nmp_fixed_vnni, NMP_VNNI_TARGET, int32_t, nmp_ints_16, nmp_16, 16, 6, 4, 8, NMP_ADD_VNNI,
    NMP_STORE_FIXED)

/* Whether nmp_multiply_fixed is faster than nmp_multiply. */
static inline int nmp_has_fixed(void)
{
    return nmp_cpu >= NMP_AVX2;
}

/* nmp_multiply of rounded rows and weights. */
static inline void nmp_multiply_fixed(
    float *out, ptrdiff_t step, const int32_t *const *rows, ptrdiff_t n_rows, const int32_t *panels,
    ptrdiff_t n_in, ptrdiff_t n_out, const float *row_scales, const float *scales)
{
    const ptrdiff_t n = nmp_pairs(n_in);
    if (nmp_cpu >= NMP_AVX512_VNNI)
        nmp_fixed_vnni(out, step, rows, n_rows, panels, n, n_out, row_scales, scales);
    else if (nmp_cpu >= NMP_AVX512)
        nmp_fixed_avx512(out, step, rows, n_rows, panels, n, n_out, row_scales, scales);
    else
        nmp_fixed_avx2(out, step, rows, n_rows, panels, n, n_out, row_scales, scales);
}

#else

static inline int nmp_has_fixed(void)
{
    return 0;
}

static inline void nmp_multiply_fixed(
    float *out, ptrdiff_t step, const int32_t *const *rows, ptrdiff_t n_rows, const int32_t *panels,
    ptrdiff_t n_in, ptrdiff_t n_out, const float *row_scales, const float *scales)
{
    (void)out, (void)step, (void)rows, (void)n_rows, (void)panels;
    (void)n_in, (void)n_out, (void)row_scales, (void)scales;
}

#endif

#endif
