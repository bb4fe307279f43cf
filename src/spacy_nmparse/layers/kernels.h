/* Vector loops over float arrays. With GCC or Clang, on x86-64, there is a copy of each for each class
 * of processors (cpu.h); elsewhere these are plain C loops.
 *
 * Loop variables are ptrdiff_t, and rows have pointers of their own: Python compiles with -fwrapv,
 * where an int sum like `n_out + o` may wrap, and compilers then gather element by element. */
#ifndef SPACY_NMPARSE_KERNELS_H
#define SPACY_NMPARSE_KERNELS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cpu.h"

#if defined(_MSC_VER)
#define NMP_RESTRICT __restrict
#else
#define NMP_RESTRICT __restrict__
#endif

#if defined(__clang__)
#define NMP_UNROLL _Pragma("unroll")
#elif defined(__GNUC__)
#define NMP_UNROLL _Pragma("GCC unroll 16")
#else
#define NMP_UNROLL
#endif

/* Eight floats: a wider vector than the machine's would be kept in memory. */
enum { NMP_HALF_SIZE = 8 };
#if defined(__GNUC__)
typedef float nmp_half __attribute__((vector_size(32), aligned(4), may_alias));
#define NMP_HALF(place) (*(nmp_half *)(place))
#define NMP_CONST_HALF(place) (*(const nmp_half *)(place))
/* Four inputs' share in the half at a place of their rows of weights. */
#define NMP_WEIGHTED(place) \
    ((a * NMP_CONST_HALF(w0 + (place)) + b * NMP_CONST_HALF(w1 + (place))) \
     + (c * NMP_CONST_HALF(w2 + (place)) + d * NMP_CONST_HALF(w3 + (place))))
/* The sum of four rows there. */
#define NMP_SUM(place) \
    ((NMP_CONST_HALF(a + (place)) + NMP_CONST_HALF(b + (place))) \
     + (NMP_CONST_HALF(c + (place)) + NMP_CONST_HALF(d + (place))))
#endif

/* out[i] = sum over rows of row[i], and over products of the product of two more rows' [i] */
NMP_LOOP(nmp_sum_rows,
    (float *NMP_RESTRICT out, const float *const *rows, int n_rows, int n_products, int width),
    (out, rows, n_rows, n_products, width))
{
    const float *const *factors = rows + n_rows;
    ptrdiff_t i = 0;
    int r;
#if defined(__GNUC__)
    for (; i + 4 * NMP_HALF_SIZE <= width; i += 4 * NMP_HALF_SIZE) { /* sums stay in registers */
        const float *a = rows[0] + i;
        nmp_half p = NMP_CONST_HALF(a), q = NMP_CONST_HALF(a + NMP_HALF_SIZE);
        nmp_half s = NMP_CONST_HALF(a + 2 * NMP_HALF_SIZE);
        nmp_half t = NMP_CONST_HALF(a + 3 * NMP_HALF_SIZE);
        for (r = 1; r + 3 < n_rows; r += 4) {
            const float *b = rows[r + 1] + i, *c = rows[r + 2] + i, *d = rows[r + 3] + i;
            a = rows[r] + i;
            p += NMP_SUM(0);
            q += NMP_SUM(NMP_HALF_SIZE);
            s += NMP_SUM(2 * NMP_HALF_SIZE);
            t += NMP_SUM(3 * NMP_HALF_SIZE);
        }
        for (; r < n_rows; ++r) {
            a = rows[r] + i;
            p += NMP_CONST_HALF(a);
            q += NMP_CONST_HALF(a + NMP_HALF_SIZE);
            s += NMP_CONST_HALF(a + 2 * NMP_HALF_SIZE);
            t += NMP_CONST_HALF(a + 3 * NMP_HALF_SIZE);
        }
        for (r = 0; r < 2 * n_products; r += 2) {
            const float *b = factors[r + 1] + i;
            a = factors[r] + i;
            p += NMP_CONST_HALF(a) * NMP_CONST_HALF(b);
            q += NMP_CONST_HALF(a + NMP_HALF_SIZE) * NMP_CONST_HALF(b + NMP_HALF_SIZE);
            s += NMP_CONST_HALF(a + 2 * NMP_HALF_SIZE) * NMP_CONST_HALF(b + 2 * NMP_HALF_SIZE);
            t += NMP_CONST_HALF(a + 3 * NMP_HALF_SIZE) * NMP_CONST_HALF(b + 3 * NMP_HALF_SIZE);
        }
        NMP_HALF(out + i) = p;
        NMP_HALF(out + i + NMP_HALF_SIZE) = q;
        NMP_HALF(out + i + 2 * NMP_HALF_SIZE) = s;
        NMP_HALF(out + i + 3 * NMP_HALF_SIZE) = t;
    }
#endif
    {
        const ptrdiff_t first = i;
        for (; i < width; ++i)
            out[i] = rows[0][i];
        for (r = 1; r + 3 < n_rows; r += 4) {
            const float *NMP_RESTRICT a = rows[r];
            const float *NMP_RESTRICT b = rows[r + 1];
            const float *NMP_RESTRICT c = rows[r + 2];
            const float *NMP_RESTRICT d = rows[r + 3];
            for (i = first; i < width; ++i)
                out[i] += (a[i] + b[i]) + (c[i] + d[i]);
        }
        for (; r < n_rows; ++r) {
            const float *NMP_RESTRICT a = rows[r];
            for (i = first; i < width; ++i)
                out[i] += a[i];
        }
        for (r = 0; r < 2 * n_products; r += 2) {
            const float *NMP_RESTRICT a = factors[r];
            const float *NMP_RESTRICT b = factors[r + 1];
            for (i = first; i < width; ++i)
                out[i] += a[i] * b[i];
        }
    }
}

