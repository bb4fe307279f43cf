"""The component among others: configurations, training by config, sourcing, freezing, errors."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import spacy
from spacy.cli.assemble import assemble_cli
from spacy.cli.debug_config import debug_config
from spacy.cli.init_config import fill_config
from spacy.cli.package import package
from spacy.cli.train import train as spacy_train
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from thinc.api import Config, fix_random_seed

from spacy_nmparse.pipe.spec import SystemSpec
from spacy_nmparse.scorers.shared import recurrent_layers
from tests.commands import python
from tests.pipe.common import (
    LISTENER,
    NL,
    NM,
    SMALL,
    SWAP,
    TOK2VEC,
    assert_sound,
    knows_the_trees,
    learn,
    make_example,
    make_examples,
    model_config,
    noted_failures,
    overfitted,
    parser_of,
    random_parser,
    ready,
    surely_parsed,
    train,
    tree,
)

TEXT = "She saw the cat . A hearing is scheduled on the issue today Sleep !"


EVERY = pytest.mark.parametrize("factory", SMALL)
# The state scorer of nm_parser is swap_parser's, too.
MOST = pytest.mark.parametrize("factory", [NM, NL, pytest.param(SWAP, marks=pytest.mark.slow)])
# The system and the scorer of each factory, unless another is asked for.
PARTS = {
    NM: ("spacy_nmparse.ArcEager.v1", "spacy_nmparse.StateScorer.v1"),
    NL: ("spacy_nmparse.NLCovington.v1", "spacy_nmparse.ArcScorer.v1"),
    SWAP: ("spacy_nmparse.SwapStandard.v1", "spacy_nmparse.StateScorer.v1"),
}


def config_of(factory: str) -> Config:
    """A tok2vec and a parser of the factory; its system is left to the defaults."""
    model = {**SMALL[factory]["model"], "tok2vec": LISTENER}
    corpus = {"@readers": "spacy.Corpus.v1", "path": None}
    config = {
        "nlp": {"lang": "xx", "pipeline": ["tok2vec", "parser"]},
        "components": {
            "tok2vec": {"factory": "tok2vec", "model": TOK2VEC},
            "parser": {**SMALL[factory], "factory": factory, "model": model},
        },
        "corpora": {"train": corpus, "dev": corpus},
        "training": {
            "max_steps": 24,
            "eval_frequency": 12,
            "optimizer": {"@optimizers": "Adam.v1", "learn_rate": 0.02, "use_averages": True},
            "batcher": {"@batchers": "spacy.batch_by_sequence.v1", "size": 9},
        },
    }
    return Config(config).copy()


def two_pipes(factory: str) -> Language:
    """A parser that listens to a shared tok2vec, trained."""
    fix_random_seed(0)
    nlp = spacy.util.load_model_from_config(config_of(factory), auto_fill=True)
    learn(nlp, examples_with_spaces(nlp))
    return nlp


def examples_with_spaces(nlp: Language) -> list[Example]:
    """With documents that have no words: a listener counts them too."""
    examples = make_examples(nlp.vocab)
    for words in ([], ["\n"], [" ", "\n"]):
        examples.append(make_example(Doc(nlp.vocab, words=words)))
    return examples


def test_the_factory_is_found_without_importing_the_package() -> None:
    code = """
import sys, spacy
nlp = spacy.blank("xx")
heavy = [name for name in sys.modules if name.startswith("spacy_nmparse.")]
assert not any(name.split(".")[1] in ("systems", "learning", "scorers", "pipe") for name in heavy)
pipe = nlp.add_pipe("nm_parser", name="parser")
print(type(pipe).__name__, nlp.pipe_names, nlp.get_pipe_meta("parser").factory)
print(sorted(nlp.get_pipe_meta("parser").assigns))
"""
    done = python("-c", code)
    assert done.stdout.splitlines() == [
        "TransitionParser ['parser'] nm_parser",
        "['doc.sents', 'token.dep', 'token.head', 'token.is_sent_start']",
    ], done.stderr


@EVERY
def test_default_config_makes_a_working_parser(factory: str) -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe(factory)
    with pytest.raises(ValueError, match=rf"{factory}.*initialize"):
        nlp("One two")
    assert len(nlp("")) == 0
    parser_of(nlp).add_label("obj")
    with pytest.raises(ValueError, match=rf"{factory}.*initialize"):
        nlp("One two")
    examples = make_examples(nlp.vocab)
    nlp.initialize(lambda: examples)
    assert nlp.update(examples)[factory] > 0
    assert_sound(nlp(TEXT))
    assert not nlp.analyze_pipes()["problems"][factory]
    assert parser_of(nlp).cfg == {"projectivize": False}


# The life of a config file


@pytest.fixture
def factory() -> str:
    """Of the project's parser, where a test does not say."""
    return NM


