"""How sure the parser is of heads and labels."""

from __future__ import annotations

import math
import random
from copy import copy
from functools import partial
from typing import Any

import numpy
import pytest
from spacy.tokens import Doc, DocBin, Token
from spacy.vocab import Vocab

from spacy_nmparse.lab.probabilities import probabilities
from spacy_nmparse.pipe import component
from spacy_nmparse.pipe.annotations import Arcs, Parses
from spacy_nmparse.pipe.calibration import calibration_error, compare, fit_temperature
from spacy_nmparse.pipe.confidence import KEY, calibrated, confidences, register_extensions
from spacy_nmparse.pipe.words import Words
from spacy_nmparse.search import beam, greedy
from tests.naive.scorers import NaiveArcParser
from tests.pipe.common import (
    NL,
    SYSTEMS,
    bare,
    make_example,
    make_examples,
    make_nlp,
    merge_and_split,
    overfitted,
    parser_of,
    random_doc,
    random_parser,
    randomize,
    tree,
)

PARSERS = ("arc-eager", "arc-standard", "swap", "nl", "nl nonmonotonic", "arc-swift")


def unsure(seed: int = 2, scale: float = 0.25, **config: Any) -> Any:
    """A parser of random weights, to which no move is certain."""
    nlp = random_parser(seed, **config)
    randomize(parser_of(nlp).model, seed, scale)
    return nlp


def sure_of(doc: Doc) -> numpy.ndarray:
    found = confidences(doc)
    assert found is not None
    return found


def random_words(nlp: Any, n: int, seed: int | None = None) -> Doc:
    """A document without spaces."""
    return random_doc(nlp.vocab, random.Random(n if seed is None else seed), n, space=0)


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("width", [1, 4])
def test_a_label_without_another_is_sure(name: str, width: int) -> None:
    """With one label besides the root's, it is as sure as the head."""
    nlp = make_nlp(beam_width=width, confidence=True, projectivize=False, **SYSTEMS[name])
    examples = make_examples(nlp.vocab)
    for example in examples:
        for token in example.reference:
            token.dep_ = "ROOT" if token.head == token else "dep"
    nlp.initialize(lambda: examples)
    randomize(parser_of(nlp).model, 0, 0.25)
    for example in examples:
        doc = nlp(bare(example.reference))
        assert {t.dep_ for t in doc if t.head != t} <= {"dep"}
        assert sure_of(doc)[1] == pytest.approx(sure_of(doc)[0], abs=1e-6)


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("width", [1, 4])
def test_confidences(name: str, width: int) -> None:
    """The same trees, and a number for each token; spaces and documents of any length."""
    nlp = unsure(beam_width=width, **SYSTEMS[name])
    parser = parser_of(nlp)
    docs = [random_doc(nlp.vocab, random.Random(n), n) for n in (0, 1, 2, 30, 80)]
    docs.append(Doc(nlp.vocab, words=[" ", "\n"]))
    for doc in docs:
        off = parser(bare(doc))
        assert KEY not in off.user_data
        parser.confidence = True
        on = parser(bare(doc))
        parser.confidence = False
        assert tree(on) == tree(off)
        found = sure_of(on)
        assert found.shape == (2, len(doc))
        assert ((found > 0) & (found <= 1 + 1e-6)).all()
        assert (found[1] <= found[0]).all()
        assert [t._.head_confidence for t in on] == found[0].tolist()
        assert [t._.dep_confidence for t in on] == found[1].tolist()
        assert all(found[:, t.i].tolist() == [1, 1] for t in on if t.is_space)
        assert [t._.head_confidence for t in off] == [None] * len(doc)
        if len(doc) == 80:
            assert found[1].std() > 0.001 and found[1].mean() < found[0].mean()
        assert KEY not in parser(on).user_data  # of another tree


def test_other_tokens_have_no_confidence() -> None:
    """Also where there are as many as before."""
    nlp = unsure(confidence=True)
    doc = nlp("She saw the cat")
    sure_of(doc)
    merge_and_split(doc)
    assert len(doc) == 4 and confidences(doc) is None and doc[0]._.head_confidence is None
    assert sure_of(parser_of(nlp)(doc)).shape == (2, 4)


def changed(before: list[Any], after: list[Any]) -> set[int]:
    """Words that have another head."""
    return {word for word, head in enumerate(after) if head != before[word]}


