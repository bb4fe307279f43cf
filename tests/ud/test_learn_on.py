"""What a pipeline knows after ``nmparse learn-on``, besides its weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.cli.train import train
from spacy.language import Language
from spacy.util import load_config
from thinc.api import fix_random_seed

from spacy_nmparse.ud.readers import Corpus
from tests.toy_treebank import nmparse, sentence
from tests.ud.test_treebanks import pipeline

#: A multiword token; a word of two tokens.
OLD = sentence(
    *("1-2 du _ _ _ _ _ _ _ _", "1 de de ADP _ _ 3 case _ _", "2 le le DET _ _ 3 det _ _"),
    *("3 pain pain NOUN _ _ 0 root _ _", "4 bon bon ADJ _ _ 3 amod _ _"),
) + sentence("1 tout~coup tout~coup ADV _ _ 0 root _ _", "2 bon bon ADJ _ _ 1 amod _ _")
#: Another multiword token, other words, lemmas, labels, and a part of speech.
NEW = sentence(
    *("1-2 au _ _ _ _ _ _ _ _", "1 à à ADP _ _ 3 case _ _", "2 le le DET _ _ 3 det _ _"),
    *("3 pain PAIN NOUN _ _ 0 root _ _", "4 noir noir ADJ _ _ 3 amod:new _ _"),
    "5 hélas HÉLAS INTJ _ _ 3 discourse _ _",
)
CARD: dict[str, Any] = {
    **{"name": "ours", "version": "1.2.3", "license": "CC BY-SA 4.0", "notes": "Ours."},
    "sources": [{"name": "UD_Toy", "license": "CC BY-SA 4.0"}],
}


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Language:
    """A trained pipeline, saved as `model` beside the files that it learns on from."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("spacy_nmparse.cli.learn_on.WORDS", 50)  # else evaluation takes long
    Path("old.conllu").write_text(OLD.replace("~", " ") * 3, encoding="utf-8")
    Path("new.conllu").write_text(NEW * 3, encoding="utf-8")
    nlp = pipeline()
    fix_random_seed(0)
    examples = list(Corpus("old.conllu", n_sents=1, subtokens=True)(nlp))
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(60):
        nlp.update(examples, sgd=optimizer)
    nlp.meta.update(CARD, performance={"ents_f": 2.0})
    own: Any = nlp.config
    own["corpora"]["train"] |= {"@readers": "spacy_nmparse.Corpus.v1", "n_sents": 1}
    own["training"]["optimizer"]["pretrained_factor"] = 0.05
    nlp.to_disk("model")
    assert joined(nlp) == ["tout coup", "bon"]
    return nlp


def joined(nlp: Language) -> list[str]:
    return [token.text for token in nlp("tout coup bon")]


def test_what_stays(old: Language) -> None:
    """What joins tokens, how documents are made, and the card; scores are those of the training."""
    files = ["old.conllu", "--dev", "old.conllu", "-o", "new"]
    assert nmparse(["learn-on", "model", *files, "--epochs", "20"]) == 0
    config = load_config("new/learn-on.cfg")
    for setting, value in (("subtokens", True), ("n_sents", 1), ("gold_preproc", False)):
        assert config["corpora"]["train"][setting] == value
    assert config["training"]["optimizer"]["pretrained_factor"] == 0.05
    for name in ("model-best", "model-last"):
        nlp = spacy.load(Path("new", name))
        assert joined(nlp) == ["tout coup", "bon"]
        assert {key: nlp.meta[key] for key in CARD} == CARD
        assert 0 < nlp.meta["performance"]["dep_las"] <= 1
        assert "ents_f" not in nlp.meta["performance"]


def test_what_is_learned(old: Language) -> None:
    """Multiword tokens, lemmas of words and labels, by the command and by its config alone; what is
    not learned is said, and what nothing has measured has no scores."""
    options = ["--epochs", "40", "--learn-rate", "0.005", "-o", "new"]
    with pytest.warns(UserWarning) as said:
        assert nmparse(["learn-on", "model", "new.conllu", "old.conllu", *options]) == 0
    messages = " ".join(str(one.message) for one in said)
    assert "learns labels that are new to it: amod:new, discourse." in messages
    assert "3 words, and does not learn them (INTJ INTJ _)" in messages
    assert json.loads(Path("new/model-last/meta.json").read_text("utf-8"))["performance"] == {}
    with pytest.warns(UserWarning, match="labels that are new"):
        train("new/learn-on.cfg", "again")
    for path in ("new/model-last", "again/model-last"):
        nlp = spacy.load(path)
        doc, known = nlp("au pain noir hélas"), nlp("du pain bon")
        for token, words in ((doc[0], ["à", "le"]), (known[0], ["de", "le"])):
            assert [form for form, *_ in token._.ud_words] == words
        assert [token.lemma_ for token in doc][1:] == ["PAIN", "noir", "HÉLAS"]
        assert [token.dep_ for token in doc][2:] == ["amod:new", "discourse"]


def test_of_another_treebank(old: Language) -> None:
    """It teaches labels, but not words. A frozen parser keeps its labels."""
    files = ["other=new.conllu", "old.conllu", "--epochs", "1", "-o", "new"]
    with pytest.warns(UserWarning, match="labels that are new"):
        assert nmparse(["learn-on", "model", *files]) == 0
    nlp = spacy.load("new/model-last")
    assert "amod:new" in nlp.get_pipe("parser").labels
    lemmatizers = [one.get_pipe("ud_lemmatizer").label_data for one in (old, nlp)]
    assert lemmatizers[0]["known"] == lemmatizers[1]["known"]
    assert "au" not in nlp.get_pipe("multiword_tokens").label_data["forms"]
    train("new/learn-on.cfg", "again", overrides={"training.frozen_components": ["parser"]})
    assert "amod:new" not in spacy.load("again/model-last").get_pipe("parser").labels
