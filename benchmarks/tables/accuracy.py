"""How accurate the systems are, by treebank and setting."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.summary import Entry
from benchmarks.tables.common import (
    ENGLISH,
    GOTHIC,
    HUNGARIAN,
    NL,
    NM,
    OWN,
    SPACY,
    SPACY_LONG,
    STOCK,
    STOCK_LONG,
    SWAP,
    TAUGHT,
    TREEBANKS,
    Rows,
    comparison,
    entry,
    figure,
    lead,
    mean,
    raw_mean,
    results,
    score,
    table,
)
from benchmarks.titles import difference, seeds, short, title

BEAMS = tuple(f"{name}_beam4" for name in (SWAP, NL))
ACCURACY = (NM, SWAP, NL, *BEAMS, TAUGHT, SPACY_LONG)
#: Of `nl_covington_parser`: what makes it more accurate than on the data as they are.
MORE = ("", "_long", "_taught")
PLAIN = f"{OWN}_plain"
MULTIHASH = (
    *(f"{name}_multihash" for name in (OWN, "nm_parser", "swap_parser")),
    *(f"{STOCK}_morphology", f"{STOCK}_freq1"),
)


def accuracy(systems: Sequence[str], baseline: str) -> Rows:
    """Make the table of accuracy, the best first; `baseline` is a system of spaCy's parser."""
    header = ["treebank", "system", "epochs", "seeds", "UAS", "LAS", "sentences wholly right"]
    yield [*header, "LAS against spaCy"]
    for treebank in TREEBANKS:
        found = [(name, one) for name in (*systems, baseline) if (one := entry(treebank, name))]
        found.sort(key=lambda pair: -raw_mean(pair[1], "las_all"))
        if all(name.startswith("spacy_") for name, _ in found):
            continue  # nothing to compare
        for name, one in found:
            row = [short(treebank), title(name), str(one["epochs"]), seeds(one["seeds"])]
            row += [score(one, metric) for metric in ("uas_all", "las_all")]
            row.append(f"{mean(one, 'dep_exact', digits=1)} %")
            yield [*row, "" if name == baseline else lead(treebank, name, baseline)]


@table("accuracy", left=4)
def _accuracy() -> Rows:
    return accuracy(ACCURACY, STOCK_LONG)


@table("accuracy-multihash", left=4)
def _accuracy_multihash() -> Rows:
    return accuracy(MULTIHASH, STOCK)


@table("crossing", left=3)
def _crossing() -> Rows:
    yield ["treebank", "system", "seeds", "precision", "recall", "F1"]
    for treebank in (GOTHIC, HUNGARIAN):
        found = []
        for name in (*ACCURACY, STOCK_LONG, "two_planar"):
            one = entry(treebank, name)
            if one is not None and name != NM:
                precision, recall = (raw_mean(one, f"nonproj_{kind}") for kind in "pr")
                f1 = 2 * precision * recall / (precision + recall)
                figures = [f"{figure:.1f}" for figure in (precision, recall, f1)]
                found.append((f1, [short(treebank), title(name), seeds(one["seeds"]), *figures]))
        yield from (row for _, row in sorted(found, reverse=True))


@table("same-token-vectors")
def _same_token_vectors() -> Rows:
    names = (NM, SWAP, NL)
    yield ["treebank", title(SPACY), *map(title, names)]
    for treebank in TREEBANKS:
        cells = [lead(treebank, name, SPACY_LONG) for name in names]
        yield [short(treebank), score(entry(treebank, SPACY_LONG), "las_all"), *cells]


@table("in-short")
def _in_short() -> Rows:
    yield ["LAS", *map(short, TREEBANKS)]
    projects = {"udpipe": "UDPipe 1, the best of its systems", "supar": "SuPar's biaffine parser"}
    for name in (STOCK_LONG, *projects, SPACY_LONG, NM, SWAP, NL, TAUGHT):
        row = [projects.get(name) or title(name)]
        for treebank in TREEBANKS:
            one = entry(treebank, name)
            found = peers(treebank, name).values() if name in projects else [one]
            means = [raw_mean(one, "las_all") for one in found if one is not None]
            row.append(f"{max(means):.2f}" if means else "")
        yield row


