"""How well a tokenizer's tokens fit those of a treebank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from spacy_nmparse.ud.tokenization import Split, parts, places

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
        own, found = map(_split, (treebank, tokenizer))
        if "".join(own) != "".join(found):
            raise ValueError(
                f"The tokenizer changes the text that begins with {treebank.text[:40]!r}: tokens "
                f"must have the characters of the text."
            )
        self.treebank += len(own)
        self.tokenizer += len(found)
        self.common += len(places(own) & places(found))
        for one, other in zip(parts(own, found), parts(found, own), strict=True):
            if one != other:
                self.differences[" ".join(one), " ".join(other)] += 1

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


def _split(doc: Doc) -> Split:
    """The tokens without whitespace."""
    return tuple(filter(None, ("".join(token.text.split()) for token in doc)))
