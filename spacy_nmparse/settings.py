"""The settings of a parser's component: what they are called, take, default to and do.

Signatures, the defaults of the factories, checks and the tables of docs/options.md are made from
``Settings``. spaCy imports this module whenever a pipeline is made: it imports nothing heavy.
"""

# No postponed annotations: the types of the fields are those of the factories' signatures.

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Generic, TypeVar

T = TypeVar("T")
#: More than any score, and little enough to be added to one in single precision.
MOST_BIAS = 1e6


@dataclass(frozen=True)
class Kind(Generic[T]):
    """The values that a setting takes.

    Attributes:
        takes: What they are, in words.
        fits: Whether a value is one of them.
        convert: Makes a value that fits one of the setting's type.
    """

    takes: str
    fits: Callable[[Any], bool]
    convert: Callable[[Any], T]

    def checked(self, value: Any, component: str, setting: str) -> T:
        """The value, converted. Raises ValueError where it does not fit."""
        if not self.fits(value):
            raise ValueError(
                f"The component '{component}' takes {self.takes} as {setting}, not {value!r}."
            )
        return self.convert(value)


def one_of(values: Sequence[str]) -> Kind[str]:
    """One of a few strings."""
    return Kind(f"one of {', '.join(values)}", lambda value: value in values, str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_strings(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def number_between(low: float, high: float) -> Kind[float]:
    """A number from low to high."""
    return Kind(
        f"a number between {low:g} and {high:g}",
        lambda value: _is_number(value) and low <= value <= high,
        float,
    )


SWITCH = Kind("true or false", lambda value: isinstance(value, bool), bool)
WIDTH = Kind("an integer of at least 1", lambda value: _is_whole(value) and value >= 1, int)
COUNT = Kind("an integer of at least 0", lambda value: _is_whole(value) and value >= 0, int)
LABELS = Kind("a list of labels", _are_strings, list)


def setting(default: Any, kind: Kind, text: str, page: str) -> Any:
    """One setting: its default, what it takes, what it does (Markdown), and where more is said: a
    title and a page of docs/, with an anchor."""
    return field(default=default, metadata={"kind": kind, "text": text, "page": page})


@dataclass(init=False, eq=False, repr=False)
class Settings:
    """The settings."""

    beam_width: int = setting(
        1,
        WIDTH,
        "How many hypotheses parsing follows at the same time. 1 is greedy search",
        "[Beam search](search.md#beam-search)",
    )
    crossing_bias: float = setting(
        0.0,
        number_between(-MOST_BIAS, MOST_BIAS),
        "A number that parsing adds to the scores of moves that make a crossing arc, and of SWAP. "
        "Above 0 the parser finds more crossing arcs, more of them wrong",
        "[More crossing arcs](search.md#more-crossing-arcs)",
    )
    unique_labels: Sequence[str] = setting(
        (),
        LABELS,
        "Labels that a word has on one dependent at most, such as `nsubj`",
        "[Label rules](search.md#label-rules)",
    )
    childless_labels: Sequence[str] = setting(
        (),
        LABELS,
        "Labels whose words have no dependents, such as `det`",
        "[Label rules](search.md#label-rules)",
    )
    write_tags: bool = setting(
        False,
        SWITCH,
        "Write parts of speech, tags and morphological features, each where a token has none",
        "[Tags](pipelines.md#tags)",
    )
    confidence: bool = setting(
        False,
        SWITCH,
        "Store with each token how sure the parser is of its head and label: "
        "`token._.head_confidence`, `token._.dep_confidence`",
        "[Confidence](search.md#confidence)",
    )
    keep_heads: bool = setting(
        False,
        SWITCH,
        "Words that have a head and a label keep them, and are marked: `token._.known_head`. The "
        "parser finds the others. A document whose heads are no part of a tree fails",
        "[Heads that are known](using.md#heads-that-are-known)",
    )
    max_sentence: int = setting(
        1000,
        COUNT,
        "How many words a sentence may have in text without sentence starts; 0: any number",
        "[Long texts without sentences](using.md#long-texts-without-sentences)",
    )
    threads: int = setting(
        1,
        WIDTH,
        "How many threads parse a stream of documents. The trees are the same",
        "[Several threads](speed.md#several-threads)",
    )
    projectivize: bool = setting(
        False,
        SWITCH,
        "Lift crossing arcs before training and lower them after parsing, so that a projective "
        "parser finds some",
        "[Crossing arcs](training.md#crossing-arcs)",
    )


def described() -> dict[str, Any]:
    """The fields of ``Settings`` by name: ``type``, ``default``, and in ``metadata`` the rest."""
    return {one.name: one for one in fields(Settings)}


def defaults() -> dict[str, Any]:
    """The defaults, as a config has them."""
    found = {name: one.default for name, one in described().items()}
    return {name: list(value) if value == () else value for name, value in found.items()}


def table() -> Iterator[str]:
    """The lines of the table in docs/options.md."""
    yield "| option | default | what it does |"
    yield "| --- | --- | --- |"
    for name, default in defaults().items():
        shown = str(default).lower() if isinstance(default, bool) else default
        about = described()[name].metadata
        yield f"| `{name}` | `{shown}` | {about['text']}. See {about['page']} |"
