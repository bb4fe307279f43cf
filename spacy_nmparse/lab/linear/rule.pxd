"""The rule of a perceptron."""
from spacy_nmparse.learning.rollout cimport RolloutC

cdef int learn_example(RolloutC* rollout, int predicted) noexcept nogil
