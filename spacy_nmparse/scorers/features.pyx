"""Features of a configuration.

A *word feature* names a word: ``S0`` ``S1`` ... from the top of the stack, ``B0`` ``B1`` ... from
the front of the buffer, ``I1`` ``I2`` ... the items that non-local arcs reach down to (from the end
of lambda1; of a stack, from its top), ``H`` and ``D`` head and dependent of an arc that is looked
at; then hops along arcs: ``h`` its head, ``l1`` ``l2`` its outermost and next left dependents,
``r1`` ``r2`` its right ones:
``S0.h``, ``S0.l1``, ``S1.r1``, ``S0.l1.l1``. Zhang & Nivre (2011) write N0 for ``B0``, and S0h,
S0l, S0l2 for ``S0.h``, ``S0.l1``, ``S0.l2``.

A *pair feature* names two words whose vectors are multiplied, each projected: ``S0*B0``.

A *fact feature* names something that only the configuration knows: ``<word>.label`` (label of the
arc into the word; none while it is headless), ``<word>.n_left`` and ``<word>.n_right`` (valency),
``S0-B0.distance``, ``S1-S0.distance``, ``I1-B0.distance`` (words between them, in buckets; none
from ROOT; the last one: none to ROOT), ``H-D.distance`` (the same, and which one is first),
``H-D.crossed`` (words between H and D with an arc that theirs would cross, one from ROOT included),
``H-D.headless`` (words between them without a head), ``S0-B0.crossed`` and ``S0-B0.headless`` (the
same of S0 and B0), ``stack.depth``, ``items.headless`` (words of the sentence that have been read
and have no head), ``root.child`` (whether ROOT has a child in the sentence).

Dependents of ROOT are those in the current sentence. ``new_word`` and ``new_fact`` bring others,
from a module that an entry point of the group ``spacy_nmparse_features`` names, or from that of a
system. ``token_facts`` has what such an entry point brings to know of a word's token.
"""
from functools import lru_cache
from importlib.metadata import entry_points

from libc.stdint cimport uintptr_t

from spacy_nmparse.systems.between cimport n_crossed, n_headless_between
from spacy_nmparse.systems.state cimport NONE, B, S, root_child


cdef enum:
    FARTHEST = 9999     # place of a word

cdef enum:  # hops
    HEAD
    LEFT_1
    LEFT_2
    RIGHT_1
    RIGHT_2

HOPS = {"h": HEAD, "l1": LEFT_1, "l2": LEFT_2, "r1": RIGHT_1, "r2": RIGHT_2}
WORD_FACTS = {"label": LABEL, "n_left": N_LEFT, "n_right": N_RIGHT}

cdef dict WORDS = {}    # letter -> address of a word_t
cdef dict FACTS = {}    # name -> (number of values, address of a fact_t)
TOKEN_FACTS = {}        # name -> ``token_facts.TokenFact``


cdef int new_word(str letter, word_t word) except -1:
    """Let word features begin with this capital letter and a number, which ``word`` gets. Raises
    ValueError: it is no free capital letter."""
    if len(letter) != 1 or not letter.isupper() or letter in WORDS:
        raise ValueError(f"new_word: {letter!r} is no capital letter, or words begin with it.")
    WORDS[letter] = <uintptr_t>word
    return 0


cdef int new_fact(str name, int n_values, fact_t value) except -1:
    """Bring a fact feature with the values 0 .. n_values - 1; ``value`` returns no others. Raises
    ValueError: the name is taken, or there are no values."""
    if name in FACTS or n_values < 1:
        raise ValueError(f"new_fact: {name!r} is there already, or has no values ({n_values}).")
    FACTS[name] = (n_values, <uintptr_t>value)
    return 0


def is_unknown(str name):
    """Whether nothing that has been imported brings the feature."""
    last = name.split(".")[-1]
    return name not in FACTS and (
        any(word[:1] not in WORDS for word in name.split("*"))
        or "." in name and last not in HOPS and last not in WORD_FACTS and last not in TOKEN_FACTS
    )


def load_features():
    """Import what installed packages bring, by entry points: features by themselves, and those of
    their systems."""
    for point in entry_points(group="spacy_nmparse_features"):
        fact = point.load()
        if hasattr(fact, "n_values"):
            TOKEN_FACTS[point.name] = fact
    for point in entry_points(group="spacy_nmparse_systems"):
        point.load()


cdef int nth_root_child(const StateC* s, int i) noexcept nogil:
    """The i-th child of ROOT in the current sentence, or NONE. Children in earlier sentences do not
    count: their words may not have tables."""
    cdef int w
    w = root_child(s)
    if w == NONE:
        return NONE
    while s.outward[w] >= s.start:
        w = s.outward[w]
    while i > 0 and w != NONE:
        w = s.inward[w]
        i -= 1
    return w


cdef int n_root_children(const StateC* s) noexcept nogil:
    """Children of ROOT in the current sentence, as far as counts tell them apart."""
    cdef int w = nth_root_child(s, 0)
    cdef int n = 0
    while w != NONE and n < COUNT_VALUES:
        w = s.inward[w]
        n += 1
    return n


