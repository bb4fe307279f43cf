"""Arc-eager with repair transitions or Unshift: the options ``repairs`` and ``unshift``."""
from spacy_nmparse.lab.repairs.options cimport RepairsC, has_repairs, revised, revised_word
from spacy_nmparse.lab.repairs.repair cimport add_repairs
from spacy_nmparse.lab.repairs.revision cimport revised_costs, revised_loss, searches
from spacy_nmparse.systems.arc_eager cimport (
    ArcEager,
    arc_eager_loss,
    can_reduce,
    do_reduce,
    reduced_dependent,
    reduced_head,
)
from spacy_nmparse.lab.monotonic cimport in_system, keep_allowed, learn_in
from spacy_nmparse.systems.configuration cimport State
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.moves cimport can_shift
from spacy_nmparse.systems.names cimport new_oracle
from spacy_nmparse.systems.sentences cimport must_break
from spacy_nmparse.systems.state cimport NONE, B, S, StateC, pop, words_alike
from spacy_nmparse.systems.table cimport (
    LEARN_ANY,
    LEARN_LABEL,
    LEARN_NOT,
    CandidateC,
    MoveC,
    SystemC,
    learn_cheapest,
    no_arc,
)


# Unshift. SHIFT: of a word that was put back, too, only to an empty stack.

cdef bint can_shift_new(const StateC* s, int k) noexcept nogil:
    return (s.n_rebuffer == 0 or s.n_stack == 0) and can_shift(s, k)


# REDUCE of a headless s0 that is not alone: (S|s1|s0, B, A) => (S|s1, s0|B, A).

cdef bint can_unshift(const StateC* s, int k) noexcept nogil:
    if not revised(s).unshift:
        return can_reduce(s, k)
    if s.n_stack == 0 or must_break(s) or B(s, 0) == NONE:
        return False
    return s.head[S(s, 0)] != NONE or s.n_stack >= 2


cdef void do_unshift(StateC* s, int k, int l, int push_label) noexcept nogil:
    if not revised(s).unshift:
        do_reduce(s, k, l, push_label)
    elif s.head[S(s, 0)] == NONE:
        s.rebuffer[s.n_rebuffer] = pop(s)
        s.n_rebuffer += 1
    else:
        pop(s)


cdef int unshifted_head(const StateC* s, int k) noexcept nogil:
    return NONE if revised(s).unshift else reduced_head(s, k)


cdef int unshifted_dependent(const StateC* s, int k) noexcept nogil:
    return NONE if revised(s).unshift else reduced_dependent(s, k)


cdef bint revised_alike(const StateC* a, const StateC* b, int first) noexcept nogil:
    return words_alike(a, b, first) and revised_word(a) == revised_word(b)


# Losses and oracles.

cdef int loss(const StateC* s, const GoldC* gold) noexcept nogil:
    if searches(s):
        return revised_loss(s, gold)
    return arc_eager_loss(s, gold)


