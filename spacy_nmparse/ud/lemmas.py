"""A lemmatizer: spaCy's edit trees, with a dictionary of known words and case apart.

spaCy's ``trainable_lemmatizer`` predicts the edit tree that makes a lemma of a form. Here the trees
are those of lower-case forms and lemmas, so that a word at the beginning of a sentence needs no
tree of its own; how the lemma is written comes from the part of speech and the form's case, as in
the training data. Words of the training data have the lemma that they have there with the same part
of speech; of the probable trees of another word, the first one that gives a lemma of the training
data is applied, or else the first one. Rare trees are not learned, and teach nothing else.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise, takewhile
from typing import Any

import numpy
from spacy.attrs import LEMMA, ORTH, POS
from spacy.parts_of_speech import NAMES
from spacy.pipeline.edit_tree_lemmatizer import EditTreeLemmatizer
from spacy.tokens import Doc, Token
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model, SequenceCategoricalCrossentropy
from thinc.layers.chain import forward as chained
from thinc.layers.softmax import forward as softmax
from thinc.layers.with_array import forward as with_array
from thinc.types import Floats2d

from spacy_nmparse.layers.products import packed
from spacy_nmparse.layers.treebanks import treebank_of
from spacy_nmparse.ud.lookup import Lookup, best, write_lemmas

#: Languages with a dotted and a dotless i.
TWO_I = ("tr", "az")
#: Ways to write a lemma.
LOWER, TITLE, UPPER, FORM = "lower", "title", "upper", "form"
#: Trees that are tried for a word, the most probable first: how many at most, and how much lower
#: than the first one's their scores (logarithms of probabilities) may be.
TRIED, MARGIN = 20, 6.0
NONE = -1
UNKNOWN = 2**64 - 1  # no string has this number; as a label it is NONE
NO_TREE = 2**32 - 1

#: Makes a lemma of a form; None: it cannot.
Apply = Callable[[str], str | None]

#: Of a document: the known lemmas, uint64 (tokens,), as from ``_known``; the numbers of the tokens
#: without one; the scores of their trees, float32 (tokens, trees).
Guesses = tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]


class UDLemmatizer(EditTreeLemmatizer):
    """Lemmatizes words, where they have no lemma.

    Attributes:
        cfg: Besides spaCy's ``labels``: the lemmas of ``known`` words, by lower-case form and part
            of speech, and the ``case`` of lemmas, by part of speech and case of the form.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[Any, Any],
        name: str = "ud_lemmatizer",
        *,
        min_tree_freq: int = 2,
        scorer: Callable[..., Any] | None = None,
    ) -> None:
        """Make a component that knows nothing yet.

        Args:
            vocab: The vocabulary.
            model: A tagger's model.
            name: The component's name.
            min_tree_freq: How often an edit tree must occur to be learned.
            scorer: Computes scores.
        """
        super().__init__(vocab, model, name, min_tree_freq=min_tree_freq, scorer=scorer)
        self.cfg.update(known={}, case={})
        self._of: tuple[Any, Any] = None, None  # known words and strings, which these are of:
        self._lookup = Lookup()
        self._labels_of: tuple[Any, int] = None, 0  # labels, and how many they were, which these
        self._truths = Lookup()  # are of: of forms and lemmas
        self._lemmas: set[str] = set()

    # Learning

    @property
    def label_data(self) -> dict[str, Any]:
        """All that ``initialize`` learns, to be given to it as ``labels``."""
        learned: dict[str, Any] = super().label_data
        return {**learned, "known": self.cfg["known"], "case": self.cfg["case"]}

    def _add_labels(self, labels: dict[str, Any]) -> None:
        missing = {"trees", "labels", "known", "case"}.difference(labels)
        if missing:
            raise ValueError(
                f"The component '{self.name}' got labels without {', '.join(sorted(missing))}: "
                f"make them with spacy init labels."
            )
        super()._add_labels(labels)
        self.cfg.update(known=labels["known"], case=labels["case"])

    def _labels_from_data(self, get_examples: Callable[[], Iterable[Example]]) -> None:
        self.cfg.update(known={}, case={})
        pairs = self.learn_more(get_examples())
        trees: Counter[int] = Counter()
        for pair, n in pairs.items():
            trees[self.trees.add(*pair)] += n
        for tree, n in trees.items():
            if n >= self.min_tree_freq:
                self.tree2label[tree] = len(self.cfg["labels"])
                self.cfg["labels"].append(tree)
        if not pairs:
            warnings.warn(
                f"The training data of '{self.name}' have no lemmas: it writes none.", stacklevel=2
            )
            self.cfg["labels"] = [self.trees.add("a", "a")]  # a model needs one

    def learn_more(self, examples: Iterable[Example]) -> Counter[tuple[str, str]]:
        """Learn the lemmas of words, and their case, in addition to what is known; what examples
        tell of a word and part of speech that are known replaces it. Edit trees stay as they are.

        Args:
            examples: Gold-standard examples; those of the first treebank alone teach words.

        Returns:
            How often they have a form and its lemma, both in lower case.
        """
        pairs: Counter[tuple[str, str]] = Counter()
        known: dict[str, dict[str, Counter[str]]] = {}
        cases: dict[str, Counter[str]] = {}
        for (text, lemma, pos, key, is_first), n in self._counted(examples).items():
            form = self._lower(text)
            pairs[form, self._lower(lemma)] += n
            if is_first:  # treebanks have other lemmas for the same words
                known.setdefault(form, {}).setdefault(pos, Counter())[lemma] += n
            case = cases.setdefault(key, Counter())
            for way in (LOWER, TITLE, UPPER, FORM):
                case[way] += n * (self._written(self._lower(lemma), text, way) == lemma)
        words = dict(self.cfg["known"])
        for form, by_pos in known.items():
            new = {pos: lemmas.most_common(1)[0][0] for pos, lemmas in by_pos.items()}
            words[form] = {**words.get(form, {}), **new}
        written = {key: ways.most_common(1)[0][0] for key, ways in cases.items()}
        self.cfg.update(known=words, case={**self.cfg["case"], **written})
        return pairs

    def _counted(self, examples: Iterable[Example]) -> Counter[tuple[str, str, str, str, bool]]:
        """How often words have a text, a lemma, a part of speech, and a case, in the first treebank
        or in others."""
        counts: Counter[tuple[int, ...]] = Counter()
        words: dict[tuple[int, ...], tuple[str, str, str, str, bool]] = {}
        for example in examples:
            doc = example.reference
            first = not treebank_of(doc)
            for i, numbers in enumerate(doc.to_array([ORTH, LEMMA, POS]).tolist()):
                kind = (*numbers, first)
                counts[kind] += 1
                if kind not in words:
                    word = doc[i]
                    words[kind] = word.text, word.lemma_, word.pos_, _case_key(word), first
        return Counter({words[kind]: n for kind, n in counts.items() if kind[1]})

    def _pair2label(self, form: str, lemma: str, add_label: bool = False) -> int | None:
        if len(self.tree2label) < len(self.labels):  # spaCy's does not load them
            self.tree2label = {tree: label for label, tree in enumerate(self.labels)}
        tree = self.trees.add(self._lower(form), self._lower(lemma))
        label: int | None = self.tree2label.get(tree)
        return label

    def get_loss(
        self, examples: Iterable[Example], scores: list[Floats2d]
    ) -> tuple[float, list[Floats2d]]:
        """The loss, and its gradient; words whose tree is rare teach nothing."""
        truths = [self._truth(example) for example in examples]
        loss_func = SequenceCategoricalCrossentropy(normalize=False, missing_value=NONE)
        gradient, loss = loss_func(scores, truths)  # type: ignore[arg-type]
        return float(loss), gradient  # type: ignore[return-value]

    def _truth(self, example: Example) -> list[int]:
        """The label of each token; NONE: its tree is rare, or its lemma unknown."""
        predicted, reference = example.predicted, example.reference
        labels = self.cfg["labels"]
        if self._labels_of[0] is not labels or self._labels_of[1] != len(labels):
            self._labels_of, self._truths = (labels, len(labels)), Lookup()

        def find(orth: int, lemma: int) -> int:
            texts: Any = predicted.vocab.strings, reference.vocab.strings
            label = self._pair2label(texts[0][orth], texts[1][lemma]) if lemma else None
            return UNKNOWN if label is None else label

        orths, pairs = predicted.to_array(ORTH), reference.to_array([ORTH, LEMMA])
        if not numpy.array_equal(pairs[:, 0], orths):
            lemmas = [lemma or 0 for lemma in example.get_aligned("LEMMA")]
            pairs = numpy.stack([orths, numpy.asarray(lemmas, dtype="uint64")], axis=1)
        found: list[int] = self._truths.each(pairs, find).astype("int64").tolist()
        return found

    # Lemmatizing

    def predict(self, docs: Iterable[Doc]) -> list[Guesses]:  # type: ignore[override]
        """Of each document what ``_known`` says, the tokens whose lemma is not known, and the
        scores of their trees."""
        docs = list(docs)
        lemmas = [self._known(doc) for doc in docs]
        tokens = [(known == UNKNOWN).nonzero()[0] for known in lemmas]
        scores = self._scores(docs, tokens)
        ends = numpy.cumsum([0, *map(len, tokens)]).tolist()
        parts = [scores[first:end] for first, end in pairwise(ends)]
        return list(zip(lemmas, tokens, parts, strict=True))

    def _scores(self, docs: list[Doc], tokens: list[numpy.ndarray]) -> numpy.ndarray:
        """The scores of some tokens. The last layer of spaCy's tagger sees no others; other models
        score all."""
        if not any(map(len, tokens)):
            return numpy.empty((0, len(self.labels)), dtype="float32")
        found: Any = docs
        ops: Any = self.model.ops
        *encoder, output = self.model.layers or [self.model]
        is_tagger = (
            self.model._func is chained
            and output._func is with_array
            and output.layers[0]._func is softmax
        )
        for layer in encoder if is_tagger else [self.model]:
            found = layer.predict(found)
        own = zip(found, map(ops.asarray, tokens), strict=True)
        rows: Any = ops.xp.concatenate([one[places] for one, places in own])
        if not is_tagger:
            return ops.to_numpy(rows)  # type: ignore[no-any-return]
        last = output.layers[0]
        if last.attrs["softmax_normalize"] or not isinstance(rows, numpy.ndarray):
            return ops.to_numpy(last.predict(rows))  # type: ignore[no-any-return]
        scores: numpy.ndarray = packed(last.get_param("W"), exact=True).times(rows)
        scores += last.get_param("b")
        return scores

    def set_annotations(  # type: ignore[override]
        self, docs: Iterable[Doc], guesses: Sequence[Guesses]
    ) -> None:
        """Write the lemmas of the tokens that have none."""
        applying = applier(self.trees, self.vocab.strings)
        for doc, (lemmas, tokens, scores) in zip(docs, guesses, strict=True):
            if len(tokens):
                labels = best(scores, min(TRIED, scores.shape[1]))
                for i, own, row in zip(tokens.tolist(), labels.tolist(), scores, strict=True):
                    lemma = self._made(doc[i], own, row[own], applying)
                    lemmas[i] = doc.vocab.strings.add(lemma)
            write_lemmas(doc, lemmas)

    def _known(self, doc: Doc) -> numpy.ndarray:
        """The lemma of each token in the dictionary, uint64 (tokens,); 0: the token has its own;
        UNKNOWN: it is not there."""
        strings, known = doc.vocab.strings, self.cfg["known"]
        if not known:  # the training data had no lemmas
            return numpy.zeros(len(doc), dtype="uint64")
        if self._of[0] is not known or self._of[1] is not strings:
            lemmas = {lemma for by_pos in known.values() for lemma in by_pos.values()}
            for lemma in lemmas:
                strings.add(lemma, allow_transient=False)  # type: ignore[call-arg]
            self._of, self._lookup = (known, strings), Lookup()
            self._lemmas = set(map(self._lower, lemmas))

        def find(orth: int, pos: int) -> int:
            lemmas = known.get(self._lower(strings[orth]), {})
            if NAMES[pos] in lemmas or len(set(lemmas.values())) != 1:
                lemma = lemmas.get(NAMES[pos])
            else:
                lemma = next(iter(lemmas.values()))
            return int(strings[lemma]) if lemma else UNKNOWN

        return self._lookup.lemmas(doc, find)

    def _made(
        self,
        token: Token,
        labels: list[int],
        scores: numpy.ndarray,
        applying: Callable[[int], Apply],
    ) -> str:
        """The lemma by the trees of the most probable labels."""
        form = self._lower(token.text)
        trees = self.cfg["labels"]
        first: str | None = None
        least = -numpy.inf
        for label, score in zip(labels, scores.tolist(), strict=True):
            if score < least:
                break
            lemma = applying(trees[label])(form)
            if not lemma:
                continue
            if first is None:
                first, least = lemma, score - MARGIN
            if lemma in self._lemmas:
                first = lemma
                break
        if first is None:
            return token.text
        return self._written(first, token.text, self.cfg["case"].get(_case_key(token), FORM))

    # Case

    def _lower(self, text: str) -> str:
        if self.vocab.lang in TWO_I:
            text = text.replace("I", "ı")
        return text.replace("İ", "i").lower()

    def _upper(self, text: str) -> str:
        return (text.replace("i", "İ") if self.vocab.lang in TWO_I else text).upper()

    def _written(self, lemma: str, form: str, way: str) -> str:
        """A lower-case lemma, written in one of the ways."""
        if way == TITLE:
            return self._upper(lemma[:1]) + lemma[1:]
        if way == UPPER:
            return self._upper(lemma)
        if way == FORM:
            lowered = self._lower(form)
            if len(lowered) == len(form):
                same = takewhile(lambda pair: pair[0] == pair[1], zip(lowered, lemma, strict=False))
                n = sum(1 for _ in same)
                return form[:n] + lemma[n:]
        return lemma


