"""The variants of parsers that the papers compare: see benchmarks.papers."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Collection, Iterator, Sequence
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
    results,
    score,
    table,
)
from benchmarks.titles import difference, probability, short
from benchmarks.upper_bound import HEADER, cells

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
    return difference(one, "; one seed" if one["n_seeds"] == 1 else "")


def count(one: Entry) -> str:
    """Write the number of seeds."""
    return str(len(one["seeds"]))


def made(one: Entry, move: str, without_punct: bool = False) -> list[str]:
    """Write how often a non-monotonic move was made or not, rightly or not, a mean over seeds; and
    the share of TP in TP and FP over all seeds."""
    moves = one["moves"]
    left_out = moves["punct"].get(move, {}) if without_punct else {}
    counts = {kind: moves["repairs"][move][kind] - left_out.get(kind, 0) for kind in COUNTS}
    share = 100 * counts["tp"] / (counts["tp"] + counts["fp"])
    return [*(f"{count / moves['seeds']:,.0f}" for count in counts.values()), f"{share:.0f} %"]


MADE = [*map(str.upper, COUNTS[:4]), *COUNTS[4:], "TP in TP + FP"]


def cell(treebank: str, name: str, first: str, metric: str) -> str:
    """Write the score on dev of the first row of a comparison; of another row, how far it is ahead
    of the first; nothing where there are no runs."""
    own = trained(treebank, name)
    if own is None or name == first:
        return score(own, metric, "dev")
    return against(treebank, name, first, metric, "dev")


def differences(name: str, treebanks: Sequence[str], left_out: Collection[str] = ()) -> Rows:
    """Make the table of a comparison: UAS on dev, on each treebank against the first row. Rows
    without runs, and those that are named, are left out."""
    listed = VARIANTS[name]
    yield ["UAS", *map(short, treebanks)]
    for one in listed:
        cells = [cell(treebank, one.name, listed[0].name, "uas_all") for treebank in treebanks]
        if any(cells) and one.name not in left_out:
            yield [one.title, *cells]


table("variants-rep")(partial(differences, "rep", (ENGLISH, GOTHIC, HUNGARIAN)))
table("variants-hgj13")(partial(differences, "hgj13", TREEBANKS))


#: FG18's systems, and what tables call them.
LISTS = {
    "covington_static": "Covington, static",
    "covington": "Covington, dynamic",
    "nl_covington_static": "NL-Covington, static",
    "nl_covington": "NL-Covington, dynamic",
    "arc_swift_static": "static",
    "arc_swift": "`combined`",
    "covington_loose": "Covington",
    "nl_covington_loose": "NL-Covington",
    **{variant.name: variant.title for variant in VARIANTS["fg18_roots"]},
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
    header = ["arc-swift", "oracle", "UAS", "LAS", "moves a sentence"]
    yield [*header, "NL-Covington against it"]
    for treebank in (ENGLISH, GOTHIC, HUNGARIAN, TURKISH, DEMO):
        for oracle in ("_static", ""):
            other = against(treebank, f"nl_covington{oracle}", f"arc_swift{oracle}")
            yield [*list_system(treebank, f"arc_swift{oracle}"), other]


@table("fg18-loose", left=2)
def _fg18_loose() -> Rows:
    yield ["treebank", "non-monotonic", "UAS", "LAS", "moves a sentence", "against monotonic"]
    for name in ("covington", "nl_covington"):
        loose = f"{name}_loose"
        yield [*list_system(HUNGARIAN, loose), against(HUNGARIAN, loose, name)]


@table("fg18-roots", left=2)
def _fg18_roots() -> Rows:
    header = ["treebank", "", "UAS", "LAS", "moves a sentence", "against static"]
    yield [*header, "against dynamic"]
    for treebank in (HUNGARIAN, TURKISH):
        for name in (variant.name for variant in VARIANTS["fg18_roots"]):
            base, _, oracle = name.rpartition("_")
            static = "" if oracle == "static" else against(treebank, name, f"{base}_static")
            dynamic = against(treebank, name, f"{base}_dynamic") if oracle == "stops" else ""
            yield [*list_system(treebank, name), static, dynamic]


#: What ends the names of BN15's runs, and what tables call them.
SEARCHES = {"": "greedy", "_beam": "beam of 8"}


@table("bn15-tags")
def _bn15_tags() -> Rows:
    yield ["tags right", "train", "dev", "test"]
    for treebank in BN15_TREEBANKS:
        tags = found(treebank, "linear_swap_eager")["tags"]
        shares = [f"{100 * tags[split]:.1f} %" for split in ("train", "dev", "test")]
        yield [short(treebank), *shares]


@table("bn15-dev", left=2)
def _bn15_dev() -> Rows:
    yield ["search", "oracle", *map(short, BN15_TREEBANKS)]
    for ending, search in SEARCHES.items():
        for oracle in (*STATIC, *CHOOSING):
            names = f"linear_swap_{oracle}{ending}", f"linear_swap_eager{ending}"
            cells = [cell(treebank, *names, "las_all") for treebank in BN15_TREEBANKS]
            yield [search, f"`{oracle}`", *cells]


def best(treebank: str, oracles: Sequence[str], ending: str) -> str:
    """Choose the oracle whose parser has the highest LAS on dev; `ending` names the search."""

    def las(oracle: str) -> float:
        return raw_mean(found(treebank, f"linear_swap_{oracle}{ending}"), "las_all", "dev")

    return max(oracles, key=las)


@table("bn15-test", left=2)
def _bn15_test() -> Rows:
    header = ["treebank", "search", "best static", "LAS", "best non-deterministic", "LAS"]
    yield [*header, "difference"]
    for (ending, search), treebank in itertools.product(SEARCHES.items(), BN15_TREEBANKS):
        row, chosen = [short(treebank), search], []
        for kind in (STATIC, CHOOSING):
            oracle = best(treebank, kind, ending)
            chosen.append(f"linear_swap_{oracle}{ending}")
            row += [f"`{oracle}`", score(found(treebank, chosen[-1]), "las_all")]
        yield [*row, against(treebank, chosen[1], chosen[0])]


@table("bn15-choice", left=3)
def _bn15_choice() -> Rows:
    yield ["search", "oracle", "against", *map(short, BN15_TREEBANKS)]
    for (ending, search), *pair in itertools.product(SEARCHES.items(), CHOOSING, STATIC):
        names = [f"linear_swap_{oracle}{ending}" for oracle in pair]
        cells = [against(treebank, *names) for treebank in BN15_TREEBANKS]
        yield [search, *(f"`{oracle}`" for oracle in pair), *cells]


@table("bn15-seconds")
def _bn15_seconds() -> Rows:
    yield ["search", *(f"`{oracle}`" for oracle in (*STATIC[1:], *CHOOSING))]
    for ending, search in SEARCHES.items():
        cells = []
        for oracle in (*STATIC[1:], *CHOOSING):
            times = [
                found(treebank, f"linear_swap_{oracle}{ending}")["training_seconds"]["mean"]
                / found(treebank, f"linear_swap_eager{ending}")["training_seconds"]["mean"]
                for treebank in BN15_TREEBANKS
            ]
            cells.append(f"{min(times):.2f} to {max(times):.2f}")
        yield [search, *cells]


#: The rows of HGJ13's tables: the runs with the paper's learner, and what tables call them.
HGJ13 = {
    "linear_monotonic": "monotonic",
    "linear_left_combined": "L",
    "linear_reduce_combined": "D",
    "linear_both_combined": "L+D",
}


def hgj13(split: str) -> Rows:
    """Make HGJ13's Table 1 or Table 3: L, D and L+D by the combined oracle against the monotonic
    parser by the dynamic one, with two tests of significance."""
    header = ["treebank", "", "seeds", "UAS", "LAS", "UAS, no punct.", "sentences"]
    yield [*header, "UAS against monotonic"]
    for treebank, (name, system) in itertools.product(TREEBANKS, HGJ13.items()):
        if one := trained(treebank, name):
            row = [short(treebank), system, count(one)]
            row += [score(one, metric, split) for metric in ALL]
            row += [mean(one, "uas_words", split), mean(one, "exact_heads", split, 1)]
            if name == "linear_monotonic":
                yield [*row, ""]
                continue
            pair = comparison(treebank, name, "linear_monotonic", "uas_all", split, "variants")
            yield [*row, difference(pair, f"; Wilcoxon {probability(pair['p_wilcoxon'])}")]


for _split in ("dev", "test"):
    table(f"hgj13-linear-{_split}", left=2)(partial(hgj13, _split))
_others = (GOTHIC, TURKISH, HUNGARIAN)
table("hgj13-oracles")(partial(differences, "hgj13_linear", _others, [*HGJ13][1:]))


@table("hgj13-static")
def _hgj13_static() -> Rows:
    yield ["L+D against monotonic, UAS", *map(short, _others)]
    for split in ("dev", "test"):
        names = "linear_both_static", "linear_monotonic_static"
        yield [split, *(against(one, *names, "uas_all", split) for one in _others)]


@table("hgj13-explore", left=2)
def _hgj13_explore() -> Rows:
    columns = ("UAS", "UAS against monotonic")
    yield [
        "treebank",
        "",
        "seeds",
        *(f"{what}, {one}" for one in ("dev", "test") for what in columns),
    ]
    variants = [variant.name for variant in VARIANTS["hgj13_explore"]]
    for treebank, (name, title) in itertools.product(
        TREEBANKS, zip(variants, HGJ13.values(), strict=True)
    ):
        if one := trained(treebank, name):
            row = [short(treebank), title, count(one)]
            for split in ("dev", "test"):
                row.append(score(one, "uas_all", split))
                row.append(against(treebank, name, variants[0], "uas_all", split))
            yield row


@table("hgj13-beam")
def _hgj13_beam() -> Rows:
    columns = ("UAS", "LAS", "UAS against monotonic")
    yield ["", *(f"{what}, {split}" for split in ("dev", "test") for what in columns)]
    for variant in VARIANTS["hgj13_beam"]:
        one, row = found(HUNGARIAN, variant.name), [variant.title.removesuffix(", beam")]
        for split in ("dev", "test"):
            row += [score(one, metric, split) for metric in ALL]
            row.append(against(HUNGARIAN, variant.name, "linear_monotonic_beam", "uas_all", split))
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


@table("hgj13-upper-bound")
def _hgj13_upper_bound() -> Rows:
    yield HEADER
    for treebank, one in results("upper_bound").items():
        yield [short(treebank), *cells(one["seeds"])]


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


#: The parsers with all four of the draft's repairs whose use is shown: their runs, what tables call
#: them, and the treebanks.
REPAIRING = (
    ("all_repairs", "neural, `dynamic`", (ENGLISH, GOTHIC, HUNGARIAN)),
    ("logistic_additional_all_repairs", "the draft's, `dynamic`", (GOTHIC, HUNGARIAN)),
    ("logistic_additional_all_repairs_combined", "the draft's, `combined`", (GOTHIC, HUNGARIAN)),
)
REPAIRS = {
    "LEFT-ARC": "left reattach",
    "RIGHT-LOWER": "right lower",
    "RIGHT-RAISE": "right raise",
    "LEFT-INVERT": "left invert",
}


@table("rep-moves", left=3)
def _rep_moves() -> Rows:
    yield ["learner and oracle", "treebank", "repair", "right", "wrong", "neutral", "missed"]
    for name, title, treebanks in REPAIRING:
        for treebank, (move, repair) in itertools.product(treebanks, REPAIRS.items()):
            moves = found(treebank, name)["moves"]
            counts = [moves["repairs"][move][kind] for kind in ("tp", "fp", "neutral", "fn")]
            shown = [f"{number / moves['seeds']:,.1f}" for number in counts]
            yield [title, short(treebank), repair, *shown]


@table("rep-linear-iterations", left=3)
def _rep_linear_iterations() -> Rows:
    rows = [row for row in draft() if not row[1].endswith("_200")]
    numbers = sorted(map(int, rows[-1][-1]["uas_by_epoch"]))
    yield ["treebank", "features", "", *(str(number - 1) for number in numbers)]
    for treebank, _, features, what, one in rows:
        means = [statistics.fmean(one["uas_by_epoch"][str(number)]) for number in numbers]
        yield [short(treebank), features, what, *(f"{uas:.2f}" for uas in means)]


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
