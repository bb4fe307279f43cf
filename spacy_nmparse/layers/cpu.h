/* The processor's class, by which loops are chosen: what it can, or less if the environment's
 * NMPARSE_CPU names a lower one. Each module looks once, when it is loaded. */
#ifndef SPACY_NMPARSE_CPU_H
#define SPACY_NMPARSE_CPU_H

enum { NMP_PLAIN, NMP_AVX2, NMP_AVX512, NMP_AVX512_VNNI, NMP_N_CLASSES };

#if defined(__GNUC__)
#define NMP_INLINE __attribute__((always_inline)) static inline
#else
#define NMP_INLINE static inline
#endif

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

/* MinGW keeps vectors where it does not align them. */
#if defined(__GNUC__) && defined(__x86_64__) && !defined(_WIN32)
#define NMP_X86
#endif

#if defined(NMP_X86)

#include <stdlib.h>
#include <string.h>

#define NMP_AVX2_TARGET target("avx2,fma")
#define NMP_AVX512_TARGET target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")
#define NMP_VNNI_TARGET target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")
#define NMP_ON_AVX2 __attribute__((noinline, NMP_AVX2_TARGET))
#define NMP_ON_AVX512 __attribute__((noinline, NMP_AVX512_TARGET))

static const char *const nmp_class_names[NMP_N_CLASSES]
    = {"plain", "avx2", "avx512", "avx512-vnni"};

/* Whether the processor is of a class, and this build has loops for it. */
static int nmp_has_class(int cpu_class)
{
    int avx2, avx512;
    __builtin_cpu_init();
    avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    switch (cpu_class) {
    case NMP_PLAIN:
        return 1;
    case NMP_AVX2:
        return avx2;
    case NMP_AVX512:
        return avx512;
    case NMP_AVX512_VNNI:
        return avx512 && __builtin_cpu_supports("avx512vnni");
    default:
        return 0;
    }
}

static int nmp_cpu = NMP_PLAIN; /* the class in force */

__attribute__((constructor)) static void nmp_choose_class(void)
{
    const char *wanted = getenv("NMPARSE_CPU");
    int i;
    for (i = 0; i < NMP_N_CLASSES; ++i)
        if (nmp_has_class(i)) {
            nmp_cpu = i;
            if (wanted != NULL && strcmp(wanted, nmp_class_names[i]) == 0)
                break;
        }
}

/* Define a loop: KEYWORD is return where it has a value. The compiler makes a copy for each class. */
#define NMP_DEFINE(KEYWORD, TYPE, NAME, PARAMETERS, ARGUMENTS)                                     \
    NMP_INLINE TYPE NAME##_body PARAMETERS;                                                        \
    NMP_ON_AVX512 static TYPE NAME##_avx512 PARAMETERS                                             \
    {                                                                                              \
        KEYWORD NAME##_body ARGUMENTS;                                                             \
    }                                                                                              \
    NMP_ON_AVX2 static TYPE NAME##_avx2 PARAMETERS                                                 \
    {                                                                                              \
        KEYWORD NAME##_body ARGUMENTS;                                                             \
    }                                                                                              \
    __attribute__((noinline)) static TYPE NAME##_plain PARAMETERS                                  \
    {                                                                                              \
        KEYWORD NAME##_body ARGUMENTS;                                                             \
    }                                                                                              \
    static inline TYPE NAME PARAMETERS                                                             \
    {                                                                                              \
        if (nmp_cpu >= NMP_AVX512)                                                                 \
            KEYWORD NAME##_avx512 ARGUMENTS;                                                       \
        else if (nmp_cpu >= NMP_AVX2)                                                              \
            KEYWORD NAME##_avx2 ARGUMENTS;                                                         \
        else                                                                                       \
            KEYWORD NAME##_plain ARGUMENTS;                                                        \
    }                                                                                              \
    NMP_INLINE TYPE NAME##_body PARAMETERS

#else

#if defined(__aarch64__) || defined(_M_ARM64)
static const char *const nmp_class_names[NMP_N_CLASSES] = {"neon", "", "", ""};
#else
static const char *const nmp_class_names[NMP_N_CLASSES] = {"plain", "", "", ""};
#endif
enum { nmp_cpu = NMP_PLAIN };

static int nmp_has_class(int cpu_class)
{
    return cpu_class == NMP_PLAIN;
}

#define NMP_DEFINE(KEYWORD, TYPE, NAME, PARAMETERS, ARGUMENTS) static TYPE NAME PARAMETERS

#endif

/* A loop of C that becomes vectors. With GCC or Clang, on x86-64, there is a copy of it for each class
 * of processors; elsewhere it is plain C.
 *
 * Loop variables are ptrdiff_t, and rows have pointers of their own: Python compiles with -fwrapv,
 * where an int sum like `n_out + o` may wrap, and compilers then gather element by element. */
#define NMP_LOOP(NAME, PARAMETERS, ARGUMENTS) NMP_DEFINE(, void, NAME, PARAMETERS, ARGUMENTS)
#define NMP_VALUE(TYPE, NAME, PARAMETERS, ARGUMENTS)                                               \
    NMP_DEFINE(return, TYPE, NAME, PARAMETERS, ARGUMENTS)

#endif
