"""The tables and figures of README and docs, made from the summaries in benchmarks/results."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from benchmarks import variants
from benchmarks.common import RESULTS
from benchmarks.formats import mean_and_deviation, page_table
from benchmarks.summary import Pair
from benchmarks.titles import difference, seeds, short, title

Rows = list[list[str]]
ENGLISH, GOTHIC = "UD_English-EWT", "UD_Gothic-PROIEL"
TURKISH, HUNGARIAN = "UD_Turkish-IMST", "UD_Hungarian-Szeged"
TREEBANKS = (ENGLISH, GOTHIC, TURKISH, HUNGARIAN)
DEMO = "turkish-treebanks"
STOCK, SPACY = "spacy_parser_multihash", "spacy_parser"

#: What makes each table and figure.
TABLES: dict[str, Callable[[], str]] = {}


def table(name: str) -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Register what makes a table or figure.

    Args:
        name: What pages call it.

    Returns:
        A decorator.
    """

    def register(make: Callable[[], str]) -> Callable[[], str]:
        TABLES[name] = make
        return make

    return register


@cache
def results(benchmark: str) -> dict[str, Any]:
    """Read a summary.

    Args:
        benchmark: Its name.

    Returns:
        The summary.
    """
    found: dict[str, Any] = json.loads((RESULTS / f"{benchmark}.json").read_text(encoding="utf-8"))
    return found


def entry(treebank: str, system: str, benchmark: str = "accuracy") -> dict[str, Any] | None:
    """Find the summary of a system.

    Args:
        treebank: The treebank.
        system: The system.
        benchmark: The benchmark.

    Returns:
        The summary, None if there is none.
    """
    found: dict[str, Any] | None = results(benchmark)["systems"].get(treebank, {}).get(system)
    return found


def comparison(
    treebank: str,
    system: str,
    baseline: str,
    metric: str = "las_all",
    split: str = "test",
    benchmark: str = "accuracy",
) -> dict[str, Any]:
    """Find a comparison.

    Args:
        treebank: The treebank.
        system: The one system.
        baseline: The other.
        metric: The score.
        split: The data.
        benchmark: The benchmark.

    Returns:
        The comparison.

    Raises:
        ValueError: If there is none.
    """
    key = Pair(system, baseline, split, metric).key
    found: dict[str, Any] | None = results(benchmark)["comparisons"].get(treebank, {}).get(key)
    if found is None:
        raise ValueError(
            f"benchmarks/results/{benchmark}.json has no {key} on {treebank}: make runs of "
            f"both, and summarize them by `python -m benchmarks.report {benchmark}`."
        )
    return found


def score(one: dict[str, Any] | None, metric: str, split: str = "test") -> str:
    """Write a score.

    Args:
        one: The summary of a system; None: there is none.
        metric: The score.
        split: The data.

    Returns:
        Mean ± standard deviation, in points; "" where there is no score.
    """
    if one is None or metric not in one.get(split, {}):
        return ""
    return mean_and_deviation(one[split][metric]["seeds"], 100, 2)


def mean(
    one: dict[str, Any],
    metric: str,
    split: str = "test",
    digits: int = 2,
    only: Iterable[int] | None = None,
) -> str:
    """Write a mean.

    Args:
        one: The summary of a system.
        metric: The score.
        split: The data.
        digits: Digits after the point.
        only: The seeds to count; None for all.

    Returns:
        The mean in points.
    """
    return f"{raw_mean(one, metric, split, only):.{digits}f}"


def raw_mean(
    one: dict[str, Any], metric: str, split: str = "test", only: Iterable[int] | None = None
) -> float:
    """Compute a mean; arguments as those of `mean`."""
    values = dict(zip(one["seeds"], one[split][metric]["seeds"], strict=True))
    chosen = [values[seed] for seed in (values if only is None else only)]
    return 100 * statistics.fmean(value for value in chosen if value is not None)


def seeds_of(one: dict[str, Any]) -> str:
    """Write a system's seeds, those of an ensemble's members in it."""
    return seeds(one.get("members", one["seeds"]))


def grouped(rows: Iterable[list[str]]) -> Rows:
    """Leave out a first cell that is the same as the one above."""
    listed = [[""], *rows]
    return [
        ["" if below[0] == above[0] else below[0], *below[1:]] for above, below in pairwise(listed)
    ]


