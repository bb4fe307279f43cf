"""Processes that are killed while they save, and disks that are full: what is left?

    python -m tests.faults kill-training --times 100
    python -m tests.faults full-disk --times 100
    python -m tests.faults kill-worker
    python -m tests.faults kill-corpus --documents 20000
    python -m tests.faults kill-pieces --pieces 1000000

``kill-training`` trains a pipeline of two components with spaCy's own loop, a checkpoint after each
update, and kills it (SIGKILL) after a random time; ``--plain`` leaves out the callback
``spacy_nmparse.safe_checkpoints.v1``. ``full-disk`` saves a pipeline over another one while files
cannot grow beyond a random size, or, with ``--folder``, on a small file system that is full.
``kill-worker`` kills a worker of ``nlp.pipe(n_process=2)`` under each way to start processes, and
one of ``pipe_in_processes``. ``kill-corpus`` runs ``scripts/parse_corpus.py`` on a Ray cluster of
two workers, kills one of them, then the whole run, starts it again, and compares what is there with
``nlp.pipe``. ``kill-pieces`` cuts a text into pieces of two bytes, kills the run three times, and
says what the bookkeeping of so many pieces costs: shards hold a byte.

The exit status is 1 where something is left that should not be. POSIX only.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as spacy_train
from thinc.api import Config

from scripts import parse_corpus
from spacy_nmparse.pipe.files import make_safe, safe_to_disk
from spacy_nmparse.pipe.processes import pipe_in_processes
from tests.pipe.common import WORDS, make_examples, overfitted, parser_of, randomize, tree
from tests.pipe.test_pipeline import CONFIG
from tests.pipe.test_processes import Deadly

LAST, BEST = "model-last", "model-best"
OURS = "pipe_in_processes"
LARGE = "spawn, more text in a batch than a pipe holds"
METHODS = ("fork", "forkserver", "spawn", LARGE, OURS)
TEXT = "She saw the cat . A hearing is scheduled on the issue today"


def make_pipeline(folder: Path) -> Language:
    """A pipeline of a tok2vec and a parser, ready to be trained by spaCy's loop, with a checkpoint
    after each update."""
    corpus = str(folder / "corpus.spacy")
    examples = make_examples(spacy.blank("xx").vocab)
    DocBin(docs=[example.reference for example in examples]).to_disk(corpus)
    config = Config().from_str(CONFIG)
    config["corpora"]["train"]["path"] = config["corpora"]["dev"]["path"] = corpus
    config["training"] |= {"max_steps": 0, "patience": 0, "max_epochs": -1, "eval_frequency": 1}
    config["training"]["train_corpus"] = "corpora.train"
    config["training"]["dev_corpus"] = "corpora.dev"
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    return init_nlp(nlp.config)


def digest(nlp: Language) -> str:
    """Of the weights of all components."""
    whole = hashlib.sha256()
    for name, pipe in nlp.pipeline:
        whole.update(name.encode())
        whole.update(pipe.model.to_bytes())
    return whole.hexdigest()


def forked(work: Callable[[], None]) -> int:
    """Run in a process of its own, forked: returns its number."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return pid


def train_and_kill(nlp: Language, out: Path, safe: bool, seconds: float) -> set[str]:
    """Train in another process; kill it some seconds after its first checkpoint.

    Returns the digests of all pipelines that it saved, or began to.
    """
    log = out / "digests"
    log.touch()

    def before_to_disk(saved: Language) -> Language:
        with log.open("a") as file:
            file.write(digest(saved) + "\n")
        return make_safe(saved) if safe else saved

    def work() -> None:
        training = nlp.config["training"]
        training["before_to_disk"] = {"@callbacks": "tests.before_to_disk"}
        spacy.registry.callbacks.register("tests.before_to_disk", func=lambda: before_to_disk)
        training["logger"] = {"@loggers": "tests.silent"}
        silent = (lambda info: None, lambda: None)
        spacy.registry.loggers.register("tests.silent", func=lambda: lambda *streams: silent)
        spacy_train(nlp, out, stdout=io.StringIO(), stderr=io.StringIO())

    pid = forked(work)
    while len(log.read_text().splitlines()) < 2:  # the first one is complete
        time.sleep(0.01)
        assert os.waitpid(pid, os.WNOHANG) == (0, 0), "The training ended by itself."
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return set(log.read_text().splitlines())


