"""Completion of the trees of systems that can end with several headless words.

The scorer chooses the arcs that a sentence lacks, among those that make no cycle. First it chooses
the root, if there is none; then, again and again, the headless word that likes its best head most
gets it. A word likes a head by the arc's score less that of SHIFT, in the configuration in which
the later end of the arc was the first word of the buffer (``SystemC.focus``). Where ROOT is an item
in reach, as in list systems, it is scored as a head; elsewhere the root is the word that likes its
best head least.
"""
from libc.math cimport INFINITY, exp

from spacy_nmparse.scorers.label_rules cimport heed_rules
from spacy_nmparse.search.choice cimport (
    ARC_LABEL,
    NONE,
    ChoiceC,
    begin_choice,
    choose_label,
)
from spacy_nmparse.systems.candidates cimport allowed_labels
from spacy_nmparse.systems.state cimport StateC, is_above, root_child, state_add_arc
from spacy_nmparse.systems.structs cimport LEARN_ANY, CandidateC


# The best of the options offered so far.
cdef struct BestC:
    int best            # or NONE: none was offered
    float margin
    double total        # the sum of exp(margin) over that of the best; if wanted


cdef inline void offer(BestC* found, int option, float margin, bint wanted) noexcept nogil:
    """Ties: the first."""
    if found.best == NONE or margin > found.margin:
        if wanted:
            found.total = 1 if found.best == NONE else (
                1 + found.total * exp(<double>found.margin - margin)
            )
        found.best = option
        found.margin = margin
    elif wanted:
        found.total += exp(<double>margin - found.margin)


cdef enum:
    FAR = 100   # how many words away a head is looked for


cdef void attach(SearchC* search, int head, int dependent, float chosen) noexcept nogil:
    """Make an arc, labelled as the scorer likes best; chosen: its probability."""
    cdef StateC* s = search.s
    cdef ChoiceC choice
    cdef CandidateC arc
    cdef int kind
    arc.k = 1
    arc.learn = LEARN_ANY
    arc.move = search.right_arc if head == s.n or dependent == s.b else search.left_arc
    arc.head = head
    arc.dependent = dependent
    kind = begin_choice(search, &arc, &choice)
    if kind == ARC_LABEL and (head != s.n or search.system.explicit_root):
        choose_label(search, &choice, kind)  # the labels of other roots are no choice
    if search.confidence.head is not NULL:
        search.confidence.head[dependent] = chosen
        search.confidence.label[dependent] = choice.label_p
    state_add_arc(s, head, dependent, choice.label)


cdef float score_margin(const SearchC* search, int head, int dependent) noexcept nogil:
    """How far the arc's score is above that of SHIFT, j being the focus word."""
    cdef const StateC* s = search.s
    cdef CandidateC pair[2]
    cdef float scores[2]
    pair[0].move = search.shift
    pair[0].k = 1
    pair[0].head = NONE
    pair[0].dependent = NONE
    pair[1].move = search.right_arc if dependent == s.b else search.left_arc
    pair[1].k = 1
    pair[1].head = head
    pair[1].dependent = dependent
    search.scorer.score(search.scorer.self, s, pair, 2, scores)
    return scores[1] - scores[0]


cdef bint is_allowed(SearchC* search, int head, int dependent) noexcept nogil:
    """Whether the rules leave the arc a label."""
    cdef CandidateC arc
    if search.scorer.rules is NULL:
        return True
    arc.head = head
    arc.dependent = dependent
    allowed_labels(search.s, &arc, search.mask)
    return heed_rules(search.scorer.rules, search.s, &arc, search.mask) > 0


cdef void find_head(SearchC* search, int w, int end) noexcept nogil:
    """Find the head that w likes best, among the words near it and the root: search.heads[w] is
    that head, search.values[w] how much w likes it, search.shares[w] its probability, if wanted."""
    cdef StateC* s = search.s
    cdef bint wanted = search.confidence.head is not NULL
    cdef int h
    cdef BestC head
    head.best = NONE
    head.total = 1
    for h in range(max(s.start, w - FAR), min(end, w + FAR + 1)):
        if h != w and not is_above(s, w, h) and is_allowed(search, h, w):
            s.system.focus(s, h, w)
            offer(&head, h, score_margin(search, h, w), wanted)
    if head.best == NONE:  # nothing near that may be its head
        head.best = root_child(s)
        head.margin = -INFINITY
    search.heads[w] = head.best
    search.values[w] = head.margin
    search.shares[w] = <float>(1 / head.total)


cdef float root_margin(SearchC* search, int w, int end) noexcept nogil:
    """How good it is that w is the root. Where items are in reach, so is ROOT."""
    if search.system.item is not NULL:
        search.system.focus(search.s, w, w)
        return score_margin(search, search.s.n, w)
    find_head(search, w, end)
    return -search.values[w]


cdef void attach_root(SearchC* search, int end, bint only_one) noexcept nogil:
    """Choose the root among the headless words, a given one first; only_one: there is one, not to
    be scored."""
    cdef StateC* s = search.s
    cdef int w
    cdef float margin
    cdef BestC root
    root.best = NONE
    root.total = 1
    for w in range(s.start, end):
        if s.head[w] == NONE:
            if search.given is not NULL and search.given.head[w] == s.n:
                root.best = w
                root.total = 1
                break
            margin = 0 if only_one else root_margin(search, w, end)
            offer(&root, w, margin, search.confidence.head is not NULL)
    if s.system.item is not NULL:
        s.system.focus(s, root.best, root.best)
        score_margin(search, s.n, root.best)
    attach(search, s.n, root.best, <float>(1 / root.total))


cdef bint attach_next(SearchC* search, int end) noexcept nogil:
    """Attach the headless word that likes its best head most. False: all words have heads."""
    cdef StateC* s = search.s
    cdef int w
    cdef int best = NONE
    cdef int head
    for w in range(s.start, end):
        if s.head[w] == NONE and (best == NONE or search.values[w] > search.values[best]):
            best = w
    if best == NONE:
        return False
    head = search.heads[best]
    if is_above(s, best, head) or (  # an arc made meanwhile has put it below
        head != root_child(s) and not is_allowed(search, head, best)
    ):
        find_head(search, best, end)
        return True
    s.system.focus(s, head, best)
    score_margin(search, head, best)
    attach(search, head, best, search.shares[best])
    return True


cdef void complete(SearchC* search) noexcept nogil:
    """Give every headless word of the current sentence, which ends before j, a head, where the
    search completes trees."""
    cdef StateC* s = search.s
    cdef StateC before = s[0]
    cdef int bottom = s.stack[0]
    cdef int end = s.b
    cdef int headless = 0
    cdef int w
    if search.completes:
        for w in range(s.start, end):
            headless += s.head[w] == NONE
    if headless == 0:
        return
    if root_child(s) == NONE:
        attach_root(search, end, headless == 1)
    for w in range(s.start, end):
        if s.head[w] == NONE:
            find_head(search, w, end)
    while attach_next(search, end):
        pass
    # Take back what ``focus`` has set.
    s.b = before.b
    s.n_stack = before.n_stack
    s.numbers = before.numbers
    s.stack[0] = bottom
