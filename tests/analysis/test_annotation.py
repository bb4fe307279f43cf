"""Annotation: sentences, their file, the parser behind them, and the server, asked over HTTP."""

from __future__ import annotations

import copy
import http.client
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_nmparse.analysis.annotation.assistant import MOST_WORDS, Assistant
from spacy_nmparse.analysis.annotation.sentences import (
    CONFIRMED,
    is_confirmed,
    merge,
    problems,
    split,
)
from spacy_nmparse.analysis.annotation.server import MAX_BYTES, Server
from spacy_nmparse.analysis.annotation.store import Change, Conflict, Store
from spacy_nmparse.ud import conllu_to_docs
from spacy_nmparse.ud.conllu import (
    DEPREL,
    FEATS,
    FORM,
    HEAD,
    LEMMA,
    MISC,
    XPOS,
    Sentence,
    read_rows,
)
from spacy_nmparse.ud.readers import Corpus
from tests.analysis.test_comparison import conllu
from tests.commands import ROOT, run, succeed, told
from tests.pipe.common import gold_doc, make_nlp, random_parser, train
from tests.ud.test_multiword import multiword
from tests.ud.test_pieces import gold
from tests.ud.test_whole_tokens import GIVEN, KNOWN

SAW = "She/2/nsubj saw/0/root the/4/det cat/2/obj ./2/punct"
LIKE = "I/2/nsubj like/0/root London/2/obj and/3/cc Berlin/3/conj ./2/punct"


def sentence(tree: str) -> Sentence:
    """A sentence, written as for ``conllu``; ! behind a label: it is confirmed."""
    (found,) = read_rows(conllu(tree.replace("!", "")))
    for row, word in zip(found.rows, tree.split(), strict=True):
        row[MISC] = CONFIRMED if word.endswith("!") else "_"
    return found


def tree_of(one: Sentence) -> list[str]:
    return [f"{row[HEAD]}/{row[DEPREL]}{'!' * is_confirmed(row)}" for row in one.words]


@pytest.fixture(scope="module")
def assistant(trained: Language) -> Assistant:
    return Assistant(copy.deepcopy(trained))


def store_of(path: Path, *trees: str) -> Store:
    return Store(path, [Change(sentence(tree)) for tree in trees])


# Sentences


def test_split_and_merge() -> None:
    one, other = split(sentence("a/2/x! b/0/root! c/4/y! d/2/z"), 3)
    assert tree_of(one) == ["2/x!", "0/root!"] and tree_of(other) == ["2/y!", "_/_"]
    assert tree_of(merge(one, other)) == ["2/x!", "0/root!", "4/y!", "_/_"]
    assert tree_of(merge(sentence("a/0/root!"), sentence("b/0/root!"))) == ["0/root!", "_/_"]
    assert tree_of(merge(sentence("a/_/_"), sentence("b/0/root!"))) == ["_/_", "0/root!"]
    for word in (1, 5):
        with pytest.raises(ValueError, match="before word 2 to 4"):
            split(sentence("a/2/x b/0/root c/4/y d/2/z"), word)


def test_multiword_tokens_stay_whole() -> None:
    rows = ["1-2\tdu", "1\tde", "2\tle", "3-4\tau", "3\tà", "4\tle"]
    columns = ["_\t_\t_\t_\t0\troot\t_\t_" if "-" not in row else "_\t" * 7 + "_" for row in rows]
    text = "\n".join("\t".join(pair) for pair in zip(rows, columns, strict=True)) + "\n\n"
    (one,) = read_rows(text)
    with pytest.raises(ValueError, match="within the multiword token 'au'"):
        split(one, 4)
    left, right = split(one, 3)
    assert [row[0] for row in right.rows] == ["1-2", "1", "2"]
    assert [row[:2] for row in merge(left, right).rows] == [row.split("\t") for row in rows]
    one.rows[1][8] = "2:x"
    with pytest.raises(ValueError, match="enhanced dependencies"):
        split(one, 3)


