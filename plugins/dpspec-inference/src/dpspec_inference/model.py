"""Models of inference: from a release and the law that its mechanism states, to estimates and posteriors.

A model is a class derived from `InferenceModel`, declared with `define`. Its distribution names it in the entry-point group
``dpspec.models``. Its prior and its settings are its parameters, so they are data: a file or the command line holds them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import attrs
import numpy as np

from dpspec.plugin import Floats, IncompatibleBlocksError, errors, late_module, params

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpspec.plugin import Mechanism, PrivacySpec, Table
else:
    Generator = late_module("numpy.random")

FARTHEST = 10**10
"""Released numbers that are this many units away have a posterior whose digits are lost in doubles."""

Value = Fraction | float
"""A number of a result: exact, or a double with the error that the result states."""


@attrs.frozen(kw_only=True)
class NoisyAnswer:
    """One row of a released table of noisy answers.

    Args:
        query: what was counted.
        cell: the category of each attribute of the query.
        answer: the noisy answer.
    """

    query: str
    cell: tuple[str, ...]
    answer: int

    @property
    def label(self) -> str:
        """The cell in words; two cells may have the same."""
        return label_of(self.cell)


def label_of(cell: Iterable[object]) -> str:
    """A cell in words.

    >>> label_of(("north", 1)), label_of(())
    ('north x 1', 'total')
    """
    return " x ".join(map(str, cell)) or "total"


@attrs.frozen(kw_only=True)
class ReleasedData:
    """A release as a model reads it: nothing of it is confidential.

    Args:
        spec: the five blocks under which it was released.
        mechanism: whose law is the likelihood.
        tables: released records.
        answers: released noisy answers, cell by cell.
        numbers: released numbers, by name.
    """

    spec: PrivacySpec
    mechanism: Mechanism
    tables: tuple[Table, ...] = ()
    answers: tuple[NoisyAnswer, ...] = ()
    numbers: Mapping[str, Fraction] = attrs.field(factory=dict)

    def number(self, name: str) -> Fraction:
        """One released number.

        Raises:
            TableError: the release has no number of this name.
        """
        if name not in self.numbers:
            raise errors.TableError("RELEASE", f"has no number {name}", f'write it in a TOML file: {name} = "12.5"')
        return self.numbers[name]

    def double(self, name: str, unit: Fraction = Fraction(1), origin: Fraction = Fraction(0)) -> float:
        """One released number for computations in doubles.

        Args:
            name: of the number.
            unit, origin: of the scale on which the noise is of moderate size.

        Raises:
            TableError: the release has no number of this name, or one so large that doubles do not resolve the noise.
        """
        value = self.number(name)
        if abs(value - origin) > FARTHEST * unit:
            rule = f"is further than {FARTHEST:,} times {unit} from {origin}: its posterior cannot be computed in doubles"
            raise errors.TableError(f"number {name}", rule, "give the released number")
        return float(value)

    def table_with(self, *columns: str) -> Table:
        """The released table that has these columns.

        Raises:
            TableError: no released table has them.
        """
        for table in self.tables:
            if {a.name for a in table.attributes}.issuperset(columns):
                return table
        known = sorted({a.name for table in self.tables for a in table.attributes})
        advice = f"its columns are {', '.join(known)}" if known else "give the released table of records"
        raise errors.TableError("RELEASE", f"has no table with the columns {', '.join(columns)}", advice)


@attrs.frozen(kw_only=True)
class Estimate:
    """An estimate that is unbiased under the stated law.

    Args:
        name: of what.
        value: the estimate.
        variance: of the estimator; None where it is not computed.
        over: which randomness the variance is over.
        interval: at the level of the result; None where none is computed.
    """

    name: str
    value: Value
    variance: Value | None = None
    over: str = ""
    interval: tuple[float, float] | None = None

    @property
    def standard_error(self) -> float | None:
        """The root of the variance."""
        return None if self.variance is None else math.sqrt(max(float(self.variance), 0.0))


@attrs.frozen(kw_only=True, eq=False)
class Posterior:
    """The posterior of one unknown number.

    Args:
        name: of what.
        mean, deviation: of the posterior.
        low, high: the central interval at the level of the result.
        below: P(unknown < t) and P(unknown <= t), which calibration tests use.
    """

    name: str
    mean: Value
    deviation: float
    low: float
    high: float
    below: Callable[[float], tuple[float, float]] = attrs.field(repr=False)


@attrs.frozen(kw_only=True)
class Diagnostic:
    """The agreement of chains of a sampler on one number.

    Args:
        name: of what.
        split_r_hat: the potential scale reduction of halved chains; near 1 where they agree (Gelman et al. 2013).
        effective_draws: how many independent draws the draws are worth.
    """

    name: str
    split_r_hat: float
    effective_draws: float

    @property
    def is_good(self) -> bool:
        """Whether the chains agree: at most 1.01, and at least 400 effective draws (Vehtari et al. 2021)."""
        return self.split_r_hat <= MOST_R_HAT and self.effective_draws >= LEAST_DRAWS


MOST_R_HAT, LEAST_DRAWS = 1.01, 400.0
"""Vehtari, Gelman, Simpson, Carpenter and Buerkner 2021, Section 4."""


@attrs.frozen(kw_only=True)
class Inference:
    """The inference of a model from a release.

    Args:
        law: the likelihood in words.
        prior: the prior in words; "none" where there is none.
        proper: why the posterior is proper.
        estimates: unbiased estimates.
        posteriors: posteriors of unknown numbers.
        facts: further numbers, by name.
        level: of the intervals.
        method: how the numbers were computed.
        error: how far they are from the exact ones, in words.
        diagnostics: of a sampler; () where nothing was sampled.
        seed: of the sampler.
        assumptions: what the model takes for granted beyond the stated law.
    """

    law: str
    prior: str = "none"
    proper: str = ""
    estimates: tuple[Estimate, ...] = ()
    posteriors: tuple[Posterior, ...] = ()
    facts: tuple[tuple[str, Value], ...] = ()
    level: Fraction = Fraction(19, 20)
    method: str
    error: str
    diagnostics: tuple[Diagnostic, ...] = ()
    seed: int | None = None
    assumptions: tuple[str, ...] = ()

    @property
    def has_converged(self) -> bool:
        """Whether all chains agree; true where nothing was sampled."""
        return all(found.is_good for found in self.diagnostics)


@attrs.frozen(kw_only=True, eq=False)
class Simulation:
    """One draw of the unknown numbers from the prior, and of a release from the law given them.

    Args:
        truth: the unknown numbers, by the names of the posteriors.
        released: the release.
    """

    truth: Mapping[str, float]
    released: ReleasedData


class InferenceModel(ABC):
    """A model: it takes the law that a mechanism states as the likelihood of what it estimates."""

    name: ClassVar[str]

    title: ClassVar[str]
    """What it estimates, in one line."""
    source: ClassVar[str]
    """Author, year and theorem of the method."""

    @abstractmethod
    def infer(self, released: ReleasedData) -> Inference:
        """The estimates.

        Raises:
            IncompatibleBlocksError: the mechanism is none of those whose law the model knows.
            TableError: the release lacks a column or a number, or holds a count outside the space.
            ImproperPosteriorError: the posterior has no finite integral.
            UndeterminedModelError: two truths have the same law of the release.
        """

    def simulate(self, released: ReleasedData, source: Generator) -> Simulation | None:
        """A draw from prior and law, for a release of the same kind; None for a model without a prior.

        Args:
            released: of which specification, mechanism and size.
            source: a seeded generator; such draws are for tests.
        """
        return None

    def posteriors_of(self, many: Sequence[ReleasedData]) -> Sequence[tuple[Posterior, ...]]:
        """The posteriors of many releases of one kind, for calibration; a model that samples overrides it to do so at once."""
        return [self.infer(released).posteriors for released in many]

    @classmethod
    def examples(cls) -> Iterator[tuple[InferenceModel, ReleasedData]]:
        """Models with releases, which the conformance tests check."""
        yield from ()


def misfit(model: str, mechanism: Mechanism, needs: str) -> IncompatibleBlocksError:
    """The error of a model for another mechanism."""
    name = getattr(mechanism, "name", type(mechanism).__name__)
    return IncompatibleBlocksError(f"model {model}", f"does not know the law of {name}", needs, value=name)


def unknown_name(kind: str, given: str, known: list[str]) -> errors.UnknownNameError:
    """The error of a name that is none of those known."""
    return errors.UnknownNameError(kind, "is none of the specification", params.did_you_mean(given, known), value=given)


def beyond_invariants(released: ReleasedData, model: str, attributes: Iterable[str]) -> tuple[str, ...]:
    """What a model takes for granted that does not use the invariants of the specification.

    Args:
        released: the release.
        model: the model.
        attributes: whose table it estimates.

    Raises:
        IncompatibleBlocksError: the specification publishes this table exactly, or its universes are a list.
    """
    held, wanted = released.spec.multiverse.induced_by(), set(attributes)
    if held is None:
        rule = "needs universes that invariants give, not a list of them"
        raise IncompatibleBlocksError(f"model {model}", rule, value=str(released.spec.multiverse))
    for invariant in held:
        table = invariant.as_marginal()
        if table is not None and not table.where and wanted and wanted <= set(table.attributes):
            rule = "estimates what the specification publishes exactly, so that the release adds nothing"
            raise IncompatibleBlocksError(f"model {model}", rule, "read it from the published table", value=str(invariant))
    words = ", ".join(map(str, held))
    return (f"the values of the invariants ({words}) are not used; with them posteriors can be narrower",) if held else ()


# --- summaries ------------------------------------------------------------------------------------


def of_masses(name: str, points: Floats, masses: Floats, level: Fraction) -> Posterior:
    """The posterior of a number that has these masses at these points.

    >>> found = of_masses("n", np.array([0.0, 1.0, 2.0]), np.array([0.25, 0.5, 0.25]), Fraction(1, 2))
    >>> found.mean, found.low, found.high, found.below(1.0)
    (1.0, 0.0, 1.0, (0.25, 0.75))
    """
    order = np.argsort(points, axis=None)
    ordered, weights = points.ravel()[order], masses.ravel()[order]
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    sums /= sums[-1]
    mean = float((ordered * weights).sum() / weights.sum())
    spread = float((weights * (ordered - mean) ** 2).sum() / weights.sum())
    tail = (1 - float(level)) / 2

    def below(at: float) -> tuple[float, float]:
        return float(sums[np.searchsorted(ordered, at, "left")]), float(sums[np.searchsorted(ordered, at, "right")])

    def quantile(share: float) -> float:
        return float(ordered[min(int(np.searchsorted(sums[1:], share - 1e-12, "left")), len(ordered) - 1)])

    return Posterior(
        name=name, mean=mean, deviation=math.sqrt(spread), low=quantile(tail), high=quantile(1 - tail), below=below
    )


def of_nodes(name: str, points: Floats, masses: Floats, level: Fraction) -> Posterior:
    """The posterior of a continuous number, from masses at the nodes of a grid: half of each lies on either side of its node.

    >>> found = of_nodes("x", np.linspace(0, 1, 1001), np.full(1001, 1 / 1001), Fraction(1, 2))
    >>> round(found.low, 3), round(found.high, 3), found.below(0.5)[0] == found.below(0.5)[1]
    (0.25, 0.75, True)
    """
    plain = of_masses(name, points, masses, level)
    nodes, place = np.unique(points.ravel(), return_inverse=True)
    weights = np.bincount(place.ravel(), weights=masses.ravel())
    weights = weights / weights.sum()
    middles = np.cumsum(weights) - weights / 2
    tail = (1 - float(level)) / 2

    def below(at: float) -> tuple[float, float]:
        found = float(np.interp(at, nodes, middles, left=0.0, right=1.0))
        return found, found

    low, high = (float(np.interp(share, middles, nodes)) for share in (tail, 1 - tail))
    return Posterior(name=name, mean=plain.mean, deviation=plain.deviation, low=low, high=high, below=below)


def of_draws(name: str, draws: Floats, level: Fraction) -> Posterior:
    """The posterior of a number that was drawn so often."""
    flat = draws.ravel()
    return of_masses(name, flat, np.full(flat.size, 1 / flat.size), level)


def diagnosed(name: str, draws: Floats) -> Diagnostic:
    """Split R-hat and effective draws of chains: a row for every sweep, a column for every chain.

    The effective number is that of Geyer's initial positive sequence over all halved chains (Gelman et al. 2013, Section 11.5).

    >>> found = diagnosed("x", np.random.default_rng(0).standard_normal((500, 4)))
    >>> found.is_good, 1500 < found.effective_draws < 2500
    (True, True)
    """
    half = len(draws) // 2
    chains = np.concatenate([draws[:half], draws[half : 2 * half]], axis=1)
    length, count = chains.shape
    means, variances = chains.mean(axis=0), chains.var(axis=0, ddof=1)
    within = float(variances.mean())
    if within == 0:
        return Diagnostic(name=name, split_r_hat=1.0 if means.std() == 0 else math.inf, effective_draws=float(length * count))
    pooled = within * (length - 1) / length + float(means.var(ddof=1))
    centred = chains - means
    size = 1 << (2 * length - 1).bit_length()
    power = np.abs(np.fft.rfft(centred, n=size, axis=0)) ** 2
    covariance = (np.fft.irfft(power, n=size, axis=0)[:length] / length).mean(axis=1)
    correlation = 1 - (within - covariance * length / (length - 1)) / pooled
    total, lag = 1.0, 1
    while lag + 1 < length and correlation[lag] + correlation[lag + 1] > 0:
        total += 2 * (correlation[lag] + correlation[lag + 1])
        lag += 2
    if lag == 1:
        total = max(1 + 2 * float(correlation[1]), 0.5)
    return Diagnostic(name=name, split_r_hat=math.sqrt(pooled / within), effective_draws=float(length * count / total))
