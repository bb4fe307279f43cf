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
    assert_sound,
    bare,
    gold_doc,
    learn,
    make_example,
    make_examples,
    make_nlp,
    train,
    tree,
)


def parse_of(example: Example) -> tuple[list, list, list]:
    return word_parse(example, parsed_tokens([example.predicted])[0])


def partial(nlp: Language, known: list[bool]) -> Example:
    """The sixth-word tree with the annotation of some words taken away."""
    gold = gold_doc(nlp.vocab, [1])
    heads = [t.head.i if known[t.i] else None for t in gold]
    deps = [t.dep_ if known[t.i] else None for t in gold]
    words = [t.text for t in gold]
    return Example.from_dict(
        Doc(nlp.vocab, words=words), {"words": words, "heads": heads, "deps": deps}
    )


def test_missing_words_are_unknown() -> None:
    nlp = make_nlp()
    example = partial(nlp, [True, True, False, True, False, True])
    heads, labels, _ = parse_of(example)
    assert heads == [1, 1, None, 2, None, 1]
    assert labels == ["nsubj", "ROOT", None, "cc", None, "punct"]


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
def test_sentence_starts_beside_unknown_words(
    heads: list[int | None], starts: list[bool | None]
) -> None:
    nlp = make_nlp()
    words = [f"w{i}" for i in range(len(heads))]
    deps = [None if head is None else "x" for head in heads]
    example = Example.from_dict(
        Doc(nlp.vocab, words=words), {"words": words, "heads": heads, "deps": deps}
    )
    assert parse_of(example)[::2] == (heads, starts)
    # Spaces without annotation do not make a document partial.
    spaced = [word for pair in zip(words, [" "] * len(words), strict=True) for word in pair]
    heads2 = [None if head is None else 2 * head for head in heads]
    heads2 = [head for pair in zip(heads2, [None] * len(heads), strict=True) for head in pair]
    deps2 = [dep for pair in zip(deps, [None] * len(deps), strict=True) for dep in pair]
    example = Example.from_dict(
        Doc(nlp.vocab, words=spaced), {"words": spaced, "heads": heads2, "deps": deps2}
    )
    found = parse_of(example)
    assert found[0] == heads
    assert found[2][1:] == starts[1:]


def test_partial_gold_is_learned_and_the_rest_is_free() -> None:
    nlp = make_nlp()
    known = [True, True, False, True, False, True]
    example = partial(nlp, known)
    other = make_examples(nlp.vocab, [[0], [1]])
    nlp.initialize(lambda: other)
    sgd = nlp.create_optimizer()
    learn(nlp, [example], sgd=sgd)
    full = gold_doc(nlp.vocab, [1])
    doc = nlp(bare(full))
    for i, is_known in enumerate(known):
        if is_known:
            assert (doc[i].head.i, doc[i].dep_) == (full[i].head.i, full[i].dep_)
    assert_sound(doc)


def test_what_is_unknown_costs_nothing() -> None:
    """A tree that agrees with the known part has nothing left to learn, whatever the rest is."""
    nlp = make_nlp(explore=1.0)
    learn(nlp, make_examples(nlp.vocab))
    parser = nlp.get_pipe("nm_parser")
    gold = gold_doc(nlp.vocab, [1])
    full = parser.update([make_example(gold)])["nm_parser"]
    for known in ([True] * 5 + [False], [False, True, False, True, True, True]):
        assert parser.update([partial(nlp, known)])["nm_parser"] <= full + 1e-3
    nothing = partial(nlp, [False] * 6)
    assert parse_of(nothing)[0] == [None] * 6
    assert parser.update([nothing])["nm_parser"] < 0.05


def test_heads_without_labels() -> None:
    nlp = make_nlp()
    words = ["a", "b", "c", "d"]
    heads = [1, 1, 1, 2]
    gold = Doc(nlp.vocab, words=words, heads=heads, deps=["dep"] * 4)
    learn(nlp, [make_example(gold), *make_examples(nlp.vocab, [[0]])])
    doc = nlp(bare(gold))
    assert [t.head.i for t in doc] == heads
    assert [t.dep_ for t in doc] == ["dep", "ROOT", "dep", "dep"]


def test_labels_without_heads_are_no_tree() -> None:
    """All words would be roots: at least nothing breaks."""
    nlp = make_nlp()
    words = ["a", "b", "c"]
    example = Example.from_dict(
        Doc(nlp.vocab, words=words), {"words": words, "deps": ["x", "ROOT", "y"]}
    )
    train(nlp, [example, *make_examples(nlp.vocab, [[0]])], steps=5)
    assert_sound(nlp(Doc(nlp.vocab, words=words)))


