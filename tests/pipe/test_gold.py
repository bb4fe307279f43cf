"""Learning from gold that is partial, misaligned, odd or wrong."""

from __future__ import annotations

from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.pipe.doc_io import parsed_tokens
from spacy_nmparse.pipe.gold import word_parse
from tests.pipe.common import (
    NL,
    NM,
    TREES,
    assert_sound,
    bare,
    gold_doc,
    knows_the_trees,
    learn,
    make_example,
    make_examples,
    make_nlp,
    overfitted,
    parser_of,
    ready,
    train,
    tree,
)


def doc_of(nlp: Language, heads: list[int], deps: str | list[str], **more: Any) -> Doc:
    """A document of words of one letter each, in alphabetical order."""
    deps = deps.split() if isinstance(deps, str) else deps
    return Doc(nlp.vocab, words=list("abcdef"[: len(heads)]), heads=heads, deps=deps, **more)


@pytest.fixture
def nlp() -> Language:
    """A parser without labels."""
    return make_nlp()


def parse_of(example: Example) -> tuple[list, list, list]:
    return word_parse(example, parsed_tokens([example.predicted])[0])


def partial(nlp: Language, known: list[bool]) -> Example:
    """The sixth-word tree with the annotation of some words taken away."""
    gold = gold_doc(nlp.vocab, [1])
    annotation = {
        "words": [t.text for t in gold],
        "heads": [t.head.i if known[t.i] else None for t in gold],
        "deps": [t.dep_ if known[t.i] else None for t in gold],
    }
    return Example.from_dict(bare(gold), annotation)


@pytest.mark.parametrize(
    ("heads", "starts"),
    [
        # spaCy says that a sentence starts at the second word, for it has a root.
        ([None, 1, 1, 1], [True, None, False, False]),
        ([0, 0, None, 3, 3], [True, False, None, None, False]),
        ([0, 2, None, 0, 4], [True, False, False, False, True]),
        ([0, 2, None, 4, 4], [True, None, False, None, False]),
        ([0, 0, 3, 3], [True, False, True, False]),
    ],
)
@pytest.mark.parametrize("spaced", [False, True])
def test_sentence_starts_beside_unknown_words(
    nlp: Language, heads: list[int | None], starts: list[bool | None], spaced: bool
) -> None:
    """Spaces without annotation do not make a document partial."""
    step = 1 + spaced
    words = [" "] * step * len(heads)
    words[::step] = [f"w{i}" for i in range(len(heads))]
    gold: dict[str, Any] = {"words": words, "heads": [None] * len(words)}
    gold["heads"][::step] = [None if head is None else step * head for head in heads]
    gold["deps"] = [None if head is None else "x" for head in gold["heads"]]
    found = parse_of(Example.from_dict(Doc(nlp.vocab, words=words), gold))
    assert found[0] == heads
    assert found[2][spaced:] == starts[spaced:]


def test_partial_gold_is_learned_and_the_rest_is_free(nlp: Language) -> None:
    """Missing words are unknown. Of labels alone, all words would be roots: nothing breaks."""
    known = [True, True, False, True, False, True]
    example = partial(nlp, known)
    heads, labels, _ = parse_of(example)
    assert heads == [1, 1, None, 2, None, 1]
    assert labels == ["nsubj", "ROOT", None, "cc", None, "punct"]
    labels_alone = Example.from_dict(
        nlp.make_doc("a b c"), {"words": ["a", "b", "c"], "deps": ["x", "ROOT", "y"]}
    )
    nlp.initialize(lambda: [*make_examples(nlp.vocab, [[0], [1]]), labels_alone])
    sgd = nlp.create_optimizer()
    learn(nlp, [example], sgd=sgd)
    full = gold_doc(nlp.vocab, [1])
    doc = nlp(bare(full))
    for i, is_known in enumerate(known):
        if is_known:
            assert (doc[i].head.i, doc[i].dep_) == (full[i].head.i, full[i].dep_)
    assert_sound(doc)
    train(nlp, [labels_alone], steps=5, sgd=sgd)
    assert_sound(nlp("a b c"))


