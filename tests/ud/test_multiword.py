"""Words of multiword tokens."""

from __future__ import annotations

import json
from pathlib import Path

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.ud import conllu_to_docs, doc_to_conllu
from spacy_nmparse.ud.extensions import ud_words
from spacy_nmparse.ud.multiword import MultiwordTokens, _fitted
from tests.toy_treebank import sentence

#: A token of two words, its ending with a tag of its own; words that spaCy splits; one that is one.
ROWS = """\
1-2 evdeki _ _ _ _ _ _ _ _
1 evde ev NOUN Noun Case=Loc 3 nmod _ _
2 ki ki ADP Rel _ 1 case _ _
3 adam adam NOUN Noun Case=Nom 0 root _ _

1-2 don't _ _ _ _ _ _ _ _
1 do do AUX VB _ 3 aux _ _
2 n't not PART RB _ 3 advmod _ _
3 go go VERB VB _ 0 root _ SpaceAfter=No
4 . . PUNCT . _ 3 punct _ _

1-2 du _ _ _ _ _ _ _ _
1 de de ADP P _ 3 case _ _
2 le le DET D Definite=Def 3 det _ _
3 pain pain NOUN N _ 0 root _ _

"""


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = spacy.blank("xx")
    nlp.add_pipe("multiword_tokens")
    conllu = ROWS.replace(" ", "\t")
    golds = conllu_to_docs(conllu, nlp.vocab, merge=lambda form, words: "'" not in form)
    examples = [Example(Doc(nlp.vocab, words=[t.text for t in gold]), gold) for gold in golds]
    nlp.initialize(lambda: examples)
    return nlp


def tagged(nlp: Language, word: str, tag: str, lemma: str = "") -> Doc:
    doc = Doc(
        nlp.vocab, words=[word], tags=[tag], pos=["NOUN"], lemmas=[lemma], morphs=["Case=Loc"]
    )
    return nlp(doc)


def test_known_forms_and_endings(nlp: Language) -> None:
    known = ud_words(tagged(nlp, "evdeki", "Noun_Rel", "ev")[0])
    assert [word[:6] for word in known] == [
        ("evde", "ev", "NOUN", "Noun", "Case=Loc", -1),
        ("ki", "ki", "ADP", "Rel", "", 0),
    ]
    new = ud_words(tagged(nlp, "Ankaradaki", "Noun_Rel", "Ankara")[0])
    assert [word[:6] for word in new] == [
        ("Ankarada", "Ankara", "NOUN", "Noun", "Case=Loc", -1),
        ("ki", "ki", "ADP", "Rel", "", 0),
    ]
    assert ud_words(tagged(nlp, "Ankaradaki", "Noun")[0]) == []
    assert ud_words(tagged(nlp, "ki", "Noun_Rel")[0]) == []


def test_an_ending_that_is_mostly_split_elsewhere() -> None:
    """Is not learned, although it is the longest; the form is."""
    rows = ["1-2 {0}{1} _ _ _ _ _ _ _ _", "1 {0} {0} NOUN Noun _ 0 root _ _"]
    conllu = sentence(*rows, "2 {1} ki ADP Rel _ 1 case _ _")
    words = ("okulda", "ki"), ("orada", "ki"), ("yolda", "ki"), ("sonr", "aki")
    nlp = spacy.blank("xx")
    nlp.add_pipe("multiword_tokens")
    text = "".join(conllu.format(*pair) for pair in words)
    golds = list(conllu_to_docs(text, nlp.vocab, merge=True, n_sents=1))
    nlp.initialize(lambda: [Example(nlp.make_doc(gold.text), gold) for gold in golds])
    for known in (("burada", "ki"), ("sonr", "aki")):
        found = ud_words(tagged(nlp, "".join(known), "Noun_Rel")[0])
        assert tuple(word.form for word in found) == known


def test_a_form_with_another_tag() -> None:
    """Is split as with that tag: here not at all."""
    words = ("1 on on NUM Num _ 0 root _ _", "2 un un ADP Rel _ 1 case _ _")
    conllu = 2 * sentence("1-2 onun _ _ _ _ _ _ _ _", *words)
    conllu += sentence("1 onun o PRON Pron _ 0 root _ _")
    nlp = spacy.blank("xx")
    nlp.add_pipe("multiword_tokens")
    golds = conllu_to_docs(conllu, nlp.vocab, merge=lambda form, words: True)
    nlp.initialize(lambda: [Example(gold, gold) for gold in golds])
    assert [word[0] for word in ud_words(tagged(nlp, "onun", "Num_Rel")[0])] == ["on", "un"]
    assert ud_words(tagged(nlp, "onun", "Pron")[0]) == []


def test_words_that_are_not_letters_of_the_token(nlp: Language) -> None:
    words = ud_words(nlp("Du pain")[0])
    assert [word.form for word in words] == ["De", "le"]


