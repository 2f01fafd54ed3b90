"""Short reports of many categories: a column of a Hadamard matrix, and a flipped row of a hash function (count mean sketch)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import attrs

from dpspec.plugin import (
    Attribute,
    Claim,
    DatasetSpace,
    Exact,
    FiniteLaw,
    IncompatibleBlocksError,
    Integer,
    Items,
    Law,
    Marginal,
    Number,
    Table,
    define,
    errors,
    grammar,
    late_module,
    laws,
    number,
    params,
    tables,
)
from dpspec_noise.local import (
    LocalRule,
    bit_laws,
    bits_of,
    check_listed,
    check_released,
    column_of,
    few_records,
    leaning_laws,
    odds_of,
    reported,
)

if TYPE_CHECKING:
    import numpy as np

    from dpspec.plugin import Integers, randomness
    from dpspec_noise.samplers import ExactProbability
else:
    np = late_module("numpy")


@define
class HadamardResponse(LocalRule):
    """Hadamard response: a column of a Hadamard matrix, more likely one in which the row of the category has a 1.

    K is the least power of two above the number of categories, H(i, y) = (-1)^(number of common 1s of i and y in binary).
    Category i (counted from 0) has row i + 1, and every y below K is reported with probability

        e^epsilon / (K/2 (e^epsilon + 1))  where H(i + 1, y) = 1,     1 / (K/2 (e^epsilon + 1))  elsewhere

    (Acharya, Sun and Zhang 2019). Two rows differ in half of the columns: a quarter of all speaks for the one category, a quarter
    for the other. A report has log2 K bits, and costs epsilon for any number of categories. A column that is drawn uniformly, and
    one flipped bit of it (Bassily and Smith 2015), have the same a and b.

    Args:
        attribute: the attribute that is reported; the only one where it is not named.
        epsilon: the pure budget of one report, r + ln(q), r and q rational, q > 0.

    >>> from dpspec.plugin import OrderedRecords
    >>> space = OrderedRecords(attributes=(Attribute(name="word", count=3),))
    >>> str(HadamardResponse(epsilon="ln(3)").law((("0",),), space))
    'FiniteLaw({((0,),): 3/8, ((1,),): 1/8, ((2,),): 3/8, ((3,),): 1/8})'
    """

    name: ClassVar[str] = "hadamard-response"

    epsilon: Annotated[Number, Exact(0, "inf", open_high=True)]

    def __attrs_post_init__(self) -> None:
        odds_of(self.epsilon)

    def leaning(self, size: int) -> tuple[ExactProbability, ExactProbability]:
        odds = odds_of(self.epsilon)
        return odds / (2 * (odds + 1)), 1 / (2 * (odds + 1))

    def report(self, place: int, asked: Attribute) -> Law:
        """The law of a row of one number of a column."""
        order = _order(asked.size)
        odds = odds_of(self.epsilon)
        check_listed(self.name, order, odds)
        likely, other = odds / (order // 2 * (odds + 1)), 1 / (order // 2 * (odds + 1))
        return laws.finite_law({(y,): other if ((place + 1) & y).bit_count() % 2 else likely for y in range(order)})

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        return self.reports(space)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """epsilon."""
        label, source = "Hadamard response is epsilon-DP", "Acharya, Sun and Zhang 2019, Hadamard response"
        return self._claims(label, source, space, self.epsilon)

    def drawn(self, places: Integers, asked: Attribute, source: randomness.PlacedRandomness, records: Integers) -> Table:
        """A uniform column; where a random bit requires the other sign, the lowest bit of the row is flipped in it."""
        from dpspec_noise.samplers import coins_at

        order, rows = _order(asked.size), places + 1
        columns = source.below_at(order, 0, records)
        odds = odds_of(self.epsilon)
        likely = coins_at(source, odds / (odds + 1), 1, records)
        turned = (_parity(rows & columns) == 0) != likely
        columns = np.where(turned, columns ^ (rows & -rows), columns)
        return Table(attributes=(Attribute(name="column", count=order),), codes={"column": tables.compact(columns, order)})

    @classmethod
    def examples(cls) -> Iterator[Any]:
        """What the conformance kit checks it with."""
        yield cls(epsilon=number("ln(3)"))
        yield cls(epsilon=number("1/2")), few_records(3)


def _order(size: int) -> int:
    """The least power of two above the number of categories."""
    return 1 << size.bit_length()


def _parity(numbers: Integers) -> Integers:
    """Of the 1s of each number, in binary."""
    for shift in (32, 16, 8, 4, 2, 1):
        numbers = numbers ^ (numbers >> shift)
    return numbers & 1


# --- hash functions ------------------------------------------------------------------------------------


PRIME = 2**31 - 1
"""Hash functions are polynomials over the field of so many elements, whose products 64 bits hold."""

SEARCHED = 1 << 18
"""The number of hash values that are computed to find two categories that most functions distinguish."""

LISTED_BITS = 4
"""Laws of rows of so many bits are listed row by row, longer ones bit by bit."""

FIRST = 64
"""So many kinds of categories are held against all others there."""


@define
class CountMeanSketch(LocalRule):
    """The client of the count mean sketch: one of J hash functions, and a row of m bits, each flipped with 1/(e^(epsilon/2) + 1).

    j is drawn uniformly from the functions h_1, ..., h_J; bit c of the row is 1 where h_j(v) = c, before it is flipped (Apple
    Differential Privacy Team 2017). Two categories differ in two bits of the row of every function that distinguishes them: that
    costs epsilon, half of it for each bit. With n of J functions that do, a = n/J p^2 and b = n/J (1 - p)^2 for
    p = e^(epsilon/2) / (e^(epsilon/2) + 1). So collisions lower every divergence but the largest ratio, and categories that no
    function distinguishes cost nothing.

    Args:
        attribute: the attribute that is reported; the only one where it is not named.
        epsilon: the pure budget of one report, r + ln(q), r and q rational, q the square of a rational.
        width: m, the number of bits.
        hashes: for each function the coefficients (c_0, c_1, ...) of h(v) = (c_0 + c_1 v + c_2 v^2 + ... mod 2^31 - 1) mod m, v
            the place of a category, from 0 on. They are public: drawn uniformly, three coefficients make three values
            independent (Wegman and Carter 1981).

    >>> from dpspec.plugin import OrderedRecords
    >>> space = OrderedRecords(attributes=(Attribute(name="word", count=4),))
    >>> sketch = CountMeanSketch(epsilon="ln(9)", width=2, hashes=((0, 1), (1,)))
    >>> sketch.collisions(space), sketch.apart(0, 1), str(sketch.claims(space)[0].spec.budget)
    ((('0', '2'), ('1', '3')), 1, 'epsilon = ln(9)')
    """

    name: ClassVar[str] = "count-mean-sketch"

    epsilon: Annotated[Number, Exact(0, "inf", open_high=True)]
    width: Annotated[int, Integer(1, PRIME)]
    hashes: Annotated[tuple[tuple[int, ...], ...], Items(Items(Integer(0, PRIME - 1), least=1), least=1)]

    def __attrs_post_init__(self) -> None:
        odds_of(self.epsilon, Fraction(1, 2))

    def check(self, space: DatasetSpace) -> None:
        size = self.asked(space).size
        if size > PRIME:
            raise IncompatibleBlocksError(
                f"mechanism {self.name}", f"hashes at most {PRIME:,} categories", "choose another attribute", value=size
            )

    def apart(self, one: int, other: int) -> int:
        """The number of functions that distinguish two categories, given by their indices."""
        values = _hashed(self.hashes, self.width, np.array([one, other]))
        return int((values[:, 0] != values[:, 1]).sum())

    def collisions(self, space: DatasetSpace) -> tuple[tuple[str, ...], ...]:
        """The categories that no function distinguishes, group by group.

        Raises:
            NotEnumerableError: there are too many categories to look at.
        """
        self.check(space)
        asked = self.asked(space)
        if asked.size * len(self.hashes) > SEARCHED:
            raise errors.NotEnumerableError(
                f"attribute {asked.name}", f"has more than {SEARCHED:,} hash values", "ask `apart` of two categories",
                value=asked.size,
            )  # fmt: skip
        groups: dict[bytes, list[str]] = {}
        values = _hashed(self.hashes, self.width, np.arange(asked.size))
        for place, category in enumerate(asked.values()):
            groups.setdefault(values[:, place].tobytes(), []).append(category)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    def leaning(self, size: int) -> tuple[ExactProbability, ExactProbability]:
        """The pair of laws of the two categories that most functions distinguish; of all functions where that is not known."""
        return self.leaning_of(_farthest(self.hashes, self.width, size)[0])

    def leaning_of(self, telling: int) -> tuple[ExactProbability, ExactProbability]:
        """The pair of laws of two categories that a given number of functions distinguish."""
        odds, share = odds_of(self.epsilon, Fraction(1, 2)), Fraction(telling, len(self.hashes))
        return odds * odds / ((odds + 1) * (odds + 1)) * share, 1 / ((odds + 1) * (odds + 1)) * share

    def report(self, place: int, asked: Attribute) -> Law:
        """The law of (j, the bits of the row)."""
        odds = odds_of(self.epsilon, Fraction(1, 2))
        check_listed(self.name, len(self.hashes) * self.width, odds)
        keep, flip = odds / (odds + 1), 1 / (odds + 1)
        values = _hashed(self.hashes, self.width, np.array([place]))[:, 0].tolist()
        if self.width <= LISTED_BITS:
            of_rows = [(keep,) * kept + (flip,) * (self.width - kept) for kept in range(self.width + 1)]
            probabilities = [math.prod(bits) / len(values) for bits in of_rows]
            rows = itertools.product((0, 1), repeat=self.width)
            every = itertools.product(enumerate(values), rows)
            return laws.finite_law({(j, row): probabilities[_kept(row, value)] for (j, value), row in every})
        own, other = bit_laws(keep, flip)
        likely = [laws.product([own if c == value else other for c in range(self.width)]) for value in values]
        return laws.Adaptive(FiniteLaw.uniform(range(len(likely))), tuple(enumerate(likely)))

    def reduced(self, space: DatasetSpace) -> CountMeanSketch:
        """Few bits and two functions: the law of a row has 2^bits outcomes for each function."""
        return params.evolve(self, width=min(self.width, LISTED_BITS), hashes=self.hashes[:2])

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        """One report for each record; the two categories that most functions distinguish bound all others."""
        self.check(space)
        asked = self.asked(space)
        telling, pair = _farthest(self.hashes, self.width, asked.size)
        categories = tuple(itertools.islice(asked.values(), max(pair) + 1))
        farthest = frozenset(categories[place] for place in pair)
        sketch = _Sketch(table=column_of(asked, space), rule=self, asked=asked, telling=telling, farthest=farthest)
        return reported(sketch, self)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """epsilon, whatever collides."""
        label, source = "the count mean sketch is epsilon-DP", "Apple Differential Privacy Team 2017, count mean sketch"
        return self._claims(label, source, space, self.epsilon)

    def drawn(self, places: Integers, asked: Attribute, source: randomness.PlacedRandomness, records: Integers) -> Table:
        """The number of the function, and the bits of the row."""
        from dpspec_noise.samplers import coins_at

        check_released(self.name, len(places), self.width)
        chosen = source.below_at(len(self.hashes), 0, records)
        values = _horner(_coefficients(self.hashes)[chosen].T, places) % self.width
        odds = odds_of(self.epsilon, Fraction(1, 2))
        rows = bits_of(
            (f"bit {c}" for c in range(self.width)),
            ((values == c) ^ coins_at(source, 1 / (odds + 1), 1 + c, records) for c in range(self.width)),
        )
        number_of = Attribute(name="hash", count=len(self.hashes))
        codes = {"hash": tables.compact(chosen, number_of.size), **rows.codes}
        return Table(attributes=(number_of, *rows.attributes), codes=codes)

    @classmethod
    def examples(cls) -> Iterator[Any]:
        """What the conformance kit checks it with."""
        yield cls(epsilon=number("ln(9)"), width=2, hashes=((0, 1), (1, 1, 1)))
        yield cls(epsilon=number(1), width=2, hashes=((0, 1), (3,))), few_records(3)


@attrs.frozen(kw_only=True)
class _Sketch(grammar.View):
    """The reports of a count mean sketch: the divergence of two categories is given by the functions that distinguish them.

    Args:
        table: the categories.
        rule, asked: the mechanism and its attribute.
        telling: no two categories are distinguished by more functions. A report with more is a report with fewer to which an
            outcome that is equally likely under both was added, so the laws of the most bound those of all pairs.
        farthest: the two categories that were found to be distinguished by most.
    """

    table: Marginal
    rule: CountMeanSketch
    asked: Attribute
    telling: int
    farthest: frozenset[str]
    by_record: bool = True

    def data(self) -> dict[str, Any]:
        rule = {"epsilon": str(self.rule.epsilon), "width": self.rule.width, "hashes": [[*h] for h in self.rule.hashes]}
        return {**super().data(), "kind": "CountMeanSketch", **rule, "telling": self.telling}

    def changed(self, counts: grammar.CountChanges) -> tuple[grammar.Case, ...] | None:
        worst = leaning_laws(*self.rule.leaning_of(self.telling))
        return {(): ((),), (-1, 1): ((worst,),)}.get(counts)

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable], space: DatasetSpace) -> grammar.Case | None:
        if None in (*before, *after):
            return None
        if len(before) != len(after):
            return (grammar.other_numbers(len(before), len(after)),)
        moved = ((ours, theirs) for ours, theirs in zip(before, after, strict=True) if ours != theirs)
        return tuple(leaning_laws(*self.rule.leaning_of(self._apart(*cells))) for cells in moved)

    def _apart(self, *cells: Any) -> int:
        return self.rule.apart(*(self.asked.index(category) for (category,) in cells))

    def singled(self) -> Mapping[str, tuple[frozenset[str], ...]]:
        """The two categories, so that a pair of datasets is looked for among them."""
        return {self.asked.name: (self.farthest,)}


def _kept(row: Sequence[int], value: int) -> int:
    """How many bits of a row are those of the hash value."""
    return sum(bit == (c == value) for c, bit in enumerate(row))


Hashes = tuple[tuple[int, ...], ...]


@lru_cache(maxsize=64)
def _coefficients(hashes: Hashes) -> Integers:
    """One row for each function, with zeros where others have higher powers."""
    found = np.zeros((len(hashes), max(map(len, hashes))), dtype=np.int64)
    for row, own in zip(found, hashes, strict=True):
        row[: len(own)] = own
    return found


def _horner(coefficients: Integers, places: Integers) -> Integers:
    """c_0 + c_1 v + c_2 v^2 + ... mod 2^31 - 1, from (c_0, c_1, ...), each of the shape of v or to be spread to it."""
    value = coefficients[-1] + 0 * places
    for lower in coefficients[-2::-1]:
        value = (value * places + lower) % PRIME
    return np.asarray(value)


def _hashed(hashes: Hashes, width: int, places: Integers) -> Integers:
    """h(v) for each function, in rows, and each place."""
    return _horner(_coefficients(hashes).T[:, :, None], places[None, :]) % width


@lru_cache(maxsize=256)
def _farthest(hashes: Hashes, width: int, size: int) -> tuple[int, tuple[int, int]]:
    """An upper bound on the number of functions that distinguish two categories, and the two found with the most."""
    looked = min(size, max(2, SEARCHED // len(hashes)))
    values = _hashed(hashes, width, np.arange(looked))
    first: dict[bytes, int] = {}
    for place, column in enumerate(np.ascontiguousarray(values.T)):
        first.setdefault(column.tobytes(), place)
    kinds = list(first.values())
    best, pair = 0, (0, 0)
    for place in kinds[:FIRST]:
        apart = (values != values[:, place : place + 1]).sum(axis=0)
        other = int(apart.argmax())
        if apart[other] > best:
            best, pair = int(apart[other]), (place, other)
        if best == len(hashes):
            break
    known = looked == size and len(kinds) <= FIRST
    return (best if known else len(hashes)), pair
