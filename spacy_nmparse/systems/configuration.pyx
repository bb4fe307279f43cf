"""The Python face of configurations."""
from libc.stdlib cimport free

from spacy_nmparse.systems.memory cimport allocate
from spacy_nmparse.systems.state cimport (
    NONE,
    B,
    n_buffer,
    state_block_size,
    state_copy,
    state_init,
    state_is_final,
)

from spacy_nmparse.systems.parts import ROOT


cdef class State:
    """A configuration. Made by ``TransitionSystem.initial``; changed by ``TransitionSystem.apply``.

    ``system`` is the name of its transition system. Words are numbered 0 .. n_words - 1 and ROOT is
    ``systems.ROOT``. In ``heads`` a word that is its own head is a child of ROOT, and None means
    that it has no head yet.
    """
    def __cinit__(self, int n, tuple label_names not None, str system=None):
        if n < 1:
            raise ValueError(f"A configuration needs at least one word, not {n}.")
        self.block = allocate(state_block_size(n), 1)
        state_init(&self.c, self.block, n)
        self.label_names = label_names
        self.system = system

    def __dealloc__(self):
        free(self.block)

    def __reduce__(self):
        raise TypeError("A State cannot be pickled: replay its derivation instead.")

    cdef void bind(self, const SystemC* system, owner):
        """Make it a configuration of this system, which ``owner`` keeps alive."""
        self.c.system = system
        self.owner = owner

    cpdef State copy(self):
        """An independent copy."""
        cdef State other = State(self.c.n, self.label_names, self.system)
        state_copy(&other.c, other.block, &self.c)
        other.bind(self.c.system, self.owner)
        return other

    def _name(self, int w):
        return ROOT if w == self.c.n else w

    @property
    def n_words(self):
        """Number of words."""
        return self.c.n

    @property
    def stack(self):
        """The stack as a list of word numbers, top LAST."""
        return [self._name(self.c.stack[i]) for i in range(self.c.n_stack)]

    @property
    def parts(self):
        """Its parts (dict from names to word numbers): see ``TransitionSystem.parts``."""
        if self.owner is None:
            return {"stack": self.stack, "buffer": self.buffer}
        return self.owner.parts(self)

    def __getattr__(self, name):
        found = {} if self.owner is None else {**self.parts, **self.owner.details(self)}
        if name not in found:
            raise AttributeError(f"A configuration of {self.system} has no {name!r}.")
        value = found[name]
        return value if isinstance(value, (bool, int)) or value is None else list(value)

    @property
    def buffer(self):
        """The buffer of the current sentence as a list of word numbers, front FIRST."""
        return [self._name(B(&self.c, i)) for i in range(n_buffer(&self.c))]

    @property
    def returned(self):
        """The words that SWAP or Unshift put back in front of the buffer, front FIRST."""
        cdef int i
        return [self.c.rebuffer[i] for i in range(self.c.n_rebuffer - 1, -1, -1)]

    @property
    def lambda1(self):
        """List systems: the items left of the focus, the left focus word LAST."""
        return list(self.parts.get("lambda1", ()))

    @property
    def lambda2(self):
        """List systems: the items between the focus words, in text order."""
        return list(self.parts.get("lambda2", ()))

    @property
    def heads(self):
        """Head of each word: its number, the word's own number for ROOT, None for no head."""
        cdef int w
        heads = []
        for w in range(self.c.n):
            if self.c.head[w] == NONE:
                heads.append(None)
            elif self.c.head[w] == self.c.n:
                heads.append(w)
            else:
                heads.append(self.c.head[w])
        return heads

    @property
    def labels(self):
        """Label of the arc into each word, or None."""
        return [self._label(self.c.label[w]) for w in range(self.c.n)]

    @property
    def push_labels(self):
        """Label noted for each word when it was pushed, or None."""
        return [self._label(self.c.push_label[w]) for w in range(self.c.n)]

    @property
    def sent_starts(self):
        """Whether each word starts a sentence (a BREAK was made before it; the first word does)."""
        return [w == 0 or self.c.sentence_start[w] == 1 for w in range(self.c.n)]

    @property
    def is_final(self):
        """Whether the derivation has ended."""
        if self.c.system is NULL:
            return state_is_final(&self.c)
        return self.c.system.is_final(&self.c)

    def dependents(self, int word):
        """Dependents of a word so far (of ROOT: ``systems.ROOT``), in text order.

        Raises IndexError for a number that is no word.
        """
        cdef int w, h = self.c.n if word == ROOT else word
        if not 0 <= h <= self.c.n:
            raise IndexError(f"No word {word} among {self.c.n}.")
        children = []
        w = self.c.left_child[h]
        while w != NONE:
            children.append(w)
            w = self.c.inward[w]
        right = []
        w = self.c.right_child[h]
        while w != NONE:
            right.append(w)
            w = self.c.inward[w]
        return children + right[::-1]

    def tree(self):
        """(heads, labels) of a final configuration, every word attached: words that have no head
        get one as ``TransitionSystem.hang_headless`` says.

        Raises ValueError where the configuration is not final.
        """
        if not self.is_final:
            raise ValueError("tree() needs a final configuration; this one has moves to make.")
        heads, labels = self.heads, self.labels
        if None in heads:
            self.owner.hang_headless(heads, labels, self.sent_starts)
        return heads, labels

    def __repr__(self):
        shown = "".join(f"{name}={list(words)}, " for name, words in self.parts.items())
        return f"State({shown}heads={self.heads})"

    def _label(self, int label):
        return self.label_names[label] if 0 <= label < len(self.label_names) else None
