"""Convert a Universal Dependencies treebank (CoNLL-U) to spaCy's binary .spacy files.

    python scripts/convert_ud.py assets/UD_Gothic-PROIEL corpus/gothic
    python scripts/convert_ud.py corpus/mine --train a.conllu --dev b.conllu --test c.conllu

`root` becomes `ROOT`, empty nodes (1.1) are dropped, and a multiword token (1-2) contributes its
syntactic words, written without a space between them, or itself, with `--merge-subtokens`: for most
languages better where the pipeline's tokenizer splits the text later.

With `--lang` it says how well the tokenizer of that language fits: F1 of tokens, with and without
`--merge-subtokens` and with rules learned from the training data, and the strings that tokenizer
and treebank split otherwise.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_nmparse.ud.conllu import ID, read_rows
from spacy_nmparse.ud.conllu_docs import Merges
from spacy_nmparse.ud.tokenization import fit
from spacy_nmparse.ud.tokens import TokenMatch, shorten
from spacy_nmparse.ud.treebank import (
    SPLITS,
    convert,
    find_splits,
    sentence_docs,
    split_by,
)

N_STRINGS = 15


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
    files: dict[str, Path], written: dict[str, Path], lang: str, merge_subtokens: str
) -> None:
    """Print how well the tokenizer of a language fits a converted treebank.

    Args:
        files: The CoNLL-U file of each split.
        written: The .spacy file of each split, as from `convert`.
        lang: spaCy's language code.
        merge_subtokens: Which multiword tokens were merged: "yes", "no" or "auto".

    Raises:
        ImportError: If spaCy has no such language, or its tokenizer needs another package.
    """
    nlp = spacy.blank(lang)
    matches = {
        split: match_tokens(nlp, DocBin().from_disk(path).get_docs(nlp.vocab))
        for split, path in written.items()
    }
    how = {"yes": "with --merge-subtokens", "no": "without --merge-subtokens"}
    how["auto"] = "with --merge-subtokens auto"
    figures = ", ".join(f"{split} {100 * (m.f1 or 0):.2f}" for split, m in matches.items())
    print(f"Tokens of spaCy's tokenizer for {lang!r}, F1 {how[merge_subtokens]}: {figures}")
    report_fitted(written, lang)

    split = "dev" if "dev" in files else next(iter(files))
    if merge_subtokens != "auto" and any(
        "-" in row[ID] for sentence in read_rows(files[split]) for row in sentence.rows
    ):
        merged = merge_subtokens == "yes"
        other = match_tokens(nlp, sentence_docs(files[split], not merged))
        other_way = "without" if merged else "with"
        print(f"{other_way} --merge-subtokens: {split} {100 * (other.f1 or 0):.2f}".capitalize())
        if (other.f1 or 0) > (matches[split].f1 or 0):
            value = "no" if merged else "yes"
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


def report_fitted(written: dict[str, Path], lang: str) -> None:
    """Print how well the tokenizer fits after it has learned from the training data.

    Args:
        written: The .spacy file of each split.
        lang: spaCy's language code.
    """
    if "train" not in written or len(written) < 2:
        return
    nlp = spacy.blank(lang)
    if fit(nlp, DocBin().from_disk(written["train"]).get_docs(nlp.vocab)) is None:
        return
    figures = ", ".join(
        f"{split} {100 * (match.f1 or 0):.2f}"
        for split, path in written.items()
        if split != "train"
        for match in [match_tokens(nlp, DocBin().from_disk(path).get_docs(nlp.vocab))]
    )
    print(f"With rules learned from the training data (spacy_nmparse.fit_tokenizer.v1): {figures}")


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
        choices=("yes", "no", "auto"),
        const="yes",
        default="no",
        help="keep multiword tokens in one piece; auto: those that the tokenizer of --lang does "
        "not split into their words",
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
        merge: bool | Merges = args.merge_subtokens == "yes"
        if args.merge_subtokens == "auto":
            if not args.lang:
                parser.error("--merge-subtokens auto needs --lang.")
            merge = split_by(spacy.blank(args.lang))
        written = convert(files, output, args.n_sents, args.with_single, merge)
        if args.lang:
            report_tokens(files, written, args.lang, args.merge_subtokens)
    except (ImportError, OSError, ValueError) as error:
        print(f"convert_ud.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
