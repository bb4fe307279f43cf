"""What scorers know of the words: token vectors and, if wanted, bidirectional LSTMs over them.

A convolutional tok2vec sees a few words to either side; an LSTM shows a scorer the whole sequence.
Where there are several, each one's input is the token vectors and what those below it say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
from spacy.tokens import Doc
from thinc.api import Model, get_array_module, to_numpy

from spacy_nmparse.layers.blas import matmul
from spacy_nmparse.scorers.lstm import run_backward, run_forward
from spacy_nmparse.scorers.model import ScorerInput, uniform
from spacy_nmparse.scorers.tagging import learn_tags

#: Words whose gates are computed by one matrix product when nothing is learned: few enough for
#: caches.
WINDOW = 512

#: float (words, width) and int32 lengths of sequences -> float (words, width + 2 * LSTM's width)
Input = tuple[Any, numpy.ndarray]


def BiLSTM(width: int) -> Model[Input, Any]:
    """Build the layer: its output is its input, followed by what the two directions say.

    Args:
        width: units of each direction.

    Raises:
        ValueError: a width below 1.
    """
    if width < 1:
        raise ValueError(f"BiLSTM: width {width} must be at least 1.")
    return Model(
        "nmparse_bilstm",
        forward,
        init=init,
        dims={"nI": None, "nH": width, "nO": None},
        params=dict.fromkeys(("W", "U", "b")),
        attrs={"dropout_rate": 0.0},
    )


def build_lstms(name: str, width: int, depth: int) -> list[Model]:
    """Build a scorer's LSTMs, the lowest first.

    Args:
        name: the scorer's, for messages.
        width: units in each direction of each of them; 0 for none.
        depth: how many.

    Raises:
        ValueError: a width below 0, or a depth below 1.
    """
    if width < 0 or depth < 1:
        raise ValueError(
            f"{name}: lstm_width {width} must be at least 0, lstm_depth {depth} at least 1."
        )
    return [BiLSTM(width) for _ in range(depth)] if width else []


def lstms(model: Model) -> list[Model]:
    """The LSTMs of a scorer, the lowest first."""
    return [layer for layer in model.layers if layer.name == "nmparse_bilstm"]


def shapes(model: Model) -> dict[str, tuple[int, ...]]:
    """Shape of each parameter; nI must be set."""
    n_in, width = model.get_dim("nI"), model.get_dim("nH")
    return {"W": (2 * 4 * width, n_in), "U": (2, width, 4 * width), "b": (2 * 4 * width,)}


def init(model: Model, X: Any = None, Y: Any = None) -> None:
    """Initialize the parameters; nI must be set. Forget gates are open at first."""
    n_in, width = model.get_dim("nI"), model.get_dim("nH")
    W, U, b = map(model.ops.alloc, shapes(model).values())
    W[:] = uniform(model, W.shape, n_in + width)
    U[:] = uniform(model, U.shape, 2 * width)
    b.reshape(2, 4, width)[:, 1] = 1.0
    for name, array in (("W", W), ("U", U), ("b", b)):
        model.set_param(name, array)


def forward(model: Model, X: Input, is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
    """Run the LSTM. Dropout (``dropout_rate``) drops outputs of its units."""
    words, lengths = X
    W: Any = model.get_param("W")
    xp = get_array_module(words)
    width = model.get_dim("nH")
    U = to_numpy(model.get_param("U"))
    if not is_train:
        n_in = words.shape[1]
        result: Any = xp.empty((len(words), n_in + 2 * width), dtype="float32")
        result[:, :n_in] = words
        for sequences, part in windows(lengths):
            gates: Any = matmul(words[part], W.T)
            gates += model.get_param("b")
            gates = to_numpy(gates).reshape(-1, 2, 4 * width)
            hidden, _ = run_forward(gates, U, lengths[sequences])
            result[part, n_in:] = xp.asarray(hidden.reshape(-1, 2 * width))
        return result, not_trained
    gates = numpy.ascontiguousarray(to_numpy(matmul(words, W.T) + model.get_param("b")))
    gates = gates.reshape(-1, 2, 4 * width)
    hidden, cells = run_forward(gates, U, lengths)
    outputs: Any = xp.asarray(hidden.reshape(-1, 2 * width))
    mask: Any = None
    if is_train and model.attrs["dropout_rate"]:
        mask = model.ops.get_dropout_mask(outputs.shape, model.attrs["dropout_rate"])
        outputs = outputs * mask

    def backprop(d: Any) -> Any:
        n_in = words.shape[1]
        d_outputs = d[:, n_in:] if mask is None else d[:, n_in:] * mask
        d_hidden = numpy.ascontiguousarray(to_numpy(d_outputs).reshape(-1, 2, width))
        U_back = numpy.ascontiguousarray(U.transpose(0, 2, 1))
        d_gates = run_backward(d_hidden, gates, cells, U_back, lengths)
        before = numpy.zeros_like(hidden)
        before[1:, 0] = hidden[:-1, 0]
        before[:-1, 1] = hidden[1:, 1]
        ends = numpy.cumsum(lengths)
        before[(ends - lengths)[lengths > 0], 0] = 0
        before[(ends - 1)[lengths > 0], 1] = 0
        d_U = numpy.stack([matmul(before[:, side].T, d_gates[:, side]) for side in (0, 1)])
        flat: Any = xp.asarray(d_gates.reshape(len(words), 8 * width))
        model.inc_grad("U", xp.asarray(d_U))
        model.inc_grad("W", matmul(flat.T, words))
        model.inc_grad("b", flat.sum(axis=0))
        return d[:, :n_in] + matmul(flat, W)

    return xp.hstack([words, outputs]), backprop


def windows(lengths: numpy.ndarray) -> Iterator[tuple[slice, slice]]:
    """Runs of whole sequences, of WINDOW words or one sequence: their places, and their words'."""
    place = word = first = 0
    for i, n in enumerate([*lengths.tolist(), WINDOW]):
        if word > first and word + n - first > WINDOW:
            yield slice(place, i), slice(first, word)
            place, first = i, word
        word += n


