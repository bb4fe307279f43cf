"""Exact losses where gold arcs cross, by tabulation."""
