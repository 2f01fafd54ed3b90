"""Datasets of very many entries, and records of very many kinds: nothing is listed without need."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from dpspec_divergences import L1Distance, L2Distance, LInfinityDistance
from dpspec_flavours.networks.points import MetricPoints
from dpspec_flavours.streams.elements import ElementRecords
from dpspec_flavours.universes.neighbourhoods import AgreeOutside, OnePosition, Strata

import dpspec as dp
from dpspec.base.errors import IncompatibleBlocksError, NoFormulaError, NotEnumerableError
from dpspec.blocks import input_divergence, multisets
from dpspec.blocks.bounded import ClippedVectors, TimeSeries
from dpspec.blocks.input_divergence import MOST_VECTORS
from dpspec.blocks.parts import listing_size
from dpspec.blocks.records import ContingencyTables, OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute, DatasetSpace
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.laws.combine import Product
from dpspec.laws.integers import TwoSidedGeometricLaw
from dpspec.verifier.exhaustive import verify

ENDLESS = 10**30
NORMS = [L1Distance(), L2Distance(), LInfinityDistance()]


def bits(length: int) -> tuple[Attribute, ...]:
    return tuple(Attribute(name=f"a{place}", count=2) for place in range(length))


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_sequences_of_kinds_that_are_not_listed(size: int) -> None:
    assert list(multisets.sequences_of(lambda: iter("abc"), size)) == list(itertools.product("abc", repeat=size))
    assert list(multisets.sequences_of(lambda: iter(""), size)) == list(itertools.product("", repeat=size))


def test_records_of_endlessly_many_kinds_are_not_listed() -> None:
    """The command did not end, and filled the memory."""
    many = (Attribute(name="a", count=ENDLESS),)
    records = OrderedRecords(attributes=many, least=2)
    assert list(itertools.islice(records.datasets(), 2)) == [(("0",), ("0",)), (("0",), ("1",))]
    elements = ElementRecords(users=("u", "v"), elements=many)
    assert list(itertools.islice(elements.datasets(), 2)) == [(("u", "0"), ("v", "0")), (("u", "0"), ("v", "1"))]


@pytest.mark.parametrize(
    "space",
    [
        TimeSeries(length=10**9, low=Fraction(0), high=Fraction(1), whole=True, least=1),
        ClippedVectors(dimension=10**9, step=Fraction(1, 3), least=1),
        MetricPoints(grid=(3, 3), count=ENDLESS),
        OrderedRecords(attributes=bits(1), least=ENDLESS),
        UnorderedRecords(attributes=bits(1), least=ENDLESS),
        dp.texts(alphabet="ab", least=ENDLESS),
    ],
    ids=lambda space: space.name,
)
def test_a_space_whose_datasets_are_too_long_has_no_list(space: DatasetSpace) -> None:
    """A memory error, or an overflow."""
    assert listing_size(space) is None
    with pytest.raises(NotEnumerableError, match="too many places"):
        next(iter(space.datasets()))


@pytest.mark.parametrize("norm", NORMS, ids=lambda norm: norm.name)
def test_a_norm_is_checked_on_one_record(norm: Any) -> None:
    norm.check(BitVectors(length=ENDLESS))
    norm.check(dp.bounded_reals(low=0, high=1, least=ENDLESS))
    with pytest.raises(IncompatibleBlocksError, match="numbers"):
        norm.check(UnorderedRecords(attributes=bits(1), least=ENDLESS))


@pytest.mark.parametrize("norm", NORMS, ids=lambda norm: norm.name)
def test_a_norm_of_integers_is_that_of_fractions(norm: Any) -> None:
    space = IntegerCounts(length=3, low=-9)
    for left, right in itertools.product(itertools.product((-2, 0, 3), repeat=3), repeat=2):
        differences = [abs(Fraction(a) - b) for a, b in zip(left, right, strict=True)]
        assert norm.distance(left, right, space) == norm.norm(differences)
    assert norm.distance((1, 2), (1, 2, 3), space).is_infinite


def test_steps_of_many_places_are_not_listed() -> None:
    """The entries of all steps are the square of the places: those of 20,000 places were 800 million."""
    assert len(L1Distance().number_steps(1_000) or ()) == 2_000
    assert L1Distance().number_steps(1_001) is None
    assert L1Distance().numbers_within(1_000, 2) is None


def test_sums_of_steps_end_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def counted(*arguments: Any) -> Any:
        made.append(1)
        return map(*arguments)

    monkeypatch.setattr(input_divergence, "map", counted, raising=False)
    assert L1Distance().numbers_within(300, 2) is None
    assert len(made) < 2 * MOST_VECTORS
    assert len(L1Distance().numbers_within(3, 2) or ()) == 6 + 6 + 12


@pytest.mark.parametrize(
    ("multiverse", "space"),
    [
        (OnePosition(), OrderedRecords(attributes=bits(2), most=2)),
        (OnePosition(), BitVectors(length=3)),
        (Strata(attribute="a0"), OrderedRecords(attributes=bits(2), most=2)),
        (Strata(attribute="a0"), UnorderedRecords(attributes=bits(2), most=3)),
        (Strata(attribute="a0"), ContingencyTables(attributes=bits(2), most=3)),
        (Strata(attribute="bit"), BitVectors(length=3)),
    ],
    ids=str,
)
def test_universes_of_one_part_are_shared_as_their_labels_say(multiverse: AgreeOutside, space: DatasetSpace) -> None:
    for left, right in itertools.product(space.datasets(), repeat=2):
        assert multiverse.share_universe(left, right, space) == AgreeOutside.share_universe(multiverse, left, right, space)


def no_labels(*arguments: object) -> Any:
    raise AssertionError("labels were made")


@pytest.mark.parametrize("multiverse", [OnePosition(), Strata(attribute="bit")], ids=lambda multiverse: multiverse.name)
def test_datasets_of_many_records_share_a_universe_without_labels(multiverse: AgreeOutside, monkeypatch: Any) -> None:
    """Each of 10,000 labels has 10,000 records."""
    space, zeros = BitVectors(length=10_000), (0,) * 10_000
    with pytest.raises(NotEnumerableError, match="too many parts"):
        OnePosition().labels(zeros, space)
    monkeypatch.setattr(AgreeOutside, "labels", no_labels)
    assert OnePosition().share_universe(zeros, (1, *zeros[1:]), space)
    assert not multiverse.share_universe(zeros, (1, *zeros[1:]), space) or isinstance(multiverse, OnePosition)


def test_endlessly_many_strata_are_not_listed() -> None:
    space = UnorderedRecords(attributes=(Attribute(name="a", count=ENDLESS),))
    strata = Strata(attribute="a")
    with pytest.raises(NotEnumerableError, match="too many parts"):
        strata.labels((("7",),) * 100_000, space)
    assert strata.share_universe((("7",),), (("7",), ("7",)), space)
    assert not strata.share_universe((("7",),), (("8",),), space)


def test_few_datasets_of_many_records_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """10,001 datasets of 10,000 records took 30 seconds."""
    listed = multisets.Multisets.datasets

    def first_ones(space: multisets.Multisets) -> Iterator[Any]:
        for place, dataset in enumerate(listed(space)):
            assert space.least < 10_000 or place < 100
            yield dataset

    monkeypatch.setattr(multisets.Multisets, "datasets", first_ones)
    space = dp.records(a=("0", "1"), least=10_000, most=10_000)
    assert space.cardinality() == 10_001
    assert listing_size(space) == 10_001 * 40
    spec = dp.spec(space=space, distance="replace-one", standard="pure", epsilon=2)
    found = verify(dp.geometric(queries=[dp.marginal(attributes=["a"])], epsilon=1), spec)
    assert found.outcome is dp.Outcome.UNDECIDED
    assert found.reason == "the space has 10,001 datasets, of very many records"


def test_a_product_of_many_laws_is_refused_in_words() -> None:
    """The number of its outcomes has more digits than Python writes."""
    law = Product((TwoSidedGeometricLaw(center=0, decay=1),) * 5_000)
    with pytest.raises(NoFormulaError, match="too many outcomes to list"):
        law.window(64)
