"""The command line, through spaCy's."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import string
import subprocess
import sys
from ast import literal_eval
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_nmparse import systems
from spacy_nmparse.lab.statistics import columns
from spacy_nmparse.terminal import show
from spacy_nmparse.ud import conllu_to_docs
from spacy_nmparse.ud.jobs import RECORD, read_record
from spacy_nmparse.ud.parse_outputs import FORMATS
from spacy_nmparse.ud.whole_pipeline import CONFIGS
from tests.commands import ROOT, python, run, succeed, told
from tests.pipe.common import TREES, gold_doc, make_example, make_nlp, random_parser
from tests.pipe.test_files import small_files

CONLLU = """\
1\tI\t_\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tsaw\t_\tVERB\t_\t_\t0\troot\t_\t_
3\tJack\t_\tPROPN\t_\t_\t4\tnsubj\t_\t_
4\tfall\t_\tVERB\t_\t_\t2\tccomp\t_\t_

1\tWhat\t_\t_\t_\t_\t4\tobj\t_\t_
2\tdo\t_\t_\t_\t_\t0\troot\t_\t_
3\tyou\t_\t_\t_\t_\t2\tnsubj\t_\t_
4\twant\t_\t_\t_\t_\t2\txcomp\t_\t_
"""


def read(*arguments: str | Path, **options: Any) -> Any:
    """The JSON that a command prints."""
    return json.loads(succeed(*arguments, **options).stdout)


def words_of(command: str, **values: object) -> list[str]:
    """The words of a command, as in a shell; values: of what stands in braces."""
    return [word.format(**values) for word in shlex.split(command)]


@pytest.fixture(scope="module")
def folder(trained: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained model, one with random weights, a blank one, and a corpus in two formats."""
    folder = tmp_path_factory.mktemp("cli")
    trained.to_disk(folder / "model")
    random_parser(0).to_disk(folder / "random")
    docs = [gold_doc(trained.vocab, trees) for trees in ([0], [1, 4], [2], [3])]
    DocBin(docs=docs).to_disk(folder / "gold.spacy")
    (folder / "gold.conllu").write_text(CONLLU, encoding="utf-8")
    (folder / "spaces.conllu").write_text("1 A\n", encoding="utf-8")
    spacy.blank("xx").to_disk(folder / "blank")
    return folder


def test_spacy_has_the_commands() -> None:
    done = python("-m", "spacy", "nmparse", "--help")
    assert done.returncode == 0, done.stderr
    for name in ("trace", "stats", "repairs", "errors", "oracle", "debug-data"):
        assert name in done.stdout
    assert "replace" in done.stdout and "lattice" in done.stdout


def test_the_entry_point_imports_nothing_heavy() -> None:
    code = (
        "import sys, spacy.cli; before = set(sys.modules); import spacy_nmparse.cli; "
        "print(sorted(set(sys.modules) - before))"
    )
    found = literal_eval(python("-c", code).stdout)
    new = [name for name in found if not name.startswith("spacy_nmparse.cli")]
    light = ("", ".about", ".private", ".spacy_version", ".lab", ".lab.commands")
    assert not [name for name in new if name.removeprefix("spacy_nmparse") not in light]


def test_options_of_the_system() -> None:
    arguments = ["oracle", "arc_eager", "2 0 2", "--oracle", "static", "--json"]
    for option in (
        "nonmonotonic_left",
        "single_root=False",
        "nonmonotonic_reduce",
        "push=shift",
        "max_search_states=7",
    ):
        arguments += ["-o", option]
    done = succeed(*arguments)
    *steps, last = (json.loads(line) for line in done.stdout.splitlines())
    moves = [step["action"][0] for step in steps]
    assert "RIGHT-ARC" not in moves and "REDUCE" in moves
    assert last == {"heads": [2, 0, 2]}
    assert all(step["action"] in [cost[:3] for cost in step["costs"]] for step in steps)


