"""A count behind a noisy answer, with a prior: sums of the stated law of the noise, enclosed.

With prior masses w_k and the stated law P(answer | k), the posterior of the count is proportional to w_k P(answer | k). The sum
is over a window of counts around the answer. What lies beyond it is bounded by the tails of the noise, since every mass is at
most 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from flint import arb, ctx

from dpspec.plugin import (
    Floats,
    Integer,
    Items,
    Law,
    Marginal,
    Nested,
    Rational,
    Text,
    blocks,
    define,
    errors,
    exact,
    late_module,
    laws,
)
from dpspec_inference.model import (
    Estimate,
    Inference,
    InferenceModel,
    NoisyAnswer,
    ReleasedData,
    Simulation,
    beyond_invariants,
    label_of,
    misfit,
    of_masses,
    unknown_name,
)

if TYPE_CHECKING:
    from numpy.random import Generator
else:
    Generator = late_module("numpy.random")

PRECISION = 128
NEGLIGIBLE = 1e-12
"""The share of the posterior that may lie beyond the sum; it is part of the stated error."""
MOST_COUNTS = 1_000_000
NEEDS = "use geometric or discrete-gaussian noise on counts"


@define
class CountPrior:
    """The prior of a count: uniform between two ends, Poisson, or a list of masses from `least` on.

    Args:
        least, most: the ends; without `most` every count from `least` on is possible.
        mean: of a Poisson law, cut to the ends; without it the prior is constant between the ends.
        masses: of the counts least, least + 1, ...; they are divided by their sum.
    """

    least: Annotated[int, Integer(0)] = 0
    most: Annotated[int, Integer(0)] | None = None
    mean: Annotated[Fraction, Rational(0, open_low=True)] | None = None
    masses: Annotated[tuple[Fraction, ...], Items(Rational(0))] = ()

    def __attrs_post_init__(self) -> None:
        if self.most is not None and self.most < self.least:
            raise errors.ParameterError("most", f"must be at least least = {self.least}", value=self.most)
        if self.masses and (self.most is not None or self.mean is not None or not sum(self.masses)):
            raise errors.PriorError("masses", "must have a positive sum, without most and mean", "write least and masses alone")

    @property
    def last(self) -> int | None:
        """The largest possible count."""
        return self.least + len(self.masses) - 1 if self.masses else self.most

    def within(self, low: int, high: int | None) -> CountPrior:
        """The prior given that the count is from `low` to `high`; None for no upper end.

        Raises:
            TableError: it has no mass there.
        """
        least = max(self.least, low)
        ends = [end for end in (self.last, high) if end is not None]
        most = min(ends, default=None)
        masses = self.masses[least - self.least : None if most is None else most - self.least + 1]
        if (most is not None and most < least) or (self.masses and not sum(masses)):
            rule = f"allows no count that a dataset of {low} to {high} records has" if high is not None else (
                f"allows no count that a dataset of at least {low} records has"
            )  # fmt: skip
            raise errors.TableError("prior", rule, "write other ends", value=self.least)
        if self.masses:
            return CountPrior(least=least, masses=masses)
        return CountPrior(least=least, most=most, mean=self.mean)

    def mass(self, count: int) -> arb:
        """The mass of one possible count, up to a constant; at most 1."""
        if self.masses:
            return exact.ball(self.masses[count - self.least] / max(self.masses))
        if self.mean is None:
            return arb(1)
        mean = exact.ball(self.mean)
        return (count * mean.log() - mean - arb(count + 1).lgamma()).exp()

    def __str__(self) -> str:
        if self.masses:
            return f"masses of the counts {self.least} to {self.last}"
        words = "constant" if self.mean is None else f"Poisson of mean {self.mean}"
        return f"{words} on the counts from {self.least}" + ("" if self.most is None else f" to {self.most}")


@define
class BlockCount(InferenceModel):
    """A count behind a noisy answer, with a prior (Kazan 2025, Section 2.3.1, for a prior on two counts).

    Args:
        query: the query, as the release names it; it need not be named where there is one alone.
        cell: the cell; without it all cells.
        prior: of the count of each cell.
        level: of the posterior interval.
    """

    name: ClassVar[str] = "block-count"
    title: ClassVar[str] = "a count behind a noisy answer, with a prior"
    source: ClassVar[str] = "Kazan 2025, Section 2.3.1"

    query: Annotated[str, Text()] | None = None
    cell: Annotated[str, Text()] | None = None
    prior: Annotated[CountPrior, Nested(CountPrior)] = CountPrior()
    level: Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)] = Fraction(19, 20)

    def infer(self, released: ReleasedData) -> Inference:
        noise, rows = self._noise(released), self._rows(released)
        prior = self._inside(self.prior, released, rows[0].query)
        estimates, posteriors, widest = [], [], 0.0
        for row in rows:
            name = _name(row)
            counts, masses, width = enclosed_posterior(noise, row.answer, prior)
            widest = max(widest, width)
            posteriors.append(of_masses(name, counts, masses, self.level))
            estimates.append(
                Estimate(name=name, value=Fraction(row.answer), variance=variance_of(noise), over="noise alone")
            )
        return Inference(
            law=f"the answer is the count plus {_noise_in_words(noise)}",
            prior=str(prior),
            proper=(
                "the prior is proper" if prior.last is not None or prior.mean is not None
                else "a constant prior, and the likelihood has a finite sum over the counts, since the noise is a law"
            ),
            estimates=tuple(estimates),
            posteriors=tuple(posteriors),
            level=self.level,
            method="sums of the stated law",
            error=f"posterior: probabilities enclosed within {widest:.1e}",
            assumptions=(
                *(("the counts of the cells are independent under the prior",) if len(rows) > 1 else ()),
                *beyond_invariants(released, self.name, self._attributes(released, rows[0].query)),
            ),
        )  # fmt: skip

    def _noise(self, released: ReleasedData) -> Law:
        mechanism = released.mechanism
        queries = getattr(mechanism, "queries", ())
        found = mechanism.noise(0) if hasattr(mechanism, "noise") and queries else None
        if not isinstance(found, (laws.TwoSidedGeometricLaw, laws.DiscreteGaussianLaw)):
            raise misfit(self.name, mechanism, NEEDS)
        if not all(isinstance(query, Marginal) for query in queries):
            raise misfit(self.name, mechanism, "use queries that are marginals, which are counts")
        return found

    def _rows(self, released: ReleasedData) -> list[NoisyAnswer]:
        space = released.spec.space
        queries = released.mechanism.queries  # type: ignore[attr-defined]
        known = {str(query): [tuple(map(str, cell)) for cell in query.cells(space)] for query in queries}
        rows = released.answers
        if not rows:
            advice = "give the released table with query, attributes, value and status"
            raise errors.TableError("RELEASE", "has no noisy answers", advice)
        for row in rows:
            if row.query not in known or row.cell not in known[row.query]:
                raise errors.TableError("RELEASE", "answers a query or a cell that the specification has not", value=row.query)
        if self.query is not None and self.query not in known:
            raise unknown_name("query", self.query, list(known))
        if self.query is None and len(known) > 1:
            advice = f'write query = "{next(iter(known))}"'
            raise errors.ParameterError("query", f"must be one of the {len(known)} queries", advice)
        query = self.query or next(iter(known))
        labels = list(map(label_of, known[query]))
        if self.cell is not None and self.cell not in labels:
            raise unknown_name("cell", self.cell, labels)
        if self.cell is not None and labels.count(self.cell) > 1:
            rule = "is two cells of the query, in words"
            raise errors.ParameterError("cell", rule, "leave it out, for all cells", value=self.cell)
        found = [row for row in rows if row.query == query and self.cell in {None, row.label}]
        if not found or len({row.cell for row in found}) != len(found):
            rule = f"answers {query} in no cell that is asked for" if not found else "answers a cell twice"
            raise errors.TableError("RELEASE", rule, "give the table as dpspec release wrote it", value=self.cell)
        return found

    def _attributes(self, released: ReleasedData, query: str) -> tuple[str, ...]:
        asked = next(each for each in released.mechanism.queries if str(each) == query)  # type: ignore[attr-defined]
        return tuple(asked.attributes)

    def _inside(self, prior: CountPrior, released: ReleasedData, query: str) -> CountPrior:
        """The prior cut to the counts that a dataset of the space can have.

        Raises:
            TableError: there are none among those of the prior.
        """
        asked = next(each for each in released.mechanism.queries if str(each) == query)  # type: ignore[attr-defined]
        space = released.spec.space
        if not space.units or asked.unit != space.units[0]:  # the sizes are those of the largest unit
            return prior
        least, most = blocks.sizes_of(space)
        whole = not asked.attributes and not asked.where  # the one cell holds all records
        return prior.within(least if whole else 0, most)

    def simulate(self, released: ReleasedData, source: Generator) -> Simulation | None:
        noise, rows = self._noise(released), self._rows(released)[:1]
        prior = self._inside(self.prior, released, rows[0].query)
        if prior.last is None or prior.last - prior.least > MOST_COUNTS:
            return None
        counts = np.arange(prior.least, prior.last + 1)
        masses = np.array([float(prior.mass(int(count)).mid()) for count in counts])
        count = int(source.choice(counts, p=masses / masses.sum()))
        reach = 2 + math.ceil(12 * math.sqrt(float(variance_of(noise))))
        shifts = np.arange(-reach, reach + 1)
        probabilities = np.array([float(_mass(noise, int(shift)).mid()) for shift in shifts])
        answer = count + int(source.choice(shifts, p=probabilities / probabilities.sum()))
        row = NoisyAnswer(query=rows[0].query, cell=rows[0].cell, answer=answer)
        name = _name(row)
        again = ReleasedData(spec=released.spec, mechanism=released.mechanism, answers=(row,))
        return Simulation(truth={name: float(count)}, released=again)

    @classmethod
    def examples(cls) -> Iterator[tuple[InferenceModel, ReleasedData]]:
        import dpspec as dp

        gaussian = {"type": "discrete-gaussian", "variance": 4, "sensitivities": [1]}
        for mechanism in ({"type": "geometric", "ratio": "1/2"}, gaussian):
            document = dp.build(
                space={"type": "records", "attributes": [{"name": "block", "categories": ["a", "b"]}]},
                input_divergence={"type": "symmetric-difference"},
                output_divergence={"type": "d-nor"},
                budget={"rho": 1},
                mechanism={**mechanism, "queries": [{"type": "marginal", "attributes": ["block"]}]},
            )
            assert document.mechanism is not None  # noqa: S101 - stated above
            row = NoisyAnswer(query="person by block", cell=("a",), answer=3)
            released = ReleasedData(spec=document.spec, mechanism=document.mechanism, answers=(row,))
            yield cls(prior=CountPrior(most=10)), released
            yield cls(prior=CountPrior(mean=Fraction(4), most=60)), released


def _name(row: NoisyAnswer) -> str:
    return f"count of {row.label}"


def _noise_in_words(noise: Law) -> str:
    if isinstance(noise, laws.TwoSidedGeometricLaw):
        return f"two-sided geometric noise: P(w) falls by e^-({noise.decay}) at each step"
    return f"discrete Gaussian noise of the variance {getattr(noise, 'variance', '')}"


def variance_of(noise: Law) -> float:
    """The variance of the noise, a double: exact sums for two-sided geometric noise, and the Gauss sum otherwise."""
    with ctx.workprec(PRECISION):
        if isinstance(noise, laws.TwoSidedGeometricLaw):
            ratio = (-noise.decay.enclose(PRECISION)).exp()
            return float((2 * ratio / (1 - ratio) ** 2).mid())
        assert isinstance(noise, laws.DiscreteGaussianLaw)  # noqa: S101 - no other law occurs here
        reach = 4 + math.ceil(14 * math.sqrt(float(noise.variance)))
        return float(sum((2 * k * k * noise.mass(k, PRECISION) for k in range(1, reach)), arb(0)).mid())


def _mass(noise: Law, shift: int) -> arb:
    assert isinstance(noise, (laws.TwoSidedGeometricLaw, laws.DiscreteGaussianLaw))  # noqa: S101 - no other law occurs here
    return noise.mass(shift, PRECISION)


def enclosed_posterior(noise: Law, answer: int, prior: CountPrior) -> tuple[Floats, Floats, float]:
    """Counts, their posterior masses, and a bound of the error of each mass.

    The sum is over a window around the answer, which grows until what lies beyond it is negligible.

    Raises:
        PriorError: every possible count has the mass 0, or the release is too far from the prior to be summed.

    >>> noise = laws.TwoSidedGeometricLaw(0, exact.ln(2))
    >>> counts, masses, error = enclosed_posterior(noise, 0, CountPrior(most=1))
    >>> masses.tolist(), error < 1e-14
    ([0.6666666666666666, 0.3333333333333333], True)
    """
    low, last = prior.least, prior.last
    centre = max(answer, low) if last is None else min(max(answer, low), last)
    reach = 64 + math.ceil(30 * math.sqrt(variance_of(noise)))
    while reach <= MOST_COUNTS:
        first, high = max(low, centre - reach), centre + reach if last is None else min(last, centre + reach)
        with ctx.workprec(PRECISION):
            terms = [prior.mass(count) * _mass(noise, answer - count) for count in range(first, high + 1)]
            total = sum(terms, arb(0))
            beyond = _tail(noise, answer - first + 1) if first > low else arb(0)
            beyond += _tail(noise, high + 1 - answer) if last is None or high < last else arb(0)
            if total > 0 and (share := float((beyond / total).abs_upper())) < NEGLIGIBLE:
                masses = np.array([float((term / total).mid()) for term in terms])
                radius = max(float((term / total).rad()) for term in terms)
                return np.arange(first, high + 1, dtype=float), masses, share + radius + 2.0**-50
        if first == low and high == last:
            break
        reach *= 4
    raise errors.PriorError("prior", "is too far from the answer to be summed", "state a prior nearer to the release")


def _tail(noise: Law, start: int) -> arb:
    """A bound of P(noise >= start), by a geometric sum: the ratio of successive masses never rises."""
    if start <= 0:
        return arb(1)
    first, second = _mass(noise, start), _mass(noise, start + 1)
    if not first > 0:
        return arb(1)
    ratio = (second / first).abs_upper()
    return first / (1 - ratio) if ratio < 1 else arb(1)
