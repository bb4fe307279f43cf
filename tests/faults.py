"""Processes that are killed while they save, and files that cannot grow: what is left?

    python -m tests.faults kill-training --times 100
    python -m tests.faults full-disk --times 100

``kill-training`` trains a pipeline of two components with spaCy's own loop and the callback
``spacy_nmparse.safe_checkpoints.v1``, a checkpoint after each update, and kills it (SIGKILL) after
a random time. ``full-disk`` saves a pipeline over another one while files cannot grow beyond a
random size.

The exit status is 1 where something is left that should not be. POSIX only.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as spacy_train
from thinc.api import Config

from spacy_nmparse.pipe.files import make_safe, safe_to_disk
from tests.pipe.common import make_examples, parser_of, randomize
from tests.pipe.test_pipeline import CONFIG

LAST, BEST = "model-last", "model-best"
#: What may be found.
GOOD = {
    f"{LAST}: whole",
    *(
        f"{what}: {left}"
        for what in ("pipeline", "parser")
        for left in ("saved, there was room", "an error, the old one is whole")
    ),
}
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


def train_and_kill(nlp: Language, out: Path, seconds: float) -> set[str]:
    """Train in another process; kill it some seconds after its first checkpoint.

    Returns the digests of all pipelines that it saved, or began to.
    """
    log = out / "digests"
    log.touch()

    def before_to_disk(saved: Language) -> Language:
        with log.open("a") as file:
            file.write(digest(saved) + "\n")
        return make_safe(saved)

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


def kill_training(times: int, seed: int = 0) -> Counter[str]:
    """What is left of model-last, and of model-best, after trainings that were killed."""
    rng = random.Random(seed)
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        nlp = make_pipeline(Path(name))
        for _ in range(times):
            out = Path(name) / "out"
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            digests = train_and_kill(nlp, out, rng.uniform(0, 1))
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


def full_disk(times: int, seed: int = 0) -> Counter[str]:
    """Save over an old pipeline, and a parser over an old parser, with too little room."""
    rng = random.Random(seed)
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
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
            with small_files(rng.randrange(largest)):
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


KINDS = {
    "kill-training": kill_training,
    "full-disk": full_disk,
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=tuple(KINDS))
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", message=r"\[W", category=UserWarning)
    found = KINDS[options.what](options.times, seed=options.seed)
    for what, count in sorted(found.items()):
        print(f"{count:6}  {what}")
    # spaCy itself copies model-best
    good = {what for what in found if what in GOOD or what.startswith(BEST)}
    return int(any(found[what] for what in set(found) - good))


if __name__ == "__main__":
    sys.exit(main())
