"""Arguments of the Python face: what is misread, is refused, with the value in the message; and
nothing has changed then."""

from __future__ import annotations

import contextlib
import pickle
from typing import Any

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems import Action, Gold, State, TransitionSystem
from spacy_nmparse.systems.projective import lift, lower
from spacy_nmparse.systems.reach import under
from spacy_nmparse.systems.table import MoveTable

#: Methods, with their other arguments.
TAKE_A_CONFIGURATION: tuple[tuple[Any, ...], ...] = (
    ("actions",),
    ("apply", ("SHIFT", 1, None)),
    ("repair", ("SHIFT", 1, None)),
    ("costs", Gold([0, 0])),
    ("loss", Gold([0, 0])),
    ("oracle", Gold([0, 0])),
)


@pytest.mark.parametrize("name", systems.names())
def test_none_is_no_configuration_and_no_tree(name: str) -> None:
    system: Any = systems.create(name)
    state, gold = system.initial(2), Gold([0, 0])
    for method, *arguments in (
        ("actions", None),
        ("apply", None, ("SHIFT", 1, None)),
        ("costs", None, gold),
        ("costs", state, None),
        ("loss", None, gold),
        ("loss", state, None),
        ("oracle", state, None),
        ("derivation", None),
        ("bind", None),
        ("repair", None, ("SHIFT", 1, None)),
    ):
        with pytest.raises(TypeError, match="None"):
            getattr(system, method)(*arguments)


def test_a_system_without_moves_does_nothing() -> None:
    real = systems.create("arc_eager")
    for system in (systems.TransitionSystem(), type(real).__new__(type(real))):
        empty: Any = system
        for method, *arguments in (
            ("initial", 2),
            ("actions", real.initial(1)),
            ("loss", real.initial(1), Gold([0])),
        ):
            with pytest.raises(TypeError, match=r"systems\.create"):
                getattr(empty, method)(*arguments)


@pytest.mark.parametrize("name", systems.names())
def test_configurations_of_another_system(name: str) -> None:
    gold = Gold([0, 0])
    state = systems.create(name).initial(2)
    assert state.system == state.copy().system == name
    systems.create(name).loss(state, gold)
    for other in {*systems.names()} - {name}:
        for method, *arguments in TAKE_A_CONFIGURATION:
            with pytest.raises(ValueError, match=f"{name} is none of {other}"):
                getattr(systems.create(other), method)(state, *arguments)
        assert state.buffer[:2] == [0, 1]


def other_forms(name: str) -> list[TransitionSystem]:
    """Systems with other labels, and with one other option."""
    forms = [systems.create(name), systems.create(name, ("b", "a"))]
    flags = {option: True for option, value in systems.options(name).items() if value is False}
    for option, value in {**flags, "root_label": "a"}.items():
        with contextlib.suppress(ValueError):  # it needs another option
            forms.append(systems.create(name, ("a", "b"), **{option: value}))
    return forms


@pytest.mark.parametrize("name", systems.names())
def test_configurations_of_another_form(name: str) -> None:
    """Other labels have other numbers, and what one form keeps true, another one needs: arcs of
    monotonic Covington were once taken for those of the non-monotonic form, a cycle without end."""
    plain = systems.create(name, ("a", "b"))
    assert len(other_forms(name)) > 4
    for form in other_forms(name):
        for one, other in ((plain, form), (form, plain)):
            for method, *arguments in TAKE_A_CONFIGURATION:
                with pytest.raises(ValueError, match=r"A configuration of .* is none of"):
                    getattr(one, method)(other.initial(2), *arguments)
            assert one.actions(one.initial(3))
    with pytest.raises(ValueError, match="is none of"):
        systems.create(name).actions(State(3, (None,), name))


def test_repairs_of_illegal_actions() -> None:
    system = systems.create("arc_eager", nonmonotonic_left=True)
    with pytest.raises(ValueError, match="is illegal in"):
        system.repair(system.initial(2), ("LEFT-ARC", 1, None))


@pytest.mark.parametrize("cls", [State, Gold, MoveTable, TransitionSystem])
def test_methods_know_their_class(cls: Any) -> None:
    """Called with another object as ``self``, they once read its memory."""
    own = () if cls is TransitionSystem else ("__repr__",)
    for name in (*own, *(name for name in vars(cls) if not name.startswith("__"))):
        if callable(method := getattr(cls, name)):
            for other in (None, 5, "x"):
                with pytest.raises((TypeError, AttributeError)):
                    method(other)


def test_a_system_is_made_once() -> None:
    system: Any = systems.create("arc_eager")
    with pytest.raises(TypeError, match=r"made already.*systems\.create"):
        system.__init__()
    assert len(system.moves) == 4


