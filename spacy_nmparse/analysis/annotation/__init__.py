"""Correct parses in the browser: sentences, their file, the parser behind them, and the server."""