cdef int stack_word(const StateC* s, int i, int head, int dependent) noexcept nogil:
    return S(s, i)


cdef int buffer_word(const StateC* s, int i, int head, int dependent) noexcept nogil:
    return B(s, i)


cdef int nth_item(const StateC* s, int k, int head, int dependent) noexcept nogil:
    """The k-th item, from 1, that an arc with B0 can reach: of lambda1 from its end, or of the
    stack from its top; or NONE."""
    return S(s, k - 1) if s.system.item is NULL else s.system.item(s, k)


cdef int arc_head(const StateC* s, int i, int head, int dependent) noexcept nogil:
    return head


cdef int arc_dependent(const StateC* s, int i, int head, int dependent) noexcept nogil:
    return dependent


new_word("S", stack_word)
new_word("B", buffer_word)
new_word("I", nth_item)
new_word("H", arc_head)
new_word("D", arc_dependent)


cdef int find_word(
    const WordC* word, const StateC* s, int head, int dependent, const int* words
) noexcept nogil:
    """The word's number, ROOT's, or NONE. words: of the slots before."""
    cdef int w, i, hop
    if word.slot != NONE:
        w = words[word.slot]
    else:
        w = word.base(s, word.place, head, dependent)
    for i in range(word.n_known, word.n_hops):
        if w == NONE:
            return NONE
        hop = word.hops[i]
        if hop == HEAD:
            w = NONE if w == s.n else s.head[w]
        elif w == s.n:  # ROOT has all its children on its left
            w = nth_root_child(s, hop - LEFT_1) if hop in (LEFT_1, LEFT_2) else NONE
        else:
            w = s.left_child[w] if hop in (LEFT_1, LEFT_2) else s.right_child[w]
            if hop in (LEFT_2, RIGHT_2) and w != NONE:
                w = s.inward[w]
    return w


cdef void find_words(
    const FeaturesC* features, const StateC* s, int head, int dependent, int* out
) noexcept nogil:
    """The number of the word in each slot (ROOT is s.n), or NONE."""
    cdef int i
    for i in range(features.n_slots):
        out[i] = find_word(&features.slots[i], s, head, dependent, out)


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


cdef int apart(const StateC* s, int a, int b) noexcept nogil:
    """Words between a and b, in buckets; 0 where one of them is none or a is ROOT, as at the bottom
    of a stack. As the last item of a buffer, ROOT stands behind its sentence. The words of other
    sentences do not count."""
    if a == NONE or b == NONE or a == s.n:
        return 0
    return bucket(abs((s.end if b == s.n else b) - a))


cdef int distance(const StateC* s, int head, int dependent) noexcept nogil:
    return apart(s, S(s, 0), B(s, 0))


cdef int stack_distance(const StateC* s, int head, int dependent) noexcept nogil:
    return apart(s, S(s, 1), S(s, 0))


cdef int item_distance(const StateC* s, int head, int dependent) noexcept nogil:
    return 0 if B(s, 0) == s.n else apart(s, nth_item(s, 1, NONE, NONE), B(s, 0))


cdef int arc_distance(const StateC* s, int head, int dependent) noexcept nogil:
    if head == s.n or dependent == s.n:
        return 0
    return apart(s, head, dependent) + (DISTANCE_VALUES if dependent > head else 0)


cdef int crossed(const StateC* s, int head, int dependent) noexcept nogil:
    return 0 if S(s, 0) == NONE or B(s, 0) == NONE else n_crossed(s, S(s, 0), B(s, 0))


cdef int headless_between(const StateC* s, int head, int dependent) noexcept nogil:
    return 0 if S(s, 0) == NONE or B(s, 0) == NONE else n_headless_between(s, S(s, 0), B(s, 0))


cdef int depth(const StateC* s, int head, int dependent) noexcept nogil:
    return min(s.n_stack, COUNT_VALUES - 1)


cdef int headless(const StateC* s, int head, int dependent) noexcept nogil:
    cdef int w
    cdef int n = 0
    for w in range(s.start, s.b):
        n += s.head[w] == NONE
    return min(n, COUNT_VALUES - 1)


cdef int has_root_child(const StateC* s, int head, int dependent) noexcept nogil:
    return nth_root_child(s, 0) != NONE


new_fact("S0-B0.distance", DISTANCE_VALUES, distance)
new_fact("S1-S0.distance", DISTANCE_VALUES, stack_distance)
new_fact("I1-B0.distance", DISTANCE_VALUES, item_distance)
new_fact("H-D.distance", 2 * DISTANCE_VALUES, arc_distance)
new_fact("S0-B0.crossed", COUNT_VALUES, crossed)
new_fact("S0-B0.headless", COUNT_VALUES, headless_between)
new_fact("H-D.crossed", COUNT_VALUES, n_crossed)
new_fact("H-D.headless", COUNT_VALUES, n_headless_between)
new_fact("stack.depth", COUNT_VALUES, depth)
new_fact("items.headless", COUNT_VALUES, headless)
new_fact("root.child", 2, has_root_child)


