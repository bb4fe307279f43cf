"""Measure the speed of parsers on the same data, as users get it: no variable is set.

    python -m benchmarks.speed
    python -m benchmarks.speed --treebank assets/UD_English-EWT --ops default switch
    python -m benchmarks.speed --beam 8 --stages parse pipeline
    python -m benchmarks.speed --models training/demo/nm_parser/model-best \\
        training/demo/spacy_parser/model-best

Words per second of

    parse      the parser alone: token vectors are given, as the tok2vec component left them
    pipeline   from text to trees, tokenizer and tok2vec included
    processes  the same in two worker processes (`n_process=2`), from their start to their end
    training   updates of the whole pipeline

and, as a floor of `parse`, of the parser's products of token vectors and weights run alone (the
small products of each step are not in it); as that of `training`, of the updates of tok2vec alone
(`tok2vec`): no parser on it can be trained faster.

`--busy 0 1` measures each of these on an otherwise idle machine, and next to one process that keeps
a processor core busy.

The parsers are trained first, for a few epochs, on the Turkish Web Treebank of the package
turkish-treebanks (`--treebank`: a folder of Universal Dependencies): the three factories and, to
compare them with, two pipelines of spaCy's parser. `spacy_init_config` is what `spacy init config
--pipeline parser --optimize efficiency` makes, which is what most users train;
`spacy_parser_multihash` has the sizes of the factory `parser`. All take turns: one timing each per
repetition, on fresh copies of the documents, in alternating order. A ratio compares two timings of
one repetition. A parser must give the same trees every time. Our token vectors keep those of words
that they have seen: before each timing from text they see the text of `training` alone.

Documents have ten sentences without preset boundaries (`--unit sentence`: one sentence each).
`--ops` chooses who computes matrix products for Thinc, for spaCy's parser too: `default` (BLIS on
most machines), or `switch` (the callback spacy_nmparse.fast_blas.v1, docs/speed.md). With both, all
take turns, and ratios are to spaCy's parsers on the first of them.

`--beam 8` compares beam search of that width: ours, with models that were trained without a beam,
against spaCy's `beam_parser`, trained as its defaults have it. A step then also contains what it
costs to keep the hypotheses apart; the floor is that of greedy search. A system SYSTEM_beam4 is
SYSTEM, of this package, searched with a beam of 4; SYSTEM_threads2 parses with two threads.

`--udpipe MODEL`, of benchmarks.udpipe, adds UDPipe 1. It gets the same sentences, with their
boundaries, one after the other, and searches with a beam of 5, its default, and greedily, as the
others do (its name then ends in `_greedy`). For `parse` it also gets the tags that it predicts; in
`pipeline`, where it has no tokenizer here, it tags and parses tokens.

Result: a table, and benchmarks/runs/speed/TREEBANK.json (with a beam: TREEBANK-beam8.json).
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy
import spacy
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch, registry
from thinc.api import Model

from benchmarks.common import RUNS, WORK, command_line, complain, record, run
from benchmarks.formats import markdown
from benchmarks.systems import find_system
from benchmarks.treebanks import choose_lang
from benchmarks.udpipe import Model as UDPipeModel
from benchmarks.udpipe import read_sentences, write_sentences
from scripts.prepare_demo import find_treebank, prepare
from spacy_nmparse.layers.known_words import KnownWords
from spacy_nmparse.layers.products import Weights
from spacy_nmparse.pipe.fast_blas import use_fast_blas
from spacy_nmparse.scorers.words import recurrent_layers
from spacy_nmparse.search.greedy import WINDOW
from spacy_nmparse.ud.evaluate import blank_copy, read_docs, references
from spacy_nmparse.ud.records import dump
from spacy_nmparse.ud.treebank import convert, find_splits

DEMO = "turkish-treebanks"
PARSER = "parser"  # the component's name in the configs
SPACY = "spacy_"  # how the names of systems with spaCy's parser begin
INIT_CONFIG = "spacy_init_config"
FACTORY = "spacy_parser_multihash"  # of the sizes of spaCy's factory
STAGES = ("parse", "pipeline", "processes", "training")
FLOORS = {"floor": "parse", "tok2vec": "training"}
OPS = ("default", "switch")
#: Variables that libraries of matrix products read; a run where one is set is refused.
VARIABLES = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM")
#: A process that keeps one processor core busy.
BUSY = "while True: pass"


@dataclass
class Timing:
    """The timings of one parser in one stage.

    Attributes:
        words: Words processed each time.
        seconds: Wall-clock time of each repetition.
        cpu: Processor time of each repetition.
    """

    words: int = 0
    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def rates(self) -> list[float]:
        """Compute the words per second of each repetition.

        Returns:
            The rates.
        """
        return [self.words / seconds for seconds in self.seconds]

    def measure(self, work: Callable[[], Any], words: int) -> Any:
        """Time something once.

        Args:
            work: What to run.
            words: How many words it processes.

        Returns:
            What `work` returned.
        """
        gc.collect()
        self.words = words
        cpu = time.process_time()
        start = time.perf_counter()
        result = work()
        self.seconds.append(time.perf_counter() - start)
        self.cpu.append(time.process_time() - cpu)
        return result

    def as_dict(self) -> dict[str, Any]:
        """Make the entry of the result file.

        Returns:
            Words, times, and the median, least and greatest rate.
        """
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


@dataclass
class Data:
    """What is parsed and learned.

    Attributes:
        name: The treebank.
        lang: spaCy's language code.
        corpus: The .spacy file of each split.
    """

    name: str
    lang: str
    corpus: dict[str, Path]


def prepare_data(treebank: Path | None, lang: str | None, work: Path) -> Data:
    """Convert the treebank.

    Args:
        treebank: A folder of Universal Dependencies, or None for the demo's treebank.
        lang: spaCy's language code; None to choose it.
        work: The folder for the converted files.

    Returns:
        The data.
    """
    if treebank is None:
        return Data(DEMO, lang or "tr", prepare(find_treebank(), work / DEMO / "corpus"))
    treebank = treebank.resolve()
    files = find_splits(treebank)
    corpus = convert(files, work / treebank.name / "corpus", n_sents=10, with_single=True)
    return Data(treebank.name, lang or choose_lang(files["train"]), corpus)


def split_name(name: str, beam: int) -> tuple[str, int, int]:
    """Read a system, the width of its beam and its threads from a name.

    Args:
        name: As on the command line.
        beam: The width where the name has none.

    Returns:
        The name of the config, the width, and the threads.
    """
    match = re.fullmatch(r"(.+?)(?:_beam(\d+))?(?:_threads(\d+))?", name)
    assert match is not None
    return match[1], int(match[2] or beam), int(match[3] or 1)


def train(system: str, data: Data, epochs: int, seed: int, work: Path, beam: int = 1) -> Path:
    """Train a parser.

    Args:
        system: The name of its config.
        data: The data.
        epochs: Passes over the training data.
        seed: The random seed.
        work: The folder for models and logs.
        beam: The width of its beam; spaCy's parser is then its beam parser.

    Returns:
        The trained pipeline.

    Raises:
        ValueError: If there is no such system.
        RuntimeError: If training fails.
    """
    output = (work / data.name / (f"{system}-beam{beam}" if beam > 1 else system)).resolve()
    if system == INIT_CONFIG:
        output.mkdir(parents=True, exist_ok=True)
        config = output / "config.cfg"
        how = ["--lang", data.lang, "--pipeline", PARSER, "--optimize", "efficiency", "--force"]
        run(["-m", "spacy", "init", "config", str(config), *how], output / "log.txt", f"[{system}]")
    else:
        config = find_system(system).write(output, {})
    command = ["-m", "spacy", "train", str(config), "--output", str(output)]
    command += ["--nlp.lang", data.lang, "--system.seed", str(seed)]
    command += ["--training.max_epochs", str(epochs)]
    if beam > 1 and system.startswith(SPACY):
        command += ["--components.parser.factory", "beam_parser"]
        command += ["--components.parser.beam_width", str(beam)]
    for split in ("train", "dev"):
        command += [f"--paths.{split}", str(data.corpus[split].resolve())]
    run(command, output / "log.txt", f"[{system}]")
    return output / "model-last"


def choose_docs(data: Data, nlp: Language, unit: str, splits: Sequence[str], n: int) -> list[Doc]:
    """Read gold documents.

    Args:
        data: The data.
        nlp: A pipeline, for its vocab.
        unit: "doc" or "sentence".
        splits: The splits to read.
        n: The least number of words; documents are repeated as needed.

    Returns:
        The documents.
    """
    docs = [doc for split in splits for doc in references(read_docs(nlp, data.corpus[split]), unit)]
    chosen = []
    words = 0
    for doc in itertools.cycle(docs):
        if words >= n:
            break
        chosen.append(doc)
        words += len(doc)
    return chosen


def trees(docs: Sequence[Doc]) -> int:
    """Make a fingerprint of the parses.

    Args:
        docs: Parsed documents.

    Returns:
        A number that differs for different heads or labels.
    """
    return hash(tuple(doc.to_array(["HEAD", "DEP", "SENT_START"]).tobytes() for doc in docs))


def load(path: Path, ops: str) -> Language:
    """Load a pipeline.

    Args:
        path: Its folder.
        ops: Who computes matrix products for Thinc: one of `OPS`.

    Returns:
        The pipeline.

    Raises:
        ValueError: If it brings the switch along.
    """
    nlp = spacy.load(path)
    if "fast_blas" in str(nlp.config["nlp"]["after_pipeline_creation"]):
        raise ValueError(
            f"{path} has the switch in its config ([nlp.after_pipeline_creation]), whatever --ops "
            f"says: remove it there."
        )
    return use_fast_blas(nlp) if ops == "switch" else nlp


class Timed:
    """What is timed.

    Attributes:
        name: The system's name.
        stages: What can be timed.
        timings: The timings of each stage.
        found: What each stage gave in the first repetition.
    """

    def __init__(self, name: str, stages: Sequence[str]) -> None:
        """Begin without timings.

        Args:
            name: The system's name.
            stages: What can be timed.
        """
        self.name = name
        self.stages = stages
        self.timings = {stage: Timing() for stage in stages}
        self.found: dict[str, Any] = {}

    def check(self, stage: str, found: Any) -> None:
        """Compare parses with those of the first repetition.

        Args:
            stage: The stage.
            found: What tells the trees apart.

        Raises:
            RuntimeError: If they differ.
        """
        if self.found.setdefault(stage, found) != found:
            raise RuntimeError(f"{self.name} gave other trees than in the first repetition.")


class Contestant(Timed):
    """A trained pipeline and its timings.

    Attributes:
        nlp: The pipeline.
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
        """Load a pipeline and compute the token vectors.

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
        self.nlp = load(path, ops)
        has_tok2vec = "tok2vec" in self.nlp.pipe_names
        floors = [floor for floor in FLOORS if floor != "tok2vec" or has_tok2vec]
        super().__init__(name, (*STAGES, *floors))
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
        docs = [blank_copy(self.nlp, doc, "gold", "none") for doc in gold]
        for component, process in self.nlp.pipeline:
            if component == PARSER:
                break
            docs = list(process.pipe(docs, batch_size=self.batch_size))  # type: ignore[attr-defined]
        self.vectors = [doc.tensor for doc in docs]
        config = self.learner.config.interpolate()
        settings = registry.resolve(config["training"], schema=ConfigSchemaTraining)
        self.optimizer = settings["optimizer"]
        self.dropout = settings["dropout"]

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
        self.check("parse", trees(parsed))

    def pipeline(self) -> None:
        """Time everything, from text."""
        self.from_text("pipeline", 1)

    def processes(self) -> None:
        """Time everything, from text, in two worker processes."""
        self.from_text("processes", 2)

    def from_text(self, stage: str, n_process: int) -> None:
        """Time everything, from text.

        Args:
            stage: The stage.
            n_process: How many processes parse.
        """
        words = sum(len(self.nlp.make_doc(text)) for text in self.texts)
        self.forget_words()
        stream = self.nlp.pipe(self.texts, n_process=n_process)
        docs = self.timings[stage].measure(lambda: list(stream), words)
        self.check("pipeline", trees(docs))

    def forget_words(self) -> None:
        """Leave no vectors of words but those of the text that is learned from: the text of the
        repetition before has all of them."""
        nodes = [node for _, pipe in self.nlp.pipeline for node in walk(pipe)]
        for node in nodes:
            if "known_words" in node.attrs:
                node.attrs["known_words"] = KnownWords()
        docs = [blank_copy(self.nlp, doc, "gold", "none") for doc in self.learned]
        for component, process in self.nlp.pipeline:
            if component != PARSER:
                docs = list(process.pipe(docs, batch_size=self.batch_size))  # type: ignore[attr-defined]

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

    def floor(self) -> None:
        """Time the products of token vectors and weights that `parse` makes."""
        self.timings["floor"].measure(self.products(), sum(map(len, self.vectors)))

    def tok2vec(self) -> None:
        """Time the updates of the token vectors that `training` makes."""
        component: Any = self.learner.get_pipe("tok2vec")
        batches = [
            [blank_copy(self.learner, doc, "gold", "none") for doc in batch]
            for batch in batch_by_words(self.learned, 1000)
        ]

        def learn() -> None:
            for batch in batches:
                vectors, backprop = component.model.begin_update(batch)
                backprop([component.model.ops.xp.zeros_like(array) for array in vectors])
                component.model.finish_update(self.optimizer)

        self.timings["tok2vec"].measure(learn, sum(map(len, self.learned)))

    def products(self) -> Callable[[], None]:
        """Lay out the products of token vectors and weights that the parser makes.

        Returns:
            What runs them.
        """
        model = self.nlp.get_pipe(PARSER).model  # type: ignore[attr-defined]
        if model.has_ref("lower"):  # spaCy's: a linear layer, then the table of features
            lower, linear = model.get_ref("lower"), model.get_ref("tok2vec").layers[-1]
            first, second = linear.get_param("W"), lower.get_param("W")
            second = second.reshape((-1, second.shape[-1]))
            inputs = [numpy.concatenate(part) for part in self.subbatches()]
            gemm = model.ops.gemm

            def run_spacy() -> None:
                for X in inputs:
                    gemm(gemm(X, first, trans2=True), second, trans2=True)

            return run_spacy
        rounded = self.nlp.get_pipe(PARSER).rounded  # type: ignore[attr-defined]

        def weights(layer: Model, name: str) -> tuple[int, Weights]:
            W: Any = layer.get_param(name)
            return W.shape[1], Weights(W, rounded)

        n_rows, word_W = len(model.get_param("word_W")), weights(model, "word_W")[1]
        names = [name for name in ("arc_W", "project_W") if model.has_param(name)]
        own = [weights(layer, "W") for layer in recurrent_layers(model)]
        own += [weights(model, name) for name in names]
        batches = [numpy.concatenate(list(b)) for b in minibatch(self.vectors, self.batch_size)]
        # What recurrent layers add to the token vectors is left out of the loop, their width not.
        wider = [
            numpy.pad(batch, ((0, 0), (0, model.get_dim("nI") - batch.shape[1])))
            for batch in batches
        ]
        rows = numpy.empty((WINDOW, n_rows), dtype="float32")

        def run_ours() -> None:
            for words in wider:
                for n_in, W in own:
                    X = W.times(words[:, :n_in])
                for i in range(0, len(X), WINDOW):
                    window = X[i : i + WINDOW]
                    word_W.times(window, rows[: len(window)])

        return run_ours

    def subbatches(self) -> Iterator[list[numpy.ndarray]]:
        """Give the token vectors in the groups that spaCy's parser makes.

        Yields:
            The token vectors of the documents of a group.
        """
        for batch in minibatch(self.vectors, self.batch_size):
            by_length = sorted(batch, key=len)
            yield from map(list, minibatch(by_length, max(self.batch_size // 4, 2)))


class UDPipe(Timed):
    """A model of UDPipe 1 and its timings.

    Attributes:
        options: UDPipe's, for the parser.
    """

    def __init__(self, model: UDPipeModel, gold: Sequence[Doc], greedy: bool) -> None:
        """Predict the tags.

        Args:
            model: The model.
            gold: The documents to parse.
            greedy: Whether it searches greedily.

        Raises:
            ValueError: If UDPipe cannot tag with the model.
        """
        super().__init__(model.path.stem + ("_greedy" if greedy else ""), ("parse", "pipeline"))
        self.options = "beam_search=1" if greedy else ""
        self.model = model
        self.words = sum(map(len, gold))
        blanks = "\t_" * 8
        self.untagged = "".join(
            "".join(f"{i}\t{token.text}{blanks}\n" for i, token in enumerate(sent, 1)) + "\n"
            for doc in gold
            for sent in doc.sents
        )
        sentences = read_sentences(self.untagged)
        self.model.tag(sentences)
        self.tagged = write_sentences(sentences)

    def parse(self) -> None:
        """Time the parser alone."""
        sentences = read_sentences(self.tagged)
        self.timings["parse"].measure(lambda: self.model.parse(sentences, self.options), self.words)
        self.check("parse", write_sentences(sentences))

    def pipeline(self) -> None:
        """Time tagger and parser."""
        sentences = read_sentences(self.untagged)

        def work() -> None:
            self.model.tag(sentences)
            self.model.parse(sentences, self.options)

        self.timings["pipeline"].measure(work, self.words)
        self.check("pipeline", write_sentences(sentences))


def with_floors(stages: Sequence[str]) -> tuple[str, ...]:
    """Add the floors of stages.

    Args:
        stages: The stages.

    Returns:
        The stages, then their floors.
    """
    return (*stages, *(floor for floor, stage in FLOORS.items() if stage in stages))


def walk(pipe: Any) -> Iterator[Model]:
    """Give the layers of a component.

    Args:
        pipe: The component; it may have no model.

    Yields:
        The layers.
    """
    model = getattr(pipe, "model", None)
    if isinstance(model, Model):
        yield from model.walk()


def batch_by_words(docs: Sequence[Doc], size: int) -> Iterator[list[Doc]]:
    """Group documents.

    Args:
        docs: The documents.
        size: The number of words to reach.

    Yields:
        The documents of a group.
    """
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


def spread(values: Sequence[float], digits: int = 0) -> str:
    """Write a median with its range.

    Args:
        values: The values.
        digits: Digits after the point.

    Returns:
        Median, least and greatest value.
    """
    low, median, high = min(values), statistics.median(values), max(values)
    return f"{median:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"


def ratios(ours: Timing, theirs: Timing) -> list[float]:
    """Compare two parsers repetition by repetition.

    Args:
        ours: The timings of one.
        theirs: The timings of the other.

    Returns:
        How many times as fast the first is.
    """
    return [b / a for a, b in zip(ours.seconds, theirs.seconds, strict=True)]


def compare(
    title: str, contestants: Sequence[Timed], bases: Sequence[Timed], stages: Sequence[str]
) -> list[list[str]]:
    """Make the rows of the table.

    Args:
        title: What the rows have in common: the load, the matrix products.
        contestants: The parsers.
        bases: What they are compared with, each in a column of its own.
        stages: The stages that were timed.

    Returns:
        The cells.
    """
    rows = []
    for stage in with_floors(stages):
        for contestant in contestants:
            if stage not in contestant.stages:
                continue
            timing = contestant.timings[stage]
            row = [f"{stage}, {contestant.name}, {title}", spread(timing.rates())]
            for base in bases:
                comparable = contestant is not base and stage in base.stages
                row.append(spread(ratios(timing, base.timings[stage]), 2) if comparable else "")
            rows.append(row)
    return rows


@contextlib.contextmanager
def load_of(n: int) -> Iterator[None]:
    """Keep n processor cores busy.

    Args:
        n: How many.

    Yields:
        Nothing.
    """
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(n)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def measure(contestants: Sequence[Timed], reps: int, stages: Sequence[str] = STAGES) -> None:
    """Time the stages, the parsers taking turns.

    Args:
        contestants: The parsers.
        reps: Repetitions; one more, not counted, comes first.
        stages: The stages.
    """
    for contestant in contestants:
        contestant.timings = {stage: Timing() for stage in contestant.stages}
    for stage in with_floors(stages):
        for rep in range(reps + 1):
            turn = contestants if rep % 2 else list(reversed(contestants))
            for contestant in turn:
                if stage not in contestant.stages:
                    continue
                getattr(contestant, stage)()
                if rep == 0:
                    contestant.timings[stage] = Timing()
            if sys.stdout.isatty():
                print(f"\r{stage}: {rep} of {reps}", end="\n" if rep == reps else "", flush=True)


def shown(option: str, paths: Sequence[Path] | None) -> str:
    """Write an option that names models for the record, without the folders they happen to be in.

    Args:
        option: Its name.
        paths: What it was given; a trained pipeline is known by the folder around it.

    Returns:
        The option and a space, or nothing where there are no paths.
    """
    if not paths:
        return ""
    trained = ("model-best", "model-last")
    names = ["/".join(path.parts[-2 if path.name in trained else -1 :]) for path in paths]
    return f"--{option} {' '.join(names)} "


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments, by default those of the process.

    Returns:
        The exit status.
    """
    parser = command_line(__doc__)
    parser.add_argument("--treebank", type=Path, help="folder of a UD treebank")
    parser.add_argument("--lang", help="spaCy language code; by default from the file names")
    parser.add_argument(
        "--systems", nargs="+", metavar="NAME",
        default=["nm_parser", "swap_parser", "nl_covington_parser", INIT_CONFIG, FACTORY],
        help="systems; all are compared with those whose names begin with spacy_",
    )  # fmt: skip
    parser.add_argument(
        "--models", nargs="+", type=Path, metavar="FOLDER",
        help="trained pipelines of the systems, in their order; by default they are trained",
    )  # fmt: skip
    parser.add_argument("--epochs", type=int, default=3, help="epochs to train")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reps", type=int, default=7, help="repetitions")
    parser.add_argument("--words", type=int, default=20_000, help="words to parse each time")
    parser.add_argument("--train-words", type=int, default=5_000, help="words to learn each time")
    parser.add_argument("--unit", choices=("doc", "sentence"), default="doc")
    parser.add_argument("--ops", nargs="+", choices=OPS, default=["default"])
    parser.add_argument(
        "--busy", nargs="+", type=int, default=[0, 1], metavar="N",
        help="measure next to N processes that keep a processor core busy each",
    )  # fmt: skip
    parser.add_argument("--beam", type=int, default=1, metavar="WIDTH", help="width of the beams")
    parser.add_argument(
        "--udpipe", nargs="+", type=Path, default=[], metavar="MODEL",
        help="models of benchmarks.udpipe, to be timed too",
    )  # fmt: skip
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES))
    parser.add_argument("--quick", action="store_true", help="one epoch, two short repetitions")
    parser.add_argument("--work", type=Path, default=WORK / "speed")
    parser.add_argument("-o", "--output", type=Path, help="JSON file to write")
    args = parser.parse_args(argv)
    if args.quick:
        args.epochs, args.reps, args.words, args.train_words = 1, 2, 2_000, 1_000
    if args.models and len(args.models) != len(args.systems):
        parser.error(f"{len(args.systems)} systems need as many models, not {len(args.models)}.")
    set_ = [name for name in VARIABLES if f"{name}_NUM_THREADS" in os.environ]
    if set_:
        parser.error(f"Unset {set_[0]}_NUM_THREADS: speed is measured as users get it.")
    try:
        models = [UDPipeModel(path) for path in args.udpipe]
        data = prepare_data(args.treebank, args.lang, args.work)
        systems = [split_name(name, args.beam) for name in args.systems]
        trained = {
            system: train(system, data, args.epochs, args.seed, args.work, args.beam)
            for system in ([] if args.models else dict.fromkeys(one for one, *_ in systems))
        }
        paths = args.models or [trained[system] for system, *_ in systems]
        vocab = spacy.blank(data.lang)
        gold = choose_docs(data, vocab, args.unit, ("dev", "test"), args.words)
        learned = choose_docs(data, vocab, args.unit, ("train",), args.train_words)
        groups = {
            ops: [
                Contestant(name, path, gold, learned, width, threads, ops)
                for name, path, (_, width, threads) in zip(
                    args.systems, paths, systems, strict=True
                )
            ]
            for ops in args.ops
        }
        others = [UDPipe(model, gold, greedy) for model in models for greedy in (False, True)]
        ours = [one for group in groups.values() for one in group]
        bases = [one for one in groups[args.ops[0]] if one.name.startswith(SPACY)]
        rows = []
        results: dict[str, Any] = {}
        for busy in args.busy:
            with load_of(busy):
                measure([*ours, *others], args.reps, args.stages)
            results[str(busy)] = {}
            for ops, group in [*groups.items(), *([("udpipe", others)] if others else [])]:
                rows += compare(f"{ops}, {busy} busy", group, bases, args.stages)
                results[str(busy)][ops] = {
                    stage: {
                        one.name: one.timings[stage].as_dict()
                        for one in group
                        if stage in one.stages
                    }
                    for stage in with_floors(args.stages)
                }
    except (ImportError, OSError, ValueError, RuntimeError) as error:
        return complain("speed", error)
    about = record()
    packages = {"ufal.udpipe": metadata.version("ufal.udpipe")} if others else {}
    print(
        f"\n{data.name}: {len(gold)} documents, {sum(map(len, gold)):,} words; "
        f"{about['machine']['processor']}\n"
    )
    title = ["stage, parser, matrix products, load"]
    title += [f"words per second: median of {args.reps} (range)"]
    print(markdown([*title, *(f"times {base.name}" for base in bases)], rows))
    file = f"{data.name}-beam{args.beam}.json" if args.beam > 1 else f"{data.name}.json"
    output = args.output or RUNS / "speed" / file
    options = ["treebank", "epochs", "seed", "reps", "words", "train_words", "unit", "ops"]
    options += ["busy", "beam", "stages"]
    given = {name: getattr(args, name) for name in options}
    given["treebank"] = data.name
    if others:
        given["udpipe"] = [other.name for other in others]
    if args.models:
        given["epochs"] = None  # trained elsewhere
    result = {
        "command": f"python -m benchmarks.speed --systems {' '.join(args.systems)} "
        f"{shown('models', args.models) or f'--epochs {args.epochs} '}--reps {args.reps} "
        f"--words {args.words} --train-words {args.train_words} --unit {args.unit} "
        f"--ops {' '.join(args.ops)} --busy {' '.join(map(str, args.busy))} --beam {args.beam} "
        f"{shown('udpipe', args.udpipe)}"
        f"--stages {' '.join(args.stages)}",
        "settings": given,
        "versions": {**about["versions"], **packages},
        "machine": about["machine"],
        "documents": len(gold),
        "results": results,
    }
    dump(result, output)
    print(f"\nWritten to {output}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
