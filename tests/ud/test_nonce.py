"""Training data whose words and phrases are exchanged for others of the same kind."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc, Span, Token
from spacy.training import Example
from spacy.util import registry

from spacy_nmparse.ud import nonce
from spacy_nmparse.ud.extensions import register_extensions
from spacy_nmparse.ud.nonce import Exchange, mix
from tests.pipe.common import bare, random_heads

VOCAB = spacy.blank("xx").vocab
CLASSES = ("ADJ", "ADV", "NOUN", "NUM", "PROPN", "VERB")
OPEN = {"NOUN", "VERB", "PROPN", "NUM"}
SENTENCES: list[tuple[str, str, str, list[int], str]] = [
    # words, parts of speech, numbers, heads (a root is its own), labels
    ("Dogs chase the cat .", "NOUN VERB DET NOUN PUNCT", "P - - S -", [1, 1, 3, 1, 1], "a r b c d"),
    ("The bird saw Rome !", "DET NOUN VERB PROPN PUNCT", "- S - S -", [1, 2, 2, 2, 2], "b a r c d"),
    ("the fish ate two cats", "DET NOUN VERB NUM NOUN", "- S - - P", [1, 2, 2, 4, 2], "b a r e c"),
    ("Birds heard Oslo .", "NOUN VERB PROPN PUNCT", "P - S -", [1, 1, 1, 1], "a r c d"),
]


def make_docs() -> list[Doc]:
    """A document of each sentence, and one of all four."""
    docs = []
    for words, pos, numbers, heads, deps in SENTENCES:
        doc = Doc(
            VOCAB,
            words=words.split(),
            spaces=[word not in ".!" for word in words.split()],
            pos=pos.split(),
            tags=[f"X{p}" for p in pos.split()],
            morphs=["" if n == "-" else f"Number={n}" for n in numbers.split()],
            lemmas=[word.lower().rstrip("s") for word in words.split()],
            heads=heads,
            deps=deps.split(),
        )
        doc.ents = [
            Span(doc, i, i + 1, label="CITY") for i, t in enumerate(doc) if t.tag_ == "XPROPN"
        ]
        doc.spans["all"] = [Span(doc, 0, 2, label="S")]
        doc.cats = {"news": 1.0}
        docs.append(doc)
    joined = Doc.from_docs(docs)
    assert joined is not None
    return [*docs, joined]


def copies(docs: list[Doc], n: int, **settings: Any) -> list[Doc]:
    """n copies of each document, in order, behind the documents themselves."""
    random.seed(0)
    exchange = Exchange(**{"pos": CLASSES, "level": 0.0, "phrases": 0.0, **settings})
    exchange.collect(docs)
    return [*docs, *(exchange(doc) for _ in range(n) for doc in docs)]


def regrouped(docs: list[Doc], n: int) -> list[Doc]:
    random.seed(0)
    return [*docs, *(doc for _ in range(n) for doc in mix(docs))]


def batcher(**settings: Any) -> Any:
    block = {"@batchers": "spacy_nmparse.exchanged_words.v1", "size": 1000, **settings}
    return registry.resolve({"batcher": block})["batcher"]


def examples_of(docs: list[Doc]) -> list[Example]:
    return [Example(bare(doc), doc) for doc in docs]


def epoch(examples: Iterable[Example], **settings: Any) -> list[Example]:
    return [example for batch in batcher(**settings)(examples) for example in batch]


def kept(doc: Doc) -> Any:
    """All that a copy has in common with its document."""
    tokens = [
        (
            *(t.pos_, t.tag_, str(t.morph), t.dep_, t.head.i),
            *(t.is_sent_start, t.whitespace_, t.ent_type_),
        )
        for t in doc
    ]
    spans = [(s.start, s.end, s.label_) for s in doc.spans["all"]]
    return tokens, spans, doc.cats, doc.has_unknown_spaces


def test_copies_keep_what_is_annotated() -> None:
    """Also partial trees and unknown spaces; without a level they are the same documents."""
    docs = make_docs()
    assert copies(docs, 1) == [*docs, *docs]
    for i, copy in enumerate(copies(docs, 20, level=1.0)):
        assert kept(copy) == kept(docs[i % 5])
    doc = Doc(VOCAB, words=["dogs", "see", "cats"], pos=["NOUN", "VERB", "NOUN"])
    doc[0].dep_, doc[0].head = "nsubj", doc[1]
    found = copies([doc], 3, level=1.0)
    assert {copy.text for copy in found} - {"dogs see cats "}
    assert {e.predicted.has_unknown_spaces for e in epoch(examples_of([doc]), share=1.0)} == {True}
    for copy in found:
        assert [t.dep_ for t in copy] == ["nsubj", "", ""]
        assert [t.has_dep() for t in copy] == [True, False, False]
        assert [t.head.i for t in copy] == [1, 1, 2]
        assert copy.has_unknown_spaces


def test_words_give_way_to_others_of_their_kind() -> None:
    docs = make_docs()
    places: dict[tuple[int, int], set[tuple[str, str]]] = defaultdict(set)
    for i, copy in enumerate(copies(docs, 50, level=1.0)):
        for token in copy:
            places[i % 5, token.i].add((token.text, token.lemma_))
    for (i, j), words in places.items():
        token = docs[i][j]
        assert token.pos_ in OPEN or words == {(token.text, token.lemma_)}
    # singular nouns in the middle of a sentence; "Dogs" and "Birds" may owe their capital to theirs
    assert places[0, 3] == {("cat", "cat"), ("bird", "bird"), ("fish", "fish")}
    assert places[2, 4] == {("cats", "cat")}
    assert places[0, 0] == {("Dogs", "dog"), ("Cats", "cat")}
    assert {text for text, _ in places[1, 2]} == {"chase", "saw", "ate", "heard"}
    assert {text for text, _ in places[1, 3]} == {"Rome", "Oslo"}
    verbs = Counter(copy[2].text for copy in copies(docs, 400, level=0.5)[6::5])
    # of four verbs one is the word itself: 0.5 * 3 / 4
    assert 1 - verbs["saw"] / verbs.total() == pytest.approx(0.375, abs=0.08)


def test_common_words_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """`cat` stands in the data twice, `bird`, `fish` and `cats` too."""
    docs = make_docs()
    for most, expected in ((2, {"cat", "bird", "fish"}), (1, {"cat"})):
        monkeypatch.setattr(nonce, "RARE", most)
        found = copies(docs, 60, level=1.0)[len(docs) :]
        assert {copy[3].text for copy in found[::5]} == expected


def test_extensions_of_words_stay() -> None:
    """Those of exchanged words go with the words; multiword tokens and their words stay."""
    register_extensions()
    docs = make_docs()[:4]
    for doc in docs:
        for token in doc:
            token._.ud_misc = token.text
    docs[0][3]._.ud_words = [("c", *[""] * 6), ("at", *[""] * 6)]
    docs[1][2]._.ud_range = ("sawRome", 2, "_")
    found = copies(docs, 30, level=1.0)
    misc = Counter[bool]()
    for i, copy in enumerate(found[4:]):
        doc = docs[i % 4]
        for token, old in zip(copy, doc, strict=True):
            assert token._.ud_misc in (token.text, None), "not of the word before"
            assert bool(token._.ud_words) == bool(old._.ud_words)
            assert token._.ud_range == old._.ud_range
            misc[token._.ud_misc is None] += 1
        assert i % 4 or (copy[3].text == "cat" and copy[3]._.ud_words)
        assert i % 4 != 1 or (copy[2:4].text == "saw Rome" and copy[2]._.ud_range[1] == 2)
        assert i % 4 == 1 or "Rome" not in copy.text, "not drawn for others"
    assert misc[False] > 250 and misc[True] > 100


def sentences_of(docs: Iterable[Doc]) -> Counter[Any]:
    """Sentences with all that regrouping keeps; not the space behind."""
    return Counter(
        (
            sentence.text,
            *((t.lemma_, t.dep_, t.head.i - t.i, t.ent_type_, t._.ud_words) for t in sentence),
            *((t.pos_, t.tag_, str(t.morph)) for t in sentence),
        )
        for doc in docs
        for sentence in doc.sents
    )


def test_sentences_in_other_documents() -> None:
    """Each copy has each sentence once; documents of one sentence stay."""
    register_extensions()
    *single, joined = make_docs()
    joined[7]._.ud_words = ("s", "aw")
    joined = Doc.from_docs([joined, joined])
    assert joined is not None
    found = regrouped([*single, joined, joined], 20)
    seen: dict[str, set[str]] = defaultdict(set)
    counts: Counter[int] = Counter()
    rest = found[6:]
    for _ in range(20):
        copy, n = rest[:4], 0
        assert [doc.text for doc in copy] == [doc.text for doc in single]
        while n < 16:
            copy.append(rest[len(copy)])
            n += len(list(copy[-1].sents))
            counts[len(list(copy[-1].sents))] += 1
        assert sentences_of(copy) == sentences_of([*single, joined, joined])
        for doc in copy:
            texts = [sentence.text for sentence in doc.sents]
            for left, right in pairwise(texts):
                seen[left].add(right)
        rest = rest[len(copy) :]
    assert not rest and min(counts) == 1 and 8 < max(counts) < 16, "the average is 8"
    assert all(len(others) == 4 for others in seen.values()) and len(seen) == 4


def test_groups_of_spans_in_other_documents() -> None:
    """Each sentence brings its spans along; one that goes over a boundary is left out."""
    joined = make_docs()[4]
    joined.spans["over"] = [Span(joined, 4, 6, label="X")]
    joined.spans["all"] = [*joined.spans["all"], Span(joined, 7, 9, "V", kb_id="Q1", span_id="i")]
    docs = [doc for _ in range(10) for doc in mix([joined])]
    spans = [span for doc in docs for span in doc.spans["all"]]
    found = {(s.text, s.label_, s.kb_id_, s.id_) for s in spans}
    assert len(spans) == 50
    starts = ("Dogs chase", "The bird", "the fish", "Birds heard")
    assert found == {("saw Rome", "V", "Q1", "i"), *((text, "S", "", "") for text in starts)}
    assert not any(doc.spans["over"] for doc in docs)


# Batches


def test_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many documents of an epoch give way to copies, the others stay; all in random order."""
    monkeypatch.setattr(nonce, "RARE", 1000)
    examples = examples_of(make_docs() * 200)
    random.seed(1)
    texts = Counter(example.reference.text for example in examples)
    for share in (0.0, 0.3, 1.0):
        found = epoch(examples, share=share, level=1.0, phrases=0.0)
        assert len(found) == 1000 and found != examples
        stay = {*map(id, found)} & {*map(id, examples)}
        assert len(stay) / 1000 == pytest.approx(1 - share, abs=0.05)
        assert all(example.predicted.text == example.reference.text for example in found)
        assert not any(example.predicted.has_annotation("DEP") for example in found)
        changed = Counter(example.reference.text for example in found)
        assert (changed == texts) == (share == 0.0)
    batches = list(batcher(size=40, tolerance=0.0)(examples[:100]))
    assert len(batches) > 10 and max(sum(map(len, batch)) for batch in batches) <= 40


