"""The variants of parsers that the tables of papers compare: see benchmarks.variants."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.summary import Pair
from spacy_nmparse.lab.linear.zhang_nivre import SETS

SPLITS = ("dev", "test")

#: Blocks of a config: how it learns, and its transition system.
LEARNING, SYSTEM = "components.parser.learning", "components.parser.system"


@dataclass(frozen=True)
class Variant:
    """A row of a table: the name of its result files, what tables call it, the system that it is a
    variant of, and the settings that differ from that system's."""

    name: str
    title: str
    base: str
    settings: tuple[str, ...]

    def as_argument(self) -> str:
        """For `--system` of benchmarks.accuracy."""
        return ",".join([f"{self.name}={self.base}", *self.settings])


def arc_eager(
    name: str,
    title: str,
    left: bool = False,
    reduces: bool = False,
    oracle: str = "dynamic",
    **options: str,
) -> Variant:
    """Make a variant of the arc-eager parser, with LEFT-ARC or REDUCE non-monotonic. The oracle
    `static` is followed without exploration. Further options of the system are JSON."""
    settings = [
        f"{SYSTEM}.@misc=spacy_nmparse.System.v1",
        f"{SYSTEM}.name=arc_eager",
        f"{SYSTEM}.options.nonmonotonic_left={str(left).lower()}",
        f"{SYSTEM}.options.nonmonotonic_reduce={str(reduces).lower()}",
        *(f"{SYSTEM}.options.{key}={value}" for key, value in options.items()),
    ]
    if oracle != "dynamic":
        settings.append(f"{LEARNING}.oracle={oracle}")
    if oracle == "static":
        settings.append(f"{LEARNING}.explore=0.0")
    return Variant(name, title, "nm_parser_multihash", tuple(settings))


def modify(variant: Variant, name: str, title: str, setting: str) -> Variant:
    """Make a variant of a variant; name and title are added to the variant's."""
    settings = (*variant.settings, setting)
    return Variant(f"{variant.name}_{name}", f"{variant.title}, {title}", variant.base, settings)


def exploring(variant: Variant, explore: float) -> Variant:
    """Make a variant that follows the model with another probability in training."""
    setting = f"{LEARNING}.explore={explore}"
    return modify(variant, f"explore{explore}", f"explore {explore}", setting)


def repair(name: str, title: str, *repairs: str, **options: str) -> Variant:
    """Make a variant with these repair transitions in addition to left reattach."""
    listed = ",".join(f'"{one}"' for one in repairs)
    options = {"repairs": f"[{listed}]", "max_search_states": "50", **options}
    return arc_eager(name, title, left=True, **options)


def decoupled(variant: Variant) -> Variant:
    """Make a variant whose repairs leave the arc with B0 to the next move."""
    setting = f"{SYSTEM}.options.decoupled_repairs=true"
    return modify(variant, "decoupled", "decoupled", setting)


def logistic(variant: Variant, features: str, *sets: str) -> Variant:
    """Make a variant with the learner of the draft on repairs, and these lists of templates."""
    listed = ",".join(f'"{one}"' for one in sets)
    settings = ("components.parser.model.learner=logistic",)
    settings += (f"components.parser.model.features=[{listed}]",)
    settings += (f"{STATES}=10",)
    name = f"logistic_{features}_{variant.name}"
    return Variant(name, variant.title, LINEAR[0], (*variant.settings, *settings))


def linear(variant: Variant) -> Variant:
    """Make a variant with the linear scorer, as the papers have it."""
    return Variant(f"linear_{variant.name}", variant.title, LINEAR[0], variant.settings)


def by_beam(variant: Variant) -> Variant:
    """Make a variant that is trained, and parses, with a beam."""
    settings = ("learning.@misc=spacy_nmparse.BeamLearning.v1", "beam_width=8")
    return Variant(
        f"{variant.name}_beam",
        f"{variant.title}, beam",
        variant.base,
        (*variant.settings, *(f"components.parser.{setting}" for setting in settings)),
    )


def swap(oracle: str) -> Variant:
    """Make a linear variant of swap_parser that follows an oracle without exploration."""
    settings = (
        f"{LEARNING}.oracle={oracle}",
        f"{LEARNING}.explore=0.0",
    )
    return Variant(f"linear_swap_{oracle}", oracle, LINEAR[1], settings)


def list_system(name: str, title: str, system: str, *more: str) -> Variant:
    """Make a variant of nl_covington_parser with a list system and further settings."""
    settings = (f"{SYSTEM}.@misc=spacy_nmparse.{system}.v1", *more)
    return Variant(name, title, "nl_covington_parser_multihash", settings)


