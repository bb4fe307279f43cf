import numpy

def run_forward(
    gates: numpy.ndarray, loops: numpy.ndarray, lengths: numpy.ndarray
) -> tuple[numpy.ndarray, numpy.ndarray]: ...
def run_backward(
    d_hidden: numpy.ndarray,
    gates: numpy.ndarray,
    cells: numpy.ndarray,
    loops: numpy.ndarray,
    lengths: numpy.ndarray,
) -> tuple[numpy.ndarray, numpy.ndarray]: ...