def test_problems_are_found() -> None:
    for tree, expected in (
        (SAW, []),
        ("a/0/root b/0/root", ["2 roots: 1, 2."]),
        ("a/2/x b/1/x", ["No root.", "Cycle: 1 → 2 → 1."]),
        ("a/0/root b/_/_", ["No head: 2."]),
    ):
        one = sentence(tree)
        written = one.written().to_conllu("1")
        found = [text for text in problems(one, written) if "roo" in text or "C" in text
                 or "No" in text]  # fmt: skip
        assert found == expected
    pytest.importorskip("udtools.validator")
    one = sentence("a/0/root b/1/~~")
    assert any("~~" in text for text in problems(one, one.written().to_conllu("1")))


# The file


def test_each_change_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.annotated.conllu"
    store = store_of(path, SAW, LIKE)
    assert not path.exists()
    first = store.entries[0]
    (made,) = store.replace(
        [(0, first.revision)], [Change(sentence(SAW.replace("obj", "iobj")), 0)]
    )
    assert made.key == 0 and made.revision != first.revision
    assert [tree_of(one)[3] for one in read_rows(path)] == ["2/iobj", "3/cc"]
    with pytest.raises(Conflict) as caught:
        store.replace([(0, first.revision)], [Change(sentence(SAW), 0)])
    assert caught.value.args[0] == [made]
    again = Store(path, map(Change, read_rows(path)))
    assert again.entries[0].revision == made.revision  # the same after a new start


def test_keys_stay_with_their_sentences(tmp_path: Path) -> None:
    store = store_of(tmp_path / "a.conllu", SAW, LIKE)
    before = store.entries[0]
    cut = [Change(one, key) for one, key in zip(split(before.sentence, 3), (0, None), strict=True)]
    made = store.replace([(0, before.revision)], cut)
    assert [one.key for one in made] == [0, 2] and list(store.entries) == [0, 2, 1]
    parts = [(one.key, one.revision) for one in made]
    (back,) = store.replace(parts, [Change(before.sentence, 0)])
    assert back.conllu == before.conllu and list(store.entries) == [0, 1]
    again = store.replace([(0, back.revision)], [Change(one.sentence, one.key) for one in made])
    assert [one.key for one in again] == [0, 2]
    ids = [one.sentence.value("sent_id") for one in store.entries.values()]
    assert len({*ids}) == 3
    with pytest.raises(ValueError, match="follow each other"):
        store.replace(
            [(key, store.entries[key].revision) for key in (0, 1)], [Change(before.sentence)]
        )


def test_words_cannot_change(tmp_path: Path) -> None:
    store = store_of(tmp_path / "a.conllu", SAW)
    for tree in (SAW.replace("cat", "dog"), SAW[: SAW.index(" .")]):
        with pytest.raises(ValueError, match="cannot be changed"):
            store.replace([(0, store.entries[0].revision)], [Change(sentence(tree))])


