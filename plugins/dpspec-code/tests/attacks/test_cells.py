"""Cells of the output of code with noise: their chances are what the code does, and they tell no more than the laws.

Each function is run with numpy's generator, on its own, and its outputs are sorted into the cells by their types and numbers: the
counts have to fit the chances, n kl(k/n, p) <= ln(2 t / 10^-9) over all t cells of a test (Chernoff 1952).
"""

from __future__ import annotations

import contextlib
import math
import random
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pytest
from dpspec_code.automatic.boxes import NoCells, half_line
from dpspec_code.automatic.cells import in_cells, slots_of
from dpspec_code.automatic.coupling import NoisyLaw
from dpspec_code.automatic.formulas import Affine, Applied, NoiseDraw, Plain
from dpspec_code.automatic.sampler import enumerate_law
from dpspec_divergences import AddRemove, Neighbour

from dpspec.base.errors import NoFormulaError, NotEnumerableError
from dpspec.base.exact import ln
from dpspec.blocks.lists import ValueLists
from dpspec.blocks.vectors import IntegerCounts
from dpspec.verifier.entry import verify_claim
from dpspec.verifier.observation import observed
from dpspec.verifier.verdict import Outcome
from tests.attacks.plain import random_program, spec_of

ERROR = 1e-9


# --- functions ------------------------------------------------------------------------------------


def on_a_grid(x, rng):
    return float(np.round((x[0] + rng.laplace(0, 1.0)) * 2**4) / 2**4)


def to_even(x, rng):
    return round(-2.5 * x[0] - 0.7 * rng.laplace(scale=1.0))


def digits(x, rng):
    return round(x[0] + rng.normal(0, 0.3), 1)


def tens(x, rng):
    return np.round(7 * x[0] + rng.normal(0, 9.0), -1)


def floors(x, rng):
    return (math.floor(x[0] - 2.0 * rng.laplace(scale=1.0)), np.ceil(x[1] + rng.laplace(scale=0.5)))


def whole_part(x, rng):
    return int(x[0] - 0.5 + rng.laplace(scale=1.0))


def quotient(x, rng):
    return (x[0] + rng.laplace(scale=2.0)) // -1.5


def clamped(x, rng):
    return max(0, min(2, round(x[0] + rng.laplace(scale=1.0))))


def by_its_noise(x, rng):
    return rng.laplace(0, 1.0 + x[0])


def waits(x, rng):
    return int(x[0] + 2 * rng.exponential(1.5))


def two_sided(x, rng):
    return 3 * (x[0] + rng.geometric(0.4) - rng.geometric(0.4)) - 1


def halved(x, rng):
    return (x[0] + rng.geometric(0.3)) / 2


def gumbel(x, rng):
    return np.floor(x[0] + rng.gumbel(0, 0.8))


def largest(x, rng):
    return int(np.argmax([c + rng.laplace(scale=2.0) for c in (x[0], 0, 2 * x[1])]))


def its_value(x, rng):
    return max(x[0] + rng.laplace(scale=1.0), x[1] + rng.laplace(scale=3.0))


def exponential_race(x, rng):
    return int(np.argmax([c + rng.exponential(2.0) for c in (x[0], x[1], 0.5)]))


def thresholds(x, rng):
    at = rng.laplace(scale=2.0)
    return [bool(c + rng.laplace(scale=4.0) >= at) for c in (x[0], 0, -x[1])]


def gaussian_thresholds(x, rng):
    at = rng.normal(0.5, 1.0)
    return tuple(bool(c + rng.normal(0, 2.0) < at) for c in x)


def by_a_coin(x, rng):
    if rng.random() < 0.3:
        return ("a", round(x[0] + rng.laplace(scale=1.0)))
    return ("b", x[1] - rng.normal(0, 1.0))


def in_an_array(x, rng):
    return np.round(np.array(x) + rng.laplace(0, 1.0, 2))


def band(x, rng):
    noisy = x[0] + rng.normal(0, 1.0)
    return "in" if -0.5 < noisy < 1.25 else noisy


FUNCTIONS = [
    on_a_grid, to_even, digits, tens, floors, whole_part, quotient, clamped, by_its_noise, waits, two_sided, halved, gumbel,
    largest, its_value, exponential_race, thresholds, gaussian_thresholds, by_a_coin, in_an_array, band,
]  # fmt: skip