MISALIGNED: list[tuple[list[str], list[bool] | None, list[Any], list[Any]]] = [
    # predicted words, spaces, expected heads, expected labels
    (
        ["I", "like", "London", "and", "Berlin", "."],
        None,
        [1, 1, 1, 2, 2, 1],
        ["nsubj", "ROOT", "obj", "cc", "conj", "punct"],
    ),
    # many gold words to one
    (
        ["Ilike", "London", "and", "Berlin", "."],
        None,
        [None, None, 1, 1, None],
        [None, None, "cc", "conj", None],
    ),
    # one gold word to many
    (
        ["I", "like", "Lon", "don", "and", "Berlin", "."],
        [True, True, False, True, True, True, False],
        [1, 1, 1, 1, None, None, 1],
        ["nsubj", "ROOT", "obj", "obj", "cc", "conj", "punct"],
    ),
]


@pytest.mark.parametrize(("words", "spaces", "heads", "labels"), MISALIGNED)
def test_misaligned_gold(
    words: list[str], spaces: list[bool] | None, heads: list, labels: list
) -> None:
    nlp = make_nlp()
    gold = gold_doc(nlp.vocab, [1])
    if "Ilike" in words:
        gold_words = [t.text for t in gold]
        gold = Doc(
            nlp.vocab,
            words=gold_words,
            spaces=[False, *[True] * 4, False],
            heads=[t.head.i for t in gold],
            deps=[t.dep_ for t in gold],
        )
    example = Example(Doc(nlp.vocab, words=words, spaces=spaces), gold)
    found_heads, found_labels, _ = parse_of(example)
    for i, head in enumerate(heads):
        if head is not None:
            assert (found_heads[i], found_labels[i]) == (head, labels[i])
    if "Ilike" in words:
        assert found_heads[0] is None, "two words, two heads"
    learn(nlp, [example, *make_examples(nlp.vocab, [[0]])])
    doc = nlp(Doc(nlp.vocab, words=words, spaces=spaces))
    for i, head in enumerate(found_heads):
        if head is not None and found_labels[i] is not None:
            assert (doc[i].head.i, doc[i].dep_) == (head, found_labels[i])


def test_missing_words_of_misaligned_gold_are_unknown() -> None:
    nlp = make_nlp()
    words, deps = ["a", "b", "cd"], ["", "ROOT", "x"]
    gold = Doc(nlp.vocab, words=words, spaces=[True, True, False], heads=[1, 1, 1], deps=deps)
    split = Doc(nlp.vocab, words=["a", "b", "c", "d"], spaces=[True, True, False, False])
    assert parse_of(Example(split, gold))[:2] == ([None, 1, 1, 1], [None, "ROOT", "x", "x"])


def test_sentence_starts_of_misaligned_gold() -> None:
    nlp = make_nlp()
    gold = gold_doc(nlp.vocab, [0, 1])
    words = ["She", "saw", "the", "c", "at", ".", "I", "like", "London", "and", "Berlin", "."]
    spaces = [True, True, True, False, *[True] * 8]
    example = Example(Doc(nlp.vocab, words=words, spaces=spaces), gold)
    _, _, starts = parse_of(example)
    assert [i for i, start in enumerate(starts) if start] == [0, 6]
    learn(nlp, [example])
    doc = nlp(Doc(nlp.vocab, words=words, spaces=spaces))
    assert [t.i for t in doc if t.is_sent_start] == [0, 6]


def test_labels_that_the_parser_does_not_have() -> None:
    nlp = make_nlp()
    known = make_examples(nlp.vocab, [[0]])
    sgd = nlp.initialize(lambda: known)
    gold = gold_doc(nlp.vocab, [1])
    learn(nlp, [*known, make_example(gold)], sgd=sgd)
    assert "conj" not in nlp.get_pipe("nm_parser").labels
    doc = nlp(bare(gold))
    assert [t.head.i for t in doc] == [t.head.i for t in gold], "heads are learned without labels"
    assert set(t.dep_ for t in doc) <= set(nlp.get_pipe("nm_parser").labels)


def test_the_label_of_roots_on_a_word_with_a_head_is_unknown() -> None:
    nlp = make_nlp()
    nlp.initialize(lambda: make_examples(nlp.vocab))
    gold = Doc(nlp.vocab, words=["a", "b"], heads=[1, 1], deps=["ROOT", "ROOT"])
    example = make_example(gold)
    reader = nlp.get_pipe("nm_parser").gold_reader
    found = reader.read(example, *parsed_tokens([example.predicted])[:2])
    assert (found.heads, found.labels) == ((1, 1), (None, "ROOT"))


