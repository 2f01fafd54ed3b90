"""The enumerating generator, and what plain code may use: every draw becomes a choice, everything else must be a plain function.

The generator replaces `numpy.random.Generator`.

A draw is first made by a real generator, which is thrown away: it raises what numpy raises, and the type, dtype and shape of its
answer are those of ours. What is not modelled exactly is refused, and the refusal is written down in the path.

Plain code may use callables, types and attributes that are functions of their arguments and of nothing else.

Everything is named; what is not named here, nor written in Python where it can be read, ends the enumeration. Nothing in
these tables draws, keeps state between calls, looks at time, addresses, files or the interpreter, or leaves memory unwritten
(`numpy.empty` does).
"""

from __future__ import annotations

import abc
import bisect
import builtins
import cmath
import collections
import collections.abc
import copy
import dataclasses
import decimal
import enum
import fractions
import functools
import heapq
import itertools
import json
import math
import numbers
import operator
import re
import statistics
import string
import types
import typing
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from dpspec import DpspecError
from dpspec.plugin.judges import Enclosed, Exponential, NotEnumerableError, Probability
from dpspec_code.automatic.arrays import holds_drawn
from dpspec_code.automatic.entry_arrays import WholeList
from dpspec_code.automatic.entry_rows import LEFT_OUT
from dpspec_code.automatic.formulas import Affine, NoiseDraw, reading, variance_of
from dpspec_code.automatic.noise import NoisyNumber, scores_of, span_of, winner_of
from dpspec_code.automatic.path import RandomPath, Uniform, exact, minus

OF_MODELS = frozenset({"stand_in", "discrete_laplace", "discrete_normal", "held", "not_modelled", "types_in"})
"""Methods that numpy's Generator does not have, for the code of models and adapters."""
MODELLED = frozenset({
    "binomial", "choice", "exponential", "geometric", "gumbel", "hypergeometric", "integers", "laplace", "logistic",
    "multinomial", "normal", "permutation", "permuted", "random", "shuffle", "standard_cauchy", "standard_exponential",
    "standard_normal", "uniform",
})  # fmt: skip
"""The methods that are answered."""
MOST_OPTIONS = 100_000
"""A draw has at most so many results."""
_SLACK = Fraction(1, 1 << 50)
"""What doubles between 0 and 1 may lose when they are summed."""


@functools.cache
def _scratch() -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(0))


