"""The exhaustive engine: what it must find, what it must not be fooled by."""

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any, ClassVar

import attrs
import pytest
from dpspec_divergences import UserMetric, UserRelation

import dpspec
from dpspec.base.errors import (
    BudgetParameterError,
    IncompatibleBlocksError,
    NotInSpaceError,
    NotInUniverseError,
    ParameterError,
    PluginContractError,
)
from dpspec.base.exact import INFINITY, Bracket, ln, number, sqrt
from dpspec.blocks.budget import BudgetTable, UniformBudget
from dpspec.blocks.invariant import FunctionInvariant, LinearMap, Marginal
from dpspec.blocks.multiverse import ExplicitUniverses, LevelSets, Trivial
from dpspec.blocks.output_divergence import OutputDivergence
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.grammar.mechanism import ReleaseInvariants
from dpspec.laws.dichotomy import Dichotomy
from dpspec.laws.integers import DiscreteGaussianLaw, TwoSidedGeometricLaw
from dpspec.laws.law import FiniteLaw
from dpspec.testing.strategies import find_witness
from dpspec.verifier.exhaustive import verify
from dpspec.verifier.verdict import ClaimRefutedError, ClaimUndecidedError, Outcome
from tests.verify.toys import Toy, bits_spec, block, response

STEP = UserRelation(function=lambda x, y: sum(abs(a - b) for a, b in zip(x, y, strict=True)) == 1, label="one step")
PARITY = LevelSets(invariants=(FunctionInvariant(function=lambda x: sum(x) % 2, label="parity"),))
TOTAL = LevelSets(invariants=(LinearMap(rows=((1, 1, 1),), label="sum"),))


@pytest.mark.reference("B-T1", "B-T2", "B-D3", "B-D4")
@pytest.mark.parametrize("p", ["3/5", "3/4", "9/10", "1/10"])
def test_randomised_response_is_tight_at_its_logit(p: str) -> None:
    odds = Fraction(p) / (1 - Fraction(p))
    budget = ln(max(odds, 1 / odds))
    verdict = verify(response(p), bits_spec(epsilon=budget))
    assert verdict.outcome is Outcome.VERIFIED
    assert verdict.constant.lower == verdict.constant.upper == budget
    assert verdict.universes[0].is_tight
    assert verdict.universes[0].pairs == 28
    just_below = verify(response(p), bits_spec(epsilon=budget - Fraction(1, 10**30)))
    assert just_below.outcome is Outcome.REFUTED


def test_the_witness_is_the_smallest_in_the_documented_order_with_exact_probabilities() -> None:
    witness = verify(response("4/5"), bits_spec()).witness
    assert witness is not None
    assert (witness.left, witness.right, witness.distance) == ((0, 0, 0), (0, 0, 1), 1)
    assert witness.event is not None
    assert {str(witness.event.left), str(witness.event.right)} == {"64/125", "16/125"}
    with pytest.raises(ClaimRefutedError):
        verify(response("4/5"), bits_spec()).require()


@pytest.mark.reference("B-O49", "B-T10", "B-D8")
def test_releasing_the_sum_is_free_in_its_own_universes_and_hopeless_outside() -> None:
    release = ReleaseInvariants(invariants=TOTAL.invariants)
    inside = verify(release, bits_spec(epsilon=0, multiverse=TOTAL))
    assert inside.outcome is Outcome.VERIFIED
    assert inside.constant.upper == 0
    assert [u.pairs for u in inside.universes] == [0, 3, 3, 0]
    assert [u.datasets for u in inside.universes] == [1, 3, 3, 1]
    for multiverse in (PARITY, Trivial()):
        outside = verify(release, bits_spec(epsilon=1000, multiverse=multiverse))
        assert outside.outcome is Outcome.REFUTED
        assert outside.constant.lower.is_infinite


@pytest.mark.reference("B-O50", "B-S1", "B-S2")
def test_inside_parity_the_distance_is_that_of_the_whole_space() -> None:
    by_hamming = verify(response("3/4"), bits_spec(multiverse=PARITY))
    assert by_hamming.constant.lower == by_hamming.constant.upper == ln(3)
    left, right = by_hamming.universes[0].attained or ((), ())
    assert sum(a != b for a, b in zip(left, right, strict=True)) == 2  # type: ignore[call-overload]
    neighbours = ("neighbour", {"relation": block("relations", "differ-in-one-position")})
    vacuous = verify(response("3/4"), bits_spec(epsilon=0, multiverse=PARITY, d_x=neighbours))
    assert vacuous.outcome is Outcome.VERIFIED
    assert vacuous.constant.upper == 0
    assert len(vacuous.vacuous) == 2


