"""What the moves of arc-eager do, for readers of a derivation."""

from __future__ import annotations

from typing import Any


def arc_eager_glossary(options: dict[str, Any]) -> dict[str, str]:
    """What ``TransitionSystem.glossary`` says of a system with these options."""
    texts = {
        "stack": "Words that were read and can still get arcs. Moves are made with the top, "
        "the last one shown.",
        "buffer": "What is to come, the next one first. ROOT is the last item.",
        "SHIFT": "The first item of the buffer goes onto the stack, without a head so far. "
        "SHIFT of ROOT ends the sentence.",
        "LEFT-ARC": "The first item of the buffer becomes the head of the top of the stack, "
        "which leaves the stack.",
        "RIGHT-ARC": "The top of the stack becomes the head of the first word of the buffer, "
        "which goes onto the stack.",
        "REDUCE": "The top of the stack leaves it.",
        "BREAK": "The sentence ends before the first word of the buffer, where the next one starts "
        "as soon as the stack is empty.",
    }
    if options["nonmonotonic_left"]:
        texts["LEFT-ARC"] += " If the top had a head, that arc is deleted."
    if options["nonmonotonic_reduce"]:
        texts["REDUCE"] += " If it has no head, the word beneath it becomes its head."
    elif options["single_root"]:
        texts["REDUCE"] += (
            " It has a head; or only ROOT is left in the buffer, and the word beneath it "
            "becomes its head."
        )
    else:
        texts["REDUCE"] += " It has a head."
    return texts
