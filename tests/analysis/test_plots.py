"""What plots read, and the plots where matplotlib is installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from spacy_nmparse.analysis.plots import (
    draw,
    learning_curve,
    plot_learning,
    plot_length,
    plot_swaps,
)

LOG = """\
ℹ Pipeline: ['tok2vec', 'parser']
E    #       LOSS TOK2VEC  LOSS PARSER  DEP_UAS  DEP_LAS  SENTS_F  SCORE
---  ------  ------------  -----------  -------  -------  -------  ------
  0       0          0.00       111.75    17.22     2.39   100.00    0.02
  0      70      13392.97     76364.23    30.75     9.67   100.00    0.10
  1     140      24510.49     92208.65    33.45    17.84   100.00    0.18
✔ Saved pipeline to output directory
"""
JSONL = [
    {"epoch": 0, "step": 10, "losses": {}, "scores": {"dep_las": 0.5, "speed": 3, "x": None}},
    {"epoch": 1, "step": 20, "losses": {}, "scores": {"dep_las": 0.75}},
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.txt"
    path.write_text(LOG, encoding="utf-8")
    return path


def write(path: Path, *values: object) -> Path:
    path.write_text("\n".join(map(json.dumps, values)), encoding="utf-8")
    return path


def test_logs(log: Path, tmp_path: Path) -> None:
    assert learning_curve(log) == [(0, 9.67), (1, 17.84)]
    assert learning_curve(log, "dep_uas") == [(0, 30.75), (1, 33.45)]
    assert learning_curve(write(tmp_path / "a.jsonl", *JSONL)) == [(0, 50), (1, 75)]
    with pytest.raises(ValueError, match="DEP_UAS, LOSS"):
        learning_curve(log, "ents_f")
    with pytest.raises(ValueError, match="is it a log"):
        learning_curve(write(tmp_path / "b.txt", 1))
    with pytest.raises(ValueError, match="line 1 is no JSON"):
        learning_curve(Path(log.rename(tmp_path / "c.jsonl")))


def test_the_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r'pip install "\.\[plots\]"'):
        draw({"a": [(0, 1)]}, tmp_path / "a.png", x="x", y="y")


def errors_result(las: float) -> dict[str, object]:
    lengths = {"root": {"las": 1.0}, "1": {"las": las}, "41+": {"las": None}}
    return {"groups": {"length": lengths}}


def test_plots(log: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib, the extra plots")
    plot_learning([log], tmp_path / "learning.png")
    lines = [{"epoch": e, "oracle": "nd_all", "swaps_per_sentence": e / 2} for e in range(3)]
    plot_swaps([write(tmp_path / "swaps.jsonl", *lines)], tmp_path / "swaps.svg")
    files = [write(tmp_path / name, errors_result(0.5)) for name in ("a.json", "b.json")]
    plot_length(files, tmp_path / "length.pdf", "Title")
    assert (tmp_path / "learning.png").read_bytes()[:4] == b"\x89PNG"
    svg = (tmp_path / "swaps.svg").read_text(encoding="utf-8")
    assert svg.count("<svg") == 1
    assert (tmp_path / "length.pdf").read_bytes()[:4] == b"%PDF"
    with pytest.raises(ValueError, match="nothing to draw"):
        draw({}, tmp_path / "x.png", x="x", y="y")


def test_other_files(tmp_path: Path) -> None:
    other = write(tmp_path / "a.json", {"x": 1})
    with pytest.raises(ValueError, match=r"count_swaps\.v1"):
        plot_swaps([other], tmp_path / "x.png")
    with pytest.raises(ValueError, match="nmparse errors"):
        plot_length([other], tmp_path / "x.png")
