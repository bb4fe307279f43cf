"""Rows of CoNLL-U in memory: what is not there is an error, not a crash."""

from __future__ import annotations

import pickle

import pytest
import spacy

from spacy_nmparse.ud.rows import RowWriter
from spacy_nmparse.ud.table import Table
from spacy_nmparse.ud.table_docs import Tokens


def test_rows_that_are_not_there() -> None:
    doc = spacy.blank("en")("She left")
    writer = RowWriter(doc)
    assert writer.cells(1) == ("_",) * 5
    for token in (-1, 2, 12):
        for ask in (writer.cells, lambda i: writer.says(i, "ud_misc")):
            with pytest.raises(IndexError, match="2 tokens"):
                ask(token)
    for start, end in ((0, 3), (-1, 1), (2, 1)):
        for method in (writer.sentence, writer.comments):
            with pytest.raises(IndexError, match="2 tokens"):
                method(start, end)
    table = Table.of([["1", "a", *"________"]])
    assert table.row(0)[1] == "a"
    with pytest.raises(IndexError, match="1 rows"):
        table.row(1)


@pytest.mark.parametrize("one", [Table(), Tokens(None, None)])
def test_what_is_read_is_not_pickled(one: object) -> None:
    """A state that is none was once read as one."""
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(one)
