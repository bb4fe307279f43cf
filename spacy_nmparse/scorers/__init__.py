"""Models that score the moves of transition systems."""
