"""Labels of roots of the treebank's own: learned, predicted, written, read and scored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse import systems
from spacy_nmparse.analysis import find_errors
from spacy_nmparse.pipe.annotations import same_tokens
from spacy_nmparse.pipe.evaluation import score_dependencies
from spacy_nmparse.pipe.members import parser_of
from spacy_nmparse.ud import conllu_to_docs, doc_to_conllu
from spacy_nmparse.ud.corpus import read_sentences, trees_of
from spacy_nmparse.ud.evaluate import evaluate
from spacy_nmparse.ud.extensions import copy_words
from tests.pipe.common import NL, NM, TREES, learn, make_example, make_nlp, ready, system

#: The labels of the roots of TREES.
ONE = ["Pred"] * len(TREES)
SEVERAL = ["Pred", "root", "Pred", "Coord", "nsubj", "root"]


def write_treebank(path: Path, labels: list[str]) -> Path:
    """TREES as CoNLL-U, with these labels of roots."""
    rows = []
    for (text, heads, deps), label in zip(TREES, labels, strict=True):
        for i, (word, head, dep) in enumerate(zip(text.split(), heads, deps.split(), strict=True)):
            number, own = (0, label) if head == i else (head + 1, dep)
            rows.append(f"{i + 1}\t{word}\t_\t_\t_\t_\t{number}\t{own}\t_\t_")
        rows.append("")
    path.write_text("\n".join([*rows, ""]), encoding="utf-8")
    return path


def read(path: Path, nlp: Language) -> list[Example]:
    return [make_example(doc) for doc in conllu_to_docs(path, nlp.vocab, n_sents=1)]


def trees(conllu: str) -> list[tuple[str, ...]]:
    rows = [line.split("\t") for line in conllu.splitlines() if line[:1].isdigit()]
    return [(row[1], row[6], row[7]) for row in rows]


def learned(path: Path, **config: Any) -> Language:
    nlp = make_nlp(**config)
    learn(nlp, read(path, nlp))
    return nlp


def parsed(nlp: Language, examples: list[Example]) -> list[Doc]:
    return list(nlp.pipe(same_tokens(example.reference) for example in examples))


@pytest.mark.parametrize("labels", [ONE, SEVERAL], ids=["one", "several"])
def test_they_are_learned(kind: dict[str, Any], tmp_path: Path, labels: list[str]) -> None:
    path = write_treebank(tmp_path / "a.conllu", labels)
    nlp = learned(path, **kind)
    examples = read(path, nlp)
    parser = parser_of(nlp)
    assert "ROOT" in parser.labels and not {"Pred", "Coord", "root"} & {*parser.labels}
    loaded, wide = (make_nlp(**kind).from_bytes(nlp.to_bytes()) for _ in range(2))
    parser_of(wide).beam_width = 4
    parser_of(wide).confidence = True
    for pipeline in (nlp, loaded, wide):
        docs = parsed(pipeline, examples)
        for doc, label in zip(docs, labels, strict=True):
            (root,) = [token for token in doc if token.head.i == token.i]
            assert root.dep_ == "ROOT" and root._.ud_root == (None if label == "root" else label)
        written = "".join(map(doc_to_conllu, docs))
        assert trees(written) == trees(path.read_text(encoding="utf-8"))
    assert all(token._.dep_confidence > 0.5 for doc in docs for token in doc)
    scores = nlp.evaluate(examples)
    assert scores["dep_las_conll"] == scores["dep_las"] == scores["dep_exact"] == 1


def test_nothing_chooses_where_arcs_from_root_are_no_moves(tmp_path: Path) -> None:
    """All roots have the most frequent label."""
    path = write_treebank(tmp_path / "a.conllu", ["Pred", "root", "Pred", "nsubj", "Pred", "root"])
    headless = {"factory": NL, "system": system("NLCovington", explicit_root=False)}
    nlp = learned(path, **headless)
    docs = parsed(nlp, read(path, nlp))
    assert {t._.ud_root for doc in docs for t in doc if t.head.i == t.i} == {"Pred"}
    for name, labels, roots, message in (
        ("nl_covington", "ABc", "AB", r"root_labels \('A', 'B'\): give one, or set explicit_ro"),
        ("arc_eager", "AB", "Ac", "root_label 'c' is not among the labels"),
        ("arc_eager", "AB", "AB", "root_label needs another label as well"),
    ):
        with pytest.raises(ValueError, match=message):
            systems.create(name, tuple(labels), root_label=tuple(roots))


def test_root_is_no_label_of_its_own(tmp_path: Path) -> None:
    path = write_treebank(tmp_path / "a.conllu", ["root"] * len(TREES))
    nlp, other = make_nlp(), ready([[tree] for tree in range(len(TREES))])[0]
    parser_of(nlp).initialize(lambda: read(path, nlp), nlp=nlp)
    assert parser_of(nlp).label_data == parser_of(other).label_data
    assert not any(label.startswith("ROOT||") for label in parser_of(nlp).label_data["labels"])


def test_scores_count_them(tmp_path: Path) -> None:
    """``evaluate`` and ``errors`` alike; spaCy's scores see ROOT."""
    nlp = learned(write_treebank(tmp_path / "a.conllu", SEVERAL), factory=NM)
    gold = write_treebank(tmp_path / "b.conllu", ONE)
    examples = read(gold, nlp)
    n_words = sum(len(example.reference) for example in examples)
    n_others = sum(label != "Pred" for label in SEVERAL)
    counts = evaluate(nlp, gold)["per_sentence"]
    assert (sum(counts["heads"]), sum(counts["labelled"])) == (n_words, n_words - n_others)
    found = find_errors(nlp, [example.reference for example in examples]).all
    assert (found.heads, found.labelled) == (n_words, n_words - n_others)
    docs = parsed(nlp, examples)
    examples = [Example(doc, one.reference) for doc, one in zip(docs, examples, strict=True)]
    assert score_dependencies(examples)["dep_las"] == 1


def test_known_ones_are_kept(tmp_path: Path) -> None:
    """Those that the parser does not have, too; in trees of documents, and in copied words."""
    nlp = learned(write_treebank(tmp_path / "a.conllu", ["root"] * len(TREES)), keep_heads=True)
    path = write_treebank(tmp_path / "b.conllu", SEVERAL)
    docs = list(conllu_to_docs(path, nlp.vocab, n_sents=1))
    assert [doc_to_conllu(doc) for doc in map(nlp, docs)] == [
        doc_to_conllu(doc).replace("_\n", "KnownHead=Yes\n") for doc in docs
    ]
    (doc,) = conllu_to_docs(path, nlp.vocab, n_sents=10)
    found = list(trees_of(doc))
    assert found == list(read_sentences(path))
    tops = [one.labels[w] for one in found for w, head in enumerate(one.heads) if w == head]
    assert tops == ["Pred", "ROOT", "Pred", "Coord", "nsubj", "ROOT"]
    low = Doc(nlp.vocab, [token.lower_ for token in doc])
    assert copy_words(doc, low)
    assert [token._.ud_root for token in low] == [token._.ud_root for token in doc]
    assert not copy_words(doc, Doc(nlp.vocab, ["a"]))
