"""The loss of arc-eager configurations with repair transitions or Unshift, by bounds and search.

Repairs reach words that have left the stack, but at a price: RIGHT-LOWER and RIGHT-RAISE give the
next word a head, LEFT-INVERT gives S0 one. Which of them can be had together no local formula
tells. So two bounds are computed (``bounds``), low and high, of which high can be reached.

Where they differ, derivations with a loss below ``high`` are searched for, depth first, cut where
``low`` is too high. The search ends at once where ``high`` falls to what is looked for, so it goes
no further than to the last repair. It gives up after ``max_search_states`` configurations: the
loss is then one that can be reached, if not the least.
"""
from libc.stdint cimport uint64_t
from libc.string cimport memset

from spacy_nmparse.lab.repairs.bounds cimport FAR, BoundsC, bounds_of
from spacy_nmparse.lab.repairs.options cimport RepairsC, revised, revised_word
from spacy_nmparse.lab.repairs.repair cimport LEFT_INVERT
from spacy_nmparse.lab.repairs.trial cimport TrialC, make, take_back
from spacy_nmparse.systems.errors cimport arc_error
from spacy_nmparse.systems.sentences cimport decided_starts
from spacy_nmparse.systems.state cimport NONE, UNKNOWN_LABEL, B
from spacy_nmparse.systems.table cimport (
    BREAK,
    LEFT_ARC,
    MAX_MOVES,
    REDUCE,
    RIGHT_ARC,
    SHIFT,
    MoveC,
    formula_costs,
    label_fits,
    legal_moves,
)

cdef enum:
    N_SEEN = 1 << 10    # configurations that a search remembers; a power of two


cdef struct SearchC:
    int target          # a loss of at most this is looked for
    int left            # configurations that may still be looked at
    int first           # where it succeeds: the first move that it made
    uint64_t seen[N_SEEN]


cdef struct FoundC:
    int loss
    int first           # a move that leads there, if one had to be searched for, or NONE


cdef inline bint may_invert(
    const StateC* s, const GoldC* gold, int name, int head, int dependent
) noexcept nogil:
    """Whether LEFT-INVERT may have to give the head of this arc the arc's label."""
    cdef const RepairsC* own = revised(s)
    cdef int g
    if not own.left_invert or head >= gold.n or (name != LEFT_ARC and name != LEFT_INVERT):
        return False
    g = gold.head[head]
    return g == dependent or (  # decoupled, it can be lowered or raised then
        own.decoupled_repairs and g != NONE and g < head and gold.head[dependent] != head
        and (own.right_lower or own.right_raise)
    )


cdef int right_label(
    const StateC* s, const GoldC* gold, int name, int head, int dependent
) noexcept nogil:
    """The one label that the arc may have to have: the dependent's own, or, as LEFT-INVERT of the
    head would give it that label, the head's; NONE: it has none, or may not take it."""
    cdef int label = gold.label[dependent]
    if may_invert(s, gold, name, head, dependent):
        label = gold.label[head]
    if label != NONE and not label_fits(s.system, head == s.n, label):
        return NONE
    return label


cdef inline bint label_matters(
    const StateC* s, const GoldC* gold, int name, int head, int dependent
) noexcept nogil:
    """Whether an arc of this move can be right, now or later, so that its label can."""
    cdef int g = gold.head[dependent]
    if name == LEFT_ARC or name == LEFT_INVERT:
        return g == head or may_invert(s, gold, name, head, dependent)
    return g != NONE and g < dependent


cdef uint64_t fingerprint(const StateC* s) noexcept nogil:
    """A number that tells configurations of the current sentence apart."""
    cdef uint64_t h = 14695981039346656037ULL
    cdef int w
    h = (h ^ <uint64_t>(s.b * 4 + s.root_last + 2 * (s.end < s.n))) * 1099511628211ULL
    for w in range(s.start, min(s.b + 1, s.n)):
        h = (h ^ <uint64_t>(s.head[w] + 2)) * 1099511628211ULL
        h = (h ^ <uint64_t>(s.label[w] + 3)) * 1099511628211ULL
        h = (h ^ <uint64_t>(s.position[w] + 2)) * 1099511628211ULL
        h = (h ^ <uint64_t>(s.push_label[w] + 3)) * 1099511628211ULL
        h ^= h >> 29
    h = (h ^ <uint64_t>(revised_word(s) + 2)) * 1099511628211ULL
    return (h ^ (h >> 29)) | 1


