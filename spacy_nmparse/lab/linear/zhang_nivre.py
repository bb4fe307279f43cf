"""The feature templates of Zhang & Nivre (2011), *Transition-based dependency parsing with rich
non-local features*, Tables 1 and 2, in the names of ``templates``. Their N0 is B0 here, their S0h2
``S0.h.h``. And those that the draft *Improving Incremental Dependency Parsing with Repair
Transitions* adds to them.
"""

from __future__ import annotations

import re

#: Table 1, the baseline features: A and B are the two words in focus (their S0 and N0), C and D the
#: words behind B. (w and t are the word and its tag.)
BASELINE = """
    A.w*A.t A.w A.t B.w*B.t B.w B.t C.w*C.t C.w C.t D.w*D.t D.w D.t
    A.w*A.t*B.w*B.t A.w*A.t*B.w A.w*B.w*B.t A.w*A.t*B.t A.t*B.w*B.t A.w*B.w A.t*B.t B.t*C.t
    B.t*C.t*D.t A.t*B.t*C.t A.h.t*A.t*B.t A.t*A.l1.t*B.t A.t*A.r1.t*B.t A.t*B.t*B.l1.t
"""
#: Table 2: distance, valency, unigrams, third-order, label sets.
NEW = """
    A.w*A-B.distance A.t*A-B.distance B.w*A-B.distance B.t*A-B.distance
    A.w*B.w*A-B.distance A.t*B.t*A-B.distance
    A.w*A.n_right A.t*A.n_right A.w*A.n_left A.t*A.n_left B.w*B.n_left B.t*B.n_left
    A.h.w A.h.t A.label A.l1.w A.l1.t A.l1.label A.r1.w A.r1.t A.r1.label B.l1.w B.l1.t B.l1.label
    A.h.h.w A.h.h.t A.h.label A.l2.w A.l2.t A.l2.label A.r2.w A.r2.t A.r2.label
    B.l2.w B.l2.t B.l2.label
    A.t*A.l1.t*A.l2.t A.t*A.r1.t*A.r2.t A.t*A.h.t*A.h.h.t B.t*B.l1.t*B.l2.t
    A.w*A.right_labels A.t*A.right_labels A.w*A.left_labels A.t*A.left_labels
    B.w*B.left_labels B.t*B.left_labels
"""
#: Where B is on the stack, it has right dependents too.
RIGHT_OF_B = """
    A.t*B.t*B.r1.t B.w*B.n_right B.t*B.n_right B.r1.w B.r1.t B.r1.label B.r2.w B.r2.t B.r2.label
    B.t*B.r1.t*B.r2.t B.w*B.right_labels B.t*B.right_labels
"""


def _name(templates: str, words: str) -> list[str]:
    """Templates with the words that are meant by A, B, C and D."""
    names = dict(zip("ABCD", words.split(), strict=True)) | {"w": "word", "t": "tag"}
    parts = [
        "".join(names.get(part, part) for part in re.split(r"([.*-])", template))
        for template in templates.split()
    ]
    return list(dict.fromkeys(parts))


#: By the pair of words that arcs join. The templates of arc-eager are those of the paper.
TEMPLATES = {
    "S0-B0": _name(BASELINE + NEW, "S0 B0 B1 B2"),
    "S1-S0": [
        name
        for name in _name(BASELINE + NEW + RIGHT_OF_B, "S1 S0 B0 B1")
        if ".h" not in name and name != "S1.label"  # words there have no heads
    ],
    "I1-B0": _name(BASELINE + NEW, "I1 B0 B1 B2"),
}
#: The draft's table of additional features; dist is the distance of S0 and N0.
ADDITIONAL = _name(
    """
    S1.w S1.t S1.w*S1.t S1.w*B0.w S1.w*B0.t S1.t*B0.t S1.w*S0.w*B0.w S1.t*S0.t*B0.t
    S2.w*B0.w S2.w*B1.w S2.t*B0.t*B1.w S2.t*B0.w*B1.w S2.w*B0.t*B1.t S3.w*B0.w S3.t*S2.t*B0.w
    S0-B0.distance*S1.w*B1.w S0-B0.distance*S1.t*B0.t*B1.t
    """,
    "A B C D",
)
#: Lists of templates that have a name.
SETS = {"zhang_nivre": TEMPLATES["S0-B0"], "additional": ADDITIONAL}
