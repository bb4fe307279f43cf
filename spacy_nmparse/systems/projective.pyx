"""Crossing arcs: finding them, lifting them for projective systems, lowering them afterwards.

Pseudo-projective parsing (Nivre & Nilsson 2005), the *head* scheme: a crossing arc is lifted to its
head's head until nothing crosses, and its label notes the label of the head it lost, as in
``obj||conj``; after parsing the arc is lowered to the first word with that label below its head.
Heads are numbered as in ``Gold``: a root is its own head, None is unknown.
"""
from spacy_nmparse.systems.gold import find_cycle

DELIMITER = "||"


cdef int check_heads(heads, others=None, str name="") except -1:
    """Raise ValueError where a head is no word number, or others are not as many as the heads."""
    n = len(heads)
    for w, head in enumerate(heads):
        if head is not None and not 0 <= head < n:
            raise ValueError(
                f"Head {head!r} of word {w} is not a word number (0 .. {n - 1}) or None (unknown)."
            )
    if others is not None and len(others) != n:
        raise ValueError(f"There are {n} heads but {len(others)} {name}.")
    return 0


def crossing_arcs(heads, counts=None):
    """The words whose arc is non-projective: some word between it and its head does not descend
    from the head (list of int). Arcs from ROOT and unknown heads are not counted.

    Args:
        heads: the heads, which may form cycles.
        counts: for each word whether it counts between others; None: all do.

    Raises:
        ValueError: a head that is no word number, or counts of other words.
    """
    check_heads(heads, counts, "counts")
    cdef int n = len(heads)
    cdef int w, x, h, low, high
    found = []
    for w in range(n):
        if heads[w] is None or heads[w] == w:
            continue
        h = heads[w]
        low, high = (w, h) if w < h else (h, w)
        for x in range(low + 1, high):
            if counts is not None and not counts[x]:
                continue
            y = x
            for _ in range(n):
                if y is None or y == h or heads[y] == y:
                    break
                y = heads[y]
            if y is not None and y != h:
                found.append(w)
                break
    return found


def check_acyclic(heads):
    """Raise ValueError where the heads form a cycle, or one is no word number."""
    check_heads(heads)
    cycle = find_cycle([None if h == w else h for w, h in enumerate(heads)])
    if cycle:
        raise ValueError(f"The heads form a cycle through word {cycle[0]}.")


def is_projective(heads):
    """Whether no two arcs cross and none spans a root. Linear in the number of words (but for
    sorting the dependents of each). Raises ValueError for a head that is no word number."""
    check_heads(heads)
    cdef int n = len(heads)
    cdef int w, h
    closing = [[] for _ in range(n)]
    opening = [[] for _ in range(n)]
    for w in range(n):
        head = heads[w]
        if head is None or head == w:
            continue
        h = head
        if h < w:
            closing[w].append(h)
            opening[h].append(w)
        else:
            closing[h].append(w)
            opening[w].append(h)
    stack = []
    for w in range(n):
        # Arcs that end here must be the last ones opened; the longest opens first.
        for low in sorted(closing[w], reverse=True):
            if not stack or stack[-1] != (low, w):
                return False
            stack.pop()
        if stack and heads[w] is not None and heads[w] == w:
            return False
        for high in sorted(opening[w], reverse=True):
            stack.append((w, high))
    return True


def lift(heads, labels):
    """Projective heads, and labels that tell how to undo the lifting.

    Args:
        heads: list of int or None, acyclic.
        labels: list of str or None.

    Returns:
        (heads, labels): new lists. Where trees interleave, what crosses the other tree has no head
        that projects: None.

    Raises:
        ValueError: the heads form a cycle, or one is no word number, or labels of other words.
    """
    check_heads(heads, labels, "labels")
    check_acyclic(heads)
    lifted = list(heads)
    while True:
        crossing = crossing_arcs(lifted)
        if not crossing:
            break
        # The shortest first; ties: the leftmost.
        w = min(crossing, key=lambda word: (abs(word - lifted[word]), word))
        above = lifted[lifted[w]]
        lifted[w] = None if above == lifted[w] else above
    decorated = list(labels)
    for w in range(len(heads)):
        if lifted[w] is None or lifted[w] == heads[w]:
            continue
        if labels[w] is not None and labels[heads[w]] is not None:
            decorated[w] = f"{labels[w]}{DELIMITER}{labels[heads[w]]}"
    return lifted, decorated


def plain_label(label):
    """A label without its note."""
    return label.split(DELIMITER, 1)[0]


def lower(heads, labels):
    """Undo ``lift``: reattach words with a noted label, and take the notes off.

    A word goes to the first word with the noted label below its present head, breadth first and
    left to right, its own subtree left out. Where there is none, the word waits until others have
    moved, and stays if there is none then. Never makes a cycle.

    Args:
        heads: list of int, a root is its own head.
        labels: list of str.

    Returns:
        (heads, labels): new lists, no label with a note.

    Raises:
        ValueError: as ``lift``.
    """
    heads = list(heads)
    check_heads(heads, labels, "labels")
    plain = [plain_label(label) for label in labels]
    waiting = [w for w in range(len(heads)) if DELIMITER in labels[w] and heads[w] != w]
    if not waiting:
        return heads, plain
    check_acyclic(heads)
    children = [[] for _ in heads]
    for x, h in enumerate(heads):
        if h != x:
            children[h].append(x)
    moved = True
    while moved:
        moved = False
        for w in list(waiting):
            wanted = labels[w].split(DELIMITER, 1)[1]
            level = [heads[w]]
            found = None
            while level and found is None:
                level = sorted(x for h in level for x in children[h] if x != w)
                for x in level:
                    if plain[x] == wanted:
                        found = x
                        break
            if found is not None:
                waiting.remove(w)
                children[heads[w]].remove(w)
                children[found].append(w)
                heads[w] = found
                moved = True
    return heads, plain
