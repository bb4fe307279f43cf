"""The component with list systems: crossing trees without lifting, wherever a parser is used."""

from __future__ import annotations

import copy
import json
import pickle
import random
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
from spacy import displacy
from spacy.cli.init_config import fill_config
from spacy.cli.train import train as spacy_train
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from thinc.api import Config

from spacy_nmparse.pipe.doc_io import fix_edges
from spacy_nmparse.scorers.words import lstms
from spacy_nmparse.systems.projective import crossing_arcs
from tests.pipe.common import (
    ARC_FEATURES,
    DOCUMENTS,
    NL,
    TREES,
    arc_model_config,
    assert_edges,
    assert_sound,
    bare,
    gold_doc,
    learn,
    make_example,
    make_examples,
    make_nlp,
    overfitted,
    parser_of,
    random_doc,
    random_heads,
    random_parser,
    randomize,
    train,
    tree,
    unknown,
)
from tests.pipe.test_overfitting import texts
from tests.pipe.test_pipeline import CONFIG as NM_CONFIG
from tests.pipe.test_pipeline import TEXT, assemble

NONLOCAL, LOCAL = "spacy_nmparse.NLCovington.v1", "spacy_nmparse.Covington.v1"
SYSTEMS: dict[str, dict[str, Any]] = {
    "plain": {"@misc": NONLOCAL},
    "implicit": {"@misc": NONLOCAL, "explicit_root": False},
    "nonmonotonic": {"@misc": NONLOCAL, "nonmonotonic": True},
    "nonmonotonic implicit": {"@misc": NONLOCAL, "nonmonotonic": True, "explicit_root": False},
    "local": {"@misc": LOCAL},
    "local implicit": {"@misc": LOCAL, "explicit_root": False},
    "local nonmonotonic": {"@misc": LOCAL, "nonmonotonic": True},
    "short arcs": {"@misc": NONLOCAL, "max_length": 2},
    "shorter arcs": {"@misc": LOCAL, "max_length": 1, "explicit_root": False},
}
KNOWN = [name for name in SYSTEMS if "max_length" not in SYSTEMS[name]]


@pytest.fixture(scope="module")
def trained() -> Language:
    """Do not change it."""
    return overfitted(factory=NL)


def knows_the_trees(nlp: Language) -> bool:
    golds = [gold_doc(nlp.vocab, trees) for trees in DOCUMENTS]
    return [tree(doc) for doc in nlp.pipe(bare(gold) for gold in golds)] == [
        tree(gold) for gold in golds
    ]


def same_trees(a: Language, b: Language) -> bool:
    return [tree(a(text)) for text in texts()] == [tree(b(text)) for text in texts()]


# Learning


@pytest.mark.parametrize(
    ("system", "oracle"),
    [
        *((system, "dynamic") for system in KNOWN if "nonmonotonic" not in system),
        *((system, "static") for system in KNOWN),
    ],
)
def test_overfitting(system: str, oracle: str) -> None:
    nlp = overfitted(factory=NL, system=SYSTEMS[system], oracle=oracle)
    parser = parser_of(nlp)
    assert parser.cfg == {"projectivize": False}
    assert not any("||" in label for label in parser.label_data["labels"])
    assert crossing_arcs(TREES[2][1])
    assert knows_the_trees(nlp)
    for trees in DOCUMENTS:
        doc = nlp(bare(gold_doc(nlp.vocab, trees)))
        assert_sound(doc)
        assert_edges(doc)


@pytest.mark.parametrize("system", [name for name in KNOWN if "nonmonotonic" in name])
def test_learning_where_the_loss_is_a_guess(system: str) -> None:
    """An error may be learned as free (docs/systems.md): most trees are right, not all."""
    nlp = overfitted(factory=NL, system=SYSTEMS[system], oracle="dynamic")
    examples = make_examples(nlp.vocab)
    assert nlp.evaluate(examples)["dep_las"] > 0.8
    for example in examples:
        doc = nlp(bare(example.reference))
        assert_sound(doc)
        assert_edges(doc)


