"""Measure ways to parse with several processes: words a second, and processor time.

    python -m benchmarks.processes model-best text.txt --n-process 2

The text is parsed from file to file (``parse_files``), and its lines as documents (``nlp.pipe``,
``pipe_in_processes``). The processor time is that of all processes. The model is loaded before.
POSIX only.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import spacy

from benchmarks.common import command_line, program
from spacy_nmparse.pipe.processes import pipe_in_processes
from spacy_nmparse.ud.jobs import Job
from spacy_nmparse.ud.parse_files import parse_file


def processor_time() -> float:
    """Seconds of all processors that this process and its ended children took."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(kind)[:2]) for kind in kinds)


@program
def main(argv: Sequence[str] | None) -> None:
    """Run the command line."""
    parser = command_line(__doc__)
    parser.add_argument("model", help="folder or package name of a trained pipeline")
    parser.add_argument("text", type=Path, help="file of plain text")
    parser.add_argument("--n-process", type=int, default=2)
    args = parser.parse_args(argv)
    n = args.n_process
    lines = [line for line in args.text.read_text(encoding="utf-8").splitlines() if line.strip()]
    nlp = spacy.load(args.model)
    with tempfile.TemporaryDirectory() as folder:
        job = Job(args.text, Path(folder) / "parsed.conllu")
        ways: dict[str, Callable[[], int]] = {
            "files, 1 process": lambda: parse_file(nlp, job, "conllu").words,
            f"files, {n} processes": lambda: parse_file(nlp, job, "conllu", n_process=n).words,
            "nlp.pipe": lambda: sum(map(len, nlp.pipe(lines))),
            f"pipe_in_processes, {n}": lambda: sum(
                map(len, pipe_in_processes(nlp, lines, n_process=n))
            ),
            f"nlp.pipe(n_process={n})": lambda: sum(map(len, nlp.pipe(lines, n_process=n))),
        }
        for name, parse in ways.items():
            start, used = time.perf_counter(), processor_time()
            words = parse()
            seconds, used = time.perf_counter() - start, processor_time() - used
            print(f"{name:24} {words / seconds:9,.0f} words/s {used:7.2f} s of processors")


if __name__ == "__main__":
    raise SystemExit(main())
