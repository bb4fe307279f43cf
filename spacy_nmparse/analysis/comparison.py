"""Several parsers, each with several runs, on one treebank: scores, how sure the differences are,
and the trees that differ.

A run is a pipeline, which parses the gold sentences on gold tokens, or a CoNLL-U file that was
parsed already. All are scored by ``analysis.evaluate.score_parses``. A file may have other
words and sentences than the gold data, but not other letters.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_nmparse.analysis.evaluate import blank_copy, score_parses
from spacy_nmparse.analysis.significance import TESTED, Comparison, compare, holm
from spacy_nmparse.pipe.doc_io import gold_parse
from spacy_nmparse.ud.conllu import EMPTY, HEAD, ID, RANGE, Sentence, read_rows
from spacy_nmparse.ud.conllu_docs import Merges, sentences_to_doc
from spacy_nmparse.ud.join_docs import join_docs
from spacy_nmparse.ud.treebank import refuse_cycles

#: Heads (from 0; a root is its own, None is unknown) and labels of a gold sentence's words.
HeadsAndLabels = tuple[list[int | None], list[str | None]]


@dataclass(frozen=True)
class Run:
    """A run of a system.

    Attributes:
        name: The pipeline or file.
        result: What ``score_parses`` says.
        trees: The tree over the words of each gold sentence.
    """

    name: str
    result: Mapping[str, Any]
    trees: list[HeadsAndLabels]

    @property
    def scores(self) -> dict[str, float | None]:
        """The scores by name, between 0 and 1; None where there is nothing to score."""
        scores = self.result["scores"].items()
        return {name: value for name, value in scores if not isinstance(value, dict)}

    def n_changed(self, other: Run, metric: str) -> int:
        """The sentences in which another run has other heads or, for LAS, other labels."""
        heads_only = metric == "uas_all"
        pairs = zip(self.trees, other.trees, strict=True)
        return sum(one[0] != two[0] if heads_only else one != two for one, two in pairs)


@dataclass(frozen=True)
class Difference:
    """A system against a baseline in one metric.

    Attributes:
        n_changed: Sentences to which the first runs give other heads, or for LAS other labels.
        is_sure: It is beyond chance by Holm's correction over all differences that are compared.
    """

    system: str
    baseline: str
    metric: str
    found: Comparison
    n_changed: int
    is_sure: bool

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        names = {"system": self.system, "baseline": self.baseline, "metric": self.metric}
        told = {"n_changed": self.n_changed, "beyond_chance": self.is_sure}
        return {**names, **asdict(self.found), **told}


@dataclass
class Treebank:
    """The gold sentences of a CoNLL-U file.

    Args:
        path: The file.

    Attributes:
        merges: The pipelines' ways to merge multiword tokens: one that any of them keeps in one
            piece is one token for all.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is not CoNLL-U, has a cycle, or has no tree.
    """

    path: Path
    merges: list[Merges] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sentences = read_sentences(self.path)

    @property
    def has_multiword_tokens(self) -> bool:
        """Whether the pipelines' tokenizers matter."""
        return any(RANGE.fullmatch(row[ID]) for one in self.sentences for row in one.rows)

    def docs(self, sentences: Sequence[Sentence], vocab: Vocab, name: str) -> list[Doc]:
        """A document for each of some sentences; name: of their file, for messages."""

        def merge(form: str, words: Sequence[str]) -> bool:
            return any(merges(form, words) for merges in self.merges)

        return [sentences_to_doc([one], vocab, merge=merge, name=name) for one in sentences]

    def run_model(self, name: str, nlp: Language, sents: str = "none") -> Run:
        """Let a pipeline parse the gold tokens; sents: "gold" presets that each is one sentence.

        Raises:
            ValueError: If it makes no trees.
        """
        gold = self.docs(self.sentences, nlp.vocab, str(self.path))
        parsed = list(nlp.pipe(blank_copy(nlp, doc, "gold", sents) for doc in gold))
        if not any(doc.has_annotation("DEP") for doc in parsed):
            raise ValueError(f"{name} makes no trees: give a pipeline with a parser.")
        return _scored(name, parsed, gold)

    def run_file(self, path: Path) -> Run:
        """Read a parsed CoNLL-U file.

        Raises:
            OSError: If it cannot be read.
            ValueError: If it is not CoNLL-U, has no trees, or has other letters than the gold data.
        """
        vocab = Vocab()
        gold = self.docs(self.sentences, vocab, str(self.path))
        parsed = self.docs(read_sentences(path), vocab, str(path))
        pairs = list(_paired(parsed, gold, path, self.path))
        return _scored(str(path), [one for one, _ in pairs], [other for _, other in pairs])


