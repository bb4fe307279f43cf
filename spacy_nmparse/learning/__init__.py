"""Search with a scorer, and learning from oracles."""
