import numpy
from numpy.typing import NDArray
from spacy.tokens import Doc

def find_types(
    docs: list[Doc], by_text: bool
) -> tuple[
    NDArray[numpy.uint64], NDArray[numpy.uint64], NDArray[numpy.int32], NDArray[numpy.int32]
]: ...