# --- counts against chances -----------------------------------------------------------------------


def cell_of(output: Any, names: Any) -> Any:
    """The cell that an output lies in, by its shape and its numbers."""
    shape, slots = slots_of(observed(output))
    numbers = [formula.constant for _, formula in slots]
    for name in names:
        inside = all(
            ends is None or ((ends[0] is None or number >= ends[0]) and (ends[1] is None or number < ends[1]))
            for number, ends in zip(numbers, name.ends, strict=False)
        )
        if name.shape == shape and inside:
            return name
    return None


def kl(share: float, chance: float) -> float:
    terms = [(share, chance), (1 - share, 1 - chance)]
    return sum(p * math.log(p / q) if q > 0 else math.inf for p, q in terms if p > 0)


def misfits(function: Any, dataset: Any, law: Any, draws: int, tests: int) -> list[Any]:
    rng = np.random.default_rng([7, len(law.bounds)])
    names = [name for name in law.bounds if name.shape is not None]
    counts: dict[Any, int] = dict.fromkeys([*names, None], 0)
    for _ in range(draws):
        counts[cell_of(function(list(dataset), rng), names)] += 1
    chances = {name: law.bounds[name] for name in names}
    chances[None] = next(ends for name, ends in law.bounds.items() if name.shape is None)
    limit = math.log(2 * len(chances) * tests / ERROR)
    found = []
    for name, (low, high) in chances.items():
        share = counts[name] / draws
        nearest = min(max(share, float(low)), float(high))
        if draws * kl(share, nearest) > limit:
            found.append((str(name), counts[name], float(low), float(high)))
    return found


@pytest.mark.spread(10, slow=10)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_chances_of_cells_are_those_of_the_code(function: Any) -> None:
    """300 draws on each of two datasets, false alarms below 10^-9 in all; and no more told than the bound of aligned draws."""
    laws = [enumerate_law(function, list(x), symbolic=True) for x in ((0, 1), (1, 1))]
    cells = in_cells(*laws)  # type: ignore[arg-type]
    for dataset, law in zip(((0, 1), (1, 1)), cells, strict=True):
        assert not misfits(function, dataset, law, 300, 2 * len(FUNCTIONS))
    with contextlib.suppress(NoFormulaError):
        for one, other in ((0, 1), (1, 0)):
            above = laws[one].against(laws[other]).max_log_ratio().upper
            assert cells[one].against(cells[other]).max_log_ratio().lower <= above


# --- half-lines against exact arithmetic ----------------------------------------------------------


