"""The tables and figures of README and docs, made from the summaries in benchmarks/results."""

from __future__ import annotations

from benchmarks.tables import (  # noqa: F401  (each registers its tables)
    accuracy,
    counts,
    exhaustive,
    papers,
    pipelines,
    released,
    speed,
)
from benchmarks.tables.common import TABLES

__all__ = ["TABLES"]
