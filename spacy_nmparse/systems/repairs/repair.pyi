from spacy_nmparse.systems.system import TransitionSystem

FEATURES: dict[str, tuple[str, ...]]

def add_repairs(system: TransitionSystem) -> None: ...