# Accuracy

BEAM4 = "nl_covington_parser_beam4"
ACCURACY = (
    *(
        f"{name}{kind}"
        for name in ("nl_covington_parser", "nl_covington_parser_accuracy")
        for kind in ("", "_beam4", "_ensemble5", "_ensemble5_beam4", "_bias2", "_lstm1", "_nonce4")
    ),
    "nl_covington_parser_accuracy_nonce4_beam4",
    "nl_covington_parser_accuracy_nonce4_ensemble5",
    "nl_covington_parser_accuracy_nonce4_ensemble5_beam4",
    *(
        f"{name}{kind}"
        for name in ("nl_covington_parser_fast", "nm_parser", "swap_parser")
        for kind in ("", "_beam4")
    ),
    "swap_parser_accuracy",
    "swap_parser_accuracy_beam8",
    SPACY,
    STOCK,
)
MULTIHASH = (
    *(
        f"{name}_multihash{kind}"
        for name in ("nl_covington_parser", "nm_parser", "swap_parser")
        for kind in ("", "_untagged", "_beam8", "_untagged_beam8")
    ),
    "nl_covington_parser_fast_multihash",
    f"{STOCK}_morphology",
    f"{STOCK}_freq1",
    STOCK,
)


def accuracy(systems: Sequence[str]) -> str:
    """Make the table of accuracy, the best first."""
    rows = []
    for treebank in TREEBANKS:
        found = [(name, one) for name in systems if (one := entry(treebank, name))]
        found.sort(key=lambda pair: -raw_mean(pair[1], "las_all"))
        for name, one in found:
            own = [short(treebank), title(name), seeds_of(one)]
            own += [score(one, metric) for metric in ("uas_all", "las_all")]
            own.append(f"{mean(one, 'dep_exact', digits=1)} %")
            own.append("" if name == STOCK else difference(comparison(treebank, name, STOCK)))
            rows.append(own)
    header = ["treebank", "system", "seeds", "UAS", "LAS", "sentences wholly right"]
    return page_table([*header, "LAS against spaCy"], grouped(rows), left=3)


@table("accuracy")
def _accuracy() -> str:
    return accuracy(ACCURACY)


@table("accuracy-multihash")
def _accuracy_multihash() -> str:
    return accuracy(MULTIHASH)


def crossing(systems: Sequence[str]) -> str:
    """Make the table of crossing arcs, the most found first."""
    rows = []
    for treebank in (GOTHIC, HUNGARIAN):
        found = [
            (name, one)
            for name in systems
            if not name.startswith("nm_") and not name.endswith("_freq1")
            if (one := entry(treebank, name))
        ]
        found.sort(key=lambda pair: -raw_mean(pair[1], "nonproj_r"))
        for name, one in found:
            figures = [mean(one, f"nonproj_{kind}", digits=1) for kind in "pr"]
            rows.append([short(treebank), title(name), seeds_of(one), *figures])
    header = ["treebank", "system", "seeds", "precision", "recall"]
    return page_table(header, grouped(rows), left=3)


@table("crossing")
def _crossing() -> str:
    return crossing(ACCURACY)


@table("crossing-multihash")
def _crossing_multihash() -> str:
    return crossing(MULTIHASH)


@table("same-token-vectors")
def _same_token_vectors() -> str:
    own = "nl_covington_parser"
    rows = []
    for treebank in TREEBANKS:
        pair = [entry(treebank, name) for name in (own, SPACY)]
        cells = [mean(one, "las_all") for one in pair if one is not None]
        cells += [difference(comparison(treebank, name, SPACY)) for name in (own, BEAM4)]
        rows.append([short(treebank), *cells])
    header = ["treebank", title(own), title(SPACY), "difference in LAS", "the same, beam of 4"]
    return page_table(header, rows)


@table("static-oracle")
def _static_oracle() -> str:
    names = ("nl_covington_static", "nl_covington_parser_multihash_untagged")
    rows = []
    for treebank in (GOTHIC, HUNGARIAN):
        static, dynamic = (entry(treebank, name) for name in names)
        assert static is not None and dynamic is not None
        own = [short(treebank), seeds_of(static)]
        own += [
            score(one, metric) for one in (static, dynamic) for metric in ("uas_all", "las_all")
        ]
        rows.append([*own, difference(comparison(treebank, names[1], names[0]))])
    header = ["treebank", "seeds", "static: UAS", "LAS", "dynamic: UAS", "LAS", "difference in LAS"]
    return page_table(header, rows, left=2)


