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
        "ROOT only goes onto an empty stack: that ends the sentence.",
        "LEFT-ARC": "The first item of the buffer becomes the head of the top of the stack, "
        "which leaves the stack.",
        "RIGHT-ARC": "The top of the stack becomes the head of the first word of the buffer, "
        "which goes onto the stack. ROOT takes no head.",
        "REDUCE": "The top of the stack leaves it.",
        "BREAK": "The sentence ends before the first word of the buffer, where the next one starts "
        "as soon as the stack is empty.",
    }
    if options["nonmonotonic_left"]:
        texts["LEFT-ARC"] += " If the top had a head, that arc is deleted."
    else:
        texts["LEFT-ARC"] += " Only a word without a head can be the dependent."
    if options["push"] == "right_arc":
        texts["SHIFT"] += " With push='right_arc', so do words."
    if options["push"] == "shift":
        texts["RIGHT-ARC"] += " With push='shift' the move is never legal."
    if options["single_root"]:
        texts["LEFT-ARC"] += " ROOT can only be the head of the last word on the stack."
    if options["nonmonotonic_reduce"]:
        texts["REDUCE"] += " If it has no head, the word beneath it becomes its head."
    elif options["single_root"]:
        texts["REDUCE"] += (
            " Only a word that has a head can leave; but if only ROOT is left in the buffer, the "
            "word beneath it becomes its head."
        )
    else:
        texts["REDUCE"] += " Only a word that has a head can leave."
    return texts
