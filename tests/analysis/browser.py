"""Pages opened in a real browser, where one is on the PATH."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next((path for path in map(shutil.which, BROWSERS) if path), None)


def opened(file: Path, address: str = "") -> str:
    """The page as HTML after its scripts have run; the test is skipped without a browser."""
    return dumped(file.as_uri() + address, file.parent)


def dumped(address: str, folder: Path, *options: str) -> str:
    """The same of an address; folder: for the browser's files."""
    if BROWSER is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is on the PATH")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command += [f"--user-data-dir={folder / 'browser'}", "--window-size=1200,900"]
    # The sanitizers that `nox -s sanitize` loads are not for the browser.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run(
        [*command, *options, "--dump-dom", address],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        env=environment,
    )
    assert "</html>" in done.stdout or "</svg>" in done.stdout, done.stderr[-2000:]
    return done.stdout
