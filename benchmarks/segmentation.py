"""Find sentences: our parsers beside spaCy's parser and senter.

    python benchmarks/segmentation.py assets/UD_Gothic-PROIEL --epochs 20 --seeds 1 2 3
    python benchmarks/segmentation.py assets/UD_Gothic-PROIEL --table

All are trained on documents of ten sentences, the same data and epochs, and evaluated on such
documents, from raw text (the pipeline's tokenizer splits it) and from gold tokens. UAS and LAS are
shares of all gold words: one that the tokenizer splits otherwise is wrong. A parser finds
sentences and trees at once; the senter finds sentences alone. spaCy's parser is there on the same
token vectors as ours and as installed, the senter as installed. Each run becomes one file,
benchmarks/results/segmentation/TREEBANK/SYSTEM-seedN.json; runs that have theirs are skipped.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "benchmarks")]

from accuracy import (  # noqa: E402
    THREADS,
    System,
    Treebank,
    add_data_arguments,
    choose_lang,
    count_words,
    fingerprint,
    folder_of,
    is_prepared,
    parse_system,
    read_prepared,
    run,
    train_model,
)
from convert_ud import convert, find_splits  # noqa: E402
from evaluate import dump, machine, parse_settings, versions  # noqa: E402
from table import Runs, load, markdown, mean_and_deviation  # noqa: E402

SYSTEMS = (
    "nm_parser",
    "swap_parser",
    "nl_covington_parser",
    "spacy_parser_affixes",
    "spacy_parser",
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
    files = find_splits(folder)
    output = work.resolve() / folder.name / "corpus"
    corpus = convert(files, output, SENTENCES_PER_DOC, with_single=True, merge_subtokens=True)
    return Treebank(
        folder.name,
        snapshot,
        lang or choose_lang(files["train"]),
        {path.name: fingerprint(path) for path in files.values()},
        corpus,
        count_words(corpus["train"]),
        {},
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
        evaluate = [str(ROOT / "scripts" / "evaluate.py"), str(output / "model-best")]
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
        "overrides": {**extra, **system.overrides},
        "treebank": treebank.name,
        "snapshot": treebank.snapshot,
        "files": treebank.files,
        "lang": treebank.lang,
        "seed": seed,
        "epochs": epochs,
        "command": command,
        "versions": versions(),
        "machine": {**machine(), "threads": THREADS},
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_arguments(parser)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--table", action="store_true", help="only print what is there")
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--work", type=Path, default=ROOT / "training" / "segmentation")
    parser.add_argument(
        "--results", type=Path, default=ROOT / "benchmarks" / "results" / "segmentation"
    )
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
                    target = args.results / folder.name / f"{system.name}-seed{seed}.json"
                    if target.is_file():
                        print(f"{target.name}: done before", flush=True)
                        continue
                    dump(
                        train_and_evaluate(treebank, system, seed, args.epochs, args.work, extra),
                        target,
                    )
        results = load(args.results).get(folder.name)
        if results is None:
            raise FileNotFoundError(f"No results of {folder.name} in {args.results}.")
        text = f"## {folder.name} ({args.split})\n\n" + report(results, args.split)
    except (OSError, RuntimeError, ValueError) as error:
        print(f"segmentation.py: {error}", file=sys.stderr)
        return 1
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
