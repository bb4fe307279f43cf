"""The process of a command: open streams, and no half-written files after a signal."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from spacy_nmparse.pipe.workplace import clear_all


@contextmanager
def prepared() -> Iterator[None]:
    """Prepare this process for a command. Afterwards its signals are handled as before."""
    _open_streams()
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread() and os.name == "posix":
        for one in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(one) == signal.SIG_DFL:  # else it is ignored, as by nohup
                before[one] = signal.signal(one, _end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, frame: Any) -> None:
    """Leave no half-written file, and die of the signal."""
    clear_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _open_streams() -> None:
    """Open the standard streams that are closed: else a file would be the next one that is opened,
    and get messages. ``sys.stdout`` stays None. Show what the others cannot show as escapes."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest free number
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (until the end)
    streams: tuple[Any, Any] = (sys.stdout, sys.stderr)
    for stream in streams:
        if getattr(stream, "errors", None) == "strict":
            stream.reconfigure(errors="backslashreplace")
