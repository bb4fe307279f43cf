"""Between spaCy's documents and the parser: which tokens are parsed, gold trees, annotations.

Whitespace tokens never reach the parser. Words are the other tokens, numbered from 0.
"""
import numpy

from libc.stdint cimport int8_t, int32_t, uint32_t, uint64_t

from spacy.attrs cimport IS_SPACE
from spacy.lexeme cimport Lexeme
from spacy.parts_of_speech cimport univ_pos_t
from spacy.structs cimport TokenC
from spacy.tokens.doc cimport Doc
from spacy.typedefs cimport attr_t

from spacy_nmparse.pipe.roots import copy_root_labels


#: In ``doc.user_data`` of a parsed document: ``preset_starts`` before the parse, as bytes, where
#: there were any. It has the form of a spaCy extension's value at character 0: ``Doc.from_docs``
#: warns of other keys.
PRESET = ("._.", "spacy_nmparse.preset_starts", 0, None)


#: In ``doc.user_data``: which tokens the document had when something was noted of each of them.
TOKENS = ("._.", "spacy_nmparse.tokens", 0, None)


cdef inline bint is_space(const TokenC* token) noexcept nogil:
    return Lexeme.c_check_flag(token.lex, IS_SPACE)


cdef int check_docs(list docs) except -1:
    """Raises TypeError where one of the documents is no Doc."""
    for doc in docs:
        if not isinstance(doc, Doc):
            raise TypeError(f"Documents are Docs, not {type(doc).__name__}.")
    return 0


cdef int check_tokens(const int32_t[::1] tokens, int n) except -1:
    """Raises ValueError where a document of n tokens does not have these."""
    cdef Py_ssize_t i
    for i in range(tokens.shape[0]):
        if not 0 <= tokens[i] < n:
            raise ValueError(f"A document of {n} tokens has no token {tokens[i]}.")
    return 0


cdef bint has_parse(Doc doc) noexcept:
    """As spaCy sees it when it refuses to set sentence starts: some token has a label."""
    cdef int i
    for i in range(doc.length):
        if doc.c[i].dep != 0:
            return True
    return False


cdef uint64_t digest(Doc doc) noexcept:
    """A number that tells where the tokens of a document begin and end."""
    cdef uint64_t found = doc.length
    cdef int i
    for i in range(doc.length):
        found = (found ^ <uint64_t>doc.c[i].idx) * <uint64_t>0x9E3779B97F4A7C15
        found ^= found >> 29
    return found


def note_tokens(Doc doc):
    """Note in ``doc.user_data`` which tokens the document has: what is noted of each of them counts
    no more when some are merged or split."""
    doc.user_data[TOKENS] = digest(doc)


def has_noted_tokens(Doc doc):
    """Whether the document has the tokens that were noted, or none were (bool)."""
    return doc.user_data.get(TOKENS, digest(doc)) == digest(doc)


cdef int forget_presets(Doc doc) except -1:
    doc.user_data.pop(PRESET, None)
    doc.user_data.pop(TOKENS, None)
    return 0


def preset_starts(Doc doc):
    """Where sentences must and must not start, whatever the parser says.

    In a document without a parse these are its sentence starts. Those of a parsed document come
    from the heads (spaCy does not let anyone else set them), and a new parse replaces them: only
    those that were set before the first parse count.

    Returns:
        int8 (tokens,): 1 where a sentence must start, -1 where none may, 0 free.
    """
    cdef int i
    noted = b""
    if has_parse(doc):
        noted = doc.user_data.get(PRESET, b"")
        if len(noted) == doc.length and has_noted_tokens(doc):
            return numpy.frombuffer(noted, dtype="int8")
        return numpy.zeros(doc.length, dtype="int8")
    array = numpy.empty(doc.length, dtype="int8")
    cdef int8_t[::1] starts = array
    for i in range(doc.length):
        starts[i] = doc.c[i].sent_start
    return array


def parsed_tokens(list docs):
    """(tokens, constraints, ends) of documents, one after the other.

    Returns:
        tokens: int32 (words,): the tokens that are parsed, numbered within their document.
        constraints: int8 (words,): 1 where a sentence must start between the word before and this
            one (the word's own mark, or that of a space between them), -1 where none may, 0 free;
            from ``preset_starts``.
        ends: int32 (documents,): where the words of each document end.
    """
    cdef Doc doc
    cdef int i, d, start, first
    cdef int n = 0
    cdef Py_ssize_t total = 0
    cdef bint forced, parsed
    cdef const int8_t[::1] preset = None
    check_docs(docs)
    for doc in docs:
        total += doc.length
    tokens_array = numpy.empty(total, dtype="int32")
    constraints_array = numpy.zeros(total, dtype="int8")
    ends_array = numpy.empty(len(docs), dtype="int32")
    cdef int32_t[::1] tokens = tokens_array
    cdef int8_t[::1] constraints = constraints_array
    cdef int32_t[::1] ends = ends_array
    for d in range(len(docs)):
        doc = docs[d]
        first = n
        forced = False
        parsed = has_parse(doc)
        if parsed:
            preset = preset_starts(doc)
        for i in range(doc.length):
            start = preset[i] if parsed else doc.c[i].sent_start
            forced = forced or start == 1
            if is_space(&doc.c[i]):
                continue
            tokens[n] = i
            if n > first:
                constraints[n] = 1 if forced else (-1 if start == -1 else 0)
            forced = False
            n += 1
        ends[d] = n
    return tokens_array[:n], constraints_array[:n], ends_array


