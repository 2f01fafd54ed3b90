"""One-sided and personalised privacy, by brute force from the definitions."""

import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterable
from fractions import Fraction

import pytest
from dpspec_divergences import Mult, Renyi, ReplaceOne
from dpspec_flavours.streams.elements import WeightDistance
from dpspec_flavours.streams.events import (
    WindowEvents,
)
from dpspec_flavours.streams.personal import (
    MultOneWay,
    OneSided,
    OpenSample,
    PersonalisedResponse,
    PersonalWeights,
    RecordWeights,
)
from dpspec_noise import RandomisedResponse
from hypothesis import given, strategies as st

from dpspec.base.errors import DpspecError, IncompatibleBlocksError
from dpspec.base.exact import INFINITY, ln, number
from dpspec.blocks.input_divergence import InputDivergence
from dpspec.blocks.records import OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute, Dataset, DatasetSpace
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.laws.law import FiniteLaw

KIND = Attribute(name="kind", categories=("open", "secret", "hidden"))
RECORDS = UnorderedRecords(attributes=(KIND,), most=3)


def pairs(space: DatasetSpace) -> Iterable[tuple[Dataset, Dataset]]:
    return itertools.product(tuple(space.datasets()), repeat=2)


def walked(space: DatasetSpace, start: Dataset, related: Callable[[Dataset, Dataset], bool]) -> dict[Dataset, int]:
    """Steps from the start along directed neighbours, breadth first."""
    everything, steps, waiting = tuple(space.datasets()), {start: 0}, deque([start])
    while waiting:
        x = waiting.popleft()
        for y in everything:
            if y not in steps and related(x, y):
                steps[y] = steps[x] + 1
                waiting.append(y)
    return steps


@pytest.mark.reference("K-D43")
def test_one_sided_distance_is_the_path_distance_of_one_sided_neighbours() -> None:
    d = OneSided(attribute="kind", sensitive=("secret",))

    def related(x: Dataset, y: Dataset) -> bool:
        """x' is x with one sensitive record replaced (Doudalis et al. 2017)."""
        return ReplaceOne().related(x, y, RECORDS) and bool(Counter(x)[("secret",)] > Counter(y)[("secret",)])  # type: ignore[call-overload]

    for x in RECORDS.datasets():
        reached = walked(RECORDS, x, related)
        for y in RECORDS.datasets():
            assert d.distance(x, y, RECORDS) == reached.get(y, INFINITY)


def test_weights_of_people_add_up() -> None:
    space, d = BitVectors(length=3), PersonalWeights(weights=(number(1), ln(3), number("inf")))
    assert d.distance((0, 0, 0), (1, 1, 0), space) == number(1) + ln(3)
    assert d.distance((0, 0, 0), (0, 0, 1), space).is_infinite
    assert d.distance((0, 0, 1), (0, 0, 1), space) == 0
    assert d.least_distance(space) == 1


def test_a_count_moves_no_faster_than_weights_of_at_least_one() -> None:
    assert [personal(*weights).counted_unit() for weights in ((1, 2), ("1/2", 2))] == ["person", None]
    rows = [RecordWeights(attribute="kind", weights=(), otherwise=number(weight)) for weight in ("1/2", 1)]
    assert [weights.counted_unit() for weights in rows] == [None, "person"]


def test_weights_of_records_add_up() -> None:
    d = RecordWeights(attribute="kind", weights=(("open", number("1/2")), ("secret", number(3))), otherwise=number(10))
    for x, y in pairs(RECORDS):
        gone_or_come = [*(Counter(x) - Counter(y)).elements(), *(Counter(y) - Counter(x)).elements()]  # type: ignore[call-overload]
        cost = {"open": Fraction(1, 2), "secret": Fraction(3), "hidden": Fraction(10)}
        assert d.distance(x, y, RECORDS) == sum((cost[kind] for (kind,) in gone_or_come), Fraction(0))


