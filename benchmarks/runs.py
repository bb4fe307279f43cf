"""Runs: a file each, of a system with a seed on a treebank. One that has its file is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.common import complain
from spacy_nmparse.analysis.significance import Comparison, compare
from spacy_nmparse.cli.records import dump

Run = dict[str, Any]
Runs = dict[int, Run]  # the runs of one system on one treebank, by seed


def load(folder: Path) -> dict[str, dict[str, Runs]]:
    """Read the runs of a folder with one folder per treebank: by treebank, system and seed. Raises
    a FileNotFoundError if there are none."""
    found: dict[str, dict[str, Runs]] = {}
    for path in sorted(folder.glob("*/*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))
        systems = found.setdefault(run["treebank"], {})
        systems.setdefault(run["system"], {})[run["seed"]] = run
    if not found:
        raise FileNotFoundError(f"No runs in {folder}: make some with benchmarks.accuracy.")
    return found


def compare_runs(system: Runs, baseline: Runs, split: str, metric: str) -> Comparison | None:
    """Compare the runs of a system with the baseline's in one of TESTED; None if they have no seed
    in common. Raises a ValueError if they were not evaluated on the same sentences."""
    seeds = sorted(set(system) & set(baseline))
    if not seeds:
        return None
    words = baseline[seeds[0]][split]["per_sentence"]["words"]
    for run in (runs[seed] for runs in (system, baseline) for seed in seeds):
        if run[split]["per_sentence"]["words"] != words:
            raise ValueError(
                f"{run['system']}-seed{run['seed']} was evaluated on other sentences of "
                f"{run['treebank']} {split} than the rest: delete its file and run it again."
            )
    own, other = ([runs[seed][split] for seed in seeds] for runs in (system, baseline))
    return compare(own, other, metric)


def check(path: Path, expected: Mapping[str, Any]) -> None:
    """Make sure that a run was made as it would be now. Raises a ValueError if its file holds
    something else than expected."""
    found = json.loads(path.read_text(encoding="utf-8"))
    for key, value in expected.items():
        if found.get(key) != value:
            raise ValueError(
                f"{path.name} was made with {key} = {found.get(key)!r}, not {value!r}: delete it, "
                "or give another folder as --runs."
            )


class Keeper:
    """Does runs of a benchmark, and keeps their files in a folder. `failed` are the names of those
    that could not be made."""

    def __init__(self, benchmark: str, folder: Path) -> None:
        """Begin with no failure."""
        self.benchmark = benchmark
        self.folder = folder
        self.failed: list[str] = []

    def path(self, system: str, seed: int) -> Path:
        """The file of a run."""
        return self.folder / f"{system}-seed{seed}.json"

    def keep(
        self, system: str, seed: int, make: Callable[[], Run], expected: Mapping[str, Any]
    ) -> bool:
        """Do a run unless its file is there, which must hold what is expected. Whether it is there
        now: if not, the error has been printed. Raises a ValueError if the file was made in another
        way."""
        path = self.path(system, seed)
        if path.is_file():
            check(path, expected)
            print(f"{path.name}: done before", flush=True)
            return True
        try:
            result = make()
        except RuntimeError as error:
            complain(self.benchmark, error)
            self.failed.append(path.name)
            return False
        dump(result, path)
        print(f"{path.name}: {outcome(result)}", flush=True)
        return True

    def status(self) -> int:
        """The exit status of a command, after a last word on what has failed."""
        return complain(self.benchmark, f"failed: {', '.join(self.failed)}") if self.failed else 0


def outcome(run: Run) -> str:
    """A run in a few words: accuracy in its first evaluation, seconds of training."""
    split = next(name for name in run if name.partition("_")[0] in ("dev", "test"))
    scores = run[split].get("conll18") or {}
    if "scores" in run[split]:
        scores = {name: run[split]["scores"][f"{name.lower()}_all"] for name in ("UAS", "LAS")}
    shown = " ".join(f"{name} {100 * scores[name]:.2f}" for name in ("UAS", "LAS"))
    return f"{split} {shown}, {run['training']['seconds']:.0f} s"
