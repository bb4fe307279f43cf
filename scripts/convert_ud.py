"""Convert a Universal Dependencies treebank (CoNLL-U) to spaCy's binary .spacy files.

    python scripts/convert_ud.py assets/UD_Gothic-PROIEL corpus/gothic
    python scripts/convert_ud.py corpus/mine --train a.conllu --dev b.conllu --test c.conllu

spaCy's own converter does the work: `root` becomes `ROOT`, empty nodes (1.1) are dropped, and a
multiword token (1-2) contributes its syntactic words, written without a space between them, or
itself, with `--merge-subtokens`: for most languages better where the pipeline's tokenizer splits
the text later.

With `--lang` it says how well the tokenizer of that language fits: F1 of tokens, with and without
`--merge-subtokens`, and the strings that tokenizer and treebank split otherwise.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training.converters import conllu_to_docs

from spacy_nmparse.analysis.tokens import TokenMatch, shorten

SPLITS = ("train", "dev", "test")
N_STRINGS = 15


def find_splits(folder: Path) -> dict[str, Path]:
    """Find the train, dev and test file of a UD treebank folder, or of a converted one.

    Args:
        folder: A folder that holds `*-train.conllu`, `*-dev.conllu` and `*-test.conllu`, or
            `train.spacy`, `dev.spacy` and `test.spacy`.

    Returns:
        The path of each split.

    Raises:
        FileNotFoundError: If the folder or one of the three files is missing.
        ValueError: If a split has more than one file.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"No folder {folder}: give the folder of a UD treebank.")
    found = {split: folder / f"{split}.spacy" for split in SPLITS}
    if all(path.is_file() for path in found.values()):
        return found
    for split in SPLITS:
        files = sorted(folder.glob(f"*{split}.conllu"))
        if not files:
            raise FileNotFoundError(
                f"No file *{split}.conllu in {folder}: name the files with --train, --dev, --test."
            )
        if len(files) > 1:
            names = ", ".join(file.name for file in files)
            raise ValueError(
                f"{folder} has several {split} files ({names}): choose one with --{split}."
            )
        found[split] = files[0]
    return found


def read_conllu(path: Path) -> str:
    """Read a CoNLL-U file into the form spaCy's converter expects.

    Args:
        path: The CoNLL-U file, UTF-8, with any line ends.

    Returns:
        The text with `\\n` line ends, without comment lines and runs of blank lines.

    Raises:
        ValueError: If the file holds no sentence, or a line has not ten columns.
    """
    sentences: list[str] = []
    rows: list[str] = []
    for number, raw in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), start=1):
        line = raw.rstrip("\r")
        if not line.strip():
            if rows:
                sentences.append("\n".join(rows))
                rows = []
        elif not line.startswith("#"):
            if line.count("\t") != 9:
                columns = line.count("\t") + 1
                raise ValueError(
                    f"{path}, line {number}: {columns} columns instead of 10; is it CoNLL-U?"
                )
            rows.append(line)
    if rows:
        sentences.append("\n".join(rows))
    if not sentences:
        raise ValueError(f"{path} holds no sentence; is it CoNLL-U?")
    return "\n\n".join(sentences) + "\n"


def sentence_docs(conllu: str, merge_subtokens: bool = False) -> Iterator[Doc]:
    """Convert CoNLL-U text to one Doc per sentence.

    Args:
        conllu: What `read_conllu` returns.
        merge_subtokens: Whether multiword tokens stay one token.

    Yields:
        A Doc with words, spaces, tags, lemmas, morphology, heads and labels.
    """
    yield from conllu_to_docs(conllu, n_sents=1, merge_subtokens=merge_subtokens, no_print=True)


def group_docs(docs: Iterable[Doc], n_sents: int) -> Iterator[Doc]:
    """Join consecutive one-sentence Docs into Docs of `n_sents` sentences; the last may be shorter.

    Args:
        docs: One-sentence Docs that share a vocab.
        n_sents: Sentences per Doc, at least 1.

    Yields:
        The joined Docs.

    Raises:
        ValueError: If n_sents is less than 1.
    """
    if n_sents < 1:
        raise ValueError(f"n_sents is {n_sents}, but a document needs at least 1 sentence.")
    group: list[Doc] = []
    for doc in docs:
        group.append(doc)
        if len(group) == n_sents:
            yield _join(group)
            group = []
    if group:
        yield _join(group)


def _join(docs: list[Doc]) -> Doc:
    if len(docs) == 1:
        return docs[0]
    joined = Doc.from_docs(docs)
    assert joined is not None  # only for an empty list
    return joined


def write_docs(docs: Iterable[Doc], path: Path) -> tuple[int, int]:
    """Write Docs to a .spacy file.

    Args:
        docs: The Docs.
        path: The file to write; its folder is made if needed.

    Returns:
        The numbers of Docs and of tokens written.
    """
    store = DocBin(store_user_data=False)
    n_docs = n_tokens = 0
    for doc in docs:
        store.add(doc)
        n_docs += 1
        n_tokens += len(doc)
    path.parent.mkdir(parents=True, exist_ok=True)
    store.to_disk(path)
    return n_docs, n_tokens


