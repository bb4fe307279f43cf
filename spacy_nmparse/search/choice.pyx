"""Choices of a search: the legal moves of a configuration, their scores, their labels."""
from libc.stdint cimport uint8_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from spacy_nmparse.scorers.label_rules cimport LabelRulesC, heed_rules
from spacy_nmparse.scorers.softmax cimport argmax, probability_of
from spacy_nmparse.systems.between cimport n_crossed, n_headless_between
from spacy_nmparse.systems.candidates cimport (
    allowed_labels,
    apply_oracle,
    legal_moves,
    max_candidates,
)
from spacy_nmparse.systems.memory cimport allocate
from spacy_nmparse.systems.state cimport state_block_size, state_init
from spacy_nmparse.systems.structs cimport (
    CROSSES_BY_ARC,
    CROSSES_LATER,
    DYNAMIC,
    LEARN_LABEL,
    LEARN_NOT,
    LEFT_ARC,
    RIGHT_ARC,
    SHIFT,
)


cdef int place_of(const SystemC* system, int name) noexcept nogil:
    """The place of a move in the table, or NONE."""
    cdef int i
    for i in range(system.n_moves):
        if system.moves[i].name == name:
            return i
    return NONE


cdef int search_init(
    SearchC* search, const SystemC* system, const ScorerC* scorer, int max_words
) except -1:
    """Memory for a search over sequences of up to max_words words."""
    cdef size_t n = max(max_candidates(system, max_words), max_words)
    memset(search, 0, sizeof(SearchC))
    search.system = system
    search.scorer = scorer
    search.s = &search.own_state
    search.completes = system.focus is not NULL and system.single_root
    search.shift = place_of(system, SHIFT)
    search.left_arc = place_of(system, LEFT_ARC)
    search.right_arc = place_of(system, RIGHT_ARC)
    try:
        if search.completes:
            search.heads = <int*>allocate(max_words, sizeof(int))
        search.own_block = allocate(state_block_size(max_words), 1)
        search.candidates = <CandidateC*>allocate(n, sizeof(CandidateC))
        search.scores = <float*>allocate(n, sizeof(float))
        search.labels = <float*>allocate(scorer.label_stride, sizeof(float))
        search.mask = <uint8_t*>allocate(system.n_labels, 1)
        search.values = <float*>allocate(n, sizeof(float))
        search.shares = <float*>allocate(n, sizeof(float))
        search.logs = <double*>allocate(n, sizeof(double))
    except MemoryError:
        search_free(search)
        raise
    return 0


cdef void search_free(SearchC* search) noexcept nogil:
    """Give the memory back. A struct of zeros has none."""
    free(search.own_block)
    free(search.heads)
    free(search.candidates)
    free(search.scores)
    free(search.labels)
    free(search.mask)
    free(search.values)
    free(search.shares)
    free(search.logs)
    memset(search, 0, sizeof(SearchC))


cdef void begin_state(
    SearchC* search, StateC* s, void* block, int n, const int8_t* constraints
) noexcept nogil:
    """Make s the initial configuration over n words, and the search's current one."""
    search.s = s
    state_init(s, block, n)
    memcpy(s.constraint, constraints, n)
    s.system = search.system
    s.system.start(s)


cdef bint makes_crossing(const StateC* s, const CandidateC* c) noexcept nogil:
    """Whether a move makes crossing arcs possible, or makes an arc that crosses an arc. Headless
    words between its ends count as crossed: a list system has passed them by, so their arcs, when
    they come, will likely cross this one."""
    cdef int crossing = s.system.moves[c.move].crossing
    if crossing != CROSSES_BY_ARC:
        return crossing == CROSSES_LATER
    return n_crossed(s, c.head, c.dependent) > 0 or n_headless_between(s, c.head, c.dependent) > 0


cdef void keep_given(SearchC* search) noexcept nogil:
    """Leave out the moves, and the labels of arcs, that lose a given arc: those that the system's
    ``keep_known`` does not allow or, without it, those that cost something. The moves that are left
    make all given arcs that the first configuration can reach together."""
    cdef int i
    cdef int n = 0
    if search.system.keep_known is not NULL:
        search.system.keep_known(search.s, search.given, search.candidates, search.n)
    else:
        apply_oracle(
            search.s, search.given, DYNAMIC, noted_by_push(search), False, search.candidates
        )
    for i in range(search.n):
        if search.candidates[i].learn != LEARN_NOT:
            search.candidates[n] = search.candidates[i]
            search.scores[n] = search.scores[i]
            n += 1
    if n:
        search.n = n