def test_tokens_that_are_split(nlp: Language) -> None:
    doc = nlp(
        Doc(
            nlp.vocab,
            words=["can", "n't", "do", "n't", "."],
            spaces=[False, True, False, False, False],
        )
    )
    assert [token._.ud_range for token in doc] == [
        ["cann't", 2, "_"],
        None,
        ["don't", 2, "_"],
        None,
        None,
    ]
    assert "3-4\tdon't" in doc_to_conllu(doc)


def test_what_is_known_stays(nlp: Language) -> None:
    doc = Doc(nlp.vocab, words=["du"])
    doc[0]._.ud_words = [["x", "", "", "", "", -1, ""]]
    assert ud_words(nlp(doc)[0])[0].form == "x"


def test_saving(nlp: Language, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert [word.form for word in ud_words(loaded("du")[0])] == ["de", "le"]
    (doc,) = loaded.pipe(["du"], n_process=2)
    assert [word.form for word in ud_words(doc[0])] == ["de", "le"]
    pipe = loaded.get_pipe("multiword_tokens")
    assert pipe.from_bytes(pipe.to_bytes()).tables == pipe.tables  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"multiword\.json: it is damaged"):
        pipe.from_bytes(b"{}")  # type: ignore[attr-defined]
    empty = spacy.blank("xx")
    empty.add_pipe("multiword_tokens")
    empty.initialize()
    assert ud_words(empty("du")[0]) == []


@pytest.mark.parametrize(
    ("reader", "setting", "warns"),
    [
        ("spacy.Corpus.v1", {"gold_preproc": True}, True),
        ("spacy.Corpus.v1", {"max_length": 20}, True),
        (
            "spacy.Corpus.v1",
            {"augmenter": {"@augmenters": "spacy.lower_case.v1", "level": 1.0}},
            True,
        ),
        ("spacy.Corpus.v1", {"gold_preproc": False, "max_length": 0}, False),
        ("spacy_nmparse.Corpus.v1", {"gold_preproc": True}, False),
    ],
)
def test_a_reader_that_loses_the_words(
    reader: str, setting: dict[str, object], warns: bool, recwarn: pytest.WarningsRecorder
) -> None:
    config = {"corpora": {"train": {"@readers": reader, "path": "x", **setting}}}
    nlp = spacy.blank("xx", config=config)
    nlp.add_pipe("multiword_tokens")
    nlp.initialize()
    messages = [str(one.message) for one in recwarn]
    assert any("take the reader spacy_nmparse.Corpus.v1" in one for one in messages) is warns


def test_label_data_are_all_that_was_learned(nlp: Language) -> None:
    """As spacy init labels writes them: JSON."""
    labels = json.loads(json.dumps(nlp.get_pipe("multiword_tokens").label_data))
    other = spacy.blank("xx")
    pipe = other.add_pipe("multiword_tokens")
    pipe.initialize(lambda: [], labels=labels)  # type: ignore[attr-defined]
    assert [word.form for word in ud_words(other("du")[0])] == ["de", "le"]
    assert pipe.to_bytes() == nlp.get_pipe("multiword_tokens").to_bytes()  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="'multiword_tokens' got labels that are not its"):
        pipe.initialize(lambda: [], labels={"forms": []})  # type: ignore[attr-defined]


def test_as_token_by_token(nlp: Language) -> None:
    pipe = nlp.get_pipe("multiword_tokens")
    rng = numpy.random.default_rng(0)
    forms = ["evdeki", "Ankaradaki", "du", "can", "do", "n't", "N'T", "ki", " ", "adam"]
    for n in (0, 1, 2, 40, 40):
        words, tags = (rng.choice(x, size=n).tolist() for x in (forms, ["Noun", "Noun_Rel", "P"]))
        spaces = (rng.random(n) < 0.3).tolist()
        doc = Doc(nlp.vocab, words=words, spaces=spaces, tags=tags, lemmas=["l"] * n)
        if n:
            doc[n // 2]._.ud_misc = "X"
            doc[n // 3]._.ud_words = [["x", "", "", "", "", -1, ""]]
        expected = _token_by_token(pipe, doc.copy()).user_data  # type: ignore[arg-type]
        assert pipe(doc).user_data == expected
        assert len(expected) >= n // 4


def _token_by_token(pipe: MultiwordTokens, doc: Doc) -> Doc:
    end, tables = 0, pipe.tables
    for token in doc:
        if token.i < end or token.is_space or token._.ud_words or token._.ud_range:
            continue
        text, tag = token.lower_, token.tag_
        known = tables["forms"].get(f"{text} {tag}", tables["forms"].get(text))
        for start in range(1, len(text)):
            if known is None:
                known = tables["endings"].get(f"{text[start:]} {tag}")
        if known:
            token._.ud_words = [list(word) for word in _fitted(known, token)]
            token._.ud_form = token.text
            continue
        end = token.i + 1
        while end < len(doc) and not doc[end - 1].whitespace_:
            one, other = doc[end - 1].lower_, doc[end].lower_
            joined = tables["clitics"].get(other, False)
            if not tables["ranges"].get(f"{one} {other}", joined):
                break
            end += 1
        if end > token.i + 1:
            form = "".join(one.text for one in doc[token.i : end])
            token._.ud_range = [form, end - token.i, "_"]
    return doc
