"""Summarize what the benchmarks measured, and write the tables of README and docs.

    python -m benchmarks.report
    python -m benchmarks.report accuracy variants
    python -m benchmarks.report --write
    python -m benchmarks.report --replace

Benchmarks leave a file of each run in benchmarks/runs, which is not under version control. This
command makes benchmarks/results/BENCHMARK.json of them: means, spread, seeds, commands, versions,
and intervals and p by bootstrap over sentences. A system whose runs are not here keeps its summary,
as do the benchmarks that are archived (benchmarks/README.md). Results that are known are not lost
or replaced, and nothing is written, without `--replace`; new seeds and systems are added.

With `--write`, what stands between the markers of a page is written again from these summaries:

    <!-- table: NAME -->

    <!-- end -->

and, for a figure within a sentence, `<!-- figure: NAME -->...<!-- end -->`; and the picture of
accuracy and speed. Without the runs, `--write` works as well. benchmarks/tables/ makes the tables.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import papers, pipelines, released
from benchmarks.common import RESULTS, ROOT, RUNS, command_line, program
from benchmarks.runs import load
from benchmarks.summary import Change, Pair, merge, rounded, summarize, write
from benchmarks.tables import TABLES
from benchmarks.tables.common import OWN, SPACY, SPACY_LONG, STOCK, STOCK_LONG
from benchmarks.tables.front import PICTURE, front
from spacy_nmparse.pipe.files import write_files

PAGES = (
    ROOT / "README.md",
    ROOT / "benchmarks" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
)
MARKED = re.compile(r"(<!-- (table|figure): ([\w.-]+) -->).*?(<!-- end -->)", re.DOTALL)
Summary = dict[str, Any]


def accuracy_pairs(systems: set[str]) -> Iterator[Pair]:
    """List what the tables of benchmarks.accuracy compare, of the systems that there are: each
    system and spaCy's parsers; and a system with another one, from which one setting differs."""
    for name in sorted(systems):
        long = {"long", "taught"} & {*name.split("_")}
        for baseline in (STOCK_LONG, SPACY_LONG) if long else (STOCK, SPACY):
            if name != baseline:
                yield Pair(name, baseline, "test", "las_all")
        if name.endswith("_plain"):
            base = name.removesuffix("_plain")
            for other in systems & {base, f"{base}_long"}:
                yield Pair(other, name, "test", "las_all")
        elif name.startswith(f"{OWN}_") and "multihash" not in name:
            yield Pair(name, f"{OWN}_plain", "test", "las_all")


def summarize_accuracy(folder: Path) -> Summary:
    """Summarize the runs of benchmarks.accuracy in a folder, as all summarizers do."""
    found = load(folder)
    return summarize(found, accuracy_pairs({name for one in found.values() for name in one}))


def summarize_variants(folder: Path) -> Summary:
    """Summarize the runs of benchmarks.variants."""
    return summarize(load(folder), papers.pairs(), epochs=True)


def summarize_plain(folder: Path) -> Summary:
    """Summarize the runs of benchmarks.compare."""
    return summarize(load(folder), ())


def files(folder: Path) -> dict[str, Any]:
    """The contents of a folder's files by name."""
    found = sorted(folder.glob("*.json"))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in found}


def summarize_speed(folder: Path) -> Summary:
    """Keep the rates, and the least, median and greatest ratio, repetition by repetition (`times`):
    to each system of spaCy's parser with the first products, and to the system with one
    thread."""
    found = files(folder)
    for result in found.values():
        for groups in result["results"].values():
            first = next(iter(groups.values()))
            bases = {
                stage: {name: own for name, own in systems.items() if name.startswith("spacy_")}
                for stage, systems in first.items()
            }
            for stages in groups.values():
                for stage, systems in stages.items():
                    timed = dict(systems)
                    for name, own in timed.items():
                        others = dict(bases[stage])
                        other = name.partition("_threads")[0]
                        if other != name and other in timed:
                            others[other] = timed[other]
                        systems[name] = {
                            "words_per_second": own["words_per_second"],
                            "times": {b: ratios(own, one) for b, one in others.items()},
                        }
    return found


def ratios(own: dict[str, Any], other: dict[str, Any]) -> list[float]:
    """Least, median and greatest ratio of two systems' words per second, repetition by
    repetition."""
    pairs = zip(own["seconds"], other["seconds"], strict=True)
    share = own["words"] / other["words"]
    times = sorted(share * his / mine for mine, his in pairs)
    return [times[0], statistics.median(times), times[-1]]


