"""Parsers that are initialized, loaded or trained once more, or diverge, and what they share."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from spacy_nmparse.lab.beam.rollout import UPDATES
from spacy_nmparse.pipe.words import lacks_token_vectors
from tests.pipe.common import (
    NL,
    NM,
    SMALL,
    TOK2VEC,
    bare,
    gold_doc,
    knows,
    learn,
    listening_pipeline,
    make_example,
    make_examples,
    make_nlp,
    model_config,
    noted_failures,
    overfitted,
    parser_of,
    random_parser,
    ready,
    train,
    tree,
)


def other_examples(nlp: Language) -> list[Example]:
    """More labels than those of ``make_examples``."""
    examples = make_examples(nlp.vocab)
    for example in examples:
        for token in example.reference:
            if token.head.i != token.i:
                token.dep_ = f"{token.dep_}:{token.text}"
    return examples


def shared() -> Language:
    """A parser that listens to a tok2vec beside it, trained."""
    nlp = listening_pipeline(NM, **model_config())
    train(nlp, make_examples(nlp.vocab), steps=3)
    return nlp


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("factory", [NM, NL])
def test_other_labels_after_updates(factory: str, loaded: bool) -> None:
    """By initializing anew, or from a file."""
    nlp, known, sgd = ready(factory=factory)
    train(nlp, known, steps=2, sgd=sgd)
    # Gradients that no optimizer has taken, and moments of the old shapes.
    nlp.update(known, sgd=False)
    labels = len(parser_of(nlp).labels)
    examples = other_examples(nlp)
    if loaded:
        other = make_nlp(factory=factory)
        train(other, other_examples(other), steps=2)
        parser_of(nlp).from_bytes(parser_of(other).to_bytes())
    learn(nlp, examples, sgd=sgd if loaded else None)
    assert len(parser_of(nlp).labels) > labels
    assert knows(nlp, [example.reference for example in examples])


@pytest.mark.parametrize("factory", SMALL)
def test_models_take_a_list_of_documents(factory: str) -> None:
    """As those of spaCy's components; ``spacy debug model`` does it."""
    nlp, *_ = ready(factory=factory)
    model: Any = parser_of(nlp).model
    docs = [bare(gold_doc(nlp.vocab, [0])), bare(gold_doc(nlp.vocab, [1, 2]))]
    assert type(model.predict(docs)).__name__.endswith("Kernel")
    model.begin_update(docs)


@pytest.mark.parametrize("recurrent_width", [0, 4])
@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((1, 32), "3 tokens, but 1 token vectors"),  # after a merge
        ((9, 32), "3 tokens, but 9 token vectors"),  # after a split
        ((3, 20), "20 wide, and the scorer was made for 32"),  # of another tok2vec
    ],
)
def test_vectors_that_do_not_fit(
    shape: tuple[int, int], message: str, recurrent_width: int
) -> None:
    """The document that has them fails alone."""
    nlp = listening_pipeline(NM, **model_config(recurrent_width=recurrent_width))
    nlp.initialize(lambda: make_examples(nlp.vocab))
    docs = [nlp.make_doc(text) for text in ("She saw the cat", "one two three", "She saw the cat")]
    list(nlp.get_pipe("tok2vec").pipe(docs))  # type: ignore[attr-defined]
    docs[1].tensor = numpy.ones(shape, dtype="float32")
    failed = noted_failures(nlp)
    assert list(parser_of(nlp).pipe(docs)) == [docs[0], docs[2]]
    assert tree(docs[2]) == tree(docs[0])
    assert len(failed) == 1 and message in failed[0][2]


def test_no_rehearsal_of_what_cannot_be_known() -> None:
    """The copy that remembers has its own listener, which nobody tells of token vectors."""
    nlp = shared()
    sgd = nlp.resume_training()
    examples = make_examples(nlp.vocab)
    nlp.update(examples, sgd=sgd)
    before = parser_of(nlp).to_bytes()
    with pytest.raises(ValueError, match=r"'parser' cannot rehearse.*replace_listeners"):
        nlp.rehearse(examples, sgd=sgd)
    assert parser_of(nlp).to_bytes() == before


def test_documents_without_a_tensor() -> None:
    """None, as of ``doc_cleaner``, or empty: a parser that shares a tok2vec warns, no more."""
    nlp = overfitted()
    doc = nlp(gold_doc(nlp.vocab, [0, 1]))
    expected, doc.tensor = tree(doc), None
    assert tree(nlp(doc)) == expected
    nlp = shared()
    empty, none = (bare(gold_doc(nlp.vocab, [0, 1])) for _ in range(2))
    none.tensor = None
    for one in (empty, none):
        with pytest.warns(UserWarning, match="'parser' shares a 'tok2vec' .* has not processed"):
            parser_of(nlp)(one)
    assert tree(none) == tree(empty) and none.tensor is None
    with nlp.select_pipes(disable="tok2vec"), pytest.warns(UserWarning, match="'parser' shares"):
        nlp("She saw")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp("She saw")