def test_a_change_that_is_not_written_has_not_been_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.conllu"
    store = store_of(path, SAW)
    revision = store.entries[0].revision
    new = [Change(sentence(SAW.replace("obj", "iobj")), 0)]

    def full(files: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("spacy_nmparse.analysis.annotation.store.write_files", full)
        with pytest.raises(OSError, match="No space"):
            store.replace([(0, revision)], new)
    assert store.entries[0].revision == revision
    store.replace([(0, revision)], new)
    path.write_text(conllu(SAW), encoding="utf-8")  # another program
    with pytest.raises(ValueError, match="another program"):
        store.replace([(0, store.entries[0].revision)], [Change(sentence(SAW), 0)])
    assert path.read_text(encoding="utf-8") == conllu(SAW)


# The parser


def test_the_rest_is_parsed_under_what_is_confirmed(assistant: Assistant) -> None:
    found = assistant.complete(sentence("She/2/nsubj saw/0/root the/4/det cat/2/iobj! ./4/x"))
    assert tree_of(found.sentence) == ["2/nsubj", "0/root", "4/det", "2/iobj!", "2/punct"]
    assert found.sure is not None and found.sure[3] == 1 > found.sure[4]
    found = assistant.complete(sentence("She/0/root! saw/_/_ the/_/_ cat/_/_ ./_/_"))
    assert tree_of(found.sentence)[0] == "0/root!"
    assert sum(row[HEAD] == "0" for row in found.sentence.words) == 1
    with pytest.raises(ValueError, match="cannot be kept"):
        assistant.complete(sentence("She/0/root! saw/0/root! the/_/_ cat/_/_ ./_/_"))


def test_least_sure_words(assistant: Assistant, tmp_path: Path) -> None:
    wrong = SAW.replace("4/det", "2/x")
    right, other, whole = assistant.judge([sentence(t) for t in (SAW, wrong, "Yes/0/root!")])
    entries = Store(tmp_path / "a.conllu", [right, other, whole]).entries
    assert entries[2].doubt is None
    assert entries[0].doubt < 0.5 < entries[1].doubt  # type: ignore[operator]


def test_given_words_are_not_joined(tmp_path: Path) -> None:
    DocBin(docs=[gold()]).to_disk(tmp_path / "train.spacy")
    nlp = make_nlp(projectivize=False)
    train(nlp, [*Corpus(tmp_path / "train.spacy", subtokens=True)(nlp)], steps=60)
    assistant = Assistant(nlp)
    assert nlp(gold().text)[0].text == "công nghệ"
    text = conllu(" ".join(f"{word.text}/_/_" for word in nlp.make_doc(gold().text)))
    (given,) = read_rows(text)
    forms = [row[FORM] for row in given.words]
    (tmp_path / "a.conllu").write_text(text, "utf-8")
    for one in (
        *assistant.open(tmp_path / "a.conllu"),
        assistant.complete(given).sentence,
        *read_rows(assistant.parse(None, text, {})),
    ):
        assert [row[FORM] for row in one.words] == forms
        assert all(row[HEAD] != "_" for row in one.words)
    (judged,) = assistant.judge([given])
    assert judged.sure is not None
    assert assistant.derive(None, text, [])["words"] == forms


def test_words_of_known_multiword_tokens() -> None:
    """They get the tree of the training data, whatever the parser makes of their token."""
    nlp = random_parser(1)
    nlp.add_pipe("multiword_tokens", source=multiword(KNOWN))
    assistant = Assistant(nlp)
    (given,) = read_rows(GIVEN)
    (parsed,) = read_rows(assistant.parse(None, GIVEN, {}))
    (judged,) = assistant.judge([given])
    for one in (assistant.complete(given).sentence, parsed):
        assert [row[DEPREL] for row in one.words][3::3] == ["det", "advmod"]
    assert judged.sure is not None


def test_files_of_all_kinds_are_opened(
    assistant: Assistant, trained: Language, tmp_path: Path
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("She saw the cat .\n\nYes\n", encoding="utf-8")
    assert tree_of(assistant.open(text)[0])[3] == "2/obj"
    DocBin(docs=[gold_doc(trained.vocab, [0, 1])]).to_disk(tmp_path / "a.spacy")
    assert len(assistant.open(tmp_path / "a.spacy")) == 2
    file = tmp_path / "a.conllu"
    file.write_text(conllu(SAW.replace("2/obj", "_/_"), LIKE.replace("obj", "dep")), "utf-8")
    first, second = assistant.open(file)
    assert tree_of(first)[3] == "2/obj" and tree_of(second)[2] == "2/dep"
    (tmp_path / "empty.conllu").touch()
    with pytest.raises(ValueError, match="no sentence"):
        assistant.open(tmp_path / "empty.conllu")
    plus = tmp_path / "a.conllup"
    plus.write_text("# global.columns = ID FORM X\n1\ta\tb\n\n", encoding="utf-8")
    with pytest.raises(ValueError, match="CoNLL-U Plus"):
        assistant.open(plus)


# The server


class Client:
    """Asks a server that runs in a thread."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.headers = {
            "Authorization": f"Bearer {server.token}",
            "Content-Type": "application/json",
        }

    def send(
        self, method: str, path: str, body: Any = None, **headers: str | None
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the answer; headers: in place of others, None: left out."""
        given: dict[str, str | None] = {**self.headers, **headers}
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=60)
        connection.putrequest(method, path, skip_host="Host" in headers)
        content = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        given = {"Content-Length": str(len(content)), **given}
        for name, value in given.items():
            if value is not None:
                connection.putheader(name.replace("_", "-"), value)
        connection.endheaders(content)
        answer = connection.getresponse()
        found = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return found

    def ask(self, path: str, body: Any = None, **headers: str | None) -> tuple[int, Any]:
        """Status and JSON of an answer."""
        status, _, content = self.send("POST", path, body, **headers)
        return status, json.loads(content)


@pytest.fixture
def client(assistant: Assistant, tmp_path: Path) -> Iterator[Client]:
    path = tmp_path / "a.annotated.conllu"
    store = Store(path, assistant.judge([sentence(SAW), sentence(LIKE)]))
    with Server(store, assistant) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield Client(server)
        server.shutdown()
        thread.join()


def test_the_page_and_its_rules(client: Client) -> None:
    scripts = ("/ask.js", "/arcs.js", "/annotate.js", "/page.js", "/derive.js")
    for path in ("/", "/derive", "/page.css", "/annotate.css", *scripts):
        status, headers, content = client.send("GET", path, Authorization=None)
        assert status == 200 and content
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
    for path in ("/", "/derive"):
        page = client.send("GET", path)[2].decode()
        assert "style=" not in page and "onclick" not in page and client.server.token not in page
        assert "<style" not in page and "__" not in page
    assert client.server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    ("path", "headers", "expected"),
    [
        ("/list", {"Host": "evil.example"}, 403),
        ("/list", {"Host": None}, 403),
        ("/list", {"Authorization": None}, 401),
        ("/list", {"Authorization": "Bearer x"}, 401),
        ("/list", {"Content_Type": "text/plain", "Content-Type": None}, 415),
        ("/list", {"Content-Length": None}, 411),
        ("/list", {"Content-Length": str(MAX_BYTES + 1)}, 413),
        ("/../page.py", {}, 404),
        ("/list", {}, 200),
    ],
)
def test_who_is_answered(client: Client, path: str, headers: dict[str, Any], expected: int) -> None:
    assert client.ask(path, {}, **headers)[0] == expected
    assert client.send("GET", "/../page.py")[0] == 404


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/save", b"{"),
        ("/save", b"[]"),
        ("/save", b"[" * 100_000),
        ("/save", {}),
        ("/save", {"parts": [{"key": [], "revision": 0}], "sentences": []}),
        ("/save", {"parts": [], "sentences": [{"comments": [], "rows": []}]}),
        ("/save", {"parts": [], "sentences": [{"comments": ["# a\n1\tx"], "rows": [["1"]]}]}),
        ("/save", {"parts": [], "sentences": [{"comments": ["a"], "rows": [["1"]]}]}),
        ("/save", {"parts": [], "sentences": [{"comments": ["# \ud800"], "rows": [["1"]]}]}),
        ("/split", {"parts": [], "word": 1}),
        ("/parse", {}),
        ("/parse", {"text": 3}),
        ("/parse", {"text": "a", "format": "xml"}),
        ("/parse", {"conllu": "1\tx"}),
        ("/derive", {}),
        ("/derive", {"text": " "}),
        ("/derive", {"text": "a", "moves": 3}),
        ("/derive", {"text": "a", "moves": ["x"]}),
        ("/derive", {"text": "a", "moves": [["SHIFT", {}, []]]}),
        ("/derive", {"text": "a", "moves": [["SHIFT", 1, None]] * 9}),
        ("/derive", {"text": "word " * (MOST_WORDS + 1)}),
    ],
)
def test_nonsense_is_refused(client: Client, path: str, body: Any) -> None:
    status, answer = client.ask(path, body)
    assert status == 400 and answer["error"]
    assert client.ask("/list")[0] == 200


