"""The tables of README, docs and benchmarks are those of the files in benchmarks/results."""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.test_readme import README, ROOT, read

if str(ROOT / "benchmarks") not in sys.path:
    sys.path.insert(0, str(ROOT / "benchmarks"))
table: Any = __import__("table")
variants: Any = __import__("variants")

RESULTS = table.load(ROOT / "benchmarks" / "results" / "accuracy")
TREEBANKS = {name.removeprefix("UD_").split("-")[0]: name for name in RESULTS}


def rows_under(header: str, page: Path = ROOT / "docs" / "results.md") -> Iterator[list[str]]:
    """The cells of the page's table with this header."""
    lines = read(page).split(header, 1)[1].split("\n", 2)[2].splitlines()
    for line in lines:
        if not line.startswith("|"):
            return
        yield [cell.strip().strip("*") for cell in line.strip("|").split("|")]


def system_of(cell: str) -> str:
    """The name of a row's result files."""
    if "AffixEmbed" in cell:
        return "spacy_parser_affixes"
    if "min_action_freq" in cell:
        return "spacy_parser_freq1"
    if "spaCy" in cell:
        return "spacy_parser_morphology" if "morphologizer" in cell else "spacy_parser"
    name = re.findall("`(.*?)`", cell)[0]
    if "without tags" in cell:
        name += "_untagged"
    bias = re.search(r"crossing_bias = (\d)", cell)
    if bias:
        name += f"_bias{bias[1]}"
    lstms = re.search(r"lstm_depth = (\d)", cell)
    if lstms:
        name += f"_lstm{lstms[1]}"
    copies = re.search(r"copies = (\d)", cell)
    if copies:
        name += f"_nonce{copies[1]}"
    for kind, number in re.findall(r"(beam|ensemble) of (\d+)", cell):
        name += f"_{kind}{number}"
    return name


def by_treebank(rows: Iterator[list[str]]) -> Iterator[tuple[str, str, list[str]]]:
    """Treebank, system and the other cells; a treebank is named in its first row only."""
    treebank = ""
    for first, system, *cells in rows:
        if first and not first.startswith("("):
            treebank = first.split(" (")[0]
        yield f"UD_{treebank}", system_of(system), cells


def mean(treebank: str, system: str, metric: str) -> float:
    runs = RESULTS[treebank][system].values()
    return 100 * statistics.fmean(run["test"]["scores"][metric] for run in runs)


@pytest.fixture
def difference(monkeypatch: pytest.MonkeyPatch) -> Any:
    """LAS against spaCy's parser on the seeds that both have."""
    monkeypatch.setattr(table, "bootstrap", lambda *arguments: (0.0, 0.0, 1.0))

    def difference(treebank: str, system: str) -> str:
        systems = RESULTS[treebank]
        found = table.compare(systems[system], systems["spacy_parser"], "test", "las_all")
        return f"{found.difference:+.2f}"

    return difference


@pytest.mark.parametrize(
    "header",
    [
        "| treebank | | UAS | LAS | sentences wholly right | LAS against spaCy |",
        "| treebank | config | UAS | LAS | sentences wholly right | LAS against spaCy |",
    ],
)
def test_accuracy(header: str, difference: Any) -> None:
    found = list(by_treebank(rows_under(header)))
    assert len({treebank for treebank, *_ in found}) == 4
    for treebank, system, (uas, las, exact, against) in found:
        runs = RESULTS[treebank][system].values()
        for cell, metric in ((uas, "uas_all"), (las, "las_all")):
            scores = [run["test"]["scores"][metric] for run in runs]
            expected = table.mean_and_deviation(scores, 100, 2)
            assert cell.replace("*", "") == expected, (treebank, system, metric)
        assert exact == f"{mean(treebank, system, 'dep_exact'):.1f} %", (treebank, system)
        if system != "spacy_parser":
            assert against.startswith(f"{difference(treebank, system)} ("), (treebank, system)


def test_same_token_vectors() -> None:
    names = ["nl_covington_parser", "spacy_parser_affixes"]
    header = "| treebank | `nl_covington_parser` | spaCy's `parser` with `AffixEmbed` |"
    rows = list(rows_under(header))
    shared = [set.intersection(*(set(runs.get(n, ())) for n in names)) for runs in RESULTS.values()]
    assert len(rows) == sum(map(bool, shared)) >= 2
    for treebank, *cells, greedy, beam in rows:
        systems = RESULTS[f"UD_{treebank}"]
        assert cells == [f"{mean(f'UD_{treebank}', name, 'las_all'):.2f}" for name in names]
        for suffix, difference in (("", greedy), ("_beam4", beam)):
            pair = [systems.get(names[0] + suffix), systems[names[1]]]
            if pair[0] is None:
                assert not difference, treebank
                continue
            found = table.compare(*pair, "test", "las_all")
            interval = f"({found.low:.2f} to {found.high:.2f})"
            assert difference.startswith(f"{found.difference:+.2f} {interval}, p"), treebank


