"""The same seed, the same data: are the trained weights the same, bit for bit?

    python -m tests.same_weights corpus/demo/train.spacy corpus/demo/dev.spacy --steps 100

trains each of the configs by ``spacy train``, in processes with different PYTHONHASHSEED, and
compares all files of the trained pipelines but meta.json (which has times in it). Prints one line
per config; the exit status is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CONFIGS = Path(__file__).resolve().parent.parent / "configs"
DEFAULT = ("nm_parser.cfg", "nl_covington_parser.cfg", "swap_parser.cfg")


def digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "meta.json"
    }


def train(config: Path, out: Path, hash_seed: str, overrides: dict[str, str]) -> dict[str, str]:
    """Train in another process; returns the digests of the last checkpoint.

    Raises RuntimeError where the training fails.
    """
    command = [sys.executable, "-m", "spacy", "train", str(config), "--output", str(out)]
    for name, value in overrides.items():
        command += [f"--{name}", value]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": hash_seed}
    )
    if done.returncode:
        raise RuntimeError(f"The training failed:\n{done.stdout}{done.stderr}")
    return digests(out / "model-last")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("train", type=Path, help=".spacy file")
    parser.add_argument("dev", type=Path, help=".spacy file")
    parser.add_argument(
        "--config", type=Path, action="append", default=[], help="all factories' by default"
    )
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--hash-seeds", nargs="+", default=["1", "2", "3"])
    options = parser.parse_args(arguments)
    failed = False
    print("| Config | Trainings | Files | Different |\n| --- | ---: | ---: | ---: |")
    for config in options.config or [CONFIGS / name for name in DEFAULT]:
        overrides = {
            "paths.train": str(options.train),
            "paths.dev": str(options.dev),
            "training.max_steps": str(options.steps),
            "training.eval_frequency": str(options.steps),
        }
        with tempfile.TemporaryDirectory() as folder:
            found = [train(config, Path(folder), seed, overrides) for seed in options.hash_seeds]
        names = set().union(*found)
        different = [name for name in names if len({one.get(name) for one in found}) > 1]
        failed = failed or bool(different)
        print(f"| {config.name} | {len(found)} | {len(names)} | {len(different)} |", flush=True)
        for name in different:
            print("   ", name, flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
