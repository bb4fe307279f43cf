"""The loss of arc-eager configurations with LEFT-YIELD, the move of ``repair``.

On a projective gold tree, a word w with gold head g that L+D would lose can still get it iff
w is a left dependent of B0, or on the stack, and g is beneath it there: LEFT-ARC pops w, if it has
to, and once what is above g has been popped, LEFT-YIELD attaches w. A word of the stack can do so
only while a word is at the front. So all above it must leave the stack before ROOT is at the front,
or before BREAK, which loses the arc from ROOT to one of them, and, where gold descendants of one of
them go on to the end of the text, one more arc. The loss is the least over the stack items from
which on all leave before. A word behind the end of the sentence serves too: it yields all of its
dependents before BREAK, as long as the stack is not empty.
"""
from spacy_nmparse.systems.arc_eager_exact cimport inner, lost_if_popped
from spacy_nmparse.systems.moves cimport arc_error, can_be_right
from spacy_nmparse.systems.sentences cimport errors_behind
from spacy_nmparse.systems.state cimport NONE, B
from spacy_nmparse.systems.views cimport height, is_fresh, stack_item


cdef inline bint on_stack(const StateC* s, int w) noexcept nogil:
    return 0 <= w < s.n and s.position[w] != NONE


cdef inline bint can_get(const StateC* s, const GoldC* gold, int w) noexcept nogil:
    """Whether the gold head of w is on the stack, beneath it if w is on it, so that LEFT-YIELD can
    attach w."""
    cdef int g = gold.head[w]
    return g < w and on_stack(s, g) and can_be_right(s.system, gold, w)


cdef int anchor(const StateC* s, const GoldC* gold, int e) noexcept nogil:
    """The place of the stack word that has gold descendants up to e, the topmost one, or NONE."""
    cdef int w = e - 1
    while s.b <= w < e:
        w = gold.head[w]
    return s.position[w] if on_stack(s, w) else NONE


cdef int yielded_lost(const StateC* s, const GoldC* gold, const ViewC* v, int e) noexcept nogil:
    """Words on the stack and from b to e that lose their gold head when the sentence ends at e."""
    cdef int lost = inner(s, gold, v, e)
    # Whether the word behind the sentence is at the front before its end.
    cdef bint behind = e < s.n and s.constraint[e] != 1
    cdef int needed = NONE if behind else anchor(s, gold, e)
    cdef int gain = 0       # words that can yield from the item in hand on, less what that costs
    cdef int best = 0
    cdef int i, w
    if v.closed or (e == v.b and not behind):
        return lost
    for i in range(height(v) - 1, 0, -1):
        w = stack_item(s, v, i)
        if lost_if_popped(s, gold, v, i, e):
            gain += can_get(s, gold, w)
        elif gold.head[w] == s.n:
            gain -= 1
        gain -= i == needed
        best = max(best, gain)
    return lost - best


cdef int n_yielded(const StateC* s, const GoldC* gold, bint right) noexcept nogil:
    """Left dependents of B0 that are right; or, not right, those that LEFT-YIELD can still mend."""
    cdef int b0 = B(s, 0)
    cdef int w = NONE if b0 == s.n else s.left_child[b0]
    cdef int found = 0
    while w != NONE:
        if arc_error(gold, b0, w, s.label[w]):
            found += not right and can_get(s, gold, w)
        else:
            found += right and gold.head[w] != NONE
        w = s.inward[w]
    return found


cdef int yielded_rest(const StateC* s, const GoldC* gold, const ViewC* v) noexcept nogil:
    """Errors to come in the current sentence, where it may end in several places, and behind it."""
    cdef int kept = n_yielded(s, gold, True)
    cdef int missed = 0
    cdef int least = NONE
    cdef int e, loss
    for e in range(s.b, s.n + 1):
        if e == s.n or (
            e > s.start and s.constraint[e] != -1
            and not (e == s.b and v.has_left and s.n_stack == 0)
        ):
            loss = missed + yielded_lost(s, gold, v, e)
            if e < s.n:
                loss += (gold.sent_start[e] == 0) + errors_behind(s, gold, e)
                loss += kept if e == s.b else 0
            least = loss if least == NONE else min(least, loss)
        if e == s.n or (e > s.start and s.constraint[e] == 1):
            break
        missed += gold.sent_start[e] == 1 and not (e == s.b and is_fresh(s, v))
    return least
