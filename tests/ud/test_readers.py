"""Readers of training data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import spacy
from spacy.cli.train import train
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
from tests.toy_treebank import nmparse

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
    doc = read(
        write(tmp_path, tags=["P", "V", "P", "."], pos=["PRON", "VERB", "PRON", "PUNCT"]),
        gold_preproc=gold_preproc,
    )
    assert [token.tag_ for token in doc] == ["P", "V", "P", "."]
    assert not doc.has_annotation("POS")


def test_parts_of_speech_stand_for_tags(tmp_path: Path) -> None:
    doc = read(write(tmp_path, pos=["PRON", "VERB", "PRON", "PUNCT"]), gold_preproc=True)
    assert [token.pos_ for token in doc] == ["PRON", "VERB", "PRON", "PUNCT"]


def test_data_must_be_named() -> None:
    with pytest.raises(ValueError, match="give --paths"):
        registry.resolve({"reader": {"@readers": "spacy_nmparse.TaggedCorpus.v1", "path": None}})


MULTIWORD = """\
# newdoc
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tADP\tP\t_\t3\tcase\t_\t_
2\tle\tle\tDET\tD\t_\t3\tdet\t_\t_
3\tpain\tpain\tNOUN\tN\t_\t0\troot\t_\t_

1-2\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
1\tca\tcan\tAUX\tM\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tR\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tV\t_\t0\troot\t_\t_

1\tva\taller\tVERB\tV\t_\t0\troot\t_\t_
2-3\tau\t_\t_\t_\t_\t_\t_\t_\t_
2\tà\tà\tADP\tP\t_\t4\tcase\t_\t_
3\tle\tle\tDET\tD\t_\t4\tdet\t_\t_
4\tlac\tlac\tNOUN\tN\t_\t1\tobl\t_\t_

"""


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
    ("augmenter", "low"),
    [
        ({"@augmenters": "spacy.lower_case.v1", "level": 1.0}, True),
        (
            {
                "@augmenters": "spacy.orth_variants.v1",
                "level": 1.0,
                "lower": 1.0,
                "orth_variants": QUOTES,
            },
            True,
        ),
        ({"@augmenters": "spacy.combined_augmenter.v1", **NO_VARIANTS, **SPACES}, False),
    ],
)
def test_augmenters(
    conllu: Path, augmenter: dict[str, object], low: bool, settings: dict[str, object]
) -> None:
    """They make new documents, in which the words of multiword tokens stay."""
    conllu.write_text(MULTIWORD.replace("du", "Du").replace("\tde", "\tDe"), encoding="utf-8")
    fix_random_seed(0)
    found = [example.reference for example in examples(conllu, augmenter=augmenter, **settings)]
    merged = [[word.form for word in ud_words(token)] for doc in found for token in doc]
    assert [words for words in merged if words] == [["de" if low else "De", "le"], ["à", "le"]]
    spans = [ud_range(token) for doc in found for token in doc]
    inside = any("ca\n" in doc.text for doc in found)  # then it is none any more
    assert [span[0] for span in spans if span] == ([] if inside else ["can't"])
    assert not (low and inside)


def test_an_augmenter_that_changes_the_number_of_tokens(conllu: Path) -> None:
    def shorter(nlp: Language, example: Example) -> Iterator[Example]:
        yield Example(nlp.make_doc("du"), Doc(nlp.vocab, words=["du"]))

    read = Corpus(conllu, augmenter=shorter)
    with pytest.warns(UserWarning, match="makes documents with other tokens: the words of"):
        list(read(spacy.blank("en")))


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


def test_training_on_conllu(conllu: Path, tmp_path: Path) -> None:
    """spacy train, without a step before it."""
    config = tmp_path / "whole.cfg"
    assert nmparse(["init-config", str(config), "--parser", "nm_parser"]) == 0
    overrides = {"paths.train": [str(conllu)], "paths.dev": str(conllu), "nlp.lang": "en"}
    overrides.update({"training.max_epochs": 1, "corpora.train.gold_preproc": True})
    train(config, tmp_path / "model", overrides=overrides)
    assert forms([spacy.load(tmp_path / "model" / "model-best")("du lac")]) == [
        "du",
        "de",
        "le",
        "lac",
    ]
