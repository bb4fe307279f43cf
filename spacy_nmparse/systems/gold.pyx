"""The gold tree of a sentence or document, with the tables that the cost functions read."""
from operator import index

from libc.stdlib cimport free

from spacy_nmparse.systems.memory cimport allocate


cdef bint is_number(value):
    """Whether a value is a whole number by its type."""
    try:
        index(value)
    except TypeError:
        return False
    return True


cdef void* new_tables(GoldC* gold, const void* owner, size_t size) except NULL:
    """Memory for a system's tables: ``size`` zero bytes, which live as long as the tree. owner: the
    address of a function of that system, by which ``tables_of`` finds them."""
    cdef TablesC* tables = <TablesC*>allocate(1, sizeof(TablesC) + size)
    tables.owner = owner
    tables.next = gold.tables
    gold.tables = tables
    return tables + 1


def find_cycle(heads):
    """The words of a cycle, each one the head of the word before it, and the first one again at the
    end; or [], where there is none. Linear in the number of words.

    Args:
        heads: for each word the number of its head, or None where it has none, as roots.
    """
    cdef Py_ssize_t first, w
    walk = [-1] * len(heads)  # the first word of the walk that came by
    for first in range(len(heads)):
        w = first
        while walk[w] < 0:
            walk[w] = first
            if heads[w] is None:
                break
            w = heads[w]
        else:
            if walk[w] == first:
                cycle = [w, heads[w]]
                while cycle[-1] != w:
                    cycle.append(heads[cycle[-1]])
                return cycle
    return []


cdef void fill_children(
    const GoldC* gold, int* child_offset, int* children, int* next_child
) noexcept nogil:
    """List the dependents of each word. next_child: room for n + 1 numbers."""
    cdef int n = gold.n
    cdef int w, h
    for w in range(n + 2):
        child_offset[w] = 0
    for w in range(n):
        if gold.head[w] != NONE:
            child_offset[gold.head[w] + 1] += 1
    for w in range(n + 1):
        child_offset[w + 1] += child_offset[w]
        next_child[w] = child_offset[w]
    for w in range(n):
        h = gold.head[w]
        if h != NONE:
            children[next_child[h]] = w
            next_child[h] += 1


cdef void fill_losses(const GoldC* gold, int* lost_from, int* surplus_from) noexcept nogil:
    """Fill the tables of words that a sentence start would lose."""
    cdef int n = gold.n
    cdef int roots = 0
    cdef int rest = 0
    cdef int w, h, crossing
    # Arcs are counted at their first and last ends, then summed from left to right.
    for w in range(n + 1):
        lost_from[w] = 0
        surplus_from[w] = 0
    for w in range(n):
        h = gold.head[w]
        if h != NONE and h < n:
            if h < w:                      # crosses h + 1 .. w, counted in both tables
                lost_from[h + 1] += 1
                lost_from[w + 1] -= 1
            surplus_from[min(h, w) + 1] += 1
            surplus_from[max(h, w) + 1] -= 1
    for w in range(n):
        lost_from[w + 1] += lost_from[w]
        surplus_from[w + 1] += surplus_from[w]
    for w in range(n - 1, -1, -1):
        crossing = surplus_from[w]
        roots += gold.head[w] == n
        surplus_from[w] = rest + max(0, roots - 1)
        if gold.sent_start[w] == 1 or (gold.sent_start[w] == -1 and crossing == 0):
            rest = surplus_from[w]
            roots = 0
    surplus_from[n] = 0


