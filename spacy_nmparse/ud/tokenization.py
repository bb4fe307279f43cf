"""Tokenization that fits a treebank: rules and special cases of spaCy's tokenizer, learned.

Text between spaces that the treebank splits otherwise than the tokenizer teaches three things, each
kept only if more tokens of the training data come out right: rules of the language to do without,
new rules for signs that are split off, and special cases of whole strings. What the tokenizer has
learned is saved with the pipeline: it is spaCy's, with other rules.
"""

# No postponed annotations: spaCy validates configs by the callback's signature.

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex, logger

from spacy_nmparse.ud.readers import Corpus

Split = tuple[str, ...]

#: Kinds of rules, and how spaCy compiles them.
KINDS: dict[str, tuple[str, Callable[..., Any]]] = {
    "prefixes": ("prefix_search", compile_prefix_regex),
    "suffixes": ("suffix_search", compile_suffix_regex),
    "infixes": ("infix_finditer", compile_infix_regex),
}
APOSTROPHES, LETTER, ALNUM = "'’", "[^\\W\\d_]", "[^\\W_]"
#: Strings, counted once, that must come out better than before, for a rule to be kept.
LEAST_GAIN = 3
#: New prefixes that are kept even if the training data never show them, unless these speak against
#: one: the dash of direct speech.
LIKELY = [f"-(?={LETTER})"]
#: New rules of each kind that are tried, the most frequent ones.
TRIED = 30


@dataclass
class Chunks:
    """Strings between spaces, how often there are, and how they are split.

    Attributes:
        counts: Of each string, how often it is split how.
    """

    counts: dict[str, Counter[Split]] = field(default_factory=dict)

    @classmethod
    def of(cls, docs: Iterable[Doc]) -> "Chunks":
        """The strings of documents. Tokens with spaces in them are left out."""
        chunks = cls()
        for doc in docs:
            words: list[str] = []
            for token in doc:
                if not token.is_space:
                    words.append(token.text)
                if token.is_space or token.whitespace_ or token.i + 1 == len(doc):
                    if words and all(word.split() == [word] for word in words):
                        text = "".join(words)
                        chunks.counts.setdefault(text, Counter())[tuple(words)] += 1
                    words = []
        return chunks

    def wrong(self, text: str, tokenizer: Tokenizer) -> int:
        """How many tokens of a string are wrong or missing, wherever it stands."""
        found = places([token.text for token in tokenizer(text)])
        return sum(count * len(places(split) ^ found) for split, count in self.counts[text].items())

    def f1(self, tokenizer: Tokenizer) -> float:
        """F1 of a tokenizer's tokens."""
        right = wrong = 0
        for text, splits in self.counts.items():
            found = places([token.text for token in tokenizer(text)])
            for split, count in splits.items():
                gold = places(split)
                right += count * len(gold & found)
                wrong += count * len(gold ^ found)
        return 2 * right / max(1, 2 * right + wrong)

    def differing(self, tokenizer: Tokenizer) -> Iterator[tuple[str, Split, Split, int]]:
        """Strings whose most frequent split is not the tokenizer's: both splits, and its count."""
        for text, splits in self.counts.items():
            split, count = splits.most_common(1)[0]
            found = tuple(token.text for token in tokenizer(text))
            if found != split:
                yield text, split, found, count


@dataclass
class Fitted:
    """The rules and cases that were learned.

    Attributes:
        removed: Rules of the language that were left out, of each kind.
        added: New rules, of each kind.
        special: Special cases.
        before: F1 of tokens on the documents.
        after: The same, with what was learned.
    """

    removed: dict[str, list[str]]
    added: dict[str, list[str]]
    special: int
    before: float
    after: float


def fit(nlp: Language, docs: Iterable[Doc]) -> Fitted | None:
    """Fit the tokenizer of a pipeline to documents.

    Args:
        nlp: The pipeline; its tokenizer is changed.
        docs: Documents with the right tokens.

    Returns:
        What was learned; None, with a warning: the tokenizer is not spaCy's own.
    """
    tokenizer = nlp.tokenizer
    if type(tokenizer) is not Tokenizer:
        warnings.warn(
            f"The tokenizer of {nlp.lang!r} is {type(tokenizer).__name__}, which has no rules to "
            f"learn: it does not change.",
            stacklevel=2,
        )
        return None
    everything = Chunks.of(docs)
    # Letters alone are split by special cases only, so rules need not be tried on them.
    signs = Chunks({text: s for text, s in everything.counts.items() if not text.isalpha()})
    before = everything.f1(tokenizer)
    rules = _Rules(nlp, tokenizer, signs)
    removed = _remove(rules)
    added = _add(rules)
    added["suffixes"] += _keep_periods(rules)
    rules.give(tokenizer)
    special = _add_special_cases(tokenizer, everything)
    return Fitted(removed, added, special, before, everything.f1(tokenizer))


