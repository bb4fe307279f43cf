# cython: boundscheck=False, wraparound=False
"""Documents from rows of CoNLL-U: annotations are written straight into spaCy's tokens."""
import re

import numpy

from cython.operator cimport dereference
from libc.stdint cimport uint64_t
from libcpp.unordered_map cimport unordered_map
from libcpp.unordered_set cimport unordered_set
from libcpp.vector cimport vector

from spacy.morphology cimport Morphology
from spacy.parts_of_speech cimport univ_pos_t
from spacy.strings cimport StringStore, hash_utf8
from spacy.structs cimport LexemeC, MorphAnalysisC, TokenC
from spacy.tokens.doc cimport Doc, set_children_from_heads
from spacy.typedefs cimport attr_t
from spacy.vocab cimport Vocab

from spacy_nmparse.ud.table cimport RANGE, WORD, Row, Table, Text, decoded, is_empty, number_of

from spacy.parts_of_speech import IDS as UPOS_TAGS
from spacy.symbols import IDS as SYMBOLS

from spacy_nmparse.pipe.doc_io import PRESET, is_partial, note_tokens
from spacy_nmparse.pipe.roots import EXTENSION, TREEBANK_ROOT
from spacy_nmparse.ud.conllu import (
    COLUMNS, EMPTY, FORM, LEMMA, MISC, PLUS, columns_comment, depths, parts_of
)
from spacy_nmparse.ud.extensions import BESIDE, OWN, UDWord

FEATURE = re.compile(r"[^=|]+=[^=|]+")
MOST = 1 << 16  # FEATS that are known to be right

cdef enum:
    C_FORM = 1
    C_LEMMA = 2
    C_UPOS = 3
    C_XPOS = 4
    C_FEATS = 5
    C_HEAD = 6
    C_DEPREL = 7
    C_MISC = 9

cdef Text NONE = Text(b"", 0)
cdef Text ROOT = Text(b"ROOT", 4)  # ROOT_LABEL
cdef Text DEP = Text(b"dep", 3)

cdef unordered_map[uint64_t, attr_t] symbols  # strings whose numbers are not their hashes
cdef unordered_set[uint64_t] upos_tags
cdef unordered_set[uint64_t] right_feats


cdef uint64_t hash_of(Text text) noexcept:
    return hash_utf8(<char*>text.chars, <int>text.n) if text.n else 0


cdef attr_t number_in(Text text) noexcept:
    """The number that any vocabulary has for a string."""
    cdef uint64_t key = hash_of(text)
    cdef unordered_map[uint64_t, attr_t].iterator found = symbols.find(key)
    return key if found == symbols.end() else dereference(found).second


cdef attr_t added(StringStore strings, Text text) except? 1:
    """The same; the string is in the vocabulary then."""
    cdef uint64_t key = hash_of(text)
    cdef unordered_map[uint64_t, attr_t].iterator found
    if key and strings._map.get(key) == NULL:
        found = symbols.find(key)
        if found != symbols.end():
            return dereference(found).second
        strings.add(decoded(text))
    return key


def _fill():
    for name, number in SYMBOLS.items():
        chars = name.encode()
        symbols[hash_of(Text(chars, len(chars)))] = number
    for name in (*UPOS_TAGS, EMPTY):
        chars = name.encode()
        upos_tags.insert(hash_of(Text(chars, len(chars))))


_fill()


cdef bint are_features(Text text) except -1:
    cdef uint64_t key = hash_of(text)
    if is_empty(text) or right_feats.count(key):
        return True
    if not all([FEATURE.fullmatch(one) for one in decoded(text).split("|")]):
        return False
    if right_feats.size() > MOST:
        right_feats.clear()
    right_feats.insert(key)
    return True


cdef attr_t morph_of(
    Morphology morphology, Text feats, unordered_map[uint64_t, attr_t]* known
) except? 0:
    """The number of FEATS as spaCy orders them. known: those that a document has had before."""
    cdef attr_t number = number_in(feats)
    cdef const MorphAnalysisC* tag = <const MorphAnalysisC*>morphology.tags.get(number)
    if tag != NULL:
        return tag.key
    if not known.count(number):
        dereference(known)[number] = morphology.add(decoded(feats))
    return dereference(known)[number]


cdef struct Token:
    Text form
    Text lemma
    Text upos
    Text tag
    Text feats
    Text label
    int head  # -1: unknown
    bint space
    bint begins  # a sentence


cdef struct Group:
    int row    # that has the form and MISC
    int first  # word
    int end    # the word behind the last
    int whole  # the row of the multiword token that this is, or that begins here; -1: none


cdef Text said(Text text) noexcept:
    return NONE if is_empty(text) else text


cdef comments_of(sentence, Table table):
    """The comments for a document, which has no other columns than those of CoNLL-U."""
    if table.n_columns == len(COLUMNS):
        return sentence.comments
    ten = columns_comment(COLUMNS)
    return [ten if parts_of(one)[0] == PLUS else one for one in sentence.comments]