def test_one_lstm_against_spacys() -> None:
    """On the same token vectors, as docs/results.md says of English."""
    systems = RESULTS["UD_English-EWT"]
    names = ("nl_covington_parser_lstm1", "spacy_parser_affixes")
    found = table.compare(*(systems[name] for name in names), "test", "las_all")
    interval = f"({found.low:.2f} to {found.high:.2f})"
    told = f"(`lstm_depth = 1`) it is {found.difference:+.2f} {interval} on English"
    assert told in " ".join(read(ROOT / "docs" / "results.md").split())


def test_nm_parser_against_spacys() -> None:
    """As docs/results.md says: on the same token vectors, ahead on all but English."""
    for treebank, systems in RESULTS.items():
        found = table.compare(
            *(systems[n] for n in ("nm_parser", "spacy_parser_affixes")), "test", "las_all"
        )
        ahead = found.difference > 0 and found.p_bootstrap < 0.05
        assert ahead == ("English" not in treebank), treebank
        assert ahead or found.p_bootstrap > 0.05, treebank


def test_accuracy_config() -> None:
    """Where it is ahead of the one for efficiency, as docs/results.md says."""
    names = ("nl_covington_parser_accuracy", "nl_covington_parser")
    ahead = []
    for treebank, systems in sorted(RESULTS.items()):
        found = table.compare(*(systems[name] for name in names), "test", "las_all")
        if found.p_bootstrap < 0.05:
            assert found.difference > 0, treebank
            ahead.append(treebank.removeprefix("UD_"))
    where = " and ".join([", ".join(ahead[:-1]), ahead[-1]])
    told = f"`{names[0]}` is ahead of `{names[1]}` beyond chance on {where}."
    assert told in " ".join(read(ROOT / "docs" / "results.md").split())


def test_in_short() -> None:
    """The README's table: means on test, wherever there are results."""
    header = "| LAS | English-EWT | Gothic-PROIEL | Turkish-IMST | Hungarian-Szeged |"
    udpipe = table.load(ROOT / "benchmarks" / "results" / "compare")
    titles = header.strip("| ").split(" | ")[1:]
    checked = 0
    for system, *cells in rows_under(header, README):
        for title, cell in zip(titles, cells, strict=True):
            treebank = f"UD_{title}"
            if system.startswith("UDPipe"):
                runs = [run for one in udpipe[treebank].values() for run in one.values()]
                best = max(100 * run["test"]["scores"]["las_all"] for run in runs)
                assert cell == f"{best:.2f}", title
                continue
            runs = RESULTS[treebank].get(system_of(system), {}).values()
            scores = [100 * run["test"]["scores"]["las_all"] for run in runs]
            assert cell == (f"{statistics.fmean(scores):.2f}" if scores else ""), (system, title)
            checked += bool(scores)
    assert checked > 12


@pytest.mark.parametrize("column", ["", "config"])
def test_crossing_arcs(column: str) -> None:
    header = f"| treebank | {column} | precision | recall |".replace("|  |", "| |")
    found = list(by_treebank(rows_under(header)))
    assert len({treebank for treebank, *_ in found}) == 2
    for treebank, system, cells in found:
        expected = [f"{mean(treebank, system, f'nonproj_{kind}'):.1f}" for kind in "pr"]
        assert [cell.strip("*") for cell in cells] == expected, (treebank, system)


def test_bias() -> None:
    """The table of docs/search.md."""
    header = "| treebank | `crossing_bias` | dev: LAS | precision | recall | test: LAS |"
    rows = list(rows_under(header, ROOT / "docs" / "search.md"))
    assert len(rows) == 6
    treebank = ""
    for first, bias, *cells in rows:
        treebank = f"UD_{first}" if first else treebank
        biased = {b: "nl_covington_parser" + (f"_bias{b}" if b != "0" else "") for b in "012"}
        seeds = set.intersection(*(set(RESULTS[treebank][name]) for name in biased.values()))
        assert seeds == {1, 2, 3, 4, 5}, treebank
        expected = []
        for split in ("dev", "test"):
            for metric, digits in (("las_all", 2), ("nonproj_p", 1), ("nonproj_r", 1)):
                runs = (RESULTS[treebank][biased[bias]][seed] for seed in seeds)
                scores = [run[split]["scores"][metric] for run in runs]
                expected.append(f"{100 * statistics.fmean(scores):.{digits}f}")
        assert cells == expected, (treebank, bias)


