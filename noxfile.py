"""Build, tests, lint and types on every Python that is supported, and the ends of spaCy's range.

    nox                          # everything, one after the other
    nox -s tests-3.12            # one session
    nox -s tests-3.12 -- tests/systems
    nox -s oldest
    nox -s release               # what a release publishes, made and checked
    nox -s coverage -- tests/systems          # which lines these tests run
    nox -s sanitize -- -m pytest tests/systems
    nox -s "robust(noise-3)" -- tests/pipe    # as another machine would compute

Tests run on wheels, built in isolation and installed without the sources: in a folder that holds
what tests read, and not the package. See docs/development.md.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import nox

ROOT = Path(__file__).parent
DIST = ROOT / "dist"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
# The lower ends of what setup.cfg and spaCy 3.8.7 ask for.
OLDEST = ("spacy==3.8.7", "thinc==8.3.4", "numpy==2.0.0")
SMOKE = """
from pathlib import Path

import spacy
import spacy_nmparse
from spacy_nmparse import systems

print(spacy_nmparse.__file__, spacy_nmparse.__version__, "with spaCy", spacy.__version__)
files = Path(spacy_nmparse.__file__).parent.rglob("*")
assert not [path for path in files if path.suffix in (".c", ".cpp")], "generated C"
for name in ("nm_parser", "nl_covington_parser", "swap_parser"):
    nlp = spacy.blank("en")
    nlp.add_pipe(name).add_label("dep")
    nlp.initialize()
    doc = nlp("This is a sentence.")
    assert doc.has_annotation("DEP") and len(list(doc.sents)) >= 1, name
for name in systems.names():
    assert systems.create(name).initial(2).n_words == 2, name
"""

COVERAGE = """
[run]
source = spacy_nmparse
parallel = true
patch = subprocess
concurrency = multiprocessing, thread
"""
# Lines of Cython that no C is written for, but that of a line before.
NOT_RUN = r"\s*([#@)\]}]|cdef (readonly )?[\w ]+(#.*)?$|(cdef|cpdef|def|class)\b.*[:(]$)"

#: Machines that compute otherwise: threads of NumPy's products, classes of processors (not every
#: processor can be each of them), noise in the last bit of new models' weights.
MACHINES = {
    **{f"threads-{n}": {"OMP_NUM_THREADS": n, "OPENBLAS_NUM_THREADS": n} for n in "128"},
    **{
        f"cpu-{name}": {"NMPARSE_CPU": name}
        for name in ("plain", "avx2", "avx512", "avx512-vnni", "neon")
    },
    **{f"noise-{seed}": {"NMPARSE_NOISE": seed} for seed in "12345"},
}

nox.options.error_on_missing_interpreters = True


def sources() -> list[Path]:
    """The files that a wheel is made of."""
    files = [ROOT / name for name in ("setup.py", "setup.cfg", "pyproject.toml", "MANIFEST.in")]
    kinds = (".py", ".pyx", ".pxd", ".pyi", ".h", ".html", ".css", ".js", ".cfg")
    folders = (ROOT / "spacy_nmparse", ROOT / "configs")
    return files + [p for one in folders for p in one.rglob("*") if p.suffix in kinds]


def tracked_files() -> list[str]:
    """The files under version control, from the root."""
    command = ["git", "ls-files"]
    return subprocess.run(
        command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.split()


def wheel_for(session: nox.Session) -> Path:
    """The wheel for the session's Python: built, through an sdist, unless it is newer than the
    sources."""
    folder = DIST / f"python{session.python}"
    newest = max(path.stat().st_mtime for path in sources())
    for wheel in folder.glob("*.whl"):
        if wheel.stat().st_mtime > newest:
            return wheel
    shutil.rmtree(folder, ignore_errors=True)
    session.install("build")
    session.run("python", "-m", "build", "--outdir", str(folder), str(ROOT))
    (wheel,) = folder.glob("*.whl")
    return wheel


def copy_files(folder: Path, names: Iterable[str]) -> None:
    """Copy files of the checkout to a folder, which they then have for themselves."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)


