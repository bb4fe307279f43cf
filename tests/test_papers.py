"""The pages of papers name what is in the papers: figures, tables, algorithms, open questions."""

from __future__ import annotations

import re
import shlex

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import Config

from tests.test_cli import run
from tests.test_commands import block_commands
from tests.test_readme import ROOT, blocks, read

#: What a page must name in the table at its top.
CONTENTS = {
    "lec": ("Table 11.2", "Table 11.3", "search error", "oracle-based training", "REDUCE"),
    "bn15": (
        *(f"Figure {n}" for n in (1, 2)),
        *("Figures 3 and 4", "Figures 5 and 6", "Algorithm 1", "Algorithm 2"),
        *("Table 1", "Tables 2 and 3", "Tables 4 and 5", "max-violation"),
    ),
    "fg18": (
        *("Figure 1", "Figures 2 to 4", "static oracle", "dynamic oracle", "non-monotonic"),
        *("Table 1", "Table 2", "Table 3", "Table 4", "appendix A"),
    ),
    "rep": (
        *("Left Reattach", "Right Lower", "Right Raise", "Left Invert", "error propagation"),
        *("additional features", "UAS by iteration", "test results", "future work"),
    ),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_page_has_what_the_paper_has(name: str) -> None:
    page = ROOT / "docs" / "papers" / f"{name}.md"
    text = read(page)
    table = re.search(
        r"(?m)^\| in the (paper|draft|notes) \| here \|\n\| --- \| --- \|\n((\|.*\n)+)", text
    )
    assert table is not None
    rows = [line.strip("| \n").split(" | ") for line in table[2].splitlines()]
    assert all(len(row) == 2 and row[1] for row in rows)
    said = "\n".join(row[0] for row in rows)
    for item in CONTENTS[name]:
        assert item in said, item
    for heading in ("## What came out", "## Where we differ"):
        assert heading in text or f"**{heading.removeprefix('## ')}" in text or name == "bn15"
    assert any("nmparse oracle" in command for command in block_commands(page))


COMMAND = r"(?m)^python -m spacy nmparse ([^#\n]*)(?:  # (.*))?\n(```\n\n```text\n([^`]*))?"
#: A line of a derivation, and its move.
STEP = re.compile(r"(?m)^ +\d+  .*?\]  ([A-Z-]+)")


@pytest.mark.parametrize("name", CONTENTS)
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
