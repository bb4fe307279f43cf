"""The scorer against spaCy's, against the CoNLL 2018 evaluation, and against counts by hand."""

from __future__ import annotations

import random
from typing import Any

import pytest
import spacy
from spacy.pipeline.dep_parser import parser_score
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_nmparse.pipe.evaluation import score_dependencies, sentence_counts
from spacy_nmparse.registered import make_parser_scorer
from tests.pipe.common import random_heads


def assert_as_spacy(examples: list[Example]) -> dict[str, Any]:
    scores = score_dependencies(examples)
    for key, value in parser_score(examples).items():
        if key == "dep_las_per_type":
            assert scores[key].keys() == value.keys()
            for label, prf in value.items():
                assert scores[key][label] == pytest.approx(prf), label
        else:
            assert scores[key] == pytest.approx(value), key
    return scores


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_spacy_on_full_gold(vocab: Vocab, seed: int) -> None:
    """With the CoNLL 2018 evaluation: tests/ud/test_conll18.py."""
    assert 0.2 < assert_as_spacy(random_examples(vocab, seed))["dep_las"] < 0.98


def test_other_tokens(vocab: Vocab) -> None:
    gold = make(
        vocab,
        [1, 4, 1, 4, 4, 4],
        ["case", "obl", "punct", "nsubj", "ROOT", "punct"],
        words=["do", "n't", ",", "cats", "sleep", "."],
        spaces=[False, False, True, True, False, False],
    )
    pred = make(
        vocab,
        [3, 0, 3, 3, 3, 4],
        ["obl", "punct", "nsubj", "ROOT", "punct", "punct"],
        words=["don't", ",", "cats", "sleep", ".", " "],
        spaces=[False, True, True, False, False, False],
    )
    scores = assert_as_spacy([Example(pred, gold)])
    # aligned: , cats sleep . ; right: cats, sleep and the full stop
    assert scores["dep_uas_conll"] == scores["dep_las_conll"] == pytest.approx(2 * 3 / (5 + 6))
    assert scores["dep_clas"] == pytest.approx(2 * 2 / (3 + 3)) and scores["dep_exact"] == 0


LABELS = ("nsubj", "obj", "punct", "acl:relcl", "case", "p", "obl", "Det")


@pytest.fixture(scope="module")
def vocab() -> Vocab:
    return Vocab()


def make(vocab: Vocab, heads: list[int], deps: list[str], **kwargs: Any) -> Doc:
    words = kwargs.pop("words", [f"w{i}" for i in range(len(heads))])
    return Doc(vocab, words=words, heads=heads, deps=deps, **kwargs)


def disturb(heads: list[int], deps: list[str], rng: random.Random) -> tuple[list[int], list[str]]:
    """Another tree that shares much with the given one."""
    heads, deps = list(heads), list(deps)
    for word in range(len(heads)):
        if rng.random() < 0.3:
            new = rng.randrange(len(heads))
            above = new
            while above != word and heads[above] != above:
                above = heads[above]
            if above != word and heads[word] != word:
                heads[word] = new
        if rng.random() < 0.2 and deps[word] != "ROOT":
            deps[word] = rng.choice(LABELS)
    return heads, deps


def random_examples(vocab: Vocab, seed: int, count: int = 40) -> list[Example]:
    rng = random.Random(seed)
    examples = []
    for _ in range(count):
        heads = random_heads(rng.randint(1, 12), rng)
        deps = ["ROOT" if head == i else rng.choice(LABELS) for i, head in enumerate(heads)]
        gold = make(vocab, heads, deps)
        examples.append(Example(make(vocab, *disturb(heads, deps, rng)), gold))
    return examples


def test_partial_gold_does_not_depend_on_order(vocab: Vocab) -> None:
    deps = ["ROOT", "obj", "obj", "obj"]
    flat = make(vocab, [0, 0, 0, 0], deps)
    full = Example(flat, make(vocab, [0, 0, 1, 1], deps))
    partial = Example(flat.copy(), make(vocab, [0, 0, 2, 3], ["ROOT", "obj", "", ""]))
    orders = [[full, partial], [partial, full]]
    assert parser_score(orders[0])["dep_uas"] != parser_score(orders[1])["dep_uas"]  # the leak
    for order in orders:
        scores = score_dependencies(order)
        # 4 words of the full document with 2 heads right, 2 of the partial one with both right
        for key in ("dep_uas", "dep_las", "dep_uas_conll", "dep_las_conll"):
            assert scores[key] == pytest.approx(4 / 6), key
        assert scores["dep_exact"] == pytest.approx(1 / 2)


def test_wrong_guesses_on_unknown_words_do_not_count(vocab: Vocab) -> None:
    gold = make(vocab, [0, 0, 2], ["ROOT", "obj", ""], words=["a", "b", "cd"])
    for words, heads in ((["a", "b", "cd"], [0, 0, 1]), (["a", "b", "c", "d"], [0, 0, 1, 1])):
        deps = ["ROOT", "obj", "nsubj", "nsubj"][: len(words)]
        spaces = [True, True, False, False][: len(words)]
        pred = make(vocab, heads, deps, words=words, spaces=spaces)
        scores = score_dependencies([Example(pred, gold)])
        for key in ("dep_uas", "dep_las", "dep_uas_conll", "dep_las_conll", "dep_exact"):
            assert scores[key] == 1, (key, words)