def test_correct_and_save(client: Client, tmp_path: Path) -> None:
    listed = client.ask("/list")[1]
    assert [one["key"] for one in listed["sentences"]] == [0, 1]
    assert {"nsubj", "root"} <= {*listed["labels"]}
    one = client.ask("/read", {"key": 0})[1]
    assert one["problems"] == [] or "roo" not in str(one["problems"])
    parts = [{"key": 0, "revision": one["revision"]}]
    one["rows"][3][DEPREL], one["rows"][3][MISC] = "iobj", CONFIRMED
    one["rows"][4][HEAD] = "4"
    body = {"parts": parts, "sentences": [one], "complete": True}
    status, answer = client.ask("/save", body)
    (saved,) = answer["sentences"]
    assert status == 200 and answer["notes"] == []
    assert saved["changed"] == [4]  # the parser has put the full stop back
    assert saved["confirmed"] == 1 and saved["sure"][3] == 1
    text = (tmp_path / "a.annotated.conllu").read_text(encoding="utf-8")
    assert "2\tiobj\t_\tConfirmed=Yes" in text
    status, answer = client.ask("/save", body)  # another window
    assert status == 409
    assert answer["sentences"][0]["revision"] == saved["revision"]
    parts = [{"key": 0, "revision": saved["revision"]}]
    one["rows"][1][HEAD] = "4"
    one["rows"][1][MISC] = CONFIRMED  # with the cat below it: a cycle
    status, answer = client.ask("/save", {**body, "parts": parts})
    assert status == 200 and "cannot be kept" in answer["notes"][0]
    assert any("Cycle" in text for text in answer["sentences"][0]["problems"])