@table("in-short")
def _in_short() -> str:
    rows = []
    for name in (
        STOCK,
        "udpipe",
        "nl_covington_parser_multihash",
        SPACY,
        "nm_parser",
        "swap_parser",
        "nl_covington_parser",
        BEAM4,
        "nl_covington_parser_accuracy",
        "nl_covington_parser_accuracy_beam4",
        "nl_covington_parser_accuracy_nonce4_beam4",
        "nl_covington_parser_ensemble5",
    ):
        row = [title(name) if name != "udpipe" else "UDPipe 1, the best of its systems"]
        for treebank in TREEBANKS:
            if name == "udpipe":
                every = results("compare")["systems"][treebank].values()
                row.append(f"{max(raw_mean(one, 'las_all') for one in every):.2f}")
            else:
                one = entry(treebank, name)
                row.append(mean(one, "las_all") if one else "")
        rows.append(row)
    return page_table(["LAS", *map(short, TREEBANKS)], rows)


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


@table("crossing-recall-ratio")
def _crossing_recall_ratio() -> str:
    ratios = []
    for treebank in (GOTHIC, HUNGARIAN):
        stock = entry(treebank, STOCK)
        for name in ("nl_covington_parser", "swap_parser"):
            one = entry(treebank, name)
            assert one is not None and stock is not None
            ratios.append(raw_mean(one, "nonproj_r") / raw_mean(stock, "nonproj_r"))
    return f"{min(ratios):.1f} to {max(ratios):.1f} times"


@table("gain-of-a-beam")
def _gain_of_a_beam() -> str:
    found = [comparison(name, BEAM4, "nl_covington_parser")["difference"] for name in TREEBANKS]
    return f"{min(found):.2f} to {max(found):.2f} points"


@table("udpipe")
def _udpipe() -> str:
    names = ("nl_covington_parser_multihash", "nl_covington_parser", "nl_covington_parser_accuracy")
    rows = []
    for treebank in TREEBANKS:
        every = results("compare")["systems"][treebank].items()
        for name, one in sorted(every, key=lambda item: -raw_mean(item[1], "las_all")):
            system = name.removeprefix("udpipe_")
            own = [short(treebank), system, score(one, "uas_all"), score(one, "las_all")]
            own.append(f"{mean(one, 'dep_exact', digits=1)} %")
            for metric in ("nonproj_p", "nonproj_r"):
                own.append("" if system == "projective" else mean(one, metric, digits=1))
            for other in names:
                better = entry(treebank, other)
                ahead = raw_mean(better, "las_all") - raw_mean(one, "las_all") if better else 0.0
                own.append(f"{ahead:+.2f}" if better else "")
            rows.append(own)
    header = ["treebank", "UDPipe 1's system", "UAS", "LAS", "sentences wholly right"]
    header += ["crossing arcs: precision", "recall", *map(title, names)]
    return page_table(header, grouped(rows), left=2)


@table("bias")
def _bias() -> str:
    rows = []
    for treebank in (GOTHIC, HUNGARIAN):
        for bias in range(3):
            one = entry(treebank, "nl_covington_parser" + (f"_bias{bias}" if bias else ""))
            assert one is not None
            cells = [
                mean(one, metric, split, digits)
                for split in ("dev", "test")
                for metric, digits in (("las_all", 2), ("nonproj_p", 1), ("nonproj_r", 1))
            ]
            rows.append([short(treebank), str(bias), *cells])
    header = ["treebank", "`crossing_bias`", "dev: LAS", "precision", "recall"]
    return page_table([*header, "test: LAS", "precision", "recall"], grouped(rows))


@table("swap-oracles")
def _swap_oracles() -> str:
    rows = []
    for oracle in ("eager", "lazy", "minimal", "nd_sw", "nd_all"):
        row = [f"`{oracle}`"]
        for beam in ("", "_beam8"):
            row.append(score(entry(HUNGARIAN, f"swap_{oracle}{beam}"), "las_all"))
            pair = (f"swap_{oracle}{beam}", f"swap_eager{beam}")
            row.append("" if oracle == "eager" else difference(comparison(HUNGARIAN, *pair)))
        rows.append(row)
    return page_table(["oracle", "greedy", "", "beam of 8", ""], rows)


