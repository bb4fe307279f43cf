"""What is lost where gold arcs cross, by tabulation."""
