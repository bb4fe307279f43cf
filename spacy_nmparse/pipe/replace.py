"""Put a trained parser in the place of another pipeline's parser, or add it where there is none."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Token

from spacy_nmparse.pipe.component import ParsingComponent
from spacy_nmparse.pipe.members import lacks_vectors, own_token_vectors, title

#: What spaCy's factories of parsers are called.
SPACY_PARSERS = ("parser", "beam_parser")
#: Scores that a parser has in the meta of its pipeline.
SCORES = ("dep_", "sents_", "nonproj_")
#: What a parser with ``write_tags`` says of a token, by the names in ``ANNOTATIONS``.
TAGS = ("tags", "parts of speech", "morphology")
#: What words differ in that are other tokens, since a parser joins some.
TOKENS = "tokens"
#: What other components say of a token.
ANNOTATIONS: dict[str, Callable[[Token], Any]] = {
    "tags": lambda token: token.tag_,
    "parts of speech": lambda token: token.pos_,
    "morphology": lambda token: str(token.morph),
    "lemmas": lambda token: token.lemma_,
    "entities": lambda token: (token.ent_iob_, token.ent_type_, token.ent_kb_id_),
}


def replace_parser(nlp: Language, source: Language, name: str | None = None) -> str:
    """Put a trained parser in the place of a pipeline's parser; where there is none, it comes last.

    The parser brings token vectors of its own: those of ``nlp`` are not the ones that it was
    trained on. All other components stay as they are.

    Args:
        nlp: The pipeline, which is changed.
        source: The pipeline that has the parser. It gives the parser away: load it again to use it.
        name: The parser's name in ``source``; None: it has one parser.

    Returns:
        The parser's name in ``nlp``: that of the parser which it replaces, or else its own.

    Raises:
        TypeError: One of them is not a pipeline.
        ValueError: ``nlp`` has several parsers, or another component of the parser's name;
            ``source`` without a name has not one parser; or the parser looks up vectors of words in
            a table that ``nlp`` does not have.
    """
    for given in (nlp, source):
        if not isinstance(given, Language):
            raise TypeError(
                f"replace_parser takes pipelines, not {given!r}: give spacy.load({str(given)!r})."
            )
    name, replaced = _names(nlp, source, name)
    if lacks_vectors(source, name, nlp.vocab):
        if nlp.vocab.vectors.shape[0]:
            raise ValueError(
                f"The parser of {title(source)} looks words up in vectors that {title(nlp)} does "
                f"not have. Train it with --paths.vectors {title(nlp)}, or without vectors."
            )
        nlp.vocab.vectors = source.vocab.vectors
    own_token_vectors(source, name)
    new_name, behind, disabled = name, None, False
    if replaced:
        (new_name,) = replaced
        place = nlp.component_names.index(new_name)
        disabled = new_name in nlp.disabled
        nlp.remove_pipe(new_name)
        # Counted among all components, those that are disabled too.
        behind = nlp.component_names[place] if place < len(nlp.component_names) else None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"\[W113\]")  # other vectors: checked above
        nlp.add_pipe(
            name, name=new_name, source=source, before=behind, last=None if behind else True
        )
    if disabled:
        nlp.disable_pipe(new_name)
    _mend_card(nlp, source)
    return new_name


def _names(nlp: Language, source: Language, name: str | None) -> tuple[str, list[str]]:
    """The parser of one pipeline, and that of the other, if there is one."""
    if name is None:
        found = parser_names(source)
        if len(found) != 1:
            raise ValueError(f"{title(source)} has the parsers {found}, not one: name one of them.")
        (name,) = found
    replaced = parser_names(nlp)
    if len(replaced) > 1:
        raise ValueError(
            f"{title(nlp)} has several parsers, only one can be replaced. Its components: "
            f"{nlp.component_names}. Take out one first (nlp.remove_pipe), save the pipeline, and "
            f"try again."
        )
    if not replaced and name in nlp.component_names:
        raise ValueError(
            f"{title(nlp)} has no parser, but another component that is called {name!r}. Rename "
            f"that one first (nlp.rename_pipe), save the pipeline, and try again."
        )
    return name, replaced


def _mend_card(nlp: Language, source: Language) -> None:
    """Let what the pipeline says of itself follow: the parser's scores, and the data of both."""
    scores = nlp.meta.setdefault("performance", {})
    for key in [key for key in scores if key.startswith(SCORES)]:
        del scores[key]
    new = source.meta.get("performance", {})
    scores.update({key: value for key, value in new.items() if key.startswith(SCORES)})
    sources = [*(nlp.meta.get("sources") or []), *(source.meta.get("sources") or [])]
    if sources:
        nlp.meta["sources"] = [one for i, one in enumerate(sources) if one not in sources[:i]]


def parser_names(nlp: Language) -> list[str]:
    """The names of a pipeline's parsers, spaCy's and ours."""
    return [
        name
        for name, pipe in nlp.components
        if nlp.get_pipe_meta(name).factory in SPACY_PARSERS or isinstance(pipe, ParsingComponent)
    ]


def changed(before: Sequence[Doc], after: Sequence[Doc]) -> dict[str, int]:
    """Count the words whose annotation by other components than the parser differs, of those that
    are the same tokens in both; and the other words, where a parser joins tokens.

    Args:
        before: Documents that one pipeline has processed.
        after: The same texts, processed by another pipeline.

    Returns:
        The number of words by ``TOKENS`` and the names in ``ANNOTATIONS``; only those that differ.

    Raises:
        ValueError: The documents do not have the same texts.
    """
    counts: Counter[str] = Counter()
    for one, other in zip(before, after, strict=True):
        if one.text != other.text:
            raise ValueError(f"The pipelines have read other texts: {one.text[:60]!r} is of one.")
        found = {(token.idx, len(token)): token for token in other}
        places = [(token.idx, len(token)) for token in one]
        pairs = [(one[i], found[place]) for i, place in enumerate(places) if place in found]
        counts[TOKENS] += len(one) - len(pairs)
        for kind, annotation in ANNOTATIONS.items():
            counts[kind] += sum(annotation(left) != annotation(right) for left, right in pairs)
    return dict(+counts)
