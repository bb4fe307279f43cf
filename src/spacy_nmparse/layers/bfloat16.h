/* Products of matrices whose numbers are rounded to bfloat16, two of which the processor multiplies
 * in the time of one float32; the sums are float32. Each is one sum from the first column on, so a
 * row's product has the same bits whatever rows stand beside it. */
#ifndef SPACY_NMPARSE_BFLOAT16_H
#define SPACY_NMPARSE_BFLOAT16_H

#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

/* Numbers of a vector; vectors of a panel, the last one's may be fewer; rows of a tile and a block. */
enum { NMP_BF_LANES = 16, NMP_BF_VECTORS = 4, NMP_BF_ROWS = 6, NMP_BF_BLOCK = 96 };
enum { NMP_BF_PANEL = NMP_BF_LANES * NMP_BF_VECTORS };

/* Pairs of numbers that a row, or a column, of n_in is made of. */
static inline ptrdiff_t nmp_bf_pairs(ptrdiff_t n_in)
{
    return (n_in + 1) / 2;
}

/* Pairs of the packed weights (n_out, n_in). */
static inline ptrdiff_t nmp_bf_packed(ptrdiff_t n_in, ptrdiff_t n_out)
{
    return nmp_bf_pairs(n_in) * ((n_out + NMP_BF_LANES - 1) / NMP_BF_LANES * NMP_BF_LANES);
}

/* Vectors of a panel of n outputs, or of more that follow. */
static inline ptrdiff_t nmp_bf_vectors(ptrdiff_t n)
{
    return n < NMP_BF_PANEL ? (n + NMP_BF_LANES - 1) / NMP_BF_LANES : NMP_BF_VECTORS;
}

#if defined(NMP_X86_NEW)

#include <immintrin.h>

#define NMP_BF_TARGET target("avx512f,avx512bw,avx512vl,avx512bf16")
#define NMP_BF_INLINE __attribute__((always_inline, NMP_BF_TARGET)) static inline

/* Round up to 16 numbers of a row; those that are missing become 0. */
NMP_BF_INLINE __m256i nmp_bf_round(
    const float *row, ptrdiff_t n)
{
    const __mmask16 given = n < NMP_BF_LANES ? (__mmask16)((1u << n) - 1) : (__mmask16)0xffff;
    return (__m256i)_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(given, row));
}

/* Round a row of n_in numbers. */
NMP_BF_INLINE void nmp_bf_round_row(
    uint32_t *pairs, const float *row, ptrdiff_t n_in)
{
    const ptrdiff_t n_pairs = nmp_bf_pairs(n_in);
    ptrdiff_t j;
    for (j = 0; j < n_pairs; j += NMP_BF_LANES / 2) {
        const ptrdiff_t n = n_pairs - j;
        const __mmask8 room = n < NMP_BF_LANES / 2 ? (__mmask8)((1u << n) - 1) : (__mmask8)0xff;
        _mm256_mask_storeu_epi32(pairs + j, room, nmp_bf_round(row + 2 * j, n_in - 2 * j));
    }
}

/* Turn 16 rows of 8 pairs around: pairs[j] gets pair j of all rows. The rows i and i + 8 are the
 * halves of rows[i]. */
