"""Add the settings that configs of training leave out, as ``spacy init fill-config`` does.

    python scripts/fill_configs.py src/spacy_nmparse/configs/*.cfg

``spacy init fill-config`` loses comments, and tears components apart; here comments stay before
their section or setting, and what belongs together stays together. A full config is not changed.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from spacy.util import load_config, load_model_from_config
from thinc.api import Config

#: The first sections of a config, in this order.
FIRST = ("paths", "system", "nlp", "components", "corpora", "training", "pretraining", "initialize")


def filled(path: Path) -> dict[str, Any]:
    """A config with all settings, variables not replaced.

    Raises:
        ValueError: a function or component that the config names is not installed.
    """
    config = load_config(path, interpolate=False)
    nlp = load_model_from_config(config, auto_fill=True, validate=False)
    # The pipeline has no place for what only training reads; fill-config keeps it as well.
    return Config(nlp.config).merge(config)


def comments(text: str) -> dict[tuple[str, str], list[str]]:
    """Lines of comment by the section and setting that follow them; ("", "") is the file's head."""
    found: dict[tuple[str, str], list[str]] = {}
    section, held = "", []
    for line in text.splitlines():
        if line.startswith("#"):
            held.append(line)
        elif not section and not line and held:
            found["", ""], held = held, []
        elif header := re.match(r"\[(.+)\]$", line):
            section = header[1]
            found[section, ""], held = held, []
        elif setting := re.match(r"(\S+) = ", line):
            found[section, setting[1]], held = held, []
    return {place: lines for place, lines in found.items() if lines}


def sections(config: dict[str, Any], above: str = "") -> list[str]:
    """Names of all sections, each before those below it."""
    found = []
    for name in dict.fromkeys(config if above else (*FIRST, *config)):
        if isinstance(config.get(name), dict):
            found += [above + name, *sections(config[name], f"{above}{name}.")]
    return found


def write(config: dict[str, Any], notes: dict[tuple[str, str], list[str]]) -> str:
    """The text of a config, with comments."""
    parts = re.split(r"(?m)^\[(.+)\]\n", Config(config).to_str(interpolate=False))
    bodies = dict(zip(parts[1::2], parts[2::2], strict=True))
    lines = [*notes.get(("", ""), ()), ""] if ("", "") in notes else []
    for section in sections(config):
        if section not in bodies:  # a value that is written on one line
            continue
        lines += [*notes.get((section, ""), ()), f"[{section}]"]
        for line in bodies[section].strip().splitlines():
            setting = line.partition(" = ")[0]
            lines += [*notes.get((section, setting), ()), line]
        lines.append("")
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("configs", type=Path, nargs="+")
    for path in parser.parse_args(argv).configs:
        text = path.read_text(encoding="utf-8")
        new = write(filled(path), comments(text))
        if new != text:
            path.write_text(new, encoding="utf-8")
            print(f"Filled: {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