cdef class Gold:
    """A gold tree, possibly partial.

    Args:
        heads: for each word the number of its head, its own number for a child of ROOT, or None
            where the head is unknown.
        labels: for each word its label or None (unknown); or None for no labels at all.
        sent_starts: for each word True, False or None (unknown); or None for no knowledge. The
            first word always starts a sentence.

    Raises:
        TypeError: heads are no sequence.
        ValueError: lengths differ, a head is no number in range, a start is not True, False or
            None, the heads form a cycle, or an arc crosses a known sentence start.
    """
    def __cinit__(self, heads, labels=None, sent_starts=None):
        cdef int n
        try:
            n = len(heads)
        except TypeError:
            raise TypeError(f"Gold heads are a sequence of word numbers, not {heads!r}.") from None
        cdef size_t ints = 8 * <size_t>n + 6
        if n < 1:
            raise ValueError("Gold needs at least one word.")
        for name, values in (("labels", labels), ("sent_starts", sent_starts)):
            if values is not None and len(values) != n:
                raise ValueError(f"Gold has {n} heads but {len(values)} {name}.")
        self.block = allocate(ints * sizeof(int) + (n + 1) + 8 * sizeof(int), 1)
        self.heads = tuple(heads)
        self.labels = (None,) * n if labels is None else tuple(labels)
        self.sent_starts = (None,) * n if sent_starts is None else tuple(sent_starts)
        for w, start in enumerate(self.sent_starts):
            if start is not None and start not in (True, False):
                raise ValueError(
                    f"Gold sent_start {start!r} of word {w} is not True, False or None (unknown)."
                )
        self.fill(n)
        self.check_tree()

    def __dealloc__(self):
        cdef TablesC* tables
        while self.c.tables != NULL:
            tables = self.c.tables
            self.c.tables = tables.next
            free(tables.more)
            free(tables)
        free(self.block)

    def __reduce__(self):
        return Gold, (self.heads, self.labels, self.sent_starts)

    def __len__(self):
        return self.c.n

    def __repr__(self):
        return f"Gold({list(self.heads)}, {list(self.labels)}, {list(self.sent_starts)})"

    cdef int fill(self, int n) except -1:
        """Lay the tables out in the block, and fill them."""
        cdef int* head = <int*>self.block
        cdef int* child_offset = head + n
        cdef int* children = child_offset + n + 2
        cdef int* next_start = children + n
        cdef int* n_roots = next_start + n + 1
        cdef int* lost_from = n_roots + n + 1
        cdef int* surplus_from = lost_from + n + 1
        self.label_ids = surplus_from + n + 1
        cdef signed char* sent_start = <signed char*>(self.label_ids + n)
        cdef int w
        for w in range(n):
            value = self.heads[w]
            if value is not None and not (is_number(value) and 0 <= value < n):
                raise ValueError(
                    f"Gold head {value!r} of word {w} is not a word number (0 .. {n - 1}), "
                    f"the word's own number (child of ROOT) or None (unknown)."
                )
            head[w] = NONE if value is None else (n if value == w else value)
            self.label_ids[w] = NONE
            start = True if w == 0 else self.sent_starts[w]
            sent_start[w] = -1 if start is None else (1 if start else 0)
        self.c.n = n
        self.c.head = head
        self.c.label = self.label_ids
        self.c.sent_start = sent_start
        self.c.child_offset = child_offset
        self.c.children = children
        self.c.next_start = next_start
        self.c.n_roots = n_roots
        self.c.lost_from = lost_from
        self.c.surplus_from = surplus_from
        fill_children(&self.c, child_offset, children, next_start)
        next_start[n] = n
        for w in range(n - 1, -1, -1):
            next_start[w] = next_start[w + 1] if sent_start[w] == 0 else w
        n_roots[0] = 0
        for w in range(n):
            n_roots[w + 1] = n_roots[w] + (head[w] == n)
            self.c.n_unknown += head[w] == NONE
            self.c.unknown_starts = self.c.unknown_starts or sent_start[w] == -1
        fill_losses(&self.c, lost_from, surplus_from)
        return 0

    cdef int check_tree(self) except -1:
        """Every chain of heads must end, and no arc may cross a known sentence start."""
        cdef int n = self.c.n
        cdef int w, h
        cycle = find_cycle([None if x == i else x for i, x in enumerate(self.heads)])
        if cycle:
            raise ValueError(
                f"The gold heads form a cycle through word {cycle[0]}: {self.heads}."
            )
        sentence = []
        for w in range(n):
            sentence.append(w if self.c.sent_start[w] == 1 else sentence[-1])
        for w in range(n):
            h = self.c.head[w]
            if h == NONE or h == n:
                continue
            if sentence[w] != sentence[h]:
                raise ValueError(
                    f"The gold arc {h} -> {w} crosses a sentence start: give the words of one "
                    f"sentence heads within it, or None."
                )
        return 0

    cdef int bind(self, tuple label_names, dict label_ids) except -1:
        """Give the labels the numbers of one system. A label the system lacks is a ValueError."""
        cdef int w
        if self.bound_to is label_names:
            return 0
        if label_ids is None:  # unlabelled: labels never count
            for w in range(self.c.n):
                self.label_ids[w] = NONE
        else:
            for w in range(self.c.n):
                label = self.labels[w]
                if label is None:
                    self.label_ids[w] = NONE
                elif label in label_ids:
                    self.label_ids[w] = label_ids[label]
                else:
                    self.bound_to = None
                    raise ValueError(
                        f"Gold label {label!r} of word {w} is not among the system's labels "
                        f"{label_names}: create the system with it, or give None."
                    )
        self.bound_to = label_names
        return 0
