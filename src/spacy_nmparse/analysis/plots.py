"""Pictures of training and results. They need matplotlib: the extra ``plots``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any

from spacy_nmparse.pipe.evaluation import bin_names

#: A curve: x, a number or a name, and y.
Points = list[tuple[Any, float]]


def draw(
    curves: Mapping[str, Points], output: Path, *, x: str, y: str, title: str | None = None
) -> None:
    """Draw curves into a file.

    Args:
        curves: the points of each, by name.
        output: the file; its ending tells the format.
        x, y: what the axes show.
        title: of the picture.

    Raises:
        ImportError: matplotlib is missing.
        ValueError: there is nothing to draw, or the format is unknown.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib: install it, or spacy-nmparse with its extra, in the checkout: "
            'python -m pip install ".[plots]"'
        ) from error
    if not any(curves.values()):
        raise ValueError("There is nothing to draw in these files.")
    figure = Figure(layout="constrained")
    axes = figure.add_subplot(xlabel=x, ylabel=y, title=title or "")
    for marker, (name, points) in zip("osD^vPX*" * len(curves), curves.items(), strict=False):
        axes.plot(*zip(*points, strict=True), label=name, marker=marker)
    axes.grid(alpha=0.25)
    axes.legend()
    figure.savefig(output, dpi=150)


def plot_learning(
    files: Sequence[Path], output: Path, title: str | None = None, measure: str = "DEP_LAS"
) -> None:
    """Learning curves: a score on the development data by epoch.

    Args:
        files: what ``spacy train`` has printed, or the .jsonl files that spaCy's ConsoleLogger.v3
            writes.
        output, title: as those of ``draw``.
        measure: which score, as DEP_LAS or dep_las.

    Raises:
        ValueError: a file has no such score.
    """
    curves = {name: learning_curve(path, measure) for name, path in _named(files)}
    draw(curves, output, x="epoch", y=measure.upper(), title=title)


def learning_curve(path: Path, measure: str = "DEP_LAS") -> Points:
    """(epoch, score in percent) of a training log; the last score of each epoch.

    Raises:
        ValueError: the file has no such score.
    """
    rows = list((_jsonl_rows if path.suffix == ".jsonl" else _log_rows)(path))
    scores = {row["E"]: row[measure.upper()] for row in rows if measure.upper() in row}
    if not scores:
        known = sorted({name for row in rows for name in row} - {"E", "#"})
        raise ValueError(
            f"{path} has no score {measure}: "
            + (f"it has {', '.join(known)}." if known else "is it a log?")
        )
    return sorted(scores.items())


def _log_rows(path: Path) -> Iterator[dict[str, float]]:
    """The table that spacy train prints."""
    names: list[str] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        cells = re.split(" {2,}", line.strip())
        if cells[:2] == ["E", "#"]:
            names = cells
        elif names and len(cells) == len(names) and cells[0].isdigit():
            yield dict(zip(names, map(float, cells), strict=True))


def _jsonl_rows(path: Path) -> Iterator[dict[str, float]]:
    for line in read_lines(path):
        if not isinstance(line, dict) or "scores" not in line:
            raise ValueError(f"{path} is no log of spaCy's ConsoleLogger.v3.")
        scores = {k.upper(): 100 * v for k, v in line["scores"].items() if isinstance(v, float)}
        yield {"E": line["epoch"], "#": line["step"], **scores}


def plot_swaps(files: Sequence[Path], output: Path, title: str | None = None) -> None:
    """SWAPs per sentence of the derivations learned from, by epoch (BN15, Figure 6).

    Args:
        files: what the callback spacy_nmparse.count_swaps.v1 has written.
        output, title: as those of ``draw``.

    Raises:
        ValueError: another kind of file.
    """
    curves: dict[str, Points] = {}
    for name, path in _named(files):
        for line in read_lines(path):
            try:
                oracle = line["oracle"] if len(files) == 1 else f"{name}, {line['oracle']}"
                point = (line["epoch"], line["swaps_per_sentence"])
            except (TypeError, KeyError) as error:
                raise ValueError(
                    f"{path} has no SWAPs by epoch: it is written by the callback "
                    f"spacy_nmparse.count_swaps.v1 in training."
                ) from error
            curves.setdefault(oracle, []).append(point)
    draw(curves, output, x="epoch", y="SWAPs per sentence", title=title)


def plot_length(files: Sequence[Path], output: Path, title: str | None = None) -> None:
    """LAS by length of the gold arc.

    Args:
        files: what ``nmparse errors --json`` has printed.
        output, title: as those of ``draw``.

    Raises:
        ValueError: another kind of file.
    """
    found: dict[str, dict[str, float]] = {}
    for name, path in _named(files):
        try:
            lengths = json.loads(path.read_text(encoding="utf-8"))["groups"]["length"]
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(
                f"{path} was not written by `python -m spacy nmparse errors --json`."
            ) from error
        found[name] = {
            k: 100 * group["las"] for k, group in lengths.items() if group["las"] is not None
        }
    kinds = [kind for kind in bin_names() if any(kind in las for las in found.values())]
    curves = {
        name: [(kind, las.get(kind, nan)) for kind in kinds] if las else []
        for name, las in found.items()
    }
    draw(curves, output, x="length of the arc in words", y="LAS", title=title)


#: What ``nmparse plot`` draws.
KINDS: dict[str, Callable[..., None]] = {
    "learning": plot_learning,
    "swaps": plot_swaps,
    "length": plot_length,
}


def read_lines(path: Path) -> list[Any]:
    """The lines of a .jsonl file.

    Raises:
        ValueError: a line is no JSON.
    """
    lines = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            lines.append(json.loads(line))
        except ValueError as error:
            raise ValueError(f"{path}, line {number} is no JSON: {error}") from error
    return lines


def _named(files: Sequence[Path]) -> list[tuple[str, Path]]:
    """Files with short names: their stems, or their folders' names where these are the same."""
    stems = [path.stem for path in files]
    folders = [path.absolute().parent.name for path in files]
    for names in (stems, folders):
        if len(set(names)) == len(files):
            return list(zip(names, files, strict=True))
    return [(str(path), path) for path in files]