def test_what_is_unknown_costs_nothing() -> None:
    """A tree that agrees with the known part has nothing left to learn, whatever the rest is."""
    nlp, examples, sgd = ready(explore=1.0)
    learn(nlp, examples, sgd=sgd)
    parser = parser_of(nlp)
    full = parser.update([make_example(gold_doc(nlp.vocab, [1]))])["nm_parser"]
    for known in ([True] * 5 + [False], [False, True, False, True, True, True]):
        assert parser.update([partial(nlp, known)])["nm_parser"] <= full + 1e-3
    nothing = partial(nlp, [False] * 6)
    assert parse_of(nothing)[0] == [None] * 6
    assert parser.update([nothing])["nm_parser"] < 0.05


FREE = [True] * 5 + [False]  # spaces of the gold tree


@pytest.mark.parametrize(
    ("gold_spaces", "words", "spaces", "heads", "labels"),
    [
        (
            FREE,
            ["I", "like", "London", "and", "Berlin", "."],
            FREE,
            [1, 1, 1, 2, 2, 1],
            ["nsubj", "ROOT", "obj", "cc", "conj", "punct"],
        ),
        (  # many gold words to one: two words, two heads
            [False, *FREE[1:]],
            ["Ilike", "London", "and", "Berlin", "."],
            FREE[1:],
            [None, 0, 1, 1, 0],
            [None, "obj", "cc", "conj", "punct"],
        ),
        (  # one gold word to many
            FREE,
            ["I", "like", "Lon", "don", "and", "Berlin", "."],
            [True, True, False, *FREE[2:]],
            [1, 1, 1, 1, None, None, 1],
            ["nsubj", "ROOT", "obj", "obj", "cc", "conj", "punct"],
        ),
    ],
)
def test_misaligned_gold(
    nlp: Language,
    gold_spaces: list[bool],
    words: list[str],
    spaces: list[bool],
    heads: list[int | None],
    labels: list[str | None],
) -> None:
    text, gold_heads, deps = TREES[1]
    gold = Doc(nlp.vocab, text.split(), spaces=gold_spaces, heads=gold_heads, deps=deps.split())
    example = Example(Doc(nlp.vocab, words=words, spaces=spaces), gold)
    assert parse_of(example)[:2] == (heads, labels)
    learn(nlp, [example, *make_examples(nlp.vocab, [[0]])])
    doc = nlp(Doc(nlp.vocab, words=words, spaces=spaces))
    for token, head, label in zip(doc, heads, labels, strict=True):
        if head is not None:
            assert (token.head.i, token.dep_) == (head, label)


def test_sentence_starts_of_misaligned_gold(nlp: Language) -> None:
    """And missing words, which are unknown."""
    gold = gold_doc(nlp.vocab, [0, 1])
    words = ["She", "saw", "the", "c", "at", ".", "I", "like", "London", "and", "Berlin", "."]
    spaces = [True, True, True, False, *[True] * 8]
    example = Example(Doc(nlp.vocab, words=words, spaces=spaces), gold)
    _, _, starts = parse_of(example)
    assert [i for i, start in enumerate(starts) if start] == [0, 6]
    learn(nlp, [example])
    doc = nlp(Doc(nlp.vocab, words=words, spaces=spaces))
    assert [t.i for t in doc if t.is_sent_start] == [0, 6]
    words, spaces = ["a", "b", "cd"], [True, True, False]
    gold = Doc(nlp.vocab, words=words, spaces=spaces, heads=[1, 1, 1], deps=["", "ROOT", "x"])
    split = Doc(nlp.vocab, words=["a", "b", "c", "d"], spaces=[True, True, False, False])
    assert parse_of(Example(split, gold))[:2] == ([None, 1, 1, 1], [None, "ROOT", "x", "x"])


