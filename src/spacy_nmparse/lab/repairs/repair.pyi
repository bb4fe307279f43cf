FEATURES: dict[str, tuple[str, ...]]
