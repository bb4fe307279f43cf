"""The parser component."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language
from spacy.training import Example, validate_examples, validate_get_examples
from thinc.api import Optimizer

import spacy_nmparse.search.greedy as greedy
from spacy_nmparse.learning.lesson import Lesson
from spacy_nmparse.pipe import calibration, saving
from spacy_nmparse.pipe.annotations import Arcs, Parses
from spacy_nmparse.pipe.calibration import Calibration
from spacy_nmparse.pipe.component import ParsingComponent
from spacy_nmparse.pipe.divergence import stopped_divergence
from spacy_nmparse.pipe.files import write_files
from spacy_nmparse.pipe.fingerprint import Fingerprint
from spacy_nmparse.pipe.gold import GoldReader
from spacy_nmparse.pipe.labels import LabelData
from spacy_nmparse.pipe.roots import ROOT_LABEL, is_root_name
from spacy_nmparse.pipe.settings import changed_settings, saved_settings
from spacy_nmparse.pipe.tags import TagSet, collect, counted
from spacy_nmparse.pipe.teacher import Teachers, load_teachers
from spacy_nmparse.pipe.words import Words, lacks_token_vectors, listeners
from spacy_nmparse.scorers.operations import (
    learns_tags,
    renew_all,
    resize_labels,
    set_dropout,
    set_system,
    set_tag_sizes,
)
from spacy_nmparse.scorers.scorer import Scorer
from spacy_nmparse.scorers.shared import ScorerInput
from spacy_nmparse.scorers.tags import GoldTags
from spacy_nmparse.scorers.weights import check_finite
from spacy_nmparse.systems import Gold


@dataclass(frozen=True)
class Batch:
    """The examples of one update, as the model takes them.

    Attributes:
        words: The words of the documents.
        golds: The gold trees of the documents that have words.
        tags: The words' tags; None: none are learned.
        teachers: What else is learned from.
    """

    words: Words
    golds: list[Gold]
    tags: GoldTags | None = None
    teachers: Teachers | None = None


class TransitionParser(ParsingComponent):
    """A trainable transition-based dependency parser, a drop-in for spaCy's ``parser``.

    Sets heads, labels and sentence starts. Sentence starts that are set before it are kept, those
    that are ruled out are never made. A document that has a parse gets a new one: the boundaries of
    the old one bind nothing, those set before it still do, so that parsing twice changes nothing.
    Trees have one root a sentence; spaces head nothing.
    """

    _teachers: Teachers | None = None

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, Any] | None = None,
        teacher: str | list[str] | None = None,
        teacher_weight: float = 0.5,
    ) -> None:
        """Collect the labels and the tags, and initialize the model.

        Args:
            get_examples: returns gold-standard examples.
            nlp: the pipeline.
            labels: what ``label_data`` gave; then the examples are not read for it.
            teacher: a trained pipeline, folder or package, or a list of them, whose parsers are
                learned from in addition to the gold trees (see ``pipe.teacher``). They are not
                saved with the parser, and updates with a beam do without them.
            teacher_weight: the share of the teachers in the loss of moves and labels, above 0 and
                at most 1.

        Raises:
            ValueError: no example has a dependency label, labels is not such data, or a teacher
                cannot be learned from.
        """
        first = list(islice(get_examples(), 10)) if callable(get_examples) else []
        validate_get_examples(
            (lambda: first) if first else get_examples, "TransitionParser.initialize"
        )
        has_tags = learns_tags(self.model)
        if labels is not None:
            try:
                data = LabelData.checked(labels)
            except ValueError as error:
                raise ValueError(
                    f"The component '{self.name}' got {error}. Make them with spacy init labels."
                ) from error
        else:
            reader = GoldReader(self.name, (), self.cfg["projectivize"], 0)
            fields: Counter[tuple[str, ...]] = Counter()
            examples = get_examples()
            found = reader.find_labels(counted(examples, fields) if has_tags else examples)
            learned = collect(fields)
            data = LabelData(found, learned.attributes, learned.triples)
        try:
            tags = TagSet(data.tags, data.tag_triples) if has_tags else TagSet({})
        except ValueError as error:
            raise ValueError(
                f"The component '{self.name}' cannot take these tags: {error}"
            ) from error
        self.learning.restart()
        roots = list(filter(is_root_name, data.labels))
        # Labels added before are kept; ROOT comes with the first of them.
        old = [name for name in self._learned.labels.names if not roots or name != ROOT_LABEL]
        names = [*(roots or [ROOT_LABEL]), *data.labels, *old]
        if not self._learned.system.labels_roots:  # nothing would choose among labels of roots
            names = [name for name in names if name == names[0] or not is_root_name(name)]
        self._teachers = None
        if teacher:
            paths = [teacher] if isinstance(teacher, str) else teacher
            self._teachers = load_teachers(paths, teacher_weight, self, names)
        self._learn_labels(self._teachers.labels if self._teachers else names, tags)
        self._has_cut = None
        set_tag_sizes(self.model, tags.sizes)
        self.model.initialize(X=ScorerInput([example.x for example in first], None))

    def learn_more(self, examples: Iterable[Example]) -> None:
        """Take up the labels that examples have, behind those of a trained parser, and new
        combinations of known tags and features; training then teaches them. Warns of new labels,
        and of words with other tags or features, which are not learned. A parser that has one label
        of roots keeps it.

        Args:
            examples: gold-standard examples.

        Raises:
            ValueError: the heads of a tree form a cycle.
        """
        fields: Counter[tuple[str, ...]] = Counter()
        read = [one for one in counted(examples, fields) if one.reference.has_annotation("DEP")]
        reader = GoldReader(self.name, (), self.cfg["projectivize"], 0)
        known, tags = self._learned.labels, self._learned.tags
        new = [
            label
            for label in (reader.find_labels(read) if read else ())
            if label not in known.names and (len(known.roots) > 1 or not is_root_name(label))
        ]
        tags = tags.extended(field for field, _ in fields.most_common())
        self._learn_labels([*known.names, *new], tags)
        if new:
            resize_labels(self.model, self.system)
            warnings.warn(
                f"The component '{self.name}' learns labels that are new to it: {', '.join(new)}.",
                stacklevel=2,
            )
        others = Counter({one: n for one, n in fields.items() if any(one)})
        for triple in tags.triples:
            del others[tuple(triple)]
        if tags.triples and others:
            (example, _), *_ = others.most_common(1)
            warnings.warn(
                f"The component '{self.name}' does not know the tags or features of "
                f"{others.total()} words, and does not learn them ({' '.join(example)}): train a "
                f"new pipeline on all the data if they matter.",
                stacklevel=2,
            )

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from a batch, as ``learning`` does: one backward pass.

        The loss is the summed negative log likelihood of what the oracle would have done.
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
        if self._learned.tags.readings is not None:
            tags = self._learned.tags.gold(examples, [tokens for tokens, _ in words.by_document()])
        return self._learn(Batch(words, golds, tags, self._teachers), drop, sgd, losses)

    def _golds(self, examples: Sequence[Example], words: Words) -> list[Gold]:
        """The gold trees of the examples that have words."""
        reader = self.gold_reader
        return [
            reader.read(example, tokens, presets)
            for example, (tokens, presets) in zip(examples, words.by_document(), strict=True)
            if len(tokens)
        ]

    def _learn(
        self, batch: Batch, drop: float, sgd: Optimizer | None, losses: dict[str, float]
    ) -> dict[str, float]:
        own_drop = set_dropout(self.model, drop)
        self._fingerprint.restart()
        if self._has_cut is None:
            self._has_cut = False
        with stopped_divergence(self.name):
            scorer, backprop = self._begin_update(batch)
            gradients, loss = self._rollout(scorer, batch, own_drop)
            if not math.isfinite(loss):
                raise FloatingPointError(f"the loss is {loss}")
        backprop(gradients)
        losses[self.name] += loss
        if sgd not in (None, False):
            self.finish_update(sgd)
        return losses

    def _begin_update(self, batch: Batch) -> tuple[Scorer, Callable[[Any], Any]]:
        try:
            return self.model.begin_update(batch.words.scorer_input(batch.tags))
        except AssertionError as error:
            if str(error) or not listeners(self.model):
                raise
            raise ValueError(  # spacy-curated-transformers says nothing
                f"The component '{self.name}' cannot be trained: the transformer that it shares "
                f"has not seen the same batch. If training.frozen_components lists it, set "
                f"frozen = true in its own block instead."
            ) from error

    def finish_update(self, sgd: Optimizer) -> None:
        """Change the weights by their gradients. Raises ValueError where they become infinite, or
        no numbers."""
        self.model.finish_update(sgd)
        with stopped_divergence(self.name):
            check_finite(self.model)

    def _rollout(self, scorer: Scorer, batch: Batch, drop: float) -> tuple[Any, float]:
        """The gradients and the loss of a batch."""
        lesson = Lesson(self.system, scorer, batch.golds, batch.words.constraints, drop)
        if batch.teachers is not None:
            teachers, given = batch.teachers, batch.words.scorer_input()
            teachers.check_labels(self.name, self._learned.labels.names)
            weight = teachers.weight
            lesson = replace(lesson, teachers=lambda: teachers.score(given), weight=weight)
        return self.learning.learn(lesson)

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
                f"The component '{self.name}' cannot rehearse: rehearsal needs the token "
                f"vectors from before training, and a shared 'tok2vec' no longer has them. Give it "
                f"a tok2vec of its own (nlp.replace_listeners), or leave rehearsal out."
            )
        words = Words.of(docs)
        before = self._rehearsal_model.predict(words.scorer_input())
        arcs = Arcs(*greedy.parse(self.system, before, words.lengths, words.constraints))
        names = self._learned.labels.names
        golds = self.gold_reader.from_parses(Parses(words.ends, words.tokens, arcs), names)
        return self._learn(Batch(words, golds), drop, sgd, losses)

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
                f"The component '{self.name}' cannot be calibrated: it shares a 'tok2vec' or "
                f"transformer component that has not processed the examples. First, for each of "
                f"them: example.predicted = nlp(example.predicted, disable=['{self.name}'])."
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

    # Serialization

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Serialize labels and model ("model", "parser.json" and "vocab" can be excluded)."""
        data: bytes = srsly.msgpack_dumps(self._parts(exclude))
        return data

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> TransitionParser:
        """Load what ``to_bytes`` gave. On bad data: ValueError, and the parser is unchanged."""
        where = f"The component '{self.name}' cannot load its bytes:"
        self._load(saving.unpack(bytes_data, exclude, where), where)
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
        where = f"The component '{self.name}' cannot load {path}:"
        self._load(saving.read_folder(Path(path), exclude, where), where)
        return self

    def _parts(self, exclude: Iterable[str]) -> saving.Parts:
        self._temperatures()  # raises where they cannot be loaded again
        with stopped_divergence(self.name):
            return saving.save(self.model, self.vocab, self._description(), exclude)

    def _description(self) -> dict[str, Any]:
        known, changed = self._fingerprint.saved(), changed_settings(self)
        return {
            "system": {"name": self.system_spec.name, "options": self.system_spec.options},
            "features": self.model.attrs["features"],
            **self.label_data,
            "cfg": {**self.cfg, "token_vectors": known} if known else self.cfg,
            **({"settings": changed} if changed else {}),
        }

    def _load(self, parts: saving.Parts, where: str) -> None:
        """Become the parser of these parts. On an error nothing has changed."""
        present = self._description()
        data, cfg = LabelData.checked(self.label_data), present["cfg"]
        settings: dict[str, Any] = {}
        if saving.CONFIG in parts:
            data, cfg, changed = saving.read_description(parts[saving.CONFIG], present, where)
            settings = saved_settings(self, changed, f"{where} {saving.CONFIG} has")
        if saving.VOCAB in parts:
            saving.check_vocab(parts[saving.VOCAB], where)
        weights = parts[saving.MODEL] if saving.MODEL in parts else self.model.to_bytes()
        try:
            learned = self._learned_from(data.labels, TagSet(data.tags, data.tag_triples))
            saving.check_model(self.model, weights, present["features"], learned)
        except Exception as error:
            raise ValueError(
                f"{where} the model is damaged, or was made with another configuration "
                f"({type(error).__name__}: {error}). The parser is as it was before."
            ) from error
        known = self._learned
        if (learned.labels.names, learned.tags.sizes) != (known.labels.names, known.tags.sizes):
            renew_all(self.model)
        self._learned = learned
        set_system(self.model, learned.system)
        self.model.from_bytes(weights)
        self.cfg = {key: value for key, value in cfg.items() if key != "token_vectors"}
        self._fingerprint = Fingerprint(cfg.get("token_vectors"))
        for name, value in settings.items():
            setattr(self, name, value)
        if saving.VOCAB in parts:
            self.vocab.from_bytes(parts[saving.VOCAB])
