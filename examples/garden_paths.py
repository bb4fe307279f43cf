"""The papers' example sentences, derived as in their figures and as a trained parser derives them.

    python examples/garden_paths.py
    python examples/garden_paths.py training/model-best
    python examples/garden_paths.py training/model-best --html pages

Without a model: the derivations of the figures. With one (English, Universal Dependencies): the
sentences that lead a parser down the garden path, or that need crossing arcs. It draws
each move that replaces an arc as in HGJ13's Figure 1, then the tree, and lists the words whose head
is not the expected one. --html also writes a page per sentence, to step through in the browser.

The caption of HGJ13's Figure 2 calls the non-monotonic REDUCE move 11. Here it is move 9: the five
words of the sentence leave no room for more moves before it.

HGJ13: Honnibal, Goldberg & Johnson 2013. FG18: Fernández-González & Gómez-Rodríguez 2018.
BN15: Björkelund & Nivre 2015.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import spacy
from spacy.tokens import Doc

from spacy_nmparse import systems
from spacy_nmparse.analysis import Derivation, derive, derive_actions, derive_gold, render
from spacy_nmparse.analysis.text import step_lines, step_picture, tree_pictures
from spacy_nmparse.cli.console import paint
from spacy_nmparse.pipe.files import write_files
from spacy_nmparse.systems import Gold

#: Sentences for a model: where each is from, the words, the heads as in CoNLL-U (0: ROOT).
#: The heads are those of Universal Dependencies, except in HGJ13 (b), where UD would take "Jack" as
#: the object of "saw": there they are the paper's.
SENTENCES = [
    ("HGJ13 (a)", "I saw Jack and Jill .", "2 0 2 5 3 2"),
    ("HGJ13 (b)", "I saw Jack and Jill fall .", "2 0 6 5 3 2 2"),
    ("HGJ13, section 8", "Results were released after midnight .", "3 3 0 5 3 3"),
    ("HGJ13, section 8", "Results were released after the market closed .", "3 3 0 7 6 7 3 3"),
    ("HGJ13, section 8", "NCNB Corp. reported net income doubled .", "2 3 0 5 6 3 3"),
    (
        "Frazier & Rayner 1982",
        "Since Jay always jogs a mile seems like a short distance to him .",
        "4 4 4 7 6 7 0 11 11 11 7 13 11 7",
    ),
    ("crossing arcs", "What are you looking at ?", "4 4 4 0 1 4"),
    ("crossing arcs", "I know what you are talking about .", "2 0 6 6 6 2 3 2"),
]


def heads_of(text: str) -> list[int]:
    """Heads as in CoNLL-U; here words are numbered from 0, and a root is its own head."""
    return [int(head) - 1 if head != "0" else word for word, head in enumerate(text.split())]


def figures() -> dict[str, Derivation]:
    """The derivations of the papers' figures."""
    saw_fall = "SHIFT LEFT-ARC SHIFT RIGHT-ARC RIGHT-ARC REDUCE RIGHT-ARC REDUCE LEFT-ARC"
    saw_jill = "SHIFT LEFT-ARC SHIFT SHIFT RIGHT-ARC REDUCE RIGHT-ARC REDUCE REDUCE"
    found = {}
    for figure, words, moves in (
        ("HGJ13, Figure 1: LEFT-ARC replaces an arc", "I saw Jack and Jill fall", saw_fall),
        (
            "HGJ13, Figure 2 (move 11 there, 9 here): REDUCE adds the arc that SHIFT has not made",
            "I saw Jack and Jill",
            saw_jill,
        ),
    ):
        system = systems.create("arc_eager", nonmonotonic_left=True, nonmonotonic_reduce=True)
        actions = [(move, 1, None) for move in moves.split()]
        found[figure] = derive_actions(system, actions, words.split())
    tree = Gold(heads_of("0 1 1 5 1"))
    found["FG18, Figure 3: 12 transitions of Covington"] = derive_gold("covington", tree, "static")
    found["FG18, Figure 4: 9 transitions of NL-Covington"] = derive_gold(
        "nl_covington", tree, "static"
    )
    tree = Gold(heads_of("2 0 6 5 2 5"))
    for oracle in ("eager", "lazy"):
        found[f"BN15, Figure 1: SwapStandard's oracle {oracle}"] = derive_gold(
            "swap_standard", tree, oracle, ["That", "'s", "what", "they", "'re", "after"]
        )
    return found


def show_parse(derivation: Derivation, expected: list[int]) -> None:
    """Print where arcs are replaced, the tree, and the words with another head than expected."""
    for number, step in enumerate(derivation.steps):
        if step.deleted:
            print(f"\n{number + 1}  {step.name}")
            print("\n".join(step_picture(derivation, number, paint)))
    print()
    for lines in tree_pictures(derivation, paint):
        print("\n".join(lines))
    wrong = [
        derivation.words[word]
        for word, (head, other) in enumerate(zip(derivation.heads, expected, strict=True))
        if head != other
    ]
    print(f"other heads than expected: {', '.join(wrong) or 'none'}")


def main(argv: list[str] | None = None) -> None:
    """Run the command line."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", nargs="?", help="a trained pipeline: package or folder")
    parser.add_argument("--html", type=Path, metavar="FOLDER", help="write pages there")
    arguments = parser.parse_args(argv)
    if arguments.model is None:
        for title, derivation in figures().items():
            print(paint(title, "title"))
            print("\n".join(step_lines(derivation, paint)), end="\n\n")
        return
    nlp = spacy.load(arguments.model)
    for number, (source, text, heads) in enumerate(SENTENCES, start=1):
        doc = Doc(nlp.vocab, words=text.split())
        derivation = derive(nlp, doc)
        print(paint(f"{source}: {text}", "title"))
        show_parse(derivation, heads_of(heads))
        print()
        if arguments.html is not None:
            page = render(derivation, jupyter=False)
            assert page is not None
            write_files({arguments.html / f"{number}.html": page.encode()})


if __name__ == "__main__":
    main()
