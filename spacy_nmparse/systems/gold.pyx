"""The gold tree of a sentence or document, with the tables that the cost functions read."""
from libc.stdlib cimport free, malloc


cdef class Gold:
    """A gold tree, possibly partial.

    Args:
        heads: for each word the number of its head, its own number for a child of ROOT, or None
            where the head is unknown.
        labels: for each word its label or None (unknown); or None for no labels at all.
        sent_starts: for each word True, False or None (unknown); or None for no knowledge. The
            first word always starts a sentence.

    Raises:
        ValueError: lengths differ, a head is out of range, the heads form a cycle, or an arc
            crosses a known sentence start.
    """
    def __cinit__(self, heads, labels=None, sent_starts=None):
        cdef int n = len(heads)
        cdef size_t ints = 5 * n + 3 + n
        if n < 1:
            raise ValueError("Gold needs at least one word.")
        for name, values in (("labels", labels), ("sent_starts", sent_starts)):
            if values is not None and len(values) != n:
                raise ValueError(f"Gold has {n} heads but {len(values)} {name}.")
        self.block = malloc(ints * sizeof(int) + (n + 1) + 8 * sizeof(int))
        if self.block == NULL:
            raise MemoryError(f"No memory for a gold tree of {n} words.")
        self.heads = tuple(heads)
        self.labels = (None,) * n if labels is None else tuple(labels)
        self.sent_starts = (None,) * n if sent_starts is None else tuple(sent_starts)
        self.bound_to = None
        self._fill(n)
        self._check_tree()

    def __dealloc__(self):
        free(self.block)

    def __reduce__(self):
        return Gold, (self.heads, self.labels, self.sent_starts)

    def __len__(self):
        return self.c.n

    def __repr__(self):
        return f"Gold({list(self.heads)}, {list(self.labels)}, {list(self.sent_starts)})"

    def _fill(self, int n):
        cdef int* head = <int*>self.block
        cdef int* kid_offset = head + n
        cdef int* kids = kid_offset + n + 2
        cdef int* next_start = kids + n
        cdef int* n_roots = next_start + n + 1
        cdef signed char* sent_start
        cdef int w
        self.label_ids = n_roots + n + 1
        sent_start = <signed char*>(self.label_ids + n)
        for w in range(n):
            value = self.heads[w]
            if value is not None and not 0 <= value < n:
                raise ValueError(
                    f"Gold head {value!r} of word {w} is not a word number (0 .. {n - 1}), "
                    f"the word's own number (child of ROOT) or None (unknown)."
                )
            head[w] = NONE if value is None else (n if value == w else value)
            self.label_ids[w] = NONE
            start = True if w == 0 else self.sent_starts[w]
            sent_start[w] = -1 if start is None else (1 if start else 0)
        for w in range(n + 2):
            kid_offset[w] = 0
        for w in range(n):
            if head[w] != NONE:
                kid_offset[head[w] + 1] += 1
        for w in range(n + 1):
            kid_offset[w + 1] += kid_offset[w]
        # next_start serves as the fill pointer first.
        for w in range(n + 1):
            next_start[w] = kid_offset[w]
        for w in range(n):
            if head[w] != NONE:
                kids[next_start[head[w]]] = w
                next_start[head[w]] += 1
        next_start[n] = n
        for w in range(n - 1, -1, -1):
            next_start[w] = next_start[w + 1] if sent_start[w] == 0 else w
        n_roots[0] = 0
        for w in range(n):
            n_roots[w + 1] = n_roots[w] + (head[w] == n)
        self.c.n = n
        self.c.head = head
        self.c.label = self.label_ids
        self.c.sent_start = sent_start
        self.c.kid_offset = kid_offset
        self.c.kids = kids
        self.c.next_start = next_start
        self.c.n_roots = n_roots

    def _check_tree(self):
        """Every chain of heads must end, and no arc may cross a known sentence start."""
        cdef int n = self.c.n
        cdef int w, h, first, last
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
