"""What the functions of the compiled modules take, for arguments.py: by the parameter's name, or by
``module:name`` where modules mean different things by one name. What is together in a world is of
one system, one document, one batch."""

from __future__ import annotations

import random
from typing import Any

import numpy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse import systems
from spacy_nmparse.analysis.tracer import Tracer
from spacy_nmparse.lab.linear.templates import Templates
from spacy_nmparse.layers.maxout_norm import MaxoutNorm
from spacy_nmparse.layers.products import Rows, Weights
from spacy_nmparse.pipe.doc_io import parsed_tokens
from spacy_nmparse.scorers.features import Features
from spacy_nmparse.scorers.hidden_layer import Layer
from spacy_nmparse.scorers.shared import ScorerInput
from spacy_nmparse.scorers.tree_scores import TreeScores
from spacy_nmparse.scorers.word_rows import WordRows
from spacy_nmparse.search.hypotheses import Beam
from spacy_nmparse.systems import Gold, TransitionSystem
from tests.lab.linear import LINEAR
from tests.pipe.common import SYSTEMS, TWO_PLANAR, parser_of, random_heads, random_parser

PARSERS = (
    *("arc-eager", "labelled reduce", "root first", "buffer arcs", "swap", "arc-swift"),
    *("nl", "nl nonmonotonic", "covington", "covington short"),
)


def parser_worlds() -> list[dict[str, Any]]:
    """One for each of some parsers."""
    configs = [SYSTEMS[name] for name in PARSERS] + [TWO_PLANAR]
    configs += [{"factory": "nm_parser", "model": {**LINEAR, "learner": "perceptron"}}]
    return [
        _parser_world(random_parser(seed, **config), 1 + 3 * (seed % 3))
        for seed, config in enumerate(configs)
    ]


def _parser_world(nlp: Any, n: int) -> dict[str, Any]:
    parser = parser_of(nlp)
    rng = random.Random(n)
    words = [rng.choice(["She", "saw", "the", "cat"]) for _ in range(n)]
    doc = Doc(nlp.vocab, words=[*words, " "])
    tokens, constraints, ends = parsed_tokens([doc])
    batch = ScorerInput([doc], tokens, numpy.asarray([n], "int32"))
    scored = parser.model.predict(batch)
    system = parser.system
    state = system.initial(n)
    for _ in range(rng.randint(0, 2 * n)):
        if not state.is_final:
            system.apply(state, rng.choice(system.actions(state)))
    heads = random_heads(n, rng)
    labels = system.labels and [rng.choice([*system.labels, None]) for _ in range(n)]
    gold = Gold([rng.choice([head, head, None]) for head in heads], labels)
    known = Doc(nlp.vocab, words=words, heads=heads, deps=["dep"] * n)
    return {
        **_made_by_layers(system),
        "system": system,
        "labels": ("a", "b"),
        "scored": scored,
        "teachers": [parser.model.predict(batch)],
        "lengths": [n],
        "constraints": constraints,
        "probabilities": numpy.zeros((2, n), "float32"),
        "gold": gold,
        "given": [gold],
        "state": state,
        "before": state.copy(),
        "after": system.initial(n),
        "action": rng.choice(system.actions(state) or [None]),
        "oracle": rng.choice(system.oracles),
        "update": rng.choice(["max_violation", "early_update", "latent"]),
        "choose": lambda here: (system.actions(here)[0], None),
        "n": n,
        "max_words": n,
        "most": 4,
        "offset": 0,
        "width": 3,
        "reach": 2,
        "seed": 1,
        "explore": 0.5,
        "dropout": 0.2,
        "weight": 0.5,
        "gap": 5.0,
        "heads": heads,
        "sent_starts": [0] * n,
        "tracer": Tracer(system, scored, n),
        "beam": Beam(system, scored, 2, n),
        "other_system": systems.create("arc_eager", ("a", "b"), nonmonotonic_left=True),
        "doc": doc,
        "docs": [doc],
        "words": [word.text for word in doc],
        "known": known,
        "example": Example(doc, known),
        "tokens": tokens,
        "ends": ends,
        "pipe.doc_io:heads": numpy.asarray(heads, "int32"),
        "pipe.doc_io:labels": numpy.zeros(n, "int32"),
        "pipe.doc_io:starts": numpy.zeros(n, "int8"),
        "pipe.doc_io:names": ["a", "ROOT", ""],
        "pipe.doc_io:fields": numpy.zeros((n, 3), "uint64"),
        "name": "dynamic",
        "options": {},
    }


