"""The sentences that are annotated, and their file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from spacy_nmparse.analysis.annotation.sentences import is_confirmed, words_of
from spacy_nmparse.pipe.files import write_files
from spacy_nmparse.ud.conllu import Sentence
from spacy_nmparse.ud.docs_conllu import SentenceIds


class Conflict(Exception):
    """A sentence was changed elsewhere since it was read. Its argument: the entries as they are."""


@dataclass(frozen=True)
class Entry:
    """A sentence in the file.

    Attributes:
        key: Its number, which stays with it.
        sentence: The sentence.
        conllu: The same as text.
        sure: How sure the parser is of each word's head and label, if that is known.
    """

    key: int
    sentence: Sentence
    conllu: str
    sure: Sequence[float] | None = None

    @property
    def revision(self) -> str:
        """A name for what the sentence is now. It is the same after the server was started anew."""
        return hashlib.sha256(self.conllu.encode()).hexdigest()[:16]

    @property
    def doubt(self) -> float | None:
        """How unsure the least sure word is that nobody has confirmed; None: all are confirmed."""
        words = self.sentence.words
        sure = self.sure or [0.5] * len(words)
        open_ones = [s for s, row in zip(sure, words, strict=True) if not is_confirmed(row)]
        return 1 - min(open_ones) if open_ones else None


@dataclass(frozen=True)
class Change:
    """A sentence that replaces others: its rows, the key that it had before if it had one, and what
    is known of its words as in ``Entry``."""

    sentence: Sentence
    key: int | None = None
    sure: Sequence[float] | None = None


class Store:
    """Sentences in order, kept in a file that is written whole after each change.

    Args:
        path: The file. It is written at the first change.
        sentences: What it holds, or will hold.

    Attributes:
        entries: By key, in order.
    """

    def __init__(self, path: Path, sentences: Iterable[Change]) -> None:
        self.path = path
        self._lock = Lock()
        given = list(sentences)
        self._ids = SentenceIds({one.sentence.value("sent_id") or "" for one in given})
        self.entries = {key: self._entry(key, one) for key, one in enumerate(given)}
        self._next = len(given)
        self._stamp = _stamp(path)

    def _entry(self, key: int, change: Change) -> Entry:
        text = change.sentence.written().to_conllu(self._ids.of(change.sentence))
        lines = text.rstrip("\n").split("\n")
        comments = [line for line in lines if line.startswith("#")]
        sentence = Sentence(comments, [[*row] for row in change.sentence.rows])
        return Entry(key, sentence, text, change.sure)

    def replace(self, parts: Sequence[tuple[int, str]], changes: Sequence[Change]) -> list[Entry]:
        """Put sentences in place of others, with the same words, and write the file.

        Args:
            parts: Key and revision of sentences that follow each other.
            changes: What takes their place.

        Returns:
            The new entries.

        Raises:
            Conflict: If a sentence has another revision, or is gone.
            OSError: If the file cannot be written. Nothing has changed then.
            ValueError: If the words are not the same, the sentences do not follow each other, or
                another program has changed the file.
        """
        with self._lock:
            keys = [key for key, _ in parts]
            old = [self.entries[key] for key in keys if key in self.entries]
            if [(one.key, one.revision) for one in old] != list(parts):
                raise Conflict(old)
            order = list(self.entries)
            place = order.index(keys[0])
            if order[place : place + len(keys)] != keys:
                raise ValueError("The sentences do not follow each other.")
            if words_of(one.sentence for one in old) != words_of(c.sentence for c in changes):
                raise ValueError("Forms, ranges and MISC (but for Confirmed) cannot be changed.")
            free = [key for key in range(self._next) if key in keys or key not in self.entries]
            made = []
            for change in changes:
                key = change.key
                if key is None or key not in free:
                    key, self._next = self._next, self._next + 1
                else:
                    free.remove(key)
                made.append(self._entry(key, change))
            entries = [self.entries[key] for key in order]
            entries[place : place + len(keys)] = made
            self._write(entries)
            self.entries = {one.key: one for one in entries}
            return made

    def _write(self, entries: Sequence[Entry]) -> None:
        if _stamp(self.path) != self._stamp:
            raise ValueError(
                f"{self.path} was changed by another program: stop this one (Ctrl+C), and start it "
                f"again to go on with the file as it is now."
            )
        text = "".join(one.conllu for one in entries)
        write_files({self.path: text.encode()})
        self._stamp = _stamp(self.path)


def _stamp(path: Path) -> tuple[int, int] | None:
    """A file's size and time of change, to see whether it was written; None: there is no file."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size
