"""Summaries of runs: small files in benchmarks/results that tables are made from.

A summary of trained systems holds, by treebank and system, the seeds, settings, command and
versions, and of each score the mean, the standard deviation and the value of each seed. Intervals
and p need the counts of each sentence, which are in the runs alone: so they are computed here, for
the pairs of systems that `pairs_of` names.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.runs import Runs, compare_runs
from spacy_nmparse.pipe.files import write_files

SPLITS = ("dev", "test")
#: The scores that are kept.
SCORES = ("uas_all", "las_all", "uas_words", "las_words", "dep_exact", "nonproj_p", "nonproj_r")
#: What is known of each kind of non-monotonic move, in the order of HGJ13's Table 2, and more.
COUNTS = ("tp", "fp", "tn", "fn", "neutral", "deferred")
LABEL_CHANGES = 8  # label pairs that are kept of each kind of non-monotonic move
WIDTH = 160  # of the lines of a summary

Entry = dict[str, Any]  # the summary of a system on a treebank


class Pair(NamedTuple):
    """Two systems to compare on a split, by a metric."""

    system: str
    baseline: str
    split: str
    metric: str

    @property
    def key(self) -> str:
        """Its name in a summary."""
        return f"{self.system} - {self.baseline}, {self.metric}, {self.split}"


def write(summary: Any, path: Path) -> None:
    """Write a summary as JSON; what fits into a line is on one, and each list of numbers."""

    def lines(value: Any, indent: int) -> str:
        flat = json.dumps(value, ensure_ascii=False)
        numbers = isinstance(value, list) and all(isinstance(one, (int, float)) for one in value)
        if numbers or not isinstance(value, (dict, list)) or indent + len(flat) <= WIDTH:
            return flat
        pad = "\n" + " " * (indent + 1)
        if isinstance(value, dict):
            items = [f"{json.dumps(k, ensure_ascii=False)}: {lines(v, indent + 1)}"
                     for k, v in value.items()]  # fmt: skip
            return "{" + pad + f",{pad}".join(items) + "\n" + " " * indent + "}"
        items = [lines(item, indent + 1) for item in value]
        return "[" + pad + f",{pad}".join(items) + "\n" + " " * indent + "]"

    write_files({path: f"{lines(rounded(summary), 0)}\n".encode()})


def rounded(value: Any) -> Any:
    """A value of JSON with 8 digits after the point."""
    if isinstance(value, float):
        return round(value, 8)
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def spread(values: Sequence[float | None]) -> dict[str, Any] | None:
    """Summarize a score by its values, None where it is not defined: mean, standard deviation (None
    for one value) and values; None if none is defined."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    deviation = round(statistics.stdev(known), 6) if len(known) > 1 else None
    return {"mean": round(statistics.fmean(known), 6), "sd": deviation, "seeds": list(values)}


def exact(run: dict[str, Any], split: str, counted: str) -> float:
    """The share of sentences with all words right; `counted` is "heads" or "labelled"."""
    counts = run[split]["per_sentence"]
    pairs = list(zip(counts["words"], counts[counted], strict=True))
    return sum(words == right for words, right in pairs) / len(pairs)


def by_epoch(run: dict[str, Any]) -> dict[int, float]:
    """UAS in points at the last evaluation of each epoch, by epoch from 1."""
    curve = run["curve"]
    # spaCy's own score leaves out punctuation
    values = curve.get("dep_uas_conll", curve.get("dep_uas", []))
    return {epoch + 1: value for epoch, value in zip(curve["epoch"], values, strict=True)}


def summarize_moves(runs: Runs) -> dict[str, Any]:
    """Summarize how non-monotonic moves were used on dev by the runs that have counted: how many
    have, moves per sentence, and by kind of move the sums of the counts, the same of punctuation
    alone, and the labels that were changed most often and rightly: [change, right, wrong]."""
    counted = [run["moves"] for run in runs.values() if "moves" in run]
    if not counted:
        return {}
    totals: dict[str, dict[str, dict[str, int]]] = {"repairs": {}, "punct": {}}
    changes: dict[str, dict[str, list[int]]] = {}
    for one in counted:
        for kind, totals_of in totals.items():
            for move, counts in one.get(kind, {}).items():
                total = totals_of.setdefault(move, dict.fromkeys(COUNTS, 0))
                for name in COUNTS:
                    total[name] += counts[name]
        for move, found in one["labels"].items():
            for change, outcomes in found.items():
                pair = changes.setdefault(move, {}).setdefault(change, [0, 0])
                pair[0] += outcomes.get("tp", 0)
                pair[1] += outcomes.get("fp", 0)
    best = {
        move: [
            [change, right, wrong]
            for change, (right, wrong) in sorted(
                found.items(), key=lambda item: (-item[1][0], item[0])
            )[:LABEL_CHANGES]
            if right
        ]
        for move, found in changes.items()
    }
    return {
        "seeds": len(counted),
        "per_sentence": spread([one["moves"] / one["documents"] for one in counted]),
        **{kind: dict(sorted(one.items())) for kind, one in totals.items()},
        "labels": {move: best[move] for move in sorted(best)},
    }


