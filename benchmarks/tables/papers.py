"""The variants of parsers that the papers compare: see benchmarks.papers."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import partial

from benchmarks.papers import CHOOSING, STATIC, VARIANTS
from benchmarks.summary import COUNTS, Entry
from benchmarks.tables.common import (
    DEMO,
    ENGLISH,
    GOTHIC,
    HUNGARIAN,
    LATIN,
    TREEBANKS,
    TURKISH,
    Rows,
    comparison,
    entry,
    mean,
    raw_mean,
    score,
    seeds_of,
    table,
)
from benchmarks.titles import difference, probability, short

BN15_TREEBANKS = (GOTHIC, LATIN, TURKISH, HUNGARIAN)
ALL = ("uas_all", "las_all")
#: Without punctuation.
WORDS = ("uas_words", "las_words")


def trained(treebank: str, name: str) -> Entry | None:
    """The summary of a variant on a treebank; None if there is none."""
    return entry(treebank, name, "variants")


def found(treebank: str, name: str) -> Entry:
    """The summary of a variant that there is."""
    one = trained(treebank, name)
    assert one is not None, f"{treebank}: {name}"
    return one


def against(
    treebank: str, name: str, base: str, metric: str = "las_all", split: str = "test"
) -> str:
    """Write by how much a variant is ahead of another; nothing if it is the same."""
    if name == base:
        return ""
    return difference(comparison(treebank, name, base, metric, split, "variants"))


def count(one: Entry) -> str:
    """Write the number of seeds."""
    return str(len(one["seeds"]))


def made(one: Entry, move: str, without_punct: bool = False) -> list[str]:
    """Write how often a non-monotonic move was made or not, rightly or not, a mean over seeds."""
    moves = one["moves"]
    left_out = moves["punct"].get(move, {}) if without_punct else {}
    counts = {kind: moves["repairs"][move][kind] - left_out.get(kind, 0) for kind in COUNTS}
    return [f"{count / moves['seeds']:,.0f}" for count in counts.values()]


MADE = [*map(str.upper, COUNTS[:4]), *COUNTS[4:]]


def treebanks_of(name: str) -> list[str]:
    """Find the treebanks that have results of a comparison of benchmarks.variants, and not just of
    rows that it shares with others."""
    others = {one.name for key, rows in VARIANTS.items() if key != name for one in rows}
    own = [one.name for one in VARIANTS[name] if one.name not in others]
    return [treebank for treebank in TREEBANKS if any(trained(treebank, row) for row in own)]


def differences(name: str) -> Rows:
    """Make the table of a comparison: UAS on dev, on each treebank against the first row."""
    first, *_ = listed = VARIANTS[name]
    treebanks = treebanks_of(name)
    yield ["UAS", *map(short, treebanks)]
    for one in listed:
        row = [one.title]
        for treebank in treebanks:
            own = trained(treebank, one.name)
            if own is None or one is first:
                row.append(score(own, "uas_all", "dev"))
            else:
                row.append(against(treebank, one.name, first.name, "uas_all", "dev"))
        yield row


for _name in ("rep", "hgj13", "push", "recall"):
    table(f"variants-{_name}")(partial(differences, _name))


#: FG18's systems, and what tables call them.
LISTS = {
    "covington_static": "Covington, static",
    "covington": "Covington, dynamic",
    "nl_covington_static": "NL-Covington, static",
    "nl_covington": "NL-Covington, dynamic",
    "arc_swift": "arc-swift",
}


def list_system(treebank: str, name: str) -> list[str]:
    """The first cells of a row of FG18's tables."""
    one = found(treebank, name)
    moves = f"{statistics.fmean(one['moves']['per_sentence']['seeds']):.1f}"
    return [short(treebank), LISTS[name], *(score(one, metric) for metric in ALL), moves]


@table("fg18-oracles", left=2)
def _fg18_oracles() -> Rows:
    header = ["treebank", "", "UAS", "LAS", "moves a sentence", "against static"]
    yield [*header, "against Covington"]
    for treebank in (ENGLISH, GOTHIC, HUNGARIAN, TURKISH, DEMO):
        for name in list(LISTS)[:4]:
            static = "" if "static" in name else against(treebank, name, f"{name}_static")
            local = against(treebank, name, name.removeprefix("nl_"))
            yield [*list_system(treebank, name), static, local]


