"""Updates of the linear scorer's weights by the lessons of a batch: ``apply_changes`` makes the
changes of a perceptron, ``learn_examples`` learns a logistic regression from configurations.
"""
from typing import NamedTuple

import numpy

from libc.math cimport exp, fabs, fmaxf, fminf
from libc.stdint cimport int64_t, uint8_t, uint32_t

from spacy_nmparse.lab.linear.templates cimport MAX_TEMPLATES


cdef enum:
    HALF = 30000       # examples until the learning rate of a logistic regression has halved

cdef double LEAST = 1e-3    # gradients of scores below it are left out


#: The fields of ``LessonC``.
LESSON = numpy.dtype(
    [("features", "int64"), ("classes", "int64"), ("time", "int64"), ("amount", "float32")],
    align=True,
)


class Lessons(NamedTuple):
    """The lessons of a batch: changes of weights, or configurations to learn from.

    n_examples: of changes: configurations, or sentences where a beam is learned from, that were
        looked at.
    records: (lessons,) of ``LESSON``: where the features and classes of each end; of a change, also
        how many examples were looked at before it, and what was added to the weights.
    features: uint32: the hashed features, one lesson after the other.
    classes: int32: of a change, the class whose weights were changed; of a configuration, what is
        legal; what is not right as -1 - class.
    """
    n_examples: int
    records: object
    features: object
    classes: object


def apply_changes(float[::1] weights, double[::1] totals, int64_t time, lessons):
    """Change weights, and what their averages are made of: totals is the sum of all changes, each
    times the number of examples before it (after Daumé 2006), so that the average over all examples
    is weights - totals / time, and weights that nothing changes cost nothing.

    Args:
        weights: float32 (size,), changed in place.
        totals: float64 (size,), changed in place.
        time: examples before the batch.
        lessons: ``Lessons``, changes.

    Returns:
        The number of examples after the batch.
    """
    cdef const LessonC[::1] changes = lessons.records
    cdef const uint32_t[::1] features = lessons.features
    cdef const int[::1] classes = lessons.classes
    cdef Py_ssize_t i, place
    cdef int64_t j = 0
    with nogil:
        for i in range(changes.shape[0]):
            while j < changes[i].features:
                place = features[j] + classes[i]
                weights[place] += changes[i].amount
                totals[place] += <double>changes[i].amount * (time + changes[i].time)
                j += 1
    return time + lessons.n_examples


cdef inline void penalize(float* weight, float* taken, float penalty) noexcept nogil:
    """Pull a weight towards 0 by the penalty of all examples, less what it has had of it."""
    cdef float before = weight[0]
    if before > 0:
        weight[0] = fmaxf(0, before - (penalty + taken[0]))
    elif before < 0:
        weight[0] = fminf(0, before + (penalty - taken[0]))
    taken[0] += weight[0] - before


cdef int keep_frequent(
    const uint32_t[::1] features, int64_t first, int64_t last, uint8_t[::1] counts, int min_count,
    uint32_t* kept
) noexcept nogil:
    """Count the features first .. last - 1; keep those that were seen often enough. Returns how
    many these are."""
    cdef int64_t i
    cdef Py_ssize_t place
    cdef int n = 0
    for i in range(first, last):
        place = features[i]
        if counts[place] < 255:
            counts[place] += 1
        if counts[place] >= min_count:
            kept[n] = features[i]
            n += 1
    return n


cdef void find_gradients(
    const float[::1] weights, const uint32_t* kept, int n_kept, const int[::1] classes,
    int64_t first, int64_t last, double[::1] gradients
) noexcept nogil:
    """The gradient of -log P(right) by the score of each of the classes first .. last - 1."""
    cdef double top = -1e30
    cdef double all = 0
    cdef double right = 0
    cdef double share
    cdef int64_t j
    cdef int i
    for j in range(first, last):
        gradients[j] = 0
        for i in range(n_kept):
            gradients[j] += weights[kept[i] + class_in(classes[j])]
        top = max(top, gradients[j])
    for j in range(first, last):
        gradients[j] = exp(gradients[j] - top)
        all += gradients[j]
        if classes[j] >= 0:
            right += gradients[j]
    for j in range(first, last):
        share = gradients[j]
        gradients[j] = share / all
        if classes[j] >= 0:
            gradients[j] -= share / right if right > 0 else 1


def learn_examples(
    float[::1] weights, float[::1] taken, uint8_t[::1] counts, so_far, lessons, float rate,
    float l1, int min_count
):
    """Learn from configurations, one after the other, by gradients of

        -log P(right) + l1 * sum of |weights|,    P(class) = softmax over what is legal

    with the cumulative penalty of Tsuruoka et al. (2009): a weight is penalized when its feature
    and class come up, for all examples since the last time. Classes that are almost impossible are
    left alone.

    Args:
        weights: float32 (size,), changed in place.
        taken: float32 (size,): what penalties have added to each weight; changed in place.
        counts: uint8 (size,): how often each feature was seen, up to 255; changed in place.
        so_far: (time, penalty): examples before these, and what a weight could have had by then.
        lessons: ``Lessons``, configurations.
        rate: learning rate of the first example; it falls as 1 / (1 + time / HALF).
        l1: the penalty for each example.
        min_count: features that were not seen so often have no weights.

    Returns (time, penalty) after the examples.

    Raises:
        ValueError: a configuration has more features than templates can have.
    """
    cdef const LessonC[::1] records = lessons.records
    cdef const uint32_t[::1] features = lessons.features
    cdef const int[::1] classes = lessons.classes
    cdef double[::1] gradients = numpy.empty(max(1, classes.shape[0]), dtype="float64")
    cdef uint32_t[MAX_TEMPLATES] kept
    cdef int64_t time = so_far[0]
    cdef float penalty = so_far[1]
    cdef Py_ssize_t e, place
    cdef int64_t i, j, first, first_class
    cdef int n_kept
    cdef float now
    first = first_class = 0
    for e in range(records.shape[0]):
        if records[e].features - (records[e - 1].features if e else 0) > MAX_TEMPLATES:
            raise ValueError(f"A configuration has at most {MAX_TEMPLATES} features.")
    with nogil:
        for e in range(records.shape[0]):
            n_kept = keep_frequent(features, first, records[e].features, counts, min_count, kept)
            find_gradients(
                weights, kept, n_kept, classes, first_class, records[e].classes, gradients
            )
            now = rate / (1 + time / <float>HALF)
            penalty += now * l1
            time += 1
            for j in range(first_class, records[e].classes):
                if fabs(gradients[j]) < LEAST:
                    continue
                for i in range(n_kept):
                    place = kept[i] + class_in(classes[j])
                    weights[place] -= <float>(now * gradients[j])
                    penalize(&weights[place], &taken[place], penalty)
            first, first_class = records[e].features, records[e].classes
    return time, penalty


cdef inline int class_in(int noted) noexcept nogil:
    return noted if noted >= 0 else -1 - noted
