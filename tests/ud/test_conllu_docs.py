"""Documents from CoNLL-U and back."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_nmparse.pipe.confidence import KEY
from spacy_nmparse.ud import conllu_to_docs, doc_to_conllu
from spacy_nmparse.ud.conllu import depths, read_rows
from spacy_nmparse.ud.docs_conllu import ROWS
from spacy_nmparse.ud.extensions import ud_words
from spacy_nmparse.ud.rows import texts_of
from spacy_nmparse.ud.treebank import refuse_cycles
from tests.validator import format_errors

CONLLU = """\
# newdoc id = one
# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC
# sent_id = a
# text = He didn't see 10 000 çats.
1\tHe\the\tPRON\tPRP\tCase=Nom|Number=Sing|NumForm=Word\t4\tnsubj\t_\tGloss=x
2-3\tdidn't\t_\t_\t_\t_\t_\t_\t_\tLang=en
2\tdid\tdo\tAUX\tVBD\tTense=Past\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tsee\tsee\tVERB\tVB\t_\t0\troot\t_\t_
5\t10 000\t10000\tNUM\tCD\t_\t6\tnummod\t_\t_
6\tçats\tçat\tNOUN\tNNS\tNumber=Plur\t4\tobj\t_\tSpaceAfter=No
7\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_

# sent_id = b
# text = It's.
1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tIt\tit\tPRON\tPRP\t_\t0\troot\t_\t_
2\t's\tbe\tAUX\tVBZ\t_\t1\tcop\t_\t_
3\t.\t.\tPUNCT\t.\t_\t1\tpunct\t_\tSpaceAfter=No

# newdoc id = two
# sent_id = c
# text = _
1\t_\t_\tSYM\t_\t_\t0\troot\t_\t_

