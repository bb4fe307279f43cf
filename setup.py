"""Compile the Cython modules, and name the packages; everything else is in setup.cfg."""

import os
import re
import sys
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

# Modules that cimport spaCy's Doc are C++, all others C.
CPP = (
    "spacy_nmparse.layers.word_types",
    "spacy_nmparse.pipe.doc_io",
    "spacy_nmparse.ud.lookup",
    "spacy_nmparse.ud.rows",
    "spacy_nmparse.ud.table",
    "spacy_nmparse.ud.table_docs",
)
MODULES = {
    name: "c++" if name in CPP else "c"
    for name in sorted(
        ".".join(path.with_suffix("").parts) for path in Path("spacy_nmparse").rglob("*.pyx")
    )
}

# What Cython needs for memoryviews, compiled once instead of into each module; Cython writes it.
SHARED = "spacy_nmparse.cython_shared"

DIRECTIVES = {
    "language_level": 3,
    "embedsignature": True,
    "embedsignature.format": "clinic",
    "binding": False,  # methods look at the class of ``self``, also as State.copy(other)
    "annotation_typing": False,
    "initializedcheck": False,
    "cdivision": True,
    "auto_pickle": False,  # __setstate__ would read a wrong state as if it were right
    # C code would read None as an object of its type: an argument that may be None says "or None".
    "allow_none_for_extension_args": False,
}

if sys.platform == "win32":
    C_ARGS, CPP_ARGS, PLAIN = ["/O2"], ["/O2", "/EHsc"], []
else:
    # Nobody catches floating-point exceptions or reads errno, and loops that may set neither can be
    # vectors.
    # Without debug information: a third of the time to compile, and most of a wheel's size.
    C_ARGS = ["-O3", "-g0", "-fno-trapping-math", "-fno-math-errno"]
    CPP_ARGS = [*C_ARGS, "-std=c++11"]
    PLAIN = ["-O1"]

# Only these are faster with -O3. With -O1 the others compile in half of the time.
FAST = (
    "layers",
    "scorers",
    "search",
    "learning",
    "systems.swap",
    "lab.beam",
    "lab.crossing",
    "lab.linear",
    "ud",
)

# GCC's sanitizers to build with, as `nox -s sanitize` does: "address,undefined".
SANITIZERS = os.environ.get("NMPARSE_SANITIZE", "")
LINK_ARGS = [f"-fsanitize={SANITIZERS}"] if SANITIZERS else []
if SANITIZERS:
    CHECKED = [*LINK_ARGS, "-fno-sanitize=vptr", "-fno-omit-frame-pointer", "-g1", "-O1"]
    C_ARGS, CPP_ARGS = [*C_ARGS, *CHECKED], [*CPP_ARGS, *CHECKED]

# Counters of the lines of .pyx files that are run, as `nox -s coverage` reads them (GCC).
COUNTED = bool(os.environ.get("NMPARSE_COVERAGE"))
if COUNTED:
    LINK_ARGS = [*LINK_ARGS, "--coverage"]
    C_ARGS, CPP_ARGS = [*C_ARGS, "--coverage", "-O1"], [*CPP_ARGS, "--coverage", "-O1"]

MACROS = [("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")]
HEADERS = [str(path) for path in Path("spacy_nmparse").rglob("*.h")]  # they include one another


def page() -> str:
    """The README as PyPI shows it. Files of the repository are not there: links to them become
    their texts, and pictures are left out."""
    text = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    text = re.sub(r"!\[[^]]*\]\((?!https:)[^)]*\)\n+", "", text)
    return re.sub(r"\[([^]]+)\]\((?!https:|#)[^)]*\)", r"\1", text)


def extension(name: str, language: str) -> Extension:
    source = str(Path(*name.split("."))) + ".pyx"
    fast = name.removeprefix("spacy_nmparse.").startswith(FAST)
    return Extension(
        name,
        [source],
        language=language,
        include_dirs=[numpy.get_include(), str(Path("spacy_nmparse", "layers"))],
        define_macros=MACROS,
        extra_compile_args=(CPP_ARGS if language == "c++" else C_ARGS) + PLAIN * (not fast),
        extra_link_args=LINK_ARGS,
    )


def end_lines(path: Path) -> None:
    """Let only what Cython writes for a line of a .pyx file count as that line: without an end of
    its ``#line``, the C after it would be its next lines."""
    before = path.read_text(encoding="utf-8")
    end, lines, ended = f'#line 1 "{path.name}"', [], True
    for line in before.split("\n"):
        if line.startswith("#line"):
            ended = line == end
        elif line.strip() and not ended and not lines[-1].startswith("#line"):
            lines.append(end)
            ended = True
        lines.append(line)
    after = "\n".join(lines)
    if after != before:
        path.write_text(after, encoding="utf-8")


class BuildExtensions(build_ext):
    """Translate to C when something is compiled, and not for an sdist or for metadata; on all
    cores."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def run(self) -> None:
        if self.force or not self.is_current():
            self.translate()
        super().run()

    def is_current(self) -> bool:
        """Whether all modules are compiled, none before one of the package's sources. Cython's own
        files do not count: pip may install them after it has compiled an editable install."""
        sources = (
            path for end in ("pyx", "pxd", "h") for path in Path("spacy_nmparse").rglob(f"*.{end}")
        )
        newest = max(path.stat().st_mtime for path in sources)
        made = [Path(self.get_ext_filename(ext.name)) for ext in self.extensions]
        return all(path.is_file() and path.stat().st_mtime >= newest for path in made)

    def translate(self) -> None:
        """Let Cython write the C files of what has changed."""
        translated = cythonize(
            self.extensions,
            compiler_directives=DIRECTIVES,
            force=self.force or None,
            nthreads=os.cpu_count() or 1,
            emit_linenums=COUNTED,
            shared_utility_qualified_name=SHARED,
        )
        for ext, done in zip(self.extensions, translated, strict=True):
            ext.sources = done.sources
            ext.depends = HEADERS if any(name.endswith(".h") for name in done.depends) else []
            if COUNTED:
                end_lines(Path(done.sources[0]))

    def build_extension(self, ext: Extension) -> None:
        """Take the file that is compiled already beside its sources, unless it is older."""
        made = Path(self.get_ext_filename(ext.name))
        target = Path(self.get_ext_fullpath(ext.name))
        sources = map(os.path.getmtime, [*ext.sources, *ext.depends])
        if self.force or not made.is_file() or max(sources) > made.stat().st_mtime:
            super().build_extension(ext)
        elif made.resolve() != target.resolve():
            self.mkpath(str(target.parent))
            self.copy_file(str(made), str(target))


# The guard is for cythonize: where processes are spawned, they import this file again.
if __name__ == "__main__":
    setup(
        long_description=page(),
        packages=[*find_packages(include=["spacy_nmparse*"]), "spacy_nmparse.configs"],
        ext_modules=[
            *(extension(name, language) for name, language in MODULES.items()),
            Extension(
                SHARED,
                [f"{SHARED.replace('.', '/')}.c"],
                extra_compile_args=C_ARGS,
                extra_link_args=LINK_ARGS,
            ),
        ],
        cmdclass={"build_ext": BuildExtensions},
    )
