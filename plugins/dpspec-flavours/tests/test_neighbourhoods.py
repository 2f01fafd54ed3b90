"""Universes around datasets and universes that agree outside one part, against lists of all datasets; and their flavours."""

import itertools
from collections import Counter
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from dpspec_divergences import (
    AddRemove,
    DNor,
    Hamming,
    HammingOrdered,
    Mult,
    Neighbour,
    ReplaceOne,
    SymmetricDifference,
)
from dpspec_flavours.mechanisms import ListedLaw, ListedLaws
from dpspec_flavours.universes.around_dataset import EmpiricalDP, IndividualDP
from dpspec_flavours.universes.neighbourhoods import (
    Around,
    Instance,
    LocalNoise,
    OnePosition,
    OneRecord,
    Resamples,
    Star,
    Strata,
    WithAndWithout,
)
from dpspec_flavours.universes.part_budgets import ByPart
from dpspec_noise import Geometric
from hypothesis import given, strategies as st

from dpspec import installed
from dpspec.base.errors import (
    DpspecError,
    IncompatibleBlocksError,
    NotEnumerableError,
    NotInSpaceError,
    WorkLimitError,
)
from dpspec.base.exact import ln, number
from dpspec.base.work import limited, spent
from dpspec.blocks.budget import Budget, BudgetTable, UniformBudget
from dpspec.blocks.invariant import LinearMap, Marginal
from dpspec.blocks.multiverse import Multiverse, Trivial
from dpspec.blocks.records import ContingencyTables, Households, OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute, DatasetSpace
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws import FiniteLaw
from dpspec.specfile import read_text, to_toml
from dpspec.specfile.document import flavour_document
from dpspec.verifier import exhaustive
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.verdict import Outcome

BLOCKS = {
    kind: tuple(cls for cls in installed().registry.classes(kind) if cls.__module__.startswith("dpspec_flavours.universes"))
    for kind in ("flavours", "multiverses", "budgets", "mechanisms")
}

REGISTRY = installed().registry
AREA, ILL = Attribute(name="area", categories=("n", "s")), Attribute(name="ill", categories=("no", "yes"))
PEOPLE = UnorderedRecords(attributes=(AREA, ILL), most=2)
ROWS = OrderedRecords(attributes=(AREA, ILL), most=2)
BITS = BitVectors(length=3)
FIRMS = UnorderedRecords(attributes=(Attribute(name="size", categories=("1", "4")),), most=3, unit="firm")


def shared(multiverse: Multiverse, space: DatasetSpace) -> set[frozenset[Any]]:
    """All pairs of different datasets that some listed universe holds."""
    universes = tuple(multiverse.universes(space))
    assert len({universe.label for universe in universes}) == len(universes)
    for universe in universes:
        for dataset in space.datasets():
            assert (universe.label in multiverse.labels(dataset, space)) == (dataset in universe.datasets)
    pairs = {frozenset(pair) for u in universes for pair in itertools.combinations(u.datasets, 2)}
    everything = itertools.combinations(space.datasets(), 2)
    assert pairs == {frozenset(pair) for pair in everything if multiverse.share_universe(*pair, space)}
    return pairs


def defined(space: DatasetSpace, holds: Any) -> set[frozenset[Any]]:
    """The pairs of different datasets with a property."""
    return {frozenset(pair) for pair in itertools.combinations(space.datasets(), 2) if holds(*pair)}


# --- universes against their definitions -----------------------------------------------------------


@pytest.mark.reference("B-D30")
def test_around_compares_all_pairs_of_a_ball() -> None:
    centre = (0, 1, 1)
    ball = Around(centres=(centre,), distance=HammingOrdered(), radius=number(1))

    def near(x: Any) -> bool:
        return sum(a != b for a, b in zip(x, centre, strict=True)) <= 1

    assert shared(ball, BITS) == defined(BITS, lambda x, y: near(x) and near(y))
    every = Around(distance=HammingOrdered(), radius=number(1))
    assert shared(every, BITS) == defined(BITS, lambda x, y: sum(a != b for a, b in zip(x, y, strict=True)) <= 2)


