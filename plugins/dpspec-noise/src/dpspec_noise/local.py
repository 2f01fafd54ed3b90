"""Local randomisers: every record gets its own report, drawn at random from one of its attributes.

k-ary randomised response, unary encoding, and in `dpspec_noise.sketch` Hadamard response and the count mean sketch publish one
report for each record, in the order of the records, and nothing else. They have one shape in common: of categories v and w,

    some outcomes of a report are more likely under v (probability a, and b under w), as many more likely under w (b, and a
    under v), and all other outcomes are equally likely under both.

So the pair of the laws of one report is that of (a, b, 1 - a - b) and (b, a, 1 - a - b), for any number of categories, and a
report costs |ln(a/b)|. Probabilities are rational or in Q(e^r), and so are these numbers: nothing is rounded. Warner's randomised
response of one bit (Warner 1965; Lecture notes 2025), the oldest of them, keeps the other columns of its table.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

import attrs
from dpspec_divergences import HammingOrdered, Mult

from dpspec.plugin import (
    Attribute,
    BitVectors,
    Claim,
    Dataset,
    DatasetSpace,
    Exact,
    FiniteLaw,
    IncompatibleBlocksError,
    Integer,
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
    blocks,
    define,
    errors,
    exact,
    grammar,
    is_a,
    late_module,
    laws,
    ln,
    memoize,
    number,
    params,
    tables,
)
from dpspec_noise.roots import rounded_root

if TYPE_CHECKING:
    import numpy as np

    from dpspec.plugin import Integers, Mask, Randomness, randomness
    from dpspec_noise.samplers import ExactProbability
else:
    np = late_module("numpy")

MOST_OUTCOMES, MOST_IRRATIONAL = 1 << 14, 1 << 10
"""The law of one report is not listed beyond so many outcomes or bits of rational, or of irrational probability; its structure is
known for any number of them."""

MOST_HASHES = 64
"""Each bit of a category has a law of its own in the proof."""

MOST_BITS = 1 << 29
"""A release has at most so many bits in all."""


@define
class LocalRule(Mechanism):
    """Base class of the local randomisers: one report for each record, drawn from the category of one attribute.

    Args:
        attribute: the attribute; it need not be named where records have no other.
    """

    attribute: Annotated[str, Text()] | None = None

    # -- properties of a rule ---------------------------------------------------------------------------

    @abstractmethod
    def leaning(self, size: int) -> tuple[ExactProbability, ExactProbability]:
        """(a, b) of two categories out of so many: what speaks for one has probability a under it, and b under the other."""

    @abstractmethod
    def report(self, place: int, asked: Attribute) -> Law:
        """The law of one report of the category at a place."""

    @abstractmethod
    def drawn(self, places: Integers, asked: Attribute, source: randomness.PlacedRandomness, records: Integers) -> Table:
        """One report for each of these categories, as the rows of a table.

        Args:
            places: of the categories.
            asked: their attribute.
            source: randomness by place.
            records: the place of each record in its table, by which its report is drawn.
        """

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
        """|ln(a/b)|, the privacy loss of one report: 0 where a = b, infinity where one of them is 0."""
        one, other = (laws.exact_exponential(0) * probability for probability in self.leaning(size))
        if one == other:
            return exact.ZERO
        if one == 0 or other == 0:
            return exact.INFINITY
        found: Number | None = (max(one, other) / min(one, other)).log()
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
        """Every record has its own report, and any two categories have the same divergence."""
        self.check(space)
        asked = self.asked(space)
        return reported(grammar.Report(column_of(asked, space), leaning_laws(*self.leaning(asked.size))), self)

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """One row for each record, in their order: its report, and nothing else of the record."""
        return self.release_batch(table, 0, space, source.placed())

    def release_batch(self, batch: Table, first: int, space: DatasetSpace, source: randomness.PlacedRandomness) -> Table:
        self.check(space)
        asked = batch.attribute(self.asked(space).name)
        return self.drawn(batch.codes[asked.name].astype(np.int64), asked, source, np.arange(first, first + len(batch)))

    def keeps(self, columns: tuple[str, ...]) -> tuple[grammar.Kept, ...]:
        """The number of records; their places show in the order of the reports alone."""
        return (grammar.Kept(attributes=()),)

    def _claims(self, label: str, source: str, space: DatasetSpace, epsilon: Number) -> tuple[Claim, ...]:
        """epsilon, for one record replaced in its place; none where it is infinite."""
        self.check(space)
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


def reported(view: grammar.View, by: Mechanism) -> grammar.Structure:
    """The structure of a mechanism that reports every record, and nothing else."""
    return grammar.Structure(views=(view,), hypotheses=(grammar.SizeHypothesis(view=view, by=by),))


def leaning_laws(a: ExactProbability, b: ExactProbability) -> tuple[Law, Law]:
    """The laws (a, b, 1 - a - b) and (b, a, 1 - a - b), to which those of one report of two categories are equivalent.

    >>> [str(law) for law in leaning_laws(Fraction(1, 2), Fraction(1, 4))]
    ["FiniteLaw({'for': 1/2, 'against': 1/4, 'neither': 1/4})", "FiniteLaw({'for': 1/4, 'against': 1/2, 'neither': 1/4})"]
    """
    rest = 1 - a - b
    before = laws.finite_law({"for": a, "against": b, "neither": rest})
    return before, laws.finite_law({"for": b, "against": a, "neither": rest})


@lru_cache(maxsize=256)
def bit_laws(one: ExactProbability, other: ExactProbability) -> tuple[Law, Law]:
    """The laws of two bits that are 1 with these probabilities; kept, so that the reports of all records have the same ones."""
    return laws.finite_law({1: one, 0: 1 - one}), laws.finite_law({1: other, 0: 1 - other})


def odds_of(epsilon: Number, share: Fraction = Fraction(1)) -> ExactProbability:
    """e^(share epsilon), exactly."""
    try:
        return laws.exact_exponential(epsilon * share)
    except ParameterError as fault:
        power = "epsilon" if share == 1 else f"{share} epsilon"
        example = "ln(3)" if share == 1 else "ln(9)"
        raise ParameterError(
            "epsilon", f"must be such that e^({power}) is an exact number of moderate size",
            f'write a rational or a logarithm such as "{example}"', value=str(epsilon),
        ) from fault  # fmt: skip


def column_of(asked: Attribute, space: DatasetSpace) -> Marginal:
    return Marginal(attributes=(asked.name,), unit=space.units[0])


def _place(asked: Attribute, space: DatasetSpace) -> int:
    return [a.name for a in space.attributes_of(space.units[0])].index(asked.name)


def check_listed(name: str, outcomes: int, probability: ExactProbability) -> None:
    """Refuse to list the law of a report of so many outcomes or bits, whose probabilities are rational if this one is."""
    most = MOST_OUTCOMES if isinstance(probability, Fraction) or probability.rational() is not None else MOST_IRRATIONAL
    if outcomes > most:
        raise errors.NotEnumerableError(
            f"report of {name}", f"has more than {most:,} outcomes, whose law is not listed",
            "verify the claim on the whole space, by how the mechanism is made", value=outcomes,
        )  # fmt: skip


def check_released(name: str, records: int, bits: int) -> None:
    """Refuse to make a table of too many bits."""
    if records * bits > MOST_BITS:
        raise errors.ReleaseError(
            name, f"releases more than {MOST_BITS:,} bits", "use k-ary-response or hadamard-response, or fewer records at a time",
            value=records * bits,
        )  # fmt: skip


def bits_of(names: Iterable[str], columns: Iterable[Mask]) -> Table:
    """A table of columns of bits."""
    found = {name: tables.compact(bits, 2) for name, bits in zip(names, columns, strict=True)}
    return Table(attributes=tuple(Attribute(name=name, count=2) for name in found), codes=found)


# --- reports of categories --------------------------------------------------------------------------------


@define
class KAryResponse(LocalRule):
    """k-ary randomised response: the category itself with probability p, each of the other k - 1 with (1 - p)/(k - 1).

    p = e^epsilon / (e^epsilon + k - 1) gives epsilon (Kairouz, Oh and Viswanath 2016, k-ary randomised response); any p gives
    |ln(p (k - 1) / (1 - p))|. A p that does not grow with k, such as e^epsilon / (e^epsilon + 1), is dearer for more categories.

    Args:
        attribute: the attribute that is reported, of k categories; the only one where it is not named.
        epsilon: the pure budget of one report, r + ln(q), r and q rational, q > 0, or
        keep_probability: p, the probability of the true category.

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
            odds_of(self.epsilon)

    def check(self, space: DatasetSpace) -> None:
        if self.asked(space).size < 2:
            raise IncompatibleBlocksError(
                f"mechanism {self.name}", "needs two categories at least, one to report for another", "choose another attribute",
                value=self.asked(space).name,
            )  # fmt: skip

    def leaning(self, size: int) -> tuple[ExactProbability, ExactProbability]:
        if self.keep_probability is not None:
            return self.keep_probability, (1 - self.keep_probability) / (size - 1)
        assert self.epsilon is not None  # noqa: S101 - checked when made
        odds = odds_of(self.epsilon)
        return odds / (odds + size - 1), 1 / (odds + size - 1)

    def report(self, place: int, asked: Attribute) -> Law:
        """The law of a row of one category."""
        keep, other = _leaning(self, asked.size)
        check_listed(self.name, asked.size, keep)
        return laws.finite_law({(c,): keep if i == place else other for i, c in enumerate(asked.values())})

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        return self.reports(space)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """|ln(p (k - 1) / (1 - p))|, which is epsilon where that is given."""
        self.check(space)
        label, source = "k-ary randomised response is epsilon-DP", "Kairouz, Oh and Viswanath 2016, k-ary randomised response"
        return self._claims(label, source, space, self.epsilon_of(self.asked(space).size))

    def drawn(self, places: Integers, asked: Attribute, source: randomness.PlacedRandomness, records: Integers) -> Table:
        """The category kept by a coin, or one of the others, uniformly."""
        from dpspec_noise.samplers import coins_at

        kept = coins_at(source, self.leaning(asked.size)[0], 0, records)
        others = source.below_at(asked.size - 1, 1, records)
        codes = np.where(kept, places, others + (others >= places))
        own = params.evolve(asked, within=None, parents=())
        return Table(attributes=(own,), codes={own.name: tables.compact(codes, own.size)})

    @classmethod
    def examples(cls) -> Iterator[Any]:
        """What the conformance kit checks it with."""
        yield cls(epsilon=number("ln(3)"))
        yield cls(keep_probability=Fraction(1, 5))
        yield cls(epsilon=number(1)), few_records(3)