@pytest.mark.parametrize(
    "options",
    [
        {"maxout_pieces": 1, "lstm_width": 0},
        {"maxout_pieces": 3, "hidden_width": 9, "tree_weight": 0.0},
        {"features": None, "arc_width": 32},
    ],
)
def test_overfitting_with_other_scorers(options: dict[str, Any]) -> None:
    assert knows_the_trees(overfitted(factory=NL, model=arc_model_config(**options)))


def test_arcs_that_are_too_long_for_the_system() -> None:
    """Shorter ones are learned, and trees stay sound. Along the static oracle's path: a word that
    lost its head may be attached anywhere at no cost, and from there on the parser would be where
    it was never trained."""
    options = {"oracle": "static", "explore": 0.0}
    nlp = overfitted(factory=NL, system=SYSTEMS["short arcs"], **options)
    for trees in DOCUMENTS:
        gold = gold_doc(nlp.vocab, trees)
        doc = nlp(bare(gold))
        assert_sound(doc)
        long = [t.i for t in gold if abs(t.i - t.head.i) > 2]
        wrong = [t.i for t, found in zip(gold, doc, strict=True) if t.head.i != found.head.i]
        assert set(wrong) <= set(long)
    assert any(abs(head - word) > 2 for _, heads, _ in TREES for word, head in enumerate(heads))


@pytest.mark.parametrize("explore", [0.0, 0.5])
def test_the_loss_falls(explore: float) -> None:
    nlp = make_nlp(factory=NL, explore=explore)
    examples = make_examples(nlp.vocab)
    sgd = nlp.initialize(lambda: examples)
    first = nlp.update(examples, sgd=sgd)[NL]
    assert train(nlp, examples, sgd=sgd, steps=60, drop=0.1) < first / 10


def test_overfitting_random_crossing_trees() -> None:
    nlp = make_nlp(factory=NL)
    rng = random.Random(2)
    golds, crossing = [], 0
    for k in range(8):
        heads = random_heads(7, rng)
        crossing += bool(crossing_arcs(heads))
        deps = ["ROOT" if head == i else rng.choice("abc") for i, head in enumerate(heads)]
        words = [f"{k}-{i}" for i in range(7)]
        golds.append(Doc(nlp.vocab, words=words, heads=heads, deps=deps))
    assert crossing >= 6
    learn(nlp, [make_example(gold) for gold in golds])
    for gold in golds:
        doc = nlp(bare(gold))
        assert [(t.head.i, t.dep_) for t in doc] == [(t.head.i, t.dep_) for t in gold]
        assert_sound(doc)
        assert_edges(doc)


def test_scores_of_what_was_learned(trained: Language) -> None:
    scores = trained.evaluate(make_examples(trained.vocab))
    for key in ("dep_uas", "dep_las", "sents_f", "dep_las_conll", "dep_exact", "nonproj_r"):
        assert scores[key] == 1.0, key


def test_lifting_goes_with_it() -> None:
    nlp = overfitted(factory=NL, projectivize=True)
    assert any("||" in label for label in parser_of(nlp).label_data["labels"])
    assert knows_the_trees(nlp)


def test_dropout_of_the_scorers_own_layers() -> None:
    """drop is the rate of tok2vec; dropout_factor times as much, 0.9 at most, is theirs."""
    for factor, expected in ((0.0, 0.0), (1.5, 0.3), (100.0, 0.9)):
        nlp = make_nlp(factory=NL, model=arc_model_config(dropout_factor=factor, lstm_depth=2))
        train(nlp, make_examples(nlp.vocab), steps=1, drop=0.2)
        model = parser_of(nlp).model
        for node in model.walk():
            if "dropout_rate" in node.attrs:
                own = node is model or node in lstms(model)
                assert node.attrs["dropout_rate"] == pytest.approx(expected if own else 0.2)
        doc = bare(gold_doc(nlp.vocab, [2]))  # none of it in parsing
        assert tree(nlp(doc)) == tree(nlp(bare(doc)))