@pytest.mark.parametrize("system", ["arc_standard", "nl_covington", "swap_standard"])
def test_long_lists_are_shortened(system: str) -> None:
    """As ``trace`` does, whatever the sentence's length; --json does not."""
    heads = "0 " + " ".join(["1"] * 39)
    done = succeed("oracle", system, heads, "--oracle", "static")
    lists = [re.findall(r"\[(.*?)\]", line) for line in done.stdout.splitlines()[:-1]]
    assert all(len(part.split()) <= 5 for parts in lists for part in parts)
    assert any("…" in parts[0] for parts in lists) or system != "nl_covington"
    assert any(parts[-1].endswith(" …") for parts in lists)
    assert max(map(len, done.stdout.splitlines()[:-1])) < 200
    done = run("oracle", system, heads, "--oracle", "static", "--json")
    assert len(json.loads(done.stdout.splitlines()[0])["buffer"]) >= 39


LECTURE = ("--words", "they like bagels with lox", "-o", "buffer_arcs", "-o", "single_root")


def test_given_moves() -> None:
    """The lecture notes' search error; docs/papers/lec.md shows the rest."""
    moves = "SHIFT ARC-LEFT SHIFT ARC-RIGHT shift SHIFT LEFT-ARC ARC-RIGHT ARC-RIGHT"
    done = run("oracle", "arc_standard", "2 0 2 5 3", *LECTURE, "--moves", moves, "--json")
    lost = [json.loads(line).get("lost") for line in done.stdout.splitlines()]
    assert lost == [[], [], [], ["lost: 3 –→ 5"], *[[]] * 5, None]


def test_moves_with_labels() -> None:
    words = ("--words", "They bought tacos")
    moves = ("--moves", "SHIFT LEFT-ARC(obj) SHIFT")
    done = succeed("oracle", "arc_eager", "2:nsubj 0:root 2:obj", *words, *moves)
    assert "     lost: bought –nsubj→ They" in done.stdout.splitlines()
    assert "heads: 2 _ _" in done.stdout
    done = succeed("oracle", "arc_eager", *words, *moves)
    assert "  2  [They] [bought tacos ROOT]  LEFT-ARC obj  (RIGHT-ARC obj" in done.stdout
    assert "lost" not in done.stdout


def test_arcs_that_exclude_each_other() -> None:
    """With two words on the stack, arc-standard can make either a child of ROOT, not both."""
    moves = ("--moves", "SHIFT SHIFT SHIFT")
    done = run("oracle", "arc_standard", "0 0 2", "--words", "a b c", *moves)
    assert "     lost: 1 of ROOT –→ a, ROOT –→ b" in done.stdout.splitlines()
    assert done.stdout.splitlines()[-2:] == [
        "loss: 1",
        "The derivation is not finished. Legal next: LEFT-ARC, RIGHT-ARC.",
    ]
    done = run("oracle", "nl_covington", "0 1 1", "-o", "max_length=1")
    assert done.stdout.splitlines()[0] == "     lost: 1 –→ 3, from the start"


def test_an_unfinished_derivation(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    moves = ("--moves", "SHIFT SHIFT RIGHT-ARC", "--html", page)
    done = succeed("oracle", "arc_eager", "2 0 2 2", *moves)
    assert '"heads":[null,null,1,null]' in page.read_text(encoding="utf-8")
    assert "heads: _ _ 2 _" in done.stdout
    legal = "Legal next: SHIFT, REDUCE, RIGHT-ARC."
    assert done.stdout.splitlines()[-1] == f"The derivation is not finished. {legal}"


LATTICE = "lattice swap_standard '2 0 2 1 4' --words 'Ausgelöst wurde sie durch Intel'"


def test_lattice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    dot = tmp_path / "lattice.dot"
    succeed(*words_of(LATTICE), "--oracle", "nd_all", "--dot", dot)
    assert dot.read_text(encoding="utf-8").startswith("digraph ")
    found = read(*words_of(LATTICE), "--oracle", "eager", "--json")
    assert found["derivations"] == 1 and found["words"][0] == "Ausgelöst"
    monkeypatch.setenv("COLUMNS", "40")
    done = run(*words_of(LATTICE), "--oracle", "nd_all")
    assert "columns wide: widen the terminal, or use --dot" in done.stdout
    assert "9 derivations" in done.stdout


def test_the_oracle_of_a_file(folder: Path) -> None:
    tree = folder / "gold.conllu"
    page = folder / "oracle.html"
    done = succeed(
        "oracle", "swap_standard", tree, "--number", "2", "--oracle", "lazy", "--html", page
    )
    assert "LEFT-ARC nsubj" in done.stdout or "RIGHT-ARC nsubj" in done.stdout
    assert "words: 1:What 2:do 3:you 4:want" in done.stdout
    assert done.stdout.splitlines()[-1] == "heads: 4 0 2 2"
    assert '"What"' in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["oracle", "lattice"])
