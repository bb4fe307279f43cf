"""The switch to faster matrix products, for every component of a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from spacy.language import Language
from thinc.api import Model, NumpyOps
from thinc.layers import layernorm

from spacy_nmparse.scorers.ops import FastOps, norm_forward


def use_fast_blas(nlp: Language, threads: int = 1) -> Language:
    """Give a pipeline's components NumPy's matrix products, maxout and layer normalization in one
    pass: those that run on Thinc's NumpyOps. Models on a GPU, on Apple's ops or in PyTorch stay as
    they are. Components that are added later are not reached: call it again.

    Args:
        nlp: the pipeline; it is changed.
        threads: threads of NumPy's matrix products, in this process and in those that parse for it
            (``n_process``); 0: as NumPy has it.

    Returns:
        The pipeline.

    Raises:
        ValueError: threads is below 0.
    """
    ops = FastOps(threads=threads)
    for node in nodes(nlp):
        if type(node.ops) in (NumpyOps, FastOps):
            node.ops = ops
            if node._func is layernorm.forward:
                node._func = norm_forward
    return nlp


def nodes(nlp: Language) -> Iterator[Model]:
    """The models of a pipeline's components, disabled ones too, and all their layers."""
    for _, component in nlp._components:
        model: Any = getattr(component, "model", None)
        if isinstance(model, Model):
            yield from model.walk()


def make_callback(threads: int = 1) -> Callable[[Language], Language]:
    """The callback of a config; see ``use_fast_blas``."""

    def switch(nlp: Language) -> Language:
        return use_fast_blas(nlp, threads)

    return switch