@pytest.mark.parametrize("system", ["plain", "nonmonotonic implicit", "short arcs"])
def test_rehearsal(system: str) -> None:
    """What completion gives is learned like any tree, also where an arc is too long."""
    nlp = overfitted(factory=NL, system=SYSTEMS[system])
    parser = parser_of(nlp)
    sgd = nlp.resume_training()
    randomize(parser._rehearsal_model, 5, 0.3)
    rng = random.Random(0)
    docs = [random_doc(nlp.vocab, rng, n) for n in (0, 1, 5, 20)]
    before = parser.to_bytes()
    losses = [parser.rehearse([make_example(doc) for doc in docs], sgd=sgd)[NL] for _ in range(30)]
    assert parser.to_bytes() != before
    assert numpy.isfinite(losses).all() and losses[-1] < losses[0]


def test_rehearsal_knows_of_the_longest_arc() -> None:
    """Arcs that are too long are given up beforehand, as in gold trees."""
    nlp = overfitted(factory=NL, system=SYSTEMS["short arcs"])
    parser = parser_of(nlp)
    nlp.resume_training()
    randomize(parser._rehearsal_model, 5, 0.3)
    seen: list[Any] = []
    parser._rollout = lambda scorer, batch, *_: (seen.extend(batch.golds), 1 / 0)
    doc = random_doc(nlp.vocab, random.Random(0), 40, space=0)
    with pytest.raises(ZeroDivisionError):
        parser.rehearse([make_example(doc)])
    (gold,) = seen
    assert None in gold.heads, "no arc of the tree is too long"
    assert all(head is None or abs(head - w) <= 2 for w, head in enumerate(gold.heads))


# Trees on documents


@pytest.mark.parametrize("system", SYSTEMS)
def test_random_parsers_are_sound(system: str) -> None:
    rng = random.Random(5)
    crossing = sentences = 0
    for seed in range(3):
        nlp = random_parser(seed, factory=NL, system=SYSTEMS[system])
        randomize(parser_of(nlp).model, seed, 0.2)
        docs = [random_doc(nlp.vocab, rng, rng.randint(0, 30)) for _ in range(30)]
        for doc in nlp.pipe(docs):
            assert_sound(doc)
            assert_edges(doc)
            crossing += bool(crossing_arcs([token.head.i for token in doc]))
            sentences += len(list(doc.sents)) > 1
    assert sentences > 5
    assert crossing > 5 or system == "shorter arcs"


def test_all_short_documents() -> None:
    """No word, one word, spaces only, and all else up to four tokens."""
    nlp = random_parser(5, factory=NL)
    rng = random.Random(0)
    for n in range(5):
        for _ in range(3**n):
            words = [rng.choice(["cat", " ", "like"]) for _ in range(n)]
            doc = nlp(Doc(nlp.vocab, words=words))
            assert_sound(doc)
    doc = nlp("Yes")
    assert [(t.head.i, t.dep_) for t in doc] == [(0, "ROOT")]
    assert len(nlp("")) == 0


def test_spaces_change_nothing_for_words() -> None:
    """With a tok2vec that sees one word at a time; the LSTM sees words only."""
    tok2vec = {**arc_model_config()["tok2vec"], "window_size": 0}
    nlp = random_parser(3, factory=NL, model=arc_model_config(tok2vec=tok2vec))
    rng = random.Random(1)
    for _ in range(10):
        plain = random_doc(nlp.vocab, rng, 12, space=0)
        expected = [(t.text, t.head.i, t.dep_) for t in nlp(bare(plain))]
        words: list[str] = []
        numbers = {}
        for i, token in enumerate(plain):
            words += rng.choices([" ", "\n", "\t"], k=rng.randint(0, 2))
            numbers[len(words)] = i
            words.append(token.text)
        doc = nlp(Doc(nlp.vocab, words=words))
        assert_sound(doc)
        assert [(t.text, numbers[t.head.i], t.dep_) for t in doc if not t.is_space] == expected