def test_each_epoch_has_other_copies() -> None:
    examples, runs = examples_of(make_docs()), []
    for _ in range(2):
        random.seed(2)
        draw = batcher(level=1.0, share=1.0)
        runs.append([[e.reference.text for b in draw(examples) for e in b] for _ in range(3)])
    assert len({text for texts in runs[0] for text in texts}) > 8
    assert runs[0] == runs[1]
    other = examples_of(make_docs()[:1])
    texts = {e.reference.text for batch in draw(other) for e in batch}
    assert texts <= {"Dogs chase the cat .", "Cats chase the cat ."}, "words of data before"


def test_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = (100_000, 100_001, 300_000, 300_001)
    assert [nonce.unasked(n) for n in sizes] == [(0.3, 0.3), (0.2, 0.3), (0.2, 0.3), (0.0, 0.0)]
    examples = examples_of(make_docs() * 20)
    kept_ones = {*map(id, examples)}
    n = sum(map(len, examples))
    for most, settings, all_kept in (
        (n, {}, False),
        (n - 1, {}, True),
        (n - 1, {"level": 0.5}, False),
    ):
        monkeypatch.setattr(nonce, "MOST_WORDS", most)
        assert (kept_ones >= {*map(id, epoch(examples, **settings))}) == all_kept