class Way:
    """A sequence of moves.

    kept, attached, labels: float arrays (words,), of each word the probability of the moves that
    did not attach it though others would have; of the move that did; and of its label among those
    of the move, NaN where none was chosen.
    """

    def __init__(self, parser: Any, scored: Any, n: int, starts: list[int] | None = None) -> None:
        self.parser, self.scored, self.n = parser, scored, n
        self.state = parser.system.initial(n, starts)
        self.score = 0.0
        self.kept, self.attached, self.labels = numpy.ones((3, n))

    def actions(self) -> dict[Any, float]:
        """Logarithms of the probabilities of the legal actions, the best first."""
        self.scores = probabilities(self.parser.system, self.scored, 0, self.state)
        self.moves: dict[Any, float] = {}
        for action, (score, _) in self.scores.items():
            move = action[:2]
            self.moves[move] = self.moves.get(move, 0.0) + float(numpy.exp(score))
        return {one: self.scores[one][0] for one in sorted(self.scores, key=self.rank)}

    def rank(self, action: Any) -> tuple[float, float]:
        return -self.moves[action[:2]], -self.scores[action][0]

    def after(self, action: Any) -> Any:
        state = self.state.copy()
        self.parser.system.apply(state, action, push_label=self.scores[action][1])
        return state

    def follow(self, action: Any) -> Way:
        """The way that goes on with one of the ``actions``."""
        way = copy(self)
        arrays = (self.kept, self.attached, self.labels)
        way.kept, way.attached, way.labels = (array.copy() for array in arrays)
        way.score += self.scores[action][0]
        elsewhere = numpy.zeros(self.n)
        for move, share in self.moves.items():
            one = next(one for one in self.scores if one[:2] == move)
            for word in changed(self.state.heads, self.after(one).heads):
                elsewhere[word] += share
        way.state = self.after(action)
        taken = changed(self.state.heads, way.state.heads)
        for word in range(self.n):
            if word in taken:
                way.attached[word] = self.moves[action[:2]]
                way.labels[word] = numpy.exp(self.scores[action][0]) / way.attached[word]
                if action.move == "REDUCE":  # which gives the label noted before
                    way.labels[word] = numpy.nan
            elif action.move != "BREAK" or word != self.state.buffer[0]:
                way.kept[word] *= 1 - elsewhere[word]
        return way

    @property
    def heads(self) -> numpy.ndarray:
        return self.attached * self.kept


def replayed(parser: Any, scored: Any, n: int, starts: list[int] | None = None) -> Way:
    """Greedy search, move by move."""
    way = Way(parser, scored, n, starts)
    while not way.state.is_final:
        way = way.follow(next(iter(way.actions())))
    return way


def best_way(way: Way, best: Way | None = None) -> Way | None:
    """The likeliest of all that begin with this one, unless another is likelier."""
    if best is not None and way.score <= best.score:
        return best
    if way.state.is_final:
        return way
    for action in way.actions():
        best = best_way(way.follow(action), best)
    return best


def scored_by(parser: Any, doc: Doc) -> Any:
    return parser.score_moves(Words.of([doc]))


def check_shares(parser: Any, doc: Doc, way: Way) -> None:
    parsed = parser(doc)
    assert [t.head.i for t in parsed] == way.state.heads
    found = sure_of(parsed)
    chosen = ~numpy.isnan(way.labels)
    assert found[0] == pytest.approx(way.heads, abs=1e-4)
    assert found[1, chosen] == pytest.approx((way.heads * way.labels)[chosen], abs=1e-4)
    assert (found[1, ~chosen] < found[0, ~chosen]).all()


@pytest.mark.parametrize("name", ["monotonic", "arc-standard", "swap", "arc-swift"])
def test_shares_of_the_moves(name: str) -> None:
    """Greedy search: the probability that the word's head and label were decided as they were."""
    nlp = unsure(**SYSTEMS[name], projectivize=False, confidence=True)
    parser = parser_of(nlp)
    for n in (1, 3, 40):
        doc = random_words(nlp, n)
        check_shares(parser, doc, replayed(parser, scored_by(parser, doc), n))