cdef void set_edges(TokenC* tokens, int n) noexcept nogil:
    """Children counts and subtree edges, exact on crossing trees too; linear; ends on any input."""
    cdef int i, j, h
    for i in range(n):
        tokens[i].l_kids = 0
        tokens[i].r_kids = 0
        tokens[i].l_edge = n
        tokens[i].r_edge = n
    for i in range(n):
        h = tokens[i].head
        if h > 0:
            tokens[i + h].l_kids += 1
        elif h < 0:
            tokens[i + h].r_kids += 1
    for i in range(n):              # ascending: the first visitor is the leftmost descendant
        j = i
        while tokens[j].l_edge == <uint32_t>n:
            tokens[j].l_edge = i
            if tokens[j].head == 0:
                break
            j += tokens[j].head
    for i in range(n - 1, -1, -1):  # descending: the rightmost
        j = i
        while tokens[j].r_edge == <uint32_t>n:
            tokens[j].r_edge = i
            if tokens[j].head == 0:
                break
            j += tokens[j].head


cdef int write_parse(
    Doc doc, int n_words, const int32_t* tokens, const int32_t* heads, const int32_t* labels,
    const int8_t* starts, const attr_t* hashes, int n_labels, int8_t* start
) except -1:
    """Write the parse of a document. hashes: of the labels, of a root's and of a space's. start:
    room for a number more than there are tokens."""
    cdef int n = doc.length
    cdef int i, j, w, last_word, first_space, sentence_end
    cdef attr_t root_hash = hashes[n_labels]
    cdef attr_t space_hash = hashes[n_labels + 1]
    cdef TokenC* c = doc.c
    cdef bint pending = False
    cdef bint parsed = has_parse(doc)
    cdef bint any_preset = False
    cdef const int8_t[::1] preset = None
    if parsed:
        preset = preset_starts(doc)
    start[0] = 1
    start[n] = 1
    for i in range(1, n):  # spaCy sets the first itself
        any_preset = any_preset or c[i].sent_start != 0
        start[i] = (preset[i] if parsed else c[i].sent_start) == 1
    if not parsed:
        if any_preset:
            doc.user_data[PRESET] = preset_starts(doc).tobytes()
            note_tokens(doc)
        elif doc.user_data:
            forget_presets(doc)
    elif not has_noted_tokens(doc):
        forget_presets(doc)
    for w in range(n_words):
        i = tokens[w]
        if w > 0 and starts[w]:
            # A sentence start preset on a preceding space counts for this word.
            pending = False
            for j in range(tokens[w - 1] + 1, i + 1):
                pending = pending or start[j]
            if not pending:
                start[i] = 1
        c[i].head = 0 if heads[w] == w else tokens[heads[w]] - i
        if heads[w] == w:
            c[i].dep = root_hash
        else:
            c[i].dep = hashes[labels[w]] if labels[w] >= 0 else space_hash
    i = 0
    while i < n:
        sentence_end = i + 1
        while not start[sentence_end]:
            sentence_end += 1
        last_word = -1
        first_space = -1
        for j in range(i, sentence_end):
            if not is_space(&c[j]):
                if last_word < 0 and first_space >= 0:
                    for w in range(first_space, j):
                        c[w].head = j - w
                last_word = j
                continue
            c[j].dep = space_hash
            if last_word >= 0:
                c[j].head = last_word - j
            elif first_space < 0:
                first_space = j
                c[j].head = 0
            else:
                c[j].head = first_space - j
        if last_word < 0:
            c[first_space].dep = root_hash
        i = sentence_end
    for i in range(n):
        c[i].sent_start = 1 if start[i] else -1
    set_edges(c, n)
    return 0


