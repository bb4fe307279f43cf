"""SwapStandard, its gold orders, and when to swap."""
