"""Parse a corpus with all machines of a Ray cluster: Parquet or lines of text in, Parquet out.

    python -m pip install -e ".[ray]"
    python examples/ray_corpus.py training/model-best corpus.parquet parsed/ --actors 8

Each actor loads the pipeline once. The output has the columns of the input and two more: "conllu",
and "error", which says why a text has no parse. Where an actor dies, Ray starts another one, which
parses the batch again. Rows may come in another order.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import spacy

from spacy_nmparse.ud import doc_to_conllu


class Parse:
    """An actor with a pipeline of its own.

    Args:
        model: The pipeline: a package, or a folder that all machines see.
        column: The name of the column that has the texts.
    """

    def __init__(self, model: str, column: str) -> None:
        self.nlp = spacy.load(model)
        self.column = column

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Add the columns "conllu" and "error" to a batch."""
        texts = [str(text) for text in batch[self.column]]
        with self.nlp.memory_zone():  # what new words add to the vocabulary is freed again
            try:
                rows = [(doc_to_conllu(doc), "") for doc in self.nlp.pipe(texts)]
            except Exception:
                rows = [self._parse(text) for text in texts]
        return {**batch, "conllu": [row[0] for row in rows], "error": [row[1] for row in rows]}

    def _parse(self, text: str) -> tuple[str, str]:
        try:
            return doc_to_conllu(self.nlp(text)), ""
        except Exception as error:
            return "", str(error)


def main(argv: list[str] | None = None) -> None:
    """Run the command line."""
    assert __doc__ is not None
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("model", help="a trained pipeline: package or folder")
    arguments.add_argument("corpus", help="a Parquet file, a text file, or a folder of either")
    arguments.add_argument("output", help="a folder of Parquet files")
    arguments.add_argument("--lines", action="store_true", help="text files: a document a line")
    arguments.add_argument("--column", default="text", help="the column that has the texts")
    arguments.add_argument("--actors", type=int, default=2, help="as many as there are cores")
    arguments.add_argument("--batch", type=int, default=256, help="texts of a batch")
    given = arguments.parse_args(argv)
    import ray

    read = ray.data.read_text if given.lines else ray.data.read_parquet
    model = Path(given.model)
    read(given.corpus).map_batches(
        Parse,
        fn_constructor_args=(str(model.resolve()) if model.exists() else given.model, given.column),
        concurrency=given.actors,
        batch_size=given.batch,
        num_cpus=0.5,  # the rest reads and writes
    ).write_parquet(given.output)


if __name__ == "__main__":
    main()
