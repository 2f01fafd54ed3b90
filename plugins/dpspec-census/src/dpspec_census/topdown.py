"""TopDown in miniature and on tables: noisy measurements, then the nearest table that keeps the invariants (Bailie, Gong, Meng
and Drechsler 2024; Bailie, Gong and Meng 2023).

    step 1   t = q(x) + W,  W discrete Gaussian, independent for every answer of every measurement
    step 2   z minimises  sum_i |q_i(z) - t_i| / sigma_i  over integer tables z >= 0 with c(z) = c(x)

Both z and t are published. Step 2 reads c(x) from the confidential data, so it is post-processing inside a
universe of c and is none outside (Bailie, Gong and Meng 2023).

Queries and invariants are integer rows over the cells of a space, which give the loss of noise on them (Bailie, Gong and Meng
2023). Step 2 is

    minimise    sum_i w_i e_i
    subject to  -e_i <= q_i(z) - t_i <= e_i,   c(z) = c(x),   z >= 0 integer,   the size of z allowed by the space

solved as a mixed-integer program by HiGHS (scipy). The weights w_i are 1/sigma_i as integers. The solver computes
in floats, so its answer is only a proposal: it is rounded and must then satisfy every constraint in integers. When
several tables are equally near, the one that the solver finds is taken; the program is built from (c, t) and the
space alone and the solver is deterministic, so the choice is a function of (c, t).

On tables exact discrete Gaussian noise is added to the counts, and the fitted table is written as records again.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol

import attrs
from dpspec_noise.additive import noisy_answers
from dpspec_noise.samplers import discrete_gaussian

from dpspec.plugin import (
    Claim,
    Dataset,
    DatasetSpace,
    IncompatibleBlocksError,
    Invariant,
    Items,
    Law,
    LevelSets,
    Marginal,
    Mechanism,
    Multiverse,
    Nested,
    Number,
    PrivacySpec,
    Randomness,
    Rational,
    Registered,
    Table,
    Text,
    Trivial,
    UnorderedRecords,
    answers,
    blocks,
    define,
    errors,
    exact,
    grammar,
    late_module,
    laws,
    memoize,
    number,
    params,
)

if TYPE_CHECKING:
    import numpy as np
else:
    np = late_module("numpy")

Rows = tuple[tuple[int, ...], ...]
"""An integer matrix: one row for each answer, one column for each cell."""


def products(rows: Rows, vector: Sequence[int]) -> tuple[int, ...]:
    """The matrix times the dataset's vector.

    >>> products(((1, 1, 0), (0, 0, 2)), (3, 4, 5))
    (7, 10)
    """
    return tuple(sum(a * v for a, v in zip(row, vector, strict=True)) for row in rows)


@memoize(maxsize=256)
def query_rows(query: Invariant, space: DatasetSpace) -> Rows:
    """The rows of a linear query, one for each of its answers: column j is its answer on the dataset of one record j."""
    constraint_rows(query, space)
    if not isinstance(space, (UnorderedRecords, blocks.Households)):
        raise IncompatibleBlocksError(f"space {space.name}", "has no records that are counted", "use records or households")
    anything: Any = space
    wide: blocks.Multisets = attrs.evolve(anything, least=0, most=None)
    columns = [query.answers(wide.of((cell,)), wide) for cell in wide.cells() or ()]
    return tuple(zip(*columns, strict=True))


@memoize(maxsize=256)
def constraint_rows(invariant: Invariant, space: DatasetSpace) -> Rows:
    """The rows of a linear invariant; IncompatibleBlocksError when it is none on the space."""
    invariant.check(space)
    if not isinstance(space, blocks.Multisets) or space.cells() is None:
        raise IncompatibleBlocksError(
            f"space {space.name}", "has no list of cells to fit a table on", "use fewer attributes, or bound the members"
        )
    rows = invariant.matrix(space)
    if rows is None:
        raise IncompatibleBlocksError(f"query {invariant}", "is not linear in the counts", "use a marginal or a linear map")
    return rows


@memoize(maxsize=256)
def _check_linear(invariant: Invariant, space: DatasetSpace) -> None:
    """Refuse what is no linear map of the counts; a table of counts is one also where the cells are too many to list."""
    invariant.check(space)
    if invariant.as_marginal() is None or not isinstance(space, blocks.Multisets) or space.cells() is not None:
        query_rows(invariant, space)


def loss_of_one_unit(measurements: Iterable[tuple[Invariant, Fraction]], space: DatasetSpace, unit: str) -> Number:
    """max over pairs (a, b) of kinds of records of  sum over measurements of |q(a) - q(b)|^2 / (2 variance).

    That is rho of discrete Gaussian noise when one record of the unit is replaced, |.| the Euclidean norm.
    The kinds are the cells of the space when they are records of the unit. Persons in households are counted as
    records of their own; a query on households then has no finite loss, since person records do not determine it.
    """
    measurements = list(measurements)
    if isinstance(space, blocks.Households) and unit != space.units[0]:
        if any(getattr(query, "unit", None) != unit for query, _ in measurements):
            return exact.INFINITY
        space = UnorderedRecords(attributes=space.attributes_of(unit), unit=unit)
    weighted = [(row, 1 / (2 * variance)) for query, variance in measurements for row in query_rows(query, space)]
    kinds = range(len(weighted[0][0]))
    losses = (
        sum((weight * (row[a] - row[b]) ** 2 for row, weight in weighted), Fraction(0))
        for a, b in itertools.combinations(kinds, 2)
    )
    return number(max(losses, default=Fraction(0)))


# --- the mechanism --------------------------------------------------------------------------------


DISJOINT = laws.FiniteDichotomy((1, 0), (0, 1), 1, 1)
"""The pair of two laws that share no outcome."""


@define
class Measurement:
    """A linear query and the noise on each of its answers.

    Args:
        query: a marginal or a linear map.
        variance: sigma^2 of the discrete Gaussian on every answer.
    """

    query: Annotated[Invariant, Registered("invariants")]
    variance: Annotated[Fraction, Rational(0, open_low=True)]


@define
class TopdownNoise(Mechanism):
    """The noise step alone: t = q(x) + W (Bailie, Gong and Meng 2023).

    Args:
        measurements: the queries, each with its variance.
        unit: the unit that the claim protects.

    >>> from dpspec.plugin import Marginal
    >>> from dpspec.plugin import UnorderedRecords
    >>> space = UnorderedRecords(attributes=[{"name": "sex", "categories": ["f", "m"]}])
    >>> noise = TopdownNoise(measurements=[{"query": Marginal(attributes=["sex"]), "variance": "5/2"}])
    >>> str(noise.rho(space)), noise.answers((("f",), ("f",)), space)
    ('2/5', (2, 0))
    """

    name: ClassVar[str] = "topdown-noise"

    measurements: Annotated[tuple[Measurement, ...], Items(Nested(Measurement), least=1)]
    unit: Annotated[str, Text()] = "person"

    def check(self, space: DatasetSpace) -> None:
        space.check_unit(self.unit)
        for measurement in self.measurements:
            _check_linear(measurement.query, space)

    def with_wider_noise(self, factor: Fraction) -> TopdownNoise:
        measurements = [params.evolve(one, variance=one.variance * factor**2) for one in self.measurements]
        return params.evolve(self, measurements=tuple(measurements))

    def structure(self, space: DatasetSpace) -> grammar.Structure | None:
        """Independent noise on the counts of every table; None where a query is no table of counts."""
        measured = ((m.query, partial(laws.DiscreteGaussianLaw, variance=m.variance)) for m in self.measurements)
        return noisy_answers(measured, space)

    def counted_tables(self, space: DatasetSpace) -> tuple[tuple[str, ...], ...]:
        """The attributes of the measurements that count all records of the largest unit in each cell of a table."""
        queries = [m.query for m in self.measurements if type(m.query) is Marginal]
        return tuple(query.attributes for query in queries if not query.where and query.unit == space.units[0])

    def tables_are_independent(self) -> bool:
        """Every answer has noise of its own."""
        return True

    def count_law(self, attributes: Sequence[str], count: int, space: DatasetSpace) -> Law | None:
        """The noise of the first measurement of such a table."""
        if not any(set(table) == set(attributes) for table in self.counted_tables(space)):
            return None
        found = next(m for m in self.measurements if type(m.query) is Marginal and set(m.query.attributes) == set(attributes))
        return laws.DiscreteGaussianLaw(count, found.variance)

    def answers(self, dataset: Dataset, space: DatasetSpace) -> tuple[int, ...]:
        """q(x): the answers of all measurements, one after the other."""
        vector = blocks.ListedCells.needed_in(space).vector(dataset)
        return tuple(answer for m in self.measurements for answer in products(query_rows(m.query, space), vector))

    def variances(self, space: DatasetSpace) -> tuple[Fraction, ...]:
        """The variance of the noise on every answer."""
        return tuple(m.variance for m in self.measurements for _ in query_rows(m.query, space))

    def noise_law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """The law of t: independent discrete Gaussians around the true answers."""

        pairs = zip(self.answers(dataset, space), self.variances(space), strict=True)
        return laws.Product(tuple(laws.DiscreteGaussianLaw(answer, variance) for answer, variance in pairs))

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        self.check(space)
        return self.noise_law(space.dataset(dataset), space)

    def rho(self, space: DatasetSpace) -> Number:
        """The largest sum over measurements of |dq|^2 / (2 variance) when one unit is replaced, exactly.

        The maximum runs over all pairs of kinds of records of the unit (the cells of the space).
        """
        return loss_of_one_unit([(m.query, m.variance) for m in self.measurements], space, self.unit)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """D_nor with the budget rho of the noise, in the one universe of all datasets."""
        return (self._claim("TopDown noise step", "Bailie, Gong and Meng 2023, noise step of TopDown", Trivial(), space),)

    def _claim(self, label: str, source: str, multiverse: Multiverse, space: DatasetSpace) -> Claim:
        from dpspec_divergences import DNor, Hamming

        from dpspec.plugin import UniformBudget

        spec = PrivacySpec(
            space=space,
            multiverse=multiverse,
            input_divergence=Hamming(unit=self.unit),
            output_divergence=DNor(),
            budget=UniformBudget(parameter="rho", value=self.rho(space)),
        )
        return Claim(label=label, source=source, spec=spec)

    def answers_queries(self) -> bool:
        """As of `grammar.AnswersQueries`."""
        return True

    def check_release(self, space: DatasetSpace) -> None:
        super().check_release(space)
        _of_records(space)

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """The noisy measurement file: one row for each answer."""

        self.check(space)
        return measured(self, table, space, source)[1]


@define
class Topdown(TopdownNoise):
    """TopDown: the noise step, then a table that fits the noisy answers and keeps the invariants exactly.

    An outcome is the pair (z, t): the fitted table as a dataset of the space, and the noisy measurements.

    Args:
        measurements, unit: as in `TopdownNoise`.
        invariants: c, read from the confidential data; a structural zero is a count that is always 0.
    """

    name: ClassVar[str] = "topdown"

    invariants: Annotated[tuple[Invariant, ...], Items(Registered("invariants"))] = ()

    def check(self, space: DatasetSpace) -> None:
        super().check(space)
        for invariant in self.invariants:
            _check_linear(invariant, space)

    def structure(self, space: DatasetSpace) -> grammar.Structure | None:
        """The noise step, and a fit that reads c(x)."""
        noise = super().structure(space)
        return None if noise is None else attrs.evolve(noise, reads=self.invariants)

    def kept_invariants(self, space: DatasetSpace) -> tuple[Invariant, ...]:
        """c, of the microdata that are released."""
        return self.invariants

    def constraints(self, space: DatasetSpace) -> tuple[tuple[int, ...], ...]:
        """The rows of c over the cells of the space."""
        return tuple(row for invariant in self.invariants for row in constraint_rows(invariant, space))

    def fixed(self, dataset: Dataset, space: DatasetSpace) -> tuple[int, ...]:
        """c(x)."""
        return products(self.constraints(space), blocks.ListedCells.needed_in(space).vector(dataset))

    def fit(self, fixed: tuple[int, ...], measured: tuple[int, ...], space: DatasetSpace) -> Dataset:
        """Step 2: the table z of a pair (c, t), a function of these two alone."""

        return blocks.ListedCells.needed_in(space).from_vector(fitted(self, fixed, measured, space))

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        self.check(space)
        x = space.dataset(dataset)
        return FittedLaw(fixed=self.fixed(x, space), noise=self.noise_law(x, space), mechanism=self, space=space)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """Inside the universes of its invariants, the budget of its noise step."""
        return (
            self._claim(
                "TopDown within its invariants",
                "Bailie, Gong and Meng 2023, theorem on TopDown",
                LevelSets(invariants=self.invariants),
                space,
            ),
        )

    def answers_queries(self) -> bool:
        """It releases records."""
        return False

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """The privacy-protected microdata z; `release_both` also returns the noisy measurement file."""
        return self.release_both(table, space, source)[0]

    def release_both(self, table: Table, space: DatasetSpace, source: Randomness) -> tuple[Table, Table]:
        """Both outputs: the microdata z and the noisy measurements t (Bailie, Gong and Meng 2023)."""

        self.check(space)
        vector, noisy, answers = measured(self, table, space, source)
        z = self.fit(products(self.constraints(space), vector), answers, space)
        return microdata(z, space), noisy


class Fitting(Protocol):
    """The properties of a mechanism that fits noisy answers on which its law depends."""

    def variances(self, space: DatasetSpace) -> tuple[Fraction, ...]:
        """The variance of the noise on every answer."""

    def fit(self, fixed: tuple[int, ...], measured: tuple[int, ...], space: DatasetSpace) -> Dataset:
        """The exact part of the release, next to the answers: a function of c(x) and of them alone."""


@attrs.frozen(kw_only=True)
class FittedLaw(Law):
    """The law of (fit(c(x), t), t).

    Two of them are compared without enumerating anything. With equal c the outcome is one common function of t, and t
    is part of it, so the pair of laws has exactly the likelihood ratios of the noise (data processing, there and
    back). With different c no outcome is common, since every fitted z has c(z) = c(x) exactly.

    Args:
        fixed: c(x).
        noise: the law of t.
        mechanism, space: which fit it is.
    """

    fixed: tuple[int, ...]
    noise: Law
    mechanism: Fitting
    space: DatasetSpace

    def against(self, other: Law) -> laws.Dichotomy:
        if not isinstance(other, FittedLaw) or (other.mechanism, other.space) != (self.mechanism, self.space):
            raise errors.NoFormulaError(
                "topdown", "is compared with the same mechanism on the same space only", "compare its noise step"
            )
        return self.noise.against(other.noise) if self.fixed == other.fixed else DISJOINT

    def outcome(self, measured: tuple[int, ...]) -> tuple[Dataset, tuple[int, ...]]:
        """The outcome (z, t) of given noisy measurements t."""
        if len(measured) != len(self.mechanism.variances(self.space)):
            raise IncompatibleBlocksError("measurements", "need one number for each answer", value=measured)
        return self.mechanism.fit(self.fixed, measured, self.space), measured


# --- step 2 ---------------------------------------------------------------------------------------


_RESOLUTION = 10**4
"""The weight of the noisiest answer before common factors are taken out."""


def weights(variances: Sequence[Fraction]) -> tuple[int, ...]:
    """Integers in the proportion 1/sigma_i, the least of them to four digits.

    >>> weights([Fraction(1), Fraction(4), Fraction(1)])
    (2, 1, 2)
    """
    largest = max(variances)
    rough = [math.isqrt(int(_RESOLUTION**2 * largest / variance)) for variance in variances]
    common = math.gcd(*rough)
    return tuple(weight // common for weight in rough)


@memoize(maxsize=1 << 14)
def fitted(mechanism: Topdown, fixed: tuple[int, ...], measured: tuple[int, ...], space: DatasetSpace) -> tuple[int, ...]:
    """The fitted table as counts over the cells of the space.

    Raises:
        NumericalError: when the solver finds no table, or an invalid one.
    """
    queries = tuple(row for m in mechanism.measurements for row in query_rows(m.query, space))
    constraints = mechanism.constraints(space)
    proposal = _solve(queries, constraints, fixed, measured, weights(mechanism.variances(space)), _sizes(space))
    if min(proposal, default=0) < 0 or products(constraints, proposal) != fixed:
        raise errors.NumericalError(
            "topdown", "the solver's table violates an invariant, and nothing is released", "use fewer cells or smaller counts"
        )
    return proposal


def _sizes(space: DatasetSpace) -> tuple[int, float]:
    if not isinstance(space, blocks.Multisets):
        return 0, math.inf
    return space.least, math.inf if space.most is None else space.most


def _solve(  # noqa: PLR0917 - the data of one linear program
    queries: tuple[tuple[int, ...], ...],
    constraints: tuple[tuple[int, ...], ...],
    fixed: tuple[int, ...],
    measured: tuple[int, ...],
    loss: tuple[int, ...],
    sizes: tuple[int, float],
) -> tuple[int, ...]:
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, eye_array, hstack

    q, t = np.asarray(queries, dtype=float), np.asarray(measured, dtype=float)
    answers, cells = q.shape
    slack = eye_array(answers)
    exact = np.asarray([*constraints, (1,) * cells], dtype=float)
    low, high = np.asarray([*fixed, sizes[0]], dtype=float), np.asarray([*fixed, sizes[1]], dtype=float)
    program = milp(
        c=np.concatenate([np.zeros(cells), np.asarray(loss, dtype=float)]),
        integrality=np.concatenate([np.ones(cells), np.zeros(answers)]),
        bounds=Bounds(0, np.inf),
        constraints=[
            LinearConstraint(hstack([csr_array(q), -slack]), -np.inf, t),
            LinearConstraint(hstack([csr_array(q), slack]), t, np.inf),
            LinearConstraint(hstack([csr_array(exact), csr_array((len(exact), answers))]), low, high),
        ],
        options={"mip_rel_gap": 0.0},
    )
    if program.x is None:
        raise errors.NumericalError("topdown", "the solver found no table", str(program.message))
    return tuple(round(value) for value in program.x[:cells])


# --- on tables ------------------------------------------------------------------------------------


def measured(
    mechanism: TopdownNoise, table: Table, space: DatasetSpace, source: Randomness
) -> tuple[tuple[int, ...], Table, tuple[int, ...]]:
    """The counts of the table over the cells, the noisy measurement file, and its answers t."""
    vector = counted(table, space)
    values: list[int] = []
    for measurement in mechanism.measurements:
        true = products(query_rows(measurement.query, space), vector)
        noise = discrete_gaussian(source, len(true), variance=measurement.variance)
        values += [answer + int(w) for answer, w in zip(true, noise, strict=True)]
    cells = [answers.cells_of(measurement.query, space) for measurement in mechanism.measurements]
    return vector, answers.answer_table(cells, values), tuple(values)


def counted(table: Table, space: DatasetSpace) -> tuple[int, ...]:
    """The table as counts over the cells of a space of records."""
    space = _of_records(space)
    counts = table.counts([a.name for a in space.attributes])
    cells: Any = space.cells() or ()
    space.check_size(len(table))
    unknown = set(counts) - set(cells)
    if unknown:
        raise errors.TableError(
            "table", f"has {len(unknown)} kinds of records that the space does not know", "check nested attributes"
        )
    return tuple(counts.get(cell, 0) for cell in cells)


def microdata(dataset: Dataset, space: DatasetSpace) -> Table:
    """The records of a dataset as a table."""
    space = _of_records(space)
    records = space.records(dataset, space.unit)
    if not records:
        empty = {a.name: np.zeros(0, dtype=np.int64) for a in space.attributes}
        return Table(attributes=space.attributes, codes=empty)
    return Table.from_records(records, space.attributes)


def _of_records(space: DatasetSpace) -> UnorderedRecords:
    if not isinstance(space, UnorderedRecords):
        raise errors.TableError(
            f"space {space.name}", "is not a table of records of one unit", "use records or contingency-tables"
        )
    return space
