import numpy
from numpy.typing import NDArray
from spacy.tokens import Doc
from spacy.training import Example

PRESET: tuple[str, str, int, None]

def preset_starts(doc: Doc) -> NDArray[numpy.int8]: ...
def parsed_tokens(
    docs: list[Doc],
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int8], NDArray[numpy.int32]]: ...
def write_parses(
    docs: list[Doc],
    ends: NDArray[numpy.int32],
    tokens: NDArray[numpy.int32],
    heads: NDArray[numpy.int32],
    labels: NDArray[numpy.int32],
    starts: NDArray[numpy.int8],
    names: list[str],
) -> None: ...
def fix_edges(doc: Doc) -> Doc: ...
def is_partial(doc: Doc) -> bool: ...
def gold_parse(
    example: Example,
) -> tuple[list[int | None], list[str | None], list[bool | None]]: ...
def gold_tags(example: Example, tokens: NDArray[numpy.int32]) -> NDArray[numpy.uint64]: ...
def write_tags(doc: Doc, tokens: NDArray[numpy.int32], fields: NDArray[numpy.uint64]) -> None: ...
