"""Words as vectors, made of what is known of a word: norm, shape, and its affixes above all.

A treebank shows most forms of a language rich in them once or never, but shows their endings often.
spaCy's own embedding (``spacy.MultiHashEmbed``) knows a word by its norm, its shape, its first
letter and its last three; this one by several beginnings and ends.

In training some words hide their norm, so that their affixes are learned too: of words never seen
they are all that is known.

Equal words have equal vectors, so each is computed once a batch. Pretrained vectors of words can
be added (``include_static_vectors``).
"""

# No postponed annotations: spaCy validates configs by this architecture's signature.

from collections.abc import Callable, Sequence
from typing import Any

import numpy
from spacy.attrs import NORM, ORTH, SHAPE
from spacy.ml.staticvectors import StaticVectors
from spacy.tokens import Doc
from thinc.api import Dropout, Maxout, Model, chain
from thinc.types import Floats2d, Ragged

from spacy_nmparse.layers.affixes import affix_numbers
from spacy_nmparse.layers.hash_tables import HashTables
from spacy_nmparse.layers.mixing import mixer, runs_here, take_gradients


def AffixEmbed(
    width: int,
    embed_width: int = 64,
    prefixes: Sequence[int] = (1, 2, 3),
    suffixes: Sequence[int] = (1, 2, 3, 4, 5),
    rows: int = 5000,
    affix_rows: int = 2000,
    maxout_pieces: int = 3,
    word_dropout: float = 0.3,
    dropout_factor: float = 4.0,
    include_static_vectors: bool = False,
) -> Model[list[Doc], list[Floats2d]]:
    """Build the layer.

    Norm, shape and affixes (of the norm) each have a table of hashed vectors, as in spaCy's
    ``MultiHashEmbed`` (Serrà & Karatzoglou 2017, Bloom embeddings); a maxout layer with layer
    normalization makes one vector of them.

    Args:
        width: of the vectors that come out.
        embed_width: of each table's.
        prefixes: lengths of the beginnings, in letters.
        suffixes: lengths of the ends.
        rows: of the norms' table.
        affix_rows: of each of the other tables.
        maxout_pieces: of the layer that mixes them.
        word_dropout: share of a batch's different words that hide their norm in training.
        dropout_factor: training drops columns of the tables at this multiple of its rate, at most
            at 0.9.
        include_static_vectors: whether the vectors of the vocabulary are used as well, projected
            to the width that comes out.

    Returns:
        Model: from documents to float32 (words, width) each.

    Raises:
        ValueError: a size or a length below 1, a length that is no whole number or is there
            twice, a share that is none, or a factor below 0.
    """
    sizes = (width, embed_width, rows, affix_rows, maxout_pieces)
    if min(*sizes, *prefixes, *suffixes) < 1:
        raise ValueError(
            f"AffixEmbed: width {width}, embed_width {embed_width}, rows {rows}, affix_rows "
            f"{affix_rows}, maxout_pieces {maxout_pieces} and the lengths of prefixes "
            f"{list(prefixes)} and suffixes {list(suffixes)} must be at least 1."
        )
    for name, lengths in (("prefixes", prefixes), ("suffixes", suffixes)):
        if any(length != int(length) for length in lengths):
            raise ValueError(f"AffixEmbed: {name} {list(lengths)} must be whole numbers.")
        if len(set(lengths)) < len(lengths):
            raise ValueError(f"AffixEmbed: {name} {list(lengths)} has a length twice.")
    if not 0 <= word_dropout < 1:
        raise ValueError(f"AffixEmbed: word_dropout {word_dropout} must be at least 0, below 1.")
    if not dropout_factor >= 0:
        raise ValueError(f"AffixEmbed: dropout_factor {dropout_factor} must be at least 0.")
    sizes_of_tables = [rows] + [affix_rows] * (1 + len(prefixes) + len(suffixes))
    tables = HashTables(embed_width, sizes_of_tables, dropout_factor)
    static = StaticVectors(width, dropout=0.0) if include_static_vectors else None
    words = tables if static is None else beside(tables, static)
    mix = Maxout(width, words.get_dim("nO"), nP=maxout_pieces, normalize=True)
    return Model(
        "nmparse_affix_embed",
        forward,
        init=init,
        layers=[chain(words, mix), Dropout(0.0)],
        dims={"nO": width},
        refs={"static": static},
        attrs={
            "prefixes": list(prefixes),
            "suffixes": list(suffixes),
            "word_dropout": word_dropout,
        },
    )


def init(model: Model, X: Any = None, Y: Any = None) -> None:
    """Initialize the tables and the layer that mixes them.

    Raises:
        ValueError: static vectors are to be used, and the documents' vocabulary has none.
    """
    static = model.maybe_get_ref("static")
    if static is not None:
        if not X or not X[0].vocab.vectors.shape[1]:
            raise ValueError(
                "AffixEmbed: include_static_vectors needs a vocabulary with vectors: name a "
                "pipeline that has some as initialize.vectors (--paths.vectors), or turn it off."
            )
        static.initialize(X=X)
    for layer in model.layers:
        layer.initialize()


