"""Compare all parsers on one treebank: ours, spaCy's, and UDPipe 1.

    python -m benchmarks.compare assets/UD_Hungarian-Szeged --epochs 30 --seeds 1 2 3
    python -m benchmarks.compare assets/UD_Hungarian-Szeged --udpipe swap \\
        --udpipe-options "iterations=5;structured_interval=0"
    python -m benchmarks.table benchmarks/runs/compare --split test_preset

The package's parsers get the same data and epochs, ours and spaCy's the same token vectors;
spaCy's is there once more as installed. A system is given as to benchmarks.accuracy, which trains
it. UDPipe is trained once per transition system, as its authors train it, with the tags that its
own tagger predicts; `--udpipe` alone leaves it out. Each run becomes one file,
benchmarks/runs/compare/TREEBANK/SYSTEM-seedN.json. Runs that have theirs are kept, so a command
that was stopped goes on where it was; a file that was made in another way is refused.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks import accuracy, udpipe
from benchmarks.common import ROOT, command_line, program, record, run
from benchmarks.runs import Keeper
from benchmarks.training import EVALUATIONS, PARTS, duration, settings_of
from benchmarks.treebanks import (
    Treebank,
    add_run_arguments,
    add_treebank_arguments,
    open_treebank,
)

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


def udpipe_options(treebank: Treebank, system: str, parser: str, tagger: str) -> dict[str, str]:
    """UDPipe's options for `tagger` and `parser` in a run of one of the systems of UDPIPE, with
    further ones. Raises a ValueError if there are no CoNLL-U files, or an option is malformed; an
    ImportError if a package is not installed."""
    if not treebank.conllu:
        raise ValueError(f"{treebank.name} has no CoNLL-U files, as UDPipe needs: give --udpipe.")
    for package in ("ufal.udpipe", "udtools"):
        if find_spec(package.partition(".")[0]) is None:
            raise ImportError(f"No package {package}: install it, or give --udpipe.")
    return {
        "tagger": udpipe.merge_options(udpipe.TAGGER, tagger),
        "parser": udpipe.merge_options(udpipe.PARSER, UDPIPE[system], parser),
    }


def train_udpipe(
    treebank: Treebank, name: str, options: dict[str, str], work: Path
) -> dict[str, Any]:
    """Do one run of UDPipe with its options for `tagger` and `parser`: the run's contents. All
    systems use the tagger in `work`; the time of training is that of the parser alone. Raises a
    RuntimeError if a step fails."""
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
    iterations = udpipe.iterations(options["parser"])
    return {
        **settings_of(treebank, name, "UDPipe 1", options),
        "seed": UDPIPE_SEED,
        "epochs": iterations,
        "command": f'python -m benchmarks.udpipe tagger --options "{options["tagger"]}"; '
        f'python -m benchmarks.udpipe parser --options "{options["parser"]}"',
        "versions": {**about["versions"], "ufal.udpipe": metadata.version("ufal.udpipe")},
        "machine": about["machine"],
        "training": duration(treebank, iterations, seconds),
        # it parses the sentences it is given, and never splits one
        **{name: evaluations[split] for name, (split, _) in EVALUATIONS.items()},
    }


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    parser = command_line(__doc__)
    add_treebank_arguments(parser)
    parser.add_argument("--system", action="append", metavar="NAME[=BASE[,KEY=VALUE]...]")
    add_run_arguments(parser, "compare", epochs=30, least="*")
    parser.add_argument("--udpipe", nargs="*", choices=tuple(UDPIPE), default=list(UDPIPE))
    parser.add_argument("--udpipe-options", default="", metavar="KEY=VALUE[;KEY=VALUE]...")
    parser.add_argument("--udpipe-tagger-options", default="", metavar="KEY=VALUE[;KEY=VALUE]...")
    args = parser.parse_args(argv)
    further = [text.strip("\"'") for text in (args.udpipe_options, args.udpipe_tagger_options)]
    keeper = Keeper("compare", args.runs / args.treebank.resolve().name)
    treebank = open_treebank(args)
    merged = {
        f"udpipe_{system}": udpipe_options(treebank, system, *further) for system in args.udpipe
    }
    status = 0
    if args.seeds:
        status = accuracy.train(args, args.treebank, args.system or SYSTEMS)
    for name, options in merged.items():
        make = partial(train_udpipe, treebank, name, options, args.work)
        expected = {"files": treebank.files, "overrides": options}
        keeper.keep(name, UDPIPE_SEED, make, expected)
    return keeper.status() or status


if __name__ == "__main__":
    raise SystemExit(main())
