/* Sums and products of rows of numbers. */
#ifndef SPACY_NMPARSE_KERNELS_H
#define SPACY_NMPARSE_KERNELS_H

#include <stddef.h>
#include <string.h>

#include "cpu.h"

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

/* Keep the larger of two sums, and its number; of equal ones the lesser number. */
NMP_LOOP(nmp_keep_larger,
    (float *NMP_RESTRICT top, int *NMP_RESTRICT best, const float *NMP_RESTRICT sum, int number,
     int width),
    (top, best, sum, number, width))
{
    ptrdiff_t i;
    for (i = 0; i < width; ++i) {
        const int larger = (sum[i] > top[i]) | ((sum[i] == top[i]) & (number < best[i]));
        top[i] = larger ? sum[i] : top[i];
        best[i] = larger ? number : best[i];
    }
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

NMP_INLINE float nmp_sum_lanes(float *lanes)
{
    ptrdiff_t j;
    for (j = 0; j < 8; ++j)
        lanes[j] += lanes[j + 8];
    for (j = 0; j < 4; ++j)
        lanes[j] += lanes[j + 4];
    return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
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
    return nmp_sum_lanes(lanes);
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
    ptrdiff_t first, last, done, j, o, k, n;
    memcpy(out, bias, (size_t)n_out * sizeof(float));
    for (first = 0; first < n_in; first += CHUNK) {
        last = first + CHUNK < n_in ? first + CHUNK : n_in;
        n = 0;
        for (j = first; j < last; ++j) {
            places[n] = j;
            n += in[j] != 0.0f;
        }
        done = 0;
#if defined(__GNUC__)
        for (; done + 4 * NMP_HALF_SIZE <= n_out; done += 4 * NMP_HALF_SIZE) { /* in registers */
            float *sum = out + done;
            nmp_half p = NMP_CONST_HALF(sum), q = NMP_CONST_HALF(sum + NMP_HALF_SIZE);
            nmp_half s = NMP_CONST_HALF(sum + 2 * NMP_HALF_SIZE);
            nmp_half t = NMP_CONST_HALF(sum + 3 * NMP_HALF_SIZE);
            for (k = 0; k + 3 < n; k += 4) {
                const float *w0 = weights + places[k] * n_out + done;
                const float *w1 = weights + places[k + 1] * n_out + done;
                const float *w2 = weights + places[k + 2] * n_out + done;
                const float *w3 = weights + places[k + 3] * n_out + done;
                const float a = in[places[k]], b = in[places[k + 1]];
                const float c = in[places[k + 2]], d = in[places[k + 3]];
                p += NMP_WEIGHTED(0);
                q += NMP_WEIGHTED(NMP_HALF_SIZE);
                s += NMP_WEIGHTED(2 * NMP_HALF_SIZE);
                t += NMP_WEIGHTED(3 * NMP_HALF_SIZE);
            }
            for (; k < n; ++k) {
                const float *w = weights + places[k] * n_out + done;
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
            for (o = done; o < n_out; ++o)
                out[o] += (a * w0[o] + b * w1[o]) + (c * w2[o] + d * w3[o]);
        }
        for (; k < n; ++k) {
            const float *NMP_RESTRICT w = weights + places[k] * n_out;
            const float a = in[places[k]];
            for (o = done; o < n_out; ++o)
                out[o] += a * w[o];
        }
    }
}

#endif
