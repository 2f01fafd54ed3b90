"""The risk engine: rows matched, sides left open, assumptions shown, plugins kept to their contract."""

import re
from functools import partial
from types import SimpleNamespace
from typing import ClassVar

import attrs
import numpy as np
import pytest
from dpspec_attackers.tester import FrequentistTester
from dpspec_divergences import Hamming, HammingOrdered, Mult
from dpspec_flavours.streams.personal import PersonalisedResponse
from dpspec_noise import Geometric, RandomisedResponse

import dpspec as dp
from dpspec.base.errors import (
    AttackerMisfitError,
    DpspecError,
    NoFormulaError,
    NotReachedError,
    PluginContractError,
    TableError,
)
from dpspec.base.exact import Bracket, ln, number
from dpspec.base.work import spend
from dpspec.blocks.budget import BudgetTable, UniformBudget
from dpspec.blocks.invariant import Invariant, Marginal
from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets, Trivial
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.grammar.attacker import AttackerModel, RiskStatement, Sense
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.grammar.tables import Table, TableBuilder
from dpspec.laws.law import FiniteLaw
from dpspec.plugin import define
from dpspec.risks import engine, risk
from dpspec.risks.attack_bounds import allowed_power
from dpspec.risks.candidates import candidates_within
from dpspec.risks.engine import at_universe_of, dataset_in, dataset_of
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import Outcome

RESPONSE = RandomisedResponse(keep_probability="3/4")


def spec(epsilon=None, length=2, budget=None):
    return PrivacySpec(
        space=BitVectors(length=length),
        multiverse=Trivial(),
        input_divergence=HammingOrdered(unit="person"),
        output_divergence=Mult(),
        budget=budget or UniformBudget(parameter="epsilon", value=ln(3) if epsilon is None else epsilon),
    )


def said(value, quantity="power", relation=Sense.AT_MOST, assumption="none", at=(("level", "1/20"),)):
    return RiskStatement(
        quantity=quantity, at=at, relation=relation, value=Bracket.exactly(value), theorem="T", assumption=assumption
    )


class Fixed(AttackerModel):
    """Says what it is told to, or raises it."""

    name = "fixed"
    assumption = "none"

    def __init__(self, worst, own=()):
        self.sides = worst, own

    def _answer(self, side):
        if isinstance(self.sides[side], Exception):
            raise self.sides[side]
        return self.sides[side]

    def worst_case(self, spec):
        return self._answer(0)

    def under(self, mechanism, spec):
        return self._answer(1)


def test_statements_about_one_quantity_at_one_place_share_a_row():
    attacker = Fixed((said("1/2"), said("1/3", quantity="odds")), (said("1/4", relation=Sense.EQUALS), said("1/5", at=())))
    report = risk(spec(), attacker, RESPONSE)
    assert [(row.quantity, row.at, len(row.worst), len(row.own)) for row in report.rows] == [
        ("power", (("level", "1/20"),), 1, 1),
        ("odds", (("level", "1/20"),), 1, 0),
        ("power", (), 0, 1),
    ]
    assert not report.exceeded


@pytest.mark.parametrize(
    ("every", "one", "exceeded"),
    [
        (said("1/2"), said("3/4", relation=Sense.EQUALS), True),
        (said("1/2"), said("1/2", relation=Sense.EQUALS), False),
        (said("1/2"), said("3/4", relation=Sense.AT_LEAST), True),
        (said("1/2"), said("3/4", relation=Sense.AT_MOST), False),
        (said("1/2", relation=Sense.AT_LEAST), said("1/4", relation=Sense.EQUALS), True),
        (said("1/2", relation=Sense.AT_LEAST), said("3/4", relation=Sense.EQUALS), False),
        (said("1/2", relation=Sense.EQUALS), said("3/4", relation=Sense.EQUALS), False),
    ],
)
def test_a_mechanism_beyond_the_worst_case_is_named(every, one, exceeded):
    assert bool(risk(spec(), Fixed((every,), (one,)), RESPONSE).exceeded) is exceeded


def test_a_mechanism_that_spends_more_than_its_specification_is_seen():
    report = risk(spec(ln(2)), FrequentistTester(), RESPONSE)
    assert report.exceeded
    assert not risk(spec(), FrequentistTester(), RESPONSE).exceeded


def test_a_side_without_a_route_stays_open():
    report = risk(spec(), Fixed(NoFormulaError("x", "is not known"), (said("1/2"),)), RESPONSE)
    assert report.unknown == (("worst case", "x: is not known"),)
    assert [len(row.own) for row in report.rows] == [1]
    with pytest.raises(NoFormulaError):
        risk(spec(), Fixed(NoFormulaError("x", "is not known")))