@pytest.fixture
def project(tmp_path: Path, factory: str) -> Path:
    """A folder with a corpus and a filled config."""
    docs = [example.reference for example in examples_with_spaces(spacy.blank("xx"))]
    DocBin(docs=docs).to_disk(tmp_path / "corpus.spacy")
    config_of(factory).to_disk(tmp_path / "base.cfg")
    fill_config(tmp_path / "config.cfg", tmp_path / "base.cfg")
    return tmp_path


@MOST
def test_train_by_config(factory: str, project: Path, capsys: pytest.CaptureFixture) -> None:
    filled = Config().from_disk(project / "config.cfg")
    parser = filled["components"]["parser"]
    assert parser["factory"] == factory and parser["learning"]["oracle"]
    assert parser["projectivize"] is (factory == NM)
    assert (parser["system"]["@misc"], parser["model"]["@architectures"]) == PARTS[factory]
    assert factory != NM or parser["system"]["nonmonotonic_left"] is True
    scorer = {"@scorers": "spacy_nmparse.parser_scorer.v1", "punctuation": True}
    assert parser["scorer"] == scorer
    assert parser["model"]["hidden_width"] == 24
    assert filled["training"]["score_weights"]["dep_las"] == 0.5
    fill_config(project / "again.cfg", project / "config.cfg")
    assert (project / "again.cfg").read_text() == (project / "config.cfg").read_text()
    paths = dict.fromkeys(("corpora.train.path", "corpora.dev.path"), f"{project}/corpus.spacy")
    debug_config(project / "config.cfg", overrides=paths)

    overrides = {**paths, "training.max_steps": 40}
    spacy_train(project / "config.cfg", project / "out", overrides=overrides)
    assert "LOSS PARSER" in capsys.readouterr().out
    best = spacy.load(project / "out" / "model-best")
    last = spacy.load(project / "out" / "model-last")
    assert best.meta["performance"]["dep_las"] > 0.8
    assert best.meta["performance"]["nonproj_r"] is not None
    assert best.meta["performance"]["parser_loss"] > 0
    assert best.meta["labels"]["parser"] == list(last.get_pipe("parser").labels)
    assert_sound(last(TEXT))

    # The same through the commands that come after.
    config = best.config.copy()
    for name in ("tok2vec", "parser"):
        config["components"][name] = {"source": str(project / "out" / "model-best")}
    config.to_disk(project / "assemble.cfg")
    assembled, context = project / "assembled", SimpleNamespace(args=[])
    assemble_cli(context, project / "assemble.cfg", assembled, code_path=None, verbose=False)
    made = {"create_sdist": False, "create_wheel": False, "silent": True}
    package(project / "out" / "model-best", project, name="demo", version="1.0.0", **made)
    packaged = project / "xx_demo-1.0.0" / "xx_demo" / "xx_demo-1.0.0"
    meta = json.loads((project / "xx_demo-1.0.0" / "meta.json").read_text())
    assert any(need.startswith("spacy-nmparse") for need in meta["requirements"])
    expected = tree(best(TEXT))
    for folder in (assembled, packaged):
        doc = spacy.load(folder)(TEXT)
        assert tree(doc) == expected
        assert_sound(doc)


# Listeners


@MOST
def test_a_shared_tok2vec_is_trained(factory: str, tmp_path: Path) -> None:
    nlp = two_pipes(factory)
    assert knows_the_trees(nlp)
    expected = tree(nlp(TEXT))
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert tree(again(TEXT)) == expected
    again.replace_listeners("tok2vec", "parser", ["model.tok2vec"])
    again.remove_pipe("tok2vec")
    assert tree(again(TEXT)) == expected
    again.to_disk(tmp_path / "alone")
    assert tree(spacy.load(tmp_path / "alone")(TEXT)) == expected
    before = again.get_pipe("parser").model.get_ref("tok2vec").to_bytes()
    again.update(make_examples(again.vocab), sgd=again.resume_training())
    assert again.get_pipe("parser").model.get_ref("tok2vec").to_bytes() != before
    other = spacy.blank("en")
    other.add_pipe("tok2vec", source=nlp)
    other.add_pipe("parser", source=nlp)
    assert tree(other(Doc(other.vocab, words=[word for word, *_ in expected]))) == expected