@pytest.mark.reference("B-D30")
def test_star_compares_the_centre_with_its_neighbours_only() -> None:
    centre = (("n", "no"), ("s", "yes"))
    star = Star(centres=(centre,), relation=ReplaceOne())

    def replaced(x: Any, y: Any) -> bool:
        return len(x) == len(y) and sum((Counter(x) - Counter(y)).values()) == 1

    assert shared(star, PEOPLE) == defined(PEOPLE, lambda x, y: centre in (x, y) and replaced(x, y))
    assert shared(Star(relation=ReplaceOne()), PEOPLE) == defined(PEOPLE, replaced)
    assert all(len(universe) == 2 for universe in star.universes(PEOPLE))


@pytest.mark.reference("B-D30")
def test_resamples_are_the_datasets_of_observed_records() -> None:
    centre = (("n", "no"), ("s", "yes"))
    seen = Resamples(centres=(centre,))
    assert shared(seen, PEOPLE) == defined(PEOPLE, lambda x, y: all(len(z) == 2 and set(z) <= set(centre) for z in (x, y)))


@pytest.mark.reference("B-D30", "B-S21")
@pytest.mark.parametrize("space", [PEOPLE, ContingencyTables(attributes=(AREA, ILL), most=2)])
def test_strata_agree_outside_one_stratum(space: DatasetSpace) -> None:
    def outside(dataset: Any, stratum: str) -> Any:
        return Counter(record for record in space.records(dataset, "person") if record[0] != stratum)

    found = shared(Strata(attribute="area"), space)
    assert found == defined(space, lambda x, y: any(outside(x, s) == outside(y, s) for s in ("n", "s")))


def test_strata_of_ordered_records_keep_positions() -> None:
    strata = Strata(attribute="area")
    x, y = (("n", "no"), ("s", "no")), (("s", "no"), ("n", "no"))
    assert not strata.share_universe(x, y, ROWS)
    assert strata.share_universe(x, (("n", "yes"), ("s", "no")), ROWS)


def test_one_position_is_the_neighbour_relation_of_sequences() -> None:
    def differ_once(x: Any, y: Any) -> bool:
        return len(x) == len(y) and sum(a != b for a, b in zip(x, y, strict=True)) == 1

    for space in (BITS, ROWS):
        assert shared(OnePosition(), space) == defined(space, differ_once)


@pytest.mark.parametrize(
    ("space", "unit"),
    [
        (PEOPLE, "person"),
        (ContingencyTables(attributes=(AREA, ILL), most=2), "person"),
        (Households(household=(AREA,), person=(ILL,), most=2, members=1), "household"),
    ],
)
def test_one_record_is_the_relation_of_adding_one(space: DatasetSpace, unit: str) -> None:
    relation = AddRemove(unit=unit)
    assert shared(OneRecord(), space) == defined(space, lambda x, y: relation.related(x, y, space))
    assert all(len(universe) == 2 for universe in OneRecord().universes(space))


def test_one_record_counts_in_the_cells_of_vectors_too() -> None:
    space = IntegerCounts(length=2, high=2)
    assert shared(OneRecord(), space) == defined(space, lambda x, y: sum(abs(a - b) for a, b in zip(x, y, strict=True)) == 1)


def test_with_and_without_is_one_pair_for_each_instance() -> None:
    pairs = (Instance(dataset=(("1",),), record=("4",)), Instance(dataset=(), record=("1",)))
    found = WithAndWithout(pairs=pairs)
    assert shared(found, FIRMS) == {frozenset({(("1",),), (("1",), ("4",))}), frozenset({(), (("1",),)})}