def test_search() -> None:
    """The table of docs/search.md."""
    page = ROOT / "docs" / "search.md"
    names = ("nm_parser", "swap_parser", "nl_covington_parser")
    files = [ROOT / "benchmarks" / "results" / "search" / f"{name}-gothic.json" for name in names]
    found = [json.loads(read(file))["widths"] for file in files]
    rows = list(rows_under("| width | `nm_parser`: UAS | LAS | words/s |", page))
    assert len(rows) == len(found[0]) == 5
    for (width, *cells), *runs in zip(rows, *found, strict=True):
        assert all(run["width"] == int(width) for run in runs)
        expected = []
        for run in runs:
            expected += [f"{100 * run[f'{metric}_all']:.2f}" for metric in ("uas", "las")]
            expected.append(f"{run['words_per_second']:,.0f}")
        assert cells == expected, width


def test_confidences() -> None:
    """The table of docs/search.md."""
    header = "| treebank | parser | width | error | calibrated | AUC | roots right |"
    rows = list(rows_under(header, ROOT / "docs" / "search.md"))
    assert len(rows) == 10
    treebank = parser = ""
    for first, second, width, *cells in rows:
        treebank, parser = first or treebank, second.strip("`") or parser
        name = f"confidence-{parser}-{treebank.split('-')[0].lower()}.json"
        result = json.loads(read(ROOT / "benchmarks" / "results" / "search" / name))
        (run,) = (run for run in result["widths"] if run["width"] == int(width))
        head, roots = run["head"], run["roots"]
        expected = [f"{head[f'error_{time}']:.3f}" for time in ("before", "after")]
        expected.append(f"{head['area_under_curve']:.2f}")
        expected += [f"{roots[key]:.2f}" for key in ("right", "said_before", "said_after")]
        expected.append(", ".join(f"{100 * las:.0f}" for las in run["las_by_least_sure"]))
        assert cells == expected, (treebank, parser, width)


def test_gains_of_a_beam() -> None:
    """As docs/search.md says of the test sets."""
    names = ("nl_covington_parser_beam4", "nl_covington_parser")
    gains = []
    for systems in RESULTS.values():
        assert set(systems[names[0]]) == set(systems[names[1]])
        found = table.compare(*(systems[name] for name in names), "test", "las_all")
        gains.append(found.difference)
    told = f"gains `{names[1]}` {min(gains):.2f} to {max(gains):.2f} points of LAS"
    assert told in " ".join(read(ROOT / "docs" / "search.md").split())


def test_swap_oracles() -> None:
    (systems,) = (RESULTS[name] for name in RESULTS if "Hungarian" in name)
    rows = list(rows_under("| oracle | greedy | | beam of 8 | |"))
    assert len(rows) == 5
    for oracle, *cells in rows:
        name = f"swap_{oracle.strip('`')}"
        for las, against, beam in ((*cells[:2], ""), (*cells[2:], "_beam8")):
            runs = systems[name + beam]
            scores = [run["test"]["scores"]["las_all"] for run in runs.values()]
            assert las.replace("*", "") == table.mean_and_deviation(scores, 100, 2), oracle
            found = table.compare(runs, systems[f"swap_eager{beam}"], "test", "las_all")
            interval = f"({found.low:.2f} to {found.high:.2f})"
            shown = f"{found.difference:+.2f} {interval}, p = {found.p_bootstrap:.2f}"
            assert against == ("" if oracle == "`eager`" else shown), oracle


def test_transitions() -> None:
    folder = ROOT / "benchmarks" / "results" / "transitions"
    rows = list(rows_under("| treebank | words | Covington | NL-Covington | SwapStandard |"))
    assert len(rows) == len(list(folder.iterdir())) == 5
    for treebank, words, *cells in rows:
        name = "turkish-treebanks" if "demo" in treebank else f"UD_{treebank}"
        counts = json.loads(read(folder / f"{name}-test.json"))
        assert words == f"{counts['words'] / counts['sentences']:.1f}", treebank
        for system, cell in zip(("covington", "nl_covington", "swap_standard"), cells, strict=True):
            assert cell == f"{counts[system]['per_sentence']:.2f}", (treebank, system)


