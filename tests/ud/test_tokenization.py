"""Tokenizers that learn to split words as a treebank does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_nmparse.ud.tokenization import FitTokenizer, fit


def fitted(nlp: Language, data: list[Doc]) -> Any:
    found = fit(nlp, data)
    assert found is not None
    return found


def docs(*texts: str) -> list[Doc]:
    """Documents of text whose words are parted by spaces; those behind ~ follow without a space."""
    found = []
    for text in texts:
        pieces = text.replace("~", " ~").split()
        words = [piece.lstrip("~") for piece in pieces]
        spaces = [not piece.startswith("~") for piece in [*pieces[1:], "end"]]
        found.append(Doc(Vocab(), words=words, spaces=spaces))
    return found


def split(nlp: Language, text: str) -> list[str]:
    return [token.text for token in nlp.make_doc(text)]


DATA = docs(
    *["a well-known b", "an all-round c", "a long-term d", "one off-hand e"],
    *["``~word~'' x", "``~more~'' x", "``~words~'' x", "``~new~'' x"],
    *["5~€ x", "17~€ x", "3~€ x"],
    *["alot of x", "a~lot of x", "a~lot of y", "a~lot x"],
)


def test_rules_and_special_cases() -> None:
    nlp = spacy.blank("en")
    assert split(nlp, "well-known") == ["well", "-", "known"]
    found = fitted(nlp, DATA)
    assert found.before < 0.7 and found.after > 0.95
    assert found.removed["infixes"], "the rule of hyphens"
    assert "``" in split(nlp, "``unseen''") and "''" in split(nlp, "``unseen''")
    assert split(nlp, "old-fashioned 8€ alot.") == ["old-fashioned", "8", "€", "a", "lot", "."]
    assert split(nlp, "don't (now)") == ["do", "n't", "(", "now", ")"]


def test_rules_of_each_kind() -> None:
    """Signs before, after and within words; and what follows an apostrophe."""
    words = ("go", "come", "see", "ask")
    data = docs(
        *(f"⇒~{word} x" for word in words),
        *(f"{word}~† x" for word in words),
        *(f"{word}~÷~{word} x" for word in words),
        *(f"{name}~'ta x" for name in ("Ankara", "Bursa", "Van", "Sivas")),
    )
    nlp = spacy.blank("en")
    assert split(nlp, "⇒do do† do÷do Izmir'ta") == ["⇒do", "do†", "do÷do", "Izmir'ta"]
    assert all(fitted(nlp, data).added.values())
    assert split(nlp, "⇒do do† do÷do") == ["⇒", "do", "do", "†", "do", "÷", "do"]
    assert split(nlp, "Izmir'ta") == ["Izmir", "'ta"]


def test_a_sign_that_stays_with_its_word() -> None:
    """Maltese *il-ktieb*, also before digits; French *a-t-il*."""
    nlp = spacy.blank("xx")
    words = ("baħar", "kelb", "palk", "1998")
    learned = fitted(nlp, docs(*(f"il-~{word} x" for word in words), *(f"a-~{w}" for w in words)))
    assert learned.after == 1 and split(nlp, "fil-ktieb tal-2004") == [
        "fil-",
        "ktieb",
        "tal-",
        "2004",
    ]
    nlp = spacy.blank("xx")
    assert fitted(nlp, docs(*(f"{word}~-t~-il x" for word in ("a", "va", "ira", "dit")))).after == 1
    assert split(nlp, "sera-t-elle") == ["sera", "-t", "-elle"]


def test_initials_keep_their_period() -> None:
    """In scripts without capitals, which spaCy's rules need to know them."""
    nlp = spacy.blank("ta")
    fitted(nlp, docs("கி. a", "ரூ. b", "பழ. c", "எல். d", "வந்தார்~. e", "என்றார்~.", "செய்தி~."))
    assert split(nlp, "டி. கே. போனார்.") == ["டி.", "கே.", "போனார்", "."]
    english = spacy.blank("en")
    fitted(english, docs("ab. x", "cd. x", "ef. x", "gh~.", "ij~.", "kl~.", "word~."))
    assert split(english, "He left at ab.") == ["He", "left", "at", "ab."], "seen"
    assert split(english, "Look at it.") == ["Look", "at", "it", "."], "the data have both"


def test_what_teaches_nothing() -> None:
    """What is rare, ambiguous or fits (also -x of direct speech), spaces, other tokenizers."""
    nlp = spacy.blank("en")
    found = fitted(nlp, docs("a well-known -b", "it's x", "it~'s x", "it~'s y", "`` x"))
    assert not any(found.removed.values()) and not any(found.added.values())
    assert split(nlp, "it's old-fashioned") == ["it", "'s", "old", "-", "fashioned"]
    assert split(nlp, "well-known") == ["well-known"]
    nlp = spacy.blank("en")
    before = nlp.tokenizer.to_bytes(exclude=["vocab"])
    found = fitted(nlp, docs("She does~n't know -x ~."))
    assert (found.before, found.after, found.special) == (1, 1, 0)
    assert nlp.tokenizer.to_bytes(exclude=["vocab"]) == before
    spaced = Doc(nlp.vocab, words=["10 000", "x", "\n", "y"], spaces=[True, True, False, False])
    found = fitted(nlp, [spaced])
    assert found.special == 0 and found.before == 1
    nlp = spacy.blank("xx")
    own: Any = lambda text: Doc(nlp.vocab, words=text.split())  # noqa: E731
    nlp.tokenizer = own
    with pytest.warns(UserWarning, match="'xx' is function"):
        assert fit(nlp, DATA) is None
    assert nlp.tokenizer is own


def test_the_dash_of_direct_speech() -> None:
    """It is split off, unless the data say otherwise."""
    nlp, other = spacy.blank("tr"), spacy.blank("tr")
    assert split(nlp, "-Git -5") == ["-Git", "-5"]
    assert fitted(nlp, docs("Git -5 ~.")).added["prefixes"]
    assert split(nlp, "-Git -5") == ["-", "Git", "-5"]
    assert not any(fitted(other, docs("Git -tir ~.")).added.values())
    assert split(other, "-Git") == ["-Git"]


def test_the_callback_and_saving(tmp_path: Path) -> None:
    DocBin(docs=DATA).to_disk(tmp_path / "train.spacy")
    nlp = spacy.blank("en")
    nlp.config["initialize"]["before_init"] = {
        "@callbacks": "spacy_nmparse.fit_tokenizer.v1",
        "corpus": str(tmp_path / "train.spacy"),
    }
    nlp.initialize()
    expected = ["``", "old-fashioned", "''", "8", "€"]
    assert split(nlp, "``old-fashioned'' 8€") == expected
    nlp.to_disk(tmp_path / "model")
    assert split(spacy.load(tmp_path / "model"), "``old-fashioned'' 8€") == expected
    same = spacy.blank("en")
    assert FitTokenizer(None)(same) is same
