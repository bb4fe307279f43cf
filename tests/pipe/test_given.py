"""A parser keeps the heads and labels that a document has, and finds the rest."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy
import pytest
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_nmparse.lab.walk import kept_moves
from spacy_nmparse.pipe.confidence import confidences
from spacy_nmparse.pipe.doc_io import parsed_tokens, set_heads
from spacy_nmparse.pipe.given import find_fault
from spacy_nmparse.scorers.shared import ScorerInput
from spacy_nmparse.search import beam, greedy
from spacy_nmparse.systems import Gold
from spacy_nmparse.systems.projective import is_projective
from tests.naive import trees as naive
from tests.pipe.common import (
    NL,
    NM,
    SWAP,
    SYSTEMS,
    assert_edges,
    assert_sound,
    bare,
    gold_doc,
    noted_failures,
    parser_of,
    random_doc,
    random_heads,
    random_parser,
    randomize,
    tree,
)

#: Heads of a few words, and how many of them are no part of trees.
FAULTS = (25256, 17552)
LABELS = ("nsubj", "obj", "conj", "new label")


def keeping(seed: int = 0, **config: Any) -> Language:
    return random_parser(seed, keep_heads=True, **config)


def partly_annotated(
    vocab: Vocab, rng: random.Random, n: int, share: float, n_sents: int = 1
) -> Doc:
    """Sentences of n tokens, of whose random trees, which mostly cross, a share is there."""
    bared = [random_doc(vocab, rng, n, space=0.1) for _ in range(n_sents)]
    words = [token.text for doc in bared for token in doc]
    starts = [i % n == 0 for i in range(n * n_sents)]
    heads: list[int] = []
    deps: list[str] = []
    for number, doc in enumerate(bared):
        places = [number * n + i for i, token in enumerate(doc) if not token.is_space]
        found = random_heads(len(places), rng) if places else []
        above = {place: places[head] for place, head in zip(places, found, strict=True)}
        for place in range(number * n, number * n + n):
            known = place in above and rng.random() < share
            heads.append(above[place] if known else place)
            is_root = known and above[place] == place
            deps.append("" if not known else "ROOT" if is_root else rng.choice(LABELS))
    known = Doc(vocab, words=words, heads=heads, deps=deps)
    return set_heads(Doc(vocab, words=words, sent_starts=starts), known)


def given(doc: Doc) -> dict[int, tuple[int, str]]:
    return {t.i: (t.head.i, t.dep_) for t in doc if t.dep and not t.is_space}


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("name", SYSTEMS)
def test_heads_and_labels_are_kept_whatever_they_are(name: str, width: int) -> None:
    """Crossing arcs in projective systems, too, arcs that are too long, and unknown labels."""
    rng = random.Random(width)
    nlp = keeping(**SYSTEMS[name], projectivize=name == "arc-eager", beam_width=width)
    shares = [0.1, 0.3, 0.6, 0.9, 1.0] * 3
    docs = [partly_annotated(nlp.vocab, rng, rng.randint(1, 14), share, 3) for share in shares]
    before = [given(doc) for doc in docs]
    starts = [[sent.start for sent in doc.sents] for doc in docs]
    n_crossing = sum(not is_projective([token.head.i for token in doc]) for doc in docs)
    assert n_crossing > 5
    for doc, known, begins in zip(nlp.pipe(docs), before, starts, strict=True):
        assert_sound(doc)
        assert_edges(doc)
        assert given(doc).items() >= known.items()
        assert [sent.start for sent in doc.sents] == begins


def parts(
    n: int, presets: Sequence[int] | None = None, projective: bool = False
) -> list[tuple[int | None, ...]]:
    """What is left of trees of n words, of one or (by preset starts: 0 leaves it open) of several
    sentences, when any heads are taken out."""
    found = set()
    for heads, _, starts in naive.golds(
        n, projective=projective, partial=True, one_root=True, segment=presets is not None
    ):
        every = zip(starts or (), presets or (), strict=True)
        if all(preset in (0, 1 if start else -1) for start, preset in list(every)[1:]):
            found.add(heads)
    return sorted(found, key=str)


# Of those whose arcs are of any length, and whose costs are exact.
@pytest.mark.parametrize("name", sorted({*SYSTEMS} - {"covington short", "nl nonmonotonic"}))
def test_a_search_makes_all_given_arcs(name: str) -> None:
    """Every part of every tree of up to five words that the system can make, with random labels."""
    nlp = random_parser(3, **SYSTEMS[name], projectivize=False)
    parser, rng = parser_of(nlp), random.Random(3)
    names = parser.label_data["labels"]
    n_cases = 0
    for n in range(1, 6):
        doc = Doc(nlp.vocab, words=["She", "saw", "the", "cat", "."][:n])
        golds = []
        for part in parts(n, projective=parser.system.projective):
            labels = ["ROOT" if part[w] == w else rng.choice(LABELS[:3]) for w in range(n)]
            golds.append(Gold(part, labels, [word == 0 for word in range(n)]))
        tokens, *_ = parsed_tokens([doc] * len(golds))
        inside = numpy.where(tokens == 0, 0, -1).astype("int8")
        scored = parser.model.predict(ScorerInput([doc] * len(golds), None, None))
        batch = (parser.system, scored, [n] * len(golds), inside)
        for found in (greedy.parse(*batch, given=golds), beam.parse(*batch, 3, given=golds)):
            every = zip(golds, *(array.reshape(-1, n).tolist() for array in found[:2]), strict=True)
            for gold, heads, labels in every:
                n_cases += 1
                for word, head in enumerate(gold.heads):
                    if head is not None:
                        assert (heads[word], names[labels[word]]) == (head, gold.labels[word])
    assert n_cases in (2936, 7660)  # projective trees, all trees; searched twice


@pytest.mark.parametrize("factory", [NM, NL, SWAP])
def test_what_is_not_given_is_parsed(factory: str) -> None:
    """Without annotation as ever; a whole tree stays; given heads change how others are parsed."""
    nlp, plain = keeping(factory=factory), random_parser(factory=factory)
    docs = [gold_doc(nlp.vocab, trees) for trees in ([0, 1], [2], [4])]
    trees = [tree(doc) for doc in docs]
    assert [tree(nlp(bare(doc))) for doc in docs] == [tree(plain(bare(doc))) for doc in docs]
    assert [tree(doc) for doc in nlp.pipe([doc.copy() for doc in docs])] == trees
    assert [tree(doc) for doc in plain.pipe([doc.copy() for doc in docs])] != trees
    rng = random.Random(1)
    changed = 0
    for _ in range(20):
        doc = partly_annotated(nlp.vocab, rng, 12, 0.3)
        free = plain(Doc(nlp.vocab, [t.text for t in doc], sent_starts=[True] + [False] * 11))
        known, kept = given(doc), nlp(doc)
        others = [t.i for t in kept if t.i not in known and not t.is_space]
        changed += any(kept[i].head.i != free[i].head.i for i in others)
    assert changed > 10


def test_what_is_given_is_sure_and_in_every_tree() -> None:
    nlp = keeping(beam_width=4, confidence=True, threads=2)
    parser = parser_of(nlp)
    randomize(parser.model, 0, 0.1)
    doc = partly_annotated(nlp.vocab, random.Random(4), 12, 0.3)
    known = given(doc)
    trees = parser.n_best([doc], 12)[0]
    assert len(trees) > 1
    for found in trees:
        assert {i: (found.heads[i], found.labels[i]) for i in known} == known
    (parsed,) = nlp.pipe([doc])
    sure = confidences(parsed)
    assert sure is not None and (sure[:, list(known)] == 1).all() and sure.min() < 1


def test_faults_are_those_of_no_tree() -> None:
    """There is a fault where no tree has the heads, of up to five words with all preset starts."""
    n_cases = n_faults = 0
    for n in range(1, 6):
        for presets in product((0, 1, -1), repeat=n - 1):
            if n == 5 and set(presets) != {-1}:
                continue
            possible = {*parts(n, (0, *presets))}
            for heads in product((None, *range(n)), repeat=n):
                fault = find_fault(heads, (0, *presets))
                assert (fault is None) == (heads in possible), (heads, presets)
                assert fault is None or heads[fault.word] is not None
                n_cases += 1
                n_faults += fault is not None
    assert (n_cases, n_faults) == FAULTS


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_part_of_trees_is_refused(name: str) -> None:
    """All parts of the trees of up to four words, in any number of sentences."""
    nlp = keeping(7, **SYSTEMS[name])
    words = ["She", "saw", "the", "cat"]
    docs = []
    for n in range(1, 5):
        for part in parts(n, [0] * n):
            heads = [word if head is None else head for word, head in enumerate(part)]
            labels = {None: "", **{word: "obj" for word in range(n)}}
            deps = ["ROOT" if head == w else labels[head] for w, head in enumerate(part)]
            known = Doc(nlp.vocab, words[:n], heads=heads, deps=deps)
            docs.append(set_heads(Doc(nlp.vocab, words[:n]), known))
    before = [given(doc) for doc in docs]
    for doc, known in zip(nlp.pipe(docs), before, strict=True):
        assert_sound(doc)
        assert given(doc).items() >= known.items()
        assert [token.i for token in doc if token._.known_head] == list(known)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 1.0])
def test_swap_makes_all_arcs_of_long_sentences(share: float) -> None:
    """Every move that keeps arcs that cross everywhere leads on to all; so do searches."""
    nlp = random_parser(1, factory=SWAP)
    parser, rng = parser_of(nlp), random.Random(share)
    system = parser.system
    for n in (10, 20, 30, 45, 60, 80):
        heads = [head if rng.random() < share else None for head in random_heads(n, rng)]
        starts = [word == 0 for word in range(n)] if n % 4 else [True] + [None] * (n - 1)
        gold = Gold(heads, None, starts)
        fixed = [0] + [-1 if start is False else 0 for start in starts[1:]]
        state = system.initial(n, fixed)
        while not state.is_final:
            move = rng.choice(kept_moves(system, state, gold))
            action = rng.choice([one for one in system.actions(state) if one.move == move])
            system.apply(state, action)
        doc = random_doc(nlp.vocab, rng, n, space=0)
        scored = parser.model.predict(ScorerInput([doc], None, None))
        batch = (system, scored, [n], numpy.asarray(fixed, dtype="int8"))
        searches = greedy.parse(*batch, given=[gold]), beam.parse(*batch, 3, given=[gold])
        for found in (state.heads, *(heads for heads, *_ in searches)):
            assert all(head in (None, one) for head, one in zip(heads, found, strict=True))


def test_marks_of_known_heads_go_with_the_next_parse() -> None:
    nlp = keeping(beam_width=3)
    parser = parser_of(nlp)
    doc = partly_annotated(nlp.vocab, random.Random(2), 12, 0.4)
    known = list(given(doc))
    doc.user_data["mine"] = 1
    assert [token.i for token in nlp(doc) if token._.known_head] == known != []
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert [token.i for token in again if token._.known_head] == known
    parser.keep_heads = False
    assert not any(token._.known_head for token in nlp(doc)) and doc.user_data["mine"] == 1


def test_what_is_no_tree_fails_alone() -> None:
    """Also across a start that is set, and where a root lies between."""
    nlp = keeping()
    words = ["She", "saw", "the", "cat"]

    def doc(heads: list[int], deps: str, starts: list[int] | None = None) -> Doc:
        known = Doc(nlp.vocab, words, heads=heads, deps=deps.split(" "))
        return (
            known if starts is None else set_heads(Doc(nlp.vocab, words, sent_starts=starts), known)
        )

    good = Doc(nlp.vocab, words)
    two_roots = doc([0, 1, 2, 3], "ROOT ROOT  ")
    in_one = doc([0, 1, 2, 3], "ROOT ROOT  ", [1, -1, -1, -1])
    apart = doc([3, 1, 2, 3], "nsubj   ", [1, -1, 1, -1])
    for wrong, message in (
        (in_one, r"head of 'saw' in 'She saw the cat' cannot be kept"),
        (
            doc([0, 0, 0, 0], "ROOT ccomp obj obj", [1, 1, 0, 0]),
            "a sentence start that is set lies",
        ),
        (
            doc([0, 1, 0, 1], "ROOT ROOT obj punct"),
            r"head of 'saw' .* its sentence has another root",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            nlp(wrong.copy())
    failed = noted_failures(nlp)
    assert len(list(nlp.pipe([good, in_one, good.copy(), apart]))) == 2
    assert len(failed) == 2 and "'She'" in failed[1][2]
    nlp(two_roots)
    assert [sent.start for sent in two_roots.sents] == [0, 1]


def test_heads_of_other_tokens_are_refused() -> None:
    vocab = Vocab()
    doc = Doc(vocab, words=["She", "saw", "him"])
    for known in (Doc(vocab, words=["She"]), Doc(Vocab(), words=["She", "saw", "him"])):
        with pytest.raises(ValueError, match="do not have the same tokens and vocabulary"):
            set_heads(doc, known)
    with pytest.raises(ValueError, match="3 tokens, but 1 values in taken"):
        set_heads(doc, doc, [True])
    assert not doc.user_data