@define
class UnaryEncoding(LocalRule):
    """Unary encoding: one bit for each category; that of the record's own is 1 with probability p, every other with q.

    The bits are independent. Two categories differ in two bits, so epsilon = |ln(p (1 - q) / ((1 - p) q))| (Wang, Blocki, Li and
    Jha 2017); one bit alone would give about half of it. Forms with an epsilon of their own:
      * ``symmetric``: p = e^(epsilon/2) / (e^(epsilon/2) + 1), q = 1 - p, the basic form of RAPPOR;
      * ``optimised``: p = 1/2, q = 1 / (e^epsilon + 1).
    The permanent response of basic RAPPOR, from which everything is computed that a person ever sends, has p = 1 - f/2 and
    q = f/2, and so costs 2 ln((1 - f/2) / (f/2)) for good. What is sent at one time is flipped again: 1 with probability s for
    a 1 and r for a 0 gives p = f/2 (r + s) + (1 - f) s and q = f/2 (r + s) + (1 - f) r; it says nothing of many times
    (Erlingsson, Pihur and Korolova 2014, Theorems 1 and 2).
    With h hash functions each category has h bits of its own, and two categories differ in 2 h bits: h times that epsilon. A
    Bloom filter, in which categories may share bits, costs no more.

    Args:
        attribute: the attribute that is reported; the only one where it is not named.
        form: with
        epsilon: the pure budget of one report, r + ln(t), r and t rational, t > 0, for the symmetric form a t that is a square;
            or
        keep_probability: p, the probability that a bit that is set is reported as set, with
        false_probability: q, the probability that a bit that is not set is reported as set.
        hashes: h, how many bits each category has.

    >>> space = OrderedRecords(attributes=(Attribute(name="word", count=10**6),))
    >>> for form in ("symmetric", "optimised"):
    ...     print(UnaryEncoding(form=form, epsilon="ln(9)").claims(space)[0].spec.budget)
    epsilon = ln(9)
    epsilon = ln(9)
    >>> str(UnaryEncoding(keep_probability="3/4", false_probability="1/4").epsilon_of(2))
    'ln(9)'

    The reports at one time of RAPPOR with f = 1/2, a bit reported with 1/2 or 3/4, and two hash functions:

    >>> UnaryEncoding(keep_probability="11/16", false_probability="9/16", hashes=2).epsilon_of(2).decimal(5)
    '1.0743'
    """

    name: ClassVar[str] = "unary-encoding"

    form: Annotated[str, Text(("symmetric", "optimised"))] | None = None
    epsilon: Annotated[Number, Exact(0, "inf", open_high=True)] | None = None
    keep_probability: Annotated[Fraction, Rational(0, 1)] | None = None
    false_probability: Annotated[Fraction, Rational(0, 1)] | None = None
    hashes: Annotated[int, Integer(1, MOST_HASHES)] = 1

    def __attrs_post_init__(self) -> None:
        by_form, by_chance = (self.form, self.epsilon), (self.keep_probability, self.false_probability)
        given = [[value is not None for value in pair] for pair in (by_form, by_chance)]
        if given not in ([[True, True], [False, False]], [[False, False], [True, True]]):
            raise ParameterError(
                self.name, "needs either form and epsilon, or keep_probability and false_probability",
                'write form = "optimised", epsilon = "ln(3)"',
            )  # fmt: skip
        self.probabilities()

    def probabilities(self) -> tuple[ExactProbability, ExactProbability]:
        """(p, q)."""
        if self.keep_probability is not None:
            return self.keep_probability, self.false_probability
        assert self.epsilon is not None  # noqa: S101 - checked when made
        if self.form == "optimised":
            return Fraction(1, 2), 1 / (odds_of(self.epsilon, Fraction(1, self.hashes)) + 1)
        odds = odds_of(self.epsilon, Fraction(1, 2 * self.hashes))
        return odds / (odds + 1), 1 / (odds + 1)

    def leaning(self, size: int) -> tuple[ExactProbability, ExactProbability]:
        """Of the bits of one hash function."""
        keep, false = self.probabilities()
        return keep * (1 - false), (1 - keep) * false

    def epsilon_of(self, size: int) -> Number:
        return LocalRule.epsilon_of(self, size) * self.hashes

    def report(self, place: int, asked: Attribute) -> Law:
        """The law of the row of bits, in the order of the hash functions and of the categories."""
        check_listed(self.name, asked.size * self.hashes, self.probabilities()[1])
        own, other = bit_laws(*self.probabilities())
        return laws.product([own if i == place else other for i in range(asked.size)] * self.hashes)

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        """The bits of each hash function are a report of their own."""
        found = self.reports(space)
        return attrs.evolve(found, views=found.views * self.hashes, hypotheses=found.hypotheses * self.hashes)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """ln(p (1 - q) / ((1 - p) q)), its absolute value where the own bit is 1 less often than others."""
        label, source = "unary encoding is epsilon-DP", "Wang, Blocki, Li and Jha 2017, unary encoding"
        return self._claims(label, source, space, self.epsilon_of(self.asked(space).size))

    def drawn(self, places: Integers, asked: Attribute, source: randomness.PlacedRandomness, records: Integers) -> Table:
        """A column of bits for each category; each column has a stream of its own."""
        from dpspec_noise.samplers import coins_at

        check_released(self.name, len(places), asked.size * self.hashes)
        keep, false = self.probabilities()

        def column(stream: int) -> Mask:
            bits: Mask = np.asarray(places == stream % asked.size)
            for own, probability in ((bits.copy(), keep), (~bits, false)):
                bits[own] = coins_at(source, probability, stream, records[own])
            return bits

        every = range(self.hashes)
        suffixes = [""] if self.hashes == 1 else [f" (bit {j + 1})" for j in every]
        names = (f"{asked.name} {category}{suffix}" for suffix in suffixes for category in asked.values())
        return bits_of(names, map(column, range(self.hashes * asked.size)))

    @classmethod
    def examples(cls) -> Iterator[Any]:
        """What the conformance kit checks it with."""
        yield cls(form="symmetric", epsilon=number("ln(9)"))
        yield cls(keep_probability=Fraction(1, 5), false_probability=Fraction(1, 3))
        yield cls(form="optimised", epsilon=number(1)), few_records(3)
        yield cls(keep_probability=Fraction(3, 4), false_probability=Fraction(1, 3), hashes=2), few_records(2)


