"""Speed."""

from __future__ import annotations

from typing import Any

from benchmarks.tables.common import (
    BEAM4,
    ENGLISH,
    GOTHIC,
    NL,
    NM,
    STOCK,
    STOCK_LONG,
    SWAP,
    TREEBANKS,
    Rows,
    lead,
    results,
    table,
)
from benchmarks.titles import short, title

STAGES = {"parse": "parse stage", "pipeline": "whole pipeline", "training": "training"}
#: The classes of processors with tables, and how the pages call them.
CLASSES = {"avx2": "AVX2", "avx512-vnni": "AVX-512"}
INIT_CONFIG = "spacy_init_config"
TIMED = ("nm_parser", "swap_parser", "swap_parser_beam4", "nl_covington_parser", BEAM4)


def timed(kind: str, run: str = f"{GOTHIC}-sentence") -> dict[str, Any]:
    """What was timed in a run on the idle machine: by stage and system. Raises a ValueError if the
    run is of another class of processors."""
    result = results("speed")[f"{run}-{kind}"]
    if result["machine"]["class"] != kind:
        raise ValueError(f"{run}-{kind} was measured in the class {result['machine']['class']}.")
    found: dict[str, Any] = result["results"]["0"]["default"]
    return found


def times(stages: dict[str, Any], stage: str, system: str, base: str) -> str:
    """Write how many times as fast as another system (`base`) one is: median (range); empty where a
    beam would be none."""
    if stage == "training" and "_beam" in system:
        return ""
    low, median, high = stages[stage][system]["times"][base]
    return f"{median:.2f} ({low:.2f} to {high:.2f})"


COLUMNS = [(stage, kind) for stage in STAGES for kind in CLASSES]
HEADER = [f"{STAGES[stage]}, {CLASSES[kind]}" for stage, kind in COLUMNS]


@table("speed-init-config")
def _speed_init_config() -> Rows:
    yield ["", *HEADER]
    for name in (*TIMED, STOCK):
        yield [title(name), *(times(timed(kind), s, name, INIT_CONFIG) for s, kind in COLUMNS)]


@table("speed-rates")
def _speed_rates() -> Rows:
    yield ["words per second", *HEADER]
    for name in (*TIMED, STOCK, INIT_CONFIG):
        row = [title(name)]
        for stage, kind in COLUMNS:
            median = timed(kind)[stage][name]["words_per_second"]["median"]
            row.append("" if stage == "training" and "_beam" in name else f"{median:,}")
        yield row


@table("speed-others", left=2)
def _speed_others() -> Rows:
    yield ["times `spacy init config`'s", "", *HEADER]
    for treebank, unit in ((GOTHIC, "doc"), (ENGLISH, "sentence")):
        what = "documents" if unit == "doc" else "sentences"
        for name in PAIRED:
            row = [f"{short(treebank)}, {what}", title(name)]
            for stage, kind in COLUMNS:
                run = timed(kind, f"{treebank}-{unit}")
                row.append(times(run, stage, name, INIT_CONFIG).split()[0])
            yield row


PAIRED = ("nm_parser", "swap_parser", "nl_covington_parser")
PAIR = {stage: STAGES[stage] for stage in ("parse", "pipeline")}


@table("speed-threads")
def _speed_threads() -> Rows:
    yield ["two threads, times one", *PAIR.values()]
    stages = timed("avx512-vnni", f"{GOTHIC}-threads")
    for name in PAIRED:
        yield [title(name), *(times(stages, stage, f"{name}_threads2", name) for stage in PAIR)]


WHICH = {
    NM: "speed counts, few arcs cross",
    SWAP: "speed counts, arcs cross",
    NL: "accuracy counts",
}


@table("which-parser", left=2)
def _which_parser() -> Rows:
    header = ["take", "where", *(short(name).split("-")[0] for name in TREEBANKS)]
    columns = [("pipeline", "avx2"), ("pipeline", "avx512-vnni"), ("training", "avx2")]
    yield [*header, *(f"{STAGES[stage]}, {CLASSES[kind]}" for stage, kind in columns)]
    for name, where in WHICH.items():
        row = [title(name), where]
        row += [lead(treebank, name, STOCK_LONG, briefly=True) for treebank in TREEBANKS]
        system = name.removesuffix("_long")
        for stage, kind in columns:
            row.append(times(timed(kind), stage, system, INIT_CONFIG).split()[0])
        yield row
