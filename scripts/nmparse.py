"""`python -m spacy nmparse` of the installed package, also in a checkout that is not compiled.

    python scripts/nmparse.py convert assets/UD_Gothic-PROIEL corpus/ud

Python puts the folder of a script before installed packages, but with `-m` the current one.
"""

from spacy_nmparse.cli import nmparse

if __name__ == "__main__":
    nmparse()
