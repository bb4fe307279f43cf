"""Train and evaluate the graph parser of Stanza (Qi et al. 2020), for compare.py.

It is a biaffine parser (Dozat & Manning 2017) over LSTMs of words and of characters. Stanza needs
PyTorch, so it runs in an environment of its own, whose Python is given. It is trained with its
published settings, but that it sees no tags, no pretrained vectors and no pretrained character
model. That needs a GPU.
"""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import spacy

from benchmarks.common import record, run
from benchmarks.training import EVALUATIONS, PARTS
from benchmarks.treebanks import Treebank
from benchmarks.udpipe import blank, put_in
from scripts.evaluate import read_docs, references, score_parses
from spacy_nmparse.analysis import conll18

SEED = 1
PROGRAM = "stanza.models.parser"
#: What is left out: tags and pretrained vectors.
WITHOUT = ("--no_upos", "--no_xpos", "--no_ufeats", "--no_pretrain")
HEAD, LABEL = 6, 7  # columns of CoNLL-U
VERSIONS = """
import json, stanza, torch
print(json.dumps({"stanza": stanza.__version__, "torch": torch.__version__,
                  "cuda": torch.cuda.is_available() and torch.cuda.get_device_name()}))
"""


def read_options(text: str) -> dict[str, str]:
    """Read settings that differ from Stanza's.

    Args:
        text: KEY=VALUE[;KEY=VALUE]..., or empty.

    Returns:
        Stanza's options by name, without dashes.

    Raises:
        ValueError: If a setting has no "=".
    """
    options = {}
    for setting in filter(None, (part.strip() for part in text.split(";"))):
        key, equals, value = setting.partition("=")
        if not equals:
            raise ValueError(f"Stanza's option {setting!r}: write KEY=VALUE[;KEY=VALUE]...")
        options[key] = value
    return options


def versions(python: Path) -> dict[str, Any]:
    """Ask Stanza's environment what it has.

    Args:
        python: Its Python.

    Returns:
        The versions of `stanza` and `torch`, and the name of the GPU as `cuda`, false for none.

    Raises:
        ImportError: If Stanza is not installed there.
        FileNotFoundError: If there is no such Python.
    """
    if not python.is_file():
        raise FileNotFoundError(f"No Python {python}: name that of an environment with `stanza`.")
    found = subprocess.run([python, "-c", VERSIONS], capture_output=True, text=True)
    if found.returncode:
        last = (found.stderr.strip().splitlines() or ["no message"])[-1]
        raise ImportError(f"{python} cannot import Stanza ({last}): install `stanza` there.")
    known: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return known


def train(treebank: Treebank, python: Path, options: dict[str, str], work: Path) -> dict[str, Any]:
    """Train Stanza's parser and evaluate it.

    Args:
        treebank: The data.
        python: The Python of Stanza's environment.
        options: Settings that differ from Stanza's.
        work: The folder for models and logs.

    Returns:
        The contents of the result file. Words per second are those of a command that loads the
        model and the data, and writes the parses.

    Raises:
        RuntimeError: If a step fails.
        ValueError: If Stanza parses other words than the corpus has.
    """
    folder = work.resolve() / treebank.name / "stanza"
    folder.mkdir(parents=True, exist_ok=True)
    log, prefix = folder / "log.txt", f"[{treebank.name} stanza]"
    command = ["-m", PROGRAM, *WITHOUT, "--lang", treebank.lang, "--shorthand", treebank.name]
    command += ["--seed", str(SEED), "--save_dir", str(folder), "--save_name", "parser.pt"]
    command += [part for key, value in options.items() for part in (f"--{key}", value)]
    training = ["--mode", "train", "--train_file", str(treebank.conllu["train"].resolve())]
    training += ["--eval_file", str(treebank.conllu["dev"].resolve())]
    about = record()
    found = versions(python)
    seconds = run([*command, *training], log, prefix, python=python)
    evaluations = {}
    for split in ("dev", "test"):
        given, parsed = folder / f"{split}.conllu", folder / f"{split}-parsed.conllu"
        given.write_text(blank(treebank.conllu[split]), encoding="utf-8")
        start = time.perf_counter()
        parsing = ["--mode", "predict", "--no_gold_labels", "--eval_file", str(given)]
        run([*command, *parsing, "--output_file", str(parsed)], log, prefix, python=python)
        took = time.perf_counter() - start
        result = evaluate(parsed, treebank.conllu[split], treebank.corpus[split])
        result["words_per_second"] = round(result["n_words"] / took, 1)
        evaluations[split] = {part: result[part] for part in PARTS}
    return {
        "system": "stanza",
        "config": "Stanza's graph parser",
        "overrides": options,
        "treebank": treebank.name,
        "snapshot": treebank.snapshot,
        "files": treebank.files,
        "lang": treebank.lang,
        "seed": SEED,
        "epochs": None,  # it stops by itself
        "command": "python " + " ".join(["-m", PROGRAM, *WITHOUT]),
        "versions": {**about["versions"], **found},
        "machine": about["machine"],
        "training": {"words": treebank.train_words, "seconds": round(seconds, 1)},
        # it parses the sentences it is given, and never splits one
        **{name: evaluations[split] for name, (split, _) in EVALUATIONS.items()},
    }


def evaluate(parsed: Path, conllu: Path, corpus: Path) -> dict[str, Any]:
    """Score parses.

    Args:
        parsed: CoNLL-U with Stanza's trees.
        conllu: The gold CoNLL-U file.
        corpus: The .spacy file that it was converted to.

    Returns:
        Scores and counts, as scripts/evaluate.py writes them.

    Raises:
        ValueError: If Stanza parses other words.
    """
    gold = list(references(read_docs(spacy.blank("xx"), corpus), "sentence"))
    trees = [
        [(int(row[HEAD]), row[LABEL]) for row in sentence if row[0].isdecimal()]
        for sentence in conll18.read_rows(parsed)
    ]
    docs = [put_in(doc, tree, "Stanza") for doc, tree in zip(gold, trees, strict=True)]
    return {**score_parses(docs, gold), "conll18": conll18.score_words(conllu, docs)}
