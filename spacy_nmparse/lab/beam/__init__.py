"""Training with a beam: whole sequences of moves are learned."""