cdef bint seen_before(SearchC* search, uint64_t number) noexcept nogil:
    """Whether the configuration has been looked at; if not, remember it."""
    cdef int i
    cdef uint64_t place = number
    for i in range(8):
        place = (number + i) & (N_SEEN - 1)
        if search.seen[place] == number:
            return True
        if search.seen[place] == 0:
            search.seen[place] = number
            return False
    search.seen[number & (N_SEEN - 1)] = number
    return False


cdef inline int urgency(const StateC* s, int move) noexcept nogil:
    """The order in which moves are tried: first those by which words leave the stack."""
    cdef int name = s.system.moves[move].name
    if name == REDUCE or name == LEFT_ARC:
        return 2
    return 0 if name == SHIFT or name == RIGHT_ARC or name == BREAK else 1


cdef void make_right(const StateC* s, const GoldC* gold, int i, TrialC* trial) noexcept nogil:
    """Make the move with this place in the move table, with the label that may be right."""
    cdef const MoveC* move = &s.system.moves[i]
    cdef int dependent = move.dependent(s, 1)
    cdef int label = NONE
    cdef int note = NONE
    if dependent != NONE:
        label = right_label(s, gold, move.name, move.head(s, 1), dependent)
    if move.name == SHIFT and B(s, 0) < s.n:
        note = gold.label[B(s, 0)]
    make(s, i, label, note, trial)


cdef bint is_better(const StateC* s, const GoldC* gold, SearchC* search) noexcept nogil:
    """Whether a loss of at most ``target`` can be reached, as far as the search gets."""
    cdef TrialC trial
    cdef BoundsC bounds
    cdef int[MAX_MOVES] high
    cdef int i, best
    cdef bint found
    if is_complete(s):
        return False
    # First whether one move does it; then further, from the most promising ones on.
    for i in range(s.system.n_moves):
        high[i] = FAR
        if not s.system.moves[i].precondition(s, 1):
            continue
        make_right(s, gold, i, &trial)
        bounds = bounds_of(&trial.after, gold)
        take_back(s, &trial)
        if bounds.high <= search.target:
            search.first = i
            return True
        if bounds.low <= search.target:
            high[i] = bounds.high
    while True:
        best = 0
        for i in range(s.system.n_moves):
            if high[i] < high[best] or (high[i] == high[best] and urgency(s, i) > urgency(s, best)):
                best = i
        if high[best] == FAR or search.left <= 0:
            return False
        high[best] = FAR
        make_right(s, gold, best, &trial)
        found = False
        if not seen_before(search, fingerprint(&trial.after)):
            search.left -= 1
            found = is_better(&trial.after, gold, search)
        take_back(s, &trial)
        if found:
            search.first = best
            return True
    return False


cdef inline void begin(const StateC* s, SearchC* search, int target) noexcept nogil:
    search.target = target
    search.left = revised(s).max_search_states if revised(s).max_search_states else FAR
    search.first = NONE
    memset(search.seen, 0, sizeof(search.seen))


cdef int revised_loss(const StateC* s, const GoldC* gold) noexcept nogil:
    cdef int loss = decided_starts(s, gold)
    cdef int w
    for w in range(s.start):
        loss += arc_error(gold, s.head[w], w, s.label[w])
    return loss + loss_above(s, gold, 0).loss


cdef FoundC loss_above(const StateC* s, const GoldC* gold, int floor) noexcept nogil:
    """Errors in the current sentence and behind it, those already made there included, of which
    there are at least ``floor``."""
    cdef BoundsC bounds = bounds_of(s, gold)
    cdef SearchC search
    cdef FoundC found
    found.first = NONE
    bounds.low = max(bounds.low, floor)
    while bounds.low < bounds.high:
        begin(s, &search, bounds.high - 1)
        if not is_better(s, gold, &search):
            break
        found.first = search.first
        bounds.high -= 1
    found.loss = bounds.high
    return found


cdef bint is_within(const StateC* s, const GoldC* gold, int target) noexcept nogil:
    """Whether the loss is at most ``target``."""
    cdef BoundsC bounds = bounds_of(s, gold)
    cdef SearchC search
    if bounds.high <= target or bounds.low > target:
        return bounds.high <= target
    begin(s, &search, target)
    return is_better(s, gold, &search)


