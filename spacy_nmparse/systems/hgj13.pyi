from spacy_nmparse.systems.gold import Gold
from spacy_nmparse.systems.state import State
from spacy_nmparse.systems.system import TransitionSystem

def paper_costs(system: TransitionSystem, state: State, gold: Gold) -> dict[str, int]: ...
