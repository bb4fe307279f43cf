"""Planes: which gold arcs cross, and how many must be given up so that two planes hold the rest."""
from spacy_nmparse.systems.gold cimport GoldC, tables_of
from spacy_nmparse.systems.table cimport SystemC


cdef struct PlanesC:                 # what two_planar reads besides
    bint crossing                    # whether any arcs between words cross
    bint beyond                      # whether two planes do not hold all arcs
    const int* plane                 # word -> 1 or 2: where its arc belongs; 0: no arc crosses it
    # Room for the search. open: word -> planes where its arc can still be built (a sum of 1 and 2),
    # or 0; cycle: word -> number of the cycle that its arc is on, or 0.
    int* open
    int* cycle
    int n_cycles
    int* colour
    int* parent
    int* queue
    int* near_
    int* found
    int* dropped
    int* kept
    int steps


cdef int derive_planes(GoldC* gold, const SystemC* system) except -1


cdef inline PlanesC* planar_tables(const GoldC* gold) noexcept nogil:
    return <PlanesC*>tables_of(gold, <const void*>derive_planes)


cdef int fewest_given_up(const GoldC* gold, int first, int last) noexcept nogil
