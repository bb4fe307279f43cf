"""Checks of training data for a parser of this package: what spaCy's ``debug data`` tells of its
own parser only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry, resolve_dot_names

from spacy_nmparse.analysis.tokens import TokenMatch
from spacy_nmparse.pipe.component import ParsingComponent
from spacy_nmparse.pipe.doc_io import gold_parse, is_partial
from spacy_nmparse.pipe.members import parser_of
from spacy_nmparse.pipe.roots import ROOT_LABEL, root_label, root_name, short_name
from spacy_nmparse.systems.projective import DELIMITER, check_acyclic, crossing_arcs, lift, lower
from spacy_nmparse.wording import counted, shorten

RARE = 20  # occurrences of a label
FEW, FEWER = 2000, 100  # sentences to train on
GOOD, INFO, WARNING, ERROR = "good", "info", "warning", "error"


@dataclass(frozen=True)
class Finding:
    """Something about the data: "good", "info", "warning" or "error"; a code for programs."""

    level: str
    code: str
    message: str


@dataclass
class Split:
    """Counts over the documents of a corpus."""

    documents: int = 0
    unannotated: int = 0
    partial: int = 0
    sentences: int = 0
    sentences_per_document: Counter[int] = field(default_factory=Counter)
    words: int = 0
    unknown_heads: int = 0
    lost_heads: int = 0
    tokens: TokenMatch = field(default_factory=TokenMatch)
    cycles: list[str] = field(default_factory=list)
    several_roots: int = 0
    crossing_arcs: int = 0
    crossing_sentences: int = 0
    arcs: int = 0
    not_lowered: int = 0
    too_long: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    root_labels: Counter[str] = field(default_factory=Counter)
    lifted_labels: Counter[str] = field(default_factory=Counter)
    misplaced_root: int = 0
    texts: set[str] = field(default_factory=set)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        result = {k: v for k, v in self.__dict__.items() if k not in ("texts", "cycles")}
        result["cycles"] = len(self.cycles)
        result["tokens"] = self.tokens.as_dict()
        for name in ("labels", "root_labels", "lifted_labels"):
            result[name] = dict(getattr(self, name).most_common())
        result["sentences_per_document"] = {
            str(size): count for size, count in sorted(self.sentences_per_document.items())
        }
        return result


@dataclass
class DataCheck:
    """The result of ``check_data``."""

    component: str
    system: str
    train: Split
    dev: Split
    findings: list[Finding]

    @property
    def has_errors(self) -> bool:
        """Whether training would fail or learn nothing."""
        return any(finding.level == ERROR for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        splits = {"train": self.train.as_dict(), "dev": self.dev.as_dict()}
        return {**vars(self), **splits, "findings": [vars(finding) for finding in self.findings]}


def check_data(nlp: Language, name: str | None = None) -> DataCheck:
    """Read the corpora of a pipeline's config and check them for its parser.

    The callback ``[initialize.before_init]`` is run first, as in training: it may change the
    tokenizer.

    Args:
        nlp: the pipeline as made from its config (``spacy.util.load_model_from_config``), not
            initialized. The callback changes it.
        name: which parser, where there are several.

    Raises:
        ValueError: no parser of this package; a corpus without a path; a tokenizer that changes
            the text.
        FileNotFoundError: a corpus' file is missing.
    """
    parser = parser_of(nlp, name)
    config = nlp.config.interpolate()
    training = registry.resolve(config["training"], schema=ConfigSchemaTraining)
    names = [training["train_corpus"], training["dev_corpus"]]
    readers: list[Callable[[Language], Iterable[Example]]] = list(resolve_dot_names(config, names))
    callback = {"before_init": config["initialize"]["before_init"]}
    before_init = registry.resolve(callback)["before_init"]
    if before_init is not None:
        before_init(nlp)
    train, dev = (count_split(reader(nlp), parser, nlp) for reader in readers)
    findings = [*_sizes(train, dev), *_tokens(train, dev), *_trees(train, dev, parser)]
    findings += _labels(train, dev)
    findings += _sentences(train, nlp, parser)
    return DataCheck(parser.name, parser.system_spec.name, train, dev, findings)


def count_split(examples: Iterable[Example], parser: ParsingComponent, nlp: Language) -> Split:
    """Count what is in a corpus, as the parser would meet it, and compare its tokens with those of
    the pipeline's tokenizer."""
    split = Split()
    for example in examples:
        split.documents += 1
        doc = example.reference
        split.texts.add(doc.text)
        words = [token for token in doc if not token.is_space]
        split.words += len(words)
        if not doc.has_annotation("DEP"):
            split.unannotated += 1
            continue
        split.partial += is_partial(doc)
        _count_trees(split, doc, parser)
        _count_alignment(split, example)
        split.tokens.add(doc, nlp.make_doc(doc.text))
    return split


