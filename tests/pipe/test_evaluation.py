"""The scorer against spaCy's, against the CoNLL 2018 evaluation, and against counts by hand."""

from __future__ import annotations

import io
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

LABELS = ("nsubj", "obj", "punct", "acl:relcl", "case", "p", "obl", "Det")


@pytest.fixture(scope="module")
def vocab() -> Vocab:
    return Vocab()


def make(vocab: Vocab, heads: list[int], deps: list[str], **kwargs: Any) -> Doc:
    words = kwargs.pop("words", [f"w{i}" for i in range(len(heads))])
    return Doc(vocab, words=words, heads=heads, deps=deps, **kwargs)


def random_tree(n: int, rng: random.Random) -> tuple[list[int], list[str]]:
    heads = random_heads(n, rng)
    return heads, ["ROOT" if heads[i] == i else rng.choice(LABELS) for i in range(n)]


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
        heads, deps = random_tree(rng.randint(1, 12), rng)
        gold = make(vocab, heads, deps)
        examples.append(Example(make(vocab, *disturb(heads, deps, rng)), gold))
    return examples


def assert_as_spacy(examples: list[Example]) -> dict[str, Any]:
    expected = parser_score(examples)
    scores = score_dependencies(examples)
    for key, value in expected.items():
        if key == "dep_las_per_type":
            assert scores[key].keys() == value.keys()
            for label, prf in value.items():
                assert scores[key][label] == pytest.approx(prf), label
        else:
            assert scores[key] == pytest.approx(value), key
    return expected


def conllu(docs: list[Doc]) -> io.StringIO:
    lines = []
    for doc in docs:
        for token in doc:
            head = 0 if token.head.i == token.i else token.head.i + 1
            dep = token.dep_.lower()
            misc = "_" if token.whitespace_ else "SpaceAfter=No"
            fields = (token.i + 1, token.text, "_", "_", "_", "_", head, dep, "_", misc)
            lines.append("\t".join(map(str, fields)))
        lines.append("")
    return io.StringIO("\n".join(lines) + "\n")


def conll_scores(gold: list[Doc], pred: list[Doc]) -> dict[str, float]:
    udeval = pytest.importorskip("udtools.udeval", reason="needs the package udtools")
    options = {"multiple_roots_okay": True}
    sides = [udeval.load_conllu(conllu(docs), "", options) for docs in (gold, pred)]
    return {key: score.f1 for key, score in udeval.evaluate(*sides).items()}


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_spacy_on_full_gold(vocab: Vocab, seed: int) -> None:
    expected = assert_as_spacy(random_examples(vocab, seed))
    assert 0.2 < expected["dep_las"] < 0.98


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_conll_2018(vocab: Vocab, seed: int) -> None:
    examples = random_examples(vocab, seed)
    expected = conll_scores([eg.reference for eg in examples], [eg.predicted for eg in examples])
    scores = score_dependencies(examples)
    assert scores["dep_uas_conll"] == pytest.approx(expected["UAS"])
    assert scores["dep_las_conll"] == pytest.approx(expected["LAS"])
    assert scores["dep_clas"] == pytest.approx(expected["CLAS"])
    assert expected["LAS"] < expected["UAS"] < 1


def test_agrees_with_both_on_other_tokens(vocab: Vocab) -> None:
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
    scores = score_dependencies([Example(pred, gold)])
    assert_as_spacy([Example(pred, gold)])
    expected = conll_scores([gold], [pred[:5].as_doc()])
    # aligned: , cats sleep . ; right: cats, sleep and the full stop
    assert scores["dep_uas_conll"] == pytest.approx(2 * 3 / (5 + 6))
    for key, name in (("dep_uas_conll", "UAS"), ("dep_las_conll", "LAS"), ("dep_clas", "CLAS")):
        assert scores[key] == pytest.approx(expected[name])
    assert scores["dep_exact"] == 0


