"""Scores as the CoNLL 2018 evaluation, held against its own program on files."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_nmparse.pipe.evaluation import score_dependencies
from spacy_nmparse.ud import conll18, conllu_to_docs, doc_to_conllu

udeval = pytest.importorskip("udtools.udeval", reason="needs the package udtools")

CASES = ["nsubj", "NSUBJ", "Nsubj", "acl:relcl", "ACL:RelCl", "PUNCT", "obj", "Dep", "SB", "sb"]
LABELS = st.sampled_from(CASES) | st.text("aAbBİıßSs:", min_size=1).filter(lambda x: x[0] != ":")
ROOTS = st.sampled_from(["root", "pred", "HED"])


@st.composite
def sentences(draw: st.DrawFn, roots: st.SearchStrategy[str]) -> list[list[str]]:
    """Rows of a sentence of one root, some words of it a multiword token."""
    n = draw(st.integers(1, 6))
    root = draw(st.integers(1, n))
    order = [root, *(word for word in draw(st.permutations(range(1, n + 1))) if word != root)]
    rows = []
    for word in range(1, n + 1):
        place = order.index(word)
        head = order[draw(st.integers(0, place - 1))] if place else 0
        label = draw(LABELS) if place else draw(roots)
        row = [str(word), f"w{word}", f"W{word}", "NOUN", "N", "Case=Nom", str(head), label]
        rows.append([*row, "_", "_"])
    if n > 2 and draw(st.booleans()):
        rows.insert(0, ["1-2", "w1w2", *"________"])
    return rows


def write(path: Path, gold: list[list[list[str]]]) -> Path:
    text = "".join("\n".join(map("\t".join, rows)) + "\n\n" for rows in gold)
    path.write_text(text, encoding="utf-8")
    return path


def official(gold: Path, system: Path) -> dict[str, float]:
    """What the program says of two files."""
    kind = {"multiple_roots_okay": True}
    sides = (udeval.load_conllu_file(str(path), kind) for path in (gold, system))
    return {metric: score.f1 for metric, score in udeval.evaluate(*sides).items()}


def relabelled(docs: list[Doc], data: st.DataObject) -> list[Doc]:
    """Parses as a parser would make them: roots are ROOT; some heads and labels are others."""
    made = []
    for doc in docs:
        heads, deps = [token.head.i for token in doc], [token.dep_ for token in doc]
        for token in doc:
            if token.head.i == token.i:
                deps[token.i] = "ROOT"
            elif data.draw(st.booleans()):
                deps[token.i] = data.draw(LABELS)
            elif data.draw(st.booleans()):
                heads[token.i] = token.sent.root.i
        copy = doc.copy()
        for token, head, dep in zip(copy, heads, deps, strict=True):
            token.head, token.dep_ = copy[head], dep
        made.append(copy)
    return made


@settings(deadline=None, max_examples=50)
@given(gold=st.lists(sentences(ROOTS | st.sampled_from(["ROOT", "Root"])), min_size=1, max_size=4))
def test_gold_against_itself_is_100(gold: list[list[list[str]]]) -> None:
    with TemporaryDirectory() as folder:
        path = write(Path(folder) / "gold.conllu", gold)
        for merge in (False, True):
            docs = list(conllu_to_docs(path, Vocab(), merge=merge))
            sides: list[Any] = [path, str(path), [path], docs]
            for one in sides:
                for other in sides:
                    if merge and docs in (one, other):
                        continue  # heads of words in a merged token are not all kept
                    found = conll18.score_text(one, other)
                    # without a content relation, these are 0
                    known = {key for key in found if key not in ("CLAS", "MLAS", "BLEX")}
                    assert {found[key] for key in known} == {1}, found
        docs = list(conllu_to_docs(path, Vocab()))
        assert conll18.score_words(path, docs)["LAS"] == 1
        scores = score_dependencies(Example(doc, doc) for doc in docs)
        assert scores["dep_las_conll"] == 1


@settings(deadline=None)
@given(gold=st.lists(sentences(ROOTS), min_size=1, max_size=3), data=st.data())
def test_the_same_as_the_program_on_files(gold: list[list[list[str]]], data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        path = write(Path(folder) / "gold.conllu", gold)
        golds = list(conllu_to_docs(path, Vocab()))
        docs = relabelled(golds, data)
        parse = Path(folder) / "parse.conllu"
        parse.write_text("".join(map(doc_to_conllu, docs)), encoding="utf-8")
        right = official(path, parse)
        for system in (docs, parse):
            found = conll18.score_text(path, system)
            assert found == {metric: right[metric] for metric in found}
        assert conll18.score_words(path, docs) == {key: right[key] for key in conll18.TREES}
        scores = score_dependencies(map(Example, docs, golds))
        assert scores["dep_uas_conll"] == pytest.approx(right["UAS"])
        assert scores["dep_las_conll"] == pytest.approx(right["LAS"])
        if right["CLAS"]:
            assert scores["dep_clas"] == pytest.approx(right["CLAS"])


def test_upper_case_labels(tmp_path: Path) -> None:
    """The case of labels is theirs: SB is not sb, and the parse is not folded."""
    rows = "1 Er er PRON _ _ 2 SB _ _\n2 kam kommen VERB _ _ 0 root _ _\n3 an an ADP _ _ 2 SVP _ _"
    path = write(tmp_path / "a.conllu", [[row.split(" ") for row in rows.split("\n")]])
    doc = Doc(Vocab(), words=["Er", "kam", "an"], heads=[1, 1, 1], deps=["SB", "ROOT", "svp"])
    assert conll18.score_text(path, [doc])["LAS"] == pytest.approx(2 / 3)
    assert conll18.score_words(path, [doc])["LAS"] == pytest.approx(2 / 3)
    gold = Doc(Vocab(), words=["Er", "kam", "an"], heads=[1, 1, 1], deps=["SB", "ROOT", "SVP"])
    assert score_dependencies([Example(doc, gold)])["dep_las_conll"] == pytest.approx(2 / 3)
    assert score_dependencies([Example(doc, gold)])["dep_las"] == 1  # spaCy's ignores case


def test_a_sentence_that_starts_in_a_multiword_token(tmp_path: Path) -> None:
    rows = [["1-2", "du", *"________"]]
    for i, (form, head, dep) in enumerate(
        [("de", "3", "case"), ("le", "3", "det"), ("roi", "0", "root")]
    ):
        rows.append([str(i + 1), form, form, "X", "_", "_", head, dep, "_", "_"])
    gold = write(tmp_path / "gold.conllu", [rows, rows])
    words, deps = ["de", "le", "roi"] * 2, ["ROOT", "det", "ROOT", "case", "det", "ROOT"]
    starts = [True, True, False, True, False, False]
    doc = Doc(Vocab(), words=words, heads=[0, 2, 2, 5, 5, 5], deps=deps, sent_starts=starts)
    found = conll18.score_words(gold, [doc])
    assert found["UAS"] == found["LAS"] == pytest.approx(5 / 6)
