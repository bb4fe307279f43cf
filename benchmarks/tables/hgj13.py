"""Non-monotonic moves with the linear learner and with the neural one, side by side."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from benchmarks.formats import page_table
from benchmarks.summary import COUNTS
from benchmarks.tables.common import (
    GOTHIC,
    HUNGARIAN,
    comparison,
    entry,
    mean,
    results,
    score,
    table,
)
from benchmarks.titles import difference, probability, short

#: Name, system and oracle of each row.
ROWS = (
    ("monotonic", "monotonic", "dynamic"),
    ("left_combined", "L", "combined"),
    ("reduce_combined", "D", "combined"),
    ("both_combined", "L+D", "combined"),
    ("left", "L", "dynamic"),
    ("reduce", "D", "dynamic"),
    ("left_reduce", "L+D", "dynamic"),
    ("monotonic_static", "monotonic", "static"),
    ("left_static", "L", "static"),
    ("reduce_static", "D", "static"),
    ("both_static", "L+D", "static"),
)
TREEBANKS = (GOTHIC, HUNGARIAN)


def _trained(treebank: str) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """The rows that have runs with the linear learner: name, system, oracle, summary."""
    for name, system, oracle in ROWS:
        one = entry(treebank, f"linear_{name}", "variants")
        if one is not None:
            yield name, system, oracle, one


def _against_monotonic(treebank: str, name: str, prefix: str, split: str) -> str:
    """The difference in UAS from the monotonic parser by the dynamic oracle, and how sure it is."""
    if name == "monotonic" or entry(treebank, f"{prefix}{name}", "variants") is None:
        return ""
    names = (f"{prefix}{name}", f"{prefix}monotonic")
    found = comparison(treebank, *names, metric="uas_all", split=split, benchmark="variants")
    interval = f"({found['low']:.2f} to {found['high']:.2f})"
    p = probability(found["p_bootstrap"]), probability(found["p_wilcoxon"])
    return f"{found['difference']:+.2f} {interval}, {p[0]}; Wilcoxon {p[1]}"


@table("hgj13-linear")
def _linear() -> str:
    rows = []
    for treebank in TREEBANKS:
        for name, system, oracle, one in _trained(treebank):
            exact = statistics.fmean(one["dev"]["exact_heads"]["seeds"])
            row = [short(treebank), system, oracle, str(len(one["seeds"]))]
            row += [score(one, metric, "dev") for metric in ("uas_all", "las_all")]
            row += [mean(one, metric, "dev") for metric in ("uas_words", "las_words")]
            row += [f"{100 * exact:.1f}", _against_monotonic(treebank, name, "linear_", "dev")]
            rows.append([*row, _against_monotonic(treebank, name, "", "dev")])
    header = ["treebank", "", "oracle", "seeds", "UAS", "LAS", "UAS, no punct.", "LAS, no punct."]
    header += ["sentences", "UAS against monotonic", "the same, neural"]
    return page_table(header, rows, left=3)


@table("hgj13-beam")
def _beam() -> str:
    rows = []
    for treebank in TREEBANKS:
        for name, system, oracle in ROWS:
            one = entry(treebank, f"linear_{name}_beam", "variants")
            if one is None:
                continue
            row = [short(treebank), system, oracle, str(len(one["seeds"]))]
            for split in ("dev", "test"):
                row += [score(one, metric, split) for metric in ("uas_all", "las_all")]
                against = ""
                if name != "monotonic":
                    names = (f"linear_{name}_beam", "linear_monotonic_beam")
                    found = comparison(treebank, *names, "uas_all", split, "variants")
                    against = difference(found)
                row.append(against)
            rows.append(row)
    header = ["treebank", "", "oracle", "seeds"]
    for split in ("dev", "test"):
        header += [f"UAS, {split}", f"LAS, {split}", f"UAS against monotonic, {split}"]
    return page_table(header, rows, left=3)


@table("linear-speed")
def _speed() -> str:
    rows = []
    for name, one in results("perceptron").items():
        neural = entry(one["treebank"], "nm_parser")
        row = [short(one["treebank"]), name.rpartition("-")[2]]
        row += [f"{100 * one['scores'][metric]:.2f}" for metric in ("uas_all", "las_all")]
        row += [mean(neural, metric, "dev") if neural else "" for metric in ("uas_all", "las_all")]
        row += [f"{one[unit]:,}" for unit in ("sentences_per_second", "words_per_second")]
        rows.append([*row, f"{one['training_seconds']:.0f}"])
    header = ["treebank, dev", "tags", "UAS", "LAS", "UAS, neural", "LAS, neural"]
    header += ["sentences a second", "words a second", "seconds of training"]
    return page_table(header, rows, left=2)


@table("hgj13-linear-test")
def _test() -> str:
    rows = []
    for treebank in TREEBANKS:
        for name, system, oracle, one in _trained(treebank):
            if oracle == "combined" or name == "monotonic":
                row = [short(treebank), system, str(len(one["seeds"]))]
                row += [score(one, metric, "test") for metric in ("uas_all", "las_all")]
                row += [mean(one, metric, "test") for metric in ("uas_words", "las_words")]
                rows.append([*row, _against_monotonic(treebank, name, "linear_", "test")])
    header = ["treebank", "", "seeds", "UAS", "LAS", "UAS, no punct.", "LAS, no punct."]
    return page_table([*header, "UAS against monotonic"], rows, left=2)


@table("hgj13-linear-moves")
def _moves() -> str:
    rows = []
    for treebank in TREEBANKS:
        for name in ("both_combined", "left_reduce"):
            for learner, prefix in (("linear", "linear_"), ("neural", "")):
                one = entry(treebank, f"{prefix}{name}", "variants")
                oracle = "combined" if name == "both_combined" else "dynamic"
                for move, total in one["moves"]["repairs"].items() if one else ():
                    seeds = one["moves"]["seeds"] if one else 1
                    row = [short(treebank), oracle, learner, move]
                    rows.append([*row, *(f"{total[count] / seeds:,.0f}" for count in COUNTS)])
    header = ["treebank", "oracle", "learner", "move", *map(str.upper, COUNTS[:4]), *COUNTS[4:]]
    return page_table(header, rows, left=4)