cdef int loss_behind(
    const StateC* s, const GoldC* gold, int move, int label, int push_label, int floor
) noexcept nogil:
    """The loss once the move with this place in the move table is made, at least ``floor``."""
    cdef TrialC trial
    cdef int loss
    make(s, move, label, push_label, &trial)
    loss = loss_above(&trial.after, gold, floor).loss
    take_back(s, &trial)
    return loss


cdef bint is_within_behind(
    const StateC* s, const GoldC* gold, int move, int label, int push_label, int target
) noexcept nogil:
    """Whether the loss is at most ``target`` once that move is made."""
    cdef TrialC trial
    cdef bint found
    make(s, move, label, push_label, &trial)
    found = is_within(&trial.after, gold, target)
    take_back(s, &trial)
    return found


cdef inline bint is_complete(const StateC* s) noexcept nogil:
    """Whether the sentence is: then SHIFT of ROOT alone is left."""
    return B(s, 0) == s.n and s.n_stack == 0


cdef int best_label(const StateC* s, const GoldC* gold, const CandidateC* c) noexcept nogil:
    """The one label with which the candidate's arc may cost less; UNKNOWN_LABEL: none; NONE: it
    makes no arc."""
    cdef int name = s.system.moves[c.move].name
    cdef int label = NONE
    if c.dependent == NONE:
        return NONE
    if label_matters(s, gold, name, c.head, c.dependent):
        label = right_label(s, gold, name, c.head, c.dependent)
    return UNKNOWN_LABEL if label == NONE else label


cdef int least_behind(const StateC* s, const GoldC* gold, int push_label, int floor) noexcept nogil:
    """The loss behind the best legal move, with its best label. ``floor``, from which it differs
    only where a search was cut short or gold arcs cross, ends the looking."""
    cdef CandidateC[MAX_MOVES] candidates
    cdef int least = FAR
    cdef int i, label
    for i in range(legal_moves(s, candidates)):
        label = best_label(s, gold, &candidates[i])
        least = min(least, loss_behind(s, gold, candidates[i].move, label, push_label, floor))
        if least == floor:
            break
    return least


cdef void all_costs(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """Fill cost, cost_other and label of each candidate."""
    cdef int i, label, loss
    cdef int least = FAR
    cdef CandidateC* c
    loss = loss_above(s, gold, 0).loss
    for i in range(n):
        c = &candidates[i]
        label = best_label(s, gold, c)
        c.cost = loss_behind(s, gold, c.move, label, push_label, loss)
        c.cost_other = c.cost
        if label >= 0:
            c.cost_other = loss_behind(s, gold, c.move, UNKNOWN_LABEL, push_label, loss)
            if c.cost != c.cost_other:
                c.label = label
        least = min(least, c.cost)
    if n == 1:  # of several legal moves, perhaps
        least = least_behind(s, gold, push_label, loss)
    for i in range(n):
        candidates[i].cost -= least
        candidates[i].cost_other -= least


cdef void least_costs(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """The same with 0 for what costs least and 1 for everything else: of most moves, one search for
    the least loss tells that, or none."""
    cdef FoundC best
    cdef int i, label
    cdef bint found = False
    cdef CandidateC* c
    best = loss_above(s, gold, 0)
    if best.first != NONE and s.system.moves[best.first].name == SHIFT and (
        push_label != gold.label[B(s, 0)]
    ):
        best.first = NONE  # the search noted the right label
    for i in range(n):
        c = &candidates[i]
        label = best_label(s, gold, c)
        c.cost = c.move != best.first and not is_within_behind(
            s, gold, c.move, label, push_label, best.loss
        )
        c.cost_other = c.cost
        if label >= 0 and c.cost == 0:
            c.cost_other = not is_within_behind(
                s, gold, c.move, UNKNOWN_LABEL, push_label, best.loss
            )
            if c.cost_other:
                c.label = label
        found = found or c.cost == 0
    if not found:
        all_costs(s, gold, push_label, candidates, n)


cdef void revised_costs(
    const StateC* s, const GoldC* gold, int push_label, bint exact, CandidateC* candidates, int n
) noexcept nogil:
    """The costs of arc-eager with repair transitions or Unshift; without, those of arc-eager."""
    if not searches(s):
        formula_costs(s, gold, push_label, candidates, n)
    elif exact and not is_complete(s):
        all_costs(s, gold, push_label, candidates, n)
    elif not is_complete(s):
        least_costs(s, gold, push_label, candidates, n)
