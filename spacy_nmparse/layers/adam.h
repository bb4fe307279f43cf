/* Adam, with decay of the weights and their running average, in one pass. */
#ifndef SPACY_NMPARSE_ADAM_H
#define SPACY_NMPARSE_ADAM_H

#include <math.h>
#include <stddef.h>

#include "cpu.h"

typedef struct {
    float beta1, beta2, eps;
    float learn_rate;
    float weight_decay; /* the share that a weight loses */
    float average_rate; /* the share of the way that an average goes to its weight; below 0: none */
} nmp_adam_rates;

/* The order of operations is Thinc's, and none is fused, so results are Thinc's to the bit. */
NMP_INLINE void nmp_adam_body(float *NMP_RESTRICT weights, float *NMP_RESTRICT gradient,
    float *NMP_RESTRICT mean, float *NMP_RESTRICT square, float *NMP_RESTRICT average, ptrdiff_t n,
    const nmp_adam_rates *rates, int averaged)
{
    const float beta1 = rates->beta1, beta2 = rates->beta2;
    const float rest1 = 1 - beta1, rest2 = 1 - beta2;
    const float eps = rates->eps, rate = -rates->learn_rate;
    const float decay = rates->weight_decay, average_rate = rates->average_rate;
    ptrdiff_t i;
    for (i = 0; i < n; ++i) {
        const float g = gradient[i];
        const float m = mean[i] * beta1 + rest1 * g;
        const float v = square[i] * beta2 + rest2 * (g * g);
        float w = weights[i] + m / (sqrtf(v) + eps) * rate;
        w -= decay * w;
        mean[i] = m;
        square[i] = v;
        weights[i] = w;
        gradient[i] = 0;
        if (averaged)
            average[i] -= average_rate * (average[i] - w);
    }
}

#define NMP_ADAM(NAME, TARGET)                                                                     \
    TARGET static void NAME(float *weights, float *gradient, float *mean, float *square,           \
        float *average, ptrdiff_t n, const nmp_adam_rates *rates)                                  \
    {                                                                                              \
        if (rates->average_rate < 0)                                                               \
            nmp_adam_body(weights, gradient, mean, square, average, n, rates, 0);                  \
        else                                                                                       \
            nmp_adam_body(weights, gradient, mean, square, average, n, rates, 1);                  \
    }

NMP_ADAM(nmp_adam_plain, )
#if defined(NMP_X86)
/* Without fused multiply-add; memory is slower than wider vectors. */
NMP_ADAM(nmp_adam_avx2, __attribute__((noinline, target("avx2"))))
#endif

static void nmp_adam(float *weights, float *gradient, float *mean, float *square, float *average,
    ptrdiff_t n, const nmp_adam_rates *rates)
{
#if defined(NMP_X86)
    if (nmp_cpu >= NMP_AVX2) {
        nmp_adam_avx2(weights, gradient, mean, square, average, n, rates);
        return;
    }
#endif
    nmp_adam_plain(weights, gradient, mean, square, average, n, rates);
}

#endif
