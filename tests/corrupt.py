"""Damaged models of every factory: each must be an error, and leave the parser as it was.

    python -m tests.corrupt --tries 3000

saves a parser of each factory, damages the files of its directory, its bytes, and the parser's
folder of a whole pipeline, in all the ways of ``DAMAGES`` by turns, and loads them into another
parser. What is right: a ValueError that names the component, and the parser gives the same bytes as
before; or the damage changed nothing (a space in JSON), and what was saved is what is loaded.
Prints one line per way; the exit status is 1 if anything else happened.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import spacy
import srsly
from spacy.language import Language

from spacy_nmparse.pipe.saving import CHECKSUMS, checksums
from tests.pipe.common import SMALL, TOK2VEC, assert_sound, parser_of, random_doc, random_parser

SHAPES = ("word_W", "label_W", "project_W", "W", "b", "E", "G")

Parts = dict[str, bytes]
Damage = Callable[[Parts, Parts, random.Random], None]


def tiny_parser(factory: str, seed: int) -> Language:
    """A parser with random weights, as small as can be."""
    tok2vec = {**TOK2VEC, "width": 8, "embed_size": 20}
    model = {**SMALL[factory]["model"], "tok2vec": tok2vec, "hidden_width": 8}
    return random_parser(seed, factory=factory, model=model)


def _place(parts: Parts, rng: random.Random) -> tuple[str, int]:
    """A file that is not empty, and a place in it."""
    name = rng.choice([name for name, data in parts.items() if data])
    near = rng.random() < 0.3  # where the names, shapes and sizes are
    return name, rng.randrange(min(300, len(parts[name])) if near else len(parts[name]))


def truncated(parts: Parts, other: Parts, rng: random.Random) -> None:
    name, place = _place(parts, rng)
    parts[name] = parts[name][:place]


def flipped_bit(parts: Parts, other: Parts, rng: random.Random) -> None:
    name, place = _place(parts, rng)
    data = bytearray(parts[name])
    data[place] ^= 1 << rng.randrange(8)
    parts[name] = bytes(data)


def other_byte(parts: Parts, other: Parts, rng: random.Random) -> None:
    name, place = _place(parts, rng)
    data = bytearray(parts[name])
    data[place] = (data[place] + rng.randrange(1, 256)) % 256
    parts[name] = bytes(data)


def zeroed_block(parts: Parts, other: Parts, rng: random.Random) -> None:
    name, place = _place(parts, rng)
    size = min(rng.choice((16, 512, 4096)), len(parts[name]) - place)
    parts[name] = parts[name][:place] + bytes(size) + parts[name][place + size :]


def lost_block(parts: Parts, other: Parts, rng: random.Random) -> None:
    name, place = _place(parts, rng)
    parts[name] = parts[name][:place] + parts[name][place + rng.choice((1, 16, 512)) :]


def appended(parts: Parts, other: Parts, rng: random.Random) -> None:
    name, _ = _place(parts, rng)
    parts[name] += rng.randbytes(rng.choice((1, 4, 4096)))


def missing(parts: Parts, other: Parts, rng: random.Random) -> None:
    del parts[_place(parts, rng)[0]]


def of_another_model(parts: Parts, other: Parts, rng: random.Random) -> None:
    parts["model"] = other["model"]


def _edit(parts: Parts, **changes: Any) -> None:
    content = {**json.loads(parts["parser.json"]), **changes}
    parts["parser.json"] = json.dumps(content, indent=1).encode("utf8")


def seal(parts: Parts) -> None:
    """Give the parts the checksums of what they are: made so by someone, not damaged."""
    parts[CHECKSUMS] = checksums(parts)


def wrong_version(parts: Parts, other: Parts, rng: random.Random) -> None:
    _edit(parts, format=rng.choice((None, 0, 2, 3, 99, "1")))
    if rng.random() < 0.5:
        seal(parts)


def wrong_labels(parts: Parts, other: Parts, rng: random.Random) -> None:
    labels = json.loads(parts["parser.json"])["labels"]
    place = rng.randrange(len(labels))
    kind = rng.randrange(5)
    if kind == 0:
        labels[place] += "x"
    elif kind == 1:
        labels.reverse()
    elif kind == 2:
        labels.append("more")
    elif kind == 3:
        labels = [label for label in labels if label in ("ROOT", "dep")] or ["ROOT"]
    else:
        labels[place] = rng.choice((None, 3, "", ["a"]))
    _edit(parts, labels=labels)
    if kind > 1 and rng.random() < 0.5:
        seal(parts)


def wrong_shape(parts: Parts, other: Parts, rng: random.Random) -> None:
    content = srsly.msgpack_loads(parts["model"])
    places = [
        (params, name)
        for params in content["params"]
        for name in params
        if params[name] is not None and (name in SHAPES or rng.random() < 0.3)
    ]
    params, name = rng.choice(places)
    array = params[name]
    params[name] = rng.choice((array[:-1], array[:0], array[None], array.astype("float64"), None))
    parts["model"] = srsly.msgpack_dumps(content)
    if rng.random() < 0.8:
        seal(parts)


def wrong_settings(parts: Parts, other: Parts, rng: random.Random) -> None:
    key, value = rng.choice(
        (
            ("cfg", 3),
            ("cfg", None),
            ("system", {"name": "arc"}),
            ("system", 0),
            ("features", ["S0"]),
        )
    )
    _edit(parts, **{key: value})
    if rng.random() < 0.5:
        seal(parts)


DAMAGES: dict[str, Damage] = {
    "truncated": truncated,
    "one bit flipped": flipped_bit,
    "one byte changed": other_byte,
    "a block of zeros": zeroed_block,
    "a block lost": lost_block,
    "more at the end": appended,
    "a file missing": missing,
    "weights of another model": of_another_model,
    "wrong version": wrong_version,
    "wrong labels": wrong_labels,
    "wrong shape or type of weights": wrong_shape,
    "wrong settings": wrong_settings,
}


@dataclass
class Outcome:
    """What became of the tries of one kind."""

    tries: int = 0
    refused: int = 0
    unchanged: int = 0
    wrong: list[str] = field(default_factory=list)


class Patient:
    """A saved parser of one factory, and another one that what is left of it is loaded into."""

    def __init__(self, factory: str, folder: Path) -> None:
        self.factory = factory
        self.folder = folder
        saved = tiny_parser(factory, 1)
        self.saved = parser_of(saved)
        self.pipeline = folder / "pipeline"
        folder.mkdir()
        saved.to_disk(self.pipeline)
        self.nlp = tiny_parser(factory, 2)
        self.parser = parser_of(self.nlp)
        self.before = self.parser.to_bytes()
        self.loaded = self.saved.to_bytes()
        self.parts: Parts = srsly.msgpack_loads(self.loaded)
        self.other: Parts = srsly.msgpack_loads(parser_of(tiny_parser(factory, 3)).to_bytes())

    def try_parts(self, damage: Damage, rng: random.Random) -> str:
        """Damage a directory, or the parts within the bytes; what was wrong, or "refused"."""
        parts = dict(self.parts)
        damage(parts, self.other, rng)
        if rng.random() < 0.3:
            return self._load(lambda: self.parser.from_bytes(srsly.msgpack_dumps(parts)))
        path = self.folder / "parser"
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        for name, data in parts.items():
            (path / name).write_bytes(data)
        return self._load(lambda: self.parser.from_disk(path))

    def try_bytes(self, damage: Damage, rng: random.Random) -> str:
        """Damage the bytes as they are."""
        parts = {"bytes": self.loaded}
        damage(parts, {}, rng)
        return self._load(lambda: self.parser.from_bytes(parts["bytes"]))

    def _load(self, load: Callable[[], Any]) -> str:
        try:
            load()
        except ValueError as error:
            if self.parser.name not in str(error):
                return f"an error that does not name the component: {error}"
            return "refused" if self.parser.to_bytes() == self.before else "the parser has changed"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        same = self.parser.to_bytes() == self.loaded
        self.parser.from_bytes(self.before)
        return "unchanged" if same else "loaded, but is not what was saved"

    def try_pipeline(self, damage: Damage, rng: random.Random) -> str:
        """Damage the parser's folder within a pipeline that spaCy loads."""
        path = self.folder / "damaged"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self.pipeline, path)
        folder = path / self.parser.name
        parts = {file.name: file.read_bytes() for file in folder.iterdir()}
        intact = dict(parts)
        damage(parts, self.other, rng)
        for name in intact:
            (folder / name).unlink()
        for name, data in parts.items():
            (folder / name).write_bytes(data)
        try:
            nlp = spacy.load(path)
        except ValueError as error:
            named = self.parser.name in str(error)
            return "refused" if named else f"an error that does not name the component: {error}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        same = parser_of(nlp).to_bytes(exclude=["vocab"]) == self.saved.to_bytes(exclude=["vocab"])
        return "unchanged" if same else "loaded, but is not what was saved"

    def parses(self, rng: random.Random) -> bool:
        """Whether the parser still parses and learns nothing odd."""
        doc = self.nlp(random_doc(self.nlp.vocab, rng, 12))
        assert_sound(doc)
        return bool(self.parser.to_bytes() == self.before)