def test_crossing_trees_come_through_a_doc_bin() -> None:
    """Only the edges do not: spaCy computes them again, and fix_edges sets them right."""
    rng = random.Random(2)
    wrong = 0
    for seed in range(3):
        nlp = random_parser(seed, factory=NL)
        randomize(parser_of(nlp).model, seed, 0.2)
        docs = [nlp(random_doc(nlp.vocab, rng, rng.randint(0, 50))) for _ in range(25)]
        stored = DocBin(docs=docs).to_bytes()
        for doc, read in zip(docs, DocBin().from_bytes(stored).get_docs(nlp.vocab), strict=True):
            assert_edges(doc)
            assert tree(read) == tree(doc)
            assert [(s.start, s.end) for s in read.sents] == [(s.start, s.end) for s in doc.sents]
            try:
                assert_edges(read)
            except AssertionError:
                wrong += 1
            assert fix_edges(read) is read
            assert_edges(read)
            assert tree(read) == tree(doc)
    assert wrong > 5, "spaCy's own edges have become right: fix_edges is no longer needed"


def test_displacy(trained: Language) -> None:
    doc = trained(bare(gold_doc(trained.vocab, [2, 4, 3])))
    assert crossing_arcs([token.head.i for token in doc])
    html = displacy.render(doc, style="dep", jupyter=False, options={"collapse_punct": False})
    assert html.count('class="displacy-arc"') == len(doc) - 3
    for label in ("prep", "advmod", "nsubj"):
        assert f">{label}<" in html


# The same trees whichever way


@pytest.mark.parametrize("batch_size", [1, 2, 7, 1000])
def test_batch_size(trained: Language, batch_size: int) -> None:
    random_one = random_parser(1, factory=NL)
    randomize(parser_of(random_one).model, 1, 0.2)
    for nlp in (trained, random_one):
        expected = [tree(nlp(text)) for text in texts()]
        assert len({str(t) for t in expected}) > 10
        assert [tree(doc) for doc in nlp.pipe(texts(), batch_size=batch_size)] == expected


def test_two_processes(trained: Language) -> None:
    expected = [tree(doc) for doc in trained.pipe(texts())]
    docs = list(trained.pipe(texts(), n_process=2, batch_size=4))
    assert [tree(doc) for doc in docs] == expected
    for doc in docs:
        assert_edges(fix_edges(doc))


def test_stored_parsers(trained: Language, tmp_path: Path) -> None:
    parser = parser_of(trained)
    nlp = make_nlp(factory=NL)
    nlp.from_bytes(trained.to_bytes())
    assert parser_of(nlp).labels == parser.labels
    assert parser_of(nlp).to_bytes() == parser.to_bytes()
    assert same_trees(nlp, trained)
    trained.to_disk(tmp_path)
    assert same_trees(spacy.load(tmp_path), trained)
    component = tmp_path / "component"
    parser.to_disk(component)
    other = make_nlp(factory=NL)
    parser_of(other).from_disk(component)
    assert same_trees(other, trained)
    assert knows_the_trees(other)
    for again in (copy.deepcopy(trained), pickle.loads(pickle.dumps(parser))):
        for text in texts():
            assert tree(again(trained.make_doc(text))) == tree(trained(text))


def test_a_copy_can_be_trained(trained: Language) -> None:
    parser = parser_of(trained)
    before = parser.to_bytes()
    other = pickle.loads(pickle.dumps(parser))
    assert other.update([unknown(other.vocab)], sgd=trained.create_optimizer())[NL] > 1
    assert other.to_bytes() != before
    assert parser.to_bytes() == before