@pytest.mark.parametrize(
    ("listed", "otherwise", "outcome"),
    [
        ({"north": "1/2"}, "1", Outcome.REFUTED),  # a listed part has less than the others
        ({"north": "1"}, "ln(2)", Outcome.VERIFIED),
        ({"north": "ln(2)"}, "inf", Outcome.VERIFIED),
        ({"north": "1", "south": "1"}, None, Outcome.UNDECIDED),  # a part of which nobody has said anything
    ],
)
def test_on_a_space_without_a_largest_size_the_least_of_all_parts_counts(
    listed: dict[str, str], otherwise: str | None, outcome: Outcome
) -> None:
    """One person more or less costs ln 2 in every region, and so the claim holds where no region has less."""
    region = Attribute(name="region", categories=("north", "south", "east"))
    spec = PrivacySpec(
        space=UnorderedRecords(attributes=(region,)),
        multiverse=Strata(attribute="region"),
        input_divergence=SymmetricDifference(),
        output_divergence=Mult(),
        budget=ByPart(  # type: ignore[call-arg]
            parameter="epsilon",
            values=tuple({"part": part, "value": value} for part, value in listed.items()),
            otherwise=otherwise,
        ),
    )
    counts = Geometric(queries=(Marginal(attributes=("region",)),), ratio="1/2")  # type: ignore[arg-type]
    assert verify_claim(counts, spec).outcome is outcome


