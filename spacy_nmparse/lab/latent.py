"""The SWAPs of the derivations that a model would learn from, epoch by epoch (BN15, Figure 6).

Where an oracle allows several moves, training follows the one of them that the model likes best:
the derivations of the gold trees change as the model does.
"""

# No postponed annotations: spaCy validates configs by the callback's signature.

import json
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from spacy_nmparse.analysis.tracing import Tracing, traced
from spacy_nmparse.pipe.members import parser_of
from spacy_nmparse.systems import Action, State
from spacy_nmparse.ud.corpus import read_docs
from spacy_nmparse.ud.extensions import split_doc


def swaps_per_sentence(
    nlp: Language, docs: Iterable[Doc], oracle: str = "nd_all", *, name: str | None = None
) -> float:
    """How many SWAPs the oracle's derivations of gold trees have that the model likes best.

    Args:
        nlp: a pipeline with a parser whose system has SWAP.
        docs: gold documents, of one sentence each. They are not changed.
        oracle: the name of one of the system's oracles.
        name: which parser, where there are several.

    Raises:
        ValueError: another system, no such oracle, no documents.
    """
    parser = parser_of(nlp, name)
    swapping = {move.name for move in parser.system.table.values() if move.opens_crossing}
    if not swapping:
        raise ValueError(
            f"The system {parser.system.name} of '{parser.name}' has no SWAP: take a pipeline with "
            f"swap_parser."
        )
    swaps = sentences = 0
    for tracing in traced(nlp, docs, name):
        sentences += 1
        actions = tracing.system.walk(tracing.initial(), partial(_likeliest, tracing, oracle))
        swaps += sum(action.move in swapping for action in actions)
    if not sentences:
        raise ValueError("There is no document to derive.")
    return swaps / sentences


def _likeliest(tracing: Tracing, oracle: str, state: State) -> tuple[Action, None]:
    """The action that the model likes best of those that the oracle allows."""
    assert tracing.gold is not None
    allowed = tracing.system.oracle(state, tracing.gold, oracle)
    scores = {one.action[:2]: one.score for one in tracing.moves(state)}
    return max(sorted(allowed, key=str), key=lambda one: scores[one.move, one.k]), None


def CountSwaps(
    corpus: str, output: str, oracles: list[str], limit: int = 500
) -> Callable[[Language, dict[str, Any]], None]:
    """For the setting ``training.before_update`` of a config: at the first update of each epoch,
    append to a file, for each oracle, a line of JSON: epoch, oracle, swaps_per_sentence.

    Args:
        corpus: a .spacy or CoNLL-U file of gold sentences.
        output: the file to write.
        oracles: names of oracles.
        limit: how many sentences are derived.
    """
    seen: set[int] = set()
    docs: list[Doc] = []

    def count(nlp: Language, now: dict[str, Any]) -> None:
        epoch = now["epoch"]
        if epoch in seen:
            return
        seen.add(epoch)
        if not docs:
            read = read_docs(Path(corpus), nlp.vocab)
            docs.extend(islice((sentence for doc in read for sentence in split_doc(doc)), limit))
        with Path(output).open("a", encoding="utf-8") as file:
            for oracle in oracles:
                swaps = swaps_per_sentence(nlp, docs, oracle)
                line = {"epoch": epoch, "oracle": oracle, "swaps_per_sentence": round(swaps, 4)}
                file.write(json.dumps(line) + "\n")

    return count
