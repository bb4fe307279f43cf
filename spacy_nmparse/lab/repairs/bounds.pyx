"""Bounds of the loss of arc-eager configurations with repair transitions or Unshift.

Both are computed in time linear in the sentence:

  * high: the loss without repairs (``arc_eager_exact``; below for Unshift). It can be reached.
  * low: high less the words that are lost without repairs, and that some repair might save, were
    it the only one of interest.

A repair might save
  * a word w on the stack with a head, if its gold head is the head of its head, or further up
    (RIGHT-RAISE), or the last dependent of its head before w, or that one's last, and so on
    (RIGHT-LOWER); if there are enough words to read, and one of them has its gold head elsewhere;
  * a word that was reduced, if RIGHT-LOWER can bring it back, and its gold dependents in the
    buffer;
  * S0, its leftmost dependent x, and gold dependents of x in the buffer (LEFT-INVERT). S0 then ends
    with the head x for certain: another head of S0 that is right is counted against it, and so is
    an arc from S0 to x.
With a non-monotonic REDUCE, a word that it has yet to attach can also come back: that is left out.

Decoupled repairs read no words, so many of them may follow one another. Every word counts that is
on the stack or might come back to it, if its gold head is in the buffer; or before it, and there
too, or might come back.

Unshift. Every word on the stack that has no head, but for the bottom, can go back to the buffer.
So a word w on the stack, or back in the buffer, can get its gold head g iff w has no head or
LEFT-ARC is non-monotonic, and g is in the buffer or will be: g is on the stack above w, without a
head; or w has no head, and g is anywhere below it. A word in the unread buffer can get its head if
that is anywhere but popped. With single_root, a gold root has to be without a head, or the bottom.
With a non-monotonic LEFT-ARC, all words that can, can together, and ``low`` is ``high``. Without, a
word that goes back is attached at once, and loses a head that is still to come: ``high`` counts one
for each word that has to choose between its head and its dependents on the stack.
"""
from spacy_nmparse.lab.repairs.options cimport has_repairs, revised
from spacy_nmparse.systems.arc_eager_exact cimport eager_inner, lost_if_popped
from spacy_nmparse.systems.arc_eager_options cimport eager
from spacy_nmparse.systems.errors cimport arc_error, label_ok
from spacy_nmparse.systems.gold cimport children_from, far_end
from spacy_nmparse.systems.sentences cimport errors_behind, may_end
from spacy_nmparse.systems.state cimport NONE, B, in_buffer
from spacy_nmparse.systems.views cimport ViewC, is_fresh, view


cdef enum:
    AHEAD = 8           # ends that are tried behind the first that no arc crosses


cdef inline bint is_popped(const StateC* s, int w) noexcept nogil:
    """Whether a word that has been read is neither on the stack nor back in the buffer."""
    return s.position[w] == NONE and (s.n_rebuffer == 0 or not in_buffer(s, w))


# What repairs might save.

cdef int words_to(const StateC* s, int w) noexcept nogil:
    """How many words must be read until RIGHT-LOWER has brought back w, at least; FAR: never."""
    cdef int p = s.head[w]
    cdef int o = s.outward[w]
    cdef int n = 0
    cdef bint followed = False
    if not revised(s).right_lower or p == NONE or p > w:
        return FAR
    while o != NONE:  # dependents of p behind w: they come back first
        if s.position[o] == NONE:
            n += 1
        else:
            followed = True
        o = s.outward[o]
    if s.position[p] != NONE:
        return n + (1 if followed else 2)
    return n + 1 + words_to(s, p)


cdef inline int lowered_to(const StateC* s, int w, int g) noexcept nogil:
    """How many RIGHT-LOWERs of w it takes until g is its head; FAR: never."""
    cdef int x = s.inward[w]
    cdef int n = 1
    while x != NONE and x <= g:
        if x == g:
            return n
        x = s.right_child[x]
        n += 1
    return FAR


cdef int revised_to(const StateC* s, int w, int g, bint lower_heads) noexcept nogil:
    """How many RIGHT-LOWERs or RIGHT-RAISEs it takes until g is the head of w, which has a head on
    its left; FAR: never. lower_heads: the words above may also be lowered."""
    cdef int a = w
    cdef int n = 0
    cdef int k
    while True:
        if revised(s).right_lower and (n == 0 or lower_heads):
            k = lowered_to(s, a, g)
            if k != FAR:
                return n + k
        if not revised(s).right_raise:
            return FAR
        a = s.head[a]
        if a == NONE or a == s.n or s.head[a] == NONE or s.head[a] > a:
            return FAR
        n += 1
        if s.head[a] == g:
            return n