cdef bint find_moves(SearchC* search) noexcept nogil:
    """Find and score the legal moves of the current configuration that lose no given arc. False:
    there is no choice, and the scorer was not asked: no move, or one without a label to choose."""
    cdef const ScorerC* scorer = search.scorer
    cdef int i
    cdef int n = legal_moves(search.s, search.candidates)
    search.n = n
    if n == 0:
        return False
    if n == 1 and label_choice(search, search.candidates) == NO_LABEL:
        search.scores[0] = 0
        if search.given is not NULL and search.system.keep_known is not NULL:
            keep_given(search)
        return False
    scorer.score(scorer.self, search.s, search.candidates, n, search.scores)
    if scorer.crossing_bias != 0:
        for i in range(n):
            if makes_crossing(search.s, &search.candidates[i]):
                search.scores[i] += scorer.crossing_bias
    if search.given is not NULL:
        keep_given(search)
    if scorer.rules is not NULL:
        keep_to_rules(search)
    return True


cdef int noted_by_push(SearchC* search) noexcept nogil:
    """The label that a push in the configuration scored last would note, or NONE."""
    cdef CandidateC push
    if not pushes_note(search):
        return NONE
    push.head = push.dependent = NONE
    mask_labels(search, &push)
    score_labels(search, &push, PUSH_LABEL)
    return argmax(search.labels, search.scorer.n_labels, search.mask)


cdef int find_labels(SearchC* search, const CandidateC* c) noexcept nogil:
    """Fill ``search.mask``; the rules may leave nothing. Returns how many labels there are."""
    cdef const LabelRulesC* rules = search.scorer.rules
    cdef int n = allowed_labels(search.s, c, search.mask)
    return n if rules is NULL else heed_rules(rules, search.s, c, search.mask)


cdef void keep_to_rules(SearchC* search) noexcept nogil:
    """Leave out the moves whose arcs the rules leave no label, if there are others."""
    cdef int i
    cdef int n = 0
    for i in range(search.n):
        if search.candidates[i].dependent == NONE or find_labels(search, &search.candidates[i]):
            search.candidates[n] = search.candidates[i]
            search.scores[n] = search.scores[i]
            n += 1
    search.n = n if n else search.n


cdef int mask_labels(SearchC* search, const CandidateC* c) noexcept nogil:
    """Fill ``search.mask``, and ``search.only`` where there is one label. Returns how many there
    are."""
    cdef int n = 1
    search.only = 0
    if search.system.n_labels == 1:
        search.mask[0] = 1
    elif search.given is not NULL and c.dependent != NONE and c.learn == LEARN_LABEL:
        search.only = c.label
    else:
        n = find_labels(search, c)
        if n == 0:
            n = allowed_labels(search.s, c, search.mask)
        if n != 1:
            search.only = NONE
        else:
            while not search.mask[search.only]:
                search.only += 1
    return n


cdef void score_labels(SearchC* search, const CandidateC* c, int kind) noexcept nogil:
    """Score the labels of the arc of a move, or of a push (ARC_LABEL, PUSH_LABEL), in the
    configuration scored last."""
    cdef const ScorerC* scorer = search.scorer
    if kind == ARC_LABEL:
        scorer.score_labels(scorer.self, search.s, c, False, search.labels)
    else:
        scorer.score_noted(scorer.self, search.s, search.labels)


cdef void choose_label(SearchC* search, ChoiceC* choice, int kind) noexcept nogil:
    """Give a chosen move the label that the scorer likes best, of equal ones the first, in the
    configuration scored last. kind: the move's label_choice."""
    cdef const ScorerC* scorer = search.scorer
    if kind == NO_LABEL:
        return
    score_labels(search, &choice.move, kind)
    choice.noted = argmax(search.labels, scorer.n_labels, search.mask)
    if kind == ARC_LABEL:
        choice.label = choice.noted
    if search.confidence.head is not NULL:
        choice.label_p = probability_of(
            search.labels, scorer.n_labels, search.mask, choice.noted
        )


cdef void write_tree(
    const StateC* s, int first, int last, int shift, int32_t* heads, int32_t* labels, int8_t* starts
) noexcept nogil:
    """Write the arcs and sentence starts of the words first .. last - 1. heads: numbers of words
    plus `shift`, a root's is its own, or NONE."""
    cdef int w
    for w in range(first, last):
        heads[w - first] = w if s.head[w] == s.n else s.head[w]
        if s.head[w] != NONE:
            heads[w - first] += shift
        labels[w - first] = s.label[w]
        starts[w - first] = s.sentence_start[w]