def exhaustive(name: str) -> int:
    """The triples of a file where exactness is claimed; none of their costs may be wrong."""
    page = read(ROOT / "benchmarks" / "results" / "exhaustive" / f"{name}.md")
    total = 0
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if len(cells) == 8 and cells[2].isdigit() and not cells[6].startswith("("):
            assert cells[6:] == ["0", "0"], line
            total += int(cells[5])
    assert total > 0, name
    told = re.search(r"exactness is claimed: ([\d,]+) triples, 0 wrong", page)
    assert told is None or int(told[1].replace(",", "")) == total, name
    return total


def test_exhaustive() -> None:
    """The README's counts, in the order of its sentence, and docs/oracles.md's."""
    text = " ".join(read(README).split()).split("**Oracles.**")[1].split("Where costs are not")[0]
    names = ["arc_eager", "arc_standard", "arc_swift"]
    names += ["nl_covington", "nl_covington-5", "covington", "covington-5"]
    found = [exhaustive(name) for name in names]
    assert re.findall(r"([\d.]+) million", text) == [f"{count / 1e6:.1f}" for count in found]
    page = read(ROOT / "docs" / "oracles.md")
    for name in ("arc_hybrid", "arc_standard", "arc_swift"):
        assert f"--system {name} --max-n 5`): {exhaustive(name):,} triples" in page, name


def test_memory() -> None:
    folder = ROOT / "benchmarks" / "results" / "memory"
    results = json.loads(read(folder / "nm_parser.json"))["results"]
    document, tok2vec, stream = (results[name] for name in ("document", "tok2vec", "stream"))
    assert document["words"] == tok2vec["words"] == 200_000
    assert stream["words"] == 1_000_000 and stream["words_per_document"] == 1000
    assert stream["points"][0][0] == 100_000
    most = round(stream["points"][0][1])
    assert most == round(stream["peak"]) == max(round(use) for _, use in stream["points"])
    text = " ".join(read(ROOT / "docs" / "results.md").split()).split("## Memory")[1]
    told = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) MiB", text)]
    assert told == [round(document["peak"]), round(tok2vec["peak"]), most]


def test_demo() -> None:
    folder = ROOT / "benchmarks" / "results" / "demo"
    scores = [
        json.loads(read(folder / f"{system}-{data}.json"))["scores"][metric]
        for data, metric in (("gold", "las_all"), ("raw", "dep_las_conll"), ("raw", "sents_f"))
        for system in ("nm_parser", "spacy_parser_affixes")
    ]
    own, other, raw, other_raw, sents, other_sents = (f"{100 * score:.1f}" for score in scores)
    text = " ".join(read(ROOT / "docs" / "results.md").split())
    assert (
        f"LAS of all words {own} against {other}; from raw text, by the CoNLL 2018 evaluation, LAS "
        f"{raw} F1 against {other_raw} and sentence boundaries {sents} F1 against {other_sents}."
    ) in text


def test_covington() -> None:
    """The tables of docs/covington.md."""
    page = read(ROOT / "docs" / "covington.md")
    runs_of = table.load(ROOT / "benchmarks" / "results" / "variants")
    names = {
        "Covington, static": "covington_static",
        "Covington, dynamic": "covington",
        "arc-swift": "arc_swift",
        "NL-Covington, static": "nl_covington_static",
        "NL-Covington, dynamic": "nl_covington",
    }
    treebank, checked = "", 0
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        title = cells[1].split(" (")[0] if len(cells) in (6, 7) else ""
        if title not in names:
            continue
        if cells[0]:
            treebank = cells[0] if cells[0] in runs_of else f"UD_{cells[0]}"
        runs = [run for run in runs_of[treebank][names[title]].values() if "test" in run]
        for cell, metric in zip(cells[2:4], ("uas_all", "las_all"), strict=True):
            scores = [run["test"]["scores"][metric] for run in runs]
            assert cell == table.mean_and_deviation(scores, 100, 2), (treebank, title, metric)
        moves = [run["moves"]["moves"] / run["moves"]["documents"] for run in runs]
        assert cells[4] == f"{statistics.fmean(moves):.1f}", (treebank, title)
        checked += 1
    assert checked >= 30


def tables(text: str) -> list[list[list[str]]]:
    """The cells of all tables of a page."""
    found: list[list[list[str]]] = [[]]
    for line in text.splitlines():
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not all(set(cell) <= set("-:") for cell in cells):
                found[-1].append(cells)
        elif found[-1]:
            found.append([])
    return [rows for rows in found if rows]


