"""Checks of loaded weights: a file may change the parameters' numbers, but not the layers, their
references and attributes, or the parameters' shapes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from thinc.api import Model

from spacy_nmparse.layers import seen_words, treebanks
from spacy_nmparse.layers.parameters import SHAPES, is_finite
from spacy_nmparse.scorers import tags
from spacy_nmparse.scorers.hooks import Hooks, check_parameter, hooks_of

#: Sizes of the parameters of Thinc's and spaCy's layers that a tok2vec is made of, by the names of
#: the parameters, and nP where a layer has pieces, nC where it looks at characters. Layers that are
#: not here look for themselves.
LAYOUTS: dict[tuple[str, ...], dict[str, tuple[str, ...]]] = {
    ("E",): {"E": ("nV", "nO")},
    ("E", "nC"): {"E": ("nC", "nV", "nM")},
    ("G", "b"): {"G": ("nO",), "b": ("nO",)},
    ("W", "b"): {"W": ("nO", "nI"), "b": ("nO",)},
    ("W", "b", "nP"): {"W": ("nO", "nP", "nI"), "b": ("nO", "nP")},
    ("W",): {"W": ("nO", "nM")},
}


#: Attributes that are numbers: their least and greatest values. What was saved holds, whatever the
#: configuration says.
RANGES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("dropout_rate", "word_dropout"), (0.0, 1.0)),
    **dict.fromkeys(("dropout_factor", "tag_weight", "tree_weight"), (0.0, sys.float_info.max)),
    "seed": (0, 2**32 - 1),
}
#: Attributes that the weights of a layer are made for: those of the configuration.
FIXED = ("column", "columns", "key_attr", "pad", "prefixes", "suffixes", "window_size")
#: Attributes that keep their type.
SAME_KIND = ("is_enabled", "known_words")


@dataclass(frozen=True)
class Node:
    """The parts of a layer that loading weights must not change.

    Attributes:
        name: Its name, if it is a layer of this package.
        references: The names of its references, and which layers they are, if it is.
        attributes: Its attributes, of which some may change.
    """

    name: str
    references: list[Any]
    attributes: dict[str, Any]


def layout(model: Model) -> list[Node]:
    """The layers of a model, before it loads weights."""
    nodes = list(model.walk())
    return [_layout_of(node, nodes) for node in nodes]


def _layout_of(node: Model, nodes: Sequence[Model]) -> Node:
    references: list[Any] = sorted(node.ref_names)
    if is_own(node):
        targets = [node.maybe_get_ref(name) for name in references]
        references += [next((i for i, one in enumerate(nodes) if one is t), None) for t in targets]
    return Node(node.name if is_own(node) else "", references, dict(node.attrs))


def check_layout(model: Model, before: Sequence[Node]) -> None:
    """Raise ValueError where loading weights has changed what it must not change.

    Args:
        model: The model with its weights.
        before: Its layout without them.
    """
    for now, old, node in zip(layout(model), before, model.walk(), strict=True):
        if (now.name, now.references) != (old.name, old.references):
            raise ValueError("its layers have other names")
        hooks = old.attributes.get("hooks")
        ranges = {**RANGES, **hooks.ranges} if isinstance(hooks, Hooks) else RANGES
        for name, value in now.attributes.items():
            if not _fits(name, value, old.attributes.get(name), bool(old.name), ranges):
                raise ValueError(
                    f"the attribute {name} of the layer {node.name} cannot be {value!r:.80}"
                )
        if seen_words.SEEN in old.attributes:
            seen_words.check(node.attrs)
            treebanks.check(node.attrs[treebanks.NAME])


def _fits(
    name: str, value: Any, before: Any, is_own: bool, ranges: Mapping[str, tuple[float, float]]
) -> bool:
    """Whether loading weights may change an attribute like this. Those of other packages' layers
    may change as they like, but for those that Thinc's layers have."""
    if name in ranges and not value is before is None:
        low, high = ranges[name]
        whole = isinstance(low, float) or isinstance(value, Integral)
        return _kind(value) is Real and whole and low <= value <= high
    if before is None or not (is_own or name in FIXED or name in SAME_KIND):
        return True
    return _kind(value) is _kind(before) and (name not in FIXED or _plain(value) == _plain(before))


def _kind(value: Any) -> type:
    """Its type, as files tell types apart."""
    return Real if isinstance(value, Real) and not isinstance(value, bool) else type(_plain(value))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def is_own(node: Model) -> bool:
    """Whether the node is a scorer, or a layer of this package, and no chain of layers."""
    return "hooks" in node.attrs or (node.name.startswith("nmparse_") and ">>" not in node.name)


def check_finite(model: Model) -> None:
    """Raise FloatingPointError where a weight is infinite, or no number."""
    for node in model.walk():
        for name in node.param_names:
            if node.has_param(name) and not is_finite(node.get_param(name)):
                raise FloatingPointError(
                    f"weights {name} of the layer {node.name} are infinite, or no numbers"
                )


def check_weights(model: Model, tag_sizes: Sequence[int]) -> None:
    """Raise ValueError where a parameter of an initialized scorer or of a layer beneath it is
    missing, is not float32, or does not have the shape that the system, the layers' sizes and
    the sizes of the tags' attributes ask for: layers do not look when they run, and would read
    beyond the end."""
    hooks_of(model).check_weights(model)
    if not any(model.has_param(name) for name in model.param_names):
        return
    for node in model.walk():
        if any(node is model.maybe_get_ref(name) for name in tags.REFERENCES):
            for name, shape in tags.shapes(node, tag_sizes).items():
                check_parameter(node, name, shape)
            continue
        for name in node.param_names:
            if not node.has_param(name):
                raise ValueError(f"weights {name} of the layer {node.name} are missing")
        if node is model:
            continue
        if node.name in SHAPES:
            for name, shape in SHAPES[node.name](node).items():
                check_parameter(node, name, shape)
            continue
        sizes = {dim: node.get_dim(dim) for dim in node.dim_names if node.has_dim(dim)}
        kind = (*node.param_names, *(dim for dim in ("nP", "nC") if dim in sizes))
        for name, dims in LAYOUTS.get(kind, {}).items():
            if all(dim in sizes for dim in dims):
                check_parameter(node, name, tuple(sizes[dim] for dim in dims))
