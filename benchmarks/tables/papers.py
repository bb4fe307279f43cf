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
    table,
)
from benchmarks.titles import difference, probability, short

BN15_TREEBANKS = (GOTHIC, LATIN, TURKISH, HUNGARIAN)
ALL = ("uas_all", "las_all")


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
    one = comparison(treebank, name, base, metric, split, "variants")
    return difference(one) + ("; one seed" if one["n_seeds"] == 1 else "")


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


@table("fg18-arc-swift")
def _fg18_arc_swift() -> Rows:
    yield ["arc-swift", "UAS", "LAS", "moves a sentence", "NL-Covington against it"]
    for treebank in (ENGLISH, GOTHIC, HUNGARIAN, TURKISH, DEMO):
        _, _, *scores = list_system(treebank, "arc_swift")
        yield [short(treebank), *scores, against(treebank, "nl_covington", "arc_swift")]


#: What ends the names of BN15's runs, and what tables call them.
SEARCHES = {"": "greedy", "_beam": "beam of 8"}


def oracles() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Where there are runs of all of BN15's oracles: treebank, search, names of the runs."""
    for ending, search in SEARCHES.items():
        for treebank in BN15_TREEBANKS:
            names = {oracle: f"linear_swap_{oracle}{ending}" for oracle in (*STATIC, *CHOOSING)}
            if all(trained(treebank, name) for name in names.values()):
                yield treebank, search, names


@table("bn15-tags")
def _bn15_tags() -> Rows:
    yield ["tags right", "train", "dev", "test"]
    for treebank in BN15_TREEBANKS:
        one = trained(treebank, "linear_swap_eager")
        if one and "tags" in one:
            shares = [f"{100 * one['tags'][split]:.1f} %" for split in ("train", "dev", "test")]
            yield [short(treebank), *shares]


@table("bn15-dev", left=2)
def _bn15_dev() -> Rows:
    yield ["treebank, search", "oracle", "seeds", "LAS", "against `eager`"]
    for treebank, search, names in oracles():
        for oracle, name in names.items():
            one = found(treebank, name)
            row = [f"{short(treebank)}, {search}", f"`{oracle}`", count(one)]
            row.append(score(one, "las_all", "dev"))
            yield [*row, against(treebank, name, names["eager"], split="dev")]


@table("bn15-test", left=2)
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
    ("monotonic_explore0.9", "monotonic", "dynamic, explore 0.9"),
    ("both_combined_explore0.9", "L+D", "combined, explore 0.9"),
    ("never_shift", "L, never SHIFT", "dynamic"),
    ("labelled_reduce", "L+D, labelled REDUCE", "dynamic"),
    ("always_shift", "the same, always SHIFT", "dynamic"),
)


def linear(ending: str = "") -> Iterator[tuple[str, str, str, str, Entry]]:
    """HGJ13's rows that have runs with the linear learner: treebank, name, system, oracle,
    summary."""
    for treebank in TREEBANKS:
        for name, system, oracle in HGJ13:
            if one := trained(treebank, f"linear_{name}{ending}"):
                yield treebank, name, system, oracle, one


def against_monotonic(treebank: str, name: str, split: str) -> str:
    """The difference in UAS from the monotonic parser by the dynamic oracle, and how sure it is."""
    if name == "monotonic":
        return ""
    pair = (f"linear_{name}", "linear_monotonic")
    wilcoxon = comparison(treebank, *pair, "uas_all", split, "variants")["p_wilcoxon"]
    shown = against(treebank, *pair, "uas_all", split)
    return f"{shown}; Wilcoxon {probability(wilcoxon)}"


@table("hgj13-linear", left=3)
def _hgj13_linear() -> Rows:
    header = ["treebank", "", "oracle", "seeds", "UAS", "LAS", "UAS, no punct."]
    yield [*header, "sentences", "UAS against monotonic"]
    for treebank, name, system, oracle, one in linear():
        row = [short(treebank), system, oracle, count(one)]
        row += [score(one, metric, "dev") for metric in ALL]
        row += [mean(one, "uas_words", "dev"), mean(one, "exact_heads", "dev", 1)]
        yield [*row, against_monotonic(treebank, name, "dev")]


