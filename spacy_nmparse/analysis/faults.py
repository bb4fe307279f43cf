"""Faults of CoNLL-U files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from spacy_nmparse.ud.conllu import HEAD, PLUS, decode, parts_of, read_rows
from spacy_nmparse.ud.treebank import refuse_cycles

MOST_FAULTS = 20  # in one message


def faults(file: Path) -> Iterator[str]:
    """The first fault of each sentence of a CoNLL-U file, with its line."""
    lines: list[str] = []
    columns, first, has_rows = "", 1, False
    with file.open("rb") as opened:
        try:
            for number, line in enumerate(chain(decode(opened, str(file)), [""]), start=1):
                lines.append(line)
                if line.strip(" \t\r\n"):
                    has_rows = has_rows or not line.startswith("#")
                    if PLUS in line and parts_of(line.rstrip())[0] == PLUS:
                        columns = parts_of(line.rstrip())[1]
                elif has_rows or not line:
                    try:
                        for one in read_rows(lines, str(file), columns=columns, first_line=first):
                            refuse_cycles(one, str(file))
                    except ValueError as error:
                        yield str(error)
                    lines, first, has_rows = [], number + 1, False
        except ValueError as error:  # not UTF-8
            yield str(error)


def refuse_faults(files: Iterable[Path]) -> None:
    """Raise a ValueError that lists what is wrong with CoNLL-U files, where something is."""
    found = [fault for file in dict.fromkeys(files) for fault in faults(file)]
    if found:
        more = len(found) - MOST_FAULTS
        listed = [*found[:MOST_FAULTS], *([f"{more} more sentences have faults."] * (more > 0))]
        raise ValueError("\n".join(listed))


def several_roots(files: Iterable[Path]) -> Iterator[tuple[Path, int]]:
    """The file and first line of each sentence that has more than one root; ValueError with the
    line where heads form a cycle."""
    for file in files:
        for sentence in read_rows(file):
            refuse_cycles(sentence, str(file))
            if sum(row[HEAD] == "0" for row in sentence.words) > 1:
                yield file, sentence.lines[0]
