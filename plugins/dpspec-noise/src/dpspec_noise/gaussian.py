"""Noise mechanisms: Gaussian on the line and on the integers, Laplace on the line, two-sided geometric on the integers.

Gaussian noise has the lecture's variance and the standard one; Laplace and geometric noise serve pure privacy.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from dpspec_divergences import DNor, Mult, MultDelta
from flint import ctx

from dpspec.plugin import (
    Claim,
    DatasetSpace,
    Exact,
    Items,
    Law,
    Number,
    ParameterError,
    Rational,
    Text,
    define,
    exact,
    grammar,
    laws,
    ln,
    number,
    params,
)
from dpspec_noise.additive import AdditiveNoise
from dpspec_noise.roots import ROOT_BITS, rounded_root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpspec.plugin import Integers, Randomness


_PRECISION = 64


@define
class Gaussian(AdditiveNoise):
    """The Gaussian mechanism: q(x) + N(0, sigma^2), with sigma^2 given or calibrated to (epsilon, delta).

    Calibrations, s the L2 sensitivity:
      * ``lecture``: sigma^2 = (s/epsilon)^2 ln(1/delta), as printed in the lecture notes. The claim printed with it is *false*,
        for instance at epsilon = 0.5, delta = 1e-6, where the true delta is 4.16e-6;
      * ``standard``: sigma^2 = (s/epsilon)^2 2 ln(1.25/delta) (Dwork and Roth 2014, Theorem A.1).
    A calibrated variance is rounded up in its 64th bit, so that it is a rational number.

    Args:
        queries, neighbours, unit: as in `AdditiveNoise`.
        sensitivity: s, the largest L2 change of all answers together between neighbours, in counts (Lecture notes 2025).
        calibration: the formula of the variance, with
        epsilon, delta: the claimed approximate budget; or
        variance: sigma^2 itself, in counts squared; or
        scale: sigma, in counts: a rational or the square root of one. It is kept as the variance.

    >>> from dpspec.plugin import LinearMap
    >>> total = LinearMap(rows=((1, 1, 1),), label="sum")
    >>> Gaussian(queries=(total,), scale=3) == Gaussian(queries=(total,), variance=9)
    True
    >>> for calibration in ("lecture", "standard"):
    ...     mechanism = Gaussian(queries=(total,), epsilon="0.5", delta="1e-6", calibration=calibration)
    ...     print(number(mechanism.sigma_squared()).decimal())
    55.262
    112.309
    """

    name: ClassVar[str] = "gaussian"

    sensitivity: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] = number(1)
    calibration: Annotated[str, Text(("lecture", "standard"))] | None = None
    epsilon: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] | None = None
    delta: Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)] | None = None
    variance: Annotated[Fraction, Rational(0, open_low=True)] | None = None
    scale: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] | None = None

    def __attrs_post_init__(self) -> None:
        if [self.calibration, self.variance, self.scale].count(None) != 2:
            advice = 'write calibration = "standard", variance = "4" or scale = "2"'
            raise ParameterError("gaussian", "needs exactly one of calibration, variance and scale", advice)
        if (self.calibration is None) != (self.epsilon is None) or (self.epsilon is None) != (self.delta is None):
            raise ParameterError("gaussian", "takes epsilon and delta with a calibration, and not with a variance or a scale")
        _square(self.sensitivity, "sensitivity")
        if self.scale is not None:
            restate(self, variance=_square(self.scale, "scale"))

    def sigma_squared(self) -> Fraction:
        """The variance of the noise."""
        if self.variance is not None:
            return self.variance
        assert self.epsilon is not None  # noqa: S101 - checked when made
        assert self.delta is not None  # noqa: S101
        log = ln(1 / self.delta) if self.calibration == "lecture" else ln(Fraction(5, 4) / self.delta) * 2
        with ctx.workprec(_PRECISION):
            ratio = self.sensitivity.enclose(_PRECISION) / self.epsilon.enclose(_PRECISION)
            return exact.dyadic((ratio**2 * log.enclose(_PRECISION)).upper())

    def noise(self, center: int) -> Law:
        return laws.GaussianLaw(center, self.sigma_squared())

    def with_wider_noise(self, factor: Fraction) -> Gaussian:
        variance = self.sigma_squared() * factor**2
        return params.evolve(self, variance=variance, scale=None, calibration=None, epsilon=None, delta=None)

    def structure(self, space: DatasetSpace) -> grammar.Structure | None:
        return self.noisy_answers(space)

    def count_law(self, attributes: Sequence[str], count: int, space: DatasetSpace) -> Law | None:
        return self.noisy_count(attributes, count, space)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """For epsilon < 1 the calibration's theorem as printed, for neighbours; and rho-zCDP, which is true."""
        rho = number(_square(self.sensitivity, "sensitivity") / (2 * self.sigma_squared()))
        concentrated = self._claims(
            "Gaussian noise is rho-zCDP", "Bun and Steinke 2016, Proposition 1.6", space, DNor(), ("rho", rho)
        )
        if self.epsilon is None or self.delta is None or self.epsilon >= 1:
            return concentrated
        source = "Lecture notes 2025, Gaussian mechanism" if self.calibration == "lecture" else "Dwork and Roth 2014, Theorem A.1"
        label = f"the Gaussian mechanism ({self.calibration}) is (epsilon, delta)-DP"
        return self._claims(label, source, space, MultDelta(delta=self.delta), ("epsilon", self.epsilon)) + concentrated