@pytest.mark.reference("B-S3", "B-S4", "B-O39")
def test_all_pairs_are_compared_because_the_constant_can_be_attained_far_apart() -> None:
    spec = bits_spec(length=2, epsilon="ln(2.96)", d_pr=("mult-delta", {"delta": "0.01"}))
    verdict = verify(response("3/4"), spec)
    assert verdict.constant.lower == verdict.constant.upper == ln(Fraction(221, 25)) / 2
    assert verdict.constant.lower > ln(Fraction(74, 25))
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.witness is not None
    assert verdict.witness.distance == 2


@pytest.mark.reference("B-S5")
def test_distance_zero_with_different_laws_defeats_every_budget() -> None:
    space = BitVectors(length=2)
    first = Toy(lambda x: FiniteLaw.point(x[0]))
    unordered = bits_spec(length=2, epsilon=INFINITY, d_x=("hamming", {}))
    verdict = verify(first, unordered)
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.witness is not None
    assert verdict.witness.distance == 0
    assert verify(Toy(lambda x: FiniteLaw.point(sum(x))), unordered).outcome is Outcome.VERIFIED
    assert space.cardinality() == 4


@pytest.mark.reference("B-S5")
def test_infinite_distance_asks_nothing_and_zero_budget_means_equal_laws() -> None:
    sizes = UnorderedRecords(attributes=(Attribute(name="a", categories=("x",)),), most=3)
    spec = bits_spec().replace(space=sizes, input_divergence=block("input_divergences", "hamming"))
    count = Toy(lambda x: FiniteLaw.point(len(x)))
    found = verify(count, spec.replace(budget=UniformBudget(parameter="epsilon", value=0)))
    assert found.outcome is Outcome.VERIFIED
    assert found.universes[0].is_vacuous
    adding = spec.replace(input_divergence=block("input_divergences", "symmetric-difference"))
    assert verify(count, adding).constant.lower.is_infinite


@pytest.mark.reference("B-S5", "B-O37")
def test_one_sided_zeros_are_infinite_and_common_ones_are_skipped() -> None:
    laws = {0: FiniteLaw.of({"a": "1/2", "b": "1/2"}), 1: FiniteLaw.of({"a": "1/4", "b": "3/4"})}
    spec = bits_spec(length=1)
    assert verify(Toy(lambda x: laws[x[0]]), spec).constant.lower == ln(2)
    laws[1] = FiniteLaw.of({"a": "1/4", "b": "1/2", "c": "1/4"})
    found = verify(Toy(lambda x: laws[x[0]]), spec)
    assert found.constant.lower.is_infinite
    assert found.witness is not None
    assert found.witness.event is not None
    assert found.witness.event.text == "the outcome c"


@pytest.mark.reference("B-S12")
def test_under_total_variation_even_releasing_everything_has_a_finite_constant() -> None:
    spec = bits_spec(epsilon=1, d_pr=("total-variation", {}), parameter="distance")
    verdict = verify(Toy(FiniteLaw.point), spec)
    assert verdict.outcome is Outcome.VERIFIED
    assert verdict.constant.lower == 1


@pytest.mark.reference("B-S13")
def test_budgets_are_per_universe() -> None:
    by_sum = {(((s,),)): value for s, value in [(0, 0), (1, ln(3)), (2, ln(2)), (3, 0)]}
    labels = {u.label: u for u in TOTAL.universes(BitVectors(length=3))}
    budget = BudgetTable(parameter="epsilon", values=tuple((label, number(by_sum[label])) for label in labels))
    verdict = verify(response("3/4"), bits_spec(multiverse=TOTAL).replace(budget=budget))
    assert [u.outcome for u in verdict.universes] == [Outcome.VERIFIED, Outcome.VERIFIED, Outcome.REFUTED, Outcome.VERIFIED]
    assert [str(u.bound) for u in verdict.universes] == ["0", "ln(3)", "ln(2)", "0"]
    assert verdict.outcome is Outcome.REFUTED