#: The static oracle, followed without exploration.
STATIC_ORACLE = (
    f"{LEARNING}.oracle=static",
    f"{LEARNING}.explore=0.0",
)
#: In how many states a loss of the repairs is searched for.
STATES = f"{SYSTEM}.options.max_search_states"
#: Arcs may replace arcs.
NONMONOTONIC = f"{SYSTEM}.nonmonotonic=true"
#: The systems of the linear scorer.
LINEAR = ("nm_parser_linear", "swap_parser_linear")
MONOTONIC = arc_eager("monotonic", "monotonic")
LEFT = arc_eager("left", "L", left=True)
REDUCE = arc_eager("reduce", "D", reduces=True)
BOTH = arc_eager("left_reduce", "L+D", left=True, reduces=True)
LEFT_COMBINED = arc_eager("left_combined", "L, combined", left=True, oracle="combined")
REDUCE_COMBINED = arc_eager("reduce_combined", "D, combined", reduces=True, oracle="combined")
COMBINED = arc_eager("both_combined", "L+D, combined", left=True, reduces=True, oracle="combined")
ALL = repair("all_repairs", "+ all four", "right_lower", "right_raise", "left_invert")
ALL_COMBINED = modify(ALL, "combined", "combined", f"{LEARNING}.oracle=combined")
VARIANTS: dict[str, tuple[Variant, ...]] = {
    "rep": (
        arc_eager("monotonic", "arc-eager"),
        arc_eager("left", "+ left reattach", left=True),
        repair("right_lower", "+ left reattach, right lower", "right_lower"),
        repair("right_raise", "+ left reattach, right raise", "right_raise"),
        repair("left_invert", "+ left reattach, left invert", "left_invert"),
        ALL,
    ),
    "hgj13": (
        MONOTONIC,
        LEFT,
        REDUCE,
        BOTH,
        arc_eager("unshift", "L, Unshift", left=True, unshift="true"),
        LEFT_COMBINED,
        REDUCE_COMBINED,
        COMBINED,
        arc_eager("monotonic_static", "monotonic, static", oracle="static"),
        arc_eager("left_static", "L, static", left=True, oracle="static"),
        arc_eager("reduce_static", "D, static", reduces=True, oracle="static"),
        arc_eager("both_static", "L+D, static", left=True, reduces=True, oracle="static"),
    ),
    "fg18": (
        list_system("covington_static", "Covington, static", "Covington", *STATIC_ORACLE),
        list_system("covington", "Covington", "Covington"),
        list_system("covington_loose", "Covington, non-monotonic", "Covington", NONMONOTONIC),
        list_system("nl_covington_static", "NL-Covington, static", "NLCovington", *STATIC_ORACLE),
        list_system("nl_covington", "NL-Covington", "NLCovington"),
        list_system(
            "nl_covington_loose", "NL-Covington, non-monotonic", "NLCovington", NONMONOTONIC
        ),
        Variant("arc_swift_static", "arc-swift, static", "arc_swift_multihash", STATIC_ORACLE),
        Variant("arc_swift", "arc-swift", "arc_swift_multihash", ()),
    ),
}
#: What exploration is worth apart from ROOT's arc, which is no move here. `stops` explores like
#: `dynamic`, and learns the move of `static` among those of equal cost.
NO_ROOT = f"{SYSTEM}.explicit_root=false"
EXPLORATIONS = {"static": STATIC_ORACLE, "dynamic": (), "stops": STATIC_ORACLE[:1]}
VARIANTS["fg18_roots"] = tuple(
    list_system(f"{name}_no_root_{oracle}", f"{title}, {oracle}", system, NO_ROOT, *settings)
    for name, title, system in (
        ("covington", "Covington", "Covington"),
        ("nl_covington", "NL-Covington", "NLCovington"),
    )
    for oracle, settings in EXPLORATIONS.items()
)
REPAIRED = VARIANTS["rep"]
#: Plain features: the baseline, left reattach, all four repairs. Additional ones: each repair, and
#: all four decoupled, and by the oracle `combined`, too.
VARIANTS["rep_linear"] = (
    *(logistic(one, "plain", "zhang_nivre") for one in (*REPAIRED[:2], ALL)),
    *(
        logistic(one, "additional", "zhang_nivre", "additional")
        for one in (*REPAIRED, decoupled(ALL), ALL_COMBINED)
    ),
)
#: The draft's repairs by losses that are searched for in more states.
MORE_STATES = logistic(ALL, "additional", "zhang_nivre", "additional")
VARIANTS["rep_linear"] += (modify(MORE_STATES, "200", "200 states", f"{STATES}=200"),)
#: Both lists of templates, without labels.
UNLABELLED = [name for one in SETS.values() for name in one if "label" not in name]
VARIANTS["rep_labels"] = (
    logistic(REPAIRED[0], "additional", "zhang_nivre", "additional"),
    logistic(REPAIRED[0], "unlabelled", *UNLABELLED),
)
#: The learner's penalty, for each of three parsers; its default is 2e-5.
for repaired in (*REPAIRED[:2], ALL):
    own = logistic(repaired, "additional", "zhang_nivre", "additional")
    VARIANTS[f"rep_penalty_{repaired.name}"] = (
        own,
        *(
            modify(own, f"l1_{l1}", f"penalty {l1}", f"components.parser.model.l1={l1}")
            for l1 in ("0", "5e-6", "8e-5", "32e-5")
        ),
    )
