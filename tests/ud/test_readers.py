"""Readers of training data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Corpus as SpacyCorpus
from spacy.training import Example
from spacy.util import registry
from thinc.api import fix_random_seed

from spacy_nmparse.ud import conllu_to_docs, doc_to_conllu
from spacy_nmparse.ud.extensions import split_doc, ud_range, ud_words
from spacy_nmparse.ud.readers import Corpus
from spacy_nmparse.ud.treebank import convert, split_by
from tests.toy_treebank import sentence

WORDS = ["I", "saw", "it", "."]


def write(folder: Path, **annotation: list[str]) -> Path:
    vocab = spacy.blank("xx").vocab
    doc = Doc(vocab, words=WORDS, heads=[1, 1, 1, 1], deps=["a", "ROOT", "a", "b"], **annotation)
    path = folder / "data.spacy"
    DocBin(docs=[doc], attrs=["HEAD", "DEP", "TAG", "POS"]).to_disk(path)
    return path


def read(path: Path, **settings: object) -> Doc:
    block = {"@readers": "spacy_nmparse.TaggedCorpus.v1", "path": path, **settings}
    (example,) = registry.resolve({"reader": block})["reader"](spacy.blank("xx"))
    assert [token.dep_ for token in example.reference] == ["a", "ROOT", "a", "b"]
    assert not example.predicted.has_annotation("DEP")
    predicted: Doc = example.predicted
    return predicted


@pytest.mark.parametrize("gold_preproc", [True, False])
def test_words_have_the_tags_of_the_data(tmp_path: Path, gold_preproc: bool) -> None:
    """For which parts of speech stand where there are none."""
    tags, pos = ["P", "V", "P", "."], ["PRON", "VERB", "PRON", "PUNCT"]
    doc = read(write(tmp_path, tags=tags, pos=pos), gold_preproc=gold_preproc)
    assert [token.tag_ for token in doc] == tags and not doc.has_annotation("POS")
    doc = read(write(tmp_path, pos=pos), gold_preproc=gold_preproc)
    assert [token.pos_ for token in doc] == pos
    with pytest.raises(ValueError, match="give --paths"):
        read(None)  # type: ignore[arg-type]


MULTIWORD = "# newdoc\n" + "".join(
    sentence(*rows)
    for rows in (
        (
            *("1-2 du _ _ _ _ _ _ _ _", "1 de de ADP P _ 3 case _ _"),
            *("2 le le DET D _ 3 det _ _", "3 pain pain NOUN N _ 0 root _ _"),
        ),
        (
            *("1-2 can't _ _ _ _ _ _ _ _", "1 ca can AUX M _ 3 aux _ _"),
            *("2 n't not PART R _ 3 advmod _ _", "3 go go VERB V _ 0 root _ _"),
        ),
        (
            *("1 va aller VERB V _ 0 root _ _", "2-3 au _ _ _ _ _ _ _ _"),
            *("2 à à ADP P _ 4 case _ _", "3 le le DET D _ 4 det _ _"),
            "4 lac lac NOUN N _ 1 obl _ _",
        ),
    )
)


def augmenter(name: str, **settings: object) -> dict[str, object]:
    return {"@augmenters": f"spacy.{name}.v1", **settings}


@pytest.fixture
def conllu(tmp_path: Path) -> Path:
    path = tmp_path / "a.conllu"
    path.write_text(MULTIWORD, encoding="utf-8")
    return path


def examples(path: object, lang: str = "en", **settings: object) -> list[Example]:
    block = {"@readers": "spacy_nmparse.Corpus.v1", "path": path, **settings}
    return list(registry.resolve({"reader": block})["reader"](spacy.blank(lang)))


def forms(references: list[Doc]) -> list[str]:
    """What CoNLL-U of the documents has: words, and multiword tokens."""
    rows = [row.split("\t") for doc in references for row in doc_to_conllu(doc).splitlines()]
    return [row[1] for row in rows if len(row) == 10]


WORDS_OF = ["du", "de", "le", "pain", "can't", "ca", "n't", "go", "va", "au", "à", "le", "lac"]


@pytest.mark.parametrize("settings", [{"gold_preproc": True}, {"max_length": 7}, {}])
@pytest.mark.parametrize("reads", ["conllu", "spacy"])
def test_words_of_multiword_tokens_stay(
    conllu: Path, tmp_path: Path, reads: str, settings: dict[str, object]
) -> None:
    merges = split_by(spacy.blank("en"))
    path = convert({"train": conllu, "dev": conllu}, tmp_path, 10, merge_subtokens=merges)["train"]
    found = examples(conllu if reads == "conllu" else path, **settings)
    assert len(found) == (3 if settings else 1)
    assert forms([example.reference for example in found]) == WORDS_OF
    component = spacy.blank("en").add_pipe("multiword_tokens")
    component.initialize(lambda: found)  # type: ignore[attr-defined]
    assert {"du", "au"} <= set(component.tables["forms"])  # type: ignore[attr-defined]
    assert component.tables["ranges"] == {"ca n't": True}  # type: ignore[attr-defined]


NO_VARIANTS = {"lower_level": 0.0, "orth_level": 0.0, "orth_variants": None}
SPACES = {"whitespace_level": 1.0, "whitespace_per_token": 0.5, "whitespace_variants": ["\n"]}
QUOTES = {"single": [{"tags": ["N"], "variants": ["pain", "lac"]}]}


@pytest.mark.parametrize("settings", [{"gold_preproc": True}, {}])
@pytest.mark.parametrize(
    ("augment", "low"),
    [
        (augmenter("lower_case", level=1.0), True),
        (augmenter("orth_variants", level=1.0, lower=1.0, orth_variants=QUOTES), True),
        (augmenter("combined_augmenter", **NO_VARIANTS, **SPACES), False),
    ],
)
def test_augmenters(
    conllu: Path, augment: dict[str, object], low: bool, settings: dict[str, object]
) -> None:
    """They make new documents, in which the words of multiword tokens stay."""
    conllu.write_text(MULTIWORD.replace("du", "Du").replace("\tde", "\tDe"), encoding="utf-8")
    fix_random_seed(0)
    found = [example.reference for example in examples(conllu, augmenter=augment, **settings)]
    merged = [[word.form for word in ud_words(token)] for doc in found for token in doc]
    assert [words for words in merged if words] == [["de" if low else "De", "le"], ["à", "le"]]
    spans = [ud_range(token) for doc in found for token in doc]
    inside = any("ca\n" in doc.text for doc in found)  # then it is none any more
    assert [span[0] for span in spans if span] == ([] if inside else ["can't"])
    assert not (low and inside)

    def shorter(nlp: Language, example: Example) -> Iterator[Example]:
        yield Example(nlp.make_doc("du"), Doc(nlp.vocab, words=["du"]))

    with pytest.warns(UserWarning, match="makes documents with other tokens: the words of"):
        list(Corpus(conllu, augmenter=shorter)(spacy.blank("en")))


def test_sentences_keep_what_is_theirs(conllu: Path) -> None:
    """Also extensions of spans, and no other's."""
    Span.set_extension("for_test_readers", default=None, force=True)
    (doc,) = conllu_to_docs(conllu, spacy.blank("en").vocab, merge=True)
    doc[5:7]._.for_test_readers = "au lac"
    parts = list(split_doc(doc))
    assert [part.text.strip() for part in parts] == ["du pain", "can't go", "va au lac"]
    assert forms(parts) == WORDS_OF
    assert [len(part.user_data) for part in parts] == [3, 2, 3]
    assert parts[2][1:3]._.for_test_readers == "au lac"
    assert next(split_doc(parts[0])) is parts[0]


