# cython: embedsignature=False
"""Thinc's Adam, in one pass over weights, gradient, moments and averages."""
import numpy
from thinc.api import Optimizer
from thinc.optimizers import ADAM_DEFAULTS

from libc.stddef cimport ptrdiff_t


cdef extern from "adam.h" nogil:
    ctypedef struct nmp_adam_rates:
        float beta1
        float beta2
        float eps
        float learn_rate
        float weight_decay
        float average_rate

    void nmp_adam(
        float* weights, float* gradient, float* mean, float* square, float* average, ptrdiff_t n,
        const nmp_adam_rates* rates
    )


class Adam(Optimizer):
    """Registered as ``spacy_nmparse.Adam.v1``, with the settings of Thinc's ``Adam.v1``.

    Weights are those of ``Adam.v1``, on x86-64 to the bit. Arrays that are not NumPy's float32 in C
    order are left to Thinc, as are ``use_radam``, L2 that is no weight decay, and SGD.

    Parameters of PyTorch's models, such as transformers, can have a rate of their own. No averages
    are kept of them: Thinc would not use them.
    """

    __slots__ = ("pretrained_factor",)

    def __init__(
        self,
        learn_rate,
        *,
        pretrained_factor=1.0,
        L2=ADAM_DEFAULTS["L2"],
        beta1=ADAM_DEFAULTS["beta1"],
        beta2=ADAM_DEFAULTS["beta2"],
        eps=ADAM_DEFAULTS["eps"],
        grad_clip=ADAM_DEFAULTS["grad_clip"],
        use_averages=True,
        use_radam=False,
        L2_is_weight_decay=True,
    ):
        """Make an optimizer: PyTorch's parameters have ``pretrained_factor`` times the learn rate.
        The other settings are those of Thinc's ``Optimizer``."""
        super().__init__(
            learn_rate,
            L2=L2,
            beta1=beta1,
            beta2=beta2,
            eps=eps,
            grad_clip=grad_clip,
            use_averages=use_averages,
            use_radam=use_radam,
            L2_is_weight_decay=L2_is_weight_decay,
        )
        self.pretrained_factor = pretrained_factor

    def __call__(self, key, weights, gradient, *, lr_scale=1.0):
        """Change weights by their gradient, in place.

        Args:
            key: (int, str), the model's number and the parameter's name.
            weights, gradient: float32 of the same shape.
            lr_scale: a factor of the learn rate.

        Returns:
            weights, and the gradient, which is now 0.
        """
        if "." not in key[1]:
            return self._update(key, weights, gradient, lr_scale)
        # A parameter of PyTorch: the path of its layer, and its name there.
        averages, self.averages = self.averages, None
        try:
            return self._update(key, weights, gradient, lr_scale * self.pretrained_factor)
        finally:
            self.averages = averages

    def _update(self, key, weights, gradient, lr_scale):
        shared = [weights, gradient]
        for parts in (self.mom1, self.mom2, self.averages or {}):
            if key in parts:
                shared.append(parts[key])
        if (
            self.use_radam
            or min(self.b1, self.b2) <= 0
            or (self.L2 != 0 and not self.L2_is_weight_decay)
            or not weights.size
            or not all(_is_plain(array, weights.size) for array in shared)
        ):
            return super().__call__(key, weights, gradient, lr_scale=lr_scale)
        if key not in self.mom1:
            self.mom1[key] = numpy.zeros(weights.size, dtype="float32")
            self.mom2[key] = numpy.zeros(weights.size, dtype="float32")
        self.nr_update[key] += 1
        step = self.nr_update[key]
        if self.grad_clip:
            length = numpy.linalg.norm(gradient)
            if length >= self.grad_clip:
                gradient *= self.grad_clip / length
        cdef nmp_adam_rates rates
        rates.beta1, rates.beta2, rates.eps = self.b1, self.b2, self.eps
        rate = self.learn_rate * (1.0 - self.b2**step) ** 0.5 / (1.0 - self.b1**step)
        rates.learn_rate = rate * lr_scale
        rates.weight_decay = lr_scale * self.learn_rate * self.L2
        rates.average_rate = -1
        cdef float[::1] w = weights.reshape(-1)
        cdef float[::1] g = gradient.reshape(-1)
        cdef float[::1] mean = self.mom1[key]
        cdef float[::1] square = self.mom2[key]
        cdef float[::1] average = None
        cdef float* averages = NULL
        if self.averages is not None:
            if key not in self.averages:
                self.averages[key] = numpy.zeros(weights.shape, dtype="float32")
            average = self.averages[key].reshape(-1)
            averages = &average[0]
            rates.average_rate = 1 - min((1.0 + step) / (10.0 + step), 0.9999)
        with nogil:
            nmp_adam(&w[0], &g[0], &mean[0], &square[0], averages, w.shape[0], &rates)
        return weights, gradient


def _is_plain(array, size):
    return (
        isinstance(array, numpy.ndarray)
        and array.dtype == "float32"
        and array.size == size
        and array.flags.c_contiguous
        and array.flags.writeable
    )
