"""The lemmatizer: known words, edit trees of lower-case forms, and case."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.pipeline._edit_tree_internals.edit_trees import EditTrees
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import chain, noop, with_array

from spacy_nmparse.ud.lemmas import MARGIN, NONE, TRIED, UNKNOWN, UDLemmatizer, _case_key, applier
from spacy_nmparse.ud.lookup import best

WORDS = {
    # plurals, two of them capitalized; a name; a word that is two parts of speech
    "NOUN": dict(cats="cat", dogs="dog", Hens="hen", Cows="cow", saw="saw", axis="axis"),
    "PROPN": dict(Ann="Ann", Bob="Bob", NATO="NATO"),
    "VERB": dict(saw="see", went="go"),
}


PLURAL, SAME = ("cats", "cat"), ("Ann", "Ann")


@pytest.mark.parametrize(
    ("word", "pos", "best", "expected"),
    [
        # known words: by part of speech, if it is one of theirs, or if they have one lemma anyway
        *(("saw", "NOUN", [], "saw"), ("Saw", "VERB", [], "see"), ("WENT", "NOUN", [], "go")),
        ("saw", "ADJ", [PLURAL], "saw"),
        # trees and case
        *(("Pigs", "NOUN", [PLURAL], "pig"), ("Sues", "PROPN", [PLURAL], "Sue")),
        *(("UNO", "PROPN", [SAME], "UNO"), ("iPad", "NOUN", [SAME], "iPad")),
        ("pig", "NOUN", [PLURAL], "pig"),  # no tree can be applied
        ("s", "NOUN", [PLURAL], "s"),  # nothing would be left
        # a known lemma comes first, unless its tree is far less probable
        *(("axiss", "NOUN", [SAME, PLURAL], "axis"), ("pigs", "NOUN", [SAME, PLURAL], "pigs")),
        ("axiss", "NOUN", [SAME], "axiss"),
    ],
)
def test_lemmas(nlp: Language, word: str, pos: str, best: list, expected: str) -> None:
    assert lemma(nlp, word, pos, *best) == expected


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
    lemmas = pipe._known(doc)
    tokens = numpy.flatnonzero(lemmas == UNKNOWN)
    pipe.set_annotations([doc], [(lemmas, tokens, scores[tokens])])
    return doc[0].lemma_


def test_a_dotted_and_a_dotless_i() -> None:
    pipe = spacy.blank("tr").add_pipe("ud_lemmatizer")
    assert pipe._lower("IŞIK İZ") == "ışık iz"
    assert pipe._written("iz", "İZ", "title") == "İz"


def test_rare_trees_teach_nothing(nlp: Language) -> None:
    pipe = nlp.get_pipe("ud_lemmatizer")
    assert len(pipe.labels) == 2  # of "went", and of the verb "saw", there is one each
    example = gold(nlp, "VERB")
    scores = [numpy.zeros((2, 2), dtype="float32")]
    loss, gradient = pipe.get_loss([example], scores)
    assert loss == 0 and not gradient[0].any()
    _, gradient = pipe.get_loss([gold(nlp, "PROPN")], [numpy.zeros((3, 2), dtype="float32")])
    assert gradient[0].any(axis=1).all()


def test_learning_and_saving(nlp: Language, tmp_path: Path) -> None:
    """Also of copies, as processes make them."""
    examples = [gold(nlp, pos) for pos in WORDS]
    for _ in range(30):
        nlp.update(examples)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    pipe = nlp.get_pipe("ud_lemmatizer")
    others = [
        loaded.get_pipe("ud_lemmatizer"),
        copy.deepcopy(pipe),
        pickle.loads(pickle.dumps(pipe)),
    ]
    for text in ("Mice dogs Rats", "", "NATO Ann pens", "WENT"):
        words = text.split()
        made, *again = (
            [t.lemma_ for t in one(Doc(one.vocab, words=words, pos=["NOUN"] * len(words)))]
            for one in (pipe, *others)
        )
        assert again == [made] * 3
    assert nlp.evaluate(examples)["lemma_acc"] == 1
    loaded.resume_training()
    scores = [numpy.zeros((3, len(pipe.labels)), dtype="float32")]
    loss, _ = others[0].get_loss([gold(loaded, "PROPN")], scores)
    assert loss > 0, "a loaded one learns on"


def test_data_without_lemmas() -> None:
    nlp = spacy.blank("xx")
    pipe = nlp.add_pipe("ud_lemmatizer")
    doc = Doc(nlp.vocab, words=["dogs", "bark"], pos=["NOUN", "VERB"])
    example = Example(Doc(nlp.vocab, words=["dogs", "bark"]), doc)
    with pytest.warns(UserWarning, match="'ud_lemmatizer' have no lemmas: it writes none"):
        nlp.initialize(lambda: [example])
    nlp.update([example])
    other: Any = spacy.blank("xx").add_pipe("ud_lemmatizer").from_bytes(pipe.to_bytes())
    for one in (pipe, other):
        assert [token.lemma_ for token in one(doc.copy())] == ["", ""]


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


def test_as_word_by_word(nlp: Language) -> None:
    """Lemmas of batches: those by one word at a time, whose scores the whole model gives."""
    pipe = nlp.get_pipe("ud_lemmatizer")
    rng = numpy.random.default_rng(0)
    forms = [*(form for forms in WORDS.values() for form in forms), *("Pigs", "s", "İz", "axiss")]
    docs = [
        Doc(
            vocab,
            words=rng.choice(forms, size=n).tolist(),
            pos=rng.choice(["NOUN", "VERB", "PROPN", "X"], size=n).tolist(),
            lemmas=rng.choice(["", "", "own"], size=n).tolist() if n % 3 == 0 else None,
        )
        for n in (0, 5, 12, 30, 0, 9)
        for vocab in (nlp.vocab, spacy.blank("en").vocab)
    ]
    output = pipe.model.get_ref("output_layer")
    weights = output.get_param("W").copy()
    output.set_param("W", rng.normal(size=weights.shape).astype("float32"))
    expected = [_word_by_word(pipe, doc) for doc in docs]
    whole = pipe.model
    for model in (whole, chain(whole, with_array(noop()))):  # the second is no tagger of spaCy's
        pipe.model = model
        with nlp.memory_zone():
            parsed = pipe.pipe([doc.copy() for doc in docs], batch_size=4)
            assert [[token.lemma_ for token in doc] for doc in parsed] == expected
    pipe.model = whole
    output.set_param("W", weights)


def _word_by_word(pipe: UDLemmatizer, doc: Doc) -> list[str]:
    found = []
    scores = pipe.model.predict([doc])[0] if len(doc) else []
    for token, row in zip(doc, scores, strict=True):
        form, pos = pipe._lower(token.text), token.pos_
        known = pipe.cfg["known"].get(form, {})
        lemmas = {known[pos]} if pos in known else {*known.values()}
        if token.lemma_ or len(lemmas) == 1:
            found.append(token.lemma_ or lemmas.pop())
            continue
        order = numpy.argsort(-row, kind="stable")[:TRIED].tolist()
        labels = [(pipe.trees.apply(pipe.cfg["labels"][i], form), row[i]) for i in order]
        made = [(lemma, score) for lemma, score in labels if lemma]
        near = [lemma for lemma, score in made if score >= made[0][1] - MARGIN]
        of_data = [lemma for lemma in near if lemma in {"cat", "dog", "hen", "cow", "axis", "go"}]
        way = pipe.cfg["case"].get(_case_key(token), "form")
        best = (of_data or near or [None])[0]
        found.append(token.text if best is None else pipe._written(best, token.text, way))
    return found


def test_trees_as_spacy_applies_them(nlp: Language) -> None:
    """Also where they cannot be applied; one that is not there is an error."""
    trees = EditTrees(nlp.vocab.strings)
    words = ["", "a", "cat", "cats", "axes", "axis", "gegangen", "gehen", "ss"]
    numbers = {trees.add(form, lemma) for form in words for lemma in words}
    applying = applier(trees, nlp.vocab.strings)
    for tree in numbers:
        assert [*map(applying(tree), words)] == [trees.apply(tree, form) for form in words]
    with pytest.raises(IndexError, match=f"no edit tree {len(trees)}"):
        applying(len(trees))


@pytest.mark.parametrize("words", [["Cats", "saw", "went"], ["Cats", "sawwent"], []])
def test_what_training_learns(nlp: Language, words: list[str]) -> None:
    """The labels of spaCy's aligned lemmas, whatever the tokens."""
    pipe = nlp.get_pipe("ud_lemmatizer")
    lemmas, pos = ["cat", "", "go"], ["NOUN", "VERB", "VERB"]
    gold = Doc(spacy.blank("en").vocab, words=["Cats", "saw", "went"], lemmas=lemmas, pos=pos)
    spaces = [len(words) == 3] * len(words)
    example = Example(Doc(nlp.vocab, words=words, spaces=spaces), gold if words else Doc(nlp.vocab))
    aligned = example.get_aligned("LEMMA", as_string=True)
    labels = [
        pipe._pair2label(token.text, lemma) if lemma else None
        for token, lemma in zip(example.predicted, aligned, strict=True)
    ]
    expected = [NONE if label is None else label for label in labels]
    for _ in range(2):
        assert pipe._truth(example) == expected


@pytest.mark.parametrize("n", [1, 3, 20])
def test_the_best_scores(n: int) -> None:
    rng = numpy.random.default_rng(n)
    scores = rng.integers(0, 9, size=(40, 20)).astype("float32")  # many are equal
    assert (best(scores, n) == numpy.argsort(-scores, axis=1, kind="stable")[:, :n]).all()
    for wrong in (0, 21):
        with pytest.raises(ValueError, match=f"{wrong} of 20 scores"):
            best(scores, wrong)