cdef class Tokens:
    """Tokens of sentences, to make a document of.

    Args:
        merges: Called with the form of each multiword token and those of its words: whether it
            becomes one token; None: none does.
        name: What messages call the source.
        bare: Whether comments and MISC are left out, and a part of speech is the tag where there is
            none.
    """
    cdef object merges, name
    cdef bint bare
    cdef vector[Token] tokens
    cdef list extensions  # the numbers of tokens, names and values
    cdef list kept        # what the tokens' texts are in

    def __init__(self, merges, name, bint bare=False):
        self.merges, self.name, self.bare = merges, name, bare
        self.extensions, self.kept = [], []

    def add(self, sentence):
        """Add a sentence."""
        cdef Table table = sentence.table
        cdef int base = self.tokens.size()
        cdef int n = table.words.size()
        cdef int i, chosen, head
        cdef size_t number
        cdef Group group
        cdef Token token
        cdef vector[char] spaces
        cdef vector[int] token_of
        cdef vector[Group] groups
        self.kept.append(table)
        table.find_spaces(&spaces)
        for i in range(n):
            self.check(sentence, table, i)
        self.find_groups(table, &groups)
        depth = None
        if <int>groups.size() < n:
            # With the head of the word nearest to the root, tokens are a tree again.
            heads = [number_of(table.cell(i, C_HEAD)) for i in table.words]
            depth = depths([i if head <= 0 else head - 1 for i, head in enumerate(heads)])
        token_of.resize(n)
        for number in range(groups.size()):
            for chosen in range(groups[number].first, groups[number].end):
                token_of[chosen] = <int>number
        for number in range(groups.size()):
            group = groups[number]
            chosen = group.first
            if group.end - group.first > 1:
                chosen = min(range(group.first, group.end), key=depth.__getitem__)
            i = table.words[chosen]
            token.form = table.cell(group.row, C_FORM)
            token.lemma = table.cell(i, C_LEMMA)
            if is_empty(token.lemma) and not is_empty(token.form):
                token.lemma = NONE
            token.upos = said(table.cell(i, C_UPOS))
            token.tag = said(table.cell(i, C_XPOS))
            token.feats = said(table.cell(i, C_FEATS))
            token.label = table.cell(i, C_DEPREL)
            if group.end - group.first > 1:
                token.tag = self.joined_tags(table, group)
            head = number_of(table.cell(i, C_HEAD))
            if head < 0:
                token.head, token.label = -1, NONE
            elif head == 0:
                token.head = base + <int>number
                label = decoded(token.label)
                if label not in (EMPTY, TREEBANK_ROOT):
                    self.extensions.append((token.head, EXTENSION, label))
                token.label = ROOT
            else:
                token.head = base + token_of[head - 1]
                token.label = DEP if is_empty(token.label) else token.label
            token.space, token.begins = spaces[group.end - 1], number == 0
            self.tokens.push_back(token)
            if group.whole >= 0 or not is_empty(table.cell(group.row, C_MISC)):
                self.extend(table, group, base + <int>number, chosen)
        if sentence.comments and not self.bare:
            self.extensions.append((base, "ud_comments", comments_of(sentence, table)))

    cdef int check(self, sentence, Table table, int word) except -1:
        """Refuse a word that is not what the format, or the other rows, let it be."""
        cdef int row = table.words[word]
        cdef Text upos = table.cell(row, C_UPOS)
        cdef Text feats = table.cell(row, C_FEATS)
        cdef Text head = table.cell(row, C_HEAD)
        cdef int above = number_of(head)
        if not upos_tags.count(hash_of(upos)):
            raise ValueError(
                f"{self.name}, line {sentence.lines[row]}: {decoded(upos)!r} is no part of speech "
                f"of Universal Dependencies (UPOS)."
            )
        if not are_features(feats):
            raise ValueError(
                f"{self.name}, line {sentence.lines[row]}: the features {decoded(feats)!r} are not "
                f"NAME=VALUE|NAME=VALUE (FEATS)."
            )
        if table.own[row].first != word + 1 or not (0 <= above <= <int>table.words.size()
                                                    or is_empty(head)):
            raise ValueError(
                f"{self.name}: word {word + 1} has the number {decoded(table.cell(row, 0))} and "
                f"the head {decoded(head)}, of {table.n_words} words."
            )
        return 0

    cdef int find_groups(self, Table table, vector[Group]* groups) except -1:
        """The words of a sentence as tokens."""
        cdef int i
        cdef int whole = -1
        cdef int skipped = 0  # words before this one are in a merged token
        cdef int n = table.words.size()
        cdef Row row
        for i in range(<int>table.own.size()):
            row = table.own[i]
            if row.kind == RANGE and 0 < row.first < row.last <= n:
                if self.merges is not None and self.merges(
                    decoded(table.cell(i, C_FORM)), self.forms(table, row.first - 1, row.last)
                ):
                    groups.push_back(Group(i, row.first - 1, row.last, i))
                    skipped = row.last
                else:
                    whole = i
            elif row.kind == WORD and row.first > skipped:
                groups.push_back(Group(i, row.first - 1, row.first, whole))
                whole = -1
        return 0

    cdef list forms(self, Table table, int first, int end):
        cdef int i
        return [decoded(table.cell(table.words[i], C_FORM)) for i in range(first, end)]

    cdef Text joined_tags(self, Table table, Group group) except *:
        """The tags of several words, joined; UPOS where there is no XPOS."""
        cdef int i
        tags = []
        for i in range(group.first, group.end):
            xpos, upos = table.cell(table.words[i], C_XPOS), table.cell(table.words[i], C_UPOS)
            tags.append(decoded(said(upos if is_empty(xpos) else xpos)))
        joined = "_".join(filter(None, tags)).encode("utf-8", "surrogatepass")
        self.kept.append(joined)
        return said(Text(joined, len(joined)))

    cdef int extend(self, Table table, Group group, int token, int chosen) except -1:
        """Note what the extensions of a token hold."""
        cdef int i
        cdef Row span
        cdef list found = []
        misc = decoded(table.cell(group.row, C_MISC))
        if misc != EMPTY and not self.bare:
            self.extensions.append((token, "ud_misc", misc))
        if group.whole < 0:
            return 0
        whole, span = table.row(group.whole), table.own[group.whole]
        if any([value != EMPTY for value in whole[LEMMA:MISC]]):
            self.extensions.append((token, "ud_columns", whole[LEMMA:MISC]))
        if group.end - group.first == 1:
            value = [whole[FORM], span.last - span.first + 1, whole[MISC]]
            self.extensions.append((token, "ud_range", value))
            form = "".join(self.forms(table, span.first - 1, span.last))
            self.extensions.append((token, "ud_form", form))
            return 0
        self.extensions.append((token, "ud_form", whole[FORM]))
        above = number_of(table.cell(table.words[chosen], C_HEAD)) - 1
        for i in range(group.first, group.end):
            row = table.row(table.words[i])
            values = ["" if value == EMPTY else value for value in row[C_LEMMA:C_HEAD]]
            head = number_of(table.cell(table.words[i], C_HEAD)) - 1
            if i == chosen:
                up = OWN
            elif head == above >= 0:
                up = BESIDE
            else:
                # A word with another head outside goes to the one that stands for the token.
                up = (head if group.first <= head < group.end else chosen) - group.first
            found.append(list(UDWord(row[FORM], *values, up, row[C_DEPREL])))
        self.extensions.append((token, "ud_words", found))
        return 0

    def doc(self, Vocab vocab not None):
        """The document."""
        cdef Doc doc = Doc(vocab)
        cdef int n = self.tokens.size()
        cdef int i
        cdef Token* token
        cdef const LexemeC* lexeme
        for i in range(n):
            token = &self.tokens[i]
            lexeme = <const LexemeC*>vocab._by_orth.get(number_in(token.form))
            if lexeme == NULL:
                lexeme = vocab.get(doc.mem, decoded(token.form))
            doc.push_back(lexeme, token.space)
        self.annotate(doc)
        # spaCy would take them from the heads, which may be unknown, or have several roots
        for i in range(n):
            doc.c[i].sent_start = 1 if self.tokens[i].begins else -1
        data = doc.user_data
        if is_partial(doc):  # and would again, when the document is read back
            starts = numpy.empty(n, "int8")
            for i in range(n):
                starts[i] = doc.c[i].sent_start
            data[PRESET] = starts.tobytes()
            note_tokens(doc)
        for i, key, value in self.extensions:
            data["._.", key, doc.c[i].idx, None] = value
        return doc

    cdef int annotate(self, Doc doc) except -1:
        cdef StringStore strings = doc.vocab.strings
        cdef int n = doc.length
        cdef int i
        cdef bint has_heads = False
        cdef bint has_pos = False
        cdef bint has_morphs = False
        cdef unordered_map[uint64_t, attr_t] known
        cdef const Token* given = self.tokens.data()
        cdef TokenC* c = doc.c
        for i in range(n):
            has_heads = has_heads or given[i].head >= 0
            has_pos = has_pos or given[i].upos.n
            has_morphs = has_morphs or given[i].upos.n or given[i].feats.n
        for i in range(n):
            c[i].pos = <univ_pos_t>added(strings, given[i].upos)
        if has_heads:
            for i in range(n):
                c[i].dep = added(strings, given[i].label)
                c[i].head = given[i].head - i if given[i].head >= 0 else 0
            set_children_from_heads(c, 0, n)
        for i in range(n):
            c[i].lemma = added(strings, given[i].lemma)
        for i in range(n):
            c[i].tag = added(strings, given[i].tag)
        if has_morphs:
            for i in range(n):
                added(strings, given[i].feats)
            for i in range(n):
                # among words with UPOS, one without either is not annotated
                if given[i].upos.n or given[i].feats.n or not has_pos:
                    c[i].morph = morph_of(doc.vocab.morphology, given[i].feats, &known)
        if self.bare:
            for i in range(n):
                if c[i].tag == 0:
                    c[i].tag = c[i].pos
        return 0
