"""Worker processes: the same trees as in one, and an error when one is killed."""

from __future__ import annotations

import os
import signal

import pytest
from spacy.language import Language
from spacy.tokens import Doc

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
    expected = [tree(doc) for doc in nlp.pipe(TEXTS)]
    mixed = [text if i % 2 else nlp.make_doc(text) for i, text in enumerate(TEXTS)]
    docs = pipe_in_processes(nlp, iter(mixed), n_process=2, batch_size=batch_size)
    assert [tree(doc) for doc in docs] == expected


def test_a_killed_process(nlp: Language) -> None:
    docs = pipe_in_processes(nlp, [*TEXTS, "die", *TEXTS], n_process=2, batch_size=2)
    with pytest.raises(RuntimeError, match=r"died.*memory"):
        list(docs)


def test_errors_of_documents(nlp: Language) -> None:
    with pytest.raises(KeyError, match="a bad document"):
        list(pipe_in_processes(nlp, ["Yes", "fail", "Yes"], n_process=2))
    with pytest.raises(ValueError, match="-1"):
        list(pipe_in_processes(nlp, [], n_process=-1))


def test_an_endless_stream(nlp: Language) -> None:
    def endless() -> object:
        while True:
            yield "Yes"

    docs = pipe_in_processes(nlp, endless(), n_process=1, batch_size=2)  # type: ignore[arg-type]
    assert [next(docs).text for _ in range(3)] == ["Yes"] * 3
    docs.close()  # type: ignore[attr-defined]
