"""How sure a parser is of its arcs, and what else it might have built.

    python examples/confidence.py training/model-best "Results were released after midnight."
    python examples/confidence.py training/model-best "..." --gold corpus/dev.spacy --width 8

For each word: its head and label with their probabilities, then the best trees of a beam search.
--gold FILE calibrates the probabilities first, on annotated documents that training has not seen.
"""

from __future__ import annotations

import argparse
import math
from itertools import islice
from pathlib import Path

import spacy

from spacy_nmparse.pipe.members import parser_of
from spacy_nmparse.ud.readers import Corpus

#: As many documents as calibration looks at.
N_CALIBRATION = 500


def main(argv: list[str] | None = None) -> None:
    """Run the command line."""
    assert __doc__ is not None
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("model", help="a trained pipeline: package or folder")
    arguments.add_argument("text")
    arguments.add_argument("--width", type=int, default=1, help="hypotheses of the beam")
    arguments.add_argument("--trees", type=int, default=3, help="how many trees are printed")
    arguments.add_argument("--gold", type=Path, help="calibrate on this .spacy or .conllu file")
    given = arguments.parse_args(argv)
    nlp = spacy.load(given.model)
    parser = parser_of(nlp)
    parser.beam_width = given.width
    if given.gold is not None:
        examples = list(islice(Corpus(given.gold, gold_preproc=True)(nlp), N_CALIBRATION))
        for example in examples:  # what is before the parser, token vectors among it
            example.predicted = nlp(example.predicted, disable=[parser.name])
        for kind, fitted in parser.calibrate(examples).items():
            print(f"{kind}: calibration error {fitted.before:.3f} before, {fitted.after:.3f} after")
            if fitted.after > fitted.before:
                print("It got larger: use the parser as it was, or calibrate on other documents.")
    parser.confidence = True
    doc = nlp(given.text)
    print(f"{'word':<14}{'head':<14}{'label':<12}{'P(head)':>8}{'P(both)':>9}")
    for token in doc:
        head, both = token._.head_confidence, token._.dep_confidence
        print(f"{token.text:<14}{token.head.text:<14}{token.dep_:<12}{head:8.3f}{both:9.3f}")
    # n_best looks for trees of its own: it wants documents that have passed what is before it
    unparsed = nlp(given.text, disable=[parser.name])
    for score, heads, labels, _ in parser.n_best([unparsed], given.trees)[0]:
        arcs = (
            f"{token.text}→{doc[head].text} {label}"
            for token, head, label in zip(doc, heads, labels, strict=True)
        )
        print(f"{math.exp(score):.4f}  {', '.join(arcs)}")


if __name__ == "__main__":
    main()
