"""Spaces, invariants and multiverses against brute force."""

import itertools
from collections import Counter

import pytest

from dpspec.base.errors import Faults, IncompatibleBlocksError, NotInSpaceError, ParameterError
from dpspec.base.params import define
from dpspec.blocks import records
from dpspec.blocks.invariant import FunctionInvariant, Invariant, LinearMap, Marginal
from dpspec.blocks.multisets import all_records
from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets, Trivial, determines
from dpspec.blocks.records import ContingencyTables, Households, OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute, DatasetSpace
from dpspec.blocks.vectors import BitVectors, IntegerCounts

SEX = Attribute(name="sex", categories=("f", "m"))
AGE = Attribute(name="age", categories=("young", "middle", "old"))
COUNTY = Attribute(name="county", categories=("A", "B"))
TRACT = Attribute(name="tract", categories=("a1", "a2", "b1"), within="county", parents=("A", "A", "B"))

SPACES: list[DatasetSpace] = [
    BitVectors(length=3),
    IntegerCounts(length=2, low=-1, high=2),
    OrderedRecords(attributes=(SEX,), least=1, most=3),
    UnorderedRecords(attributes=(SEX, AGE), least=0, most=3),
    UnorderedRecords(attributes=(COUNTY, TRACT, SEX), least=2, most=2),
    ContingencyTables(attributes=(SEX, AGE), least=0, most=2),
    Households(household=(COUNTY,), person=(SEX,), most=2, members=2),
    Households(household=(COUNTY,), person=(Attribute(name="age", categories=("minor", "adult")),), most=1, members=2),
]


@pytest.mark.parametrize("space", SPACES, ids=lambda s: s.name)
def test_a_space_lists_each_dataset_once_smallest_first_in_canonical_form(space: DatasetSpace) -> None:
    listed = list(space.datasets())
    assert len(listed) == len(set(listed)) == space.cardinality()
    assert all(space.dataset(x) == x for x in listed)
    if isinstance(space, (BitVectors, IntegerCounts, OrderedRecords, UnorderedRecords)):
        sizes = [space.magnitude(x) for x in listed]
        assert sizes == sorted(sizes)


def test_record_spaces_hold_exactly_the_multisets_of_consistent_records() -> None:
    space = UnorderedRecords(attributes=(COUNTY, TRACT), least=2, most=2)
    cells = [("A", "a1"), ("A", "a2"), ("B", "b1")]
    expected = {tuple(sorted(pair)) for pair in itertools.product(cells, repeat=2)}
    assert set(space.datasets()) == expected
    with pytest.raises(NotInSpaceError, match="lies within county B"):
        space.dataset([("A", "b1"), ("A", "a1")])


@pytest.mark.parametrize(
    ("space", "bad"),
    [
        (SPACES[0], (0, 1)), (SPACES[0], (0, 1, 2)), (SPACES[0], (0, 1, None)), (SPACES[0], (0, 1, True)), (SPACES[0], "010"),
        (SPACES[1], (0, 3)), (SPACES[1], (0, 0.5)), (SPACES[2], []), (SPACES[3], [("f", "ancient")]), (SPACES[3], [("f", None)]),
        (SPACES[3], [("f",)]), (SPACES[3], [("f", "old")] * 4), (SPACES[3], 3), (SPACES[5], (1, 0, 0, 0, 0, -1)),
        (SPACES[5], (1, 0)), (SPACES[5], (3, 0, 0, 0, 0, 0)), (SPACES[5], (0.5, 0, 0, 0, 0, 0)),
        (SPACES[6], [(("A",), [("f",)] * 3)]), (SPACES[6], [(("C",), [])]), (SPACES[6], [("A",)]),
    ],
)  # fmt: skip
def test_what_is_no_dataset_is_refused(space: DatasetSpace, bad: object) -> None:
    with pytest.raises(NotInSpaceError):
        space.dataset(bad)


def test_contingency_tables_and_records_hold_the_same_information() -> None:
    tables = ContingencyTables(attributes=(SEX, AGE), most=2)
    records = UnorderedRecords(attributes=(SEX, AGE), most=2)
    assert {tables.cells_of(t) for t in tables.datasets()} == {
        tuple(sorted(x, key=list(records.kinds()).index)) for x in map(records.cells_of, records.datasets())
    }
    for table in tables.datasets():
        assert tables.vector(table) == table
        assert tables.from_vector(tables.vector(table)) == table


