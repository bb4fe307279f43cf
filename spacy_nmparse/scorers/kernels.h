/* Vector loops over float arrays. On x86-64 Linux the compiler makes one copy for each instruction
 * set and the loader picks the best that the machine has; elsewhere these are plain C loops. */
#ifndef SPACY_NMPARSE_KERNELS_H
#define SPACY_NMPARSE_KERNELS_H

#include <stddef.h>
#if defined(__linux__)
#include <features.h>
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
/* Levels and features, not names of processors: "arch=haswell" would be chosen on Intel's alone. */
#if __GNUC__ >= 12
#define NMP_CLONES \
    __attribute__((noinline, target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define NMP_CLONES __attribute__((noinline, target_clones("avx512f", "avx2", "default")))
#endif
#else
#define NMP_CLONES
#endif

#if defined(_MSC_VER)
#define NMP_RESTRICT __restrict
#else
#define NMP_RESTRICT __restrict__
#endif

/* out[i] = sum over rows of row[i] */
NMP_CLONES
static void nmp_sum_rows(
    float *NMP_RESTRICT out, const float *const *rows, int n_rows, int width)
{
    int i, r;
    for (i = 0; i < width; ++i)
        out[i] = rows[0][i];
    for (r = 1; r + 3 < n_rows; r += 4) {
        const float *NMP_RESTRICT a = rows[r];
        const float *NMP_RESTRICT b = rows[r + 1];
        const float *NMP_RESTRICT c = rows[r + 2];
        const float *NMP_RESTRICT d = rows[r + 3];
        for (i = 0; i < width; ++i)
            out[i] += (a[i] + b[i]) + (c[i] + d[i]);
    }
    for (; r < n_rows; ++r) {
        const float *NMP_RESTRICT a = rows[r];
        for (i = 0; i < width; ++i)
            out[i] += a[i];
    }
}

/* out[i] += in[i] */
NMP_CLONES
static void nmp_add(float *NMP_RESTRICT out, const float *NMP_RESTRICT in, int width)
{
    int i;
    for (i = 0; i < width; ++i)
        out[i] += in[i];
}

/* out[i] += a[i] * b[i] */
NMP_CLONES
static void nmp_add_product(
    float *NMP_RESTRICT out, const float *NMP_RESTRICT a, const float *NMP_RESTRICT b, int width)
{
    int i;
    for (i = 0; i < width; ++i)
        out[i] += a[i] * b[i];
}

/* out[j] = max over pieces p of in[p * width + j]; with one piece: max(0, in[j]) */
NMP_CLONES
static void nmp_activate(
    float *NMP_RESTRICT out, const float *NMP_RESTRICT in, int width, int pieces)
{
    int j, p;
    if (pieces == 1) {
        for (j = 0; j < width; ++j)
            out[j] = in[j] > 0.0f ? in[j] : 0.0f;
        return;
    }
    for (j = 0; j < width; ++j)
        out[j] = in[j] > in[width + j] ? in[j] : in[width + j];
    for (p = 2; p < pieces; ++p)
        for (j = 0; j < width; ++j)
            out[j] = out[j] > in[p * width + j] ? out[j] : in[p * width + j];
}

/* out[o] = bias[o] + sum over j of in[j] * weights[j * n_out + o] */
NMP_CLONES
static void nmp_affine(
    float *NMP_RESTRICT out, const float *NMP_RESTRICT bias, const float *NMP_RESTRICT weights,
    const float *NMP_RESTRICT in, int n_in, int n_out)
{
    int j, o;
    for (o = 0; o < n_out; ++o)
        out[o] = bias[o];
    for (j = 0; j + 3 < n_in; j += 4) {
        const float *NMP_RESTRICT w = weights + (ptrdiff_t)j * n_out;
        const float a = in[j], b = in[j + 1], c = in[j + 2], d = in[j + 3];
        for (o = 0; o < n_out; ++o)
            out[o] += (a * w[o] + b * w[n_out + o]) + (c * w[2 * n_out + o] + d * w[3 * n_out + o]);
    }
    for (; j < n_in; ++j) {
        const float *NMP_RESTRICT w = weights + (ptrdiff_t)j * n_out;
        const float a = in[j];
        for (o = 0; o < n_out; ++o)
            out[o] += a * w[o];
    }
}

#endif
