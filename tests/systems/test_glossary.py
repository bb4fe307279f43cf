"""What the systems say of their moves and configurations."""

from __future__ import annotations

from typing import Any

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems.system import with_face
from spacy_nmparse.systems.table import MoveTable

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "arc_eager": [
        {},
        {"nonmonotonic_left": True},
        {"nonmonotonic_reduce": True},
        {"unshift": True},
        {"single_root": True},
        {
            "nonmonotonic_left": True,
            "repairs": ["right_lower", "right_raise", "left_invert"],
        },
        {"root_first": True},
        {"root_first": True, "single_root": True},
    ],
    "arc_standard": [{}, {"buffer_arcs": True}],
    "covington": [{}, {"nonmonotonic": True}, {"explicit_root": True}],
    "nl_covington": [{}, {"nonmonotonic": True}, {"explicit_root": True}],
    "arc_swift": [{}, {"single_root": True}],
}


@pytest.mark.parametrize("name", systems.names())
def test_every_move_and_part_is_explained(name: str) -> None:
    said = []
    for options in OPTIONS.get(name, [{}]):
        if not options.keys() <= systems.options(name).keys():  # no form has it
            continue
        for segment in (False, True):
            system = systems.create(name, segment=segment, **options)
            glossary = system.glossary()
            assert set(glossary) == set(system.moves) | set(system.parts(system.initial(2)))
            assert all(text.endswith(".") for text in glossary.values())
            said.append(glossary)
    assert len({tuple(sorted(one.items())) for one in said}) == len(said)  # options are heeded


def test_a_system_that_does_not_say() -> None:
    assert with_face(MoveTable)().glossary() == {}
