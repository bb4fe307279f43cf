"""What is read of documents and written to them: words of several in one call, and sentence starts
that are set before the parser, which are kept, whatever the model says."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_nmparse.layers.word_types import find_types
from spacy_nmparse.pipe.doc_io import (
    PRESET,
    TOKENS,
    fix_edges,
    gold_tags,
    parsed_tokens,
    preset_starts,
    set_heads,
    write_parses,
    write_tags,
)
from tests.pipe.common import (
    NL,
    NM,
    assert_sound,
    assert_starts_kept,
    bare,
    learn,
    make_example,
    make_examples,
    make_nlp,
    merge_and_split,
    parser_of,
    random_doc,
    random_parser,
    randomize,
    ready,
    system,
    tree,
)

# Arrays of several documents


def ints(*values: int) -> numpy.ndarray:
    return numpy.asarray(values, dtype="int32")


def write(docs: list[Doc]) -> None:
    """The middle word heads the others; the label of the first is new to all vocabularies."""
    n = len(docs)
    write_parses(
        docs,
        numpy.arange(3, 3 * n + 1, 3, dtype="int32"),
        numpy.tile(ints(0, 1, 2), n),
        numpy.tile(ints(1, 1, 1), n),
        numpy.tile(ints(1, 0, -1), n),
        numpy.tile(numpy.asarray([1, 0, 0], dtype="int8"), n),
        ["obj", "a label", "ROOT", "dep"],
    )


def test_labels_are_strings_of_each_vocabulary() -> None:
    vocabs = [Vocab(), Vocab(), Vocab()]
    docs = [Doc(vocabs[i], words=["x", "y", "z"]) for i in (0, 1, 1, 0, 2)]
    write(docs)
    for doc in docs:
        assert [token.dep_ for token in doc] == ["a label", "ROOT", "dep"]
        assert [token.head.i for token in doc] == [1, 1, 1]


def test_a_document_that_is_too_short() -> None:
    docs = [Doc(Vocab(), words=words) for words in (["x", "y", "z"], ["x", "y"])]
    with pytest.raises(ValueError, match="'x y ' has fewer tokens"):
        write(docs)
    assert not docs[1].has_annotation("DEP")


def test_words_of_several_documents_are_those_of_each() -> None:
    """The first word of a document has no start to keep: it starts a sentence anyway."""
    vocab = spacy.blank("xx").vocab
    texts = [["a", "b"], [], [" ", "a", " ", "b", "c"], ["\n"], ["a"]]
    starts = [[1, -1], [], [1, 0, 1, 0, -1], [1], [1]]
    docs = [
        Doc(vocab, words=words, sent_starts=preset)
        for words, preset in zip(texts, starts, strict=True)
    ]
    tokens, constraints, ends = parsed_tokens(docs)
    assert tokens.tolist() == [0, 1, 1, 3, 4, 0]
    assert constraints.tolist() == [0, -1, 0, 1, -1, 0]
    assert ends.tolist() == [2, 2, 5, 5, 6]


def test_what_is_no_document() -> None:
    nothing: Any = None
    doc = Doc(Vocab(), words=["x"])
    for call, *arguments in (
        (set_heads, nothing, nothing),
        (set_heads, doc, nothing),
        (parsed_tokens, [doc, nothing]),
        (find_types, [nothing], True, b"\0"),
        (fix_edges, nothing),
    ):
        with pytest.raises(TypeError, match="None"):
            call(*arguments)


@pytest.mark.parametrize(
    ("place", "values"),
    [
        *((1, ends) for ends in (ints(2), ints(3, 3), ints())),
        *((2, tokens) for tokens in (ints(0, 1, 3), ints(0, 1, -1), ints(0, 2, 1), ints(0, 1))),
        *((3, heads) for heads in (ints(1, 1, 3), ints(1, 1, -1))),
        (4, ints(0, 0, 2)),  # labels
        (5, numpy.zeros(4, dtype="int8")),  # starts
        (6, ["ROOT"]),  # names
    ],
)
def test_parses_of_another_document(place: int, values: Any) -> None:
    """Nothing is written; nor are tags."""
    doc = Doc(Vocab(), words=["x", "y", "z"])
    parse: list[Any] = [[doc], ints(3), ints(0, 1, 2), ints(1, 1, 1), ints(1, 0, -1)]
    parse += [numpy.zeros(3, dtype="int8"), ["a", "b", "ROOT", "dep"]]
    parse[place] = values
    with pytest.raises(ValueError):
        write_parses(*parse)
    assert not doc.has_annotation("DEP")
    for tokens in (ints(0, 3), ints(-1)):
        with pytest.raises(ValueError, match="3 tokens has no token"):
            gold_tags(Example(doc, doc.copy()), tokens)
        with pytest.raises(ValueError, match="3 tokens has no token"):
            write_tags(doc, tokens, numpy.ones((len(tokens), 3), dtype="uint64"))
    with pytest.raises(ValueError, match=r"shape \(2, 3\), not \(1, 3\)"):
        write_tags(doc, ints(0, 1), numpy.ones((1, 3), dtype="uint64"))


# Sentence starts


STARTS = {1: True, -1: False, 0: None}


def preset_doc(doc: Doc, preset: list[int]) -> Doc:
    """The same tokens, with these sentence starts and no other annotation."""
    fresh = bare(doc)
    for token, start in zip(fresh, preset, strict=True):
        token.is_sent_start = STARTS[start]
    return fresh


def constrain(doc: Doc, rng: random.Random, kinds: tuple[int, ...]) -> list[int]:
    preset = [rng.choice(kinds) for _ in doc]
    for token, start in zip(doc, preset, strict=True):
        token.is_sent_start = STARTS[start]
    return preset


#: The scale of random weights, 0 for an untrained parser; scores of SHIFT and BREAK. Parsers that
#: break never, at will, and wherever they may.
MODELS: dict[str, tuple[float, float, float]] = {
    "untrained": (0.0, 0.0, 0.0),
    "random": (0.2, 0.0, 4.0),
    "breaks": (0.0, 0.0, 100.0),
    "list untrained": (0.0, 2.0, -9.0),
    "list random": (0.35, 2.0, 7.0),
    "list breaks": (0.0, 0.0, 100.0),
    "list implicit": (0.35, 2.0, 7.0),
}


@pytest.fixture(scope="module", params=[*MODELS, "overfitted"])
def nlp(request: pytest.FixtureRequest, trained: Language) -> Language:
    return trained if request.param == "overfitted" else make_model(request.param)


def make_model(name: str) -> Language:
    is_list = "list" in name
    config: dict[str, Any] = {"factory": NM}
    if is_list:
        explicit_root = name != "list implicit"
        config = {"factory": NL, "system": system("NLCovington", explicit_root=explicit_root)}
    nlp, *_ = ready(**config)
    parser = parser_of(nlp)
    scale, shift, stop = MODELS[name]
    if scale:
        randomize(parser.model, 1 if is_list else 4, scale)
    output = "output_b" if is_list else "move_b"
    bias = parser.model.get_param(output)
    for move, value in (("SHIFT", shift), ("BREAK", stop)):
        place = parser.system.moves.index(move)
        bias[place] = value + (0.0 if is_list else bias[place])
    parser.model.set_param(output, bias)
    return nlp


@pytest.mark.parametrize("kinds", [(0, 0, 1), (0, -1, 1), (0, -1), (1,), (-1,), (0,)])
@pytest.mark.parametrize("space", [0.0, 0.3, 0.8])
def test_random_constraints(nlp: Language, kinds: tuple[int, ...], space: float) -> None:
    """They are kept, and bind the next parse; boundaries that a parse has made do not."""
    rng = random.Random(str((kinds, space)))
    docs, presets = [], []
    for _ in range(16):
        doc = random_doc(nlp.vocab, rng, rng.randint(1, 25), space)
        presets.append(constrain(doc, rng, kinds))
        docs.append(doc)
    alone = [preset_doc(*pair) for pair in zip(docs, presets, strict=True)]
    parser = parser_of(nlp)
    docs = list(parser.pipe(docs, batch_size=7))
    copies = [*map(Doc.copy, docs), *(Doc(nlp.vocab).from_bytes(doc.to_bytes()) for doc in docs)]
    read = DocBin().from_bytes(DocBin(docs=docs).to_bytes()).get_docs(nlp.vocab)
    expected = [tree(doc) for doc in docs]
    assert [tree(doc) for doc in read] == expected == [tree(parser(doc)) for doc in alone]
    again = parser.pipe([*docs, *copies])
    for doc, parsed, preset in zip(again, 3 * expected, 3 * presets, strict=True):
        assert_starts_kept(doc, preset)
        assert_sound(doc)
        assert tree(doc) == parsed
        if set(kinds) in ({1}, {-1}):
            assert len(list(doc.sents)) == (len(doc) if kinds == (1,) else 1)
    assert parser.n_best(docs[:1], 2) == parser.n_best([preset_doc(docs[0], presets[0])], 2)


def test_the_models_differ() -> None:
    counts = []
    for name in MODELS:
        nlp = make_model(name)
        rng = random.Random(0)
        docs = [random_doc(nlp.vocab, rng, 20, space=0) for _ in range(20)]
        counts.append(sum(len(list(doc.sents)) for doc in nlp.pipe(docs)))
    assert counts[0] == counts[3] == 20 and counts[2] == counts[5] == 400
    assert all(30 < count < 380 for count in (counts[1], counts[4], counts[6]))


@pytest.mark.parametrize("factory", [NM, NL])
def test_a_senter_before_the_parser_in_training(factory: str) -> None:
    nlp = make_nlp(factory=factory)
    nlp.add_pipe("senter", first=True)
    examples = make_examples(nlp.vocab)
    learn(nlp, examples, annotates=["senter"])
    for example in examples:
        doc = nlp(bare(example.reference))
        assert tree(doc) == tree(example.reference)
        assert_sound(doc)
    # What the senter says stays.
    doc = nlp.get_pipe("senter")(bare(examples[-1].reference))
    starts = [token.is_sent_start for token in doc]
    assert [token.is_sent_start for token in parser_of(nlp)(doc)] == starts


@pytest.mark.parametrize("factory", [NM, NL])
def test_gold_sentence_starts_are_learned_without_trees(factory: str) -> None:
    """Starts of sentences whose heads are unknown are still gold."""
    nlp = make_nlp(factory=factory)
    words = ["a", "b", "c", "d", "e", "f"]
    gold = Doc(nlp.vocab, words=words, sent_starts=[True, False, False, True, False, False])
    assert not gold.has_annotation("DEP")
    examples = [make_example(gold), *make_examples(nlp.vocab)]
    learn(nlp, examples)
    assert [t.is_sent_start for t in nlp(bare(gold))] == [t.is_sent_start for t in gold]


def test_start_on_a_space_between_sentences(words_alone: Language) -> None:
    """It is that of the next word; also where it is forced on that word, and not on the space."""
    parser = words_alone.get_pipe("nm_parser")
    for preset, starts, heads in (
        ({2: True}, [True, False, True, False], [0, 0, 3, 3]),
        ({2: False, 3: True}, [True, False, False, True], [0, 0, 1, 3]),
    ):
        doc = Doc(words_alone.vocab, words=["Sleep", "!", "\n", "Yes"])
        for i, start in preset.items():
            doc[i].is_sent_start = start
        doc = parser(doc)
        assert [t.is_sent_start for t in doc] == starts
        assert [t.head.i for t in doc] == heads


def test_own_boundaries_change_trees_when_they_are_preset() -> None:
    """So that the test above can fail; those of a tree of someone else's do not bind."""
    nlp = make_model("list random")
    rng = random.Random(5)
    parser = parser_of(nlp)
    docs = [parser(random_doc(nlp.vocab, rng, 30)) for _ in range(40)]
    starts = [[1 if token.is_sent_start else -1 for token in doc] for doc in docs]
    preset = [parser(preset_doc(*pair)) for pair in zip(docs, starts, strict=True)]
    assert sum(tree(a) != tree(b) for a, b in zip(docs, preset, strict=True)) > 10
    words = [token.text for token in docs[0]]
    other = Doc(nlp.vocab, words=words, heads=list(range(30)), deps=["ROOT"] * 30)
    assert len(list(other.sents)) == 30
    assert tree(parser(other)) == tree(docs[0])


def test_preset_starts_are_noted_where_there_are_any() -> None:
    """Of other tokens nothing is known, also where there are as many as before."""
    nlp = random_parser(4)
    assert not nlp("One two three").user_data
    doc = nlp(Doc(nlp.vocab, ["One", "two", ".", "Three"], sent_starts=[1, -1, -1, 1]))
    assert preset_starts(doc).tolist() == [1, -1, -1, 1]
    merge_and_split(doc)
    assert len(doc) == 4 and not preset_starts(doc).any()
    assert_sound(parser_of(nlp)(doc))
    assert PRESET not in doc.user_data
    nlp.add_pipe("sentencizer", first=True)
    docs = [nlp(text) for text in ("One two . Three", "Four . Five")]
    assert all(set(doc.user_data) == {PRESET, TOKENS} for doc in docs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Doc.from_docs(docs) is not None
    with docs[0].retokenize() as retokenizer:
        retokenizer.merge(docs[0][0:2])
    assert_sound(parser_of(nlp)(docs[0]))
