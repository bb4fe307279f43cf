"""The workflow `models` of project.yml: a wheel with a model card for each treebank of a list.

    python scripts/models.py scripts/models.txt packages/models

A line of the list is a treebank, spaCy's code of its language, and how often training reads it;
comments begin with #. The treebank is a folder, the name of one of Universal Dependencies, which
is fetched into assets/, or the package turkish-treebanks. Each becomes a whole pipeline, by the
steps of the workflow `ud`.

Before anything is trained, the licences of all are looked at. One that is not known to be open, or
that is not named, is an error, unless the line ends in `despite-licence`. Models
that are finished are not made again unless their line changes.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from spacy_nmparse.pipe.files import write_files

sys.path.append(str(Path(__file__).resolve().parent.parent))  # of a file that is run
from scripts.licences import source_of
from scripts.packages import full_name, wheel_of

SCRIPTS = Path(__file__).resolve().parent
ASSETS = Path("assets")
UD = "https://github.com/UniversalDependencies"
TURKISH = "turkish-treebanks"
PARSER = "nl_covington_parser"
DESPITE = "despite-licence"
FOLDERS = ("corpus", "training", "metrics")
METRICS = ("Words", "Sentences", "UPOS", "Lemmas", "UAS", "LAS")


class Line(NamedTuple):
    """A line of the list."""

    treebank: str
    lang: str
    epochs: int
    despite: bool

    @property
    def path(self) -> Path:
        """Where the treebank is, or the name of its package."""
        fetched = ASSETS / self.treebank
        return fetched if re.fullmatch(r"UD_\w+-\w+", self.treebank) else Path(self.treebank)

    @property
    def name(self) -> str:
        """Of the model, without the language."""
        return re.sub(r"\W+", "_", Path(self.treebank).name).lower()


def read_list(path: Path) -> list[Line]:
    """Read the list of treebanks.

    Args:
        path: The list.

    Returns:
        Its lines.

    Raises:
        ValueError: If a line is malformed, or two models would have the same name.
        OSError: If it cannot be read.
    """
    lines = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        words = text.split("#")[0].split()
        if not words:
            continue
        if len(words) not in (3, 4) or not words[2].isdigit() or words[3:] not in ([], [DESPITE]):
            raise ValueError(f"{path}, line {number}: TREEBANK LANGUAGE EPOCHS [{DESPITE}]")
        lines.append(Line(words[0], words[1], int(words[2]), len(words) == 4))
    names = [(line.lang, line.name) for line in lines]
    for lang, name in names:
        if names.count((lang, name)) > 1:
            raise ValueError(f"{path}: two models {lang}_{name}: rename a folder.")
    return lines


def check_licences(lines: list[Line]) -> None:
    """Fetch the treebanks that are not there, and look at the licences.

    Args:
        lines: The list.

    Raises:
        FileNotFoundError: If a treebank is not there and is none that can be fetched.
        RuntimeError: If fetching fails.
        ValueError: If a licence is not known to be open; of all such.
    """
    objections = []
    for line in lines:
        if line.path.parent == ASSETS and not line.path.is_dir():
            run("git", "clone", "--depth", "1", f"{UD}/{line.treebank}", str(line.path))
        objection = source_of(line.path).objection
        if objection and not line.despite:
            objections.append(objection)
    if objections:
        listed = "\n  ".join(objections)
        raise ValueError(
            f"Nothing was made. Take these out of the list, or end their lines with {DESPITE} if "
            f"you may make the models:\n  {listed}"
        )


def run(*command: str) -> None:
    """Run a command.

    Args:
        command: The program and its arguments.

    Raises:
        RuntimeError: If it fails.
    """
    status = subprocess.run(command, check=False).returncode
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with status {status}.")


def make(line: Line, packages: Path, settings: list[str]) -> dict[str, Any]:
    """Make a model, unless it is there.

    Args:
        line: The line of the list.
        packages: The folder for the packages.
        settings: Further settings of the config, KEY=VALUE.

    Returns:
        What the table has of it.

    Raises:
        RuntimeError: If a step fails.
    """
    name = full_name(line.lang, line.name)
    record = packages / f"{name}.json"
    wanted = [*line, settings]
    if record.is_file():
        done: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
        if done["made_of"] == wanted and (packages / done["wheel"]).is_file():
            print(f"{name} is finished: {done['wheel']}", flush=True)
            return done
    corpus, models, metrics = (str(Path(one) / "models" / name) for one in FOLDERS)
    of_package = line.treebank == TURKISH
    treebank = [] if of_package else ["--treebank", str(line.path)]
    data = ["-m", "spacy", "nmparse", "convert", str(line.path), corpus, "--n-sents", "10"]
    data += ["--with-single", "--merge-subtokens", "auto", "--lang", line.lang]
    demo = str(SCRIPTS / "demo.py")
    train = [demo, "train", corpus, models, PARSER, "--pipeline", "whole"]
    train += ["--lang", line.lang, "--epochs", str(line.epochs)]
    for setting in settings:
        train += ["--set", setting]
    package = [demo, "package", f"{models}/{PARSER}/model-best", str(packages)]
    package += ["--name", line.name, "--wheel", "make", "--metrics", metrics]
    package += ["--treebank", str(line.path)]
    for step in (
        [str(SCRIPTS / "prepare_demo.py"), corpus] if of_package else data,
        train,
        [demo, "evaluate", models, corpus, metrics, PARSER, *treebank],
        package,
    ):
        run(sys.executable, *step)
    wheel = wheel_of(packages, line.lang, line.name)
    raw = json.loads((Path(metrics) / f"{PARSER}-raw.json").read_text(encoding="utf-8"))
    source = source_of(line.path)
    done = {
        "made_of": wanted,
        "wheel": wheel.relative_to(packages).as_posix(),
        "treebank": source.name,
        "licence": source.licence,
        "megabytes": round(wheel.stat().st_size / 1e6, 1),
        "words_per_second": raw["words_per_second"],
        **{metric: raw["conll18"].get(metric) for metric in METRICS},
    }
    write_files({record: json.dumps(done, ensure_ascii=False, indent=1).encode()})
    return done


def table(made: list[dict[str, Any]]) -> str:
    """The models side by side, in Markdown.

    Args:
        made: What `make` has returned for each.

    Returns:
        The table.
    """
    columns = ("wheel", "treebank", "licence", "MB", *METRICS, "words a second")
    rows = [columns, ("---",) * 3 + ("--:",) * (len(columns) - 3)]
    for one in made:
        scores = ("" if one[key] is None else f"{100 * one[key]:.2f}" for key in METRICS)
        start = (f"`{Path(one['wheel']).name}`", one["treebank"], one["licence"])
        rows.append((*start, str(one["megabytes"]), *scores, f"{one['words_per_second']:,.0f}"))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def index(packages: Path) -> str:
    """A page with a link to each wheel, for `pip install --find-links`: once, where several models
    have brought the same one."""
    wheels = {path.name: path.relative_to(packages) for path in packages.glob("*/dist/*.whl")}
    links = (f'<a href="{path.as_posix()}">{name}</a><br>' for name, path in sorted(wheels.items()))
    return "<!DOCTYPE html>\n<title>Models</title>\n" + "\n".join(links) + "\n"


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments, by default those of the process.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("list", type=Path, help="one treebank a line")
    parser.add_argument("packages", type=Path, help="folder for the packages and the table")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    args = parser.parse_args(argv)
    try:
        lines = read_list(args.list)
        check_licences(lines)
        args.packages.mkdir(parents=True, exist_ok=True)
        made = [make(line, args.packages, args.set) for line in lines]
    except (OSError, ValueError, RuntimeError) as error:
        print(f"models.py: {error}", file=sys.stderr)
        return 1
    text = (
        "F1 of the CoNLL 2018 evaluation from raw text, on each treebank's test set.\n\n"
        f"{table(made)}"
    )
    pages = {"models.md": text, "index.html": index(args.packages)}
    write_files({args.packages / name: page.encode() for name, page in pages.items()})
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
