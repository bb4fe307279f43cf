"""Outputs that are kept for the next time."""

import warnings

import pytest
import spacy
from spacy.tokens import Doc

from spacy_nmparse.pipe.kept import KeptOutputs


@pytest.mark.parametrize(("limit", "n_runs"), [(0, 9), (8_000_000, 5), (12_000_000, 3)])
def test_memory_that_is_full(limit: int, n_runs: int) -> None:
    """What has come stays, other documents are computed each time, and a warning says so once: not
    where nothing is to be kept, nor where all fits."""
    runs: list[str] = []

    def run(docs: list[Doc]) -> list[str]:
        runs.extend(doc.text for doc in docs)
        return [doc.text.upper() for doc in docs]

    kept = KeptOutputs(limit, run, lambda output: 4_000_000)
    make = spacy.blank("en").make_doc
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(3):
            assert [kept([make(text)]) for text in "abc"] == [["A"], ["B"], ["C"]]
    assert len(runs) == n_runs
    said = [str(warning.message) for warning in found]
    assert len(said) == (n_runs == 5)
    assert all("8 MB are full" in one and "components.transformer.megabytes" in one for one in said)
