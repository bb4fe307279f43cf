"""Treebanks of Universal Dependencies, and whole pipelines made of them."""

from __future__ import annotations

from spacy_nmparse.compiled import require_compiled

require_compiled("spacy_nmparse.ud.rows")
from spacy_nmparse.ud.conllu_docs import conllu_to_docs  # noqa: E402
from spacy_nmparse.ud.docs_conllu import doc_to_conllu  # noqa: E402
from spacy_nmparse.ud.parse_files import FileParser  # noqa: E402
from spacy_nmparse.ud.parse_inputs import FileReader  # noqa: E402
from spacy_nmparse.ud.parse_outputs import FileWriter  # noqa: E402

__all__ = ["FileParser", "FileReader", "FileWriter", "conllu_to_docs", "doc_to_conllu"]