@pytest.mark.reference("B-D14")
def test_units_of_households_are_real() -> None:
    space = Households(household=(COUNTY,), person=(SEX,), most=2, members=2)
    data = space.dataset([(("B",), [("m",), ("f",)]), (("A",), [])])
    assert space.records(data, "household") == (("A", ()), ("B", (("f",), ("m",))))
    assert space.records(data, "person") == (("B", "f"), ("B", "m"))
    with pytest.raises(IncompatibleBlocksError, match="dwelling"):
        space.records(data, "dwelling")
    for stranger in ([(0, 1)], [(("A",), "f")], [(("A",), 1)]):
        with pytest.raises(NotInSpaceError):
            space.dataset(stranger)


@pytest.mark.reference("B-O48", "B-D7")
def test_level_sets_of_bits() -> None:
    space = BitVectors(length=3)
    total = LevelSets(invariants=(LinearMap(rows=((1, 1, 1),)),))
    parity = LevelSets(invariants=(FunctionInvariant(function=lambda x: sum(x) % 2, label="parity"),))
    assert [len(u) for u in total.universes(space)] == [1, 3, 3, 1]
    assert [len(u) for u in parity.universes(space)] == [4, 4]
    assert [len(u) for u in Trivial().universes(space)] == [8]


def test_level_sets_partition_the_space() -> None:
    space = SPACES[3]
    split = LevelSets(invariants=(Marginal(attributes=("sex",)), Marginal(attributes=("age",), where={"sex": ["f"]})))
    universes = list(split.universes(space))
    assert Counter(x for u in universes for x in u.datasets) == Counter(space.datasets())
    for universe in universes:
        seen = {tuple(Counter(r[0] for r in x).items()) for x in universe.datasets}
        assert len({tuple(sorted(s)) for s in seen}) == 1


def test_explicit_universes_may_overlap_and_need_not_cover() -> None:
    space = BitVectors(length=2)
    chosen = ExplicitUniverses(universes_by_label={"one": [[0, 0], [0, 1]], "two": [[0, 1], [1, 1]]})
    assert chosen.labels((0, 1), space) == ("one", "two")
    assert chosen.labels((1, 0), space) == ()
    assert chosen.share_universe((0, 0), (0, 1), space)
    assert not chosen.share_universe((0, 0), (1, 1), space)
    with pytest.raises(NotInSpaceError):
        ExplicitUniverses(universes_by_label={"one": [[0, 2]]}).check(space)


def brute_force(fine: list[Invariant], coarse: list[Invariant], space: DatasetSpace) -> bool:
    seen: dict[object, object] = {}
    for x in space.datasets():
        key = tuple(i.value(x, space) for i in fine)
        value = tuple(i.value(x, space) for i in coarse)
        if seen.setdefault(key, value) != value:
            return False
    return True


MARGINALS = [
    Marginal(attributes=chosen, where=where)
    for chosen in [(), ("county",), ("tract",), ("sex",), ("county", "sex"), ("tract", "sex")]
    for where in [{}, {"sex": ["f"]}, {"sex": ["m"]}]
]


@pytest.mark.slow
@pytest.mark.parametrize(("least", "most"), [(0, 3), (2, 2)])
def test_the_order_of_marginals_is_decided_exactly(least: int, most: int) -> None:
    space = UnorderedRecords(attributes=(COUNTY, TRACT, SEX), least=least, most=most)
    for first, second in itertools.product(MARGINALS, repeat=2):
        for fine in ([first], [first, MARGINALS[3]], [MARGINALS[4], first]):
            found = determines(fine, [second], space)
            assert found.answer is brute_force(fine, [second], space), (fine, second, found)
            if found.witness is not None:
                x, y = found.witness
                assert all(i.value(x, space) == i.value(y, space) for i in fine)
                assert second.value(x, space) != second.value(y, space)


def test_the_order_of_marginals_is_seen_without_listing_the_space() -> None:
    space = UnorderedRecords(
        attributes=(Attribute(name="state", count=51), Attribute(name="block", count=8_000_000, within="state"), SEX)
    )
    by_block, by_state = Marginal(attributes=("block",)), Marginal(attributes=("state",))
    women, men = (Marginal(attributes=("block",), where={"sex": [s]}) for s in "fm")
    assert determines([by_block], [by_state], space).answer is True
    assert determines([by_state], [by_block], space).answer is False
    assert determines([women, men], [by_block], space).answer is True
    assert determines([women], [by_block], space).answer is False
    assert determines([by_block], [women], space).answer is False
    x, y = determines([by_block, Marginal(attributes=("sex",))], [women], space).witness or ((), ())
    assert by_block.value(x, space) == by_block.value(y, space)
    assert women.value(x, space) != women.value(y, space)


def test_the_order_of_linear_maps_is_decided_by_row_space_or_kernel() -> None:
    space = IntegerCounts(length=3)
    total, first, rest = (LinearMap(rows=(row,), label=str(row)) for row in [(1, 1, 1), (1, 0, 0), (0, 2, 2)])
    assert determines([first, rest], [total], space).answer is True
    found = determines([total], [first], space)
    assert found.answer is False
    assert found.witness is not None
    assert sum(found.witness[0]) == sum(found.witness[1])
    assert found.witness[0][0] != found.witness[1][0]