def test_labels_added_after_training() -> None:
    nlp = overfitted(factory=NL)
    parser = parser_of(nlp)
    assert parser.add_label("obj") == 0
    assert parser.add_label("vocative") == 1
    assert parser.labels[-1] == "vocative"
    assert knows_the_trees(nlp)
    gold = Doc(
        nlp.vocab,
        words=["Sleep", "Berlin", "!"],
        heads=[0, 0, 0],
        deps=["ROOT", "vocative", "punct"],
    )
    examples = [*make_examples(nlp.vocab), make_example(gold)]
    learn(nlp, examples, sgd=nlp.resume_training())
    assert tree(nlp(bare(gold))) == tree(gold)
    assert knows_the_trees(nlp)
    other = make_nlp(factory=NL)
    other.from_bytes(nlp.to_bytes())
    assert tree(other(bare(gold))) == tree(gold)


# Damaged and foreign files


def test_files_of_another_parser(trained: Language, tmp_path: Path) -> None:
    parser_of(trained).to_disk(tmp_path)
    for system, model, message in (
        (SYSTEMS["implicit"], {}, "explicit_root"),
        (SYSTEMS["local"], {}, "covington"),
        (SYSTEMS["plain"], {"features": None}, "features"),
        (SYSTEMS["plain"], {"hidden_width": 25}, "another configuration"),
        (SYSTEMS["plain"], {"arc_width": 32}, "another configuration"),
        (SYSTEMS["plain"], {"lstm_width": 13}, "another configuration"),
        (SYSTEMS["plain"], {"lstm_width": 0}, "another configuration"),
    ):
        nlp = make_nlp(factory=NL, system=system, model=arc_model_config(**model))
        with pytest.raises(ValueError, match=message):
            parser_of(nlp).from_disk(tmp_path)
        train(nlp, make_examples(nlp.vocab), steps=1)  # it is as it was
        before = parser_of(nlp).to_bytes()
        with pytest.raises(ValueError, match=message):
            parser_of(nlp).from_disk(tmp_path)
        assert parser_of(nlp).to_bytes() == before
    with pytest.raises(ValueError, match="nm_parser"):
        make_nlp().get_pipe("nm_parser").from_disk(tmp_path)


def test_features_are_saved(trained: Language, tmp_path: Path) -> None:
    parser_of(trained).to_disk(tmp_path)
    content = json.loads((tmp_path / "parser.json").read_text("utf8"))
    assert content["features"] == ARC_FEATURES


# Among other components