@pytest.mark.parametrize("comparison", ["rep", "hgj13", "push", "weights", "recall"])
def test_repairs(comparison: str) -> None:
    """All tables that benchmarks/variants.py prints are in docs/repairs.md."""
    results = table.load(ROOT / "benchmarks" / "results" / "variants")
    printed = tables(variants.report(results, variants.VARIANTS[comparison]))
    page = tables(read(ROOT / "docs" / "repairs.md"))
    assert len(printed) >= 3
    for rows in printed:
        assert rows in page


def test_dropout_of_columns() -> None:
    """The table of docs/scorers.md: each factor by its own name, that of the config by none."""
    own = {"nl_covington_parser_accuracy_lstm1": 2, "nl_covington_parser_lstm1": 4}
    rows = list(rows_under("| | 1 | 2 | 3 | 4 | 5 | 7 |", ROOT / "docs" / "scorers.md"))
    assert len(rows) == 5
    for title, *cells in rows:
        treebank, name = title.replace("`", "").split(", ")
        name += "_lstm1"
        seed = 1 if "English" in treebank else 2
        for factor, cell in zip((1, 2, 3, 4, 5, 7), cells, strict=True):
            system = name if factor == own[name] else f"{name}_columns{factor}"
            run = RESULTS[f"UD_{treebank}"].get(system, {}).get(seed)
            expected = f"{100 * run['dev']['scores']['las_all']:.2f}" if run else ""
            assert cell == expected, (title, factor)


def test_udpipe() -> None:
    """The table of docs/results.md: of each treebank all systems, the best first."""
    found = table.load(ROOT / "benchmarks" / "results" / "compare")
    names = ("nl_covington_parser_multihash", "nl_covington_parser", "nl_covington_parser_accuracy")
    told: dict[str, list[tuple[float, str]]] = {}
    treebank = ""
    for first, system, *cells in rows_under("| treebank | UDPipe 1's system | UAS | LAS |"):
        treebank = f"UD_{first}" if first else treebank
        (run,) = found[treebank][f"udpipe_{system}"].values()
        assert run["epochs"] == (12 if "English" in treebank else 30), treebank
        scores = run["test"]["scores"]
        las = 100 * scores["las_all"]
        told.setdefault(treebank, []).append((-las, f"udpipe_{system}"))
        expected = [f"{100 * scores['uas_all']:.2f}", f"{las:.2f}"]
        expected += [f"{100 * scores['dep_exact']:.1f} %"]
        for name in ("nonproj_p", "nonproj_r"):
            expected.append("" if system == "projective" else f"{100 * scores[name]:.1f}")
        for name in names:
            has = name in RESULTS[treebank]
            ahead = mean(treebank, name, "las_all") - las if has else 0.0
            expected.append(f"{ahead:+.2f}" if has else "")
        assert cells == expected, (treebank, system)
    assert {treebank: {name for _, name in rows} for treebank, rows in told.items()} == {
        treebank: set(systems) for treebank, systems in found.items()
    }
    assert all(rows == sorted(rows) for rows in told.values())


def test_nonce() -> None:
    """The table of docs/training.md: training data with exchanged words and without."""
    header = "| LAS | seeds | dev: as it is | copies | test: as it is | copies |"
    systems = RESULTS["UD_Hungarian-Szeged"]
    told = []
    for name, seeds, *cells in rows_under(header, ROOT / "docs" / "training.md"):
        pair = [systems[system_of(name) + kind] for kind in ("", "_nonce4")]
        both = set(pair[0]) & set(pair[1])
        assert seeds == ", ".join(map(str, sorted(both))), name
        runs = [{seed: one[seed] for seed in both} for one in pair]
        expected = [
            f"{statistics.fmean(100 * run[split]['scores']['las_all'] for run in one.values()):.2f}"
            for split in ("dev", "test")
            for one in runs
        ]
        assert cells[:4] == expected, name
        found = table.compare(runs[1], runs[0], "test", "las_all")
        interval = f"({found.low:.2f} to {found.high:.2f})"
        assert cells[4].startswith(f"{found.difference:+.2f} {interval}, p"), name
        for seed in both:
            without, with_copies = (one[seed] for one in runs)
            assert with_copies["epochs"] * 5 == without["epochs"]
            assert with_copies["overrides"]["corpora.train.copies"] == 4
        told.append(f"{system_of(name)}_nonce4")
    assert sorted(told) == sorted(n for n in systems if re.search(r"_nonce4$", n))
    names = ("nl_covington_parser", "spacy_parser_affixes")
    seeds = set.intersection(*(set(systems[f"{name}_nonce4"]) for name in names))
    leads = []
    for kind in ("_nonce4", ""):
        pair = [{seed: systems[name + kind][seed] for seed in seeds} for name in names]
        found = table.compare(*pair, "test", "las_all")
        leads.append(f"{found.difference:+.2f} ({found.low:.2f} to {found.high:.2f})")
    page = " ".join(read(ROOT / "docs" / "training.md").split())
    assert f"(test, the same seeds) by {leads[0]}, without by {leads[1]}." in page
    name = "nl_covington_parser_accuracy"
    pair = [RESULTS["UD_Gothic-PROIEL"][name + kind][2] for kind in ("_nonce4_epochs12", "")]
    copied, plain = (f"{100 * run['dev']['scores']['las_all']:.2f}" for run in pair)
    assert [run["epochs"] for run in pair] == [12, 30]
    assert f"{copied} LAS on dev after 12 epochs with four copies, {plain} after 30" in page


