"""Training that is killed while it saves: ``model-last`` is whole, whenever that was. POSIX.

``NMPARSE_KILLS=100 python -m pytest tests/pipe/test_killed_training.py`` kills as often.
"""

from __future__ import annotations

import hashlib
import io
import multiprocessing
import os
import random
import time
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as spacy_train

from spacy_nmparse.pipe.files import make_safe
from tests.pipe.common import NM, make_examples
from tests.pipe.test_pipeline import config_of


def make_pipeline(folder: Path) -> Language:
    """Ready to be trained by spaCy's loop, with a checkpoint after each update."""
    corpus = str(folder / "corpus.spacy")
    examples = make_examples(spacy.blank("xx").vocab)
    DocBin(docs=[example.reference for example in examples]).to_disk(corpus)
    config = config_of(NM)
    config["corpora"]["train"]["path"] = config["corpora"]["dev"]["path"] = corpus
    config["training"] |= {"max_steps": 0, "patience": 0, "max_epochs": -1, "eval_frequency": 1}
    config["training"] |= {"train_corpus": "corpora.train", "dev_corpus": "corpora.dev"}
    return init_nlp(spacy.util.load_model_from_config(config, auto_fill=True).config)


def digest(nlp: Language) -> str:
    """Of the weights of all components."""
    whole = hashlib.sha256()
    for name, pipe in nlp.pipeline:
        whole.update(name.encode())
        whole.update(pipe.model.to_bytes())
    return whole.hexdigest()


def train_and_kill(nlp: Language, out: Path, seconds: float) -> set[str]:
    """Train in another process, kill it; the digests of all that it saved, or began to."""
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

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    while len(log.read_text().splitlines()) < 2:  # the first one is complete
        time.sleep(0.01)
        assert process.is_alive(), "The training ended by itself."
    time.sleep(seconds)
    process.kill()
    process.join()
    return set(log.read_text().splitlines())


@pytest.mark.skipif(os.name != "posix", reason="kills by SIGKILL")
def test_killed_training(tmp_path: Path) -> None:
    """spaCy's own loop, with a checkpoint after each update."""
    rng = random.Random(0)
    nlp = make_pipeline(tmp_path)
    for number in range(int(os.environ.get("NMPARSE_KILLS", 3))):
        out = tmp_path / str(number)
        out.mkdir()
        digests = train_and_kill(nlp, out, rng.uniform(0, 1))
        left = spacy.load(out / "model-last")
        left("She saw the cat . A hearing is scheduled on the issue today")
        assert digest(left) in digests  # not parts of two checkpoints
