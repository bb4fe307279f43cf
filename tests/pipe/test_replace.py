"""A trained parser takes the place of another pipeline's parser, and changes nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import fix_random_seed

from spacy_nmparse.pipe.replace import changed, replace_parser
from spacy_nmparse.pipe.subtokens import SPACED
from tests.commands import run, succeed
from tests.pipe.common import (
    LISTENER,
    TOK2VEC,
    TREES,
    affix_tok2vec,
    gold_doc,
    learn,
    make_example,
    make_examples,
    make_nlp,
    model_config,
    tagged,
    train,
    tree,
)

TEXTS = [text for text, _, _ in TREES]
STATIC = affix_tok2vec(
    "spacy_nmparse.MaxoutWindowEncoder.v1", TOK2VEC["width"], include_static_vectors=True
)

#: A listener, and vectors of the parser's own beside what it hears.
WORDS = {"@architectures": "spacy_nmparse.AffixEmbed.v1", "width": 8}
BESIDE = {"@layers": "concatenate.v1", "*": {"heard": LISTENER, "words": WORDS}}


def pipeline(
    parser: str = "parser",
    vectors: int = 0,
    tok2vec: dict = TOK2VEC,
    seed: int = 0,
    heard: dict = LISTENER,
) -> Language:
    """A tagger, a parser and a lemmatizer; the first two share a tok2vec."""
    fix_random_seed(seed)
    nlp: Any = spacy.blank("en")
    for i, word in enumerate(TEXTS[0].split()[:vectors]):
        nlp.vocab.set_vector(word, numpy.asarray([i, 1.0], dtype="float32"))
    nlp.add_pipe("tok2vec", config={"model": tok2vec})
    tagger = {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}
    nlp.add_pipe("tagger", config={"model": tagger})
    nlp.add_pipe("nm_parser", config={"model": model_config(tok2vec=heard)})
    ruler = nlp.add_pipe("attribute_ruler")
    learn(nlp, [tagged(example) for example in make_examples(nlp.vocab)])
    ruler.add([[{"TAG": "Ts"}]], {"LEMMA": "see"})
    if parser == "parser":
        nlp.remove_pipe("nm_parser")
        theirs = nlp.add_pipe("parser", before="attribute_ruler", config={"min_action_freq": 1})
        theirs.initialize(lambda: make_examples(nlp.vocab), nlp=nlp)
    nlp.meta["performance"] = {"dep_las": len(parser) / 10, "tag_acc": 0.5}
    return nlp


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("target")
    pipeline().to_disk(path)
    return path


@pytest.fixture(scope="module", params=[LISTENER, BESIDE], ids=["alone", "beside"])
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source")
    pipeline("nm_parser", heard=request.param).to_disk(path)
    return path


def trees(nlp: Language) -> list[list]:
    return [tree(doc) for doc in nlp.pipe(TEXTS)]


def test_only_the_trees_are_others(target: Path, source: Path, tmp_path: Path) -> None:
    """The card names the data of both; one that is switched off stays so."""
    nlp, old, other = spacy.load(target), spacy.load(target), spacy.load(source)
    one, two = {"name": "one", "license": "MIT"}, {"name": "two", "license": "CC BY-SA 4.0"}
    nlp.meta["sources"], other.meta["sources"] = [one], [two, one]
    assert replace_parser(nlp, other, "nm_parser") == "parser"
    assert nlp.meta["sources"] == [one, two]
    nlp.to_disk(tmp_path)
    expected = trees(spacy.load(source))
    for new in (nlp, spacy.load(tmp_path)):
        assert new.pipe_names == old.pipe_names
        assert new.get_pipe_meta("parser").factory == "nm_parser"
        assert trees(new) == expected
        assert not changed(list(old.pipe(TEXTS)), list(new.pipe(TEXTS)))
        assert [token.lemma_ for token in new(TEXTS[0])] == ["", "see", "", "", ""]
        assert new.meta["performance"] == {"dep_las": 0.9, "tag_acc": 0.5}
    nlp = spacy.load(target, disable=["parser"])
    names = nlp.component_names
    replace_parser(nlp, spacy.load(source), "nm_parser")
    assert nlp.component_names == names and nlp.disabled == ["parser"]
    nlp = spacy.load(target)
    nlp.remove_pipe("parser")  # then the new one comes last
    assert replace_parser(nlp, spacy.load(source)) == "nm_parser" == nlp.pipe_names[-1]
    assert trees(nlp) == expected
    assert not changed(list(old.pipe(TEXTS)), list(nlp.pipe(TEXTS)))


def test_what_changed_is_counted(target: Path) -> None:
    nlp = spacy.load(target)
    one, other = nlp(TEXTS[0]), nlp(TEXTS[0])
    other[1].lemma_ = "saw"
    other[3].ent_type_ = "ANIMAL"
    other[4].set_morph("Case=Nom")
    assert changed([one], [other]) == {"morphology": 1, "lemmas": 1, "entities": 1}
    with other.retokenize() as retokenizer:
        retokenizer.merge(other[2:4])
    assert changed([one], [other]) == {"tokens": 2, "morphology": 1, "lemmas": 1}
    with pytest.raises(ValueError, match=r"other texts: 'She saw the cat \.' is of one"):
        changed([one], [Doc(nlp.vocab, words=["She"])])


def test_errors(target: Path, source: Path) -> None:
    nlp = spacy.load(target)
    nlp.remove_pipe("parser")
    nlp.rename_pipe("tagger", "nm_parser")
    with pytest.raises(ValueError, match="but another component that is called 'nm_parser'"):
        replace_parser(nlp, spacy.load(source), "nm_parser")
    nlp = spacy.load(target)
    nlp.add_pipe("parser", name="another")
    with pytest.raises(ValueError, match="has several parsers"):
        replace_parser(nlp, spacy.load(source), "nm_parser")
    several = spacy.load(source)
    several.add_pipe("nm_parser", name="another")
    with pytest.raises(ValueError, match=r"has the parsers \['nm_parser', 'another'\]"):
        replace_parser(spacy.load(target), several)
    with pytest.raises(TypeError, match=r"takes pipelines.*give spacy.load\('training/x'\)"):
        replace_parser(spacy.load(target), Path("training/x"))  # type: ignore[arg-type]


@pytest.mark.parametrize("how", ["disabled", "tok2vec"])
def test_a_parser_that_is_cut_off_from_its_token_vectors(
    target: Path, source: Path, how: str, tmp_path: Path
) -> None:
    """Because one of the two is disabled or renamed: it would listen to the other pipeline's."""
    name, nlp = "nm_parser", spacy.load(source, disable=["tok2vec"] * (how == "disabled"))
    if how == "tok2vec":  # the parser's config still names the old one
        nlp.rename_pipe(how, "new")
        nlp.to_disk(tmp_path)
        nlp = spacy.load(tmp_path)
    other = spacy.load(target)
    before = trees(other)
    with pytest.raises(ValueError, match=f"'{name}' of .* is not connected with the component"):
        replace_parser(other, nlp, name)
    assert trees(other) == before


