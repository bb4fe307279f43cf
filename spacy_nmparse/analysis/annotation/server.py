"""The server of the page for annotation: on this machine alone, for who knows its token.

Its answers are JSON, but for the page itself, which has nothing of a file in it. Requests name this
server as their ``Host``, and give the token as ``Authorization: Bearer TOKEN``: another site in the
same browser can do neither.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from spacy_nmparse.analysis.annotation.assistant import Assistant
from spacy_nmparse.analysis.annotation.sentences import (
    checked,
    is_confirmed,
    merge,
    problems,
    split,
)
from spacy_nmparse.analysis.annotation.store import Change, Conflict, Entry, Store
from spacy_nmparse.analysis.page import file_text, is_right_to_left, linked_page
from spacy_nmparse.ud.conllu import DEPREL, DEPS, FORM, HEAD, Sentence

ADDRESS = "127.0.0.1"
MAX_BYTES = 1 << 20
#: The scripts of the page that steers a derivation.
DERIVES = ("arcs.js", "page.js", "derive.js")
PAGE = {
    "/": ("annotate.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/annotate.css": ("annotate.css", "text/css"),
    **{f"/{name}": (name, "text/javascript") for name in ("ask.js", "annotate.js", *DERIVES)},
}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Refused(Exception):
    """A request that is not answered: the status, and why."""


class Work:
    """The answers to requests.

    Args:
        store: The sentences.
        assistant: The parser.
    """

    def __init__(self, store: Store, assistant: Assistant) -> None:
        self._store = store
        self._assistant = assistant

    def overview(self, body: Any) -> dict[str, Any]:
        """All sentences, in short."""
        entries = list(self._store.entries.values())
        known = {row[DEPREL] for one in entries for row in one.sentence.words}
        return {
            "file": self._store.path.name,
            "labels": sorted({*self._assistant.labels, *known} - {"_"}),
            "sentences": list(map(_short, entries)),
        }

    def read(self, body: Any) -> dict[str, Any]:
        """A sentence, by its key."""
        entry = self._store.entries.get(body["key"])
        if entry is None:
            raise Refused(HTTPStatus.NOT_FOUND, "There is no such sentence any more.")
        return _whole(entry)

    def save(self, body: Any) -> dict[str, Any]:
        """Sentences in place of others; with ``complete``, parsed anew under what is confirmed."""
        sentences = [checked(one["comments"], one["rows"]) for one in body["sentences"]]
        keys = [one.get("key") for one in body["sentences"]]
        return self._put(_parts(body), sentences, keys, bool(body.get("complete")))

    def split(self, body: Any) -> dict[str, Any]:
        """Two sentences of one; ``word`` begins the second."""
        ((key, _),) = parts = _parts(body)
        cut = split(self._sentence(key), int(body["word"]))
        return self._put(parts, cut, [key, None], True)

    def merge(self, body: Any) -> dict[str, Any]:
        """One sentence of two."""
        (key, _), (other, _) = parts = _parts(body)
        joined = merge(self._sentence(key), self._sentence(other))
        return self._put(parts, [joined], [key], True)

    def parse(self, body: Any) -> dict[str, Any]:
        """Parse ``text``, or ``conllu`` with known heads."""
        text, conllu = _given(body)
        if body.get("format", "conllu") not in ("conllu", "json"):
            raise ValueError("The format is conllu or json.")
        return {body.get("format", "conllu"): self._assistant.parse(text, conllu, body)}

    def derive(self, body: Any) -> dict[str, Any]:
        """The derivation of ``text``, or of ``conllu`` with its tree as gold, by ``moves``."""
        return self._assistant.derive(*_given(body), body.get("moves", []))

    def _sentence(self, key: int) -> Sentence:
        if key not in self._store.entries:
            raise Conflict([])
        return self._store.entries[key].sentence

    def _put(
        self,
        parts: list[tuple[int, str]],
        sentences: Sequence[Sentence],
        keys: Sequence[int | None],
        complete: bool,
    ) -> dict[str, Any]:
        changes, notes = [], []
        for key, sentence in zip(keys, sentences, strict=True):
            try:
                found = self._assistant.complete(sentence) if complete else None
            except ValueError as error:
                found = None
                notes.append(str(error))
            if found is None:
                (found,) = self._assistant.judge([sentence])
            changes.append(Change(found.sentence, key, found.sure))
        made = self._store.replace(parts, changes)
        answers = []
        for entry, given in zip(made, sentences, strict=True):
            pairs = zip(entry.sentence.words, given.words, strict=True)
            changed = [i for i, (a, b) in enumerate(pairs) if a[HEAD:DEPS] != b[HEAD:DEPS]]
            answers.append({**_whole(entry), "changed": changed})
        return {"sentences": answers, "notes": notes}


def _parts(body: Any) -> list[tuple[int, str]]:
    return [(one["key"], one["revision"]) for one in body["parts"]]


def _given(body: Any) -> tuple[str | None, str | None]:
    text, conllu = body.get("text"), body.get("conllu")
    given = conllu if text is None else text
    if (text is None) == (conllu is None) or not isinstance(given, str):
        raise ValueError("Give a text, or conllu: one of them, as a string.")
    return text, conllu


def _short(entry: Entry) -> dict[str, Any]:
    words = entry.sentence.words
    forms = " ".join(row[FORM] for row in words[:12])
    return {
        "key": entry.key,
        "text": f"{forms} …" if len(words) > 12 else forms,
        "words": len(words),
        "confirmed": sum(map(is_confirmed, words)),
        "doubt": entry.doubt,
    }


def _whole(entry: Entry) -> dict[str, Any]:
    words = [row[FORM] for row in entry.sentence.words]
    return {
        **_short(entry),
        "revision": entry.revision,
        "comments": entry.sentence.comments,
        "rows": entry.sentence.rows,
        "sure": entry.sure,
        "rtl": is_right_to_left(words),
        "problems": problems(entry.sentence, entry.conllu),
    }


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server
    timeout = 60
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """The page and its files."""
        self._answer(self._file)

    def do_POST(self) -> None:
        """Everything else."""
        self._answer(self._work)

    def _answer(self, make: Callable[[], tuple[str, bytes]]) -> None:
        status, kind = HTTPStatus.OK, "application/json"
        try:
            if self.headers.get("Host") not in self.server.hosts:
                raise Refused(HTTPStatus.FORBIDDEN, "Another host is asked for.")
            kind, content = make()
        except Refused as error:
            status, content = error.args[0], _json({"error": error.args[1]})
        except Conflict as error:
            status = HTTPStatus.CONFLICT
            content = _json(
                {
                    "error": "The sentence was changed in another window.",
                    "sentences": list(map(_whole, error.args[0])),
                }
            )
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            message = str(error) if isinstance(error, ValueError) else f"Not understood: {error!r}."
            status, content = HTTPStatus.BAD_REQUEST, _json({"error": message})
        except OSError as error:
            status = HTTPStatus.INSUFFICIENT_STORAGE
            content = _json({"error": f"Not saved: {error}."})
        except Exception as error:  # of a component of the pipeline
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            content = _json({"error": f"{type(error).__name__}: {error}"})
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        if status != HTTPStatus.OK:
            self.close_connection = True  # the body may not have been read
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    def _file(self) -> tuple[str, bytes]:
        if self.path == "/derive":
            return "text/html", linked_page("Derivation", "ask.js", *DERIVES).encode()
        name, kind = PAGE.get(self.path, ("", ""))
        if not name:
            raise Refused(HTTPStatus.NOT_FOUND, "There is nothing here.")
        return kind, file_text(name).encode()

    def _work(self) -> tuple[str, bytes]:
        given = self.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self.server.token}".encode()):
            raise Refused(HTTPStatus.UNAUTHORIZED, "Open the address that the command has printed.")
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip()
        if kind != "application/json":
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Send application/json.")
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "Say how long the body is.")
        if int(length) > MAX_BYTES:
            raise Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"At most {MAX_BYTES} bytes are taken."
            )
        work = self.server.routes.get(self.path)
        if work is None:
            raise Refused(HTTPStatus.NOT_FOUND, "There is nothing here.")
        body = json.loads(self.rfile.read(int(length)))
        if not isinstance(body, dict):
            raise Refused(HTTPStatus.BAD_REQUEST, "Send an object of JSON.")
        return "application/json", _json(work(body))

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


class Server(ThreadingHTTPServer):
    """The server.

    Args:
        store: The sentences.
        assistant: The parser.
        port: The port; 0: any free one.

    Attributes:
        token: What requests must know.

    Raises:
        OSError: If the port is taken.
    """

    daemon_threads = True
    allow_reuse_address = os.name == "posix"  # elsewhere another program could take the port

    def __init__(self, store: Store, assistant: Assistant, port: int = 0) -> None:
        super().__init__((ADDRESS, port), Handler)
        self.token = secrets.token_urlsafe(24)
        self.hosts = {f"{name}:{self.server_port}" for name in (ADDRESS, "localhost")}
        work = Work(store, assistant)
        self.routes: dict[str, Callable[[Any], dict[str, Any]]] = {
            "/list": work.overview,
            "/read": work.read,
            "/save": work.save,
            "/split": work.split,
            "/merge": work.merge,
            "/parse": work.parse,
            "/derive": work.derive,
        }

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of who hangs up."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """The address of the page. The token is behind #: it is not sent, nor logged."""
        return f"http://{ADDRESS}:{self.server_port}/#token={self.token}"
