"""The switch to faster matrix products, for every component of a pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spacy.language import Language
from thinc.api import Model, NumpyOps
from thinc.layers import layernorm

from spacy_nmparse.layers.ops import FastOps, norm_forward
from spacy_nmparse.private import forward_of, set_forward


def use_fast_blas(nlp: Language) -> Language:
    """Give a pipeline's components OpenBLAS' matrix products on one thread, and maxout and layer
    normalization in one pass: those that run on Thinc's NumpyOps. Models on a GPU, on Apple's ops
    or in PyTorch stay as they are. Components that are added later are not reached: call it again.

    Args:
        nlp: the pipeline; it is changed.

    Returns:
        The pipeline.
    """
    ops = FastOps()
    for node in nodes(nlp):
        if type(node.ops) in (NumpyOps, FastOps):
            node.ops = ops
            if forward_of(node) is layernorm.forward:
                set_forward(node, norm_forward)
    return nlp


def nodes(nlp: Language) -> Iterator[Model]:
    """The models of a pipeline's components, disabled ones too, and all their layers."""
    for _, component in nlp.components:
        model: Any = getattr(component, "model", None)
        if isinstance(model, Model):
            yield from model.walk()
