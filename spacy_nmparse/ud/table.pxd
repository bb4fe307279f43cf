"""Rows of CoNLL-U as bytes: what the modules that look at single cells need."""
from libcpp.string cimport string
from libcpp.vector cimport vector


cdef enum:  # kinds of rows
    WORD
    RANGE       # a multiword token
    EMPTY_NODE


cdef struct Text:
    const char* chars  # UTF-8
    Py_ssize_t n


cdef struct Cell:
    size_t start
    size_t n


cdef struct Row:
    int kind
    int first  # the number of a word; those of the first and last one of a range
    int last
    bint is_odd  # a space or carriage return, or an empty cell


cdef class Table:
    cdef readonly int n_columns
    cdef readonly Py_ssize_t line
    cdef string chars
    cdef vector[Cell] cells
    cdef vector[Row] own
    cdef vector[int] words  # their rows
    cdef int n_given
    cdef vector[int] places

    cdef bint add_line(self, const char* line, size_t n) except -1
    cdef int add_row(self, bint is_odd) except -1
    cdef inline Text cell(self, size_t row, int column) noexcept:
        cdef Cell* cell = &self.cells[row * self.n_columns + column]
        return Text(self.chars.data() + cell.start, cell.n)
    cdef bint is_close(self, size_t row) noexcept
    cdef int find_spaces(self, vector[char]* spaces) except -1


cdef str decoded(Text text)
cdef int number_of(Text text) noexcept nogil


cdef inline bint is_empty(Text text) noexcept nogil:
    """Whether it is ``_``."""
    return text.n == 1 and text.chars[0] == c"_"
