"""Speed, memory, and the demo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.formats import page_table
from benchmarks.tables.common import (
    BEAM4,
    DEMO,
    GOTHIC,
    HUNGARIAN,
    SPACY,
    STOCK,
    TREEBANKS,
    comparison,
    entry,
    results,
    table,
)
from benchmarks.titles import short, title

STAGES = {"parse": "parse stage", "pipeline": "whole pipeline", "training": "training"}


def times(
    timed: dict[str, Any], stage: str, system: str, spread: bool = True, against: str = "stock"
) -> str:
    """Write how many times as fast as another a system is, in processor time.

    Args:
        timed: The systems that were timed, by stage.
        stage: The stage.
        system: The system.
        spread: Whether to write the range.
        against: "stock" (the last system, with the products as installed) or "base" (the last
            system, with the same products).

    Returns:
        Median (range); "" where a beam would be none.
    """
    if stage == "training" and "_beam" in system:
        return ""
    own = timed[stage][system]
    low, median, high = own.get(f"times_{against}", own["times_stock"])
    return f"{median:.2f} ({low:.2f} to {high:.2f})" if spread else f"{median:.2f}"


GOTHIC_SPEED = (
    "nm_parser",
    "swap_parser",
    "swap_parser_beam4",
    "nl_covington_parser_fast",
    "nl_covington_parser",
    BEAM4,
    "nl_covington_parser_accuracy",
    SPACY,
)


def speed_table(
    file: str, ops: str, systems: Sequence[str], stages: Sequence[str] = tuple(STAGES)
) -> str:
    """Make a table of times as fast as spaCy's parser as installed."""
    timed = results("speed")[file]["results"][ops]
    rows = [[title(name), *(times(timed, stage, name) for stage in stages)] for name in systems]
    first = "with the switch" if ops == "switch" else ""
    return page_table([first, *(STAGES[stage] for stage in stages)], rows)


@table("speed-gothic")
def _speed_gothic() -> str:
    return speed_table(GOTHIC, "default", GOTHIC_SPEED)


@table("speed-gothic-switch")
def _speed_gothic_switch() -> str:
    stages = ("parse", "pipeline", "training")
    return speed_table(GOTHIC, "switch", (*GOTHIC_SPEED, STOCK), stages)


WHICH = {
    "nm_parser": "speed counts most, few arcs cross",
    "swap_parser": "both count, long sentences, arcs that cross",
    "swap_parser_beam4": "and there is time to search",
    "nl_covington_parser_fast": "both count",
    "nl_covington_parser": "accuracy counts",
    BEAM4: "and there is time to search",
    "nl_covington_parser_accuracy": "accuracy counts more than speed",
}


@table("which-parser")
def _which_parser() -> str:
    rows = []
    for name, where in WHICH.items():
        row = [title(name), where]
        for treebank in TREEBANKS:
            has = entry(treebank, name)
            row.append(f"{comparison(treebank, name, STOCK)['difference']:+.2f}" if has else "")
        timed = results("speed")[GOTHIC]["results"]["default"]
        row += [times(timed, stage, name, spread=False) for stage in STAGES]
        rows.append(row)
    header = ["take", "where", *(short(name).split("-")[0] for name in TREEBANKS), *STAGES.values()]
    return page_table(header, rows, left=2)


MULTIHASH_SPEED = tuple(
    f"{name}_multihash"
    for name in ("nm_parser", "swap_parser", "nl_covington_parser", "nl_covington_parser_fast")
)


def multihash_speed(treebank: str) -> str:
    """Make the table of speed on spaCy's own token vectors, with and without the switch."""
    rows = []
    for ops, systems in (("default", MULTIHASH_SPEED), ("switch", (*MULTIHASH_SPEED, STOCK))):
        timed = results("speed")[f"{treebank}-switch"]["results"][ops]
        for name in systems:
            what = title(name) + (", switch" if ops == "switch" else "")
            rows.append([what, *(times(timed, stage, name) for stage in STAGES)])
    return page_table(["", *STAGES.values()], rows)


