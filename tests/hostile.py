"""Hypothesis: how much is tried, and hostile texts, for the tests named test_fuzz_*.py.

``HYPOTHESIS_EXAMPLES=2000 python -m pytest tests/test_fuzz_systems.py tests/test_fuzz_pipe.py``
tries far more, and other values each time.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "0"))
PROFILE = settings(
    max_examples=EXAMPLES or 25,
    derandomize=not EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

#: Words, spaces of all kinds, what is neither, marks that combine, one very long word.
tokens = st.one_of(
    st.sampled_from(["She", "saw", "the", "cat", ".", "Berlin", "!"]),
    st.sampled_from([" ", "\n", "\n\n", "\t", "\u00a0", "\u3000", "\r\n", "\u2028"]),
    st.sampled_from(["\u200b", "\ufeff", "\u0301", "\U0001f468\u200d\U0001f469", "a" * 5000, "||"]),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5),
)
texts = st.lists(tokens, max_size=25)
starts = st.sampled_from([0, 0, 0, 0, 1, -1])
