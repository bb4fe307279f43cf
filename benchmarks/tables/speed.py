"""Speed, memory, and the demo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.tables.common import (
    BEAM4,
    GOTHIC,
    NL,
    NM,
    SPACY,
    STOCK,
    SWAP,
    TAUGHT,
    TREEBANKS,
    Rows,
    lead,
    results,
    stock,
    table,
)
from benchmarks.titles import short, title

STAGES = {
    "parse": "parse stage",
    "pipeline": "whole pipeline",
    "processes": "two processes",
    "training": "training",
}
INIT_CONFIG = "spacy_init_config"
TIMED = (
    "nm_parser",
    "swap_parser",
    "swap_parser_beam4",
    "nl_covington_parser",
    BEAM4,
)


def timed(run: str = "", ops: str = "default") -> dict[str, Any]:
    """What was timed in a run: by stage and system. The name of the run: a treebank's, or what
    that of Gothic ends with."""
    name = run if run.startswith("UD_") else f"{GOTHIC}{run}"
    found: dict[str, Any] = results("speed")[name]["results"]["0"][ops]
    return found


def times(stages: dict[str, Any], stage: str, system: str, base: str) -> str:
    """Write how many times as fast as another system (`base`) one is: median (range); empty where a
    beam would be none."""
    if stage == "training" and "_beam" in system:
        return ""
    low, median, high = stages[stage][system]["times"][base]
    return f"{median:.2f} ({low:.2f} to {high:.2f})"


def against(base: str, systems: Sequence[str]) -> Rows:
    """Make a table of times as fast as one of spaCy's parsers, on an otherwise idle machine."""
    yield ["", *STAGES.values()]
    for name in systems:
        yield [title(name), *(times(timed(), stage, name, base) for stage in STAGES)]


@table("speed-init-config")
def _speed_init_config() -> Rows:
    return against(INIT_CONFIG, (*TIMED, STOCK))


@table("speed-rates")
def _speed_rates() -> Rows:
    yield ["words per second", *STAGES.values()]
    for name in (*TIMED, STOCK, INIT_CONFIG):
        row = [title(name)]
        for stage in STAGES:
            beam = stage == "training" and "_beam" in name
            row.append("" if beam else rate(timed()[stage][name]))
        yield row


def rate(one: dict[str, Any]) -> str:
    """Write the median of words per second."""
    return f"{one['words_per_second']['median']:,}"


PAIRED = ("nm_parser", "swap_parser", "nl_covington_parser")
PAIR = {stage: STAGES[stage] for stage in ("parse", "pipeline")}


def paired(run: str, system: str, base: str, what: str) -> Rows:
    """Make a table of times as fast as another system of the same parser, on the idle machine; "{}"
    in a system is the parser."""
    yield [what, *PAIR.values()]
    for name in PAIRED:
        pair = system.format(name), base.format(name)
        yield [title(name), *(times(timed(run), stage, *pair) for stage in PAIR)]


@table("speed-threads")
def _speed_threads() -> Rows:
    return paired("-threads", "{}_threads2", "{}", "two threads, times one")


@table("speed-rounded")
def _speed_rounded() -> Rows:
    return paired("-rounded", "{}", "{}_exact", "rounded, times exact")


WHICH = {
    NM: "speed counts, few arcs cross",
    SWAP: "speed counts, arcs cross",
    NL: "accuracy counts",
    TAUGHT: "the same, a small treebank, and time to train",
}


@table("which-parser", left=2)
def _which_parser() -> Rows:
    header = ["take", "where", *(short(name).split("-")[0] for name in TREEBANKS)]
    yield [*header, "parse stage", "whole pipeline", "training"]
    for name, where in WHICH.items():
        row = [title(name), where]
        row += [lead(treebank, name, stock(treebank), briefly=True) for treebank in TREEBANKS]
        system, kind = name.rsplit("_", 1)
        for stage in ("parse", "pipeline", "training"):
            # a teacher does not change what parsing costs
            known = stage != "training" or kind != "taught"
            row.append(times(timed(), stage, system, INIT_CONFIG).split()[0] if known else "")
        yield row


@table("memory")
def _memory() -> Rows:
    yield ["", "peak, MiB"]
    found = results("memory")["nm_parser"]["results"]
    document, tok2vec, stream = (found[name] for name in ("document", "tok2vec", "stream"))
    first, use = stream["points"][0]
    for what, mib in (
        (f"a document of {tok2vec['words']:,} words, token vectors alone", tok2vec["peak"]),
        ("the same, token vectors and `nm_parser`", document["peak"]),
        (f"documents of {stream['words_per_document']:,} words, after {first:,.0f} words", use),
        (f"the same, after {stream['words']:,} words", stream["peak"]),
    ):
        yield [what, f"{mib:,.0f}"]


@table("demo")
def _demo() -> Rows:
    yield ["", "`nm_parser`", title(SPACY)]
    for what, data, metric in (
        ("LAS of all words, gold tokens and sentences", "gold", "las_all"),
        ("LAS F1 from raw text, CoNLL 2018 evaluation", "raw", "dep_las_conll"),
        ("F1 of sentence boundaries from raw text", "raw", "sents_f"),
    ):
        found = [results("demo")[f"{name}-{data}"] for name in ("nm_parser", SPACY)]
        yield [what, *(f"{100 * one['scores'][metric]:.1f}" for one in found)]