def test_shares_of_completion() -> None:
    """The root among the headless words, and heads among those possible, by softmax."""
    nlp = random_parser(0, factory=NL, confidence=True)
    parser = parser_of(nlp)
    n = 8
    starts = [1] + [-1] * (n - 1)
    roots = others = 0
    for seed in range(20):
        randomize(parser.model, seed, 0.1)
        doc = Doc(nlp.vocab, [t.text for t in random_words(nlp, n, seed)], sent_starts=starts)
        way = replayed(parser, scored_by(parser, doc), n, starts)
        naive = NaiveArcParser(parser.model, parser.system)
        (vectors,) = parser.model.get_ref("tok2vec").predict([doc])
        heads, *_ = naive.parse(vectors, starts)
        if naive.gap < 1e-4:  # too close for floats
            continue
        expected = way.heads
        for word, share in naive.shares.items():
            assert way.state.heads[word] is None
            expected[word] *= share
            roots += heads[word] == word and share < 0.9
            others += heads[word] != word and share < 0.9
        parsed = parser(doc)
        assert [t.head.i for t in parsed] == heads
        assert sure_of(parsed)[0] == pytest.approx(expected, abs=1e-4)
    assert roots and others


@pytest.mark.parametrize("name", PARSERS)
def test_roots(name: str) -> None:
    """A root is as sure as the choice was; the only word of a sentence is."""
    nlp = unsure(0, 0.1, confidence=True, **SYSTEMS[name])
    doc = random_words(nlp, 60, 0)
    for token in doc:  # sentences of one to eleven words
        token.is_sent_start = token.i in (0, 1, 5, 6, 13, 24, 35, 46, 57)
    found = sure_of(parser_of(nlp)(doc))
    assert len(list(doc.sents)) == 9
    for sentence in doc.sents:
        share = found[0, sentence.root.i]
        if len(sentence) == 1:
            assert found[:, sentence.root.i].tolist() == [1, 1]
        else:
            assert 0 < share < 0.999, sentence.root.i


@pytest.mark.parametrize("name", PARSERS)
def test_beam_of_one(name: str) -> None:
    """It is as sure as greedy search, in windows and with several sentences in each too."""
    nlp = unsure(4, 0.15, **SYSTEMS[name])
    parser = parser_of(nlp)
    lengths = [1, 5, 150, 20]
    constraints = numpy.zeros(sum(lengths), dtype="int8")
    constraints[20::13] = 1
    scored = parser.score_moves(Words.of([random_words(nlp, n) for n in lengths]))
    found = numpy.zeros((2, 2, sum(lengths)), dtype="float32")
    expected = greedy.parse(parser.system, scored, lengths, constraints, probabilities=found[0])
    trees = beam.parse(parser.system, scored, lengths, constraints, 1, 10, probabilities=found[1])
    for one, other in zip(trees, expected, strict=True):
        assert one.tolist() == other.tolist()
    assert found[1] == pytest.approx(found[0], abs=1e-5)
    assert found[0].std() > 0.05