def test_labels_that_the_parser_does_not_have(nlp: Language) -> None:
    """Heads are learned without labels; so they are where the labels are ``dep`` alone."""
    known = make_examples(nlp.vocab, [[0]])
    plain = doc_of(nlp, [1, 1, 1, 2], ["dep"] * 4)
    sgd = nlp.initialize(lambda: [*known, make_example(plain)])
    gold = gold_doc(nlp.vocab, [1])
    learn(nlp, [*known, make_example(gold), make_example(plain)], sgd=sgd)
    assert "conj" not in parser_of(nlp).labels
    doc = nlp(bare(gold))
    assert [t.head.i for t in doc] == [t.head.i for t in gold]
    assert set(t.dep_ for t in doc) <= set(parser_of(nlp).labels)
    doc = nlp(bare(plain))
    assert [t.head.i for t in doc] == [1, 1, 1, 2]
    assert [t.dep_ for t in doc] == ["dep", "ROOT", "dep", "dep"]


def test_the_label_of_roots_on_a_word_with_a_head_is_unknown(nlp: Language) -> None:
    nlp.initialize(lambda: make_examples(nlp.vocab))
    example = make_example(doc_of(nlp, [1, 1], "ROOT ROOT"))
    found = parser_of(nlp).gold_reader.read(example, *parsed_tokens([example.predicted])[:2])
    assert (found.heads, found.labels) == ((1, 1), (None, "ROOT"))


@pytest.mark.parametrize("heads", [[2, 1, 0], [2, 3, 0, 3], [1, 2, 0, 3], [1, 0]])
@pytest.mark.parametrize("projectivize", [True, False])
def test_gold_with_a_cycle(heads: list[int], projectivize: bool) -> None:
    """spaCy does not look for cycles when a Doc is made."""
    nlp, good, sgd = ready(projectivize=projectivize)
    parser = parser_of(nlp)
    before = parser.to_bytes()
    examples = [*good, make_example(doc_of(nlp, heads, ["x"] * len(heads)))]
    for fails in (
        lambda: parser.update(examples, sgd=sgd),
        lambda: parser.initialize(lambda: examples, nlp=nlp),
    ):
        with pytest.raises(ValueError, match=r"'nm_parser'.*a b.*cycle.*Correct or remove"):
            fails()
    assert parser.to_bytes() == before
    assert parser.update(good, sgd=sgd)["nm_parser"] > 0


def test_several_roots_in_a_sentence(nlp: Language) -> None:
    """spaCy makes a sentence of each root; where sentences are unknown, one root is enough."""
    gold = doc_of(nlp, [0, 0, 2, 2], "ROOT x ROOT y")
    learn(nlp, [make_example(gold)])
    assert tree(nlp(bare(gold))) == tree(gold)
    doc, one = bare(gold), bare(gold)
    doc[2].is_sent_start = one[2].is_sent_start = False
    nlp.update([Example(doc, gold)], sgd=nlp.create_optimizer())
    assert_sound(nlp(one))
    assert len(list(one.sents)) == 1


def test_interleaved_sentences(nlp: Language) -> None:
    gold = doc_of(nlp, [0, 1, 0, 1, 0, 1], "ROOT ROOT x y x y")
    heads, _, starts = parse_of(make_example(gold))
    assert starts[1] and heads == [0, 1, None, 1, None, 1]
    learn(nlp, [make_example(gold), *make_examples(nlp.vocab, [[0]])])
    doc = nlp(bare(gold))
    assert_sound(doc)
    assert [t.is_sent_start for t in doc][:2] == [True, True]
    behind = doc_of(nlp, [2, 1, 2], "x ROOT ROOT")
    assert parse_of(make_example(behind))[0] == [None, 1, 2]


