"""How accurate the systems are, by treebank and setting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.formats import page_table
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
    comparison,
    entry,
    grouped,
    lead,
    mean,
    raw_mean,
    results,
    score,
    seeds_of,
    stock,
    table,
)
from benchmarks.titles import difference, seeds, short, title

NM_TAUGHT = "nm_parser_taught"
BEAMS = tuple(f"{name}_beam4" for name in (SWAP, NL))
ACCURACY = (NM, NM_TAUGHT, SWAP, NL, *BEAMS, TAUGHT, SPACY_LONG)
#: Of `nl_covington_parser`: what makes it more accurate than on the data as they are.
MORE = ("", "_long", "_phrases", "_wide", "_mixed3", "_taught")
PLAIN = f"{OWN}_plain"
MULTIHASH = (
    *(f"{name}_multihash" for name in (OWN, "nm_parser", "swap_parser")),
    *(f"{STOCK}_morphology", f"{STOCK}_freq1"),
)


def accuracy(systems: Sequence[str], choose: Callable[[str], str]) -> str:
    """Make the table of accuracy, the best first; `choose` names spaCy's parser of a treebank."""
    rows = []
    for treebank in TREEBANKS:
        baseline = choose(treebank)
        names = (*systems, baseline)
        found = [(name, one) for name in names if (one := entry(treebank, name))]
        found.sort(key=lambda pair: -raw_mean(pair[1], "las_all"))
        if all(name.startswith("spacy_") for name, _ in found):
            continue  # nothing to compare
        for name, one in found:
            own = [short(treebank), title(name), str(one["epochs"]), seeds_of(one)]
            own += [score(one, metric) for metric in ("uas_all", "las_all")]
            own.append(f"{mean(one, 'dep_exact', digits=1)} %")
            own.append("" if name == baseline else lead(treebank, name, baseline))
            rows.append(own)
    header = ["treebank", "system", "epochs", "seeds", "UAS", "LAS", "sentences wholly right"]
    return page_table([*header, "LAS against spaCy"], grouped(rows), left=4)


@table("accuracy")
def _accuracy() -> str:
    return accuracy(ACCURACY, stock)


@table("accuracy-multihash")
def _accuracy_multihash() -> str:
    return accuracy(MULTIHASH, lambda _: STOCK)


@table("crossing")
def _crossing() -> str:
    rows = []
    for treebank in (GOTHIC, HUNGARIAN):
        found = []
        for name in (*ACCURACY, STOCK_LONG, "two_planar"):
            one = entry(treebank, name)
            if one is not None and name not in (NM, NM_TAUGHT):
                precision, recall = (raw_mean(one, f"nonproj_{kind}") for kind in "pr")
                f1 = 2 * precision * recall / (precision + recall)
                figures = [f"{figure:.1f}" for figure in (precision, recall, f1)]
                found.append((f1, [short(treebank), title(name), seeds_of(one), *figures]))
        rows += [row for _, row in sorted(found, reverse=True)]
    header = ["treebank", "system", "seeds", "precision", "recall", "F1"]
    return page_table(header, grouped(rows), left=3)


@table("same-token-vectors")
def _same_token_vectors() -> str:
    names = (NM, SWAP, NL)
    rows = []
    for treebank in TREEBANKS:
        cells = [lead(treebank, name, SPACY_LONG) for name in names]
        rows.append([short(treebank), score(entry(treebank, SPACY_LONG), "las_all"), *cells])
    header = ["treebank", title(SPACY), *map(title, names)]
    return page_table(header, rows)


@table("in-short")
def _in_short() -> str:
    rows = []
    projects = {"udpipe": "UDPipe 1, the best of its systems", "supar": "SuPar's biaffine parser"}
    for name in (STOCK, *projects, SPACY_LONG, NM, SWAP, NL, NM_TAUGHT, TAUGHT):
        row = [projects.get(name) or title(name)]
        for treebank in TREEBANKS:
            one = entry(treebank, stock(treebank) if name == STOCK else name)
            found = peers(treebank, name).values() if name in projects else [one]
            means = [raw_mean(one, "las_all") for one in found if one is not None]
            row.append(f"{max(means):.2f}" if means else "")
        rows.append(row)
    return page_table(["LAS", *map(short, TREEBANKS)], rows)