class _Rules:
    """The rules of a tokenizer, and how well they do. They are tried on a copy of it without the
    special cases that are nowhere in the strings."""

    def __init__(self, nlp: Language, tokenizer: Tokenizer, chunks: Chunks) -> None:
        self._chunks = chunks
        self._tokenizer = Tokenizer(
            nlp.vocab,
            rules=_present(tokenizer.rules, chunks),
            token_match=tokenizer.token_match,
            url_match=tokenizer.url_match,
            faster_heuristics=tokenizer.faster_heuristics,
            max_cache_size=tokenizer.max_cache_size,
            **{attribute: getattr(tokenizer, attribute) for attribute, _ in KINDS.values()},
        )
        self._wrong = {text: chunks.wrong(text, self._tokenizer) for text in chunks.counts}
        self.rules = {kind: list(getattr(nlp.Defaults, kind) or ()) for kind in KINDS}
        self._tried: tuple[str, Any] | None = None

    def differing(self) -> list[tuple[str, Split, Split, int]]:
        """As of ``Chunks``."""
        self._go_back()
        return list(self._chunks.differing(self._tokenizer))

    def improves(self, kind: str, rules: list[str], changed: str, least: int = LEAST_GAIN) -> bool:
        """Try other rules, of which one is new or has gone. They stay if strings come out better,
        ``least`` more than come out worse; 0: if they do no harm."""
        pattern = re.compile(changed)
        affected = [text for text in self._wrong if pattern.search(text)]
        self._try(kind, rules)
        wrong = {text: self._chunks.wrong(text, self._tokenizer) for text in affected}
        gains = [self._wrong[text] - wrong[text] for text in affected]
        kept = sum(map(_sign, gains)) >= least and sum(gains) >= min(least, 1)
        if kept:
            self.rules[kind] = rules
            self._wrong.update(wrong)
            self._tried = None
        return kept

    def give(self, tokenizer: Tokenizer) -> None:
        """Let a tokenizer have the rules."""
        self._go_back()
        for attribute, _ in KINDS.values():
            found = getattr(self._tokenizer, attribute)
            if found is not getattr(tokenizer, attribute):
                setattr(tokenizer, attribute, found)

    def _try(self, kind: str, rules: list[str]) -> None:
        attribute, compiled = KINDS[kind]
        if self._tried and self._tried[0] != attribute:
            self._go_back()
        if not self._tried:
            self._tried = attribute, getattr(self._tokenizer, attribute)
        made = compiled(rules)
        search = made.finditer if kind == "infixes" else made.search
        setattr(self._tokenizer, attribute, search if rules else None)

    def _go_back(self) -> None:
        """Undo what was tried and not kept. It is left until then: spaCy makes all special cases
        anew for each change of a rule."""
        if self._tried:
            setattr(self._tokenizer, *self._tried)
            self._tried = None


def _present(rules: dict[str, Any], chunks: Chunks) -> dict[str, Any]:
    """The special cases that are somewhere in strings; spaces count nowhere."""
    texts = "\n".join(chunks.counts)
    return {case: split for case, split in rules.items() if "".join(case.split()) in texts}


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _remove(rules: _Rules) -> dict[str, list[str]]:
    """Leave out rules that do more harm than good; only those that split a string wrongly can."""
    removed: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for kind, gone in removed.items():
        differing = rules.differing()
        for rule in list(rules.rules[kind]):
            others = [other for other in rules.rules[kind] if other != rule]
            if _matches(rule, differing) and rules.improves(kind, others, rule):
                gone.append(rule)
    return removed


def _matches(rule: str, differing: Iterable[tuple[str, Split, Split, int]]) -> bool:
    """Whether a rule finds something in strings that are split too often."""
    pattern = re.compile(rule)
    return any(pattern.search(text) for text, gold, found, _ in differing if len(found) > len(gold))


def _add(rules: _Rules) -> dict[str, list[str]]:
    """Add rules for signs that the data splits off."""
    added: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for rule in LIKELY:
        if rules.improves("prefixes", [rule, *rules.rules["prefixes"]], rule, least=0):
            added["prefixes"].append(rule)
    for kind, new in added.items():
        counts = _candidates(kind, rules.differing())
        for (rule, sign), _ in counts.most_common(TRIED):
            own = rules.rules[kind]
            # Other rules would split off the sign.
            rivals = [other for other in own if sign and re.search(other, f"a{sign}a")]
            for gone in ([], rivals) if rivals else ([],):
                kept = [other for other in own if other not in gone]
                if rules.improves(kind, [rule, *kept], "|".join([rule, *gone])):
                    new.append(rule)
                    break
    return added


