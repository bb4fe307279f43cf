"""Checks of training data: what is wrong is found, what is right is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training.converters import conllu_to_docs
from spacy.util import load_config, load_model_from_config

from spacy_nmparse.analysis.data_check import DataCheck, check_data
from spacy_nmparse.analysis.tokens import TokenMatch
from spacy_nmparse.ud.whole_pipeline import CONFIGS
from tests.pipe.common import DOCUMENTS, gold_doc
from tests.toy_treebank import sentence


def check(
    folder: Path,
    train: Sequence[Doc],
    dev: Sequence[Doc] | None = None,
    config: str = "nm_parser",
    **overrides: Any,
) -> DataCheck:
    for name, docs in (("train", train), ("dev", train if dev is None else dev)):
        DocBin(docs=docs).to_disk(folder / f"{name}.spacy")
        overrides[f"paths.{name}"] = str(folder / f"{name}.spacy")
    loaded = load_config(CONFIGS / f"{config}.cfg", overrides=overrides)
    return check_data(load_model_from_config(loaded, auto_fill=True))


def codes(found: DataCheck, *levels: str) -> set[str]:
    return {one.code for one in found.findings if one.level in (levels or ("warning", "error"))}


def message_of(found: DataCheck, code: str = "misaligned_training") -> str:
    (message,) = (one.message for one in found.findings if one.code == code)
    return message


@pytest.fixture
def make() -> Callable[..., Doc]:
    nlp = spacy.blank("xx")

    def document(words: str, heads: Sequence[int], deps: str) -> Doc:
        return Doc(nlp.vocab, words=words.split(), heads=list(heads), deps=deps.split())

    return document


def test_counts(tmp_path: Path) -> None:
    vocab = spacy.blank("xx").vocab
    docs = [gold_doc(vocab, trees) for trees in DOCUMENTS]
    found = check(tmp_path, docs, [gold_doc(vocab, [3])])
    train = found.train
    assert (found.component, found.system) == ("parser", "arc_eager")
    assert train.documents == len(DOCUMENTS)
    assert train.sentences == sum(map(len, DOCUMENTS))
    assert train.sentences_per_document == {1: 6, 2: 1, 3: 1, 4: 1}
    assert train.words == sum(map(len, docs))
    assert train.labels["ROOT"] == train.sentences
    assert train.arcs == train.words - train.sentences
    assert train.crossing_sentences == sum(tree in (2, 3) for trees in DOCUMENTS for tree in trees)
    assert codes(found) == {"too_little_data", "overlap", "crossing_lost", "rare_labels"}
    assert not found.has_errors
    assert found.as_dict()["train"]["sentences_per_document"] == {"1": 6, "2": 1, "3": 1, "4": 1}


def test_crossing_arcs(tmp_path: Path, make: Callable[..., Doc]) -> None:
    crossing = [make("a b c d", [2, 3, 2, 2], "x y ROOT z")] * 3
    assert "crossing_lost" in codes(check(tmp_path, crossing))
    lifted = check(tmp_path, crossing, **{"components.parser.projectivize": True})
    assert codes(lifted, "info") >= {"crossing_lifted"}
    assert lifted.train.lifted_labels.total() == 3
    assert lifted.train.not_lowered == 0
    assert codes(check(tmp_path, crossing, config="nl_covington_parser"), "good") >= {"crossing"}
    straight = check(tmp_path, [make("a b c d", [1, 2, 2, 2], "x y ROOT z")])
    assert codes(straight, "good") >= {"projective"}


def test_sentences(tmp_path: Path, make: Callable[..., Doc]) -> None:
    one = make("a b", [1, 1], "x ROOT")
    two = make("a b c d", [1, 1, 2, 2], "x ROOT ROOT y")
    assert "one_sentence" in codes(check(tmp_path, [one, one]))
    assert "no_single_sentence" in codes(check(tmp_path, [two, two]), "info")
    both = check(tmp_path, [one, two])
    assert not {"one_sentence", "no_single_sentence"} & codes(both, "info", "warning")


def test_labels(tmp_path: Path, make: Callable[..., Doc]) -> None:
    docs = [make("a b c", [1, 1, 1], "x ROOT y")] * 25
    found = check(tmp_path, docs, [make("a b d", [1, 1, 1], "x ROOT z")])
    assert codes(found) == {"one_sentence", "too_little_data", "unseen_labels"}
    (unseen,) = (one for one in found.findings if one.code == "unseen_labels")
    assert "z (1)" in unseen.message
    odd = check(tmp_path, [make("a b c", [1, 1, 1], "ROOT ROOT y||x")] * 30)
    assert codes(odd) >= {"misplaced_root", "decorated_labels"}
    own = check(tmp_path, [make("a b c", [1, 1, 1], "x Pred y")] * 30)
    assert "root_labels" in codes(own, "info") and "Pred (30)" in message_of(own, "root_labels")
    assert "one_label" in codes(check(tmp_path, [make("a b", [1, 1], "x ROOT")] * 30))


def test_documents_without_trees(tmp_path: Path, make: Callable[..., Doc]) -> None:
    good = make("a b", [1, 1], "x ROOT")
    bare = Doc(good.vocab, words=["a", "c"])
    partial = make("a b d", [1, 1, 1], "x ROOT _")
    partial[2].dep_ = ""
    some = check(tmp_path, [good, bare, partial], [good])
    assert codes(some) >= {"unannotated_training"}
    assert codes(some, "info") >= {"partial"}
    assert some.train.unknown_heads == 1
    none = check(tmp_path, [bare], [good])
    assert none.has_errors
    assert codes(none, "error") == {"no_training_trees"}
    assert codes(check(tmp_path, [good], []), "error") == {"no_development_documents"}


def test_cycles(tmp_path: Path, make: Callable[..., Doc], monkeypatch: pytest.MonkeyPatch) -> None:
    """spaCy refuses to write most of them: one is put into what the reader gives."""
    from spacy_nmparse.analysis import data_check

    good = make("a b", [1, 1], "x ROOT")

    def refuse(heads: Sequence[int | None]) -> None:
        raise ValueError("a cycle")

    monkeypatch.setattr(data_check, "check_acyclic", refuse)
    found = check(tmp_path, [good])
    assert codes(found, "error") == {"cycles_training", "cycles_development"}
    assert "a b" in found.findings[-1].message or any("a b" in f.message for f in found.findings)


def test_tokens_that_do_not_match(tmp_path: Path, make: Callable[..., Doc]) -> None:
    doc = Doc(
        spacy.blank("xx").vocab,
        words=["do", "n't", "go"],
        spaces=[False, True, False],
        heads=[2, 2, 2],
        deps=["aux", "neg", "ROOT"],
    )
    found = check(tmp_path, [doc])
    assert "misaligned_training" in codes(found)
    assert found.train.tokens.f1 == pytest.approx(2 * 1 / (3 + 2))
    assert found.as_dict()["train"]["tokens"]["differences"] == [
        {"treebank": "do n't", "tokenizer": "don't", "count": 1}
    ]
    message = message_of(found)
    assert "F1 40.00" in message and "convert --lang" in message
    # the parser sees the data's tokens in training, and the tokenizer's in use
    preset = {"corpora.train.gold_preproc": True}
    found = check(tmp_path, [doc], **preset)
    assert "misaligned_training" in codes(found, "info")
    assert found.train.tokens.f1 == pytest.approx(2 * 1 / (3 + 2))


def test_multiword_tokens_are_compared_as_they_were_converted(tmp_path: Path) -> None:
    rows = sentence(
        *("1-2 don't _ _ _ _ _ _ _ _", "1 do do AUX _ _ 3 aux _ _"),
        *("2 n't not PART _ _ 3 advmod _ _", "3 go go VERB _ _ 0 root _ _"),
    )
    english = {"nlp.lang": "en"}
    merged, split = (
        list(conllu_to_docs(rows, n_sents=1, merge_subtokens=merge, no_print=True))
        for merge in (True, False)
    )
    found = check(tmp_path, merged, **english)
    assert '"don\'t" in the data, "do n\'t" by the tokenizer (1)' in message_of(found)
    found = check(tmp_path, split, **english)
    assert "tokens_training" in codes(found, "good")
    assert "F1 100.00" in message_of(found, "tokens_training")
    marks = Doc(split[0].vocab, words=["!!", "go"], heads=[1, 1], deps=["punct", "ROOT"])
    message = message_of(check(tmp_path, [*merged, marks, marks], **english))
    assert "'!!' in the data, '! !' by the tokenizer (2)" in message


def test_a_mended_tokenizer_is_seen(tmp_path: Path, make: Callable[..., Doc]) -> None:
    doc = make("!! go", [1, 1], "punct ROOT")
    assert "misaligned_training" in codes(check(tmp_path, [doc]), "info")

    @spacy.registry.callbacks("keep_marks_for_test_data_check")
    def keep_marks() -> Callable[[Language], Language]:
        def change(nlp: Language) -> Language:
            nlp.tokenizer.add_special_case("!!", [{"ORTH": "!!"}])
            return nlp

        return change

    block = {"@callbacks": "keep_marks_for_test_data_check"}
    found = check(tmp_path, [doc], **{"initialize.before_init": block})
    assert "tokens_training" in codes(found, "good")


def test_tokens_are_counted_by_their_place() -> None:
    vocab = spacy.blank("xx").vocab

    def document(words: str) -> Doc:
        return Doc(vocab, words=words.split("|"), spaces=[False] * len(words.split("|")))

    match = TokenMatch()
    assert match.f1 is None
    match.add(document("1 000|a|bc|d"), document("1| |000|a|b|cd"))
    assert (match.treebank, match.tokenizer, match.common) == (4, 5, 1)
    assert match.differences == {("1000", "1 000"): 1, ("bc d", "b cd"): 1}
    with pytest.raises(ValueError, match="changes the text"):
        match.add(document("a|b"), document("a"))


def test_long_arcs(tmp_path: Path, make: Callable[..., Doc]) -> None:
    docs = [make("a b c d", [3, 3, 3, 3], "x y z ROOT")]
    block = {"@misc": "spacy_nmparse.NLCovington.v1", "max_length": 2}
    options = {"components.parser.system": block}
    found = check(tmp_path, docs, config="nl_covington_parser", **options)
    assert "too_long" in codes(found)
    assert found.train.too_long == 1


def test_a_config_without_our_parser() -> None:
    nlp: Language = spacy.blank("xx")
    with pytest.raises(ValueError, match="no parser of spacy-nmparse"):
        check_data(nlp)
