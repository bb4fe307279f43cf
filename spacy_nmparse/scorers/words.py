"""The vectors of words that scorers start from: token vectors and, if wanted, recurrent layers.

A convolutional tok2vec sees a few words to either side; a recurrent layer sees the whole sequence.
The input of each recurrent layer is the token vectors and the outputs of the layers below it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy
from spacy.tokens import Doc
from thinc.api import Model, to_numpy

from spacy_nmparse.layers.blas import matmul
from spacy_nmparse.layers.parameters import check_least, is_finite
from spacy_nmparse.layers.products import packed
from spacy_nmparse.layers.sru import BiSRU, not_trained, run_layers
from spacy_nmparse.scorers.shared import Gradients, ScorerInput, recurrent_layers
from spacy_nmparse.scorers.tagging import Tagging, learn_readings, learn_values
from spacy_nmparse.scorers.tags import REFERENCES


def build_words(
    name: str, tok2vec: Model, width: int, depth: int, tag_weight: float
) -> dict[str, Any]:
    """Build what a scorer knows its words by: the arguments ``layers`` and ``refs`` of its model.

    Args:
        name: the scorer's, for messages.
        tok2vec: the model of the token vectors.
        width: units in each direction of each recurrent layer; 0 for none.
        depth: how many recurrent layers.
        tag_weight: weight of the loss of tags; 0: they are not learned.

    Raises:
        ValueError: a width or weight below 0, or a depth below 1.
    """
    check_least(name, 0, recurrent_width=width, tag_weight=tag_weight)
    check_least(name, 1, recurrent_depth=depth)
    recurrent = [BiSRU(width) for _ in range(depth)] if width else []
    tags = {reference: Tagging() if tag_weight else None for reference in REFERENCES}
    layers = [tok2vec, *recurrent, *(layer for layer in tags.values() if layer is not None)]
    return {"layers": layers, "refs": {"tok2vec": tok2vec, **tags}}


def init_words(model: Model, X: ScorerInput | None) -> int:
    """Initialize a scorer's tok2vec, recurrent layers and tagging (refs "tok2vec" and "tagging";
    the latter may be None).

    Returns the width of what ``run_words`` gives.
    """
    tok2vec = model.get_ref("tok2vec")
    tok2vec.initialize(X=None if X is None else X.docs)
    widths = [tok2vec.get_dim("nO")]
    for layer in recurrent_layers(model):
        layer.set_dim("nI", widths[-1])
        layer.initialize()
        widths.append(widths[-1] + 2 * layer.get_dim("nH"))
    for name, width in (("tagging", widths[0]), ("reading", widths[:2][-1])):
        tagging = model.maybe_get_ref(name)
        if tagging is not None:
            tagging.set_dim("nI", width)
            tagging.initialize()
    return widths[-1]


def run_words(
    model: Model, X: ScorerInput, is_train: bool, tops: Sequence[str]
) -> tuple[Any, list[Any], numpy.ndarray, numpy.ndarray | None, Callable[[Any], list[Doc]]]:
    """Run a scorer's tok2vec and recurrent layers, and multiply what they say by weights. In
    training, learn from tags where there are any; else score their values where they are wanted.

    Args:
        model: the scorer.
        X: what to parse.
        is_train: whether it will be back-propagated.
        tops: names of parameters (outputs, width).

    Returns:
        words: float32 (words, width), one row for each parsed word, in training; else None.
        products: of each of ``tops``: float32 (words, outputs).
        lengths: int32, words of each stretch that surely begins and ends a sentence.
        tag_scores: float32 (words, values of all attributes), if they are wanted, or None.
        backprop: takes the gradient of words, returns what tok2vec's backward pass does.

    Raises:
        ValueError: a document does not have one vector for each of its tokens, or vectors are not
            as wide as those that the scorer was made for.
        FloatingPointError: in training, a vector is infinite, or no number.
    """
    vectors, backprop_tok2vec = model.get_ref("tok2vec")(X.docs, is_train)
    lengths: Any = [v.shape[0] for v in vectors]
    flat: Any = model.ops.flatten(vectors)
    _check_vectors(X.docs, lengths, flat, model.get_ref("tok2vec").get_dim("nO"))
    if is_train and not is_finite(flat):
        raise FloatingPointError("token vectors are infinite, or no numbers")
    words = flat if X.rows is None else flat[X.rows]
    stretches = numpy.asarray(lengths, "int32") if X.lengths is None else X.lengths
    layers = recurrent_layers(model)
    weights = [model.get_param(name) for name in tops]
    if not is_train:
        reading = model.get_ref("reading") if X.wants_tags else None
        below = 0 if reading is None else reading.get_dim("nI")
        known, products = run_layers(layers, words, stretches, weights, below)
        tag_scores = None if reading is None else to_numpy(reading.predict(known))
        return None, products, stretches, tag_scores, not_trained
    steps: list[Callable[[Any], Step]] = [partial(_run_layer, layer, stretches) for layer in layers]
    steps.insert(0, partial(_learn_tags, learn_values, "tagging", model, X))
    steps.insert(2, partial(_learn_tags, learn_readings, "reading", model, X))
    backprops = []
    for step in steps:
        words, backprop_step = step(words)
        backprops.append(backprop_step)

    def backprop(d_words: Any) -> list[Doc]:
        for backprop_step in reversed(backprops):
            d_words = backprop_step(d_words)
        d_flat = d_words
        if X.rows is not None:
            d_flat = model.ops.xp.zeros_like(flat)
            d_flat[X.rows] = d_words
        return backprop_tok2vec(model.ops.unflatten(d_flat, lengths))

    products = [packed(W).times(words) for W in weights]
    return words, products, stretches, None, backprop


def _check_vectors(docs: Sequence[Doc], lengths: Sequence[int], flat: Any, width: int) -> None:
    """Raise ValueError where tokens do not have one vector each, or one of another width."""
    for doc, n_vectors in zip(docs, lengths, strict=True):
        if n_vectors != len(doc):
            raise ValueError(
                f"The document {doc.text!r:.80} has {len(doc)} tokens, but {n_vectors} token "
                f"vectors: run tok2vec after the components that merge or split tokens."
            )
    if flat.size and flat.shape[1] != width:
        raise ValueError(
            f"Token vectors are {flat.shape[1]} wide, and the scorer was made for {width}: give "
            f"its tok2vec (a listener, say) the width of the tok2vec that makes them."
        )


def project(
    model: Model, words: Any, projected: Any
) -> tuple[numpy.ndarray, Callable[[Gradients], Any]]:
    """Project words (``project_W``, ``project_b``) to what a scorer's hidden layers see of them.

    Args:
        model: the scorer.
        words: float32 (words, nI); only for the gradients.
        projected: float32 (words, nV): their products by ``project_W``; the bias is added to them.

    Returns:
        projected, on the CPU; and what takes the gradients of a rollout, adds them to those of the
        scorer's parameters, and gives the gradient of words.
    """
    projected += model.get_param("project_b")

    def backprop(d: Gradients) -> Any:
        d_rows: Any = model.ops.xp.asarray(d.word_rows)
        d_projected = matmul(d_rows, model.get_param("word_W"))
        model.inc_grad("word_W", matmul(d_rows.T, projected))
        model.inc_grad("project_W", matmul(d_projected.T, words))
        model.inc_grad("project_b", d_projected.sum(axis=0))
        for name, gradient in d.weights.items():
            model.inc_grad(name, model.ops.xp.asarray(gradient))
        return matmul(d_projected, model.get_param("project_W"))

    return to_numpy(projected), backprop


#: What a step gives: words, and the gradient of those that it took, given that of these.
Step = tuple[Any, Callable[[Any], Any]]


def _run_layer(layer: Model, stretches: numpy.ndarray, words: Any) -> Step:
    """A recurrent layer."""
    return layer((words, stretches), True)


def _learn_tags(
    learn: Callable[..., Any], reference: str, model: Model, X: ScorerInput, words: Any
) -> Step:
    """Learn tags from words, which stay as they are."""
    if X.tags is None:
        return words, lambda d_words: d_words
    d_tags = learn(model.get_ref(reference), words, X.tags, model.attrs["tag_weight"])
    return words, lambda d_words: d_words + d_tags