@define
class DiscreteGaussian(AdditiveNoise):
    """Discrete Gaussian noise: P(w) proportional to e^(-w^2/(2 variance)) on the integers (Canonne, Kamath and Steinke 2020).

    It is rho-zCDP with rho = (sum over queries of s_q^2) / (2 variance), s_q the L2 sensitivity of query q.

    Args:
        queries, neighbours, unit: as in `AdditiveNoise`.
        sensitivities: s_q, in the order of the queries; such as "sqrt(2)" for a histogram and one replaced record.
        variance: the parameter sigma^2, in counts squared (the variance of the law is slightly smaller); or
        scale: sigma, in counts: a rational or the square root of one. It is kept as the variance.

    >>> from dpspec.plugin import LinearMap
    >>> from dpspec.plugin import BitVectors
    >>> total = LinearMap(rows=((1, 1, 1),), label="sum")
    >>> mechanism = DiscreteGaussian(queries=(total,), variance=4, sensitivities=(1,), neighbours="differ-in-one-position")
    >>> str(mechanism.claims(BitVectors(length=3))[0].spec.budget)
    'rho = 1/8'
    """

    name: ClassVar[str] = "discrete-gaussian"
    is_whole: ClassVar[bool] = True

    sensitivities: Annotated[tuple[Number, ...], Items(Exact(0, "inf", open_high=True), least=1)]
    variance: Annotated[Fraction, Rational(0, open_low=True)] | None = None
    scale: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] | None = None

    def __attrs_post_init__(self) -> None:
        if (self.variance is None) == (self.scale is None):
            advice = 'write variance = "4" or scale = "2"'
            raise ParameterError("discrete-gaussian", "needs exactly one of variance and scale", advice)
        if self.scale is not None:
            restate(self, variance=_square(self.scale, "scale"))
        if len(self.sensitivities) != len(self.queries):
            raise ParameterError(
                "sensitivities", f"must be as many as the {len(self.queries)} queries", value=len(self.sensitivities)
            )
        self.rho()

    def rho(self) -> Fraction:
        """The concentrated budget: the sum of the squared sensitivities over twice the variance."""
        squares = (_square(s, "sensitivities") for s in self.sensitivities)
        return sum(squares, Fraction(0)) / (2 * self.sigma_squared())

    def sigma_squared(self) -> Fraction:
        """The parameter sigma^2."""
        assert self.variance is not None  # noqa: S101 - restated when made
        return self.variance

    def noise(self, center: int) -> Law:
        return laws.DiscreteGaussianLaw(center, self.sigma_squared())

    def with_wider_noise(self, factor: Fraction) -> DiscreteGaussian:
        return params.evolve(self, variance=self.sigma_squared() * factor**2, scale=None)

    def structure(self, space: DatasetSpace) -> grammar.Structure | None:
        return self.noisy_answers(space)

    def count_law(self, attributes: Sequence[str], count: int, space: DatasetSpace) -> Law | None:
        return self.noisy_count(attributes, count, space)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """rho-zCDP, stated for all pairs."""
        return self._claims(
            "discrete Gaussian noise is rho-zCDP",
            "Canonne, Kamath and Steinke 2020",
            space,
            DNor(),
            ("rho", number(self.rho())),
        )

    release_sorted = AdditiveNoise.by_sorting

    def draw(self, count: int, source: Randomness) -> Integers:
        from dpspec_noise.samplers import BULK, discrete_gaussian, fits, inverted

        law = laws.DiscreteGaussianLaw(0, self.sigma_squared())
        if count >= BULK and fits(law):
            return inverted(law, count, source)
        return discrete_gaussian(source, count, variance=self.sigma_squared())


