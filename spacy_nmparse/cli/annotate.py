"""``nmparse annotate``: correct parses in the browser."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from spacy_nmparse.analysis.annotation.assistant import ANNOTATED, Assistant
from spacy_nmparse.analysis.annotation.sentences import confirmed_of, forms_of, is_confirmed
from spacy_nmparse.analysis.annotation.server import Server
from spacy_nmparse.analysis.annotation.store import Store
from spacy_nmparse.cli.console import MODEL, check_absent, fail, failures, load
from spacy_nmparse.pipe.files import write_files
from spacy_nmparse.terminal import show
from spacy_nmparse.ud.conllu import Sentence
from spacy_nmparse.ud.corpus import check_exists
from spacy_nmparse.wording import counted


def run(
    model: str = MODEL,
    file: Path = typer.Argument(..., help="A CoNLL-U, text or .spacy file"),
    port: int = typer.Option(0, "--port", min=0, max=65535, help="The server's port; 0: any"),
    confirmed: Path | None = typer.Option(
        None,
        "--confirmed",
        help="Write what is confirmed, for training, to this CoNLL-U file, and stop",
    ),
    force: bool = typer.Option(False, "--force", help="Overwrite the file of --confirmed"),
) -> None:
    """Correct the parses of a file in the browser; the parser completes each tree."""
    with failures():
        target = file if file.name.endswith(ANNOTATED) else Path(f"{file}{ANNOTATED}")
        original = Path(str(target).removesuffix(ANNOTATED))
        source = target if target.is_file() else file
        check_exists(source)
        if confirmed is not None:
            _check_output(confirmed, (original, target), force)
        assistant = Assistant(load(model))
        sentences = assistant.open(source)
        if confirmed is not None:
            before = _before(assistant, original, sentences)
            _write_confirmed(confirmed_of(sentences, before), confirmed)
            return
        store = Store(target, assistant.judge(sentences))
        server = Server(store, assistant, port)
    show(f"{counted(len(sentences), 'sentence')} of {source}; changes go to {target}")
    show(f"Open {server.url}\nStop with Ctrl+C.")
    if sys.stdout is not None:
        sys.stdout.flush()  # also where nobody sees a terminal
    with server:
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            show("Stopped: all changes are saved.")


def _check_output(output: Path, annotated: Sequence[Path], force: bool) -> None:
    """Fail where the output would overwrite a file that is annotated, or, without force, any."""
    for one in annotated:
        same = os.path.realpath(output) == os.path.realpath(one)
        if same or (output.exists() and one.exists() and output.samefile(one)):
            fail(f"--confirmed {output} would overwrite what is annotated: give another path.")
    if not force:
        check_absent(output, "give another path, or --force to overwrite it")


def _before(
    assistant: Assistant, original: Path, sentences: Sequence[Sentence]
) -> Sequence[Sentence]:
    """What the original file says of the words; [], if it says nothing of them."""
    is_there = original.is_file()
    before = [*assistant.given(original)] if is_there else []
    if forms_of(before) == forms_of(sentences):
        return before
    if before or not is_there:
        show(
            f"Warning: {original} {'has other words' if is_there else 'is gone'}: words that are "
            f"not confirmed are written without lemmas, tags and features.",
            file=sys.stderr,
        )
    return []


def _write_confirmed(found: Sequence[Sentence], path: Path) -> None:
    """Write sentences that have confirmed words."""
    if not found:
        raise ValueError("No word is confirmed: correct or confirm some in the browser.")
    n_words = sum(is_confirmed(row) for one in found for row in one.words)
    text = "".join(one.written().to_conllu(str(i)) for i, one in enumerate(found, 1))
    write_files({path: text.encode()})
    show(f"{counted(n_words, 'word')} in {counted(len(found), 'sentence')} written to {path}")
