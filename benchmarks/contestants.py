"""The parsers that benchmarks.speed times, and what each stage does."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry
from thinc.api import Model

from spacy_nmparse.analysis.evaluate import blank_copy
from spacy_nmparse.layers.known_words import KnownWords
from spacy_nmparse.pipe.fast_blas import use_fast_blas

PARSER = "parser"  # the component's name in the configs
STAGES = ("parse", "pipeline", "training")


@dataclass
class Timing:
    """The timings of one parser in one stage: words processed each time, and seconds of each
    repetition, by the clock and of the processor."""

    words: int = 0
    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def rates(self) -> list[float]:
        """The words per second of each repetition."""
        return [self.words / seconds for seconds in self.seconds]

    def measure(self, work: Callable[[], Any], words: int) -> Any:
        """Time some work on so many words once, and return what it returns."""
        gc.collect()
        self.words = words
        cpu = time.process_time()
        start = time.perf_counter()
        result = work()
        self.seconds.append(time.perf_counter() - start)
        self.cpu.append(time.process_time() - cpu)
        return result

    def as_dict(self) -> dict[str, Any]:
        """The entry of the result file: words, times, and the median, least and greatest rate."""
        rates = self.rates()
        return {
            "words": self.words,
            "seconds": self.seconds,
            "cpu_seconds": self.cpu,
            "words_per_second": {
                "median": round(statistics.median(rates)),
                "min": round(min(rates)),
                "max": round(max(rates)),
            },
        }


def trees(docs: Sequence[Doc]) -> int:
    """A number that differs for different heads or labels of parsed documents."""
    return hash(tuple(doc.to_array(["HEAD", "DEP", "SENT_START"]).tobytes() for doc in docs))


def load(path: Path, ops: str) -> Language:
    """Load a pipeline; `ops`: who computes matrix products for Thinc. Raises a ValueError if the
    pipeline brings the switch along."""
    nlp = spacy.load(path)
    if "fast_blas" in str(nlp.config["nlp"]["after_pipeline_creation"]):
        raise ValueError(
            f"{path} has the switch in its config ([nlp.after_pipeline_creation]), whatever --ops "
            f"says: remove it there."
        )
    return use_fast_blas(nlp) if ops == "switch" else nlp


class Contestant:
    """A trained pipeline, its timings by stage, and what each stage gave in the first repetition.

    Attributes:
        name: The system's name.
        nlp: The pipeline.
        timings: The timings of each stage.
    """

    def __init__(
        self,
        name: str,
        path: Path,
        gold: Sequence[Doc],
        learned: Sequence[Doc],
        beam: int = 1,
        threads: int = 1,
        ops: str = "default",
    ) -> None:
        """Load a pipeline, to parse and learn documents, and compute the token vectors.

        Args:
            name: The system's name.
            path: The pipeline's folder.
            gold: The documents to parse.
            learned: The documents to learn from.
            beam: The width of the beam.
            threads: How many threads parse.
            ops: Who computes matrix products for Thinc.

        Raises:
            ValueError: If the model is spaCy's, and has another width, or threads.
        """
        self.name = name
        self.nlp = load(path, ops)
        self.timings = {stage: Timing() for stage in STAGES}
        self.found: dict[str, Any] = {}
        parser: Any = self.nlp.get_pipe(PARSER)
        if hasattr(parser, "beam_width"):
            parser.beam_width, parser.threads = beam, threads
        elif (parser.cfg["beam_width"], 1) != (beam, threads):
            raise ValueError(f"{path} has a beam of {parser.cfg['beam_width']} and one thread.")
        self.learner = load(path, ops)  # parsing is timed with weights that stay the same
        self.gold = gold
        self.learned = learned
        self.texts = [doc.text for doc in gold]
        self.batch_size = self.nlp.batch_size
        self.vectors = [doc.tensor for doc in self.before_parser(gold)]
        config = self.learner.config.interpolate()
        settings = registry.resolve(config["training"], schema=ConfigSchemaTraining)
        self.optimizer = settings["optimizer"]
        self.dropout = settings["dropout"]

    def before_parser(self, gold: Sequence[Doc]) -> list[Doc]:
        """Copies of documents with what the components before the parser give."""
        docs = [blank_copy(self.nlp, doc, "gold", "none") for doc in gold]
        for component, process in self.nlp.pipeline:
            if component == PARSER:
                break
            docs = list(process.pipe(docs, batch_size=self.batch_size))  # type: ignore[attr-defined]
        return docs

    def check(self, stage: str, docs: Sequence[Doc]) -> None:
        """Compare parses with those of the first repetition; a RuntimeError if they differ."""
        found = trees(docs)
        if self.found.setdefault(stage, found) != found:
            raise RuntimeError(f"{self.name} gave other trees than in the first repetition.")

    def parse(self) -> None:
        """Time the parser alone."""
        parser = self.nlp.get_pipe(PARSER)
        docs = []
        for gold, vectors in zip(self.gold, self.vectors, strict=True):
            doc = blank_copy(self.nlp, gold, "gold", "none")
            doc.tensor = vectors
            docs.append(doc)
        stream = parser.pipe(docs, batch_size=self.batch_size)  # type: ignore[attr-defined]
        words = sum(map(len, docs))
        parsed = self.timings["parse"].measure(lambda: list(stream), words)
        self.check("parse", parsed)

    def pipeline(self) -> None:
        """Time everything, from text."""
        words = sum(len(self.nlp.make_doc(text)) for text in self.texts)
        self.forget_words()
        stream = self.nlp.pipe(self.texts)
        docs = self.timings["pipeline"].measure(lambda: list(stream), words)
        self.check("pipeline", docs)

    def forget_words(self) -> None:
        """Leave no vectors of words but those of the text that is learned from: the text of the
        repetition before has all of them."""
        models = [getattr(pipe, "model", None) for _, pipe in self.nlp.pipeline]
        for node in (node for one in models if isinstance(one, Model) for node in one.walk()):
            if "known_words" in node.attrs:
                node.attrs["known_words"] = KnownWords()
        self.before_parser(self.learned)

    def training(self) -> None:
        """Time some updates."""
        batches = list(batch_by_words(self.learned, 1000))
        examples = [
            [Example(blank_copy(self.learner, doc, "gold", "none"), doc) for doc in batch]
            for batch in batches
        ]

        def learn() -> None:
            for batch in examples:
                self.learner.update(batch, drop=self.dropout, sgd=self.optimizer)

        self.timings["training"].measure(learn, sum(map(len, self.learned)))


def batch_by_words(docs: Sequence[Doc], size: int) -> Iterator[list[Doc]]:
    """Group documents; a group has at least this number of words, if there are so many."""
    batch: list[Doc] = []
    words = 0
    for doc in docs:
        batch.append(doc)
        words += len(doc)
        if words >= size:
            yield batch
            batch, words = [], 0
    if batch:
        yield batch