def stepped(generator: random.Random, formula: Any, exactly: Any, depth: int) -> tuple[Any, Any]:
    """A random monotone function of a formula, and the same in exact arithmetic."""
    if not depth:
        return formula, exactly
    step = generator.choice(
        ["round", "digits", "floor", "ceil", "int", "floordiv", "add", "sub", "rsub", "mul", "truediv", "rint"]
    )
    other = Fraction(generator.choice([-6, -3, -2, -1, 1, 2, 3, 5]), generator.choice([1, 2, 4]))
    known = Affine(other)
    made: dict[str, tuple[Any, Any]] = {
        "round": (Applied("round", (formula,)), lambda w: Fraction(round(exactly(w)))),
        "rint": (Applied("rint", (formula,)), lambda w: Fraction(round(exactly(w)))),
        "digits": (Applied("round", (formula, Plain("int", 1))), lambda w: Fraction(round(exactly(w), 1))),
        "floor": (Applied("floor", (formula,)), lambda w: Fraction(math.floor(exactly(w)))),
        "ceil": (Applied("ceil", (formula,)), lambda w: Fraction(math.ceil(exactly(w)))),
        "int": (Applied("int", (formula,)), lambda w: Fraction(math.trunc(exactly(w)))),
        "floordiv": (Applied("floordiv", (formula, known)), lambda w: Fraction(exactly(w) // other)),
        "add": (Applied("add", (formula, known)), lambda w: exactly(w) + other),
        "sub": (Applied("sub", (formula, known)), lambda w: exactly(w) - other),
        "rsub": (Applied("sub", (known, formula)), lambda w: other - exactly(w)),
        "mul": (Applied("mul", (known, formula)), lambda w: other * exactly(w)),
        "truediv": (Applied("truediv", (formula, known)), lambda w: exactly(w) / other),
    }
    return stepped(generator, *made[step], depth - 1)


def test_half_lines_of_steps_are_those_of_exact_arithmetic() -> None:
    """Every draw in eighths, so that all ties occur, against steps taken of fractions."""
    generator, noise = random.Random(11), NoiseDraw(1, "laplace", Fraction(1))
    for _ in range(200):
        factor, shift = (
            Fraction(generator.choice([-2, -1, 1, 2]), generator.choice([1, 2])),
            Fraction(generator.randint(-6, 6), 4),
        )
        start = Affine(shift, ((noise, factor),)), lambda w, a=factor, c=shift: a * w + c
        formula, exactly = stepped(generator, *start, generator.randint(1, 3))
        draws = [Fraction(k, 8) for k in range(-24, 25)]
        end = generator.choice([exactly(generator.choice(draws)), Fraction(generator.randint(-12, 12), 4)])
        for above in (True, False):
            for closed in (True, False):
                line = half_line(formula, end, above=above, closed=closed, hidden=None)
                for w in draws:
                    value = exactly(w)
                    wanted = (value > end if above else value < end) or (closed and value == end)
                    if isinstance(line, bool):
                        assert wanted == line
                        continue
                    inside = (w > line.start if line.above else w < line.start) or (line.closed and w == line.start)
                    assert inside == wanted, (formula, end, above, closed, w)


# --- mixtures -------------------------------------------------------------------------------------


def mixed_geometric(x, rng):
    shown = x[0] if rng.random() < 0.1 else 0
    return shown + int(rng.geometric(0.5)) - int(rng.geometric(0.5))


def mixed_far(x, rng):
    return (3 * x[0] if rng.random() < 0.25 else x[1]) - rng.geometric(0.25) + rng.geometric(0.25)


def two_types(x, rng):
    noise = rng.geometric(0.5) - rng.geometric(0.5)
    return int(x[0] + noise) if rng.random() < 0.5 else float(x[1] + noise)


def by_hand(one: Any, two: Any, r: Fraction) -> Fraction:
    """The largest ratio of two mixtures of two-sided geometric laws, over whole numbers far beyond all centers."""

    def mass(mixed: Any, k: int) -> Fraction:
        return sum((chance * r ** abs(k - center) for chance, center in mixed), Fraction(0))

    return max(mass(one, k) / mass(two, k) for k in range(-30, 30))


@pytest.mark.slow
def test_a_mixture_of_geometric_noise_has_its_exact_constant() -> None:
    """Against ratios of the masses at each whole number."""
    tenth, quarter = Fraction(1, 10), Fraction(1, 4)
    cases = [
        (mixed_geometric, (1, 0), (0, 0), [(tenth, 1), (1 - tenth, 0)], [(Fraction(1), 0)], Fraction(1, 2)),
        (mixed_geometric, (0, 0), (1, 0), [(Fraction(1), 0)], [(tenth, 1), (1 - tenth, 0)], Fraction(1, 2)),
        (mixed_far, (1, 0), (0, 1), [(quarter, 3), (3 * quarter, 0)], [(quarter, 0), (3 * quarter, 1)], Fraction(3, 4)),
    ]
    for function, one, two, ours, theirs, ratio in cases:
        laws = [enumerate_law(function, list(x), symbolic=True) for x in (one, two)]
        assert laws[0].against(laws[1]).max_log_ratio().lower == ln(by_hand(ours, theirs, ratio))
        assert laws[0].against(laws[1]).max_log_ratio().is_exact
    bits = ValueLists(values=(0, 1), least=2, most=2)
    assert verify_claim(mixed_geometric, spec_of(bits, "ln(11/10)"), draws=200).outcome is Outcome.VERIFIED
    assert verify_claim(mixed_geometric, spec_of(bits, "0.0953"), draws=200).outcome is Outcome.REFUTED


def test_a_mixture_whose_types_tell_the_coin_is_not_merged() -> None:
    laws = [enumerate_law(two_types, list(x), symbolic=True) for x in ((0, 0), (1, 1))]
    assert laws[0].against(laws[1]).max_log_ratio().upper >= ln(2)


# --- the largest with Gumbel noise ----------------------------------------------------------------


def gumbel_largest(x, rng):
    return int(np.argmax(np.array([x[0], 2 * x[1], 0.5]) + rng.gumbel(0, 2.0, 3)))


def gumbel_larger(x, rng):
    return "first" if x[0] + rng.gumbel(0, 0.5) > x[1] + rng.gumbel(0, 0.5) else "second"


def gumbel_and_a_coin(x, rng):
    place = int(np.argmax(np.array([x[0], x[1], 0]) + rng.gumbel(0, 1.0, 3)))
    return place if rng.random() < 0.5 else 0


def shown_too(x, rng):
    noisy = np.array([x[0], x[1], 0]) + rng.gumbel(0, 1.0, 3)
    return int(np.argmax(noisy)), float(noisy[0])


def smallest(x, rng):
    return int(np.argmin(np.array([x[0], x[1], 0]) + rng.gumbel(0, 1.0, 3)))


def two_scales(x, rng):
    return bool(x[0] + rng.gumbel(0, 1.0) > x[1] + rng.gumbel(0, 2.0))


def used_twice(x, rng):
    noisy = np.array([x[0], x[1], 0]) + rng.gumbel(0, 1.0, 3)
    return int(np.argmax(noisy)), bool(noisy[0] > noisy[1])


def shares(scores: list[float], scale: float) -> list[float]:
    weights = [math.exp(score / scale) for score in scores]
    return [weight / sum(weights) for weight in weights]


def test_the_largest_with_gumbel_noise_has_the_chances_of_the_exponential_mechanism() -> None:
    for x in ((0, 1), (1, 0), (1, 1)):
        known = [
            (gumbel_largest, dict(enumerate(shares([x[0], 2 * x[1], 0.5], 2.0)))),
            (gumbel_larger, dict(zip(("first", "second"), shares([*x], 0.5), strict=True))),
            (gumbel_and_a_coin, {k: p / 2 + (k == 0) / 2 for k, p in enumerate(shares([*x, 0], 1.0))}),
        ]
        for function, wanted in known:
            law = enumerate_law(function, list(x), symbolic=True)
            assert {o: float(law.probability(o)) for o in law.support} == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("function", [shown_too, smallest, two_scales, used_twice], ids=lambda f: f.__name__)
def test_gumbel_noise_that_does_more_than_to_race_stays_noise(function: Any) -> None:
    assert isinstance(enumerate_law(function, [0, 1], symbolic=True), NoisyLaw)


def test_the_exponential_mechanism_by_gumbel_noise_is_verified() -> None:
    bits = ValueLists(values=(0, 1), least=2, most=2)
    assert verify_claim(gumbel_largest, spec_of(bits, 1), draws=200).outcome is Outcome.VERIFIED
    assert verify_claim(gumbel_larger, spec_of(bits, 1), draws=200).outcome is Outcome.REFUTED


# --- claims ---------------------------------------------------------------------------------------


def gaussian_on_a_grid(x, rng):
    return float(np.round((len(x) + rng.normal(0, 0.38)) * 1024) / 1024)


def scale_of_the_data(x, rng):
    return math.floor(100 * rng.laplace(0, 1.0 + 0.01 * x[0]))


def without_a_halt(q, rng):
    at = rng.laplace(scale=2.0)
    return [bool(answer + rng.laplace(scale=4.0) >= at) for answer in q]


def laplace_on_a_grid(x, rng):
    return float(np.round((len(x) + rng.laplace(0, 1.0)) * 1024) / 1024)


def constant_or_rounded(x, rng):
    noisy = round(sum(x) + rng.laplace(scale=1.0), 1)
    return 0.3 if noisy < 0.25 else noisy


def far_away(x, rng):
    noisy = len(x) + rng.laplace(scale=1.0)
    return len(x) if noisy > 60 + len(x) else round(noisy)


LISTS = ValueLists(values=(0, 1), ordered=False)
TENS = ValueLists(values=tuple(range(12)), least=3, most=3)


@pytest.mark.slow
def test_noise_on_a_grid_is_refuted_by_its_law() -> None:
    """delta(10) is 0.0033 where 0.001 is claimed: 10^8 draws would tell."""
    spec = spec_of(LISTS, 10, distance="symmetric-difference", standard="mult-delta", delta="1/1000")
    spec = attrs.evolve(spec, input_divergence=Neighbour(relation=AddRemove()))
    found = verify_claim(gaussian_on_a_grid, spec, draws=4_000)
    assert found.outcome is Outcome.REFUTED
    assert found.method == "exhaustive"
    assert found.witness is not None
    assert found.witness.event is not None
    assert found.witness.event.proves
    assert found.witness.event.text.startswith("out ")
    assert found.witness.event.expression is not None


@pytest.mark.slow
def test_a_scale_that_depends_on_the_data_is_refuted_in_a_space_too_large_to_list() -> None:
    """The ratio in the tail is beyond e^2 where the probability is 10^-9."""
    found = verify_claim(scale_of_the_data, spec_of(TENS, "1/10"), draws=4_000)
    assert (found.outcome, found.method) == (Outcome.REFUTED, "exhaustive")


@pytest.mark.long
def test_a_threshold_that_never_stops_is_refuted() -> None:
    """Six answers with the noise for one: the loss is above 1.3."""
    spec = spec_of(IntegerCounts(length=6, low=-5, high=5), 1, distance="l-infinity")
    found = verify_claim(without_a_halt, spec, draws=4_000)
    assert (found.outcome, found.method) == (Outcome.REFUTED, "exhaustive")


@pytest.mark.slow
@pytest.mark.parametrize("function", [laplace_on_a_grid, constant_or_rounded, far_away], ids=lambda f: f.__name__)
def test_right_code_and_what_no_double_shows_are_not_refuted(function: Any) -> None:
    """The last one tells its count with probability e^-60, which no generator reaches."""
    found = verify_claim(function, spec_of(LISTS, 1, distance="symmetric-difference"), draws=2_000)
    assert found.outcome is not Outcome.REFUTED


def rounded_before_a_threshold(x, rng):
    found = []
    for value in sorted(set(x)):
        noisy = float(np.round((x.count(value) + rng.laplace(0, 1.0)) * 1024) / 1024)
        if noisy > 1 + math.log(50):
            found.append((value, noisy))
    return found


@pytest.mark.long
def test_what_a_fine_grid_adds_refutes_nothing() -> None:
    """P(1 + W > threshold) is 0.01; of the numbers on the grid, 0.010004."""
    spec = spec_of(LISTS, 1, distance="symmetric-difference", standard="mult-delta", delta="1/100")
    spec = attrs.evolve(spec, input_divergence=Neighbour(relation=AddRemove()))
    assert verify_claim(rounded_before_a_threshold, spec, draws=2_000).outcome is Outcome.UNDECIDED
    half = attrs.evolve(spec, output_divergence=type(spec.output_divergence)(delta="1/110"))
    assert verify_claim(rounded_before_a_threshold, half, draws=2_000).outcome is Outcome.REFUTED


@pytest.mark.long
def test_the_chances_of_cells_of_random_programs_are_those_of_the_code() -> None:
    """100 programs on two datasets, 1,000 draws each: false alarms below 10^-9 in all."""
    generator, judged, bounded = random.Random(31), 0, 0
    for _ in range(100):
        text, program = random_program(generator)
        try:
            laws = [enumerate_law(program, list(x), symbolic=True) for x in ((0, 1), (1, 1))]
            cells = in_cells(*laws) if all(isinstance(law, NoisyLaw) for law in laws) else None  # type: ignore[arg-type]
        except (NotEnumerableError, NoCells):
            continue
        if cells is None:
            continue
        judged += 1
        for dataset, law in zip(((0, 1), (1, 1)), cells, strict=True):
            assert not misfits(program, dataset, law, 1_000, 200), text
        try:
            above = laws[0].against(laws[1]).max_log_ratio().upper
        except NoFormulaError:
            continue
        bounded += 1
        assert cells[0].against(cells[1]).max_log_ratio().lower <= above, text
    assert judged > 20
    assert bounded > 5
