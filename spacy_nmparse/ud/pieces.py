"""Words that the tokenizer splits, in training data: pieces that arcs ``subtok`` join, as in spaCy.

A word with spaces in it (Vietnamese *công nghệ*), or with a sign that elsewhere is a word, comes as
several tokens. Each but the last hangs on the next one by ``subtok``, before a space by
``subtok:spaced``; the last has the word's head and what hangs on the word. The parser learns such
arcs, and makes one token of what it has joined (``pipe.subtokens``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_nmparse.pipe.spans import read_groups, write_groups
from spacy_nmparse.pipe.subtokens import OF_ARCS, SPACED, SUBTOK
from spacy_nmparse.ud.extensions import in_multiword_tokens

#: What changes in pieces, and what each has of its word.
CHANGED = ("HEAD", "SENT_START", "DEP", "LEMMA", "ENT_IOB")
SAME = ("POS", "TAG", "MORPH", "ENT_TYPE", "ENT_KB_ID", "ENT_ID")
HEAD, SENT_START, DEP, LEMMA, ENT_IOB = range(len(CHANGED))
INSIDE, BEGINS = 1, 3  # of ENT_IOB
#: Of words, how many must be split for the parser to learn of it.
LEAST_SHARE = 0.001
NO_START = numpy.uint64(2**64 - 1)


def are_many(references: Iterable[Doc], nlp: Language) -> bool:
    """Whether gold documents have so many words that the tokenizer splits that a parser can learn
    to join them: one in a thousand."""
    words = split = 0
    for reference in references:
        if not reference.has_unknown_spaces:
            words += len(reference)
            pieces = _pieces(reference, nlp.make_doc(reference.text))
            split += sum(len(one) > 1 for one in pieces)
    return split >= LEAST_SHARE * words > 0


def split_words(reference: Doc, tokens: Doc) -> Doc:
    """A gold document with the pieces of words that the tokenizer splits.

    Args:
        reference: The gold document.
        tokens: The same text, as the tokenizer splits it.

    Returns:
        The reference, if no word is split; or a copy. Pieces have no lemma. Multiword tokens, and
        words whose borders are no borders of tokens, are not split.
    """
    pieces = list(_pieces(reference, tokens))
    counts = numpy.array([len(one) for one in pieces], dtype="int64")
    if not (counts > 1).any():
        return reference
    last = numpy.cumsum(counts) - 1
    first = last - counts + 1
    fields: Any = reference.to_array([*CHANGED, *SAME])
    heads = numpy.arange(len(counts)) + fields[:, HEAD].astype("int64")
    split: Any = numpy.repeat(fields, counts, axis=0)
    split[:, HEAD] = 1
    split[last, HEAD] = (last[heads] - last).astype("uint64")
    inner, later = numpy.ones((2, len(split)), dtype=bool)
    inner[last] = later[first] = False
    spaces = numpy.array([space for one in pieces for _, space in one])
    labels: Any = [reference.vocab.strings.add(label) for label in (SUBTOK, SPACED)]
    split[inner, DEP] = numpy.array(labels, dtype="uint64")[spaces[inner].astype(int)]
    split[inner | later, LEMMA] = 0
    split[later, SENT_START] = NO_START
    split[later & (split[:, ENT_IOB] == BEGINS), ENT_IOB] = INSIDE
    words = [text for one in pieces for text, _ in one]
    copy = Doc(reference.vocab, words, spaces.tolist())
    copy.from_array([*CHANGED, *SAME], split)
    copy.cats = dict(reference.cats)
    write_groups(copy, read_groups(reference))
    data: Any = copy.user_data
    data.update(reference.user_data)
    for word in (counts > 1).nonzero()[0].tolist():
        for name in OF_ARCS:
            if (key := ("._.", name, reference[word].idx, None)) in data:
                data["._.", name, copy[int(last[word])].idx, None] = data.pop(key)
    return copy


def _pieces(reference: Doc, tokens: Doc) -> Iterator[list[tuple[str, bool]]]:
    """The pieces of each word: their texts, and whether a space follows."""
    stay = in_multiword_tokens(reference)
    begins = {token.idx: token.i for token in tokens}
    ends = {token.idx + len(token): token.i for token in tokens}
    for word in reference:
        i, j = begins.get(word.idx), ends.get(word.idx + len(word))
        parts: Any = [word]
        if i is not None and j is not None and word.i not in stay:
            parts = tokens[i : j + 1]
        if any(part.is_space for part in parts):
            parts = [word]
        yield [(part.text, bool(part.whitespace_)) for part in parts]
