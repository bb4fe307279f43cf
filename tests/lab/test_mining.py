"""Which single edit would mend an error."""

from __future__ import annotations

import pytest
from spacy.language import Language

from spacy_nmparse.analysis import derive_actions
from spacy_nmparse.lab.mining import MOVES, Edit, Mined, mine_derivation, mine_edits
from spacy_nmparse.systems import Action, Gold
from tests.pipe.common import NL, gold_doc, random_parser

SHORT = {
    "S": "SHIFT", "L": "LEFT-ARC", "R": "RIGHT-ARC", "D": "REDUCE",
}  # fmt: skip


def mined(moves: str, gold: str) -> Mined:
    """The errors of a derivation by arc-eager."""
    heads = [int(head) - 1 if head != "0" else word for word, head in enumerate(gold.split())]
    found = Mined()
    actions = [Action(SHORT[move]) for move in moves]
    words = [str(word) for word in range(len(heads))]
    mine_derivation(derive_actions("arc_eager", actions, words, Gold(heads)), found)
    return found


@pytest.mark.parametrize(
    ("moves", "gold", "name"),
    [
        ("SLSRRDRDRDDLS", "2 0 6 5 3 2", "left reattach"),  # I saw Jack and Jill fall
        ("SLSRDRRDDLS", "2 0 2 3 4", "right lower"),  # She eats pizza with anchovies
        ("SLSRRSLRDDDLS", "2 0 2 2 6 4", "right raise"),  # He eats pizza with a fork
        ("SLSRRDDRDLS", "5 1 2 3 0", "left invert"),  # Prices inflated from speculation crash
    ],
)
def test_the_figures_of_the_draft(moves: str, gold: str, name: str) -> None:
    found = mined(moves, gold)
    names = [MOVES.get((edit.dependent, edit.head)) for edit in found.edits]
    assert name in names
    assert sum(found.edits.values()) == found.errors
    assert found.words == len(gold.split())


def test_where_an_edit_does_not_leave_a_tree() -> None:
    found = mined("SLSLS", "0 1")  # b -> a, not a -> b: its head is below it
    assert found.edits == {
        Edit("a dependent of B0", "ROOT"): 1,
        Edit("a dependent of B0", "a word below it"): 1,
    }
    assert found.whole == {Edit("a dependent of B0", "ROOT"): 1}
    found = mined("SLSRDLS", "3 0 2")  # c comes when a, a dependent of b, has left
    assert found.edits == {Edit("the first left dependent of S0", "B0"): 1}
    assert found.ranked() == [Edit("the first left dependent of S0", "B0")]
    assert found.as_dict()["edits"] == [["the first left dependent of S0", "B0", 1, 1]]


def test_of_a_parser(trained: Language) -> None:
    golds = [gold_doc(trained.vocab, [number]) for number in range(6)]
    assert mine_edits(trained, golds).errors == 0
    nlp = random_parser(6)
    found = mine_edits(nlp, golds)
    assert found.words == sum(len(doc) for doc in golds) > found.errors > 5
    assert sum(found.edits.values()) == found.errors
    assert all(found.whole[edit] <= n for edit, n in found.edits.items())
    with pytest.raises(ValueError, match="list systems have none"):
        mine_edits(random_parser(0, factory=NL), golds)