@pytest.mark.reference("B-S11")
def test_a_fixed_size_makes_the_last_total_redundant() -> None:
    loose = UnorderedRecords(attributes=(SEX,), least=0, most=3)
    fixed = UnorderedRecords(attributes=(SEX,), least=3, most=3)
    women, men = (Marginal(attributes=(), where={"sex": [s]}) for s in "fm")
    assert determines([women], [men], loose).answer is False
    assert determines([women], [men], fixed).answer is True


@pytest.mark.parametrize(("constants", "answer"), [(1, False), (3, None)])
def test_a_search_that_ends_before_the_last_dataset_decides_nothing(constants: int, answer: bool | None) -> None:
    """Of 2^15 datasets the last one alone is another; the more invariants there are, the fewer datasets are looked at."""
    space = BitVectors(length=15)
    fine = [
        FunctionInvariant(function=lambda _, number=number: number, label=f"the number {number}") for number in range(constants)
    ]
    last = FunctionInvariant(function=lambda bits: sum(bits) == 15, label="all of them")
    found = determines(fine, (last,), space)
    assert found.answer is answer
    assert answer is None or (found.witness is not None and {last.value(x, space) for x in found.witness} == {False, True})


def test_household_margins_determine_person_margins_through_the_composition() -> None:
    space = Households(household=(COUNTY,), person=(SEX, AGE), most=2, members=2)
    composition = Marginal(attributes=("county", "members"), unit="household")
    persons = Marginal(attributes=("county", "sex"), unit="person")
    assert determines([composition], [persons], space).answer is True is brute_force([composition], [persons], space)
    assert determines([persons], [composition], space).answer is False


@pytest.mark.parametrize(
    "invariant",
    [
        Marginal(attributes=("income",)),
        Marginal(attributes=("sex",), unit="dwelling"),
        Marginal(attributes=(), where={"sex": ["x"]}),
        LinearMap(rows=((1, 2),)),
    ],
)
def test_an_invariant_the_space_lacks_is_refused(invariant: Invariant) -> None:
    with pytest.raises((IncompatibleBlocksError, NotInSpaceError)):
        invariant.check(UnorderedRecords(attributes=(SEX, AGE)))


def test_several_misfits_come_together() -> None:
    with pytest.raises(Faults):
        LevelSets(invariants=(Marginal(attributes=("x",)), Marginal(attributes=("y",)))).check(SPACES[3])


@pytest.mark.parametrize(
    "make",
    [
        lambda: Attribute(name="a"),
        lambda: Attribute(name="a", categories=("x", "x")),
        lambda: Attribute(name="a", categories=("x",), parents=("y",)),
        lambda: UnorderedRecords(attributes=(SEX, SEX)),
        lambda: UnorderedRecords(attributes=(TRACT, COUNTY)),
        lambda: UnorderedRecords(attributes=(SEX,), least=3, most=2),
        lambda: IntegerCounts(low=2, high=1),
        lambda: ExplicitUniverses(universes_by_label=[("a", [[0]]), ("a", [[1]])]),
    ],
)
def test_impossible_blocks_are_refused(make: object) -> None:
    with pytest.raises(ParameterError):
        make()  # type: ignore[operator]


def test_the_kinds_of_cells_of_a_space_are_listed_once():
    """Also for an equal space: a law asks for them with every dataset."""
    listed = []

    @define
    class Counted(UnorderedRecords):
        def kinds(self):
            listed.append(self)
            return super().kinds()

    spaces = [Counted(attributes=({"name": "age", "count": 3},), least=0, most=most) for most in (2, 2, 4)]
    assert [space.vector((("1",), ("1",))) for space in spaces] == [(0, 2, 0)] * 3
    assert listed == [spaces[0], spaces[2]]


def test_the_kinds_of_households_of_very_many_kinds_of_persons_are_listed_in_proportion(monkeypatch):
    """Each kind of household took a list of the first 4,096 kinds of persons: 9 s for `compare` of small files."""
    read = 0

    def counting(attributes):
        nonlocal read
        for record in all_records(attributes):
            read += 1
            yield record

    monkeypatch.setattr(records, "all_records", counting)
    space = Households(household=(COUNTY,), person=({"name": "age", "count": 10_000}, SEX), members=2)
    numbers = []
    for size in (500, 1_000, 2_000):
        read = 0
        listed = list(itertools.islice(space.kinds(), size))
        assert len(set(listed)) == size
        numbers.append(read)
    assert numbers[2] - numbers[1] <= 3 * (numbers[1] - numbers[0]) < 9_000