def corrupt(tries: int, seed: int = 0) -> dict[str, Outcome]:
    """All kinds of damage by turns, over all factories."""
    outcomes = {name: Outcome() for name in DAMAGES}
    rng = random.Random(seed)
    raw = (truncated, flipped_bit, other_byte, zeroed_block, lost_block, appended)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patients = [Patient(factory, Path(folder) / factory) for factory in SMALL]
        turns = itertools.cycle((patient, name) for name in DAMAGES for patient in patients)
        for number, (patient, name) in zip(range(tries), turns, strict=False):
            damage = DAMAGES[name]
            if number % 20 == 7:
                found = patient.try_pipeline(damage, rng)
            elif damage in raw and rng.random() < 0.3:
                found = patient.try_bytes(damage, rng)
            else:
                found = patient.try_parts(damage, rng)
            outcome = outcomes[name]
            outcome.tries += 1
            outcome.refused += found == "refused"
            outcome.unchanged += found == "unchanged"
            if found not in ("refused", "unchanged"):
                outcome.wrong.append(f"{patient.factory}, {name}, try {number}: {found}")
        for patient in patients:
            if not patient.parses(rng):
                outcomes["truncated"].wrong.append(f"{patient.factory}: not as before in the end")
    return outcomes


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.corrupt", description=__doc__)
    parser.add_argument("--tries", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    outcomes = corrupt(options.tries, options.seed)
    print("| damage | tries | clear error, parser as before | nothing changed | wrong |")
    print("| --- | --: | --: | --: | --: |")
    total = Outcome()
    for name, found in outcomes.items():
        total.tries += found.tries
        total.refused += found.refused
        total.unchanged += found.unchanged
        total.wrong += found.wrong
        row = (name, found.tries, found.refused, found.unchanged, len(found.wrong))
        print("| " + " | ".join(map(str, row)) + " |")
    row = ("all", total.tries, total.refused, total.unchanged, len(total.wrong))
    print("| " + " | ".join(map(str, row)) + " |")
    for wrong in total.wrong[:20]:
        print("   ", wrong)
    return int(bool(total.wrong))


if __name__ == "__main__":
    sys.exit(main())