def test_lstms() -> None:
    """The table of docs/scorers.md: LAS on dev with one and two."""
    rows = list(rows_under("| LAS on dev | seeds | one | two |", ROOT / "docs" / "scorers.md"))
    assert len(rows) >= 6
    for title, seeds, *cells in rows:
        treebank, name = title.replace("`", "").split(", ")
        systems = (name, f"{name}_lstm2") if name == "swap_parser" else (f"{name}_lstm1", name)
        runs = [RESULTS[f"UD_{treebank}"][system] for system in systems]
        assert seeds == ", ".join(map(str, sorted(set(runs[0]) & set(runs[1]))))
        for one, cell in zip(runs, cells, strict=True):
            scores = [one[int(seed)]["dev"]["scores"]["las_all"] for seed in seeds.split(", ")]
            assert cell == f"{100 * statistics.fmean(scores):.2f}", (title, cell)


def test_teacher() -> None:
    """As docs/training.md says."""
    page = " ".join(read(ROOT / "docs" / "training.md").split())
    plain = table.load(ROOT / "benchmarks" / "results" / "unannotated")
    alone = plain["UD_English-EWT-each6"]["nl_covington_parser"]
    taught = plain["UD_English-EWT-each6-all"]["nl_covington_parser_taught"]
    las = [f"{100 * runs[1]['test']['scores']['las_all']:.2f}" for runs in (alone, taught)]
    found = table.compare(taught, alone, "test", "las_all")
    assert f"annotated ones has {las[0]} LAS on test" in page
    gain = f"{found.difference:+.2f} ({found.low:.2f} to {found.high:.2f})"
    assert f"has {las[1]}, which is {gain}." in page
    hungarian = RESULTS["UD_Hungarian-Szeged"]
    names = ("_distilled", "_distilled_weight1", "")
    runs = [hungarian[f"nl_covington_parser_lstm1{name}"][1] for name in names]
    half, whole, none = (f"{100 * run['dev']['scores']['las_all']:.2f}" for run in runs)
    assert f"{half} LAS on dev with a weight of 0.5 and {whole} with 1, against {none}" in page


def test_ensembles_of_five() -> None:
    """As docs/tools.md says of nl_covington_parser."""
    single, five = "nl_covington_parser", "nl_covington_parser_ensemble5"
    gains = [
        mean(TREEBANKS[name], system, "las_all") - mean(TREEBANKS[name], single, "las_all")
        for system in (five, f"{five}_beam4")
        for name in ("Gothic", "Hungarian")
    ]
    greedy = "{:.1f} (Gothic) and {:.1f} points of LAS (Hungarian)".format(*gains[:2])
    told = (
        f"{greedy} ahead of each by itself, and with a beam of 4 {gains[2]:.1f} and {gains[3]:.1f}"
    )
    assert told in " ".join(read(ROOT / "docs" / "tools.md").split())


def test_ensembles() -> None:
    results = table.load(ROOT / "benchmarks" / "results" / "variants")
    found = list(rows_under("| treebank | each | as one | sentences wholly right |"))
    assert len(found) == 2
    for name, each, together, exact in found:
        runs = results[f"UD_{name}"]
        shown = []
        for system, cell in (("left_reduce", each), ("left_reduce_ensemble3", together)):
            scores = [run["test"]["scores"] for run in runs[system].values()]
            values = [one["las_all"] for one in scores]
            assert cell == table.mean_and_deviation(values, 100, 2), (name, system)
            shown.append(f"{100 * statistics.fmean(one['dep_exact'] for one in scores):.1f} %")
        assert exact == ", ".join(shown), name