def test_what_the_page_shows(command: str) -> None:
    page = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
    block = rf"```bash\n[^`\n]* nmparse ({command} .*?)\n```\n\n```text\n(.*?)```"
    found = re.search(block, page, re.DOTALL)
    assert found is not None
    assert run(*shlex.split(found[1])).stdout == found[2]


def test_several_derivations() -> None:
    done = succeed("oracle", "swap_standard", "2 0 2", "--oracle", "nd_all", "--derivations", "10")
    assert done.stdout.count("heads: 2 0 2") == 2
    assert done.stdout.splitlines()[-1] == "2 derivations by nd_all"


def test_trace(folder: Path) -> None:
    done = succeed("trace", folder / "model", "She saw the cat .")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("arc_eager: 5 words")
    assert any("LEFT-ARC nsubj" in line and "+ saw –nsubj→ She" in line for line in lines)
    assert lines[-1].split() == ["She", "saw", "the", "cat", "."]
    assert "\x1b" not in done.stdout
    result = read("trace", folder / "model", "She saw the cat .", "--json")
    assert result["heads"] == TREES[0][1]
    assert set(result) == {
        "system", "source", "words", "tokens", "heads", "labels", "sent_starts", "gold_heads",
        "gold_labels", "steps",
    }  # fmt: skip
    assert set(result["steps"][0]) >= {"action", "stack", "buffer", "added", "deleted", "choices"}


def test_trace_colours(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    arguments = ("trace", folder / "random", "--corpus", folder / "gold.spacy", "--number", "2")
    done = run(*arguments, "--pictures", "repairs")
    assert "\x1b[38;5;1m- " in done.stdout  # red
    assert "\x1b[38;5;2m+ " in done.stdout  # green
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run(*arguments).stdout


def test_trace_with_a_gold_tree(folder: Path) -> None:
    arguments = ("--corpus", folder / "gold.conllu", "--number", "2", "--choices", "3")
    done = succeed("trace", folder / "random", *arguments, "--pictures", "none")
    assert "cost 0" in done.stdout and "heads as in the gold tree: " in done.stdout
    page = folder / "trace.html"
    done = run("trace", folder / "random", *arguments, "--html", page)
    assert f"Written: {page}" in done.stdout
    assert '"What"' in page.read_text(encoding="utf-8")


def test_trace_reads_text(folder: Path) -> None:
    found = read("trace", folder / "model", "-", "--json", input="Sleep !\n")
    assert found["words"] == ["Sleep", "!"]
    assert read("trace", folder / "model", "don't go", "--words", "--json")["words"] == [
        "don't",
        "go",
    ]


def test_a_narrow_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "12")
    done = run("trace", folder / "model", "She saw the cat .")
    assert "columns wide" in done.stdout


def test_stats(folder: Path) -> None:
    done = succeed("stats", folder / "gold.conllu")
    assert "crossing arcs" in done.stdout and "ccomp" in done.stdout
    result = read("stats", folder / "gold.conllu", "--json")
    assert (result["sentences"], result["words"], result["arcs"]) == (2, 8, 6)
    assert (result["projective_sentences"], result["crossing_arcs"]) == (1, 1)
    assert set(result["transitions"]) == set(columns())
    assert result["file"] == "gold.conllu"