def look_at(folder: Path, digests: set[str]) -> str:
    """What is left of a pipeline."""
    if not folder.is_dir():
        return "missing"
    try:
        nlp = spacy.load(folder)
        nlp(TEXT)
    except Exception:
        return "cannot be loaded"
    return "whole" if digest(nlp) in digests else "parts of two checkpoints"


def kill_training(times: int, plain: bool, longest: float = 1.0, seed: int = 0) -> Counter[str]:
    """What is left of model-last, and of model-best, after trainings that were killed."""
    rng = random.Random(seed)
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        nlp = make_pipeline(Path(name))
        for _ in range(times):
            out = Path(name) / "out"
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            digests = train_and_kill(nlp, out, not plain, rng.uniform(0, longest))
            found[f"{LAST}: {look_at(out / LAST, digests)}"] += 1
            found[f"{BEST}: {look_at(out / BEST, digests)}"] += 1
    return found


@contextmanager
def small_files(size: int) -> Iterator[None]:
    """No file can grow beyond a size: what lies beyond it is an OSError, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def full_disk(times: int, folder: Path | None = None, seed: int = 0) -> Counter[str]:
    """Save over an old pipeline, and a parser over an old parser, with too little room."""
    rng = random.Random(seed)
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(dir=folder) as name:
        old, new = (make_pipeline(Path(name)) for _ in range(2))
        for number, nlp in enumerate((old, new)):
            for _, pipe in nlp.pipeline:
                randomize(pipe.model, number)
        pipeline, parser = Path(name) / "pipeline", Path(name) / "parser"
        safe_to_disk(old, pipeline)
        parser_of(old).to_disk(parser)
        saved = {path: path.read_bytes() for path in Path(name).rglob("*") if path.is_file()}
        largest = max(map(len, saved.values()))
        for _ in range(times):
            with filled(folder, rng) if folder else small_files(rng.randrange(largest)):
                for save, path in (
                    (lambda path: safe_to_disk(new, path), pipeline),
                    (parser_of(new).to_disk, parser),
                ):
                    try:
                        save(path)
                        found[f"{path.name}: saved, there was room"] += 1
                    except OSError:
                        left = {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}
                        same = left == {p: b for p, b in saved.items() if path in p.parents}
                        known = "an error, the old one is whole" if same else "damaged"
                        found[f"{path.name}: {known}"] += 1
            safe_to_disk(old, pipeline)
            parser_of(old).to_disk(parser)
    return found


@contextmanager
def filled(folder: Path, rng: random.Random) -> Iterator[None]:
    """A file system with room for some bytes only."""
    filler = folder / "filler"
    room = rng.randrange(200_000)
    with filler.open("wb") as file:
        file.write(b"\0" * max(0, shutil.disk_usage(folder).free - room))
    try:
        yield
    finally:
        filler.unlink()


def start_corpus(arguments: list[str], log: Path) -> subprocess.Popen:
    """Start scripts/parse_corpus.py with two workers, in a process group of its own."""
    script = str(Path(__file__).resolve().parent.parent / "scripts" / "parse_corpus.py")
    with log.open("a") as file:
        return subprocess.Popen(
            [sys.executable, script, *arguments, "--workers", "2"],
            stdout=file,
            stderr=file,
            start_new_session=True,
        )


def finished_shards(out: Path) -> list[Path]:
    """The finished shards, oldest first."""
    return sorted(out.glob("*/part-*.spacy"), key=lambda path: path.stat().st_mtime_ns)


def workers_of(out: Path) -> dict[int, str]:
    """The worker that made each finished shard, by the shard's number."""
    lines = [line for path in out.glob("records/*.jsonl") for line in path.open()]
    records = [json.loads(line) for line in lines if line.endswith("\n")]
    finished = {path.name for path in finished_shards(out)}
    return {
        record["number"]: record["worker"]
        for record in records
        if f"part-{record['number']:06d}.spacy" in finished
    }


