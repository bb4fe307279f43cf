"""What loading weights must not change: layers, references, and the parameters' shapes."""

from __future__ import annotations

from collections.abc import Sequence

from thinc.api import Model

from spacy_nmparse.layers import sru
from spacy_nmparse.scorers import tagging
from spacy_nmparse.scorers.hooks import check_parameter, hooks_of
from spacy_nmparse.scorers.words import recurrent_layers

#: Sizes of the parameters of Thinc's and spaCy's layers that a tok2vec is made of, by the names of
#: the parameters, and nP where a layer has pieces. Layers that are not here look for themselves.
LAYOUTS: dict[tuple[str, ...], dict[str, tuple[str, ...]]] = {
    ("E",): {"E": ("nV", "nO")},
    ("G", "b"): {"G": ("nO",), "b": ("nO",)},
    ("W", "b"): {"W": ("nO", "nI"), "b": ("nO",)},
    ("W", "b", "nP"): {"W": ("nO", "nP", "nI"), "b": ("nO", "nP")},
    ("W",): {"W": ("nO", "nM")},
}


def layout(model: Model) -> list[tuple[str, list[str]]]:
    """What loading weights must not change: of each node the names of its references, and its
    own, if it is a layer of this package."""
    return [(node.name if is_own(node) else "", sorted(node.ref_names)) for node in model.walk()]


def is_own(node: Model) -> bool:
    """Whether the node is a scorer, or a layer of this package, and no chain of layers."""
    return "hooks" in node.attrs or (node.name.startswith("nmparse_") and ">>" not in node.name)


def check_weights(model: Model, tag_sizes: Sequence[int]) -> None:
    """Raise ValueError where a parameter of an initialized scorer or of a layer beneath it is
    missing, is not float32, or does not have the shape that the system, the layers' sizes and
    the sizes of the tags' attributes ask for: layers do not look when they run, and would read
    beyond the end."""
    hooks_of(model).check_weights(model)
    if not any(model.has_param(name) for name in model.param_names):
        return
    for node in model.walk():
        if any(node is model.maybe_get_ref(name) for name in tagging.REFERENCES):
            for name, shape in tagging.shapes(node, tag_sizes).items():
                check_parameter(node, name, shape)
            continue
        for name in node.param_names:
            if not node.has_param(name):
                raise ValueError(f"weights {name} of the layer {node.name} are missing")
        if node is model:
            continue
        if node in recurrent_layers(model):
            for name, shape in sru.shapes(node).items():
                check_parameter(node, name, shape)
            continue
        sizes = {dim: node.get_dim(dim) for dim in node.dim_names if node.has_dim(dim)}
        kind = (*node.param_names, *(["nP"] if "nP" in sizes else []))
        for name, dims in LAYOUTS.get(kind, {}).items():
            if all(dim in sizes for dim in dims):
                check_parameter(node, name, tuple(sizes[dim] for dim in dims))
