"""Names of moves and oracles, each with one number in all systems."""
import re


MOVE_NAMES = []         # by number
COLOURS = {}            # of moves by name
GLOSSARY = {}           # what a move does, by name, where it is the same in every system
ORACLE_NAMES = []       # by number
cdef bint[MAX_ORACLES] FOLLOWS_TREE


cpdef int new_move(str name, str colour=None, str glossary="") except -1:
    """Name a move. A name has the same number in every system; naming it again changes nothing.

    Args:
        name: as ``Action.move`` has it.
        colour: of the move in pictures and pages, as ``#rrggbb``; None: grey.
        glossary: what it does, a sentence or two.

    Returns:
        Its number, for ``MoveTable.add_move``.

    Raises:
        ValueError: no name, or no colour.
    """
    if not re.fullmatch("[A-Z]+(-[A-Z]+)*", name):
        raise ValueError(f"The name of a move is capitals and hyphens, as LEFT-ARC, not {name!r}.")
    if colour is not None and not re.fullmatch("#[0-9a-f]{6}", colour):
        raise ValueError(f"The colour of {name} is #rrggbb, not {colour!r}.")
    if name not in MOVE_NAMES:
        MOVE_NAMES.append(name)
        if colour is not None:
            COLOURS[name] = colour
        if glossary:
            GLOSSARY[name] = glossary
    return MOVE_NAMES.index(name)


cpdef int new_oracle(str name, bint follows_tree=False) except -1:
    """Name an oracle. A name has the same number in every system.

    Args:
        name: what ``TransitionSystem.oracles`` calls it.
        follows_tree: whether it makes up the heads that are not known, to follow one tree. Learning
            puts the dynamic oracle in its place where heads are unknown.

    Returns:
        Its number: the place of its function in ``SystemC.oracles``.

    Raises:
        ValueError: there are too many.
    """
    if name not in ORACLE_NAMES:
        if len(ORACLE_NAMES) == MAX_ORACLES:
            raise ValueError(f"No oracle {name!r}: there are {MAX_ORACLES} oracles already.")
        FOLLOWS_TREE[len(ORACLE_NAMES)] = follows_tree
        ORACLE_NAMES.append(name)
    return ORACLE_NAMES.index(name)


# In the order of the numbers in structs.pxd.
new_move("SHIFT", "#4b5563")
new_move("REDUCE", "#7c3aed")
new_move("LEFT-ARC", "#2563eb")
new_move("RIGHT-ARC", "#059669")
new_move("NO-ARC")
new_move("SWAP", "#dc2626")
new_move("BREAK", "#b45309")
for _name, _follows_tree in (
    ("dynamic", False), ("static", True), ("eager", True), ("nd_all", True),
):
    new_oracle(_name, _follows_tree)


cdef bint follows_tree(int oracle) noexcept nogil:
    """Whether the oracle makes up the heads that are not known."""
    return FOLLOWS_TREE[oracle]
