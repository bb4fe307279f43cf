"""Whitespace tokens head nothing; documents of any size."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from spacy.language import Language
from spacy.tokens import Doc

from spacy_nmparse.search import greedy
from tests.pipe.common import (
    ARC_FEATURES,
    NL,
    NM,
    SMALL,
    SYSTEMS,
    WORDS_ALONE,
    arc_model_config,
    assert_sound,
    bare,
    gold_doc,
    learn,
    make_example,
    make_examples,
    make_nlp,
    overfitted,
    parser_of,
    random_doc,
    random_parser,
    randomize,
    ready,
    tree,
)


def words_alone_config(factory: str) -> dict[str, Any]:
    """The factory's model with a tok2vec that sees no neighbours."""
    return {**SMALL[factory]["model"], "tok2vec": WORDS_ALONE["tok2vec"]}


SPACES = (" ", "\n", "\n\n", "\t", " ", " ")


@pytest.mark.parametrize("factory", [NM, NL])
def test_spaces_do_not_change_the_parse(factory: str) -> None:
    """The parser looks at words only."""
    nlp = overfitted(factory=factory, model=words_alone_config(factory))
    rng = random.Random(0)
    for trees in ([0], [2], [1, 0, 5, 2]):
        gold = gold_doc(nlp.vocab, trees)
        expected = [(t.text, t.head.i, t.dep_) for t in nlp(bare(gold))]
        words: list[str] = []
        numbers: dict[int, int] = {}
        for i, token in enumerate(gold):
            words += rng.choices(SPACES, k=rng.randint(0, 2))
            numbers[len(words)] = i
            words.append(token.text)
        doc = nlp(Doc(nlp.vocab, words=words))
        found = [(t.text, numbers[t.head.i], t.dep_) for t in doc if not t.is_space]
        assert found == expected
        assert_sound(doc)


@pytest.mark.parametrize("factory", SMALL)
def test_all_short_documents_of_words_and_spaces(factory: str) -> None:
    nlp = random_parser(5, factory=factory)
    docs = [
        Doc(nlp.vocab, words=list(words))
        for n in range(6)
        for words in itertools.product(("cat", " ", "like"), repeat=n)
    ]
    for doc, parsed in zip(docs, parser_of(nlp).pipe(docs), strict=True):
        assert parsed is doc
        assert_sound(doc)


def test_nothing_is_learned_from_documents_without_words() -> None:
    nlp = make_nlp()
    empty = [make_example(Doc(nlp.vocab, words=words)) for words in ([], [" "], ["\n", "\n"])]
    learn(nlp, [*empty * 7, *make_examples(nlp.vocab)])
    parser = parser_of(nlp)
    before = parser.to_bytes()
    sgd = nlp.create_optimizer()
    for batch in ([], empty[:1], empty):
        assert parser.update(batch, sgd=sgd) == {"nm_parser": 0.0}
        assert parser.rehearse(batch, sgd=sgd) == {"nm_parser": 0.0}
    assert parser.to_bytes() == before


def list_parser(seed: int, model: dict[str, Any], **options: Any) -> Language:
    """A random parser of sentences long and short, where P(head | word) matters."""
    system = {"@misc": "spacy_nmparse.NLCovington.v1", **options}
    nlp = random_parser(seed, factory=NL, system=system, model=model)
    parser = parser_of(nlp)
    randomize(parser.model, seed, 0.2)
    bias = parser.model.get_param("output_b")
    moves = list(parser.system.moves)
    bias[moves.index("SHIFT")], bias[moves.index("BREAK")] = -4.0, -2.0
    parser.model.set_param("output_b", bias)
    parser.model.set_param("arc_W", 2 * parser.model.get_param("arc_W"))
    parser.model.set_param("alpha", numpy.ones(2, dtype="float32"))
    return nlp


def labelled_reduce_parser() -> Language:
    """Where ROOT is in the buffer, its children in earlier sentences are out of sight."""
    options = {"nonmonotonic_reduce": True, "labelled_reduce": True}
    nlp = random_parser(10, system={"@misc": "spacy_nmparse.ArcEager.v1", **options})
    randomize(parser_of(nlp).model, 10, 0.3)
    return nlp


