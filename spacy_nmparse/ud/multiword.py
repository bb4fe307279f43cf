"""A component for multiword tokens: the words that a token stands for, as training data tell them.

spaCy's tokens are pieces of the text, and a word of Universal Dependencies need not be one. Where
the tokenizer keeps a multiword token whole, its words come to ``token._.ud_words``; where it splits
it, ``token._.ud_range`` says which tokens it is (see ``ud.extensions``). Known are the forms of
the training data, and what stands around a word there: a token whose tag is that of multiword
tokens (their tags, joined) is split like those with the longest beginning and ending in common,
unless most tokens with these and the tag are split elsewhere. An ending begins where the token
departs from the word: Galician *facelo*, of *facer* and *lo*, has *lo* in place of *r*.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Token
from spacy.training import Example
from spacy.util import logger
from spacy.vocab import Vocab

from spacy_nmparse.layers.treebanks import treebank_of
from spacy_nmparse.pipe.files import write_files
from spacy_nmparse.ud.extensions import OWN, UDWord, register_extensions, ud_words, value_of
from spacy_nmparse.ud.lookup import Lookup

FILE = "multiword.json"
TABLES = ("forms", "affixes", "ranges", "clitics")
#: Of the tokens with a beginning, an ending and the tag, how many must be split there.
LEAST_SHARE = 0.3
#: What stands for the letters that a token has of the word that stands for it.
STEM = "…"
#: Multiword tokens whose words are kept.
MOST = 1 << 16

Words = list[list[Any]]  # UDWords


class MultiwordTokens(Pipe):
    """Tells the words of multiword tokens.

    Attributes:
        tables: What was learned: the words of ``forms`` (with the tag, and without), and of
            ``affixes`` (beginning, ending and tag); whether words that follow each other without a
            space are one token, by the words (``ranges``) and by the last of them (``clitics``).
    """

    def __init__(self, vocab: Vocab, name: str = "multiword_tokens") -> None:
        """Make a component that knows nothing yet."""
        self.vocab = vocab
        self.name = name
        self.tables: dict[str, dict[str, Any]] = {table: {} for table in TABLES}
        self._affixes: dict[str, list[tuple[str, str]]] | None = None
        self._forms, self._pairs = Lookup(), Lookup()
        self._made: dict[tuple[int, ...], tuple[UDWord, ...]] = {}
        self._tags: dict[str, list[str]] | None = None
        self._splits: dict[tuple[str, str, tuple[str, ...]], Words] = {}
        register_extensions()

    @property
    def label_data(self) -> dict[str, Any]:
        """All that ``initialize`` learns, to be given to it as ``labels``."""
        return self.tables

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, Any] | None = None,
    ) -> None:
        """Learn from the reference documents of examples, as ``conllu_to_docs`` makes them; of
        several treebanks from those of the first, as treebanks split otherwise.

        Args:
            get_examples: Returns the examples.
            nlp: The pipeline.
            labels: What ``label_data`` gave; then the examples are not read.

        Raises:
            ValueError: If ``labels`` is not such data.
        """
        if labels is not None:
            try:
                self._learn(labels)
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(
                    f"The component '{self.name}' got labels that are not its label data: make "
                    f"them with spacy init labels."
                ) from error
            return
        corpus = nlp.config.get("corpora", {}).get("train", {}) if nlp is not None else {}
        if corpus.get("@readers") == "spacy.Corpus.v1" and (
            corpus.get("gold_preproc") or corpus.get("max_length") or corpus.get("augmenter")
        ):
            warnings.warn(
                f"The component '{self.name}' learns nothing where spacy.Corpus.v1 cuts documents "
                f"into sentences, or an augmenter changes them: take the reader "
                f"spacy_nmparse.Corpus.v1 in [corpora.train].",
                stacklevel=2,
            )
        self.tables = {table: {} for table in TABLES}
        self.learn_more(get_examples())

    def learn_more(self, examples: Iterable[Example]) -> None:
        """Learn as ``initialize`` does, in addition to what is known; what examples tell of a key
        that is known replaces it."""
        references = (example.reference for example in examples)
        tables = _tables((doc for doc in references if not treebank_of(doc)), self.tables)
        self._learn({table: {**self.tables[table], **tables[table]} for table in TABLES})
        logger.info(
            "%s: %d forms and %d affixes of multiword tokens, %d pairs of words that are one",
            self.name,
            sum(map(bool, tables["forms"].values())),
            len(tables["affixes"]),
            len(tables["ranges"]),
        )

    def _learn(self, tables: dict[str, Any]) -> None:
        self.tables = {table: dict(tables[table]) for table in TABLES}
        self._affixes = None
        self._forms, self._pairs = Lookup(), Lookup()
        self._made = {}
        self._tags, self._splits = None, {}

    def __call__(self, doc: Doc) -> Doc:
        """Tell the words of a document's multiword tokens, where nothing is known of them."""
        if not any(self.tables.values()):
            return doc
        strings: Any = doc.vocab.strings
        known = self._forms.forms(
            doc, lambda text, tag: bool(self._known(strings[text], strings[tag]))
        )
        joined = self._pairs.neighbours(
            doc, lambda one, other: self._is_range(strings[one], strings[other])
        )
        data: Any = doc.user_data
        end = 0
        for i in (known | joined).nonzero()[0].tolist():
            token = doc[i]
            if i < end or token.is_space:
                continue
            if data and (value_of(token, "ud_words") or value_of(token, "ud_range")):
                continue
            if known[i]:
                data["._.", "ud_words", token.idx, None] = [list(one) for one in self._words(token)]
                data["._.", "ud_form", token.idx, None] = token.text
                continue
            end = i + 1
            while joined[end - 1]:
                end += 1
            form = "".join(one.text for one in doc[i:end])
            data["._.", "ud_range", token.idx, None] = [form, end - i, "_"]
        return doc

    def _words(self, token: Token) -> Sequence[UDWord]:
        """The words that a multiword token stands for, made once of all that they depend on."""
        key = (token.orth, token.tag, token.lemma, token.pos, hash(token.morph))
        if (made := self._made.get(key)) is None:
            if len(self._made) >= MOST:
                self._made.clear()
            known = self._known(token.lower_, token.tag_)
            made = self._made[key] = tuple(_fitted(known, token))
        return made

    def _known(self, text: str, tag: str) -> Words:
        """The words that tokens of a form and tag stand for; none: such a token is one word."""
        forms, affixes = self.tables["forms"], self.tables["affixes"]
        known: Words | None = forms.get(f"{text} {tag}", forms.get(text))
        if known is not None:
            return known
        for begins, ends in self._affixes_of(tag):
            if len(begins) + len(ends) < len(text) and _has(text, begins, ends):
                stem = text[len(begins) : len(text) - len(ends)]
                return [
                    [stem + form[1:] if form[:1] == STEM else form, *others]
                    for form, *others in affixes[f"{begins}{STEM}{ends} {tag}"]
                ]
        return []

    def words_of(self, text: str, tag: str, forms: Sequence[str]) -> Words:
        """The words with these forms that a token of this text stands for, with this tag or else
        with another one; none: it stands for other words, or for one."""
        low, wanted = text.lower(), [form.lower() for form in forms]
        key = low, tag, tuple(wanted)
        if (found := self._splits.get(key)) is None:
            if len(self._splits) >= MOST:
                self._splits.clear()
            known = (self._known(low, one) for one in (tag, *self._tags_of(low), ""))
            same = (words for words in known if [form.lower() for form, *_ in words] == wanted)
            found = self._splits[key] = next(same, [])
        return found

    def split(self, token: Token, forms: Sequence[str]) -> list[UDWord]:
        """The same, with what a token says of the word that stands for it."""
        return list(_fitted(self.words_of(token.text, token.tag_, forms), token))

    def _tags_of(self, text: str) -> Iterable[str]:
        """The tags with which training data have a form; if they have none, those of affixes."""
        if self._tags is None:
            self._tags = defaultdict(list)
            for key, words in self.tables["forms"].items():
                form, _, tag = key.rpartition(" ")
                if words and form:
                    self._tags[form].append(tag)
            self._affixes_of("")
        return self._tags.get(text) or self._affixes or ()

    def _affixes_of(self, tag: str) -> list[tuple[str, str]]:
        """The beginnings and endings of a tag, the longest first."""
        if self._affixes is None:
            self._affixes = {}
            for key in sorted(self.tables["affixes"], key=lambda key: (-len(key), key)):
                begins, ends, of = _affixes(key)
                self._affixes.setdefault(of, []).append((begins, ends))
        return self._affixes.get(tag, [])

    def _is_range(self, one: str, other: str) -> bool:
        """Whether two tokens without a space between them are words of one multiword token."""
        tables = self.tables
        return bool(tables["ranges"].get(f"{one} {other}", tables["clitics"].get(other, False)))

    # Serialization

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Serialize what was learned."""
        return json.dumps(self.tables, ensure_ascii=False).encode("utf8")

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> MultiwordTokens:
        """Load what ``to_bytes`` gave. Raises ValueError where it is damaged."""
        try:
            self._learn(json.loads(bytes_data.decode("utf8")))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"The component '{self.name}' cannot load {FILE}: it is damaged "
                f"({type(error).__name__}: {error})."
            ) from error
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Serialize what was learned into a directory."""
        path = Path(path)
        path.mkdir(exist_ok=True)
        write_files({path / FILE: self.to_bytes()})

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> MultiwordTokens:
        """Load a directory of ``to_disk``. Raises ValueError where it is damaged."""
        return self.from_bytes((Path(path) / FILE).read_bytes())


