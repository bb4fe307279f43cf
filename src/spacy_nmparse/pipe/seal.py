"""Checksums of the files of a saved parser: damage is found before anything of them is loaded.

The description of the parser (a JSON object) holds a checksum of each other part and, in
``checksum``, one of its own content. They tell accidents, not attacks: who writes a file on purpose
can write its checksum, too; nothing in these files is ever executed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

PARTS, OWN = "checksums", "checksum"


def checksum(data: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def sealed(content: Mapping[str, Any], parts: Mapping[str, bytes]) -> dict[str, Any]:
    """The description with the checksums of the other parts and of itself."""
    content = {**content, PARTS: {name: checksum(data) for name, data in parts.items()}}
    return {**content, OWN: _of_content(content)}


def damaged(content: Mapping[str, Any], parts: Mapping[str, bytes]) -> str | None:
    """What is not as it was saved, in words; None: nothing. ``parts`` are those at hand."""
    if OWN not in content and PARTS not in content:
        return "it has no checksums: it is damaged, or was edited"
    known = content.get(PARTS)
    if not isinstance(known, dict) or content.get(OWN) != _of_content(content):
        return "its checksum is not that of its content: it is damaged, or was edited"
    for name, data in parts.items():
        if name not in known:
            return f"it was saved without the file {name}, which is in its folder"
        if known[name] != checksum(data):
            return (
                f"the file {name} is not the one that was saved with it: it is damaged, or comes "
                f"from another model"
            )
    return None


def saved_parts(description: bytes, every: Sequence[str]) -> Sequence[str]:
    """The parts that were saved with a description; all, where it does not say which."""
    try:
        known = json.loads(description.decode("utf8"))[PARTS]
    except (ValueError, RecursionError, KeyError, TypeError):
        return every
    return [name for name in every if name in known] if isinstance(known, dict) else every


def _of_content(content: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in content.items() if key != OWN}
    return checksum(json.dumps(rest, sort_keys=True).encode("ascii"))
