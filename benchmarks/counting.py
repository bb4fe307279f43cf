"""Shared by benchmarks that count something in treebanks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import RUNS, command_line, record
from benchmarks.formats import markdown
from benchmarks.treebanks import find_splits, path_of
from spacy_nmparse.cli.records import dump
from spacy_nmparse.ud.treebank import SPLITS


def count_treebanks(
    name: str,
    description: str | None,
    split: str,
    count: Callable[..., dict[str, Any]],
    rows: Callable[[dict[str, Any]], list[list[str]]],
    header: Sequence[str],
    argv: Sequence[str] | None,
    options: Mapping[str, Any] | None = None,
) -> int:
    """Run the command line of a benchmark that counts something in each treebank, prints a table
    and writes benchmarks/runs/NAME/TREEBANK-SPLIT.json; the exit status. `count` counts in a file,
    given the options, of which there may be more than `--split`, with these defaults; `rows` makes
    the cells of a treebank, after its name, of the counts, and `header` names their columns."""
    parser = command_line(description)
    parser.add_argument(
        "treebanks", nargs="+", type=path_of, help="folders of UD treebanks, or of .spacy files"
    )
    parser.add_argument("--split", default=split, choices=SPLITS)
    parser.add_argument("--runs", type=Path, default=RUNS)
    for option, default in (options or {}).items():
        parser.add_argument(f"--{option}", type=type(default), default=default)
    args = parser.parse_args(argv)
    given = {option: getattr(args, option) for option in options or {}}
    cells = []
    for folder in args.treebanks:
        path = find_splits(folder)[args.split]
        counts = count(path, **given)
        about = {"treebank": folder.name, "file": path.name, "split": args.split}
        result = {**about, **counts, **given, **record()}
        dump(result, args.runs / name / f"{folder.name}-{args.split}.json")
        cells += [[folder.name, *row] for row in rows(counts)]
    print(markdown(["treebank", *header], cells))
    return 0
