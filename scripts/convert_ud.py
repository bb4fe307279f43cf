"""Convert a Universal Dependencies treebank (CoNLL-U) to spaCy's binary .spacy files.

    python scripts/convert_ud.py assets/UD_Gothic-PROIEL corpus/gothic
    python scripts/convert_ud.py corpus/mine --train a.conllu --dev b.conllu --test c.conllu

spaCy's own converter does the work: `root` becomes `ROOT`, empty nodes (1.1) are dropped, and a
multiword token (1-2) contributes its syntactic words, written without a space between them, or
itself, with `--merge-subtokens`: better where the pipeline's tokenizer splits the text later.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spacy_nmparse.analysis.treebank import SPLITS, convert, find_splits


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
        "--merge-subtokens", action="store_true", help="keep multiword tokens in one piece"
    )
    parser.add_argument(
        "--local", default="", metavar="FOLDER", help="use this folder instead of TREEBANK"
    )
    args = parser.parse_args(argv)
    if len(args.paths) > 2:
        parser.error(f"{len(args.paths)} paths given: at most a treebank folder and an output.")
    output = args.paths[-1]
    local = args.local.strip("\"'")  # an empty variable of project.yml may arrive as quotes
    folders = [Path(local)] if local else args.paths[:-1]
    named = {s: getattr(args, s) for s in SPLITS if getattr(args, s) is not None}
    try:
        files = {**(find_splits(folders[0]) if folders else {}), **named}
        if not files:
            parser.error("no input: give a treebank folder, or --train, --dev and --test.")
        convert(files, output, args.n_sents, args.with_single, args.merge_subtokens)
    except (OSError, ValueError) as error:
        print(f"convert_ud.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
