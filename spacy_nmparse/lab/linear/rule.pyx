"""The perceptron's rule of Goldberg & Nivre (2012): where the best move and label are wrong, these
are weakened and the best right ones strengthened. The loss is the number of configurations in which
the best is wrong.
"""
from spacy_nmparse.learning.rollout cimport RolloutC, learns_label
from spacy_nmparse.search.choice cimport (
    ARC_LABEL,
    ChoiceC,
    SearchC,
    begin_choice,
    choose_label,
)
from spacy_nmparse.scorers.scorer cimport ScorerC
from spacy_nmparse.systems.state cimport NONE
from spacy_nmparse.systems.table cimport LEARN_ANY, LEARN_LABEL, LEARN_NOT, CandidateC


cdef int find_mistake(RolloutC* rollout, int predicted) noexcept nogil:
    """Find the best right candidate, and learn if that is not the one predicted; a logistic
    regression, which changes no weights here, learns later."""
    cdef SearchC* search = rollout.search
    cdef const ScorerC* scorer = search.scorer
    cdef const CandidateC* c
    cdef ChoiceC choice
    cdef int i
    cdef int right = NONE
    cdef int right_label = NONE
    cdef float value
    cdef float best = 0
    for i in range(search.n):
        c = &search.candidates[i]
        if c.learn == LEARN_NOT:
            continue
        choose_arc_label(search, c, &choice)
        value = search.scores[i]
        if learns_label(search, c) and choice.label != c.label:
            choice.label = c.label
            value = search.labels[c.label]
        if right == NONE or value > best:
            right = i
            right_label = choice.label
            best = value
    c = &search.candidates[predicted]
    choose_arc_label(search, c, &choice)
    if c.learn == LEARN_ANY or (
        c.learn == LEARN_LABEL and (choice.label == c.label or not learns_label(search, c))
    ):
        return predicted
    rollout.loss += 1
    if scorer.add is not NULL:
        scorer.add(scorer.self, &search.candidates[right], right_label, 1)
        scorer.add(scorer.self, c, choice.label, -1)
    return right


cdef inline void choose_arc_label(
    SearchC* search, const CandidateC* c, ChoiceC* choice
) noexcept nogil:
    """Choose a move and the label of its arc, if it makes one, but not what a push notes."""
    if begin_choice(search, c, choice) == ARC_LABEL:
        choose_label(search, choice, ARC_LABEL)


cdef int learn_example(RolloutC* rollout, int predicted) noexcept nogil:
    """Learn from a configuration: a ``judge_t``."""
    cdef SearchC* search = rollout.search
    cdef int right = find_mistake(rollout, predicted)
    search.scorer.note_example(search.scorer.self, search.s, search.candidates, search.n)
    return right
