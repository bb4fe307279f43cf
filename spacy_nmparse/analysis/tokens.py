"""How well a tokenizer's tokens fit those of a treebank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

SHOWN = 100  # differences for programs


@dataclass
class TokenMatch:
    """Counts of tokens, whitespace left out: of the treebank, of the tokenizer, and common ones.

    ``differences`` counts the strings that are split otherwise: the treebank's tokens and the
    tokenizer's, each joined by spaces.
    """

    treebank: int = 0
    tokenizer: int = 0
    common: int = 0
    differences: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def f1(self) -> float | None:
        """F1 of tokens; None where there are none."""
        total = self.treebank + self.tokenizer
        return 2 * self.common / total if total else None

    def add(self, treebank: Doc, tokenizer: Doc) -> None:
        """Count a text.

        Args:
            treebank: The text with the treebank's tokens.
            tokenizer: The same text with the tokenizer's.

        Raises:
            ValueError: The texts differ in more than whitespace.
        """
        text, gold = _letters(treebank)
        other, found = _letters(tokenizer)
        if text != other:
            raise ValueError(
                f"The tokenizer changes the text that begins with {treebank.text[:40]!r}: tokens "
                f"must have the characters of the text."
            )
        common = set(gold) & set(found)
        self.treebank += len(gold)
        self.tokenizer += len(found)
        self.common += len(common)
        if len(common) == len(gold) == len(found):
            return
        # A string that is split otherwise reaches from one common start of tokens to the next.
        starts = sorted({start for start, _ in gold} & {start for start, _ in found})
        ends = [*starts[1:], len(text)]
        left, right = iter(gold), iter(found)
        for end in ends:
            own, others = (_until(end, places, text) for places in (left, right))
            if own != others:
                self.differences[" ".join(own), " ".join(others)] += 1

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the counts, F1, and the most frequent differences."""
        result = {name: value for name, value in self.__dict__.items() if name != "differences"}
        result["f1"] = self.f1
        result["differences"] = [
            {"treebank": own, "tokenizer": other, "count": count}
            for (own, other), count in self.differences.most_common(SHOWN)
        ]
        return result


def match_tokens(nlp: Language, docs: Iterable[Doc]) -> TokenMatch:
    """Compare a tokenizer's tokens with a treebank's.

    Args:
        nlp: The pipeline of the tokenizer.
        docs: The treebank's documents.

    Returns:
        The counts.
    """
    match = TokenMatch()
    for doc in docs:
        match.add(doc, nlp.make_doc(doc.text))
    return match


def _letters(doc: Doc) -> tuple[str, list[tuple[int, int]]]:
    """The characters without whitespace, and the place of each token in them."""
    texts, places = [], []
    end = 0
    for token in doc:
        text = "".join(token.text.split())
        if text:
            texts.append(text)
            places.append((end, end + len(text)))
            end += len(text)
    return "".join(texts), places


def _until(end: int, places: Any, text: str) -> list[str]:
    pieces = []
    for start, stop in places:
        pieces.append(text[start:stop])
        if stop >= end:
            break
    return pieces
