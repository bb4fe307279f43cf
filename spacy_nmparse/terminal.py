"""Text made safe for a terminal: control characters are shown, not obeyed."""

from __future__ import annotations

import sys
from typing import Any

from wasabi import color

#: Begins our own colours until they are shown. Text that was decoded from UTF-8 cannot have it.
ESCAPE = "\ud800"
#: Signs for control characters, each as wide as one letter. Line ends and tabs stay.
SIGNS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"}
SIGNS |= {0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}


def shown(text: str) -> str:
    """A text with signs in place of control characters: forms, labels and names of files may have
    sequences that steer a terminal."""
    return text.translate(SIGNS)


def colored(text: str, **style: Any) -> str:
    """A text in a colour, for ``show``; style: as wasabi's ``color`` takes it."""
    return color(shown(text), **style).replace("\x1b", ESCAPE)


def show(*texts: object, file: Any = None) -> None:
    """Print texts, parted by spaces, without their control characters. What the stream cannot
    encode is ``?``.

    Args:
        texts: The texts.
        file: The stream; None: standard output.
    """
    stream = sys.stdout if file is None else file
    text = shown(" ".join(map(str, texts))).replace(ESCAPE, "\x1b")
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding), file=stream)