def test_what_stays() -> None:
    """Streams, data without parts of speech, documents whose sentences are not known."""
    examples = examples_of(make_docs() * 20)
    assert epoch(iter(examples), share=1.0, level=1.0) == examples
    examples = examples_of([Doc(VOCAB, words=["dogs", "see", "cats"]) for _ in range(20)])
    assert {*map(id, epoch(examples, share=1.0))} == {*map(id, examples)}
    docs = [Doc(VOCAB, words=["dogs", "see"], pos=["NOUN", "VERB"])]
    assert regrouped(docs, 2) == docs * 3


def test_words_are_exchanged_in_other_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nonce, "RARE", 1000)
    examples = examples_of([make_docs()[4] for _ in range(20)])
    found = epoch(examples, share=1.0, level=1.0, regroup=True)
    assert len({example.reference.text for example in found}) == len(found)
    assert sum(len([*example.reference.sents]) for example in found) == 80
    for example in found:
        assert example.reference[0].pos_ and example.reference.has_annotation("DEP")
        assert example.predicted.text == example.reference.text


# Phrases


def sentence(words: str, pos: str, heads: list[int], deps: str, entity: slice | None = None) -> Doc:
    doc = Doc(VOCAB, words=words.split(), pos=pos.split(), heads=heads, deps=deps.split())
    if entity is not None:
        doc.ents = [Span(doc, entity.start, entity.stop, label="E")]
    return doc


