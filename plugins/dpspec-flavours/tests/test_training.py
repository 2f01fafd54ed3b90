"""Samples inside of composed mechanisms, training runs and their calibration."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from dpspec_flavours import training

import dpspec as dp
from dpspec.base.words import Word
from dpspec.cli import main
from dpspec.plugin import ParameterError
from dpspec.verifier.proof import Missing, derive
from dpspec.verifier.verdict import Outcome

SPACE = dp.records(example=("a", "b"))


def count(variance: str) -> dp.Mechanism:
    return dp.gaussian(queries=[dp.marginal(attributes=[])], variance=variance)


def sample(mechanism: dp.Mechanism, rate: str) -> dp.Mechanism:
    return dp.subsampled(mechanism=mechanism, rate=rate)


def judged(mechanism: dp.Mechanism, epsilon: str, distance: str = "add-remove") -> dp.Verdict:
    promise = dp.spec(space=SPACE, distance=distance, standard="approximate", epsilon=epsilon, delta="1e-5")
    return dp.verify(mechanism, promise)


def test_a_training_run_is_verified_and_refuted_at_its_constant() -> None:
    """Abadi et al. 2016 publish 1.26 for this run; the constant is 0.9468."""
    assert dp.verify(dp.sgd(steps=10_000, rate="0.01", noise_multiplier=4, epsilon="1.26")).word is Word.HOLDS
    assert dp.verify(dp.sgd(steps=10_000, rate="0.01", noise_multiplier=4, epsilon="0.947")).word is Word.HOLDS
    refuted = dp.verify(dp.sgd(steps=10_000, rate="0.01", noise_multiplier=4, epsilon="0.946"))
    assert refuted.word is Word.REFUTED


def test_one_step_without_a_sample_is_gaussian_noise() -> None:
    """delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), mu = sqrt(steps)/sigma (Balle and Wang 2018)."""
    run = dp.sgd(steps=4, rate=1, noise_multiplier=4, delta="1e-5")
    epsilon, mu = float(run.spec.budget.uniform()), 0.5
    phi = lambda x: math.erfc(-x / math.sqrt(2)) / 2  # noqa: E731
    delta = phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)
    assert 0.999e-5 < delta <= 1e-5


@pytest.mark.parametrize(
    ("mechanism", "low", "high"),
    [
        (dp.composed(parts=[sample(count("1"), "1/10"), sample(count("4"), "1/5")]), "1.7", "1.73"),
        (sample(dp.repeated(mechanism=count("9"), times=4), "1/10"), "0.67", "0.68"),
        (dp.composed(parts=[dp.repeated(mechanism=sample(count("1"), "1/10"), times=100), count("4")]), "7.43", "7.44"),
    ],
    ids=["composed of samples", "sample of repeated", "mixed"],
)
def test_samples_nest_with_composition_both_ways(mechanism: dp.Mechanism, low: str, high: str) -> None:
    assert judged(mechanism, high).outcome is Outcome.VERIFIED
    assert judged(mechanism, low).outcome is Outcome.REFUTED


def test_one_sample_for_all_steps_is_not_a_sample_for_each() -> None:
    """The sampler is part of the mechanism: the budget of fresh samples is refuted for one that is drawn once."""
    fresh, once = (
        dp.repeated(mechanism=sample(count("1"), "1/10"), times=30),
        sample(dp.repeated(mechanism=count("1"), times=30), "1/10"),
    )
    assert judged(fresh, "4.2").outcome is Outcome.VERIFIED
    assert judged(once, "4.2").outcome is Outcome.REFUTED


def test_what_is_not_proved_of_samples_is_not_verified() -> None:
    """Several samples of a fixed size have no proof for records added, nor several queries on one sample, nor records replaced
    whose answers share noise."""
    fixed = dp.repeated(mechanism=dp.subsampled(mechanism=count("16"), size=5), times=10)
    two = dp.gaussian(queries=[dp.marginal(attributes=[]), dp.marginal(attributes=["example"])], variance=16)
    promise = dp.spec(space=SPACE, distance="replace-one", standard="approximate", epsilon=10, delta="1e-5")
    assert isinstance(derive(sample(two, "1/100"), promise), Missing)
    sums = dp.laplace(queries=[dp.clipped_sum(attribute="age", least=0, most=9)], epsilon="1/10", sensitivity=9)
    ages = dp.records(age=10)
    promise = dp.spec(space=ages, distance="replace-one", standard="pure", epsilon=9)
    assert isinstance(derive(sample(sums, "1/2"), promise), Missing)
    assert judged(fixed, "1/10").outcome is not Outcome.VERIFIED
    assert judged(dp.repeated(mechanism=sample(two, "1/100"), times=10), "1/10").outcome is not Outcome.VERIFIED


@pytest.mark.slow
def test_calibration_is_within_its_target_and_one_step_further_is_not() -> None:
    noise = dp.calibrate(epsilon=1, steps=100, rate="1/50").value
    steps = dp.calibrate(epsilon=1, rate="1/50", noise_multiplier=noise.value).value
    assert noise.epsilon.upper <= 1
    assert dp.sgd(steps=100, rate="1/50", noise_multiplier=noise.value - Fraction(1, 100)).spec.budget.uniform() > 1
    assert 100 <= steps.value <= 102
    with pytest.raises(ParameterError, match="leave out"):
        dp.calibrate(epsilon=1, steps=100)


def test_ten_records_drawn_from_exactly_a_hundred() -> None:
    """ln(1 + (e^2 - 1)/10) = 0.494029, for one record replaced (Balle, Barthe and Gaboardi 2018)."""
    ones = dp.laplace(queries=[dp.marginal(attributes=[], where={"example": ["a"]})], epsilon=2)
    drawn = dp.subsampled(mechanism=ones, size=10)
    cases = ((100, "0.49403", Outcome.VERIFIED), (100, "0.494028", Outcome.REFUTED), (99, "0.494029", Outcome.REFUTED))
    for size, epsilon, outcome in cases:
        space = dp.records(example=("a", "b"), least=size, most=size)
        promise = dp.spec(space=space, distance="replace-one", standard="pure", epsilon=epsilon)
        assert dp.verify(drawn, promise).outcome is outcome


def test_discrete_gaussian_noise_of_variance_one_is_gaussian_private() -> None:
    noise = dp.discrete_gaussian(queries=[dp.marginal(attributes=[])], variance=1, sensitivities=[1])
    for mu, outcome in (("1.04577", Outcome.VERIFIED), ("1.04575", Outcome.REFUTED)):
        promise = dp.spec(space=SPACE, distance="add-remove", standard="gaussian", mu=mu)
        assert dp.verify(noise, promise).outcome is outcome


# --- one record replaced -------------------------------------------------------------------------------


def histogram(variance: str) -> dp.Mechanism:
    return dp.gaussian(queries=[dp.marginal(attributes=["example"])], variance=variance)


def only_a(variance: str) -> dp.Mechanism:
    return dp.gaussian(queries=[dp.marginal(attributes=[], where={"example": ["a"]})], variance=variance)


def delta_replaced(epsilon: float, rate: float, sigma: float) -> float:
    """The hockey stick of (1 - q) N(0, s^2 I) + q N(a, s^2 I) and the same with b, a and b two unit vectors, on a fine grid."""
    step, ends = 0.05, 9 * sigma
    points = [-ends + step * i for i in range(int((2 * ends + 1) / step))]
    plain, moved = ([math.exp(-((x - mean) ** 2) / (2 * sigma**2)) for x in points] for mean in (0, 1))
    norm = (step / (sigma * math.sqrt(2 * math.pi))) ** 2
    gamma = math.exp(epsilon)
    total = 0.0
    for p0, p1 in zip(plain, moved, strict=True):
        for q0, q1 in zip(plain, moved, strict=True):
            here, there = (1 - rate) * p0 * q0 + rate * p1 * q0, (1 - rate) * p0 * q0 + rate * p0 * q1
            total += max(0.0, here - gamma * there)
    return total * norm


@pytest.mark.parametrize(("rate", "sigma"), [("1/10", 1), ("1/2", 2)])
def test_a_record_replaced_on_a_sample_of_a_histogram(rate: str, sigma: int) -> None:
    """The budget of one record added or removed does not hold for one replaced; both datasets of the refutation have one."""
    added, replaced = (
        dp.verify(sample(histogram(str(sigma**2)), rate), dp.spec(space=SPACE, distance=distance, **DELTA, epsilon=9))
        for distance in ("add-remove", "replace-one")
    )
    low, high = (float(end.as_fraction()) for end in (replaced.constant.lower, replaced.constant.upper))
    at = [delta_replaced(epsilon, float(Fraction(rate)), sigma) for epsilon in (low, high)]
    assert at == pytest.approx([0.001, 0.001], rel=1e-4)
    assert replaced.constant.lower > added.constant.upper
    claim = dp.spec(space=SPACE, distance="replace-one", **DELTA, epsilon=added.constant.upper)
    refuted = dp.verify(sample(histogram(str(sigma**2)), rate), claim)
    assert refuted.outcome is Outcome.REFUTED
    assert [len(side) for side in (refuted.witness.left, refuted.witness.right)] == [1, 1]


DELTA = {"standard": "approximate", "delta": "1/1000"}


@pytest.mark.parametrize("times", [1, 50])
def test_one_count_of_some_records_costs_as_much_for_a_record_replaced_as_for_one_added(times: int) -> None:
    steps = sample(only_a("1"), "1/10")
    steps = steps if times == 1 else dp.repeated(mechanism=steps, times=times)
    both = [
        dp.verify(steps, dp.spec(space=SPACE, distance=distance, **DELTA, epsilon=20)).constant
        for distance in ("add-remove", "replace-one")
    ]
    assert both[0] == both[1]


def test_many_steps_of_a_histogram_with_a_record_replaced() -> None:
    """Half of the loss is that of a record removed, half that of one added: more than each, at most both together."""
    steps = dp.repeated(mechanism=sample(histogram("4"), "1/10"), times=100)
    added, replaced = (
        dp.verify(steps, dp.spec(space=SPACE, distance=distance, **DELTA, epsilon=20)).constant
        for distance in ("add-remove", "replace-one")
    )
    assert added.upper < replaced.lower
    assert replaced.upper < added.lower * 2
    assert replaced.upper - replaced.lower < Fraction(1, 1000)


def test_a_total_on_a_sample_says_nothing_of_a_record_replaced() -> None:
    steps = dp.repeated(mechanism=sample(count("1"), "1/10"), times=10)
    assert judged(steps, "0", "replace-one").outcome is Outcome.VERIFIED


# --- samples of a fixed size, many times -----------------------------------------------------------------


def drawn(mechanism: dp.Mechanism, size: int) -> dp.Mechanism:
    return dp.subsampled(mechanism=mechanism, size=size)


def of_many_draws(mechanism: dp.Mechanism, records: int, **more: int) -> dp.Verdict:
    space = dp.records(example=("a", "b"), least=records, **more)
    found = derive(mechanism, dp.spec(space=space, distance="replace-one", **DELTA, epsilon=1_000))
    assert not isinstance(found, Missing), str(found)
    return found


def hockey_stick(losses: dict[float, float], epsilon: float) -> float:
    return sum(mass * -math.expm1(epsilon - loss) for loss, mass in losses.items() if loss > epsilon)


def of_count(rate: float, times: int, *, is_turned: bool) -> dict[float, float]:
    """The losses of many draws of a count with geometric noise of ratio 1/2: of one record among others that are not counted."""
    plain, moved = ([(1 / 3) * 0.5 ** abs(k - at) for k in range(-60, 62)] for at in (0, 1))
    mixed = [(1 - rate) * p + rate * q for p, q in zip(plain, moved, strict=True)]
    left, right = (plain, mixed) if is_turned else (mixed, plain)
    losses: dict[float, float] = {0.0: 1.0}
    single: dict[float, float] = {}
    for p, q in zip(left, right, strict=True):
        single[round(math.log(p / q), 12)] = single.get(round(math.log(p / q), 12), 0) + p
    for _ in range(times):
        together: dict[float, float] = {}
        for (a, p), (b, q) in itertools.product(losses.items(), single.items()):
            together[round(a + b, 12)] = together.get(round(a + b, 12), 0) + p * q
        losses = together
    return losses


@pytest.mark.parametrize(("size", "records", "times"), [(1, 2, 3), (3, 10, 4), (10, 100, 6)])
def test_many_samples_of_a_fixed_size_are_bounded_from_both_sides(size: int, records: int, times: int) -> None:
    """From below by the exact losses of two datasets, in both orders; the bound from above is within a tenth of them."""
    noise = dp.geometric(queries=[dp.marginal(attributes=[], where={"example": ["a"]})], ratio="1/2")
    found = of_many_draws(dp.repeated(mechanism=drawn(noise, size), times=times), records, most=records)
    low, high = (float(end.enclose(64)) for end in (found.constant.lower, found.constant.upper))
    true = [of_count(size / records, times, is_turned=turned) for turned in (False, True)]
    assert max(hockey_stick(losses, low) for losses in true) == pytest.approx(0.001, rel=1e-3)
    assert max(hockey_stick(losses, high) for losses in true) <= 0.001
    assert high < low * 1.1


def test_the_share_depends_on_the_number_of_records_of_the_space() -> None:
    steps = dp.repeated(mechanism=drawn(only_a("16"), 10), times=20)
    few, many, any_number = (of_many_draws(steps, least).constant for least in (20, 200, 0))
    assert many.upper < few.lower < few.upper < any_number.lower
    whole = dp.repeated(mechanism=only_a("16"), times=20)
    assert any_number.upper == of_many_draws(whole, 0).constant.upper


def test_a_histogram_on_samples_of_a_fixed_size_costs_more_than_one_count() -> None:
    steps = (dp.repeated(mechanism=drawn(made("4"), 10), times=20) for made in (only_a, histogram))
    one, both = (of_many_draws(each, 100, most=100) for each in steps)
    assert one.constant.upper < both.constant.lower


def test_samples_of_records_that_meet_a_condition_have_no_known_share() -> None:
    steps = dp.filtered(mechanism=dp.repeated(mechanism=drawn(histogram("4"), 10), times=20), where={"example": ["a"]})
    space = dp.records(example=("a", "b"), least=100, most=100)
    assert isinstance(derive(steps, dp.spec(space=space, distance="replace-one", **DELTA, epsilon=1_000)), Missing)


def test_samples_of_a_fixed_size_for_a_record_added_are_not_proved() -> None:
    steps = dp.repeated(mechanism=drawn(histogram("4"), 10), times=20)
    space = dp.records(example=("a", "b"), least=100)
    found = derive(steps, dp.spec(space=space, distance="add-remove", **DELTA, epsilon=1_000))
    assert isinstance(found, Missing)
    assert found.step == "sample"


# --- the command ---------------------------------------------------------------------------------------


def called(*arguments: object) -> tuple[int, str, str]:
    found = CliRunner().invoke(main, ["calibrate", *map(str, arguments)])
    return found.exit_code, found.stdout, found.stderr


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (("--steps", 100, "--rate", "1/50"), "noise_multiplier"),
        pytest.param(("--rate", "1/50", "--noise-multiplier", 1), "steps", marks=pytest.mark.slow),
        pytest.param(("--steps", 100, "--noise-multiplier", 1), "rate", marks=pytest.mark.slow),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_the_command_finds_what_is_left_out(given: tuple[object, ...], found: str, tmp_path: Path) -> None:
    """The number it prints is within the target for `sgd`, and the file that it writes is verified."""
    run = tmp_path / "run.dpspec.toml"
    code, out, _ = called("--epsilon", 2, *given, "--format", "json", "--out", run)
    data = json.loads(out)
    schema = dp.schema("output")
    jsonschema.Draft202012Validator({"$defs": schema["$defs"], "$ref": "#/$defs/calibrate"}).validate(data)
    assert (code, data["found"]) == (0, found)
    assert str(data["value"]) == str(data[found])
    again = dp.sgd(steps=data["steps"], rate=data["rate"], noise_multiplier=data["noise_multiplier"])
    assert again.spec.budget.uniform() <= 2 + Fraction(1, 10_000)
    assert dp.verify(run).word is Word.HOLDS


def test_the_first_line_is_the_answer_and_the_sampler_is_named() -> None:
    code, out, _ = called("--epsilon", 2, "--steps", 1_000, "--rate", "0.01")
    assert code == 0
    assert out.splitlines()[0] == "noise_multiplier = 0.96"
    assert "independently of all others" in out


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--epsilon", 1, "--steps", 10), "leave out the one to find"),
        (("--epsilon", 1, "--steps", 10, "--rate", "0.1", "--noise-multiplier", 1), "leave out the one to find"),
        (("--epsilon", -1, "--steps", 10, "--rate", "0.1"), "epsilon"),
        (("--epsilon", "nan", "--steps", 10, "--rate", "0.1"), "epsilon"),
        (("--epsilon", "inf", "--steps", 10, "--rate", "0.1"), "epsilon"),
        (("--epsilon", "much", "--steps", 10, "--rate", "0.1"), "epsilon"),
        (("--epsilon", 1, "--steps", 10, "--rate", "1.5"), "rate"),
        (("--epsilon", 1, "--steps", 10, "--rate", 0), "rate"),
        (("--epsilon", 1, "--steps", 0, "--rate", "0.1"), "steps"),
        (("--epsilon", 1, "--steps", 10, "--noise-multiplier", 0), "noise_multiplier"),
        (("--epsilon", 1, "--delta", 0, "--steps", 10, "--rate", "0.1"), "delta"),
        (("--epsilon", 1, "--delta", 1, "--steps", 10, "--rate", "0.1"), "delta"),
        (("--epsilon", "1/1000", "--rate", 1, "--noise-multiplier", 1), "has no value"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(given: tuple[object, ...], told: str) -> None:
    code, out, err = called(*given)
    assert (code, out) == (2, "")
    assert told in err
    assert len(err.strip().splitlines()) == 1 or err.startswith("Usage")


def test_a_file_that_cannot_be_written_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, _, err = called("--epsilon", 2, "--steps", 10, "--rate", "0.1", "--out", tmp_path / "file" / "run.dpspec.toml")
    assert code == 2
    assert "cannot be written" in err


@pytest.mark.slow
def test_a_large_target_needs_little_noise() -> None:
    """Noise that is too small for doubles is no error: the least noise that is proved is found."""
    found = dp.calibrate(epsilon=10**6, steps=10, rate="0.01").value
    assert found.epsilon.upper <= 10**6
    assert found.value < 1


def test_the_noise_that_is_printed_is_the_one_that_was_found() -> None:
    """Rounded to six digits it was 296427, with which the run is beyond the target."""
    given = ("--epsilon", "1/10000", "--steps", 1_000, "--rate", 1)
    found = Fraction(json.loads(called(*given, "--format", "json")[1])["value"])
    assert called(*given)[1].splitlines()[0] == f"noise_multiplier = {float(found):.3f}"
    assert found.denominator > 10


def test_a_search_for_steps_ends_at_the_most_that_a_run_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """It went on to the next power of two, and then refused its own answer."""
    monkeypatch.setattr(training, "MOST_STEPS", 50)
    code, out, _ = called("--epsilon", 3, "--rate", "1/100", "--noise-multiplier", 100)
    assert code == 0
    assert out.splitlines()[0] == "steps = 50, the largest number that is searched; more may be within the target"


def test_one_point_of_the_curve_decides_a_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    """The epsilon at delta, which takes up to ten seconds for many steps, was found for each of about thirty candidates."""
    asked = []
    spent = training._spent
    monkeypatch.setattr(training, "_spent", lambda *run: asked.append(run) or spent(*run))
    found = dp.calibrate(epsilon=2, steps=10, rate="1/50").value
    assert len(asked) == 1
    assert found.epsilon.upper <= 2 < spent(10, Fraction(1, 50), found.value - Fraction(1, 1000), found.delta).upper


@pytest.mark.parametrize("run", [(10, Fraction(1, 50), Fraction(1, 2)), (300, Fraction(1, 10), Fraction(3))])
def test_a_candidate_is_within_a_target_exactly_from_its_epsilon_on(run: tuple[int, Fraction, Fraction]) -> None:
    delta = Fraction(1, 10**5)
    spent = training._spent(*run, delta)
    assert training._is_within(*run, spent.upper * Fraction(1001, 1000), delta)
    assert not training._is_within(*run, spent.lower * Fraction(999, 1000), delta)
