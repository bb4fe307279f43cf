"""Rows of CoNLL-U from documents, written into one buffer; each string is looked up once."""
import re

from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from cython.operator cimport dereference
from libc.stdint cimport uint64_t
from libcpp.string cimport string
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from spacy.tokens.doc cimport Doc

from spacy.parts_of_speech import NAMES
from spacy.tokens import MorphAnalysis

from spacy_nmparse.pipe.known import NAME as KNOWN
from spacy_nmparse.pipe.roots import EXTENSION as ROOT
from spacy_nmparse.ud.conllu import EMPTY, NO_SPACE
from spacy_nmparse.ud.extensions import BESIDE, OWN, told_of, ud_range, ud_words

SPACES_BEFORE, SPACES_AFTER, SPACES_IN = "SpacesBefore=", "SpacesAfter=", "SpacesInToken="
KNOWN_HEAD, CONFIRMED = "KnownHead=Yes", "Confirmed=Yes"
CONFIDENCES = ("HeadConfidence", "DepConfidence")
ESCAPES = {"\\": "\\\\", " ": "\\s", "\t": "\\t", "\r": "\\r", "\n": "\\n", "|": "\\p"}
MOST = 100_000  # texts that are kept
FORMAT_SPACES = re.compile(r"[ \t\r\n]+")


cdef struct TextC:
    const char* chars  # UTF-8
    Py_ssize_t n
    bint is_empty      # it is "_"
    bint is_space      # what it was made of is spaces alone
    bint differs       # from what it was made of


ctypedef const TextC* Text


cdef class Column:
    """The texts of a column, by numbers. Each is made once: `made` keeps them all."""
    cdef readonly dict made
    cdef object make
    cdef unordered_map[uint64_t, TextC] known

    def __init__(self, make):
        self.make = make
        self.made = {}

    cdef Text of(self, uint64_t number) except NULL:
        cdef TextC text
        cdef unordered_map[uint64_t, TextC].iterator found = self.known.find(number)
        if found == self.known.end():
            before = self.make(number)
            after = self.made.setdefault(number, self.written(before) or EMPTY)
            text.chars = PyUnicode_AsUTF8AndSize(after, &text.n)
            text.is_empty, text.is_space = after == EMPTY, before.isspace()
            text.differs = after != before
            self.known[number] = text
            return &self.known[number]
        return &dereference(found).second

    cdef str written(self, str text):
        return joined(text)

    cdef str at(self, uint64_t number):
        self.of(number)
        return self.made[number]


cdef class Forms(Column):
    """The same, of columns that can have spaces."""
    cdef str written(self, str text):
        return plain(text)


cdef class Texts:
    """The texts of columns, by the numbers that a vocabulary has for strings."""
    cdef readonly object vocab
    cdef readonly Column forms, upos, names, feats
    cdef dict miscs  # MISC, and whether a space follows, by the arguments of _misc

    def __init__(self, vocab):
        strings = vocab.strings
        self.vocab = vocab
        self.forms, self.names = Forms(strings.__getitem__), Column(strings.__getitem__)
        self.upos = Column(NAMES.__getitem__)
        self.feats = Column(lambda key: features(MorphAnalysis.from_id(vocab, key)))
        self.miscs = {}

    cdef Py_ssize_t n_made(self):
        return len(self.miscs) + len(self.forms.made) + len(self.names.made)


def texts_of(vocab):
    """Texts that are kept from one document to the next, those of the vocabulary asked for last,
    until there are too many."""
    global _texts
    cdef Texts texts = _texts
    if texts is None or texts.vocab is not vocab or texts.n_made() > MOST:
        texts = _texts = Texts(vocab)
    return texts


_texts = None


def plain(text):
    """A text without the spaces that columns cannot have; all others stay."""
    return FORMAT_SPACES.sub(" ", text).strip(" ")


def joined(text):
    """A text for a column that cannot have spaces at all."""
    return FORMAT_SPACES.sub("_", text)


def features(morph):
    """FEATS in the order of Universal Dependencies, which is not spaCy's."""
    return "|".join(sorted(str(morph).split("|"), key=str.lower))


def escaped(spaces):
    """Whitespace as the value of ``SpacesAfter``; what UDPipe has no escape for, by its number."""
    return "".join(
        ESCAPES.get(sign) or (f"\\u{ord(sign):04x}" if sign.isspace() else sign) for sign in spaces
    )