def _count_trees(split: Split, doc: Doc, parser: ParsingComponent) -> None:
    heads: list[int | None] = [token.head.i if token.dep else None for token in doc]
    labels: list[str | None] = [token.dep_ or None for token in doc]
    split.unknown_heads += sum(not token.dep and not token.is_space for token in doc)
    try:
        check_acyclic(heads)
    except ValueError:
        split.cycles.append(doc.text)
        return
    crossing = set(crossing_arcs(heads))
    n_sentences = 0
    for sentence in doc.sents:
        tokens = [token for token in sentence if not token.is_space]
        if not tokens:
            continue
        n_sentences += 1
        split.several_roots += sum(t.dep != 0 and t.head.i == t.i for t in tokens) > 1
        split.crossing_sentences += any(token.i in crossing for token in tokens)
    split.sentences += n_sentences
    split.sentences_per_document[n_sentences] += 1
    split.crossing_arcs += len(crossing)
    longest = parser.system_spec.options.get("max_length", 0)
    for token in doc:
        if not token.dep or token.is_space:
            continue
        is_root = token.head.i == token.i
        label = short_name(root_name(root_label(token))) if is_root else token.dep_
        split.labels[label] += 1
        split.root_labels[label] += is_root
        split.misplaced_root += token.dep_ == ROOT_LABEL and not is_root
        split.arcs += not is_root
        split.too_long += bool(longest) and abs(token.head.i - token.i) > longest
    if crossing:
        lifted, decorated = lift(heads, labels)
        split.lifted_labels.update(label for label in decorated if label and DELIMITER in label)
        if None not in lifted and None not in decorated:
            again, _ = lower(lifted, decorated)  # type: ignore[arg-type]
            split.not_lowered += sum(a != b for a, b in zip(again, heads, strict=True))


def _count_alignment(split: Split, example: Example) -> None:
    """Words of the tokenizer that get no head, though the annotation is whole."""
    if is_partial(example.reference):
        return
    heads, _, _ = gold_parse(example)
    for token, head in zip(example.predicted, heads, strict=True):
        split.lost_heads += not token.is_space and head is None


def _sizes(train: Split, dev: Split) -> Iterable[Finding]:
    for name, split in (("training", train), ("development", dev)):
        if not split.documents:
            yield Finding(ERROR, f"no_{name}_documents", f"There are no {name} documents.")
        elif split.unannotated == split.documents:
            yield Finding(
                ERROR,
                f"no_{name}_trees",
                f"No {name} document has heads and labels: annotate them, or convert the treebank "
                f"again.",
            )
        elif split.unannotated:
            yield Finding(
                WARNING,
                f"unannotated_{name}",
                f"{split.unannotated} of {split.documents} {name} documents without heads "
                f"and labels: the parser learns nothing from them.",
            )
    if 0 < train.sentences < FEWER:
        yield Finding(
            WARNING,
            "too_little_data",
            f"{counted(train.sentences, 'sentence is', 'sentences are')} too few to train on: have "
            f"at least {FEWER}, better {FEW}.",
        )
    elif 0 < train.sentences < FEW:
        yield Finding(
            WARNING,
            "little_data",
            f"{train.sentences} sentences are few: {FEW} or more are better.",
        )
    elif train.sentences:
        yield Finding(GOOD, "enough_data", f"{train.sentences} sentences to train on.")
    overlap = len(train.texts & dev.texts)
    if overlap:
        texts = counted(
            overlap, "development text is a training text", "development texts are training texts"
        )
        yield Finding(WARNING, "overlap", f"{texts} too: the scores will be too high.")


def _tokens(train: Split, dev: Split) -> Iterable[Finding]:
    advised = False
    for name, split in (("training", train), ("development", dev)):
        tokens = split.tokens
        if tokens.f1 is None:
            continue
        text = f"Tokens, F1 {100 * tokens.f1:.2f}: the pipeline's tokenizer "
        if not tokens.differences:
            text += f"splits the {name} texts as the data do."
            yield Finding(GOOD, f"tokens_{name}", text)
            continue
        strings = counted(tokens.differences.total(), "string")
        text += f"splits {strings} of the {name} texts otherwise than "
        text += "the data do."
        if split.lost_heads:
            lost = counted(split.lost_heads, "of its words has", "of its words have")
            text += f" {lost} no gold head."
        if not advised:
            (own, other), count = tokens.differences.most_common(1)[0]
            text += (
                f" The most frequent: {shorten(own)!r} in the data, {shorten(other)!r} by the "
                f"tokenizer ({count}). `nmparse convert --lang` says how multiword tokens fit it "
                f"best; docs/training.md shows how to change its rules."
            )
            advised = True
        level = WARNING if split.lost_heads else INFO
        yield Finding(level, f"misaligned_{name}", text)


