"""The pages of papers name what is in the papers: figures, tables, algorithms, open questions."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.test_cli import run
from tests.test_commands import block_commands
from tests.test_readme import ROOT, read

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


@pytest.mark.parametrize("name", CONTENTS)
def test_output_is_what_the_command_prints(name: str) -> None:
    """Of a block with one command of ours, and a block of text behind it."""
    text = read(ROOT / "docs" / "papers" / f"{name}.md")
    found = re.findall(
        r"```bash\npython -m spacy nmparse ([^\n]*)\n```\n\n```text\n(.*?)```", text, re.DOTALL
    )
    assert len(found) == (2 if name == "lec" else 0)
    for command, output in found:
        printed = run(*shlex.split(command)).stdout
        for part in output.split("...\n"):
            assert part in printed
