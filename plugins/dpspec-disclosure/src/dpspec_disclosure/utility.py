r"""The error of a published table of counts: exact where its law is known, from independent seeded runs where it is not.

For a table of k cells with true counts n_c > 0 and published numbers Y_c,

    mape    100/k sum |Y_c - n_c| / n_c, over the cells with n_c > 0 (percent)
    mae     1/k sum |Y_c - n_c|
    rmse    sqrt(1/k sum (Y_c - n_c)^2)
    max     max |Y_c - n_c|

Y is random. Reported is the expected value over the randomness of the release, for rmse the root of the expected square. Cells
that are published without a number (suppressed) are left out and counted.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from dpspec.plugin import (
    FiniteLaw,
    Law,
    Marginal,
    Mechanism,
    ParameterError,
    answers,
    errors,
    grammar,
    late_module,
    laws,
    randomness,
)
from dpspec.plugin.applications import did_you_mean

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from dpspec import DatasetSpace
    from dpspec.plugin import Table

    Values: TypeAlias = npt.NDArray[np.float64]
else:
    np = late_module("numpy")

METRICS = {
    "mape": "mean absolute percentage error of the cells that hold records, in percent",
    "mae": "mean absolute error, in records",
    "rmse": "root mean squared error, in records",
    "max": "largest absolute error, in records",
}
MOST_CELLS = 1_000_000
CONFIDENCE = 0.95
"""Of the interval around a simulated mean, by Student's law: about so, as the errors of runs are not normal."""
MOST_SPREAD = 100_000
"""Sums over discrete Gaussian noise are written out up to this standard deviation."""
LEFT_OUT = "x"
"""What an outcome of a table of counts has in place of a suppressed number."""


@attrs.frozen(kw_only=True)
class Statistic:
    """A table of counts whose error is computed.

    Args:
        attributes: the attributes of the table.
        cells: its cells, as categories.
        truth: the true counts.
    """

    attributes: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    truth: Values = attrs.field(eq=False)

    @classmethod
    def of(cls, text: str, table: Table) -> Statistic:
        """``marginal:ATTR,...`` of a table: every combination of categories, or those that occur where an attribute is nested.

        Raises:
            ParameterError: the text has another form.
            UnknownNameError: an attribute is no column of the table.
            NotEnumerableError: the table of counts has more than a million cells.
        """
        kind, _, listed = text.partition(":")
        names = tuple(dict.fromkeys(name.strip() for name in listed.split(",") if name.strip()))
        if kind != "marginal" or not names:
            raise ParameterError("statistic", "must be marginal:ATTRIBUTES", "such as marginal:county,tenure", value=text)
        columns = [a.name for a in table.attributes]
        for name in names:
            if name not in columns:
                raise errors.UnknownNameError("attribute", "is no column of the table", did_you_mean(name, columns), value=name)
        attributes = [table.attribute(name) for name in names]
        counts = table.counts(names)
        if any(a.within is not None for a in attributes):
            cells = tuple(sorted(counts))
        elif math.prod(a.size for a in attributes) <= MOST_CELLS:
            cells = tuple(itertools.product(*(a.values() for a in attributes)))
        else:
            rule = f"has more than {MOST_CELLS:,} cells"
            raise errors.NotEnumerableError("statistic", rule, "name fewer attributes", value=text)
        return cls(attributes=names, cells=cells, truth=np.asarray([counts.get(cell, 0) for cell in cells], dtype=float))

    def __str__(self) -> str:
        return " x ".join(self.attributes)


