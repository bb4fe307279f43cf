"""Compare all parsers on one treebank: ours, spaCy's, UDPipe 1, Stanza's and SuPar's.

    python -m benchmarks.compare assets/UD_Hungarian-Szeged --epochs 30 --seeds 1 2 3
    python -m benchmarks.compare assets/UD_Hungarian-Szeged --udpipe swap \\
        --udpipe-options "iterations=5;structured_interval=0"
    python -m benchmarks.compare assets/UD_Hungarian-Szeged --table

The parsers of configs/ get the same data and epochs, ours and spaCy's the same token vectors;
spaCy's is there once more as installed. A system is given as to benchmarks.accuracy. UDPipe is
trained once per transition system, as its authors train it, with the tags that its own tagger
predicts; `--udpipe` alone leaves it out. The graph parsers of Stanza and SuPar are trained if
`--stanza` and `--supar` name the Python of an environment that has them. Each run becomes one file,
benchmarks/runs/compare/TREEBANK/SYSTEM-seedN.json. Runs that have theirs are kept, so a command
that was stopped goes on where it was; a file that was made in another way is refused.

At the end, and with `--table` at once, the results are printed as Markdown. Intervals (95 %) and p
are by bootstrap over sentences, 10,000 samples, of the counts averaged over seeds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import graph_parsers, udpipe
from benchmarks.accuracy import train_and_evaluate
from benchmarks.common import ROOT, command_line, complain, record, run, show
from benchmarks.formats import markdown, mean_and_deviation
from benchmarks.graph_parsers import GRAPH_PARSERS, GraphParser
from benchmarks.significance import Runs, bootstrap, load
from benchmarks.systems import System, parse_system
from benchmarks.training import EVALUATIONS, PARTS
from benchmarks.treebanks import (
    Treebank,
    add_data_arguments,
    add_run_arguments,
    folder_of,
    open_treebank,
)
from spacy_nmparse.ud.records import dump, parse_settings

SYSTEMS = (
    "nm_parser",
    "nl_covington_parser",
    "swap_parser",
    "spacy_parser",
    "spacy_parser_multihash",
    "spacy_parser_multihash_freq1",
)
#: UDPipe's transition systems, each with the oracle its authors chose most often for it.
UDPIPE = {
    "projective": "transition_system=projective;transition_oracle=dynamic",
    "swap": "transition_system=swap;transition_oracle=static_lazy",
    "link2": "transition_system=link2;transition_oracle=static",
}
UDPIPE_SEED = 1  # its own, which cannot be set
COLUMNS = {
    "UAS": ("scores", "uas_all"),
    "LAS": ("scores", "las_all"),
    "spaCy UAS": ("scores", "dep_uas"),
    "spaCy LAS": ("scores", "dep_las"),
    "CoNLL UAS": ("conll18", "UAS"),
    "CoNLL LAS": ("conll18", "LAS"),
    "CLAS": ("conll18", "CLAS"),
    "sentences": ("scores", "dep_exact"),
    "crossing P": ("scores", "nonproj_p"),
    "crossing R": ("scores", "nonproj_r"),
}


@dataclass(frozen=True)
class Run:
    """A run to do.

    Attributes:
        name: Of its file.
        expected: What a file that is there already must hold.
        make: Does the run and returns the contents of the file.
    """

    name: str
    expected: dict[str, Any]
    make: Callable[[], dict[str, Any]]


def spacy_runs(
    treebank: Treebank,
    systems: Sequence[System],
    seeds: Sequence[int],
    epochs: int,
    work: Path,
    extra: dict[str, Any],
) -> list[Run]:
    """List the runs of the parsers that spaCy trains, seed by seed.

    Args:
        treebank: The data.
        systems: The parsers.
        seeds: The random seeds.
        epochs: Passes over the training data.
        work: The folder for models and logs.
        extra: Further settings, the same for all systems.

    Returns:
        The runs.
    """
    return [
        Run(
            f"{system.name}-seed{seed}",
            {
                "epochs": epochs,
                "overrides": {**system.overrides, **extra},
                "files": treebank.files,
                "config": system.config.name,
            },
            partial(train_and_evaluate, treebank, system, seed, epochs, work, extra),
        )
        for seed in seeds
        for system in systems
    ]


def udpipe_runs(
    treebank: Treebank, systems: Sequence[str], options: str, tagger_options: str, work: Path
) -> list[Run]:
    """List the runs of UDPipe.

    Args:
        treebank: The data.
        systems: Keys of UDPIPE.
        options: Further options for the parsers.
        tagger_options: Further options for the tagger.
        work: The folder for models and logs.

    Returns:
        The runs.

    Raises:
        ValueError: If there are no CoNLL-U files, or an option is malformed.
        ImportError: If ufal.udpipe is not installed.
    """
    if not systems:
        return []
    if not treebank.conllu:
        raise ValueError(f"{treebank.name} has no CoNLL-U files, as UDPipe needs: give --udpipe.")
    for package in ("ufal.udpipe", "udtools"):
        if find_spec(package.partition(".")[0]) is None:
            raise ImportError(f"No package {package}: install it, or give --udpipe.")
    tagger = udpipe.merge_options(udpipe.TAGGER, tagger_options)
    runs = []
    for system in systems:
        merged = udpipe.merge_options(udpipe.PARSER, UDPIPE[system], options)
        expected = {
            "files": treebank.files,
            "overrides": {"tagger": tagger, "parser": merged},
        }
        make = partial(train_udpipe, treebank, f"udpipe_{system}", expected["overrides"], work)
        runs.append(Run(f"udpipe_{system}-seed{UDPIPE_SEED}", expected, make))
    return runs


def train_udpipe(
    treebank: Treebank, name: str, options: dict[str, str], work: Path
) -> dict[str, Any]:
    """Do one run of UDPipe.

    Args:
        treebank: The data.
        name: The name of the system.
        options: UDPipe's options for `tagger` and `parser`.
        work: The folder for models and logs. The tagger there is used by all systems.

    Returns:
        The contents of the result file.

    Raises:
        RuntimeError: If a step fails.
    """
    folder = work.resolve() / treebank.name / name
    folder.mkdir(parents=True, exist_ok=True)
    log, prefix = folder / "log.txt", f"[{treebank.name} {name}]"
    program = ["-m", "benchmarks.udpipe"]
    files = [str(treebank.conllu[split]) for split in ("train", "dev")]
    tagger = folder.parent / "udpipe_tagger" / "tagger.model"
    made_with = tagger.with_name("options.json")
    if not (tagger.is_file() and json.loads(made_with.read_text()) == options["tagger"]):
        tagger.parent.mkdir(exist_ok=True)
        made_with.write_text(json.dumps(options["tagger"]), encoding="utf-8")
        tagger.unlink(missing_ok=True)
        command = [*program, "tagger", *files, str(tagger), "--options", options["tagger"]]
        run(command, log, f"{prefix} tagger:", ROOT)
    model = folder / "parser.model"
    command = [*program, "parser", *files, str(model), "--tagger", str(tagger)]
    seconds = run([*command, "--options", options["parser"]], log, prefix, ROOT)
    evaluations = {}
    for split in ("dev", "test"):
        target = folder / f"{split}.json"
        command = [*program, "evaluate", str(model), str(treebank.conllu[split])]
        command += [str(treebank.corpus[split]), "--output", str(target)]
        run(command, log, f"{prefix} {split}:", ROOT)
        result = json.loads(target.read_text(encoding="utf-8"))
        evaluations[split] = {part: result[part] for part in PARTS}
    about = record()
    iterations = int(dict(o.split("=", 1) for o in options["parser"].split(";"))["iterations"])
    return {
        "system": name,
        "config": "UDPipe 1",
        "overrides": options,
        "treebank": treebank.name,
        "snapshot": treebank.snapshot,
        "files": treebank.files,
        "lang": treebank.lang,
        "seed": UDPIPE_SEED,
        "epochs": iterations,
        "command": f'python -m benchmarks.udpipe tagger --options "{options["tagger"]}"; '
        f'python -m benchmarks.udpipe parser --options "{options["parser"]}"',
        "versions": {**about["versions"], "ufal.udpipe": metadata.version("ufal.udpipe")},
        "machine": about["machine"],
        "training": {
            "words": treebank.train_words,
            # the parser alone, start and evaluations on dev included
            "seconds": round(seconds, 1),
            "words_per_second": round(treebank.train_words * iterations / seconds, 1),
        },
        # it parses the sentences it is given, and never splits one
        **{name: evaluations[split] for name, (split, _) in EVALUATIONS.items()},
    }


def graph_run(
    parser: GraphParser, treebank: Treebank, python: Path, options: str, work: Path
) -> Run:
    """Prepare the run of a graph parser of another project.

    Args:
        parser: The parser.
        treebank: The data.
        python: The Python of an environment that has the parser.
        options: Settings that differ from the parser's.
        work: The folder for models and logs.

    Returns:
        The run.

    Raises:
        ValueError: If there are no CoNLL-U files, or an option is malformed.
        ImportError: If the parser is not installed there.
        OSError: If there is no such Python.
    """
    if not treebank.conllu:
        raise ValueError(
            f"{treebank.name} has no CoNLL-U files, as {parser.title} needs: drop --{parser.name}."
        )
    settings = graph_parsers.read_options(options, parser.title)
    # It runs in another folder. Its links stay: they lead to its environment.
    python = python.absolute()
    graph_parsers.versions(parser, python)
    make = partial(graph_parsers.train, parser, treebank, python, settings, work)
    expected = {"files": treebank.files, "overrides": settings}
    return Run(f"{parser.name}-seed{graph_parsers.SEED}", expected, make)


def check(path: Path, expected: dict[str, Any]) -> None:
    """Make sure that a result was made as it would be now.

    Args:
        path: The result file.
        expected: What it must hold.

    Raises:
        ValueError: If it holds something else.
    """
    found = json.loads(path.read_text(encoding="utf-8"))
    for key, value in expected.items():
        if found.get(key) != value:
            raise ValueError(
                f"{path.name} was made with {key} = {found.get(key)!r}, not {value!r}: delete it, "
                "or give another folder as --runs."
            )


def do(runs: Sequence[Run], folder: Path) -> list[str]:
    """Do the runs that have no file, and say how far it is.

    Args:
        runs: The runs.
        folder: The folder for the files.

    Returns:
        The names of the runs that failed.

    Raises:
        ValueError: If a file was made in another way.
    """
    for one in runs:
        if (folder / f"{one.name}.json").is_file():
            check(folder / f"{one.name}.json", one.expected)
    failed = []
    start = time.monotonic()
    for number, one in enumerate(runs, start=1):
        target = folder / f"{one.name}.json"
        place = f"[{number}/{len(runs)}] {one.name}"
        if target.is_file():
            print(f"{place}: done before", flush=True)
            continue
        print(f"{place}: begins, {(time.monotonic() - start) / 60:.0f} min so far", flush=True)
        try:
            result = one.make()
        except RuntimeError as error:
            complain("compare", error)
            failed.append(one.name)
            continue
        dump(result, target)
        las = 100 * result["dev"]["scores"]["las_all"]
        print(f"{place}: dev LAS {las:.2f}, {result['training']['seconds']:.0f} s", flush=True)
    return failed


def counts(runs: Runs, split: str, name: str) -> np.ndarray:
    """Average the counts of each sentence over seeds.

    Args:
        runs: The results of one system by seed.
        split: The evaluation.
        name: "words", "heads" or "labelled".

    Returns:
        Float array (sentences,).
    """
    return np.mean([run[split]["per_sentence"][name] for run in runs.values()], axis=0)


def by_length(runs: Runs, split: str) -> dict[str, float | None]:
    """Compute LAS by length of the gold arc.

    Args:
        runs: The results of one system by seed.
        split: The evaluation.

    Returns:
        LAS by bin; None where there is no such arc.
    """
    first = next(iter(runs.values()))[split]["by_length"]
    found: dict[str, float | None] = {}
    for name in first:
        words = sum(run[split]["by_length"][name]["words"] for run in runs.values())
        right = sum(run[split]["by_length"][name]["labelled"] for run in runs.values())
        found[name] = right / words if words else None
    return found


def report(systems: dict[str, Runs], split: str, baselines: Sequence[str]) -> str:
    """Write the tables of one treebank.

    Args:
        systems: The results by system and seed.
        split: The evaluation to report.
        baselines: The systems to compare the others with; those without results are left out.

    Returns:
        Markdown.

    Raises:
        ValueError: If the systems were evaluated on different sentences.
    """
    words = None
    for name, runs in systems.items():
        for run_ in runs.values():
            own = run_[split]["per_sentence"]["words"]
            words = own if words is None else words
            if own != words:
                raise ValueError(
                    f"{name}-seed{run_['seed']} was evaluated on other sentences of {split} than "
                    "the rest: delete its file and run it again."
                )
    assert words is not None
    total = np.asarray(words, dtype=float)

    rows = []
    for name, runs in systems.items():
        evaluations = [run_[split] for run_ in runs.values()]
        low, high, _ = bootstrap(counts(runs, split, "labelled"), total)
        epochs = sorted({run_["epochs"] for run_ in runs.values()})
        row = [name, str(len(runs)), "/".join(str(number or "-") for number in epochs)]
        for part, metric in COLUMNS.values():
            values = [evaluation.get(part, {}).get(metric) for evaluation in evaluations]
            row.append(mean_and_deviation(values, 100, 2))
            if metric == "las_all":
                row.append(f"{100 * low:.2f} … {100 * high:.2f}")
        row.append(mean_and_deviation((e["words_per_second"] for e in evaluations), 1, 0))
        rows.append(row)
    header = ["system", "seeds", "epochs", *COLUMNS, "words/s"]
    header.insert(header.index("LAS") + 1, "95 %")
    parts = [markdown(header, rows)]

    for baseline in baselines:
        if baseline not in systems:
            continue
        rows = []
        for name, runs in systems.items():
            for metric, column in (("UAS", "heads"), ("LAS", "labelled")):
                if name == baseline:
                    continue
                difference = counts(runs, split, column)
                difference = difference - counts(systems[baseline], split, column)
                low, high, p = bootstrap(difference, total)
                row = [name, metric, f"{100 * difference.sum() / total.sum():+.2f}"]
                rows.append([*row, f"{100 * low:+.2f} … {100 * high:+.2f}", f"{p:.4f}"])
        if rows:
            header = [f"against {baseline}", "metric", "difference", "95 % interval", "p"]
            parts.append(markdown(header, rows))

    lengths = {name: by_length(runs, split) for name, runs in systems.items()}
    bins = list(next(iter(lengths.values())))
    rows = [
        [name, *(mean_and_deviation([found[one]], 100, 1) for one in bins)]
        for name, found in lengths.items()
    ]
    parts.append(markdown(["LAS by length of arc", *bins], rows))
    return "\n\n".join(parts)


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments, by default those of the process.

    Returns:
        The exit status.
    """
    parser = command_line(__doc__)
    add_data_arguments(parser)
    add_run_arguments(parser, "compare", epochs=30, least="*")
    parser.add_argument("--udpipe", nargs="*", choices=tuple(UDPIPE), default=list(UDPIPE))
    parser.add_argument("--udpipe-options", default="", metavar="KEY=VALUE[;KEY=VALUE]...")
    parser.add_argument("--udpipe-tagger-options", default="", metavar="KEY=VALUE[;KEY=VALUE]...")
    for one in GRAPH_PARSERS:
        name, text = f"--{one.name}", f"also train {one.title}'s parser"
        parser.add_argument(name, type=Path, metavar="PYTHON", help=text)
        parser.add_argument(f"{name}-options", default="", metavar="KEY=VALUE[;KEY=VALUE]...")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    parser.add_argument("--split", choices=tuple(EVALUATIONS), default="test_preset")
    parser.add_argument("--baseline", action="append", metavar="NAME")
    args = parser.parse_args(argv)
    folder = folder_of(args)
    failed: list[str] = []
    try:
        if not args.table:
            extra = parse_settings(args.set)
            treebank = open_treebank(args)
            systems = [parse_system(text) for text in args.system or SYSTEMS]
            options = (args.udpipe_options.strip("\"'"), args.udpipe_tagger_options.strip("\"'"))
            runs = spacy_runs(treebank, systems, args.seeds, args.epochs, args.work, extra)
            runs += udpipe_runs(treebank, args.udpipe, *options, args.work)
            for one in GRAPH_PARSERS:
                python, text = (getattr(args, one.name + end) for end in ("", "_options"))
                if python is not None:
                    runs.append(graph_run(one, treebank, python, text, args.work))
            failed = do(runs, args.runs / folder.name)
        found = load(args.runs).get(folder.name)
        if found is None:
            raise FileNotFoundError(f"No runs of {folder.name} in {args.runs}.")
        spacys = ("spacy_parser", "spacy_parser_multihash")
        others = [*(f"udpipe_{name}" for name in UDPIPE), *(one.name for one in GRAPH_PARSERS)]
        baselines = args.baseline or [*spacys, *others]
        text = f"## {folder.name} ({args.split})\n\n" + report(found, args.split, baselines)
    except (ImportError, OSError, ValueError) as error:
        return complain("compare", error)
    show(text)
    (args.runs / folder.name / "table.md").write_text(text + "\n", encoding="utf-8")
    return complain("compare", f"failed: {', '.join(failed)}") if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
