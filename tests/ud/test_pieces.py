"""Words that the tokenizer splits: their pieces in training data, and the words of a parse."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span, Token
from spacy.training import Example

from spacy_nmparse.pipe.annotations import same_tokens
from spacy_nmparse.pipe.confidence import KEY, confidences
from spacy_nmparse.pipe.confidence import register_extensions as register_confidences
from spacy_nmparse.pipe.doc_io import note_tokens
from spacy_nmparse.pipe.roots import EXTENSION
from spacy_nmparse.pipe.subtokens import SPACED, SUBTOK, join_subtokens, joins_of
from spacy_nmparse.ud import doc_to_conllu
from spacy_nmparse.ud.extensions import register_extensions
from spacy_nmparse.ud.nonce import Exchange
from spacy_nmparse.ud.pieces import split_words
from spacy_nmparse.ud.readers import Corpus
from tests.pipe.common import make_nlp, parser_of, random_heads, train

NLP = spacy.blank("xx")
WORDS = ("lake", "công nghệ", "go-li", "a.b.", "one two three", "\n", ".")
register_extensions()
register_confidences()


def told(token: Token) -> tuple[object, ...]:
    return (
        *(token.text, token.whitespace_, token.dep_, token.head.i, token.pos_, token.tag_),
        *(str(token.morph), token.is_sent_start, token.ent_iob_, token.ent_type_),
        *(token.ent_kb_id_, token._.get(EXTENSION), token._.ud_comments),
    )


def random_docs(count: int) -> Iterator[Doc]:
    rng = random.Random(0)
    for _ in range(count):
        n = rng.randint(1, 6)
        words = [rng.choice(WORDS) for _ in range(n)]
        spaces = [rng.random() < 0.5 and word != "\n" for word in words]
        doc = Doc(
            NLP.vocab,
            words=words,
            spaces=spaces,
            heads=random_heads(n, rng),
            deps=[rng.choice("ab") for _ in words],
            pos=[rng.choice(["NOUN", "VERB"]) for _ in words],
            tags=[rng.choice("NV") for _ in words],
            morphs=[rng.choice(["", "Number=Sing"]) for _ in words],
            lemmas=[word.upper() for word in words],
            ents=[rng.choice(["O", "B-X"]) for _ in words],
        )
        doc.cats = {"news": 1.0}
        for token in doc:
            if token.head.i == token.i:
                token._.set(EXTENSION, "top")
        doc[0]._.ud_comments = ["# one"]
        yield doc


def test_pieces_and_words() -> None:
    """What is split and joined again is as before, but for the lemmas of these words."""
    n_split = 0
    for doc in random_docs(2000):
        tokens = NLP.make_doc(doc.text)
        split = split_words(doc, tokens)
        assert split.text == doc.text and split.cats == doc.cats
        known = {(token.idx, len(token)) for token in tokens}
        for token in split:
            assert (token.idx, len(token)) in known or token.text in WORDS
        if split is doc:
            continue
        n_split += 1
        before = [told(token) for token in doc]
        sure = numpy.arange(2 * len(split), dtype="<f4").reshape(2, -1)
        split.user_data[KEY] = sure.tobytes()
        note_tokens(split)
        last = [i for i, token in enumerate(split) if token.dep_ not in (SUBTOK, SPACED)]
        lemmas = {token.idx: token.lemma_ for token in split if token.lemma_}
        join_subtokens([split])
        assert [told(token) for token in split] == before
        found = confidences(split)
        assert found is not None and (found == sure[:, last]).all()
        assert all(lemmas.get(token.idx, token.lemma_) == token.lemma_ for token in doc)
    assert n_split > 1000


def test_what_stays() -> None:
    """Multiword tokens, tokens across the tokenizer's, and documents without a word to split."""
    doc = Doc(NLP.vocab, words=["go-li", "a"], heads=[1, 1], deps=["a", "ROOT"])
    doc[0]._.ud_words = [["go", "", "", "", "", -1, ""], ["li", "", "", "", "", 0, "x"]]
    assert split_words(doc, NLP.make_doc(doc.text)) is doc
    doc = Doc(NLP.vocab, words=["don", "key"], spaces=[False, False])
    assert split_words(doc, NLP.make_doc(doc.text)) is doc
    empty = Doc(NLP.vocab)
    assert split_words(empty, empty) is empty
    join_subtokens([empty])


def test_labels_that_do_not_fit() -> None:
    """Of the last token, of one before a space, or before a letter."""
    deps = ["ROOT", SUBTOK, SPACED, SUBTOK, SUBTOK]
    spaces = [True, True, False, False, True]
    doc = Doc(NLP.vocab, words=[*"abcde"], spaces=spaces, heads=[0, 0, 0, 0, 0], deps=deps)
    join_subtokens([doc])
    assert [token.text for token in doc] == ["a", "b", "c", "de"]
    assert [token.dep_ for token in doc] == ["ROOT", "dep", "dep", "dep"]


