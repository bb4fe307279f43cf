"""Base noun phrases by Universal Dependencies' labels, for languages without an iterator in spaCy,
and for those whose iterator knows other labels.

A chunk is a nominal with its determiners, adjectives, numerals, compounds, flat names and
possessors, as far as they are next to each other: no adpositions, no coordination, no clauses, no
other modifiers.
"""

# No postponed annotations: spaCy validates configs by the callback's signature.

import warnings
from collections.abc import Callable, Iterator

from spacy.errors import Errors
from spacy.language import Language
from spacy.tokens import Doc, Span, Token
from spacy.util import logger

#: Universal parts of speech of nominals.
NOMINALS = ("NOUN", "PROPN", "PRON")
#: What nominals are to their heads; without parts of speech, words with these labels are nominals.
ROLES = (
    *("nsubj", "obj", "iobj", "obl", "nmod", "appos", "vocative", "dislocated"),
    *("expl", "orphan", "list", "root", "conj", "parataxis"),
)
#: Roles that tell a nominal by themselves.
SURE_ROLES = ("nsubj", "obj", "iobj", "obl", "nmod", "appos", "vocative")
#: Dependents that belong to the chunk, with all that is below them.
PARTS = ("det", "amod", "nummod", "compound", "flat", "fixed", "goeswith", "clf")
POSSESSOR = "nmod:poss"


def ud_noun_chunks(doclike: Doc | Span) -> Iterator[tuple[int, int, int]]:
    """The noun chunks of a document or span, in order, none within another.

    Yields:
        First token, one behind the last, the number of the label "NP", as spaCy's iterators do.

    Raises:
        ValueError: the document has no parse.
    """
    doc = doclike.doc
    if not doc.has_annotation("DEP"):
        raise ValueError(Errors.E029)
    label = doc.vocab.strings.add("NP")
    tagged = doc.has_annotation("POS")
    found = [_bounds(token) for token in doclike if _is_nominal(token, tagged)]
    end = doclike[0].i if len(doclike) else 0
    for first, last in sorted(found, key=lambda one: (one[0], -one[1])):
        if first >= end:
            yield first, last, label
            end = last


def register_noun_chunks(nlp: Language, replace: bool = False) -> bool:
    """Make ``doc.noun_chunks`` work for new documents of a pipeline.

    Says what it has done: by a line of the log at level INFO, or by a warning where it has left the
    language's own iterator in place.

    Args:
        nlp: the pipeline.
        replace: take the place of the language's own iterator. Those of spaCy know the labels of
            its own models: English, German, Spanish and others have one, and under Universal
            Dependencies' labels it misses chunks.

    Returns:
        Whether new documents have noun chunks by Universal Dependencies' labels.
    """
    own = nlp.vocab.get_noun_chunks
    if own is ud_noun_chunks:
        return True
    if own is not None and not replace:
        warnings.warn(
            f"The noun chunks of spaCy's language {nlp.lang!r} stay: its iterator is made for the "
            f"labels of spaCy's own models, and may miss chunks under Universal Dependencies' "
            f"labels. To replace it, set replace = true (spacy_nmparse.ud_noun_chunks.v1 in a "
            f"config, or register_noun_chunks(nlp, replace=True)).",
            stacklevel=2,
        )
        return False
    nlp.vocab.get_noun_chunks = ud_noun_chunks  # type: ignore[assignment]
    done = "were registered" if own is None else "replace those of the language"
    logger.info("Noun chunks by Universal Dependencies' labels %s (%r).", done, nlp.lang)
    return True


def UDNounChunks(replace: bool = False) -> Callable[[Language], Language]:
    """For ``nlp.after_pipeline_creation``: noun chunks by Universal Dependencies' labels, where the
    language has none, or with ``replace`` in place of its own; see ``register_noun_chunks``."""

    def register(nlp: Language) -> Language:
        register_noun_chunks(nlp, replace)
        return nlp

    return register


def _base(token: Token) -> str:
    return token.dep_.lower().split(":")[0]


def _is_nominal(token: Token, tagged: bool) -> bool:
    role = _base(token)
    if token.is_space or token.is_punct or role not in ROLES:
        return False
    if tagged and token.pos_:
        is_noun = token.pos_ in NOMINALS
    else:
        is_noun = role in SURE_ROLES or (role == "conj" and _is_nominal(token.head, tagged))
    return is_noun and not (role == "conj" and _base(token.head) in PARTS)


def _bounds(head: Token) -> tuple[int, int]:
    """The tokens around a nominal that belong to its chunk and leave no gap."""
    members = {head.i}
    for child in head.children:
        if _base(child) in PARTS or child.dep_.lower() == POSSESSOR:
            members.update(token.i for token in child.subtree)
    first, last = head.i, head.i + 1
    while first - 1 in members:
        first -= 1
    while last in members:
        last += 1
    return first, last