def read_sentences(path: Path) -> list[Sentence]:
    """The sentences of a CoNLL-U file with trees. Errors are those of ``Treebank``."""
    sentences = []
    for sentence in read_rows(path):
        refuse_cycles(sentence, str(path))
        sentences.append(sentence)
    if not any(row[HEAD] != EMPTY for sentence in sentences for row in sentence.words):
        raise ValueError(f"{path} has no trees: parse it with python -m spacy nmparse parse.")
    return sentences


def _paired(parsed: list[Doc], gold: list[Doc], path: Path, of: Path) -> Iterator[tuple[Doc, Doc]]:
    """Parsed and gold documents with the same letters, each of as few sentences as can be."""
    left, right = iter(parsed), iter(gold)
    n_gold = 0
    while True:
        ours, theirs = [next(left, None)], [next(right, None)]
        if ours == theirs == [None]:
            return
        n_gold += 1
        while True:
            texts = ["".join("".join(d.text.split()) for d in docs if d) for docs in (ours, theirs)]
            if texts[0] == texts[1]:
                break
            short = ours if len(texts[0]) < len(texts[1]) else theirs
            more = next(left if short is ours else right, None)
            ends = texts[0].startswith(texts[1]) or texts[1].startswith(texts[0])
            if more is None or not ends:
                raise ValueError(
                    f"{path} has {texts[0][:40]!r} where {of} has {texts[1][:40]!r} (sentence "
                    f"{n_gold}): parse the same text, as by python -m spacy nmparse parse MODEL "
                    f"{of} -o OUTPUT.conllu."
                )
            short.append(more)
            n_gold += short is theirs
        yield join_docs([doc for doc in ours if doc]), join_docs([doc for doc in theirs if doc])


def _scored(name: str, parsed: list[Doc], gold: list[Doc]) -> Run:
    trees = [tree for pair in zip(parsed, gold, strict=True) for tree in _trees(*pair)]
    return Run(name, score_parses(parsed, gold), trees)


def _trees(parsed: Doc, gold: Doc) -> Iterator[HeadsAndLabels]:
    """A parse over the words of each gold sentence. Heads in another one are unknown."""
    heads, labels, _ = gold_parse(Example(gold, parsed))
    for sent in gold.sents:
        first, end = sent.start, sent.end
        yield (
            [None if h is None or not first <= h < end else h - first for h in heads[first:end]],
            labels[first:end],
        )


def gold_trees(treebank: Treebank) -> tuple[list[list[str]], list[HeadsAndLabels]]:
    """The words and the tree of each gold sentence."""
    docs = treebank.docs(treebank.sentences, Vocab(), str(treebank.path))
    words = [[token.text for token in doc] for doc in docs]
    return words, [tree for doc in docs for tree in _trees(doc, doc)]


def differences(systems: Mapping[str, Sequence[Run]], baseline: str | None) -> list[Difference]:
    """Compare systems by their runs: each with each, or with one of them, in all of TESTED.

    Raises:
        ValueError: If runs have other words than others.
    """
    pairs = [
        (other, one)
        for one, other in combinations(systems, 2)
        if baseline is None or baseline in (one, other)
    ]
    pairs = [(b, a) if a == baseline else (a, b) for a, b in pairs]
    keys = [(*pair, metric) for pair in pairs for metric in TESTED]
    results = {name: [run.result for run in runs] for name, runs in systems.items()}
    first = {name: runs[0] for name, runs in systems.items()}
    found = [compare(results[one], results[other], metric) for one, other, metric in keys]
    sure = holm([one.p_bootstrap for one in found])
    return [
        Difference(one, other, metric, how, first[one].n_changed(first[other], metric), yes)
        for (one, other, metric), how, yes in zip(keys, found, sure, strict=True)
    ]


def as_dict(
    treebank: Treebank, systems: Mapping[str, Sequence[Run]], found: Sequence[Difference]
) -> dict[str, Any]:
    """All figures, for JSON."""
    first = next(iter(systems.values()))[0].result
    told: dict[str, Any] = {"gold": str(treebank.path)}
    told |= {key: first[key] for key in ("n_sentences", "n_words")}
    told["systems"] = {name: _summary(runs) for name, runs in systems.items()}
    told["differences"] = [one.as_dict() for one in found]
    return told


def _summary(runs: Sequence[Run]) -> dict[str, Any]:
    """Mean and standard deviation of each score, and the scores of each run."""
    values: dict[str, list[float]] = {
        name: [value for run in runs if (value := run.scores[name]) is not None]
        for name in runs[0].scores
    }
    return {
        "mean": {name: statistics.fmean(own) if own else None for name, own in values.items()},
        "deviation": {
            name: statistics.stdev(own) if len(own) > 1 else None for name, own in values.items()
        },
        "runs": [{"run": run.name, "scores": run.scores} for run in runs],
    }