def peers(treebank: str, name: str) -> dict[str, Entry]:
    """The summaries of another project's systems, whose names begin with `name`, on a treebank."""
    every = results("compare")["systems"].get(treebank, {}).items()
    return {system: one for system, one in every if system.startswith(name)}


@figure("crossing-recall-ratio")
def _crossing_recall_ratio() -> str:
    ratios = []
    for treebank in (GOTHIC, HUNGARIAN):
        base = entry(treebank, STOCK_LONG)
        for one in (entry(treebank, name) for name in (NL, SWAP)):
            if one is not None and base is not None:
                ratios.append(raw_mean(one, "nonproj_r") / raw_mean(base, "nonproj_r"))
    return f"{min(ratios):.1f} to {max(ratios):.1f} times"


@table("more-accurate", left=4)
def _more_accurate() -> Rows:
    yield ["treebank", "", "epochs", "seeds", "LAS on dev", "on test", "difference on test"]
    for treebank in TREEBANKS:
        for name in (PLAIN, *(f"{OWN}{kind}" for kind in MORE)):
            if one := entry(treebank, name):
                row = [short(treebank), title(name), str(one["epochs"]), seeds(one["seeds"])]
                row += [score(one, "las_all", split) for split in ("dev", "test")]
                yield [*row, "" if name == PLAIN else lead(treebank, name, PLAIN)]


@table("udpipe", left=3)
def _udpipe() -> Rows:
    return others("udpipe_", "UDPipe 1's system", (NM, SWAP, NL))


@table("supar", left=2)
def _supar() -> Rows:
    return others("supar", "", (NM, NL))


def others(prefix: str, header: str, names: Sequence[str]) -> Rows:
    """Make the table of another project's best system on each treebank: their names begin with a
    prefix; `header` says what the rest of the name is (empty: they have one name), `names` which of
    our systems it is compared with."""
    columns = ["treebank", *filter(None, [header]), "epochs", "UAS", "LAS"]
    columns += ["sentences wholly right", "crossing arcs: precision", "recall"]
    yield [*columns, *map(title, names)]
    for treebank in TREEBANKS:
        every = peers(treebank, prefix).items()
        for name, one in sorted(every, key=lambda item: -raw_mean(item[1], "las_all"))[:1]:
            system = name.removeprefix(prefix)
            row = [short(treebank), *filter(None, [system]), str(one["epochs"])]
            row += [score(one, "uas_all"), score(one, "las_all")]
            row.append(f"{mean(one, 'dep_exact', digits=1)} %")
            for metric in ("nonproj_p", "nonproj_r"):
                row.append("" if system == "projective" else mean(one, metric, digits=1))
            for better in (entry(treebank, other) for other in names):
                ahead = raw_mean(better, "las_all") - raw_mean(one, "las_all") if better else 0.0
                row.append(f"{ahead:+.2f}" if better else "")
            yield row


@table("bias")
def _bias() -> Rows:
    header = ["treebank", "`crossing_bias`"]
    yield [*header, "dev: LAS", "precision", "recall", "test: LAS", "precision", "recall"]
    for treebank in (GOTHIC, HUNGARIAN):
        for bias in range(3):
            if one := entry(treebank, OWN + (f"_bias{bias}" if bias else "")):
                row = [short(treebank), str(bias)]
                for split in ("dev", "test"):
                    row.append(mean(one, "las_all", split))
                    row += [mean(one, f"nonproj_{kind}", split, 1) for kind in "pr"]
                yield row


@table("exchanged-words", left=3)
def _exchanged_words() -> Rows:
    header = ["LAS", "", "seeds", "dev: as they are", "exchanged", "test: as they are", "exchanged"]
    yield [*header, "difference on test"]
    for name in ("nm_parser", "swap_parser", SPACY):
        for treebank in TREEBANKS:
            exchanged = f"{name}_more_long" if treebank == ENGLISH else name
            plain, changed = (entry(treebank, one) for one in (f"{name}_plain", exchanged))
            if plain is None or changed is None:
                continue
            both = sorted({*plain["seeds"]} & {*changed["seeds"]})
            row = [title(name), short(treebank), seeds(both)]
            for split in ("dev", "test"):
                row += [mean(one, "las_all", split, only=both) for one in (plain, changed)]
            yield [*row, difference(comparison(treebank, exchanged, f"{name}_plain"))]
