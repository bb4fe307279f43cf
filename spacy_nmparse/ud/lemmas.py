"""A lemmatizer: spaCy's edit trees, with a dictionary of known words and case apart.

spaCy's ``trainable_lemmatizer`` predicts the edit tree that makes a lemma of a form. Here the trees
are those of lower-case forms and lemmas, so that a word at the beginning of a sentence needs no
tree of its own; how the lemma is written comes from the part of speech and the form's case, as in
the training data. Words of the training data have the lemma that they have there with the same part
of speech; of the probable trees of another word, the first one that gives a lemma of the training
data is applied, or else the first one. Rare trees are not learned, and teach nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import Any

import numpy
from spacy.pipeline.edit_tree_lemmatizer import EditTreeLemmatizer
from spacy.tokens import Doc, Token
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model, SequenceCategoricalCrossentropy
from thinc.types import Floats2d

#: Languages with a dotted and a dotless i.
TWO_I = ("tr", "az")
#: Ways to write a lemma.
LOWER, TITLE, UPPER, FORM = "lower", "title", "upper", "form"
#: Trees that are tried for a word, the most probable first: how many at most, and how much lower
#: than the first one's their scores (logarithms of probabilities) may be.
TRIED, MARGIN = 20, 6.0
NONE = -1


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
        self._lemmas: tuple[Any, set[str]] = None, set()  # of known words, and which these are

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
        pairs: Counter[tuple[str, str]] = Counter()
        known: dict[str, dict[str, Counter[str]]] = {}
        cases: dict[str, Counter[str]] = {}
        for example in get_examples():
            for token in example.reference:
                if not token.lemma:
                    continue
                form, lemma = self._lower(token.text), token.lemma_
                pairs[form, self._lower(lemma)] += 1
                known.setdefault(form, {}).setdefault(token.pos_, Counter())[lemma] += 1
                case = cases.setdefault(_case_key(token), Counter())
                for way in (LOWER, TITLE, UPPER, FORM):
                    case[way] += self._written(self._lower(lemma), token.text, way) == lemma
        trees: Counter[int] = Counter()
        for pair, n in pairs.items():
            trees[self.trees.add(*pair)] += n
        for tree, n in trees.items():
            if n >= self.min_tree_freq:
                self.tree2label[tree] = len(self.cfg["labels"])
                self.cfg["labels"].append(tree)
        self.cfg["known"] = {
            form: {pos: lemmas.most_common(1)[0][0] for pos, lemmas in by_pos.items()}
            for form, by_pos in known.items()
        }
        self.cfg["case"] = {key: case.most_common(1)[0][0] for key, case in cases.items()}

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
        truths = []
        for example in examples:
            lemmas = example.get_aligned("LEMMA", as_string=True)
            labels = (
                self._pair2label(token.text, lemma) if lemma else None
                for token, lemma in zip(example.predicted, lemmas, strict=True)
            )
            truths.append([NONE if label is None else label for label in labels])
        loss_func = SequenceCategoricalCrossentropy(normalize=False, missing_value=NONE)
        gradient, loss = loss_func(scores, truths)  # type: ignore[arg-type]
        return float(loss), gradient  # type: ignore[return-value]

    # Lemmatizing

    def predict(self, docs: Iterable[Doc]) -> list[numpy.ndarray]:  # type: ignore[override]
        """The scores of the trees for each token."""
        docs = list(docs)
        if not any(map(len, docs)):
            return [numpy.zeros((0, len(self.labels)), dtype="float32") for _ in docs]
        return [self.model.ops.to_numpy(one) for one in self.model.predict(docs)]

    def set_annotations(  # type: ignore[override]
        self, docs: Iterable[Doc], scores: Sequence[numpy.ndarray]
    ) -> None:
        """Write the lemmas of the tokens that have none."""
        for doc, rows in zip(docs, scores, strict=True):
            for token in doc:
                if not token.lemma:
                    form = self._lower(token.text)
                    lemma = self._known(form, token.pos_)
                    token.lemma_ = lemma or self._made(form, token, rows[token.i])

    def _known(self, form: str, pos: str) -> str | None:
        lemmas = self.cfg["known"].get(form, {})
        if pos not in lemmas and len(set(lemmas.values())) == 1:
            return str(next(iter(lemmas.values())))
        found: str | None = lemmas.get(pos)
        return found

    def _made(self, form: str, token: Token, scores: numpy.ndarray) -> str:
        if self._lemmas[0] is not self.cfg["known"]:
            known = self.cfg["known"]
            lemmas = {self._lower(one) for by_pos in known.values() for one in by_pos.values()}
            self._lemmas = known, lemmas
        n = min(TRIED, len(scores))
        best = numpy.argpartition(-scores, n - 1)[:n]
        first: str | None = None
        least = -numpy.inf
        for label in best[numpy.argsort(-scores[best], kind="stable")].tolist():
            if scores[label] < least:
                break
            lemma = self.trees.apply(self.cfg["labels"][label], form)
            if not lemma:
                continue
            if first is None:
                first, least = lemma, scores[label] - MARGIN
            if lemma in self._lemmas[1]:
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


def _case_key(token: Token) -> str:
    """A token's part of speech, and the case of its form."""
    if token.is_lower:
        case = LOWER
    elif token.is_upper and len(token) > 1:
        case = UPPER
    else:
        case = TITLE if token.is_title or token.is_upper else FORM
    return f"{token.pos_} {case}"