class EnumeratingGenerator:
    """The methods of a numpy Generator whose results have finitely many values, each a choice along a path.

    Args:
        path: the choices of the run.
        tail: an endless draw (`geometric`) is cut off where less than this probability is left.
        known: probabilities that were computed before, in whichever run.
        symbolic: whether a draw of `geometric` is a symbol, as continuous noise always is, and not a choice.
        drew: gets the name of a draw that may be either.
    """

    def __init__(
        self,
        path: RandomPath,
        tail: Fraction,
        known: dict[Hashable, list[Probability]],
        *,
        symbolic: bool = False,
        drew: set[str] | None = None,
    ) -> None:
        self._path, self._tail, self._known, self._symbolic = path, tail, known, symbolic
        self._drew = set() if drew is None else drew

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """isinstance(rng, np.random.Generator) holds, for samplers that ask."""
        return np.random.Generator

    def stand_in(self, modules: dict[str, Any]) -> None:
        """Draw for the global functions of some modules, for code that is handed no generator.

        Args:
            modules: what draws from this generator by the laws of their functions, by the names of the modules; or a text, why
                nothing does.
        """
        self._path.elsewhere = {**modules, "": self}

    # -- single numbers ---------------------------------------------------------------------------

    def integers(self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: Any = False) -> Any:
        """Uniform integers."""
        if dtype is not np.int64 and dtype is not int:
            self._refuse("integers", "with a dtype of its own")
        self._whole("integers", low, *([] if high is None else [high]))
        self._plain("integers", endpoint, bool)
        sample = self._real("integers", size, low, high, dtype=dtype, endpoint=endpoint)
        first, last = (0, low) if high is None else (low, high)
        count = int(last) - int(first) + int(endpoint)
        return self._filled(sample, lambda: int(first) + self._uniform(count, "integers"))

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Uniform numbers that are split where the sampler compares them."""
        if out is not None or (dtype is not np.float64 and dtype is not float):
            self._refuse("random", "with a dtype or an array of its own")
        return self._uniforms(self._real("random", size), 0, 1)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Uniform numbers between two exact ends."""
        ends = [exact(end) for end in (low, high)]
        if not all(isinstance(end, Fraction) for end in ends) or not ends[0] < ends[1]:  # type: ignore[operator]
            self._refuse("uniform", "between ends that are not exact and in order")
        return self._uniforms(self._real("uniform", size, float(low), float(high)), *ends)

    def _uniforms(self, sample: Any, low: Any, high: Any) -> Any:
        def draw(*, scalar: bool) -> Uniform:
            return Uniform.on(self._path, scalar=scalar, low=Fraction(low), high=Fraction(high))

        if not isinstance(sample, np.ndarray):
            return draw(scalar=False)
        values = np.empty(sample.size, dtype=object)
        for place in range(len(values)):
            values[place] = draw(scalar=True)
        return _owning(values, sample)

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """The number of successes in n trials."""
        self._whole("binomial", n)
        probability, trials = self._probability("binomial", p), int(n)
        sample = self._real("binomial", size, n, p)
        if trials > MOST_OPTIONS:
            self._refuse("binomial", f"of {trials} trials")
        left = minus(Fraction(1), probability)

        def probabilities() -> list[Probability]:
            return [Fraction(math.comb(trials, k)) * _power(probability, k) * _power(left, trials - k) for k in range(trials + 1)]

        return self._filled(sample, lambda: self._path.choose(self._once(("binomial", trials, probability), probabilities)))

    def geometric(self, p: Any, size: Any = None) -> Any:
        """The number of trials up to the first success; what lies beyond a tail bound is kept as unplaced probability."""
        self._drew.add("geometric")
        if self._symbolic:
            return self._drawn("geometric", "geometric", size, (p,), 0, reading)
        probability = self._probability("geometric", p)
        sample = self._real("geometric", size, p)
        left = minus(Fraction(1), probability)
        if left == 0:
            return self._filled(sample, lambda: 1)
        most = max(1, math.ceil(math.log(self._tail) / math.log(float(left)))) if float(left) < 1 else MOST_OPTIONS + 1
        if most > MOST_OPTIONS:
            self._refuse("geometric", f"with a success probability as small as {float(probability)}")

        def probabilities() -> list[Probability]:
            powers: list[Probability] = [Fraction(1)]
            for _ in range(most):
                powers.append(powers[-1] * left)
            return [*(probability * power for power in powers[:-1]), powers[-1]]

        *listed, beyond = self._once(("geometric", probability), probabilities)
        return self._filled(sample, lambda: 1 + self._path.choose(listed, beyond=beyond))

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Any:
        """The number of good ones in a sample without replacement."""
        self._whole("hypergeometric", ngood, nbad, nsample)
        sample = self._real("hypergeometric", size, ngood, nbad, nsample)
        good, bad, drawn = int(ngood), int(nbad), int(nsample)
        if good > MOST_OPTIONS:
            self._refuse("hypergeometric", f"with {good} good ones")
        ways = [math.comb(good, k) * math.comb(bad, drawn - k) if k <= drawn else 0 for k in range(good + 1)]
        return self._filled(sample, lambda: self._path.choose(_shares(ways)))

    # -- noise --------------------------------------------------------------------------------------

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Laplace noise, as a symbol."""
        return self._drawn("laplace", "laplace", size, (scale,), loc, reading)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Gaussian noise with a standard deviation."""
        return self._drawn("normal", "normal", size, (scale,), loc, variance_of)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Gaussian noise of variance 1."""
        if out is not None or dtype is not np.float64:
            self._refuse("standard_normal", "with a dtype or an array of its own")
        return self._drawn("standard_normal", "normal", size, (), 0, reading)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """One-sided noise of a mean."""
        return self._drawn("exponential", "exponential", size, (scale,), 0, reading)

    def standard_exponential(self, size: Any = None, dtype: Any = np.float64, method: Any = "zig", out: Any = None) -> Any:
        """One-sided noise of mean 1."""
        if out is not None or dtype is not np.float64 or method != "zig":
            self._refuse("standard_exponential", "with a dtype, a method or an array of its own")
        return self._drawn("standard_exponential", "exponential", size, (), 0, reading)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Gumbel noise."""
        return self._drawn("gumbel", "gumbel", size, (scale,), loc, reading)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Logistic noise."""
        return self._drawn("logistic", "logistic", size, (scale,), loc, reading)

    def standard_cauchy(self, size: Any = None) -> Any:
        """Cauchy noise of scale 1."""
        return self._drawn("standard_cauchy", "cauchy", size, (), 0, reading)

    def _drawn(  # noqa: PLR0917
        self, call: str, kind: str, size: Any, scale: tuple[Any, ...], loc: Any, read: Callable[[Any], Fraction | None]
    ) -> Any:
        """One symbol, or an array of them, around `loc`."""
        places = [] if kind in ("geometric", "exponential") or not scale else [_sampled(loc)]
        sample = self._real(call, size, *places, *scale)
        width = [Fraction(1) if not scale else read(one) for one in _each(scale[0] if scale else 1.0, sample)]
        if any(one is None or one < 0 for one in width):
            self._refuse(call, "with a parameter that is no exact number")
        found = [self._symbol(kind, one, at, sample) for one, at in zip(width, _each(loc, sample), strict=True)]
        if not isinstance(sample, np.ndarray):
            return found[0]
        values = np.empty(sample.size, dtype=object)
        values[:] = found
        return _owning(values, sample)

    def _symbol(self, kind: str, width: Any, loc: Any, sample: Any) -> NoisyNumber:
        value = sample.ravel()[0] if isinstance(sample, np.ndarray) else sample
        noise = NoiseDraw(self._path.fresh(), kind, width)
        alone = NoisyNumber(self._path, Affine(Fraction(0), ((noise, Fraction(1)),) if width else ()), value)
        if type(loc) in (int, float) and loc == 0:
            return alone
        moved: NoisyNumber = alone + loc
        return moved.retyped(value)

    # -- what models of libraries draw, and what these libraries hold -------------------------------

    def discrete_laplace(self, scale: Any) -> Any:
        """Noise on whole numbers with probabilities proportional to e^(-|k| / scale)."""
        return self._whole_noise("discrete laplace", reading(scale))

    def discrete_normal(self, deviation: Any) -> Any:
        """Noise on whole numbers with probabilities proportional to e^(-k^2 / (2 deviation^2))."""
        return self._whole_noise("discrete normal", variance_of(deviation))

    def _whole_noise(self, kind: str, size: Fraction | None) -> NoisyNumber:
        if size is None or size <= 0:
            self._refuse(kind.replace(" ", "_"), "with a parameter that is no exact positive number")
        return NoisyNumber(self._path, Affine(Fraction(0), ((NoiseDraw(self._path.fresh(), kind, size), Fraction(1)),)), 0)

    def held(self, value: Any, low: int, high: int, reason: str) -> None:
        """Write down that a library takes numbers of the data between two ends only, and fails beyond: one, or a list of them."""
        if type(value) is WholeList:
            value = [kind for kind in value.kinds if kind is not LEFT_OUT]
        if type(value) is list:
            for one in value:
                self.held(one, low, high, reason)
        elif type(value) is NoisyNumber and isinstance(value.expression, Affine):
            if any(not noise.is_count for noise, _ in value.expression.terms):
                self.not_modelled(f"a number with noise may be beyond: {reason}")
            span = span_of(value.expression, alone=self._path.bound.alone)
            for start, step, end in ((span.high, span.up, high), (-span.low, span.down, -low)):
                if start > end:
                    self.not_modelled(reason)
                if step:
                    self._path.bound.breaks_beyond(math.floor((end - start) / step), reason)
        elif not isinstance(value, (int, float, np.integer, np.floating)) or not low <= value <= high:
            self.not_modelled(reason)

    def types_in(self, values: Any) -> set[type]:
        """The types of the entries of a list, of a number its own."""
        if type(values) is WholeList:
            return {type(kind) for kind in values.kinds if kind is not LEFT_OUT}
        listed = values if type(values) in (list, tuple) else [values]
        return {type(one.sample) if type(one) is NoisyNumber else type(one) for one in listed}

    def not_modelled(self, rule: str) -> NoReturn:
        """End the run where a model does not say what a library does."""
        self._path.refuse(NotEnumerableError("model", rule, "have it sampled"))

    # -- vectors ----------------------------------------------------------------------------------

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        """Counts of n independent draws from a few categories; numpy gives the last one what the others leave."""
        self._whole("multinomial", n)
        probabilities = self._distribution("multinomial", pvals)
        sample = self._real("multinomial", size, n, _numbers(pvals))
        trials = int(n)
        if (trials + 1) ** max(len(probabilities) - 1, 1) > MOST_OPTIONS:
            self._refuse("multinomial", f"of {trials} trials in {len(probabilities)} categories")
        tables = [t for t in itertools.product(range(trials + 1), repeat=len(probabilities)) if sum(t) == trials]
        weights = [
            math.prod((_power(c, k) for c, k in zip(probabilities, t, strict=True)), start=Fraction(_multinomial(t)))
            for t in tables
        ]
        draws = [tables[self._path.choose(weights)] for _ in range(sample.size // max(len(probabilities), 1))]
        return _owning(np.array(draws, dtype=sample.dtype), sample)

    def choice(  # noqa: PLR0917
        self, a: Any, size: Any = None, replace: Any = True, p: Any = None, axis: Any = 0, shuffle: Any = True
    ) -> Any:
        """Draws from a list, uniform or with probabilities, with or without replacement."""
        self._plain("choice", replace, bool)
        if shuffle is not True:
            self._refuse("choice", "with shuffle=False")
        if holds_drawn(p):
            return self._raced("choice", a, size, p, replace=replace)
        probabilities = None if p is None else self._distribution("choice", p)
        pool = self._pool("choice", a, axis)
        sample = self._real("choice", size, a, axis=axis, replace=replace, p=None if p is None else _numbers(p))
        length, count = pool.shape[axis], 1 if size is None else math.prod(_shape(size))
        if replace:
            picked = [self._pick(range(length), probabilities) for _ in range(count)]
        else:
            picked = self._without_replacement(length, count, probabilities)
        places: Any = picked[0] if size is None else np.array(picked, dtype=np.int64).reshape(_shape(size))
        if np.ndim(a) == 0:
            return type(sample)(places) if size is None else np.array(places, dtype=sample.dtype)
        found = pool.take(places, axis=axis)
        return self._like("choice", found, sample, loose=pool.dtype.hasobject and size is None)

    def _raced(self, name: str, a: Any, size: Any, p: Any, *, replace: bool) -> Any:
        """Choices by weights e^(a_i), whose a_i the data decide: each is the place of the largest with Gumbel noise.

        Without replacement, the next choice is one among those that are left (Yellott 1977).
        """
        scores = scores_of(list(p), self._path.bound.most)
        pool = self._pool(name, a, 0)
        count = 1 if size is None else math.prod(_shape(size))
        if scores is None or len(pool) != len(scores):
            self._refuse(name, "with probabilities that depend on the data and are not weights of an exponential mechanism")
        sample = self._real(name, size, a, axis=0, replace=replace, p=None)
        left, picked = list(range(len(scores))), []
        for _ in range(count):
            picked.append(left[winner_of(self._path, [scores[place] for place in left])])
            if not replace:
                left.remove(picked[-1])
        places: Any = picked[0] if size is None else np.array(picked, dtype=np.int64).reshape(_shape(size))
        if np.ndim(a) == 0:
            return type(sample)(places) if size is None else np.array(places, dtype=sample.dtype)
        return self._like(name, pool.take(places, axis=0), sample, loose=pool.dtype.hasobject and size is None)

    def permutation(self, x: Any, axis: Any = 0) -> Any:
        """A copy in random order."""
        values = self._pool("permutation", x, axis)
        sample = self._real("permutation", None, x, axis=axis)
        order: Any = self._order(np.moveaxis(values, axis, 0))
        place = [slice(None)] * values.ndim
        place[axis] = np.array(order, dtype=np.int64)
        return self._like("permutation", values[tuple(place)], sample)

    def shuffle(self, x: Any, axis: Any = 0) -> None:
        """Bring a list or an array into random order."""
        self._plain("shuffle", axis, int)
        if type(x) is np.ndarray and x.flags.writeable and x.ndim:
            self._real("shuffle", None, x.copy(), axis=axis)
            x[...] = np.take(x.copy(), self._order(np.moveaxis(x, axis, 0)), axis=axis)
        elif type(x) is list and axis == 0:
            x[:] = [x[place] for place in self._order(x)]
        else:
            self._refuse("shuffle", f"of {type(x).__name__}")

    def permuted(self, x: Any, axis: Any = None, out: Any = None) -> Any:
        """Each slice along an axis in an order of its own."""
        if out is not None:
            self._refuse("permuted", "into an array of the caller's")
        values = self._pool("permuted", x, axis)
        sample = self._real("permuted", None, x, axis=axis)
        if axis is None:
            flat = values.ravel()
            return self._like("permuted", flat[self._order(flat)].reshape(values.shape), sample)
        moved = np.moveaxis(values, axis, -1)
        rows = [row[self._order(row)] for row in moved.reshape(-1, moved.shape[-1])]
        found = np.moveaxis(np.array(rows, dtype=values.dtype).reshape(moved.shape), -1, axis)
        return self._like("permuted", np.ascontiguousarray(found), sample)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse(name, "has no finite list of values")

    def give_up(self, fault: DpspecError) -> NoReturn:
        """End the run with an error."""
        self._path.refuse(fault)

    def _hidden(self, *_: Any) -> NoReturn:
        self._path.refuse(NotEnumerableError("generator", "was inspected and not drawn from", "draw from it"))

    __repr__ = __str__ = __format__ = __reduce_ex__ = __dir__ = __eq__ = __ne__ = __hash__ = __getstate__ = _hidden

    def _once(self, call: Hashable, make: Callable[[], list[Probability]]) -> list[Probability]:
        if call not in self._known:
            self._known[call] = make()
        return self._known[call]

    # -- like numpy ---------------------------------------------------------------------------------

    def _real(self, call: str, size: Any, *given: Any, **options: Any) -> Any:
        """What a real generator answers, for its type and shape; what it raises is raised."""
        if size is not None:
            self._size(call, size)
            options["size"] = size
        plain = [_floated(value) for value in given]
        return getattr(_scratch(), call)(*plain, **options)

    def _size(self, call: str, size: Any) -> None:
        whole = [size] if type(size) is not tuple else size
        if not whole or any(type(n) is not int and not isinstance(n, np.integer) for n in whole):
            self._refuse(call, "with a size that is no whole number and no tuple of them")
        if math.prod(int(n) for n in whole) > MOST_OPTIONS:
            self._refuse(call, "of so many values at once")

    def _filled(self, sample: Any, draw: Callable[[], int]) -> Any:
        """One value, or an array of them, in the type of a sample."""
        if not isinstance(sample, np.ndarray):
            return type(sample)(draw())
        return _owning(np.array([draw() for _ in range(sample.size)], dtype=sample.dtype), sample)

    def _like(self, call: str, found: Any, sample: Any, *, loose: bool = False) -> Any:
        """The answer, if it is of the type, dtype, shape and layout that numpy gives it."""
        if not loose and type(found) is not type(sample):
            self._refuse(call, f"of {type(sample).__name__}")
        if isinstance(sample, np.ndarray) and not loose:
            layout = [(one.dtype, one.shape, one.flags.c_contiguous, one.flags.f_contiguous) for one in (found, sample)]
            if layout[0] != layout[1]:
                self._refuse(call, f"of an array of {sample.dtype}")
            if sample.base is None and found.base is not None:
                return found.copy(order="K")
        return found

    def _pool(self, call: str, given: Any, axis: Any) -> Any:
        """What is drawn from, as an array."""
        if axis is not None:
            self._plain(call, axis, int)
        if type(given) is int or isinstance(given, np.integer):
            if given > MOST_OPTIONS:
                self._refuse(call, f"over {given} values")
            return np.arange(int(given))
        if type(given) not in (list, tuple, np.ndarray, range):
            self._refuse(call, f"from {type(given).__name__}")
        values = np.asarray(given)
        if not values.ndim or any(type(value) is Uniform for value in (values.flat if values.dtype.hasobject else ())):
            self._refuse(call, "of such values")
        return values

    def _whole(self, call: str, *given: Any) -> None:
        if any(type(value) is not int and not isinstance(value, np.integer) for value in given):
            self._refuse(call, "with anything but single whole numbers")

    def _plain(self, call: str, given: Any, kind: type) -> None:
        if type(given) is not kind:
            self._refuse(
                call, f"with {given!r} for {kind.__name__}" if type(given) in (int, str, float) else "with such an option"
            )

    # -- helpers ----------------------------------------------------------------------------------

    def _uniform(self, count: int, call: str) -> int:
        if count > MOST_OPTIONS:
            self._refuse(call, f"over {count} values")
        return self._path.uniform(count)

    def _pick(self, places: Sequence[int], probabilities: Sequence[Probability] | None) -> int:
        if probabilities is None:
            return places[self._uniform(len(places), "choice")]
        return places[self._path.choose(probabilities)]

    def _without_replacement(self, length: int, count: int, probabilities: Sequence[Probability] | None) -> list[int]:
        left, picked = list(range(length)), []
        for _ in range(count):
            rescaled = None if probabilities is None else _rescaled([probabilities[place] for place in left])
            place = self._pick(left, rescaled)
            left.remove(place)
            picked.append(place)
        return picked

    def _order(self, values: Any) -> list[int]:
        """A random order; orders that look the same are one option (of values, each equally often)."""
        kinds: dict[object, list[int]] = {}
        for place, value in enumerate(values):
            plain = isinstance(value, (int, str, np.integer, np.str_, np.bool_))
            kinds.setdefault((type(value), value) if plain else place, []).append(place)
        places = list(kinds.values())
        number = _multinomial(tuple(map(len, places)))
        if number > MOST_OPTIONS:
            self._refuse("permutation", f"of {len(values)} values has {number} results and")
        chosen = self._path.uniform(number) if number > 1 else 0
        sequence = next(itertools.islice(_arrangements(tuple(map(len, places))), chosen, None))
        supply = [iter(group) for group in places]
        return [next(supply[kind]) for kind in sequence]

    def _probability(self, call: str, p: Any) -> Probability:
        found = exact(p)
        if found is None or (isinstance(found, Fraction) and not 0 <= found <= 1):
            self._refuse(call, "with anything but single probabilities")
        return found

    def _distribution(self, call: str, p: Any) -> list[Probability]:
        """Probabilities that sum to 1 exactly; computed ones are as uncertain as the sums that numpy makes of them."""
        if type(p) not in (list, tuple) and (type(p) is not np.ndarray or p.ndim != 1):
            self._refuse(call, f"with probabilities in a {type(p).__name__}")
        probabilities = [self._probability(call, value) for value in p]
        total = sum(probabilities, Fraction(0))
        if isinstance(total, Enclosed) and 1 - Fraction(1, 10**8) <= total.high and total.low <= 1 + Fraction(1, 10**8):
            return [
                Enclosed(max(c.low - _SLACK, Fraction(0)), c.high + _SLACK) if isinstance(c, Enclosed) else c
                for c in probabilities
            ]
        if total != 1:
            self._refuse(call, "with probabilities that do not sum to 1")
        return probabilities

    def _refuse(self, call: str, what: str) -> NoReturn:
        self._path.refuse(
            NotEnumerableError(
                f"rng.{call}",
                what if what.startswith("has") else f"{what} cannot be enumerated",
                "use integers, choice, permutation, binomial or random() < p, or write the law by hand",
            )
        )


def path_of(generator: EnumeratingGenerator) -> RandomPath:
    """The choices of the run that draws from a generator, which has no such attribute for the code that is run."""
    return generator._path


def _owning(values: Any, sample: Any) -> Any:
    """Values in the shape of a sample, in an array of its own where the sample is one."""
    shaped = values.reshape(sample.shape)
    return shaped.copy() if sample.base is None and shaped.base is not None else shaped


def _sampled(value: Any) -> Any:
    """A location as numbers that numpy knows."""
    if type(value) is NoisyNumber:
        return value.sample
    if holds_drawn(value):
        return np.array([_sampled(part) for part in np.ravel(np.asarray(value, dtype=object))]).reshape(np.shape(value))
    return value


def _each(value: Any, sample: Any) -> list[Any]:
    """A parameter of every draw."""
    if not isinstance(sample, np.ndarray):
        return [value]
    if type(value) in (list, tuple, np.ndarray):
        return list(np.broadcast_to(np.asarray(value, dtype=object), sample.shape).ravel())
    return [value] * sample.size


def _floated(value: Any) -> Any:
    """A number that numpy knows."""
    return float(value) if type(value) in (Fraction, Exponential, Enclosed) else value


def _numbers(p: Any) -> Any:
    return p if type(p) is np.ndarray and not p.dtype.hasobject else [_floated(value) for value in p]


def _power(base: Probability, exponent: int) -> Probability:
    return math.prod([base] * exponent, start=Fraction(1))


def _shares(ways: Sequence[int]) -> list[Probability]:
    return [Fraction(count, sum(ways)) for count in ways]


def _rescaled(probabilities: Sequence[Probability]) -> list[Probability]:
    total = sum(probabilities, Fraction(0))
    if isinstance(total, Enclosed):
        return [Enclosed.of(probability) / total for probability in probabilities]
    return [probability / total for probability in probabilities]


def _shape(size: Any) -> tuple[int, ...]:
    if size is None:
        return ()
    return tuple(int(n) for n in size) if np.ndim(size) else (int(size),)


def _multinomial(counts: Sequence[int]) -> int:
    return math.factorial(sum(counts)) // math.prod(map(math.factorial, counts))


def _arrangements(counts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every sequence that holds kind i exactly counts[i] times.

    >>> list(_arrangements((1, 2)))
    [(0, 1, 1), (1, 0, 1), (1, 1, 0)]
    """
    if not any(counts):
        yield ()
        return
    for kind, count in enumerate(counts):
        if count:
            fewer = (*counts[:kind], count - 1, *counts[kind + 1 :])
            yield from ((kind, *rest) for rest in _arrangements(fewer))


