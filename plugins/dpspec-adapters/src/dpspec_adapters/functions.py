"""Adapters of plain functions: datasets as tables, arrays or texts, and randomness as the generators of other libraries.

A dataset reads as rows and columns (`blocks.tabular`): of records the columns are their attributes, with categories that are
whole numbers as integers; of lists of numbers one column, `value`. No library is imported before one of its objects is used.

Every source of randomness is derived from the bits of one numpy Generator, fresh for each call, so that a call is a function of
its dataset and these bits, and a verdict can be replayed from its seed. `native` is for code that calls the operating system by
itself, as Rust and C libraries do: no seed reaches it, and the verdict says so.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import inspect
import io
import itertools
import os
import random
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from dpspec.plugin import (
    Dataset,
    DatasetAdapter,
    DatasetSpace,
    GeneratorAdapter,
    IncompatibleBlocksError,
    blocks,
    errors,
    late_module,
    memoize,
)
from dpspec_adapters.models import ModelDraws, Models, imported_models
from dpspec_adapters.seeds import place_of_seed

if TYPE_CHECKING:
    import numpy as np
else:
    np = late_module("numpy")

# --- datasets -------------------------------------------------------------------------------------


def table_of(dataset: Dataset, space: DatasetSpace, form: str) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    """The columns and the rows of a dataset.

    Raises:
        AdapterError: it has none.

    >>> from dpspec.plugin import BitVectors
    >>> table_of((0, 1), BitVectors(length=2), "pandas")
    (('bit',), ((0,), (1,)))
    """
    try:
        table = blocks.tabular(space)
        values_of(space)
        return table.columns(), table.rows(dataset)
    except IncompatibleBlocksError as problem:
        rule = f"a dataset of {space.name} has no rows and columns"
        raise errors.AdapterError(
            "adapter", rule, "leave it as it is, or give the space a part `Tabular`", value=form
        ) from problem


def needed(library: str, form: str, package: str | None = None) -> Any:
    """A library that an adapter needs.

    Raises:
        AdapterError: it is not installed.
    """
    try:
        return import_module(library)
    except ImportError as problem:
        rule = f"needs {library}, which cannot be imported ({problem})"
        raise errors.AdapterError("adapter", rule, f"pip install {package or library}", value=form) from None


class Tuples(DatasetAdapter):
    """A list of tuples, one for each row.

    >>> from dpspec.plugin import BitVectors
    >>> Tuples().written((0, 1), BitVectors(length=2))
    [(0,), (1,)]
    """

    name: ClassVar[str] = "tuples"
    by_entry: ClassVar[bool] = True

    def written(self, dataset: Dataset, space: DatasetSpace) -> Any:
        return list(table_of(dataset, space, self.name)[1])

    def copied(self, written: Any) -> Any:
        return list(written)


class Dicts(DatasetAdapter):
    """A list of dicts, one for each row, from the names of the columns to values.

    >>> from dpspec.plugin import BitVectors
    >>> Dicts().written((0, 1), BitVectors(length=2))
    [{'bit': 0}, {'bit': 1}]
    """

    name: ClassVar[str] = "dicts"
    annotations: ClassVar[tuple[str, ...]] = ("list[dict]",)
    by_entry: ClassVar[bool] = True

    def written(self, dataset: Dataset, space: DatasetSpace) -> Any:
        columns, rows = table_of(dataset, space, self.name)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def copied(self, written: Any) -> Any:
        return [dict(row) for row in written]


@memoize(maxsize=64)
def values_of(space: DatasetSpace) -> tuple[tuple[Any, ...], ...]:
    """Values of each column, from which its type is read: a column has one type, whichever dataset it is of, the empty one too.

    >>> from dpspec import ValueLists
    >>> values_of(ValueLists(values=(0, 2.5), most=3))
    ((0.0, 2.5),)
    """
    table, kinds = blocks.tabular(space), blocks.Entries.found_in(space)
    listed = None if kinds is None or blocks.Tabular.found_in(space) is None else kinds.entries()
    if listed is not None:
        rows = list(table.rows(listed))
    else:
        rows = [row for dataset in itertools.islice(space.datasets(), _LOOKED_AT) for row in table.rows(dataset)]
    columns = [tuple(row[place] for row in rows) for place in range(len(table.columns()))]
    return tuple(tuple(map(float, column)) if _is_mixed(column) else column for column in columns)


_LOOKED_AT = 60


def _is_mixed(values: Sequence[Any]) -> bool:
    """Whether there are integers and doubles."""
    return {type(value) for value in values} == {int, float}


def columns_of(dataset: Dataset, space: DatasetSpace, form: str) -> Iterator[tuple[str, list[Any], tuple[Any, ...]]]:
    """Each column of a dataset with its name, its values, and values that say its type."""
    names, rows = table_of(dataset, space, form)
    for place, (name, known) in enumerate(zip(names, values_of(space), strict=True)):
        values = [row[place] for row in rows]
        yield name, [float(value) for value in values] if known and _is_mixed((*known, *values)) else values, known


class NumpyArrays(DatasetAdapter):
    """A numpy array: of one column its values, of several columns of numbers a matrix with one line for each row.

    >>> from dpspec.plugin import BitVectors
    >>> NumpyArrays().written((0, 1), BitVectors(length=2))
    array([0, 1])
    """

    name: ClassVar[str] = "numpy"
    annotations: ClassVar[tuple[str, ...]] = ("numpy.ndarray",)
    by_entry: ClassVar[bool] = True

    def written(self, dataset: Dataset, space: DatasetSpace) -> Any:
        _check_one_sort([value for column in values_of_columns(dataset, space, self.name) for value in column], self.name)
        made = [np.array(values, dtype=np.array(known).dtype) for _, values, known in columns_of(dataset, space, self.name)]
        return made[0] if len(made) == 1 else np.stack(made, axis=1)

    def copied(self, written: Any) -> Any:
        return written.copy()


def values_of_columns(dataset: Dataset, space: DatasetSpace, form: str) -> Iterator[tuple[Any, ...]]:
    """All values that are known of each column, and those of a dataset."""
    for _, values, known in columns_of(dataset, space, form):
        yield (*known, *values)


def _check_one_sort(values: Sequence[Any], form: str) -> None:
    """Numbers or texts: what else has no array of its own."""
    sorts = {str if isinstance(value, str) else float if isinstance(value, (int, float)) else type(value) for value in values}
    if len(sorts) > 1 or not sorts <= {str, float}:
        rule = f"values of several sorts have no array: {', '.join(sorted(sort.__name__ for sort in sorts))}"
        raise errors.AdapterError("adapter", rule, "take pandas, dicts or tuples", value=form)


class Frames(DatasetAdapter):
    """A pandas DataFrame, one line for each row, with the names of the columns."""

    name: ClassVar[str] = "pandas"
    annotations: ClassVar[tuple[str, ...]] = ("pandas.DataFrame",)

    def written(self, dataset: Dataset, space: DatasetSpace) -> Any:
        pandas = needed("pandas", self.name)
        columns = columns_of(dataset, space, self.name)
        return pandas.DataFrame(
            {name: pandas.Series(values, dtype=pandas.Series(known).dtype) for name, values, known in columns}
        )

    def copied(self, written: Any) -> Any:
        return written.copy()


class Series(DatasetAdapter):
    """A pandas Series: the only column of a dataset."""

    name: ClassVar[str] = "pandas-series"
    annotations: ClassVar[tuple[str, ...]] = ("pandas.Series",)

    def written(self, dataset: Dataset, space: DatasetSpace) -> Any:
        columns = list(columns_of(dataset, space, self.name))
        if len(columns) != 1:
            raise errors.AdapterError("adapter", f"{len(columns)} columns are no series", "take pandas", value=self.name)
        pandas = needed("pandas", self.name)
        ((name, values, known),) = columns
        return pandas.Series(values, name=name, dtype=pandas.Series(known).dtype)

    def copied(self, written: Any) -> Any:
        return written.copy()


class PolarsFrames(DatasetAdapter):
    """A Polars DataFrame, one line for each row, with the names of the columns."""

    name: ClassVar[str] = "polars"
    annotations: ClassVar[tuple[str, ...]] = ("polars.DataFrame",)

    def written(self, dataset: Dataset, space: DatasetSpace) -> Any:
        polars = needed("polars", self.name)
        try:
            columns = columns_of(dataset, space, self.name)
            return polars.DataFrame([polars.Series(name, values, polars.Series(known).dtype) for name, values, known in columns])
        except (TypeError, polars.exceptions.PolarsError) as problem:
            raise _no_column(problem, self.name) from problem

    def copied(self, written: Any) -> Any:
        return written.clone()


class ArrowTables(DatasetAdapter):
    """An Arrow table, one line for each row, with the names of the columns."""

    name: ClassVar[str] = "arrow"
    annotations: ClassVar[tuple[str, ...]] = ("pyarrow.Table",)

    def written(self, dataset: Dataset, space: DatasetSpace) -> Any:
        arrow = needed("pyarrow", self.name)
        try:
            columns = columns_of(dataset, space, self.name)
            return arrow.table({name: arrow.array(values, arrow.array(known).type) for name, values, known in columns})
        except (TypeError, arrow.ArrowException) as problem:
            raise _no_column(problem, self.name) from problem

    def copied(self, written: Any) -> Any:
        return written.slice(0)  # its columns cannot be changed, and the table is an object of its own


def _no_column(problem: Exception, form: str) -> errors.AdapterError:
    said = " ".join(str(problem).split())[:120]
    return errors.AdapterError("adapter", f"a column cannot hold the values: {said}", "take pandas, dicts or tuples", value=form)


class WrittenTexts(DatasetAdapter):
    r"""A text: a dataset that is one as it is, any other as CSV with a line of the names of its columns.

    >>> from dpspec.plugin import BitVectors
    >>> WrittenTexts().written((0, 1), BitVectors(length=2))
    'bit\n0\n1\n'
    """

    name: ClassVar[str] = "text"
    annotations: ClassVar[tuple[str, ...]] = ("str",)

    def written(self, dataset: Dataset, space: DatasetSpace) -> Any:
        if isinstance(dataset, str):
            return dataset
        columns, rows = table_of(dataset, space, self.name)
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([columns, *rows])
        return out.getvalue()

    def copied(self, written: Any) -> Any:
        return written


# --- randomness -----------------------------------------------------------------------------------


def _seed(generator: Any, bits: int = 128) -> int:
    """A number of so many bits, drawn from a numpy Generator."""
    return int.from_bytes(generator.bytes(bits // 8), "big")


class PythonRandom(GeneratorAdapter):
    """A `random.Random` of Python, seeded for each call with 128 bits.

    >>> draw = [PythonRandom().made(np.random.default_rng(1)).random() for _ in range(2)]
    >>> draw[0] == draw[1]
    True
    """

    name: ClassVar[str] = "random"
    replays: ClassVar[bool] = True
    annotations: ClassVar[tuple[str, ...]] = ("random.Random",)
    assumptions: ClassVar[tuple[str, ...]] = ("a random.Random that is seeded with 128 bits is as good as true randomness",)

    def made(self, generator: Any) -> random.Random:
        return random.Random(_seed(generator))

    def recorded(self, generator: Any, write: Callable[[float | None], None]) -> random.Random:
        return WrittenRandom(_seed(generator), write)

    def readable(self, function: Any) -> Any:
        def reads(dataset: Any, generator: Any) -> Any:
            return function(dataset, ReadRandom(generator))

        return reads


class WrittenRandom(random.Random):
    """A `random.Random` that writes down the noise that it draws, without its center, and each uniform number between 0 and 1.

    >>> drawn = []
    >>> writer, plain = WrittenRandom(7, drawn.append), random.Random(7)
    >>> writer.gauss(5.0, 2.0) == plain.gauss(5.0, 2.0) == drawn[0] + 5.0, writer.randrange(9) == plain.randrange(9), len(drawn)
    (True, True, 1)
    """

    def __init__(self, seed: int, write: Callable[[float | None], None]) -> None:
        self._write: Callable[[float | None], None] | None = None
        super().__init__(seed)
        self._write = write

    def _one(self, draw: Callable[..., Any], center: Any, *given: Any) -> Any:
        """A draw by a method of Python's, which calls this object for uniform numbers that are not recorded."""
        write, self._write = self._write, None
        value = draw(*given)
        self._write = write
        if write is not None:
            write(float(value) - float(center))
        return value

    def random(self) -> float:
        value = super().random()
        if self._write is not None:
            self._write(value)
        return value

    def getrandbits(self, k: int, /) -> int:  # a class that overrides random alone would draw whole numbers in another way
        return super().getrandbits(k)

    def gauss(self, mu: float = 0.0, sigma: float = 1.0) -> float:
        return float(self._one(super().gauss, mu, mu, sigma))

    def normalvariate(self, mu: float = 0.0, sigma: float = 1.0) -> float:
        return float(self._one(super().normalvariate, mu, mu, sigma))

    def expovariate(self, lambd: float = 1.0) -> float:
        return float(self._one(super().expovariate, 0.0, lambd))

    def choices(self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1) -> list[Any]:
        if weights is not None or cum_weights is not None:
            return super().choices(population, weights, cum_weights=cum_weights, k=k)
        write, self._write = self._write, None
        found = super().choices(population, k=k)
        self._write = write
        return found


