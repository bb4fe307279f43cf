"""``nmparse annotate``: correct parses in the browser."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from spacy_nmparse.analysis.annotation.assistant import ANNOTATED, Assistant
from spacy_nmparse.analysis.annotation.sentences import is_confirmed, only
from spacy_nmparse.analysis.annotation.server import Server
from spacy_nmparse.analysis.annotation.store import Store
from spacy_nmparse.cli.console import MODEL, failures, load
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
) -> None:
    """Correct the parses of a file in the browser; the parser completes each tree."""
    with failures():
        target = file if file.name.endswith(ANNOTATED) else Path(f"{file}{ANNOTATED}")
        source = target if target.is_file() else file
        check_exists(source)
        assistant = Assistant(load(model))
        sentences = assistant.open(source)
        if confirmed is not None:
            _write_confirmed(sentences, confirmed)
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


def _write_confirmed(sentences: list[Sentence], path: Path) -> None:
    """Write the sentences that have confirmed words, with the heads of these alone."""
    found = [one for one in sentences if any(map(is_confirmed, one.words))]
    if not found:
        raise ValueError("No word is confirmed: correct or confirm some in the browser.")
    n_words = sum(is_confirmed(row) for one in found for row in one.words)
    text = "".join(
        only(one, is_confirmed).written().to_conllu(str(i)) for i, one in enumerate(found, 1)
    )
    write_files({path: text.encode()})
    show(f"{counted(n_words, 'word')} in {counted(len(found), 'sentence')} written to {path}")
