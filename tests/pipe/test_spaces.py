"""Whitespace tokens head nothing; documents of any size."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy
import pytest
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.search import greedy
from tests.pipe.common import (
    ARC_FEATURES,
    NL,
    SMALL,
    TOK2VEC,
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
    tree,
)


def words_alone_config(factory: str) -> dict[str, Any]:
    """The factory's model with a tok2vec that sees no neighbours."""
    return {**SMALL[factory]["model"], "tok2vec": WORDS_ALONE["tok2vec"]}


SPACES = (" ", "\n", "\n\n", "\t", " ", " ")


@pytest.mark.parametrize(
    ("words", "heads"),
    [
        (["Sleep", "\n", "!"], [0, 0, 0]),
        (["\n", "Sleep", "!"], [1, 1, 1]),
        (["\n", " ", "Sleep", "!"], [2, 2, 2, 2]),
        (["Sleep", "!", " "], [0, 0, 1]),
        (["Sleep", "!", " ", "\n"], [0, 0, 1, 1]),
        (["Sleep", " ", "\n", "!", " "], [0, 0, 0, 0, 3]),
        (["\n"], [0]),
        (["\n", " ", "\t"], [0, 0, 0]),
        ([" ", "Yes", " "], [1, 1, 1]),
        (["Yes"], [0]),
        ([], []),
    ],
)
def test_where_spaces_go(words_alone: Language, words: list[str], heads: list[int]) -> None:
    doc = words_alone.get_pipe("nm_parser")(Doc(words_alone.vocab, words=words))
    assert [token.head.i for token in doc] == heads
    deps = ["ROOT" if head == i else "dep" for i, head in enumerate(heads)]
    for token, dep in zip(doc, deps, strict=True):
        if token.is_space:
            assert token.dep_ == dep
    assert_sound(doc)


@pytest.mark.parametrize("factory", SMALL)
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


@pytest.mark.parametrize("batch_size", [1, 3, 100])
def test_a_stream_with_empty_documents(trained: Language, batch_size: int) -> None:
    texts = ["", "Sleep !", "", " ", "", "Yes", "\n\n \n", "She saw the cat . ", ""]
    docs = list(trained.pipe(texts, batch_size=batch_size))
    assert [doc.text for doc in docs] == texts
    for doc, text in zip(docs, texts, strict=True):
        assert_sound(doc)
        assert tree(doc) == tree(trained(text))
    assert len(list(trained.pipe(["", "", ""], batch_size=batch_size))) == 3


def test_training_with_empty_documents_and_spaces() -> None:
    nlp = make_nlp()
    examples = make_examples(nlp.vocab)
    for words in ([], [" "], ["\n", "\n"]):
        examples.insert(len(words), make_example(Doc(nlp.vocab, words=words)))
    learn(nlp, examples)
    parser = nlp.get_pipe("nm_parser")
    before = parser.to_bytes()
    sgd = nlp.create_optimizer()
    for empty in ([], [examples[0]], examples[:3]):
        assert all(not eg.reference.text.strip() for eg in empty)
        assert parser.update(empty, sgd=sgd) == {"nm_parser": 0.0}
        assert parser.rehearse(empty, sgd=sgd) == {"nm_parser": 0.0}
    assert parser.to_bytes() == before
    for example in examples:
        assert_sound(nlp(bare(example.reference)))


def test_initialize_with_empty_documents_first() -> None:
    nlp = make_nlp()
    empty = [make_example(Doc(nlp.vocab, words=words)) for words in ([], [" "])] * 10
    examples = [*empty, *make_examples(nlp.vocab)]
    learn(nlp, examples)


def test_gold_heads_on_spaces_are_unknown() -> None:
    nlp = make_nlp()
    words = ["\n", "Sleep", " ", "!", "\n"]
    gold = Doc(
        nlp.vocab,
        words=words,
        heads=[0, 0, 1, 2, 3],
        deps=["ROOT", "obj", "dep", "punct", "dep"],
        sent_starts=None,
    )
    plain = make_examples(nlp.vocab, [[0]])
    example = make_example(gold)
    learn(nlp, [example, *plain])
    assert_sound(nlp(bare(gold)))