def test_vectors_of_words_come_along_or_are_missed(target: Path, tmp_path: Path) -> None:
    source, nlp = pipeline("nm_parser", 3, STATIC), spacy.load(target)
    expected = trees(source)
    replace_parser(nlp, source, "nm_parser")
    nlp.to_disk(tmp_path)
    assert trees(nlp) == trees(spacy.load(tmp_path)) == expected
    other = pipeline("parser", 2)
    with pytest.raises(ValueError, match=r"looks words up in vectors that .* does not have"):
        replace_parser(other, source, "nm_parser")
    assert other.get_pipe_meta("parser").factory == "parser"


def test_the_command(target: Path, source: Path, tmp_path: Path) -> None:
    text, output = tmp_path / "text.txt", tmp_path / "new"
    text.write_text("\n\n".join(TEXTS), encoding="utf-8")
    command = ("replace", target, source, "-o", output)
    done = succeed(*command, "--text", text)
    n_words = sum(len(text.split()) for text in TEXTS)
    assert f"The same for all of {n_words} words: tags, parts of speech, morph" in done.output
    assert trees(spacy.load(output)) == trees(spacy.load(source))
    again = run(*command)
    assert again.exit_code == 2 and "exists already" in again.output
    spacy.blank("de").to_disk(tmp_path / "de")
    code = tmp_path / "code.py"
    code.write_text("print('imported')", encoding="utf-8")
    command = ("replace", tmp_path / "de", source, "-o")
    done = succeed(*command, tmp_path / "added", "--text", text, "--code", code)
    assert "is made for 'de', and the parser of" in done.output and "imported" in done.output
    assert "as 'nm_parser', which is new" in done.output
    succeed(*command, tmp_path / "examples")


def test_the_command_counts_tokens_that_are_joined(
    target: Path, source: Path, tmp_path: Path
) -> None:
    """By the new parser or the old one."""
    nlp, text = make_nlp(lang="en"), tmp_path / "text.txt"
    gold = gold_doc(nlp.vocab, [0])
    gold[2].dep_ = SPACED
    train(nlp, [make_example(gold)], steps=60)
    assert nlp(TEXTS[0])[2].text == "the cat"
    nlp.to_disk(tmp_path / "joins")
    text.write_text(TEXTS[0], encoding="utf-8")
    for pipeline, parser, said in (
        (target, tmp_path / "joins", "all of 3 words: tags|2 words: tokens. The new parser joins"),
        (tmp_path / "joins", source, "all of 3 words: |1 word: tokens. The old parser joins"),
    ):
        output = tmp_path / f"with_{parser.name}"
        done = succeed("replace", pipeline, parser, "-o", output, "--text", text)
        assert all(one in done.output for one in said.split("|")), done.output
        assert len(spacy.load(output)(TEXTS[0])) == (4 if pipeline == target else 5)


def test_the_command_names_tags_as_the_cause(source: Path, tmp_path: Path) -> None:
    """Those that the parser writes; the remedy that it names is one."""
    old, tags, output, text = (tmp_path / name for name in ("old", "tags", "new", "text.txt"))
    pipeline: Any = spacy.blank("en")
    pipeline.add_pipe("parser").add_label("nsubj")
    pipeline.initialize()
    pipeline.to_disk(old)
    spacy.load(source, config={"components": {"nm_parser": {"write_tags": True}}}).to_disk(tags)
    text.write_text(TEXTS[0], encoding="utf-8")
    done = run("replace", old, tags, "-o", output, "--text", text)
    config = output / "config.cfg"
    assert "tags. The parser writes tags where" in done.output and "reads its" not in done.output
    assert f"To write no tags, set write_tags = false for 'parser' in {config}." in done.output
    assert spacy.load(output)(TEXTS[0])[1].tag_
    new = config.read_text(encoding="utf-8").replace("write_tags = true", "write_tags = false")
    config.write_text(new, encoding="utf-8")
    assert not spacy.load(output)(TEXTS[0])[1].tag_
