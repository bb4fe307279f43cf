"""`spacy pretrain` of the default token vectors on plain text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import spacy
import srsly
from spacy.cli import app
from spacy.tokens import Doc
from typer.testing import CliRunner

from spacy_nmparse.ud.whole_pipeline import CONFIGS
from tests.toy_treebank import write_treebank


def run(*arguments: str | Path) -> None:
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == 0, result.output


def vectors(nlp: Any, *words: str) -> numpy.ndarray:
    found: numpy.ndarray = nlp.get_pipe("tok2vec").predict([Doc(nlp.vocab, words=words)])[0]
    return found


def test_training_begins_with_what_was_pretrained(tmp_path: Path) -> None:
    """With its token vectors, and with the words that it has seen."""
    text, config, out = (tmp_path / name for name in ("text.jsonl", "config.cfg", "out"))
    srsly.write_jsonl(text, [{"text": "The zebra ran on."}, {"text": "A zebra sat."}] * 20)
    treebank = write_treebank(tmp_path)
    run("init", "fill-config", "--pretraining", CONFIGS / "nm_parser.cfg", config)
    paths = ["--paths.raw_text", text, "--paths.train", treebank / "toy_test-ud-train.conllu"]
    paths += ["--paths.dev", treebank / "toy_test-ud-dev.conllu"]
    run("pretrain", config, out, *paths, "--pretraining.max_epochs", "1")
    weights = ["--paths.init_tok2vec", out / "model-last.bin"]
    run("init", "nlp", config, tmp_path / "plain", *paths)
    run("init", "nlp", config, tmp_path / "pretrained", *paths, *weights)
    plain, pretrained = (spacy.load(tmp_path / name) for name in ("plain", "pretrained"))
    zebra, okapi = vectors(pretrained, "zebra"), vectors(pretrained, "okapi")
    assert not numpy.array_equal(vectors(plain, "zebra"), zebra)
    assert not numpy.array_equal(okapi, zebra)
    assert numpy.array_equal(vectors(pretrained, "quagga"), okapi)
