"""Training runs with differentially private gradient descent: what they promise, and the noise, rate or steps for a target.

In each step every record takes part with a probability, independently of all others; the gradients of those that do are cut to an
l2 norm of at most `clip` and added up, with Gaussian noise of standard deviation `noise_multiplier` x `clip` on each number
(Abadi et al. 2016, Algorithm 1). One record moves such a sum by at most `clip`. Measured in units of `clip`, along the line on
which it moves, a step is a count of records with noise of standard deviation `noise_multiplier`. Gaussian laws with a smaller
difference of means can be simulated from those with difference `clip`, and pairs that dominate each step, for every history,
dominate all steps together (Zhu, Dong and Wang 2022, Theorems 10 and 11). So what is proved of the counts holds for the training
run.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from dpspec_divergences import MultDelta
from dpspec_noise import Gaussian, RepeatedMechanism

from dpspec import CommandAnswer
from dpspec.plugin import (
    Attribute,
    Bracket,
    Exact,
    Integer,
    Number,
    ParameterError,
    Rational,
    UnorderedRecords,
    blocks,
    errors,
    exact,
    laws,
    number,
)
from dpspec.plugin.applications import as_document, to_toml, write_whole
from dpspec_flavours.secrets.averages import Subsampled

if TYPE_CHECKING:
    from dpspec import SpecDocument

MOST_STEPS = 10**7
_DIGITS = 1000
"""Noise multipliers are multiples of 1/1000, and rates of 1/1000 of the next power of ten below them."""
_MOST_NOISE = 1 << 20
_WRITTEN_OUT = 10**12
"""Numbers from here on are rounded where they are printed."""


def sgd(
    *,
    steps: int,
    rate: exact.NumberLike,
    noise_multiplier: exact.NumberLike,
    clip: exact.NumberLike = 1,
    delta: exact.NumberLike = "1e-5",
    epsilon: exact.NumberLike | None = None,
) -> SpecDocument:
    """State a training run with differentially private gradient descent, which `verify` proves or refutes.

    Args:
        steps: how many gradient steps.
        rate: the probability with which each record takes part in a step, independently of all others (Poisson sampling).
            Batches of a fixed size, or of a shuffled dataset, are other mechanisms, to which the statement does not apply.
        noise_multiplier: the standard deviation of the noise, in units of `clip`.
        clip: the largest l2 norm of the gradient of one record; the promise does not depend on it.
        delta: of (epsilon, delta), for one record added or removed.
        epsilon: the budget that is claimed; without it, the least one that is proved, rounded up to four decimals.

    Returns:
        the five blocks with the mechanism: `verify(sgd(...))` judges it.

    Raises:
        ParameterError: numbers outside of their ranges.

    >>> run = sgd(steps=1_000, rate="1/100", noise_multiplier=4)
    >>> print(run.spec.budget)
    epsilon = 1361/5000
    """
    count, share, noise = _steps(steps), _rate(rate), _noise(noise_multiplier)
    Rational(0, open_low=True).read(clip, "clip")
    allowed = _delta(delta)
    if epsilon is None:
        upper = _spent(count, share, noise, allowed).upper
        if upper.is_infinite:
            raise ParameterError("epsilon", "has no finite bound that is proved for this run", "choose more noise or fewer steps")
        epsilon = number(Fraction(-(-upper.as_fraction() * 10_000 // 1), 10_000))
    step: Any = Gaussian(queries=(blocks.Marginal(attributes=(), unit=_UNIT),), unit=_UNIT, variance=noise**2)
    step = step if share == 1 else Subsampled(mechanism=step, rate=share)
    mechanism = step if count == 1 else RepeatedMechanism(mechanism=step, times=count)
    space = UnorderedRecords(attributes=(Attribute(name="kind", categories=("a", "b")),), unit=_UNIT)
    from dpspec import spec

    promise = spec(space=space, distance="add-remove", unit=_UNIT, standard="approximate", epsilon=epsilon, delta=allowed)
    return as_document(promise, "training", mechanism=mechanism)


_UNIT = "example"


@attrs.frozen(kw_only=True)
class Calibration:
    """A training run within a target.

    Args:
        found: which number was looked for: noise_multiplier, rate or steps.
        value: that number, on the safe side.
        epsilon: what the run spends with it at delta, with both ends proved.
        delta: of (epsilon, delta).
        target: the target epsilon.
        steps, rate, noise_multiplier: the run, with the computed number.
        run: the statement of the run, with the target as its budget.
    """

    found: str
    value: Fraction
    epsilon: Bracket
    delta: Fraction
    target: Number
    steps: int
    rate: Fraction
    noise_multiplier: Fraction
    run: SpecDocument

    @property
    def is_cut(self) -> bool:
        """Whether the search ended at its largest number of steps, with the run still within the target."""
        return self.found == "steps" and self.value == MOST_STEPS

    def in_words(self) -> str:
        """The answer, what it spends, and of which mechanism that is true."""
        lower, upper = self.epsilon.ends()
        largest = ", the largest number that is searched; more may be within the target" if self.is_cut else ""
        lines = [
            f"{self.found} = {_short(self.value)}{largest}",
            f"  epsilon    between {lower} and {upper} at delta = {_short(self.delta)}, target {self.target}",
            f"  run        {self.steps:,} steps, rate {_short(self.rate)}, noise multiplier {_short(self.noise_multiplier)}",
            "  neighbours one record added or removed",
            "  sampler    each record takes part in each step with probability `rate`, independently of all others",
        ]
        return "\n".join(lines)

    def data(self) -> dict[str, Any]:
        """The same for machines."""
        lower, upper = self.epsilon.ends()
        return {
            "found": self.found, "value": str(self.value), "epsilon": [lower, upper], "delta": str(self.delta),
            "target": str(self.target), "steps": self.steps, "rate": str(self.rate),
            "noise_multiplier": str(self.noise_multiplier), "sampler": "poisson", "neighbours": "add-remove",
        }  # fmt: skip


def calibrate(
    *,
    epsilon: exact.NumberLike,
    delta: exact.NumberLike = "1e-5",
    steps: int | None = None,
    rate: exact.NumberLike | None = None,
    noise_multiplier: exact.NumberLike | None = None,
) -> CommandAnswer:
    """Find the least noise, the largest rate, or the most steps of a training run within (epsilon, delta), by bisection.

    Each candidate is accepted only if the proved upper end of its epsilon is within the target. Nothing is said of a run whose
    batches are drawn in another way, such as from a shuffled dataset.

    Args:
        epsilon, delta: the target, for one record added or removed.
        steps, rate, noise_multiplier: as for `sgd`; exactly one of them is left out, and found. Noise multipliers are found to
            1/1000, rates to three digits.

    Returns:
        `value` has the number that was found, the epsilon that is spent, and the statement of the run.

    Raises:
        ParameterError: not exactly one number is left out, or none is within the target.

    >>> found = calibrate(epsilon=2, delta="1e-5", steps=1_000, rate="1/100").value
    >>> str(found.value), found.epsilon.upper <= 2
    ('24/25', True)
    """
    given = {"noise_multiplier": noise_multiplier, "rate": rate, "steps": steps}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        rule = "finds exactly one of noise_multiplier, rate and steps"
        advice = "leave out the one to find and give the other two"
        raise ParameterError("calibrate", rule, advice, value=", ".join(missing) or "nothing to find")
    target, allowed = _target(epsilon), _delta(delta)
    known = {
        "noise_multiplier": None if noise_multiplier is None else _noise(noise_multiplier),
        "rate": None if rate is None else _rate(rate),
        "steps": None if steps is None else Fraction(_steps(steps)),
    }

    def run_with(value: Fraction) -> tuple[int, Fraction, Fraction]:
        at = {**known, missing[0]: value}
        return int(at["steps"] or 0), at["rate"] or Fraction(1), at["noise_multiplier"] or Fraction(1)

    def spent(value: Fraction) -> Bracket:
        return _spent(*run_with(value), allowed)

    def within(value: Fraction) -> bool:
        try:
            return _is_within(*run_with(value), target, allowed)
        except errors.NoFormulaError:  # noise that is too small for doubles
            return False

    search = _SEARCHES[missing[0]]
    value = search(within)
    found_epsilon = None if value is None else spent(value)
    if found_epsilon is not None and not found_epsilon.upper <= target:  # `verify` finds the epsilon at delta, as `spent` does
        value = search(lambda candidate: within(candidate) and spent(candidate).upper <= target)
        found_epsilon = None if value is None else spent(value)
    if value is None or found_epsilon is None:
        rule = "has no value with which the run is proved to be within the target"
        raise ParameterError(missing[0], rule, "allow a larger epsilon or delta, or change the other numbers")
    count, share, noise = run_with(value)
    run = sgd(steps=count, rate=share, noise_multiplier=noise, delta=allowed, epsilon=target)
    found = Calibration(
        found=missing[0], value=value, epsilon=found_epsilon, delta=allowed, target=target, steps=count, rate=share,
        noise_multiplier=noise, run=run,
    )  # fmt: skip
    return CommandAnswer("calibrate", 0, found.data(), found.in_words, value=found)


def write_run(found: Calibration, path: str) -> None:
    """Write the run as a specification file, whole or not at all.

    Args:
        found: what `calibrate` found.
        path: the file; its name up to the first dot is the id of the specification, as far as ids are made of its letters.

    Raises:
        ReleaseError: it cannot be written there.
    """
    from dpspec import installed

    title = f"{found.steps:,} steps, rate {_short(found.rate)}, noise multiplier {_short(found.noise_multiplier)}"
    name = "-".join(re.findall("[a-z0-9]+", Path(path).name.split(".", 1)[0].lower())) or "training"
    run = attrs.evolve(found.run, id=name, title=title)
    write_whole(Path(path), to_toml(run, installed().registry))


def _pair(steps: int, rate: Fraction, noise: Fraction) -> laws.Dichotomy:
    """The laws of all steps without and with one record."""
    return laws.power(laws.sampled(laws.GaussianShift(number(1 / noise**2)), rate), steps)


def _spent(steps: int, rate: Fraction, noise: Fraction, delta: Fraction) -> Bracket:
    """The epsilon of all steps at delta, the larger one of a record added and a record removed."""
    return MultDelta(delta=delta).evaluate(_pair(steps, rate, noise))


_PRECISIONS = (16, 64)
"""A coarse grid decides candidates away from the target in a hundredth of the time."""


def _is_within(steps: int, rate: Fraction, noise: Fraction, target: Number, delta: Fraction) -> bool:
    """Whether delta is proved at the target epsilon, for a record added and a record removed.

    One point of each curve, where `_spent` looks for the point at which the curve crosses delta.
    """
    added = _pair(steps, rate, noise)
    removed = added.reverse()
    for precision in _PRECISIONS:
        points = [pair.hockey_stick(target, precision=precision) for pair in (added, removed)]
        if all(point.upper <= delta for point in points):
            return True
        if any(point.lower > delta for point in points):
            return False
    return False


Holds = Callable[[Fraction], bool]


def _least_noise(holds: Holds) -> Fraction | None:
    high = 1
    while not holds(Fraction(high)):
        high *= 2
        if high > _MOST_NOISE:
            return None
    low = 0 if high == 1 else high * _DIGITS // 2
    return Fraction(_least(lambda at: holds(Fraction(at, _DIGITS)), low, high * _DIGITS), _DIGITS)


def _largest_rate(holds: Holds) -> Fraction | None:
    if holds(Fraction(1)):
        return Fraction(1)
    unit = Fraction(1, 10)
    while not holds(unit):
        unit /= 10
        if unit < Fraction(1, 10**9):
            return None
    return unit * Fraction(_least(lambda at: not holds(unit * Fraction(at, 100)), 100, 1_000) - 1, 100)


def _most_steps(holds: Holds) -> Fraction | None:
    if not holds(Fraction(1)):
        return None
    low, high = 1, 2
    while holds(Fraction(high)):
        if high == MOST_STEPS:
            return Fraction(high)
        low, high = high, min(2 * high, MOST_STEPS)
    return Fraction(_least(lambda at: not holds(Fraction(at)), low, high) - 1)


_SEARCHES: dict[str, Callable[[Holds], Fraction | None]] = {
    "noise_multiplier": _least_noise,
    "rate": _largest_rate,
    "steps": _most_steps,
}


def _least(holds: Callable[[int], bool], low: int, high: int) -> int:
    """A whole number above `low` at which something holds that does not hold at the one before, up to `high`, where it does."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _steps(value: Any) -> int:
    return int(Integer(1, MOST_STEPS).read(value, "steps"))


def _rate(value: exact.NumberLike) -> Fraction:
    found: Fraction = Rational(0, 1, open_low=True).read(value, "rate")
    return found


def _noise(value: exact.NumberLike) -> Fraction:
    found: Fraction = Rational(0, open_low=True).read(value, "noise_multiplier")
    return found


def _target(value: exact.NumberLike) -> Number:
    found: Number = Exact(0, "inf", open_high=True).read(value, "epsilon")
    return found


def _short(value: Fraction) -> str:
    """The number itself where it is a multiple of 1/1000, as noise multipliers that are found are; otherwise six digits."""
    return f"{_exact(value):f}" if (value * _DIGITS).denominator == 1 and value < _WRITTEN_OUT else number(value).decimal()


def _exact(value: Fraction) -> Decimal:
    return (Decimal(value.numerator) / value.denominator).normalize()


def _delta(value: exact.NumberLike) -> Fraction:
    found: Fraction = Rational(0, 1, open_low=True, open_high=True).read(value, "delta")
    return found
