"""Readers of training data (``@readers``): .spacy and CoNLL-U files.

spaCy's ``Corpus`` reads .spacy files only, and where it cuts documents into sentences
(``gold_preproc``, ``max_length``), the words of multiword tokens are lost.
"""

# No postponed annotations: spaCy validates configs by the readers' signatures.

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.augment import dont_augment

from spacy_nmparse.layers.treebanks import copy_treebank, names_in, set_treebank
from spacy_nmparse.pipe.annotations import same_tokens
from spacy_nmparse.ud.corpus import read_spacy
from spacy_nmparse.ud.extensions import copy_words, split_doc
from spacy_nmparse.ud.folders import files_in
from spacy_nmparse.ud.pieces import are_many, split_words
from spacy_nmparse.ud.treebank import group_docs, sentence_docs, split_by, split_of

SUFFIXES = (".spacy", ".conllu", ".conllup")


class Corpus:
    """Yields examples, as spaCy's ``Corpus`` does; the words of multiword tokens stay."""

    def __init__(
        self,
        path: str | Path | list[Path] | Mapping[str, Path | list[Path]] | None,
        gold_preproc: bool = False,
        max_length: int = 0,
        limit: int = 0,
        augmenter: Callable[..., Any] | None = None,
        n_sents: int = 10,
        subtokens: bool = False,
    ) -> None:
        """Make a reader.

        Args:
            path: A .spacy or .conllu file, a folder of such files, or a list of these; of several
                treebanks, by their names. Documents of all but the first have the name in
                ``doc._.ud_treebank``.
            gold_preproc: Whether each sentence is a document, with gold tokens.
            max_length: Longer documents are cut into sentences; 0: none are.
            limit: Only so many documents; 0: all.
            augmenter: Makes other examples of each. Where it changes the words of multiword tokens
                otherwise than to lower case, they are lost; a warning says so where it changes the
                number of tokens.
            n_sents: Sentences of a document of CoNLL-U.
            subtokens: Whether a word that the tokenizer splits is several tokens, joined by arcs
                ``subtok`` (see ``ud.pieces``), if one in a thousand is such: for training, not for
                evaluation.

        Raises:
            ValueError: If there is no path, or a treebank has a name that no config can hold.
        """
        if not path:
            raise ValueError(
                "The corpus has no path: give --paths.train FILE and --paths.dev FILE."
            )
        named = path if isinstance(path, Mapping) else {"": path}
        for name in named:
            if name != name.strip() or set(name) & set("[]#;:="):  # the config would lose it
                raise ValueError(
                    f"The corpus cannot name a treebank {name!r}: take a name without a space at "
                    f"its ends and without any of []#;:=."
                )
        self.treebanks = {
            name: [Path(one) for one in ([paths] if isinstance(paths, str | Path) else paths)]
            for name, paths in named.items()
        }
        self.gold_preproc = gold_preproc
        self.max_length = max_length
        self.limit = limit
        self.augmenter = augmenter or dont_augment
        self.n_sents = n_sents
        self.subtokens = subtokens
        self._splits: bool | None = None if subtokens else False

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Read the examples.

        Args:
            nlp: The pipeline; its tokenizer splits the text, but for gold_preproc. Multiword tokens
                of CoNLL-U that the language's tokenizer does not split into their words are one
                token.

        Yields:
            The examples.

        Raises:
            FileNotFoundError: If there is no data.
            ValueError: If a file is damaged, or a folder has several splits of a treebank.
        """
        if len(self.treebanks) > 1 and names_in(nlp) is None:
            warnings.warn(
                "The pipeline learns from several treebanks, but does not know which sentence is "
                "of which: that takes token vectors by spacy_nmparse.AffixEmbed.v1.",
                stacklevel=2,
            )
        if self._splits is None:
            self._splits = not self.gold_preproc and are_many(self.docs(nlp), nlp)
        for doc in self.docs(nlp):
            whole = not self.max_length or len(doc) < self.max_length
            for part in split_doc(doc) if self.gold_preproc or not whole else [doc]:
                if self.gold_preproc or not self.max_length or len(part) < self.max_length:
                    yield from self._augmented(nlp, part)

    def _augmented(self, nlp: Language, reference: Doc) -> Iterator[Example]:
        given = self.example(nlp, reference)
        for example in self.augmenter(nlp, given):
            # What augmenters make of an example has no extensions.
            made = example.reference
            copy_treebank(reference, made)
            copy_treebank(reference, example.predicted)
            if made is not given.reference and not copy_words(given.reference, made):
                paths = [str(path) for own in self.treebanks.values() for path in own]
                warnings.warn(
                    f"The augmenter of the corpus {paths} makes documents with "
                    f"other tokens: the words of multiword tokens, and labels of roots other than "
                    f"root, are lost in them.",
                    stacklevel=2,
                )
            yield example

    def example(self, nlp: Language, reference: Doc) -> Example:
        """An example of a gold document: its words, or its text as the tokenizer splits it."""
        if not (self.gold_preproc or reference.has_unknown_spaces):
            tokens = nlp.make_doc(reference.text)
            copy_treebank(reference, tokens)
            return Example(tokens, split_words(reference, tokens) if self._splits else reference)
        return Example(same_tokens(reference, nlp.vocab), reference)

    def docs(self, nlp: Language) -> Iterator[Doc]:
        """The gold documents that have tokens, as of ``limit``; those of the first treebank come
        first."""
        files = {name: find_files(paths) for name, paths in self.treebanks.items()}
        first = next(iter(files))
        docs = (
            set_treebank(doc, "" if name == first else name)
            for name in files
            for file in files[name]
            for doc in self._read(file, nlp)
            if len(doc)
        )
        return islice(docs, self.limit or None)

    def _read(self, file: Path, nlp: Language) -> Iterator[Doc]:
        if file.suffix == ".spacy":
            return read_spacy(file, nlp.vocab)
        merges = split_by(spacy.blank(nlp.lang or "xx"))
        return group_docs(sentence_docs(file, merges, nlp.vocab), self.n_sents)


def find_files(paths: Sequence[Path]) -> list[Path]:
    """The data files of paths, those of folders in the order of their names, without hidden ones.

    Raises:
        FileNotFoundError: If a path does not exist, or a folder has no such file.
        ValueError: If a folder has several splits of a treebank, or a file another ending.
    """
    found = []
    for path in paths:
        files = [path]
        if path.is_dir():
            files = [file for file in files_in(path) if file.suffix in SUFFIXES]
        if not path.exists() or not files:
            a_list = ' (a list is JSON: \'["FILE", "FILE"]\')' * str(path).startswith("[")
            raise FileNotFoundError(f"There is no .spacy or .conllu file {path}{a_list}.")
        splits = {split for file in files if (split := split_of(file))}
        if len(splits) > 1:
            raise ValueError(
                f"{path} has the data of {' and '.join(sorted(splits))}: name the files of one."
            )
        found += files
    for file in found:
        if file.suffix not in SUFFIXES:
            raise ValueError(f"{file} is neither a .spacy nor a .conllu file.")
    return found