def _made_by_layers(system: TransitionSystem) -> dict[str, Any]:
    """Parts of scorers, of 2 pieces and a width of 4, over 3 words."""
    features = Features(["S0", "B0", "S0.h", "S0*B0", "S0.label", "S0-B0.distance"])
    n_values = sum(features.fact_sizes(len(system.label_names)))
    weights = {
        "pad_rows": _floats(features.n_slots, 2, 8),
        "fact_rows": _floats(n_values, 8),
        "bias": _floats(8),
        "word_W": _floats(8 * features.n_slots, 6),
        "move_W": _floats(len(system.moves), 4),
        "move_b": _floats(len(system.moves)),
        "label_W": _floats(1, len(system.label_names), 4),
        "label_b": _floats(1, len(system.label_names)),
        "arc_U": _floats(2, 5, 5),
        "root": _floats(5),
    }
    layer = Layer(features, len(system.label_names), weights, 2)
    templates = Templates(["S0.word", "B0.word*S0.tag", "S0-B0.distance"])
    words = numpy.arange(3, dtype="uint64")
    table = numpy.zeros(2**6 + len(system.moves), "float32")
    return {
        "scorers.features:names": ["S0", "B0.l1", "S0.label"],
        "scorers.arc_scorer_kernel:features": {
            "context": features,
            "pair": features,
            "label": features,
        },
        "features": features,
        "n_labels": len(system.label_names),
        "scorers.hidden_layer:weights": weights,
        "scorers.state_scorer_kernel:weights": weights,
        "scorers.arc_scorer_kernel:weights": weights,
        "scorers.tree_scores:weights": weights,
        "scorers.tree_scores:items": _floats(3, 2, 5),
        "scorers.tree_scores:lengths": numpy.asarray([1, 2], "int32"),
        "scorers.word_rows:weights": weights["word_W"],
        "shapes": {"bias": (8,)},
        "vectors": _floats(3, 6),
        "pieces": 2,
        "layer": layer,
        "layers": [layer],
        "rows_of_words": WordRows(_floats(3, 6), weights["word_W"], [layer]),
        "tree": TreeScores(_floats(3, 2, 5), numpy.asarray([1, 2], "int32"), weights, 1.0),
        "n_pairs": 3,
        "sums_items": True,
        "scorers.tag_gradient:scores": _floats(3, 5),
        "tags": numpy.zeros((3, 2), "int32"),
        "sizes": [2, 3],
        "weight": 0.5,
        "templates": templates,
        "lab.linear.templates:names": ["S0.word", "B0.word"],
        "lab.linear.kernel:words": words,
        "lab.linear.kernel:tags": words,
        "lab.linear.templates:words": words,
        "lab.linear.templates:tags": words,
        "lab.linear.kernel:weights": table,
        "totals": table.astype("float64"),
        "bits": 6,
        "time": 1,
    }


def _floats(*shape: int) -> numpy.ndarray:
    return numpy.random.default_rng(0).normal(size=shape).astype("float32")


def layer_world(seed: int) -> dict[str, Any]:
    """Arguments of layers, over 5 words: 3 and 2."""
    width = 1 + seed
    windows = seed % 2
    W = _floats(2 * width, width * (1 + 2 * windows))
    weights = Weights(W, 2, True)
    lengths = numpy.asarray([3, 2], "int32")
    b, gain, shift = _floats(2 * width), _floats(width), _floats(width)
    window = 1 if windows else -1
    layer = MaxoutNorm((W, b, gain, shift), weights, lengths, window)
    X = _floats(5 + windows, width)
    dY = layer.forward(X, True)
    sru, place = "layers.sru_kernels:", "layers.table_rows:"
    return {
        "layers.maxout_norm:lengths": lengths,
        "W": W,
        "weights": weights,
        "gain": gain,
        "bias": shift,
        "window": window,
        "mixer": layer,
        "X": X,
        "dY": dY,
        "learn": True,
        "rows_ready": Rows(X, weights),
        "ready": None,
        "A": X,
        "B": X.T.copy(),
        "out": None,
        "parts": None,
        "windows": 1,
        "arrays": [X],
        f"{sru}gates": _floats(5, 2, 3 * width),
        f"{sru}biases": _floats(6 * width),
        f"{sru}loops": _floats(2, 2 * width),
        f"{sru}lengths": lengths,
        f"{sru}hidden": _floats(5, 2 * width),
        f"{sru}cells": _floats(5, 2, width),
        f"{sru}d_hidden": _floats(5, 2, width),
        f"{sru}values": _floats(5, width),
        "rate": 0.5,
        "inputs": X,
        "layers.ops_kernels:inputs": X,
        "d_outputs": X,
        "shrink": _floats(5 + windows, 2),
        "table": X,
        "keys": numpy.zeros((4, 2), "int32"),
        f"{place}numbers": numpy.arange(10, dtype="uint64").reshape(5, 2),
        f"{place}sizes": [7, 8],
        f"{place}tables": [_floats(7, width), _floats(8, width)],
        f"{place}rows": numpy.full((2, 5, 4), 6, "int32"),
        f"{place}values": _floats(5, 2 * width),
        "prefixes": [1, 3],
        "suffixes": [2],
        "by_text": True,
        "key": (1, "W"),
        "gradient": _floats(*W.shape),
    }