def test_examples_without_annotation(nlp: Language) -> None:
    examples = [make_example(Doc(nlp.vocab, words=["a", "b"])) for _ in range(3)]
    with pytest.raises(ValueError, match=r"'nm_parser'.*no dependency label.*3 examples"):
        nlp.initialize(lambda: examples)
    nlp = make_nlp()
    nlp.initialize()
    assert parser_of(nlp).labels == ("ROOT", "dep")
    assert_sound(nlp("Some  words here"))


@pytest.mark.parametrize(
    "labels", [["a"], {"labels": "a"}, {}, "a", {"labels": ["a", 3]}, {"labels": [""]}]
)
def test_labels_that_are_no_label_data(nlp: Language, labels: Any) -> None:
    examples = make_examples(nlp.vocab)
    with pytest.raises(ValueError, match=r"nm_parser.*init labels"):
        parser_of(nlp).initialize(lambda: examples, nlp=nlp, labels=labels)


# Labels added by hand


def test_add_label_before_training(nlp: Language) -> None:
    parser = parser_of(nlp)
    assert parser.is_resizable
    assert parser.add_label("rare") == 1
    assert parser.add_label("rare") == 0
    assert parser.labels == ("ROOT", "rare", "dep")
    for bad in ("", None, 3):
        with pytest.raises(ValueError, match="nm_parser"):
            parser.add_label(bad)
    nlp.initialize(lambda: make_examples(nlp.vocab))
    assert "rare" in parser.labels and "nsubj" in parser.labels


@pytest.mark.parametrize("factory", [NM, NL])
def test_add_label_after_training(factory: str) -> None:
    nlp = overfitted(factory=factory)
    parser = parser_of(nlp)
    old_labels = parser.labels
    assert parser.add_label("new") == 1
    assert parser.add_label("nsubj") == 0
    assert parser.labels == (*old_labels, "new")
    assert knows_the_trees(nlp)
    gold = Doc(nlp.vocab, words=["brand", "new"], heads=[1, 1], deps=["new", "ROOT"])
    learn(nlp, [*make_examples(nlp.vocab), make_example(gold)], sgd=nlp.resume_training())
    assert knows_the_trees(nlp)
    other = make_nlp(factory=factory)
    parser_of(other).from_bytes(parser.to_bytes())
    for one in (nlp, other):
        assert tree(one(bare(gold))) == tree(gold)


def test_a_decorated_label_brings_its_plain_one(nlp: Language) -> None:
    parser = parser_of(nlp)
    parser.add_label("odd||ROOT")
    examples = make_examples(nlp.vocab, [[0]])
    parser.initialize(lambda: examples, nlp=nlp, labels={"labels": ["odd||ROOT"]})
    doc = nlp(bare(examples[0].reference))
    assert {t.dep_ for t in doc} <= {"ROOT", "odd", "dep"}
    assert parser.labels == ("ROOT", "odd", "dep")


# Rehearsal


def test_rehearsal_remembers() -> None:
    nlp, examples, sgd = ready()
    learn(nlp, examples, sgd=sgd)
    parser = parser_of(nlp)
    assert parser.rehearse(examples) == {"nm_parser": 0.0}, "nothing to remember yet"
    sgd = nlp.resume_training()
    assert parser._rehearsal_model is not None
    docs = [Example(bare(eg.reference), bare(eg.reference)) for eg in examples]
    assert nlp.rehearse(docs, sgd=None)["nm_parser"] < 5
    for name in ("move_W", "label_W"):  # what it forgets
        parser.model.set_param(name, 0 * parser.model.get_param(name))
    assert not knows_the_trees(nlp)
    loss = []
    for sgd.learn_rate, times in ((0.01, 100), (0.001, 10)):
        loss += [nlp.rehearse(docs, sgd=sgd)["nm_parser"] for _ in range(times)]
    assert loss[0] > 20 > 1 > loss[-1]
    assert knows_the_trees(nlp)
