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
    """That many zero bytes for a system's tables; they live as long as the tree. owner: the address
    of a function of the system's, by which ``tables_of`` finds them."""
    cdef TablesC* tables = <TablesC*>allocate(1, sizeof(TablesC) + size)
    tables.owner = owner
    tables.next = gold.tables
    gold.tables = tables
    return tables + 1


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
        free(self.c.crossing)
        free(self.block)

    def __reduce__(self):
        return Gold, (self.heads, self.labels, self.sent_starts)

    def __len__(self):
        return self.c.n

    def __repr__(self):
        return f"Gold({list(self.heads)}, {list(self.labels)}, {list(self.sent_starts)})"

    def under(self, sent_starts):
        """What preset sentence starts leave of the tree: (Gold, number of errors they force).

        Args:
            sent_starts: for each word 1 (starts a sentence), -1 (does not) or 0 (free). Heads
                across a preset start become unknown, and where a start is preset, it is gold.
        """
        errors = 0
        if len(sent_starts) != self.c.n:
            raise ValueError(f"Gold has {self.c.n} words but {len(sent_starts)} sent_starts.")
        starts = list(self.sent_starts)
        sentence = []
        for w in range(self.c.n):
            sentence.append((sentence[-1] if w else 0) + (w > 0 and sent_starts[w] == 1))
            if w > 0 and sent_starts[w] != 0:
                preset = sent_starts[w] == 1
                errors += starts[w] is not None and bool(starts[w]) != preset
                starts[w] = preset
        heads = [
            None if h is None or sentence[h] != sentence[w] else h
            for w, h in enumerate(self.heads)
        ]
        errors += sum(new is not old for new, old in zip(heads, self.heads))
        return Gold(heads, self.labels, starts), errors

    def within(self, int max_length):
        """What is left of the tree without its long arcs: (Gold, number of arcs given up).

        Args:
            max_length: how many words apart the ends of an arc may be. The heads of longer ones
                become unknown.
        """
        heads = [
            None if h is None or abs(h - w) > max_length else h for w, h in enumerate(self.heads)
        ]
        errors = sum(new is not old for new, old in zip(heads, self.heads))
        return Gold(heads, self.labels, self.sent_starts), errors

    def labelled_by(self, root_labels):
        """What is left of the tree without the arcs whose labels are wrong on them: (Gold, number
        of those arcs). Whatever is predicted there, it is one error.

        Args:
            root_labels: the labels that arcs from ROOT have, and no others.
        """
        wrong = [
            h is not None and label is not None and (label in root_labels) != (h == w)
            for w, (h, label) in enumerate(zip(self.heads, self.labels))
        ]
        if not any(wrong):
            return self, 0
        heads = [None if out else h for out, h in zip(wrong, self.heads)]
        labels = [None if out else label for out, label in zip(wrong, self.labels)]
        return Gold(heads, labels, self.sent_starts), sum(wrong)

    cdef int fill(self, int n) except -1:
        cdef int* head = <int*>self.block
        cdef int* child_offset = head + n
        cdef int* children = child_offset + n + 2
        cdef int* next_start = children + n
        cdef int* n_roots = next_start + n + 1
        cdef int* lost_from
        cdef int* surplus_from
        cdef int crossing, roots, rest, h
        cdef signed char* sent_start
        cdef int w
        lost_from = n_roots + n + 1
        surplus_from = lost_from + n + 1
        self.label_ids = surplus_from + n + 1
        sent_start = <signed char*>(self.label_ids + n)
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
        for w in range(n + 2):
            child_offset[w] = 0
        for w in range(n):
            if head[w] != NONE:
                child_offset[head[w] + 1] += 1
        for w in range(n + 1):
            child_offset[w + 1] += child_offset[w]
        # next_start serves as the fill pointer first.
        for w in range(n + 1):
            next_start[w] = child_offset[w]
        for w in range(n):
            if head[w] != NONE:
                children[next_start[head[w]]] = w
                next_start[head[w]] += 1
        next_start[n] = n
        for w in range(n - 1, -1, -1):
            next_start[w] = next_start[w + 1] if sent_start[w] == 0 else w
        n_roots[0] = 0
        for w in range(n):
            n_roots[w + 1] = n_roots[w] + (head[w] == n)
        # Arcs are counted at their first and last ends, then summed from left to right.
        for w in range(n + 1):
            lost_from[w] = 0
            surplus_from[w] = 0
        for w in range(n):
            h = head[w]
            if h != NONE and h < n:
                if h < w:                      # crosses h + 1 .. w, counted in both tables
                    lost_from[h + 1] += 1
                    lost_from[w + 1] -= 1
                surplus_from[min(h, w) + 1] += 1
                surplus_from[max(h, w) + 1] -= 1
        for w in range(n):
            lost_from[w + 1] += lost_from[w]
            surplus_from[w + 1] += surplus_from[w]
        roots = 0
        rest = 0
        for w in range(n - 1, -1, -1):
            crossing = surplus_from[w]
            roots += head[w] == n
            surplus_from[w] = rest + max(0, roots - 1)
            if sent_start[w] == 1 or (sent_start[w] == -1 and crossing == 0):
                rest = surplus_from[w]
                roots = 0
        surplus_from[n] = 0
        self.c.unknown_starts = False
        self.c.n_unknown = 0
        for w in range(n):
            self.c.n_unknown += head[w] == NONE
            if sent_start[w] == -1:
                self.c.unknown_starts = True
        self.c.lost_from = lost_from
        self.c.surplus_from = surplus_from
        self.c.n = n
        self.c.head = head
        self.c.label = self.label_ids
        self.c.sent_start = sent_start
        self.c.child_offset = child_offset
        self.c.children = children
        self.c.next_start = next_start
        self.c.n_roots = n_roots
        return 0

    cdef int check_tree(self) except -1:
        """Every chain of heads must end, and no arc may cross a known sentence start."""
        cdef int n = self.c.n
        cdef int w, h, first
        sentence = []
        for w in range(n):
            sentence.append(w if self.c.sent_start[w] == 1 else sentence[-1])
        reached = [0] * n  # 0: not seen; otherwise the walk that came by
        for first in range(n):
            w = first
            while w != n and w != NONE and reached[w] == 0:
                reached[w] = first + 1
                w = self.c.head[w]
            if w != n and w != NONE and reached[w] == first + 1:
                raise ValueError(f"The gold heads form a cycle through word {w}: {self.heads}.")
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
        self.c.crossing_form = 0
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
