"""What the moves of arc-eager do, for readers of a derivation."""

from __future__ import annotations

from typing import Any

from spacy_nmparse.systems.arc_eager_root_first import root_first_glossary


def arc_eager_glossary(options: dict[str, Any]) -> dict[str, str]:
    """As ``TransitionSystem.glossary``, for a system with these options."""
    if options["root_first"]:
        return root_first_glossary(options["single_root"], options["segment"])
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
    }
    if options["nonmonotonic_left"]:
        texts["LEFT-ARC"] += " If the top had a head, that arc is deleted."
    if options["nonmonotonic_reduce"]:
        texts["REDUCE"] += " If it has no head, the word beneath it becomes its head."
    elif options["unshift"]:
        texts["REDUCE"] += (
            " If it has no head, it goes back to the front of the buffer, to be attached later."
        )
    elif options["single_root"]:
        texts["REDUCE"] += (
            " It has a head; or only ROOT is left in the buffer, and the word beneath it "
            "becomes its head."
        )
    else:
        texts["REDUCE"] += " It has a head."
    decoupled = options["decoupled_repairs"]
    then = "" if decoupled else " Then as RIGHT-ARC."
    if "right_lower" in options["repairs"]:
        texts["RIGHT-LOWER"] = (
            "The top of the stack gets a new head: the last dependent between its old head and "
            f"it, which returns to the stack beneath it.{then}"
        )
    if "right_raise" in options["repairs"]:
        texts["RIGHT-RAISE"] = (
            "The head of the top's head becomes the head of the top of the stack, and the old "
            f"head leaves the stack.{then}"
        )
    if "left_invert" in options["repairs"]:
        texts["LEFT-INVERT"] = (
            "The first dependent on the left of the top of the stack becomes its head, and "
            + (
                "takes its place there, without a head."
                if decoupled
                else "the first item of the "
                "buffer the head of that dependent. The top leaves the stack."
            )
        )
    if options["segment"]:
        texts["BREAK"] = (
            "The sentence ends before the first word of the buffer, where the next one starts "
            "as soon as the stack is empty."
        )
    return texts
