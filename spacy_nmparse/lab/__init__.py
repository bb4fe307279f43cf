"""What one paper or one experiment needs. It comes through entry points (setup.cfg), as what other
packages bring does; nothing else of this package imports it."""