@pytest.mark.parametrize(
    "statement",
    [said("1/2", assumption=""), said("1/2", quantity=" "), attrs.evolve(said("1/2"), theorem=""), "1/2"],
)
def test_no_statement_hides_what_it_rests_on(statement):
    with pytest.raises(PluginContractError):
        risk(spec(), Fixed((statement,)))


def test_what_a_plugin_must_not_raise_is_its_fault():
    with pytest.raises(PluginContractError, match="ZeroDivisionError"):
        risk(spec(), Fixed(ZeroDivisionError("x")))


def test_a_misfit_is_not_an_open_side():
    with pytest.raises(AttackerMisfitError):
        risk(spec(), Fixed((), AttackerMisfitError("space", "does not fit")), RESPONSE)


def test_budgets_by_universe_take_the_largest():
    table = BudgetTable(parameter="epsilon", values=(("X", ln(3)),))
    one, other = risk(spec(budget=table), FrequentistTester()), risk(spec(), FrequentistTester())
    assert [row.worst[0].value for row in one.rows] == [row.worst[0].value for row in other.rows]
    with pytest.raises(AttackerMisfitError, match="too many universes"):
        risk(spec(budget=table, length=20), FrequentistTester())


def test_datasets_that_are_not_neighbours_show_nothing():
    with pytest.raises(NotReachedError):
        FrequentistTester(datasets=[(0, 0), (1, 1)]).under(RESPONSE, spec())


def test_of_several_universes_of_a_table_the_largest_budget_counts():
    """Two persons of whom one is promised less: a mechanism that keeps both keeps that of the table, in each universe."""
    universes = {"first": ((0, 0), (1, 0)), "second": ((0, 0), (0, 1)), "others": ((1, 0), (1, 1))}
    budgets = {"first": ln(3), "second": ln(2), "others": ln(16)}
    promised = attrs.evolve(
        spec(budget=BudgetTable(parameter="epsilon", values=tuple(budgets.items()))),
        multiverse=ExplicitUniverses(universes_by_label=tuple(universes.items())),
    )
    keeps = PersonalisedResponse(keep_probabilities=("3/4", "2/3"))
    assert verify(keeps, promised).outcome is Outcome.VERIFIED
    here = at_universe_of(promised, (0, 0))
    assert here.budget.uniform() == ln(3)
    assert all(verify(keeps, here, datasets=universes[name]).outcome is Outcome.VERIFIED for name in ("first", "second"))


class Busy(Fixed):
    """Says what it is told to after some work."""

    def __init__(self, units, worst, own=()):
        super().__init__(worst, own)
        self.units = units

    def worst_case(self, spec):
        spend(self.units)
        return super().worst_case(spec)


def test_a_side_that_takes_too_much_work_is_open():
    attacker = Busy(engine.MOST_ASKED + 1, (said("1/2"),), (said("1/4", relation=Sense.EQUALS),))
    report = risk(spec(), attacker, RESPONSE)
    assert [row.own is not None for row in report.rows] == [True]
    assert [side for side, reason in report.unknown if "limit of work" in reason] == ["worst case"]


def test_attackers_that_no_work_is_left_for_are_not_asked_and_say_so():
    attackers = [Busy(engine.MOST_ASKED, (said("1/2"),)) for _ in range(4)]
    found = engine.panel(spec(), attackers)
    assert len(found.reports) == engine.MOST_OF_PANEL // engine.MOST_ASKED
    assert ["limit of work" in reason for _, reason in found.not_asked] == [True]


# --- registered tables ----------------------------------------------------------------------------


def test_a_registered_table_is_read_by_the_names_of_its_columns() -> None:
    """It was read by their order: with equal categories the universe, and so the budget, was that of another table."""
    first, second = (Attribute(name=name, categories=("0", "1")) for name in ("age", "sex"))

    class Built(TableBuilder):
        name: ClassVar[str] = "built"

        def build(self) -> Table:
            return Table(attributes=(first, second), codes={"age": np.array([0, 0]), "sex": np.array([1, 1])})

    registry = SimpleNamespace(names=lambda kind: ["built"], get=lambda kind, name: Built, classes=lambda kind: [])
    space = UnorderedRecords(attributes=(second, first))
    assert dataset_of("built", space, registry) == space.dataset([("1", "0"), ("1", "0")])
    other = UnorderedRecords(attributes=(second, Attribute(name="age", categories=("1", "0"))))
    with pytest.raises(TableError, match="other columns or categories"):
        dataset_of("built", other, registry)


BITS = dp.spaces.bit_vectors(length=3)
CELLS = dp.spaces.contingency_tables(attributes=[{"name": "sex", "categories": ["f", "m"]}, {"name": "age", "count": 2}], most=3)
USERS = dp.spaces.element_records(users=["ann", "bob"], elements=[{"name": "smokes", "categories": ["yes", "no"]}])