def cycle(nlp: Language, heads: list[int]) -> Example:
    n = len(heads)
    words = ["around", *(f"w{i}" for i in range(1, n))]
    # spaCy does not look for cycles when a Doc is made.
    return make_example(Doc(nlp.vocab, words=words, heads=heads, deps=["x"] * n))


@pytest.mark.parametrize("heads", [[2, 1, 0], [2, 3, 0, 3], [1, 2, 0, 3], [1, 0]])
@pytest.mark.parametrize("projectivize", [True, False])
def test_gold_with_a_cycle(heads: list[int], projectivize: bool) -> None:
    nlp = make_nlp(projectivize=projectivize)
    good = make_examples(nlp.vocab)
    sgd = nlp.initialize(lambda: good)
    parser = nlp.get_pipe("nm_parser")
    before = parser.to_bytes()
    bad = cycle(nlp, heads)
    with pytest.raises(ValueError, match=r"'nm_parser'.*around w1.*cycle.*Correct or remove"):
        parser.update([*good, bad], sgd=sgd)
    with pytest.raises(ValueError, match=r"'nm_parser'.*around w1.*cycle.*Correct or remove"):
        parser.initialize(lambda: [*good, bad], nlp=nlp)
    assert parser.to_bytes() == before
    assert parser.update(good, sgd=sgd)["nm_parser"] > 0


def test_several_roots_in_a_sentence() -> None:
    """spaCy makes a sentence of each root; where sentences are unknown, one root is enough."""
    nlp = make_nlp()
    words = ["a", "b", "c", "d"]
    gold = Doc(nlp.vocab, words=words, heads=[0, 0, 2, 2], deps=["ROOT", "x", "ROOT", "y"])
    example = make_example(gold)
    learn(nlp, [example])
    assert tree(nlp(bare(gold))) == tree(gold)
    doc = bare(gold)
    doc[2].is_sent_start = False
    nlp.update([Example(doc, gold)], sgd=nlp.create_optimizer())
    one = bare(gold)
    one[2].is_sent_start = False
    assert_sound(nlp(one))
    assert len(list(one.sents)) == 1


def test_interleaved_sentences() -> None:
    nlp = make_nlp()
    words = ["a", "b", "c", "d", "e", "f"]
    gold = Doc(
        nlp.vocab,
        words=words,
        heads=[0, 1, 0, 1, 0, 1],
        deps=["ROOT", "ROOT", "x", "y", "x", "y"],
    )
    heads, _, starts = parse_of(make_example(gold))
    assert starts[1] and heads == [0, 1, None, 1, None, 1]
    learn(nlp, [make_example(gold), *make_examples(nlp.vocab, [[0]])])
    doc = nlp(bare(gold))
    assert_sound(doc)
    assert [t.is_sent_start for t in doc][:2] == [True, True]
    behind = Doc(nlp.vocab, words=["a", "b", "c"], heads=[2, 1, 2], deps=["x", "ROOT", "ROOT"])
    assert parse_of(make_example(behind))[0] == [None, 1, 2]


def test_examples_without_annotation() -> None:
    nlp = make_nlp()
    examples = [make_example(Doc(nlp.vocab, words=["a", "b"])) for _ in range(3)]
    with pytest.raises(ValueError, match=r"'nm_parser'.*no dependency label.*3 examples"):
        nlp.initialize(lambda: examples)
    nlp = make_nlp()
    nlp.initialize()
    assert nlp.get_pipe("nm_parser").labels == ("ROOT", "dep")
    assert_sound(nlp("Some  words here"))


def test_few_labels_and_few_examples_with_label_data() -> None:
    """As with max_epochs = -1: initialize sees a few examples, the labels come from a file."""
    nlp = make_nlp()
    all_examples = make_examples(nlp.vocab)
    nlp.initialize(lambda: all_examples)
    data = nlp.get_pipe("nm_parser").label_data
    other = make_nlp()
    few = make_examples(other.vocab, [[0]])
    parser = other.get_pipe("nm_parser")
    parser.initialize(lambda: few, nlp=other, labels=data)
    assert parser.label_data == data
    examples = make_examples(other.vocab)
    sgd = other.create_optimizer()
    learn(other, examples, sgd=sgd)
    for example in examples:
        assert tree(other(bare(example.reference))) == tree(example.reference)


