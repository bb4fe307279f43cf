"""The package's version, in one place (read by setup.cfg without importing the extensions)."""

__version__ = "0.1.0"
