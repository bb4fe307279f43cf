"""Crossing arcs and sentence boundaries in a Doc.

    python examples/crossing_arcs.py

A tiny nl_covington_parser learns three sentences by heart, then the Doc shows what it found: arcs
that cross, subtrees with gaps, sentence boundaries that are found, preset, or forbidden.
"""

from __future__ import annotations

import argparse

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example
from thinc.api import fix_random_seed

from spacy_nmparse.pipe.doc_io import fix_edges

TREES = [
    (
        "A hearing is scheduled on the issue today",
        [1, 3, 3, 3, 1, 6, 4, 3],
        "det nsubj aux ROOT prep det pobj advmod",
    ),
    ("She left", [1, 1], "nsubj ROOT"),
    ("What do you want", [3, 1, 1, 1], "obj ROOT nsubj xcomp"),
]


def gold_doc(nlp: Language, numbers: tuple[int, ...]) -> Doc:
    """A document of some of the trees."""
    words: list[str] = []
    heads: list[int] = []
    deps: list[str] = []
    for text, its_heads, its_deps in (TREES[number] for number in numbers):
        heads += [head + len(words) for head in its_heads]
        words += text.split()
        deps += its_deps.split()
    return Doc(nlp.vocab, words=words, heads=heads, deps=deps)


def trained() -> Language:
    """A pipeline that knows the trees, and where sentences end, by heart."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("nl_covington_parser", name="parser")
    docs = [gold_doc(nlp, numbers) for numbers in ((0,), (1,), (2,), (0, 1), (2, 0), (1, 2))]
    examples = [Example(Doc(nlp.vocab, words=[t.text for t in doc]), doc) for doc in docs]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    return nlp


def crossing(doc: Doc) -> list[Token]:
    """The words whose arc crosses another: between them and their heads is a word that is not
    below the head."""
    found = []
    for token in doc:
        first, last = sorted((token.i, token.head.i))
        below = {word.i for word in token.head.subtree}
        if any(between not in below for between in range(first + 1, last)):
            found.append(token)
    return found


def main(argv: list[str] | None = None) -> None:
    """Train, parse, and look at the documents."""
    assert __doc__ is not None
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args(argv)
    nlp = trained()
    doc = nlp("A hearing is scheduled on the issue today She left")
    for token in doc:
        start = "|" if token.is_sent_start else " "
        print(f"{start} {token.text:<10}{token.dep_:<8}{token.head.text}")
    print("sentences:", [sentence.text for sentence in doc.sents])
    print("crossing arcs:", [f"{token.head.text} → {token.text}" for token in crossing(doc)])
    hearing = doc[1]
    print("below hearing:", [token.text for token in hearing.subtree])
    print("from its first to its last word:", doc[hearing.left_edge.i : hearing.right_edge.i + 1])

    # spaCy computes the edges anew when it reads a document back, wrongly on many crossing trees
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    fix_edges(again)
    print("the same after from_bytes:", again[1].right_edge.text == hearing.right_edge.text)

    # Boundaries that are there before the parser stay: True starts a sentence, False forbids it.
    words = [token.text for token in doc]
    for number, preset in ((8, None), (8, False), (7, True)):
        fresh = Doc(nlp.vocab, words=words)
        if preset is not None:
            fresh[number].is_sent_start = preset
        parsed = nlp(fresh)
        print(f"{words[number]}.is_sent_start = {preset}:", [len(one) for one in parsed.sents])


if __name__ == "__main__":
    main()