def _tables(docs: Iterable[Doc], known: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The tables of multiword tokens (TABLES) of documents, with what these tell of known keys."""
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    affixes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    tagged: defaultdict[str, list[str]] = defaultdict(list)  # multiword tokens by tag
    ranges: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    clitics: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    for doc in docs:
        inside = 0
        tokens = list(doc)
        for i, token in enumerate(tokens):
            words = ud_words(token) if doc.user_data else []
            text, tag = token.lower_, token.tag_
            template = json.dumps(words, ensure_ascii=False) if words else ""
            forms[text][template] += 1
            forms[f"{text} {tag}"][template] += 1
            if words:
                tagged[tag].append(text)
                if found := _generalized(words, text):
                    begins, ends, split = found
                    affixes[f"{begins}{STEM}{ends} {tag}"][
                        json.dumps(split, ensure_ascii=False)
                    ] += 1
            span = value_of(token, "ud_range") if doc.user_data else None
            if span is not None:
                inside = span[1]
            if inside > 1 or not token.whitespace_:
                pair = tokens[i : i + 2]
                if len(pair) == 2 and not any(one.is_space for one in pair):
                    ranges[" ".join(one.lower_ for one in pair)][inside > 1] += 1
                    clitics[pair[1].lower_][inside > 1] += 1
            inside = max(0, inside - 1)
    return {
        "forms": {
            key: json.loads(counts.most_common(1)[0][0] or "[]")
            for key, counts in forms.items()
            # some are multiword tokens, or were with another tag
            if any(counts) or any(forms.get(key.rpartition(" ")[0], ())) or key in known["forms"]
        },
        "affixes": {
            key: json.loads(counts.most_common(1)[0][0])
            for key, counts in affixes.items()
            if counts.total() >= LEAST_SHARE * _with_affixes(key, tagged)
        },
        **{
            table: {
                key: count[True] > count[False]
                for key, count in counts.items()
                if count[True] or key in known[table]
            }
            for table, counts in (("ranges", ranges), ("clitics", clitics))
        },
    }


def _with_affixes(key: str, tagged: dict[str, list[str]]) -> int:
    """How many tokens of a tag have a beginning and an ending, and letters between them."""
    begins, ends, tag = _affixes(key)
    least = len(begins) + len(ends) + 1
    return sum(len(text) >= least and _has(text, begins, ends) for text in tagged[tag])


def _affixes(key: str) -> tuple[str, str, str]:
    """Beginning, ending and tag of a key of the table ``affixes``."""
    affixes, _, tag = key.rpartition(" ")
    begins, _, ends = affixes.partition(STEM)
    return begins, ends, tag


def _has(text: str, begins: str, ends: str) -> bool:
    return text.startswith(begins) and text.endswith(ends)


def _shared(one: str, other: str) -> int:
    """How many letters two strings begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def _generalized(words: Sequence[UDWord], text: str) -> tuple[str, str, Words] | None:
    """What stands before and behind the word that stands for a token, and the words as those of
    others that have these: that word has nothing of its own but its tag, and of its form what
    follows the letters that the token has of it. None: it has none, or all."""
    own = next((i for i, word in enumerate(words) if word.head == OWN), 0)
    begins = "".join(word.form for word in words[:own]).lower()
    form = words[own].form.lower()
    stem = _shared(form, text[len(begins) :]) if text.startswith(begins) else 0
    ends = text[len(begins) + stem :]
    if not stem or not (begins or ends) or any(STEM in word.form for word in words):
        return None
    left = STEM + words[own].form[stem:]
    split = [[*word] for word in words]
    split[own] = [*words[own]._replace(form=left, lemma="", upos="", feats="", deprel="")]
    return begins, ends, split


def _fitted(known: Words, token: Token) -> Iterator[UDWord]:
    """Words with what the token says: its letters, and the annotation of the one that stands for
    it."""
    words = [UDWord(*word) for word in known]
    cuts = "".join(word.form for word in words).lower() == token.lower_
    place = 0
    for i, word in enumerate(words):
        length = len(word.form)
        if cuts:
            word = word._replace(form=token.text[place : place + length])
        elif i == 0 and token.text[0].isupper():
            word = word._replace(form=word.form[:1].upper() + word.form[1:])
        place += length
        if word.head == OWN:
            word = word._replace(
                lemma=token.lemma_ or word.lemma,
                upos=token.pos_ or word.upos,
                feats=str(token.morph) if token.has_morph() else word.feats,
            )
        yield word._replace(lemma=word.lemma or word.form.lower())