def misc_items(misc):
    """The items of MISC but for those of an earlier parse."""
    items = (misc or EMPTY).split("|")
    return [item for item in items if item != EMPTY and item.partition("=")[0] not in CONFIDENCES]


def is_marked(misc):
    """Whether MISC says that the head of the word was known, or confirmed by a person."""
    return misc is not None and not {KNOWN_HEAD, CONFIRMED}.isdisjoint(misc.split("|"))


def marked_items(items):
    """Items of the MISC of a word whose head was known, which say so."""
    return items if is_marked("|".join(items)) else [*items, KNOWN_HEAD]


cdef list _spaced(list items, str gap, bint at_end):
    """Items that say which spaces follow, in their order where they say it already."""
    after = [item for item in items if item.startswith(SPACES_AFTER)]
    if (at_end and not gap) or (gap and after):
        return items  # what follows a document is up to where it comes from
    if not gap:
        items = [item for item in items if item not in after]
        return items if NO_SPACE in items else [*items, NO_SPACE]
    items = [item for item in items if item != NO_SPACE]
    return items if gap == " " else [*items, SPACES_AFTER + escaped(gap)]


def _misc(
    misc, str gap, bint at_end, str leading="", str text="", bint is_known=False,
    bint is_inside=False, str sure=""
):
    """MISC of a word, and whether a space follows. Of what the word had stay other items; the
    spaces behind it are said, of the first word those before it, its text, if FORM is another, and
    whether its head was known; sure: confidences."""
    items = _spaced(misc_items(misc), gap, at_end)
    if leading and not any([item.startswith(SPACES_BEFORE) for item in items]):
        items = [SPACES_BEFORE + escaped(leading), *items]
    if text and not any([item.startswith(SPACES_IN) for item in items]):
        items.append(SPACES_IN + escaped(text))
    if is_known:
        items = marked_items(items)
    if sure:
        items.append(sure)
    if is_inside:
        items = [
            item for item in items
            if item != NO_SPACE and not item.startswith((SPACES_BEFORE, SPACES_AFTER))
        ]
    written = plain("|".join(items)) or EMPTY
    return written, NO_SPACE not in written.split("|")


cdef inline int add(string* out, Text text) except -1 nogil:
    out.push_back(c"\t")
    out.append(text.chars, text.n)
    return 0


cdef int add_number(string* out, int number) except -1 nogil:
    cdef char[24] digits
    cdef int place = 24
    while number or place == 24:
        place -= 1
        digits[place] = <char>(c"0" + number % 10)
        number //= 10
    out.append(&digits[place], 24 - place)
    return 0


cdef int add_str(string* out, str text) except -1:
    cdef bytes chars = text.encode("utf-8", "surrogatepass")
    out.append(<const char*>chars, len(chars))
    return 0


cdef str decoded(string* text):
    return text.data()[:text.size()].decode("utf-8", "surrogatepass")