cdef struct WordsC:     # of the buffer, up to the end of the sentence
    int n               # how many there are
    bint free           # one of them has its gold head not on the stack
    int highest         # highest place on the stack of a gold head of one of them


cdef WordsC look_ahead(const StateC* s, const GoldC* gold, int e) noexcept nogil:
    cdef WordsC words
    cdef int w, g
    words.n = e - s.b
    words.free = False
    words.highest = NONE
    for w in range(s.b, e):
        g = gold.head[w]
        if g == NONE or g == s.n or s.position[g] == NONE:
            words.free = True
        else:
            words.highest = max(words.highest, s.position[g])
    return words


cdef inline bint pays(
    const StateC* s, const GoldC* gold, const WordsC* words, int w, int e
) noexcept nogil:
    """Whether a word of the buffer might become a dependent of w, on the stack, for nothing."""
    if words.free or (revised(s).left_invert and words.highest > s.position[w]):
        return True
    return children_from(gold, w, s.b) > children_from(gold, w, e)


cdef inline bint may_come_up(const StateC* s, const WordsC* words, int h) noexcept nogil:
    """Whether h is or might be on the stack, now or later."""
    return h >= s.b or s.position[h] != NONE or words_to(s, h) <= words.n


cdef bint stack_word_saved(
    const StateC* s, const GoldC* gold, const WordsC* words, int w, int e
) noexcept nogil:
    """Whether a repair might give the stack word w its gold head."""
    cdef int g = gold.head[w]
    if revised(s).left_invert and s.left_child[w] == g and label_ok(gold, w, s.label[g]):
        return True
    if s.head[w] == NONE or g > w or not label_ok(gold, w, s.label[w]):
        return False
    return revised_to(s, w, g, False) <= words.n and pays(s, gold, words, w, e)


cdef bint popped_word_saved(
    const StateC* s, const GoldC* gold, const WordsC* words, int w, int e
) noexcept nogil:
    """Whether a repair might give w, which has left the stack with a head before it, its gold head.
    """
    cdef int g = gold.head[w]
    cdef int n = words_to(s, w)
    if n > words.n:
        return False
    if g == s.n:
        return not s.system.single_root
    if g > w:
        return s.b + n <= g < e
    if revised(s).left_invert and s.left_child[w] == g:
        return True
    return label_ok(gold, w, s.label[w]) and n + revised_to(s, w, g, True) <= words.n


cdef inline bint keeps_head(
    const StateC* s, const GoldC* gold, const ViewC* v, int h, int e
) noexcept nogil:
    """Whether h has its gold head, or gets it without repairs, for certain."""
    cdef int g = gold.head[h]
    if g == NONE or (g == s.n and s.system.single_root):
        return False
    if s.position[h] != NONE:
        return not lost_if_popped(s, gold, v, s.position[h], e)
    if h >= s.b:
        return s.b <= g < e or g == s.n or s.position[g] != NONE
    return s.head[h] == g and label_ok(gold, h, s.label[h])


cdef inline int last_before(const GoldC* gold, int w, int e) noexcept nogil:
    """The last gold dependent of w before e, or NONE."""
    cdef int n = children_from(gold, w, e)
    cdef int end = gold.child_offset[w + 1] - n
    return gold.children[end - 1] if end > gold.child_offset[w] else NONE


cdef int inverted_saved(
    const StateC* s, const GoldC* gold, const ViewC* v, const WordsC* words, int w, int e
) noexcept nogil:
    """Words that LEFT-INVERT of the head of w, h, might save, w having left the stack: w itself and
    its gold dependents in the buffer. Less what that costs for certain: h gets the head w, and w
    another one than h."""
    cdef int g = gold.head[w]
    cdef int h = s.head[w]
    cdef int n, last, below
    cdef bint by_root   # ROOT may be the one that takes w, when only one word is left on the stack
    if not revised(s).left_invert or h == s.n or s.left_child[h] != w:
        return 0
    if not may_come_up(s, words, h):
        return 0
    by_root = not s.system.single_root or s.position[h] == 0 or (h == s.b and s.n_stack == 0)
    n = children_from(gold, w, s.b) - children_from(gold, w, e)
    if n > 0 and not by_root and words.n < FAR - 1:
        # The last one gets its head when a word behind takes w: not one that is below it.
        last = last_before(gold, w, e)
        while True:
            below = last_before(gold, last, e)
            if below <= last:
                break
            last = below
        n -= last == e - 1
    if g == s.n:
        n += by_root
        if by_root and s.system.single_root and not eager(s).nonmonotonic_reduce:
            return n  # h may stay on the stack to the end, see ``eager_inner``
    elif g == h:
        n -= label_ok(gold, w, s.label[w])
    elif g > h and g >= s.b:
        n += g < e
    if gold.head[h] != w:
        n -= keeps_head(s, gold, v, h, e)
    return max(n, 0)


