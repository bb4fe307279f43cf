"""Fixtures for all tests."""

from __future__ import annotations

import pytest
from spacy.language import Language
from thinc.api import fix_random_seed


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    """Every test starts with the same random numbers, whichever ran before it."""
    fix_random_seed(0)


@pytest.fixture(scope="session")
def trained() -> Language:
    """A pipeline that knows the trees of tests/pipe/common.py by heart. Do not change it."""
    from tests.pipe.common import overfitted

    return overfitted()


@pytest.fixture(scope="session")
def words_alone() -> Language:
    """The same where a word's vector depends on no other word, nor on spaces. Do not change it."""
    from tests.pipe.common import WORDS_ALONE, overfitted

    return overfitted(model=WORDS_ALONE)