@table("hgj13-static", left=1)
def _hgj13_static() -> Rows:
    yield ["treebank", "seeds", "L+D against monotonic, dev", "test"]
    for treebank in TREEBANKS:
        pair = ("linear_both_static", "linear_monotonic_static")
        if one := trained(treebank, pair[0]):
            found = (against(treebank, *pair, "uas_all", split) for split in ("dev", "test"))
            yield [short(treebank), count(one), *found]


@table("yield", left=2)
def _yield() -> Rows:
    yield ["treebank", "learner", "seeds", "combined, dev", "test", "dynamic, dev", "test"]
    for treebank in TREEBANKS:
        for learner, prefix in (("linear", "linear_"), ("neural", "")):
            if one := trained(treebank, f"{prefix}left_yield_combined"):
                pairs = (("left_yield_combined", "both_combined"), ("left_yield", "left_reduce"))
                cells = (
                    against(treebank, prefix + own, prefix + base, "uas_all", split)
                    for own, base in pairs
                    for split in ("dev", "test")
                )
                yield [short(treebank), learner, count(one), *cells]


@table("hgj13-linear-test", left=2)
def _hgj13_linear_test() -> Rows:
    header = ["treebank", "", "seeds", "UAS", "LAS", "UAS, no punct."]
    yield [*header, "UAS against monotonic"]
    for treebank, name, system, oracle, one in linear():
        if oracle == "combined" or name == "monotonic":
            row = [short(treebank), system, count(one), *(score(one, metric) for metric in ALL)]
            row.append(mean(one, "uas_words"))
            yield [*row, against_monotonic(treebank, name, "test")]


@table("hgj13-beam", left=3)
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


def judged() -> Iterator[tuple[str, Entry]]:
    """HGJ13's L+D by the combined oracle, with its learner, where moves were counted."""
    for treebank in TREEBANKS:
        if one := trained(treebank, "linear_both_combined"):
            yield treebank, one


@table("hgj13-linear-moves", left=3)
def _hgj13_linear_moves() -> Rows:
    yield ["treebank", "move", "words", *MADE]
    for treebank, one in judged():
        for move in one["moves"]["repairs"]:
            yield [short(treebank), move, "all", *made(one, move)]
            if one["moves"].get("punct"):
                yield [short(treebank), move, "no punct.", *made(one, move, without_punct=True)]


@table("hgj13-labels", left=3)
def _hgj13_labels() -> Rows:
    yield ["treebank", "move", "label before and after: right, wrong"]
    for treebank, one in judged():
        for move, changes in one["moves"]["labels"].items():
            shown = [f"{change} {right}, {wrong}" for change, right, wrong in changes[:3]]
            yield [short(treebank), move, "; ".join(shown)]


def draft() -> Iterator[tuple[str, str, str, str, Entry]]:
    """The rows of the draft on repairs that have runs with its learner: treebank, name, features,
    what the row is called, summary."""
    for treebank in (HUNGARIAN, GOTHIC):
        for variant in VARIANTS["rep_linear"]:
            if one := trained(treebank, variant.name):
                yield treebank, variant.name, variant.name.split("_")[1], variant.title, one


@table("rep-linear-iterations", left=3)
def _rep_linear_iterations() -> Rows:
    rows = list(draft())
    numbers = sorted(map(int, rows[-1][-1]["uas_by_epoch"]))
    yield ["treebank", "features", "", "seeds", *(str(number - 1) for number in numbers)]
    for treebank, _, features, what, one in rows:
        means = [statistics.fmean(one["uas_by_epoch"][str(number)]) for number in numbers]
        yield [short(treebank), features, what, count(one), *(f"{uas:.2f}" for uas in means)]


@table("rep-linear", left=3)
def _rep_linear() -> Rows:
    header = ["treebank", "features", "", "dev, against arc-eager", "UAS, test"]
    yield [*header, "against arc-eager"]
    for treebank, name, features, what, one in draft():
        base = f"logistic_{features}_monotonic"
        if name == base:
            base = "logistic_plain_monotonic"
        dev, test = (
            against(treebank, name, base, "uas_all", split) if trained(treebank, base) else ""
            for split in ("dev", "test")
        )
        yield [short(treebank), features, what, dev, score(one, "uas_all"), test]
