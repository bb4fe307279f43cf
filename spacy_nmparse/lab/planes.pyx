# Nothing of this module can be imported from Python; see planes.pxd.
"""Planes: which gold arcs cross, and how many must be given up so that two planes hold the rest.

Each arc is named by its dependent. Two arcs that cross cannot be in one plane. Some arcs are open
in both planes, some in one only. The arcs that are left must be free of *conflicts*. A conflict is

  * a path of arcs, each crossing the next, between two arcs that are open in one plane each, where
    taking planes by turns does not lead from the one to the other;
  * a ring of an odd number of arcs, each crossing the next; or
  * a cycle of heads: its arcs, other than those that are built.

Without a conflict the planes are found so: go from arc to arc, beginning where there is no choice.
So the fewest arcs to give up are the fewest that hit every conflict. Of each conflict one arc goes;
which one is tried out. Conflicts without a common arc each cost one arc: this bound ends most
searches at once.
"""
from spacy_nmparse.systems.gold cimport new_tables
from spacy_nmparse.systems.state cimport NONE


cdef enum:
    N_ARRAYS = 10
    BOTH = 3            # planes
    MAX_STEPS = 20000   # crossings that one search looks at; what it returns then may be too low


cdef int derive_planes(GoldC* gold, const SystemC* system) except -1:
    """Give the gold tree the tables of PlanesC, if it has none."""
    cdef int n = gold.n
    cdef PlanesC* p
    cdef int* ints
    cdef int* plane
    cdef int w, i
    if planar_tables(gold) != NULL:
        return 0
    p = <PlanesC*>new_tables(
        gold, <const void*>derive_planes, sizeof(PlanesC) + N_ARRAYS * <size_t>n * sizeof(int)
    )
    ints = <int*>(p + 1)
    plane = ints
    p.plane = plane
    p.open = ints + n
    p.cycle = ints + 2 * n
    p.colour = ints + 3 * n
    p.parent = ints + 4 * n
    p.queue = ints + 5 * n
    p.near_ = ints + 6 * n
    p.found = ints + 7 * n
    p.dropped = ints + 8 * n
    p.kept = ints + 9 * n
    for w in range(n):
        p.open[w] = BOTH if 0 <= gold.head[w] < n else 0
    for w in range(n):
        if plane[w] == 0 and p.open[w] and crossed_by(gold, w, 0, n) > 0:
            p.crossing = True
            plane[w] = 1
            fill_planes(gold, plane, w)
    for w in range(n):
        if plane[w]:
            for i in range(crossed_by(gold, w, 0, n)):
                p.beyond = p.beyond or plane[p.near_[i]] == plane[w]
    return 0


cdef void fill_planes(const GoldC* gold, int* plane, int first) noexcept nogil:
    """Planes by turns, from an arc that has one to all that it crosses, and on from these."""
    cdef PlanesC* p = planar_tables(gold)
    cdef int done = 0
    cdef int end = 1
    cdef int i, w, x
    p.queue[0] = first
    while done < end:
        w = p.queue[done]
        done += 1
        for i in range(crossed_by(gold, w, 0, gold.n)):
            x = p.near_[i]
            if plane[x] == 0:
                plane[x] = BOTH - plane[w]
                p.queue[end] = x
                end += 1


cdef int crossed_by(const GoldC* gold, int w, int first, int last) noexcept nogil:
    """List the open arcs among the words first .. last - 1 that the arc into w crosses, in
    ``near_``. Returns how many: each has one end between those of w's arc, and one outside."""
    cdef PlanesC* p = planar_tables(gold)
    cdef int a = min(w, gold.head[w])
    cdef int b = max(w, gold.head[w])
    cdef int n_near = 0
    cdef int c, h, i
    for c in range(a + 1, b):
        h = gold.head[c]
        if p.open[c] and (h < a or h > b):
            p.near_[n_near] = c
            n_near += 1
        for i in range(gold.child_offset[c], gold.child_offset[c + 1]):
            if gold.children[i] >= a:
                break
            n_near = add_open(p, gold.children[i], first, last, n_near)
        for i in range(gold.child_offset[c + 1] - 1, gold.child_offset[c] - 1, -1):
            if gold.children[i] <= b:
                break
            n_near = add_open(p, gold.children[i], first, last, n_near)
    p.steps += b - a + n_near
    return n_near


cdef inline int add_open(PlanesC* p, int x, int first, int last, int n_near) noexcept nogil:
    if not first <= x < last or p.open[x] == 0:
        return n_near
    p.near_[n_near] = x
    return n_near + 1


# Conflicts.