# --- what plain code may use ----------------------------------------------------------------------


_BUILTINS = """abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format
frozenset getattr hasattr hex int isinstance issubclass iter len list map max min next oct ord pow print range repr reversed round
set slice sorted str sum tuple type zip property staticmethod classmethod super"""
_NUMPY = """all allclose amax amin any append apply_along_axis arange argmax argmin argsort argwhere around array array2string
array_equal array_split asarray ascontiguousarray atleast_1d atleast_2d average bincount broadcast_to choose clip column_stack
compress concatenate convolve copy corrcoef count_nonzero cov cross cumprod cumsum delete diag diagonal diff digitize dot
ediff1d einsum equal expand_dims extract eye flatnonzero flip fliplr flipud full full_like gradient histogram hstack identity imag
indices inner insert interp intersect1d isclose isin isreal iscomplex isscalar ix_ kron lexsort linspace logspace matmul max
mean median meshgrid min moveaxis nan_to_num nanargmax nanargmin nanmax nanmean nanmedian nanmin nanprod nanstd nansum nanvar
ndim nonzero ones ones_like outer packbits pad partition percentile prod ptp quantile ravel ravel_multi_index real repeat
reshape roll rollaxis rot90 round searchsorted select setdiff1d setxor1d shape size sort split squeeze stack std sum swapaxes
take take_along_axis tensordot tile trace transpose trapezoid tri tril triu union1d unique unpackbits unravel_index unwrap var
vdot vsplit vstack where zeros zeros_like"""
_ARRAY = """T all any argmax argmin argsort astype choose clip compress conj conjugate copy cumprod cumsum diagonal dot dtype fill
flat flatten imag item itemsize max mean min nbytes ndim nonzero prod ptp put ravel real repeat reshape round searchsorted shape
size sort squeeze std sum swapaxes take tolist trace transpose var"""

