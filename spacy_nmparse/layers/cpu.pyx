"""The processor's class, by which loops and products choose their instructions.

The environment's NMPARSE_CPU names a lower class, so that tests and benchmarks find one processor
in another. It is read once, when the package's layers are imported.
"""
import os


cdef extern from "cpu.h" nogil:
    enum: NMP_N_CLASSES
    const char** nmp_class_names
    int nmp_cpu
    bint nmp_has_class(int cpu_class)


#: The classes that this processor is of and this build has loops for, the lowest first. On x86-64:
#: plain (SSE2), avx2 (with FMA), avx512 (F, BW, DQ and VL), avx512-vnni; on Arm: neon.
CLASSES = tuple([
    nmp_class_names[i].decode("ascii") for i in range(NMP_N_CLASSES) if nmp_has_class(i)
])
#: The class in force.
CLASS = nmp_class_names[nmp_cpu].decode("ascii")

if (os.environ.get("NMPARSE_CPU") or CLASS) not in CLASSES:
    raise ImportError(
        f"The environment variable NMPARSE_CPU is {os.environ['NMPARSE_CPU']!r}; this processor, "
        f"with this build, can be {', '.join(CLASSES)}: set one of these, or unset it."
    )
