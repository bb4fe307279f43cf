# cython: boundscheck=False, wraparound=False
"""Rows of CoNLL-U as bytes: found in text, and looked at without a string for each cell."""
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_DecodeUTF8
from libc.string cimport memchr, memcmp, strlen

cdef enum:
    ID = 0
    FORM = 1
    HEAD = 6
    MISC = 9


cdef const char* NO_SPACE = b"SpaceAfter=No"


cdef str decoded(Text text):
    if is_empty(text):
        return "_"
    return PyUnicode_DecodeUTF8(text.chars, text.n, "surrogatepass")


cdef Text encoded(text, list kept) except *:
    """The UTF-8 of a string; what keeps it is put into the list, if the string does not."""
    cdef Text found
    cdef bytes chars
    try:
        found.chars = PyUnicode_AsUTF8AndSize(text, &found.n)
    except UnicodeEncodeError:  # half of a surrogate pair
        chars = text.encode("utf-8", "surrogatepass")
        kept.append(chars)
        found = Text(chars, len(chars))
    return found


cdef int number_of(Text text) noexcept nogil:
    """The number that is written as CoNLL-U has it, below 10^9; -1: it is none, or another one."""
    cdef int number = 0
    cdef Py_ssize_t i
    if not 0 < text.n < 10 or (text.chars[0] == c"0" and text.n > 1):
        return -1
    for i in range(text.n):
        if not c"0" <= text.chars[i] <= c"9":
            return -1
        number = 10 * number + (text.chars[i] - c"0")
    return number


cdef class Table:
    """Rows of a sentence.

    Args:
        n_given: How many columns a line has.
        places: Of each column of the table, its place in a line; n_given: no line has it, it is
            ``_``. None: all are as the lines have them.

    Attributes:
        n_columns: The ten columns of CoNLL-U, and others.
        line: The number of the first row's line.
    """

    def __init__(self, int n_given=10, places=None):
        self.n_given = n_given
        self.places = places or ()
        self.n_columns = len(places or ()) or n_given

    @staticmethod
    def of(rows):
        """A table of rows that are sequences of strings."""
        cdef Table table = Table(len(rows[0]) if rows else 10)
        cdef Text text
        cdef list kept = []
        for row in rows:
            if len(row) != table.n_columns:
                raise ValueError(f"{len(row)} columns instead of {table.n_columns}: {row}.")
            for value in row:
                text = encoded(value, kept)
                table.cells.push_back(Cell(table.chars.size(), text.n))
                table.chars.append(text.chars, text.n)
            table.add_row(False)
        return table

    def __len__(self):
        return self.own.size()

    @property
    def n_words(self):
        """How many rows are words."""
        return self.words.size()

    cdef bint add_line(self, const char* line, size_t n) except -1:
        """Add a row; returns False, and adds none, where the line has another number of columns."""
        cdef size_t base = self.chars.size()
        cdef size_t first = self.cells.size()
        cdef size_t start = 0
        cdef size_t i
        cdef bint is_odd = False
        cdef vector[Cell] given
        for i in range(n + 1):
            if i == n or line[i] == c"\t":
                is_odd = is_odd or i == start
                self.cells.push_back(Cell(base + start, i - start))
                start = i + 1
            elif line[i] == c" " or line[i] == c"\r":
                is_odd = True
        if self.cells.size() - first != <size_t>self.n_given:
            self.cells.resize(first)
            return False
        self.chars.append(line, n)
        if not self.places.empty():
            given.assign(self.cells.begin() + first, self.cells.end())
            given.push_back(Cell(self.chars.size(), 1))
            self.chars.push_back(c"_")
            self.cells.resize(first)
            for place in self.places:
                self.cells.push_back(given[place])
        self.add_row(is_odd)
        return True

    cdef int add_row(self, bint is_odd) except -1:
        """Add a row whose cells are there."""
        cdef size_t i = self.own.size()
        cdef Text number = self.cell(i, ID)
        cdef const char* hyphen = <const char*>memchr(number.chars, c"-", number.n)
        cdef Row row = Row(EMPTY_NODE, number_of(number), 0, is_odd)
        if hyphen != NULL:
            row.kind = RANGE
            row.first = number_of(Text(number.chars, hyphen - number.chars))
            row.last = number_of(Text(hyphen + 1, number.n - (hyphen + 1 - number.chars)))
        elif row.first >= 0 or decoded(number).isdecimal():
            row.kind, row.last = WORD, row.first
            self.words.push_back(<int>i)
        self.own.push_back(row)
        return 0

    def plain(self, size_t first, int due):
        """The first row, from one on, that is not plainly a word.

        Args:
            first: The row to begin with.
            due: The number that it has, if it is a word.
        """
        cdef int n = <int>self.words.size()
        cdef int head
        cdef Text above
        while first < self.own.size():
            above = self.cell(first, HEAD)
            head = number_of(above)
            if self.own[first].is_odd or self.own[first].kind != WORD or due < 1:
                break
            if self.own[first].first != due or head == due or head > n:
                break
            if head < 0 and not is_empty(above):
                break
            first += 1
            due += 1
        return first

    cdef bint is_close(self, size_t row) noexcept:
        """Whether MISC says that no space follows."""
        cdef Text misc = self.cell(row, MISC)
        cdef Py_ssize_t n = strlen(NO_SPACE)
        cdef const char* end
        while misc.n >= n:
            end = <const char*>memchr(misc.chars, c"|", misc.n)
            if end == NULL:
                return misc.n == n and memcmp(misc.chars, NO_SPACE, n) == 0
            if end - misc.chars == n and memcmp(misc.chars, NO_SPACE, n) == 0:
                return True
            misc = Text(end + 1, misc.n - (end + 1 - misc.chars))
        return False

    cdef int find_spaces(self, vector[char]* spaces) except -1:
        """Fill in whether a space follows each word; none does within a multiword token."""
        cdef size_t i
        cdef int end = 0  # of a multiword token
        cdef bint after = True
        cdef bint space
        for i in range(self.own.size()):
            space = not self.is_close(i)
            if self.own[i].kind == RANGE:
                end, after = self.own[i].last, space
            elif self.own[i].kind == WORD:
                if self.own[i].first <= end:
                    space = after and self.own[i].first == end
                spaces.push_back(space)
        return 0

    def spaces(self):
        """Whether a space follows each word (list of bool)."""
        cdef vector[char] spaces
        self.find_spaces(&spaces)
        return [space != 0 for space in spaces]

    def text(self):
        """The text that the forms and ``SpaceAfter=No`` make."""
        cdef string text
        cdef Text form
        cdef size_t i
        cdef int end = 0
        for i in range(self.own.size()):
            if self.own[i].kind == RANGE:
                end = self.own[i].last
            elif self.own[i].kind != WORD or self.own[i].first <= end:
                continue
            form = self.cell(i, FORM)
            text.append(form.chars, form.n)
            if not self.is_close(i):
                text.push_back(c" ")
        return decoded(Text(text.data(), text.size())).strip(" ")

    def heads(self):
        """The head of each word; None: ``_``."""
        return [None if is_empty(self.cell(i, HEAD)) else int(decoded(self.cell(i, HEAD)))
                for i in self.words]

    def row(self, size_t i):
        """A row as a list of strings."""
        cdef int column
        if i >= self.own.size():
            raise IndexError(f"{self.own.size()} rows, got {i}")
        return [decoded(self.cell(i, column)) for column in range(self.n_columns)]

    def rows(self):
        """All rows as lists of strings."""
        return [self.row(i) for i in range(self.own.size())]


