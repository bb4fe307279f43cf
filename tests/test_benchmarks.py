"""The benchmarks: their systems, their runs and their tables."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc
from spacy.util import load_config
from spacy.vocab import Vocab
from thinc.api import Config

from benchmarks import (
    accuracy,
    common,
    jackknife,
    papers,
    repairs,
    report,
    runs,
    swap_epochs,
    swaps,
    table,
    training,
    transitions,
    treebanks,
    variants,
)
from benchmarks.correcting import corrected
from benchmarks.label_rules import broken
from benchmarks.systems import System, find_system, parse_system
from benchmarks.treebanks import find_splits
from spacy_nmparse import registered
from spacy_nmparse.analysis.annotation.sentences import is_confirmed, replaced
from spacy_nmparse.analysis.annotation.store import Change
from spacy_nmparse.cli import records
from spacy_nmparse.ud.conllu import HEAD, ID, Sentence, read_rows
from spacy_nmparse.ud.treebank import convert
from spacy_nmparse.ud.whole_pipeline import CONFIGS
from tests.toy_treebank import SMALL, benchmarked, read


def test_dump_keeps_values(tmp_path: Path) -> None:
    value = {"a": [1, 2, 3], "b": {"p": 0.5, "r": None}, "c": ["@line0@", "x"], "d": [], "e": {}}
    records.dump(value, tmp_path / "x.json")
    text = (tmp_path / "x.json").read_text(encoding="utf-8")
    assert "[1,2,3]" in text
    assert json.loads(text) == value


def test_systems_are_written_as_configs(tmp_path: Path) -> None:
    """A mapping replaces a block; what is left out stays; what is named goes."""
    system = find_system("spacy_parser_multihash_morphology")
    path = system.write(tmp_path, {"nlp.after_pipeline_creation": training.SWITCH})
    assert path.name == "spacy_parser_multihash_morphology.cfg"
    config = load_config(path, interpolate=False)
    assert set(config["nlp"]["pipeline"]) == {*config["components"]}
    assert "morphologizer" in config["nlp"]["pipeline"]
    assert config["nlp"]["after_pipeline_creation"] == training.SWITCH
    embed = config["components"]["tok2vec"]["model"]["embed"]
    assert embed["rows"] == [5000, 1000, 2500, 2500] and "affix_rows" not in embed
    assert config["training"]["optimizer"]["L2"] == 0.01
    linear = load_config(find_system("nm_parser_linear").write(tmp_path, {}), interpolate=False)
    assert "tok2vec" not in linear["components"]


def test_find_system() -> None:
    system = find_system("nl_covington_parser_untagged_wide")
    assert system.config == CONFIGS / "nl_covington_parser.cfg"
    assert system.overrides == {
        "components.parser.model.tag_weight": 0.0,
        "components.parser.model.recurrent_width": 128,
    }
    # its base comes before suffixes
    assert find_system("nm_parser_linear").overrides.keys() == {
        "components.parser.model",
        "corpora.dev.@readers",
        "corpora.train.@readers",
        "nlp.pipeline",
        "training.batcher.level",
        "training.batcher.phrases",
        "training.max_epochs",
    }
    with pytest.raises(ValueError, match=r"No system 'nm_parser_nonsense'"):
        find_system("nm_parser_nonsense")


def test_tags_are_read_where_training_read_them(tmp_path: Path) -> None:
    for name, expected in (("nm_parser_linear", True), ("nm_parser", False)):
        find_system(name).build().to_disk(tmp_path / "config.cfg")
        assert training.reads_tags(tmp_path) is expected


def test_parse_system() -> None:
    config = CONFIGS / "spacy_parser.cfg"
    system = parse_system(f"x={config},training.dropout=0.2,a.b=c")
    assert system == System("x", config, {"training.dropout": 0.2, "a.b": "c"})
    system = parse_system(f'x={config},a.b=["c","d"],e=[[1,2],{{"f":[3,4]}}],g=')
    assert system.overrides == {"a.b": ["c", "d"], "e": [[1, 2], {"f": [3, 4]}], "g": ""}
    system = parse_system("x=nm_parser_untagged,a.b=c")
    assert (system.name, system.config.name) == ("x", "nm_parser.cfg")
    assert system.overrides == {"components.parser.model.tag_weight": 0.0, "a.b": "c"}
    assert parse_system("nm_parser") == System("nm_parser", CONFIGS / "nm_parser.cfg")
    with pytest.raises(ValueError, match="No system 'unheard_of'"):
        parse_system("unheard_of")
    with pytest.raises(ValueError, match="no config nowhere"):
        parse_system("x=nowhere.cfg")
    with pytest.raises(ValueError, match="KEY=VALUE"):
        parse_system(f"x={config},dropout")


def test_parse_evaluation() -> None:
    found = accuracy.parse_evaluation("beam8:components.parser.beam_width=8,a.b=c")
    assert found == ("beam8", {"components.parser.beam_width": 8, "a.b": "c"})
    for text in ("beam8", "beam8:", "a.b=c", ":a.b=c", "beam8:a.b"):
        with pytest.raises(ValueError, match="KEY=VALUE"):
            accuracy.parse_evaluation(text)


def test_settings_are_read_back() -> None:
    for value in (8, 0.5, True, None, "eager", "true", "8", "", "a=b", ["a", 1], {"a": [1]}):
        text = f"a.b={common.write_setting(value)}"
        assert records.parse_settings([text]) == {"a.b": value}


def test_choose_lang() -> None:
    assert treebanks.choose_lang(Path("hu_szeged-ud-train.conllu")) == "hu"
    assert treebanks.choose_lang(Path("got_proiel-ud-train.conllu")) == "xx"


@pytest.mark.slow
def test_accuracy_end_to_end(treebank: Path, tmp_path: Path) -> None:
    command = benchmarked(treebank, "--system spacy_parser --seeds 7 --epochs 2")
    command += ["--set", SMALL[0], "--set", SMALL[1], "--snapshot", "toy"]
    assert accuracy.main(command) == 0
    path = tmp_path / "runs" / treebank.name / "spacy_parser-seed7.json"
    result = json.loads(path.read_text(encoding="utf-8"))
    assert (result["seed"], result["epochs"], result["snapshot"]) == (7, 2, "toy")
    assert result["test"]["per_sentence"]["words"] == [3, 4, 1]
    assert result["training"]["words"] == 8
    assert str(tmp_path) not in path.read_text(encoding="utf-8")
    changed = path.stat().st_mtime_ns
    assert accuracy.main([*command, "--also", "one:nlp.batch_size=1"]) == 0
    assert path.stat().st_mtime_ns == changed, "a finished run was done again"
    assert accuracy.main([*command, "--epochs", "3"]) == 1
    again = json.loads(path.with_name("spacy_parser_one-seed7.json").read_text(encoding="utf-8"))
    assert again["system"] == "spacy_parser_one"
    assert again["evaluated_with"] == {"nlp.batch_size": 1}
    command_ = result["command"] + "; python -m spacy nmparse evaluate --set nlp.batch_size=1"
    assert again["command"] == command_
    assert again["test"]["scores"] == result["test"]["scores"]


@pytest.mark.slow
def test_accuracy_of_taught_parsers(treebank: Path, tmp_path: Path) -> None:
    command = benchmarked(treebank, "--seeds 3 --epochs 1 --system nm_parser")
    command += ["--set", SMALL[0], "--evaluate", "dev"]
    assert accuracy.main([*command, "--system", "nm_parser_wide"]) == 0
    names = ["nm_parser-seed3", "nm_parser_wide-seed3"]
    models = [tmp_path / "work" / treebank.name / name / "model-best" for name in names]
    assert accuracy.main([*command, "--teacher", *map(str, models)]) == 0
    taught = tmp_path / "runs" / treebank.name / "nm_parser_taught-seed3.json"
    result = json.loads(taught.read_text(encoding="utf-8"))
    assert (result["system"], result["seed"]) == ("nm_parser_taught", 3)
    assert result["teachers"] == names and result["curve"]
    assert result["command"].endswith(f"--paths.teacher {json.dumps(names)}")
    assert str(tmp_path) not in taught.read_text(encoding="utf-8")
    assert accuracy.main([*command, "--teacher", str(tmp_path / "nowhere")]) == 1


@pytest.mark.slow
def test_accuracy_with_more_treebanks(treebank: Path, tmp_path: Path) -> None:
    command = benchmarked(treebank, "--seeds 3 --epochs 1 --system nm_parser")
    command += ["--set", SMALL[0], "--evaluate", "dev"]
    more = [str(treebank / f"toy_test-ud-{split}.conllu") for split in ("dev", "test")]
    assert accuracy.main([*command, "--more", *more]) == 0
    path = tmp_path / "runs" / treebank.name / "nm_parser_more-seed3.json"
    result = json.loads(path.read_text(encoding="utf-8"))
    assert result["more"] == {"toy_test": 16} and result["curve"]
    assert accuracy.main([*command, "--more", more[0]]) == 1, "made from other files"


def test_accuracy_takes_a_prepared_corpus(treebank: Path, tmp_path: Path) -> None:
    assert not treebanks.is_prepared(treebank)
    convert(find_splits(treebank), tmp_path / "toy", n_sents=2)
    assert treebanks.is_prepared(tmp_path / "toy")
    found = treebanks.read_prepared(tmp_path / "toy", None, "2.18")
    assert (found.name, found.snapshot, found.lang, found.train_words) == ("toy", "2.18", "xx", 8)
    assert set(found.files) == {"train.spacy", "dev.spacy", "test.spacy"}
    assert treebanks.read_prepared(tmp_path / "toy", "tr", "2.18").lang == "tr"


def test_accuracy_needs_the_model_to_evaluate_it_again(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "runs" / treebank.name
    run = {**toy_run("spacy_parser", 7, [3]), "config": "spacy_parser.cfg", "overrides": {}}
    files = {p.name: treebanks.fingerprint(p) for p in find_splits(treebank).values()}
    records.dump({**run, "epochs": 1, "files": files}, folder / "spacy_parser-seed7.json")
    command = benchmarked(treebank, "--system spacy_parser --seeds 7 --epochs 1")
    assert accuracy.main([*command, "--also", "one:nlp.batch_size=1"]) == 1
    assert "delete the result file spacy_parser-seed7.json" in capsys.readouterr().err


def test_accuracy_reports_failure(treebank: Path, tmp_path: Path) -> None:
    command = benchmarked(treebank, "--system spacy_parser --seeds 1 --epochs 1")
    assert accuracy.main([*command, "--set", "components.tok2vec.factory=unheard_of"]) == 1
    assert not list((tmp_path / "runs").glob("*/*.json"))


def toy_run(system: str, seed: int, right: list[int], split: str = "dev") -> dict[str, Any]:
    words = [10] * len(right)
    score = sum(right) / sum(words)
    return {
        "system": system,
        "treebank": "UD_Toy-Test",
        "snapshot": "toy",
        "seed": seed,
        "versions": {"spacy": "3"},
        "machine": {"system": "Linux", "processor": "toy", "cores": 1},
        "training": {"words_per_second": 1000.0, "seconds": 5.0},
        split: {
            "n_words": sum(words),
            "words_per_second": 2000.0,
            "scores": {"uas_all": score, "las_all": score, "nonproj_p": None},
            "per_sentence": {"words": words, "heads": right, "labelled": right},
        },
    }


def write_run(run: dict[str, Any], folder: Path) -> None:
    records.dump(run, folder / run["treebank"] / f"{run['system']}-seed{run['seed']}.json")


def cells(text: str) -> list[list[str]]:
    """The rows of tables."""
    lines = [line for line in text.split("\n") if "|" in line]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def test_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = random.Random(1)
    for seed in (1, 2, 3):
        base = [rng.randint(3, 7) for _ in range(200)]
        for system, gain in (("spacy_parser", 0), ("better", 1), ("same", 0)):
            write_run(toy_run(system, seed, [right + gain for right in base]), tmp_path)
    assert table.main([str(tmp_path), "-o", str(tmp_path / "table.md")]) == 0
    text = capsys.readouterr().out
    assert (tmp_path / "table.md").read_text(encoding="utf-8").strip() == text.strip()
    rows = cells(text)
    assert len({len(row) for row in rows if row[0] == "better" and len(row) > 7}) == 1
    better = next(row for row in rows if row[:2] == ["better", "las_all"])
    assert better[2:] == ["3", "+10.00", "+10.00 … +10.00", "0.0002", "0.2500"]
    same = next(row for row in rows if row[:2] == ["same", "las_all"])
    assert same[3] == "+0.00"
    assert float(same[5]) == float(same[6]) == 1
    assert table.main([str(tmp_path), "--systems", "better", "--baseline", "better"]) == 0
    text = capsys.readouterr().out
    assert "| better " in text
    assert "same" not in text and "spacy_parser" not in text
    assert table.main([str(tmp_path), "--systems", "worse"]) == 1
    assert "worse" in capsys.readouterr().err


def test_table_refuses_other_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for system, right in (("spacy_parser", [5, 5]), ("better", [5, 5, 5])):
        write_run(toy_run(system, 1, right), tmp_path)
    assert table.main([str(tmp_path)]) == 1
    assert "other sentences" in capsys.readouterr().err
    assert table.main([str(tmp_path / "none")]) == 1


def test_variants_are_systems() -> None:
    """Each row of each comparison can be made, and differs from the others."""
    for rows in papers.VARIANTS.values():
        made = []
        for row in rows:
            system = parse_system(row.as_argument())
            assert system.name == row.name
            parser = system.build()["components"]["parser"]
            default = Config({"system": getattr(registered, parser["factory"].upper())["system"]})
            block = default.merge({"system": parser.pop("system", {})})
            spec = spacy.util.registry.resolve(block)["system"]
            spec.create(None).oracle_id(parser.get("learning", {}).get("oracle", "dynamic"))
            made.append((spec, parser))
        assert all(one not in made[:i] for i, one in enumerate(made))
    repairs = papers.VARIANTS["rep"][-1].settings
    assert any(
        setting.endswith('["right_lower","right_raise","left_invert"]') for setting in repairs
    )


def variant_run(name: str, seed: int, right: list[int], treebank: str) -> dict[str, Any]:
    run = toy_run(name, seed, right)
    counts = {"tp": 6, "neutral": 1, "fp": 3, "fn": 2, "tn": 50, "deferred": 0}
    return {
        **run,
        "treebank": treebank,
        "epochs": 2,
        "curve": {"epoch": [0, 0, 1], "step": [0, 50, 100], "dep_uas_conll": [10, 40, 60 + seed]},
        "moves": {
            "documents": 2,
            "moves": 30 + seed,
            "repairs": {"LEFT-ARC": counts},
            "labels": {"LEFT-ARC": {"obj > obl": {"tp": 2, "fp": 1}, "a > b": {"fp": 1}}},
        },
    }


def test_variants_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for treebank in ("UD_A", "UD_B"):
        for seed in (1, 2):
            for name, right in (("monotonic", [5, 9]), ("left", [10, 9])):
                write_run(variant_run(name, seed, right, treebank), tmp_path)
    write_run(variant_run("left", 1, [10, 9], "UD_C"), tmp_path)
    assert variants.main(["rep", "--runs", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    left = next(row for row in cells(text) if row[:2] == ["left", "uas_all"])
    assert left[2:4] == ["2", "+25.00"]
    left = report.summarize_variants(tmp_path)["systems"]["UD_A"]["left"]
    assert left["uas_by_epoch"] == {"1": [40, 40], "2": [61, 62]}
    assert left["moves"]["repairs"]["LEFT-ARC"] == {
        "tp": 12,
        "fp": 6,
        "tn": 100,
        "fn": 4,
        "neutral": 2,
        "deferred": 0,
    }
    assert left["moves"]["labels"]["LEFT-ARC"] == [["obj > obl", 4, 2]]
    assert left["moves"]["per_sentence"]["seeds"] == [15.5, 16]
    assert "UD_B" in text and "UD_C" not in text
    assert variants.main(["fg18", "--runs", str(tmp_path)]) == 1
    assert "arc_swift_static, arc_swift on dev" in capsys.readouterr().err
    assert variants.main(["rep", "--runs", str(tmp_path), "--split", "test"]) == 1
    assert "on test" in capsys.readouterr().err


def test_jackknife_and_the_linear_learner(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A treebank gets predicted tags; parsers that look at them are trained and compared."""
    command = [str(treebank), "--folds", "3", "--epochs", "1", "--work", str(tmp_path / "tagged")]
    assert jackknife.main(command) == 0
    tagged = tmp_path / "tagged" / treebank.name
    tags = json.loads((tagged / "tags.json").read_text(encoding="utf-8"))
    assert set(tags["accuracy"]) == {"train", "dev", "test"} and tags["folds"] == 3
    for gold in read(tagged / "train.spacy"):
        assert gold.has_annotation("TAG") and gold.has_annotation("DEP")
        assert gold.has_annotation("POS") and gold[0].head is not None
    assert jackknife.main([*command, "--folds", "4"]) == 1
    assert "3 sentences can be cut into 2 to as many parts, not 4" in capsys.readouterr().err

    runs = ["--runs", str(tmp_path / "runs"), "--seeds", "1", "2", "--epochs", "8"]
    runs += ["--set", "components.parser.model.bits=16"]
    wanted = ["--only", "linear_monotonic", "linear_both_combined"]
    assert variants.main(["hgj13_linear", str(tagged), *runs, *wanted]) == 0
    shown = capsys.readouterr().out
    assert "| linear_both_combined |     2 |" in shown
    path = tmp_path / "runs" / treebank.name / "linear_both_combined-seed2.json"
    run = json.loads(path.read_text(encoding="utf-8"))
    assert run["test"]["scores"]["uas_all"] > 0.5 and run["moves"]["words"] == 8
    assert variants.main(["hgj13_linear", str(tagged), *runs, *wanted]) == 0
    assert "linear_both_combined-seed2.json: done before" in capsys.readouterr().out

    wanted = ["--only", "linear_swap_eager_beam", "linear_swap_nd_all_beam"]
    assert variants.main(["bn15_beam", str(tagged), *runs, *wanted]) == 0
    assert "| linear_swap_nd_all_beam |     2 |" in capsys.readouterr().out
    run = json.loads((path.parent / "linear_swap_nd_all_beam-seed1.json").read_text("utf-8"))
    learning = "components.parser.learning"
    settings = {key: run["overrides"][f"{learning}.{key}"] for key in ("oracle", "explore")}
    assert settings == {"oracle": "nd_all", "explore": 0.0}
    assert run["overrides"][f"{learning}.@misc"] == "spacy_nmparse.BeamLearning.v1"
    assert run["command"].endswith("bn15_beam --only linear_swap_nd_all_beam")

    again = ["--runs", str(tmp_path / "runs"), "--seeds", "1", "--epochs", "2", "--beam"]
    assert swap_epochs.main([str(tagged), *again]) == 0
    path = tmp_path / "runs" / f"{treebank.name}-beam.json"
    found = json.loads(path.read_text(encoding="utf-8"))["oracles"]
    assert set(found) == {"eager", "lazy", "minimal", "nd_sw", "nd_all"}
    assert len(found["nd_all"][0]["swaps"]) == 2