#: What HGJ13, section 4, leaves open: which words are pushed how.
PUSHES = (
    arc_eager("never_shift", "L, never SHIFT", left=True, push="right_arc"),
    arc_eager(
        "labelled_reduce", "L+D, labelled REDUCE", True, reduces=True, labelled_reduce="true"
    ),
    arc_eager(
        "always_shift",
        "L+D, labelled REDUCE, always SHIFT",
        left=True,
        reduces=True,
        labelled_reduce="true",
        push="shift",
    ),
)
VARIANTS["hgj13_linear"] = tuple(map(linear, (*VARIANTS["hgj13"], *PUSHES)))
#: Goldberg & Nivre 2012 follow the model with probability 0.9, parsers here by default always.
VARIANTS["hgj13_explore"] = tuple(
    linear(exploring(variant, 0.9))
    for variant in (MONOTONIC, LEFT_COMBINED, REDUCE_COMBINED, COMBINED)
)
VARIANTS["hgj13_beam"] = tuple(
    by_beam(variant)
    for variant in VARIANTS["hgj13_linear"]
    if variant.name in ("linear_monotonic", "linear_both_combined", "linear_left_reduce")
)
#: BN15's oracles: static ones, and those that leave a choice.
STATIC = ("eager", "lazy", "minimal")
CHOOSING = ("nd_sw", "nd_all")
ORACLES = tuple(swap(oracle) for oracle in (*STATIC, *CHOOSING))
VARIANTS["bn15_linear"] = ORACLES
VARIANTS["bn15_beam"] = tuple(by_beam(variant) for variant in ORACLES)
#: Where there is a choice: what is learned against is the best of each step, or of the sentence.
VARIANTS["bn15_latent"] = tuple(
    variant
    for oracle in CHOOSING
    for beam in (by_beam(swap(oracle)),)
    for variant in (beam, modify(beam, "latent", "latent", f"{LEARNING}.update=latent"))
)


def pairs() -> Iterator[Pair]:
    """List what the tables compare: each variant of a comparison and its first one; list systems by
    oracle and with one another, and with arc-swift."""
    for listed in VARIANTS.values():
        for split in SPLITS:
            for one in listed[1:]:
                yield Pair(one.name, listed[0].name, split, "uas_all")
    for one, split in itertools.product(VARIANTS["rep_linear"], SPLITS):
        _, features, row = one.name.split("_", 2)
        if features == "additional" and row != "monotonic":
            yield Pair(one.name, f"logistic_{features}_monotonic", split, "uas_all")
    for split in SPLITS:
        yield Pair("linear_both_static", "linear_monotonic_static", split, "uas_all")
    for ending in ("", "_beam"):
        eager = f"linear_swap_eager{ending}"
        for oracle in (*STATIC[1:], *CHOOSING):
            yield Pair(f"linear_swap_{oracle}{ending}", eager, "dev", "las_all")
        for oracle, static in itertools.product(CHOOSING, STATIC):
            name = f"linear_swap_{static}{ending}"
            yield Pair(f"linear_swap_{oracle}{ending}", name, "test", "las_all")
    for name, other in (
        ("covington", "covington_static"),
        ("nl_covington", "nl_covington_static"),
        ("nl_covington_static", "covington_static"),
        ("nl_covington", "covington"),
        ("nl_covington_static", "arc_swift_static"),
        ("nl_covington", "arc_swift"),
        ("covington_loose", "covington"),
        ("nl_covington_loose", "nl_covington"),
    ):
        yield Pair(name, other, "test", "las_all")
    for name in ("covington_no_root", "nl_covington_no_root"):
        for later, before in itertools.combinations(reversed(EXPLORATIONS), 2):
            yield Pair(f"{name}_{later}", f"{name}_{before}", "test", "las_all")