cdef bint may_return(const StateC* s, int w, int n) noexcept nogil:
    """Whether w, which has been read, is on the stack, or decoupled repairs might bring it back
    while one of the first n words of the buffer is at its front."""
    cdef int h
    while s.position[w] == NONE and w < s.b:
        h = s.head[w]
        if h == NONE or h == s.n:
            return False
        if h > w:
            if not revised(s).left_invert:
                return False
            if s.left_child[h] != w and not revised(s).right_lower:
                return False
        elif not revised(s).right_lower or n < 1:
            return False
        elif n < 2 and s.position[h] != NONE and s.position[s.right_child[h]] == NONE:
            return False
        w = h
    return True


cdef int n_revised(
    const StateC* s, const GoldC* gold, const ViewC* v, int e, bint longer
) noexcept nogil:
    """As ``n_saved``, with decoupled repairs."""
    cdef bint kept = s.system.single_root and not eager(s).nonmonotonic_reduce
    # The word behind the sentence is at the front until BREAK.
    cdef int n = FAR if longer else e - s.b + (e < s.end)
    cdef int found = 0
    cdef int w, g
    for w in range(s.start, s.b):
        g = gold.head[w]
        if g == NONE or w < g < s.b or (g != s.n and g >= e and not longer):
            continue
        if s.head[w] == g and label_ok(gold, w, s.label[w]):
            continue
        if s.position[w] != NONE and not kept and not lost_if_popped(s, gold, v, s.position[w], e):
            continue
        found += may_return(s, w, n) and (g >= s.b or may_return(s, g, n))
    for w in range(s.b, e):
        g = gold.head[w]
        if g != NONE and s.start <= g < s.b and s.position[g] == NONE:
            found += may_return(s, g, n)
    return found


cdef int n_saved(
    const StateC* s, const GoldC* gold, const ViewC* v, int e, bint longer
) noexcept nogil:
    """Words that are lost without repairs, when the sentence ends before e, and that repairs might
    save; longer: if it went on."""
    if revised(s).decoupled_repairs:
        return n_revised(s, gold, v, e, longer)
    cdef WordsC words = look_ahead(s, gold, e)
    # What is lost then depends on more, see ``eager_inner``: count all that repairs might save.
    cdef bint kept = s.system.single_root and not eager(s).nonmonotonic_reduce
    cdef int n = 0
    cdef int w, g
    words.free = words.free or kept or longer
    if longer:
        words.n = FAR - 1
    for w in range(s.start, s.b):
        g = gold.head[w]
        if s.position[w] == NONE and s.head[w] > w:
            n += inverted_saved(s, gold, v, &words, w, e)
            continue
        if g == NONE or s.head[w] == g:
            continue
        if s.position[w] == NONE:
            n += popped_word_saved(s, gold, &words, w, e)
        elif kept or lost_if_popped(s, gold, v, s.position[w], e):
            n += stack_word_saved(s, gold, &words, w, e)
    for w in range(s.b, e):
        g = gold.head[w]
        if g != NONE and s.start <= g < s.b and s.position[g] == NONE and s.head[g] < g:
            n += words.n >= 2 and words_to(s, g) <= words.n
    return n


# Unshift.

cdef inline bint has_left(const StateC* s, const GoldC* gold, int w) noexcept nogil:
    """Whether w has gold dependents before it that are on the stack or back in the buffer, without
    a head."""
    cdef int i, child
    for i in range(gold.child_offset[w], gold.child_offset[w + 1]):
        child = gold.children[i]
        if child >= w:
            return False
        if s.head[child] == NONE and not is_popped(s, child):
            return True
    return False


cdef inline BoundsC from_to(int low, int high) noexcept nogil:
    cdef BoundsC bounds
    bounds.low = low
    bounds.high = high
    return bounds