def test_split_and_merge_on_the_server(client: Client) -> None:
    one = client.ask("/read", {"key": 0})[1]
    parts = [{"key": 0, "revision": one["revision"]}]
    status, answer = client.ask("/split", {"parts": parts, "word": 3})
    assert status == 200 and [two["words"] for two in answer["sentences"]] == [2, 3]
    assert all(row[HEAD] != "_" for two in answer["sentences"] for row in two["rows"])
    parts = [{"key": two["key"], "revision": two["revision"]} for two in answer["sentences"]]
    status, answer = client.ask("/merge", {"parts": parts})
    assert [row[1] for row in answer["sentences"][0]["rows"]] == [row[1] for row in one["rows"]]


def test_parse_for_scripts(client: Client) -> None:
    status, answer = client.ask("/parse", {"text": "She saw the cat ."})
    assert status == 200 and [tree_of(one)[3] for one in read_rows(answer["conllu"])] == ["2/obj"]
    given = conllu(SAW.replace("4/det cat/2/obj", "_/_ cat/2/iobj"))
    answer = client.ask("/parse", {"conllu": given, "confidence": True})[1]
    assert "2\tiobj\t_\tKnownHead=Yes|HeadConfidence=1.000" in answer["conllu"]
    answer = client.ask("/parse", {"conllu": given, "keep_heads": False, "format": "json"})[1]
    assert [token["dep"] for token in answer["json"][0]["tokens"]][3] == "obj"
    marked = given.replace("nsubj\t_\t_", "nsubj\t_\tConfirmed=Yes")
    answer = client.ask("/parse", {"conllu": marked})[1]
    assert "\tobj\t" in answer["conllu"]  # only what is marked is kept