def wait_for_shards(run: subprocess.Popen, out: Path, n: int, log: Path) -> None:
    """Until so many shards are finished."""
    while len(finished_shards(out)) < n:
        if run.poll() is not None:
            raise RuntimeError(f"The run ended by itself:\n{log.read_text()[-2000:]}")
        time.sleep(0.05)


def kill_corpus(n_documents: int, seed: int = 0) -> Counter[str]:
    """Kill a worker, then the run, then let it go on: the documents that are there in the end."""
    rng = random.Random(seed)
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        nlp = overfitted()
        nlp.to_disk(folder / "model")
        inputs = []
        for i in range(3):
            lines = (
                " ".join(rng.choices(WORDS, k=rng.randint(1, 40))) for _ in range(n_documents // 3)
            )
            inputs.append(folder / f"{i}.txt")
            inputs[-1].write_text("\n".join(lines) + "\n")
        size = sum(path.stat().st_size for path in inputs)
        out, log = folder / "out", folder / "log"
        arguments = [str(folder / "model"), str(out), *map(str, inputs), "--format", "docbin"]
        arguments += ["--shard-mb", str(size / 2**20 / 40)]

        run = start_corpus(arguments, log)
        wait_for_shards(run, out, 6, log)
        before = set(workers_of(out).values())
        victim = int(min(before).split(":")[1])
        os.kill(victim, signal.SIGKILL)
        print(f"{len(finished_shards(out))} shards: worker {victim} killed", flush=True)
        new: set[str] = set()
        for n in range(14, 32):  # until the worker that takes its place has made a shard
            wait_for_shards(run, out, n, log)
            new = set(workers_of(out).values()) - before
            if new:
                break
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        kept = finished_shards(out)
        before_restart = {path: path.read_bytes() for path in kept}
        print(f"{len(kept)} shards, {len(new)} new workers: the run killed", flush=True)
        run = start_corpus(arguments, log)
        status = run.wait()
        print(f"the run again: exit status {status}: {log.read_text().splitlines()[-1]}")
        found["exit status is not 0"] += status != 0
        changed = sum(path.read_bytes() != data for path, data in before_restart.items())
        found["finished shards with other content"] += changed

        expected = {}
        for path in inputs:
            lines = path.read_text().splitlines()
            for i, doc in enumerate(nlp.pipe(lines)):
                expected[str(path), i] = (lines[i], tree(doc))
        numbers: Counter[str] = Counter()
        for shard in sorted(out.glob("*/part-*.spacy")):
            for doc in DocBin(store_user_data=True).from_disk(shard).get_docs(nlp.vocab):
                source = doc.user_data["source"]
                wanted = expected.pop((source, numbers[source]), None)
                numbers[source] += 1
                same = wanted == (doc.text, tree(doc))
                found["documents as by nlp.pipe" if same else "documents too many or wrong"] += 1
        found["documents lost"] += len(expected)
    return found


def parse_with_a_killed_worker(method: str) -> None:
    """One of two workers kills itself; prints what comes of it."""
    nlp = spacy.blank("xx") if method == LARGE else overfitted()
    Language.component("deadly", func=Deadly())
    nlp.add_pipe("deadly", first=True)
    texts = [*["Yes"] * 200, "die", *["Yes"] * 200]
    if method == OURS:
        docs = pipe_in_processes(nlp, texts, n_process=2, batch_size=20)
    else:
        multiprocessing.set_start_method(method.split(",")[0])
        if method == LARGE:
            texts = ["die", *(f"{i} {TEXT * 20}" for i in range(400))]
        docs = nlp.pipe(texts, n_process=2, batch_size=100 if method == LARGE else 20)
    n = 0
    try:
        for _ in docs:
            n += 1
        print(f"no error, {n} of {len(texts)} documents", flush=True)
    except Exception as error:
        print(f"{type(error).__name__} after {n} documents: {error}", flush=True)


def kill_worker(method: str, seconds: float) -> str:
    """What comes of a killed worker, in words. What hangs is given up after some seconds."""
    command = [sys.executable, "-m", "tests.faults", "kill-worker", "--method", method]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True, text=True)
    try:
        out, _ = run.communicate(timeout=seconds)
        return out.strip() or f"exit status {run.returncode}"
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        out, _ = run.communicate()
        return f"{out.strip()} hangs, given up after {seconds:.0f} s".strip()