def test_spaces_in_gold_trees_that_are_well_attached() -> None:
    nlp = make_nlp()
    words = ["\n", "Sleep", " ", "!", "\n", "Yes"]
    gold = Doc(
        nlp.vocab,
        words=words,
        heads=[1, 1, 1, 1, 3, 5],
        deps=["dep", "ROOT", "dep", "punct", "dep", "ROOT"],
    )
    learn(nlp, [make_example(gold), *make_examples(nlp.vocab, [[0]])])
    assert tree(nlp(bare(gold))) == tree(gold)


def test_a_gold_start_on_a_space_is_that_of_the_next_word() -> None:
    nlp = make_nlp()
    words = ["Sleep", "!", "\n", "\n", "Yes", "Sleep", "!"]
    gold = Doc(
        nlp.vocab,
        words=words,
        heads=[0, 0, 4, 4, 4, 5, 5],
        deps=["ROOT", "punct", "dep", "dep", "ROOT", "ROOT", "punct"],
    )
    assert gold[2].is_sent_start and not gold[4].is_sent_start
    learn(nlp, [make_example(gold)])
    doc = nlp(bare(gold))
    # Unless it was preset there, a sentence starts at a word.
    assert [t.i for t in doc if t.is_sent_start] == [0, 4, 5]
    assert_sound(doc)


@pytest.mark.parametrize("explicit_root", [True, False])
def test_one_long_document_by_a_list_system(explicit_root: bool) -> None:
    """Thousands of words in sentences of the parser's own, and one sentence of a thousand words."""
    model = arc_model_config(hidden_width=8, projection_width=8, recurrent_width=4)
    nlp = list_parser(2, model, explicit_root=explicit_root)
    parser = parser_of(nlp)
    rng = random.Random(1)
    for length, start in ((3000, 0), (1000, -1)):
        words = [token.text for token in random_doc(nlp.vocab, rng, length, space=0.1)]
        doc = parser(Doc(nlp.vocab, words=words, sent_starts=[start] * length))
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


@pytest.mark.parametrize("length", [15_000, pytest.param(50_000, marks=pytest.mark.slow)])
def test_one_long_document(length: int) -> None:
    rng = random.Random(1)
    untrained = make_nlp()
    untrained.initialize(lambda: make_examples(untrained.vocab))
    for nlp in (untrained, random_parser(6)):
        parser = nlp.get_pipe("nm_parser")
        words = [token.text for token in random_doc(nlp.vocab, rng, length, space=0.1)]
        doc = Doc(nlp.vocab, words=words, sent_starts=[-1] * len(words))
        doc = parser(doc)
        assert len(list(doc.sents)) == 1
        heads = [token.head.i for token in doc]
        assert sum(head == i for i, head in enumerate(heads)) == 1
        assert not any(doc[head].is_space for head in heads)


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