@table("exchanged-words")
def _exchanged_words() -> str:
    rows = []
    for name in (SPACY, "nl_covington_parser", "nl_covington_parser_accuracy"):
        pair = [entry(HUNGARIAN, name + kind) for kind in ("", "_nonce4")]
        plain, copied = (one for one in pair if one is not None)
        both = sorted({*plain["seeds"]} & {*copied["seeds"]})
        row = [title(name), seeds(both)]
        for split in ("dev", "test"):
            row += [mean(one, "las_all", split, only=both) for one in (plain, copied)]
        rows.append([*row, difference(comparison(HUNGARIAN, f"{name}_nonce4", name))])
    header = ["LAS", "seeds", "dev: without copies", "with copies", "test: without", "with"]
    return page_table([*header, "difference on test"], rows, left=2)


@table("exchanged-words-lead")
def _exchanged_words_lead() -> str:
    found = comparison(HUNGARIAN, "nl_covington_parser_nonce4", f"{SPACY}_nonce4")
    return difference(found)


@table("exchanged-words-gothic")
def _exchanged_words_gothic() -> str:
    name = "nl_covington_parser_accuracy"
    pair = [entry(GOTHIC, name + kind) for kind in ("_nonce4_epochs12", "")]
    copied, plain = (mean(one, "las_all", "dev", only=[2]) for one in pair if one is not None)
    return f"{copied} LAS on dev after 12 epochs with four copies, {plain} after 30 without"


@table("lstms")
def _lstms() -> str:
    rows = []
    for treebank in TREEBANKS:
        for name in ("nl_covington_parser", "nl_covington_parser_accuracy", "swap_parser"):
            names = (name, f"{name}_lstm2") if name == "swap_parser" else (f"{name}_lstm1", name)
            one, two = (entry(treebank, system) for system in names)
            assert one is not None and two is not None
            both = sorted({*one["seeds"]} & {*two["seeds"]})
            cells = [mean(system, "las_all", "dev", only=both) for system in (one, two)]
            rows.append([short(treebank), f"`{name}`", seeds(both), *cells])
    return page_table(["LAS on dev", "", "seeds", "one", "two"], grouped(rows), left=3)


COLUMNS = {"nl_covington_parser_accuracy": 2, "nl_covington_parser": 4}  # the configs' factors


@table("dropout-of-columns")
def _dropout_of_columns() -> str:
    rows = []
    for name, own in COLUMNS.items():
        for treebank in (ENGLISH, HUNGARIAN, TURKISH, GOTHIC):
            cells = []
            for factor in (1, 2, 3, 4, 5, 7):
                base = f"{name}_lstm1"
                one = entry(treebank, base if factor == own else f"{base}_columns{factor}")
                seed = 1 if treebank == ENGLISH else 2
                has = one is not None and seed in one["seeds"]
                cells.append(mean(one, "las_all", "dev", only=[seed]) if one and has else "")
            if sum(map(bool, cells)) > 1:
                rows.append([f"{short(treebank)}, `{name}`", *cells])
    return page_table(["", "1", "2", "3", "4", "5", "7"], rows)


@table("narrow-layers")
def _narrow_layers() -> str:
    rows = []
    for treebank in (HUNGARIAN, GOTHIC):
        for name, what in (
            ("h64c128", "`hidden_width = 64`"),
            ("h64c64", "`context_width = 64` too"),
        ):
            pair = (name, "nl_covington")
            found = comparison(treebank, *pair, split="dev", benchmark="variants")
            rows.append([short(treebank), what, str(found["n_seeds"]), difference(found)])
    header = ["treebank", "", "seeds", "LAS on dev against the default"]
    return page_table(header, grouped(rows), left=2)


@table("distilled")
def _distilled() -> str:
    rows = []
    for suffix, weight in (("", "none"), ("_distilled", "0.5"), ("_distilled_weight1", "1")):
        one = entry(HUNGARIAN, f"nl_covington_parser_lstm1{suffix}")
        assert one is not None
        rows.append([weight, mean(one, "las_all", "dev", only=[1])])
    return page_table(["`teacher_weight`", "LAS on dev"], rows)


# Teacher and ensembles