def forward(
    model: Model, docs: Sequence[Doc], is_train: bool
) -> tuple[list[Any], Callable[[list[Any]], list[Doc]]]:
    """Embed the words of documents."""
    lengths = [len(doc) for doc in docs]
    if not any(lengths):
        return [model.ops.alloc2f(0, model.get_dim("nO")) for _ in docs], lambda d_result: []
    prefixes, suffixes = model.attrs["prefixes"], model.attrs["suffixes"]
    static = model.maybe_get_ref("static") is not None
    numbers, found, texts = number_words(docs, prefixes, suffixes, by_text=static)
    place: Any = model.ops.asarray(found)
    seen: Any = numbers
    if static:  # vectors may be keyed by norms, and tokens have norms of their own
        norms: Any = numbers[:, :1]
        seen = (numbers, [Doc(docs[0].vocab, words=texts).from_array([NORM], norms)])
    if is_train:
        numbers[numpy.random.random(len(numbers)) < model.attrs["word_dropout"], 0] = 0
    vectors, backprop_vectors = embed(model.layers[0], seen, is_train)
    dropped, backprop_dropped = model.layers[1](vectors[place], is_train)
    ends = numpy.cumsum(lengths).tolist()
    result = [dropped[end - n : end] for end, n in zip(ends, lengths, strict=True)]

    def backprop(d_result: list[Any]) -> list[Doc]:
        d_vectors = model.ops.alloc2f(*vectors.shape)
        d_words = backprop_dropped(model.ops.xp.concatenate(d_result))
        model.ops.scatter_add(d_vectors, place, d_words)
        backprop_vectors(d_vectors)
        return []

    return result, backprop


def embed(model: Model, words: Any, is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
    """Thinc's chain of the tables and of the layer that mixes them, the latter in one pass where
    ``layers.mixing`` can compute it."""
    tables, mix = model.layers
    if not runs_here(mix.layers[0]):
        return model(words, is_train)
    sums, backprop_sums = tables(words, is_train)
    mixed = mixer(mix, numpy.asarray([len(sums)], dtype="int32"))

    def backprop(d_vectors: Any) -> Any:
        d_sums, gradients = mixed.backward(d_vectors)
        take_gradients(mix, gradients)
        return backprop_sums(d_sums)

    return mixed.forward(sums, is_train), backprop


def beside(tables: Model, static: Model) -> Model[tuple[numpy.ndarray, list[Doc]], Floats2d]:
    """Put the vectors of tables and static ones side by side.

    Args:
        tables: from numbers to float32 (words, a).
        static: from documents of the same words to float32 (words, b).

    Returns:
        Model: from both to float32 (words, a + b).
    """
    width = tables.get_dim("nO") + static.get_dim("nO")
    return Model(
        "nmparse_beside",
        forward_beside,
        init=init_beside,
        layers=[tables, static],
        dims={"nO": width},
    )


def init_beside(model: Model, X: Any = None, Y: Any = None) -> None:
    """Initialize the tables; the other layer must be already, it needs documents for that."""
    model.layers[0].initialize()


def forward_beside(
    model: Model, words: tuple[numpy.ndarray, list[Doc]], is_train: bool
) -> tuple[Any, Callable[[Any], list[Any]]]:
    """Look the words up in both."""
    hashed, backprop_hashed = model.layers[0](words[0], is_train)
    found, backprop_found = model.layers[1](words[1], is_train)

    def backprop(d_result: Any) -> list[Any]:
        d_hashed, d_found = model.ops.xp.split(d_result, [hashed.shape[1]], axis=1)
        backprop_hashed(model.ops.as_contig(d_hashed))
        backprop_found(Ragged(model.ops.as_contig(d_found), found.lengths))
        return []

    return model.ops.xp.hstack([hashed, found.data]), backprop


def number_words(
    docs: Sequence[Doc],
    prefixes: Sequence[int],
    suffixes: Sequence[int],
    by_text: bool = False,
) -> tuple[numpy.ndarray, Any, list[str]]:
    """What is known of each different word of documents.

    Args:
        docs: the documents.
        prefixes: lengths of the beginnings.
        suffixes: lengths of the ends.
        by_text: whether words are different where their texts are, not only norm or shape.

    Returns:
        uint64 (different words, 2 + prefixes + suffixes): norm, shape, affixes; for each word its
        place there, int32 (words,); and, with ``by_text``, the texts of the different words.
    """
    attributes = [NORM, SHAPE, ORTH][: 3 if by_text else 2]
    words = numpy.concatenate([doc.to_array(attributes) for doc in docs])
    mixed = words[:, 0]
    for column in words.T[1:]:
        mixed = mixed * numpy.uint64(0x9E3779B97F4A7C15) + column
    _, first, place = numpy.unique(mixed, return_index=True, return_inverse=True)
    words = words[first]
    ends = numpy.cumsum([len(doc) for doc in docs])
    owners = numpy.searchsorted(ends, first, side="right").tolist()
    strings = [doc.vocab.strings for doc in docs]

    def spell(column: int) -> list[str]:
        pairs = zip(owners, words[:, column].tolist(), strict=True)
        return [strings[owner][word] for owner, word in pairs]

    numbers = numpy.hstack([words[:, :2], affix_numbers(spell(0), prefixes, suffixes)])
    return numbers, place.astype("int32"), spell(2) if by_text else []
