"""Completion of the trees of systems that can end with several headless words.

The arcs that a sentence lacks are chosen by the scorer, among those that make no cycle: first the
root, if it has none, then the arc of the headless word that likes its best head most, until all
have one. An arc is as good as its score is above that of SHIFT, at the moment when the later of its
ends was the first word of the buffer; with a stack, when the other end was alone on it. Then there
is no score for arcs from ROOT either: the root is the word that likes its best head least.
"""
from libc.math cimport INFINITY, exp

from spacy_nmparse.search.common cimport NONE, CandidateC, fixed_label, probability_of
from spacy_nmparse.scorers.scorer cimport best_label
from spacy_nmparse.systems.state cimport is_above, n_items, state_add_arc


# The best of the options offered so far.
cdef struct ChoiceC:
    int best            # or NONE: none was offered
    float margin
    double total        # the sum of exp(margin) over that of the best; if wanted


cdef inline void offer(ChoiceC* choice, int option, float margin, bint wanted) noexcept nogil:
    """Ties: the first."""
    if choice.best == NONE or margin > choice.margin:
        if wanted:
            choice.total = 1 if choice.best == NONE else (
                1 + choice.total * exp(<double>choice.margin - margin)
            )
        choice.best = option
        choice.margin = margin
    elif wanted:
        choice.total += exp(<double>margin - choice.margin)


cdef enum:
    FAR = 100   # how many words away a head is looked for


cdef bint needs_completion(const SystemC* system) noexcept nogil:
    """Whether sentences can end with more headless words than they may."""
    return system.headless and system.single_root


cdef void attach(
    const SystemC* system, const ScorerC* scorer, ScratchC* scratch, CandidateC* arc, float chosen
) noexcept nogil:
    """Make the arc, labelled as the scorer likes best; chosen: its probability."""
    cdef StateC* s = &scratch.state
    cdef float share = 1
    cdef int label = fixed_label(system, s, arc)
    if label == NONE:
        if arc.head == s.n and not system.explicit_root:
            label = NONE  # unlabelled roots
        else:
            scorer.score_labels(scorer.self, s, arc, False, scratch.labels)
            label = best_label(scorer, scratch.labels)
            if scratch.sure.head is not NULL:
                share = probability_of(scratch.labels, system.n_labels, scorer.root_label, label)
    if scratch.sure.head is not NULL:
        scratch.sure.head[arc.dependent] = chosen
        scratch.sure.label[arc.dependent] = share
    state_add_arc(s, arc.head, arc.dependent, label)


cdef float score_margin(
    const SystemC* system, const ScorerC* scorer, const StateC* s, int head, int dependent
) noexcept nogil:
    """How far the arc's score is above that of SHIFT, j being the focus word."""
    cdef CandidateC pair[2]
    cdef float scores[2]
    pair[0].move = system.shift
    pair[0].k = 1
    pair[0].head = NONE
    pair[0].dependent = NONE
    pair[1].move = system.right_arc if dependent == s.b else system.left_arc
    pair[1].k = 1
    pair[1].head = head
    pair[1].dependent = dependent
    scorer.score(scorer.self, s, pair, 2, scores)
    return scores[1] - scores[0]


cdef inline void look_at(StateC* s, int a, int b) noexcept nogil:
    """Make the later word the first of the buffer, and the earlier one all that is on the stack; of
    a list system, all items before the later one lambda1."""
    s.b = max(a, b)
    if s.lists:
        s.n_lambda1 = n_items(s)
    else:
        s.stack[0] = min(a, b)
        s.n_stack = 1
        s.n_other = 0
        s.switched = 0


cdef void find_head(
    const SystemC* system, const ScorerC* scorer, ScratchC* scratch, int w, int end
) noexcept nogil:
    """Note the head that w likes best, among the words near it and the root, in s.entry[w]; how
    much, in scratch.values[w]; its probability, if wanted, in scratch.right[w]."""
    cdef StateC* s = &scratch.state
    cdef int first = max(s.start, w - FAR)
    cdef int last = min(end, w + FAR + 1)
    cdef int h
    cdef ChoiceC choice
    choice.best = NONE
    choice.total = 1
    for h in range(first, last):
        if h != w and not is_above(s, w, h):
            look_at(s, h, w)
            offer(&choice, h, score_margin(system, scorer, s, h, w), scratch.sure.head is not NULL)
    if choice.best == NONE:  # nothing near but its own descendants
        choice.best = s.root_child
        choice.margin = -INFINITY
    s.entry[w] = choice.best
    scratch.values[w] = choice.margin
    scratch.right[w] = <float>(1 / choice.total)


cdef float root_margin(
    const SystemC* system, const ScorerC* scorer, ScratchC* scratch, int w, int end
) noexcept nogil:
    """How good it is that w is the root."""
    if scratch.state.lists:
        look_at(&scratch.state, w, w)
        return score_margin(system, scorer, &scratch.state, scratch.state.n, w)
    find_head(system, scorer, scratch, w, end)
    return -scratch.values[w]


cdef void complete(
    const SystemC* system, const ScorerC* scorer, ScratchC* scratch
) noexcept nogil:
    """Give every headless word of the current sentence, which ends before j, a head."""
    cdef StateC* s = &scratch.state
    cdef int end = s.b
    cdef int n_lambda1 = s.n_lambda1
    cdef int bottom = s.stack[0]
    cdef int n_stack = s.n_stack
    cdef int n_other = s.n_other
    cdef int switched = s.switched
    cdef int headless = 0
    cdef int w, best
    cdef ChoiceC root
    cdef CandidateC arc
    for w in range(s.start, end):
        headless += s.head[w] == NONE
    if headless == 0:
        return
    arc.k = 1
    arc.move = system.right_arc
    if s.root_child < s.start or s.head[s.root_child] != s.n:
        root.best = NONE
        root.total = 1
        for w in range(s.start, end):
            if s.head[w] == NONE:
                offer(
                    &root, w,
                    0 if headless == 1 else root_margin(system, scorer, scratch, w, end),
                    scratch.sure.head is not NULL
                )
        arc.head = s.n
        arc.dependent = root.best
        if s.lists:
            look_at(s, root.best, root.best)
            score_margin(system, scorer, s, s.n, root.best)
        attach(system, scorer, scratch, &arc, <float>(1 / root.total))
        s.root_child = root.best
        headless -= 1
    for w in range(s.start, end):
        if s.head[w] == NONE:
            find_head(system, scorer, scratch, w, end)
    while headless:
        best = NONE
        for w in range(s.start, end):
            if s.head[w] == NONE and (best == NONE or scratch.values[w] > scratch.values[best]):
                best = w
        if is_above(s, best, s.entry[best]):  # an arc made meanwhile has put it below
            find_head(system, scorer, scratch, best, end)
            continue
        arc.head = s.entry[best]
        arc.dependent = best
        look_at(s, arc.head, best)
        arc.move = system.right_arc if best == s.b else system.left_arc
        score_margin(system, scorer, s, arc.head, best)
        attach(system, scorer, scratch, &arc, scratch.right[best])
        headless -= 1
    s.b = end
    s.n_lambda1 = n_lambda1
    s.stack[0] = bottom
    s.n_stack = n_stack
    s.n_other = n_other
    s.switched = switched