cdef class RowWriter:
    """Writes the rows of a document's sentences: words, and multiword tokens before theirs.

    Args:
        doc: The document.
        sure: float32 (2, tokens), confidences for MISC; None: MISC has none.
    """
    cdef Doc doc
    cdef Texts made
    cdef list sure
    cdef list told            # of each token: the values of its extensions, by their names
    cdef int n_leading        # tokens of spaces before the first word
    cdef vector[Text] forms
    cdef vector[int] numbers  # of each token, that of the word which stands for it in the tree

    def __init__(self, Doc doc not None, sure=None):
        cdef int i
        self.doc, self.made = doc, texts_of(doc.vocab)
        self.sure = None if sure is None else sure.T.tolist()
        if sure is not None and len(self.sure) != doc.length:
            raise ValueError(f"got {len(self.sure)} confidences for {doc.length} tokens")
        self.told = told_of(doc)
        self.forms.resize(doc.length)
        self.numbers.resize(doc.length)
        self.n_leading = doc.length
        for i in range(doc.length):
            self.forms[i] = self.made.forms.of(doc.c[i].lex.orth)
            if self.n_leading == doc.length and not self.forms[i].is_space:
                self.n_leading = i

    cdef int check(self, int start, int end) except -1:
        cdef int n = <int>self.forms.size()
        if self.doc is None or not 0 <= start <= end <= n <= self.doc.length:
            raise IndexError(f"{n} tokens, got {start} to {end}")
        return 0

    def sentence(self, int start, int end):
        """The text of the words among some tokens, and their rows as lines; None: there are no
        words. A word below a whitespace token goes to the head of that token."""
        cdef int i, place, n
        cdef int n_words = 0
        cdef int number = 1
        cdef int inside = 0   # words that remain of a multiword token whose words are tokens
        cdef int covered = 0  # the last word of the multiword tokens before
        cdef string out, text
        cdef vector[int] tokens
        cdef dict words_of = {}
        self.check(start, end)
        for i in range(start, end):
            if self.forms[i].is_space:
                continue
            tokens.push_back(i)
            n_words += 1
            self.numbers[i] = n_words
            if self.says(i, "ud_words") and (words := ud_words(self.doc[i])):
                words_of[i] = words
                self.numbers[i] += next((k for k, word in enumerate(words) if word.head == OWN), 0)
                n_words += len(words) - 1
        if not n_words:
            return None
        for place in range(<int>tokens.size()):
            i = tokens[place]
            if not inside and self.says(i, "ud_range"):
                form, n, misc = ud_range(self.doc[i]) or ("", 0, "")
                if 1 < n <= <int>tokens.size() - place:
                    inside, covered = n, number + n - 1
                    self.add_range(&out, i, number, covered, form)
                    key = self.gap(tokens[place + n - 1], misc)
                    self.end_row(&out, &text, form, key)
            words = words_of.get(i) if words_of else None
            if words is not None:
                covered = number + len(words) - 1
                form = self.made.forms.made[self.doc.c[i].lex.orth]
                self.add_range(&out, i, number, covered, form)
                self.end_row(&out, &text, form, self.misc(i, inside > 0))
                for k, word in enumerate(words):
                    self.add_word(&out, i, number, number + k, word, start, end)
                number += len(words)
            else:
                add_number(&out, number)
                add(&out, self.forms[i])
                add(&out, self.made.forms.of(self.doc.c[i].lemma))
                add(&out, self.made.upos.of(self.doc.c[i].pos))
                add(&out, self.made.names.of(self.doc.c[i].tag))
                add(&out, self.made.feats.of(self.doc.c[i].morph))
                self.add_arc(&out, i, start, end)
                out.append(<const char*>b"\t_")
                if number > covered:
                    text.append(self.forms[i].chars, self.forms[i].n)
                if self.add_misc(&out, i, inside > 0) and number > covered:
                    text.push_back(c" ")
                number += 1
            inside = max(0, inside - 1)
        return decoded(&text).strip(" "), decoded(&out)

    def comments(self, int start, int end):
        """The comments of the sentence that some tokens are."""
        cdef int i
        self.check(start, end)
        for i in range(start, end):
            known = self.says(i, "ud_comments") or ()
            if known or not self.forms[i].is_space:
                return [" ".join(comment.splitlines()) for comment in known]
        return []

    def heads(self):
        """The head of each token; of one without a label, and of a root, its own number."""
        return [self.head(i) for i in range(self.doc.length)]

    def cells(self, int i):
        """LEMMA, UPOS, XPOS, FEATS and DEPREL of a token; ``_``: it has none."""
        cdef Texts made = self.made
        self.check(i, i + 1)
        return (
            made.forms.at(self.doc.c[i].lemma), made.upos.at(self.doc.c[i].pos),
            made.names.at(self.doc.c[i].tag), made.feats.at(self.doc.c[i].morph),
            made.names.at(self.doc.c[i].dep),
        )

    cpdef object says(self, int i, str name):
        """The value of a token's extension."""
        self.check(i, i + 1)
        return (<dict>self.told[i]).get(name) if self.told else None

    cdef str text(self, int i):
        return self.doc.vocab.strings[self.doc.c[i].lex.orth]

    # Trees

    cdef inline int head(self, int i) noexcept nogil:
        """The head of a token; of one without a label, and of a root, its own number."""
        cdef int head = i + self.doc.c[i].head
        return head if self.doc.c[i].dep and 0 <= head < self.doc.length else i

    cdef inline int word_above(self, int i, int start, int end) noexcept nogil:
        """The token that heads a token among some; spaces hand theirs on. Its own number: none."""
        cdef int head = self.head(i)
        while self.forms[head].is_space and self.head(head) != head:
            head = self.head(head)
        return head if start <= head < end and not self.forms[head].is_space else i

    cdef int add_arc(self, string* out, int i, int start, int end) except -1:
        """HEAD and DEPREL of a token; ``_`` where it has none."""
        cdef Text label = self.made.names.of(self.doc.c[i].dep)
        cdef int head = self.word_above(i, start, end)
        cdef bint is_below = self.head(i) != i
        if label.is_empty and not is_below:
            out.append(<const char*>b"\t_\t_")
        elif head != i:
            out.push_back(c"\t")
            add_number(out, self.numbers[head])
            add(out, label)
        elif not is_below and (own := self.says(i, ROOT)):
            add_str(out, f"\t0\t{joined(own)}")
        elif is_below or label.is_empty or label.chars[:label.n] == b"ROOT":
            out.append(<const char*>b"\t0\troot")
        else:
            out.append(<const char*>b"\t0")
            add(out, label)
        return 0

    # Multiword tokens

    cdef int add_range(self, string* out, int i, int first, int last, str form) except -1:
        """The row of a multiword token but for MISC; token i has its columns, if they are known."""
        columns = "\t".join(self.says(i, "ud_columns") or EMPTY * 7)
        add_str(out, f"{first}-{last}\t{plain(form)}\t{columns}")
        return 0

    cdef int add_word(
        self, string* out, int i, int first, int number, word, int start, int end
    ) except -1:
        """The row of one of the words that token i stands for; first: the number of the first."""
        values = [*map(plain, word[:2]), *map(joined, word[2:5])]
        add_str(out, "\t".join([str(number), *[value or EMPTY for value in values]]))
        if word.head == OWN or not (self.doc.c[i].dep or self.doc.c[i].head):
            self.add_arc(out, i, start, end)
        else:
            head = first + word.head
            if word.head == BESIDE:
                head = self.numbers[self.word_above(i, start, end)]
            add_str(out, f"\t{head}\t{joined(word.deprel) or EMPTY}")
        out.append(<const char*>b"\t_\t_\n")
        return 0

    cdef int end_row(self, string* out, string* text, str form, tuple key) except -1:
        """End the row of a form that is in the text."""
        add_str(text, plain(form))
        if self.add_made(out, key):
            text.push_back(c" ")
        return 0

    # MISC

    cdef tuple gap(self, int i, misc):
        """MISC, the spaces behind a token, those that are tokens too, and whether they end the
        document."""
        cdef int n = i + 1
        gap = " " * self.doc.c[i].spacy
        while n < self.doc.length and self.forms[n].is_space:
            gap += self.text(n) + " " * self.doc.c[n].spacy
            n += 1
        return misc, gap, i + 1 == self.doc.length

    cdef tuple misc(self, int i, bint is_inside):
        """What decides on MISC: arguments of ``_misc``."""
        leading = self.doc[:i].text_with_ws if i == self.n_leading > 0 else ""
        text = self.text(i) if self.forms[i].differs else ""
        is_known = bool(self.says(i, KNOWN))
        told = leading, text, is_known, is_inside, self.confidence(i)
        return *self.gap(i, self.says(i, "ud_misc")), *told

    cpdef str confidence(self, int i):
        """Confidences for MISC; "" where none are wanted or known."""
        if self.sure is None:
            return ""
        self.check(i, i + 1)
        pairs = zip(CONFIDENCES, self.sure[i], strict=True)
        return "|".join([f"{key}={value:.3f}" for key, value in pairs])

    cdef bint add_misc(self, string* out, int i, bint is_inside) except -1:
        """End a row; tells whether MISC says that a space follows."""
        cdef bint is_last = i + 1 == self.doc.length
        cdef bint follows = self.doc.c[i].spacy or is_last
        cdef bint is_odd = is_inside or self.forms[i].differs or i == self.n_leading > 0
        is_odd = is_odd or not is_last and self.forms[i + 1].is_space
        if is_odd or self.says(i, "ud_misc") or self.says(i, KNOWN):
            return self.add_made(out, self.misc(i, is_inside))
        out.push_back(c"\t")
        if not follows:
            out.append(<const char*>b"SpaceAfter=No")
        if self.sure is not None:
            add_str(out, "|" * (not follows) + self.confidence(i))
        elif follows:
            out.push_back(c"_")
        out.push_back(c"\n")
        return follows

    cdef bint add_made(self, string* out, tuple key) except -1:
        found = self.made.miscs.get(key)
        if found is None:
            found = self.made.miscs[key] = _misc(*key)
        out.push_back(c"\t")
        add_str(out, found[0])
        out.push_back(c"\n")
        return found[1]
