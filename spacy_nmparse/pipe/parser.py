"""The parser component."""

from __future__ import annotations

import json
import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import srsly
from spacy import util
from spacy.language import Language
from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer

from spacy_nmparse.about import __version__
from spacy_nmparse.learning import beam, beam_rollout, greedy, rollout
from spacy_nmparse.pipe.confidence import (
    KEY,
    Calibration,
    calibrated,
    calibrated_row,
    calibration_error,
    fit_temperature,
    register_extensions,
    write_confidences,
)
from spacy_nmparse.pipe.doc_io import gold_parse, parsed_tokens, preset_starts, write_parse
from spacy_nmparse.pipe.files import write_files
from spacy_nmparse.pipe.gold import ROOT_LABEL, Parse, make_gold, projective_parse, word_parse
from spacy_nmparse.pipe.schedule import Chance
from spacy_nmparse.pipe.seal import damaged, saved_parts, sealed
from spacy_nmparse.pipe.spec import SystemSpec
from spacy_nmparse.pipe.tags import TagSet, collect
from spacy_nmparse.pipe.teacher import Teacher, load_teacher
from spacy_nmparse.scorers.models import (
    ScorerInput,
    check_system,
    check_weights,
    choose_features,
    feature_names,
    is_initialized,
    layout,
    references,
    renew_all,
    resize_labels,
    restore_references,
    restore_system,
    set_dropout,
    set_system,
    set_tag_sizes,
    system_of,
)
from spacy_nmparse.scorers.scorer import Scorer
from spacy_nmparse.systems import Gold, TransitionSystem
from spacy_nmparse.systems.projective import DELIMITER, lower, plain_label

SPACE_LABEL = "dep"
LOCAL = "local"  # training without a beam
FORMAT = 1  # of what to_disk and to_bytes write; raised whenever older versions cannot read it
MODEL_FILE, CONFIG_FILE, VOCAB_FILE = "model", "parser.json", "vocab"


#: heads, labels, starts of words
Arrays = tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]


@dataclass
class Parses:
    """Parses of some documents, over their words; documents without a word have None."""

    tokens: list[numpy.ndarray]
    arrays: list[Arrays | None]
    shares: list[numpy.ndarray] | None = None  # float32 (2, words), where they are wanted

    def one(self, i: int) -> Parses:
        """The parse of the i-th document by itself."""
        shares = None if self.shares is None else [self.shares[i]]
        return Parses([self.tokens[i]], [self.arrays[i]], shares)


class Tree(NamedTuple):
    """A tree over the tokens of a document, and its score. A root is its own head."""

    score: float
    heads: list[int]
    labels: list[str]
    sent_starts: list[bool]


#: More than any score, and little enough to be added to one in single precision.
MOST_BIAS = 1e6