/* Numbers that are hashed side by side. */
#if defined(__GNUC__)
typedef uint32_t nmp_words __attribute__((vector_size(32), aligned(4), may_alias));
#else
typedef uint32_t nmp_words;
#endif
enum { NMP_HASHED = 64, NMP_HASHED_AT_ONCE = sizeof(nmp_words) / sizeof(uint32_t) };

NMP_INLINE void nmp_hash(nmp_words *hashes, const uint32_t *words)
{
    ptrdiff_t v;
    NMP_UNROLL for (v = 0; v < NMP_HASHED / NMP_HASHED_AT_ONCE; ++v)
    {
        hashes[v] ^= *(const nmp_words *)(words + v * NMP_HASHED_AT_ONCE);
        hashes[v] *= 0x9e3779b1u;
        hashes[v] ^= hashes[v] >> 15;
    }
}

/* A hash of n words. They take turns among 64 hashes, and each step is one to one: a single word that
 * differs makes another hash. */
NMP_VALUE(uint64_t, nmp_digest,
    (const uint32_t *words, ptrdiff_t n),
    (words, n))
{
    nmp_words hashes[NMP_HASHED / NMP_HASHED_AT_ONCE];
    uint32_t last[NMP_HASHED] = {0};
    uint64_t result = 0;
    ptrdiff_t i;
    memset(hashes, 0, sizeof(hashes));
    for (i = 0; i + NMP_HASHED <= n; i += NMP_HASHED)
        nmp_hash(hashes, words + i);
    memcpy(last, words + i, (size_t)(n - i) * sizeof(uint32_t));
    nmp_hash(hashes, last);
    memcpy(last, hashes, sizeof(last));
    for (i = 0; i < NMP_HASHED; ++i)
        result = (result ^ last[i]) * 0x9e3779b97f4a7c15u;
    return result ^ (result >> 32);
}

/* out[i] += in[i] */
NMP_LOOP(nmp_add,
    (float *NMP_RESTRICT out, const float *NMP_RESTRICT in, int width),
    (out, in, width))
{
    ptrdiff_t i;
    for (i = 0; i < width; ++i)
        out[i] += in[i];
}