def build_copy(session: nox.Session, variables: Mapping[str, str]) -> None:
    """Build the extensions in another way, with variables that setup.py reads, in a copy of the
    checkout, and go there."""
    requirements = nox.project.load_toml(ROOT / "pyproject.toml")["build-system"]["requires"]
    session.install(f"{wheel_for(session)}[test]", *requirements)
    folder = Path(session.create_tmp()).resolve() / "checkout"
    copy_files(folder, tracked_files())
    session.chdir(folder)
    shutil.copytree(folder / "configs", folder / "spacy_nmparse" / "configs")
    session.env["PYTHONPATH"] = str(folder)
    session.run("python", "setup.py", "-q", "build_ext", "--inplace", env=variables)


def run_tests(session: nox.Session, *requirements: str, tests: Sequence[str] = ()) -> None:
    """Install the wheel with these requirements and test it, away from the sources."""
    wheel = wheel_for(session)
    session.install(f"{wheel}[test]", *requirements)
    session.env["PYTHONPATH"] = ""  # or it might lead to the sources
    session.run("python", "-m", "pip", "check")
    folder = Path(session.create_tmp()) / "tests"
    copy_files(
        folder,
        (name for name in tracked_files() if not name.startswith(("spacy_nmparse/", "configs/"))),
    )
    session.chdir(folder)
    session.run("python", "-m", "pip", "list")
    chosen = [*tests, *session.posargs]
    session.run("python", "-m", "pytest", *(chosen or ("-n", "auto")))
    if not chosen:
        session.run("python", "-m", "pytest", "-n", "auto", "-m", "slow")


def check_files(session: nox.Session) -> tuple[Path, Path]:
    """The sdist and the wheel for the session's Python: an sdist has the files under version
    control, the wheel those of the package (pyproject.toml says which)."""
    wheel = wheel_for(session)
    (sdist,) = wheel.parent.glob("*.tar.gz")
    session.install("check-sdist", "check-wheel-contents")
    session.run("check-sdist")
    session.run("check-wheel-contents", str(wheel))
    return sdist, wheel


