"""How accurate the systems are, by treebank and setting."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.formats import page_table
from benchmarks.tables.common import (
    BEAM4,
    ENGLISH,
    GOTHIC,
    HUNGARIAN,
    SPACY,
    STOCK,
    TREEBANKS,
    TURKISH,
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

OWN = "nl_covington_parser"
ACCURACY = (
    *("nm_parser", "nm_parser_beam4", "swap_parser", "swap_parser_beam4", OWN, BEAM4),
    *(f"{OWN}_accuracy", f"{OWN}_accuracy_beam4", SPACY, STOCK),
)
#: Of networks with LSTMs, which are no longer here.
BEFORE = (
    *(
        f"lstm_{OWN}{size}{kind}"
        for size in ("", "_accuracy")
        for kind in ("", "_beam4", "_ensemble5", "_ensemble5_beam4", "_bias2", "_nonce4")
    ),
    *(f"lstm_{OWN}_accuracy_nonce4{kind}" for kind in ("_beam4", "_ensemble5", "_ensemble5_beam4")),
    STOCK,
)
MULTIHASH = (
    *(
        f"{name}_multihash{kind}"
        for name in ("nl_covington_parser", "nm_parser", "swap_parser")
        for kind in ("", "_untagged", "_beam8", "_untagged_beam8")
    ),
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
            own.append("" if name == STOCK else lead(treebank, name, STOCK))
            rows.append(own)
    header = ["treebank", "system", "seeds", "UAS", "LAS", "sentences wholly right"]
    return page_table([*header, "LAS against spaCy"], grouped(rows), left=3)


@table("accuracy")
def _accuracy() -> str:
    return accuracy(ACCURACY)


@table("accuracy-before")
def _accuracy_before() -> str:
    return accuracy(BEFORE)


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
    names = ("nm_parser", "swap_parser", OWN, BEAM4)
    rows = []
    for treebank in TREEBANKS:
        cells = [lead(treebank, name, SPACY) for name in names]
        rows.append([short(treebank), mean(entry(treebank, SPACY), "las_all"), *cells])
    header = ["treebank", title(SPACY), *map(title, names)]
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
        *(STOCK, "udpipe", SPACY, "nm_parser", "swap_parser", OWN, BEAM4),
        *(f"{OWN}_accuracy", f"{OWN}_accuracy_beam4"),
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


@table("gain-of-a-beam")
def _gain_of_a_beam() -> str:
    names = (f"lstm_{BEAM4}", f"lstm_{OWN}")
    found = [comparison(treebank, *names)["difference"] for treebank in TREEBANKS]
    return f"{min(found):.2f} to {max(found):.2f} points"


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
            one = entry(treebank, f"lstm_{OWN}" + (f"_bias{bias}" if bias else ""))
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
    for name in (SPACY, f"lstm_{OWN}", f"lstm_{OWN}_accuracy"):
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
    found = comparison(HUNGARIAN, f"lstm_{OWN}_nonce4", f"{SPACY}_nonce4")
    return difference(found)


@table("exchanged-words-gothic")
def _exchanged_words_gothic() -> str:
    name = f"lstm_{OWN}_accuracy"
    pair = [entry(GOTHIC, name + kind) for kind in ("_nonce4_epochs12", "")]
    copied, plain = (mean(one, "las_all", "dev", only=[2]) for one in pair if one is not None)
    return f"{copied} LAS on dev after 12 epochs with four copies, {plain} after 30 without"


COLUMNS = {"nl_covington_parser_accuracy": 2, "nl_covington_parser": 4}  # the configs' factors


@table("dropout-of-columns")
def _dropout_of_columns() -> str:
    rows = []
    for name, own in COLUMNS.items():
        for treebank in (ENGLISH, HUNGARIAN, TURKISH, GOTHIC):
            cells = []
            for factor in (1, 2, 3, 4, 5, 7):
                base = f"lstm_{name}_lstm1"
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
        one = entry(HUNGARIAN, f"lstm_{OWN}_lstm1{suffix}")
        assert one is not None
        rows.append([weight, mean(one, "las_all", "dev", only=[1])])
    return page_table(["`teacher_weight`", "LAS on dev"], rows)


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