def restate(noise: AdditiveNoise, **canonical: Any) -> None:
    """Keep a scale as the parameter that means the same, so that noise of one law is equal however it was written."""
    for name, value in ({"scale": None} | canonical).items():
        object.__setattr__(noise, name, value)  # it is being made


def _square(value: Number, subject: str) -> Fraction:
    """The square of a sensitivity, which must be rational."""
    if value.logs or value.is_infinite:
        raise ParameterError(subject, "must be rational or the square root of a rational", value=str(value))
    return value.squared().as_fraction()


# --- Laplace and geometric ------------------------------------------------------------------------


@define
class Laplace(AdditiveNoise):
    """The Laplace mechanism: q(x) + Lap(b), b = sensitivity/epsilon, density e^(-|w|/b)/(2b)
    (Dwork, McSherry, Nissim and Smith 2006).

    Args:
        queries, neighbours, unit: as in `AdditiveNoise`.
        sensitivity: the largest L1 change of all answers together between neighbours, in counts (Lecture notes 2025).
        epsilon: the claimed pure budget; or
        scale: b, in counts; the budget is then sensitivity/b; or
        variance: 2 b^2, in counts squared. Both are kept as epsilon.

    >>> from dpspec.plugin import LinearMap
    >>> from dpspec.plugin import BitVectors
    >>> space, total = BitVectors(length=3), LinearMap(rows=((1, 1, 1),), label="sum")
    >>> str(Laplace(queries=(total,), scale=2).epsilon), str(Laplace(queries=(total,), variance=8).epsilon)
    ('1/2', '1/2')
    >>> mechanism = Laplace(queries=(total,), epsilon="1/2", neighbours="differ-in-one-position")
    >>> str(Mult().between(mechanism.law((0, 0, 0), space), mechanism.law((0, 1, 1), space)))
    '1'
    """

    name: ClassVar[str] = "laplace"

    sensitivity: Annotated[Fraction, Rational(0, open_low=True)] = Fraction(1)
    epsilon: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] | None = None
    scale: Annotated[Fraction, Rational(0, open_low=True)] | None = None
    variance: Annotated[Fraction, Rational(0, open_low=True)] | None = None

    def __attrs_post_init__(self) -> None:
        if [self.epsilon, self.scale, self.variance].count(None) != 2:
            advice = 'write epsilon = "1/2" or scale = "2"'
            raise ParameterError("laplace", "needs exactly one of epsilon, scale and variance", advice)
        if self.scale is not None:
            restate(self, epsilon=number(self.sensitivity / self.scale))
        elif self.variance is not None:
            restate(self, epsilon=exact.sqrt(2 * self.sensitivity**2 / self.variance), variance=None)

    def budget(self) -> Number:
        """The claimed pure budget."""
        assert self.epsilon is not None  # noqa: S101 - restated when made
        return self.epsilon

    def noise(self, center: int) -> Law:
        return laws.LaplaceLaw.with_decay(center, self.budget() * (1 / self.sensitivity))

    def degrades(self, parameter: str, to: Any) -> str | None:
        """Laplace noise of a larger scale is that of a smaller one plus independent noise, which is 0 or Laplace itself."""
        return "more noise added" if parameter == "epsilon" and 0 < to <= self.budget() else None

    def with_wider_noise(self, factor: Fraction) -> Laplace:
        return params.evolve(self, epsilon=self.budget() * (1 / factor), scale=None, variance=None)

    def structure(self, space: DatasetSpace) -> grammar.Structure | None:
        return self.noisy_answers(space)

    def count_law(self, attributes: Sequence[str], count: int, space: DatasetSpace) -> Law | None:
        return self.noisy_count(attributes, count, space)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """epsilon-DP."""
        return self._claims(
            "the Laplace mechanism is epsilon-DP",
            "Dwork, McSherry, Nissim and Smith 2006",
            space,
            Mult(),
            ("epsilon", self.budget()),
        )