@pytest.mark.parametrize(("space", "records", "dataset"), [
    (BITS, [("1",), ("0",), ("1",)], (1, 0, 1)),
    (CELLS, [("m", "0"), ("f", "1"), ("m", "0")], (0, 1, 2, 0)),
    (USERS, [("bob", "no"), ("ann", "yes")], (("ann", "yes"), ("bob", "no"))),
    (BITS, [("1",), ("0",)], None),
    (CELLS, [("m", "0")] * 4, None),
    (USERS, [("ann", "no"), ("ann", "yes")], None),
])  # fmt: skip
def test_a_table_is_the_dataset_with_its_records_or_none_and_no_record_is_quoted(space, records, dataset):
    """Records of users were read as households without persons, and the first one was quoted."""
    table = Table.from_records(records, space.attributes_of(space.units[0]))
    if dataset is not None:
        assert dataset_in(table, space) == dataset
        return
    with pytest.raises(DpspecError) as raised:
        dataset_in(table, space)
    assert not {"ann", "yes", "m"} & {*re.findall(r"\w+", str(raised.value))}


# --- tables that are no dataset of the space --------------------------------------------------------


RECORDS = {"type": "records", "attributes": [{"name": "town", "categories": ["a", "b"]}]}
USERS = {
    "type": "element-records", "users": ["ann", "bob"], "elements": [{"name": "town", "categories": ["a", "b"]}],
}  # fmt: skip


@pytest.mark.parametrize(("space", "rows"), [
    ({**RECORDS, "most": 2}, ["town", "a", "a", "b"]),
    ({**RECORDS, "least": 4}, ["town", "a", "a", "b"]),
    (USERS, ["user,town", "ann,a", "ann,b", "bob,b"]),
], ids=["more than most", "fewer than least", "a user twice"])  # fmt: skip
def test_a_table_that_is_no_dataset_of_the_space_has_no_numbers(tmp_path, space, rows):
    """`attack` and `tradeoff` gave numbers of a table of which the space has none as those of this table, and as exact."""
    path, unit = tmp_path / "table.csv", rows[0].split(",")[0] if "user" in rows[0] else "person"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    query = {"type": "marginal", "attributes": ["town"], "unit": unit}
    noise = {"type": "geometric", "queries": [query], "sensitivity": 2, "epsilon": 1, "neighbours": "replace-one", "unit": unit}
    file = dp.build(
        id="towns", title="Towns", space=space, multiverse={"invariants": []}, input_divergence={"type": "hamming", "unit": unit},
        output_divergence={"type": "mult"}, budget={"epsilon": 1}, mechanism=noise,
    )  # fmt: skip
    for asked in (
        partial(dp.read_table, file, path),
        partial(dp.attack, file, path, secret=["town"], targets=2, seed=1),
        partial(dp.tradeoff, file, table=path, statistic="marginal:town", metric="mae", exchange=["town"]),
    ):
        with pytest.raises(DpspecError, match=r"must have a size in|cannot be read as a dataset"):
            asked()


# --- budgets that differ by universe, and a table -------------------------------------------------------


def women_counted(published=None):
    """The answers of the women are counted, and the numbers of women and men are published: nothing is learnt about men alone."""
    people = UnorderedRecords(
        attributes=(Attribute(name="sex", categories=("f", "m")), Attribute(name="answer", categories=("a", "b"))), most=2
    )
    known = LevelSets(invariants=(published or Marginal(attributes=("sex",)),))
    held = {universe.label: universe.datasets for universe in known.universes(people)}
    has_women = {label: any(record[0] == "f" for dataset in datasets for record in dataset) for label, datasets in held.items()}
    values = tuple((label, ln(4) if is_so else number(0)) for label, is_so in has_women.items())
    promise = PrivacySpec(
        space=people, multiverse=known, input_divergence=Hamming(), output_divergence=Mult(),
        budget=BudgetTable(parameter="epsilon", values=values),
    )  # fmt: skip
    women = Marginal(attributes=("answer",), where={"sex": ("f",)})
    return promise, Geometric(queries=(women,), ratio="1/2")


MEN, BOTH = "sex,answer\nm,a\nm,b\n", "sex,answer\nf,a\nm,b\n"


