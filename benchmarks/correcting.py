"""How many words a person corrects until all trees of a treebank are right, with a parser's help.

    python -m benchmarks.correcting MODEL=GOLD.conllu MODEL=GOLD.conllu

Each sentence is parsed by itself, on gold words. The person sees its words one after the other,
confirms those that have the gold head and label, and corrects the others. Three ways: in the order
of the text, without parsing again; the same, where the parser completes the tree under all that is
confirmed after each correction, as `nmparse annotate` does; and so with the word next of which the
parser is least sure. Sentences that a parser cannot complete (several roots) are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import spacy

from benchmarks.common import command_line, model_and_gold, program
from spacy_nmparse.analysis.annotation.assistant import Assistant
from spacy_nmparse.analysis.annotation.sentences import headless, replaced
from spacy_nmparse.cli.console import print_table
from spacy_nmparse.ud.conllu import DEPS, HEAD, ID, MISC, Sentence, read_rows
from spacy_nmparse.ud.rows import CONFIRMED

WAYS = ("in text order", "parsed again", "least sure first")


def corrected(assistant: Assistant, gold: Sentence, *, again: bool, by_doubt: bool) -> int:
    """How many words of a sentence are corrected until its tree is right.

    Args:
        assistant: The parser.
        gold: The sentence with its gold tree.
        again: Whether the sentence is parsed again after each correction.
        by_doubt: Whether the next word is the one of which the parser is least sure.
    """
    right = {row[ID]: [*headless(row)[:HEAD], *row[HEAD:MISC], CONFIRMED] for row in gold.words}
    confirmed: set[str] = set()
    n_corrected = 0
    while True:
        known = replaced(
            gold, lambda row: right[row[ID]] if row[ID] in confirmed else headless(row)
        )
        found = assistant.complete(known)
        words = list(zip(found.sentence.words, found.sure or (), strict=True))
        if by_doubt:
            words.sort(key=lambda word: word[1])
        wrong = 0
        for row, _ in words:
            is_wrong = row[ID] not in confirmed and row[HEAD:DEPS] != right[row[ID]][HEAD:DEPS]
            confirmed.add(row[ID])
            wrong += is_wrong
            if is_wrong and again:
                break
        if not again:
            return wrong
        if not wrong:
            return n_corrected
        n_corrected += 1


def simulate(model: str, path: Path, limit: int = 0) -> tuple[int, int, list[int]]:
    """How many sentences of a file are left out, the words of the others, and how many of these
    words are corrected in each of WAYS."""
    assistant = Assistant(spacy.load(model))
    n_left_out, n_words, counts = 0, 0, [0] * len(WAYS)
    for gold in [*read_rows(path)][: limit or None]:
        try:
            found = [
                corrected(assistant, gold, again=again, by_doubt=by_doubt)
                for again, by_doubt in ((False, False), (True, False), (True, True))
            ]
        except ValueError:
            n_left_out += 1
            continue
        n_words += len(gold.words)
        counts = [one + other for one, other in zip(counts, found, strict=True)]
    return n_left_out, n_words, counts


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    parser = command_line(__doc__)
    parser.add_argument("pairs", nargs="+", metavar="MODEL=GOLD", help="model and CoNLL-U file")
    parser.add_argument("--limit", type=int, default=0, help="sentences of each file; 0: all")
    args = parser.parse_args(argv)
    rows = []
    for pair in args.pairs:
        model, gold = model_and_gold(pair)
        n_left_out, n_words, counts = simulate(model, gold, args.limit)
        shares = [f"{count} ({100 * count / max(n_words, 1):.1f} %)" for count in counts]
        rows.append((gold.name, n_left_out, n_words, *shares))
    print_table(("treebank", "left out", "words", *WAYS), rows)
    return None


if __name__ == "__main__":
    raise SystemExit(main())
