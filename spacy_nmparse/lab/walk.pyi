from spacy_nmparse.systems.configuration import State
from spacy_nmparse.systems.gold import Gold
from spacy_nmparse.systems.system import TransitionSystem

def random_walk(
    system: TransitionSystem,
    state: State,
    seed: int,
    gold: Gold | None = None,
    oracle: str = "dynamic",
    exact: bool = False,
    ask: int = 1,
    follow: int = 4,
) -> tuple[int, int]: ...
def kept_moves(system: TransitionSystem, state: State, gold: Gold) -> list[str]: ...
