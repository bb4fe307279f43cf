"""Scores of dependency parses: spaCy's own, those of the CoNLL 2018 evaluation, and a few more.

| key | meaning |
| --- | --- |
| `dep_uas`, `dep_las`, `dep_las_per_type` | as spaCy's: F1, punctuation (`p`, `punct`) ignored, labels lower-cased, all roots ROOT, whitespace tokens skipped |
| `sents_p`, `sents_r`, `sents_f` | as spaCy's |
| `dep_uas_conll`, `dep_las_conll` | as the CoNLL 2018 evaluation: F1 over all words, punctuation too, without subtypes (`acl:relcl` counts as `acl`) |
| `dep_clas` | CoNLL 2018's CLAS: the labelled F1 of words with a content relation |
| `dep_exact` | share of gold sentences with every word, head and whole label right |
| `nonproj_p`, `nonproj_r`, `nonproj_f` | non-projective arcs, see below |

Where there is nothing to score, the value is None.

Without `punctuation`, the scores below spaCy's in this table leave out words whose gold part of
speech is PUNCT, as many papers do.

Words without gold annotation count neither as hits nor as misses. (spaCy's scorer remembers the
positions of such words from one document to the next, so that its scores depend on the order of
the documents. On fully annotated documents the two agree.)

CoNLL scores match words by their place in the text, whitespace left out; the case of labels counts.
`dep_clas` counts the relations that CoNLL 2018 lists; on a treebank with other labels than those of
Universal Dependencies it says little.

An arc is non-projective if some word between its ends is not below its head. Labels do not count
here. Precision: of the predicted arcs that are non-projective in the predicted tree, the share that
are in the gold tree. Recall: of the arcs that are non-projective in the gold tree, the share that
were predicted.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.attrs import DEP, HEAD
from spacy.scorer import PRFScore, Scorer
from spacy.symbols import PUNCT
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.pipe.roots import root_label
from spacy_nmparse.systems.projective import crossing_arcs

#: The relations that the CLAS of the CoNLL 2018 evaluation counts.
CONTENT_RELATIONS = frozenset(
    (
        *("nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl"),
        *("dislocated", "advcl", "advmod", "discourse", "nmod", "appos", "nummod", "acl", "amod"),
        *("conj", "fixed", "flat", "compound", "list", "parataxis", "orphan", "goeswith"),
        *("reparandum", "root", "dep"),
    )
)

#: The last bin of a length has no end.
BINS = (1, 2, 3, 6, 11, 21, 41)
#: The labels that spaCy's scores leave out.
PUNCTUATION = frozenset(("p", "punct"))

ROOT = "root"
_UNKNOWN = -1  # a head that is not annotated
_UNALIGNED = -2  # a head without counterpart on the other side


@dataclass(frozen=True)
class SentenceCounts:
    """Counts of right words, of one gold sentence or of several.

    Attributes:
        words: Words with gold annotation, whitespace tokens left out.
        heads: How many of them got the right head.
        labelled: How many got the right head and the right whole label.
    """

    words: int
    heads: int
    labelled: int


class _Side:
    """The words of one Doc: heads (own index = root), labels (of roots the treebank's), those that
    the Doc has, and places in the text."""

    def __init__(self, doc: Doc) -> None:
        values = doc.to_array([HEAD, DEP])
        deps = values[:, 1].tolist()
        offsets = values[:, 0].astype(np.int64).tolist()
        strings = doc.vocab.strings
        names = {dep: strings[dep] if dep else "" for dep in set(deps)}
        self.deps: list[str] = [names[dep] for dep in deps]
        self.labels = list(self.deps)
        self.heads: list[int] = [
            i + offsets[i] if deps[i] else _UNKNOWN for i in range(len(offsets))
        ]
        for i, head in enumerate(self.heads):
            if head == i:
                label = root_label(doc[i])
                self.labels[i] = ROOT if label.lower() == ROOT else label
        #: First and last character of each word, counted without whitespace; None: all whitespace.
        self.places: list[tuple[int, int] | None] = []
        end = 0
        for token in doc:
            text = token.orth_
            length = len(text) if text.isalnum() else len("".join(text.split()))
            self.places.append((end, end + length) if length else None)
            end += length
        self.n_characters = end

    def non_projective(self) -> list[int]:
        """The dependents of the arcs that are non-projective (as far as the heads are known)."""
        heads = [head if head >= 0 else None for head in self.heads]
        return crossing_arcs(heads, [place is not None for place in self.places])


class _Pair:
    """A gold and a predicted Doc with their words matched by place in the text."""

    def __init__(self, example: Example, punctuation: bool) -> None:
        #: The gold words that are left out.
        self.left_out = {
            token.i for token in example.reference if not punctuation and token.pos == PUNCT
        }
        self.gold = _Side(example.reference)
        self.pred = _Side(example.predicted)
        gold, pred = self.gold, self.pred
        if gold.places == pred.places:
            self.to_gold = [i if place else _UNALIGNED for i, place in enumerate(gold.places)]
        else:
            at = {place: i for i, place in enumerate(gold.places) if place}
            self.to_gold = [
                at.get(place, _UNALIGNED) if place else _UNALIGNED for place in pred.places
            ]
        #: For each gold word the predicted word in the same place.
        self.to_pred = [_UNALIGNED] * len(gold.heads)
        for i, j in enumerate(self.to_gold):
            if j >= 0:
                self.to_pred[j] = i

    def scored_gold(self) -> list[int]:
        """The gold words that have a known head, are not whitespace and not left out."""
        gold = self.gold
        return [
            i
            for i, head in enumerate(gold.heads)
            if head >= 0 and gold.places[i] is not None and i not in self.left_out
        ]

    def scored_pred(self) -> list[int]:
        """The predicted words that are not whitespace, and over no word of unknown head or that is
        left out."""
        gold, pred = self.gold, self.pred
        unknown = [
            gold.places[i]
            for i, head in enumerate(gold.heads)
            if (head < 0 or i in self.left_out) and gold.places[i]
        ]
        if not unknown:
            return [i for i, place in enumerate(pred.places) if place]
        free = np.ones(max(gold.n_characters, pred.n_characters), dtype=bool)
        for place in unknown:
            assert place is not None
            free[place[0] : place[1]] = False
        return [
            i for i, place in enumerate(pred.places) if place and free[place[0] : place[1]].all()
        ]

    def head_is_right(self, word: int) -> bool:
        """Whether the head of a gold word was predicted."""
        guess = self.to_pred[word]
        if guess < 0:
            return False
        head = self.pred.heads[guess]
        return head >= 0 and self.to_gold[head] == self.gold.heads[word]

    def label_is_right(self, word: int) -> bool:
        """Whether the whole label of a gold word was predicted."""
        guess = self.to_pred[word]
        return guess >= 0 and self.pred.labels[guess] == self.gold.labels[word]


def _sentence_counts(pair: _Pair, doc: Doc) -> list[SentenceCounts]:
    known = set(pair.scored_gold())
    counts = []
    for sent in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
        words = [i for i in range(sent.start, sent.end) if i in known]
        if words:
            right = [i for i in words if pair.head_is_right(i)]
            labelled = sum(1 for i in right if pair.label_is_right(i))
            counts.append(SentenceCounts(len(words), len(right), labelled))
    return counts


def sentence_counts(example: Example, punctuation: bool = True) -> list[SentenceCounts]:
    """Count what is right in each gold sentence, with whole labels.

    Args:
        example: A gold and a predicted Doc.
        punctuation: Whether words whose gold part of speech is PUNCT count.

    Returns:
        The counts of each gold sentence that has an annotated word that counts.
    """
    return _sentence_counts(_Pair(example, punctuation), example.reference)


def bin_name(length: int) -> str:
    """The bin of a length, as "3-5"."""
    place = sum(length >= first for first in BINS)
    if place == len(BINS):
        return f"{BINS[-1]}+"
    first, last = BINS[place - 1], BINS[place] - 1
    return str(first) if first == last else f"{first}-{last}"


def bin_names() -> list[str]:
    """All bins of lengths, in order."""
    return [bin_name(first) for first in BINS]


@dataclass
class _F1:
    gold: int = 0
    pred: int = 0
    right: int = 0

    @property
    def value(self) -> float | None:
        if not self.gold:
            return None
        return 2 * self.right / (self.gold + self.pred)


@dataclass
class _Share:
    """How many of some arcs are right."""

    n: int = 0
    right: int = 0

    def add(self, are_right: list[bool]) -> None:
        self.n += len(are_right)
        self.right += sum(are_right)

    @property
    def value(self) -> float | None:
        return self.right / self.n if self.n else None


def _harmonic(precision: _Share, recall: _Share) -> float | None:
    one, other = precision.value, recall.value
    if one is None or other is None:
        return 0.0 if recall.n and not precision.n else None
    return 2 * one * other / (one + other) if one + other else 0.0


def _relation(label: str) -> str:
    return label.partition(":")[0]


def score_dependencies(
    examples: Iterable[Example], *, punctuation: bool = True, **kwargs: Any
) -> dict[str, Any]:
    """Score dependency parses; the module's docstring lists the scores.

    Args:
        examples: Gold and predicted Docs.
        punctuation: Whether punctuation counts.
        kwargs: Ignored (spaCy passes the settings of the component that is scored).

    Returns:
        The scores, between 0 and 1, by name; None where there is nothing to score.
    """
    examples = list(examples)
    conll_uas, conll_las, clas = _F1(), _F1(), _F1()
    recall, precision = _Share(), _Share()  # of crossing arcs
    n_sents = n_exact = 0
    for example in examples:
        pair = _Pair(example, punctuation)
        gold, pred = pair.gold, pair.pred
        scored = pair.scored_gold()
        guesses = pair.scored_pred()
        if not scored:
            continue
        relations = {i: _relation(gold.labels[i]) for i in scored}
        content = [i for i in scored if relations[i] in CONTENT_RELATIONS]
        right = {i for i in scored if pair.head_is_right(i)}
        labelled = {i for i in right if _relation(pred.labels[pair.to_pred[i]]) == relations[i]}
        for score, hits in ((conll_uas, len(right)), (conll_las, len(labelled))):
            score.gold += len(scored)
            score.pred += len(guesses)
            score.right += hits
        clas.gold += len(content)
        clas.pred += sum(1 for i in guesses if _relation(pred.labels[i]) in CONTENT_RELATIONS)
        clas.right += sum(1 for i in content if i in labelled)

        known = set(scored)
        recall.add([i in right for i in gold.non_projective() if i in known])
        counted = set(guesses)
        crossing = [i for i in pred.non_projective() if i in counted]
        precision.add([pair.to_gold[i] in right for i in crossing])

        for count in _sentence_counts(pair, example.reference):
            n_sents += 1
            n_exact += count.labelled == count.words

    spans = Scorer.score_spans(
        examples, "sents", has_annotation=lambda doc: doc.has_annotation("SENT_START")
    )
    return {
        **{key: spans[key] for key in ("sents_p", "sents_r", "sents_f")},
        **_spacy_dependency_scores(examples),
        "dep_uas_conll": conll_uas.value,
        "dep_las_conll": conll_las.value,
        "dep_clas": clas.value,
        "dep_exact": n_exact / n_sents if n_sents else None,
        "nonproj_p": precision.value,
        "nonproj_r": recall.value,
        "nonproj_f": _harmonic(precision, recall),
    }


def _spacy_dependency_scores(examples: list[Example]) -> dict[str, Any]:
    """spaCy's scores, with its own alignment, but gold gaps kept to the document they are in."""
    unlabelled, labelled = PRFScore(), PRFScore()
    per_type: dict[str, PRFScore] = {}
    for example in examples:
        gold, pred = _Side(example.reference), _Side(example.predicted)
        for tree in (gold, pred):
            tree.labels = [label.lower() for label in tree.deps]
        alignment = example.alignment.x2y
        lengths = alignment.lengths.tolist()
        targets = alignment.data.tolist()
        firsts = np.concatenate(([0], np.cumsum(alignment.lengths)))[:-1].tolist()
        missing = {i for i, label in enumerate(gold.labels) if not label}
        gold_arcs = {
            (i, head, label)
            for i, (head, label) in enumerate(zip(gold.heads, gold.labels, strict=True))
            if label and label not in PUNCTUATION
        }
        pred_arcs = set()
        for i, (head, label) in enumerate(zip(pred.heads, pred.labels, strict=True)):
            if pred.places[i] is None or label in PUNCTUATION:
                continue
            covered = targets[firsts[i] : firsts[i] + lengths[i]]
            if covered and missing.issuperset(covered):
                continue
            above = head if head >= 0 else i
            if lengths[i] != 1 or lengths[above] != 1:
                unlabelled.fp += 1
                labelled.fp += 1
            else:
                pred_arcs.add((covered[0], targets[firsts[above]], label))
        labelled.score_set(pred_arcs, gold_arcs)
        unlabelled.score_set({arc[:2] for arc in pred_arcs}, {arc[:2] for arc in gold_arcs})
        for arcs, side in ((gold_arcs - pred_arcs, "fn"), (pred_arcs - gold_arcs, "fp")):
            for arc in arcs:
                score = per_type.setdefault(arc[2], PRFScore())
                setattr(score, side, getattr(score, side) + 1)
        for arc in gold_arcs & pred_arcs:
            per_type.setdefault(arc[2], PRFScore()).tp += 1
    if not len(unlabelled):
        return {"dep_uas": None, "dep_las": None, "dep_las_per_type": None}
    return {
        "dep_uas": unlabelled.fscore,
        "dep_las": labelled.fscore,
        "dep_las_per_type": {label: score.to_dict() for label, score in per_type.items()},
    }
