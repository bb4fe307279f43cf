"""``nmparse replace``: a trained parser in the place of another pipeline's parser."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import typer
from spacy.language import Language
from spacy.tokens import Doc

from spacy_nmparse.cli.console import CODE, COMPONENT, OUTPUT, check_absent, fail, failures, load
from spacy_nmparse.pipe.files import safe_to_disk
from spacy_nmparse.pipe.members import parser_of
from spacy_nmparse.pipe.replace import (
    ANNOTATIONS,
    TAGS,
    TOKENS,
    changed,
    parser_names,
    replace_parser,
)
from spacy_nmparse.terminal import show
from spacy_nmparse.ud.corpus import check_exists
from spacy_nmparse.wording import counted


def run(
    pipeline: str = typer.Argument(..., help="The pipeline to change: its package or folder"),
    parser: str = typer.Argument(..., help="The pipeline that has the new parser"),
    output: Path = OUTPUT,
    component: str | None = COMPONENT,
    text: Path | None = typer.Option(
        None, "--text", help="Check on the lines of this file; else on spaCy's examples"
    ),
    code: Path | None = CODE,
) -> None:
    """Replace or add a pipeline's parser, and check that all other annotation stays the same."""
    check_absent(output)
    with failures():
        if text is not None:
            check_exists(text)
    nlp, source = load(pipeline), load(parser)
    if nlp.lang != source.lang:
        show(
            f"Warning: {pipeline} is made for '{nlp.lang}', and the parser of {parser} for "
            f"'{source.lang}'. Its trees are mostly wrong where they mean other languages.",
            file=sys.stderr,
        )
    with failures():
        before = list(nlp.pipe(_texts(nlp, text)))
        is_new = not parser_names(nlp)
        name = replace_parser(nlp, source, parser_of(source, component).name)
        safe_to_disk(nlp, output)
        after = list(load(str(output)).pipe(doc.text for doc in before))
        counts = changed(before, after)
    added = ", which is new" if is_new else ""
    show(f"{output}: {nlp.pipe_names}, the parser of {parser} as '{name}'{added}")
    n_before, n_after = (sum(map(len, docs)) for docs in (before, after))
    n_words = n_before - counts.get(TOKENS, 0)
    same = [kind for kind in ANNOTATIONS if kind not in counts]
    show(f"The same for all of {counted(n_words, 'word')}: {', '.join(same) or 'nothing'}.")
    writes = nlp.get_pipe(name).write_tags  # type: ignore[attr-defined]
    for kind, n in counts.items():
        cause = f"A component behind the parser reads its trees{' or tags' if writes else ''}."
        if writes and kind in TAGS:
            cause = "The parser writes tags where a token has none (write_tags)."
        if kind == TOKENS:
            cause = f"The {'new' if n_after < n_before else 'old'} parser joins tokens into words."
        show(f"Changed for {counted(n, 'word')}: {kind}. {cause}")
    if writes and set(counts) & set(TAGS):
        show(f"To write no tags, set write_tags = false for '{name}' in {output / 'config.cfg'}.")
    if not is_new:
        show(f"Sentences: {_n_sents(before)} before, {_n_sents(after)} now.")


def _texts(nlp: Language, path: Path | None) -> list[str]:
    """The lines of a file, or spaCy's examples of the language."""
    if path is not None:
        return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    try:
        return list(import_module(f"spacy.lang.{nlp.lang}.examples").sentences)
    except ImportError:
        fail(f"spaCy has no example sentences for '{nlp.lang}': give a text as --text.")


def _n_sents(docs: list[Doc]) -> int:
    return sum(1 for doc in docs for _ in doc.sents)
