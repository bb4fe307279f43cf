"""Worker processes: the same trees as in one, an error when one is killed, and none stays."""

from __future__ import annotations

import itertools
import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy
import pytest
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_nmparse.pipe.packed import pack, unpack
from spacy_nmparse.pipe.processes import pipe_in_processes
from tests.pipe.common import overfitted, tree

TEXTS = ["She saw the cat .", "I like London and Berlin .", "Yes", "", "Sleep !"] * 4

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills by SIGKILL")


class Deadly:
    """Kills its process at the word "die", raises at the word "fail"."""

    def __call__(self, doc: Doc) -> Doc:
        if "die" in doc.text:
            os.kill(os.getpid(), signal.SIGKILL)
        if "fail" in doc.text:
            raise KeyError("a bad document")
        return doc


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = overfitted()
    Language.component("deadly", func=Deadly())
    nlp.add_pipe("deadly", first=True)
    return nlp


@pytest.mark.parametrize("batch_size", [3, 100])
def test_trees(nlp: Language, batch_size: int) -> None:
    """Of an endless stream, too; an error of a document is raised here."""
    expected = [tree(doc) for doc in nlp.pipe(TEXTS)]
    mixed = [text if i % 2 else nlp.make_doc(text) for i, text in enumerate(TEXTS)]
    docs = pipe_in_processes(nlp, iter(mixed), n_process=2, batch_size=batch_size)
    assert [tree(doc) for doc in docs] == expected
    endless: Any = pipe_in_processes(nlp, itertools.repeat("Yes"), n_process=1, batch_size=2)
    assert [next(endless).text for _ in range(3)] == ["Yes"] * 3
    endless.close()
    with pytest.raises(KeyError, match="a bad document"):
        list(pipe_in_processes(nlp, ["Yes", "fail", "Yes"], n_process=2))
    with pytest.raises(ValueError, match="-1"):
        list(pipe_in_processes(nlp, [], n_process=-1))


def full_doc(vocab: Vocab) -> Doc:
    """A document with all that a Doc can hold."""
    words = ["She", "saw", " ", "New", "York", "."]
    spaces = [True, False, True, True, False, False]
    heads, deps = [1, 1, 1, 4, 1, 1], ["nsubj", "ROOT", "", "compound", "obj", "punct"]
    doc = Doc(vocab, words, spaces, heads=heads, deps=deps, sent_starts=None)
    doc[0].norm_, doc[1].lemma_, doc[1].tag_, doc[1].pos_ = "sie", "see", "VBD", "VERB"
    doc[1].set_morph("Tense=Past")
    doc.ents = [Span(doc, 3, 5, "GPE", kb_id="Q60", span_id="one")]
    doc.spans["places"] = [Span(doc, 3, 5, "PLACE", kb_id="Q1"), Span(doc, 4, 5, "PART")]
    doc.cats, doc.sentiment = {"travel": 0.5}, 0.25
    doc.tensor = numpy.arange(12, dtype="float32").reshape(6, 2)
    doc.user_data["note"] = ["kept"]
    return doc


def test_documents_as_arrays() -> None:
    """Into a vocabulary that has none of their strings; ``doc_cleaner`` leaves None as tensor."""
    vocab = Vocab()
    unparsed, empty = Doc(vocab, words=["a", "b"]), Doc(vocab)
    unparsed[1].is_sent_start = False
    given = [full_doc(vocab), empty, unparsed, full_doc(vocab)]
    given[3].tensor = numpy.zeros(0, dtype="float32")
    check_packed(given)
    for others in (None, numpy.zeros((6, 2)), numpy.float32(1)):
        given = [full_doc(Vocab()) for _ in range(3)]
        given[1].tensor, given[2].tensor = None, others
        check_packed(given)
        check_packed(given[1:2])


def check_packed(given: list[Doc]) -> None:
    found = list(unpack(pickle.loads(pickle.dumps(pack(given))), Vocab()))
    for one, other in zip(found, given, strict=True):
        assert one.to_json() == other.to_json()
        parts = [doc.to_bytes(exclude=["strings", "tensor"]) for doc in (one, other)]
        assert parts[0] == parts[1]
        tensors = [numpy.asarray(doc.tensor) for doc in (one, other)]
        assert tensors[0].dtype == tensors[1].dtype and numpy.array_equal(*tensors)
        assert [t.left_edge.i for t in one] == [t.left_edge.i for t in other]


def test_a_killed_process(nlp: Language) -> None:
    docs = pipe_in_processes(nlp, [*TEXTS, "die", *TEXTS], n_process=2, batch_size=2)
    with pytest.raises(RuntimeError, match=r"died.*memory"):
        list(docs)


PARENT = """
import multiprocessing, signal, sys, time
from spacy_nmparse.pipe.processes import in_order

def work(seconds):
    time.sleep(seconds)
    return seconds

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup would ignore it
    for seconds in in_order(work, [0, 0, 1000, 1000, 1000], 2):
        print(seconds, flush=True)
"""


# Workers notice their parent's end alike, whatever has ended it and however they were started.
@pytest.mark.parametrize(
    ("method", "name"),
    [
        *(("fork", name) for name in ("SIGTERM", "SIGKILL", "SIGHUP")),
        *(("spawn", "SIGKILL"), ("forkserver", "SIGKILL")),
        *(
            pytest.param(method, name, marks=pytest.mark.slow)
            for method in ("spawn", "forkserver")
            for name in ("SIGTERM", "SIGHUP")
        ),
    ],
)
def test_workers_end_with_their_parent(tmp_path: Path, method: str, name: str) -> None:
    """Of any signal. While one lives, it holds standard output and error open."""
    (tmp_path / "parent.py").write_text(PARENT)
    with subprocess.Popen(
        [sys.executable, "parent.py", method],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        start_new_session=True,
    ) as parent:
        try:
            assert parent.stdout is not None
            assert [parent.stdout.readline() for _ in range(2)] == [b"0\n"] * 2
            parent.send_signal(getattr(signal, name))
            parent.communicate(timeout=60)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(parent.pid, signal.SIGKILL)
    assert parent.returncode == -getattr(signal, name)
