"""The model `mean-and-variance`: mean and variance of bounded data, from a noisy mean and a noisy sample variance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from dpspec.plugin import Floats, Nested, ParameterError, Rational, Text, define, errors, is_a, late_module
from dpspec_inference.mechanisms import LaplaceMoments
from dpspec_inference.model import (
    Estimate,
    Inference,
    InferenceModel,
    Posterior,
    ReleasedData,
    Simulation,
    Value,
    beyond_invariants,
    misfit,
    of_nodes,
)
from dpspec_inference.moments import (
    JEFFREYS,
    UNIFORM,
    Bounds,
    Informative,
    MomentPrior,
    NoisyMoments,
    check_proper,
    sample_variance_limit,
    variance_limit,
)
from dpspec_inference.quadrature import Grid, constrained, unconstrained

if TYPE_CHECKING:
    from numpy.random import Generator
else:
    Generator = late_module("numpy.random")

ANALYSES = {"both": (False, True), "unconstrained": (False,), "constrained": (True,)}
POINTS, CONSTRAINED_POINTS, COARSE, FINE = 500, 64, 28, 2000
"""Nodes of the grids in each dimension, at which the error is stated by comparison with three quarters as many."""
MOST_TRIES = 100_000


@define
class BoundedPrior:
    """The prior of (mu, sigma^2): uniform, 1/sigma^2, or informative (Kazan 2025, equation 4.2 and Section 4.4.1).

    Args:
        type: uniform; jeffreys, which is 1/sigma^2; or informative: sigma^2 ~ IG(w/2, w v/2), mu | sigma^2 ~ N(m, sigma^2/k).
        mean, variance: m and v of the informative prior, in the unit of the data.
        mean_weight, variance_weight: k and w, in observations.
    """

    type: Annotated[str, Text(("uniform", "jeffreys", "informative"))] = "uniform"
    mean: Annotated[Fraction, Rational()] | None = None
    variance: Annotated[Fraction, Rational(0, open_low=True)] | None = None
    mean_weight: Annotated[Fraction, Rational(0, open_low=True)] = Fraction(1)
    variance_weight: Annotated[Fraction, Rational(0, open_low=True)] = Fraction(1)

    def __attrs_post_init__(self) -> None:
        if (self.type == "informative") != (self.mean is not None and self.variance is not None):
            rule = "goes with mean and variance, and they with it alone"
            raise ParameterError("type informative", rule, 'write type = "informative", mean = 12, variance = 14')

    def inside(self, bounds: Bounds) -> MomentPrior:
        """The prior on [0, 1]."""
        if self.mean is None or self.variance is None:
            return JEFFREYS if self.type == "jeffreys" else UNIFORM
        return Informative(
            mean=bounds.mean_inside(float(self.mean)),
            variance=bounds.variance_inside(float(self.variance)),
            mean_weight=float(self.mean_weight),
            variance_weight=float(self.variance_weight),
        )

    def __str__(self) -> str:
        if self.mean is None:
            return {"jeffreys": "1/sigma^2"}.get(self.type, "uniform in mu and sigma^2")
        weights = f"weights {self.mean_weight} and {self.variance_weight}"
        return f"informative: mean {self.mean}, variance {self.variance}, {weights}"


@define
class MeanAndVariance(InferenceModel):
    """Mean and variance of bounded data, from a noisy mean and a noisy sample variance (Kazan 2025, chapter 4).

    The values are taken to be normal: the sample mean is N(mu, sigma^2/n), and (n - 1) S^2 / sigma^2 is chi^2(n - 1). The
    unconstrained analysis stops there. The constrained one restricts parameters and statistics to what values in [a, b] allow.

    Args:
        prior: of (mu, sigma^2).
        analysis: unconstrained, constrained, or both.
        level: of the posterior intervals.
    """

    name: ClassVar[str] = "mean-and-variance"
    title: ClassVar[str] = "mean and variance of bounded data, from a noisy mean and a noisy sample variance"
    source: ClassVar[str] = "Kazan 2025, Section 4.3 and Theorems 17 and 18"

    prior: Annotated[BoundedPrior, Nested(BoundedPrior)] = BoundedPrior()
    analysis: Annotated[str, Text(tuple(ANALYSES))] = "both"
    level: Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)] = Fraction(19, 20)

    def infer(self, released: ReleasedData) -> Inference:
        data, bounds, mechanism = self._data(released)
        prior = self.prior.inside(bounds)
        kinds = ANALYSES[self.analysis]
        proper = [check_proper(prior, data.n, constrained=kind) for kind in kinds]
        if self.analysis == "both":
            proper = [f"unconstrained: {proper[0]}", f"constrained: {proper[1]}"]
        posteriors: list[Posterior] = []
        facts: list[tuple[str, Value]] = [("values", Fraction(data.n))]
        gaps = np.zeros(3)
        for kind in kinds:
            fine, coarse = (
                (constrained if kind else unconstrained)(data, prior, points=points)
                for points in ((CONSTRAINED_POINTS, CONSTRAINED_POINTS * 3 // 4) if kind else (POINTS, POINTS * 3 // 4))
            )
            found, other = (self._posteriors(grid, bounds, kind=kind) for grid in (fine, coarse))
            posteriors += found
            gaps = np.maximum(gaps, [*map(_gap, found, other), abs(fine.infeasible - coarse.infeasible)])
            if not kind:
                facts.append(("posterior probability that mean and variance fit no values between the bounds", fine.infeasible))
        scales = bounds.noise_scales(data.n, data.epsilon_mean, data.epsilon_variance)
        over = "noise alone"
        return Inference(
            law=f"Laplace noise of the scales {scales[0]:.6g} on the mean and {scales[1]:.6g} on the sample variance",
            prior=str(self.prior),
            proper="; ".join(proper),
            estimates=(
                Estimate(name="sample mean", value=released.number("mean"), variance=2 * scales[0] ** 2, over=over),
                Estimate(name="sample variance", value=released.number("variance"), variance=2 * scales[1] ** 2, over=over),
            ),
            posteriors=tuple(sorted(posteriors, key=lambda one: one.name.startswith("variance"))),
            facts=tuple(facts),
            level=self.level,
            method="quadrature, without simulation",
            error=(
                f"grids of three quarters of the points differ by {gaps[0]:.1e} in a mean or an end of its interval, "
                f"{gaps[1]:.1e} in a variance or an end of its interval, {gaps[2]:.1e} in a probability"
            ),
            assumptions=(
                "sample mean and sample variance have the laws of independent normal values; the constrained analysis restricts "
                "these laws, and the parameters, to what values between the bounds allow",
                f"sigma^2 is below {bounds.variance_outside(data.variance_cap):.6g}, where the law of a noisy variance is a "
                "mixture of gamma laws (Kazan 2025, Theorem 19)",
                *beyond_invariants(released, self.name, [mechanism.attribute]),
            ),
        )

    def _posteriors(self, grid: Grid, bounds: Bounds, *, kind: bool) -> list[Posterior]:
        words = "constrained" if kind else "unconstrained"
        of_mean, of_variance = refined(grid) if kind else ((grid.mu, grid.mass), (grid.s2, grid.mass))
        return [
            of_nodes(f"mean, {words}", bounds.mean_outside(of_mean[0]), of_mean[1], self.level),
            of_nodes(f"variance, {words}", bounds.variance_outside(of_variance[0]), of_variance[1], self.level),
        ]

    def posteriors_of(self, many: Sequence[ReleasedData]) -> Sequence[tuple[Posterior, ...]]:
        """On coarse grids, which calibration does not distinguish from fine ones."""
        found = []
        for released in many:
            data, bounds, _ = self._data(released)
            prior, row = self.prior.inside(bounds), list[Posterior]()
            for kind in ANALYSES[self.analysis]:
                check_proper(prior, data.n, constrained=kind)
                grid = constrained(data, prior, points=COARSE) if kind else unconstrained(data, prior, points=4 * COARSE)
                row += self._posteriors(grid, bounds, kind=kind)
            found.append(tuple(row))
        return found

    def _data(self, released: ReleasedData) -> tuple[NoisyMoments, Bounds, LaplaceMoments]:
        mechanism = released.mechanism
        if not is_a(mechanism, LaplaceMoments):
            raise misfit(self.name, mechanism, "use laplace-moments")
        assert isinstance(mechanism, LaplaceMoments)  # noqa: S101 - checked above
        size = mechanism.size(released.spec.space)
        if "n" in released.numbers and released.numbers["n"] != size:
            rule = f"is of {released.numbers['n']} values, and the specification is of {size}"
            raise errors.TableError("RELEASE", rule, "give the release of this specification")
        bounds, width = Bounds(low=float(mechanism.low), high=float(mechanism.high)), mechanism.high - mechanism.low
        data = NoisyMoments.on(
            bounds,
            mean=released.double("mean", width, mechanism.low),
            variance=released.double("variance", width**2),
            n=size,
            epsilon_mean=float(mechanism.epsilon_mean),
            epsilon_variance=float(mechanism.epsilon_variance),
        )
        return data, bounds, mechanism

    def simulate(self, released: ReleasedData, source: Generator) -> Simulation | None:
        """From the joint law of one analysis; the constrained one by rejection of what values in [a, b] do not allow."""
        data, bounds, _ = self._data(released)
        prior, kinds = self.prior.inside(bounds), ANALYSES[self.analysis]
        is_proper = isinstance(prior, Informative) or (prior == UNIFORM and kinds == (True,))
        if len(kinds) != 1 or not is_proper:
            return None
        for _ in range(MOST_TRIES):
            mu, s2 = _drawn(prior, source)
            mean = source.normal(mu, np.sqrt(s2 / data.n))
            variance = source.gamma(data.shape, s2 / data.shape)
            fits = 0 <= s2 <= variance_limit(mu) and variance <= sample_variance_limit(mean, data.n)
            if s2 < data.variance_cap and (fits or not kinds[0]):
                break
        else:
            return None
        released_mean = mean + source.laplace(0, 1 / data.mean_rate)
        released_variance = variance + source.laplace(0, 1 / data.variance_rate)
        words = "constrained" if kinds[0] else "unconstrained"
        numbers: Mapping[str, Fraction] = {
            "mean": Fraction(bounds.mean_outside(released_mean)),
            "variance": Fraction(bounds.variance_outside(released_variance)),
        }
        return Simulation(
            truth={f"mean, {words}": bounds.mean_outside(mu), f"variance, {words}": bounds.variance_outside(s2)},
            released=ReleasedData(spec=released.spec, mechanism=released.mechanism, numbers=numbers),
        )

    @classmethod
    def examples(cls) -> Iterator[tuple[InferenceModel, ReleasedData]]:
        import dpspec as dp

        document = dp.build(
            space={"type": "ordered-records", "attributes": [{"name": "v", "count": 11}], "least": 12, "most": 12},
            input_divergence={"type": "hamming-ordered", "unit": "person"},
            output_divergence={"type": "mult"},
            budget={"epsilon": 4},
            mechanism={"type": "laplace-moments", "attribute": "v", "high": 10, "epsilon_mean": 2, "epsilon_variance": 2},
        )
        assert document.mechanism is not None  # noqa: S101 - stated above
        numbers = {"mean": Fraction(4), "variance": Fraction(3)}
        released = ReleasedData(spec=document.spec, mechanism=document.mechanism, numbers=numbers)
        weak = BoundedPrior(
            type="informative", mean=Fraction(4), variance=Fraction(4), mean_weight=Fraction(4), variance_weight=Fraction(12)
        )
        yield cls(analysis="constrained"), released
        yield cls(analysis="constrained", prior=weak), released


def refined(grid: Grid) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Means, and variances, with masses on fine grids: by the polynomials through the density at the nodes of a constrained grid.

    Those nodes are Gauss nodes of sigma, and of mu for each sigma. They are too few for a distribution function, whose tails
    would be off by some percent.
    """
    count = len(grid.mass)
    nodes, _ = np.polynomial.legendre.leggauss(count)
    transform = (np.arange(count) + 0.5)[:, None] * np.polynomial.legendre.legvander(nodes, count - 1).T
    ends = np.linspace(-1, 1, FINE + 1)
    middles = (ends[1:] + ends[:-1]) / 2

    def integral(series: Floats, at: Floats) -> Floats:
        found = np.polynomial.legendre.legint(series, lbnd=-1, axis=0)
        return np.asarray(np.polynomial.legendre.legval(at, found, tensor=False))

    top = 2 * np.sqrt(grid.s2[-1, 0]) / (nodes[-1] + 1)
    of_variance = np.diff(integral(transform @ grid.mass.sum(axis=1), ends))
    halves = (grid.mu[:, -1] - 0.5) / nodes[-1]
    widest = halves.max()
    inside = np.clip(ends[:, None] * widest / np.maximum(halves, 1e-300), -1, 1)
    of_mean = np.diff(integral(transform @ grid.mass.T, inside).sum(axis=1))
    means, variances = 0.5 + widest * middles, (top * (middles + 1) / 2) ** 2
    return (means, np.maximum(of_mean, 0.0)), (variances, np.maximum(of_variance, 0.0))


def _drawn(prior: MomentPrior, source: Generator) -> tuple[float, float]:
    if not isinstance(prior, Informative):  # uniform on the feasible set
        while True:
            mu, s2 = source.uniform(0, 1), source.uniform(0, 0.25)
            if s2 <= variance_limit(mu):
                return mu, s2
    s2 = 1 / source.gamma(prior.variance_weight / 2, 2 / (prior.variance_weight * prior.variance))
    return source.normal(prior.mean, np.sqrt(s2 / prior.mean_weight)), s2


def _gap(one: Posterior, other: Posterior) -> float:
    """How far two computations of a posterior differ in mean and interval."""
    return max(abs(float(one.mean) - float(other.mean)), abs(one.low - other.low), abs(one.high - other.high))