@pytest.mark.parametrize(("table", "power"), [(MEN, "1/20"), (BOTH, "1/5")])
@pytest.mark.parametrize("asked", [{"attacker": "tester"}, {"secret": ["answer"]}])
def test_the_numbers_of_a_mechanism_in_the_universe_of_a_table_are_within_its_budget(table, power, asked, tmp_path):
    """The budget is that of the table's universe: what the mechanism shows in another one was beyond it, of a verified claim."""
    promise, mechanism = women_counted()
    assert verify(mechanism, promise).outcome is Outcome.VERIFIED
    (tmp_path / "table.csv").write_text(table)
    report = dp.risk(promise, **asked, mechanism=mechanism, universe_of=str(tmp_path / "table.csv"))
    assert not report.exceeded
    rows = [row for row in report.rows if row.worst and dict(row.at).get("level") == "1/20"]
    (row,) = [row for row in rows if dict(row.at).get("candidates") != "distinguished by what is published"]
    (worst,), (own,) = row.worst, row.own
    assert own.value == Bracket.exactly(number(power))
    assert worst.value.lower <= number(power) <= worst.value.upper


def test_the_panel_compares_no_universe_with_the_budget_of_another_one(tmp_path):
    promise, mechanism = women_counted()
    (tmp_path / "table.csv").write_text(MEN)
    panel = dp.risk(promise, mechanism=mechanism, universe_of=str(tmp_path / "table.csv"))
    assert not panel.exceeded
    assert [report.attacker.name for report in panel.reports if any(row.own for row in report.rows)] == ["strongest", "tester"]


class OfAllUniverses(Fixed):
    """Does not ask for pairs of one universe."""

    name = "of-all-universes"

    def under(self, mechanism, spec):
        return (said(number(1), relation=Sense.EQUALS),)


def test_a_number_of_all_universes_is_not_next_to_the_budget_of_one(tmp_path):
    promise, mechanism = women_counted()
    (tmp_path / "table.csv").write_text(MEN)
    attacker = OfAllUniverses((said(number("1/20")),))
    report = dp.risk(promise, attacker, mechanism=mechanism, universe_of=str(tmp_path / "table.csv"))
    assert not report.exceeded
    assert [(bool(row.worst), bool(row.own), dict(row.at).get("universe")) for row in report.rows] == [
        (True, False, None), (False, True, "the worst"),
    ]  # fmt: skip


def test_no_pair_in_the_universe_of_a_table_leaves_the_mechanism_open(tmp_path):
    promise, mechanism = women_counted(Marginal(attributes=("answer",), where={"sex": ("m",)}))
    (tmp_path / "table.csv").write_text(MEN)
    report = dp.risk(promise, "tester", mechanism=mechanism, universe_of=str(tmp_path / "table.csv"))
    assert not report.exceeded
    assert any(side == "mechanism" and "the universe that is meant" in reason for side, reason in report.unknown)


@pytest.mark.parametrize(("made", "words"), [
    (lambda: FiniteLaw.of({0: "1/2"}), r"mechanism test-wrong: law\(\) returned no probability distribution at test_engine"),
    (lambda: {0: 1}, r"mechanism test-wrong=\{0 = 1\}: law\(\) must return a Law"),
])  # fmt: skip
def test_a_law_that_is_none_is_the_fault_of_the_mechanism(made, words):
    """It was an error of the file (exit code 2), or one of the attacker that was given it."""

    @attrs.frozen
    class Wrong(Mechanism):
        name: ClassVar[str] = "test-wrong"

        def law(self, dataset, space):
            return made()

    with pytest.raises(PluginContractError, match=words):
        risk(spec(), FrequentistTester(levels=["1/20"]), Wrong())


def test_a_law_that_is_none_has_its_place_where_an_attacker_computes_it():
    with pytest.raises(PluginContractError, match=r"law: is no probability distribution at test_engine\.py:\d+: probabilities"):
        engine._asked(Fixed(()), lambda: FiniteLaw.of({0: "1/2"}))


@pytest.mark.parametrize("value", [None, 0.5, Bracket(lower=0, upper=number(1)), Bracket(lower=number(0), upper=1)])
def test_a_divergence_that_returns_no_bracket_of_numbers_is_named(value):
    """It was a fault of dpspec in `label`, and of all commands for ends that are no numbers."""

    @define
    class Bare(OutputDivergence):
        name: ClassVar[str] = "test-bare"
        budget_parameters: ClassVar[tuple[str, ...]] = ("epsilon",)

        def evaluate(self, pair, *, precision=64):
            return value

    with pytest.raises(PluginContractError, match=r"output divergence test-bare.*must return a Bracket of two Numbers"):
        allowed_power(Bare(), number(1), "1/20")


def test_published_facts_without_a_hash_are_named_where_candidates_are_listed():
    @define
    class Listed(Invariant):
        name: ClassVar[str] = "test-listed"

        def value(self, dataset, space):
            return [dataset[0]]

        def __str__(self) -> str:
            return "a list"

    with pytest.raises(PluginContractError, match=r"invariant test-listed.*has no hash"):
        candidates_within(spec().replace(multiverse=LevelSets(invariants=(Listed(),))), 1)
