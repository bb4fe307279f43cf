"""The simulated person of ``benchmarks.correcting``."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.correcting import corrected
from spacy_nmparse.analysis.annotation.sentences import is_confirmed, replaced
from spacy_nmparse.analysis.annotation.store import Change
from spacy_nmparse.ud.conllu import HEAD, ID, Sentence, read_rows

HEADS = ("2", "0", "2", "3")
(GOLD,) = read_rows(
    "".join(f"{i}\tw\t_\tX\t_\t_\t{head}\tdep\t_\t_\n" for i, head in enumerate(HEADS, 1))
)


class Parser:
    """Gives the words 1, 3 and 4 a wrong head; but 4 the right one once 3 is confirmed, and 1 and 3
    once 4 is. It is least sure of 4."""

    def complete(self, known: Sentence) -> Change:
        sure = {row[ID] for row in known.words if is_confirmed(row)}
        right = {"2", *sure, *({"4"} if "3" in sure else ()), *({"1", "3"} if "4" in sure else ())}

        def change(row: Any) -> list[str]:
            head = HEADS[int(row[ID]) - 1] if row[ID] in right else "9"
            return [*row[:HEAD], head, "dep", *row[HEAD + 2 :]]

        return Change(replaced(known, change), sure=[0.9, 0.8, 0.7, 0.1])


@pytest.mark.parametrize(
    ("again", "by_doubt", "count"), [(False, False, 3), (True, False, 2), (True, True, 1)]
)
def test_words_that_are_corrected(again: bool, by_doubt: bool, count: int) -> None:
    """1, 3 and 4; 1 and 3; 4 alone."""
    assistant: Any = Parser()
    assert corrected(assistant, GOLD, again=again, by_doubt=by_doubt) == count
