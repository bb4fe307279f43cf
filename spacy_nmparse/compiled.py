"""Packages of compiled modules import this first: an error that says what to do if there are none.

Python run in a checkout imports the package from there, not from where it is installed. If it was
installed without ``-e``, nothing is compiled there.
"""

from importlib.util import find_spec
from pathlib import Path

if find_spec("spacy_nmparse.cython_shared") is None:
    folder = Path(__file__).resolve().parent
    raise ImportError(
        f"spacy-nmparse is not compiled in {folder}, from where Python imports it. Compile it "
        f"there with 'python -m pip install -e .' in {folder.parent}; or, if it is installed "
        f"elsewhere, run the command in another folder."
    )
