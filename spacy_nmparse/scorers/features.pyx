"""Features of a configuration, named as in the papers.

A *word feature* names a word: ``S0`` ``S1`` ... from the top of the stack, ``B0`` ``B1`` ... from
the front of the buffer, then hops along arcs: ``h`` its head, ``l1`` ``l2`` its outermost and next
left dependents, ``r1`` ``r2`` its right ones: ``S0.h``, ``S0.l1``, ``S1.r1``, ``S0.l1.l1``.

A *pair feature* names two words whose vectors are multiplied, each projected: ``S0*B0``.

A *fact feature* names something that only the configuration knows: ``<word>.label`` (label of the
arc into the word; none while it is headless), ``<word>.n_left`` and ``<word>.n_right`` (valency),
``S0-B0.distance`` (words between them, in buckets), ``stack.depth``.
"""
from spacy_nmparse.systems.state cimport NONE, B, S, left_kid, right_kid


cdef enum:
    HEAD
    LEFT_1
    LEFT_2
    RIGHT_1
    RIGHT_2

cdef enum:
    LABEL
    N_LEFT
    N_RIGHT
    DISTANCE
    DEPTH

HOPS = {"h": HEAD, "l1": LEFT_1, "l2": LEFT_2, "r1": RIGHT_1, "r2": RIGHT_2}
FACTS = {"label": LABEL, "n_left": N_LEFT, "n_right": N_RIGHT}


cdef int find_word(const WordC* word, const StateC* s) noexcept nogil:
    """The word's number, ROOT's, or NONE."""
    cdef int w = S(s, word.place) if word.on_stack else B(s, word.place)
    cdef int i, hop
    for i in range(word.n_hops):
        if w == NONE:
            return NONE
        hop = word.hops[i]
        if hop == HEAD:
            w = NONE if w == s.n else s.head[w]
        elif hop == LEFT_1:
            w = s.left_kid[w]
        elif hop == LEFT_2:
            w = left_kid(s, w, 1)
        elif hop == RIGHT_1:
            w = s.right_kid[w]
        else:
            w = right_kid(s, w, 1)
    return w


cdef void find_words(const FeaturesC* features, const StateC* s, int* out) noexcept nogil:
    """The number of the word in each slot (ROOT is s.n), or NONE."""
    cdef int i
    for i in range(features.n_slots):
        out[i] = find_word(&features.slots[i], s)


cdef inline int bucket(int distance) noexcept nogil:
    if distance <= 6:
        return distance
    if distance <= 8:
        return 7
    if distance <= 12:
        return 8
    if distance <= 20:
        return 9
    return 10 if distance <= 40 else 11


cdef void find_facts(const FeaturesC* features, const StateC* s, int* out) noexcept nogil:
    """The value of each fact: 0 where there is nothing to know."""
    cdef int i, w, b0
    cdef const FactC* fact
    for i in range(features.n_facts):
        fact = &features.facts[i]
        if fact.kind == DEPTH:
            out[i] = min(s.n_stack, COUNT_VALUES - 1)
            continue
        if fact.kind == DISTANCE:
            w = S(s, 0)
            b0 = B(s, 0)
            out[i] = 0 if w == NONE or b0 == NONE else bucket(abs(b0 - w))
            continue
        w = find_word(&fact.word, s)
        if w == NONE:
            out[i] = 0
        elif fact.kind == LABEL:
            # A head without a label (none was noted) counts as no label.
            out[i] = 0 if w == s.n or s.head[w] == NONE else s.label[w] + 1
        elif fact.kind == N_LEFT:
            out[i] = min(s.n_left[w] + 1, COUNT_VALUES - 1)
        else:
            out[i] = min(s.n_right[w] + 1, COUNT_VALUES - 1)


cdef int read_word(str name, list parts, WordC* out) except -1:
    base = parts[0]
    if len(base) < 2 or base[0] not in "SB" or not base[1:].isdigit():
        raise ValueError(f"Feature {name!r}: a word is S0, S1, ... or B0, B1, ..., not {base!r}.")
    if len(parts) - 1 > MAX_HOPS:
        raise ValueError(f"Feature {name!r} has more than {MAX_HOPS} hops.")
    out.on_stack = base[0] == "S"
    out.place = int(base[1:])
    out.n_hops = len(parts) - 1
    for i, hop in enumerate(parts[1:]):
        if hop not in HOPS:
            raise ValueError(f"Feature {name!r}: a hop is one of {tuple(HOPS)}, not {hop!r}.")
        out.hops[i] = HOPS[hop]
    return 0


cdef class Features:
    """A compiled list of feature names (see the module's docstring).

    Args:
        names: feature names, word and fact features in any order.

    Raises:
        ValueError: an unknown name, a name twice, no word feature, or too many features.
    """
    def __init__(self, names):
        cdef FactC* fact
        words, pairs, facts = [], [], []
        for name in names:
            if name in words or name in facts or name in pairs:
                raise ValueError(f"Feature {name!r} is named twice.")
            if name in ("S0-B0.distance", "stack.depth") or name.split(".")[-1] in FACTS:
                facts.append(name)
            elif name.count("*") == 1:
                pairs.append(name)
            else:
                words.append(name)
        slots = words + [word for pair in pairs for word in pair.split("*")]
        if not words or len(slots) > MAX_SLOTS or len(facts) > MAX_FACTS:
            raise ValueError(
                f"Features need a word, up to {MAX_SLOTS} words (a pair counts as two) and up to "
                f"{MAX_FACTS} facts: these are {len(words)} words, {len(pairs)} pairs and "
                f"{len(facts)} facts."
            )
        self.words = tuple(words)
        self.pairs = tuple(pairs)
        self.facts = tuple(facts)
        self.c.n_slots = len(slots)
        self.c.n_singles = len(words)
        self.c.n_facts = len(facts)
        for i, name in enumerate(slots):
            read_word(name, name.split("."), &self.c.slots[i])
        for i, name in enumerate(facts):
            fact = &self.c.facts[i]
            if name == "S0-B0.distance":
                fact.kind = DISTANCE
            elif name == "stack.depth":
                fact.kind = DEPTH
            else:
                *parts, last = name.split(".")
                fact.kind = FACTS[last]
                read_word(name, parts, &fact.word)

    @property
    def n_slots(self):
        """Rows that a configuration takes from the words: one a word, two a pair."""
        return self.c.n_slots

    def fact_sizes(self, int n_labels):
        """Number of values of each fact, for a system with n_labels labels (list of int)."""
        sizes = {LABEL: n_labels + 1, DISTANCE: DISTANCE_VALUES}
        return [sizes.get(self.c.facts[i].kind, COUNT_VALUES) for i in range(self.c.n_facts)]
