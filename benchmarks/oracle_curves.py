"""Draw what swap_parser learns by each oracle, epoch by epoch (BN15, Figures 5 and 6).

    python -m spacy project run oracles
    python -m benchmarks.oracle_curves assets/UD_Hungarian-Szeged --epochs 15

Learning curves: the LAS on dev (greedy search, gold sentences) at the end of each epoch, the mean
of all seeds whose logs the project's command `oracles` has left. The picture shows what lies within
five points of the best.

SWAPs: how many each training sentence needs in the derivations that are learned. A static oracle's
derivations never change. Where an oracle allows several moves, training follows the one that its
model likes best, so they change with the model: one is trained by each such oracle, as by that
command, and they are counted at the start of each epoch.

Result: benchmarks/runs/oracle_curves/TREEBANK.json, and the pictures
docs/images/learning-TREEBANK.png and swaps-TREEBANK.png. Oracles that have their SWAPs in the
result are not trained again.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT, RUNS, WORK, command_line, complain, record, run
from benchmarks.formats import markdown
from benchmarks.systems import find_system
from benchmarks.treebanks import Treebank, convert_treebank
from spacy_nmparse.analysis.plots import draw, learning_curve, read_lines
from spacy_nmparse.systems.swap.counts import SWAP_ORACLES, count_swaps
from spacy_nmparse.ud.corpus import read_sentences, whole_trees
from spacy_nmparse.ud.records import dump

LEARNED = ("nd_sw", "nd_all")
ORACLES = (*SWAP_ORACLES, *LEARNED)


def mean_curve(logs: Sequence[Path]) -> list[list[float]]:
    """Average learning curves.

    Args:
        logs: What `spacy train` has printed, for each seed.

    Returns:
        [epoch, mean LAS in percent, its standard deviation] for the epochs that all have.
    """
    curves = [dict(learning_curve(log)) for log in logs]
    rows = []
    for epoch in sorted(set.intersection(*map(set, curves))):
        scores = [curve[epoch] for curve in curves]
        deviation = statistics.stdev(scores) if len(scores) > 1 else 0.0
        rows.append([int(epoch), statistics.fmean(scores), deviation])
    return rows


def count_learned(
    treebank: Treebank, oracle: str, epochs: int, seed: int, work: Path
) -> list[list[float]]:
    """Train a parser by an oracle and count the SWAPs that it learns.

    Args:
        treebank: The data.
        oracle: Its name.
        epochs: Passes over the training data.
        seed: The random seed.
        work: The folder for models and logs.

    Returns:
        [epoch, SWAPs per training sentence at its start].

    Raises:
        RuntimeError: If training fails.
    """
    output = work.resolve() / treebank.name / f"{oracle}-seed{seed}"
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    counted = output / "swaps.jsonl"
    count = {
        "@callbacks": "spacy_nmparse.count_swaps.v1",
        "corpus": str(treebank.corpus["train"]),
        "output": str(counted),
        "oracles": [oracle],
        "limit": treebank.train_words,  # all sentences
    }
    config = find_system("swap_parser_multihash").write(output, {"training.before_update": count})
    command = ["-m", "spacy", "train", str(config), "--output", str(output)]
    settings = {
        "paths.train": treebank.corpus["train"],
        "paths.dev": treebank.corpus["dev"],
        "nlp.lang": treebank.lang,
        "system.seed": seed,
        "corpora.train.gold_preproc": "true",
        "training.max_epochs": epochs,
        "training.eval_frequency": max(50, treebank.train_words // 500),
        "components.parser.oracle": oracle,
        "components.parser.explore": 0.0,
    }
    for key, value in settings.items():
        command += [f"--{key}", str(value)]
    run(command, output / "log.txt", f"[{treebank.name} {oracle}]")
    return [[line["epoch"], line["swaps_per_sentence"]] for line in read_lines(counted)]


def three(curve: Sequence[Sequence[float]], digits: int) -> list[str]:
    """Format a curve's first, middle and last value; "-" where there is none."""
    return [f"{curve[place][1]:.{digits}f}" if curve else "-" for place in (0, len(curve) // 2, -1)]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: Arguments; those of the process by default.

    Returns:
        The exit status.
    """
    parser = command_line(__doc__)
    parser.add_argument("treebank", type=Path, help="folder of a UD treebank")
    parser.add_argument(
        "--local", default="", metavar="FOLDER", help="use this folder instead of TREEBANK"
    )
    parser.add_argument(
        "--learned", nargs="*", choices=LEARNED, default=LEARNED, help="count the SWAPs of these"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--lang", help="spaCy language code; by default from the file names")
    parser.add_argument("--snapshot", default="unknown", help="release of the treebank")
    parser.add_argument(
        "--logs", type=Path, default=WORK / "accuracy", help="--work of benchmarks.accuracy"
    )
    parser.add_argument("--work", type=Path, default=WORK / "oracle_curves")
    parser.add_argument("--runs", type=Path, default=RUNS)
    parser.add_argument("--images", type=Path, default=ROOT / "docs" / "images")
    arguments = parser.parse_args(argv)
    local = arguments.local.strip("\"'")  # an empty variable of project.yml may arrive as quotes
    folder = Path(local) if local else arguments.treebank
    try:
        treebank = convert_treebank(
            folder, arguments.work, arguments.lang, arguments.snapshot, 1, with_single=False
        )
        logs = {
            oracle: sorted((arguments.logs / treebank.name).glob(f"swap_{oracle}-seed*/log.txt"))
            for oracle in ORACLES
        }
        missing = [oracle for oracle, found in logs.items() if not found]
        if missing:
            raise ValueError(
                f"No logs of {', '.join(missing)} in {arguments.logs / treebank.name}: train them "
                f"first, `python -m spacy project run oracles`."
            )
        las = {oracle: mean_curve(found) for oracle, found in logs.items()}
    except (OSError, ValueError) as error:
        return complain("oracle_curves", error)
    target = arguments.runs / "oracle_curves" / f"{treebank.name}.json"
    settings = {"seed": arguments.seed, "epochs": arguments.epochs, "files": treebank.files}
    swaps: dict[str, Any] = {}
    if target.is_file():
        before = json.loads(target.read_text(encoding="utf-8"))
        if all(before[key] == value for key, value in settings.items()):
            swaps = before["swaps"]
    trees = whole_trees(read_sentences(treebank.corpus["train"]))
    for oracle, count in count_swaps(trees)["swaps"].items():
        swaps[oracle] = [[epoch, round(count / len(trees), 4)] for epoch in range(arguments.epochs)]
    for oracle in (None, *arguments.learned):
        if oracle is not None and oracle not in swaps:
            try:
                swaps[oracle] = count_learned(
                    treebank, oracle, arguments.epochs, arguments.seed, arguments.work
                )
            except RuntimeError as error:
                return complain("oracle_curves", error)
        swaps = {name: swaps[name] for name in ORACLES if name in swaps}
        result: dict[str, Any] = {"treebank": treebank.name, "snapshot": treebank.snapshot}
        result |= {**settings, "seeds_of_las": {name: len(found) for name, found in logs.items()}}
        result |= {**record(), "las": las, "swaps": swaps}
        dump(result, target)

    arguments.images.mkdir(parents=True, exist_ok=True)
    floor = max(row[1] for curve in las.values() for row in curve) - 5
    seen = {oracle: [row for row in curve if row[1] > floor] for oracle, curve in las.items()}
    for name, y, curves in (
        ("learning", "LAS on dev", seen),
        ("swaps", "SWAPs per training sentence", swaps),
    ):
        points = {oracle: [(row[0], row[1]) for row in rows] for oracle, rows in curves.items()}
        output = arguments.images / f"{name}-{treebank.name}.png"
        draw(points, output, x="epoch", y=y, title=treebank.name)
    rows = [
        [oracle, *three(las[oracle], 2), *three(swaps.get(oracle, []), 3)] for oracle in ORACLES
    ]
    header = [
        "oracle",
        "LAS: first epoch",
        "middle",
        "last",
        "SWAPs: first epoch",
        "middle",
        "last",
    ]
    print(markdown(header, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
