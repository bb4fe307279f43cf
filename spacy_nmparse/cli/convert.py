"""``nmparse convert``: treebanks of Universal Dependencies as .spacy files to train on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import spacy
import typer

from spacy_nmparse.analysis.tokens import TokenMatch, match_tokens
from spacy_nmparse.cli.asked import asks
from spacy_nmparse.cli.console import check_choice, check_lang, check_trees, fail, failures
from spacy_nmparse.terminal import show
from spacy_nmparse.ud.conllu import ID, read_rows
from spacy_nmparse.ud.conllu_docs import Merges
from spacy_nmparse.ud.corpus import read_spacy
from spacy_nmparse.ud.tokenization import fit
from spacy_nmparse.ud.treebank import SPLITS, Files, convert, find_files, sentence_docs, split_by
from spacy_nmparse.wording import counted, shorten

N_STRINGS = 15
MERGES = ("yes", "no", "auto")


@dataclass(frozen=True)
class Given:
    """The arguments and options."""

    paths: list[str] = typer.Argument(
        ..., metavar="[TREEBANK] OUTPUT", help="Folder of a UD treebank, and folder to write"
    )
    train: list[Path] = typer.Option([], "--train", help="A training file, instead of TREEBANK's")
    dev: list[Path] = typer.Option([], "--dev", help="A file of development data, likewise")
    test: list[Path] = typer.Option([], "--test", help="A file of test data, likewise")
    n_sents: int = typer.Option(1, "--n-sents", min=1, help="Sentences of a document")
    with_single: bool = typer.Option(
        False, "--with-single", help="Also each tenth training sentence alone"
    )
    one_root: bool = typer.Option(False, help="Refuse sentences with several roots")
    merge_subtokens: str = typer.Option(
        "no",
        "--merge-subtokens",
        help="Keep multiword tokens in one piece: 'yes', 'no', or 'auto': those that the tokenizer "
        "of --lang does not split into their words",
    )
    lang: str | None = typer.Option(
        None, "--lang", help="spaCy's language code: say how well its tokenizer fits the treebank"
    )


@asks(Given)
def run(given: Given) -> None:
    """Convert a treebank of Universal Dependencies (CoNLL-U) to .spacy files."""
    if len(given.paths) > 2:
        fail(f"{len(given.paths)} paths given: at most a treebank folder and an output folder.")
    check_choice("--merge-subtokens", given.merge_subtokens, MERGES)
    if given.merge_subtokens == "auto" and not given.lang:
        fail("--merge-subtokens auto needs --lang.")
    # On Windows, project.yml's quotes arrive with the path.
    *folders, output = (Path(path.strip("\"'")) for path in given.paths)
    with failures():
        if given.lang:
            check_lang(given.lang, "--lang")
        if folders and folders[0].is_file():
            fail(f"{folders[0]} is a file: give the folder of a UD treebank, or --train FILE.")
        files: Files = find_files(folders[0]) if folders else {}
        named = zip(SPLITS, (given.train, given.dev, given.test), strict=True)
        files.update((split, parts) for split, parts in named if parts)
        if not files:
            fail("No input: give a treebank folder, or --train, --dev and --test.")
        merge: bool | Merges = given.merge_subtokens == "yes"
        if given.merge_subtokens == "auto":
            assert given.lang is not None
            merge = split_by(spacy.blank(given.lang))
        if folders:
            refuse_leftovers(files, output)
        check_trees([file for parts in files.values() for file in parts], given.one_root)
        written = convert(files, output, given.n_sents, given.with_single, merge)
        if given.lang:
            report_tokens(files, written, given.lang, given.merge_subtokens)


def refuse_leftovers(files: Files, output: Path) -> None:
    """Stop where a folder has splits that a treebank lacks: they are of another one."""
    new = {*files, "dev"} if "train" in files else {*files}  # dev data are held out
    paths = [output / f"{split}.spacy" for split in SPLITS if split not in new]
    if old := [str(path) for path in paths if path.exists()]:
        fail(
            f"The treebank has no data for {' and '.join(old)}, which would stay beside its own: "
            f"give another OUTPUT folder, or delete these files."
        )


def report_tokens(
    files: Files, written: Mapping[str, Path], lang: str, merge_subtokens: str
) -> None:
    """Print how well the tokenizer of a language fits a converted treebank, and how well after it
    has learned from the training data.

    Args:
        files: The CoNLL-U files of each split.
        written: The .spacy file of each split, as from `convert`.
        lang: spaCy's language code.
        merge_subtokens: Which multiword tokens were merged: "yes", "no" or "auto".

    Raises:
        ImportError: If spaCy has no such language, or its tokenizer needs another package.
    """
    nlp = spacy.blank(lang)
    matches = {
        split: match_tokens(nlp, read_spacy(path, nlp.vocab)) for split, path in written.items()
    }
    show(
        f"Tokens of spaCy's tokenizer for {lang!r}, F1 with --merge-subtokens {merge_subtokens}: "
        f"{_figures(matches)}"
    )
    others = {split: path for split, path in written.items() if split != "train"}
    learner = spacy.blank(lang)
    if "train" in written and others and fit(learner, read_spacy(written["train"], learner.vocab)):
        fitted = {
            split: match_tokens(learner, read_spacy(path, learner.vocab))
            for split, path in others.items()
        }
        show(
            f"With rules learned from the training data (spacy_nmparse.fit_tokenizer.v1): "
            f"{_figures(fitted)}"
        )

    split = "dev" if "dev" in files else next(iter(files))
    parts = files[split]
    if merge_subtokens != "auto" and any(
        "-" in row[ID] for part in parts for sentence in read_rows(part) for row in sentence.rows
    ):
        value = "no" if merge_subtokens == "yes" else "yes"
        docs = (doc for part in parts for doc in sentence_docs(part, value == "yes"))
        other = match_tokens(nlp, docs)
        show(f"With --merge-subtokens {value}: {split} {100 * (other.f1 or 0):.2f}")
        if (other.f1 or 0) > (matches[split].f1 or 0):
            show(
                f"The tokenizer fits better so: convert with --merge-subtokens {value} "
                f"(the workflow ud: --vars.merge_subtokens {value})."
            )

    differences = sum((m.differences for m in matches.values()), TokenMatch().differences)
    if not differences:
        return
    n_strings = counted(differences.total(), "string")
    show(f"It splits {n_strings} otherwise than the treebank. Most frequent:")
    show(f"  {'count':>6}  {'treebank':<24}  tokenizer")
    for (own, found), count in differences.most_common(N_STRINGS):
        show(f"  {count:>6}  {shorten(own):<24}  {shorten(found)}")
    show("docs/training.md shows how to change a tokenizer's rules.")


def _figures(matches: Mapping[str, TokenMatch]) -> str:
    return ", ".join(f"{split} {100 * (one.f1 or 0):.2f}" for split, one in matches.items())
