"""``nmparse init-config``: a config to train a whole pipeline, made of a parser's."""

from __future__ import annotations

from pathlib import Path

from spacy.util import load_config

from spacy_nmparse.cli.console import fail, failures
from spacy_nmparse.ud.whole_pipeline import whole_pipeline


def run(config: Path, output: Path, lang: str | None) -> None:
    """Write the config.

    Args:
        config: A config of a parser.
        output: The file to write.
        lang: spaCy's language code; None: that of the config.
    """
    if not config.is_file():
        fail(f"There is no config {config}.")
    with failures():
        made = whole_pipeline(load_config(config, interpolate=False))
        if lang:
            made["nlp"]["lang"] = lang
        output.parent.mkdir(parents=True, exist_ok=True)
        made.to_disk(output, interpolate=False)
    print(f"Train it with: python -m spacy train {output} --paths.train FILE --paths.dev FILE")