def test_segmentation() -> None:
    """The table of docs/compare.md."""
    results = table.load(ROOT / "benchmarks" / "results" / "segmentation")
    header = "| treebank | system | P | R | F1 | UAS | LAS |"
    found = list(by_treebank(rows_under(header, ROOT / "docs" / "compare.md")))
    assert {(row[0], row[1]) for row in found} == {(t, s) for t in results for s in results[t]}
    for treebank, system, cells in found:
        scores = [run["test_raw"]["scores"] for run in results[treebank][system].values()]
        for cell, name in zip(cells, ("p", "r", "f", "uas_all", "las_all"), strict=True):
            key = name if "_" in name else f"sents_{name}"
            shown = system != "senter" or "_" not in name
            expected = table.mean_and_deviation([one[key] for one in scores], 100, 2)
            assert cell == (expected if shown else ""), (treebank, system)
    for treebank in results:
        f1 = {system: float(cells[2]) for at, system, cells in found if at == treebank}
        others = [system for system in f1 if system == "senter" or system.startswith("spacy_")]
        ours = [system for system in f1 if system not in others]
        assert len(ours) >= 2 and len(others) == 3, treebank
        assert min(f1[system] for system in ours) > max(f1[system] for system in others), treebank


def test_non_monotonic_moves() -> None:
    """The table of docs/results.md, whose intervals are those of docs/repairs.md."""
    results = table.load(ROOT / "benchmarks" / "results" / "variants")
    page = tables(read(ROOT / "docs" / "repairs.md"))
    found = list(rows_under("| treebank | monotonic | non-monotonic | difference |"))
    assert len(found) == 4
    for name, plain, own, difference in found:
        runs = results[f"UD_{name}"]
        systems = [runs["monotonic"], runs["left_reduce"]]
        scores = [[r["dev"]["scores"]["uas_all"] for r in system.values()] for system in systems]
        assert [plain, own] == [table.mean_and_deviation(values, 100, 2) for values in scores]
        (row,) = (r for rows in page for r in rows if r[0] == "L+D" and own in r and r[6])
        low, high = row[7].replace("+", "").split(" … ")
        assert difference.startswith(f"{row[6]} ({low} to {high}), p = "), name
        assert abs(float(difference.split("p = ")[1]) - float(row[8])) < 0.006, name


def timings(file: str) -> dict[str, Any]:
    """What benchmarks/speed.py measured, by products and stage."""
    path = ROOT / "benchmarks" / "results" / "speed" / f"{file}.json"
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["results"]
    return results


def speed_ratio(stage: dict[str, Any], system: str) -> float:
    """How many times as many words per second as spaCy's parser, in processor time: the median of
    the repetitions."""
    own, other = stage[system], stage["spacy_parser"]
    pairs = zip(own["cpu_seconds"], other["cpu_seconds"], strict=True)
    return statistics.median(his / mine for mine, his in pairs) * own["words"] / other["words"]


def test_the_switch() -> None:
    """As docs/speed.md says: with it, against spaCy's pipeline without it."""
    results = timings("UD_Gothic-PROIEL")
    factors = []
    for system in ("nm_parser", "spacy_parser"):
        for stage in ("pipeline", "training"):
            other = results["default"][stage]["spacy_parser"]
            pair = {"own": results["switch"][stage][system], "spacy_parser": other}
            factors.append(speed_ratio(pair, "own"))
    ours = "parses {:.1f} times and trains {:.1f} times as fast".format(*factors[:2])
    spacys = "gains a factor of {:.1f} and {:.1f}.".format(*factors[2:])
    page = " ".join(read(ROOT / "docs" / "speed.md").split())
    assert ours in page and spacys in page


def test_recall_of_crossing_arcs() -> None:
    """As the README says."""
    ratios = [
        mean(TREEBANKS[name], system, "nonproj_r")
        / mean(TREEBANKS[name], "spacy_parser", "nonproj_r")
        for name in ("Gothic", "Hungarian")
        for system in ("nl_covington_parser", "swap_parser")
    ]
    told = f"find {min(ratios):.1f} to {max(ratios):.1f} times as many of the arcs that cross"
    assert told in " ".join(read(README).split())


