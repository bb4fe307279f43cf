"""Wrong arguments end no process, whichever compiled function they are given to."""

from __future__ import annotations

from tests.arguments import run


def test_wrong_arguments() -> None:
    counts, failed = run(calls=8)
    assert not failed
    assert counts["worked"] > 300 and counts["TypeError"] > 300 and counts["ValueError"] > 100