cdef int check_parses(
    list docs, const int32_t[::1] ends, const int32_t[::1] tokens, const int32_t[::1] heads,
    const int32_t[::1] labels, const int8_t[::1] starts, int n_labels
) except -1:
    """Raises ValueError where parses are not those of the documents."""
    cdef Py_ssize_t d, w
    cdef Py_ssize_t n_words = tokens.shape[0]
    cdef int n_tokens, last
    cdef int first = 0
    check_docs(docs)
    if not n_words == heads.shape[0] == labels.shape[0] == starts.shape[0]:
        raise ValueError(
            f"Words have {n_words} tokens, {heads.shape[0]} heads, {labels.shape[0]} labels and "
            f"{starts.shape[0]} starts."
        )
    if ends.shape[0] != len(docs) or n_words != (ends[ends.shape[0] - 1] if len(docs) else 0):
        raise ValueError(
            f"The parses of {ends.shape[0]} documents with {n_words} words do not end at "
            f"{numpy.asarray(ends)}, or there are {len(docs)} documents."
        )
    for d in range(len(docs)):
        n_tokens = (<Doc>docs[d]).length
        if not first <= ends[d] <= n_words:
            raise ValueError(f"The words of document {d} end at {ends[d]}.")
        last = -1
        for w in range(first, ends[d]):
            if tokens[w] >= n_tokens:
                raise ValueError(
                    f"The document {docs[d].text!r:.80} has fewer tokens than its parse."
                )
            if tokens[w] <= last or not 0 <= heads[w] < ends[d] - first or labels[w] >= n_labels:
                raise ValueError(
                    f"Word {w - first} of document {d} has token {tokens[w]}, head {heads[w]} and "
                    f"label {labels[w]}: tokens ascend, heads are words, and there are {n_labels} "
                    f"labels."
                )
            last = tokens[w]
        first = ends[d]
    return 0


def write_parses(
    list docs, const int32_t[::1] ends, const int32_t[::1] tokens, const int32_t[::1] heads,
    const int32_t[::1] labels, const int8_t[::1] starts, list names
):
    """Write parses to their documents: heads, labels, sentence starts, children, edges.

    A space is attached to the last word of its sentence before it, or the first one after it; a
    sentence of spaces gets the first of them as its root. A preset sentence start on a space stays.
    Preset starts are noted in ``doc.user_data``, so that another parse finds them.

    Args:
        docs: the documents.
        ends: where the words of each document end among those of all.
        tokens: of each word its token (``parsed_tokens``).
        heads: of each word its head's number within the document, a root its own.
        labels: of each word its label's number; -1: that of a space.
        starts: 1 where a sentence starts at the word.
        names: the labels, that of roots, that of spaces.

    Raises:
        ValueError: parses of other documents, or numbers out of range.
    """
    cdef Doc doc
    cdef int d, n
    cdef int first = 0
    cdef int longest = 0
    cdef const attr_t[::1] hashes = None
    cdef int n_labels = len(names) - 2
    strings = None
    if n_labels < 0:
        raise ValueError(f"Names end with those of roots and spaces, not {names}.")
    check_parses(docs, ends, tokens, heads, labels, starts, n_labels)
    for doc in docs:
        longest = max(longest, doc.length)
    cdef int8_t[::1] room = numpy.empty(longest + 1, dtype="int8")
    for d in range(len(docs)):
        doc = docs[d]
        n = ends[d] - first
        if doc.vocab.strings is not strings:  # a sourced component meets other vocabularies
            strings = doc.vocab.strings
            hashes = numpy.asarray([strings.add(name) for name in names], dtype="uint64")
        if doc.length and n:
            write_parse(
                doc, n, &tokens[first], &heads[first], &labels[first], &starts[first], &hashes[0],
                n_labels, &room[0]
            )
        elif doc.length:
            write_parse(doc, 0, NULL, NULL, NULL, NULL, &hashes[0], n_labels, &room[0])
        first = ends[d]


def set_heads(Doc doc, Doc known, taken=None):
    """Give a document without a parse the heads and labels that another one of the same tokens and
    vocabulary has. Its sentence starts stay preset.

    Args:
        doc: the document.
        known: the other one.
        taken: for each token whether its head and label are taken; None: all that are there.

    Returns:
        The document.

    Raises:
        ValueError: tokens or vocabulary differ, or ``taken`` has another length.
    """
    cdef int i
    if not same_tokens(doc, known) or doc.vocab.strings is not known.vocab.strings:
        raise ValueError(
            f"set_heads: {doc.text!r:.80} and {known.text!r:.80} do not have the same tokens and "
            f"vocabulary: make both from the same words, with nlp.vocab."
        )
    if taken is not None and len(taken) != doc.length:
        raise ValueError(f"set_heads: {doc.length} tokens, but {len(taken)} values in taken.")
    starts = preset_starts(doc)
    doc.user_data[PRESET] = starts.tobytes()
    note_tokens(doc)
    for i in range(doc.length):
        if known.c[i].dep != 0 and (taken is None or taken[i]):
            doc.c[i].head = known.c[i].head
            doc.c[i].dep = known.c[i].dep
    copy_root_labels(known, doc)
    return fix_edges(doc)