@table("teacher")
def _teacher() -> str:
    alone, taught = f"{ENGLISH}-each6", f"{ENGLISH}-each6-all"
    own = entry(alone, "nl_covington_parser", "unannotated")
    other = entry(taught, "nl_covington_parser_taught", "unannotated")
    found = comparison(
        taught, "nl_covington_parser_taught", "nl_covington_parser", benchmark="unannotated"
    )
    rows = [
        ["annotated sentences alone", score(own, "las_all"), ""],
        ["the same and the plain ones, taught", score(other, "las_all"), difference(found)],
    ]
    return page_table(["trained on", "LAS on test", "difference"], rows)


@table("ensembles")
def _ensembles() -> str:
    rows = []
    for treebank in (ENGLISH, TURKISH):
        pair = [entry(treebank, f"left_reduce{kind}", "variants") for kind in ("", "_ensemble3")]
        exact = [f"{mean(one, 'dep_exact', digits=1)} %" for one in pair if one is not None]
        scores = [score(one, "las_all") for one in pair]
        rows.append([short(treebank), *scores, ", ".join(exact)])
    return page_table(["treebank", "each", "as one", "sentences wholly right"], rows)


# Variants of papers


def comparison_of_variants(name: str) -> Callable[[], str]:
    """Make what makes the tables of a comparison of benchmarks.variants."""
    return lambda: variants.report(results("variants"), name)


for _name in ("rep", "hgj13", "push", "weights", "recall"):
    table(f"variants-{_name}")(comparison_of_variants(_name))


@table("non-monotonic-moves")
def _non_monotonic_moves() -> str:
    rows = []
    for treebank in (ENGLISH, GOTHIC, HUNGARIAN, TURKISH):
        names = ("left_reduce", "monotonic")
        found = comparison(treebank, *names, metric="uas_all", split="dev", benchmark="variants")
        cells = [
            score(entry(treebank, name, "variants"), "uas_all", "dev") for name in reversed(names)
        ]
        rows.append([short(treebank), *cells, difference(found)])
    return page_table(["treebank", "monotonic", "non-monotonic", "difference"], rows)


LISTS = {
    "covington_static": "Covington, static",
    "covington": "Covington, dynamic",
    "nl_covington_static": "NL-Covington, static",
    "nl_covington": "NL-Covington, dynamic",
}


def _list_system(treebank: str, name: str, what: str) -> list[str]:
    one = entry(treebank, name, "variants")
    assert one is not None
    moves = f"{statistics.fmean(one['moves']['per_sentence']['seeds']):.1f}"
    return [short(treebank), what, score(one, "uas_all"), score(one, "las_all"), moves]


def _against(treebank: str, name: str, baseline: str) -> str:
    return difference(comparison(treebank, name, baseline, benchmark="variants"))


@table("fg18-oracles")
def _fg18_oracles() -> str:
    rows = []
    for treebank in (ENGLISH, GOTHIC, HUNGARIAN, TURKISH, DEMO):
        for name, what in LISTS.items():
            static = "" if "static" in name else _against(treebank, name, f"{name}_static")
            local = _against(treebank, name, name.removeprefix("nl_")) if "nl_" in name else ""
            rows.append([*_list_system(treebank, name, what), static, local])
    header = ["treebank", "", "UAS", "LAS", "moves a sentence", "against static"]
    return page_table([*header, "against Covington"], grouped(rows), left=2)


@table("fg18-arc-swift")
def _fg18_arc_swift() -> str:
    rows = []
    for treebank in (ENGLISH, GOTHIC, HUNGARIAN, TURKISH, DEMO):
        rows.append([*_list_system(treebank, "arc_swift", "arc-swift"), ""])
        own = _list_system(treebank, "nl_covington", LISTS["nl_covington"])
        rows.append([*own, _against(treebank, "nl_covington", "arc_swift")])
    header = ["treebank", "", "UAS", "LAS", "moves a sentence", "against arc-swift"]
    return page_table(header, grouped(rows), left=2)


# Sentence boundaries, search, counts


@table("segmentation")
def _segmentation() -> str:
    rows = []
    for treebank in (GOTHIC, HUNGARIAN):
        every = results("segmentation")["systems"][treebank].items()
        for name, one in sorted(every, key=lambda item: -raw_mean(item[1], "sents_f", "test_raw")):
            parses = () if name == "senter" else ("uas_all", "las_all")
            cells = [score(one, f"sents_{kind}", "test_raw") for kind in "prf"]
            cells += [score(one, metric, "test_raw") for metric in parses] or ["", ""]
            rows.append([short(treebank), title(name), *cells])
    header = ["treebank", "system", "P", "R", "F1", "UAS", "LAS"]
    return page_table(header, grouped(rows), left=2)


