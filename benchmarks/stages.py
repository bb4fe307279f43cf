"""Measure where the time of a whole pipeline goes, in microseconds of processor time a word.

    python -m benchmarks.stages training/UD_English-EWT/nl_covington_parser/model-best text.txt
    python -m benchmarks.stages MODEL TEXT --before ../old/venv/bin/python --rounds 3

Measured are the lines of a plain text as documents: the first time in a process, and again; what
each component takes; CoNLL-U written and read; and from file to file. The model is loaded before.
With `--before`, an interpreter with another state of the package takes turns with this one, each
round in processes of their own. The least of the rounds is shown, as other work on a machine only
adds, and the ratio. `--model-before` is the model as that state trained it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any


def measure(model: str, text: Path) -> dict[str, float]:
    """Microseconds a word of each stage, with the package that this interpreter has installed."""
    import spacy

    from spacy_nmparse.ud import conllu_to_docs, doc_to_conllu
    from spacy_nmparse.ud.jobs import Job
    from spacy_nmparse.ud.parse_files import parse_file

    nlp = spacy.load(model)
    list(nlp.pipe(["One."] * 2))
    lines = [line for line in text.read_text(encoding="utf-8").splitlines() if line.strip()]
    found: dict[str, float] = {}

    def timed(name: str, stage: Callable[[], Any]) -> Any:
        start = time.process_time()
        result = stage()
        found[name] = time.process_time() - start
        return result

    docs = timed("nlp.pipe, first time", lambda: list(nlp.pipe(lines)))
    timed("nlp.pipe, again", lambda: list(nlp.pipe(lines)))
    part = timed("tokenizer", lambda: list(map(nlp.make_doc, lines)))
    for name, pipe in nlp.pipeline:
        part = timed(name, partial(list, pipe.pipe(part, batch_size=64)))
    conllu = timed("doc_to_conllu", lambda: "".join(map(doc_to_conllu, docs)))
    timed("conllu_to_docs", lambda: list(conllu_to_docs(conllu, nlp.vocab, n_sents=10)))
    with tempfile.TemporaryDirectory() as folder:
        job = Job(text, Path(folder) / "parsed.conllu")
        timed("file to file", lambda: parse_file(nlp, job, "conllu", kind="lines"))
    n_words = sum(map(len, docs))
    return {name: 1e6 * seconds / n_words for name, seconds in found.items()}


def table(before: list[dict[str, float]], after: list[dict[str, float]]) -> str:
    """The least of the rounds, as Markdown."""
    heads = ["before", "after", "ratio"] if before else ["µs a word"]
    lines = [f"| | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    for name in after[0]:
        now = min(one[name] for one in after)
        cells = [f"{now:.2f}"]
        if before:
            then = min(one[name] for one in before)
            cells = [f"{then:.2f}", *cells, f"{then / now:.2f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    from benchmarks.common import command_line, show

    parser = command_line(__doc__)
    parser.add_argument("model", help="folder or package name of a trained pipeline")
    parser.add_argument("text", type=Path, help="file of plain text, a document a line")
    parser.add_argument("--before", help="the Python interpreter to compare with")
    parser.add_argument("--model-before", help="the model that it loads; default: the same")
    parser.add_argument("--rounds", type=int, default=1)
    args = parser.parse_args(argv)
    runs = [(sys.executable, args.model)]
    if args.before:
        runs.insert(0, (args.before, args.model_before or args.model))
    found: list[list[dict[str, float]]] = [[] for _ in runs]
    for _ in range(args.rounds):
        for rounds, run in zip(found, runs, strict=True):
            command = [run[0], __file__, run[1], str(args.text)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
            if done.returncode:
                return done.returncode
            rounds.append(json.loads(done.stdout))
    show(table(found[0] if args.before else [], found[-1]))
    return 0


if __name__ == "__main__":
    if __package__:
        sys.exit(main())
    sys.path.pop(0)  # as a file it measures the package that is installed
    print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