/* out[i] += a[i] * b[i] */
NMP_LOOP(nmp_add_product,
    (float *NMP_RESTRICT out, const float *NMP_RESTRICT a, const float *NMP_RESTRICT b, int width),
    (out, a, b, width))
{
    ptrdiff_t i;
    for (i = 0; i < width; ++i)
        out[i] += a[i] * b[i];
}

/* out[i] += scale * in[i] */
NMP_LOOP(nmp_add_scaled,
    (float *NMP_RESTRICT out, const float *NMP_RESTRICT in, float scale, int width),
    (out, in, scale, width))
{
    ptrdiff_t i;
    for (i = 0; i < width; ++i)
        out[i] += scale * in[i];
}

/* sum over i of a[i] * b[i] */
NMP_VALUE(float, nmp_dot,
    (const float *NMP_RESTRICT a, const float *NMP_RESTRICT b, int width),
    (a, b, width))
{
    float lanes[16] = {0};
    ptrdiff_t i, j;
    for (i = 0; i + 15 < width; i += 16)
        for (j = 0; j < 16; ++j)
            lanes[j] += a[i + j] * b[i + j];
    for (j = 0; i + j < width; ++j)
        lanes[j] += a[i + j] * b[i + j];
    for (j = 0; j < 8; ++j)
        lanes[j] += lanes[j + 8];
    for (j = 0; j < 4; ++j)
        lanes[j] += lanes[j + 4];
    return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

/* out[j] = max over pieces p of in[p * width + j]; with one piece: max(0, in[j]) */
NMP_LOOP(nmp_activate,
    (float *NMP_RESTRICT out, const float *NMP_RESTRICT in, int width, int pieces),
    (out, in, width, pieces))
{
    ptrdiff_t j, p;
    const ptrdiff_t n = width;
    if (pieces == 1) {
        for (j = 0; j < n; ++j)
            out[j] = in[j] > 0.0f ? in[j] : 0.0f;
        return;
    }
    {
        const float *NMP_RESTRICT a = in;
        const float *NMP_RESTRICT b = in + n;
        for (j = 0; j < n; ++j)
            out[j] = a[j] > b[j] ? a[j] : b[j];
    }
    for (p = 2; p < pieces; ++p) {
        const float *NMP_RESTRICT a = in + p * n;
        for (j = 0; j < n; ++j)
            out[j] = out[j] > a[j] ? out[j] : a[j];
    }
}

/* What nmp_activate leaves to be learned from, with several pieces: winner[j] is the one that won. */
enum { NMP_DROPPED = 255 };
NMP_LOOP(nmp_find_winners,
    (uint8_t *NMP_RESTRICT winner, const float *NMP_RESTRICT in, int width, int pieces),
    (winner, in, width, pieces))
{
    ptrdiff_t j;
    const ptrdiff_t n = width;
    int p;
    for (j = 0; j < n; ++j) {
        float top = in[j];
        int best = 0;
        for (p = 1; p < pieces; ++p) {
            const float a = in[p * n + j];
            best = a > top ? p : best;
            top = a > top ? a : top;
        }
        winner[j] = (uint8_t)best;
    }
}

/* The j-th random number from start on: the hash lowbias32 of a Weyl sequence. */
NMP_INLINE uint32_t nmp_random(uint32_t start, ptrdiff_t j)
{
    uint32_t x = start + (uint32_t)j * 0x9e3779b9u;
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

/* Drop each unit with a probability of limit / 2^32, its winner NMP_DROPPED, and multiply the others
 * by scale. */
NMP_LOOP(nmp_drop,
    (float *NMP_RESTRICT hidden, uint8_t *NMP_RESTRICT winner, uint32_t start, uint32_t limit,
     float scale, int width),
    (hidden, winner, start, limit, scale, width))
{
    ptrdiff_t j;
    for (j = 0; j < width; ++j) {
        const uint32_t x = nmp_random(start, j);
        hidden[j] = x < limit ? 0.0f : hidden[j] * scale;
        winner[j] = x < limit ? NMP_DROPPED : winner[j];
    }
}

/* The same of any numbers, as of a ReLU layer's units, which tell by being above 0 whether they are to
 * be learned from. */
NMP_LOOP(nmp_drop_some,
    (float *NMP_RESTRICT values, uint32_t start, uint32_t limit, float scale, int width),
    (values, start, limit, scale, width))
{
    ptrdiff_t j;
    for (j = 0; j < width; ++j) {
        const uint32_t x = nmp_random(start, j);
        values[j] = x < limit ? 0.0f : values[j] * scale;
    }
}

/* The gradient of what nmp_activate was given, of a ReLU layer. */
NMP_LOOP(nmp_relu_back,
    (float *NMP_RESTRICT d_in, const float *NMP_RESTRICT d_out, const float *NMP_RESTRICT hidden,
     float scale, int width),
    (d_in, d_out, hidden, scale, width))
{
    ptrdiff_t j;
    for (j = 0; j < width; ++j)
        d_in[j] = hidden[j] > 0.0f ? d_out[j] * scale : 0.0f;
}

/* The same of a maxout layer. scale: of the units that were not dropped. */
NMP_LOOP(nmp_activate_back,
    (float *NMP_RESTRICT d_in, const float *NMP_RESTRICT d_out, const uint8_t *NMP_RESTRICT winner,
     float scale, int width, int pieces),
    (d_in, d_out, winner, scale, width, pieces))
{
    ptrdiff_t j;
    const ptrdiff_t n = width;
    int p;
    for (p = 0; p < pieces; ++p) {
        float *NMP_RESTRICT d = d_in + p * n;
        for (j = 0; j < n; ++j)
            d[j] = winner[j] == p ? d_out[j] * scale : 0.0f;
    }
}

/* out[o] = bias[o] + sum over j of in[j] * weights[j * n_out + o] */
NMP_LOOP(nmp_affine,
    (float *NMP_RESTRICT out, const float *NMP_RESTRICT bias, const float *NMP_RESTRICT weights,
     const float *NMP_RESTRICT in, int n_in, int n_out),
    (out, bias, weights, in, n_in, n_out))
{
    const ptrdiff_t n = n_out;
    ptrdiff_t o = 0, j;
#if defined(__GNUC__)
    for (; o + 2 * NMP_HALF_SIZE <= n; o += 2 * NMP_HALF_SIZE) { /* sums stay in registers */
        nmp_half p = NMP_CONST_HALF(bias + o), q = NMP_CONST_HALF(bias + o + NMP_HALF_SIZE);
        for (j = 0; j + 3 < n_in; j += 4) {
            const float *w0 = weights + j * n + o, *w1 = w0 + n, *w2 = w1 + n, *w3 = w2 + n;
            const float a = in[j], b = in[j + 1], c = in[j + 2], d = in[j + 3];
            p += NMP_WEIGHTED(0);
            q += NMP_WEIGHTED(NMP_HALF_SIZE);
        }
        for (; j < n_in; ++j) {
            const float *w = weights + j * n + o;
            p += in[j] * NMP_CONST_HALF(w);
            q += in[j] * NMP_CONST_HALF(w + NMP_HALF_SIZE);
        }
        NMP_HALF(out + o) = p;
        NMP_HALF(out + o + NMP_HALF_SIZE) = q;
    }
#endif
    for (; o < n; ++o) {
        out[o] = bias[o];
        for (j = 0; j < n_in; ++j)
            out[o] += in[j] * weights[j * n + o];
    }
}

/* nmp_affine where many of in are zeros, as in the output of a ReLU layer. */
NMP_LOOP(nmp_affine_sparse,
    (float *NMP_RESTRICT out, const float *NMP_RESTRICT bias, const float *NMP_RESTRICT weights,
     const float *NMP_RESTRICT in, int n_in, int n_out),
    (out, bias, weights, in, n_in, n_out))
{
    enum { CHUNK = 128 };
    ptrdiff_t places[CHUNK];
    ptrdiff_t first, last, rest, j, o, k, n;
    memcpy(out, bias, (size_t)n_out * sizeof(float));
    for (first = 0; first < n_in; first += CHUNK) {
        last = first + CHUNK < n_in ? first + CHUNK : n_in;
        n = 0;
        for (j = first; j < last; ++j) {
            places[n] = j;
            n += in[j] != 0.0f;
        }
        rest = 0;
#if defined(__GNUC__)
        for (; rest + 4 * NMP_HALF_SIZE <= n_out; rest += 4 * NMP_HALF_SIZE) { /* in registers */
            float *sum = out + rest;
            nmp_half p = NMP_CONST_HALF(sum), q = NMP_CONST_HALF(sum + NMP_HALF_SIZE);
            nmp_half s = NMP_CONST_HALF(sum + 2 * NMP_HALF_SIZE);
            nmp_half t = NMP_CONST_HALF(sum + 3 * NMP_HALF_SIZE);
            for (k = 0; k + 3 < n; k += 4) {
                const float *w0 = weights + places[k] * n_out + rest;
                const float *w1 = weights + places[k + 1] * n_out + rest;
                const float *w2 = weights + places[k + 2] * n_out + rest;
                const float *w3 = weights + places[k + 3] * n_out + rest;
                const float a = in[places[k]], b = in[places[k + 1]];
                const float c = in[places[k + 2]], d = in[places[k + 3]];
                p += NMP_WEIGHTED(0);
                q += NMP_WEIGHTED(NMP_HALF_SIZE);
                s += NMP_WEIGHTED(2 * NMP_HALF_SIZE);
                t += NMP_WEIGHTED(3 * NMP_HALF_SIZE);
            }
            for (; k < n; ++k) {
                const float *w = weights + places[k] * n_out + rest;
                const float a = in[places[k]];
                p += a * NMP_CONST_HALF(w);
                q += a * NMP_CONST_HALF(w + NMP_HALF_SIZE);
                s += a * NMP_CONST_HALF(w + 2 * NMP_HALF_SIZE);
                t += a * NMP_CONST_HALF(w + 3 * NMP_HALF_SIZE);
            }
            NMP_HALF(sum) = p;
            NMP_HALF(sum + NMP_HALF_SIZE) = q;
            NMP_HALF(sum + 2 * NMP_HALF_SIZE) = s;
            NMP_HALF(sum + 3 * NMP_HALF_SIZE) = t;
        }
#endif
        for (k = 0; k + 3 < n; k += 4) {
            const float *NMP_RESTRICT w0 = weights + places[k] * n_out;
            const float *NMP_RESTRICT w1 = weights + places[k + 1] * n_out;
            const float *NMP_RESTRICT w2 = weights + places[k + 2] * n_out;
            const float *NMP_RESTRICT w3 = weights + places[k + 3] * n_out;
            const float a = in[places[k]], b = in[places[k + 1]];
            const float c = in[places[k + 2]], d = in[places[k + 3]];
            for (o = rest; o < n_out; ++o)
                out[o] += (a * w0[o] + b * w1[o]) + (c * w2[o] + d * w3[o]);
        }
        for (; k < n; ++k) {
            const float *NMP_RESTRICT w = weights + places[k] * n_out;
            const float a = in[places[k]];
            for (o = rest; o < n_out; ++o)
                out[o] += a * w[o];
        }
    }
}

/* tanh, within 4e-7: a quotient of polynomials between -9 and 9, behind which it is -1 or 1 */
NMP_INLINE float nmp_tanh(float x)
{
    const float a = x < -9.0f ? -9.0f : (x > 9.0f ? 9.0f : x);
    const float b = a * a;
    const float p = a * (4.89352455891786e-03f + b * (6.37261928875436e-04f
        + b * (1.48572235717979e-05f + b * (5.12229709037114e-08f + b * (-8.60467152213735e-11f
        + b * (2.00018790482477e-13f + b * -2.76076847742355e-16f))))));
    const float q = 4.89352518554385e-03f + b * (2.26843463243900e-03f
        + b * (1.18534705686654e-04f + b * 1.19825839466702e-06f));
    return p / q;
}

/* One step of a simple recurrent unit. gates: (3, width), fresh, forget and output; without biases
 * and nonlinearity, then with them. biases: (3, width). loops: (2, width), weights of the last cells.
 * cell: the new cells. */
NMP_LOOP(nmp_sru_step,
    (float *NMP_RESTRICT gates, const float *NMP_RESTRICT biases, const float *NMP_RESTRICT loops,
     const float *NMP_RESTRICT last, float *NMP_RESTRICT cell, float *NMP_RESTRICT hidden,
     int width),
    (gates, biases, loops, last, cell, hidden, width))
{
    float *NMP_RESTRICT fresh = gates;
    float *NMP_RESTRICT forget = gates + width;
    float *NMP_RESTRICT out = forget + width;
    const float *NMP_RESTRICT bias = biases + width;
    const float *NMP_RESTRICT out_bias = bias + width;
    const float *NMP_RESTRICT loop = loops + width;
    ptrdiff_t j;
    for (j = 0; j < width; ++j) {
        const float c = last[j];
        const float g = fresh[j] + biases[j];
        const float f = 0.5f * nmp_tanh(0.5f * (forget[j] + bias[j] + loops[j] * c)) + 0.5f;
        const float o = 0.5f * nmp_tanh(0.5f * (out[j] + out_bias[j] + loop[j] * c)) + 0.5f;
        const float d = g + f * (c - g);
        fresh[j] = g;
        forget[j] = f;
        out[j] = o;
        cell[j] = d;
        hidden[j] = o * nmp_tanh(d);
    }
}

/* The same backwards. d_gates: of the gates before their nonlinearity; d_cell: of the new cells, then
 * of the last ones; d_loops is added to. */
NMP_LOOP(nmp_sru_step_back,
    (float *NMP_RESTRICT d_gates, float *NMP_RESTRICT d_loops, float *NMP_RESTRICT d_cell,
     const float *NMP_RESTRICT d_hidden, const float *NMP_RESTRICT gates,
     const float *NMP_RESTRICT loops, const float *NMP_RESTRICT cell,
     const float *NMP_RESTRICT last, int width),
    (d_gates, d_loops, d_cell, d_hidden, gates, loops, cell, last, width))
{
    const float *NMP_RESTRICT fresh = gates;
    const float *NMP_RESTRICT forget = gates + width;
    const float *NMP_RESTRICT out = forget + width;
    const float *NMP_RESTRICT loop = loops + width;
    float *NMP_RESTRICT d_fresh = d_gates;
    float *NMP_RESTRICT d_forget = d_gates + width;
    float *NMP_RESTRICT d_out = d_forget + width;
    float *NMP_RESTRICT d_loop = d_loops + width;
    ptrdiff_t j;
    for (j = 0; j < width; ++j) {
        const float t = nmp_tanh(cell[j]);
        const float f = forget[j], o = out[j], c = last[j];
        const float d = d_cell[j] + d_hidden[j] * o * (1.0f - t * t);
        const float df = d * (c - fresh[j]) * f * (1.0f - f);
        const float d_o = d_hidden[j] * t * o * (1.0f - o);
        d_fresh[j] = d * (1.0f - f);
        d_forget[j] = df;
        d_out[j] = d_o;
        d_loops[j] += df * c;
        d_loop[j] += d_o * c;
        d_cell[j] = d * f + df * loops[j] + d_o * loop[j];
    }
}

/* best[i] = max over pieces p of in[i * pieces + p], which[i] that p, the first of equal ones */
NMP_LOOP(nmp_maxout,
    (float *NMP_RESTRICT best, int *NMP_RESTRICT which, const float *NMP_RESTRICT in, ptrdiff_t n,
     int pieces),
    (best, which, in, n, pieces))
{
    ptrdiff_t i;
    if (pieces == 3) {
        for (i = 0; i < n; ++i) {
            const float a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
            const float top = c > b ? c : b;
            const int place = c > b ? 2 : 1;
            best[i] = top > a ? top : a;
            which[i] = top > a ? place : 0;
        }
    } else if (pieces == 2) {
        for (i = 0; i < n; ++i) {
            const float a = in[2 * i], b = in[2 * i + 1];
            best[i] = b > a ? b : a;
            which[i] = b > a;
        }
    } else {
        for (i = 0; i < n; ++i) {
            const float *NMP_RESTRICT row = in + i * pieces;
            int p, place = 0;
            for (p = 1; p < pieces; ++p)
                if (row[p] > row[place])
                    place = p;
            best[i] = row[place];
            which[i] = place;
        }
    }
}

/* out[i] = (in[i] - shrink[0]) * shrink[1], as in nmp_norm */
NMP_LOOP(nmp_centre,
    (float *NMP_RESTRICT out, const float *NMP_RESTRICT in, const float *NMP_RESTRICT shrink,
     int width),
    (out, in, shrink, width))
{
    ptrdiff_t i;
    for (i = 0; i < width; ++i)
        out[i] = (in[i] - shrink[0]) * shrink[1];
}

/* Layer normalization of one row: out = gain * (in - mean) / sd + bias; shrink: mean and 1 / sd,
 * sd = sqrt(variance + 1e-8) */
NMP_LOOP(nmp_norm,
    (float *NMP_RESTRICT out, float *NMP_RESTRICT shrink, const float *NMP_RESTRICT in,
     const float *NMP_RESTRICT gain, const float *NMP_RESTRICT bias, int width),
    (out, shrink, in, gain, bias, width))
{
    float lanes[16] = {0};
    float mean = 0.0f, variance = 0.0f, scale;
    ptrdiff_t i, j;
    for (i = 0; i + 15 < width; i += 16)
        for (j = 0; j < 16; ++j)
            lanes[j] += in[i + j];
    for (j = 0; i + j < width; ++j)
        lanes[j] += in[i + j];
    for (j = 0; j < 16; ++j) {
        mean += lanes[j];
        lanes[j] = 0.0f;
    }
    mean /= (float)width;
    for (i = 0; i + 15 < width; i += 16)
        for (j = 0; j < 16; ++j)
            lanes[j] += (in[i + j] - mean) * (in[i + j] - mean);
    for (j = 0; i + j < width; ++j)
        lanes[j] += (in[i + j] - mean) * (in[i + j] - mean);
    for (j = 0; j < 16; ++j)
        variance += lanes[j];
    variance /= (float)width;
    scale = 1.0f / sqrtf(variance + 1e-8f);
    for (i = 0; i < width; ++i)
        out[i] = (in[i] - mean) * scale * gain[i] + bias[i];
    shrink[0] = mean;
    shrink[1] = scale;
}

/* The same backwards. row: (in - mean) / sd; d_gain and d_bias are added to. */
NMP_LOOP(nmp_norm_back,
    (float *NMP_RESTRICT d_in, float *NMP_RESTRICT d_gain, float *NMP_RESTRICT d_bias,
     const float *NMP_RESTRICT d_out, const float *NMP_RESTRICT row, const float *NMP_RESTRICT gain,
     float scale, int width),
    (d_in, d_gain, d_bias, d_out, row, gain, scale, width))
{
    float plain[16] = {0}, moved[16] = {0};
    float sum = 0.0f, along = 0.0f;
    ptrdiff_t i, j;
    for (i = 0; i < width; ++i) {
        d_bias[i] += d_out[i];
        d_gain[i] += d_out[i] * row[i];
        d_in[i] = d_out[i] * gain[i];
    }
    for (i = 0; i + 15 < width; i += 16)
        for (j = 0; j < 16; ++j) {
            plain[j] += d_in[i + j];
            moved[j] += d_in[i + j] * row[i + j];
        }
    for (j = 0; i + j < width; ++j) {
        plain[j] += d_in[i + j];
        moved[j] += d_in[i + j] * row[i + j];
    }
    for (j = 0; j < 16; ++j) {
        sum += plain[j];
        along += moved[j];
    }
    sum /= (float)width;
    along /= (float)width;
    for (i = 0; i < width; ++i)
        d_in[i] = (d_in[i] - sum - row[i] * along) * scale;
}

#endif
