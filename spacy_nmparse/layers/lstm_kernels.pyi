from typing import Any

from numpy.typing import NDArray

def run_forward(
    gates: NDArray[Any], U: NDArray[Any], lengths: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]: ...
def run_backward(
    d_hidden: NDArray[Any],
    gates: NDArray[Any],
    cells: NDArray[Any],
    U_back: NDArray[Any],
    lengths: NDArray[Any],
) -> NDArray[Any]: ...