cdef BoundsC unshifted(const StateC* s, const GoldC* gold, int e) noexcept nogil:
    """Words on the stack and in the buffer up to e that lose their gold head when the sentence ends
    before e."""
    cdef int n = s.n
    cdef int sure = 0       # words that are lost for certain
    cdef int choices = 0    # words that may have to choose
    cdef int roots = 0
    cdef int i, w, g
    cdef bint headless, back, lost
    for w in range(s.b, e):
        g = gold.head[w]
        if g == n:
            roots += 1
        else:
            sure += g != NONE and (g >= e or (g < s.b and is_popped(s, g)))
    for i in range(s.n_stack + s.n_rebuffer):
        back = i >= s.n_stack
        w = s.rebuffer[i - s.n_stack] if back else s.stack[i]
        g = gold.head[w]
        headless = s.head[w] == NONE
        if g == NONE:
            continue
        if not headless and (g == s.head[w] or not s.system.nonmonotonic):
            sure += arc_error(gold, s.head[w], w, s.label[w])
            continue
        if g == n:
            lost = s.system.single_root and not headless
        elif g >= s.b:
            lost = g >= e
        elif is_popped(s, g):
            lost = True
        elif g > w:  # on the stack above, or back
            lost = s.position[g] != NONE and (s.head[g] != NONE or not revised(s).unshift)
        else:
            lost = not back and (not headless or not revised(s).unshift)
        if lost:
            sure += 1
            continue
        roots += g == n
        if not s.system.nonmonotonic and g > w:
            choices += back or (
                i > 0 and ((g == n and s.system.single_root) or has_left(s, gold, w))
            )
    if s.system.single_root:
        sure += max(0, roots - 1)
    return from_to(sure, sure + choices)


# Bounds of a whole configuration.

cdef BoundsC still_lost(const StateC* s, const GoldC* gold, const ViewC* v, int e) noexcept nogil:
    """Words on the stack and in the buffer up to e that lose their gold head, when the sentence
    ends before e, less those that have left the stack and might still get it."""
    cdef BoundsC bounds
    cdef int lost
    if revised(s).unshift or s.n_rebuffer > 0:
        bounds = unshifted(s, gold, e)
    else:
        lost = eager_inner(s, gold, v, e)
        bounds = from_to(lost, lost)
    if has_repairs(s):
        bounds.low -= n_saved(s, gold, v, e, False)
    return bounds


cdef BoundsC bounds_of(const StateC* s, const GoldC* gold) noexcept nogil:
    """Bounds of the errors in the current sentence and behind it."""
    cdef BoundsC bounds, here
    cdef ViewC v = view(s)
    cdef int n = s.n
    cdef int done = 0       # errors already made in the sentence
    cdef int missed = 0
    cdef int far = NONE
    cdef int past = AHEAD
    cdef int w, e, more
    for w in range(s.start, s.b):
        if is_popped(s, w):
            done += arc_error(gold, s.head[w], w, s.label[w])
        if s.system.segment and w > s.start:
            done += gold.sent_start[w] == 1
    if B(s, 0) == NONE:
        return from_to(done, done)
    if not s.system.segment or v.closed:
        here = still_lost(s, gold, &v, s.end)
        if v.closed:
            done += (gold.sent_start[s.end] == 0) + errors_behind(s, gold, s.end)
        return from_to(here.low + done, here.high + done)
    # far: the last buffer word that has an arc, perhaps still to be had, with a word before e.
    for w in range(s.start, s.b):
        far = max(far, far_end(gold, w))
    bounds = from_to(FAR, FAR)
    for e in range(s.b, n + 1):
        if e == n or (may_end(s, gold, e) and not (e == s.b and v.has_left)):
            here = still_lost(s, gold, &v, e)
            more = done + missed + (errors_behind(s, gold, e) if e < n else 0)
            bounds.low = min(bounds.low, here.low + more)
            bounds.high = min(bounds.high, here.high + more)
            if e == n or gold.sent_start[e] == 1 or far < e:
                # A longer sentence could give repairs more words to work with.
                if e == n or past == 0 or not has_repairs(s) or here.low <= (
                    here.high + (gold.sent_start[e] == 1)
                    - n_saved(s, gold, &v, e, True)
                ):
                    break
                past -= 1
        missed += gold.sent_start[e] == 1 and not (e == s.b and is_fresh(s, &v))
        far = max(far, far_end(gold, e))
    return bounds