CONFIG = (
    NM_CONFIG.replace('factory = "nm_parser"', f'factory = "{NL}"')
    .replace("projectivize = true\n", "")
    .replace("StateScorer.v1", "ArcScorer.v1")
    .replace("hidden_width = 24", "arc_width = 16\nhidden_width = 24\nlstm_width = 12")
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    nlp = spacy.blank("xx")
    docs = [example.reference for example in make_examples(nlp.vocab)]
    DocBin(docs=[*docs, Doc(nlp.vocab, words=["\n"])]).to_disk(tmp_path / "corpus.spacy")
    (tmp_path / "base.cfg").write_text(CONFIG)
    fill_config(tmp_path / "config.cfg", tmp_path / "base.cfg")
    return tmp_path


def test_train_by_config(project: Path) -> None:
    filled = Config().from_disk(project / "config.cfg")
    parser = filled["components"]["parser"]
    assert parser["factory"] == NL and parser["projectivize"] is False
    assert parser["system"]["@misc"] == NONLOCAL
    assert parser["model"]["@architectures"] == "spacy_nmparse.ArcScorer.v1"
    assert parser["model"]["features"] is None
    fill_config(project / "again.cfg", project / "config.cfg")
    assert (project / "again.cfg").read_text() == (project / "config.cfg").read_text()
    corpus = str(project / "corpus.spacy")
    overrides = {
        "corpora.train.path": corpus,
        "corpora.dev.path": corpus,
        "training.max_steps": 40,
    }
    spacy_train(project / "config.cfg", project / "out", overrides=overrides)
    best = spacy.load(project / "out" / "model-best")
    assert best.meta["performance"]["dep_las"] > 0.8
    assert best.meta["performance"]["nonproj_r"] is not None
    config = best.config.copy()
    for name in ("tok2vec", "parser"):
        config["components"][name] = {"source": str(project / "out" / "model-best")}
    config.to_disk(project / "assemble.cfg")
    assembled = assemble(project / "assemble.cfg", project / "assembled")
    assert tree(assembled(TEXT)) == tree(best(TEXT))
    assert_sound(assembled(TEXT))


def test_a_shared_tok2vec(tmp_path: Path) -> None:
    numpy.random.seed(0)
    nlp = spacy.util.load_model_from_config(Config().from_str(CONFIG), auto_fill=True)
    examples = make_examples(nlp.vocab)
    examples += [make_example(Doc(nlp.vocab, words=words)) for words in ([], ["\n"])]
    learn(nlp, examples)
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


def test_sourcing_and_freezing() -> None:
    nlp = overfitted(factory=NL)
    before = parser_of(nlp).to_bytes()
    other = spacy.blank("en")
    other.add_pipe(NL, source=nlp)
    other.add_pipe("tagger")
    examples = make_examples(other.vocab)
    for example in examples:
        for token in example.reference:
            token.tag_ = token.dep_
    tagger = other.get_pipe("tagger")
    tagger.initialize(lambda: examples, nlp=other)
    update, seen = tagger.update, []

    def spy(examples: Any, **kwargs: Any) -> Any:
        seen.extend(tree(eg.predicted) for eg in examples)
        return update(examples, **kwargs)

    tagger.update = spy
    losses = other.update(examples, sgd=other.create_optimizer(), exclude=[NL], annotates=[NL])
    assert NL not in losses and losses["tagger"] > 0
    assert seen == [tree(eg.reference) for eg in examples]
    assert parser_of(other).to_bytes() == before


def test_default_config_makes_a_working_parser() -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe(NL)
    examples = make_examples(nlp.vocab)
    nlp.initialize(lambda: examples)
    assert nlp.update(examples)[NL] > 0
    assert_sound(nlp(TEXT))
    assert not nlp.analyze_pipes()["problems"][NL]
    assert not parser_of(nlp).cfg["projectivize"]


def test_a_bad_document_in_a_batch(trained: Language) -> None:
    nlp = copy.deepcopy(trained)
    parser = parser_of(nlp)
    predict = parser.predict

    def fails(docs: list[Doc]) -> Any:
        if any(doc.text == "bad" for doc in docs):
            raise RuntimeError("a bad document")
        return predict(docs)

    parser.predict = fails
    failed = []
    nlp.set_error_handler(
        lambda name, proc, docs, error: failed.append((name, [d.text for d in docs], str(error)))
    )
    docs = list(nlp.pipe(["Sleep !", "bad", "", TEXT], batch_size=3))
    assert [doc.text for doc in docs] == ["Sleep !", "", TEXT]
    assert [tree(doc) for doc in docs] == [tree(trained(doc.text)) for doc in docs]
    assert failed == [(NL, ["bad"], "a bad document")]


def test_a_blank_pipeline_says_what_to_do() -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe(NL)
    with pytest.raises(ValueError, match=rf"{NL}.*initialize"):
        nlp("One two")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"beam_width": 0}, "beam_width.*0"),
        ({"oracle": "combined"}, "combined"),
        ({"explore": 1.5}, r"1\.5"),
        ({"system": {"@misc": NONLOCAL, "max_length": -1}}, "max_length.*-1"),
        ({"system": {"@misc": NONLOCAL, "swift": True}}, "swift"),
        ({"nothing": 1}, "nothing"),
    ],
)
def test_wrong_options(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_nlp(factory=NL, **config)