cdef inline int word_fact(const StateC* s, int kind, int w) noexcept nogil:
    if kind >= TOKEN:   # the layer knows its value
        return NONE if w == s.n else w
    if w == NONE:
        return 0
    if kind == LABEL:  # a head without a label (none was noted) counts as no label
        return 0 if w == s.n or s.head[w] == NONE else s.label[w] + 1
    if kind == N_RIGHT:
        return min(s.n_right[w] + 1, COUNT_VALUES - 1)
    return min((n_root_children(s) if w == s.n else s.n_left[w]) + 1, COUNT_VALUES - 1)


cdef void find_facts(
    const FeaturesC* features, const StateC* s, int head, int dependent, const int* words, int* out
) noexcept nogil:
    """The value of each fact: 0 where there is nothing to know. words: as find_words has them."""
    cdef int i
    cdef const FactC* fact
    for i in range(features.n_facts):
        fact = &features.facts[i]
        if fact.value != NULL:
            out[i] = fact.value(s, head, dependent)
        else:
            out[i] = word_fact(s, fact.kind, find_word(&fact.word, s, head, dependent, words))


cdef int read_word(str name, list parts, WordC* out) except -1:
    base = parts[0]
    letter, number = base[:1], base[1:]
    known = letter in WORDS and (number == "" if letter in ("H", "D") else number.isdecimal())
    place = int(number) if known and number else 0
    if not known or place > FARTHEST or (letter == "I" and not place):
        raise ValueError(
            f"Feature {name!r}: a word is S0, S1, ... or B0, B1, ... or I1, I2, ... (up to "
            f"{FARTHEST}) or H or D, or one that its transition system brings, not {base!r}."
        )
    if len(parts) - 1 > MAX_HOPS:
        raise ValueError(f"Feature {name!r} has more than {MAX_HOPS} hops.")
    out.base = <word_t><uintptr_t>WORDS[letter]
    out.place = place
    out.n_hops = len(parts) - 1
    for i, hop in enumerate(parts[1:]):
        if hop not in HOPS:
            raise ValueError(f"Feature {name!r}: a hop is one of {tuple(HOPS)}, not {hop!r}.")
        out.hops[i] = HOPS[hop]
    return 0


cdef void shorten(const FeaturesC* features, int n_slots, WordC* word) noexcept:
    """Shorten the path to a word: it begins at the last word on it that is in one of the first
    n_slots slots."""
    cdef int i, j
    cdef const WordC* other
    word.slot = NONE
    word.n_known = 0
    for i in range(n_slots):
        other = &features.slots[i]
        if other.base != word.base or other.place != word.place or other.n_hops > word.n_hops:
            continue
        for j in range(other.n_hops):
            if other.hops[j] != word.hops[j]:
                break
        else:
            if word.slot == NONE or other.n_hops > word.n_known:
                word.slot = i
                word.n_known = other.n_hops


cdef class Features:
    """A compiled list of feature names (see the module's docstring).

    Args:
        names: feature names, word and fact features in any order.

    Raises:
        ValueError: an unknown name, a name twice, no word feature, or too many features.
    """
    def __cinit__(self, names):
        cdef FactC* fact
        names = tuple(names)
        words, pairs, facts = [], [], []
        if any(is_unknown(name) for name in names):
            load_features()
        for name in names:
            if name in words or name in facts or name in pairs:
                raise ValueError(f"Feature {name!r} is named twice.")
            if name in FACTS or name.split(".")[-1] in (*WORD_FACTS, *TOKEN_FACTS):
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
            shorten(&self.c, i, &self.c.slots[i])
        self.n_values = []
        self.token_facts = {}
        for i, name in enumerate(facts):
            fact = &self.c.facts[i]
            if name in FACTS:
                n_values, value = FACTS[name]
                fact.value = <fact_t><uintptr_t>value
                self.n_values.append(n_values)
            else:
                *parts, last = name.split(".")
                if last in WORD_FACTS:
                    fact.kind = WORD_FACTS[last]
                    self.n_values.append(0 if last == "label" else COUNT_VALUES)
                else:
                    self.token_facts.setdefault(last, TOKEN_FACTS[last])
                    fact.kind = TOKEN + list(self.token_facts).index(last)
                    self.n_values.append(TOKEN_FACTS[last].n_values + 1)
                read_word(name, parts, &fact.word)
                shorten(&self.c, self.c.n_slots, &fact.word)

    @property
    def n_slots(self):
        """Rows that a configuration takes from the words: one a word, two a pair."""
        return self.c.n_slots

    @property
    def lookahead(self):
        """How many words from the front of the buffer on are looked at."""
        cdef int i, most = 1
        for i in range(self.c.n_slots):
            if self.c.slots[i].base == buffer_word:
                most = max(most, self.c.slots[i].place + 1)
        return most

    def fact_sizes(self, int n_labels):
        """Number of values of each fact, for a system with n_labels labels (list of int).

        Raises:
            ValueError: n_labels is below 1.
        """
        if n_labels < 1:
            raise ValueError(f"A system has at least 1 label, not {n_labels}.")
        return [n or n_labels + 1 for n in self.n_values]


@lru_cache(maxsize=64)
def compile_features(names):
    """The features of these names (a tuple), compiled once."""
    return Features(names)
