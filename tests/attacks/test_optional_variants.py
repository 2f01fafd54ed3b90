"""Optional variants, with a test for each way in which a plausible mistake in one of them went unnoticed.

Budgets by universe, searches of a part of the datasets, shortened proofs, samples, and universes with budgets of their own are
rarely used, so that tests of the common case do not see a mistake there. `tests/mutants.py` makes such mistakes one by one.
"""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import attrs
import pytest
from dpspec_attackers.counts import BlockKnowledge, Uniqueness
from dpspec_attackers.full_knowledge import StrongestAttacker
from dpspec_attackers.independent_records import IndependentRecord
from dpspec_attackers.membership.strong import StrongMembership
from dpspec_attackers.tester import AttributeRestricted, FrequentistTester
from dpspec_checker.check import check_derivation
from dpspec_checker.proofs import check_proof
from dpspec_checker.universes import least_and_most
from dpspec_divergences import (
    AddRemove,
    DNor,
    Hamming,
    HammingOrdered,
    Mult,
    MultDelta,
    Neighbour,
    Renyi,
    SymmetricDifference,
)
from dpspec_flavours.secrets.averages import Subsampled
from dpspec_noise import Laplace, RandomisedResponse

from dpspec import read
from dpspec.base.exact import number
from dpspec.blocks.budget import BudgetTable, UniformBudget
from dpspec.blocks.invariant import Marginal
from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets, Trivial
from dpspec.blocks.records import OrderedRecords, UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors
from dpspec.comparison.composition import Part, compose
from dpspec.extension import installed
from dpspec.grammar.attacker import AttackerModel, Sense
from dpspec.grammar.mechanism import Mechanism
from dpspec.grammar.spec import PrivacySpec
from dpspec.laws.law import FiniteLaw
from dpspec.reason.rules import rescaled
from dpspec.reason.search import derive
from dpspec.report.json import file_report
from dpspec.risks import candidates, risk
from dpspec.verifier.document import verify_document
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.lower_bound import Attaining
from dpspec.verifier.proof import derive as judge
from dpspec.verifier.sensitivity import Missing, Sensitivity
from dpspec.verifier.verdict import Outcome, Verdict

REGISTRY = installed().registry
SEX = Attribute(name="sex", categories=("f", "m"))
PAIRS = UnorderedRecords(attributes=(SEX,), least=2, most=2)
BOTH, MIXED, NEITHER = [["f"], ["f"]], [["f"], ["m"]], [["m"], ["m"]]


def specification(space: Any, distance: Any, divergence: Any, value: str, multiverse: Any = None) -> PrivacySpec:
    budget = UniformBudget(parameter=divergence.budget_parameters[0], value=number(value))
    return PrivacySpec(
        space=space, multiverse=multiverse or Trivial(), input_divergence=distance, output_divergence=divergence, budget=budget
    )


# --- budgets by universe ------------------------------------------------------------------------------


def by_universe(distance: Any, divergence: Any, **values: str) -> PrivacySpec:
    """Two records, in two universes that overlap, each with a budget of its own."""
    universes = ExplicitUniverses(universes_by_label={"left": [BOTH, MIXED], "right": [MIXED, NEITHER]})
    rows = tuple((label, number(value)) for label, value in values.items())
    budget = BudgetTable(parameter=divergence.budget_parameters[0], values=rows)
    return PrivacySpec(space=PAIRS, multiverse=universes, input_divergence=distance, output_divergence=divergence, budget=budget)


@pytest.mark.parametrize(("divergence", "least"), [(Mult(), {"left": "2", "right": "6"}), (DNor(), {"left": "4", "right": "12"})])
def test_a_budget_for_each_universe_grows_with_the_distance(divergence: Any, least: dict[str, str]) -> None:
    """A replaced record is two steps of the symmetric difference: the loss doubles in each universe, and rho grows fourfold."""
    premise = by_universe(SymmetricDifference(unit="person"), divergence, left="1", right="3")
    assert derive(premise, by_universe(Hamming(unit="person"), divergence, **least)) is not None
    for label, value in least.items():
        smaller = {**least, label: str(number(value) * Fraction(99, 100))}
        assert derive(premise, by_universe(Hamming(unit="person"), divergence, **smaller)) is None, label
    assert derive(premise, by_universe(Hamming(unit="person"), divergence, left="1", right="3")) is None
    given = derive(premise, by_universe(Hamming(unit="person"), divergence, **least))
    assert given is not None
    data = given.data(REGISTRY)
    assert check_derivation(data).accepted
    for label, value in least.items():  # and no derivation in which one of the rows grows less is accepted
        made = json.loads(json.dumps(data))
        smaller_row = f'"{number(value) * Fraction(99, 100)}"'
        for step in made["steps"]:
            if f'label = "{label}"' in step["after"] and "hamming" in step["after"]:
                step["after"] = row_changed(step["after"], label, smaller_row)
        made["conclusion"] = row_changed(made["conclusion"], label, smaller_row)
        for one, other in zip(made["steps"], made["steps"][1:], strict=False):
            other["before"] = one["after"]
        assert not check_derivation(made).accepted, label