def peers(treebank: str, name: str) -> dict[str, dict[str, Any]]:
    """The summaries of another project's systems, whose names begin with `name`, on a treebank."""
    every = results("compare")["systems"].get(treebank, {}).items()
    return {system: one for system, one in every if system.startswith(name)}


@table("crossing-recall-ratio")
def _crossing_recall_ratio() -> str:
    ratios = []
    for treebank in (GOTHIC, HUNGARIAN):
        base = entry(treebank, stock(treebank))
        for one in (entry(treebank, name) for name in (NL, SWAP)):
            if one is not None and base is not None:
                ratios.append(raw_mean(one, "nonproj_r") / raw_mean(base, "nonproj_r"))
    return f"{min(ratios):.1f} to {max(ratios):.1f} times"


@table("more-accurate")
def _more_accurate() -> str:
    rows = []
    for treebank in TREEBANKS:
        for name in (PLAIN, *(f"{OWN}{kind}" for kind in MORE)):
            one = entry(treebank, name)
            if one is None:
                continue
            row = [short(treebank), title(name), str(one["epochs"]), seeds_of(one)]
            row += [score(one, "las_all", split) for split in ("dev", "test")]
            row.append("" if name == PLAIN else lead(treebank, name, PLAIN))
            rows.append(row)
    header = ["treebank", "", "epochs", "seeds", "LAS on dev", "on test", "difference on test"]
    return page_table(header, grouped(rows), left=4)


@table("udpipe")
def _udpipe() -> str:
    return others("udpipe_", "UDPipe 1's system", (NM, SWAP, NL))


@table("supar")
def _supar() -> str:
    return others("supar", "", (NM, NL))


def others(prefix: str, header: str, names: Sequence[str]) -> str:
    """Make the table of another project's systems, the best first: those whose names begin with a
    prefix; `header` says what the rest of the name is (empty: they have one name), `names` which of
    our systems they are compared with."""
    rows = []
    for treebank in TREEBANKS:
        every = peers(treebank, prefix).items()
        for name, one in sorted(every, key=lambda item: -raw_mean(item[1], "las_all")):
            system = name.removeprefix(prefix)
            own = [short(treebank), *filter(None, [system]), str(one["epochs"])]
            own += [score(one, "uas_all"), score(one, "las_all")]
            own.append(f"{mean(one, 'dep_exact', digits=1)} %")
            for metric in ("nonproj_p", "nonproj_r"):
                own.append("" if system == "projective" else mean(one, metric, digits=1))
            for other in names:
                better = entry(treebank, other)
                ahead = raw_mean(better, "las_all") - raw_mean(one, "las_all") if better else 0.0
                own.append(f"{ahead:+.2f}" if better else "")
            rows.append(own)
    first = ["treebank", *filter(None, [header]), "epochs"]
    columns = [*first, "UAS", "LAS", "sentences wholly right"]
    columns += ["crossing arcs: precision", "recall", *map(title, names)]
    return page_table(columns, grouped(rows), left=len(first))


@table("bias")
def _bias() -> str:
    rows = []
    for treebank in (GOTHIC, HUNGARIAN):
        for bias in range(3):
            one = entry(treebank, OWN + (f"_bias{bias}" if bias else ""))
            if one is None:
                continue
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
    for name in ("nm_parser", "swap_parser", OWN, SPACY):
        for treebank in TREEBANKS:
            exchanged = f"{name}_long" if treebank == ENGLISH else name
            plain, changed = (entry(treebank, one) for one in (f"{name}_plain", exchanged))
            if plain is None or changed is None:
                continue
            both = sorted({*plain["seeds"]} & {*changed["seeds"]})
            row = [title(name), short(treebank), seeds(both)]
            for split in ("dev", "test"):
                row += [mean(one, "las_all", split, only=both) for one in (plain, changed)]
            row.append(difference(comparison(treebank, exchanged, f"{name}_plain")))
            rows.append(row)
    header = ["LAS", "", "seeds", "dev: as they are", "exchanged", "test: as they are", "exchanged"]
    return page_table([*header, "difference on test"], grouped(rows), left=3)


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
