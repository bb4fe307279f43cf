"""Plain, slow, independent re-implementations that the tests compare the real systems with."""
