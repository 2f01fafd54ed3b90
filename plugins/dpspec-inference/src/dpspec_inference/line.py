"""The model `simple-regression`: a straight line from noisy sums, sampled with diagnostics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from dpspec.plugin import Integer, Nested, Rational, Text, define, errors, is_a, late_module
from dpspec_inference.mechanisms import LaplaceRegression
from dpspec_inference.model import (
    Inference,
    InferenceModel,
    Posterior,
    ReleasedData,
    Simulation,
    beyond_invariants,
    diagnosed,
    misfit,
    of_draws,
)
from dpspec_inference.moments import RegressionSums, line_is_feasible, sums_are_ordered
from dpspec_inference.regression import LinePrior, NoisyRegression, sample, with_responses

if TYPE_CHECKING:
    from numpy.random import Generator
else:
    Generator = late_module("numpy.random")

SUMS = ("sum_x", "sum_xx", "sum_y", "sum_xy", "sum_yy")
"""The released numbers, of x and y mapped to [0, 1]."""
CHAINS, SWEEPS = 20, (4000, 16000)
"""So many chains; they are drawn again with more sweeps where they do not agree. A quarter as many are dropped before."""
UNKNOWN = ("intercept", "slope", "variance of the error")
MOST_TRIES = 100_000


@define
class RegressionPrior:
    """theta | sigma^2 ~ N((intercept, slope), sigma^2/weight I), sigma^2 ~ IG(shape, rate), on the unit square (Kazan 2025).

    Args:
        intercept, slope: the means.
        weight: in observations.
        shape, rate: of the inverse gamma law of sigma^2.
    """

    intercept: Annotated[Fraction, Rational()] = Fraction(1)
    slope: Annotated[Fraction, Rational()] = Fraction(0)
    weight: Annotated[Fraction, Rational(0, open_low=True)] = Fraction(1, 4)
    shape: Annotated[Fraction, Rational(0, open_low=True)] = Fraction(20)
    rate: Annotated[Fraction, Rational(0, open_low=True)] = Fraction(1, 2)

    def __str__(self) -> str:
        line = f"intercept {self.intercept} and slope {self.slope} with the weight {self.weight}"
        return f"{line}; error variance inverse gamma of shape {self.shape} and rate {self.rate}"

    def in_floats(self) -> LinePrior:
        """The same for the sampler."""
        return LinePrior(
            mean=(float(self.intercept), float(self.slope)),
            weight=float(self.weight),
            shape=float(self.shape),
            rate=float(self.rate),
        )


@define
class SimpleRegression(InferenceModel):
    """A straight line y = intercept + slope x + error from five noisy sums (Kazan 2025, Section 4.5).

    x and y are mapped to [0, 1] by their public bounds; the numbers of the model are about these. The errors are normal, the
    sums of x have a flat prior on what values in [0, 1] allow.

    Args:
        prior: of line and error variance.
        analysis: unconstrained, or constrained to lines and sums that points of the unit square allow.
        level: of the posterior intervals.
        seed: of the sampler.
    """

    name: ClassVar[str] = "simple-regression"
    title: ClassVar[str] = "a straight line, from five noisy sums"
    source: ClassVar[str] = "Kazan 2025, Section 4.5"

    prior: Annotated[RegressionPrior, Nested(RegressionPrior)] = RegressionPrior()
    analysis: Annotated[str, Text(("unconstrained", "constrained"))] = "constrained"
    level: Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)] = Fraction(19, 20)
    seed: Annotated[int, Integer(0)] = 0

    def infer(self, released: ReleasedData) -> Inference:
        mechanism, data = self.release_of(released)
        for sweeps in SWEEPS:
            drawn = sample(
                data, self.prior.in_floats(), constrained=self.analysis == "constrained",
                sweeps=sweeps, warmup=sweeps // 4, chains=CHAINS, seed=self.seed,
            )  # fmt: skip
            numbers = dict(zip(UNKNOWN, (*drawn.theta, drawn.s2), strict=True))
            found = [diagnosed(name, draws) for name, draws in numbers.items()]
            if all(one.is_good for one in found):
                break
        largest = max(float(draws.std()) / one.effective_draws**0.5 for draws, one in zip(numbers.values(), found, strict=True))
        return Inference(
            law=f"Laplace noise of the scale {1 / data.epsilon:.6g} on each of five sums of values mapped to [0, 1]",
            prior=str(self.prior),
            proper="the prior of the line is proper, and the sums of x are bounded",
            posteriors=tuple(of_draws(name, draws, self.level) for name, draws in numbers.items()),
            facts=(("points", Fraction(data.sums.n)), *((f"released {name}", released.number(name)) for name in SUMS)),
            level=self.level,
            method=f"sampled, {self.analysis}: {CHAINS} chains of {sweeps:,} draws after {sweeps // 4:,} that are dropped",
            error=f"simulated; standard error of a posterior mean at most {largest:.1e}",
            diagnostics=tuple(found),
            seed=self.seed,
            assumptions=(
                "the errors around the line are independent, normal and of one variance",
                *beyond_invariants(released, self.name, [mechanism.x, mechanism.y]),
            ),
        )

    def posteriors_of(self, many: Sequence[ReleasedData]) -> Sequence[tuple[Posterior, ...]]:
        """One chain for each release, all at once."""
        data = [self.release_of(released)[1] for released in many]
        known = np.concatenate([one.released(1) for one in data], axis=1)
        drawn = sample(
            data[0], self.prior.in_floats(), constrained=self.analysis == "constrained",
            sweeps=SWEEPS[0] // 4, warmup=SWEEPS[0] // 8, released=known, seed=self.seed,
        )  # fmt: skip
        numbers = dict(zip(UNKNOWN, (*drawn.theta, drawn.s2), strict=True))
        return [
            tuple(of_draws(name, draws[:, k], self.level) for name, draws in numbers.items()) for k in range(len(many))
        ]

    def release_of(self, released: ReleasedData) -> tuple[LaplaceRegression, NoisyRegression]:
        """The mechanism, and the release as the sampler reads it.

        Raises:
            IncompatibleBlocksError, TableError: it is none of the sums of a line, or of another size.
        """
        mechanism = released.mechanism
        if not is_a(mechanism, LaplaceRegression):
            raise misfit(self.name, mechanism, "use laplace-regression")
        assert isinstance(mechanism, LaplaceRegression)  # noqa: S101 - checked above
        size = mechanism.size(released.spec.space)
        if "n" in released.numbers and released.numbers["n"] != size:
            rule = f"is of {released.numbers['n']} records, and the specification is of {size}"
            raise errors.TableError("RELEASE", rule, "give the release of this specification")
        values = [released.double(name) for name in SUMS]
        sums = RegressionSums(n=size, x=values[0], xx=values[1], y=values[2], xy=values[3], yy=values[4])
        return mechanism, NoisyRegression(sums=sums, epsilon=float(mechanism.epsilon))

    def simulate(self, released: ReleasedData, source: Generator) -> Simulation | None:
        """From the prior of line and error, and the flat one of the sums of x; by rejection in the constrained analysis."""
        data, prior = self.release_of(released)[1], self.prior.in_floats()
        n = data.sums.n
        for _ in range(MOST_TRIES):
            s2 = 1 / source.gamma(prior.shape, 1 / prior.rate)
            theta = source.normal(prior.mean, np.sqrt(s2 / prior.weight))
            x, xx = source.uniform(0, n), source.uniform(0, n)
            if not x**2 / n < xx <= x:
                continue
            sums = _responses(source, n, (x, xx), theta, s2)
            fits = s2 <= 0.25 and bool(line_is_feasible(*theta)) and bool(sums_are_ordered(n, sums))
            if self.analysis == "unconstrained" or fits:
                break
        else:
            return None
        noisy = sums + source.laplace(0, 1 / data.epsilon, 5)
        numbers = {name: Fraction(float(value)) for name, value in zip(SUMS, noisy, strict=True)}
        again = ReleasedData(spec=released.spec, mechanism=released.mechanism, numbers=numbers)
        return Simulation(truth=dict(zip(UNKNOWN, (*map(float, theta), float(s2)), strict=True)), released=again)

    @classmethod
    def examples(cls) -> Iterator[tuple[InferenceModel, ReleasedData]]:
        import dpspec as dp

        axes = [{"name": name, "categories": ["0", "0.5", "1"]} for name in ("x", "y")]
        document = dp.build(
            space={"type": "ordered-records", "attributes": axes, "least": 20, "most": 20},
            input_divergence={"type": "hamming-ordered", "unit": "person"},
            output_divergence={"type": "mult"},
            budget={"epsilon": 5},
            mechanism={"type": "laplace-regression", "x": "x", "y": "y", "epsilon": 1},
        )
        assert document.mechanism is not None  # noqa: S101 - stated above
        numbers = {name: Fraction(value) for name, value in zip(SUMS, (9, 6, 11, 6, 8), strict=True)}
        released = ReleasedData(spec=document.spec, mechanism=document.mechanism, numbers=numbers)
        prior = RegressionPrior(
            intercept=Fraction(1, 2), slope=Fraction(0), weight=Fraction(4), shape=Fraction(6), rate=Fraction(1, 4)
        )
        yield cls(prior=prior), released
        yield cls(prior=prior, analysis="unconstrained"), released


def _responses(
    source: Generator, n: int, design: tuple[float, float], theta: np.ndarray, s2: float
) -> np.ndarray:
    """The five sums with those of Y drawn: what is whitened is normal, the residual chi-squared."""
    from dpspec_inference.regression import predicted

    known = np.array([*design, 0.0, 0.0, 0.0])
    white = predicted(n, known, theta) + source.normal(0, np.sqrt(s2), 2)
    return with_responses(n, known, white, np.asarray(s2 * source.chisquare(n - 2)))