def test_accumulated_gradients_are_those_of_one_batch() -> None:
    """Without a step in between, two half batches give the gradient of the whole."""
    nlp = random_parser(1, explore=0.0, model=model_config(recurrent_width=4))
    parser = nlp.get_pipe("nm_parser")
    examples = make_examples(nlp.vocab)

    def gradients(*batches: list[Example]) -> list[Any]:
        twin = copy.deepcopy(parser)
        for batch in batches:
            twin.update(batch, sgd=False)
        nodes = [twin.model, *recurrent_layers(twin.model)]
        return [node.get_grad(name) for node in nodes for name in node.param_names]

    pairs = list(zip(gradients(examples), gradients(examples[:4], examples[4:]), strict=True))
    assert len(pairs) > 10 and max(abs(whole).max(initial=0) for whole, _ in pairs) > 1
    for whole, parts in pairs:
        assert abs(whole - parts).max(initial=0) < 1e-4 * max(1, abs(whole).max(initial=0))


def test_update_without_an_optimizer_changes_nothing() -> None:
    nlp = random_parser(1)
    parser = parser_of(nlp)
    before = parser.to_bytes()
    for sgd in (None, False):
        assert parser.update(make_examples(nlp.vocab), sgd=sgd)["nm_parser"] > 0
        assert parser.to_bytes() == before
    losses = {"nm_parser": 1.0, "other": 2.0}
    assert parser.update(make_examples(nlp.vocab), losses=losses) is losses
    assert losses["nm_parser"] > 1.0 and losses["other"] == 2.0


def test_averaged_weights() -> None:
    nlp, examples, sgd = ready()
    sgd.averages = {}
    train(nlp, examples, sgd=sgd, steps=15)
    parser = parser_of(nlp)
    before = parser.to_bytes()
    with nlp.use_params(sgd.averages):
        during = parser.to_bytes()
        assert_sound(nlp(TEXT))
    assert during != before == parser.to_bytes()
    for name in ("word_W", "bias", "move_W", "move_b", "label_W", "label_b", "fact_rows"):
        assert (parser.model.id, name) in sgd.averages


# What goes wrong


@EVERY
@pytest.mark.parametrize(
    ("method", "width", "threads"),
    [("predict", 1, 1), ("predict", 1, 3), ("set_annotations", 1, 1), ("set_annotations", 3, 1)],
)
def test_a_bad_document_in_a_batch(factory: str, method: str, width: int, threads: int) -> None:
    """The error handler gets the one that fails; the rest comes in order, as without it."""
    nlp = random_parser(3, factory=factory, beam_width=width, threads=threads, confidence=True)
    parser = parser_of(nlp)
    texts = ["Sleep !", "bad", "Yes", "", TEXT, "bad"]
    expected = surely_parsed(map(nlp, ["Sleep !", "Yes", "", TEXT]))
    whole = getattr(parser, method)

    def fails(docs: list[Doc], *parses: Any) -> Any:
        for i, doc in enumerate(docs):
            if doc.text == "bad":
                raise RuntimeError("a bad document")
            if parses:  # those before the bad one are written, and then parsed again
                whole([doc], parses[0].by_document()[i])
        return None if parses else whole(docs)

    setattr(parser, method, fails)
    with pytest.raises(RuntimeError, match="a bad document"):  # without a handler
        list(nlp.pipe(["Yes", "bad"]))
    failed = noted_failures(nlp)
    for batch_size in (1, 2, 6, 100):
        failed.clear()
        assert surely_parsed(nlp.pipe(texts, batch_size=batch_size)) == expected
        assert failed == [(factory, ["bad"], "a bad document")] * 2
        docs = [nlp.make_doc(text) for text in texts]
        assert surely_parsed(parser.pipe(docs, batch_size=batch_size)) == expected
    assert nlp("Yes")[0].dep_ == "ROOT"


def test_wrong_examples() -> None:
    nlp = overfitted()
    parser = nlp.get_pipe("nm_parser")
    for method in (parser.update, parser.rehearse):
        with pytest.raises(TypeError, match="TransitionParser"):
            method([nlp.make_doc("a")])
    with pytest.raises(TypeError, match="TransitionParser"):
        parser.initialize(make_examples(nlp.vocab))


@pytest.mark.parametrize("option", ["labels", "name", "foo"])
def test_an_unknown_option_of_a_system_is_named(option: str) -> None:
    with pytest.raises(TypeError, match=f"arc_eager has no option '{option}'"):
        SystemSpec("arc_eager", {option: "x"})
