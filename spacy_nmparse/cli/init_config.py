"""``nmparse init-config``: a config to train a parser or a whole pipeline with."""

from __future__ import annotations

from pathlib import Path

import typer
from spacy.util import load_config

from spacy_nmparse.cli.console import check_absent, check_choice, check_lang, fail, failures, load
from spacy_nmparse.pipe.files import write_files
from spacy_nmparse.terminal import show
from spacy_nmparse.ud.pretrained import with_transformer
from spacy_nmparse.ud.whole_pipeline import CONFIGS, whole_pipeline

PIPELINES = ("whole", "parser")


def run(
    output: Path = typer.Argument(..., help="The config to write"),
    lang: str | None = typer.Option(None, "--lang", help="spaCy's language code"),
    pipeline: str = typer.Option(
        "whole", "--pipeline", help="'whole': words, tags, lemmas and trees; 'parser': trees alone"
    ),
    parser: str = typer.Option(
        "nl_covington_parser",
        "--parser",
        help="'nl_covington_parser', 'nm_parser', 'swap_parser', or a parser's config (.cfg)",
    ),
    vectors: str | None = typer.Option(
        None, "--vectors", help="A pipeline with word vectors: its package or folder"
    ),
    transformer: str | None = typer.Option(
        None,
        "--transformer",
        help="A transformer to train with: its folder, or its name at the Hugging Face hub",
    ),
) -> None:
    """Write a config to train with `python -m spacy train`."""
    check_choice("--pipeline", pipeline, PIPELINES)
    check_absent(output)
    path = Path(parser) if parser.endswith(".cfg") else CONFIGS / f"{parser}.cfg"
    if not path.is_file():
        names = ", ".join(sorted(config.stem for config in CONFIGS.glob("*.cfg")))
        fail(f"There is no config {parser!r}: --parser is {names}, or a .cfg file.")
    if vectors and transformer:
        fail("--vectors and --transformer: give one of them.")
    if vectors and not load(vectors).vocab.vectors.shape[0]:
        fail(f"--vectors {vectors}: this pipeline has no word vectors.")
    with failures():
        config = load_config(path, interpolate=False)
        if pipeline == "whole":
            config = whole_pipeline(config)
        if transformer:
            config = with_transformer(config, transformer)
        if lang:
            config["nlp"]["lang"] = check_lang(lang, "--lang")
        elif config["nlp"]["lang"] == "xx":
            show("The tokenizer is that of no language (xx): --lang names one.")
        if vectors:
            config["paths"]["vectors"] = vectors
            config["components"]["tok2vec"]["model"]["embed"]["include_static_vectors"] = True
        write_files({output: config.to_bytes(interpolate=False)})
    show(
        f"Train it with: python -m spacy train {output} --output training --paths.train FILE "
        f"--paths.dev FILE"
    )