@pytest.mark.parametrize("name", ["monotonic", "swap"])
def test_shares_of_the_beam(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are those of the likeliest sequence of moves."""
    monkeypatch.setattr(component, "GAP", math.inf)
    nlp = random_parser(**SYSTEMS[name], projectivize=False, confidence=True, beam_width=100)
    parser = parser_of(nlp)
    others = 0
    for seed in range(8):
        randomize(parser.model, seed, 0.15)
        doc = random_words(nlp, 4, seed)
        scored = scored_by(parser, doc)
        best = best_way(Way(parser, scored, 4))
        assert best is not None
        check_shares(parser, doc, best)
        others += best.state.heads != replayed(parser, scored, 4).state.heads
    assert others


def test_confidences_travel_with_the_doc() -> None:
    nlp = unsure(confidence=True)
    texts = ["She saw the cat .", "", "I like London \n and Berlin ."]
    docs = list(nlp.pipe(texts))
    expected = [sure_of(doc).tolist() for doc in docs]
    packed = DocBin(docs=docs, store_user_data=True).to_bytes()
    for copies in (
        list(DocBin(store_user_data=True).from_bytes(packed).get_docs(nlp.vocab)),
        [Doc(nlp.vocab).from_bytes(doc.to_bytes()) for doc in docs],
        list(nlp.pipe(texts, n_process=2)),
    ):
        assert [sure_of(doc).tolist() for doc in copies] == expected
    assert expected[0][0] == [t._.head_confidence for t in docs[0]]
    part = docs[0][1:3].as_doc(copy_user_data=True)
    assert part[0]._.head_confidence is None  # not the whole document any more


def test_extensions_of_others_are_kept() -> None:
    """Ours are there while confidence is off, too."""
    for name in ("head_confidence", "dep_confidence"):
        if Token.has_extension(name):
            Token.remove_extension(name)
    token = random_parser(1)("She saw")[0]
    assert token._.head_confidence is token._.dep_confidence is None
    ours = Token.get_extension("head_confidence")
    register_extensions()
    assert Token.get_extension("head_confidence") == ours
    Token.set_extension("head_confidence", default=3, force=True)
    try:
        register_extensions()
        assert Doc(Vocab(), words=["a"])[0]._.head_confidence == 3
    finally:
        Token.set_extension("head_confidence", getter=ours[2], force=True)


@pytest.mark.parametrize("width", [1, 4])
def test_calibration(width: int) -> None:
    """A parser that has learned little by heart is not sure with good reason."""
    nlp = overfitted(beam_width=width)
    parser = parser_of(nlp)
    rng = random.Random(0)
    wrong = []
    for _ in range(30):  # what it could not know
        doc = random_doc(nlp.vocab, rng, 8, space=0)
        heads = [min(rng.randrange(8) * (rng.random() < 0.5), word) for word in range(8)]
        words = [t.text for t in doc]
        wrong.append(make_example(Doc(nlp.vocab, words=words, heads=heads, deps=["dep"] * 8)))
    before = parser.to_bytes()
    found = parser.calibrate(wrong)
    assert parser.to_bytes() != before
    for one in found.values():
        assert one.temperature > 1
        assert one.after < one.before - 0.1
    parser.confidence = True
    text = "the saw and cat She new"
    doc = nlp(text)
    again = random_parser(1, beam_width=width)
    parser_of(again).from_bytes(parser.to_bytes())
    parser_of(again).confidence = True
    assert sure_of(again(text)).tolist() == sure_of(doc).tolist()
    parser.cfg.pop("temperatures")
    assert (sure_of(nlp(text)) > sure_of(doc)).any()
    known = parser.calibrate(make_examples(nlp.vocab))
    assert known["head"].temperature < found["head"].temperature
    with pytest.raises(ValueError, match="cannot be calibrated"):
        parser.calibrate([make_example(Doc(nlp.vocab, words=["a"]))])


@pytest.mark.parametrize("bad", [[0, 1.0], [1.0, -1.0], [1.0], [1.0, float("nan")], "ab", None])
def test_temperatures_that_someone_has_set(bad: Any) -> None:
    """They are neither used nor saved, so that what is saved can be loaded."""
    nlp = random_parser(confidence=True)
    parser = parser_of(nlp)
    parser.cfg["temperatures"] = bad
    for use in (partial(nlp, "She saw"), parser.to_bytes):
        with pytest.raises(ValueError, match=r"takes two numbers, each between .* as temperatures"):
            use()


def test_temperatures() -> None:
    """With them, too, head and label are never surer than the head."""
    rng = numpy.random.RandomState(0)
    odds = rng.normal(0, 2, 20000)
    right = rng.rand(20000) < 1 / (1 + numpy.exp(-odds))
    for temperature in (0.5, 1.0, 3.0):
        shares = 1 / (1 + numpy.exp(-odds * temperature))  # too sure where above 1
        assert fit_temperature(shares, right) == pytest.approx(temperature, rel=0.05)
    shares = numpy.asarray([0.05, 0.15, 0.95, 1.0])
    error = calibration_error(shares, numpy.asarray([0, 1, 1, 0]))
    assert error == pytest.approx((0.05 + 0.85 + 0.95) / 4)
    head, both = calibrated(numpy.asarray([[0.9], [1.0]]), (3.0, 1.0))
    assert 0.5 < both == head < 0.9


def test_what_is_right_is_told_of_heads_and_of_heads_with_labels() -> None:
    gold = Doc(Vocab(), words=["a", "b", "c"], heads=[1, 1, 1], deps=["x", "ROOT", "x"])
    arrays = (numpy.asarray(x, dtype="int32") for x in ([1, 1, 0], [1, 2, 0], [1, 0, 0]))
    heads, labels, starts = arrays
    shares = numpy.full((2, 3), 0.5, dtype="float32")
    arcs = Arcs(heads, labels, starts.astype("int8"))
    parses = Parses(numpy.asarray([3]), numpy.arange(3, dtype="int32"), arcs, shares)
    for root, labelled in (("ROOT", [0, 1, 0]), ("ROOT||Pred", [0, 0, 0])):
        found = compare([make_example(gold)], parses, ["x", "y", root])
        assert found is not None and found.right.tolist() == [[1, 1, 0], labelled]
        assert found.said.tolist() == [[0.5] * 3, [0.25] * 3]
