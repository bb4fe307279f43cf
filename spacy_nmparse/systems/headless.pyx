"""For systems that may end with headless words: sets of words in one tree, and heads at the end."""


cdef void join(StateC* s, int head, int dependent) noexcept nogil:
    """Note that the tree of dependent (its top) hangs in the tree of head: union by size.

    Links are never shortened: only arcs change them, and looking up stays logarithmic. Sets cannot
    be split, so systems that delete arcs cannot use them.
    """
    cdef int* link = s.own
    cdef int top = treetop(s, head)
    while link[head] >= 0:
        head = link[head]
    while link[dependent] >= 0:
        dependent = link[dependent]
    if link[head] > link[dependent]:  # sizes are negative: the tree of dependent is larger
        head, dependent = dependent, head
    link[head] += link[dependent]
    link[dependent] = head
    s.own[s.n + 1 + head] = top


def first_label(root_label):
    """The label of headless words: the option ``root_label``, or its first label; or None."""
    return root_label if root_label is None or isinstance(root_label, str) else root_label[0]


def hang(list heads, list labels, list starts, bint one_root, root_label):
    """Give headless words a head, in place.

    They hang off ROOT, with the ``first_label`` of root_label. With one_root only the first of them
    in a sentence does, and only if ROOT has no child there: the others hang off ROOT's child,
    without a label.
    """
    root_label = first_label(root_label)
    root = {}  # first word of a sentence -> its child of ROOT
    first = 0
    if one_root:
        for w, head in enumerate(heads):
            first = w if starts[w] else first
            if head == w:
                root[first] = w
    for w, head in enumerate(list(heads)):
        first = w if starts[w] else first
        if head is not None:
            continue
        heads[w] = root.get(first, w)
        if heads[w] == w:
            labels[w] = root_label
            if one_root:
                root[first] = w
