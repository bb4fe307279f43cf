"""Pictures of training and results. They need matplotlib: the extra ``plots``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

#: A curve: x and y.
Points = list[tuple[float, float]]

MARKERS = "osD^vPX*"


def draw(
    curves: Mapping[str, Points],
    output: Path,
    *,
    x: str,
    y: str,
    title: str | None = None,
    ticks: Sequence[str] | None = None,
) -> None:
    """Draw curves into a file.

    Args:
        curves: the points of each, by name.
        output: the file; its ending tells the format.
        x, y: what the axes show.
        title: of the picture.
        ticks: names of x = 0, 1, 2 ...

    Raises:
        ImportError: matplotlib is missing.
        ValueError: there is nothing to draw, or the format is unknown.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib: install it, or spacy-nmparse with its extra: "
            "pip install 'spacy-nmparse[plots]'"
        ) from error
    if not any(curves.values()):
        raise ValueError("There is nothing to draw in these files.")
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for i, (name, points) in enumerate(curves.items()):
        style: dict[str, Any] = {
            "marker": MARKERS[i % len(MARKERS)],
            "markersize": 4,
            "linewidth": 1.4,
        }
        axes.plot(*zip(*points, strict=True), label=name, **style)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if ticks is not None:
        axes.set_xticks(range(len(ticks)), ticks)
    if title is not None:
        axes.set_title(title)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    if len(curves) > 1 or title is None:
        axes.legend(frameon=False)
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
    read = _jsonl_rows if path.suffix == ".jsonl" else _log_rows
    scores: dict[float, float] = {}
    known: set[str] = set()
    for row in read(path):
        known |= set(row)
        value = row.get(measure.upper())
        if value is not None:
            scores[row["E"]] = value
    if not scores:
        raise ValueError(
            f"{path} has no score {measure}: "
            + (f"it has {', '.join(sorted(known - {'E', '#'}))}." if known else "is it a log?")
        )
    return sorted(scores.items())


def _log_rows(path: Path) -> Iterator[dict[str, float]]:
    """The table that spacy train prints."""
    starts: list[tuple[str, int, int]] = []
    header = ""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.split()[:2] == ["E", "#"]:
            header = line
            starts = []
        elif header and not starts and set(line.strip()) == {"-", " "}:
            at = 0
            for dashes in line.split():
                at = line.index(dashes, at)
                starts.append((header[at : at + len(dashes)].strip(), at, at + len(dashes)))
                at += len(dashes)
        elif starts and line.strip()[:1].isdigit():
            values = line.split()
            if len(values) == len(starts):
                yield {
                    name: float(value) for (name, _, _), value in zip(starts, values, strict=True)
                }


def _jsonl_rows(path: Path) -> Iterator[dict[str, float]]:
    for line in read_lines(path):
        if not isinstance(line, dict) or "scores" not in line:
            raise ValueError(f"{path} is no log of spaCy's ConsoleLogger.v3.")
        row = {
            name.upper(): 100 * value
            for name, value in line["scores"].items()
            if isinstance(value, float)
        }
        yield {"E": line["epoch"], "#": line["step"], **row}


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
    curves: dict[str, Points] = {}
    made_by = "spacy nmparse errors --json"
    results = [(name, _json(path, "groups", made_by)) for name, path in _named(files)]
    ticks: list[str] = []
    for _, result in results:
        for kind in result["groups"]["length"]:
            if kind != "root" and kind not in ticks:
                ticks.append(kind)
    ticks.sort(key=lambda kind: int(kind.split("-")[0].rstrip("+")))
    for name, result in results:
        groups = result["groups"]["length"]
        curves[name] = [
            (place, 100 * groups[kind]["las"])
            for place, kind in enumerate(ticks)
            if kind in groups and groups[kind]["las"] is not None
        ]
    draw(curves, output, x="length of the arc in words", y="LAS", title=title, ticks=ticks)


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


def _json(path: Path, key: str, made_by: str) -> dict[str, Any]:
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from error
    if not isinstance(result, dict) or key not in result:
        raise ValueError(f"{path} was not written by `python -m {made_by}`.")
    return result


def _named(files: Sequence[Path]) -> list[tuple[str, Path]]:
    """Files with short names: their stems, or their folders' names where these are the same."""
    stems = [path.stem for path in files]
    folders = [path.absolute().parent.name for path in files]
    if len(set(stems)) == len(files):
        return list(zip(stems, files, strict=True))
    if len(set(folders)) == len(files):
        return list(zip(folders, files, strict=True))
    return [(str(path), path) for path in files]
