"""The effect of label rules: sentences that break them, and LAS, without and with the rules.

    python -m benchmarks.label_rules model-best=UD_English-EWT/en_ewt-ud-dev.conllu
    python -m benchmarks.label_rules MODEL=GOLD.conllu --unique nsubj obj --childless det punct

Each model parses its file with the gold sentences and tokens: as it is, with `unique_labels` and
`childless_labels`, and with a beam. Gold trees are counted beside these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc
from spacy.training import Example

from benchmarks.common import command_line, model_and_gold, program
from spacy_nmparse.cli.console import print_table
from spacy_nmparse.pipe.annotations import same_tokens
from spacy_nmparse.pipe.members import parser_of
from spacy_nmparse.ud.readers import Corpus


def broken(docs: Iterable[Doc], unique: Sequence[str], childless: Sequence[str]) -> int:
    """How many sentences, one a document, break a rule."""
    count = 0
    for doc in docs:
        labels = Counter((token.head.i, token.dep_) for token in doc if token.dep_ in unique)
        parents = {token.head.dep_ for token in doc if token.head is not token}
        count += max(labels.values(), default=0) > 1 or not parents.isdisjoint(childless)
    return count


def compare(
    model: str, path: Path, unique: Sequence[str], childless: Sequence[str]
) -> list[list[str]]:
    """The rows of a table: gold trees, and the model's without and with rules, greedy and with a
    beam."""
    nlp = spacy.load(model)
    parser: Any = parser_of(nlp)
    examples = list(Corpus(path, gold_preproc=True)(nlp))
    gold = broken((example.reference for example in examples), unique, childless)
    rows = [[path.name, "gold", str(gold), ""]]
    for width in (1, 8):
        for ruled in (False, True):
            parser.beam_width = width
            parser.unique_labels = unique if ruled else []
            parser.childless_labels = childless if ruled else []
            docs = list(nlp.pipe(same_tokens(one.reference) for one in examples))
            pairs = zip(docs, examples, strict=True)
            scored = [Example(doc, one.reference) for doc, one in pairs]
            las = parser.score(scored)["dep_las_conll"]
            title = f"beam of {width}" if width > 1 else "greedy"
            count = broken(docs, unique, childless)
            rows.append(["", title + ", rules" * ruled, str(count), f"{100 * las:.2f}"])
    return rows


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    parser = command_line(__doc__)
    parser.add_argument("pairs", nargs="+", metavar="MODEL=GOLD", help="model and CoNLL-U file")
    parser.add_argument("--unique", nargs="*", default=["nsubj", "obj"], help="unique_labels")
    parser.add_argument("--childless", nargs="*", default=["det"], help="childless_labels")
    args = parser.parse_args(argv)
    rows = []
    for pair in args.pairs:
        model, gold = model_and_gold(pair)
        rows += compare(model, gold, args.unique, args.childless)
    print_table(("treebank", "trees", "sentences that break a rule", "LAS"), rows)
    return None


if __name__ == "__main__":
    raise SystemExit(main())