def summarize_exhaustive(folder: Path) -> Summary:
    """Read what tests.exhaustive printed (Markdown): the command of each table, and its lines."""
    found: Summary = {}
    for path in sorted(folder.glob("*.md")):
        parts: list[dict[str, Any]] = []
        text = path.read_text(encoding="utf-8")
        command = ""
        for line in text.splitlines():
            if named := re.search(r"`(python -m tests\.exhaustive [^`]*)`", line):
                command = named[1]
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) != 8 or not cells[2].isdigit():
                continue
            if not parts or parts[-1]["command"] != command:
                parts.append({"command": command, "rows": []})
            numbers: list[Any] = [int(cell) if cell.isdigit() else cell for cell in cells]
            parts[-1]["rows"].append([cells[1], numbers[2], cells[3], *numbers[4:]])
        found[path.stem] = parts
    return found


SUMMARIZERS: dict[str, Callable[[Path], Summary]] = {
    "accuracy": summarize_accuracy,
    "compare": summarize_plain,
    "exhaustive": summarize_exhaustive,
    "perceptron": files,
    "pipelines": pipelines.summarize,
    "released": released.summarize,
    "repairs": files,
    "speed": summarize_speed,
    "swaps": files,
    "transitions": files,
    "upper_bound": files,
    "variants": summarize_variants,
}


def update(benchmark: str, runs: Path, path: Path) -> tuple[Summary, list[Change]]:
    """Bring a benchmark's summary, the contents of a file, up to date with the runs; what was
    changed."""
    new: Summary = rounded(SUMMARIZERS[benchmark](runs / benchmark))
    old = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if "systems" in new:
        changes = list(merge(old, new))
    else:
        changed = [name for name, result in new.items() if old.get(name) != result]
        changes = [Change(name, loses=name in old) for name in changed]
        old |= new
    return dict(sorted(old.items())), changes


def update_all(benchmarks: Sequence[str], runs: Path, summaries: Path, replace: bool) -> None:
    """Bring summaries up to date with the runs, and print what was changed. Raises a ValueError,
    and writes nothing, if results that are known would go, unless they are to be replaced."""
    updated, lost = {}, []
    for benchmark in benchmarks:
        if benchmark not in SUMMARIZERS:
            raise ValueError(f"No benchmark {benchmark!r}: {', '.join(SUMMARIZERS)}.")
        if (runs / benchmark).is_dir():
            path = summaries / f"{benchmark}.json"
            updated[path] = update(benchmark, runs, path)
            lost += [f"{benchmark}: {one.text}" for one in updated[path][1] if one.loses]
    if lost and not replace:
        raise ValueError(
            f"the runs in {runs} would replace results in {summaries}; nothing was written. Add "
            "the runs that are missing, give another folder as --results, or --replace:\n"
            + "\n".join(lost)
        )
    for path, (summary, changes) in updated.items():
        write(summary, path)
        for one in changes:
            print(f"{path.stem}: {one.text}", flush=True)


def filled(text: str) -> str:
    """Write what stands between the markers of a page. Raises a ValueError if nothing makes what a
    marker names."""

    def make(found: re.Match[str]) -> str:
        start, kind, name, end = found.groups()
        if name not in TABLES:
            raise ValueError(f"No {kind} {name!r} in benchmarks/tables/.")
        space = "\n\n" if kind == "table" else ""
        return f"{start}{space}{TABLES[name]()}{space}{end}"

    return MARKED.sub(make, text)


def pages() -> dict[Path, str]:
    """The pages as they should be, and the picture."""
    return {page: filled(page.read_text(encoding="utf-8")) for page in PAGES} | {PICTURE: front()}


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    parser = command_line(__doc__)
    parser.add_argument("benchmarks", nargs="*", metavar="BENCHMARK", help="by default all")
    parser.add_argument("--write", action="store_true", help="write the tables of the pages too")
    parser.add_argument("--replace", action="store_true", help="replace results that are known")
    parser.add_argument("--runs", type=Path, default=RUNS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    args = parser.parse_args(argv)
    update_all(args.benchmarks or [*SUMMARIZERS], args.runs, args.results, args.replace)
    for path, text in pages().items() if args.write else ():
        if path.read_text(encoding="utf-8") != text:
            write_files({path: text.encode()})
            print(f"{path.relative_to(ROOT)}: written")


if __name__ == "__main__":
    raise SystemExit(main())
