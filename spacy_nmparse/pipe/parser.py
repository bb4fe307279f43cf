"""The parser component."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy
import srsly
from spacy import util
from spacy.language import Language
from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer

from spacy_nmparse.learning import beam, beam_rollout, greedy, rollout
from spacy_nmparse.pipe import calibration, saving
from spacy_nmparse.pipe.calibration import Calibration
from spacy_nmparse.pipe.confidence import register_extensions
from spacy_nmparse.pipe.files import write_files
from spacy_nmparse.pipe.gold import ROOT_LABEL, GoldReader
from spacy_nmparse.pipe.labels import LabelData, LabelSet, Learned
from spacy_nmparse.pipe.parses import Arcs, Parses, Tree, unparsed_copy
from spacy_nmparse.pipe.schedule import Chance
from spacy_nmparse.pipe.settings import SWITCH, WEIGHT, WIDTH, Setting, number_between, one_of
from spacy_nmparse.pipe.spec import SystemSpec
from spacy_nmparse.pipe.tags import TagSet, collect
from spacy_nmparse.pipe.teacher import Teacher, load_teacher
from spacy_nmparse.pipe.words import ScoredWords, Words, lacks_token_vectors
from spacy_nmparse.scorers.models import (
    ScorerInput,
    check_system,
    choose_features,
    feature_names,
    is_initialized,
    renew_all,
    resize_labels,
    set_dropout,
    set_system,
    set_tag_sizes,
)
from spacy_nmparse.scorers.scorer import Scorer
from spacy_nmparse.systems import Gold, TransitionSystem
from spacy_nmparse.systems.projective import plain_label

LOCAL = "local"  # training without a beam

#: More than any score, and little enough to be added to one in single precision.
MOST_BIAS = 1e6


@dataclass(frozen=True)
class Batch:
    """What one update learns from.

    Attributes:
        words: The words of the documents.
        golds: The gold trees of the documents that have words.
        tags: int32 (words, attributes): the words' tags; None: none are learned.
        teacher: What else is learned from.
    """

    words: Words
    golds: list[Gold]
    tags: numpy.ndarray | None = None
    teacher: Teacher | None = None


class _ConfidenceSetting(Setting[bool]):
    def __set__(self, component: Any, value: bool) -> None:
        super().__set__(component, value)
        if value:
            register_extensions()


class TransitionParser(TrainablePipe):
    """A trainable transition-based dependency parser, a drop-in for spaCy's ``parser``.

    Sets heads, labels and sentence starts. Sentence starts that are set before it are kept, those
    that are ruled out are never made. A document that has a parse gets a new one: the boundaries of
    the old one bind nothing, those set before it still do, so that parsing twice changes nothing.
    Trees have one root a sentence; spaces head nothing.

    The settings that are attributes can be set at any time. ValueError: a value that a setting does
    not take.
    """

    beam_width = Setting(WIDTH)
    """How many hypotheses parsing follows side by side; 1 is greedy search."""

    beam_training = Setting(one_of((LOCAL, *beam_rollout.UPDATES)))
    """What training learns: "local", single moves along greedy rollouts; "max_violation" and
    "early_update", whole sequences of moves, with a beam (see ``learning.beam_rollout``)."""

    beam_train_width = Setting(WIDTH)
    """How many hypotheses training with a beam follows side by side."""

    repair_weight = Setting(WEIGHT)
    """Weight, in the loss of greedy rollouts, of configurations where nothing but a non-monotonic
    move is right."""

    crossing_bias = Setting(number_between(-MOST_BIAS, MOST_BIAS))
    """What parsing adds to the scores of moves that make an arc which crosses others, or of SWAP:
    above 0 it finds more such arcs, and more that are wrong."""

    confidence = _ConfidenceSetting(SWITCH)
    """Whether each document gets how sure the parser is of its heads and labels (see
    ``pipe.confidence``)."""

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "nm_parser",
        *,
        system: SystemSpec,
        oracle: str = "dynamic",
        explore: float | Iterable[float] = 1.0,
        repair_weight: float = 1.0,
        crossing_bias: float = 0.0,
        projectivize: bool = False,
        beam_width: int = 1,
        beam_training: str = LOCAL,
        beam_train_width: int = 8,
        beam_updates: float | Iterable[float] = 1.0,
        confidence: bool = False,
        scorer: Callable | None = None,
    ) -> None:
        """Make a parser without labels: they come with ``initialize``, ``add_label`` or ``from_*``.

        Args:
            vocab: the pipeline's vocabulary.
            model: a state scorer or an arc scorer.
            name: the component's name in the pipeline.
            system: the transition system.
            oracle: name of the system's oracle that training learns from.
            explore: probability of following the model rather than the oracle at each training
                step; a number or a schedule of one value an update.
            repair_weight: see the attribute.
            crossing_bias: see the attribute.
            projectivize: lift crossing arcs for training and lower them after parsing.
            beam_width: see the attribute.
            beam_training: see the attribute.
            beam_train_width: see the attribute.
            beam_updates: probability that an update uses the beam, where beam_training says so,
                and not greedy rollouts; a number or a schedule of one value an update.
            confidence: see the attribute.
            scorer: the scoring function.

        Raises:
            ValueError: an oracle that the system does not have, a model that cannot score the
                system, a probability outside 0 .. 1, or a value that a setting does not take.
        """
        self.vocab = vocab
        self.model = model
        self.name = name
        self.system_spec = system
        self.oracle = oracle
        self.repair_weight = repair_weight
        self.crossing_bias = crossing_bias
        self.beam_training = beam_training
        self.beam_train_width = beam_train_width
        self.beam_width = beam_width
        self.confidence = confidence
        self.scorer = scorer
        self.cfg: dict[str, Any] = {
            "projectivize": SWITCH.checked(projectivize, name, "projectivize")
        }
        self._rehearsal_model: Model | None = None
        self._teacher: Teacher | None = None
        self._learned = Learned(LabelSet(()), TagSet({}), None)
        unlabelled = system.create(None)
        try:
            self.explore = Chance(explore, "explore")
            self.beam_updates = Chance(beam_updates, "beam_updates")
            unlabelled.oracle_id(oracle)  # raises on an unknown oracle
            check_system(model, unlabelled)
        except ValueError as error:
            raise ValueError(f"The component '{name}' cannot be made: {error}") from error
        choose_features(model, unlabelled)
        if oracle == "static" and isinstance(explore, int | float) and explore > 0:
            warnings.warn(
                f"The component '{name}' has oracle = 'static' and explore = {explore}: in "
                f"training it follows the model off the one path that this oracle is made for. "
                f"Set explore = 0, or take the oracle 'dynamic'.",
                stacklevel=2,
            )

    # Labels

    @property
    def labels(self) -> tuple[str, ...]:
        """The dependency labels (without the notes of lifted arcs)."""
        return self._learned.labels.plain

    @property
    def label_data(self) -> dict[str, Any]:
        """What ``initialize(labels=...)`` takes back; written by ``spacy init labels``."""
        return {
            "labels": list(self._learned.labels.names),
            "tags": self._learned.tags.attributes,
        }

    @property
    def is_resizable(self) -> bool:
        """Labels can be added to a trained parser."""
        return True

    @property
    def system(self) -> TransitionSystem:
        """The transition system over the parser's labels.

        Raises ValueError where there are no labels yet.
        """
        if self._learned.system is None:
            raise ValueError(
                f"The component '{self.name}' has no labels yet: call nlp.initialize() with "
                f"annotated examples, add_label(), or load a trained model."
            )
        return self._learned.system

    def add_label(self, label: str) -> int:
        """Add a label. Returns 1 if it was new, else 0. A trained model keeps what it knows."""
        if not isinstance(label, str) or not label:
            raise ValueError(
                f"The component '{self.name}' takes non-empty strings as labels, not {label!r}."
            )
        names = self._learned.labels.names
        if label in names:
            return 0
        self._learn_labels([*(names or [ROOT_LABEL]), label], self._learned.tags)
        if is_initialized(self.model):
            resize_labels(self.model, self.system)
        return 1

    def _learn_labels(self, names: Sequence[str], tags: TagSet) -> None:
        labels = LabelSet.complete(names)
        for name in labels.names:
            self.vocab.strings.add(name)
            self.vocab.strings.add(plain_label(name))
        system = self.system_spec.create(
            labels.names, root_label=ROOT_LABEL, single_root=True, segment=True
        )
        self._learned = Learned(labels, tags, system)
        set_system(self.model, system)

    @property
    def learns_single_moves(self) -> bool:
        """Whether there are updates that learn single moves: not where all of them use a beam."""
        return self.beam_training == LOCAL or not self.beam_updates.certain

    @property
    def gold_reader(self) -> GoldReader:
        """Reads gold trees as the parser learns them. Raises ValueError without labels."""
        return GoldReader(
            self.name,
            self._learned.labels.names,
            self.cfg["projectivize"],
            self.system.options.get("max_length", 0),
        )

    # Parsing

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parse a stream of documents, in order. Where one of a batch fails, the error handler gets
        that one and the others are parsed."""
        for docs in util.minibatch(stream, size=batch_size):
            try:
                parses = self.predict(docs)
            except Exception as error:
                if len(docs) == 1:
                    self.get_error_handler()(self.name, self, docs, error)
                    continue
                parsed = (self(doc) for doc in docs)
                yield from [doc for doc in parsed if doc is not None]
                continue
            try:
                self.set_annotations(docs, parses)
            except Exception:
                # The parses are there: only writing one of them has failed.
                docs = [doc for i, doc in enumerate(docs) if self._annotated(doc, parses.one(i))]
            yield from docs

    def _annotated(self, doc: Doc, parse: Parses) -> bool:
        """Write the parse of a document. False: it failed, and the error handler took it."""
        try:
            self.set_annotations([doc], parse)
        except Exception as error:
            self.get_error_handler()(self.name, self, [doc], error)
            return False
        return True

    def predict(self, docs: Iterable[Doc]) -> Parses:
        """Parse documents without changing them."""
        return self._parse(Words.of(docs), self.confidence)

    def _parse(self, words: Words, confidence: bool) -> Parses:
        arcs: list[Arcs | None] = [None] * len(words.docs)
        ends = numpy.cumsum([len(tokens) for tokens in words.tokens])
        shares = numpy.ones((2, sum(words.lengths)), dtype="float32") if confidence else None
        split = None if shares is None else numpy.split(shares, ends[:-1], axis=1)
        scored = self.score_moves(words)
        if scored is None:
            return Parses(words.tokens, arcs, split)
        batch = (self.system, scored.scorer, scored.lengths, scored.constraints)
        if self.beam_width > 1:
            flat = beam.parse(*batch, self.beam_width, shares=shares)
        else:
            flat = greedy.parse(*batch, shares)
        for i, (tokens, end) in enumerate(zip(words.tokens, ends.tolist(), strict=True)):
            if len(tokens):
                found = Arcs(*(array[end - len(tokens) : end] for array in flat))
                arcs[i] = self.lowered(found)
        return Parses(words.tokens, arcs, split)

    def n_best(self, docs: Iterable[Doc], n: int) -> list[list[Tree]]:
        """The n best trees of each document, from a beam of that width at least, or as many as it
        has found; best first. The documents are not changed.

        The scores are logarithms of probabilities, heads and labels those of all tokens, a root is
        its own head.

        Raises:
            ValueError: n is below 1.
        """
        if n < 1:
            raise ValueError(f"The component '{self.name}' finds at least 1 tree, not {n}.")
        words = Words.of(docs)
        scored = self.score_moves(words)
        analyses: Iterator[list[beam.Analysis]] = iter(())
        if scored is not None:
            batch = (self.system, scored.scorer, scored.lengths, scored.constraints)
            analyses = iter(beam.n_best(*batch, max(n, self.beam_width), n))
        result = []
        for doc, tokens in zip(words.docs, words.tokens, strict=True):
            trees: dict[Any, Tree] = {}
            for analysis in next(analyses) if len(tokens) else [None]:
                arcs = self.lowered(Arcs(*analysis[1:])) if analysis else None
                copy = unparsed_copy(doc)
                self.set_annotations([copy], Parses([tokens], [arcs]))
                tree = Tree.of(copy, analysis[0] if analysis else 0.0)
                trees.setdefault((*tree.heads, *tree.labels, *tree.sent_starts), tree)
            result.append(list(trees.values()))
        return result

    def lowered(self, arcs: Arcs) -> Arcs:
        """The arcs with those lowered that training had lifted, and with plain labels."""
        return self._learned.labels.lowered(arcs)

    def score_moves(self, words: Words) -> ScoredWords | None:
        """Words with the model's scores, ready for search; None: there are no words.

        Raises:
            ValueError: the parser has no labels or no weights.
        """
        if not words.lengths:
            return None
        _ = self.system  # raises where there are no labels
        if not is_initialized(self.model):
            raise ValueError(
                f"The component '{self.name}' is not initialized: call nlp.initialize(), or load "
                f"a trained model."
            )
        if lacks_token_vectors(words.docs, self.model):  # spaCy then takes zeros
            warnings.warn(
                f"The component '{self.name}' shares a 'tok2vec' component that has not processed "
                f"these documents: it parses without any knowledge of their words. Enable that "
                f"component, before this one (in training, list it in annotating_components).",
                stacklevel=2,
            )
        scorer = self.model.predict(words.scorer_input())
        scorer.crossing_bias = self.crossing_bias
        return ScoredWords(scorer, words.lengths, words.constraints)

    def set_annotations(self, docs: Iterable[Doc], scores: Parses) -> None:
        """Write parses to their documents."""
        head, label = self.cfg.get("temperatures", (1.0, 1.0))
        scores.write(list(docs), self._learned.labels.names, (head, label))

    def calibrate(self, examples: Iterable[Example]) -> dict[str, Calibration]:
        """Fit the temperatures of the confidences to examples that the parser was not trained on,
        with the search as it is set; they are saved with the parser.

        Returns:
            What was found for the confidence in the "head", and in head and "label".

        Raises:
            ValueError: no example has a word with a known head and label, or a shared tok2vec has
                not processed the predicted documents.
        """
        examples = list(examples)
        validate_examples(examples, "TransitionParser.calibrate")
        if lacks_token_vectors([eg.predicted for eg in examples], self.model):
            raise ValueError(
                f"The component '{self.name}' cannot be calibrated: it shares a 'tok2vec' "
                f"component that has not processed the examples. First, for each of them: "
                f"example.predicted = nlp(example.predicted, disable=['{self.name}'])."
            )
        parses = self._parse(Words.of(eg.predicted for eg in examples), True)
        found = calibration.compare(examples, parses, self._learned.labels.names)
        if found is None:
            raise ValueError(
                f"The component '{self.name}' cannot be calibrated: no word of the "
                f"{len(examples)} examples has a known head and label."
            )
        fitted = calibration.fit(found)
        self.cfg["temperatures"] = [one.temperature for one in fitted.values()]
        return fitted

    # Learning

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, Any] | None = None,
        teacher: str | None = None,
        teacher_weight: float = 0.5,
    ) -> None:
        """Collect the labels and the tags, and initialize the model.

        Args:
            get_examples: returns gold-standard examples.
            nlp: the pipeline.
            labels: what ``label_data`` gave; then the examples are not read for it.
            teacher: a trained pipeline, folder or package, whose parser, or ensemble of parsers,
                is learned from beside the gold trees (see ``pipe.teacher``); it is not saved with
                the parser, and updates with a beam do without it.
            teacher_weight: the share of the teacher in the loss of moves and labels, above 0 and at
                most 1.

        Raises:
            ValueError: no example has a dependency label, labels is not such data, or the teacher
                cannot be learned from.
        """
        validate_get_examples(get_examples, "TransitionParser.initialize")
        sample = [eg.x for eg in islice(get_examples(), 10)]
        learns_tags = self.model.maybe_get_ref("tagging") is not None
        if labels is not None:
            data = LabelData.checked(labels, self.name)
        else:
            reader = GoldReader(self.name, (), self.cfg["projectivize"], 0)
            found = reader.count_labels(get_examples())
            data = LabelData(found, collect(get_examples()) if learns_tags else {})
        try:
            tags = TagSet(data.tags if learns_tags else {})
        except ValueError as error:
            raise ValueError(
                f"The component '{self.name}' cannot take these tags: {error}"
            ) from error
        self.explore.restart()
        self.beam_updates.restart()
        old = self._learned.labels.names  # labels added before are kept
        self._learn_labels([ROOT_LABEL, *data.labels, *old], tags)
        self._teacher = load_teacher(teacher, teacher_weight, self) if teacher else None
        set_tag_sizes(self.model, tags.sizes)
        self.model.initialize(X=ScorerInput(sample, None))

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from a batch: one rollout for each example, one backward pass.

        The loss is the summed negative log likelihood of what the oracle would have done: of each
        move, or, with a beam, of the sequence among those in the beam.
        """
        examples = list(examples)
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, "TransitionParser.update")
        # Documents without words stay: a listener knows a batch by all its documents.
        words = Words.of(eg.predicted for eg in examples)
        if not words.lengths:
            return losses
        golds = self._golds(examples, words)
        tags = None
        if self._learned.tags.attributes:
            tags = self._learned.tags.rows(examples, words.tokens)
        return self._learn(Batch(words, golds, tags, self._teacher), drop, sgd, losses)

    def _golds(self, examples: Sequence[Example], words: Words) -> list[Gold]:
        """The gold trees of the examples that have words."""
        reader = self.gold_reader
        return [
            reader.read(example, tokens, presets)
            for example, tokens, presets in zip(examples, words.tokens, words.presets, strict=True)
            if len(tokens)
        ]

    def _learn(
        self, batch: Batch, drop: float, sgd: Optimizer | None, losses: dict[str, float]
    ) -> dict[str, float]:
        try:
            own_drop = set_dropout(self.model, drop)
        except ValueError as error:
            raise ValueError(f"The component '{self.name}' cannot be trained: {error}.") from error
        scorer, backprop = self.model.begin_update(batch.words.scorer_input(batch.tags))
        gradients, loss = self._rollout(scorer, batch, own_drop)
        backprop(gradients)
        losses[self.name] += loss
        if sgd not in (None, False):
            self.finish_update(sgd)
        return losses

    def _rollout(self, scorer: Scorer, batch: Batch, drop: float) -> tuple[Any, float]:
        """The gradients and the loss of one rollout for each document."""
        what = (self.system, scorer, batch.golds, batch.words.constraints, self.oracle)
        explore, with_beam = self.explore.next(), self.beam_updates.next()
        if self.beam_training != LOCAL and numpy.random.random() < with_beam:
            kind, width = self.beam_training, self.beam_train_width
            return beam_rollout.learn(*what, kind, width, drop, numpy.random.randint(2**31))[:2]
        how = (explore, self.repair_weight, drop, numpy.random.randint(2**31))
        teacher = batch.teacher
        if teacher is None:
            return rollout.learn(*what, *how)[:2]
        if teacher.labels != self._learned.labels.names:
            raise ValueError(
                f"The component '{self.name}' has got labels that its teacher does not know: "
                f"initialize it again, without the teacher or with one that knows them."
            )
        taught = teacher.model.predict(batch.words.scorer_input())
        return rollout.learn(*what, *how, taught, teacher.weight)[:2]

    def get_loss(self, examples: Iterable[Example], scores: Scorer) -> tuple[float, Any]:
        """Loss and gradients of one rollout over scores that ``model.begin_update`` gave."""
        examples = list(examples)
        words = Words.of(eg.predicted for eg in examples)
        batch = Batch(words, self._golds(examples, words))
        gradients, loss = self._rollout(scores, batch, 0.0)
        return loss, gradients

    def rehearse(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from what the model said before training went on (``nlp.resume_training``), so that
        it is not forgotten. Gold trees of the examples are not looked at.

        Raises:
            ValueError: the model that is remembered has no token vectors of the examples, because
                the parser shares a tok2vec.
        """
        examples = list(examples)
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        validate_examples(examples, "TransitionParser.rehearse")
        docs = [eg.predicted for eg in examples if any(not t.is_space for t in eg.predicted)]
        if self._rehearsal_model is None or not docs:
            return losses
        if lacks_token_vectors(docs, self.model):
            raise ValueError(
                f"The component '{self.name}' cannot rehearse: it shares a 'tok2vec' component, "
                f"and what it knew before cannot be told without the token vectors of then. Give "
                f"it a tok2vec of its own (nlp.replace_listeners), or leave rehearsal out."
            )
        words = Words.of(docs)
        before = self._rehearsal_model.predict(words.scorer_input())
        arcs = Arcs(*greedy.parse(self.system, before, words.lengths, words.constraints))
        names = self._learned.labels.names
        golds = self.gold_reader.from_parses(*arcs, words.lengths, names)
        return self._learn(Batch(words, golds), drop, sgd, losses)

    # Serialization

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Serialize labels and model ("model", "parser.json" and "vocab" can be excluded)."""
        data: bytes = srsly.msgpack_dumps(self._parts(exclude))
        return data

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> TransitionParser:
        """Load what ``to_bytes`` gave. On bad data: ValueError, and the parser is unchanged."""
        self._load(saving.unpack(bytes_data, exclude, self.name), exclude)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Serialize labels and model into a directory. Where they cannot be written (a full disk),
        OSError is raised, and files that were there are as they were."""
        path = Path(path)
        path.mkdir(exist_ok=True)
        write_files({path / name: data for name, data in self._parts(exclude).items()})

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> TransitionParser:
        """Load a directory of ``to_disk``. Raises ValueError, with the parser unchanged, where a
        file is missing or damaged, or was written by an incompatible version."""
        self._load(saving.read_folder(Path(path), exclude, self.name), exclude)
        return self

    def _parts(self, exclude: Iterable[str] = ()) -> saving.Parts:
        return saving.save(self.model, self.vocab, self._description(), exclude)

    def _description(self) -> saving.Description:
        return saving.Description(
            {"name": self.system_spec.name, "options": self.system_spec.options},
            feature_names(self.model),
            self._learned.labels.names,
            self._learned.tags.attributes,
            self.cfg,
        )

    def _load(self, parts: saving.Parts, exclude: Iterable[str]) -> None:
        present = self._description()
        found = saving.check(parts, exclude, present, self.name)
        weights = parts.get(saving.MODEL_FILE)
        self._restore(found, self.model.to_bytes() if weights is None else weights)
        if saving.VOCAB_FILE in parts:
            self.vocab.from_bytes(parts[saving.VOCAB_FILE])

    def _restore(self, found: saving.Description, weights: bytes) -> None:
        """Become the parser of a description and weights. On an error nothing has changed."""
        learned, cfg = self._learned, self.cfg
        snapshot = saving.ModelSnapshot(self.model)
        try:
            tags = TagSet(found.tags)
            self.cfg = found.cfg
            self._learn_labels(found.labels, tags)
            if (found.labels, tags.sizes) != (learned.labels.names, learned.tags.sizes):
                renew_all(self.model)
            saving.load_weights(self.model, weights, found.features, tags)
        except Exception as error:
            self._learned, self.cfg = learned, cfg
            snapshot.restore()
            raise ValueError(
                f"The component '{self.name}' cannot load its model: it is damaged, or was made "
                f"with another configuration ({type(error).__name__}: {error}). The parser is as "
                f"it was before."
            ) from error
