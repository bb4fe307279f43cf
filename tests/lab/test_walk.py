"""Random walks through what the lab brings."""

from __future__ import annotations

import random

from tests.exhaustive_cases import Case
from tests.fuzz import random_text, try_text, variants


def test_wrong_costs_are_found() -> None:
    """Costs that are not exact, taken for such: those of Unshift on crossing trees."""
    case = Case("arc_eager", {"unshift": True}, projective=False)
    system = case.create()
    rng = random.Random(0)
    faults = [try_text(case, system, random_text(case, 5, rng), rng)[1] for _ in range(300)]
    assert any("a cost is not the difference of the losses" in (fault or "") for fault in faults)


def test_all_options_are_walked() -> None:
    options = {(key, value) for case in variants() for key, value in case.options.items() if value}
    assert {("unshift", True), ("root_first", True), ("buffer_arcs", True)} <= options
    assert ("repairs", ("right_lower", "right_raise", "left_invert")) in options