def test_which_parser(difference: Any) -> None:
    (header,) = re.findall(r"(?m)^\| take \| where \| .*$", read(README))
    titles = [cell.strip() for cell in header.strip("|").split("|")]
    timed = timings("UD_Gothic-PROIEL")["default"]
    checked = 0
    for row in rows_under(header, README):
        system = system_of(row[0])
        for title, cell in zip(titles[2:], row[2:], strict=True):
            if title in TREEBANKS:
                has = system in RESULTS[TREEBANKS[title]]
                assert cell == (difference(TREEBANKS[title], system) if has else ""), (row, title)
            elif cell:
                stage = {"parse stage": "parse", "whole pipeline": "pipeline"}.get(title, title)
                assert cell == f"{speed_ratio(timed[stage], system):.2f}", (row, title)
            checked += bool(cell)
    assert checked > 12


@pytest.mark.parametrize(
    ("header", "ops"),
    [
        ("| | parse stage | whole pipeline | training |", "default"),
        ("| with the switch | whole pipeline | training |", "switch"),
    ],
)
def test_speed_on_gothic(header: str, ops: str) -> None:
    """Those of docs/results.md."""
    stages = [cell.strip() for cell in header.strip("|").split("|")][1:]
    results = timings("UD_Gothic-PROIEL")
    checked = 0
    for title, *cells in rows_under(header):
        for stage, cell in zip(stages, cells, strict=True):
            stage = {"parse stage": "parse", "whole pipeline": "pipeline"}.get(stage, stage)
            own, other = results[ops][stage][system_of(title)], results["default"][stage]
            if cell or not trains_as_another(title, stage):
                assert cell == times_spacy(own, other["spacy_parser"]), (title, stage)
                checked += 1
    assert checked in (16, 22)


def trains_as_another(title: str, stage: str) -> bool:
    """A beam is none in training."""
    return stage == "training" and "beam of" in title


def test_speed_of_the_demo() -> None:
    results = timings("turkish-treebanks")
    header = "| words per second | `nm_parser` | spaCy's `parser` with `AffixEmbed` | ratio |"
    stages = {"parse stage": "parse", "whole pipeline": "pipeline"}
    rows = list(rows_under(header))
    assert len(rows) == 6
    for title, *speeds, ratio in rows:
        name, *products = title.split(", ")
        stage = results["numpy" if products else "default"][stages.get(name, "training")]
        pair = [stage[system] for system in ("nm_parser", "spacy_parser_affixes")]
        assert speeds == [f"{one['words_per_second']['median']:,}" for one in pair], title
        assert ratio == times_spacy(*pair), title


def times_spacy(own: dict[str, Any], other: dict[str, Any]) -> str:
    """How many times as fast, in processor time: the median of the repetitions, and their range."""
    pairs = zip(own["cpu_seconds"], other["cpu_seconds"], strict=True)
    share = own["words"] / other["words"]
    times = [share * his / mine for mine, his in pairs]
    return f"{statistics.median(times):.2f} ({min(times):.2f} to {max(times):.2f})"


def speed_of_row(title: str) -> tuple[str, str]:
    """The products and the system of a row of benchmarks/README.md."""
    ops = "switch" if title.endswith(", switch") else "default"
    for words, name in (("UDPipe 1, projective", "projective"), ("UDPipe 1, swap", "swap")):
        if title.startswith(words):
            return "udpipe", f"udpipe_{name}" + ("_greedy" if title.endswith("greedy") else "")
    return ops, system_of(title)


@pytest.mark.parametrize(
    ("before", "file"),
    [
        ("median (range), on Gothic:", "UD_Gothic-PROIEL-switch"),
        ("On Hungarian:", "UD_Hungarian-Szeged-switch"),
        ("With words known by their affixes, on Gothic:", "UD_Gothic-PROIEL"),
        ("Times spaCy's `parser`:", "UD_Hungarian-Szeged-udpipe"),
    ],
)
def test_speed(before: str, file: str) -> None:
    """Times spaCy's speed as installed, in processor time; benchmarks/README.md."""
    (text,) = read(ROOT / "benchmarks" / "README.md").split(before)[1:]
    header, *rows = tables(text)[0]
    results = timings(file)
    for title, *cells in rows:
        ops, system = speed_of_row(title)
        for stage, cell in zip(header[1:], cells, strict=True):
            own, other = results[ops][stage][system], results["default"][stage]["spacy_parser"]
            if cell or not trains_as_another(title, stage):
                assert cell == times_spacy(own, other), (file, title, stage)
