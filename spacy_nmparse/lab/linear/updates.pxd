"""The lessons of a batch, as records."""
from libc.stdint cimport int64_t


cdef struct LessonC:        # a change of the weights of a class, or a configuration to learn from
    int64_t features        # where its features end among those of all lessons
    int64_t classes         # where its classes end; a change has one
    int64_t time            # of a change: how many examples were seen before it
    float amount            # of a change: what was added
