"""Words as vectors, made of what is known of a word: norm, shape, and its affixes above all.

A treebank shows most forms of a language rich in them once or never, but shows their endings often.
spaCy's own embedding (``spacy.MultiHashEmbed``) knows a word by its norm, its shape, its first
letter and its last three; this one by several beginnings and ends.

In training some words hide their norm, so that their affixes are learned too. What training has not
seen hides always (``layers.seen_words``), so long affixes do no harm.

The shape of a punctuation mark has in it which sides have a space (``layers.word_types``): it tells
an opening quote from a closing one. Some documents of training hide this, since documents that are
parsed may not know their spaces (``Doc(vocab, words)``).

Equal words have equal vectors, so each is computed once a batch; in prediction, large batches keep
them for the next one (``layers.known_words``). Pretrained vectors of words can be added
(``include_static_vectors``).
"""

# No postponed annotations: spaCy validates configs by this architecture's signature.

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from spacy.attrs import NORM
from spacy.ml.staticvectors import StaticVectors
from spacy.strings import StringStore
from spacy.tokens import Doc
from thinc.api import Dropout, Maxout, Model, chain
from thinc.types import Floats2d, Ragged

from spacy_nmparse.layers import treebanks
from spacy_nmparse.layers.affixes import affix_numbers
from spacy_nmparse.layers.digest import digest
from spacy_nmparse.layers.hash_tables import HashTables
from spacy_nmparse.layers.known_words import WORTH, KnownWords, Repeated
from spacy_nmparse.layers.mixing import mixer, runs_here, take_gradients
from spacy_nmparse.layers.parameters import check_least
from spacy_nmparse.layers.products import HAS_TILES
from spacy_nmparse.layers.seen_words import HIDDEN, SEEN, SHARED, hide, nothing_seen, see
from spacy_nmparse.layers.word_types import find_types

#: A word that has no static vector.
NO_WORD = "\0"