@attrs.frozen(kw_only=True)
class ErrorFound:
    """The error of one design at one parameter.

    Args:
        value: the expected error; None where it is not known.
        low, high: the confidence interval of a simulated value, None where all runs are equal; the value itself where it is
            exact.
        runs: how many runs were simulated; 0 where the value is exact.
        left_out: how many cells are published without a number, on average over the runs.
        reason: why no error is known.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    runs: int = 0
    left_out: float = 0.0
    reason: str = ""

    @property
    def kind(self) -> str:
        """``exact``, ``simulated`` or ``unknown``."""
        return "unknown" if self.value is None else "simulated" if self.runs else "exact"


def error_of(  # noqa: PLR0917 - one design, and what is asked about it
    mechanism: Mechanism | None, table: Table, space: DatasetSpace, statistic: Statistic, metric: str, runs: int, seed: str
) -> ErrorFound:
    """The error of a mechanism on a table.

    Args:
        mechanism, table, space: what is released.
        statistic, metric: the statistic that is compared, and the measure of its error.
        runs: the number of simulated releases where the law is not known.
        seed: the text from which the seeds of the runs are derived.
    """
    if mechanism is None:
        return ErrorFound(reason="the file names no mechanism")
    kept = statistic.truth > 0 if metric == "mape" else np.ones(len(statistic.truth), dtype=bool)
    if not kept.any():
        return ErrorFound(reason="no cell of the statistic has a record")
    known = _from_law(mechanism, space, statistic, metric, kept)
    if known is not None:
        return known
    try:
        return _from_runs(mechanism, table, space, statistic, metric, kept, runs, seed)
    except errors.DpspecError as fault:
        return ErrorFound(reason=str(fault))


@attrs.frozen(kw_only=True)
class CellErrors:
    """The error of each cell of a statistic.

    Args:
        mean: E |Y - n| of each cell, given that a number is published; NaN where none is.
        root: the root of E (Y - n)^2, in the same way.
        published: the probability that a number is published; the share of the runs where it is simulated.
        runs: how many runs were simulated; 0 where all follows from the law.
    """

    mean: Values
    root: Values
    published: Values
    runs: int = 0


def errors_of_cells(  # noqa: PLR0917 - one design, and what is asked about it
    mechanism: Mechanism, table: Table, space: DatasetSpace, statistic: Statistic, runs: int, seed: str
) -> CellErrors:
    """The error of each cell, from the same law or the same runs as `error_of`.

    Raises:
        ReleaseError and its kin: the mechanism publishes no number of the statistic, or does not run on this table.
    """
    every = _deviations(mechanism, space, statistic, statistic.truth)
    if every is not None:
        shown = np.asarray([one.published for one in every])
        mean, square = (np.asarray([getattr(one, name) for one in every]) for name in ("mean", "square"))
        hidden = np.where(shown > 0, 0.0, math.nan)
        return CellErrors(mean=mean + hidden, root=np.sqrt(square) + hidden, published=shown)
    drawn = list(_drawn(mechanism, table, space, statistic, runs, seed))
    off = np.asarray([run for run, _ in drawn])
    numbers = (~np.isnan(off)).sum(axis=0)
    with np.errstate(invalid="ignore"):  # 0/0 of a cell that no run publishes
        mean, square = np.nansum(off, axis=0) / numbers, np.nansum(off**2, axis=0) / numbers
    random = any(used for _, used in drawn)
    return CellErrors(mean=mean, root=np.sqrt(square), published=numbers / len(drawn), runs=len(drawn) if random else 0)


# --- where the law is known -----------------------------------------------------------------------


def _from_law(
    mechanism: Mechanism, space: DatasetSpace, statistic: Statistic, metric: str, kept: npt.NDArray[np.bool_]
) -> ErrorFound | None:
    """The expected error; None where the law of the numbers is not stated."""
    truth = statistic.truth[kept]
    every = _deviations(mechanism, space, statistic, truth)
    if every is None:
        return None
    numbered = [(one, count) for one, count in zip(every, truth.tolist(), strict=True) if one.published > 0]
    if not numbered:
        return ErrorFound(reason="every cell is published without a number")
    made: Mapping[str, Callable[[], float | None]] = {
        "mape": lambda: 100 * sum(one.mean / count for one, count in numbered) / len(numbered),
        "mae": lambda: sum(one.mean for one, _ in numbered) / len(numbered),
        "rmse": lambda: math.sqrt(sum(one.square for one, _ in numbered) / len(numbered)),
        "max": lambda: _expected_maximum([one for one, _ in numbered]),
    }
    value = made[metric]()
    return None if value is None else ErrorFound(value=value, low=value, high=value, left_out=len(every) - len(numbered))


def _deviations(mechanism: Mechanism, space: DatasetSpace, statistic: Statistic, truth: Values) -> list[Deviation] | None:
    """The deviation of each number; None where a law is not stated, or whether a number is published is random."""
    if not isinstance(mechanism, grammar.CountLaws) or not grammar.states_itself(mechanism, "count_law"):
        return None
    if grammar.counted_unit(mechanism, space) != space.units[0]:
        return None
    known: dict[int, Deviation] = {}
    for count in {int(count) for count in truth}:
        law = mechanism.count_law(statistic.attributes, count, space)
        found = None if law is None else Deviation.of(law, count)
        if found is None or 0 < found.published < 1:
            return None
        known[count] = found
    return [known[int(count)] for count in truth]


@attrs.frozen(kw_only=True)
class Deviation:
    """|Y - n| for one published number.

    Args:
        mean: E |Y - n|.
        square: E (Y - n)^2.
        published: the probability that a number is published.
        below: for t >= 0, P(|Y - n| <= t) on the points where it jumps, by increasing t; () for a continuous law.
        law: the law of Y.
    """

    mean: float
    square: float
    published: float = 1.0
    below: tuple[tuple[float, float], ...] = ()
    law: Law | None = None

    @classmethod
    def of(cls, law: Law, count: int) -> Deviation | None:
        """Of a law of published numbers; None for a law whose moments are not known here."""
        if isinstance(law, FiniteLaw):
            return cls._of_finite(law, count)
        if isinstance(law, laws.LaplaceLaw):
            return cls(mean=1 / float(law.decay), square=_variance(law), law=law)
        if isinstance(law, laws.GaussianLaw):
            square = _variance(law)
            return cls(mean=math.sqrt(2 * square / math.pi), square=square, law=law)
        if isinstance(law, laws.TwoSidedGeometricLaw):
            ratio = math.exp(-float(law.decay))
            return cls(mean=2 * ratio / (1 - ratio**2), square=_variance(law), law=law)
        if isinstance(law, laws.DiscreteGaussianLaw):
            return cls._of_discrete_gaussian(law)
        return None

    @classmethod
    def _of_finite(cls, law: FiniteLaw, count: int) -> Deviation:
        shown = {abs(int(str(y)) - count): 0 for y in law.weights if y != LEFT_OUT}
        for outcome, weight in law.weights.items():
            if outcome != LEFT_OUT:
                shown[abs(int(str(outcome)) - count)] += weight
        total = sum(shown.values())
        ends = itertools.accumulate(shown[off] for off in sorted(shown))
        return cls(
            mean=sum(off * weight for off, weight in shown.items()) / total if total else 0.0,
            square=sum(off**2 * weight for off, weight in shown.items()) / total if total else 0.0,
            published=total / law.total,
            below=tuple((off, end / total) for off, end in zip(sorted(shown), ends, strict=True)),
            law=law,
        )

    @classmethod
    def _of_discrete_gaussian(cls, law: laws.DiscreteGaussianLaw) -> Deviation | None:
        variance = float(law.variance)
        spread = math.sqrt(variance)
        if spread > MOST_SPREAD:
            return None
        places = np.arange(1, math.ceil(40 * spread) + 40)
        weights = np.exp(-(places**2) / (2 * variance))
        mean = 2 * (places * weights).sum() / (1 + 2 * weights.sum())
        return cls(mean=float(mean), square=_variance(law), law=law)

    def up_to(self, far: float) -> float:
        """P(|Y - n| <= t)."""
        if self.below:
            return max((mass for off, mass in self.below if off <= far), default=0.0)
        if isinstance(self.law, laws.LaplaceLaw):
            return -math.expm1(-far * float(self.law.decay))
        if isinstance(self.law, laws.GaussianLaw):
            return math.erf(far * math.sqrt(float(self.law.accuracy) / 2))
        whole = math.floor(far)
        centre = int(self.law.center)  # type: ignore[union-attr]  # a law on the integers
        return float(self.law.between(centre - whole, centre + whole + 1, 64))  # type: ignore[union-attr]


def _variance(law: laws.LineLaw | laws.IntegerLaw) -> float:
    """The variance of a law whose deviation is known, as a double."""
    found = laws.deviation(law)
    return math.nan if found is None else float(found.upper) ** 2


def _expected_maximum(every: Sequence[Deviation]) -> float | None:
    """E max over independent deviations: the integral of 1 - product of their distribution functions."""
    if all(one.below for one in every):
        points = sorted({off for one in every for off, _ in one.below})
        total, before = 0.0, 0.0
        for off in points:
            now = math.prod(one.up_to(off) for one in every)
            total += off * (now - before)
            before = now
        return total
    kinds = {(one.mean, type(one.law)) for one in every}
    if len(kinds) > 1:
        return None  # simulated where it can be
    one, size = every[0], len(every)
    whole = isinstance(one.law, laws.TwoSidedGeometricLaw | laws.DiscreteGaussianLaw)
    step = 1.0 if whole else one.mean / 2_000
    total, far = 0.0, 0.0
    while True:
        above = 1 - one.up_to(far if whole else far + step / 2) ** size
        total += above * step
        far += step
        if above < 1e-12 or far > 1e7:
            return total if above < 1e-12 else None


# --- from runs ------------------------------------------------------------------------------------


class RunSource(randomness.SeededRandomness):
    """The source of one simulated run, which remembers whether it was used.

    Runs are independent, and each is the same whatever others are drawn.

    Args:
        seed: the text that all runs of a point share.
        run: the number of the run.
    """

    def __init__(self, seed: str, run: int) -> None:
        digest = hashlib.sha256(f"{seed}/{run}".encode()).digest()
        super().__init__(int.from_bytes(digest[:8], "big"))
        self.used = False

    def words(self, count: int) -> Any:
        self.used = self.used or count > 0
        return super().words(count)

    def placed(self) -> Any:
        self.used = True
        return super().placed()


def _from_runs(  # noqa: PLR0917 - one design, and what is asked about it
    mechanism: Mechanism,
    table: Table,
    space: DatasetSpace,
    statistic: Statistic,
    metric: str,
    kept: npt.NDArray[np.bool_],
    runs: int,
    seed: str,
) -> ErrorFound:
    values: list[float] = []
    left_out: list[int] = []
    for every, random in _drawn(mechanism, table, space, statistic, runs, seed):
        off = every[kept]
        shown = ~np.isnan(off)
        left_out.append(int((~shown).sum()))
        if shown.any():
            values.append(_measured(off[shown], statistic.truth[kept][shown], metric))
        if not random:
            value = values[0] if values else None
            value = math.sqrt(value) if value is not None and metric == "rmse" else value
            if value is None:
                return ErrorFound(reason="every cell is published without a number")
            return ErrorFound(value=value, low=value, high=value, left_out=left_out[0])
    if not values:
        return ErrorFound(reason="every cell is published without a number")
    mean, far, hidden = float(np.mean(values)), _half_width(values), sum(left_out) / runs
    made = math.sqrt if metric == "rmse" else float
    if far is None:
        return ErrorFound(value=made(mean), runs=runs, left_out=hidden)
    return ErrorFound(value=made(mean), low=made(max(0.0, mean - far)), high=made(mean + far), runs=runs, left_out=hidden)


def _drawn(  # noqa: PLR0917 - one design, and what is asked about it
    mechanism: Mechanism, table: Table, space: DatasetSpace, statistic: Statistic, runs: int, seed: str
) -> Iterator[tuple[Values, bool]]:
    """|Y - n| of each cell in each run, NaN without a number, and whether it is random; one run where nothing is."""
    for run in range(runs):
        source = RunSource(seed, run)
        released = grammar.released(mechanism, table, space, source)
        yield np.abs(published_numbers(mechanism, table, released, space, statistic) - statistic.truth), source.used
        if not source.used:
            return


def _measured(off: Values, truth: Values, metric: str) -> float:
    """The error of one run; for rmse its square."""
    made: Mapping[str, Callable[[], Any]] = {
        "mape": lambda: 100 * np.mean(off / truth),
        "mae": lambda: np.mean(off),
        "rmse": lambda: np.mean(off**2),
        "max": lambda: np.max(off),
    }
    return float(made[metric]())


def _half_width(values: Sequence[float]) -> float | None:
    """Of the confidence interval of a mean; None where the values are equal, so that they do not show how much they vary."""
    if len(set(values)) < 2:
        return None
    from scipy.stats import t

    return float(t.ppf((1 + CONFIDENCE) / 2, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values)))


def published_numbers(mechanism: Mechanism, table: Table, released: Table, space: DatasetSpace, statistic: Statistic) -> Values:
    """The numbers of a release of a table for the cells of a statistic; NaN where no number is published.

    Raises:
        ReleaseError: the release has no table from which the statistic follows.
    """
    names = [a.name for a in released.attributes]
    asked, found = _queries(mechanism, space), None
    if answers.has_answers(released) and asked:
        found = _from_answers(asked, released, space, statistic)
    elif answers.has_numbers(released):
        found = _from_cells(released, statistic) if _is_about_all_records(mechanism, table, space) else None
    elif set(statistic.attributes) <= set(names) and _is_about_all_records(mechanism, table, space):
        _check_categories(mechanism, released, space, statistic)
        found = {cell: float(count) for cell, count in released.counts(statistic.attributes).items()}
    if found is None:
        advice = "ask about a table that it publishes"
        raise errors.ReleaseError(f"mechanism {mechanism.name}", f"publishes no table that gives {statistic}", advice)
    return np.asarray([found.get(cell, 0.0) for cell in statistic.cells])


def _is_about_all_records(mechanism: Mechanism, table: Table, space: DatasetSpace) -> bool:
    """Whether what is released is about all records of the largest unit: a mechanism around others may leave some of them out.

    It is known by the conditions of the counts that it reads; one that reads records says nothing of them.
    """
    if any(grammar.counted_unit(one, space) != space.units[0] for one in grammar.mechanisms_in(mechanism)):
        return False
    read = grammar.counts_read(mechanism, table.attributes, space)
    if read is None:
        return len([*grammar.mechanisms_in(mechanism)]) < 2
    return not any(counted.where for counted in read)


def _check_categories(mechanism: Mechanism, released: Table, space: DatasetSpace, statistic: Statistic) -> None:
    """Refuse a release in other categories, or of members: it does not say how many records of each cell the table holds.

    Raises:
        ReleaseError: an attribute of the statistic has other categories than in the space, or the release has one of members.
    """
    own = {a.name: a for unit in space.units for a in space.attributes_of(unit)}
    outer = {a.name for a in space.attributes_of(space.units[0])}
    if any(a.name in own and a.name not in outer for a in released.attributes):
        rule = f"publishes records of another unit than {space.units[0]}, of which {statistic} counts cells"
        raise errors.ReleaseError(f"mechanism {mechanism.name}", rule, f"ask about a mechanism of {space.units[0]} records")
    for name in statistic.attributes:
        if name in own and {*released.attribute(name).values()} != {*own[name].values()}:
            rule = f"publishes {name} in other categories, so that it gives no number for the cells of {statistic}"
            raise errors.ReleaseError(f"mechanism {mechanism.name}", rule, "ask about attributes that it leaves as they are")


def _from_answers(
    queries: Sequence[Marginal], released: Table, space: DatasetSpace, statistic: Statistic
) -> dict[tuple[str, ...], float] | None:
    """From noisy answers: those of the smallest table that has all attributes of the statistic, summed.

    Where a table is answered several times, these are the first answers.
    """
    fitting = [
        query for query in queries
        if set(statistic.attributes) <= set(query.attributes) and not query.where and query.unit == space.units[0]
    ]  # fmt: skip
    if not fitting:
        return None
    query = min(fitting, key=lambda one: len(one.attributes))
    order = [a.name for a in released.attributes]
    places = [order.index(answers.column_of(name)) for name in statistic.attributes]
    at, of = order.index(answers.VALUE), order.index(answers.QUERY)
    own = [order.index(answers.column_of(name)) for name in query.attributes]
    found: dict[tuple[str, ...], float] = {}
    answered: set[tuple[str, ...]] = set()
    for row in released.records():
        if row[of] != str(query) or (key := tuple(row[place] for place in own)) in answered:
            continue
        answered.add(key)
        cell = tuple(row[place] for place in places)
        found[cell] = found.get(cell, 0.0) + (float(row[at]) if row[at] else math.nan)
    return found or None


def _queries(mechanism: Mechanism, space: DatasetSpace) -> list[Marginal]:
    """The tables of counts that a mechanism of noisy answers measures; of one around others, those that it states."""
    listed = [*getattr(mechanism, "queries", ()), *(m.query for m in getattr(mechanism, "measurements", ()))]
    if listed:
        return [table for table in (query.as_marginal() for query in listed) if table is not None]
    try:
        structure = grammar.stated_structure(mechanism, space)
    except grammar.NoStructure:
        return []
    return [] if structure is None else [view.table for view in structure.views]


def _from_cells(released: Table, statistic: Statistic) -> dict[tuple[str, ...], float] | None:
    """From a table of numbers: the cells of the statistic itself, else the sums of the cells inside them; each number once."""
    order = [a.name for a in released.attributes]
    if not {*map(answers.column_of, statistic.attributes)} <= set(order):
        return None
    places = [order.index(answers.column_of(name)) for name in statistic.attributes]
    at = order.index(answers.VALUE)
    fixed = {*places, at, *(order.index(name) for name in (answers.QUERY, answers.STATUS) if name in order)}
    others = [place for place in range(len(order)) if place not in fixed]
    own: dict[tuple[str, ...], float] = {}
    sums: dict[tuple[str, ...], float] = {}
    answered: set[tuple[str, ...]] = set()
    for row in released.records():
        cell, key = tuple(row[place] for place in places), tuple(row[place] for place in (*places, *others))
        if answers.ALL in cell or key in answered:
            continue
        answered.add(key)
        value = float(row[at]) if row[at] else math.nan
        if all(row[place] == answers.ALL for place in others):
            own[cell] = value
        elif not any(row[place] == answers.ALL for place in others):
            sums[cell] = sums.get(cell, 0.0) + value
    return own or sums or None
