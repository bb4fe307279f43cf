"""Trees that a command line gives: heads in an argument, or a sentence of a file."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from spacy_nmparse.analysis.trees import Tree, read_sentences
from spacy_nmparse.cli.console import bad, failures
from spacy_nmparse.ud.conllu import find_cycle
from spacy_nmparse.wording import counted


def read_heads(text: str) -> tuple[list[int | None], list[str | None]]:
    """Heads and labels: heads as CoNLL-U writes them, numbers from 1, 0 for ROOT, _ for unknown;
    labels behind colons, or none.

    Raises typer.BadParameter for anything else.
    """
    heads: list[int | None] = []
    labels: list[str | None] = []
    for word, given in enumerate(text.split()):
        part, _, label = given.partition(":")
        labels.append(label or None)
        if part == "_":
            heads.append(None)
        elif part.isdecimal() and int(part) != word + 1:
            heads.append(word if part == "0" else int(part) - 1)
        else:
            raise bad(
                f"{given!r} is no head of word {word + 1}: give one number a word, from 1, 0 for "
                f"ROOT, _ for unknown, and a label behind a colon, as 2:nsubj; or the path of a "
                f"CoNLL-U file."
            )
    return heads, labels


def read_tree(tree: str | None, words: str | None, number: int) -> Tree:
    """A sentence of a file, or heads, or words without heads.

    Raises typer.BadParameter for what is none of these.
    """
    texts = None if words is None else words.split()
    if tree is None:
        if not texts:
            raise bad("Give a TREE, or --words and --moves.")
        return Tree(texts, [None] * len(texts), [None] * len(texts))
    path = Path(tree)
    if path.suffix in (".conllu", ".conllup", ".conll", ".spacy"):
        if texts is not None:
            raise bad(f"{path} has words of its own: leave --words out.")
        with failures():
            sentences = list(islice(read_sentences(path), number))
            if len(sentences) < number:
                has = counted(len(sentences), "sentence")
                raise ValueError(f"{path} has {has}, not {number}.")
            _check_heads(sentences[-1].heads)
        return sentences[-1]
    heads, labels = read_heads(tree)
    _check_heads(heads)
    if texts is None:
        texts = [str(word + 1) for word in range(len(heads))]
    if len(texts) != len(heads):
        raise bad(f"{counted(len(texts), 'word')}, but {counted(len(heads), 'head')}: {tree!r}.")
    return Tree(texts, heads, labels)


def _check_heads(heads: list[int | None]) -> None:
    """Raises typer.BadParameter where heads are no words, or form a cycle."""
    n = len(heads)
    numbers = [
        None if head is None else 0 if head == word else head + 1 for word, head in enumerate(heads)
    ]
    for word, number in enumerate(numbers, start=1):
        if number is not None and number > n:
            raise bad(
                f"Head {number} of word {word} is not a word: heads are 0 (ROOT), 1 to {n}, or _."
            )
    if cycle := find_cycle(numbers):
        raise bad(f"The heads form a cycle: {' → '.join(map(str, cycle))}.")
