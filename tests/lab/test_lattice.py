"""Lattices of derivations: BN15's Figures 2 and 4, against enumeration, in text and as DOT."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from typing import Any

import pytest

from spacy_nmparse import systems
from spacy_nmparse.analysis import all_derivations
from spacy_nmparse.lab.lattice import Lattice, derivation_lattice
from spacy_nmparse.lab.lattice_picture import lattice_dot, lattice_lines
from spacy_nmparse.systems import Gold
from tests.naive.trees import golds

LIKES = ["She", "likes", "tea"]
FIGURE_2 = Gold([1, 1, 1])
GERMAN = ["Ausgelöst", "wurde", "sie", "durch", "Intel"]
FIGURE_4 = Gold([1, 1, 1, 0, 3])


def test_only_arcs_differ() -> None:
    """Configurations that only arcs tell apart do not look the same."""
    system = systems.create("arc_eager", nonmonotonic_left=True, nonmonotonic_reduce=True)
    found = derivation_lattice(system, Gold([1, 1, 1]))
    texts = [" ".join(found.configuration(node)) for node in range(len(found.nodes))]
    assert {"[2 3] [ROOT]", "[2 3] [ROOT] 2 –→ 3"} <= set(texts)
    assert len(set(texts)) == len(texts)


def test_figure_4() -> None:
    """The German sentence; the first choice is that of the paper, between the arc to *sie* and
    SHIFT."""
    found = derivation_lattice("swap_standard", FIGURE_4, "nd_all", GERMAN)
    assert (len(found.nodes), len(found.edges), found.n_derivations) == (37, 42, 9)
    forks = [node for node in range(37) if sum(e.source == node for e in found.edges) > 1]
    assert found.configuration(forks[0]) == ["[ROOT Ausgelöst wurde sie]", "[durch Intel]"]
    moves_there = {e.action.move for e in found.edges if e.source == forks[0]}
    assert moves_there == {"SHIFT", "RIGHT-ARC"}


@pytest.mark.parametrize(
    ("name", "oracle", "options"),
    [
        ("arc_eager", "dynamic", {"nonmonotonic_left": True, "nonmonotonic_reduce": True}),
        ("arc_eager", "dynamic", {"root_first": True}),
        ("arc_standard", "dynamic", {"buffer_arcs": True}),
        ("swap_standard", "nd_sw", {}),
        ("swap_standard", "nd_all", {}),
        ("nl_covington", "dynamic", {}),
        ("arc_hybrid", "static", {}),
        ("two_planar", "dynamic", {}),
    ],
)
def test_all_derivations_that_there_are(name: str, oracle: str, options: dict[str, Any]) -> None:
    system = systems.create(name, ("a", "b"), **options)
    n = 3 if name == "two_planar" else 4  # which has the most derivations
    for tree in random.Random(1).sample(golds(n), 12):
        gold = Gold(tree.heads, ["a", "b", None, "a"][:n])
        found = derivation_lattice(system, gold, oracle)
        each = list(all_derivations(system, gold, oracle))
        assert found.n_derivations == len(each)
        configurations = {repr(system.initial(n))}
        for derivation in each:
            state = system.initial(n)
            for step in derivation.steps:
                if step.action is not None:
                    system.apply(state, step.action)
                    configurations.add(repr(state))
        assert {repr(node) for node in found.nodes} == configurations
        assert all(edge.source < edge.target for edge in found.edges)


def test_both_stacks_are_shown() -> None:
    found = derivation_lattice("two_planar", Gold([2, 3, 2, 2]), "static")
    told = [" ".join(found.configuration(node)) for node in range(len(found.nodes))]
    assert told[:4] == [
        "[] [] [1 2 3 4]",
        "[1] [1] [2 3 4]",
        "[1 2] [1 2] [3 4]",
        "[1] [1 2] [3 4]",
    ]


def test_long_sentences_are_refused() -> None:
    gold = Gold([max(0, word - 1) for word in range(40)])
    with pytest.raises(ValueError, match=r"more than 60 configurations.*--max-nodes"):
        derivation_lattice("arc_eager", gold, max_nodes=60)
    assert len(derivation_lattice("arc_eager", gold, "static").nodes) > 60
    with pytest.raises(ValueError, match="2 words for a tree over 3"):
        derivation_lattice("arc_eager", FIGURE_2, words=["a", "b"])


@pytest.mark.parametrize(
    ("system", "oracle"), [("swap_standard", "nd_all"), ("arc_standard", "dynamic")]
)
def test_figure_2(system: str, oracle: str) -> None:
    """Two ways part at the left dependent, and meet when both dependents are attached."""
    found = derivation_lattice(system, FIGURE_2, oracle, LIKES)
    assert found.n_derivations == 2
    assert lattice_lines(found) == [
        "●    1  [ROOT] [She likes tea]   SHIFT → 2",
        "●    2  [ROOT She] [likes tea]   SHIFT → 3",
        "●    3  [ROOT She likes] [tea]   SHIFT → 4  LEFT-ARC → 5",
        "├─┐",
        "● │  4  [ROOT She likes tea] []  RIGHT-ARC → 6",
        "│ ●  5  [ROOT likes] [tea]       SHIFT → 7",
        "● │  6  [ROOT She likes] []      LEFT-ARC → 8",
        "│ ●  7  [ROOT likes tea] []      RIGHT-ARC → 8",
        "├─┘",
        "●    8  [ROOT likes] []          RIGHT-ARC → 9",
        "◎    9  [ROOT] []",
    ]
    bold = lattice_lines(found, lambda text, style: f"*{text}*")
    assert bold[2].endswith("*SHIFT → 4*  *LEFT-ARC → 5*") and "*" not in bold[0]


def lanes(found: Lattice) -> list[str]:
    return [line for line in lattice_lines(found) if "[" in line]


def test_lines_join_what_belongs_together() -> None:
    """Walked down, the graph leads from each configuration to those that its moves name."""
    found = derivation_lattice("swap_standard", FIGURE_4, "nd_all", GERMAN)
    open_lanes: dict[int, set[int]] = {}  # column -> configurations whose moves run in it
    reached: dict[int, set[int]] = {}
    for line in lattice_lines(found):
        graph = line.split("[")[0] if "[" in line else line
        columns = dict(enumerate(graph))
        if "[" in line:
            node = int(graph.split()[-1])
            (at,) = (i for i, sign in columns.items() if sign in "●◎")
            reached[node] = open_lanes.get(at, set())
            open_lanes[at] = {node}
            continue
        first = graph.index("├")
        inside = [i for i in range(first + 1, len(graph)) if graph[i] in "┴┘┬┐"]
        if "┘" in graph:
            for i in inside:
                open_lanes[first] = open_lanes[first] | open_lanes.pop(i)
        else:
            for i in inside:
                open_lanes[i] = set(open_lanes[first])
    told = {node + 1: {e.source + 1 for e in found.edges if e.target == node} for node in range(37)}
    assert reached == told
    assert len(lanes(found)) == 37


WORDS = ["Aus<löst", 'wurde"', "s\\ie", "d&amp;urch", "In\x00tel"]


def test_dot() -> None:
    lines = lattice_dot(derivation_lattice("swap_standard", FIGURE_4, "nd_all", WORDS)).splitlines()
    nodes = [line for line in lines if re.match(r"\d+ \[", line)]
    edges = [line for line in lines if re.match(r"\d+ -> \d+ \[", line)]
    assert (len(nodes), len(edges)) == (37, 42)
    assert nodes[0] == (
        '0 [label="[ROOT]\\n[Aus&lt;löst wurde&quot; s\\\\ie d&amp;amp;urch In\ufffdtel]" '
        'tooltip="no arcs"]'
    )
    assert [line.endswith(" peripheries=2]") for line in nodes] == [False] * 36 + [True]
    assert "wurde&quot; → Aus&lt;löst, ROOT → wurde&quot;" in nodes[-1]
    assert edges[0] == '0 -> 1 [label="SHIFT" color="#4b5563" fontcolor="#4b5563"]'
    moves = re.findall(r"→ ([A-Z-]+)<", lines[-2])
    assert sorted(moves) == ["LEFT-ARC", "RIGHT-ARC", "SHIFT", "SWAP"]


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")
def test_graphviz_draws_it() -> None:
    dot = lattice_dot(derivation_lattice("swap_standard", FIGURE_2, "nd_all", WORDS[:3]))
    done = subprocess.run(["dot", "-Tsvg"], input=dot.encode(), capture_output=True, check=True)
    assert not done.stderr
    assert ">[ROOT Aus&lt;löst wurde&quot; s\\ie]</text>" in done.stdout.decode()


def test_json() -> None:
    found = derivation_lattice("nl_covington", Gold([1, 1], ["a", None]), "static").as_dict()
    assert found["derivations"] == 1 and found["edges"][0] == [0, 1, ["SHIFT", 1, None]]
    assert found["nodes"][1]["lambda1"] == [0] and found["nodes"][-1]["final"]
