"""Discrete features of a configuration, for a linear scorer.

A *template* joins one to four *values* with ``*``: ``S0.word*S0.tag*B0.word``. A value is
``<word>.word`` or ``<word>.tag``, ``<word>.label`` (of the arc into the word), ``<word>.n_left``
and ``<word>.n_right`` (how many dependents), ``<word>.left_labels`` and ``<word>.right_labels``
(the set of their labels), or the distance of two words, ``S0-B0.distance``, in the buckets of
``features.pyx``. Words are named as there: ``S0``, ``B1``, ``I1``, ``S0.h``, ``S0.l1``, ``S0.r2``.

A template and its values make one feature: their hash. Values of a word that is not there are 0; a
template all of whose values are 0 makes none. Different features may have the same hash; linear
models bear that well (Bohnet 2010).
"""
from spacy_nmparse.scorers.features cimport MAX_SLOTS, apart, find_words
from spacy_nmparse.systems.configuration cimport State
from spacy_nmparse.systems.state cimport NONE


cdef enum:  # kinds of values
    WORD
    TAG
    LABEL
    N_LEFT
    N_RIGHT
    LEFT_LABELS
    RIGHT_LABELS
    DISTANCE

KINDS = {
    "word": WORD,
    "tag": TAG,
    "label": LABEL,
    "n_left": N_LEFT,
    "n_right": N_RIGHT,
    "left_labels": LEFT_LABELS,
    "right_labels": RIGHT_LABELS,
}

cdef uint64_t OF_ROOT = 1                       # ROOT's word and tag: no string's hash
cdef uint64_t FACTOR = <uint64_t>0x9E3779B97F4A7C15


cdef inline uint64_t mix(uint64_t hashed, uint64_t value) noexcept nogil:
    hashed = (hashed ^ value) * FACTOR
    return hashed ^ (hashed >> 29)


cdef uint64_t label_set(const StateC* s, int child) noexcept nogil:
    """A bit for each label of a dependent and its siblings inward; labels 64 apart share one."""
    cdef uint64_t found = 0
    while child != NONE:
        if s.label[child] >= 0:
            found |= <uint64_t>1 << (s.label[child] & 63)
        child = s.inward[child]
    return found


cdef uint64_t value_of(
    const AtomC* atom, const StateC* s, const int* found, const uint64_t* words,
    const uint64_t* tags
) noexcept nogil:
    """found: the words in the slots."""
    cdef int w = found[atom.slot]
    if w == NONE:
        return 0
    if atom.kind == DISTANCE:
        return apart(s, w, found[atom.other])
    if w == s.n:
        return OF_ROOT if atom.kind == WORD or atom.kind == TAG else 0
    if atom.kind == WORD:
        return words[w]
    if atom.kind == TAG:
        return tags[w]
    if atom.kind == LABEL:
        return 0 if s.head[w] == NONE else s.label[w] + 2
    if atom.kind == N_LEFT:
        return s.n_left[w] + 1
    if atom.kind == N_RIGHT:
        return s.n_right[w] + 1
    if atom.kind == LEFT_LABELS:
        return label_set(s, s.left_child[w])
    return label_set(s, s.right_child[w])


cdef int find_features(
    const TemplatesC* templates, const StateC* s, const uint64_t* words, const uint64_t* tags,
    int bits, uint32_t* out
) noexcept nogil:
    cdef int[MAX_SLOTS] found
    cdef uint64_t[MAX_ATOMS] values
    cdef const TemplateC* one
    cdef uint64_t hashed, any_value
    cdef int i, j
    cdef int n = 0
    find_words(&templates.words, s, NONE, NONE, found)
    for i in range(templates.n_atoms):
        values[i] = value_of(&templates.atoms[i], s, found, words, tags)
    for i in range(templates.n_templates):
        one = &templates.templates[i]
        hashed = one.seed
        any_value = 0
        for j in range(one.n_atoms):
            any_value |= values[one.atoms[j]]
            hashed = mix(hashed, values[one.atoms[j]])
        if any_value != 0:
            out[n] = <uint32_t>((hashed * FACTOR) >> (64 - bits))
            n += 1
    return n


def read_value(name):
    """(kind, word, other word) of a value's name.

    Raises:
        ValueError: it is none.
    """
    path, dot, attribute = name.rpartition(".")
    if attribute == "distance" and path.count("-") == 1:
        return (DISTANCE, *path.split("-"))
    if not dot or attribute not in KINDS:
        raise ValueError(
            f"A value of a template is a word and one of {tuple(KINDS)}, as S0.word, or a "
            f"distance, as S0-B0.distance, not {name!r}."
        )
    return KINDS[attribute], path, path


cdef class Templates:
    """A compiled list of templates (see the module's docstring).

    Args:
        names: templates, in an order that is theirs: it tells them apart.

    Raises:
        ValueError: an unknown name, a template twice, none, or too many.
    """
    def __cinit__(self, names):
        cdef TemplateC* one
        cdef AtomC* atom
        names = list(names)
        values = [name.split("*") for name in names]
        atoms = list(dict.fromkeys(value for parts in values for value in parts))
        if not names or len(names) > MAX_TEMPLATES or len(atoms) > MAX_ATOMS:
            raise ValueError(
                f"A linear scorer takes 1 to {MAX_TEMPLATES} templates of up to {MAX_ATOMS} "
                f"different values, not {len(names)} of {len(atoms)}."
            )
        for name, parts in zip(names, values):
            if names.count(name) > 1:
                raise ValueError(f"Template {name!r} is named twice.")
            if len(parts) > MAX_PARTS:
                raise ValueError(f"Template {name!r} joins more than {MAX_PARTS} values.")
        read = [read_value(value) for value in atoms]
        words = list(dict.fromkeys(word for _, *pair in read for word in pair))
        # shorter ways first: those of other words begin with them
        words.sort(key=lambda word: word.count("."))
        self.words = Features(words)
        if self.words.words != tuple(words):
            raise ValueError(f"Templates name words as S0, B1 or S0.l1, not as in {words}.")
        self.c.words = self.words.c
        self.c.n_atoms = len(atoms)
        for i, (kind, word, other) in enumerate(read):
            atom = &self.c.atoms[i]
            atom.kind = kind
            atom.slot = words.index(word)
            atom.other = words.index(other)
        self.c.n_templates = len(names)
        for i, parts in enumerate(values):
            one = &self.c.templates[i]
            one.seed = mix(0, i + 1)
            one.n_atoms = len(parts)
            for j, part in enumerate(parts):
                one.atoms[j] = atoms.index(part)

    @property
    def lookahead(self):
        """How many words from the front of the buffer on are looked at."""
        return self.words.lookahead

    def features(self, State state, const uint64_t[::1] words, const uint64_t[::1] tags, int bits):
        """The hashed features of a configuration.

        Args:
            state: the configuration.
            words: uint64 (words,): what each word is.
            tags: uint64 (words,): its tag, or 0.
            bits: of the hashes.

        Returns:
            A list of int below 2 ** bits.

        Raises:
            ValueError: words or tags of another configuration, or bits that are not 1 to 31.
        """
        cdef uint32_t[MAX_TEMPLATES] found
        if not words.shape[0] == tags.shape[0] == state.c.n or not 1 <= bits <= 31:
            raise ValueError(
                f"A configuration of {state.c.n} words, {words.shape[0]} words and "
                f"{tags.shape[0]} tags, with hashes of {bits} bits."
            )
        cdef int n = find_features(&self.c, &state.c, &words[0], &tags[0], bits, found)
        return [found[i] for i in range(n)]