def _trees(train: Split, dev: Split, parser: ParsingComponent) -> Iterable[Finding]:
    for name, split in (("training", train), ("development", dev)):
        if split.cycles:
            documents = counted(len(split.cycles), f"{name} document has", f"{name} documents have")
            yield Finding(
                ERROR,
                f"cycles_{name}",
                f"{documents} heads that form a cycle: correct or "
                f"remove them. The first: {split.cycles[0]!r:.80}",
            )
        if split.several_roots:
            sentences = counted(
                split.several_roots, f"{name} sentence has", f"{name} sentences have"
            )
            yield Finding(
                WARNING,
                f"several_roots_{name}",
                f"{sentences} several roots: the parser builds one "
                f"root a sentence, and cannot get the others right.",
            )
    if train.partial:
        documents = counted(train.partial, "training document is", "training documents are")
        yield Finding(
            INFO,
            "partial",
            f"{documents} annotated in part ({counted(train.unknown_heads, 'word')} "
            f"without a head): the parser learns from what there is.",
        )
    if train.too_long:
        longest = parser.system_spec.options["max_length"]
        yield Finding(
            WARNING,
            "too_long",
            f"{counted(train.too_long, 'arc is', 'arcs are')} longer than max_length = {longest}: "
            f"raise it, or leave it out, if that matters.",
        )
    yield from _crossing(train, parser)


def _crossing(train: Split, parser: ParsingComponent) -> Iterable[Finding]:
    if not train.crossing_arcs:
        if train.sentences:
            yield Finding(GOOD, "projective", "No arcs cross.")
        return
    n, part = train.crossing_arcs, f"({100 * train.crossing_arcs / max(1, train.arcs):.2f} %) in "
    part += counted(train.crossing_sentences, "sentence")
    share = counted(n, f"arc {part} crosses others", f"arcs {part} cross others")
    them = "it" if n == 1 else "them"
    name = parser.system_spec.name
    if not parser.system_spec.create(None).projective:
        yield Finding(GOOD, "crossing", f"{share}: {name} can build {them}.")
    elif parser.cfg["projectivize"]:
        yield Finding(
            INFO,
            "crossing_lifted",
            f"{share}: lifted for {name}, under {counted(len(train.lifted_labels), 'label')} of "
            f"their own, and lowered after parsing; even without an error {train.not_lowered} "
            f"would not come back. nl_covington_parser builds crossing arcs as they are.",
        )
    else:
        yield Finding(
            WARNING,
            "crossing_lost",
            f"{share}, and {name} cannot build {them}: set projectivize = true, or take "
            f"nl_covington_parser or swap_parser.",
        )


def _labels(train: Split, dev: Split) -> Iterable[Finding]:
    labels = train.labels
    if not labels:
        return
    rare = {label: count for label, count in labels.items() if count < RARE}
    if rare:
        yield Finding(
            WARNING,
            "rare_labels",
            f"{counted(len(rare), 'label is', 'labels are')} rarer than {RARE}: {_listed(rare)}.",
        )
    if len(set(labels) - {ROOT_LABEL}) < 2:
        yield Finding(WARNING, "one_label", "There is one label only: there is none to choose.")
    unseen = {label: n for label, n in dev.labels.items() if label not in labels}
    if unseen:
        yield Finding(
            WARNING,
            "unseen_labels",
            f"{counted(len(unseen), 'label is', 'labels are')} in the development data only: "
            f"{_listed(unseen)}.",
        )
    if set(train.root_labels) - {ROOT_LABEL}:
        yield Finding(
            INFO,
            "root_labels",
            f"Roots have labels of their own, which the parser learns: "
            f"{_listed(train.root_labels)}.",
        )
    if train.misplaced_root:
        yield Finding(
            WARNING,
            "misplaced_root",
            f"ROOT with a head: {counted(train.misplaced_root, 'word')}. The parser gives ROOT to "
            f"roots alone.",
        )
    noted = [label for label in labels if DELIMITER in label]
    if noted:
        yield Finding(
            WARNING,
            "decorated_labels",
            f"The labels {', '.join(noted[:5])} hold {DELIMITER!r}, which notes lifted arcs.",
        )


def _sentences(train: Split, nlp: Language, parser: ParsingComponent) -> Iterable[Finding]:
    sizes = train.sentences_per_document
    if not sizes:
        return
    names = nlp.pipe_names
    before = {nlp.get_pipe_meta(one).factory for one in names[: names.index(parser.name)]}
    if set(sizes) == {1} and not {"senter", "sentencizer"} & before:
        yield Finding(
            WARNING,
            "one_sentence",
            "Every training document is one sentence: the parser will not learn sentence "
            "boundaries. Put several into a document (nmparse convert --n-sents 10 "
            "--with-single), or have a senter before the parser.",
        )
    elif 1 not in sizes and sum(sizes.values()) > 1:
        yield Finding(
            INFO,
            "no_single_sentence",
            "No training document is a single sentence: add some if the parser will meet such "
            "texts (nmparse convert --with-single).",
        )


def _listed(counts: Mapping[str, int], most: int = 8) -> str:
    items = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    text = ", ".join(f"{label} ({count})" for label, count in items[:most])
    return text + (f" and {len(items) - most} more" if len(items) > most else "")