def test_repairs(folder: Path) -> None:
    done = succeed("repairs", folder / "random", folder / "gold.spacy")
    assert "HGJ13, Table 2" in done.stdout and "Examples" in done.stdout
    result = read("repairs", folder / "random", folder / "gold.spacy", "--json")
    assert (result["documents"], result["words"]) == (5, 25)
    assert set(result) == {
        "documents", "words", "moves", "repairs", "punct", "total", "labels", "examples",
        "heads", "right", "at_most",
    }  # fmt: skip
    assert result["heads"] == 25 >= result["at_most"] >= result["right"]
    assert set(result["total"]) == {
        "tp", "neutral", "fp", "fn", "tn", "deferred", "precision", "recall",
    }  # fmt: skip
    made = result["total"]["tp"] + result["total"]["neutral"] + result["total"]["fp"]
    assert made > 0
    counted = sum(one["count"] for entries in result["labels"].values() for one in entries)
    assert counted == made
    few = read("repairs", folder / "random", folder / "gold.spacy", "--json", "-n", "1")
    assert few["documents"] == 1
    whole = read("repairs", folder / "random", folder / "gold.spacy", "--json", "--unit", "doc")
    assert whole["documents"] == 4
    (folder / "one.conllu").write_text("1\tA\t_\tX\t_\t_\t0\troot\t_\t_\n", encoding="utf-8")
    done = succeed("repairs", folder / "random", folder / "one.conllu")
    assert "No non-monotonic move was legal" in done.stdout


def test_errors(folder: Path) -> None:
    page = folder / "parses.html"
    done = succeed("errors", folder / "random", folder / "gold.spacy", "--draw", page)
    assert "By length of the arc" in done.stdout and "downstream" in done.stdout
    assert page.read_text(encoding="utf-8").count("<svg") == 5
    result = read("errors", folder / "random", folder / "gold.spacy", "--json")
    assert set(result) == {"documents", "flawless", "groups", "confusions", "first_errors"}
    assert set(result["groups"]) == {
        "all", "label", "length", "direction", "projectivity", "sentence_length",
    }  # fmt: skip
    assert result["groups"]["all"]["all"]["gold"] == 25
    best = read("errors", folder / "model", folder / "gold.spacy", "--json")
    assert best["groups"]["all"]["all"]["las"] == 1
    assert best["flawless"] == best["documents"] == 5


def test_debug_data(folder: Path) -> None:
    config = CONFIGS / "nm_parser.cfg"
    paths = ("--paths.train", folder / "gold.spacy", "--paths.dev", folder / "gold.spacy")
    done = succeed("debug-data", config, *paths)
    assert "development texts are training texts too" in done.stdout
    assert re.search(r"tokens of the tokenizer, F1 +100.00 +100.00", done.stdout)
    assert "splits otherwise" not in done.stdout
    result = read("debug-data", config, *paths, "--json")
    assert set(result) == {"component", "system", "train", "dev", "findings"}
    assert result["train"]["sentences"] == 5
    assert {one["level"] for one in result["findings"]} <= {"good", "info", "warning", "error"}
    DocBin().to_disk(folder / "empty.spacy")
    empty = ("--paths.train", folder / "empty.spacy", "--paths.dev", folder / "gold.spacy")
    assert run("debug-data", config, *empty).exit_code == 1


def test_debug_data_shows_what_the_tokenizer_splits_otherwise(folder: Path) -> None:
    words = [f"word-{letter}" for letter in string.ascii_lowercase]
    doc = Doc(Vocab(), words=words, heads=[0] * 26, deps=["ROOT", *["dep"] * 25])
    DocBin(docs=[doc]).to_disk(folder / "words.spacy")
    paths = ("--paths.train", folder / "words.spacy", "--paths.dev", folder / "words.spacy")
    done = run("debug-data", CONFIGS / "nm_parser.cfg", *paths)
    assert "Strings that the tokenizer splits otherwise" in done.stdout
    assert re.search(r"(?m)^word-[a-z] +word - [a-z] +1 +1$", done.stdout)
    assert re.search(r"(?m)^\(\d+ more: --json\)$", done.stdout)


ABC = "oracle arc_eager --words 'a b c'"
DEBUG = "debug-data {configs}/nm_parser.cfg"


