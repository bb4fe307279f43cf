import numpy

def run_forward(
    gates: numpy.ndarray,
    biases: numpy.ndarray,
    loops: numpy.ndarray,
    lengths: numpy.ndarray,
    hidden: numpy.ndarray,
    cells: numpy.ndarray | None = None,
) -> None: ...
def run_backward(
    d_hidden: numpy.ndarray,
    gates: numpy.ndarray,
    cells: numpy.ndarray,
    loops: numpy.ndarray,
    lengths: numpy.ndarray,
) -> tuple[numpy.ndarray, numpy.ndarray]: ...
