"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from spacy.language import Language
from thinc.api import Model, fix_random_seed

from spacy_nmparse.layers import products
from tests.noise import noisy
from tests.pipe.common import KINDS, WORDS_ALONE, overfitted
from tests.toy_treebank import write_treebank

if SEED := os.environ.get("NMPARSE_NOISE"):
    Model.initialize = noisy(Model.initialize, int(SEED))  # type: ignore[method-assign]

#: Tests that read the package's sources, where these are not: beside an installed wheel.
ROOT = Path(__file__).parents[1]
NEED_SOURCES = ["test_guide.py", "test_imports.py", "test_mutants.py"]
collect_ignore = [] if (ROOT / "spacy_nmparse").is_dir() else NEED_SOURCES


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    """Every test starts with the same random numbers, whichever ran before it."""
    fix_random_seed(0)


@pytest.fixture
def exact_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """No product is rounded."""
    monkeypatch.setattr(products, "HAS_FIXED", False)


@pytest.fixture(scope="session")
def trained() -> Language:
    """A pipeline that knows the trees of tests/pipe/common.py by heart. Do not change it."""
    return overfitted()


@pytest.fixture(scope="session", params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The options of each kind of parser, in turn."""
    return KINDS[request.param]


@pytest.fixture(scope="session")
def by_heart(kind: dict[str, Any]) -> Language:
    """A pipeline with a parser of the kind that knows the trees by heart. Do not change it."""
    return overfitted(**kind)


@pytest.fixture(scope="session")
def words_alone() -> Language:
    """The same where a word's vector depends on no other word, nor on spaces. Do not change it."""
    return overfitted(model=WORDS_ALONE)


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    """A folder with a toy treebank."""
    return write_treebank(tmp_path)
