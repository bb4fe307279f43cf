"""Several parsers and seeds on one treebank: `nmparse compare`, its page in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from spacy.language import Language

from spacy_nmparse.analysis.evaluate import evaluate
from tests.analysis.test_page import data_of, in_browser
from tests.commands import run, succeed, told
from tests.pipe.common import random_parser

pytest.importorskip("scipy")

EVIL = "</script><img/src=x/onerror=alert(1)>"


def conllu(*trees: str) -> str:
    """Sentences of CoNLL-U, given as words with head and label: She/2/nsubj saw/0/root."""
    sentences = []
    for tree in trees:
        rows = [word.rsplit("/", 2) for word in tree.split()]
        lines = [f"{i}\t{w}\t_\t_\t_\t_\t{h}\t{d}\t_\t_" for i, (w, h, d) in enumerate(rows, 1)]
        sentences.append("\n".join(lines))
    return "\n\n".join(sentences) + "\n\n"


GOLD = (
    "She/2/nsubj saw/0/root the/4/det cat/2/obj ./2/punct",
    "A/2/det hearing/4/nsubj is/4/aux scheduled/0/root on/2/prep the/7/det issue/5/pobj "
    "today/4/advmod",
    "Yes/0/root",
)
WRONG = (
    "She/2/nsubj saw/0/root the/4/det cat/2/iobj ./2/punct",
    "A/2/det hearing/4/nsubj is/4/aux scheduled/0/root on/4/prep the/7/det issue/5/pobj "
    "today/4/advmod",
    "Yes/0/root",
)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Gold data and parses of two systems."""
    for name, trees in (
        ("gold", GOLD),
        ("right", GOLD),
        ("one", WRONG),
        ("two", WRONG[:1] + GOLD[1:]),
    ):
        (tmp_path / f"{name}.conllu").write_text(conllu(*trees), encoding="utf-8")
    return tmp_path


def compared(folder: Path, *arguments: str) -> Any:
    """The JSON of a comparison of files; a system is NAME=FILE,FILE."""
    systems = [
        f"{one.partition('=')[0]}="
        + ",".join(str(folder / f"{file}.conllu") for file in one.partition("=")[2].split(","))
        if "=" in one
        else one
        for one in arguments
    ]
    return json.loads(succeed("compare", folder / "gold.conllu", *systems, "--json").stdout)


def test_scores_and_differences(files: Path) -> None:
    found = compared(files, "best=right", "other=one,two")
    assert (found["n_sentences"], found["n_words"]) == (3, 14)
    best, other = found["systems"]["best"], found["systems"]["other"]
    assert best["mean"]["las_all"] == 1 and best["deviation"]["las_all"] is None
    assert other["mean"]["las_all"] == pytest.approx((12 / 14 + 13 / 14) / 2)
    assert [one["scores"]["uas_all"] for one in other["runs"]] == pytest.approx([13 / 14, 1])
    assert {(one["system"], one["baseline"], one["metric"]) for one in found["differences"]} == {
        ("other", "best", "uas_all"),
        ("other", "best", "las_all"),
    }
    las = found["differences"][1]
    assert las["difference"] == pytest.approx(-100 * 1.5 / 14) and las["p_wilcoxon"] is None
    assert las["low"] <= las["difference"] <= las["high"]
    assert las["beyond_chance"] is (las["p_bootstrap"] <= 0.025)
    assert [one["n_changed"] for one in found["differences"]] == [1, 2]


def test_each_with_each_or_with_a_baseline(files: Path) -> None:
    names = ("a=right", "b=one", "c=two")
    for options, expected in (
        ([], {("b", "a"), ("c", "a"), ("c", "b")}),
        (["--baseline", "c"], {("a", "c"), ("b", "c")}),
    ):
        found = compared(files, *names, *options)["differences"]
        assert {(one["system"], one["baseline"]) for one in found} == expected


def test_text_and_markdown(files: Path) -> None:
    systems = [f"a={files / 'right.conllu'}", f"b={files / 'one.conllu'},{files / 'two.conllu'}"]
    text = succeed("compare", files / "gold.conllu", *systems).stdout
    assert "3 sentences, 14 words" in text and "89.29 ± 5.05" in text and "-10.71" in text
    text = succeed("compare", files / "gold.conllu", *systems, "--markdown").stdout
    assert "| las_all " in text and "| b - a " in text


def test_models_get_the_scores_of_evaluate(trained: Language, files: Path) -> None:
    trained.to_disk(files / "model")
    random_parser(3).to_disk(files / "random")
    gold = files / "gold.conllu"
    done = succeed("compare", gold, f"a={files / 'model'}", f"b={files / 'random'}", "--json")
    for name, model in (("a", trained), ("b", random_parser(3))):
        scores = json.loads(done.stdout)["systems"][name]["runs"][0]["scores"]
        known = evaluate(model, gold)["scores"]
        assert scores == pytest.approx({key: known[key] for key in scores})