@define
class Geometric(AdditiveNoise):
    """Two-sided geometric noise: P(w) = (1-r)/(1+r) r^|w|, r = e^(-epsilon/sensitivity).

    Args:
        queries, neighbours, unit: as in `AdditiveNoise`.
        sensitivity: the largest L1 change of all answers together between neighbours, in counts (Lecture notes 2025).
        epsilon: the claimed pure budget, or
        ratio: r, in (0, 1); the budget is then sensitivity ln(1/r); or
        scale: that of Laplace noise, in counts: r = e^(-1/scale). It is kept as epsilon.

    >>> from dpspec.plugin import LinearMap
    >>> from dpspec.plugin import BitVectors
    >>> space, total = BitVectors(length=3), LinearMap(rows=((1, 1, 1),), label="sum")
    >>> mechanism = Geometric(queries=(total,), ratio="1/2", neighbours="differ-in-one-position")
    >>> str(mechanism.claims(space)[0].spec.budget)
    'epsilon = ln(2)'
    """

    name: ClassVar[str] = "geometric"
    is_whole: ClassVar[bool] = True

    sensitivity: Annotated[Fraction, Rational(0, open_low=True)] = Fraction(1)
    epsilon: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)] | None = None
    ratio: Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)] | None = None
    scale: Annotated[Fraction, Rational(0, open_low=True)] | None = None

    def __attrs_post_init__(self) -> None:
        if [self.epsilon, self.ratio, self.scale].count(None) != 2:
            advice = 'write epsilon = "1/2", ratio = "3/5" or scale = "2"'
            raise ParameterError("geometric", "needs exactly one of epsilon, ratio and scale", advice)
        if self.scale is not None:
            restate(self, epsilon=number(self.sensitivity / self.scale))

    def decay(self) -> Number:
        """ln(1/r), the loss of one step of the noise."""
        if self.ratio is not None:
            return ln(1 / self.ratio)
        assert self.epsilon is not None  # noqa: S101 - just checked
        return self.epsilon * (1 / self.sensitivity)

    def noise(self, center: int) -> Law:
        return laws.TwoSidedGeometricLaw(center, self.decay())

    def degrades(self, parameter: str, to: Any) -> str | None:
        """Two-sided geometric noise of a larger r is that of a smaller one plus independent noise: its generating function is
        divisible by the other, and the quotient has no negative weight."""
        more = {"epsilon": lambda: self.epsilon is not None and 0 < to <= self.epsilon,
                "ratio": lambda: self.ratio is not None and self.ratio <= to < 1}  # fmt: skip
        return "more noise added" if more.get(parameter, lambda: False)() else None

    def with_wider_noise(self, factor: Fraction) -> Geometric:
        """r becomes r^(1/factor), rounded up; a budget is divided exactly."""
        if self.ratio is None:
            return params.evolve(self, epsilon=self.decay() * self.sensitivity * (1 / factor), scale=None)
        return params.evolve(self, ratio=min(rounded_root(self.ratio, factor), 1 - Fraction(1, 1 << ROOT_BITS)))

    def structure(self, space: DatasetSpace) -> grammar.Structure | None:
        return self.noisy_answers(space)

    def count_law(self, attributes: Sequence[str], count: int, space: DatasetSpace) -> Law | None:
        return self.noisy_count(attributes, count, space)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """epsilon-DP with epsilon = sensitivity ln(1/r) (Ghosh, Roughgarden and Sundararajan 2009)."""
        budget = ("epsilon", self.decay() * self.sensitivity)
        return self._claims(
            "two-sided geometric noise is epsilon-DP", "Ghosh, Roughgarden and Sundararajan 2009", space, Mult(), budget
        )

    release_sorted = AdditiveNoise.by_sorting

    def draw(self, count: int, source: Randomness) -> Integers:
        from dpspec_noise.samplers import BULK, discrete_laplace, fits, inverted, two_sided_geometric, wide_two_sided_geometric

        law = laws.TwoSidedGeometricLaw(0, self.decay())
        exact_by_rejection = law.ratio is not None or law.decay.is_rational
        if fits(law) and (count >= BULK or not exact_by_rejection):
            return inverted(law, count, source)
        if law.ratio is not None:
            return two_sided_geometric(source, count, ratio=law.ratio)
        if law.decay.is_rational:
            return discrete_laplace(source, count, scale=1 / law.decay.as_fraction())
        return wide_two_sided_geometric(source, count, decay=law.decay)