def test_partial_gold_does_not_depend_on_order(vocab: Vocab) -> None:
    full = Example(
        make(vocab, [0, 0, 0, 0], ["ROOT", "obj", "obj", "obj"]),
        make(vocab, [0, 0, 1, 1], ["ROOT", "obj", "obj", "obj"]),
    )
    partial = Example(
        make(vocab, [0, 0, 0, 0], ["ROOT", "obj", "obj", "obj"]),
        make(vocab, [0, 0, 2, 3], ["ROOT", "obj", "", ""]),
    )
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
    nlp = spacy.blank("xx")
    bare = Example(nlp.make_doc("no parse here"), nlp.make_doc("no parse here"))
    empty = Example(nlp.make_doc(""), nlp.make_doc(""))
    predicted = Example(make(vocab, [0, 0], ["ROOT", "obj"]), Doc(vocab, words=["w0", "w1"]))
    for examples in ([], [empty], [bare], [predicted], [bare, empty]):
        scores = score_dependencies(examples)
        assert {key for key, value in scores.items() if value is not None} == set(), examples


def test_missing_predictions_are_wrong(vocab: Vocab) -> None:
    gold = make(vocab, [0, 0, 1], ["ROOT", "obj", "nsubj"])
    pred = Doc(vocab, words=[token.text for token in gold])
    scores = score_dependencies([Example(pred, gold)])
    expected = parser_score([Example(pred, gold)])
    assert scores["dep_las"] == expected["dep_las"] == 0
    assert scores["dep_uas_conll"] == 0
    assert scores["dep_exact"] == 0


def test_exact_sentences_and_counts(vocab: Vocab) -> None:
    heads, deps = [1, 1, 3, 3, 3], ["nsubj", "ROOT", "nsubj", "ROOT", "punct"]
    gold = make(vocab, heads, deps)
    wrong = make(vocab, heads, [*deps[:4], "obj"])
    example = Example(wrong, gold)
    assert score_dependencies([example])["dep_exact"] == 0.5
    counts = [(count.words, count.heads, count.labelled) for count in sentence_counts(example)]
    assert counts == [(2, 2, 2), (3, 3, 2)]


def test_whitespace_tokens_do_not_count(vocab: Vocab) -> None:
    words = ["a", "\n\n", "b"]
    gold = make(vocab, [0, 0, 0], ["ROOT", "dep", "obj"], words=words)
    pred = make(vocab, [0, 2, 0], ["ROOT", "nsubj", "obj"], words=words)
    example = Example(pred, gold)
    scores = score_dependencies([example])
    assert scores["dep_las_conll"] == scores["dep_exact"] == 1
    assert [count.words for count in sentence_counts(example)] == [2]


def test_crossing_arcs(vocab: Vocab) -> None:
    # 0 -> 2 and 3 -> 1 cross; the root is 3, and 0 hangs off it
    gold = make(vocab, [3, 3, 0, 3], ["obj", "obj", "obj", "ROOT"])
    right = score_dependencies([Example(gold.copy(), gold)])
    assert (right["nonproj_p"], right["nonproj_r"], right["nonproj_f"]) == (1, 1, 1)
    flat = make(vocab, [3, 3, 3, 3], ["obj", "obj", "obj", "ROOT"])
    missed = score_dependencies([Example(flat, gold)])
    assert (missed["nonproj_p"], missed["nonproj_r"], missed["nonproj_f"]) == (None, 0, 0)
    invented = score_dependencies([Example(gold.copy(), flat)])
    assert (invented["nonproj_p"], invented["nonproj_r"]) == (0, None)
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
    right_but_for_one = Doc(vocab, words=words, heads=[1, 1, 0, 1], deps=deps)
    wrong_word = Doc(vocab, words=words, heads=[0, 0, 0, 0], deps=["ROOT", "obj", "punct", "dep"])
    scores = make_parser_scorer(punctuation=False)([Example(right_but_for_one, gold)])
    assert (scores["dep_uas_conll"], scores["dep_las_conll"], scores["dep_exact"]) == (1, 1, 1)
    scores = make_parser_scorer()([Example(right_but_for_one, gold)])
    assert (scores["dep_uas_conll"], scores["dep_exact"]) == (0.75, 0)
    scores = make_parser_scorer(punctuation=False)([Example(wrong_word, gold)])
    assert scores["dep_uas_conll"] == 0
    (counts,) = sentence_counts(Example(right_but_for_one, gold), punctuation=False)
    assert (counts.words, counts.heads, counts.labelled) == (2, 2, 2)
    dots = Doc(vocab, words=["."], heads=[0], deps=["ROOT"], pos=["PUNCT"])
    assert sentence_counts(Example(dots.copy(), dots), punctuation=False) == []
