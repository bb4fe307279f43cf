"""Measure the memory that parsing takes: one very long document, and a long stream of short ones.

    python -m benchmarks.memory
    python -m benchmarks.memory --model training/demo/nm_parser/model-best

1. One document of 200,000 words without sentence boundaries; first with the components before the
   parser alone (tok2vec), then with the parser.
2. A million words through `nlp.pipe`, in documents of 1,000 words; memory is read along the way,
   and stays flat where nothing is kept.

Each part runs in a process of its own, because a process's peak never falls. Words come from the
Turkish Web Treebank of the package turkish-treebanks, repeated. Without `--model`, the parser of
configs/nm_parser.cfg is trained on them for one epoch first; `--config` names another.

Result: a table, and benchmarks/runs/memory/NAME.json.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from benchmarks.common import ROOT, RUNS, WORK, command_line, complain, record
from benchmarks.formats import markdown
from benchmarks.speed import PARSER, prepare_data, train
from spacy_nmparse.ud.evaluate import read_docs
from spacy_nmparse.ud.records import dump

MIB = 2**20
PARTS = ("tok2vec", "document", "stream")


def resident() -> float:
    """Measure the memory that the process holds now.

    Returns:
        Its resident set in MiB.
    """
    return float(psutil.Process().memory_info().rss) / MIB


def peak() -> float:
    """Measure the most memory that the process ever held.

    Returns:
        Its greatest resident set in MiB.
    """
    info = psutil.Process().memory_info()
    if hasattr(info, "peak_wset"):  # Windows
        return float(info.peak_wset) / MIB
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / MIB if sys.platform == "darwin" else used / 1024


def documents(nlp: Language, words: Sequence[str], size: int, total: int) -> Iterator[Doc]:
    """Make documents of repeated words.

    Args:
        nlp: The pipeline whose vocab they use.
        words: The words to repeat.
        size: Words per document.
        total: Words in all.

    Yields:
        The documents, without annotations.
    """
    source = itertools.cycle(words)
    for start in range(0, total, size):
        n = min(size, total - start)
        yield Doc(nlp.vocab, words=list(itertools.islice(source, n)))


def measure(part: str, model: Path, corpus: Path, size: int, total: int) -> dict[str, Any]:
    """Parse, and read the memory meanwhile.

    Args:
        part: One of `PARTS`; "tok2vec" leaves the parser out.
        model: The trained pipeline's folder.
        corpus: The .spacy file whose words are parsed.
        size: Words per document.
        total: Words in all.

    Returns:
        Words, seconds, sentences, and memory in MiB: before, along the way, and the peak.
    """
    nlp = spacy.load(model, exclude=[PARSER] if part == "tok2vec" else [])
    words = [token.text for doc in read_docs(nlp, corpus) for token in doc if not token.is_space]
    for _ in nlp.pipe(documents(nlp, words, 100, 2_000)):
        pass  # what is loaded late is loaded now
    before = resident()
    points: list[list[float]] = []
    done = sentences = 0
    report = max(total // 10, 1)
    start = time.perf_counter()
    # Batches of a few documents: how many words are in flight is the caller's choice.
    for doc in nlp.pipe(documents(nlp, words, size, total), batch_size=16):
        done += len(doc)
        sentences += sum(1 for _ in doc.sents) if part != "tok2vec" else 0
        if done >= report * (len(points) + 1):
            points.append([done, round(resident(), 1)])
    return {
        "words": done,
        "words_per_document": size,
        "sentences": sentences,
        "seconds": round(time.perf_counter() - start, 2),
        "before": round(before, 1),
        "points": points,
        "peak": round(peak(), 1),
    }


def in_process(arguments: Sequence[str]) -> dict[str, Any]:
    """Run a part in a process of its own.

    Args:
        arguments: What `--part` takes.

    Returns:
        What it measured.

    Raises:
        RuntimeError: If it fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "result.json")
        command = [sys.executable, "-m", "benchmarks.memory", "--part", *arguments]
        status = subprocess.run([*command, str(target)], check=False, cwd=ROOT).returncode
        if status:
            raise RuntimeError(f"The part {arguments[0]} ended with status {status}.")
        result: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))
        return result


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments, by default those of the process.

    Returns:
        The exit status.
    """
    parser = command_line(__doc__)
    parser.add_argument("--model", type=Path, help="a trained pipeline")
    parser.add_argument("--config", default="nm_parser", help="what to train without --model")
    parser.add_argument("--document", type=int, default=200_000, help="words of the document")
    parser.add_argument("--stream", type=int, default=1_000_000, help="words of the stream")
    parser.add_argument("--size", type=int, default=1_000, help="words of its documents")
    parser.add_argument("--work", type=Path, default=WORK / "memory")
    parser.add_argument("-o", "--output", type=Path, help="JSON file to write")
    parser.add_argument("--part", nargs=6, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.part:
        part, model, corpus, size, total, target = args.part
        result = measure(part, Path(model), Path(corpus), int(size), int(total))
        Path(target).write_text(json.dumps(result), encoding="utf-8")
        return 0
    try:
        data = prepare_data(None, None, args.work)
        model = args.model or train(args.config, data, 1, 1, args.work)
        results = {}
        for part, size, total in (
            ("tok2vec", args.document, args.document),
            ("document", args.document, args.document),
            ("stream", args.size, args.stream),
        ):
            arguments = [part, str(Path(model).resolve()), str(data.corpus["train"].resolve())]
            results[part] = in_process([*arguments, str(size), str(total)])
    except (OSError, ValueError, RuntimeError) as error:
        return complain("memory", error)
    about = record()
    rows = []
    for part in PARTS:
        found = results[part]
        name = f"{part}: {found['words']:,} words, {found['words_per_document']:,} per document"
        sentences = f"{found['sentences']:,} sentences" if part != "tok2vec" else ""
        rows.append([name, "", sentences, f"{found['seconds']:.1f} s"])
        rows.append(["", "before", f"{found['before']:.0f} MiB", ""])
        for words, memory in found["points"]:
            rows.append(["", f"{words:,.0f} words", f"{memory:.0f} MiB", ""])
        above = found["peak"] - found["before"]
        rows.append(["", "peak", f"{found['peak']:.0f} MiB", f"{above:.0f} MiB above"])
    print(f"\nMemory (resident set); {about['machine']['processor']}, one thread\n")
    print(markdown(["part", "after", "memory", ""], rows))
    name = args.config if args.model is None else "model"
    output = args.output or RUNS / "memory" / f"{name}.json"
    command = f"python -m benchmarks.memory --document {args.document} --stream {args.stream}"
    result = {
        "command": f"{command} --size {args.size} --config {args.config}",
        "model": "given" if args.model else f"{args.config}, one epoch",
        **about,
        "unit": "MiB",
        "results": results,
    }
    dump(result, output)
    print(f"\nWritten to {output}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