@pytest.mark.parametrize(
    "action",
    ["SHIFT", ("SHIFT", 1), None, ("SHIFT", 1.0, None), ("SHIFT", None, None), 3],
)
def test_what_is_no_action(action: Any) -> None:
    system = systems.create("arc_eager")
    state = system.initial(2)
    with pytest.raises(ValueError, match=r"An action is \(move, k, label\), not "):
        system.apply(state, action)
    assert state.stack == []


@pytest.mark.parametrize("k", [0, -1, 2, 10**20])
def test_k_out_of_range(k: int) -> None:
    system = systems.create("nl_covington")
    state = system.initial(2)
    with pytest.raises(ValueError, match=f"{k}, None.*is illegal.*SHIFT with k = 1"):
        system.apply(state, Action("SHIFT", k))
    assert state.lambda1 == []


def test_the_message_of_an_illegal_action_does_not_grow() -> None:
    system = systems.create("nl_covington", [str(label) for label in range(50)])
    state = system.initial(2000)
    for _ in range(1000):
        system.apply(state, Action("SHIFT"))
    with pytest.raises(ValueError, match=r"legal here: .*, \.\.\.\.$") as caught:
        system.apply(state, Action("LEFT-ARC"))
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("name", systems.names())
def test_actions_are_pickled(name: str) -> None:
    system = systems.create(name)
    actions = system.derivation(Gold([1, 1, 1]))
    assert pickle.loads(pickle.dumps(actions)) == actions
    assert type(pickle.loads(pickle.dumps(actions))[0]) is Action


