/* Rows of a maxout layer with layer normalization; see maxout_norm.pyx. */
#ifndef SPACY_NMPARSE_MAXOUT_NORM_H
#define SPACY_NMPARSE_MAXOUT_NORM_H

#include "kernels.h"

NMP_INLINE float nmp_sum_lanes(float *lanes)
{
    ptrdiff_t j;
    for (j = 0; j < 8; ++j)
        lanes[j] += lanes[j + 8];
    for (j = 0; j < 4; ++j)
        lanes[j] += lanes[j + 4];
    return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

/* best[i] = max over pieces p of in[p * width + i] + bias[p * width + i];
 * out[i] = gain[i] * (best[i] - mean) / sd + shift[i]; shrink: mean and 1 / sd, sd = sqrt(variance
 * + 1e-8) */
NMP_LOOP(nmp_maxout_norm,
    (float *NMP_RESTRICT out, float *NMP_RESTRICT best, float *NMP_RESTRICT shrink,
     const float *NMP_RESTRICT in, const float *NMP_RESTRICT bias, const float *NMP_RESTRICT gain,
     const float *NMP_RESTRICT shift, int width, int pieces),
    (out, best, shrink, in, bias, gain, shift, width, pieces))
{
    const ptrdiff_t n = width;
    float sums[16] = {0}, squares[16] = {0};
    float mean, scale;
    ptrdiff_t i, j, p;
    if (pieces == 3) {
        const float *NMP_RESTRICT b = in + n, *NMP_RESTRICT c = in + 2 * n;
        const float *NMP_RESTRICT b_bias = bias + n, *NMP_RESTRICT c_bias = bias + 2 * n;
        for (i = 0; i < n; ++i) {
            const float x = in[i] + bias[i], y = b[i] + b_bias[i], z = c[i] + c_bias[i];
            const float top = y > x ? y : x;
            best[i] = z > top ? z : top;
        }
    } else {
        for (i = 0; i < n; ++i)
            best[i] = in[i] + bias[i];
        for (p = 1; p < pieces; ++p)
            for (i = 0; i < n; ++i) {
                const float x = in[p * n + i] + bias[p * n + i];
                best[i] = x > best[i] ? x : best[i];
            }
    }
    for (i = 0; i + 15 < n; i += 16)
        for (j = 0; j < 16; ++j)
            sums[j] += best[i + j];
    for (j = 0; i + j < n; ++j)
        sums[j] += best[i + j];
    mean = nmp_sum_lanes(sums) / (float)width;
    for (i = 0; i + 15 < n; i += 16)
        for (j = 0; j < 16; ++j)
            squares[j] += (best[i + j] - mean) * (best[i + j] - mean);
    for (j = 0; i + j < n; ++j)
        squares[j] += (best[i + j] - mean) * (best[i + j] - mean);
    scale = 1.0f / sqrtf(nmp_sum_lanes(squares) / (float)width + 1e-8f);
    for (i = 0; i < n; ++i)
        out[i] = (best[i] - mean) * scale * gain[i] + shift[i];
    shrink[0] = mean;
    shrink[1] = scale;
}

/* winner[i] = the piece that nmp_maxout_norm takes, the first of equal ones */
NMP_LOOP(nmp_find_pieces,
    (uint8_t *NMP_RESTRICT winner, const float *NMP_RESTRICT in, const float *NMP_RESTRICT bias,
     int width, int pieces),
    (winner, in, bias, width, pieces))
{
    const ptrdiff_t n = width;
    ptrdiff_t i;
    int p;
    for (i = 0; i < n; ++i) {
        float top = in[i] + bias[i];
        int place = 0;
        for (p = 1; p < pieces; ++p) {
            const float x = in[p * n + i] + bias[p * n + i];
            place = x > top ? p : place;
            top = x > top ? x : top;
        }
        winner[i] = (uint8_t)place;
    }
}

/* d_in[i * pieces + p] = d_best[i] where p won, else 0 */
static void nmp_maxout_back(
    float *NMP_RESTRICT d_in, const float *NMP_RESTRICT d_best, const uint8_t *NMP_RESTRICT winner,
    int width, int pieces)
{
    ptrdiff_t i;
    memset(d_in, 0, (size_t)width * pieces * sizeof(float));
    for (i = 0; i < width; ++i)
        d_in[i * pieces + winner[i]] = d_best[i];
}

#endif