def convert(
    files: dict[str, Path],
    output: Path,
    n_sents: int = 1,
    with_single: bool = False,
    merge_subtokens: bool = False,
) -> dict[str, Path]:
    """Convert the splits of a treebank.

    Args:
        files: The CoNLL-U file of each split, as from `find_splits`.
        output: The folder for `train.spacy`, `dev.spacy` and `test.spacy`.
        n_sents: Sentences per document.
        with_single: With n_sents > 1, add each tenth training sentence as a document of its own.
        merge_subtokens: Whether multiword tokens stay one token.

    Returns:
        The .spacy file of each split.
    """
    written = {}
    for split, source in files.items():
        sentences = list(sentence_docs(read_conllu(source), merge_subtokens))
        docs = list(group_docs(sentences, n_sents))
        if split == "train" and n_sents > 1 and with_single:
            docs += sentences[::10]
        target = output / f"{split}.spacy"
        n_docs, n_tokens = write_docs(docs, target)
        print(
            f"{source.name}: {len(sentences)} sentences -> {target.name}: "
            f"{n_docs} documents, {n_tokens} tokens"
        )
        written[split] = target
    return written


def match_tokens(nlp: Language, docs: Iterable[Doc]) -> TokenMatch:
    """Compare a tokenizer's tokens with a treebank's.

    Args:
        nlp: The pipeline of the tokenizer.
        docs: The treebank's documents.

    Returns:
        The counts.
    """
    match = TokenMatch()
    for doc in docs:
        match.add(doc, nlp.make_doc(doc.text))
    return match


def report_tokens(
    files: dict[str, Path], written: dict[str, Path], lang: str, merge_subtokens: bool
) -> None:
    """Print how well the tokenizer of a language fits a converted treebank.

    Args:
        files: The CoNLL-U file of each split.
        written: The .spacy file of each split, as from `convert`.
        lang: spaCy's language code.
        merge_subtokens: Whether multiword tokens were merged.

    Raises:
        ImportError: If spaCy has no such language, or its tokenizer needs another package.
    """
    nlp = spacy.blank(lang)
    matches = {
        split: match_tokens(nlp, DocBin().from_disk(path).get_docs(nlp.vocab))
        for split, path in written.items()
    }
    how = "with" if merge_subtokens else "without"
    figures = ", ".join(f"{split} {100 * (m.f1 or 0):.2f}" for split, m in matches.items())
    print(f"Tokens of spaCy's tokenizer for {lang!r}, F1 {how} --merge-subtokens: {figures}")

    split = "dev" if "dev" in files else next(iter(files))
    conllu = read_conllu(files[split])
    if re.search(r"^\d+-\d+\t", conllu, re.MULTILINE):
        other = match_tokens(nlp, sentence_docs(conllu, not merge_subtokens))
        other_way = "without" if merge_subtokens else "with"
        print(f"{other_way} --merge-subtokens: {split} {100 * (other.f1 or 0):.2f}".capitalize())
        if (other.f1 or 0) > (matches[split].f1 or 0):
            value = "no" if merge_subtokens else "yes"
            print(
                f"The tokenizer fits better {other_way}: convert with --merge-subtokens {value} "
                f"(the workflow ud: --vars.merge_subtokens {value})."
            )

    differences = sum((m.differences for m in matches.values()), TokenMatch().differences)
    if not differences:
        return
    print(f"It splits {differences.total()} strings otherwise than the treebank. Most frequent:")
    print(f"  {'count':>6}  {'treebank':<24}  tokenizer")
    for (own, found), count in differences.most_common(N_STRINGS):
        print(f"  {count:>6}  {shorten(own):<24}  {shorten(found)}")
    print("docs/training.md shows how to change a tokenizer's rules.")


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
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH", help="[TREEBANK] OUTPUT")
    for split in SPLITS:
        parser.add_argument(f"--{split}", type=Path, help=f"the {split} file, if no TREEBANK")
    parser.add_argument("--n-sents", type=int, default=1, help="sentences per document")
    parser.add_argument(
        "--with-single", action="store_true", help="also each tenth training sentence alone"
    )
    parser.add_argument(
        "--merge-subtokens",
        nargs="?",
        choices=("yes", "no"),
        const="yes",
        default="no",
        help="keep multiword tokens in one piece",
    )
    parser.add_argument(
        "--lang", help="spaCy's language code: say how well its tokenizer fits the treebank"
    )
    args = parser.parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    if len(args.paths) > 2:
        parser.error(f"{len(args.paths)} paths given: at most a treebank folder and an output.")
    # On Windows, project.yml's quotes arrive with the path.
    *folders, output = (Path(str(path).strip("\"'")) for path in args.paths)
    named = {s: getattr(args, s) for s in SPLITS if getattr(args, s) is not None}
    try:
        files = {**(find_splits(folders[0]) if folders else {}), **named}
        if not files:
            parser.error("no input: give a treebank folder, or --train, --dev and --test.")
        merge = args.merge_subtokens == "yes"
        written = convert(files, output, args.n_sents, args.with_single, merge)
        if args.lang:
            report_tokens(files, written, args.lang, merge)
    except (ImportError, OSError, ValueError) as error:
        print(f"convert_ud.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
