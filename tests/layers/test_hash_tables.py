"""The tables of hashed vectors do what thinc's `HashEmbed` does for each of them."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from thinc.api import HashEmbed, Model, NumpyOps, Ops, fix_random_seed, set_dropout_rate

from spacy_nmparse.layers.hash_tables import HashTables, name_of
from spacy_nmparse.layers.table_rows import add_to_rows, rows_of, sum_rows

WIDTH = 5
SIZES = (7, 40, 1)


class PlainOps(Ops):
    """Operations of no device in particular, as on a GPU: the kernels are not for these."""

    name = "plain"
    xp = numpy

    def asarray(self, data: Any, dtype: Any = None) -> Any:
        return numpy.asarray(data, dtype=dtype)


def make_numbers(n_words: int) -> numpy.ndarray:
    numbers = numpy.random.RandomState(1).randint(0, 2**63, (n_words, len(SIZES)))
    return numbers.astype("uint64") * numpy.uint64(2)


def make(ops: Ops) -> Model:
    fix_random_seed(0)
    model = HashTables(WIDTH, SIZES, 1.0)
    for node in model.walk():
        node.ops = ops
    return model.initialize()


def table_of(model: Model, table: int) -> Model:
    """A HashEmbed with one of the tables."""
    layer: Model = HashEmbed(WIDTH, SIZES[table], seed=table, dropout=0.0)
    layer.set_param("E", model.get_param(name_of(table)).copy())
    return layer


def test_rows_are_those_of_thinc() -> None:
    numbers = make_numbers(30)
    rows = rows_of(numbers, SIZES)
    assert rows.shape == (len(SIZES), 30, 4) and rows.dtype == "int32"
    for table, size in enumerate(SIZES):
        expected = NumpyOps().hash(numpy.ascontiguousarray(numbers[:, table]), table) % size
        assert (rows[table] == expected).all()
    assert len(numpy.unique(rows[1])) > 30  # of 40


@pytest.mark.parametrize("ops", [NumpyOps(), PlainOps()], ids=lambda ops: ops.name)
@pytest.mark.parametrize("n_words", [0, 1, 30])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_like_hash_embed(ops: Ops, n_words: int, dropout: float) -> None:
    """Their vectors and gradients, and the same columns dropped."""
    model = make(ops)
    numbers = make_numbers(n_words)
    expected = model.predict(numbers)
    set_dropout_rate(model, dropout)
    assert (model.predict(numbers) == expected).all()  # none in use
    values = numpy.random.RandomState(2).normal(size=(n_words, model.get_dim("nO")))
    # twice: gradients are summed until the optimizer takes them
    weights = [values.astype("float32"), values.astype("float32")[:, ::-1]]
    fix_random_seed(5)
    found = [model(numbers, is_train=True) for _ in weights]
    for (_, backprop), d_result in zip(found, weights, strict=True):
        assert backprop(d_result) == []
    assert found[0][0].shape == (n_words, len(SIZES) * WIDTH)
    if not n_words:
        assert not any(model.get_grad(name).any() for name in model.param_names)
        return
    layers = [table_of(model, table) for table in range(len(SIZES))]
    fix_random_seed(5)
    for (result, _), d_result in zip(found, weights, strict=True):
        assert (result == 0).all(axis=0).any() == (dropout > 0)
        for table, layer in enumerate(layers):
            columns = slice(table * WIDTH, (table + 1) * WIDTH)
            set_dropout_rate(layer, dropout)
            expected, backprop_expected = layer(numbers[:, table], is_train=True)
            assert result[:, columns] == pytest.approx(expected, abs=1e-6)
            backprop_expected(numpy.ascontiguousarray(d_result[:, columns]))
    for table, layer in enumerate(layers):
        gradient = model.get_grad(name_of(table))
        assert gradient == pytest.approx(layer.get_grad("E"), rel=1e-5, abs=1e-5)
        assert abs(gradient).max() > 0.1


@pytest.mark.parametrize("shape", [(40, WIDTH + 1), (0, WIDTH), (40,)])
def test_damaged_tables(shape: tuple[int, ...]) -> None:
    """They are not read beyond their ends; a number for each table, no column is left."""
    model = make(NumpyOps())
    for n_numbers in (len(SIZES) - 1, len(SIZES) + 1):
        with pytest.raises(ValueError, match=f"{n_numbers} numbers of a word for 3 tables"):
            model.predict(numpy.zeros((2, n_numbers), dtype="uint64"))
    model.set_param(name_of(1), numpy.zeros(shape, dtype="float32"))
    with pytest.raises(ValueError, match="table E1 has the shape"):
        model.predict(make_numbers(2))


def test_rows_that_tables_do_not_have() -> None:
    """Once read and written beyond the tables."""
    tables = [numpy.zeros((7, 2), "float32"), numpy.zeros((8, 2), "float32")]
    rows = numpy.full((2, 5, 4), 6, "int32")
    values = numpy.zeros((5, 4), "float32")
    sum_rows(tables, rows)
    add_to_rows(tables, rows, values)
    for wrong_tables, wrong_rows, message in (
        (tables, rows - 7, "Table 0 has 7 rows: 20 of the rows are none"),
        (tables, rows + 1, "Table 0 has 7 rows"),
        (tables, rows[:1], r"\(2, words, 4\), not \(1, 5, 4\)"),
        (tables, rows[:, :, :3].copy(), r"not \(2, 5, 3\)"),
        (tables[:1], rows, r"\(1, words, 4\), not"),
        ([tables[0], tables[1][:, :1].copy()], rows, "one width, not 2 and 1"),
    ):
        with pytest.raises(ValueError, match=message):
            sum_rows(wrong_tables, wrong_rows)
        with pytest.raises(ValueError, match=message):
            add_to_rows(wrong_tables, wrong_rows, values)
    for wrong in (values[:4], values[:, :3].copy()):
        with pytest.raises(ValueError, match=r"Values have the shape \(5, 4\)"):
            add_to_rows(tables, rows, wrong)
    for sizes in ([7], [7, 0, 1], [7, -1, 1], [7, 2**31, 1]):
        with pytest.raises(ValueError, match="Sizes are those of 3 tables"):
            rows_of(make_numbers(2), sizes)
