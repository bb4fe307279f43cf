"""Parse a corpus that is larger than memory, on one machine or on a Ray cluster.

    python scripts/parse_corpus.py training/nm_parser/model-best parsed texts/*.txt --workers 8
    python scripts/parse_corpus.py MODEL parsed texts/*.parquet --text body --address auto

Text files have one document a line (blank lines are none), Parquet files one a row. Each input file
is cut into pieces; each piece becomes one shard of the output, written whole or not at all. A run
that was killed goes on where it was when the same command is given again: finished shards are kept,
no document is lost or there twice. See docs/scale_out.md.

Without --workers and --address everything happens in this process, without Ray.
"""

from __future__ import annotations

import argparse
import bisect
import hashlib
import json
import os
import socket
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.util import minibatch

MANIFEST = "manifest.json"
KINDS = {"parquet": ".parquet", "docbin": ".spacy"}
NEW = ".new"  # ends the names of files that are being written
BUFFER = 1000  # documents whose parses are held before they are written to Parquet
FOLDER = 1000  # shards in a folder
RECORDS = "records"  # the folder of the workers' records
BLOCKS = 10_000  # pieces are given to Ray in at most so many parts
COUNTED = ("documents", "tokens", "errors")


class Piece(NamedTuple):
    """A part of an input file. Text: the lines that begin at the bytes first .. last - 1. Parquet:
    the row groups first .. last - 1, of which the first row is the file's row `row`."""

    path: str
    first: int
    last: int
    row: int = 0


def row_groups(path: Path, size: int) -> list[tuple[int, int, int]]:
    """Cut a Parquet file into pieces: the first row group of each, the one behind its last, and the
    number of its first row. A row group is never cut."""
    from pyarrow import parquet

    metadata = parquet.ParquetFile(path).metadata
    cuts = []
    first = row = rows = held = 0
    for group in range(metadata.num_row_groups):
        rows += metadata.row_group(group).num_rows
        held += metadata.row_group(group).total_byte_size
        if held >= size or group + 1 == metadata.num_row_groups:
            cuts.append((first, group + 1, row))
            first, row, rows, held = group + 1, row + rows, 0, 0
    return cuts


