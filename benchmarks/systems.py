"""The systems that benchmarks train: the package's configs, and what systems.yml makes of them.

    python -m benchmarks.systems nl_covington_parser_untagged untagged.cfg

writes a system as a config for `spacy train`.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import srsly
from spacy.util import load_config
from thinc.api import Config

from benchmarks.common import command_line, program
from spacy_nmparse.cli.records import parse_settings
from spacy_nmparse.pipe.files import write_files
from spacy_nmparse.ud.whole_pipeline import CONFIGS, KINDS

FILE = Path(__file__).with_name("systems.yml")


@dataclass(frozen=True)
class System:
    """A parser to train.

    Attributes:
        name: What result files and tables call it.
        config: The training config.
        overrides: Settings that differ from the config's, by dotted key; a mapping replaces the
            block.
        removed: Blocks of the config that go.
        teachers: The pipelines that it also learns from.
        more: The .spacy files of other treebanks that it also learns from, by their names.
    """

    name: str
    config: Path
    overrides: dict[str, Any] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    teachers: tuple[Path, ...] = ()
    more: dict[str, Path] = field(default_factory=dict)

    def changed(self, settings: dict[str, Any]) -> System:
        """A system of the same name with further settings, which come after its own."""
        return replace(self, overrides={**self.overrides, **settings})

    def build(self) -> Config:
        """Its training config, not interpolated."""
        config = load_config(self.config, interpolate=False)
        for key in self.removed:
            *blocks, last = key.split(".")
            block: Any = config
            for name in blocks:
                block = block.get(name, {})
            block.pop(last, None)
        for key, value in self.overrides.items():
            *blocks, last = key.split(".")
            block = config
            for name in blocks:
                block = block.setdefault(name, {})
            block[last] = deepcopy(value)
        return config

    def write(self, folder: Path, settings: dict[str, Any]) -> Path:
        """Write its training config with further settings to a folder; the file, named after it."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.cfg"
        self.changed(settings).build().to_disk(path)
        return path


@cache
def _definitions() -> dict[str, Any]:
    found: dict[str, Any] = srsly.read_yaml(FILE)
    found["suffixes"] |= {name: settings for name, settings in KINDS.items() if name}
    return found


def find_system(name: str) -> System:
    """Find a system by its name: that of a config, of a system in systems.yml, or either with
    suffixes of systems.yml. Raises a ValueError if there is none."""
    config = CONFIGS / f"{name}.cfg"
    if config.is_file():
        return System(name, config)
    systems, suffixes = _definitions()["systems"], _definitions()["suffixes"]
    if name in systems:
        own = systems[name]
        system = find_system(own["base"])
        for suffix in own.get("with", ()):
            system = system.changed(suffixes[suffix])
        removed = (*system.removed, *own.get("remove", ()))
        return replace(system.changed(own.get("set", {})), name=name, removed=removed)
    base, _, suffix = name.rpartition("_")
    if base and suffix in suffixes:
        return replace(find_system(base).changed(suffixes[suffix]), name=name)
    raise ValueError(f"No system {name!r}: see the folder configs, and benchmarks/systems.yml.")


def parse_system(text: str) -> System:
    """Read a system from the command line: NAME, or NAME=BASE[,key=value]..., where BASE is a
    system or the path of a config, and values may be lists: key=["a","b"]. Raises a ValueError if
    the text is malformed, or there is no such system."""
    name, _, rest = text.partition("=")
    if not rest:
        return find_system(name)
    base, *settings = split_settings(rest)
    path = Path(base)
    if path.suffix != ".cfg":
        system = find_system(base)
    elif path.is_file():
        system = System(name, path.resolve())
    else:
        raise ValueError(f"System {text!r}: no config {base}; see the folder configs.")
    return replace(system.changed(parse_settings(settings)), name=name)


def split_settings(text: str) -> list[str]:
    """Split KEY=VALUE[,KEY=VALUE]... at the commas between settings; a list as a value keeps its
    own."""
    settings, depth = [""], 0
    for character in text:
        depth += (character in "[{") - (character in "]}")
        if character == "," and not depth:
            settings.append("")
        else:
            settings[-1] += character
    return settings


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    parser = command_line(__doc__)
    parser.add_argument("system", metavar="NAME[=BASE[,KEY=VALUE]...]")
    parser.add_argument("output", type=Path, help="the config to write")
    args = parser.parse_args(argv)
    config = parse_system(args.system).build()
    write_files({args.output: config.to_bytes()})


if __name__ == "__main__":
    raise SystemExit(main())