@pytest.mark.parametrize("window", [1, 16, 150, 100_000])
@pytest.mark.parametrize("explicit_root", [True, False])
def test_how_much_a_list_system_looks_at_a_time_does_not_matter(
    window: int, explicit_root: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp = list_parser(6, arc_model_config(), explicit_root=explicit_root)
    rng = random.Random(2)
    docs = [random_doc(nlp.vocab, rng, n) for n in (0, 1, 3, 40, 0, 150, 2, 900, 30)]
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


def test_how_much_is_looked_at_a_time_with_labelled_reduce(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where ROOT is in the buffer, its children in earlier sentences are out of sight."""
    options = {"nonmonotonic_reduce": True, "labelled_reduce": True}
    nlp = random_parser(8, system={"@misc": "spacy_nmparse.ArcEager.v1", **options})
    parser = parser_of(nlp)
    randomize(parser.model, 8, 0.3)
    docs = [random_doc(nlp.vocab, random.Random(seed), 1500, space=0) for seed in range(2)]
    expected = [tree(parser(bare(doc))) for doc in docs]
    assert sum(start for _, _, _, start in expected[0]) > 20
    monkeypatch.setattr(greedy, "WINDOW", 1)
    assert [tree(parser(doc)) for doc in docs] == expected


@pytest.mark.parametrize("explicit_root", [True, False])
def test_forced_sentences_are_parsed_alone_by_a_list_system(explicit_root: bool) -> None:
    """Recurrent layers and biaffine part see one forced sentence each; ROOT knows of no other."""
    features = {layer: list(names) for layer, names in ARC_FEATURES.items()}
    ahead = ("B1", "B3", "B0*B1")
    features = {layer: [f for f in names if f not in ahead] for layer, names in features.items()}
    tok2vec = {**TOK2VEC, "window_size": 0}
    model = arc_model_config(features=features, tok2vec=tok2vec)
    nlp = list_parser(1, model, explicit_root=explicit_root)
    parser = parser_of(nlp)
    rng = random.Random(3)
    sizes = [1, 5, 40, 1, 600, 30, 2, 150, 3, 12]
    pieces = [random_doc(nlp.vocab, rng, size, space=0) for size in sizes]
    words = [token.text for piece in pieces for token in piece]
    starts = [i == 0 for piece in pieces for i in range(len(piece))]
    free = [None if i else True for piece in pieces for i in range(len(piece))]
    for kind, within in ((starts, False), (free, None)):
        whole = Doc(nlp.vocab, words=words, sent_starts=kind)
        alone = [
            Doc(nlp.vocab, words=[t.text for t in piece], sent_starts=[within] * len(piece))
            for piece in pieces
        ]
        expected = [(t.head.i - t.i, t.dep_) for doc in parser.pipe(alone) for t in doc]
        assert [(t.head.i - t.i, t.dep_) for t in parser(whole)] == expected


@pytest.mark.parametrize("window", [1, 16, 100_000])
def test_how_much_is_looked_at_a_time_does_not_matter(
    window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp = random_parser(8)
    rng = random.Random(2)
    lengths = [0, 1, 3, 40, 0, 150, 2, 3000]
    docs = [random_doc(nlp.vocab, rng, n) for n in lengths]
    parser = nlp.get_pipe("nm_parser")
    copies = [bare(doc) for doc in docs]
    expected = [tree(doc) for doc in parser.pipe(copies)]
    assert expected[-1] == tree(parser(bare(docs[-1])))
    monkeypatch.setattr(greedy, "WINDOW", window)
    assert [tree(doc) for doc in parser.pipe(docs)] == expected


def test_forced_sentences_are_parsed_alone() -> None:
    """With a scorer that looks at one word of the buffer only."""
    features = ["S0", "S1", "B0", "S0.l1", "S0.label", "S0-B0.distance", "stack.depth"]
    nlp = random_parser(7, model={**WORDS_ALONE, "features": features})
    parser = nlp.get_pipe("nm_parser")
    rng = random.Random(3)
    pieces = [random_doc(nlp.vocab, rng, rng.choice([1, 5, 40, 900, 2500])) for _ in range(12)]
    words, starts = [], []
    for piece in pieces:
        for i, token in enumerate(piece):
            words.append(token.text)
            starts.append(i == 0)
    whole = Doc(nlp.vocab, words=words, sent_starts=starts)
    pieces = [
        Doc(nlp.vocab, words=[token.text for token in piece], sent_starts=[False] * len(piece))
        for piece in pieces
    ]
    expected = [(t.head.i - t.i, t.dep_) for doc in parser.pipe(pieces) for t in doc]
    assert [(t.head.i - t.i, t.dep_) for t in parser(whole)] == expected


def test_examples_where_only_one_side_has_spaces() -> None:
    nlp = make_nlp()
    gold = gold_doc(nlp.vocab, [0])
    words = ["She", " ", "saw", "the", "\n", "cat", ".", "  "]
    spaces = [True, False, True, True, False, True, False, False]
    spaced = Doc(nlp.vocab, words=words, spaces=spaces)
    example = Example(spaced, gold)
    learn(nlp, [example])
    doc = nlp(bare(spaced))
    assert [t.dep_ for t in doc if not t.is_space] == [t.dep_ for t in gold]
    back = Example(bare(gold), tree_with_spaces(nlp))
    nlp.update([back], sgd=nlp.create_optimizer())


def tree_with_spaces(nlp: Language) -> Doc:
    return Doc(
        nlp.vocab,
        words=["She", "  ", "saw", "the", "cat", "."],
        spaces=[True, False, True, True, True, False],
        heads=[2, 0, 2, 4, 2, 2],
        deps=["nsubj", "dep", "ROOT", "det", "obj", "punct"],
    )