cdef int find_cycle(const PlanesC* p, int first, int last) noexcept nogil:
    """List the arcs of a cycle of which none has been given up. Returns how many; 0: there is none.
    """
    cdef int number, w, n_found
    for number in range(1, p.n_cycles + 1):
        n_found = 0
        for w in range(first, last):
            if p.cycle[w] == number:
                if p.open[w] == 0:
                    break
                p.found[n_found] = w
                n_found += 1
        else:
            return n_found
    return 0


cdef int between(PlanesC* p, int w, int x) noexcept nogil:
    """List the arcs from w and x, which cross and would be in one plane, back to where the search
    began, or to where it came from to both."""
    cdef int n_found = 0
    cdef int i, n_first
    while w != NONE:
        p.found[n_found] = w
        n_found += 1
        w = p.parent[w]
    n_first = n_found
    while x != NONE:
        for i in range(n_first):
            if p.found[i] == x:  # a ring: leave out what is behind it
                for w in range(n_first, n_found):
                    p.found[i + 1 + w - n_first] = p.found[w]
                return i + 1 + n_found - n_first
        p.found[n_found] = x
        n_found += 1
        x = p.parent[x]
    return n_found


cdef inline void wait(PlanesC* p, int w, int colour, int parent, int* end) noexcept nogil:
    """Let the arc into w, of this colour, be the last in the queue."""
    p.colour[w] = colour
    p.parent[w] = parent
    p.queue[end[0]] = w
    end[0] += 1


cdef int find_conflict(const GoldC* gold, int first, int last) noexcept nogil:
    """List the arcs of a conflict, in ``found``, among the open ones into the words first ..
    last - 1. Returns how many; 0: there is none."""
    cdef PlanesC* p = planar_tables(gold)
    cdef int n_found = find_cycle(p, first, last)
    cdef int done = 0
    cdef int end = 0
    cdef int next_free = first
    cdef int i, w, x
    if n_found or not p.crossing:
        return n_found
    for w in range(first, last):
        p.colour[w] = 0
        if p.plane[w] and 0 < p.open[w] < BOTH:
            wait(p, w, p.open[w], NONE, &end)
    while True:
        while done < end:
            w = p.queue[done]
            done += 1
            for i in range(crossed_by(gold, w, first, last)):
                x = p.near_[i]
                if p.colour[x] == 0:
                    wait(p, x, BOTH - p.colour[w], w, &end)
                elif p.colour[x] == p.colour[w]:
                    return between(p, w, x)
        while next_free < last and not (
            p.plane[next_free] and p.open[next_free] and p.colour[next_free] == 0
        ):
            next_free += 1
        if next_free == last:
            return 0
        wait(p, next_free, 1, NONE, &end)


cdef int n_apart(const GoldC* gold, int first, int last) noexcept nogil:
    """Conflicts without an arc in common; not always as many as there are."""
    cdef PlanesC* p = planar_tables(gold)
    cdef int n_dropped = 0
    cdef int conflicts = 0
    cdef int i, n_found
    while True:
        n_found = find_conflict(gold, first, last)
        if n_found == 0:
            break
        conflicts += 1
        for i in range(n_found):
            p.dropped[n_dropped] = p.found[i]
            p.kept[n_dropped] = p.open[p.found[i]]
            p.open[p.found[i]] = 0
            n_dropped += 1
    for i in range(n_dropped):
        p.open[p.dropped[i]] = p.kept[i]
    return conflicts


cdef bint enough(const GoldC* gold, int first, int last, int number) noexcept nogil:
    """Whether giving up so many arcs leaves no conflict, as far as is known after MAX_STEPS."""
    cdef PlanesC* p = planar_tables(gold)
    cdef int tried = 0
    cdef int conflicts, n_found, w, planes
    cdef bint found
    conflicts = n_apart(gold, first, last)
    if conflicts == 0 or p.steps > MAX_STEPS:
        return True
    if conflicts > number:
        return False
    while True:
        n_found = find_conflict(gold, first, last)  # the same each time
        if tried == n_found:
            return False
        w = p.found[tried]
        tried += 1
        planes = p.open[w]
        p.open[w] = 0
        found = enough(gold, first, last, number - 1)
        p.open[w] = planes
        if found:
            return True


cdef int fewest_given_up(const GoldC* gold, int first, int last) noexcept nogil:
    """The fewest arcs into the words first .. last - 1 that hit every conflict, ``open``, ``cycle``
    and ``n_cycles`` given. A search that is too long ends early: then there may be more."""
    cdef int number
    planar_tables(gold).steps = 0
    number = n_apart(gold, first, last)
    if number:
        while not enough(gold, first, last, number):
            number += 1
    return number