def test_whatever_the_parser_says() -> None:
    """Of any labels and heads a tree comes, of the same text."""
    rng, joined = random.Random(1), 0
    for _ in range(2000):
        n = rng.randint(1, 7)
        spaces = [rng.random() < 0.5 for _ in range(n)]
        deps = [rng.choice(["a", SUBTOK, SPACED]) for _ in range(n)]
        doc = Doc(NLP.vocab, [*"abcdefg"[:n]], spaces, heads=random_heads(n, rng), deps=deps)
        text = doc.text
        join_subtokens([doc])
        joined += n - len(doc)
        assert doc.text == text and not {SUBTOK, SPACED} & {token.dep_ for token in doc}
        assert all(len([*token.ancestors]) < len(doc) for token in doc)
        assert sum(len(sentence) for sentence in doc.sents) == len(doc)
    assert joined > 1000


def grouped(doc: Doc) -> list[tuple[str, ...]]:
    spans = [*doc.spans["x"], *doc.ents]
    return [(one.text, one.label_, one.kb_id_, one.id_) for one in spans]


def test_spans_follow_their_words(tmp_path: Path) -> None:
    """Those of the reader are of pieces; where these are joined, spans are of whole words."""
    doc = gold()
    doc.spans["x"] = [
        Span(doc, 0, 1, "A", kb_id="Q1", span_id="i"),
        *(Span(doc, 1, 3, "B"), Span(doc, 3, 4, "C")),
    ]
    doc.spans["x"].attrs["scores"] = [0.5, 0.6, 0.7]
    doc.spans["none"] = []
    doc.ents = [Span(doc, 2, 3, "E", kb_id="Q2")]
    before = grouped(doc)
    DocBin(docs=[doc]).to_disk(tmp_path / "train.spacy")
    (example,) = Corpus(tmp_path / "train.spacy", subtokens=True)(NLP)
    split = example.reference
    assert len(split) == 7 and grouped(split) == before
    assert [(s.start, s.end) for s in split.spans["x"]] == [(0, 2), (2, 6), (6, 7)]
    split.spans["x"].append(Span(split, 1, 3, "D"))
    join_subtokens([split])
    assert grouped(split) == [*before[:3], ("công nghệ tốt", "D", "", ""), before[3]]
    assert split.spans["x"].attrs == doc.spans["x"].attrs and not split.spans["none"]
    assert split.spans["x"].name == "x"


def gold() -> Doc:
    words = ["công nghệ", "tốt", "go-li", "."]
    spaces, heads = [True, True, False, False], [1, 1, 1, 1]
    deps, pos = ["a", "ROOT", "b", "c"], ["NOUN", "VERB", "NOUN", "PUNCT"]
    return Doc(NLP.vocab, words, spaces, heads=heads, deps=deps, pos=pos)


@pytest.mark.parametrize("count", [1, 0])
def test_few_words_are_not_split(tmp_path: Path, count: int) -> None:
    """Of a thousand words one must be such."""
    words = [["a.b."], ["lake"] * 998 + [*"xy"[count:]]]
    docs = [
        Doc(NLP.vocab, one, [True] * len(one), heads=[0] * len(one), deps=["x"] * len(one))
        for one in words
    ]
    DocBin(docs=docs).to_disk(tmp_path / "train.spacy")
    examples = [*Corpus(tmp_path / "train.spacy", subtokens=True)(NLP)]
    assert len(examples[0].reference) == 1 + count


def test_a_parser_joins_what_it_has_learned(tmp_path: Path) -> None:
    """In training the reader splits words, in evaluation it does not."""
    path = tmp_path / "train.spacy"
    DocBin(["ORTH", "SPACY", "HEAD", "DEP", "POS"], docs=[gold()]).to_disk(path)
    nlp = make_nlp(projectivize=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (example,) = Corpus(path, subtokens=True)(nlp)
    assert [token.text for token in example.reference[:2]] == ["công", "nghệ"]
    assert len(example.predicted) == len(example.reference) == 7
    train(nlp, [example], steps=60)
    assert {SUBTOK, SPACED} < {*parser_of(nlp).labels}
    parser_of(nlp).confidence = True
    doc = nlp(gold().text)
    assert [told(token)[:4] for token in doc] == [told(token)[:4] for token in gold()]
    assert doc[0]._.head_confidence > 0.5
    assert "\n1\tcông nghệ\t_\t_\t_\t_\t2\ta\t" in doc_to_conllu(doc)
    given = nlp(same_tokens(example.reference))
    assert [token.dep_ for token in given] == ["dep", "a", "ROOT", "dep", "dep", "b", "c"]
    ((best, *_),) = parser_of(nlp).n_best([nlp.make_doc(gold().text)], 2)
    assert len(best.heads) == 7 and best.labels[0] == SPACED
    (dev,) = Corpus(path)(nlp)
    assert dev.reference.text == doc.text and len(dev.reference) == len(doc)
    assert nlp.evaluate([dev])["dep_las"] == 1.0


def test_pieces_are_not_exchanged() -> None:
    split = split_words(gold(), NLP.make_doc(gold().text))
    exchange = Exchange(["NOUN"], level=1.0, phrases=1.0)
    exchange.collect([split], required=(False, False))
    assert not exchange.words
    assert {phrase.head for phrases in exchange.phrases.values() for phrase in phrases} == {1, 5}
    example = Example(NLP.make_doc(split.text), exchange(split))
    assert joins_of(example.reference).sum() == 3
