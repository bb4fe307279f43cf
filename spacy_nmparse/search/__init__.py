"""Search: greedy, with a beam, and the completion of headless words."""