NMP_BF_INLINE void nmp_bf_turn(
    __m512i *pairs, const __m512i *rows)
{
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    __m512i two[8], four[8];
    ptrdiff_t i;
    NMP_UNROLL for (i = 0; i < 8; i += 2)
    {
        two[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
        two[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
    }
    NMP_UNROLL for (i = 0; i < 8; i += 4)
    {
        four[i] = _mm512_unpacklo_epi64(two[i], two[i + 2]);
        four[i + 1] = _mm512_unpackhi_epi64(two[i], two[i + 2]);
        four[i + 2] = _mm512_unpacklo_epi64(two[i + 1], two[i + 3]);
        four[i + 3] = _mm512_unpackhi_epi64(two[i + 1], two[i + 3]);
    }
    NMP_UNROLL for (i = 0; i < 4; ++i)
    {
        pairs[i] = _mm512_permutex2var_epi64(four[i], first, four[i + 4]);
        pairs[i + 4] = _mm512_permutex2var_epi64(four[i], second, four[i + 4]);
    }
}

/* Pack weights (n_out, n_in), whose rows are step numbers apart, in panels of outputs: (pairs of
 * inputs, vectors, LANES) each. */
__attribute__((noinline, NMP_BF_TARGET)) static void nmp_bf_pack(
    uint32_t *packed, const float *weights, ptrdiff_t step, ptrdiff_t n_in, ptrdiff_t n_out)
{
    const ptrdiff_t n_pairs = nmp_bf_pairs(n_in);
    ptrdiff_t panel, v, j, i;
    for (panel = 0; panel < n_out; panel += NMP_BF_PANEL) {
        const ptrdiff_t n_vectors = nmp_bf_vectors(n_out - panel);
        for (v = 0; v < n_vectors; ++v)
            for (j = 0; j < n_pairs; j += 8) {
                const ptrdiff_t first = panel + v * NMP_BF_LANES;
                __m512i rows[8], pairs[8];
                NMP_UNROLL for (i = 0; i < 8; ++i)
                {
                    const float *low = weights + (first + i) * step + 2 * j;
                    const ptrdiff_t n = n_in - 2 * j;
                    rows[i] = _mm512_inserti64x4(
                        _mm512_castsi256_si512(nmp_bf_round(low, first + i < n_out ? n : 0)),
                        nmp_bf_round(low + 8 * step, first + i + 8 < n_out ? n : 0), 1);
                }
                nmp_bf_turn(pairs, rows);
                NMP_UNROLL for (i = 0; i < 8; ++i) if (j + i < n_pairs)
                    _mm512_storeu_si512(
                        packed + ((j + i) * n_vectors + v) * NMP_BF_LANES, pairs[i]);
            }
        packed += n_pairs * n_vectors * NMP_BF_LANES;
    }
}

/* out[i][o] = the sum over pairs of rows[i][pair] * packed[pair][o], of n_rows rows, the last of the
 * n_vectors vectors of outputs as far as last says. */
NMP_BF_INLINE void nmp_bf_tile(
    float *out, ptrdiff_t step, const uint32_t *rows, ptrdiff_t n_rows, const uint32_t *packed,
    ptrdiff_t n_pairs, __mmask16 last, const int n_vectors)
{
    __m512 sums[NMP_BF_ROWS][NMP_BF_VECTORS];
    ptrdiff_t i, j, v;
    NMP_UNROLL for (i = 0; i < NMP_BF_ROWS; ++i)
        NMP_UNROLL for (v = 0; v < n_vectors; ++v) sums[i][v] = _mm512_setzero_ps();
    for (j = 0; j < n_pairs; ++j) {
        __m512bh weights[NMP_BF_VECTORS];
        NMP_UNROLL for (v = 0; v < n_vectors; ++v)
            weights[v] = (__m512bh)_mm512_loadu_si512(packed + (j * n_vectors + v) * NMP_BF_LANES);
        NMP_UNROLL for (i = 0; i < NMP_BF_ROWS; ++i) {
            const __m512bh pair = (__m512bh)_mm512_set1_epi32((int)rows[i * n_pairs + j]);
            NMP_UNROLL for (v = 0; v < n_vectors; ++v)
                sums[i][v] = _mm512_dpbf16_ps(sums[i][v], pair, weights[v]);
        }
    }
    NMP_UNROLL for (i = 0; i < NMP_BF_ROWS; ++i)
        if (i < n_rows)
            NMP_UNROLL for (v = 0; v < n_vectors; ++v)
                _mm512_mask_storeu_ps(
                    out + i * step + v * NMP_BF_LANES, v + 1 < n_vectors ? 0xffff : last,
                    sums[i][v]);
}

/* The products of rows and packed weights, those of a row step numbers behind those of the one
 * before. room: BLOCK rows of pairs. */
__attribute__((noinline, NMP_BF_TARGET)) static void nmp_bf_multiply(
    float *out, ptrdiff_t step, const float *rows, ptrdiff_t n_rows, const uint32_t *packed,
    ptrdiff_t n_in, ptrdiff_t n_out, uint32_t *room)
{
    const ptrdiff_t n_pairs = nmp_bf_pairs(n_in);
    ptrdiff_t block, i, o;
    for (block = 0; block < n_rows; block += NMP_BF_BLOCK) {
        const ptrdiff_t n = n_rows - block < NMP_BF_BLOCK ? n_rows - block : NMP_BF_BLOCK;
        const uint32_t *panel = packed;
        for (i = 0; i < n; ++i)
            nmp_bf_round_row(room + i * n_pairs, rows + (block + i) * n_in, n_in);
        for (o = 0; o < n_out; o += NMP_BF_PANEL) {
            const ptrdiff_t n_vectors = nmp_bf_vectors(n_out - o);
            const ptrdiff_t spare = o + n_vectors * NMP_BF_LANES - n_out;
            const __mmask16 last = (__mmask16)(0xffff >> (spare > 0 ? spare : 0));
            for (i = 0; i < n; i += NMP_BF_ROWS) {
                float *to = out + (block + i) * step + o;
                const uint32_t *from = room + i * n_pairs;
                if (n_vectors == 4)
                    nmp_bf_tile(to, step, from, n - i, panel, n_pairs, last, 4);
                else if (n_vectors == 3)
                    nmp_bf_tile(to, step, from, n - i, panel, n_pairs, last, 3);
                else if (n_vectors == 2)
                    nmp_bf_tile(to, step, from, n - i, panel, n_pairs, last, 2);
                else
                    nmp_bf_tile(to, step, from, n - i, panel, n_pairs, last, 1);
            }
            panel += n_pairs * n_vectors * NMP_BF_LANES;
        }
    }
}

/* The product of one row, n_vectors vectors of outputs side by side: of one panel, or of two, the
 * second one so far beside the first. */
NMP_BF_INLINE void nmp_bf_row(
    float *out, const float *row, ptrdiff_t n_in, const uint32_t *packed, ptrdiff_t beside,
    __mmask16 last, const int n_vectors)
{
    const ptrdiff_t n_pairs = nmp_bf_pairs(n_in);
    const ptrdiff_t width = n_vectors < NMP_BF_VECTORS ? n_vectors : NMP_BF_VECTORS;
    __m512 sums[2 * NMP_BF_VECTORS];
    ptrdiff_t i, j, v;
    NMP_UNROLL for (v = 0; v < n_vectors; ++v) sums[v] = _mm512_setzero_ps();
    for (j = 0; j < n_pairs; j += NMP_BF_LANES / 2) {
        uint32_t pairs[NMP_BF_LANES / 2];
        _mm256_storeu_si256((__m256i *)pairs, nmp_bf_round(row + 2 * j, n_in - 2 * j));
        for (i = 0; i < NMP_BF_LANES / 2 && j + i < n_pairs; ++i) {
            const __m512bh pair = (__m512bh)_mm512_set1_epi32((int)pairs[i]);
            NMP_UNROLL for (v = 0; v < n_vectors; ++v)
                sums[v] = _mm512_dpbf16_ps(
                    sums[v], pair,
                    (__m512bh)_mm512_loadu_si512(
                        packed + v / NMP_BF_VECTORS * beside
                        + ((j + i) * width + v % NMP_BF_VECTORS) * NMP_BF_LANES));
        }
    }
    NMP_UNROLL for (v = 0; v < n_vectors; ++v)
        _mm512_mask_storeu_ps(
            out + v * NMP_BF_LANES, v + 1 < n_vectors ? 0xffff : last, sums[v]);
}

/* nmp_bf_multiply of one row: the same bits. */
__attribute__((noinline, NMP_BF_TARGET)) static void nmp_bf_multiply_row(
    float *out, const float *row, const uint32_t *packed, ptrdiff_t n_in, ptrdiff_t n_out)
{
    const ptrdiff_t panel = nmp_bf_pairs(n_in) * NMP_BF_PANEL;
    ptrdiff_t o = 0;
    for (; o + 2 * NMP_BF_PANEL <= n_out; o += 2 * NMP_BF_PANEL, packed += 2 * panel)
        nmp_bf_row(out + o, row, n_in, packed, panel, 0xffff, 8); /* two whole panels */
    for (; o < n_out; o += NMP_BF_PANEL, packed += panel) {
        const ptrdiff_t n_vectors = nmp_bf_vectors(n_out - o);
        const ptrdiff_t spare = o + n_vectors * NMP_BF_LANES - n_out;
        const __mmask16 last = (__mmask16)(0xffff >> (spare > 0 ? spare : 0));
        if (n_vectors == 4)
            nmp_bf_row(out + o, row, n_in, packed, 0, last, 4);
        else if (n_vectors == 3)
            nmp_bf_row(out + o, row, n_in, packed, 0, last, 3);
        else if (n_vectors == 2)
            nmp_bf_row(out + o, row, n_in, packed, 0, last, 2);
        else
            nmp_bf_row(out + o, row, n_in, packed, 0, last, 1);
    }
}

#else
static void nmp_bf_pack(
    uint32_t *packed, const float *weights, ptrdiff_t step, ptrdiff_t n_in, ptrdiff_t n_out)
{
    (void)packed, (void)weights, (void)step, (void)n_in, (void)n_out;
}

static void nmp_bf_multiply(
    float *out, ptrdiff_t step, const float *rows, ptrdiff_t n_rows, const uint32_t *packed,
    ptrdiff_t n_in, ptrdiff_t n_out, uint32_t *room)
{
    (void)out, (void)step, (void)rows, (void)n_rows, (void)packed;
    (void)n_in, (void)n_out, (void)room;
}

static void nmp_bf_multiply_row(
    float *out, const float *row, const uint32_t *packed, ptrdiff_t n_in, ptrdiff_t n_out)
{
    (void)out, (void)row, (void)packed, (void)n_in, (void)n_out;
}
#endif

#endif
