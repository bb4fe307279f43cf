"""Speed, memory, and the demo."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.formats import page_table
from benchmarks.tables.common import (
    BEAM4,
    ENGLISH,
    GOTHIC,
    NL,
    NM,
    SPACY,
    STOCK,
    SWAP,
    TAUGHT,
    TREEBANKS,
    grouped,
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
LOADS = {"0": "idle", "1": "one process busy"}


def times(stage: str, system: str, base: str, *, load: str = "0", ops: str = "default") -> str:
    """Write how many times as fast as one of spaCy's parsers (`base`, with the products as
    installed) a system is on Gothic: median (range); empty where a beam would be none."""
    if stage == "training" and "_beam" in system:
        return ""
    own = results("speed")[GOTHIC]["results"][load][ops][stage][system]
    low, median, high = own["times"][base]
    return f"{median:.2f} ({low:.2f} to {high:.2f})"


def speed_table(base: str, systems: Sequence[str], ops: str = "default") -> str:
    """Make a table of times as fast as one of spaCy's parsers, by load."""
    rows = [
        [title(name), LOADS[load], *(times(s, name, base, load=load, ops=ops) for s in STAGES)]
        for name in systems
        for load in LOADS
    ]
    return page_table(["", "machine", *STAGES.values()], grouped(rows), left=2)


@table("speed-init-config")
def _speed_init_config() -> str:
    return speed_table(INIT_CONFIG, (*TIMED, STOCK))


@table("speed-factory")
def _speed_factory() -> str:
    return speed_table(STOCK, TIMED)


@table("speed-rates")
def _speed_rates() -> str:
    rows = []
    for name in (*TIMED, STOCK, INIT_CONFIG):
        row = [title(name)]
        for stage in STAGES:
            timed = results("speed")[GOTHIC]["results"]["0"]["default"][stage][name]
            beam = stage == "training" and "_beam" in name
            row.append("" if beam else f"{timed['words_per_second']['median']:,}")
        rows.append(row)
    return page_table(["words per second", *STAGES.values()], rows)


PAIRED = ("nm_parser", "swap_parser", "nl_covington_parser")
#: Other texts that were timed, and what tables call them.
ELSEWHERE = {
    f"{GOTHIC}-documents": "Gothic, documents of ten sentences",
    ENGLISH: "English, single sentences",
    f"{ENGLISH}-documents": "English, documents of ten sentences",
}


@table("speed-elsewhere")
def _speed_elsewhere() -> str:
    rows = []
    for run, text in ELSEWHERE.items():
        timed = results("speed")[run]["results"]["0"]["default"]
        for name in PAIRED:
            row = [text, title(name)]
            for stage in ("parse", "pipeline"):
                low, median, high = timed[stage][name]["times"][INIT_CONFIG]
                row.append(f"{median:.2f} ({low:.2f} to {high:.2f})")
            rows.append([*row, f"{timed['pipeline'][name]['words_per_second']['median']:,}"])
    header = ["text", "", "parse stage", "whole pipeline", "words per second"]
    return page_table(header, grouped(rows), left=2)


def paired(run: str, system: str, base: str, what: str) -> str:
    """Make a table of times as fast as another system of the same parser, on the idle machine;
    `run` is what the name of the run on Gothic ends with, and "{}" in a system the parser."""
    timed = results("speed")[f"{GOTHIC}-{run}"]["results"]["0"]["default"]
    rows = []
    for name in PAIRED:
        row = [title(name)]
        for stage in ("parse", "pipeline"):
            times = timed[stage][system.format(name)]["times"]
            low, median, high = times[base.format(name)]
            row.append(f"{median:.2f} ({low:.2f} to {high:.2f})")
        rows.append(row)
    return page_table([what, "parse stage", "whole pipeline"], rows)


@table("speed-threads")
def _speed_threads() -> str:
    return paired("threads", "{}_threads2", "{}", "two threads, times one")


@table("speed-rounded")
def _speed_rounded() -> str:
    return paired("rounded", "{}", "{}_exact", "rounded, times exact")


WHICH = {
    NM: "speed counts, few arcs cross",
    SWAP: "speed counts, arcs cross",
    NL: "accuracy counts",
    TAUGHT: "the same, a small treebank, and time to train",
}


@table("which-parser")
def _which_parser() -> str:
    rows = []
    for name, where in WHICH.items():
        row = [title(name), where]
        row += [lead(treebank, name, stock(treebank), briefly=True) for treebank in TREEBANKS]
        timed, kind = name.rsplit("_", 1)
        for stage in ("parse", "pipeline", "training"):
            # a teacher does not change what parsing costs
            trained = stage != "training" or kind != "taught"
            row.append(times(stage, timed, INIT_CONFIG).split()[0] if trained else "")
        rows.append(row)
    header = ["take", "where", *(short(name).split("-")[0] for name in TREEBANKS)]
    return page_table([*header, "parse stage", "whole pipeline", "training"], rows, left=2)


def scale_table(axis: str, what: str) -> Callable[[], str]:
    """Make what makes the table of words per second along an axis of benchmarks.scale."""

    def make() -> str:
        points = [p for p in results("scale")[GOTHIC]["points"] if p["axis"] == axis]
        values = list(dict.fromkeys(point["value"] for point in points))
        systems = dict.fromkeys(point["system"] for point in points)
        rates = {(p["system"], p["value"]): p["words_per_second"] for p in points}
        rows = [[f"`{name}`", *(f"{rates[name, v]:,}" for v in values)] for name in systems]
        return page_table([what, *(f"{value:,}" for value in values)], rows)

    return make


for _axis, _what in {
    "sentence": "words of a sentence",
    "document": "words of a document",
    "labels": "labels",
    "beam": "width of the beam",
}.items():
    table(f"scale-{_axis}")(scale_table(_axis, _what))


@table("memory")
def _memory() -> str:
    found = results("memory")["nm_parser"]["results"]
    document, tok2vec, stream = (found[name] for name in ("document", "tok2vec", "stream"))
    first, use = stream["points"][0]
    rows = [
        [f"a document of {tok2vec['words']:,} words, token vectors alone", tok2vec["peak"]],
        ["the same, token vectors and `nm_parser`", document["peak"]],
        [f"documents of {stream['words_per_document']:,} words, after {first:,.0f} words", use],
        [f"the same, after {stream['words']:,} words", stream["peak"]],
    ]
    return page_table(["", "peak, MiB"], [[what, f"{mib:,.0f}"] for what, mib in rows])


@table("demo")
def _demo() -> str:
    found = results("demo")
    rows = []
    for what, data, metric in (
        ("LAS of all words, gold tokens and sentences", "gold", "las_all"),
        ("LAS F1 from raw text, CoNLL 2018 evaluation", "raw", "dep_las_conll"),
        ("F1 of sentence boundaries from raw text", "raw", "sents_f"),
    ):
        cells = [
            f"{100 * found[f'{n}-{data}']['scores'][metric]:.1f}" for n in ("nm_parser", SPACY)
        ]
        rows.append([what, *cells])
    return page_table(["", "`nm_parser`", title(SPACY)], rows)
