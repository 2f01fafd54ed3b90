"""The order of a folder: equal promises, what follows by transitivity, and what comparisons share, counted in pieces of work."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest
from dpspec_divergences import Hamming, HammingOrdered, Mult, SymmetricDifference

import dpspec as dp
from dpspec import PrivacySpec
from dpspec.api import build, compared, order_specs, read
from dpspec.blocks.budget import OpenBudget, UniformBudget
from dpspec.blocks.multiverse import Trivial
from dpspec.blocks.vectors import BitVectors
from dpspec.comparison import compare as engine
from dpspec.comparison.compare import Answer
from dpspec.comparison.order import Implications, Order, SharedAnswers, order, order_of_many
from dpspec.comparison.separations import exact_judge
from dpspec.extension import installed
from dpspec.laws import cumulant
from dpspec.laws.atoms import IDENTICAL
from dpspec.laws.continuous import LaplaceLaw
from dpspec.laws.exponential import exact_exponential, finite_law
from dpspec.laws.law import FiniteLaw
from dpspec.reason.search import rules_of
from dpspec.specfile.document import SpecDocument

ROOT = Path(__file__).parents[2]
YES, NO, OPEN = Answer.IMPLIES, Answer.SEPARATED, Answer.UNKNOWN


def spec(epsilon: int | str, length: int = 2) -> PrivacySpec:
    return PrivacySpec(
        space=BitVectors(length=length), multiverse=Trivial(), input_divergence=HammingOrdered(), output_divergence=Mult(),
        budget=UniformBudget(parameter="epsilon", value=epsilon),
    )  # fmt: skip


def people(epsilon: int, **attributes: list[str]) -> PrivacySpec:
    return dp.spec(space=dp.records(**attributes), distance="add-remove", standard="pure", epsilon=epsilon)


def no_comparison(_left: Any, _right: Any) -> Any:
    raise AssertionError("no argument was read")


def answers() -> SharedAnswers:
    registry = installed().registry
    return SharedAnswers(rules=rules_of(registry), judge=exact_judge(registry))


def ordered(specs: Sequence[PrivacySpec], by: SharedAnswers | None = None) -> Order:
    return order_of_many([(f"s{i}", one) for i, one in enumerate(specs)], by or answers(), no_comparison)


# --- transitivity ---------------------------------------------------------------------------------


def by_fixpoint(known: dict[tuple[int, int], Answer], size: int) -> dict[tuple[int, int], Answer]:
    """What follows from some answers, by applying the three rules until nothing changes."""
    found = dict.fromkeys(itertools.product(range(size), repeat=2), OPEN) | known | {(i, i): YES for i in range(size)}
    while True:
        before = dict(found)
        for i, j, k in itertools.product(range(size), repeat=3):
            if found[i, k] is YES and found[k, j] is YES:
                found[i, j] = YES
            if (found[k, i] is YES and found[k, j] is NO) or (found[j, k] is YES and found[i, k] is NO):
                found[i, j] = NO
        if found == before:
            return found


@pytest.mark.parametrize("seed", range(30))
def test_what_follows_from_some_answers(seed: int) -> None:
    """Random preorders of 7, of which only some cells are known: all that follows, and nothing else."""
    lot, size = random.Random(seed), 7
    cells = list(itertools.permutations(range(size), 2))
    arrows = dict.fromkeys(lot.sample(cells, lot.randrange(len(cells) // 2)), YES)
    whole = {cell: YES if answer is YES else NO for cell, answer in by_fixpoint(arrows, size).items()}
    shown = {cell: whole[cell] for cell in lot.sample(cells, lot.randrange(len(cells)))}
    known = Implications(size=size)
    for (i, j), answer in shown.items():
        known.add(i, j, answer)
    wanted = by_fixpoint(shown, size)
    assert {cell: known.answer(*cell) for cell in wanted} == wanted
    for i, j in cells:
        if (i, j) not in shown and wanted[i, j] is not OPEN:
            k = known.through(i, j)
            assert k not in (i, j)
            assert (
                wanted[i, k] is wanted[k, j] is YES
                or (wanted[k, i] is YES and wanted[k, j] is NO)
                or (wanted[j, k] is YES and wanted[i, k] is NO)
            )


# --- what is asked --------------------------------------------------------------------------------


@pytest.fixture
def directions(monkeypatch: pytest.MonkeyPatch) -> list[tuple[PrivacySpec, PrivacySpec]]:
    """The directions that are searched for a derivation."""
    found: list[tuple[PrivacySpec, PrivacySpec]] = []
    search = engine.search

    def counted(premise: PrivacySpec, goal: PrivacySpec, rules: Any) -> Any:
        found.append((premise, goal))
        return search(premise, goal, rules)

    monkeypatch.setattr(engine, "search", counted)
    return found


@pytest.mark.parametrize("size", [4, 8, 16])
def test_budgets_of_the_same_blocks_are_compared_with_the_next_one_only(size: int, directions: list[Any]) -> None:
    numbers = list(range(1, size + 1))
    random.Random(size).shuffle(numbers)
    found = ordered([spec(number) for number in numbers])
    assert all(found.implies(i, j) == (numbers[i] <= numbers[j]) for i, j in itertools.permutations(range(size), 2))
    assert not found.unknown
    assert len(directions) == 2 * (size - 1)


@pytest.mark.parametrize("copies", [1, 5, 25])
def test_equal_promises_are_compared_once(copies: int, directions: list[Any]) -> None:
    found = ordered([spec(1), spec(2)] * copies)
    assert [len(members) for members in found.classes] == [copies, copies]
    assert found.covers == ((0, 1),)
    assert len(directions) <= 4


@pytest.mark.parametrize("size", [3, 6, 12])
def test_other_spaces_are_separated_once_for_each_space(size: int, directions: list[Any]) -> None:
    """What the engine is asked grows with the number of spaces, and not with that of their pairs."""
    seen: list[tuple[Any, ...]] = []
    shared, judge = answers(), exact_judge(None)

    def counted(*asked: Any) -> Any:
        seen.append(asked)
        return judge(*asked)

    shared.judge = counted
    found = ordered([people(1 + i % 2, **{f"column-{i}": ["a", "b"]}) for i in range(size)], shared)
    assert all(found.answers[i][j] is NO for i, j in itertools.permutations(range(size), 2))
    assert not directions
    assert len(seen) <= 3 * size


def test_a_number_that_was_not_published_is_no_class() -> None:
    """Two files with equal text and no number: neither implies the other, and both imply what any number implies."""
    hidden = attrs.evolve(spec(1), budget=OpenBudget(parameter="epsilon"))
    nothing = attrs.evolve(spec(1), budget=UniformBudget(parameter="epsilon", value="inf"))
    found = ordered([hidden, hidden, nothing])
    assert found.classes == ((0,), (1,), (2,))
    assert (found.answers[0][1], found.answers[1][0]) == (OPEN, OPEN)
    assert (found.answers[0][2], found.answers[1][2]) == (YES, YES)


# --- the same answers -----------------------------------------------------------------------------


def mixed(seed: int) -> list[PrivacySpec]:
    lot = random.Random(seed)
    spaces = [{"a": ["x", "y"]}, {"a": ["x", "y", "z"]}, {"a": ["x", "y"], "b": ["0", "1"]}, {"b": ["x", "y"]}]
    found: list[PrivacySpec] = []
    for _ in range(6):
        budget = UniformBudget(parameter="epsilon", value=lot.choice([0, 1, 2]))
        found.append(
            PrivacySpec(
                space=dp.records(**lot.choice(spaces)), multiverse=Trivial(), output_divergence=Mult(),
                input_divergence=lot.choice([Hamming(unit="person"), SymmetricDifference(unit="person")]),
                budget=OpenBudget(parameter="epsilon") if lot.random() < 0.2 else budget,
            )
        )  # fmt: skip
    return found


@pytest.mark.parametrize("seed", range(3))
def test_the_answers_are_those_of_every_pair(seed: int) -> None:
    specs = mixed(seed)
    registry = installed().registry
    named = [(f"s{i}", SpecDocument(id=f"s{i}", title="", spec=one)) for i, one in enumerate(specs)]
    every = order(named, lambda left, right: compared(left, right, registry))
    many = order_of_many(named, answers(), no_comparison)
    assert many.answers == every.answers


@pytest.mark.spread(0, slow=1)
@pytest.mark.parametrize("folder", ["swapping-2020", "lint", "ledger-2020"])
def test_the_answers_of_a_folder_are_those_of_every_pair(folder: str) -> None:
    registry = installed().registry
    files = sorted((ROOT / "specs" / folder).glob("*.dpspec.toml"))
    readable = (read(file) for file in files if not file.name.startswith("ledger--"))  # whose parts do not add up, on purpose
    named = [(one.id, one) for one in readable]
    every = order(named, lambda left, right: compared(left, right, registry))
    assert order_of_many(named, answers(), no_comparison).answers == every.answers


def test_a_product_is_compared_promise_by_promise() -> None:
    def product(name: str, *epsilons: int | str) -> SpecDocument:
        parts = [{"title": f"at {one}", "budget": {"epsilon": one}} for one in epsilons[1:]]
        return build(
            id=name, space={"type": "bit-vectors", "length": 2}, input_divergence={"type": "hamming-ordered"},
            output_divergence={"type": "mult"}, budget={"epsilon": epsilons[0]}, part=parts,
        )  # fmt: skip

    found = order_specs([product("both", 3, 1), product("one", 1), product("three", 3), product("again", 3, 1)])
    assert found.classes == ((0, 1, 3), (2,))
    assert found.answers[2] == (NO, NO, YES, NO)
    both, half = product("both", 3, 1), product("half", "1/2")  # whatever keeps 1 keeps 3, so that a separation from 1 counts
    direction = compared(both, half, installed().registry).forward
    assert (direction.answer, answers().of_products(both.promises, half.promises)) == (NO, NO)
    assert direction.separation is not None
    assert direction.separation.checks[0].startswith("verified: constant 1 ")


def test_nothing_follows_for_one_release_from_the_promise_of_another() -> None:
    """Of two releases with a mechanism each, the stronger promise of the one bounds nothing of the other."""

    def product(name: str, epsilon: int, **other: int) -> SpecDocument:
        noise = {title: {"type": "randomised-response", "keep_probability": f"{at}/5"} for title, at in other.items()}
        return build(
            id=name, space={"type": "bit-vectors", "length": 2}, input_divergence={"type": "hamming-ordered"},
            output_divergence={"type": "mult"}, budget={"epsilon": epsilon},
            mechanism={"type": "randomised-response", "keep_probability": "1/2"},
            part=[{"title": title, "budget": {"epsilon": at}, "mechanism": noise[title]} for title, at in other.items()],
        )  # fmt: skip

    both, again, called = (product(name, 3, **part) for name, part in (("a", {"x": 1}), ("b", {"x": 1}), ("c", {"y": 1})))
    one = product("one", 1)
    found = compared(both, one, installed().registry)
    assert (found.forward.answer, found.backward.answer) == (NO, OPEN)
    assert compared(both, again, installed().registry).forward.answer is YES
    assert compared(both, called, installed().registry).forward.answer is OPEN
    named = [(document.id, document) for document in (both, again, one, called)]
    every = order(named, lambda left, right: compared(left, right, installed().registry))
    assert order_of_many(named, answers(), no_comparison).answers == every.answers


@pytest.mark.parametrize("key", [{"share": "2/3"}, {"view": "analyst"}])
def test_a_promise_to_some_or_about_a_view_is_kept_apart(key: dict[str, str]) -> None:
    """A promise to two thirds of the units is one that others need to make, and bounds nothing for the rest; so of views."""

    def product(name: str, epsilon: int, *parts: int) -> SpecDocument:
        return build(
            id=name, space={"type": "bit-vectors", "length": 2}, input_divergence={"type": "hamming-ordered"},
            output_divergence={"type": "mult"}, budget={"epsilon": epsilon},
            part=[{"title": "some", "budget": {"epsilon": at}, "because": "x", "verdict": "undecided", **key} for at in parts],
        )  # fmt: skip

    plain, strong, both, weaker = product("plain", 3), product("strong", 1), product("both", 3, 1), product("weaker", 3, 2)
    by_all = OPEN if "view" in key else YES  # a promise to all is one to some
    by_view = NO if "view" in key else OPEN  # which units are broken is unknown
    expected = {
        (plain, both): OPEN, (both, plain): YES, (both, strong): OPEN, (strong, both): by_all, (both, weaker): YES,
        (weaker, both): by_view, (both, both): YES,
    }  # fmt: skip
    for (one, other), answer in expected.items():
        assert compared(one, other, installed().registry).forward.answer is answer
        assert answers().of_products(one.promises, other.promises) is answer


def test_the_argument_of_a_pair_is_computed_when_it_is_read() -> None:
    found = order_specs([SpecDocument(id=f"s{i}", title="", spec=spec(i)) for i in (1, 2, 3)])
    assert len(found.comparisons) == 3
    assert found.comparisons[-1].forward.derivation is not None
    assert found.comparisons[0].backward.separation is not None
    assert found.comparisons[0] is found.comparisons[0]
    with pytest.raises(IndexError):
        found.comparisons[3]


# --- laws that are compared often -----------------------------------------------------------------


def test_an_equal_search_for_a_concentration_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    run = cumulant._CumulantSearch.run
    monkeypatch.setattr(cumulant._CumulantSearch, "run", lambda self: runs.append(self) or run(self))

    def found() -> object:
        keep = exact_exponential("3/7") / (1 + exact_exponential("3/7"))
        return finite_law({0: keep, 1: 1 - keep}).against(FiniteLaw.bernoulli("1/3")).concentration(precision=40)

    cumulant._searched.cache_clear()
    first = found()
    once = len(runs)
    assert once > 0
    assert found() == first
    assert len(runs) == once


def test_laws_with_kept_hashes_are_equal_as_before() -> None:
    e = exact_exponential(1)
    one, other = finite_law({0: e / (1 + e), 1: 1 / (1 + e)}), finite_law({1: 1 / (1 + e), 0: e / (1 + e)})
    assert one == other
    assert hash(one) == hash(other)
    assert one != finite_law({1: e / (1 + e), 0: 1 / (1 + e)})
    assert one.against(other) is IDENTICAL
    assert hash(LaplaceLaw(0, 2)) == hash(LaplaceLaw.with_decay(0, "1/2"))
    assert LaplaceLaw(0, 2) == LaplaceLaw.with_decay(0, "1/2")
    assert LaplaceLaw(0, 2) != LaplaceLaw(0, 3)
