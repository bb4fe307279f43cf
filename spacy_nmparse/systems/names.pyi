MOVE_NAMES: list[str]
COLOURS: dict[str, str]
GLOSSARY: dict[str, str]
ORACLE_NAMES: list[str]

def new_move(name: str, colour: str | None = None, glossary: str = "") -> int: ...
def new_oracle(name: str, follows_tree: bool = False) -> int: ...