_MODULES: dict[ModuleType, str] = {
    builtins: _BUILTINS,
    np: _NUMPY,
    np.linalg: "norm",
    operator: " ".join(
        name for name in operator.__all__ if name not in ("attrgetter", "methodcaller", "call", "setitem", "delitem")
    ),
    functools: "reduce partial cmp_to_key",
    itertools: " ".join(name for name in dir(itertools) if not name.startswith("_")),
    math: " ".join(name for name in dir(math) if not name.startswith("_")),
    cmath: " ".join(name for name in dir(cmath) if not name.startswith("_")),
    bisect: "bisect bisect_left bisect_right insort insort_left insort_right",
    heapq: "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
    collections: "Counter OrderedDict defaultdict deque",
    fractions: "Fraction",
    decimal: "Decimal",
    statistics: "mean fmean median median_low median_high mode multimode pvariance variance pstdev stdev geometric_mean",
    copy: "copy deepcopy",
    dataclasses: "replace asdict astuple",
    json: "dumps loads",
    re: "match fullmatch search findall split sub",
}

READABLE = frozenset({*_MODULES, numbers, typing, enum, abc, string, collections.abc, types})
"""Modules whose attributes may be looked up; calling what is found is another question."""


def _named() -> dict[int, Any]:
    found = [getattr(module, name) for module, names in _MODULES.items() for name in names.split() if hasattr(module, name)]
    found += [value for value in vars(np).values() if isinstance(value, np.ufunc)]
    found += [value for value in vars(np).values() if isinstance(value, type) and issubclass(value, np.generic)]
    found += [np.errstate, np.iinfo, np.finfo, np.dtype, np.ndindex, np.ndenumerate]
    found += [value for value in vars(builtins).values() if isinstance(value, type) and issubclass(value, BaseException)]
    return {id(value): value for value in found}


