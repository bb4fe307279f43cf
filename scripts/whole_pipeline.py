"""Make of a config for a parser one for a whole pipeline: from text to words, tags, lemmas, trees.

    python scripts/whole_pipeline.py configs/nl_covington_parser.cfg pipeline.cfg

To the parser, which then finds sentences and trees and writes tags, come a lemmatizer on the same
token vectors, the words of multiword tokens, and a tokenizer that learns from the training data.
Train it as any config.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spacy.util import load_config

from spacy_nmparse.ud.whole_pipeline import whole_pipeline


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
    parser.add_argument("config", type=Path, help="config of a parser")
    parser.add_argument("output", type=Path, help="file for the config of the whole pipeline")
    args = parser.parse_args(argv)
    try:
        made = whole_pipeline(load_config(args.config, interpolate=False))
        args.output.parent.mkdir(parents=True, exist_ok=True)
        made.to_disk(args.output, interpolate=False)
    except (OSError, ValueError) as error:
        print(f"whole_pipeline.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
