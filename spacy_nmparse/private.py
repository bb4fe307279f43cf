"""Names that spaCy and Thinc keep to themselves, each with the version that it was seen in.

Elsewhere, ``ud.lemmas`` overrides ``_add_labels``, ``_labels_from_data`` and ``_pair2label`` of
spaCy's ``EditTreeLemmatizer`` (spaCy 3.8.18). ``cli`` imports this module with each of spaCy's
commands: it imports nothing before it is asked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thinc.api import Model


def forward_of(model: Model) -> Callable:
    """The forward pass of a layer: ``Model._func`` (Thinc 8.3.14)."""
    return model._func


def set_forward(model: Model, forward: Callable) -> None:
    """Give a layer another forward pass: ``Model._func`` (Thinc 8.3.14)."""
    model._func = forward


def command_line() -> Any:
    """The application of spaCy's commands: ``spacy.cli._util.app`` (spaCy 3.8.18)."""
    from spacy.cli._util import app

    return app


def read_overrides(arguments: list[str]) -> dict[str, Any]:
    """The settings of a command line: ``spacy.cli._util.parse_config_overrides`` (spaCy 3.8.18)."""
    from spacy.cli._util import parse_config_overrides

    found: dict[str, Any] = parse_config_overrides(arguments)
    return found


def import_code(path: Any) -> None:
    """Import a file with further code: ``spacy.cli._util.import_code`` (spaCy 3.8.18)."""
    from spacy.cli._util import import_code as load

    load(path)


def training_output() -> Path | None:
    """The folder that `spacy train` writes to, while it runs: the variable ``output_path`` of
    ``spacy.cli.train.train`` (spaCy 3.8.18). It tells it to no callback."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if (frame.f_globals.get("__name__"), frame.f_code.co_name) == ("spacy.cli.train", "train"):
            found = frame.f_locals.get("output_path")
            return None if found is None else Path(found)
    return None


def documents_between(store: Any, first: int, last: int) -> Any:
    """Some of the documents of a DocBin, as another: its lists, one entry a document, and ``attrs``
    (spaCy 3.8.18)."""
    from spacy.tokens import DocBin

    some = DocBin()
    for name in ("tokens", "spaces", "cats", "span_groups", "user_data", "flags"):
        setattr(some, name, getattr(store, name)[first:last])
    some.attrs = store.attrs
    return some