@table("fg18-arc-swift", left=2)
def _fg18_arc_swift() -> Rows:
    yield ["treebank", "", "UAS", "LAS", "moves a sentence", "against arc-swift"]
    for treebank in (ENGLISH, GOTHIC, HUNGARIAN, TURKISH, DEMO):
        for name in ("arc_swift", "nl_covington"):
            yield [*list_system(treebank, name), against(treebank, name, "arc_swift")]


#: What ends the names of BN15's runs, and what tables call them.
SEARCHES = {"": "greedy", "_beam": "beam of 8"}


def oracles() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Where there are runs of all of BN15's oracles: treebank, search, names of the runs."""
    for ending, search in SEARCHES.items():
        for treebank in BN15_TREEBANKS:
            names = {oracle: f"linear_swap_{oracle}{ending}" for oracle in (*STATIC, *CHOOSING)}
            if all(trained(treebank, name) for name in names.values()):
                yield treebank, search, names


@table("bn15-dev", left=3, repeat=True)
def _bn15_dev() -> Rows:
    yield ["treebank", "search", "oracle", "seeds", "LAS", "UAS", "LAS against `eager`"]
    for treebank, search, names in oracles():
        for oracle, name in names.items():
            one = found(treebank, name)
            row = [short(treebank), search, f"`{oracle}`", seeds_of(one)]
            row += [score(one, metric, "dev") for metric in ("las_all", "uas_all")]
            yield [*row, against(treebank, name, names["eager"], split="dev")]


@table("bn15-test", left=2, repeat=True)
def _bn15_test() -> Rows:
    header = ["treebank", "search", "best static", "LAS", "best non-deterministic", "LAS"]
    yield [*header, "difference"]
    for treebank, search, names in oracles():
        row, best = [short(treebank), search], []
        las = {o: raw_mean(found(treebank, name), "las_all", "dev") for o, name in names.items()}
        for kind in (STATIC, CHOOSING):
            oracle = max(kind, key=las.__getitem__)
            best.append(names[oracle])
            row += [f"`{oracle}`", score(found(treebank, names[oracle]), "las_all")]
        yield [*row, against(treebank, best[1], best[0])]