@pytest.mark.parametrize(
    ("name", "attrs"),
    [("transformer-listener", {}), ("any_listener", {"_TRANSFORMER_LISTENER": True})],
)
def test_documents_without_the_output_of_a_transformer(name: str, attrs: dict[str, Any]) -> None:
    """Of spacy-transformers or spacy-curated-transformers, whose listeners these stand for."""

    def no_vectors(model: Model, docs: list[Doc], is_train: bool) -> Any:
        assert all(doc._.trf_data is None for doc in docs)
        return [model.ops.alloc2f(len(doc), TOK2VEC["width"]) for doc in docs], None

    nlp, *_ = ready()
    parser = parser_of(nlp)
    own = parser.model.get_ref("tok2vec")
    listener: Any = Model(name, no_vectors, dims={"nO": TOK2VEC["width"]}, attrs=attrs)
    parser.model.layers[0] = listener
    parser.model.set_ref("tok2vec", listener)
    doc = bare(gold_doc(nlp.vocab, [0]))
    (doc.tensor,) = own.predict([doc])  # another component's
    with pytest.warns(UserWarning, match="shares .* transformer component that has not processed"):
        parser(doc)
    doc._.trf_data = "some"
    assert not lacks_token_vectors([doc], parser.model)


@pytest.mark.parametrize("seen", [[], [0]])
def test_no_calibration_without_token_vectors(seen: list[int]) -> None:
    nlp = shared()
    parser = parser_of(nlp)
    examples = make_examples(nlp.vocab)
    for i in seen:
        examples[i].predicted = nlp(examples[i].predicted, disable=["parser"])
    with pytest.raises(ValueError, match=r"'parser' cannot be calibrated.*disable="):
        parser.calibrate(examples)
    assert "temperatures" not in parser.cfg
    with pytest.warns(UserWarning, match="has not processed"):
        parser.predict([eg.predicted for eg in examples])
    for example in examples:
        example.predicted = nlp(example.predicted, disable=["parser"])
    parser.calibrate(examples)
    assert "temperatures" in parser.cfg


def test_the_config_says_whether_crossing_arcs_are_lifted() -> None:
    nlp = overfitted()
    parser = parser_of(nlp)
    parser.cfg["temperatures"] = [2.0, 3.0]
    other = make_nlp(projectivize=False)
    parser_of(other).from_bytes(parser.to_bytes())
    assert parser_of(other).cfg == {"projectivize": False, "temperatures": [2.0, 3.0]}
    doc = gold_doc(nlp.vocab, [2])
    assert tree(other(bare(doc))) == tree(nlp(bare(doc))) == tree(doc)


def test_sentences_of_one_word_are_trees() -> None:
    nlp = make_nlp()
    docs = [Doc(nlp.vocab, words=[word], heads=[0], deps=["ROOT"]) for word in "ab"]
    train(nlp, [make_example(doc) for doc in docs], steps=3)
    assert knows(nlp, docs)
    assert parser_of(nlp).labels == ("ROOT", "dep")


# Training that diverges stops, and what it has left is not saved


STEPS: tuple[dict[str, Any], ...] = ({}, *({"update": update} for update in UPDATES))
MESSAGE = r"'{}' has diverged: .*(infinite|nan|inf).* lower the optimizer's learn_rate"


def diverges(nlp: Language, learn_rate: float) -> None:
    """Updates end in an error that names the parser, as saving does then."""
    examples = make_examples(nlp.vocab)
    sgd = nlp.initialize(lambda: examples)
    sgd.learn_rate = learn_rate
    message = MESSAGE.format(parser_of(nlp).name)
    with pytest.raises(ValueError, match=message):
        for _ in range(6):
            nlp.update(examples, sgd=sgd)
    with pytest.raises(ValueError, match=message):
        nlp.to_bytes()


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("factory", [NM, NL])
def test_steps_that_are_too_long(factory: str, steps: dict[str, Any]) -> None:
    diverges(make_nlp(factory=factory, **steps), 1e37)


def test_a_shared_tok2vec() -> None:
    diverges(listening_pipeline(NM, **model_config()), 1e37)


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("factory", [NM, NL])
def test_token_vectors_that_are_no_numbers(factory: str, steps: dict[str, Any]) -> None:
    """Before any weight changes. A ReLU makes 0 of them: the loss does not show it."""
    nlp = random_parser(factory=factory, **steps)
    parser = parser_of(nlp)
    before = parser.to_bytes()
    table: Any = next(node for node in parser.model.walk() if "E" in node.param_names)
    rows = table.get_param("E").copy()
    table.set_param("E", numpy.full_like(rows, numpy.nan))
    with pytest.raises(ValueError, match="diverged: token vectors are infinite, or no numbers"):
        nlp.update(make_examples(nlp.vocab))
    table.set_param("E", rows)
    assert parser.to_bytes() == before