def bracketed(token: Token) -> str:
    """The tree below a word."""
    below = [*map(bracketed, token.lefts), token.text, *map(bracketed, token.rights)]
    return f"({token.dep_} {' '.join(below)})"


PHRASES = [
    sentence("The dog saw a cat", "DET NOUN VERB DET NOUN", [1, 2, 2, 4, 2], "d s ROOT d o"),
    sentence("a man hit the big bird", "DET NOUN VERB DET ADJ NOUN", [1, 2, 2, 5, 5, 2],
             "d s ROOT d m o"),
]  # fmt: skip
OBJECTS = {"(o (d a) cat)", "(o (d the) (m big) bird)"}


def exchanged(docs: list[Doc], share: float) -> list[Doc]:
    """Copies with exchanged phrases alone."""
    return copies(docs, 60, phrases=share)[len(docs) :]


def test_phrases_give_way_to_others_of_their_kind() -> None:
    """With all below them, but what may owe its capital to the beginning of its sentence."""
    found = exchanged(PHRASES, 1.0)
    assert all(len(list(doc.sents)) == 1 for doc in found)
    for docs, subject, verb in ((found[::2], "A", "saw"), (found[1::2], "a", "hit")):
        trees = {bracketed(root) for doc in docs for root in doc if root.head == root}
        assert trees == {f"(ROOT (s (d {subject}) man) {verb} {o})" for o in OBJECTS}
    changed = sum(doc[0].text == "A" for doc in exchanged(PHRASES, 0.3)[::2])
    assert 5 < changed < 35
    assert {doc.text for doc in exchanged(PHRASES, 0.0)} == {doc.text for doc in PHRASES}


VERB_OBJECT = ("VERB DET NOUN", [0, 2, 0], "ROOT d o")