def test_nothing_to_score(vocab: Vocab) -> None:
    """Without gold. Missing predictions are wrong."""
    nlp = spacy.blank("xx")
    bare = Example(nlp.make_doc("no parse here"), nlp.make_doc("no parse here"))
    empty = Example(nlp.make_doc(""), nlp.make_doc(""))
    gold, unparsed = make(vocab, [0, 0], ["ROOT", "obj"]), Doc(vocab, words=["w0", "w1"])
    for examples in ([], [empty], [bare], [Example(gold, unparsed)], [bare, empty]):
        scores = score_dependencies(examples)
        assert {key for key, value in scores.items() if value is not None} == set(), examples
    scores = score_dependencies([Example(unparsed, gold)])
    assert scores["dep_las"] == parser_score([Example(unparsed, gold)])["dep_las"] == 0
    assert scores["dep_uas_conll"] == scores["dep_exact"] == 0


def test_exact_sentences_and_counts(vocab: Vocab) -> None:
    """Whitespace does not count."""
    heads, deps = [1, 1, 3, 3, 3], ["nsubj", "ROOT", "nsubj", "ROOT", "punct"]
    example = Example(make(vocab, heads, [*deps[:4], "obj"]), make(vocab, heads, deps))
    assert score_dependencies([example])["dep_exact"] == 0.5
    counts = [(count.words, count.heads, count.labelled) for count in sentence_counts(example)]
    assert counts == [(2, 2, 2), (3, 3, 2)]
    gold = make(vocab, [0, 0, 0], ["ROOT", "dep", "obj"], words=["a", "\n\n", "b"])
    pred = make(vocab, [0, 2, 0], ["ROOT", "nsubj", "obj"], words=["a", "\n\n", "b"])
    scores = score_dependencies([Example(pred, gold)])
    assert scores["dep_las_conll"] == scores["dep_exact"] == 1
    assert [count.words for count in sentence_counts(Example(pred, gold))] == [2]


def test_crossing_arcs(vocab: Vocab) -> None:
    # 0 -> 2 and 3 -> 1 cross; the root is 3, and 0 hangs off it
    gold, flat = (
        make(vocab, heads, ["obj", "obj", "obj", "ROOT"]) for heads in ([3, 3, 0, 3], [3, 3, 3, 3])
    )
    for pred, reference, expected in (
        (gold.copy(), gold, (1, 1, 1)),
        (flat, gold, (None, 0, 0)),
        (gold.copy(), flat, (0, None, 0)),
    ):
        scores = score_dependencies([Example(pred, reference)])
        found = [scores[f"nonproj_{key}"] for key in "prf"]
        assert found[:2] == [*expected[:2]] and (found[2] == expected[2] or reference is flat)
    for word, dep, recall in (("b", "ROOT", 1), (" ", "ROOT", None), ("b", "", None)):
        # an arc over a root, over a space, over a word whose head is unknown
        over = make(vocab, [0, 1, 0], ["ROOT", dep, "obj"], words=["a", word, "c"])
        assert score_dependencies([Example(over.copy(), over)])["nonproj_r"] == recall


def test_swallows_settings(vocab: Vocab) -> None:
    examples = random_examples(vocab, 0, 5)
    scores = make_parser_scorer()(
        examples, labels=("a",), getter=None, attr="x", ignore_labels=(), beam_width=4
    )
    assert scores == score_dependencies(iter(examples))


def test_punctuation_is_left_out(vocab: Vocab) -> None:
    words, deps = ["a", "b", ".", "!"], ["obj", "ROOT", "punct", "dep"]
    pos = ["NOUN", "VERB", "PUNCT", "PUNCT"]
    gold = Doc(vocab, words=words, heads=[1, 1, 1, 1], deps=deps, pos=pos)
    right = Doc(vocab, words=words, heads=[1, 1, 0, 1], deps=deps)  # but for one
    wrong = Doc(vocab, words=words, heads=[0, 0, 0, 0], deps=["ROOT", "obj", "punct", "dep"])
    for pred, punctuation, uas, exact in (
        *((right, False, 1, 1), (right, True, 0.75, 0), (wrong, False, 0, 0)),
    ):
        scores = make_parser_scorer(punctuation=punctuation)([Example(pred, gold)])
        assert (scores["dep_uas_conll"], scores["dep_exact"]) == (uas, exact)
        assert scores["dep_las_conll"] == uas
    (counts,) = sentence_counts(Example(right, gold), punctuation=False)
    assert (counts.words, counts.heads, counts.labelled) == (2, 2, 2)
    dots = Doc(vocab, words=["."], heads=[0], deps=["ROOT"], pos=["PUNCT"])
    assert sentence_counts(Example(dots.copy(), dots), punctuation=False) == []