@pytest.mark.parametrize(
    ("command", "messages"),
    [
        (
            f"{ABC} --moves 'SHIFT REDUCE'",
            [
                "Move 2, REDUCE, is illegal in [a] [b c ROOT].",
                "Only a word that has a head can leave. Legal there: SHIFT, LEFT-ARC, RIGHT-ARC.",
            ],
        ),
        (f"{ABC} --moves 'SHIFT LEFT-ARC-2'", ["'LEFT-ARC-2' is no move"]),
        (f"{ABC} --moves 'SHIFT LEFT-ARC_2'", ["k where that is not 1, as LEFT-ARC2"]),
        (f"{ABC} --moves SHIFT --oracle x", ["arc_eager has no oracle 'x'"]),
        (f"{ABC} '2 0 2' -o labels=a", ["arc_eager has no option 'labels'"]),
        (
            f"{ABC} --moves 'SHIFT LEFT-ARC RIGHT-ARC(x)'",
            ["Move 2, LEFT-ARC, is illegal", "needs a label in brackets there, of x."],
        ),
        (f"{ABC} --moves 'SHIFT(x)'", ["SHIFT takes no label there"]),
        (f"{ABC} --moves SWAP", ["arc_eager has no SWAP: its moves are SHIFT, REDUCE"]),
        (f"{ABC} --moves 'SHIFT 3'", ["'3' is no move"]),
        (f"{ABC} --moves SHIFT --derivations 2", ["leave --derivations out"]),
        (ABC, ["An oracle needs a TREE"]),
        (f"{ABC} '2 0' --moves SHIFT", ["3 words, but 2 heads"]),
        (
            "oracle arc_eager --words a --moves 'SHIFT LEFT-ARC SHIFT SHIFT'",
            ["Move 4, SHIFT: the derivation is over before it"],
        ),
        ("oracle arc_eager {f}/gold.conllu --words a", ["leave --words out"]),
        (
            "oracle nl_covington --words 'a b c' --moves 'SHIFT SHIFT LEFT-ARC3'",
            ["is illegal in [a b] [] [c].", "LEFT-ARC with k = 1, 2, RIGHT-ARC with k = 1, 2."],
        ),
        (
            "oracle two_planar --words 'a b' --moves 'SHIFT SWITCH SWITCH'",
            ["is illegal in [a] [a] [b]."],
        ),
        (f"{LATTICE} --max-nodes 20", ["more than 20 configurations: take a shorter"]),
        (f"{LATTICE} --oracle paper", ["no oracle 'paper'"]),
        ("lattice swap_standard '2 0' --words a", ["1 word, but 2 heads"]),
        ("oracle arc_eager 0 -o single_root=0", ["single_root"]),
        ("oracle arc_eager 0 -o push=never", ["never"]),
        ("oracle arc_eager ''", ["one word"]),
        ("oracle arc_eager '1 1'", ["'1' is no head of word 1"]),
        ("oracle arc_eager '0 \u00b2'", ["no head of word 2"]),
        ("oracle covington 0 -o max_length", ["'max_length' is a number"]),
        ("oracle covington 0 -o max_length=x", ["'max_length' is a number, not 'x'"]),
        ("oracle covington 0 -o root_label=ROOT", ["root_label 'ROOT' is not among"]),
        ("oracle arc_eager no.conllu", ["no.conllu"]),
        ("oracle arc_eager 0 --html setup.py/folder.html", ["setup.py/folder.html"]),
        ("oracle arc_eager '2 0 9'", ["Head 9 of word 3 is not a word", "1 to 3"]),
        ("oracle arc_eager '2 3 1'", ["a cycle: 1 → 2 → 3 → 1."]),
        ("oracle arc_eagr 0", ["No system 'arc_eagr'. Did you mean arc_eager?"]),
        ("oracle nm_parser 0", ["Its system is arc_eager."]),
        ("oracle arc_eager --words ' ' --moves SHIFT", ["Give a TREE"]),
        ("oracle arc_eager {f}/gold.conllu --number 3", ["gold.conllu has 2 sentences, not 3"]),
        ("trace no_such_model a", ["no_such_model", "model-best"]),
        ("trace {f}/model", ["--corpus"]),
        ("trace {f}/model a --pictures x", ["'x'", "repairs"]),
        ("trace {f}/model ' '", ["no word"]),
        (
            "trace {f}/model --corpus {f}/gold.conllu --number 3",
            ["gold.conllu", "2 sentences"],
        ),
        ("trace {f}/model a --component x", ["'x'", "nm_parser"]),
        ("trace {f} a", ["No pipeline in"]),
        ("trace {f}/blank a", ["no parser of spacy-nmparse"]),
        ("evaluate {f} {f}/gold.spacy", ["No pipeline in"]),
        ("evaluate {f}/model {f}", ["is a folder: name one of its .conllu"]),
        ("evaluate {f}/model {f}/model/meta.json", ["neither a .spacy"]),
        (
            "evaluate {f}/model {f}/gold.conllu --unit text",
            ["The running text (unit) of", "gold.conllu", "--tokens raw is missing"],
        ),
        (
            "evaluate {f}/model {f}/gold.conllu --conllu {f}/no.conllu",
            ["There is no file", "no.conllu."],
        ),
        ("replace {f}/blank {f}/model -o {f}/x --text {f}/no.txt", ["There is no file", "no.txt."]),
        (
            "convert {f}/gold.conllu {f}/x",
            ["gold.conllu is a file: give the folder of a UD treebank, or --train FILE."],
        ),
        ("convert {f}/x --train {f}/no.conllu", ["There is no file"]),
        (
            DEBUG + """ --paths.train "['a.conllu']" --paths.dev {f}/gold.conllu""",
            ["""file ['a.conllu'] (a list is JSON: '["FILE", "FILE"]')."""],
        ),
        (DEBUG, ["--paths.train FILE"]),
        ("debug-data {f}/no.cfg", ["no.cfg"]),
        ("stats {f}", ["is a folder: name one of its .conllu"]),
        ("stats {f}/spaces.conllu", ["columns are parted by tabs, not spaces."]),
        ("stats {f}/no.spacy", ["no.spacy"]),
        ("parse {f}/model {f}/gold.conllu -o {f}/out.xyz", ["what is .xyz?"]),
        ("parse {f}/model {f}/gold.conllu --input-format x", ["--input-format", "'x'"]),
        ("repairs {f}/model {f}/gold.spacy --unit x", ["--unit", "'x'"]),
        ("errors {f}/model {f}/no.spacy", ["no.spacy"]),
    ],
)
def test_what_is_wrong_is_named(folder: Path, command: str, messages: list[str]) -> None:
    done = run(*words_of(command, f=folder, configs=CONFIGS))
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    for message in messages:
        assert message in done.stderr or message in told(done)


