"""Calls every function, method and class of the compiled modules with wrong arguments.

    python -m tests.arguments --calls 300

An argument is what the function takes, something of the same kind that belongs to another system,
document or batch, or something else altogether: None, numbers out of range, arrays of other shapes
or numbers, objects that no constructor has made. A call may raise any exception but SystemError; it
must not end the process or go on for ever. Calls are made in a process of their own, which is
started again behind a call that ends it. The same seed makes the same calls. Prints how many calls
there were, and those that failed; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import inspect
import json
import os
import pkgutil
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import numpy

import spacy_nmparse

LONGEST = 20  # seconds of a call
# Where a process's addresses can be limited, sizes may be any; sanitizers need all addresses.
LIMITED = sys.platform == "linux" and "ASAN_OPTIONS" not in os.environ
MEMORY = 6 << 30  # bytes
HUGE = (2**63, -(2**63) - 1, 10**30, *((2**31 - 1, -(2**31)) if LIMITED else ()))


def modules() -> list[str]:
    """Names of the compiled modules."""
    found = pkgutil.walk_packages(spacy_nmparse.__path__, "spacy_nmparse.")
    return sorted(
        name
        for _, name, is_package in found
        if not is_package and _is_compiled(name) and not name.endswith("cython_shared")
    )


def _is_compiled(name: str) -> bool:
    spec = importlib.util.find_spec(name)
    return spec is not None and str(spec.origin).endswith(tuple(EXTENSION_SUFFIXES))


@dataclass
class Target:
    """Something to call. ``owner``: the class of a method, whose first argument is an instance."""

    name: str
    function: Callable[..., Any]
    parameters: list[str]
    owner: type | None = None

    @property
    def module(self) -> str:
        return (
            self.name.rpartition(".")[0].rpartition(".")[0]
            if self.owner
            else (self.name.rpartition(".")[0])
        )


def targets(name: str) -> Iterator[Target]:
    """What can be called in a module: functions, classes, their methods and attributes."""
    module = importlib.import_module(name)
    short = name.removeprefix("spacy_nmparse.")
    for key, value in sorted(vars(module).items()):
        if getattr(value, "__module__", None) != name or not callable(value):
            continue
        yield Target(f"{short}.{key}", value, parameters(value))
        if not isinstance(value, type) or issubclass(value, tuple):
            continue
        for attribute, member in sorted(vars(value).items()):
            place = f"{short}.{key}.{attribute}"
            if inspect.isdatadescriptor(member):
                yield Target(place, member.__get__, [], value)
                yield Target(f"{place}=", member.__set__, ["value"], value)
            elif callable(member) and attribute not in ("__new__", "__getattribute__"):
                names = parameters(member)
                yield Target(place, member, names[names[:1] == ["self"] :], value)


def parameters(function: Any) -> list[str]:
    """Names of the parameters. Those of a class are in the sources beside the module."""
    if isinstance(function, type):
        file = sys.modules[function.__module__].__file__ or ""
        source = Path(file).with_name(Path(file).name.split(".")[0] + ".pyx").read_text("utf-8")
        pattern = rf"class {function.__name__}\b.*?def __c?init__\(\s*self,?(.*?)\):\n"
        found = re.search(pattern, source, re.DOTALL)
        parts = re.split(r",\s*(?![^[]*\])", found[1]) if found else []
        return [part.split("=")[0].split()[-1] for part in parts if part.strip(" *\n")]
    try:
        signature = inspect.signature(function)
    except ValueError:  # a slot of the class, or a default that is no name in Python
        return ["other"]
    return [str(one) if "*" in str(one) else one.name for one in signature.parameters.values()]


def worlds() -> list[dict[str, Any]]:
    """Arguments by name, those of a world being of one system, one document and one batch."""
    from tests.arguments_worlds import layer_world, parser_worlds

    return [{**layer_world(seed), **world} for seed, world in enumerate(parser_worlds())]


def strange(rng: random.Random) -> Any:
    """What few functions take."""
    shape = rng.choice([(0,), (1,), (3,), (7,), (0, 3), (2, 0), (2, 5), (5, 3), (2, 3, 4)])
    dtype = rng.choice(["float32", "float64", "int8", "int32", "uint64", "int64", "O"])
    array = numpy.full(shape, rng.choice([0, 1, 3, 100, -1 if dtype != "uint64" else 2**63]), dtype)
    frozen = array.copy()
    frozen.setflags(write=False)
    return rng.choice(
        [
            *(None, None, None, -1, 0, 1, 2, 12, 1000, *HUGE, 0.5, -1.5, 1e300),
            *(float("nan"), float("inf"), "", "x", "arc_eager", b"", b"abc", object(), int),
            *([], [0], [1, 2, 3], [-1], [None], [10**9], [0.5], ["x"], (), (None,), {}, {0: 0}),
            *(range(3), iter([1]), True, array, array, array, array.T, array[::2], frozen),
        ]
    )


@dataclass
class Caller:
    """Makes calls. bare: for each class an object that its constructor has not made, if any."""

    worlds: list[dict[str, Any]]
    bare: list[Any]

    def wrong(self, name: str, world: Mapping[str, Any], rng: random.Random) -> Any:
        """An argument of another world, an object that is not made, or something else."""
        chance = rng.random()
        if chance < 0.5:
            return rng.choice(self.worlds).get(name)
        if chance < 0.6:
            return rng.choice(self.bare)
        if chance < 0.7:
            return rng.choice(list(world.values()))
        return strange(rng)

    def instance(self, owner: type, world: Mapping[str, Any], rng: random.Random) -> Any:
        known = [value for value in world.values() if isinstance(value, owner)]
        known += [value for value in self.bare if isinstance(value, owner)]
        return rng.choice(known) if known and rng.random() < 0.8 else strange(rng)

    def draw(self, target: Target, rng: random.Random) -> tuple[list[Any], dict[str, Any]]:
        """Arguments of a call, by place and by name. The last parameters may be left out."""
        world = rng.choice(self.worlds)
        names = [name for name in target.parameters if "*" not in name]
        names = names[: rng.randint(len(names) // 2, len(names)) if rng.random() < 0.3 else None]
        wrong = set(rng.sample(names, min(len(names), rng.choice([0, 1, 1, 1, 2, 9]))))
        arguments = []
        for name in names:
            own = f"{target.module}:{name}" if f"{target.module}:{name}" in world else name
            fits = own in world and name not in wrong
            arguments.append(world[own] if fits else self.wrong(own, world, rng))
        if "**options" in target.parameters and rng.random() < 0.5:
            return arguments, {rng.choice(["segment", "single_root"]): strange(rng)}
        if target.owner is not None:
            arguments.insert(0, self.instance(target.owner, world, rng))
        return arguments, {}


def make_calls(calls: int, seed: int, only: str, first: int, report: Any) -> None:
    """Make the calls from the first on. Writes, a line each, the number and the text of a call
    before it is made, and what came of it."""
    if LIMITED:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    found = [target for name in modules() for target in targets(name)]
    kinds = {target.function for target in found if isinstance(target.function, type)}
    bare = [one for one in map(_bare, sorted(kinds, key=str)) if one is not None]
    caller = Caller(worlds(), bare)
    found = [target for target in found if only in target.name]
    for number in range(first, len(found) * calls):
        target = found[number % len(found)]
        rng = random.Random(f"{seed} {number}")
        arguments, options = caller.draw(target, rng)
        call = f"{target.name}({', '.join(map(_text, (*arguments, *options.values())))})"
        print(json.dumps([number, call]), file=report, flush=True)
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        try:
            result = target.function(*arguments, **options)
            if inspect.isgenerator(result):
                next(result, None)
            outcome = "worked"
        except Exception as error:
            outcome = f"{type(error).__name__}: {error}"
        faulthandler.cancel_dump_traceback_later()
        print(json.dumps(outcome[:300]), file=report, flush=True)


def _bare(cls: type) -> Any:
    try:
        return cls.__new__(cls)
    except Exception:
        return None


def _text(value: Any) -> str:
    try:
        return re.sub(r"\s+", " ", repr(value))[:60]
    except Exception:  # of an object that is not made
        return object.__repr__(value)


def run(calls: int, seed: int = 0, only: str = "") -> tuple[Counter[str], list[str]]:
    """Make calls in processes of their own. Returns how many ended how, and those that failed."""
    counts: Counter[str] = Counter()
    failed: list[str] = []
    command = [sys.executable, "-m", "tests.arguments", "--only", only]
    command += ["--calls", str(calls), "--seed", str(seed), "--child"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    first = 0
    while True:
        done = subprocess.run(
            [*command, str(first)], capture_output=True, text=True, env=environment
        )
        lines = [json.loads(line) for line in done.stdout.splitlines() if line[:1] in ('"', "[")]
        if not lines:
            raise RuntimeError(done.stderr)
        for (_, call), outcome in zip(lines[::2], lines[1::2], strict=False):
            counts[outcome.split(":")[0]] += 1
            if outcome.startswith("SystemError"):
                failed.append(f"{call}: {outcome}")
        if not done.returncode:
            return counts, failed
        number, call = lines[-1] if len(lines) % 2 else lines[-2]
        end = "did not end" if "Timeout" in done.stderr else f"died ({done.returncode})"
        counts[end] += 1
        failed.append(f"{call}: {end}")
        first = number + 1


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.arguments", description=__doc__)
    parser.add_argument("--calls", type=int, default=100, help="of each function")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="functions whose name contains this")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child is not None:
        make_calls(options.calls, options.seed, options.only, options.child, sys.stdout)
        return 0
    counts, failed = run(options.calls, options.seed, options.only)
    print(*failed, sep="\n")
    print(
        f"{counts.total()} calls", *(f"{kind}: {n}" for kind, n in counts.most_common()), sep="\n"
    )
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
