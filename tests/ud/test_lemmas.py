"""The lemmatizer: known words, edit trees of lower-case forms, and case."""

from __future__ import annotations

import json
from pathlib import Path

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

WORDS = {
    # plurals, two of them capitalized; a name; a word that is two parts of speech
    "NOUN": {
        "cats": "cat",
        "dogs": "dog",
        "Hens": "hen",
        "Cows": "cow",
        "saw": "saw",
        "axis": "axis",
    },
    "PROPN": {"Ann": "Ann", "Bob": "Bob", "NATO": "NATO"},
    "VERB": {"saw": "see", "went": "go"},
}


def gold(nlp: Language, pos: str) -> Example:
    words, lemmas = zip(*WORDS[pos].items(), strict=True)
    doc = Doc(nlp.vocab, words=words, lemmas=lemmas, pos=[pos] * len(words))
    return Example(Doc(nlp.vocab, words=words, pos=[pos] * len(words)), doc)


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("ud_lemmatizer")
    nlp.initialize(lambda: [gold(nlp, pos) for pos in WORDS])
    return nlp


def lemma(nlp: Language, word: str, pos: str, *best: tuple[str, str]) -> str:
    """The lemma where the edit trees of pairs are the most probable ones."""
    pipe = nlp.get_pipe("ud_lemmatizer")
    doc = Doc(nlp.vocab, words=[word], pos=[pos])
    scores = numpy.full((1, len(pipe.labels)), -50, dtype="float32")
    for i, pair in enumerate(best):
        scores[0, pipe._pair2label(*pair)] = -i
    pipe.set_annotations([doc], [scores])
    return doc[0].lemma_


def test_known_words(nlp: Language) -> None:
    """By part of speech, if it is one of theirs, or if they have one lemma anyway."""
    assert lemma(nlp, "saw", "NOUN") == "saw"
    assert lemma(nlp, "Saw", "VERB") == "see"
    assert lemma(nlp, "WENT", "NOUN") == "go"
    assert lemma(nlp, "saw", "ADJ", ("cats", "cat")) == "saw"


def test_trees_and_case(nlp: Language) -> None:
    plural, same = ("cats", "cat"), ("Ann", "Ann")
    assert lemma(nlp, "Pigs", "NOUN", plural) == "pig"
    assert lemma(nlp, "Sues", "PROPN", plural) == "Sue"
    assert lemma(nlp, "UNO", "PROPN", same) == "UNO"
    assert lemma(nlp, "iPad", "NOUN", same) == "iPad"
    assert lemma(nlp, "pig", "NOUN", plural) == "pig", "no tree can be applied"
    assert lemma(nlp, "s", "NOUN", plural) == "s", "nothing would be left"


def test_a_known_lemma_comes_first(nlp: Language) -> None:
    same, plural = ("Ann", "Ann"), ("cats", "cat")
    assert lemma(nlp, "axiss", "NOUN", same, plural) == "axis"
    assert lemma(nlp, "pigs", "NOUN", same, plural) == "pigs"


def test_rare_trees_teach_nothing(nlp: Language) -> None:
    pipe = nlp.get_pipe("ud_lemmatizer")
    assert len(pipe.labels) == 2  # of "went", and of the verb "saw", there is one each
    example = gold(nlp, "VERB")
    scores = [numpy.zeros((2, 2), dtype="float32")]
    loss, gradient = pipe.get_loss([example], scores)
    assert loss == 0 and not gradient[0].any()
    _, gradient = pipe.get_loss([gold(nlp, "PROPN")], [numpy.zeros((3, 2), dtype="float32")])
    assert gradient[0].any(axis=1).all()


def test_a_dotted_and_a_dotless_i() -> None:
    nlp = spacy.blank("tr")
    pipe = nlp.add_pipe("ud_lemmatizer")
    assert pipe._lower("IŞIK İZ") == "ışık iz"
    assert pipe._written("iz", "İZ", "title") == "İz"


def test_learning_and_saving(nlp: Language, tmp_path: Path) -> None:
    examples = [gold(nlp, pos) for pos in WORDS]
    for _ in range(30):
        nlp.update(examples)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    for text in ("Mice dogs Rats", "", "NATO Ann pens"):
        words = text.split()
        made, again = (
            one.get_pipe("ud_lemmatizer")(Doc(one.vocab, words=words, pos=["NOUN"] * len(words)))
            for one in (nlp, loaded)
        )
        assert [token.lemma_ for token in made] == [token.lemma_ for token in again]
    assert nlp.evaluate(examples)["lemma_acc"] == 1
    pipe = loaded.get_pipe("ud_lemmatizer")
    loaded.resume_training()
    scores = [numpy.zeros((3, len(pipe.labels)), dtype="float32")]
    loss, _ = pipe.get_loss([gold(loaded, "PROPN")], scores)
    assert loss > 0, "a loaded one learns on"


def test_label_data_are_all_that_was_learned(nlp: Language) -> None:
    """As spacy init labels writes them: JSON."""
    examples = [gold(nlp, pos) for pos in WORDS]
    learned = nlp.get_pipe("ud_lemmatizer")
    other = spacy.blank("en")
    pipe = other.add_pipe("ud_lemmatizer")
    labels = json.loads(json.dumps(learned.label_data))
    pipe.initialize(lambda: examples[:1], labels=labels)  # what streamed training shows at first
    assert pipe.cfg == learned.cfg and pipe.label_data == learned.label_data
    assert lemma(other, "WENT", "NOUN") == "go"
    del labels["known"]
    with pytest.raises(ValueError, match="'ud_lemmatizer' got labels without known"):
        pipe.initialize(lambda: examples, labels=labels)