@pytest.mark.parametrize("length", [15_000, pytest.param(50_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["untrained", "random", "explicit root", "implicit root"])
def test_one_long_document(name: str, length: int) -> None:
    """As one sentence; by list systems also in sentences of the parser's own."""
    documents = [(length, -1)]
    if "root" in name:
        model = arc_model_config(hidden_width=8, projection_width=8, recurrent_width=4)
        nlp = list_parser(2, model, explicit_root=name == "explicit root")
        documents = [(length // 5, 0), (length // 15, -1)]
    elif name == "random":
        nlp = random_parser(6)
    else:
        nlp, *_ = ready()
    rng = random.Random(1)
    for size, start in documents:
        words = [token.text for token in random_doc(nlp.vocab, rng, size, space=0.1)]
        doc = parser_of(nlp)(Doc(nlp.vocab, words=words, sent_starts=[start] * size))
        sentences = list(doc.sents)
        assert len(sentences) > 50 if start == 0 else len(sentences) == 1
        heads = [token.head.i for token in doc]
        for sentence in sentences:
            span = range(sentence.start, sentence.end)
            assert [heads[i] == i for i in span].count(True) == 1
            assert all(heads[i] in span for i in span)
            above = {i: heads[i] for i in span}
            for _ in range(len(span).bit_length()):  # twice as far up each time
                above = {i: above[above[i]] for i in span}
            assert len(set(above.values())) == 1, "a cycle"


@pytest.mark.parametrize("window", [1, 16, 150, 100_000])
@pytest.mark.parametrize(
    "make",
    [
        lambda: random_parser(7),
        labelled_reduce_parser,
        lambda: list_parser(6, arc_model_config()),
        lambda: list_parser(6, arc_model_config(), explicit_root=False),
    ],
    ids=["plain", "labelled reduce", "explicit root", "implicit root"],
)
def test_how_much_is_looked_at_a_time_does_not_matter(
    make: Callable[[], Language], window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp = make()
    rng = random.Random(2)
    docs = [random_doc(nlp.vocab, rng, n) for n in (0, 1, 3, 40, 0, 150, 2, 900, 1500)]
    for doc in docs[5:8]:  # some of the sentences are forced
        for token in doc:
            token.is_sent_start = rng.choice([None] * 30 + [True] + [False] * 30)
    parser = parser_of(nlp)
    copies = [doc.copy() for doc in docs]
    expected = [tree(doc) for doc in parser.pipe(copies)]
    lengths = [len(sent) for sent in copies[7].sents]
    assert len(lengths) > 20 and max(lengths) > 15
    monkeypatch.setattr(greedy, "WINDOW", window)
    assert [tree(doc) for doc in parser.pipe(docs)] == expected


def sees_no_later_word(name: str) -> Language:
    """A parser whose tok2vec and features look at no word behind the first of the buffer."""
    if name in STACKS:
        features = ["S0", "S1", "B0", "S0.h", "S0.l2", "S1.r1", "S0.label", "S1.n_left"]
        features += ["S0-B0.distance", "S1-S0.distance", "S0-B0.crossed", "S0-B0.headless"]
        features += ["stack.depth", "items.headless", "root.child"]
        return random_parser(7, **SYSTEMS[name], model={**WORDS_ALONE, "features": features})
    ahead = ("B1", "B3", "B0*B1")
    model = arc_model_config(
        features={key: [f for f in names if f not in ahead] for key, names in ARC_FEATURES.items()},
        tok2vec=WORDS_ALONE["tok2vec"],
    )
    return list_parser(1, model, explicit_root=name == "explicit root")


STACKS = ("arc-eager", "labelled reduce", "root first", "arc-standard", "buffer arcs", "swap")


@pytest.mark.parametrize("name", [*STACKS, "explicit root", "implicit root"])
def test_forced_sentences_are_parsed_alone(name: str) -> None:
    """Recurrent layers and biaffine part see one forced sentence each; ROOT knows of no other."""
    nlp = sees_no_later_word(name)
    parser = parser_of(nlp)
    rng = random.Random(3)
    sizes = [1, 5, 40, 1, 600, 30, 2, 150, 3, 12, *([2500, 900] if name == "arc-eager" else [])]
    pieces = [random_doc(nlp.vocab, rng, size, space=0.2 * (name in STACKS)) for size in sizes]
    words = [token.text for piece in pieces for token in piece]
    for within in (False, None):
        starts = [within if i else True for piece in pieces for i in range(len(piece))]
        whole = Doc(nlp.vocab, words=words, sent_starts=starts)
        alone = [
            Doc(nlp.vocab, words=[t.text for t in piece], sent_starts=[within] * len(piece))
            for piece in pieces
        ]
        expected = [(t.head.i - t.i, t.dep_) for doc in parser.pipe(alone) for t in doc]
        assert [(t.head.i - t.i, t.dep_) for t in parser(whole)] == expected
