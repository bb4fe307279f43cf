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

from spacy_nmparse.pipe import component
from spacy_nmparse.pipe.annotations import Arcs, Parses
from spacy_nmparse.pipe.calibration import calibration_error, compare, fit_temperature
from spacy_nmparse.pipe.confidence import KEY, calibrated, confidences, register_extensions
from spacy_nmparse.pipe.words import Words
from spacy_nmparse.search import beam, greedy
from tests.pipe.common import (
    NL,
    NM,
    SYSTEMS,
    arc_model_config,
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


def unsure(**config: Any) -> Any:
    nlp = random_parser(2, **config)
    randomize(parser_of(nlp).model, 2, 0.25)
    return nlp


def found_in(doc: Doc) -> numpy.ndarray:
    found = confidences(doc)
    assert found is not None
    return found


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
    docs = [nlp(bare(example.reference)) for example in examples]
    assert {t.dep_ for doc in docs for t in doc if t.head != t} == {"dep"}
    for doc in docs:
        found = found_in(doc)
        assert found[1] == pytest.approx(found[0], abs=1e-6)


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
        found = found_in(on)
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
    found_in(doc)
    merge_and_split(doc)
    assert len(doc) == 4 and confidences(doc) is None and doc[0]._.head_confidence is None
    assert found_in(parser_of(nlp)(doc)).shape == (2, 4)


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
        self.scores = beam.probabilities(self.parser.system, self.scored, 0, self.state)
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
    found = found_in(parsed)
    chosen = ~numpy.isnan(way.labels)
    assert found[0] == pytest.approx(way.heads, abs=1e-4)
    assert found[1, chosen] == pytest.approx((way.heads * way.labels)[chosen], abs=1e-4)
    assert (found[1, ~chosen] < found[0, ~chosen]).all()


@pytest.mark.parametrize("system", ["ArcEager", "ArcStandard", "SwapStandard", "ArcSwift"])
def test_shares_of_the_moves(system: str) -> None:
    """Greedy search: the probability that the word's head and label were decided as they were."""
    nlp = unsure(
        factory=NL if system == "ArcSwift" else NM,
        system={"@misc": f"spacy_nmparse.{system}.v1"},
        projectivize=False,
        confidence=True,
    )
    parser = parser_of(nlp)
    for n in (1, 3, 40):
        doc = random_doc(nlp.vocab, random.Random(n), n, space=0)
        check_shares(parser, doc, replayed(parser, scored_by(parser, doc), n))


def likings(parser: Any, scored: Any, n: int) -> numpy.ndarray:
    """How far the arc from each word (n: from ROOT) to each word is scored above SHIFT, where the
    scorer looks at no arcs: float (heads, dependents)."""
    found = numpy.full((n + 1, n), numpy.nan)
    state = parser.system.initial(n)
    for j in range(n):
        totals: dict[Any, float] = {}
        for action, (score, _) in beam.probabilities(parser.system, scored, 0, state).items():
            move = action[:2]
            totals[move] = totals.get(move, 0.0) + float(numpy.exp(score))
        shift = totals.pop(("SHIFT", 1))
        for (name, k), share in totals.items():
            if name == "RIGHT-ARC":
                found[j - k if k <= j else n, j] = numpy.log(share / shift)
            elif name == "LEFT-ARC":
                found[j, j - k] = numpy.log(share / shift)
        shift_action = next(one for one in parser.system.actions(state) if one.move == "SHIFT")
        parser.system.apply(state, shift_action)
    return found


def completed(heads: list[int | None], likes: numpy.ndarray) -> dict[int, float]:
    """Complete a tree, which is changed: the best root, then the best heads.

    Returns: by word that got a head, its probability among those (or the roots) to choose from.
    """
    n = len(heads)
    shares: dict[int, float] = {}

    def choose(options: list[int], scores: list[float]) -> tuple[int, float, float]:
        best = int(numpy.argmax(scores))
        return options[best], scores[best], float(1 / numpy.exp(scores - numpy.max(scores)).sum())

    def above(word: int, below: int) -> bool:
        while below != word:
            head = heads[below]
            if head is None or head == below:
                return False
            below = head
        return True

    if all(head != word for word, head in enumerate(heads)):
        open_words = [word for word, head in enumerate(heads) if head is None]
        root, _, share = choose(open_words, [likes[n, word] for word in open_words])
        heads[root] = root
        shares[root] = share

    def choose_head(word: int) -> tuple[int, float, float]:
        options = [head for head in range(n) if not above(word, head)]
        return choose(options, [likes[head, word] for head in options])

    choices = {word: choose_head(word) for word, head in enumerate(heads) if head is None}
    while choices:
        word = max(choices, key=lambda one: choices[one][1])
        if above(word, choices[word][0]):  # an arc made meanwhile has put it below
            choices[word] = choose_head(word)
        else:
            heads[word], _, shares[word] = choices.pop(word)
    return shares


def test_shares_of_completion() -> None:
    """The root among the headless words, and heads among those possible, by softmax."""
    no_arcs = {"context": ["B0", "B1", "I1", "B0*I1"], "pair": ["H", "D", "H*D"], "label": ["D"]}
    model = arc_model_config(features=no_arcs, n_pairs=0)  # all arcs are scored in full
    nlp = random_parser(0, factory=NL, model=model, confidence=True)
    parser = parser_of(nlp)
    n = 8
    starts = [1] + [-1] * (n - 1)
    roots = others = 0
    for seed in range(20):
        randomize(parser.model, seed, 0.1)
        doc = random_doc(nlp.vocab, random.Random(seed), n, space=0)
        for token in doc:
            token.is_sent_start = starts[token.i] == 1
        scored = scored_by(parser, doc)
        way = replayed(parser, scored, n, starts)
        expected, heads = way.heads, way.state.heads
        for word, share in completed(heads, likings(parser, scored, n)).items():
            assert way.state.heads[word] is None
            expected[word] *= share
            roots += heads[word] == word and share < 0.9
            others += heads[word] != word and share < 0.9
        parsed = parser(doc)
        assert [t.head.i for t in parsed] == heads
        assert found_in(parsed)[0] == pytest.approx(expected, abs=1e-4)
    assert roots and others


@pytest.mark.parametrize("name", PARSERS)
def test_roots(name: str) -> None:
    """A root is as sure as the choice was; the only word of a sentence is."""
    nlp = random_parser(0, confidence=True, **SYSTEMS[name])
    parser = parser_of(nlp)
    randomize(parser.model, 0, 0.1)  # no move is certain
    doc = random_doc(nlp.vocab, random.Random(0), 60, space=0)
    for token in doc:  # sentences of one to eleven words
        token.is_sent_start = token.i in (0, 1, 5, 6, 13, 24, 35, 46, 57)
    found = found_in(parser(doc))
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
    nlp = random_parser(4, **SYSTEMS[name])
    parser = parser_of(nlp)
    randomize(parser.model, 4, 0.15)
    lengths = [1, 5, 150, 20]
    docs = [random_doc(nlp.vocab, random.Random(n), n, space=0) for n in lengths]
    constraints = numpy.zeros(sum(lengths), dtype="int8")
    constraints[20::13] = 1
    scored = parser.score_moves(Words.of(docs))
    found = numpy.zeros((2, 2, sum(lengths)), dtype="float32")
    expected = greedy.parse(parser.system, scored, lengths, constraints, probabilities=found[0])
    trees = beam.parse(parser.system, scored, lengths, constraints, 1, 10, probabilities=found[1])
    for one, other in zip(trees, expected, strict=True):
        assert one.tolist() == other.tolist()
    assert found[1] == pytest.approx(found[0], abs=1e-5)
    assert found[0].std() > 0.05


@pytest.mark.parametrize("system", ["ArcEager", "SwapStandard"])
def test_shares_of_the_beam(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are those of the likeliest sequence of moves."""
    monkeypatch.setattr(component, "GAP", math.inf)
    nlp = random_parser(
        system={"@misc": f"spacy_nmparse.{system}.v1"},
        projectivize=False,
        confidence=True,
        beam_width=100,
    )
    parser = parser_of(nlp)
    others = 0
    for seed in range(8):
        randomize(parser.model, seed, 0.15)
        doc = random_doc(nlp.vocab, random.Random(seed), 4, space=0)
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
    expected = [found_in(doc).tolist() for doc in docs]
    packed = DocBin(docs=docs, store_user_data=True).to_bytes()
    for copies in (
        list(DocBin(store_user_data=True).from_bytes(packed).get_docs(nlp.vocab)),
        [Doc(nlp.vocab).from_bytes(doc.to_bytes()) for doc in docs],
        list(nlp.pipe(texts, n_process=2)),
    ):
        assert [found_in(doc).tolist() for doc in copies] == expected
    assert expected[0][0] == [t._.head_confidence for t in docs[0]]
    part = docs[0][1:3].as_doc(copy_user_data=True)
    assert part[0]._.head_confidence is None  # not the whole document any more


def test_while_it_is_off_there_is_none() -> None:
    for name in ("head_confidence", "dep_confidence"):
        if Token.has_extension(name):
            Token.remove_extension(name)
    token = random_parser(1)("She saw")[0]
    assert token._.head_confidence is None
    assert token._.dep_confidence is None


def test_extensions_of_others_are_kept() -> None:
    register_extensions()
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
        heads = [rng.randrange(8) for _ in doc]
        heads = [head if rng.random() < 0.5 else 0 for head in heads]
        heads = [min(head, word) if word else 0 for word, head in enumerate(heads)]
        words = [t.text for t in doc]
        gold = Doc(nlp.vocab, words=words, heads=heads, deps=["dep"] * 8)
        wrong.append(make_example(gold))
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
    assert found_in(again(text)).tolist() == found_in(doc).tolist()
    parser.cfg.pop("temperatures")
    assert (found_in(nlp(text)) > found_in(doc)).any()
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
    rng = numpy.random.RandomState(0)
    odds = rng.normal(0, 2, 20000)
    right = rng.rand(20000) < 1 / (1 + numpy.exp(-odds))
    for temperature in (0.5, 1.0, 3.0):
        shares = 1 / (1 + numpy.exp(-odds * temperature))  # too sure where above 1
        assert fit_temperature(shares, right) == pytest.approx(temperature, rel=0.05)
    shares = numpy.asarray([0.05, 0.15, 0.95, 1.0])
    assert calibration_error(shares, numpy.asarray([0, 1, 1, 0])) == pytest.approx(
        (0.05 + 0.85 + 0.95) / 4
    )


def test_what_is_right_is_told_of_heads_and_of_heads_with_labels() -> None:
    gold = Doc(Vocab(), words=["a", "b", "c"], heads=[1, 1, 1], deps=["x", "ROOT", "x"])
    words = numpy.arange(3, dtype="int32")
    arcs = Arcs(
        numpy.asarray([1, 1, 0], dtype="int32"),
        numpy.asarray([1, 2, 0], dtype="int32"),
        numpy.asarray([1, 0, 0], dtype="int8"),
    )
    shares = numpy.full((2, 3), 0.5, dtype="float32")
    parses = Parses(numpy.asarray([3]), words, arcs, shares)
    found = compare([make_example(gold)], parses, ["x", "y", "ROOT"])
    assert found is not None
    assert found.right.tolist() == [[1, 1, 0], [0, 1, 0]]
    other = compare([make_example(gold)], parses, ["x", "y", "ROOT||Pred"])
    assert other is not None and other.right.tolist() == [[1, 1, 0], [0, 0, 0]]
    assert found.said.tolist() == [[0.5] * 3, [0.25] * 3]


def test_head_and_label_are_never_surer_than_the_head() -> None:
    head, both = calibrated(numpy.asarray([[0.9], [1.0]]), (3.0, 1.0))
    assert 0.5 < both == head < 0.9