def row_changed(text: str, label: str, value: str) -> str:
    """A specification text in which the budget of one universe is another number."""
    lines = text.split("\n")
    place = next(i for i, line in enumerate(lines) if line == f'label = "{label}"')
    at = next(i for i in (place + 1, place - 1) if lines[i].partition(" = ")[0] in ("epsilon", "rho"))
    lines[at] = f"{lines[at].partition(' = ')[0]} = {value}"
    return "\n".join(lines)


def test_a_table_that_lacks_a_universe_follows_from_nothing() -> None:
    premise = by_universe(Hamming(unit="person"), Mult(), left="1", right="1")
    lacking = premise.replace(budget=BudgetTable(parameter="epsilon", values=(("left", number(1)),)))
    assert derive(lacking, by_universe(Hamming(unit="person"), Mult(), left="5", right="5")) is None
    text = {"space": {}, "output_divergence": {"type": "mult"}}
    rows = {"type": "by-part", "values": [{"value": "1"}], "otherwise": "7"}
    least, most = least_and_most({**text, "budget": rows})
    assert (str(least), str(most)) == ("about 1", "about 7")


@attrs.frozen(kw_only=True)
class _Unlisted(UniformBudget):
    """A budget that is neither one number nor a table of numbers."""

    name: ClassVar[str] = "unlisted"

    def uniform(self) -> Any:
        return None

    def by_label(self) -> Any:
        return None


def test_a_budget_of_another_kind_is_never_taken_to_have_grown() -> None:
    budget = _Unlisted(parameter="epsilon", value=number(1))
    assert rescaled(budget, Mult(), Mult(), number(2)) is None
    assert rescaled(budget, Mult(), Mult(), number("1/2")) == budget
    assert rescaled(budget, Mult(), Renyi(order=2), number("1/2")) is None


@attrs.frozen
class Known(Mechanism):
    """A mechanism by its law of each dataset."""

    name: ClassVar[str] = "known"
    probability: Any

    def law(self, dataset: Any, space: Any) -> FiniteLaw:
        return FiniteLaw.bernoulli(self.probability(dataset))


@pytest.mark.parametrize("turned", [False, True])
def test_the_smallest_budget_of_the_universes_that_share_a_pair_counts(turned: bool) -> None:
    """Two universes hold the same two datasets; the larger budget allows what the smaller one does not, in any order."""
    values = (("wide", number(3)), ("narrow", number("1/10")))
    universes = {"wide": [BOTH, MIXED, NEITHER], "narrow": [BOTH, MIXED]}
    names = ["narrow", "wide"] if turned else ["wide", "narrow"]
    spec = by_universe(Hamming(unit="person"), Mult(), left="1", right="1").replace(
        multiverse=ExplicitUniverses(universes_by_label={name: universes[name] for name in names}),
        budget=BudgetTable(parameter="epsilon", values=values[:: -1 if turned else 1]),
    )
    found = verify(Known(lambda x: Fraction(1, 2) if x == PAIRS.dataset(BOTH) else Fraction(1, 4)), spec)
    assert found.outcome is Outcome.REFUTED
    assert found.witness is not None
    assert found.witness.universe == "narrow"


# --- partial searches ---------------------------------------------------------------------------------


def bits(length: int) -> PrivacySpec:
    return specification(BitVectors(length=length), HammingOrdered(unit="person"), Mult(), "2")


LETTER = Attribute(name="letter", categories=("a", "b"))
PERSONS = specification(UnorderedRecords(attributes=(LETTER,), most=4), SymmetricDifference(unit="person"), Mult(), "2")
LETTERS = specification(OrderedRecords(attributes=(LETTER,), least=4, most=4), HammingOrdered(unit="person"), Mult(), "2")
FOUR_BITS = bits(4)
SEARCHED: list[tuple[AttackerModel, PrivacySpec]] = [
    (FrequentistTester(), FOUR_BITS), (StrongestAttacker(), FOUR_BITS), (BlockKnowledge(priors=["1/2"]), FOUR_BITS),
    (Uniqueness(priors=["1/2"], levels=[1, 2]), FOUR_BITS), (AttributeRestricted(attributes=("letter",)), LETTERS),
    (StrongMembership(priors=["1/2"]), PERSONS), (IndependentRecord(), PERSONS),
]  # fmt: skip
"""The attackers whose own number of a mechanism comes from a search of pairs of datasets."""


def forget_datasets() -> None:
    """Attackers share the datasets of a specification; what is tried of it has changed."""
    for kept in (candidates.measured_datasets, candidates._pairs_within):
        kept.cache_clear()  # type: ignore[attr-defined]