CALLABLES = _named()
"""Callables by their identity."""

_WALKED: tuple[Iterable[Any], ...] = ([], (), {}, set(), "", "\u00e9", b"", range(0), bytearray(), {}.values(), {}.items())

TYPES: frozenset[type] = frozenset({
    bool, bytearray, bytes, complex, dict, float, frozenset, int, list, range, set, slice, str, tuple, type(None), type(...),
    enumerate, filter, map, zip, reversed, fractions.Fraction, decimal.Decimal, collections.Counter, collections.OrderedDict,
    collections.defaultdict, collections.deque, type({}.keys()), type({}.values()), type({}.items()), re.Pattern, re.Match,
    np.iinfo, np.finfo, np.dtype, operator.itemgetter,
    *(value for value in vars(itertools).values() if isinstance(value, type)),
    *map(type, map(iter, _WALKED)),
    *(value for value in vars(np).values() if isinstance(value, type) and issubclass(value, np.generic)),
})  # fmt: skip
"""Types whose public attributes are functions of the value."""

BASES: frozenset[Any] = frozenset({
    object, abc.ABC, typing.Generic, typing.Protocol, typing.NamedTuple, enum.Enum, enum.IntEnum, enum.Flag, enum.IntFlag,
    enum.StrEnum, enum.ReprEnum, *TYPES,
    *(value for value in vars(builtins).values() if isinstance(value, type) and issubclass(value, BaseException)),
})  # fmt: skip
"""Classes from which a class of the user's may inherit."""