def test_a_derivation_is_steered(client: Client) -> None:
    """The given moves, then the parser's; a move without a label gets the one that costs least."""
    status, found = client.ask("/derive", {"text": "She saw the cat ."})
    assert status == 200 and found["gold_heads"] is None
    own = [step["action"] for step in found["steps"]]
    body = {"conllu": conllu(SAW.replace("nsubj", "obj"))}
    found = client.ask("/derive", {**body, "moves": own[:2]})[1]
    assert [step["action"] for step in found["steps"]] == own
    assert found["gold_heads"] == [1, 1, 3, 1, 1]
    assert found["steps"][1]["cost"] == 1  # the label
    assert any(choice["least_cost"] == 0 for choice in found["steps"][1]["choices"])
    found = client.ask("/derive", {**body, "moves": [own[0], ["LEFT-ARC", 1]]})[1]
    step = found["steps"][1]
    assert step["action"] == ["LEFT-ARC", 1, "obj"] and step["cost"] == 0
    assert step["choices"][0]["label_probability"] is None and found["labels"][0] == "obj"
    status, answer = client.ask("/derive", {**body, "moves": [own[1]]})
    assert status == 400 and "is not legal here. Legal moves: SHIFT." in answer["error"]


# The command


def started(model: Path, file: Path) -> tuple[subprocess.Popen[str], Client]:
    """A process that serves, and who asks it."""
    command = [sys.executable, "-m", "spacy", "nmparse", "annotate", str(model), str(file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    text = next(line for line in process.stdout if "http://" in line)
    found = re.search(r":(\d+)/#token=(\S+)", text)
    assert found is not None
    return process, Client(SimpleNamespace(server_port=int(found[1]), token=found[2]))


def test_a_killed_server_loses_nothing(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path / "model")
    file = tmp_path / "text.txt"
    file.write_text("She saw the cat .\n\nYes\n", encoding="utf-8")
    for n_confirmed in (0, 1):
        process, client = started(tmp_path / "model", file)
        try:
            listed = client.ask("/list")[1]["sentences"]
            assert [one["confirmed"] for one in listed] == [n_confirmed, 0]
            one = client.ask("/read", {"key": 0})[1]
            one["rows"][n_confirmed][MISC] = CONFIRMED
            parts = [{"key": 0, "revision": one["revision"]}]
            assert client.ask("/save", {"parts": parts, "sentences": [one]})[0] == 200
        finally:
            process.kill()
            process.communicate()
    (first, _) = read_rows(Path(f"{file}.annotated.conllu"))
    assert [is_confirmed(row) for row in first.words] == [True, True, False, False, False]


def test_what_is_confirmed_is_written_for_training(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path / "model")
    file, output = tmp_path / "a.conllu", tmp_path / "confirmed.conllu"
    file.write_text(conllu(SAW, LIKE), encoding="utf-8")
    command = ("annotate", tmp_path / "model", file, "--confirmed", output)
    done = run(*command)
    assert done.exit_code == 2 and "No word is confirmed" in told(done)
    store = Store(Path(f"{file}.annotated.conllu"), [Change(sentence(SAW)), Change(sentence(LIKE))])
    store.replace(
        [(1, store.entries[1].revision)], [Change(sentence(LIKE.replace("/obj", "/obj!")))]
    )
    assert "1 word in 1 sentence" in succeed(*command).output
    (one,) = read_rows(output)
    assert tree_of(one) == ["_/_", "_/_", "2/obj!", "_/_", "_/_", "_/_"]
    for arguments, expected in (
        ((tmp_path / "no", file), "There is no pipeline"),
        ((tmp_path / "model", tmp_path / "no.txt"), "There is no file"),
    ):
        done = run("annotate", *arguments)
        assert done.exit_code == 2 and expected in told(done)


GUESSES = ("x", "ADJ", "x", "A=B")


def annotated(file: Path, original: Sentence, *marked: int) -> Path:
    """A file, and what the page made of it: guesses in all columns, words confirmed, cut in two."""
    file.write_text(original.written().to_conllu("1"), "utf-8")
    rows = [[*row] for row in original.rows]
    for row, (column, guess) in itertools.product(rows, enumerate(GUESSES, LEMMA)):
        row[column] = guess if row[column] == "_" else row[column]
    for i in marked:
        rows[i][MISC] = CONFIRMED
    parts = split(Sentence([], rows), 3)
    target = Path(f"{file}.annotated.conllu")
    target.write_text("".join(one.written().to_conllu(str(i)) for i, one in enumerate(parts)))
    return target


def columns_of(file: Path) -> list[str]:
    return ["/".join(row[2:6]) for one in read_rows(file) for row in one.words]


def test_guesses_are_not_written_for_training(trained: Language, tmp_path: Path) -> None:
    """Of words that are not confirmed stays what the file had before, and was not changed."""
    trained.to_disk(tmp_path / "model")
    before = sentence(SAW)
    before.rows[3][LEMMA : FEATS + 1] = ["cat", "NOUN", "_", "Number=Sing"]
    before.rows[4][XPOS] = "."
    file, output = tmp_path / "a.conllu", tmp_path / "confirmed.conllu"
    target = annotated(file, before, 2)
    command = ("annotate", tmp_path / "model", file, "--confirmed", output, "--force")
    assert "Warning" not in succeed(*command).output
    expected = [
        "x/ADJ/x/A=B",
        "cat/NOUN/_/Number=Sing",
        "_/_/./_",
    ]  # the other half has no such word
    assert columns_of(output) == expected
    succeed("annotate", tmp_path / "model", target, *command[3:])
    assert columns_of(output) == expected
    corrected = target.read_text("utf-8").replace("NOUN", "VERB")
    target.write_text(corrected, "utf-8")
    succeed(*command)
    assert columns_of(output)[1] == "cat/_/_/Number=Sing"
    (doc,) = conllu_to_docs(output, trained.vocab)
    assert [token.has_morph() for token in doc] == [True, True, False]
    for change, expected_words in ((conllu(LIKE), "has other words"), (None, "is gone")):
        file.unlink() if change is None else file.write_text(change, "utf-8")
        assert expected_words in told(run(*command))
        assert columns_of(output) == ["x/ADJ/x/A=B", "_/_/_/_", "_/_/_/_"]


def test_what_a_file_says_before_the_parser(assistant: Assistant, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("She saw the cat .\n", "utf-8")
    assert [*assistant.given(text)] == []
    doc = Doc(Vocab(), ["a", "b"], pos=["NOUN", ""], lemmas=["", "b"])
    DocBin(docs=[doc]).to_disk(tmp_path / "a.spacy")
    (one,) = assistant.given(tmp_path / "a.spacy")
    assert [row[:5] for row in one.words] == [
        ["1", "a", "_", "NOUN", "_"],
        ["2", "b", "b", "_", "_"],
    ]
    (tmp_path / "bad.conllu").write_text("1\ta\n\n", "utf-8")
    with pytest.raises(ValueError, match=r"bad\.conllu"):
        [*assistant.given(tmp_path / "bad.conllu")]


def test_nothing_is_overwritten(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path / "model")
    file, other, link = (tmp_path / name for name in ("a.conllu", "train.conllu", "link.conllu"))
    target = annotated(file, sentence(SAW), 2)
    other.write_text("mine", "utf-8")
    link.symlink_to(target)
    (tmp_path / "hard.conllu").hardlink_to(file)
    before = {path: path.read_bytes() for path in (file, target, other)}
    ours = file, target, tmp_path / "model" / ".." / file.name, link, tmp_path / "hard.conllu"
    for given in (file, target):
        command = ("annotate", tmp_path / "model", given, "--confirmed")
        for output in ours:
            for force in ((), ("--force",)):
                done = run(*command, output, *force)
                assert done.exit_code == 2 and "overwrite what is annotated" in told(done)
        for output in (other, tmp_path):
            done = run(*command, output)
            assert done.exit_code == 2 and "exists already" in told(done)
            assert "--force to overwrite" in told(done)
    assert {path: path.read_bytes() for path in before} == before
    target.unlink()
    done = run("annotate", tmp_path / "model", file, "--confirmed", target, "--force")
    assert "overwrite what is annotated" in told(done) and not target.exists()
    annotated(file, sentence(SAW), 2)
    succeed("annotate", tmp_path / "model", file, "--confirmed", other, "--force")
    assert len([*read_rows(other)]) == 1