@pytest.mark.parametrize(
    ("heads", "starts", "message"),
    [
        ([0, 0.7, 0], None, "head 0.7 of word 1"),
        ([0, "1", 0], None, "head '1' of word 1"),
        ([0, 3, 0], None, "head 3 of word 1"),
        ([0, 0, 0], [1, -1, 0], "sent_start -1 of word 1"),
        ([0, 0, 0], [None, "no", None], "sent_start 'no' of word 1"),
        ([0, 0, 1], [None, True, None], "arc 0 -> 1 crosses a sentence start"),
        ([1, 1, 1], [None, True, None], "arc 1 -> 0 crosses a sentence start"),
    ],
)
def test_gold_values(heads: Any, starts: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Gold(heads, None, starts)


def test_gold_of_nothing() -> None:
    heads: Any = None
    with pytest.raises(TypeError, match="Gold heads are a sequence of word numbers, not None"):
        Gold(heads)
    with pytest.raises(ValueError, match="3 words but 2 sent_starts"):
        under(Gold([0, 0, 0]), [0, 0])


@pytest.mark.parametrize("heads", [[0, -1], [0, 2], [1, 0], [0, 10**20]])
def test_heads_to_lift_and_to_lower(heads: list[int]) -> None:
    """A cycle, or a number that is no word's, once made lowering go on for ever."""
    for change in (lift, lower):
        with pytest.raises(ValueError, match=r"form a cycle|is not a word number"):
            change(heads, ["a||b", "a||b"])
    with pytest.raises(ValueError, match="2 heads but 1 labels"):
        lower([0, 0], ["a||b"])


@pytest.mark.parametrize("n", [0, -1, 2.5, "2", None])
def test_numbers_of_words(n: Any) -> None:
    with pytest.raises(ValueError, match=str(n)):
        systems.create("arc_eager").initial(n)


def test_configurations() -> None:
    system = systems.create("arc_eager")
    with pytest.raises(ValueError, match="sent_starts takes 1, 0 or -1, not 2"):
        system.initial(2, sent_starts=[0, 2])
    state = system.initial(2)
    with pytest.raises(IndexError, match="No word 3 among 2"):
        state.dependents(3)
    with pytest.raises(TypeError, match="replay its derivation"):
        pickle.dumps(state)


def test_gold_trees() -> None:
    gold = Gold([0, 0], ["a", "b"], [True, None])
    copy = pickle.loads(pickle.dumps(gold))
    assert repr(copy) == repr(gold)
    system = systems.create("arc_eager", ("a",))
    with pytest.raises(ValueError, match=r"'b' of word 1 is not among .* labels \('a',\)"):
        system.costs(system.initial(2), gold)


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("arc_eager", {"labels": "ab"}, ValueError, "'ab'"),
        ("arc_eager", {"labels": ["a", ""]}, ValueError, "non-empty strings, not ''"),
        ("arc_eager", {"labels": ["a", "a"]}, ValueError, "distinct and at least one"),
        (
            "arc_eager",
            {"labels": ["ROOT"], "root_label": "ROOT"},
            ValueError,
            "root_label needs another label",
        ),
        ("arc_eager", {"foo": True}, TypeError, "arc_eager has no option 'foo': it has nonmono"),
        ("arc_eager", {"nonmonotonic_left": "no"}, ValueError, "nonmonotonic_left is True or F"),
        ("covington", {"max_length": 1.5}, ValueError, "max_length is a whole number, not 1.5"),
    ],
)
def test_options(name: str, options: dict[str, Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        systems.create(name, **options)


# What the oracles say of trees that are known in part, or whose labels fit no arc.


@pytest.mark.parametrize(
    ("name", "options", "heads"),
    [
        ("arc_eager", {}, [2, None, 2]),
        ("arc_eager", {"nonmonotonic_left": True, "nonmonotonic_reduce": True}, [2, None, 2]),
        ("arc_eager", {"single_root": True}, [3, 3, None, 3]),
        ("covington", {"single_root": True, "segment": True}, [0, 1, None]),
        ("nl_covington", {"single_root": True, "segment": True}, [0, 1, None]),
    ],
)
@pytest.mark.parametrize("oracle", ["static", "dynamic"])
def test_derivations_keep_the_heads_that_are_known(
    name: str, options: dict[str, Any], heads: list[int | None], oracle: str
) -> None:
    system = systems.create(name, **options)
    gold, state = Gold(heads), system.initial(len(heads))
    least = system.loss(state, gold)
    for action in system.derivation(gold, oracle):
        system.apply(state, action)
    assert system.loss(state, gold) == least == 0


@pytest.mark.parametrize(
    ("name", "options", "heads"),
    [
        ("swap_standard", {}, [0, 0, 3, 0, 3, 6, 0, 0]),
        ("swap_standard", {}, [8, 9, 2, 2, 2, 3, 5, 10, 1, 4, 2, 7]),
        ("nl_covington", {"nonmonotonic": True}, [3, 4, 0, 1, 4]),
    ],
)
def test_dynamic_derivations_keep_to_the_static_one(
    name: str, options: dict[str, Any], heads: list[int]
) -> None:
    """Where costs are not exact, whatever costs nothing may still lose a head later."""
    system = systems.create(name, **options)
    for oracle in system.oracles:
        state = system.initial(len(heads))
        for action in system.derivation(Gold(heads), oracle):
            system.apply(state, action)
        assert state.tree()[0] == heads


@pytest.mark.parametrize("name", systems.names())
@pytest.mark.parametrize("start", [True, None])
def test_sentences_to_come_have_one_root_each(name: str, start: bool | None) -> None:
    system = systems.create(name, single_root=True, segment=True)
    gold = Gold([0, 1, 2, 3], None, [True, True, False, start])
    assert system.loss(system.initial(4), gold) == 1


@pytest.mark.parametrize("options", [{"nonmonotonic_reduce": True}, {"single_root": True}])
def test_a_push_cannot_note_the_label_of_roots(options: dict[str, bool]) -> None:
    """REDUCE would give it to an arc from a word, under single_root at the end of a sentence."""
    labels: dict[str, Any] = {"labels": ("a", "ROOT"), "root_label": "ROOT"}
    system = systems.create("arc_eager", **labels, **options)
    state = system.initial(2)
    with pytest.raises(ValueError, match="push_label 'ROOT' is a root_label"):
        system.apply(state, Action("SHIFT"), push_label="ROOT")
    assert state.stack == []
    system.apply(state, Action("SHIFT"), push_label="a")
    other = systems.create("arc_eager", **labels)
    other.apply(other.initial(2), Action("SHIFT"), push_label="ROOT")  # nothing reads it there


def test_register(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems, "_registered", {})
    before = systems.names()
    cls, other = map(systems.system_class, ("arc_hybrid", "arc_standard"))
    for wrong in (Gold, "arc_hybrid", None):
        with pytest.raises(TypeError, match="subclass of MoveTable"):
            systems.register("mine", wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="already"):
        systems.register("arc_eager", cls)
    with pytest.raises(ValueError, match="calls itself 'arc_hybrid'"):
        systems.register("mine", cls)
    monkeypatch.setattr(systems, "_OWN", {})
    systems.register("arc_hybrid", cls)
    systems.register("arc_hybrid", cls)  # once more is no harm
    assert systems.create("arc_hybrid").name in systems.names()
    with pytest.raises(ValueError, match="already"):
        systems.register("arc_hybrid", other)
    assert "arc_hybrid" in before


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("arc_eager", "State(stack=[0], buffer=[1, -1], heads=[None, None])"),
        ("covington", "State(lambda1=[0], lambda2=[], buffer=[1], heads=[None, None])"),
        pytest.param(
            *("two_planar", "State(stack=[0], other_stack=[0], buffer=[1], heads=[None, None])"),
            marks=pytest.mark.skipif("two_planar" not in systems.names(), reason="the lab's"),
        ),
    ],
)
def test_configurations_show_all_parts(name: str, shown: str) -> None:
    system = systems.create(name)
    state = system.initial(2)
    system.apply(state, Action("SHIFT"))
    assert repr(state) == shown