@pytest.mark.parametrize(("otherwise", "outcome"), [("1/2", Outcome.REFUTED), (None, Outcome.UNDECIDED)])
def test_universes_of_many_strata_are_found_once_and_one_event_is_computed(
    otherwise: str | None, outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took 7.5 s: an event for each refuted stratum, and the labels of both datasets anew for each pair."""
    spec = PrivacySpec(
        space=UnorderedRecords(attributes=(Attribute(name="region", count=51),)),
        multiverse=Strata(attribute="region"),
        input_divergence=SymmetricDifference(),
        output_divergence=Mult(),
        budget=ByPart(parameter="epsilon", values=({"part": "0", "value": "1"},), otherwise=otherwise),  # type: ignore[call-arg, arg-type]
    )
    read: list[Any] = []
    events: list[Any] = []
    labels, telling = Strata.labels, exhaustive.telling_event
    monkeypatch.setattr(Strata, "labels", lambda self, dataset, space: read.append(dataset) or labels(self, dataset, space))
    monkeypatch.setattr(exhaustive, "telling_event", lambda *given: events.append(given) or telling(*given))
    counts = Geometric(queries=(Marginal(attributes=("region",)),), ratio="1/2")  # type: ignore[arg-type]
    assert verify_claim(counts, spec).outcome is outcome
    assert len(events) == (outcome is Outcome.REFUTED)
    assert outcome is Outcome.REFUTED or len(read) < 2 * len(set(read)) + 10  # the proof reads some as well


laws = st.lists(st.integers(1, 6), min_size=8, max_size=8)


def listed(weights: list[int], datasets: Any) -> ListedLaws:
    """A mechanism with two outcomes on each of the datasets."""
    rows = []
    for place, dataset in enumerate(datasets):
        a, b = weights[2 * place], weights[2 * place + 1]
        rows.append(ListedLaw(dataset=dataset, law=(("a", Fraction(a, a + b)), ("b", Fraction(b, a + b)))))
    return ListedLaws(laws=tuple(rows))


@given(laws)
def test_stars_at_every_dataset_are_the_neighbour_promise(weights: list[int]) -> None:
    space, unit = BitVectors(length=2), ReplaceOne()
    mechanism = listed(weights, space.datasets())
    spec = PrivacySpec(
        space=space, multiverse=Star(relation=unit), input_divergence=Neighbour(relation=unit), output_divergence=Mult(),
        budget=UniformBudget(parameter="epsilon", value=ln(2)),
    )  # fmt: skip
    assert verify_claim(mechanism, spec).outcome == verify_claim(mechanism, spec.replace(multiverse=Trivial())).outcome


# --- what a promise around one dataset does not say ------------------------------------------------


@pytest.mark.reference("B-D30")
@pytest.mark.parametrize("flavour", [IndividualDP(), EmpiricalDP()])
def test_what_holds_at_the_observed_dataset_fails_on_the_whole_space(flavour: Any) -> None:
    mechanism, spec = flavour.satisfied_by().mechanism, flavour.spec()
    assert verify_claim(mechanism, spec).outcome.value == "verified"
    assert verify_claim(mechanism, spec.replace(multiverse=Trivial())).outcome.value == "refuted"


def test_local_sensitivity_by_brute_force() -> None:
    query = LinearMap(rows=((1, 4),), label="sum")
    mechanism = LocalNoise(query=query, relation=AddRemove(unit="firm"), epsilon=number(1))
    for dataset in FIRMS.datasets():
        sizes = [int(record[0]) for record in FIRMS.records(dataset, "firm")]
        largest = max([*sizes, 4 if len(sizes) < 3 else 0])
        assert mechanism.sensitivity(dataset, FIRMS) == largest
    still = LocalNoise(query=LinearMap(rows=((0, 0),), label="zero"), relation=AddRemove(unit="firm"), epsilon=number(1))
    assert still.law((), FIRMS) == FiniteLaw.point(0)


# --- subspaces -------------------------------------------------------------------------------------

rows = st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3).map(tuple), min_size=1, max_size=2).map(tuple)


# --- flavours --------------------------------------------------------------------------------------


@pytest.mark.reference("B-D30")
@pytest.mark.parametrize("cls", BLOCKS["flavours"], ids=lambda cls: str(cls.name))
def test_flavours_are_kept_and_broken_and_survive_their_file(cls: Any) -> None:
    flavour = cls()
    spec = flavour.spec()
    kept, broken = (verify_claim(e.mechanism, spec) for e in (flavour.satisfied_by(), flavour.broken_by()))
    assert kept.outcome.value == "verified"
    assert any(result.constant.upper > 0 for result in kept.universes)
    assert broken.outcome.value == "refuted"
    assert broken.witness is not None
    assert max(spec.space.magnitude(x) for x in (broken.witness.left, broken.witness.right)) <= 3
    document = flavour_document(flavour)
    assert read_text(to_toml(document, REGISTRY), REGISTRY) == document


@pytest.mark.parametrize(
    ("name", "constants"),
    [
        ("induced-subspace-dp", {"0", "1/2"}),
        ("integer-subspace-dp", {"0", "sqrt(1/8)"}),
        ("empirical-dp", {"ln(2)", "ln(5/2)"}),
        ("per-record-dp", {"ln(2)", "ln(16)"}),
        ("stratified-dp", {"0", "ln(2)", "ln(4)"}),
    ],
)
def test_constants_are_those_computed_by_hand(name: str, constants: set[str]) -> None:
    flavour: Any = next(cls() for cls in BLOCKS["flavours"] if cls.name == name)  # type: ignore[attr-defined]
    verdict = verify_claim(flavour.satisfied_by().mechanism, flavour.spec())
    assert {str(result.constant) for result in verdict.universes} == constants


@pytest.mark.parametrize("cls", [c for kind in ("multiverses", "budgets", "mechanisms") for c in BLOCKS[kind]])
def test_every_block_survives_a_file(cls: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if cls in BLOCKS["budgets"]:  # its examples have parts of several multiverses
        monkeypatch.setattr(cls, "check_universes", Budget.check_universes)
    for example in cls.examples():
        thing, space = example if isinstance(example, tuple) else (example, FIRMS)
        blocks = {"budget": thing} if cls in BLOCKS["budgets"] else {"multiverse": thing} if cls in BLOCKS["multiverses"] else {}
        spec = SimpleNamespace(space=space)
        whole = PrivacySpec(
            space=spec.space,
            **{
                "multiverse": Trivial(),
                "input_divergence": SymmetricDifference(unit=space.units[0]),
                "output_divergence": DNor() if getattr(thing, "parameter", "") == "rho" else Mult(),
                "budget": UniformBudget(parameter="epsilon", value=ln(2)),
                **blocks,
            },
        )
        assert read_text(to_toml(whole, REGISTRY), REGISTRY).spec == whole


def test_whole_labels_in_a_file_are_the_labels_of_the_universes() -> None:
    labels = [universe.label for universe in OneRecord().universes(FIRMS)]
    budget = BudgetTable(parameter="epsilon", values=tuple((label, number(i)) for i, label in enumerate(labels)))
    spec = PrivacySpec(
        space=FIRMS, multiverse=OneRecord(), input_divergence=SymmetricDifference(unit="firm"), output_divergence=Mult(),
        budget=budget,
    )  # fmt: skip
    again = read_text(to_toml(spec, REGISTRY), REGISTRY).spec
    assert [again.budget.at(u, FIRMS) for u in again.multiverse.universes(FIRMS)] == [number(i) for i in range(len(labels))]


# --- errors ----------------------------------------------------------------------------------------

ENDLESS = UnorderedRecords(attributes=(ILL,))
HOUSES = Households(household=(AREA,), person=(ILL,), most=1, members=1)


@pytest.mark.parametrize(
    ("multiverse", "space", "error", "words"),
    [
        (Around(centres=((0, 2, 0),), distance=Hamming(), radius=number(1)), BITS, NotInSpaceError, "bits 0 and 1"),
        (Around(centres=((),), distance=HammingOrdered(), radius=number(1)), PEOPLE, IncompatibleBlocksError, "positions"),
        (Around(distance=Hamming(), radius=number(1)), ENDLESS, NotEnumerableError, "name the centres"),
        (Star(centres=((),), relation=AddRemove()), ENDLESS, NotEnumerableError, "smaller space"),
        (Resamples(centres=((),)), HOUSES, IncompatibleBlocksError, "no unit|largest unit"),
        (Strata(attribute="aera"), PEOPLE, IncompatibleBlocksError, "did you mean area"),
        (Strata(attribute="ill"), HOUSES, IncompatibleBlocksError, "largest unit, household"),
        (Strata(attribute="members", unit="household"), HOUSES, IncompatibleBlocksError, "is no attribute of the unit"),
        (OnePosition(), PEOPLE, IncompatibleBlocksError, "have none"),
        (OneRecord(), ROWS, IncompatibleBlocksError, "without an order"),
        (WithAndWithout(pairs=(Instance(dataset=(("n", "no"),) * 2, record=("n", "no")),)), PEOPLE, NotInSpaceError, "be added"),
        (WithAndWithout(pairs=(Instance(dataset=(), record="n"),)), PEOPLE, NotInSpaceError, "be added"),
    ],
)
def test_universes_that_do_not_fit_say_why(multiverse: Any, space: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        multiverse.check(space)


STRATA = 'multiverse = { type = "strata", attribute = "region" }'
POSITIONS = 'multiverse = { type = "one-position" }'
ONE_RECORD = 'multiverse = { type = "one-record" }'
BY_PART = """schema = 1
id = "by-part"
title = "Budgets by part"
space = {{ type = "{space}", most = 2, attributes = [{{ name = "region", categories = ["north", "south"] }}] }}
{multiverse}
input_divergence = {{ type = "symmetric-difference" }}
output_divergence = {{ type = "mult" }}
[budget]
type = "by-part"
parameter = "epsilon"
place = {place}
values = [{{ part = {part}, value = "1" }}]
otherwise = "3"
"""


@pytest.mark.parametrize(
    ("multiverse", "place", "right", "wrong", "words"),
    [
        (STRATA, 0, '"north"', '"nroth"', "the parts are north, south"),
        (POSITIONS, 0, "1", "2", "the parts are 0, 1"),
        (ONE_RECORD, 0, '["north"]', '["nroth"]', "the parts are"),
        (STRATA, 1, '[["north"]]', '[["nroth"]]', "the parts are"),
    ],
)
def test_a_misspelt_part_is_an_error_although_all_others_have_a_budget(
    multiverse: str, place: int, right: str, wrong: str, words: str
) -> None:
    """It silently had the budget of the parts that are not listed."""
    space = (OrderedRecords if multiverse == POSITIONS else UnorderedRecords).name

    def text(part: str) -> str:
        return BY_PART.format(multiverse=multiverse, place=place, part=part, space=space)

    assert read_text(text(right), REGISTRY).spec.budget.parameter == "epsilon"
    with pytest.raises(DpspecError, match=words):
        read_text(text(wrong), REGISTRY)


@pytest.mark.parametrize("most", [2, 10**9])
def test_a_part_without_a_budget_is_an_error(most: int) -> None:
    """`check` accepted the file, and `verify` could not judge it. Of universes of one dataset nothing is promised."""
    text = BY_PART.format(multiverse=STRATA, place=0, part='"north"', space="records").replace("most = 2", f"most = {most}")
    assert read_text(text, REGISTRY).spec.budget.parameter == "epsilon"
    with pytest.raises(DpspecError, match="by-part=south: has no entry for this part"):
        read_text(text.replace('otherwise = "3"', ""), REGISTRY)
    every = 'values = [{ part = "north", value = 1 }, { part = "south", value = "2" }]'
    listed = text.replace('otherwise = "3"', "").replace('values = [{ part = "north", value = "1" }]', every)
    assert read_text(listed, REGISTRY).spec.budget.parameter == "epsilon"
    fixed = text.replace('otherwise = "3"', "").replace(f"most = {most}", "least = 2, most = 2")  # each stratum is of one kind
    assert read_text(fixed, REGISTRY).spec.budget.parameter == "epsilon"


UNLISTED = (
    "multiverse = { invariants = [{ type = 'marginal', attributes = [] }] }",
    "multiverse = { type = 'explicit', universes_by_label = { a = [[]] } }",
)


@pytest.mark.parametrize("multiverse", [STRATA, "multiverse = { type = 'trivial' }", *UNLISTED])
@pytest.mark.parametrize("most", [2, 10**9])
def test_a_budget_by_the_value_of_a_record_needs_universes_that_are_named_by_one(multiverse: str, most: int) -> None:
    """`check` accepted the file, and other commands failed on it, or `compare` said that *every universe* has a budget."""
    text = BY_PART.partition("[budget]")[0].format(space="records", multiverse=multiverse).replace('"north", "south"', '"1", "2"')
    text = text.replace("most = 2", f"most = {most}")
    text += '[budget]\ntype = "by-value"\nparameter = "epsilon"\nattribute = "region"\nrate = 1\n'
    if most == 2 or multiverse not in UNLISTED:
        with pytest.raises(DpspecError, match=r"whose entry 0 is a record|with an entry number 0"):
            read_text(text, REGISTRY)
    assert read_text(text.replace(multiverse, ONE_RECORD), REGISTRY).spec.budget.parameter == "epsilon"


def test_labels_that_hold_the_rest_of_long_datasets_are_work():
    """Of a dataset with 10,000 places they are 10,000 labels of 10,000 records."""
    space = BitVectors(length=2_000)
    dataset = next(iter(space.datasets()))
    before = spent()
    assert len(OnePosition().labels(dataset, space)) == 2_000
    assert spent() - before >= 2_000 * 1_999 // 64 - 2_000
    with pytest.raises(WorkLimitError), limited(10_000):
        OnePosition().labels(dataset, space)