#: HGJ13's rows: name, system and oracle.
HGJ13 = (
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


def linear(ending: str = "") -> Iterator[tuple[str, str, str, str, Entry]]:
    """HGJ13's rows that have runs with the linear learner: treebank, name, system, oracle,
    summary."""
    for treebank in TREEBANKS:
        for name, system, oracle in HGJ13:
            if one := trained(treebank, f"linear_{name}{ending}"):
                yield treebank, name, system, oracle, one


def against_monotonic(treebank: str, name: str, prefix: str, split: str) -> str:
    """The difference in UAS from the monotonic parser by the dynamic oracle, and how sure it is."""
    if name == "monotonic" or not trained(treebank, f"{prefix}{name}"):
        return ""
    pair = (f"{prefix}{name}", f"{prefix}monotonic")
    wilcoxon = comparison(treebank, *pair, "uas_all", split, "variants")["p_wilcoxon"]
    shown = against(treebank, *pair, "uas_all", split)
    return f"{shown}; Wilcoxon {probability(wilcoxon)}"


@table("hgj13-linear", left=3, repeat=True)
def _hgj13_linear() -> Rows:
    header = ["treebank", "", "oracle", "seeds", "UAS", "LAS", "UAS, no punct.", "LAS, no punct."]
    yield [*header, "sentences", "UAS against monotonic", "the same, neural"]
    for treebank, name, system, oracle, one in linear():
        row = [short(treebank), system, oracle, count(one)]
        row += [score(one, metric, "dev") for metric in ALL]
        row += [mean(one, metric, "dev") for metric in WORDS]
        row.append(mean(one, "exact_heads", "dev", 1))
        yield row + [against_monotonic(treebank, name, one, "dev") for one in ("linear_", "")]


@table("hgj13-linear-test", left=2, repeat=True)
def _hgj13_linear_test() -> Rows:
    header = ["treebank", "", "seeds", "UAS", "LAS", "UAS, no punct.", "LAS, no punct."]
    yield [*header, "UAS against monotonic"]
    for treebank, name, system, oracle, one in linear():
        if oracle == "combined" or name == "monotonic":
            row = [short(treebank), system, count(one), *(score(one, metric) for metric in ALL)]
            row += [mean(one, metric) for metric in WORDS]
            yield [*row, against_monotonic(treebank, name, "linear_", "test")]


@table("hgj13-beam", left=3, repeat=True)
def _hgj13_beam() -> Rows:
    columns = [
        [f"{what}, {split}" for what in ("UAS", "LAS", "UAS against monotonic")]
        for split in ("dev", "test")
    ]
    yield ["treebank", "", "oracle", "seeds", *columns[0], *columns[1]]
    for treebank, name, system, oracle, one in linear("_beam"):
        row = [short(treebank), system, oracle, count(one)]
        for split in ("dev", "test"):
            row += [score(one, metric, split) for metric in ALL]
            pair = (f"linear_{name}_beam", "linear_monotonic_beam")
            row.append(against(treebank, *pair, "uas_all", split))
        yield row


def judged() -> Iterator[tuple[str, str, str, Entry]]:
    """HGJ13's L+D, where its moves were counted: treebank, oracle, learner, summary."""
    for treebank in TREEBANKS:
        for name, oracle in (("both_combined", "combined"), ("left_reduce", "dynamic")):
            for learner, prefix in (("linear", "linear_"), ("neural", "")):
                if one := trained(treebank, f"{prefix}{name}"):
                    yield treebank, oracle, learner, one


@table("hgj13-linear-moves", left=5, repeat=True)
def _hgj13_linear_moves() -> Rows:
    yield ["treebank", "oracle", "learner", "move", "words", *MADE]
    for treebank, oracle, learner, one in judged():
        for move in one["moves"].get("repairs", ()):
            row = [short(treebank), oracle, learner, move]
            yield [*row, "all", *made(one, move)]
            if one["moves"].get("punct"):
                yield [*row, "no punct.", *made(one, move, without_punct=True)]


@table("hgj13-labels", left=4, repeat=True)
def _hgj13_labels() -> Rows:
    yield ["treebank", "learner", "move", "label before and after: right, wrong"]
    for treebank, oracle, learner, one in judged():
        if oracle == "combined":
            for move, changes in one["moves"]["labels"].items():
                shown = [f"{change} {right}, {wrong}" for change, right, wrong in changes[:4]]
                yield [short(treebank), learner, move, "; ".join(shown)]


def draft() -> Iterator[tuple[str, str, str, Entry]]:
    """The rows of the draft on repairs that have runs with its learner: name, features, what the
    row is called, summary."""
    for variant in VARIANTS["rep_linear"]:
        if one := trained(HUNGARIAN, variant.name):
            yield variant.name, variant.name.split("_")[1], variant.title, one


@table("rep-linear-iterations", left=2)
def _rep_linear_iterations() -> Rows:
    rows = list(draft())
    numbers = sorted(map(int, rows[-1][-1]["uas_by_epoch"]))
    yield ["features", "", "seeds", *(str(number - 1) for number in numbers)]
    for _, features, what, one in rows:
        means = [statistics.fmean(one["uas_by_epoch"][str(number)]) for number in numbers]
        yield [features, what, count(one), *(f"{uas:.2f}" for uas in means)]


@table("rep-linear", left=2)
def _rep_linear() -> Rows:
    columns = [[f"UAS, {split}", "LAS", "UAS against arc-eager"] for split in ("dev", "test")]
    yield ["features", "", "seeds", *columns[0], *columns[1]]
    for name, features, what, one in draft():
        row = [features, what, count(one)]
        base = f"logistic_{features}_monotonic"
        if name == base:
            base = "logistic_plain_monotonic"
        for split in ("dev", "test"):
            row += [score(one, metric, split) for metric in ALL]
            row.append(against(HUNGARIAN, name, base, "uas_all", split))
        yield row