cdef class Scanner:
    """Finds rows in text that comes in parts.

    Args:
        first_line: The number of the first line.
        by_line: Whether each part is one line, whatever is in it, rather than whole lines.

    Attributes:
        number: The number of the last line that was found.
    """
    cdef readonly Py_ssize_t number
    cdef bint by_line
    cdef list kept     # the part, and its UTF-8
    cdef Text rest     # of the part
    cdef bint is_done  # with a part that is one line

    def __init__(self, Py_ssize_t first_line, bint by_line):
        self.number = first_line - 1
        self.by_line = by_line

    def feed(self, str part not None):
        """Go on with a part, when nothing is left of the one before."""
        self.kept = [part]
        self.rest = encoded(part, self.kept)
        self.is_done = False

    def rows(self, Table table not None):
        """Add rows to a table up to another line, which is given: a comment; "", a blank line
        behind rows; one that has not the table's columns. None: nothing is left of the part."""
        cdef const char* end
        cdef Text line
        cdef Py_ssize_t i
        while not self.is_done and (self.by_line or self.rest.n):
            line = self.rest
            end = NULL
            if not self.by_line:
                end = <const char*>memchr(line.chars, c"\n", line.n)
            if end != NULL:
                line.n = end - line.chars
                self.rest = Text(end + 1, self.rest.n - line.n - 1)
            else:
                self.is_done = True
            self.number += 1
            while line.n and (line.chars[line.n - 1] == c"\r" or line.chars[line.n - 1] == c"\n"):
                line.n -= 1
            i = 0
            while i < line.n and (line.chars[i] == c" " or line.chars[i] == c"\t"):
                i += 1
            if i == line.n:
                if table.own.empty():
                    continue
                return ""
            if line.chars[0] == c"#":
                return decoded(line)
            if table.own.empty():
                table.line = self.number
            if not table.add_line(line.chars, line.n):
                return decoded(line)
        return None
