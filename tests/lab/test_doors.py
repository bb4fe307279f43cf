"""Oracles that the lab adds: each to its own systems."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

from spacy_nmparse import systems

ORACLES = entry_points(group="spacy_nmparse_oracles")


@pytest.mark.parametrize("name", sorted({one.value for one in ORACLES}))
def test_other_systems_refuse_an_oracle(name: str) -> None:
    """They once took it, and crashed when it was asked."""
    doors = [one for one in ORACLES if one.value == name]
    own = {one.name.split(".")[0] for one in doors}
    add = doors[0].load()
    for other in sorted({"covington", "swap_standard", "arc_eager", "arc_standard"} - own):
        system = systems.create(other)
        before = system.oracles
        try:
            add(system)
        except TypeError as error:
            assert other in str(error)
        assert system.oracles == before
