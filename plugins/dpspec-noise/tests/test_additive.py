"""Additive noise: the claims over all pairs of small spaces, printed values, and releases on tables."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction as F

import numpy as np
import pytest
from dpspec_divergences import DNor, Hamming, HammingOrdered, Mult, MultDelta, Neighbour, SymmetricDifference
from dpspec_divergences.routes import LaplaceUnionBound
from dpspec_noise import DiscreteGaussian, Gaussian, Geometric, Laplace, WeightedSums

import dpspec as dp
from dpspec.base.errors import IncompatibleBlocksError, ParameterError, ReleaseError, TableError
from dpspec.base.exact import ln, number, sqrt
from dpspec.base.randomness import SeededRandomness
from dpspec.blocks.budget import UniformBudget
from dpspec.blocks.invariant import FunctionInvariant, LinearMap, Marginal
from dpspec.blocks.multiverse import LevelSets
from dpspec.blocks.records import UnorderedRecords
from dpspec.blocks.space import Attribute
from dpspec.blocks.vectors import BitVectors, IntegerCounts
from dpspec.extension import installed
from dpspec.grammar.spec import PrivacySpec
from dpspec.grammar.tables import Table
from dpspec.laws.combine import push_forward
from dpspec.laws.integers import TwoSidedGeometricLaw
from dpspec.plugin import laws
from dpspec.verifier.proof import derive

SEX = Attribute(name="sex", categories=("f", "m"))
PLACE = Attribute(name="place", categories=("a", "b", "c"))
RECORDS = UnorderedRecords(attributes=(SEX,), most=3)
BITS = BitVectors(length=3)
TOTAL, HISTOGRAM = Marginal(attributes=()), Marginal(attributes=("sex",))
SUM = LinearMap(rows=((1, 1, 1),), label="sum")


def brackets(mechanism, space, divergence, distance):
    """(d_Pr, d_X) of all pairs at finite distance."""
    for x, y in itertools.combinations(tuple(space.datasets()), 2):
        d = distance.distance(x, y, space)
        if not d.is_infinite:
            yield divergence.between(mechanism.law(x, space), mechanism.law(y, space)), d.as_fraction()


def constant(mechanism, space, divergence, distance):
    """(lower, upper) of sup d_Pr / d_X."""
    values = [value.scaled(1 / d) for value, d in brackets(mechanism, space, divergence, distance)]
    return max(v.lower for v in values), max(v.upper for v in values)


@pytest.mark.reference("B-O53")
@pytest.mark.reference("B-D29")
@pytest.mark.reference("B-S16")
def test_one_person_moved_between_cells_changes_a_histogram():
    change = [
        [abs(a - b) for a, b in zip(HISTOGRAM.answers(x, RECORDS), HISTOGRAM.answers(y, RECORDS), strict=True)]
        for x, y in itertools.combinations(tuple(RECORDS.datasets()), 2)
        if Hamming().distance(x, y, RECORDS) == 1
    ]
    assert {sum(each) for each in change} == {2}
    assert {sqrt(sum(c * c for c in each)) for each in change} == {sqrt(2)}


@pytest.mark.reference("B-O51")
def test_a_count_with_geometric_noise():
    mechanism = Geometric(queries=(TOTAL,), ratio="1/2")
    (claim,) = mechanism.claims(RECORDS)
    assert claim.spec.budget.value == ln(2)
    assert claim.spec.input_divergence == SymmetricDifference()
    assert constant(mechanism, RECORDS, Mult(), SymmetricDifference()) == (ln(2), ln(2))


@pytest.mark.reference("B-O51")
@pytest.mark.reference("B-S16")
@pytest.mark.parametrize(("neighbours", "distance", "sensitivity"), [
    ("replace-one", Hamming(), 2), ("add-remove", SymmetricDifference(), 1),
])  # fmt: skip
def test_a_histogram_with_geometric_noise(neighbours, distance, sensitivity):
    mechanism = Geometric(queries=(HISTOGRAM,), ratio="1/2", sensitivity=sensitivity, neighbours=neighbours)
    (claim,) = mechanism.claims(RECORDS)
    assert claim.spec.budget.value == ln(2) * sensitivity
    assert claim.spec.input_divergence == distance
    assert constant(mechanism, RECORDS, Mult(), distance) == (claim.spec.budget.value, claim.spec.budget.value)


def test_epsilon_and_ratio_say_the_same():
    by_epsilon = Geometric(queries=(TOTAL,), epsilon="3*ln(5/3)", sensitivity=3)
    assert by_epsilon.law((), RECORDS) == Geometric(queries=(TOTAL,), ratio="3/5", sensitivity=3).law((), RECORDS)
    assert by_epsilon.claims(RECORDS)[0].spec.budget.value == ln(F(5, 3)) * 3


@pytest.mark.reference("B-O52")
@pytest.mark.reference("B-T14")
@pytest.mark.reference("B-S15")
def test_clamping_a_noisy_count_keeps_its_constant():
    clamped = [TwoSidedGeometricLaw.with_ratio(count, "1/2").clamped(0, 3) for count in range(4)]
    values = {abs(i - j): Mult().between(clamped[i], clamped[j]) for i, j in itertools.combinations(range(4), 2)}
    assert all(value.is_exact and value.lower == ln(2) * distance for distance, value in values.items())


@pytest.mark.reference("B-O52")
@pytest.mark.reference("B-T14")
def test_clamping_as_post_processing_of_the_mechanism():
    mechanism = Geometric(queries=(TOTAL,), ratio="1/2")

    def clamp(count):
        return min(max(count, 0), 3)

    laws = {x: push_forward(mechanism.law(x, RECORDS), clamp) for x in RECORDS.datasets()}
    values = [
        Mult().between(laws[x], laws[y]).scaled(1 / SymmetricDifference().distance(x, y, RECORDS).as_fraction())
        for x, y in itertools.combinations(laws, 2)
    ]
    low, high = max(v.lower for v in values), max(v.upper for v in values)
    assert low <= ln(2) <= high
    assert float(high) - float(low) < 1e-6


@pytest.mark.reference("B-S4")
def test_the_constant_may_be_attained_away_from_the_nearest_pairs():
    """Three datasets at distances 2, 3, 3 with the answers 0, 4, 12: the constant belongs to the pair at distance 3."""
    space, mechanism = BitVectors(length=4), Geometric(queries=(LinearMap(rows=((6, 3, 3, 1),)),), ratio="1/2")
    universe = ((0, 0, 0, 0), (0, 0, 1, 1), (1, 1, 1, 0))
    ratios = {}
    for x, y in itertools.combinations(universe, 2):
        distance = HammingOrdered().distance(x, y, space).as_fraction()
        ratios[x, y] = Mult().between(mechanism.law(x, space), mechanism.law(y, space)).lower * (1 / distance)
    assert ratios == {
        (universe[0], universe[1]): ln(2) * 2,
        (universe[0], universe[2]): ln(2) * 4,
        (universe[1], universe[2]): ln(2) * F(8, 3),
    }


@pytest.mark.reference("B-S16")
@pytest.mark.parametrize("mechanism", [
    Laplace(queries=(HISTOGRAM,), epsilon="2/3", neighbours="replace-one"),
    Geometric(queries=(TOTAL, HISTOGRAM), epsilon="2/3"),
    DiscreteGaussian(queries=(HISTOGRAM,), variance="5/2", sensitivities=(1,), neighbours="replace-one"),
    Gaussian(queries=(HISTOGRAM,), variance="5/2", sensitivity=1, neighbours="replace-one"),
], ids=lambda m: m.name)  # fmt: skip
def test_too_small_a_sensitivity_is_refuted(mechanism):
    """Broken toys: the sensitivity of a histogram for replaced records, or of two queries at once, understated as 1."""
    (claim,) = mechanism.claims(RECORDS)
    assert outcome(claim, mechanism) is False


@pytest.mark.reference("B-T17", "B-A8", "Z-D12")
@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1, "1/2"), (3, "7/5"), ("1/2", "ln(3)")])
def test_laplace_noise_has_the_constant_of_its_scale(sensitivity, epsilon):
    mechanism = Laplace(queries=(SUM,), epsilon=epsilon, sensitivity=sensitivity, neighbours="differ-in-one-position")
    (claim,) = mechanism.claims(BITS)
    assert (claim.source, claim.spec.budget.value, claim.spec.output_divergence) == (
        "Dwork, McSherry, Nissim and Smith 2006",
        number(epsilon),
        Mult(),
    )
    per_count = number(epsilon) * (1 / F(sensitivity))
    assert constant(mechanism, BITS, Mult(), HammingOrdered()) == (per_count, per_count)


@pytest.mark.reference("B-T17")
def test_a_laplace_histogram_is_tight():
    mechanism = Laplace(queries=(HISTOGRAM,), epsilon="2/3", sensitivity=2, neighbours="replace-one")
    low, high = constant(mechanism, RECORDS, Mult(), Hamming())
    assert low <= number("2/3") <= high
    assert float(high) - float(low) < 1e-9


@pytest.mark.reference("B-O32")
@pytest.mark.reference("B-T18")
def test_laplace_accuracy():
    mechanism = Laplace(queries=(TOTAL,), epsilon="1/2")
    noise = mechanism.noise(0)
    beyond = float(2 * noise.cdf(-6))
    assert f"{beyond:.6f}" == "0.049787"
    assert abs(beyond - math.exp(-3)) < 1e-15
    # The second moment by the midpoint rule on [-80, 80]: 2 b^2 = 8 for b = 2.
    steps = np.arange(-80, 80, 0.01) + 0.005
    density = np.exp(-np.abs(steps) / 2) / 4
    assert abs(float(noise.density(3)) - math.exp(-1.5) / 4) < 1e-15
    assert abs((steps**2 * density).sum() * 0.01 - 8) < 1e-3
    spec = mechanism.claims(RECORDS)[0].spec
    assert f"{float(LaplaceUnionBound(count=5, delta='0.05').value(spec).lower):.6f}" == "9.210340"


def lecture(delta, calibration="lecture", **changed):
    given = {"queries": (SUM,), "epsilon": "0.5", "delta": delta, "neighbours": "differ-in-one-position"}
    return Gaussian(**{**given, "calibration": calibration, **changed})


def true_delta(mechanism, space=BITS):
    """The hockey stick at the claimed epsilon between two neighbours."""
    pair = mechanism.law((0, 0, 0), space).against(mechanism.law((0, 0, 1), space))
    return pair.hockey_stick(mechanism.epsilon)


def by_the_normal_law(sigma, epsilon):
    """delta(epsilon) of a unit shift, from the error function: Phi(1/2s - e s) - e^e Phi(-1/2s - e s)."""

    def phi(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    return phi(1 / (2 * sigma) - epsilon * sigma) - math.exp(epsilon) * phi(-1 / (2 * sigma) - epsilon * sigma)


@pytest.mark.reference("B-O33")
@pytest.mark.reference("B-X8")
@pytest.mark.parametrize(("delta", "printed"), [("1e-3", "3.2546e-04"), ("1e-6", "4.1640e-06"), ("1e-10", "2.0645e-08")])
def test_the_true_delta_of_the_lecture_variance(delta, printed):
    value = true_delta(lecture(delta))
    assert {f"{float(value.lower):.4e}", f"{float(value.upper):.4e}"} == {printed}
    sigma = math.sqrt(math.log(1 / float(delta))) / 0.5
    assert abs(float(value.lower) - by_the_normal_law(sigma, 0.5)) < 1e-14


@pytest.mark.reference("B-O34")
@pytest.mark.parametrize(("delta", "printed"), [("1e-3", "3.1913e-06"), ("1e-6", "1.2500e-09")])
def test_the_true_delta_of_the_standard_variance(delta, printed):
    value = true_delta(lecture(delta, "standard"))
    assert {f"{float(value.lower):.4e}", f"{float(value.upper):.4e}"} == {printed}


def outcome(claim, mechanism):
    """Whether the claim holds over all pairs: True, False, or None when a bracket stays too wide."""
    spec, space = claim.spec, claim.spec.space
    bound = spec.output_divergence.lipschitz(spec.budget.parameter, spec.budget.value)
    held = True
    for x, y in itertools.combinations(tuple(space.datasets()), 2):
        distance = spec.distance(x, y)
        if distance.is_infinite:
            continue
        value = spec.output_divergence.between(mechanism.law(x, space), mechanism.law(y, space), precision=128)
        if value.lower > bound * distance:
            return False
        held = held if value.upper <= bound * distance else None
    return held


@pytest.mark.reference("B-T19")
@pytest.mark.reference("B-X8")
@pytest.mark.reference("B-O33", "B-A9", "B-D20")
def test_the_lecture_claim_is_false_at_one_delta_and_holds_at_another():
    for delta, expected in (("1e-6", False), ("1e-3", True)):
        mechanism = lecture(delta)
        printed, concentrated = mechanism.claims(BITS)
        assert printed.source == "Lecture notes 2025, Gaussian mechanism"
        assert printed.spec.output_divergence == MultDelta(delta=delta)
        assert isinstance(printed.spec.input_divergence, Neighbour)
        assert outcome(printed, mechanism) is expected
        assert outcome(concentrated, mechanism) is True


@pytest.mark.reference("B-O34")
def test_the_standard_claim_and_the_concentrated_one_hold():
    mechanism = lecture("1e-6", "standard", sensitivity=1)
    assert [outcome(claim, mechanism) for claim in mechanism.claims(BITS)] == [True, True]
    assert mechanism.claims(BITS)[0].source.startswith("Dwork and Roth")


@pytest.mark.reference("B-T19")
def test_the_gaussian_theorem_is_printed_for_epsilon_below_one_only():
    assert [claim.spec.output_divergence for claim in lecture("1e-3", epsilon=1).claims(BITS)] == [DNor()]
    assert [claim.spec.output_divergence for claim in lecture("1e-3", epsilon="99/100").claims(BITS)][1] == DNor()


@pytest.mark.reference("B-T19")
def test_the_calibrated_variance_is_the_printed_one_rounded_up():
    for calibration, expected in (("lecture", math.log(1e6)), ("standard", 2 * math.log(1.25e6))):
        for sensitivity, epsilon in (("sqrt(2)", "0.5"), (3, "0.7")):
            mechanism = lecture("1e-6", calibration, sensitivity=sensitivity, epsilon=epsilon)
            exact = (float(number(sensitivity)) / float(epsilon)) ** 2 * expected
            assert abs(float(mechanism.sigma_squared()) / exact - 1) < 1e-14
    assert (ln(10**6) * 4) <= lecture("1e-6").sigma_squared() <= (ln(10**6) * 4) * (1 + F(1, 2**60))


def test_an_explicit_variance_is_concentrated():
    mechanism = Gaussian(queries=(SUM,), variance="7/2", sensitivity="sqrt(3)", neighbours="differ-in-one-position")
    (claim,) = mechanism.claims(BITS)
    assert claim.spec.budget.value == F(3, 7)
    assert constant(mechanism, BITS, DNor(), HammingOrdered()) == (sqrt(F(1, 7)), sqrt(F(1, 7)))


@pytest.mark.reference("B-O35")
@pytest.mark.reference("B-S14")
@pytest.mark.parametrize(("shift", "variance", "printed"), [
    (1, "1", "0.707107"), (2, "1", "1.414214"), (1, "1/2", "1.000000"), (3, "4", "1.060660"),
])  # fmt: skip
def test_d_nor_of_shifted_discrete_gaussians(shift, variance, printed):
    space = IntegerCounts(length=1)
    mechanism = DiscreteGaussian(queries=(LinearMap(rows=((1,),)),), variance=variance, sensitivities=(1,))
    value = DNor().between(mechanism.law((0,), space), mechanism.law((shift,), space))
    assert {f"{float(value.lower):.6f}", f"{float(value.upper):.6f}"} == {printed}
    assert value.lower <= sqrt(F(shift**2) / (2 * F(variance))) <= value.upper


@pytest.mark.reference("B-O54")
@pytest.mark.reference("B-T15")
@pytest.mark.parametrize("variance", [F(1, 2), F(9, 4)])
def test_a_histogram_with_discrete_gaussian_noise(variance):
    mechanism = DiscreteGaussian(queries=(HISTOGRAM,), variance=variance, sensitivities=("sqrt(2)",), neighbours="replace-one")
    (claim,) = mechanism.claims(RECORDS)
    assert claim.spec.budget.value == 1 / variance
    assert claim.spec.output_divergence.lipschitz("rho", claim.spec.budget.value) == sqrt(1 / variance)
    low, high = constant(mechanism, RECORDS, DNor(), Hamming())
    assert low <= sqrt(1 / variance) <= high
    assert float(high) - float(low) < 1e-9


@pytest.mark.reference("B-T15")
def test_squared_sensitivities_of_several_queries_add():
    mechanism = DiscreteGaussian(queries=(TOTAL, HISTOGRAM), variance=3, sensitivities=(1, 1))
    (claim,) = mechanism.claims(RECORDS)
    assert claim.spec.budget.value == F(1, 3)
    low, high = constant(mechanism, RECORDS, DNor(), SymmetricDifference())
    assert low <= sqrt(F(1, 3)) <= high


def test_answers_are_those_of_all_queries():
    mechanism = Geometric(queries=(TOTAL, HISTOGRAM), epsilon=1)
    assert mechanism.answers((("f",), ("m",), ("m",)), RECORDS) == (3, 1, 2)


def test_nothing_is_claimed_without_the_unit():
    assert Laplace(queries=(LinearMap(rows=((1,),)),), epsilon=1).claims(IntegerCounts(length=1)) == ()
    assert Laplace(queries=(TOTAL,), epsilon=1, neighbours="differ-in-one-position").claims(RECORDS) == ()


@pytest.mark.parametrize("make", [
    lambda: Geometric(queries=(TOTAL,)),
    lambda: Geometric(queries=(TOTAL,), epsilon=1, ratio="1/2"),
    lambda: Laplace(queries=(TOTAL,), epsilon=0),
    lambda: Laplace(queries=(TOTAL,), epsilon="inf"),
    lambda: Laplace(queries=(), epsilon=1),
    lambda: Laplace(queries=(TOTAL,), epsilon=1, neighbours="adjacent"),
    lambda: Gaussian(queries=(TOTAL,)),
    lambda: Gaussian(queries=(TOTAL,), calibration="standard", epsilon="0.5"),
    lambda: Gaussian(queries=(TOTAL,), variance=1, epsilon="0.5", delta="1e-3"),
    lambda: Gaussian(queries=(TOTAL,), variance=1, calibration="lecture", epsilon="0.5", delta="1e-3"),
    lambda: Gaussian(queries=(TOTAL,), variance=1, sensitivity="ln(2)"),
    lambda: DiscreteGaussian(queries=(TOTAL,), variance=1, sensitivities=(1, 2)),
    lambda: DiscreteGaussian(queries=(TOTAL,), variance=0, sensitivities=(1,)),
])  # fmt: skip
def test_faulty_parameters_are_refused(make):
    with pytest.raises(ParameterError):
        make()


def test_a_query_without_integer_answers_is_refused():
    query = FunctionInvariant(function=len, label="length")
    with pytest.raises(IncompatibleBlocksError, match="does not answer with integers"):
        Geometric(queries=(query,), epsilon=1).check(RECORDS)


@pytest.mark.parametrize("mechanism", [Laplace(queries=(TOTAL,), epsilon=1), Gaussian(queries=(TOTAL,), variance=1)])
def test_continuous_noise_is_not_released(mechanism):
    table = Table.from_records([["f"]], (SEX,))
    with pytest.raises(ReleaseError, match="release with geometric"):
        mechanism.release(table, RECORDS, SeededRandomness(1))


@pytest.mark.parametrize("sensitivity", [1, 10**6])
def test_noise_with_an_irrational_epsilon_is_drawn_at_any_width(sensitivity):
    mechanism = Geometric(queries=(TOTAL,), epsilon="sqrt(2)", sensitivity=sensitivity)
    assert mechanism.draw(3, SeededRandomness(1)).shape == (3,)


class Silent(Geometric):
    """A broken toy: noise that is always 0."""

    def draw(self, count, source):
        return np.zeros(count, dtype=np.int64)


TWO = UnorderedRecords(attributes=(SEX, PLACE))
MICRODATA = [["f", "a"], ["f", "b"], ["m", "b"], ["m", "b"], ["m", "c"]]


def released(mechanism, records=MICRODATA, space=TWO):
    table = mechanism.release(Table.from_records(records, space.attributes), space, SeededRandomness(5))
    columns = [(list(a.values()), table.codes[a.name]) for a in table.attributes]
    return [tuple(values[codes[row]] for values, codes in columns) for row in range(len(table))]


def test_a_release_lists_every_cell_of_every_query():
    where = Marginal(attributes=("sex",), where={"place": ("b", "c")})
    crossed = Marginal(attributes=("place", "sex"))
    rows = released(Silent(queries=(TOTAL, where, crossed), epsilon=1))
    assert rows[0] == ("person total", "(all)", "(all)", "5", "published")
    name = "person by sex where place in {b, c}"
    assert rows[1:3] == [(name, "f", "(some)", "1", "published"), (name, "m", "(some)", "3", "published")]
    assert set(rows[3:]) == {
        ("person by place x sex", sex, place, count, "published")
        for place, counts in [("a", ("1", "0")), ("b", ("1", "2")), ("c", ("0", "1"))]
        for sex, count in zip("fm", counts, strict=True)
    }


def test_the_columns_and_the_dataset_give_the_same_answers():
    """The fast path over columns against `Invariant.answers` on the dataset."""
    queries = (TOTAL, Marginal(attributes=("place",)), Marginal(attributes=("sex", "place"), where={"sex": ("m",)}))
    direct = [a for query in queries for a in query.answers(TWO.dataset(MICRODATA), TWO)]
    assert [int(row[-2]) for row in released(Silent(queries=queries, epsilon=1))] == direct
    cells = len(TWO.cells() or ())
    linear = LinearMap(rows=(tuple(range(cells)),), label="weighted")
    ((_, measure, answer, _),) = released(Silent(queries=(linear,), epsilon=1))
    assert (measure, int(answer)) == (linear.labels(TWO)[0], linear.answers(TWO.dataset(MICRODATA), TWO)[0])


def test_noise_is_added_to_every_answer():
    silent = released(Silent(queries=(HISTOGRAM,), epsilon=1))
    noise = Geometric(queries=(HISTOGRAM,), epsilon="1/9").draw(2, SeededRandomness(5))
    noisy = released(Geometric(queries=(HISTOGRAM,), epsilon="1/9"))
    assert [int(b[2]) - int(a[2]) for a, b in zip(silent, noisy, strict=True)] == noise.tolist()
    assert any(noise)
    discrete = DiscreteGaussian(queries=(HISTOGRAM,), variance=400, sensitivities=(1,))
    assert len(released(discrete)) == 2


def test_a_large_table_with_a_query_that_needs_the_dataset_is_refused():
    table = Table(attributes=(SEX,), codes={"sex": np.zeros(100_001, dtype=np.int64)})
    mechanism = Geometric(queries=(LinearMap(rows=((1, 1),)),), epsilon=1)
    with pytest.raises(TableError, match="is no marginal of its columns"):
        mechanism.release(table, UnorderedRecords(attributes=(SEX,)), SeededRandomness(1))


@pytest.mark.spread(3)
@pytest.mark.statistical
@pytest.mark.parametrize("mechanism", [
    Geometric(queries=(HISTOGRAM,), ratio="3/5"),
    pytest.param(Geometric(queries=(HISTOGRAM,), epsilon="2/3"), marks=pytest.mark.slow),
    Geometric(queries=(HISTOGRAM,), epsilon="sqrt(1/2)"),
    pytest.param(DiscreteGaussian(queries=(HISTOGRAM,), variance="5/2", sensitivities=(1,)), marks=pytest.mark.slow),
])  # fmt: skip
def test_the_sampler_follows_the_law(mechanism):
    """100,000 draws, in small batches and in bulk, against the mass by `law`; chi-square at level 1e-9 (power: test_samplers)."""
    from scipy import stats

    n, noise = 100_000, mechanism.noise(0)
    source = SeededRandomness(41)
    small = np.concatenate([mechanism.draw(800, source) for _ in range(n // 800)])
    bulk = mechanism.draw(n, source)
    inner = [float(noise.mass(k)) for k in range(-5, 6)]
    expected = n * np.array([(1 - sum(inner)), *inner])
    for draws in (small, bulk):
        observed = np.array([(np.abs(draws) > 5).sum(), *((draws == k).sum() for k in range(-5, 6))])
        assert ((observed - expected) ** 2 / expected).sum() < stats.chi2.isf(1e-9, 11)


def test_everything_is_registered():
    names = {"randomised-response", "lecture-randomised-response", "laplace", "geometric", "gaussian", "discrete-gaussian"}
    assert names <= set(installed().registry.names("mechanisms"))


# --- weighted sums ----------------------------------------------------------------------------------------


CARE = Attribute(name="care", categories=("none", "some", "full"))
ROWS = ({"cell": ["some"], "adds": ["1/2", 1]}, {"cell": ["full"], "adds": [2, -1]})


def weighted_sums(rows=ROWS):
    return WeightedSums(attributes=("care",), sums=("hours", "people"), weights=rows)


def test_weighted_sums_answer_on_datasets_and_on_columns_alike():
    space = UnorderedRecords(attributes=(CARE,))
    query = weighted_sums(({"cell": ["some"], "adds": [3, 1]}, {"cell": ["full"], "adds": [-2, 1]}))
    records = [("some",), ("full",), ("full",), ("none",)]
    assert query.answers(space.dataset(records), space) == (-1, 3)
    released = Geometric(queries=(query,), ratio="1/1000000000").release(
        Table.from_records(records, (CARE,)), space, SeededRandomness(3)
    )
    assert [(row[1], row[2]) for row in released.records()] == [("hours", "-1"), ("people", "3")]


@pytest.mark.parametrize("mechanism", [Geometric, DiscreteGaussian])
def test_fractions_as_weights_need_noise_on_the_line(mechanism):
    noise = {"ratio": "1/2"} if mechanism is Geometric else {"variance": 1, "sensitivities": [1]}
    with pytest.raises(IncompatibleBlocksError, match="multiply the weights by 2, or use noise on the line"):
        mechanism(queries=(weighted_sums(),), **noise).check(UnorderedRecords(attributes=(CARE,)))


@pytest.mark.parametrize(
    "change",
    [
        {"weights": ({"cell": ["some", "full"], "adds": [1, 1]},)},
        {"weights": ({"cell": ["some"], "adds": [1]},)},
        {"weights": ({"cell": ["some"], "adds": [1, 1]},) * 2},
        {"sums": ("a", "a")},
    ],
)
def test_faulty_weights_are_refused(change):
    with pytest.raises(ParameterError):
        WeightedSums(**{"attributes": ("care",), "sums": ("hours", "people"), "weights": ROWS, **change})


def test_the_longest_difference_of_two_rows_inside_a_universe_is_the_sensitivity():
    """Two attributes with random weights, one of them published: all pairs of one record are listed here."""
    lot = random.Random(11)
    known = (Attribute(name="r", categories=("0", "1", "2")), Attribute(name="s", categories=("0", "1", "2")))
    for _ in range(12):
        cells = list(itertools.product("012", "012"))
        weights = {cell: (F(lot.randint(-4, 4), 2), F(lot.randint(-4, 4), 3)) for cell in lot.sample(cells, lot.randint(1, 9))}
        query = WeightedSums(
            attributes=("r", "s"), sums=("a", "b"), weights=[{"cell": cell, "adds": adds} for cell, adds in weights.items()]
        )
        fixed = lot.choice(((), ("r",), ("s",)))
        places = [("r", "s").index(name) for name in fixed]
        moved = [
            [a - b for a, b in zip(weights.get(one, (0, 0)), weights.get(other, (0, 0)), strict=True)]
            for one, other in itertools.product(cells, repeat=2)
            if all(one[place] == other[place] for place in places)
        ]
        lengths = max(sum(map(abs, by)) for by in moved), max(sum(b * b for b in by) for by in moved)
        for mechanism, output, name, length in (
            (Laplace(queries=(query,), epsilon=1), Mult(), "epsilon", number(lengths[0])),
            (Gaussian(queries=(query,), variance="1/2"), DNor(), "rho", sqrt(lengths[1])),
        ):
            spec = PrivacySpec(
                space=UnorderedRecords(attributes=known), input_divergence=Hamming(), output_divergence=output,
                multiverse=LevelSets(invariants=(Marginal(attributes=fixed),)),
                budget=UniformBudget(parameter=name, value=1000),
            )  # fmt: skip
            found = derive(mechanism, spec)
            assert (found.constant.lower, found.constant.upper) == (length, length)


# --- scales ---------------------------------------------------------------------------------------

AGE = Marginal(attributes=("age",))


@pytest.mark.parametrize(
    ("kind", "given", "canonical"),
    [
        (Laplace, {"scale": 2}, {"epsilon": "1/2"}),
        (Laplace, {"scale": 2, "sensitivity": 3}, {"epsilon": "3/2", "sensitivity": 3}),
        (Laplace, {"variance": 8}, {"epsilon": "1/2"}),
        (Laplace, {"variance": 1}, {"epsilon": "sqrt(2)"}),
        (Geometric, {"scale": "1/3"}, {"epsilon": 3}),
        (Gaussian, {"scale": 3}, {"variance": 9}),
        (Gaussian, {"scale": "sqrt(2)"}, {"variance": 2}),
        (DiscreteGaussian, {"scale": 3, "sensitivities": (1,)}, {"variance": 9, "sensitivities": (1,)}),
    ],
)
def test_a_scale_is_kept_as_the_parameter_that_means_the_same(kind, given, canonical):
    noise, same = kind(queries=(AGE,), **given), kind(queries=(AGE,), **canonical)
    assert noise == same
    assert hash(noise) == hash(same)
    assert noise.noise(0) == same.noise(0)


def test_the_law_of_a_scale_has_it():
    """The density of Laplace noise of scale 2 falls by e within 2; its variance is 2 times 2 squared."""
    law = Laplace(queries=(AGE,), scale=2).noise(0)
    assert law.decay == number("1/2")
    assert float(laws.deviation(law).upper) == pytest.approx(math.sqrt(8))
    law = Geometric(queries=(AGE,), scale=2).noise(0)
    assert law.decay == number("1/2")


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (Laplace, {}), (Laplace, {"scale": 2, "epsilon": 1}), (Laplace, {"scale": 2, "variance": 8}),
        (Geometric, {"scale": 2, "ratio": "1/2"}), (Gaussian, {"scale": 2, "variance": 4}), (Gaussian, {"scale": "ln(3)"}),
        (Gaussian, {"scale": 2, "calibration": "standard", "epsilon": "1/2", "delta": "1/100"}),
        (DiscreteGaussian, {"sensitivities": (1,)}), (DiscreteGaussian, {"sensitivities": (1,), "scale": 1, "variance": 1}),
    ],
)  # fmt: skip
def test_exactly_one_of_the_parameters_of_the_noise_is_given(kind, given):
    with pytest.raises(ParameterError, match=r"exactly one|must be rational"):
        kind(queries=(AGE,), **given)


def test_a_scale_in_a_file(tmp_path):
    path = tmp_path / "scale.dpspec.toml"
    path.write_text(
        'schema = 1\nid = "scale"\ntitle = "scale"\nspace = { type = "records", attributes = [{ name = "age", count = 2 }] }\n'
        'input_divergence = { type = "symmetric-difference" }\noutput_divergence = { type = "mult" }\n'
        'budget = { epsilon = "1/2" }\n'
        'mechanism = { type = "laplace", queries = [{ type = "marginal", attributes = ["age"] }], scale = "2" }\n'
        '[claim]\nverdict = "verified"\nbecause = "of the test"\n',
        encoding="utf-8",
    )
    assert dp.verify(path).standing.word.is_good
    path.write_text(path.read_text(encoding="utf-8").replace('scale = "2"', 'scale = "1.9"'), encoding="utf-8")
    assert not dp.verify(path).standing.word.is_good


def test_weighted_sums_of_a_sample_keep_the_places_of_their_parts():
    """A change of the second part had no place: `verify` ended with a ValueError."""
    people = dp.records(n=["0", "1", "3"])
    weights = [{"cell": ["0"], "adds": [1]}, {"cell": ["1"], "adds": [-2]}, {"cell": ["3"], "adds": [3]}]
    sums = dp.weighted_sums(attributes=["n"], sums=["s"], weights=weights)
    noisy = dp.geometric(queries=[sums], ratio="1/2")
    sampled = dp.composed(parts=[dp.subsampled(mechanism=noisy, rate="1/2"), dp.subsampled(mechanism=noisy, rate="1/2")])
    for epsilon, outcome in (("2*ln(9/2)", "verified"), ("ln(20)", "refuted")):  # ln(1 + (2^3 - 1) / 2) for each
        claim = dp.spec(space=people, distance="add-remove", standard="pure", epsilon=epsilon)
        assert dp.verify(sampled, claim).outcome.value == outcome
