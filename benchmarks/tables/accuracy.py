"""How accurate the systems are, by treebank and setting."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.formats import page_table
from benchmarks.tables.common import (
    BEAM4,
    ENGLISH,
    GOTHIC,
    HUNGARIAN,
    LONG,
    OWN,
    SPACY,
    STOCK,
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
    table,
)
from benchmarks.titles import difference, seeds, short, title

ACCURACY = (
    *("nm_parser", "swap_parser", "swap_parser_beam4", OWN, BEAM4, TAUGHT),
    *(SPACY, STOCK),
)
#: Of `nl_covington_parser`: what makes it more accurate than on the data as they are.
MORE = ("", "_long", "_phrases", "_wide", "_mixed3", "_taught", "_long_taught")
PLAIN = f"{OWN}_plain"
#: What other parsers make of more epochs.
OTHERS = ("nm_parser_long", f"{SPACY}_long")
MULTIHASH = (
    *(f"{name}_multihash" for name in (OWN, "nm_parser", "swap_parser")),
    *(f"{STOCK}_morphology", f"{STOCK}_freq1", STOCK),
)


def accuracy(systems: Sequence[str]) -> str:
    """Make the table of accuracy, the best first."""
    rows = []
    for treebank in TREEBANKS:
        found = [(name, one) for name in systems if (one := entry(treebank, name))]
        found.sort(key=lambda pair: -raw_mean(pair[1], "las_all"))
        if all(name.startswith("spacy_") for name, _ in found):
            continue  # nothing to compare
        for name, one in found:
            own = [short(treebank), title(name), seeds_of(one)]
            own += [score(one, metric) for metric in ("uas_all", "las_all")]
            own.append(f"{mean(one, 'dep_exact', digits=1)} %")
            own.append("" if name == STOCK else lead(treebank, name, STOCK))
            rows.append(own)
    header = ["treebank", "system", "seeds", "UAS", "LAS", "sentences wholly right"]
    return page_table([*header, "LAS against spaCy"], grouped(rows), left=3)


@table("accuracy")
def _accuracy() -> str:
    return accuracy(ACCURACY)


@table("accuracy-multihash")
def _accuracy_multihash() -> str:
    return accuracy(MULTIHASH)


@table("crossing")
def _crossing() -> str:
    rows = []
    for treebank in (GOTHIC, HUNGARIAN):
        found = [
            (name, one)
            for name in (*ACCURACY, "two_planar")
            if name != "nm_parser" and (one := entry(treebank, name))
        ]
        found.sort(key=lambda pair: -raw_mean(pair[1], "nonproj_r"))
        for name, one in found:
            figures = [mean(one, f"nonproj_{kind}", digits=1) for kind in "pr"]
            rows.append([short(treebank), title(name), seeds_of(one), *figures])
    header = ["treebank", "system", "seeds", "precision", "recall"]
    return page_table(header, grouped(rows), left=3)


@table("same-token-vectors")
def _same_token_vectors() -> str:
    names = ("nm_parser", "swap_parser", OWN, BEAM4)
    rows = []
    for treebank in TREEBANKS:
        cells = [lead(treebank, name, SPACY) for name in names]
        rows.append([short(treebank), mean(entry(treebank, SPACY), "las_all"), *cells])
    header = ["treebank", title(SPACY), *map(title, names)]
    return page_table(header, rows)


@table("in-short")
def _in_short() -> str:
    rows = []
    for name in (STOCK, "udpipe", SPACY, "nm_parser", "swap_parser", OWN, BEAM4, LONG, TAUGHT):
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


@table("crossing-recall-ratio")
def _crossing_recall_ratio() -> str:
    ratios = []
    for treebank in (GOTHIC, HUNGARIAN):
        stock = entry(treebank, STOCK)
        for name in (OWN, "swap_parser"):
            one = entry(treebank, name)
            assert one is not None and stock is not None
            ratios.append(raw_mean(one, "nonproj_r") / raw_mean(stock, "nonproj_r"))
    return f"{min(ratios):.1f} to {max(ratios):.1f} times"


@table("more-accurate")
def _more_accurate() -> str:
    rows = []
    for treebank in TREEBANKS:
        for name in (PLAIN, *(f"{OWN}{kind}" for kind in MORE), *OTHERS):
            one = entry(treebank, name)
            if one is None:
                continue
            row = [short(treebank), title(name), str(one["epochs"]), seeds_of(one)]
            row += [score(one, "las_all", split) for split in ("dev", "test")]
            row.append("" if name in (PLAIN, *OTHERS) else lead(treebank, name, PLAIN))
            rows.append(row)
    header = ["treebank", "", "epochs", "seeds", "LAS on dev", "on test", "difference on test"]
    return page_table(header, grouped(rows), left=4)


@table("udpipe")
def _udpipe() -> str:
    names = ("nm_parser", "swap_parser", OWN)
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