HOSTILE = "\x1b]0;x\x07\x1b[2J\x9b2J\r\x7f"
#: Of a folder {f} with names {hostile} of files.
COMMANDS = [
    "trace {f}/model --corpus {gold} --pictures all --choices 9",
    "trace {f}/model --corpus {gold} --json",
    "trace {f}/model --corpus {gold} --number 9",
    "errors {f}/model {gold}",
    "errors {f}/model {gold} --json",
    "repairs {f}/model {gold}",
    "stats {gold}",
    "stats {f}/none{hostile}.conllu",
    "stats {f}/bad{hostile}.conllu",
    "oracle arc_eager {gold}",
    "oracle arc_eager {gold} --words a",
    "oracle arc_eager --words {hostile} --moves 'SHIFT LEFT-ARC({hostile})'",
    "lattice arc_eager {gold}",
    "evaluate {f}/model {gold} --conllu {gold}",
    "convert {f}/out{hostile} --train {gold} --lang en",
    "parse {f}/model {f}/bad{hostile}.conllu",
    "parse {f}/model {gold} -o {f}/out{hostile}.xyz",
    "debug-data {configs}/nm_parser.cfg --paths.train {gold} --paths.dev {gold}",
]


def gold_in(folder: Path) -> Path:
    return folder / f"gold{HOSTILE}.conllu"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model and a treebank whose words, labels and file names would steer a terminal."""
    folder = tmp_path_factory.mktemp("hostile")
    signs = HOSTILE.replace("\r", "")
    rows = ("don't", 2, f"a{signs}"), (f"w{signs}", 0, "root"), ("c", 1, f"b{signs}")
    text = "".join(
        f"{i}\t{form}\t_\t_\t_\t_\t{head}\t{label}\t_\t_\n"
        for i, (form, head, label) in enumerate(rows, start=1)
    )
    gold_in(folder).write_text(f"{text}\n", encoding="utf-8")
    (folder / f"bad{HOSTILE}.conllu").write_text(text + signs, encoding="utf-8")
    nlp = make_nlp()
    docs = conllu_to_docs(gold_in(folder), nlp.vocab)
    examples = [make_example(doc) for doc in docs]
    nlp.initialize(lambda: examples)
    nlp.to_disk(folder / "model")
    return folder


@pytest.mark.skipif(os.name == "nt", reason="names of files cannot have control characters")
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_steers_the_terminal(
    hostile: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    values = {"f": hostile, "gold": gold_in(hostile), "hostile": HOSTILE, "configs": CONFIGS}
    output = run(*words_of(command, **values)).output
    plain = re.sub("\x1b\\[[0-9;]*m", "", output)  # our own colours
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", plain), repr(plain)
    assert plain.strip() and "Traceback" not in plain


def test_letters_that_a_stream_does_not_have() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", newline="")
    show("a", "–", "\x1b", file=stream)
    stream.flush()
    assert stream.buffer.getvalue() == b"a ? ?\n"  # type: ignore[attr-defined]


def test_a_pipeline_below_the_folder(folder: Path) -> None:
    shutil.copytree(folder / "model", folder / "trained" / "x" / "model-best")
    done = run("trace", folder / "trained", "a")
    assert f"Did you mean {folder / 'trained' / 'x' / 'model-best'}?" in done.stderr


#: Commands that write a file.
WRITERS = [
    "init-config {out}",
    "evaluate {f}/model {f}/gold.spacy -o {out}",
    "trace {f}/model 'a b' --html {out}",
    "errors {f}/model {f}/gold.spacy --draw {out}",
    "oracle arc_eager 0 --html {out}",
    "lattice arc_eager 0 --dot {out}",
]


PARSES = [f"parse {{f}}/model {{f}}/gold.spacy -o {{out}} -f {form}" for form in FORMATS]


@pytest.mark.skipif(os.name != "posix", reason="makes FIFOs")
@pytest.mark.parametrize("command", [*WRITERS, *PARSES])
def test_outputs_that_are_no_files(folder: Path, tmp_path: Path, command: str) -> None:
    """A FIFO is written into, and so is what is behind a link."""
    fifo, link = tmp_path / "fifo", tmp_path / "link"
    os.mkfifo(fifo)
    found: list[bytes] = []
    reader = Thread(target=lambda: found.append(fifo.read_bytes()), daemon=True)
    reader.start()
    link.symlink_to("file")
    for out in (fifo, link):
        succeed(*words_of(command, f=folder, out=out))
    assert fifo.is_fifo() and link.is_symlink()
    reader.join()
    written = (tmp_path / "file").read_bytes()
    assert len(found[0]) > 8 and (found[0] == written or "evaluate" in command)  # tells the time
    assert set(read_record(tmp_path)) == ({"link"} if command in PARSES else set())
    files = {path.name for path in tmp_path.iterdir()} - {RECORD}
    assert files == {"fifo", "link", "file"}


CLOSED = """
import os, sys
from spacy_nmparse.cli.process import prepared
with prepared(), open("file", "w") as file:
    print("said"), print("said", file=sys.stderr), os.write(1, b"said"), os.write(2, b"said")
    file.write("mine")
