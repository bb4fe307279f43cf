"""The pages of papers: their commands print what they say, and their configs are trained."""

from __future__ import annotations

import re
import shlex

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import Config

from tests.test_cli import run
from tests.test_readme import ROOT, blocks, read

COMMAND = r"(?m)^python -m spacy nmparse ([^#\n]*)(?:  # (.*))?\n(```\n\n```text\n([^`]*))?"
#: A line of a derivation, and its move.
STEP = re.compile(r"(?m)^ +\d+  .*?\]  ([A-Z-]+)")


@pytest.mark.parametrize("name", ["bn15", "fg18", "lec", "rep"])
def test_a_command_prints_what_its_page_says(name: str) -> None:
    """Behind a command's # stand parts of its output, or how many moves it prints of a kind; a
    block of text behind the command is its output, where ... leaves something out."""
    found = re.findall(COMMAND, read(ROOT / "docs" / "papers" / f"{name}.md"))
    assert found
    for command, said, shown, output in found:
        assert said or shown, f"{command}: the page does not say what it prints"
        printed = run(*shlex.split(command)).stdout
        moves = STEP.findall(printed)
        for part in output.split("...\n"):
            assert part in printed
        for part in said.split("; ") if said else ():
            if counted := re.fullmatch(r"(\d+) (moves|[A-Z-]+)s?", part):
                kind = counted[2]
                assert int(counted[1]) == (len(moves) if kind == "moves" else moves.count(kind))
            elif part == "no loss":
                assert "loss" not in printed, command
            else:
                assert part in printed, command


@pytest.mark.parametrize("block", blocks(ROOT / "docs" / "papers" / "lec.md", "ini"))
def test_the_forms_of_the_notes_are_trained_as_the_page_says(block: str) -> None:
    config = Config().from_str("[components]\n" + block)["components"]["parser"]
    nlp = spacy.blank("en")
    nlp.add_pipe(config.pop("factory"), config=config)
    gold = Doc(
        nlp.vocab,
        ["they", "like", "bagels", "with", "lox"],
        heads=[1, 1, 1, 4, 2],
        deps=["nsubj", "ROOT", "obj", "case", "nmod"],
    )
    examples = [Example(Doc(nlp.vocab, [t.text for t in gold]), gold)]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(30):
        nlp.update(examples, sgd=optimizer)
    found = nlp(examples[0].x.copy())
    assert [t.head.i for t in found] == [t.head.i for t in gold]
