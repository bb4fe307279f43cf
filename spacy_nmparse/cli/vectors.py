"""``nmparse vectors``: vectors of words that a transformer makes of texts."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import is_package, load_config, load_model_from_config
from thinc.api import Config

from spacy_nmparse.cli.console import CODE, check_absent, check_lang, fail, failures, load
from spacy_nmparse.cli.pretrained import PACKAGE, read_licence, with_transformer
from spacy_nmparse.pipe.files import safe_to_disk
from spacy_nmparse.pipe.mean_vectors import MeanVectors, transformer_of
from spacy_nmparse.terminal import show
from spacy_nmparse.ud.corpus import check_exists
from spacy_nmparse.ud.extensions import split_doc
from spacy_nmparse.ud.parse_inputs import FileReader
from spacy_nmparse.ud.whole_pipeline import CONFIGS
from spacy_nmparse.wording import counted

PIPE = "transformer"
SHOWN = 100_000  # words between two messages


def run(
    transformer: str = typer.Argument(
        ..., help="Its folder, its name at the Hugging Face hub, or a pipeline with a transformer"
    ),
    texts: list[Path] = typer.Argument(..., help="Files of text, CoNLL-U or .spacy files"),
    output: Path = typer.Option(..., "--output", "-o", help="Folder for the vectors"),
    lang: str | None = typer.Option(
        None, "--lang", help="spaCy's language code, unless a pipeline says it"
    ),
    width: int = typer.Option(128, "--width", min=1, help="Numbers of a vector"),
    code: Path | None = CODE,
) -> None:
    """Make vectors of words: the mean of what a transformer says of each word in texts."""
    check_absent(output)
    with failures():
        for file in texts:
            check_exists(file)
        nlp = _pipeline(transformer, lang)
        means = MeanVectors(transformer_of(nlp))
        n_words = due = 0
        for n in means.add(doc for file in texts for doc in _docs(nlp, file)):
            n_words += n
            if n_words >= due:
                show(f"{n_words} words")
                due += SHOWN
        vectors = spacy.blank(str(nlp.lang))
        vectors.vocab.vectors = means.vectors(vectors.vocab.strings, width)
        vectors.meta["description"] = f"Vectors of words by the transformer {transformer}"
        vectors.meta["license"] = nlp.meta["license"]
        safe_to_disk(vectors, output)
    made = vectors.vocab.vectors
    show(f"{output}: vectors of {counted(made.n_keys, 'word')}, {made.shape[1]} numbers each")
    show(f"Use them: python -m spacy nmparse init-config parser.cfg --vectors {output}")


def _pipeline(name: str, lang: str | None) -> Language:
    """A pipeline with a transformer: a trained one, or one that is made of a transformer alone."""
    if is_package(name) or (Path(name) / "meta.json").is_file():
        return load(name)
    if find_spec("spacy_curated_transformers") is None:
        fail(
            f"A transformer needs {PACKAGE}: install spacy-nmparse with its extra transformers, or "
            f"python -m pip install {PACKAGE} transformers"
        )
    if not lang:
        fail("--lang is missing: which tokenizer splits the texts (xx: that of no language).")
    whole = with_transformer(load_config(CONFIGS / "nm_parser.cfg", interpolate=False), name)
    config = {
        "nlp": {"lang": check_lang(lang, "--lang"), "pipeline": [PIPE]},
        "components": {PIPE: whole["components"][PIPE]},
        "initialize": {"components": {PIPE: whole["initialize"]["components"][PIPE]}},
    }
    nlp = load_model_from_config(Config(config), auto_fill=True)
    nlp.meta["license"] = read_licence(name)
    nlp.initialize(lambda: [Example.from_dict(nlp.make_doc("a"), {})])
    return nlp


def _docs(nlp: Language, file: Path) -> Iterator[Doc]:
    """The documents of a file; their sentences, where these are known."""
    for piece in FileReader(file).pieces():
        if piece.error:
            raise piece.error
        for item in piece.items(nlp.vocab):
            given: Any = item.to_parse()
            yield from split_doc(given if isinstance(given, Doc) else nlp.make_doc(given))