cdef void learn_combined(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """As arc-eager's; with repair transitions, of the moves that are as good without, if there are
    any. A repair is learned where it is needed, and not relied on."""
    cdef StateC plain = in_system(s, revised(s).plain)
    cdef StateC monotonic = in_system(s, revised(s).eager.monotonic)
    cdef bint as_good = False
    if has_repairs(s):
        learn_in(&plain, gold, push_label, candidates, n)
        as_good = agree(candidates, n)
    if not as_good:
        learn_cheapest(s, gold, push_label, candidates, n)
    keep_allowed(&monotonic, gold, push_label, candidates, n)


cdef bint agree(CandidateC* candidates, int n) noexcept nogil:
    """Of what is to be learned keep what costs least. Returns whether anything is left."""
    cdef int i
    cdef int least = candidates[0].cost
    cdef bint left = False
    for i in range(1, n):
        least = min(least, candidates[i].cost)
    for i in range(n):
        if candidates[i].cost > least:
            candidates[i].learn = LEARN_NOT
        elif candidates[i].learn == LEARN_ANY and candidates[i].cost_other > least:
            candidates[i].learn = LEARN_LABEL
        left = left or candidates[i].learn != LEARN_NOT
    return left


REPAIRS = ("right_lower", "right_raise", "left_invert")


def shaping(options):
    """The options (dict) that change what a configuration is."""
    others = ("repairs", "decoupled_repairs", "max_search_states")
    return {name: value for name, value in options.items() if value and name not in others}


cdef class RevisedArcEager(ArcEager):
    """Arc-eager with repair transitions or Unshift.

    Args:
        repairs: which of the repair transitions there are, of "right_lower", "right_raise" and
            "left_invert" (see ``repair``); they need nonmonotonic_left.
        decoupled_repairs: repairs only revise; the arc with B0 that they would make is left to the
            next move.
        unshift: REDUCE of a headless S0 puts it back to the front of the buffer (Honnibal & Johnson
            2015); from there it cannot be SHIFTed but to an empty stack. Instead of
            nonmonotonic_reduce.
        max_search_states: how many configurations one search for a loss looks at, where bounds do
            not settle it, with repairs, or unshift without nonmonotonic_left; 0: any number.
        **options: arc-eager's (see ``ArcEager``).

    Raises:
        ValueError: an unknown repair or push, or options that need or exclude another.
    """
    cdef RepairsC own_revised
    cdef RepairsC own_plain
    cdef RepairsC own_revised_monotonic
    cdef SystemC plain

    def _has_configurations_of(self, other):
        """Repairs and limits of searches do not change what a configuration is."""
        return isinstance(other, ArcEager) and (<ArcEager>other).labels == self.labels and (
            shaping((<ArcEager>other).options) == shaping(self.options)
        )

    def __init__(
        self, labels=None, *, repairs=(), bint decoupled_repairs=False, bint unshift=False,
        int max_search_states=200, **options
    ):
        wanted = check_repairs(repairs)
        self.own_revised.right_lower = "right_lower" in wanted
        self.own_revised.right_raise = "right_raise" in wanted
        self.own_revised.left_invert = "left_invert" in wanted
        self.own_revised.decoupled_repairs = decoupled_repairs
        self.own_revised.unshift = unshift
        self.own_revised.max_search_states = max_search_states
        check_options(options, wanted, decoupled_repairs, unshift, max_search_states)
        ArcEager.__init__(self, labels, **options)
        self.options.update({
            "repairs": wanted,
            "decoupled_repairs": bool(decoupled_repairs),
            "unshift": bool(unshift),
            "max_search_states": max_search_states,
        })
        self.texts.update(revised_glossary(self.options))
        self.c.alike = revised_alike
        self.c.loss = loss
        self.c.costs = revised_costs
        if wanted or unshift:
            self.c.oracles[new_oracle("paper")] = NULL
            self.c.oracles[new_oracle("exact")] = NULL
            if self.options["push"] == "any":
                self.c.oracles[new_oracle("combined")] = learn_combined
        self.make_others()

    def details(self, State state not None):
        """As ``TransitionSystem.details``: the word that was revised last, if none was read since.
        """
        word = revised_word(&state.c)
        return {"revised": None if word == NONE else word}

    cdef int make_others(self) except -1:
        """The same system without repair transitions, and monotonic, too, without Unshift."""
        self.plain = self.c
        self.plain.own = &self.own_plain
        self.own_plain = self.own_revised
        self.own_plain.right_lower = False
        self.own_plain.right_raise = False
        self.own_plain.left_invert = False
        self.monotonic = self.plain
        self.monotonic.nonmonotonic = False
        self.monotonic.own = &self.own_revised_monotonic
        self.own_revised_monotonic = self.own_plain
        self.own_revised_monotonic.unshift = False
        self.own_revised_monotonic.eager.nonmonotonic_reduce = False
        self.own_revised.plain = &self.plain
        self.own_revised.eager.monotonic = &self.monotonic
        return 0

    cdef int add_form(self) except -1:
        cdef MoveC* shift = &self.c.moves[0]
        cdef MoveC* reduce_ = &self.c.moves[1]
        self.own_revised.eager = self.own
        self.own_revised.left_arc = self.c.n_moves - 2
        self.own_revised.right_arc = self.c.n_moves - 1
        self.c.own = &self.own_revised
        add_repairs(self)
        if self.own_revised.unshift:
            self.repair_names = {"REDUCE": "UNSHIFT"}
            self.c.noted_arc = NONE
            shift.notes_label = False
            shift.precondition = can_shift_new
            reduce_.precondition = can_unshift
            reduce_.effect = do_unshift
            reduce_.attached = no_arc
            if reduce_.labelled:
                reduce_.head = unshifted_head
                reduce_.dependent = unshifted_dependent
        return 0


def check_repairs(repairs):
    """The repairs in a fixed order (tuple of str). Raises ValueError for an unknown one."""
    wanted = (repairs,) if isinstance(repairs, str) else tuple(repairs)
    for name in wanted:
        if name not in REPAIRS:
            raise ValueError(f"arc_eager: there is no repair {name!r}: there are {REPAIRS}.")
    return tuple(name for name in REPAIRS if name in wanted)


def check_options(options, wanted, decoupled_repairs, unshift, max_search_states):
    """Raises ValueError for options that need or exclude another."""
    push = options.get("push", "any")
    for wrong, message in (
        (wanted and not options.get("nonmonotonic_left"),
         f"the repairs {wanted} need nonmonotonic_left=True: it is the first of the repairs."),
        (decoupled_repairs and not wanted,
         f"decoupled_repairs needs repairs, of {REPAIRS}."),
        (wanted and unshift,
         f"unshift does not go with {wanted}: leave one out."),
        (unshift and options.get("nonmonotonic_reduce"),
         "unshift and nonmonotonic_reduce are two meanings of the same REDUCE: leave one out."),
        (unshift and push != "any",
         f"unshift needs both pushes, not push={push!r}."),
        (push == "shift" and {"right_lower", "right_raise"} & set(wanted),
         "right_lower and right_raise go before RIGHT-ARCs: push='shift' has none."),
        (max_search_states < 0,
         f"max_search_states is a number of configurations, not {max_search_states}."),
    ):
        if wrong:
            raise ValueError(f"arc_eager: {message}")


def revised_glossary(options):
    """Explanations of the moves that differ from arc-eager's (dict from str to str)."""
    decoupled = options["decoupled_repairs"]
    then = "" if decoupled else " Then as RIGHT-ARC."
    inverted = (
        "takes its place there, without a head." if decoupled
        else "the first item of the buffer the head of that dependent. The top leaves the stack."
    )
    texts = {
        "right_lower": "The top of the stack gets a new head: the last dependent between its old "
        f"head and it, which returns to the stack beneath it.{then}",
        "right_raise": "The head of the top's head becomes the head of the top of the stack, and "
        f"the old head leaves the stack.{then}",
        "left_invert": "The first dependent on the left of the top of the stack becomes its head, "
        f"and {inverted}",
    }
    found = {name.upper().replace("_", "-"): texts[name] for name in options["repairs"]}
    if options["unshift"]:
        found["REDUCE"] = (
            "The top of the stack leaves it. If it has no head, it goes back to the front of the "
            "buffer, to be attached later. A word without a head that is alone on the stack stays."
        )
        found["SHIFT"] = (
            "The first item of the buffer goes onto the stack, without a head so far. ROOT, and "
            "words that REDUCE has put back, only go onto an empty stack."
        )
    return found