def test_several_files_and_folders(conllu: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder" / "below"
    folder.mkdir(parents=True)
    convert({"train": conllu, "dev": conllu}, folder)
    (folder / "b.conllu").write_text(MULTIWORD, encoding="utf-8")
    (folder / "notes.txt").write_text("no data", encoding="utf-8")
    hidden = folder / ".ipynb_checkpoints"
    hidden.mkdir()
    for path in (folder / "._b.conllu", hidden / "b-ud-dev.conllu"):
        path.write_text("no data", encoding="utf-8")
    assert len(examples(folder.parent, n_sents=1)) == 3 + 3 + 3
    assert len(examples([conllu, str(folder)], n_sents=2, limit=3)) == 3
    (hidden / "b-ud-dev.conllu").write_text(MULTIWORD, encoding="utf-8")
    assert len(examples(hidden, n_sents=1)) == 3  # it is named
    for name in ("x-ud-train", "x-ud-test"):
        (folder / f"{name}.conllu").write_text(MULTIWORD, encoding="utf-8")
    for path, message in (
        (folder, "has the data of test and train"),
        (tmp_path / "none", r"no \.spacy or \.conllu file"),
        (folder / "notes.txt", "neither"),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=message):
            examples(path)


@pytest.mark.parametrize(
    "settings", [{}, {"gold_preproc": True}, {"max_length": 5}, {"limit": 2, "max_length": 100}]
)
def test_the_same_as_spacy_s(conllu: Path, tmp_path: Path, settings: dict[str, object]) -> None:
    """But for extensions."""
    path = convert({"train": conllu, "dev": conllu}, tmp_path, 2, True)["train"]
    nlp = spacy.blank("en")
    for own, other in zip(
        SpacyCorpus(path, **settings)(nlp),  # type: ignore[arg-type]
        examples(path, **settings),
        strict=True,
    ):
        assert own.to_dict() == other.to_dict() and own.predicted.text == other.predicted.text