@pytest.mark.parametrize(
    "labels", [["a"], {"labels": "a"}, {}, "a", {"labels": ["a", 3]}, {"labels": [""]}]
)
def test_labels_that_are_no_label_data(labels: Any) -> None:
    nlp = make_nlp()
    examples = make_examples(nlp.vocab)
    with pytest.raises(ValueError, match=r"nm_parser.*init labels"):
        nlp.get_pipe("nm_parser").initialize(lambda: examples, nlp=nlp, labels=labels)


# Labels added by hand


def test_add_label_before_training() -> None:
    nlp = make_nlp()
    parser = nlp.get_pipe("nm_parser")
    assert parser.add_label("nsubj") == 1
    assert parser.add_label("nsubj") == 0
    assert parser.labels == ("ROOT", "nsubj", "dep")
    for bad in ("", None, 3):
        with pytest.raises(ValueError, match="nm_parser"):
            parser.add_label(bad)
    assert parser.is_resizable


def test_labels_added_before_initialize_are_kept() -> None:
    nlp = make_nlp()
    parser = nlp.get_pipe("nm_parser")
    parser.add_label("rare")
    examples = make_examples(nlp.vocab)
    nlp.initialize(lambda: examples)
    assert "rare" in parser.labels and "nsubj" in parser.labels


def test_add_label_after_training() -> None:
    nlp = make_nlp()
    examples = make_examples(nlp.vocab)
    sgd = nlp.initialize(lambda: examples)
    learn(nlp, examples, sgd=sgd)
    parser = nlp.get_pipe("nm_parser")
    trees = [tree(nlp(bare(eg.reference))) for eg in examples]
    old_labels = parser.labels
    weights = parser.model.get_param("label_W").copy()
    facts = parser.model.get_param("fact_rows").copy()
    assert parser.add_label("new") == 1
    assert parser.add_label("nsubj") == 0
    assert parser.labels == (*old_labels, "new")
    n = weights.shape[1]
    assert (parser.model.get_param("label_W")[:, :n] == weights).all()
    assert parser.model.get_param("fact_rows").shape[0] > facts.shape[0]
    assert [tree(nlp(bare(eg.reference))) for eg in examples] == trees
    gold = Doc(nlp.vocab, words=["brand", "new"], heads=[1, 1], deps=["new", "ROOT"])
    examples.append(make_example(gold))
    learn(nlp, examples, sgd=sgd)
    assert [t.dep_ for t in nlp(bare(gold))] == ["new", "ROOT"]
    assert [tree(nlp(bare(eg.reference))) for eg in examples[:-1]] == trees
    other = make_nlp()
    other.get_pipe("nm_parser").from_bytes(parser.to_bytes())
    assert [t.dep_ for t in other(bare(gold))] == ["new", "ROOT"]


def test_a_decorated_label_brings_its_plain_one() -> None:
    nlp = make_nlp()
    parser = nlp.get_pipe("nm_parser")
    parser.add_label("odd||ROOT")
    examples = make_examples(nlp.vocab, [[0]])
    parser.initialize(lambda: examples, nlp=nlp, labels={"labels": ["odd||ROOT"]})
    doc = nlp(bare(examples[0].reference))
    assert {t.dep_ for t in doc} <= {"ROOT", "odd", "dep"}
    assert parser.labels == ("ROOT", "odd", "dep")


# Rehearsal


def test_rehearsal_remembers() -> None:
    nlp = make_nlp()
    examples = make_examples(nlp.vocab)
    learn(nlp, examples, sgd=nlp.initialize(lambda: examples))
    parser = nlp.get_pipe("nm_parser")
    assert parser.rehearse(examples) == {"nm_parser": 0.0}, "nothing to remember yet"
    sgd = nlp.resume_training()
    assert parser._rehearsal_model is not None
    docs = [Example(bare(eg.reference), bare(eg.reference)) for eg in examples]
    assert nlp.rehearse(docs, sgd=None)["nm_parser"] < 5
    for name in ("move_W", "label_W"):  # what it forgets
        parser.model.set_param(name, 0 * parser.model.get_param(name))
    trees = [tree(eg.reference) for eg in examples]
    assert [tree(nlp(bare(eg.reference))) for eg in examples] != trees
    sgd.learn_rate = 0.01
    loss = [nlp.rehearse(docs, sgd=sgd)["nm_parser"] for _ in range(100)]
    sgd.learn_rate = 0.001
    loss += [nlp.rehearse(docs, sgd=sgd)["nm_parser"] for _ in range(10)]
    assert loss[0] > 20 > 1 > loss[-1]
    assert [tree(nlp(bare(eg.reference))) for eg in examples] == trees