@table("speed-multihash-gothic")
def _speed_multihash_gothic() -> str:
    return multihash_speed(GOTHIC)


@table("speed-multihash-hungarian")
def _speed_multihash_hungarian() -> str:
    return multihash_speed(HUNGARIAN)


@table("speed-products")
def _speed_products() -> str:
    rows = []
    for name in MULTIHASH_SPEED:
        row = [title(name)]
        for file, ops, against in (
            ("switch", "numpy", "base"),
            ("parse", "default", "stock"),
            ("parse", "numpy", "base"),
        ):
            for treebank in (GOTHIC, HUNGARIAN):
                timed = results("speed")[f"{treebank}-{file}"]["results"][ops]
                row.append(times(timed, "parse", name, file == "switch", against))
        for treebank in (GOTHIC, HUNGARIAN):
            timed = results("speed")[f"{treebank}-switch"]["results"]["default"]
            rates = [
                timed[stage][name]["words_per_second"]["median"] for stage in ("floor", "parse")
            ]
            row.append(f"{rates[0] / rates[1]:.2f}")
        rows.append(row)
    header = ["parse stage", "NumPy's products for both: Gothic", "Hungarian"]
    header += ["31 repetitions: Gothic", "Hungarian"]
    header += ["31, NumPy's products for both: Gothic", "Hungarian"]
    header += ["times the time of its products alone: Gothic", "Hungarian"]
    return page_table(header, rows)


@table("speed-udpipe")
def _speed_udpipe() -> str:
    found = results("speed")[f"{HUNGARIAN}-udpipe"]["results"]
    rows = []
    for name in ("projective", "swap"):
        for kind, what in (("_greedy", "greedy"), ("", "its default beam of 5")):
            cells = [
                times(found["udpipe"], s, f"udpipe_{name}{kind}") for s in ("parse", "pipeline")
            ]
            rows.append([f"UDPipe 1, {name}, {what}", *cells])
    for name in ("nm_parser_multihash", "nl_covington_parser_fast_multihash"):
        cells = [times(found["default"], stage, name) for stage in ("parse", "pipeline")]
        rows.append([title(name), *cells])
    return page_table(["", "parse stage", "whole pipeline"], rows)


@table("speed-demo")
def _speed_demo() -> str:
    rows = []
    stages = dict(
        zip(STAGES, ("parse stage", "whole pipeline", "training the pipeline"), strict=True)
    )
    for ops in ("default", "numpy"):
        timed = results("speed")[DEMO]["results"][ops]
        for stage, what in stages.items():
            rates = [
                timed[stage][name]["words_per_second"]["median"] for name in ("nm_parser", SPACY)
            ]
            named = what + (", NumPy's products for both" if ops == "numpy" else "")
            ratio = times(timed, stage, "nm_parser", against="base")
            rows.append([named, *(f"{rate:,}" for rate in rates), ratio])
    return page_table(["words per second", "`nm_parser`", title(SPACY), "ratio"], rows)


@table("speed-beam")
def _speed_beam() -> str:
    timed = results("speed")[f"{DEMO}-beam8"]["results"]["default"]
    rows = [
        [STAGES[stage], times(timed, stage, "nm_parser_multihash")]
        for stage in ("parse", "pipeline")
    ]
    return page_table(["", "`nm_parser` against spaCy's `beam_parser`"], rows)


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
        ("LAS from raw text, as spaCy scores", "raw", "dep_las"),
        ("F1 of sentence boundaries from raw text", "raw", "sents_f"),
    ):
        cells = [
            f"{100 * found[f'{n}-{data}']['scores'][metric]:.1f}" for n in ("nm_parser", SPACY)
        ]
        rows.append([what, *cells])
    return page_table(["", "`nm_parser`", title(SPACY)], rows)
