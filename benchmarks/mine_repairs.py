"""Which repairs would be worth having: the single edits of arcs that would mend a parser's errors.

    python -m benchmarks.mine_repairs training/demo/nm_parser/model-best corpus/demo/dev.spacy

Follows a parser through each gold sentence. For a word whose head is wrong in the end, it looks for
the first configuration behind the wrong arc in which the right head has been read or is B0 (or a
later one with the same B0, where the word or its wrong head has come to the top of the stack), and
names the edit: what the word is there, and what the right head is. The draft on repair transitions
has moves for four of these edits.

Result: a table, and benchmarks/runs/mine_repairs/NAME.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import spacy

from benchmarks.common import RUNS, command_line, program
from benchmarks.formats import page_table
from benchmarks.tables.counts import edits
from spacy_nmparse.cli.console import gold_docs
from spacy_nmparse.lab.mining import mine_edits
from spacy_nmparse.ud.records import dump


@program
def main(argv: Sequence[str] | None) -> None:
    """Run the command line."""
    parser = command_line(__doc__)
    parser.add_argument("model", help="a pipeline: its package or folder")
    parser.add_argument("corpus", type=Path, help="a .spacy or CoNLL-U file with trees")
    parser.add_argument("--name", help="of the result; by default the corpus's")
    parser.add_argument("--top", type=int, default=15, help="how many edits are printed")
    parser.add_argument("--output", type=Path, default=RUNS / "mine_repairs")
    args = parser.parse_args(argv)
    nlp = spacy.load(args.model)
    mined = mine_edits(nlp, gold_docs(nlp, args.corpus, "sentence", 0))
    print(
        f"{mined.words} words, {mined.errors} wrong heads; one edit that leaves a tree would mend"
    )
    print(f"{mined.whole.total()} of them\n")
    header, *rows = edits(mined.as_dict(), args.top)
    print(page_table(header, rows, left=2))
    dump(mined.as_dict(), args.output / f"{args.name or args.corpus.stem}.json")


if __name__ == "__main__":
    raise SystemExit(main())
