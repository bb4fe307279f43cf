"""Train SuPar's biaffine parser and parse with it, for graph_parsers.py, in its own environment.

    python supar_program.py train train.conllu dev.conllu MODEL [--set KEY=VALUE]...
    python supar_program.py parse MODEL data.conllu parsed.conllu

The settings are those that SuPar publishes for its parser over LSTMs with characters
(biaffine-dep-en), without pretrained vectors. Two are not SuPar's: `precision`, that of products of
matrices ("medium" is bfloat16, `torch.set_float32_matmul_precision`), and `threads`.
"""

import argparse
import os
from ast import literal_eval
from pathlib import Path

# SuPar's models hold its settings, which newer versions of PyTorch refuse to load.
os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
os.environ["TQDM_MININTERVAL"] = "60"  # seconds between signs of progress

import torch
from supar import BiaffineDependencyParser

SETTINGS = {
    "n_embed": 100,
    "n_char_embed": 50,
    "n_char_hidden": 100,
    "n_feat_embed": 100,
    "embed_dropout": 0.33,
    "n_lstm_hidden": 400,
    "n_lstm_layers": 3,
    "encoder_dropout": 0.33,
    "n_arc_mlp": 500,
    "n_rel_mlp": 100,
    "mlp_dropout": 0.33,
    "lr": 2e-3,
    "mu": 0.9,
    "nu": 0.9,
    "eps": 1e-12,
    "weight_decay": 0,
    "clip": 5.0,
    "min_freq": 2,
    "fix_len": 20,
    "decay": 0.75,
    "decay_steps": 5000,
    "update_steps": 1,
    "batch_size": 5000,
    "buckets": 32,
    "epochs": 5000,
    "patience": 100,
    "seed": 1,
    "precision": "highest",
    "threads": 1,
}


def read_settings(given: list[str]) -> dict:
    """Merge settings from the command line, KEY=VALUE each, with SETTINGS."""
    settings = dict(SETTINGS)
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or key not in settings:
            raise SystemExit(f"{text!r}: write KEY=VALUE with a KEY of {', '.join(SETTINGS)}.")
        settings[key] = value if key == "precision" else literal_eval(value)
    return settings


def train(train_file: str, dev_file: str, model: Path, settings: dict) -> None:
    """Train a parser; the best epoch on dev is kept."""
    torch.set_num_threads(settings.pop("threads"))
    torch.set_float32_matmul_precision(settings.pop("precision"))
    torch.manual_seed(settings["seed"])
    # SuPar reads a test set in each epoch: a sentence of dev does
    first = Path(dev_file).read_text(encoding="utf-8").split("\n\n", 1)[0]
    model.parent.mkdir(parents=True, exist_ok=True)
    test = model.with_name("first.conllu")
    test.write_text(first + "\n\n", encoding="utf-8")
    data = {"train": train_file, "dev": dev_file, "test": str(test)}
    words = {"encoder": "lstm", "feat": ["char"], "embed": "", "unk": "unk"}
    given = {**settings, **words, **data, "path": str(model), "build": True, "checkpoint": False}
    BiaffineDependencyParser.build(**given).train(**given, punct=True)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train")
    training.add_argument("train")
    training.add_argument("dev")
    training.add_argument("model", type=Path)
    training.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parsing = commands.add_parser("parse")
    parsing.add_argument("model")
    parsing.add_argument("data")
    parsing.add_argument("output")
    args = parser.parse_args()
    if args.command == "train":
        train(args.train, args.dev, args.model, read_settings(args.set))
    else:
        torch.set_num_threads(1)
        loaded = BiaffineDependencyParser.load(args.model)
        loaded.predict(args.data, pred=args.output, tree=True, verbose=False)


if __name__ == "__main__":
    main()