def not_trained(d: Any) -> Any:
    """The backward pass of what was run without is_train."""
    raise RuntimeError("BiLSTM: only what was run with is_train can be back-propagated.")


def init_words(model: Model, X: ScorerInput | None) -> int:
    """Initialize a scorer's tok2vec, LSTMs and tagging (refs "tok2vec" and "tagging"; the latter
    may be None).

    Returns the width of what ``run_words`` gives.
    """
    tok2vec = model.get_ref("tok2vec")
    tok2vec.initialize(X=None if X is None else X.docs)
    width = tok2vec.get_dim("nO")
    tagging = model.maybe_get_ref("tagging")
    if tagging is not None:
        tagging.set_dim("nI", width)
        tagging.initialize()
    for lstm in lstms(model):
        lstm.set_dim("nI", width)
        lstm.initialize()
        width += 2 * lstm.get_dim("nH")
    return width


def run_words(
    model: Model, X: ScorerInput | list[Doc], is_train: bool
) -> tuple[Any, numpy.ndarray, Callable[[Any], list[Doc]]]:
    """Run a scorer's tok2vec and LSTMs; in training, learn from tags where there are any. A list of
    documents will do, as spaCy's own models take: then every token is a word.

    Returns:
        words: float32 (words, width), one row for each parsed word.
        lengths: int32, words of each stretch that surely begins and ends a sentence.
        backprop: takes the gradient of words, returns what tok2vec's backward pass does.

    Raises:
        ValueError: a document does not have one vector for each of its tokens, or vectors are not
            as wide as those that the scorer was made for.
    """
    if not isinstance(X, ScorerInput):
        X = ScorerInput(X)
    vectors, backprop_tok2vec = model.get_ref("tok2vec")(X.docs, is_train)
    lengths: Any = [v.shape[0] for v in vectors]
    for doc, n_vectors in zip(X.docs, lengths, strict=True):
        if n_vectors != len(doc):
            raise ValueError(
                f"The document {doc.text!r:.80} has {len(doc)} tokens, but {n_vectors} token "
                f"vectors: run tok2vec after the components that merge or split tokens."
            )
    flat: Any = model.ops.flatten(vectors)
    width = model.get_ref("tok2vec").get_dim("nO")
    if flat.size and flat.shape[1] != width:
        raise ValueError(
            f"Token vectors are {flat.shape[1]} wide, and the scorer was made for {width}: give "
            f"its tok2vec (a listener, say) the width of the tok2vec that makes them."
        )
    words = flat if X.rows is None else flat[X.rows]
    tagging = model.maybe_get_ref("tagging")
    d_tagging: Any = None
    if is_train and X.tags is not None and tagging is not None and tagging.attrs["sizes"]:
        d_tagging = learn_tags(tagging, words, X.tags, model.attrs["tag_weight"])
    stretches = numpy.asarray(lengths, "int32") if X.lengths is None else X.lengths
    backprops = []
    for lstm in lstms(model):
        words, backprop_lstm = lstm((words, stretches), is_train)
        backprops.append(backprop_lstm)

    def backprop(d_words: Any) -> list[Doc]:
        for backprop_lstm in reversed(backprops):
            d_words = backprop_lstm(d_words)
        if d_tagging is not None:
            d_words = d_words + d_tagging
        d_flat = d_words
        if X.rows is not None:
            d_flat = model.ops.xp.zeros_like(flat)
            d_flat[X.rows] = d_words
        return backprop_tok2vec(model.ops.unflatten(d_flat, lengths))

    return words, stretches, backprop