def fix_edges(Doc doc):
    """Set ``left_edge``, ``right_edge`` and the children counts of a document exactly.

    spaCy recomputes them whenever a Doc is read back (``from_bytes``, DocBin, ``n_process``),
    wrongly on many crossing trees. Heads, labels and sentences are left as they are. Returns the
    document.
    """
    cdef int i
    for i in range(doc.length):
        if not 0 <= i + doc.c[i].head < doc.length:
            raise ValueError(f"Token {i} has a head outside the document.")
    with nogil:
        set_edges(doc.c, doc.length)
    return doc


cdef bint same_tokens(Doc a, Doc b):
    cdef int i
    if a.length != b.length:
        return False
    for i in range(a.length):
        if a.c[i].lex.orth != b.c[i].lex.orth or a.c[i].spacy != b.c[i].spacy:
            return False
    return True


def is_partial(Doc doc):
    """Whether some words of a document have a label and others have none (spaces do not count)."""
    cdef int i
    cdef bint known = False
    cdef bint unknown = False
    for i in range(doc.length):
        if not is_space(&doc.c[i]):
            known = known or doc.c[i].dep != 0
            unknown = unknown or doc.c[i].dep == 0
    return known and unknown


def gold_parse(example):
    """The gold tree of an example over the tokens of its predicted document, as far as known.

    Returns:
        (heads, labels, starts), lists over tokens: the head's token or None (unknown), the label
        or None, True / False / None. A root is its own head.
    """
    cdef Doc reference = example.reference
    cdef Doc predicted = example.predicted
    cdef int i
    check_docs([reference, predicted])
    if same_tokens(predicted, reference):
        strings = reference.vocab.strings
        known = [reference.c[i].dep != 0 for i in range(reference.length)]
        heads = [i + reference.c[i].head if known[i] else None for i in range(reference.length)]
        labels = [strings[reference.c[i].dep] if known[i] else None
                  for i in range(reference.length)]
        starts = [None if reference.c[i].sent_start == 0 else reference.c[i].sent_start == 1
                  for i in range(reference.length)]
        return heads, labels, starts
    heads, labels = example.get_aligned_parse(projectivize=False)
    heads = [None if label in (None, "") else head
             for head, label in zip(heads, labels, strict=True)]
    labels = [None if label == "" else label for label in labels]
    starts = [
        None if start is None else bool(start) for start in example.get_aligned_sent_starts()
    ]
    return heads, labels, starts


def gold_tags(example, const int32_t[::1] tokens):
    """POS, TAG and MORPH of tokens of the predicted document, as hashes of strings.

    Args:
        example: the example.
        tokens: int32 (words,): the tokens.

    Returns:
        uint64 (words, 3): zeros where the reference says nothing, or has several tokens there that
        differ.

    Raises:
        ValueError: the document does not have the tokens.
    """
    cdef Doc reference = example.reference
    cdef Doc predicted = example.predicted
    cdef int i
    cdef const TokenC* token
    array = numpy.empty((tokens.shape[0], 3), dtype="uint64")
    cdef uint64_t[:, ::1] fields = array
    check_docs([reference, predicted])
    check_tokens(tokens, predicted.length)
    if same_tokens(predicted, reference):
        for i in range(tokens.shape[0]):
            token = &reference.c[tokens[i]]
            fields[i, 0] = <uint64_t>token.pos
            fields[i, 1] = token.tag
            fields[i, 2] = token.morph
        return array
    aligned = [example.get_aligned(name) for name in ("POS", "TAG", "MORPH")]
    for i in range(tokens.shape[0]):
        array[i] = [column[tokens[i]] or 0 for column in aligned]
    return array


def write_tags(Doc doc, const int32_t[::1] tokens, const uint64_t[:, ::1] fields):
    """Write parts of speech, tags and features, each where a token has none.

    Args:
        tokens: int32 (words,): the tokens.
        fields: uint64 (words, 3): of each, POS by its number, TAG and MORPH as hashes; 0: nothing.

    Raises:
        ValueError: the document does not have the tokens, or fields of other words.
    """
    cdef int i
    cdef TokenC* token
    check_tokens(tokens, doc.length)
    if fields.shape[0] != tokens.shape[0] or fields.shape[1] != 3:
        raise ValueError(
            f"Fields have the shape {tokens.shape[0], 3}, not {fields.shape[0], fields.shape[1]}."
        )
    with nogil:
        for i in range(tokens.shape[0]):
            token = &doc.c[tokens[i]]
            if token.pos == 0:
                token.pos = <univ_pos_t>fields[i, 0]
            if token.tag == 0:
                token.tag = fields[i, 1]
            if token.morph == 0:
                token.morph = fields[i, 2]