SEARCHED = ("nm_parser", "swap_parser", "nl_covington_parser")


@table("beam-widths")
def _beam_widths() -> str:
    found = [results("search")[f"{name}-gothic"]["widths"] for name in SEARCHED]
    rows = []
    for runs in zip(*found, strict=True):
        row = [str(runs[0]["width"])]
        for run in runs:
            row += [f"{100 * run[metric]:.2f}" for metric in ("uas_all", "las_all")]
            row.append(f"{run['words_per_second']:,.0f}")
        rows.append(row)
    header = ["width"]
    for name in SEARCHED:
        header += [f"`{name}`: UAS", "LAS", "words/s"]
    return page_table(header, rows)


@table("calibration")
def _calibration() -> str:
    rows = []
    for run in results("search")["nm_parser-gothic"]["widths"]:
        row = [str(run["width"])]
        for kind in ("head", "label"):
            row += [f"{run[kind][f'error_{when}']:.3f}" for when in ("before", "after")]
            row.append(f"{run[kind]['area_under_curve']:.2f}")
        rows.append(row)
    header = ["width", "heads: error before", "after", "area"]
    return page_table([*header, "heads with labels: error before", "after", "area"], rows)


@table("transitions")
def _transitions() -> str:
    rows = []
    for treebank in (ENGLISH, GOTHIC, HUNGARIAN, TURKISH, DEMO):
        counts = results("transitions")[f"{treebank}-test"]
        row = ["the demo's (`demo-counts`)" if treebank == DEMO else short(treebank)]
        row.append(f"{counts['words'] / counts['sentences']:.1f}")
        for system in ("covington", "nl_covington", "swap_standard"):
            row.append(f"{counts[system]['per_sentence']:.2f}")
        rows.append(row)
    return page_table(["treebank", "words", "Covington", "NL-Covington", "SwapStandard"], rows)


@table("swaps")
def _swaps() -> str:
    rows = []
    for treebank in (ENGLISH, GOTHIC, HUNGARIAN, TURKISH, DEMO):
        counts = results("swaps")[f"{treebank}-train"]
        eager, lazy, minimal = (counts["swaps"][name] for name in ("eager", "lazy", "minimal"))
        total = counts["sentences"]
        rows.append(
            [
                "the demo's (`demo-counts`)" if treebank == DEMO else short(treebank),
                f"{total:,}",
                f"{100 * counts['projective'] / total:.2f} %",
                f"{eager:,}",
                *(f"{100 * (1 - other / eager):.1f} %" for other in (lazy, minimal)),
                str(counts["not_proven"]),
                f"{100 * counts['unique'] / total:.2f} %",
            ]
        )
    header = ["", "sentences", "projective", "SWAPs: `eager`", "`lazy` saves", "`minimal` saves"]
    return page_table([*header, "not proven", "one derivation"], rows)


@table("repair-losses")
def _repair_losses() -> str:
    rows = []
    for treebank in (GOTHIC, ENGLISH):
        counts = results("repairs")[f"{treebank}-dev"]
        total = counts["configurations"]
        for search, microseconds in counts["microseconds"].items():
            row = [short(treebank), f"{int(search):,}" if int(search) else "no repairs"]
            row.append(f"{total:,}")
            for kind in ("losses", "free"):
                share = counts[kind].get(search)
                row.append("" if share is None else f"{100 * share / total:.2f} %")
            rows.append([*row, f"{microseconds:,.0f}"])
    header = ["treebank", "`search`", "configurations", "losses differ", "allowed actions differ"]
    return page_table([*header, "microseconds"], grouped(rows))


# Speed and memory

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


# Exhaustive search

PROVEN = {
    "arc_eager": "arc-eager, up to 5 words, projective gold",
    "repairs": "the same with repairs, Unshift or one kind of push",
    "arc_standard": "arc-standard, up to 5 words, projective gold",
    "arc_swift": "arc-swift, up to 5 words, projective gold",
    "nl_covington": "NL-Covington, up to 4 words, all trees",
    "nl_covington-5": "NL-Covington, 5 words, trees drawn from all",
    "covington": "Covington, up to 4 words, all trees",
    "covington-5": "Covington, 5 words, trees drawn from all",
}