"""
BLANK = "1\tA\t_\t_\t_\t_\t_\t_\t_\t_\n2\tcat\t_\t_\t_\t_\t_\t_\t_\t_\n\n"


def written(docs: list[Doc]) -> str:
    return "".join(map(doc_to_conllu, docs))


@pytest.mark.parametrize("n_sents", [0, 1, 2])
def test_there_and_back(n_sents: int) -> None:
    docs = list(conllu_to_docs(CONLLU, Vocab(), n_sents=n_sents))
    assert len(docs) == (3 if n_sents == 1 else 2)
    assert written(docs) == CONLLU
    assert format_errors(CONLLU) == []


def test_words_without_tags_are_not_annotated() -> None:
    """A word without FEATS has none if it has UPOS; else they are unknown, if others have UPOS."""
    for tags, expected in (
        (["NOUN/Case=Nom", "NOUN/_", "_/_"], [True, True, False]),
        (["_/Case=Nom", "_/_"], [True, True]),
        (["_/_"], [False]),
    ):
        rows = [
            f"{i}\ta\t_\t{one.replace('/', chr(9) + '_' + chr(9))}" for i, one in enumerate(tags, 1)
        ]
        text = "".join(row + "\t_" * 4 + "\n" for row in rows) + "\n"
        (doc,) = conllu_to_docs(text, Vocab())
        assert [token.has_morph() for token in doc] == expected
        assert str(doc[0].morph) == tags[0].partition("/")[2].strip("_")


def test_merged_tokens_keep_their_words() -> None:
    docs = list(conllu_to_docs(CONLLU, Vocab(), merge=True))
    texts = [token.text for token in docs[0]]
    assert texts == ["He", "didn't", "see", "10 000", "çats", ".", "It's", "."]
    merged = docs[0][1]
    assert (merged.tag_, merged.lemma_, merged.pos_) == ("VBD_RB", "do", "AUX")
    assert (merged.head.text, merged.dep_) == ("see", "aux")
    assert [word.form for word in ud_words(merged)] == ["did", "n't"]
    assert written(docs) == CONLLU  # n't hangs beside the word that stands for its token
    its = [(word.form, word.head, word.deprel) for word in ud_words(docs[0][6])]
    assert its == [("It", -1, "root"), ("'s", 0, "cop")]
    doc = next(conllu_to_docs(CONLLU, Vocab(), merge=lambda form, words: words[-1] == "n't"))
    texts = [token.text for token in doc]
    assert texts[:2] == ["He", "didn't"] and texts[6:8] == ["It", "'s"]


def test_extensions_stay_with_the_document() -> None:
    vocab = Vocab()
    docs = list(conllu_to_docs(CONLLU, vocab, merge=True))
    text = written(docs)
    assert written([Doc(vocab).from_bytes(doc.to_bytes()) for doc in docs]) == text
    stored = DocBin(docs=docs, store_user_data=True).to_bytes()
    assert written(list(DocBin().from_bytes(stored).get_docs(Vocab()))) == text


def test_what_columns_have_for_strings_is_kept(tmp_path: Path) -> None:
    """From one document to the next, but not from one vocabulary to another."""
    docs: list[Doc] = []
    for number, form in enumerate(("çats", "dögs")):
        path = tmp_path / f"{number}.conllu"
        path.write_text(CONLLU.replace("çats", form), encoding="utf-8")
        docs += conllu_to_docs(path, Vocab())
    for doc in docs:
        doc.user_data.pop(ROWS, None)  # the lines that it was read from
    before = [doc_to_conllu(doc) for doc in docs]  # by turns with another vocabulary
    made = texts_of(docs[0].vocab)
    assert [doc_to_conllu(doc) for doc in docs[:2]] == before[:2]
    assert texts_of(docs[0].vocab) is made
    assert {"NNS", "obj", "_"} <= set(made.names.made.values())
    assert "çats" in made.forms.made.values() and "dögs" not in made.forms.made.values()
    assert "dögs" in before[2] and texts_of(docs[2].vocab) is not made


def test_what_is_not_annotated() -> None:
    (doc,) = conllu_to_docs(BLANK * 2, Vocab())
    assert [token.is_sent_start for token in doc] == [True, False] * 2
    assert not any(doc.has_annotation(name) for name in ("POS", "TAG", "MORPH", "LEMMA", "DEP"))
    sentences = [f"# sent_id = {n}\n# text = A cat\n{BLANK}" for n in (1, 2)]
    assert doc_to_conllu(doc) == "".join(sentences)
    assert doc_to_conllu(doc, first=2).startswith("# sent_id = 2\n")
    (doc,) = conllu_to_docs(BLANK, Vocab())
    doc.user_data[KEY] = numpy.asarray([[1, 0.5], [0.25, 0.125]], dtype="<f4").tobytes()
    text = doc_to_conllu(doc, confidence=True)
    assert "HeadConfidence=1.000|DepConfidence=0.250\n" in text
    assert "HeadConfidence=0.500|DepConfidence=0.125\n" in text
    assert "Confidence" not in doc_to_conllu(doc)


def test_boundaries_that_moved() -> None:
    """A comment inside a sentence, and a multiword token across a boundary, are left out."""
    (doc, _) = conllu_to_docs(CONLLU, Vocab())
    rest = len(doc) - 3
    heads, deps = [0, 0, 2, *[2] * rest], ["ROOT", "aux", "ROOT", *["dep"] * rest]
    words, spaces = zip(*((token.text, bool(token.whitespace_)) for token in doc), strict=True)
    whole = Doc(doc.vocab, words=words, spaces=spaces, heads=heads, deps=deps)
    whole.user_data = doc.user_data
    text = doc_to_conllu(whole)
    assert text.count("# sent_id") == 2 and "# sent_id = b" not in text
    assert "didn't" not in text.replace("# text = He didn't", "")
    assert format_errors(text, level=1) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("4\tsee", "x\tsee", r"line 9: 'x' is no number of a word"),
        ("2-3\tdidn't", "2-9\tdidn't", r"line 6: the range 2-9 must"),
        ("1-2\tIt's", "1-1\tIt's", r"line 16: the range 1-1 must"),
        ("\tPRON\tPRP\tCase", "\tPRONOUN\tPRP\tCase", r"line 5: 'PRONOUN' is no part of speech"),
        ("\t4\tnsubj", "\t\tnsubj", r"line 5: column 7 \(HEAD\) is empty"),
        ("1\t_\t_\tSYM\t_\t_\t0\troot\t_\t_", "0.1\t_\t_\t_\t_\t_\t_\t_\t_\t_", "has no word"),
        ("1\tHe", "1.x\tHe", "'1.x' is no number of an empty node"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in CONLLU
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=message) as error:
        list(conllu_to_docs(path, Vocab()))
    assert str(path) in str(error.value)


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_bytes(CONLLU.encode("latin-1"))
    with pytest.raises(ValueError, match=r"a\.conllu, line 4: byte 0xe7 is not"):
        list(read_rows(path))
    path.write_bytes(b"\xef\xbb\xbf" + CONLLU.replace("\n", "\r\n").encode())
    assert written(list(conllu_to_docs(path, Vocab()))) == CONLLU


@pytest.mark.parametrize("step", [-1, 1])
@pytest.mark.parametrize("merged", [True, False])
def test_a_deep_chain(step: int, merged: bool) -> None:
    """Written in linear time, tokens of two words, too."""
    n = 3000
    heads = [(i + step) % (n + 1) for i in range(1, n + 1)]
    rows = [
        [str(i), "w", *"____", str(head), "a" if head else "root", "_", "_"]
        for i, head in enumerate(heads, start=1)
    ]
    conllu = "\n".join(map("\t".join, rows)) + "\n\n"
    (doc,) = conllu_to_docs(conllu, Vocab())
    refuse_cycles(next(read_rows(conllu)), "a")
    if merged:
        with doc.retokenize() as retokenizer:
            for i in range(0, n, 2):
                retokenizer.merge(doc[i : i + 2])
        for i in range(step > 0, n, 2):  # the upper word of each token
            heads[i] = 0 if not heads[i] else heads[i] + step
    doc.user_data[ROWS] = [[[], rows]]
    written = doc_to_conllu(doc).splitlines()[2:-1]
    assert [int(row.split("\t")[6]) for row in written] == heads
    assert depths([0, 0, 1, 2, 4, 6, 5, 6]) == [0, 1, 2, 3, 0, 8, 8, 8] and depths([]) == []


def test_files_are_read_in_parts(tmp_path: Path) -> None:
    """Lines keep their numbers, and sentences before a fault are read, wherever a part ends."""
    row = "\t".join(("1", "猫" * 50, *"____", "0", "root", *"__")).encode()
    n = 2000  # sentences: several parts of a file
    path = tmp_path / "x.conllu"
    path.write_bytes((row + b"\n\n") * n + row.replace(b"root", b"\xff") + b"\n")
    sentences = read_rows(path)
    assert [next(sentences).lines[0] for _ in range(n)] == [*range(1, 2 * n, 2)]
    with pytest.raises(ValueError, match=rf"line {2 * n + 1}: byte 0xff is not UTF-8"):
        next(sentences)


def test_halves_of_surrogate_pairs_are_read_as_rows() -> None:
    row = "\t".join(("1", "a\ud800", *"____", "0", "root", *"__"))
    (sentence,) = read_rows(row)
    assert (sentence.rows, sentence.text) == ([row.split("\t")], "a\ud800")
    with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
        next(conllu_to_docs(row, Vocab()))
