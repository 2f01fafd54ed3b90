"""Shares of categories from reports of a local mechanism: each record is answered for by itself.

Let M[v, t] be the stated probability that a record of category v is reported as t, and lambda = M' pi the law of one report where
pi are the shares. With M invertible, pi = M^-T lambda, and the observed shares give the unbiased estimate (Warner 1965)

    pi^ = M^-T (n_t / n),          Cov(pi^) = M^-T (diag(lambda) - lambda lambda') M^-1 / n

for records that are a random sample; for the records at hand, of shares f, only the noise varies, and the covariance is
M^-T (sum over v of f_v (diag(M_v) - M_v M_v')) M^-1 / n. For two categories and randomised response at probability p this is
lambda (1 - lambda) / (n (2p - 1)^2), and p (1 - p) / (n (2p - 1)^2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from dpspec.plugin import (
    Attribute,
    Floats,
    IncompatibleBlocksError,
    Integer,
    Items,
    Law,
    Nested,
    Rational,
    Table,
    Text,
    blocks,
    define,
    errors,
    grammar,
    late_module,
    laws,
    tables,
)
from dpspec_inference.model import (
    Diagnostic,
    Estimate,
    Inference,
    InferenceModel,
    Posterior,
    ReleasedData,
    Simulation,
    beyond_invariants,
    diagnosed,
    misfit,
    of_draws,
    of_nodes,
    unknown_name,
)

if TYPE_CHECKING:
    from numpy.random import Generator
else:
    Generator = late_module("numpy.random")

Matrix = tuple[tuple[Fraction, ...], ...]
NEEDS = "use randomised-response, lecture-randomised-response or k-ary-response"
SAMPLE, NOISE = "sampling of the records and noise, at the observed shares", "noise alone, at the estimated shares"
DRAWS = "for the posterior, the records are independent draws"


class ReportModel(InferenceModel):
    """Base class of both models: the law of one report, and the counts of reports."""

    attribute: str | None

    def asked(self, released: ReleasedData) -> Attribute:
        """The attribute that is reported.

        Raises:
            UnknownNameError, IncompatibleBlocksError: there is none.
        """
        space = released.spec.space
        known = {a.name: a for a in space.attributes_of(space.units[0])} if space.units else {}
        name = getattr(released.mechanism, "attribute", None) or (next(iter(known)) if len(known) == 1 else None)
        if self.attribute is not None and self.attribute not in known:
            raise unknown_name("attribute", self.attribute, list(known))
        if name not in known:
            raise misfit(self.name, released.mechanism, NEEDS)
        if self.attribute not in {None, name}:
            rule = f"is not reported: the mechanism reports {name}"
            raise IncompatibleBlocksError("attribute", rule, f"write attribute = {name}", value=self.attribute)
        return known[name]

    def report_matrix(self, released: ReleasedData, asked: Attribute) -> Matrix:
        """M[v, t], read off the law that the mechanism states for a dataset of one record.

        Raises:
            IncompatibleBlocksError: reports are not drawn record by record, or are no categories.
        """
        space, mechanism = released.spec.space, released.mechanism
        single = blocks.resized(space, 1, 1)
        try:
            found = grammar.stated_structure(mechanism, space)
        except grammar.NoStructure:
            found = None
        views = () if found is None else found.views
        if single is None or not space.is_ordered or len(views) != 1 or not _is_report(views[0]):
            raise misfit(self.name, mechanism, NEEDS)
        names = [a.name for a in space.attributes_of(space.units[0])]
        column, rows = names.index(asked.name), dict[str, Law]()
        for dataset in single.datasets():
            record = single.records(dataset, space.units[0])[0]
            rows.setdefault(str(record[column]), mechanism.law(dataset, single))
        categories = categories_of(asked)
        matrix = []
        for category in categories:
            law = {_label(outcome): probability for outcome, probability in _probabilities(rows[category])}
            if not law.keys() <= set(categories):
                raise misfit(self.name, mechanism, NEEDS)
            matrix.append(tuple(law.get(label, Fraction(0)) for label in categories))
        return tuple(matrix)

    def counts_of(self, released: ReleasedData, asked: Attribute) -> tuple[int, ...]:
        """How often each category was reported: from the released table, or from released numbers by category.

        Raises:
            TableError: a count is no whole number from 0 on, there is no report, or another number of reports than records.
        """
        categories = categories_of(asked)
        if released.numbers:
            strange = sorted(released.numbers.keys() - {*categories})
            if strange:
                advice = f"the categories are {', '.join(categories)}"
                raise errors.TableError("RELEASE", "counts a category that there is not", advice, value=strange[0])
            counts = tuple(_whole(name, released.number(name)) for name in categories)
        else:
            codes = released.table_with(asked.name).codes[asked.name]
            counts = tuple(map(int, np.bincount(codes.astype(np.int64), minlength=asked.size)))
        total = sum(counts)
        least, most = blocks.sizes_of(released.spec.space)
        if not total or total < least or (most is not None and total > most):
            rule = "has no reports" if not total else f"has {total} reports, which is no size of the space"
            raise errors.TableError("RELEASE", rule, "give the release of this specification")
        return counts

    def with_counts(self, released: ReleasedData, counts: Sequence[int], asked: Attribute) -> ReleasedData:
        """A release of as many reports."""
        codes = np.repeat(np.arange(asked.size), counts)
        table = Table(attributes=(asked,), codes={asked.name: tables.compact(codes, asked.size)})
        return ReleasedData(spec=released.spec, mechanism=released.mechanism, tables=(table,))


def categories_of(asked: Attribute) -> list[str]:
    """The categories of an attribute, in their order."""
    return [str(value) for value in asked.values()]


def _is_report(view: Any) -> bool:
    return isinstance(view, grammar.Report)


def _label(outcome: Any) -> str:
    while isinstance(outcome, tuple) and len(outcome) == 1:
        outcome = outcome[0]
    return str(outcome)


def _probabilities(law: Law) -> list[tuple[Any, Fraction]]:
    if not isinstance(law, laws.FiniteLaw):
        raise IncompatibleBlocksError("model", "needs rational probabilities of a report", "write keep_probability")
    return [(outcome, Fraction(law.probability(outcome))) for outcome in law.support]


def _whole(name: str, value: Fraction) -> int:
    if value < 0 or value.denominator != 1:
        raise errors.TableError(f"count {name}", "must be a whole number from 0 on", value=str(value))
    return int(value)


def inverse(matrix: Matrix) -> Matrix:
    """The inverse, exactly.

    Raises:
        UndeterminedModelError: there is none, so that different shares have the same law of the reports.

    >>> inverse(((Fraction(3, 5), Fraction(2, 5)), (Fraction(2, 5), Fraction(3, 5))))
    ((Fraction(3, 1), Fraction(-2, 1)), (Fraction(-2, 1), Fraction(3, 1)))
    """
    size = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(size))] for i, row in enumerate(matrix)]
    for i in range(size):
        pivot = next((r for r in range(i, size) if rows[r][i]), None)
        if pivot is None:
            rule = "is not determined by the reports: different shares have the same law"
            raise errors.UndeterminedModelError("share", rule, "release with a keep_probability other than that of pure noise")
        rows[i], rows[pivot] = rows[pivot], list(rows[i])
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(size):
            if r != i and rows[r][i]:
                rows[r] = [value - rows[r][i] * own for value, own in zip(rows[r], rows[i], strict=True)]
    return tuple(tuple(row[size:]) for row in rows)


def estimated(matrix: Matrix, counts: Sequence[int]) -> list[tuple[Fraction, Fraction, Fraction]]:
    """For each category the unbiased share, its variance over sample and noise, and over the noise alone; exactly.

    The variance over both is that over the noise and pi (1 - pi) / n of the sample. An estimate outside [0, 1] counts as 0 or 1
    there, where a sample does not vary.

    >>> p = Fraction(3, 5)
    >>> estimated(((p, 1 - p), (1 - p, p)), (11, 9))[1]
    (Fraction(1, 4), Fraction(99, 320), Fraction(3, 10))
    """
    back, total = inverse(matrix), sum(counts)
    observed = [Fraction(count, total) for count in counts]
    size = range(len(counts))
    shares = [sum((observed[t] * back[t][v] for t in size), Fraction(0)) for v in size]
    found = []
    for v in size:
        weights = [back[t][v] for t in size]
        second = sum((w * w * share for w, share in zip(weights, observed, strict=True)), Fraction(0))
        means = [sum((w * m for w, m in zip(weights, row, strict=True)), Fraction(0)) for row in matrix]
        explained = sum((share * mean**2 for share, mean in zip(shares, means, strict=True)), Fraction(0))
        noise, sample = (second - explained) / total, max(shares[v] * (1 - shares[v]), Fraction(0)) / total
        found.append((shares[v], noise + sample, noise))
    return found


# --- two categories -------------------------------------------------------------------------------


@define
class BetaPrior:
    """pi ~ Beta(a, b).

    Args:
        a, b: the parameters; 1 and 1 is the uniform prior.
    """

    a: Annotated[Fraction, Rational(0, open_low=True)] = Fraction(1)
    b: Annotated[Fraction, Rational(0, open_low=True)] = Fraction(1)


POINTS = 20_000


@define
class ShareOfYes(ReportModel):
    """The share of one of two categories, from reports of a local mechanism (Warner 1965).

    Args:
        attribute: the attribute; it need not be named where the mechanism reports one alone.
        category: whose share is estimated; without it the last one.
        prior: of the share.
        level: of the posterior interval.
    """

    name: ClassVar[str] = "proportion"
    title: ClassVar[str] = "the share of one of two categories, from reports of a local mechanism"
    source: ClassVar[str] = "Warner 1965; Bailie et al. 2024, randomised response"

    attribute: Annotated[str, Text()] | None = None
    category: Annotated[str, Text()] | None = None
    prior: Annotated[BetaPrior, Nested(BetaPrior)] = BetaPrior()
    level: Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)] = Fraction(19, 20)

    def infer(self, released: ReleasedData) -> Inference:
        asked, place, matrix = self._asked(released)
        counts = self.counts_of(released, asked)
        value, variance, noise = estimated(matrix, counts)[place]
        name = f"share of {categories_of(asked)[place]}"
        logs = self._log_density(matrix, counts, place)
        fine, coarse = (on_logits(logs, points) for points in (POINTS, POINTS // 2))
        posterior = of_nodes(name, *fine, self.level)
        other = of_nodes(name, *coarse, self.level)
        pairs = (posterior.mean, other.mean), (posterior.low, other.low), (posterior.high, other.high)
        error = max(abs(float(one) - float(two)) for one, two in pairs)
        return Inference(
            law="each report is drawn by itself with the stated probabilities",
            prior=f"Beta({self.prior.a}, {self.prior.b}) of the {name}",
            proper="the prior is proper",
            estimates=(
                Estimate(name=name, value=value, variance=variance, over=SAMPLE),
                Estimate(name=f"{name} among these records", value=value, variance=noise, over=NOISE),
            ),
            posteriors=(posterior,),
            facts=(("reports", Fraction(sum(counts))), ("reported share", Fraction(counts[place], sum(counts)))),
            level=self.level,
            method="estimate and variance exactly; posterior by quadrature",
            error=f"posterior: a grid of half the points differs by {error:.1e} in mean and interval",
            assumptions=(DRAWS, *beyond_invariants(released, self.name, [asked.name])),
        )

    def _asked(self, released: ReleasedData) -> tuple[Attribute, int, Matrix]:
        asked = self.asked(released)
        names = categories_of(asked)
        if len(names) != 2:
            advice = "use the model table-of-proportions"
            raise IncompatibleBlocksError("model proportion", "needs two categories", advice, value=len(names))
        if self.category is not None and self.category not in names:
            raise unknown_name("category", self.category, names)
        place = 1 if self.category is None else names.index(self.category)
        return asked, place, self.report_matrix(released, asked)

    def _log_density(self, matrix: Matrix, counts: Sequence[int], place: int) -> Callable[[Floats], Floats]:
        yes, no = matrix[place], matrix[1 - place]

        def logs(u: Floats) -> Floats:
            share, rest = 1 / (1 + np.exp(-u)), 1 / (1 + np.exp(u))
            found = float(self.prior.a) * -np.logaddexp(0, -u) + float(self.prior.b) * -np.logaddexp(0, u)
            for t, count in enumerate(counts):
                if count:
                    found = found + count * np.log(share * float(yes[t]) + rest * float(no[t]))
            return np.asarray(found)

        return logs

    def simulate(self, released: ReleasedData, source: Generator) -> Simulation:
        asked, place, matrix = self._asked(released)
        total = sum(self.counts_of(released, asked))
        share = source.beta(float(self.prior.a), float(self.prior.b))
        pi = [share if v == place else 1 - share for v in range(2)]
        probabilities = np.array(pi) @ np.array(matrix, dtype=float)
        counts = source.multinomial(total, probabilities / probabilities.sum())
        again = self.with_counts(released, [int(count) for count in counts], asked)
        return Simulation(truth={f"share of {categories_of(asked)[place]}": share}, released=again)

    @classmethod
    def examples(cls) -> Iterator[tuple[InferenceModel, ReleasedData]]:
        yield cls(), _example(2, (11, 9))
        yield cls(category="0", prior=BetaPrior(a=Fraction(2), b=Fraction(3))), _example(2, (30, 3))


def on_logits(logs: Callable[[Floats], Floats], points: int) -> tuple[Floats, Floats]:
    """Shares and their masses on an even grid of the logit, where the density is not negligible: the trapezoidal rule.

    >>> share, mass = on_logits(lambda u: 3 * -np.logaddexp(0, -u) - 2 * np.logaddexp(0, u), 2000)
    >>> round(float((share * mass).sum()), 12)
    0.6
    """
    low, high = -80.0, 80.0
    for _ in range(8):
        grid = np.linspace(low, high, 4001)
        found = logs(grid)
        inside = np.flatnonzero(found > found.max() - 45)
        step = grid[1] - grid[0]
        low, high = float(grid[inside[0]] - step), float(grid[inside[-1]] + step)
    grid = np.linspace(low, high, points)
    found = logs(grid)
    mass = np.exp(found - found.max())
    return 1 / (1 + np.exp(-grid)), np.asarray(mass / mass.sum())


# --- any number of categories ---------------------------------------------------------------------


CHAINS, SWEEPS, WARMUP = 20, (2000, 20_000), 200
"""So many chains; they are drawn again with more sweeps where they do not agree."""


@define
class TableOfShares(ReportModel):
    """The shares of all categories, from reports of a local mechanism (Warner 1965; Chaudhuri and Mukerjee 1988).

    The posterior is sampled by data augmentation (Tanner and Wong 1987): given the shares, the reports t are divided among the
    true categories v with probabilities proportional to pi_v M[v, t]; given the division, the shares are Dirichlet.

    Args:
        attribute: the attribute; it need not be named where the mechanism reports one alone.
        concentration: the parameter of the symmetric Dirichlet prior, or one for each category.
        level: of the posterior intervals.
        seed: of the sampler.
    """

    name: ClassVar[str] = "table-of-proportions"
    title: ClassVar[str] = "the shares of all categories, from reports of a local mechanism"
    source: ClassVar[str] = "Warner 1965; Tanner and Wong 1987"

    attribute: Annotated[str, Text()] | None = None
    concentration: Annotated[tuple[Fraction, ...], Items(Rational(0, open_low=True), least=1)] = (Fraction(1),)
    level: Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)] = Fraction(19, 20)
    seed: Annotated[int, Integer(0)] = 0

    def infer(self, released: ReleasedData) -> Inference:
        asked = self.asked(released)
        matrix, counts = self.report_matrix(released, asked), self.counts_of(released, asked)
        names = [f"share of {value}" for value in categories_of(asked)]
        alphas = self._alphas(asked)
        repeated = np.repeat(np.array(counts)[:, None], CHAINS, axis=1)
        for sweeps in SWEEPS:
            draws = augmented(matrix, repeated, alphas, sweeps=sweeps, seed=self.seed)
            found = [diagnosed(name, draws[:, v]) for v, name in enumerate(names)]
            if all(one.is_good for one in found):
                break
        return Inference(
            law="each report is drawn by itself with the stated probabilities",
            prior=f"Dirichlet({', '.join(map(str, alphas))})",
            proper="the prior is proper",
            estimates=tuple(
                Estimate(name=name, value=value, variance=variance, over=SAMPLE)
                for name, (value, variance, _) in zip(names, estimated(matrix, counts), strict=True)
            ),
            posteriors=tuple(of_draws(name, draws[:, v], self.level) for v, name in enumerate(names)),
            facts=(("reports", Fraction(sum(counts))),),
            level=self.level,
            method=f"estimates and variances exactly; posterior sampled, {CHAINS} chains of {sweeps:,} draws",
            error=f"posterior: {standard_errors(draws, found)}",
            diagnostics=tuple(found),
            seed=self.seed,
            assumptions=(DRAWS, *beyond_invariants(released, self.name, [asked.name])),
        )

    def posteriors_of(self, many: Sequence[ReleasedData]) -> Sequence[tuple[Posterior, ...]]:
        """One chain for each release, all at once."""
        asked = self.asked(many[0])
        counts = np.array([self.counts_of(released, asked) for released in many]).T
        draws = augmented(self.report_matrix(many[0], asked), counts, self._alphas(asked), sweeps=2 * SWEEPS[0], seed=self.seed)
        names = [f"share of {value}" for value in categories_of(asked)]
        return [
            tuple(of_draws(name, draws[:, v, k], self.level) for v, name in enumerate(names)) for k in range(len(many))
        ]

    def _alphas(self, asked: Attribute) -> tuple[Fraction, ...]:
        given = self.concentration if len(self.concentration) > 1 else self.concentration * asked.size
        if len(given) != asked.size:
            rule = f"must be one number, or one for each of the {asked.size} categories"
            raise errors.ParameterError("concentration", rule, value=len(given))
        return given

    def simulate(self, released: ReleasedData, source: Generator) -> Simulation:
        asked = self.asked(released)
        matrix = np.array(self.report_matrix(released, asked), dtype=float)
        total = sum(self.counts_of(released, asked))
        shares = source.dirichlet([float(alpha) for alpha in self._alphas(asked)])
        probabilities = shares @ matrix
        counts = source.multinomial(total, probabilities / probabilities.sum())
        again = self.with_counts(released, [int(count) for count in counts], asked)
        truth = {f"share of {value}": float(share) for value, share in zip(categories_of(asked), shares, strict=True)}
        return Simulation(truth=truth, released=again)

    @classmethod
    def examples(cls) -> Iterator[tuple[InferenceModel, ReleasedData]]:
        yield cls(), _example(3, (12, 9, 4))


def augmented(
    matrix: Matrix, counts: Any, alphas: Sequence[Fraction], *, sweeps: int, warmup: int = WARMUP, seed: int
) -> Floats:
    """Draws of the shares: shape (sweeps, categories, chains); a column of `counts` for each chain."""
    source = np.random.default_rng(seed)
    probabilities, size, chains = np.array(matrix, dtype=float), len(matrix), counts.shape[1]
    prior = np.array([float(alpha) for alpha in alphas])[:, None]
    shares = np.full((size, chains), 1 / size)
    kept = np.empty((sweeps, size, chains))
    for turn in range(-warmup, sweeps):
        weights = shares[:, None, :] * probabilities[:, :, None]
        weights /= np.maximum(weights.sum(axis=0), 1e-300)
        left, divided = counts.copy(), np.zeros((size, chains))
        rest = np.ones(counts.shape)
        for v in range(size):
            share = np.clip(weights[v] / np.maximum(rest, 1e-300), 0.0, 1.0) if v < size - 1 else np.ones(counts.shape)
            part = source.binomial(left, share)
            divided[v] = part.sum(axis=0)
            left = left - part
            rest = rest - weights[v]
        drawn = np.maximum(source.gamma(prior + divided), 1e-300)
        shares = drawn / drawn.sum(axis=0)
        if turn >= 0:
            kept[turn] = shares
    return kept


def standard_errors(draws: Floats, found: Sequence[Diagnostic]) -> str:
    """The largest simulation error of a posterior mean, in words."""
    errors_ = [float(draws[:, v].std()) / math.sqrt(one.effective_draws) for v, one in enumerate(found)]
    return f"simulated; standard error of a posterior mean at most {max(errors_):.1e}"


def _example(size: int, counts: Sequence[int]) -> ReleasedData:
    import dpspec as dp

    categories = [str(v) for v in range(size)]
    space = {"type": "ordered-records", "attributes": [{"name": "answer", "categories": categories}], "least": sum(counts)}
    document = dp.build(
        space={**space, "most": sum(counts)},
        input_divergence={"type": "hamming-ordered", "unit": "person"},
        output_divergence={"type": "mult"},
        budget={"epsilon": "ln(6)"},
        mechanism={"type": "k-ary-response", "keep_probability": "3/5"},
    )
    mechanism = document.mechanism
    assert mechanism is not None  # noqa: S101 - stated above
    asked = document.spec.space.attributes_of("person")[0]
    empty = ReleasedData(spec=document.spec, mechanism=mechanism)
    return ShareOfYes().with_counts(empty, counts, asked)
