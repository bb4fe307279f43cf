"""Which labels a search may not give, whatever the scorer likes.

Searches alone heed the rules: gold trees break them, so costs, oracles and rollouts do not. Where a
move has no other label, or a configuration no other move, the rules give way.
"""
import numpy

from libc.string cimport memset

from spacy_nmparse.systems.state cimport NONE


cdef inline void forbid_given(
    const LabelRulesC* rules, const StateC* s, int child, int dependent, uint8_t* mask
) noexcept nogil:
    """Forbid the unique labels of a child and its siblings further in."""
    while child != NONE:
        if child != dependent and s.label[child] != NONE and rules.unique[s.label[child]]:
            mask[s.label[child]] = 0
        child = s.inward[child]


cdef int heed_rules(
    const LabelRulesC* rules, const StateC* s, const CandidateC* c, uint8_t* mask
) noexcept nogil:
    """Set to 0 what the rules forbid the arc of a move. Returns how many labels are left."""
    cdef int label
    cdef int n = 0
    if c.dependent != NONE and c.head != s.n:
        if s.label[c.head] != NONE and rules.childless[s.label[c.head]]:
            memset(mask, 0, rules.n_labels)
            return 0
        forbid_given(rules, s, s.left_child[c.head], c.dependent, mask)
        forbid_given(rules, s, s.right_child[c.head], c.dependent, mask)
    for label in range(rules.n_labels):
        if (
            rules.childless[label] and c.dependent != NONE
            and (s.left_child[c.dependent] != NONE or s.right_child[c.dependent] != NONE)
        ):
            mask[label] = 0
        n += mask[label]
    return n


cdef class LabelRules:
    """The rules.

    Args:
        names: the system's labels, in order.
        unique: labels that a word has on one dependent at most.
        childless: labels whose words have no dependents.
    """
    def __init__(self, names, unique, childless):
        cdef const uint8_t[:, ::1] flags
        self.arrays = numpy.asarray(
            [[name in labels for name in names] for labels in (unique, childless)], dtype="uint8"
        )
        flags = self.arrays
        self.c.n_labels = len(names)
        self.c.unique = &flags[0, 0]
        self.c.childless = &flags[1, 0]
