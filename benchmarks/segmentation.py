"""Find sentences: our parsers next to spaCy's parser and senter.

    python -m benchmarks.segmentation assets/UD_Gothic-PROIEL --epochs 20 --seeds 1 2 3
    python -m benchmarks.segmentation assets/UD_Gothic-PROIEL --table

All are trained on documents of ten sentences, the same data and epochs, and evaluated on such
documents, from raw text (the pipeline's tokenizer splits it) and from gold tokens. UAS and LAS are
shares of all gold words: one that the tokenizer splits otherwise is wrong. A parser finds
sentences and trees at once; the senter finds sentences alone. spaCy's parser is there on the same
token vectors as ours and as installed, the senter as installed. Each run becomes one file,
benchmarks/runs/segmentation/TREEBANK/SYSTEM-seedN.json; runs that have theirs are skipped.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.common import command_line, complain, record, run, show
from benchmarks.formats import markdown, mean_and_deviation
from benchmarks.significance import Runs, load
from benchmarks.systems import System, parse_system
from benchmarks.training import train_model
from benchmarks.treebanks import (
    Treebank,
    add_data_arguments,
    add_run_arguments,
    convert_treebank,
    folder_of,
    is_prepared,
    read_prepared,
)
from spacy_nmparse.ud.records import dump, parse_settings

SYSTEMS = (
    "nm_parser",
    "swap_parser",
    "nl_covington_parser",
    "spacy_parser",
    "spacy_parser_multihash",
    "senter",
)
SENTENCES_PER_DOC = 10
EVALUATIONS = {
    f"{split}_{tokens}": (split, tokens) for split in ("dev", "test") for tokens in ("raw", "gold")
}
SCORES = ("sents_p", "sents_r", "sents_f", "uas_all", "las_all")


def prepare(folder: Path, work: Path, lang: str | None, snapshot: str) -> Treebank:
    """Convert a treebank to documents; multiword tokens stay in one piece, as in the text.

    Args:
        folder: The treebank's folder.
        work: The folder for the converted files.
        lang: spaCy's language code; None to choose it by the file names.
        snapshot: The treebank's release.

    Returns:
        The converted treebank.
    """
    return convert_treebank(
        folder, work, lang, snapshot, SENTENCES_PER_DOC, with_single=True, merge_subtokens=True
    )


def train_and_evaluate(
    treebank: Treebank,
    system: System,
    seed: int,
    epochs: int,
    work: Path,
    extra: dict[str, Any],
) -> dict[str, Any]:
    """Do one run.

    Args:
        treebank: The data.
        system: The parser, or the senter.
        seed: The random seed.
        epochs: Passes over the training data.
        work: The folder for models and logs.
        extra: Further settings, the same for all systems.

    Returns:
        The contents of the result file.

    Raises:
        RuntimeError: If a step fails.
    """
    output = work.resolve() / treebank.name / f"{system.name}-seed{seed}"
    extra = {"corpora.train.gold_preproc": False, **extra}
    seconds, command = train_model(treebank, system, seed, epochs, output, extra)
    evaluations = {}
    for key, (split, tokens) in EVALUATIONS.items():
        target = output / f"{key}.json"
        evaluate = ["-m", "spacy", "nmparse", "evaluate", str(output / "model-best")]
        evaluate += [str(treebank.corpus[split]), "--unit", "doc", "--tokens", tokens]
        prefix = f"[{treebank.name} {output.name}] {key}:"
        run([*evaluate, "--output", str(target)], output / "log.txt", prefix)
        result = json.loads(target.read_text(encoding="utf-8"))
        evaluations[key] = {
            "n_sentences": result["n_sentences"],
            "n_words": result["n_words"],
            "words_per_second": result["words_per_second"],
            "scores": {name: result["scores"][name] for name in SCORES},
        }
    return {
        "system": system.name,
        "config": system.config.name,
        "overrides": {**system.overrides, **extra},
        "treebank": treebank.name,
        "snapshot": treebank.snapshot,
        "files": treebank.files,
        "lang": treebank.lang,
        "seed": seed,
        "epochs": epochs,
        "command": command,
        **record(),
        "training": {"words": treebank.train_words, "seconds": round(seconds, 1)},
        **evaluations,
    }


def report(systems: dict[str, Runs], split: str) -> str:
    """Write the table of one treebank.

    Args:
        systems: The results by system and seed.
        split: "dev" or "test".

    Returns:
        Markdown: mean and standard deviation over seeds.
    """
    rows = []
    for name, runs in systems.items():
        row = [
            name,
            str(len(runs)),
            "/".join(map(str, sorted({r["epochs"] for r in runs.values()}))),
        ]
        for tokens, names in (("raw", SCORES), ("gold", ("sents_f", "las_all"))):
            evaluations = [one[f"{split}_{tokens}"]["scores"] for one in runs.values()]
            for score in names:
                # a senter draws no arc
                parses = any(scores["uas_all"] for scores in evaluations)
                shown = parses or score.startswith("sents")
                values = [scores[score] if shown else None for scores in evaluations]
                row.append(mean_and_deviation(values, 100, 2))
        rows.append(row)
    header = ["system", "seeds", "epochs", "sentence P", "R", "F1", "UAS", "LAS"]
    header += ["F1, gold tokens", "LAS, gold tokens"]
    return markdown(header, rows)


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments, by default those of the process.

    Returns:
        The exit status.
    """
    parser = command_line(__doc__)
    add_data_arguments(parser)
    add_run_arguments(parser, "segmentation", epochs=20)
    parser.add_argument("--table", action="store_true", help="only print what is there")
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    args = parser.parse_args(argv)
    folder = folder_of(args)
    try:
        systems = [parse_system(text) for text in args.system or SYSTEMS]
        extra = parse_settings(args.set)
        if not args.table:
            if is_prepared(folder):
                treebank = read_prepared(folder, args.lang, args.snapshot)
            else:
                treebank = prepare(folder, args.work, args.lang, args.snapshot)
            for seed in args.seeds:
                for system in systems:
                    target = args.runs / folder.name / f"{system.name}-seed{seed}.json"
                    if target.is_file():
                        print(f"{target.name}: done before", flush=True)
                        continue
                    dump(
                        train_and_evaluate(treebank, system, seed, args.epochs, args.work, extra),
                        target,
                    )
        found = load(args.runs).get(folder.name)
        if found is None:
            raise FileNotFoundError(f"No runs of {folder.name} in {args.runs}.")
        text = f"## {folder.name} ({args.split})\n\n" + report(found, args.split)
    except (OSError, RuntimeError, ValueError) as error:
        return complain("segmentation", error)
    show(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
