"""Names of moves and oracles, each with one number in all systems."""
from spacy_nmparse.systems.structs cimport MAX_ORACLES


cpdef int new_move(str name, str colour=*, str glossary=*) except -1
cpdef int new_oracle(str name, bint follows_tree=*) except -1
cdef bint follows_tree(int oracle) noexcept nogil
