"""Trees on the Doc: edges and children, crossing arcs, lifting, and what uses them."""

from __future__ import annotations

import random
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_nmparse.pipe.doc_io import fix_edges
from spacy_nmparse.systems.projective import crossing_arcs, is_projective, lift, lower
from tests.naive import trees as naive
from tests.pipe.common import (
    NL,
    SYSTEMS,
    TWO_PLANAR,
    assert_edges,
    assert_sound,
    assert_starts_kept,
    descendants,
    parser_of,
    random_doc,
    random_heads,
    random_parser,
    randomize,
    system,
    tree,
)


def random_tree(rng: random.Random, n: int) -> tuple[list[int], list[str]]:
    heads = random_heads(n, rng)
    return heads, ["ROOT" if head == i else rng.choice(LABELS) for i, head in enumerate(heads)]


LABELS = ("a", "b", "c")


def test_edges_of_random_crossing_trees() -> None:
    vocab = spacy.blank("xx").vocab
    rng = random.Random(0)
    docs = []
    for _ in range(200):
        heads, deps = random_tree(rng, rng.randint(1, 25))
        docs.append(Doc(vocab, words=[str(i) for i in range(len(heads))], heads=heads, deps=deps))
    wrong = 0
    for doc in DocBin().from_bytes(DocBin(docs=docs).to_bytes()).get_docs(vocab):
        before = tree(doc)
        try:
            assert_edges(doc)
        except AssertionError:
            wrong += 1
        assert fix_edges(doc) is doc
        assert_edges(doc)
        assert tree(doc) == before
    assert wrong > 20, "spaCy's own edges have become right: fix_edges is no longer needed"
    assert len(fix_edges(Doc(vocab))) == 0


# Lifting


def test_projective_or_not() -> None:
    counts = [0, 0]
    for n in range(1, 6):
        for heads in naive.forests(n, projective=False):
            projective = naive.is_projective(heads)
            assert is_projective(list(heads)) == projective, heads
            crossing = [
                word
                for word, head in enumerate(heads)
                if {*range(min(word, head) + 1, max(word, head))} - {*descendants(heads, head)}
            ]
            assert crossing_arcs(list(heads)) == crossing and (not crossing) == projective
            counts[projective] += 1
    assert min(counts) > 300


def test_lifting_gives_projective_trees() -> None:
    """With labels that are all different, it loses nothing."""
    rng = random.Random(3)
    changed = 0
    for _ in range(300):
        heads, labels = random_tree(rng, rng.randint(1, 12))
        n = len(heads)
        lifted, decorated = lift(heads, labels)
        assert is_projective(lifted)
        assert len({i for i, head in enumerate(lifted) if head == i}) == 1
        for i in range(n):
            if lifted[i] == heads[i]:
                assert decorated[i] == labels[i]
            else:
                assert decorated[i] == f"{labels[i]}||{labels[heads[i]]}"
                assert i in descendants(heads, lifted[i])
                changed += 1
        lowered, plain = lower(lifted, decorated)
        assert plain == labels
        root = next(i for i, head in enumerate(heads) if head == i)
        assert descendants(lowered, root) == list(range(n)), "a cycle, or a second root"
        labels = [f"l{i}" for i in range(n)]
        assert lower(*lift(heads, labels)) == (heads, labels)
    assert changed > 300


def test_lowering_what_no_tree_gave() -> None:
    for heads, labels, lowered in (
        ([1, 1, 1], "a||b ROOT c||nothing", [1, 1, 1]),
        # a's note is found below it only: it stays.
        ([1, 1, 0], "a||b ROOT b", [1, 1, 0]),
        # Breadth first, then left to right.
        ([4, 0, 4, 4, 4], "a||b b b b ROOT", [2, 0, 4, 4, 4]),
        # Two that note each other do not make a cycle.
        ([2, 2, 2], "a||b b||a ROOT", [1, 2, 2]),
    ):
        plain = [label.split("||")[0] for label in labels.split()]
        assert lower(heads, labels.split()) == (lowered, plain)


@pytest.mark.parametrize("heads", [[1, 0], [2, 3, 0, 3], [3, 2, 1, 3, 5, 4], [1, 2, 0, None]])
def test_lifting_a_cycle_ends(heads: list[int | None]) -> None:
    """Of partial and interleaved trees, arcs may have to be given up."""
    with pytest.raises(ValueError, match="cycle"):
        lift(heads, ["a"] * len(heads))
    assert lift([None, 3, None, None], [None, "a", None, None])[0] == [None, 3, None, None]
    found, _ = lift([0, 1, 0, 1], ["ROOT", "ROOT", "a", "b"])  # 0 - 2 and 1 - 3
    assert is_projective(found) and found[:2] == [0, 1] and found.count(None) >= 1


RANDOM: dict[str, dict[str, Any]] = {
    **SYSTEMS,
    "two_planar": TWO_PLANAR,
    "nl nonmonotonic explicit": {"factory": NL, "system": system("NLCovington", nonmonotonic=True)},
    "covington explicit": {"factory": NL, "system": system("Covington", nonmonotonic=True)},
    "covington neighbours": {
        "factory": NL,
        "system": system("Covington", max_length=1, explicit_root=False),
    },
}


@pytest.mark.parametrize(("width", "preset"), [(1, 0.0), (1, 0.2), (4, 0.2)])
@pytest.mark.parametrize("name", RANDOM)
def test_random_parsers_are_sound(name: str, width: int, preset: float) -> None:
    """Whatever the system, greedy or with a beam, and whatever starts are preset."""
    rng = random.Random(5)
    config = RANDOM[name]
    crossing = sentences = 0
    for seed in range(3 if width == 1 and not preset else 1):
        nlp = random_parser(seed, beam_width=width, **config)
        if config["factory"] == NL:
            randomize(parser_of(nlp).model, seed, 0.2)
        docs, starts = [], []
        for length in (0, 1, 2, 3, 60, *(rng.randint(0, 30) for _ in range(20))):
            words = [token.text for token in random_doc(nlp.vocab, rng, length)]
            starts.append([rng.choice([1, -1]) if rng.random() < preset else 0 for _ in words])
            docs.append(Doc(nlp.vocab, words=words, sent_starts=starts[-1]))
        for doc, preset_starts in zip(nlp.pipe(docs), starts, strict=True):
            assert_sound(doc)
            assert_edges(doc)
            assert_starts_kept(doc, preset_starts)
            crossing += bool(crossing_arcs([token.head.i for token in doc]))
            sentences += len(list(doc.sents)) > 1
    assert sentences > 3
    if config["factory"] == NL and name not in ("arc-swift", "covington neighbours"):
        assert crossing > 3
    elif name == "arc-swift":
        assert crossing == 0