class Pieces:
    """The pieces of all input files, which hold each document once. Those of text files are
    computed, not kept: a corpus can have millions."""

    def __init__(self, settings: dict[str, Any]) -> None:
        """Number the pieces.

        Args:
            settings: "inputs" and "size" of the manifest.
        """
        self.size: int = settings["size"]
        self.inputs: list[dict[str, Any]] = settings["inputs"]
        self.ends: list[int] = []  # for each input file, the number behind its last piece
        for one in self.inputs:
            n = -(-one["bytes"] // self.size) if one["cuts"] is None else len(one["cuts"])
            self.ends.append(n + (self.ends[-1] if self.ends else 0))

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0

    def __getitem__(self, number: int) -> Piece:
        which = bisect.bisect_right(self.ends, number)
        one = self.inputs[which]
        place = number - (self.ends[which - 1] if which else 0)
        if one["cuts"] is not None:
            return Piece(one["path"], *one["cuts"][place])
        first = place * self.size
        return Piece(one["path"], first, min(first + self.size, one["bytes"]))


def read_texts(piece: Piece, column: str) -> Iterator[tuple[int, str]]:
    """Read the documents of a piece.

    Args:
        piece: The piece.
        column: The column of Parquet files that holds the text.

    Yields:
        For each document its position in the file (the byte its line begins at, or its row), and
        its text.

    Raises:
        ValueError: If a Parquet file has no such column.
    """
    if not piece.path.endswith(".parquet"):
        with open(piece.path, "rb") as file:
            if piece.first:  # a line that began before belongs to the piece before
                file.seek(piece.first - 1)
                file.readline()
            position = file.tell()
            while position < piece.last:
                line = file.readline()
                if line.strip():
                    yield position, line.decode("utf8", errors="replace").rstrip("\r\n")
                position = file.tell()
        return
    from pyarrow import parquet

    source = parquet.ParquetFile(piece.path)
    if column not in source.schema_arrow.names:
        raise ValueError(
            f"{piece.path} has no column {column!r}, but {source.schema_arrow.names}: choose one "
            f"with --text."
        )
    position = piece.row
    for batch in source.iter_batches(
        256, row_groups=list(range(piece.first, piece.last)), columns=[column]
    ):
        for text in batch.column(0).to_pylist():
            yield position, text or ""
            position += 1


def parse_texts(
    nlp: Language, texts: Iterable[tuple[int, str]], batch_size: int
) -> Iterator[tuple[int, Doc, str | None]]:
    """Parse documents. One that fails comes out without a parse, with the error.

    Args:
        nlp: The pipeline; its error handlers are replaced.
        texts: Positions and texts.
        batch_size: Documents per batch.

    Yields:
        Position, document, and error or None, in order.
    """
    errors: dict[int, str] = {}

    def handle(name: str, proc: Any, docs: list[Doc], error: Exception) -> None:
        for doc in docs:
            errors[id(doc)] = f"{name}: {type(error).__name__}: {error}"

    nlp.set_error_handler(handle)
    for batch in minibatch(texts, batch_size):
        errors.clear()
        made: list[tuple[int, Doc]] = []
        failed: dict[int, tuple[Doc, str]] = {}
        for position, text in batch:
            try:
                made.append((position, nlp.make_doc(text)))
            except Exception as error:  # too long a text, say
                failed[position] = (Doc(nlp.vocab), f"tokenizer: {type(error).__name__}: {error}")
        parsed = list(nlp.pipe([doc for _, doc in made], batch_size=batch_size))
        if len(parsed) == len(made):  # components may have made other documents of them
            found = {position: doc for (position, _), doc in zip(made, parsed, strict=True)}
        else:
            positions = {id(doc): position for position, doc in made}
            found = {positions[id(doc)]: doc for doc in parsed if id(doc) in positions}
        docs = dict(made)
        for position, text in batch:
            if position in failed:
                yield position, *failed[position]
            elif position in found:
                yield position, found[position], None
            else:
                reason = errors.get(id(docs[position]), "it was dropped")
                yield position, nlp.make_doc(text), reason


def row_of(source: str, position: int, doc: Doc, error: str | None) -> dict[str, Any]:
    """Make a row of the Parquet output."""
    return {
        "source": source,
        "position": position,
        "words": [token.text for token in doc],
        "spaces": [bool(token.whitespace_) for token in doc],
        "heads": [token.head.i for token in doc],
        "deps": [token.dep_ for token in doc],
        "sent_starts": [bool(token.is_sent_start) for token in doc],
        "error": error,
    }


def write_parquet(path: Path, source: str, parses: Iterable[tuple[int, Doc, str | None]]) -> None:
    """Write parses to a Parquet file, a row for each, some rows at a time."""
    import pyarrow
    from pyarrow import parquet

    def list_of(kind: Any) -> Any:
        return pyarrow.list_(kind)

    schema = pyarrow.schema(
        {
            "source": pyarrow.string(),
            "position": pyarrow.int64(),
            "words": list_of(pyarrow.string()),
            "spaces": list_of(pyarrow.bool_()),
            "heads": list_of(pyarrow.int32()),
            "deps": list_of(pyarrow.string()),
            "sent_starts": list_of(pyarrow.bool_()),
            "error": pyarrow.string(),
        }
    )
    with parquet.ParquetWriter(path, schema) as writer:
        for batch in minibatch((row_of(source, *parse) for parse in parses), BUFFER):
            writer.write_table(pyarrow.Table.from_pylist(batch, schema))


def write_docbin(path: Path, source: str, parses: Iterable[tuple[int, Doc, str | None]]) -> None:
    """Write parses to a .spacy file; source, position and error are in ``doc.user_data``."""
    docs = DocBin(store_user_data=True)
    for position, doc, error in parses:
        doc.user_data.update(source=source, position=position, error=error)
        docs.add(doc)
    docs.to_disk(path)


class ShardParser:
    """Parses pieces, each into a shard of its own. Workers hold one each."""

    def __init__(self, model: str, output: str, settings: dict[str, Any]) -> None:
        self.nlp = spacy.load(model)
        self.output = Path(output)
        self.settings = settings
        self.pieces = Pieces(settings)
        self.worker = f"{socket.gethostname()}:{os.getpid()}"
        self.records = self.output / RECORDS / f"{uuid.uuid4().hex}.jsonl"

    def __call__(self, item: dict[str, Any]) -> dict[str, Any]:
        """Parse piece number item["number"]; returns the shard's record. When this fails, there is
        no shard; done again, it writes the same. A shard that is there is left: another worker made
        it and died later."""
        start = time.time()
        number = int(item["number"])
        piece = self.pieces[number]
        counts = dict.fromkeys(COUNTED, 0)
        kind = self.settings["format"]
        path = shard_path(self.output, number, kind)
        if path.exists():
            return {"number": number, **counts, "bytes": path.stat().st_size, "seconds": 0.0}

        def counted() -> Iterator[tuple[int, Doc, str | None]]:
            texts = read_texts(piece, self.settings["text"])
            for position, doc, error in parse_texts(self.nlp, texts, self.settings["batch_size"]):
                counts["documents"] += 1
                counts["errors"] += error is not None
                counts["tokens"] += len(doc)
                yield position, doc, error

        # A name of its own: a worker that was given up may still be writing.
        new = path.with_name(f"{path.name}.{uuid.uuid4().hex}{NEW}")
        write = write_parquet if kind == "parquet" else write_docbin
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write(new, piece.path, counted())
            record = {
                "number": number,
                **counts,
                "bytes": new.stat().st_size,
                "seconds": round(time.time() - start, 3),
                "worker": self.worker,
            }
            self.records.parent.mkdir(exist_ok=True)
            with self.records.open("a", encoding="utf8") as file:
                file.write(json.dumps(record) + "\n")
            new.replace(path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
        return record


def shard_path(output: Path, number: int, kind: str) -> Path:
    """Where a shard is: in a folder of a thousand."""
    return output / f"{number // FOLDER:04d}" / f"part-{number:06d}{KINDS[kind]}"


def write_json(content: Any, path: Path) -> None:
    """Write a file whole or not at all."""
    new = path.with_name(f"{path.name}.{uuid.uuid4().hex}{NEW}")
    new.write_text(json.dumps(content, ensure_ascii=False), encoding="utf8")
    new.replace(path)


def digest_of(model: str) -> str:
    """The SHA-256 of a model's files, or of its description if it is a package."""
    whole = hashlib.sha256()
    folder = Path(model)
    if not folder.is_dir():
        whole.update(json.dumps(spacy.info(model, silent=True), default=str).encode())
        return whole.hexdigest()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            whole.update(str(path.relative_to(folder)).encode())
            whole.update(path.read_bytes())
    return whole.hexdigest()


def prepare(
    model: str,
    output: Path,
    inputs: list[Path],
    *,
    size: int,
    kind: str = "parquet",
    text: str = "text",
    batch_size: int = 256,
) -> dict[str, Any]:
    """Write the manifest of a run, or read that of the run which is to go on.

    Args:
        model: Folder or package of the pipeline.
        output: The folder for the shards.
        inputs: The input files.
        size: Bytes of input for each shard, about.
        kind: "parquet" or "docbin".
        text: The column of Parquet files that holds the text.
        batch_size: Documents per batch.

    Returns:
        The settings, as in the manifest.

    Raises:
        FileNotFoundError: If an input file is missing.
        ValueError: If the folder holds the shards of a run with other settings, model or inputs.
    """
    for path in inputs:
        if not path.is_file():
            raise FileNotFoundError(f"No file {path}.")
    settings = {
        "model": digest_of(model),
        "inputs": [{"path": str(path), "bytes": path.stat().st_size} for path in inputs],
        "size": size,
        "format": kind,
        "text": text,
        "batch_size": batch_size,
    }
    manifest = output / MANIFEST
    output.mkdir(parents=True, exist_ok=True)
    if manifest.exists():
        found = json.loads(manifest.read_text(encoding="utf8"))
        cuts = [one.pop("cuts") for one in found["inputs"]]
        for name, value in settings.items():
            if found.get(name) != value:
                raise ValueError(
                    f"{output} holds the shards of another run: its {name} was "
                    f"{found.get(name)!r:.80}, not {value!r:.80}. Choose another folder."
                )
        for one, its_cuts in zip(found["inputs"], cuts, strict=True):
            one["cuts"] = its_cuts
        return found
    if any(output.glob("*/part-*")):
        raise ValueError(f"{output} holds shards without a {MANIFEST}. Choose another folder.")
    for path, one in zip(inputs, settings["inputs"], strict=True):
        one["cuts"] = row_groups(path, size) if path.suffix == ".parquet" else None
    write_json(settings, manifest)
    return settings


def look_through(output: Path, settings: dict[str, Any]) -> tuple[bytearray, Counter[str]]:
    """Find the shards that are complete: there, and as large as their record says. Others, and what
    killed workers left, are deleted.

    Args:
        output: The folder for the shards.
        settings: What ``prepare`` returns.

    Returns:
        For each piece, 1 if its shard is complete; and the totals of the complete ones.
    """
    done = bytearray(len(Pieces(settings)))
    sizes: dict[int, int] = {}
    for folder in os.scandir(output):
        for file in os.scandir(folder) if folder.is_dir() and folder.name.isdecimal() else ():
            number, _, ending = file.name.removeprefix("part-").partition(".")
            if not file.name.startswith("part-"):
                continue  # not of this script
            if ending.endswith(NEW):
                os.unlink(file)
            elif number.isdecimal() and int(number) < len(done):
                sizes[int(number)] = file.stat().st_size
    totals: Counter[str] = Counter()
    for path in (output / RECORDS).glob("*.jsonl"):
        with path.open("rb") as lines:
            for line in lines:
                try:
                    record = json.loads(line)
                except ValueError:  # a killed worker did not finish the line
                    continue
                place = record["number"]
                if not done[place] and sizes.get(place) == record["bytes"]:
                    done[place] = 1
                    totals.update({name: record[name] for name in COUNTED})
    for place in sizes:
        if not done[place]:
            shard_path(output, place, settings["format"]).unlink(missing_ok=True)
    return done, totals


def run_here(
    model: str, output: Path, settings: dict[str, Any], todo: list[int]
) -> Iterator[dict[str, Any]]:
    """Parse pieces in this process; yields the records of their shards."""
    parse = ShardParser(model, str(output), settings) if todo else None
    for number in todo:
        assert parse is not None
        yield parse({"number": number})


def run_on_ray(
    model: str,
    output: Path,
    settings: dict[str, Any],
    todo: list[int],
    workers: int,
    address: str | None,
) -> Iterator[dict[str, Any]]:
    """Parse pieces on a Ray cluster; yields the records of their shards as they come.

    Args:
        model: Folder or package of the pipeline, for every node.
        output: The folder for the shards, for every node.
        settings: What ``prepare`` returns.
        todo: The numbers of the pieces.
        workers: How many pipelines parse side by side, a processor core each.
        address: The cluster, or None to start one on this machine.
    """
    import ray

    os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
    if address:
        ray.init(address=address, log_to_driver=False)
    else:
        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    if todo:
        pieces = ray.data.from_items(
            [{"number": number} for number in todo], override_num_blocks=min(len(todo), BLOCKS)
        )
        # Ray starts a worker again that died, and gives its piece to another one.
        parsed = pieces.map(
            ShardParser,
            fn_constructor_args=(model, str(output), settings),
            compute=ray.data.ActorPoolStrategy(size=workers),
            num_cpus=1,
        )
        yield from parsed.iter_rows()
    ray.shutdown()


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments, by default those of the process.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="folder or package name of a trained pipeline")
    parser.add_argument("output", type=Path, help="folder for the shards")
    parser.add_argument("inputs", type=Path, nargs="+", help="text or .parquet files")
    parser.add_argument("--format", choices=tuple(KINDS), default="parquet", help="of the output")
    parser.add_argument("--text", default="text", help="column of Parquet files with the text")
    parser.add_argument("--shard-mb", type=float, default=16.0, help="input for each shard")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--workers", type=int, default=0, help="with Ray, one core each")
    parser.add_argument("--address", help="of a Ray cluster (auto: the one of this machine)")
    args = parser.parse_args(argv)
    try:
        settings = prepare(
            args.model,
            args.output,
            args.inputs,
            size=max(1, int(args.shard_mb * 2**20)),
            kind=args.format,
            text=args.text,
            batch_size=args.batch_size,
        )
        done, _ = look_through(args.output, settings)
        n_pieces, n_done = len(done), sum(done)
        todo = [number for number in range(n_pieces) if not done[number]]
        print(f"{n_pieces} shards, {n_done} of them from before", flush=True)
        if args.workers or args.address:
            workers = args.workers or 1
            coming = run_on_ray(args.model, args.output, settings, todo, workers, args.address)
        else:
            coming = run_here(args.model, args.output, settings, todo)
        shown = 0.0
        for count, record in enumerate(coming, start=n_done + 1):
            if count == n_pieces or time.monotonic() >= shown + 1.0:  # a line a second
                shown = time.monotonic()
                print(
                    f"{count}/{n_pieces} part {record['number']}: {record['documents']} documents, "
                    f"{record['errors']} errors, {record['seconds']} s",
                    flush=True,
                )
        done, totals = look_through(args.output, settings)
    except ModuleNotFoundError as error:
        print(
            f"parse_corpus.py: {error}; python -m pip install 'spacy-nmparse[ray]'",
            file=sys.stderr,
        )
        return 1
    except (OSError, ValueError) as error:
        print(f"parse_corpus.py: {error}", file=sys.stderr)
        return 1
    listed = ", ".join(f"{totals[name]} {name}" for name in COUNTED)
    print(f"{sum(done)} shards: {listed}")
    return int(sum(done) < n_pieces)


if __name__ == "__main__":
    raise SystemExit(main())
