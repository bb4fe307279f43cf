"""The options of arc-eager with repair transitions or Unshift."""
from spacy_nmparse.systems.arc_eager_options cimport EagerC
from spacy_nmparse.systems.state cimport NONE
from spacy_nmparse.systems.structs cimport StateC, SystemC


cdef struct RepairsC:
    EagerC eager
    bint right_lower            # these moves are there
    bint right_raise
    bint left_invert
    bint decoupled_repairs      # these moves make no arc with B0
    bint unshift                # REDUCE of a headless S0 puts it back into the buffer
    int max_search_states       # configurations that a loss may be searched in; 0: any number
    const SystemC* plain        # the same system without repair transitions
    int left_arc                # places of these moves in the table
    int right_arc


cdef inline const RepairsC* revised(const StateC* s) noexcept nogil:
    return <const RepairsC*>s.system.own


cdef enum:      # numbers in a configuration: decoupled repairs
    REVISED     # S0, if it was lowered or raised,
    REVISED_AT  # when so many words had been read, those put back left out


cdef inline int revised_word(const StateC* s) noexcept nogil:
    """Decoupled repairs: the word that was lowered or raised last, if no word was read since, or
    NONE."""
    cdef int w = s.numbers[REVISED]
    cdef bint now = s.root_last and s.numbers[REVISED_AT] == s.b - s.n_rebuffer
    return w if now and w >= s.start else NONE


cdef inline bint has_repairs(const StateC* s) noexcept nogil:
    return revised(s).right_lower or revised(s).right_raise or revised(s).left_invert
