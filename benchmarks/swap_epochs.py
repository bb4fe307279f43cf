"""LAS and SWAPs by epoch, for each oracle of SwapStandard (BN15, Figures 5 and 6).

    python -m benchmarks.swap_epochs training/jackknife/UD_Hungarian-Szeged --seeds 1
    python -m benchmarks.swap_epochs training/jackknife/UD_Hungarian-Szeged --seeds 1 --beam

The parsers are those of benchmarks.variants bn15_linear: the paper's learner, greedy, on a treebank
of benchmarks.jackknife; or with a beam, those of bn15_beam. After each epoch dev is parsed, and
SWAPs are counted in the derivations of the first training sentences (`--sentences`) that the model,
move by move, likes best of those that the oracle allows: what a greedy parser would learn from.

Result: a table, and benchmarks/runs/swap_epochs/TREEBANK.json, with a beam TREEBANK-beam.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from statistics import mean
from typing import Any

from spacy.language import Language

from benchmarks import perceptron
from benchmarks.common import command_line, program, record
from benchmarks.formats import markdown
from benchmarks.papers import VARIANTS, Variant, by_beam
from benchmarks.systems import parse_system
from benchmarks.treebanks import (
    Treebank,
    add_run_arguments,
    add_source_arguments,
    open_treebank,
    path_of,
)
from spacy_nmparse.analysis.evaluate import evaluate
from spacy_nmparse.cli.records import dump
from spacy_nmparse.lab.latent import swaps_per_sentence
from spacy_nmparse.ud.corpus import read_docs


def curves(
    treebank: Treebank, variant: Variant, oracle: str, seed: int, epochs: int, n_sentences: int
) -> dict[str, list[float]]:
    """LAS on dev and SWAPs a training sentence of one training, after each epoch."""
    found: dict[str, list[float]] = {"las": [], "swaps": []}

    def note(nlp: Language, epoch: int) -> None:
        scores = evaluate(nlp, treebank.corpus["dev"], tags="data")["scores"]
        docs = list(islice(read_docs(treebank.corpus["train"], nlp.vocab), n_sentences))
        found["las"].append(round(100 * scores["las_all"], 2))
        found["swaps"].append(round(swaps_per_sentence(nlp, docs, oracle), 4))

    system = parse_system(variant.as_argument())
    perceptron.train(treebank, system, seed, epochs, note)
    return found


def cells(seeds: Sequence[dict[str, Any]]) -> list[str]:
    """The cells of an oracle, means over seeds: the epoch that is best on dev and its LAS, LAS of
    the last one, and SWAPs after the first, the fifth and the last."""
    las = [mean(values) for values in zip(*(one["las"] for one in seeds), strict=True)]
    swaps = [mean(values) for values in zip(*(one["swaps"] for one in seeds), strict=True)]
    best = max(range(len(las)), key=lambda epoch: las[epoch])
    shown = [f"{swaps[epoch]:.3f}" for epoch in (0, min(4, len(swaps) - 1), -1)]
    return [str(len(seeds)), str(best + 1), f"{las[best]:.2f}", f"{las[-1]:.2f}", *shown]


HEADER = (
    "treebank",
    "oracle",
    "seeds",
    "best epoch",
    "its LAS",
    "last LAS",
    "SWAPs, epoch 1",
    "epoch 5",
    "last epoch",
)


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    parser = command_line(__doc__)
    parser.add_argument("treebanks", nargs="+", type=path_of, help="of benchmarks.jackknife")
    parser.add_argument("--sentences", type=int, default=500, help="in which SWAPs are counted")
    parser.add_argument("--beam", action="store_true", help="parsers with a beam")
    add_source_arguments(parser)
    add_run_arguments(parser, "swap_epochs", 15)
    args = parser.parse_args(argv)
    rows = []
    for folder in args.treebanks:
        treebank = open_treebank(args, folder)
        result: dict[str, Any] = {"treebank": treebank.name, "files": treebank.files}
        result |= {"epochs": args.epochs, "sentences": args.sentences, **record(), "oracles": {}}
        output = args.runs / f"{treebank.name}{'-beam' if args.beam else ''}.json"
        for variant in VARIANTS["bn15_linear"]:
            oracle, seeds = variant.title, []
            result["oracles"][oracle] = seeds
            trained = by_beam(variant) if args.beam else variant
            for seed in args.seeds:
                found = curves(treebank, trained, oracle, seed, args.epochs, args.sentences)
                seeds.append({"seed": seed, **found})
                dump(result, output)
            rows.append([treebank.name, oracle, *cells(seeds)])
    print(markdown(HEADER, rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