def test_phrases_that_are_not_whole_stay() -> None:
    """Where a word of others stands between, or an entity is cut; others go along."""
    crossing = sentence(
        "saw a cat came big", "VERB DET NOUN VERB ADJ", [0, 2, 0, 0, 2], "ROOT d o x m"
    )
    cut = sentence("hit the bird", *VERB_OBJECT, slice(0, 2))
    other = sentence("saw a cat", *VERB_OBJECT, slice(2, 3))
    for docs in ([crossing, sentence("hit the bird", *VERB_OBJECT)], [cut, other]):
        assert {doc.text for doc in exchanged(docs, 1.0)} == {doc.text for doc in docs}
    found = exchanged([other, sentence("ate some fish", *VERB_OBJECT)], 1.0)
    assert {(doc.text, tuple(e.text for e in doc.ents)) for doc in found} == {
        (f"{verb} {object_} ", ("cat",) * (object_ == "a cat"))
        for verb in ("saw", "ate")
        for object_ in ("a cat", "some fish")
    }


def test_extensions_go_with_phrases() -> None:
    """Multiword tokens are exchanged whole, or not."""
    register_extensions()
    docs = [
        sentence("hit the bird", "VERB DET NOUN", [0, 2, 0], "ROOT d o"),
        sentence("saw one small cat", "VERB DET ADJ NOUN", [0, 3, 3, 0], "ROOT d m o"),
    ]
    for token in (token for doc in docs for token in doc):
        token._.ud_misc = token.text
    docs[1][1]._.ud_words = [("o", *[""] * 6), ("ne", *[""] * 6)]
    docs[1].user_data["source"] = "news"
    found = exchanged(docs, 1.0)
    assert {doc.text for doc in found} == {
        f"{verb} {object_} " for verb in ("hit", "saw") for object_ in ("the bird", "one small cat")
    }
    for i, doc in enumerate(found):
        assert [token._.ud_misc for token in doc] == [token.text for token in doc]
        assert [bool(token._.ud_words) for token in doc] == [token.text == "one" for token in doc]
        assert doc.user_data.get("source") == ("news" if i % 2 else None)
    docs[0][0]._.ud_range = ("hitthe", 2, "_")
    assert {doc.text for doc in exchanged(docs, 1.0)} == {d.text for d in docs}
    docs[0][0]._.ud_range = None
    docs[0][1]._.ud_range = ("thebird", 2, "_")
    found = exchanged(docs, 1.0)
    assert {doc[1]._.ud_range for doc in found if doc[1].text == "the"} == {("thebird", 2, "_")}
    assert len({doc.text for doc in found}) == 4


def test_phrases_of_random_trees() -> None:
    """Each word keeps its label, and each tree its root."""
    rng = random.Random(5)
    docs = []
    for _ in range(30):
        heads = random_heads(rng.randint(1, 12), rng)
        words = " ".join(f"w{rng.randint(0, 99)}" for _ in heads)
        pos = " ".join(rng.choice(["NOUN", "VERB"]) for _ in heads)
        deps = " ".join("ROOT" if head == i else rng.choice("ab") for i, head in enumerate(heads))
        docs.append(sentence(words, pos, heads, deps))
    arcs = {(t.text, t.dep_, t.pos_) for doc in docs for t in doc}
    changed = 0
    for i, copy in enumerate(exchanged(docs, 0.5)):
        old = docs[i % 30]
        assert sum(t.head == t for t in copy) == sum(t.head == t for t in old)
        assert {(t.text, t.dep_, t.pos_) for t in copy} <= arcs
        changed += copy.text != old.text
    assert changed > 300


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"share": -1.0}, "training.batcher.share is -1.0"),
        ({"level": 1.5}, "training.batcher.level is 1.5"),
        ({"phrases": -0.5}, "training.batcher.phrases is -0.5"),
        ({"phrases": 0.5, "pos": ["ADV"]}, "has a head .* ADV, .* set training.batcher.phrases"),
        ({"level": 0.5, "pos": ["ADV"]}, "speech ADV, .* set training.batcher.level = 0"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        epoch(examples_of(make_docs()), **settings)