@memoize(maxsize=64)
def _leaning(mechanism: LocalRule, size: int) -> tuple[ExactProbability, ExactProbability]:
    """The probabilities of a report, the same objects for all categories, so that laws of many of them are compared quickly."""
    return mechanism.leaning(size)


def few_records(count: int) -> OrderedRecords:
    """At most two records of few categories, and of another attribute that no report shows."""
    return OrderedRecords(attributes=(Attribute(name="state", count=count),), most=2)


# --- one bit ----------------------------------------------------------------------------------------------


@memoize(maxsize=64)
def _answers(truth: Fraction) -> tuple[FiniteLaw, FiniteLaw]:
    """The laws of the answer for a 0 and for a 1; the same objects for all bits, so that long vectors are compared quickly."""
    no, yes = (FiniteLaw.of({bit: truth, 1 - bit: 1 - truth}) for bit in (0, 1))
    return no, yes


class _Response(Mechanism):
    """What the two descriptions of randomised response share."""

    @abstractmethod
    def truth(self) -> Fraction:
        """The probability that one reported bit is the true one."""

    def check(self, space: DatasetSpace) -> None:
        if not is_a(space, BitVectors):
            raise IncompatibleBlocksError(
                f"mechanism {self.name}", "answers for one bit per unit", "use the space bit-vectors", value=space.name
            )

    def law(self, dataset: Dataset, space: DatasetSpace) -> Law:
        """P(t) = p^agreements (1-p)^disagreements over all bit vectors t."""
        self.check(space)
        bits = cast("tuple[int, ...]", space.dataset(dataset))
        answers = _answers(self.truth())
        return laws.product([answers[bit] for bit in bits])

    def reports(self, space: DatasetSpace) -> grammar.Structure:
        """Every bit is answered for by itself."""
        bit = blocks.Marginal(attributes=("bit",), unit=space.units[0])
        return reported(grammar.Report(bit, _answers(self.truth())), self)

    def release(self, table: Table, space: DatasetSpace, source: Randomness) -> Table:
        """Each bit of the table, flipped with probability exactly 1 - p."""
        return self.release_batch(table, 0, space, source.placed())

    def release_batch(self, batch: Table, first: int, space: DatasetSpace, source: randomness.PlacedRandomness) -> Table:
        self.check(space)
        column = batch.attribute("bit").name
        flips = source.bernoulli_at(1 - self.truth(), 0, np.arange(first, first + len(batch)))
        return batch.replace({column: batch.codes[column] ^ flips})

    def keeps(self, columns: tuple[str, ...]) -> tuple[grammar.Kept, ...]:
        """The number of answers, and every other column, row by row."""
        return (grammar.Kept(attributes=tuple(name for name in columns if name != "bit"), in_order=True),)

    def estimate(self, fraction: Fraction) -> Fraction:
        """The share of ones behind an observed share of reported ones: (observed + p - 1)/(2p - 1) (Bailie et al. 2024)."""
        self._check_informative()
        return (fraction + self.truth() - 1) / (2 * self.truth() - 1)

    def expected(self, share: Fraction) -> Fraction:
        """The expected share of reported ones when the true share is `share`: p share + (1-p)(1-share) (Bailie et al. 2024)."""
        return self.truth() * share + (1 - self.truth()) * (1 - share)

    def variance(self, reported: Fraction, count: int) -> Fraction:
        """The variance of the estimate: reported (1 - reported) / (n (2p-1)^2), for n answers (Bailie et al. 2024)."""
        self._check_informative()
        return reported * (1 - reported) / (count * (2 * self.truth() - 1) ** 2)

    def variance_bound(self, count: int) -> Fraction:
        """An upper bound for every share: 1 / (16 n (p - 1/2)^2) (Bailie et al. 2024)."""
        self._check_informative()
        return 1 / (16 * count * (self.truth() - Fraction(1, 2)) ** 2)

    def _check_informative(self) -> None:
        if self.truth() == Fraction(1, 2):
            raise ParameterError("keep_probability", "of 1/2 reports pure noise, from which nothing can be estimated")

    def _claim(self, label: str, source: str, space: DatasetSpace, epsilon: Number) -> Claim:
        self.check(space)
        spec = PrivacySpec(
            space=space,
            multiverse=Trivial(),
            input_divergence=HammingOrdered(unit=space.units[0]),
            output_divergence=Mult(),
            budget=UniformBudget(parameter="epsilon", value=epsilon),
        )
        return Claim(label=label, source=source, spec=spec)


