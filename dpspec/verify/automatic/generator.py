"""The enumerating generator: stands in for `numpy.random.Generator` and makes every draw a choice."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from dpspec.errors import NotEnumerableError
from dpspec.laws.enclosed import Chance, Enclosed
from dpspec.verify.automatic.path import Path, Stop, quiet
from dpspec.verify.automatic.uniform import Uniform, exact, minus

_MOST_OPTIONS = 100_000
_SLACK = Fraction(1, 1 << 50)
"""What doubles between 0 and 1 may lose when they are summed."""


class EnumeratingGenerator:
    """The methods of a numpy Generator whose results have finitely many values, each a choice along a path.

    Args:
        path: the choices of the run.
        tail: an endless draw (`geometric`) is cut off where less than this probability is left.
        known: probabilities that were computed before, in whichever run.
    """

    def __init__(self, path: Path, tail: Fraction, known: dict[Hashable, list[Chance]]) -> None:
        self.path, self.tail, self._known = path, tail, known

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """isinstance(rng, np.random.Generator) holds, for samplers that ask."""
        return np.random.Generator

    # -- single numbers ---------------------------------------------------------------------------

    @quiet
    def integers(self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False) -> Any:
        """Uniform integers."""
        first, last = (0, low) if high is None else (low, high)
        if np.ndim(first) or np.ndim(last):
            self._refuse("integers", "with arrays of bounds")
        count = int(last) - int(first) + int(endpoint)
        if count <= 0:
            raise ValueError("low >= high")
        return self._filled(size, lambda: int(first) + self._uniform(count, "integers"), dtype)

    @quiet
    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Uniform numbers that are split where the sampler compares them."""
        if out is not None:
            self._refuse("random", "into an array of doubles")
        return self._filled(size, lambda: Uniform.on(self.path), object)

    @quiet
    def uniform(self, low: Any = 0, high: Any = 1, size: Any = None) -> Any:
        """Uniform numbers between two exact ends."""
        return self._filled(size, lambda: low + (exact(high) - exact(low)) * Uniform.on(self.path), object)  # type: ignore[operator]

    @quiet
    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """The number of successes in n trials."""
        trials, chance = int(n), self._chance("binomial", p)
        left = minus(Fraction(1), chance)

        def chances() -> list[Chance]:
            return [Fraction(math.comb(trials, k)) * _power(chance, k) * _power(left, trials - k) for k in range(trials + 1)]

        return self._filled(size, lambda: self.path.choose(self._once(("binomial", trials, chance), chances)), np.int64)

    @quiet
    def geometric(self, p: Any, size: Any = None) -> Any:
        """The number of trials up to the first success; what lies beyond a tail bound is kept as unplaced probability."""
        chance = self._chance("geometric", p)
        left = minus(Fraction(1), chance)
        if left == 0:
            return self._filled(size, lambda: 1, np.int64)
        most = max(1, math.ceil(math.log(self.tail) / math.log(float(left))))
        if most > _MOST_OPTIONS:
            self._refuse("geometric", f"with a success probability as small as {float(chance)}")

        def chances() -> list[Chance]:
            powers: list[Chance] = [Fraction(1)]
            for _ in range(most):
                powers.append(powers[-1] * left)
            return [*(chance * power for power in powers[:-1]), powers[-1]]

        *listed, beyond = self._once(("geometric", chance), chances)
        return self._filled(size, lambda: 1 + self.path.choose(listed, beyond=beyond), np.int64)

    @quiet
    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Any:
        """The number of good ones in a sample without replacement."""
        good, bad, drawn = int(ngood), int(nbad), int(nsample)
        ways = [math.comb(good, k) * math.comb(bad, drawn - k) if k <= drawn else 0 for k in range(good + 1)]
        return self._filled(size, lambda: self.path.choose(_shares(ways)), np.int64)

    # -- vectors ----------------------------------------------------------------------------------

    @quiet
    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        """Counts of n independent draws from a few categories."""
        chances, trials = self._distribution("multinomial", pvals), int(n)
        tables = [t for t in itertools.product(range(trials + 1), repeat=len(chances)) if sum(t) == trials]
        weights = [
            math.prod((_power(c, k) for c, k in zip(chances, t, strict=True)), start=Fraction(_multinomial(t))) for t in tables
        ]
        draws = [tables[self.path.choose(weights)] for _ in range(_count(size))]
        return np.array(draws, dtype=np.int64).reshape((*_shape(size), len(chances)))

    @quiet
    def choice(  # noqa: PLR0917
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        """Draws from a list, uniform or with probabilities, with or without replacement."""
        pool = np.arange(int(a)) if np.ndim(a) == 0 else np.asarray(a)
        length = pool.shape[axis]
        chances = None if p is None else self._distribution("choice", p)
        if chances is not None and len(chances) != length:
            raise ValueError("a and p must have same size")
        if length == 0:
            raise ValueError("a cannot be empty")
        if replace:
            picked = [self._pick(range(length), chances) for _ in range(_count(size))]
        else:
            picked = self._without_replacement(length, _count(size), chances)
        taken = np.take(pool, np.array(picked, dtype=np.int64), axis=axis)
        return taken[0] if size is None and axis == 0 else taken.reshape(_shape(size)) if taken.ndim == 1 else taken

    @quiet
    def permutation(self, x: Any, axis: int = 0) -> Any:
        """A copy in random order."""
        values = np.arange(int(x)) if np.ndim(x) == 0 else np.array(x)
        return np.take(values, self._order(np.moveaxis(values, axis, 0)), axis=axis)

    @quiet
    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Bring a list or an array into random order."""
        if isinstance(x, np.ndarray):
            x[...] = self.permutation(x, axis)
        else:
            x[:] = [x[place] for place in self._order(x)]

    @quiet
    def permuted(self, x: Any, axis: int | None = None, out: Any = None) -> Any:
        """Each slice along an axis in an order of its own."""
        values = np.array(x)
        if axis is None:
            found = self.permutation(values.ravel()).reshape(values.shape)
        else:
            moved = np.moveaxis(values, axis, -1)
            rows = [self.permutation(row) for row in moved.reshape(-1, moved.shape[-1])]
            found = np.moveaxis(np.array(rows, dtype=values.dtype).reshape(moved.shape), -1, axis)
        if out is None:
            return found
        out[...] = found
        return out

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(np.random.Generator, name):
            raise AttributeError(name)
        return lambda *_, **__: self._refuse(name, "has no finite list of values")

    def _once(self, call: Hashable, make: Callable[[], list[Chance]]) -> list[Chance]:
        if call not in self._known:
            self._known[call] = make()
        return self._known[call]

    # -- helpers ----------------------------------------------------------------------------------

    def _filled(self, size: Any, draw: Callable[[], Any], dtype: Any) -> Any:
        """One value, or an array of them."""
        kind = np.dtype(dtype)
        if size is None:
            value = draw()
            return value if kind.hasobject else kind.type(value)
        values = np.empty(_count(size), dtype=kind)
        for place in range(len(values)):
            values[place] = draw()
        return values.reshape(_shape(size))

    def _uniform(self, count: int, call: str) -> int:
        if count > _MOST_OPTIONS:
            self._refuse(call, f"over {count} values")
        return self.path.uniform(count)

    def _pick(self, places: Sequence[int], chances: Sequence[Chance] | None) -> int:
        if chances is None:
            return places[self._uniform(len(places), "choice")]
        return places[self.path.choose(chances)]

    def _without_replacement(self, length: int, count: int, chances: Sequence[Chance] | None) -> list[int]:
        if count > length:
            raise ValueError("cannot take a larger sample than population when replace is False")
        left, picked = list(range(length)), []
        for _ in range(count):
            rescaled = None if chances is None else _rescaled([chances[place] for place in left])
            place = self._pick(left, rescaled)
            left.remove(place)
            picked.append(place)
        return picked

    def _order(self, values: Any) -> list[int]:
        """A random order; orders that look the same are one option (B-S9: of values, each equally often)."""
        kinds: dict[object, list[int]] = {}
        for place, value in enumerate(values):
            plain = isinstance(value, (int, str, np.integer, np.str_, np.bool_))
            kinds.setdefault((type(value), value) if plain else place, []).append(place)
        places = list(kinds.values())
        number = _multinomial(tuple(map(len, places)))
        if number > _MOST_OPTIONS:
            self._refuse("permutation", f"of {len(values)} values has {number} results and")
        chosen = self.path.uniform(number) if number > 1 else 0
        sequence = next(itertools.islice(_arrangements(tuple(map(len, places))), chosen, None))
        supply = [iter(group) for group in places]
        return [next(supply[kind]) for kind in sequence]

    def _chance(self, call: str, p: Any) -> Chance:
        found = exact(p) if np.ndim(p) == 0 else None
        if found is None or (isinstance(found, Fraction) and not 0 <= found <= 1):
            if found is not None or isinstance(p, float):
                raise ValueError("p must be in [0, 1]")
            self._refuse(call, "with an array of probabilities")
        return found

    def _distribution(self, call: str, p: Any) -> list[Chance]:
        """Probabilities that sum to 1 exactly; computed ones are as uncertain as the sums that numpy makes of them."""
        chances = [self._chance(call, value) for value in p]
        total = sum(chances, Fraction(0))
        if isinstance(total, Enclosed):
            if total.high < 1 - Fraction(1, 10**8) or total.low > 1 + Fraction(1, 10**8):
                raise ValueError("probabilities do not sum to 1")
            return [
                Enclosed(max(c.low - _SLACK, Fraction(0)), c.high + _SLACK) if isinstance(c, Enclosed) else c for c in chances
            ]
        if abs(float(total) - 1) > 1e-8:
            raise ValueError("probabilities do not sum to 1")
        return chances if total == 1 else _rescaled(chances)

    def _refuse(self, call: str, what: str) -> NoReturn:
        raise Stop(
            fault=NotEnumerableError(
                f"rng.{call}",
                f"{what} cannot be enumerated" if not what.startswith("has") else what,
                "use integers, choice, permutation, binomial or random() < p, or write the law by hand",
            )
        )


def _power(base: Chance, exponent: int) -> Chance:
    return math.prod([base] * exponent, start=Fraction(1))


def _shares(ways: Sequence[int]) -> list[Chance]:
    return [Fraction(count, sum(ways)) for count in ways]


def _rescaled(chances: Sequence[Chance]) -> list[Chance]:
    total = sum(chances, Fraction(0))
    if isinstance(total, Enclosed):
        return [Enclosed.of(chance) / total for chance in chances]
    return [chance / total for chance in chances]


def _count(size: Any) -> int:
    return 1 if size is None else math.prod(_shape(size))


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