# --- staircases -----------------------------------------------------------------------------------


@define
class Staircase(AdditiveNoise):
    """Noise whose density falls in steps: e^-(epsilon k) at a distance of k steps, one step less in the outer part of each
    (Geng and Viswanath 2014).

    One answer that changes by at most `width` loses epsilon, whatever it changes by; with the best `inner` no noise for it has a
    smaller mean. Losses do not shrink with the change, as those of Laplace noise do: k answers that move by width/k each
    lose k epsilon together.

    Args:
        queries, neighbours, unit: as in `AdditiveNoise`.
        width: the width of a step in counts: by so much one answer changes at most.
        inner: the width of the first, higher part of each step; on the line 1/(1 + e^(epsilon/2)) of the width is best.
        epsilon: the loss of one step, such that e^epsilon is an exact number.
        on_line: whether the noise is a number of the line and not a whole one. It is not released then.

    >>> from dpspec.plugin import BitVectors, LinearMap
    >>> twice = Staircase(queries=(LinearMap(rows=((2, 2),), label="sum"),), width=2, inner=1, epsilon="ln(3)")
    >>> str(Mult().between(twice.law((0, 0), BitVectors(length=2)), twice.law((0, 1), BitVectors(length=2))))
    'ln(3)'
    """

    name: ClassVar[str] = "staircase"

    width: Annotated[Fraction, Rational(0, open_low=True)]
    inner: Annotated[Fraction, Rational(0, open_low=True)]
    epsilon: Annotated[Number, Exact(0, "inf", open_low=True, open_high=True)]
    on_line: Annotated[bool, params.Truth()] = False

    def __attrs_post_init__(self) -> None:
        self.noise(0)

    @property
    def is_whole(self) -> bool:  # type: ignore[override]  # as the parameters say
        return not self.on_line

    def noise(self, center: int) -> Law:
        return laws.StaircaseLaw(center, self.width, self.inner, self.epsilon, is_whole=self.is_whole)

    def structure(self, space: DatasetSpace) -> grammar.Structure | None:
        return self.noisy_answers(space)

    def count_law(self, attributes: Sequence[str], count: int, space: DatasetSpace) -> Law | None:
        return self.noisy_count(attributes, count, space)

    release_sorted = AdditiveNoise.by_sorting

    def draw(self, count: int, source: Randomness) -> Integers:
        from dpspec_noise.samplers import coins_of, staircase

        if self.on_line:
            return AdditiveNoise.draw(self, count, source)
        fall = laws.exact_exponential(-self.epsilon)
        return staircase(
            source,
            count,
            width=int(self.width),
            inner=int(self.inner),
            epsilon=self.epsilon,
            falls=lambda active: coins_of(source, fall, active),
        )