"""


@pytest.mark.skipif(os.name != "posix", reason="closes streams by a shell")
def test_files_do_not_get_what_closed_streams_are_told(tmp_path: Path) -> None:
    shell = ["sh", "-c", 'exec "$0" -c "$1" <&- >&- 2>&-', sys.executable, CLOSED]
    subprocess.run(shell, cwd=tmp_path, check=True)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(os.name != "posix", reason="limits the size of files")
@pytest.mark.parametrize("command", [*WRITERS, "convert {out} --dev {f}/gold.conllu"])
def test_a_full_disk(folder: Path, tmp_path: Path, command: str) -> None:
    """Nothing half-written stays, and the message names the file."""
    out = tmp_path / "made" / "x"
    given = words_of(command, f=folder, out=out)
    with small_files(8):
        done = run(*given)
    assert done.exit_code == 2, done.output
    assert "too large" in done.stderr and str(out) in done.stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert run(*given).exit_code == 0
    assert any(path.is_file() for path in tmp_path.rglob("*"))


def test_systems_are_listed() -> None:
    out = run("systems").stdout
    assert re.search(r"(?m)^arc_eager: oracles .*dynamic", out)
    assert re.search(r"(?m)^nonmonotonic_left +bool +False", out)
    found = read("systems", "--json")
    assert set(systems.names()) == set(found)
    assert list(read("systems", "arc_hybrid", "--json")) == ["arc_hybrid"]
    done = run("systems", "arc_hybird")
    assert done.exit_code == 2 and "Did you mean arc_hybrid?" in done.stderr


def test_wrong_trees_are_named(folder: Path, tmp_path: Path) -> None:
    """A cycle is an error with its line, several roots a warning."""
    rows = [f"{i}\tw\t_\tX\t_\t_\t{{}}\tdep\t_\t_\n" for i in (1, 2, 3)]
    tree = "".join(rows) + "\n"
    source = tmp_path / "a.conllu"
    source.write_text(tree.format(0, 1, 1) + tree.format(2, 3, 1), encoding="utf-8")
    commands = [("convert", tmp_path / "out", "--test")]
    commands += [(name, folder / "model") for name in ("evaluate", "errors", "repairs")]
    paths = ("--paths.train", source, "--paths.dev")
    debug = ("debug-data", CONFIGS / "nm_parser.cfg", *paths)
    for command in (*commands, ("stats",), ("oracle", "arc_eager", "--number", "2"), debug):
        done = run(*command, source)
        assert done.exit_code == 2
        assert f"{source}, line 5: the heads form a cycle: 1 → 2 → 3 → 1." in done.stderr
    text = tree.format(2, 3, 1) + "# a = b\n\n" + tree.format(0, 4, 1) + "1 w\n\n"
    source.write_text(text + tree.format(0, 1, 1), encoding="utf-8")
    named = (*debug[:2], "--paths.train", json.dumps({"a": str(source)}), "--paths.dev")
    for command in (commands[0], debug, named):
        error = run(*command, source).stderr  # all faults at once, once each
        for line, fault in ((1, "a cycle"), (8, "a head is 4"), (11, "1 column instead of 10")):
            assert error.count(f"{source}, line {line}: ") == 1 and fault in error
    source.write_bytes(tree.format(2, 3, 1).encode() + b"\xff")
    error = run(*commands[0], source).stderr
    assert "line 1: the heads" in error and "line 5: byte 0xff is not UTF-8" in error
    source.write_text(tree.format(2, 3, 1) * 30, encoding="utf-8")
    error = run(*commands[0], source).stderr
    assert error.count("a cycle") == 20 and "10 more sentences have faults." in error
    source.write_text(tree.format(0, 1, 1) + tree.format(0, 1, 0), encoding="utf-8")
    for command in commands:
        done = run(*command, source)
        assert done.exit_code == 0
        assert f"1 sentence with several roots, the first at {source}, line 5" in done.stderr
    done = run("convert", tmp_path / "no", "--test", source, "--one-root")
    assert done.exit_code == 2 and f"{source}, line 5." in done.stderr
    assert not (tmp_path / "no").exists()
    done = run("convert", tmp_path / "out", "--test", source, "--lang", "afr")
    assert "write af, spaCy's code for Afrikaans" in done.stderr
