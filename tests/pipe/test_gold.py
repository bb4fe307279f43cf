"""Learning from gold that is partial, misaligned, odd or wrong."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy
import pytest
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from spacy.vocab import Vocab

from spacy_nmparse.lab.beam.learning import BeamLearning
from spacy_nmparse.pipe.doc_io import parsed_tokens
from spacy_nmparse.pipe.gold import word_parse
from spacy_nmparse.pipe.learning import GreedyLearning
from tests.pipe.common import (
    NL,
    NM,
    SYSTEMS,
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
    random_doc,
    randomize,
    ready,
    system,
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


def words_of(doc: Doc) -> list[tuple[int, str, bool]]:
    """Head, label and start of each word of a parse."""
    return list(zip(*parse_of(make_example(doc)), strict=True))


def columns(heads: str, deps: str) -> tuple[list[int | None], list[str | None]]:
    """Heads and labels, where "_" is unknown."""
    numbers = [None if head == "_" else int(head) for head in heads.split()]
    return numbers, [None if dep == "_" else dep for dep in deps.split()]


def example_of(vocab: Vocab, words: str, heads: str, deps: str, parsed: str = "") -> Example:
    """A gold tree over words, and perhaps other words that are parsed."""
    numbers, labels = columns(heads, deps)
    gold = words.split(" ")
    predicted = Doc(vocab, words=(parsed or words).split(" "))
    if None in numbers:
        return Example.from_dict(predicted, {"words": gold, "heads": numbers, "deps": labels})
    labels = [label or "" for label in labels]
    return Example(predicted, Doc(vocab, words=gold, heads=numbers, deps=labels))


CAT = ("She saw the cat .", "1 1 3 1 1", "nsubj ROOT det obj punct")
BERLIN = ("I like London and Berlin .", "1 1 1 2 2 1", "nsubj ROOT obj cc conj punct")
TWO = (
    "She saw the cat . I like London and Berlin .",
    "1 1 3 1 1 6 6 6 7 7 6",
    "nsubj ROOT det obj punct nsubj ROOT obj cc conj punct",
)


class Read(NamedTuple):
    """A gold tree and what is read of it: empty where that is the same."""

    gold: tuple[str, str, str]
    parsed: str = ""  # words
    heads: str = ""
    labels: str = ""
    starts: tuple[int, ...] = (0,)


READ = {
    "whole": Read(BERLIN),
    "partial": Read((BERLIN[0], "1 1 _ 2 _ 1", "nsubj ROOT _ cc _ punct")),
    "two words to one: two heads": Read(
        BERLIN, "Ilike London and Berlin .", "_ 0 1 1 0", "_ obj cc conj punct"
    ),
    "one word to two": Read(
        BERLIN,
        parsed="I like Lon don and Berlin .",
        heads="1 1 1 1 _ _ 1",
        labels="nsubj ROOT obj obj cc conj punct",
    ),
    "one word to two, a label missing": Read(
        ("a b cd", "1 1 1", "_ ROOT x"), "a b c d", "_ 1 1 1", "_ ROOT x x"
    ),
    "starts behind one word to two": Read(
        TWO,
        parsed="She saw the c at . I like London and Berlin .",
        heads="1 1 _ 1 1 1 7 7 7 8 8 7",
        labels="nsubj ROOT det obj obj punct " + BERLIN[2],
        starts=(0, 6),
    ),
    "several roots": Read(("a b c d", "0 0 2 2", "ROOT x ROOT y"), starts=(0, 2)),
    "interleaved": Read(
        ("a b c d e f", "0 1 0 1 0 1", "ROOT ROOT x y x y"), heads="0 1 _ 1 _ 1", starts=(0, 1)
    ),
    # What stands on a space is unknown, a start on it is that of the next word.
    "below a space": Read(
        ("\n Sleep \t ! \n", "0 0 1 2 3", "ROOT obj dep punct dep"), heads="_ _", labels="obj punct"
    ),
    "spaces that are well attached": Read(
        ("\n Sleep \t ! \n Yes", "1 1 1 1 3 5", "dep ROOT dep punct dep ROOT"),
        heads="0 0 2",
        labels="ROOT punct ROOT",
        starts=(0, 2),
    ),
    "starts on spaces": Read(
        ("Sleep ! \n \n Yes Sleep !", "0 0 4 4 4 5 5", "ROOT punct dep dep ROOT ROOT punct"),
        heads="0 0 2 3 3",
        labels="ROOT punct ROOT ROOT punct",
        starts=(0, 2, 3),
    ),
    "spaces in what is parsed": Read(
        CAT, "She \n saw the \n cat . \t", heads=CAT[1], labels=CAT[2]
    ),
    "spaces in the gold tree": Read(
        ("She \t saw the cat .", "2 0 2 4 2 2", "nsubj dep ROOT det obj punct"), *CAT
    ),
}


@pytest.mark.parametrize("case", READ)
def test_what_is_read_is_learned(nlp: Language, case: str) -> None:
    """And what is not, is free: it costs nothing, and trees are sound."""
    gold, parsed, heads, labels, starts = READ[case]
    example = example_of(nlp.vocab, *gold, parsed)
    found = parse_of(example)
    assert found[:2] == columns(heads or gold[1], labels or gold[2])
    assert [word for word, start in enumerate(found[2]) if start] == [*starts]
    learn(nlp, [example, *make_examples(nlp.vocab, [[0]])])
    doc = nlp(bare(example.predicted))
    assert_sound(doc)
    for known, said in zip(zip(*found, strict=True), words_of(doc), strict=True):
        assert known[0] is None or known[:2] == said[:2]
        assert known[2] in (None, said[2])


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


def test_what_is_unknown_costs_nothing() -> None:
    """A tree that agrees with the known part has nothing left to learn, whatever the rest is."""
    nlp, examples, sgd = ready(explore=1.0)
    learn(nlp, examples, sgd=sgd)
    parser = parser_of(nlp)
    full = parser.update([make_example(gold_doc(nlp.vocab, [1]))])["nm_parser"]
    for heads, deps in (
        ("1 1 1 2 2 _", "nsubj ROOT obj cc conj _"),
        ("_ 1 _ 2 2 1", "_ ROOT _ cc conj punct"),
    ):
        example = example_of(nlp.vocab, BERLIN[0], heads, deps)
        assert parser.update([example])["nm_parser"] <= full + 1e-3


SYSTEM_NAMES = ("arc-eager", "arc-standard", "swap", "arc-swift", "covington", "nl")


@pytest.mark.parametrize(
    ("name", "oracle"),
    [
        (name, oracle)
        for name in SYSTEM_NAMES
        for oracle in registry.resolve({"one": SYSTEMS[name]["system"]})["one"].create(None).oracles
    ],
)
def test_nothing_is_learned_from_documents_without_trees(name: str, oracle: str) -> None:
    """No oracle and no search makes up what is unknown."""
    nlp, examples, sgd = ready(**SYSTEMS[name], oracle=oracle)
    parser: Any = parser_of(nlp)
    plain = [Example(bare(eg.reference), bare(eg.reference)) for eg in examples]
    for learning in (GreedyLearning(oracle, 0.5), BeamLearning(oracle, 0.5)):
        parser.learning = learning
        nlp.update(examples, sgd=sgd)
        assert parser.update(plain, sgd=False)[parser.name] == pytest.approx(0.0, abs=1e-4)
        for node in parser.model.walk():
            for key in node.param_names:
                if node.has_grad(key):
                    assert numpy.abs(node.get_grad(key)).max() < 1e-5, (node.name, key)


def test_labels_without_heads(nlp: Language) -> None:
    """Of labels alone, all words would be roots: nothing breaks."""
    words = ["a", "b", "c"]
    alone = Example.from_dict(nlp.make_doc("a b c"), {"words": words, "deps": ["x", "ROOT", "y"]})
    train(nlp, [*make_examples(nlp.vocab, [[0], [1]]), alone], steps=5)
    assert_sound(nlp("a b c"))


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


def test_where_sentences_are_unknown_one_root_is_enough(nlp: Language) -> None:
    """spaCy makes a sentence of each root."""
    gold = doc_of(nlp, [0, 0, 2, 2], "ROOT x ROOT y")
    sgd = nlp.initialize(lambda: [make_example(gold)])
    doc, one = bare(gold), bare(gold)
    doc[2].is_sent_start = one[2].is_sent_start = False
    nlp.update([Example(doc, gold)], sgd=sgd)
    assert_sound(nlp(one))
    assert len(list(one.sents)) == 1
    interleaved = make_example(doc_of(nlp, [2, 1, 2], "x ROOT ROOT"))
    assert parse_of(interleaved)[0] == [None, 1, 2]


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


@pytest.mark.parametrize(
    "options", [{}, {"nonmonotonic": True, "explicit_root": False}, {"max_length": 2}]
)
def test_rehearsal_of_list_systems(options: dict[str, Any]) -> None:
    """What completion gives is learned like any tree; arcs that are too long are given up."""
    nlp = overfitted(factory=NL, system=system("NLCovington", **options))
    parser = parser_of(nlp)
    sgd = nlp.resume_training()
    randomize(parser._rehearsal_model, 5, 0.3)
    rng = random.Random(0)
    docs = [random_doc(nlp.vocab, rng, n) for n in (0, 1, 5, 20)]
    before = parser.to_bytes()
    losses = [parser.rehearse([make_example(doc) for doc in docs], sgd=sgd)[NL] for _ in range(30)]
    assert parser.to_bytes() != before
    assert numpy.isfinite(losses).all() and losses[-1] < losses[0]
    if "max_length" in options:
        seen: list[Any] = []
        parser._rollout = lambda scorer, batch, *_: (seen.extend(batch.golds), 1 / 0)
        with pytest.raises(ZeroDivisionError):
            parser.rehearse([make_example(random_doc(nlp.vocab, rng, 40, space=0))])
        (gold,) = seen
        assert None in gold.heads, "no arc of the tree is too long"
        assert all(head is None or abs(head - w) <= 2 for w, head in enumerate(gold.heads))
