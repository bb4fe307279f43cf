"""The parser component, as far as it parses: its settings and labels, search, annotations."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy
from spacy import util
from spacy.pipeline.morphologizer import morphologizer_score
from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model

import spacy_nmparse.search.beam as beam
import spacy_nmparse.search.cuts as cuts
import spacy_nmparse.search.greedy as greedy
from spacy_nmparse.pipe.annotations import (
    NO_ARCS,
    SPACE_LABEL,
    Arcs,
    Parses,
    ScoredTree,
    same_tokens,
)
from spacy_nmparse.pipe.confidence import (
    TEMPERATURES,
    forget_confidences,
    register_extensions,
    write_confidences,
)
from spacy_nmparse.pipe.doc_io import preset_starts, write_parses
from spacy_nmparse.pipe.fingerprint import Fingerprint
from spacy_nmparse.pipe.given import GivenTrees
from spacy_nmparse.pipe.gold import GoldReader
from spacy_nmparse.pipe.known import forget_known, write_known
from spacy_nmparse.pipe.labels import LabelSet, Learned
from spacy_nmparse.pipe.learning import GreedyLearning
from spacy_nmparse.pipe.roots import ROOT_LABEL, register_extension, write_root_labels
from spacy_nmparse.pipe.settings import KnownAttributes, add_settings
from spacy_nmparse.pipe.spec import SystemSpec
from spacy_nmparse.pipe.subtokens import SPACED, SUBTOK, join_subtokens
from spacy_nmparse.pipe.tags import TagSet
from spacy_nmparse.pipe.words import Words, even_parts, lacks_token_vectors
from spacy_nmparse.scorers import scorer as scoring
from spacy_nmparse.scorers.hooks import hooks_of
from spacy_nmparse.scorers.label_rules import LabelRules
from spacy_nmparse.scorers.operations import choose_features, resize_labels, set_system
from spacy_nmparse.search.sequences import TooLong
from spacy_nmparse.settings import SWITCH, Settings, defaults
from spacy_nmparse.systems import TransitionSystem

#: A beam gives up hypotheses that are less than a tenth as probable as the best one.
GAP = math.log(10)


class ParsingComponent(Settings, KnownAttributes, TrainablePipe):
    """A component that parses, with its settings and labels; ``TransitionParser`` learns, too.

    The settings that are attributes can be set at any time. ValueError: a value that a setting does
    not take. AttributeError: there is no such setting.
    """

    system_spec: SystemSpec
    learning: GreedyLearning
    error_handler: Callable  # spaCy sets it

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "nm_parser",
        *,
        system: SystemSpec,
        learning: GreedyLearning | None = None,
        scorer: Callable | None = None,
        **settings: Any,
    ) -> None:
        """Make a parser without labels: they come with ``initialize``, ``add_label`` or ``from_*``.

        Args:
            vocab: the pipeline's vocabulary.
            model: a scorer.
            name: the component's name in the pipeline.
            system: the transition system.
            learning: how training learns from gold trees (see ``pipe.learning``).
            scorer: the scoring function.
            settings: see ``spacy_nmparse.settings``.

        Raises:
            ValueError: an oracle that the system does not have, a model that cannot score the
                system, or a value that a setting does not take.
        """
        register_extensions()
        register_extension()
        self.vocab = vocab
        self.model = model
        self.name = name
        self.system_spec = system
        self.learning = learning or GreedyLearning()
        self.scorer = scorer
        self.cfg: dict[str, Any] = {}
        for setting, value in {**defaults(), **settings}.items():
            setattr(self, setting, value)
        self._rehearsal_model: Model | None = None
        self._has_cut: bool | None = False  # and said so; None: not to be said, before training
        self._fingerprint = Fingerprint()
        unlabelled = system.create(None)
        self._learned = Learned(LabelSet(()), TagSet({}), unlabelled)
        try:
            self.learning.check(name, unlabelled)
            hooks_of(model).check_system(unlabelled)
        except ValueError as error:
            raise ValueError(f"The component '{name}' cannot be made: {error}") from error
        choose_features(model, unlabelled)

    @property
    def projectivize(self) -> bool:
        """Whether crossing arcs are lifted for training and lowered after parsing; saved with the
        parser."""
        return bool(self.cfg["projectivize"])

    @projectivize.setter
    def projectivize(self, value: bool) -> None:
        self.cfg["projectivize"] = SWITCH.checked(value, self.name, "projectivize")

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
            "tag_triples": self._learned.tags.triples,
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
        if not self._learned.labels.names:
            raise ValueError(
                f"The parser is untrained. The component '{self.name}' has no labels yet: call "
                f"nlp.initialize() with annotated examples, add_label(), or load a trained model."
            )
        return self._learned.system

    def add_label(self, label: str) -> int:
        """Add a label; ``ROOT||Pred``: the label Pred of roots. Returns 1 if it was new, else 0. A
        trained model keeps what it knows."""
        if not isinstance(label, str) or not label:
            raise ValueError(
                f"The component '{self.name}' takes non-empty strings as labels, not {label!r}."
            )
        names = self._learned.labels.names
        if label in names:
            return 0
        self._learn_labels([*(names or [ROOT_LABEL]), label], self._learned.tags)
        if hooks_of(self.model).is_initialized(self.model):
            resize_labels(self.model, self.system)
        return 1

    def _learn_labels(self, names: Sequence[str], tags: TagSet) -> None:
        self._learned = self._learned_from(names, tags)
        set_system(self.model, self.system)

    def _learned_from(self, names: Sequence[str], tags: TagSet) -> Learned:
        labels = LabelSet.complete(names)
        for name in (*labels.names, *labels.plain):
            self.vocab.strings.add(name)
        tags.register(self.vocab)
        system = self.system_spec.create(
            labels.names, root_label=labels.root_label, single_root=True, segment=True
        )
        return Learned(labels, tags, system)

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
        """Parse a stream of documents, in order, batch_size of them at a time in each thread. While
        several threads parse, this one writes earlier parses and reads ahead. Where one of a batch
        fails, the error handler gets that one and the others are parsed."""
        if self.threads == 1:
            for docs in util.minibatch(stream, size=batch_size):
                yield from self._parsed(docs, partial(self.predict, docs))
            return
        n, failure = self.threads, None
        batches = util.minibatch(stream, size=batch_size * n)
        parsing: list[tuple[list[Doc], Future[Parses]]] = []
        with ThreadPoolExecutor(n) as pool:
            while True:
                started = []
                try:
                    docs = next(batches, None)
                except Exception as error:  # of the stream; what is being parsed still comes
                    docs, failure = None, error
                if docs:
                    parts = even_parts(docs, n)
                    started = [(part, pool.submit(self.predict, part)) for part in parts]
                for part, parses in parsing:
                    yield from self._parsed(part, parses.result)
                parsing = started
                if not parsing:
                    break
        if failure is not None:
            raise failure

    def _parsed(self, docs: list[Doc], parse: Callable[[], Parses]) -> Iterator[Doc]:
        """Write the parses of documents that `parse` gives; one by one, where something fails."""
        try:
            self.set_annotations(docs, parse())
        except Exception as error:
            if len(docs) == 1:
                self.get_error_handler()(self.name, self, docs, error)
                return
            for doc in docs:
                yield from self._parsed([doc], partial(self.predict, [doc]))
            return
        yield from docs

    def predict(self, docs: Iterable[Doc]) -> Parses:
        """Parse documents without changing them."""
        words = Words.of(docs)
        return self._parse(words, self.confidence, self._given(words))

    def _given(self, words: Words) -> GivenTrees | None:
        """The known trees of documents, for ``keep_heads``; None: nothing is kept."""
        if not self.keep_heads or not any(doc.has_annotation("DEP") for doc in words.docs):
            return None
        projective = self.system.projective
        return GivenTrees(words, self.gold_reader, self._learned.labels, projective)

    def _parse(self, words: Words, confidence: bool, given: GivenTrees | None = None) -> Parses:
        probabilities = numpy.ones((2, len(words.tokens)), dtype="float32") if confidence else None
        scorer = self.score_moves(words, self.write_tags)
        if scorer is None:
            return Parses(words.ends, words.tokens, NO_ARCS, probabilities)
        tags = None
        if scorer.tag_scores is not None and self._learned.tags.readings is not None:
            tags = self._learned.tags.best(scorer.tag_scores, hooks_of(self.model).compared)
        search: Callable[..., Any] = greedy.parse
        if self.beam_width > 1:
            search = partial(beam.parse, width=self.beam_width, gap=GAP)
        found = Arcs(*self._search(words, scorer, given, search, probabilities=probabilities))
        if given is None:
            arcs = self._learned.labels.lowered(found, words.ends)
            return Parses(words.ends, words.tokens, arcs, probabilities, tags)
        arcs, known = given.put_back_all(found, words.lengths, probabilities)
        return Parses(words.ends, words.tokens, arcs, probabilities, tags, given.names, known)

    def _search(
        self,
        words: Words,
        scorer: scoring.Scorer,
        given: GivenTrees | None,
        search: Callable[..., Any],
        **options: Any,
    ) -> Any:
        """Search by a function of ``search``. Documents in which a sentence gets longer than
        ``max_sentence`` are cut, and all are searched through again."""
        fixed = words.constraints if given is None else given.constraints
        golds = given and given.golds
        batch = (self.system, scorer, words.lengths)
        try:
            return search(*batch, fixed, given=golds, most=self.max_sentence, **options)
        except TooLong as error:
            often = search is not greedy.parse
            cut = cuts.cut(*batch, fixed, self.max_sentence, often, golds, *error.args)
        if self._has_cut is False and (cut != fixed).any():
            self._has_cut = True
            warnings.warn(
                f"The component '{self.name}' finds no sentence start in max_sentence = "
                f"{self.max_sentence} words of a text: it starts sentences where that is most "
                f"probable. Set sentence starts before it, or a larger max_sentence, if this is "
                f"not wanted. (Said once.)",
                stacklevel=2,
            )
        return search(*batch, cut, given=golds, **options)

    def n_best(self, docs: Iterable[Doc], n: int) -> list[list[ScoredTree]]:
        """The n best trees of each document, from a beam of that width at least, or as many as it
        has found; best first. The documents are not changed.

        The scores are logarithms of probabilities, heads and labels those of all tokens, a root is
        its own head.

        Raises:
            ValueError: n is below 1.
        """
        if n < 1:
            raise ValueError(f"The component '{self.name}': n must be at least 1, got {n}.")
        words = Words.of(docs)
        scorer = self.score_moves(words)
        given = self._given(words)
        analyses: Iterator[list[beam.Analysis]] = iter(())
        if scorer is not None:
            search = partial(beam.n_best, width=max(n, self.beam_width), n=n)
            analyses = iter(self._search(words, scorer, given, search))
        result, number = [], 0
        for doc, (tokens, _) in zip(words.docs, words.by_document(), strict=True):
            ends = numpy.asarray([len(tokens)], dtype="int32")
            trees: dict[Any, ScoredTree] = {}
            for analysis in next(analyses) if len(tokens) else [None]:
                arcs = NO_ARCS
                if analysis and given:
                    arcs = given.put_back(number, Arcs(*analysis[1:]))
                elif analysis:
                    arcs = self._learned.labels.lowered(Arcs(*analysis[1:]), ends)
                copy = same_tokens(doc, sent_starts=preset_starts(doc).tolist())
                parses = Parses(ends, tokens, arcs, names=given.names if given else None)
                self._write([copy], parses)
                tree = ScoredTree.of(copy, analysis[0] if analysis else 0.0)
                trees.setdefault((*tree.heads, *tree.labels, *tree.sent_starts), tree)
            number += len(tokens) > 0
            result.append(list(trees.values()))
        return result

    def score_moves(self, words: Words, with_tags: bool = False) -> scoring.Scorer | None:
        """The model's scores of words, ready for search; None: there are no words.

        Args:
            words: the words.
            with_tags: whether their tags are scored.

        Raises:
            ValueError: the parser has no labels or no weights, or tags are wanted that it has not
                learned.
        """
        if not len(words.tokens):
            return None
        _ = self.system  # raises where there are no labels
        if not hooks_of(self.model).is_initialized(self.model):
            raise ValueError(
                f"The parser is untrained. The component '{self.name}' has no weights yet: call "
                f"nlp.initialize(), or load a trained model."
            )
        if lacks_token_vectors(words.docs, self.model):  # spaCy then takes zeros
            warnings.warn(
                f"The component '{self.name}' shares a 'tok2vec' or transformer component that has "
                f"not processed these documents: it parses without any knowledge of their words. "
                f"Enable that component, before this one (in training, list it in "
                f"annotating_components).",
                stacklevel=2,
            )
            words = words.without_vectors(self.model)
        elif not self._fingerprint.fits(self.model, words.docs):
            warnings.warn(
                f"The component '{self.name}' listens to a 'tok2vec' that is not the one which it "
                f"was trained with: most of its trees will be wrong. Give the parser the token "
                f"vectors that it knows: 'python -m spacy nmparse replace', or "
                f"other.replace_listeners(...) in its own pipeline, before it is added to this one "
                f"(docs/existing_pipeline.md).",
                stacklevel=2,
            )
        if with_tags and self._learned.tags.readings is None:
            raise ValueError(
                f"The component '{self.name}' cannot write tags: it has learned none. Train it "
                f"with a tag_weight above 0 on data with parts of speech, or set "
                f"write_tags = false."
            )
        given = words.scorer_input(wants_tags=with_tags)
        scorer: scoring.Scorer = self.model.predict(given)
        scorer.crossing_bias = self.crossing_bias
        rules = (self.unique_labels, self.childless_labels)
        if any(rules):
            scorer.label_rules = LabelRules(self._learned.labels.names, *rules)
        return scorer

    def set_annotations(self, docs: Iterable[Doc], scores: Parses) -> None:
        """Write parses to their documents, and join the tokens that are pieces of a word."""
        docs = list(docs)
        self._write(docs, scores)
        if not {SUBTOK, SPACED}.isdisjoint(self._learned.labels.names):
            join_subtokens(docs)

    def _write(self, docs: list[Doc], scores: Parses) -> None:
        names = scores.names or self._learned.labels.names
        fixed = [ROOT_LABEL, SPACE_LABEL]
        write_parses(docs, scores.ends, scores.tokens, *scores.arcs, [*names, *fixed])
        write_root_labels(docs, scores, names)
        forget_known(docs)
        if scores.probabilities is None:
            forget_confidences(docs)
        if scores.tags is not None:
            for vocab in {doc.vocab for doc in docs} - {self.vocab}:  # of other pipelines
                self._learned.tags.register(vocab, set(scores.tags.tolist()))
            self._learned.tags.write(docs, scores.ends, scores.tokens, scores.tags)
        if scores.probabilities is None and scores.known is None:
            return
        temperatures = self._temperatures()
        for doc, parse in zip(docs, scores.by_document(), strict=True):
            if parse.probabilities is not None:
                write_confidences(doc, parse.tokens, parse.probabilities, temperatures)
            if parse.known is not None:
                write_known(doc, parse.tokens[parse.known])

    def _temperatures(self) -> tuple[float, float]:
        """Those of the confidences; ValueError where someone has set others than there can be."""
        found = self.cfg.get("temperatures", (1.0, 1.0))
        return TEMPERATURES.checked(found, self.name, "temperatures")

    def score(self, examples: Iterable[Example], **settings: Any) -> dict[str, Any]:
        """Score parses, and the tags if they are written."""
        examples = list(examples)
        scores = super().score(examples, **settings)
        if self.write_tags and self.scorer is not None:
            scores |= morphologizer_score(examples)
            if self._learned.tags.has_tags:
                scores |= Scorer.score_token_attr(examples, "tag")
        return scores


add_settings(ParsingComponent, ["projectivize"])
