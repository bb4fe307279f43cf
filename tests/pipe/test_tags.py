"""Tags that are learned beside the trees: what is read, what is kept, what it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_nmparse.pipe.tags import TagSet, collect, counted
from spacy_nmparse.scorers.tags import UNKNOWN

from .common import (
    NL,
    NM,
    SMALL,
    gold_doc,
    learn,
    make_example,
    make_examples,
    make_nlp,
    parser_of,
    ready,
    train,
)


def values_of(tags: TagSet, example: Example) -> list[list[int]]:
    return tags.gold([example], [words_of(example)]).values.tolist()


FACTORIES = [NM, NL]  # the scorer of swap_parser is that of nm_parser


def tagged(vocab: Vocab) -> list[Example]:
    """Examples whose words have tags; the second word of each has no morphology."""
    examples = []
    for trees in ([0], [1], [2], [0, 1], [3, 4]):
        doc = gold_doc(vocab, trees)
        for token in doc:
            third = token.i % 3 == 0
            token.pos_ = "PROPN" if third else "NOUN"
            token.tag_ = "A" if token.i % 2 else "B"
            token.set_morph("Case=Nom|Number=Sing" if third else "Number=Plur")
        doc[1].set_morph("")
        examples.append(make_example(doc))
    return examples


def tagged_nlp(
    factory: str, write_tags: bool = False, **sizes: Any
) -> tuple[Language, list[Example]]:
    model = {**SMALL[factory]["model"], "tag_weight": 1.0, **sizes}
    nlp = make_nlp(factory=factory, model=model, write_tags=write_tags)
    examples = tagged(nlp.vocab)
    nlp.initialize(lambda: examples)
    return nlp, examples


def words_of(example: Example) -> numpy.ndarray:
    tokens = [token.i for token in example.predicted if not token.is_space]
    return numpy.asarray(tokens, dtype="int32")


def collected(examples: list[Example]) -> TagSet:
    fields: Counter[tuple[str, ...]] = Counter()
    assert list(counted(examples, fields)) == examples
    return collect(fields)


def test_attributes_and_values() -> None:
    """Constant attributes are left out; of untagged examples there are none."""
    examples = tagged(Vocab())
    expected = {
        "Case": ["", "Nom"],
        "Number": ["", "Plur", "Sing"],
        "POS": ["NOUN", "PROPN"],
        "TAG": ["A", "B"],
    }
    assert collected(examples).attributes == expected
    examples[0].reference[1].tag_ = "XPOS9"
    assert collected(examples).attributes["TAG"] == ["A", "B", "XPOS9"]
    for example in examples:
        for token in example.reference:
            token.pos_ = "NOUN"
    assert "POS" not in collected(examples).attributes
    found = collected(make_examples(Vocab()))
    assert (found.attributes, found.readings) == ({}, None)


def test_gold_values_and_readings() -> None:
    """Values of features that no word may lack are unknown where they were not collected. The
    second and third word have readings that are not known, the fourth has none."""
    values = {"Case": ["", "Nom"], "Number": ["", "Sing"], "POS": ["NOUN", "VERB"]}
    triples = [["NOUN", "", "Case=Nom|Number=Sing"], ["VERB", "", "_"], ["NOUN", "", ""]]
    doc = Doc(Vocab(), words=["a", "b", "c", "d", "e"], pos=["NOUN", "VERB", "ADJ", "", "NOUN"])
    for i, morph in enumerate(("Case=Nom|Number=Sing", "Number=Plur", "Gender=Fem", "")):
        doc[i].set_morph(morph)
    example = make_example(doc)
    gold = TagSet(values, triples).gold([example], [words_of(example)])
    assert gold.values.dtype == gold.readings.dtype == "int32"
    assert gold.values.tolist() == [
        [1, 1, 0],
        [0, UNKNOWN, 1],
        [0, 0, UNKNOWN],
        [0, 0, UNKNOWN],
        [UNKNOWN, UNKNOWN, 0],
    ]
    assert gold.readings.tolist() == [0, UNKNOWN, UNKNOWN, UNKNOWN, 2]
    doc[1].set_morph("")
    gold = TagSet(values, triples).gold([make_example(doc)], [words_of(example)])
    assert gold.readings.tolist() == [0, 1, UNKNOWN, UNKNOWN, 2]
    assert gold.table.tolist() == [[0, 1, 0, 1, 1, 0], [1, 0, 1, 0, 0, 1], [0, 0, 0, 0, 1, 0]]
    doc = Doc(Vocab(), words=["a", "b"], morphs=["Case=Nom", "Number=Sing"])
    assert values_of(TagSet({"Case": ["Acc", "Nom"]}), make_example(doc)) == [[1], [UNKNOWN]]


def test_gold_values_of_misaligned_tokens_and_spaces() -> None:
    vocab = spacy.blank("xx").vocab
    tags = TagSet({"POS": ["NOUN", "VERB"]})
    pos = ["NOUN", "NOUN", "SPACE", "VERB", "NOUN"]
    gold = Doc(vocab, words=["can", "not", "\n", "go", "homeward"], pos=pos)
    example = Example(Doc(vocab, words=["cannot", "\n", "go", "home", "ward"]), gold)
    assert values_of(tags, example) == [[0], [1], [0], [0]]
    gold[1].pos_ = "VERB"  # two tokens of one word that differ
    assert values_of(tags, example) == [[UNKNOWN], [1], [0], [0]]


@pytest.mark.parametrize(
    ("values", "triples", "message"),
    [
        *((bad, [], "'TAG'") for bad in ([], ["A", "A"], ["A", 1], "AB")),
        *((["A"], [bad], "is not a part of speech") for bad in (["X", "Y"], "XYZ", ["X", "Y", 1])),
    ],
)
def test_bad_values(values: Any, triples: Sequence[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TagSet({"TAG": values}, triples)


@pytest.mark.parametrize("layers", [0, 1, 2])
@pytest.mark.parametrize("factory", FACTORIES)
def test_readings_are_learned_above_the_first_recurrent_layer(factory: str, layers: int) -> None:
    """Readings are; or, without recurrent layers, from the token vectors, as the values are."""
    sizes = {"recurrent_width": 6, "recurrent_depth": layers} if layers else {"recurrent_width": 0}
    model = parser_of(tagged_nlp(factory, **sizes)[0]).model
    width = model.get_ref("tok2vec").get_dim("nO")
    assert model.get_ref("tagging").get_dim("nI") == width
    assert model.get_ref("reading").get_dim("nI") == width + (12 if layers else 0)


@pytest.mark.parametrize("factory", FACTORIES)
def test_token_vectors_learn_the_tags(factory: str) -> None:
    nlp, examples = tagged_nlp(factory)
    learn(nlp, examples)
    parser = parser_of(nlp)
    vectors = parser.model.get_ref("tok2vec").predict([eg.predicted for eg in examples])
    scores = parser.model.get_ref("tagging").predict(numpy.vstack(vectors))
    gold = parser._learned.tags.gold(examples, [words_of(eg) for eg in examples])
    assert gold.readings.min() >= 0
    ends = numpy.cumsum(parser._learned.tags.sizes)
    said = [part.argmax(axis=1) for part in numpy.split(scores, ends[:-1], axis=1)]
    known = gold.values != UNKNOWN
    assert (numpy.stack(said, axis=1) == gold.values)[known].mean() > 0.9


@pytest.mark.parametrize("factory", FACTORIES)
def test_without_a_weight_there_is_no_layer(factory: str) -> None:
    """Nor tags, also where label data have them. Untagged examples train alike with the layer."""
    nlp, examples = tagged_nlp(factory, tag_weight=0.0)
    parser = parser_of(nlp)
    assert parser.model.maybe_get_ref("tagging") is None
    assert parser.model.maybe_get_ref("reading") is None
    assert parser.label_data["tags"] == {}
    nlp.update(examples)
    data = parser_of(tagged_nlp(factory)[0]).label_data
    parser.initialize(lambda: examples, nlp=nlp, labels=data)
    assert parser.label_data == {**data, "tags": {}, "tag_triples": []}
    weights = []
    for weight in (0.0, 1.0):
        model = {**SMALL[factory]["model"], "tag_weight": weight}
        nlp, examples, sgd = ready(factory=factory, model=model)
        train(nlp, examples, sgd=sgd, steps=3)
        weights.append(parser_of(nlp).model.get_param("word_W"))
    assert numpy.array_equal(*weights)
    with pytest.raises(ValueError, match=r"tag_weight -0\.5"):
        tagged_nlp(factory, tag_weight=-0.5)


@pytest.mark.parametrize("factory", FACTORIES)
def test_saved_parsers_go_on_learning(factory: str, tmp_path: Path) -> None:
    nlp, examples = tagged_nlp(factory)
    train(nlp, examples, steps=3)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert parser_of(loaded).label_data == parser_of(nlp).label_data

    def weights(one: Language) -> list[numpy.ndarray]:
        model = parser_of(one).model
        return [model.get_ref(name).get_param("W").copy() for name in ("tagging", "reading")]

    before = weights(loaded)
    assert all(map(numpy.array_equal, before, weights(nlp)))
    loaded.update(tagged(loaded.vocab), sgd=loaded.resume_training())
    assert not any(map(numpy.array_equal, before, weights(loaded)))


def test_labels_bring_the_tags() -> None:
    """And initializing again collects them anew."""
    nlp, examples = tagged_nlp("nm_parser")
    data = parser_of(nlp).label_data
    assert set(data["tags"]) == {"Case", "Number", "POS", "TAG"}
    other = make_nlp()
    parser, untagged = parser_of(other), make_examples(other.vocab)
    parser.initialize(lambda: untagged, nlp=other, labels=data)
    assert parser.label_data == data
    for bad, message in ((["POS"], "label data"), ({"POS": []}, r"nm_parser.*'POS'")):
        with pytest.raises(ValueError, match=message):
            parser.initialize(lambda: untagged, nlp=other, labels={**data, "tags": bad})
    assert parser.label_data == data
    for example in examples:
        for token in example.reference:
            token.tag_ = "ABC"[token.i % 3]
    nlp.initialize(lambda: examples)
    assert parser_of(nlp).label_data["tags"]["TAG"] == ["A", "B", "C"]
    nlp.update(examples)


# Written tags


def written(doc: Doc) -> list[tuple[str, str, str]]:
    return [(token.pos_, token.tag_, str(token.morph)) for token in doc]


@pytest.fixture(scope="module", params=FACTORIES)
def writer(request: pytest.FixtureRequest) -> tuple[Language, list[Example]]:
    nlp = make_nlp(factory=request.param, write_tags=True)
    examples = make_examples(nlp.vocab)
    for example in examples:
        for token in example.reference:  # tags that the word alone tells
            third = len(token) % 3 == 0
            token.pos_ = "PROPN" if third else "NOUN"
            token.tag_ = "A" if len(token) % 2 else "B"
            token.set_morph("Case=Nom|Number=Sing" if third else "Number=Plur")
            if token.text == ".":
                token.set_morph("")
    learn(nlp, examples)
    sgd = nlp.resume_training()
    sgd.learn_rate = 0.01
    gold = [written(example.reference) for example in examples]
    for _ in range(200):
        if [written(nlp(example.reference.text)) for example in examples] == gold:
            return nlp, examples
        nlp.update(examples, sgd=sgd)
    raise AssertionError("the tags are not learned")


def test_tags_are_written(writer: tuple[Language, list[Example]], tmp_path: Path) -> None:
    """Greedy, with a beam, from text, by several processes, and after loading."""
    nlp, examples = writer
    golds = [example.reference for example in examples]
    expected = [written(gold) for gold in golds]
    texts = [gold.text for gold in golds]
    parser = parser_of(nlp)
    for width in (1, 4):
        parser.beam_width = width
        assert [written(doc) for doc in nlp.pipe(texts)] == expected
    parser.beam_width = 1
    assert [written(doc) for doc in nlp.pipe(texts, n_process=2)] == expected
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert [written(doc) for doc in loaded.pipe(texts)] == expected
    scores = nlp.evaluate(examples)
    assert scores["tag_acc"] == scores["pos_acc"] == scores["morph_acc"] == 1


def test_tags_that_are_there_stay(writer: tuple[Language, list[Example]]) -> None:
    """And spaces get none."""
    nlp, examples = writer
    gold = examples[0].reference
    doc = make_example(gold).predicted
    doc[0].pos_, doc[1].tag_ = "X", "C"
    doc[2].set_morph("Case=Dat")
    doc[3].set_morph("")
    found, expected = written(nlp(doc)), written(gold)
    assert found[0] == ("X", *expected[0][1:])
    assert found[1] == (expected[1][0], "C", expected[1][2])
    assert found[2] == (*expected[2][:2], "Case=Dat")
    assert found[3] == (*expected[3][:2], "")
    assert found[4] == expected[4]
    words = [token.text for token in gold]
    spaced = nlp(Doc(nlp.vocab, words=["\n", *words[:2], "\n", *words[2:]]))
    assert [i for i, tags in enumerate(written(spaced)) if not tags[0]] == [0, 3]
    assert written(spaced)[0] == written(spaced)[3] == ("", "", "")


def test_documents_of_another_vocabulary(writer: tuple[Language, list[Example]]) -> None:
    """A sourced parser keeps its own; strings outlive a memory zone."""
    nlp, examples = writer
    other = spacy.blank("xx")
    other.add_pipe(nlp.pipe_names[0], source=nlp)
    gold = examples[0].reference
    with other.memory_zone():
        assert written(other(gold.text)) == written(gold)
    assert written(other(gold.text)) == written(gold)
    elsewhere = Doc(spacy.blank("xx").vocab, words=[token.text for token in gold])
    assert written(parser_of(nlp)(elsewhere)) == written(gold)


def test_tags_that_were_not_learned() -> None:
    nlp, *_ = ready(write_tags=True)
    with pytest.raises(ValueError, match=r"'nm_parser' cannot write tags: it has learned none"):
        nlp("She saw")
    parser_of(nlp).write_tags = False
    assert not nlp("She saw").has_annotation("POS")


def test_parts_of_speech_are_no_tags() -> None:
    """Where data has no XPOS, spaCy's converter repeats UPOS; such tags are not written."""
    nlp, examples = tagged_nlp("nm_parser", write_tags=True)
    for example in examples:
        for token in example.reference:
            token.tag_ = token.pos_
    learn(nlp, examples)
    gold = examples[0].reference
    doc = nlp(gold.text)
    assert [token.pos_ for token in doc] == [token.pos_ for token in gold]
    assert not doc.has_annotation("TAG")