class NMParser(TrainablePipe):
    """A trainable transition-based dependency parser, a drop-in for spaCy's ``parser``.

    Sets heads, labels and sentence starts. Sentence starts that are set before it are kept, those
    that are ruled out are never made. A document that has a parse gets a new one: the boundaries of
    the old one bind nothing, those set before it still do, so that parsing twice changes nothing.
    Trees have one root a sentence; spaces head nothing.
    """

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
            repair_weight: weight, in the loss of greedy rollouts, of configurations where nothing
                but a non-monotonic move is right. Also an attribute that can be set at any time.
            crossing_bias: what parsing adds to the scores of moves that make an arc which crosses
                others, or of SWAP: above 0 it finds more such arcs, and more that are wrong. Also
                an attribute that can be set at any time.
            projectivize: lift crossing arcs for training and lower them after parsing.
            beam_width: hypotheses that parsing follows side by side; 1 is greedy search. Also an
                attribute that can be set at any time.
            beam_training: "local" learns single moves along greedy rollouts; "max_violation" and
                "early_update" learn whole sequences of moves, with a beam (see
                ``learning.beam_rollout``). Also an attribute that can be set at any time.
            beam_train_width: hypotheses of that beam. Also an attribute that can be set at any
                time.
            beam_updates: probability that an update uses the beam, where beam_training says so,
                and not greedy rollouts; a number or a schedule of one value an update.
            confidence: leave with each document how sure the parser is of its heads and labels (see
                ``pipe.confidence``). Also an attribute that can be set at any time.
            scorer: the scoring function.

        Raises:
            ValueError: an oracle or a kind of training that there is not, a model that cannot
                score the system, a probability outside 0 .. 1, a weight below 0, a bias beyond
                a million, a beam width below 1, or a switch that is neither true nor false.
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
            "projectivize": self._checked_switch(projectivize, "projectivize")
        }
        self._rehearsal_model: Model | None = None
        self._teacher: Teacher | None = None
        self._labels: list[str] = []
        #: Of each label: it notes a lifted arc.
        self._decorated: numpy.ndarray = numpy.zeros(0, dtype=bool)
        self._has_decorated = False
        self._system: TransitionSystem | None = None
        self._tags = TagSet({})  # what is learned beside the trees
        unlabelled = system.create(None)
        try:
            self.explore = Chance(explore, "explore")
            self.beam_updates = Chance(beam_updates, "beam_updates")
            unlabelled.oracle_id(oracle)  # raises on an unknown oracle
            check_system(model, unlabelled)
        except ValueError as error:
            raise ValueError(f"The component '{name}' cannot be made: {error}") from error
        choose_features(model, unlabelled)

    # Labels

    @property
    def labels(self) -> tuple[str, ...]:
        """The dependency labels (without the notes of lifted arcs)."""
        return tuple(dict.fromkeys(plain_label(label) for label in self._labels))

    @property
    def label_data(self) -> dict[str, Any]:
        """What ``initialize(labels=...)`` takes back; written by ``spacy init labels``."""
        return {"labels": list(self._labels), "tags": self._tags.attributes}

    @property
    def _learns_tags(self) -> bool:
        return self.model.maybe_get_ref("tagging") is not None

    @property
    def is_resizable(self) -> bool:
        """Labels can be added to a trained parser."""
        return True

    @property
    def system(self) -> TransitionSystem:
        """The transition system over the parser's labels.

        Raises ValueError where there are no labels yet.
        """
        if self._system is None:
            raise ValueError(
                f"The component '{self.name}' has no labels yet: call nlp.initialize() with "
                f"annotated examples, add_label(), or load a trained model."
            )
        return self._system

    def add_label(self, label: str) -> int:
        """Add a label. Returns 1 if it was new, else 0. A trained model keeps what it knows."""
        if not isinstance(label, str) or not label:
            raise ValueError(
                f"The component '{self.name}' takes non-empty strings as labels, not {label!r}."
            )
        if label in self._labels:
            return 0
        self._set_labels([*(self._labels or [ROOT_LABEL]), label])
        if is_initialized(self.model):
            resize_labels(self.model, self.system)
        return 1

    def _set_labels(self, labels: Sequence[str]) -> None:
        plain = (plain_label(label) for label in labels)
        labels = list(dict.fromkeys([*labels, ROOT_LABEL, SPACE_LABEL, *plain]))
        for label in labels:
            self.vocab.strings.add(label)
            self.vocab.strings.add(plain_label(label))
        self._labels = labels
        self._decorated = numpy.asarray([DELIMITER in label for label in labels])
        self._has_decorated = bool(self._decorated.any())
        self._system = self.system_spec.create(
            labels, root_label=ROOT_LABEL, single_root=True, segment=True
        )
        set_system(self.model, self._system)

    @property
    def beam_width(self) -> int:
        """How many hypotheses parsing follows side by side; 1 is greedy search."""
        return self._beam_width

    @beam_width.setter
    def beam_width(self, width: int) -> None:
        self._beam_width = self._checked_width(width, "beam_width")

    @property
    def beam_train_width(self) -> int:
        """How many hypotheses training with a beam follows side by side."""
        return self._beam_train_width

    @beam_train_width.setter
    def beam_train_width(self, width: int) -> None:
        self._beam_train_width = self._checked_width(width, "beam_train_width")

    def _checked_width(self, width: int, setting: str) -> int:
        if isinstance(width, bool) or not isinstance(width, int) or width < 1:
            raise ValueError(
                f"The component '{self.name}' takes an integer of at least 1 as {setting}, not "
                f"{width!r}."
            )
        return width

    @property
    def beam_training(self) -> str:
        """What training learns: "local", single moves; or else sequences, by this update."""
        return self._beam_training

    @beam_training.setter
    def beam_training(self, kind: str) -> None:
        known = (LOCAL, *beam_rollout.UPDATES)
        if kind not in known:
            raise ValueError(
                f"The component '{self.name}' takes one of {', '.join(known)} as beam_training, "
                f"not {kind!r}."
            )
        self._beam_training = kind

    @property
    def learns_single_moves(self) -> bool:
        """Whether there are updates that learn single moves: not where all of them use a beam."""
        return self.beam_training == LOCAL or not self.beam_updates.certain

    @property
    def repair_weight(self) -> float:
        """Weight of configurations where nothing but a non-monotonic move is right."""
        return self._repair_weight

    @repair_weight.setter
    def repair_weight(self, weight: float) -> None:
        if (
            isinstance(weight, bool)
            or not isinstance(weight, int | float)
            or not (0 <= weight < math.inf)
        ):
            raise ValueError(
                f"The component '{self.name}' takes a number of at least 0 as repair_weight, not "
                f"{weight!r}."
            )
        self._repair_weight = float(weight)

    @property
    def crossing_bias(self) -> float:
        """What parsing adds to the scores of moves that make arcs cross."""
        return self._crossing_bias

    @crossing_bias.setter
    def crossing_bias(self, bias: float) -> None:
        if (
            isinstance(bias, bool)
            or not isinstance(bias, int | float)
            or not (-MOST_BIAS <= bias <= MOST_BIAS)
        ):
            raise ValueError(
                f"The component '{self.name}' takes a number between {-MOST_BIAS:g} and "
                f"{MOST_BIAS:g} as crossing_bias, not {bias!r}."
            )
        self._crossing_bias = float(bias)

    @property
    def confidence(self) -> bool:
        """Whether confidences are left with the documents."""
        return self._confidence

    @confidence.setter
    def confidence(self, on: bool) -> None:
        self._confidence = self._checked_switch(on, "confidence")
        if on:
            register_extensions()

    def _checked_switch(self, on: bool, setting: str) -> bool:
        if not isinstance(on, bool):
            raise ValueError(
                f"The component '{self.name}' takes true or false as {setting}, not {on!r}."
            )
        return on

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
        return self._parse(list(docs), self.confidence)

    def _parse(self, docs: list[Doc], confidence: bool) -> Parses:
        words = [parsed_tokens(doc) for doc in docs]
        tokens = [tokens_ for tokens_, _ in words]
        arrays: list[Arrays | None] = [None] * len(docs)
        n_words = sum(map(len, tokens))
        shares = numpy.ones((2, n_words), dtype="float32") if confidence else None
        split = None
        if shares is not None:
            split = numpy.split(shares, numpy.cumsum([len(t) for t in tokens])[:-1], axis=1)
        found = self._score(docs, words)
        if found is None:
            return Parses(tokens, arrays, split)
        if self.beam_width > 1:
            flat = beam.parse(self.system, *found, self.beam_width, shares=shares)
        else:
            flat = greedy.parse(self.system, *found, shares)
        start = 0
        for i, tokens_ in enumerate(tokens):
            n = len(tokens_)
            if n:
                heads, labels, starts = (array[start : start + n] for array in flat)
                arrays[i] = self._lowered(heads, labels, starts)
            start += n
        return Parses(tokens, arrays, split)

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
        docs = list(docs)
        words = [parsed_tokens(doc) for doc in docs]
        found = self._score(docs, words)
        analyses: Iterator[list[beam.Analysis]] = iter(())
        if found is not None:
            width = max(n, self.beam_width)
            analyses = iter(beam.n_best(self.system, *found, width, n))
        result = []
        for doc, (tokens, _) in zip(docs, words, strict=True):
            trees: dict[Any, Tree] = {}
            for analysis in next(analyses) if len(tokens) else [None]:
                parse = self._lowered(*analysis[1:]) if analysis else None
                copy = Doc(
                    doc.vocab,
                    words=[token.text for token in doc],
                    spaces=[bool(token.whitespace_) for token in doc],
                    sent_starts=preset_starts(doc).tolist(),
                )
                self.set_annotations([copy], Parses([tokens], [parse]))
                tree = Tree(
                    analysis[0] if analysis else 0.0,
                    [token.head.i for token in copy],
                    [token.dep_ for token in copy],
                    [bool(token.is_sent_start) for token in copy],
                )
                trees.setdefault((*tree.heads, *tree.labels, *tree.sent_starts), tree)
            result.append(list(trees.values()))
        return result

    def _score(
        self, docs: list[Doc], words: list[tuple[numpy.ndarray, numpy.ndarray]]
    ) -> tuple[Scorer, list[int], numpy.ndarray] | None:
        """The scores of documents, their lengths in words, and the constraints; documents without a
        word are left out. None: there are no words."""
        lengths = [len(tokens) for tokens, _ in words if len(tokens)]
        if not lengths:
            return None
        _ = self.system  # raises where there are no labels
        if not is_initialized(self.model):
            raise ValueError(
                f"The component '{self.name}' is not initialized: call nlp.initialize(), or load "
                f"a trained model."
            )
        self._check_token_vectors(docs)
        scored = self.model.predict(_scorer_input(docs, words))
        scored.crossing_bias = self.crossing_bias
        return scored, lengths, numpy.concatenate([constraints for _, constraints in words])

    def _check_token_vectors(self, docs: list[Doc]) -> None:
        """Warn where a shared tok2vec has not seen the documents: spaCy then takes zeros."""
        if self._lacks_token_vectors(docs):
            warnings.warn(
                f"The component '{self.name}' shares a 'tok2vec' component that has not processed "
                f"these documents: it parses without any knowledge of their words. Enable that "
                f"component, before this one (in training, list it in annotating_components).",
                stacklevel=2,
            )

    def _lacks_token_vectors(self, docs: Iterable[Doc]) -> bool:
        """Whether a shared tok2vec has not seen some of the documents."""
        return any(len(doc) and not doc.tensor.size for doc in docs) and any(
            node.name == "tok2vec-listener" for node in self.model.walk()
        )

    def _lowered(
        self, heads: numpy.ndarray, labels: numpy.ndarray, starts: numpy.ndarray
    ) -> Arrays:
        """Take the notes off lifted arcs' labels and lower them."""
        if not self._has_decorated or not self._decorated[labels].any():
            return heads, labels, starts
        new_heads, plain = lower(heads.tolist(), [self._labels[label] for label in labels])
        number = {label: i for i, label in enumerate(self._labels)}
        return (
            numpy.asarray(new_heads, dtype="int32"),
            numpy.asarray([number[label] for label in plain], dtype="int32"),
            starts,
        )

    def set_annotations(self, docs: Iterable[Doc], scores: Parses) -> None:
        """Write parses to their documents."""
        docs = list(docs)
        hashes: dict[int, numpy.ndarray] = {}
        empty = numpy.zeros(0, dtype="int32")
        for doc, tokens, arrays in zip(docs, scores.tokens, scores.arrays, strict=True):
            if not len(doc):
                continue
            strings = doc.vocab.strings
            if id(strings) not in hashes:  # a sourced component meets documents of other vocabs
                hashes[id(strings)] = numpy.asarray(
                    [strings.add(label) for label in (*self._labels, ROOT_LABEL, SPACE_LABEL)],
                    dtype="uint64",
                )
            known = hashes[id(strings)]
            heads, labels, starts = arrays or (empty, empty, empty.astype("int8"))
            write_parse(doc, tokens, heads, labels, starts, known, int(known[-2]), int(known[-1]))
        if scores.shares is None:
            for doc in docs:
                doc.user_data.pop(KEY, None)  # of another tree
            return
        for doc, tokens, shares in zip(docs, scores.tokens, scores.shares, strict=True):
            write_confidences(doc, tokens, shares, self._temperatures)

    # Confidence

    @property
    def _temperatures(self) -> tuple[float, float]:
        head, label = self.cfg.get("temperatures", (1.0, 1.0))
        return head, label

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
        validate_examples(examples, "NMParser.calibrate")
        if self._lacks_token_vectors(eg.predicted for eg in examples):
            raise ValueError(
                f"The component '{self.name}' cannot be calibrated: it shares a 'tok2vec' "
                f"component that has not processed the examples. First, for each of them: "
                f"example.predicted = nlp(example.predicted, disable=['{self.name}'])."
            )
        parses = self._parse([eg.predicted for eg in examples], True)
        said: list[numpy.ndarray] = []
        right: list[tuple[bool, bool]] = []
        for example, tokens, arrays, shares in zip(
            examples, parses.tokens, parses.arrays, parses.shares or [], strict=True
        ):
            if arrays is None:
                continue
            gold_heads, gold_labels, _ = gold_parse(example)
            found = calibrated(shares, (1.0, 1.0))
            for word, token in enumerate(tokens.tolist()):
                head, label = int(tokens[arrays[0][word]]), self._labels[arrays[1][word]]
                if gold_heads[token] is None or not gold_labels[token]:
                    continue
                same = gold_heads[token] == head
                is_root = head == token
                right.append((same, same and (is_root or gold_labels[token] == label)))
                said.append(found[:, word])
        if not right:
            raise ValueError(
                f"The component '{self.name}' cannot be calibrated: no word of the "
                f"{len(examples)} examples has a known head and label."
            )
        y = numpy.asarray(right, dtype="float64").T
        x = numpy.stack(said, axis=1)
        fitted = (fit_temperature(x[0], y[0]), fit_temperature(x[1], y[1]))
        after = [calibrated_row(x[row], fitted[row]) for row in (0, 1)]
        after[1] = numpy.minimum(*after)
        self.cfg["temperatures"] = list(fitted)
        return {
            name: Calibration(
                fitted[row],
                calibration_error(x[row], y[row]),
                calibration_error(after[row], y[row]),
            )
            for row, name in enumerate(("head", "label"))
        }

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
        validate_get_examples(get_examples, "NMParser.initialize")
        sample = []
        for i, example in enumerate(get_examples()):
            sample.append(example.x)
            if i == 9:
                break
        if labels is not None:
            if (
                not isinstance(labels, dict)
                or not isinstance(labels.get("labels"), list)
                or not all(isinstance(label, str) and label for label in labels["labels"])
                or not isinstance(labels.get("tags", {}), dict)
            ):
                raise ValueError(
                    f"The component '{self.name}' got labels that are not its label data "
                    f'({{"labels": [...], "tags": {{...}}}}), but {labels!r:.80}: make them with '
                    f"spacy init labels."
                )
            found = labels["labels"]
            attributes = labels.get("tags", {})
        else:
            found = self._count_labels(get_examples())
            attributes = collect(get_examples()) if self._learns_tags else {}
        try:
            tags = TagSet(attributes if self._learns_tags else {})
        except ValueError as error:
            raise ValueError(
                f"The component '{self.name}' cannot take these tags: {error}"
            ) from error
        self.explore.restart()
        self.beam_updates.restart()
        self._set_labels([ROOT_LABEL, *found, *self._labels])  # labels added before are kept
        self._tags = tags
        self._teacher = load_teacher(teacher, teacher_weight, self) if teacher else None
        set_tag_sizes(self.model, self._tags.sizes)
        self.model.initialize(X=ScorerInput(sample, None))

    def _count_labels(self, examples: Iterable[Example]) -> list[str]:
        """Labels of the gold trees, frequent ones first."""
        counts: Counter[str] = Counter()
        n_examples = n_labelled = 0
        placeholder = False
        for example in examples:
            n_examples += 1
            placeholder = [token.text for token in example.reference] == ["x", "y", "z"]
            try:
                parse = self._word_parse(example, parsed_tokens(example.predicted)[0])
            except ValueError as error:
                raise self._bad_gold(example, error) from error
            for word, (head, label) in enumerate(zip(parse[0], parse[1], strict=True)):
                n_labelled += head is not None and bool(label)
                if head is not None and head != word and label:
                    counts[label] += 1
                    counts[plain_label(label)] += DELIMITER in label
        if not n_labelled and not (n_examples == 1 and placeholder):
            raise ValueError(
                f"The component '{self.name}' found no dependency label in {n_examples} examples: "
                f"train it on a corpus with heads and labels (DEP), or give it labels."
            )
        return [label for label, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]

    def _word_parse(self, example: Example, tokens: numpy.ndarray) -> Parse:
        parse = word_parse(example, tokens)
        return projective_parse(parse) if self.cfg["projectivize"] else parse

    def _gold(self, example: Example, tokens: numpy.ndarray, constraints: numpy.ndarray) -> Gold:
        """The gold tree as far as preset sentence starts and the system leave it within reach."""
        try:
            gold = make_gold(self._word_parse(example, tokens), set(self._labels))
            if constraints.any():
                gold = gold.under(constraints.tolist())[0]
            return self._within_reach(gold)
        except ValueError as error:
            raise self._bad_gold(example, error) from error

    def _within_reach(self, gold: Gold) -> Gold:
        """Without the arcs that are too long for the system."""
        max_length = self.system.options.get("max_length", 0)
        return gold.within(max_length)[0] if max_length else gold

    def _bad_gold(self, example: Example, error: ValueError) -> ValueError:
        return ValueError(
            f"The component '{self.name}' cannot learn from the gold tree of "
            f"{example.reference.text!r:.80}: {error} Correct or remove it."
        )

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
        validate_examples(examples, "NMParser.update")
        # Documents without words stay among docs: a listener knows a batch by all its documents.
        docs = [eg.predicted for eg in examples]
        words = [parsed_tokens(doc) for doc in docs]
        golds = [
            self._gold(eg, tokens, constraints)
            for eg, (tokens, constraints) in zip(examples, words, strict=True)
            if len(tokens)
        ]
        if not golds:
            return losses
        tags = None
        if self._tags.attributes:
            tags = self._tags.rows(examples, [tokens for tokens, _ in words])
        return self._learn(docs, words, golds, drop, sgd, losses, tags, self._teacher)

    def _learn(
        self,
        docs: list[Doc],
        words: list[tuple[numpy.ndarray, numpy.ndarray]],
        golds: list[Gold],
        drop: float,
        sgd: Optimizer | None,
        losses: dict[str, float],
        tags: numpy.ndarray | None = None,
        teacher: Teacher | None = None,
    ) -> dict[str, float]:
        try:
            own_drop = set_dropout(self.model, drop)
        except ValueError as error:
            raise ValueError(f"The component '{self.name}' cannot be trained: {error}.") from error
        scored, backprop = self.model.begin_update(_scorer_input(docs, words, tags))
        gradients, loss, _ = self._rollout(scored, words, golds, own_drop, docs, teacher)
        backprop(gradients)
        losses[self.name] += loss
        if sgd not in (None, False):
            self.finish_update(sgd)
        return losses

    def _rollout(
        self,
        scored: Scorer,
        words: list[tuple[numpy.ndarray, numpy.ndarray]],
        golds: list[Gold],
        drop: float,
        docs: list[Doc],
        teacher: Teacher | None = None,
    ) -> tuple[Any, float, int]:
        constraints = numpy.concatenate([constraints for _, constraints in words])
        batch = (self.system, scored, golds, constraints, self.oracle)
        explore, with_beam = self.explore.next(), self.beam_updates.next()
        if self.beam_training != LOCAL and numpy.random.random() < with_beam:
            kind, width = self.beam_training, self.beam_train_width
            seed = numpy.random.randint(2**31)
            return beam_rollout.learn(*batch, kind, width, drop, seed)
        how = (explore, self.repair_weight, drop, numpy.random.randint(2**31))
        if teacher is None:
            return rollout.learn(*batch, *how)
        if teacher.labels != self._labels:
            raise ValueError(
                f"The component '{self.name}' has got labels that its teacher does not know: "
                f"initialize it again, without the teacher or with one that knows them."
            )
        taught = teacher.model.predict(_scorer_input(docs, words))
        return rollout.learn(*batch, *how, taught, teacher.weight)

    def get_loss(self, examples: Iterable[Example], scores: Scorer) -> tuple[float, Any]:
        """Loss and gradients of one rollout over scores that ``model.begin_update`` gave."""
        examples = list(examples)
        words = [parsed_tokens(eg.predicted) for eg in examples]
        pairs = [(eg, pair) for eg, pair in zip(examples, words, strict=True) if len(pair[0])]
        golds = [self._gold(eg, tokens, constraints) for eg, (tokens, constraints) in pairs]
        docs = [eg.predicted for eg, _ in pairs]
        gradients, loss, _ = self._rollout(scores, [pair for _, pair in pairs], golds, 0.0, docs)
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
        validate_examples(examples, "NMParser.rehearse")
        docs = [eg.predicted for eg in examples if any(not t.is_space for t in eg.predicted)]
        if self._rehearsal_model is None or not docs:
            return losses
        if self._lacks_token_vectors(docs):
            raise ValueError(
                f"The component '{self.name}' cannot rehearse: it shares a 'tok2vec' component, "
                f"and what it knew before cannot be told without the token vectors of then. Give "
                f"it a tok2vec of its own (nlp.replace_listeners), or leave rehearsal out."
            )
        words = [parsed_tokens(doc) for doc in docs]
        before = self._rehearsal_model.predict(_scorer_input(docs, words))
        lengths = [len(tokens) for tokens, _ in words]
        constraints = numpy.concatenate([constraints for _, constraints in words])
        heads, labels, starts = greedy.parse(self.system, before, lengths, constraints)
        golds = []
        first = 0
        for n in lengths:
            last = first + n
            gold = Gold(
                heads[first:last].tolist(),
                [self._labels[label] for label in labels[first:last]],
                [word == 0 or bool(start) for word, start in enumerate(starts[first:last])],
            )
            golds.append(self._within_reach(gold))
            first = last
        return self._learn(docs, words, golds, drop, sgd, losses)

    # Serialization

    def _parts(self, exclude: Iterable[str]) -> dict[str, bytes]:
        """What is saved, by its names; the description, with the checksums of the rest, last."""
        exclude = list(exclude)
        parts: dict[str, bytes] = {}
        if MODEL_FILE not in exclude:
            parts[MODEL_FILE] = self.model.to_bytes()
        if VOCAB_FILE not in exclude:
            parts[VOCAB_FILE] = self.vocab.to_bytes(exclude=["strings"])
        if CONFIG_FILE not in exclude:
            parts[CONFIG_FILE] = self._config_bytes(parts)
        return parts

    def _config_bytes(self, parts: Mapping[str, bytes]) -> bytes:
        content = {
            "format": FORMAT,
            "version": __version__,
            "system": {"name": self.system_spec.name, "options": self.system_spec.options},
            "features": feature_names(self.model),
            "labels": self._labels,
            "tags": self._tags.attributes,
            "cfg": self.cfg,
        }
        return json.dumps(sealed(content, parts), ensure_ascii=False, indent=1).encode("utf8")

    def _load(self, labels: list[str], tags: TagSet, cfg: dict[str, Any], model: bytes) -> None:
        """Load labels, tags, settings and what the model wrote. On an error nothing has changed."""
        old = (
            (
                *(self._labels, self._decorated, self._has_decorated, self._system),
                *(self._tags, self.cfg),
            ),
            system_of(self.model),
        )
        old_model = self.model.to_bytes()
        old_references = references(self.model)
        open_dims = [
            (node, dim)
            for node in self.model.walk()
            for dim in node.dim_names
            if node.has_dim(dim) is None
        ]
        try:
            self.cfg = cfg
            self._tags = tags
            self._set_labels(labels)
            features = feature_names(self.model)
            if (labels, tags.sizes) != (old[0][0], old[0][4].sizes):
                renew_all(self.model)
            old_layout = layout(self.model)
            self.model.from_bytes(model)
            if layout(self.model) != old_layout:
                raise ValueError("its layers have other names")
            if feature_names(self.model) != features:
                raise ValueError("its weights are made for other features")
            check_weights(self.model, tags.sizes)
        except Exception as error:
            known, old_system = old
            self._labels, self._decorated, self._has_decorated, self._system = known[:4]
            self._tags, self.cfg = known[4:]
            restore_system(self.model, old_system)
            restore_references(self.model, old_references)
            for node in self.model.walk():
                for param in node.param_names:
                    node.set_param(param, None)  # or else dimensions are fixed
            for node, dim in open_dims:
                node.set_dim(dim, None, force=True)  # type: ignore[arg-type]
            self.model.from_bytes(old_model)
            raise ValueError(
                f"The component '{self.name}' cannot load its model: it is damaged, or was made "
                f"with another configuration ({type(error).__name__}: {error}). The parser is as "
                f"it was before."
            ) from error

    def _read_config(
        self, config: bytes, parts: Mapping[str, bytes]
    ) -> tuple[list[str], TagSet, dict[str, Any]]:
        """Labels, tags and settings. parts: the others that are loaded with it."""
        where = f"The component '{self.name}' cannot load {CONFIG_FILE}:"
        try:
            content = json.loads(config.decode("utf8"))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{where} it is damaged ({error}).") from error
        if (
            not isinstance(content, dict)
            or not isinstance(content.get("labels"), list)
            or not isinstance(content.get("tags"), dict)
            or not isinstance(content.get("cfg"), dict)
        ):
            raise ValueError(f"{where} it does not describe a parser.")
        if content.get("format") != FORMAT:
            raise ValueError(
                f"{where} it was written by spacy-nmparse {content.get('version')} in format "
                f"{content.get('format')}, and version {__version__} reads format {FORMAT}: "
                f"install a version that fits, or train the model again."
            )
        fault = damaged(content, parts)
        if fault is not None:
            raise ValueError(
                f"{where} {fault}. Take the whole model from where it is sound, or train it again."
            )
        system = {"name": self.system_spec.name, "options": self.system_spec.options}
        if content.get("system") != system:
            raise ValueError(
                f"{where} the model was trained with the system {content.get('system')}, but the "
                f"configuration says {system}."
            )
        if content.get("features") != feature_names(self.model):
            raise ValueError(f"{where} the model was trained with other features.")
        if not all(isinstance(label, str) and label for label in content["labels"]):
            raise ValueError(f"{where} its labels are not all strings.")
        try:
            tags = TagSet(content["tags"])
        except ValueError as error:
            raise ValueError(f"{where} {error}") from error
        # The configuration says how to go on; what calibration has found is the model's.
        cfg = {**content["cfg"], "projectivize": self.cfg["projectivize"]}
        return content["labels"], tags, cfg

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Serialize labels and model ("model", "parser.json" and "vocab" can be excluded)."""
        data: bytes = srsly.msgpack_dumps(self._parts(exclude))
        return data

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> NMParser:
        """Load what ``to_bytes`` gave. On bad data: ValueError, and the parser is unchanged."""
        try:
            content = dict(srsly.msgpack_loads(bytes_data))
        except Exception as error:
            raise ValueError(
                f"The component '{self.name}' cannot load its bytes: they are damaged "
                f"({type(error).__name__}: {error})."
            ) from error
        names = (CONFIG_FILE, MODEL_FILE, VOCAB_FILE)
        parts = {name: content[name] for name in names if name in content and name not in exclude}
        self._load_parts(parts, exclude)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Serialize labels and model into a directory. Where they cannot be written (a full disk),
        OSError is raised, and files that were there are as they were."""
        path = Path(path)
        path.mkdir(exist_ok=True)
        write_files({path / name: data for name, data in self._parts(exclude).items()})

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> NMParser:
        """Load a directory of ``to_disk``. Raises ValueError, with the parser unchanged, where a
        file is missing or damaged, or was written by an incompatible version."""
        path = Path(path)
        parts = {}
        for name in (CONFIG_FILE, MODEL_FILE, VOCAB_FILE):
            if name in exclude:
                continue
            try:
                parts[name] = (path / name).read_bytes()
            except OSError as error:
                raise ValueError(
                    f"The component '{self.name}' cannot read {path / name}: {error}."
                ) from error
        self._load_parts(parts, exclude)
        return self

    def _load_parts(self, parts: Mapping[str, bytes], exclude: Iterable[str]) -> None:
        for name in (
            CONFIG_FILE,
            *saved_parts(parts.get(CONFIG_FILE, b""), (MODEL_FILE, VOCAB_FILE)),
        ):
            if name not in exclude and name not in parts:
                raise ValueError(f"The component '{self.name}' cannot load: {name} is missing.")
            if name in parts and not isinstance(parts[name], bytes):
                raise ValueError(f"The component '{self.name}' cannot load: {name} is damaged.")
        others = {name: data for name, data in parts.items() if name != CONFIG_FILE}
        labels, tags, cfg = self._labels, self._tags, self.cfg
        if CONFIG_FILE in parts:
            labels, tags, cfg = self._read_config(parts[CONFIG_FILE], others)
        if VOCAB_FILE in parts:
            try:
                Vocab().from_bytes(parts[VOCAB_FILE])  # before anything is changed
            except Exception as error:
                raise ValueError(
                    f"The component '{self.name}' cannot load {VOCAB_FILE}: it is damaged."
                ) from error
        data = parts[MODEL_FILE] if MODEL_FILE in parts else self.model.to_bytes()
        self._load(labels, tags, cfg, data)
        if VOCAB_FILE in parts:
            self.vocab.from_bytes(parts[VOCAB_FILE])


def _scorer_input(
    docs: list[Doc],
    words: Sequence[tuple[numpy.ndarray, numpy.ndarray]],
    tags: numpy.ndarray | None = None,
) -> ScorerInput:
    """Documents with what ``parsed_tokens`` says of each."""
    tokens = [tokens for tokens, _ in words]
    ends = numpy.cumsum([0, *map(len, tokens)])
    starts = numpy.concatenate([constraints for _, constraints in words]) == 1
    starts[ends[:-1][ends[:-1] < len(starts)]] = True
    lengths = numpy.diff(numpy.append(numpy.nonzero(starts)[0], len(starts)))
    return ScorerInput(docs, _rows(docs, tokens), lengths.astype("int32"), tags)


def _rows(docs: Sequence[Doc], tokens: Sequence[numpy.ndarray]) -> numpy.ndarray | None:
    """Rows of the parsed words among all tokens of the documents; None: all tokens are words."""
    if all(len(doc) == len(tokens_) for doc, tokens_ in zip(docs, tokens, strict=True)):
        return None
    rows = []
    start = 0
    for doc, tokens_ in zip(docs, tokens, strict=True):
        rows.append(tokens_ + start)
        start += len(doc)
    return numpy.concatenate(rows)