def personal(*weights: object) -> PersonalWeights:
    return PersonalWeights(weights=tuple(number(weight) for weight in weights))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("divergence", "space", "words"),
    [
        (WindowEvents(width=2), BitVectors(length=2), "no unit"),
        (WindowEvents(width=2), UnorderedRecords(attributes=(KIND,), unit="event"), "attribute user"),
        (PersonalWeights(weights=(number(1),)), RECORDS, "positions"),
        (PersonalWeights(weights=(number(1),)), BitVectors(length=2), "each of the 2"),
        (PersonalWeights(weights=(number(1),)), OrderedRecords(attributes=(KIND,), most=2), "all positions"),
        (RecordWeights(attribute="sex", weights=(("f", number(1)),)), RECORDS, "no such person attribute"),
        (RecordWeights(attribute="kind", weights=(("open", number(1)),)), RECORDS, "1 of the 3"),
        (OneSided(attribute="sex", sensitive=("f",)), RECORDS, "no such person attribute"),
        (WeightDistance(), IntegerCounts(), "weights"),
    ],
)
def test_a_distance_says_which_space_it_needs(divergence: InputDivergence, space: DatasetSpace, words: str) -> None:
    with pytest.raises(IncompatibleBlocksError, match=words):
        divergence.check(space)


def test_an_unknown_category_is_refused() -> None:
    for divergence in (
        OneSided(attribute="kind", sensitive=("secre",)),
        RecordWeights(attribute="kind", weights=(("o", number(1)),)),
    ):
        with pytest.raises(DpspecError, match="kind"):
            divergence.check(RECORDS)


# --- one direction -------------------------------------------------------------------------------


@pytest.mark.reference("K-D43")
@given(st.lists(st.integers(0, 5), min_size=2, max_size=3), st.lists(st.integers(0, 5), min_size=2, max_size=3))
def test_one_way_is_the_largest_log_ratio_of_an_event(left: list[int], right: list[int]) -> None:
    """sup over events S of ln(P(S)/Q(S)), by all events."""
    left, right = [left[0] + 1, *left[1:]], [right[0] + 1, *right[1:]]
    laws = [FiniteLaw.from_weights({i: w for i, w in enumerate(weights) if w}) for weights in (left, right)]
    ratios: list[Fraction | None] = []
    for size in range(1, 4):
        for event in itertools.combinations(range(3), size):
            p, q = (sum((law.probability(i) for i in event), Fraction(0)) for law in laws)
            if p:
                ratios.append(p / q if q else None)
    found = MultOneWay().between(*laws)
    assert found.is_exact
    assert found.lower == (INFINITY if None in ratios else ln(max(r for r in ratios if r is not None)))
    assert Mult().between(*laws).lower == max(found.lower, MultOneWay().between(*reversed(laws)).lower)


def test_one_way_is_implied_by_both_ways() -> None:
    assert MultOneWay().bounded_by(Mult()) == (number(1), "one of its two directions")
    assert MultOneWay().bounded_by(MultOneWay()) is not None
    assert Mult().bounded_by(MultOneWay()) is None
    assert MultOneWay().bounded_by(Renyi(order=2)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("keep", [Fraction(0), Fraction(1, 4), Fraction(1)])
def test_a_sample_has_binomial_counts(keep: Fraction) -> None:
    law = OpenSample(attribute="kind", sensitive=("secret", "hidden"), keep_probability=keep).law(
        [["open"], ["open"], ["secret"]], RECORDS
    )
    expected = {(): (1 - keep) ** 2, (("open",),): 2 * keep * (1 - keep), (("open",), ("open",)): keep**2}
    assert law == FiniteLaw.of({outcome: p for outcome, p in expected.items() if p})


# --- mechanisms and flavours ---------------------------------------------------------------------


def test_everybody_has_a_coin() -> None:
    mechanism = PersonalisedResponse(keep_probabilities=(Fraction(3, 4), Fraction(1)))
    assert mechanism.law((0, 1), BitVectors(length=2)) == FiniteLaw.of({(0, 1): "3/4", (1, 1): "1/4"})
    same = PersonalisedResponse(keep_probabilities=(Fraction(2, 3),) * 2)
    assert same.law((0, 1), BitVectors(length=2)) == RandomisedResponse(keep_probability=Fraction(2, 3)).law(
        (0, 1), BitVectors(length=2)
    )
    for space, words in ((BitVectors(length=3), "needs 3"), (RECORDS, "bit-vectors")):
        with pytest.raises(IncompatibleBlocksError, match=words):
            mechanism.check(space)