@pytest.mark.parametrize(
    "setting",
    [
        'training.before_update={"@callbacks": "spacy_nmparse.count_swaps.v1", "path": "x"}',
        *("training.dropout=0.5", "corpora.dev.limit=3", "system.seed=4", "nlp.lang=xx"),
    ],
)
def test_linear_variants_refuse_settings_that_change_nothing(
    setting: str, treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["bn15_linear", str(treebank), "--runs", str(tmp_path / "runs"), "--set", setting]
    assert variants.main([*command, "--work", str(tmp_path / "work")]) == 1
    assert f"{setting.partition('=')[0]} would change nothing" in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.json"))


def test_folds_hold_every_sentence_once() -> None:
    assert jackknife.fold_bounds(7, 3) == [(0, 2), (2, 4), (4, 7)]
    with pytest.raises(ValueError, match="not 1"):
        jackknife.fold_bounds(7, 1)


def test_counts(treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is counted in each treebank becomes a table and a file."""
    arguments = [str(treebank), "--split", "dev", "--runs", str(tmp_path)]
    for benchmark, options in (
        (transitions, []),
        (swaps, []),
        (repairs, ["--size", "2"]),
    ):
        assert benchmark.main([*arguments, *options]) == 0
        name = benchmark.__name__.split(".")[1]
        path = tmp_path / name / f"{treebank.name}-dev.json"
        result = json.loads(path.read_text(encoding="utf-8"))
        assert (result["treebank"], result["split"]) == (treebank.name, "dev")
        assert f"| {treebank.name} |" in capsys.readouterr().out
    assert result["size"] == 2 and result["configurations"] > 0
    counts = json.loads((tmp_path / "swaps" / f"{treebank.name}-dev.json").read_text("utf-8"))
    assert (counts["sentences"], counts["projective"], counts["swaps"]["eager"]) == (3, 2, 2)
    assert swaps.main([str(tmp_path / "nowhere")]) == 1
    assert "swaps: No folder" in capsys.readouterr().err


def test_finished_runs_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done: list[str] = []

    def make(name: str) -> dict[str, Any]:
        done.append(name)
        if name == "broken":
            raise RuntimeError("it broke")
        return {**toy_run(name, 1, [5]), "epochs": 3}

    for _ in range(2):
        keeper = runs.Keeper("accuracy", tmp_path)
        made = [keeper.keep(n, 1, lambda n=n: make(n), {"epochs": 3}) for n in ("good", "broken")]
        assert made == [True, False] and keeper.status() == 1
    assert done == ["good", "broken", "broken"], "a finished run was done again"
    printed = capsys.readouterr()
    assert "good-seed1.json: dev UAS 50.00 LAS 50.00, 5 s" in printed.out
    assert "accuracy: failed: broken-seed1.json" in printed.err
    with pytest.raises(ValueError, match=r"epochs = 3, not 4: delete it"):
        keeper.keep("good", 1, lambda: make("good"), {"epochs": 4})


def test_table_of_udpipe(tmp_path: Path) -> None:
    """The one run of UDPipe is compared with all of ours."""
    for seed, right in ((1, [6, 6]), (2, [8, 8])):
        write_run(toy_run("ours", seed, right), tmp_path)
    write_run(toy_run("udpipe_swap", 1, [4, 4]), tmp_path)
    found = runs.load(tmp_path)
    text = table.report(found, "dev", ["udpipe_swap", "spacy_parser"])
    last = ["2", "+30.00", "+30.00 … +30.00", "0.0002", "0.5000"]
    assert ["ours", "las_all", *last] in cells(text)


# The simulated person of ``benchmarks.correcting``


HEADS = ("2", "0", "2", "3")
(GOLD,) = read_rows(
    "".join(f"{i}\tw\t_\tX\t_\t_\t{head}\tdep\t_\t_\n" for i, head in enumerate(HEADS, 1))
)


class Parser:
    """Gives the words 1, 3 and 4 a wrong head; but 4 the right one once 3 is confirmed, and 1 and 3
    once 4 is. It is least sure of 4."""

    def complete(self, known: Sentence) -> Change:
        sure = {row[ID] for row in known.words if is_confirmed(row)}
        right = {"2", *sure, *({"4"} if "3" in sure else ()), *({"1", "3"} if "4" in sure else ())}

        def change(row: Any) -> list[str]:
            head = HEADS[int(row[ID]) - 1] if row[ID] in right else "9"
            return [*row[:HEAD], head, "dep", *row[HEAD + 2 :]]

        return Change(replaced(known, change), sure=[0.9, 0.8, 0.7, 0.1])


@pytest.mark.parametrize(
    ("again", "by_doubt", "count"), [(False, False, 3), (True, False, 2), (True, True, 1)]
)
def test_words_that_are_corrected(again: bool, by_doubt: bool, count: int) -> None:
    """1, 3 and 4; 1 and 3; 4 alone."""
    assistant: Any = Parser()
    assert corrected(assistant, GOLD, again=again, by_doubt=by_doubt) == count


# What ``benchmarks.label_rules`` counts


RULES = ["nsubj", "obj"], ["det"]


@pytest.mark.parametrize(
    ("heads", "labels", "is_broken"),
    [
        ([1, 1, 1], "nsubj ROOT obj", False),
        ([1, 1, 1], "nsubj ROOT nsubj", True),
        ([1, 1, 1, 2], "nsubj ROOT ccomp nsubj", False),
        ([1, 2, 2], "advmod det ROOT", True),
        ([2, 2, 2], "advmod det ROOT", False),
    ],
)
def test_sentences_that_break_a_rule(heads: list[int], labels: str, is_broken: bool) -> None:
    """Two subjects of one word; a determiner with a dependent."""
    doc = Doc(Vocab(), ["w"] * len(heads), heads=heads, deps=labels.split())
    assert broken([doc], *RULES) == is_broken