def own_statements(attacker: AttackerModel, spec: PrivacySpec) -> dict[tuple[str, Any], Any]:
    """What an attacker learns of a mechanism that reveals most at the largest datasets, which a search meets last."""
    largest = max(spec.space.datasets(), key=lambda x: (spec.space.magnitude(x), x))
    mechanism = Known(lambda x: Fraction(7, 8) if x == largest else Fraction(1, 2))
    report = risk(spec, attacker, mechanism)
    return {(row.quantity, tuple(row.at)): said for row in report.rows for said in row.own}


@pytest.mark.parametrize(("attacker", "spec"), SEARCHED, ids=lambda one: getattr(one, "name", ""))
def test_a_search_of_some_datasets_is_never_reported_as_exact(
    attacker: AttackerModel, spec: PrivacySpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a search of the smallest datasets says agrees with the search of all: equal only where it is."""
    exact = own_statements(attacker, spec)
    monkeypatch.setattr(candidates, "MOST_LISTED", 8)
    few = tuple(itertools.islice(spec.space.datasets(), 6))
    monkeypatch.setattr(candidates, "trial_groups", lambda _: (few,))
    forget_datasets()
    try:
        partial = own_statements(attacker, spec)
    finally:
        forget_datasets()
    assert partial
    for place, said in partial.items():
        whole = exact.get(place)
        if whole is None:  # the partial search also states which candidates it is about
            whole = next(value for key, value in exact.items() if key[0] == place[0] and set(key[1]) <= set(place[1]))
        if said.relation is Sense.EQUALS:
            assert said.value.lower <= whole.value.upper, place
            assert whole.value.lower <= said.value.upper, place
        elif said.relation is Sense.AT_LEAST:
            assert said.value.lower <= whole.value.upper, place
        else:
            assert said.value.upper >= whole.value.lower, place
    assert {said.relation for said in partial.values()} != {Sense.EQUALS}


@pytest.mark.parametrize("attacker", [FrequentistTester, StrongestAttacker, BlockKnowledge, Uniqueness])
def test_named_datasets_give_bounds_from_below(attacker: Any) -> None:
    settings = {} if attacker in (FrequentistTester, StrongestAttacker) else {"priors": ["1/2"]}
    exact = own_statements(attacker(**settings), FOUR_BITS)
    partial = own_statements(attacker(datasets=((0, 0, 0, 0), (0, 0, 0, 1)), **settings), FOUR_BITS)
    assert partial.keys() == exact.keys()
    assert Sense.EQUALS not in {said.relation for said in partial.values()}
    below = [said.value.upper < exact[place].value.lower for place, said in partial.items() if said.relation is Sense.AT_LEAST]
    assert any(below)


def test_candidates_of_no_common_universe_are_reported() -> None:
    """Two universes by list: of datasets in different ones nothing is promised, although no invariant distinguishes them."""
    universes = ExplicitUniverses(universes_by_label={"one": [[0, 0], [0, 1]], "two": [[1, 0], [1, 1]]})
    spec = specification(BitVectors(length=2), HammingOrdered(unit="person"), Mult(), "1", universes)
    found = candidates.candidates_within(spec, 1)
    assert (found.unpromised, found.is_listed, found.is_plain) == (True, True, False)
    report = risk(spec, FrequentistTester(), RandomisedResponse(keep_probability="3/4"))
    assert any(dict(row.at).get("candidates") == candidates.UNPROMISED for row in report.rows)


# --- shortened proofs ---------------------------------------------------------------------------------


def counted(divergence: Any, distance: Any, value: str) -> Verdict | Missing:
    """The proof of one noisy table, on unlimited records."""
    spec = specification(UnorderedRecords(attributes=(SEX,)), distance, divergence, value)
    return judge(Laplace(queries=(Marginal(attributes=("sex",)),), epsilon="1"), spec)


ADDED = SymmetricDifference(unit="person")


def test_bounds_of_single_changes_add_up_for_metrics_only() -> None:
    """Under pure privacy the proof has the step; approximate and Renyi divergences are no metrics, so there is no proof."""
    found = counted(Mult(), ADDED, "1")
    assert isinstance(found, Verdict)
    assert [step.step for step in found.proof] == ["sensitivity", "noise", "path"]
    for divergence in (MultDelta(delta="1/100"), Renyi(order=2)):
        missing = counted(divergence, ADDED, "1")
        assert isinstance(missing, Missing), divergence
        assert missing.step == "path"
        single = counted(divergence, Neighbour(relation=AddRemove(unit="person")), "1")
        assert isinstance(single, Verdict)
        assert [step.step for step in single.proof] == ["sensitivity", "noise"]


# --- samples ------------------------------------------------------------------------------------------


def sampled(distance: Any, divergence: Any, value: str) -> Verdict | Missing:
    space = UnorderedRecords(attributes=(SEX,))
    inner = Laplace(queries=(Marginal(attributes=("sex",)),), epsilon="ln(9)")
    return judge(Subsampled(mechanism=inner, rate="1/4"), specification(space, distance, divergence, value))


def test_a_sampled_record_loses_less_by_the_rate_alone() -> None:
    """ln(1 + (9 - 1)/4) = ln 3 is proved and attained; a smaller budget is refuted."""
    added = Neighbour(relation=AddRemove(unit="person"))
    found = sampled(added, Mult(), "ln(3)")
    assert isinstance(found, Verdict)
    assert (found.outcome, str(found.constant)) == (Outcome.VERIFIED, "ln(3)")
    assert "sample" in [step.step for step in found.proof]
    below = sampled(added, Mult(), "1")
    assert isinstance(below, Verdict)
    assert below.outcome is Outcome.REFUTED
    replaced = sampled(Hamming(unit="person"), Mult(), "ln(27/7)")  # removed: 3, added: 1/(3/4 + 1/36) = 9/7
    assert isinstance(replaced, Verdict)
    assert (replaced.outcome, str(replaced.constant)) == (Outcome.VERIFIED, "ln(9/7) + ln(3)")
    below = sampled(Hamming(unit="person"), Mult(), "ln(26/7)")
    assert isinstance(below, Verdict)
    assert below.outcome is Outcome.REFUTED


def test_a_pair_of_samples_beside_others_who_are_counted_shows_nothing() -> None:
    """The others are drawn too, so the answers of a pair are those of a mixture: only a record that comes alone is compared."""
    space = UnorderedRecords(attributes=(SEX,))
    inner = Laplace(queries=(Marginal(attributes=("sex",)),), epsilon="ln(9)")
    spec = specification(space, Neighbour(relation=AddRemove(unit="person")), Mult(), "1")
    structure = Subsampled(mechanism=inner, rate="1/4").structure(space)
    assert structure is not None
    seen = Attaining(sensitivity=Sensitivity(structure=structure, spec=spec))
    nobody, one, two = (space.dataset([["f"]] * size) for size in range(3))
    alone = seen.judged(nobody, one, 64)
    assert alone is not None
    assert str(alone.ratio) == "ln(3)"
    assert seen.judged(one, two, 64) is None


def test_a_proof_of_a_sample_is_none_for_replaced_records() -> None:
    """A proof for added records, with the claim and the prices of replaced ones: no change that is sampled is left."""
    path = Path(__file__).parents[2] / "specs" / "mechanisms" / "sampled-tenth.dpspec.toml"
    obligation = json.loads(json.dumps(file_report(str(path), verify_document(read(path)))))["obligations"][0]
    assert all(step.status == "rechecked" for step in check_proof(obligation))
    obligation["claim"] = obligation["claim"].replace('"symmetric-difference"', '"hamming"')
    steps = {step["step"]: step["data"] for step in obligation["verdict"]["proof"]}
    steps["sensitivity"] |= {"replaced": 1, "added": None, "changes": []}
    steps["noise"] |= {"bounds": [], "largest": "0"}
    statuses = {step.rule: step.status for step in check_proof(obligation)}
    assert statuses["sample"] == "wrong"


# --- sums ---------------------------------------------------------------------------------------------


def test_deltas_add_up_beside_the_epsilons() -> None:
    near = Neighbour(relation=AddRemove(unit="person"))
    space = UnorderedRecords(attributes=(SEX,))
    parts = [Part(id=delta, spec=specification(space, near, MultDelta(delta=delta), "1")) for delta in ("1/10", "1/5")]
    total = compose(parts)
    assert str(total.spec.budget.uniform()) == "2"
    assert total.spec.output_divergence == MultDelta(delta="3/10")


def test_a_budget_in_another_number_is_read_before_it_is_added() -> None:
    """Concentrated budgets add as rho, however they are written; of 1/2 and 3/2 the sum is 2."""
    space = UnorderedRecords(attributes=(SEX,))
    parts = [Part(id=value, spec=specification(space, ADDED, DNor(), value)) for value in ("1/2", "3/2")]
    assert str(compose(parts).spec.budget.uniform()) == "2"


def test_universes_of_parts_are_united() -> None:
    space = UnorderedRecords(attributes=(SEX, Attribute(name="age", count=3)))
    multiverses = [LevelSets(invariants=(Marginal(attributes=(name,)),)) for name in ("sex", "age")]
    distance = Hamming(unit="person")
    parts = [Part(id=str(i), spec=specification(space, distance, Mult(), "1", one)) for i, one in enumerate(multiverses)]
    assert compose(parts).spec.multiverse.induced_by() == (Marginal(attributes=("sex",)), Marginal(attributes=("age",)))