def test_other_words_and_sentences(files: Path) -> None:
    """A file may cut words and sentences otherwise: such words are wrong, and all others count."""
    cut = (
        "She/2/nsubj saw/0/root the/4/det cat/2/obj",
        "./0/punct",
        "A/2/det hear/5/nsubj ing/2/x is/5/aux scheduled/0/root on/2/prep the/8/det issue/6/pobj "
        "today/5/advmod",
        "Yes/0/root",
    )
    (files / "cut.conllu").write_text(conllu(*cut), encoding="utf-8")
    found = compared(files, "a=right", "b=cut")
    assert found["n_words"] == 14
    assert 0 < found["systems"]["b"]["mean"]["uas_all"] < 1
    done = succeed(
        *("compare", files / "gold.conllu", f"a={files / 'right.conllu'}"),
        *(f"b={files / 'cut.conllu'}", "--html", files / "page.html"),
    )
    assert "Written" in done.output
    data = data_of((files / "page.html").read_text(encoding="utf-8"))
    assert [one["number"] for one in data["sentences"]] == [1, 2]
    assert data["sentences"][0]["trees"][2][0] == [1, 1, 3, 1, 4]  # a root in its own sentence


def test_the_page(files: Path) -> None:
    for name, label in (("gold", "x"), ("right", "x"), ("one", "y"), ("two", "x")):
        with (files / f"{name}.conllu").open("a", encoding="utf-8") as file:
            file.write(conllu(f"{EVIL}/0/root b/1/{label}"))
    page = files / "page.html"
    systems = [f"a={files / 'right.conllu'}", f"b={files / 'one.conllu'}"]
    succeed("compare", files / "gold.conllu", *systems, "--html", page)
    text = page.read_text(encoding="utf-8")
    assert "<img" not in text
    script = """
    const told = () => [byId("count").textContent, texts("#sentences h2"),
      all("rect.front").length];
    const set = (id, value) => {
      byId(id).value = value; byId(id).dispatchEvent(new Event("change"));
    };
    result.all = told(); result.names = texts("figcaption").slice(0, 3);
    result.wrong = arcs(".wrong"); result.misnamed = all("text.misnamed").length;
    result.crossing = arcs(".crossing");
    set("label", "iobj"); result.label = told(); set("label", "");
    set("length", "3-5"); result.length = told(); set("length", "");
    set("crossing", "yes"); result.cross = told();
    result.options = texts("#label option").slice(1);
    result.images = all("img").length;
    """
    result = in_browser(text, script, files)
    assert result["all"][0] == "3 of 4 sentences" and result["all"][2] == 9
    assert result["names"] == ["gold ", "a 5 of 5 right", "b 4 of 5 right"]
    assert result["wrong"] == ["3,4"] and result["misnamed"] == 2
    assert set(result["crossing"]) == {"1,4", "3,7"}
    assert result["label"] == ["1 of 4 sentences", ["1"], 3]
    assert result["length"][1] == ["2"]
    assert result["cross"][1] == ["2"]
    assert {"obj", "iobj", "prep", "x", "y"} == set(result["options"])
    assert result["images"] == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nm"], "NAME=RUN"),
        (["nm=one.conllu,"], "NAME=RUN"),
        (["a=right.conllu", "a=one.conllu"], "is given twice: write its runs as a=RUN,RUN"),
        (["a=right.conllu,right.conllu"], "is given twice"),
        (["a=no.conllu"], "There is no file"),
        (["a=nothing"], "There is no pipeline"),
        (["a=other.conllu"], "other.conllu has 'Wesaw' where"),
        (["a=short.conllu"], "parse the same text"),
        (["a=blank.conllu"], "has no trees"),
        (["a=right.conllu", "b=one.conllu", "--baseline", "c"], "--baseline is one of a, b"),
        (["a=right.conllu", "--json", "--markdown"], "one of them"),
    ],
)
def test_what_is_wrong_is_said(
    arguments: list[str], expected: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    (files / "other.conllu").write_text(conllu("We/2/nsubj saw/0/root"), encoding="utf-8")
    (files / "short.conllu").write_text(conllu(*GOLD[:2]), encoding="utf-8")
    (files / "blank.conllu").write_text(conllu("Yes/_/_"), encoding="utf-8")
    done = run("compare", "gold.conllu", *arguments)
    assert done.exit_code == 2
    assert expected in told(done)