def made_with(run: dict[str, Any]) -> str:
    """Versions and machine of a run, in a line."""
    machine = run["machine"]
    versions = [f"{name} {version}" for name, version in run["versions"].items()]
    about = f"{machine['system']}, {machine['cores']} x {machine['processor']}"
    return f"{', '.join(versions)}; {about}"


def summarize_system(runs: Runs, epochs: bool) -> Entry:
    """Summarize the runs of a system on a treebank. `epochs`: keep UAS by epoch, the use of moves,
    and the share of sentences that are right, too."""
    runs = dict(sorted(runs.items()))
    every = list(runs.values())
    first = every[0]
    kept = ("config", "overrides", "teachers", "evaluated_with", "epochs", "build", "command")
    entry: Entry = {"seeds": list(runs)}
    entry |= {key: first[key] for key in (*kept, "tags") if key in first}
    entry |= {"switch": "switch" in first, "snapshot": first["snapshot"]}
    entry["made_with"] = made_with(first)
    entry["training_seconds"] = spread([run["training"]["seconds"] for run in every])
    for split in SPLITS:
        if not all(split in run for run in every):
            continue
        evaluations = [run[split] for run in every]
        found: dict[str, Any] = {"words": first[split]["n_words"]}
        for name in SCORES:
            score = spread([one["scores"].get(name) for one in evaluations])
            if score is not None:
                found[name] = score
        for counted in ("heads", "labelled") if epochs else ():
            found[f"exact_{counted}"] = spread([exact(run, split, counted) for run in every])
        entry[split] = found
    if epochs:
        curves = [by_epoch(run) for run in every if "curve" in run]
        entry["uas_by_epoch"] = {
            str(epoch): [curve[epoch] for curve in curves if epoch in curve]
            for epoch in sorted({epoch for curve in curves for epoch in curve})
        }
        entry["moves"] = summarize_moves(runs)
    return entry


def summarize(
    results: dict[str, dict[str, Runs]], pairs: Iterable[Pair], epochs: bool = False
) -> dict[str, Any]:
    """Summarize the runs of a benchmark that trains systems (as from `runs.load`): `systems` and
    `comparisons` by treebank. A pair of which a treebank lacks a system is left out. `epochs` is as
    for `summarize_system`."""
    pairs = list(pairs)
    summary: dict[str, Any] = {"systems": {}, "comparisons": {}}
    for treebank, systems in results.items():
        summary["systems"][treebank] = {
            name: summarize_system(runs, epochs) for name, runs in systems.items()
        }
        comparisons = {}
        for pair in pairs:
            own, other = (
                {n: run for n, run in systems.get(name, {}).items() if pair.split in run}
                for name in (pair.system, pair.baseline)
            )
            found = compare_runs(own, other, pair.split, pair.metric)
            if found is not None:
                comparisons[pair.key] = asdict(found)
        if comparisons:
            summary["comparisons"][treebank] = comparisons
    return summary


@dataclass(frozen=True)
class Change:
    """A change of a summary: what is said of it, and whether something that was known goes."""

    text: str
    loses: bool = False


def by_seed(entry: Entry) -> dict[tuple[str, str, int], Any]:
    """The scores of a system's summary by split, metric and seed."""
    return {
        (split, metric, seed): value
        for split in SPLITS
        for metric, score in entry.get(split, {}).items()
        if isinstance(score, dict)
        for seed, value in zip(entry["seeds"], score["seeds"], strict=True)
    }


def merge(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    """Put what was summarized now into a summary, in place; yields what was changed. What is
    compared with a system that has new runs goes, unless it was compared now."""
    for treebank, systems in new["systems"].items():
        known = old.setdefault("systems", {}).setdefault(treebank, {})
        comparisons = old.setdefault("comparisons", {}).setdefault(treebank, {})
        fresh = new["comparisons"].get(treebank, {})
        for name, entry in systems.items():
            if known.get(name) == entry:
                continue
            before = known[name]["seeds"] if name in known else "none"
            loses = name in known and not by_seed(known[name]).items() <= by_seed(entry).items()
            yield Change(f"{treebank} {name}: seeds {before} -> {entry['seeds']}", loses)
            known[name] = entry
            for key in [key for key in comparisons if name in key.split(",")[0].split(" - ")]:
                if key not in fresh:
                    yield Change(f"{treebank}: not compared, for want of runs: {key}", loses=True)
                    del comparisons[key]
        comparisons.update(fresh)
        old["systems"][treebank] = dict(sorted(known.items()))
        old["comparisons"][treebank] = dict(sorted(comparisons.items()))
