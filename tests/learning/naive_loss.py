"""The loss of a rollout in float64, of any scorer of tests/naive/scorers.py."""

from __future__ import annotations

from typing import Any

import numpy

from spacy_nmparse.systems import Action, Gold
from spacy_nmparse.systems.reach import within


def log_softmax(scores: Any) -> numpy.ndarray:
    scores = numpy.asarray(scores)
    top = scores.max()
    return scores - top - numpy.log(numpy.exp(scores - top).sum())


def naive_loss(
    naive: Any,
    vectors: numpy.ndarray,
    gold: Gold,
    oracle: str,
    explore: bool = False,
    starts: list[int] | None = None,
) -> float:
    """-log P of what the oracle would have done, summed along a path: its likeliest moves or, when
    it explores, the likeliest of all."""
    system, n = naive.system, len(vectors)
    if None in within(gold, system.options.get("max_length") or n)[0].heads:
        oracle = "dynamic"
    naive.read(vectors, starts)
    state = system.initial(n, sent_starts=starts)
    loss = 0.0
    while not state.is_final:
        choices, noted = naive.choices(state), naive.noted(state)
        logs = dict(zip(choices, log_softmax([one.score for one in choices.values()]), strict=True))
        learned: dict[tuple[str, int], list[Any]] = {}
        for action in system.oracle(state, gold, oracle, push_label=noted):
            learned.setdefault(action[:2], []).append(action.label)
        mass = {key: log for key, log in logs.items() if key in learned}
        for key, labels in learned.items():
            if len(labels) < len(choices[key].labels):
                (label,) = labels
                label_logs = log_softmax(choices[key].label_scores())
                mass[key] += label_logs[naive.labels.index(label)]
        loss -= numpy.logaddexp.reduce(list(mass.values()))
        options = logs if explore else mass
        key = list(options)[naive.best(list(options.values()))]
        label = choices[key].labels[0]
        if len(choices[key].labels) > 1:
            one = not explore and len(learned[key]) == 1
            label = learned[key][0] if one else naive.best_of(choices[key].label_scores())
        pushed = noted if noted is None or label is None else label
        system.apply(state, Action(*key, label), push_label=pushed)
    return float(loss)
