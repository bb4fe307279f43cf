"""Reading treebanks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_nmparse.ud.corpus import read_docs, read_sentences, read_spacy, whole_trees
from tests.pipe.common import TREES, gold_doc


def spacy_file(folder: Path, *docs: Doc, **options: Any) -> Path:
    DocBin(docs=docs, **options).to_disk(folder / "a.spacy")
    return folder / "a.spacy"


CONLLU = """\
# sent_id = 1
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tdo\tdo\tAUX\t_\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\t_\t_\t3\tadvmod\t_\t_
3\t!\t!\tPUNCT\t_\t_\t0\troot\t_\t_
3.1\tempty\t_\t_\t_\t_\t_\t_\t0:root\t_

1\tA\ta\tDET\t_\t_\t2\tdet\t_\t_
2\tcat\tcat\tNOUN\t_\t_\t_\t_\t_\tSpaceAfter=No
"""


def write(folder: Path, text: str, name: str = "a.conllu") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_conllu(tmp_path: Path, line_end: str) -> None:
    path = write(tmp_path, CONLLU.replace("\n", line_end))
    first, second = read_sentences(path)
    assert first.words == ["do", "n't", "!"]
    assert first.heads == [2, 2, 2]
    assert first.labels == ["aux", "advmod", "ROOT"]
    assert first.spaces == [False, False, True]
    assert first.tags == ["AUX", "PART", "PUNCT"]
    assert (first.fault, first.n_roots) == (None, 1)
    assert second.heads == [1, None] and second.labels == ["det", None]
    assert second.fault == "unknown heads"
    assert whole_trees([first, second]) == [[2, 2, 2]]
    docs = read_docs(path, Vocab())
    assert [doc.text for doc in docs] == ["don't! ", "A cat"]
    assert [token.dep_ for token in docs[0]] == first.labels
    assert [token.pos_ for token in docs[0]] == first.tags
    assert docs[1][1].dep == 0


def test_spacy_files(tmp_path: Path) -> None:
    """Spaces are left out; documents need trees."""
    doc = gold_doc(Vocab(), [0, 4])
    first, second = read_sentences(spacy_file(tmp_path, doc))
    assert first.words == TREES[0][0].split() and first.heads == TREES[0][1]
    assert second.words == ["Sleep", "!"] and second.heads == [0, 0]
    (again,) = read_docs(tmp_path / "a.spacy", Vocab())
    assert [token.head.i for token in again] == [token.head.i for token in doc]
    words, deps = ["a", "\n", "b"], ["x", "dep", "ROOT"]
    spaced = Doc(Vocab(), words=words, heads=[2, 0, 2], deps=deps)
    (sentence,) = read_sentences(spacy_file(tmp_path, spaced))
    assert (sentence.words, sentence.heads) == (["a", "b"], [1, 1])
    with pytest.raises(ValueError, match="no trees"):
        read_docs(spacy_file(tmp_path, Doc(Vocab(), words=["a"])), Vocab())


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (None, "a.conllu", "no file"),
        ("x", "a.csv", "neither"),
        ("", "a.conllu", "no sentence"),
        ("1\ta\t_", "a.conllu", "line 1: 3 columns"),
        ("x", "a.spacy", "damaged"),
        (CONLLU.replace("3\t!", "4\t!"), "a.conllu", "line 5: word 4 where 3 is due"),
        (CONLLU.replace("\t0\troot", "\tx\troot"), "a.conllu", "'x' is no head"),
        (CONLLU.replace("\t3\taux", "\t9\taux"), "a.conllu", "a head is 9"),
        (CONLLU.replace("\t3\taux", "\t1\taux"), "a.conllu", "line 3: word 1 is its own head"),
        (CONLLU.replace("\t3\taux", "\t\u00b2\taux"), "a.conllu", "line 3: '\u00b2' is no head"),
        (CONLLU.replace("\t0\troot", "\t1\tx"), "a.conllu", "line 3: the heads form a cycle"),
        (CONLLU.replace("1-2\t", "1-x\t"), "a.conllu", "line 2: '1-x' is no range"),
    ],
)
def test_bad_files(tmp_path: Path, text: str | None, name: str, message: str) -> None:
    path = tmp_path / name
    if text is not None:
        write(tmp_path, text, name)
    with pytest.raises((ValueError, FileNotFoundError), match=message) as error:
        list(read_sentences(path))
    assert name in str(error.value)


@pytest.mark.parametrize("at_once", [1, 2, 500])
def test_user_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """Those of each document, arrays too; from a file without any, none."""
    monkeypatch.setattr("spacy_nmparse.ud.corpus.AT_ONCE", at_once)
    docs = [gold_doc(Vocab(), [0, 4]) for _ in range(5)]
    for i, doc in enumerate(docs[1:], start=1):
        doc.user_data = {("._.", "ud_misc", 0, None): f"X={i}", "array": numpy.arange(i)}
    for stored in (True, False):
        path = spacy_file(tmp_path, *docs, store_user_data=stored)
        expected = list(DocBin().from_disk(path).get_docs(Vocab()))
        for one, other in zip(read_spacy(path, Vocab()), expected, strict=True):
            assert one.to_bytes() == other.to_bytes()
        assert len(expected[4].user_data) == 2 * stored
