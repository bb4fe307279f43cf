/* A number for the content of an array; see digest.pyx. */
#ifndef SPACY_NMPARSE_DIGEST_H
#define SPACY_NMPARSE_DIGEST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cpu.h"

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

#endif
