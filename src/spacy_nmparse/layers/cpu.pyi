CLASSES: tuple[str, ...]
CLASS: str
