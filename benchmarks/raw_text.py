"""Parse the running text of a CoNLL-U file with a trained pipeline, on one core, and score it.

    python -m benchmarks.raw_text model-best test.conllu -o scores.json
    python -m benchmarks.raw_text udpipe.model test.conllu -o scores.json

A folder is a pipeline of spaCy, a file a model of UDPipe. The text is made as the CoNLL 2018 shared
task made its own: the tokens with the spaces between them, and a blank line before a document or
paragraph. From that file to a CoNLL-U file is what is timed, without loading the model: the median
of three times. The scores are those of the shared task's evaluation.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import spacy

from benchmarks.common import command_line, program
from benchmarks.udpipe import load
from spacy_nmparse.cli.evaluate import print_scores
from spacy_nmparse.cli.records import dump
from spacy_nmparse.ud import conll18, conllu
from spacy_nmparse.ud.conllu import FORM, ID, MISC, NO_SPACE
from spacy_nmparse.ud.jobs import Job
from spacy_nmparse.ud.parse_files import parse_file

REPEATS = 3


def running_text(path: Path) -> str:
    """Make the text of a CoNLL-U file; paragraphs are parted by blank lines."""
    parts: list[str] = []
    for sentence in conllu.read_rows(path):
        if parts and (sentence.starts("newdoc") or sentence.starts("newpar")):
            parts.append("\n\n")
        end = 0  # of a multiword token
        for row in sentence.rows:
            if "." in row[ID] or (row[ID].isdecimal() and int(row[ID]) <= end):
                continue
            if "-" in row[ID]:
                end = int(row[ID].partition("-")[2])
            parts += [row[FORM], "" if NO_SPACE in row[MISC].split("|") else " "]
    return "".join(parts).replace(" \n\n", "\n\n").rstrip() + "\n"


def spacy_parser(model: Path, without: Sequence[str]) -> Callable[[Path, Path], Any]:
    """Load a pipeline of spaCy without some components: what parses a file of text into a CoNLL-U
    file."""
    nlp = spacy.load(model, exclude=list(without))
    return lambda text, target: parse_file(nlp, Job(text, target), "conllu")


def udpipe_parser(model: Path) -> Callable[[Path, Path], Any]:
    """Load a model of UDPipe, as `udpipe.load` does: what parses a file of text into a CoNLL-U
    file."""
    loaded = load(model)
    from ufal.udpipe import Pipeline, ProcessingError

    def parse(text: Path, target: Path) -> None:
        pipeline = Pipeline(loaded, "tokenize", "", "", "conllu")  # keeps no reference
        error = ProcessingError()
        found = pipeline.process(text.read_text(encoding="utf-8"), error)
        if error.occurred():
            raise ValueError(f"UDPipe's {model.name} fails: {error.message}")
        target.write_text(found, encoding="utf-8")

    return parse


def evaluate(model: Path, gold: Path, folder: Path, without: Sequence[str] = ()) -> dict[str, Any]:
    """Parse the text of a gold CoNLL-U file, without some components of a pipeline of spaCy, and
    score the parse: the scores, the number of words found, the seconds by the clock and of the
    processor. Text and parse are written to `folder`. Raises an ImportError if a package is
    missing, a ValueError if the parser fails."""
    conll18.require_udtools()
    parse = spacy_parser(model, without) if model.is_dir() else udpipe_parser(model)
    text, target = folder / f"{gold.stem}.txt", folder / f"{gold.stem}.parsed.conllu"
    text.write_text(running_text(gold), encoding="utf-8")
    clock, processor = [], []
    for _ in range(REPEATS):
        start = (time.perf_counter(), time.process_time())
        parse(text, target)
        clock.append(time.perf_counter() - start[0])
        processor.append(time.process_time() - start[1])
    words = sum(len(sentence.words) for sentence in conllu.read_rows(target))
    return {
        "words": words,
        "seconds": statistics.median(clock),
        "processor_seconds": statistics.median(processor),
        "conll18": conll18.score_text(gold, target),
    }


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    parser = command_line(__doc__)
    parser.add_argument("model", type=Path, help="folder of a pipeline, or file of UDPipe")
    parser.add_argument("conllu", type=Path, help="gold CoNLL-U file")
    parser.add_argument("-o", "--output", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--without", nargs="*", default=[], help="components to leave out")
    args = parser.parse_args(argv)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    args.output.parent.mkdir(parents=True, exist_ok=True)
    found = evaluate(args.model, args.conllu, args.output.parent, args.without)
    dump(found, args.output)
    print_scores(found["conll18"])
    print(f"  {'words/s':<14} {found['words'] / found['processor_seconds']:6.0f}")


if __name__ == "__main__":
    raise SystemExit(main())