@pytest.mark.reference("B-D6", "B-S13")
def test_overlapping_universes_that_do_not_cover_are_each_judged() -> None:
    chosen = ExplicitUniverses(universes_by_label={"left": [[0, 0, 0], [0, 0, 1]], "right": [[0, 0, 1], [1, 1, 1]]})
    verdict = verify(response("3/4"), bits_spec(multiverse=chosen))
    assert [(u.label, u.pairs, str(u.constant)) for u in verdict.universes] == [("left", 1, "ln(3)"), ("right", 1, "ln(3)")]


@pytest.mark.reference("B-S21")
def test_independent_strata_give_the_largest_constant_not_the_sum() -> None:
    def law(bits: tuple[int, ...]) -> FiniteLaw:
        keep = [Fraction(3, 4), Fraction(2, 3)]
        outcomes = itertools.product((0, 1), repeat=2)
        return FiniteLaw.of(
            {t: (keep[0] if t[0] == bits[0] else 1 - keep[0]) * (keep[1] if t[1] == bits[1] else 1 - keep[1]) for t in outcomes}
        )

    assert verify(Toy(law), bits_spec(length=2)).constant.lower == ln(3)


@pytest.mark.reference("B-O51", "B-S16")
def test_a_geometric_count_under_add_or_remove_and_a_histogram_under_replacement() -> None:
    kinds = (Attribute(name="kind", categories=("a", "b")),)
    space = UnorderedRecords(attributes=kinds, most=3)
    spec = bits_spec().replace(space=space, input_divergence=block("input_divergences", "symmetric-difference"))
    count = Toy(lambda x: TwoSidedGeometricLaw.with_ratio(len(x), "1/2"))
    assert verify(count, spec).constant.lower == ln(2)
    noise = block("mechanisms", "geometric", queries=(Marginal(attributes=("kind",)),), sensitivity=2, epsilon="2*ln(2)")
    replaced = spec.replace(
        space=UnorderedRecords(attributes=kinds, least=3, most=3), input_divergence=block("input_divergences", "hamming")
    )
    found = verify(noise, replaced.replace(budget=UniformBudget(parameter="epsilon", value="2*ln(2)")))
    assert found.outcome is Outcome.VERIFIED
    assert found.constant.lower == ln(2) * 2


@pytest.mark.reference("B-O35", "B-S14", "B-D18", "B-X1")
@pytest.mark.parametrize(("shift", "variance", "expected"), [(1, 1, "1/2"), (2, 1, "2"), (1, "1/2", "1"), (3, 4, "9/8")])
def test_a_shifted_discrete_gaussian_has_d_nor_shift_over_sigma_root_two(shift: int, variance: Any, expected: str) -> None:
    noisy = Toy(lambda x: DiscreteGaussianLaw(shift * x[0], Fraction(variance)))
    spec = bits_spec(length=1, epsilon=expected, d_pr=("d-nor", {}), parameter="rho")
    verdict = verify(noisy, spec)
    assert verdict.outcome is Outcome.VERIFIED
    assert verdict.constant.lower == verdict.constant.upper == sqrt(expected)
    assert verdict.universes[0].is_tight


@pytest.mark.reference("B-O36", "B-S14")
def test_d_nor_of_randomised_response_is_attained_in_the_limit_of_order_one() -> None:
    spec = bits_spec(length=1, epsilon="1/2*ln(3)", d_pr=("d-nor", {}), parameter="rho")
    verdict = verify(response("3/4"), spec)
    assert verdict.outcome is Outcome.VERIFIED
    assert verdict.constant.lower == sqrt(ln(3) / 2)
    assert verdict.constant.lower < ln(3) / 1 * Fraction(7072, 10000)


@pytest.mark.reference("B-S20")
def test_an_unlistable_space_is_undecided_not_verified() -> None:
    spec = bits_spec().replace(space=IntegerCounts(), input_divergence=block("input_divergences", "path", relation=STEP))
    for space in (IntegerCounts(), BitVectors(length=40)):
        verdict = verify(Toy(lambda x: FiniteLaw.point(0)), bits_spec(length=2).replace(space=space) if space.units else spec)
        assert verdict.outcome is Outcome.UNDECIDED
        assert "above the" in verdict.reason
        with pytest.raises(ClaimUndecidedError):
            verdict.require()


def test_a_verdict_is_no_truth_value() -> None:
    verdict = verify(response("3/4"), bits_spec())
    for thing in (verdict, verdict.outcome):
        with pytest.raises(TypeError, match="truth value"):
            bool(thing)