def proven(name: str) -> tuple[int, int]:
    """Count the triples of tree, configuration and action where exactness is claimed.

    Args:
        name: The run of tests.exhaustive.

    Returns:
        The triples, and how many of their costs and losses are wrong.
    """
    triples = wrong = 0
    for part in results("exhaustive")[name]:
        for _, words, _, _, count, costs, losses in part["rows"]:
            # of 6 words, trees were drawn to see how often costs are wrong
            if isinstance(costs, int) and words < 6:
                triples += count
                wrong += costs + losses
    return triples, wrong


@table("exhaustive")
def _exhaustive() -> str:
    rows = [[what, *(f"{n:,}" for n in proven(name))] for name, what in PROVEN.items()]
    return page_table(["", "triples", "wrong"], rows)


@table("exhaustive-total")
def _exhaustive_total() -> str:
    found = [proven(name) for name in PROVEN]
    return f"{sum(n for n, _ in found) / 1e6:.0f} million cases, {sum(n for _, n in found)} wrong"


def picked(name: str, picks: Sequence[tuple[str, str, str, int]]) -> Rows:
    """Find lines of tests.exhaustive.

    Args:
        name: The run.
        picks: Of each line what the table calls the options, the options as printed, the gold
            trees as printed, and the words.

    Returns:
        The cells: options, gold, words, trees, triples, wrong costs, wrong losses.
    """
    lines = {(row[0], row[1]): row for part in results("exhaustive")[name] for row in part["rows"]}
    rows = []
    for what, options, gold, words in picks:
        kind = ", ".join(filter(None, (options, f"unlabelled, {gold}")))
        *_, trees, _, triples, costs, losses = lines[kind, words]
        shown = gold.replace(" gold", "").replace(", crossing", "")
        wrong = [
            str(n) if isinstance(n, int) else n.strip("()").split(": ")[1] for n in (costs, losses)
        ]
        trees = re.sub(r"\d+", lambda number: f"{int(number[0]):,}", trees)
        rows.append([what, shown, str(words), trees, f"{triples:,}", *wrong])
    return grouped(rows)


@table("exhaustive-arc-eager")
def _exhaustive_arc_eager() -> str:
    plain = {
        "none (monotonic)": "",
        "`nonmonotonic_left` (L)": "nonmonotonic_left",
        "`nonmonotonic_reduce` (D)": "nonmonotonic_reduce",
        "both (L+D)": "nonmonotonic_left, nonmonotonic_reduce",
    }
    picks = [(what, o, "partial gold", n) for what, o in plain.items() for n in (4, 5)]
    whole = "nonmonotonic_left, nonmonotonic_reduce, single_root, segment"
    for gold, words in (
        ("full gold", 4),
        ("full gold", 5),
        ("partial gold", 5),
        ("partial gold, preset starts", 5),
    ):
        picks.append(("L+D, `single_root`, `segment`", whole, gold, words))
    rows = [row[:6] for row in picked("arc_eager", picks)]
    return page_table(["options", "gold", "words", "trees", "triples", "wrong"], rows, left=2)


@table("exhaustive-repairs")
def _exhaustive_repairs() -> str:
    left, both = "nonmonotonic_left", "nonmonotonic_left, nonmonotonic_reduce"
    every = "right_lower + right_raise + left_invert"
    picks = [
        ("L, all repairs", f"{left}, {every}", "partial gold", 4),
        ("L, all repairs", f"{left}, {every}", "partial gold", 5),
        ("L+D, all repairs", f"{both}, {every}", "partial gold", 4),
        ("L+D, all repairs", f"{both}, {every}", "partial gold", 5),
    ]
    picks += [(f"L+D, `{one}`", f"{both}, {one}", "partial gold", 5) for one in every.split(" + ")]
    whole = f"{both}, {every}, single_root, segment"
    for gold in ("full gold", "partial gold", "partial gold, preset starts"):
        picks.append(("L+D, all repairs, `single_root`, `segment`", whole, gold, 5))
    rows = [row[:6] for row in picked("repairs", picks)]
    return page_table(["options", "gold", "words", "trees", "triples", "wrong"], rows, left=2)