@nox.session(python=PYTHONS)
def build(session: nox.Session) -> None:
    """Build sdist and wheel in isolation, install the wheel into an empty environment, use it."""
    _, wheel = check_files(session)
    empty = Path(session.create_tmp()).resolve() / "empty"
    session.run("python", "-m", "venv", "--clear", str(empty))
    (python,) = [*empty.glob("bin/python"), *empty.glob("Scripts/python.exe")]
    session.chdir(empty)
    for arguments in (
        ("-m", "pip", "install", str(wheel)),
        ("-m", "pip", "check"),
        ("-c", SMOKE),
        ("-m", "spacy", "nmparse", "oracle", "arc_eager", "2 0 2"),
    ):
        session.run(str(python), *arguments, external=True)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Test the wheel, with the newest packages that fit."""
    run_tests(session)


@nox.session(python="3.10")
def oldest(session: nox.Session) -> None:
    """Test the wheel with the oldest supported spaCy; `tests` has the newest."""
    run_tests(session, *OLDEST)


@nox.session(python="3.12")
def transformers(session: nox.Session) -> None:
    """Test the wheel with spacy-curated-transformers and PyTorch."""
    extra = f"{wheel_for(session)}[transformers]"
    run_tests(session, extra, tests=["tests/pipe/test_transformer.py", "tests/test_configs.py"])


@nox.session(python="3.12")
def serving(session: nox.Session) -> None:
    """Test the examples that need Ray and FastAPI."""
    run_tests(
        session, f"{wheel_for(session)}[ray]", "fastapi", "httpx", tests=["tests/test_examples.py"]
    )


@nox.session(python="3.12", default=False)
def coverage(session: nox.Session) -> None:
    """Which lines tests run, in Cython too; with arguments for pytest. It needs GCC."""
    build_copy(session, {"NMPARSE_COVERAGE": "1"})
    session.install("coverage", "gcovr")
    Path(".coveragerc").write_text(COVERAGE, encoding="utf-8")
    session.run("coverage", "run", "-m", "pytest", *session.posargs)
    session.run("coverage", "combine")
    session.run("coverage", "report")
    session.run(
        *("gcovr", "--filter", r"spacy_nmparse/.*\.(pyx|pxd|h)$", "--gcov-ignore-parse-errors=all"),
        *("--exclude-lines-by-pattern", NOT_RUN, "--txt-metric", "line"),
    )


@nox.session(python="3.12", default=False)
def sanitize(session: nox.Session) -> None:
    """Run Python with the given arguments on extensions with AddressSanitizer and
    UndefinedBehaviorSanitizer; a finding ends it. It needs Linux and GCC."""
    build_copy(session, {"NMPARSE_SANITIZE": "address,undefined"})
    libraries = [
        session.run("gcc", f"-print-file-name={name}.so", external=True, silent=True).strip()
        for name in ("libasan", "libubsan", "libstdc++")
    ]
    variables = {
        "LD_PRELOAD": " ".join(libraries),  # they must be loaded first
        "ASAN_OPTIONS": "detect_leaks=0:exitcode=66:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=67",
        "PYTHONMALLOC": "malloc",  # or else writing past the end of an object goes unseen
    }
    session.run("python", *session.posargs, env=variables)


@nox.session(python="3.12", default=False)
@nox.parametrize("variables", [nox.param(one, id=name) for name, one in MACHINES.items()])
def robust(session: nox.Session, variables: dict[str, str]) -> None:
    """Test the wheel as another machine would compute."""
    session.env.update(variables)
    run_tests(session)


@nox.session(python=PYTHONS)
def lint(session: nox.Session) -> None:
    """Style of Python and Cython."""
    session.install("ruff>=0.8", "cython-lint>=0.16")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("cython-lint", "spacy_nmparse", "tests")


def build_site(session: nox.Session) -> None:
    """The documentation site, in site/."""
    session.install(f"{wheel_for(session)}[docs]")
    session.run("mkdocs", "build", "--strict")


@nox.session(python="3.12")
def docs(session: nox.Session) -> None:
    """Build the documentation site."""
    build_site(session)


@nox.session(python="3.12", default=False)
def release(session: nox.Session) -> None:
    """Make and check what a release publishes: sdist, wheel, their page on PyPI, site, changelog;
    then install the wheel without the sources, and run the README's programs."""
    about: dict[str, str] = {}
    exec((ROOT / "spacy_nmparse" / "about.py").read_text(encoding="utf-8"), about)
    heading = rf"(?m)^## {re.escape(about['__version__'])} \(\d{{4}}-\d\d-\d\d\)$"
    if not re.search(heading, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")):
        session.error(f"CHANGELOG.md has no heading '## {about['__version__']} (YYYY-MM-DD)'.")
    sdist, wheel = check_files(session)
    session.install("twine")
    session.run("twine", "check", "--strict", str(sdist), str(wheel))
    build_site(session)
    run_tests(session, tests=["tests/test_readme.py", "tests/test_examples.py"])


@nox.session(python=PYTHONS)
def types(session: nox.Session) -> None:
    """Type hints, and the stubs of the Cython modules against the compiled modules."""
    wheel = wheel_for(session)
    session.install(f"{wheel}[lint]")
    session.run("mypy", f"--python-version={session.python}")
    stubs = (path.relative_to(ROOT) for path in (ROOT / "spacy_nmparse").rglob("*.pyi"))
    session.chdir(session.create_tmp())  # away from the sources: the installed modules
    session.run(
        *("python", "-m", "mypy.stubtest", "--ignore-disjoint-bases"),
        *(".".join(stub.with_suffix("").parts) for stub in stubs),
        *("--allowlist", str(ROOT / "tests" / "stubtest.txt")),
        *("--mypy-config-file", str(ROOT / "pyproject.toml")),
    )