class ReadRandom:
    """The methods of `random.Random` by their laws, from a numpy Generator: its replacement where code is analysed.

    >>> ReadRandom(np.random.default_rng(1)).sample([3, 4, 5], 3)
    [4, 5, 3]
    """

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def random(self) -> Any:
        return self._generator.random()

    def uniform(self, a: Any, b: Any) -> Any:
        return a + (b - a) * self._generator.random()

    def getrandbits(self, k: Any) -> Any:
        if k < 0:
            raise ValueError("number of bits must be non-negative")
        found = 0
        for _ in range(k):
            found = 2 * found + int(self._generator.integers(2))
        return found

    def randbytes(self, n: Any) -> Any:
        return bytes([int(self._generator.integers(256)) for _ in range(n)])

    def randrange(self, start: Any, stop: Any = None, step: Any = 1) -> Any:
        if step == 0 or (stop is None and step != 1):
            self._generator.not_modelled("random.randrange raises an error for such a step")
        values = range(start) if stop is None else range(start, stop, step)
        if not values and stop is not None:
            self._generator.not_modelled("the error of random.randrange for an empty range states its ends")
        if not values:
            raise ValueError("empty range for randrange()")
        return values[int(self._generator.integers(len(values)))]

    def randint(self, a: Any, b: Any) -> Any:
        return self.randrange(a, b + 1)

    def choice(self, seq: Any) -> Any:
        if not len(seq):
            raise IndexError("Cannot choose from an empty sequence")
        return seq[int(self._generator.integers(len(seq)))]

    def choices(self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: Any = 1) -> Any:
        if not len(population):
            self._generator.not_modelled("random.choices raises an error of its own where there is nothing to choose from")
        if weights is None and cum_weights is None:
            return [self.choice(population) for _ in range(k)]
        if weights is not None and cum_weights is not None:
            raise TypeError("Cannot specify both weights and cumulative weights")
        limits = list(cum_weights) if weights is None else [sum(weights[: place + 1]) for place in range(len(weights))]
        if len(limits) != len(population):
            raise ValueError("The number of weights does not match the population")
        if limits[-1] <= 0:
            raise ValueError("Total of weights must be greater than zero")
        return [self._weighted(population, limits) for _ in range(k)]

    def _weighted(self, population: Any, limits: Any) -> Any:
        drawn = self._generator.random() * limits[-1]
        for place in range(len(limits) - 1):
            if drawn < limits[place]:
                return population[place]
        return population[len(limits) - 1]

    def shuffle(self, x: Any) -> None:
        for place in range(len(x) - 1, 0, -1):
            other = int(self._generator.integers(place + 1))
            x[place], x[other] = x[other], x[place]

    def sample(self, population: Any, k: Any, *, counts: Any = None) -> Any:
        if not isinstance(population, (list, tuple, range, str, bytes)):
            self._generator.not_modelled("random.sample takes sequences, of which arrays, sets and dicts are none")
        if counts is None:
            pool = list(population)
        else:
            if len(counts) != len(population) or any(count < 0 for count in counts) or not sum(counts):
                self._generator.not_modelled("of such counts random.sample has no law, or an error of its own")
            pool = [value for place, value in enumerate(population) for _ in range(counts[place])]
        if k < 0 or k > len(pool):
            raise ValueError("Sample larger than population or is negative")
        return [pool.pop(int(self._generator.integers(len(pool)))) for _ in range(k)]

    def gauss(self, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        return self._generator.normal(mu, abs(sigma))

    def normalvariate(self, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        return self._generator.normal(mu, abs(sigma))

    def lognormvariate(self, mu: Any, sigma: Any) -> Any:
        return self._generator.lognormal(mu, sigma)

    def expovariate(self, lambd: Any = 1.0) -> Any:
        if lambd < 0:
            self._generator.not_modelled("of a negative rate random.expovariate draws negative numbers")
        return self._generator.exponential(1 / lambd)

    def gammavariate(self, alpha: Any, beta: Any) -> Any:
        return self._generator.gamma(alpha, beta)

    def betavariate(self, alpha: Any, beta: Any) -> Any:
        return self._generator.beta(alpha, beta)

    def triangular(self, low: Any = 0.0, high: Any = 1.0, mode: Any = None) -> Any:
        return self._generator.triangular(low, (low + high) / 2 if mode is None else mode, high)

    if sys.version_info >= (3, 12):

        def binomialvariate(self, n: Any = 1, p: Any = 0.5) -> Any:
            return int(self._generator.binomial(n, p))

    def vonmisesvariate(self, mu: Any, kappa: Any) -> Any:
        return self._generator.vonmises(mu, kappa)

    def paretovariate(self, alpha: Any) -> Any:
        return 1 + self._generator.pareto(alpha)

    def weibullvariate(self, alpha: Any, beta: Any) -> Any:
        return alpha * self._generator.weibull(beta)

    # A method that sets or returns a state has no law: the enumerating generator rejects it, whatever the function does with it.

    def seed(self, *_: Any, **__: Any) -> Any:
        return self._generator.bit_generator

    def getstate(self) -> Any:
        return self._generator.bit_generator

    def setstate(self, state: Any) -> Any:
        return self._generator.bit_generator


class LegacyRandom(GeneratorAdapter):
    """A `numpy.random.RandomState` on the same bits as the Generator.

    >>> LegacyRandom().made(np.random.default_rng(1)).random_sample() < 1
    True
    """

    name: ClassVar[str] = "random-state"
    replays: ClassVar[bool] = True
    annotations: ClassVar[tuple[str, ...]] = ("numpy.RandomState",)

    def made(self, generator: Any) -> Any:
        return np.random.RandomState(generator.bit_generator)


class ReadLegacy:
    """The functions of `numpy.random` by their laws, from a numpy Generator, for those that return what its methods return."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._generator.laplace(loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._generator.normal(loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._generator.gumbel(loc, scale, size)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._generator.logistic(loc, scale, size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._generator.exponential(scale, size)

    def standard_cauchy(self, size: Any = None) -> Any:
        return self._generator.standard_cauchy(size)

    def standard_normal(self, size: Any = None) -> Any:
        return self._generator.standard_normal(size)

    def standard_exponential(self, size: Any = None) -> Any:
        return self._generator.standard_exponential(size)

    def randn(self, *shape: Any) -> Any:
        return self._generator.standard_normal(shape or None)

    def random(self, size: Any = None) -> Any:
        return self._generator.random(size)

    def random_sample(self, size: Any = None) -> Any:
        return self._generator.random(size)

    def rand(self, *shape: Any) -> Any:
        return self._generator.random(shape or None)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return self._generator.uniform(low, high, size)

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        return self._generator.binomial(n, p, size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        return self._generator.geometric(p, size)

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Any:
        return self._generator.hypergeometric(ngood, nbad, nsample, size)

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        return self._generator.multinomial(n, pvals, size)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        found = self._generator.integers(low, high, size, dtype)
        return int(found) if size is None and dtype is int else found

    def choice(self, a: Any, size: Any = None, replace: Any = True, p: Any = None) -> Any:
        is_array = type(a).__name__ == "ndarray"
        if (is_array and a.ndim > 1) or (
            type(a) in (list, tuple) and any(type(one).__name__ in ("list", "tuple", "ndarray") for one in a)
        ):
            self._generator.not_modelled("numpy.random.choice takes values along one axis, and no rows")
        return self._generator.choice(a, size, replace, p)

    def permutation(self, x: Any) -> Any:
        return self._generator.permutation(x)

    def shuffle(self, x: Any) -> None:
        self._generator.shuffle(x)


class ReadDistributions:
    """Distributions of `scipy.stats` by their laws, from a numpy Generator, of those that draw one number for each value."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    @property
    def laplace(self) -> ReadDistribution:
        return ReadDistribution(self._generator.laplace)

    @property
    def norm(self) -> ReadDistribution:
        return ReadDistribution(self._generator.normal)

    @property
    def expon(self) -> ReadDistribution:
        return ReadDistribution(self._generator.exponential, is_located=False)


class ReadDistribution:
    """A distribution of `scipy.stats`, from which values are drawn.

    Args:
        draw: the method of the generator that draws them.
        is_located: whether the method takes a location.
    """

    def __init__(self, draw: Any, is_located: bool = True) -> None:
        self._draw, self._is_located = draw, is_located

    def rvs(self, loc: Any = 0, scale: Any = 1, size: Any = None) -> Any:
        shape = 1 if size is None else size
        drawn = self._draw(0.0, scale, shape) if self._is_located else self._draw(scale, shape)
        return drawn[0] + loc if size is None else drawn + loc


def distributions_of_scipy() -> dict[str, Any]:
    """The same of the library, where it is imported and they draw from numpy's global generator; else none."""
    stats = sys.modules.get("scipy.stats")
    names = [name for name in vars(ReadDistributions) if not name.startswith("_")]
    found = {} if stats is None else {name: getattr(stats, name, None) for name in names}
    held = getattr(np.random.laplace, "__self__", None)
    of_scipy = all(type(one).__module__.startswith("scipy.stats") for one in found.values())
    return found if of_scipy and all(vars(one).get("_random_state") is held for one in found.values()) else {}


_CENTERED = ("laplace", "normal", "gumbel", "logistic")
_NOISE = (*_CENTERED, "exponential", "standard_cauchy", "standard_normal", "standard_exponential", "randn")
_WHOLE = ("geometric",)
"""Noise on whole numbers, which is written down where it is a symbol and no choice."""
_UNIFORM = ("random", "random_sample", "rand", "uniform")
"""Functions of `numpy.random` whose draws are written down: noise, around a location or not, and uniform numbers."""


def _writing(draw: Callable[..., Any], name: str, generator: Any) -> Callable[..., Any]:
    """A function of `numpy.random` that writes down what it draws, as `GeneratorAdapter.recorded` says."""
    write = generator.write

    def drawn(*args: Any, **options: Any) -> Any:
        values = draw(*args, **options)
        if name == "geometric" and not generator.writes_geometric:
            return values
        if name in _UNIFORM:
            of_two = zip(("low", "high"), (0, 1), (0.0, 1.0), strict=True) if name == "uniform" else ()
            generator.write_uniform(values, *(options.get(key, (args[place:] or (end,))[0]) for key, place, end in of_two))
            return values
        center = (options.get("loc", args[0] if args else 0.0)) if name in _CENTERED else 0.0
        centers = np.broadcast_to(np.asarray(center, dtype=float), np.shape(values)).ravel()
        for value, at in zip(np.ravel(values), centers, strict=True):
            write(float(value) - float(at))
        return values

    return drawn


class System(GeneratorAdapter):
    """No generator: the function draws from `random`, `numpy.random`, `secrets`, `os.urandom` or torch, all seeded for each call.

    While the function runs, calls of Python code to the operating system are answered with bits of the numpy Generator, so that
    `secrets`, `random.SystemRandom` and `numpy.random.default_rng()` without a seed can be replayed, too.

    >>> import secrets
    >>> def key():
    ...     rng = np.random.default_rng(1)
    ...     with System().drawing(rng):
    ...         return secrets.token_hex(2), random.random(), np.random.rand(), np.random.default_rng().random()
    >>> key() == key()
    True
    """

    name: ClassVar[str] = "system"
    replays: ClassVar[bool] = True
    annotations: ClassVar[tuple[str, ...]] = ("random.SystemRandom",)
    is_handed: ClassVar[bool] = False
    assumptions: ClassVar[tuple[str, ...]] = (
        "random, numpy.random, secrets and os.urandom, seeded for each call, are as good as true randomness",
    )
    _models: Models | None = None

    def made(self, generator: Any) -> Any:
        return random.SystemRandom()

    def models(self) -> Models | None:
        if self._models is None:
            self._models = imported_models()
        return self._models

    def modelled(self) -> GeneratorAdapter:
        models = imported_models(reads=False)
        return self if models is None else Modelled(models)

    def readable(self, function: Any) -> Any:
        if not _takes_one(function):
            return None

        place, has_distributions = place_of_seed(function), bool(distributions_of_scipy())

        def reads(dataset: Any, generator: Any) -> Any:
            of_python, of_numpy = ReadRandom(generator), ReadLegacy(generator)
            why = None if place is None else f"may have been seeded: {place} sets the state of a generator"
            of_scipy = {"scipy.stats": why or ReadDistributions(generator)} if has_distributions else {}
            generator.stand_in({"random": why or of_python, "numpy.random": why or of_numpy, **of_scipy})
            return function(dataset)

        return reads

    @contextlib.contextmanager
    def drawing(self, generator: Any) -> Iterator[None]:
        with self._seeded(generator):
            write = getattr(generator, "write", None)
            if write is None:
                yield
                return
            with _replaced(self._recording(generator, write)):
                yield

    def _recording(self, generator: Any, write: Callable[[float | None], None]) -> list[tuple[Any, str, Any]]:
        """The replacements for the functions of `random` and `numpy.random` while draws are recorded, with the same draws."""
        writer = WrittenRandom(0, write)
        writer.setstate(random.getstate())
        methods = [name for name in vars(ReadRandom) if not name.startswith("_") and hasattr(random, name)]
        found = [(random, name, getattr(writer, name)) for name in methods]
        written = (*_NOISE, *_WHOLE, *_UNIFORM)
        found += [(np.random, name, _writing(getattr(np.random, name), name, generator)) for name in written]
        found += [(one, "rvs", _writing(one.rvs, "laplace", generator)) for one in distributions_of_scipy().values()]
        plain = np.random.default_rng

        def default_rng(seed: Any = None) -> Any:
            return plain(seed) if seed is not None else generator.beside(np.random.PCG64())

        found.append((np.random, "default_rng", default_rng))
        return [*found, *_imported_names(found)]

    @contextlib.contextmanager
    def _seeded(self, generator: Any) -> Iterator[None]:
        random.seed(_seed(generator))
        np.random.seed(np.frombuffer(generator.bytes(16), dtype=np.uint32))
        if "torch" in sys.modules:
            sys.modules["torch"].manual_seed(_seed(generator, 56))
        with _replaced([(os, "urandom", generator.bytes), (random, "_urandom", generator.bytes)]):
            yield


def _imported_names(places: list[tuple[Any, str, Any]]) -> list[tuple[Any, str, Any]]:
    """The names by which modules hold what is replaced, as after `from numpy.random import laplace`."""
    plain = {(module, name): getattr(module, name) for module, name, _ in places}
    listed = _holders(tuple(plain.values()), len(sys.modules))
    instead = {id(plain[module, name]): function for module, name, function in places}
    return [(module, name, instead[which]) for module, name, which in listed if id(getattr(module, name, None)) == which]


@functools.lru_cache(maxsize=4)
def _holders(functions: tuple[Any, ...], _modules: int) -> tuple[tuple[Any, str, int], ...]:
    """Modules other than those that they are from, with the names by which they hold some functions, and the function."""
    known = {id(one) for one in functions}
    found = [
        (module, name, id(held))
        for module in list(sys.modules.values())
        if type(module) is types.ModuleType and module.__name__.partition(".")[0] not in ("random", "numpy")
        for name, held in list(vars(module).items())
        if id(held) in known
    ]
    return tuple(found)


@contextlib.contextmanager
def _replaced(places: list[tuple[Any, str, Any]]) -> Iterator[None]:
    """Attributes of modules and of objects that are others for a while."""
    before = [(module, name, vars(module).get(name)) for module, name, _ in places]
    for module, name, function in places:
        setattr(module, name, function)
    try:
        yield
    finally:
        for module, name, held in before:
            if held is None:  # it was the method of a class
                delattr(module, name)
            else:
                setattr(module, name, held)


def _takes_one(function: Any) -> bool:
    """Whether a function is called with a dataset alone: other parameters are numbers, texts and the like, by their defaults."""
    try:
        first, *others = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    plain = (bool, int, float, str, tuple, Fraction)
    kinds = (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD)
    return first.kind in kinds and all(one.default is not one.empty and isinstance(one.default, plain) for one in others)


class Modelled(System):
    """As `system`, where the models of libraries draw in place of them, so that every draw can be replayed and written down.

    Args:
        models: the models.
    """

    name: ClassVar[str] = "modelled"
    assumptions: ClassVar[tuple[str, ...]] = ()

    def __init__(self, models: Models) -> None:
        self._drawing_by = models

    @contextlib.contextmanager
    def drawing(self, generator: Any) -> Iterator[None]:
        with super().drawing(generator), _replaced(self._drawing_by.patches(ModelDraws(generator))):
            yield


class Native(GeneratorAdapter):
    """No generator, and no seed reaches the draws of the function: native code that calls the operating system directly.

    Such a function can be sampled, and no call of it can be made again. Where libraries draw of which there are models
    (`dpspec_adapters.models`), it is read, too.
    """

    def __init__(self) -> None:
        self._read = System()

    name: ClassVar[str] = "native"
    is_handed: ClassVar[bool] = False
    assumptions: ClassVar[tuple[str, ...]] = (
        "what the function draws is not replayed: that each call has its own randomness was checked, and is assumed",
    )

    def made(self, generator: Any) -> Any:
        return generator

    def models(self) -> Models | None:
        return self._read.models()

    def modelled(self) -> GeneratorAdapter:
        return self._read.modelled()

    def readable(self, function: Any) -> Any:
        return None if self.models() is None else self._read.readable(function)


class TorchGenerator(GeneratorAdapter):
    """A `torch.Generator` on the processor, seeded for each call."""

    name: ClassVar[str] = "torch"
    replays: ClassVar[bool] = True
    annotations: ClassVar[tuple[str, ...]] = ("torch.Generator",)

    def made(self, generator: Any) -> Any:
        return needed("torch", self.name).Generator().manual_seed(_seed(generator, 56))


class JaxKey(GeneratorAdapter):
    """A key of `jax.random`, made anew for each call."""

    name: ClassVar[str] = "jax"
    replays: ClassVar[bool] = True
    annotations: ClassVar[tuple[str, ...]] = ("jax.Array",)

    def made(self, generator: Any) -> Any:
        return needed("jax", self.name).random.key(_seed(generator, 56))