def applier(trees: Any, strings: Any) -> Callable[[int], Apply]:
    """Make a function for each tree, found by its number. It applies the tree to a form as
    ``trees.apply`` does, but faster; where the tree cannot be applied, both give None. strings: of
    the trees."""

    @cache
    def applying(tree: int) -> Apply:
        if tree == NO_TREE:
            return lambda form: ""
        if tree >= len(trees):
            raise IndexError(f"there is no edit tree {tree}")
        node = trees[tree]
        if "orig" in node:
            orig, subst = strings[node["orig"]], strings[node["subst"]]
            return lambda form: subst if form == orig else None
        n_before, n_after = node["prefix_len"], node["suffix_len"]
        first, last = applying(node["prefix_tree"]), applying(node["suffix_tree"])

        def apply(form: str) -> str | None:
            end = len(form) - n_after
            if n_before > end or (after := last(form[end:])) is None:
                return None
            before = first(form[:n_before])
            return None if before is None else before + form[n_before:end] + after

        return apply

    return applying


def _case_key(token: Token) -> str:
    """A token's part of speech, and the case of its form."""
    if token.is_lower:
        case = LOWER
    elif token.is_upper and len(token) > 1:
        case = UPPER
    else:
        case = TITLE if token.is_title or token.is_upper else FORM
    return f"{token.pos_} {case}"