ARRAY = frozenset(_ARRAY.split())
"""Attributes of arrays."""
LOCATED = frozenset({"laplace", "normal", "gumbel", "logistic"})
"""Draws around a location, to which the noise is added."""
SYMBOLIC_ARRAY = frozenset({
    "shape", "size", "ndim", "T", "reshape", "ravel", "flatten", "copy", "transpose", "astype", "argmax", "argmin", "argsort",
    "clip", "cumsum", "dot", "item", "max", "mean", "min", "round", "squeeze", "sum", "tolist",
})  # fmt: skip
"""Attributes of an array of symbolic draws that are those of an array of doubles, or refused when they are called."""
OF_TYPES = frozenset({"fromkeys", "from_bytes", "fromhex", "maketrans", "from_iterable", "from_float", "from_decimal", "reduce",
                      "accumulate", "outer", "reduceat"})  # fmt: skip
"""The attributes of a type, or of a ufunc, that may be used."""
EXCEPTION = frozenset({"args", "code", "value", "add_note", "errno", "msg", "reason", "start", "end"})
"""Attributes of exceptions; a traceback has frames."""


def _identities(*callables: Any) -> frozenset[int]:
    return frozenset(map(id, callables))


OF_SYMBOLS = _identities(
    list, tuple, zip, enumerate, reversed, len, int, math.floor, math.trunc, iter, next, range, any, all, map, filter, sorted,
    min, max, sum, abs, itertools.chain, itertools.islice, itertools.repeat, itertools.accumulate,
)  # fmt: skip
"""Callables that do with a symbolic draw what they do with a double, or ask it something that it refuses."""
PURE = _identities(
    int, float, bool, abs, round, min, max, len, ord, isinstance, str, tuple, any, all, divmod, pow, np.clip, np.float64,
    np.int64, Fraction, *(value for name, value in vars(math).items() if callable(value)),
)  # fmt: skip
"""Callables that neither change their arguments nor keep anything, whatever they are given."""
OF_ROWS: dict[int, int] = {
    id(function): most
    for most, functions in (
        (2, (np.array, np.asarray, np.sum, np.mean, np.dot, np.max, np.min, np.zeros, np.ones)), (3, (np.where, np.linalg.norm)),
    )
    for function in functions
}  # fmt: skip
"""Functions of numpy that make a new value of a row of numbers, or give it back, by how many arguments they may be given in their
places: one more is an array that they write to."""
METHODS_OF_ROWS = {"sum": 1, "mean": 1, "max": 1, "min": 1, "dot": 1, "astype": 1, "clip": 2, "copy": 0, "tolist": 0}
"""The same of methods of an array."""
UNORDERED = _identities(len, set, frozenset, any, all, bool, isinstance, copy.copy, copy.deepcopy)
"""Callables for which the order of a set does not matter."""
ORDERED = _identities(sorted, min, max)
"""Callables for which it does not where no two elements are alike: of texts, without a key."""
CALLING = _identities(
    map, filter, sorted, min, max, functools.reduce, functools.partial, iter, heapq.merge, heapq.nlargest, heapq.nsmallest,
    bisect.bisect, bisect.bisect_left, bisect.bisect_right, np.apply_along_axis,
    *(value for value in vars(itertools).values() if isinstance(value, type)),
)  # fmt: skip
"""Callables that call their arguments."""
SHOWING = _identities(str, repr, ascii, format, json.dumps, np.array2string)
"""Callables that write their arguments as text."""
METHODS = frozenset({
    "__init__", "__new__", "__name__", "__len__", "__getitem__", "__contains__", "__eq__", "__lt__", "__le__", "__gt__", "__ge__",
    "__add__", "__sub__", "__mul__", "__iter__", "__next__", "__enter__", "__exit__", "__call__", "__post_init__", "__neg__",
    "__setitem__", "__str__",
})  # fmt: skip
"""Special methods that may be named."""
