/* The steps of a simple recurrent unit; see sru_kernels.pyx. */
#ifndef SPACY_NMPARSE_SRU_H
#define SPACY_NMPARSE_SRU_H

#include <stddef.h>

#include "cpu.h"

/* tanh, within 2e-6: a quotient of polynomials between -7 and 7 */
NMP_INLINE float nmp_tanh(float x)
{
    const float low = -7.0f > x ? -7.0f : x;
    const float a = 7.0f < low ? 7.0f : low;
    const float b = a * a;
    const float p = a * (0.99999571f + b * (0.12302184f + b * (2.2769901e-03f + b * 3.9300185e-06f)));
    const float q = 1.0f + b * (0.45634031f + b * (0.021072185f + b * 1.4235097e-04f));
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

#endif
