"""Train and evaluate graph parsers of other projects, for compare.py.

Both are biaffine parsers (Dozat & Manning 2017) over LSTMs of words and of characters: Stanza's (Qi
et al. 2020) and SuPar's (Zhang et al. 2020). They need PyTorch, so each runs in an environment of
its own, whose Python is given. They are trained with their published settings, but that they see no
tags, no pretrained vectors and no pretrained character model.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import spacy

from benchmarks.common import ROOT, record, run
from benchmarks.training import EVALUATIONS, PARTS
from benchmarks.treebanks import Treebank
from benchmarks.udpipe import blank, put_in
from spacy_nmparse.ud import conll18
from spacy_nmparse.ud.evaluate import read_docs, references, score_parses

SEED = 1
HEAD, LABEL = 6, 7  # columns of CoNLL-U
VERSIONS = """
import json, sys, importlib, torch
from importlib.metadata import version
importlib.import_module(sys.argv[1])
print(json.dumps({sys.argv[1]: version(sys.argv[1]), "torch": torch.__version__,
                  "cuda": torch.cuda.is_available() and torch.cuda.get_device_name()}))
"""


@dataclass(frozen=True)
class GraphParser:
    """A parser of another project.

    Attributes:
        name: The system's name, and that of the package that it needs.
        title: What people call it.
        train: Makes the command that trains it, from the treebank, the folder for the model and the
            settings that differ.
        parse: Makes the command that parses, from the treebank, the folder of the model, a CoNLL-U
            file and the one to write.
    """

    name: str
    title: str
    train: Callable[[Treebank, Path, dict[str, str]], list[str]]
    parse: Callable[[Treebank, Path, Path, Path], list[str]]


def stanza(treebank: Treebank, folder: Path) -> list[str]:
    """Begin a command of Stanza's parser."""
    without = ["--no_upos", "--no_xpos", "--no_ufeats", "--no_pretrain"]
    command = ["-m", "stanza.models.parser", *without, "--seed", str(SEED)]
    command += ["--lang", treebank.lang, "--shorthand", treebank.name]
    return [*command, "--save_dir", str(folder), "--save_name", "parser.pt"]


def train_stanza(treebank: Treebank, folder: Path, options: dict[str, str]) -> list[str]:
    """Write the command that trains Stanza's parser."""
    command = [*stanza(treebank, folder), "--mode", "train"]
    command += ["--train_file", str(treebank.conllu["train"].resolve())]
    command += ["--eval_file", str(treebank.conllu["dev"].resolve())]
    return command + [part for key, value in options.items() for part in (f"--{key}", value)]


def parse_stanza(treebank: Treebank, folder: Path, given: Path, parsed: Path) -> list[str]:
    """Write the command that parses with Stanza's parser."""
    command = [*stanza(treebank, folder), "--mode", "predict", "--no_gold_labels"]
    return [*command, "--eval_file", str(given), "--output_file", str(parsed)]


SUPAR = str(ROOT / "benchmarks" / "supar_program.py")


def train_supar(treebank: Treebank, folder: Path, options: dict[str, str]) -> list[str]:
    """Write the command that trains SuPar's parser."""
    files = [str(treebank.conllu[split].resolve()) for split in ("train", "dev")]
    settings = [part for key, value in options.items() for part in ("--set", f"{key}={value}")]
    return [SUPAR, "train", *files, str(folder / "parser"), *settings]


def parse_supar(treebank: Treebank, folder: Path, given: Path, parsed: Path) -> list[str]:
    """Write the command that parses with SuPar's parser."""
    return [SUPAR, "parse", str(folder / "parser"), str(given), str(parsed)]


GRAPH_PARSERS = (
    GraphParser("stanza", "Stanza", train_stanza, parse_stanza),
    GraphParser("supar", "SuPar", train_supar, parse_supar),
)


def read_options(text: str, title: str) -> dict[str, str]:
    """Read settings that differ from a parser's own.

    Args:
        text: KEY=VALUE[;KEY=VALUE]..., or empty.
        title: What people call the parser.

    Returns:
        The settings by name, without dashes.

    Raises:
        ValueError: If a setting has no "=".
    """
    options = {}
    for setting in filter(None, (part.strip() for part in text.split(";"))):
        key, equals, value = setting.partition("=")
        if not equals:
            raise ValueError(f"{title}'s option {setting!r}: write KEY=VALUE[;KEY=VALUE]...")
        options[key] = value
    return options


