"""Random walks through every system and option, with everything checked on the way.

    python -m tests.fuzz --transitions 10000000

draws systems with options, gold trees (crossing ones, with several roots, partial, with wrong
labels, over several sentences), preset sentence starts, and legal moves, at random; ``random_walk``
checks each configuration, the moves, the costs and the oracles. Where costs are claimed to be exact
they must be the differences of the losses, and the least 0, at any length. The same seed gives the
same walks. Prints one line per system, and what was wrong; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from spacy_nmparse import systems
from spacy_nmparse.lab.walk import random_walk
from spacy_nmparse.systems import Gold
from tests.exhaustive import check_system, final_losses
from tests.exhaustive_cases import CASES, Case
from tests.naive.trees import Tree
from tests.naive.two_planar import is_two_planar

# Bounds and search: exact as far as the search goes, which is proven up to 5 words.
SEARCHED = ("repairs", "unshift")
PROVEN = 5
SEARCHED_CROSSINGS = 12  # words up to which two_planar's search for planes never ends early
WALKS = 4  # over each gold tree


#: What was tried with one system; "judged": configurations with costs, of which so many "exact";
#: "trees": final ones whose loss was counted word by word.
COUNTS = ("walks", "transitions", "judged", "exact", "trees", "faults")


def variants() -> list[Case]:
    """The cases of exhaustive.py, each system with the same options once."""
    return list(
        {
            (case.system, repr(case.options), case.labels): case
            for case in sorted(CASES, key=lambda case: case.exact)
            if case.formula == "dynamic"
        }.values()
    )


def random_length(rng: random.Random) -> int:
    low, high = rng.choices([(1, 8), (9, 20), (21, 60), (61, 200)], weights=[60, 32, 7, 1])[0]
    return rng.randint(low, high)


def random_projective(n: int, one_root: bool, rng: random.Random) -> list[int]:
    """A projective tree, ROOT standing behind the last word."""
    heads = list(range(n))
    todo = [(0, n, -1, one_root)]  # words first .. last - 1, their head (-1: ROOT), one kid only
    while todo:
        first, last, head, one = todo.pop()
        while first < last:
            end = last if one else rng.randint(first + 1, last)
            kid = rng.randrange(first, end)
            heads[kid] = kid if head == -1 else head
            todo += [(first, kid, kid, False), (kid + 1, end, kid, False)]
            first = end
    return heads


def random_crossing(n: int, one_root: bool, rng: random.Random) -> list[int]:
    """Any tree, mostly with crossing arcs."""
    heads = list(range(n))
    order = rng.sample(range(n), n)
    for place, word in enumerate(order):
        if place and (one_root or rng.random() < 0.8):
            heads[word] = order[rng.randrange(place)]
    return heads


def random_swapped(n: int, one_root: bool, rng: random.Random) -> list[int]:
    """A projective tree in which words have changed places with others near by."""
    heads = random_projective(n, one_root, rng)
    words = list(range(n))
    for _ in range(rng.randint(0, n // 2)):
        first = rng.randrange(n)
        other = min(n - 1, first + rng.randint(1, 3))
        words[first], words[other] = words[other], words[first]
    place = {word: i for i, word in enumerate(words)}
    return [place[heads[word]] for word in words]


@dataclass
class Text:
    """A gold tree with what was drawn about it."""

    tree: Tree
    projective: bool
    known_starts: bool
    right_labels: bool  # roots, and they alone, have the label for roots

    @property
    def n(self) -> int:
        return len(self.tree.heads)


def random_text(case: Case, n: int, rng: random.Random) -> Text:
    """One or more sentences, with the gold tree or what is left of it."""
    projective = rng.random() < (0.7 if case.projective else 0.3)
    one_root = rng.random() < 0.5
    heads: list[int] = []
    starts: list[bool | None] = []
    while len(heads) < n:
        size = rng.randint(1, n - len(heads)) if rng.random() < 0.5 else n - len(heads)
        make = random_projective if projective else rng.choice((random_crossing, random_swapped))
        heads += [head + len(heads) for head in make(size, one_root, rng)]
        starts += [True] + [False] * (size - 1)
    hidden = rng.choice([0.0, 0.0, 0.2, 0.8, 1.0])
    unknown = rng.choice([0.0, 0.0, 0.3, 1.0])
    right_labels = rng.random() < 0.8
    labels: tuple[str | None, ...] | None = None
    if case.labels is not None and rng.random() < 0.9:
        labels = tuple(_random_label(case, h == w, right_labels, rng) for w, h in enumerate(heads))
    kept = tuple(None if rng.random() < hidden else head for head in heads)
    sent_starts = None
    if "segment" in case.options and rng.random() < 0.9:
        sent_starts = tuple(None if rng.random() < unknown else start for start in starts)
    known = sent_starts is not None and None not in sent_starts[1:]
    return Text(Tree(kept, labels, sent_starts), projective, known, right_labels)


def _random_label(case: Case, is_root: bool, right: bool, rng: random.Random) -> str | None:
    assert case.labels is not None
    if rng.random() < 0.1:
        return None
    root_label = case.options.get("root_label")
    if not right or root_label is None:
        return rng.choice(case.labels)
    others = [label for label in case.labels if label != root_label]
    return root_label if is_root else rng.choice(others)


def is_exact(case: Case, text: Text) -> bool:
    """Whether costs are claimed to be exact here."""
    if not case.exact or not text.right_labels or (case.projective and not text.projective):
        return False
    if any(option in case.options for option in SEARCHED) and text.n > PROVEN:
        return False
    searched = case.system == "two_planar" and text.n > SEARCHED_CROSSINGS
    if searched and not is_two_planar(text.tree.heads):
        return False
    headless = case.system == "two_planar" or case.system.endswith("covington")
    if headless and {"segment", "single_root"} <= set(case.options):
        return text.known_starts
    return True


def try_text(
    case: Case, system: systems.TransitionSystem, text: Text, rng: random.Random
) -> tuple[Counter[str], str | None]:
    """Some walks over one text. Returns counts by ``COUNTS``, and what was wrong."""
    counts: Counter[str] = Counter()
    gold = Gold(*text.tree)
    presets: Sequence[int] | None = None
    if "segment" in case.options and rng.random() < 0.3:
        presets = [rng.choice((0, 0, 0, 1, -1)) for _ in range(text.n)]
    exact = is_exact(case, text)
    ask = 1 if text.n <= 20 else text.n // 4
    for walk in range(WALKS):
        state = system.initial(text.n, sent_starts=presets)
        try:
            steps, judged = random_walk(
                system,
                state,
                rng.getrandbits(63),
                gold if walk else None,
                rng.choice(system.oracles),
                exact,
                ask,
                rng.choice((0, 4, 7, 8)),
            )
            if walk and text.n <= 20:
                check_final(system, state, gold, presets)
                counts["trees"] += 1
        except AssertionError as fault:
            counts["faults"] += 1
            return counts, f"{case.name}: {fault}"
        counts.update(walks=1, transitions=steps, judged=judged, exact=judged * exact)
    return counts, None


def check_final(
    system: systems.TransitionSystem,
    state: systems.State,
    gold: Gold,
    presets: Sequence[int] | None,
) -> None:
    """The tree is one, and its loss what comparing word by word gives."""
    heads, _ = state.tree()
    sentence = list(itertools.accumulate(state.sent_starts))
    roots = [sentence[word] for word, head in enumerate(heads) if head == word]
    if set(roots) != set(sentence):
        raise AssertionError(f"a sentence without a root: {system!r}, {state!r}")
    if system.options["single_root"] and len(roots) != len(set(roots)):
        raise AssertionError(f"a sentence with several roots: {system!r}, {state!r}")
    if presets is not None and any(presets):
        return
    tree = Tree(gold.heads, gold.labels, gold.sent_starts)
    if not system.options["segment"]:
        tree = tree._replace(sent_starts=None)
    truth = final_losses(system, state, [tree])[0]
    if system.loss(state, gold) != truth:
        raise AssertionError(
            f"loss {system.loss(state, gold)} of a final configuration, by words {truth}: "
            f"{system!r}, {state!r}, {gold!r}"
        )


def fuzz(
    transitions: int, seed: int = 0, only: str = ""
) -> tuple[dict[str, Counter[str]], list[str]]:
    """Walks until so many transitions are made, through all variants by turns.

    Returns the counts of each system, and what was wrong.
    """
    cases = [case for case in variants() if only in (case.system, "")]
    made = [case.create() for case in cases]
    counts: dict[str, Counter[str]] = {case.system: Counter() for case in cases}
    faults = []
    total = 0
    for number, (case, system) in enumerate(itertools.cycle(zip(cases, made, strict=True))):
        if total >= transitions and number >= len(cases):
            break
        rng = random.Random(f"{seed} {number}")
        found, fault = try_text(case, system, random_text(case, random_length(rng), rng), rng)
        counts[case.system] += found
        faults += [fault] if fault else []
        total += found["transitions"]
    return counts, faults


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--transitions", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--system", default="", help="only this system")
    options = parser.parse_args(arguments)
    check_system(parser, options.system)
    counts, faults = fuzz(options.transitions, options.seed, options.system)
    print(f"{len(variants())} systems with options, seed {options.seed}\n")
    print(f"| system | {' | '.join(COUNTS)} |\n| --- " + "| --: " * len(COUNTS) + "|")
    for name, found in {**counts, "all": sum(counts.values(), Counter())}.items():
        print(f"| {name} | {' | '.join(str(found[key]) for key in COUNTS)} |")
    print(*faults[:20], sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