def AffixEmbed(
    width: int,
    embed_width: int = 48,
    prefixes: Sequence[int] = (1, 2, 3, 4, 6),
    suffixes: Sequence[int] = (1, 2, 3, 4, 5, 6, 8),
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
        prefixes, suffixes: lengths of the beginnings and of the ends, in letters.
        rows, affix_rows: of the norms' table, and of each of the other tables.
        maxout_pieces: of the layer that mixes them.
        word_dropout: share of a batch's different words that hide their norm and static vector in
            training, and of its documents that hide the spaces beside punctuation marks.
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
    sizes = {"width": width, "embed_width": embed_width, "rows": rows, "affix_rows": affix_rows}
    check_least("AffixEmbed", 1, **sizes, maxout_pieces=maxout_pieces)
    check_least("AffixEmbed", 0, dropout_factor=dropout_factor)
    if not 0 <= word_dropout < 1:
        raise ValueError(f"AffixEmbed: word_dropout {word_dropout} must be at least 0, below 1.")
    check_lengths("prefixes", prefixes)
    check_lengths("suffixes", suffixes)
    treebanks.register_extension()
    n_affixes = len(prefixes) + len(suffixes)
    words: Model = HashTables(embed_width, [rows] + [affix_rows] * (1 + n_affixes), dropout_factor)
    if include_static_vectors:
        words = beside(words, StaticVectors(width, dropout=0.0))
    mix = Maxout(width, words.get_dim("nO"), nP=maxout_pieces, normalize=True)
    return Model(
        "nmparse_affix_embed",
        forward,
        init=init,
        layers=[chain(words, mix), Dropout(0.0)],
        dims={"nO": width},
        params={treebanks.NAME: None},
        attrs={
            "prefixes": list(prefixes),
            "suffixes": list(suffixes),
            "word_dropout": word_dropout,
            treebanks.NAME: [],
            **nothing_seen(),
            "known_words": KnownWords(),
        },
    )


def check_lengths(name: str, lengths: Sequence[int]) -> None:
    """Raise ValueError where a length of affixes is below 1, no whole number or there twice."""
    if any(length != int(length) or length < 1 for length in lengths):
        raise ValueError(f"AffixEmbed: {name} {list(lengths)} must be whole numbers from 1 on.")
    if len(set(lengths)) < len(lengths):
        raise ValueError(f"AffixEmbed: {name} {list(lengths)} has a length twice.")


def init(model: Model, X: Any = None, Y: Any = None) -> None:
    """Initialize the tables and the layer that mixes them. Warns of vectors that nobody reads.

    Raises:
        ValueError: static vectors are to be used, and the documents' vocabulary has none.
    """
    static = static_vectors(model)
    if static is not None:
        if not X or not X[0].vocab.vectors.shape[1]:
            raise ValueError(
                "AffixEmbed: include_static_vectors needs a vocabulary with vectors: name a "
                "pipeline that has some as initialize.vectors (--paths.vectors), or turn it off."
            )
        static.initialize(X=X)
    elif X and X[0].vocab.vectors.shape[0]:
        warnings.warn(
            f"AffixEmbed does not use the {X[0].vocab.vectors.shape[0]} vectors of words that the "
            f"pipeline has: set include_static_vectors = true, beside initialize.vectors "
            f"(--components.tok2vec.model.embed.include_static_vectors true, beside "
            f"--paths.vectors), or leave the vectors out.",
            stacklevel=2,
        )
    for layer in model.layers:
        layer.initialize()
    treebanks.init(model)


def static_vectors(model: Model) -> Model | None:
    """The layer that looks words up in the vocabulary's vectors. By its place: references are lost
    when Thinc copies a model."""
    words = model.layers[0].layers[0]
    return words.layers[1] if words.name == "nmparse_beside" else None


def forward(
    model: Model, docs: Sequence[Doc], is_train: bool
) -> tuple[list[Any], Callable[[list[Any]], list[Doc]]]:
    """Embed the words of documents."""
    lengths = [len(doc) for doc in docs]
    if not any(lengths):
        return [model.ops.alloc2f(0, model.get_dim("nO")) for _ in docs], lambda d_result: []
    prefixes, suffixes = model.attrs["prefixes"], model.attrs["suffixes"]
    static = static_vectors(model) is not None
    spaced = [not doc.has_unknown_spaces for doc in docs]
    if is_train:
        kept = numpy.random.random(len(docs)) >= model.attrs["word_dropout"]
        spaced = (kept & spaced).tolist()
    types = Types.of(docs, spaced, by_text=static)
    of_treebanks = treebanks.rows_of(model, docs, is_train)
    with_others = max(of_treebanks) >= 0
    place: Any = types.place
    place = model.ops.asarray(place)
    ends = numpy.cumsum(lengths).tolist()

    def parts(words: Any) -> list[Any]:
        return [words[end - n : end] for end, n in zip(ends, lengths, strict=True)]

    if not is_train and not static and ends[-1] >= WORTH and HAS_TILES and on_cpu(model):

        def compute(places: numpy.ndarray) -> Any:
            numbers = types.numbers(prefixes, suffixes, places)
            hide(model.attrs, numbers)
            return embed(model.layers[0], numbers, False)[0]

        known: KnownWords = model.attrs["known_words"]
        arrays = [model.attrs[name].view("float32") for name in (SEEN, SHARED)]
        number = digest([*all_parameters(model.layers[0]), *arrays])
        table, rows = known.vectors(types.keys, number, compute)
        found = table[rows]
        known_parts = parts(found[place])
        if with_others:
            return treebanks.add(model, known_parts, of_treebanks), not_trained
        return Repeated(known_parts, types.keys, found, place, number), not_trained
    numbers = types.numbers(prefixes, suffixes)
    hidden = numpy.zeros(len(numbers), dtype=bool)
    if is_train:
        see(model.attrs, numbers)
        hidden = numpy.random.random(len(numbers)) < model.attrs["word_dropout"]
        numbers[hidden, 0] = HIDDEN
    given: Any = numbers
    if static:  # vectors may be keyed by norms, and tokens have norms of their own
        norms: Any = numbers[:, :1]
        texts = [NO_WORD if one else text for one, text in zip(hidden, types.texts(), strict=True)]
        given = (numbers, [Doc(docs[0].vocab, words=texts).from_array([NORM], norms)])
    hide(model.attrs, numbers)
    vectors, backprop_vectors = embed(model.layers[0], given, is_train)
    dropped, backprop_dropped = model.layers[1](vectors[place], is_train)

    def backprop(d_result: list[Any]) -> list[Doc]:
        if with_others:
            treebanks.backprop(model, d_result, of_treebanks)
        d_vectors = model.ops.alloc2f(*vectors.shape)
        d_words = backprop_dropped(model.ops.xp.concatenate(d_result))
        model.ops.scatter_add(d_vectors, place, d_words)
        backprop_vectors(d_vectors)
        return []

    if with_others:
        return treebanks.add(model, parts(dropped), of_treebanks), backprop
    if not is_train:
        return Repeated(parts(dropped), types.keys, vectors, place, None), backprop
    return parts(dropped), backprop


def on_cpu(model: Model) -> bool:
    """Whether ``layers.mixing`` computes the layer's vectors."""
    return runs_here(model.layers[0].layers[1].layers[0])


def all_parameters(model: Model) -> list[Any]:
    """The parameters of a model's layers."""
    return [node.get_param(name) for node in model.walk() for name in node.param_names]


def not_trained(d_result: Any) -> Any:
    """The backward pass of what was run without is_train."""
    raise RuntimeError("AffixEmbed: only what was run with is_train can be back-propagated.")


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


@dataclass
class Types:
    """The different words of documents.

    Attributes:
        words: uint64 (different words, attributes): norm, shape and, if words are different where
            their texts are, text.
        keys: uint64 (different words,), a number for each, ascending.
        place: int32 (words,), for each word of the documents its place among the different ones.
        strings: of each different word, the strings of its document's vocabulary.
    """

    words: numpy.ndarray
    keys: numpy.ndarray
    place: numpy.ndarray
    strings: list[StringStore]

    @classmethod
    def of(cls, docs: Sequence[Doc], spaced: Sequence[bool], by_text: bool = False) -> "Types":
        """Find them.

        Args:
            docs: the documents; there is a word in one of them.
            spaced: of each, whether its punctuation marks differ by the spaces around them.
            by_text: whether words are different where their texts are, not only norm or shape.
        """
        words, keys, place, owners = find_types(list(docs), by_text, bytes(spaced))
        vocabs = [doc.vocab.strings for doc in docs]
        return cls(words, keys, place, [vocabs[owner] for owner in owners.tolist()])

    def numbers(
        self,
        prefixes: Sequence[int],
        suffixes: Sequence[int],
        places: numpy.ndarray | None = None,
    ) -> numpy.ndarray:
        """The values that the tables are looked up by, of all words or of those at some places.

        Args:
            prefixes: lengths of the beginnings.
            suffixes: lengths of the ends.
            places: int (words,); None: all words.

        Returns:
            uint64 (words, 2 + prefixes + suffixes): norm, shape, affixes.
        """
        chosen = range(len(self.words)) if places is None else places.tolist()
        words = self.words if places is None else self.words[places]
        norms = [
            self.strings[i][norm] for i, norm in zip(chosen, words[:, 0].tolist(), strict=True)
        ]
        return numpy.hstack([words[:, :2], affix_numbers(norms, prefixes, suffixes)])

    def texts(self) -> list[str]:
        """The texts of the words, which were found by them."""
        pairs = zip(self.strings, self.words[:, 2].tolist(), strict=True)
        return [strings[text] for strings, text in pairs]
