/* What follows the products of a layer: maxout or ReLU, dropout, layer normalization. */
#ifndef SPACY_NMPARSE_ACTIVATION_H
#define SPACY_NMPARSE_ACTIVATION_H

#include <math.h>
#include <stdint.h>

#include "kernels.h"

/* out[j] = max over pieces p of in[p * width + j] */
NMP_LOOP(nmp_maxout,
    (float *NMP_RESTRICT out, const float *NMP_RESTRICT in, int width, int pieces),
    (out, in, width, pieces))
{
    ptrdiff_t j, p;
    const ptrdiff_t n = width;
    if (pieces == 1)
        memcpy(out, in, (size_t)n * sizeof(float));
    else {
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

/* winner[j] = the piece that nmp_maxout takes, the first of equal ones */
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

/* out[j] = max(0, in[j]) */
NMP_LOOP(nmp_relu,
    (float *NMP_RESTRICT out, const float *NMP_RESTRICT in, int width),
    (out, in, width))
{
    ptrdiff_t j;
    for (j = 0; j < width; ++j)
        out[j] = in[j] > 0.0f ? in[j] : 0.0f;
}

/* The j-th random number from start on: the hash lowbias32 of a Weyl sequence. */
NMP_INLINE uint32_t nmp_random(uint32_t start, ptrdiff_t j)
{
    uint32_t x = start + (uint32_t)j * 0x9e3779b9u;
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

/* Drop each unit with a probability of limit / 2^32, and multiply the others by scale. winner: that of
 * a dropped unit becomes NMP_DROPPED; NULL for a ReLU layer, whose units are 0 when nothing is to be
 * learned from them. */
enum { NMP_DROPPED = 255 };
NMP_LOOP(nmp_drop,
    (float *NMP_RESTRICT values, uint8_t *NMP_RESTRICT winner, uint32_t start, uint32_t limit,
     float scale, int width),
    (values, winner, start, limit, scale, width))
{
    ptrdiff_t j;
    for (j = 0; j < width; ++j)
        values[j] = nmp_random(start, j) < limit ? 0.0f : values[j] * scale;
    for (j = 0; winner != NULL && j < width; ++j)
        winner[j] = nmp_random(start, j) < limit ? NMP_DROPPED : winner[j];
}

/* The gradient of what nmp_relu was given. hidden: what it gave, after dropout. */
NMP_LOOP(nmp_relu_back,
    (float *NMP_RESTRICT d_in, const float *NMP_RESTRICT d_out, const float *NMP_RESTRICT hidden,
     float scale, int width),
    (d_in, d_out, hidden, scale, width))
{
    ptrdiff_t j;
    for (j = 0; j < width; ++j)
        d_in[j] = hidden[j] > 0.0f ? d_out[j] * scale : 0.0f;
}

/* The gradient of what nmp_maxout was given. scale: of the units that were not dropped. */
NMP_LOOP(nmp_maxout_back,
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

/* best[i] = max over pieces p of in[i * pieces + p], which[i] that p, the first of equal ones */
NMP_LOOP(nmp_maxout_units,
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

/* Layer normalization of one row: out = gain * (in - mean) / sd + shift; shrink: mean and 1 / sd,
 * sd = sqrt(variance + 1e-8) */
NMP_LOOP(nmp_norm,
    (float *NMP_RESTRICT out, float *NMP_RESTRICT shrink, const float *NMP_RESTRICT in,
     const float *NMP_RESTRICT gain, const float *NMP_RESTRICT shift, int width),
    (out, shrink, in, gain, shift, width))
{
    float sums[16] = {0}, squares[16] = {0};
    float mean, scale;
    ptrdiff_t i, j;
    for (i = 0; i + 15 < width; i += 16)
        for (j = 0; j < 16; ++j)
            sums[j] += in[i + j];
    for (j = 0; i + j < width; ++j)
        sums[j] += in[i + j];
    mean = nmp_sum_lanes(sums) / (float)width;
    for (i = 0; i + 15 < width; i += 16)
        for (j = 0; j < 16; ++j)
            squares[j] += (in[i + j] - mean) * (in[i + j] - mean);
    for (j = 0; i + j < width; ++j)
        squares[j] += (in[i + j] - mean) * (in[i + j] - mean);
    scale = 1.0f / sqrtf(nmp_sum_lanes(squares) / (float)width + 1e-8f);
    for (i = 0; i < width; ++i)
        out[i] = (in[i] - mean) * scale * gain[i] + shift[i];
    shrink[0] = mean;
    shrink[1] = scale;
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

/* The same backwards. row: (in - mean) / sd; d_gain and d_shift are added to. */
NMP_LOOP(nmp_norm_back,
    (float *NMP_RESTRICT d_in, float *NMP_RESTRICT d_gain, float *NMP_RESTRICT d_shift,
     const float *NMP_RESTRICT d_out, const float *NMP_RESTRICT row, const float *NMP_RESTRICT gain,
     float scale, int width),
    (d_in, d_gain, d_shift, d_out, row, gain, scale, width))
{
    float plain[16] = {0}, moved[16] = {0};
    float sum = 0.0f, along = 0.0f;
    ptrdiff_t i, j;
    for (i = 0; i < width; ++i) {
        d_shift[i] += d_out[i];
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
