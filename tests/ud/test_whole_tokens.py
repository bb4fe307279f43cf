"""Words that are given, for pipelines that know their multiword token in one piece."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_nmparse.pipe.confidence import KEY, confidences
from spacy_nmparse.pipe.doc_io import preset_starts, write_parses
from spacy_nmparse.ud.conllu_docs import conllu_to_docs
from spacy_nmparse.ud.jobs import Job
from spacy_nmparse.ud.parse_files import parse_file
from spacy_nmparse.ud.whole_tokens import pipe_words
from tests.toy_treebank import sentence
from tests.ud.test_multiword import multiword

KNOWN = sentence(
    "1 Il il PRON Pron _ 2 nsubj _ _",
    "2 boit boire VERB Verb _ 0 root _ _",
    "3-4 du _ _ _ _ _ _ _ _",
    "3 de de ADP Prep _ 5 case _ _",
    "4 le le DET Det Definite=Def 5 det _ _",
    "5 vin vin NOUN Noun _ 2 obl _ _",
    "6-7 blanc-là _ _ _ _ _ _ _ _",
    "6 blanc blanc ADJ Adj _ 5 amod _ _",
    "7 -là là ADV Adv _ 6 advmod _ _",
)
#: The same words, without trees.
GIVEN = "".join(
    "\t".join([*row.split("\t")[:2], *"_" * 8]) + "\n" if row else "\n"
    for row in KNOWN.split("\n")[:-1]
)


@Language.component("toy_chain")
def chain(doc: Doc) -> Doc:
    """Each token without a head hangs on the next one, the last of a sentence is its root; says of
    each how sure it is, and takes capitals for names."""
    starts = preset_starts(doc) == 1
    starts[0] = True
    ends = numpy.append(starts.nonzero()[0][1:], len(doc))
    last = ends[numpy.cumsum(starts) - 1] - 1
    heads = [token.head.i if token.dep else min(token.i + 1, int(last[token.i])) for token in doc]
    write_parses(
        [doc],
        numpy.asarray([len(doc)], dtype="int32"),
        numpy.arange(len(doc), dtype="int32"),
        numpy.asarray(heads, dtype="int32"),
        numpy.zeros(len(doc), dtype="int32"),
        starts.astype("int8"),
        ["next", "ROOT", "dep"],
    )
    doc.user_data["seen"] = [token.text for token in doc]
    doc.user_data[KEY] = numpy.full((2, len(doc)), 0.5, dtype="<f4").tobytes()
    doc.set_ents([Span(doc, i, i + 1, "X") for i in range(len(doc)) if doc[i].text == "du"])
    return doc


@pytest.fixture
def nlp() -> Language:
    nlp = multiword(KNOWN)
    nlp.add_pipe("toy_chain", first=True)
    return nlp


def parsed(nlp: Language, conllu: str, n_sents: int = 1) -> Doc:
    (doc,) = pipe_words(nlp, conllu_to_docs(conllu, nlp.vocab, n_sents=n_sents))
    return doc


def arcs(doc: Doc) -> str:
    return " ".join(f"{token.text}/{token.head.i + 1}/{token.dep_}" for token in doc)


def test_words_get_the_tree_of_their_token(nlp: Language) -> None:
    """The pipeline sees one token. What hangs on it hangs on the word that stands for it, and the
    others on this one or beside it, as in the training data."""
    doc = parsed(nlp, 2 * GIVEN, n_sents=2)
    first = "Il/2/next boit/3/next de/5/next le/5/det vin/6/next blanc/6/ROOT -là/6/advmod"
    assert arcs(doc[:7].as_doc()) == first
    assert [sent.text for sent in doc.sents] == ["Il boit dele vin blanc-là"] * 2
    assert [(word.lemma_, word.pos_, word.tag_, str(word.morph)) for word in doc[2:4]] == [
        ("de", "ADP", "Prep", ""),
        ("le", "DET", "Det", "Definite=Def"),
    ]
    sure = confidences(doc)
    assert sure is not None and sure.shape == (2, 14)
    assert [entity.text for entity in doc.ents] == ["dele"] * 2
    (doc,) = pipe_words(nlp, ["Il boit du vin"])
    assert "du" in [token.text for token in doc]  # texts stay tokens


@pytest.mark.parametrize(
    ("before", "after"), [("le\t_", "la\t_"), ("du", "des"), ("3-4\tdu\t", "3-4\tdu vin\t")]
)
def test_unknown_words_are_tokens(nlp: Language, before: str, after: str) -> None:
    conllu = GIVEN.replace(before, after)
    assert conllu != GIVEN
    doc = parsed(nlp, conllu)
    assert arcs(doc[2:5].as_doc()).startswith("de/2/next l")


def test_pipelines_without_a_parser_draw_no_arcs() -> None:
    nlp = multiword(KNOWN)
    doc = parsed(nlp, GIVEN)
    assert [word.pos_ for word in doc][2:4] == ["ADP", "DET"] and not doc.has_annotation("DEP")
    nlp.add_pipe("sentencizer")
    doc = parsed(nlp, 2 * GIVEN, n_sents=2)
    assert len(list(doc.sents)) == 2 and not doc.has_annotation("DEP")


def test_words_that_are_the_most_frequent_with_no_tag(nlp: Language) -> None:
    """The tag that the pipeline gives does not decide whether words are known."""
    component = nlp.get_pipe("multiword_tokens")
    other = [["d", "d", "ADP", "", "", -1, ""], ["u", "u", "DET", "", "", 0, "det"]]
    component.tables["forms"] |= {"du A": other, "du B": other}
    del component.tables["forms"]["du Prep_Det"]
    component.from_bytes(component.to_bytes())
    for tag in ("", "A", "C"):
        assert [form for form, *_ in component.words_of("du", tag, ["de", "le"])] == ["de", "le"]


def test_known_heads_stay(nlp: Language) -> None:
    """Also those that are words of a multiword token. One with a known head is not put together."""
    at_le = GIVEN.replace("2\tboit\t_\t_\t_\t_\t_\t_", "2\tboit\t_\t_\t_\t_\t4\tknown")
    doc = parsed(nlp, at_le)
    assert (doc[1].head.text, doc[1].dep_) == ("le", "known")
    assert doc[3].dep_ == "det" and doc[3].head.text == "vin"
    inside = GIVEN.replace("3\tde\t_\t_\t_\t_\t_\t_", "3\tde\t_\t_\t_\t_\t1\tknown")
    doc = parsed(nlp, inside)
    assert (doc[2].head.text, doc[2].dep_) == ("Il", "known")
    assert doc[3].dep_ == "next"


def test_pipelines_that_merge_tokens_see_the_words(nlp: Language) -> None:
    nlp.add_pipe("merge_entities")
    assert [word.text for word in parsed(nlp, GIVEN)][2:4] == ["de", "le"]


def test_files(nlp: Language, tmp_path: Path) -> None:
    """What the file says of its multiword tokens stays."""
    source, target = tmp_path / "a.conllu", tmp_path / "b.conllu"
    source.write_text("# sent_id = 1\n" + GIVEN.replace("4\tle\t_", "4\tle\tLE"), encoding="utf-8")
    parse_file(nlp, Job(source, target), "conllu")
    rows = [
        row.split("\t") for row in target.read_text(encoding="utf-8").split("\n") if "\t" in row
    ]
    assert [row[:3] + row[6:8] for row in rows[2:6]] == [
        ["3-4", "du", "_", "_", "_"],
        ["3", "de", "de", "5", "next"],
        ["4", "le", "le", "5", "det"],
        ["5", "vin", "_", "6", "next"],
    ]
