from typing import NamedTuple

from spacy_nmparse.scorers.scorer import Scorer
from spacy_nmparse.systems.state import State
from spacy_nmparse.systems.system import Action, TransitionSystem

class Scored(NamedTuple):
    action: Action
    score: float
    share: float
    label_p: float
    noted: str | None

class Tracer:
    def __new__(cls, system: TransitionSystem, scored: Scorer, n: int) -> Tracer: ...
    def moves(self, state: State) -> list[Scored]: ...
    def complete(self, state: State) -> None: ...

def items(
    state: State,
) -> tuple[int, list[int], list[int], range, bool, bool, range, range]: ...
def changes(
    before: State, after: State
) -> list[tuple[int, int | None, str | None, int | None, str | None]]: ...
