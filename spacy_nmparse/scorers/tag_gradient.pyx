"""The gradient of the loss of tags: a softmax for each attribute of each word."""
import numpy

from libc.math cimport expf
from libc.stddef cimport ptrdiff_t
from libc.string cimport memset


cdef void one_gradient(float* scores, int size, int tag, float weight) noexcept nogil:
    """Of one attribute of one word, in place."""
    cdef float top = scores[0]
    cdef float total = 0
    cdef int i
    for i in range(1, size):
        top = max(top, scores[i])
    for i in range(size):
        scores[i] = expf(scores[i] - top)
        total += scores[i]
    total = weight / total
    for i in range(size):
        scores[i] *= total
    scores[tag] -= weight


def tag_gradient(scores, const int[:, ::1] tags, sizes, float weight):
    """Gradient of the summed negative log likelihood of tags, each attribute a softmax.

    Args:
        scores: float32 (words, sum of sizes), overwritten by the gradient.
        tags: int32 (words, attributes), of each word the index of its value of each attribute, or
            -1 where it is not known.
        sizes: values of each attribute.
        weight: of this loss.

    Raises:
        ValueError: arrays whose shapes do not fit, or a tag that no value has.
    """
    cdef float[:, ::1] d = scores
    cdef const int[::1] n_values = numpy.asarray(sizes, dtype="int32")
    cdef ptrdiff_t word, first
    cdef int i
    if (
        tags.shape[0] != d.shape[0] or tags.shape[1] != n_values.shape[0]
        or d.shape[1] != numpy.sum(n_values) or numpy.less(n_values, 1).any()
        or (numpy.asarray(tags) >= numpy.asarray(n_values)).any()
    ):
        raise ValueError(
            f"Tags {tuple(numpy.shape(tags))} of attributes of {list(sizes)} values do not fit the "
            f"scores {scores.shape}."
        )
    with nogil:
        for word in range(tags.shape[0]):
            first = 0
            for i in range(tags.shape[1]):
                if tags[word, i] < 0:
                    memset(&d[word, first], 0, n_values[i] * sizeof(float))
                else:
                    one_gradient(&d[word, first], n_values[i], tags[word, i], weight)
                first += n_values[i]