@define
class RandomisedResponse(_Response):
    """Warner's randomised response: each bit is reported with probability p and flipped otherwise (Warner 1965).

    P_x(t) = product over i of (p if t_i = x_i else 1 - p), which satisfies epsilon = |ln(p/(1-p))| per bit (Bailie et al. 2024).

    Args:
        keep_probability: p, the probability of the truth, in (0, 1).

    >>> mechanism = RandomisedResponse(keep_probability="3/4")
    >>> str(mechanism.law((1,), BitVectors(length=1)))
    'FiniteLaw({(1,): 3/4, (0,): 1/4})'
    >>> str(mechanism.claims(BitVectors(length=3))[0].spec.budget), str(mechanism.estimate(Fraction(9, 20)))
    ('epsilon = ln(3)', '2/5')
    """

    name: ClassVar[str] = "randomised-response"

    keep_probability: Annotated[Fraction, Rational(0, 1, open_low=True, open_high=True)]

    def truth(self) -> Fraction:
        return self.keep_probability

    def degrades(self, parameter: str, to: Any) -> str | None:
        """Flipping a reported bit once more, with some probability up to 1/2, moves p towards 1/2."""
        p, half = self.keep_probability, Fraction(1, 2)
        if parameter == "keep_probability" and (half <= to <= p or p <= to <= half):
            return "some of the reported bits flipped once more"
        return None

    def with_wider_noise(self, factor: Fraction) -> RandomisedResponse:
        """The odds p / (1 - p) become their root of the order `factor`, nearer to 1."""
        p = self.keep_probability
        odds = min(rounded_root(min(p, 1 - p) / max(p, 1 - p), factor), Fraction(1)) if 2 * p != 1 else Fraction(1)
        rarer = odds / (1 + odds)
        return params.evolve(self, keep_probability=rarer if p < Fraction(1, 2) else 1 - rarer)

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        return self.reports(space)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """epsilon = logit(p), printed for p > 1/2; below that its absolute value."""
        p = self.keep_probability
        if p > Fraction(1, 2):
            return (
                self._claim(
                    "randomised response is logit(p)-DP", "Bailie et al. 2024, randomised response", space, ln(p / (1 - p))
                ),
            )
        return (
            self._claim(
                "randomised response is |logit(p)|-DP", "Bailie et al. 2024, randomised response", space, ln((1 - p) / p)
            ),
        )


@define
class LectureRandomisedResponse(_Response):
    """The two-coin version: the truth with probability 1/2, else "yes" or "no" with probability 1/4 each (Lecture notes 2025).

    The same law as `RandomisedResponse` with p = 3/4, and so epsilon = ln 3.

    >>> LectureRandomisedResponse().law((1,), BitVectors(length=1)).probability((0,))
    Fraction(1, 4)
    """

    name: ClassVar[str] = "lecture-randomised-response"

    def truth(self) -> Fraction:
        return Fraction(1, 2) + Fraction(1, 4)

    def structure(self, space: DatasetSpace) -> grammar.Structure:
        return self.reports(space)

    def claims(self, space: DatasetSpace) -> tuple[Claim, ...]:
        """ln(3)-DP, for one answer replaced (which is what its proof does)."""
        return (self._claim("lecture randomised response is ln(3)-DP", "Lecture notes 2025, randomised response", space, ln(3)),)
