"""Words of multiword tokens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.ud import conllu_to_docs, doc_to_conllu
from spacy_nmparse.ud.extensions import ud_words
from spacy_nmparse.ud.multiword import STEM, MultiwordTokens, _fitted
from tests.toy_treebank import sentence


def multiword(conllu: str, merge: Any = True, lang: str = "xx") -> Language:
    """A pipeline whose component has learned from sentences of CoNLL-U."""
    nlp = spacy.blank(lang)
    nlp.add_pipe("multiword_tokens")
    golds = list(conllu_to_docs(conllu, nlp.vocab, merge=merge, n_sents=1))
    examples = [Example(Doc(nlp.vocab, words=[t.text for t in gold]), gold) for gold in golds]
    nlp.initialize(lambda: examples)
    return nlp


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
    return multiword(ROWS.replace(" ", "\t"), merge=lambda form, words: "'" not in form)


def forms(doc: Doc) -> list[str]:
    """The words of its first token."""
    return [word.form for word in ud_words(doc[0])]


def test_other_forms_and_tags(nlp: Language) -> None:
    """Endings that are mostly split elsewhere are not learned; a form is split as with its tag."""
    rows = ["1-2 {0}{1} _ _ _ _ _ _ _ _", "1 {0} {0} NOUN Noun _ 0 root _ _"]
    conllu = sentence(*rows, "2 {1} ki ADP Rel _ 1 case _ _")
    words = ("okulda", "ki"), ("orada", "ki"), ("yolda", "ki"), ("sonr", "aki")
    learned = multiword("".join(conllu.format(*pair) for pair in words))
    for known in (("burada", "ki"), ("sonr", "aki")):
        assert forms(tagged(learned, "".join(known), "Noun_Rel")) == list(known)
    rows = ["1 on on NUM Num _ 0 root _ _", "2 un un ADP Rel _ 1 case _ _"]
    conllu = 2 * sentence("1-2 onun _ _ _ _ _ _ _ _", *rows)
    learned = multiword(conllu + sentence("1 onun o PRON Pron _ 0 root _ _"))
    assert forms(tagged(learned, "onun", "Num_Rel")) == ["on", "un"]
    assert forms(tagged(learned, "onun", "Pron")) == []
    assert forms(nlp("Du pain")) == ["De", "le"]  # no letters of the token
    doc = Doc(nlp.vocab, words=["du"])
    doc[0]._.ud_words = [["x", "", "", "", "", -1, ""]]
    assert forms(nlp(doc)) == ["x"]  # what is known stays


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


def test_letters_that_change_where_words_meet() -> None:
    """An ending begins where the token departs from its first word."""
    rows = ["1-2 {} _ _ _ _ _ _ _ _", "1 {} {} VERB V _ 0 root _ _", "2 {} {} PRON P _ 1 obj _ _"]
    words = ("facelo", "facer", "lo"), ("மும்பையிலிருந்து", "மும்பையில்", "இருந்து")
    conllu = sentence(*rows)
    learned = multiword("".join(conllu.format(t, a, a, b, b) for t, a, b in words))
    for token, *known in (("Querelo", "Querer", "lo"), ("டெல்லியிலிருந்து", "டெல்லியில்", "இருந்து")):
        (first, other) = ud_words(tagged(learned, token, "V_P", known[0].lower())[0])
        assert [first.form, other.form] == known and first.lemma == known[0].lower()


def test_words_before_the_one_that_stands_for_the_token() -> None:
    """Coptic *ϫⲉϩⲉⲛⲁⲕⲁⲑⲁⲣⲧⲟⲥ*; and words on both sides."""
    rows = [
        "1-3 {}{}{} _ _ _ _ _ _ _ _",
        "1 {} x SCONJ C _ 2 mark _ _",
        "2 {} x NOUN N _ 0 root _ _",
    ]
    conllu = sentence(*rows, "3 {} x PRON P _ 2 det _ _")
    learned = multiword(conllu.format(*2 * ["wa", "kitab", "hu"]))
    token = tagged(learned, "Wabaythu", "C_N_P", "bayt")[0]
    assert [word[:2] for word in ud_words(token)] == [("Wa", "x"), ("bayt", "bayt"), ("hu", "x")]
    assert ud_words(tagged(learned, "wahu", "C_N_P")[0]) == []
    conllu = sentence("1-2 {}{} _ _ _ _ _ _ _ _", "1 {} x SCONJ C _ 2 mark _ _", rows[2])
    learned = multiword(conllu.format(*2 * ["ϫⲉ", "ϩⲉⲛⲁ"]))
    words = ud_words(tagged(learned, "ϫⲉⲁⲕⲁⲑⲁⲣⲧⲟⲥ", "C_N", "x")[0])
    assert [word.form for word in words] == ["ϫⲉ", "ⲁⲕⲁⲑⲁⲣⲧⲟⲥ"]


def test_tokens_that_are_split(nlp: Language) -> None:
    words, spaces = ["can", "n't", "do", "n't", "."], [False, True, False, False, False]
    doc = nlp(Doc(nlp.vocab, words=words, spaces=spaces))
    ranges = [["cann't", 2, "_"], None, ["don't", 2, "_"], None, None]
    assert [token._.ud_range for token in doc] == ranges
    assert "3-4\tdon't" in doc_to_conllu(doc)


def test_saving(nlp: Language, tmp_path: Path) -> None:
    """And label data, which are all that was learned: as spacy init labels writes them, JSON."""
    nlp.to_disk(tmp_path)
    loaded: Any = spacy.load(tmp_path)
    assert forms(loaded("du")) == ["de", "le"]
    (doc,) = loaded.pipe(["du"], n_process=2)
    assert forms(doc) == ["de", "le"]
    pipe = loaded.get_pipe("multiword_tokens")
    assert pipe.from_bytes(pipe.to_bytes()).tables == pipe.tables
    with pytest.raises(ValueError, match=r"multiword\.json: it is damaged"):
        pipe.from_bytes(b"{}")
    empty: Any = multiword("")
    assert forms(empty("du")) == []
    labels = json.loads(json.dumps(pipe.label_data))
    other = empty.get_pipe("multiword_tokens")
    other.initialize(lambda: [], labels=labels)
    assert forms(empty("du")) == ["de", "le"]
    assert other.to_bytes() == pipe.to_bytes()
    with pytest.raises(ValueError, match="'multiword_tokens' got labels that are not its"):
        other.initialize(lambda: [], labels={"forms": []})


@pytest.mark.parametrize(
    ("reader", "setting", "warns"),
    [
        *(
            ("spacy.Corpus.v1", setting, True)
            for setting in (
                *({"gold_preproc": True}, {"max_length": 20}),
                {"augmenter": {"@augmenters": "spacy.lower_case.v1", "level": 1.0}},
            )
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
        n = len(text)
        cuts = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]
        for i, j in sorted(cuts, key=lambda cut: (cut[1] - cut[0], text[: cut[0]])):
            found = tables["affixes"].get(f"{text[:i]}{STEM}{text[j:]} {tag}")
            if known is None and found:
                known = [[one.replace(STEM, text[i:j]), *rest] for one, *rest in found]
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
