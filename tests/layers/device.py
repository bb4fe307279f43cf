"""Arrays and ops that stand in for a GPU's. Like CuPy's arrays they refuse NumPy's arrays beside
them, and become one only by ``get``. They are computed on the CPU."""

from __future__ import annotations

import contextlib
import types
from unittest import mock

import numpy
from thinc.api import Ops, get_current_ops, set_current_ops


class DeviceArray(numpy.lib.mixins.NDArrayOperatorsMixin):
    """As ``cupy.ndarray``: NumPy's functions, and functions that take a buffer, do not take it."""

    __array_priority__ = 100

    def __init__(self, array):
        self._array = numpy.asarray(array)

    def get(self):
        """A copy on the CPU: what is asked for by name."""
        return self._array.copy()

    def __array__(self, *args, **kwargs):
        raise TypeError("implicit conversion to a NumPy array: use .get()")

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return on_device(getattr(ufunc, method))(*inputs, **kwargs)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._array, name)
        if isinstance(found, numpy.ndarray):
            return DeviceArray(found)
        return on_device(found) if callable(found) else found

    def __getitem__(self, index):
        return wrapped(self._array[unwrapped(index, moves=True)])

    def __setitem__(self, index, value):
        self._array[unwrapped(index, moves=True)] = unwrapped(value)

    def __len__(self):
        return len(self._array)

    def __iter__(self):
        return map(wrapped, self._array)

    def __bool__(self):
        return bool(self._array)

    def __float__(self):
        return float(self._array)

    def __int__(self):
        return int(self._array)


def wrapped(value):
    """Arrays, and numbers that a reduction gives, stay on the device."""
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return DeviceArray(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map(wrapped, value))
    return value


def unwrapped(value, moves=False):
    """What a device's array holds. moves: NumPy's arrays are taken, too."""
    if isinstance(value, DeviceArray):
        return value._array
    if isinstance(value, numpy.ndarray) and value.ndim and not moves:
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if isinstance(value, (list, tuple)):
        return type(value)(unwrapped(one, moves) for one in value)
    return value


def on_device(function, moves=False):
    """A function of NumPy, for arrays of the device."""

    def run(*args, **kwargs):
        given = {name: unwrapped(one, moves) for name, one in kwargs.items()}
        return wrapped(function(*(unwrapped(one, moves) for one in args), **given))

    return run


class DeviceModule:
    """As ``cupy``: NumPy's functions on the device. Its ``array``, ``asarray`` and ``split`` take
    NumPy's arrays."""

    ndarray = DeviceArray

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        found = getattr(self._module, name)
        if isinstance(found, types.ModuleType):
            return DeviceModule(found)
        if isinstance(found, type) or not callable(found):
            return found
        return on_device(found, moves=name in MOVES)


MOVES = ("array", "asarray", "split", "save")
XP = DeviceModule(numpy)


class DeviceOps(Ops):
    """As ``CupyOps``."""

    name = "device"
    xp = XP

    def to_numpy(self, data, *, byte_order=None):
        return data if isinstance(data, numpy.ndarray) else data.get()

    def asarray(self, data, dtype=None):
        return XP.asarray(data, dtype=dtype)

    def scatter_add(self, table, indices, values):
        numpy.add.at(table._array, indices._array, values._array)


@contextlib.contextmanager
def device():
    """Models that are made here are on the device, and Thinc takes it for a GPU."""
    before = get_current_ops()
    set_current_ops(DeviceOps("cpu", 0))
    with (
        mock.patch("thinc.util.cupy", XP),
        mock.patch("thinc.util.has_cupy", True),
        mock.patch("thinc.backends.CupyOps", lambda *args: DeviceOps("cpu", 0)),
    ):
        try:
            yield
        finally:
            set_current_ops(before)
