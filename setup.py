"""Compile the Cython modules; everything else about the package is in setup.cfg."""

import os
import sys
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# language: "c" for modules that know nothing of spaCy, "c++" for those that cimport its Doc.
MODULES = {
    "spacy_nmparse.systems.state": "c",
    "spacy_nmparse.systems.gold": "c",
    "spacy_nmparse.systems.system": "c",
    "spacy_nmparse.systems.hgj13": "c",
    "spacy_nmparse.systems.arc_eager": "c",
    "spacy_nmparse.systems.arc_eager_exact": "c",
    "spacy_nmparse.systems.repair": "c",
    "spacy_nmparse.systems.revision": "c",
    "spacy_nmparse.systems.trial": "c",
    "spacy_nmparse.systems.arc_standard": "c",
    "spacy_nmparse.systems.arc_swift": "c",
    "spacy_nmparse.systems.tabular": "c",
    "spacy_nmparse.systems.swap": "c",
    "spacy_nmparse.systems.swap_gold": "c",
    "spacy_nmparse.systems.swap_plan": "c",
    "spacy_nmparse.systems.covington": "c",
    "spacy_nmparse.systems.projective": "c",
    "spacy_nmparse.systems.walk": "c",
    "spacy_nmparse.layers.blas": "c",
    "spacy_nmparse.scorers.affixes": "c",
    "spacy_nmparse.scorers.features": "c",
    "spacy_nmparse.scorers.layer": "c",
    "spacy_nmparse.scorers.lstm": "c",
    "spacy_nmparse.scorers.ops_kernels": "c",
    "spacy_nmparse.scorers.scorer": "c",
    "spacy_nmparse.scorers.state_scorer_kernel": "c",
    "spacy_nmparse.scorers.arc_scorer_kernel": "c",
    "spacy_nmparse.scorers.tree_scores": "c",
    "spacy_nmparse.scorers.ensemble_kernel": "c",
    "spacy_nmparse.scorers.table_rows": "c",
    "spacy_nmparse.learning.search": "c",
    "spacy_nmparse.learning.complete": "c",
    "spacy_nmparse.learning.greedy": "c",
    "spacy_nmparse.learning.beam": "c",
    "spacy_nmparse.learning.rollout": "c",
    "spacy_nmparse.learning.beam_rollout": "c",
    "spacy_nmparse.pipe.doc_io": "c++",
    "spacy_nmparse.analysis.tracer": "c",
}

DIRECTIVES = {
    "language_level": 3,
    "embedsignature": True,
    "annotation_typing": False,
    "initializedcheck": False,
    "cdivision": True,
}

if sys.platform == "win32":
    C_ARGS, CPP_ARGS = ["/O2"], ["/O2", "/EHsc"]
else:
    C_ARGS, CPP_ARGS = ["-O3"], ["-O3", "-std=c++11"]

# GCC's sanitizers to build with, as tests/sanitize.py does: "address,undefined".
SANITIZERS = os.environ.get("NMPARSE_SANITIZE", "")
LINK_ARGS = [f"-fsanitize={SANITIZERS}"] if SANITIZERS else []
if SANITIZERS:
    CHECKED = [*LINK_ARGS, "-fno-sanitize=vptr", "-fno-omit-frame-pointer", "-g1", "-O1"]
    C_ARGS, CPP_ARGS = [*C_ARGS, *CHECKED], [*CPP_ARGS, *CHECKED]

# Plain loops instead of a copy for each instruction set (kernels.h), as tests/robust.py wants them.
MACROS = [("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")]
if os.environ.get("NMPARSE_PLAIN"):
    MACROS.append(("NMP_PLAIN", "1"))


def extension(name: str, language: str) -> Extension:
    source = str(Path(*name.split("."))) + ".pyx"
    return Extension(
        name,
        [source],
        language=language,
        include_dirs=[numpy.get_include(), str(Path("spacy_nmparse", "scorers"))],
        define_macros=MACROS,
        extra_compile_args=CPP_ARGS if language == "c++" else C_ARGS,
        extra_link_args=LINK_ARGS,
    )


class BuildExtensions(build_ext):
    """Translate to C when something is compiled, and not for an sdist or for metadata."""

    def run(self) -> None:
        translated = cythonize(
            self.extensions,
            compiler_directives=DIRECTIVES,
            force=self.force or None,
            nthreads=os.cpu_count() or 1,
        )
        for ext, done in zip(self.extensions, translated, strict=True):
            ext.sources = done.sources
        super().run()


# The guard is for cythonize: where processes are spawned, they import this file again.
if __name__ == "__main__":
    setup(
        ext_modules=[extension(name, language) for name, language in MODULES.items()],
        cmdclass={"build_ext": BuildExtensions},
    )