def make_pieces(folder: Path, log: Path) -> None:
    """Run parse_corpus.py in this process, with shards of one byte; log what its steps take."""

    def write(path: Path, source: str, parses: Iterator[Any]) -> None:
        path.write_bytes(b"%d" % sum(1 for _ in parses))

    def logged(what: str, step: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = step()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        with log.open("a") as file:
            file.write(f"{what}: {time.perf_counter() - start:.1f} s, peak {peak} MiB\n")
        return result

    parse_corpus.write_docbin = write
    model, out, inputs = str(folder / "model"), folder / "out", [folder / "text.txt"]
    settings = logged(
        "manifest", lambda: parse_corpus.prepare(model, out, inputs, size=2, kind="docbin")
    )
    done, _ = logged("what is there", lambda: parse_corpus.look_through(out, settings))
    todo = [number for number in range(len(done)) if not done[number]]
    records = parse_corpus.run_here(model, out, settings, todo)
    logged(f"{len(todo)} pieces", lambda: sum(1 for _ in records))


def kill_pieces(n: int, seed: int = 0) -> Counter[str]:
    """Kill a run over many pieces again and again: the pieces that are there in the end."""
    rng = random.Random(seed)
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder, log = Path(name), Path(name) / "log"
        (folder / "text.txt").write_bytes(b"a\n" * n)
        spacy.blank("xx").to_disk(folder / "model")
        out = folder / "out"
        for share in sorted(rng.random() for _ in range(3)):
            worker = multiprocessing.Process(target=make_pieces, args=(folder, log))
            worker.start()
            last = parse_corpus.shard_path(out, int(share * n), "docbin")
            while worker.is_alive() and not last.exists():
                time.sleep(0.01)
            worker.kill()
            worker.join()
        worker = multiprocessing.Process(target=make_pieces, args=(folder, log))
        worker.start()
        worker.join()
        print(log.read_text(), end="")
        settings = json.loads((out / parse_corpus.MANIFEST).read_text())
        done, totals = parse_corpus.look_through(out, settings)
        found["pieces complete"] = sum(done)
        found["pieces lost"] = n - sum(done)
        found["documents counted otherwise"] = abs(totals["documents"] - n)
        found["unfinished files left"] = sum(1 for _ in out.rglob(f"*{parse_corpus.NEW}"))
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kinds = ("kill-training", "full-disk", "kill-worker", "kill-corpus", "kill-pieces")
    parser.add_argument("what", choices=kinds)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--plain", action="store_true", help="without the callback")
    parser.add_argument("--folder", type=Path, help="on a small file system, for full-disk")
    parser.add_argument("--longest", type=float, default=1.0, help="seconds before the kill")
    parser.add_argument("--method", choices=METHODS, help="of kill-worker, this one only, here")
    parser.add_argument("--seconds", type=float, default=60, help="until kill-worker gives up")
    parser.add_argument("--documents", type=int, default=20_000, help="of kill-corpus")
    parser.add_argument("--pieces", type=int, default=1_000_000, help="of kill-pieces")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", message=r"\[W", category=UserWarning)
    if options.what == "kill-worker":
        if options.method:
            parse_with_a_killed_worker(options.method)
            return 0
        results = {method: kill_worker(method, options.seconds) for method in METHODS}
        for method, result in results.items():
            print(f"{method}: {result}")
        return int("RuntimeError" not in results[OURS])
    if options.what == "kill-training":
        found = kill_training(options.times, options.plain, options.longest, options.seed)
        good = {f"{LAST}: whole", *(key for key in found if key.startswith(BEST))}
    elif options.what == "kill-corpus":
        found = kill_corpus(options.documents, options.seed)
        good = {"documents as by nlp.pipe", *(key for key in found if not found[key])}
    elif options.what == "kill-pieces":
        found = kill_pieces(options.pieces, options.seed)
        good = {"pieces complete", *(key for key in found if not found[key])}
    else:
        found = full_disk(options.times, options.folder, options.seed)
        good = {key for key in found if not key.endswith("damaged")}
    for what, count in sorted(found.items()):
        print(f"{count:6}  {what}")
    return int(not set(found) <= good)


if __name__ == "__main__":
    sys.exit(main())