@pytest.mark.parametrize(
    ("law", "says"),
    [
        (lambda x: 1 / 0, "raised ZeroDivisionError"),
        (lambda x: "not a law", "must return a Law"),
        (lambda x: FiniteLaw.of({0: 0.999}), "no probability distribution"),
        (lambda x: FiniteLaw({0: 999}, 1000), "no probability distribution"),
        (lambda x: FiniteLaw.of({0: "3/2", 1: "-1/2"}), "no probability distribution"),
    ],
)
def test_a_broken_mechanism_is_an_error_of_its_own(law: Any, says: str) -> None:
    with pytest.raises(PluginContractError, match=f"toy.*{says}"):
        verify(Toy(law), bits_spec())


def test_a_pair_is_promised_its_budget_times_its_distance_and_only_inside_one_universe() -> None:
    spec = bits_spec(multiverse=PARITY)
    assert spec.allowance((0, 0, 0), (0, 1, 1)) == ln(9)
    assert spec.allowance((0, 0, 0), (0, 0, 0)) == 0
    with pytest.raises(NotInUniverseError, match="no common universe"):
        spec.allowance((0, 0, 0), (0, 0, 1))
    with pytest.raises(NotInSpaceError):
        spec.allowance((0, 0, 0), (0, 0, 7))


def test_datasets_outside_the_space_are_refused() -> None:
    with pytest.raises(NotInSpaceError):
        verify(response("3/4"), bits_spec(), datasets=[(0, 0, 2)])


LEAK = Toy(FiniteLaw.point)


@pytest.mark.parametrize(
    ("datasets", "spec"),
    [
        ([], bits_spec()),
        ([(0, 0, 1)], bits_spec()),
        ([(0, 0, 1), (0, 0, 1)], bits_spec()),
        ([(0, 0, 0), (0, 0, 1)], bits_spec(multiverse=PARITY)),
        ([(0, 0, 0), (0, 0, 1)], bits_spec(multiverse=TOTAL, epsilon="inf")),
        ([(0, 0, 0), (0, 1, 1)], bits_spec(d_x=("neighbour", {"relation": STEP}))),
    ],
    ids=["none", "one", "one twice", "two universes", "any number", "infinitely far"],
)
@pytest.mark.parametrize("subject", [LEAK, response("3/4"), lambda bits, rng: bits], ids=["leak", "response", "function"])
def test_given_datasets_without_a_pair_verify_nothing(datasets: Any, spec: Any, subject: Any) -> None:
    found = dpspec.verify(subject, spec, datasets=datasets)
    assert found.outcome is Outcome.UNDECIDED
    assert "nothing to compare" in found.reason


@pytest.mark.parametrize("given", [{"datasets": [(0, 0, 0), (0, 0, 1)]}, {"eror": "1/100"}], ids=["datasets", "misspelt"])
def test_a_file_takes_no_arguments_about_one_mechanism(given: Any) -> None:
    """They were ignored, so that all datasets were compared where two were named."""
    with pytest.raises(ParameterError, match=r"write verify\(mechanism, specification"):
        dpspec.verify("specs/randomised-response.dpspec.toml", **given)


@pytest.mark.reference("B-X1")
def test_rho_where_epsilon_is_needed_is_refused() -> None:
    with pytest.raises(BudgetParameterError, match="takes epsilon"):
        bits_spec(parameter="rho")
    with pytest.raises(BudgetParameterError, match="takes rho"):
        bits_spec(d_pr=("d-nor", {}))


def test_blocks_that_do_not_fit_are_refused_with_all_their_faults() -> None:
    with pytest.raises(IncompatibleBlocksError):
        bits_spec(d_x=("hamming", {"unit": "household"}))
    with pytest.raises(IncompatibleBlocksError, match="space"):
        bits_spec().replace(space="bits")


@pytest.mark.slow
def test_the_hypothesis_search_shrinks_to_the_same_smallest_pair() -> None:
    found = find_witness(response("4/5"), bits_spec())
    assert found == verify(response("4/5"), bits_spec()).witness
    assert find_witness(response("3/4"), bits_spec()) is None