def versions(parser: GraphParser, python: Path) -> dict[str, Any]:
    """Ask a parser's environment what it has.

    Args:
        parser: The parser.
        python: The environment's Python.

    Returns:
        The versions of its package and of `torch`, and the name of the GPU as `cuda`, false for
        none.

    Raises:
        ImportError: If the package is not installed there.
        FileNotFoundError: If there is no such Python.
    """
    if not python.is_file():
        raise FileNotFoundError(
            f"No Python {python}: name that of an environment with `{parser.name}`."
        )
    command = [python, "-W", "ignore", "-c", VERSIONS, parser.name]
    found = subprocess.run(command, capture_output=True, text=True)
    if found.returncode:
        last = (found.stderr.strip().splitlines() or ["no message"])[-1]
        raise ImportError(
            f"{python} cannot import {parser.title} ({last}): install `{parser.name}` there."
        )
    known: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return known


def train(
    parser: GraphParser, treebank: Treebank, python: Path, options: dict[str, str], work: Path
) -> dict[str, Any]:
    """Train a parser and evaluate it.

    Args:
        parser: The parser.
        treebank: The data.
        python: The Python of the parser's environment.
        options: Settings that differ from the parser's.
        work: The folder for models and logs.

    Returns:
        The contents of the result file. Words per second are those of a command that loads the
        model and the data, and writes the parses.

    Raises:
        RuntimeError: If a step fails.
        ValueError: If the parser parses other words than the corpus has.
    """
    folder = work.resolve() / treebank.name / parser.name
    folder.mkdir(parents=True, exist_ok=True)
    log, prefix = folder / "log.txt", f"[{treebank.name} {parser.name}]"
    about = record()
    found = versions(parser, python)
    command = parser.train(treebank, folder, options)
    seconds = run(command, log, prefix, python=python)
    evaluations = {}
    for split in ("dev", "test"):
        given, parsed = folder / f"{split}.conllu", folder / f"{split}-parsed.conllu"
        given.write_text(blank(treebank.conllu[split]), encoding="utf-8")
        start = time.perf_counter()
        run(parser.parse(treebank, folder, given, parsed), log, prefix, python=python)
        took = time.perf_counter() - start
        result = evaluate(parser, parsed, treebank.conllu[split], treebank.corpus[split])
        result["words_per_second"] = round(result["n_words"] / took, 1)
        evaluations[split] = {part: result[part] for part in PARTS}
    return {
        "system": parser.name,
        "config": f"{parser.title}'s graph parser",
        "overrides": options,
        "treebank": treebank.name,
        "snapshot": treebank.snapshot,
        "files": treebank.files,
        "lang": treebank.lang,
        "seed": SEED,
        # left to itself, it stops when it does not get better
        "epochs": int(options["epochs"]) if "epochs" in options else None,
        "command": f"python {' '.join(command[:2])}".replace(f"{ROOT}{os.sep}", ""),
        "versions": {**about["versions"], **found},
        "machine": about["machine"],
        "training": {"words": treebank.train_words, "seconds": round(seconds, 1)},
        # it parses the sentences it is given, and never splits one
        **{name: evaluations[split] for name, (split, _) in EVALUATIONS.items()},
    }


def evaluate(parser: GraphParser, parsed: Path, conllu: Path, corpus: Path) -> dict[str, Any]:
    """Score parses.

    Args:
        parser: The parser.
        parsed: CoNLL-U with its trees.
        conllu: The gold CoNLL-U file.
        corpus: The .spacy file that it was converted to.

    Returns:
        Scores and counts, as `nmparse evaluate` writes them.

    Raises:
        ValueError: If the parser parses other words.
    """
    gold = list(references(read_docs(spacy.blank("xx"), corpus), "sentence"))
    trees = [
        [(int(row[HEAD]), row[LABEL]) for row in sentence if row[0].isdecimal()]
        for sentence in conll18.read_rows(parsed)
    ]
    docs = [put_in(doc, tree, parser.title) for doc, tree in zip(gold, trees, strict=True)]
    return {**score_parses(docs, gold), "conll18": conll18.score_words(conllu, docs)}