def _keep_periods(rules: _Rules) -> list[str]:
    """Let the rules that split off a period want so many letters before it that they spare initials
    and other short words, as the data do. Returns the conditions that the rules then begin with."""
    kept = []
    for n in range(2, 6):
        enough = f"(?<=[^\\s.]{{{n}}})"
        texts = [text for text, gold, found, _ in rules.differing() if _keeps_period(gold, found)]
        own = rules.rules["suffixes"]
        changed = [
            enough + rule if any(re.search(f"(?:{rule})$", text) for text in texts) else rule
            for rule in own
        ]
        if changed != own and rules.improves("suffixes", changed, "\\."):
            kept.append(enough)
    return kept


def _keeps_period(gold: Split, found: Split) -> bool:
    return found[-1] == "." != gold[-1] and gold[-1].endswith(".")


def _candidates(
    kind: str, differing: Iterable[tuple[str, Split, Split, int]]
) -> Counter[tuple[str, str]]:
    """Rules that would split strings as the data does, with the sign that stays with a word there,
    if one does; and in how many strings."""
    counts: Counter[tuple[str, str]] = Counter()
    for _, gold, found, _ in differing:
        first, last = re.escape(gold[0]), re.escape(gold[-1])
        if len(gold) < 2:
            continue
        if kind == "prefixes" and gold[0] != found[0] and _are_signs(gold[0]):
            counts[first, ""] += 1
        elif kind == "suffixes" and gold[-1] != found[-1]:
            if _are_signs(gold[-1]):
                counts[last, ""] += 1
            elif gold[-1][0] in APOSTROPHES:
                counts[f"(?<={LETTER}){last}", ""] += 1
        elif kind == "infixes":
            for piece in filter(_are_signs, gold[1:-1]):
                sign = re.escape(piece)
                counts[sign, ""] += 1
                counts[f"(?<={LETTER}){sign}(?={LETTER})", ""] += 1
                counts[f"(?<=\\d){sign}(?=\\d)", ""] += 1
            for one, other in pairwise(gold):  # il-|baħar, a|-t|-il
                before, after = one[-1], other[0]
                if one[-2:-1].isalpha() and not before.isalnum() and after.isalnum():
                    counts[f"(?<={LETTER}{re.escape(before)})(?={ALNUM})", before] += 1
                elif before.isalpha() and not after.isalnum() and other[1:2].isalpha():
                    counts[f"(?<={LETTER})(?={re.escape(after)}{LETTER})", after] += 1
    return counts


def _are_signs(text: str) -> bool:
    return not any(sign.isalnum() for sign in text)


def _add_special_cases(tokenizer: Tokenizer, chunks: Chunks) -> int:
    """Special cases for strings that the data mostly splits otherwise."""
    wanted: dict[str, Counter[Split]] = {}
    for text, splits in chunks.counts.items():
        found = tuple(token.text for token in tokenizer(text))
        for gold, count in splits.items():
            for own in parts(gold, found):
                wanted.setdefault("".join(own), Counter())[own] += count
    added = 0
    for text, counts in wanted.items():
        # Where the string stands alone, what it is there counts too.
        splits = counts + chunks.counts.get(text, Counter())
        split, count = splits.most_common(1)[0]
        found = tuple(token.text for token in tokenizer(text))
        if 2 * count > splits.total() and found != split:
            tokenizer.add_special_case(text, [{"ORTH": piece} for piece in split])
            added += 1
    return added


def parts(gold: Split, found: Split) -> Iterator[Split]:
    """The strings between common boundaries of two splits, as the first splits them."""
    ends = {end for _, end in places(gold)} & {end for _, end in places(found)}
    part: list[str] = []
    place = 0
    for piece in gold:
        part.append(piece)
        place += len(piece)
        if place in ends:
            yield tuple(part)
            part = []


def places(split: Iterable[str]) -> set[tuple[int, int]]:
    """Where the pieces of a string begin and end."""
    found = set()
    start = 0
    for piece in split:
        found.add((start, start + len(piece)))
        start += len(piece)
    return found


def FitTokenizer(
    corpus: str | Path | list[Path] | dict[str, Path | list[Path]] | None,
) -> Callable[[Language], Language]:
    """For ``initialize.before_init``: the tokenizer learns to split words as the training data
    does, and the log says what it has learned. Of several treebanks it learns from the first.

    Args:
        corpus: the training data, as of ``spacy_nmparse.Corpus.v1``; null: nothing is learned.
    """

    def learn(nlp: Language) -> Language:
        first = next(iter(corpus.values()), None) if isinstance(corpus, dict) else corpus
        fitted = None if first is None else fit(nlp, Corpus(first).docs(nlp))
        if fitted is None:
            return nlp
        changes = {kind: (len(fitted.removed[kind]), len(fitted.added[kind])) for kind in KINDS}
        logger.info(
            "Tokenizer fitted: F1 of tokens on the training data %.2f, before %.2f; rules removed "
            "and added: %s; special cases: %d",
            100 * fitted.after,
            100 * fitted.before,
            ", ".join(f"{kind} -{out} +{new}" for kind, (out, new) in changes.items()),
            fitted.special,
        )
        return nlp

    return learn