def test_the_hypothesis_search_works_where_the_space_cannot_be_listed() -> None:
    many = UnorderedRecords(attributes=(Attribute(name="block", count=10**6), Attribute(name="sex", categories=("f", "m"))))
    spec = bits_spec().replace(space=many, input_divergence=block("input_divergences", "symmetric-difference"))
    counts = Toy(lambda x: FiniteLaw.point(Counter(r[1] for r in x)["f"] >= 2))
    assert verify(counts, spec).outcome is Outcome.UNDECIDED
    found = find_witness(counts, spec)
    assert found is not None
    assert (found.left, found.right) == ((), (("0", "f"), ("0", "f")))


def test_irrational_distances_are_decided_exactly_at_equality() -> None:
    """An enclosure of the quotient of divergence and distance would never decide."""
    logarithmic = UserMetric(function=lambda x, y: ln(2) * sum(a != b for a, b in zip(x, y, strict=True)), label="ln 2 a bit")
    spec = bits_spec(epsilon=1).replace(input_divergence=logarithmic)
    verdict = verify(response("2/3"), spec)
    assert verdict.outcome is Outcome.VERIFIED
    assert verdict.universes[0].is_tight
    assert verify(response("7/10"), spec).outcome is Outcome.REFUTED

    diagonal = UserMetric(
        function=lambda x, y: sqrt(2) * sum(a != b for a, b in zip(x, y, strict=True)), label="a diagonal a bit"
    )
    noisy = Toy(lambda x: DiscreteGaussianLaw(sum(x), 1))
    for rho, outcome in (("1/4", Outcome.VERIFIED), ("1/5", Outcome.REFUTED)):
        concentrated = bits_spec(epsilon=rho, parameter="rho", d_pr=("d-nor", {})).replace(input_divergence=diagonal)
        found = verify(noisy, concentrated)
        assert found.outcome is outcome
        assert found.constant.lower == found.constant.upper == number("1/2")


# --- brackets and orders -------------------------------------------------------------------------


@attrs.frozen
class Narrowing(OutputDivergence):
    """A toy whose value for two different laws is known between two numbers only, and exactly above some precision."""

    name: ClassVar[str] = "narrowing"

    value: Fraction
    exact_above: float

    def evaluate(self, pair: Dichotomy, *, precision: int = 64) -> Bracket:
        if pair.total_variation().upper == 0:
            return Bracket.exactly(0)
        if precision > self.exact_above:
            return Bracket.exactly(self.value)
        return Bracket(lower=number(self.value - Fraction(1, 4)), upper=number(self.value + Fraction(1, 4)))


@pytest.mark.parametrize(
    ("value", "exact_above", "outcome"),
    [
        ("9/8", 64, Outcome.REFUTED),
        ("7/8", 64, Outcome.VERIFIED),
        ("9/8", 10**9, Outcome.UNDECIDED),
        ("7/8", 10**9, Outcome.UNDECIDED),
        ("3/4", 10**9, Outcome.VERIFIED),
        ("3/2", 10**9, Outcome.REFUTED),
    ],
)
def test_a_bracket_around_the_bound_is_refined_and_settles_nothing_before(value: str, exact_above: int, outcome: Outcome) -> None:
    """The bound is 1: only a bracket that lies on one side of it decides."""
    spec = bits_spec(length=1, epsilon=1).replace(output_divergence=Narrowing(Fraction(value), exact_above))
    assert verify(response("3/4"), spec).outcome is outcome


@attrs.frozen
class OneWay(OutputDivergence):
    """The largest log-ratio of P to Q, not of Q to P."""

    name: ClassVar[str] = "one-way"
    is_symmetric: ClassVar[bool] = False

    def evaluate(self, pair: Dichotomy, *, precision: int = 64) -> Bracket:
        return pair.max_log_ratio(precision=precision)


@pytest.mark.parametrize("far", [0, 1])
def test_a_divergence_that_is_not_symmetric_is_asked_in_both_orders(far: int) -> None:
    """Of 1/2 and 1/8 for heads the one ratio is 4 and the other 7/4; whichever dataset comes first, ln 4 is found."""
    laws = {(far,): FiniteLaw.bernoulli("1/2"), (1 - far,): FiniteLaw.bernoulli("1/8")}
    spec = bits_spec(length=1, epsilon="ln(2)").replace(output_divergence=OneWay())
    verdict = verify(Toy(laws.__getitem__), spec)
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.witness is not None
    assert (verdict.witness.left, verdict.witness.right) == ((far,), (1 - far,))
    assert verdict.constant.upper == ln(4)
