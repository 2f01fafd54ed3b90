"""Local randomisers: every record is answered for by itself, with a report drawn by chance from one of its attributes.

k-ary randomised response, unary encoding, Hadamard response and the count mean sketch publish one report for each record, in the
order of the records, and nothing else of them. They have one shape in common: of two categories v and w,

    some outcomes of a report are more likely under v (probability a, and b under w), as many more likely under w (b, and a
    under v), and all other outcomes are equally likely under both.

So the pair of the laws of one report is that of (a, b, 1 - a - b) and (b, a, 1 - a - b), for any number of categories, and a report
costs |ln(a/b)|. Probabilities are rational or in Q(e^r), and so are these numbers: nothing is rounded.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import attrs
import numpy as np
from dpspec_divergences import HammingOrdered, Mult

from dpspec.plugin import (
    Attribute,
    Claim,
    Dataset,
    DatasetSpace,
    Exact,
    FiniteLaw,
    IncompatibleBlocksError,
    Integer,
    Items,
    Law,
    Marginal,
    Mechanism,
    Number,
    OrderedRecords,
    ParameterError,
    PrivacySpec,
    Rational,
    Table,
    Text,
    Trivial,
    UniformBudget,
    define,
    errors,
    exact,
    grammar,
    laws,
    params,
    tables,
)

if TYPE_CHECKING:
    from dpspec.plugin import Integers, Mask, Randomness

Chance = Any
"""An exact probability: a `Fraction`, or a number of the field Q(e^r)."""

MOST_OUTCOMES = 1 << 14
"""The law of one report is not listed beyond so many outcomes or bits; its structure is known for any number."""

MOST_BITS = 1 << 29
"""A release has at most so many bits in all."""


@define
class _LocalRule(Mechanism):
    """What the local randomisers share: one report for each record, drawn from the category of one attribute.

    Args:
        attribute: the attribute; it need not be named where records have no other.
    """

    attribute: Annotated[str, Text()] | None = None

    # -- what a rule says of itself -----------------------------------------------------------------

    @abstractmethod
    def leaning(self, size: int) -> tuple[Chance, Chance]:
        """(a, b) of two categories out of so many: what speaks for a category has probability a under it, and b under the other."""

    @abstractmethod
    def report(self, place: int, asked: Attribute) -> Law:
        """The law of one report of the category at a place."""

    @abstractmethod
    def drawn(self, places: Integers, asked: Attribute, source: Randomness) -> Table:
        """One report for each of these categories, as the rows of a table."""

    # -- what follows -------------------------------------------------------------------------------

    def asked(self, space: DatasetSpace) -> Attribute:
        """The attribute that reports are drawn from: the one that is named, or the only one."""
        known = {a.name: a for a in space.attributes_of(space.units[0])} if space.is_ordered and space.units else {}
        if not known:
            raise IncompatibleBlocksError(
                f"mechanism {self.name}", "answers for each record in its place", "use the space ordered-records",
                value=space.name,
            )  # fmt: skip
        if self.attribute is None and len(known) > 1:
            few = ", ".join(itertools.islice(known, 8))
            raise IncompatibleBlocksError(
                f"mechanism {self.name}", "answers for one attribute", f"name it, attribute = ...: {few}", value=len(known)
            )
        found = next(iter(known.values())) if self.attribute is None else known.get(self.attribute)
        if found is None:
            raise IncompatibleBlocksError(
                "attribute", f"is none of a {space.units[0]} record", params.did_you_mean(str(self.attribute), known),
                value=self.attribute,
            )  # fmt: skip
        return found

    def check(self, space: DatasetSpace) -> None:
        self.asked(space)

    def epsilon_of(self, size: int) -> Number:
        """|ln(a/b)|, what one report gives away: 0 where a = b, infinity where one of them is 0."""
        one, other = (laws.exact_exponential(0) * chance for chance in self.leaning(size))
        if one == other:
            return exact.ZERO
        if one == 0 or other == 0:
            return exact.INFINITY
        found = (max(one, other) / min(one, other)).log()
        if found is None:
            raise errors.NumericalError("epsilon", "has no exact form", "choose rational probabilities")
        return found

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """The product of the laws of the reports, in the order of the records."""
        asked = self.asked(space)
        self.check(space)
        records, place = space.records(space.dataset(dataset), space.units[0]), _place(asked, space)
        known: dict[int, Law] = {}
        found = []
        for record in records:
            category = asked.index(record[place])
            if category not in known:
                known[category] = self.report(category, asked)
            found.append(known[category])
        return laws.product(found)

    def reports(self, space: DatasetSpace) -> grammar.Structure:
        """Every record is answered for by itself, and any two categories are as far apart as any other two."""
        self.check(space)
        asked = self.asked(space)
        return grammar.Structure(views=(grammar.Report(_column(asked, space), leaning_laws(*self.leaning(asked.size))),))

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """One row for each record, in their order: its report, and nothing else of the record."""
        self.check(space)
        asked = table.attribute(self.asked(space).name)
        return self.drawn(table.codes[asked.name].astype(np.int64), asked, source)

    def keeps(self, columns: tuple[str, ...]) -> tuple[grammar.Kept, ...]:
        """The number of records; their places show in the order of the reports alone."""
        return (grammar.Kept(attributes=()),)

    def _claims(self, label: str, source: str, space: DatasetSpace) -> tuple[Claim, ...]:
        """epsilon, for one record replaced in its place; none where it is infinite."""
        self.check(space)
        epsilon = self.epsilon_of(self.asked(space).size)
        if epsilon.is_infinite:
            return ()
        spec = PrivacySpec(
            space=space,
            multiverse=Trivial(),
            input_divergence=HammingOrdered(unit=space.units[0]),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=epsilon),
        )
        return (Claim(label=label, source=source, spec=spec),)


def leaning_laws(a: Chance, b: Chance) -> tuple[Law, Law]:
    """The laws (a, b, 1 - a - b) and (b, a, 1 - a - b), to which those of one report of two categories are equivalent.

    >>> [str(law) for law in leaning_laws(Fraction(1, 2), Fraction(1, 4))]
    ["FiniteLaw({'for': 1/2, 'against': 1/4, 'neither': 1/4})", "FiniteLaw({'for': 1/4, 'against': 1/2, 'neither': 1/4})"]
    """
    rest = 1 - a - b
    before = laws.finite_law({"for": a, "against": b, "neither": rest})
    return before, laws.finite_law({"for": b, "against": a, "neither": rest})


def _odds(epsilon: Number, share: Fraction = Fraction(1)) -> Chance:
    """e^(share epsilon), exactly."""
    try:
        return laws.exact_exponential(epsilon * share)
    except ParameterError as fault:
        power = "epsilon" if share == 1 else f"{share} epsilon"
        example = "ln(3)" if share == 1 else "ln(9)"
        raise ParameterError(
            "epsilon", f"must be such that e^({power}) is an exact number", f'write a rational or a logarithm, such as "{example}"',
            value=str(epsilon),
        ) from fault  # fmt: skip


def _column(asked: Attribute, space: DatasetSpace) -> Marginal:
    return Marginal(attributes=(asked.name,), unit=space.units[0])


def _place(asked: Attribute, space: DatasetSpace) -> int:
    return [a.name for a in space.attributes_of(space.units[0])].index(asked.name)


def _check_listed(name: str, outcomes: int) -> None:
    if outcomes > MOST_OUTCOMES:
        raise errors.NotEnumerableError(
            f"report of {name}", f"has more than {MOST_OUTCOMES:,} outcomes, whose law is not listed",
            "verify the claim on the whole space, by how the mechanism is made", value=outcomes,
        )  # fmt: skip


def _check_released(name: str, records: int, bits: int) -> None:
    if records * bits > MOST_BITS:
        raise errors.ReleaseError(
            name, f"releases more than {MOST_BITS:,} bits", "use k-ary-response or hadamard-response, or fewer records at a time",
            value=records * bits,
        )  # fmt: skip


def _coins(source: Randomness, chance: Chance, count: int) -> Mask:
    """Coins of an exact probability."""
    from dpspec_noise.samplers import irrational_coins, rational_coins

    known = chance if isinstance(chance, Fraction) else chance.rational()
    return irrational_coins(source, chance.enclose, count) if known is None else rational_coins(source, known, count)


def _bits(names: Iterable[str], columns: Iterable[Mask], records: int) -> Table:
    """A table of columns of bits."""
    found = {name: tables.compact(bits, 2) for name, bits in zip(names, columns, strict=True)}
    return Table(attributes=tuple(Attribute(name=name, count=2) for name in found), codes=found)


# --- reports of categories --------------------------------------------------------------------------------


@define
class KAryResponse(_LocalRule):
    """k-ary randomised response: the category itself with probability p, each of the other k - 1 with (1 - p)/(k - 1).

    p = e^epsilon / (e^epsilon + k - 1) gives epsilon (Kairouz, Oh and Viswanath 2016, k-ary randomised response); any p gives
    |ln(p (k - 1) / (1 - p))|. A p that does not grow with k, such as e^epsilon / (e^epsilon + 1), is dearer for more categories.

    Args:
        attribute: the attribute that is reported, of k categories; the only one where it is not named.
        epsilon: r + ln(q), r and q rational, q > 0, or
        keep_probability: p.

    >>> space = OrderedRecords(attributes=(Attribute(name="state", count=2925),))
    >>> response = KAryResponse(epsilon="ln(3)")
    >>> str(response.claims(space)[0].spec.budget), str(response.law((("0",),), space).probability((("7",),)))
    ('epsilon = ln(3)', '1/2927')
    >>> str(KAryResponse(keep_probability="3/4").epsilon_of(2925))
    'ln(8772)'
    """

    name: ClassVar[str] = "k-ary-response"

    epsilon: Annotated[Number, Exact(0, "inf", open_high=True)] | None = None
    keep_probability: Annotated[Fraction, Rational(0, 1)] | None = None

    def __attrs_post_init__(self) -> None:
        if (self.epsilon is None) == (self.keep_probability is None):
            raise ParameterError(
                self.name, "needs either epsilon or keep_probability", 'write epsilon = "ln(3)" or keep_probability = "3/4"'
            )
        if self.epsilon is not None:
            _odds(self.epsilon)

    def check(self, space: DatasetSpace) -> None:
        if self.asked(space).size < 2:
            raise IncompatibleBlocksError(
                f"mechanism {self.name}", "needs two categories at least, one to report for another", "choose another attribute",
                value=self.asked(space).name,
            )  # fmt: skip

    def leaning(self, size: int) -> tuple[Chance, Chance]:
        if self.keep_probability is not None:
            return self.keep_probability, (1 - self.keep_probability) / (size - 1)
        assert self.epsilon is not None  # noqa: S101 - checked when made
        odds = _odds(self.epsilon)
        return odds / (odds + size - 1), 1 / (odds + size - 1)

    def report(self, place: int, asked: Attribute) -> Law:
        """The law of a row of one category."""
        _check_listed(self.name, asked.size)
        keep, other = self.leaning(asked.size)
        return laws.finite_law({(c,): keep if i == place else other for i, c in enumerate(asked.values())})

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        return self.reports(space)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """|ln(p (k - 1) / (1 - p))|, which is epsilon where that is given."""
        return self._claims(
            "k-ary randomised response is epsilon-DP", "Kairouz, Oh and Viswanath 2016, k-ary randomised response", space
        )

    def drawn(self, places: Integers, asked: Attribute, source: Randomness) -> Table:
        """The category kept by a coin, or one of the others, uniformly."""
        kept = _coins(source, self.leaning(asked.size)[0], len(places))
        others = source.below(asked.size - 1, len(places))
        codes = np.where(kept, places, others + (others >= places))
        own = params.evolve(asked, within=None, parents=())
        return Table(attributes=(own,), codes={own.name: tables.compact(codes, own.size)})

    @classmethod
    def examples(cls) -> Iterator[Any]:
        """What the conformance kit checks it with."""
        yield cls(epsilon="ln(3)")
        yield cls(keep_probability="1/5")
        yield cls(epsilon=1), _sequences(3)


@define
class UnaryEncoding(_LocalRule):
    """Unary encoding: one bit for each category; that of the record's own is 1 with probability p, every other with q.

    The bits are independent. Two categories differ in two bits, so epsilon = |ln(p (1 - q) / ((1 - p) q))| (Wang, Blocki, Li and Jha
    2017); one bit alone would give about half of it. Forms with an epsilon of their own:
      * ``symmetric``: p = e^(epsilon/2) / (e^(epsilon/2) + 1), q = 1 - p, the basic form of RAPPOR;
      * ``optimised``: p = 1/2, q = 1 / (e^epsilon + 1).
    The permanent response of basic RAPPOR has p = 1 - f/2 and q = f/2, and so 2 ln((1 - f/2) / (f/2)); the response that is sent at
    one time has p = f/2 (p' + q') + (1 - f) q' and q = f/2 (p' + q') + (1 - f) p', and says nothing of the times after it
    (Erlingsson, Pihur and Korolova 2014, Theorem 1 and Section 3.2).

    Args:
        attribute: the attribute that is reported; the only one where it is not named.
        form: with
        epsilon: r + ln(t), r and t rational, t > 0, for the symmetric form a t that is a square; or
        keep_probability: p, with
        false_probability: q.

    >>> space = OrderedRecords(attributes=(Attribute(name="word", count=10**6),))
    >>> for form in ("symmetric", "optimised"):
    ...     print(UnaryEncoding(form=form, epsilon="ln(9)").claims(space)[0].spec.budget)
    epsilon = ln(9)
    epsilon = ln(9)
    >>> str(UnaryEncoding(keep_probability="3/4", false_probability="1/4").epsilon_of(2))
    'ln(9)'
    """

    name: ClassVar[str] = "unary-encoding"

    form: Annotated[str, Text(("symmetric", "optimised"))] | None = None
    epsilon: Annotated[Number, Exact(0, "inf", open_high=True)] | None = None
    keep_probability: Annotated[Fraction, Rational(0, 1)] | None = None
    false_probability: Annotated[Fraction, Rational(0, 1)] | None = None

    def __attrs_post_init__(self) -> None:
        by_form, by_chance = (self.form, self.epsilon), (self.keep_probability, self.false_probability)
        if None in by_form + by_chance and (None in by_form) == (None in by_chance) or None not in by_form + by_chance:
            raise ParameterError(
                self.name, "needs either form and epsilon, or keep_probability and false_probability",
                'write form = "optimised", epsilon = "ln(3)"',
            )  # fmt: skip
        if any(value is not None for value in (by_form if None in by_form else by_chance)):
            raise ParameterError(self.name, "has a form and epsilon or two probabilities, not some of both", "leave one pair out")
        self.chances()

    def chances(self) -> tuple[Chance, Chance]:
        """(p, q)."""
        if self.keep_probability is not None:
            return self.keep_probability, self.false_probability
        assert self.epsilon is not None  # noqa: S101 - checked when made
        if self.form == "optimised":
            return Fraction(1, 2), 1 / (_odds(self.epsilon) + 1)
        odds = _odds(self.epsilon, Fraction(1, 2))
        return odds / (odds + 1), 1 / (odds + 1)

    def leaning(self, size: int) -> tuple[Chance, Chance]:
        keep, false = self.chances()
        return keep * (1 - false), (1 - keep) * false

    def report(self, place: int, asked: Attribute) -> Law:
        """The law of the row of bits, in the order of the categories."""
        _check_listed(self.name, asked.size)
        own, other = (laws.finite_law({1: chance, 0: 1 - chance}) for chance in self.chances())
        return laws.product([own if i == place else other for i in range(asked.size)])

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        return self.reports(space)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """ln(p (1 - q) / ((1 - p) q)), its absolute value where the own bit is 1 less often than others."""
        return self._claims("unary encoding is epsilon-DP", "Wang, Blocki, Li and Jha 2017, unary encoding", space)

    def drawn(self, places: Integers, asked: Attribute, source: Randomness) -> Table:
        """A column of bits for each category."""
        _check_released(self.name, len(places), asked.size)
        keep, false = self.chances()

        def column(place: int) -> Mask:
            own = places == place
            bits = _coins(source, false, len(places))
            bits[own] = _coins(source, keep, int(own.sum()))
            return bits

        names = (f"{asked.name} {category}" for category in asked.values())
        return _bits(names, map(column, range(asked.size)), len(places))

    @classmethod
    def examples(cls) -> Iterator[Any]:
        """What the conformance kit checks it with."""
        yield cls(form="symmetric", epsilon="ln(9)")
        yield cls(keep_probability="1/5", false_probability="1/3")
        yield cls(form="optimised", epsilon=1), _sequences(3)


@define
class HadamardResponse(_LocalRule):
    """Hadamard response: a column of a Hadamard matrix, more likely one in which the row of the category has a 1.

    K is the least power of two above the number of categories, H(i, y) = (-1)^(number of common 1s of i and y in binary). Category i
    (counted from 0) has row i + 1, and every y below K is reported with probability

        e^epsilon / (K/2 (e^epsilon + 1))  where H(i + 1, y) = 1,     1 / (K/2 (e^epsilon + 1))  elsewhere

    (Acharya, Sun and Zhang 2019). Two rows differ in half of the columns: a quarter of them speaks for the one category, a quarter for
    the other. A report has log2 K bits, and costs epsilon for any number of categories. A column that is drawn first, uniformly, and
    then one flipped bit of it (Bassily and Smith 2015) has the same a and b.

    Args:
        attribute: the attribute that is reported; the only one where it is not named.
        epsilon: r + ln(q), r and q rational, q > 0.

    >>> space = OrderedRecords(attributes=(Attribute(name="word", count=3),))
    >>> str(HadamardResponse(epsilon="ln(3)").law((("0",),), space))
    'FiniteLaw({((0,),): 3/8, ((1,),): 1/8, ((2,),): 3/8, ((3,),): 1/8})'
    """

    name: ClassVar[str] = "hadamard-response"

    epsilon: Annotated[Number, Exact(0, "inf", open_high=True)]

    def __attrs_post_init__(self) -> None:
        _odds(self.epsilon)

    def leaning(self, size: int) -> tuple[Chance, Chance]:
        odds = _odds(self.epsilon)
        return odds / (2 * (odds + 1)), 1 / (2 * (odds + 1))

    def report(self, place: int, asked: Attribute) -> Law:
        """The law of a row of one number of a column."""
        order = _order(asked.size)
        _check_listed(self.name, order)
        odds = _odds(self.epsilon)
        likely, other = odds / (order // 2 * (odds + 1)), 1 / (order // 2 * (odds + 1))
        return laws.finite_law({(y,): other if ((place + 1) & y).bit_count() % 2 else likely for y in range(order)})

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        return self.reports(space)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """epsilon."""
        return self._claims("Hadamard response is epsilon-DP", "Acharya, Sun and Zhang 2019, Hadamard response", space)

    def drawn(self, places: Integers, asked: Attribute, source: Randomness) -> Table:
        """A uniform column; where a coin asks for the other sign, the lowest bit of the row is turned in it."""
        order, rows = _order(asked.size), places + 1
        columns = source.below(order, len(places))
        odds = _odds(self.epsilon)
        likely = _coins(source, odds / (odds + 1), len(places))
        turned = (_parity(rows & columns) == 0) != likely
        columns = np.where(turned, columns ^ (rows & -rows), columns)
        return Table(
            attributes=(Attribute(name="column", count=order),), codes={"column": tables.compact(columns, order)}
        )

    @classmethod
    def examples(cls) -> Iterator[Any]:
        """What the conformance kit checks it with."""
        yield cls(epsilon="ln(3)")
        yield cls(epsilon="1/2"), _sequences(3)


def _order(size: int) -> int:
    """The least power of two above the number of categories."""
    return 1 << size.bit_length()


def _parity(numbers: Integers) -> Integers:
    """Of the 1s of each number, in binary."""
    for shift in (32, 16, 8, 4, 2, 1):
        numbers = numbers ^ (numbers >> shift)
    return numbers & 1


# --- sketches -----------------------------------------------------------------------------------------------


PRIME = 2**31 - 1
"""Hash functions are polynomials over the field of so many elements, whose products 64 bits hold."""

SEARCHED = 1 << 21
"""So many hash values are computed to find two categories that most functions tell apart."""

FIRST = 64
"""So many kinds of categories are held against all others there."""


@define
class CountMeanSketch(_LocalRule):
    """The client of the count mean sketch: one of J hash functions, and a row of m bits, each flipped with 1/(e^(epsilon/2) + 1).

    j is drawn uniformly from the functions h_1, ..., h_J; bit c of the row is 1 where h_j(v) = c, before it is flipped (Apple Differential
    Privacy Team 2017). Two categories differ in two bits of the row of every function that tells them apart: that costs epsilon, half
    of it for each bit. With n of J functions that do, a = n/J p^2 and b = n/J (1 - p)^2 for p = e^(epsilon/2) / (e^(epsilon/2) + 1), so
    collisions lower every divergence but the largest ratio, and categories that no function tells apart cost nothing.

    Args:
        attribute: the attribute that is reported; the only one where it is not named.
        epsilon: r + ln(q), r and q rational, q the square of a rational.
        width: m, the number of bits.
        hashes: for each function the coefficients (c_0, c_1, c_2, ...) of h(v) = (c_0 + c_1 v + c_2 v^2 + ... mod 2^31 - 1) mod m, v the
            place of a category, from 0 on. They are public: drawn uniformly, three of them make three values independent (Wegman
            and Carter 1981).

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
        _odds(self.epsilon, Fraction(1, 2))

    def check(self, space: DatasetSpace) -> None:
        size = self.asked(space).size
        if size > PRIME:
            raise IncompatibleBlocksError(
                f"mechanism {self.name}", f"hashes at most {PRIME:,} categories", "choose another attribute", value=size
            )

    def apart(self, one: int, other: int) -> int:
        """How many of the functions tell two categories apart, given by their places."""
        values = _hashed(self.hashes, self.width, np.array([one, other]))
        return int((values[:, 0] != values[:, 1]).sum())

    def collisions(self, space: DatasetSpace) -> tuple[tuple[str, ...], ...]:
        """The categories that no function tells apart, group by group.

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

    def leaning(self, size: int) -> tuple[Chance, Chance]:
        """Of the two categories that most functions tell apart; of all functions where that is not known."""
        return self.leaning_of(_farthest(self.hashes, self.width, size)[0])

    def leaning_of(self, telling: int) -> tuple[Chance, Chance]:
        """Of two categories that so many functions tell apart."""
        odds, share = _odds(self.epsilon, Fraction(1, 2)), Fraction(telling, len(self.hashes))
        return odds * odds / ((odds + 1) * (odds + 1)) * share, 1 / ((odds + 1) * (odds + 1)) * share

    def report(self, place: int, asked: Attribute) -> Law:
        """The law of (j, the bits of the row)."""
        _check_listed(self.name, len(self.hashes) * self.width)
        odds = _odds(self.epsilon, Fraction(1, 2))
        own = laws.finite_law({1: odds / (odds + 1), 0: 1 / (odds + 1)})
        other = laws.finite_law({0: odds / (odds + 1), 1: 1 / (odds + 1)})
        values = _hashed(self.hashes, self.width, np.array([place]))[:, 0].tolist()
        rows = [laws.product([own if c == value else other for c in range(self.width)]) for value in values]
        return laws.Adaptive(FiniteLaw.uniform(range(len(rows))), tuple(enumerate(rows)))

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        """One report for each record; two categories that the functions tell apart best bound all others."""
        self.check(space)
        asked = self.asked(space)
        most, pair = _farthest(self.hashes, self.width, asked.size)
        sketch = _Sketch(table=_column(asked, space), rule=self, asked=asked, most=most)
        categories = tuple(itertools.islice(asked.values(), max(pair) + 1))
        named = {asked.name: tuple(categories[place] for place in pair)}
        return grammar.Structure(views=(sketch, _Silent(Marginal(attributes=(), unit=space.units[0], where=named))))

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """epsilon; 0 where no function tells any two categories apart."""
        return self._claims(
            "the count mean sketch is epsilon-DP", "Apple Differential Privacy Team 2017, count mean sketch", space
        )

    def drawn(self, places: Integers, asked: Attribute, source: Randomness) -> Table:
        """The number of the function, and the bits of the row."""
        _check_released(self.name, len(places), self.width)
        chosen = source.below(len(self.hashes), len(places))
        values = _horner(_coefficients(self.hashes)[chosen].T, places) % self.width
        odds = _odds(self.epsilon, Fraction(1, 2))
        rows = _bits(
            (f"bit {c}" for c in range(self.width)),
            ((values == c) ^ _coins(source, 1 / (odds + 1), len(places)) for c in range(self.width)),
            len(places),
        )
        number_of = Attribute(name="hash", count=len(self.hashes))
        codes = {"hash": tables.compact(chosen, number_of.size), **rows.codes}
        return Table(attributes=(number_of, *rows.attributes), codes=codes)

    @classmethod
    def examples(cls) -> Iterator[Any]:
        """What the conformance kit checks it with."""
        yield cls(epsilon="ln(9)", width=2, hashes=((0, 1), (1, 1, 1)))
        yield cls(epsilon=1, width=2, hashes=((0, 1), (3,))), _sequences(3)


@attrs.frozen(kw_only=True)
class _Sketch(grammar.View):
    """The reports of a count mean sketch: two categories are as far apart as the functions tell them apart.

    Args:
        table: the categories.
        rule, asked: the mechanism and its attribute.
        most: no two categories are told apart by more functions. A report with more is a report with fewer to which an outcome
            that is equally likely under both was added, so the laws of the most bound those of all pairs.
    """

    table: Marginal
    rule: CountMeanSketch
    asked: Attribute
    most: int
    by_record: bool = True

    def changed(self, seen: grammar.CellMove) -> tuple[grammar.LawPair, ...] | None:
        moves = grammar.CellMove
        worst = (leaning_laws(*self.rule.leaning_of(self.most)),)
        return {moves.NOTHING: (), moves.MOVED: worst, moves.LOST: None, moves.GAINED: None}[seen]

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable]) -> tuple[grammar.LawPair, ...] | None:
        if len(before) != len(after) or None in (*before, *after):
            return None
        moved = ((ours, theirs) for ours, theirs in zip(before, after, strict=True) if ours != theirs)
        return tuple(leaning_laws(*self.rule.leaning_of(self._apart(*cells))) for cells in moved)

    def _apart(self, *cells: Any) -> int:
        return self.rule.apart(*(self.asked.index(category) for (category,) in cells))


@attrs.frozen
class _Silent(grammar.View):
    """An answer that never changes. Its table names two categories, so that a pair of datasets is looked for among them first.

    Args:
        table: the records of the two.
    """

    table: Marginal

    def changed(self, seen: grammar.CellMove) -> tuple[grammar.LawPair, ...]:
        return ()

    def between(self, before: Sequence[Hashable], after: Sequence[Hashable]) -> tuple[grammar.LawPair, ...]:
        return ()


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
    """A number of functions that no two categories exceed in being told apart, and the two of most that were found."""
    looked = min(size, max(2, SEARCHED // len(hashes)))
    values = _hashed(hashes, width, np.arange(looked))
    _, kinds = np.unique(values, axis=1, return_index=True)
    best, pair = 0, (0, 0)
    for place in np.sort(kinds)[:FIRST].tolist():
        apart = (values != values[:, place : place + 1]).sum(axis=0)
        other = int(apart.argmax())
        if apart[other] > best:
            best, pair = int(apart[other]), (place, other)
        if best == len(hashes):
            break
    known = looked == size and len(kinds) <= FIRST
    return (best if known else len(hashes)), pair


def _sequences(count: int) -> OrderedRecords:
    """At most two records of few categories, and of another attribute that no report shows."""
    return OrderedRecords(attributes=(Attribute(name="state", count=count),), most=2)
